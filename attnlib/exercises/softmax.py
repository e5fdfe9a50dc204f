"""The exercises of the part "The softmax", and the steps and mistakes that later parts reuse."""

from dataclasses import replace

import numpy as np

from .engine import FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, SMALL, SQUARE, Case, Exercise, Mistake, normal
from .raw_scores import FILLS, ZERO_FILL

PART = "The softmax"


# ---------------------------------------------------------------- the steps of every softmax

def softmax_steps_answer(do, scores, axis):
    """softmax(scores, axis) step by step; attention calls it too."""
    axis = do.axis(axis, scores)
    scores = do.scores_in(scores)
    powers = do.exponential(do.shift(scores, axis), axis)
    return do.weights_out(do.divide(powers, do.total(powers, axis)))


SOFTMAX_STEPS = {
    "axis": lambda axis, scores: axis,
    "scores_in": lambda scores: scores,
    "shift": lambda scores, axis: scores - scores.max(axis=axis, keepdims=True),
    "exponential": lambda shifted, axis: np.exp(shifted),
    "total": lambda powers, axis: powers.sum(axis=axis, keepdims=True),
    "divide": lambda powers, total: powers / total,
    "weights_out": lambda weights: weights,
}


def _no_shift(scores, axis):
    return scores


def _one_hot(scores, axis):
    hot = scores == scores.max(axis=axis, keepdims=True)
    return hot / 1.0


def _first_hot(scores, axis):
    if axis is None:
        return _first_hot(scores.ravel(), -1).reshape(scores.shape)
    hot = np.zeros_like(scores)
    np.put_along_axis(hot, scores.argmax(axis=axis, keepdims=True), 1.0, axis)
    return hot


def _reduced(reduce):
    return lambda scores, axis: scores - reduce(scores, axis=axis, keepdims=True)


def _reduced_everywhere(reduce):
    return lambda scores, axis: scores - reduce(scores)


NO_MAXIMUM = Mistake(
    "no maximum subtracted", change={"shift": _no_shift},
    does="For small scores it is right. For scores above 709 (above 88 in float32, above 11 in float16) exp "
         "overflows, and inf / inf is NaN; for a row far below 0 it is 0 / 0.",
    why="The softmax does not change when a number is subtracted from all scores of a row; with "
        "the row's maximum no exponent is above 0.",
    ask="Which number can be subtracted from every score of a row so that exp never overflows?")

SHIFT_MISTAKES = (
    NO_MAXIMUM,
    Mistake("minimum subtracted instead of maximum",
            change=({"shift": _reduced(np.min)}, {"shift": _reduced_everywhere(np.min)}),
            does="The lowest score of a row becomes 0, and the highest may still overflow.",
            why="Only large positive exponents overflow: the largest score has to become 0.",
            ask="Which exponents overflow, large positive or large negative ones?"),
    Mistake("mean subtracted instead of maximum",
            change=({"shift": _reduced(np.mean)}, {"shift": _reduced_everywhere(np.mean)}),
            does="A score far above the mean of its row still overflows; and one score of -inf makes "
                 "the whole row NaN.",
            why="Only with the maximum is no exponent above 0.",
            ask="What is the largest exponent left after your subtraction?"),
    Mistake("one maximum for the whole array", change={"shift": _reduced_everywhere(np.max)},
            does="A row that lies far below the largest score of all underflows to 0 / 0.",
            why="Each row needs its own maximum, so that its largest power is 1.",
            ask="What is left of a row whose scores all lie 10000 below another row's?"),
    Mistake("one score subtracted instead of the maximum",
            change=tuple({"shift": lambda s, axis, i=i: s - np.take(s, [i], axis=-1 if axis is None else axis)}
                         for i in (0, -1)),
            does="The first or the last score of a row is subtracted; a score far above it still overflows.",
            why="Only with the maximum is no exponent above 0.",
            ask="What is the largest exponent left after your subtraction?"),
    Mistake("maximum of absolute values",
            change=({"shift": lambda s, axis: s - np.abs(s).max(axis=axis, keepdims=True)},),
            does="A row of large negative scores underflows to 0 / 0; a score of -inf spoils its row.",
            why="The largest score itself has to become 0, whatever its sign.",
            ask="What is subtracted from the row -10000, -9999?"),
    Mistake("divided by the maximum",
            change=({"shift": lambda s, axis: s / s.max(axis=axis, keepdims=True)},
                    {"shift": lambda s, axis: s / np.abs(s).max(axis=axis, keepdims=True)}),
            does="The scores are divided by their maximum, which changes their differences.",
            why="A softmax depends on the differences of scores. Subtracting keeps them, dividing "
                "does not.",
            ask="Which operation on all scores of a row leaves the softmax as it is?"),
    Mistake("maximum added", change={"shift": lambda s, axis: s + s.max(axis=axis, keepdims=True)},
            does="Large scores become twice as large before exp.",
            why="The maximum has to be subtracted, so that the largest exponent is 0.",
            ask="What is the largest exponent after your shift?"),
    Mistake("scores clipped",
            change=tuple({"shift": lambda s, axis, c=c: np.clip(s, -c, c)} for c in
                         (10, 20, 30, 50, 80, 88, 100, 500, 700)) +
                   tuple({"shift": lambda s, axis, c=c: np.minimum(s, c)} for c in
                         (50, 80, 88, 100, 500, 700)),
            does="Large scores are cut to a limit, and their differences disappear.",
            why="Two scores of 10000 and 9999 have the weights of 1 and 0, not equal ones.",
            ask="What should the softmax of 10000, 9999 be?"),
    Mistake("standardised scores",
            change=({"shift": lambda s, axis: (s - s.mean(axis=axis, keepdims=True)) / s.std(axis=axis, keepdims=True)},
                    {"shift": lambda s, axis: (s - s.max(axis=axis, keepdims=True)) / s.std(axis=axis, keepdims=True)}),
            does="The scores are divided by their standard deviation.",
            why="That changes their differences, and so the weights.",
            ask="Which operation on all scores of a row leaves the softmax as it is?"),
)

EXPONENTIAL_MISTAKES = (
    Mistake("no exponential", change=({"shift": _no_shift, "exponential": lambda s, axis: s},
                                      {"exponential": lambda s, axis: s}),
            does="The scores are divided by their sum.",
            why="Scores may be negative, and their sum 0. exp makes every one positive and turns "
                "differences into ratios.",
            ask="What weight does a negative score get, and what should it get?"),
    Mistake("absolute values instead of exponentials",
            change={"shift": _no_shift, "exponential": lambda s, axis: np.abs(s)},
            does="A score of -3 gets as much weight as one of 3.",
            why="A lower score must get a lower weight, also below 0.",
            ask="Which of the scores -3 and 1 should get more weight?"),
    Mistake("squares instead of exponentials",
            change={"shift": _no_shift, "exponential": lambda s, axis: s ** 2},
            does="A score of -3 gets as much weight as one of 3.",
            why="A lower score must get a lower weight, also below 0.",
            ask="Which of the scores -3 and 1 should get more weight?"),
    Mistake("power of 2 instead of e", change={"exponential": lambda s, axis: np.exp2(s)},
            does="The weights are those of scores multiplied by log 2: too even.",
            why="The softmax is defined with e. Kernels use powers of 2 after multiplying the scores "
                "by log2(e).",
            ask="How is exp(x) written as a power of 2?"),
    Mistake("power of 10 instead of e", change={"exponential": lambda s, axis: 10.0 ** s},
            does="The weights are those of scores multiplied by log 10: too uneven.",
            why="The softmax is defined with e.",
            ask="Which base has the exponential of the softmax?"),
    Mistake("expm1 instead of exp", change={"exponential": lambda s, axis: np.expm1(s)},
            does="1 is missing from every power.",
            why="Powers must be positive; exp(s) - 1 is not.",
            ask="What is exp(0)?"),
    Mistake("sigmoid instead of softmax",
            change={"shift": _no_shift, "exponential": lambda s, axis: 1 / (1 + np.exp(-s)),
                    "divide": lambda powers, total: powers},
            does="Each score is turned into a number between 0 and 1 by itself.",
            why="In a softmax the scores of a row compete: their weights sum to 1.",
            ask="What must happen to a weight if another score of the row grows?"),
    Mistake("argmax instead of softmax",
            change=({"shift": _no_shift, "exponential": _one_hot, "divide": lambda p, t: p},
                    {"shift": _no_shift, "exponential": _one_hot},
                    {"shift": _no_shift, "exponential": _first_hot, "divide": lambda p, t: p}),
            does="The largest score gets the weight 1, all others 0.",
            why="The softmax gives every score a positive weight. The hard maximum has no useful gradient.",
            ask="How much more weight should a score get that is larger by 1?"),
)

SIGN = Mistake(
    "sign flipped",
    change=({"scores_in": lambda s: -s},
            {"shift": lambda s, axis: s.max(axis=axis, keepdims=True) - s},
            {"shift": lambda s, axis: -s}),
    does="The lowest score gets the largest weight.",
    why="A higher score means a better match, and must get more weight.",
    ask="Which score of a row should get the largest weight?")

EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)

NO_DIVISION = Mistake(
    "not divided by the sum",
    change=({"divide": lambda powers, total: powers},
            # the largest power is 1 once the maximum is subtracted
            {"total": lambda powers, axis: powers.max(axis=axis, keepdims=True)}),
    does="The weights are the bare exponentials: a row does not sum to 1.",
    why="Weights are shares of one whole. Dividing by the largest power, or by nothing, makes the "
        "largest weight 1 and leaves the row's sum as it comes.",
    ask="What must the weights of one query sum to?")

TOTAL_MISTAKES = (
    NO_DIVISION,
    Mistake("divided by the mean", change={"total": lambda p, axis: p.mean(axis=axis, keepdims=True)},
            does="Each row sums to its own length, not to 1.",
            why="The mean is the sum divided by the number of scores; that number stays in the weights.",
            ask="What does a row sum to after your division?"),
    Mistake("divided by the Euclidean length",
            change={"total": lambda p, axis: np.sqrt((p ** 2).sum(axis=axis, keepdims=True))},
            does="The squares of a row's weights sum to 1, not the weights.",
            why="Weights are shares of one whole: divide by the sum.",
            ask="What does a row sum to after your division?"),
    Mistake("divided by the number of scores",
            change={"total": lambda p, axis: p.size if axis is None else p.shape[axis]},
            does="The powers are divided by how many there are.",
            why="The sum of the powers makes a row sum to 1; their number does not.",
            ask="What does a row sum to after your division?"),
    Mistake("one sum for the whole array", change={"total": lambda p, axis: p.sum()},
            does="All entries together sum to 1; each row should.",
            why="Each query has weights of its own.",
            ask="Over which entries does the sum run, and over which should it?"),
    Mistake("sum over the wrong axis",
            change=({"total": lambda p, axis: p.sum(axis=-2, keepdims=True)},
                    {"total": lambda p, axis: p.sum(axis=0, keepdims=True)}),
            does="The powers are divided by sums over the queries.",
            why="The weights of one query sum to 1 over the keys.",
            ask="Which axis must disappear in the sum?"),
    Mistake("sum without keepdims", change={"total": lambda p, axis: p.sum(axis=axis)},
            does="Row i's sum divides column i instead of row i, where the shapes fit at all.",
            why="Without keepdims the sums are a row, and broadcasting lines them up with the columns.",
            ask="What is the shape of the sums, and how does it line up with the powers?"),
    Mistake("epsilon in the denominator",
            change=tuple({"total": lambda p, axis, e=e: p.sum(axis=axis, keepdims=True) + e} for e in EPSILONS),
            does="Each row sums to a little less than 1.",
            why="With the maximum subtracted the sum is at least 1 and never 0; a small number added "
                "to it only makes the weights wrong.",
            ask="How small can the sum get once the maximum is subtracted?"),
    Mistake("logarithm of the softmax", change={"divide": lambda p, t: np.log(p / t)},
            does="The answer holds logarithms of weights: all are negative.",
            why="Weights are asked for, positive and with sum 1.",
            ask="What is the last operation of a softmax?"),
)

AXIS_MISTAKES = (
    Mistake("softmax over everything", change={"axis": lambda axis, scores: None},
            does="All entries together sum to 1; each row should.",
            why="Each query has a softmax of its own, over its keys.",
            ask="Which entries compete with each other for one query's attention?"),
    Mistake("softmax over the queries' axis", change={"axis": lambda axis, scores: -2},
            does="Each column of the weights sums to 1, each row does not.",
            why="The keys compete for each query, and the last axis runs over the keys.",
            ask="Along which axis must the weights of one query sum to 1?"),
    Mistake("softmax over the first axis", change={"axis": lambda axis, scores: 0},
            does="The weights sum to 1 over the first axis, which is the batch if there are leading axes.",
            why="The keys compete for each query, and the last axis runs over the keys.",
            ask="Which index counts from the end, and names the keys' axis always?"),
    Mistake("softmax over the second axis", change={"axis": lambda axis, scores: 1},
            does="For two axes it is right; with leading axes the weights sum to 1 over another one.",
            why="axis=1 is the last axis only if there are two.",
            ask="Which index counts from the end, and names the keys' axis always?"),
)

AFTER_MISTAKES = (
    Mistake("rounded", change=tuple({"weights_out": lambda w, n=n: np.round(w, n)} for n in (1, 2, 3, 4, 5, 6, 8)),
            does="The weights are rounded.",
            why="Rounded weights do not sum to 1, and small ones disappear.",
            ask="Which of your operations throws digits away?"),
    Mistake("softmax twice", change={"weights_out": lambda w: np.exp(w) / np.exp(w).sum(axis=-1, keepdims=True)},
            does="The weights go through a second softmax, and are nearly equal.",
            why="A softmax of weights between 0 and 1 cannot be far from uniform.",
            ask="How often should exp be taken?"),
)

# ---------------------------------------------------------------- softmax_row

def _row_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, row, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(row, dtype),), extreme)

    return [
        case(PLAIN, [0, 1]), case(PLAIN, [1, -2, 3]), case(PLAIN, [1.0, 0.5, 2.5, -0.1]), case(PLAIN, [2]),
        Case(PLAIN, (normal(11, seed=1),)), Case(PLAIN, (normal(7, seed=2),)),
        case("equal scores", [3, 3, 3, 3]),
        Case(SMALL, (normal(5, seed=3) * 1e-3,)),
        *extreme_rows(case),
        case(FLOAT32, [1, 2, 4], f4), case(FLOAT32, [80, 100, 99, 101], f4, True), case(FLOAT16, [1, 2, 0.5], f2),
        case(FLOAT16, [20, 21, 19], f2, True),
    ]


def extreme_rows(case):
    """Rows that tell no shift, minimum, mean, absolute maximum and clipping apart."""
    return [
        case(HUGE, [10000, 9999], extreme=True), case(HUGE, [-10000, -9999], extreme=True),
        case(HUGE, [10000, 0, -10000], extreme=True),
        case(HUGE, [1000, 1000, 999, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 0], extreme=True),
        case(HUGE, [30, 28, -40], extreme=True), case(HUGE, [400, 399, 0], extreme=True),
        case(HUGE, [0, 10000, 9999], extreme=True), case(HUGE, [9999, 10000, 0], extreme=True),
        case(HUGE, [-800, -10, -9], extreme=True),
    ]


softmax_row = Exercise(
    name="softmax_row", signature="(scores)", part=PART,
    text="The softmax of one row of scores, right for scores of ±10000 too.",
    answer=lambda do, scores: softmax_steps_answer(do, scores, None), steps=SOFTMAX_STEPS, cases=_row_cases,
    hints=(
        "Make every score positive with exp; then divide by what makes the row sum to 1.",
        "exp(1000) overflows. The softmax does not change when the same number is subtracted from "
        "every score: which number makes all exponents 0 or less?",
        "Subtract scores.max() first, then take np.exp, then divide by the sum of the powers.",
    ),
    mistakes=SHIFT_MISTAKES[:3] + SHIFT_MISTAKES[4:] + EXPONENTIAL_MISTAKES + (SIGN,) + tuple(
        m for m in TOTAL_MISTAKES if m.name not in (
            "one sum for the whole array", "sum over the wrong axis", "sum without keepdims")) + AFTER_MISTAKES,
)

# ---------------------------------------------------------------- softmax

AXIS_GIVEN = "an axis given"


def _softmax_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, scores, *axis, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), *axis), extreme)

    def rowwise(aspect, row, extreme):
        return case(aspect, [row, [0.0] * (len(row) - 1) + [1.0]], extreme=extreme)

    inf = np.inf
    return [
        case(PLAIN, [[0, 1, 3], [2, 5, 4]]), case(PLAIN, [[1, -2, 3]]),
        Case(PLAIN, (normal(5, 7, seed=1),)), Case(PLAIN, (normal(7, 3, seed=2),)),
        case(SQUARE, [[0, 1], [2, 5]]), Case(SQUARE, (normal(5, 5, seed=3),)),
        case("one axis", [0, 1, 3]), Case("one axis", (normal(7, seed=4),)),
        case(LEADING, [[[0, 1], [2, 5]]]), Case(LEADING, (normal(2, 5, 3, seed=5),)), Case(LEADING, (normal(2, 3, 5, 7, seed=6),)),
        case(AXIS_GIVEN, [[0, 1], [2, 5]], 0), Case(AXIS_GIVEN, (normal(5, 3, seed=7), 0)),
        Case(AXIS_GIVEN, (normal(5, 3, seed=7), 1)), Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), 1)),
        Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), -2)), Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), -3)),
        Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), 2)),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3,)),
        case(HUGE, [[10000, 9999], [0, 1]], extreme=True), case(HUGE, [[-10000, -9999], [0, 1]], extreme=True),
        *extreme_rows(lambda aspect, row, extreme: rowwise(aspect, row, extreme)),
        case(NEG_INF, [[0, -inf], [1, 2]], extreme=True), case(NEG_INF, [[1, -inf, 3], [-inf, -inf, 2]], extreme=True),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], dtype=f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], dtype=f4, extreme=True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], dtype=f2), case(FLOAT16, [[20, 21, 19], [0, 1, 2]], dtype=f2, extreme=True),
    ]


def _always(axis):
    return lambda given, scores: axis


softmax = Exercise(
    name="softmax", signature="(scores, axis=-1)", part=PART,
    text="The softmax along any one axis of an array with any number of axes, right for huge "
         "scores and for scores of -inf (never a whole row of them).",
    answer=lambda do, scores, axis=-1: softmax_steps_answer(do, scores, axis),
    steps=SOFTMAX_STEPS, cases=_softmax_cases,
    hints=(
        "Begin with one row: exp of each score, divided by the sum of these powers.",
        "Subtract the maximum first, so that no power overflows. Each row needs its own maximum.",
        "np.max and np.sum take an axis. With keepdims=True the axis stays, with length 1, so that "
        "the result lines up with the scores again.",
        "Three lines: subtract scores.max(axis=axis, keepdims=True); take np.exp; divide by the sum "
        "of the powers over the same axis, again with keepdims=True.",
    ),
    mistakes=(
        *SHIFT_MISTAKES, *EXPONENTIAL_MISTAKES, SIGN, *TOTAL_MISTAKES, *AXIS_MISTAKES, *AFTER_MISTAKES,
        Mistake("axis ignored", change={"axis": _always(-1)},
                does="The softmax always runs along the last axis.",
                why="The caller says along which axis to work; -1 is only the default.",
                ask="Where does your function use its parameter axis?"),
        Mistake("sum put back on the last axis",
                change=({"total": lambda p, axis: p.sum(axis=axis)[..., None]},),
                does="For the last axis it is right. For another one the sums line up with the wrong axis.",
                why="[..., None] adds an axis at the end; keepdims=True keeps the axis where it was.",
                ask="Where does the axis that was summed over belong?"),
        Mistake("maximum without keepdims", change={"shift": lambda s, axis: s - s.max(axis=axis)},
                does="Row i's maximum is subtracted from column i, where the shapes fit at all.",
                why="Without keepdims the maxima are a row, and broadcasting lines them up with the columns.",
                ask="What is the shape of the maxima, and how does it line up with the scores?"),
        Mistake("maximum put back on the last axis", change={"shift": lambda s, axis: s - s.max(axis=axis)[..., None]},
                does="For the last axis it is right. For another one the maxima line up with the wrong axis.",
                why="[..., None] adds an axis at the end; keepdims=True keeps the axis where it was.",
                ask="Where does the axis that was reduced belong?"),
        Mistake("maximum over the wrong axis",
                change=({"shift": lambda s, axis: s - s.max(axis=-2, keepdims=True)},
                        {"shift": lambda s, axis: s - s.max(axis=0, keepdims=True)}),
                does="The maximum of each column is subtracted: rows are moved by different numbers within themselves.",
                why="Within a row the same number must be subtracted from all scores, or their "
                    "differences change.",
                ask="Which number may be subtracted without changing a row's softmax?"),
    ),
)

# ---------------------------------------------------------------- helpers of the entries below

def named(name, *lists):
    """The mistake of this name from lists of mistakes."""
    return next(mistake for mistakes in lists for mistake in mistakes if mistake.name == name)


KEEPDIMS_MISTAKES = tuple(named(name, softmax.mistakes) for name in (
    "maximum without keepdims", "maximum over the wrong axis"))

PUT_BACK_MISTAKES = tuple(named(name, softmax.mistakes) for name in (
    "axis ignored", "sum put back on the last axis", "maximum put back on the last axis"))

# ---------------------------------------------------------------- temperature_softmax

def temperature_softmax_answer(do, scores, temperature):
    axis = do.axis(-1, scores)
    tempered = do.temper(do.scores_in(scores), temperature)
    shifted = do.shift_late(do.shift(tempered, axis), scores, temperature)
    powers = do.exponential(shifted, axis)
    total = do.total(do.below(powers, temperature), axis)
    weights = do.divide(do.above(powers, temperature), total)
    return do.weights_out(do.weights_late(weights, temperature))


def _untempered(scores, temperature):
    return scores


def _renormalised_power(weights, temperature):
    powers = weights ** (1 / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


LOW, HIGH = "a low temperature", "a high temperature"


def _temperature_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, scores, temperature, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), temperature), extreme)

    def huge(row, temperature):
        return case(HUGE, [row, [0.0] * (len(row) - 1) + [1.0]], temperature, extreme=True)

    return [
        case(PLAIN, [[0, 2, 6], [2, 4, 8]], 2.0), case(PLAIN, [[1, -2, 3]], 0.5), case(PLAIN, [[0, 3], [3, 6]], 3),
        Case(PLAIN, (normal(5, 7, seed=1), 2.0)), Case(PLAIN, (normal(7, 3, seed=2), 0.5)),
        Case(PLAIN, (normal(7, 11, seed=3), 0.7)),
        case(SQUARE, [[0, 2], [4, 10]], 2.0), Case(SQUARE, (normal(5, 5, seed=3), 3.0)),
        case("one axis", [0, 2, 6], 2.0), Case("one axis", (normal(7, seed=4), 0.5)),
        case("a temperature of 1", [[0, 1, 3], [2, 5, 4]], 1.0), Case("a temperature of 1", (normal(5, 3, seed=5), 1)),
        case(LEADING, [[[0, 2], [4, 10]]], 2.0), Case(LEADING, (normal(2, 5, 3, seed=5), 0.5)),
        Case(LEADING, (normal(2, 3, 5, 7, seed=6), 3.0)),
        case(LOW, [[0.0, 0.01, 0.02]], 0.01), Case(LOW, (normal(3, 5, seed=7) * 0.1, 0.01)),
        case(HIGH, [[0, 100, 300]], 100.0), case(HIGH, [[10000, 9000], [0, 1000]], 1000.0, extreme=True),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3, 0.5)),
        huge([10000, 9999], 0.5), huge([-10000, -9999], 0.5), huge([10000, 9990], 10.0),
        huge([-10000, -9990], 10.0), huge([2000, 1999], 0.9), huge([-2000, -1999], 0.9),
        *extreme_rows(lambda aspect, row, extreme: huge([score / 2 for score in row], 0.5)),
        case(FLOAT32, [[0, 2, 6], [2, 4, 8]], 2.0, f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4), 0.5)),
        case(FLOAT32, [[40, 50, 49.5], [50.5, 0.5, 50]], 0.5, f4, True),
        case(FLOAT16, [[0, 2, 6], [2, 4, 1]], 2.0, f2), case(FLOAT16, [[10, 10.5, 9.5], [0, 1, 2]], 0.5, f2, True),
    ]


TEMPERATURE_MISTAKES = (
    Mistake("temperature ignored", change={"temper": _untempered},
            does="The weights are the same at every temperature.",
            why="Scores are divided by the temperature: a high one evens the weights out, a low one "
                "sharpens them. What is added to all scores of a row, or multiplied with all powers, "
                "has no effect at all.",
            ask="Where in your function does the temperature change the ratio of two weights?"),
    Mistake("multiplied by the temperature", change={"temper": lambda s, t: s * t},
            does="A high temperature sharpens the weights, a low one evens them out.",
            why="It is the other way round: scores are divided by the temperature.",
            ask="What should happen to the weights when the temperature becomes very high?"),
    Mistake("temperature after the softmax",
            change=tuple({"temper": _untempered, "weights_late": late} for late in (
                lambda w, t: w / t, lambda w, t: w * t, lambda w, t: w ** (1 / t), lambda w, t: w ** t,
                _renormalised_power)),
            does="The temperature changes the weights of an ordinary softmax, not the scores.",
            why="Then the rows no longer sum to 1; or, if they are made to, a weight that underflowed "
                "to 0 stays 0 at any temperature.",
            ask="What has to be divided by the temperature, the scores or the weights?"),
    Mistake("temperature only above the fraction line", change={"below": lambda p, t: p ** t},
            does="The powers above the fraction line have the temperature, their sum has not.",
            why="The sum must run over the same powers, or the rows do not sum to 1.",
            ask="What do the weights of a row sum to?"),
    Mistake("temperature only below the fraction line", change={"above": lambda p, t: p ** t},
            does="The sum has the temperature, the powers above the fraction line have not.",
            why="The sum must run over the same powers, or the rows do not sum to 1.",
            ask="What do the weights of a row sum to?"),
    Mistake("square root of the temperature", change={"temper": lambda s, t: s / np.sqrt(t)},
            does="The scores are divided by the square root of the temperature.",
            why="The square root belongs to d_k in the scale of the scores, not to the temperature.",
            ask="Which number should two scores that differ by the temperature differ by?"),
    Mistake("square of the temperature",
            change=({"temper": lambda s, t: s / t ** 2}, {"temper": lambda s, t: s * t ** 2}),
            does="The temperature enters twice.",
            why="Scores are divided by the temperature once.",
            ask="In which lines does your function use the temperature?"),
    Mistake("square of the scores over the temperature", change={"temper": lambda s, t: s * s / t},
            does="Each score is squared before it is divided.",
            why="A score of -3 would get as much weight as one of 3.",
            ask="What happens to the sign of a score in your function?"),
    Mistake("floor division", change={"temper": lambda s, t: s // t},
            does="The scores are divided by the temperature and rounded down.",
            why="// throws the fraction away, and with it differences between scores.",
            ask="Which operator divides without rounding?"),
    Mistake("epsilon added to the temperature",
            change=tuple({"temper": lambda s, t, e=e: s / (t + e)} for e in EPSILONS),
            does="The scores are divided by slightly more than the temperature.",
            why="The temperature is above 0; a small number added to it shows at low temperatures.",
            ask="Can the temperature be 0 here?"),
    Mistake("temperature never below 1", change={"temper": lambda s, t: s / max(t, 1)},
            does="Temperatures below 1 count as 1.",
            why="A temperature below 1 sharpens the weights.",
            ask="What should a temperature of 0.5 do?"),
    Mistake("temperature as the base of the power", change={"temper": lambda s, t: s * np.log(t)},
            does="The powers are temperature ** score.",
            why="The base stays e; the temperature divides the exponent.",
            ask="What would the weights be at a temperature of 1?"),
    Mistake("maximum of the undivided scores",
            change={"shift": _no_shift,
                    "shift_late": lambda tempered, s, t: tempered - s.max(axis=-1, keepdims=True)},
            does="The maximum is taken before the scores are divided by the temperature. For small "
                 "scores that does no harm; for large ones exp overflows or all powers underflow.",
            why="Only with the maximum of what goes into exp is the largest exponent 0.",
            ask="What is the largest exponent for the scores 10000, 9990 at a temperature of 10?"),
)

temperature_softmax = Exercise(
    name="temperature_softmax", signature="(scores, temperature)", part=PART,
    text="The softmax of scores / temperature over the last axis, for a temperature above 0.",
    answer=temperature_softmax_answer,
    steps={
        **SOFTMAX_STEPS,
        "temper": lambda scores, temperature: scores / temperature,
        "shift_late": lambda shifted, scores, temperature: shifted,
        "above": lambda powers, temperature: powers,
        "below": lambda powers, temperature: powers,
        "weights_late": lambda weights, temperature: weights,
    },
    cases=_temperature_cases,
    hints=(
        "A high temperature makes the weights nearly equal. What must happen to the differences of "
        "the scores for that?",
        "Divide the scores by the temperature before anything else; then take an ordinary softmax.",
        "The maximum that is subtracted has to be that of the divided scores.",
        "First scores / temperature; from it subtract its own maximum over the last axis, with "
        "keepdims=True; then np.exp; then divide by the sum over the last axis.",
    ),
    mistakes=(*TEMPERATURE_MISTAKES, *SHIFT_MISTAKES, *EXPONENTIAL_MISTAKES, SIGN, *TOTAL_MISTAKES,
              *AXIS_MISTAKES, *KEEPDIMS_MISTAKES, *AFTER_MISTAKES),
)

# ---------------------------------------------------------------- logsumexp

def logsumexp_answer(do, scores, axis=-1):
    axis = do.axis(axis, scores)
    scores = do.scores_in(scores)
    highest = do.guard(do.highest(scores, axis))
    powers = do.exponential(do.subtract(scores, highest), axis)
    logs = do.log(do.total(powers, axis))
    return do.finish(do.add_back(logs, highest, axis), scores, axis)


LSE_STEPS = {
    "axis": lambda axis, scores: axis,
    "scores_in": lambda scores: scores,
    "highest": lambda scores, axis: scores.max(axis=axis, keepdims=True),
    "guard": lambda highest: np.where(highest == -np.inf, 0.0, highest),
    "subtract": lambda scores, highest: scores - highest,
    "exponential": lambda shifted, axis: np.exp(shifted),
    "total": lambda powers, axis: powers.sum(axis=axis, keepdims=True),
    "log": lambda total: np.log(total),
    "add_back": lambda logs, highest, axis: logs + highest,
    "finish": lambda lse, scores, axis: lse.squeeze(axis),
}

DEAD = "a row of -inf"
TINIER = (1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30, 1e-300)


LOWEST = tuple(float(np.finfo(dtype).min) for dtype in (np.float16, np.float32, np.float64))


def _dead_as(value):
    def finish(lse, scores, axis):
        lse = lse.squeeze(axis)
        return np.where(lse == -np.inf, value, lse)

    return {"finish": finish}


def _lse_cases():
    f4, f2, inf = np.float32, np.float16, np.inf

    def case(aspect, scores, *axis, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), *axis), extreme)

    return [
        case(PLAIN, [[0, 1, 3], [2, 5, 4]]), case(PLAIN, [[1, -2, 3]]),
        Case(PLAIN, (normal(5, 7, seed=1),)), Case(PLAIN, (normal(7, 3, seed=2) + 1,)),
        Case(PLAIN, (normal(11, 7, seed=3),)),
        case(SQUARE, [[0, 1], [2, 5]]), Case(SQUARE, (normal(5, 5, seed=3),)),
        case("one axis", [0, 1, 3]), Case("one axis", (normal(7, seed=4),)),
        case(LEADING, [[[0, 1], [2, 5]]]), Case(LEADING, (normal(2, 5, 3, seed=5),)),
        Case(LEADING, (normal(2, 3, 5, 7, seed=6),)),
        case(AXIS_GIVEN, [[0, 1], [2, 5]], 0), Case(AXIS_GIVEN, (normal(5, 3, seed=7), 0)),
        Case(AXIS_GIVEN, (normal(5, 3, seed=7), 1)), Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), 1)),
        Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), -2)), Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), -3)),
        Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), 2)),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3,)),
        case(HUGE, [[10000, 9999]], extreme=True), case(HUGE, [[-10000, -9999]], extreme=True),
        case(HUGE, [[10000, 9999], [-10000, -9999]], extreme=True),
        *extreme_rows(lambda aspect, row, extreme: case(aspect, [row], extreme=extreme)),
        case(NEG_INF, [[0, -inf], [1, 2]], extreme=True), case(NEG_INF, [[1, -inf, 3], [-inf, -inf, 2]], extreme=True),
        case(DEAD, [[-inf, -inf]], extreme=True), case(DEAD, [[0, 1], [-inf, -inf]], extreme=True),
        case(DEAD, [-inf, -inf, -inf], extreme=True), case(DEAD, [[0, -inf], [1, -inf]], 0, extreme=True),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], dtype=f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], dtype=f4, extreme=True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], dtype=f2), case(FLOAT16, [[20, 21, 19], [0, 1, 2]], dtype=f2, extreme=True),
        case(FLOAT16, [[-inf, -inf], [1, 2]], dtype=f2, extreme=True),
    ]



CLIPS = (10, 20, 30, 50, 80, 88, 100, 500, 700)


def _centred(centre):
    return {"highest": lambda scores, axis: centre(scores, axis=axis, keepdims=True)}


LSE_SHIFTS = (
    replace(NO_MAXIMUM, change={"guard": lambda highest: np.zeros_like(highest)},
            does="For small scores it is right. For scores above 709 (above 88 in float32, above 11 in "
                 "float16) exp overflows to inf; in a row far below 0 the sum underflows, and its "
                 "logarithm is -inf.",
            why="The maximum can be taken out of the sum: subtract it from the scores, and add it to "
                "the logarithm. Then no exponent is above 0, and the sum is at least 1."),
    replace(named("minimum subtracted instead of maximum", SHIFT_MISTAKES), change=_centred(np.min)),
    replace(named("mean subtracted instead of maximum", SHIFT_MISTAKES), change=_centred(np.mean),
            does="A score far above the mean of its row still overflows; and one score of -inf spoils "
                 "the whole row."),
    replace(named("one maximum for the whole array", SHIFT_MISTAKES),
            change={"highest": lambda scores, axis: scores.max()},
            does="In a row that lies far below the largest score of all the sum underflows, and its "
                 "logarithm is -inf.",
            why="Each row needs its own maximum, so that its sum is at least 1."),
    replace(named("maximum of absolute values", SHIFT_MISTAKES),
            change=_centred(lambda scores, **axis: np.abs(scores).max(**axis)),
            does="In a row of large negative scores the sum underflows; a score of -inf spoils its row."),
    replace(named("divided by the maximum", SHIFT_MISTAKES),
            change=({"subtract": lambda s, m: s / m},
                    {"subtract": lambda s, m: s / m, "add_back": lambda logs, m, axis: logs * m}),
            why="exp(score - maximum) is put right by adding the maximum to the logarithm; after a "
                "division nothing puts it right.",
            ask="Which operation on the scores takes a factor exp(maximum) out of the sum?"),
    replace(named("maximum added", SHIFT_MISTAKES),
            change=({"subtract": lambda s, m: s + m},
                    {"subtract": lambda s, m: s + m, "add_back": lambda logs, m, axis: logs - m})),
    replace(named("scores clipped", SHIFT_MISTAKES),
            change=tuple({"scores_in": lambda s, c=c: np.clip(s, -c, c)} for c in CLIPS) +
                   tuple({"scores_in": lambda s, c=c: np.minimum(s, c)} for c in CLIPS[3:]),
            why="The log-sum-exp of 10000 and 9999 is a little above 10000.",
            ask="What should the log-sum-exp of 10000, 9999 be?"),
)

ADD_BACK_MISTAKES = (
    Mistake("maximum not added back", change={"add_back": lambda logs, m, axis: logs},
            does="The answer lies between 0 and log n: it does not change when all scores grow.",
            why="Subtracting the maximum divides the sum by exp(maximum). The logarithm turns that "
                "factor into a term, which has to be added again.",
            ask="By how much should the answer grow when every score of a row grows by 1?"),
    Mistake("maximum subtracted again instead of added back", change={"add_back": lambda logs, m, axis: logs - m},
            does="When all scores of a row grow by 1, the answer falls by 1.",
            why="The maximum was subtracted from the scores; afterwards it has to be added.",
            ask="By how much should the answer grow when every score of a row grows by 1?"),
    Mistake("maximum added inside the logarithm",
            change={"log": lambda total: total, "add_back": lambda logs, m, axis: np.log(logs + m)},
            does="The maximum is added to the sum before the logarithm is taken.",
            why="Before the logarithm exp(maximum) is a factor of the sum; only after it is the "
                "maximum a term.",
            ask="Where does your closing bracket belong?"),
    Mistake("the maximum's axis kept",
            change={"add_back": lambda logs, m, axis: logs.squeeze(axis) + m, "finish": lambda lse, s, axis: lse},
            does="The answer has an axis too many: each row's logarithm is added to each row's maximum.",
            why="keepdims=True keeps the axis for the subtraction. The sum has lost it, so the two "
                "broadcast to a table.",
            ask="Which shapes have the sum's logarithm and the maximum when you add them?"),
    Mistake("maximum without keepdims",
            change={"highest": lambda s, axis: s.max(axis=axis),
                    "add_back": lambda logs, m, axis: logs.squeeze(axis) + m, "finish": lambda lse, s, axis: lse},
            does="Row i's maximum is subtracted from column i, where the shapes fit at all.",
            why="Without keepdims the maxima are a row, and broadcasting lines them up with the columns.",
            ask="What is the shape of the maxima, and how does it line up with the scores?"),
    Mistake("maximum put back on the last axis",
            change={"highest": lambda s, axis: s.max(axis=axis)[..., None],
                    "add_back": lambda logs, m, axis: logs.squeeze(axis) + m.squeeze(-1),
                    "finish": lambda lse, s, axis: lse},
            does="For the last axis it is right. For another one the maxima line up with the wrong axis.",
            why="[..., None] adds an axis at the end; keepdims=True keeps the axis where it was.",
            ask="Where does the axis that was reduced belong?"),
)

LOG_MISTAKES = (
    Mistake("no logarithm",
            change=({"log": lambda total: total},
                    {"guard": lambda m: np.zeros_like(m), "log": lambda total: total},
                    {"log": lambda total: total, "add_back": lambda logs, m, axis: logs * np.exp(m)}),
            does="The answer holds the sum of the exponentials, not its logarithm.",
            why="The sum itself overflows for large scores; its logarithm is about as large as the "
                "largest score.",
            ask="What is the last function in log sum exp to be applied?"),
    Mistake("logarithm to base 2", change={"log": lambda total: np.log2(total)},
            does="The sum's logarithm is 1.44 times too large.",
            why="exp and the natural logarithm undo each other; exp and log2 do not.",
            ask="What should the answer be for a single score?"),
    Mistake("logarithm to base 10", change={"log": lambda total: np.log10(total)},
            does="The sum's logarithm is 2.3 times too small.",
            why="exp and the natural logarithm undo each other; exp and log10 do not.",
            ask="What should the answer be for a single score?"),
    Mistake("log1p instead of log", change={"log": lambda total: np.log1p(total)},
            does="The logarithm is that of the sum plus 1.",
            why="log1p(x) is log(1 + x): the 1 is one term too many.",
            ask="What should the answer be for a single score?"),
    Mistake("epsilon in the logarithm",
            change=tuple({"log": lambda total, e=e: np.log(total + e)} for e in EPSILONS + TINIER) +
                   tuple({"log": lambda total, e=e: np.log(np.maximum(total, e))} for e in EPSILONS),
            does="A small number stands with the sum in the logarithm. A row of nothing but -inf gives "
                 "the logarithm of that number.",
            why="With the maximum subtracted the sum is at least 1. In a row of -inf it is 0, and "
                "there -inf is the answer that is asked for.",
            ask="When can the sum be 0, and what should its logarithm be then?"),
    Mistake("mean instead of sum",
            change={"total": lambda p, axis: p.mean(axis=axis, keepdims=True)},
            does="The answer is too small by log n.",
            why="Log-sum-exp adds the exponentials; it does not average them.",
            ask="What should the answer be for n equal scores?"),
)

LSE_RESULTS = (
    Mistake("maximum instead of log-sum-exp", change={"answer": lambda scores, axis=-1: scores.max(axis=axis)},
            does="The answer is the largest score.",
            why="All scores count; the answer lies above the largest one.",
            ask="What should the answer be for two equal scores?"),
    Mistake("logarithm before the sum", change={"answer": lambda scores, axis=-1: scores.sum(axis=axis)},
            does="The answer is the sum of the scores.",
            why="log(exp(score)) is the score again. The exponentials are added first; then comes one "
                "logarithm.",
            ask="In which order do exp, sum and log come?"),
    Mistake("not summed", change={"answer": lambda scores, axis=-1: scores},
            does="The answer is the scores themselves: log and exp cancel.",
            why="Between exp and log comes a sum over the axis, which goes.",
            ask="Which shape should the answer have?"),
    Mistake("softmax instead of log-sum-exp", change={"finish": lambda lse, scores, axis: np.exp(scores - lse)},
            does="The answer holds weights: each row sums to 1.",
            why="Log-sum-exp is one number for each row: the logarithm of the softmax's denominator.",
            ask="Which shape should the answer have?"),
    Mistake("log-softmax instead of log-sum-exp", change={"finish": lambda lse, scores, axis: scores - lse},
            does="The answer holds logarithms of weights.",
            why="Log-sum-exp is one number for each row: what log-softmax subtracts from the scores.",
            ask="Which shape should the answer have?"),
    replace(SIGN, change=({"scores_in": lambda s: -s}, {"finish": lambda lse, scores, axis: -lse.squeeze(axis)},
                          {"scores_in": lambda s: -s, "finish": lambda lse, scores, axis: -lse.squeeze(axis)}),
            does="The scores, or the answer, have the wrong sign.",
            why="Log-sum-exp is a soft maximum: it lies a little above the largest score.",
            ask="Should the answer be above or below the largest score?"),
)

DEAD_MISTAKES = (
    Mistake("(-inf) - (-inf)", change={"guard": lambda highest: highest},
            does="A row of nothing but -inf gives NaN.",
            why="Its maximum is -inf too, and -inf - -inf is NaN. Nothing has to be subtracted from such "
                "a row: exp(-inf) is 0, and log(0) is -inf, as it should be.",
            ask="What is subtracted from the scores in a row of nothing but -inf?"),
    Mistake("0 for a row of -inf", change=_dead_as(0.0),
            does="A row of nothing but -inf gives 0.",
            why="A log-sum-exp of 0 says that the exponentials sum to 1; here they sum to 0, and "
                "log(0) is -inf.",
            ask="What do the exponentials of such a row sum to?"),
    Mistake("+inf for a row of -inf", change=_dead_as(np.inf),
            does="A row of nothing but -inf gives +inf.",
            why="The exponentials of such a row sum to 0, and log(0) is -inf.",
            ask="What do the exponentials of such a row sum to?"),
    Mistake("large negative number instead of -inf",
            change=tuple(_dead_as(value) for value in FILLS + LOWEST),
            does="A row of nothing but -inf gives a large negative number.",
            why="The exponentials of such a row sum to 0 exactly, and log(0) is -inf. A number in its "
                "place counts as a score in whatever is computed next.",
            ask="Which number has the exponential 0?"),
)

REDUCED_AXIS_MISTAKES = (
    Mistake("reduced over everything", change={"axis": lambda axis, scores: None},
            does="The answer is one number for the whole array.",
            why="Each row has a sum of its own; only the given axis goes.",
            ask="Which shape should the answer have?"),
    Mistake("axis ignored", change={"axis": lambda axis, scores: -1},
            does="The last axis goes, whichever axis is asked for.",
            why="The caller says along which axis to work; -1 is only the default.",
            ask="Where does your function use its parameter axis?"),
    Mistake("reduced over the first axis",
            change=({"axis": lambda axis, scores: 0}, {"axis": lambda axis, scores: 0 if axis == -1 else axis}),
            does="Without an axis given, the first axis goes.",
            why="The default is the last axis, which runs over the keys.",
            ask="Which index counts from the end, and names the keys' axis always?"),
    Mistake("reduced over the second axis",
            change=({"axis": lambda axis, scores: 1}, {"axis": lambda axis, scores: 1 if axis == -1 else axis}),
            does="Without an axis given, the second axis goes.",
            why="axis=1 is the last axis only if there are two.",
            ask="Which index counts from the end, and names the keys' axis always?"),
    Mistake("reduced over the queries' axis",
            change=({"axis": lambda axis, scores: -2}, {"axis": lambda axis, scores: -2 if axis == -1 else axis}),
            does="Without an axis given, the last axis but one goes.",
            why="The default is the last axis, which runs over the keys.",
            ask="Which index counts from the end, and names the keys' axis always?"),
)

BASES = tuple(named(name, EXPONENTIAL_MISTAKES) for name in ("power of 2 instead of e", "power of 10 instead of e"))

LSE_EXPONENTIALS = BASES + (
    Mistake("no exponential",
            change={"guard": lambda m: np.zeros_like(m), "exponential": lambda s, axis: s},
            does="The answer is the logarithm of the sum of the scores.",
            why="Scores may be negative, and their sum too; then there is no logarithm.",
            ask="Which function makes every score positive before the sum?"),
)

logsumexp = Exercise(
    name="logsumexp", signature="(scores, axis=-1)", part=PART,
    text="The logarithm of the sum of exp(scores) along an axis, which goes. A row of nothing but "
         "-inf gives -inf.",
    answer=logsumexp_answer, steps=LSE_STEPS, cases=_lse_cases,
    hints=(
        "Read the name from the right: exp of each score, the sum of these powers, its logarithm.",
        "exp(10000) overflows. exp(s) is exp(m) times exp(s - m): a factor that all terms of a sum "
        "share can be taken out of it. What becomes of it in the logarithm?",
        "Subtract each row's maximum m before exp, and add it to the logarithm of the sum. For the "
        "subtraction m needs keepdims=True; for the addition the axis has to go again.",
        "In a row of nothing but -inf the maximum is -inf, and -inf - -inf is NaN. Take 0 as the "
        "maximum there, with np.where(m == -np.inf, 0, m): exp gives zeros, and the logarithm -inf.",
    ),
    mistakes=(*LSE_SHIFTS, *ADD_BACK_MISTAKES, *LOG_MISTAKES, *LSE_EXPONENTIALS, *LSE_RESULTS,
              *DEAD_MISTAKES, *REDUCED_AXIS_MISTAKES,
              Mistake("rounded", change=tuple({"finish": lambda lse, s, axis, n=n: lse.squeeze(axis).round(n)}
                                              for n in (1, 2, 3, 4, 5, 6, 8)),
                      does="The answer is rounded.",
                      why="Weights are computed from it, and they need all its digits.",
                      ask="Which of your operations throws digits away?")),
)

# ---------------------------------------------------------------- log_softmax

def log_softmax_answer(do, scores, axis=-1):
    axis = do.axis(axis, scores)
    scores = do.scores_in(scores)
    shifted = do.shift(scores, axis)
    powers = do.exponential(shifted, axis)
    logs = do.log(do.total(powers, axis))
    return do.weights_out(do.subtract(shifted, logs, powers, scores))


LOG_SOFTMAX_STEPS = {
    **{step: SOFTMAX_STEPS[step]
       for step in ("axis", "scores_in", "shift", "exponential", "total", "weights_out")},
    "log": lambda total: np.log(total),
    "subtract": lambda shifted, logs, powers, scores: shifted - logs,
}

UNDERFLOW = "weights that underflow"


def _log_softmax_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, scores, *axis, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), *axis), extreme)

    def rowwise(aspect, row, extreme):
        return case(aspect, [row, [0.0] * (len(row) - 1) + [1.0]], extreme=extreme)

    return [
        case(PLAIN, [[0, 1, 3], [2, 5, 4]]), case(PLAIN, [[1, -2, 3]]),
        Case(PLAIN, (normal(5, 7, seed=1),)), Case(PLAIN, (normal(7, 3, seed=2),)),
        Case(PLAIN, (normal(7, 11, seed=3),)),
        case(SQUARE, [[0, 1], [2, 5]]), Case(SQUARE, (normal(5, 5, seed=3),)),
        case("one axis", [0, 1, 3]), Case("one axis", (normal(7, seed=4),)),
        case(LEADING, [[[0, 1], [2, 5]]]), Case(LEADING, (normal(2, 5, 3, seed=5),)),
        Case(LEADING, (normal(2, 3, 5, 7, seed=6),)),
        case(AXIS_GIVEN, [[0, 1], [2, 5]], 0), Case(AXIS_GIVEN, (normal(5, 3, seed=7), 0)),
        Case(AXIS_GIVEN, (normal(5, 3, seed=7), 1)), Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), 1)),
        Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), -2)), Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), -3)),
        Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), 2)),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3,)),
        case(UNDERFLOW, [[0, -1000]], extreme=True), case(UNDERFLOW, [[0, 1, 2], [0, -800, 1]], extreme=True),
        case(UNDERFLOW, [[3, -30, 2]]),
        case(HUGE, [[10000, 9999], [0, 1]], extreme=True), case(HUGE, [[-10000, -9999], [0, 1]], extreme=True),
        *extreme_rows(rowwise),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], dtype=f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], dtype=f4, extreme=True),
        case(FLOAT32, [[0, -200, 1]], dtype=f4, extreme=True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], dtype=f2), case(FLOAT16, [[20, 21, 2], [0, 1, 5]], dtype=f2, extreme=True),
        case(FLOAT16, [[0, -40, 1]], dtype=f2, extreme=True),
    ]


def _log_of(change):
    return {"subtract": lambda shifted, logs, powers, scores: np.log(change(powers / np.exp(logs)))}


def _base_of(log):
    """Base 2 or 10 in the last step alone: the logarithm of the finished softmax."""
    return {"subtract": lambda shifted, logs, powers, scores: log(powers / np.exp(logs))}


SIGN_OF_LOG = replace(
    SIGN, change=({"weights_out": lambda w: -w}, *SIGN.variants),
    does="The scores, or the answer, have the wrong sign.",
    why="A higher score has a higher weight, and the logarithm of a weight is never above 0.",
    ask="Which entry of a row should be closest to 0?")

LOG_SOFTMAX_MISTAKES = (
    Mistake("logarithm of an underflowed softmax", change=_log_of(lambda weights: weights),
            does="The softmax is computed first, and its logarithm taken. A weight that underflows "
                 "to 0 becomes -inf.",
            why="The logarithm of a quotient is a difference: shifted scores minus the logarithm of their "
                "sum of powers. Nothing in it can underflow.",
            ask="What is the logarithm of exp(s) / sum, written without a quotient?"),
    Mistake("epsilon in the logarithm",
            change=tuple(_log_of(lambda weights, e=e: weights + e) for e in EPSILONS + TINIER) +
                   tuple(_log_of(lambda weights, e=e: np.maximum(weights, e)) for e in EPSILONS + TINIER[:2]) +
                   tuple({"log": lambda total, e=e: np.log(total + e)} for e in EPSILONS),
            does="A small number is added in the logarithm, or stands in for what is smaller: no "
                 "answer falls below its logarithm.",
            why="That hides the underflow instead of avoiding it. The difference of shifted scores "
                "and log-sum needs no such number.",
            ask="What should the answer be for the scores 0, -1000?"),
    Mistake("softmax instead of its logarithm",
            change={"subtract": lambda shifted, logs, powers, scores: powers / np.exp(logs)},
            does="The answer holds weights: each row sums to 1.",
            why="Their logarithms are asked for, and none of them is above 0.",
            ask="Where in your function does the logarithm come?"),
    Mistake("log of the sum not subtracted",
            change={"subtract": lambda shifted, logs, powers, scores: shifted},
            does="The largest entry of each row is 0: only the maximum was subtracted.",
            why="exp of the answer has to sum to 1. For that the logarithm of the sum is subtracted, too.",
            ask="What does exp of your answer sum to?"),
    Mistake("log of the sum added instead of subtracted",
            change={"subtract": lambda shifted, logs, powers, scores: shifted + logs},
            does="The logarithm of the sum has the wrong sign.",
            why="The logarithm of a quotient is a difference.",
            ask="What does exp of your answer sum to?"),
    Mistake("divided instead of subtracted",
            change=({"subtract": lambda shifted, logs, powers, scores: shifted / logs},
                    {"subtract": lambda shifted, logs, powers, scores: shifted / np.exp(logs)}),
            does="The shifted scores are divided.",
            why="In the logarithm a division becomes a subtraction.",
            ask="What is log(a / b)?"),
    Mistake("no logarithm", change={"log": lambda total: total},
            does="The sum of the powers is subtracted, not its logarithm.",
            why="log(exp(s) / sum) is s - log(sum).",
            ask="What is log(a / b)?"),
    Mistake("maximum missing in the log-sum-exp",
            change={"subtract": lambda shifted, logs, powers, scores: scores - logs},
            does="Each row is too large by its maximum.",
            why="The sum was taken of shifted scores. Its logarithm belongs to the shifted scores, or "
                "needs the maximum added to it.",
            ask="From which scores, shifted or not, is your logarithm subtracted?"),
    Mistake("maximum subtracted twice",
            change={"subtract": lambda shifted, logs, powers, scores: 2 * shifted - scores - logs},
            does="Each row is too small by its maximum.",
            why="Shifted scores need the logarithm of their own sum, without the maximum added back.",
            ask="How often is the maximum subtracted in your function?"),
    Mistake("logarithm to base 2",
            change=({"log": lambda total: np.log2(total)},
                    {"subtract": lambda shifted, logs, powers, scores: (shifted - logs) / np.log(2)},
                    _base_of(np.log2)),
            does="The answer holds logarithms to base 2, in whole or in part.",
            why="Kernels work with base 2, and multiply by log2(e) first. Here the natural logarithm is "
                "asked for.",
            ask="Which logarithm undoes exp?"),
    Mistake("logarithm to base 10",
            change=({"log": lambda total: np.log10(total)},
                    {"subtract": lambda shifted, logs, powers, scores: (shifted - logs) / np.log(10)},
                    _base_of(np.log10)),
            does="The answer holds logarithms to base 10, in whole or in part.",
            why="exp and the natural logarithm undo each other; exp and log10 do not.",
            ask="Which logarithm undoes exp?"),
    Mistake("log1p instead of log",
            change=({"log": lambda total: np.log1p(total)}, _log_of(lambda weights: 1 + weights)),
            does="1 is added before the logarithm is taken.",
            why="log1p(x) is log(1 + x): the 1 is one term too many.",
            ask="What should the answer be for a single score?"),
    Mistake("softmax of the scores' logarithms",
            change={"scores_in": lambda s: np.log(s),
                    "subtract": lambda shifted, logs, powers, scores: powers / np.exp(logs)},
            does="The logarithm is taken before the softmax: a negative score gives NaN.",
            why="The logarithm of the softmax is asked for: first the softmax, then the logarithm.",
            ask="In which order are log and softmax applied?"),
)

LOG_TOTALS = (
    replace(named("mean instead of sum", LOG_MISTAKES),
            does="Each entry is too large by log n.",
            why="The weights' denominator is the sum of the powers, not their mean.",
            ask="What does exp of your answer sum to?"),
    replace(named("one sum for the whole array", TOTAL_MISTAKES),
            does="From every row the logarithm of one sum is subtracted, that of the whole array."),
    replace(named("sum over the wrong axis", TOTAL_MISTAKES),
            does="The logarithms of sums over the queries are subtracted.",
            why="exp of the answer has to sum to 1 over the keys."),
    replace(named("sum without keepdims", TOTAL_MISTAKES),
            does="Row i's log-sum is subtracted from column i instead of row i, where the shapes fit at all."),
)

log_softmax = Exercise(
    name="log_softmax", signature="(scores, axis=-1)", part=PART,
    text="The logarithm of the softmax along an axis, finite where the softmax underflows to 0.",
    answer=log_softmax_answer, steps=LOG_SOFTMAX_STEPS, cases=_log_softmax_cases,
    hints=(
        "Write the softmax as a quotient. What is the logarithm of a quotient?",
        "log(exp(s) / sum) is s - log(sum): no quotient and no underflow is left.",
        "Subtract the maximum from the scores first; the difference does not change by it, and the "
        "sum cannot overflow.",
        "With shifted = scores minus their maximum: subtract from it np.log of the sum of "
        "np.exp(shifted), maximum and sum both over the axis and with keepdims=True.",
    ),
    mistakes=(*LOG_SOFTMAX_MISTAKES, *SHIFT_MISTAKES, *LOG_TOTALS, *BASES, SIGN_OF_LOG, *AXIS_MISTAKES,
              *KEEPDIMS_MISTAKES, *PUT_BACK_MISTAKES, named("rounded", AFTER_MISTAKES)),
)

# ---------------------------------------------------------------- safe_softmax

def safe_softmax_answer(do, scores):
    weights = softmax_steps_answer(do, scores, -1)
    return do.rescue(weights, scores)


def _dead(scores):
    return np.isneginf(scores).all(axis=-1, keepdims=True)


def _dead_rows(fill):
    return {"rescue": lambda weights, scores: np.where(_dead(scores), fill(scores), weights)}


def _first_key(scores):
    return np.arange(scores.shape[-1]) == 0


def _filled(value):
    return {"scores_in": lambda scores: np.where(np.isneginf(scores), value, scores),
            "rescue": lambda weights, scores: weights}


DEAD_ROWS_NAN = Mistake(
    "dead rows NaN", change=_dead_rows(lambda scores: np.nan),
    does="A row of nothing but -inf gives NaN.",
    why="Its maximum is -inf and -inf - -inf is NaN; or its sum is 0 and 0 / 0 is NaN. One NaN "
        "spreads to everything that is computed from it.",
    ask="What are the maximum and the sum of a row of nothing but -inf, and what may stand in their "
        "place?")

DEAD_ROWS_UNIFORM = Mistake(
    "dead rows uniform", change=_dead_rows(lambda scores: 1 / scores.shape[-1]),
    does="A row of nothing but -inf gives equal weights.",
    why="A query that may attend to nothing would attend to everything, padding and future alike. "
        "A large negative number in place of -inf does this: all scores of the row are then equal.",
    ask="How much weight may a key have that must not be seen?")

DEAD_ROW_MISTAKES = (
    DEAD_ROWS_NAN, DEAD_ROWS_UNIFORM,
    Mistake("dead rows not zero",
            change=(_dead_rows(lambda scores: 1.0), _dead_rows(_first_key), _dead_rows(lambda scores: -np.inf),
                    _dead_rows(lambda scores: np.inf)),
            does="A row of nothing but -inf gives weights that are not 0.",
            why="A query that may attend to nothing gets no weights at all: its output is 0.",
            ask="How much weight may a key have that must not be seen?"),
    Mistake("large negative number instead of -inf",
            change=tuple(_filled(value) for value in (-1e4, -9999.0, -1e3, -100.0)),
            does="-inf is replaced by a number that is not far enough below the other scores: "
                 "hidden keys get weight.",
            why="Scores of -10000 are legal, and a row of nothing but -inf becomes uniform. Only -inf "
                "is below every score.",
            ask="What are the weights of the scores -10000, -inf?"),
    replace(ZERO_FILL, change=_filled(0.0), does="Scores of -inf count as 0."),
    Mistake("any -inf empties the row",
            change={"rescue": lambda w, s: np.where(np.isneginf(s).any(axis=-1, keepdims=True), 0.0, w)},
            does="A row with a single -inf among its scores gives zeros.",
            why="Only a row that is all -inf is empty; in any other one the remaining keys share the weight.",
            ask="Which rows have nothing left to attend to: those with any -inf, or those with nothing else?"),
    Mistake("one dead row empties all",
            change=({"rescue": lambda w, s: w * (not _dead(s).any())},),
            does="If one row is all -inf, all rows give zeros.",
            why="Each query has weights of its own.",
            ask="Does your test ask about one row, or about the whole array?"),
    Mistake("only an array of nothing but -inf is seen as dead",
            change={"rescue": lambda w, s: np.where(np.isneginf(s).all(), 0.0, np.where(_dead(s), np.nan, w))},
            does="A dead row among others gives NaN; only if all rows are dead they give zeros.",
            why="Each row has to be looked at by itself.",
            ask="Does your test ask about one row, or about the whole array?"),
    Mistake("dead rows left out", change={"rescue": lambda w, s: w[~_dead(s)[..., 0]]},
            does="Rows of nothing but -inf are missing from the answer.",
            why="The weights must keep their shape: row i belongs to query i.",
            ask="Which row of the answer belongs to the query behind a dead one?"),
    Mistake("row of negative scores taken for dead",
            change=tuple({"rescue": lambda w, s, c=c: np.where(s.max(axis=-1, keepdims=True) < c, 0.0, w)}
                         for c in (0.0, -100.0, -700.0, -745.0, -1e3, -5000.0)),
            does="A row of large negative scores gives zeros.",
            why="Only a row that is all -inf is empty. Scores of -10000 and -9999 have weights as any others.",
            ask="What are the weights of the scores -10000, -9999?"),
)


def _safe_cases():
    inf, f4, f2 = np.inf, np.float32, np.float16

    def case(aspect, scores, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype),), extreme)

    def rowwise(aspect, row, extreme):
        return case(aspect, [row, [0.0] * (len(row) - 1) + [1.0]], extreme=extreme)

    some = normal(2, 3, 5, 7, seed=12)
    some[0, 1, 2] = some[1, 2, 4] = -inf
    return [
        case(PLAIN, [[0, 1, 3], [2, 5, 4]]), case(PLAIN, [[1, -2, 3]]),
        Case(PLAIN, (normal(5, 7, seed=1),)), Case(PLAIN, (normal(7, 3, seed=2),)), Case(PLAIN, (normal(7, 11, seed=3),)),
        case(SQUARE, [[0, 1], [2, 5]]), Case(SQUARE, (normal(5, 5, seed=3),)),
        case("one axis", [0, 1, 3]), Case("one axis", (normal(7, seed=4),)),
        case(LEADING, [[[0, 1], [2, 5]]]), Case(LEADING, (normal(2, 5, 3, seed=5),)),
        Case(LEADING, (normal(2, 3, 5, 7, seed=6),)),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3,)),
        case(HUGE, [[10000, 9999], [0, 1]], extreme=True), case(HUGE, [[-10000, -9999], [0, 1]], extreme=True),
        case(HUGE, [[-500, -499], [-1, -2]], extreme=True), case(HUGE, [[-800, -799], [-720, -721]], extreme=True),
        *extreme_rows(rowwise),
        case(NEG_INF, [[0, -inf], [1, 2]], extreme=True), case(NEG_INF, [[1, -inf, 3], [-inf, -inf, 2]], extreme=True),
        case(NEG_INF, [[-10000, -inf], [-inf, -10000]], extreme=True), case(NEG_INF, [[-1000, -inf, -999.5]], extreme=True),
        case(NEG_INF, [[-100, -inf, -99.5]], extreme=True),
        case(DEAD, [[-inf, -inf]], extreme=True), case(DEAD, [[0, 1], [-inf, -inf]], extreme=True),
        case(DEAD, [-inf, -inf, -inf], extreme=True), case(DEAD, [[-inf, -inf, -inf], [-inf, -inf, -inf]], extreme=True),
        case(DEAD, [[0, -inf, 1], [-inf, -inf, -inf]], extreme=True), Case(DEAD, (some,), True),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], f4, True), case(FLOAT32, [[-inf, -inf], [0, 1]], f4, True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], f2), case(FLOAT16, [[20, 21, 19], [0, 1, 2]], f2, True),
        case(FLOAT16, [[-inf, -inf], [0, 1]], f2, True),
    ]


safe_softmax = Exercise(
    name="safe_softmax", signature="(scores)", part=PART,
    text="The softmax over the last axis. A row of nothing but -inf gives zeros, not NaN.",
    answer=safe_softmax_answer,
    steps={**SOFTMAX_STEPS, "rescue": lambda weights, scores: np.where(_dead(scores), 0.0, weights)},
    cases=_safe_cases,
    hints=(
        "Where does NaN come from in a row of nothing but -inf? Look at its maximum, and at its sum.",
        "-inf - -inf is NaN. If 0 is subtracted from such a row instead, exp gives zeros.",
        "Then the row's sum is 0, and 0 / 0 is NaN again. Divided by 1 the zeros stay zeros.",
        "Twice np.where, before use: where the maximum is -inf take 0; where the sum is 0 take 1. "
        "All other rows stay as they are.",
    ),
    mistakes=(*DEAD_ROW_MISTAKES, *SHIFT_MISTAKES, *EXPONENTIAL_MISTAKES, SIGN, *TOTAL_MISTAKES,
              *AXIS_MISTAKES, *KEEPDIMS_MISTAKES, *AFTER_MISTAKES),
)

EXERCISES = (softmax_row, softmax, temperature_softmax, logsumexp, log_softmax, safe_softmax)
