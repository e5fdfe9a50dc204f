import numpy as np

from ...families.inputs import given
from ...families.weighted_sums import one_for_0  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, SQUARE, Case, normal
from ...pages import written

DEAD, HUGE_SINK = "a row of nothing but -inf", "sinks of ±10000"


def sink_softmax(scores, sink):
    s = scores  #: the scores
    b = sink[:, None, None]  #: the sinks
    along = -1
    top = s.max(axis=along, keepdims=True)
    row_max = np.maximum(top, b)  #: the maximum of scores and sink (one per row)
    shifted = s - row_max  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    added = np.exp(b - row_max)  #: the sink's exponential (one per row)
    whole = total + added
    weights = powers / whole  #: the weights
    answer_weights = weights
    return answer_weights


def to_one_key(weights, i):
    """What the weights lack given to one key."""
    given_back = weights.copy()
    given_back[..., i] += 1 - weights.sum(axis=-1)
    return given_back


def clipped(scores, limit):
    """Each score brought between -limit and limit, except for -inf."""
    return np.where(np.isneginf(scores), scores, np.clip(scores, -limit, limit))


def dead(s):
    return np.isneginf(s).all(axis=-1, keepdims=True)


def of_all_heads(sink, reduce):
    return np.full_like(sink, reduce(sink))[:, None, None]


def _cases():
    inf = np.inf

    def case(aspect, scores, sink, dtype=np.float64, extreme=False):
        return given(aspect, scores, sink, dtype=dtype, extreme=extreme)

    def drawn(aspect, *shape, seed=1, dtype=np.float64, order="C", scale=1.0, hidden=False):
        scores = normal(*shape, seed=seed, dtype=dtype)
        if hidden:
            scores[np.random.default_rng(seed).random(shape) < 0.3] = -inf
        sink = normal(shape[-3], seed=seed + 1, dtype=dtype, scale=scale)
        return Case(aspect, (np.asarray(scores, order=order), sink), hidden)

    return [
        case(PLAIN, [[[0, 1], [2, 0]]], [1]),
        case(PLAIN, [[[1, -2, 3]], [[0, 1, 2]]], [0, 2]),
        case(PLAIN, [[[1, 2]], [[1, 2]]], [-1, 3]),
        drawn(PLAIN, 3, 5, 7, seed=2),
        drawn(PLAIN, 2, 7, 3, seed=3, scale=2.0),
        drawn(PLAIN, 3, 5, 7, seed=4, order="F"),
        drawn(PLAIN, 5, 13, 11, seed=5),
        case(SQUARE, [[[0, 1], [2, 5]], [[1, 1], [0, 3]]], [1, -1]),
        drawn(SQUARE, 3, 3, 3, seed=6),
        case("one key", [[[3], [-5]]], [1]),
        case(LEADING, [[[[0, 1]], [[2, 0]]], [[[1, 1]], [[0, 3]]]], [1, -1]),
        drawn(LEADING, 2, 3, 5, 7, seed=7),
        drawn(LEADING, 3, 2, 5, 7, 3, seed=8),
        drawn(LEADING, 2, 2, 2, 2, seed=9),
        case(HUGE, [[[10000, 9999], [-10000, -9999]]], [1]),
        case(HUGE, [[[10000, 0, -10000], [1, 2, 3]]], [2]),
        case(HUGE, [[[800, 799], [-800, -801]]], [-800.5]),
        case(HUGE, [[[1000] * 9 + [0, 999]]], [1001]),
        case(HUGE_SINK, [[[10000, 9999]], [[-10000, -9999]]], [10000, -10000], extreme=True),
        case(HUGE_SINK, [[[1, 2]], [[1, 2]]], [10000, -10000], extreme=True),
        case(HUGE_SINK, [[[-9999, -9998]]], [-10000], extreme=True),
        case(HUGE_SINK, [[[720, 0], [0, 720]]], [721], extreme=True),
        case(NEG_INF, [[[0, -inf], [1, 2]]], [1], extreme=True),
        case(NEG_INF, [[[1, -inf, 3], [-inf, -inf, 2]]], [0.5], extreme=True),
        *(
            case(NEG_INF, [[[low, low - 1, -inf], [0, 1, 2]]], [low], extreme=True)
            for low in (-5000.0, -10000.0, -3e9)
        ),
        drawn(NEG_INF, 2, 3, 5, seed=10, hidden=True),
        case(DEAD, [[[-inf, -inf], [0, 1]]], [1], extreme=True),
        case(DEAD, [[[-inf, -inf]], [[-inf, -inf]]], [0, -10000], extreme=True),
        case(DEAD, [[[-inf, -inf, -inf]], [[1, -inf, 2]]], [2, 1], extreme=True),
        case(FLOAT32, [[[0, 1], [2, 5]]], [1], np.float32),
        drawn(FLOAT32, 3, 5, 3, seed=11, dtype=np.float32),
        case(FLOAT32, [[[100, 99], [1, 101]]], [100], np.float32, extreme=True),
        case(FLOAT16, [[[0, 1], [2, 4]]], [1], np.float16),
        case(FLOAT16, [[[20, 21], [0, 1]]], [19], np.float16, extreme=True),
        case(HUGE_SINK, [[[-2e38, -3e38]]], [-3e38], extreme=True),
        case(NEG_INF, [[[-2e38, -inf]]], [-3e38], extreme=True),
    ]


EXERCISE = written(
    sink_softmax,
    place=3,
    axes=dict(scores="n_heads n_q n_k", sink="n_heads"),
    answer_axes="n_heads n_q n_k",
    cases=_cases,
)
