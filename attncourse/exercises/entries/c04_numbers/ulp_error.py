import numpy as np

from ...model import PLAIN, Case
from ...pages import written

POWERS, SMALL, BELOW = "powers of 2", "very small numbers", "numbers below the normal range"


def ulp_error(computed, exact):
    difference = computed.astype(np.float64) - exact  #: the difference
    distance = np.abs(difference)  #: the distance
    unit = unit_of(exact)  #: the unit
    units = distance / unit
    return units


def near(exact, dtype=np.float32):
    return np.abs(exact.astype(dtype))


def unit_of(exact, spacing=np.spacing):
    return spacing(near(exact)).astype(np.float64)


def unrounded_unit(exact):
    """The unit of float32 where the exact number itself lies."""
    return np.ldexp(1.0, np.maximum(np.frexp(exact)[1] - 24, -149))


def in_float32(units):
    return np.asarray(units).astype(np.float32).astype(np.float64)


def numbers_between(computed, exact):
    """The distance of the bits, read as integers."""

    def place(x):
        bits = np.asarray(x, np.float32).view(np.int32).astype(np.int64)
        return np.where(bits < 0, -(2**31) - bits, bits)

    return np.abs(place(computed) - place(exact)).astype(np.float64)


def _cases():
    def case(aspect, steps, exact, extreme=False):
        exact = np.array(exact, np.float64)
        steps = np.array(steps, np.float64) * unit_of(exact)
        computed = (exact.astype(np.float32).astype(np.float64) + steps).astype(np.float32)
        return Case(aspect, (computed, exact), extreme, relative=1e-9)

    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(5, 7)) * 10.0 ** rng.integers(-6, 6, size=(5, 7))
    inside = 1.5 * (1 + 1e-9)
    return [
        case(PLAIN, [0, 1, -2], [1.5, 3.25, 5.0 + 1e-7]),
        case(PLAIN, rng.integers(-9, 9, size=(5, 7)), drawn),
        case(PLAIN, rng.integers(-4, 4, size=(3, 11)), drawn.ravel()[:33].reshape(3, 11)),
        case(PLAIN, [3, 0, 1], [0.1, 0.2, 0.3]),
        case(PLAIN, 2, 0.7),
        case("negative numbers", [1, -1, 2], [-1.5, -0.1, -300.7]),
        case(POWERS, [0, 1, -1, 3], [1.0, 2.0, 4.0, 0.25]),
        case(POWERS, [1, -1], [-1.0, -8.0]),
        # rounded to float32 they are 1 and -4
        case(POWERS, [1], [1 - 1e-9]),
        case(POWERS, [0, 2], [-(4 - 1e-8), 1 - 1e-9]),
        case(POWERS, [3], [1 - 2.0**-24]),  # just below 1, and computed just above it
        Case(
            "opposite signs",
            (np.array([-0.1, 2.0], np.float32), np.array([0.1, -2.0])),
            relative=1e-9,
        ),
        case("half a unit away", [0, 0], [inside, 1.0 + 2.0**-24]),
        case(SMALL, [1, -3], [1e-30, 3e-20]),
        case(BELOW, [1, 2], [1e-44, 3e-41]),
        case("large numbers", [1, -2], [3e30, 1e20]),
        case("several axes", np.ones((2, 3, 2)), drawn.ravel()[:12].reshape(2, 3, 2)),
    ]


EXERCISE = written(
    ulp_error,
    place=6,
    dtype="number",
    axes=dict(computed="n", exact="n"),
    answer_axes="n",
    cases=_cases,
)
