"""Answers to score_variance, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("score_variance")


answers.right(lambda d_k, std_query, std_key: d_k * std_query**2 * std_key**2)
answers.right(lambda d, a, b: d * (a * b) ** 2)
answers.right(lambda d, a, b: np.float64(d) * np.square(a) * np.square(b))


@answers.right()
def variance_by_loop(d_k, std_query, std_key):
    return sum(std_query**2 * std_key**2 for _ in range(d_k))


@answers.wrong("standard deviation instead of variance")
def variance_root(d_k, std_query, std_key):
    return np.sqrt(d_k) * std_query * std_key


@answers.wrong("standard deviations not squared")
def variance_not_squared(d_k, std_query, std_key):
    return d_k * std_query * std_key


@answers.wrong("independent of d_k")
def variance_of_the_scaled(d_k, std_query, std_key):
    return (d_k * std_query**2 * std_key**2) / d_k


@answers.wrong("variances added")
def variance_added(d_k, std_query, std_key):
    return d_k * (std_query**2 + std_key**2)


@answers.wrong("d_k squared")
def variance_d_squared(d_k, std_query, std_key):
    return (d_k * std_query * std_key) ** 2


@answers.wrong("key's standard deviation not squared")
def variance_precedence(d_k, std_query, std_key):
    return d_k * std_query**2 * std_key


@answers.wrong("1 counted besides")
def variance_and_one(d_k, std_query, std_key):
    return d_k * std_query**2 * std_key**2 + 1


@answers.wrong("variances added", "independent of d_k")
def variance_two(d_k, std_query, std_key):
    return std_query**2 + std_key**2


for names, function in (
    (["standard deviations taken as 1"], lambda d, a, b: d),
    (["standard deviations to the fourth power"], lambda d, a, b: d * a**4 * b**4),
    (["standard deviations added"], lambda d, a, b: d * (a + b) ** 2),
    (["d_k - 1 instead of d_k"], lambda d, a, b: (d - 1) * (a * b) ** 2),
    (["a constant factor"], lambda d, a, b: 2 * d * (a * b) ** 2),
    (["cut to an integer"], lambda d, a, b: int(d * (a * b) ** 2)),
):
    function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("standard deviations not squared", "variances added")
def variance_of_sums(d_k, std_query, std_key):
    return d_k * (std_query + std_key)


@answers.wrong("standard deviation instead of variance", "divided by d_k")
def root_of_the_variance_of_a_mean(d_k, std_query, std_key):
    return math.sqrt(std_query**2 * std_key**2 / d_k)


@answers.wrong("estimated from random numbers")
def variance_by_drawing(d_k, std_query, std_key):
    rng = np.random.default_rng(0)
    queries = rng.normal(0, std_query, (10000, d_k))
    keys = rng.normal(0, std_key, (10000, d_k))
    return np.einsum("nd,nd->n", queries, keys).var()
