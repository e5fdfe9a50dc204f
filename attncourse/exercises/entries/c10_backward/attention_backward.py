import math

import numpy as np

from ...families.attention import ATTENTION_AXES
from ...families.gradients import changed, last, over_entries, over_rows, through_softmax, zeros  # noqa: F401, for the page
from ...families.inputs import given, inputs
from ...families.scores import swap
from ...model import HUGE, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(ATTENTION_AXES, grad_output="n_q d_v")


def attention_backward(query, key, value, grad_output):
    q, k = query, key
    k_t = swap(k)
    products = q @ k_t  #: the product of queries and keys
    scores = products / math.sqrt(q.shape[-1])  #: the scores
    s = scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    w = weights
    grad = grad_output  #: grad_output
    grad_weights = grad @ swap(value)  #: the gradient of the weights
    g = grad_weights
    terms = w * g  #: the products of weights and their gradient
    row_sum = terms.sum(axis=-1, keepdims=True)  #: the row sum (one per row)
    centred = g - row_sum  #: the centred gradient
    grad_scores = w * centred
    ds = grad_scores  #: the gradient of the scores
    for_query = ds / math.sqrt(query.shape[-1])
    for_key = ds / math.sqrt(query.shape[-1])
    grad_query = for_query @ key
    grad_key = swap(for_key) @ query
    grad_value = swap(w) @ grad
    gradients = grad_query, grad_key, grad_value
    return gradients


def _cases():
    def huge(query, key):
        value, grad = [[4, 1], [0, 2], [1, 5]], [[1, 3], [2, 1], [5, 2]]
        return given(HUGE, query, key, value, grad[: len(query)])

    keys, heads = [[1, 0, 2, 0], [1, 0, 0, 4], [1, 0, 2, 2]], [[[1, 0], [1, 4]], [[0, 2], [1, 0]]]
    some_equal = [normal(5, width, seed=13 + i) for i, width in enumerate((3, 3, 2, 2))]
    return [
        # equal scores in a row: weights of 1/2
        given(PLAIN, [[2, 0, 0, 0]], [[1, 0, 0, 0], [1, 4, 0, 0]], [[4], [0]], [[1]]),
        given(PLAIN, [[0, 2, 0, 0], [2, 0, 0, 0]], keys, [[4], [0], [5]], [[1], [3]]),
        given(SQUARE, [[2, 0], [1, 1]], [[1, 0], [1, 4]], [[4, 1], [0, 2]], [[1, 0], [2, 3]]),
        Case(SQUARE, tuple(some_equal)),
        given(LEADING, [[[2, 0]], [[1, 1]]], heads, [[[4], [0]], [[2], [6]]], [[[1]], [[3]]]),
        huge([[100, 0], [1, 2]], [[100, 0], [100, 8], [0, 1]]),
        huge([[-100, 0], [1, 2]], [[100, 0], [100, 8], [101, 1]]),
        huge([[100, 0], [1, 2], [2, 1]], [[100, 0], [100, 8], [0, 1]]),
        *inputs(AXES),
    ]


EXERCISE = written(
    attention_backward,
    place=4,
    axes=AXES,
    cases=_cases,
    outputs=("grad_query", "grad_key", "grad_value"),
)
