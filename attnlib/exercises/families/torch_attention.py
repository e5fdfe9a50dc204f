"""Attention on torch tensors: dtypes, devices, and what goes wrong with them."""

from types import SimpleNamespace

import numpy as np

from ..model import LEADING, Case, Mistake, alike, normal
from .attention import ATTENTION_AXES, ATTENTION_STEPS, attention_answer, attention_cases
from .torch_calls import Listener, torch_missing


HALF = ("float16", "bfloat16")

BFLOAT16 = "bfloat16"

IN_FLOAT16 = "float16 computed in float32"

IN_BFLOAT16 = "bfloat16 computed in float32"


def rounded(array, dtype, only=HALF):
    """The array as half precision holds it; unchanged in any other dtype."""
    if dtype not in only:
        return array
    if dtype == "float16":
        return array.astype(np.float16).astype(np.float64)
    bits = array.astype(np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1) & np.uint32(0xFFFF0000)  # to the nearest, ties to even
    return np.where(np.isfinite(array), bits.view(np.float32), array).astype(np.float64)


def hooked(do, **hooks):
    """The steps, with some of them replaced."""
    return SimpleNamespace(**{**vars(do), **hooks})


def attention_torch_answer(do, query, key, value):
    return attention_answer(hooked(
        do, finish_scores=lambda scores: do.scores_width(do.finish_scores(scores), do.dtype),
        weights_out=lambda weights: do.weights_width(do.weights_out(weights), do.dtype),
    ), query, key, value)


TORCH_STEPS = {
    **ATTENTION_STEPS,
    "scores_width": lambda scores, dtype: scores,
    "weights_width": lambda weights, dtype: weights,
}


def _in_half(*steps):
    """Variants of a step computed in half precision: in both dtypes, or in one of them alone."""
    return tuple({step: lambda array, dtype, only=only: rounded(array, dtype, only) for step in steps}
                 for only in (HALF, HALF[1:], HALF[:1]))


WIDTH_MISTAKES = alike(
    "A float16 score above 2048 is a multiple of 2, a bfloat16 one above 256 too: different scores become equal, and "
    "where large values nearly cancel, rounded weights give an error larger than the output. So here everything is to "
    "be computed in float32, and the output rounded once, at the end.",
    "Which dtype have your scores, and which your weights, if the query is bfloat16?",
    ("computed in half precision", _in_half("scores_width", "weights_width"),
     "Half-precision inputs are multiplied and normalised in half precision, in one of its two dtypes at least."),
    ("scores in half precision", _in_half("scores_width"),
     "The scores of half-precision inputs are rounded to half precision before the softmax: widening them then is too "
     "late."),
    ("weights in half precision", _in_half("weights_width"),
     "The weights of half-precision inputs are rounded to half precision before they meet the values."))

HALF_ASPECTS = {
    BFLOAT16: None,
    IN_FLOAT16: WIDTH_MISTAKES[0],
    IN_BFLOAT16: Mistake(
        "bfloat16 not handled",
        does="The function is right for other dtypes, and not for bfloat16.",
        why="Models are kept in bfloat16, which NumPy does not know: such tensors stay in torch, and are "
            "computed in float32.",
        ask="Which of your lines names dtypes, or leaves torch?"),
}


def _only_3d(name):
    def product(query, key_t):
        if query.ndim != 3:
            raise ValueError(f"{name} must be a 3D tensor")
        return query @ key_t

    return product


TORCH_MISTAKES = (
    Mistake("softmax without dim", change={"axis": lambda axis, scores: {2: 1, 3: 0, 4: 1}[scores.ndim]},
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
        query = np.array([[0.0, -40, 0, 0], [0, -40, 0, 0], [2, 0, 1, 0]])
        key = np.array([[-20, 0, 0, 0], [mean, 1, 0, 0], [mean, 1, 2 * difference, 0]])
        return query, key, np.array([[64], [-large], [large]])  # the first two queries see the first key alone

    cases = [(IN_FLOAT16, near_8192(), "float16"), (LEADING, near_8192(2), "float16"),
             (IN_FLOAT16, two_keys(0, 7 * 2.0 ** -15, 2.0 ** 15), "float16"),
             (IN_FLOAT16, two_keys(8, 7 * 2.0 ** -12, 2.0 ** 13), "float16"),
             (IN_BFLOAT16, near_8192(), "bfloat16"), (LEADING, near_8192(2), "bfloat16"),
             (IN_BFLOAT16, two_keys(0, 7 * 2.0 ** -12, 2.0 ** 12), "bfloat16"),
             (IN_BFLOAT16, two_keys(8, 7 * 2.0 ** -8, 2.0 ** 9), "bfloat16")]
    return [Case(aspect, args, torch_dtype=dtype) for aspect, args, dtype in cases]


def bfloat16_case(query_shape, key_shape, d_v):
    """Small numbers that bfloat16 holds exactly."""
    shapes = query_shape, key_shape, (*key_shape[:-1], d_v)
    eighths = (np.clip(np.round(normal(*shape, seed=41 + i) * 8) / 8, -7, 7) for i, shape in enumerate(shapes))
    return Case(BFLOAT16, tuple(eighths), torch_dtype="bfloat16")


def attention_torch_cases():
    return attention_cases() + [bfloat16_case((3, 5), (7, 5), 11), *half_cases()]


OWN_ATTENTION = Mistake(
    "torch's own attention called",
    does="The answer comes from scaled_dot_product_attention or a module that calls it.",
    why="That is the function which this exercise takes apart: scores, softmax and weighted sum are "
        "to be written out.",
    ask="Which three steps does that call stand for?")

DEVICE_INSIDE = Mistake(
    "other device",
    does="A tensor that the function makes is on the CPU, on whatever device the inputs are.",
    why="Tensors on two devices do not combine: on a GPU the function stops, or its answer has to be copied.",
    ask="Which tensor did you create without saying on which device?")

NUMPY_INSIDE = Mistake(
    "NumPy in between",
    does="The function turns a tensor into a NumPy array on its way.",
    why="NumPy knows neither a GPU nor bfloat16: there .numpy() and np.asarray stop with an error.",
    ask="Which torch function does what your NumPy function does?")

OWN_NAMES = ("scaled_dot_product", "multi_head_attention", "flex_attention")


def heard(run):
    import torch

    return Listener().hear(run, *(torch.from_numpy(normal(2, n, 16, seed=n)) for n in (5, 7, 7)))


def calls_own_attention(run):
    """The Mistake if torch's attention is called, by whichever of its names."""
    return OWN_ATTENTION if heard(run).heard(*OWN_NAMES) else None


def leaves_torch(run):
    """The Mistake if a tensor that may be on a GPU is read by NumPy."""
    return NUMPY_INSIDE if heard(run).numpy_met else None


def stays_on_the_cpu(run):
    """The Mistake if a tensor made inside is not on the inputs' device."""
    return DEVICE_INSIDE if heard(run).two_devices else None


# what the exercises on attention of torch tensors have in common, whatever the mask
ON_TORCH = dict(
    axes=ATTENTION_AXES, answer_axes="n_q d_v", library="torch", missing=torch_missing, aspects=HALF_ASPECTS,
    audits=(calls_own_attention, leaves_torch, stays_on_the_cpu),
    seconds=6.0,  # torch takes its time to start on a busy machine
)
