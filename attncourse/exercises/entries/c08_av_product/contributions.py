import numpy as np

from ...families.inputs import given, inputs
from ...families.scores import softmax_of, swap  # noqa: F401, for the page
from ...families.weighted_sums import leading, random_weights  # noqa: F401
from ...model import FLOAT32, LEADING, PLAIN, SQUARE
from ...pages import written

AXES = dict(weights="n_q n_k", value="n_k d_v")


def contributions(weights, value):
    w = weights  #: the weights
    v = value
    terms = w[..., None] * v[..., None, :, :]  #: the products of weights and values
    return terms


def one_per_query(v, n_q):
    """Value i for query i, if there are so many values."""
    if n_q > v.shape[-2]:
        raise IndexError("index out of bounds")
    return v[..., :n_q, None, :]


def _cases():
    return [
        given(PLAIN, [[0.5, 0.5, 0]], [[2, 4], [6, 0], [1, 1]]),
        given(PLAIN, [[1, 0], [0.25, 0.75], [0.5, 0.5]], [[4], [8]]),
        given(SQUARE, [[1, 0], [0.25, 0.75]], [[2, 4], [6, 0]]),
        given("one key", [[1], [0.5]], [[2, 4]]),
        given(LEADING, [[[1, 0]], [[0.5, 0.5]]], [[[2], [4]], [[6], [0]]]),
        given("weights that sum to less than 1", [[0.5, 0], [0, 0]], [[2], [6]]),
        given("negative values", [[0.5, 0.5]], [[-2, 4], [-6, -8]]),
        given(FLOAT32, [[0.5, 0.5]], [[2], [6]], dtype=np.float32),
        *inputs(
            AXES,
            make={
                "weights": lambda shape, seed, dtype: random_weights(*shape, seed=seed, dtype=dtype)
            },
        ),
    ]


EXERCISE = written(contributions, place=3, axes=AXES, answer_axes="n_q n_k d_v", cases=_cases)
