"""The exercise raw_scores_backward."""

import numpy as np

from ...families.gradients import (LAST_KEY, LAST_QUERY_FOR_KEYS, SCORES_BACKWARD_MISTAKES, SCORES_BACKWARD_STEPS,
    SIGN_FLIPPED, every_gradient, misplaced, one_gradient, steps_taken)
from ...families.inputs import inputs
from ...families.scores import swap
from ...model import LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways

AXES = dict(query="n_q d_k", key="n_k d_k", grad_scores="n_q n_k")


def raw_scores_backward_answer(do, query, key, grad_scores):
    grad_scores = do.grad_in(grad_scores, query, key)
    grad_query = do.grad_query(do.scale_query(grad_scores, query, key), key, query)
    grad_key = do.grad_key(do.scale_key(grad_scores, query, key), query, key)
    return do.order(do.gradients(grad_query, grad_key))


STEPS = {
    **SCORES_BACKWARD_STEPS,
    "grad_in": Step(lambda grad, query, key: grad, "grad_scores"),
    "gradients": lambda grad_query, grad_key: (grad_query, grad_key),
    "order": lambda gradients: gradients,
}


def _through_the_softmax(grad, query, key):
    scores = query @ swap(key) / query.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights * (grad - (weights * grad).sum(axis=-1, keepdims=True))


def _cases():
    def tiny(aspect, *arrays):
        return Case(aspect, tuple(np.array(array, float) for array in arrays))

    some_equal = tuple(normal(5, 5, seed=13 + i) for i in range(3))
    return [
        tiny(PLAIN, [[2, 0, 1, 0]], [[1, 0, 0, 3], [0, 2, 0, 1]], [[4, -2]]),
        tiny(PLAIN, [[1, 0, 0, 2], [0, 3, 1, 0], [2, 1, 0, 0]], [[1, 2, 0, 0], [0, 1, 1, 4]], [[2, 0], [4, -2], [0, 6]]),
        tiny("one query and one key", [[1, 2, 0, 0]], [[3, 0, 1, 0]], [[4]]),
        tiny(SQUARE, [[1, 2], [0, 3]], [[2, 0], [1, 1]], [[1, 0], [2, -1]]), Case(SQUARE, some_equal),
        tiny(LEADING, [[[1.0]], [[2.0]]], [[[1], [3]], [[0], [2]]], [[[4, 1]], [[8, 0]]]),
        *inputs(AXES),
    ]


EXERCISE = Exercise(
    name="raw_scores_backward", signature="(query, key, grad_scores)", place=3, axes=AXES,
    text="The gradients of a loss with respect to query and key, from its gradient with respect to the raw scores, "
         "Q Kᵀ / sqrt(d_k): (grad_query, grad_key).",
    answer=raw_scores_backward_answer, steps=STEPS, cases=_cases, outputs=("grad_query", "grad_key"),
    hints=(
        "Write one score as a sum over the features, the scale in front. In which scores does one feature of query i stand, "
        "and with which factor?",
        "Feature c of query i stands in the scores of query i with every key j, with the factor scale * K[j, c]: its gradient "
        "is a sum over the keys. Feature c of key j stands in the scores of every query with key j.",
        "grad_scores is (n_q, n_k). One product with the keys brings it to (n_q, d_k); for (n_k, d_k) it must be transposed "
        "first, and meets the queries. Both are divided by sqrt(d_k).",
    ),
    mistakes=(
        *SCORES_BACKWARD_MISTAKES,
        *misplaced("keys"),
        *alike("Each query meets all keys, and each key all queries: their gradients are sums, not means and not one term.",
               "What is left of the first query's part in grad_key when your loop comes to the second one?",
               ("assigned instead of added", (LAST_KEY, LAST_QUERY_FOR_KEYS, {**LAST_KEY, **LAST_QUERY_FOR_KEYS}),
                "A gradient holds what the last key, or the last query, adds to it: = stands where += belongs."),
               ("gradient divided by a size", (
                   *ways("gradients", lambda q, k: (q / k.shape[-2], k / q.shape[-2]), lambda q, k: (q / k.shape[-2], k),
                         lambda q, k: (q, k / q.shape[-2])),
                   *every_gradient(lambda g: g / g.shape[-2]), *one_gradient(lambda g: g / g.shape[-2], range(2))),
                "A gradient is divided by a number of positions.")),
        *alike("grad_scores is the gradient of the scores already: only the product and its scale lie between it and the "
               "queries and keys.",
               "With respect to what is grad_scores a gradient, and which step made the scores?",
               ("backward through the softmax as well", {"grad_in": _through_the_softmax},
                "grad_scores is taken for the gradient of the weights, and goes through the softmax first."),
               ("grad_scores ignored", {"grad_in": lambda grad, query, key: np.ones_like(grad)},
                "The gradients are those of the sum of the scores."),
               ("mean of the row subtracted", ways("grad_in", lambda grad, query, key: grad - grad.mean(axis=-1, keepdims=True),
                                                   lambda grad, query, key: grad - grad.sum(axis=-1, keepdims=True)),
                "The mean or the sum of each row of grad_scores is subtracted from it.")),
        Mistake("sign flipped", change=SIGN_FLIPPED,
                does="A gradient has the wrong sign, as if it were a step downhill.",
                why="A gradient points to where the loss grows; whoever trains subtracts it.",
                ask="In which direction does the loss grow?"),
        Mistake("step taken", change=steps_taken(raw_scores_backward_answer, STEPS),
                does="The answer holds the arguments after a step, not their gradients.",
                why="The gradients alone are asked for.", ask="What should the answer be where grad_scores is 0?"),
    ),
)
