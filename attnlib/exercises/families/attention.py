"""Scores, softmax and weighted sum in one function: the steps, and what goes wrong in them."""

import dataclasses
import math

import numpy as np

from ..model import HUGE, LEADING, Case, Mistake, Step, normal
from .choose import also, drop, named, pick
from .scores import (CAUSAL_APPLIED, PRODUCT_MISTAKES, SCALE_MISTAKES, SCORE_STEPS, divided_by, power_of_d_k,
    raw_scores_answer, score_cases, softmax_of, swap, under_the_root, unscaled)
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
    *drop(AXIS_MISTAKES, "softmax over everything"), OVER_EVERYTHING,
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
                    "finish_output": lambda output, weights, value: softmax_of(output)},
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


def distance_scores(sign, root):
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
    also(*pick(PRODUCT_MISTAKES, "K Qᵀ instead of Q Kᵀ"), {
        "product": lambda query, key_t: np.einsum("...id,...dj->...ji", query, key_t)}),
    *drop(PRODUCT_MISTAKES, "K Qᵀ instead of Q Kᵀ", "summed over positions instead of features"),
    FRONT_AXES,
    Mistake("distance instead of dot product",
            change=tuple({**distance_scores(sign, root), **more} for sign in (-1, 1) for root in (False, True)
                         for more in ({}, {"scale": unscaled})),
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


CAUSAL = dataclasses.replace(
    also(CAUSAL_APPLIED, {"finish_scores": np.tril}, {"weights_out": np.tril},
         {"finish_scores": _causal_at_the_end}),
    does="Keys after the query are hidden, or their scores or weights set to 0.")

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
            change={"finish_output": lambda output, weights, value: softmax_of(output)},
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

    return [with_value(case, number) for number, case in enumerate(score_cases(), 20)] + [
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


ATTENTION_FITTED = (divided_by, under_the_root, power_of_d_k, scores_cut_at,
                    scores_capped_at, epsilon_of, mixed_with_equal)

ATTENTION_MISTAKES = (
    *SCALE_MISTAKES, SCALE_BY_D_V, CAUSAL,
    *ATTENTION_PRODUCT_MISTAKES,
    *ATTENTION_SOFTMAX_MISTAKES,
    *drop(AV_MISTAKES, "weights normalised again", "divided by the number of keys",
          "only the best key's value", "one key left out", "only the last query", "the first query's weights for all",
          "logarithms of the weights"),
    also(*pick(AV_MISTAKES, "one key left out"), *KEYS_LEFT_OUT),
    *VALUE_MISTAKES,
)
