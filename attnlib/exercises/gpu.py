"""The exercises of the part "On the GPU"; torch and Triton are imported when one is checked."""

import numpy as np

from . import raw_scores, softmax
from .av_product import (ATTENTION_SOFTMAX_MISTAKES, ATTENTION_STEPS, AV_MISTAKES, VALUE_MISTAKES,
                         attention_cases, av_product_answer, drop)
from .engine import LEADING, Case, Exercise, Mistake, normal
from .generic import DEVICE

PART = "On the GPU"

HALF = ("float16", "bfloat16")
IN_FLOAT16 = "float16 computed in float32"
IN_BFLOAT16 = "bfloat16 computed in float32"


# ---------------------------------------------------------------- attention_torch

def rounded(array, dtype, only=HALF):
    """The array as half precision holds it; unchanged in any other dtype."""
    if dtype not in only:
        return array
    if dtype == "float16":
        return array.astype(np.float16).astype(np.float64)
    bits = array.astype(np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1) & np.uint32(0xFFFF0000)  # to the nearest, ties to even
    return np.where(np.isfinite(array), bits.view(np.float32), array).astype(np.float64)


def attention_torch_answer(do, query, key, value):
    scores = do.rescale(raw_scores.raw_scores_answer(do, query, key), query, value)
    scores = do.scores_width(scores, do.dtype)
    weights = do.weights_width(softmax.softmax_steps_answer(do, scores, -1), do.dtype)
    output = av_product_answer(do, do.scale_weights(weights, query), do.choose_values(query, key, value))
    return do.answer_out(output, weights, scores)


TORCH_STEPS = {
    **ATTENTION_STEPS,
    "scores_width": lambda scores, dtype: scores,
    "weights_width": lambda weights, dtype: weights,
}


def _in_half(*steps):
    """Variants of a step computed in half precision: in both dtypes, or in one of them alone."""
    return tuple({step: lambda array, dtype, only=only: rounded(array, dtype, only) for step in steps}
                 for only in (HALF, HALF[1:], HALF[:1]))


WIDTH_MISTAKES = (
    Mistake("computed in half precision", change=_in_half("scores_width", "weights_width"),
            does="Half-precision inputs are multiplied and normalised in half precision, in one of "
                 "its two dtypes at least.",
            why="A float16 score above 2048 is a multiple of 2, a bfloat16 one above 256 too: different "
                "scores become equal, and weights that nearly cancel are lost. Kernels compute in "
                "float32 and round once, at the end.",
            ask="Which dtype have your scores if the query is bfloat16?"),
    Mistake("scores in half precision", change=_in_half("scores_width"),
            does="The scores of half-precision inputs are rounded to half precision before the softmax.",
            why="A float16 score above 2048 is a multiple of 2, a bfloat16 one above 256 too: exp turns "
                "that error into a factor. Widening after the product is too late.",
            ask="Which dtype have query and key when they are multiplied?"),
    Mistake("weights in half precision", change=_in_half("weights_width"),
            does="The weights of half-precision inputs are rounded to half precision before they meet "
                 "the values.",
            why="bfloat16 keeps 8 bits: where large values nearly cancel, the error is larger than the "
                "output. Only the output should be rounded.",
            ask="Which dtype have the weights when they are multiplied with the values?"),
)


def _softmax_axis_of_torch(axis, scores):
    return {2: 1, 3: 0, 4: 1}[scores.ndim]


def _only_3d(name):
    def product(query, key_t):
        if query.ndim != 3:
            raise ValueError(f"{name} must be a 3D tensor")
        return query @ key_t

    return product


FRONT_AXES = Mistake(
    "axes counted from the front",
    change=({"transpose": lambda key: np.swapaxes(key, 1, 2)}, {"transpose": lambda key: np.swapaxes(key, 0, 1)},
            {"transpose": lambda key: np.swapaxes(key, 2, 3)}),
    does="The transposition is right for one number of axes, and for no other.",
    why="Leading (batch, head) axes may be none, one or two: transpose(1, 2) is right for three axes "
        "alone. The last two are always -2 and -1.",
    ask="Which indices name the last two axes whatever stands before them?")

TORCH_MISTAKES = (
    FRONT_AXES,
    Mistake("softmax without dim", change={"axis": _softmax_axis_of_torch},
            does="For three axes the weights sum to 1 over the first one.",
            why="Without dim torch guesses the axis: 1 for two or four axes, 0 for three.",
            ask="Along which axis must the weights of one query sum to 1?"),
    Mistake("torch.bmm instead of a batched product",
            change=({"product": _only_3d("batch1")}, {"combine": _only_3d("batch1")},
                    {"product": _only_3d("batch1"), "combine": _only_3d("batch1")}),
            does="The function works for three axes, and stops for any other number.",
            why="torch.bmm takes exactly one batch axis; @ and torch.matmul take any number of them.",
            ask="Which product treats all axes before the last two as a batch?"),
)


def half_cases():
    """Cases on which half precision inside shows, whichever way it is rounded.

    Scores near 8192 whose differences are below the spacing of both dtypes become equal; so do
    scores near 8, small enough for exp. Weights of nearly 1/2 become 1/2. Large opposite values
    then cancel where they should not.
    """
    def near_8192(*leading):
        key = np.zeros((3, 4))
        key[:, 0], key[:, 1] = 128, (0, 4, 7.5)
        query = np.array([[128.0, 1, 0, 0], [128, -1, 0, 0], [128, 0.5, 0, 0], [0, 0.25, 0, 0]])
        value = np.array([[8.0, 1], [0, 3], [2, -5]])
        return tuple(np.tile(array, (*leading, 1, 1)) for array in (query, key, value))

    def two_keys(mean, difference, large):
        key = np.array([[mean, 1.0, 0, 0], [mean, 1, 2 * difference, 0]])
        return np.array([[2.0, 0, 1, 0]]), key, np.array([[-large], [large]])

    cases = [(IN_FLOAT16, near_8192(), "float16"), (IN_FLOAT16, near_8192(2), "float16"),
             (IN_FLOAT16, two_keys(0, 7 * 2.0 ** -15, 2.0 ** 15), "float16"),
             (IN_FLOAT16, two_keys(8, 7 * 2.0 ** -12, 2.0 ** 13), "float16"),
             (IN_BFLOAT16, near_8192(), "bfloat16"), (IN_BFLOAT16, near_8192(2), "bfloat16"),
             (IN_BFLOAT16, two_keys(0, 7 * 2.0 ** -12, 2.0 ** 12), "bfloat16"),
             (IN_BFLOAT16, two_keys(8, 7 * 2.0 ** -8, 2.0 ** 9), "bfloat16")]
    return [Case(aspect, args, torch_dtype=dtype) for aspect, args, dtype in cases]


def bfloat16_case(query_shape, key_shape, d_v):
    """Small numbers that bfloat16 holds exactly."""
    def eighths(*shape, seed):
        return np.clip(np.round(normal(*shape, seed=seed) * 8) / 8, -7, 7)

    return Case("bfloat16", (eighths(*query_shape, seed=41), eighths(*key_shape, seed=42),
                             eighths(*key_shape[:-1], d_v, seed=43)), torch_dtype="bfloat16")


def attention_torch_cases():
    cube = [normal(3, 3, 3, seed=n) for n in (44, 45, 46)]
    return attention_cases() + [Case(LEADING, tuple(cube)), bfloat16_case((2, 3, 5), (2, 7, 5), 11), *half_cases()]


# ---------------------------------------------------------------- what values cannot show

OWN_ATTENTION = Mistake(
    "torch's own attention called",
    does="The answer comes from scaled_dot_product_attention or a module that calls it.",
    why="That is the function which this exercise takes apart: scores, softmax and weighted sum are "
        "to be written out.",
    ask="Which three steps does that call stand for?")

DEVICE_INSIDE = Mistake(
    DEVICE.name,
    does="A tensor that the function makes is on the CPU, on whatever device the inputs are.",
    why="Tensors on two devices do not combine: on a GPU the function stops, or its answer has to be copied.",
    ask=DEVICE.ask)


def calls_own_attention(run):
    """The Mistake if torch's attention is called, by whichever of its names."""
    import torch
    from torch.overrides import TorchFunctionMode

    called = []

    class Listen(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            called.append(getattr(function, "__name__", ""))
            return function(*args, **(kwargs or {}))

    with Listen():
        outcome = run(*(torch.from_numpy(normal(2, 5, 16, seed=n)) for n in (51, 52, 53)))
    own = any("scaled_dot_product" in name or "multi_head_attention" in name for name in called)
    return OWN_ATTENTION if own or (outcome.failure and "flex_attention" in outcome.failure.text) else None


def stays_on_the_cpu(run):
    """The Mistake if tensors made inside are not on the inputs' device, tried on the device "meta".

    Meta tensors have shapes and no numbers. A function that reads numbers fails on them; that
    tells nothing, and neither does its failure.
    """
    import torch

    outcome = run(*(torch.empty(2, n, 16, device="meta") for n in (5, 7, 7)))
    mixed = outcome.failure and "expected device" in outcome.failure.text
    return DEVICE_INSIDE if outcome.answer or mixed else None


attention_torch = Exercise(
    name="attention_torch", signature="(query, key, value)", part=PART, library="torch",
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
    mistakes=(
        *raw_scores.SCALE_MISTAKES,
        *drop(raw_scores.PRODUCT_MISTAKES, "summed over positions instead of features", "np.dot on batches"),
        *ATTENTION_SOFTMAX_MISTAKES,
        *drop(AV_MISTAKES, "weights normalised again", "divided by the number of keys",
              "only the best key's value", "np.dot on batches"),
        *VALUE_MISTAKES, *WIDTH_MISTAKES, *TORCH_MISTAKES,
    ),
    audits=(calls_own_attention, stays_on_the_cpu),
    aspects={IN_FLOAT16: WIDTH_MISTAKES[0], IN_BFLOAT16: WIDTH_MISTAKES[0]},
)

EXERCISES = (attention_torch,)
