"""The exercise contributions."""

import numpy as np

from ...families.inputs import inputs
from ...families.scores import softmax_of, swap
from ...families.weighted_sums import leading, random_weights
from ...model import FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, ways

AXES = dict(weights="n_q n_k", value="n_k d_v")


def contributions_answer(do, weights, value):
    weights, value = do.weights_in(weights), do.values_in(value)
    return do.finish(do.combine(weights, value), weights, value)


def _cases():
    def tiny(aspect, weights, value, dtype=float):
        return Case(aspect, (np.array(weights, dtype), np.array(value, dtype)))

    return [
        tiny(PLAIN, [[0.5, 0.5, 0]], [[2, 4], [6, 0], [1, 1]]), tiny(PLAIN, [[1, 0], [0.25, 0.75], [0.5, 0.5]], [[4], [8]]),
        tiny(SQUARE, [[1, 0], [0.25, 0.75]], [[2, 4], [6, 0]]), tiny("one key", [[1], [0.5]], [[2, 4]]),
        tiny(LEADING, [[[1, 0]], [[0.5, 0.5]]], [[[2], [4]], [[6], [0]]]),
        tiny("weights that sum to less than 1", [[0.5, 0], [0, 0]], [[2], [6]]), tiny("negative values", [[0.5, 0.5]], [[-2, 4], [-6, -8]]),
        tiny(FLOAT32, [[0.5, 0.5]], [[2], [6]], np.float32),
        *inputs(AXES, make={"weights": lambda shape, seed, dtype: random_weights(*shape, seed=seed, dtype=dtype)}),
    ]


def _products(weights, value):
    return weights[..., None] * value[..., None, :, :]


def _of_products(*functions):
    return ways("finish", *(lambda terms, weights, value, f=f: f(terms) for f in functions))


def _against_queries(weights, value):
    """Each weight with the value in its query's place."""
    return weights[..., None] * value[..., :, None, :]


EXERCISE = Exercise(
    name="contributions", signature="(weights, value)", place=3, axes=AXES, answer_axes="n_q n_k d_v",
    text="What each key adds to each output, its weight times its value: shape (..., n_q, n_k, d_v), for weights of "
         "shape (..., n_q, n_k) and values of shape (..., n_k, d_v).",
    answer=contributions_answer,
    steps={
        "weights_in": Step(lambda weights: weights, "the weights"),
        "values_in": lambda value: value,
        "combine": Step(_products, "the products of weights and values"),
        "finish": lambda terms, weights, value: terms,
    },
    cases=_cases,
    hints=(
        "Output i is a sum over the keys j. What is one term of this sum, and how many numbers does it have?",
        "Entry (i, j, c) is weight (i, j) times feature c of value j. Which axis do the weights lack, and which the values?",
        "Weights with one more axis at the end have shape (..., n_q, n_k, 1), and values with one more in front of the "
        "keys (..., 1, n_k, d_v): NumPy stretches an axis of length 1.",
    ),
    mistakes=(
        *alike("Each key's part of each output is asked for by itself, with all its features: n_q times n_k vectors.",
               "Over which axes does your function sum, and which axes does the answer have?",
               ("summed over the keys", _of_products(lambda terms: terms.sum(axis=-2)),
                "The answer is the output itself, of shape (..., n_q, d_v)."),
               ("summed over the queries", _of_products(lambda terms: terms.sum(axis=-3)),
                "What a key adds to all outputs together, of shape (..., n_k, d_v)."),
               ("summed over the features", _of_products(lambda terms: terms.sum(axis=-1)),
                "Each part is one number, the sum of its features."),
               ("lengths instead of vectors", _of_products(lambda terms: np.sqrt((terms ** 2).sum(axis=-1))),
                "Each part is one number, its length: where it points is lost."),
               ("running sums", _of_products(lambda terms: terms.cumsum(axis=-2)),
                "Entry j holds what the keys up to j add together."),
               ("all other keys", _of_products(lambda terms: terms.sum(axis=-2, keepdims=True) - terms),
                "Entry j holds what all keys but j add together."),
               ("only the first query", _of_products(lambda terms: terms[..., 0, :, :], lambda terms: terms[..., :1, :, :]),
                "The parts of one output are given; there are n_q outputs."),
               ("only the best key", ways("weights_in", lambda w: np.where(w == w.max(axis=-1, keepdims=True), w, 0.0)),
                "All parts are 0 but that of the key with the largest weight.")),
        *alike("The axes of the answer are queries, keys and features, in this order.",
               "What do the first, the second and the last index of your answer count?",
               ("keys before queries", _of_products(lambda terms: np.swapaxes(terms, -2, -3)),
                "The answer has shape (..., n_k, n_q, d_v): the key comes first."),
               ("features before keys", _of_products(swap), "The answer has shape (..., n_q, d_v, n_k): the keys come last."),
               ("queries and keys on one axis", _of_products(lambda terms: terms.reshape(
                   *terms.shape[:-3], -1, terms.shape[-1])),
                "The answer has shape (..., n_q * n_k, d_v): the parts of all outputs stand in one list."),
               ("features first", _of_products(lambda terms: np.moveaxis(terms, -1, -3)),
                "The answer has shape (..., d_v, n_q, n_k): the features come first.")),
        *alike("Weight (i, j) belongs to value j: the last axis of the weights and the last but one of the values are the same "
               "one, that of the keys.", "Which index do weights and values have in common, and where does it stand in the answer?",
               ("values in the queries' place", {"combine": _against_queries},
                "Weight (i, j) meets value i instead of value j, where the shapes fit at all."),
               ("transposed weights", {"weights_in": swap},
                "Weight (j, i) is taken for weight (i, j), where the shapes fit at all."),
               ("every weight times every value", {"combine": lambda w, v: w[..., None, None] * v[..., None, None, :, :]},
                "The weight of a key meets the values of all keys: one axis too many."),
               ("outer product of all numbers", {"combine": np.outer},
                "Both arrays are flattened, and every weight meets every number of the values."),
               ("weights * value", {"combine": lambda w, v: w * v},
                "Weights and values are multiplied entry by entry, where the shapes fit at all."),
               ("keys in reverse order", {"values_in": lambda v: v[..., ::-1, :]},
                "The first key's weight meets the last value."),
               ("keys shifted by one", ways("values_in", lambda v: np.roll(v, 1, -2), lambda v: np.roll(v, -1, -2)),
                "Weight j meets the value beside value j.")),
        *alike("Leading axes are kept apart: each sequence and each head has weights and values of its own.",
               "Where does the new axis of the values stand when there is a batch?",
               ("new axis in front of the batch", {"combine": lambda w, v: w[..., None] * v[None]},
                "The values' new axis comes before the leading axes, so that batch and queries meet, where the shapes fit at all."),
               ("mean over the batch", _of_products(lambda terms: terms.mean(axis=leading(terms[..., 0])) if terms.ndim > 3 else terms),
                "The parts are averaged over all leading axes.")),
        *alike("A part is weight times value: added up over the keys, the parts make the output.",
               "What do your parts add up to, and what should they?",
               ("weights without values", {"combine": lambda w, v: w[..., None] * np.ones_like(v[..., None, :, :])},
                "Each part is its weight, repeated for each feature."),
               ("values without weights", {"combine": lambda w, v: np.ones_like(w)[..., None] * v[..., None, :, :]},
                "Each part is the whole value, whatever its weight."),
               ("weights added to the values", {"combine": lambda w, v: w[..., None] + v[..., None, :, :]},
                "Weight and value are added instead of multiplied."),
               ("output subtracted from the values", {"finish": lambda terms, w, v: w[..., None] * (
                   v[..., None, :, :] - (w @ v)[..., None, :])},
                "Each value is measured from the output. These products add up to 0 where the weights sum to 1; they are "
                "the output's derivatives by the scores."),
               ("shares of the output", {"finish": lambda terms, w, v: terms / terms.sum(axis=-2, keepdims=True)},
                "The parts are divided by the output, feature by feature."),
               ("divided by the number of keys", {"finish": lambda terms, w, v: terms / terms.shape[-2]},
                "The parts add up to the output over n_k."),
               ("absolute values", _of_products(np.abs), "The signs are lost: parts that cancel add up.")),
        *alike("The weights are taken as they are: they may sum to less than 1 on purpose.",
               "What should happen to a row of weights that sums to 0.8?",
               ("weights normalised again", ways(
                   "weights_in", lambda w: w / w.sum(axis=-1, keepdims=True),
                   lambda w: w / np.where(w.sum(axis=-1, keepdims=True) == 0, 1.0, w.sum(axis=-1, keepdims=True))),
                "The weights are divided by their sum once more."),
               ("softmax of the weights", {"weights_in": softmax_of}, "The weights go through another softmax.")),
        Mistake("parts reshaped into place", change=_of_products(
            lambda terms: np.swapaxes(terms, -2, -3).reshape(terms.shape), lambda terms: swap(terms).reshape(terms.shape)),
                does="The products are made in another order of axes, and dealt out anew into the shape that is asked for.",
                why="reshape keeps the order of the numbers; an axis is moved by swapaxes or transpose.",
                ask="Which number stands second in memory before and after your reshape?"),
    ),
)
