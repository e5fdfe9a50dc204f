"""Answers to attention_entropy, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("attention_entropy")


@answers.right()
def entropy_by_where(weights):
    logs = np.log(np.where(weights > 0, weights, 1))
    return -(weights * logs).sum(axis=-1).astype(weights.dtype)


@answers.right()
def entropy_by_log_out(weights):
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -np.einsum("...j,...j->...", weights, logs)


@answers.right()
def entropy_by_loops(weights):
    found = np.zeros(weights.shape[:-1])
    for at in np.ndindex(*found.shape):
        found[at] = -sum(w * np.log(w) for w in weights[at].astype(np.float64) if w > 0)
    return found.astype(weights.dtype)


answers.wrong("0 times log 0", function=lambda weights: -(weights * np.log(weights)).sum(axis=-1))
answers.wrong(
    "epsilon in the logarithm",
    function=lambda weights: -(weights * np.log(weights + 1e-9)).sum(axis=-1),
)
answers.wrong("sign forgotten", function=lambda weights: -entropy_by_where(weights))
answers.wrong(
    "weights forgotten",
    function=lambda weights: -np.log(np.where(weights > 0, weights, 1)).sum(axis=-1),
)
answers.wrong(
    "in bits",
    function=lambda weights: -(weights * np.log2(np.where(weights > 0, weights, 1))).sum(axis=-1),
)
answers.wrong(
    "mean instead of sum", function=lambda weights: entropy_by_where(weights) / weights.shape[-1]
)
answers.wrong(
    "number of keys that count", function=lambda weights: np.exp(entropy_by_where(weights))
)
answers.wrong(
    "0 times log 0",
    "sign forgotten",
    function=lambda weights: (weights * np.log(weights)).sum(axis=-1),
)
answers.wrong("axis kept", function=lambda weights: entropy_by_where(weights)[..., None])


@answers.wrong("one number for all rows")
def entropy_of_all(weights):
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum()


answers.wrong(
    "small weights cut off",
    function=lambda weights: -(weights * np.log(np.clip(weights, 1e-10, None))).sum(axis=-1),
)
answers.wrong(
    "small weights cut off",
    function=lambda weights: -(weights * np.log(np.clip(weights, 1e-12, 1))).sum(axis=-1),
)
answers.wrong(
    "small weights cut off",
    function=lambda weights: -(weights * np.log(np.maximum(weights, 3e-15))).sum(axis=-1),
)


@answers.right()
def entropy_above_the_smallest_number(weights):
    return -(weights * np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))).sum(axis=-1)


@answers.wrong("sign forgotten", "summed over the queries")
def entropy_over_the_first_axis(weights):
    return (weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=0)


@answers.wrong("entropy 0 for a row that has a weight of 0")
def entropy_by_nan_to_num(weights):
    with np.errstate(all="ignore"):
        return np.nan_to_num(-(weights * np.log(weights)).sum(axis=-1))


@answers.wrong("share of the largest entropy")
def entropy_over_log_n(weights):
    return entropy_by_where(weights) / np.log(weights.dtype.type(weights.shape[-1]))


@answers.wrong("gap to the largest entropy")
def entropy_from_uniform(weights):
    return np.log(weights.dtype.type(weights.shape[-1])) - entropy_by_where(weights)


answers.wrong("log of the largest weight", function=lambda weights: -np.log(weights.max(axis=-1)))
answers.wrong("1 minus the sum of squares", function=lambda weights: 1 - (weights**2).sum(axis=-1))


@answers.wrong("small weights raised")
def entropy_of_clipped_weights(weights):
    clipped = np.clip(weights, 0.05, 1)
    return -(clipped * np.log(clipped)).sum(axis=-1)
