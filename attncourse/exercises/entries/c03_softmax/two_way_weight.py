import numpy as np

from ...families.inputs import given
from ...families.scores import softmax_of
from ...model import FLOAT16, FLOAT32, HUGE, PLAIN, Case, normal
from ...pages import written


def two_way_weight(score_a, score_b):
    largest = np.maximum(score_a, score_b)
    low_a, low_b = score_a - largest, score_b - largest
    power_a, power_b = np.exp(low_a), np.exp(low_b)
    weight = power_a / (power_a + power_b)  #: the weight
    return weight


def larger_size(score_a, score_b):
    return np.maximum(np.abs(score_a), np.abs(score_b))


def all_together(score_a, score_b):
    """One softmax along the last axis over the scores of both arrays."""
    joined = np.concatenate([np.atleast_1d(score_a), np.atleast_1d(score_b)], axis=-1)
    weights = softmax_of(joined)
    return weights[..., : weights.shape[-1] // 2].reshape(np.shape(score_a))


LIMITS = (20, 50, 80, 88, 100, 500, 700)
CUTS = [lambda s, c=c: np.clip(s, -c, c) for c in LIMITS]


def _cases():
    f2 = np.float16

    return [
        given(PLAIN, [1, 0, -2], [0, 1, 1]),
        given(PLAIN, [[1, 2], [3, 0]], [[2, 2], [1, 0.5]]),
        Case(PLAIN, (normal(5, 7, seed=1), normal(5, 7, seed=2))),
        Case(PLAIN, (normal(13, seed=3), normal(13, seed=4))),
        # a limit shows here; so coarse that 1 minus the other weight is right
        Case("a small weight", (np.array([-32.0]), np.array([0.0])), relative=0.05),
        given("one pair", np.array(2.0), np.array(1.0)),
        given("equal scores", [3, -1], [3, -1]),
        Case("several axes", (normal(2, 3, 5, seed=5), normal(2, 3, 5, seed=6))),
        given(HUGE, [10000, 10000, -10000], [9999, 0, -9999], extreme=True),
        given(HUGE, [0, 2, -10000], [10000, 1, 0], extreme=True),
        given(HUGE, [9999, 0], [10000, -10000], extreme=True),
        given(FLOAT32, [1, -1], [0.5, 3], dtype=np.float32),
        Case(FLOAT16, (normal(7, seed=7, dtype=f2), normal(7, seed=8, dtype=f2))),
    ]


EXERCISE = written(
    two_way_weight, place=2, axes=dict(score_a="n", score_b="n"), answer_axes="n", cases=_cases
)
