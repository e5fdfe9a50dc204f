import math

import numpy as np

from ...families.attention import ATTENTION_AXES, attention_cases
from ...families.inputs import LONG_KEYS, LONG_QUERY, given
from ...families.numpy_calls import ExpOf, Unusable
from ...families.partials import columns, never_below, one_by_one, two_shares, weighted  # noqa: F401, for the page
from ...families.scores import softmax_of, swap
from ...model import HUGE, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written


def split_kv_attention(query, key, value, n_splits):
    all_keys, all_values = key, value
    edges = even_split(key.shape[-2], n_splits)
    found = []
    for start, stop in edges:
        key, value = part_of(all_keys, start, stop), part_of(all_values, start, stop)
        q, k = query, key
        k_t = swap(k)
        products = q @ k_t  #: the product of queries and keys
        scores = products / math.sqrt(q.shape[-1])  #: the scores
        logits = scores
        s = logits
        along = -1
        shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
        powers = np.exp(shifted)  #: the exponentials
        total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
        weights = powers / total  #: the weights
        w = weights
        chosen = value  #: the values
        v = chosen
        output = w @ v
        highest, below = maxima_and_sums(logits)
        lse = highest + np.log(below)
        out = output
        found.append((out, lse, highest, below, stop - start))
    outs, lses, tops, sums, lengths = columns(found)
    shares = np.exp(lses - lses.max(axis=0))
    merged = weighted(outs, shares)
    return merged


def part_of(array, start, stop):
    if stop <= start:
        raise ValueError("zero-size array to reduction operation")
    return array[..., start:stop, :]


def maxima_and_sums(scores):
    highest = scores.max(axis=-1, keepdims=True)
    return highest, np.exp(scores - highest).sum(axis=-1, keepdims=True)


def even_split(n_k, n_splits):
    edges = [n_k * i // n_splits for i in range(n_splits + 1)]
    return list(zip(edges, edges[1:]))


def equal_split(n_k, n_splits, size):
    return [(i * size, min((i + 1) * size, n_k)) for i in range(n_splits)]


def moved_ends(edges, n_k, by):
    return [(start, stop if stop == n_k else stop + by) for start, stop in edges]


def lse_of_all(highest, below):
    top = highest.max(axis=-2, keepdims=True)
    lse = top + np.log((below * np.exp(highest - top)).sum(axis=-2, keepdims=True))
    return np.broadcast_to(lse, highest.shape)


def along_the_first_axis(query, key, value, n_splits, least=0):
    """Keys and values split along axis 0, without the parts that are shorter than `least`."""
    found = []
    for k, v in zip(np.array_split(key, n_splits), np.array_split(value, n_splits)):
        if len(k) < least:
            continue
        scores = query @ swap(k) / np.sqrt(query.shape[-1])
        found.append((softmax_of(scores) @ v, np.logaddexp.reduce(scores, axis=-1, keepdims=True)))
    outs, lses = columns(found)
    return weighted(outs, np.exp(lses - lses.max(axis=0)))


def ignores_splits(run):
    """An audit: whether the answer comes though n_splits cannot be used."""
    outcome = run(normal(3, 2, seed=91), normal(5, 2, seed=92), normal(5, 3, seed=93), Unusable())
    return "n_splits ignored" if outcome.answer and outcome.answer.pieces else None


def splits_something_else(run):
    """An audit: whether exp is taken of the wrong pieces of the scores of 5 queries and 12 keys."""
    ExpOf.shapes.clear()
    run(*(normal(n, 3, seed=n).view(ExpOf) for n in (5, 12, 12)), 2)
    shapes = [shape for shape in ExpOf.shapes if len(shape) > 1]
    lengths = [shape[-1] for shape in shapes]
    if lengths.count(2) >= 6 and not {6, 12} & set(lengths):
        return "n_splits used as a part's length"
    halves = [(2, 6), (3, 6)], [(2, 1), (2, 6), (3, 1), (3, 6)]
    if sorted(shape[-2:] for shape in shapes) in halves:
        return "queries split too"
    rows = [shape[-2] for shape in shapes if shape[-1] == 12]
    only_queries = len(rows) == 2 and sum(rows) == 5 and 6 not in lengths
    return "queries split instead of keys" if only_queries else None


UNEVEN = "parts of unequal length"


def split_kv_cases():
    """Cases that any way of making the parts answers alike.

    In parts of unequal length the longer ones may come first or last: there the keys read the same
    from both ends.
    """
    found = []
    for case in attention_cases():
        n_k = case.args[1].shape[-2]
        if case.aspect != PLAIN:
            found += [Case(case.aspect, (*case.args, n), case.extreme) for n in {1, n_k}]

    def arrays(n_q, n_k, d_k, d_v, seed):
        query = normal(n_q, d_k, seed=seed, scale=3.0)
        return query, normal(n_k, d_k, seed=seed + 1), normal(n_k, d_v, seed=seed + 2)

    def mirrored(query, key, value):
        return query, *(np.concatenate([array, array[-2::-1]]) for array in (key, value))

    low = [[-110], [-110.01]]  # exp(score + 10000) is 0 here
    return (
        [
            given(PLAIN, [[2]], [[0], [1], [2], [0]], [[4], [8], [-4], [2]], 2),
            Case(PLAIN, (*arrays(5, 6, 3, 2, 1), 3)),
            Case(PLAIN, (*arrays(7, 10, 11, 3, 4), 2)),
            Case(PLAIN, (*arrays(3, 12, 5, 7, 7), 4)),
            Case("one part", (*arrays(5, 7, 3, 2, 10), 1)),
            Case("a part for each key", (*arrays(5, 7, 3, 2, 13), 7)),
            given(UNEVEN, [[2]], [[0], [1], [0]], [[4], [8], [4]], 2),
            Case(UNEVEN, (*mirrored(*arrays(5, 4, 3, 2, 16)), 2)),
            Case(UNEVEN, (*mirrored(*arrays(2, 3, 5, 7, 19)), 4)),
            Case(SQUARE, (*arrays(4, 4, 4, 4, 22), 2)),
            Case(LEADING, (*map(np.stack, zip(arrays(5, 6, 3, 2, 25), arrays(5, 6, 3, 2, 28))), 2)),
            given(
                HUGE, [[1]], [[709], [709.3]], [[2], [3]], 2
            ),  # exp fits, the sum of two does not
            given(HUGE, [[100]], low, [[2], [3]], 2),
            given(HUGE, [LONG_QUERY], LONG_KEYS[:2], [[1], [3]], 2),
        ]
        + found
        + [given(HUGE, [[1]], [[low], [1.5 * low]], [[2], [3]], 2) for low in (-2e9, -2e38)]
    )


EXERCISE = written(
    split_kv_attention,
    place=5,
    axes=ATTENTION_AXES,
    answer_axes="n_q d_v",
    cases=split_kv_cases,
    audits=(ignores_splits, splits_something_else),
)
