"""Answers to softmax, written as learners write them."""

import functools
import math

import numpy as np
import torch

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("softmax")


def row_plain(scores):
    e = np.exp(scores - np.max(scores))
    return e / np.sum(e)


answers.wrong("ready-made function", function=attnlib.softmax)
answers.wrong("ready-made function", function=functools.partial(attnlib.softmax))


@answers.wrong("ready-made function")
def softmax_of_torch(scores, axis=-1):
    return torch.from_numpy(scores.copy()).softmax(axis).numpy()


@answers.wrong("ready-made function", "softmax over the first axis")
def softmax_of_attnlib_over_the_queries(scores, axis=-1):
    return attnlib.softmax(scores, 0)


@answers.right()
def softmax_held_against_attnlib(scores, axis=-1):
    weights = softmax_plain(scores, axis)
    assert np.allclose(weights, attnlib.softmax(scores, axis), atol=1e-2)
    return weights


BUFFERS = {}


@answers.wrong("one array for all answers")
def softmax_into_a_buffer(scores, axis=-1):
    out = BUFFERS.setdefault((scores.shape, scores.dtype), np.empty(scores.shape, scores.dtype))
    np.exp(scores - scores.max(axis=axis, keepdims=True), out=out)
    out /= out.sum(axis=axis, keepdims=True)
    return out


@answers.right()
def softmax_of_another_byte_order(scores, axis=-1):
    return softmax_plain(scores, axis).astype(scores.dtype.newbyteorder(">"))


@answers.right()
def softmax_plain(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@answers.right()
def softmax_expand_dims(x, axis=-1, *more, **options):
    top = np.expand_dims(np.max(x, axis), axis)
    powers = np.exp(x - top)
    return powers / np.expand_dims(np.sum(powers, axis), axis)


@answers.right()
def softmax_moving_axes(scores, axis=-1):
    s = np.moveaxis(scores, axis, 0)
    e = np.exp(s - s.max(0))
    return np.moveaxis(e / e.sum(0), 0, axis)


@answers.right()
def softmax_upcast(scores, axis=-1):
    wide = scores.astype(np.float64)
    wide -= np.amax(wide, axis=axis, keepdims=True)
    np.exp(wide, out=wide)
    wide /= wide.sum(axis=axis, keepdims=True)
    return wide.astype(scores.dtype)


@answers.right()
def softmax_along_axis(scores, axis=-1):
    return np.apply_along_axis(row_plain, axis, scores)


@answers.right()
def softmax_log_domain(scores, axis=-1):
    top = scores.max(axis=axis, keepdims=True)
    lse = top + np.log(np.sum(np.exp(scores - top), axis=axis, keepdims=True))
    return np.exp(scores - lse)


class Softmax:
    """An answer may be any callable."""

    def __call__(self, scores, axis=-1):
        return softmax_plain(scores, axis)


answers.right(Softmax())


@answers.wrong("no maximum subtracted")
def softmax_naive(scores, axis=-1):
    return np.exp(scores) / np.sum(np.exp(scores), axis=axis, keepdims=True)


@answers.wrong("no maximum subtracted")
def softmax_naive_log_domain(scores, axis=-1):
    return np.exp(scores - np.log(np.exp(scores).sum(axis=axis, keepdims=True)))


@answers.wrong("no maximum subtracted")
def softmax_naive_upcast(scores, axis=-1):
    e = np.exp(scores.astype(np.float64))
    return (e / e.sum(axis=axis, keepdims=True)).astype(scores.dtype)


@answers.wrong("one maximum for the whole array")
def softmax_global_maximum(scores, axis=-1):
    e = np.exp(scores - np.max(scores))
    return e / e.sum(axis=axis, keepdims=True)


@answers.wrong("one sum over everything")
def softmax_everything(scores, axis=-1):
    e = np.exp(scores - scores.max())
    return e / e.sum()


@answers.wrong("one sum over everything")
def softmax_one_sum(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / np.sum(e)


@answers.wrong("sum without keepdims")
def softmax_no_keepdims(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)


@answers.wrong("maximum without keepdims")
def softmax_max_no_keepdims(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis))
    return e / e.sum(axis=axis, keepdims=True)


@answers.wrong("maximum without keepdims", "sum without keepdims")
def softmax_no_keepdims_at_all(scores, axis=-1):
    e = np.exp(scores - scores.max(axis))
    return e / e.sum(axis)


@answers.wrong("axis ignored")
def softmax_last_axis(scores, axis=-1):
    return softmax_plain(scores, -1)


@answers.wrong("axis ignored", "no maximum subtracted")
def softmax_last_axis_naive(scores, axis=-1):
    return np.exp(scores) / np.exp(scores).sum(-1)[..., None]


@answers.wrong("softmax over the first axis")
def softmax_axis_0(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=0))
    return e / e.sum(axis=0)


@answers.wrong("sum put back on the last axis")
def softmax_none_at_the_end(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)[..., None]


@answers.wrong("sum put back on the last axis", "maximum put back on the last axis")
def softmax_both_at_the_end(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis)[..., None])
    return e / e.sum(axis=axis)[..., None]


@answers.wrong("axis missing")
def softmax_without_axis(scores):
    return softmax_plain(scores)


@answers.wrong("epsilon in the denominator")
def softmax_epsilon(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / (1e-9 + e.sum(axis=axis, keepdims=True))


@answers.wrong("epsilon in the denominator", "one maximum for the whole array")
def softmax_epsilon_global(scores, axis=-1):
    e = np.exp(scores - scores.max())
    return e / (e.sum(axis=axis, keepdims=True) + 1e-6)


@answers.wrong("divided by the mean", "no maximum subtracted")
def softmax_mean_naive(scores, axis=-1):
    e = np.exp(scores)
    return e / e.mean(axis=axis, keepdims=True)


@answers.wrong("softmax twice")
def softmax_of_softmax(scores, axis=-1):
    return softmax_plain(softmax_plain(scores, axis), axis)


@answers.wrong("argument overwritten")
def softmax_in_place(scores, axis=-1):
    scores -= scores.max(axis=axis, keepdims=True)
    e = np.exp(scores)
    return e / e.sum(axis=axis, keepdims=True)


@answers.wrong("argument overwritten", "not divided by the sum")
def softmax_in_place_unnormalised(scores, axis=-1):
    np.subtract(scores, scores.max(axis=axis, keepdims=True), out=scores)
    return np.exp(scores)


@answers.wrong("float64 leaks out")
def softmax_zeros(scores, axis=-1):
    out = np.zeros(scores.shape)
    out[...] = softmax_plain(scores, axis)
    return out


@answers.wrong("narrower dtype")
def softmax_half(scores, axis=-1):
    return softmax_plain(scores, axis).astype(np.float16)


@answers.wrong("not divided by the sum")
def softmax_by_largest(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.max(axis=axis, keepdims=True)


@answers.wrong("sign flipped", "axis ignored")
def softmax_flipped_last_axis(scores, axis=-1):
    return softmax_plain(-scores, -1)


@answers.wrong("scores times 0.5882")
def softmax_tempered(scores, axis=-1):
    return softmax_plain(scores / 1.7, axis)


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


for names, function in (
    (["optional parameter renamed"], dim_for_axis),
    (["no default"], without_default),
    (["no default", "no maximum subtracted"], without_default_and_maximum),
    (["another axis by default"], first_axis_by_default),
    (["axis not moved back"], moved_and_left_there),
    (["sum over the last axis whatever axis says"], sum_over_the_last),
    (["floating-point errors raised"], underflow_made_an_error),
    (["trailing comma"], lambda scores, axis=-1: (plain_softmax(scores, axis),)),
    (["list around the answer"], lambda scores, axis=-1: [plain_softmax(scores, axis)]),
    (
        ["np.matrix instead of an array"],
        lambda scores, axis=-1: (
            np.asmatrix(plain_softmax(scores, axis))
            if scores.ndim == 2
            else plain_softmax(scores, axis)
        ),
    ),
    (
        ["masked scores set to 0"],
        lambda scores, axis=-1: plain_softmax(
            np.where(np.isinf(scores), 0, scores).astype(scores.dtype), axis
        ),
    ),
    ([], lambda scores, axis=-1: np.full_like(scores, np.nan)),
):
    if function.__name__ == "<lambda>":
        function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("the sum of the exponentials over the second axis")
def softmax_summed_over_axis_1(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=min(1, scores.ndim - 1), keepdims=True)


@answers.wrong("the square of the sum of the exponentials")
def softmax_divided_twice(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    total = e.sum(axis=axis, keepdims=True)
    return e / total / total


@answers.wrong("the lowest score instead of -inf")
def softmax_lowest(scores, axis=-1):
    scores = np.maximum(scores, scores[np.isfinite(scores)].min())
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@answers.wrong("epsilon in the denominator")
def softmax_own_epsilon(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / (e.sum(axis=axis, keepdims=True) + 3e-4)


def filled(value):
    """A softmax with a number in place of -inf."""

    def fill(scores, axis=-1):
        return soft(np.where(np.isinf(scores), value, scores).astype(scores.dtype), axis)

    fill.__name__ = f"softmax_filled_{abs(value):.0f}"
    return fill


def soft(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


for value in (-1e3, -2e3, -1e4, -6e4):
    answers.wrong("negative number instead of -inf", function=filled(value))


@answers.wrong("uniform weights")
def softmax_uniform(scores, axis=-1):
    return np.ones_like(scores) / np.array(scores.shape[axis], scores.dtype)


@answers.wrong("sum never below 1")
def softmax_guarded_sum(scores, axis=-1):
    e = np.exp(scores)
    return e / np.maximum(e.sum(axis=axis, keepdims=True), 1)


@answers.wrong("largest exponential subtracted")
def softmax_maximum_outside(scores, axis=-1):
    e = np.exp(scores) - np.exp(scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@answers.wrong("reshape instead of moving the axis")
def softmax_of_reshaped_rows(scores, axis=-1):
    rows = scores.reshape(-1, scores.shape[axis])
    powers = np.exp(rows - rows.max(1, keepdims=True))
    return (powers / powers.sum(1, keepdims=True)).reshape(scores.shape)


@answers.wrong("every negative axis treated as the last")
def softmax_of_the_last_if_negative(scores, axis=-1):
    axis = scores.ndim - 1 if axis < 0 else axis
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@answers.wrong("scores scaled by their number")
def softmax_scaled_along_the_axis(scores, axis=-1):
    s = scores / math.sqrt(scores.shape[axis])
    powers = np.exp(s - s.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@answers.wrong("scores clipped")
def softmax_clipped_at_minus_30(scores, axis=-1):
    s = scores - scores.max(axis=axis, keepdims=True)
    e = np.exp(np.maximum(s, -30))
    return e / e.sum(axis=axis, keepdims=True)
