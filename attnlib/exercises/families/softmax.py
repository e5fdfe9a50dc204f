"""The steps of a softmax, and what goes wrong in them."""

from dataclasses import replace

import numpy as np

from ..model import HUGE, NEG_INF, Mistake, Step, each
from .choose import named
from .masks import ZERO_FILL


def softmax_steps_answer(do, scores, axis):
    """softmax(scores, axis) step by step; attention calls it too."""
    axis = do.axis(axis, scores)
    scores = do.scores_in(scores)
    powers = do.exponential(do.shift(scores, axis), axis)
    return do.weights_out(do.divide(powers, do.total(powers, axis)))


SOFTMAX_STEPS = {
    "axis": lambda axis, scores: axis,
    "scores_in": Step(lambda scores: scores, "the scores"),
    "shift": Step(lambda scores, axis: scores - scores.max(axis=axis, keepdims=True), "the shifted scores"),
    "exponential": Step(lambda shifted, axis: np.exp(shifted), "the exponentials"),
    "total": Step(lambda powers, axis: powers.sum(axis=axis, keepdims=True), "the sum of the exponentials", True),
    "divide": lambda powers, total: powers / total,
    "weights_out": Step(lambda weights: weights, "the weights"),
}


def no_shift(scores, axis):
    return scores


def _one_hot(scores, axis):
    hot = scores == scores.max(axis=axis, keepdims=True)
    return hot / 1.0


def first_hot(scores, axis):
    if axis is None:
        return first_hot(scores.ravel(), -1).reshape(scores.shape)
    hot = np.zeros_like(scores)
    np.put_along_axis(hot, scores.argmax(axis=axis, keepdims=True), 1.0, axis)
    return hot


def _reduced(reduce):
    return lambda scores, axis: scores - reduce(scores, axis=axis, keepdims=True)


def _reduced_everywhere(reduce):
    return lambda scores, axis: scores - reduce(scores)


NO_MAXIMUM = Mistake(
    "no maximum subtracted", change={"shift": no_shift},
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
    Mistake("no exponential", change=({"shift": no_shift, "exponential": lambda s, axis: s},
                                      {"exponential": lambda s, axis: s}),
            does="The scores are divided by their sum.",
            why="Scores may be negative, and their sum 0. exp makes every one positive and turns "
                "differences into ratios.",
            ask="What weight does a negative score get, and what should it get?"),
    Mistake("absolute values instead of exponentials",
            change={"shift": no_shift, "exponential": lambda s, axis: np.abs(s)},
            does="A score of -3 gets as much weight as one of 3.",
            why="A lower score must get a lower weight, also below 0.",
            ask="Which of the scores -3 and 1 should get more weight?"),
    Mistake("squares instead of exponentials",
            change={"shift": no_shift, "exponential": lambda s, axis: s ** 2},
            does="A score of -3 gets as much weight as one of 3.",
            why="A lower score must get a lower weight, also below 0.",
            ask="Which of the scores -3 and 1 should get more weight?"),
    Mistake("power of 2 instead of e", change={"exponential": lambda s, axis: np.exp2(s)},
            does="The weights are those of scores multiplied by log 2: too even.",
            why="The softmax is defined with e: a score that is larger by 1 gets e times the weight.",
            ask="Which base has the exponential of the softmax?"),
    Mistake("power of 10 instead of e", change={"exponential": lambda s, axis: 10.0 ** s},
            does="The weights are those of scores multiplied by log 10: too uneven.",
            why="The softmax is defined with e.",
            ask="Which base has the exponential of the softmax?"),
    Mistake("exponential taken twice", change={"exponential": lambda s, axis: np.exp(np.exp(s))},
            does="exp is taken of the exponentials again: differences become smaller or larger than they are.",
            why="The softmax takes exp of each score once.",
            ask="How often does exp stand in your function?"),
    Mistake("softplus instead of exp", change=({"shift": no_shift, "exponential": lambda s, axis: np.logaddexp(0, s)},
                                               {"exponential": lambda s, axis: np.logaddexp(0, s)}),
            does="Each score becomes log(1 + exp(score)), and these are divided by their sum.",
            why="A score larger by 1 gets e times the weight; softplus grows like the score itself.",
            ask="How much more weight should a score get that is larger by 1?"),
    Mistake("1 subtracted from the exponentials", change=(
                {"exponential": lambda s, axis: np.exp(s) - 1}, {"shift": no_shift, "exponential": lambda s, axis: (
                    np.exp(s) - np.exp(s.max(axis=axis, keepdims=True)))}),
            does="The largest score gets the weight 0: from each exponential 1 is subtracted, or the largest exponential.",
            why="What is subtracted inside exp, the maximum, leaves every exponential positive; outside it changes their ratios.",
            ask="Is the maximum subtracted before exp is taken, or after?"),
    Mistake("sigmoid instead of softmax",
            change={"shift": no_shift, "exponential": lambda s, axis: 1 / (1 + np.exp(-s)),
                    "divide": lambda powers, total: powers},
            does="Each score is turned into a number between 0 and 1 by itself.",
            why="In a softmax the scores of a row compete: their weights sum to 1.",
            ask="What must happen to a weight if another score of the row grows?"),
    Mistake("argmax instead of softmax",
            change=({"shift": no_shift, "exponential": _one_hot, "divide": lambda p, t: p},
                    {"shift": no_shift, "exponential": _one_hot},
                    {"shift": no_shift, "exponential": first_hot, "divide": lambda p, t: p}),
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
    Mistake("sum never below 1",
            change={"shift": no_shift, "total": lambda p, axis: np.maximum(p.sum(axis=axis, keepdims=True), 1),
                    "divide": SOFTMAX_STEPS["divide"]},
            does="No maximum is subtracted, and a sum of exponentials below 1 counts as 1: large scores overflow, and "
                 "the row of -3, -1 does not sum to 1.",
            why="With the maximum subtracted the sum is at least 1 by itself; without it a small sum is right as it is.",
            ask="What do the weights of the scores -3, -1 sum to?"),
    Mistake("one score left out of the sum",
            change=ONE_LEFT_OUT,
            does="The first, the last or the largest score of a row is missing in the sum below the fraction line.",
            why="The sum runs over all scores of a row, or the row does not sum to 1.",
            ask="How many exponentials are added, and how many scores has the row?"),
    Mistake("exponential of the sum instead of the sum of exponentials",
            change=tuple({"total": lambda p, axis: p.prod(axis=axis, keepdims=True), "divide": SOFTMAX_STEPS["divide"],
                          "shift": shift} for shift in (no_shift, SOFTMAX_STEPS["shift"])),
            does="The scores are summed first, and exp is taken of their sum.",
            why="exp(a + b) is a product, exp(a) exp(b). Each score becomes an exponential first, and these are added.",
            ask="In which order do exp and sum come below the fraction line?"),
    Mistake("divided by the sum of the scores",
            change=tuple({"total": lambda p, axis: np.log(p).sum(axis=axis, keepdims=True), "shift": shift,
                          "divide": SOFTMAX_STEPS["divide"]} for shift in (no_shift, SOFTMAX_STEPS["shift"])),
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


def lowest_scores(scores, axis):
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

AXIS_GIVEN = "an axis given"


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


ALL_SOFTMAX_MISTAKES = (
    *SHIFT_MISTAKES, *EXPONENTIAL_MISTAKES, SIGN, *TOTAL_MISTAKES, *AXIS_MISTAKES, *AFTER_MISTAKES,
    OTHER_DEFAULT, *PLACE_MISTAKES, ONE_LINE_SHIFTED, SCALED_SCORES, UNIFORM,
    replace(ZERO_FILL, change={"scores_in": lambda s: np.where(np.isneginf(s), 0.0, s)},
            does="Scores of -inf count as 0."),
    replace(LOWEST_INSTEAD, change=({"scores_in": lambda s: np.where(np.isneginf(s), lowest_scores(s, None), s)},
                                    {"scores_in": lambda s: np.where(np.isneginf(s), lowest_scores(s, -1), s)})),
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
)

KEEPDIMS_MISTAKES = tuple(named(name, ALL_SOFTMAX_MISTAKES) for name in (
    "maximum without keepdims", "maximum over the wrong axis"))


def beside_dead_rows(mistake):
    """The mistake with a reason that is true where the sum of a row may be 0."""
    if mistake.name != "epsilon in the denominator":
        return mistake
    return replace(mistake, why="Only where every score of a row is -inf is the sum 0, and 1 may take its place. In any other "
                                "row it is at least 1 with the maximum subtracted, and a number added makes the weights wrong.")
