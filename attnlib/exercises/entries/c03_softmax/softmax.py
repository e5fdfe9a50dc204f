"""The exercise softmax."""

from ...families.softmax import ALL_SOFTMAX_MISTAKES, SOFTMAX_STEPS, along_cases, placed, softmax_steps_answer
from ...model import Exercise

EXERCISE = Exercise(
    name="softmax", signature="(scores, axis=-1)", place=3,
    axes=dict(scores="n_q n_k"), answer_axes="n_q n_k",
    text="The softmax along any one axis of an array with any number of axes, right for huge "
         "scores and for scores of -inf (never a whole row of them).",
    answer=placed(softmax_steps_answer),
    steps={**SOFTMAX_STEPS, "place": lambda weights, axis: weights}, cases=along_cases,
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
