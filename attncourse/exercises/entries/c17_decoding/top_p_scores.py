import numpy as np

from ...families.scores import swap  # noqa: F401, for the page
from ...families.softmax import EPSILONS, LOW_FILLS  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, SQUARE, Case, normal
from ...pages import written

TIES = "equal scores"
ALL = "p = 1"


def top_p_scores(scores, p):
    s = scores  #: the scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    order = np.argsort(-s, axis=-1, kind="stable")
    ranked = np.take_along_axis(weights, order, axis=-1)
    sums = np.cumsum(ranked, axis=-1)
    before = behind_a_zero(sums)
    taken = before < p
    kept = put_back(taken, order)
    chosen = kept | (p >= 1)
    fill = -np.inf
    masked = np.where(chosen, scores, fill)
    return masked


def behind_a_zero(sums):
    """The sums before each entry: 0, then those up to the one before."""
    return np.concatenate([np.zeros_like(sums[..., :1]), sums[..., :-1]], axis=-1)


def put_back(taken, order):
    """Entry order[i] gets taken[i]."""
    found = np.empty_like(taken)
    np.put_along_axis(found, order, taken, axis=-1)
    return found


def first_of(array):
    """True at the first place of each row."""
    return np.broadcast_to(np.arange(array.shape[-1]) == 0, array.shape)


def up_to_the_first(reached):
    """True up to the first True of each row; where there is none, np.argmax says 0."""
    return np.arange(reached.shape[-1]) <= reached.argmax(axis=-1)[..., None]


def top_p(scores, p):
    """The right answer, for mistakes that run over other axes."""
    order = np.argsort(-scores, axis=-1, kind="stable")
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    ranked = np.take_along_axis(powers / powers.sum(axis=-1, keepdims=True), order, axis=-1)
    kept = put_back(behind_a_zero(np.cumsum(ranked, axis=-1)) < p, order)
    return np.where(kept | (p >= 1), scores, -np.inf)


def over_all(scores, p):
    return top_p(scores.reshape(1, -1), p).reshape(scores.shape)


def over_axis(scores, p, axis):
    return np.moveaxis(top_p(np.moveaxis(scores, axis, -1), p), -1, axis)


def lowest_kept(scores, kept):
    return np.where(kept, scores, np.inf).min(axis=-1, keepdims=True)


def softmax_of(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _cases():
    inf, f4, f2 = np.inf, np.float32, np.float16

    def case(aspect, scores, p, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), p), extreme)

    def drawn(aspect, *shape, p, seed, scale=1.0, dtype=np.float64):
        return Case(aspect, (normal(*shape, seed=seed, scale=scale, dtype=dtype), p))

    return [
        case(PLAIN, [[0, 2, 1]], 0.8),  # 0.665, 0.245, 0.09
        case(PLAIN, [[3, 0, 1]], 0.8),  # 0.844: one is enough
        case(PLAIN, [[0, 2, 1, -1], [1, 0, 3, 2]], 0.7),
        case(PLAIN, [[1, 2, 0], [-2, -3, -1]], 0.95),
        case(PLAIN, [[2, 0, 1, 4, 3]], 0.3),
        case(PLAIN, [[0, 2, 1]], 0.2),  # the largest alone, though 0.245 is above p as well
        drawn(PLAIN, 5, 7, p=0.5, seed=21),
        drawn(PLAIN, 5, 7, p=0.9, seed=22),
        drawn(PLAIN, 7, 5, p=0.75, seed=23, scale=2.0),
        drawn(PLAIN, 11, 23, p=0.6, seed=24),
        drawn(PLAIN, 7, 41, p=0.2, seed=25),
        drawn(SQUARE, 5, 5, p=0.66, seed=26),
        case(TIES, [[1, 1, 1, 1]], 0.5),
        case(TIES, [[0, 0]], 0.5),
        case(TIES, [[2, 5, 2, 5, 2]], 0.4),
        case(TIES, [[2, 5, 2, 5, 2]], 0.7),
        case(TIES, [[1, 1, 1, 1], [3, 3, 1, 3]], 0.6),
        case(TIES, [[1, 2] * 20], 0.5),  # a sort that keeps no order of equals shows
        case("one entry", [[2], [-5]], 0.3),
        case("one axis", [0, 2, 1], 0.8),
        drawn("one axis", 7, p=0.55, seed=27),
        drawn(LEADING, 2, 5, 7, p=0.7, seed=28),
        drawn(LEADING, 2, 3, 5, 11, p=0.45, seed=29),
        case(ALL, [[0, 2, 1]], 1.0),
        drawn(ALL, 5, 7, p=1.0, seed=30),
        drawn(ALL, 2, 3, 7, p=1, seed=31),
        case(ALL, [[10000, 0, 9000], [0, -800, 1]], 1.0),
        case(ALL, [[0, -inf, 1], [-inf, -inf, 2]], 1.0),
        case(HUGE, [[10000, 9999], [-10000, -9999]], 0.9, extreme=True),
        case(HUGE, [[10000, 10000, 0, 10000]], 0.9, extreme=True),
        case(HUGE, [[-10000, -9999, -9998, 0]], 0.5, extreme=True),
        case(HUGE, [[800, 799, 798, 797]], 0.7, extreme=True),
        case(NEG_INF, [[0, -inf, 1, 2], [-inf, -inf, 2, -inf]], 0.8, extreme=True),
        case(NEG_INF, [[-inf, 1, 1, 1]], 0.5, extreme=True),
        case(FLOAT32, [[0, 2, 1]], 0.8, f4),
        drawn(FLOAT32, 5, 7, p=0.7, seed=32, dtype=f4),
        case(FLOAT16, [[0, 2, 1]], 0.8, f2),
        drawn(FLOAT16, 3, 5, p=0.72, seed=33, dtype=f2),
    ]


EXERCISE = written(
    top_p_scores, place=3, axes=dict(scores="n_q n_k"), answer_axes="n_q n_k", cases=_cases
)
