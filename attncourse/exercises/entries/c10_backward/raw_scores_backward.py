import math

from ...families.gradients import changed, last, over_rows, through_softmax  # noqa: F401, for the page
from ...families.inputs import given, inputs
from ...families.scores import softmax_of, swap  # noqa: F401, for the page
from ...model import LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(query="n_q d_k", key="n_k d_k", grad_scores="n_q n_k")


def raw_scores_backward(query, key, grad_scores):
    ds = grad_scores  #: grad_scores
    for_query = ds / math.sqrt(query.shape[-1])
    for_key = ds / math.sqrt(query.shape[-1])
    grad_query = for_query @ key
    grad_key = swap(for_key) @ query
    gradients = grad_query, grad_key
    return gradients


def weights_of(query, key):
    return softmax_of(query @ swap(key) / math.sqrt(query.shape[-1]))


def _cases():
    return [
        given(PLAIN, [[2, 0, 1, 0]], [[1, 0, 0, 3], [0, 2, 0, 1]], [[4, -2]]),
        given(
            PLAIN,
            [[1, 0, 0, 2], [0, 3, 1, 0], [2, 1, 0, 0]],
            [[1, 2, 0, 0], [0, 1, 1, 4]],
            [[2, 0], [4, -2], [0, 6]],
        ),
        given("one query and one key", [[1, 2, 0, 0]], [[3, 0, 1, 0]], [[4]]),
        given(SQUARE, [[1, 2], [0, 3]], [[2, 0], [1, 1]], [[1, 0], [2, -1]]),
        Case(SQUARE, tuple(normal(5, 5, seed=13 + i) for i in range(3))),
        given(LEADING, [[[1.0]], [[2.0]]], [[[1], [3]], [[0], [2]]], [[[4, 1]], [[8, 0]]]),
        *inputs(AXES),
    ]


EXERCISE = written(
    raw_scores_backward, place=3, axes=AXES, cases=_cases, outputs=("grad_query", "grad_key")
)
