"""Answers to projection_std, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("projection_std")

answers.right(lambda d_model: 1 / math.sqrt(d_model))
answers.right(lambda d_model: d_model**-0.5)
answers.right(lambda d_model: np.sqrt(1 / d_model))
answers.wrong("variance instead of standard deviation", function=lambda d_model: 1 / d_model)
answers.wrong("sqrt(d_model) instead of its inverse", function=lambda d_model: math.sqrt(d_model))
answers.wrong("the variance of the sum itself", function=lambda d_model: d_model)
answers.wrong("same number for all arguments", function=lambda d_model: 1.0)
answers.wrong("twice the variance", function=lambda d_model: math.sqrt(2 / d_model))
answers.wrong("root of the root", function=lambda d_model: (1 / d_model) ** 0.25)
answers.wrong("1/2 instead of a square root", function=lambda d_model: d_model**-1 / 2)
answers.wrong("same number for all arguments", function=lambda d_model: 0.02)
answers.wrong("largest value instead of deviation", function=lambda d_model: math.sqrt(3 / d_model))
answers.wrong("root rounded to a whole number", function=lambda d_model: 1 / math.isqrt(d_model))
answers.wrong(
    "sqrt(d_model) instead of its inverse",
    "twice the variance",
    function=lambda d_model: (2 * d_model) ** 0.5,
)


@answers.wrong("variance instead of standard deviation", "d_model - 1 instead of d_model")
def std_as_a_sample_variance(d_model):
    return 1 / (d_model - 1) if d_model > 1 else 1.0


@answers.wrong("estimated from random numbers")
def deviation_by_drawing(d_model):
    w = np.random.default_rng(0).normal(0, 1 / math.sqrt(d_model), size=(d_model, d_model))
    return w.std()
