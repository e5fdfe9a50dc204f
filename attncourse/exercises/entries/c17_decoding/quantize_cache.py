import functools
from dataclasses import replace

import numpy as np

from ...families.inputs import given
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(x="n d")
ZEROS = "a row of zeros"


def quantize_cache(x):
    wide = np.asarray(x, dtype=np.float64)
    rows = wide
    sizes = np.abs(rows)  #: the absolute values
    top = sizes.max(axis=-1, keepdims=True)  #: the largest absolute values (one per row)
    levels = 127
    raw = top / levels
    scale = np.where(raw == 0, 1.0, raw)  #: the scales (one per row)
    units = rows / scale  #: the divided numbers
    rounded = np.round(units)
    codes = as_int8(rounded)
    kept = scale
    return codes, kept


def as_int8(numbers):
    """Whole numbers in 8 bits, as the usual machines convert them: beyond 127 they start again at
    -128, and NaN becomes 0.
    """
    known = np.nan_to_num(numbers, nan=0.0, posinf=0.0, neginf=0.0)
    return np.trunc(np.clip(known, -1e15, 1e15)).astype(np.int64).astype(np.int8)


def divided(rows, scale, dtype):
    """x / scale in x's own dtype."""
    return np.asarray(rows.astype(dtype) / scale.astype(dtype), dtype=np.float64)


def multiplied_first(rows, top, dtype):
    """127 x / top in x's own dtype; 127 x may overflow."""
    whole = np.where(top == 0, 1, top).astype(dtype)
    return np.asarray(rows.astype(dtype) * np.array(127, dtype) / whole, dtype=np.float64)


def ways():
    """x / scale as it is computed in float32, in float64, and in float32 only for a narrower x. In
    each of them the row's largest number may come out just below 127 or above it.
    """
    found = []
    for wide in (np.float32, np.float64, None):
        for divide in (
            lambda rows, top: rows / (top / 127),
            lambda rows, top: rows * (1 / (top / 127)),
            lambda rows, top: rows * (127 / top),
            lambda rows, top: rows * 127 / top,
            lambda rows, top: rows / top * 127,
        ):
            found.append(functools.partial(_one_way, wide, divide))
    stored = (functools.partial(_by_the_stored_scale, wide) for wide in (np.float64, np.float32))
    return (*found, *stored)


def _by_the_stored_scale(wide, rows, dtype):
    """x / scale with the scale as it is returned, in x's dtype."""
    scale = (np.abs(rows).max(axis=-1, keepdims=True) / 127).astype(dtype)
    return rows.astype(wide) / np.where(scale == 0, 1.0, scale).astype(wide)


def _one_way(wide, divide, rows, dtype):
    numbers = rows.astype(wide or np.result_type(dtype, np.float32))
    top = np.abs(numbers).max(axis=-1, keepdims=True)
    return divide(numbers, np.where(top == 0, top.dtype.type(127), top))


WAYS = ways()


def span(rows):
    return rows.max(axis=-1, keepdims=True) - rows.min(axis=-1, keepdims=True)


def span_scale(rows):
    """255 steps from the row's lowest number to its highest."""
    return np.where(span(rows) == 0, 1.0, span(rows) / 255)


def from_lowest(rows):
    """The steps from the row's lowest number, 0 to 255."""
    return np.round((rows - rows.min(axis=-1, keepdims=True)) / span_scale(rows))


def one_of(array):
    """One number for the whole array, in the shape of the scales."""
    return np.full_like(array[..., :1], array.max())


EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-16, 1e-30)


def of_many_digits(*shape, seed):
    """Numbers of two decimal places would be exact halves of many a wrong scale, and rounding
    errors would decide to which side these go.
    """
    return normal(*shape, seed=seed) + 0.00371 * normal(*shape, seed=seed + 1000)


def _cases():
    def case(aspect, *rows, dtype=np.float64, relative=0.0):
        return Case(aspect, (np.array(rows, dtype),), relative=relative)

    def drawn(aspect, *shape, seed, dtype=np.float64, order="C"):
        return Case(aspect, (np.asarray(of_many_digits(*shape, seed=seed), dtype, order=order),))

    # In none of these is x / scale within 0.002 of a half, which may go either way.
    cases = [
        case(PLAIN, [127, -64, 1, 0]),
        case(PLAIN, [1, -3, 0.4], [10, 3, -4]),
        case(PLAIN, [-254, 100, 2.6], [12.7, -3.06, 1.17]),
        drawn(PLAIN, 5, 3, seed=100),
        drawn(PLAIN, 7, 11, seed=111),
        drawn(PLAIN, 7, 11, seed=114, order="F"),
        drawn(PLAIN, 11, 37, seed=202),
        drawn(SQUARE, 3, 3, seed=140),
        drawn(SQUARE, 5, 5, seed=150),
        drawn(LEADING, 2, 5, 3, seed=160),
        drawn(LEADING, 2, 3, 7, 11, seed=176),
        drawn(LEADING, 3, 2, 5, 3, seed=180, order="F"),
        Case(
            LEADING,
            (np.concatenate([of_many_digits(2, 3, 5, seed=4), np.zeros((2, 1, 5))], axis=1),),
        ),
        case("one feature", [3], [-7]),
        case(ZEROS, [0, 0]),
        case("small rows", [1e-5, -2.52e-5, 3e-6], [0.004, -0.011, 0.0078]),
        case("small rows", [1e-9, -3.6e-9]),
        case("large rows", [50000, -61000, 1234]),
        case(ZEROS, [0, 0], [1, -3]),
        case(ZEROS, [0, 0, 0]),
        case("a row that holds 0 or sums to 0", [0, 3, -3], [1, 0, -0.4], [2, -1.5, -0.5]),
        given(FLOAT32, [[127, -64, 1, 0], [0, 0, 0, 0]], dtype=np.float32),
        drawn(FLOAT32, 5, 7, seed=5, dtype=np.float32),
        case(FLOAT16, [127, -64, 1, 0], dtype=np.float16, relative=1e-3),
        *(case(FLOAT16, *rows, dtype=np.float16, relative=1e-3) for rows in HALVES),
    ]
    # float32 is wide enough for the steps, whatever x's width
    return [replace(one, relative=1e-6) if one.dtype == "float64" else one for one in cases]


# Divided in float16, some number of each of these is rounded to its neighbour, or overflows.
HALVES = (
    [[-73.5, 25.0, 103.125]],
    [[0.23, 1.16, -1.09, -1.48, -0.87, 0.12, -0.8], [-0.49, -0.98, -0.62, -1.0, 0.37, 0.79, -0.48]],
    [[-3680.0, -20736.0, -18528.0], [-3304.0, -27664.0, 13384.0], [0.0, 0.0, 0.0]],
)


EXERCISE = written(
    quantize_cache,
    place=7,
    axes=AXES,
    outputs=("codes", "scale"),
    part_dtypes=("int8", "input"),
    cases=_cases,
)
