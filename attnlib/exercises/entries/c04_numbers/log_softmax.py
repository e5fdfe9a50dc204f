"""The exercise log_softmax."""

from dataclasses import replace

import numpy as np

from ...families.choose import named, pick
from ...families.logsumexp import BASES, LOWEST, TINIER
from ...families.softmax import (ALL_SOFTMAX_MISTAKES, EPSILONS, NO_MAXIMUM, SIGN, SOFTMAX_STEPS, TOTAL_MISTAKES,
    along_cases, placed)
from ...model import FLOAT16, FLOAT32, Case, Exercise, Mistake, Step, alike, each


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


def _subtracted(*ways, **more):
    """Other last lines, of the shifted scores z, the logarithms of their sums, and the scores themselves."""
    return tuple({"subtract": lambda z, logs, powers, scores, axis, way=way: way(z, logs, scores),
                  **more} for way in ways)


def _log_of(change, finish=lambda logs: logs):
    """The logarithm of changed weights."""
    return _subtracted(lambda z, logs, scores: finish(np.log(change(np.exp(z) / np.exp(logs)))))[0]


def _ended(*changes):
    return tuple({"weights_out": change} for change in changes)


def _in_sum(*functions):
    """Something else than the exponentials in the sum."""
    return tuple({"exponential": lambda shifted, axis, of=of: of(shifted)} for of in functions)


def _small(e):
    """A small number in the logarithm, in the three places where it may stand."""
    return (_log_of(lambda weights: weights + e), _log_of(lambda weights: np.maximum(weights, e)),
            {"log": lambda total: np.log(total + e)})


def _own_number(name):
    """np.finfo's number for the dtype of an array."""
    return _log_of(lambda weights: weights + getattr(np.finfo(weights.dtype), name))


def _lse(scores, axis):
    highest = scores.max(axis=axis, keepdims=True)
    return highest + np.log(np.exp(scores - highest).sum(axis=axis, keepdims=True))


def _along(of):
    """A last line that needs the axis."""
    return {"subtract": lambda z, logs, powers, scores, axis: of(z, logs, scores, axis)}


def _limited(limit):
    return _ended(lambda logs: np.maximum(logs, limit), lambda logs: np.where(logs < limit, -np.inf, logs))


def _share_of(scores, axis):
    return np.log(scores / scores.sum(axis=axis, keepdims=True))


LOG_SOFTMAX_MISTAKES = (
    Mistake("limit on the answer", alone=True,
            change=tuple(change for limit in (-100.0, -50.0, -500.0, -600.0, -1e3) for change in _limited(limit)),
            numbers=lambda numbers: [change for c in numbers if c < -1 for change in _limited(c)],
            does="An answer below a limit becomes the limit, or -inf.",
            why="The logarithm of a weight may be as low as it comes: scores of 0 and -1000 have the answers 0 and "
                "-1000.",
            ask="What should the answer be for the scores 0, -1000?"),
    Mistake("logarithm of an underflowed softmax",
            change=(_log_of(lambda w: w), _log_of(lambda w: w, np.nan_to_num),
                    _log_of(lambda w: np.where(w == 0, 1.0, w))),
            numbers=each(lambda c: _log_of(lambda w: w, lambda logs: np.where(np.isneginf(logs), c, logs)),
                         lambda c: c < 0),
            does="The softmax is computed first, and its logarithm taken. A weight that underflows "
                 "to 0 becomes -inf, or whatever is put in its place.",
            why="The logarithm of a quotient is a difference: shifted scores minus the logarithm of their "
                "sum of exponentials. Nothing in it can underflow.",
            ask="What is the logarithm of exp(s) / sum, written without a quotient?"),
    Mistake("log-sum-exp subtracted from the scores as they are",
            change=_along(lambda z, logs, scores, axis: scores - (scores.max(axis=axis, keepdims=True) + logs)),
            does="The log-sum-exp is subtracted from the scores as they are: for scores of 10000 in float32 the answer "
                 "has "
                 "three digits.",
            why="Near 10000 neighbours in float32 are 0.001 apart: the log-sum-exp, as large as the scores, has lost "
                "the digits "
                "that the difference needs. The shifted scores are small, and so is what is subtracted from them.",
            ask="How large are the two numbers whose difference you return, and how large is the difference?"),
    Mistake("another number where a score is -inf",
            change=_ended(np.nan_to_num, lambda logs: np.where(np.isneginf(logs), np.nan, logs),
                          *(lambda logs, c=c: np.maximum(logs, c) for c in LOWEST)),
            does="Where a score is -inf the answer is another number, or NaN.",
            why="The logarithm of a weight of 0 is -inf, and a score of -inf has the weight 0.",
            ask="What is left when a log-sum-exp is subtracted from -inf?"),
    Mistake("epsilon in the logarithm",
            change=(*(_small(e)[0] for e in EPSILONS[2:] + TINIER), _own_number("eps"), _own_number("tiny"),
                    *(_small(e)[1] for e in EPSILONS[5:] + TINIER[:6]), *(_small(e)[2] for e in EPSILONS[5:])),
            numbers=lambda numbers: [change for e in numbers if 0 < e < 1 for change in _small(e)],
            does="A small number is added in the logarithm, or stands in for what is smaller.",
            why="That hides the underflow instead of avoiding it. The difference of shifted scores "
                "and log-sum needs no such number.",
            ask="What should the answer be for the scores 0, -1000?"),
    *alike("The logarithm of each weight is asked for, in the scores' shape; none of them is above 0.",
           "Where in your function does the logarithm come, and what does exp of your answer give?",
           ("softmax instead of its logarithm", _subtracted(lambda z, logs, scores: np.exp(z - logs)),
            "The answer holds weights: each row sums to 1."),
           ("log-sum-exp instead of log-softmax",
            _along(lambda z, logs, scores, axis: np.take(logs + scores - z, 0, axis=axis)),
            "The answer is one number for each row, the log-sum-exp."),
           ("another function of the weights",
            _ended(lambda logs: np.log(1 - np.exp(logs)), lambda logs: np.exp(logs) * logs,
                   lambda logs: -np.exp(logs) * logs,
                   lambda logs: logs - np.log(1 - np.exp(logs)), lambda logs: np.exp(-logs),
                   lambda logs: 1 - np.exp(logs),
                   lambda logs: np.log(-logs)),
            "The answer is computed from the right weights, and is not their logarithm."),
           ("no exponential",
            tuple(_along(lambda z, logs, scores, axis, of=of: _share_of(of(scores), axis)) for of in (lambda s: s,
                                                                                                      np.abs)),
            "The answer is the logarithm of the scores divided by their sum."),
           ("softmax of the scores' logarithms",
            _subtracted(lambda z, logs, scores: np.exp(z - logs), scores_in=lambda s: np.log(s)),
            "The logarithm is taken before the softmax: a negative score gives NaN."),
           ("sign flipped", (*_ended(np.negative), *SIGN.variants), "The scores, or the answer, have the wrong sign.")),
    *alike("log(exp(s) / sum) is s - log(sum): in the logarithm a division becomes a subtraction, of the whole sum, "
           "once. Then exp "
           "of the answer sums to 1.",
           "What does exp of your answer sum to?",
           ("log of the sum not subtracted", _subtracted(lambda z, logs, scores: z),
            "The largest entry of each row is 0: only the maximum was subtracted."),
           ("log of the sum added instead of subtracted", _subtracted(lambda z, logs, scores: z + logs),
            "The logarithm of the sum has the wrong sign."),
           ("log-sum-exp subtracted twice",
            _subtracted(lambda z, logs, scores: 2 * (z - logs) - scores, lambda z, logs, scores: z - 2 * logs),
            "The log-sum-exp, or the logarithm of the sum, is subtracted two times."),
           ("half the log-sum-exp subtracted",
            _subtracted(lambda z, logs, scores: (scores + z - logs) / 2, lambda z, logs, scores: z - logs / 2),
            "Half of the log-sum-exp, or of the sum's logarithm, is subtracted."),
           ("divided instead of subtracted",
            _subtracted(lambda z, logs, scores: z / logs, lambda z, logs, scores: z / np.exp(logs),
                        lambda z, logs, scores: scores / (logs + scores - z)),
            "The scores are divided."),
           ("no logarithm", {"log": lambda total: total},
            "The sum of the exponentials is subtracted, not its logarithm."),
           ("mean instead of sum", {"total": lambda p, axis: p.mean(axis=axis, keepdims=True)},
            "Each entry is too large by log n."),
           ("sum over the wrong axis", named("sum over the wrong axis", TOTAL_MISTAKES).change,
            "The logarithms of sums over the queries are subtracted.")),
    *alike("The sum was taken of shifted scores: its logarithm belongs to these, or needs the maximum added to it.",
           "From which scores, shifted or not, is your logarithm subtracted, and how often is the maximum?",
           ("maximum added instead of subtracted", _subtracted(lambda z, logs, scores: 2 * scores - z - logs),
            "Each row is too large by twice its maximum."),
           ("maximum missing in the log-sum-exp", _subtracted(lambda z, logs, scores: scores - logs),
            "Each row is too large by its maximum."),
           ("maximum subtracted twice", _subtracted(lambda z, logs, scores: 2 * z - scores - logs),
            "Each row is too small by its maximum.")),
    Mistake("maximum not subtracted in the sum",
            change={"shift": lambda scores, axis: scores, **_along(
                lambda z, logs, scores, axis: scores - scores.max(axis=axis, keepdims=True) - logs)},
            does="The maximum is subtracted in front, and not from the scores in the sum: each row is too small by its maximum, "
                 "and for large scores the sum overflows.",
            why="The maximum cancels where it is subtracted from all scores alike, from those in the sum as well.",
            ask="What becomes of your answer when every score of a row grows by 1?"),
    *alike("The denominator of the softmax is the sum of exp(score), of the same exponentials as its numerator.",
           "Of what is the sum in your logarithm?",
           ("sign flipped in the sum",
            (_along(lambda z, logs, scores, axis: scores - _lse(-scores, axis)),
             _along(lambda z, logs, scores, axis: z - _lse(-z, axis))),
            "The log-sum-exp is that of the negative scores."),
           ("no exponential in the sum",
            (*_in_sum(lambda s: s, np.abs), {**_in_sum(np.abs)[0], "log": lambda total: np.log(total + 1)},
             {"total": lambda p, axis: np.abs(np.log(p).sum(axis=axis, keepdims=True))}),
            "The logarithm is taken of the sum of the scores, not of their exponentials.")),
    *alike("exp and the natural logarithm undo each other; no other one does, and nothing is added before it.",
           "Which logarithm undoes exp, and what should the answer be for a single score?",
           ("logarithm to base 2", ({"log": np.log2}, *_ended(lambda w: w / np.log(2))),
            "The answer holds logarithms to base 2, in whole or in part."),
           ("logarithm to base 10", ({"log": np.log10}, *_ended(lambda w: w / np.log(10))),
            "The answer holds logarithms to base 10, in whole or in part."),
           ("log1p instead of log", ({"log": np.log1p}, _log_of(lambda weights: 1 + weights)),
            "1 is added before the logarithm is taken.")),
    replace(named("sum without keepdims", TOTAL_MISTAKES),
            change=({"total": lambda p, axis: p.sum(axis=axis)},
                    _along(lambda z, logs, scores, axis: scores - np.take(logs + scores - z, 0, axis=axis))),
            does="Row i's log-sum is subtracted from column i instead of row i, where the shapes fit at all."),
    replace(NO_MAXIMUM,
            does="For small scores it is right. For scores above 709 (above 88 in float32, above 11 in float16) exp "
                 "overflows, "
                 "and in a row far below 0 the sum underflows to 0: what comes out is infinite or NaN."),
)

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
    mistakes=(
        *LOG_SOFTMAX_MISTAKES, *BASES,
        *pick(ALL_SOFTMAX_MISTAKES, "minimum subtracted instead of maximum", "mean subtracted instead of maximum",
              "median subtracted instead of maximum", "maximum never below 0",
              "a fixed number subtracted instead of the maximum",
              "one maximum for the whole array", "one score subtracted instead of the maximum",
              "maximum of absolute values",
              "divided by the maximum", "maximum added", "scores clipped", "standardised scores",
              "softmax over everything",
              "softmax over the queries' axis", "softmax over the first axis", "softmax over all axes but the first",
              "softmax over the second axis", "another axis by default", "axis not moved back",
              "maximum without keepdims",
              "maximum over the wrong axis", "axis ignored", "sum put back on the last axis",
              "maximum put back on the last axis", "rounded")),
)
