import numpy as np

from ...families.gradients import through_softmax  # noqa: F401, for the page
from ...families.inputs import inputs
from ...families.scores import softmax_of
from ...families.softmax import EPSILONS  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(log_weights="n_q n_k", grad_log_weights="n_q n_k")


def log_softmax_backward(log_weights, grad_log_weights):
    weights = np.exp(log_weights)  #: the weights
    grad = grad_log_weights
    row_sum = grad.sum(axis=-1, keepdims=True)  #: the row sum (one per row)
    spread = weights * row_sum  #: the weights times the row sum
    grad_scores = grad - spread
    return grad_scores


TINY = tuple(float(np.finfo(dtype).tiny) for dtype in (np.float32, np.float64))


def softmax_along(scores, axis):
    axis = max(axis, -scores.ndim)
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True) if scores.ndim > 1 else np.exp(scores)


def guarded(grad, weights):
    """The quotient, and 0 where a weight is."""
    return np.divide(grad, weights, out=np.zeros_like(grad), where=weights > 0)


def weighted_sum(weights, grad):
    return (weights * grad).sum(axis=-1, keepdims=True)


def _log_rows(shape, seed, dtype):
    return np.log(softmax_of(normal(*shape, seed=seed))).astype(dtype)


def _cases():
    def case(aspect, weights, grad, dtype=float):
        return Case(aspect, (np.log(np.array(weights, float)).astype(dtype), np.array(grad, dtype)))

    def underflows(logs, grad, dtype=float):
        """exp of these is 0 in their dtype."""
        args = np.array(logs, dtype), np.array(grad, dtype)
        return Case("weights that underflow", args, extreme=True)

    return [
        case(PLAIN, [[0.25, 0.75]], [[1, 0]]),
        case(PLAIN, [[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]], [[1, 0, 2], [0, 3, -1]]),
        case(SQUARE, [[0.5, 0.5], [0.25, 0.75]], [[1, 2], [0, 4]]),
        case("one row", [0.5, 0.25, 0.25], [0, 1, 0]),
        case("one target", [[0.1, 0.2, 0.7]], [[0, 0, 1]]),
        case("gradients that sum to 0", [[0.25, 0.75]], [[1, -1]]),
        case("tiny weights", [[1.0, 1e-300]], [[0, 1]]),
        underflows([[0, -800]], [[0, 1]]),
        underflows([[0, -800, -10000], [-0.6875, -0.6875, -1000]], [[2, 1, 3], [1, 0, 4]]),
        underflows([[0, -200]], [[0, 1]], np.float32),
        underflows([[0, -30]], [[0, 1]], np.float16),
        case("one key", [[1.0], [1.0]], [[2], [3]]),
        case(LEADING, [[[0.25, 0.75]], [[0.5, 0.5]]], [[[1, 0]], [[0, 2]]]),
        case(FLOAT32, [[0.25, 0.75]], [[1, 0]], np.float32),
        case(FLOAT16, [[0.25, 0.75]], [[1, 0]], np.float16),
        *inputs(AXES, make={"log_weights": _log_rows}),
    ]


EXERCISE = written(log_softmax_backward, place=4, axes=AXES, answer_axes="n_q n_k", cases=_cases)
