"""The exercise score_variance."""

import math

import numpy as np

from ...model import PLAIN, Case, Exercise, Mistake, Step, alike


def score_variance_answer(do, d_k, std_query, std_key):
    one = do.join(do.of_query(std_query), do.of_key(std_key))
    return do.finish(do.terms(d_k) * one, d_k)


def _variance_cases():
    return [Case(PLAIN, args) for args in
            ((4, 3.0, 5.0), (1, 2.0, 3.0), (7, 0.5, 3.0), (64, 1.5, 0.25), (11, 2.0, 7.0), (300, 0.13, 0.27))] + [
        Case("standard deviations of 1", (16, 1.0, 1.0)),
        Case("a standard deviation of 0", (5, 0.0, 2.0))]


def _as_it_is(std):
    return std


def _finished(*ends):
    """Another end, of the right variance and d_k."""
    return tuple({"finish": end} for end in ends)


EXERCISE = Exercise(
    name="score_variance", signature="(d_k, std_query, std_key)", place=4,
    answer_axes="",
    text="The variance of the unscaled score of two vectors of length d_k with independent entries "
         "of mean 0 and these standard deviations.",
    answer=score_variance_answer,
    steps={
        "terms": Step(lambda d_k: d_k, "d_k", True),
        "of_query": Step(lambda std: std ** 2, "the query's variance", True),
        "of_key": Step(lambda std: std ** 2, "the key's variance", True),
        "join": lambda a, b: a * b,
        "finish": lambda variance, d_k: variance,
    },
    cases=_variance_cases, dtype="number",
    formula=("Independent variances multiply in a product and add in a sum of terms.",
             "How many terms does a score have, and what is the variance of one?"),
    hints=(
        "Begin with one term, q_1 k_1. What is the mean of a product of two independent numbers of mean 0?",
        "With mean 0 the variance of a product of independent numbers is the product of their variances.",
        "The variance is the square of the standard deviation, and variances of independent terms add.",
        "There are d_k independent terms, each with variance std_query squared times std_key squared.",
    ),
    mistakes=(
        *alike("The variance is asked for: that of independent terms adds, and so it grows like d_k, the standard "
               "deviation "
               "like its root.",
               "Which of the two adds when independent terms are added, and how many terms does a score have?",
               ("standard deviation instead of variance", _finished(lambda v, d_k: math.sqrt(v)),
                "The answer is the square root of the variance."),
               ("no factor d_k", {"terms": lambda d_k: 1},
                "The answer does not grow with d_k: it is the variance of one product."),
               ("d_k - 1 instead of d_k", {"terms": lambda d_k: d_k - 1}, "One term of the sum is missing."),
               ("d_k squared", {"terms": lambda d_k: d_k ** 2},
                "The answer grows like d_k squared, as if all terms were equal."),
               ("sqrt(d_k) instead of d_k", {"terms": math.sqrt}, "The answer grows like the square root of d_k."),
               ("divided by d_k", _finished(lambda v, d_k: v / d_k ** 2), "The answer shrinks as d_k grows."),
               ("a factor of 2", tuple({"finish": lambda v, d_k, f=f: f * v} for f in (2, 0.5, 4, 0.25)),
                "The answer is 2 or 4 times too large or too small.")),
        *alike("A variance is a standard deviation squared, once, for query and key.",
               "What is the variance of a number whose standard deviation is 3?",
               ("standard deviations not squared", {"of_query": _as_it_is, "of_key": _as_it_is},
                "The standard deviations enter as they are, not squared."),
               ("query's standard deviation not squared", {"of_query": _as_it_is},
                "The query's standard deviation enters as it is."),
               ("key's standard deviation not squared", {"of_key": _as_it_is},
                "The key's standard deviation enters as it is."),
               ("standard deviations to the fourth power",
                ({"of_query": lambda std: std ** 4, "of_key": lambda std: std ** 4}, *_finished(lambda v, d_k: v ** 2)),
                "The standard deviations enter to the fourth power: something is squared twice."),
               ("standard deviations taken as 1", {"of_query": lambda std: 1, "of_key": lambda std: 1},
                "The standard deviations have no part in the answer: they count as 1.")),
        *alike("The terms of a score are products of two entries, and the variances of independent factors of mean 0 "
               "multiply.",
               "Is q_1 k_1 a sum, a mean or a product of the two entries, and what if all keys are twice as long?",
               ("standard deviations added",
                {"of_query": _as_it_is, "of_key": _as_it_is, "join": lambda a, b: (a + b) ** 2},
                "The two standard deviations are added, where they should be multiplied."),
               ("variances averaged", {"join": lambda a, b: (a + b) / 2},
                "What belongs to query and key is averaged, where it should be multiplied."),
               ("variances added", {"join": lambda a, b: a + b},
                "What belongs to query and key is added, where it should be multiplied."),
               ("key's variance left out", {"join": lambda a, b: a}, "The answer does not depend on the key."),
               ("query's variance left out", {"join": lambda a, b: b}, "The answer does not depend on the query.")),
        Mistake("one of the two alone counted", alone=True, change=({"join": max}, {"join": min}),
                does="Only the larger, or the smaller, of the two variances counts.",
                why="The terms of a score are products of two entries, and independent variances multiply there.",
                ask="What becomes of the score if all keys are twice as long?"),
        Mistake("cut to an integer", change=_finished(lambda v, d_k: np.trunc(v), lambda v, d_k: np.rint(v)),
                does="The answer has no fraction.",
                why="A variance is a real number.", ask="Which of your operations throws the fraction away?"),
    ),
)
