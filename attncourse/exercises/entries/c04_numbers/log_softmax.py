import numpy as np

from ...families.logsumexp import LOWEST, TINIER  # noqa: F401, for the page
from ...families.softmax import EPSILONS, along_cases  # noqa: F401
from ...model import FLOAT16, FLOAT32, Case
from ...pages import written

UNDERFLOW = "weights that underflow"


def log_softmax(scores, axis=-1):
    s = scores  #: the scores
    along = axis
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    logs = np.log(total)  #: the logarithm of the sum (one per row)
    difference = shifted - logs
    weights = difference  #: the logarithms of the weights
    return weights


def share(shifted, logs):
    """The weights themselves, which underflow."""
    return np.exp(shifted) / np.exp(logs)


def instead(logs, number):
    return np.where(np.isneginf(logs), number, logs)


def lse(s, along):
    highest = s.max(axis=along, keepdims=True)
    return highest + np.log(np.exp(s - highest).sum(axis=along, keepdims=True))


def log_share_of(s, along):
    return np.log(s / s.sum(axis=along, keepdims=True))


LIMITED = (np.maximum, lambda logs, limit: np.where(logs < limit, -np.inf, logs))
OTHER_FUNCTIONS = (
    lambda logs: np.log(1 - np.exp(logs)),
    lambda logs: np.exp(logs) * logs,
    lambda logs: -np.exp(logs) * logs,
    lambda logs: logs - np.log(1 - np.exp(logs)),
    lambda logs: np.exp(-logs),
    lambda logs: 1 - np.exp(logs),
    lambda logs: np.log(-logs),
)


def _cases():
    def case(aspect, scores, dtype=np.float64, extreme=True, relative=0.0):
        return Case(aspect, (np.array(scores, dtype),), extreme, relative=relative)

    return [
        *along_cases(),
        case(UNDERFLOW, [[0, -1000]]),
        case(UNDERFLOW, [[0, 1, 2], [0, -800, 1]]),
        case(UNDERFLOW, [[3, -30, 2]], extreme=False),
        case(UNDERFLOW, [[0, -700], [0, 1]]),
        case(FLOAT32, [[0, -200, 1]], np.float32),
        case(FLOAT32, [[10000, 10000, 9999]], np.float32, relative=1e-5),
        case(FLOAT16, [[20, 21, 2], [0, 1, 5]], np.float16),
        case(FLOAT16, [[0, -40, 1]], np.float16),
    ]


EXERCISE = written(
    log_softmax, place=2, axes=dict(scores="n_q n_k"), answer_axes="n_q n_k", cases=_cases
)
