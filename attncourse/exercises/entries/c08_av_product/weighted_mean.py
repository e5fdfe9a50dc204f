import numpy as np

from ...families.inputs import inputs
from ...families.scores import softmax_of, swap  # noqa: F401, for the page
from ...families.weighted_sums import first_hot, leading, spread  # noqa: F401
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(weights="n_q n_k", value="n_k d_v")
ZEROS, TINY = "a row of zeros", "tiny weights"
EPSILONS = (
    1e-3,
    1e-5,
    1e-6,
    1e-7,
    1e-8,
    1e-9,
    1e-10,
    1e-12,
    1e-15,
    1e-16,
    1e-20,
    1e-30,
    *(float(np.finfo(dtype).eps) for dtype in (np.float32, np.float64)),
)
# weights whose sums lie a little above and below each of them: there the three ways differ
NEAR_EPSILONS = (1e-9, 1e-12, 1e-15, 1e-18, 1e-22, 1e-30, 1e-33)


def weighted_mean(weights, value):
    raw = weights  #: the weights
    total = raw.sum(axis=-1, keepdims=True)  #: the sum of the weights (one per row)
    limited = total
    divisor = np.where(limited == 0, 1.0, limited)
    shares = raw / divisor  #: the shares
    w = shares
    v = value
    output = w @ v
    mean = output
    return mean


def row_sum(weights):
    return weights.sum(axis=-1, keepdims=True)


def is_zero(weights):
    return (weights == 0).all(axis=-1, keepdims=True)


def stops_at_zeros(run):
    """An audit: whether a row of zeros makes the function itself raise, or fail an assertion."""
    value = np.array([[2.0], [6.0]])
    failure = run(np.array([[1.0, 3.0], [0.0, 0.0]]), value).failure
    own = failure and (failure.kind == "AssertionError" or failure.line.startswith("raise"))
    stops = own and not run(np.array([[1.0, 3.0], [2.0, 2.0]]), value).failure
    return "error at a row of zeros" if stops else None


def _cases():
    def case(aspect, weights, value, dtype=float):
        args = np.array(weights, dtype), np.array(value, dtype)
        return Case(aspect, args, aspect in (ZEROS, TINY))

    def positive(shape, seed, dtype):
        return np.abs(normal(*shape, seed=seed, scale=2.0)).astype(dtype)

    some = positive((2, 3, 5, 7), 1, float)
    some[0, 1, 2] = some[1, 2, 4] = some[1, 0, 0, 3] = 0
    return [
        case(PLAIN, [[1, 3]], [[2, 4], [6, 0]]),
        case(PLAIN, [[1, 1, 2], [0, 1, 3]], [[4], [8], [0]]),
        case(PLAIN, [[0.125, 0.125]], [[2], [6]]),
        case(SQUARE, [[1, 3], [4, 4]], [[2, 4], [6, 0]]),
        case(LEADING, [[[1, 3]], [[2, 2]]], [[[2], [6]], [[4], [0]]]),
        case(ZEROS, [[0, 0]], [[2], [6]]),
        case(ZEROS, [[1, 3], [0, 0], [0, 2]], [[2, 4], [6, 0]]),
        Case(ZEROS, (some, normal(2, 3, 7, 11, seed=2)), True),
        *(case(TINY, [[unit, 3 * unit]], [[2], [6]]) for unit in NEAR_EPSILONS),
        case(FLOAT32, [[1, 3]], [[2], [6]], np.float32),
        case(FLOAT16, [[1, 3]], [[2], [6]], np.float16),
        *inputs(AXES, make={"weights": positive}),
    ]


EXERCISE = written(
    weighted_mean, place=2, axes=AXES, answer_axes="n_q d_v", cases=_cases, audits=(stops_at_zeros,)
)
