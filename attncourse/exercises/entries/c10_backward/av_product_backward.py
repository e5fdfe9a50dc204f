from ...families.gradients import changed, last, over_columns, over_rows, through_softmax  # noqa: F401, for the page
from ...families.inputs import given, inputs
from ...families.scores import softmax_of, swap  # noqa: F401, for the page
from ...families.weighted_sums import random_weights
from ...model import LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(weights="n_q n_k", value="n_k d_v", grad_output="n_q d_v")


def av_product_backward(weights, value, grad_output):
    w = weights  #: the weights
    grad = grad_output  #: grad_output
    grad_weights = grad @ swap(value)  #: the gradient of the weights
    grad_value = swap(w) @ grad
    gradients = grad_weights, grad_value
    return gradients


def _weights(shape, seed, dtype):
    return random_weights(*shape, seed=seed, dtype=dtype)


def turned(array):
    """The transposed shape, with the numbers in the order of memory."""
    return array.reshape(*array.shape[:-2], array.shape[-1], array.shape[-2])


def _cases():
    some_equal = (random_weights(5, 5, seed=13), normal(5, 5, seed=14), normal(5, 5, seed=15))
    return [
        given(PLAIN, [[0.25, 0.75]], [[1], [3]], [[4]]),
        given(PLAIN, [[0.5, 0.5], [0.25, 0.75], [1, 0]], [[1], [3]], [[4], [8], [2]]),
        given(PLAIN, [[0.5, 0.5]], [[1, 0, 2], [3, 1, 0]], [[1, 2, 3]]),
        given("weights that sum to less than 1", [[0.5, 0.25]], [[1, 2], [0, 3]], [[4, 1]]),
        given(SQUARE, [[0.5, 0.5], [0.25, 0.75]], [[1, 2], [0, 3]], [[4, 1], [0, 2]]),
        Case(SQUARE, some_equal),
        given(LEADING, [[[0.5, 0.5]], [[0.25, 0.75]]], [[[1], [3]], [[0], [2]]], [[[4]], [[8]]]),
        *inputs(AXES, make={"weights": _weights}),
    ]


EXERCISE = written(
    av_product_backward, place=1, axes=AXES, cases=_cases, outputs=("grad_weights", "grad_value")
)
