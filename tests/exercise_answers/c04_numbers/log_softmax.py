"""Answers to log_softmax, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("log_softmax")


def softmax_plain(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


answers.wrong("ready-made function", function=attnlib.log_softmax)


@answers.right()
def log_softmax_shifted(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@answers.wrong("log-sum-exp subtracted from the scores as they are")
def log_softmax_pairwise(scores, axis=-1):
    return scores - np.logaddexp.reduce(scores, axis=axis, keepdims=True)


@answers.right()
def log_softmax_by_loop(scores, axis=-1):
    def row(s):
        s = s.tolist()
        lse = max(s) + math.log(sum(math.exp(x - max(s)) for x in s))
        return np.array([x - lse for x in s])

    return np.apply_along_axis(row, axis, scores).astype(scores.dtype)


@answers.wrong("logarithm of an underflowed softmax")
def log_softmax_afterwards(scores, axis=-1):
    return np.log(softmax_plain(scores, axis))


@answers.wrong("logarithm of an underflowed softmax")
def log_softmax_afterwards_upcast(scores, axis=-1):
    e = np.exp(scores.astype(np.float64) - scores.max(axis=axis, keepdims=True))
    w = e / e.sum(axis=axis, keepdims=True)
    return np.log(w).astype(scores.dtype)


@answers.wrong("logarithm of an underflowed softmax", "no maximum subtracted")
def log_softmax_naive(scores, axis=-1):
    return np.log(np.exp(scores) / np.exp(scores).sum(axis=axis, keepdims=True))


@answers.wrong("no maximum subtracted")
def log_softmax_difference_naive(scores, axis=-1):
    return scores - np.log(np.exp(scores).sum(axis=axis, keepdims=True))


@answers.wrong("no maximum subtracted")
def log_softmax_difference_naive_upcast(scores, axis=-1):
    lse = np.log(np.sum(np.exp(scores.astype(np.float64)), axis))
    return (scores - np.expand_dims(lse, axis)).astype(scores.dtype)


@answers.wrong("epsilon in the logarithm")
def log_softmax_epsilon(scores, axis=-1):
    return np.log(softmax_plain(scores, axis) + 1e-9)


@answers.wrong("epsilon in the logarithm")
def log_softmax_clipped_weights(scores, axis=-1):
    return np.log(np.clip(softmax_plain(scores, axis), 1e-6, 1.0))


@answers.wrong("softmax instead of its logarithm")
def log_softmax_forgotten(scores, axis=-1):
    return softmax_plain(scores, axis)


@answers.wrong("log of the sum not subtracted")
def log_softmax_maximum_only(scores, axis=-1):
    return scores - scores.max(axis=axis, keepdims=True)


@answers.wrong("no logarithm")
def log_softmax_minus_sum(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.exp(shifted).sum(axis=axis, keepdims=True)


@answers.wrong("maximum missing in the log-sum-exp")
def log_softmax_maximum_lost(scores, axis=-1):
    m = np.max(scores, axis=axis, keepdims=True)
    return scores - np.log(np.sum(np.exp(scores - m), axis=axis, keepdims=True))


@answers.wrong("maximum subtracted twice")
def log_softmax_maximum_twice(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    lse = m + np.log(np.exp(scores - m).sum(axis=axis, keepdims=True))
    return (scores - m) - lse


@answers.wrong("sum without keepdims")
def log_softmax_no_keepdims(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis))


@answers.wrong("axis ignored")
def log_softmax_last_axis(scores, axis=-1):
    scores = scores - scores.max(axis=-1, keepdims=True)
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


@answers.wrong("one sum over everything")
def log_softmax_one_sum(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum())


@answers.wrong("sign flipped")
def log_softmax_loss(scores, axis=-1):
    scores = scores - scores.max(axis=axis, keepdims=True)
    return np.logaddexp.reduce(scores, axis=axis, keepdims=True) - scores


@answers.wrong("logarithm to base 2")
def log_softmax_two(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log2(np.exp(shifted).sum(axis=axis, keepdims=True))


@answers.wrong("float64 leaks out")
def log_softmax_leak(scores, axis=-1):
    wide = scores.astype(np.float64)
    return wide - np.logaddexp.reduce(wide, axis=axis, keepdims=True)


@answers.wrong("epsilon in the logarithm")
def log_softmax_tiny(scores, axis=-1):
    return np.log(softmax_plain(scores, axis) + np.finfo(scores.dtype).tiny)


@answers.wrong("logarithm of an underflowed softmax")
def log_softmax_nan_to_num(scores, axis=-1):
    return np.nan_to_num(np.log(softmax_plain(scores, axis)))


@answers.wrong("logarithm of an underflowed softmax", "logarithm to base 2")
def log_softmax_log2(scores, axis=-1):
    return np.log2(softmax_plain(scores, axis))


@answers.wrong("log-sum-exp instead of log-softmax")
def log_softmax_lse(scores, axis=-1):
    return np.logaddexp.reduce(scores, axis=axis)


@answers.wrong("sum without keepdims")
def log_softmax_lse_no_keepdims(scores, axis=-1):
    return scores - np.logaddexp.reduce(scores, axis=axis)


@answers.wrong("divided instead of subtracted")
def log_softmax_quotient(scores, axis=-1):
    return scores / np.logaddexp.reduce(scores, axis=axis, keepdims=True)


@answers.wrong("another axis by default")
def log_softmax_other_default(scores, axis=0):
    return log_softmax_shifted(scores, axis)


@answers.wrong("no maximum subtracted", "one sum over everything")
def log_softmax_one_naive_sum(scores, axis=-1):
    return scores - np.log(np.exp(scores).sum())


@answers.wrong("log-sum-exp subtracted twice")
def log_softmax_less_two(scores, axis=-1):
    return scores - 2 * np.logaddexp.reduce(scores, axis=axis, keepdims=True)


@answers.wrong("logarithm of an underflowed softmax")
def log_softmax_filled(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.nan_to_num(np.log(e / e.sum(axis=axis, keepdims=True)), neginf=-80.0)


def log_soft(scores, axis):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@answers.wrong("limit on the answer")
def log_raised(scores, axis=-1):
    return np.maximum(log_soft(scores, axis), -100)


@answers.wrong("limit on the answer")
def log_emptied(scores, axis=-1):
    logs = log_soft(scores, axis)
    return np.where(logs < -500, -np.inf, logs).astype(scores.dtype)


@answers.wrong("no maximum subtracted")
def log_by_naive_sum(scores, axis=-1):
    return scores - np.log(np.exp(scores).sum(axis=axis, keepdims=True))


@answers.wrong("log-sum-exp subtracted from the scores as they are")
def log_of_large_scores(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return scores - (m + np.log(np.exp(scores - m).sum(axis=axis, keepdims=True)))


@answers.wrong("another number where a score is -inf")
def log_without_infinity(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return np.nan_to_num(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))


@answers.wrong("another number where a score is -inf")
def log_clipped(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return np.maximum(logs, np.finfo(scores.dtype).min)


@answers.right()
def log_softmax_in_float64(scores, axis=-1):
    wide = scores.astype(np.float64)
    return (wide - np.logaddexp.reduce(wide, axis=axis, keepdims=True)).astype(scores.dtype)


@answers.wrong("maximum not subtracted in the sum")
def log_softmax_half_shifted(scores, axis=-1):
    return (
        scores
        - scores.max(axis=axis, keepdims=True)
        - np.log(np.exp(scores).sum(axis=axis, keepdims=True))
    )


@answers.wrong("another number where a score is -inf")
def log_softmax_with_a_low_number(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    shifted = np.where(np.isneginf(shifted), -30000, shifted).astype(scores.dtype)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@answers.wrong("sum of the logarithms")
def logarithms_added(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted)).sum(axis=axis, keepdims=True)


@answers.wrong("sum over the last axis whatever axis says")
def log_softmax_summed_over_the_last_axis(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@answers.wrong("maximum over the last axis whatever axis says")
def log_softmax_shifted_along_the_last_axis(scores, axis=-1):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@answers.wrong("logarithm of an underflowed softmax")
def shifted_scores_where_it_underflows(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    weights = np.exp(shifted) / np.exp(shifted).sum(axis=axis, keepdims=True)
    return np.where(weights > 0, np.log(weights), shifted)


@answers.wrong("another number where a score is -inf")
def zero_for_hidden_scores(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    answer = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    answer[np.isneginf(scores)] = 0
    return answer
