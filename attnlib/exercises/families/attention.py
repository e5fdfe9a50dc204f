"""Scores, softmax and weighted sum in one function: the steps, and what goes wrong in them."""

import dataclasses
import math

import numpy as np

from ..model import FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Mistake, Step, alike, normal, ways
from .choose import also, named, pick
from .inputs import inputs
from .scores import (CAUSAL_APPLIED, PRODUCT_MISTAKES, SCALE_MISTAKES, SCORE_STEPS, divided_by, power_of_d_k,
    raw_scores_answer, softmax_of, swap, under_the_root, unscaled)
from .softmax import (AXIS_MISTAKES, EXPONENTIAL_MISTAKES, KEEPDIMS_MISTAKES, SHIFT_MISTAKES, SIGN, SOFTMAX_STEPS,
    TOTAL_MISTAKES, softmax_steps_answer)
from .weighted_sums import AV_MISTAKES, AV_STEPS, av_product_answer


def attention_answer(do, query, key, value):
    key, value = do.keys(key, value)
    scores = do.rescale(raw_scores_answer(do, query, key), query, value)
    weights = softmax_steps_answer(do, scores, -1)
    output = av_product_answer(do, do.scale_weights(weights, query), do.choose_values(query, key, value))
    return do.answer_out(do.residual(output, query, value), weights, scores)


ATTENTION_STEPS = {
    **SCORE_STEPS, **SOFTMAX_STEPS, **AV_STEPS,
    "keys": lambda key, value: (key, value),
    "rescale": lambda scores, query, value: scores,
    "residual": lambda output, query, value: output,
    "scale_weights": lambda weights, query: weights,
    "choose_values": Step(lambda query, key, value: value, "the values"),
    "answer_out": lambda output, weights, scores: output,
}

# each head or sequence by itself, as a sum over the last two axes
OVER_EVERYTHING = dataclasses.replace(
    also(named("softmax over everything", AXIS_MISTAKES), {"axis": lambda axis, scores: (-2, -1)},
         {"total": lambda powers, axis: powers.sum(axis=(-2, -1), keepdims=True)}),
    does="All weights of a matrix, or of the whole array, together sum to 1; each row should.")

NO_SOFTMAX = {"shift": lambda s, axis: s, "exponential": lambda s, axis: s, "divide": lambda powers, total: powers}

ATTENTION_SOFTMAX_MISTAKES = (
    *pick(SHIFT_MISTAKES, "no maximum subtracted", "one maximum for the whole array",
          "minimum subtracted instead of maximum", "mean subtracted instead of maximum",
          "maximum of absolute values", "divided by the maximum", "scores clipped"),
    *KEEPDIMS_MISTAKES,
    *pick(EXPONENTIAL_MISTAKES, "no exponential", "absolute values instead of exponentials",
          "squares instead of exponentials", "power of 2 instead of e", "power of 10 instead of e",
          "1 subtracted from the exponentials", "sigmoid instead of softmax", "argmax instead of softmax"),
    SIGN,
    *pick(TOTAL_MISTAKES, "not divided by the sum", "sum over the wrong axis",
          "epsilon in the denominator", "divided by the mean", "divided by the Euclidean length",
          "logarithm of the softmax"),
    also(*pick(TOTAL_MISTAKES, "sum without keepdims"), {  # of the output, divided last
        "divide": lambda powers, total: powers, "finish_output": lambda output, weights, value: (
            output / weights.sum(axis=-1))}),
    *pick(AXIS_MISTAKES, "softmax over the queries' axis", "softmax over the first axis",
          "softmax over all axes but the first", "softmax over the second axis"), OVER_EVERYTHING,
    *alike("The softmax turns scores into weights, shares of one whole, and only weights may mix the values.",
           "Between which two products does the softmax stand, and what do the weights of one query sum to?",
           ("softmax after the values",
            {**NO_SOFTMAX, "finish_output": lambda output, weights, value: softmax_of(output)},
            "The raw scores are mixed with the values, and the softmax is taken of the output."),
           ("softmax left out", NO_SOFTMAX, "The values are mixed with the raw scores themselves."),
           ("softmax of the output", {"finish_output": lambda output, weights, value: softmax_of(output)},
            "The output goes through a softmax besides.")),
    *alike("Attention has one scale, 1/sqrt(d_k), and it belongs to the scores, before exp.",
           "Which numbers are the scores multiplied with before exp, and what is done to the weights after it?",
           ("temperature applied", ways("rescale", *(
               lambda scores, query, value, c=c: scores * c for c in (2.0, 0.5, 10.0, 0.1, 100.0, 0.01, 1000.0))),
            "The scores are multiplied by a fixed number before the softmax: the weights are too sharp or too even."),
           ("scale after the softmax", (
               {"scale": unscaled, "scale_weights": lambda weights, query: weights / math.sqrt(query.shape[-1])},
               {"scale": unscaled,
                "finish_output": lambda output, weights, value: output / math.sqrt(value.shape[-1])}),
            "The scores are not scaled, and the weights or the output are divided by a square root instead."),
           ("sqrt(d_v) instead of sqrt(d_k)", {"rescale": lambda scores, query, value: (
               scores * math.sqrt(query.shape[-1] / value.shape[-1]))},
            "The scale depends on the length of the values, which have no part in the scores.")),
    *alike("Every key gets a positive weight: exp(score), divided by the sum of the exponentials of its row.",
           "What stands above the fraction line for one key, and what is added up below it?",
           ("exponential of the sum", tuple(
               {"total": lambda powers, axis: powers.prod(axis=-1, keepdims=True), **more}
               for more in ({}, {"shift": lambda s, axis: s})),
            "The exponentials are divided by exp of the sum of the scores, which is their product."),
           ("ReLU instead of the exponential", tuple(
               {"shift": lambda s, axis: s, "exponential": lambda s, axis: np.maximum(s, 0.0), **more}
               for more in ({}, {"divide": lambda powers, total: powers})),
            "Negative scores count as 0, and the others as they are."),
           ("softmax plus one", {"scores_in": lambda s: np.concatenate([s, np.zeros_like(s[..., :1])], axis=-1),
                                 "weights_out": lambda weights: weights[..., :-1]},
            "A score of 0 that belongs to no key is in the sum: the weights of a query sum to less than 1."),
            alone=True),
)


def distances(sign, root):
    """Scores that tell how far query and key are apart."""
    def product(query, key_t):
        squares = ((query[..., :, None, :] - swap(key_t)[..., None, :, :]) ** 2).sum(axis=-1)
        return sign * (np.sqrt(squares) if root else squares)

    return product


def _with_axes(n_axes, text, step="transpose"):
    """The step right for this number of axes, and an error of that text for any other."""
    def change(key, *value):
        if key.ndim != n_axes:
            raise ValueError(text)
        return swap(key) if step == "transpose" else (key, *value)

    return {step: change}


# an einsum lets an axis of length 1 meet any other
ATTENTION_PRODUCT_MISTAKES = (
    also(*pick(PRODUCT_MISTAKES, "K Qᵀ instead of Q Kᵀ"), {
        "product": lambda query, key_t: np.einsum("...id,...dj->...ji", query, key_t)}),
    *pick(PRODUCT_MISTAKES, "no transpose", "reshape instead of transpose", ".T on a batched array",
          "elementwise product",
          "cosine instead of dot product", "summed over the batch", "features multiplied instead of summed",
          "largest feature instead of the sum", "half of the features", "sum instead of product",
          "smaller entry instead of product", "np.dot on batches"),
    Mistake("axes counted from the front",
            change=(*ways("transpose", *(lambda key, i=i: np.swapaxes(key, i, i + 1) for i in (1, 0, 2))),
                    *(_with_axes(n, "axes don't match array") for n in (3, 4)),
                    *(_with_axes(n, text, "keys") for text in ("not enough values to unpack", "einsum")
                      for n in (3, 4))),
            does="The function is right for one number of axes, and for no other.",
            why="Leading (batch, head) axes may be none, one or two: swapaxes(1, 2), or a shape unpacked into three "
                "names, is right for three axes alone. The last two are always -2 and -1.",
            ask="Which indices name the last two axes whatever stands before them?"),
    Mistake("distance instead of dot product",
            change=tuple({"product": distances(sign, root), **more} for sign in (-1, 1) for root in (False, True)
                         for more in ({}, {"scale": unscaled})),
            does="The scores tell how far query and key are apart.",
            why="Attention's score is the dot product: it also grows with the lengths of query and key.",
            ask="Which operation joins a query and a key in Q Kᵀ?"),
)

KEYS_LEFT_OUT = ways("keys", lambda key, value: (key[..., :-1, :], value[..., :-1, :]),
                     lambda key, value: (key[..., 1:, :], value[..., 1:, :]))


def _causal_at_the_end(scores):
    """Only keys up to the query's position, the last query at the last key."""
    n_q, n_k = scores.shape[-2:]
    return np.where(np.tri(n_q, n_k, n_k - n_q, dtype=bool), scores, -np.inf)


CAUSAL = dataclasses.replace(
    also(CAUSAL_APPLIED, {"finish_scores": np.tril}, {"weights_out": np.tril}, {"finish_scores": _causal_at_the_end}),
    does="Keys after the query are hidden, or their scores or weights set to 0.")

# what is done with queries, keys and values, and what comes back
VALUE_MISTAKES = (
    *alike("Queries and keys decide how much each position counts; what it contributes is its value.",
           "Which of the three stand in the scores, and which in the output?",
           ("key and value swapped", {"keys": lambda key, value: (value, key)},
            "The queries are compared with the values, and the keys are mixed; that fits only for d_k = d_v."),
           ("values instead of keys", {"keys": lambda key, value: (value, value)},
            "The queries are compared with the values, which are mixed as well; that fits only for d_k = d_v."),
           ("queries instead of values", {"choose_values": lambda query, key, value: query},
            "The queries are mixed, not the values; that fits only for n_q = n_k."),
           ("keys instead of values", {"choose_values": lambda query, key, value: key},
            "The keys are mixed, not the values.")),
    *alike("There are three steps: scores, weights, and the weighted sums of the values, which are the answer.",
           "What is the last step of attention, and which of your lines comes after it?",
           ("scores returned instead of the output", {"answer_out": lambda output, weights, scores: scores},
            "The answer has shape (..., n_q, n_k): it holds the scores."),
           ("weights returned instead of the output", {"answer_out": lambda output, weights, scores: weights},
            "The answer has shape (..., n_q, n_k): it holds the weights."),
           ("values returned instead of the output", {"residual": lambda output, query, value: value},
            "The answer is value as it was given: n_k rows, one for each key."),
           ("input added", ways("residual", lambda output, query, value: output + query,
                                lambda output, query, value: output + value),
            "The queries or the values are added to the output, where the shapes fit at all.")),
)


ATTENTION_AXES = dict(query="n_q d_k", key="n_k d_k", value="n_k d_v")


def attention_cases():
    def tiny(aspect, query, key, value, dtype=float):
        return Case(aspect, tuple(np.array(array, dtype) for array in (query, key, value)), aspect == HUGE)

    def some(aspect, *shapes, seed):
        return Case(aspect, tuple(normal(*shape, seed=seed + i) for i, shape in enumerate(shapes)))

    three = [[1], [3], [2]]
    return [
        tiny(PLAIN, [[2, 0, 0, 4]], [[1, 2, 3, 4], [0, 3, 1, 1]], [[4, 0], [8, 2]]),
        some("one query", (1, 5), (3, 5), (3, 13), seed=5), some(SQUARE, (5, 3), (5, 3), (5, 3), seed=7),
        tiny(SQUARE, [[1, 2], [3, 4]], [[0, 1], [2, 5]], [[4, 1], [0, 8]]),
        tiny(LEADING, [[[1, 2]], [[3, 1]]], [[[1, 1]], [[2, 0]]], [[[4, 2]], [[8, 0]]]),
        some(LEADING, (3, 3, 3), (3, 3, 3), (3, 3, 3), seed=44),
        tiny(FLOAT32, [[1, 2]], [[3, 4]], [[2, 4]], np.float32),
        tiny(HUGE, [[100], [0]], [[100], [99], [0]], three), tiny(HUGE, [[-100], [0]], [[100], [101], [102]], three),
        tiny(HUGE, [[100, 0], [1, 0]], [[0, 1], [0, 2], [0, 3]], three),
        tiny(HUGE, [[4], [1]], [[100], [99], [0]], three),
        tiny(HUGE, [[200], [1]], [[100], [-100], [100]], three),
        tiny(HUGE, [[1000]], [[1]] * 10 + [[0]], [[n] for n in range(11)]), *inputs(ATTENTION_AXES),
    ]


def epsilon_of(number):
    return Mistake(
        f"{number:.4g} added to the sum",
        change={"total": lambda powers, axis: powers.sum(axis=axis, keepdims=True) + number},
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
        f"scores capped at {abs(number):.4g}",
        change={"finish_scores": lambda scores: number * np.tanh(scores / number)},
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


ATTENTION_FITTED = (divided_by, under_the_root, power_of_d_k, scores_cut_at,
                    scores_capped_at, epsilon_of, mixed_with_equal)

# what attention's exercises choose from
ATTENTION_MISTAKES = (
    *SCALE_MISTAKES, CAUSAL, *ATTENTION_PRODUCT_MISTAKES, *ATTENTION_SOFTMAX_MISTAKES,
    *pick(AV_MISTAKES, "Aᵀ V instead of A V", "V A instead of A V", "transposed values", "A * V instead of A @ V",
          "not summed", "outputs summed over the queries", "outputs averaged over the queries", "reshaped values",
          "rounded", "weights averaged over the batch", "outputs summed over the batch", "np.dot of batched weights",
          "weights averaged over the queries", "one query left out", "only the first query", "weights ignored",
          "only the largest weight", "every second key left out", "one key alone", "n_q keys instead of n_k",
          "only some of the largest weights", "small weights set to 0", "keys in reverse order", "keys shifted by one",
          "softmax of the weights", "divided by the number of features", "largest product instead of the sum",
          "median of the values", "mean of the values added", "mean of the values subtracted",
          "minimum of weight and value", "weights added to the values", "output transposed",
          "summed over the features instead of the keys", "summed over the queries instead of the keys",
          "features summed"),
    also(*pick(AV_MISTAKES, "one key left out"), *KEYS_LEFT_OUT),
    *VALUE_MISTAKES,
)
