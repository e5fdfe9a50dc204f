"""Answers to logsumexp, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("logsumexp")


answers.wrong("ready-made function", function=attnlib.logsumexp)


@answers.right()
def lse_pairwise(scores, axis=-1):
    return np.logaddexp.reduce(scores, axis=axis)


@answers.right()
def lse_guarded(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    m = np.where(np.isfinite(m), m, 0)
    return np.log(np.exp(scores - m).sum(axis=axis)) + np.squeeze(m, axis)


@answers.right()
def lse_by_loop(scores, axis=-1):
    def row(s):
        top = max(s)
        return top if top == -np.inf else top + math.log(sum(math.exp(x - top) for x in s))

    return np.apply_along_axis(row, axis, scores.astype(np.float64)).astype(scores.dtype)


@answers.right()
def lse_chosen_at_the_end(scores, axis=-1):
    m = scores.max(axis)
    lse = m + np.log(np.exp(scores - np.expand_dims(m, axis)).sum(axis))
    return np.where(m == -np.inf, m, lse)


@answers.wrong("no maximum subtracted")
def lse_naive(scores, axis=-1):
    return np.log(np.sum(np.exp(scores), axis=axis))


@answers.wrong("no maximum subtracted")
def lse_naive_upcast(scores, axis=-1):
    total = np.exp(scores.astype(np.float64)).sum(axis)
    return np.log(total).astype(scores.dtype)


@answers.wrong("dead rows not handled")
def lse_unguarded(scores, axis=-1):
    m = np.max(scores, axis=axis, keepdims=True)
    return (m + np.log(np.exp(scores - m).sum(axis=axis, keepdims=True))).squeeze(axis)


@answers.wrong("dead rows not handled")
def lse_unguarded_moved(scores, axis=-1):
    s = np.moveaxis(scores, axis, 0)
    m = s.max(0)
    return np.log(np.exp(s - m).sum(0)) + m


@answers.wrong("dead rows not handled", "maximum not added back")
def lse_not_added(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return np.log(np.exp(scores - m).sum(axis=axis))


@answers.wrong("maximum not added back")
def lse_not_added_guarded(scores, axis=-1):
    m = np.nan_to_num(scores.max(axis=axis, keepdims=True), neginf=0.0)
    return np.log(np.sum(np.exp(scores - m), axis))


@answers.wrong("dead rows not handled", "the maximum's axis kept")
def lse_axis_kept(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return m + np.log(np.exp(scores - m).sum(axis=axis))


@answers.wrong("dead rows not handled", "maximum subtracted again instead of added back")
def lse_subtracted_twice(scores, axis=-1):
    m = scores.max(axis)
    return np.log(np.exp(scores - np.expand_dims(m, axis)).sum(axis)) - m


@answers.wrong("no logarithm")
def lse_sum_alone(scores, axis=-1):
    return np.exp(scores).sum(axis)


@answers.wrong("epsilon in the logarithm")
def lse_epsilon(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    m = np.where(m == -np.inf, 0, m)
    return np.log(np.exp(scores - m).sum(axis=axis) + 1e-12) + m.squeeze(axis)


@answers.wrong("epsilon in the logarithm", "no maximum subtracted")
def lse_naive_epsilon(scores, axis=-1):
    return np.log(1e-6 + np.exp(scores).sum(axis=axis))


@answers.wrong("negative number instead of -inf")
def lse_fill(scores, axis=-1):
    return np.maximum(np.logaddexp.reduce(scores, axis=axis), -1e30).astype(scores.dtype)


@answers.wrong("0 for a row of -inf")
def lse_zero(scores, axis=-1):
    m = scores.max(axis)
    lse = np.log(np.exp(scores - np.expand_dims(m, axis)).sum(axis)) + m
    return np.nan_to_num(lse, nan=0.0)


@answers.wrong("axis ignored", "dead rows not handled")
def lse_last_axis(scores, axis=-1):
    m = scores.max(axis=-1)
    return m + np.log(np.exp(scores - m[..., None]).sum(axis=-1))


@answers.wrong("axis ignored")
def lse_last_axis_pairwise(scores, axis=-1):
    return np.logaddexp.reduce(scores, axis=-1)


@answers.wrong("reduced over everything")
def lse_everything(scores, axis=-1):
    m = scores.max()
    if m == -np.inf:
        return m
    return m + np.log(np.sum(np.exp(scores - m)))


@answers.wrong("one maximum for the whole array")
def lse_one_maximum(scores, axis=-1):
    m = max(scores.max(), np.finfo(scores.dtype).min)
    return m + np.log(np.sum(np.exp(scores - m), axis=axis))


@answers.wrong("mean instead of sum")
def lse_mean(scores, axis=-1):
    m = np.maximum(scores.max(axis=axis, keepdims=True), np.finfo(scores.dtype).min)
    return np.log(np.exp(scores - m).mean(axis=axis)) + m.squeeze(axis)


@answers.wrong("axis kept")
def lse_keepdims(scores, axis=-1):
    return np.logaddexp.reduce(scores, axis=axis, keepdims=True)


@answers.wrong("softmax instead of log-sum-exp")
def lse_weights(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@answers.right()
def lse_one_by_one(scores, axis=-1):
    total = np.full(np.delete(scores.shape, axis), -np.inf)
    for i in range(scores.shape[axis]):
        total = np.logaddexp(total, np.take(scores, i, axis=axis).astype(np.float64))
    return np.asarray(total).astype(scores.dtype)


@answers.wrong("log of the sum subtracted instead of added", "dead rows not handled")
def lse_minus_log(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return m.squeeze(axis) - np.log(np.exp(scores - m).sum(axis))


@answers.wrong("only an array full of -inf treated as dead")
def lse_whole_array_dead(scores, axis=-1):
    if np.all(scores == -np.inf):
        return np.full(np.delete(scores.shape, axis), -np.inf, dtype=scores.dtype)
    m = scores.max(axis=axis, keepdims=True)
    return np.log(np.exp(scores - m).sum(axis)) + m.squeeze(axis)


@answers.wrong("negative number instead of -inf")
def lse_nan_to_num(scores, axis=-1):
    return np.nan_to_num(np.logaddexp.reduce(scores, axis=axis))


@answers.wrong("negative number instead of -inf")
def lse_filled_before(scores, axis=-1):
    scores = np.where(np.isneginf(scores), -1e9, scores)
    m = scores.max(axis=axis, keepdims=True)
    return (m + np.log(np.exp(scores - m).sum(axis=axis, keepdims=True))).squeeze(axis)


@answers.wrong("dead rows not handled")
def lse_math_log(scores, axis=-1):
    def row(s):
        return max(s) + math.log(sum(math.exp(x - max(s)) for x in s))

    return np.apply_along_axis(row, axis, scores).astype(scores.dtype)


@answers.wrong("reduced over the first axis")
def lse_other_default(scores, axis=0):
    return np.logaddexp.reduce(scores, axis=axis)


@answers.wrong("axis missing")
def lse_without_axis(scores):
    return np.logaddexp.reduce(scores, axis=-1)


@answers.wrong("no maximum subtracted")
def lse_factor_multiplied_back(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return np.log(np.exp(scores - m).sum(axis) * np.exp(m.squeeze(axis)))


@answers.wrong("masked scores set to 0")
def lse_counting_minus_infinity(scores, axis=-1):
    return np.logaddexp.reduce(
        np.where(np.isneginf(scores), 0, scores).astype(scores.dtype), axis=axis
    )


@answers.wrong("only the largest scores")
def lse_of_five(scores, axis=-1):
    ordered = np.sort(scores, axis=axis)
    n = ordered.shape[axis]
    return np.logaddexp.reduce(ordered.take(range(max(0, n - 5), n), axis=axis), axis=axis)


@answers.wrong("negative number instead of -inf")
def lse_filled_and_rescued(scores, axis=-1):
    low = np.where(np.isinf(scores), -2e3, scores).astype(scores.dtype)
    m = low.max(axis=axis, keepdims=True)
    lse = (m + np.log(np.exp(low - m).sum(axis=axis, keepdims=True))).squeeze(axis)
    return np.where(np.isneginf(scores).all(axis=axis), -np.inf, lse).astype(scores.dtype)


@answers.wrong("one maximum for the whole array")
def lse_one_maximum_unguarded(scores, axis=-1):
    m = scores.max()
    return np.log(np.exp(scores - m).sum(axis=axis)) + m


@answers.wrong("softmax instead of log-sum-exp")
def lse_safe_softmax_pasted(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(np.isneginf(m), 0, m))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


@answers.wrong("all axes of length 1 dropped")
def lse_squeezed(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    m = np.where(m == -np.inf, 0, m).astype(scores.dtype)
    return np.squeeze(m) + np.log(np.exp(scores - m).sum(axis=axis))


@answers.wrong("maximum of absolute values")
def logsumexp_by_absolute_values(scores, axis=-1):
    largest = np.abs(scores).max(axis=axis, keepdims=True)
    largest = np.where(np.isinf(largest), 0, largest).astype(scores.dtype)
    return np.squeeze(largest, axis) + np.log(np.exp(scores - largest).sum(axis=axis))


@answers.wrong("logarithm to base 10")
def logsumexp_in_tens(scores, axis=-1):
    return (np.logaddexp.reduce(scores, axis=axis) / np.log(10)).astype(scores.dtype)


@answers.wrong("any -inf empties the row")
def logsumexp_of_full_rows(scores, axis=-1):
    top = scores.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    out = np.log(np.exp(scores - top).sum(axis=axis)) + np.squeeze(top, axis)
    return np.where(np.isneginf(scores).any(axis=axis), -np.inf, out).astype(scores.dtype)


@answers.wrong("maximum added to the sum")
def lse_maximum_plus_sum(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    m = np.where(np.isneginf(m), 0, m).astype(scores.dtype)
    return np.squeeze(m, axis) + np.exp(scores - m).sum(axis=axis)


@answers.wrong("sum of the logarithms")
def logarithms_of_all_powers(scores, axis=-1):
    highest = scores.max(axis=axis, keepdims=True)
    highest = np.where(np.isneginf(highest), 0, highest).astype(scores.dtype)
    return highest.squeeze(axis) + np.log(np.exp(scores - highest)).sum(axis)


def lse_above(lowest):
    """The maximum is kept above a number."""

    def lse(scores, axis=-1):
        m = np.maximum(
            scores.max(axis=axis, keepdims=True), max(lowest, np.finfo(scores.dtype).min)
        )
        m = m.astype(scores.dtype)
        return np.log(np.exp(scores - m).sum(axis=axis)) + m.squeeze(axis)

    return lse


answers.right(lse_above(-np.inf))
for number in (0.0, -1e4, -1e9, -1e30):
    answers.wrong("maximum never below a fixed number", function=lse_above(number))


@answers.wrong("negative number instead of -inf")
def lse_of_scores_above_a_number(scores, axis=-1):
    s = np.maximum(scores.astype(np.float64), -1e30)
    m = s.max(axis=axis, keepdims=True)
    lse = np.log(np.exp(s - m).sum(axis=axis)) + m.squeeze(axis)
    return np.where(np.isneginf(scores).all(axis=axis), -np.inf, lse).astype(scores.dtype)


@answers.wrong("negative number instead of -inf")
def lse_of_scores_above_a_number_alone(scores, axis=-1):
    s = np.maximum(scores.astype(np.float64), -1e9)
    m = s.max(axis=axis, keepdims=True)
    return (np.log(np.exp(s - m).sum(axis=axis)) + m.squeeze(axis)).astype(scores.dtype)
