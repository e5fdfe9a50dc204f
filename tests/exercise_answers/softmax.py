"""Answers to the exercises of "The softmax", written as learners write them."""

import functools
import math

import numpy as np

import attnlib
from attnlib.exercises.engine.prove import Answers

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


@answers.wrong("softmax", "softmax over everything")
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


@answers.wrong("softmax", "scores times 0.5882")
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


answers.wrong("temperature_softmax", "power of the weights not normalised", function=lambda scores, temperature: (
    softmax_plain(scores) ** (1 / temperature)))


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


@answers.wrong("logsumexp", "dead rows NaN")
def lse_unguarded(scores, axis=-1):
    m = np.max(scores, axis=axis, keepdims=True)
    return (m + np.log(np.exp(scores - m).sum(axis=axis, keepdims=True))).squeeze(axis)


@answers.wrong("logsumexp", "dead rows NaN")
def lse_unguarded_moved(scores, axis=-1):
    s = np.moveaxis(scores, axis, 0)
    m = s.max(0)
    return np.log(np.exp(s - m).sum(0)) + m


@answers.wrong("logsumexp", "dead rows NaN", "maximum not added back")
def lse_not_added(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return np.log(np.exp(scores - m).sum(axis=axis))


@answers.wrong("logsumexp", "maximum not added back")
def lse_not_added_guarded(scores, axis=-1):
    m = np.nan_to_num(scores.max(axis=axis, keepdims=True), neginf=0.0)
    return np.log(np.sum(np.exp(scores - m), axis))


@answers.wrong("logsumexp", "dead rows NaN", "the maximum's axis kept")
def lse_axis_kept(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return m + np.log(np.exp(scores - m).sum(axis=axis))


@answers.wrong("logsumexp", "dead rows NaN", "maximum subtracted again instead of added back")
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


@answers.wrong("logsumexp", "axis ignored", "dead rows NaN")
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


@answers.wrong("log_softmax", "softmax over everything")
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


answers.wrong("safe_softmax", "dead rows NaN", "not divided by the sum",
              function=lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)))

# ---------------------------------------------------------------- softmax_jacobian

@answers.right("softmax_jacobian")
def jacobian_plain(weights):
    return np.diag(weights) - np.outer(weights, weights)


@answers.right("softmax_jacobian")
def jacobian_by_loop(weights):
    n = len(weights)
    jacobian = np.zeros((n, n), dtype=weights.dtype)
    for i in range(n):
        for j in range(n):
            jacobian[i, j] = weights[i] * ((i == j) - weights[j])
    return jacobian


@answers.right("softmax_jacobian")
def jacobian_factored(weights):
    w = weights.astype(np.float64)
    return (w[:, None] * (np.eye(w.size) - w)).astype(weights.dtype)


@answers.right("softmax_jacobian")
def jacobian_filled(weights):
    jacobian = -np.einsum("i,j->ij", weights, weights)
    np.fill_diagonal(jacobian, weights * (1 - weights))
    return jacobian


@answers.wrong("softmax_jacobian", "diagonal-only Jacobian")
def jacobian_diagonal(weights):
    return np.diag(weights * (1 - weights))


@answers.wrong("softmax_jacobian", "diagonal-only Jacobian")
def jacobian_like_sigmoid(weights):
    return weights * (1 - weights)


@answers.wrong("softmax_jacobian", "outer product missing")
def jacobian_first_term(weights):
    return np.diag(weights)


@answers.wrong("softmax_jacobian", "diagonal term missing")
def jacobian_second_term(weights):
    return -weights[:, None] * weights[None, :]


@answers.wrong("softmax_jacobian", "diagonal term missing")
def jacobian_products(weights):
    return np.outer(weights, weights)


@answers.wrong("softmax_jacobian", "sign flipped")
def jacobian_flipped(weights):
    return np.outer(weights, weights) - np.diag(weights)


@answers.wrong("softmax_jacobian", "sum instead of difference")
def jacobian_sum(weights):
    return np.diag(weights) + weights[:, None] @ weights[None, :]


@answers.wrong("softmax_jacobian", "sign flipped off the diagonal")
def jacobian_positive(weights):
    jacobian = np.outer(weights, weights)
    for i, w in enumerate(weights):
        jacobian[i, i] = w * (1 - w)
    return jacobian


@answers.wrong("softmax_jacobian", "identity instead of diag(weights)")
def jacobian_identity(weights):
    return np.eye(len(weights), dtype=weights.dtype) - np.outer(weights, weights)


@answers.wrong("softmax_jacobian", "1 instead of the Kronecker delta")
def jacobian_no_delta(weights):
    return weights[:, None] * (1 - weights[None, :])


@answers.wrong("softmax_jacobian", "squares instead of the outer product")
def jacobian_squares(weights):
    return np.diag(weights) - weights * weights


@answers.wrong("softmax_jacobian", "squares instead of the outer product", "float64 leaks out")
def jacobian_without_a_column(weights):
    return weights * (np.eye(len(weights)) - weights)


@answers.wrong("softmax_jacobian", "weights instead of the outer product")
def jacobian_minus_weights(weights):
    return np.diag(weights) - weights


@answers.wrong("softmax_jacobian", "inner product instead of outer")
def jacobian_inner(weights):
    return np.diag(weights) - weights @ weights.T


@answers.wrong("softmax_jacobian", "Jacobian of the log-softmax", "float64 leaks out")
def jacobian_of_the_log(weights):
    return np.eye(weights.size) - weights[None, :]


@answers.wrong("softmax_jacobian", "softmax of the weights")
def jacobian_of_scores(weights):
    w = softmax_plain(weights)
    return np.diag(w) - np.outer(w, w)


@answers.wrong("softmax_jacobian", "float64 leaks out")
def jacobian_zeros(weights):
    jacobian = np.zeros((weights.size, weights.size))
    jacobian += np.diag(weights) - np.outer(weights, weights)
    return jacobian


@answers.wrong("softmax_jacobian", "diagonal-only Jacobian", "softmax of the weights")
def jacobian_diagonal_of_scores(weights):
    w = softmax_plain(weights)
    return np.diag(w * (1 - w))


# ---------------------------------------------------------------- softmax_backward

@answers.right("softmax_backward")
def backward_plain(weights, grad_weights):
    return weights * (grad_weights - np.sum(weights * grad_weights, axis=-1, keepdims=True))


@answers.right("softmax_backward")
def backward_two_terms(w, g):
    products = w * g
    return products - w * products.sum(-1)[..., None]


@answers.right("softmax_backward")
def backward_einsum(weights, grad_weights):
    w, g = weights.astype(np.float64), grad_weights.astype(np.float64)
    return (w * (g - np.einsum("...j,...j->...", w, g)[..., np.newaxis])).astype(weights.dtype)


@answers.right("softmax_backward")
def backward_by_loop(weights, grad_weights):
    grad_scores = np.empty_like(weights)
    for index in np.ndindex(weights.shape[:-1]):
        w, g = weights[index], grad_weights[index]
        grad_scores[index] = w * (g - w @ g)
    return grad_scores


@answers.wrong("softmax_backward", "row sum not subtracted")
def backward_products(weights, grad_weights):
    return weights * grad_weights


@answers.wrong("softmax_backward", "diagonal-only Jacobian")
def backward_like_sigmoid(weights, grad_weights):
    return grad_weights * weights * (1 - weights)


@answers.wrong("softmax_backward", "row sum not multiplied by the weights")
def backward_bracket(weights, grad_weights):
    return weights * grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True)


@answers.wrong("softmax_backward", "weights missing in front")
def backward_centred(weights, grad_weights):
    return grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True)


@answers.wrong("softmax_backward", "weights missing in the row sum")
def backward_plain_sum(weights, grad_weights):
    return weights * (grad_weights - grad_weights.sum(axis=-1, keepdims=True))


@answers.wrong("softmax_backward", "plain mean instead of the weighted one")
def backward_plain_mean(weights, grad_weights):
    return weights * (grad_weights - grad_weights.mean(axis=-1, keepdims=True))


@answers.wrong("softmax_backward", "sum over the wrong axis")
def backward_columns(weights, grad_weights):
    return weights * (grad_weights - (weights * grad_weights).sum(axis=-2, keepdims=True))


@answers.wrong("softmax_backward", "one sum for the whole array")
def backward_one_sum(weights, grad_weights):
    return weights * (grad_weights - np.sum(weights * grad_weights))


@answers.wrong("softmax_backward", "one sum for the whole array")
def backward_vdot(weights, grad_weights):
    return weights * (grad_weights - np.vdot(weights, grad_weights))


@answers.wrong("softmax_backward", "sum without keepdims")
def backward_no_keepdims(weights, grad_weights):
    return weights * (grad_weights - (weights * grad_weights).sum(axis=-1))


@answers.wrong("softmax_backward", "sign flipped")
def backward_flipped(weights, grad_weights):
    return weights * (np.sum(weights * grad_weights, axis=-1, keepdims=True) - grad_weights)


@answers.wrong("softmax_backward", "row sum added")
def backward_added(weights, grad_weights):
    return weights * (grad_weights + np.sum(weights * grad_weights, axis=-1, keepdims=True))


@answers.wrong("softmax_backward", "backward of the log-softmax")
def backward_log(weights, grad_weights):
    return grad_weights - weights * grad_weights.sum(axis=-1, keepdims=True)


@answers.wrong("softmax_backward", "(n, n) array made")
def backward_jacobian(weights, grad_weights):
    n = weights.shape[-1]
    jacobian = weights[..., :, None] * (np.eye(n, dtype=weights.dtype) - weights[..., None, :])
    return (jacobian @ grad_weights[..., None])[..., 0]


@answers.wrong("softmax_backward", "(n, n) array made")
def backward_jacobian_rows(weights, grad_weights):
    grad_scores = np.zeros_like(weights)
    for index in np.ndindex(weights.shape[:-1]):
        grad_scores[index] = jacobian_plain(weights[index]) @ grad_weights[index]
    return grad_scores


@answers.wrong("softmax_backward", "argument overwritten")
def backward_in_place(weights, grad_weights):
    grad_weights -= (weights * grad_weights).sum(axis=-1, keepdims=True)
    return weights * grad_weights


@answers.wrong("softmax_backward", "softmax of the weights")
def backward_of_scores(scores, grad_weights):
    w = softmax_plain(scores)
    return w * (grad_weights - (w * grad_weights).sum(axis=-1, keepdims=True))


@answers.wrong("softmax_backward", "sign flipped", "mean instead of sum")
def backward_flipped_mean(weights, grad_weights):
    return weights * ((weights * grad_weights).mean(axis=-1, keepdims=True) - grad_weights)


@answers.wrong("softmax_backward", "weights missing in the row sum", "sum without keepdims")
def backward_plain_sum_no_keepdims(weights, grad_weights):
    return weights * (grad_weights - grad_weights.sum(-1))


# ---------------------------------------------------------------- online_softmax_stats

@answers.right("online_softmax_stats")
def stats_plain(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        new_max = max(row_max, block.max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max).sum()
        row_max = new_max
    return row_max, row_sum


@answers.right("online_softmax_stats")
def stats_first_block_apart(blocks):
    blocks = iter(blocks)
    first = next(blocks)
    row_max = np.max(first)
    row_sum = np.sum(np.exp(first - row_max))
    for block in blocks:
        if block.max() > row_max:
            row_sum *= np.exp(row_max - block.max())
            row_max = block.max()
        row_sum += np.sum(np.exp(block - row_max))
    return row_max, row_sum


@answers.right("online_softmax_stats")
def stats_by_score(blocks):
    m, s = -math.inf, 0.0
    for block in blocks:
        for score in block.tolist():
            if score > m:
                m, s = score, s * math.exp(m - score) + 1.0
            else:
                s += math.exp(score - m)
    return m, s


@answers.right("online_softmax_stats")
def stats_merged(blocks):
    def merge(one, two):
        m = max(one[0], two[0])
        return m, one[1] * math.exp(one[0] - m) + two[1] * math.exp(two[0] - m)

    each = ((float(b.max()), float(np.exp(b.astype(float) - b.max()).sum())) for b in blocks)
    return functools.reduce(merge, each)


@answers.right("online_softmax_stats")
def stats_by_log_sum_exp(blocks):
    top, lse = -np.inf, -np.inf
    for block in blocks:
        wide = block.astype(np.float64)
        lse = np.logaddexp(lse, np.logaddexp.reduce(wide))
        top = np.maximum(top, wide.max())
    return [top, np.exp(lse - top)]


@answers.wrong("online_softmax_stats", "sum not rescaled")
def stats_not_rescaled(blocks):
    row_max, row_sum = -np.inf, 0
    for block in blocks:
        row_max = max(row_max, block.max())
        row_sum += np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "sum not rescaled")
def stats_rescaled_too_late(blocks):
    m, s = -math.inf, 0.0
    for block in blocks:
        old = m
        m = max(m, float(np.max(block)))
        old = m
        s = s * math.exp(old - m) + float(np.exp(block - m).sum())
    return m, s


@answers.wrong("online_softmax_stats", "block maximum instead of the running maximum")
def stats_block_maximum(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        block_max = block.max()
        row_sum = row_sum * np.exp(row_max - block_max) + np.exp(block - block_max).sum()
        row_max = block_max
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "block measured from its own maximum")
def stats_own_maximum(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        new_max = max(row_max, block.max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.sum(np.exp(block - block.max()))
        row_max = new_max
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "block measured from its own maximum", "sum not rescaled")
def stats_sums_added(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        row_sum += np.sum(np.exp(block - block.max()))
        row_max = max(row_max, block.max())
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "rescaled the wrong way")
def stats_wrong_way(blocks):
    blocks = iter(blocks)
    first = next(blocks)
    m = first.max()
    s = np.exp(first - m).sum()
    for block in blocks:
        new = max(m, block.max())
        s = s * np.exp(new - m) + np.exp(block - new).sum()
        m = new
    return m, s


@answers.wrong("online_softmax_stats", "no maximum subtracted")
def stats_naive(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        row_max = max(row_max, block.max())
        row_sum += np.exp(block).sum()
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "maximum starts at 0")
def stats_from_zero(blocks):
    row_max = row_sum = 0.0
    for block in blocks:
        new_max = max(row_max, block.max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max).sum()
        row_max = new_max
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "maximum starts at 0", "sum not rescaled")
def stats_from_zero_not_rescaled(blocks):
    row_max = row_sum = 0.0
    for block in blocks:
        row_max = max(row_max, block.max())
        row_sum += np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "only the first block")
def stats_return_in_the_loop(blocks):
    for block in blocks:
        row_max = block.max()
        return row_max, np.exp(block - row_max).sum()


@answers.wrong("online_softmax_stats", "iterable read twice")
def stats_two_loops(blocks):
    row_max = -np.inf
    for block in blocks:
        row_max = max(row_max, block.max())
    row_sum = 0.0
    for block in blocks:
        row_sum += np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "blocks kept")
def stats_concatenated(blocks):
    scores = np.concatenate(list(blocks))
    return scores.max(), np.exp(scores - scores.max()).sum()


@answers.wrong("online_softmax_stats", "blocks kept")
def stats_listed(blocks):
    blocks = list(blocks)
    row_max = max(block.max() for block in blocks)
    return row_max, sum(np.exp(block - row_max).sum() for block in blocks)


@answers.wrong("online_softmax_stats", "list expected instead of an iterable")
def stats_indexed(blocks):
    row_max = blocks[0].max()
    row_sum = np.exp(blocks[0] - row_max).sum()
    for i in range(1, len(blocks)):
        new_max = max(row_max, blocks[i].max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(blocks[i] - new_max).sum()
        row_max = new_max
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "logarithm of the sum")
def stats_lse(blocks):
    row_max, row_sum = stats_plain(blocks)
    return row_max, row_max + np.log(row_sum)


@answers.wrong("online_softmax_stats", "maximum and sum swapped")
def stats_swapped(blocks):
    row_max, row_sum = stats_plain(blocks)
    return row_sum, row_max


@answers.wrong("online_softmax_stats", "tail block counted as zeros")
def stats_padded(blocks):
    row_max, row_sum, size = -np.inf, 0.0, 0
    for block in blocks:
        size = max(size, block.size)
        block = np.pad(block, (0, size - block.size))
        new_max = max(row_max, block.max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max).sum()
        row_max = new_max
    return row_max, row_sum


# ---------------------------------------------------------------- merge_partials

@answers.right("merge_partials")
def merge_guarded(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    m = np.where(m == -np.inf, 0, m)
    w_a, w_b = np.exp(lse_a - m), np.exp(lse_b - m)
    total = w_a + w_b
    safe = np.where(total == 0, 1, total)[..., None]
    return (w_a[..., None] * out_a + w_b[..., None] * out_b) / safe, np.log(total) + m


@answers.right("merge_partials")
def merge_logaddexp(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    finite = np.where(np.isneginf(lse), 0, lse)
    out = np.exp(lse_a - finite)[..., None] * out_a + np.exp(lse_b - finite)[..., None] * out_b
    return out, lse


@answers.right("merge_partials")
def merge_by_loop(out_a, lse_a, out_b, lse_b):
    out, lse = np.zeros_like(out_a), np.full_like(lse_a, -np.inf)
    for i in np.ndindex(lse_a.shape):
        a, b = float(lse_a[i]), float(lse_b[i])
        top = max(a, b)
        if top == -math.inf:
            continue
        total = math.exp(a - top) + math.exp(b - top)
        lse[i] = top + math.log(total)
        out[i] = (math.exp(a - top) * out_a[i] + math.exp(b - top) * out_b[i]) / total
    return out, lse


@answers.right("merge_partials")
def merge_nan_to_num(out_a, lse_a, out_b, lse_b):
    wide = [part.astype(np.float64) for part in (out_a, lse_a, out_b, lse_b)]
    lse = np.logaddexp(wide[1], wide[3])
    share = np.nan_to_num(np.exp(wide[1] - lse))[..., None]
    out = share * wide[0] + (1 - share) * wide[2]
    return out.astype(out_a.dtype), lse.astype(lse_a.dtype)


@answers.wrong("merge_partials", "partial results averaged")
def merge_mean(out_a, lse_a, out_b, lse_b):
    return (out_a + out_b) / 2, np.logaddexp(lse_a, lse_b)


@answers.wrong("merge_partials", "partial results averaged", "log-sum-exps averaged")
def merge_means(out_a, lse_a, out_b, lse_b):
    return 0.5 * (out_a + out_b), 0.5 * (lse_a + lse_b)


@answers.wrong("merge_partials", "partial results added")
def merge_sum(out_a, lse_a, out_b, lse_b):
    return out_a + out_b, np.logaddexp(lse_a, lse_b)


@answers.wrong("merge_partials", "partial results added", "log-sum-exps added")
def merge_sums(out_a, lse_a, out_b, lse_b):
    return out_a + out_b, lse_a + lse_b


@answers.wrong("merge_partials", "not divided by the sum")
def merge_not_normalised(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    m = np.where(m == -np.inf, 0, m)
    w_a, w_b = np.exp(lse_a - m), np.exp(lse_b - m)
    return w_a[..., None] * out_a + w_b[..., None] * out_b, m + np.log(w_a + w_b)


@answers.wrong("merge_partials", "dead rows NaN")
def merge_unguarded(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    w_a, w_b = np.exp(lse_a - m)[..., None], np.exp(lse_b - m)[..., None]
    return (w_a * out_a + w_b * out_b) / (w_a + w_b), m + np.log((w_a + w_b)[..., 0])


@answers.wrong("merge_partials", "dead rows NaN")
def merge_logaddexp_unguarded(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    return np.exp(lse_a - lse)[..., None] * out_a + np.exp(lse_b - lse)[..., None] * out_b, lse


@answers.wrong("merge_partials", "no maximum subtracted")
def merge_naive(out_a, lse_a, out_b, lse_b):
    w_a, w_b = np.exp(lse_a), np.exp(lse_b)
    total = w_a + w_b
    return (w_a[..., None] * out_a + w_b[..., None] * out_b) / total[..., None], np.log(total)


@answers.wrong("merge_partials", "shares of the parts swapped")
def merge_swapped(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    finite = np.where(np.isneginf(lse), 0, lse)
    out = np.exp(lse_b - finite)[..., None] * out_a + np.exp(lse_a - finite)[..., None] * out_b
    return out, lse


@answers.wrong("merge_partials", "log-sum-exps as weights")
def merge_by_logarithms(out_a, lse_a, out_b, lse_b):
    out = (lse_a[..., None] * out_a + lse_b[..., None] * out_b) / (lse_a + lse_b)[..., None]
    return out, np.logaddexp(lse_a, lse_b)


@answers.wrong("merge_partials", "maximum instead of log-sum-exp")
def merge_maximum(out_a, lse_a, out_b, lse_b):
    out, lse = merge_guarded(out_a, lse_a, out_b, lse_b)
    return out, np.maximum(lse_a, lse_b)


@answers.wrong("merge_partials", "maximum not added back")
def merge_not_added_back(out_a, lse_a, out_b, lse_b):
    m = np.nan_to_num(np.maximum(lse_a, lse_b), neginf=0)
    w_a, w_b = np.exp(lse_a - m), np.exp(lse_b - m)
    total = w_a + w_b
    out = (w_a[..., None] * out_a + w_b[..., None] * out_b) / np.where(total > 0, total, 1)[..., None]
    return out, np.log(total)


@answers.wrong("merge_partials", "no axis for the features")
def merge_no_axis(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    m = np.where(m == -np.inf, 0, m)
    w_a, w_b = np.exp(lse_a - m), np.exp(lse_b - m)
    total = np.maximum(w_a + w_b, np.finfo(m.dtype).tiny)
    return w_a / total * out_a + w_b / total * out_b, np.log(w_a + w_b) + m


@answers.wrong("merge_partials", "output and log-sum-exp swapped")
def merge_order(out_a, lse_a, out_b, lse_b):
    return merge_guarded(out_a, lse_a, out_b, lse_b)[::-1]


@answers.wrong("merge_partials", "epsilon in the denominator")
def merge_epsilon(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    m = np.where(m == -np.inf, 0, m)
    w_a, w_b = np.exp(lse_a - m)[..., None], np.exp(lse_b - m)[..., None]
    return (w_a * out_a + w_b * out_b) / (w_a + w_b + 1e-6), (np.log(w_a + w_b) + m[..., None])[..., 0]


@answers.wrong("merge_partials", "axis kept", "dead rows NaN")
def merge_column(out_a, lse_a, out_b, lse_b):
    lse_a, lse_b = lse_a[..., None], lse_b[..., None]
    lse = np.logaddexp(lse_a, lse_b)
    return np.exp(lse_a - lse) * out_a + np.exp(lse_b - lse) * out_b, lse


# ---------------------------------------------------------------- more ways to write them

@answers.right("temperature_softmax")
def tempered_by_differences(scores, temperature):
    z = scores.astype(np.float64) / temperature
    return (1 / np.exp(z[..., None, :] - z[..., :, None]).sum(axis=-1)).astype(scores.dtype)


@answers.wrong("temperature_softmax", "only the maximum divided by the temperature")
def tempered_maximum_only(scores, temperature):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True) / temperature)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "no maximum subtracted")
def tempered_powers_of_powers(scores, temperature):
    powers = np.exp(scores) ** (1 / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "no maximum subtracted", "softmax over everything")
def tempered_one_naive_sum(scores, temperature):
    e = np.exp(scores / temperature)
    return e / np.sum(e)


@answers.wrong("temperature_softmax", "no maximum subtracted", "sign flipped")
def tempered_flipped(scores, temperature):
    e = np.exp(-scores / temperature)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "square of the temperature", "one maximum for the whole array")
def tempered_twice(scores, temperature):
    z = scores / temperature / temperature
    e = np.exp(z - z.max())
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("temperature_softmax", "floor division")
def tempered_rounded_down(scores, temperature):
    return softmax_plain(scores // temperature)


@answers.right("logsumexp")
def lse_one_by_one(scores, axis=-1):
    total = np.full(np.delete(scores.shape, axis), -np.inf)
    for i in range(scores.shape[axis]):
        total = np.logaddexp(total, np.take(scores, i, axis=axis).astype(np.float64))
    return np.asarray(total).astype(scores.dtype)


@answers.wrong("logsumexp", "log of the sum subtracted instead of added", "dead rows NaN")
def lse_minus_log(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return m.squeeze(axis) - np.log(np.exp(scores - m).sum(axis))


@answers.wrong("logsumexp", "only an array of nothing but -inf is seen as dead")
def lse_whole_array_dead(scores, axis=-1):
    if np.all(scores == -np.inf):
        return np.full(np.delete(scores.shape, axis), -np.inf, dtype=scores.dtype)
    m = scores.max(axis=axis, keepdims=True)
    return np.log(np.exp(scores - m).sum(axis)) + m.squeeze(axis)


@answers.wrong("logsumexp", "large negative number instead of -inf")
def lse_nan_to_num(scores, axis=-1):
    return np.nan_to_num(np.logaddexp.reduce(scores, axis=axis))


@answers.wrong("logsumexp", "large negative number instead of -inf")
def lse_filled_before(scores, axis=-1):
    scores = np.where(np.isneginf(scores), -1e9, scores)
    m = scores.max(axis=axis, keepdims=True)
    return (m + np.log(np.exp(scores - m).sum(axis=axis, keepdims=True))).squeeze(axis)


@answers.wrong("logsumexp", "dead rows NaN")
def lse_math_log(scores, axis=-1):
    def row(s):
        return max(s) + math.log(sum(math.exp(x - max(s)) for x in s))

    return np.apply_along_axis(row, axis, scores).astype(scores.dtype)


@answers.wrong("logsumexp", "reduced over the first axis")
def lse_other_default(scores, axis=0):
    return np.logaddexp.reduce(scores, axis=axis)


@answers.wrong("logsumexp", "axis missing")
def lse_without_axis(scores):
    return np.logaddexp.reduce(scores, axis=-1)


@answers.wrong("logsumexp", "no maximum subtracted")
def lse_factor_multiplied_back(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    return np.log(np.exp(scores - m).sum(axis) * np.exp(m.squeeze(axis)))


@answers.wrong("log_softmax", "epsilon in the logarithm")
def log_softmax_tiny(scores, axis=-1):
    return np.log(softmax_plain(scores, axis) + np.finfo(scores.dtype).tiny)


@answers.wrong("log_softmax", "logarithm of an underflowed softmax")
def log_softmax_nan_to_num(scores, axis=-1):
    return np.nan_to_num(np.log(softmax_plain(scores, axis)))


@answers.wrong("log_softmax", "logarithm of an underflowed softmax", "logarithm to base 2")
def log_softmax_log2(scores, axis=-1):
    return np.log2(softmax_plain(scores, axis))


@answers.wrong("log_softmax", "log-sum-exp instead of log-softmax")
def log_softmax_lse(scores, axis=-1):
    return np.logaddexp.reduce(scores, axis=axis)


@answers.wrong("log_softmax", "sum without keepdims")
def log_softmax_lse_no_keepdims(scores, axis=-1):
    return scores - np.logaddexp.reduce(scores, axis=axis)


@answers.wrong("log_softmax", "divided instead of subtracted")
def log_softmax_quotient(scores, axis=-1):
    return scores / np.logaddexp.reduce(scores, axis=axis, keepdims=True)


@answers.wrong("log_softmax", "another axis by default")
def log_softmax_other_default(scores, axis=0):
    return log_softmax_shifted(scores, axis)


@answers.wrong("log_softmax", "no maximum subtracted", "softmax over everything")
def log_softmax_one_naive_sum(scores, axis=-1):
    return scores - np.log(np.exp(scores).sum())


@answers.right("safe_softmax")
def safe_two_steps(scores):
    dead = np.isneginf(scores).all(axis=-1, keepdims=True)
    return np.where(dead, 0, softmax_plain(np.where(dead, 0, scores))).astype(scores.dtype)


@answers.wrong("safe_softmax", "large negative number instead of -inf")
def safe_filled_native(scores):
    return softmax_plain(np.nan_to_num(scores, neginf=-1e9))


@answers.wrong("safe_softmax", "the lowest score instead of -inf")
def safe_lowest(scores):
    finite = scores[np.isfinite(scores)]
    lowest = finite.min() if finite.size else 0
    return softmax_plain(np.where(np.isneginf(scores), lowest, scores).astype(scores.dtype))


@answers.wrong("safe_softmax", "minimum subtracted instead of maximum")
def safe_minimum(scores):
    m = np.where(np.isneginf(scores), np.inf, scores).min(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(m), 0, m).astype(scores.dtype))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total).astype(scores.dtype)


@answers.wrong("safe_softmax", "dead rows not zero")
def safe_first_key(scores):
    weights = softmax_plain(scores)
    dead = np.isnan(weights).any(axis=-1)
    weights[dead] = 0
    weights[dead, 0] = 1
    return weights


@answers.wrong("safe_softmax", "dead rows NaN", "no maximum subtracted")
def safe_nothing(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


@answers.wrong("softmax_jacobian", "zeros on the diagonal")
def jacobian_off_diagonal(weights):
    jacobian = -np.outer(weights, weights)
    np.fill_diagonal(jacobian, 0)
    return jacobian


@answers.wrong("softmax_jacobian", "weight missing on the diagonal")
def jacobian_one_minus_weight(weights):
    jacobian = -np.outer(weights, weights)
    np.fill_diagonal(jacobian, 1 - weights)
    return jacobian


@answers.wrong("softmax_jacobian", "weight not subtracted on the diagonal")
def jacobian_weight_on_the_diagonal(weights):
    jacobian = -np.outer(weights, weights)
    np.fill_diagonal(jacobian, weights)
    return jacobian


@answers.wrong("softmax_jacobian", "only one triangle")
def jacobian_upper_half(weights):
    return np.triu(jacobian_plain(weights))


@answers.right("softmax_backward")
def backward_row_of_the_jacobian(weights, grad_weights):
    grad_scores = np.empty_like(weights)
    for index in np.ndindex(weights.shape[:-1]):
        w, g = weights[index], grad_weights[index]
        for i in range(w.size):
            row = -w[i] * w
            row[i] += w[i]
            grad_scores[index + (i,)] = row @ g
    return grad_scores


@answers.wrong("softmax_backward", "matrix product instead of a row sum")
def backward_matmul(weights, grad_weights):
    return weights * (grad_weights - weights @ grad_weights.T)


@answers.wrong("softmax_backward", "weights and gradient swapped")
def backward_swapped(first, second):
    return second * (first - (second * first).sum(axis=-1, keepdims=True))


@answers.wrong("softmax_backward", "gradient missing in the row sum")
def backward_squares(weights, grad_weights):
    return weights * (grad_weights - (weights ** 2).sum(axis=-1, keepdims=True))


@answers.right("online_softmax_stats")
def stats_of_each_block(blocks):
    maxima, sums = [], []
    for block in blocks:
        maxima.append(block.max())
        sums.append(np.exp(block - block.max()).sum())
    row_max = max(maxima)
    return row_max, np.sum(np.array(sums) * np.exp(np.array(maxima) - row_max))


@answers.wrong("online_softmax_stats", "only the last block")
def stats_last_block(blocks):
    for block in blocks:
        row_max = block.max()
        row_sum = np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "maximum of the first block kept")
def stats_first_maximum(blocks):
    row_max = None
    for block in blocks:
        if row_max is None:
            row_max, row_sum = block.max(), 0.0
        row_sum += np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("online_softmax_stats", "first block dropped")
def stats_first_sum_forgotten(blocks):
    blocks = iter(blocks)
    m, s = next(blocks).max(), 0.0
    for block in blocks:
        new = max(m, block.max())
        s = s * np.exp(m - new) + np.exp(block - new).sum()
        m = new
    return m, s


@answers.wrong("online_softmax_stats", "no maximum subtracted")
def stats_naive_divided(blocks):
    m, s = -math.inf, 0.0
    for block in blocks:
        for score in block.tolist():
            m, s = max(m, score), s + math.exp(score)
    return m, s / math.exp(m)


@answers.wrong("online_softmax_stats", "blocks kept")
def stats_growing_array(blocks):
    scores = np.array([])
    for block in blocks:
        scores = np.append(scores, block)
    return scores.max(), np.exp(scores - scores.max()).sum()


@answers.wrong("online_softmax_stats", "argument overwritten")
def stats_in_place(blocks):
    m, s = -np.inf, 0.0
    for block in blocks:
        new = max(m, block.max())
        block -= new
        s = s * np.exp(m - new) + np.exp(block).sum()
        m = new
    return m, s


@answers.wrong("online_softmax_stats", "blocks kept", "maximum and sum swapped")
def stats_concatenated_swapped(blocks):
    scores = np.concatenate(list(blocks))
    return np.exp(scores - scores.max()).sum(), scores.max()


@answers.right("merge_partials")
def merge_by_sigmoid(out_a, lse_a, out_b, lse_b):
    both_empty = np.isneginf(lse_a) & np.isneginf(lse_b)
    gap = np.where(both_empty, 0, lse_b.astype(np.float64) - lse_a)
    share = (1 / (1 + np.exp(gap)))[..., None]
    return (share * out_a + (1 - share) * out_b).astype(out_a.dtype), np.logaddexp(lse_a, lse_b)


@answers.wrong("merge_partials", "maximum instead of log-sum-exp")
def merge_maximum_throughout(out_a, lse_a, out_b, lse_b):
    lse = np.maximum(lse_a, lse_b)
    finite = np.where(np.isneginf(lse), 0, lse)
    out = np.exp(lse_a - finite)[..., None] * out_a + np.exp(lse_b - finite)[..., None] * out_b
    return out, lse


@answers.wrong("merge_partials", "one part subtracted instead of the maximum")
def merge_relative_to_a(out_a, lse_a, out_b, lse_b):
    ratio = np.exp(lse_b - lse_a)
    out = (out_a + ratio[..., None] * out_b) / (1 + ratio)[..., None]
    return out, lse_a + np.log(1 + ratio)


@answers.wrong("merge_partials", "not divided by the sum", "dead rows NaN")
def merge_not_normalised_unguarded(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    w_a, w_b = np.exp(lse_a - m)[..., None], np.exp(lse_b - m)[..., None]
    return w_a * out_a + w_b * out_b, np.logaddexp(lse_a, lse_b)


@answers.wrong("merge_partials", "not divided by the sum", "no maximum subtracted")
def merge_bare_powers(out_a, lse_a, out_b, lse_b):
    return (np.exp(lse_a)[..., None] * out_a + np.exp(lse_b)[..., None] * out_b,
            np.logaddexp(lse_a, lse_b))


@answers.wrong("merge_partials", "the larger part alone", "maximum instead of log-sum-exp")
def merge_best(out_a, lse_a, out_b, lse_b):
    return np.where((lse_a >= lse_b)[..., None], out_a, out_b), np.maximum(lse_a, lse_b)


@answers.wrong("merge_partials", "log-sum-exps as weights", "log-sum-exps averaged")
def merge_logarithms(out_a, lse_a, out_b, lse_b):
    total = (lse_a + lse_b)[..., None]
    return (lse_a[..., None] * out_a + lse_b[..., None] * out_b) / total, (lse_a + lse_b) / 2


# ---------------------------------------------------------------- more of what learners type

def plain_softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def dim_for_axis(scores, dim=-1):
    return plain_softmax(scores, dim)


def without_default(scores, axis):
    return plain_softmax(scores, axis)


def without_default_and_maximum(scores, axis):
    return np.exp(scores) / np.exp(scores).sum(axis=axis, keepdims=True)


def first_axis_by_default(scores, axis=0):
    return plain_softmax(scores, axis)


def underflow_made_an_error(scores, axis=-1):
    np.seterr(all="raise")
    return plain_softmax(scores, axis)


def moved_and_left_there(scores, axis=-1):
    return plain_softmax(np.moveaxis(scores, axis, -1))


def sum_over_the_last(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def sum_so_far(scores):
    total, weights = 0.0, np.zeros_like(scores)
    for i, score in enumerate(scores):
        total += np.exp(score - scores.max())
        weights[i] = np.exp(score - scores.max()) / total
    return weights


def stats_printed(blocks):
    highest, total = -np.inf, 0.0
    for block in blocks:
        print(block, "x" * 500_000)
        new = max(highest, block.max())
        total, highest = total * np.exp(highest - new) + np.exp(block - new).sum(), new
    return highest, total


def backward_printed(weights, grad):
    print("x" * 5_000_000, weights.tolist())
    return weights * (grad - (weights * grad).sum(-1, keepdims=True))


def merge_exponent_flipped(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    return out_a * np.exp(lse - lse_a)[..., None] + out_b * np.exp(lse - lse_b)[..., None], lse


def merge_empty_counted(out_a, lse_a, out_b, lse_b):
    lse_a, lse_b = np.where(lse_a == -np.inf, 0, lse_a), np.where(lse_b == -np.inf, 0, lse_b)
    lse = np.logaddexp(lse_a, lse_b)
    return out_a * np.exp(lse_a - lse)[..., None] + out_b * np.exp(lse_b - lse)[..., None], lse


answers.right("online_softmax_stats", stats_printed)
answers.right("softmax_backward", backward_printed)
for label, names, function in (
    ("softmax", ["optional parameter renamed"], dim_for_axis),
    ("softmax", ["no default"], without_default),
    ("softmax", ["no default", "no maximum subtracted"], without_default_and_maximum),
    ("softmax", ["another axis by default"], first_axis_by_default),
    ("softmax", ["axis not moved back"], moved_and_left_there),
    ("softmax", ["sum over the last axis whatever axis says"], sum_over_the_last),
    ("softmax", ["floating-point errors raised"], underflow_made_an_error),
    ("softmax_row", ["divided by the sum so far"], sum_so_far),
    ("merge_partials", ["sign of the exponent flipped"], merge_exponent_flipped),
    ("merge_partials", ["empty part counted"], merge_empty_counted),
    ("softmax", ["trailing comma"], lambda scores, axis=-1: (plain_softmax(scores, axis),)),
    ("softmax", ["list around the answer"], lambda scores, axis=-1: [plain_softmax(scores, axis)]),
    ("softmax", ["np.matrix instead of an array"], lambda scores, axis=-1: np.asmatrix(
        plain_softmax(scores, axis)) if scores.ndim == 2 else plain_softmax(scores, axis)),
    ("softmax", ["masked scores set to 0"],
     lambda scores, axis=-1: plain_softmax(np.where(np.isinf(scores), 0, scores).astype(scores.dtype), axis)),
    ("softmax", [], lambda scores, axis=-1: np.full_like(scores, np.nan)),
    ("online_softmax_stats", ["trailing comma"], lambda blocks: (stats_printed(blocks),)),
):
    if function.__name__ == "<lambda>":
        function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(label, *names, function=function)


# ---------------------------------------------------------------- single steps, and numbers that nobody listed

@answers.wrong("softmax_row", "median subtracted instead of maximum")
def row_with_median(scores):
    e = np.exp(scores - np.median(scores).astype(scores.dtype))
    return e / e.sum()


@answers.wrong("softmax_row", "scores clipped")
def row_clipped_at_60(scores):
    e = np.exp(np.clip(scores, -60, 60))
    return e / e.sum()


@answers.wrong("softmax_row", "a fixed number subtracted instead of the maximum")
def row_less_300(scores):
    e = np.exp(scores - 300)
    return e / e.sum()


@answers.wrong("softmax_row", "one score left out of the sum")
def row_without_last(scores):
    e = np.exp(scores - scores.max())
    return e / e[:-1].sum() if len(e) > 1 else e / 0


@answers.wrong("softmax", "the sum of the exponentials over the second axis")
def softmax_summed_over_axis_1(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=min(1, scores.ndim - 1), keepdims=True)


@answers.wrong("softmax", "the sum of the exponentials squared")
def softmax_divided_twice(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    total = e.sum(axis=axis, keepdims=True)
    return e / total / total


@answers.wrong("softmax", "the lowest score instead of -inf")
def softmax_lowest(scores, axis=-1):
    scores = np.maximum(scores, scores[np.isfinite(scores)].min())
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@answers.wrong("softmax", "epsilon in the denominator")
def softmax_own_epsilon(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / (e.sum(axis=axis, keepdims=True) + 3e-4)


@answers.wrong("temperature_softmax", "temperature rounded to a whole number")
def tempered_by_an_integer(scores, temperature):
    scores = scores / max(1, int(temperature))
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@answers.wrong("temperature_softmax", "softmax over all axes but the first")
def tempered_over_the_rest(scores, temperature):
    axes = tuple(range(1, scores.ndim)) or (0,)
    e = np.exp((scores - scores.max(axis=axes, keepdims=True)) / temperature)
    return e / e.sum(axis=axes, keepdims=True)


@answers.wrong("logsumexp", "masked scores set to 0")
def lse_counting_minus_infinity(scores, axis=-1):
    return np.logaddexp.reduce(np.where(np.isneginf(scores), 0, scores).astype(scores.dtype), axis=axis)


@answers.wrong("logsumexp", "only the largest scores")
def lse_of_five(scores, axis=-1):
    ordered = np.sort(scores, axis=axis)
    n = ordered.shape[axis]
    return np.logaddexp.reduce(ordered.take(range(max(0, n - 5), n), axis=axis), axis=axis)


@answers.wrong("log_softmax", "log-sum-exp subtracted twice")
def log_softmax_less_two(scores, axis=-1):
    return scores - 2 * np.logaddexp.reduce(scores, axis=axis, keepdims=True)


@answers.wrong("log_softmax", "logarithm of an underflowed softmax")
def log_softmax_filled(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.nan_to_num(np.log(e / e.sum(axis=axis, keepdims=True)), neginf=-80.0)


@answers.wrong("safe_softmax", "error at a dead row")
def safe_that_raises(scores):
    if np.isneginf(scores).all(-1).any():
        raise ValueError("a row is fully masked")
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@answers.wrong("safe_softmax", "scores of -inf counted in the sum")
def safe_counting_minus_infinity(scores):
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isneginf(top), 0, top).astype(scores.dtype))
    return e / np.where(np.isneginf(scores), 1, e).sum(-1, keepdims=True).astype(e.dtype)


@answers.wrong("softmax_jacobian", "sign flipped on the diagonal")
def jacobian_of_another_sign(weights):
    jacobian = -np.outer(weights, weights)
    jacobian[np.diag_indices(len(weights))] = weights ** 2 - weights
    return jacobian


@answers.wrong("softmax_jacobian", "another product beside the diagonal")
def jacobian_of_sums(weights):
    jacobian = -(weights[:, None] + weights)
    np.fill_diagonal(jacobian, weights * (1 - weights))
    return jacobian


@answers.wrong("softmax_backward", "sum over the wrong axis")
def backward_over_the_queries(weights, grad_weights):
    total = (weights * grad_weights).sum(axis=-2 if weights.ndim > 1 else -1, keepdims=True)
    return weights * (grad_weights - total)


@answers.wrong("softmax_backward", "the row sum doubled")
def backward_of_two_sums(weights, grad_weights):
    return weights * (grad_weights - 2 * (weights * grad_weights).sum(axis=-1, keepdims=True))


@answers.wrong("online_softmax_stats", "mean of a block instead of its maximum")
def stats_of_means(blocks):
    top, total = -np.inf, 0.0
    for block in blocks:
        new = max(top, block.mean())
        total = total * np.exp(top - new) + np.exp(block - new).sum()
        top = new
    return top, total


@answers.wrong("online_softmax_stats", "old sum rescaled to the block's maximum")
def stats_to_the_block(blocks):
    top, total = None, 0.0
    for block in blocks:
        if top is None:
            top, total = block.max(), np.exp(block - block.max()).sum()
            continue
        new = max(top, block.max())
        total = total * np.exp(top - block.max()) + np.exp(block - new).sum()
        top = new
    return top, total


@answers.wrong("merge_partials", "share from one log-sum-exp alone")
def merge_by_sigmoid(out_a, lse_a, out_b, lse_b):
    share = 1 / (1 + np.exp(-lse_a))
    share = np.where(np.isneginf(lse_b), np.where(np.isneginf(lse_a), 0, 1), share).astype(out_a.dtype)
    return share[..., None] * out_a + (1 - share)[..., None] * out_b, np.logaddexp(lse_a, lse_b)


@answers.wrong("merge_partials", "mean instead of sum")
def merge_with_mean(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    shares = np.nan_to_num(np.exp(np.stack([lse_a, lse_b]) - lse))[..., None]
    return shares[0] * out_a + shares[1] * out_b, (lse - np.log(2)).astype(lse.dtype)


@answers.wrong("merge_partials", "log-sum-exp lost beside an empty part")
def merge_losing_lse(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    share = np.nan_to_num(np.exp(lse_a - lse))[..., None]
    return share * out_a + (1 - share) * out_b, np.where(np.isneginf(lse_b), lse_b, lse)


def filled(value):
    """A softmax with a number in place of -inf."""
    def fill(scores, axis=-1):
        return soft(np.where(np.isinf(scores), value, scores).astype(scores.dtype), axis)

    fill.__name__ = f"softmax_filled_{abs(value):.0f}"
    return fill


def soft(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def log_soft(scores, axis):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


for value in (-1e3, -2e3, -1e4, -6e4):
    answers.wrong("softmax", "large negative number instead of -inf", function=filled(value))


@answers.wrong("safe_softmax", "large negative number instead of -inf")
def safe_filled_and_rescued(scores):
    dead = np.isneginf(scores).all(axis=-1, keepdims=True)
    return np.where(dead, 0, filled(-2e3)(scores)).astype(scores.dtype)


@answers.wrong("logsumexp", "large negative number instead of -inf")
def lse_filled_and_rescued(scores, axis=-1):
    low = np.where(np.isinf(scores), -2e3, scores).astype(scores.dtype)
    m = low.max(axis=axis, keepdims=True)
    lse = (m + np.log(np.exp(low - m).sum(axis=axis, keepdims=True))).squeeze(axis)
    return np.where(np.isneginf(scores).all(axis=axis), -np.inf, lse).astype(scores.dtype)


@answers.wrong("logsumexp", "one maximum for the whole array")
def lse_one_maximum_unguarded(scores, axis=-1):
    m = scores.max()
    return np.log(np.exp(scores - m).sum(axis=axis)) + m


@answers.wrong("logsumexp", "softmax instead of log-sum-exp")
def lse_safe_softmax_pasted(scores, axis=-1):
    m = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(np.isneginf(m), 0, m))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


@answers.wrong("log_softmax", "limit on the answer")
def log_raised(scores, axis=-1):
    return np.maximum(log_soft(scores, axis), -100)


@answers.wrong("log_softmax", "limit on the answer")
def log_emptied(scores, axis=-1):
    logs = log_soft(scores, axis)
    return np.where(logs < -500, -np.inf, logs).astype(scores.dtype)


@answers.wrong("log_softmax", "no maximum subtracted")
def log_by_naive_sum(scores, axis=-1):
    return scores - np.log(np.exp(scores).sum(axis=axis, keepdims=True))


@answers.wrong("softmax_row", "uniform weights")
def row_uniform(scores):
    return np.ones_like(scores) / len(scores)


@answers.wrong("softmax", "uniform weights")
def softmax_uniform(scores, axis=-1):
    return np.ones_like(scores) / np.array(scores.shape[axis], scores.dtype)
