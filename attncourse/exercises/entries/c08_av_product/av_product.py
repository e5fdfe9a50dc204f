import numpy as np

from ...families.inputs import given, inputs
from ...families.weighted_sums import random_weights
from ...model import FLOAT32, LEADING, PLAIN, SQUARE
from ...pages import written

AXES = dict(weights="n_q n_k", value="n_k d_v")


def av_product(weights, value):
    w = weights  #: the weights
    v = value
    output = w @ v
    return output


def of_the_first(array):
    """The first matrix in the place of all."""
    return np.broadcast_to(array[(0,) * (array.ndim - 2)], array.shape)


def _cases():
    return [
        given(PLAIN, [[0.5, 0.5, 0]], [[2, 4], [6, 0], [1, 1]]),
        given(PLAIN, [[1, 0], [0.25, 0.75], [0.5, 0.5]], [[4], [8]]),
        given(SQUARE, [[1, 0], [0.5, 0.5]], [[2, 4], [6, 0]]),
        given(LEADING, [[[1, 0]], [[0.5, 0.5]]], [[[2], [4]], [[6], [0]]]),
        given("weights that sum to less than 1", [[0.5, 0], [0, 0]], [[2], [6]]),
        given(FLOAT32, [[0.5, 0.5]], [[2], [6]], dtype=np.float32),
        *inputs(
            AXES,
            make={
                "weights": lambda shape, seed, dtype: random_weights(*shape, seed=seed, dtype=dtype)
            },
        ),
    ]


EXERCISE = written(av_product, place=1, axes=AXES, answer_axes="n_q d_v", cases=_cases)
