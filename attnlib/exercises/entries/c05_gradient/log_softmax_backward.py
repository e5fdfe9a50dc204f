"""The exercise log_softmax_backward."""

import numpy as np

from ...families.inputs import inputs
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike

AXES = dict(log_weights="n_q n_k", grad_log_weights="n_q n_k")


def log_softmax_backward_answer(do, log_weights, grad_log_weights):
    weights = do.weights(log_weights)
    return do.finish(do.join(grad_log_weights, do.spread(weights, do.total(grad_log_weights)), weights))


def _log_rows(shape, seed, dtype):
    scores = np.random.default_rng([seed, *shape]).normal(size=shape)
    return (scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))).astype(dtype)


SUBTRACTED = {"total": Step(lambda grad: grad.sum(axis=-1, keepdims=True), "the row sum", True),
              "spread": Step(lambda weights, total: weights * total, "the weights times the row sum")}


def _joined(way):
    """An answer made of the gradient and the weights in another way."""
    return {**SUBTRACTED, "join": lambda grad, spread, weights: way(grad, weights)}


def _weighted_sum(weights, grad):
    return (weights * grad).sum(axis=-1, keepdims=True)


def _cases():
    def case(aspect, weights, grad, dtype=float):
        return Case(aspect, (np.log(np.array(weights, float)).astype(dtype), np.array(grad, dtype)))

    return [
        case(PLAIN, [[0.25, 0.75]], [[1, 0]]), case(PLAIN, [[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]], [[1, 0, 2], [0, 3, -1]]),
        case(SQUARE, [[0.5, 0.5], [0.25, 0.75]], [[1, 2], [0, 4]]), case("one row", [0.5, 0.25, 0.25], [0, 1, 0]),
        case("one target", [[0.1, 0.2, 0.7]], [[0, 0, 1]]), case("gradients that sum to 0", [[0.25, 0.75]], [[1, -1]]),
        case("weights that underflow", [[1.0, 1e-300]], [[0, 1]]), case("one key", [[1.0], [1.0]], [[2], [3]]),
        case(LEADING, [[[0.25, 0.75]], [[0.5, 0.5]]], [[[1, 0]], [[0, 2]]]),
        case(FLOAT32, [[0.25, 0.75]], [[1, 0]], np.float32), case(FLOAT16, [[0.25, 0.75]], [[1, 0]], np.float16),
        *inputs(AXES, make={"log_weights": _log_rows}),
    ]


EXERCISE = Exercise(
    name="log_softmax_backward", signature="(log_weights, grad_log_weights)", place=4,
    axes=AXES, answer_axes="n_q n_k",
    text="The gradient with respect to the scores, from the logarithms of the weights and the gradient with respect to "
         "them, both of shape (..., n).",
    answer=log_softmax_backward_answer,
    steps={
        "weights": Step(np.exp, "the weights"),
        **SUBTRACTED,
        "join": lambda grad, spread, weights: grad - spread,
        "finish": lambda grad_scores: grad_scores,
    },
    cases=_cases,
    hints=(
        "log a_i = s_i - log(sum of exp(s)). How does it change with s_j? Through the sum, and for i = j through s_i itself.",
        "The derivative of log a_i by s_j is (1 if i = j) - a_j. Multiply with the gradient of log a_i and add over i.",
        "What is left is grad - weights * (sum of grad over the row), with weights = exp(log_weights).",
    ),
    mistakes=(
        *alike("The sum over the keys takes the gradient as it is: with s_j each log a_i falls at the rate "
               "a_j, whatever i is.",
               "By what is each entry of the gradient multiplied before it is added up?",
               ("backward of the softmax", _joined(lambda grad, weights: weights * (
                   grad - _weighted_sum(weights, grad))),
                "The formula for the weights is used: a * (grad - sum of a * grad)."),
               ("weights in the row sum", _joined(lambda grad, weights: (
                   grad - weights * _weighted_sum(weights, grad))), "The gradient is weighted before it is added up."),
               ("Jacobian not transposed", _joined(lambda grad, weights: grad - _weighted_sum(weights, grad)),
                "The answer is J g, grad - sum of a * grad. The chain rule gives Jᵀ g, and this J is not symmetric."),
               ("weights added up", {"answer": lambda logs, grad: grad * (1 - np.exp(logs).sum(axis=-1, keepdims=True))},
                "The weights are added up in place of the gradient. They make 1, so every entry is 0, but for rounding."),
               ("weights in front", {"join": lambda grad, spread, weights: weights * grad - spread},
                "The gradient itself is multiplied by the weights."),
               ("row sum taken for 1", {"spread": lambda weights, total: weights + 0 * total},
                "The weights themselves are subtracted. That is right only where the gradients of a row sum to 1."),
               ("weights missing", {"spread": lambda weights, total: total}, "The row sum is subtracted from every entry as it is."),
               ("mean instead of the weighted sum", {"spread": lambda weights, total: total / weights.shape[-1]},
                "The mean of the gradient is subtracted, as if all weights were equal.")),
        *alike("The denominator of the softmax makes every score matter for every weight.",
               "Which part of log a_j = s_j - log(sum) does your answer leave out?",
               ("row sum not subtracted", {"join": lambda grad, spread, weights: grad}, "The gradient is handed on unchanged."),
               ("each log-weight by its own score alone", {"spread": lambda weights, total: 0.0, "join":
                lambda grad, spread, weights: grad * (1 - weights)},
                "Each entry is grad * (1 - weight): what a score does to the other log-weights is missing."),
               ("only the logarithm's derivative", _joined(lambda grad, weights: grad / weights),
                "The gradient is divided by the weights: that leads from the logarithms to the weights, and not yet to "
                "the scores."),
               ("only the row sum", {"join": lambda grad, spread, weights: -spread}, "The gradient of s_j itself is missing."),
               ("row sum added", {"join": lambda grad, spread, weights: grad + spread}, "The row sum comes in with the wrong sign.")),
        *alike("Each row of scores has a softmax of its own: the gradient of each row is added up over its keys.",
               "Over which entries does the sum run, and what is the shape of the sums beside that of the gradient?",
               ("sum over the queries", {"total": lambda grad: grad.sum(axis=-2, keepdims=True) if grad.ndim > 1 else grad.sum()},
                "The gradient is added up over the queries."),
               ("one sum for the whole array", {"total": lambda grad: grad.sum()}, "One sum is taken over the whole array."),
               ("sum without keepdims", {"total": lambda grad: grad.sum(axis=-1)},
                "Row i's sum meets column i, where the shapes fit at all."),
               ("mean instead of sum", {"total": lambda grad: grad.mean(axis=-1, keepdims=True)},
                "The mean of the gradient is taken instead of its sum.")),
        Mistake("logarithms taken for weights", change={"weights": lambda logs: logs},
                does="The logarithms stand where the weights belong.", why="The weights are exp(log_weights).",
                ask="Which of the two lies between 0 and 1, and which did you get?"),
        Mistake("softmax of the weights", change={"weights": lambda logs: np.exp(np.exp(logs)) / np.exp(np.exp(logs)).sum(
            axis=-1, keepdims=True)},
                does="A softmax is taken of the weights.", why="exp(log_weights) are the weights already.",
                ask="What do the rows of exp(log_weights) sum to?"),
        Mistake("sign flipped", change={"finish": lambda grad_scores: -grad_scores},
                does="The gradient has the wrong sign.", why="A higher score raises its own log-weight.",
                ask="In which direction does log a_j move when s_j grows?"),
        Mistake("divided by n", change={"finish": lambda grad_scores: grad_scores / grad_scores.shape[-1]},
                does="The gradient is n times too small.", why="Nothing is averaged.", ask="What divides in your function?"),
    ),
)
