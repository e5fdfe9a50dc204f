"""The exercise attention_backward."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np

from ...families.attention import OVER_EVERYTHING
from ...families.choose import also, pick
from ...families.gradients import SOFTMAX_BACKWARD_MISTAKES, SOFTMAX_BACKWARD_STEPS
from ...families.scores import CAUSAL_APPLIED, SCALE_MISTAKES, SCORE_STEPS, raw_scores_answer, swap, unscaled
from ...families.softmax import (AXIS_MISTAKES, EXPONENTIAL_MISTAKES, SHIFT_MISTAKES, SOFTMAX_STEPS, TOTAL_MISTAKES,
    softmax_steps_answer)
from ...families.weighted_sums import leading
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, normal


def attention_backward_answer(do, query, key, value, grad_output):
    weights = softmax_steps_answer(do, raw_scores_answer(do, query, key), -1)
    grad_output = do.grad_in(grad_output)
    grad_weights = do.grad_weights(grad_output, value)
    total = do.back_total(do.back_products(weights, grad_weights))
    centred = do.back_centre(grad_weights, total)
    grad_scores = do.back_finish(do.back_times(weights, centred, grad_weights, total))
    grad_query = do.grad_query(do.scale_query(grad_scores, query, key), key, query)
    grad_key = do.grad_key(do.scale_key(grad_scores, query, key), query, key)
    return do.gradients(grad_query, grad_key, do.grad_value(weights, grad_output, value))


_scaled = SCORE_STEPS["scale"].run

_unscaled = unscaled

BACKWARD_STEPS = {
    **SCORE_STEPS, **SOFTMAX_STEPS,
    "grad_in": Step(lambda grad: grad, "grad_output"),
    "grad_weights": Step(lambda grad, value: grad @ swap(value), "the gradient of the weights"),
    **{f"back_{name}": SOFTMAX_BACKWARD_STEPS[name]
       for name in ("products", "total", "centre", "times", "finish")},
    "back_finish": Step(lambda grad_scores: grad_scores, "the gradient of the scores"),
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
        for mistake in pick(SOFTMAX_BACKWARD_MISTAKES, *names))


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
    return _each(lambda gradient: reduce(gradient, axis=leading(gradient)) if gradient.ndim > 2 else gradient)


BACKWARD_MISTAKES = (
    *(everywhere(mistake) for mistake in pick(
        SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
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
    *pick(SHIFT_MISTAKES, "no maximum subtracted", "one maximum for the whole array"),
    *pick(EXPONENTIAL_MISTAKES, "power of 2 instead of e"),
    *pick(TOTAL_MISTAKES, "not divided by the sum"),
    *pick(AXIS_MISTAKES, "softmax over the queries' axis"), OVER_EVERYTHING,
    CAUSAL_APPLIED,
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


EXERCISE = Exercise(
    name="attention_backward", signature="(query, key, value, grad_output)", place=1,
    axes=dict(query="n_q d_k", key="n_k d_k", value="n_k d_v", grad_output="n_q d_v"),
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
