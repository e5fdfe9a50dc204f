"""Weights times values: the steps, and what goes wrong in them."""

import math

import numpy as np

from ..model import Mistake, Step, alike, normal, ways
from .scores import softmax_of, swap
from .softmax import first_hot


def av_product_answer(do, weights, value):
    output = do.combine(do.weights_in(weights), do.values_in(value))
    return do.finish_output(output, weights, value)


AV_STEPS = {
    "weights_in": Step(lambda weights: weights, "the weights"),
    "values_in": lambda value: value,
    "combine": lambda weights, value: weights @ value,
    "finish_output": lambda output, weights, value: output,
}


def leading(array):
    return tuple(range(array.ndim - 2))


def random_weights(*shape, seed=0, dtype=np.float64):
    return softmax_of(normal(*shape, seed=seed, scale=2.0)).astype(dtype)


def _terms(weights, value):
    """What each key adds to each output: (..., n_q, n_k, d_v)."""
    return weights[..., None] * value[..., None, :, :]


def _spread(weights, reduce, axis):
    """One row, or one table, of weights in place of all."""
    return np.broadcast_to(reduce(weights, axis=axis, keepdims=True), weights.shape)


def _row_sums(weights):
    """The sums of the rows, with 1 for a row of zeros."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 1.0, total)


def _kept(choose, again):
    """The weights that are chosen, and 0 for the others; divided by their sum again, or not."""
    def weights_in(weights):
        kept = np.where(choose(weights), weights, 0.0)
        return kept / _row_sums(kept) if again else kept

    return weights_in


def _some_largest(k):
    return lambda weights: weights >= np.sort(weights, axis=-1)[..., -min(k, weights.shape[-1]), None]


def _as_many_keys_as_queries(weights, value):
    n_q, n_k = weights.shape[-2:]
    if n_q > n_k:
        raise IndexError(f"index {n_k} is out of bounds for axis 0 with size {n_k}")
    return weights[..., :n_q] @ value[..., :n_q, :]


def _some_queries(start, stop):
    """The outputs of these queries, and 0 for the others."""
    def finish(output, weights, value):
        found = np.zeros_like(output)
        found[..., start:stop, :] = output[..., start:stop, :]
        return found

    return finish


def _of_output(*functions):
    return ways("finish_output", *(lambda output, weights, value, f=f: f(output) for f in functions))


def _over_the_batch(reduce):
    """An output's leading axes reduced: all of them, or the first."""
    return (lambda out: reduce(out, axis=leading(out)) if out.ndim > 2 else out,
            lambda out: reduce(out, axis=0) if out.ndim > 2 else out)


AV_MISTAKES = (
    *alike("Output i is the sum over the keys j of weight (i, j) times value j.",
           "Which index is summed over, and which two stand in the answer?",
           # an einsum lets an axis of length 1 meet any other
           ("Aᵀ V instead of A V", (*ways("weights_in", swap),
                                    *ways("combine", lambda w, v: np.einsum("...ij,...id->...jd", w, v))),
            "The weights are transposed: output j mixes values by what the queries give to key j."),
           ("V A instead of A V", {"combine": lambda w, v: v @ w},
            "The product has its factors swapped, where the shapes fit at all."),
           ("transposed values", {"values_in": swap},
            "The values are transposed: the sum runs over features instead of keys."),
           ("A * V instead of A @ V", {"combine": lambda w, v: w * v},
            "Weights and values are multiplied entry by entry, where the shapes fit at all, and nothing is summed."),
           ("not summed", {"combine": _terms},
            "The answer has shape (..., n_q, n_k, d_v): each value times its weight, one by one."),
           ("summed over the features instead of the keys", {"combine": lambda w, v: _terms(w, v).sum(axis=-1)},
            "The answer has shape (..., n_q, n_k): each weight times the sum of its value's features."),
           ("summed over the queries instead of the keys", {"combine": lambda w, v: _terms(w, v).sum(axis=-3)},
            "The answer has shape (..., n_k, d_v): each value times the sum of its weights over all queries."),
           ("features summed", _of_output(lambda out: out.sum(axis=-1)),
            "Each query gets one number, the sum of its output's features."),
           ("outputs summed over the queries", _of_output(lambda out: out.sum(axis=-2)),
            "All queries together get one output, the sum of theirs."),
           ("outputs averaged over the queries", _of_output(lambda out: out.mean(axis=-2)),
            "All queries together get one output, the mean of theirs."),
           ("output transposed", _of_output(swap), "The answer has shape (..., d_v, n_q).")),
    Mistake("reshaped values", change={"values_in": lambda v: v.reshape(*v.shape[:-2], v.shape[-1], v.shape[-2])},
            does="The values' numbers are dealt out anew into rows.",
            why="reshape keeps the order of the numbers, row by row; rows and columns lose their meaning.",
            ask="What does row j of the values mean before and after your reshape?"),
    Mistake("rounded", change=_of_output(*(lambda out, n=n: np.round(out, n) for n in range(1, 7))),
            does="The output is rounded.",
            why="Digits that are thrown away are missing in everything that follows.",
            ask="Which of your operations throws digits away?"),
    *alike("Leading axes are kept apart: each sequence and each head has weights and outputs of its own.",
           "Which indices must stand in the answer beside i?",
           ("weights averaged over the batch", ways(
               "weights_in", lambda w: _spread(w, np.mean, leading(w)), lambda w: w.mean(axis=0) if w.ndim > 2 else w),
            "All sequences of a batch, and all heads, use the same weights: their mean."),
           ("outputs summed over the batch", _of_output(
               *_over_the_batch(np.sum), *_over_the_batch(np.mean),
               lambda out: np.broadcast_to(out.mean(axis=leading(out), keepdims=True), out.shape)),
            "The outputs of a batch are added or averaged: its sequences are mixed."),
           ("np.dot of batched weights", {"combine": np.dot},
            "With leading axes each sequence of the batch meets every other one, and the answer has too many axes.")),
    *alike("Each query mixes the values in its own way; that is the point of attention.",
           "Which row of the weights belongs to query i?",
           ("weights averaged over the queries", {"weights_in": lambda w: _spread(w, np.mean, -2)},
            "All queries get the same output."),
           ("the first query's weights for all", ways(
               "weights_in", lambda w: np.broadcast_to(w[..., :1, :], w.shape),
               lambda w: np.broadcast_to(w[..., -1:, :], w.shape)),
            "All queries use the weights of the first, or of the last one."),
           ("one query left out",
            ways("finish_output", _some_queries(0, -1), _some_queries(1, None), _some_queries(0, 1)),
            "The outputs of some queries stay 0."),
           ("only the first query", _of_output(lambda out: out[..., :1, :]),
            "The answer holds one output, that of the first query; there are n_q queries."),
           ("only the last query", _of_output(lambda out: out[..., -1:, :]),
            "The answer holds one output, that of the last query; there are n_q queries.")),
    *alike("All n_k values count, each with its weight; many small weights add up.",
           "Where does your output depend on the weights, and what do the smaller ones contribute?",
           ("weights ignored", ways("weights_in", lambda w: np.full_like(w, 1 / w.shape[-1]), np.ones_like),
            "Every query gets the plain mean, or the sum, of all values."),
           ("only the best key's value", ways("weights_in", lambda w: first_hot(w, -1),
                                              lambda w: (w == w.max(axis=-1, keepdims=True)) / 1.0),
            "Each query gets the one value with the largest weight."),
           ("only the largest weight", ways("weights_in", _kept(_some_largest(1), False)),
            "All weights of a query but the largest are 0.")),
    *alike("All n_k values count; positions run from 0 to n_k - 1, and range(n) ends at n - 1.",
           "Which keys does your sum run over, and where does its number come from?",
           ("one key left out", ways("combine", lambda w, v: w[..., :-1] @ v[..., :-1, :],
                                     lambda w, v: w[..., 1:] @ v[..., 1:, :]),
            "The first or the last key is missing from every output."),
           ("every second key left out", ways("combine", lambda w, v: w[..., ::2] @ v[..., ::2, :],
                                              lambda w, v: w[..., 1::2] @ v[..., 1::2, :]),
            "Only every second key's value counts."),
           ("one key alone",
            ways("combine", lambda w, v: w[..., -1:] @ v[..., -1:, :], lambda w, v: w[..., :1] @ v[..., :1, :]),
            "Only the first or the last key's value counts, as where = stands for += in a loop."),
           ("n_q keys instead of n_k", {"combine": _as_many_keys_as_queries},
            "The sum runs over as many keys as there are queries: further keys do not count, and where there are fewer "
            "it stops with an error.")),
    *alike("All n_k values count, each with its weight; many small weights add up.",
           "What do the smaller weights contribute?",
           ("only some of the largest weights", ways(
               "weights_in", *(_kept(_some_largest(k), again) for k in (2, 3) for again in (False, True))),
            "Only the two or three largest weights of a query count."),
           ("small weights set to 0", ways("weights_in", *(
               _kept(lambda w, limit=limit: w >= limit, again)
               for limit in (0.1, 0.05, 0.01) for again in (False, True))),
            "Weights below a limit count as 0."), alone=True),
    *alike("Weight j belongs to value j: both run over the keys in the same order.",
           "Which value belongs to the first column of the weights?",
           ("keys in reverse order", {"values_in": lambda v: v[..., ::-1, :]},
            "The first key's weight meets the last value."),
           ("keys shifted by one", (
               *ways("values_in", lambda v: np.roll(v, 1, -2), lambda v: np.roll(v, -1, -2)),
               *ways("combine", lambda w, v: w[..., :-1] @ v[..., 1:, :], lambda w, v: w[..., 1:] @ v[..., :-1, :])),
            "Weight j meets the value beside value j.")),
    *alike("The product takes the weights as they are: they may sum to less than 1 on purpose.",
           "What should happen to a row of weights that sums to 0.8?",
           ("weights normalised again",
            ways("weights_in", lambda w: w / w.sum(axis=-1, keepdims=True), lambda w: w / _row_sums(w), *(
               lambda w, e=e: w / (w.sum(axis=-1, keepdims=True) + e) for e in (1e-6, 1e-8, 1e-9, 1e-12))),
            "The weights are divided by their sum once more."),
           ("softmax of the weights", {"weights_in": softmax_of}, "The weights go through another softmax.")),
    *alike("Nothing is left to be scaled: with weights that sum to 1 the weighted sum is a mean already.",
           "What should the output be if all values are equal?",
           ("divided by the number of keys", {"values_in": lambda v: v / v.shape[-2]},
            "The output is n_k times too small."),
           ("divided by the number of features",
            ways("values_in", lambda v: v / math.sqrt(v.shape[-1]), lambda v: v / v.shape[-1]),
            "The output is divided by d_v or by its square root.")),
    *alike("Each value counts as much as its weight says: the two are multiplied, and the products are added.",
           "What should a value with the weight 0 contribute, and one with the weight 1?",
           ("largest product instead of the sum", {"combine": lambda w, v: _terms(w, v).max(axis=-2)},
            "Of the products of weights and values only the largest counts, feature by feature."),
           ("median of the values", {"combine": lambda w, v: np.broadcast_to(
               np.median(v, axis=-2, keepdims=True), (*w.shape[:-1], v.shape[-1])).copy()},
            "Every query gets the median of all values."),
           ("logarithms of the weights", ways("weights_in", *(
               lambda w, e=e: np.log(w + e) for e in (0.0, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12))),
            "The values are mixed with the logarithms of the weights."),
           ("mean of the values added", ways("finish_output", lambda out, w, v: out + v.mean(axis=-2, keepdims=True),
                                             lambda out, w, v: out + v.sum(axis=-2, keepdims=True)),
            "The mean or the sum of all values is added to the output."),
           ("mean of the values subtracted",
            ways("finish_output", lambda out, w, v: out - v.mean(axis=-2, keepdims=True),
                                                  lambda out, w, v: out - v.sum(axis=-2, keepdims=True)),
            "The mean or the sum of all values is subtracted from the output, or from the values."),
           ("minimum of weight and value", {"combine": lambda w, v: np.minimum(
               w[..., None], v[..., None, :, :]).sum(axis=-2)},
            "Of each weight and value the smaller one is added up."),
           ("weights added to the values", {"combine": lambda w, v: (w[..., None] + v[..., None, :, :]).sum(axis=-2)},
            "Each weight is added to the value, not multiplied with it."), alone=True),
)
