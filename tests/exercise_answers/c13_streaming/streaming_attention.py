"""Answers to streaming_attention, written as learners write them."""

import math
import mmap

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("streaming_attention")


def soft(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def scaled(query, key):
    return query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])


def regular(n_k, block_size):
    return [(start, start + block_size) for start in range(0, n_k, block_size)]


def stream(
    query,
    key,
    value,
    block_size,
    blocks=regular,
    start=-np.inf,
    sum_factor=True,
    output_factor=True,
    highest="running",
    measured="new",
    turned=False,
    divide=True,
    root=None,
):
    """A learner's function, with what may be wrong in it."""
    row_max = np.full((*query.shape[:-1], 1), start, query.dtype)
    row_sum = np.zeros_like(row_max)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
    for first, last in blocks(key.shape[-2], block_size):
        scores = query @ key[..., first:last, :].mT / (root or math.sqrt(query.shape[-1]))
        of_block = scores.max(axis=-1, keepdims=True)
        new_max = {
            "running": np.maximum(row_max, of_block),
            "block": of_block,
            "none": 0 * of_block,
        }[highest]
        factor = np.exp(new_max - row_max) if turned else np.exp(row_max - new_max)
        factor = np.ones_like(factor) if highest == "none" else factor
        powers = np.exp(scores - (of_block if measured == "block" else new_max))
        row_sum = row_sum * (factor if sum_factor else 1) + powers.sum(axis=-1, keepdims=True)
        output = output * (factor if output_factor else 1) + powers @ value[..., first:last, :]
        row_max = new_max
    return output / row_sum if divide else output


def answer(**how):
    return lambda query, key, value, block_size: stream(query, key, value, block_size, **how)


def wrong(*names, **how):
    answers.wrong(*names, function=answer(**how))


answers.right(answer())
answers.right(
    lambda query, key, value, block_size: stream(
        query.astype(np.float64), key, value, block_size
    ).astype(query.dtype)
)


@answers.right()
def streaming_partial_results(query, key, value, block_size):
    outputs, lses = [], []
    for first, last in regular(key.shape[-2], block_size):
        scores = scaled(query, key[..., first:last, :])
        highest = scores.max(-1, keepdims=True)
        e = np.exp(scores - highest)
        total = e.sum(-1, keepdims=True)
        outputs.append(e / total @ value[..., first:last, :])
        lses.append(highest + np.log(total))
    outputs, lses = np.stack(outputs), np.stack(lses)
    shares = np.exp(lses - lses.max(axis=0))
    return (shares * outputs).sum(axis=0) / shares.sum(axis=0)


@answers.right()
def streaming_two_passes(query, key, value, block_size):
    blocks = regular(key.shape[-2], block_size)
    highest = np.max(
        [scaled(query, key[..., a:b, :]).max(-1, keepdims=True) for a, b in blocks], axis=0
    )
    output = total = 0
    for a, b in blocks:
        e = np.exp(scaled(query, key[..., a:b, :]) - highest)
        output, total = output + e @ value[..., a:b, :], total + e.sum(-1, keepdims=True)
    return output / total


@answers.right()
def streaming_copied_blocks(query, key, value, block_size):
    keys = [key[..., a:b, :].copy() for a, b in regular(key.shape[-2], block_size)]
    values = [value[..., a:b, :].copy() for a, b in regular(key.shape[-2], block_size)]
    row_max, row_sum = np.full(query.shape[:-1], -np.inf), np.zeros(query.shape[:-1])
    output = np.zeros((*query.shape[:-1], value.shape[-1]))
    for k, v in zip(keys, values):
        scores = np.einsum("...id,...jd->...ij", query, k) / math.sqrt(query.shape[-1])
        new_max = np.maximum(row_max, scores.max(axis=-1))
        factor, e = np.exp(row_max - new_max), np.exp(scores - new_max[..., None])
        row_sum = row_sum * factor + e.sum(axis=-1)
        output = output * factor[..., None] + np.einsum("...ij,...jd->...id", e, v)
        row_max = new_max
    return (output / row_sum[..., None]).astype(query.dtype)


@answers.right()
def streaming_padded_and_masked(query, key, value, block_size):
    n_k = key.shape[-2]
    padding = [(0, 0)] * (key.ndim - 2) + [(0, -n_k % block_size), (0, 0)]
    key, value = np.pad(key, padding), np.pad(value, padding)
    row_max, row_sum, output = -np.inf, 0, 0
    for a, b in regular(n_k, block_size):
        scores = np.where(np.arange(a, b) < n_k, scaled(query, key[..., a:b, :]), -np.inf)
        new_max = np.maximum(row_max, scores.max(-1, keepdims=True))
        factor, e = np.exp(row_max - new_max), np.exp(scores - new_max)
        row_sum, output = (
            row_sum * factor + e.sum(-1, keepdims=True),
            output * factor + e @ value[..., a:b, :],
        )
        row_max = new_max
    return output / row_sum


@answers.right()
def streaming_always_normalised(query, key, value, block_size):
    row_max = None
    for a, b in regular(key.shape[-2], block_size):
        scores = scaled(query, key[..., a:b, :])
        of_block = scores.max(-1, keepdims=True)
        e = np.exp(scores - of_block)
        total, partial = e.sum(-1, keepdims=True), e @ value[..., a:b, :]
        if row_max is None:
            row_max, row_sum, output = of_block, total, partial / total
            continue
        new_max = np.maximum(row_max, of_block)
        old, new = np.exp(row_max - new_max), np.exp(of_block - new_max)
        new_sum = old * row_sum + new * total
        output = (old * row_sum * output + new * partial) / new_sum
        row_max, row_sum = new_max, new_sum
    return output


@answers.right()
def streaming_query_by_query(query, key, value, block_size):
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for place in np.ndindex(*query.shape[:-1]):
        keys, values = key[place[:-1]].astype(np.float64), value[place[:-1]]
        highest, total, mixed = -math.inf, 0.0, np.zeros(value.shape[-1])
        for a, b in regular(len(keys), block_size):
            scores = keys[a:b] @ query[place] / math.sqrt(query.shape[-1])
            new = max(highest, scores.max())
            e, factor = np.exp(scores - new), math.exp(highest - new)
            total, mixed, highest = total * factor + e.sum(), mixed * factor + e @ values[a:b], new
        output[place] = mixed / total
    return output


wrong("sum not rescaled", sum_factor=False)
wrong("output not rescaled", output_factor=False)
wrong("sum and output not rescaled", sum_factor=False, output_factor=False)
wrong("factor infinite at the first block", turned=True)
wrong("maximum starts near 0", start=0.0)
wrong("maximum starts too high", start=-100.0)
wrong("maximum starts too high", start=-9999.0)
wrong("maximum starts too high", start=-1e4)
wrong("maximum starts too high", start=-1e5)
wrong("maximum starts too high", start=-3e8)
wrong("maximum starts too high", start=-1e9)
wrong("maximum starts too high", start=-1e10)
wrong("maximum starts too high", start=-1e20)
wrong("maximum starts too high", start=-1e30)
wrong("block maximum instead of the running maximum", highest="block")
wrong("block measured from its own maximum", highest="block", sum_factor=False, output_factor=False)
wrong("block measured from its own maximum", measured="block")
wrong(
    "tail block dropped",
    blocks=lambda n, size: [(i * size, (i + 1) * size) for i in range(n // size)],
)
wrong(
    "tail block dropped",
    blocks=lambda n, size: [(i, i + size) for i in range(0, n - size + 1, size)],
)
wrong(
    "tail block dropped",
    blocks=lambda n, size: [
        (i * min(n, size), (i + 1) * min(n, size)) for i in range(n // min(n, size))
    ],
)
wrong(
    "sum and output not rescaled",
    "tail block dropped",
    sum_factor=False,
    output_factor=False,
    blocks=lambda n, size: [
        (i * min(n, size), (i + 1) * min(n, size)) for i in range(n // min(n, size))
    ],
)
wrong(
    "last block dropped", blocks=lambda n, size: [(i, i + size) for i in range(0, n - size, size)]
)
wrong("blocks that overlap", blocks=lambda n, size: [(i, i + size + 1) for i in range(0, n, size)])
wrong("blocks that overlap", blocks=lambda n, size: [(i, i + size) for i in range(n)])
wrong("not divided by the sum", divide=False)
wrong("no scale", root=1.0)
wrong("no maximum subtracted", highest="none")
wrong("no maximum subtracted", "no scale", highest="none", root=1.0)
wrong("sum not rescaled", "no scale", sum_factor=False, root=1.0)
wrong(
    "output not rescaled",
    "tail block dropped",
    output_factor=False,
    blocks=lambda n, size: [(i, i + size) for i in range(0, n - size + 1, size)],
)


@answers.wrong("scores of all keys kept")
def streaming_not_at_all(query, key, value, block_size):
    return soft(scaled(query, key)) @ value


@answers.wrong("scores of all keys kept")
def streaming_filled_table(query, key, value, block_size):
    scores = np.zeros((*query.shape[:-1], key.shape[-2]), query.dtype)
    for a, b in regular(key.shape[-2], block_size):
        scores[..., a:b] = scaled(query, key[..., a:b, :])
    return soft(scores) @ value


@answers.wrong("scores of all keys kept")
def streaming_after_the_scores(query, key, value, block_size):
    scores = scaled(query, key)
    row_max, row_sum, output = -np.inf, 0, 0
    for a, b in regular(key.shape[-2], block_size):
        new_max = np.maximum(row_max, scores[..., a:b].max(-1, keepdims=True))
        factor, e = np.exp(row_max - new_max), np.exp(scores[..., a:b] - new_max)
        row_sum, output = (
            row_sum * factor + e.sum(-1, keepdims=True),
            output * factor + e @ value[..., a:b, :],
        )
        row_max = new_max
    return output / row_sum


@answers.wrong("scores of all keys kept", "no scale")
def streaming_not_at_all_unscaled(query, key, value, block_size):
    return soft(query @ key.mT) @ value


@answers.wrong("blocks of queries instead of keys")
def streaming_queries(query, key, value, block_size):
    return np.concatenate(
        [
            soft(scaled(query[..., a:b, :], key)) @ value
            for a, b in regular(query.shape[-2], 4 * block_size)
        ],
        axis=-2,
    )


@answers.wrong("partial results averaged")
def streaming_mean(query, key, value, block_size):
    parts = [
        soft(scaled(query, key[..., a:b, :])) @ value[..., a:b, :]
        for a, b in regular(key.shape[-2], block_size)
    ]
    return np.mean(parts, axis=0).astype(query.dtype)


@answers.wrong("partial results averaged")
def streaming_weighted_by_length(query, key, value, block_size):
    output = 0
    for a, b in regular(key.shape[-2], block_size):
        k = key[..., a:b, :]
        output = output + soft(scaled(query, k)) @ value[..., a:b, :] * (
            k.shape[-2] / key.shape[-2]
        )
    return output


@answers.wrong("partial results added")
def streaming_sum(query, key, value, block_size):
    output = np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
    for a, b in regular(key.shape[-2], block_size):
        output += soft(scaled(query, key[..., a:b, :])) @ value[..., a:b, :]
    return output


@answers.wrong("tail block counted as zeros")
def streaming_padded(query, key, value, block_size):
    padding = [(0, 0)] * (key.ndim - 2) + [(0, -key.shape[-2] % block_size), (0, 0)]
    return stream(query, np.pad(key, padding), np.pad(value, padding), block_size)


@answers.wrong("only the first block")
def streaming_return_in_the_loop(query, key, value, block_size):
    for a, b in regular(key.shape[-2], block_size):
        return soft(scaled(query, key[..., a:b, :])) @ value[..., a:b, :]


@answers.wrong("only the last block")
def streaming_assigned(query, key, value, block_size):
    for a, b in regular(key.shape[-2], block_size):
        output = soft(scaled(query, key[..., a:b, :])) @ value[..., a:b, :]
    return output


@answers.wrong("sum and output not rescaled")
def streaming_maximum_replaced_too_early(query, key, value, block_size):
    row_max, row_sum, output = -np.inf, 0, 0
    for a, b in regular(key.shape[-2], block_size):
        scores = scaled(query, key[..., a:b, :])
        row_max = np.maximum(row_max, scores.max(-1, keepdims=True))
        e, factor = np.exp(scores - row_max), np.exp(row_max - row_max)
        row_sum, output = (
            row_sum * factor + e.sum(-1, keepdims=True),
            output * factor + e @ value[..., a:b, :],
        )
    return output / row_sum


@answers.wrong("new block rescaled too")
def streaming_all_rescaled(query, key, value, block_size):
    row_max, row_sum, output = None, 0, 0
    for a, b in regular(key.shape[-2], block_size):
        scores = scaled(query, key[..., a:b, :])
        of_block = scores.max(-1, keepdims=True)
        new_max = of_block if row_max is None else np.maximum(row_max, of_block)
        factor = 1 if row_max is None else np.exp(row_max - new_max)
        e = np.exp(scores - new_max)
        row_sum, output = (
            (row_sum + e.sum(-1, keepdims=True)) * factor,
            (output + e @ value[..., a:b, :]) * factor,
        )
        row_max = new_max
    return output / row_sum


@answers.wrong("one maximum for the whole array")
def streaming_one_maximum(query, key, value, block_size):
    row_max, row_sum, output = -math.inf, 0, 0
    for a, b in regular(key.shape[-2], block_size):
        scores = scaled(query, key[..., a:b, :])
        new_max = max(row_max, float(scores.max()))
        factor, e = math.exp(row_max - new_max), np.exp(scores - new_max)
        row_sum, output = (
            row_sum * factor + e.sum(-1, keepdims=True),
            output * factor + e @ value[..., a:b, :],
        )
        row_max = new_max
    return output / row_sum


@answers.wrong("float64 leaks out")
def streaming_wide(query, key, value, block_size):
    row_max, row_sum, output = np.full((*query.shape[:-1], 1), -np.inf), 0.0, 0.0
    for a, b in regular(key.shape[-2], block_size):
        scores = scaled(query, key[..., a:b, :])
        new_max = np.maximum(row_max, scores.max(-1, keepdims=True))
        factor, e = np.exp(row_max - new_max), np.exp(scores - new_max)
        row_sum, output = (
            row_sum * factor + e.sum(-1, keepdims=True),
            output * factor + e @ value[..., a:b, :],
        )
        row_max = new_max
    return output / row_sum


def merged(join):
    """A learner's function that merges the blocks' outputs by their log-sum-exps."""

    def streaming_attention(query, key, value, block_size):
        out = lse = None
        for a, b in regular(key.shape[-2], block_size):
            scores = scaled(query, key[..., a:b, :])
            highest = scores.max(axis=-1, keepdims=True)
            new = highest + np.log(np.exp(scores - highest).sum(axis=-1, keepdims=True))
            block = soft(scores) @ value[..., a:b, :]
            out, lse = (
                (block, new) if out is None else join(out, lse, block, new, np.logaddexp(lse, new))
            )
        return out

    return streaming_attention


def shared(out, lse, block, new, both):
    return np.exp(lse - both) * out + np.exp(new - both) * block


answers.right(merged(lambda *parts: (shared(*parts), parts[-1])))
for number, (name, function) in enumerate(
    (
        (
            "shares of the partial results swapped",
            merged(lambda o, l, b, n, both: (shared(b, l, o, n, both), both)),
        ),
        ("partial results averaged", merged(lambda o, l, b, n, both: ((o + b) / 2, both))),
        (
            "log-sum-exp updated too early",
            merged(lambda o, l, b, n, both: (shared(o, both, b, n, both), both)),
        ),
        (
            "log-sum-exp of one part kept",
            merged(lambda o, l, b, n, both: (shared(o, l, b, n, both), n)),
        ),
        (
            "only the larger part",
            merged(lambda o, l, b, n, both: (np.where(l > n, o, b), np.maximum(l, n))),
        ),
        (
            "last block dropped",
            answer(blocks=lambda n, size: regular(n, size)[:-1] or regular(n, size)),
        ),
        (
            "only for full blocks",
            lambda query, key, value, block_size: stream(
                query,
                key.reshape(*key.shape[:-2], -1, block_size, key.shape[-1]).reshape(key.shape),
                value,
                block_size,
            ),
        ),
    )
):
    function.__name__ = f"streaming_merged_{number}"
    answers.wrong(name, function=function)


@answers.wrong("only for n_k a multiple of block_size")
def streaming_in_full_blocks(query, key, value, block_size):
    assert key.shape[-2] % block_size == 0
    return stream(query, key, value, block_size)


wrong(
    "a key lost between blocks",
    blocks=lambda n_k, size: [(at, at + max(size - 1, 1)) for at in range(0, n_k, size)],
)


@answers.wrong("keys not read in blocks")
def streaming_one_query_at_a_time(query, key, value, block_size):
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for place in np.ndindex(*query.shape[:-1]):
        scores = key[place[:-1]] @ query[place] / math.sqrt(query.shape[-1])
        output[place] = soft(scores) @ value[place[:-1]]
    return output


@answers.right()
def streaming_key_by_key(query, key, value, block_size):
    query, key, value, dtype = (
        query.astype(np.float64),
        key.astype(np.float64),
        value.astype(np.float64),
        query.dtype,
    )
    output = np.empty((*query.shape[:-1], value.shape[-1]))
    for place in np.ndindex(*query.shape[:-1]):
        highest, total, mixed = -math.inf, 0.0, np.zeros(value.shape[-1])
        for a, b in regular(key.shape[-2], block_size):
            for k, v in zip(key[place[:-1]][a:b], value[place[:-1]][a:b]):
                score = float(k @ query[place]) / math.sqrt(query.shape[-1])
                new = max(highest, score)
                factor, e = math.exp(highest - new), math.exp(score - new)
                total, mixed, highest = total * factor + e, mixed * factor + e * v, new
        output[place] = mixed / total
    return output.astype(dtype)


@answers.wrong("queries cut like the keys")
def streaming_queries_cut(query, key, value, block_size):
    output = np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
    for a, b in regular(query.shape[-2], block_size):
        output[..., a:b, :] = (
            soft(scaled(query[..., a:b, :], key[..., a:b, :])) @ value[..., a:b, :]
        )
    return output


@answers.wrong("exp missing in the factor")
def streaming_factor_without_exp(query, key, value, block_size):
    row_max, row_sum, output = None, 0, 0
    for a, b in regular(key.shape[-2], block_size):
        scores = scaled(query, key[..., a:b, :])
        of_block = scores.max(axis=-1, keepdims=True)
        new_max = of_block if row_max is None else np.maximum(row_max, of_block)
        factor = 1 if row_max is None else row_max - new_max
        e = np.exp(scores - new_max)
        row_sum, output = (
            row_sum * factor + e.sum(-1, keepdims=True),
            output * factor + e @ value[..., a:b, :],
        )
        row_max = new_max
    return output / row_sum


@answers.wrong("factor infinite at the first block")
def streaming_factor_without_exp_from_the_start(query, key, value, block_size):
    row_max, row_sum, output = -np.inf, 0, 0
    for a, b in regular(key.shape[-2], block_size):
        scores = scaled(query, key[..., a:b, :])
        new_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
        e, factor = np.exp(scores - new_max), row_max - new_max
        row_sum, output = (
            row_sum * factor + e.sum(-1, keepdims=True),
            output * factor + e @ value[..., a:b, :],
        )
        row_max = new_max
    return output / row_sum


@answers.wrong("rescaled the wrong way")
def streaming_rescaled_the_wrong_way(query, key, value, block_size):
    row_max, row_sum, output = None, 0, 0
    for a, b in regular(key.shape[-2], block_size):
        scores = scaled(query, key[..., a:b, :])
        of_block = scores.max(axis=-1, keepdims=True)
        new_max = of_block if row_max is None else np.maximum(row_max, of_block)
        factor = 1 if row_max is None else np.exp(new_max - row_max)
        e = np.exp(scores - new_max)
        row_sum, output = (
            row_sum * factor + e.sum(-1, keepdims=True),
            output * factor + e @ value[..., a:b, :],
        )
        row_max = new_max
    return output / row_sum


@answers.wrong("scores of all keys kept")
def streaming_not_at_all_in_torch(query, key, value, block_size):
    import torch

    q, k, v = (torch.from_numpy(np.array(array)).double() for array in (query, key, value))
    return (
        (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v).numpy().astype(query.dtype)
    )


@answers.wrong("scores of all keys kept")
def streaming_into_mapped_memory(query, key, value, block_size):
    shape = (*query.shape[:-1], key.shape[-2])
    scores = np.frombuffer(mmap.mmap(-1, 8 * math.prod(shape))).reshape(shape)
    for a, b in regular(key.shape[-2], block_size):
        scores[..., a:b] = scaled(query, key[..., a:b, :])
    highest = np.maximum.reduce(
        [scores[..., a:b].max(-1, keepdims=True) for a, b in regular(key.shape[-2], block_size)]
    )
    output = total = 0
    for a, b in regular(key.shape[-2], block_size):
        e = np.exp(scores[..., a:b] - highest)
        output, total = output + e @ value[..., a:b, :], total + e.sum(-1, keepdims=True)
    return (output / total).astype(query.dtype)


def stream_with(factor_axis=True, sum_axis=True, max_axis=True, own_softmax=False):
    def column(numbers, is_there=True):
        return numbers[..., None] if is_there else numbers

    def answer(query, key, value, block_size):
        query = query * query.dtype.type(query.shape[-1] ** -0.5)
        row_max = np.full(query.shape[:-1], -np.inf, query.dtype)
        row_sum, output = (
            np.zeros_like(row_max),
            np.zeros((*row_max.shape, value.shape[-1]), query.dtype),
        )
        for at in range(0, key.shape[-2], block_size):
            scores = query @ key[..., at : at + block_size, :].mT
            new_max = np.maximum(row_max, scores.max(axis=-1))
            factor, powers = np.exp(row_max - new_max), np.exp(scores - column(new_max, max_axis))
            row_sum = row_sum * factor + powers.sum(axis=-1)
            shares = powers / powers.sum(axis=-1, keepdims=True) if own_softmax else powers
            output = (
                output * column(factor, factor_axis) + shares @ value[..., at : at + block_size, :]
            )
            row_max = new_max
        return output / column(row_sum, sum_axis)

    return answer


answers.right(function=stream_with())
answers.wrong("no axis for the features", function=stream_with(factor_axis=False))
answers.wrong("no axis for the features", function=stream_with(sum_axis=False))
answers.wrong("no axis for the features", function=stream_with(factor_axis=False, sum_axis=False))
answers.wrong("no axis for the keys", function=stream_with(max_axis=False))
answers.wrong("softmax of each block", function=stream_with(own_softmax=True))
answers.wrong(
    "sqrt(d_v) instead of sqrt(d_k)",
    function=lambda query, key, value, block_size: stream(
        query, key, value, block_size, root=math.sqrt(value.shape[-1])
    ),
)
answers.wrong(
    "sqrt(n_k) instead of sqrt(d_k)",
    function=lambda query, key, value, block_size: stream(
        query, key, value, block_size, root=math.sqrt(key.shape[-2])
    ),
)
wrong("d_k fixed in the code", root=8.0)
wrong(
    "blocks that overlap",
    blocks=lambda n_k, block_size: [
        (max(0, min(start, n_k - block_size)), min(start + block_size, n_k))
        for start in range(0, n_k, block_size)
    ],
)
wrong(
    "block_size used as the number of blocks",
    blocks=lambda n_k, block_size: regular(n_k, -(-n_k // block_size)),
)


@answers.wrong("blocks of queries instead of keys")
def queries_block_by_block(query, key, value, block_size):
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for first in range(0, query.shape[-2], block_size):
        rows = slice(first, first + block_size)
        scores = query[..., rows, :] @ key.mT / query.shape[-1] ** 0.5
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        output[..., rows, :] = powers / powers.sum(axis=-1, keepdims=True) @ value
    return output


@answers.wrong("new block rescaled too")
def factor_after_the_sum(query, key, value, block_size):
    query = query / math.sqrt(query.shape[-1])
    row_max = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    row_sum = np.zeros(query.shape[:-1], dtype=query.dtype)
    acc = np.zeros(query.shape[:-1] + value.shape[-1:], dtype=query.dtype)
    for start in range(0, key.shape[-2], block_size):
        block = slice(start, start + block_size)
        s = query @ key[..., block, :].swapaxes(-1, -2)
        new_max = np.maximum(row_max, s.max(axis=-1))
        factor = np.exp(row_max - new_max)
        w = np.exp(s - new_max[..., None])
        row_sum = (row_sum + w.sum(axis=-1)) * np.where(np.isinf(row_max), 1, factor)
        acc = acc * factor[..., None] + w @ value[..., block, :]
        row_max = new_max
    return acc / row_sum[..., None]
