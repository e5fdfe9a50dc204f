import numpy as np

from ...families.inputs import given, inputs
from ...families.memory import grows
from ...families.scores import softmax_of, swap  # noqa: F401, for the page
from ...families.weighted_sums import leading  # noqa: F401
from ...model import LEADING, PLAIN, SQUARE, normal
from ...pages import written

AXES = dict(output="n_q d_v", grad_output="n_q d_v")


def attention_delta(output, grad_output):
    out = output
    grad = grad_output
    products = out * grad  #: the products of output and gradient
    row_sum = products.sum(axis=-1)  #: the row sum (one per row)
    delta = row_sum
    return delta


def length(array):
    return np.sqrt((array * array).sum(axis=-1))


def _cases():
    return [
        given(PLAIN, [[1, 2, 3]], [[4, 0, 5]]),
        given(PLAIN, [[1, 2, 3], [3, 0, 1]], [[4, 0, 5], [1, 7, 2]]),
        given(PLAIN, [[-1, 2]], [[3, -1]]),
        given("one feature", [[2], [3], [5]], [[1], [4], [2]]),
        given("one query", [[2, 3]], [[5, 7]]),
        given(SQUARE, [[1, 2], [3, 4]], [[5, 6], [7, 8]]),
        given(LEADING, [[[1, 2]], [[3, 4]]], [[[5, 6]], [[7, 8]]]),
        *inputs(AXES),
    ]


def _holds_a_table(run, rows):
    """Whether the call holds as much as a table of n by n takes, with arguments of rows(n)."""
    small, large = ((normal(*rows(n)), normal(*rows(n), seed=1)) for n in (50, 2000))
    return grows(run, 0.7 * 8 * 2000**2, small, large)


def no_pairs(run):
    """An audit."""
    if _holds_a_table(run, lambda n: (n, 2)):
        return "a product for each pair of queries"


def no_pairs_of_features(run):
    """An audit."""
    if _holds_a_table(run, lambda n: (1, n)):
        return "a product for each pair of features"


EXERCISE = written(
    attention_delta,
    place=2,
    axes=AXES,
    answer_axes="n_q",
    cases=_cases,
    audits=(no_pairs, no_pairs_of_features),
)
