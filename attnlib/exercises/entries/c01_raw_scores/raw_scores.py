"""The exercise raw_scores."""

import math

import numpy as np

from ...families.scores import (CAUSAL_APPLIED, PRODUCT_MISTAKES, SCALE_MISTAKES, SCORE_STEPS, divided_by, power_of_d_k,
    raw_scores_answer, score_cases, softmax_of, under_the_root, unscaled)
from ...model import Case, Exercise, Mistake, alike, normal


def _squared(query, key_t):
    return ((query[..., :, None] - key_t[..., None, :, :]) ** 2).sum(axis=-2)


DISTANCES = (lambda query, key_t: np.sqrt(_squared(query, key_t)),
             lambda query, key_t: -np.sqrt(_squared(query, key_t)),
             _squared, lambda query, key_t: -_squared(query, key_t))


def _cases():
    return [*score_cases(), Case("large entries", (normal(3, 5, seed=15, scale=80), normal(7, 5, seed=16, scale=80)))]


EXERCISE = Exercise(
    name="raw_scores", signature="(query, key)", place=5,
    axes=dict(query="n_q d_k", key="n_k d_k"), answer_axes="n_q n_k",
    text="The scaled scores Q Kᵀ / sqrt(d_k) of shape (..., n_q, n_k), for queries of shape "
         "(..., n_q, d_k) and keys of shape (..., n_k, d_k).",
    answer=raw_scores_answer, steps=SCORE_STEPS, cases=_cases, fitted=(divided_by, under_the_root, power_of_d_k),
    hints=(
        "Entry (i, j) is the dot product of query i and key j. Which axis do the two share?",
        "A matrix product sums over the last axis of the left array and the last but one of the "
        "right array. So the last two axes of key have to change places, and only these two.",
        "np.swapaxes(key, -1, -2) swaps the last two axes, whatever stands before them.",
        "query @ np.swapaxes(key, -1, -2) gives the dot products. Now divide by the square root of "
        "the last axis's length: math.sqrt(...) is a Python number and keeps the input's dtype.",
    ),
    mistakes=(
        *SCALE_MISTAKES, *PRODUCT_MISTAKES, CAUSAL_APPLIED,
        *alike("Entry (i, j) is the score of query i and key j.", "Where do the queries come in, and where the keys?",
               ("Q Qᵀ instead of Q Kᵀ", {"roles": lambda query, key: (query, query)},
                "Queries meet queries: the keys do not matter."),
               ("K Kᵀ instead of Q Kᵀ", {"roles": lambda query, key: (key, key)},
                "Keys meet keys: the queries do not matter.")),
        Mistake("distance instead of dot product",
                change=tuple(change for distance in DISTANCES
                             for change in ({"product": distance, "scale": unscaled}, {"product": distance})),
                does="The scores tell how far queries and keys are apart.",
                why="Attention's score is the dot product: it grows with the lengths of both, and has a sign.",
                ask="Which operation joins the features of a query and a key in a dot product?"),
        Mistake("one feature left out",
                change=tuple({"product": lambda query, key_t, part=part: query[..., part] @ key_t[..., part, :]}
                             for part in (slice(1, None), slice(None, -1))),
                does="The first or the last feature does not count.",
                why="All d_k products are added; positions run from 0 to d_k - 1, and range(n) ends at n - 1.",
                ask="Which features do your loops or slices go through?"),
        Mistake("mean instead of sum", change={"scale": lambda scores, query, key: scores / query.shape[-1] ** 1.5},
                does="The products are averaged over the features, and scaled besides.",
                why="A dot product adds its terms; only the root of d_k divides.",
                ask="What divides by d_k in your function?"),
        Mistake("floor division", change={"scale": lambda scores, query, key: scores // math.sqrt(query.shape[-1])},
                does="The scores are rounded down to whole numbers.",
                why="// throws the fraction away, and with it the differences between scores.",
                ask="Which operator divides without rounding?"),
        *alike("The maximum, the exponential and the softmax come after the raw scores, and after the mask.",
               "Which step of attention comes after the scores?",
               ("maximum already subtracted",
                {"finish_scores": lambda scores: scores - scores.max(axis=-1, keepdims=True)},
                "The largest score of each row is 0."),
               ("softmax already applied", {"finish_scores": softmax_of},
                "Each row sums to 1: the answer holds weights, not scores."),
               ("exponential already taken", {"finish_scores": np.exp}, "The answer holds exp(score).")),
        *alike("A query and a key that agree have a high score, and those that point away from each other a negative "
               "one.",
               "What should the score of a vector with itself be, and that of a vector and its opposite?",
               ("scores negated", {"finish_scores": lambda scores: -scores}, "Every score has the wrong sign."),
               ("absolute value", {"finish_scores": np.abs}, "No score is negative.")),
        Mistake("logarithm instead of the root", alone=True,
                change=tuple({"scale": lambda scores, query, key, more=more: scores / np.log(query.shape[-1] + more)}
                             for more in (1, 0)),
                does="The scores are divided by a logarithm of d_k.",
                why="The standard deviation of a sum of d_k products grows like sqrt(d_k).",
                ask="How does the standard deviation of q · k grow with d_k?"),
    ),
)
