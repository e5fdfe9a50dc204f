"""The exercise av_product."""

import numpy as np

from ...families.weighted_sums import AV_MISTAKES, AV_STEPS, av_product_answer, random_weights
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, normal


DROPPED = "weights after dropout"


def _av_cases():
    f4, f2 = np.float32, np.float16
    return [
        Case(PLAIN, (np.array([[0.5, 0.5, 0.0]]), np.array([[2.0, 4.0], [6.0, 0.0], [1.0, 1.0]]))),
        Case(PLAIN, (np.array([[1.0, 0.0], [0.25, 0.75], [0.5, 0.5]]), np.array([[4.0], [8.0]]))),
        Case(PLAIN, (random_weights(5, 7, seed=1), normal(7, 3, seed=2))),
        Case(PLAIN, (random_weights(7, 3, seed=3), normal(3, 11, seed=4))),
        Case(SQUARE, (np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[2.0, 4.0], [6.0, 0.0]]))),
        Case(SQUARE, (random_weights(5, 5, seed=5), normal(5, 3, seed=6))),
        Case(SQUARE, (random_weights(3, 3, seed=5), normal(3, 3, seed=6))),
        Case(LEADING, (np.array([[[1.0, 0.0]], [[0.5, 0.5]]]), np.array([[[2.0], [4.0]], [[6.0], [0.0]]]))),
        Case(LEADING, (random_weights(2, 5, 7, seed=7), normal(2, 7, 3, seed=8))),
        Case(LEADING, (random_weights(2, 3, 5, 7, seed=7), normal(2, 3, 7, 11, seed=8))),
        Case(DROPPED, (np.array([[0.5, 0.0], [0.0, 0.0]]), np.array([[2.0], [6.0]]))),
        Case(FLOAT32, (np.array([[0.5, 0.5]], f4), np.array([[2], [6]], f4))),
        Case(FLOAT32, (random_weights(5, 3, seed=9, dtype=f4), normal(3, 7, seed=10, dtype=f4))),
        Case(FLOAT32, (random_weights(3, 3, seed=13, dtype=f4), normal(3, 3, seed=14, dtype=f4))),
        Case(FLOAT16, (random_weights(2, 5, seed=11, dtype=f2), normal(5, 3, seed=12, dtype=f2))),
    ]


EXERCISE = Exercise(
    name="av_product", signature="(weights, value)", place=1,
    axes=dict(weights="n_q n_k", value="n_k d_v"), answer_axes="n_q d_v",
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
