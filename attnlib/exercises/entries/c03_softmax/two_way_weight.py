"""The exercise two_way_weight."""

import numpy as np

from ...model import FLOAT16, FLOAT32, HUGE, PLAIN, Case, Exercise, Mistake, Step, alike, normal


def two_way_weight_answer(do, score_a, score_b):
    a, b = do.shift(*do.order(score_a, score_b))
    return do.form(do.share(do.power(a), do.power(b)))


def _shifted(a, b):
    return a - np.maximum(a, b), b - np.maximum(a, b)


def _of_gap(function):
    """An answer made of the difference of the two scores alone."""
    return {"answer": lambda a, b: function(a - b)}


def _cases():
    def case(aspect, a, b, dtype=float, extreme=False):
        return Case(aspect, (np.array(a, dtype), np.array(b, dtype)), extreme)

    return [
        case(PLAIN, [1, 0, -2], [0, 1, 1]), case(PLAIN, [[1, 2], [3, 0]], [[2, 2], [1, 0.5]]),
        Case(PLAIN, (normal(5, 7, seed=1), normal(5, 7, seed=2))), Case(PLAIN, (normal(13, seed=3), normal(13, seed=4))),
        case("one pair", 2, 1), case("equal scores", [3, -1], [3, -1]),
        Case("several axes", (normal(2, 3, 5, seed=5), normal(2, 3, 5, seed=6))),
        case(HUGE, [10000, 10000, -10000], [9999, 0, -9999], extreme=True), case(HUGE, [0, 2, -10000], [10000, 1, 0], extreme=True),
        case(HUGE, [9999, 0], [10000, -10000], extreme=True),
        case(FLOAT32, [1, -1], [0.5, 3], np.float32), Case(FLOAT16, (normal(7, seed=7, dtype=np.float16), normal(7, seed=8, dtype=np.float16))),
    ]


EXERCISE = Exercise(
    name="two_way_weight", signature="(score_a, score_b)", place=2,
    axes=dict(score_a="n", score_b="n"), answer_axes="n",
    text="The weight of the first of two keys with these scores, entry by entry, for arrays of any shape (...); right "
         "for scores of ±10000 too.",
    answer=two_way_weight_answer,
    steps={
        "order": lambda a, b: (a, b),
        "shift": _shifted,
        "power": np.exp,
        "share": Step(lambda a, b: a / (a + b), "the weight"),
        "form": lambda weight: weight,
    },
    cases=_cases,
    hints=(
        "The softmax of two scores: exp(a) / (exp(a) + exp(b)). What is left when you divide above and below by exp(a)?",
        "1 / (1 + exp(b - a)): only the difference counts. For b far above a the exponential overflows to inf, and "
        "1 / inf is 0, which is right; but NumPy warns.",
        "Subtract the larger of the two first, np.maximum(a, b): then both exponents are 0 or less, as in the softmax.",
    ),
    mistakes=(
        *alike("The first key's weight grows with its own score.", "Which weight should be larger if score_a is larger?",
               ("the weight of the second key", {"order": lambda a, b: (b, a)},
                "The answer is what the second key gets: 1 minus the right weight."),
               ("the difference itself", _of_gap(lambda gap: gap), "The answer is the difference of the scores."),
               ("the ratio of the two weights", _of_gap(np.exp),
                "The answer is exp(a - b): how many times the second weight the first one is.")),
        *alike("exp of a score above 709 (above 88 in float32, above 11 in float16) is inf, and inf / inf is NaN; for two "
               "low scores both exponentials are 0. Only the difference counts, so the larger score may be subtracted.",
               "Which number can be subtracted from both scores so that no exponent is above 0?",
               ("no maximum subtracted", {"shift": lambda a, b: (a, b)},
                "For small scores it is right; for scores of 10000 or of -10000 it is NaN."),
               ("exponential of the difference on top", {"shift": lambda a, b: (a - b, b - b)},
                "For small differences it is right; where score_a is far above score_b it is NaN.")),
        *alike("Each pair is a softmax of its own. One number is subtracted from both of its scores, the larger of the two.",
               "Which number do the two scores of one pair lose, and which number does another pair lose?",
               ("maximum of all pairs", {"shift": lambda a, b: (a - np.maximum(a, b).max(), b - np.maximum(a, b).max())},
                "One maximum is subtracted from all pairs: far below it both exponentials are 0, and 0 / 0 is NaN."),
               ("each array's own maximum", {"shift": lambda a, b: (a - a.max(), b - b.max())},
                "The two scores of a pair lose different numbers, the maximum of score_a and that of score_b.")),
        Mistake("one score alone", change=tuple({"answer": f} for f in (
            lambda a, b: 1 / (1 + np.exp(-a)), lambda a, b: 1 / (1 + np.exp(-b)), lambda a, b: 1 / (1 + np.exp(b)))),
                does="The logistic function is taken of one of the two scores, and not of their difference.",
                why="Only the difference of the two scores counts.",
                ask="What is the first weight if both scores are 2?"),
        *alike("The two weights are e^a and e^b, each divided by their sum.", "What must the two weights add up to?",
               ("share of the scores", {"shift": lambda a, b: (a, b), "power": lambda a: a}, "The scores themselves are divided by their sum."),
               ("not divided", {"share": lambda a, b: a},
                "The answer is an exponential: 1 wherever the first score is the larger one.")),
        Mistake("step instead of a smooth weight", change=_of_gap(lambda gap: (gap > 0) * 1.0),
                does="All the weight goes to the key with the larger score.",
                why="A softmax of two scores changes smoothly: a small difference gives weights near 1/2.",
                ask="What are the weights of two keys whose scores differ by 0.1?"),
        Mistake("2 to the power of the difference", change={"power": np.exp2},
                does="Powers of 2 stand where exponentials belong.", why="The softmax uses e.",
                ask="Which base do the exponentials of a softmax have?"),
        Mistake("tanh instead of the logistic function", change=_of_gap(np.tanh),
                does="The answer lies between -1 and 1.",
                why="The weight is (1 + tanh(gap / 2)) / 2: between 0 and 1, and 1/2 for equal scores.",
                ask="What is the weight of each of two keys with equal scores?"),
    ),
)
