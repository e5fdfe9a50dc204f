"""The exercise softmax_backward."""

import numpy as np

from ...families.gradients import SOFTMAX_BACKWARD_MISTAKES, SOFTMAX_BACKWARD_STEPS, book_weights
from ...families.inputs import inputs
from ...families.memory import grows
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal


def softmax_backward_answer(do, weights, grad_weights):
    weights, grad = do.weights_in(weights), do.grad_in(grad_weights)
    total = do.total(do.products(weights, grad))
    return do.finish(do.times(weights, do.centre(grad, total), grad, total))


def _cases():
    def case(aspect, weights, grad, dtype=np.float64):
        return Case(aspect, (np.array(weights, dtype), np.array(grad, dtype)))

    row = [[0.5, 0.25, 0.25]], [[2, 4, 8]]
    return [
        case(PLAIN, *row), case(PLAIN, [[0.25, 0.75], [0.5, 0.5], [1, 0]], [[4, 8], [2, -2], [3, 1]]),
        case(SQUARE, [[0.25, 0.75], [0.5, 0.5]], [[4, 8], [2, -2]]), case("one axis", [0.25, 0.75], [4, 8]),
        Case("one axis", (book_weights(7, seed=4), normal(7, seed=24))),
        case(LEADING, [[[0.25, 0.75], [0.5, 0.5]]], [[[4, 8], [2, -2]]]),
        case("a weight of 0", [[0.5, 0, 0.5]], [[2, 100, 4]]),
        case(FLOAT32, *row, np.float32), case(FLOAT16, *row, np.float16),
        *inputs(dict(weights="n_q n_k", grad="n_q n_k"),
                make={"weights": lambda shape, seed, dtype: book_weights(*shape, seed=seed, dtype=dtype)}),
    ]


SQUARE_ARRAY = Mistake(
    "(n, n) array made",
    does="For a row of n weights the whole Jacobian, or another array of shape (n, n), stands in memory.",
    why="For n = 16384 in float32 it takes a gigabyte for each row. The product of the Jacobian with a "
        "vector needs nothing larger than the vector.",
    ask="What is (diag(w) - w wᵀ) g, multiplied out?")


def no_square_array(run):
    """An audit: whether one row of n weights makes anything of n * n bytes or more."""
    def weights_and_grad(n):
        return book_weights(n, seed=9), normal(n, seed=10)

    n = 3000
    return SQUARE_ARRAY if grows(run, n * n, weights_and_grad(n // 10), weights_and_grad(n)) else None


EXERCISE = Exercise(
    name="softmax_backward", signature="(weights, grad_weights)", place=3,
    axes=dict(weights="n_q n_k", grad_weights="n_q n_k"), answer_axes="n_q n_k",
    text="The gradient with respect to the scores, from the softmax's weights and the gradient with respect "
         "to them, both of shape (..., n), without any (n, n) array.",
    answer=softmax_backward_answer,
    steps=SOFTMAX_BACKWARD_STEPS,
    cases=_cases, audits=(no_square_array,),
    hints=(
        "The gradient is the Jacobian times grad_weights. The Jacobian is diag(w) - w wᵀ: multiply it out "
        "before you program it.",
        "diag(w) g is w * g, entry by entry. w wᵀ g is w times one number for each row.",
        "That number is the sum of w * g over the last axis; keep the axis, so that it lines up.",
        "Take w out of both terms: w * (g - number), where the number is np.sum(w * g, axis=-1, "
        "keepdims=True).",
    ),
    mistakes=SOFTMAX_BACKWARD_MISTAKES,
)
