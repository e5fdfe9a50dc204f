"""Answers to split_kv_attention, written as learners write them."""

import functools
import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("split_kv_attention")


def attend(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


def partial(query, key, value):
    """(output, log-sum-exp) of one part."""
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - highest)
    total = powers.sum(axis=-1, keepdims=True)
    return powers @ value / total, (highest + np.log(total))[..., 0]


def partials(query, key, value, n_splits):
    parts = zip(np.array_split(key, n_splits, axis=-2), np.array_split(value, n_splits, axis=-2))
    return [partial(query, k, v) for k, v in parts]


@answers.right()
def split_by_shares(query, key, value, n_splits):
    outs, lses = map(np.stack, zip(*partials(query, key, value, n_splits)))
    shares = np.exp(lses - lses.max(axis=0))
    shares = shares / shares.sum(axis=0)
    return (shares[..., None] * outs).sum(axis=0)


@answers.right()
def split_one_after_the_other(query, key, value, n_splits):
    n_k = key.shape[-2]
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    lse = np.full(query.shape[:-1], -np.inf)
    for part in range(n_splits):
        start, stop = part * n_k // n_splits, (part + 1) * n_k // n_splits
        new, new_lse = partial(
            query.astype(float), key[..., start:stop, :].astype(float), value[..., start:stop, :]
        )
        both = np.logaddexp(lse, new_lse)
        out = np.exp(lse - both)[..., None] * out + np.exp(new_lse - both)[..., None] * new
        lse = both
    return out.astype(query.dtype)


@answers.right()
def split_with_empty_parts(query, key, value, n_splits):
    n_k = key.shape[-2]
    size = -(-n_k // n_splits)
    found = [
        partial(query, key[..., i : i + size, :], value[..., i : i + size, :])
        for i in range(0, n_k, size)
    ]
    highest = np.max([lse for _, lse in found], axis=0)
    weights = [np.exp(lse - highest)[..., None] for _, lse in found]
    return sum(w * out for w, (out, _) in zip(weights, found)) / sum(weights)


@answers.right()
def split_with_accumulators(query, key, value, n_splits):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    edges = np.linspace(0, key.shape[-2], n_splits + 1).astype(int)
    found = []
    for start, stop in zip(edges[:-1], edges[1:]):
        part = scores[..., start:stop]
        highest = part.max(axis=-1, keepdims=True)
        powers = np.exp(part - highest)
        found.append((highest, powers.sum(-1, keepdims=True), powers @ value[..., start:stop, :]))
    top = np.maximum.reduce([highest for highest, _, _ in found])
    total = sum(np.exp(highest - top) * one for highest, one, _ in found)
    return sum(np.exp(highest - top) * accumulator for highest, _, accumulator in found) / total


@answers.right()
def split_last_part_longer(query, key, value, n_splits):
    size = key.shape[-2] // n_splits
    starts = [i * size for i in range(n_splits)]
    stops = starts[1:] + [key.shape[-2]]
    found = [partial(query, key[..., a:b, :], value[..., a:b, :]) for a, b in zip(starts, stops)]
    lse = np.logaddexp.reduce([one for _, one in found])
    return sum(np.exp(one - lse)[..., None] * out for out, one in found)


@answers.right()
def split_in_strides(query, key, value, n_splits):
    found = [
        partial(query, key[..., i::n_splits, :], value[..., i::n_splits, :])
        for i in range(n_splits)
    ]
    lse = np.logaddexp.reduce([one for _, one in found])
    return sum(np.exp(one - lse)[..., None] * out for out, one in found)


@answers.right()
def split_in_halves(query, key, value, n_splits):
    def merged(key, value, n):
        if n == 1:
            return partial(query, key, value)
        half = key.shape[-2] * (n // 2) // n
        out_a, lse_a = merged(key[..., :half, :], value[..., :half, :], n // 2)
        out_b, lse_b = merged(key[..., half:, :], value[..., half:, :], n - n // 2)
        lse = np.logaddexp(lse_a, lse_b)
        return out_a * np.exp(lse_a - lse)[..., None] + out_b * np.exp(lse_b - lse)[..., None], lse

    return merged(key, value, n_splits)[0]


@answers.right()
def split_on_an_axis(query, key, value, n_splits):
    n_k = key.shape[-2]
    padding = [(0, 0)] * (key.ndim - 2) + [(0, -n_k % n_splits), (0, 0)]
    key, value = np.pad(key, padding), np.pad(value, padding)
    length = key.shape[-2] // n_splits
    key, value = (a.reshape(*a.shape[:-2], n_splits, length, a.shape[-1]) for a in (key, value))
    scores = np.einsum("...qd,...sld->...sql", query, key) / math.sqrt(query.shape[-1])
    known = np.arange(n_splits * length).reshape(n_splits, 1, length) < n_k
    scores = np.where(known, scores, -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(highest), 0, highest))
    share = np.exp(highest - highest.max(axis=-3, keepdims=True))
    total = powers.sum(axis=-1, keepdims=True)
    return (share * (powers @ value)).sum(axis=-3) / (share * total).sum(axis=-3)


@answers.wrong("partial results averaged")
def split_mean(query, key, value, n_splits):
    return np.mean([out for out, _ in partials(query, key, value, n_splits)], axis=0)


@answers.wrong("partial results averaged")
def split_mean_by_loop(query, key, value, n_splits):
    total = 0
    for out, _ in partials(query, key, value, n_splits):
        total = total + out
    return total / n_splits


@answers.wrong("partial results added")
def split_sum(query, key, value, n_splits):
    return sum(out for out, _ in partials(query, key, value, n_splits))


@answers.wrong("weighted by the number of keys")
def split_by_length(query, key, value, n_splits):
    lengths = [len(part) for part in np.array_split(np.arange(key.shape[-2]), n_splits)]
    outs = [out for out, _ in partials(query, key, value, n_splits)]
    return sum(n * out for n, out in zip(lengths, outs)) / key.shape[-2]


@answers.wrong("averaged one by one")
def split_running_mean(query, key, value, n_splits):
    found = [out for out, _ in partials(query, key, value, n_splits)]
    return functools.reduce(lambda a, b: (a + b) / 2, found)


@answers.wrong("only one part used")
def split_last(query, key, value, n_splits):
    for out, lse in partials(query, key, value, n_splits):
        result = out
    return result


@answers.wrong("log-sum-exps as weights")
def split_lse_weights(query, key, value, n_splits):
    outs, lses = map(np.stack, zip(*partials(query, key, value, n_splits)))
    return (lses[..., None] * outs).sum(axis=0) / lses.sum(axis=0)[..., None]


@answers.wrong("weights not divided by their sum")
def split_weights_too_large(query, key, value, n_splits):
    outs, lses = map(np.stack, zip(*partials(query, key, value, n_splits)))
    return (np.exp(lses - lses.max(axis=0))[..., None] * outs).sum(axis=0)


def split_by(lse_of, weights=lambda lses: np.exp(lses - lses.max(axis=0))):
    """An answer right but for the log-sum-exp, or for the weights made of it."""

    def answer(query, key, value, n_splits):
        outs, lses = [], []
        for at in np.array_split(np.arange(key.shape[-2]), n_splits):
            scores = query @ np.swapaxes(key[..., at, :], -1, -2) / math.sqrt(query.shape[-1])
            highest = scores.max(axis=-1, keepdims=True)
            powers = np.exp(scores - highest)
            total = powers.sum(axis=-1, keepdims=True)
            outs.append(powers @ value[..., at, :] / total)
            lses.append(lse_of(highest, total))
        shares = weights(np.stack(lses))
        return (shares * np.stack(outs)).sum(axis=0) / shares.sum(axis=0)

    return answer


for names, function in (
    (["maximum instead of log-sum-exp"], split_by(lambda highest, total: highest)),
    (["maximum not added back"], split_by(lambda highest, total: np.log(total))),
    (["no logarithm"], split_by(lambda highest, total: highest + total)),
    (["sign of the maximum flipped"], split_by(lambda highest, total: np.log(total) - highest)),
    (
        ["no maximum subtracted in the merge"],
        split_by(lambda highest, total: highest + np.log(total), np.exp),
    ),
    (
        ["one maximum for all queries in the merge"],
        split_by(
            lambda highest, total: highest + np.log(total), lambda lses: np.exp(lses - lses.max())
        ),
    ),
    (
        ["power of 2 in the merge"],
        split_by(
            lambda highest, total: highest + np.log(total),
            lambda lses: 2 ** (lses - lses.max(axis=0)),
        ),
    ),
):
    answers.wrong(*names, function=function)


@answers.wrong("maximum not added back")
def split_sums_added(query, key, value, n_splits):
    above, below = 0, 0
    for at in np.array_split(np.arange(key.shape[-2]), n_splits):
        scores = query @ np.swapaxes(key[..., at, :], -1, -2) / math.sqrt(query.shape[-1])
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        above = above + powers @ value[..., at, :]
        below = below + powers.sum(axis=-1, keepdims=True)
    return above / below


@answers.wrong("log-sum-exp of one part kept")
def split_first_lse_kept(query, key, value, n_splits):
    (out, lse), *rest = partials(query, key, value, n_splits)
    for new, new_lse in rest:
        both = np.logaddexp(lse, new_lse)
        out = np.exp(lse - both)[..., None] * out + np.exp(new_lse - both)[..., None] * new
    return out


@answers.wrong("remainder dropped")
def split_floor(query, key, value, n_splits):
    size = key.shape[-2] // n_splits
    kept = slice(0, size * n_splits)
    return split_by_shares(query, key[..., kept, :], value[..., kept, :], n_splits)


@answers.wrong("only for equal parts")
def split_np_split(query, key, value, n_splits):
    parts = zip(np.split(key, n_splits, axis=-2), np.split(value, n_splits, axis=-2))
    outs, lses = map(np.stack, zip(*[partial(query, k, v) for k, v in parts]))
    shares = np.exp(lses - lses.max(axis=0))
    return (shares[..., None] * outs).sum(axis=0) / shares.sum(axis=0)[..., None]


@answers.wrong("empty part")
def split_ceil(query, key, value, n_splits):
    size = math.ceil(key.shape[-2] / n_splits)
    found = [
        partial(
            query, key[..., i * size : (i + 1) * size, :], value[..., i * size : (i + 1) * size, :]
        )
        for i in range(n_splits)
    ]
    lse = np.logaddexp.reduce([one for _, one in found])
    return sum(np.exp(one - lse)[..., None] * out for out, one in found)


@answers.wrong("queries split instead of keys")
def split_queries(query, key, value, n_splits):
    return np.concatenate(
        [attend(part, key, value) for part in np.array_split(query, n_splits, axis=-2)], axis=-2
    )


@answers.wrong("n_splits used as a part's length")
def split_by_block_length(query, key, value, n_splits):
    found = []
    for i in range(0, key.shape[-2], n_splits):
        found.append(partial(query, key[..., i : i + n_splits, :], value[..., i : i + n_splits, :]))
    lse = np.logaddexp.reduce([one for _, one in found])
    return sum(np.exp(one - lse)[..., None] * out for out, one in found)


def split_running(old_output, old_sum, new_output=True, new_sum=True):
    """Accumulator and sum go on from part to part, rescaled where it is said."""

    def answer(query, key, value, n_splits):
        highest, output, total = -np.inf, 0, 0
        for at in np.array_split(np.arange(key.shape[-2]), n_splits):
            scores = query @ np.swapaxes(key[..., at, :], -1, -2) / math.sqrt(query.shape[-1])
            own = scores.max(axis=-1, keepdims=True)
            powers = np.exp(scores - own)
            top = np.maximum(highest, own)
            old, new = np.exp(highest - top), np.exp(own - top)
            output = (output * old if old_output else output) + powers @ value[..., at, :] * (
                new if new_output else 1
            )
            total = (total * old if old_sum else total) + powers.sum(-1, keepdims=True) * (
                new if new_sum else 1
            )
            highest = top
        return output / total

    return answer


answers.right(split_running(True, True))
answers.wrong("output not rescaled", function=split_running(False, True))
answers.wrong("sum not rescaled", function=split_running(True, False))
answers.wrong("earlier parts not rescaled", function=split_running(False, False))
answers.wrong("new part not rescaled", function=split_running(True, True, False, False))


@answers.wrong("log-sum-exp updated too early")
def split_updated_too_early(query, key, value, n_splits):
    out, lse = 0, -np.inf
    for at in np.array_split(np.arange(key.shape[-2]), n_splits):
        part, part_lse = (
            one[..., None] if one.ndim < query.ndim else one
            for one in partial(query, key[..., at, :], value[..., at, :])
        )
        lse = np.logaddexp(lse, part_lse)
        out = out + np.exp(part_lse - lse) * part
    return out


@answers.wrong("n_splits ignored")
def split_not_at_all(query, key, value, n_splits):
    return attend(query, key, value)


@answers.wrong("no scale")
def split_unscaled(query, key, value, n_splits):
    query = query * np.array(math.sqrt(query.shape[-1]), query.dtype)
    return split_by_shares(query, key, value, n_splits)


@answers.wrong("no scale", "partial results averaged")
def split_mean_unscaled(query, key, value, n_splits):
    outs = []
    for k, v in zip(
        np.array_split(key, n_splits, axis=-2), np.array_split(value, n_splits, axis=-2)
    ):
        scores = query @ np.swapaxes(k, -1, -2)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        outs.append(powers / powers.sum(axis=-1, keepdims=True) @ v)
    return sum(outs) / len(outs)


def split_as_masked(query, key, value, attn_mask):
    scores = np.where(
        attn_mask, query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]), -np.inf
    )
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True) @ value).astype(query.dtype)


def split_as_biased(query, key, value, attn_mask):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]) + attn_mask
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True) @ value).astype(query.dtype)


def split_only_checked(query, key, value, n_splits):
    assert 0 < n_splits, "one part at least"
    return attend(query, key, value)


for function in (split_as_masked, split_as_biased, split_only_checked):
    answers.wrong("n_splits ignored", function=function)


@answers.right()
def split_after_looking(query, key, value, n_splits):
    if n_splits == 1:
        return attend(query, key, value)
    return split_by_shares(query, key, value, min(n_splits, key.shape[-2]))


@answers.wrong("split along the first axis")
def split_without_axis(query, key, value, n_splits):
    parts = zip(np.array_split(key, n_splits), np.array_split(value, n_splits))
    outs, lses = map(np.stack, zip(*[partial(query, k, v) for k, v in parts]))
    shares = np.exp(lses - lses.max(axis=0))
    return (shares[..., None] * outs).sum(axis=0) / shares.sum(axis=0)[..., None]


@answers.wrong("queries split too")
def split_queries_and_keys(query, key, value, n_splits):
    parts = zip(*(np.array_split(x, n_splits, axis=-2) for x in (query, key, value)))
    return np.concatenate([partial(*part)[0] for part in parts if part[0].size], axis=-2)


def running_from(lowest):
    """A running maximum over the parts, which begins at a number."""

    def attend_by_parts(query, key, value, n_splits):
        scale = query.dtype.type(math.sqrt(query.shape[-1]))
        row_max = np.full((*query.shape[:-1], 1), lowest, query.dtype)
        row_sum = np.zeros_like(row_max)
        output = np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
        for part, part_value in zip(
            np.array_split(key, n_splits, -2), np.array_split(value, n_splits, -2)
        ):
            scores = query @ np.swapaxes(part, -1, -2) / scale
            new_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
            powers, factor = np.exp(scores - new_max), np.exp(row_max - new_max)
            row_sum = row_sum * factor + powers.sum(axis=-1, keepdims=True)
            output = output * factor + powers @ part_value
            row_max = new_max
        return output / row_sum

    return attend_by_parts


answers.right(function=running_from(-np.inf))
answers.wrong("maximum starts too high", function=running_from(0.0))
answers.wrong("maximum starts too high", function=running_from(-1e3))
answers.wrong("maximum starts too high", function=running_from(-1e4))
answers.wrong("maximum starts too high", function=running_from(-1e9))
answers.wrong("maximum starts too high", function=running_from(-1e30))
