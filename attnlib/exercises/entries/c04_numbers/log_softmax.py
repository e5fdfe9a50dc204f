"""The exercise log_softmax."""

from dataclasses import replace

import numpy as np

from ...families.choose import named
from ...families.logsumexp import BASES, LOG_MISTAKES, LOWEST, TINIER
from ...families.softmax import (AFTER_MISTAKES, ALL_SOFTMAX_MISTAKES, AXIS_MISTAKES, EPSILONS, KEEPDIMS_MISTAKES,
    NO_MAXIMUM, OTHER_DEFAULT, PLACE_MISTAKES, SHIFT_MISTAKES, SIGN, SOFTMAX_STEPS, TOTAL_MISTAKES, along_cases, placed)
from ...model import FLOAT16, FLOAT32, Case, Exercise, Mistake, Step, each


PUT_BACK_MISTAKES = tuple(named(name, ALL_SOFTMAX_MISTAKES) for name in (
    "axis ignored", "sum put back on the last axis", "maximum put back on the last axis"))


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
    "log": Step(lambda total: np.log(total), "the logarithm of the sum", True),
    "subtract": lambda shifted, logs, powers, scores, axis: shifted - logs,
    "place": lambda logs, axis: logs,
}

UNDERFLOW = "weights that underflow"


def _cases():
    def case(aspect, scores, dtype=np.float64, extreme=True, relative=0.0):
        return Case(aspect, (np.array(scores, dtype),), extreme, relative=relative)

    return [
        *along_cases(), case(UNDERFLOW, [[0, -1000]]), case(UNDERFLOW, [[0, 1, 2], [0, -800, 1]]),
        case(UNDERFLOW, [[3, -30, 2]], extreme=False), case(UNDERFLOW, [[0, -700], [0, 1]]),
        case(FLOAT32, [[0, -200, 1]], np.float32), case(FLOAT32, [[10000, 10000, 9999]], np.float32, relative=1e-5),
        case(FLOAT16, [[20, 21, 2], [0, 1, 5]], np.float16), case(FLOAT16, [[0, -40, 1]], np.float16),
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
            why="The logarithm of a weight may be as low as it comes: scores of 0 and -1000 have the answers 0 and "
                "-1000.",
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
    Mistake("log-sum-exp subtracted from the scores as they are",
            change={"subtract": lambda shifted, logs, powers, scores, axis: scores - (scores.max(axis=axis,
                                                                                                 keepdims=True) + logs)},
            does="The maximum is added to the logarithm, and the sum is taken from the scores as they are: for scores "
                 "of "
                 "10000 in float32 the answer has three digits.",
            why="Near 10000 neighbours in float32 are 0.001 apart: the maximum added swallows the digits of the "
                "logarithm. "
                "The shifted scores are small, and so is what is subtracted from them.",
            ask="How large are the two numbers whose difference you return, and how large is the difference?"),
    Mistake("another number where a score is -inf",
            change=tuple({"weights_out": lambda logs, of=of: of(logs)} for of in (
                np.nan_to_num, lambda logs: np.where(np.isneginf(logs), np.nan, logs),
                *(lambda logs, c=c: np.maximum(logs, c) for c in LOWEST))),
            does="Where a score is -inf the answer is another number, or NaN.",
            why="The logarithm of a weight of 0 is -inf, and a score of -inf has the weight 0.",
            ask="What is left when a log-sum-exp is subtracted from -inf?"),
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
                lambda logs: np.log(1 - np.exp(logs)), lambda logs: np.exp(logs) * logs,
                lambda logs: -np.exp(logs) * logs,
                lambda logs: logs - np.log(1 - np.exp(logs)), lambda logs: np.exp(-logs), lambda logs: 1 - np.exp(logs),
                lambda logs: np.log(-logs))),
            does="The answer is computed from the right weights, and is not their logarithm.",
            why="The logarithm of each weight is asked for, and nothing else.",
            ask="What does exp of your answer give?"),
    Mistake("no exponential in the sum",
            change=tuple({"exponential": lambda shifted, axis, of=of: of(shifted)} for of in (
                lambda s: s, np.abs)) + ({"exponential": lambda s, axis: np.abs(s),
                                          "log": lambda total: np.log(total + 1)},
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
            why="exp and the natural logarithm undo each other; exp and log2 do not.",
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

EXERCISE = Exercise(
    name="log_softmax", signature="(scores, axis=-1)", place=2,
    axes=dict(scores="n_q n_k"), answer_axes="n_q n_k",
    text="The logarithm of the softmax along an axis, finite where the softmax underflows to 0.",
    answer=placed(log_softmax_steps_answer), steps=LOG_SOFTMAX_STEPS, cases=_cases,
    hints=(
        "Write the softmax as a quotient. What is the logarithm of a quotient?",
        "log(exp(s) / sum) is s - log(sum): no quotient and no underflow is left.",
        "Subtract the maximum from the scores first; the difference does not change by it, and the "
        "sum cannot overflow.",
        "With shifted = scores minus their maximum: subtract from it np.log of the sum of "
        "np.exp(shifted), maximum and sum both over the axis and with keepdims=True.",
    ),
    mistakes=(*LOG_SOFTMAX_MISTAKES, NO_MAXIMUM_IN_LOG, *SHIFT_MISTAKES[1:], *LOG_TOTALS, *BASES, SIGN_OF_LOG,
              *AXIS_MISTAKES,
              OTHER_DEFAULT, *PLACE_MISTAKES,
              *KEEPDIMS_MISTAKES, *PUT_BACK_MISTAKES, named("rounded", AFTER_MISTAKES)),
)
