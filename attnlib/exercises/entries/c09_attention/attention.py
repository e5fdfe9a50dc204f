"""The exercise attention."""

from ...families.attention import (ATTENTION_FITTED, ATTENTION_MISTAKES, ATTENTION_STEPS, attention_answer,
    attention_cases)
from ...model import Exercise


EXERCISE = Exercise(
    name="attention", signature="(query, key, value)", place=1,
    axes=dict(query="n_q d_k", key="n_k d_k", value="n_k d_v"), answer_axes="n_q d_v",
    text="Scaled dot-product attention, softmax(Q Kᵀ / sqrt(d_k)) V, of shape (..., n_q, d_v).",
    answer=attention_answer, steps=ATTENTION_STEPS, cases=attention_cases, fitted=ATTENTION_FITTED,
    hints=(
        "Three steps, each an exercise of its own: scores, weights, output.",
        "The scores are Q Kᵀ / sqrt(d_k): swap the last two axes of key, and no others.",
        "The weights are the softmax of each row of the scores, over the keys: the last axis, with "
        "that row's maximum subtracted before exp.",
        "The output is weights @ value. With your earlier functions: raw_scores, then softmax, then av_product.",
    ),
    mistakes=ATTENTION_MISTAKES,
)
