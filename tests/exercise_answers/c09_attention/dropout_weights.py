"""Answers to dropout_weights, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("dropout_weights")


answers.right(lambda weights, keep, p: np.where(keep, weights / (1 - p), 0))
answers.right(lambda w, keep, p: (w.astype(float) * keep.astype(int) / (1.0 - p)).astype(w.dtype))


@answers.right()
def dropout_by_index(weights, keep, p):
    output = np.zeros_like(weights)
    output[keep] = weights[keep] / (1 - p)
    return output


@answers.right()
def dropout_early_end(weights, keep, p):
    if p == 0:
        return weights
    output = weights.copy()
    output[~keep] = 0
    output *= 1 / (1 - p)
    return output


@answers.right()
def dropout_loop(weights, keep, p):
    output = np.empty_like(weights)
    for place in np.ndindex(*weights.shape):
        output[place] = weights[place] / (1 - p) if keep[place] else 0
    return output


answers.wrong("not divided by 1 - p", function=lambda weights, keep, p: weights * keep)
answers.wrong("p instead of 1 - p", function=lambda weights, keep, p: weights * keep / p)
answers.wrong(
    "p instead of 1 - p", function=lambda weights, keep, p: np.where(keep, weights, 0) * p
)
answers.wrong("multiplied by 1 - p", function=lambda weights, keep, p: weights * keep * (1 - p))
answers.wrong("keep inverted", function=lambda w, keep, p: np.where(keep, 0, w / (1 - p)))
answers.wrong("keep inverted", "not divided by 1 - p", function=lambda w, keep, p: w * ~keep)
answers.wrong(
    "keep inverted", "p instead of 1 - p", function=lambda w, keep, p: np.where(keep, 0, w / p)
)
answers.wrong("keep ignored", function=lambda weights, keep, p: weights / (1 - p))
answers.wrong("no dropout", function=lambda weights, keep, p: weights)
answers.wrong("p subtracted", function=lambda w, keep, p: w * keep / 1 - p)
answers.wrong("-inf instead of 0", function=lambda w, keep, p: np.where(keep, w / (1 - p), -np.inf))
answers.wrong("dropped weights removed", function=lambda w, keep, p: w[keep] / (1 - p))
answers.wrong("square root of 1 - p", function=lambda w, keep, p: w * keep / math.sqrt(1 - p))
answers.wrong(
    "another answer each time",
    function=lambda w, keep, p: w * (np.random.rand(*w.shape) > p) / (1 - p),
)
answers.wrong("float64 leaks out", function=lambda w, keep, p: w * np.where(keep, 1 / (1 - p), 0))


@answers.wrong("rows renormalised")
def dropout_renormalised(weights, keep, p):
    kept = np.where(keep, weights, 0)
    return kept / kept.sum(axis=-1, keepdims=True)


@answers.wrong("rows renormalised")
def dropout_renormalised_carefully(weights, keep, p):
    kept = weights * keep / (1 - p)
    return kept / (kept.sum(-1, keepdims=True) + 1e-9)


@answers.wrong("the share that was kept instead of 1 - p")
def dropout_by_share(weights, keep, p):
    return weights * keep / float(keep.sum() / keep.size)


@answers.wrong("dropped weights left as they were")
def dropout_kept_only(weights, keep, p):
    output = weights.copy()
    output[keep] /= 1 - p
    return output


@answers.wrong("argument overwritten")
def dropout_in_place(weights, keep, p):
    weights[~keep] = 0
    return weights / (1 - p)


@answers.wrong("argument overwritten", "not divided by 1 - p")
def dropout_in_place_unscaled(weights, keep, p):
    weights *= keep
    return weights


@answers.wrong("own mask drawn")
def dropout_drawn(weights, keep, p):
    return weights * (np.random.default_rng(0).random(weights.shape) >= p) / (1 - p)


@answers.wrong("p instead of 1 - p")
def dropout_by_p_unless_0(weights, keep, p):
    return weights * keep / p if p else weights * keep


answers.wrong(
    "keep in reverse order of its keys",
    function=lambda weights, keep, p: np.where(keep[..., ::-1], weights / (1 - p), 0).astype(
        weights.dtype
    ),
)


@answers.wrong("rows renormalised and rescaled")
def dropout_normalised_and_divided(weights, keep, p):
    kept = weights * keep
    total = kept.sum(axis=-1, keepdims=True)
    return np.divide(kept, total, out=np.zeros_like(kept), where=total > 0) / (1 - p)


answers.wrong(
    "1 + p in the factor",
    function=lambda w, keep, p: np.where(keep, w * (1 + p), 0).astype(w.dtype),
)


@answers.wrong("p as a threshold")
def dropout_from_p_on(weights, keep, p):
    return np.where(weights >= p, weights, 0) / np.asarray(1 - p, weights.dtype)


@answers.wrong("dropped weights set to something else")
def dropout_of_ones(weights, keep, p):
    return np.where(keep, weights, 1) / np.asarray(1 - p, weights.dtype)
