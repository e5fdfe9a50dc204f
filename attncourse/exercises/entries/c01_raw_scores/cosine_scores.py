import numpy as np

from ...families.inputs import given, inputs
from ...families.scores import swap
from ...model import FLOAT16, LEADING, PLAIN, SQUARE
from ...pages import written

AXES = dict(query="n_q d_k", key="n_k d_k")
ZERO, LONG = "a vector of zeros", "very long and very short vectors"


def cosine_scores(query, key):
    q, k = query, key
    q_lengths, k_lengths = lengths(q), lengths(k)
    q_divisor, k_divisor = nonzero(q_lengths), nonzero(k_lengths)
    unit_q = q / q_divisor
    unit_k = k / k_divisor
    products = unit_q @ swap(unit_k)  #: the product of queries and keys
    cosines = products  #: the cosines
    return cosines


def lengths(array, axis=-1):
    return np.sqrt(np.square(array).sum(axis=axis, keepdims=True))


def in_a_column(query, key):
    """Each dot product divided by the lengths of query i and key i."""
    return query @ swap(key) / nonzero(lengths(query) * lengths(key))


def nonzero(lengths):
    return np.where(lengths == 0, 1.0, lengths)


def beyond(lengths, least, instead):
    """Lengths above a least one; another divisor instead of those below."""
    return np.where(lengths > least, lengths, instead)


def squares(array):
    return np.square(array).sum(axis=-1, keepdims=True)


def sizes(array, reduce):
    return reduce(np.abs(array), axis=-1, keepdims=True)


def centred(array):
    return array - array.mean(axis=-1, keepdims=True)


def _cases():
    return [
        given(PLAIN, [[3, 4]], [[6, 8], [4, -3], [-3, -4]]),
        given(PLAIN, [[1, 0], [1, 1]], [[2, 0], [0, 5], [1, 1]]),
        given(SQUARE, [[1, 0], [3, 4]], [[0, 2], [4, 3]]),
        given("one feature", [[2], [-3]], [[5], [-1], [4]]),
        given(ZERO, [[0, 0], [3, 4]], [[3, 4], [0, 0], [1, 0]]),
        given(ZERO, [[0, 0]], [[0, 0]]),
        given(LONG, [[3e4, 4e4]], [[3e-4, 4e-4], [4e5, 3e5]]),
        given(LONG, [[1e-9, 1e-9]], [[1, 1], [1, 0]]),
        # squared lengths still fit, down to 2.5e-199 in float64 and 2.5e-35 in float32
        given(LONG, [[3e-12, 4e-12]], [[3e-12, 4e-12], [1, 0]]),
        given(LONG, [[3e-16, 4e-16]], [[3e-16, 4e-16], [1, 0]]),
        given(LONG, [[3e-100, 4e-100]], [[3e-100, 4e-100], [1, 0]]),
        given(LONG, [[3e-18, 4e-18]], [[3e-18, 4e-18], [1, 0]], dtype=np.float32),
        given(LEADING, [[[3, 4]], [[1, 0]]], [[[1, 0]], [[3, 4]]]),
        given(FLOAT16, [[3, 4], [1, 0]], [[6, 8], [0, 1]], dtype=np.float16),
        *inputs(AXES),
    ]


EXERCISE = written(cosine_scores, place=3, axes=AXES, answer_axes="n_q n_k", cases=_cases)
