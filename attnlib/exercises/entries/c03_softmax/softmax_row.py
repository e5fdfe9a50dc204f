"""The exercise softmax_row."""

import numpy as np

from ...families.softmax import (AFTER_MISTAKES, EXPONENTIAL_MISTAKES, ONE_LINE_SHIFTED, SCALED_SCORES, SHIFT_MISTAKES,
    SIGN, SOFTMAX_STEPS, TOTAL_MISTAKES, UNIFORM, extreme_rows, softmax_steps_answer)
from ...model import FLOAT16, FLOAT32, PLAIN, SMALL, Case, Exercise, Mistake, normal


def _row_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, row, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(row, dtype),), extreme)

    return [
        case(PLAIN, [0, 1]), case(PLAIN, [1, -2, 3]), case(PLAIN, [1.0, 0.5, 2.5, -0.1]), case(PLAIN, [2]), case(PLAIN, [-3, -1]),
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
    mistakes=tuple(m for m in SHIFT_MISTAKES if m.name != "one maximum for the whole array")
    + EXPONENTIAL_MISTAKES + (SIGN,) + tuple(
        m for m in TOTAL_MISTAKES if m.name not in ("sum over the wrong axis",
                                                    "sum without keepdims")) + AFTER_MISTAKES + (
        ONE_LINE_SHIFTED, SCALED_SCORES, UNIFORM,
        Mistake("divided by the sum so far", change={"total": lambda p, axis: np.cumsum(p)},
                does="Each exponential is divided by the sum of the exponentials up to it.",
                why="The sum runs over the whole row: it has to be finished before the first division.",
                ask="How many exponentials have been added when the first weight is computed?")),
)
