"""The exercise projection_std."""

import math

from ...model import PLAIN, Case, Exercise, Mistake


def projection_std_answer(do, d_model):
    return do.root(do.variance(do.terms(d_model)))


EXERCISE = Exercise(
    name="projection_std", signature="(d_model)", place=6, dtype="number",
    text="The standard deviation that independent zero-mean entries of a (d_model, d_head) matrix w need, so that each "
         "entry of x @ w has variance 1 where those of x are independent with mean 0 and variance 1.",
    answer=projection_std_answer,
    steps={
        "terms": lambda d_model: d_model,
        "variance": lambda terms: 1 / terms,
        "root": lambda variance: math.sqrt(variance),
    },
    cases=lambda: [Case(PLAIN, (n,)) for n in (4, 9, 1, 2, 7, 64, 768, 12_289)],
    hints=(
        "One entry of x @ w is a sum of d_model products. What is the variance of one of these products?",
        "If the entries of w have variance v, the sum has variance d_model * v. Which v makes that 1?",
        "A standard deviation is the square root of a variance.",
    ),
    mistakes=(
        Mistake("variance instead of standard deviation", change={"root": lambda variance: variance},
                does="The answer is 1 / d_model: the variance that is needed.",
                why="A standard deviation is the square root of a variance.", ask="What is the unit of your answer, squared or not?"),
        Mistake("sqrt(d_model) instead of its inverse", change={"variance": lambda terms: terms},
                does="The answer grows with d_model.",
                why="The more products are added, the smaller each must be for the sum to have variance 1.",
                ask="Should the entries of w become smaller or larger with d_model?"),
        Mistake("the variance of the sum itself", change={"variance": lambda terms: terms, "root": lambda variance: variance},
                does="The answer is d_model: the variance of x @ w where the entries of w have variance 1.",
                why="The entries of w are to be chosen so that this becomes 1.", ask="By what must w be multiplied to make it 1?"),
        Mistake("twice the variance", change={"variance": lambda terms: 2 / terms},
                does="The answer is sqrt(2 / d_model), as it is chosen before a ReLU, which halves the mean square.",
                why="Nothing comes after the product here: d_model times the variance must be 1.",
                ask="Which factor in your formula is not the number of terms?"),
        Mistake("root of the root", change={"root": lambda variance: variance ** 0.25},
                does="The root is taken twice.", why="A standard deviation is the square root of a variance, once.",
                ask="How many square roots stand in your formula?"),
        Mistake("1/2 instead of a square root", change={"root": lambda variance: variance / 2},
                does="The answer is 1 / d_model divided by 2.",
                why="In Python the power binds before the division: d_model ** -1/2 is (1 / d_model) / 2.",
                ask="Where do brackets belong in d_model ** -1/2?"),
        Mistake("uniform width instead of deviation", change={"variance": lambda terms: 3 / terms},
                does="The answer is sqrt(3 / d_model): where a uniform distribution of that variance ends.",
                why="The standard deviation is asked for, whatever the distribution.",
                ask="Which number describes the spread here, the largest entry or the root of the mean square?"),
    ),
)
