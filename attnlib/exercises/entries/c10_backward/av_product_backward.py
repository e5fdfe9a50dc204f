"""The exercise av_product_backward."""

import numpy as np

from ...families.gradients import (AV_BACKWARD_MISTAKES, AV_BACKWARD_STEPS, LAST_QUERY_FOR_VALUES, SIGN_FLIPPED,
    every_gradient, misplaced, one_gradient, steps_taken)
from ...families.inputs import inputs
from ...families.scores import softmax_of, swap
from ...families.weighted_sums import random_weights
from ...model import LEADING, PLAIN, SQUARE, Case, Exercise, Step, alike, normal, ways

AXES = dict(weights="n_q n_k", value="n_k d_v", grad_output="n_q d_v")


def av_product_backward_answer(do, weights, value, grad_output):
    weights, grad_output = do.weights_in(weights), do.grad_in(grad_output)
    grad_weights = do.finish_weights(do.grad_weights(grad_output, value), weights)
    return do.order(do.gradients(grad_weights, do.grad_value(weights, grad_output, value)))


STEPS = {
    **AV_BACKWARD_STEPS,
    "weights_in": Step(lambda weights: weights, "the weights"),
    "grad_in": Step(lambda grad: grad, "grad_output"),
    "finish_weights": lambda grad_weights, weights: grad_weights,
    "gradients": lambda grad_weights, grad_value: (grad_weights, grad_value),
    "order": lambda gradients: gradients,
}


LAST_FEATURE = {"grad_weights": lambda grad, value: grad[..., -1:] @ swap(value[..., -1:])}


def _cases():
    def tiny(aspect, *arrays):
        return Case(aspect, tuple(np.array(array, float) for array in arrays))

    some_equal = (random_weights(5, 5, seed=13), normal(5, 5, seed=14), normal(5, 5, seed=15))
    return [
        tiny(PLAIN, [[0.25, 0.75]], [[1], [3]], [[4]]), tiny(PLAIN, [[0.5, 0.5], [0.25, 0.75], [1, 0]], [[1], [3]], [[4], [8], [2]]),
        tiny(PLAIN, [[0.5, 0.5]], [[1, 0, 2], [3, 1, 0]], [[1, 2, 3]]),
        tiny("weights that sum to less than 1", [[0.5, 0.25]], [[1, 2], [0, 3]], [[4, 1]]),
        tiny(SQUARE, [[0.5, 0.5], [0.25, 0.75]], [[1, 2], [0, 3]], [[4, 1], [0, 2]]), Case(SQUARE, some_equal),
        tiny(LEADING, [[[0.5, 0.5]], [[0.25, 0.75]]], [[[1], [3]], [[0], [2]]], [[[4]], [[8]]]),
        *inputs(AXES, make={"weights": lambda shape, seed, dtype: random_weights(*shape, seed=seed, dtype=dtype)}),
    ]


EXERCISE = Exercise(
    name="av_product_backward", signature="(weights, value, grad_output)", place=1, axes=AXES,
    text="The gradients of a loss with respect to weights and value, from its gradient with respect to their product, the "
         "output: (grad_weights, grad_value).",
    answer=av_product_backward_answer, steps=STEPS, cases=_cases, outputs=("grad_weights", "grad_value"),
    hints=(
        "Write one entry of the output as a sum: O[i, c] is the sum over j of A[i, j] V[j, c]. In which entries of the output "
        "does V[j, c] stand, and with which factor?",
        "V[j, c] stands in O[i, c] for every query i, with the factor A[i, j]: its gradient is a sum over i. A[i, j] stands in "
        "O[i, c] for every feature c, with the factor V[j, c].",
        "A sum over the first index of both arrays is a product with the first one transposed, a sum over the last index of "
        "both with the second one transposed. The shapes say whether it is right; np.swapaxes(x, -1, -2) swaps the last two axes.",
    ),
    mistakes=(
        *AV_BACKWARD_MISTAKES,
        *misplaced("values"),
        *alike("The gradient of value j counts each query with its weight (i, j): who reads more of it moves it more.",
               "With which factor does value j stand in output i?",
               ("weights left out of grad_value",
                {"grad_value": lambda weights, grad, value: np.broadcast_to(grad.sum(axis=-2, keepdims=True), value.shape).copy()},
                "Every value gets the plain sum of the rows of grad_output."),
               ("softmax of the weights", {"weights_in": softmax_of}, "The weights go through another softmax."),
               ("weights summed before the product",
                {"grad_value": lambda weights, grad, value: weights.sum(axis=-2)[..., None] * grad.sum(axis=-2, keepdims=True)},
                "grad_value is the sum of each key's weights, times the sum of the rows of grad_output.")),
        *alike("The gradient of weight (i, j) is grad_output i times value j, summed over the features. The weight itself is not "
               "in it: the output is linear in the weights.",
               "What does output i change by if weight (i, j) changes by 1?",
               ("weights multiplied in", {"finish_weights": lambda grad_weights, weights: weights * grad_weights},
                "grad_weights is multiplied by the weights, entry by entry."),
               ("backward through the softmax as well", ({"finish_weights": lambda grad_weights, weights: weights * (
                   grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True))},),
                "grad_weights is already the gradient of the scores: the softmax is the next step."),
               ("mean of the row subtracted", ways(
                   "finish_weights", lambda grad_weights, weights: grad_weights - (weights * grad_weights).sum(-1, keepdims=True),
                   lambda grad_weights, weights: grad_weights - grad_weights.mean(axis=-1, keepdims=True)),
                "From each row of grad_weights a mean of it is subtracted."),
               ("grad_output ignored", {"grad_in": np.ones_like}, "The gradients are those of the sum of the output.")),
        *alike("Each value goes into the outputs of all queries, and each weight into all features: their gradients are sums.",
               "What is left of the first query's part in grad_value when your loop comes to the second one?",
               ("assigned instead of added",
                (LAST_QUERY_FOR_VALUES, LAST_FEATURE, {**LAST_QUERY_FOR_VALUES, **LAST_FEATURE}),
                "A gradient holds what the last query, or the last feature, adds to it: = stands where += belongs.")),
        *alike("A gradient is that of a sum, as it is: nothing is averaged, and it points to where the loss grows.",
               "What divides, adds or negates in your last lines, and does it belong to a gradient?",
               ("gradient divided by a size", (
                   *every_gradient(lambda g: g / g.shape[-2], lambda g: g / g.shape[-1]),
                   *one_gradient(lambda g: g / g.shape[-2], range(2)), *one_gradient(lambda g: g / g.shape[-1], range(2)),
                   *ways("gradients", lambda w, v: (w, v / w.shape[-2]), lambda w, v: (w / v.shape[-1], v))),
                "A gradient is divided by a number of rows, or of columns."),
               ("sign flipped", SIGN_FLIPPED, "A gradient has the wrong sign, as if it were a step downhill."),
               ("step taken", steps_taken(av_product_backward_answer, STEPS),
                "The answer holds the arguments after a step, not their gradients.")),
    ),
)
