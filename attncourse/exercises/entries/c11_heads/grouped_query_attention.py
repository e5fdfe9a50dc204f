import math

import numpy as np

from ...families.heads import joined, one_leading_axis, swap_heads  # noqa: F401, for the page
from ...families.inputs import LONG_KEYS, LONG_QUERY, drawn, given
from ...families.scores import softmax_of, swap
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE
from ...pages import written

AXES = dict(query="h n_q d_k", key="h_kv n_k d_k", value="h_kv n_k d_v")
ONE_KEY_HEAD, ALL_KEY_HEADS = "one key head", "as many key heads as query heads"


def grouped_query_attention(query, key, value):
    asked = query
    h, h_kv = asked.shape[-3], key.shape[-3]
    i = np.arange(h)
    key_head = i // (h // h_kv)
    value_head = i // (h // h_kv)
    each_key = key[..., key_head, :, :]  #: the keys of each query head
    each_value = value[..., value_head, :, :]  #: the values of each query head
    query, key, value = asked, each_key, each_value
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
    heads = output
    return heads


def repeated_positions(array, times):
    """Each position repeated on the spot, and the positions then cut into that many more heads."""
    *batch, _, n_k, d = array.shape
    return np.repeat(array, times, axis=-2).reshape(*batch, -1, n_k, d)


def on_axis_1(array, query, heads):
    """Repeated along axis 1, as many times as the sizes of the axis `heads` say."""
    return np.repeat(array, query.shape[heads] // array.shape[heads], axis=1)


def one_of_each_group(query, key, reduce):
    *batch, h, n, d = query.shape
    h_kv = key.shape[-3]
    return reduce(query.reshape(*batch, h_kv, h // h_kv, n, d), axis=-3)


def first_of(array, axis):
    return np.take(array, 0, axis=axis)


def plain_attention(query, key, value):
    return softmax_of(query @ swap(key) / math.sqrt(query.shape[-1])) @ value


def with_each_head(query, key, value):
    heads = range(key.shape[-3])
    return [plain_attention(query, key[..., [j], :, :], value[..., [j], :, :]) for j in heads]


def side_by_side(heads):
    """The keys of all heads in one row, for every query head."""
    return heads.reshape(*heads.shape[:-3], 1, -1, heads.shape[-1])


def group_alone(heads, part):
    found = np.zeros_like(heads)
    found[..., part, :, :] = heads[..., part, :, :]
    return found


def grouped_cases():
    def some(aspect, heads, sizes, seed, **more):
        (h, h_kv), (n_q, n_k, d_k, d_v) = heads, sizes
        return drawn(aspect, (h, n_q, d_k), (h_kv, n_k, d_k), (h_kv, n_k, d_v), seed=seed, **more)

    two_heads = [[[1], [0]], [[0], [2]]], [[[4], [8]], [[-4], [0]]]
    return [
        given(PLAIN, [[[1]], [[2]], [[1]], [[2]]], *two_heads),
        some(PLAIN, (6, 2), (5, 7, 3, 2), 1),
        some(PLAIN, (6, 3), (3, 5, 7, 2), 4, order="F"),
        some(PLAIN, (4, 2), (2, 3, 5, 7), 7),
        some(PLAIN, (8, 2), (13, 17, 5, 7), 40),
        given(ONE_KEY_HEAD, [[[1]], [[2]]], [[[1], [0]]], [[[4], [8]]]),
        some(ONE_KEY_HEAD, (3, 1), (5, 2, 3, 7), 10),
        given(ALL_KEY_HEADS, [[[1]], [[2]]], *two_heads),
        some(ALL_KEY_HEADS, (3, 3), (5, 7, 2, 11), 13),
        some(SQUARE, (4, 2), (5, 5, 3, 3), 16),
        some(SQUARE, (6, 2), (3, 3, 3, 3), 19),
        some(SQUARE, (9, 3), (5, 5, 5, 5), 22),
        some(LEADING, (4, 2), (3, 5, 2, 7), 25, lead=(2,)),
        some(LEADING, (6, 3), (2, 3, 5, 2), 28, lead=(3,), order="F"),
        some(LEADING, (4, 2), (2, 3, 5, 2), 31, lead=(3, 2)),
        given(HUGE, [[[100], [0]], [[100], [100]]], [[[100], [99], [0]]], [[[1], [3], [2]]]),
        given(HUGE, [[[100]], [[1]]], [[[100], [-100]], [[100], [99]]], [[[1], [3]], [[2], [4]]]),
        given(HUGE, [[[100]], [[0]]], [[[100], [100.01]]], [[[1], [3]]]),
        given(HUGE, [[LONG_QUERY, [1] * 4]], [LONG_KEYS], [[[1], [3], [2]]]),
        some(FLOAT32, (4, 2), (3, 5, 7, 2), 34, dtype=np.float32),
        some(FLOAT16, (4, 2), (2, 3, 5, 2), 43, dtype=np.float16),
    ]


EXERCISE = written(
    grouped_query_attention, place=4, axes=AXES, answer_axes="h n_q d_v", cases=grouped_cases
)
