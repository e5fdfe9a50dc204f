"""The exercises of the part "The softmax", and the steps and mistakes that later parts reuse."""

import numpy as np

from .engine import FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, SMALL, SQUARE, Case, Exercise, Mistake, normal

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
    axis = -1 if axis is None else axis
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
    Mistake("minimum subtracted instead of maximum", change={"shift": _reduced(np.min)},
            does="The lowest score of a row becomes 0, and the highest may still overflow.",
            why="Only large positive exponents overflow: the largest score has to become 0.",
            ask="Which exponents overflow, large positive or large negative ones?"),
    Mistake("mean subtracted instead of maximum", change={"shift": _reduced(np.mean)},
            does="A score far above the mean of its row still overflows; and one score of -inf makes "
                 "the whole row NaN.",
            why="Only with the maximum is no exponent above 0.",
            ask="What is the largest exponent left after your subtraction?"),
    Mistake("one maximum for the whole array", change={"shift": _reduced_everywhere(np.max)},
            does="A row that lies far below the largest score of all underflows to 0 / 0.",
            why="Each row needs its own maximum, so that its largest power is 1.",
            ask="What is left of a row whose scores all lie 10000 below another row's?"),
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

EXERCISES = (softmax_row, softmax)
