import numpy as np

from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, Case
from ...pages import written


def additive_mask(attn_mask, dtype):
    mask = attn_mask
    seen = 0.0
    hidden = -np.inf
    chosen = np.where(mask, seen, hidden)
    return chosen.astype(np.dtype(dtype))


LARGE = (-1e9, -1e4, -1e5, -1e6, -1e10, -1e8, -1e3, -100.0, -1e30, -1e38, -65504.0, -1e12)


def any_key(mask):
    return mask.any(axis=-1, keepdims=bool(mask.ndim))


def _cases():
    def mask(*shape, seed=0):
        return np.random.default_rng([seed, *shape]).random(shape) < 0.5

    tiny = np.array([[True, False], [True, True]])
    f4, f2 = np.float32, np.float16
    return [
        Case(PLAIN, (tiny, np.float64)),
        Case(PLAIN, (mask(5, 7), np.dtype("float64"))),
        Case(PLAIN, (mask(7, 3, seed=1), np.float64)),
        Case("equal sizes", (mask(5, 5), np.float64)),
        Case(FLOAT32, (tiny, f4)),
        Case(FLOAT32, (mask(3, 5), np.dtype("float32"))),
        Case(FLOAT16, (tiny, f2)),
        Case(FLOAT16, (mask(5, 3), np.dtype("float16"))),
        Case("one axis", (np.array([True, False, True]), np.float64)),
        Case("one axis", (mask(7), f4)),
        Case("no axes", (np.array(True), np.float64)),
        Case("no axes", (np.array(False), f4)),
        Case(LEADING, (mask(2, 1, 3, 5), np.float64)),
        Case(LEADING, (mask(3, 5, 7), f4)),
        Case("everything allowed", (np.ones((2, 3), bool), np.float64)),
        Case("nothing allowed", (np.zeros((2, 3), bool), np.float64)),
    ]


EXERCISE = written(
    additive_mask, place=8, axes=dict(attn_mask="n_q n_k"), answer_axes="n_q n_k", cases=_cases
)
