"""The exercise attention."""

from ...families.attention import (ATTENTION_AXES, ATTENTION_FITTED, ATTENTION_MISTAKES, ATTENTION_STEPS,
    attention_answer, attention_cases)
from ...families.choose import pick
from ...model import Exercise


EXERCISE = Exercise(
    name="attention", signature="(query, key, value)", place=1, axes=ATTENTION_AXES, answer_axes="n_q d_v",
    text="Scaled dot-product attention, softmax(Q Kᵀ / sqrt(d_k)) V, of shape (..., n_q, d_v).",
    answer=attention_answer, steps=ATTENTION_STEPS, cases=attention_cases, fitted=ATTENTION_FITTED,
    hints=(
        "Three steps, each an exercise of its own: scores, weights, output.",
        "The scores are Q Kᵀ / sqrt(d_k): swap the last two axes of key, and no others.",
        "The weights are the softmax of each row of the scores, over the keys: the last axis, with "
        "that row's maximum subtracted before exp.",
        "The output is weights @ value. With your earlier functions: raw_scores, then softmax, then av_product.",
    ),
    mistakes=pick(
        ATTENTION_MISTAKES,
        "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)", "sqrt(n_k) instead of sqrt(d_k)",
        "sqrt(n_q) instead of sqrt(d_k)", "1/2 instead of a square root", "d_k read from the first axis",
        "d_k read from the second axis", "d_k fixed in the code", "scale rounded to an integer",
        "square root of the scores", "sqrt(d_v) instead of sqrt(d_k)", "temperature applied",
        "scale after the softmax", "causal mask applied", "K Qᵀ instead of Q Kᵀ", "no transpose",
        "reshape instead of transpose", ".T on a batched array", "elementwise product",
        "cosine instead of dot product", "summed over the batch", "features multiplied instead of summed",
        "largest feature instead of the sum", "half of the features", "sum instead of product",
        "smaller entry instead of product", "np.dot on batches", "axes counted from the front",
        "distance instead of dot product", "no maximum subtracted", "one maximum for the whole array",
        "minimum subtracted instead of maximum", "mean subtracted instead of maximum", "maximum of absolute values",
        "divided by the maximum", "scores clipped", "maximum without keepdims", "maximum over the wrong axis",
        "no exponential", "absolute values instead of exponentials", "squares instead of exponentials",
        "power of 2 instead of e", "power of 10 instead of e", "sigmoid instead of softmax",
        "argmax instead of softmax", "sign flipped", "not divided by the sum", "sum over the wrong axis",
        "epsilon in the denominator", "divided by the mean", "sum without keepdims", "softmax over the queries' axis",
        "softmax over the first axis", "softmax over all axes but the first", "softmax over the second axis",
        "softmax over everything", "softmax after the values", "softmax left out", "softmax of the output",
        "exponential of the sum", "ReLU instead of the exponential", "softmax plus one", "Aᵀ V instead of A V",
        "V A instead of A V", "transposed values", "A * V instead of A @ V", "not summed", "reshaped values",
        "rounded", "weights averaged over the batch", "outputs summed over the batch", "weights ignored",
        "every second key left out", "one key left out", "one key alone", "n_q keys instead of n_k",
        "only some of the largest weights", "small weights set to 0", "keys shifted by one", "softmax of the weights",
        "divided by the number of features", "largest product instead of the sum", "median of the values",
        "mean of the values added", "mean of the values subtracted", "minimum of weight and value",
        "weights added to the values", "np.dot of batched weights", "summed over the features instead of the keys",
        "summed over the queries instead of the keys", "key and value swapped", "values instead of keys",
        "queries instead of values", "keys instead of values", "scores returned instead of the output",
        "weights returned instead of the output", "values returned instead of the output", "input added"),
)
