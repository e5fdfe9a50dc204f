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
