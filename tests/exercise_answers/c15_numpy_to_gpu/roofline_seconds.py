"""Answers to roofline_seconds, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("roofline_seconds")


answers.right(
    lambda flops, bytes_moved, peak_flops, bandwidth: max(
        flops / peak_flops, bytes_moved / bandwidth
    )
)


@answers.right()
def roofline_by_intensity(flops, bytes_moved, peak_flops, bandwidth):
    attained = min(peak_flops, flops / bytes_moved * bandwidth)
    return flops / attained


@answers.right()
def roofline_by_ridge(flops, bytes_moved, peak_flops, bandwidth):
    if flops / bytes_moved >= peak_flops / bandwidth:
        return flops / peak_flops
    return bytes_moved / bandwidth


@answers.right()
def roofline_in_numpy(flops, bytes_moved, peak_flops, bandwidth):
    return np.maximum(np.divide(flops, peak_flops), np.divide(bytes_moved, bandwidth))


@answers.wrong("sum instead of the larger time")
def roofline_sum(flops, bytes_moved, peak_flops, bandwidth):
    return flops / peak_flops + bytes_moved / bandwidth


@answers.wrong("sum instead of the larger time")
def roofline_sum_in_steps(flops, bytes_moved, peak_flops, bandwidth):
    seconds = flops / peak_flops
    seconds += bytes_moved / bandwidth
    return seconds


@answers.wrong("another formula: (flops + bytes_moved) / (peak_flops + bandwidth)")
def roofline_of_sums(flops, bytes_moved, peak_flops, bandwidth):
    return (flops + bytes_moved) / (peak_flops + bandwidth)


@answers.wrong("another formula: peak_flops / bandwidth")
def roofline_ridge(flops, bytes_moved, peak_flops, bandwidth):
    return peak_flops / bandwidth


@answers.wrong("the smaller time")
def roofline_min(flops, bytes_moved, peak_flops, bandwidth):
    return min(flops / peak_flops, bytes_moved / bandwidth)


@answers.wrong("the smaller time")
def roofline_ridge_reversed(flops, bytes_moved, peak_flops, bandwidth):
    if flops / bytes_moved < peak_flops / bandwidth:
        return flops / peak_flops
    return bytes_moved / bandwidth


@answers.wrong("memory ignored")
def roofline_compute(flops, bytes_moved, peak_flops, bandwidth):
    return flops / peak_flops


@answers.wrong("arithmetic ignored")
def roofline_memory(flops, bytes_moved, peak_flops, bandwidth):
    return bytes_moved / bandwidth


@answers.wrong("rate instead of time")
def roofline_attained(flops, bytes_moved, peak_flops, bandwidth):
    return min(peak_flops, bandwidth * flops / bytes_moved)


@answers.wrong("arithmetic intensity")
def roofline_intensity(flops, bytes_moved, peak_flops, bandwidth):
    return flops / bytes_moved


@answers.wrong("quotients upside down")
def roofline_reversed(flops, bytes_moved, peak_flops, bandwidth):
    return max(peak_flops / flops, bandwidth / bytes_moved)


@answers.wrong("limits swapped")
def roofline_swapped(flops, bytes_moved, peak_flops, bandwidth):
    return max(flops / bandwidth, bytes_moved / peak_flops)


@answers.wrong("another unit")
def roofline_milliseconds(flops, bytes_moved, peak_flops, bandwidth):
    return 1000 * max(flops / peak_flops, bytes_moved / bandwidth)


@answers.wrong("whole seconds only")
def roofline_floored(flops, bytes_moved, peak_flops, bandwidth):
    return max(flops // peak_flops, bytes_moved // bandwidth)


@answers.wrong("sum instead of the larger time", "another unit")
def roofline_sum_in_milliseconds(flops, bytes_moved, peak_flops, bandwidth):
    return (flops / peak_flops + bytes_moved / bandwidth) * 1e3


@answers.wrong("rounded")
def seconds_to_the_microsecond(flops, bytes_moved, peak_flops, bandwidth):
    return round(max(flops / peak_flops, bytes_moved / bandwidth), 6)


@answers.wrong("intensity upside down")
def seconds_by_bytes_per_operation(flops, bytes_moved, peak_flops, bandwidth):
    if bytes_moved / flops > peak_flops / bandwidth:
        return flops / peak_flops
    return bytes_moved / bandwidth


@answers.wrong("the other formula for some numbers")
def seconds_by_a_fixed_ridge(flops, bytes_moved, peak_flops, bandwidth):
    if flops > 200 * bytes_moved:
        return flops / peak_flops
    return bytes_moved / bandwidth


@answers.wrong("a root instead of the larger time")
def root_of_the_squares(flops, bytes_moved, peak_flops, bandwidth):
    return ((flops / peak_flops) ** 2 + (bytes_moved / bandwidth) ** 2) ** 0.5


@answers.wrong("whole seconds only")
def whole_seconds_of_memory(flops, bytes_moved, peak_flops, bandwidth):
    return max(flops / peak_flops, bytes_moved // bandwidth)


@answers.wrong("bytes per operation as the intensity")
def roofline_by_the_inverse_of_the_intensity(flops, bytes_moved, peak_flops, bandwidth):
    intensity = bytes_moved / flops
    return flops / min(peak_flops, intensity * bandwidth)
