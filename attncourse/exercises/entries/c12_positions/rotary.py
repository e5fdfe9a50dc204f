import dataclasses

import numpy as np

from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

FAR, LATER = "far positions", "positions that do not begin at 0"
UNORDERED = "positions out of order"


def rotary(x, positions, base):
    d = x.shape[-1]
    exponents = 2 * np.arange(d // 2) / d
    frequencies = base**-exponents
    angles = positions[:, None] * frequencies  #: the angles
    a, b = angles, angles
    first, second = halves(x)
    left, right = turned(first, second, a, b)
    return np.concatenate([left, right], axis=-1)


def halves(x):
    return np.split(x, 2, axis=-1)


def neighbours(x):
    return x[..., 0::2], x[..., 1::2]


def side_by_side(left, right):
    return np.stack([left, right], axis=-1).reshape(*left.shape[:-1], -1)


def turned(first, second, a, b, minus=-1, plus=1):
    """Pairs turned by angles: a for the first features, b for the second ones."""
    return first * np.cos(a) + minus * second * np.sin(a), second * np.cos(
        b
    ) + plus * first * np.sin(b)


def in_place(first, second, a, b):
    left = turned(first, second, a, b)[0]
    return left, turned(left, second, a, b)[1]


def angles_in(kind, positions, frequencies):
    """Angles of positions and frequencies that are rounded to a dtype first."""
    return (positions.astype(kind)[:, None] * frequencies.astype(kind)).astype(np.float64)


def narrow_waves(first, second, a, b, dtype):
    """Pairs turned by cosines and sines that are rounded to a dtype."""
    cos_a, sin_a, cos_b, sin_b = (
        wave(angle).astype(dtype).astype(np.float64)
        for angle in (a, b)
        for wave in (np.cos, np.sin)
    )
    return first * cos_a - second * sin_a, second * cos_b + first * sin_b


def _cases():
    def tiny(aspect, x, positions, base, dtype=float):
        return Case(aspect, (np.array(x, dtype), np.array(positions), base))

    def case(aspect, positions, base, *shape, seed=0, dtype=np.float64):
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype), np.array(positions), base))

    return [
        tiny(PLAIN, [[1, 0, 0, 0], [1, 2, 3, 4]], [0, 1], 100.0),
        tiny(PLAIN, [[1, 2, 3, 4]], [2], 10000.0),
        case(PLAIN, range(5), 10000.0, 5, 6, seed=1),
        case(PLAIN, range(7), 500.0, 7, 10, seed=2),
        case(PLAIN, range(11), 10000, 11, 26, seed=3),
        case(SQUARE, range(4), 50.0, 4, 4, seed=4),
        tiny("negative positions", [[1, 2, 3, 4]], [-3], 100.0),
        tiny("one pair", [[1, 0], [3, 4]], [1, 2], 10000.0),
        tiny(LATER, [[1, 2, 3, 4]], [7], 10000.0),
        case(LATER, range(3, 8), 10000.0, 5, 6, seed=11),
        tiny(UNORDERED, [[1, 2], [3, 4]], [3, 0], 10.0),
        case(UNORDERED, [3, 4, 9, 9, 1], 10000.0, 5, 6, seed=5),
        case(UNORDERED, [12, 2, 31, 40, 5, 6, 7], 800.0, 7, 10, seed=6),
        case(LEADING, range(5), 10000.0, 2, 5, 6, seed=7),
        case(LEADING, range(4, 7), 700.0, 2, 3, 3, 10, seed=8),
        case(FLOAT32, range(5), 10000.0, 5, 6, seed=9, dtype=np.float32),
        tiny(FLOAT32, [[1, 2, 3, 4]], [1], 100.0, np.float32),
        case(FLOAT16, range(7), 10000.0, 7, 10, seed=10, dtype=np.float16),
        tiny(FLOAT16, [[1, 2, 3, 4]], [1], 100.0, np.float16),
        tiny(FAR, [[1, 2]], [2049], 100.0, np.float16),
        # The errors of rounded cosines and sines add up here, to three times the last rounding.
        *(
            dataclasses.replace(tiny(FAR, [pair], [p], 100.0, np.float16), relative=4e-4)
            for pair, p in (([-7, -1.75], 954), ([5.5, 3.25], 1664))
        ),
        # Frequencies of 1 and 0.01 are rounded alike in any way of rounding them; past 2048
        # and 2^24 whole numbers are rounded, too.
        tiny(FAR, [[1, 2, 2, 1]], [2049], 10000.0, np.float16),
        tiny(FAR, [[1, 2, 2, 1]], [40003], 10000.0, np.float16),
        tiny(FAR, [[1, 2, 2, 1]], [10_000_019], 10000.0, np.float32),
        tiny(FAR, [[1, 2]], [2**24 + 1], 10000.0, np.float32),
        tiny(FAR, [[1, 2, 2, 1]], [2**24 + 1], 10000.0, np.float16),
        # float64's own 2π is so coarse that taking whole turns off this angle leaves an error
        # of 1e-9.
        dataclasses.replace(tiny(FAR, [[1, 2, 2, 1]], [2**24 + 1], 10000.0), relative=1e-7),
    ]


EXERCISE = written(
    rotary,
    place=2,
    axes=dict(x="n d_head", positions="n"),
    answer_axes="n d_head",
    cases=_cases,
    wide_inside=True,
)
