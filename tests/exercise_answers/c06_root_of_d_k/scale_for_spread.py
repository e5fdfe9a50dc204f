"""Answers to scale_for_spread, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("scale_for_spread")


@answers.right()
def scale_by_deviations(spread, d_k, std_query, std_key):
    return spread / (math.sqrt(d_k) * std_query * std_key)


@answers.right()
def scale_by_variance(spread, d_k, std_query, std_key):
    variance = d_k * std_query**2 * std_key**2
    return np.sqrt(spread**2 / variance)


@answers.right()
def scale_of_normalised_entries(spread, d_k, std_query, std_key):
    to_ones = 1 / std_query / std_key
    return spread * to_ones * d_k**-0.5


answers.wrong(
    "d_k instead of sqrt(d_k)",
    function=lambda spread, d_k, std_query, std_key: spread / (d_k * std_query * std_key),
)
answers.wrong(
    "both deviations ignored",
    function=lambda spread, d_k, std_query, std_key: spread / math.sqrt(d_k),
)
answers.wrong(
    "1/2 instead of a square root",
    function=lambda spread, d_k, std_query, std_key: spread / (d_k**1 / 2 * std_query * std_key),
)
answers.wrong(
    "variance instead of standard deviation",
    function=lambda spread, d_k, std_query, std_key: spread / (d_k * std_query**2 * std_key**2),
)
answers.wrong(
    "divisor instead of factor",
    function=lambda spread, d_k, std_query, std_key: math.sqrt(d_k) * std_query * std_key / spread,
)
answers.wrong(
    "spread ignored",
    function=lambda spread, d_k, std_query, std_key: 1 / (math.sqrt(d_k) * std_query * std_key),
)
answers.wrong(
    "standard deviations added",
    function=lambda spread, d_k, std_query, std_key: (
        spread / (math.sqrt(d_k) * (std_query + std_key))
    ),
)
answers.wrong(
    "root of the deviations",
    function=lambda spread, d_k, std_query, std_key: spread / math.sqrt(d_k * std_query * std_key),
)
answers.wrong(
    "target treated as a variance",
    function=lambda spread, d_k, std_query, std_key: math.sqrt(
        spread / (d_k * std_query**2 * std_key**2)
    ),
)
answers.wrong(
    "the key's deviation ignored",
    "d_k instead of sqrt(d_k)",
    function=lambda spread, d_k, std_query, std_key: spread / (d_k * std_query),
)
answers.wrong(
    "variances instead of standard deviations",
    function=lambda spread, d_k, std_query, std_key: spread**2 / (d_k * std_query**2 * std_key**2),
)
answers.wrong(
    "variances added",
    function=lambda spread, d_k, std_query, std_key: (
        spread / np.sqrt(d_k * (std_query**2 + std_key**2))
    ),
)
answers.wrong(
    "root on the wrong side",
    function=lambda spread, d_k, std_query, std_key: spread / std_query / std_key * math.sqrt(d_k),
)
