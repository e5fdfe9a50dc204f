"""The exercise attention_torch."""

from ...families.attention import ATTENTION_MISTAKES
from ...families.choose import pick
from ...families.torch_attention import (ON_TORCH, TORCH_MISTAKES, TORCH_STEPS, WIDTH_MISTAKES, attention_torch_answer,
    attention_torch_cases)
from ...model import Exercise


EXERCISE = Exercise(
    name="attention_torch", signature="(query, key, value)", place=5,
    text="Scaled dot-product attention on torch tensors of any device and floating dtype, written out: half precision "
         "is computed in float32 inside, and the output has the query's dtype.",
    answer=attention_torch_answer, steps=TORCH_STEPS, cases=attention_torch_cases,
    hints=(
        "The three steps are those of NumPy: scores, softmax, weighted sum. torch says dim where NumPy says axis.",
        "key.mT swaps the last two axes, whatever stands before them; @ treats the others as a batch.",
        "Note the query's dtype first. If it is float16 or bfloat16, turn all three inputs into float32; float64 must "
        "stay float64.",
        "After the softmax over dim=-1 multiply with the values, and only then go back with output.to(dtype), where "
        "dtype is the one noted at the start.",
    ),
    mistakes=(
        *WIDTH_MISTAKES, *TORCH_MISTAKES,
        *pick(ATTENTION_MISTAKES,
              "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)", "sqrt(n_k) instead of sqrt(d_k)",
              "sqrt(n_q) instead of sqrt(d_k)", "1/2 instead of a square root", "d_k read from the first axis",
              "d_k read from the second axis", "d_k fixed in the code", "scale rounded to an integer",
              "square root of the scores", "sqrt(d_v) instead of sqrt(d_k)", "temperature applied",
              "scale after the softmax", "causal mask applied", "K Qᵀ instead of Q Kᵀ", "no transpose",
              "reshape instead of transpose", ".T on a batched array", "elementwise product",
              "cosine instead of dot product", "summed over the batch", "axes counted from the front",
              "distance instead of dot product", "no maximum subtracted", "one maximum for the whole array",
              "minimum subtracted instead of maximum", "mean subtracted instead of maximum",
              "maximum of absolute values", "divided by the maximum", "scores clipped", "maximum without keepdims",
              "maximum over the wrong axis", "no exponential", "absolute values instead of exponentials",
              "squares instead of exponentials", "power of 2 instead of e", "sigmoid instead of softmax",
              "argmax instead of softmax", "sign flipped", "not divided by the sum", "sum over the wrong axis",
              "epsilon in the denominator", "divided by the mean", "divided by the Euclidean length",
              "logarithm of the softmax", "sum without keepdims", "softmax over the queries' axis",
              "softmax over the first axis", "softmax over all axes but the first", "softmax over the second axis",
              "softmax over everything", "softmax after the values", "softmax left out", "softmax of the output",
              "exponential of the sum", "ReLU instead of the exponential", "softmax plus one", "Aᵀ V instead of A V",
              "V A instead of A V", "transposed values", "A * V instead of A @ V", "not summed", "reshaped values",
              "rounded", "weights averaged over the batch", "outputs summed over the batch", "weights ignored",
              "one key left out", "one key alone", "keys shifted by one", "softmax of the weights",
              "divided by the number of features", "output transposed", "summed over the features instead of the keys",
              "summed over the queries instead of the keys", "key and value swapped", "values instead of keys",
              "queries instead of values", "keys instead of values", "scores returned instead of the output",
              "weights returned instead of the output", "values returned instead of the output", "input added")),
    **ON_TORCH,
)
