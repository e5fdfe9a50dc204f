"""The exercise causal_mask."""

from ...families.masks import (CAUSAL_MASK_MISTAKES, FEWER_KEYS, ONLY_MORE_KEYS, TRIANGLE_STEPS, aligned_mask_answer,
    triangle_cases)
from ...model import Exercise


EXERCISE = Exercise(
    name="causal_mask", signature="(n_q, n_k)", place=1,
    answer_axes="n_q n_k",
    text="A boolean mask of shape (n_q, n_k), True where key j <= query i, aligned at the top left.",
    answer=aligned_mask_answer, steps={**TRIANGLE_STEPS, "offset": lambda n_q, n_k: 0},
    cases=triangle_cases, dtype="bool", aspects={FEWER_KEYS: ONLY_MORE_KEYS},
    hints=(
        "Row i belongs to query i, column j to key j. Write down the mask for n_q = 2, n_k = 3 by hand.",
        "np.arange counts positions. With one of them as a column, a comparison makes a table.",
        "np.arange(n_q)[:, None] is a column of query positions; compare it with np.arange(n_k).",
    ),
    mistakes=CAUSAL_MASK_MISTAKES,
)
