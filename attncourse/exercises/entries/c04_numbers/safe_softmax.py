import numpy as np

from ...families.logsumexp import DEAD_ROW
from ...families.softmax import LOW_FILLS, along_cases, lowered, lowest_scores, small_weights  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, HUGE, NEG_INF, Case, normal
from ...pages import written


def safe_softmax(scores):
    filled = scores  #: the masked scores
    s = filled  #: the scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    rescued = np.where(dead(scores), 0.0, weights)
    return rescued


def dead(scores):
    return np.isneginf(scores).all(axis=-1, keepdims=True)


def one_sum(scores):
    """Each row measured from its own maximum, or from 0, and divided by the sum of all rows."""
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(highest), 0.0, highest))
    return powers / (powers.sum() or 1.0)


def first_key(scores):
    return np.arange(scores.shape[-1]) == 0


def filled_by(scores, number, dtype):
    return np.where(np.isneginf(scores), as_held(number, dtype), scores)


def as_held(number, dtype):
    """A number as the dtype can hold it: -1e9 is -inf in float16."""
    with np.errstate(over="ignore"):
        return float(np.array(number).astype(dtype))


def never_below(scores, number, dtype):
    return np.maximum(scores.max(axis=-1, keepdims=True), as_held(number, dtype))


def nan_in_half(scores, dtype):
    return np.where(dead(scores), np.nan if np.dtype(dtype) == np.float16 else 0.0, scores)


def ones_for_masked(shifted):
    """1 for each score of -inf, for the sum."""
    return np.where(np.isneginf(shifted), 1.0, np.exp(shifted)).sum(axis=-1, keepdims=True)


def stops_at_dead_rows(run):
    """An audit: whether a dead row makes the function raise, or fail an assertion, of its own."""
    failure = run(np.array([[0.0, 1.0], [-np.inf, -np.inf]])).failure
    own = failure and (failure.kind == "AssertionError" or failure.line.startswith("raise"))
    found = own and not run(np.array([[0.0, 1.0], [2.0, -np.inf]])).failure
    return "error at a dead row" if found else None


def _cases():
    inf = np.inf

    def case(aspect, scores, dtype=np.float64):
        return Case(aspect, (np.array(scores, dtype),), True)

    some = normal(2, 3, 5, 7, seed=12)
    some[0, 1, 2] = some[1, 2, 4] = -inf
    masked = [[-10000, -inf], [-inf, -10000]], [[-1000, -inf, -999.5]], [[-100, -inf, -99.5]]
    rows = (
        [[-inf, -inf]],
        [[0, 1], [-inf, -inf]],
        [-inf] * 3,
        [[-inf] * 3] * 2,
        [[0, -inf, 1], [-inf] * 3],
        some,
    )
    return [
        *along_cases(with_axis=False),
        small_weights(),
        case(HUGE, [[-500, -499], [-1, -2]]),
        case(HUGE, [[-800, -799], [-720, -721]]),
        *(case(NEG_INF, scores) for scores in masked),
        *(case(DEAD_ROW, scores) for scores in rows),
        case(FLOAT32, [[-inf, -inf], [0, 1]], np.float32),
        case(FLOAT16, [[-inf, -inf], [0, 1]], np.float16),
        case(HUGE, [[-20000, -20001]]),
        case(NEG_INF, [[-2e38, -3e38, -inf]]),
    ]


EXERCISE = written(
    safe_softmax,
    place=4,
    axes=dict(scores="n_q n_k"),
    answer_axes="n_q n_k",
    cases=_cases,
    audits=(stops_at_dead_rows,),
)
