"""The steps of a softmax, and what goes wrong in them."""

from dataclasses import replace

import numpy as np

from ..model import (FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, SMALL, SQUARE, Case, Mistake, Step, alike, each,
    normal)
from .choose import pick
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


def _clipped(c):
    return (lambda s, axis: np.clip(s, -c, c), lambda s, axis: np.minimum(s, c), lambda s, axis: np.maximum(s, -c),
            lambda s, axis: np.maximum(s - s.max(axis=axis, keepdims=True), -c))


def _shifted(*shifts):
    return tuple({"shift": shift} for shift in shifts)


def _by_deviation(centre):
    return lambda s, axis: (s - centre(s, axis=axis, keepdims=True)) / s.std(axis=axis, keepdims=True)


def _over_max(of):
    return lambda s, axis: s / of(s).max(axis=axis, keepdims=True)


SHIFT_MISTAKES = (
    NO_MAXIMUM,
    *alike("Only with the row's own maximum is no exponent above 0, and the largest exponential 1.",
           "What is the largest exponent left after your subtraction, and what is it in a row far below the others?",
           ("minimum subtracted instead of maximum", _shifted(_reduced(np.min), _reduced_everywhere(np.min)),
            "The lowest score of a row becomes 0, and the highest may still overflow."),
           ("mean subtracted instead of maximum", _shifted(_reduced(np.mean), _reduced_everywhere(np.mean)),
            "A score far above the mean of its row still overflows; and one score of -inf makes the whole row NaN."),
           ("median subtracted instead of maximum", _shifted(_reduced(np.median), _reduced_everywhere(np.median)),
            "A score far above the median of its row still overflows."),
           ("maximum never below 0", _shifted(lambda s, axis: s - np.maximum(s.max(axis=axis, keepdims=True), 0)),
            "In a row far below 0 nothing is subtracted: all exponentials underflow, and their sum is 0."),
           ("one maximum for the whole array", _shifted(_reduced_everywhere(np.max)),
            "A row that lies far below the largest score of all underflows to a sum of 0."),
           ("one score subtracted instead of the maximum",
            _shifted(*(lambda s, axis, i=i: s - np.take(s, [i], axis=-1 if axis is None else axis) for i in (0, -1))),
            "The first or the last score of a row is subtracted; a score far above it still overflows."),
           ("maximum of absolute values", _shifted(lambda s, axis: s - np.abs(s).max(axis=axis, keepdims=True)),
            "A row of large negative scores underflows to a sum of 0; a score of -inf spoils its row."),
           ("maximum added", _shifted(lambda s, axis: s + s.max(axis=axis, keepdims=True)),
            "Large scores become twice as large before exp.")),
    Mistake("a fixed number subtracted instead of the maximum",
            numbers=each(lambda c: {"shift": lambda s, axis: s - c}, lambda c: abs(c) >= 5),
            does="The same number is subtracted from every row: a score far above it overflows, and a row far below "
                 "it underflows to a sum of 0.",
            why="Each row needs its own maximum: then its largest exponent is 0.",
            ask="What is the largest exponent left after your subtraction?"),
    *alike("A softmax depends on the differences of scores: subtracting one number from a row keeps them, dividing "
           "does not.",
           "Which operation on all scores of a row leaves the softmax as it is?",
           ("divided by the maximum", _shifted(_over_max(lambda s: s), _over_max(np.abs)),
            "The scores are divided by their maximum, which changes their differences."),
           ("standardised scores", _shifted(_by_deviation(np.mean), _by_deviation(np.max)),
            "The scores are divided by their standard deviation.")),
    Mistake("scores clipped",
            change=_shifted(*(clip for c in (10, 20, 30, 50, 80, 88, 100, 500, 700)
                              for clip in _clipped(c)[:2 if c > 30 else 1])),
            numbers=lambda numbers: [{"shift": clip} for c in numbers if 1 < abs(c) < 1000
                                     for clip in _clipped(abs(c))],
            does="Large scores are cut to a limit, and their differences disappear.",
            why="Scores of 10000 and 9999 have the same weights as scores of 1 and 0, not equal ones.",
            ask="What should the softmax of 10000, 9999 be?"),
)


SCORES_CUT = Mistake(  # for a step "shift" of the scores alone
    "scores clipped", change=tuple({"shift": lambda s, c=c: np.clip(s, -c, c)} for c in (50, 80, 100, 500, 700)),
    numbers=each(lambda c: {"shift": lambda s: np.clip(s, -c, c)}, lambda c: 1 < c < 1000),
    does="Large scores are cut to a limit, and their differences disappear.",
    why="Scores of 1001 and 1000 have the same weights as scores of 1 and 0, not equal ones.",
    ask="What should the weights of the scores 1001, 1000 be?")


def _along_axis(axis):
    """A softmax along another axis, of the row's maximum and of that axis's own."""
    def total(powers):
        return powers.sum(axis=max(axis, -powers.ndim), keepdims=True)

    return {"total": total}, {"total": total, "shift": lambda s: s - s.max(axis=max(axis, -s.ndim), keepdims=True)}


OVER_OTHER_AXES = (  # for steps "shift" and "total" of one array
    ("softmax over the queries", _along_axis(-2), "The exponentials are divided by sums over the queries."),
    ("softmax over the first axis", _along_axis(0),
     "The exponentials are divided by sums over the first axis, which is the batch if there are leading axes."))


def _of(*functions):
    """Something else in place of exp, of shifted scores."""
    return tuple({"exponential": lambda s, axis, f=f: f(s)} for f in functions)


def _unshifted(*functions):
    """The same of the scores as they are."""
    return tuple({"shift": no_shift, **change} for change in _of(*functions))


EXPONENTIAL_MISTAKES = (
    *alike("Scores may be negative. exp makes every one positive, keeps their order and turns differences into ratios.",
           "What weight does a negative score get, and what should it get?",
           ("no exponential", (*_unshifted(lambda s: s), *_of(lambda s: s)), "The scores are divided by their sum."),
           ("absolute values instead of exponentials", _unshifted(np.abs),
            "A score of -3 gets as much weight as one of 3."),
           ("squares instead of exponentials", _unshifted(np.square),
            "Each score is squared, and divided by the sum of the squares.")),
    *alike("The softmax takes exp of each score once: one that is larger by 1 gets e times the weight.",
           "How much more weight should a score get that is larger by 1?",
           ("power of 2 instead of e", _of(np.exp2), "The weights are those of scores multiplied by log 2: too even."),
           ("power of 10 instead of e", _of(lambda s: 10.0 ** s),
            "The weights are those of scores multiplied by log 10: too uneven."),
           ("exponential taken twice", _of(lambda s: np.exp(np.exp(s))), "exp is taken of the exponentials again."),
           ("softplus instead of exp", (*_unshifted(lambda s: np.logaddexp(0, s)), *_of(lambda s: np.logaddexp(0, s))),
            "Each score becomes log(1 + exp(score)), and these are divided by their sum."),
           ("argmax instead of softmax",
            ({"shift": no_shift, "exponential": _one_hot, "divide": lambda p, t: p},
             {"shift": no_shift, "exponential": _one_hot},
             {"shift": no_shift, "exponential": first_hot, "divide": lambda p, t: p}),
            "The largest score gets the weight 1, all others 0.")),
    Mistake("1 subtracted from the exponentials",
            change=({"exponential": lambda s, axis: np.exp(s) - 1}, {"shift": no_shift, "exponential": lambda s, axis: (
                np.exp(s) - np.exp(s.max(axis=axis, keepdims=True)))}),
            does="The largest score gets the weight 0: from each exponential 1 is subtracted, or the largest "
                 "exponential.",
            why="What is subtracted inside exp, the maximum, leaves every exponential positive; outside it changes "
                "their ratios.",
            ask="Is the maximum subtracted before exp is taken, or after?"),
    Mistake("sigmoid instead of softmax",
            change={"shift": no_shift, "exponential": lambda s, axis: 1 / (1 + np.exp(-s)),
                    "divide": lambda powers, total: powers},
            does="Each score is turned into a number between 0 and 1 by itself.",
            why="In a softmax the scores of a row compete: their weights sum to 1.",
            ask="What must happen to a weight if another score of the row grows?"),
)

SIGN = Mistake(
    "sign flipped",
    change=({"scores_in": lambda s: -s}, {"shift": lambda s, axis: s.max(axis=axis, keepdims=True) - s}),
    does="The lowest score gets the largest weight.",
    why="A higher score means a better match, and must get more weight.",
    ask="Which score of a row should get the largest weight?")


def _one_of(i):
    return lambda powers, axis: np.take(powers, [i], axis=-1 if axis is None else axis)


ONE_LEFT_OUT = tuple({"total": lambda p, axis, left=left: p.sum(axis=axis, keepdims=True) - left(p, axis)}
                     for left in (_one_of(0), _one_of(-1), lambda p, axis: p.max(axis=axis, keepdims=True)))

EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, float(np.finfo(np.float32).eps))


def _raised_by(e):
    return {"total": lambda p, axis: p.sum(axis=axis, keepdims=True) + e}


def _by(total, **more):
    return {"total": total, **more}


RIGHT_SHIFT, RIGHT_DIVISION = {"shift": SOFTMAX_STEPS["shift"]}, {"divide": SOFTMAX_STEPS["divide"]}

TOTAL_MISTAKES = (
    *alike("Weights are shares of one whole: divided by the sum of the exponentials, and by nothing else, a row sums "
           "to 1.",
           "What do the weights of one query sum to after your division?",
           ("not divided by the sum",  # the largest power is 1 once the maximum is subtracted
            ({"divide": lambda powers, total: powers}, _by(lambda p, axis: p.max(axis=axis, keepdims=True))),
            "The exponentials are not divided, or divided by the largest of them: a row does not sum to 1."),
           ("divided by the mean", _by(lambda p, axis: p.mean(axis=axis, keepdims=True)),
            "Each row sums to its own length, not to 1."),
           ("divided by the Euclidean length", _by(lambda p, axis: np.sqrt((p ** 2).sum(axis=axis, keepdims=True))),
            "The squares of a row's weights sum to 1, not the weights."),
           ("divided by the number of scores", _by(lambda p, axis: p.size if axis is None else p.shape[axis]),
            "The exponentials are divided by how many there are."),
           ("one score left out of the sum", ONE_LEFT_OUT,
            "The first, the last or the largest score of a row is missing in the sum below the fraction line.")),
    # with the maximum of each row: without it this is a softmax over another axis
    Mistake("sum over the wrong axis",
            change=tuple(_by(lambda p, axis, other=other: p.sum(axis=other, keepdims=True),
                             **RIGHT_SHIFT) for other in (-2, 0)),
            does="The exponentials are divided by sums over the queries.",
            why="The weights of one query sum to 1 over the keys.",
            ask="Which axis must disappear in the sum?"),
    Mistake("sum without keepdims", change=_by(lambda p, axis: p.sum(axis=axis)),
            does="Row i's sum divides column i instead of row i, where the shapes fit at all.",
            why="Without keepdims the sums are a row, and broadcasting lines them up with the columns.",
            ask="What is the shape of the sums, and how does it line up with the exponentials?"),
    Mistake("epsilon in the denominator", change=tuple(map(_raised_by, (*EPSILONS, 0.5, 1.0))),
            numbers=each(_raised_by, lambda e: 0 < e < 10),
            does="Each row sums to less than 1.",
            why="With the maximum subtracted the sum is at least 1 and never 0; a small number added "
                "to it only makes the weights wrong.",
            ask="How small can the sum get once the maximum is subtracted?"),
    Mistake("sum never below 1",
            change=_by(lambda p, axis: np.maximum(p.sum(axis=axis, keepdims=True), 1), shift=no_shift,
                       **RIGHT_DIVISION),
            does="No maximum is subtracted, and a sum of exponentials below 1 counts as 1: large scores overflow, and "
                 "the row of -3, -1 does not sum to 1.",
            why="With the maximum subtracted the sum is at least 1 by itself; without it a small sum is right as it "
                "is.",
            ask="What do the weights of the scores -3, -1 sum to?"),
    *alike("Below the fraction line stands the sum of the exponentials: each score becomes one first, and these are "
           "added.",
           "In which order do exp and sum come below the fraction line?",
           ("exponential of the sum instead of the sum of exponentials",
            tuple(_by(lambda p, axis: p.prod(axis=axis, keepdims=True), shift=shift, **RIGHT_DIVISION)
                  for shift in (no_shift, SOFTMAX_STEPS["shift"])),
            "The scores are summed first, and exp is taken of their sum."),
           ("divided by the sum of the scores",
            tuple(_by(lambda p, axis: np.log(p).sum(axis=axis, keepdims=True), shift=shift, **RIGHT_DIVISION)
                  for shift in (no_shift, SOFTMAX_STEPS["shift"])),
            "Above the fraction line stand exponentials, below it the sum of the scores.")),
    Mistake("logarithm of the softmax", change={"divide": lambda p, t: np.log(p / t)},
            does="The answer holds logarithms of weights: all are negative.",
            why="Weights are asked for, positive and with sum 1.",
            ask="What is the last operation of a softmax?"),
)


def _along(axis):
    """A softmax along another axis than the given one, of these scores."""
    return {"axis": axis}


AXIS_MISTAKES = (
    *alike("Each query has a softmax of its own: the keys compete for it, and the last axis, -1, runs over the keys.",
           "Along which axis must the weights of one query sum to 1, and which index always names it?",
           ("softmax over everything",
            (_along(lambda axis, scores: None), {"total": lambda p, axis: p.sum()},
             _along(lambda axis, scores: (-2, -1))),
            "All entries of the array, or of each matrix, sum to 1 together; each row should."),
           ("softmax over the queries' axis", _along(lambda axis, scores: -2),
            "Each column of the weights sums to 1, each row does not."),
           ("softmax over the first axis", _along(lambda axis, scores: 0),
            "The weights sum to 1 over the first axis, which is the batch if there are leading axes."),
           ("softmax over all axes but the first", _along(lambda axis, scores: tuple(range(1, scores.ndim)) or (0,)),
            "For two axes it is right; with leading axes the weights sum to 1 over all axes but the first."),
           ("softmax over the second axis", _along(lambda axis, scores: 1),
            "For two axes it is right; with leading axes the weights sum to 1 over another one.")),
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
            "total": lambda p, axis: np.where(np.signbit(p), 1, p).sum(axis=axis, keepdims=True), **RIGHT_SHIFT},
    does="For each score of -inf 1 is added to the sum, as if exp(-inf) were 1.",
    why="exp(-inf) is 0: what must not be seen adds nothing.",
    ask="What do the weights of a row with one -inf sum to?")

AFTER_MISTAKES = (
    Mistake("rounded", change=tuple({"weights_out": lambda w, n=n: np.round(w, n)} for n in (1, 2, 3, 4, 5, 6, 8)),
            numbers=each(lambda n: {"weights_out": lambda w: np.round(w, n)}, (7, 9).__contains__),
            does="The weights are rounded.",
            why="Rounded weights do not sum to 1, and small ones disappear.",
            ask="Which of your operations throws digits away?"),
    Mistake("small weights raised",
            change=tuple({"weights_out": lambda w, e=e: np.maximum(w, e)} for e in (1e-2, 1e-3)),
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


def _low_as(value):
    return {"scores_in": lambda s: np.where(np.isneginf(s), value, s), **RIGHT_SHIFT}


def _put_back(index, *steps):
    """Maxima, or sums, without keepdims, and an axis of length 1 put back in a fixed place."""
    changes = {"shift": lambda s, axis: s - s.max(axis=axis)[index], "total": lambda p, axis: p.sum(axis=axis)[index]}
    return {step: changes[step] for step in steps}


ALL_SOFTMAX_MISTAKES = (
    *SHIFT_MISTAKES, *EXPONENTIAL_MISTAKES, SIGN, *TOTAL_MISTAKES, *AXIS_MISTAKES, *AFTER_MISTAKES,
    OTHER_DEFAULT, *PLACE_MISTAKES, ONE_LINE_SHIFTED, SCALED_SCORES, UNIFORM,
    replace(ZERO_FILL, change={"scores_in": lambda s: np.where(np.isneginf(s), 0.0, s)},
            does="Scores of -inf count as 0."),
    replace(LOWEST_INSTEAD, change=tuple(
        {"scores_in": lambda s, axis=axis: np.where(np.isneginf(s), lowest_scores(s, axis), s)} for axis in (None,
                                                                                                             -1))),
    COUNTED_AS_1,
    Mistake("scores of -inf become NaN",
            change={"scores_in": lambda s: np.where(np.isneginf(s), np.nan, s), **RIGHT_SHIFT},
            does="A row with a score of -inf is NaN throughout.",
            why="0 * inf and inf - inf are NaN: a mask that multiplies, or is multiplied with infinity, makes them.",
            ask="What is -inf times 0?"),
    Mistake("large negative number instead of -inf", change=tuple(map(_low_as, LOW_FILLS)),
            numbers=each(_low_as, lambda v: v < 0),
            does="A number stands in for -inf that is not far enough below the other scores.",
            why="Only -inf is below every score.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    *alike("axis says along which axis the weights sum to 1: -1 is the last one, and 0 the first. The maximum and the "
           "sum run "
           "along it, too.",
           "Along which axis must the weights sum to 1 if axis is 0, and where does each of your lines take its axis "
           "from?",
           ("axis ignored", _along(_always(-1)), "The softmax always runs along the last axis."),
           ("the axis beside the given one",
            (_along(lambda axis, scores: (axis + 1) % scores.ndim),
             _along(lambda axis, scores: (axis - 1) % scores.ndim)),
            "The softmax runs along the next axis, or the one before the one that is given."),
           ("axes counted in reverse", _along(lambda axis, scores: -1 - axis),
            "The softmax runs along the axis that the given one becomes when .T reverses all axes."),
           ("sign of the axis lost",
            (_along(lambda axis, scores: abs(axis) if abs(axis) < scores.ndim else axis),
             _along(lambda axis, scores: abs(axis))),
            "An axis that counts from the end is taken to count from the front."),
           ("maximum over the last axis whatever axis says",
            {"shift": lambda s, axis: s - s.max(axis=-1, keepdims=True)},
            "For the last axis it is right. For another one the scores of one softmax are moved by different numbers."),
           ("sum over the last axis whatever axis says",
            _by(lambda p, axis: p.sum(axis=-1, keepdims=True), **RIGHT_SHIFT),
            "For the last axis it is right. For another one the exponentials are divided by sums over the last.")),
    *alike("[..., None] adds an axis at the end, and [:, None] in second place; keepdims=True keeps the axis where it "
           "was.",
           "Where does the axis that was reduced belong if there are three axes?",
           ("axis put back in second place",
            tuple(_put_back((slice(None), None), *steps) for steps in (("shift", "total"), ("total",), ("shift",))),
            "For the last of two axes it is right. Elsewhere maxima or sums line up with the wrong axis, where the "
            "shapes "
            "fit at all."),
           ("sum put back on the last axis", _put_back((..., None), "total"),
            "For the last axis it is right. For another one the sums line up with the wrong axis."),
           ("maximum put back on the last axis", _put_back((..., None), "shift"),
            "For the last axis it is right. For another one the maxima line up with the wrong axis.")),
    *alike("From all scores of a row the same number must be subtracted, or their differences change; without keepdims "
           "the "
           "maxima are a row, which broadcasting lines up with the columns.",
           "What is the shape of the maxima, and how does it line up with the scores?",
           ("maximum without keepdims", {"shift": lambda s, axis: s - s.max(axis=axis)},
            "Row i's maximum is subtracted from column i, where the shapes fit at all."),
           ("maximum over the wrong axis",
            tuple({"shift": lambda s, axis, other=other: s - s.max(axis=other, keepdims=True)} for other in (-2, 0)),
            "The maximum is taken over another axis than the sum: the scores of one softmax are moved by different "
            "numbers.")),
)

KEEPDIMS_MISTAKES = pick(ALL_SOFTMAX_MISTAKES, "maximum without keepdims", "maximum over the wrong axis")


def beside_dead_rows(mistake):
    """The mistake with a reason that is true where the sum of a row may be 0."""
    if mistake.name != "epsilon in the denominator":
        return mistake
    return replace(mistake,
                   why="Only where every score of a row is -inf is the sum 0, and 1 may take its place. In any other "
                                "row it is at least 1 with the maximum subtracted, and a number added makes the "
                                "weights wrong.")


def along_cases(with_axis=True):
    """Scores for a function along an axis: every shape, huge rows, -inf beside other scores, narrow dtypes."""
    inf, f4, f2 = np.inf, np.float32, np.float16

    def case(aspect, scores, *axis, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), *axis), extreme)

    def rowwise(aspect, row, extreme):
        return case(aspect, [row, [0.0] * (len(row) - 1) + [1.0]], extreme=extreme)

    def drawn(aspect, *shape, axis=(), seed=1):
        return Case(aspect, (normal(*shape, seed=seed), *axis))

    given = [case(AXIS_GIVEN, [[0, 1], [2, 5]], 0), case(HUGE, [[10000], [9999]], 0, extreme=True), *(
        drawn(AXIS_GIVEN, *shape, axis=(axis,)) for *shape, axis in (
            (5, 3, 0), (5, 3, 1), (2, 5, 3, 1), (2, 5, 3, -2), (3, 5, 2, -3), (3, 5, 2, 2)))]
    return [
        case(PLAIN, [[0, 1, 3], [2, 5, 4]]), case(PLAIN, [[1, -2, 3]]), case(PLAIN, [[-3, -1]]), drawn(PLAIN, 5, 7),
        Case(PLAIN, (normal(7, 3, seed=2) + 1,)), Case(PLAIN, (np.asarray(normal(7, 11, seed=3), order="F"),)),
        case(SQUARE, [[0, 1], [2, 5]]), drawn(SQUARE, 5, 5), case("one axis", [0, 1, 3]), drawn("one axis", 7),
        case(LEADING, [[[0, 1], [2, 5]]]), drawn(LEADING, 2, 5, 3), drawn(LEADING, 2, 3, 5, 7), drawn(LEADING, 5, 1, 3),
        *(given if with_axis else ()), Case(SMALL, (normal(3, 5, seed=10) * 1e-3,)),
        *(case(HUGE, [row, [0, 1]], extreme=True) for row in ([10000, 9999], [-10000, -9999], [400, 399])),
        *extreme_rows(rowwise),
        case(NEG_INF, [[0, -inf], [1, 2]], extreme=True), case(NEG_INF, [[1, -inf, 3], [-inf, -inf, 2]], extreme=True),
        *low_rows(case),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], dtype=f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], dtype=f4, extreme=True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], dtype=f2),
        case(FLOAT16, [[20, 21, 19], [0, 1, 2]], dtype=f2, extreme=True),
    ]
