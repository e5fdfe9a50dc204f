"""The exercise logsumexp."""

from dataclasses import replace

import numpy as np

from ...families.choose import named
from ...families.logsumexp import BASES, DEAD_ROW, LOG_MISTAKES, LOWEST
from ...families.masks import ZERO_FILL
from ...families.softmax import LOW_FILLS, NO_MAXIMUM, SHIFT_MISTAKES, SIGN, along_cases
from ...model import HUGE, Case, Exercise, Mistake, Step


def logsumexp_answer(do, scores, axis=-1):
    axis = do.axis(axis, scores)
    scores = do.scores_in(scores)
    highest = do.guard(do.highest(scores, axis))
    powers = do.exponential(do.subtract(scores, highest), axis)
    logs = do.log(do.total(powers, axis))
    return do.finish(do.add_back(logs, highest, axis), scores, axis)


LSE_STEPS = {
    "axis": lambda axis, scores: axis,
    "scores_in": Step(lambda scores: scores, "the scores"),
    "highest": Step(lambda scores, axis: scores.max(axis=axis, keepdims=True), "the maximum", True),
    "guard": lambda highest: np.where(highest == -np.inf, 0.0, highest),
    "subtract": lambda scores, highest: scores - highest,
    "exponential": Step(lambda shifted, axis: np.exp(shifted), "the exponentials"),
    "total": Step(lambda powers, axis: powers.sum(axis=axis, keepdims=True), "the sum of the exponentials", True),
    "log": Step(lambda total: np.log(total), "the logarithm of the sum", True),
    "add_back": lambda logs, highest, axis: logs + highest,
    "finish": lambda lse, scores, axis: lse.squeeze(axis),
}


def _refused(highest):
    """math.log(0) and the like."""
    if (highest == -np.inf).any():
        raise ValueError("math domain error")
    return highest


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


def _cases():
    inf = np.inf

    def dead(scores, *axis, dtype=np.float64):
        return Case(DEAD_ROW, (np.array(scores, dtype), *axis), dtype != np.float64)

    return [*along_cases(), Case(HUGE, (np.array([[10000.0, 9999.0], [-10000.0, -9999.0]]),), True),
            dead([[-inf, -inf]]),
            dead([[0, 1], [-inf, -inf]]), dead([-inf, -inf, -inf]), dead([[0, -inf], [1, -inf]], 0),
            dead([[-inf, -inf], [1, 2]], dtype=np.float16)]


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
                lambda s, axis: s.max(axis=axis) - s.min(axis=axis),
                lambda s, axis: s.max(axis=axis) - s.mean(axis=axis),
                lambda s, axis: s.min(axis=axis) - s.max(axis=axis),
                lambda s, axis: s.mean(axis=axis) - s.max(axis=axis),
                lambda s, axis: s.max() - s.max(axis=axis))),
            does="One number is subtracted from the scores, and another one added to the logarithm.",
            why="What is subtracted before exp is a factor of the sum: the same number has to be added after the "
                "logarithm.",
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
    Mistake("all axes of length 1 dropped",
            change={"add_back": lambda logs, m, axis: logs.squeeze(axis) + m.squeeze(),
                    "finish": lambda lse, s, axis: lse},
            does="It is right unless another axis has length 1, too: the maximum loses that one as well.",
            why="squeeze without an axis drops every axis of length 1; the axis of the maximum alone should go.",
            ask="What is the shape of the maximum for scores of shape (5, 1, 3), before squeeze and after it?"),
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
            does="A large negative number stands in for -inf: it is counted among scores as low, or a row of nothing "
                 "but "
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

LSE_EXPONENTIALS = BASES + (
    Mistake("no exponential",
            change={"guard": lambda m: np.zeros_like(m), "exponential": lambda s, axis: s},
            does="The answer is the logarithm of the sum of the scores.",
            why="Scores may be negative, and their sum too; then there is no logarithm.",
            ask="Which function makes every score positive before the sum?"),
)

EXERCISE = Exercise(
    name="logsumexp", signature="(scores, axis=-1)", place=1,
    axes=dict(scores="n_q n_k"),
    text="The logarithm of the sum of exp(scores) along an axis, which goes. A row of nothing but "
         "-inf gives -inf.",
    answer=logsumexp_answer, steps=LSE_STEPS, cases=_cases,
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
