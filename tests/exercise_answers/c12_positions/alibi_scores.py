"""Answers to alibi_scores, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("alibi_scores")


@answers.right()
def alibi_by_broadcasting(scores, slopes):
    n_q, n_k = scores.shape[-2:]
    distance = abs(np.arange(n_q)[:, None] - np.arange(n_k))
    return (scores - slopes[:, None, None] * distance).astype(scores.dtype)


@answers.right()
def alibi_head_by_head(scores, slopes):
    lowered = scores.copy()
    distance = abs(np.subtract.outer(np.arange(scores.shape[-2]), np.arange(scores.shape[-1])))
    for head, slope in enumerate(slopes):
        lowered[..., head, :, :] -= slope * distance.astype(scores.dtype)
    return lowered


@answers.right()
def alibi_by_loops(scores, slopes):
    lowered = np.empty_like(scores)
    for head, i, j in np.ndindex(scores.shape[-3:]):
        lowered[..., head, i, j] = scores[..., head, i, j].astype(float) - float(
            slopes[head]
        ) * abs(i - j)
    return lowered


@answers.right()
def alibi_by_einsum(scores, slopes):
    i, j = np.indices(scores.shape[-2:])
    bias = np.einsum("h,ij->hij", slopes, np.where(i > j, i - j, j - i).astype(scores.dtype))
    return scores - bias


def lowered(
    scores,
    slopes,
    distance=np.abs,
    offset=0,
    sign=-1,
    bias=lambda slopes, distance: slopes[:, None, None] * distance,
):
    apart = np.arange(scores.shape[-2])[:, None] + offset - np.arange(scores.shape[-1])
    return (scores + sign * bias(slopes, distance(apart))).astype(scores.dtype)


answers.wrong(
    "added instead of subtracted", function=lambda scores, slopes: lowered(scores, slopes, sign=1)
)
answers.wrong(
    "no absolute value",
    function=lambda scores, slopes: lowered(scores, slopes, lambda apart: apart),
)
answers.wrong(
    "sign flipped", function=lambda scores, slopes: lowered(scores, slopes, lambda apart: -apart)
)
answers.wrong(
    "later keys not lowered",
    function=lambda scores, slopes: lowered(scores, slopes, lambda apart: apart.clip(0)),
)
answers.wrong(
    "distance squared", function=lambda scores, slopes: lowered(scores, slopes, np.square)
)
answers.wrong(
    "queries counted from the back",
    function=lambda scores, slopes: lowered(
        scores, slopes, offset=scores.shape[-1] - scores.shape[-2]
    ),
)
answers.wrong(
    "slopes along the queries",
    function=lambda scores, slopes: lowered(
        scores, slopes, bias=lambda slopes, distance: slopes[:, None] * distance
    ),
)
answers.wrong(
    "slopes along the keys",
    function=lambda scores, slopes: lowered(
        scores, slopes, bias=lambda slopes, distance: slopes * distance
    ),
)
answers.wrong(
    "first slope for all heads", function=lambda scores, slopes: lowered(scores, slopes[:1])
)
answers.wrong(
    "slopes ignored", function=lambda scores, slopes: lowered(scores, np.ones_like(slopes))
)
answers.wrong(
    "float64 leaks out",
    function=lambda scores, slopes: (
        scores
        - slopes[:, None, None]
        * abs(np.arange(scores.shape[-2])[:, None] - np.arange(scores.shape[-1]))
    ),
)
answers.wrong(
    "added instead of subtracted",
    "distance squared",
    function=lambda scores, slopes: lowered(scores, slopes, np.square, sign=1),
)


@answers.wrong("causal mask added")
def alibi_with_a_mask(scores, slopes):
    return np.where(
        np.tri(*scores.shape[-2:], dtype=bool), lowered(scores, slopes), -np.inf
    ).astype(scores.dtype)


answers.wrong(
    "the shortcut of causal attention",
    function=lambda scores, slopes: (
        scores + (slopes[:, None, None] * np.arange(scores.shape[-1])).astype(scores.dtype)
    ),
)
answers.wrong(
    "logarithm of the distance",
    function=lambda scores, slopes: lowered(scores, slopes, lambda apart: np.log10(1 + abs(apart))),
)
answers.wrong(
    "logarithm of the distance",
    function=lambda scores, slopes: lowered(scores, slopes, lambda apart: np.log2(1 + abs(apart))),
)
answers.wrong(
    "query's position instead of the distance",
    function=lambda scores, slopes: (
        scores - (slopes[:, None, None] * np.arange(scores.shape[-2])[:, None]).astype(scores.dtype)
    ),
)
answers.wrong(
    "positions added",
    function=lambda scores, slopes: (
        scores
        - (slopes[:, None, None] * np.indices(scores.shape[-2:]).sum(axis=0)).astype(scores.dtype)
    ),
)
answers.wrong(
    "scores multiplied by a decay",
    function=lambda scores, slopes: (
        scores - scores * (1 - np.exp(lowered(np.zeros_like(scores), slopes)))
    ),
)
answers.wrong(
    "causal mask added",
    function=lambda scores, slopes: np.where(
        np.tri(*scores.shape[-2:], dtype=bool), lowered(scores, slopes), -1e9
    ).astype(scores.dtype),
)


def distances(scores):
    return abs(np.arange(scores.shape[-2])[:, None] - np.arange(scores.shape[-1]))


answers.wrong(
    "multiplied instead of subtracted",
    function=lambda scores, slopes: (
        scores * (1 - slopes[:, None, None] * distances(scores))
    ).astype(scores.dtype),
)
answers.wrong(
    "multiplied instead of subtracted",
    function=lambda scores, slopes: (scores * -(slopes[:, None, None] * distances(scores))).astype(
        scores.dtype
    ),
)
answers.wrong(
    "scores multiplied by a decay",
    function=lambda scores, slopes: (scores * slopes[:, None, None] ** distances(scores)).astype(
        scores.dtype
    ),
)


answers.wrong(
    "multiplied instead of subtracted",
    function=lambda scores, slopes: (
        scores / (1 + slopes[:, None, None] * distances(scores))
    ).astype(scores.dtype),
)


@answers.wrong("scores multiplied by the slope as well")
def brackets_around_the_difference(scores, slopes):
    away = np.abs(np.arange(scores.shape[-2])[:, None] - np.arange(scores.shape[-1]))
    return (slopes[:, None, None] * (scores - away)).astype(scores.dtype)
