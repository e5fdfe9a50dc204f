"""The exercise attention_backward."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from ...families.attention import ATTENTION_AXES, OVER_EVERYTHING
from ...families.choose import also, pick
from ...families.gradients import (AV_BACKWARD_MISTAKES, AV_BACKWARD_STEPS, LAST_KEY, LAST_QUERY_FOR_KEYS,
    LAST_QUERY_FOR_VALUES, SCORES_BACKWARD_MISTAKES, SCORES_BACKWARD_STEPS, SOFTMAX_BACKWARD_MISTAKES,
    SOFTMAX_BACKWARD_STEPS, every_gradient, one_gradient, ordered, over_the_batch)
from ...families.inputs import inputs
from ...families.scores import CAUSAL_APPLIED, SCALE_MISTAKES, SCORE_STEPS, raw_scores_answer, swap, unscaled
from ...families.softmax import (AXIS_MISTAKES, EXPONENTIAL_MISTAKES, SHIFT_MISTAKES, SOFTMAX_STEPS, TOTAL_MISTAKES,
    softmax_steps_answer)
from ...model import HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways


def attention_backward_answer(do, query, key, value, grad_output):
    weights = softmax_steps_answer(do, raw_scores_answer(do, query, key), -1)
    grad_output = do.grad_in(grad_output)
    grad_weights = do.grad_weights(grad_output, value)
    total = do.back_total(do.back_products(weights, grad_weights))
    centred = do.back_centre(grad_weights, total)
    grad_scores = do.back_finish(do.back_times(weights, centred, grad_weights, total))
    grad_query = do.grad_query(do.scale_query(grad_scores, query, key), key, query)
    grad_key = do.grad_key(do.scale_key(grad_scores, query, key), query, key)
    return do.order(do.gradients(grad_query, grad_key, do.grad_value(weights, grad_output, value)))


BACKWARD_STEPS = {
    **SCORE_STEPS, **SOFTMAX_STEPS, **AV_BACKWARD_STEPS, **SCORES_BACKWARD_STEPS,
    "grad_in": Step(lambda grad: grad, "grad_output"),
    **{f"back_{name}": SOFTMAX_BACKWARD_STEPS[name]
       for name in ("products", "total", "centre", "times", "finish")},
    "back_finish": Step(lambda grad_scores: grad_scores, "the gradient of the scores"),
    "gradients": lambda grad_query, grad_key, grad_value: (grad_query, grad_key, grad_value),
    "order": lambda gradients: gradients,
}


def _of_softmax_backward(*names):
    """Mistakes of softmax_backward, in the steps of attention's backward pass."""
    return tuple(
        replace(mistake, change=tuple(
            {f"back_{step}": change for step, change in variant.items()} for variant in mistake.variants))
        for mistake in pick(SOFTMAX_BACKWARD_MISTAKES, *names))


def _everywhere(mistake):
    """A mistake of the scale, in the forward pass and in both gradients alike."""
    return replace(mistake, change=dict.fromkeys(("scale", "scale_query", "scale_key"), mistake.variants[0]["scale"]))


def _added(place):
    """One of the three gradients with its argument added."""
    return {"answer": lambda *args: tuple(
        gradient + args[i] if i == place else gradient for i, gradient in enumerate(_backward(*args)))}


def _backward(*args):
    return attention_backward_answer(SimpleNamespace(**BACKWARD_STEPS), *args)


def _delta_of_the_values(query, key, value, grad_output):
    steps = {**BACKWARD_STEPS, "back_total": lambda products: (grad_output * value).sum(axis=-1, keepdims=True)}
    return attention_backward_answer(SimpleNamespace(**steps), query, key, value, grad_output)


LAST_QUERY = {**LAST_QUERY_FOR_KEYS, **LAST_QUERY_FOR_VALUES}

BACKWARD_MISTAKES = (
    *map(_everywhere, pick(SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                           "sqrt(n_k) instead of sqrt(d_k)")),
    *SCORES_BACKWARD_MISTAKES, *AV_BACKWARD_MISTAKES,
    *alike("The scores are Q Kᵀ / sqrt(d_k): the weights need that scale, and so do the derivatives of the scores, "
           "once.",
           "Which factor stands before q · k in a score, and what does it become in the derivatives for Q, K and V?",
           ("no scale in the forward pass", {"scale": unscaled},
            "The gradients are scaled, but the weights they start from are those of unscaled scores."),
           ("grad_value scaled", ways(
               "gradients", lambda q, k, v: (q, k, v / math.sqrt(q.shape[-1])),
               lambda q, k, v: (q, k, v / math.sqrt(v.shape[-1])), lambda q, k, v: (q, k, v * math.sqrt(q.shape[-1]))),
            "grad_value is scaled; but the values meet the weights, where no scale is left.")),
    *alike("The output depends on queries, keys and values: each has a gradient, of its own shape, in this order.",
           "What shape has each of the three arguments, and which of your three arrays is its gradient?",
           ("a gradient left at 0", one_gradient(lambda gradient: 0 * gradient, range(3)),
            "One of the three gradients is 0 throughout, but for rounding."),
           ("a gradient transposed", (*one_gradient(swap, range(3)), *every_gradient(swap)),
            "A gradient has its last two axes swapped."),
           ("gradients in another order",
            (ordered(1, 0, 2), ordered(2, 1, 0), ordered(2, 0, 1), ordered(0, 2, 1), ordered(1, 2, 0)),
            "The three gradients are right, and come in another order."),
           ("summed over the batch", every_gradient(over_the_batch(np.sum), over_the_batch(np.mean)),
            "Leading axes disappear: the gradients of all sequences are added or averaged.")),
    Mistake("grad_scores instead of the weights in grad_value", change=ways(
                "grad_value", lambda weights, grad, value: swap(_softmax_backward(weights, grad @ swap(value))) @ grad,
                lambda weights, grad, value: swap(grad @ swap(value)) @ grad),
            does="grad_value is made with the gradient of the scores or of the weights in place of the weights.",
            why="Value j goes into every output i with weight (i, j): its gradient is the sum over the queries i of weight "
                "(i, j) times grad_output i.",
            ask="What does output i change by if value j changes by 1, and which index is summed over?"),
    *alike("The gradient of weight (i, j) is grad_output i times value j, summed over the features.",
           "Which two arrays make the gradient of the weights, and over which index does the sum run?",
           ("grad_output left out of grad_scores",
            {"grad_weights": lambda grad, value: np.ones_like(grad) @ swap(value)},
            "grad_value is right, but grad_query and grad_key do not depend on grad_output."),
           ("grad_output ignored", {"grad_in": np.ones_like}, "The gradients are those of the sum of the output.")),
    Mistake("gradient of the weights left out", change={"back_times": lambda weights, centred, grad, total: weights},
            does="grad_query and grad_key are made with the weights, and not with the gradient of the scores.",
            why="Query i and key j meet in score (i, j): with dS, its gradient, that of Q is dS K and that of K is dSᵀ Q.",
            ask="What is the derivative of q · k with respect to q, and over which index does the sum run for query i?"),
    *alike("Each key goes into the scores of all queries, and each query meets all keys: their gradients are sums.",
           "What is left of the first query's part in grad_key when your loop comes to the second one?",
           ("assigned instead of added", (
               LAST_QUERY, LAST_QUERY_FOR_KEYS, LAST_QUERY_FOR_VALUES, LAST_KEY, {**LAST_KEY, **LAST_QUERY_FOR_KEYS},
               {**LAST_KEY, **LAST_QUERY}),
            "A gradient holds what the last query, or the last key, adds to it: = stands where += belongs.")),
    Mistake("values instead of the output in the row sum", change={"answer": _delta_of_the_values},
            does="The row sum is made of grad_output and the values: query i meets value i, where the shapes fit at all.",
            why="The sum over the keys of A * dA is the sum over the features of grad_output times the output, in which the "
                "values are added up already, each with its weight.",
            ask="Which array has a row for each query and the features of a value?"),
    *alike("The softmax's derivative subtracts from each gradient the mean of its row under the weights, and "
           "multiplies with the weight: A * (dA - sum of A * dA).",
           "Which brackets does the formula of the softmax's derivative have, and what stands in them?",
           ("softmax not differentiated", {"back_times": lambda weights, centred, grad, total: grad},
            "The gradient of the weights is handed on as the gradient of the scores."),
           ("row sum added bare", {"back_times": lambda weights, centred, grad, total: weights * grad + total},
            "The row sum is added, and not multiplied by the weights."),
           ("w_i instead of w_j in the row sum", {"back_times": lambda weights, centred, grad, total: (
               weights * grad - weights * weights * grad.sum(axis=-1, keepdims=True))},
            "In the row sum each gradient is multiplied by the weight in front of the bracket, not by its own."),
           ("maximum instead of the row sum", (
               {"back_total": lambda products: products.max(axis=-1, keepdims=True)},
               {"back_centre": lambda grad, total: grad - grad.max(axis=-1, keepdims=True)}),
            "The largest entry of each row is subtracted, not the sum of weights times gradients.")),
    *alike("A gradient is that of a sum, as it is: nothing is averaged, and it points to where the loss grows.",
           "What divides, adds or negates in your last lines, and does it belong to a gradient?",
           ("gradient divided by a size", (
               *every_gradient(lambda gradient: gradient / gradient.shape[-2], lambda gradient: gradient / gradient.size),
               *ways("gradients", *(lambda *gradients, i=i: tuple(g / gradients[i].shape[-2] for g in gradients)
                                    for i in (0, 1)))),
            "Each gradient is divided by a number of rows, or of entries."),
           ("sign flipped", ({"back_centre": lambda grad, total: total - grad}, *every_gradient(np.negative)),
            "Gradients have the wrong sign, as if they were steps downhill."),
           ("an argument added to its gradient", tuple(map(_added, range(3))),
            "A gradient has its argument added to it.")),
    *_of_softmax_backward(
        "row sum not subtracted", "diagonal-only Jacobian", "row sum not multiplied by the weights",
        "weights missing in front", "weights missing in the row sum", "plain mean instead of the weighted one",
        "mean instead of sum", "row sum added", "backward of the log-softmax", "weights squared",
        "sum over the wrong axis", "sum without keepdims"),
    also(*_of_softmax_backward("one sum for the whole array"), {
        "back_total": lambda products: products.sum(axis=(-2, -1), keepdims=True)}),
    *pick(SHIFT_MISTAKES, "no maximum subtracted", "one maximum for the whole array"),
    *pick(EXPONENTIAL_MISTAKES, "power of 2 instead of e"), *pick(TOTAL_MISTAKES, "not divided by the sum"),
    *pick(AXIS_MISTAKES, "softmax over the queries' axis"), OVER_EVERYTHING, CAUSAL_APPLIED,
)


def _softmax_backward(weights, grad):
    return weights * (grad - (weights * grad).sum(axis=-1, keepdims=True))


AXES = dict(ATTENTION_AXES, grad_output="n_q d_v")


def backward_cases():
    def tiny(aspect, *arrays):
        return Case(aspect, tuple(np.array(array, float) for array in arrays), aspect == HUGE)

    def huge(query, key):
        return tiny(HUGE, query, key, [[4, 1], [0, 2], [1, 5]], [[1, 3], [2, 1], [5, 2]][:len(query)])

    some_equal = [normal(*shape, seed=13 + i) for i, shape in enumerate(((5, 3), (5, 3), (5, 2), (5, 2)))]
    return [
        # equal scores in a row: weights of 1/2
        tiny(PLAIN, [[2, 0, 0, 0]], [[1, 0, 0, 0], [1, 4, 0, 0]], [[4], [0]], [[1]]),
        tiny(PLAIN, [[0, 2, 0, 0], [2, 0, 0, 0]], [[1, 0, 2, 0], [1, 0, 0, 4], [1, 0, 2, 2]], [[4], [0], [5]],
             [[1], [3]]),
        tiny(SQUARE, [[2, 0], [1, 1]], [[1, 0], [1, 4]], [[4, 1], [0, 2]], [[1, 0], [2, 3]]),
        Case(SQUARE, tuple(some_equal)),
        tiny(LEADING, [[[2, 0]], [[1, 1]]], [[[1, 0], [1, 4]], [[0, 2], [1, 0]]], [[[4], [0]], [[2], [6]]],
             [[[1]], [[3]]]),
        huge([[100, 0], [1, 2]], [[100, 0], [100, 8], [0, 1]]),
        huge([[-100, 0], [1, 2]], [[100, 0], [100, 8], [101, 1]]),
        huge([[100, 0], [1, 2], [2, 1]], [[100, 0], [100, 8], [0, 1]]), *inputs(AXES),
    ]


EXERCISE = Exercise(
    name="attention_backward", signature="(query, key, value, grad_output)", place=4,
    axes=AXES,
    text="The gradients of a loss with respect to query, key and value, from its gradient with respect to "
         "attention's output: (grad_query, grad_key, grad_value).",
    answer=attention_backward_answer, steps=BACKWARD_STEPS, cases=backward_cases,
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
