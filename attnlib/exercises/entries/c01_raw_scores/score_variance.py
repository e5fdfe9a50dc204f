"""The exercise score_variance."""

import math

import numpy as np

from ...model import PLAIN, Case, Exercise, Mistake, Step


def score_variance_answer(do, d_k, std_query, std_key):
    one = do.join(do.of_query(std_query), do.of_key(std_key))
    return do.finish(do.terms(d_k) * one, d_k)


def _variance_cases():
    return [Case(PLAIN, args) for args in
            ((4, 3.0, 5.0), (1, 2.0, 3.0), (7, 0.5, 3.0), (64, 1.5, 0.25), (11, 2.0, 7.0), (300, 0.13, 0.27))] + [
        Case("standard deviations of 1", (16, 1.0, 1.0)),
        Case("a standard deviation of 0", (5, 0.0, 2.0))]


EXERCISE = Exercise(
    name="score_variance", signature="(d_k, std_query, std_key)", place=2,
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
        Mistake("standard deviation instead of variance", change={"finish": lambda v, d_k: math.sqrt(v)},
                does="The answer is the square root of the variance.",
                why="The variance is asked for; the standard deviation is what the scale divides by.",
                ask="Which of the two adds when independent terms are added?"),
        Mistake("standard deviations not squared",
                change={"of_query": lambda std: std, "of_key": lambda std: std},
                does="The standard deviations enter as they are, not squared.",
                why="Variances multiply here, and a variance is a standard deviation squared.",
                ask="What is the variance of a number whose standard deviation is 3?"),
        Mistake("query's standard deviation not squared", change={"of_query": lambda std: std},
                does="The query's standard deviation enters once, the key's squared.",
                why="A variance is a standard deviation squared, for both.",
                ask="What is the variance of one entry of the query?"),
        Mistake("key's standard deviation not squared", change={"of_key": lambda std: std},
                does="The key's standard deviation enters once, the query's squared.",
                why="A variance is a standard deviation squared, for both.",
                ask="What is the variance of one entry of the key?"),
        Mistake("no factor d_k", change={"terms": lambda d_k: 1},
                does="The answer does not grow with d_k. It is the variance of one product, or of "
                     "the scaled score.",
                why="The unscaled score is a sum of d_k independent products, and their variances add.",
                ask="How many products does a score add up?"),
        Mistake("standard deviations taken as 1", change={"of_query": lambda std: 1, "of_key": lambda std: 1},
                does="The answer is d_k whatever the standard deviations are.",
                why="d_k is the variance for entries of standard deviation 1; here they are given.",
                ask="What becomes of the score if all queries are twice as long?"),
        Mistake("standard deviations to the fourth power",
                change=({"of_query": lambda std: std ** 4, "of_key": lambda std: std ** 4},
                        {"finish": lambda v, d_k: v ** 2}),
                does="The standard deviations enter to the fourth power: something is squared twice.",
                why="A variance is a standard deviation squared, once.",
                ask="What is the variance of a number whose standard deviation is 3?"),
        Mistake("standard deviations added",
                change=({"of_query": lambda std: std, "of_key": lambda std: std, "join": lambda a, b: (a + b) ** 2},),
                does="The two standard deviations are added, where they should be multiplied.",
                why="The terms of a score are products of two entries, and independent variances multiply there.",
                ask="Is q_1 k_1 a sum or a product of the two entries?"),
        Mistake("d_k - 1 instead of d_k", change={"terms": lambda d_k: d_k - 1},
                does="One term of the sum is missing.",
                why="d_k - 1 belongs to the estimate of a variance from samples; here d_k variances are added.",
                ask="What should the answer be for d_k = 1?"),
        Mistake("a factor of 2", change=tuple({"finish": lambda v, d_k, f=f: f * v} for f in (2, 0.5, 4, 0.25)),
                does="The answer is 2 or 4 times too large or too small.",
                why="Each of the d_k products counts once, with the product of the two variances.",
                ask="Where does the 2 come from?"),
        Mistake("cut to an integer",
                change=({"finish": lambda v, d_k: np.trunc(v)}, {"finish": lambda v, d_k: np.rint(v)}),
                does="The answer has no fraction.",
                why="A variance is a real number.",
                ask="Which of your operations throws the fraction away?"),
        Mistake("d_k squared", change={"terms": lambda d_k: d_k ** 2},
                does="The answer grows like d_k squared.",
                why="That is the variance of d_k equal terms. These are independent: variances add, "
                    "and standard deviations do not.",
                ask="What is the variance of the sum of two independent numbers?"),
        Mistake("sqrt(d_k) instead of d_k", change={"terms": math.sqrt},
                does="The answer grows like the square root of d_k.",
                why="The standard deviation grows like sqrt(d_k), the variance like d_k.",
                ask="Which of the two adds when independent terms are added?"),
        Mistake("divided by d_k", change={"finish": lambda v, d_k: v / d_k ** 2},
                does="The answer shrinks as d_k grows.",
                why="A score is a sum of d_k terms, not a mean.",
                ask="Does a longer sum of independent terms vary more or less?"),
        Mistake("one of the two alone counted", alone=True, change=({"join": max}, {"join": min}),
                does="Only the larger, or the smaller, of the two variances counts.",
                why="The terms of a score are products of two entries, and independent variances multiply there.",
                ask="What becomes of the score if all keys are twice as long?"),
        Mistake("variances averaged",
                change={"join": lambda a, b: (a + b) / 2},
                does="The two variances are averaged, where they should be multiplied.",
                why="The terms of a score are products of two entries, and independent variances multiply there.",
                ask="Is q_1 k_1 a mean or a product of the two entries?"),
        Mistake("variances added", change={"join": lambda a, b: a + b},
                does="The two variances are added, where they should be multiplied.",
                why="Variances add for a sum; the terms of a score are products.",
                ask="Is q_1 k_1 a sum or a product of the two entries?"),
        Mistake("key's variance left out", change={"join": lambda a, b: a},
                does="The answer does not depend on the key.",
                why="The variance of a product of independent numbers of mean 0 has both factors.",
                ask="What becomes of the score if all keys are twice as long?"),
        Mistake("query's variance left out", change={"join": lambda a, b: b},
                does="The answer does not depend on the query.",
                why="The variance of a product of independent numbers of mean 0 has both factors.",
                ask="What becomes of the score if all queries are twice as long?"),
    ),
)
