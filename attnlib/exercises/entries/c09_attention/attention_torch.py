"""The exercise attention_torch."""

from ...families.torch_attention import (ATTENTION_TORCH_MISTAKES, HALF_ASPECTS, TORCH_STEPS, attention_torch_answer,
    attention_torch_cases, calls_own_attention, leaves_torch, stays_on_the_cpu)
from ...families.torch_calls import torch_missing
from ...model import Exercise


EXERCISE = Exercise(
    name="attention_torch", signature="(query, key, value)", place=4,
    axes=dict(query="n_q d_k", key="n_k d_k", value="n_k d_v"), answer_axes="n_q d_v", library="torch",
    text="Scaled dot-product attention on torch tensors of any device and floating dtype, written "
         "out: half precision is computed in float32 inside, and the output has the query's dtype.",
    answer=attention_torch_answer, steps=TORCH_STEPS, cases=attention_torch_cases,
    hints=(
        "The three steps are those of NumPy: scores, softmax, weighted sum. torch says dim where "
        "NumPy says axis.",
        "key.mT swaps the last two axes, whatever stands before them; @ treats the others as a batch.",
        "Note the query's dtype first. If it is float16 or bfloat16, turn all three inputs into "
        "float32; float64 must stay float64.",
        "After the softmax over dim=-1 multiply with the values, and only then go back with "
        "output.to(dtype), where dtype is the one noted at the start.",
    ),
    mistakes=ATTENTION_TORCH_MISTAKES,
    audits=(calls_own_attention, leaves_torch, stays_on_the_cpu), missing=torch_missing,
    seconds=6.0,  # torch takes its time to start on a busy machine
    aspects=HALF_ASPECTS,
)
