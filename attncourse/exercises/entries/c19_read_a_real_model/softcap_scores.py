import numpy as np

from ...families.inputs import given, inputs
from ...families.masks import BROADCAST
from ...families.scores import softmax_of, swap  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(scores="n_q n_k", attn_mask="n_q n_k")
LOW, HIGH, DEAD = "a cap below the scores", "a cap far above the scores", "a row without any key"


def softcap_scores(scores, cap, attn_mask):
    s = np.asarray(scores, np.float64)
    limit = cap
    ratio = s / limit  #: the scores divided by the cap
    bent = np.tanh(ratio)  #: the hyperbolic tangents
    capped = limit * bent  #: the capped scores
    seen = attn_mask
    mask = seen
    masked = np.where(mask, capped, -np.inf)  #: the masked scores
    return masked


CAPS = (50.0, 30.0, 20.0, 10.0, 100.0)
FILLS = (-1e9, -1e4, -1e10, -1e8, -1e6, -1e5, -1e3, -100.0)


def tanh_of_powers(ratio, dtype):
    """tanh as it is in a book: both exponentials overflow where the ratio is large."""
    ratio = np.asarray(ratio).astype(dtype)
    return ((np.exp(ratio) - np.exp(-ratio)) / (np.exp(ratio) + np.exp(-ratio))).astype(np.float64)


def tanh_of_twice(ratio, dtype):
    ratio = np.asarray(ratio).astype(dtype)
    return ((np.exp(2 * ratio) - 1) / (np.exp(2 * ratio) + 1)).astype(np.float64)


def below_all(capped, mask):
    """-inf for masked scores before they are capped: tanh(-inf) is -1."""
    return np.where(mask, capped, -1.0)


def row_max(s):
    return np.abs(s).max(axis=-1, keepdims=True)


def _cases():
    def mask(*shape, seed=0):
        found = np.random.default_rng([seed, *shape]).random(shape) < 0.6
        found[..., 0] |= ~found.any(axis=-1)
        return found

    def case(aspect, scores, cap, allowed, dtype=np.float64, extreme=False):
        return given(aspect, scores, cap, np.array(allowed, bool), dtype=dtype, extreme=extreme)

    def drawn(aspect, *shape, cap=2.0, seed=1, scale=1.0, allowed=None, dtype=np.float64):
        scores = normal(*shape, seed=seed, scale=scale, dtype=dtype)
        return Case(aspect, (scores, cap, mask(*(allowed or shape), seed=seed)))

    usual = inputs(AXES, make={"attn_mask": lambda shape, seed, dtype: mask(*shape, seed=seed)})
    return [
        case(PLAIN, [[1, 4], [-6, 2]], 2.0, [[1, 1], [0, 1]]),
        case(PLAIN, [[3, -3, 0]], 1.0, [[1, 1, 1]]),
        case(PLAIN, [[1, 2, 9], [-9, 0, 3]], 5, [[1, 0, 1], [1, 1, 1]]),
        *(Case(one.aspect, (one.args[0], 2.0, one.args[1])) for one in usual),
        drawn(PLAIN, 5, 7, cap=0.7, seed=2),
        drawn(PLAIN, 5, 3, cap=3.5, seed=3, scale=6.0),
        drawn(SQUARE, 5, 5, cap=1.5, seed=4),
        case(BROADCAST, [[1, -2], [3, 4]], 2.0, [1, 0]),
        drawn(BROADCAST, 2, 5, 3, cap=2.5, seed=5, allowed=(5, 3)),
        drawn(BROADCAST, 2, 3, 5, 7, cap=1.5, seed=6, allowed=(2, 1, 1, 7)),
        drawn(LEADING, 2, 3, 5, 7, cap=4.0, seed=7, scale=3.0),
        case(LOW, [[5, -8, 3], [20, 0.1, -20]], 1.0, [[1, 1, 1], [1, 1, 1]]),
        drawn(LOW, 5, 7, cap=0.1, seed=8),
        case(HIGH, [[1, -2, 3]], 1000.0, [[1, 1, 0]]),
        drawn(HIGH, 5, 7, cap=50.0, seed=9, scale=5.0),
        drawn(HIGH, 3, 5, cap=30.0, seed=10, scale=20.0),
        case(DEAD, [[1, 2], [3, 4]], 2.0, [[0, 0], [1, 0]]),
        case("everything allowed", [[1, 2], [3, 40]], 10.0, [[1, 1], [1, 1]]),
        case(HUGE, [[1e4, -1e4, 3]], 50.0, [[0, 1, 1]]),
        case(HUGE, [[1e4, 9999, 0], [-1e4, 1, -9999]], 30.0, [[1, 1, 1], [1, 1, 0]]),
        case(HUGE, [[1e4, -1e4]], 2.0, [[1, 1]]),
        case(HUGE, [[1e4, -1e4]], 2e4, [[1, 1]]),
        case(FLOAT32, [[1, 4]], 2.0, [[0, 1]], np.float32),
        case(FLOAT32, [[1e4, -3e3, 2]], 10.0, [[1, 1, 1]], np.float32, extreme=True),
        case(FLOAT16, [[1e4, -3, 2]], 30.0, [[1, 1, 0]], np.float16, extreme=True),
    ]


EXERCISE = written(softcap_scores, place=2, axes=AXES, answer_axes="n_q n_k", cases=_cases)
