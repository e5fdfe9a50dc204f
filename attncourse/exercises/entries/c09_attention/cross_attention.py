import itertools
import math

import numpy as np

from ...families.inputs import LONG_KEYS, LONG_QUERY, drawn, given
from ...families.scores import swap
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE
from ...pages import written


def cross_attention(x, memory, w_q, w_k, w_v):
    asking, for_keys, for_values = x, memory, memory
    m_q, m_k, m_v = w_q, w_k, w_v
    query = asking @ m_q  #: the queries
    key = for_keys @ m_k  #: the keys
    value = for_values @ m_v
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
    return output


# which of the three matrices, and all orders in which they are taken for each other
SOME = tuple(places for size in (3, 1, 2) for places in itertools.combinations(range(3), size))
ORDERS = tuple(
    tuple(map(int, order)) for order in "102 021 210 011 022 002 112 120 201 010".split()
)


def some(change, places, *matrices):
    """The matrices, those at the places changed."""
    return tuple(change(w) if i in places else w for i, w in enumerate(matrices))


def ones(w):
    return np.eye(len(w))


def twice(w):
    return w @ w


AXES = dict(x="n d_x", memory="m d_memory", w_q="d_x d_k", w_k="d_memory d_k", w_v="d_memory d_v")

ONE_WIDTH = "inputs of one width"


def cross_attention_cases():
    def some(aspect, sizes, seed, lead=(), dtype=np.float64, order="C"):
        n, m, d_x, d_memory, d_k, d_v = sizes
        inputs = (*lead, n, d_x), (*lead, m, d_memory)
        shapes = *inputs, (d_x, d_k), (d_memory, d_k), (d_memory, d_v)
        return drawn(aspect, *shapes, seed=seed, dtype=dtype, order=order, scale=0.7)

    def huge(x, memory):
        return given(HUGE, x, memory, [[100]], [[100]], [[1]])

    swap, shear = [[0, 1], [1, 0]], [[1, 1], [0, 2]]
    wide = [[1, 0, 0, 0], [0, 1, 0, 0]]
    return [
        given(PLAIN, [[1], [2]], [[1, 0], [0, 1], [1, 1]], [[2, 0, 0, 0]], wide, [[4], [0]]),
        some(PLAIN, (5, 7, 3, 11, 2, 13), 10),
        some(PLAIN, (7, 5, 11, 3, 13, 2), 20, order="F"),
        some(PLAIN, (3, 2, 2, 5, 7, 3), 30),
        some(PLAIN, (23, 29, 13, 17, 11, 7), 40),
        given(ONE_WIDTH, [[1, 0]], [[1, 2], [0, 1]], swap, shear, [[3, 0], [1, 2]]),
        some(ONE_WIDTH, (5, 7, 3, 3, 3, 3), 50),
        some(ONE_WIDTH, (5, 3, 4, 4, 4, 2), 55),
        some(ONE_WIDTH, (2, 5, 6, 6, 3, 3), 58),
        some("one query", (1, 5, 3, 2, 4, 3), 60),
        given(SQUARE, [[1, 0], [0, 2]], [[1, 1], [2, 0]], swap, shear, [[1, 2], [0, 1]]),
        some(SQUARE, (3,) * 6, 65),
        some(SQUARE, (5,) * 6, 70),
        some(SQUARE, (6, 6, 2, 3, 5, 4), 75),
        some(SQUARE, (4, 4, 3, 3, 5, 2), 80),
        some(LEADING, (5, 7, 3, 11, 2, 13), 85, (2,)),
        some(LEADING, (3, 5, 7, 2, 3, 2), 90, (2, 3), order="F"),
        some(LEADING, (3, 5, 7, 2, 3, 2), 92, (3,)),
        some(LEADING, (3,) * 6, 94, (3,)),
        huge([[1], [0]], [[1], [0.99], [0]]),
        given(HUGE, [LONG_QUERY], LONG_KEYS, np.eye(4), np.eye(4), [[1], [2], [3], [4]]),
        huge([[-1], [0]], [[1], [1.01], [1.02]]),
        huge([[1], [0.01]], [[1], [0.99], [0]]),
        *(
            some(aspect, sizes, seed, dtype=dtype)
            for sizes, seed in (((5, 3, 2, 7, 4, 3), 96), ((2,) * 6, 98))
            for aspect, dtype in ((FLOAT32, np.float32), (FLOAT16, np.float16))
        ),
    ]


EXERCISE = written(
    cross_attention, place=3, axes=AXES, answer_axes="n d_v", cases=cross_attention_cases
)
