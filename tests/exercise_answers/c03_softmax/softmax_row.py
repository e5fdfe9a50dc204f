"""Answers to softmax_row, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("softmax_row")


answers.wrong("ready-made function", function=attnlib.softmax)


@answers.right()
def row_plain(scores):
    e = np.exp(scores - np.max(scores))
    return e / np.sum(e)


@answers.right()
def row_by_loop(scores):
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    return np.array([p / sum(powers) for p in powers], dtype=scores.dtype)


@answers.right()
def row_by_log_sum_exp(scores):
    wide = scores.astype(np.float64)
    top = wide.max()
    return np.exp(wide - (top + np.log(np.exp(wide - top).sum()))).astype(scores.dtype)


@answers.right()
def row_by_pairs(scores):
    with np.errstate(over="ignore"):
        return 1 / np.exp(scores[None, :] - scores[:, None]).sum(axis=1)


@answers.wrong("no maximum subtracted")
def row_naive(scores):
    return np.exp(scores) / np.exp(scores).sum()


@answers.wrong("no maximum subtracted", "float64 leaks out")
def row_naive_math(scores):
    powers = [math.exp(s) for s in scores]
    return np.array(powers) / sum(powers)


@answers.wrong("no maximum subtracted", "list instead of an array")
def row_naive_list(scores):
    powers = [math.e ** float(s) for s in scores]
    return [p / sum(powers) for p in powers]


@answers.wrong("minimum subtracted instead of maximum")
def row_minimum(scores):
    e = np.exp(scores - scores.min())
    return e / e.sum()


@answers.wrong("mean subtracted instead of maximum")
def row_mean(scores):
    e = np.exp(scores - np.mean(scores))
    return e / e.sum()


@answers.wrong("maximum of absolute values")
def row_abs_max(scores):
    e = np.exp(scores - np.abs(scores).max())
    return e / e.sum()


@answers.wrong("scores clipped")
def row_clipped(scores):
    e = np.exp(np.clip(scores, -50, 50))
    return e / e.sum()


@answers.wrong("not divided by the sum")
def row_not_normalised(scores):
    return np.exp(scores - scores.max())


@answers.wrong("no exponential")
def row_shares(scores):
    return scores / scores.sum()


@answers.wrong("argmax instead of softmax")
def row_argmax(scores):
    out = np.zeros_like(scores)
    out[np.argmax(scores)] = 1
    return out


@answers.wrong("sigmoid instead of softmax")
def row_sigmoid(scores):
    return 1 / (1 + np.exp(-scores))


@answers.wrong("power of 2 instead of e")
def row_two(scores):
    e = np.exp2(scores - scores.max())
    return e / e.sum()


@answers.wrong("sign flipped")
def row_flipped(scores):
    e = np.exp(-(scores - scores.min()))
    return e / e.sum()


@answers.wrong("epsilon in the denominator")
def row_epsilon(scores):
    e = np.exp(scores - scores.max())
    return e / (e.sum() + 1e-8)


@answers.wrong("divided by the mean")
def row_by_mean(scores):
    e = np.exp(scores - scores.max())
    return e / e.mean()


@answers.wrong("logarithm of the softmax")
def row_log(scores):
    shifted = scores - scores.max()
    return shifted - np.log(np.exp(shifted).sum())


@answers.wrong("no maximum subtracted", "epsilon in the denominator")
def row_naive_epsilon(scores):
    e = np.exp(scores)
    return e / (e.sum() + 1e-6)


@answers.wrong("not divided by the sum", "no maximum subtracted")
def row_exp_alone(scores):
    return np.exp(scores)


@answers.wrong("argument overwritten")
def row_in_place(scores):
    scores -= scores.max()
    np.exp(scores, out=scores)
    scores /= scores.sum()
    return scores


@answers.wrong("rounded")
def row_rounded(scores):
    e = np.exp(scores - scores.max())
    return np.round(e / e.sum(), 3)


@answers.wrong("axis kept")
def row_two_axes(scores):
    e = np.exp(scores - scores.max())[None, :]
    return e / e.sum(axis=1, keepdims=True)


def sum_so_far(scores):
    total, weights = 0.0, np.zeros_like(scores)
    for i, score in enumerate(scores):
        total += np.exp(score - scores.max())
        weights[i] = np.exp(score - scores.max()) / total
    return weights


for names, function in ((["divided by the sum so far"], sum_so_far),):
    if function.__name__ == "<lambda>":
        function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("median subtracted instead of maximum")
def row_with_median(scores):
    e = np.exp(scores - np.median(scores).astype(scores.dtype))
    return e / e.sum()


@answers.wrong("scores clipped")
def row_clipped_at_60(scores):
    e = np.exp(np.clip(scores, -60, 60))
    return e / e.sum()


@answers.wrong("a fixed number subtracted instead of the maximum")
def row_less_300(scores):
    e = np.exp(scores - 300)
    return e / e.sum()


@answers.wrong("one score left out of the sum")
def row_without_last(scores):
    e = np.exp(scores - scores.max())
    return e / e[:-1].sum() if len(e) > 1 else e / 0


@answers.wrong("uniform weights")
def row_uniform(scores):
    return np.ones_like(scores) / len(scores)


@answers.wrong("sum never below 1")
def softmax_row_guarded_sum(scores):
    e = np.exp(scores)
    return e / np.maximum(e.sum(), 1)


@answers.wrong("largest exponential subtracted")
def softmax_row_maximum_outside(scores):
    e = np.exp(scores) - np.exp(scores.max())
    return e / e.sum()


@answers.wrong("scores clipped")
def row_clipped_at_minus_30(scores):
    e = np.exp(np.maximum(scores - scores.max(), -30))
    return e / e.sum()


@answers.wrong("scores clipped")
def row_clipped_at_minus_20(scores):
    e = np.exp(np.maximum(scores - scores.max(), -20))
    return e / e.sum()
