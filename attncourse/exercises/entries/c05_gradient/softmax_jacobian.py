import numpy as np

from ...families.gradients import book_weights
from ...model import FLOAT16, FLOAT32, PLAIN, Case
from ...pages import written


def softmax_jacobian(weights):
    w = weights  #: the weights
    diagonal = np.diag(w)  #: the diagonal term
    outer = np.outer(w, w)  #: the outer product
    jacobian = diagonal - outer
    return jacobian


# wrong numbers on the diagonal, of a weight, and beside it, of the row's weight and the column's
DIAGONALS = (
    lambda w: w * (1 + w),
    lambda w: w * w,
    lambda w: -w,
    lambda w: 1.0,
    lambda w: (1 - w) ** 2,
    lambda w: w * w * (1 - w),
    lambda w: w * (1 - w) ** 2,
    lambda w: 2 * w * (1 - w),
    lambda w: w * (1 - w) / 2,
    lambda w: w - 1,
    lambda w: w * (w.sum() - 2 * w),
    np.sqrt,
    np.exp,
    lambda w: 1 / w,
)
PRODUCTS = (
    lambda a, b: -a,
    lambda a, b: -b,
    lambda a, b: a,
    lambda a, b: b,
    lambda a, b: -a * (1 - b),
    lambda a, b: -b * (1 - a),
    lambda a, b: -1.0,
    lambda a, b: 1.0,
    lambda a, b: -2 * a * b,
    lambda a, b: -a * b / 2,
    lambda a, b: -((a * b) ** 2),
    lambda a, b: -a - b,
    lambda a, b: a - b,
    lambda a, b: b - a,
    lambda a, b: -np.sqrt(a * b),
)


def rows(w):
    """(n,) -> (n, n): the same row again and again."""
    return np.broadcast_to(w, (w.size, w.size))


def off_diagonal(array):
    return array - np.diag(np.diagonal(array))


def put_together(on, beside):
    """A matrix of what stands on the diagonal and what stands beside it."""
    return np.diag(on) + off_diagonal(beside)


def without(part, jacobian):
    found = jacobian.copy()
    found[part] = 0
    return found


def _cases():
    def case(aspect, row, dtype=np.float64):
        return Case(aspect, (np.asarray(row, dtype),))

    return [
        case(PLAIN, [0.25, 0.75]),
        case(PLAIN, [0.5, 0.125, 0.375]),
        case(PLAIN, book_weights(5, seed=1)),
        case(PLAIN, book_weights(11, seed=2)),
        case(PLAIN, book_weights(61, seed=4)),
        case("equal weights", [0.25] * 4),
        case("a weight of 0", [0.5, 0, 0.5]),
        case(FLOAT32, [0.25, 0.75], np.float32),
        case(FLOAT32, book_weights(7, seed=3), np.float32),
        case(FLOAT16, [0.5, 0.125, 0.375], np.float16),
    ]


EXERCISE = written(softmax_jacobian, place=2, axes=dict(weights="n_q n_k"), cases=_cases)
