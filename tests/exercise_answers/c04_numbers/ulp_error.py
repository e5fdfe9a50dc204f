"""Answers to ulp_error, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("ulp_error")


@answers.right()
def units_by_spacing(computed, exact):
    unit = np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)
    return np.abs(computed.astype(np.float64) - exact) / unit


@answers.right()
def units_by_neighbour(computed, exact):
    rounded = np.abs(exact).astype(np.float32)
    unit = np.nextafter(rounded, np.float32(np.inf)).astype(np.float64) - rounded.astype(np.float64)
    return abs(computed.astype(np.float64) - exact) / unit


@answers.right()
def units_by_exponent(computed, exact):
    _, exponent = np.frexp(np.abs(exact).astype(np.float32))
    unit = np.ldexp(1.0, np.maximum(exponent - 24, -149))
    return np.abs(np.float64(computed) - exact) / unit


def error(computed, exact):
    return np.abs(computed.astype(np.float64) - exact)


answers.wrong(
    "unit of float64",
    function=lambda computed, exact: error(computed, exact) / np.spacing(np.abs(exact)),
)
answers.wrong(
    "the same unit everywhere",
    function=lambda computed, exact: error(computed, exact) / np.finfo(np.float32).eps,
)
answers.wrong(
    "relative error instead of units",
    function=lambda computed, exact: error(computed, exact) / np.abs(exact),
)
answers.wrong(
    "relative error over the machine epsilon",
    function=lambda computed, exact: (
        error(computed, exact) / np.abs(exact) / np.finfo(np.float32).eps.astype(np.float64)
    ),
)
answers.wrong("absolute error", function=error)
answers.wrong(
    "sign of the unit kept",
    function=lambda computed, exact: (
        error(computed, exact) / np.spacing(exact.astype(np.float32)).astype(np.float64)
    ),
)
answers.wrong(
    "sign kept",
    function=lambda computed, exact: (
        (computed.astype(np.float64) - exact)
        / np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)
    ),
)
answers.wrong(
    "neighbour towards zero",
    function=lambda computed, exact: (
        error(computed, exact)
        / (
            np.abs(exact.astype(np.float32))
            - np.nextafter(np.abs(exact.astype(np.float32)), np.float32(0))
        ).astype(np.float64)
    ),
)


@answers.wrong("fractions of a unit lost")
def units_in_float32(computed, exact):
    rounded = exact.astype(np.float32)
    return np.abs(computed - rounded).astype(np.float64) / np.spacing(np.abs(rounded)).astype(
        np.float64
    )


answers.wrong(
    "unit of float64 and its sign",
    function=lambda computed, exact: np.abs(computed - exact) / np.spacing(exact),
)
answers.wrong(
    "unit at the computed number",
    function=lambda computed, exact: np.abs(computed - exact) / np.spacing(np.abs(computed)),
)
answers.wrong(
    "unit at the computed number and its sign",
    function=lambda computed, exact: np.abs(computed - exact) / np.spacing(computed),
)
answers.right(
    lambda computed, exact: np.abs(computed - exact) / np.spacing(np.abs(exact).astype(np.float32))
)


@answers.wrong("float32 numbers counted")
def units_by_bits(computed, exact):
    return np.abs(computed.view(np.int32) - exact.astype(np.float32).view(np.int32)).astype(
        np.float64
    )


answers.wrong(
    "answer in float32",
    "unit at the computed number",
    function=lambda computed, exact: (
        np.abs(computed - exact).astype(np.float32) / np.spacing(np.abs(computed))
    ),
)


@answers.wrong("sign kept", "fractions of a unit lost")
def units_of_float32_numbers(computed, exact):
    rounded = exact.astype(np.float32)
    return (computed.astype(np.float64) - rounded) / np.spacing(np.abs(rounded)).astype(np.float64)


@answers.wrong("unit halved without end")
def units_by_logarithm(computed, exact):
    exponent = np.floor(np.log2(np.abs(exact.astype(np.float32).astype(np.float64))))
    return np.abs(computed - exact) / 2.0 ** (exponent - 23)


answers.wrong(
    "mean error",
    function=lambda computed, exact: np.mean(
        np.abs(computed - exact) / np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)
    ),
)


@answers.wrong("neighbour above")
def ulp_to_the_number_above(computed, exact):
    rounded = exact.astype(np.float32)
    above = np.nextafter(rounded, np.float32(np.inf))
    gap = above.astype(np.float64) - rounded.astype(np.float64)
    return np.abs(computed.astype(np.float64) - exact) / gap


@answers.wrong("answer in float32")
def ulp_error_converted_at_the_end(computed, exact):
    unit = np.spacing(np.abs(exact.astype(np.float32)))
    return (np.abs(computed - exact) / unit).astype(np.float32)


@answers.wrong("unit of the unrounded number")
def ulps_by_frexp(computed, exact):
    gap = np.ldexp(1.0, np.maximum(np.frexp(exact)[1] - 24, -149))
    return np.abs(computed - exact) / gap


@answers.wrong("fractions of a unit lost")
def ulps_rounded(computed, exact):
    gap = np.abs(np.spacing(exact.astype(np.float32)))
    return np.round(np.abs(computed - exact) / gap)


@answers.wrong("signs left out")
def between_absolute_values(computed, exact):
    unit = np.spacing(np.abs(exact.astype(np.float32))).astype(float)
    return np.abs(np.abs(computed.astype(float)) - np.abs(exact)) / unit


@answers.wrong("larger of the two units")
def by_the_larger_unit(computed, exact):
    units = [np.spacing(np.abs(x.astype(np.float32))).astype(float) for x in (computed, exact)]
    return np.abs(computed.astype(float) - exact) / np.maximum(*units)
