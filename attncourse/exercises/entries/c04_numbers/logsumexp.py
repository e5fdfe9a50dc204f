import numpy as np

from ...families.logsumexp import DEAD_ROW, LOWEST, TINIER  # noqa: F401, for the page
from ...families.softmax import CLIPS, EPSILONS, LOW_FILLS, along_cases  # noqa: F401
from ...model import HUGE, NEG_INF, Case
from ...pages import written


def logsumexp(scores, axis=-1):
    s = scores  #: the scores
    along = axis
    highest = s.max(axis=along, keepdims=True)  #: the maximum (one per row)
    guarded = np.where(highest == -np.inf, 0.0, highest)
    shifted = s - guarded
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    logs = np.log(total)  #: the logarithm of the sum (one per row)
    joined = logs + guarded
    lse = joined.squeeze(along)
    return lse


def refused(highest):
    """math.log(0) and the like."""
    if (highest == -np.inf).any():
        raise ValueError("math domain error")
    return highest


def unshifted(highest):
    return np.zeros_like(highest)


def largest_finite(s, along):
    """The largest absolute value, and 0 where that is infinite."""
    largest = np.abs(s).max(axis=along, keepdims=True)
    return np.where(np.isinf(largest), 0.0, largest)


def largest_powers(powers, k, along):
    """The sum of the k largest powers."""
    ordered = np.sort(powers, axis=along)
    n = ordered.shape[along]
    return np.take(ordered, range(max(n - k, 0), n), axis=along).sum(axis=along, keepdims=True)


def instead(lse, number):
    return np.where(lse == -np.inf, number, lse)


def low_as(s, number):
    return np.where(np.isneginf(s), number, s)


OTHER_NUMBERS = (
    lambda s, along: s.max(axis=along) - s.min(axis=along),
    lambda s, along: s.max(axis=along) - s.mean(axis=along),
    lambda s, along: s.min(axis=along) - s.max(axis=along),
    lambda s, along: s.mean(axis=along) - s.max(axis=along),
    lambda s, along: s.max() - s.max(axis=along),
)


def _cases():
    inf = np.inf

    def dead(scores, *axis, dtype=np.float64):
        return Case(DEAD_ROW, (np.array(scores, dtype), *axis), dtype != np.float64)

    return [
        *along_cases(),
        Case(HUGE, (np.array([[10000.0, 9999.0], [-10000.0, -9999.0]]),), True),
        dead([[-inf, -inf]]),
        dead([[0, 1], [-inf, -inf]]),
        dead([-inf, -inf, -inf]),
        dead([[0, -inf], [1, -inf]], 0),
        dead([[-inf, -inf], [1, 2]], dtype=np.float16),
        Case(HUGE, (np.array([[-20000.0, -20001.0]]),), True),
        Case(NEG_INF, (np.array([[-2e38, -3e38, -inf], [0, 1, 2]]),), True),
    ]


EXERCISE = written(logsumexp, place=1, axes=dict(scores="n_q n_k"), cases=_cases)
