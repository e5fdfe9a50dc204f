"""The exercise softmax_row."""

import numpy as np

from ...families.choose import pick
from ...families.softmax import ALL_SOFTMAX_MISTAKES, SOFTMAX_STEPS, extreme_rows, softmax_steps_answer
from ...model import FLOAT16, FLOAT32, PLAIN, SMALL, Case, Exercise, Mistake, normal


def _row_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, row, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(row, dtype),), extreme)

    return [
        case(PLAIN, [0, 1]), case(PLAIN, [1, -2, 3]), case(PLAIN, [1.0, 0.5, 2.5, -0.1]), case(PLAIN, [2]),
        case(PLAIN, [-3, -1]),
        Case(PLAIN, (normal(11, seed=1),)), Case(PLAIN, (normal(7, seed=2),)),
        case("equal scores", [3, 3, 3, 3]),
        Case(SMALL, (normal(5, seed=3) * 1e-3,)),
        *extreme_rows(case),
        case(FLOAT32, [1, 2, 4], f4), case(FLOAT32, [80, 100, 99, 101], f4, True), case(FLOAT16, [1, 2, 0.5], f2),
        case(FLOAT16, [20, 21, 19], f2, True),
    ]


EXERCISE = Exercise(
    name="softmax_row", signature="(scores)", place=1,
    axes=dict(scores="n_q n_k"), answer_axes="n_k",
    text="The softmax of one row of scores, right for scores of ±10000 too.",
    answer=lambda do, scores: softmax_steps_answer(do, scores, None), steps=SOFTMAX_STEPS, cases=_row_cases,
    hints=(
        "Make every score positive with exp; then divide by what makes the row sum to 1.",
        "exp(1000) overflows. The softmax does not change when the same number is subtracted from "
        "every score: which number makes all exponents 0 or less?",
        "Subtract scores.max() first, then take np.exp, then divide by the sum of the exponentials.",
    ),
    mistakes=(
        *pick(ALL_SOFTMAX_MISTAKES, "no maximum subtracted", "minimum subtracted instead of maximum",
              "mean subtracted instead of maximum", "median subtracted instead of maximum", "maximum never below 0",
              "a fixed number subtracted instead of the maximum", "one score subtracted instead of the maximum",
              "maximum of absolute values", "divided by the maximum", "maximum added", "scores clipped",
              "standardised scores",
              "maximum subtracted on one side of the fraction line", "no exponential",
              "absolute values instead of exponentials",
              "squares instead of exponentials", "power of 2 instead of e", "power of 10 instead of e",
              "exponential taken twice",
              "softplus instead of exp", "1 subtracted from the exponentials", "sigmoid instead of softmax",
              "argmax instead of softmax", "sign flipped", "not divided by the sum", "divided by the mean",
              "divided by the Euclidean length", "divided by the number of scores", "epsilon in the denominator",
              "sum never below 1", "one score left out of the sum",
              "exponential of the sum instead of the sum of exponentials", "divided by the sum of the scores",
              "logarithm of the softmax", "rounded", "small weights raised", "softmax twice",
              "scores divided by sqrt(n)",
              "uniform weights"),
        Mistake("divided by the sum so far", change={"total": lambda p, axis: np.cumsum(p)},
                does="Each exponential is divided by the sum of the exponentials up to it.",
                why="The sum runs over the whole row: it has to be finished before the first division.",
                ask="How many exponentials have been added when the first weight is computed?")),
)
