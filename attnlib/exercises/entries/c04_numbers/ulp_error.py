"""The exercise ulp_error."""

import numpy as np

from ...model import PLAIN, Case, Exercise, Mistake, Step, alike

POWERS, SMALL, BELOW = "powers of 2", "very small numbers", "numbers below the normal range"


def ulp_error_answer(do, computed, exact):
    return do.finish(do.distance(do.difference(computed.astype(np.float64), exact)) / do.unit(exact, computed))


def _unit(exact):
    return np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)


def _at_computed(part):
    return {"unit": lambda exact, computed: np.spacing(part(computed.astype(np.float32))).astype(np.float64)}


def _in_float32(units):
    return np.asarray(units).astype(np.float32).astype(np.float64)


def _numbers_between(computed, exact):
    """The distance of the bits, read as integers."""
    def place(x):
        bits = np.asarray(x, np.float32).view(np.int32).astype(np.int64)
        return np.where(bits < 0, -2**31 - bits, bits)

    return np.abs(place(computed) - place(exact)).astype(np.float64)


def _cases():
    def case(aspect, steps, exact, extreme=False):
        exact = np.array(exact, np.float64)
        unit = _unit(exact)
        computed = (exact.astype(np.float32).astype(np.float64) + np.array(steps, np.float64) * unit).astype(np.float32)
        return Case(aspect, (computed, exact), extreme, relative=1e-9)

    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(5, 7)) * 10.0 ** rng.integers(-6, 6, size=(5, 7))
    inside = 1.5 * (1 + 1e-9)
    return [
        case(PLAIN, [0, 1, -2], [1.5, 3.25, 5.0 + 1e-7]), case(PLAIN, rng.integers(-9, 9, size=(5, 7)), drawn),
        case(PLAIN, rng.integers(-4, 4, size=(3, 11)), drawn.ravel()[:33].reshape(3, 11)),
        case(PLAIN, [3, 0, 1], [0.1, 0.2, 0.3]), case(PLAIN, 2, 0.7), case("negative numbers", [1, -1, 2], [-1.5, -0.1, -300.7]),
        case(POWERS, [0, 1, -1, 3], [1.0, 2.0, 4.0, 0.25]), case(POWERS, [1, -1], [-1.0, -8.0]),
        case("half a unit away", [0, 0], [inside, 1.0 + 2.0**-24]), case(SMALL, [1, -3], [1e-30, 3e-20]),
        case(BELOW, [1, 2], [1e-44, 3e-41]), case("large numbers", [1, -2], [3e30, 1e20]),
        case("several axes", np.ones((2, 3, 2)), drawn.ravel()[:12].reshape(2, 3, 2)),
    ]


EXERCISE = Exercise(
    name="ulp_error", signature="(computed, exact)", place=6, dtype="number",
    axes=dict(computed="n", exact="n"), answer_axes="n",
    text="The distance of float32 numbers from exact float64 ones in units in the last place: the unit is the distance "
         "of exact, rounded to float32, from its neighbour away from zero.",
    answer=ulp_error_answer,
    steps={
        "difference": Step(lambda computed, exact: computed - exact, "the difference"),
        "distance": Step(np.abs, "the distance"),
        "unit": Step(lambda exact, computed: _unit(exact), "the unit"),
        "finish": lambda units: units,
    },
    cases=_cases,
    hints=(
        "Subtract in float64, as NumPy does for float32 minus float64. Rounded to float32 before that, exact loses what is asked "
        "for.",
        "np.nextafter(x, np.inf) is x's neighbour above, in x's own dtype. The unit belongs to float32, so round exact to "
        "float32 first.",
        "np.spacing(np.abs(exact.astype(np.float32))) is the distance from the neighbour away from zero. Divide by it in "
        "float64.",
    ),
    mistakes=(
        *alike("The unit is that of float32 at the exact number: it doubles at every power of 2.",
               "How far apart are two neighbouring float32 numbers near 1, and how far near 1000?",
               ("unit of float64", {"unit": lambda exact, computed: np.spacing(np.abs(exact))}, "The unit is that of float64."),
               ("unit of float64 and its sign", {"unit": lambda exact, computed: np.spacing(exact)},
                "The unit is that of float64, and negative for negative numbers."),
               ("unit at the computed number", _at_computed(np.abs),
                "The unit is that at the computed number: below a power of 2 it is half as large as at the exact one."),
               ("unit at the computed number and its sign", _at_computed(lambda x: x),
                "The unit is that at the computed number, and negative for negative numbers."),
               ("the same unit everywhere", {"unit": lambda exact, computed: float(np.finfo(np.float32).eps)},
                "The unit is the spacing of float32 at 1, whatever the number is."),
               ("relative error instead of units", {"unit": lambda exact, computed: np.abs(exact)},
                "The answer is the relative error, in no unit."),
               ("relative error over the machine epsilon", {"unit": lambda exact, computed: np.abs(exact) * float(np.finfo(np.float32).eps)},
                "The relative error is divided by the machine epsilon: too small by a factor between 1 and 2."),
               ("absolute error", {"unit": lambda exact, computed: 1.0}, "The distance is not divided by any unit."),
               ("unit that goes on halving", {"unit": lambda exact, computed: 2.0 ** (np.floor(np.log2(np.abs(
                   exact.astype(np.float32).astype(np.float64)))) - 23)},
                "Below 1.2e-38 the unit goes on halving: there the numbers of float32 are all equally far apart."),
               ("half the unit", {"unit": lambda exact, computed: _unit(exact) / 2}, "The unit is half as large as it should be."),
               ("neighbour towards zero", {"unit": lambda exact, computed: (np.abs(exact.astype(np.float32)) - np.nextafter(
                   np.abs(exact.astype(np.float32)), np.float32(0))).astype(np.float64)},
                "At a power of 2 the unit is half as large as it should be: the neighbour towards zero is nearer."),
               ("unit of float16", {"unit": lambda exact, computed: np.spacing(np.abs(exact.astype(np.float16))).astype(np.float64)},
                "The unit is that of float16.")),
        Mistake("sign kept", change={"distance": lambda difference: difference},
                does="The answer is negative where computed is too small.", why="A distance has no sign.",
                ask="How far apart are 3 and 5, and how far 5 and 3?"),
        Mistake("sign of the unit kept", change={"unit": lambda exact, computed: np.spacing(exact.astype(np.float32)).astype(np.float64)},
                does="The answer is negative for negative numbers.",
                why="np.spacing of a negative number is negative: it points away from zero.",
                ask="What is np.spacing(-1.0)?"),
        Mistake("exact rounded before the distance", change={"difference": lambda computed, exact: (
            computed - exact.astype(np.float32).astype(np.float64))},
                does="The distance is that from the rounded exact number: whole units, and 0 where it should be up to 1/2.",
                why="The exact number lies between two float32 numbers; how far from computed is asked for.",
                ask="What is the error of the float32 number nearest to 0.1?"),
        Mistake("divided in float32", change=({"finish": _in_float32}, {"difference": lambda computed, exact: _in_float32(
            computed - exact)}),
                does="The answer has the digits of float32 alone, about 7.",
                why="np.spacing of a float32 number is one itself, and a float32 number divided by it stays float32. The answer "
                    "is asked for in float64.",
                ask="Which dtypes have the two numbers that you divide?"),
        Mistake("float32 numbers counted", change={"answer": _numbers_between},
                does="The answer counts the float32 numbers from the rounded exact number to computed: whole numbers.",
                why="The exact number lies between two float32 numbers; how far from computed is asked for. And below a power of "
                    "2 the gaps that are counted are half as large.",
                ask="What is the error of the float32 number nearest to 0.1?"),
        Mistake("mean error", change={"finish": lambda units: np.mean(units)}, does="The errors are averaged to one number.",
                why="Each number has an error of its own.", ask="Which shape should the answer have?"),
        Mistake("largest error alone", change={"finish": lambda units: np.max(units)}, does="Only the largest error is returned.",
                why="Each number has an error of its own.", ask="Which shape should the answer have?"),
    ),
)
