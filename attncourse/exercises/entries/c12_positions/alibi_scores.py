import numpy as np

from ...families.inputs import given
from ...families.scores import softmax_of  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

MORE_QUERIES, ONE_QUERY = "more queries than keys", "one query"


def alibi_scores(scores, slopes):
    j = np.arange(scores.shape[-1])
    i = np.arange(scores.shape[-2])[:, None]
    apart = i - j  #: the table i - j
    distance = np.abs(apart)  #: the distances
    bias = slopes[:, None, None] * distance  #: slope times distance
    lowered = scores - bias
    return lowered


def _cases():
    def case(aspect, *shape, seed=0, dtype=np.float64, scale=1.0):
        slopes = 2.0 ** -(8 * np.arange(1, shape[-3] + 1) / shape[-3])
        return Case(
            aspect, (normal(*shape, seed=seed, dtype=dtype, scale=scale), slopes.astype(dtype))
        )

    return [
        given(PLAIN, [[[0, 0, 0], [0, 0, 0]], [[1, 2, 3], [4, 5, 6]]], [1, 0.5]),
        given(PLAIN, [[[1, 2, 3, 4]] * 2], [0.25]),
        case(PLAIN, 2, 5, 7, seed=1),
        case(PLAIN, 3, 7, 11, seed=2),
        Case(PLAIN, (normal(5, 13, 17, seed=3), np.array([0.7, 0.1, 0.03, 2.0, 0.3]))),
        given(SQUARE, [[[0, 0, 0]] * 3], [0.5]),
        case(SQUARE, 3, 3, 3, seed=4),
        case(SQUARE, 5, 5, 5, seed=5),
        case(SQUARE, 2, 7, 7, seed=6),
        given(ONE_QUERY, [[[1, 2, 3, 4]], [[0, 0, 0, 0]]], [0.5, 0.25]),
        given(MORE_QUERIES, [[[0, 0], [0, 0], [0, 0]]], [0.5]),
        case(MORE_QUERIES, 2, 11, 5, seed=7),
        case(LEADING, 2, 3, 5, 7, seed=8),
        case(LEADING, 3, 2, 2, 7, 5, seed=9),
        case(HUGE, 2, 3, 5, seed=10, scale=1e4),
        case(FLOAT32, 2, 5, 7, seed=11, dtype=np.float32),
        given(FLOAT32, [[[0, 1]] * 2], [0.5], dtype=np.float32),
        case(FLOAT16, 3, 7, 5, seed=12, dtype=np.float16),
        given(FLOAT16, [[[0, 1]] * 2], [0.5], dtype=np.float16),
    ]


EXERCISE = written(
    alibi_scores,
    place=4,
    axes=dict(scores="h n_q n_k", slopes="h"),
    answer_axes="h n_q n_k",
    cases=_cases,
)
