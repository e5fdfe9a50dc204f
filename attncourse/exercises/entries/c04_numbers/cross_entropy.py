import numpy as np

from ...families.inputs import SIZES
from ...families.targets import one_hot, targets_of, with_targets  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, SQUARE, Case
from ...pages import written

SMALL_NUMBERS = (1e-9, 1e-8, 1e-12, 1e-6, 1e-7, 1e-10, 1e-15, 1e-5)


def cross_entropy(scores, target):
    s = scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along)  #: the sum of the exponentials (one per row)
    logs = np.log(total)  #: the logarithm of the sum (one per row)
    chosen = targets_of(shifted, target)
    difference = logs - chosen
    signed = difference
    loss = signed
    return loss


def log_weights(scores, axis=-1, of_maximum=-1):
    shifted = scores - scores.max(axis=of_maximum, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def lse(scores):
    highest = scores.max(axis=-1, keepdims=True)
    return np.log(np.exp(scores - highest).sum(axis=-1)) + highest[..., 0]


def _cases():
    inf, f4, f2 = np.inf, np.float32, np.float16

    def case(aspect, scores, target, dtype=float, extreme=False, **more):
        return Case(aspect, (np.array(scores, dtype), np.array(target)), extreme, **more)

    return [
        case(PLAIN, [[0, 1], [2, 0]], [1, 0]),
        case(PLAIN, [[0, 0, 0], [1, 2, 3]], [2, 0]),
        case(PLAIN, [[1, -1, 0.5]], [1]),
        case(SQUARE, [[0, 1], [2, 0]], [0, 1]),
        case("no leading axes", [0, 1, 2], 1),
        case("one key", [[3], [-2]], [0, 0]),
        case("the same target", [[0, 1, 2], [2, 1, 0]], [1, 1]),
        case(LEADING, [[[0, 1]], [[2, 0]]], [[1], [1]]),
        case(HUGE, [[10000, 9999], [-10000, -9999]], [1, 0], extreme=True),
        case(HUGE, [[0, 10000], [10000, 0]], [0, 0], extreme=True),
        case(HUGE, [[10000, 10000.5]], [0], f4, True),
        case("a weight that underflows", [[0, 800], [800, 0]], [0, 0]),
        # log1p is more exact here than the reference, to 6e-4; with a maximum added back the loss
        # is off by 6e-3
        case("an almost certain target", [[30, 0, 0]], [0], relative=2e-3),
        case(NEG_INF, [[0, -inf]], [0], extreme=True),
        case(NEG_INF, [[0, -inf, 1], [2, 0, -inf]], [2, 1], extreme=True),
        case(NEG_INF, [[-1e5 - 1, -inf], [-inf, -1e6]], [0, 1], extreme=True),
        case(FLOAT32, [[0, 1], [2, 0]], [1, 0], f4),
        case(FLOAT32, [[0, 100], [100, 0]], [0, 0], f4, True),
        case(FLOAT16, [[0, 1], [2, 0]], [1, 0], f2),
        *with_targets(SIZES),
    ]


EXERCISE = written(
    cross_entropy,
    place=3,
    axes=dict(scores="n_q n_k", target="n_q"),
    answer_axes="n_q",
    cases=_cases,
)
