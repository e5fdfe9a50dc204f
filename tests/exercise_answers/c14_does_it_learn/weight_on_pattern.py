"""Answers to weight_on_pattern, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("weight_on_pattern")


@answers.right()
def on_pattern_by_sums(weights, pattern):
    found = (weights * pattern).sum(axis=(-1, -2)) / pattern.any(axis=-1).sum(axis=-1)
    return found.astype(weights.dtype)


@answers.right()
def on_pattern_by_loops(weights, pattern):
    found = np.zeros(weights.shape[:-2])
    for at in np.ndindex(*found.shape):
        shares = [
            row[right].sum()
            for row, right in zip(weights[at].astype(float), pattern[at])
            if right.any()
        ]
        found[at] = np.mean(shares)
    return found.astype(weights.dtype)


@answers.right()
def on_pattern_by_nanmean(weights, pattern):
    on = np.where(pattern, weights, 0).sum(axis=-1)
    return np.nanmean(np.where(pattern.any(axis=-1), on, np.nan), axis=-1).astype(weights.dtype)


@answers.right()
def on_pattern_by_masked_mean(weights, pattern):
    on = np.einsum("...ij,...ij->...i", weights, pattern)
    return on.mean(axis=-1, where=pattern.any(axis=-1)).astype(weights.dtype)


def on(weights, pattern):
    return (weights * pattern).sum(axis=-1)


answers.wrong(
    "queries without a right key counted",
    function=lambda weights, pattern: on(weights, pattern).mean(axis=-1).astype(weights.dtype),
)
answers.wrong(
    "summed over the queries", function=lambda weights, pattern: on(weights, pattern).sum(axis=-1)
)
answers.wrong("not averaged", function=on)
answers.wrong(
    "mean over the right keys",
    function=lambda weights, pattern: (
        (weights * pattern).sum(axis=(-1, -2)) / pattern.sum(axis=(-1, -2))
    ).astype(weights.dtype),
)
answers.wrong(
    "one number for everything",
    function=lambda weights, pattern: np.float64(
        on(weights.astype(float), pattern).sum() / pattern.any(axis=-1).sum()
    ).astype(weights.dtype),
)
answers.wrong(
    "wrong keys instead of right ones",
    function=lambda weights, pattern: (
        (on(weights, ~pattern) * pattern.any(axis=-1)).sum(axis=-1).astype(weights.dtype)
        / pattern.any(axis=-1).sum(axis=-1).astype(weights.dtype)
    ),
)


@answers.wrong("only the largest weight")
def on_pattern_by_max(weights, pattern):
    best = np.where(pattern, weights, 0).max(axis=-1)
    return best.mean(axis=-1, where=pattern.any(axis=-1)).astype(weights.dtype)


@answers.wrong("only whether the largest weight is right")
def on_pattern_by_argmax(weights, pattern):
    hit = np.take_along_axis(pattern, weights.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    return hit.mean(axis=-1, where=pattern.any(axis=-1)).astype(weights.dtype)


answers.wrong(
    "mean over the right keys",
    function=lambda weights, pattern: (
        np.divide(
            on(weights, pattern),
            pattern.sum(axis=-1),
            out=np.zeros(weights.shape[:-1], weights.dtype),
            where=pattern.any(axis=-1),
        ).sum(axis=-1)
        / pattern.any(axis=-1).sum(axis=-1)
    ).astype(weights.dtype),
)
answers.wrong(
    "queries that miss their right keys left out",
    function=lambda weights, pattern: (
        on(weights, pattern).sum(axis=-1) / np.maximum((on(weights, pattern) > 0).sum(axis=-1), 1)
    ).astype(weights.dtype),
)
answers.wrong(
    "queries of all matrices counted together",
    function=lambda weights, pattern: (
        on(weights, pattern).sum(axis=-1) / pattern.any(axis=-1).sum()
    ).astype(weights.dtype),
)
answers.wrong(
    "queries without a right key counted",
    "mean over the right keys",
    function=lambda weights, pattern: (
        (on(weights, pattern) / np.maximum(pattern.sum(axis=-1), 1))
        .mean(axis=-1)
        .astype(weights.dtype)
    ),
)
answers.wrong(
    "queries without a right key counted",
    "one number for everything",
    function=lambda weights, pattern: on(weights, pattern).mean(),
)
answers.wrong(
    "NaN for queries without a right key",
    function=lambda weights, pattern: weights.mean(axis=-1, where=pattern).mean(axis=-1),
)
answers.wrong(
    "NaN for queries without a right key",
    function=lambda weights, pattern: (
        np.where(pattern.any(axis=-1), on(weights, pattern), np.nan)
        .mean(axis=-1)
        .astype(weights.dtype)
    ),
)
answers.wrong(
    "a loss instead of a weight",
    function=lambda weights, pattern: (
        -np.log(np.where(pattern.any(axis=-1), on(weights, pattern), 1)).sum(axis=-1)
        / pattern.any(axis=-1).sum(axis=-1).astype(weights.dtype)
    ),
)


@answers.wrong("only the first right key")
def on_pattern_by_argmax_of_the_pattern(weights, pattern):
    first = np.take_along_axis(weights, pattern.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    return first.mean(axis=-1, where=pattern.any(axis=-1)).astype(weights.dtype)


@answers.wrong("float64 leaks out")
def on_pattern_over_an_integer(weights, pattern):
    counted = pattern.any(axis=-1)
    return (on(weights, pattern) * counted).sum(axis=-1) / counted.sum(axis=-1)


@answers.wrong("only whether the largest weight is right")
def on_pattern_by_hits(weights, pattern):
    hits = np.take_along_axis(pattern, weights.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    return hits.mean(axis=-1).astype(weights.dtype)
