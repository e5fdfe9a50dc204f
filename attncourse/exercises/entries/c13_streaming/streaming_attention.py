import math

import numpy as np

from ...families.attention import ATTENTION_AXES
from ...families.blocks import LONG_BLOCK, SHORTER_BLOCK, blockwise
from ...families.inputs import LONG_KEYS, LONG_QUERY, drawn, given
from ...families.memory import keeps_a_row, keeps_all_scores, size_for_number
from ...families.partials import KEPT, one_by_one, too_early, two_shares  # noqa: F401, for the page
from ...families.scores import only_the_past, softmax_of, swap  # noqa: F401, for the page
from ...families.softmax import EPSILONS  # noqa: F401, for the page
from ...model import HUGE, LEADING, PLAIN, normal
from ...pages import written


def streaming_attention(query, key, value, block_size):
    row_max, row_sum, output = start(query, value)
    blocks = cut(key, value, 0, block_size, block_size)
    for key_block, value_block in blocks:
        q, k = query, key_block
        k_t = swap(k)
        products = q @ k_t  #: the product of queries and keys
        scores = products / math.sqrt(q.shape[-1])  #: the scores
        logits = scores
        old_max = row_max
        new_max = np.maximum(old_max, highest(logits))  #: the running maximum (one per row)
        factor = np.exp(old_max - new_max)  #: the factor of what came before (one per row)
        powers = np.exp(logits - new_max)  #: the block's exponentials
        old_sum = row_sum * factor
        block_sum = row_total(powers)  #: the block's sum (one per row)
        row_sum = old_sum + block_sum
        old_output = output * factor
        block_output = powers @ value_block  #: the block's output
        output = old_output + block_output
        row_max = new_max
    return output / row_sum


def start(query, value, row_max=-np.inf, row_sum=0.0):
    rows = query.shape[:-1]
    zeros = np.zeros((*rows, value.shape[-1]))
    return np.full((*rows, 1), row_max), np.full((*rows, 1), row_sum), zeros


def taken(key, value, start, stop):
    return key[..., start:stop, :], value[..., start:stop, :]


def cut(key, value, start, stop, step, least=1):
    """Blocks from `start` to `stop` behind every multiple of `step`, of at least so many keys."""
    blocks = [taken(key, value, at + start, at + stop) for at in range(0, key.shape[-2], step)]
    return [block for block in blocks if block[0].shape[-2] >= least]


def highest(scores):
    return scores.max(axis=-1, keepdims=True)


def row_total(powers):
    return powers.sum(axis=-1, keepdims=True)


def filled(block, size):
    return np.pad(block, [(0, 0)] * (block.ndim - 2) + [(0, size - block.shape[-2]), (0, 0)])


def unless_first(old_max, factor):
    """A factor of what came before, and 1 in the first block, before which there is nothing."""
    return np.where(old_max == -np.inf, 1.0, factor)


def first_kept(old_max, new):
    return np.where(old_max == -np.inf, new, old_max)


def merged(query, key, value, block_size, *how):
    """Each block's output and log-sum-exp, merged one after the other."""
    outs, lses = [], []
    for key_block, value_block in cut(key, value, 0, block_size, block_size):
        scores = query @ swap(key_block) / math.sqrt(query.shape[-1])
        lses.append(np.logaddexp.reduce(scores, axis=-1, keepdims=True))
        outs.append(np.exp(scores - lses[-1]) @ value_block)
    return one_by_one(outs, lses, *how)


def plain_attention(query, key, value, change=lambda scores: scores):
    return softmax_of(change(query @ swap(key) / math.sqrt(query.shape[-1]))) @ value


def queries_cut_too(query, key, value, block_size):
    """Each block of queries attends to the block of keys with the same numbers."""
    pairs = enumerate(cut(key, value, 0, block_size, block_size))
    parts = [(query[..., i * block_size : (i + 1) * block_size, :], *pair) for i, pair in pairs]
    return np.concatenate([plain_attention(*part) for part in parts if part[0].shape[-2]], axis=-2)


def streaming_cases():
    def some(aspect, size, n_q, n_k, d_k, d_v, seed, **more):
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        return drawn(aspect, *shapes, seed=seed, behind=(size,), **more)

    def huge(query, key, size=2):
        query, key, value = ([[n] for n in row] for row in (query, key, range(1, 1 + len(key))))
        return given(HUGE, query, key, value, size)

    keys, values = [[[1, 0], [2, 1]], [[0, 3], [1, 1]]], [[[4], [8]], [[2], [-4]]]
    apart = -2e9, -2e9 - 5000, -2e9 - 9000  # below -1e9, and a log-sum-exp of them is exact
    return [
        given(PLAIN, [[1], [-1]], [[1], [0], [2], [3]], [[4], [0], [8], [-4]], 2),
        given(PLAIN, [[1]], [[0], [1]], [[4], [8]], 1),
        given(SHORTER_BLOCK, [[1]], [[0], [1], [3]], [[4], [8], [2]], 2),
        given(LONG_BLOCK, [[1]], [[0], [1]], [[4], [8]], 5, extreme=True),
        given(LEADING, [[[1, 2]], [[3, 1]]], keys, values, 2),
        huge([100, -100, 0], [100, 0, -100, 99]),
        huge([100], [-100, -99, 100, 99]),
        huge([100, 1], [-100, -101, -102, -103]),
        huge([100], [100, 99, -100, -99]),
        huge([7.6], [-100, -101, -99, -100]),
        huge([20], [-100, -101, -99, -100]),
        huge([100, 0], [100, 99, 98], 3),
        huge([100], [-110, -110.02, -110.01, -110]),  # exp(score + 10000) is 0 here
        huge([1], apart),
        huge([1], [-2e38, -3e38]),
        given(HUGE, [LONG_QUERY], LONG_KEYS, [[1], [3], [2]], 2),
        *blockwise(some),
    ]


def _long_input(n_q, n_k, d_v=1):
    return normal(n_q, 1, seed=60), normal(n_k, 1, seed=61), normal(n_k, d_v, seed=61 + d_v)


def read_in_blocks(run):
    """An audit: whether anything as large as all scores is made, or as those of one query."""
    # with one feature an axis that is missing makes an array as large as the scores
    kept = keeps_all_scores(run, lambda n_q, n_k: _long_input(n_q, n_k, 2))
    row = _long_input(1, 32768)
    return kept or ("keys not read in blocks" if keeps_a_row(run, row, 32768) else None)


EXERCISE = written(
    streaming_attention,
    place=1,
    axes=ATTENTION_AXES,
    answer_axes="n_q d_v",
    cases=streaming_cases,
    audits=(read_in_blocks, lambda run: size_for_number(run, _long_input)),
)
