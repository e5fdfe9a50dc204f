"""Answers to two_way_weight, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("two_way_weight")


@answers.right()
def two_by_maximum(score_a, score_b):
    highest = np.maximum(score_a, score_b)
    a, b = np.exp(score_a - highest), np.exp(score_b - highest)
    return a / (a + b)


@answers.right()
def two_by_logistic(score_a, score_b):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(score_b - score_a))


@answers.right()
def two_by_stack(score_a, score_b):
    scores = np.stack([score_a, score_b])
    exps = np.exp(scores - scores.max(axis=0))
    return (exps / exps.sum(axis=0))[0]


@answers.right()
def two_by_tanh(score_a, score_b):
    return (1 + np.tanh((score_a - score_b) / 2)) / 2


answers.wrong(
    "the weight of the second key",
    function=lambda score_a, score_b: two_by_maximum(score_b, score_a),
)
answers.wrong(
    "no maximum subtracted",
    function=lambda score_a, score_b: np.exp(score_a) / (np.exp(score_a) + np.exp(score_b)),
)
answers.wrong(
    "exponential of the difference on top",
    function=lambda score_a, score_b: np.exp(score_a - score_b) / (1 + np.exp(score_a - score_b)),
)
answers.wrong(
    "share of the scores", function=lambda score_a, score_b: score_a / (score_a + score_b)
)
answers.wrong(
    "the ratio of the two weights", function=lambda score_a, score_b: np.exp(score_a - score_b)
)
answers.wrong("the difference itself", function=lambda score_a, score_b: score_a - score_b)
answers.wrong(
    "step instead of a smooth weight",
    function=lambda score_a, score_b: (score_a > score_b).astype(score_a.dtype),
)
answers.wrong(
    "tanh instead of the logistic function",
    function=lambda score_a, score_b: np.tanh(score_a - score_b),
)
answers.wrong(
    "the weight of the second key",
    "no maximum subtracted",
    function=lambda score_a, score_b: np.exp(score_b) / (np.exp(score_a) + np.exp(score_b)),
)


@answers.wrong()
def two_by_math(score_a, score_b):
    return 1 / (1 + math.exp(score_b - score_a))


@answers.right()
def two_by_clip(score_a, score_b):
    power = np.exp(np.clip(score_a.astype(np.float64) - score_b, -500, 500))
    return (power / (1 + power)).astype(score_a.dtype)


@answers.wrong("maximum of all pairs")
def two_by_one_maximum(score_a, score_b):
    top = np.maximum(score_a, score_b).max()
    return np.exp(score_a - top) / (np.exp(score_a - top) + np.exp(score_b - top))


@answers.wrong("each array's own maximum")
def two_by_own_maxima(score_a, score_b):
    power_a, power_b = np.exp(score_a - score_a.max()), np.exp(score_b - score_b.max())
    return power_a / (power_a + power_b)


answers.wrong("only one score", function=lambda score_a, score_b: 1 / (1 + np.exp(-score_a)))
answers.right(function=lambda score_a, score_b: 1 - 1 / (1 + np.exp(score_a - score_b)))
answers.right(function=lambda score_a, score_b: 1 - two_by_maximum(score_b, score_a))
answers.wrong(
    "difference doubled", function=lambda score_a, score_b: 0.5 * (1 + np.tanh(score_a - score_b))
)
answers.wrong(
    "both weights",
    function=lambda score_a, score_b: np.stack(
        [two_by_maximum(score_a, score_b), two_by_maximum(score_b, score_a)]
    ),
)


@answers.wrong("difference clipped")
def two_by_narrow_clip(score_a, score_b):
    return 1 / (1 + np.exp(-np.clip(score_a - score_b, -8, 8)))


@answers.wrong("difference clipped")
def two_by_wide_clip(score_a, score_b):
    return 1 / (1 + np.exp(-np.clip(score_a - score_b, -20, 20)))


@answers.wrong("scores clipped")
def two_by_clipped_scores(score_a, score_b):
    power_a, power_b = np.exp(np.minimum(score_a, 50)), np.exp(np.minimum(score_b, 50))
    return power_a / (power_a + power_b)


@answers.wrong("difference halved")
def two_by_half_the_difference(score_a, score_b):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp((score_b - score_a) / 2))


@answers.wrong("no maximum subtracted", "difference doubled")
def two_by_double_scores(score_a, score_b):
    return np.exp(2 * score_a) / (np.exp(2 * score_a) + np.exp(2 * score_b))
