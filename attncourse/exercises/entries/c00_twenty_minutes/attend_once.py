import math

import numpy as np

from ...families.inputs import LONG_KEYS, LONG_QUERY, drawn, given
from ...families.scores import softmax_of  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, HUGE, PLAIN, SQUARE
from ...pages import written

AXES = dict(query="d_k", key="n_k d_k", value="n_k d_v")


def attend_once(query, key, value):
    q, k = query, key
    products = k @ q  #: the products of the query and the keys
    scores = products / math.sqrt(q.shape[-1])  #: the scores
    logits = scores
    s = logits
    along = None
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    w = weights
    chosen = value  #: the values
    v = chosen
    output = w @ v
    return output


def cosines(q, k):
    return unit(k) @ unit(q)


def unit(array):
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    return array / np.where(length == 0, 1.0, length)


def _cases():
    def some(aspect, n_k, d_k, d_v, seed, **more):
        return drawn(aspect, (d_k,), (n_k, d_k), (n_k, d_v), seed=seed, **more)

    def tiny(aspect, *args, dtype=np.float64):
        return given(aspect, *args, dtype=dtype)

    three = [[1], [3], [2]]
    return [
        tiny(PLAIN, [2, 0, 0, 4], [[1, 2, 3, 4], [0, 3, 1, 1]], [[4, 0], [8, 2]]),
        tiny(PLAIN, [1, 2], [[0, 1], [2, 0], [1, 1]], [[4], [1], [0]]),
        some(PLAIN, 7, 3, 13, seed=11),
        some(PLAIN, 5, 11, 2, seed=21),
        some(PLAIN, 41, 17, 19, seed=31),
        some(PLAIN, 5, 11, 2, seed=41, order="F"),
        tiny(SQUARE, [1, 2], [[0, 1], [2, 5]], [[4, 1], [0, 8]]),
        some(SQUARE, 5, 5, 5, seed=51),
        tiny("one key", [1, 2], [[3, 1]], [[4, 8]]),
        tiny("one feature", [2], [[1], [3]], [[4, 8, 1], [0, 2, 6]]),
        tiny(HUGE, [100], [[100], [99], [0]], three),
        tiny(HUGE, [-100], [[100], [101], [102]], three),
        tiny(HUGE, [100], [[-100], [-99], [1]], three),
        tiny(HUGE, [100, 0], [[0, 1], [0, 2], [0, 3]], three),
        tiny(HUGE, LONG_QUERY, LONG_KEYS, three),
        tiny(HUGE, [1000], [[1]] * 10 + [[0]], [[n] for n in range(11)]),
        tiny(FLOAT32, [1, 2], [[3, 4], [1, 0]], [[2, 4], [1, 1]], dtype=np.float32),
        some(FLOAT32, 7, 3, 13, seed=61, dtype=np.float32),
        tiny(FLOAT16, [1, 2], [[1, 1], [1, 0]], [[2, 4], [1, 1]], dtype=np.float16),
        some(FLOAT16, 5, 11, 2, seed=71, dtype=np.float16),
    ]


EXERCISE = written(attend_once, place=1, axes=AXES, answer_axes="d_v", cases=_cases)
