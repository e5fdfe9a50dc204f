"""Answers to the exercises of "The softmax", written as learners write them."""

import functools
import math

import numpy as np

import attnlib
from attnlib.exercises.proof import Answers

ANSWERS = answers = Answers()

# ---------------------------------------------------------------- softmax_row

answers.right("softmax_row", attnlib.softmax)


@answers.right("softmax_row")
def row_plain(scores):
    e = np.exp(scores - np.max(scores))
    return e / np.sum(e)


@answers.right("softmax_row")
def row_by_loop(scores):
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    return np.array([p / sum(powers) for p in powers], dtype=scores.dtype)


@answers.right("softmax_row")
def row_by_log_sum_exp(scores):
    wide = scores.astype(np.float64)
    top = wide.max()
    return np.exp(wide - (top + np.log(np.exp(wide - top).sum()))).astype(scores.dtype)


@answers.right("softmax_row")
def row_by_pairs(scores):
    with np.errstate(over="ignore"):
        return 1 / np.exp(scores[None, :] - scores[:, None]).sum(axis=1)


@answers.wrong("softmax_row", "no maximum subtracted")
def row_naive(scores):
    return np.exp(scores) / np.exp(scores).sum()


@answers.wrong("softmax_row", "no maximum subtracted", "float64 leaks out")
def row_naive_math(scores):
    powers = [math.exp(s) for s in scores]
    return np.array(powers) / sum(powers)


@answers.wrong("softmax_row", "no maximum subtracted", "list instead of an array")
def row_naive_list(scores):
    powers = [math.e ** float(s) for s in scores]
    return [p / sum(powers) for p in powers]


@answers.wrong("softmax_row", "minimum subtracted instead of maximum")
def row_minimum(scores):
    e = np.exp(scores - scores.min())
    return e / e.sum()


@answers.wrong("softmax_row", "mean subtracted instead of maximum")
def row_mean(scores):
    e = np.exp(scores - np.mean(scores))
    return e / e.sum()


@answers.wrong("softmax_row", "maximum of absolute values")
def row_abs_max(scores):
    e = np.exp(scores - np.abs(scores).max())
    return e / e.sum()


@answers.wrong("softmax_row", "scores clipped")
def row_clipped(scores):
    e = np.exp(np.clip(scores, -50, 50))
    return e / e.sum()


@answers.wrong("softmax_row", "not divided by the sum")
def row_not_normalised(scores):
    return np.exp(scores - scores.max())


@answers.wrong("softmax_row", "no exponential")
def row_shares(scores):
    return scores / scores.sum()


@answers.wrong("softmax_row", "argmax instead of softmax")
def row_argmax(scores):
    out = np.zeros_like(scores)
    out[np.argmax(scores)] = 1
    return out


@answers.wrong("softmax_row", "sigmoid instead of softmax")
def row_sigmoid(scores):
    return 1 / (1 + np.exp(-scores))


@answers.wrong("softmax_row", "power of 2 instead of e")
def row_two(scores):
    e = np.exp2(scores - scores.max())
    return e / e.sum()


@answers.wrong("softmax_row", "sign flipped")
def row_flipped(scores):
    e = np.exp(-(scores - scores.min()))
    return e / e.sum()


@answers.wrong("softmax_row", "epsilon in the denominator")
def row_epsilon(scores):
    e = np.exp(scores - scores.max())
    return e / (e.sum() + 1e-8)


@answers.wrong("softmax_row", "divided by the mean")
def row_by_mean(scores):
    e = np.exp(scores - scores.max())
    return e / e.mean()


@answers.wrong("softmax_row", "logarithm of the softmax")
def row_log(scores):
    shifted = scores - scores.max()
    return shifted - np.log(np.exp(shifted).sum())


@answers.wrong("softmax_row", "no maximum subtracted", "epsilon in the denominator")
def row_naive_epsilon(scores):
    e = np.exp(scores)
    return e / (e.sum() + 1e-6)


@answers.wrong("softmax_row", "not divided by the sum", "no maximum subtracted")
def row_exp_alone(scores):
    return np.exp(scores)


@answers.wrong("softmax_row", "argument overwritten")
def row_in_place(scores):
    scores -= scores.max()
    np.exp(scores, out=scores)
    scores /= scores.sum()
    return scores


@answers.wrong("softmax_row", "rounded")
def row_rounded(scores):
    e = np.exp(scores - scores.max())
    return np.round(e / e.sum(), 3)


@answers.wrong("softmax_row", "axis kept")
def row_two_axes(scores):
    e = np.exp(scores - scores.max())[None, :]
    return e / e.sum(axis=1, keepdims=True)


# ---------------------------------------------------------------- softmax

answers.right("softmax", attnlib.softmax)
answers.right("softmax", functools.partial(attnlib.softmax))


@answers.right("softmax")
def softmax_plain(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@answers.right("softmax")
def softmax_expand_dims(x, axis=-1, *more, **options):
    top = np.expand_dims(np.max(x, axis), axis)
    powers = np.exp(x - top)
    return powers / np.expand_dims(np.sum(powers, axis), axis)


@answers.right("softmax")
def softmax_moving_axes(scores, axis=-1):
    s = np.moveaxis(scores, axis, 0)
    e = np.exp(s - s.max(0))
    return np.moveaxis(e / e.sum(0), 0, axis)


@answers.right("softmax")
def softmax_upcast(scores, axis=-1):
    wide = scores.astype(np.float64)
    wide -= np.amax(wide, axis=axis, keepdims=True)
    np.exp(wide, out=wide)
    wide /= wide.sum(axis=axis, keepdims=True)
    return wide.astype(scores.dtype)


@answers.right("softmax")
def softmax_along_axis(scores, axis=-1):
    return np.apply_along_axis(row_plain, axis, scores)


@answers.right("softmax")
def softmax_log_domain(scores, axis=-1):
    top = scores.max(axis=axis, keepdims=True)
    lse = top + np.log(np.sum(np.exp(scores - top), axis=axis, keepdims=True))
    return np.exp(scores - lse)


class Softmax:
    """An answer may be any callable."""

    def __call__(self, scores, axis=-1):
        return softmax_plain(scores, axis)


answers.right("softmax", Softmax())


@answers.wrong("softmax", "no maximum subtracted")
def softmax_naive(scores, axis=-1):
    return np.exp(scores) / np.sum(np.exp(scores), axis=axis, keepdims=True)


@answers.wrong("softmax", "no maximum subtracted")
def softmax_naive_log_domain(scores, axis=-1):
    return np.exp(scores - np.log(np.exp(scores).sum(axis=axis, keepdims=True)))


@answers.wrong("softmax", "no maximum subtracted")
def softmax_naive_upcast(scores, axis=-1):
    e = np.exp(scores.astype(np.float64))
    return (e / e.sum(axis=axis, keepdims=True)).astype(scores.dtype)


@answers.wrong("softmax", "one maximum for the whole array")
def softmax_global_maximum(scores, axis=-1):
    e = np.exp(scores - np.max(scores))
    return e / e.sum(axis=axis, keepdims=True)


@answers.wrong("softmax", "softmax over everything")
def softmax_everything(scores, axis=-1):
    e = np.exp(scores - scores.max())
    return e / e.sum()


@answers.wrong("softmax", "one sum for the whole array")
def softmax_one_sum(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / np.sum(e)


@answers.wrong("softmax", "sum without keepdims")
def softmax_no_keepdims(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)


@answers.wrong("softmax", "maximum without keepdims")
def softmax_max_no_keepdims(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis))
    return e / e.sum(axis=axis, keepdims=True)


@answers.wrong("softmax", "maximum without keepdims", "sum without keepdims")
def softmax_no_keepdims_at_all(scores, axis=-1):
    e = np.exp(scores - scores.max(axis))
    return e / e.sum(axis)


@answers.wrong("softmax", "axis ignored")
def softmax_last_axis(scores, axis=-1):
    return softmax_plain(scores, -1)


@answers.wrong("softmax", "axis ignored", "no maximum subtracted")
def softmax_last_axis_naive(scores, axis=-1):
    return np.exp(scores) / np.exp(scores).sum(-1)[..., None]


@answers.wrong("softmax", "softmax over the first axis")
def softmax_axis_0(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=0))
    return e / e.sum(axis=0)


@answers.wrong("softmax", "sum put back on the last axis")
def softmax_none_at_the_end(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)[..., None]


@answers.wrong("softmax", "sum put back on the last axis", "maximum put back on the last axis")
def softmax_both_at_the_end(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis)[..., None])
    return e / e.sum(axis=axis)[..., None]


@answers.wrong("softmax", "axis missing")
def softmax_without_axis(scores):
    return softmax_plain(scores)


@answers.wrong("softmax", "epsilon in the denominator")
def softmax_epsilon(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / (1e-9 + e.sum(axis=axis, keepdims=True))


@answers.wrong("softmax", "epsilon in the denominator", "one maximum for the whole array")
def softmax_epsilon_global(scores, axis=-1):
    e = np.exp(scores - scores.max())
    return e / (e.sum(axis=axis, keepdims=True) + 1e-6)


@answers.wrong("softmax", "divided by the mean", "no maximum subtracted")
def softmax_mean_naive(scores, axis=-1):
    e = np.exp(scores)
    return e / e.mean(axis=axis, keepdims=True)


@answers.wrong("softmax", "softmax twice")
def softmax_of_softmax(scores, axis=-1):
    return softmax_plain(softmax_plain(scores, axis), axis)


@answers.wrong("softmax", "argument overwritten")
def softmax_in_place(scores, axis=-1):
    scores -= scores.max(axis=axis, keepdims=True)
    e = np.exp(scores)
    return e / e.sum(axis=axis, keepdims=True)


@answers.wrong("softmax", "argument overwritten", "not divided by the sum")
def softmax_in_place_unnormalised(scores, axis=-1):
    np.subtract(scores, scores.max(axis=axis, keepdims=True), out=scores)
    return np.exp(scores)


@answers.wrong("softmax", "float64 leaks out")
def softmax_zeros(scores, axis=-1):
    out = np.zeros(scores.shape)
    out[...] = softmax_plain(scores, axis)
    return out


@answers.wrong("softmax", "narrower dtype")
def softmax_half(scores, axis=-1):
    return softmax_plain(scores, axis).astype(np.float16)


@answers.wrong("softmax", "not divided by the sum")
def softmax_by_largest(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.max(axis=axis, keepdims=True)


@answers.wrong("softmax", "sign flipped", "axis ignored")
def softmax_flipped_last_axis(scores, axis=-1):
    return softmax_plain(-scores, -1)


@answers.wrong("softmax")
def softmax_tempered(scores, axis=-1):
    return softmax_plain(scores / 1.7, axis)


# ---------------------------------------------------------------- temperature_softmax

@answers.right("temperature_softmax")
def tempered_by_library(scores, temperature):
    return attnlib.softmax(scores / temperature)


@answers.right("temperature_softmax")
def tempered_after_the_shift(scores, temperature):
    e = np.exp((scores - scores.max(axis=-1, keepdims=True)) / temperature)
    return e / e.sum(axis=-1, keepdims=True)


@answers.right("temperature_softmax")
def tempered_rows(scores, temperature):
    out = np.empty_like(scores)
    for index in np.ndindex(scores.shape[:-1]):
        row = [float(s) / temperature for s in scores[index]]
        powers = [math.exp(s - max(row)) for s in row]
        out[index] = [p / sum(powers) for p in powers]
    return out


@answers.right("temperature_softmax")
def tempered_inverse(scores, temperature):
    beta = 1 / temperature
    logits = np.moveaxis(scores.astype(np.float64) * beta, -1, 0)
    e = np.exp(logits - logits.max(axis=0))
    return np.moveaxis(e / e.sum(axis=0), 0, -1).astype(scores.dtype)


@answers.wrong("temperature_softmax", "temperature ignored")
def tempered_not(scores, temperature):
    return softmax_plain(scores)


@answers.wrong("temperature_softmax", "temperature ignored")
def tempered_powers_divided(scores, temperature):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) / temperature
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "multiplied by the temperature")
def tempered_times(scores, temperature):
    return softmax_plain(temperature * scores)


@answers.wrong("temperature_softmax", "multiplied by the temperature")
def tempered_inverse_wrong_way(scores, temperature):
    beta = 1 / temperature
    e = np.exp((scores - np.max(scores, -1, keepdims=True)) / beta)
    return e / np.sum(e, -1, keepdims=True)


@answers.wrong("temperature_softmax", "temperature after the softmax")
def tempered_weights(scores, temperature):
    return softmax_plain(scores) / temperature


@answers.wrong("temperature_softmax", "temperature after the softmax")
def tempered_weights_to_a_power(scores, temperature):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = (e / e.sum(axis=-1, keepdims=True)) ** (1 / temperature)
    return w / w.sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "temperature only above the fraction line")
def tempered_above(scores, temperature):
    s = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(s / temperature) / np.exp(s).sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "temperature only below the fraction line")
def tempered_below(scores, temperature):
    s = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(s) / np.exp(s / temperature).sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "maximum of the undivided scores")
def tempered_old_maximum(scores, temperature):
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores / temperature - m)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "no maximum subtracted")
def tempered_naive(scores, temperature):
    e = np.exp(scores / temperature)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "no maximum subtracted", "multiplied by the temperature")
def tempered_naive_times(scores, temperature):
    e = np.exp(scores * temperature)
    return e / e.sum(axis=-1)[..., None]


@answers.wrong("temperature_softmax", "square root of the temperature")
def tempered_like_a_scale(scores, temperature):
    return softmax_plain(scores / math.sqrt(temperature))


@answers.wrong("temperature_softmax", "epsilon added to the temperature")
def tempered_epsilon(scores, temperature):
    return softmax_plain(scores / (temperature + 1e-8))


@answers.wrong("temperature_softmax", "epsilon added to the temperature", "epsilon in the denominator")
def tempered_two_epsilons(scores, temperature):
    s = scores / (temperature + 1e-6)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-6)


@answers.wrong("temperature_softmax", "softmax over the first axis")
def tempered_first_axis(scores, temperature):
    return softmax_plain(scores / temperature, 0)


@answers.wrong("temperature_softmax", "sum without keepdims")
def tempered_no_keepdims(scores, temperature):
    scores = scores / temperature
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1)


@answers.wrong("temperature_softmax", "argument overwritten")
def tempered_in_place(scores, temperature):
    scores /= temperature
    return softmax_plain(scores)


@answers.wrong("temperature_softmax", "one maximum for the whole array", "temperature ignored")
def tempered_not_global(scores, temperature):
    e = np.exp(scores - scores.max())
    return e / e.sum(axis=-1, keepdims=True)


# ---------------------------------------------------------------- logsumexp

answers.right("logsumexp", attnlib.logsumexp)


@answers.right("logsumexp")
def lse_pairwise(scores, axis=-1):
    return np.logaddexp.reduce(scores, axis=axis)


@answers.right("logsumexp")
def lse_guarded(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    m = np.where(np.isfinite(m), m, 0)
    return np.log(np.exp(scores - m).sum(axis=axis)) + np.squeeze(m, axis)


@answers.right("logsumexp")
def lse_by_loop(scores, axis=-1):
    def row(s):
        top = max(s)
        return top if top == -np.inf else top + math.log(sum(math.exp(x - top) for x in s))

    return np.apply_along_axis(row, axis, scores.astype(np.float64)).astype(scores.dtype)


@answers.right("logsumexp")
def lse_chosen_at_the_end(scores, axis=-1):
    m = scores.max(axis)
    lse = m + np.log(np.exp(scores - np.expand_dims(m, axis)).sum(axis))
    return np.where(m == -np.inf, m, lse)


@answers.wrong("logsumexp", "no maximum subtracted")
def lse_naive(scores, axis=-1):
    return np.log(np.sum(np.exp(scores), axis=axis))


@answers.wrong("logsumexp", "no maximum subtracted")
def lse_naive_upcast(scores, axis=-1):
    total = np.exp(scores.astype(np.float64)).sum(axis)
    return np.log(total).astype(scores.dtype)


@answers.wrong("logsumexp", "(-inf) - (-inf)")
def lse_unguarded(scores, axis=-1):
    m = np.max(scores, axis=axis, keepdims=True)
    return (m + np.log(np.exp(scores - m).sum(axis=axis, keepdims=True))).squeeze(axis)


@answers.wrong("logsumexp", "(-inf) - (-inf)")
def lse_unguarded_moved(scores, axis=-1):
    s = np.moveaxis(scores, axis, 0)
    m = s.max(0)
    return np.log(np.exp(s - m).sum(0)) + m


@answers.wrong("logsumexp", "(-inf) - (-inf)", "maximum not added back")
def lse_not_added(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return np.log(np.exp(scores - m).sum(axis=axis))


@answers.wrong("logsumexp", "maximum not added back")
def lse_not_added_guarded(scores, axis=-1):
    m = np.nan_to_num(scores.max(axis=axis, keepdims=True), neginf=0.0)
    return np.log(np.sum(np.exp(scores - m), axis))


@answers.wrong("logsumexp", "(-inf) - (-inf)", "the maximum's axis kept")
def lse_axis_kept(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return m + np.log(np.exp(scores - m).sum(axis=axis))


@answers.wrong("logsumexp", "(-inf) - (-inf)", "maximum subtracted again instead of added back")
def lse_subtracted_twice(scores, axis=-1):
    m = scores.max(axis)
    return np.log(np.exp(scores - np.expand_dims(m, axis)).sum(axis)) - m


@answers.wrong("logsumexp", "no logarithm")
def lse_sum_alone(scores, axis=-1):
    return np.exp(scores).sum(axis)


@answers.wrong("logsumexp", "epsilon in the logarithm")
def lse_epsilon(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    m = np.where(m == -np.inf, 0, m)
    return np.log(np.exp(scores - m).sum(axis=axis) + 1e-12) + m.squeeze(axis)


@answers.wrong("logsumexp", "epsilon in the logarithm", "no maximum subtracted")
def lse_naive_epsilon(scores, axis=-1):
    return np.log(1e-6 + np.exp(scores).sum(axis=axis))


@answers.wrong("logsumexp", "large negative number instead of -inf")
def lse_fill(scores, axis=-1):
    return np.maximum(np.logaddexp.reduce(scores, axis=axis), -1e30).astype(scores.dtype)


@answers.wrong("logsumexp", "0 for a row of -inf")
def lse_zero(scores, axis=-1):
    m = scores.max(axis)
    lse = np.log(np.exp(scores - np.expand_dims(m, axis)).sum(axis)) + m
    return np.nan_to_num(lse, nan=0.0)


@answers.wrong("logsumexp", "axis ignored", "(-inf) - (-inf)")
def lse_last_axis(scores, axis=-1):
    m = scores.max(axis=-1)
    return m + np.log(np.exp(scores - m[..., None]).sum(axis=-1))


@answers.wrong("logsumexp", "axis ignored")
def lse_last_axis_pairwise(scores, axis=-1):
    return np.logaddexp.reduce(scores, axis=-1)


@answers.wrong("logsumexp", "reduced over everything")
def lse_everything(scores, axis=-1):
    m = scores.max()
    if m == -np.inf:
        return m
    return m + np.log(np.sum(np.exp(scores - m)))


@answers.wrong("logsumexp", "one maximum for the whole array")
def lse_one_maximum(scores, axis=-1):
    m = max(scores.max(), np.finfo(scores.dtype).min)
    return m + np.log(np.sum(np.exp(scores - m), axis=axis))


@answers.wrong("logsumexp", "mean instead of sum")
def lse_mean(scores, axis=-1):
    m = np.maximum(scores.max(axis=axis, keepdims=True), np.finfo(scores.dtype).min)
    return np.log(np.exp(scores - m).mean(axis=axis)) + m.squeeze(axis)


@answers.wrong("logsumexp", "axis kept")
def lse_keepdims(scores, axis=-1):
    return np.logaddexp.reduce(scores, axis=axis, keepdims=True)


@answers.wrong("logsumexp", "softmax instead of log-sum-exp")
def lse_weights(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# ---------------------------------------------------------------- log_softmax

answers.right("log_softmax", attnlib.log_softmax)


@answers.right("log_softmax")
def log_softmax_shifted(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@answers.right("log_softmax")
def log_softmax_pairwise(scores, axis=-1):
    return scores - np.logaddexp.reduce(scores, axis=axis, keepdims=True)


@answers.right("log_softmax")
def log_softmax_by_loop(scores, axis=-1):
    def row(s):
        s = s.tolist()
        lse = max(s) + math.log(sum(math.exp(x - max(s)) for x in s))
        return np.array([x - lse for x in s])

    return np.apply_along_axis(row, axis, scores).astype(scores.dtype)


@answers.wrong("log_softmax", "logarithm of an underflowed softmax")
def log_softmax_afterwards(scores, axis=-1):
    return np.log(softmax_plain(scores, axis))


@answers.wrong("log_softmax", "logarithm of an underflowed softmax")
def log_softmax_afterwards_upcast(scores, axis=-1):
    e = np.exp(scores.astype(np.float64) - scores.max(axis=axis, keepdims=True))
    w = e / e.sum(axis=axis, keepdims=True)
    return np.log(w).astype(scores.dtype)


@answers.wrong("log_softmax", "logarithm of an underflowed softmax", "no maximum subtracted")
def log_softmax_naive(scores, axis=-1):
    return np.log(np.exp(scores) / np.exp(scores).sum(axis=axis, keepdims=True))


@answers.wrong("log_softmax", "no maximum subtracted")
def log_softmax_difference_naive(scores, axis=-1):
    return scores - np.log(np.exp(scores).sum(axis=axis, keepdims=True))


@answers.wrong("log_softmax", "no maximum subtracted")
def log_softmax_difference_naive_upcast(scores, axis=-1):
    lse = np.log(np.sum(np.exp(scores.astype(np.float64)), axis))
    return (scores - np.expand_dims(lse, axis)).astype(scores.dtype)


@answers.wrong("log_softmax", "epsilon in the logarithm")
def log_softmax_epsilon(scores, axis=-1):
    return np.log(softmax_plain(scores, axis) + 1e-9)


@answers.wrong("log_softmax", "epsilon in the logarithm")
def log_softmax_clipped_weights(scores, axis=-1):
    return np.log(np.clip(softmax_plain(scores, axis), 1e-6, 1.0))


@answers.wrong("log_softmax", "softmax instead of its logarithm")
def log_softmax_forgotten(scores, axis=-1):
    return softmax_plain(scores, axis)


@answers.wrong("log_softmax", "log of the sum not subtracted")
def log_softmax_maximum_only(scores, axis=-1):
    return scores - scores.max(axis=axis, keepdims=True)


@answers.wrong("log_softmax", "no logarithm")
def log_softmax_minus_sum(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.exp(shifted).sum(axis=axis, keepdims=True)


@answers.wrong("log_softmax", "maximum missing in the log-sum-exp")
def log_softmax_maximum_lost(scores, axis=-1):
    m = np.max(scores, axis=axis, keepdims=True)
    return scores - np.log(np.sum(np.exp(scores - m), axis=axis, keepdims=True))


@answers.wrong("log_softmax", "maximum subtracted twice")
def log_softmax_maximum_twice(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    lse = m + np.log(np.exp(scores - m).sum(axis=axis, keepdims=True))
    return (scores - m) - lse


@answers.wrong("log_softmax", "sum without keepdims")
def log_softmax_no_keepdims(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis))


@answers.wrong("log_softmax", "axis ignored")
def log_softmax_last_axis(scores, axis=-1):
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


@answers.wrong("log_softmax", "one sum for the whole array")
def log_softmax_one_sum(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum())


@answers.wrong("log_softmax", "sign flipped")
def log_softmax_loss(scores, axis=-1):
    return np.logaddexp.reduce(scores, axis=axis, keepdims=True) - scores


@answers.wrong("log_softmax", "logarithm to base 2")
def log_softmax_two(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log2(np.exp(shifted).sum(axis=axis, keepdims=True))


@answers.wrong("log_softmax", "float64 leaks out")
def log_softmax_leak(scores, axis=-1):
    wide = scores.astype(np.float64)
    return wide - np.logaddexp.reduce(wide, axis=axis, keepdims=True)


# ---------------------------------------------------------------- safe_softmax

answers.right("safe_softmax", attnlib.softmax)


@answers.right("safe_softmax")
def safe_by_where(scores):
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(m == -np.inf, 0, m))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@answers.right("safe_softmax")
def safe_by_nan_to_num(scores):
    return np.nan_to_num(softmax_plain(scores))


@answers.right("safe_softmax")
def safe_by_loop(scores):
    out = np.zeros_like(scores)
    for index in np.ndindex(scores.shape[:-1]):
        if np.isfinite(scores[index]).any():
            out[index] = row_plain(scores[index])
    return out


@answers.right("safe_softmax")
def safe_by_divide(scores):
    lowest = np.finfo(scores.dtype).min
    e = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), lowest))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


@answers.wrong("safe_softmax", "dead rows NaN")
def safe_not(scores):
    return softmax_plain(scores)


@answers.wrong("safe_softmax", "dead rows NaN")
def safe_maximum_only(scores):
    m = scores.max(axis=-1, keepdims=True)
    m[m == -np.inf] = 0
    e = np.exp(scores - m)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("safe_softmax", "dead rows uniform")
def safe_large_negative(scores):
    return softmax_plain(np.where(np.isneginf(scores), np.finfo(scores.dtype).min, scores))


@answers.wrong("safe_softmax", "dead rows uniform")
def safe_uniform(scores):
    out = np.full_like(scores, 1 / scores.shape[-1])
    live = scores.max(axis=-1) > -np.inf
    out[live] = softmax_plain(scores[live]) if live.any() else out[live]
    return out


@answers.wrong("safe_softmax", "large negative number instead of -inf")
def safe_minus_10000(scores):
    return softmax_plain(np.maximum(scores, -1e4))


@answers.wrong("safe_softmax", "masked scores set to 0")
def safe_zero_scores(scores):
    return softmax_plain(np.where(scores == -np.inf, 0, scores).astype(scores.dtype))


@answers.wrong("safe_softmax", "any -inf empties the row")
def safe_any(scores):
    dead = np.any(scores == -np.inf, axis=-1, keepdims=True)
    return np.where(dead, 0, softmax_plain(scores)).astype(scores.dtype)


@answers.wrong("safe_softmax", "epsilon in the denominator")
def safe_epsilon(scores):
    m = np.nan_to_num(scores.max(axis=-1, keepdims=True), neginf=0.0)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + 1e-6)


@answers.wrong("safe_softmax", "dead rows NaN", "epsilon in the denominator")
def safe_epsilon_alone(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-8)


@answers.wrong("safe_softmax", "one maximum for the whole array")
def safe_one_maximum(scores):
    e = np.exp(scores - max(scores.max(), np.finfo(scores.dtype).min))
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))


@answers.wrong("safe_softmax", "no maximum subtracted")
def safe_naive(scores):
    e = np.exp(scores)
    total = e.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 0, e / total).astype(scores.dtype)


@answers.wrong("safe_softmax", "only an array of nothing but -inf is seen as dead")
def safe_whole_array(scores):
    if np.all(scores == -np.inf):
        return np.zeros_like(scores)
    return softmax_plain(scores)


@answers.wrong("safe_softmax", "softmax over the queries' axis")
def safe_columns(scores):
    return softmax_plain(scores, -2)


@answers.wrong("safe_softmax", "argument overwritten")
def safe_in_place(scores):
    scores[np.isneginf(scores).all(axis=-1)] = 0
    dead = np.all(scores == 0, axis=-1, keepdims=True)
    return np.where(dead, 0, softmax_plain(scores)).astype(scores.dtype)
