import numpy as np

from ...families.inputs import inputs
from ...families.masks import BROADCAST
from ...families.scores import only_the_past, softmax_of, swap  # noqa: F401, for the page
from ...model import FLOAT32, PLAIN, Case, normal
from ...pages import written

AXES = dict(scores="n_q n_k", attn_mask="n_q n_k")


def mask_scores(scores, attn_mask):
    seen = attn_mask
    mask = seen
    masked = np.where(mask, scores, -np.inf)  #: the masked scores
    return masked


SMALLER = (-1e9, -1e10, -1e8, -1e6, -1e5, -1e4, -1e3, -100.0, -1e12, -1e15)
LARGE = (*SMALLER, -1e18, -1e20, -1e30, -1e38, -9999.0, -99999.0, -999999.0)
TINY = (1e-9, 1e-10, 1e-8, 1e-6, 1e-12, -1e-9, -1e-10)
FACTORS = (
    (1.0, -np.inf),
    (1.0, np.inf),
    (-0.0, np.inf),
    (0.0, -np.inf),
    *((1.0, c) for c in (-1e9, 1e9, -1e10, -1e4)),
)
ROWS = (slice(0, 1), slice(1, None), slice(-1, None))


def row_min(scores):
    return scores.min(axis=-1, keepdims=True)


def row_mean(scores):
    return scores.mean(axis=-1, keepdims=True)


def hidden_with(scores, mask, reduce, axis):
    """The mask as it is for one query, or one key, and then for all."""
    whole = reduce(np.broadcast_to(mask, scores.shape), axis=axis, keepdims=True)
    return np.where(whole, scores, -np.inf)


def any_key(scores, mask):
    return np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True)


def only_rows(rows, scores, mask):
    """Scores of which only these rows are masked."""
    found, masked = scores.copy(), np.where(mask, scores, -np.inf)
    found[..., rows, :] = masked[..., rows, :]
    return found


def _cases():
    def mask(*shape, seed=0):
        return np.random.default_rng([seed, *shape]).random(shape) < 0.6

    def drawn(shape, seed, dtype):
        return mask(*shape, seed=seed)

    def case(aspect, scores, mask, dtype=float):
        return Case(aspect, (np.array(scores, dtype), np.array(mask)))

    return [
        case(PLAIN, [[1, -2, 3], [4, 5, -6]], [[True, False, True], [False, True, True]]),
        case("an allowed score of 0", [[0, 1], [2, 0]], [[True, False], [True, True]]),
        case(BROADCAST, [[1, -2], [3, 4]], [True, False]),
        Case(BROADCAST, (normal(2, 5, 3, seed=4), mask(5, 3))),
        Case(BROADCAST, (normal(2, 3, 5, 7, seed=5), mask(2, 1, 1, 7))),
        case("a row without any key", [[1, 2]], [[False, False]]),
        Case("everything allowed", (normal(3, 5, seed=7), np.ones((3, 5), bool))),
        case("scores of ±10000", [[1e4, -1e4, 3]], [[False, True, True]]),
        case(FLOAT32, [[1, 2]], [[False, True]], np.float32),
        *inputs(AXES, make={"attn_mask": drawn}),
    ]


EXERCISE = written(mask_scores, place=7, axes=AXES, answer_axes="n_q n_k", cases=_cases)
