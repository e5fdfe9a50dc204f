import numpy as np

from ...families.gradients import through_softmax
from ...families.inputs import SIZES
from ...families.softmax import EPSILONS  # noqa: F401, for the page
from ...families.targets import with_targets
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case
from ...pages import written


def cross_entropy_backward(scores, target):
    s = scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    one_hot = at_target(weights, target)
    grad = weights - one_hot
    return grad


TINY = tuple(float(np.finfo(dtype).tiny) for dtype in (np.float32, np.float64))


def at_target(weights, target):
    """1 at each row's target, and 0 elsewhere."""
    found = np.zeros_like(weights)
    np.put_along_axis(found, np.asarray(target)[..., None], 1.0, axis=-1)
    return found


def found_at(weights, target):
    """1 where a key's number equals the target's entry, as the shapes line up."""
    return np.zeros_like(weights) + (np.arange(weights.shape[-1]) == target)


def whole_rows(weights, target):
    found = np.zeros_like(weights)
    found[target] = 1.0
    return found


def by_division(weights, one_hot, denominator):
    """The gradient of the weights first, -1 / weight at the target; then the softmax's backward."""
    return through_softmax(weights, np.where(one_hot > 0, -1 / denominator, 0.0))


def _cases():
    def case(aspect, scores, target, dtype=float):
        return Case(aspect, (np.array(scores, dtype), np.array(target)), aspect == HUGE)

    return [
        case(PLAIN, [[0, 0], [0, 0]], [1, 0]),
        case(PLAIN, [[0, 1, 2], [1, 0, 0]], [2, 0]),
        case(PLAIN, [[1, -1, 0.5]], [1]),
        case(SQUARE, [[0, 1], [2, 0]], [0, 1]),
        case("no leading axes", [0, 1, 2], 1),
        case("one key", [[3], [-2]], [0, 0]),
        case("the same target", [[0, 1, 2], [2, 1, 0]], [1, 1]),
        case(LEADING, [[[0, 1]], [[2, 0]]], [[1], [1]]),
        case(HUGE, [[10000, 9999], [-10000, -9999]], [1, 0]),
        case(HUGE, [[0, 10000], [10000, 0]], [0, 0]),
        case(FLOAT32, [[0, 1], [2, 0]], [1, 0], np.float32),
        case(FLOAT16, [[0, 1], [2, 0]], [1, 0], np.float16),
        *with_targets(SIZES),
    ]


AXES = dict(scores="n_q n_k", target="n_q")

EXERCISE = written(cross_entropy_backward, place=5, axes=AXES, answer_axes="n_q n_k", cases=_cases)
