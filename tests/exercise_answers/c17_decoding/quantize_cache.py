"""Answers to quantize_cache, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("quantize_cache")


@answers.right()
def cache_plain(x):
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    scale = np.abs(wide).max(axis=-1, keepdims=True) / 127
    scale = np.where(scale == 0, 1, scale)
    return np.round(wide / scale).astype(np.int8), scale.astype(x.dtype)


@answers.right()
def cache_by_the_rounded_scale(x):
    top = np.abs(x).max(axis=-1, keepdims=True)
    scale = np.where(top == 0, 127, top.astype(np.float64)) / 127
    scale = scale.astype(x.dtype)
    codes = np.rint(x.astype(np.float64) / scale.astype(np.float64))
    return np.clip(codes, -127, 127).astype(np.int8), scale


@answers.right()
def cache_row_by_row(x):
    codes = np.empty(x.shape, dtype=np.int8)
    scale = np.empty((*x.shape[:-1], 1), dtype=x.dtype)
    for index in np.ndindex(x.shape[:-1]):
        row = [float(number) for number in x[index]]
        step = max(abs(number) for number in row) / 127 or 1.0
        codes[index] = [round(number / step) for number in row]
        scale[index] = step
    return codes, scale


@answers.right()
def cache_half_away_from_zero(x):
    wide = x.astype(np.longdouble)
    step = np.maximum(wide.max(-1), -wide.min(-1))[..., None] / 127
    step[step == 0] = 1
    units = wide / step
    codes = np.sign(units) * np.floor(np.abs(units) + 0.5)
    return codes.astype("int8"), step.astype(x.dtype)


def with_top(x, top, levels=127.0, turn=np.round):
    wide = x.astype(np.float64)
    scale = np.where(top == 0, levels, top) / levels
    return turn(wide / scale).astype(np.int64).astype(np.int8), scale.astype(x.dtype)


def largest(x):
    return np.abs(x.astype(np.float64)).max(axis=-1, keepdims=True)


@answers.wrong("one scale for everything")
def cache_one_scale(x):
    scale = np.abs(x).max().astype(np.float64) / 127 or 1.0
    return np.round(x.astype(np.float64) / scale).astype(np.int8), x.dtype.type(scale)


@answers.wrong("one scale per feature")
def cache_features(x):
    return with_top(x, np.abs(x.astype(np.float64)).max(axis=-2, keepdims=True))


@answers.wrong("maximum over the first axis")
def cache_first_axis(x):
    return with_top(x, np.abs(x.astype(np.float64)).max(axis=0, keepdims=True))


@answers.wrong("the second axis instead of the last")
def cache_second_axis(x):
    return with_top(x, np.abs(x.astype(np.float64)).max(axis=1, keepdims=True))


@answers.wrong("maximum without keepdims")
def cache_no_keepdims(x):
    return with_top(x, np.abs(x.astype(np.float64)).max(axis=-1))


@answers.wrong("maximum without absolute values")
def cache_signed(x):
    return with_top(x, x.astype(np.float64).max(axis=-1, keepdims=True))


@answers.wrong("range instead of the largest size")
def cache_span(x):
    wide = x.astype(np.float64)
    return with_top(x, np.ptp(wide, axis=-1, keepdims=True), 255.0)


@answers.wrong("128 instead of 127")
def cache_128(x):
    return with_top(x, largest(x), 128.0)


@answers.wrong("255 instead of 127")
def cache_255(x):
    return with_top(x, largest(x), 255.0)


@answers.wrong("not divided by 127")
def cache_undivided(x):
    return with_top(x, largest(x), 1.0)


@answers.wrong("another number of steps")
def cache_four_bits(x):
    wide = x.astype(np.float64)
    scale = np.abs(wide).max(axis=-1, keepdims=True) / 7
    scale = np.where(scale == 0, 1, scale)
    return np.round(wide / scale).astype(np.int8), scale.astype(x.dtype)


@answers.wrong("fraction cut off")
def cache_cut(x):
    return with_top(x, largest(x), turn=np.asarray)


@answers.wrong("rounded down")
def cache_down(x):
    return with_top(x, largest(x), turn=np.floor)


@answers.wrong("a half added to negative numbers")
def cache_half(x):
    return with_top(x, largest(x), turn=lambda units: np.trunc(units + 0.5))


@answers.wrong("a scale other than 1 for a row of zeros")
def cache_zero_scale(x):
    wide = x.astype(np.float64)
    scale = np.abs(wide).max(axis=-1, keepdims=True) / 127
    with np.errstate(all="ignore"):
        codes = np.nan_to_num(np.round(wide / scale)).astype(np.int8)
    return codes, scale.astype(x.dtype)


@answers.wrong("a scale other than 1 for a row of zeros")
def cache_epsilon(x):
    wide = x.astype(np.float64)
    scale = np.abs(wide).max(axis=-1, keepdims=True) / 127 + 1e-8
    return np.round(wide / scale).astype(np.int8), scale.astype(x.dtype)


@answers.wrong("1/127 for a row of zeros")
def cache_one_for_the_top(x):
    top = largest(x)
    top = np.where(top == 0, 1, top)
    return np.round(x / top * 127).astype(np.int8), (top / 127).astype(x.dtype)


@answers.wrong("the reciprocal of the scale")
def cache_reciprocal(x):
    top = largest(x)
    factor = np.where(top == 0, 1, 127 / np.where(top == 0, 1, top))
    return np.round(x * factor).astype(np.int8), factor.astype(x.dtype)


@answers.wrong("the rounded numbers instead of their codes")
def cache_restored(x):
    codes, scale = with_top(x, largest(x))
    return codes * scale, scale


@answers.wrong("parts in another order")
def cache_swapped(x):
    return cache_plain(x)[::-1]


@answers.wrong("codes of another dtype")
def cache_of_floats(x):
    codes, scale = cache_plain(x)
    return codes.astype(x.dtype), scale


@answers.wrong("codes of another dtype")
def cache_of_int64(x):
    codes, scale = cache_plain(x)
    return codes.astype(int), scale


@answers.wrong("axis dropped")
def cache_flat_scales(x):
    codes, scale = cache_plain(x)
    return codes, scale[..., 0]


@answers.wrong("float64 leaks out")
def cache_wide_scales(x):
    codes, scale = cache_plain(x)
    return codes, scale.astype(np.float64)


@answers.wrong("codes computed in float16")
def cache_in_half(x):
    top = np.abs(x).max(axis=-1, keepdims=True)
    scale = np.where(top == 0, 1, top / x.dtype.type(127)).astype(x.dtype)
    return np.round(x / scale).astype(np.int8), scale


@answers.right()
def in_float32(x):
    wide = x.astype(np.float32)
    largest = np.abs(wide).max(axis=-1, keepdims=True)
    scale = np.where(largest == 0, np.float32(1), largest / np.float32(127))
    return np.round(wide / scale).astype(np.int8), scale.astype(x.dtype)


@answers.wrong("fraction cut off")
def cut_in_float32(x):
    wide = x.astype(np.float32)
    largest = np.abs(wide).max(axis=-1, keepdims=True)
    scale = np.where(largest == 0, np.float32(1), largest / np.float32(127))
    return (wide / scale).astype(np.int8), scale.astype(x.dtype)


def only_half_widened(x):
    """(x, scale) in float32 if x is float16, and in x's dtype otherwise."""
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    largest = np.abs(wide).max(axis=-1, keepdims=True)
    return wide, np.where(largest == 0, 1, largest / 127)


@answers.wrong("fraction cut off")
def cut_where_only_half_is_widened(x):
    wide, scale = only_half_widened(x)
    return (wide / scale).astype(np.int8), scale.astype(x.dtype)


@answers.wrong("rounded down")
def down_where_only_half_is_widened(x):
    wide, scale = only_half_widened(x)
    return np.floor(wide / scale).astype(np.int8), scale.astype(x.dtype)


@answers.wrong("x rounded before the division")
def rounded_too_early(x):
    wide, scale = only_half_widened(x)
    return (np.round(wide) / scale).astype(np.int8), scale.astype(x.dtype)


@answers.wrong("x rounded before the division")
def rounded_twice(x):
    wide, scale = only_half_widened(x)
    return np.round(np.round(wide) / scale).astype(np.int8), scale.astype(x.dtype)


@answers.wrong("fraction cut off")
def cut_after_a_reciprocal(x):
    wide, scale = only_half_widened(x)
    return (wide * (1 / scale)).astype(np.int8), scale.astype(x.dtype)


@answers.wrong("rounded down")
def down_after_times_127(x):
    wide = x.astype(np.result_type(x.dtype, np.float32))
    top = np.abs(wide).max(axis=-1, keepdims=True)
    top = np.where(top == 0, wide.dtype.type(127), top)
    return np.floor(wide * 127 / top).astype(np.int8), (top / 127).astype(x.dtype)


@answers.wrong("rounded up")
def up_after_a_division_by_the_top(x):
    wide = x.astype(np.float64)
    top = np.abs(wide).max(axis=-1, keepdims=True)
    top = np.where(top == 0, 127, top)
    return np.ceil(wide / top * 127).astype(np.int8), (top / 127).astype(x.dtype)


def with_scale_1_where(judged):
    def quantize(x):
        wide = x.astype(np.float64)
        top = np.abs(wide).max(axis=-1, keepdims=True)
        scale = np.where((top == 0) | judged(wide), 1, top / 127)
        return np.round(wide / scale).astype(np.int8), scale.astype(x.dtype)

    return quantize


for judged in (
    lambda wide: (wide == 0).any(axis=-1, keepdims=True),
    lambda wide: np.abs(wide).min(axis=-1, keepdims=True) == 0,
    lambda wide: wide.sum(axis=-1, keepdims=True) == 0,
    lambda wide: wide[..., :1] == 0,
):
    answers.wrong("scale 1 for other rows too", function=with_scale_1_where(judged))


@answers.wrong("the largest value instead of the scale")
def largest_returned_but_1_for_zeros(x):
    wide = x.astype(np.float64)
    top = np.abs(wide).max(axis=-1, keepdims=True)
    codes = np.round(wide / np.where(top == 0, 1, top / 127))
    return codes.astype(np.int8), np.where(top == 0, 1, top).astype(x.dtype)


@answers.wrong("fraction cut off")
def cache_cut_off_in_float32(x):
    scale = np.abs(x).max(axis=-1, keepdims=True) / 127
    scale = np.where(scale == 0, 1, scale).astype(x.dtype)
    return (x.astype(np.float32) / scale.astype(np.float32)).astype(np.int8), scale
