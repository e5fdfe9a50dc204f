"""The exercises of the part "The softmax", and the steps and mistakes that later parts reuse."""

from dataclasses import replace

import numpy as np

from .engine import generic
from .families.memory import grows
from .model import (FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, SMALL, SQUARE, Case, Exercise, Mistake, Once,
                     each, normal)
from .raw_scores import ZERO_FILL, named

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
         "overflows, and inf / inf is NaN; in a row far below 0 all exponentials underflow, and their sum is 0.",
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
    Mistake("median subtracted instead of maximum",
            change=({"shift": _reduced(np.median)}, {"shift": _reduced_everywhere(np.median)}),
            does="A score far above the median of its row still overflows.",
            why="Only with the maximum is no exponent above 0.",
            ask="What is the largest exponent left after your subtraction?"),
    Mistake("maximum never below 0",
            change={"shift": lambda s, axis: s - np.maximum(s.max(axis=axis, keepdims=True), 0)},
            does="In a row far below 0 nothing is subtracted: all exponentials underflow, and their sum is 0.",
            why="The largest score of a row has to become 0, also where it is negative.",
            ask="What is subtracted from the row -10000, -9999?"),
    Mistake("a fixed number subtracted instead of the maximum",
            numbers=each(lambda c: {"shift": lambda s, axis: s - c}, lambda c: abs(c) >= 5),
            does="The same number is subtracted from every row: a score far above it overflows, and a row far below "
                 "it underflows to a sum of 0.",
            why="Each row needs its own maximum: then its largest exponent is 0.",
            ask="What is the largest exponent left after your subtraction?"),
    Mistake("one maximum for the whole array", change={"shift": _reduced_everywhere(np.max)},
            does="A row that lies far below the largest score of all underflows to a sum of 0.",
            why="Each row needs its own maximum, so that its largest exponential is 1.",
            ask="What is left of a row whose scores all lie 10000 below another row's?"),
    Mistake("one score subtracted instead of the maximum",
            change=tuple({"shift": lambda s, axis, i=i: s - np.take(s, [i], axis=-1 if axis is None else axis)}
                         for i in (0, -1)),
            does="The first or the last score of a row is subtracted; a score far above it still overflows.",
            why="Only with the maximum is no exponent above 0.",
            ask="What is the largest exponent left after your subtraction?"),
    Mistake("maximum of absolute values",
            change=({"shift": lambda s, axis: s - np.abs(s).max(axis=axis, keepdims=True)},),
            does="A row of large negative scores underflows to a sum of 0; a score of -inf spoils its row.",
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
            numbers=lambda numbers: [{"shift": clip} for c in numbers if 1 < abs(c) < 1000 for clip in (
                lambda s, axis, c=abs(c): np.clip(s, -c, c), lambda s, axis, c=abs(c): np.minimum(s, c),
                lambda s, axis, c=abs(c): np.maximum(s, -c),
                lambda s, axis, c=abs(c): np.maximum(s - s.max(axis=axis, keepdims=True), -c))],
            does="Large scores are cut to a limit, and their differences disappear.",
            why="Scores of 10000 and 9999 have the same weights as scores of 1 and 0, not equal ones.",
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
    Mistake("exponential taken twice", change={"exponential": lambda s, axis: np.exp(np.exp(s))},
            does="exp is taken of the exponentials again: differences become smaller or larger than they are.",
            why="The softmax takes exp of each score once.",
            ask="How often does exp stand in your function?"),
    Mistake("softplus instead of exp", change=({"shift": _no_shift, "exponential": lambda s, axis: np.logaddexp(0, s)},
                                               {"exponential": lambda s, axis: np.logaddexp(0, s)}),
            does="Each score becomes log(1 + exp(score)), and these are divided by their sum.",
            why="A score larger by 1 gets e times the weight; softplus grows like the score itself.",
            ask="How much more weight should a score get that is larger by 1?"),
    Mistake("expm1 instead of exp", change={"exponential": lambda s, axis: np.expm1(s)},
            does="1 is missing from every exponential.",
            why="Exponentials must be positive; exp(s) - 1 is not.",
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
            {"shift": lambda s, axis: s.max(axis=axis, keepdims=True) - s}),
    does="The lowest score gets the largest weight.",
    why="A higher score means a better match, and must get more weight.",
    ask="Which score of a row should get the largest weight?")

def _first_of(powers, axis):
    return np.take(powers, [0], axis=-1 if axis is None else axis)


def _last_of(powers, axis):
    return np.take(powers, [-1], axis=-1 if axis is None else axis)


ONE_LEFT_OUT = tuple({"total": lambda p, axis, left=left: p.sum(axis=axis, keepdims=True) - left(p, axis)}
                     for left in (_first_of, _last_of, lambda p, axis: p.max(axis=axis, keepdims=True)))


EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9,
            float(np.finfo(np.float32).eps))

NO_DIVISION = Mistake(
    "not divided by the sum",
    change=({"divide": lambda powers, total: powers},
            # the largest power is 1 once the maximum is subtracted
            {"total": lambda powers, axis: powers.max(axis=axis, keepdims=True)}),
    does="The weights are the bare exponentials: a row does not sum to 1.",
    why="Weights are shares of one whole. Dividing by the largest exponential, or by nothing, makes the "
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
            does="The exponentials are divided by how many there are.",
            why="The sum of the exponentials makes a row sum to 1; their number does not.",
            ask="What does a row sum to after your division?"),
    # with the maximum of each row: without it this is a softmax over another axis
    Mistake("sum over the wrong axis",
            change=({"total": lambda p, axis: p.sum(axis=-2, keepdims=True), "shift": SOFTMAX_STEPS["shift"]},
                    {"total": lambda p, axis: p.sum(axis=0, keepdims=True), "shift": SOFTMAX_STEPS["shift"]}),
            does="The exponentials are divided by sums over the queries.",
            why="The weights of one query sum to 1 over the keys.",
            ask="Which axis must disappear in the sum?"),
    Mistake("sum without keepdims", change={"total": lambda p, axis: p.sum(axis=axis)},
            does="Row i's sum divides column i instead of row i, where the shapes fit at all.",
            why="Without keepdims the sums are a row, and broadcasting lines them up with the columns.",
            ask="What is the shape of the sums, and how does it line up with the exponentials?"),
    Mistake("epsilon in the denominator",
            change=tuple({"total": lambda p, axis, e=e: p.sum(axis=axis, keepdims=True) + e}
                         for e in (*EPSILONS, 0.5, 1.0)),
            numbers=each(lambda e: {"total": lambda p, axis: p.sum(axis=axis, keepdims=True) + e},
                         lambda e: 0 < e < 10),
            does="Each row sums to less than 1.",
            why="With the maximum subtracted the sum is at least 1 and never 0; a small number added "
                "to it only makes the weights wrong.",
            ask="How small can the sum get once the maximum is subtracted?"),
    Mistake("one score left out of the sum",
            change=ONE_LEFT_OUT,
            does="The first, the last or the largest score of a row is missing in the sum below the fraction line.",
            why="The sum runs over all scores of a row, or the row does not sum to 1.",
            ask="How many exponentials are added, and how many scores has the row?"),
    Mistake("exponential of the sum instead of the sum of exponentials",
            change=tuple({"total": lambda p, axis: p.prod(axis=axis, keepdims=True), "divide": SOFTMAX_STEPS["divide"],
                          "shift": shift} for shift in (_no_shift, SOFTMAX_STEPS["shift"])),
            does="The scores are summed first, and exp is taken of their sum.",
            why="exp(a + b) is a product, exp(a) exp(b). Each score becomes an exponential first, and these are added.",
            ask="In which order do exp and sum come below the fraction line?"),
    Mistake("divided by the sum of the scores",
            change=tuple({"total": lambda p, axis: np.log(p).sum(axis=axis, keepdims=True), "shift": shift,
                          "divide": SOFTMAX_STEPS["divide"]} for shift in (_no_shift, SOFTMAX_STEPS["shift"])),
            does="Above the fraction line stand exponentials, below it the sum of the scores.",
            why="A row sums to 1 if it is divided by its own sum: that of the exponentials.",
            ask="What do the numbers above your fraction line sum to?"),
    Mistake("logarithm of the softmax", change={"divide": lambda p, t: np.log(p / t)},
            does="The answer holds logarithms of weights: all are negative.",
            why="Weights are asked for, positive and with sum 1.",
            ask="What is the last operation of a softmax?"),
)

AXIS_MISTAKES = (
    Mistake("softmax over everything",
            change=({"axis": lambda axis, scores: None}, {"total": lambda p, axis: p.sum()},
                    {"axis": lambda axis, scores: (-2, -1)}),
            does="All entries of the array, or of each matrix, sum to 1 together; each row should.",
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
    Mistake("softmax over all axes but the first",
            change={"axis": lambda axis, scores: tuple(range(1, scores.ndim)) or (0,)},
            does="For two axes it is right; with leading axes the weights sum to 1 over all axes but the first.",
            why="Each query has a softmax of its own, over its keys: the last axis alone.",
            ask="Which entries compete with each other for one query's attention?"),
    Mistake("softmax over the second axis", change={"axis": lambda axis, scores: 1},
            does="For two axes it is right; with leading axes the weights sum to 1 over another one.",
            why="axis=1 is the last axis only if there are two.",
            ask="Which index counts from the end, and names the keys' axis always?"),
)

def _lowest(scores, axis):
    """The lowest finite score, 0 if there is none."""
    lowest = np.where(np.isneginf(scores), np.inf, scores).min(axis=axis, keepdims=True)
    return np.where(np.isinf(lowest), 0.0, lowest)


LOWEST_INSTEAD = Mistake(
    "the lowest score instead of -inf",
    does="Scores of -inf become as low as the lowest other one, and no lower.",
    why="The lowest score still has a weight.",
    ask="Which score gives a weight of exactly 0 after the softmax?")

COUNTED_AS_1 = Mistake(
    "scores of -inf counted in the sum",
    # what underflows is 0 and adds nothing; -0.0 says that the score was -inf
    change={"exponential": lambda shifted, axis: np.where(np.isneginf(shifted), -0.0, np.exp(shifted)),
            "total": lambda p, axis: np.where(np.signbit(p), 1, p).sum(axis=axis, keepdims=True),
            "shift": SOFTMAX_STEPS["shift"]},
    does="For each score of -inf 1 is added to the sum, as if exp(-inf) were 1.",
    why="exp(-inf) is 0: what must not be seen adds nothing.",
    ask="What do the weights of a row with one -inf sum to?")

AFTER_MISTAKES = (
    Mistake("rounded", change=tuple({"weights_out": lambda w, n=n: np.round(w, n)} for n in (1, 2, 3, 4, 5, 6, 8)),
            numbers=each(lambda n: {"weights_out": lambda w: np.round(w, n)}, (7, 9).__contains__),
            does="The weights are rounded.",
            why="Rounded weights do not sum to 1, and small ones disappear.",
            ask="Which of your operations throws digits away?"),
    Mistake("small weights raised", change=tuple(
                {"weights_out": lambda w, e=e: np.maximum(w, e)} for e in (1e-2, 1e-3)),
            numbers=each(lambda e: {"weights_out": lambda w: np.maximum(w, e)}, lambda e: 0 < e < 0.1),
            does="No weight is below a small number.",
            why="A weight may be as small as it comes, also 0: raised, the row does not sum to 1.",
            ask="What is the smallest weight that your function can give?"),
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
        case(HUGE, [-800, -10, -9], extreme=True), case(HUGE, [1500, 1499, 0], extreme=True),
    ]


def low_rows(case):
    """Scores of -inf beside scores as low as what learners write in their place."""
    return [case(NEG_INF, [[low, low - 1, -np.inf], [0, 1, 2]], extreme=True) for low in (-5000.0, -10000.0, -1e6)]


LOW_FILLS = (-5.0, -10.0, -100.0, -999.0, -1e3, -2e3, -9999.0, -1e4, -6e4, -65504.0, -1e5)


def _unlike(above, below):
    """A softmax with other powers above the fraction line than below."""
    def answer(scores, axis=-1):
        highest = scores.max(axis=axis, keepdims=True)
        return np.exp(scores - above * highest) / np.exp(scores - below * highest).sum(axis=axis, keepdims=True)

    return {"answer": answer}


UNIFORM = Mistake(
    "uniform weights", alone=True, change={"exponential": lambda shifted, axis: np.ones_like(shifted)},
    does="All weights of a row are equal, 1 / n, whatever the scores are.",
    why="A higher score gets more weight: one that is larger by 1 gets e times as much.",
    ask="Where do the scores enter your weights?")

ONE_LINE_SHIFTED = Mistake(
    "maximum subtracted on one side of the fraction line", change=(_unlike(1, 0), _unlike(0, 1)),
    does="The maximum is subtracted in the exponentials or in their sum, and not in both: each row is wrong by a "
         "factor exp(maximum).",
    why="The factor exp(-maximum) cancels only where it stands above and below the fraction line.",
    ask="Which scores go into exp above the line, and which below?")

SCALED_SCORES = Mistake(
    "scores divided by sqrt(n)",
    change=({"scores_in": lambda s: s / np.sqrt(s.shape[-1])}, {"scores_in": lambda s: s / s.shape[-1]}),
    does="The scores are divided by sqrt(n), or by n, before the softmax.",
    why="The scale belongs to the scores and has been applied; the softmax takes them as they are.",
    ask="What should the softmax of 0, 1 be?")

softmax_row = Exercise(
    name="softmax_row", signature="(scores)", part=PART,
    text="The softmax of one row of scores, right for scores of ±10000 too.",
    answer=lambda do, scores: softmax_steps_answer(do, scores, None), steps=SOFTMAX_STEPS, cases=_row_cases,
    hints=(
        "Make every score positive with exp; then divide by what makes the row sum to 1.",
        "exp(1000) overflows. The softmax does not change when the same number is subtracted from "
        "every score: which number makes all exponents 0 or less?",
        "Subtract scores.max() first, then take np.exp, then divide by the sum of the exponentials.",
    ),
    mistakes=tuple(m for m in SHIFT_MISTAKES if m.name != "one maximum for the whole array")
    + EXPONENTIAL_MISTAKES + (SIGN,) + tuple(
        m for m in TOTAL_MISTAKES if m.name not in ("sum over the wrong axis",
                                                    "sum without keepdims")) + AFTER_MISTAKES + (
        ONE_LINE_SHIFTED, SCALED_SCORES, UNIFORM,
        Mistake("divided by the sum so far", change={"total": lambda p, axis: np.cumsum(p)},
                does="Each exponential is divided by the sum of the exponentials up to it.",
                why="The sum runs over the whole row: it has to be finished before the first division.",
                ask="How many exponentials have been added when the first weight is computed?")),
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
        case(LEADING, [[[0, 1], [2, 5]]]), Case(LEADING, (normal(2, 5, 3, seed=5),)),
        Case(LEADING, (normal(2, 3, 5, 7, seed=6),)),
        case(AXIS_GIVEN, [[0, 1], [2, 5]], 0), Case(AXIS_GIVEN, (normal(5, 3, seed=7), 0)),
        Case(AXIS_GIVEN, (normal(5, 3, seed=7), 1)), Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), 1)),
        Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), -2)), Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), -3)),
        Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), 2)),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3,)),
        case(HUGE, [[10000, 9999], [0, 1]], extreme=True), case(HUGE, [[-10000, -9999], [0, 1]], extreme=True),
        case(HUGE, [[400, 399], [0, 1]], extreme=True),
        *extreme_rows(lambda aspect, row, extreme: rowwise(aspect, row, extreme)),
        case(HUGE, [[10000], [9999]], 0, extreme=True),
        case(NEG_INF, [[0, -inf], [1, 2]], extreme=True), case(NEG_INF, [[1, -inf, 3], [-inf, -inf, 2]], extreme=True),
        *low_rows(case),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], dtype=f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], dtype=f4, extreme=True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], dtype=f2),
        case(FLOAT16, [[20, 21, 19], [0, 1, 2]], dtype=f2, extreme=True),
    ]


def _by_default(axis):
    return {"axis": lambda given, scores: axis if given == -1 else given}


OTHER_DEFAULT = Mistake(
    "another axis by default", change=tuple(_by_default(axis) for axis in (0, 1, -2, None)),
    does="With an axis given it is right. Without one it does not run along the last axis.",
    why="The default is the last axis, -1, which runs over the keys.",
    ask="What stands behind axis= in the first line of your function?")

PLACE_MISTAKES = (
    Mistake("axis not moved back",
            change=({"place": lambda w, axis: np.moveaxis(w, axis, -1)},
                    {"place": lambda w, axis: np.swapaxes(w, axis, -1)}),
            does="For the last axis it is right. For another one the weights are right, and their axes in "
                 "another order.",
            why="An axis that is moved to the end has to be moved back: the answer has the scores' shape.",
            ask="Which axis stands last in your answer, and which stood last in the scores?"),
)


def placed(answer):
    """A softmax whose axes can be left in another order."""
    def with_place(do, scores, axis=-1):
        return do.place(answer(do, scores, axis), axis)

    return with_place


def _always(axis):
    return lambda given, scores: axis


softmax = Exercise(
    name="softmax", signature="(scores, axis=-1)", part=PART,
    text="The softmax along any one axis of an array with any number of axes, right for huge "
         "scores and for scores of -inf (never a whole row of them).",
    answer=placed(softmax_steps_answer),
    steps={**SOFTMAX_STEPS, "place": lambda weights, axis: weights}, cases=_softmax_cases,
    hints=(
        "Begin with one row: exp of each score, divided by the sum of these exponentials.",
        "Subtract the maximum first, so that no exponential overflows. Each row needs its own maximum.",
        "np.max and np.sum take an axis. With keepdims=True the axis stays, with length 1, so that "
        "the result lines up with the scores again.",
        "Three lines: subtract scores.max(axis=axis, keepdims=True); take np.exp; divide by the sum "
        "of the exponentials over the same axis, again with keepdims=True.",
    ),
    mistakes=(
        *SHIFT_MISTAKES, *EXPONENTIAL_MISTAKES, SIGN, *TOTAL_MISTAKES, *AXIS_MISTAKES, *AFTER_MISTAKES,
        OTHER_DEFAULT, *PLACE_MISTAKES, ONE_LINE_SHIFTED, SCALED_SCORES, UNIFORM,
        replace(ZERO_FILL, change={"scores_in": lambda s: np.where(np.isneginf(s), 0.0, s)},
                does="Scores of -inf count as 0."),
        replace(LOWEST_INSTEAD, change=({"scores_in": lambda s: np.where(np.isneginf(s), _lowest(s, None), s)},
                                        {"scores_in": lambda s: np.where(np.isneginf(s), _lowest(s, -1), s)})),
        COUNTED_AS_1,
        Mistake("scores of -inf become NaN",
                change={"scores_in": lambda s: np.where(np.isneginf(s), np.nan, s), "shift": SOFTMAX_STEPS["shift"]},
                does="A row with a score of -inf is NaN throughout.",
                why="0 * inf and inf - inf are NaN: a mask that multiplies, or is multiplied with infinity, makes them.",
                ask="What is -inf times 0?"),
        Mistake("axes counted in reverse", change={"axis": lambda axis, scores: -1 - axis},
                does="The softmax runs along the axis that the given one becomes when all axes are reversed.",
                why=".T reverses all axes: the last one is the first then, and axis counts from the other side.",
                ask="Which axis of scores.T is the last axis of the scores?"),
        Mistake("sign of the axis lost",
                change=({"axis": lambda axis, scores: abs(axis) if abs(axis) < scores.ndim else axis},
                        {"axis": lambda axis, scores: abs(axis)}),
                does="An axis that counts from the end is taken to count from the front.",
                why="-1 is the last axis, and 1 the second one.",
                ask="Which axis is -2 if there are three?"),
        Mistake("large negative number instead of -inf", change=tuple(
                    {"scores_in": lambda s, v=value: np.where(np.isneginf(s), v, s), "shift": SOFTMAX_STEPS["shift"]}
                    for value in LOW_FILLS),
                numbers=each(lambda v: {"scores_in": lambda s: np.where(np.isneginf(s), v, s),
                                        "shift": SOFTMAX_STEPS["shift"]}, lambda v: v < 0),
                does="A number stands in for -inf that is not far enough below the other scores.",
                why="Only -inf is below every score.",
                ask="Which score gives a weight of exactly 0 after the softmax?"),
        Mistake("the axis beside the given one",
                change=({"axis": lambda axis, scores: (axis + 1) % scores.ndim},
                        {"axis": lambda axis, scores: (axis - 1) % scores.ndim}),
                does="The softmax runs along the next axis, or the one before the one that is given.",
                why="axis says along which axis the weights sum to 1.",
                ask="Along which axis must the weights sum to 1 if axis is 0?"),
        Mistake("axis put back in second place",
                change=({"shift": lambda s, axis: s - s.max(axis=axis)[:, None],
                         "total": lambda p, axis: p.sum(axis=axis)[:, None]},
                        {"total": lambda p, axis: p.sum(axis=axis)[:, None]},
                        {"shift": lambda s, axis: s - s.max(axis=axis)[:, None]}),
                does="For the last of two axes it is right. Elsewhere maxima or sums line up with the wrong axis, where "
                     "the shapes fit at all.",
                why="[:, None] adds an axis in second place; keepdims=True keeps the axis where it was.",
                ask="Where does the axis that was reduced belong if there are three axes?"),
        Mistake("maximum over the last axis whatever axis says",
                change={"shift": lambda s, axis: s - s.max(axis=-1, keepdims=True)},
                does="For the last axis it is right. For another one the scores of one softmax are moved by "
                     "different numbers.",
                why="The maximum and the sum run along the same axis, the one that the caller gives.",
                ask="Where does each of your lines take its axis from?"),
        Mistake("sum over the last axis whatever axis says",
                change={"total": lambda p, axis: p.sum(axis=-1, keepdims=True), "shift": SOFTMAX_STEPS["shift"]},
                does="For the last axis it is right. For another one the exponentials are divided by sums over the last.",
                why="The maximum and the sum run along the same axis, the one that the caller gives.",
                ask="Where does each of your lines take its axis from?"),
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
                does="The maximum is taken over another axis than the sum: the scores of one softmax are moved by "
                     "different numbers.",
                why="Within a row the same number must be subtracted from all scores, or their "
                    "differences change.",
                ask="Which number may be subtracted without changing a row's softmax?"),
    ),
)

# ---------------------------------------------------------------- helpers of the entries below

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
        Case(PLAIN, (normal(7, 11, seed=3), 0.7)), Case(PLAIN, (normal(3, 5, seed=12), 2.6)),
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
                "sharpens them. What is added to all scores of a row, or multiplied with all exponentials, "
                "has no effect at all.",
            ask="Where in your function does the temperature change the ratio of two weights?"),
    Mistake("multiplied by the temperature", change={"temper": lambda s, t: s * t},
            does="A high temperature sharpens the weights, a low one evens them out.",
            why="It is the other way round: scores are divided by the temperature.",
            ask="What should happen to the weights when the temperature becomes very high?"),
    Mistake("temperature after the softmax",
            change=tuple({"temper": _untempered, "weights_late": late} for late in (
                lambda w, t: w / t, lambda w, t: w * t, _renormalised_power)),
            does="The temperature changes the weights of an ordinary softmax, not the scores.",
            why="Then the rows no longer sum to 1; or, if they are made to, a weight that underflowed "
                "to 0 stays 0 at any temperature.",
            ask="What has to be divided by the temperature, the scores or the weights?"),
    Mistake("power of the weights not normalised",
            change=tuple({"temper": _untempered, "weights_late": late} for late in (
                lambda w, t: w ** (1 / t), lambda w, t: w ** t)),
            does="The weights of an ordinary softmax are raised to a power, and left at that: no row sums to 1.",
            why="exp(s / T) is exp(s) to the power 1 / T, but the sum below the fraction line is another one then: the "
                "powers have to be divided by their own sum.",
            ask="What do the weights of a row sum to after your power?"),
    Mistake("only the maximum divided by the temperature",
            change={"temper": _untempered, "shift": _no_shift,
                    "shift_late": lambda tempered, s, t: tempered - s.max(axis=-1, keepdims=True) / t},
            does="The weights are the same at every temperature; for large scores exp overflows, or all "
                 "exponentials underflow.",
            why="What is subtracted from all scores of a row has no effect. The scores themselves have to "
                "be divided.",
            ask="Which brackets are missing in (scores - maximum) / temperature?"),
    Mistake("temperature only above the fraction line", change={"below": lambda p, t: p ** t},
            does="The exponentials above the fraction line have the temperature, their sum has not.",
            why="The sum must run over the same exponentials, or the rows do not sum to 1.",
            ask="What do the weights of a row sum to?"),
    Mistake("temperature only below the fraction line", change={"above": lambda p, t: p ** t},
            does="The sum has the temperature, the exponentials above the fraction line have not.",
            why="The sum must run over the same exponentials, or the rows do not sum to 1.",
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
            numbers=each(lambda e: {"temper": lambda s, t: s / (t + e)}, lambda e: 0 < e < 1),
            does="The scores are divided by slightly more than the temperature.",
            why="The temperature is above 0; a small number added to it shows at low temperatures.",
            ask="Can the temperature be 0 here?"),
    Mistake("1 added to the temperature", change={"temper": lambda s, t: s / (1 + t)},
            does="The scores are divided by 1 + temperature.",
            why="A temperature of 1 leaves the softmax as it is: scores are divided by the temperature itself.",
            ask="What are the weights at a temperature of 1?"),
    Mistake("temperature never below 1", change={"temper": lambda s, t: s / max(t, 1)},
            does="Temperatures below 1 count as 1.",
            why="A temperature below 1 sharpens the weights.",
            ask="What should a temperature of 0.5 do?"),
    Mistake("temperature rounded to a whole number",
            change=tuple({"temper": lambda s, t, cut=cut: s / cut(t)} for cut in (
                lambda t: max(1, int(t)), lambda t: max(1, round(t)), np.ceil, lambda t: float(int(t)), np.round,
                lambda t: int(t) or t)),
            does="The scores are divided by a whole number: the fraction of the temperature is lost.",
            why="A temperature of 2.6 lies between 2 and 3, and one of 0.5 is not 0 and not 1.",
            ask="Which of your lines makes an integer of the temperature?"),
    Mistake("a fixed temperature",
            change=tuple({"temper": lambda s, t, c=c: s / c} for c in (2.0, 0.5)),
            numbers=each(lambda c: {"temper": lambda s, t: s / c}),
            does="The scores are divided by the same number at every temperature.",
            why="The caller says how high the temperature is.",
            ask="Where does your function use its parameter temperature?"),
    Mistake("temperature kept within limits",
            change=tuple({"temper": lambda s, t, limit=limit: s / limit(t)} for limit in (
                lambda t: max(t, 0.1), lambda t: min(t, 10), lambda t: min(t, 1), lambda t: max(t, 0.5), lambda t: min(t, 2))),
            numbers=lambda numbers: [{"temper": lambda s, t, c=c, cut=cut: s / cut(t, c)}
                                     for c in numbers if c > 0 for cut in (min, max)],
            does="A temperature above or below a limit counts as the limit.",
            why="Any temperature above 0 is allowed.",
            ask="Which temperatures does your function change?"),
    Mistake("maximum multiplied by the temperature",
            change={"shift": _no_shift, "shift_late": lambda tempered, s, t: tempered - s.max(axis=-1, keepdims=True) * t},
            does="The maximum is multiplied by the temperature, the scores are divided by it. For small scores that does "
                 "no harm; for large ones exp overflows or all exponentials underflow.",
            why="Only with the maximum of what goes into exp is the largest exponent 0.",
            ask="Of which numbers is the maximum that you subtract?"),
    Mistake("another function of the temperature",
            change=tuple({"temper": lambda s, t, of=of: of(s, t)} for of in (
                lambda s, t: s / np.log1p(t), lambda s, t: s / (1 + np.log1p(t)), lambda s, t: s * np.exp(-t),
                lambda s, t: s / np.log(t), lambda s, t: s / np.log2(t), lambda s, t: s * (1 + t),
                lambda s, t: s * (1 - t), lambda s, t: s / (1 + t * t), lambda s, t: s / np.tanh(t),
                lambda s, t: s * np.exp(1 / t), lambda s, t: s / (1 + 1 / t), lambda s, t: s / (t + 1 / t),
                lambda s, t: s / t + s, lambda s, t: s - s / t, lambda s, t: s / t ** 3, lambda s, t: s / (2 * t),
                lambda s, t: s / t / np.sqrt(s.shape[-1]), lambda s, t: s / t / s.shape[-1])),
            does="The scores are divided by something else that is computed from the temperature.",
            why="Scores are divided by the temperature as it is given.",
            ask="What are the weights at a temperature of 1, and what should they be?"),
    Mistake("temperature as the base of the power", change={"temper": lambda s, t: s * np.log(t)},
            does="The powers are temperature ** score.",
            why="The base stays e; the temperature divides the exponent.",
            ask="What would the weights be at a temperature of 1?"),
    Mistake("maximum of the undivided scores",
            change={"shift": _no_shift,
                    "shift_late": lambda tempered, s, t: tempered - s.max(axis=-1, keepdims=True)},
            does="The maximum is taken before the scores are divided by the temperature. For small "
                 "scores that does no harm; for large ones exp overflows or all exponentials underflow.",
            why="Only with the maximum of what goes into exp is the largest exponent 0.",
            ask="What is the largest exponent for the scores 10000, 9990 at a temperature of 10?"),
)

# the temperature may come after exp, too
NO_MAXIMUM_AT_ALL = replace(NO_MAXIMUM, change=(NO_MAXIMUM.change, {
    "shift": _no_shift, "temper": _untempered,
    "above": lambda powers, t: powers ** (1 / t), "below": lambda powers, t: powers ** (1 / t)}))

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
    mistakes=(*TEMPERATURE_MISTAKES, NO_MAXIMUM_AT_ALL, *SHIFT_MISTAKES[1:], *EXPONENTIAL_MISTAKES, SIGN,
              *TOTAL_MISTAKES,
              *AXIS_MISTAKES, *KEEPDIMS_MISTAKES, *AFTER_MISTAKES, UNIFORM),
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
TINIER = (float(np.finfo(np.float64).tiny), float(np.finfo(np.float32).tiny), float(np.finfo(np.float64).eps), 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30, 1e-300)


def _refused(highest):
    """math.log(0) and the like."""
    if (highest == -np.inf).any():
        raise ValueError("math domain error")
    return highest


LOWEST = tuple(float(np.finfo(dtype).min) for dtype in (np.float16, np.float32, np.float64))


def _dead_as(value):
    def finish(lse, scores, axis):
        lse = lse.squeeze(axis)
        return np.where(lse == -np.inf, value, lse)

    return {"finish": finish}


def _low_as(value):
    """A number for -inf, but rows of nothing but -inf come out right."""
    def finish(lse, scores, axis):
        lse = lse.squeeze(axis)
        return np.where((scores == value).all(axis=axis), -np.inf, lse)

    return {"scores_in": lambda s: np.where(np.isneginf(s), value, s), "finish": finish}


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
        *low_rows(case),
        case(DEAD, [[-inf, -inf]]), case(DEAD, [[0, 1], [-inf, -inf]]),
        case(DEAD, [-inf, -inf, -inf]), case(DEAD, [[0, -inf], [1, -inf]], 0),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], dtype=f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], dtype=f4, extreme=True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], dtype=f2),
        case(FLOAT16, [[20, 21, 19], [0, 1, 2]], dtype=f2, extreme=True),
        case(FLOAT16, [[-inf, -inf], [1, 2]], dtype=f2, extreme=True),
    ]



CLIPS = (50, 80, 88, 100, 500, 700)


def _centred(centre):
    return {"highest": lambda scores, axis: centre(scores, axis=axis, keepdims=True)}


LSE_SHIFTS = (
    replace(NO_MAXIMUM,
            change=({"guard": lambda highest: np.zeros_like(highest)},
                    {"guard": lambda highest: highest, "log": lambda total: total,
                     "add_back": lambda logs, m, axis: np.log(logs * np.exp(m))}),
            does="For small scores it is right. For scores above 709 (above 88 in float32, above 11 in "
                 "float16) exp overflows to inf; in a row far below 0 the sum underflows, and its "
                 "logarithm is -inf.",
            why="The maximum can be taken out of the sum: subtract it from the scores, and add it to "
                "the logarithm. Then no exponent is above 0, and the sum is at least 1."),
    replace(named("minimum subtracted instead of maximum", SHIFT_MISTAKES),
            change=(_centred(np.min), {"highest": lambda scores, axis: scores.min()})),
    replace(named("mean subtracted instead of maximum", SHIFT_MISTAKES),
            change=(_centred(np.mean), {"highest": lambda scores, axis: scores.mean()}),
            does="A score far above the mean of its row still overflows; and one score of -inf spoils "
                 "the whole row."),
    replace(named("one score subtracted instead of the maximum", SHIFT_MISTAKES),
            change=tuple({"highest": lambda scores, axis, i=i: np.take(scores, [i], axis=axis)} for i in (0, -1))),
    replace(named("one maximum for the whole array", SHIFT_MISTAKES),
            change=({"highest": lambda scores, axis: scores.max()},
                    {"highest": lambda scores, axis: scores.max(), "guard": lambda highest: highest}),
            does="In a row that lies far below the largest score of all the sum underflows, and its "
                 "logarithm is -inf. If all scores are -inf, so is that maximum, and -inf - -inf is NaN unless "
                 "you see to it.",
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
                   tuple({"scores_in": lambda s, c=c: np.minimum(s, c)} for c in CLIPS[-1:]),
            numbers=lambda numbers: [{"scores_in": clip} for c in numbers if 1 < abs(c) < 1000 for clip in (
                lambda s, c=abs(c): np.clip(s, -c, c), lambda s, c=abs(c): np.minimum(s, c),
                lambda s, c=abs(c): np.maximum(s, -c))],
            why="The log-sum-exp of 10000 and 9999 is a little above 10000.",
            ask="What should the log-sum-exp of 10000, 9999 be?"),
)

ADD_BACK_MISTAKES = (
    Mistake("maximum not added back", change={"add_back": lambda logs, m, axis: logs},
            does="The answer lies between 0 and log n: it does not change when all scores grow.",
            why="Subtracting the maximum divides the sum by exp(maximum). The logarithm turns that "
                "factor into a term, which has to be added again.",
            ask="By how much should the answer grow when every score of a row grows by 1?"),
    Mistake("maximum added twice",
            change=({"add_back": lambda logs, m, axis: logs + 2 * m},
                    {"guard": lambda m: np.zeros_like(m), "finish": lambda lse, s, axis: (
                        lse + s.max(axis=axis, keepdims=True)).squeeze(axis)}),
            does="When all scores of a row grow by 1, the answer grows by 2.",
            why="The maximum was subtracted once, and is added once.",
            ask="By how much should the answer grow when every score of a row grows by 1?"),
    Mistake("another number added back than was subtracted",
            change=tuple({"finish": lambda lse, s, axis, more=more: lse.squeeze(axis) + more(s, axis)} for more in (
                lambda s, axis: s.max(axis=axis) - s.min(axis=axis), lambda s, axis: s.max(axis=axis) - s.mean(axis=axis),
                lambda s, axis: s.min(axis=axis) - s.max(axis=axis), lambda s, axis: s.mean(axis=axis) - s.max(axis=axis),
                lambda s, axis: s.max() - s.max(axis=axis))),
            does="One number is subtracted from the scores, and another one added to the logarithm.",
            why="What is subtracted before exp is a factor of the sum: the same number has to be added after the logarithm.",
            ask="Which number do you subtract, and which do you add?"),
    Mistake("maximum multiplied instead of added back", change={"add_back": lambda logs, m, axis: logs * m},
            does="The logarithm of the sum is multiplied by the maximum.",
            why="The logarithm turns the factor exp(maximum) into a term: it is added.",
            ask="What is log(a b)?"),
    Mistake("maximum subtracted again instead of added back", change={"add_back": lambda logs, m, axis: logs - m},
            does="When all scores of a row grow by 1, the answer falls by 1.",
            why="The maximum was subtracted from the scores; afterwards it has to be added.",
            ask="By how much should the answer grow when every score of a row grows by 1?"),
    Mistake("log of the sum subtracted instead of added",
            change={"add_back": lambda logs, m, axis: m - logs},
            does="The answer is the maximum minus the logarithm of the sum.",
            why="The sum is a factor beside exp(maximum): its logarithm has to be added.",
            ask="Should the answer be above or below the largest score?"),
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

def _largest(powers, axis, k):
    """The sum of the k largest powers."""
    ordered = np.sort(powers, axis=axis)
    n = ordered.shape[axis]
    return np.take(ordered, range(max(n - k, 0), n), axis=axis).sum(axis=axis, keepdims=True)


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
            ask="What should the answer be for two scores of 0?"),
    Mistake("logarithm to base 10", change={"log": lambda total: np.log10(total)},
            does="The sum's logarithm is 2.3 times too small.",
            why="exp and the natural logarithm undo each other; exp and log10 do not.",
            ask="What should the answer be for two scores of 0?"),
    Mistake("log1p instead of log", change={"log": lambda total: np.log1p(total)},
            does="The logarithm is that of the sum plus 1.",
            why="log1p(x) is log(1 + x): the 1 is one term too many.",
            ask="What should the answer be for a single score?"),
    Mistake("epsilon in the logarithm",
            change=tuple({"log": lambda total, e=e: np.log(total + e)} for e in EPSILONS + TINIER) +
                   tuple({"log": lambda total, e=e: np.log(np.maximum(total, e))}
                         for e in (1e-6, 1e-8, *TINIER, float(np.finfo(np.float32).eps))),
            numbers=each(lambda e: {"log": lambda total: np.log(total + e)}, lambda e: 0 < e < 10),
            does="A small number stands with the sum in the logarithm. A row of nothing but -inf gives "
                 "the logarithm of that number.",
            why="With the maximum subtracted the sum is at least 1. In a row of -inf it is 0, and "
                "there -inf is the answer that is asked for.",
            ask="When can the sum be 0, and what should its logarithm be then?"),
    Mistake("one score left out of the sum",
            change=ONE_LEFT_OUT,
            does="The first, the last or the largest score of a row is missing in the sum.",
            why="The sum runs over all scores of a row.",
            ask="How many exponentials are added, and how many scores has the row?"),
    Mistake("only the largest scores",
            change=tuple({"total": lambda p, axis, k=k: _largest(p, axis, k)} for k in (2, 3)),
            numbers=each(lambda k: {"total": lambda p, axis: _largest(p, axis, k)}, lambda k: k in range(4, 20)),
            does="Only the two or three largest scores of a row are summed.",
            why="Small scores have small exponentials, and there may be many of them: all are added.",
            ask="What should the answer be for n equal scores?"),
    Mistake("mean instead of sum",
            change={"total": lambda p, axis: p.mean(axis=axis, keepdims=True)},
            does="The answer is too small by log n.",
            why="Log-sum-exp adds the exponentials; it does not average them.",
            ask="What should the answer be for n equal scores?"),
)

LSE_RESULTS = (
    replace(ZERO_FILL, change=({"scores_in": lambda s: np.where(np.isneginf(s), 0.0, s)},
                               {"total": lambda p, axis: np.where(p == 0, 1, p).sum(axis=axis, keepdims=True)}),
            does="Scores of -inf are counted, with exp(0) = 1 each.",
            why="exp(-inf) is 0: such a score adds nothing to the sum.",
            ask="What is exp of a score of -inf?"),
    Mistake("divided by the number of scores",
            change={"finish": lambda lse, scores, axis: lse.squeeze(axis) / (
                scores.size if axis is None else scores.shape[axis])},
            does="The answer is divided by n.",
            why="Nothing is averaged: the exponentials are summed, and one logarithm is taken.",
            ask="What should the answer be for n equal scores?"),
    Mistake("maximum instead of log-sum-exp", change={"answer": lambda scores, axis=-1: scores.max(axis=axis)},
            does="The answer is the largest score.",
            why="All scores count; the answer lies above the largest one.",
            ask="What should the answer be for two equal scores?"),
    Mistake("sum of softplus", change={"answer": lambda scores, axis=-1: np.logaddexp(0, scores).sum(axis=axis)},
            does="The answer is the sum of log(1 + exp(score)).",
            why="The exponentials are added first; then comes one logarithm.",
            ask="In which order do exp, sum and log come?"),
    Mistake("logarithm before the sum", change={"answer": lambda scores, axis=-1: scores.sum(axis=axis)},
            does="The answer is the sum of the scores.",
            why="log(exp(score)) is the score again. The exponentials are added first; then comes one "
                "logarithm.",
            ask="In which order do exp, sum and log come?"),
    Mistake("not summed", change={"answer": lambda scores, axis=-1: scores},
            does="The answer is the scores themselves: log and exp cancel.",
            why="Between exp and log comes a sum over the axis, which goes.",
            ask="Which shape should the answer have?"),
    Mistake("softmax instead of log-sum-exp",
            change=({"finish": lambda lse, scores, axis: np.exp(scores - lse)},
                    {"finish": lambda lse, scores, axis: np.where(np.isneginf(lse), 0.0, np.exp(scores - lse))}),
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
    Mistake("dead rows NaN", change=({"guard": lambda highest: highest}, {"guard": _refused}),
            does="A row of nothing but -inf gives NaN.",
            why="Its maximum is -inf too, and -inf - -inf is NaN. Nothing has to be subtracted from such "
                "a row: exp(-inf) is 0, and log(0) is -inf, as it should be.",
            ask="What is subtracted from the scores in a row of nothing but -inf?"),
    Mistake("only an array of nothing but -inf is seen as dead",
            change={"guard": lambda highest: np.where(highest.max() == -np.inf, 0.0, highest)},
            does="A dead row among others gives NaN; only if all rows are dead they give -inf.",
            why="Each row has to be looked at by itself.",
            ask="Does your test ask about one row, or about the whole array?"),
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
            change=tuple(_dead_as(value) for value in (-1e9, -1e30, -1e4) + LOWEST) + tuple(map(_low_as, LOW_FILLS))
                   + tuple({"scores_in": lambda s, v=value: np.where(np.isneginf(s), v, s),
                            "guard": lambda highest: highest}
                           for value in (-1e9, -1e30))
                   + ({"finish": lambda lse, scores, axis: np.nan_to_num(lse.squeeze(axis))},),
            numbers=lambda numbers: [change(v) for v in numbers if v < 0 for change in (_dead_as, _low_as)],
            does="A large negative number stands in for -inf: it is counted among scores as low, or a row of nothing but "
                 "-inf gives a number.",
            why="exp(-inf) is 0 exactly: it adds nothing to any sum, and log(0) is -inf. A number in its "
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
        "Read the name from the right: exp of each score, the sum of these exponentials, its logarithm.",
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

def log_softmax_steps_answer(do, scores, axis):
    axis = do.axis(axis, scores)
    scores = do.scores_in(scores)
    shifted = do.shift(scores, axis)
    powers = do.exponential(shifted, axis)
    logs = do.log(do.total(powers, axis))
    return do.weights_out(do.subtract(shifted, logs, powers, scores, axis))


LOG_SOFTMAX_STEPS = {
    **{step: SOFTMAX_STEPS[step]
       for step in ("axis", "scores_in", "shift", "exponential", "total", "weights_out")},
    "log": lambda total: np.log(total),
    "subtract": lambda shifted, logs, powers, scores, axis: shifted - logs,
    "place": lambda logs, axis: logs,
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
        case(UNDERFLOW, [[3, -30, 2]]), case(UNDERFLOW, [[0, -700], [0, 1]], extreme=True),
        case(HUGE, [[10000, 9999], [0, 1]], extreme=True), case(HUGE, [[-10000, -9999], [0, 1]], extreme=True),
        case(HUGE, [[400, 399], [0, 1]], extreme=True),
        *extreme_rows(rowwise),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], dtype=f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], dtype=f4, extreme=True),
        case(FLOAT32, [[0, -200, 1]], dtype=f4, extreme=True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], dtype=f2),
        case(FLOAT16, [[20, 21, 2], [0, 1, 5]], dtype=f2, extreme=True),
        case(FLOAT16, [[0, -40, 1]], dtype=f2, extreme=True),
    ]


def _log_of(change, finish=lambda logs: logs):
    return {"subtract": lambda shifted, logs, powers, scores, axis: finish(np.log(change(powers / np.exp(logs))))}


def _own_number(name):
    """np.finfo's number for the dtype of an array."""
    return lambda weights: weights + getattr(np.finfo(weights.dtype), name)


def _lse(scores, axis):
    highest = scores.max(axis=axis, keepdims=True)
    return highest + np.log(np.exp(scores - highest).sum(axis=axis, keepdims=True))


SIGN_OF_LOG = replace(
    SIGN, change=({"weights_out": lambda w: -w}, *SIGN.variants),
    does="The scores, or the answer, have the wrong sign.",
    why="A higher score has a higher weight, and the logarithm of a weight is never above 0.",
    ask="Which entry of a row should be closest to 0?")

def _limited(limit):
    return ({"weights_out": lambda logs: np.maximum(logs, limit)},
            {"weights_out": lambda logs: np.where(logs < limit, -np.inf, logs)})


LOG_SOFTMAX_MISTAKES = (
    Mistake("limit on the answer", alone=True,
            change=tuple(change for limit in (-100.0, -50.0, -500.0, -600.0, -1e3) for change in _limited(limit)),
            numbers=lambda numbers: [change for c in numbers if c < -1 for change in _limited(c)],
            does="An answer below a limit becomes the limit, or -inf.",
            why="The logarithm of a weight may be as low as it comes: scores of 0 and -1000 have the answers 0 and -1000.",
            ask="What should the answer be for the scores 0, -1000?"),
    Mistake("logarithm of an underflowed softmax",
            change=(_log_of(lambda weights: weights), _log_of(lambda weights: weights, np.nan_to_num),
                    _log_of(lambda weights: np.where(weights == 0, 1.0, weights))),
            numbers=each(lambda c: _log_of(lambda weights: weights, lambda logs: np.where(np.isneginf(logs), c, logs)),
                         lambda c: c < 0),
            does="The softmax is computed first, and its logarithm taken. A weight that underflows "
                 "to 0 becomes -inf, or whatever is put in its place.",
            why="The logarithm of a quotient is a difference: shifted scores minus the logarithm of their "
                "sum of exponentials. Nothing in it can underflow.",
            ask="What is the logarithm of exp(s) / sum, written without a quotient?"),
    Mistake("epsilon in the logarithm",
            change=tuple(_log_of(lambda weights, e=e: weights + e) for e in EPSILONS[2:] + TINIER) +
                   (_log_of(_own_number("eps")), _log_of(_own_number("tiny"))) +
                   tuple(_log_of(lambda weights, e=e: np.maximum(weights, e)) for e in EPSILONS[5:] + TINIER[:6]) +
                   tuple({"log": lambda total, e=e: np.log(total + e)} for e in EPSILONS[5:]),
            numbers=lambda numbers: [change for e in numbers if 0 < e < 1 for change in (
                _log_of(lambda weights, e=e: weights + e), _log_of(lambda weights, e=e: np.maximum(weights, e)),
                {"log": lambda total, e=e: np.log(total + e)})],
            does="A small number is added in the logarithm, or stands in for what is smaller: no "
                 "answer falls below its logarithm.",
            why="That hides the underflow instead of avoiding it. The difference of shifted scores "
                "and log-sum needs no such number.",
            ask="What should the answer be for the scores 0, -1000?"),
    Mistake("softmax instead of its logarithm",
            change={"subtract": lambda shifted, logs, powers, scores, axis: powers / np.exp(logs)},
            does="The answer holds weights: each row sums to 1.",
            why="Their logarithms are asked for, and none of them is above 0.",
            ask="Where in your function does the logarithm come?"),
    Mistake("log-sum-exp instead of log-softmax",
            change={"subtract": lambda shifted, logs, powers, scores, axis:
                    np.take(logs + scores - shifted, 0, axis=axis)},
            does="The answer is one number for each row, the log-sum-exp.",
            why="Log-softmax has the scores' shape: from each score the log-sum-exp is subtracted.",
            ask="What is left to do with the scores?"),
    Mistake("log of the sum not subtracted",
            change={"subtract": lambda shifted, logs, powers, scores, axis: shifted},
            does="The largest entry of each row is 0: only the maximum was subtracted.",
            why="exp of the answer has to sum to 1. For that the logarithm of the sum is subtracted, too.",
            ask="What does exp of your answer sum to?"),
    Mistake("log of the sum added instead of subtracted",
            change={"subtract": lambda shifted, logs, powers, scores, axis: shifted + logs},
            does="The logarithm of the sum has the wrong sign.",
            why="The logarithm of a quotient is a difference.",
            ask="What does exp of your answer sum to?"),
    Mistake("log-sum-exp subtracted twice",
            change=({"subtract": lambda shifted, logs, powers, scores, axis: 2 * (shifted - logs) - scores},
                    {"subtract": lambda shifted, logs, powers, scores, axis: shifted - 2 * logs}),
            does="The log-sum-exp, or the logarithm of the sum, is subtracted two times.",
            why="exp of the answer has to sum to 1: the denominator is divided by once.",
            ask="What does exp of your answer sum to?"),
    Mistake("half the log-sum-exp subtracted",
            change=({"subtract": lambda shifted, logs, powers, scores, axis: (scores + shifted - logs) / 2},
                    {"subtract": lambda shifted, logs, powers, scores, axis: shifted - logs / 2}),
            does="Half of the log-sum-exp, or of the sum's logarithm, is subtracted.",
            why="exp of the answer has to sum to 1: the whole denominator is divided by.",
            ask="What does exp of your answer sum to?"),
    Mistake("maximum added instead of subtracted",
            change={"subtract": lambda shifted, logs, powers, scores, axis: 2 * scores - shifted - logs},
            does="Each row is too large by twice its maximum.",
            why="The sum was taken of shifted scores: its logarithm belongs to these.",
            ask="From which scores, shifted or not, is your logarithm subtracted?"),
    Mistake("sign flipped in the sum",
            change=({"subtract": lambda shifted, logs, powers, scores, axis: scores - _lse(-scores, axis)},
                    {"subtract": lambda shifted, logs, powers, scores, axis: shifted - _lse(-shifted, axis)}),
            does="The log-sum-exp is that of the negative scores.",
            why="The denominator of the softmax holds the same exponentials as its numerator.",
            ask="Which sign have the scores in your sum?"),
    Mistake("another function of the weights",
            change=tuple({"weights_out": of} for of in (
                lambda logs: np.log(1 - np.exp(logs)), lambda logs: np.exp(logs) * logs, lambda logs: -np.exp(logs) * logs,
                lambda logs: logs - np.log(1 - np.exp(logs)), lambda logs: np.exp(-logs), lambda logs: 1 - np.exp(logs),
                lambda logs: np.log(-logs))),
            does="The answer is computed from the right weights, and is not their logarithm.",
            why="The logarithm of each weight is asked for, and nothing else.",
            ask="What does exp of your answer give?"),
    Mistake("no exponential in the sum",
            change=tuple({"exponential": lambda shifted, axis, of=of: of(shifted)} for of in (
                lambda s: s, np.abs)) + ({"exponential": lambda s, axis: np.abs(s), "log": lambda total: np.log(total + 1)},
                                         {"total": lambda p, axis: np.abs(np.log(p).sum(axis=axis, keepdims=True))}),
            does="The logarithm is taken of the sum of the scores, not of their exponentials.",
            why="The denominator of the softmax is the sum of exp(score).",
            ask="Of what is the sum in your logarithm?"),
    Mistake("divided instead of subtracted",
            change=({"subtract": lambda shifted, logs, powers, scores, axis: shifted / logs},
                    {"subtract": lambda shifted, logs, powers, scores, axis: shifted / np.exp(logs)},
                    {"subtract": lambda shifted, logs, powers, scores, axis: scores / (logs + scores - shifted)}),
            does="The scores are divided.",
            why="In the logarithm a division becomes a subtraction.",
            ask="What is log(a / b)?"),
    Mistake("no logarithm", change={"log": lambda total: total},
            does="The sum of the exponentials is subtracted, not its logarithm.",
            why="log(exp(s) / sum) is s - log(sum).",
            ask="What is log(a / b)?"),
    Mistake("maximum missing in the log-sum-exp",
            change={"subtract": lambda shifted, logs, powers, scores, axis: scores - logs},
            does="Each row is too large by its maximum.",
            why="The sum was taken of shifted scores. Its logarithm belongs to the shifted scores, or "
                "needs the maximum added to it.",
            ask="From which scores, shifted or not, is your logarithm subtracted?"),
    Mistake("maximum subtracted twice",
            change={"subtract": lambda shifted, logs, powers, scores, axis: 2 * shifted - scores - logs},
            does="Each row is too small by its maximum.",
            why="Shifted scores need the logarithm of their own sum, without the maximum added back.",
            ask="How often is the maximum subtracted in your function?"),
    Mistake("logarithm to base 2",
            change=({"log": lambda total: np.log2(total)},
                    {"weights_out": lambda w: w / np.log(2)}),
            does="The answer holds logarithms to base 2, in whole or in part.",
            why="Kernels work with base 2, and multiply by log2(e) first. Here the natural logarithm is "
                "asked for.",
            ask="Which logarithm undoes exp?"),
    Mistake("logarithm to base 10",
            change=({"log": lambda total: np.log10(total)},
                    {"weights_out": lambda w: w / np.log(10)}),
            does="The answer holds logarithms to base 10, in whole or in part.",
            why="exp and the natural logarithm undo each other; exp and log10 do not.",
            ask="Which logarithm undoes exp?"),
    Mistake("log1p instead of log",
            change=({"log": lambda total: np.log1p(total)}, _log_of(lambda weights: 1 + weights)),
            does="1 is added before the logarithm is taken.",
            why="log1p(x) is log(1 + x): the 1 is one term too many.",
            ask="What should the answer be for a single score?"),
    Mistake("no exponential",
            change=({"subtract": lambda shifted, logs, powers, scores, axis:
                     np.log(scores / scores.sum(axis=axis, keepdims=True))},
                    {"subtract": lambda shifted, logs, powers, scores, axis:
                     np.log(np.abs(scores) / np.abs(scores).sum(axis=axis, keepdims=True))}),
            does="The answer is the logarithm of the scores divided by their sum.",
            why="Scores may be negative. The softmax takes exp of each first.",
            ask="What is the logarithm of a negative score?"),
    Mistake("softmax of the scores' logarithms",
            change={"scores_in": lambda s: np.log(s),
                    "subtract": lambda shifted, logs, powers, scores, axis: powers / np.exp(logs)},
            does="The logarithm is taken before the softmax: a negative score gives NaN.",
            why="The logarithm of the softmax is asked for: first the softmax, then the logarithm.",
            ask="In which order are log and softmax applied?"),
)

LOG_TOTALS = (
    replace(named("mean instead of sum", LOG_MISTAKES),
            does="Each entry is too large by log n.",
            why="The weights' denominator is the sum of the exponentials, not their mean.",
            ask="What does exp of your answer sum to?"),
    replace(named("sum over the wrong axis", TOTAL_MISTAKES),
            does="The logarithms of sums over the queries are subtracted.",
            why="exp of the answer has to sum to 1 over the keys."),
    replace(named("sum without keepdims", TOTAL_MISTAKES),
            change=({"total": lambda p, axis: p.sum(axis=axis)},
                    {"subtract": lambda shifted, logs, powers, scores, axis:
                     scores - np.take(logs + scores - shifted, 0, axis=axis)}),
            does="Row i's log-sum is subtracted from column i instead of row i, where the shapes fit at all."),
)

NO_MAXIMUM_IN_LOG = replace(
    NO_MAXIMUM,
    does="For small scores it is right. For scores above 709 (above 88 in float32, above 11 in float16) exp overflows, "
         "and in a row far below 0 the sum underflows to 0: what comes out is infinite or NaN.")

log_softmax = Exercise(
    name="log_softmax", signature="(scores, axis=-1)", part=PART,
    text="The logarithm of the softmax along an axis, finite where the softmax underflows to 0.",
    answer=placed(log_softmax_steps_answer), steps=LOG_SOFTMAX_STEPS, cases=_log_softmax_cases,
    hints=(
        "Write the softmax as a quotient. What is the logarithm of a quotient?",
        "log(exp(s) / sum) is s - log(sum): no quotient and no underflow is left.",
        "Subtract the maximum from the scores first; the difference does not change by it, and the "
        "sum cannot overflow.",
        "With shifted = scores minus their maximum: subtract from it np.log of the sum of "
        "np.exp(shifted), maximum and sum both over the axis and with keepdims=True.",
    ),
    mistakes=(*LOG_SOFTMAX_MISTAKES, NO_MAXIMUM_IN_LOG, *SHIFT_MISTAKES[1:], *LOG_TOTALS, *BASES, SIGN_OF_LOG, *AXIS_MISTAKES,
              OTHER_DEFAULT, *PLACE_MISTAKES,
              *KEEPDIMS_MISTAKES, *PUT_BACK_MISTAKES, named("rounded", AFTER_MISTAKES)),
)

# ---------------------------------------------------------------- safe_softmax

def safe_softmax_answer(do, scores):
    weights = softmax_steps_answer(do, do.fill(scores, do.dtype), -1)
    return do.rescue(weights, scores)


def _dead(scores):
    return np.isneginf(scores).all(axis=-1, keepdims=True)


def _dead_rows(fill):
    return {"rescue": lambda weights, scores: np.where(_dead(scores), fill(scores), weights)}


def _first_key(scores):
    return np.arange(scores.shape[-1]) == 0


def _filled(value, rescued=False):
    """A number for -inf, as the dtype can hold it: -1e9 is -inf in float16."""
    def fill(scores, dtype):
        with np.errstate(over="ignore"):
            return np.where(np.isneginf(scores), float(np.array(value).astype(dtype)), scores)

    # with the maximum of each row: without it, and with -1e9, the row is NaN as with -inf
    left = {} if rescued else {"rescue": lambda weights, scores: weights}
    return {"fill": fill, "shift": SOFTMAX_STEPS["shift"], **left}


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
            change=tuple(_filled(value) for value in (-1e9, -1e4, -9999.0, -1e3, -100.0)) + tuple(
                _filled(value, True) for value in LOW_FILLS[2:]),
            numbers=lambda numbers: [_filled(v, rescued) for v in numbers if v <= -5 for rescued in (False, True)],
            does="A number such as -1e9 stands in for -inf: beside scores as low it gets a weight. A row of nothing but "
                 "-inf becomes uniform, or NaN in float16, which cannot hold -1e9, unless it is set to 0 afterwards.",
            why="Scores of -10000 are legal, and a row of nothing but -inf has no weights. Only -inf "
                "is below every score in every dtype.",
            ask="What are the weights of the scores -10000, -inf?"),
    replace(ZERO_FILL, change=_filled(0.0), does="Scores of -inf count as 0."),
    replace(LOWEST_INSTEAD, change=tuple(
        {"fill": lambda s, dtype, axis=axis: np.where(np.isneginf(s), _lowest(s, axis), s), "rescue": lambda w, s: w}
        for axis in (None, -1))),
    replace(COUNTED_AS_1, change=(COUNTED_AS_1.change, {
        **COUNTED_AS_1.change, "rescue": lambda w, s: np.where(_dead(s), 0.0, w)})),
    Mistake("any -inf empties the row",
            change={"rescue": lambda w, s: np.where(np.isneginf(s).any(axis=-1, keepdims=True), 0.0, w)},
            does="A row with a single -inf among its scores gives zeros.",
            why="Only a row that is all -inf is empty; in any other one the remaining keys share the weight.",
            ask="Which rows have nothing left to attend to: those with any -inf, or those with nothing else?"),
    Mistake("one dead row empties all",
            change=({"rescue": lambda w, s: w * (not _dead(s).any())},
                    {"rescue": lambda w, s: np.where(_dead(s).any(), 0.0, w)}),
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


STOPS = Mistake(
    "error at a dead row",
    does="The function raises an exception where a row is all -inf.",
    why="Such a row is no error: a query that may attend to nothing gets zeros, and the others their weights.",
    ask="What should the answer be for a query that may attend to nothing?")


def stops_at_dead_rows(run):
    """An audit: whether a dead row makes the function raise, or fail an assertion, of its own."""
    failure = run(np.array([[0.0, 1.0], [-np.inf, -np.inf]])).failure
    own = failure and (failure.kind == "AssertionError" or failure.line.startswith("raise"))
    return STOPS if own and not run(np.array([[0.0, 1.0], [2.0, -np.inf]])).failure else None


def _of_finite_scores(mistake):
    """The minimum may be taken of the finite scores alone."""
    if mistake.name != "minimum subtracted instead of maximum":
        return mistake
    return replace(mistake, change=(*mistake.variants, {"shift": lambda s, axis: s - _lowest(s, axis)}))


def beside_dead_rows(mistake):
    """The mistake with a reason that is true where the sum of a row may be 0."""
    if mistake.name != "epsilon in the denominator":
        return mistake
    return replace(mistake, why="Only where every score of a row is -inf is the sum 0, and 1 may take its place. In any other "
                                "row it is at least 1 with the maximum subtracted, and a number added makes the weights wrong.")


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
        Case(PLAIN, (normal(5, 7, seed=1),)), Case(PLAIN, (normal(7, 3, seed=2),)),
        Case(PLAIN, (normal(7, 11, seed=3),)),
        case(SQUARE, [[0, 1], [2, 5]]), Case(SQUARE, (normal(5, 5, seed=3),)),
        case("one axis", [0, 1, 3]), Case("one axis", (normal(7, seed=4),)),
        case(LEADING, [[[0, 1], [2, 5]]]), Case(LEADING, (normal(2, 5, 3, seed=5),)),
        Case(LEADING, (normal(2, 3, 5, 7, seed=6),)),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3,)),
        case(HUGE, [[10000, 9999], [0, 1]], extreme=True), case(HUGE, [[-10000, -9999], [0, 1]], extreme=True),
        case(HUGE, [[400, 399], [0, 1]], extreme=True),
        case(HUGE, [[-500, -499], [-1, -2]], extreme=True), case(HUGE, [[-800, -799], [-720, -721]], extreme=True),
        *extreme_rows(rowwise),
        case(NEG_INF, [[0, -inf], [1, 2]], extreme=True), case(NEG_INF, [[1, -inf, 3], [-inf, -inf, 2]], extreme=True),
        case(NEG_INF, [[-10000, -inf], [-inf, -10000]], extreme=True),
        case(NEG_INF, [[-1000, -inf, -999.5]], extreme=True),
        case(NEG_INF, [[-100, -inf, -99.5]], extreme=True), *low_rows(case),
        case(DEAD, [[-inf, -inf]], extreme=True), case(DEAD, [[0, 1], [-inf, -inf]], extreme=True),
        case(DEAD, [-inf, -inf, -inf], extreme=True),
        case(DEAD, [[-inf, -inf, -inf], [-inf, -inf, -inf]], extreme=True),
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
    steps={
        **SOFTMAX_STEPS,
        "fill": lambda scores, dtype: scores,
        "rescue": lambda weights, scores: np.where(_dead(scores), 0.0, weights),
    },
    cases=_safe_cases, audits=(stops_at_dead_rows,),
    hints=(
        "Where does NaN come from in a row of nothing but -inf? Look at its maximum, and at its sum.",
        "-inf - -inf is NaN. If 0 is subtracted from such a row instead, exp gives zeros.",
        "Then the row's sum is 0, and 0 / 0 is NaN again. Divided by 1 the zeros stay zeros.",
        "Twice np.where, before use: where the maximum is -inf take 0; where the sum is 0 take 1. "
        "All other rows stay as they are.",
    ),
    mistakes=(*DEAD_ROW_MISTAKES, *map(_of_finite_scores, SHIFT_MISTAKES), *EXPONENTIAL_MISTAKES, SIGN,
              *map(beside_dead_rows, TOTAL_MISTAKES), *AXIS_MISTAKES, *KEEPDIMS_MISTAKES, *AFTER_MISTAKES, UNIFORM),
)

# ---------------------------------------------------------------- softmax_jacobian

def softmax_jacobian_answer(do, weights):
    weights = do.weights_in(weights)
    return do.finish(do.combine(do.diagonal(weights), do.outer(weights)))


def _book_weights(*shape, seed=0, dtype=np.float64):
    """Weights as a softmax gives them."""
    powers = np.exp(normal(*shape, seed=seed))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(dtype)


def _jacobian_cases():
    f4, f2 = np.float32, np.float16
    return [
        Case(PLAIN, (np.array([0.25, 0.75]),)), Case(PLAIN, (np.array([0.5, 0.125, 0.375]),)),
        Case(PLAIN, (_book_weights(5, seed=1),)), Case(PLAIN, (_book_weights(11, seed=2),)),
        Case("equal weights", (np.array([0.25, 0.25, 0.25, 0.25]),)),
        Case("a weight of 0", (np.array([0.5, 0.0, 0.5]),)),
        Case(FLOAT32, (np.array([0.25, 0.75], f4),)), Case(FLOAT32, (_book_weights(7, seed=3, dtype=f4),)),
        Case(FLOAT16, (np.array([0.5, 0.125, 0.375], f2),)),
    ]


def _over_rows(vector):
    """(n,) -> (n, n): the same row again and again."""
    return np.broadcast_to(vector, (vector.size, vector.size))


def _on_diagonal(entry):
    """Another number on the diagonal."""
    return {"answer": lambda w: np.diag(entry(w) + 0 * w) - _off_diagonal(np.outer(w, w))}


def _beside_diagonal(entry):
    """Another number beside the diagonal, of the row's weight and the column's."""
    return {"answer": lambda w: np.diag(w * (1 - w)) + _off_diagonal(
        entry(_over_rows(w).T, _over_rows(w)) + 0 * _over_rows(w))}


def _off_diagonal(array):
    return array - np.diag(np.diagonal(array))


def _without_row(jacobian, part):
    found = jacobian.copy()
    found[part] = 0
    return found


SOFTMAX_OF_WEIGHTS = Mistake(
    "softmax of the weights", change={"weights_in": lambda w: np.exp(w) / np.exp(w).sum(axis=-1, keepdims=True)},
    does="The weights go through another softmax, and are nearly equal.",
    why="The argument holds weights already; the derivative needs nothing but them.",
    ask="What does a softmax do to numbers between 0 and 1?")

softmax_jacobian = Exercise(
    name="softmax_jacobian", signature="(weights)", part=PART,
    text="The Jacobian of the softmax, (n, n), from its weights: entry (i, j) is the derivative of weight i "
         "with respect to score j.",
    answer=softmax_jacobian_answer,
    steps={
        "weights_in": lambda weights: weights,
        "diagonal": np.diag,
        "outer": lambda weights: np.outer(weights, weights),
        "combine": lambda diagonal, outer: diagonal - outer,
        "finish": lambda jacobian: jacobian,
    },
    cases=_jacobian_cases,
    hints=(
        "When score j grows, weight j grows, and all other weights shrink: they share one whole. "
        "Which entries are positive, and what does each row sum to?",
        "For i = j the derivative is w_i (1 - w_i). For i different from j it is -w_i w_j.",
        "Both are w_i (delta_ij - w_j), where delta_ij is 1 for i = j and 0 elsewhere.",
        "np.diag(weights) has the first term on its diagonal, and np.outer(weights, weights) holds "
        "all products w_i w_j. Subtract one from the other.",
    ),
    mistakes=(
        Mistake("diagonal-only Jacobian",
                change=({"outer": lambda w: np.diag(w * w)}, {"finish": lambda j: np.diagonal(j).copy()}),
                does="Only the derivatives w_i (1 - w_i) are there: each weight seems to depend on its own "
                     "score alone.",
                why="That is the derivative of a sigmoid. In a softmax every weight depends on every "
                    "score, through the sum.",
                ask="What happens to weight i when another score grows?"),
        Mistake("outer product missing",
                change=({"outer": lambda w: 0 * np.outer(w, w)},
                        {"outer": lambda w: 0 * np.outer(w, w), "diagonal": lambda w: w}),
                does="Only the first term is there, the weights on the diagonal.",
                why="The sum in the softmax's denominator depends on the scores, too: that gives the term -w_i w_j.",
                ask="What is the derivative of the denominator with respect to score j?"),
        Mistake("diagonal term missing",
                change=({"diagonal": lambda w: 0 * np.diag(w), "outer": lambda w: np.outer(w, w)},
                        {"combine": lambda diagonal, outer: outer}),
                does="Only the products w_i w_j are there.",
                why="The numerator exp(s_i) depends on score i as well: that adds w_i on the diagonal.",
                ask="What is the derivative of the numerator of weight i with respect to score i?"),
        Mistake("sign flipped", change={"combine": lambda diagonal, outer: outer - diagonal},
                does="Every entry has the wrong sign.",
                why="A weight grows with its own score: the diagonal is positive.",
                ask="What happens to weight i when score i grows?"),
        Mistake("sum instead of difference", change={"combine": lambda diagonal, outer: diagonal + outer},
                does="The products w_i w_j are added. Each row sums to twice its weight instead of 0.",
                why="When a score grows by itself, the other weights shrink.",
                ask="What must a row of the Jacobian sum to, if the softmax does not change when all scores "
                    "grow by 1?"),
        Mistake("sign flipped off the diagonal",
                change={"answer": lambda w: np.diag(w * (1 - w)) + _off_diagonal(np.outer(w, w))},
                does="The diagonal is right; off it, every entry is positive.",
                why="When a score grows by itself, the other weights shrink.",
                ask="What happens to weight i when another score grows?"),
        Mistake("identity instead of diag(weights)", change={"diagonal": lambda w: np.eye(w.size)},
                does="1 stands in place of w_i on the diagonal, before w_i w_j is subtracted.",
                why="Entry (i, j) is w_i (delta_ij - w_j): the weight multiplies the delta, too.",
                ask="What multiplies the Kronecker delta in w_i (delta_ij - w_j)?"),
        Mistake("1 instead of the Kronecker delta",
                change=({"diagonal": lambda w: _over_rows(w).T}, {"diagonal": _over_rows}),
                does="Entry (i, j) is w_i (1 - w_j) everywhere, as on the diagonal.",
                why="The 1 comes from the numerator of weight i, which depends on score i alone.",
                ask="What is the derivative of exp(s_i) with respect to another score s_j?"),
        Mistake("squares instead of the outer product",
                change=({"outer": lambda w: _over_rows(w * w)}, {"outer": lambda w: _over_rows(w * w).T}),
                does="Each row of the second term is the same: w_j squared instead of w_i w_j.",
                why="weights * weights multiplies entry by entry. The products of all pairs need a column "
                    "and a row.",
                ask="What are the shapes of the two factors in weights[:, None] * weights[None, :]?"),
        Mistake("weights instead of the outer product",
                change=({"outer": _over_rows}, {"outer": lambda w: _over_rows(w).T}),
                does="The weights are subtracted from diag(weights), row by row or column by column.",
                why="The second term is the product of two weights, w_i w_j.",
                ask="How many weights are multiplied in the entry (i, j) with i different from j?"),
        Mistake("inner product instead of outer", change={"outer": lambda w: np.full((w.size, w.size), w @ w)},
                does="One number, the sum of the squared weights, is subtracted everywhere.",
                why="For arrays with one axis @ sums over it, and .T does nothing. The outer "
                    "product keeps both indices.",
                ask="What is the shape of weights @ weights.T if weights has one axis?"),
        Mistake("Jacobian of the log-softmax",
                change=({"diagonal": lambda w: np.eye(w.size), "outer": _over_rows},
                        {"diagonal": lambda w: np.eye(w.size), "outer": lambda w: _over_rows(w).T}),
                does="Entry (i, j) is delta_ij - w_j: the derivative of the logarithm of weight i.",
                why="The derivative of the weight itself is w_i times that.",
                ask="What is the derivative of exp(x) if that of x is known?"),
        Mistake("zeros on the diagonal", change={"answer": lambda w: _off_diagonal(-np.outer(w, w))},
                does="Off the diagonal it is right; on it stands 0.",
                why="Each weight depends on its own score most of all: the entry is w_i (1 - w_i).",
                ask="What happens to weight i when score i grows?"),
        Mistake("weight missing on the diagonal",
                change={"answer": lambda w: np.diag(1 - w) - _off_diagonal(np.outer(w, w))},
                does="1 - w_i stands on the diagonal.",
                why="The derivative of a weight is the weight times something: w_i (1 - w_i).",
                ask="What multiplies the bracket in w_i (delta_ij - w_j)?"),
        Mistake("sign flipped on the diagonal", change=_on_diagonal(lambda w: w * w - w),
                does="Off the diagonal it is right; on it the sign is wrong.",
                why="A weight grows with its own score: the diagonal is positive.",
                ask="What happens to weight i when score i grows?"),
        Mistake("another number on the diagonal",
                change=tuple(map(_on_diagonal, (
                    lambda w: w * (1 + w), lambda w: w * w, lambda w: -w, lambda w: 1.0,
                    lambda w: (1 - w) ** 2, lambda w: w * w * (1 - w), lambda w: w * (1 - w) ** 2,
                    lambda w: 2 * w * (1 - w), lambda w: w * (1 - w) / 2, lambda w: w - 1, lambda w: w * (w.sum() - 2 * w),
                    lambda w: np.sqrt(w), lambda w: np.exp(w), lambda w: 1 / w))),
                does="Off the diagonal it is right; on it another number than w_i (1 - w_i) stands.",
                why="On the diagonal the derivative of the numerator, w_i, comes to that of the denominator, -w_i squared.",
                ask="What is the derivative of weight i with respect to score i?"),
        Mistake("another product beside the diagonal",
                change=tuple(map(_beside_diagonal, (
                    lambda a, b: -a, lambda a, b: -b, lambda a, b: a, lambda a, b: b, lambda a, b: -a * (1 - b), lambda a, b: -b * (1 - a), lambda a, b: -1.0,
                    lambda a, b: 1.0, lambda a, b: -2 * a * b, lambda a, b: -a * b / 2, lambda a, b: -(a * b) ** 2,
                    lambda a, b: -a - b, lambda a, b: a - b, lambda a, b: b - a,
                    lambda a, b: -np.sqrt(a * b)))),
                does="The diagonal is right; beside it another number than -w_i w_j stands.",
                why="Beside the diagonal only the denominator depends on score j: that gives -w_i w_j.",
                ask="What is the derivative of weight i with respect to another score j?"),
        Mistake("one row left at 0", change=tuple({"finish": lambda j, part=part: _without_row(j, part)} for part in (
                    (-1, ...), (0, ...), (..., -1), (..., 0))),
                does="The first or the last row, or column, is 0.",
                why="There are n rows and n columns, from 0 to n - 1; range(n) ends at n - 1.",
                ask="Which rows do your loops go through?"),
        Mistake("only one triangle", change=({"finish": np.tril}, {"finish": np.triu}),
                does="The entries above or below the diagonal are 0.",
                why="Every weight depends on every score: the Jacobian is a full, symmetric matrix.",
                ask="Does weight 0 depend on the last score?"),
        Mistake("summed over an axis", change={"finish": lambda j: j.sum(axis=0)},
                does="The answer has n entries, all of them 0: the Jacobian's rows have been added.",
                why="The Jacobian itself is asked for. Its rows sum to 0, as moving all scores together changes nothing.",
                ask="How many derivatives are there, for n weights and n scores?"),
        Mistake("divided by n", change={"finish": lambda j: j / len(j)},
                does="The entries are n times too small.",
                why="Nothing is averaged: an entry is one derivative.",
                ask="What divides by n in your function?"),
        Mistake("weight not subtracted on the diagonal",
                change={"outer": lambda w: _off_diagonal(np.outer(w, w))},
                does="Off the diagonal it is right; on it w_i stands instead of w_i (1 - w_i).",
                why="The denominator depends on score i, too: w_i squared is subtracted on the diagonal.",
                ask="What must a row of the Jacobian sum to, if the softmax does not change when all scores "
                    "grow by 1?"),
        SOFTMAX_OF_WEIGHTS,
    ),
)

# ---------------------------------------------------------------- softmax_backward

def softmax_backward_answer(do, weights, grad_weights):
    weights, grad = do.weights_in(weights), do.grad_in(grad_weights)
    total = do.total(do.products(weights, grad))
    return do.finish(do.times(weights, do.centre(grad, total), grad, total))


def _backward_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, weights, grad, dtype=np.float64):
        return Case(aspect, (np.array(weights, dtype), np.array(grad, dtype)))

    def some(aspect, *shape, seed, dtype=np.float64):
        weights, grad = _book_weights(*shape, seed=seed, dtype=dtype), normal(*shape, seed=seed + 20, dtype=dtype)
        return Case(aspect, (weights, grad))

    return [
        case(PLAIN, [[0.5, 0.25, 0.25]], [[2, 4, 8]]),
        case(PLAIN, [[0.25, 0.75], [0.5, 0.5], [1, 0]], [[4, 8], [2, -2], [3, 1]]),
        some(PLAIN, 5, 3, seed=1), some(PLAIN, 7, 11, seed=2),
        case(SQUARE, [[0.25, 0.75], [0.5, 0.5]], [[4, 8], [2, -2]]), some(SQUARE, 5, 5, seed=3),
        case("one axis", [0.25, 0.75], [4, 8]), some("one axis", 7, seed=4),
        case(LEADING, [[[0.25, 0.75], [0.5, 0.5]]], [[[4, 8], [2, -2]]]), some(LEADING, 2, 5, 3, seed=5),
        some(LEADING, 2, 3, 5, 7, seed=6),
        case("a weight of 0", [[0.5, 0, 0.5]], [[2, 100, 4]]),
        case(FLOAT32, [[0.5, 0.25, 0.25]], [[2, 4, 8]], f4), some(FLOAT32, 5, 7, seed=7, dtype=f4),
        case(FLOAT16, [[0.5, 0.25, 0.25]], [[2, 4, 8]], f2), some(FLOAT16, 3, 5, seed=8, dtype=f2),
    ]


SQUARE_ARRAY = Mistake(
    "(n, n) array made",
    does="The values are right, but the whole Jacobian, or another array of shape (n, n), stands in memory.",
    why="For n = 16384 in float32 it takes a gigabyte for each row. The product of the Jacobian with a "
        "vector needs nothing larger than the vector.",
    ask="What is (diag(w) - w wᵀ) g, multiplied out?")


def no_square_array(run):
    """An audit: whether one row of n weights makes anything of n * n bytes or more."""
    def weights_and_grad(n):
        return _book_weights(n, seed=9), normal(n, seed=10)

    n = 700
    return SQUARE_ARRAY if grows(run, n * n, weights_and_grad(n // 10), weights_and_grad(n)) else None


softmax_backward = Exercise(
    name="softmax_backward", signature="(weights, grad_weights)", part=PART,
    text="The gradient with respect to the scores, from the softmax's weights and the gradient with respect "
         "to them, both of shape (..., n), without any (n, n) array.",
    answer=softmax_backward_answer,
    steps={
        "weights_in": lambda weights: weights,
        "grad_in": lambda grad: grad,
        "products": lambda weights, grad: weights * grad,
        "total": lambda products: products.sum(axis=-1, keepdims=True),
        "centre": lambda grad, total: grad - total,
        "times": lambda weights, centred, grad, total: weights * centred,
        "finish": lambda grad_scores: grad_scores,
    },
    cases=_backward_cases, audits=(no_square_array,),
    hints=(
        "The gradient is the Jacobian times grad_weights. The Jacobian is diag(w) - w wᵀ: multiply it out "
        "before you program it.",
        "diag(w) g is w * g, entry by entry. w wᵀ g is w times one number for each row.",
        "That number is the sum of w * g over the last axis; keep the axis, so that it lines up.",
        "Take w out of both terms: w * (g - number), where the number is np.sum(w * g, axis=-1, "
        "keepdims=True).",
    ),
    mistakes=(
        Mistake("row sum not subtracted", change={"centre": lambda grad, total: grad},
                does="The scores' gradient is weights * grad_weights: only the diagonal term of the Jacobian.",
                why="Every weight depends on every score, through the sum in the denominator: that "
                    "subtracts the row's mean gradient.",
                ask="What must the gradient of a row sum to, if the softmax does not change when all scores "
                    "grow by 1?"),
        Mistake("diagonal-only Jacobian",
                change={"total": lambda products: products,
                        "times": lambda weights, centred, grad, total: weights * centred},
                does="The scores' gradient is w (1 - w) g, as if each weight depended on its own score alone.",
                why="That is the derivative of a sigmoid. In a softmax every weight depends on every "
                    "score, through the sum.",
                ask="What happens to weight i when another score grows?"),
        Mistake("row sum not multiplied by the weights",
                change={"times": lambda weights, centred, grad, total: weights * grad - total},
                does="The row's sum is subtracted from weights * grad_weights as it is.",
                why="The second term of the Jacobian is w_i w_j: the weight stands before both terms.",
                ask="Where does the bracket open in w * (g - sum)?"),
        Mistake("weights missing in front", change={"times": lambda weights, centred, grad, total: centred},
                does="The gradient is centred, but not multiplied by the weights.",
                why="A key with a weight of 0 gets no gradient.",
                ask="What is the derivative of a weight that is 0?"),
        Mistake("weights missing in the row sum", change={"products": lambda weights, grad: grad},
                does="The plain sum of the gradients is subtracted.",
                why="It has to be their mean under the weights: the sum of w * g.",
                ask="What must the answer be if all gradients of a row are equal?"),
        Mistake("plain mean instead of the weighted one",
                change={"products": lambda weights, grad: grad,
                        "total": lambda products: products.mean(axis=-1, keepdims=True)},
                does="The plain mean of the gradients is subtracted.",
                why="The weights are not equal: the mean has to be taken under them, as the sum of w * g.",
                ask="What does a row of the answer sum to, and what should it?"),
        Mistake("gradient missing in the row sum",
                change=({"products": lambda weights, grad: weights}, {"products": lambda weights, grad: weights ** 2}),
                does="The sum runs over the weights, or their squares, without the gradient.",
                why="The sum runs over w * g.",
                ask="What must the answer be if all gradients of a row are equal?"),
        Mistake("mean instead of sum", change={"total": lambda products: products.mean(axis=-1, keepdims=True)},
                does="The row sum is divided by n before it is subtracted.",
                why="The weights sum to 1: the sum of w * g is a mean already.",
                ask="What must the answer be if all gradients of a row are equal?"),
        Mistake("largest product instead of the sum",
                change={"total": lambda products: products.max(axis=-1, keepdims=True)},
                does="The largest of the products w * g is subtracted, not their sum.",
                why="All entries of a row share the denominator.",
                ask="What must the answer be if all gradients of a row are equal?"),
        Mistake("largest gradient instead of the sum",
                change=({"centre": lambda grad, total: grad - grad.max(axis=-1, keepdims=True)},
                        {"centre": lambda grad, total: grad - grad.max()}),
                does="The largest entry of the gradient is subtracted, not the sum of w * g.",
                why="Subtracting the maximum belongs to the softmax itself. Its derivative subtracts the mean under "
                    "the weights.",
                ask="What does a row of the answer sum to, and what should it?"),
        Mistake("w (1 - w) in front",
                change=({"times": lambda weights, centred, grad, total: weights * (1 - weights) * centred},
                        {"times": lambda weights, centred, grad, total: weights * (1 - weights) * (grad - weights * grad)}),
                does="w (1 - w) stands in front of the bracket, where w belongs.",
                why="The bracket holds what the other weights of the row contribute already.",
                ask="What stands in front of the bracket if (diag(w) - w wᵀ) g is multiplied out?"),
        Mistake("only the second term",
                change=({"times": lambda weights, centred, grad, total: -weights * total},
                        {"times": lambda weights, centred, grad, total: weights * total}),
                does="The term w * g is missing: only w times the row's sum is there.",
                why="(diag(w) - w wᵀ) g has two terms; the first is w * g, entry by entry.",
                ask="What does diag(w) g give?"),
        Mistake("row sum added", change={"centre": lambda grad, total: grad + total},
                does="The row sum is added instead of subtracted.",
                why="When a score grows by itself, the other weights shrink: the second term is negative.",
                ask="What must the answer be if all gradients of a row are equal?"),
        Mistake("sign flipped", change={"centre": lambda grad, total: total - grad},
                does="Every entry has the wrong sign.",
                why="A weight grows with its own score.",
                ask="Which way must a score move to raise a weight?"),
        replace(named("sum over the wrong axis", TOTAL_MISTAKES),
                change=({"total": lambda products: products.sum(axis=-2, keepdims=True)},
                        {"total": lambda products: products.sum(axis=0, keepdims=True)},
                        {"total": lambda products: products.sum(axis=1, keepdims=True)},
                        {"total": lambda products: products.sum(axis=max(-2, -products.ndim), keepdims=True)},
                        {"total": lambda products: products.sum(axis=min(1, products.ndim - 1), keepdims=True)},
                        {"total": lambda products: products.sum(
                            axis=tuple(range(1, products.ndim)) or 0, keepdims=True)}),
                does="The products are summed over another axis than the last.",
                why="The weights of one query depend on the scores of that query alone: the sum runs over its keys."),
        Mistake("one sum for the whole array", change={"total": lambda products: products.sum()},
                does="One number is subtracted everywhere, the sum over the whole array.",
                why="Each row has a softmax of its own, and so a sum of its own.",
                ask="Over which entries does the sum run, and over which should it?"),
        replace(named("sum without keepdims", TOTAL_MISTAKES), change={"total": lambda products: products.sum(axis=-1)},
                does="Row i's sum is subtracted from column i instead of row i, where the shapes fit at all.",
                ask="What is the shape of the sums, and how does it line up with the gradient?"),
        Mistake("backward of the log-softmax",
                change={"products": lambda weights, grad: grad,
                        "times": lambda weights, centred, grad, total: grad - weights * total},
                does="The answer is g - w times the sum of g.",
                why="That is the gradient through the logarithm of the weights. Here the gradient with "
                    "respect to the weights themselves is given.",
                ask="Of which quantity is grad_weights the derivative?"),
        Mistake("gradient divided by the weights",
                change={"times": lambda weights, centred, grad, total: centred / weights},
                does="The centred gradient is divided by the weights.",
                why="The weight multiplies: a key with a weight of 0 gets no gradient.",
                ask="What is the derivative of a weight that is 0?"),
        Mistake("weights squared",
                change=({"times": lambda weights, centred, grad, total: weights ** 2 * centred},
                        {"products": lambda weights, grad: weights ** 2 * grad}),
                does="The weights are multiplied in once too often.",
                why="The formula is w * (g - sum), with one factor w in front and one in the sum.",
                ask="How often does each weight stand in your formula?"),
        Mistake("matrix product instead of a row sum",
                change=({"products": lambda weights, grad: weights @ grad, "total": lambda products: products},
                        {"products": lambda weights, grad: weights @ np.swapaxes(grad, -1, -2),
                         "total": lambda products: products},
                        {"products": lambda weights, grad: weights @ grad.T, "total": lambda products: products}),
                does="weights @ grad_weights is one number for one axis; with more axes it is a matrix product.",
                why="Each row has a sum of its own: entry by entry, then summed over the last axis.",
                ask="What does @ do to two arrays of shape (5, 7)?"),
        Mistake("weights and gradient swapped", change={"answer": lambda weights, grad: grad * (
                    weights - (weights * grad).sum(axis=-1, keepdims=True))},
                does="The gradient stands in front of the bracket, and the weights in it.",
                why="The weights come first among the arguments, and they stand in front.",
                ask="Which of the two is 0 for a key that gets no gradient?"),
        Mistake("gradient handed on", change={"answer": lambda weights, grad: grad},
                does="The answer is grad_weights itself.",
                why="The softmax mixes the entries of a row: the gradient goes through its Jacobian.",
                ask="Which matrix stands between the two gradients?"),
        Mistake("divided by n", change={"finish": lambda grad_scores: grad_scores / grad_scores.shape[-1]},
                does="The gradient is n times too small.",
                why="Nothing is averaged: the gradient of a sum of losses has no 1/n.",
                ask="What divides by n in your function?"),
        SOFTMAX_OF_WEIGHTS,
    ),
)

# ---------------------------------------------------------------- online_softmax_stats

def online_softmax_stats_answer(do, blocks):
    row_max, row_sum = do.start()
    for block in do.blocks(blocks):
        new_max = do.new_max(row_max, block)
        rescaled = do.rescale(row_sum, row_max, new_max)
        row_sum = do.join(rescaled, do.block_sum(block, row_max, new_max), row_max, new_max)
        row_max = new_max
    return do.finish(row_max, row_sum)


RAGGED = "blocks of different lengths"
NEGATIVE = "negative scores alone"
ONE_BLOCK = "one block"


def _stream_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, *blocks, dtype=np.float64, extreme=False):
        return Case(aspect, (Once([np.array(block, dtype) for block in blocks]),), extreme)

    def some(aspect, *lengths, seed, dtype=np.float64, top=None):
        blocks = [normal(length, seed=seed + i) for i, length in enumerate(lengths)]
        if top is not None:
            blocks[top][-1] = 2.5
        return case(aspect, *blocks, dtype=dtype)

    return [
        case(PLAIN, [0, 1], [3, 2]), case(PLAIN, [3, 1], [0, 2]), case(PLAIN, [1, 0], [2, 4], [3, 1]),
        some(PLAIN, 5, 5, 5, 5, 5, seed=1, top=2), some(PLAIN, 3, 3, 3, seed=6, top=0),
        some(PLAIN, 3, 3, 3, seed=9, top=2),
        case(ONE_BLOCK, [1, 3]), some(ONE_BLOCK, 7, seed=2),
        case(RAGGED, [0, 1], [2]), case(RAGGED, [2], [0, 1]), some(RAGGED, 7, 7, 7, 2, seed=12, top=1),
        some(RAGGED, 3, 1, 11, 2, 5, seed=16, top=3),
        case("blocks of one score", [1], [0], [3], [2]),
        case("equal scores", [2, 2], [2, 2]),
        case(NEGATIVE, [-3, -1], [-2, -4]), case(NEGATIVE, [-2, -3], [-1]), case(NEGATIVE, [-200], [-201, -199]),
        case(HUGE, [10000, 9999], [9998], extreme=True), case(HUGE, [-10000], [-9999, -9998], extreme=True),
        case(HUGE, [0], [10000], [9999], extreme=True), case(HUGE, [-10000], [0], [10000, 1], extreme=True),
        case(HUGE, [10000], [0, 9999.5], extreme=True), case(HUGE, [800, 799], [801], extreme=True),
        case(HUGE, [-10000, -9999.5], [-9999.25], extreme=True),
        case(FLOAT32, [0, 1], [3, 2], dtype=f4), some(FLOAT32, 5, 3, 5, seed=22, dtype=f4, top=1),
        case(FLOAT32, [100], [98, 99], dtype=f4, extreme=True), case(FLOAT16, [0, 1], [3, 2], dtype=f2),
        case(FLOAT16, [20], [18, 19], dtype=f2, extreme=True),
    ]


def _exp_sum(block, reference):
    return np.exp(block - reference).sum()


def _padded(sizes):
    """Blocks filled up with zeros to what `sizes` makes of all lengths so far."""
    def blocks_in(blocks):
        blocks = list(blocks)
        lengths = [block.size for block in blocks]
        return [np.pad(block, (0, max(sizes(lengths, i) - block.size, 0))) for i, block in enumerate(blocks)]

    return {"blocks": blocks_in}


def _full_blocks(blocks, compare=np.greater_equal):
    blocks = list(blocks)
    return [block for block in blocks if compare(block.size, blocks[0].size)]


def _wrong_way(row_sum, row_max, new_max):
    return row_sum * np.exp(new_max - row_max) if row_sum else 0.0


def _from_old(block, row_max, new_max):
    return _exp_sum(block, new_max if row_max == -np.inf else row_max)


def _both_rescaled(rescaled, added, row_max, new_max):
    return rescaled + added * (1.0 if row_max == -np.inf else np.exp(row_max - new_max))


NOT_RESCALED = Mistake(
    "sum not rescaled", change={"rescale": lambda row_sum, row_max, new_max: row_sum},
    does="When a later block has a larger maximum, the old part of the sum stays as it was.",
    why="The old exponentials were taken relative to the old maximum. Relative to the new one they are "
        "exp(old maximum - new maximum) times as large.",
    ask="By which factor does exp(score - maximum) change when the maximum changes?")


LIST_EXPECTED = Mistake(
    "list expected instead of an iterable",
    does="The function works for a list of blocks, and not for an iterator.",
    why="An iterator has no length and no index, and does not come back: it hands out one block after "
        "the other, so that only one is in memory.",
    ask="Which statement takes the blocks one by one?")


def _few_blocks():
    return [np.array([0.0, 1.0]), np.array([3.0, 2.0])]


def no_list_needed(run):
    """An audit: whether the function needs more than an iterator."""
    return LIST_EXPECTED if run(iter(_few_blocks())).failure and not run(_few_blocks()).failure else None


def no_blocks_kept(run):
    """An audit: whether more than a few of many blocks are in memory at once."""
    def blocks(n_blocks):
        return ((np.linspace(-1.0, 1.0 + i % 7, length) for i in range(n_blocks)),)

    length = 1000
    return generic.KEPT_BLOCKS if grows(run, 100 * length * 4, blocks(10), blocks(100)) else None


def _streamed(blocks, old_factor, new_factor=lambda old, new, own: np.exp(own - new) * np.exp(new - own), first=0):
    """Maximum and sum with other factors, of the old, the new and the block's own maximum."""
    row_max, row_sum = -np.inf, 0.0
    for k, block in enumerate(blocks):
        own = block.max()
        new = max(row_max, own)
        if k < first:
            row_sum = _exp_sum(block, own)
        else:
            kept = old_factor(row_max, new, own) * row_sum if row_sum else 0.0
            row_sum = kept + _exp_sum(block, new) * new_factor(row_max, new, own)
        row_max = new
    return row_max, row_sum


def _of_all(blocks, total):
    """The maximum, and a total of all scores and the blocks' lengths."""
    blocks = list(blocks)
    scores = np.concatenate(blocks)
    return scores.max(), total(scores, [block.size for block in blocks])


def _all_from_the_first(blocks):
    blocks = list(blocks)
    scores = np.concatenate(blocks)
    return scores.max(), _exp_sum(scores, blocks[0].max())


online_softmax_stats = Exercise(
    name="online_softmax_stats", signature="(blocks)", part=PART,
    text="The maximum of all scores, and the sum of exp(score - maximum), from blocks of scores that come "
         "one by one and are not kept.",
    answer=online_softmax_stats_answer,
    steps={
        "start": lambda: (-np.inf, 0.0),
        "blocks": lambda blocks: blocks,
        "new_max": lambda row_max, block: max(row_max, block.max()),
        "rescale": lambda row_sum, row_max, new_max: row_sum * np.exp(row_max - new_max),
        "block_sum": lambda block, row_max, new_max: _exp_sum(block, new_max),
        "join": lambda rescaled, added, row_max, new_max: rescaled + added,
        "finish": lambda row_max, row_sum: (row_max, row_sum),
    },
    cases=_stream_cases, dtype="number", outputs=("row_max", "row_sum"),
    audits=(no_list_needed, no_blocks_kept),
    hints=(
        "Go through the blocks once, and carry two numbers along: the maximum so far, and the sum so far.",
        "The sum so far is relative to the maximum so far. When a block brings a larger maximum, what "
        "happens to exp(score - maximum) for the scores before?",
        "Every old exponential gets the same factor, exp(old maximum - new maximum): so the old sum gets it, too.",
        "Begin with -inf and 0. For each block: the new maximum is the larger of the old one and the "
        "block's; multiply the sum by exp(old - new); add the block's np.exp(block - new) summed; "
        "keep the new maximum.",
    ),
    mistakes=(
        NOT_RESCALED,
        Mistake("block maximum instead of the running maximum",
                change=({"new_max": lambda row_max, block: block.max()},),
                does="The maximum returned is that of the last block, and the sum is relative to it.",
                why="The running maximum is the larger of the old one and the block's; with a block's own "
                    "maximum the factor may exceed 1 and overflow.",
                ask="What should the maximum be after a block whose scores are all small?"),
        Mistake("maximum of the first block kept",
                change=({"new_max": lambda row_max, block: block.max() if row_max == -np.inf else row_max},
                        {"answer": _all_from_the_first}),
                does="The scores are measured from the maximum of the first block throughout.",
                why="A later block may hold a larger score: its exponential may overflow.",
                ask="What happens to the maximum when a block brings a larger score?"),
        Mistake("block measured from its own maximum",
                change={"block_sum": lambda block, row_max, new_max: _exp_sum(block, block.max())},
                does="Each block's sum is relative to the block's own maximum, and is added as it is.",
                why="All terms of the sum must be relative to the same number, the running maximum.",
                ask="From which maximum are the scores of the new block measured, and from which the old ones?"),
        Mistake("block measured from the old maximum", change={"block_sum": _from_old},
                does="A block's scores are measured from the maximum before it; they overflow if it is much higher.",
                why="The running maximum has to be updated first: then no exponent is above 0.",
                ask="Which maximum is known before the block's exponentials are taken?"),
        Mistake("old sum rescaled to the block's maximum",
                change=tuple({"answer": lambda blocks, first=first: _streamed(
                    blocks, lambda old, new, own: np.exp(old - own), first=first)} for first in (0, 1)),
                does="The old sum gets the factor exp(old maximum - block's maximum), also where the block's is lower.",
                why="All terms are measured from the new running maximum: the factor is exp(old - new), never above 1.",
                ask="From which maximum is the new block measured, and from which the old sum?"),
        Mistake("another factor for the old sum",
                change=tuple({"rescale": lambda row_sum, row_max, new_max, of=of: row_sum * of(row_max, new_max)
                              if row_sum else 0.0} for of in (
                    lambda old, new: np.exp(2 * (old - new)), lambda old, new: np.exp((old - new) / 2),
                    lambda old, new: np.exp2(old - new), lambda old, new: 10.0 ** (old - new),
                    lambda old, new: 1 / (1 + new - old), lambda old, new: old / new, lambda old, new: new / old,
                    lambda old, new: np.exp(-new), lambda old, new: np.exp(old), lambda old, new: 1 - np.exp(old - new))),
                does="When the maximum grows, the old sum gets a factor that is not exp(old maximum - new maximum).",
                why="exp(score - new) is exp(score - old) times exp(old - new).",
                ask="By which factor does exp(score - maximum) change when the maximum changes?"),
        Mistake("one score of each block left out",
                change=tuple({"block_sum": lambda block, row_max, new_max, part=part: _exp_sum(block[part], new_max)}
                             for part in (slice(None, -1), slice(1, None))),
                does="The first or the last score of each block is missing in the sum.",
                why="All scores of a block count; range(n - 1) and the slice [1:] leave one out.",
                ask="How many terms does a block of three scores add?"),
        Mistake("number of scores instead of the sum",
                change=({"answer": lambda blocks: _of_all(blocks, lambda s, lengths: float(s.size))},
                        {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: float(len(lengths)))}),
                does="The second number is how many scores, or blocks, there are.",
                why="Each score adds exp(score - maximum), which is 1 only for the largest one.",
                ask="What does a score far below the maximum add to the sum?"),
        Mistake("both factors swapped",
                change={"answer": lambda blocks: _streamed(
                    blocks, lambda old, new, own: np.exp(own - new), lambda old, new, own: (
                        np.exp(old - new) if np.isfinite(old) else 1.0) * np.exp(new - own))},
                does="The old sum gets the new block's factor, and the new block the old one's.",
                why="Each sum is relative to its own maximum, and moves from there to the common one.",
                ask="From which maximum was each of the two sums measured?"),
        Mistake("largest score's term missing", change={"finish": lambda row_max, row_sum: (row_max, row_sum - 1)},
                does="The sum is too small by 1, the term of the largest score.",
                why="The largest score counts as well: its term is exp(0) = 1.",
                ask="What should row_sum be for a single score?"),
        Mistake("divided by the number of scores", change=(
                    {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: np.exp(s - s.max()).mean())},
                    {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: np.exp(s - s.max()).sum() / len(lengths))}),
                does="The sum is divided by the number of scores, or of blocks.",
                why="The sum itself is asked for: it is what the exponentials are divided by.",
                ask="What should row_sum be for n equal scores?"),
        Mistake("rescaled the wrong way",
                change=({"rescale": _wrong_way},
                        {"rescale": lambda row_sum, row_max, new_max: row_sum * np.exp(new_max - row_max)}),
                does="The old sum grows when the maximum grows.",
                why="Relative to a larger maximum the old exponentials are smaller: the factor is exp(old "
                    "- new), never above 1.",
                ask="Should the old sum become smaller or larger when the maximum grows?"),
        Mistake("new block rescaled too",
                change=({"join": _both_rescaled},
                        {"join": lambda rescaled, added, row_max, new_max:
                         rescaled + added * np.exp(row_max - new_max)}),
                does="The factor exp(old maximum - new maximum) is put on the new block's sum as well.",
                why="The new block is measured from the new maximum already; only the old sum needs the factor.",
                ask="Which part of the sum is still relative to the old maximum?"),
        Mistake("old sum lost", change={"rescale": lambda row_sum, row_max, new_max: 0.0},
                does="The sum is that of the last block alone.",
                why="The sum so far is carried along: rescaled, then added to the new block's.",
                ask="Which assignment forgets the blocks before?"),
        Mistake("old sum lost when the maximum grows",
                change={"rescale": lambda row_sum, row_max, new_max: row_sum if new_max == row_max else 0.0},
                does="A new maximum starts the sum anew.",
                why="The old scores still count: their sum gets the factor exp(old maximum - new maximum).",
                ask="What are the old exponentials worth relative to the new maximum?"),
        Mistake("no maximum subtracted",
                change=({"rescale": lambda row_sum, row_max, new_max: row_sum,
                         "block_sum": lambda block, row_max, new_max: _exp_sum(block, 0.0)},
                        {"finish": lambda row_max, row_sum: (row_max, row_sum * np.exp(row_max))},
                        {"rescale": lambda row_sum, row_max, new_max: row_sum,
                         "block_sum": lambda block, row_max, new_max: _exp_sum(block, 0.0),
                         "finish": lambda row_max, row_sum: (row_max, row_sum / np.exp(row_max))}),
                does="exp(score) is summed as it is: it overflows for scores above 709.",
                why="The sum is asked for relative to the maximum: then it lies between 1 and the number of scores.",
                ask="How large can the sum of exp(score - maximum) become?"),
        Mistake("maximum starts at 0",
                change=tuple({"start": lambda start=start: (start, 0.0)} for start in (
                    0.0, *(float(np.finfo(dtype).tiny) for dtype in (np.float64, np.float32)),
                    1.0, -1.0, -10.0, -50.0, -100.0, -999.0, -1000.0, -9999.0)),
                does="The maximum starts at 0 or another number: if all scores lie below it, it stays there.",
                why="The maximum has to start below every score: at -inf.",
                ask="Which number is smaller than every score?"),
        Mistake("sum starts at 1",
                change=({"rescale": lambda row_sum, row_max, new_max: 1.0
                         if row_max == -np.inf else row_sum * np.exp(row_max - new_max)},),
                does="The sum is too large by one term.",
                why="Before the first block nothing has been added: the sum starts at 0.",
                ask="What is the sum of no terms at all?"),
        Mistake("only the last block", change={"blocks": lambda blocks: list(blocks)[-1:]},
                does="The answer is that of the last block.",
                why="All scores count: what is known of the blocks before is carried along in two numbers.",
                ask="What do you carry from one block to the next?"),
        Mistake("last block dropped", change={"blocks": lambda blocks: list(blocks)[:-1]},
                does="The last block does not count.",
                why="Every block counts; a loop that looks one block ahead has to deal with the last one after it.",
                ask="What happens to a block when no other follows?"),
        Mistake("first block dropped",
                change=({"blocks": lambda blocks: list(blocks)[1:]},
                        {"block_sum": lambda block, row_max, new_max: 0.0
                         if row_max == -np.inf else _exp_sum(block, new_max)},
                        {"block_sum": lambda block, row_max, new_max: 1.0
                         if row_max == -np.inf else _exp_sum(block, new_max)}),
                does="The first block does not count; or it gives a maximum, but its scores are missing from the sum.",
                why="A next() before the loop takes a block away: it has to be counted, too.",
                ask="What happens to the first block in your function?"),
        Mistake("only the first block", change={"blocks": lambda blocks: list(blocks)[:1]},
                does="The answer is that of the first block.",
                why="All blocks count. A return inside a loop, for one, ends it after the first round.",
                ask="Which blocks does your function read before it returns?"),
        Mistake("shorter blocks dropped",
                change=({"blocks": _full_blocks}, {"blocks": lambda blocks: _full_blocks(blocks, np.equal)}),
                does="A block that is shorter than the first one does not count.",
                why="The number of scores need not be a multiple of the block size: the last block may be short.",
                ask="What happens to a block that is not full?"),
        Mistake("tail block counted as zeros",
                change=(_padded(lambda lengths, i: lengths[0]), _padded(lambda lengths, i: max(lengths)),
                        _padded(lambda lengths, i: max(lengths[:i + 1]))),
                does="A short block is filled up with scores of 0.",
                why="exp(0 - maximum) is not 0: the filling counts. Fill with -inf, or not at all.",
                ask="Which score adds nothing to a sum of exponentials?"),
        Mistake("logarithm of the sum",
                change=({"finish": lambda row_max, row_sum: (row_max, np.log(row_sum))},
                        {"finish": lambda row_max, row_sum: (row_max, row_max + np.log(row_sum))}),
                does="The second number is a logarithm.",
                why="The sum itself is asked for; the log-sum-exp comes at the very end.",
                ask="What should row_sum be for a single score?"),
        Mistake("maximum and sum swapped", change={"finish": lambda row_max, row_sum: (row_sum, row_max)},
                does="The sum comes first, the maximum second.",
                why="The answer is (row_max, row_sum), in this order.",
                ask="In which order does the signature name the two numbers?"),
        Mistake("minimum instead of maximum",
                change={"new_max": lambda row_max, block: block.min()
                        if row_max == -np.inf else min(row_max, block.min())},
                does="The smallest score of all is kept.",
                why="Only relative to the largest score is no exponent above 0.",
                ask="Which score must become 0, so that exp does not overflow?"),
        Mistake("mean of a block instead of its maximum",
                change=tuple({"new_max": lambda row_max, block, of=of: max(row_max, of(block))}
                             for of in (np.mean, np.median)),
                does="The running maximum is that of the blocks' means or medians.",
                why="The largest score of all is asked for: a block's mean lies below its largest score.",
                ask="What is the largest score of the block 0, 4?"),
        Mistake("one score of a block instead of its maximum",
                change=tuple({"new_max": lambda row_max, block, i=i: max(row_max, block[i])} for i in (0, -1)),
                does="Only the first or the last score of each block is looked at for the maximum.",
                why="The largest score may stand anywhere in its block.",
                ask="Which scores of a block do you compare with the maximum?"),
        Mistake("maximum of absolute values",
                change={"new_max": lambda row_max, block: max(row_max, np.abs(block).max())},
                does="The maximum is that of the absolute values.",
                why="The largest score itself is asked for, whatever its sign.",
                ask="What is the maximum of -3 and 1?"),
        Mistake("mean instead of sum",
                change={"block_sum": lambda block, row_max, new_max: np.exp(block - new_max).mean()},
                does="Each block adds the mean of its exponentials.",
                why="Every score adds its own exponential: blocks may have different lengths.",
                ask="What should row_sum be for n equal scores?"),
        Mistake("no exponential in the factor",
                change=({"rescale": lambda row_sum, row_max, new_max: row_sum * (row_max - new_max)
                         if row_sum else 0.0},
                        {"rescale": lambda row_sum, row_max, new_max: row_sum + row_max - new_max if row_sum else 0.0}),
                does="The old sum is changed by old maximum - new maximum, not by the exponential of it.",
                why="A difference of exponents is a factor exp(difference).",
                ask="By which factor does exp(score - maximum) change when the maximum changes?"),
        Mistake("no exponential",
                change=({"block_sum": lambda block, row_max, new_max: (block - new_max).sum()},
                        {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: (s - s.max()).sum())},
                        {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: s.sum())}),
                does="The shifted scores are summed, not their exponentials.",
                why="The sum of exp(score - maximum) is asked for.",
                ask="Which function makes every term positive?"),
        Mistake("power of 2 instead of e",
                change={"block_sum": lambda block, row_max, new_max: np.exp2(block - new_max).sum(),
                        "rescale": lambda row_sum, row_max, new_max: row_sum * np.exp2(row_max - new_max)},
                does="Powers of 2 are summed.",
                why="Kernels use powers of 2 after multiplying the scores by log2(e); here the powers are those of e.",
                ask="How is exp(x) written as a power of 2?"),
    ),
)

# ---------------------------------------------------------------- merge_partials

def merge_partials_answer(do, out_a, lse_a, out_b, lse_b):
    lse_a, lse_b = do.lses(lse_a, lse_b)
    shift = do.guard(do.highest(lse_a, lse_b))
    weight_a, weight_b = do.power(lse_a - shift), do.power(lse_b - shift)
    total = weight_a + weight_b
    lse = do.lse(total, shift, lse_a, lse_b)
    weight_a, weight_b = do.weights(weight_a, weight_b, lse_a, lse_b)
    shares = do.shares(weight_a, weight_b, weight_a + weight_b, lse_a, lse_b, lse)
    return do.finish(do.dead_rows(do.mix(*shares, out_a, out_b), total), lse)


def _column(numbers):
    return np.asarray(numbers)[..., None]


def _divided(weight_a, weight_b, total, lse_a, lse_b, lse):
    return weight_a / total, weight_b / total


def _by_lse(weight_a, weight_b, total, lse_a, lse_b, lse):
    return np.exp(lse_a - lse), np.exp(lse_b - lse)


def _by_guarded_lse(weight_a, weight_b, total, lse_a, lse_b, lse):
    return _by_lse(weight_a, weight_b, total, lse_a, lse_b, np.where(lse == -np.inf, 0.0, lse))


def _finite(numbers):
    return np.nan_to_num(numbers, nan=0.0, posinf=0.0)


def _normalised(share_a, share_b):
    total = np.where(share_a + share_b == 0, 1.0, share_a + share_b)
    return share_a / total, share_b / total


def _shared(share):
    """A change of the shares by a function of the two log-sum-exps alone."""
    return {"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse: share(lse_a, lse_b)}


def _ones(lse_a, lse_b):
    return np.ones_like(lse_a), np.ones_like(lse_b)


def _bare_powers(weight_a, weight_b, lse_a, lse_b):
    return np.exp(lse_a), np.exp(lse_b)


MERGE_STEPS = {
    "lses": lambda lse_a, lse_b: (lse_a, lse_b),
    "highest": np.maximum,
    "guard": lambda highest: np.where(highest == -np.inf, 0.0, highest),
    "power": np.exp,
    "lse": lambda total, shift, lse_a, lse_b: np.log(total) + shift,
    "weights": lambda weight_a, weight_b, lse_a, lse_b: (weight_a, weight_b),
    "shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse: _divided(
        weight_a, weight_b, np.where(total == 0, 1.0, total), lse_a, lse_b, lse),
    "mix": lambda share_a, share_b, out_a, out_b: _column(share_a) * out_a + _column(share_b) * out_b,
    "dead_rows": lambda out, total: out,
    "finish": lambda out, lse: (out, lse),
}

ONE_EMPTY, BOTH_EMPTY = "one empty part", "two empty parts"


def _merge_cases():
    f4, f2, inf = np.float32, np.float16, np.inf

    def case(aspect, out_a, lse_a, out_b, lse_b, dtype=np.float64, extreme=False):
        return Case(aspect, tuple(np.array(part, dtype) for part in (out_a, lse_a, out_b, lse_b)), extreme)

    def some(aspect, *shape, seed, dtype=np.float64):
        out_a, out_b = (normal(*shape, seed=seed + i, dtype=dtype) for i in (0, 31))
        lse_a, lse_b = (normal(*shape[:-1], seed=seed + i, dtype=dtype, scale=1.5) for i in (30, 32))
        return Case(aspect, (out_a, lse_a, out_b, lse_b))

    def with_empty(*shape, seed, a=(), b=()):
        out_a, lse_a, out_b, lse_b = some(ONE_EMPTY, *shape, seed=seed).args
        out_a[..., a, :], lse_a[..., a], out_b[..., b, :], lse_b[..., b] = 0, -inf, 0, -inf
        return Case(BOTH_EMPTY if set(a) & set(b) else ONE_EMPTY, (out_a, lse_a, out_b, lse_b), True)

    return [
        case(PLAIN, [[2]], [0], [[6]], [0]), case(PLAIN, [[2]], [1], [[6]], [2]),
        case(PLAIN, [[8, 0], [4, 2], [0, 4]], [3, 1, 0], [[0, 4], [4, 6], [2, 2]], [1, 2, 0]),
        some(PLAIN, 5, 3, seed=1), some(PLAIN, 7, 11, seed=2),
        case(SQUARE, [[8, 0], [4, 2]], [3, 1], [[0, 4], [4, 6]], [1, 2]), some(SQUARE, 5, 5, seed=3),
        case(LEADING, [[[8], [4]]], [[3, 1]], [[[0], [6]]], [[1, 2]]), some(LEADING, 2, 5, 3, seed=4),
        some(LEADING, 2, 3, 5, 7, seed=5),
        case(ONE_EMPTY, [[0, 0]], [-inf], [[6, 4]], [1], extreme=True),
        case(ONE_EMPTY, [[6, 4]], [1], [[0, 0]], [-inf], extreme=True),
        with_empty(5, 3, seed=6, a=(1, 2), b=(4,)),
        case(BOTH_EMPTY, [[0, 0]], [-inf], [[0, 0]], [-inf], extreme=True),
        with_empty(5, 3, seed=7, a=(1, 2), b=(2, 4)),
        case(HUGE, [[2]], [10000], [[6]], [9999], extreme=True),
        case(HUGE, [[2]], [-10000], [[6]], [-9999], extreme=True),
        case(HUGE, [[2]], [10000], [[6]], [-10000], extreme=True),
        case(HUGE, [[2]], [-10000], [[6]], [10000], extreme=True),
        case(HUGE, [[2], [3]], [10000, -10000], [[6], [5]], [9999, -9999], extreme=True),
        case(HUGE, [[2]], [800], [[6]], [799], extreme=True),
        case(FLOAT32, [[2]], [1], [[6]], [2], f4), some(FLOAT32, 5, 3, seed=8, dtype=f4),
        case(FLOAT32, [[2]], [100], [[6]], [99], f4, True),
        case(FLOAT16, [[2]], [1], [[6]], [2], f2), some(FLOAT16, 3, 5, seed=9, dtype=f2),
        case(FLOAT16, [[2]], [20], [[6]], [19], f2, True),
    ]


def _for_all(share, of):
    share = np.broadcast_to(of(share), share.shape)
    return share, 1 - share


def _over_queries(lse, least=0.0):
    highest = lse.max(axis=-1, keepdims=True)
    weights = np.exp(lse - np.where(np.isneginf(highest), 0.0, highest))
    return weights / np.maximum(weights.sum(axis=-1, keepdims=True), least)


def _alone(place):
    """The sigmoid of one part's log-sum-exp as its share."""
    def shares(weight_a, weight_b, total, lse_a, lse_b, lse):
        share = 1 / (1 + np.exp(-(lse_a, lse_b)[place]))
        return (share, 1 - share)[::1 - 2 * place]

    return shares


def _alone_but_empty(place):
    """The same, where no part is empty."""
    def shares(weight_a, weight_b, total, lse_a, lse_b, lse):
        right = MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse)
        empty = np.isneginf(lse_a) | np.isneginf(lse_b)
        return tuple(np.where(empty, a, b) for a, b in zip(right, _alone(place)(
            weight_a, weight_b, total, lse_a, lse_b, lse)))

    return shares


def _lse_as(merge):
    """A wrong log-sum-exp: alone, and with the shares computed from it."""
    change = {"lse": lambda total, shift, lse_a, lse_b: merge(lse_a, lse_b)}
    return change, {**change, "shares": _by_lse}, {**change, "shares": _by_guarded_lse}


MERGE_MISTAKES = (
    Mistake("partial results averaged", change=_shared(lambda a, b: (0.5 * np.ones_like(a), 0.5 * np.ones_like(b))),
            does="The output is the plain mean of the two parts, whatever their log-sum-exps are.",
            why="A part counts as much as its sum of exponentials says: exp(lse).",
            ask="Which part should count more if its scores are much larger?"),
    Mistake("partial results added", change=_shared(_ones),
            does="The output is the sum of the two parts.",
            why="Each part is divided by its own sum already. Their shares in the common sum have to be 1 together.",
            ask="What must the output be if both parts are equal?"),
    Mistake("not divided by the sum",
            change={"shares": lambda weight_a, weight_b, *others: (weight_a, weight_b)},
            does="The parts are weighted by their exponentials, and the result is not divided by "
                "the sum of these weights.",
            why="The two shares must sum to 1.",
            ask="What must the output be if both parts are equal?"),
    Mistake("shares of the parts swapped",
            change={"shares": lambda weight_a, weight_b, total, *others: _divided(
                weight_b, weight_a, np.where(total == 0, 1.0, total), *others)},
            does="Part a gets the share of part b.",
            why="The part with the larger log-sum-exp has the larger share.",
            ask="Which part should count more if its scores are much larger?"),
    Mistake("sign of the exponent flipped",
            change=({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse:
                     (np.exp(lse - lse_a), np.exp(lse - lse_b))},
                    {"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse:
                     (_finite(np.exp(lse - lse_a)), _finite(np.exp(lse - lse_b)))},
                    {"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse:
                     _normalised(_finite(np.exp(lse - lse_a)), _finite(np.exp(lse - lse_b)))}),
            does="The part with the smaller log-sum-exp gets the larger share: exp(lse - lse_a) stands for "
                 "exp(lse_a - lse).",
            why="A part's share is its own sum over the common one: exp(lse_a) / exp(lse).",
            ask="Can lse - lse_a be negative, and how large should a share be at most?"),
    Mistake("empty part counted",
            change={"lses": lambda a, b: (np.where(np.isneginf(a), 0.0, a), np.where(np.isneginf(b), 0.0, b))},
            does="A log-sum-exp of -inf is taken as 0: an empty part counts as a sum of 1.",
            why="exp(-inf) is 0: a part without keys has no share. exp(0) is 1.",
            ask="What is the sum of exponentials of a part without keys?"),
    Mistake("log-sum-exps as weights", change=_shared(lambda a, b: (a / (a + b), b / (a + b))),
            does="The parts are weighted by their log-sum-exps, which may be negative.",
            why="A part's sum of exponentials is exp(lse): that is its weight.",
            ask="Which function undoes the logarithm in the log-sum-exp?"),
    Mistake("the larger part alone",
            change=(_shared(lambda a, b: ((a >= b) / 1.0, (a < b) / 1.0)),
                    _shared(lambda a, b: ((a > b) / 1.0, (a <= b) / 1.0))),
            does="The part with the larger log-sum-exp is taken, the other one dropped.",
            why="Both parts count, by their sums of exponentials.",
            ask="What must the output be if both log-sum-exps are equal?"),
    Mistake("no axis for the features",
            change={"mix": lambda share_a, share_b, out_a, out_b: share_a * out_a + share_b * out_b},
            does="The shares, one for each query, line up with the features, where the shapes fit at all.",
            why="Axes are aligned from the end. The shares need one more axis, of length 1.",
            ask="Which shapes are multiplied, and how do they line up from the end?"),
    replace(NO_MAXIMUM,
            change=({"highest": lambda a, b: np.zeros_like(a), "shares": _divided},
                    {"highest": lambda a, b: np.zeros_like(a)},
                    {"weights": _bare_powers}, {"weights": _bare_powers, "shares": _divided},
                    {"lse": lambda total, shift, lse_a, lse_b: np.log(np.exp(lse_a) + np.exp(lse_b))},
                    {"lse": lambda total, shift, lse_a, lse_b: np.log(np.exp(lse_a) + np.exp(lse_b)),
                     "shares": _by_lse}),
            does="For small log-sum-exps it is right. Above 709 (above 88 in float32, above 11 in float16) exp "
                 "overflows; far below 0 both exponentials underflow.",
            why="Only the difference of the two matters. Subtract the larger one from both; then no "
                "exponent is above 0.",
            ask="Which number can be subtracted from both log-sum-exps so that exp never overflows?"),
    replace(named("minimum subtracted instead of maximum", SHIFT_MISTAKES),
            change=({"highest": np.minimum, "shares": _divided}, {"highest": np.minimum}),
            does="The smaller log-sum-exp becomes 0, and the exponential of the other may overflow; an "
                "empty part spoils the row.",
            ask="Which exponents overflow, large positive or large negative ones?"),
    replace(named("one maximum for the whole array", SHIFT_MISTAKES),
            change=({"highest": lambda a, b: np.maximum(a.max(), b.max()), "shares": _divided},
                    {"highest": lambda a, b: np.maximum(a.max(), b.max())}),
            does="Queries whose log-sum-exps lie far below the largest of all underflow.",
            why="Each query needs its own maximum.",
            ask="What is left of a query whose two numbers lie 10000 below another query's?"),
    Mistake("one part subtracted instead of the maximum",
            change=({"highest": lambda a, b: a, "shares": _divided}, {"highest": lambda a, b: b, "shares": _divided},
                    {"highest": lambda a, b: a}, {"highest": lambda a, b: b},
                    {"highest": lambda a, b: a, "guard": lambda m: m},
                    {"highest": lambda a, b: b, "guard": lambda m: m}),
            does="The log-sum-exp of one part is always subtracted: if the other one is much larger, exp overflows.",
            why="With the larger of the two no exponent is above 0.",
            ask="What is the largest exponent if part b's scores are 10000 above part a's?"),
    Mistake("dead rows NaN",
            change=({"guard": lambda highest: highest},
                    {"dead_rows": lambda out, total: np.where(_column(total == 0), np.nan, out)},
                    {"lse": lambda total, shift, lse_a, lse_b: np.where(total == 0, np.nan, np.log(total) + shift)}),
            does="Where both parts are empty, the output or the log-sum-exp is NaN.",
            why="-inf - -inf is NaN, and so is 0 / 0. Two empty parts merge to another: output 0, log-sum-exp -inf.",
            ask="What are the maximum and the sum of the weights if both log-sum-exps are -inf?"),
    Mistake("0 for a row of -inf",
            change={"lse": lambda total, shift, lse_a, lse_b: np.where(total == 0, 0.0, np.log(total) + shift)},
            does="Where both parts are empty, the log-sum-exp is 0.",
            why="A log-sum-exp of 0 says that the exponentials sum to 1; here they sum to 0, and log(0) is -inf. "
                "The next merge would count the empty part.",
            ask="What is the logarithm of an empty sum?"),
    Mistake("large negative number instead of -inf",
            change=tuple({"lse": lambda total, shift, lse_a, lse_b, v=value:
                          np.where(total == 0, v, np.log(total) + shift)}
                         for value in (-1e9, -1e10, -1e30, -1e4, -1e3) + LOWEST),
            numbers=each(lambda v: {"lse": lambda total, shift, lse_a, lse_b: np.where(
                total == 0, v, np.log(total) + shift)}, lambda v: v < 0),
            does="Where both parts are empty, the log-sum-exp is a large negative number.",
            why="The exponentials sum to 0 exactly, and log(0) is -inf.",
            ask="Which number has the exponential 0?"),
    Mistake("maximum instead of log-sum-exp", change=_lse_as(np.maximum),
            does="The larger of the two log-sum-exps is returned.",
            why="Both sums of exponentials are added: the result lies above the larger one, by up to log 2.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("log-sum-exps added", change=_lse_as(np.add),
            does="The two log-sum-exps are added.",
            why="The sums of exponentials are added, not their logarithms: that would multiply them.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("mean instead of sum",
            change={"lse": lambda total, shift, lse_a, lse_b: np.log(total / 2) + shift},
            does="The log-sum-exp is too small by log 2: it is that of the mean of the two sums.",
            why="The sums of exponentials of both parts are added.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("maximum subtracted again instead of added back",
            change={"lse": lambda total, shift, lse_a, lse_b: np.log(total) - shift},
            does="The log-sum-exp falls when both parts' grow.",
            why="The maximum was subtracted from both; afterwards it has to be added.",
            ask="By how much should the log-sum-exp grow when both parts' grow by 1?"),
    Mistake("one share for both parts",
            change=tuple({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, i=i: (
                MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse)[i],) * 2} for i in (0, 1)),
            does="Both parts get the share of part a, or that of part b.",
            why="The two shares sum to 1.",
            ask="Which share has part b if that of part a is 1/4?"),
    Mistake("shares from doubled exponents",
            change=tuple({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, p=p, norm=norm: norm(*(
                share ** p for share in MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse)))}
                for p in (2, 0.5) for norm in (lambda a, b: (a, b), _normalised)),
            does="The shares enter squared, or as their square roots.",
            why="A part's share is exp(lse - merged lse), with the difference as it is.",
            ask="What do your two shares sum to if both log-sum-exps are equal?"),
    Mistake("one share for all queries",
            change=tuple({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, of=of: _for_all(
                MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse)[0], of)} for of in (
                lambda a: a.mean(axis=-1, keepdims=True), lambda a: a.mean(), lambda a: a[..., :1], lambda a: a.max())),
            does="All queries get the same shares: a mean, or those of the first query.",
            why="Each query has scores of its own, and so log-sum-exps and shares of its own.",
            ask="How many shares has part a if there are 5 queries?"),
    Mistake("shares over the queries instead of the parts",
            change=tuple({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, over=over: (
                over(lse_a), over(lse_b))} for over in (_over_queries, lambda lse: _over_queries(lse, 1e-7))),
            does="Each part's log-sum-exps go through a softmax of their own, over the queries.",
            why="The two parts compete for each query: for each, their shares sum to 1.",
            ask="Which two numbers must sum to 1?"),
    Mistake("share from one log-sum-exp alone",
            change=tuple({"shares": shares} for shares in (
                *map(_alone, (0, 1)), *map(_alone_but_empty, (0, 1)))),
            does="One part's share is exp(lse) / (1 + exp(lse)), whatever the other part's log-sum-exp is.",
            why="A part's share in the whole depends on both: exp(lse_a) / (exp(lse_a) + exp(lse_b)).",
            ask="Which share has part a if lse_b is much larger than lse_a?"),
    Mistake("log-sum-exp lost beside an empty part", change=tuple(
                {"lse": lambda total, shift, lse_a, lse_b, empty=empty: np.where(
                    empty(np.isneginf(lse_a), np.isneginf(lse_b)), -np.inf, np.log(total) + shift)}
                for empty in (np.logical_or, lambda a, b: a, lambda a, b: b)),
            does="Where one part is empty, the log-sum-exp is -inf, as if both were.",
            why="An empty part adds 0 to the sum: what is left is the other part's log-sum-exp.",
            ask="What is the sum of exponentials if one part has none?"),
    Mistake("output lost beside an empty part", change=tuple(
                {"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, empty=empty: tuple(
                    np.where(empty(np.isneginf(lse_a), np.isneginf(lse_b)), 0.0, share)
                    for share in MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse))}
                for empty in (np.logical_or, lambda a, b: a, lambda a, b: b)),
            does="Where one part is empty, the output is 0, as if both were.",
            why="An empty part has no share: what is left is the other part's output.",
            ask="Which share has the other part if one is empty?"),
    Mistake("log-sum-exps averaged", change=_lse_as(lambda a, b: (a + b) / 2),
            does="The mean of the two log-sum-exps is returned.",
            why="The sums of exponentials are added: the result lies above both.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("log-sum-exp of one part", change=(*_lse_as(lambda a, b: a), *_lse_as(lambda a, b: b)),
            does="The log-sum-exp of one part is handed on.",
            why="The merged output belongs to both parts' keys, and so must the log-sum-exp.",
            ask="Of which keys is the returned log-sum-exp?"),
    Mistake("maximum not added back",
            change=({"lse": lambda total, shift, lse_a, lse_b: np.log(total)},),
            does="The log-sum-exp lies between 0 and log 2.",
            why="Subtracting the maximum divides the sum by exp(maximum): after the logarithm it "
                "has to be added again.",
            ask="By how much should the log-sum-exp grow when both parts' grow by 1?"),
    Mistake("no logarithm",
            change=({"lse": lambda total, shift, lse_a, lse_b: total},
                    {"lse": lambda total, shift, lse_a, lse_b: total + shift},
                    {"lse": lambda total, shift, lse_a, lse_b: np.exp(lse_a) + np.exp(lse_b)}),
            does="A sum of exponentials is returned, not its logarithm.",
            why="The next merge expects a log-sum-exp again.",
            ask="What is the last function in log sum exp to be applied?"),
    Mistake("epsilon in the denominator",
            change=tuple({"shares": lambda weight_a, weight_b, total, *others, e=e:
                          _divided(weight_a, weight_b, total + e, *others)}
                         for e in EPSILONS),
            numbers=each(lambda e: {"shares": lambda weight_a, weight_b, total, *others: _divided(
                weight_a, weight_b, total + e, *others)}, lambda e: 0 < e < 10),
            does="The two shares sum to a little less than 1.",
            why="With the maximum subtracted the sum is at least 1, unless both parts are empty; "
                "choose 1 for it there.",
            ask="How small can the sum get once the maximum is subtracted?"),
    Mistake("epsilon in the logarithm",
            change=tuple({"lse": lambda total, shift, lse_a, lse_b, e=e: np.log(total + e) + shift}
                         for e in EPSILONS + TINIER),
            does="A small number stands with the sum in the logarithm: two empty parts give the "
                "logarithm of that number.",
            why="With the maximum subtracted the sum is at least 1, unless both parts are empty; there -inf is right.",
            ask="When can the sum be 0, and what should its logarithm be then?"),
    Mistake("power of 2 instead of e",
            change=({"power": np.exp2},
                    {"power": np.exp2, "lse": lambda total, shift, lse_a, lse_b: np.log2(total) + shift}),
            does="The shares are computed with powers of 2.",
            why="The log-sum-exps are natural logarithms: exp undoes them.",
            ask="Which function undoes the natural logarithm?"),
    Mistake("logarithm to base 2",
            change=({"lse": lambda total, shift, lse_a, lse_b: np.log2(total) + shift},
                    {"lse": lambda total, shift, lse_a, lse_b: np.log2(np.exp(lse_a) + np.exp(lse_b))},
                    {"lse": lambda total, shift, lse_a, lse_b: (np.log(total) + shift) / np.log(2)}),
            does="The log-sum-exp is a logarithm to base 2, in whole or in part.",
            why="exp and the natural logarithm undo each other; exp and log2 do not.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("output and log-sum-exp swapped", change={"finish": lambda out, lse: (lse, out)},
            does="The log-sum-exp comes first, the output second.",
            why="The answer is (out, lse), in this order.",
            ask="In which order does the exercise name the two?"),
)

merge_partials = Exercise(
    name="merge_partials", signature="(out_a, lse_a, out_b, lse_b)", part=PART,
    text="Attention over two sets of keys from the partial results over each: the merged output and "
         "log-sum-exp. An empty part has output 0 and log-sum-exp -inf, and two of them merge to another.",
    answer=merge_partials_answer, steps=MERGE_STEPS, cases=_merge_cases, outputs=("out", "lse"),
    hints=(
        "A part's output was divided by its own sum of exponentials, exp(lse). What is it worth beside the other part?",
        "The shares of the two parts are exp(lse_a) and exp(lse_b), divided by their sum. The new "
        "log-sum-exp is the logarithm of that sum.",
        "exp(lse) may overflow: subtract the larger of the two first, query by query, and add it to the logarithm.",
        "If both are -inf, subtract 0 instead: the weights become 0. Divide them by 1 instead of their sum, 0.",
        "With m = np.maximum(lse_a, lse_b), 0 where it is -inf, and w_a = exp(lse_a - m), w_b likewise: "
        "lse is m + log(w_a + w_b). The shares multiply the outputs with one more axis: [..., None].",
    ),
    mistakes=MERGE_MISTAKES,
)

EXERCISES = (softmax_row, softmax, temperature_softmax, logsumexp, log_softmax, safe_softmax,
             softmax_jacobian, softmax_backward, online_softmax_stats, merge_partials)
