from dataclasses import replace

import numpy as np

from ...families.inputs import given
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, BesidesRounding, Case, normal
from ...pages import written

ONE_AXIS, SMALL_X, LARGE_HALF = "one axis", "entries as small as eps", "large entries in float16"
ONCE = "one rounding to float16"


def rms_norm(x, gain, eps):
    wide = np.asarray(x, np.float64)
    v = wide
    squares = v * v  #: the squares
    along = -1
    mean = squares.mean(axis=along, keepdims=True)  #: the mean of the squares (one per row)
    inside = mean + eps
    root = np.sqrt(inside)  #: the root mean square (one per row)
    scaled = v / root  #: the normalised features
    g = gain
    out = scaled * g
    return out


def narrow(array, dtype):
    """Rounded to the inputs' dtype: in float16, what is above 65504 becomes infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(array).astype(dtype).astype(np.float64)


def other_axis(squares, axis):
    return squares.mean(axis=max(axis, -squares.ndim), keepdims=True)


def without(squares, part):
    return squares[..., part] if squares.shape[-1] > 1 else squares


def _cases():
    def case(aspect, x, gain, eps=1e-5, dtype=np.float64):
        return given(aspect, x, gain, eps, dtype=dtype)

    def drawn(aspect, *shape, eps=1e-5, dtype=np.float64, scale=1.0, mean=0.0, seed=1):
        x = (normal(*shape, seed=seed, scale=scale) + mean).astype(dtype)
        gain = (1 + normal(shape[-1], seed=seed + 1) / 2).astype(dtype)
        return Case(aspect, (x, gain, eps))

    def rounded_twice():
        """Where the normalised vector is rounded before the gain, too, the largest entry is off by
        eight parts in 10,000; one rounding costs at most five.
        """
        parts = (
            ([[-0.5, -0.75, 1, -0.5]], [1.75, 1.25, 0.5, 1.25]),
            ([[-0.75, 2, -1.5, 0.25]], [2, 1, 1.75, 1.25]),
        )
        found = (case(ONCE, x, gain, dtype=half) for x, gain in parts)
        return [replace(one, relative=BesidesRounding(6e-4)) for one in found]

    half = np.float16
    cases = [
        case(PLAIN, [[3, 4, 0, 0]], [1, 1, 2, 2]),
        case(PLAIN, [[1, -7], [1, 1], [2, 0]], [1, 3], 1e-6),
        drawn(PLAIN, 5, 7, seed=2),
        drawn(PLAIN, 3, 11, seed=3, mean=2.0),
        drawn(PLAIN, 41, 17, seed=4, eps=1e-6),
        drawn(PLAIN, 7, 3, seed=5, eps=0.5),
        drawn(PLAIN, 3, 64, seed=6, scale=3.0),
        case(SQUARE, [[3, 4], [0, 2]], [2, 1]),
        drawn(SQUARE, 5, 5, seed=7),
        case(ONE_AXIS, [3, -4, 0, 0], [1, 2, 1, 1]),
        drawn(ONE_AXIS, 7, seed=8, mean=1.0),
        case(LEADING, [[[3, 4]], [[1, 7]]], [1, 2]),
        drawn(LEADING, 2, 3, 5, seed=9),
        drawn(LEADING, 3, 2, 5, 7, seed=10),
        case(SMALL_X, [[0.003, -0.001], [0, 0]], [1, 2]),
        case(SMALL_X, [[0.5, -1, 0], [0, 0, 0]], [1, 2, 1], 1.0),
        drawn(SMALL_X, 3, 5, seed=11, scale=0.003),
        drawn(SMALL_X, 2, 5, seed=12, scale=0.1, eps=0.01),
        case(FLOAT32, [[3, 4], [1, 7]], [1, 2], dtype=np.float32),
        drawn(FLOAT32, 5, 3, seed=13, dtype=np.float32),
        case(FLOAT16, [[3, 4], [1, 7]], [1, 2], dtype=half),
        drawn(FLOAT16, 5, 7, seed=14, dtype=half),
        case(LARGE_HALF, [[300, -400]], [1, 2], dtype=half),
        case(LARGE_HALF, [[10000, -10000, 0, 0]], [1, 2, 1, 1], dtype=half),
        drawn(LARGE_HALF, 3, 41, seed=15, scale=3000.0, dtype=half),
        case(LARGE_HALF, [[150, 200]], [1, 1], dtype=half),
        *rounded_twice(),
    ]
    # float32 is wide enough for the steps, whatever x's width
    return [replace(one, relative=2e-6) if one.dtype == "float64" else one for one in cases]


EXERCISE = written(rms_norm, place=1, axes=dict(x="n d", gain="d"), answer_axes="n d", cases=_cases)
