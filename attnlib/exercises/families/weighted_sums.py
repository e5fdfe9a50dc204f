"""Weights times values: the steps, and what goes wrong in them."""

import math

import numpy as np

from ..model import Mistake, Step, normal
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


def _product_of(letters):
    """The weighted sum by an einsum: it lets an axis of length 1 meet any other."""
    return {"combine": lambda weights, value: np.einsum(letters, weights, value)}


def _rounded_output(digits):
    return {"finish_output": lambda output, weights, value: np.round(output, digits)}


def _some_queries(start, stop):
    """The outputs of these queries, and 0 for the others."""
    def finish(output, weights, value):
        found = np.zeros_like(output)
        found[..., start:stop, :] = output[..., start:stop, :]
        return found

    return {"finish_output": finish}


def _largest_product(weights, value):
    return (weights[..., None] * value[..., None, :, :]).max(axis=-2)


def _as_many_keys_as_queries(weights, value):
    n_q, n_k = weights.shape[-2:]
    if n_q > n_k:
        raise IndexError(f"index {n_k} is out of bounds for axis 0 with size {n_k}")
    return weights[..., :n_q] @ value[..., :n_q, :]


def _batch_mean(weights):
    return np.broadcast_to(weights.mean(axis=leading(weights), keepdims=True), weights.shape)


def _query_mean(weights):
    return np.broadcast_to(weights.mean(axis=-2, keepdims=True), weights.shape)


def _best_only(weights):
    return (weights == weights.max(axis=-1, keepdims=True)) / 1.0


def _guarded_sums(weights):
    """The sums of the rows, with 1 for a row of zeros."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 1.0, total)


def _largest_alone(weights):
    return np.where(weights == weights.max(axis=-1, keepdims=True), weights, 0.0)


def _some_largest(k, again):
    """The k largest weights of a row; divided by their sum again, or not."""
    def choose(weights):
        limit = np.sort(weights, axis=-1)[..., -min(k, weights.shape[-1]), None]
        kept = np.where(weights >= limit, weights, 0.0)
        return kept / _guarded_sums(kept) if again else kept

    return {"weights_in": choose}


def _above(limit, again):
    """The weights of at least this size; divided by their sum again, or not."""
    def choose(weights):
        kept = np.where(weights >= limit, weights, 0.0)
        return kept / _guarded_sums(kept) if again else kept

    return {"weights_in": choose}


def _first_query(weights):
    return np.broadcast_to(weights[..., :1, :], weights.shape)


def _collapsed(reduce):
    def finish(output, weights, value):
        return reduce(output, axis=leading(output)) if output.ndim > 2 else output

    return finish


def _reshaped(value):
    return value.reshape(*value.shape[:-2], value.shape[-1], value.shape[-2])


AV_MISTAKES = (
    Mistake("Aᵀ V instead of A V", change=({"weights_in": swap}, _product_of("...ij,...id->...jd")),
            does="The weights are transposed: output j mixes values by what the queries give to key j.",
            why="Output i is the sum over keys j of weight (i, j) times value j. Aᵀ V sums over the "
                "queries, and fits only for n_q = n_k.",
            ask="Which index is summed over, that of the query or that of the key?"),
    Mistake("weights averaged over the batch",
            change=({"weights_in": _batch_mean}, {"weights_in": lambda w: w.mean(axis=0) if w.ndim > 2 else w}),
            does="All sequences of a batch, and all heads, use the same weights: their mean.",
            why="Leading axes are kept apart: each sequence and each head has weights of its own.",
            ask="Which indices of the weights may the sum touch?"),
    Mistake("weights averaged over the queries", change={"weights_in": _query_mean},
            does="All queries get the same output.",
            why="Each query mixes the values in its own way; that is the point of attention.",
            ask="What makes output i different from output j?"),
    Mistake("weights ignored", change=({"weights_in": lambda w: np.full_like(w, 1 / w.shape[-1])},
                                       {"weights_in": lambda w: np.ones_like(w)}),
            does="Every query gets the plain mean, or the sum, of all values.",
            why="A value counts as much as its weight says.",
            ask="Where does your output depend on the weights?"),
    Mistake("only the best key's value",
            change=({"weights_in": lambda w: first_hot(w, -1)}, {"weights_in": _best_only}),
            does="Each query gets the one value with the largest weight.",
            why="All values count, each with its weight; choosing one has no useful gradient.",
            ask="What do the smaller weights contribute?"),
    Mistake("only the largest weight", change=({"weights_in": _largest_alone},),
            does="All weights of a query but the largest are 0.",
            why="All values count, each with its weight; the small ones together may weigh more than the largest.",
            ask="What do the smaller weights contribute?"),
    Mistake("only some of the largest weights", alone=True,
            change=tuple(_some_largest(k, again) for k in (2, 3) for again in (False, True)),
            does="Only the two or three largest weights of a query count.",
            why="All values count, each with its weight.",
            ask="What do the smaller weights contribute?"),
    Mistake("small weights set to 0", alone=True,
            change=tuple(_above(limit, again) for limit in (0.1, 0.05, 0.01) for again in (False, True)),
            does="Weights below a limit count as 0.",
            why="All values count, each with its weight; many small weights add up.",
            ask="What do the smaller weights contribute?"),
    Mistake("the first query's weights for all", alone=True,
            change=({"weights_in": _first_query}, {"weights_in": lambda w: np.broadcast_to(w[..., -1:, :], w.shape)}),
            does="All queries use the weights of the first, or of the last one.",
            why="Each query mixes the values in its own way; that is the point of attention.",
            ask="Which row of the weights belongs to query i?"),
    Mistake("weights normalised again",
            change=({"weights_in": lambda w: w / w.sum(axis=-1, keepdims=True)},
                    {"weights_in": lambda w: w / _guarded_sums(w)},
                    *({"weights_in": lambda w, e=e: w / (w.sum(axis=-1, keepdims=True) + e)}
                      for e in (1e-6, 1e-8, 1e-9, 1e-12))),
            does="The weights are divided by their sum once more.",
            why="That undoes dropout and everything else that was done to the weights on purpose. "
                "The product takes them as they are.",
            ask="What should happen to a row of weights that sums to 0.8?"),
    Mistake("softmax of the weights", change={"weights_in": softmax_of},
            does="The weights go through another softmax, and are nearly equal.",
            why="They are weights already; the product takes them as they are.",
            ask="What does a softmax do to numbers between 0 and 1?"),
    Mistake("A * V instead of A @ V", change={"combine": lambda w, v: w * v},
            does="Weights and values are multiplied entry by entry, where the shapes fit at all.",
            why="Each query sums over all values; * sums nothing.",
            ask="Which operator sums over the keys, * or @?"),
    Mistake("V A instead of A V", change={"combine": lambda w, v: v @ w},
            does="The product has its factors swapped, where the shapes fit at all.",
            why="A product sums over the last axis of the left factor: that must be the keys' axis.",
            ask="Which of the two has the keys on its last axis?"),
    Mistake("transposed values", change={"values_in": swap},
            does="The values are transposed: the sum runs over features instead of keys.",
            why="Value j is row j. The keys' axis of the weights meets the rows of the values.",
            ask="What does the sum run over, keys or features?"),
    Mistake("reshaped values", change={"values_in": _reshaped},
            does="The values' numbers are dealt out anew into rows.",
            why="reshape keeps the order in memory; rows and columns lose their meaning.",
            ask="What does row j of the values mean before and after your reshape?"),
    Mistake("divided by the number of keys", change={"values_in": lambda v: v / v.shape[-2]},
            does="The output is n_k times too small.",
            why="The weights sum to 1 already: their weighted sum is the mean.",
            ask="What is the output if all values are equal?"),
    Mistake("divided by the number of features",
            change=({"values_in": lambda v: v / math.sqrt(v.shape[-1])}, {"values_in": lambda v: v / v.shape[-1]}),
            does="The output is divided by d_v or by its square root.",
            why="A scale belongs to the scores, before the softmax. The weights sum to 1, and nothing is left to "
                "be scaled.",
            ask="What is the output if all values are equal?"),
    Mistake("not summed", change={"combine": lambda w, v: w[..., None] * v[..., None, :, :]},
            does="The answer has shape (..., n_q, n_k, d_v): each value times its weight, one by one.",
            why="The output is their sum over the keys, which have no axis in it.",
            ask="Which index must not stand in the answer?"),
    Mistake("largest product instead of the sum", change={"combine": _largest_product},
            does="Of the products of weights and values only the largest counts, feature by feature.",
            why="The output is the sum of all of them: each value counts as much as its weight says.",
            ask="What becomes of the products that are not the largest?"),
    Mistake("keys shifted by one", alone=True,
            change=({"values_in": lambda value: np.roll(value, 1, -2)}, {"values_in": lambda value: np.roll(value, -1, -2)},
                    {"combine": lambda w, v: w[..., :-1] @ v[..., 1:, :]},
                    {"combine": lambda w, v: w[..., 1:] @ v[..., :-1, :]}),
            does="Weight j meets the value beside value j.",
            why="Weight j belongs to value j: both run over the keys in the same order.",
            ask="Which value belongs to the first column of the weights?"),
    Mistake("every second key left out",
            change=({"combine": lambda w, v: w[..., ::2] @ v[..., ::2, :]},
                    {"combine": lambda w, v: w[..., 1::2] @ v[..., 1::2, :]}),
            does="Only every second key's value counts.",
            why="All n_k values count; a step of 2 in a slice or a range skips half of them.",
            ask="Which keys does your sum run over?"),
    Mistake("median of the values", alone=True,
            change={"combine": lambda w, v: np.broadcast_to(np.median(v, axis=-2, keepdims=True),
                                                            (*w.shape[:-1], v.shape[-1])).copy()},
            does="Every query gets the median of all values.",
            why="A value counts as much as its weight says.",
            ask="Where does your output depend on the weights?"),
    Mistake("logarithms of the weights", alone=True,
            change=tuple({"weights_in": lambda w, e=e: np.log(w + e)} for e in (0.0, 1e-9, 1e-8, 1e-6, 1e-12, 1e-10, 1e-7)),
            does="The values are mixed with the logarithms of the weights.",
            why="The weights are shares of one whole, and each value counts as much as its share.",
            ask="What should a value with the weight 0 contribute?"),
    Mistake("mean of the values added", alone=True,
            change=({"finish_output": lambda out, w, v: out + v.mean(axis=-2, keepdims=True)},
                    {"finish_output": lambda out, w, v: out + v.sum(axis=-2, keepdims=True)}),
            does="The mean or the sum of all values is added to the output.",
            why="Output i is the weighted sum alone.",
            ask="Which of your lines adds something to the weighted sum?"),
    Mistake("mean of the values subtracted", alone=True,
            change=({"finish_output": lambda out, w, v: out - v.mean(axis=-2, keepdims=True)},
                    {"finish_output": lambda out, w, v: out - v.sum(axis=-2, keepdims=True)}),
            does="The mean or the sum of all values is subtracted from the output, or from the values.",
            why="Output i is the weighted sum alone.",
            ask="Which of your lines subtracts something from the weighted sum?"),
    Mistake("minimum of weight and value", alone=True, change={"combine": lambda w, v: np.minimum(
                w[..., None], v[..., None, :, :]).sum(axis=-2)},
            does="Of each weight and value the smaller one is added up.",
            why="Each value counts as much as its weight says: the two are multiplied.",
            ask="Which operation joins a weight and a value?"),
    Mistake("weights added to the values", alone=True, change={"combine": lambda w, v: (
                w[..., None] + v[..., None, :, :]).sum(axis=-2)},
            does="Each weight is added to the value, not multiplied with it.",
            why="Each value counts as much as its weight says: the two are multiplied.",
            ask="What should a value with the weight 0 contribute?"),
    Mistake("keys in reverse order",
            change=({"values_in": lambda value: value[..., ::-1, :]},),
            does="The first key's weight meets the last value.",
            why="Weight j belongs to value j: both run over the keys in the same order.",
            ask="Which value belongs to the first column of the weights?"),
    Mistake("one query left out", change=(_some_queries(0, -1), _some_queries(1, None), _some_queries(0, 1)),
            does="The outputs of some queries stay 0.",
            why="There are n_q outputs; positions run from 0 to n_q - 1, and range(n) ends at n - 1.",
            ask="Which queries does your loop run over?"),
    Mistake("only the first query", change={"finish_output": lambda out, w, v: out[..., :1, :]},
            does="The answer holds one output; there are n_q queries.",
            why="Each query has an output of its own: shape (..., n_q, d_v).",
            ask="How many rows should the answer have?"),
    Mistake("only the last query", change={"finish_output": lambda out, w, v: out[..., -1:, :]},
            does="The answer holds one output, that of the last query; there are n_q queries.",
            why="Each query has an output of its own: shape (..., n_q, d_v).",
            ask="How many rows should the answer have?"),
    Mistake("outputs summed over the queries",
            change={"finish_output": lambda out, w, v: out.sum(axis=-2)},
            does="All queries together get one output, the sum of theirs.",
            why="The sum runs over the keys; each query keeps an output of its own.",
            ask="Which index disappears, and which stays?"),
    Mistake("outputs averaged over the queries",
            change={"finish_output": lambda out, w, v: out.mean(axis=-2)},
            does="All queries together get one output, the mean of theirs.",
            why="Nothing runs over the queries: each of them keeps an output of its own.",
            ask="Which index disappears, and which stays?"),
    Mistake("rounded", change=tuple(map(_rounded_output, (1, 2, 3, 4, 5, 6))),
            does="The output is rounded.",
            why="Digits that are thrown away are missing in everything that follows.",
            ask="Which of your operations throws digits away?"),
    Mistake("outputs summed over the batch",
            change=({"finish_output": _collapsed(np.sum)}, {"finish_output": _collapsed(np.mean)},
                    {"finish_output": lambda out, w, v: out.sum(axis=0) if out.ndim > 2 else out},
                    {"finish_output": lambda out, w, v: out.mean(axis=0) if out.ndim > 2 else out},
                    {"finish_output": lambda out, w, v: np.broadcast_to(
                        out.mean(axis=leading(out), keepdims=True), out.shape)}),
            does="The outputs of a batch are added or averaged: its sequences are mixed.",
            why="Leading axes are kept: each sequence and each head has an output of its own.",
            ask="Which indices must stand in the answer beside i?"),
    Mistake("one key left out",
            change=({"combine": lambda w, v: w[..., :-1] @ v[..., :-1, :]},
                    {"combine": lambda w, v: w[..., 1:] @ v[..., 1:, :]}),
            does="The first or the last key is missing from every output.",
            why="All n_k values count; positions run from 0 to n_k - 1, and range(n) ends at n - 1.",
            ask="Which keys does your sum run over?"),
    Mistake("one key alone",
            change=({"combine": lambda w, v: w[..., -1:] @ v[..., -1:, :]},
                    {"combine": lambda w, v: w[..., :1] @ v[..., :1, :]}),
            does="Only the first or the last key's value counts.",
            why="All n_k terms are added. = instead of += in a loop keeps the last one only.",
            ask="What does your loop do with the terms before?"),
    Mistake("n_q keys instead of n_k", change={"combine": _as_many_keys_as_queries},
            does="The sum runs over as many keys as there are queries: further keys do not count, and where there are "
                 "fewer it stops with an error.",
            why="n_q, the weights' last axis but one, counts the queries. The sum runs over the n_k keys, the last axis.",
            ask="Which axis of the weights does your loop take its length from?"),
    Mistake("np.dot of batched weights", change={"combine": np.dot},
            does="With leading axes each sequence of the batch meets every other one, and the "
                 "answer has too many axes.",
            why="np.dot pairs all leading axes of both arrays; @ and np.matmul go through them together.",
            ask="Which product treats leading axes as a batch?"),
    Mistake("output transposed", change={"finish_output": lambda out, w, v: swap(out)},
            does="The answer has shape (..., d_v, n_q).",
            why="Row i of the output belongs to query i, as in the weights.",
            ask="What should one row of the output belong to?"),
    Mistake("summed over the features instead of the keys", change=_product_of("...ij,...jd->...ij"),
            does="The answer has shape (..., n_q, n_k): each weight times the sum of its value's features.",
            why="The sum runs over the keys; each of the d_v features keeps its own.",
            ask="Which index disappears, and which stays?"),
    Mistake("summed over the queries instead of the keys", change=_product_of("...ij,...jd->...jd"),
            does="The answer has shape (..., n_k, d_v): each value times the sum of its weights over all queries.",
            why="The sum runs over the keys; each query keeps an output of its own.",
            ask="Which index disappears, and which stays?"),
    Mistake("features summed", change={"finish_output": lambda out, w, v: out.sum(axis=-1)},
            does="Each query gets one number.",
            why="The sum runs over the keys; each of the d_v features keeps its own.",
            ask="Which index disappears, and which stays?"),
)


def random_weights(*shape, seed=0, dtype=np.float64):
    return softmax_of(normal(*shape, seed=seed, scale=2.0)).astype(dtype)
