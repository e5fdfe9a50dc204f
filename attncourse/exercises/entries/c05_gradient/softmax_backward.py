import numpy as np

from ...families.gradients import book_weights
from ...families.inputs import given, inputs
from ...families.memory import grows
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written


def softmax_backward(weights, grad_weights):
    w = weights  #: the weights
    g = grad_weights  #: grad_weights
    terms = w * g  #: the products of weights and their gradient
    row_sum = terms.sum(axis=-1, keepdims=True)  #: the row sum (one per row)
    centred = g - row_sum  #: the centred gradient
    grad_scores = w * centred
    return grad_scores


def no_square_array(run):
    """An audit: whether one row of n weights makes anything of n * n bytes or more."""

    def weights_and_grad(n):
        return book_weights(n, seed=9), normal(n, seed=10)

    n = 3000
    grown = grows(run, n * n, weights_and_grad(n // 10), weights_and_grad(n))
    return "(n, n) array made" if grown else None


def _cases():
    row = [[0.5, 0.25, 0.25]], [[2, 4, 8]]
    return [
        given(PLAIN, *row),
        given(PLAIN, [[0.25, 0.75], [0.5, 0.5], [1, 0]], [[4, 8], [2, -2], [3, 1]]),
        given(SQUARE, [[0.25, 0.75], [0.5, 0.5]], [[4, 8], [2, -2]]),
        given("one axis", [0.25, 0.75], [4, 8]),
        Case("one axis", (book_weights(7, seed=4), normal(7, seed=24))),
        given(LEADING, [[[0.25, 0.75], [0.5, 0.5]]], [[[4, 8], [2, -2]]]),
        given("a weight of 0", [[0.5, 0, 0.5]], [[2, 100, 4]]),
        given(FLOAT32, *row, dtype=np.float32),
        given(FLOAT16, *row, dtype=np.float16),
        *inputs(AXES, make={"weights": _weights}),
    ]


def _weights(shape, seed, dtype):
    return book_weights(*shape, seed=seed, dtype=dtype)


AXES = dict(weights="n_q n_k", grad_weights="n_q n_k")

EXERCISE = written(
    softmax_backward,
    place=3,
    axes=AXES,
    answer_axes="n_q n_k",
    cases=_cases,
    audits=(no_square_array,),
)
