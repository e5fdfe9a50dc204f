"""Answers to decode_step, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("decode_step")


def attend(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


@answers.right()
def decode_concatenated(query, key_cache, value_cache, key_new, value_new):
    key_cache = np.concatenate([key_cache, key_new], axis=-2)
    value_cache = np.concatenate([value_cache, value_new], axis=-2)
    return attend(query, key_cache, value_cache), key_cache, value_cache


@answers.right()
def decode_filled(query, key_cache, value_cache, key_new, value_new):
    *batch, n, d = key_cache.shape
    keys = np.empty((*batch, n + 1, d), key_cache.dtype)
    values = np.empty((*batch, n + 1, value_cache.shape[-1]), value_cache.dtype)
    keys[..., :n, :], keys[..., n:, :] = key_cache, key_new
    values[..., :n, :], values[..., n:, :] = value_cache, value_new
    scores = np.einsum("...od,...nd->...on", query, keys) * d**-0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    output = np.einsum("...on,...nd->...od", weights, values) / weights.sum(-1, keepdims=True)
    return [output, keys, values]


@answers.right()
def decode_merged(query, key_cache, value_cache, key_new, value_new):
    old = query @ np.swapaxes(key_cache, -1, -2) / math.sqrt(query.shape[-1])
    new = (query * key_new).sum(axis=-1, keepdims=True) / math.sqrt(query.shape[-1])
    highest = np.maximum(old.max(axis=-1, keepdims=True), new)
    old, new = np.exp(old - highest), np.exp(new - highest)
    output = (old @ value_cache + new * value_new) / (old.sum(axis=-1, keepdims=True) + new)
    return (
        output,
        np.append(key_cache, key_new, axis=-2),
        np.append(value_cache, value_new, axis=-2),
    )


@answers.right()
def decode_by_attnlib(query, key_cache, value_cache, key_new, value_new):
    key_cache = np.concatenate((key_cache, key_new), -2)
    value_cache = np.concatenate((value_cache, value_new), -2)
    return attnlib.attention(query, key_cache, value_cache), key_cache, value_cache


@answers.right()
def decode_masked(query, key_cache, value_cache, key_new, value_new):
    key_cache = np.concatenate([key_cache, key_new], axis=-2)
    value_cache = np.concatenate([value_cache, value_new], axis=-2)
    n_k = key_cache.shape[-2]
    mask = np.tri(1, n_k, n_k - 1, dtype=bool)
    scores = query @ np.swapaxes(key_cache, -1, -2) / math.sqrt(query.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ value_cache, key_cache, value_cache


@answers.wrong("new key not attended to")
def decode_attends_first(query, key_cache, value_cache, key_new, value_new):
    output = attend(query, key_cache, value_cache)
    key_cache = np.concatenate([key_cache, key_new], axis=-2)
    value_cache = np.concatenate([value_cache, value_new], axis=-2)
    return output, key_cache, value_cache


@answers.wrong("cache not extended")
def decode_forgets(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    return attend(query, keys, values), key_cache, value_cache


@answers.wrong("cache not extended", "new key not attended to")
def decode_ignores_the_new(query, key_cache, value_cache, key_new, value_new):
    np.concatenate([key_cache, key_new], axis=-2)
    np.concatenate([value_cache, value_new], axis=-2)
    return attend(query, key_cache, value_cache), key_cache, value_cache


@answers.wrong("new position first")
def decode_in_front(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_new, key_cache], axis=-2)
    values = np.concatenate([value_new, value_cache], axis=-2)
    return attend(query, keys, values), keys, values


@answers.wrong("only the new key attended to")
def decode_new_only(query, key_cache, value_cache, key_new, value_new):
    output = attend(query, key_new, value_new)
    return (
        output,
        np.concatenate([key_cache, key_new], -2),
        np.concatenate([value_cache, value_new], -2),
    )


@answers.wrong("last position overwritten")
def decode_overwrites(query, key_cache, value_cache, key_new, value_new):
    keys, values = key_cache.copy(), value_cache.copy()
    keys[..., -1:, :] = key_new
    values[..., -1:, :] = value_new
    return attend(query, keys, values), keys, values


@answers.wrong("oldest position dropped")
def decode_rolls(query, key_cache, value_cache, key_new, value_new):
    keys = np.roll(key_cache, -1, axis=-2)
    values = np.roll(value_cache, -1, axis=-2)
    keys[..., -1, :], values[..., -1, :] = key_new[..., 0, :], value_new[..., 0, :]
    return attend(query, keys, values), keys, values


@answers.wrong("appended along the first axis")
def decode_axis_0(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new])
    values = np.concatenate([value_cache, value_new])
    return attend(query, keys, values), keys, values


@answers.wrong("appended along the first axis")
def decode_vstack(query, key_cache, value_cache, key_new, value_new):
    keys, values = np.vstack((key_cache, key_new)), np.vstack((value_cache, value_new))
    return attend(query, keys, values), keys, values


@answers.wrong("appended along the second axis")
def decode_axis_1(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=1)
    values = np.concatenate([value_cache, value_new], axis=1)
    return attend(query, keys, values), keys, values


@answers.wrong("aligned at the top left")
def decode_causal(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
    scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values, keys, values


@answers.wrong("parts in another order")
def decode_caches_first(*args):
    output, keys, values = decode_concatenated(*args)
    return keys, values, output


@answers.wrong("no scale")
def decode_unscaled(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    return (
        attend(query * np.array(math.sqrt(query.shape[-1]), query.dtype), keys, values),
        keys,
        values,
    )


@answers.wrong("no maximum subtracted")
def decode_without_maximum(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    powers = np.exp(query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1]))
    return powers @ values / powers.sum(axis=-1, keepdims=True), keys, values


@answers.wrong("new key not attended to", "no scale")
def decode_attends_first_unscaled(query, key_cache, value_cache, key_new, value_new):
    scores = query @ np.swapaxes(key_cache, -1, -2)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    output = powers @ value_cache / powers.sum(axis=-1, keepdims=True)
    return (
        output,
        np.concatenate([key_cache, key_new], -2),
        np.concatenate([value_cache, value_new], -2),
    )


@answers.wrong("parts missing")
def decode_output_alone(*args):
    return decode_concatenated(*args)[0]


def appended(cache, new):
    return np.concatenate([cache, new], axis=-2)


def attended(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


for number, (name, function) in enumerate(
    (
        (
            "one cache not extended",
            lambda q, kc, vc, kn, vn: (attended(q, appended(kc, kn), vc), appended(kc, kn), vc),
        ),
        (
            "appended twice",
            lambda q, kc, vc, kn, vn: (
                attended(q, appended(kc, kn), appended(vc, vn)),
                appended(appended(kc, kn), kn),
                appended(appended(vc, vn), vn),
            ),
        ),
        (
            "one key left out",
            lambda q, kc, vc, kn, vn: (
                attended(q, appended(kc, kn)[..., 1:, :], appended(vc, vn)[..., 1:, :]),
                appended(kc, kn),
                appended(vc, vn),
            ),
        ),
    )
):
    function.__name__ = f"decode_one_step_{number}"
    answers.wrong(name, function=function)


@answers.wrong("no maximum subtracted", "softmax over the queries' axis")
def decode_over_the_queries(query, key_cache, value_cache, key_new, value_new):
    key, value = appended(key_cache, key_new), appended(value_cache, value_new)
    powers = np.exp(query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]))
    return powers / powers.sum(axis=-2, keepdims=True) @ value, key, value


@answers.wrong("new value added to the output")
def decode_added_to_the_output(query, key_cache, value_cache, key_new, value_new):
    output = attend(query, key_cache, value_cache) + value_new
    return output, appended(key_cache, key_new), appended(value_cache, value_new)


@answers.wrong("new value added to the output")
def decode_averaged_with_the_output(query, key_cache, value_cache, key_new, value_new):
    output = (attend(query, key_cache, value_cache) + value_new) / 2
    return output, appended(key_cache, key_new), appended(value_cache, value_new)


@answers.wrong("oldest position dropped")
def step_that_returns_a_window(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    return attnlib.attention(query, keys, values), keys[..., 1:, :], values[..., 1:, :]


def with_step(shift=None, scale=None, total=None):
    """An answer in which one of three steps is another."""

    def decode(query, key_cache, value_cache, key_new, value_new):
        keys = np.concatenate([key_cache, key_new], axis=-2)
        values = np.concatenate([value_cache, value_new], axis=-2)
        scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
        scores = scale(scores, query) if scale else scores
        highest = shift(scores) if shift else scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - highest)
        whole = (total(powers) if total else powers).sum(axis=-1, keepdims=True)
        return powers @ values / whole, keys, values

    return decode


def new_unscaled(scores, query):
    scores[..., -1:] *= math.sqrt(query.shape[-1])
    return scores


answers.right(with_step())
answers.wrong(
    "maximum without the new key",
    function=with_step(shift=lambda scores: scores[..., :-1].max(axis=-1, keepdims=True)),
)
for first in (0, -1):
    answers.wrong(
        "one position's score instead of the maximum",
        function=with_step(shift=lambda scores, at=first: scores.take([at], axis=-1)),
    )
answers.wrong("new score not scaled", function=with_step(scale=new_unscaled))
answers.wrong(
    "new key missing in the sum", function=with_step(total=lambda powers: powers[..., :-1])
)


@answers.wrong("appended along the features")
def decode_keys_side_by_side(query, key_cache, value_cache, key_new, value_new):
    new = np.broadcast_to(key_new, key_cache.shape)
    keys = np.concatenate([key_cache, new], axis=-1)
    values = np.concatenate([value_cache, value_new], axis=-2)
    return attnlib.attention(query, keys, values), keys, values


@answers.wrong("zeros in place of the new position")
def decode_value_never_written(query, key_cache, value_cache, key_new, value_new):
    n = key_cache.shape[-2]
    keys, values = (
        np.zeros((*cache.shape[:-2], n + 1, cache.shape[-1]), cache.dtype)
        for cache in (key_cache, value_cache)
    )
    keys[..., :n, :], values[..., :n, :] = key_cache, value_cache
    keys[..., n:, :] = key_new
    return attend(query, keys, values), keys, values


@answers.wrong("new value counted as 0")
def decode_value_left_out(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    scores = query @ keys.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    values = np.concatenate([value_cache, value_new], axis=-2)
    return weights[..., :-1] @ value_cache, keys, values
