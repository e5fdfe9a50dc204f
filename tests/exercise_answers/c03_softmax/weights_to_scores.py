"""Answers to weights_to_scores, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("weights_to_scores")


@answers.right()
def scores_by_logarithm(weights):
    logs = np.log(weights)
    return logs - logs.mean(axis=-1, keepdims=True)


@answers.right()
def scores_by_geometric_mean(weights):
    wide = weights.astype(np.float64)
    middle = np.exp(np.log(wide).mean(axis=-1, keepdims=True))
    return (np.log(wide) - np.log(middle)).astype(weights.dtype)


@answers.right()
def scores_row_by_row(weights):
    found = np.empty_like(weights)
    for at in np.ndindex(*weights.shape[:-1]):
        row = np.log(weights[at])
        found[at] = row - row.sum() / len(row)
    return found


answers.wrong("not centred", function=lambda weights: np.log(weights))
answers.wrong(
    "maximum subtracted",
    function=lambda weights: np.log(weights) - np.log(weights).max(axis=-1, keepdims=True),
)
answers.wrong("first score 0", function=lambda weights: np.log(weights / weights[..., :1]))
answers.wrong(
    "mean of the whole array", function=lambda weights: np.log(weights) - np.log(weights).mean()
)
answers.wrong(
    "no logarithm", function=lambda weights: weights - weights.mean(axis=-1, keepdims=True)
)
answers.wrong(
    "logarithm to base 2",
    function=lambda weights: np.log2(weights) - np.log2(weights).mean(axis=-1, keepdims=True),
)
answers.wrong(
    "sign flipped",
    function=lambda weights: np.log(weights).mean(axis=-1, keepdims=True) - np.log(weights),
)
answers.wrong(
    "logarithm of the mean subtracted",
    function=lambda weights: np.log(weights / weights.mean(axis=-1, keepdims=True)),
)
answers.wrong("not centred", "logarithm to base 10", function=lambda weights: np.log10(weights))


@answers.wrong("mean of each column")
def scores_by_columns(weights):
    logs = np.log(weights)
    return logs - logs.mean(axis=max(-2, -logs.ndim), keepdims=True)


@answers.right()
def scores_by_projection(weights):
    n = weights.shape[-1]
    return (np.log(weights.astype(np.float64)) @ (np.eye(n) - 1 / n)).astype(weights.dtype)


answers.wrong(
    "sum instead of the mean",
    function=lambda weights: np.log(weights) - np.log(weights).sum(axis=-1, keepdims=True),
)
answers.wrong(
    "divided instead of subtracted",
    function=lambda weights: np.log(weights) / np.log(weights).sum(axis=-1, keepdims=True),
)
answers.wrong(
    "epsilon in the logarithm", function=lambda weights: scores_by_logarithm(weights + 1e-9)
)
answers.wrong(
    "epsilon in the logarithm",
    function=lambda weights: scores_by_logarithm(np.clip(weights, 1e-8, 1)),
)


@answers.wrong("product of the weights")
def scores_by_product(weights):
    geometric = np.prod(weights, axis=-1, keepdims=True) ** (1 / weights.shape[-1])
    return np.log(weights / geometric)


answers.wrong(
    "log1p instead of log",
    "maximum subtracted",
    function=lambda weights: np.log1p(weights) - np.log1p(weights).max(axis=-1, keepdims=True),
)


@answers.wrong("mean of each column", "sign flipped")
def scores_centred_over_the_first_axis(weights):
    scores = -np.log(weights)
    return scores - scores.mean(axis=0, keepdims=True)


@answers.wrong("weighted mean subtracted")
def scores_less_their_expectation(weights):
    logs = np.log(weights)
    return logs - (weights * logs).sum(axis=-1, keepdims=True)


@answers.wrong("divided by the deviation")
def scores_standardised(weights):
    logs = np.log(weights)
    logs = logs - logs.mean(axis=-1, keepdims=True)
    return logs / logs.std(axis=-1, keepdims=True)


@answers.wrong("epsilon in the logarithm", "float64 leaks out")
def scores_of_raised_weights(weights):
    logs = np.log(weights.astype(np.float64) + 1e-3)
    return logs - logs.mean(axis=-1, keepdims=True)


@answers.wrong("centred before the logarithm")
def mean_weight_subtracted(weights):
    return np.log(weights - weights.mean(axis=-1, keepdims=True))
