"""The exercises of the part "The AV product", and the steps and mistakes that later parts reuse."""

import dataclasses
import itertools
import math
from types import SimpleNamespace

import numpy as np

from . import raw_scores, softmax
from .families.memory import grows
from .model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal
from .raw_scores import swap

PART = "The AV product"


# ---------------------------------------------------------------- av_product

def av_product_answer(do, weights, value):
    output = do.combine(do.weights_in(weights), do.values_in(value))
    return do.finish_output(output, weights, value)


AV_STEPS = {
    "weights_in": lambda weights: weights,
    "values_in": lambda value: value,
    "combine": lambda weights, value: weights @ value,
    "finish_output": lambda output, weights, value: output,
}


def _leading(array):
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
    return np.broadcast_to(weights.mean(axis=_leading(weights), keepdims=True), weights.shape)


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
        return reduce(output, axis=_leading(output)) if output.ndim > 2 else output

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
            change=({"weights_in": lambda w: softmax._first_hot(w, -1)}, {"weights_in": _best_only}),
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
    Mistake("softmax of the weights", change={"weights_in": raw_scores._softmax},
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
                        out.mean(axis=_leading(out), keepdims=True), out.shape)}),
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

DROPPED = "weights after dropout"


def _weights(*shape, seed=0, dtype=np.float64):
    return raw_scores._softmax(normal(*shape, seed=seed, scale=2.0)).astype(dtype)


def _av_cases():
    f4, f2 = np.float32, np.float16
    return [
        Case(PLAIN, (np.array([[0.5, 0.5, 0.0]]), np.array([[2.0, 4.0], [6.0, 0.0], [1.0, 1.0]]))),
        Case(PLAIN, (np.array([[1.0, 0.0], [0.25, 0.75], [0.5, 0.5]]), np.array([[4.0], [8.0]]))),
        Case(PLAIN, (_weights(5, 7, seed=1), normal(7, 3, seed=2))),
        Case(PLAIN, (_weights(7, 3, seed=3), normal(3, 11, seed=4))),
        Case(SQUARE, (np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[2.0, 4.0], [6.0, 0.0]]))),
        Case(SQUARE, (_weights(5, 5, seed=5), normal(5, 3, seed=6))),
        Case(SQUARE, (_weights(3, 3, seed=5), normal(3, 3, seed=6))),
        Case(LEADING, (np.array([[[1.0, 0.0]], [[0.5, 0.5]]]), np.array([[[2.0], [4.0]], [[6.0], [0.0]]]))),
        Case(LEADING, (_weights(2, 5, 7, seed=7), normal(2, 7, 3, seed=8))),
        Case(LEADING, (_weights(2, 3, 5, 7, seed=7), normal(2, 3, 7, 11, seed=8))),
        Case(DROPPED, (np.array([[0.5, 0.0], [0.0, 0.0]]), np.array([[2.0], [6.0]]))),
        Case(FLOAT32, (np.array([[0.5, 0.5]], f4), np.array([[2], [6]], f4))),
        Case(FLOAT32, (_weights(5, 3, seed=9, dtype=f4), normal(3, 7, seed=10, dtype=f4))),
        Case(FLOAT32, (_weights(3, 3, seed=13, dtype=f4), normal(3, 3, seed=14, dtype=f4))),
        Case(FLOAT16, (_weights(2, 5, seed=11, dtype=f2), normal(5, 3, seed=12, dtype=f2))),
    ]


av_product = Exercise(
    name="av_product", signature="(weights, value)", part=PART,
    text="The weighted sums of the values, one for each query: shape (..., n_q, d_v), for weights of "
         "shape (..., n_q, n_k) and values of shape (..., n_k, d_v).",
    answer=av_product_answer, steps=AV_STEPS, cases=_av_cases,
    hints=(
        "Output i is the sum over all keys j of weight (i, j) times value j.",
        "Value j is row j of value. Which product of two matrices multiplies a row of the left one "
        "with the rows of the right one?",
        "A matrix product sums over the last axis of the left factor and the last but one of the "
        "right factor. Both are the keys' axis here: nothing needs to be transposed.",
    ),
    mistakes=AV_MISTAKES,
)

# ---------------------------------------------------------------- attention

def attention_answer(do, query, key, value):
    key, value = do.keys(key, value)
    scores = do.rescale(raw_scores.raw_scores_answer(do, query, key), query, value)
    weights = softmax.softmax_steps_answer(do, scores, -1)
    output = av_product_answer(do, do.scale_weights(weights, query), do.choose_values(query, key, value))
    return do.answer_out(do.residual(output, query, value), weights, scores)


ATTENTION_STEPS = {
    **raw_scores.SCORE_STEPS, **softmax.SOFTMAX_STEPS, **AV_STEPS,
    "keys": lambda key, value: (key, value),
    "rescale": lambda scores, query, value: scores,
    "residual": lambda output, query, value: output,
    "scale_weights": lambda weights, query: weights,
    "choose_values": lambda query, key, value: value,
    "answer_out": lambda output, weights, scores: output,
}


def pick(mistakes, *names):
    """The mistakes of these names, in the order of the names; every name must exist."""
    found = {mistake.name: mistake for mistake in mistakes}
    return tuple(found[name] for name in names)


def drop(mistakes, *names):
    """All mistakes but those of these names."""
    pick(mistakes, *names)
    return tuple(mistake for mistake in mistakes if mistake.name not in names)


def also(mistake, *changes):
    """The mistake with more variants."""
    return dataclasses.replace(mistake, change=mistake.variants + changes)


# each head or sequence by itself, as a sum over the last two axes
(OVER_EVERYTHING,) = pick(softmax.AXIS_MISTAKES, "softmax over everything")
OVER_EVERYTHING = dataclasses.replace(
    also(OVER_EVERYTHING, {"axis": lambda axis, scores: (-2, -1)},
         {"total": lambda powers, axis: powers.sum(axis=(-2, -1), keepdims=True)}),
    does="All weights of a matrix, or of the whole array, together sum to 1; each row should.")

ATTENTION_SOFTMAX_MISTAKES = (
    *pick(softmax.SHIFT_MISTAKES, "no maximum subtracted", "one maximum for the whole array",
          "minimum subtracted instead of maximum", "mean subtracted instead of maximum",
          "maximum of absolute values", "divided by the maximum", "scores clipped"),
    *softmax.KEEPDIMS_MISTAKES,
    *pick(softmax.EXPONENTIAL_MISTAKES, "no exponential", "absolute values instead of exponentials",
          "squares instead of exponentials", "power of 2 instead of e", "power of 10 instead of e",
          "expm1 instead of exp", "sigmoid instead of softmax", "argmax instead of softmax"),
    softmax.SIGN,
    *pick(softmax.TOTAL_MISTAKES, "not divided by the sum", "sum over the wrong axis",
          "epsilon in the denominator", "divided by the mean", "divided by the Euclidean length",
          "logarithm of the softmax"),
    also(*pick(softmax.TOTAL_MISTAKES, "sum without keepdims"), {  # of the output, divided last
        "divide": lambda powers, total: powers, "finish_output": lambda output, weights, value: (
            output / weights.sum(axis=-1))}),
    *drop(softmax.AXIS_MISTAKES, "softmax over everything"), OVER_EVERYTHING,
    Mistake("exponential of the sum", alone=True,
            change=({"total": lambda powers, axis: powers.prod(axis=-1, keepdims=True)},
                    {"shift": lambda s, axis: s, "total": lambda powers, axis: powers.prod(axis=-1, keepdims=True)}),
            does="The exponentials are divided by exp of the sum of the scores, which is their product.",
            why="The exponentials are summed, not the scores: then each row of weights sums to 1.",
            ask="Which comes first in the denominator, the sum or the exponential?"),
    Mistake("ReLU instead of the exponential", alone=True,
            change=({"shift": lambda s, axis: s, "exponential": lambda s, axis: np.maximum(s, 0.0)},
                    {"shift": lambda s, axis: s, "exponential": lambda s, axis: np.maximum(s, 0.0),
                     "divide": lambda p, t: p}),
            does="Negative scores count as 0, and the others as they are.",
            why="The softmax gives every key a positive weight: exp(score), divided by the row's sum.",
            ask="What weight should a key with a negative score get?"),
    Mistake("temperature applied",
            change=tuple({"rescale": lambda scores, query, value, c=c: scores * c}
                         for c in (2.0, 0.5, 10.0, 0.1, 100.0, 0.01, 1000.0)),
            does="The scores are multiplied by a fixed number before the softmax: the weights are too sharp or too even.",
            why="Attention has one scale, 1/sqrt(d_k), and no other factor.",
            ask="Which factor in your function does not depend on d_k?"),
    Mistake("softmax after the values",
            change={"shift": lambda s, axis: s, "exponential": lambda s, axis: s, "divide": lambda p, t: p,
                    "finish_output": lambda output, weights, value: raw_scores._softmax(output)},
            does="The raw scores are mixed with the values, and the softmax is taken of the output.",
            why="The softmax turns scores into weights, and only weights may mix the values. The output is no "
                "distribution.",
            ask="Between which two products does the softmax stand?"),
    Mistake("softmax left out",
            change={"shift": lambda s, axis: s, "exponential": lambda s, axis: s, "divide": lambda p, t: p},
            does="The values are mixed with the raw scores themselves.",
            why="Scores may be negative and of any size; the softmax turns each row into shares of one whole.",
            ask="What must the weights of one query sum to?"),
    Mistake("scale after the softmax",
            change=({"scale": lambda scores, query, key: scores,
                     "scale_weights": lambda weights, query: weights / math.sqrt(query.shape[-1])},
                    {"scale": lambda scores, query, key: scores,
                     "finish_output": lambda output, weights, value: output / math.sqrt(value.shape[-1])}),
            does="The weights of one query sum to 1/sqrt(d_k), not to 1.",
            why="The scale keeps the scores small before exp; afterwards it only shrinks the output.",
            ask="Which of the two should the scale change, the scores or the weights?"),
)

def _by_d_v(scores, query, value):
    return scores * math.sqrt(query.shape[-1] / value.shape[-1])


SCALE_BY_D_V = Mistake(
    "sqrt(d_v) instead of sqrt(d_k)", change={"rescale": _by_d_v},
    does="The scale depends on the length of the values.",
    why="A score is a sum of d_k products of queries and keys; the values have no part in it.",
    ask="Whose last axis does the sum in q · k run over?")

def _distance(sign, root):
    def product(query, key_t):
        squares = ((query[..., :, None, :] - swap(key_t)[..., None, :, :]) ** 2).sum(axis=-1)
        return sign * (np.sqrt(squares) if root else squares)

    return {"product": product}


def _with_axes(n_axes, text, step="transpose"):
    """The step right for this number of axes, and an error of that text for any other."""
    def change(key, *value):
        if key.ndim != n_axes:
            raise ValueError(text)
        return swap(key) if step == "transpose" else (key, *value)

    return {step: change}


FRONT_AXES = Mistake(
    "axes counted from the front",
    change=({"transpose": lambda key: np.swapaxes(key, 1, 2)}, {"transpose": lambda key: np.swapaxes(key, 0, 1)},
            {"transpose": lambda key: np.swapaxes(key, 2, 3)}, _with_axes(3, "axes don't match array"),
            _with_axes(4, "axes don't match array"), _with_axes(3, "not enough values to unpack", "keys"),
            _with_axes(4, "not enough values to unpack", "keys"), _with_axes(3, "einsum", "keys"),
            _with_axes(4, "einsum", "keys")),
    does="The function is right for one number of axes, and for no other.",
    why="Leading (batch, head) axes may be none, one or two: swapaxes(1, 2), or a shape unpacked into three "
        "names, is right for three axes alone. The last two are always -2 and -1.",
    ask="Which indices name the last two axes whatever stands before them?")

# an einsum lets an axis of length 1 meet any other
ATTENTION_PRODUCT_MISTAKES = (
    also(*pick(raw_scores.PRODUCT_MISTAKES, "K Qᵀ instead of Q Kᵀ"), {
        "product": lambda query, key_t: np.einsum("...id,...dj->...ji", query, key_t)}),
    *drop(raw_scores.PRODUCT_MISTAKES, "K Qᵀ instead of Q Kᵀ", "summed over positions instead of features"),
    FRONT_AXES,
    Mistake("distance instead of dot product",
            change=tuple({**_distance(sign, root), **more} for sign in (-1, 1) for root in (False, True)
                         for more in ({}, {"scale": raw_scores._unscaled})),
            does="The scores tell how far query and key are apart.",
            why="Attention's score is the dot product: it also grows with the lengths of query and key.",
            ask="Which operation joins a query and a key in Q Kᵀ?"),
)

KEYS_LEFT_OUT = ({"keys": lambda key, value: (key[..., :-1, :], value[..., :-1, :])},
                 {"keys": lambda key, value: (key[..., 1:, :], value[..., 1:, :])})

def _causal_at_the_end(scores):
    """Only keys up to the query's position, the last query at the last key."""
    n_q, n_k = scores.shape[-2:]
    return np.where(np.tri(n_q, n_k, n_k - n_q, dtype=bool), scores, -np.inf)


(CAUSAL,) = (also(raw_scores.CAUSAL_APPLIED, {"finish_scores": np.tril}, {"weights_out": np.tril},
                  {"finish_scores": _causal_at_the_end}),)
CAUSAL = dataclasses.replace(CAUSAL, does="Keys after the query are hidden, or their scores or weights set to 0.")

VALUE_MISTAKES = (
    Mistake("key and value swapped", change={"keys": lambda key, value: (value, key)},
            does="The queries are compared with the values, and the keys are mixed; that fits only for d_k = d_v.",
            why="Keys are compared with the queries, values are what is mixed.",
            ask="Which of the two stands in the scores, and which in the output?"),
    Mistake("input added", change=({"residual": lambda output, query, value: output + query},
                                   {"residual": lambda output, query, value: output + value}),
            does="The queries or the values are added to the output, where the shapes fit at all.",
            why="A residual connection belongs to the layer around attention, not into it.",
            ask="Which of your lines is not part of attention?"),
    Mistake("values instead of keys", alone=True, change={"keys": lambda key, value: (value, value)},
            does="The queries are compared with the values, which are mixed as well; that fits only for d_k = d_v.",
            why="The keys decide how much each position counts; what it contributes is its value.",
            ask="What are the keys there for?"),
    Mistake("softmax of the output", alone=True,
            change={"finish_output": lambda output, weights, value: raw_scores._softmax(output)},
            does="The output goes through a softmax besides.",
            why="The softmax turns scores into weights. The output is a mean of values, and no distribution.",
            ask="How often does a softmax stand in attention, and where?"),
    Mistake("queries instead of values", change={"choose_values": lambda query, key, value: query},
            does="The queries are mixed, not the values; that fits only for n_q = n_k.",
            why="The weights run over the keys, and each key has a value.",
            ask="What are the values there for?"),
    Mistake("keys instead of values", change={"choose_values": lambda query, key, value: key},
            does="The keys are mixed, not the values.",
            why="The keys decide how much each position counts; what it contributes is its value.",
            ask="What are the values there for?"),
    Mistake("scores returned instead of the output", change={"answer_out": lambda output, weights, scores: scores},
            does="The answer has shape (..., n_q, n_k): it holds the scores.",
            why="The softmax makes weights of the scores, and these still have to be applied to the values.",
            ask="Which two steps of attention come after the scores?"),
    Mistake("values returned instead of the output", alone=True,
            change={"residual": lambda output, query, value: value},
            does="The answer is value as it was given: n_k rows, one for each key.",
            why="Each query gets a mean of the values, with weights of its own.",
            ask="Where do query and key enter your answer?"),
    Mistake("softmax plus one", alone=True,
            change={"scores_in": lambda s: np.concatenate([s, np.zeros_like(s[..., :1])], axis=-1),
                    "weights_out": lambda weights: weights[..., :-1]},
            does="A score of 0 that belongs to no key is in the sum: the weights of a query sum to less than 1.",
            why="The weights are shares of one whole among the keys: only their exponentials are summed.",
            ask="What do the weights of one query sum to?"),
    Mistake("weights returned instead of the output", change={"answer_out": lambda output, weights, scores: weights},
            does="The answer has shape (..., n_q, n_k): it holds the weights.",
            why="The weights still have to be applied to the values.",
            ask="What is the last step of attention?"),
)


def attention_cases():
    """The cases of raw_scores with values, and huge scores."""
    def with_value(case, number):
        key = case.args[1]
        d_v = {"equal sizes": key.shape[-1]}.get(case.aspect, 2 if key.size < 10 else 13)
        value = normal(*key.shape[:-1], d_v, seed=number)
        value = (np.round(4 * value) if key.size < 10 else value).astype(key.dtype)
        return Case(case.aspect, (*case.args, value))

    def huge(query, key):
        value = np.array([[1.0], [3.0], [2.0]])
        return Case(HUGE, (np.array(query, float), np.array(key, float), value), True)

    return [with_value(case, number) for number, case in enumerate(raw_scores.score_cases(), 20)] + [
        Case(LEADING, tuple(normal(3, 3, 3, seed=n) for n in (44, 45, 46))),
        huge([[100], [0]], [[100], [99], [0]]), huge([[-100], [0]], [[100], [101], [102]]),
        huge([[100, 0], [1, 0]], [[0, 1], [0, 2], [0, 3]]),
        huge([[200], [1]], [[100], [-100], [100]]), huge([[4], [1]], [[100], [99], [0]]),
        Case(HUGE, (np.array([[1000.0]]), np.array([[1.0]] * 10 + [[0.0]]), np.arange(11.0)[:, None]), True),
    ]


def epsilon_of(number):
    return Mistake(
        f"{number:.4g} added to the sum", change={"total": lambda powers, axis: powers.sum(axis=axis, keepdims=True) + number},
        does=f"{number:.4g} is added to the sum of the exponentials: a row of weights does not sum to 1.",
        why="With the maximum subtracted the sum is at least 1 wherever a row has any score above -inf.",
        ask="How small can the sum get once the maximum is subtracted?")


def scores_cut_at(number):
    limit = abs(number)
    return Mistake(
        f"scores cut at {limit:.4g}", change={"finish_scores": lambda scores: np.clip(scores, -limit, limit)},
        does=f"Scores above {limit:.4g} and below -{limit:.4g} are cut to that.",
        why="The differences of large scores disappear. The maximum that is subtracted is all that exp needs.",
        ask="What should the weights of the scores 10000 and 9999 be?")


def scores_capped_at(number):
    return Mistake(
        f"scores capped at {abs(number):.4g}", change={"finish_scores": lambda scores: number * np.tanh(scores / number)},
        does=f"The scores go through {abs(number):.4g} tanh(score / {abs(number):.4g}).",
        why="The softmax takes the scores as they are; a query may prefer one key by far.",
        ask="What happens to a large score before your softmax?")


def mixed_with_equal(number):
    return Mistake(
        f"weights mixed with {number:.4g} of equal ones",
        change={"weights_out": lambda weights: (1 - number) * weights + number / weights.shape[-1]},
        does=f"Each weight is {1 - number:.4g} times the softmax, plus an equal share of {number:.4g}.",
        why="The softmax's weights are used as they are.",
        ask="What is done to the weights after the softmax?")


ATTENTION_FITTED = (raw_scores.divided_by, raw_scores.under_the_root, raw_scores.power_of_d_k, scores_cut_at,
                    scores_capped_at, epsilon_of, mixed_with_equal)

attention = Exercise(
    name="attention", signature="(query, key, value)", part=PART,
    text="Scaled dot-product attention, softmax(Q Kᵀ / sqrt(d_k)) V, of shape (..., n_q, d_v).",
    answer=attention_answer, steps=ATTENTION_STEPS, cases=attention_cases, fitted=ATTENTION_FITTED,
    hints=(
        "Three steps, each an exercise of its own: scores, weights, output.",
        "The scores are Q Kᵀ / sqrt(d_k): swap the last two axes of key, and no others.",
        "The weights are the softmax of each row of the scores, over the keys: the last axis, with "
        "that row's maximum subtracted before exp.",
        "The output is weights @ value. With your earlier functions: raw_scores, then softmax, then av_product.",
    ),
    mistakes=(
        *raw_scores.SCALE_MISTAKES, SCALE_BY_D_V, CAUSAL,
        *ATTENTION_PRODUCT_MISTAKES,
        *ATTENTION_SOFTMAX_MISTAKES,
        *drop(AV_MISTAKES, "weights normalised again", "divided by the number of keys",
              "only the best key's value", "one key left out", "only the last query", "the first query's weights for all",
              "logarithms of the weights"),
        also(*pick(AV_MISTAKES, "one key left out"), *KEYS_LEFT_OUT),
        *VALUE_MISTAKES,
    ),
)

# ---------------------------------------------------------------- masked_attention

def masked_attention_answer(do, query, key, value, attn_mask):
    key, value = do.keys(key, value)
    scores = do.rescale(raw_scores.raw_scores_answer(do, query, key), query, value)
    mask = do.combine_mask(do.mask_in(do.sense(attn_mask)), scores)
    masked = do.scores_in(do.fill(scores, mask, do.dtype))
    axis = do.axis(-1, masked)
    powers = do.mask_powers(do.exponential(do.shift(masked, axis), axis), mask)
    weights = do.weights_out(do.divide(powers, do.total(powers, axis)))
    weights = do.dead_rows(do.mask_weights(weights, mask), mask, scores)
    output = av_product_answer(do, do.scale_weights(weights, query), do.choose_values(query, key, value))
    return do.answer_out(do.residual(output, query, value), weights, scores)


def _somewhere(mask):
    """True for the rows that may attend to something."""
    return mask.any(axis=-1, keepdims=True)


def _left_alone(weights, mask, scores):
    return weights


MASKED_STEPS = {
    **ATTENTION_STEPS,
    **raw_scores.MASK_STEPS,
    "mask_in": lambda mask: mask,
    "combine_mask": lambda mask, scores: mask,
    "mask_powers": lambda powers, mask: powers,
    "mask_weights": lambda weights, mask: weights,
    "dead_rows": lambda weights, mask, scores: np.where(_somewhere(mask), weights, 0.0),
}


def _filled(value):
    """A number for -inf, as the dtype can hold it: -1e9 is -inf in float16."""
    def fill(scores, mask, dtype):
        with np.errstate(over="ignore"):
            return np.where(mask, scores, float(np.array(value).astype(dtype)))

    return fill


def _added(value, native=True, product=False):
    """A number added to masked scores: in the input's dtype or in float64, as it is or as (1 - mask) * value."""
    def fill(scores, mask, dtype):
        kind = np.dtype(dtype if native else "float64").type
        with np.errstate(all="ignore"):
            bias = (1 - mask).astype(kind) * kind(value) if product else np.where(mask, 0, value).astype(kind)
            return (scores.astype(kind) + bias).astype(np.float64)

    return fill


def _only_allowed(weights, mask):
    return np.where(mask, weights, 0.0)


def _numbers_only(weights, mask, scores):
    return np.nan_to_num(weights)


def _inverted_fill(scores, mask, dtype):
    return np.where(mask, -np.inf, scores)


def _swapped_mask(mask):
    return swap(mask) if mask.ndim > 1 else mask


def _all_or_nothing(weights, mask, scores):
    """Zeros everywhere, if one query may attend to nothing."""
    return weights * 0.0 if not _somewhere(mask).all() else weights


def _fitted_fill(make):
    """A mistake of mask_scores with a number in it, with the dead rows handled or left alone."""
    def masked(number):
        mistake = make(number)
        return dataclasses.replace(mistake, change=without_dead_rows(mistake.change))

    return masked


def without_dead_rows(*changes):
    """Each change twice: with the dead rows handled, and with them left alone."""
    return tuple({**change, **more} for change in changes for more in ({}, {"dead_rows": _left_alone}))


def with_numbers_only(mistake):
    """The mistake, with the dead rows found by the mask or by the NaN in the weights."""
    changes = [{**change, **more} for change in mistake.variants for more in ({}, {"dead_rows": _numbers_only})]
    return dataclasses.replace(mistake, change=tuple(changes))


# without a maximum a large negative number cannot be told from -inf
KNOWN_SHIFT = {"shift": softmax.SOFTMAX_STEPS["shift"]}
LARGE = (-1e9, -1e4, -9999.0, -1e3, -100.0, -50.0, -30.0, -1e5, -1e6, -1e8, -1e10, -1e7, -500.0)
LARGE_ADDED = ((-1e9,), (-1e9, False), (-1e9, True, True), (-1e10,), (-1e10, False), (-1e10, True, True),
               (-1e4,), (-1e3,), (-1e5,), (-1e6,), (-1e8,))

MASKING_MISTAKES = (
    Mistake("mask inverted",
            change=({"sense": lambda mask: ~mask}, {"fill": _inverted_fill, "dead_rows": MASKED_STEPS["dead_rows"]},
                    {"fill": _inverted_fill, "dead_rows": _numbers_only}),
            does="Queries attend to the keys that are hidden from them, and not to the others.",
            why="Here True means: may attend, as in torch's scaled_dot_product_attention. Other libraries "
                "mean the opposite; mixing the two is the most frequent mask error.",
            ask="Which scores must become -inf, those where the mask is True or those where it is False?"),
    Mistake("mask ignored", change={"sense": lambda mask: mask, "fill": lambda scores, mask, dtype: scores,
                    "dead_rows": _left_alone},
            does="Every query attends to every key.",
            why="Where the mask is False the score must become -inf, so that the weight is 0.",
            ask="Where in your function does the mask change a score?"),
    Mistake("mask only in dead rows", change={"fill": lambda scores, mask, dtype: scores},
            does="A query that may attend to nothing gets zeros; every other one attends to every key.",
            why="Where the mask is False the score must become -inf, so that the weight is 0.",
            ask="Where in your function does the mask change a score?"),
    Mistake("masked scores set to 0", change=without_dead_rows({"fill": raw_scores.fill_with(0.0)}),
            does="Masked scores are 0, as if the mask were multiplied with the scores.",
            why="exp(0) is 1: a masked key keeps a weight, more than one with a negative score.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("mask added", change=without_dead_rows({"fill": lambda scores, mask, dtype: scores + mask}),
            does="Scores of allowed keys grow by 1, and masked ones stay as they are.",
            why="A boolean mask counts as 0 and 1 in a sum. It has to choose, not to be added.",
            ask="What does True + 2.5 give, and what should it give?"),
    Mistake("+inf instead of -inf", change=without_dead_rows({"fill": raw_scores.fill_with(np.inf)}),
            does="A query with a masked key gets NaN.",
            why="exp(+inf) is infinite, and inf / inf is NaN. Only -inf has the exponential 0.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("0 times infinity",
            change=without_dead_rows({"fill": lambda scores, mask, dtype: scores + np.where(mask, np.nan, -np.inf)}),
            does="A query that may attend to something gets NaN.",
            why="0 * inf is NaN: a mask times infinity does not leave allowed scores alone.",
            ask="What is 0 * inf, and how can the mask choose instead of multiply?"),
    Mistake("large negative number instead of -inf",
            change=tuple({"fill": _filled(value), "dead_rows": _left_alone, **KNOWN_SHIFT} for value in LARGE)
                   + tuple({"fill": _filled(value), **KNOWN_SHIFT} for value in LARGE[1:7])
                   + ({"fill": _filled(LARGE[0]), "dead_rows": _numbers_only, **KNOWN_SHIFT},),
            does="Masked scores are a number such as -1e9: beside scores as low they get a weight. A query that may "
                 "attend to nothing gets uniform weights, or NaN in float16 where the number overflows, unless its "
                 "weights are set to 0 afterwards.",
            why="Scores may be large themselves, and in a row in which all keys are masked all "
                "scores are equal. Only -inf is below every score in every dtype.",
            ask="What if the allowed scores of a row are as low as your number, or if no key is allowed?"),
    Mistake("large negative number added",
            change=tuple({"fill": _added(*how), "dead_rows": _left_alone, **KNOWN_SHIFT} for how in LARGE_ADDED)
                   + ({"fill": _added(-1e4)}, {"fill": _added(-1e3)}),
            does="Masked scores are lowered by a large number; a query that may attend to nothing "
                 "still compares its keys.",
            why="Differences between masked scores survive, and show in a row in which all keys are "
                "masked. Only -inf is below every score in every dtype.",
            ask="What are the weights of a row in which every key is masked?"),
    Mistake("positive number instead of -inf",
            change=tuple({"fill": _filled(value), **more} for value in (1e9, 1e4, 1.0, 1e-9)
                         for more in ({}, {"dead_rows": _left_alone})),
            does="Masked scores are a number above 0, such as 1e9 or 1e-9.",
            why="exp of it is 1 or more: masked keys get weight, or even all of it. 1e-9 is nearly 0; "
                "the large negative number is -1e9, and only -inf is below every score.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("the lowest score instead of -inf",
            change=without_dead_rows(
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min())},
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=-1, keepdims=True))}),
            does="Masked scores are as low as the lowest one, and no lower.",
            why="The lowest score still has a weight.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("mask after the softmax",
            change=({"fill": lambda scores, mask, dtype: scores, "mask_weights": _only_allowed},
                    {"fill": lambda scores, mask, dtype: scores, "mask_weights": lambda weights, mask: weights * mask},
                    *({"fill": lambda scores, mask, dtype: scores,
                       "mask_weights": lambda weights, mask, e=e: np.where(mask, weights, e)} for e in (-np.inf, -1e9))),
            does="Masked weights are 0, but the weights of a query no longer sum to 1.",
            why="The masked keys have taken part in the softmax's sum. They must be hidden before it.",
            ask="What do the weights of one query sum to after your mask?"),
    Mistake("masked keys in the maximum",
            change={"fill": lambda scores, mask, dtype: scores, "mask_powers": _only_allowed},
            does="It is right, unless a masked key's score is far above the allowed ones: then all "
                 "allowed exponentials are 0, and so is their sum.",
            why="The maximum that is subtracted must be that of the allowed scores. So the mask comes "
                "before the maximum, not after the exponential or the softmax.",
            ask="What is left of the scores 0 and 1 if a masked score of 10000 is the maximum?"),
    Mistake("hidden for all queries", alone=True,
            change=tuple({"combine_mask": lambda mask, scores, reduce=reduce: np.broadcast_to(
                reduce(np.broadcast_to(mask, scores.shape), axis=-2, keepdims=True), scores.shape), **more}
                for reduce in (np.all, np.any) for more in ({}, {"dead_rows": _left_alone})),
            does="A key is hidden from all queries as soon as it is hidden from one, or only if it is from all.",
            why="Each entry of the mask speaks for one query and one key.",
            ask="Over which axis does your all, or any, go?"),
    Mistake("everything 0 if one query may attend to nothing",
            change={"dead_rows": lambda weights, mask, scores: _all_or_nothing(
                MASKED_STEPS["dead_rows"](weights, mask, scores), mask, scores)},
            does="As soon as one query may attend to nothing, all queries get zeros.",
            why="Only that query's output is 0. The others attend as the mask lets them.",
            ask="For which rows do you set the output to 0: for all, or for those without any key?"),
    Mistake("dead rows attend to one key", alone=True,
            change=tuple({"dead_rows": lambda weights, mask, scores, at=at: np.where(
                _somewhere(mask), weights, np.eye(weights.shape[-1])[at])} for at in (0, -1)),
            does="A query that may attend to nothing gets the first value, or the last one.",
            why="By definition its output is 0. argmax of equal scores is 0, and so picks the first key.",
            ask="What should a query get that may attend to nothing?"),
    Mistake("rows that hold a masked key uniform", alone=True,
            change={"dead_rows": lambda weights, mask, scores: np.where(
                mask.all(axis=-1, keepdims=True), weights, 1 / weights.shape[-1])},
            does="A query from which any key is hidden gets the mean of all values.",
            why="Only a row without any allowed key is special: not any, which is not the same as not all.",
            ask="For a row of True and False, what do any and all say?"),
    Mistake("only below the lowest score", alone=True, change=without_dead_rows(
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min() - 1)},
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=-1, keepdims=True) - 1)},
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores - scores.max())}),
            does="Masked scores are a little lower than the lowest one.",
            why="A score a little lower still has a weight. Only -inf is below every score.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("dead rows not divided", alone=True,
            change={"dead_rows": lambda weights, mask, scores: np.where(_somewhere(mask), weights, 1.0)},
            does="A query that may attend to nothing gets the sum of all values.",
            why="By definition its output is 0. exp(0) is 1 for every key, and nothing was divided.",
            ask="What should a query get that may attend to nothing?"),
    Mistake("mask transposed", change=({"sense": _swapped_mask}, {"sense": swap}, {"sense": lambda mask: mask.T}),
            does="The mask's rows are taken for keys and its columns for queries.",
            why="Row i of the mask belongs to query i, column j to key j, as in the scores.",
            ask="What does entry (0, 1) of the mask say?"),
    Mistake("equal weights for all allowed keys",
            change=without_dead_rows({"finish_scores": lambda scores: 0 * scores}),
            does="A query gets the plain mean of the values that it may attend to.",
            why="The mask says which keys may count; how much each of them counts is up to its score.",
            ask="Where do the scores enter your weights?"),
    Mistake("dead rows NaN", change={"dead_rows": _left_alone},
            does="A query that may attend to nothing gets NaN.",
            why="Its maximum is -inf, and -inf - -inf is NaN. By definition its output is 0.",
            ask="What is the maximum of a row in which every score is -inf, and what is its sum of exponentials?"),
    Mistake("every row that holds a masked key set to 0",
            change={"dead_rows": lambda weights, mask, scores: np.where(
                mask.all(axis=-1, keepdims=True), weights, 0.0)},
            does="Only a query that may attend to every key gets an output; all others get zeros.",
            why="A row is dead if nothing in it is allowed: not any, which is not the same as not all. And NaN "
                "that is replaced by 0 hides where it comes from: a fill of +inf spoils each of these rows.",
            ask="For a row of True and False, what do any and all say?"),
    Mistake("dead rows uniform",
            change={"dead_rows": lambda weights, mask, scores: np.where(
                _somewhere(mask), weights, 1 / weights.shape[-1])},
            does="A query that may attend to nothing gets the mean of all values.",
            why="Its weights come out equal: a very negative number in place of -inf does that, and a "
                "row whose scores were all set to 0. By definition its output is 0.",
            ask="What are the weights of a row in which every key is masked?"),
    Mistake("dead rows not masked",
            change={"dead_rows": lambda weights, mask, scores: np.where(
                _somewhere(mask), weights, raw_scores._softmax(scores))},
            does="A query that may attend to nothing attends to every key, as if there were no mask.",
            why="By definition its output is 0. A large negative number that is added to all its "
                "scores leaves their differences as they were.",
            ask="What are the weights of a row in which every key is masked?"),
)

def _renormalised(epsilon):
    def renormalise(weights, mask):
        kept = np.where(mask, weights, 0.0)
        return kept / (kept.sum(axis=-1, keepdims=True) + epsilon)

    return renormalise


NEEDS_NUMBERS = ("sum over the wrong axis", "sum without keepdims", "softmax over the queries' axis",
                 "softmax over the first axis", "softmax over the second axis", "softmax over everything",
                 "K Qᵀ instead of Q Kᵀ")


def _under_the_triangle(mask, scores):
    return mask & np.tri(*scores.shape[-2:], dtype=bool)


# the mask is cut with the keys, or joined to the causal one
MASK_CUT = ({**KEYS_LEFT_OUT[0], "mask_in": lambda mask: mask[..., :-1] if mask.shape[-1] > 1 else mask},
            {**KEYS_LEFT_OUT[1], "mask_in": lambda mask: mask[..., 1:] if mask.shape[-1] > 1 else mask})
CAUSAL_TOO = ({"combine_mask": _under_the_triangle}, {**CAUSAL.variants[0], "dead_rows": _numbers_only})


def _masked_variants(mistake):
    """A mistake of attention as it shows under a mask."""
    if mistake.name == "one key left out":
        return dataclasses.replace(mistake, change=mistake.variants[:2] + MASK_CUT)
    if mistake is CAUSAL:
        return dataclasses.replace(
            also(mistake, *CAUSAL_TOO),
            does="Keys after the query are hidden, or their scores or weights set to 0, whatever the mask says of them.",
            why="Who may attend to whom is said by attn_mask alone: it may be causal, or anything else.",
            ask="Which of the two masks in your function was given to it?")
    if mistake is softmax.NO_MAXIMUM:
        late = {"fill": lambda scores, mask, dtype: scores, "shift": softmax._no_shift}
        return dataclasses.replace(mistake, change=(
            mistake.change, {**late, "mask_powers": lambda powers, mask: powers * mask},
            {**late, "mask_powers": _only_allowed}))
    if mistake.name == "epsilon in the denominator":
        return dataclasses.replace(softmax.beside_dead_rows(mistake), change=mistake.variants[2:] + tuple(
            {"fill": lambda scores, mask, dtype: scores, "mask_weights": _renormalised(e),
             "divide": softmax.SOFTMAX_STEPS["divide"], "total": softmax.SOFTMAX_STEPS["total"]} for e in (1e-6, 1e-8, 1e-9)))
    return with_numbers_only(mistake) if mistake.name in NEEDS_NUMBERS else mistake


# with so many mistakes of the mask, pairs of those that are rare take too long
RARE_UNDER_A_MASK = {
    "distance instead of dot product", "rounded", "d_k fixed in the code", "scale rounded to an integer",
    "square root of the scores", "temperature applied", "divided by the Euclidean length", "expm1 instead of exp",
    "power of 10 instead of e", "squares instead of exponentials", "absolute values instead of exponentials",
    "only the largest weight", "every second key left out", "keys in reverse order", "largest product instead of the sum",
    "divided by the number of features", "outputs summed over the queries",
    "outputs averaged over the queries", "one query left out", "scores clipped",
    "divided by the maximum", "maximum of absolute values", "outputs summed over the batch", "input added"}
MASKED_SOFTMAX_MISTAKES = tuple(
    dataclasses.replace(mistake, alone=mistake.alone or mistake.name in RARE_UNDER_A_MASK)
    for mistake in map(_masked_variants, attention.mistakes))

DEAD = "a query that may attend to nothing"


def random_mask(*shape, seed=0):
    """A random mask in which every query may attend to a key, and every key is attended to."""
    mask = np.random.default_rng([seed, *shape]).random(shape) < 0.6
    mask[..., 0] |= ~mask.any(axis=-1)
    mask[..., 0, :] |= ~mask.any(axis=-2)
    return mask


def masked_attention_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, sizes, mask, seed, dtype=np.float64, batch=()):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        arrays = (normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes))
        return Case(aspect, (*arrays, mask))

    def tiny(aspect, query, key, value, mask, extreme=False, dtype=np.float64):
        arrays = (np.array(array, dtype) for array in (query, key, value))
        return Case(aspect, (*arrays, np.array(mask, bool)), extreme)

    dead = random_mask(5, 7, seed=11)
    dead[1], dead[3] = False, True
    square = dead[:, :5].copy()
    square[:, 2] = False  # a dead row of the transposed mask
    single = np.array([[True] * 3, [False] * 3])
    column = np.array([[True], [False], [True], [True], [False]])
    alone = case(DEAD, (5, 3, 7, 2), column, 40)
    return [
        tiny(PLAIN, [[2.0], [1.0]], [[1.0], [0.0], [3.0]], [[4.0], [8.0], [-4.0]], [[1, 1, 0], [0, 1, 1]]),
        case(PLAIN, (5, 7, 3, 2), random_mask(5, 7), 1),
        case(PLAIN, (7, 5, 11, 13), random_mask(7, 5), 4),
        case(PLAIN, (3, 5, 2, 7), np.ones((3, 5), bool), 7),
        tiny(SQUARE, [[1.0, 0.0], [2.0, 2.0]], [[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [3.0, 2.0]], [[1, 0], [1, 1]]),
        case(SQUARE, (5, 5, 5, 5), random_mask(5, 5, seed=1), 10),
        case(SQUARE, (5, 5, 3, 2), np.tri(5, dtype=bool), 10),
        tiny(raw_scores.BROADCAST, [[2.0], [1.0]], [[1.0], [0.0], [3.0]], [[4.0], [8.0], [-4.0]], [1, 0, 1]),
        case(raw_scores.BROADCAST, (5, 7, 3, 2), random_mask(1, 7), 13),
        case(raw_scores.BROADCAST, (5, 7, 3, 2), random_mask(5, 7, seed=2), 16, batch=(2,)),
        case(raw_scores.BROADCAST, (5, 3, 7, 2), random_mask(2, 1, 3), 19, batch=(2,)),
        case(raw_scores.BROADCAST, (3, 5, 7, 11), random_mask(2, 1, 1, 5), 22, batch=(2, 3)),
        tiny(LEADING, [[[1.0, 2.0]], [[3.0, 1.0]]], [[[1.0, 0.0], [2.0, 1.0]], [[0.0, 3.0], [1.0, 1.0]]],
             [[[4.0], [8.0]], [[2.0], [-4.0]]], [[[1, 1]], [[1, 1]]]),
        case(LEADING, (5, 7, 3, 2), random_mask(2, 5, 7), 25, batch=(2,)),
        case(LEADING, (5, 7, 3, 11), random_mask(2, 3, 5, 7), 28, batch=(2, 3)),
        tiny(DEAD, [[2.0], [1.0]], [[1.0], [0.0], [3.0]], [[4.0], [8.0], [-4.0]], [[1, 0, 1], [0, 0, 0]]),
        case(DEAD, (5, 7, 3, 2), dead, 31), case(DEAD, (5, 5, 3, 2), square, 31), alone,
        case(DEAD, (5, 7, 3, 2), np.stack([dead, random_mask(5, 7, seed=3)]), 34, batch=(2,)),
        case(DEAD, (2, 3, 5, 7), single, 37, dtype=f4),
        case(DEAD, (2, 3, 5, 7), single, 37, dtype=f2),
        *(tiny(HUGE, query, key, [[1.0], [3.0], [2.0]], mask, True) for query, key, mask in (
            ([[100], [0]], [[100], [99], [-100]], [[1, 1, 0], [1, 0, 1]]),
            ([[100], [0], [1]], [[100], [99], [0]], [[1, 1, 1], [0, 1, 1], [1, 0, 1]]),
            ([[-100], [0]], [[100], [101], [99]], [[1, 1, 0], [0, 1, 0]]),
            ([[100], [0]], [[-1], [-2], [100]], [[1, 1, 0], [1, 0, 1]]),
            ([[100, 0], [1, 0]], [[0, 1], [0, 2], [0, 3]], [[1, 1, 1], [1, 0, 1]]),
            ([[-100], [1]], [[100], [100], [101]], [[0, 1, 1], [1, 1, 1]]),
            ([[100], [0]], [[100], [0], [-100]], [[1, 1, 1], [1, 0, 1]]),
            ([[-100], [0]], [[100], [101], [102]], [[1, 1, 1], [1, 0, 1]]))),
        Case(HUGE, (np.array([[1000.0]]), np.array([[1.0]] * 10 + [[0.0]]), np.arange(11.0)[:, None],
                    np.ones(11, bool)), True),
        case(FLOAT32, (5, 3, 7, 2), random_mask(5, 3), 43, dtype=f4),
        case(FLOAT16, (3, 2, 5, 7), random_mask(3, 2), 46, dtype=f2),
    ]


def _only_dead_rows_wrong(values, wanted):
    """Whether all rows are right but those that have to be 0."""
    if values.shape != wanted.shape:
        return False
    dead = (wanted == 0).all(axis=-1)
    return bool(np.allclose(values[~dead], wanted[~dead], rtol=1e-3, atol=1e-3))


masked_attention = Exercise(
    name="masked_attention", signature="(query, key, value, attn_mask)", part=PART,
    text="Attention under a boolean mask (True: may attend) that broadcasts to the scores' shape. A "
         "query that may attend to nothing gets zeros.",
    answer=masked_attention_answer, steps=MASKED_STEPS, cases=masked_attention_cases,
    hints=(
        "It is attention with one more step. Between which two of its steps does the mask belong?",
        "Before the softmax a masked score becomes -inf: np.where(attn_mask, scores, -np.inf). The "
        "softmax then gives it the weight 0, and the others sum to 1.",
        "In a row in which every score is -inf the maximum is -inf too, and -inf - -inf is NaN. Which "
        "rows are these? attn_mask.any(axis=-1, keepdims=True) tells.",
        "Set the weights of those rows to 0 with np.where before the product with the values; or "
        "subtract 0 instead of a maximum of -inf, and divide by 1 instead of a sum of 0.",
    ),
    mistakes=(*MASKING_MISTAKES, *MASKED_SOFTMAX_MISTAKES),
    fitted=(*map(_fitted_fill, raw_scores.FITTED_FILLS), *ATTENTION_FITTED),
    aspects={**raw_scores.mask_scores.aspects, DEAD: Mistake(
        "dead rows not zero",
        holds=_only_dead_rows_wrong,
        does="A query that may attend to nothing gets something else than zeros.",
        why="By definition its output is 0: there is nothing to mix.",
        ask="What are the weights of a row in which every key is masked?")},
)

# ---------------------------------------------------------------- dropout_weights

def dropout_weights_answer(do, weights, keep, p):
    dropped = do.drop(weights, do.sense(keep), p)
    return do.finish_weights(do.rescale(dropped, keep, p), weights, keep, p)


def _zeroed(weights, keep, p):
    return np.where(keep, weights, 0.0)


def _divided(dropped, keep, p):
    return dropped / (1 - p)


def _normalised(weights):
    return weights / weights.sum(axis=-1, keepdims=True)


DROPOUT_STEPS = {
    "sense": lambda keep: keep,
    "drop": _zeroed,
    "rescale": _divided,
    "finish_weights": lambda dropped, weights, keep, p: dropped,
}


def rescaled_by(factor):
    """A change: the kept weights multiplied by this function of p."""
    def rescale(dropped, keep, p):
        with np.errstate(all="ignore"):
            return dropped * np.float64(factor(np.float64(p)))

    return {"rescale": rescale}


DROPOUT_MISTAKES = (
    Mistake("not divided by 1 - p", change=rescaled_by(lambda p: 1),
            does="Dropped weights are 0, and the kept ones stay as they were.",
            why="On average the output shrinks by 1 - p, and at inference, without dropout, it is suddenly "
                "larger. Dividing by 1 - p keeps the expectation.",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("multiplied by 1 - p", change=rescaled_by(lambda p: 1 - p),
            does="The kept weights shrink by 1 - p.",
            why="Dropping shrinks the expectation by 1 - p already; dividing restores it.",
            ask="Are the weights too small or too large on average once some are dropped?"),
    Mistake("p instead of 1 - p",
            change=(rescaled_by(lambda p: 1 / p), rescaled_by(lambda p: p),
                    rescaled_by(lambda p: 1 / p if p else 1), rescaled_by(lambda p: p if p else 1)),
            does="The kept weights are scaled by p, the probability of dropping.",
            why="p says how many are dropped; what is kept is a share of 1 - p.",
            ask="Which share of the weights is kept if p = 0.1?"),
    Mistake("keep inverted", change={"sense": lambda keep: ~keep},
            does="The weights to be kept are 0, and those to be dropped stay.",
            why="keep is True for a weight that stays.",
            ask="What does True in keep mean?"),
    Mistake("keep ignored", change={"drop": lambda weights, keep, p: weights},
            does="No weight is dropped.",
            why="Where keep is False the weight becomes 0.",
            ask="Where in your function does keep change a weight?"),
    Mistake("rows renormalised",
            change=({"rescale": lambda dropped, keep, p: _normalised(dropped)},
                    {"rescale": lambda dropped, keep, p: np.nan_to_num(_normalised(dropped))},
                    *({"rescale": lambda dropped, keep, p, e=e: dropped / (dropped.sum(axis=-1, keepdims=True) + e)}
                      for e in (1e-6, 1e-8, 1e-9, 1e-12)),
                    *({"rescale": lambda dropped, keep, p, e=e: _divided(dropped, keep, p) / (
                        _divided(dropped, keep, p).sum(axis=-1, keepdims=True) + e)} for e in (1e-6, 1e-8, 1e-9))),
            does="Each row of kept weights sums to 1 again.",
            why="Dropout keeps the expectation, not the sum: the factor is 1/(1 - p) for every row. "
                "A row of which everything is dropped cannot be renormalised at all.",
            ask="Which factor restores the mean of a weight, whichever others are dropped?"),
    Mistake("everything normalised",
            change={"rescale": lambda dropped, keep, p: dropped / dropped.sum()},
            does="All kept weights together sum to 1.",
            why="The factor is 1/(1 - p) for every weight: it keeps the mean, and looks at no other weight.",
            ask="Which factor restores the mean of a weight, whichever others are dropped?"),
    Mistake("no dropout",
            change={"drop": lambda weights, keep, p: weights, "rescale": lambda dropped, keep, p: dropped},
            does="The weights come back as they were.",
            why="Where keep is False the weight becomes 0, and the others grow to make up for it.",
            ask="Where does your answer depend on keep, and where on p?"),
    Mistake("the share that was kept instead of 1 - p",
            change=({"rescale": lambda dropped, keep, p: dropped / keep.mean()},
                    {"rescale": lambda dropped, keep, p: dropped / keep.mean(axis=-1, keepdims=True)},
                    {"rescale": lambda dropped, keep, p: np.nan_to_num(
                        dropped / keep.mean(axis=-1, keepdims=True), posinf=0)}),
            does="The kept weights are divided by the share that happened to be kept.",
            why="The factor is 1/(1 - p), the same whatever was drawn: then the expectation is right "
                "for every weight.",
            ask="On what may the factor depend, on p or on the draw?"),
    Mistake("square root of 1 - p", change=rescaled_by(lambda p: 1 / np.sqrt(1 - p)),
            does="The kept weights are divided by sqrt(1 - p).",
            why="That would keep the variance. Dropout keeps the mean: divide by 1 - p.",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("divided by 1 - p twice", change=rescaled_by(lambda p: (1 - p) ** -2),
            does="The kept weights are divided by 1 - p two times.",
            why="Once restores the expectation; twice makes it too large.",
            ask="Which two of your lines rescale?"),
    Mistake("brackets missing around 1 - p",
            change=({"rescale": lambda dropped, keep, p: dropped / 1 - p},
                    {"rescale": lambda dropped, keep, p: np.where(keep, dropped / 1 - p, 0.0)}),
            does="p is subtracted from the weights.",
            why="In Python w / 1 - p is (w / 1) - p: the division binds first.",
            ask="Where do brackets belong?"),
    Mistake("divided by 1 + p", change=(rescaled_by(lambda p: 1 / (1 + p)), rescaled_by(lambda p: 1 + p)),
            does="The factor is made with 1 + p.",
            why="A share of 1 - p is kept.",
            ask="Which share of the weights is kept if p = 0.1?"),
    Mistake("dropped weights left as they were",
            change={"rescale": lambda dropped, keep, p: dropped,
                    "drop": lambda weights, keep, p: np.where(keep, weights / (1 - p), weights)},
            does="Kept weights grow, and the others stay as they were instead of becoming 0.",
            why="A dropped weight is 0: its key does not count for this query.",
            ask="What should stand where keep is False?"),
    Mistake("dropped weights rescaled instead of the kept ones",
            change={"rescale": lambda dropped, keep, p: dropped,
                    "drop": lambda weights, keep, p: np.where(keep, weights, weights / (1 - p))},
            does="Kept weights stay as they were, and the dropped ones grow.",
            why="Where keep is False the weight becomes 0; where it is True it is divided by 1 - p.",
            ask="Which of the two values in np.where is taken where keep is True?"),
    Mistake("p and 1 - p both in the factor",
            change=(rescaled_by(lambda p: p / (1 - p)), rescaled_by(lambda p: (1 - p) / p if p else 1),
                    rescaled_by(lambda p: (1 - p) / p)),
            does="The kept weights are multiplied by p / (1 - p) or by (1 - p) / p.",
            why="A weight is kept with probability 1 - p: the factor that restores its mean is 1/(1 - p), and p alone "
                "has no part in it.",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("nothing kept at p = 0", change=rescaled_by(lambda p: 1 / (1 - p) if p else 0),
            does="It is right, unless p is 0: then every weight becomes 0.",
            why="p = 0 drops nothing: the factor is 1/(1 - 0) = 1, and no case of its own is needed.",
            ask="What should come back if nothing is dropped?"),
    Mistake("-inf instead of 0",
            change=({"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf)},),
            does="Dropped weights are -inf.",
            why="-inf belongs into scores, before the softmax. These are weights: a dropped one is 0.",
            ask="Does dropout work on scores or on weights?"),
    Mistake("softmax afterwards",
            change=({"finish_weights": lambda dropped, weights, keep, p: raw_scores._softmax(dropped)},
                    {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf),
                     "rescale": lambda dropped, keep, p: raw_scores._softmax(dropped)},
                    {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf),
                     "rescale": lambda dropped, keep, p: np.nan_to_num(raw_scores._softmax(dropped))},
                    {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf),
                     "finish_weights": lambda dropped, weights, keep, p: raw_scores._softmax(dropped)}),
            does="The result goes through a softmax.",
            why="Dropout comes after the softmax, on weights, and does not normalise again.",
            ask="What does a softmax do to numbers between 0 and 1?"),
    Mistake("dropped weights removed", change={"drop": lambda weights, keep, p: weights[keep]},
            does="The answer is one long row of the kept weights.",
            why="The weights must keep their shape: they still line up with the values.",
            ask="Which function chooses between two values, entry by entry?"),
    Mistake("keep returned instead of the weights",
            change=({"drop": lambda weights, keep, p: np.where(keep, 1.0, 0.0)},
                    {"drop": lambda weights, keep, p: np.where(keep, 1.0, 0.0), "rescale": lambda dropped, keep, p: dropped}),
            does="The answer holds 0 and one other number: the weights themselves are lost.",
            why="keep says which weights stay; what stays is the weight, divided by 1 - p.",
            ask="Where do the weights stand in your answer?"),
    Mistake("rows treated as a whole", alone=True,
            change=tuple({"sense": lambda keep, reduce=reduce, axis=axis: np.broadcast_to(
                reduce(keep, axis=axis, keepdims=True), keep.shape)} for axis in (-1, -2) for reduce in (np.any, np.all)),
            does="A row or a column of weights is kept or dropped as a whole.",
            why="keep speaks for each weight by itself.",
            ask="Over which axis does your all, or any, go?"),
    Mistake("p added", alone=True, change=({"rescale": lambda dropped, keep, p: dropped + p},
                    {"rescale": lambda dropped, keep, p: np.where(keep, dropped + p, 0.0)}),
            does="p is added to the weights.",
            why="What is dropped is made up for by a factor, 1/(1 - p): then the mean of each weight stays.",
            ask="Which operation keeps the ratio of two weights that both stay?"),
    Mistake("dropped weight shared out", alone=True,
            change=({"rescale": lambda dropped, keep, p: dropped, "finish_weights": lambda dropped, weights, keep, p: np.where(
                keep, weights + (weights - dropped).sum(axis=-1, keepdims=True) / np.maximum(
                    keep.sum(axis=-1, keepdims=True), 1), 0.0)},),
            does="The sum of the dropped weights is shared out equally among those that stay.",
            why="The factor is 1/(1 - p) for every weight: it keeps the mean, and looks at no other weight.",
            ask="On what may the factor depend, on p or on the draw?"),
    Mistake("dropped weights set to something else", alone=True,
            change=tuple({"rescale": lambda dropped, keep, p: dropped, 
                "drop": lambda weights, keep, p, other=other, scaled=scaled: np.where(keep, weights / (1 - p) if scaled else weights, other(weights, p))} for scaled in (True, False) for other in (
                lambda w, p: p, lambda w, p: 1.0, lambda w, p: w.mean(), lambda w, p: w.mean(axis=-1, keepdims=True),
                lambda w, p: -w, lambda w, p: w / 2, lambda w, p: w * p, lambda w, p: np.nan)),
            does="Where keep is False stands something else than 0.",
            why="A dropped weight is 0: its key does not count for this query.",
            ask="What should stand where keep is False?"),
    Mistake("keep added to the weights", alone=True,
            change=({"drop": lambda weights, keep, p: weights + keep}, {"drop": lambda weights, keep, p: weights - ~keep},
                    {"drop": lambda weights, keep, p: weights + keep, "rescale": lambda dropped, keep, p: dropped}),
            does="keep counts as 0 and 1 in a sum with the weights.",
            why="keep has to choose, or to be multiplied: a dropped weight is 0.",
            ask="What does True + 0.25 give, and what should it give?"),
    Mistake("another function of p", alone=True,
            change=tuple(map(rescaled_by, (np.exp, lambda p: np.exp(-p), lambda p: 1 / (1 - p ** 2), lambda p: 1 / (1 - p / 2),
                                           lambda p: 1 / (1 - p / 100), lambda p: 2, lambda p: 0.5, lambda p: 1 / (1 - p) ** 3,
                                           lambda p: 1 / (1 - np.sqrt(p)), lambda p: 1 - p ** 2, lambda p: 1 - np.log1p(-p)))),
            does="The kept weights are multiplied by a number, but not by 1 / (1 - p).",
            why="A weight is kept with probability 1 - p: the factor that restores its mean is 1/(1 - p).",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("small weights dropped",
            change=({"drop": lambda weights, keep, p: np.where(weights > p, weights, 0.0)},
                    {"drop": lambda weights, keep, p: np.where(weights < p, weights, 0.0)}),
            does="Weights are compared with p, and keep is not used.",
            why="p is a probability, not a threshold; the draw has been made already, and stands in keep.",
            ask="Which argument says which weights are dropped?"),
)

ALL_DROPPED, P_ZERO = "a row that is dropped whole", "p = 0"


def dropout_weights_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, shape, p, seed, dtype=np.float64):
        keep = np.random.default_rng([seed, *shape]).random(shape) >= p
        keep[..., 0] |= ~keep.any(axis=-1)
        return Case(aspect, (_weights(*shape, seed=seed, dtype=dtype), keep, p))

    def tiny(aspect, weights, keep, p, extreme=False):
        return Case(aspect, (np.array(weights, float), np.array(keep, bool), p), extreme)

    return [
        tiny(PLAIN, [[0.5, 0.25, 0.25]], [[1, 0, 1]], 0.5),
        tiny(PLAIN, [[0.5, 0.5], [0.75, 0.25]], [[1, 1], [0, 1]], 0.2),
        case(PLAIN, (5, 7), 0.3, 1), case(PLAIN, (7, 3), 0.1, 2), case(PLAIN, (3, 11), 0.75, 3),
        case(SQUARE, (5, 5), 0.4, 4), case(LEADING, (2, 5, 7), 0.3, 5), case(LEADING, (2, 3, 5, 7), 0.6, 6),
        tiny(P_ZERO, [[0.5, 0.5]], [[1, 1]], 0.0, True),
        tiny(P_ZERO, [[0.125, 0.5, 0.375], [0.25, 0.0, 0.75]], np.ones((2, 3)), 0.0, True),
        tiny(ALL_DROPPED, [[0.5, 0.5], [0.25, 0.75]], [[1, 1], [0, 0]], 0.5, True),
        case(FLOAT32, (5, 3), 0.2, 7, f4), case(FLOAT16, (3, 5), 0.25, 8, f2),
    ]


OWN_MASK = Mistake(
    "own mask drawn",
    does="Weights become 0, but not where keep is False.",
    why="The draw has been made already, and stands in keep: whoever calls the function needs the same one for the "
        "backward pass.",
    ask="Where does your function use keep?")


def draws_its_own(run):
    """The Mistake if of equal weights others are dropped than keep says."""
    keep = np.random.default_rng(70).random((16, 16)) < 0.5
    outcome = run(np.full(keep.shape, 0.0625), keep, 0.5)
    if outcome.failure or not outcome.answer.pieces or outcome.answer.pieces[0].values.shape != keep.shape:
        return None
    kept = outcome.answer.pieces[0].values != 0
    other = run(np.full(keep.shape, 0.0625), ~keep, 0.5)
    if other.answer and other.answer.pieces and (other.answer.pieces[0].values != 0)[~kept].all():
        return None  # what keep drops is dropped, though in another place
    by_chance = 64 < kept.sum() < 192 and 64 < (kept == keep).sum() < 192
    return OWN_MASK if by_chance else None


dropout_weights = Exercise(
    name="dropout_weights", signature="(weights, keep, p)", part=PART,
    text="Inverted dropout: weights where keep is True, divided by 1 - p; the rest 0. The draw has "
         "been made already and stands in keep; p is the probability of dropping.",
    answer=dropout_weights_answer, steps=DROPOUT_STEPS, cases=dropout_weights_cases, audits=(draws_its_own,),
    hints=(
        "Two things happen: some weights become 0, and the others change so that the mean stays.",
        "A weight w is kept with probability 1 - p. By what must it grow so that its mean is w again?",
        "np.where(keep, ..., 0) chooses entry by entry. Divide by 1 - p, in brackets.",
    ),
    mistakes=DROPOUT_MISTAKES,
)

# ---------------------------------------------------------------- split_heads

def split_heads_answer(do, x, n_heads):
    x = do.axes(x, 2)
    return do.finish_heads(do.move(do.order(do.split(x, n_heads))))


def merge_heads_answer(do, heads):
    heads = do.axes(heads, 3)
    return do.finish_merge(do.join(do.bring(do.order(heads))))


def _swap_heads(array):
    """(..., n, h, d) to (..., h, n, d), and back."""
    return np.swapaxes(array, -3, -2)


def _features_divided(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)


def _joined(parts):
    return parts.reshape(*parts.shape[:-2], -1)


HEAD_STEPS = {
    "axes": lambda array, few: array,
    "split": _features_divided,
    "order": lambda heads: heads,
    "move": _swap_heads,
    "finish_heads": lambda heads: heads,
    "bring": _swap_heads,
    "join": _joined,
    "finish_merge": lambda merged: merged,
}


def _one_leading_axis(array, few):
    if array.ndim != few + 1:
        raise ValueError("not enough values to unpack")
    return array


def _as_it_is(array):
    return array


def _split_by_reshape(x, n_heads):
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], x.shape[-1] // n_heads)


def _every_nth(x, n_heads):
    return swap(x.reshape(*x.shape[:-1], x.shape[-1] // n_heads, n_heads))


def _merged_by_reshape(heads):
    *batch, h, n, d = heads.shape
    return heads.reshape(*batch, n, h * d)


def _axes_0213(array):
    return array.transpose(0, 2, 1, 3)


def _axes_1_and_2(array):
    return np.swapaxes(array, 1, 2)


def _by_first_sizes(x, n_heads):
    return x.reshape(x.shape[0], x.shape[1], n_heads, -1)


def _overlapping(x, n_heads):
    size = x.shape[-1] // n_heads
    return np.stack([x[..., i : i + size] for i in range(n_heads)], axis=-2)


ONE_LEADING_AXIS = Mistake(
    "only for one leading axis", change={"axes": _one_leading_axis},
    does="The function is right with one batch axis; without one, or with two, it stops or answers something else.",
    why="There may be any number of leading axes. Unpacking a shape into a fixed number of names, or "
        "axes counted from the front, fits one number only.",
    ask="How do you get n and d_model from the shape, however many axes stand before them?")

SPLIT_BY_RESHAPE = Mistake(
    "heads split by a reshape alone",
    change=({"split": _split_by_reshape, "move": _as_it_is},
            {"split": lambda x, n_heads: x.reshape(-1, n_heads, x.shape[-2], x.shape[-1] // n_heads), "move": _as_it_is}),
    does="Each head gets some of the positions with all features instead of all positions with some features.",
    why="reshape keeps the order in memory, and there the features of one position stand together. "
        "Split the last axis first, then move the heads' axis in front of the positions.",
    ask="Which axis is to be split, and into which two?")

INTERLEAVED = Mistake(
    "features dealt out in turn", change={"split": _every_nth},
    does="Head i gets the features i, i + n_heads, i + 2 n_heads and so on.",
    why="Head i owns a block of d_head features that follow one another: n_heads comes before d_head "
        "when the last axis is split.",
    ask="Which features belong to head 0?")

HEADS_REVERSED = Mistake(
    "heads in reverse order", change={"finish_heads": lambda heads: heads[..., ::-1, :, :]},
    does="The first head stands last.",
    why="Head i belongs to the i-th block of features, from the first to the last.",
    ask="Which features belong to head 0?")

HEADS_FIXED = Mistake("number of heads fixed in the code", alone=True,
        change=tuple({"split": lambda x, n_heads, h=h: _features_divided(x, h)} for h in (2, 8, 4, 12, 3, 16, 1)),
    does="The number of heads is the same whatever n_heads is; where it does not divide d_model the function stops.",
    why="n_heads says how many heads there are, and each has d_model // n_heads features.",
    ask="Where does n_heads stand in your function?")

HEAD_SIZE_FIXED = Mistake("head's size fixed in the code", alone=True,
        change=tuple({"split": lambda x, n_heads, d=d: x.reshape(*x.shape[:-1], -1, d)} for d in (2, 4, 8, 3, 16, 1)),
    does="Each head has the same number of features whatever n_heads is; where that does not divide d_model "
         "the function stops.",
    why="n_heads says how many heads there are, and each has d_model // n_heads features.",
    ask="Where does n_heads stand in your function?")

SPLIT_MISTAKES = (
    HEADS_FIXED, HEAD_SIZE_FIXED,
    dataclasses.replace(HEADS_REVERSED, change={"order": lambda parts: parts[..., ::-1, :]}),
    Mistake("heads not split", change={"split": lambda x, n_heads: x, "move": _as_it_is},
            does="The answer is x, with its features on one axis.",
            why="Each head gets d_head features of its own: one axis more.",
            ask="How many axes must the answer have?"),
    Mistake("only one head",
            change=(*({"split": lambda x, n_heads, at=at: _features_divided(x, n_heads)[..., at, :],
                       "move": _swap_heads, "finish_heads": _as_it_is} for at in (slice(0, 1), slice(-1, None))),
                    *({"split": lambda x, n_heads, at=at: _features_divided(x, n_heads)[..., at, :], "move": _as_it_is}
                      for at in (0, -1))),
            does="The answer holds one head's features.",
            why="All heads come back, on an axis of their own.",
            ask="How many heads must the answer hold?"),
    SPLIT_BY_RESHAPE, INTERLEAVED,
    dataclasses.replace(ONE_LEADING_AXIS, change=(
        ONE_LEADING_AXIS.change, {"move": _axes_0213}, {"move": _axes_1_and_2},
        {"split": _by_first_sizes, "move": _axes_0213}, {"split": _by_first_sizes, "move": _axes_1_and_2},
        {"split": lambda x, n_heads: x.reshape(-1, x.shape[-2], n_heads, x.shape[-1] // n_heads)})),
    Mistake("heads left behind the positions", change={"move": _as_it_is},
            does="The answer has shape (..., n, n_heads, d_head).",
            why="Each head attends by itself: heads are a batch axis and stand in front of the positions.",
            ask="Which two axes have to change places?"),
    Mistake("n_heads and d_head swapped",
            change=({"split": lambda x, n_heads: _features_divided(x, x.shape[-1] // n_heads)},
                    {"split": lambda x, n_heads: _split_by_reshape(x, x.shape[-1] // n_heads), "move": _as_it_is}),
            does="The answer has d_head heads of n_heads features each.",
            why="n_heads says how many heads there are; each has d_model // n_heads features.",
            ask="How long is the last axis of one head?"),
    Mistake("wrong axes swapped",
            change=({"move": swap}, {"move": lambda parts: np.swapaxes(parts, -1, -3)}, {"move": np.transpose},
                    {"move": lambda parts: swap(_swap_heads(parts))},
                    {"move": lambda parts: np.moveaxis(parts, -1, -3)}),
            does="The positions or the features end up on the wrong axis.",
            why="After the split the axes are (..., n, n_heads, d_head). The middle one has to go in front "
                "of the positions, and nothing else moves.",
            ask="What does each of the three last axes stand for, before and after?"),
    Mistake("heads in front of the batch",
            change={"finish_heads": lambda heads: np.moveaxis(heads, -3, 0)},
            does="The heads' axis is the first of all, before the batch.",
            why="The batch stays in front: (..., n_heads, n, d_head).",
            ask="Where does the batch axis stand in your answer?"),
    Mistake("batch and positions run together",
            change=({"split": lambda x, n_heads: x.reshape(-1, n_heads, x.shape[-1] // n_heads)},),
            does="All positions of all sequences stand on one axis.",
            why="Each sequence attends to itself only; the leading axes are kept.",
            ask="Which axis does -1 stand for in your reshape?"),
    Mistake("twice as many heads", alone=True,
            change=tuple({"split": lambda x, n_heads, h=h: _features_divided(x, h(n_heads) if x.shape[-1] % h(n_heads) == 0
                                                                              else n_heads)}
                         for h in (lambda n: 2 * n, lambda n: n + 1, lambda n: max(n - 1, 1), lambda n: max(n // 2, 1))),
            does="The features are shared out among another number of heads than n_heads.",
            why="n_heads says how many heads there are; each has d_model // n_heads features.",
            ask="How many heads has your answer?"),
    Mistake("x transposed before the split", alone=True,
            change=({"split": lambda x, n_heads: _split_by_reshape(swap(x).reshape(x.shape), n_heads), "move": _as_it_is},
                    {"split": lambda x, n_heads: _features_divided(swap(x).reshape(x.shape), n_heads)},
                    {"split": lambda x, n_heads: swap(x).reshape(*x.shape[:-2], n_heads, x.shape[-2], -1), "move": _as_it_is}),
            does="The positions and features of x have changed places before the split.",
            why="Each position keeps its features: the last axis alone is split.",
            ask="Which axis of x do you split?"),
    Mistake("all features to each head",
            change={"split": lambda x, n_heads: np.repeat(x[..., None, :], n_heads, axis=-2)},
            does="Each head is a copy of the whole input.",
            why="The features are shared out: each head gets d_model // n_heads of them.",
            ask="How many numbers should the answer hold, compared with x?"),
    Mistake("blocks that overlap", change={"split": _overlapping},
            does="Head i begins at feature i, so that the heads share features.",
            why="The blocks stand side by side: head i begins at feature i * d_head.",
            ask="At which feature does head 1 begin?"),
    Mistake("d_model not divided by n_heads",
            change={"split": lambda x, n_heads: x.reshape(*x.shape[:-1], n_heads, x.shape[-1])},
            does="It works for one head only: d_model features for each head are more than x has.",
            why="The heads share the features: each has d_model // n_heads.",
            ask="How many numbers does x hold, and how many does your shape ask for?"),
    Mistake("positions split instead of features",
            change={"split": lambda x, n_heads: x.reshape(*x.shape[:-2], n_heads, -1, x.shape[-1]),
                    "move": _as_it_is},
            does="Each head gets some of the positions, where n_heads divides their number.",
            why="Every head sees every position, with a part of its features.",
            ask="Which axis is to be split?"),
)


def _split_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, n_heads, *shape, seed=0, dtype=np.float64):
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype), n_heads))

    return [
        Case(PLAIN, (np.arange(8.0).reshape(2, 4), 2)), Case(PLAIN, (np.arange(12.0).reshape(2, 6), 3)),
        case(PLAIN, 3, 5, 21, seed=1), case(PLAIN, 2, 7, 10, seed=2), case(PLAIN, 5, 3, 10, seed=3),
        case(PLAIN, 6, 2, 48, seed=13),
        case("one head", 1, 3, 5, seed=4), case("as many heads as features", 5, 3, 5, seed=5),
        case(SQUARE, 2, 2, 4, seed=6), case(SQUARE, 3, 3, 9, seed=7), case(SQUARE, 2, 6, 6, seed=8),
        Case(LEADING, (np.arange(16.0).reshape(2, 2, 4), 2)),
        case(LEADING, 3, 2, 5, 21, seed=9), case(LEADING, 2, 2, 3, 5, 14, seed=10),
        case(FLOAT32, 2, 3, 10, seed=11, dtype=f4), case(FLOAT16, 3, 5, 6, seed=12, dtype=f2),
    ]


split_heads = Exercise(
    name="split_heads", signature="(x, n_heads)", part=PART,
    text="The features of x, of shape (..., n, d_model), shared out among the heads: shape "
         "(..., n_heads, n, d_model // n_heads). Head i gets the i-th block of features.",
    answer=split_heads_answer, steps=HEAD_STEPS,
    cases=_split_cases,
    hints=(
        "Each head sees every position, with d_head = d_model // n_heads of its features.",
        "First split the last axis into two, (n_heads, d_head): a reshape can do that.",
        "Now the axes are (..., n, n_heads, d_head). Every head is to be a matrix of its own, (n, d_head): "
        "which two axes must change places?",
        "x.reshape(*x.shape[:-1], n_heads, -1) splits; np.swapaxes(..., -3, -2) moves the heads.",
    ),
    mistakes=SPLIT_MISTAKES,
)

# ---------------------------------------------------------------- merge_heads

MERGED_BY_RESHAPE = Mistake(
    "heads merged by a reshape alone",
    change=({"bring": _as_it_is, "join": _merged_by_reshape}, {"bring": _as_it_is},
            *({"bring": _as_it_is, "join": join} for join in (
                lambda heads: heads.reshape(-1, heads.shape[-2], heads.shape[-3] * heads.shape[-1]),
                lambda heads: heads.reshape(-1, heads.shape[-3] * heads.shape[-1])))),
    does="Numbers of different positions end up in one row.",
    why="reshape keeps the order in memory, and there all positions of head 0 come first. Move the "
        "heads' axis behind the positions before joining.",
    ask="Which two axes must stand side by side before they can be joined?")

INTERLEAVED_MERGE = Mistake(
    "features dealt out in turn", change={"bring": lambda heads: swap(_swap_heads(heads))},
    does="The first features of all heads come first, then their second ones.",
    why="The features of head 0 come first, as one block, then those of head 1.",
    ask="Which numbers of the answer come from head 0?")

MERGE_MISTAKES = (
    MERGED_BY_RESHAPE, INTERLEAVED_MERGE,
    dataclasses.replace(ONE_LEADING_AXIS, change=(
        ONE_LEADING_AXIS.change, {"bring": _axes_0213}, {"bring": _axes_1_and_2},
        {"bring": _axes_1_and_2, "join": lambda parts: parts.reshape(parts.shape[0], parts.shape[1], -1)},
        {"join": lambda parts: parts.reshape(-1, parts.shape[-3], parts.shape[-2] * parts.shape[-1])},
        {"answer": lambda x: np.concatenate([x[:, i] for i in range(x.shape[1])], axis=-1)},
        {"answer": lambda x: _swap_heads(x).reshape(x.shape[0], x.shape[-2], -1)},
        {"answer": lambda x: np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[-2], -1)},
        {"answer": lambda x: np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[2], -1)})),
    Mistake("axes counted from the front",
            change=({"bring": lambda heads: np.swapaxes(heads, 1, 2) if heads.ndim > 3 else _swap_heads(heads)},),
            does="The function is right with one leading axis and without any, and not with two.",
            why="The heads' axis is the third from the end, -3, whatever stands before it.",
            ask="Which indices name the heads and the positions, however many axes stand before them?"),
    Mistake("one head's features in place of all", alone=True,
            change=tuple({"order": lambda heads, f=f: np.broadcast_to(f(heads), heads.shape)} for f in (
                lambda h: h[..., :1, :, :], lambda h: h[..., -1:, :, :], lambda h: h.sum(axis=-3, keepdims=True),
                lambda h: h.mean(axis=-3, keepdims=True))),
            does="All blocks of features are the same: those of one head, or the sum of all.",
            why="Each head keeps features of its own. They are put behind one another, and nothing is lost.",
            ask="In what do the blocks of your answer differ?"),
    Mistake("only half of the features", alone=True,
            change=({"finish_merge": lambda merged: merged[..., :max(1, merged.shape[-1] // 2)]},
                    {"finish_merge": lambda merged: merged[..., merged.shape[-1] // 2:]}),
            does="The answer holds the first or the second half of the features.",
            why="The features of all heads stand behind one another, n_heads * d_head of them.",
            ask="How long is the last axis of the answer?"),
    Mistake("heads in reverse order", change={"order": lambda heads: heads[..., ::-1, :, :]},
            does="The last head's features come first.",
            why="The features of head 0 come first, as one block, then those of head 1.",
            ask="Which numbers of the answer come from head 0?"),
    Mistake("one head left out",
            change=({"order": lambda heads: heads[..., :-1, :, :]}, {"order": lambda heads: heads[..., 1:, :, :]}),
            does="The first or the last head's features are missing.",
            why="There are n_heads heads, from 0 to n_heads - 1; range(n) ends at n - 1.",
            ask="Which heads does your loop or your slice run over?"),
    Mistake("everything on one axis", change=({"bring": _as_it_is, "join": np.ravel}, {"join": np.ravel}),
            does="The answer is one long row of numbers.",
            why="Positions keep an axis of their own, and so do the leading axes: only heads and features are joined.",
            ask="Which axes does -1 stand for in your reshape?"),
    Mistake("heads not joined", change=({"join": _as_it_is}, {"bring": _as_it_is, "join": _as_it_is}),
            does="The heads still have an axis of their own.",
            why="The heads' features stand behind one another in one axis of length n_heads * d_head.",
            ask="How many axes should the answer have?"),
    Mistake("heads added",
            change=({"join": lambda parts: parts.sum(axis=-2)}, {"join": lambda parts: parts.mean(axis=-2)}),
            does="The heads are added or averaged: the answer has d_head features.",
            why="Each head keeps features of its own. They are put behind one another, and nothing is lost.",
            ask="How long is the last axis of the answer?"),
    Mistake("largest of the heads",
            change=({"join": lambda parts: parts.max(axis=-2)}, {"join": lambda parts: parts.prod(axis=-2)}),
            does="Of the heads the largest entry, or the product of all, is taken: the answer has d_head features.",
            why="Each head keeps features of its own. They are put behind one another, and nothing is lost.",
            ask="How long is the last axis of the answer?"),
    Mistake("heads put below each other",
            change=({"bring": _as_it_is, "join": lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1])},
                    {"bring": _as_it_is, "join": lambda heads: heads.reshape(-1, heads.shape[-1])},
                    {"bring": _swap_heads, "join": lambda parts: parts.reshape(*parts.shape[:-3], -1, parts.shape[-1])}),
            does="The heads are joined to the positions: the answer has shape (..., n_heads * n, d_head).",
            why="There are n positions still; it is the features that are put behind one another.",
            ask="Along which axis do you concatenate?"),
    Mistake("wrong axes swapped",
            change=({"bring": swap}, {"bring": lambda heads: np.swapaxes(heads, -1, -3)},
                    {"bring": swap, "join": _merged_by_reshape},
                    {"bring": swap, "join": lambda heads: heads.reshape(*heads.shape[:-3], heads.shape[-1], -1)},
                    {"bring": lambda heads: np.swapaxes(heads, -1, -3), "join": _merged_by_reshape},
                    {"bring": lambda heads: heads.T, "join": lambda parts: parts.reshape(parts.shape[1], -1)},
                    {"bring": lambda heads: np.swapaxes(_swap_heads(heads), -1, -3)}),
            does="The positions or the features end up on the wrong axis.",
            why="The axes are (..., n_heads, n, d_head). The heads go behind the positions, and nothing "
                "else moves.",
            ask="What does each of the three last axes stand for, before and after?"),
    Mistake("batch and positions run together",
            change=({"join": lambda parts: parts.reshape(-1, parts.shape[-2] * parts.shape[-1])},),
            does="All positions of all sequences stand on one axis.",
            why="The leading axes are kept.",
            ask="Which axis does -1 stand for in your reshape?"),
    Mistake("batch among the features",
            change=({"join": lambda parts: np.moveaxis(parts, -3, 0).reshape(parts.shape[-3], -1)},
                    {"join": lambda parts: parts.reshape(parts.shape[-3], -1)}),
            does="One row holds the features of all sequences.",
            why="The leading axes are kept: only the heads and their features are joined.",
            ask="Which axes does -1 stand for in your reshape?"),
    Mistake("only one head",
            change=({"join": lambda parts: parts[..., 0, :]}, {"join": lambda parts: parts[..., -1, :]}),
            does="The answer holds the features of one head.",
            why="All heads' features are put behind one another.",
            ask="How long is the last axis of the answer?"),
    Mistake("answer transposed", change={"finish_merge": swap},
            does="The answer has shape (..., n_heads * d_head, n).",
            why="Rows belong to positions, as in the input.",
            ask="What should one row of the answer belong to?"),
)


def _merge_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, *shape, seed=0, dtype=np.float64):
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype),))

    return [
        Case(PLAIN, (np.arange(8.0).reshape(2, 2, 2),)), Case(PLAIN, (np.arange(12.0).reshape(2, 3, 2),)),
        case(PLAIN, 3, 5, 7, seed=1), case(PLAIN, 5, 2, 3, seed=2), case(PLAIN, 2, 7, 5, seed=3),
        case("one head", 1, 3, 5, seed=4), case("one feature a head", 5, 3, 1, seed=5),
        case(SQUARE, 3, 3, 3, seed=6), case(SQUARE, 2, 4, 2, seed=7), case(SQUARE, 3, 3, 2, seed=8),
        Case(LEADING, (np.arange(16.0).reshape(2, 2, 2, 2),)),
        case(LEADING, 2, 3, 5, 7, seed=9), case(LEADING, 2, 3, 5, 2, 7, seed=10),
        case(FLOAT32, 2, 3, 5, seed=11, dtype=f4), case(FLOAT16, 3, 5, 2, seed=12, dtype=f2),
    ]


merge_heads = Exercise(
    name="merge_heads", signature="(x)", part=PART,
    text="The heads' features behind one another, the inverse of split_heads: from shape "
         "(..., n_heads, n, d_head) to (..., n, n_heads * d_head).",
    answer=merge_heads_answer, steps=HEAD_STEPS, cases=_merge_cases,
    hints=(
        "Undo split_heads step by step, the last step first.",
        "The heads' axis has to go back behind the positions: (..., n, n_heads, d_head).",
        "Then the last two axes become one of length n_heads * d_head, and a reshape can do that.",
        "np.swapaxes(x, -3, -2) moves the heads; .reshape(*batch, n, n_heads * d_head) joins.",
    ),
    mistakes=MERGE_MISTAKES,
    aspects={LEADING: Mistake(
        "only for three axes",
        does="The function is right for three axes, and not with leading (batch) axes.",
        why="There may be any number of axes in front; count axes from the end.",
        ask="Which of your lines count the axes from the front, or expect exactly three?")},
)

# ---------------------------------------------------------------- multi_head_attention

def multi_head_attention_answer(do, x, w_q, w_k, w_v, w_o, n_heads):
    x = do.axes(x, 2)
    w_q, w_k, w_v, w_o = do.matrices(*do.oriented(w_q, w_k, w_v, w_o))
    split = (do.move(do.split(do.project(x, w, n_heads), n_heads)) for w in (w_q, w_k, w_v))
    heads = do.finish_heads(attention_answer(do, *split))
    return do.layer_out(do.project_out(do.join(do.bring(heads)), w_o), x)


def _plain_projection(x, w, n_heads):
    return x @ w


def _block_projection(x, w, n_heads):
    """Each head's features projected by that head's block of w alone."""
    head = np.arange(w.shape[-1]) // (w.shape[-1] // n_heads)
    return x @ np.where(head[:, None] == head, w, 0.0)


MULTI_HEAD_STEPS = {
    **ATTENTION_STEPS, **HEAD_STEPS,
    "oriented": lambda *matrices: matrices,
    "matrices": lambda *matrices: matrices,
    "project": _plain_projection,
    "project_out": lambda x, w: x @ w,
    "layer_out": lambda output, x: output,
}


def _left_out(*places):
    """Changes that replace these of the four matrices by the identity."""
    def matrices(*given):
        return tuple(np.eye(len(w)) if i in places else w for i, w in enumerate(given))

    return {"matrices": matrices}


def _chosen(*places):
    """Changes that use these of the four matrices for queries, keys, values and output."""
    return {"matrices": lambda *given: tuple(given[place] for place in places)}


def _transposed(places):
    """A change that transposes these of the four matrices."""
    return {"oriented": lambda *given: tuple(w.T if i in places else w for i, w in enumerate(given))}


SOME_PLACES = tuple(places for size in (4, 3, 1, 2) for places in itertools.combinations(range(4), size))
OTHER_PLACES = (
    *(tuple(j if place == i else place for place in range(4)) for i in range(4) for j in range(4) if i != j),
    (0, 2, 1, 3), (2, 1, 0, 3), (0, 1, 3, 2), (3, 1, 2, 0), (0, 3, 2, 1), (1, 2, 0, 3), (2, 0, 1, 3), (3, 2, 1, 0),
    (1, 2, 3, 0), (3, 0, 1, 2), (0, 0, 0, 3), (1, 1, 1, 3), (2, 2, 2, 3), (0, 0, 0, 0))


def _by_d_model(scores, query, key):
    return scores / math.sqrt(query.shape[-1] * query.shape[-3])


def _head_mean(weights):
    return np.broadcast_to(weights.mean(axis=-3, keepdims=True), weights.shape)


def first_variants(mistakes):
    """Without the variants that count the first axis: here that is the heads' or the batch."""
    return tuple(dataclasses.replace(mistake, change=mistake.variants[0]) for mistake in mistakes)


def _one_head_scaled_as_many(x, w_q, w_k, w_v, w_o, n_heads):
    scores = x @ w_q @ swap(x @ w_k) / math.sqrt(x.shape[-1] / n_heads)
    return raw_scores._softmax(scores) @ x @ w_v @ w_o


def _multi_head(*args):
    return multi_head_attention_answer(SimpleNamespace(**MULTI_HEAD_STEPS), *args)


def _alone(place):
    def finish(heads):
        alone = np.zeros_like(heads)
        alone[..., place, :, :] = heads[..., place, :, :]
        return alone

    return {"finish_heads": finish}


def _of_projection(word):
    """(name, what is done, change) of what may be done to the projected queries, keys or values of each head."""
    def change(act):
        if word == "queries":
            return {"roles": lambda query, key: (act(query), key)}
        if word == "keys":
            return {"roles": lambda query, key: (query, act(key))}
        return {"choose_values": lambda query, key, value: act(value)}

    def unit(array):
        return array / np.linalg.norm(array, axis=-1, keepdims=True)

    def standard(array):
        return (array - array.mean(axis=-1, keepdims=True)) / array.std(axis=-1, keepdims=True)

    return (("through a ReLU", "put through a ReLU", change(lambda a: np.maximum(a, 0.0))),
            ("squared", "squared", change(np.square)), ("through a tanh", "put through a tanh", change(np.tanh)),
            ("normalised", "divided by their lengths, or standardised", (change(unit), change(standard))),
            ("through a softmax", "put through a softmax", change(raw_scores._softmax)))


SCALE_BY_HEADS = Mistake(
    "sqrt(n_heads) instead of sqrt(d_k)",
    change={"scale": lambda scores, query, key: scores / math.sqrt(query.shape[-3])},
    does="The scale depends on how many heads there are.",
    why="Within a head a score is a sum of d_k products; how many heads there are does not touch it.",
    ask="Over which index does the sum in q · k run, and how long is it?")

D_MODEL_SCALE = Mistake(
    "d_model instead of the head's size", change={"scale": _by_d_model},
    does="The scores are divided by sqrt(d_model) and not by sqrt(d_head).",
    why="Within a head a score is a sum of d_head = d_model / n_heads products, and the scale makes up "
        "for their number.",
    ask="How long is a query within one head?")

OVER_HEADS = Mistake(
    "softmax over the heads", change={"axis": lambda axis, scores: -3},
    does="The heads compete with each other, and not the keys.",
    why="Each head is an attention of its own: its weights sum to 1 over the keys, the last axis.",
    ask="Along which axis must the weights of one query sum to 1?")

MULTI_HEAD_MISTAKES = (
    D_MODEL_SCALE, SCALE_BY_HEADS,
    SPLIT_BY_RESHAPE,
    MERGED_BY_RESHAPE,
    dataclasses.replace(INTERLEAVED, change=(
        INTERLEAVED.change, {**INTERLEAVED.change, **INTERLEAVED_MERGE.change}, INTERLEAVED_MERGE.change)),
    Mistake("attention between heads instead of positions", change={"move": _as_it_is, "bring": _as_it_is},
            does="At each position the heads attend to each other, and no position sees another one.",
            why="The heads' axis has to stand in front of the positions, so that each head is an "
                "attention over all positions.",
            ask="What shape have your weights, and which axis are they summed over?"),
    Mistake("n_heads ignored",
            change=({"split": lambda x, n_heads: x[..., None, :]}, {"answer": _one_head_scaled_as_many}),
            does="It is attention with one head of size d_model.",
            why="Each head has scores and weights of its own, from its part of the features.",
            ask="How many tables of weights does your function make?"),
    Mistake("input not projected",
            change=(_left_out(0, 1, 2), _left_out(0), _left_out(1), _left_out(2), _left_out(0, 1), _left_out(0, 2),
                    _left_out(1, 2), _left_out(0, 1, 2, 3)),
            does="Queries, keys or values are x itself, without their matrix.",
            why="Each of the three is a projection of its own: x @ w_q, x @ w_k, x @ w_v.",
            ask="Which of the four matrices does your function not use?"),
    Mistake("queries and keys swapped", change={"roles": lambda query, key: (key, query)},
            does="Queries and keys have changed places: w_q and w_k are swapped, or the scores are K Qᵀ.",
            why="A row of the scores belongs to a query, and the softmax runs along it, over the keys.",
            ask="Which matrix makes the queries, and what does one row of your scores belong to?"),
    HEADS_REVERSED,
    Mistake("output projection before attention",
            change={"matrices": lambda w_q, w_k, w_v, w_o: (w_q, w_k, w_v @ w_o, np.eye(len(w_o)))},
            does="w_o is applied to the values before the heads have attended.",
            why="w_o mixes what all heads found: it comes last, after the heads are merged.",
            ask="Which of your products comes after the merge?"),
    Mistake("no output projection", change={"project_out": lambda x, w: x},
            does="The heads' outputs come back as they are, without w_o.",
            why="w_o mixes what the heads found.",
            ask="What happens after the heads are merged?"),
    Mistake("x @ w.T instead of x @ w", change=tuple(map(_transposed, SOME_PLACES)),
            does="One of the matrices is transposed, or several are.",
            why="Here the projection is x @ w. torch.nn.Linear keeps its weight transposed, and computes "
                "x @ weight.T.",
            ask="Which axis of w belongs to the input features?"),
    dataclasses.replace(HEADS_FIXED, change=HEADS_FIXED.change[:5]),
    Mistake("output subtracted from the input", alone=True, change={"layer_out": lambda output, x: x - output},
            does="The answer is x minus the output.",
            why="A residual connection belongs to the layer around attention, not into it.",
            ask="Which of your lines is not part of attention?"),
    Mistake("input projected once more", alone=True,
            change=tuple({"answer": lambda *args, at=at: _multi_head(args[0] @ args[at], *args[1:])} for at in (1, 2, 3, 4)),
            does="x is multiplied with one of the matrices before all three projections.",
            why="Queries, keys and values are three projections of x itself.",
            ask="Which array stands before w_q in your product?"),
    *(Mistake(f"{word} {text}", alone=True, change=change,
              does=f"The projected {word} are {said} before attention.",
              why="Between a projection and the scores nothing happens but the split into heads.",
              ask=f"What do you do with x @ w_{word[0]}?")
      for word in ("queries", "keys", "values") for text, said, change in _of_projection(word)),
    Mistake("projected twice", alone=True, change=tuple({"matrices": lambda *given, places=places: tuple(
                w @ w if i in places else w for i, w in enumerate(given))} for places in SOME_PLACES),
            does="One of the matrices is applied two times, or several are.",
            why="Queries, keys, values and output are each projected once.",
            ask="How often does each matrix stand in your products?"),
    Mistake("output projection of the input added",
            change=({"answer": lambda *args: _multi_head(*args) + args[0] @ args[4]},),
            does="x @ w_o is added to the output.",
            why="w_o projects what the heads found, and nothing else.",
            ask="Which array do you multiply with w_o?"),
    Mistake("the first head's weights for all", change=(
                {"weights_in": lambda w: np.broadcast_to(w[..., :1, :, :], w.shape)},
                {"weights_in": lambda w: np.broadcast_to(w[..., -1:, :, :], w.shape)}),
            does="All heads use the weights of the first head, or of the last.",
            why="Each head attends in its own way; that is what several heads are for.",
            ask="From which queries and keys do the weights of head 1 come?"),
    Mistake("one head's keys for all", alone=True, change=tuple(
                {"keys": lambda key, value, at=at, which=which: (
                    np.broadcast_to(key[..., at, None, :, :], key.shape) if which != "value" else key,
                    np.broadcast_to(value[..., at, None, :, :], value.shape) if which != "key" else value)}
                for at in (0, -1) for which in ("both", "key", "value")),
            does="All heads read the keys, or the values, of one head.",
            why="Each head has queries, keys and values of its own. Sharing them is multi-query attention.",
            ask="Which keys does head 1 read?"),
    Mistake("heads added instead of joined",
            change={"finish_heads": lambda heads: np.broadcast_to(heads.sum(axis=-3, keepdims=True), heads.shape)},
            does="The heads' outputs are added up before they are merged: all blocks of features are the same.",
            why="Each head keeps features of its own. They are put behind one another, and w_o mixes them.",
            ask="In what do the blocks of your merged array differ?"),
    Mistake("projections mixed up",
            change=tuple(_chosen(*places) for places in OTHER_PLACES),
            does="One of the matrices is used in place of another, or they have changed places.",
            why="w_q makes the queries, w_k the keys, w_v the values, and w_o the output.",
            ask="Which matrix stands in which of your four products?"),
    Mistake("input split before the projection", change={"project": _block_projection},
            does="Each head is projected by one block of the matrices, and sees only its own features of x.",
            why="Every head sees all features of x: project first, with the whole matrix, then split.",
            ask="From how many features of x does head 0 make its queries?"),
    Mistake("input added", change={"layer_out": lambda output, x: output + x},
            does="x is added to the output.",
            why="A residual connection belongs to the layer around attention, not into it.",
            ask="Which of your lines is not part of attention?"),
    ONE_LEADING_AXIS,
    OVER_HEADS,
    Mistake("only one head", change=(_alone(-1), _alone(0)),
            does="The output holds what one head found, and the others are lost.",
            why="In a loop over the heads their outputs have to be collected or added up; = replaces "
                "the one before.",
            ask="What is left of head 0 when the loop is over?"),
    Mistake("heads averaged", change={"finish_heads": _head_mean},
            does="The heads' outputs are averaged before they are merged: all blocks of features are the same.",
            why="Each head keeps features of its own. They are put behind one another, and w_o mixes them.",
            ask="In what do the blocks of your merged array differ?"),
    Mistake("weights averaged over the heads", change={"weights_in": _head_mean},
            does="All heads use the same weights: their mean.",
            why="Each head attends in its own way; that is what several heads are for.",
            ask="Which indices of the weights may the sum touch?"),
    *first_variants(pick(raw_scores.SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_k) instead of sqrt(d_k)", "1/2 instead of a square root")),
    CAUSAL,
    *pick(raw_scores.PRODUCT_MISTAKES, "reshape instead of transpose", "cosine instead of dot product"),
    *pick(ATTENTION_SOFTMAX_MISTAKES, "no maximum subtracted", "one maximum for the whole array",
          "minimum subtracted instead of maximum", "no exponential", "power of 2 instead of e",
          "argmax instead of softmax", "sign flipped", "not divided by the sum", "sum over the wrong axis",
          "sum without keepdims", "softmax over the queries' axis", "softmax over everything", "softmax left out",
          "scale after the softmax"),
    *pick(attention.mistakes, "Aᵀ V instead of A V", "weights averaged over the batch", "one key left out",
          "softmax of the weights", "rounded"),
)


def _multi_head_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, n_heads, n, d_model, seed, batch=(), dtype=np.float64):
        x = normal(*batch, n, d_model, seed=seed, dtype=dtype)
        matrices = (normal(d_model, d_model, seed=seed + i, dtype=dtype, scale=0.5) for i in range(1, 5))
        return Case(aspect, (x, *matrices, n_heads))

    def huge(x, scale):
        eye = np.eye(len(x[0]))
        return Case(HUGE, (np.array(x, float), scale * eye, scale * eye, scale * eye, eye, 2), True)

    w_q, w_k, w_v = ([[1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [2.0, 0.0]], [[1.0, 2.0], [0.0, 1.0]])
    tiny = [np.array(w) for w in (w_q, w_k, w_v, [[1.0, 1.0], [0.0, 2.0]])]
    return [
        Case(PLAIN, (np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), *tiny, 2)),
        case(PLAIN, 2, 5, 6, 1), case(PLAIN, 3, 7, 6, 6), case(PLAIN, 2, 3, 10, 11), case(PLAIN, 6, 2, 24, 56),
        Case("one head", (np.array([[1.0, 0.0], [0.0, 2.0]]), *tiny, 1)), case("one head", 1, 3, 5, 16),
        case(SQUARE, 3, 3, 9, 21), case(SQUARE, 2, 4, 4, 26), case(SQUARE, 6, 6, 6, 31),
        case(LEADING, 2, 3, 6, 36, (2,)), case(LEADING, 3, 5, 6, 41, (2, 3)),
        huge([[1.0, -1.0], [0.99, 0.5], [0.0, 0.25]], 100.0), huge([[1.0, 0.0], [-1.0, 0.01]], 50.0),
        huge([[1.0, 1.0], [1.0001, 0.9999]], 100.0),  # all scores are huge, and near each other
        case(FLOAT32, 2, 3, 10, 46, dtype=f4), case(FLOAT16, 3, 2, 6, 51, dtype=f2),
    ]


multi_head_attention = Exercise(
    name="multi_head_attention", signature="(x, w_q, w_k, w_v, w_o, n_heads)", part=PART,
    text="Self-attention with several heads: x of shape (..., n, d_model) is projected by x @ w_q, x @ w_k "
         "and x @ w_v, split into heads, attended, merged, and projected by w_o.",
    answer=multi_head_attention_answer, steps=MULTI_HEAD_STEPS, cases=_multi_head_cases, fitted=ATTENTION_FITTED,
    hints=(
        "Five steps: project, split into heads, attend, merge the heads, project once more.",
        "x @ w_q, x @ w_k and x @ w_v are the queries, keys and values of all heads side by side.",
        "split_heads puts the heads in front of the positions; then attention treats them as a batch, and "
        "scales by the square root of d_head by itself.",
        "With your earlier functions: merge_heads(attention(...)) @ w_o, where each of the three arguments "
        "is split_heads(x @ w, n_heads).",
    ),
    mistakes=MULTI_HEAD_MISTAKES,
)

# ---------------------------------------------------------------- grouped_query_attention

def grouped_query_attention_answer(do, query, key, value):
    query = do.axes(do.query_heads(query, key), 3)
    matched = do.match_key(key, query), do.match_value(value, query)
    return do.heads_out(attention_answer(do, query, *matched), key)


def _repeated(array, query):
    return np.repeat(array, query.shape[-3] // array.shape[-3], axis=-3)


def _indexed(choose):
    """Changes: query head i reads the head that this function of (i, h, h_kv) names."""
    def match(array, query):
        h, h_kv = query.shape[-3], array.shape[-3]
        return np.take(array, choose(np.arange(h), h, h_kv), axis=-3)

    return {"match_key": match, "match_value": match}


def _unmatched(array, query):
    return array


def _grouped(reduce):
    def query_heads(query, key):
        *batch, h, n, d = query.shape
        h_kv = key.shape[-3]
        return reduce(query.reshape(*batch, h_kv, h // h_kv, n, d), axis=-3)

    return {"query_heads": query_heads}


def _first_of_group(array, axis):
    return np.take(array, 0, axis=axis)


GROUPED_STEPS = {
    **ATTENTION_STEPS,
    "axes": lambda query, few: query,
    "query_heads": lambda query, key: query,
    "match_key": _repeated,
    "match_value": _repeated,
    "heads_out": lambda heads, key: heads,
}

TILED = _indexed(lambda i, h, h_kv: i % h_kv)


def _plain_attention(query, key, value):
    return attention_answer(SimpleNamespace(**ATTENTION_STEPS), query, key, value)


def _with_each_head(query, key, value):
    return [_plain_attention(query, key[..., j, None, :, :], value[..., j, None, :, :]) for j in range(key.shape[-3])]


def _side_by_side(heads):
    """The keys of all heads in one row, for every query head."""
    return heads.reshape(*heads.shape[:-3], 1, -1, heads.shape[-1])


def _one_group(heads, key, which):
    size = heads.shape[-3] // key.shape[-3]
    found, part = np.zeros_like(heads), slice(0, size) if which == 0 else slice(-size, None)
    found[..., part, :, :] = heads[..., part, :, :]
    return found


def _dealt(heads, columns):
    """The heads dealt out into a table of that many columns, and read column by column."""
    h = heads.shape[-3]
    return np.take(heads, np.arange(h).reshape(-1, columns).T.ravel(), axis=-3)


def _merged(heads, key):
    return _joined(_swap_heads(heads))


def _groups_apart(heads, key):
    *batch, h, n, d = heads.shape
    h_kv = key.shape[-3]
    return heads.reshape(*batch, h_kv, h // h_kv, n, d)


def _matched(match):
    return {"match_key": match, "match_value": match}


GROUPED_MISTAKES = (
    Mistake("tiled instead of repeated",
            change=TILED,
            does="Query head i reads key head i % h_kv.",
            why="Query heads that stand side by side share a key head: i // (h // h_kv). np.repeat makes "
                "0, 0, 1, 1 of 0, 1; np.tile and torch's repeat make 0, 1, 0, 1.",
            ask="With 4 query heads and 2 key heads, which key head does query head 1 read?"),
    Mistake("only the keys tiled instead of repeated", change={"match_key": TILED["match_key"]},
            does="Query head i reads key head i % h_kv, and value head i // (h // h_kv).",
            why="Key head and value head of a query have the same number, i // (h // h_kv): both are repeated as by "
                "np.repeat, which makes 0, 0, 1, 1 of 0, 1.",
            ask="Which key head and which value head does query head 1 of 4 read, if there are 2 of each?"),
    Mistake("only the values tiled instead of repeated", change={"match_value": TILED["match_value"]},
            does="Query head i reads key head i // (h // h_kv), as it should, and value head i % h_kv.",
            why="Key head and value head of a query have the same number, i // (h // h_kv): both are repeated as by "
                "np.repeat, which makes 0, 0, 1, 1 of 0, 1.",
            ask="Which key head and which value head does query head 1 of 4 read, if there are 2 of each?"),
    Mistake("only some query heads",
            change=({"query_heads": lambda query, key: query[..., :key.shape[-3], :, :]},),
            does="Only the first h_kv query heads attend; the answer has h_kv heads.",
            why="All h query heads attend: h // h_kv of them share one key head.",
            ask="How many heads must the answer have?"),
    Mistake("size of a group fixed in the code", alone=True,
            change=tuple(_indexed(lambda i, h, h_kv, c=c: np.minimum(i // c, h_kv - 1)) for c in (2, 4, 8))
            + tuple(_indexed(lambda i, h, h_kv, c=c: i // c) for c in (2, 4, 8)),
            does="The same number of query heads share a key head whatever h and h_kv are.",
            why="A group holds h // h_kv query heads.",
            ask="How many query heads share one key head?"),
    Mistake("key heads off by one", alone=True,
            change=(_indexed(lambda i, h, h_kv: np.minimum((i + 1) // (h // h_kv), h_kv - 1)),
                    _indexed(lambda i, h, h_kv: (i // (h // h_kv) + 1) % h_kv),
                    _indexed(lambda i, h, h_kv: np.maximum(i - 1, 0) // (h // h_kv)),
                    _indexed(lambda i, h, h_kv: (i // (h // h_kv) - 1) % h_kv)),
            does="The groups begin one query head too early or too late, or read the key head beside their own.",
            why="Query head i reads key head i // (h // h_kv), both counted from 0.",
            ask="Which key head do query heads 0 and 1 of 4 read, if there are 2?"),
    Mistake("query heads averaged within a group", alone=True,
            change=({"query_heads": lambda query, key: np.repeat(_grouped(np.mean)["query_heads"](query, key),
                                                                 query.shape[-3] // key.shape[-3], axis=-3)},
                    {"query_heads": lambda query, key: np.repeat(_grouped(_first_of_group)["query_heads"](query, key),
                                                                 query.shape[-3] // key.shape[-3], axis=-3)}),
            does="All query heads of a group ask with the same query: their mean, or the first one's.",
            why="Every query head keeps its own queries. It is the keys and values that are shared.",
            ask="In what do the outputs of two query heads of one group differ?"),
    Mistake("only the first group", alone=True, change=({"heads_out": lambda heads, key: _one_group(heads, key, 0)},
                    {"heads_out": lambda heads, key: _one_group(heads, key, -1)}),
            does="Only one group of query heads has an output; the others are 0.",
            why="All h query heads attend.",
            ask="Which groups does your loop run over?"),
    Mistake("query head i reads key head i",
            change=(_indexed(lambda i, h, h_kv: np.minimum(i, h_kv - 1)),),
            does="The first h_kv query heads read a key head each, and all others the last one.",
            why="Query heads that stand side by side share a key head: i // (h // h_kv).",
            ask="With 4 query heads and 2 key heads, which key head does query head 1 read?"),
    Mistake("every query head reads all key heads",
            change=({"answer": lambda *args: np.mean(_with_each_head(*args), axis=0)},
                    {"answer": lambda *args: np.sum(_with_each_head(*args), axis=0)},
                    {"answer": lambda query, key, value: _plain_attention(query, _side_by_side(key), _side_by_side(value))}),
            does="Each query head attends to the keys of all key heads, one after the other or all at once.",
            why="Each query head reads exactly one key head, i // (h // h_kv).",
            ask="Which key head does query head 0 read, and which does it not?"),
    Mistake("query heads in another order", alone=True,
            change=({"heads_out": lambda heads, key: _dealt(heads, key.shape[-3])},
                    {"heads_out": lambda heads, key: _dealt(heads, heads.shape[-3] // key.shape[-3])}),
            does="The outputs are those of the right heads, but the heads stand in another order.",
            why="Output i belongs to query head i. Groups that are stacked have to be put back one after the other.",
            ask="Where does the output of query head 1 stand in your answer?"),
    Mistake("i // h_kv", change=(_indexed(lambda i, h, h_kv: i // h_kv),
                                 _indexed(lambda i, h, h_kv: np.minimum(i // h_kv, h_kv - 1)),
                                 _indexed(lambda i, h, h_kv: i // h_kv % h_kv)),
            does="Query head i reads key head i // h_kv, where that exists.",
            why="The number to divide by is the size of a group, h // h_kv, and not the number of groups.",
            ask="How many query heads share one key head?"),
    Mistake("i % (h // h_kv)", change=(_indexed(lambda i, h, h_kv: i % (h // h_kv)),
                                       _indexed(lambda i, h, h_kv: np.minimum(i % (h // h_kv), h_kv - 1))),
            does="Query head i reads key head i % (h // h_kv), where that exists.",
            why="Query heads that stand side by side share a key head: the quotient names it, not the remainder.",
            ask="With 4 query heads and 2 key heads, which key head does query head 1 read?"),
    Mistake("repeated h_kv times", change=_matched(lambda a, query: np.repeat(a, a.shape[-3], axis=-3)),
            does="It works only where h is h_kv squared, or h_kv is 1.",
            why="Each key head serves a group of h // h_kv query heads.",
            ask="How many query heads share one key head?"),
    Mistake("only one key head",
            change=(_indexed(lambda i, h, h_kv: 0 * i), _indexed(lambda i, h, h_kv: 0 * i + h_kv - 1),
                    *({place: _indexed(lambda i, h, h_kv: 0 * i)[place]} for place in ("match_key", "match_value"))),
            does="All query heads read the same key head, or the same value head.",
            why="That is multi-query attention. With h_kv key heads each serves a group of h // h_kv.",
            ask="Which key head does the last query head read?"),
    Mistake("key heads averaged",
            change={"match_key": lambda a, query: a.mean(axis=-3, keepdims=True),
                    "match_value": lambda a, query: a.mean(axis=-3, keepdims=True)},
            does="All query heads read the mean of the key heads.",
            why="Key heads are shared, not mixed: each query head reads exactly one.",
            ask="Which key head does query head 0 read?"),
    Mistake("query heads merged within a group",
            change=(_grouped(np.mean), _grouped(np.sum), _grouped(_first_of_group)),
            does="The answer has h_kv heads instead of h.",
            why="Every query head keeps an output of its own. It is the keys and values that are repeated.",
            ask="How many heads must the answer have?"),
    Mistake("key heads not matched to the query heads", change=_matched(_unmatched),
            does="It works only where h_kv is 1 or h. Otherwise h query heads meet h_kv key heads.",
            why="A matrix product needs as many key heads as query heads, or a single one.",
            ask="On which axis, and how often, must each key head be repeated?"),
    Mistake("heads taken in reverse",
            change=(_indexed(lambda i, h, h_kv: (h - 1 - i) // (h // h_kv)),
                    {"heads_out": lambda heads, key: heads[..., ::-1, :, :]}),
            does="The first query heads read the last key head, or stand last in the answer.",
            why="Query head 0 reads key head 0, and stands first.",
            ask="Which key head does query head 0 read?"),
    dataclasses.replace(
        ONE_LEADING_AXIS,
        change=(ONE_LEADING_AXIS.change,
                _matched(lambda a, query: np.repeat(a, query.shape[1] // a.shape[1], axis=1)),
                _matched(lambda a, query: np.repeat(a, query.shape[-3] // a.shape[-3], axis=1))),
        why="There may be any number of leading axes. Unpacking a shape into a fixed number of names, or "
            "axes counted from the front (axis=1), fits one number only.",
        ask="Which index names the heads' axis however many axes stand before it?"),
    SCALE_BY_HEADS,
    dataclasses.replace(D_MODEL_SCALE, does="The scores are divided by sqrt(h * d_k) and not by sqrt(d_k).",
                        why="Within a head a score is a sum of d_k products, and the scale makes up for their number."),
    Mistake("groups left apart", change=({"heads_out": _groups_apart}, {"heads_out": lambda heads, key: np.reshape(
                heads, (*heads.shape[:-3], key.shape[-3], -1, heads.shape[-1]))}),
            does="The answer has an axis for the groups: (..., h_kv, h // h_kv, n_q, d_v), or with a group's "
                 "positions joined.",
            why="The query heads stand on one axis, as they came.",
            ask="Which axes should the answer have?"),
    Mistake("heads merged", change={"heads_out": _merged},
            does="The answer has shape (..., n_q, h * d_v): the heads are merged.",
            why="The heads stay apart here; merging them is another step.",
            ask="Which axes should the answer have?"),
    Mistake("heads averaged", change=({"heads_out": lambda heads, key: heads.mean(axis=-3)},
                                      {"heads_out": lambda heads, key: heads.sum(axis=-3)}),
            does="The heads' outputs are averaged or added.",
            why="Each query head has an output of its own.",
            ask="Which axes should the answer have?"),
    OVER_HEADS,
    *first_variants(pick(raw_scores.SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_k) instead of sqrt(d_k)", "sqrt(n_q) instead of sqrt(d_k)",
                         "1/2 instead of a square root")),
    SCALE_BY_D_V, CAUSAL,
    *pick(attention.mistakes, "K Qᵀ instead of Q Kᵀ", "no transpose", "reshape instead of transpose",
          "cosine instead of dot product", "no maximum subtracted", "one maximum for the whole array",
          "minimum subtracted instead of maximum", "no exponential", "power of 2 instead of e",
          "argmax instead of softmax", "sign flipped", "not divided by the sum", "sum over the wrong axis",
          "softmax over the queries' axis", "softmax over everything", "softmax left out", "scale after the softmax",
          "sum without keepdims", "Aᵀ V instead of A V", "one key left out", "softmax of the weights", "rounded"),
    *VALUE_MISTAKES[1:],
)

ONE_KEY_HEAD, ALL_KEY_HEADS = "one key head", "as many key heads as query heads"


def _grouped_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, heads, sizes, seed, batch=(), dtype=np.float64):
        h, h_kv = heads
        n_q, n_k, d_k, d_v = sizes
        shapes = (h, n_q, d_k), (h_kv, n_k, d_k), (h_kv, n_k, d_v)
        return Case(aspect, tuple(normal(*batch, *shape, seed=seed + i, dtype=dtype)
                                  for i, shape in enumerate(shapes)))

    def tiny(aspect, query, key, value, extreme=False):
        return Case(aspect, tuple(np.array(array, float) for array in (query, key, value)), extreme)

    return [
        tiny(PLAIN, [[[1]], [[2]], [[1]], [[2]]], [[[1], [0]], [[0], [2]]], [[[4], [8]], [[-4], [0]]]),
        case(PLAIN, (6, 2), (5, 7, 3, 2), 1), case(PLAIN, (6, 3), (3, 5, 7, 2), 4),
        case(PLAIN, (4, 2), (2, 3, 5, 7), 7),
        tiny(ONE_KEY_HEAD, [[[1]], [[2]]], [[[1], [0]]], [[[4], [8]]]), case(ONE_KEY_HEAD, (3, 1), (5, 2, 3, 7), 10),
        tiny(ALL_KEY_HEADS, [[[1]], [[2]]], [[[1], [0]], [[0], [2]]], [[[4], [8]], [[-4], [0]]]),
        case(ALL_KEY_HEADS, (3, 3), (5, 7, 2, 11), 13),
        case(SQUARE, (4, 2), (5, 5, 3, 3), 16), case(SQUARE, (6, 2), (3, 3, 3, 3), 19),
        case(SQUARE, (9, 3), (5, 5, 5, 5), 22),
        case(LEADING, (4, 2), (3, 5, 2, 7), 25, (2,)), case(LEADING, (6, 3), (2, 3, 5, 2), 28, (3,)),
        case(LEADING, (4, 2), (2, 3, 5, 2), 31, (3, 2)),
        tiny(HUGE, [[[100], [0]], [[100], [100]]], [[[100], [99], [0]]], [[[1], [3], [2]]], True),
        tiny(HUGE, [[[100]], [[1]]], [[[100], [-100]], [[100], [99]]], [[[1], [3]], [[2], [4]]], True),
        tiny(HUGE, [[[100]], [[0]]], [[[100], [100.01]]], [[[1], [3]]], True),
        case(FLOAT32, (4, 2), (3, 5, 7, 2), 34, dtype=f4), case(FLOAT16, (4, 2), (2, 3, 5, 2), 37, dtype=f2),
    ]


grouped_query_attention = Exercise(
    name="grouped_query_attention", signature="(query, key, value)", part=PART,
    text="Attention with h query heads and h_kv key and value heads: query head i reads key head "
         "i // (h // h_kv). The answer has shape (..., h, n_q, d_v).",
    answer=grouped_query_attention_answer, steps=GROUPED_STEPS, cases=_grouped_cases, fitted=ATTENTION_FITTED,
    hints=(
        "h // h_kv query heads that stand side by side share one key head and one value head.",
        "If each key head were there h // h_kv times in a row, it would be attention as you know it.",
        "np.repeat repeats each entry in a row; np.tile repeats the whole. The heads' axis is -3.",
        "np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3), the same for value, and then attention.",
    ),
    mistakes=GROUPED_MISTAKES,
    aspects={LEADING: Mistake(
        "only for three axes",
        does="The function is right for (heads, positions, features), and not with leading (batch) axes.",
        why="There may be any number of axes in front; count axes from the end.",
        ask="Which index names the heads' axis however many axes stand before it?")},
)

# ---------------------------------------------------------------- attention_backward

def attention_backward_answer(do, query, key, value, grad_output):
    weights = softmax.softmax_steps_answer(do, raw_scores.raw_scores_answer(do, query, key), -1)
    grad_output = do.grad_in(grad_output)
    grad_weights = do.grad_weights(grad_output, value)
    total = do.back_total(do.back_products(weights, grad_weights))
    centred = do.back_centre(grad_weights, total)
    grad_scores = do.back_finish(do.back_times(weights, centred, grad_weights, total))
    grad_query = do.grad_query(do.scale_query(grad_scores, query, key), key, query)
    grad_key = do.grad_key(do.scale_key(grad_scores, query, key), query, key)
    return do.gradients(grad_query, grad_key, do.grad_value(weights, grad_output, value))


_scaled = raw_scores.SCORE_STEPS["scale"]
_unscaled = raw_scores._unscaled

BACKWARD_STEPS = {
    **raw_scores.SCORE_STEPS, **softmax.SOFTMAX_STEPS,
    "grad_in": lambda grad: grad,
    "grad_weights": lambda grad, value: grad @ swap(value),
    **{f"back_{name}": softmax.softmax_backward.steps[name]
       for name in ("products", "total", "centre", "times", "finish")},
    "scale_query": _scaled,
    "scale_key": _scaled,
    "grad_query": lambda grad_scores, key, query: grad_scores @ key,
    "grad_key": lambda grad_scores, query, key: swap(grad_scores) @ query,
    "grad_value": lambda weights, grad, value: swap(weights) @ grad,
    "gradients": lambda grad_query, grad_key, grad_value: (grad_query, grad_key, grad_value),
}


def of_softmax_backward(*names):
    """Mistakes of softmax_backward, in the steps of attention's backward pass."""
    return tuple(
        dataclasses.replace(mistake, change=tuple(
            {f"back_{step}": change for step, change in variant.items()} for variant in mistake.variants))
        for mistake in pick(softmax.softmax_backward.mistakes, *names))


def everywhere(mistake):
    """A mistake of the scale, in the forward pass and in both gradients alike."""
    scale = mistake.variants[0]["scale"]
    return dataclasses.replace(mistake, change={"scale": scale, "scale_query": scale, "scale_key": scale})


def _scaled_twice(scores, query, key):
    return _scaled(_scaled(scores, query, key), query, key)


def _scale_inverted(scores, query, key):
    return scores * math.sqrt(query.shape[-1])


def _scaled_by(size):
    def scale(scores, query, key):
        return scores / math.sqrt(size(query, key))

    return scale


def _one_gradient(place, change):
    return {"gradients": lambda *gradients: tuple(change(g) if i == place else g for i, g in enumerate(gradients))}


def _each(change):
    """The same change of all three gradients."""
    return {"gradients": lambda *gradients: tuple(map(change, gradients))}


def _ordered(*places):
    return {"gradients": lambda *gradients: tuple(gradients[place] for place in places)}


def _backward(*args):
    return attention_backward_answer(SimpleNamespace(**BACKWARD_STEPS), *args)


def _plus(gradients, place, what):
    return tuple(g + what if i == place else g for i, g in enumerate(gradients))


def _over_the_leading(reduce):
    return _each(lambda gradient: reduce(gradient, axis=_leading(gradient)) if gradient.ndim > 2 else gradient)


BACKWARD_MISTAKES = (
    *(everywhere(mistake) for mistake in pick(
        raw_scores.SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
        "sqrt(n_k) instead of sqrt(d_k)")),
    Mistake("no scale in the forward pass", change={"scale": _unscaled},
            does="The gradients are scaled, but the weights they start from are those of unscaled scores.",
            why="The weights have to be those of the forward pass: softmax(Q Kᵀ / sqrt(d_k)).",
            ask="From which scores do you compute the weights?"),
    Mistake("no scale in grad_query", change={"scale_query": _unscaled},
            does="grad_query is sqrt(d_k) times too large.",
            why="The scores are Q Kᵀ / sqrt(d_k): their derivative with respect to Q carries the same factor.",
            ask="Which factor stands before q · k in a score, and what does it become in the derivative?"),
    Mistake("no scale in grad_key", change={"scale_key": _unscaled},
            does="grad_key is sqrt(d_k) times too large.",
            why="The scores are Q Kᵀ / sqrt(d_k): their derivative with respect to K carries the same factor.",
            ask="Which factor stands before q · k in a score, and what does it become in the derivative?"),
    Mistake("no scale in the gradients", change={"scale_query": _unscaled, "scale_key": _unscaled},
            does="grad_query and grad_key are sqrt(d_k) times too large.",
            why="The scores are Q Kᵀ / sqrt(d_k): their derivatives with respect to Q and K carry the same factor.",
            ask="Which factor stands before q · k in a score, and what does it become in the derivative?"),
    Mistake("scale twice in the gradients",
            change=({"scale_query": _scaled_twice, "scale_key": _scaled_twice}, {"scale_query": _scaled_twice},
                    {"scale_key": _scaled_twice}),
            does="grad_query or grad_key, or both, are sqrt(d_k) times too small.",
            why="The factor 1/sqrt(d_k) comes once, from the score.",
            ask="How often does the scale stand in a score?"),
    Mistake("scale inverted in the gradients",
            change=({"scale_query": _scale_inverted, "scale_key": _scale_inverted}, {"scale_query": _scale_inverted},
                    {"scale_key": _scale_inverted}),
            does="grad_query or grad_key, or both, are multiplied by sqrt(d_k) and not divided by it.",
            why="The derivative of c q · k with respect to q is c k: the same factor, not its inverse.",
            ask="What is the derivative of 3 x?"),
    Mistake("grad_value scaled",
            change=({"gradients": lambda q, k, v: (q, k, v / math.sqrt(q.shape[-1]))},
                    {"gradients": lambda q, k, v: (q, k, v / math.sqrt(v.shape[-1]))},
                    {"gradients": lambda q, k, v: (q, k, v * math.sqrt(q.shape[-1]))}),
            does="grad_value is divided by sqrt(d_k), or changed by another scale.",
            why="The scale belongs to the scores. The values meet the weights, where no scale is left.",
            ask="Does the output depend on the values through the scores?"),
    Mistake("another size under the root in the gradients",
            change=tuple({step: _scaled_by(size) for step in steps}
                         for size in (lambda q, k: k.shape[-2], lambda q, k: q.shape[-2])
                         for steps in (("scale_query", "scale_key"), ("scale_query",), ("scale_key",))),
            does="grad_query or grad_key is divided by the root of a number of positions.",
            why="The scores carry 1/sqrt(d_k), and so do their derivatives.",
            ask="Which size stands under the root in the forward pass?"),
    Mistake("a gradient left at 0", change=tuple(_one_gradient(place, np.zeros_like) for place in range(3)),
            does="One of the three gradients is 0 throughout.",
            why="The output depends on queries, keys and values, and so all three have a gradient.",
            ask="Which of your three arrays is never written to?"),
    Mistake("a gradient transposed", change=(*(_one_gradient(place, swap) for place in range(3)), _each(swap)),
            does="A gradient has its last two axes swapped.",
            why="A gradient has the shape of what it belongs to: row j of grad_key belongs to key j.",
            ask="What shape has each of the three arguments, and what shape has its gradient?"),
    Mistake("A instead of Aᵀ in grad_value", change={"grad_value": lambda weights, grad, value: weights @ grad},
            does="grad_value is A times grad_output, which fits only for n_q = n_k.",
            why="Value j goes into every output i with weight (i, j): its gradient sums over the queries i.",
            ask="Which index is summed over in the gradient of value j?"),
    Mistake("values instead of grad_output in grad_value",
            change=({"grad_value": lambda weights, grad, value: swap(weights) @ value},
                    {"grad_value": lambda weights, grad, value: weights @ value}),
            does="grad_value is made of the values, not of grad_output.",
            why="The output is linear in the values: their gradient does not depend on them.",
            ask="What is the derivative of a v with respect to v?"),
    Mistake("grad_scores instead of the weights in grad_value", change=(
                {"grad_value": lambda weights, grad, value: swap(_jacobian_rows(weights, grad @ swap(value))) @ grad},
                {"grad_value": lambda weights, grad, value: swap(grad @ swap(value)) @ grad}),
            does="grad_value is made with the gradient of the scores or of the weights in place of the weights.",
            why="Value j goes into output i with weight (i, j), and that is the derivative.",
            ask="What does output i change by, if value j changes by 1?"),
    Mistake("value not transposed in grad_weights", change={"grad_weights": lambda grad, value: grad @ value},
            does="grad_output is multiplied by the values as they are, which fits only for n_k = d_v.",
            why="Weight (i, j) multiplies value j: its gradient is grad_output i times value j, summed over features.",
            ask="Over which index does the sum run in the gradient of weight (i, j)?"),
    Mistake("dS instead of dSᵀ in grad_key", change={"grad_key": lambda grad_scores, query, key: grad_scores @ query},
            does="The gradient of the scores is not transposed for grad_key, which fits only for n_q = n_k.",
            why="Key j goes into every score (i, j): its gradient sums over the queries i.",
            ask="Which index is summed over in the gradient of key j?"),
    Mistake("dSᵀ instead of dS in grad_query",
            change={"grad_query": lambda grad_scores, key, query: swap(grad_scores) @ key},
            does="The gradient of the scores is transposed for grad_query, which fits only for n_q = n_k.",
            why="Query i goes into every score (i, j): its gradient sums over the keys j.",
            ask="Which index is summed over in the gradient of query i?"),
    Mistake("query and key swapped in the products",
            change=({"grad_query": lambda grad_scores, key, query: grad_scores @ query,
                     "grad_key": lambda grad_scores, query, key: swap(grad_scores) @ key},
                    {"grad_query": lambda grad_scores, key, query: grad_scores @ query},
                    {"grad_key": lambda grad_scores, query, key: swap(grad_scores) @ key}),
            does="grad_query is made of the queries, or grad_key of the keys; that fits only for n_q = n_k.",
            why="The derivative of q · k with respect to q is k, and the other way round.",
            ask="What is the derivative of q · k with respect to q?"),
    Mistake("gradient of the scores summed before the product", alone=True,
            change=({"grad_key": lambda grad_scores, query, key: grad_scores.sum(axis=-2)[..., None] * key},
                    {"grad_query": lambda grad_scores, key, query: grad_scores.sum(axis=-1)[..., None] * query},
                    {"grad_key": lambda grad_scores, query, key: grad_scores.sum(axis=-2)[..., None] * query.sum(
                        axis=-2, keepdims=True)},
                    {"grad_query": lambda grad_scores, key, query: grad_scores.sum(axis=-1)[..., None] * key.sum(
                        axis=-2, keepdims=True)}),
            does="grad_key or grad_query is made of sums of the scores' gradient, each times one row.",
            why="Each entry (i, j) of it has a query and a key of its own: a matrix product, dSᵀ Q or dS K.",
            ask="Which query belongs to entry (i, j), and which key?"),
    Mistake("row sum added without its weights", alone=True,
            change=({"back_times": lambda weights, centred, grad, total: weights * grad + total},
                    {"back_times": lambda weights, centred, grad, total: weights * grad - weights * weights * grad.sum(
                        axis=-1, keepdims=True)}),
            does="The row sum is added bare, or without the weights in it.",
            why="Each gradient minus the weighted mean of its row is multiplied with the weight: A * (dA - sum of A * dA).",
            ask="Which brackets does the formula of the softmax's derivative have?"),
    Mistake("an argument added to its gradient", alone=True,
            change=({"answer": lambda *args: _plus(_backward(*args), 0, args[0])},
                    {"answer": lambda *args: _plus(_backward(*args), 1, args[1])},
                    {"answer": lambda *args: _plus(_backward(*args), 2, args[2])}),
            does="A gradient has its argument added to it.",
            why="A gradient alone is asked for; a step of gradient descent comes later.",
            ask="What is the gradient if the loss does not depend on the argument?"),
    Mistake("maximum instead of the row sum", alone=True,
            change=({"back_total": lambda products: products.max(axis=-1, keepdims=True)},
                    {"back_centre": lambda grad, total: grad - grad.max(axis=-1, keepdims=True)}),
            does="The largest entry of each row is subtracted, not the sum of weights times gradients.",
            why="The softmax's derivative subtracts the weighted mean of the row's gradients.",
            ask="What is subtracted from each gradient in a row, and what is it a mean of?"),
    Mistake("gradient of the weights left out", change={
                "back_times": lambda weights, centred, grad, total: weights},
            does="grad_query and grad_key are made with the weights, and not with the gradient of the scores.",
            why="The derivative goes back from the output to the weights, through the softmax to the scores, and then on.",
            ask="Which array stands before K in grad_query?"),
    Mistake("gradients in another order",
            change=(_ordered(1, 0, 2), _ordered(2, 1, 0), _ordered(2, 0, 1), _ordered(0, 2, 1), _ordered(1, 2, 0)),
            does="The three gradients are right, and come in another order.",
            why="The caller takes them as (grad_query, grad_key, grad_value).",
            ask="In which order do you return the three?"),
    Mistake("softmax not differentiated", change={"back_times": lambda weights, centred, grad, total: grad},
            does="The gradient of the weights is handed on as the gradient of the scores.",
            why="The softmax mixes the entries of a row: the gradient goes through its Jacobian.",
            ask="Which step of attention lies between the scores and the weights?"),
    Mistake("grad_output ignored",
            change={"grad_in": np.ones_like},
            does="The gradients are those of the sum of the output.",
            why="grad_output says how much the loss depends on each entry of the output.",
            ask="Where does grad_output stand in your formulas?"),
    Mistake("grad_output left out of grad_scores",
            change={"grad_weights": lambda grad, value: np.ones_like(grad) @ swap(value)},
            does="grad_value is right, but grad_query and grad_key do not depend on grad_output.",
            why="The gradient of weight (i, j) is grad_output i times value j.",
            ask="What does the gradient of a weight depend on besides the value?"),
    Mistake("gradient divided by a size",
            change=(_each(lambda gradient: gradient / gradient.shape[-2]),
                    _each(lambda gradient: gradient / gradient.size),
                    {"gradients": lambda *gradients: tuple(g / gradients[0].shape[-2] for g in gradients)},
                    {"gradients": lambda *gradients: tuple(g / gradients[1].shape[-2] for g in gradients)}),
            does="Each gradient is divided by a number of rows, or of entries.",
            why="Nothing is averaged in attention: the gradient of a sum has no 1/n.",
            ask="What divides in your function, beside the scale?"),
    Mistake("summed over the batch", change=(_over_the_leading(np.sum), _over_the_leading(np.mean)),
            does="Leading axes disappear: the gradients of all sequences are added.",
            why="Each sequence and each head has queries, keys and values of its own, and so gradients.",
            ask="Which shape must each gradient have?"),
    Mistake("sign flipped", change=({"back_centre": lambda grad, total: total - grad}, _each(np.negative)),
            does="The gradients have the wrong sign: they point downhill.",
            why="A gradient points to where the loss grows. The minus of gradient descent comes later.",
            ask="Where does a minus stand in your function, and does it belong there?"),
    *of_softmax_backward(
        "row sum not subtracted", "diagonal-only Jacobian", "row sum not multiplied by the weights",
        "weights missing in front", "weights missing in the row sum", "plain mean instead of the weighted one",
        "mean instead of sum", "row sum added", "backward of the log-softmax", "weights squared",
        "sum over the wrong axis", "sum without keepdims"),
    also(*of_softmax_backward("one sum for the whole array"), {
        "back_total": lambda products: products.sum(axis=(-2, -1), keepdims=True)}),
    *pick(softmax.SHIFT_MISTAKES, "no maximum subtracted", "one maximum for the whole array"),
    *pick(softmax.EXPONENTIAL_MISTAKES, "power of 2 instead of e"),
    *pick(softmax.TOTAL_MISTAKES, "not divided by the sum"),
    *pick(softmax.AXIS_MISTAKES, "softmax over the queries' axis"), OVER_EVERYTHING,
    raw_scores.CAUSAL_APPLIED,
)


def _jacobian_rows(weights, grad):
    return weights * (grad - (weights * grad).sum(axis=-1, keepdims=True))


def _gradient_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, sizes, seed, batch=(), dtype=np.float64):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v), (n_q, d_v)
        return Case(aspect, tuple(normal(*batch, *shape, seed=seed + i, dtype=dtype)
                                  for i, shape in enumerate(shapes)))

    def tiny(aspect, *arrays, extreme=False):
        return Case(aspect, tuple(np.array(array, float) for array in arrays), extreme)

    return [
        # equal scores in a row: weights of 1/2
        tiny(PLAIN, [[2, 0, 0, 0]], [[1, 0, 0, 0], [1, 4, 0, 0]], [[4], [0]], [[1]]),
        tiny(PLAIN, [[0, 2, 0, 0], [2, 0, 0, 0]], [[1, 0, 2, 0], [1, 0, 0, 4], [1, 0, 2, 2]], [[4], [0], [5]],
             [[1], [3]]),
        case(PLAIN, (5, 7, 3, 2), 1), case(PLAIN, (7, 5, 11, 13), 5), case(PLAIN, (3, 5, 2, 7), 9),
        tiny(SQUARE, [[2, 0], [1, 1]], [[1, 0], [1, 4]], [[4, 1], [0, 2]], [[1, 0], [2, 3]]),
        case(SQUARE, (5, 5, 5, 5), 13), case(SQUARE, (5, 5, 3, 2), 17), case(SQUARE, (3, 5, 2, 5), 21),
        tiny(LEADING, [[[2, 0]], [[1, 1]]], [[[1, 0], [1, 4]], [[0, 2], [1, 0]]], [[[4], [0]], [[2], [6]]],
             [[[1]], [[3]]]),
        case(LEADING, (5, 7, 3, 2), 25, (2,)), case(LEADING, (3, 5, 7, 2), 29, (2, 3)),
        *(tiny(HUGE, query, key, [[4, 1], [0, 2], [1, 5]], [[1, 3], [2, 1], [5, 2]][:len(query)], extreme=True)
          for query, key in (
            ([[100, 0], [1, 2]], [[100, 0], [100, 8], [0, 1]]),
            ([[100, 0], [1, 2], [2, 1]], [[100, 0], [100, 8], [0, 1]]),
            ([[-100, 0], [1, 2]], [[100, 0], [100, 8], [101, 1]]))),
        case(FLOAT32, (5, 3, 7, 2), 33, dtype=f4), case(FLOAT16, (3, 2, 5, 7), 37, dtype=f2),
    ]


attention_backward = Exercise(
    name="attention_backward", signature="(query, key, value, grad_output)", part=PART,
    text="The gradients of a loss with respect to query, key and value, from its gradient with respect to "
         "attention's output: (grad_query, grad_key, grad_value).",
    answer=attention_backward_answer, steps=BACKWARD_STEPS, cases=_gradient_cases,
    outputs=("grad_query", "grad_key", "grad_value"),
    hints=(
        "Compute the weights as in the forward pass. Then go backwards: from the output to weights and values, "
        "from the weights to the scores, from the scores to queries and keys.",
        "The output is A V. So the gradient of V is Aᵀ times grad_output, and that of A is grad_output times Vᵀ.",
        "Through the softmax, for each row: A * (dA - sum of A * dA), the sum over the keys, with keepdims=True.",
        "The scores are Q Kᵀ / sqrt(d_k). With dS, the gradient of the scores, that of Q is dS K / sqrt(d_k), "
        "and that of K is dSᵀ Q / sqrt(d_k).",
    ),
    mistakes=BACKWARD_MISTAKES,
)

# ---------------------------------------------------------------- streaming_attention

def streaming_attention_answer(do, query, key, value, block_size):
    row_max, row_sum, output = do.start(query, value)
    for key_block, value_block in do.blocks(key, value, block_size):
        scores = raw_scores.raw_scores_answer(do, query, key_block)
        new_max = do.new_max(row_max, scores)
        factor = do.factor(row_max, new_max)
        powers = do.powers(scores, row_max, new_max)
        row_sum = do.old_sum(row_sum, factor) + do.block_sum(powers, factor)
        output = do.old_output(output, factor) + do.block_output(powers, value_block, factor)
        output = do.after_block(output, row_sum)
        row_max = do.keep_max(row_max, new_max)
    return do.finish_stream(output, row_sum, value)


def _stream_start(query, value, row_max=-np.inf):
    rows = query.shape[:-1]
    return np.full((*rows, 1), row_max), np.zeros((*rows, 1)), np.zeros((*rows, value.shape[-1]))


def _blocks(key, value, block_size, extra=0):
    return [(key[..., start : start + block_size + extra, :], value[..., start : start + block_size + extra, :])
            for start in range(0, key.shape[-2], block_size)]


def _cut_blocks(key, value, block_size, start=0, stop=lambda size: size, step=0):
    """Blocks that begin later, end earlier, or follow each other at another distance."""
    found = [slice(at + start, at + stop(block_size)) for at in range(0, key.shape[-2], max(block_size + step, 1))]
    return [(key[..., part, :], value[..., part, :]) for part in found if key[..., part, :].shape[-2]]


def _every_block_but(which):
    return lambda *given: [pair for i, pair in enumerate(_blocks(*given)) if i % 2 == which]


def _full_blocks(key, value, block_size):
    return [pair for pair in _blocks(key, value, block_size) if pair[0].shape[-2] == block_size]


def _padded_blocks(key, value, block_size):
    def pad(block):
        zeros = np.zeros((*block.shape[:-2], block_size - block.shape[-2], block.shape[-1]))
        return np.concatenate([block, zeros], axis=-2)

    return [tuple(map(pad, pair)) for pair in _blocks(key, value, block_size)]


def _from_every_key(key, value, block_size):
    return [(key[..., start : start + block_size, :], value[..., start : start + block_size, :])
            for start in range(key.shape[-2])]


def _first_values(key, value, block_size):
    return [(block, value[..., : block.shape[-2], :]) for block, _ in _blocks(key, value, block_size)]


def _row_highest(scores):
    return scores.max(axis=-1, keepdims=True)


def _one(row_max, new_max):
    return np.ones_like(new_max)


def _both_ways(row_max, new_max):
    return np.where(row_max == -np.inf, 1.0, np.exp(new_max - row_max))


STREAM_STEPS = {
    **raw_scores.SCORE_STEPS,
    "start": _stream_start,
    "blocks": _blocks,
    "new_max": lambda row_max, scores: np.maximum(row_max, _row_highest(scores)),
    "keep_max": lambda row_max, new_max: new_max,
    "factor": lambda row_max, new_max: np.exp(row_max - new_max),
    "powers": lambda scores, row_max, new_max: np.exp(scores - new_max),
    "old_sum": lambda row_sum, factor: row_sum * factor,
    "block_sum": lambda powers, factor: powers.sum(axis=-1, keepdims=True),
    "old_output": lambda output, factor: output * factor,
    "block_output": lambda powers, value, factor: powers @ value,
    "after_block": lambda output, row_sum: output,
    "finish_stream": lambda output, row_sum, value: output / row_sum,
}


def _kept(old, factor):
    return old


def _bare(output, row_sum, value):
    return output


def _divided_again(output, row_sum):
    return output / row_sum


def _block_weights(scores, row_max, new_max):
    return raw_scores._softmax(scores)


def _block_weights_by_length(scores, row_max, new_max):
    return raw_scores._softmax(scores) * scores.shape[-1]


def _first_kept(row_max, new):
    return np.where(row_max == -np.inf, new, row_max)


def _merging(join):
    """Each block's output and log-sum-exp, joined one after the other by a function of both."""
    def answer(query, key, value, block_size):
        out = lse = None
        for key_block, value_block in _blocks(key, value, block_size):
            scores = query @ swap(key_block) / math.sqrt(query.shape[-1])
            highest = _row_highest(scores)
            new = highest + np.log(np.exp(scores - highest).sum(axis=-1, keepdims=True))
            block = np.exp(scores - new) @ value_block
            out, lse = (block, new) if out is None else join(out, lse, block, new)
        return out

    return {"answer": answer}


def _shared(out, lse, block, new):
    """The output of two parts, each with its share."""
    both = np.logaddexp(lse, new)
    return np.exp(lse - both) * out + np.exp(new - both) * block


CAUSAL_IN_BLOCKS = Mistake(
    "causal mask applied", change={"answer": lambda query, key, value, block_size: attention_answer(
        SimpleNamespace(**{**ATTENTION_STEPS, "finish_scores": raw_scores._causal}), query, key, value)},
    does="Keys after the query are hidden.",
    why="No mask was asked for: here every query may attend to every key.",
    ask="Which keys may a query attend to if nothing is said?")

STREAM_MISTAKES = (
    Mistake("maximum of the first block kept",
            change=({"new_max": lambda row_max, scores: _first_kept(row_max, _row_highest(scores))},
                    {"keep_max": _first_kept}),
            does="The maximum of the first block stays, whatever comes after it: nothing is rescaled to a larger one, "
                 "or every block is rescaled from the first.",
            why="The running maximum goes on: after each block it is the larger of the old one and the block's.",
            ask="Which line of your loop updates the maximum, and what does it hold after the second block?"),
    Mistake("power of 2 beside powers of e",
            change=({"powers": lambda scores, row_max, new_max: np.exp2(scores - new_max)},
                    {"factor": lambda row_max, new_max: np.exp2(row_max - new_max)}),
            does="Exponentials and factor have two bases: one is a power of 2, the other one of e.",
            why="The factor brings old exponentials to the new maximum; that works with one base only.",
            ask="Which base has your power, and which your factor?"),
    Mistake("output replaced in every block", change={"old_output": lambda output, factor: np.zeros_like(output)},
            does="The running sum goes on, and the output is that of the last block, divided by it.",
            why="The output so far is rescaled, and the block's is added: output = output * factor + ..., not output = ....",
            ask="What becomes of the first block's output when the second comes?"),
    Mistake("sum replaced in every block", change={"old_sum": lambda row_sum, factor: np.zeros_like(row_sum)},
            does="The output goes on, and is divided by the sum of the last block alone.",
            why="The sum so far is rescaled, and the block's is added: sum = sum * factor + ..., not sum = ....",
            ask="What becomes of the first block's sum when the second comes?"),
    Mistake("shares of the partial results swapped",
            change=_merging(lambda out, lse, block, new: (_shared(block, lse, out, new), np.logaddexp(lse, new))),
            does="Each part gets the share of the other one.",
            why="A part's share in the whole is exp of its own log-sum-exp.",
            ask="Which part should count more, the one with the larger or the smaller log-sum-exp?"),
    Mistake("log-sum-exp updated too early",
            change=_merging(lambda out, lse, block, new: (
                out + np.exp(new - np.logaddexp(lse, new)) * block, np.logaddexp(lse, new))),
            does="What came before keeps its full weight when a block is merged, and the block's share comes on top.",
            why="The share of what came before is exp(old log-sum-exp - new log-sum-exp). With the new one in both places "
                "it is 1.",
            ask="What does your log-sum-exp hold when the old output is weighted with it?"),
    Mistake("log-sum-exp not updated",
            change=tuple(_merging(lambda *parts, kept=kept: (_shared(*parts), kept(parts[1], parts[3])))
                         for kept in (lambda lse, new: lse, lambda lse, new: new, np.maximum)),
            does="Two blocks merge rightly, and the third is weighed against one of them only.",
            why="After a merge the log-sum-exp is that of both parts: log(exp(a) + exp(b)).",
            ask="How much does the result of the first merge weigh in the second?"),
    Mistake("log-sum-exps as weights",
            change=_merging(lambda out, lse, block, new: (
                (lse * out + new * block) / (lse + new), np.logaddexp(lse, new))),
            does="The blocks are weighted by their log-sum-exps themselves.",
            why="A log-sum-exp may be negative; the share of a block is exp of it.",
            ask="Which function undoes the logarithm?"),
    Mistake("the larger part alone",
            change=_merging(lambda out, lse, block, new: (np.where(lse > new, out, block), np.maximum(lse, new))),
            does="The block with the largest log-sum-exp is taken alone.",
            why="The other blocks hold weight too.",
            ask="How much of the whole softmax's sum belongs to each block?"),
    Mistake("sum not rescaled", change={"old_sum": _kept},
            does="When a later block has a larger maximum, the old part of the sum stays as it was.",
            why="The old exponentials were taken relative to the old maximum. Relative to the new one they are "
                "exp(old maximum - new maximum) times as large.",
            ask="By which factor does exp(score - maximum) change when the maximum changes?"),
    Mistake("sum and output not rescaled", change={"old_sum": _kept, "old_output": _kept},
            does="When a later block has a larger maximum, sum and output so far stay as they were.",
            why="Both are made of exponentials relative to the old maximum. Relative to the new one these are "
                "exp(old maximum - new maximum) times as large.",
            ask="By which factor does exp(score - maximum) change when the maximum changes?"),
    Mistake("output not rescaled", change={"old_output": _kept},
            does="When a later block has a larger maximum, the output so far stays as it was.",
            why="The output is a sum of exponentials times values, and these were taken relative to the old "
                "maximum: it needs the same factor as the sum of exponentials.",
            ask="Which two quantities are relative to the maximum?"),
    Mistake("rescaled the wrong way",
            change=({"factor": _both_ways}, {"factor": lambda row_max, new_max: np.exp(new_max - row_max)}),
            does="What came before grows when the maximum grows; in the first block it is NaN if the maximum "
                 "started at -inf.",
            why="Relative to a larger maximum the old exponentials are smaller: the factor is exp(old - new), never above 1.",
            ask="Should the old sum become smaller or larger when the maximum grows?"),
    Mistake("new block rescaled too",
            change=({"block_sum": lambda powers, factor: factor * powers.sum(axis=-1, keepdims=True),
                     "block_output": lambda powers, value, factor: factor * (powers @ value)},
                    {"factor": lambda row_max, new_max: np.where(row_max == -np.inf, 1.0, np.exp(row_max - new_max)),
                     "block_sum": lambda powers, factor: factor * powers.sum(axis=-1, keepdims=True),
                     "block_output": lambda powers, value, factor: factor * (powers @ value)}),
            does="The factor exp(old maximum - new maximum) is put on the new block as well.",
            why="The new block is measured from the new maximum already; only what came before needs the factor.",
            ask="Which part of the sum is still relative to the old maximum?"),
    Mistake("block maximum instead of the running maximum",
            change={"new_max": lambda row_max, scores: _row_highest(scores)},
            does="It is right as long as exp does not overflow: when a block lies far below the one before, the "
                 "factor exp(old maximum - new maximum) is infinite.",
            why="The running maximum is the larger of the old one and the block's; then no factor exceeds 1.",
            ask="What should the maximum be after a block whose scores are all small?"),
    Mistake("block measured from its own maximum",
            change=({"powers": lambda scores, row_max, new_max: np.exp(scores - _row_highest(scores))},
                    {"powers": lambda scores, row_max, new_max: np.exp(scores - _row_highest(scores)), "factor": _one}),
            does="Each block's exponentials are relative to the block's own maximum, and are added as they are.",
            why="All terms of the sum must be relative to the same number, the running maximum.",
            ask="From which maximum are the scores of the new block measured, and from which the old ones?"),
    Mistake("block measured from the old maximum",
            change=({"powers": lambda scores, row_max, new_max: np.exp(
                scores - np.where(row_max == -np.inf, new_max, row_max))},),
            does="A block's scores are measured from the maximum before it.",
            why="The running maximum has to be updated first: then the block and the rescaled rest are relative to "
                "the same number, and no exponent is above 0.",
            ask="Which maximum is known before the block's exponentials are taken?"),
    Mistake("only the last block",
            change=({"factor": lambda row_max, new_max: np.zeros_like(new_max)},),
            does="The output is that of the last block alone.",
            why="The sum and the output so far are carried along: rescaled, then added to the new block's.",
            ask="Which assignment forgets the blocks before?"),
    Mistake("only the first block", change={"blocks": lambda *given: _blocks(*given)[:1]},
            does="The output is that of the first block alone.",
            why="All blocks count. A return inside a loop ends it after one round, and key[..., :block_size, :] is the "
                "first block alone.",
            ask="Which keys does your function read before it returns?"),
    Mistake("tail block dropped",
            change=({"blocks": _full_blocks},
                    {"blocks": lambda key, value, size: _full_blocks(key, value, min(size, key.shape[-2]))}),
            does="The keys after the last full block do not count.",
            why="n_k need not be a multiple of block_size: the last block may be short. range(0, n_k, block_size) "
                "has a start for it, and a slice ends by itself where the array ends.",
            ask="How many blocks are there for 7 keys and a block size of 3?"),
    Mistake("a block counted twice", alone=True,
            change=({"blocks": lambda *given: [*_blocks(*given), _blocks(*given)[-1]]},
                    {"blocks": lambda *given: [_blocks(*given)[0], *_blocks(*given)]}),
            does="The first or the last block counts twice.",
            why="Each key counts once. A tail that is handled after the loop must not have been in the loop.",
            ask="Which blocks does your loop read, and which do you read besides?"),
    Mistake("size of a block fixed in the code", alone=True, change=tuple({"blocks": lambda key, value, size, w=w: [
                (key[..., at:at + w, :], value[..., at:at + w, :]) for at in range(0, key.shape[-2], size)]}
                for w in (4, 2, 8, 16, 32)),
            does="The blocks begin where they should, and all have a length that stands in the code.",
            why="A block holds block_size keys.",
            ask="Where does your slice end?"),
    Mistake("mean instead of the sum of a block", alone=True,
            change=({"block_sum": lambda powers, factor: powers.mean(axis=-1, keepdims=True)},
                    {"block_sum": lambda powers, factor: powers.max(axis=-1, keepdims=True)}),
            does="The running sum gets the mean or the largest of a block's exponentials, not their sum.",
            why="The sum runs over all keys, each exponential once.",
            ask="What is added to the running sum for a block of 3 keys?"),
    Mistake("output halved in every block", alone=True, change=({"after_block": lambda output, row_sum: output / 2},),
            does="After each block the output is averaged with the one before.",
            why="Both parts are added; the division by the running sum comes at the end.",
            ask="What divides the output in your loop?"),
    Mistake("last key left out", alone=True,
            change=({"blocks": lambda key, value, size: _blocks(key[..., :-1, :], value[..., :-1, :], size)},
                    {"blocks": lambda key, value, size: _blocks(key[..., 1:, :], value[..., 1:, :], size)},
                    {"blocks": lambda key, value, size: [pair for at, pair in zip(range(0, key.shape[-2], size), _blocks(
                        key, value, size)) if at < key.shape[-2] - 1]}),
            does="The first or the last key does not count.",
            why="range(0, n_k - 1, block_size) has no start at the last key, and a slice [:-1] ends before it.",
            ask="Which keys do your blocks hold together?"),
    Mistake("last block dropped", change=({"blocks": lambda *given: _blocks(*given)[:-1]},
                                          {"blocks": lambda *given: _blocks(*given)[:-1] or _blocks(*given)}),
            does="The last block does not count, whether it is full or not.",
            why="range(0, n_k - block_size, block_size) ends before the last start.",
            ask="At which key does the last block start, and does your loop get there?"),
    Mistake("tail block counted as zeros", change={"blocks": _padded_blocks},
            does="The last block is filled up with keys of 0, which get the score 0 and a weight.",
            why="exp(0 - maximum) is not 0: the filling counts. Mask its scores with -inf, or do not fill at all.",
            ask="Which score adds nothing to a sum of exponentials?"),
    Mistake("every second block dropped", alone=True,
            change=({"blocks": _every_block_but(0)}, {"blocks": _every_block_but(1)}),
            does="Only every second block counts.",
            why="The starts are 0, block_size, 2 block_size and so on; a loop that also moves its own counter skips blocks.",
            ask="At which keys do your blocks start?"),
    Mistake("blocks taken for their first key", alone=True,
            change=({"blocks": lambda *given: [(key[..., :1, :], value[..., :1, :]) for key, value in _blocks(*given)]},),
            does="Of each block only the first key counts.",
            why="key[start] is one key; key[start : start + block_size] is the block.",
            ask="How many keys does your slice hold?"),
    Mistake("sum starts at 1",
            change={"start": lambda query, value: (lambda row_max, row_sum, output: (row_max, row_sum + 1, output))(
                *_stream_start(query, value, 0.0))},
            does="1 is in the running sum before the first block.",
            why="Before the first block nothing has been added: the sum starts at 0.",
            ask="What should the sum be before the first key?"),
    Mistake("first block dropped", change={"blocks": lambda *given: _blocks(*given)[1:]},
            does="The first block does not count.",
            why="The blocks start at key 0.",
            ask="At which key does your first block start?"),
    Mistake("blocks that overlap",
            change=({"blocks": lambda *given: _blocks(*given, extra=1)}, {"blocks": _from_every_key},
                    {"blocks": lambda *given: _cut_blocks(*given, step=-1)}),
            does="Keys where two blocks meet count more than once.",
            why="A slice ends before its second number: key[start : start + block_size] holds block_size keys, "
                "and the next start is block_size further.",
            ask="Which keys does key[0:3] hold, and where must the next block start?"),
    Mistake("a key lost between blocks",
            change=({"blocks": lambda *given: _blocks(*given, extra=-1)},
                    {"blocks": lambda *given: _cut_blocks(*given, stop=lambda size: max(size - 1, 1))},
                    {"blocks": lambda *given: _cut_blocks(*given, start=1)},
                    {"blocks": lambda *given: _cut_blocks(*given, step=1)}),
            does="Each block is one key too short, at its end or at its beginning, or the next one starts a key too late.",
            why="A slice ends before its second number: key[start : start + block_size] holds block_size keys.",
            ask="Which keys does key[0:3] hold?"),
    Mistake("values of the first block", change={"blocks": _first_values},
            does="Every block of keys is used with the first block of values.",
            why="Key j and value j belong together: both are cut at the same places.",
            ask="Which values belong to the keys of the second block?"),
    Mistake("partial results averaged",
            change=({"factor": _one, "powers": _block_weights}, {"factor": _one, "powers": _block_weights_by_length},
                    _merging(lambda out, lse, block, new: ((out + block) / 2, lse))),
            does="The output is the plain mean of the blocks' outputs, whatever their scores are.",
            why="A block counts as much as its sum of exponentials says.",
            ask="Which block should count more if its scores are much larger?"),
    Mistake("partial results added",
            change={"factor": _one, "powers": _block_weights, "finish_stream": _bare},
            does="The output is the sum of the blocks' outputs.",
            why="Each block is divided by its own sum already. The blocks' shares in the common sum have to be "
                "1 together.",
            ask="What must the output be if all values are equal?"),
    Mistake("not divided by the sum", change={"finish_stream": _bare},
            does="The output is a sum of exponentials times values, and is not divided by the sum of the exponentials.",
            why="Weights are shares of one whole: after the last block the output is divided by the running sum.",
            ask="What must the weights of one query sum to?"),
    Mistake("divided in every block",
            change=({"after_block": _divided_again, "finish_stream": _bare}, {"after_block": _divided_again}),
            does="The output is divided by the running sum after every block, and carried on like that.",
            why="The division comes once, at the end. Otherwise the old part is divided by sums that it has "
                "been divided by before.",
            ask="How often is the first block's part divided in your loop?"),
    Mistake("no maximum subtracted",
            change=({"new_max": lambda row_max, scores: np.zeros_like(row_max), "factor": _one},),
            does="For small scores it is right. For scores above 709 (above 88 in float32, above 11 in float16) exp "
                 "overflows, and inf / inf is NaN; in a row far below 0 all exponentials underflow, and their sum is 0.",
            why="The softmax does not change when a number is subtracted from all scores of a row; with "
                "the running maximum no exponent is above 0.",
            ask="Which number can be subtracted from every score of a row so that exp never overflows?"),
    Mistake("one maximum for the whole array",
            change={"new_max": lambda row_max, scores: np.maximum(row_max, scores.max())},
            does="A row that lies far below the largest score of all underflows to a sum of 0.",
            why="Each query needs a running maximum of its own, so that its largest power is 1.",
            ask="What is left of a row whose scores all lie 10000 below another row's?"),
    Mistake("maximum starts at 0",
            change=tuple({"start": lambda query, value, top=top: _stream_start(query, value, top)}
                         for top in (0.0, 1.0, -1.0)),
            does="It is right, unless all scores of a query lie far below 0: then every power underflows, and "
                 "their sum is 0.",
            why="The maximum has to start below every score: at -inf.",
            ask="Which number is smaller than every score?"),
    Mistake("maximum starts too high",
            change=tuple({"start": lambda query, value, top=top: _stream_start(query, value, top)}
                         for top in (-100.0, -999.0, -1000.0)),
            does="If all scores of a query lie far below the number it started with, every power underflows.",
            why="The maximum has to start below every score: at -inf.",
            ask="Which number is smaller than every score?"),
    Mistake("epsilon in the denominator",
            change=tuple({"finish_stream": lambda output, row_sum, value, e=e: output / (row_sum + e)}
                         for e in softmax.EPSILONS[2:]),
            does="Each row of weights sums to a little less than 1.",
            why="With the maximum subtracted the sum is at least 1; a small number added "
                "to it only makes the weights wrong.",
            ask="How small can the sum get once the maximum is subtracted?"),
    Mistake("power of 2 instead of e",
            change={"powers": lambda scores, row_max, new_max: np.exp2(scores - new_max),
                    "factor": lambda row_max, new_max: np.exp2(row_max - new_max)},
            does="The weights are those of scores multiplied by log 2: too even.",
            why="The softmax is defined with e. Kernels use powers of 2 after multiplying the scores "
                "by log2(e).",
            ask="How is exp(x) written as a power of 2?"),
    Mistake("sqrt(block_size) instead of sqrt(d_k)",
            change={"scale": lambda scores, query, key: scores / math.sqrt(key.shape[-2])},
            does="The scale depends on how many keys a block holds.",
            why="One score is a sum of d_k products; how many keys there are does not touch it.",
            ask="Over which index does the sum in q · k run, and how long is it?"),
    *first_variants(pick(raw_scores.SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_q) instead of sqrt(d_k)", "1/2 instead of a square root")),
    *pick(raw_scores.PRODUCT_MISTAKES, "no transpose", "reshape instead of transpose", ".T on a batched array",
          "cosine instead of dot product"),
    CAUSAL_IN_BLOCKS,
)

SHORTER_BLOCK, ONE_BLOCK, LONG_BLOCK = "a shorter last block", "one block", "block_size larger than n_k"
SINGLE_KEYS = "blocks of one key"


def _stream_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, block_size, sizes, seed, batch=(), dtype=np.float64):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        return Case(aspect, (*(normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes)),
                             block_size))

    def tiny(aspect, block_size, query, key, value, extreme=False):
        return Case(aspect, (*(np.array(array, float) for array in (query, key, value)), block_size), extreme)

    def huge(query, key, block_size=2):
        value = np.arange(1.0, 1 + len(key))[:, None]
        return tiny(HUGE, block_size, [[q] for q in query], [[k] for k in key], value, True)

    return [
        tiny(PLAIN, 2, [[1], [-1]], [[1], [0], [2], [3]], [[4], [0], [8], [-4]]),
        tiny(PLAIN, 1, [[1]], [[0], [1]], [[4], [8]]),
        case(PLAIN, 5, (7, 15, 3, 2), 1), case(PLAIN, 3, (5, 15, 2, 7), 4), case(PLAIN, 7, (3, 14, 5, 11), 7),
        tiny(SHORTER_BLOCK, 2, [[1]], [[0], [1], [3]], [[4], [8], [2]]), case(SHORTER_BLOCK, 3, (5, 7, 2, 11), 10),
        case(SHORTER_BLOCK, 5, (3, 13, 7, 2), 13), case(SHORTER_BLOCK, 4, (5, 11, 3, 2), 16),
        case(SINGLE_KEYS, 1, (3, 7, 5, 2), 19), case(ONE_BLOCK, 7, (5, 7, 3, 2), 22),
        tiny(LONG_BLOCK, 5, [[1]], [[0], [1]], [[4], [8]], True),
        Case(LONG_BLOCK, case(LONG_BLOCK, 11, (5, 7, 3, 2), 25).args, True),
        case(SQUARE, 3, (3, 9, 3, 3), 28), case(SQUARE, 5, (5, 5, 5, 5), 31), case(SQUARE, 2, (4, 4, 2, 4), 34),
        tiny(LEADING, 2, [[[1, 2]], [[3, 1]]], [[[1, 0], [2, 1]], [[0, 3], [1, 1]]], [[[4], [8]], [[2], [-4]]]),
        case(LEADING, 5, (3, 10, 7, 2), 37, (2,)), case(LEADING, 3, (5, 7, 2, 11), 40, (2, 3)),
        huge([100, -100, 0], [100, 0, -100, 99]), huge([100], [-100, -99, 100, 99]),
        huge([100, 1], [-100, -101, -102, -103]), huge([100], [100, 99, -100, -99]),
        huge([7.6], [-100, -101, -99, -100]), huge([20], [-100, -101, -99, -100]), huge([100, 0], [100, 99, 98], 3),
        case(FLOAT32, 3, (5, 7, 3, 2), 43, dtype=f4), case(FLOAT16, 2, (3, 5, 2, 7), 46, dtype=f2),
    ]


ALL_SCORES = Mistake(
    "scores of all keys kept",
    does="While it runs it holds as many scores as n_q times n_k, in one array or in pieces.",
    why="The point of going block by block is that the memory does not grow with n_q times n_k: for 100000 "
        "positions the scores alone would take 40 gigabytes in float32.",
    ask="Which array in your function grows with n_q and n_k both, and what of a block is needed after it?")


def no_scores_kept(run):
    """An audit: whether anything as large as all scores is made.

    Blocks and what is left of them take a third of that, and a learner's lists of numbers half.
    """
    def arrays(n_q, n_k):
        return normal(n_q, 1, seed=60), normal(n_k, 1, seed=61), normal(n_k, 1, seed=62), 32

    return ALL_SCORES if grows(run, 0.9 * 8 * 96 * 768, arrays(12, 96), arrays(96, 768)) else None


def _started_with(number):
    return Mistake(
        f"{number:.4g} added to the running sum",
        change={"finish_stream": lambda output, row_sum, value: output / (row_sum + number)},
        does=f"{number:.4g} is added to the sum of the exponentials.",
        why="Before the first block nothing has been added, and with the maximum subtracted the sum is at least 1.",
        ask="What should the sum be before the first key?")


STREAM_FITTED = (raw_scores.divided_by, raw_scores.under_the_root, raw_scores.power_of_d_k, _started_with)

streaming_attention = Exercise(
    name="streaming_attention", signature="(query, key, value, block_size)", part=PART,
    text="Attention with the keys and values read block_size at a time: the result of attention, but no array "
         "of shape (n_q, n_k) is ever made.",
    answer=streaming_attention_answer, steps=STREAM_STEPS, cases=_stream_cases, fitted=STREAM_FITTED, audits=(no_scores_kept,),
    aspects={SHORTER_BLOCK: Mistake(
        "only for full blocks",
        does="The function is right where block_size divides n_k, and not where the last block is shorter.",
        why="n_k need not be a multiple of block_size. range(0, n_k, block_size) has a start for the last block too, "
            "and a slice ends by itself where the array ends.",
        ask="How many blocks are there for 7 keys and a block size of 3, and how long is the last?")},
    hints=(
        "Go through the keys once, in slices of block_size; the last one may be shorter. What must be known of the "
        "blocks before, when a block comes?",
        "Three running quantities for each query: the maximum of the scores, the sum of the exponentials, and the sum of "
        "exponentials times values. The last two are relative to the maximum so far.",
        "When the maximum grows, both sums so far get the factor exp(old maximum - new maximum). Then the block's "
        "own exponentials, exp(scores - new maximum), are added.",
        "Start at -inf, 0 and 0. For each block: scores; new maximum, by np.maximum; factor; sum = sum * factor + "
        "e.sum(axis=-1, keepdims=True), with e = exp(scores - new maximum); "
        "output = output * factor + e @ value block. At the end output / sum.",
    ),
    mistakes=STREAM_MISTAKES,
)

EXERCISES = (
    av_product, attention, masked_attention, dropout_weights, split_heads, merge_heads,
    multi_head_attention, grouped_query_attention, attention_backward, streaming_attention,
)
