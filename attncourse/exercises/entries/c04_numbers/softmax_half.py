import numpy as np

from ...model import HUGE, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

LONG = "long rows"


def softmax_half(scores):
    wide = np.asarray(scores, dtype=np.float64)
    s = wide
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total
    narrow = half(weights)  #: the weights
    return narrow


def half(array):
    """Rounded to float16, and wide again."""
    with np.errstate(over="ignore"):
        return np.asarray(array).astype(np.float16).astype(np.float64)


def sum_in_half(powers):
    """Added up in float16, one by one."""
    total = np.zeros(powers.shape[:-1], np.float16)
    for k in range(powers.shape[-1]):
        total = total + powers[..., k].astype(np.float16)
    return total[..., None].astype(np.float64)


def divided_again(weights):
    narrow = np.asarray(weights).astype(np.float16)
    return (narrow / narrow.sum(axis=-1, keepdims=True)).astype(np.float64)


def by_lse_in_float32(scores):
    wide = np.asarray(scores, np.float32)
    return np.exp(wide - np.logaddexp.reduce(wide, axis=-1, keepdims=True)).astype(np.float64)


def _cases():
    def case(aspect, scores, extreme=False):
        return Case(aspect, (np.array(scores, np.float16),), extreme, relative=6e-4)

    def drawn(aspect, *shape, seed=0, scale=1.0):
        scores = normal(*shape, seed=seed, dtype=np.float16, scale=scale)
        return Case(aspect, (scores,), relative=6e-4)

    return [
        case(PLAIN, [[0, 1], [2, 0]]),
        case(PLAIN, [[1, 2, 3]]),
        drawn(PLAIN, 5, 7, seed=1),
        drawn(PLAIN, 7, 3, seed=2),
        drawn(PLAIN, 3, 41, seed=3),
        case(SQUARE, [[0, 1], [2, 4]]),
        drawn(SQUARE, 5, 5, seed=4),
        case("one row", [0, 1, 2]),
        case("one key", [[3], [5]]),
        case(LEADING, [[[0, 1]], [[2, 0]]]),
        drawn(LEADING, 2, 3, 5, 7, seed=5),
        drawn(LONG, 2, 4099, seed=6),
        drawn(LONG, 1, 2500, seed=7, scale=0.1),
        case("scores of 12 and more", [[12, 11], [20, 30]], True),
        case(HUGE, [[1001, 1000], [-1000, -1001]], True),
        case(HUGE, [[10000, 9999], [-10000, -9999]], True),
        case(HUGE, [[60000, -60000], [0, 60000]], True),
        case(HUGE, [[60000, 60000]], True),
        case(HUGE, [[60000, 59968], [30000, 29984]], True),
        case(HUGE, [[-10000, -9992]], True),
        case(HUGE, [[800] * 15 + [0]], True),  # 800 above the least, 50 above the mean
        # 1.29 - 4.25 is rounded by nearly half a gap in float16, and 30 such weights are more than
        # the first
        case("many small weights", [[4.25] + [1.29] * 30]),
        # 50 exponentials, each rounded the same way, sum to another number than their rounded sum
        case("many equal scores", [[4.94] + [4.46] * 50]),
        case("many equal scores", [[4.33] + [0.82] * 100]),
    ]


EXERCISE = written(
    softmax_half, place=5, axes=dict(scores="n_q n_k"), answer_axes="n_q n_k", cases=_cases
)
