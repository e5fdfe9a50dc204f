"""The exercise logsumexp."""

from dataclasses import replace

import numpy as np

from ...families.choose import also
from ...families.logsumexp import BASES, DEAD_ROW, LOG_MISTAKES, LOWEST
from ...families.masks import ZERO_FILL
from ...families.softmax import LOW_FILLS, NO_MAXIMUM, along_cases
from ...model import HUGE, Case, Exercise, Mistake, Step, alike


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


def _measured_from(*highest, **more):
    """Another number than the row's maximum."""
    return tuple({"highest": number, **more} for number in highest)


def _centred(centre):
    return lambda scores, axis: centre(scores, axis=axis, keepdims=True)


def _added(*ways):
    """Another way to join the logarithm and the maximum."""
    return tuple({"add_back": way} for way in ways)


def _ended(*ends):
    """Another answer, of the log-sum-exp with its axis kept, the scores and the axis."""
    return tuple({"finish": end} for end in ends)


def _instead(answer):
    return {"answer": lambda scores, axis=-1: answer(scores, axis)}


def _clipped(c):
    return (lambda s: np.clip(s, -c, c), lambda s: np.minimum(s, c), lambda s: np.maximum(s, -c))


def _scores(*changes):
    return tuple({"scores_in": change} for change in changes)


def _axis(*axes):
    return tuple({"axis": axis} for axis in axes)


def _by_default(number):
    return _axis(lambda axis, scores: number, lambda axis, scores: number if axis == -1 else axis)


def _largest_finite(scores, **axis):
    """The largest absolute value, and 0 where that is infinite."""
    largest = np.abs(scores).max(**axis)
    return np.where(np.isinf(largest), 0.0, largest)


UNGUARDED = {"guard": lambda highest: highest}
UNSHIFTED = {"guard": lambda highest: np.zeros_like(highest)}

LSE_SHIFTS = (
    replace(NO_MAXIMUM,
            change=(UNSHIFTED,
                    {**UNGUARDED, "log": lambda total: total,
                     "add_back": lambda logs, m, axis: np.log(logs * np.exp(m))}),
            does="For small scores it is right. For scores above 709 (above 88 in float32, above 11 in "
                 "float16) exp overflows to inf; in a row far below 0 the sum underflows, and its "
                 "logarithm is -inf.",
            why="The maximum can be taken out of the sum: subtract it from the scores, and add it to "
                "the logarithm. Then no exponent is above 0, and the sum is at least 1."),
    *alike("Only with the row's own maximum is no exponent above 0 and the sum at least 1.",
           "What is the largest exponent left after your subtraction, and what is it in a row far below the others?",
           ("minimum subtracted instead of maximum",
            _measured_from(_centred(np.min), lambda scores, axis: scores.min()),
            "The lowest score of a row becomes 0, and the highest may still overflow."),
           ("mean subtracted instead of maximum", _measured_from(_centred(np.mean), lambda scores, axis: scores.mean()),
            "A score far above the mean of its row still overflows; and one score of -inf spoils the whole row."),
           ("one score subtracted instead of the maximum",
            _measured_from(*(lambda scores, axis, i=i: np.take(scores, [i], axis=axis) for i in (0, -1))),
            "The first or the last score of a row is subtracted; a score far above it still overflows."),
           ("one maximum for the whole array",
            (*_measured_from(lambda scores, axis: scores.max()),
             *_measured_from(lambda scores, axis: scores.max(), **UNGUARDED)),
            "In a row that lies far below the largest score of all the sum underflows, and its logarithm is -inf."),
           ("maximum of absolute values", _measured_from(
               _centred(lambda scores, **axis: np.abs(scores).max(**axis)), _centred(_largest_finite)),
            "In a row of large negative scores the sum underflows; a score of -inf may spoil its row.")),
    *alike("What is subtracted from all scores is a factor of the sum, and can be added again after the logarithm. "
           "Dividing and "
           "clipping change the differences of the scores.",
           "What should the log-sum-exp of 10000, 9999 be?",
           ("divided by the maximum",
            ({"subtract": lambda s, m: s / m},
             {"subtract": lambda s, m: s / m, "add_back": lambda logs, m, axis: logs * m}),
            "The scores are divided by their maximum, which changes their differences."),
           ("maximum added",
            ({"subtract": lambda s, m: s + m},
             {"subtract": lambda s, m: s + m, "add_back": lambda logs, m, axis: logs - m}),
            "Large scores become twice as large before exp.")),
    Mistake("scores clipped",
            change=_scores(*(clip for c in (50, 80, 88, 100, 500, 700) for clip in _clipped(c)[:2 if c == 700 else 1])),
            numbers=lambda numbers: [change for c in numbers if 1 < abs(c) < 1000
                                     for change in _scores(*_clipped(abs(c)))],
            does="Large scores are cut to a limit, and their differences disappear.",
            why="The log-sum-exp of 10000 and 9999 is a little above 10000.",
            ask="What should the log-sum-exp of 10000, 9999 be?"),
)

def _of_the_whole(mistake):
    """The mistake, and for a logarithm of another base what turns the right answer into that base."""
    base = {"logarithm to base 2": 2, "logarithm to base 10": 10}.get(mistake.name)
    return also(mistake, {"add_back": lambda logs, m, axis: (logs + m) / np.log(base)}) if base else mistake


ADD_BACK_MISTAKES = (
    *alike("Subtracting the maximum divides the sum by exp(maximum). The logarithm turns that factor into a term: the "
           "same number "
           "is added again, once, and after the logarithm.",
           "By how much should the answer grow when every score of a row grows by 1, and which number do you add?",
           ("maximum not added back", _added(lambda logs, m, axis: logs),
            "The answer lies between 0 and log n: it does not change when all scores grow."),
           ("maximum added twice",
            (*_added(lambda logs, m, axis: logs + 2 * m),
             {**UNSHIFTED, **_ended(lambda lse, s, axis: (lse + s.max(axis=axis, keepdims=True)).squeeze(axis))[0]}),
            "When all scores of a row grow by 1, the answer grows by 2."),
           ("another number added back than was subtracted",
            _ended(*(lambda lse, s, axis, more=more: lse.squeeze(axis) + more(s, axis) for more in (
                lambda s, axis: s.max(axis=axis) - s.min(axis=axis),
                lambda s, axis: s.max(axis=axis) - s.mean(axis=axis),
                lambda s, axis: s.min(axis=axis) - s.max(axis=axis),
                lambda s, axis: s.mean(axis=axis) - s.max(axis=axis),
                lambda s, axis: s.max() - s.max(axis=axis)))),
            "One number is subtracted from the scores, and another one added to the logarithm."),
           ("maximum multiplied instead of added back", _added(lambda logs, m, axis: logs * m),
            "The logarithm of the sum is multiplied by the maximum."),
           ("maximum subtracted again instead of added back", _added(lambda logs, m, axis: logs - m),
            "When all scores of a row grow by 1, the answer falls by 1."),
           ("log of the sum subtracted instead of added", _added(lambda logs, m, axis: m - logs),
            "The answer is the maximum minus the logarithm of the sum."),
           ("maximum added inside the logarithm",
            {"log": lambda total: total, "add_back": lambda logs, m, axis: np.log(logs + m)},
            "The maximum is added to the sum before the logarithm is taken.")),
    *alike("keepdims=True keeps the reduced axis where it was, with length 1, for the subtraction; for the addition "
           "that axis, "
           "and no other, has to go.",
           "Which shapes have the sum's logarithm and the maximum when you add them, for scores of shape (5, 1, 3)?",
           ("all axes of length 1 dropped",
            {"add_back": lambda logs, m, axis: logs.squeeze(axis) + m.squeeze(), "finish": lambda lse, s, axis: lse},
            "It is right unless another axis has length 1, too: the maximum loses that one as well."),
           ("the maximum's axis kept",
            {"add_back": lambda logs, m, axis: logs.squeeze(axis) + m, "finish": lambda lse, s, axis: lse},
            "The answer has an axis too many: each row's logarithm is added to each row's maximum."),
           ("maximum without keepdims",
            {"highest": lambda s, axis: s.max(axis=axis),
             "add_back": lambda logs, m, axis: logs.squeeze(axis) + m, "finish": lambda lse, s, axis: lse},
            "Row i's maximum is subtracted from column i, where the shapes fit at all."),
           ("maximum put back on the last axis",
            {"highest": lambda s, axis: s.max(axis=axis)[..., None],
             "add_back": lambda logs, m, axis: logs.squeeze(axis) + m.squeeze(-1), "finish": lambda lse, s, axis: lse},
            "For the last axis it is right. For another one the maxima line up with the wrong axis.")),
)

LSE_RESULTS = (
    replace(ZERO_FILL, change=(*_scores(lambda s: np.where(np.isneginf(s), 0.0, s)),
                               {"total": lambda p, axis: np.where(p == 0, 1, p).sum(axis=axis, keepdims=True)}),
            does="Scores of -inf are counted, with exp(0) = 1 each.",
            why="exp(-inf) is 0: such a score adds nothing to the sum.",
            ask="What is exp of a score of -inf?"),
    *alike("exp of each score comes first, then the sum over the axis, which goes, then one logarithm. The answer is "
           "one number "
           "a row, a little above the largest score.",
           "In which order do exp, sum and log come, and what should the answer be for two equal scores?",
           ("divided by the number of scores",
            _ended(lambda lse, s, axis: lse.squeeze(axis) / (s.size if axis is None else s.shape[axis])),
            "The answer is divided by n."),
           ("maximum instead of log-sum-exp", _instead(lambda scores, axis: scores.max(axis=axis)),
            "The answer is the largest score."),
           ("sum of softplus", _instead(lambda scores, axis: np.logaddexp(0, scores).sum(axis=axis)),
            "The answer is the sum of log(1 + exp(score))."),
           ("logarithm before the sum", _instead(lambda scores, axis: scores.sum(axis=axis)),
            "The answer is the sum of the scores: log undoes exp before anything is added."),
           ("not summed", _instead(lambda scores, axis: scores),
            "The answer is the scores themselves: log and exp cancel."),
           ("no exponential", {**UNSHIFTED, "exponential": lambda s, axis: s},
            "The answer is the logarithm of the sum of the scores."),
           ("softmax instead of log-sum-exp",
            _ended(lambda lse, s, axis: np.exp(s - lse),
                   lambda lse, s, axis: np.where(np.isneginf(lse), 0.0, np.exp(s - lse))),
            "The answer holds weights: each row sums to 1."),
           ("log-softmax instead of log-sum-exp", _ended(lambda lse, s, axis: s - lse),
            "The answer holds logarithms of weights."),
           ("sign flipped",
            (*_scores(np.negative), *_ended(lambda lse, s, axis: -lse.squeeze(axis)),
             {"scores_in": np.negative, **_ended(lambda lse, s, axis: -lse.squeeze(axis))[0]}),
            "The scores, or the answer, have the wrong sign.")),
    Mistake("rounded",
            change=_ended(*(lambda lse, s, axis, n=n: lse.squeeze(axis).round(n) for n in (1, 2, 3, 4, 5, 6, 8))),
            does="The answer is rounded.",
            why="Weights are computed from it, and they need all its digits.",
            ask="Which of your operations throws digits away?"),
)

DEAD_MISTAKES = (
    Mistake("dead rows NaN", change=(UNGUARDED, {"guard": _refused}),
            does="A row of nothing but -inf gives NaN.",
            why="Its maximum is -inf too, and -inf - -inf is NaN. Nothing has to be subtracted from such "
                "a row: exp(-inf) is 0, and log(0) is -inf, as it should be.",
            ask="What is subtracted from the scores in a row of nothing but -inf?"),
    Mistake("only an array of nothing but -inf is seen as dead",
            change={"guard": lambda highest: np.where(highest.max() == -np.inf, 0.0, highest)},
            does="A dead row among others gives NaN; only if all rows are dead they give -inf.",
            why="Each row has to be looked at by itself.",
            ask="Does your test ask about one row, or about the whole array?"),
    *alike("The exponentials of a row of nothing but -inf sum to 0, and log(0) is -inf.",
           "What do the exponentials of such a row sum to?",
           ("0 for a row of -inf", _dead_as(0.0), "A row of nothing but -inf gives 0."),
           ("+inf for a row of -inf", _dead_as(np.inf), "A row of nothing but -inf gives +inf.")),
    Mistake("large negative number instead of -inf",
            change=(*map(_dead_as, (-1e9, -1e30, -1e4) + LOWEST), *map(_low_as, LOW_FILLS),
                    *({"scores_in": lambda s, v=value: np.where(np.isneginf(s), v, s), **UNGUARDED}
                      for value in (-1e9, -1e30)),
                    *_ended(lambda lse, scores, axis: np.nan_to_num(lse.squeeze(axis)))),
            numbers=lambda numbers: [change(v) for v in numbers if v < 0 for change in (_dead_as, _low_as)],
            does="A large negative number stands in for -inf: it is counted among scores as low, or a row of nothing "
                 "but "
                 "-inf gives a number.",
            why="exp(-inf) is 0 exactly: it adds nothing to any sum, and log(0) is -inf. A number in its "
                "place counts as a score in whatever is computed next.",
            ask="Which number has the exponential 0?"),
)

REDUCED_AXIS_MISTAKES = alike(
    "Each row has a sum of its own, and only the given axis goes; without one it is the last, -1, which runs over the "
    "keys.",
    "Which shape should the answer have, and where does your function use its parameter axis?",
    ("reduced over everything", _axis(lambda axis, scores: None), "The answer is one number for the whole array."),
    ("axis ignored", _axis(lambda axis, scores: -1), "The last axis goes, whichever axis is asked for."),
    ("reduced over the first axis", _by_default(0), "Without an axis given, the first axis goes."),
    ("reduced over the second axis", _by_default(1), "Without an axis given, the second axis goes."),
    ("reduced over the queries' axis", _by_default(-2), "Without an axis given, the last axis but one goes."))

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
    mistakes=(*LSE_SHIFTS, *ADD_BACK_MISTAKES, *map(_of_the_whole, LOG_MISTAKES), *BASES, *LSE_RESULTS, *DEAD_MISTAKES,
              *REDUCED_AXIS_MISTAKES),
)
