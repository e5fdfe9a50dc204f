"""The exercise softmax."""

import numpy as np

from ...families.softmax import (ALL_SOFTMAX_MISTAKES, AXIS_GIVEN, SOFTMAX_STEPS, extreme_rows, low_rows, placed,
    softmax_steps_answer)
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, SMALL, SQUARE, Case, Exercise, normal


def softmax_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, scores, *axis, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), *axis), extreme)

    def rowwise(aspect, row, extreme):
        return case(aspect, [row, [0.0] * (len(row) - 1) + [1.0]], extreme=extreme)

    inf = np.inf
    return [
        case(PLAIN, [[0, 1, 3], [2, 5, 4]]), case(PLAIN, [[1, -2, 3]]), case(PLAIN, [[-3, -1]]),
        Case(PLAIN, (normal(5, 7, seed=1),)), Case(PLAIN, (normal(7, 3, seed=2),)),
        case(SQUARE, [[0, 1], [2, 5]]), Case(SQUARE, (normal(5, 5, seed=3),)),
        case("one axis", [0, 1, 3]), Case("one axis", (normal(7, seed=4),)),
        case(LEADING, [[[0, 1], [2, 5]]]), Case(LEADING, (normal(2, 5, 3, seed=5),)),
        Case(LEADING, (normal(2, 3, 5, 7, seed=6),)),
        case(AXIS_GIVEN, [[0, 1], [2, 5]], 0), Case(AXIS_GIVEN, (normal(5, 3, seed=7), 0)),
        Case(AXIS_GIVEN, (normal(5, 3, seed=7), 1)), Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), 1)),
        Case(AXIS_GIVEN, (normal(2, 5, 3, seed=8), -2)), Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), -3)),
        Case(AXIS_GIVEN, (normal(3, 5, 2, seed=9), 2)),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3,)),
        case(HUGE, [[10000, 9999], [0, 1]], extreme=True), case(HUGE, [[-10000, -9999], [0, 1]], extreme=True),
        case(HUGE, [[400, 399], [0, 1]], extreme=True),
        *extreme_rows(lambda aspect, row, extreme: rowwise(aspect, row, extreme)),
        case(HUGE, [[10000], [9999]], 0, extreme=True),
        case(NEG_INF, [[0, -inf], [1, 2]], extreme=True), case(NEG_INF, [[1, -inf, 3], [-inf, -inf, 2]], extreme=True),
        *low_rows(case),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], dtype=f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], dtype=f4, extreme=True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], dtype=f2),
        case(FLOAT16, [[20, 21, 19], [0, 1, 2]], dtype=f2, extreme=True),
    ]


EXERCISE = Exercise(
    name="softmax", signature="(scores, axis=-1)", place=2,
    axes=dict(scores="n_q n_k"), answer_axes="n_q n_k",
    text="The softmax along any one axis of an array with any number of axes, right for huge "
         "scores and for scores of -inf (never a whole row of them).",
    answer=placed(softmax_steps_answer),
    steps={**SOFTMAX_STEPS, "place": lambda weights, axis: weights}, cases=softmax_cases,
    hints=(
        "Begin with one row: exp of each score, divided by the sum of these exponentials.",
        "Subtract the maximum first, so that no exponential overflows. Each row needs its own maximum.",
        "np.max and np.sum take an axis. With keepdims=True the axis stays, with length 1, so that "
        "the result lines up with the scores again.",
        "Three lines: subtract scores.max(axis=axis, keepdims=True); take np.exp; divide by the sum "
        "of the exponentials over the same axis, again with keepdims=True.",
    ),
    mistakes=ALL_SOFTMAX_MISTAKES,
)
