import itertools
import math

import numpy as np

from ...families.heads import (  # noqa: F401
    features_divided,
    first,
    joined,
    last,
    one_leading_axis,
    spread,
    swap_heads,
)
from ...families.inputs import given
from ...families.scores import softmax_of, swap
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(x="n d_model", **dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), "d_model d_model"))


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    m_q, m_k, m_v, m_o = w_q, w_k, w_v, w_o
    found = []
    for m in (m_q, m_k, m_v):
        features = x @ m  #: the projections
        parts = features_divided(features, n_heads)
        heads = swap_heads(parts)
        found.append(heads)
    queries, keys, values = found
    query = queries  #: the queries
    key, value = keys, values
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
    outputs = output  #: the heads' outputs
    side = swap_heads(outputs)
    merged = joined(side)
    projected = merged @ m_o
    return projected


def by_own_blocks(outputs, w_o):
    """Each head's output times the block of w_o in its own rows and columns, side by side."""
    size = outputs.shape[-1]
    parts = [slice(i * size, (i + 1) * size) for i in range(outputs.shape[-3])]
    found = [outputs[..., i, :, :] @ w_o[part, part] for i, part in enumerate(parts)]
    return np.concatenate(found, axis=-1)


def unit(w):
    return np.eye(len(w))


def squared(w):
    return w @ w


def some(change, places, *matrices):
    """The four matrices with a change of these."""
    return tuple(change(w) if i in places else w for i, w in enumerate(matrices))


def chosen_from(places, *matrices):
    """These of the four matrices, for queries, keys, values and output."""
    return tuple(matrices[place] for place in places)


SOME_PLACES = tuple(
    places for size in (4, 3, 1, 2) for places in itertools.combinations(range(4), size)
)

ONE_REPLACED = (
    tuple(j if place == i else place for place in range(4))
    for i in range(4)
    for j in range(4)
    if i != j
)
EXCHANGED = "0213 2103 0132 3120 0321 1203 2013 3210 1230 3012 0003 1113 2223 0000"
OTHER_PLACES = (*ONE_REPLACED, *(tuple(map(int, places)) for places in EXCHANGED.split()))


def block_projection(x, w, n_heads):
    """Each head's features projected by that head's block of w alone."""
    head = np.arange(w.shape[-1]) // (w.shape[-1] // n_heads)
    return x @ np.where(head[:, None] == head, w, 0.0)


def reshaped_projection(x, w, n_heads):
    """The heads' features, side by side, where w is reshaped to (n_heads, d_model, d_head)."""
    return np.concatenate([x @ block for block in w.reshape(n_heads, len(w), -1)], axis=-1)


def one_head_scaled_as_many(x, w_q, w_k, w_v, w_o, n_heads):
    scores = x @ w_q @ swap(x @ w_k) / math.sqrt(x.shape[-1] / n_heads)
    return softmax_of(scores) @ x @ w_v @ w_o


def from_the_end(rows):
    return slice(-rows, None)


def head_alone(heads, place):
    alone = np.zeros_like(heads)
    alone[..., place, :, :] = heads[..., place, :, :]
    return alone


def multi_head_cases():
    def some(aspect, n_heads, n, d_model, seed, lead=(), dtype=np.float64, order="C"):
        x = normal(*lead, n, d_model, seed=seed, dtype=dtype)
        square = d_model, d_model
        matrices = (normal(*square, seed=seed + i, dtype=dtype, scale=0.5) for i in range(1, 5))
        arrays = (np.asarray(array, order=order) for array in (x, *matrices))
        return Case(aspect, (*arrays, n_heads))

    def huge(x, scale):
        eye = np.eye(len(x[0]))
        return given(HUGE, x, scale * eye, scale * eye, scale * eye, eye, 2)

    small = [[1, 0], [1, 1]], [[0, 1], [2, 0]], [[1, 2], [0, 1]], [[1, 1], [0, 2]]
    return [
        given(PLAIN, [[1, 0], [0, 2], [1, 1]], *small, 2),
        some(PLAIN, 2, 5, 6, 1),
        some(PLAIN, 3, 7, 6, 6, order="F"),
        some(PLAIN, 2, 3, 10, 11),
        some(PLAIN, 6, 2, 24, 56),
        given("one head", [[1, 0], [0, 2]], *small, 1),
        some("one head", 1, 3, 5, 16),
        some(SQUARE, 3, 3, 9, 21),
        some(SQUARE, 2, 4, 4, 26),
        some(SQUARE, 6, 6, 6, 31),
        some(LEADING, 2, 3, 6, 36, (2,)),
        some(LEADING, 3, 5, 6, 41, (2, 3)),
        some(LEADING, 2, 5, 6, 61, (3, 2), order="F"),
        huge([[1.0, -1.0], [0.99, 0.5], [0.0, 0.25]], 100.0),
        huge([[1.0, 0.0], [-1.0, 0.01]], 50.0),
        huge([[1.0] * 8, [0.99] * 8, [0.0] * 8], 100.0),  # twice LONG_QUERY and LONG_KEYS
        huge([[1.0, 1.0], [1.0001, 0.9999]], 100.0),  # all scores are huge, and near each other
        some(FLOAT32, 2, 3, 10, 46, dtype=np.float32),
        some(FLOAT16, 3, 2, 6, 51, dtype=np.float16),
    ]


EXERCISE = written(
    multi_head_attention, place=3, axes=AXES, answer_axes="n d_model", cases=multi_head_cases
)
