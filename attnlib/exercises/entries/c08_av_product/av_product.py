"""The exercise av_product."""

import numpy as np

from ...families.choose import pick
from ...families.inputs import inputs
from ...families.weighted_sums import AV_MISTAKES, AV_STEPS, av_product_answer, random_weights
from ...model import FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise

AXES = dict(weights="n_q n_k", value="n_k d_v")


def av_cases():
    def tiny(aspect, weights, value, dtype=float):
        return Case(aspect, (np.array(weights, dtype), np.array(value, dtype)))

    return [
        tiny(PLAIN, [[0.5, 0.5, 0]], [[2, 4], [6, 0], [1, 1]]),
        tiny(PLAIN, [[1, 0], [0.25, 0.75], [0.5, 0.5]], [[4], [8]]),
        tiny(SQUARE, [[1, 0], [0.5, 0.5]], [[2, 4], [6, 0]]),
        tiny(LEADING, [[[1, 0]], [[0.5, 0.5]]], [[[2], [4]], [[6], [0]]]),
        tiny("weights that sum to less than 1", [[0.5, 0], [0, 0]], [[2], [6]]),
        tiny(FLOAT32, [[0.5, 0.5]], [[2], [6]], np.float32),
        *inputs(AXES, make={"weights": lambda shape, seed, dtype: random_weights(*shape, seed=seed, dtype=dtype)}),
    ]


EXERCISE = Exercise(
    name="av_product", signature="(weights, value)", place=1, axes=AXES, answer_axes="n_q d_v",
    text="The weighted sums of the values, one for each query: shape (..., n_q, d_v), for weights of "
         "shape (..., n_q, n_k) and values of shape (..., n_k, d_v).",
    answer=av_product_answer, steps=AV_STEPS, cases=av_cases,
    hints=(
        "Output i is the sum over all keys j of weight (i, j) times value j.",
        "Value j is row j of value. Which product of two matrices multiplies a row of the left one "
        "with the rows of the right one?",
        "A matrix product sums over the last axis of the left factor and the last but one of the right factor. Both "
        "are the keys' axis here: nothing needs to be transposed.",
    ),
    mistakes=pick(
        AV_MISTAKES, "Aᵀ V instead of A V", "V A instead of A V", "transposed values", "A * V instead of A @ V",
        "not summed",
        "summed over the features instead of the keys", "summed over the queries instead of the keys",
        "features summed",
        "outputs summed over the queries", "outputs averaged over the queries", "output transposed", "reshaped values",
        "weights averaged over the batch", "outputs summed over the batch", "np.dot of batched weights",
        "weights averaged over the queries", "only the first query", "weights ignored", "only the best key's value",
        "one key left out", "one key alone", "n_q keys instead of n_k", "only some of the largest weights",
        "small weights set to 0", "keys in reverse order", "keys shifted by one", "weights normalised again",
        "rounded", "softmax of the weights", "divided by the number of keys", "divided by the number of features",
        "largest product instead of the sum", "median of the values", "logarithms of the weights",
        "mean of the values added", "mean of the values subtracted", "minimum of weight and value",
        "weights added to the values"),
)
