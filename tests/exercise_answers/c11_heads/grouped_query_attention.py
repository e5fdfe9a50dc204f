"""Answers to grouped_query_attention, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("grouped_query_attention")


def soft(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attend(query, key, value):
    return soft(query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])) @ value


def merge(heads):
    heads = np.swapaxes(heads, -2, -3)
    return heads.reshape(*heads.shape[:-2], -1)


def group(query, key):
    return query.shape[-3] // key.shape[-3]


def repeat(array, times):
    return np.repeat(array, times, axis=-3)


def tile(array, times):
    return np.concatenate([array] * times, axis=-3)


answers.right(
    lambda query, key, value: attend(
        query, repeat(key, group(query, key)), repeat(value, group(query, key))
    )
)


@answers.right()
def grouped_by_broadcasting(query, key, value):
    *batch, h, n, d = query.shape
    query = query.reshape(*batch, key.shape[-3], h // key.shape[-3], n, d)
    output = attend(query, key[..., :, None, :, :], value[..., :, None, :, :])
    return output.reshape(*batch, h, n, value.shape[-1])


@answers.right()
def grouped_loop(query, key, value):
    size = group(query, key)
    return np.stack(
        [
            attend(query[..., i, :, :], key[..., i // size, :, :], value[..., i // size, :, :])
            for i in range(query.shape[-3])
        ],
        axis=-3,
    )


@answers.right()
def grouped_long_queries(query, key, value):
    *batch, h, n, d = query.shape
    long = query.reshape(*batch, key.shape[-3], group(query, key) * n, d)
    return attend(long, key, value).reshape(*batch, h, n, -1)


@answers.right()
def grouped_einsum(query, key, value):
    split = query.reshape(*query.shape[:-3], key.shape[-3], group(query, key), *query.shape[-2:])
    scores = np.einsum("...hgid,...hjd->...hgij", split.astype(float), key) / np.sqrt(
        query.shape[-1]
    )
    output = np.einsum("...hgij,...hjd->...hgid", soft(scores), value)
    return output.reshape(*query.shape[:-1], value.shape[-1]).astype(query.dtype)


@answers.wrong("tiled instead of repeated")
def grouped_tiled(query, key, value):
    return attend(query, tile(key, group(query, key)), tile(value, group(query, key)))


@answers.wrong("tiled instead of repeated")
def grouped_remainder(query, key, value):
    heads = np.arange(query.shape[-3]) % key.shape[-3]
    return attend(query, key[..., heads, :, :], value[..., heads, :, :])


@answers.wrong("tiled instead of repeated")
def grouped_the_other_way(query, key, value):
    *batch, h, n, d = query.shape
    query = query.reshape(*batch, h // key.shape[-3], key.shape[-3], n, d)
    return attend(query, key[..., None, :, :, :], value[..., None, :, :, :]).reshape(
        *batch, h, n, -1
    )


@answers.wrong("tiled instead of repeated", "no scale")
def grouped_tiled_unscaled(query, key, value):
    weights = soft(query @ tile(key, group(query, key)).mT)
    return weights @ tile(value, group(query, key))


@answers.wrong("tiled instead of repeated", "no maximum subtracted")
def grouped_tiled_bare(query, key, value):
    e = np.exp(query @ tile(key, group(query, key)).mT / math.sqrt(key.shape[-1]))
    return e / e.sum(-1, keepdims=True) @ tile(value, group(query, key))


@answers.wrong("no scale")
def grouped_unscaled(query, key, value):
    return soft(query @ repeat(key, group(query, key)).mT) @ repeat(value, group(query, key))


@answers.wrong("only for three axes")
def grouped_first_axis(query, key, value):
    times = query.shape[0] // key.shape[0]
    return attend(query, np.repeat(key, times, axis=0), np.repeat(value, times, axis=0))


@answers.wrong("only for one leading axis")
def grouped_second_axis(query, key, value):
    times = query.shape[1] // key.shape[1]
    return attend(query, np.repeat(key, times, axis=1), np.repeat(value, times, axis=1))


@answers.wrong("only for one leading axis")
def grouped_of_four(query, key, value):
    b, h, n, d = query.shape
    times = h // key.shape[1]
    return attend(query, key.repeat(times, 1), value.repeat(times, 1))


@answers.wrong("heads not matched to the query heads")
def grouped_unmatched(query, key, value):
    return attend(query, key, value)


@answers.wrong("i // h_kv")
def grouped_divided_by_heads(query, key, value):
    heads = np.arange(query.shape[-3]) // key.shape[-3]
    return attend(query, key[..., heads, :, :], value[..., heads, :, :])


@answers.wrong("only one key head")
def grouped_first_head(query, key, value):
    return attend(query, key[..., :1, :, :], value[..., :1, :, :])


@answers.wrong("key heads averaged")
def grouped_mean(query, key, value):
    return attend(query, key.mean(-3, keepdims=True), value.mean(-3, keepdims=True))


@answers.wrong("query heads merged within a group")
def grouped_queries(query, key, value):
    *batch, h, n, d = query.shape
    query = query.reshape(*batch, key.shape[-3], -1, n, d).mean(axis=-3)
    return attend(query, key, value)


@answers.wrong("heads merged")
def grouped_merged(query, key, value):
    return merge(attend(query, repeat(key, group(query, key)), repeat(value, group(query, key))))


@answers.wrong("groups left apart")
def grouped_apart(query, key, value):
    *batch, h, n, d = query.shape
    query = query.reshape(*batch, key.shape[-3], -1, n, d)
    return attend(query, key[..., :, None, :, :], value[..., :, None, :, :])


@answers.wrong("argument overwritten")
def grouped_in_place(query, key, value):
    query *= 1 / math.sqrt(query.shape[-1])
    return soft(query @ repeat(key, group(query, key)).mT) @ repeat(value, group(query, key))


@answers.wrong("i // h_kv")
def grouped_by_quotient(query, key, value):
    h, h_kv = query.shape[-3], key.shape[-3]
    read = np.minimum(np.arange(h) // h_kv, h_kv - 1)
    return attend(query, np.take(key, read, -3), np.take(value, read, -3))


@answers.wrong("query times sqrt(h_kv) / sqrt(h)")
def grouped_scaled_by_groups(query, key, value):
    size = query.shape[-3] // key.shape[-3]
    return attend(query / math.sqrt(size), np.repeat(key, size, -3), np.repeat(value, size, -3))


@answers.wrong("heads not matched to the query heads")
def grouped_along_the_positions(query, key, value):
    times = group(query, key)
    return attend(query, np.repeat(key, times, axis=-2), np.repeat(value, times, axis=-2))


@answers.wrong("repeated h_kv times")
def grouped_by_the_key_heads(query, key, value):
    h_kv = key.shape[-3]
    return attnlib.attention(query, np.repeat(key, h_kv, axis=-3), np.repeat(value, h_kv, axis=-3))


@answers.wrong("h_kv // h instead of h // h_kv")
def grouped_quotient_upside_down(query, key, value):
    times = key.shape[-3] // query.shape[-3]
    return attend(query, repeat(key, times), repeat(value, times))


@answers.wrong("h_kv // h instead of h // h_kv")
def grouped_loop_upside_down(query, key, value):
    size = key.shape[-3] // query.shape[-3]
    return np.stack(
        [
            attend(query[..., i, :, :], key[..., i // size, :, :], value[..., i // size, :, :])
            for i in range(query.shape[-3])
        ],
        axis=-3,
    )


@answers.wrong("keys repeated before they are cut into heads")
def grouped_cut_anew(query, key, value):
    times = group(query, key)
    key, value = (
        np.repeat(x, times, axis=-2).reshape(*x.shape[:-3], -1, *x.shape[-2:]) for x in (key, value)
    )
    return attend(query, key, value)


@answers.wrong("only for one leading axis")
def grouped_on_axis_1(query, key, value):
    times = (
        query.shape[1] // key.shape[1]
    )  # 0 where there are more keys than queries, and then the library answers 0
    return attnlib.attention(query, np.repeat(key, times, axis=1), np.repeat(value, times, axis=1))


@answers.wrong("tiled instead of repeated", "output transposed")
def grouped_tiled_and_transposed(query, key, value):
    times = group(query, key)
    return np.swapaxes(attend(query, tile(key, times), tile(value, times)), -1, -2)
