import numpy as np

from ...families.inputs import given
from ...families.softmax import ONE_IN_TWENTY, SMALL_WEIGHTS, extreme_rows
from ...model import FLOAT16, FLOAT32, PLAIN, SMALL, Case, normal
from ...pages import written


def softmax_row(scores):
    s = scores  #: the scores
    along = None
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    return weights


def sum_not_rescaled(scores):
    """Score by score: a new maximum leaves the sum so far as it was."""
    return np.exp(scores - np.maximum.accumulate(scores)).sum(keepdims=True)


def _cases():
    f4, f2 = np.float32, np.float16

    return [
        given(PLAIN, [0, 1]),
        given(PLAIN, [1, -2, 3]),
        given(PLAIN, [1.0, 0.5, 2.5, -0.1]),
        given(PLAIN, [2]),
        given(PLAIN, [-3, -1]),
        Case(PLAIN, (normal(11, seed=1),)),
        Case(PLAIN, (normal(7, seed=2),)),
        given("equal scores", [3, 3, 3, 3]),
        Case(SMALL, (normal(5, seed=3) * 1e-3,)),
        given(SMALL_WEIGHTS, [0, -32, -80], relative=ONE_IN_TWENTY),
        *extreme_rows(given),
        given(FLOAT32, [1, 2, 4], dtype=f4),
        given(FLOAT32, [80, 100, 99, 101], dtype=f4, extreme=True),
        given(FLOAT16, [1, 2, 0.5], dtype=f2),
        given(FLOAT16, [20, 21, 19], dtype=f2, extreme=True),
    ]


EXERCISE = written(
    softmax_row, place=1, axes=dict(scores="n_q n_k"), answer_axes="n_k", cases=_cases
)
