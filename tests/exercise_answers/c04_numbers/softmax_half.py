"""Answers to softmax_half, written as learners write them."""

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("softmax_half")


def soft(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


answers.right(lambda scores: soft(scores.astype(np.float32)).astype(scores.dtype))
answers.right(lambda scores: soft(scores.astype(np.float64)).astype(np.float16))


@answers.right()
def half_by_logsumexp(scores):
    wide = scores.astype(np.float64)
    return np.exp(wide - np.logaddexp.reduce(wide, axis=-1, keepdims=True)).astype(np.float16)


answers.wrong("float32 leaks out", function=lambda scores: soft(scores.astype(np.float32)))
answers.wrong("computed in float16", function=soft)


@answers.wrong("no maximum subtracted")
def half_without_maximum(scores):
    powers = np.exp(scores.astype(np.float64))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float16)


@answers.wrong("softmax over the queries")
def half_by_columns(scores):
    wide = scores.astype(np.float32)
    powers = np.exp(wide - wide.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=max(-2, -wide.ndim), keepdims=True)).astype(np.float16)


@answers.wrong("exponentials rounded to float16")
def half_exponentials(scores):
    wide = scores.astype(np.float32)
    powers = np.exp(wide - wide.max(axis=-1, keepdims=True)).astype(np.float16).astype(np.float32)
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float16)


@answers.wrong("one maximum for the whole array")
def half_by_one_maximum(scores):
    wide = scores.astype(np.float32)
    powers = np.exp(wide - wide.max())
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float16)


@answers.wrong("maximum subtracted in float16")
def half_shifted_too_early(scores):
    shifted = (scores - scores.max(axis=-1, keepdims=True)).astype(np.float32)
    powers = np.exp(shifted)
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float16)


@answers.wrong("exponentials rounded to float16")
def half_until_the_sum(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True, dtype=np.float32)).astype(np.float16)


@answers.wrong("log-sum-exp in float32")
def half_by_narrow_logsumexp(scores):
    wide = scores.astype(np.float32)
    return np.exp(wide - np.logaddexp.reduce(wide, axis=-1, keepdims=True)).astype(np.float16)


@answers.wrong("computed in float16")
def half_from_the_exponentials(scores):
    wide = scores.astype(np.float32)
    powers = np.exp(wide - wide.max(axis=-1, keepdims=True)).astype(np.float16)
    return powers / powers.sum(axis=-1, keepdims=True)


@answers.wrong("scores clipped")
def half_of_clipped(scores):
    powers = np.exp(np.clip(scores.astype(np.float32), -80, 80))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float16)


@answers.wrong("sum in float16")
def half_by_a_rounded_sum(scores):
    wide = scores.astype(np.float32)
    powers = np.exp(wide - wide.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True).astype(np.float16)).astype(np.float16)


@answers.wrong("no maximum subtracted", "softmax over the first axis")
def half_of_columns(scores):
    powers = np.exp(scores.astype(np.float32))
    return (powers / powers.sum(axis=0, keepdims=True)).astype(np.float16)


answers.wrong(
    "also rounded",
    function=lambda scores: soft(scores.astype(np.float32)).round(3).astype(np.float16),
)
answers.wrong(
    "logarithm of the softmax",
    function=lambda scores: np.log(soft(scores.astype(np.float32))).astype(np.float16),
)


@answers.wrong("power of 2 instead of e")
def half_by_powers_of_2(scores):
    wide = scores.astype(np.float32)
    powers = np.exp2(wide - wide.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float16)


@answers.wrong("divided again in float16")
def half_divided_again(scores):
    wide = scores.astype(np.float32)
    exps = np.exp(wide - wide.max(axis=-1, keepdims=True))
    half = (exps / exps.sum(axis=-1, keepdims=True)).astype(np.float16)
    return half / half.sum(axis=-1, keepdims=True)


@answers.wrong("sum in float16")
def half_with_a_narrow_sum(scores):
    wide = scores.astype(np.float32)
    exps = np.exp(wide - wide.max(axis=-1, keepdims=True))
    return (exps / np.sum(exps, axis=-1, keepdims=True, dtype=np.float16)).astype(np.float16)


@answers.wrong("rounded before the division")
def half_divided_at_the_end(scores):
    s = scores.astype(np.float32)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    total = e.sum(axis=-1, keepdims=True)
    return e.astype(np.float16) / total.astype(np.float16)


@answers.wrong("logarithm rounded to float16")
def half_of_the_logarithm(scores):
    logs = attnlib.log_softmax(scores.astype(np.float32)).astype(np.float16)
    return np.exp(logs)


@answers.wrong("maximum never below 0")
def at_least_zero_subtracted(scores):
    s = scores.astype(np.float64)
    powers = np.exp(s - np.maximum(s.max(axis=-1, keepdims=True), 0))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float16)


@answers.wrong("minimum subtracted instead of maximum")
def least_subtracted(scores):
    s = scores.astype(np.float64)
    powers = np.exp(s - s.min(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float16)
