"""The exercises of the part "On the GPU"; torch and Triton are imported when one is checked."""

import dataclasses
import operator
from types import SimpleNamespace

import numpy as np

from . import raw_scores
from .av_product import (ATTENTION_STEPS, MASKING_MISTAKES, attention, attention_answer, attention_cases,
                         pick)
from .model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, each, normal
from .engine.generic import DEVICE
from .families.torch_calls import Listener, torch_missing

PART = "On the GPU"

HALF = ("float16", "bfloat16")
BFLOAT16 = "bfloat16"
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


def without(mistakes, *names):
    """The mistakes that do not have these names."""
    return tuple(mistake for mistake in mistakes if mistake.name not in names)


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


def _softmax_axis_of_torch(axis, scores):
    return {2: 1, 3: 0, 4: 1}[scores.ndim]


def _only_3d(name):
    def product(query, key_t):
        if query.ndim != 3:
            raise ValueError(f"{name} must be a 3D tensor")
        return query @ key_t

    return product


TORCH_MISTAKES = (
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
    def eighths(*shape, seed):
        return np.clip(np.round(normal(*shape, seed=seed) * 8) / 8, -7, 7)

    return Case(BFLOAT16, (eighths(*query_shape, seed=41), eighths(*key_shape, seed=42),
                             eighths(*key_shape[:-1], d_v, seed=43)), torch_dtype="bfloat16")


def attention_torch_cases():
    return attention_cases() + [bfloat16_case((3, 5), (7, 5), 11), *half_cases()]


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


NUMPY_INSIDE = Mistake(
    "NumPy in between",
    does="The function turns a tensor into a NumPy array on its way.",
    why="NumPy knows neither a GPU nor bfloat16: there .numpy() and np.asarray stop with an error.",
    ask="Which torch function does what your NumPy function does?")


OWN_NAMES = ("scaled_dot_product", "multi_head_attention", "flex_attention")


def _heard(run):
    import torch

    return Listener().hear(run, *(torch.from_numpy(normal(2, n, 16, seed=n)) for n in (5, 7, 7)))


def calls_own_attention(run):
    """The Mistake if torch's attention is called, by whichever of its names."""
    return OWN_ATTENTION if _heard(run).heard(*OWN_NAMES) else None


def leaves_torch(run):
    """The Mistake if a tensor that may be on a GPU is read by NumPy."""
    return NUMPY_INSIDE if _heard(run).numpy_met else None


def stays_on_the_cpu(run):
    """The Mistake if a tensor made inside is not on the inputs' device."""
    return DEVICE_INSIDE if _heard(run).two_devices else None


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
    mistakes=(*without(attention.mistakes, "np.dot on batches", "np.dot of batched weights"),
              *WIDTH_MISTAKES, *TORCH_MISTAKES),
    audits=(calls_own_attention, leaves_torch, stays_on_the_cpu), missing=torch_missing,
    seconds=6.0,  # torch takes its time to start on a busy machine
    aspects=HALF_ASPECTS,
)


# ---------------------------------------------------------------- attention_torch_causal

def attention_torch_causal_answer(do, query, key, value):
    seen = {}

    def hide(scores):
        seen["mask"] = do.sense(raw_scores.aligned_mask_answer(hooked(do, sense=lambda mask: mask), *scores.shape[-2:]))
        return do.fill(do.finish_scores(scores), seen["mask"], do.dtype)

    return attention_torch_answer(hooked(
        do, finish_scores=hide,
        exponential=lambda shifted, axis: do.mask_powers(do.exponential(shifted, axis), seen["mask"]),
        weights_out=lambda weights: do.mask_weights(do.weights_out(weights), seen["mask"]),
    ), query, key, value)


CAUSAL_STEPS = {
    **TORCH_STEPS, **raw_scores.TRIANGLE_STEPS, "offset": lambda n_q, n_k: 0,
    "fill": raw_scores.fill_with(-np.inf),
    "mask_powers": lambda powers, mask: powers,
    "mask_weights": lambda weights, mask: weights,
}


def _no_fill(scores, mask, dtype):
    return scores


def _only_allowed(array, mask):
    return np.where(mask, array, 0.0)


def with_dead_rows(mistake):
    """The mistake with each of the things that rows without any key become: NaN, equal weights, zeros."""
    return dataclasses.replace(mistake, change=tuple(
        {**change, **more} for change in mistake.variants for more in (
            {}, {"fill": raw_scores.fill_with(-1e9)}, {"mask_weights": lambda weights, mask: np.nan_to_num(weights)})))


def causal_form(mistakes, name, *changes):
    """A mistake of these, with the changes that it takes under a causal mask."""
    (mistake,) = pick(mistakes, name)
    return dataclasses.replace(mistake, change=changes or mistake.change)


def _window(width):
    return {"compare": lambda key, query: (key <= query) & (key > query - width)}


CAUSAL_MISTAKES = (
    Mistake("mask ignored", change={"fill": _no_fill},
            does="Every query sees every key.",
            why="Causal means that query i sees the keys 0 to i, and nothing after them.",
            ask="Which keys must query 0 not see?"),
    *map(with_dead_rows, pick(raw_scores.causal_mask.mistakes, "mask inverted", "diagonal excluded",
                              "the future instead of the past", "aligned at the bottom right")),
    *pick(raw_scores.TRIANGLE_MISTAKES, "one key too many", "n_q and n_k swapped", "square mask"),
    Mistake("masked scores set to 0", change={"fill": raw_scores.fill_with(0.0)},
            does="Scores of later keys are 0, as torch.tril of the scores or a product with the mask makes them.",
            why="exp(0) is 1: a later key keeps a weight, more than one with a negative score.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("a window of keys", change=tuple(map(_window, (2, 3))), numbers=each(_window, lambda n: n in range(4, 20)),
            does="Each query sees its own position and a few before it, and no earlier key.",
            why="Causal means all keys up to the query's own position; a window is a mask of its own.",
            ask="Which keys may the last query see?"),
    Mistake("the first key hidden", change=({"compare": lambda key, query: (key <= query) & ((key > 0) | (query == 0))},
                                            {"compare": lambda key, query: (key <= query) & (key > 0)}),
            does="Later queries do not see key 0.",
            why="Query i sees the keys 0 to i, the first one too.",
            ask="Where does your mask begin?"),
    Mistake("diagonal excluded but for the first row", change={"compare": lambda key, query: key < np.maximum(query, 1)},
            does="Query 0 sees key 0; any other query sees the keys before its own position, and not that one.",
            why="A position attends to itself too: j <= i. Then no row is empty, and none needs an exception.",
            ask="Which keys may query 1 see?"),
    causal_form(MASKING_MISTAKES, "mask added", {"fill": lambda scores, mask, dtype: scores + mask}),
    causal_form(MASKING_MISTAKES, "+inf instead of -inf", {"fill": raw_scores.fill_with(np.inf)}),
    Mistake("0 times infinity",
            change={"answer": lambda query, key, value: np.full((*query.shape[:-1], value.shape[-1]), np.nan)},
            does="Every query gets NaN.",
            why="0 * inf is NaN: a mask times infinity does not leave allowed scores alone.",
            ask="What is 0 * inf, and how can the mask choose instead of multiply?"),
    Mistake("large negative number instead of -inf",
            change=tuple({"fill": raw_scores.fill_with(value)} for value in (-1e4, -9999.0, -1e3, -100.0)),
            numbers=each(lambda value: {"fill": raw_scores.fill_with(value)}, lambda value: value < 0),
            does="Scores of later keys are a number such as -10000, which is not below every score.",
            why="Scores may be as low themselves; then later keys get a weight. Only -inf is below every score.",
            ask="What are the weights of query 0 if its only allowed score is -10000 too?"),
    Mistake("large negative number added",
            change=tuple({"fill": lambda scores, mask, dtype, value=value: scores + np.where(mask, 0.0, value)}
                         for value in (-1e4, -1e3, -100.0)),
            numbers=each(lambda value: {"fill": lambda scores, mask, dtype: scores + np.where(mask, 0.0, -abs(value))},
                         lambda value: abs(value) >= 1),
            does="Scores of later keys are lowered by a number such as 10000.",
            why="A later key's score may lie higher above the allowed ones than that. Only -inf is below "
                "every score.",
            ask="What is left of a score of 10000 if 10000 is subtracted, and is it below -10000?"),
    causal_form(MASKING_MISTAKES, "positive number instead of -inf",
                *({"fill": raw_scores.fill_with(value)} for value in (1e9, 1e4, 1.0, 1e-9))),
    causal_form(MASKING_MISTAKES, "the lowest score instead of -inf",
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min())},
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=-1, keepdims=True))}),
    causal_form(MASKING_MISTAKES, "mask after the softmax", {"fill": _no_fill, "mask_weights": _only_allowed}),
    causal_form(MASKING_MISTAKES, "masked keys in the maximum", {"fill": _no_fill, "mask_powers": _only_allowed}),
)


def attention_torch_causal_cases():
    def huge(query, key):
        value = np.arange(1.0, len(key) + 1)
        return Case(HUGE, tuple(np.array(array, float)[:, None] for array in (query, key, value)), True)

    return attention_torch_cases() + [huge([-100, -100, 100], [100, 99, -100]), huge([-100, 0, 100], [99, 100, 98]),
                                      huge([100, 1, -100], [-100, 100, 50]), huge([0, 0, -1000], [1, 1.01, 1.02]),
                                      huge([0] * 10 + [1000], [1] * 10 + [0]), huge([1000, 0], [1])]


attention_torch_causal = Exercise(
    name="attention_torch_causal", signature="(query, key, value)", part=PART, library="torch",
    text="The same as attention_torch under a causal mask, aligned at the top left: query i sees the "
         "keys 0 to i.",
    answer=attention_torch_causal_answer, steps=CAUSAL_STEPS, cases=attention_torch_causal_cases,
    hints=(
        "It is attention_torch with one more step. Between which two of its steps does the mask belong?",
        "torch.ones(n_q, n_k, dtype=torch.bool).tril() is True where key j <= query i. On which device "
        "must it be made?",
        "Before the softmax a score becomes -inf where the mask is False: torch.where chooses entry by "
        "entry, masked_fill fills where its mask is True.",
        "With mask = torch.ones(n_q, n_k, dtype=torch.bool, device=query.device).tril(), the scores "
        "are torch.where(mask, scores, -torch.inf); softmax, values and dtype as before.",
    ),
    mistakes=(*without(attention_torch.mistakes, "causal mask applied"), *CAUSAL_MISTAKES),
    audits=(calls_own_attention, leaves_torch, stays_on_the_cpu), missing=torch_missing,
    seconds=6.0,  # torch takes its time to start on a busy machine
    aspects=HALF_ASPECTS,
)


# ---------------------------------------------------------------- counting: flops, bytes, seconds

def attention_flops_answer(do, n_q, n_k, d_k, d_v):
    sizes = do.sizes(n_q, n_k, d_k, d_v)
    first, second = do.first(*sizes), do.second(*sizes)
    return do.unit(do.multiply_add(do.join(first, second)) + do.extra(*sizes))


def _number_cases(*all_args):
    return [Case(PLAIN, args) for args in all_args]


def _flops_cases():
    return _number_cases((2, 3, 5, 7), (1, 1, 1, 1), (13, 11, 5, 3), (1, 4096, 128, 64), (31, 17, 64, 61)) + [
        Case(SQUARE, (4096, 4096, 128, 128)), Case(SQUARE, (3, 3, 2, 2))]


UNIT_NAMES = "another unit"


def _units(*factors):
    return tuple({"unit": lambda count, factor=factor: count * factor} for factor in factors)


attention_flops = Exercise(
    name="attention_flops", signature="(n_q, n_k, d_k, d_v)", part=PART,
    text="The floating-point operations of the two matrix products of attention, a multiply-add "
         "counted as 2.",
    answer=attention_flops_answer,
    steps={
        "sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_k, d_v),
        "first": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k,
        "second": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_v,
        "join": lambda first, second: first + second,
        "multiply_add": lambda count: 2 * count,
        "extra": lambda n_q, n_k, d_k, d_v: 0,
        "unit": lambda count: count,
    },
    cases=_flops_cases, dtype="number",
    formula=("Attention has two matrix products, and one of (n, m) and (m, p) takes n * m * p multiply-adds, each of two operations.",
             "Which sizes does each of the two products have?"),
    hints=(
        "How many entries have the scores, and how many multiply-adds does one entry take?",
        "The scores have n_q * n_k entries, each a sum of d_k products. The output has n_q * d_v "
        "entries; of how many products is each the sum?",
        "Q Kᵀ takes n_q * n_k * d_k multiply-adds, A V takes n_q * n_k * d_v. Add the two, and count "
        "each multiply-add as 2.",
    ),
    mistakes=(
        Mistake("multiply-add counted as 1", change={"multiply_add": lambda count: count},
                does="The answer is half the number of operations.",
                why="Peak figures count a multiplication and an addition as two operations; a count in "
                    "multiply-adds makes a kernel look half as fast as it is.",
                ask="How many operations is one step total = total + a * b?"),
        Mistake("multiply-add counted as 4", change={"multiply_add": lambda count: 4 * count},
                does="The answer is twice the number of operations.",
                why="4 n² d holds for both products together if d_k = d_v; each of them alone takes 2 n² d.",
                ask="Where does the second 2 in 4 n² d come from?"),
        Mistake("A V left out", change={"join": lambda first, second: first},
                does="Only the scores are counted.",
                why="Attention has two matrix products; the second takes about as long as the first.",
                ask="What happens to the weights after the softmax?"),
        Mistake("Q Kᵀ left out", change={"join": lambda first, second: second},
                does="Only the product with the values is counted.",
                why="Attention has two matrix products; the scores are the first.",
                ask="Where do the weights come from, before the softmax?"),
        Mistake("products multiplied", change={"join": lambda first, second: first * second},
                does="The two counts are multiplied.",
                why="One product runs after the other: their operations add.",
                ask="How much work are two jobs done one after the other?"),
        *(Mistake(f"{name} for {other}", change=change,
                  does="Both products are counted with the same size of feature.",
                  why="The scores sum over d_k features, the output has d_v of them: they may differ.",
                  ask="Which of the two sizes does each product have?")
          for name, other, change in (
              ("d_k", "d_v", {"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_k, d_k)}),
              ("d_v", "d_k", {"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_v, d_v)}))),
        *(Mistake(f"{name} for {other}", change=change,
                  does="As many keys are counted as queries, in one product or in both.",
                  why="In decoding one query meets thousands of keys: the scores are not square.",
                  ask="What is the scores' shape?")
          for name, other, change in (
              ("n_q", "n_k", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_q, d_k, d_v)},
                              {"second": lambda n_q, n_k, d_k, d_v: n_q * n_q * d_v},
                              {"first": lambda n_q, n_k, d_k, d_v: n_q * n_q * d_k})),
              ("n_k", "n_q", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_k, n_k, d_k, d_v)},
                              {"second": lambda n_q, n_k, d_k, d_v: n_k * n_k * d_v},
                              {"first": lambda n_q, n_k, d_k, d_v: n_k * n_k * d_k})))),
        Mistake("d_k times d_v", change={"join": lambda first, second: first, "first": lambda n_q, n_k, d_k, d_v: (
                    n_q * n_k * d_k * d_v)},
                does="The two sizes of feature are multiplied.",
                why="The products run one after the other: n_q * n_k * d_k multiply-adds, and then n_q * n_k * d_v.",
                ask="Does one entry of the scores depend on d_v?"),
        Mistake("multiply-adds of one product counted as 1",
                change=({"join": lambda first, second: first + second / 2}, {"join": lambda first, second: first / 2 + second}),
                does="The factor 2 stands before one product, and not before the other.",
                why="Both products are made of multiply-adds, and each is two operations.",
                ask="Where do brackets belong in 2 * a + b?"),
        Mistake("n_q plus n_k",
                change={"first": lambda n_q, n_k, d_k, d_v: (n_q + n_k) * d_k,
                        "second": lambda n_q, n_k, d_k, d_v: (n_q + n_k) * d_v},
                does="The answer is 2 (n_q + n_k) (d_k + d_v), twice the number of entries of query, key, value and output; "
                     "queries and keys are added.",
                why="Operations are asked for, not numbers or bytes to be moved. Every query meets every key: there are "
                    "n_q * n_k scores.",
                ask="How many scores do 2 queries and 3 keys have?"),
        Mistake("brackets missing around d_k + d_v", change={"second": lambda n_q, n_k, d_k, d_v: d_v / 2},
                does="d_v is added at the end, and multiplied by nothing.",
                why="In Python a * b + c is (a * b) + c: the product binds first.",
                ask="Where do brackets belong?"),
        Mistake("softmax counted", change=tuple(
                    {"extra": lambda n_q, n_k, d_k, d_v, c=c: c * n_q * n_k} for c in range(1, 9)) + (
                    {"extra": lambda n_q, n_k, d_k, d_v: n_q * (3 * n_k - 1)},
                    {"extra": lambda n_q, n_k, d_k, d_v: n_q * (4 * n_k - 1)}),
                does="The answer has a few operations more for each score: scale or softmax.",
                why="The usual count holds the two matrix products alone; the softmax runs on other "
                    "units of the machine.",
                ask="Which operations of attention are matrix products?"),
        Mistake("last addition not counted",
                change={"extra": lambda n_q, n_k, d_k, d_v: -n_q * n_k - n_q * d_v},
                does="Each dot product of length d is counted as 2 d - 1 operations.",
                why="That is exact by hand, but hardware adds to a total that starts at 0: d "
                    "multiply-adds, each counted as 2.",
                ask="How many multiply-adds does a dot product of length d take?"),
        Mistake("Kᵀ V first",
                change={"first": lambda n_q, n_k, d_k, d_v: n_k * d_k * d_v,
                        "second": lambda n_q, n_k, d_k, d_v: n_q * d_k * d_v},
                does="The count is that of Q (Kᵀ V), which never makes the scores.",
                why="The softmax stands between the two products, so they cannot change places.",
                ask="What has to be known before the values can be mixed?"),
        Mistake("sizes of the arrays instead of operations",
                change={"first": lambda n_q, n_k, d_k, d_v: n_q * d_k + n_k * d_k,
                        "second": lambda n_q, n_k, d_k, d_v: n_q * n_k + n_k * d_v},
                does="The numbers that go into the products are counted.",
                why="Each number is used many times: a product of (n, d) and (d, m) takes n * d * m "
                    "multiply-adds.",
                ask="How often is one entry of the query used?"),
        Mistake("backward pass counted",
                change=tuple({"multiply_add": lambda count, f=f: f * count} for f in (5, 6, 7)),
                does="The answer is 2.5 to 3.5 times the forward pass.",
                why="The backward pass has five products and the forward pass two; only these are asked for.",
                ask="Which two products does the forward pass have?"),
        Mistake(UNIT_NAMES, change=_units(1e-3, 1e-6, 1e-9, 1e-12),
                does="The answer is a thousand, a million or more times too small.",
                why="Operations are asked for, not billions of them.",
                ask="Where does your function divide by a power of 10?"),
    ),
)


def attention_bytes_answer(do, n_q, n_k, d_k, d_v, itemsize):
    sizes = do.sizes(n_q, n_k, d_k, d_v)
    count = do.query(*sizes) + do.key(*sizes) + do.value(*sizes) + do.output(*sizes) + do.extra(*sizes)
    return do.unit(count * do.itemsize(itemsize))


def _bytes_cases():
    return _number_cases((2, 3, 5, 7, 4), (1, 1, 1, 1, 8), (13, 11, 5, 3, 2), (1, 4096, 128, 64, 2),
                         (31, 17, 64, 61, 4), (3, 2, 5, 7, 1)) + [
        Case(SQUARE, (4096, 4096, 128, 128, 2)), Case(SQUARE, (3, 3, 2, 2, 4))]


attention_bytes = Exercise(
    name="attention_bytes", signature="(n_q, n_k, d_k, d_v, itemsize)", part=PART,
    text="The bytes that a fused attention kernel must move: queries, keys and values read once, the "
         "output written once.",
    answer=attention_bytes_answer,
    steps={
        "sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_k, d_v),
        "query": lambda n_q, n_k, d_k, d_v: n_q * d_k,
        "key": lambda n_q, n_k, d_k, d_v: n_k * d_k,
        "value": lambda n_q, n_k, d_k, d_v: n_k * d_v,
        "output": lambda n_q, n_k, d_k, d_v: n_q * d_v,
        "extra": lambda n_q, n_k, d_k, d_v: 0,
        "itemsize": lambda itemsize: itemsize,
        "unit": lambda count: count,
    },
    cases=_bytes_cases, dtype="number",
    formula=("Four arrays travel, each once: as many numbers as it has entries, each of itemsize bytes.",
             "How many entries does each of the four arrays have?"),
    hints=(
        "Which arrays must a kernel read from memory at least once, and which must it write?",
        "Count the entries of the queries, keys, values and output; their shapes have n_q or n_k "
        "rows and d_k or d_v columns.",
        "The scores stay on the chip. Add n_q * d_k, n_k * d_k, n_k * d_v and n_q * d_v, and multiply "
        "by the bytes of one number.",
    ),
    mistakes=(
        Mistake("scores counted", change=tuple(
                    {"extra": lambda n_q, n_k, d_k, d_v, c=c: c * n_q * n_k} for c in (1, 2, 3, 4, 5, 6)),
                does="The scores or the weights are counted as moved to memory or back.",
                why="A fused kernel keeps them on the chip. That is what makes it fast: n_q * n_k "
                    "numbers never travel.",
                ask="Which arrays does the caller hand over, and which come back?"),
        Mistake("output left out", change={"output": lambda n_q, n_k, d_k, d_v: 0},
                does="Only what is read is counted.",
                why="Writing the output takes as much bandwidth as reading the same number of bytes.",
                ask="What does the kernel have to leave in memory?"),
        Mistake("query left out", change={"query": lambda n_q, n_k, d_k, d_v: 0},
                does="The queries are not counted.",
                why="They have to be read once as well.",
                ask="Which three arrays does the kernel read?"),
        Mistake("key left out", change={"key": lambda n_q, n_k, d_k, d_v: 0},
                does="The keys are not counted.",
                why="They have to be read once as well.",
                ask="Which three arrays does the kernel read?"),
        Mistake("value left out", change={"value": lambda n_q, n_k, d_k, d_v: 0},
                does="The values are not counted.",
                why="They have to be read once as well.",
                ask="Which three arrays does the kernel read?"),
        Mistake("itemsize ignored", change=tuple({"itemsize": lambda size, b=b: b} for b in (1, 2, 4, 8)),
                does="The answer does not depend on the bytes of one number.",
                why="A float32 takes four bytes, a bfloat16 two: half the width, half the traffic.",
                ask="Where does your function use its parameter itemsize?"),
        Mistake("bits instead of bytes",
                change=({"itemsize": lambda size: 8 * size}, {"itemsize": lambda size: size / 8}),
                does="The answer is 8 times too large or too small.",
                why="itemsize is in bytes already, and bytes are asked for.",
                ask="How many bytes does a float32 take, and what is itemsize for it?"),
        *(Mistake(f"{name} for {other}", change=change,
                  does=f"An array is counted with {name} {lines} that has {other}.",
                  why=why, ask=f"How many {lines} does each of the four arrays have?")
          for lines, why, mixed in (
              ("columns", "Queries and keys have d_k features, values and output d_v.", (
                  ("d_k", "d_v", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_k, d_k)},
                                  {"output": lambda n_q, n_k, d_k, d_v: n_q * d_k},
                                  {"value": lambda n_q, n_k, d_k, d_v: n_k * d_k})),
                  ("d_v", "d_k", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_v, d_v)},
                                  {"query": lambda n_q, n_k, d_k, d_v: n_q * d_v},
                                  {"key": lambda n_q, n_k, d_k, d_v: n_k * d_v})))),
              ("rows", "Queries and output have n_q rows, keys and values n_k.", (
                  ("n_q", "n_k", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_q, d_k, d_v)},
                                  {"value": lambda n_q, n_k, d_k, d_v: n_q * d_v},
                                  {"key": lambda n_q, n_k, d_k, d_v: n_q * d_k})),
                  ("n_k", "n_q", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_k, n_k, d_k, d_v)},
                                  {"output": lambda n_q, n_k, d_k, d_v: n_k * d_v},
                                  {"query": lambda n_q, n_k, d_k, d_v: n_k * d_k})))))
          for name, other, change in mixed),
        Mistake("read once for each query",
                change={"key": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k,
                        "value": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_v},
                does="Keys and values are counted as read again for every query.",
                why="The least is asked for: a kernel that holds all queries on the chip reads each key once.",
                ask="How often must a key be read if all queries are there when it comes?"),
        Mistake("everything counted twice", change={"unit": lambda count: 2 * count},
                does="The answer is twice the number of bytes.",
                why="Each array is either read or written, and that once.",
                ask="Which array is both read and written?"),
        Mistake("output counted twice", change={"output": lambda n_q, n_k, d_k, d_v: 2 * n_q * d_v},
                does="The output is counted as read and written.",
                why="A fused kernel keeps its unfinished output on the chip, and writes it once.",
                ask="Where does the output stand while the keys go by?"),
        Mistake("operations instead of bytes",
                change={"query": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k,
                        "key": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_v,
                        "value": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k,
                        "output": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_v, "itemsize": lambda size: 1},
                does="The answer is the number of operations.",
                why="An array of n rows and d columns takes n * d numbers, however often each is used.",
                ask="How many numbers does the query array hold?"),
        Mistake(UNIT_NAMES, change=_units(1e-3, 1e-6, 1e-9, 1 / 1024, 1 / 1024 ** 2, 1 / 1024 ** 3),
                does="The answer is a thousand, a million or more times too small.",
                why="Bytes are asked for, not kilobytes or gigabytes.",
                ask="Where does your function divide by a power of 10 or of 1024?"),
    ),
)


def roofline_answer(do, flops, bytes_moved, peak_flops, bandwidth):
    peak_flops, bandwidth = do.limits(peak_flops, bandwidth)
    compute, memory = do.compute(flops, peak_flops), do.memory(bytes_moved, bandwidth)
    return do.unit(do.join(compute, memory))


def _roofline_cases():
    return _number_cases((12.0, 2.0, 3.0, 1.0), (6.0, 10.0, 3.0, 2.0), (7e9, 3e9, 2e12, 5e11),
                         (4e12, 1.1e9, 9e14, 3.3e12), (2e6, 6.7e7, 9e14, 3.3e12), (5.0, 3.0, 7.0, 11.0),
                         (100.0, 7.0, 3.0, 13.0)) + [
        Case("both limits equal", (6.0, 4.0, 3.0, 2.0))]


roofline_seconds = Exercise(
    name="roofline_seconds", signature="(flops, bytes_moved, peak_flops, bandwidth)", part=PART,
    text="The least time that the arithmetic (peak_flops operations a second) and the memory "
         "(bandwidth bytes a second) allow for this much work.",
    answer=roofline_answer,
    steps={
        "limits": lambda peak_flops, bandwidth: (peak_flops, bandwidth),
        "compute": lambda flops, peak: flops / peak,
        "memory": lambda count, bandwidth: count / bandwidth,
        "join": lambda compute, memory: max(compute, memory),
        "unit": lambda seconds: seconds,
    },
    cases=_roofline_cases, dtype="number",
    formula=("Each of the two times is an amount of work divided by a speed, and the slower one decides.",
             "Which unit has your answer, and what does it depend on?"),
    hints=(
        "How long does the arithmetic take if it runs at its peak, and memory is free?",
        "How long does the memory take if it runs at its peak, and arithmetic is free?",
        "Both work at the same time, and the slower one decides: the larger of flops / peak_flops "
        "and bytes_moved / bandwidth.",
    ),
    mistakes=(
        Mistake("sum instead of the larger time", change={"join": lambda compute, memory: compute + memory},
                does="The two times are added.",
                why="Arithmetic and memory work at the same time; the least time is that of the slower one.",
                ask="How long do two workers take who start together?"),
        Mistake("the smaller time", change={"join": lambda compute, memory: min(compute, memory)},
                does="The answer is the smaller of the two times.",
                why="The work is done when both are done: the slower one decides.",
                ask="Which of two workers who start together decides when the job is done?"),
        Mistake("mean of the two times", change={"join": lambda compute, memory: (compute + memory) / 2},
                does="The answer is the mean of the two times.",
                why="The slower one decides, however fast the other is.",
                ask="When is the job done if one takes 1 second and the other 9?"),
        Mistake("memory ignored", change={"join": lambda compute, memory: compute},
                does="The answer depends on the arithmetic alone.",
                why="Work with few operations for each byte waits for memory.",
                ask="How long does a copy take, which has no arithmetic at all?"),
        Mistake("arithmetic ignored", change={"join": lambda compute, memory: memory},
                does="The answer depends on the memory alone.",
                why="Work with many operations for each byte waits for the arithmetic.",
                ask="What limits a large matrix product?"),
        Mistake("limits swapped", change={"limits": lambda peak_flops, bandwidth: (bandwidth, peak_flops)},
                does="Operations are divided by bytes a second, and bytes by operations a second.",
                why="Seconds come out if like is divided by like.",
                ask="Which unit has flops / bandwidth?"),
        Mistake("quotients upside down",
                change={"compute": lambda flops, peak: peak / flops, "memory": lambda count, width: width / count},
                does="More work takes less time.",
                why="Time is work divided by speed.",
                ask="What becomes of the time if the work doubles?"),
        Mistake("rate instead of time",
                change=({"join": lambda compute, memory: 1 / max(compute, memory)},
                        {"compute": lambda flops, peak: (flops, peak), "memory": lambda count, width: (count, width),
                         "join": lambda a, b: min(a[1], a[0] / b[0] * b[1])}),
                does="The answer is a speed: operations, or runs, a second.",
                why="Seconds are asked for: the work divided by that speed.",
                ask="Which unit has your answer?"),
        Mistake("flops and bytes compared",
                change={"compute": lambda flops, peak: (flops, flops / peak),
                        "memory": lambda count, width: (count, count / width), "join": lambda a, b: max(a, b)[1]},
                does="The time of the larger amount is taken: of the arithmetic if flops is more than bytes_moved.",
                why="Operations and bytes are different things; what can be compared are the two times.",
                ask="Which two numbers in your function have the same unit?"),
        Mistake("arithmetic intensity",
                change={"compute": lambda flops, peak: flops, "memory": lambda count, width: count,
                        "join": lambda flops, count: flops / count},
                does="The answer is operations for each byte.",
                why="That tells which limit counts, compared with peak_flops / bandwidth; it is no time.",
                ask="Which unit has your answer?"),
        Mistake("products instead of quotients",
                change={"compute": lambda flops, peak: flops * peak, "memory": lambda count, width: count * width},
                does="A faster machine takes longer.",
                why="Time is work divided by speed.",
                ask="What becomes of the time if the machine is twice as fast?"),
        Mistake("whole seconds only",
                change=({"compute": lambda flops, peak: flops // peak, "memory": lambda count, width: count // width},
                        *({"unit": cut} for cut in (np.round, np.ceil, np.floor))),
                does="Fractions of a second are lost.",
                why="A kernel takes microseconds: // and round leave nothing of them.",
                ask="Which operator divides without cutting anything off?"),
        Mistake("times multiplied", change={"join": lambda compute, memory: compute * memory},
                does="The two times are multiplied.",
                why="The product of two times is no time; the slower one decides.",
                ask="Which unit has your answer?"),
        Mistake("multiply-add counted twice",
                change=tuple({"compute": lambda flops, peak, f=f: f * flops / peak} for f in (2, 0.5)),
                does="The arithmetic's time is twice as long, or half as long, as it is.",
                why="flops counts operations already, and so does peak_flops.",
                ask="In which unit are flops and peak_flops given?"),
        Mistake("bits instead of bytes",
                change=tuple({"memory": lambda count, width, f=f: f * count / width} for f in (8, 0.125)),
                does="The memory's time is 8 times too long or too short.",
                why="bytes_moved and bandwidth are both given in bytes.",
                ask="In which unit are bytes_moved and bandwidth given?"),
        Mistake(UNIT_NAMES, change=_units(1e3, 1e6, 1e9),
                does="The answer is in milliseconds, or in something smaller.",
                why="Seconds are asked for.",
                ask="Where does your function multiply by a power of 10?"),
    ),
)


# ---------------------------------------------------------------- decode_step

def decode_step_answer(do, query, key_cache, value_cache, key_new, value_new):
    key_new, value_new = do.new(key_new, value_new, query)
    keys, values = do.append_key(key_cache, key_new), do.append_value(value_cache, value_new)
    seen = do.seen(keys, values, key_cache, value_cache, key_new, value_new)
    output = attention_answer(hooked(do, finish_scores=lambda scores: do.hide(do.finish_scores(scores))), query, *seen)
    return do.order(output, *do.kept(keys, values, key_cache, value_cache))


def _append(cache, new):
    return np.concatenate([cache, new], axis=-2)


def _in_front(cache, new):
    return np.concatenate([new, cache], axis=-2)


def _oldest_dropped(cache, new):
    return np.concatenate([cache[..., 1:, :], new], axis=-2)


def _last_overwritten(cache, new):
    return np.concatenate([cache[..., :-1, :], new], axis=-2)


def _first_overwritten(cache, new):
    return np.concatenate([new, cache[..., 1:, :]], axis=-2)


def _twice(cache, new):
    return np.concatenate([cache, new, new], axis=-2)


def _last_repeated(array):
    return _append(array, array[..., -1:, :])


def _joined(axis):
    return lambda cache, new: np.concatenate([cache, new], axis=axis)


def _added(cache, new):
    return cache + new


def _both(change):
    """A change of both caches, or of one of them."""
    return ({"append_key": change, "append_value": change}, {"append_key": change}, {"append_value": change})


def _visible(keep):
    """Scores with -inf where `keep`, a function of the number of keys, says no."""
    return lambda scores: np.where(keep(scores.shape[-1]), scores, -np.inf)


DECODE_STEPS = {
    **ATTENTION_STEPS,
    "new": lambda key_new, value_new, query: (key_new, value_new),
    "append_key": _append, "append_value": _append,
    "seen": lambda keys, values, key_cache, value_cache, key_new, value_new: (keys, values),
    "hide": lambda scores: scores,
    "kept": lambda keys, values, key_cache, value_cache: (keys, values),
    "order": lambda output, keys, values: (output, keys, values),
}

DECODE_MISTAKES = (
    Mistake("new key not attended to",
            change=({"seen": lambda keys, values, key_cache, value_cache, *new: (key_cache, value_cache)},
                    {"hide": _visible(lambda n: np.arange(n) < n - 1)}),
            does="The output mixes the old values only; the new key and value come too late.",
            why="A position attends to itself too: append first, then attend.",
            ask="Which keys may the new query attend to?"),
    Mistake("one key left out",
            change=({"hide": _visible(lambda n: np.arange(n) > 0)}, {"hide": _visible(lambda n: np.arange(n) != n - 2)}),
            does="The first key or the last one of the cache does not count.",
            why="Every position of the cache counts, from 0 to n - 1, and the new one beside them.",
            ask="Which positions does your slice or your loop run over?"),
    Mistake("one cache not extended",
            change=({"append_value": lambda cache, new: cache}, {"append_key": lambda cache, new: cache}),
            does="One cache gets the new position, and the other stays as it was: the weights are for one key more, "
                 "or one fewer, than there are values.",
            why="Keys and values come in pairs: both caches grow by one position with each step.",
            ask="How many positions have your keys and your values when they are used?"),
    Mistake("only the last keys attended to",
            change=tuple({"hide": _visible(lambda n, k=k: np.arange(n) >= n - k)} for k in (2, 3)),
            numbers=each(lambda k: {"hide": _visible(lambda n: np.arange(n) >= n - k)}, lambda k: k in range(4, 20)),
            does="The query sees the last few positions, and none before them.",
            why="Every position of the cache counts, however long ago it was.",
            ask="Which positions of the cache does your slice hold?"),
    Mistake("only the new key attended to",
            change={"seen": lambda keys, values, key_cache, value_cache, *new: new},
            does="The output is the new value.",
            why="The cache is there so that the new query can attend to all earlier positions.",
            ask="What are the keys in the cache for?"),
    Mistake("cache not extended",
            change=({"kept": lambda keys, values, key_cache, value_cache: (key_cache, value_cache)},
                    {"kept": lambda keys, values, key_cache, value_cache: (key_cache, values)},
                    {"kept": lambda keys, values, key_cache, value_cache: (keys, value_cache)}),
            does="A cache is returned as it came, without the new position.",
            why="The next step would not know this position: concatenate makes a new array, and this "
                "one has to be returned.",
            ask="How many positions must the returned caches have?"),
    Mistake("only the new position kept",
            change={"kept": lambda keys, values, *caches: (keys[..., -1:, :], values[..., -1:, :])},
            does="The returned caches hold the new position alone.",
            why="The next step needs all positions so far.",
            ask="How many positions must the returned caches have?"),
    Mistake("new position in front", change=_both(_in_front),
            does="The new key or value stands at position 0 of its cache.",
            why="Positions are in the order of time: the newest stands last. Attention alone would not "
                "mind, but a mask or a window would.",
            ask="At which position does the newest key belong?"),
    Mistake("last position overwritten", change=_both(_last_overwritten)[0],
            does="The new key or value replaces the last one in the cache.",
            why="The cache grows by one position with each step.",
            ask="How many positions are there before and after your function?"),
    Mistake("oldest position dropped", change=(_both(_oldest_dropped)[0], _both(_first_overwritten)[0]),
            does="The cache keeps its length: the oldest position is lost.",
            why="That is a sliding window. Here every earlier position stays visible.",
            ask="How many positions are there before and after your function?"),
    Mistake("appended twice",
            change=(_both(_twice)[0],
                    {"kept": lambda keys, values, *caches: (_last_repeated(keys), _last_repeated(values))},
                    {"seen": lambda keys, values, *others: (_last_repeated(keys), _last_repeated(values))}),
            does="The new position stands in the cache twice, or counts twice.",
            why="Every step adds one position.",
            ask="How many positions are there before and after your function?"),
    Mistake("added instead of appended", change=_both(_added)[0],
            does="The new key or value is added to every position of the cache.",
            why="+ adds numbers; a cache gets a new row.",
            ask="Which function joins two arrays along an axis?"),
    Mistake("appended along the features", change=_both(_joined(-1))[0],
            does="The new position is joined to the features, where the shapes fit at all.",
            why="Positions run along the last axis but one.",
            ask="Which axis of the cache grows by one?"),
    Mistake("appended along the first axis", change=_both(_joined(0))[0],
            does="It is right for two axes. With leading axes the new position becomes another sequence, "
                 "where the shapes fit at all.",
            why="Positions run along the last axis but one, which is the first only if there are two.",
            ask="Which index counts from the end, and names the positions' axis always?"),
    Mistake("appended along the second axis", change=_both(_joined(1))[0],
            does="It is right for three axes, and for no other number.",
            why="Positions run along the last axis but one: axis=-2.",
            ask="Which index counts from the end, and names the positions' axis always?"),
    Mistake("np.append without axis", change=_both(np.append)[0],
            does="The cache becomes one long row of numbers.",
            why="Without axis np.append flattens both arrays.",
            ask="Along which axis are the two arrays to be joined?"),
    Mistake("key and value swapped", change={"new": lambda key_new, value_new, query: (value_new, key_new)},
            does="The new key goes to the values and the new value to the keys, where the sizes fit at all.",
            why="Each has its own cache: keys are compared with the query, values are mixed.",
            ask="Which cache does each of the two belong to?"),
    Mistake("new key appended to both caches", change={"new": lambda key_new, value_new, query: (key_new, key_new)},
            does="The new key stands in the cache of values too, where its length fits.",
            why="Each cache has a new vector of its own: keys are compared with the query, values are mixed.",
            ask="Which of the new vectors will be mixed into later outputs?"),
    Mistake("stacked instead of joined", change=_both(lambda cache, new: np.stack([cache, new], axis=-2))[0],
            does="Cache and new position are put on an axis of their own, where the shapes fit at all.",
            why="np.stack makes a new axis; np.concatenate makes an axis longer.",
            ask="How many axes should the cache have after your function?"),
    Mistake("query appended instead of the key",
            change={"new": lambda key_new, value_new, query: (query, value_new)},
            does="The query stands in the cache of keys.",
            why="Later queries are compared with keys. A query is used once, and then forgotten.",
            ask="Which of the three new vectors will later steps need?"),
    Mistake("aligned at the top left", change=(
                {"hide": _visible(lambda n: np.arange(n) < 1)}, {"hide": np.tril}),
            does="The new query sees the oldest key alone, or the scores of all others are 0.",
            why="np.tril on one row, or is_causal at the top left, takes the query for position 0. It "
                "stands at the end, and sees every key: no mask is needed.",
            ask="At which position does the new query stand?"),
    Mistake("parts in another order",
            change=({"order": lambda output, keys, values: (keys, values, output)},
                    {"order": lambda output, keys, values: (output, values, keys)},
                    {"order": lambda output, keys, values: (values, keys, output)}),
            does="Output, keys and values come back in another order.",
            why="Who calls the function takes the output first, then the keys, then the values.",
            ask="In which order does the caller unpack your answer?"),
)

NOT_FOR_ONE_QUERY = ("sqrt(n_q) instead of sqrt(d_k)", "summed over the batch", "np.dot on batches",
                     "weights averaged over the queries", "causal mask applied", "queries instead of values",
                     "one maximum for the whole array", "K Qᵀ instead of Q Kᵀ", "Aᵀ V instead of A V",
                     "maximum over the wrong axis", "one query left out", "only the first query",
                     "outputs summed over the queries", "outputs averaged over the queries",
                     "summed over the queries instead of the keys", "one key left out", "one key alone", "key and value swapped",
                     "input added")
FIRST_VARIANT = ("weights ignored", "argmax instead of softmax", "weights averaged over the batch")


def _for_one_query(mistake):
    """Equal weights of 1 are those of a softmax over the one query, and a column may be taken for its row."""
    if mistake.name in FIRST_VARIANT:
        return dataclasses.replace(mistake, change=mistake.variants[0])
    if mistake.name == "softmax over everything":
        return dataclasses.replace(mistake, change=mistake.variants[:2])
    if mistake.name == "temperature applied":
        return dataclasses.replace(mistake, change=mistake.variants[:-1])
    return mistake


def decode_cases():
    def case(aspect, n, d, d_v, batch=(), dtype=np.float64, seed=60):
        shapes = (1, d), (n, d), (n, d_v), (1, d), (1, d_v)
        return Case(aspect, tuple(normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes)))

    def tiny(aspect, *arrays, dtype=np.float64, extreme=False):
        return Case(aspect, tuple(np.array(array, dtype) for array in arrays), extreme)

    def huge(query, *keys):
        column = np.array(keys, float)[:, None]
        values = np.arange(1.0, len(keys) + 1)[:, None]
        return tiny(HUGE, [[query]], column[:-1], values[:-1], column[-1:], values[-1:], extreme=True)

    return [
        tiny(PLAIN, [[2.0]], [[1.0], [0.0]], [[4.0], [8.0]], [[0.5]], [[-4.0]]),
        case(PLAIN, 7, 3, 5), case(PLAIN, 5, 11, 2, seed=70), case(PLAIN, 2, 5, 7, seed=80),
        tiny(ONE_POSITION, [[1.0, 1.0]], [[1.0, 0.0]], [[2.0, 5.0, 1.0]], [[1.0, 2.0]], [[4.0, 3.0, 0.0]]),
        case(ONE_POSITION, 1, 5, 3), case(ONE_POSITION, 1, 3, 3, (2,)),
        tiny(SQUARE, [[1.0, 0.0]], [[1.0, 2.0]], [[4.0, 8.0]], [[3.0, 1.0]], [[-4.0, 0.0]]),
        case(SQUARE, 5, 5, 5), case(SQUARE, 4, 5, 5), case(SQUARE, 3, 2, 3, (3,)),
        case(LEADING, 1, 2, 1, (2,)), case(LEADING, 5, 3, 7, (2,)), case(LEADING, 7, 5, 11, (2, 3)),
        case(LEADING, 3, 3, 3, (3,)), case(LEADING, 3, 2, 5, (2, 1)),
        huge(100.0, 100, 99, 0), huge(-100.0, 100, 101, 102), huge(1000.0, *[1] * 10, 0),
        case(FLOAT32, 2, 1, 1, dtype=np.float32), case(FLOAT32, 5, 7, 3, (2,), np.float32),
        case(FLOAT16, 5, 3, 2, dtype=np.float16),
    ]


ONE_POSITION = "one position in the cache"

decode_step = Exercise(
    name="decode_step", signature="(query, key_cache, value_cache, key_new, value_new)", part=PART,
    text="One step of decoding: the new key and value are appended to their caches, and the one new "
         "query attends to all of them. Returns (output, key_cache, value_cache).",
    answer=decode_step_answer, steps=DECODE_STEPS, cases=decode_cases,
    outputs=("output", "key_cache", "value_cache"),
    hints=(
        "First make the caches longer by one position each, then attend: the new query sees the new "
        "key too.",
        "Positions run along the last axis but one. np.concatenate joins a list of arrays along an axis.",
        "No mask is needed: the new query stands at the end and may see every key.",
        "np.concatenate([key_cache, key_new], axis=-2) is the new cache of keys, and likewise for the "
        "values. Then attention of query, keys and values; return it with both caches.",
    ),
    mistakes=(*map(_for_one_query, without(attention.mistakes, *NOT_FOR_ONE_QUERY)), *DECODE_MISTAKES),
)


# ---------------------------------------------------------------- split_kv_attention

def split_kv_answer(do, query, key, value, n_splits):
    parts = []
    for start, stop in do.split(key.shape[-2], n_splits):
        if stop <= start:
            raise ValueError("zero-size array to reduction operation")
        seen = {}

        def keep(scores, seen=seen):
            seen["scores"] = do.finish_scores(scores)
            return seen["scores"]

        here = slice(start, stop)
        out = attention_answer(hooked(do, finish_scores=keep), query, key[..., here, :], value[..., here, :])
        highest = seen["scores"].max(axis=-1, keepdims=True)
        total = np.exp(seen["scores"] - highest).sum(axis=-1, keepdims=True)
        parts.append(SimpleNamespace(out=out, lse=do.lse(highest, total), highest=highest, total=total,
                                     n_keys=stop - start))
    return do.merge(parts, do.merge_weights)


def _even_split(n_k, n_splits):
    edges = [n_k * i // n_splits for i in range(n_splits + 1)]
    return list(zip(edges, edges[1:]))


def _floor_split(n_k, n_splits):
    size = n_k // n_splits
    return [(i * size, (i + 1) * size) for i in range(n_splits)]


def _ceil_split(n_k, n_splits):
    size = -(-n_k // n_splits)
    return [(i * size, min((i + 1) * size, n_k)) for i in range(n_splits)]


def _long_first(n_k, n_splits):
    return [(part[0], part[-1] + 1) for part in np.array_split(np.arange(n_k), n_splits)]


def _either_way(change):
    """A merge that depends on the parts' order, with the longer parts last and first."""
    return change, {**change, "split": _long_first}


def _overlapping(n_k, n_splits):
    return [(start, min(stop + 1, n_k)) for start, stop in _even_split(n_k, n_splits)]


def _gaps(n_k, n_splits):
    return [(start, stop if stop == n_k else stop - 1) for start, stop in _even_split(n_k, n_splits)]


def _stacked(parts, name):
    return np.stack([getattr(part, name) for part in parts])


def _merge(parts, weights_of):
    weights = weights_of(_stacked(parts, "lse"))
    return (weights * _stacked(parts, "out")).sum(axis=0) / weights.sum(axis=0)


def _merge_undivided(parts, weights_of):
    return (weights_of(_stacked(parts, "lse")) * _stacked(parts, "out")).sum(axis=0)


def _partial_weights(lses):
    return np.exp(lses - lses.max(axis=0))


def _running(lse_of):
    """Partial results merged one after the other, with a log-sum-exp that goes on as `lse_of` says."""
    def merge(parts, weights_of):
        out, lse = parts[0].out, parts[0].lse
        for part in parts[1:]:
            share = 1 / (1 + np.exp(part.lse - lse))
            out, lse = share * out + (1 - share) * part.out, lse_of(lse, part.lse)
        return out

    return merge


def _updated_too_early(parts, weights_of):
    out, lse = parts[0].out, parts[0].lse
    for part in parts[1:]:
        lse = np.logaddexp(lse, part.lse)
        out = out + np.exp(part.lse - lse) * part.out
    return out


def _pairwise_mean(parts, weights_of):
    out = parts[0].out
    for part in parts[1:]:
        out = (out + part.out) / 2
    return out


def _by_length(parts, weights_of):
    return sum(part.n_keys * part.out for part in parts) / sum(part.n_keys for part in parts)


def _rescaled(numerator, denominator):
    """Accumulators and sums added up, each rescaled to the common maximum or not."""
    def merge(parts, weights_of):
        highest, total = _stacked(parts, "highest"), _stacked(parts, "total")
        scale = np.exp(highest - highest.max(axis=0))
        above, below = (scale if rescale else np.ones_like(scale) for rescale in (numerator, denominator))
        return (above * total * _stacked(parts, "out")).sum(axis=0) / (below * total).sum(axis=0)

    return merge


def _running_sums(old_output=True, old_sum=True, new_output=True, new_sum=True):
    """Accumulator and sum go on from part to part; what is not rescaled stays on an old scale."""
    def merge(parts, weights_of):
        highest, output, total = -np.inf, 0.0, 0.0
        for part in parts:
            top = np.maximum(highest, part.highest)
            old, new = np.exp(highest - top), np.exp(part.highest - top)
            output = output * (old if old_output else 1) + part.total * part.out * (new if new_output else 1)
            total = total * (old if old_sum else 1) + part.total * (new if new_sum else 1)
            highest = top
        return output / total

    return {"merge": merge}


def _shared_over_the_queries(parts, weights_of):
    weights = weights_of(_stacked(parts, "lse"))
    return (weights / weights.sum(axis=-2, keepdims=True) * _stacked(parts, "out")).sum(axis=0)


def _lse_of_all(highest, total):
    top = highest.max(axis=-2, keepdims=True)
    return top + np.log((total * np.exp(highest - top)).sum(axis=-2, keepdims=True))


def _best_part(parts, weights_of):
    best = _stacked(parts, "lse").argmax(axis=0)
    return np.take_along_axis(_stacked(parts, "out"), best[None], axis=0)[0]


NOT_IN_PARTS = ("causal mask applied", "np.dot on batches", "np.dot of batched weights", "summed over the batch",
                "outputs summed over the batch", "weights averaged over the batch", "weights averaged over the queries",
                "softmax of the weights", "transposed values", "reshaped values", "features summed",
                "square root of the scores", "one key left out", "one key alone", "softmax over the second axis",
                "A * V instead of A @ V", "V A instead of A V", "softmax plus one", "scores returned instead of the output",
                "values returned instead of the output")

SPLIT_STEPS = {
    **ATTENTION_STEPS,
    "split": _even_split,
    "lse": lambda highest, total: highest + np.log(total),
    "merge_weights": _partial_weights,
    "merge": _merge,
}

MERGE_MISTAKES = (
    Mistake("partial results averaged", change={"merge": lambda parts, w: _stacked(parts, "out").mean(axis=0)},
            does="Every part of the keys counts the same.",
            why="A part with a high score holds nearly all the weight, another nearly none: its share "
                "is exp of its log-sum-exp.",
            ask="How much of the whole softmax's sum belongs to each part?"),
    Mistake("partial results added", change={"merge": lambda parts, w: _stacked(parts, "out").sum(axis=0)},
            does="The parts' outputs are added up.",
            why="Each part's weights sum to 1 by themselves, so together they sum to n_splits.",
            ask="What must the weights of all keys sum to?"),
    Mistake("weighted by the number of keys", change={"merge": _by_length},
            does="A part counts as much as it has keys.",
            why="It counts as much as its scores make it: exp of its log-sum-exp.",
            ask="How much of the whole softmax's sum belongs to each part?"),
    Mistake("averaged one after the other",
            change=_either_way({"merge": _pairwise_mean}),
            does="The last part counts half, the one before a quarter, and so on.",
            why="A part's share does not depend on when it comes: it is exp of its log-sum-exp.",
            ask="What becomes of your answer if the parts come in another order?"),
    Mistake("only one part used",
            change=_either_way({"merge": lambda parts, w: parts[-1].out})
                   + _either_way({"merge": lambda parts, w: parts[0].out}),
            does="The answer is the output of the first or of the last part.",
            why="All parts together hold the keys; each has its share.",
            ask="What happens in your loop to the parts before?"),
    Mistake("the larger part alone", change={"merge": _best_part},
            does="The part with the largest log-sum-exp is taken alone.",
            why="The other parts hold weight too.",
            ask="How much of the whole softmax's sum belongs to each part?"),
    Mistake("shares over the queries instead of the parts",
            change=({"merge": lambda parts, w: (raw_scores._softmax(_stacked(parts, "lse").swapaxes(-1, -2)).swapaxes(
                -1, -2) * _stacked(parts, "out")).sum(axis=0)}, {"merge": _shared_over_the_queries}),
            does="The softmax of the log-sum-exps runs over the queries: a query's shares do not sum to 1.",
            why="The parts compete for each query, so the shares sum to 1 over the parts.",
            ask="Which axis of your log-sum-exps counts the parts?"),
    Mistake("one log-sum-exp for all queries",
            change=({"lse": lambda highest, total: np.broadcast_to(_lse_of_all(highest, total), highest.shape)},
                    {"lse": lambda highest, total: np.full_like(highest, (highest + np.log(total)).mean())}),
            does="A part has the same share for every query.",
            why="Each query has scores of its own, and so a log-sum-exp of its own in every part.",
            ask="How many log-sum-exps has one part if there are 5 queries?"),
    Mistake("shares of the partial results swapped",
            change=_either_way({"merge_weights": lambda lses: _partial_weights(lses)[::-1]}),
            does="The first part gets the share of the last one, and the other way round.",
            why="A part's share in the whole is exp of its own log-sum-exp.",
            ask="Which part should count more, the one with the larger or the smaller log-sum-exp?"),
    Mistake("one part left out",
            change=tuple(variant for some in (slice(0, -1), slice(1, None)) for variant in _either_way(
                {"merge": lambda parts, weights_of, some=some: _merge(parts[some] or parts, weights_of)})),
            does="The first or the last part does not count, unless it is the only one.",
            why="There are n_splits parts, from 0 to n_splits - 1; range(n) ends at n - 1.",
            ask="Which parts does your loop run over?"),
    Mistake("log-sum-exps as weights", change={"merge_weights": lambda lses: lses},
            does="The parts are weighted by their log-sum-exps themselves.",
            why="A log-sum-exp may be negative; the share of a part is exp of it.",
            ask="Which function undoes the logarithm?"),
    Mistake("weights not divided by their sum",
            change={"merge": _merge_undivided},
            does="The parts are weighted by exp of their log-sum-exps, and together weigh more than 1.",
            why="Shares sum to 1: the weighted sum is to be divided by the sum of the weights.",
            ask="What do the weights of all parts sum to?"),
    Mistake("maximum instead of log-sum-exp", change={"lse": lambda highest, total: highest},
            does="A part counts as much as its best key.",
            why="The sum of the exponentials belongs to it too: ten good keys count more than one.",
            ask="What is the log-sum-exp of a part with ten equal scores?"),
    Mistake("maximum not added back", change={"lse": lambda highest, total: np.log(total)},
            does="The parts are added by sums of exp(score - maximum), each with a maximum of its own.",
            why="Sums from which different maxima were taken are not on one scale. Add the maximum to "
                "the logarithm, or multiply by exp(maximum of the part - common maximum).",
            ask="How does log-sum-exp change if 5 is subtracted from all scores?"),
    Mistake("no logarithm", change={"lse": lambda highest, total: highest + total},
            does="The sum of the exponentials is added to the maximum as it is.",
            why="exp(maximum) * sum is exp(maximum + log(sum)).",
            ask="How is a product written as one power of e?"),
    Mistake("sign of the maximum flipped", change={"lse": lambda highest, total: np.log(total) - highest},
            does="Parts with low scores count most.",
            why="The maximum was subtracted before exp; afterwards it is added back.",
            ask="Which sign undoes the subtraction?"),
    Mistake("sign of the logarithm flipped", change={"lse": lambda highest, total: highest - np.log(total)},
            does="A part with many good keys counts less than one with a single good key.",
            why="exp(maximum) * sum is exp(maximum + log(sum)).",
            ask="How is a product written as one power of e?"),
    Mistake("sign of the log-sum-exp flipped", change={"merge_weights": lambda lses: np.exp(lses.min(axis=0) - lses)},
            does="The part with the lowest log-sum-exp counts most.",
            why="A part's share in the whole is exp of its log-sum-exp, not of its opposite.",
            ask="Which part should count more, the one with the larger or the smaller log-sum-exp?"),
    Mistake("output not rescaled",
            change=({"merge": _rescaled(False, True)}, *_either_way(_running_sums(old_output=False)),
                    *_either_way(_running_sums(new_output=False))),
            does="The parts' sums are brought to the common maximum, their weighted values are not.",
            why="Numerator and denominator must be on one scale: exp(maximum of the part - common maximum).",
            ask="By which factor does a part's numerator change if another maximum is subtracted?"),
    Mistake("sum not rescaled",
            change=({"merge": _rescaled(True, False)}, *_either_way(_running_sums(old_sum=False)),
                    *_either_way(_running_sums(new_sum=False))),
            does="The parts' weighted values are brought to the common maximum, their sums are not.",
            why="Numerator and denominator must be on one scale: exp(maximum of the part - common maximum).",
            ask="By which factor does a part's sum change if another maximum is subtracted?"),
    Mistake("earlier parts not rescaled", change=_either_way(_running_sums(old_output=False, old_sum=False)),
            does="When a later part has a larger maximum, sum and weighted values so far stay too large.",
            why="When the maximum grows from m to m', both must be multiplied by exp(m - m').",
            ask="By which factor do the earlier exponentials change when a larger maximum comes?"),
    Mistake("new part not rescaled", change=_either_way(_running_sums(new_output=False, new_sum=False)),
            does="A part whose maximum is lower than the one before counts too much.",
            why="Its sum and weighted values belong to its own maximum: multiply both by "
                "exp(maximum of the part - common maximum).",
            ask="Which number was subtracted from the scores of the new part?"),
    Mistake("logarithm to base 2", change={"lse": lambda highest, total: highest + np.log2(total)},
            does="The parts' log-sum-exps mix two bases.",
            why="exp undoes the natural logarithm; a power of 2 undoes log2.",
            ask="Which base has your logarithm, and which your exponential?"),
    Mistake("log-sum-exp updated too early", change=_either_way({"merge": _updated_too_early}),
            does="What came before keeps its full weight when a part is merged, and the part's share comes on top.",
            why="The share of what came before is exp(old log-sum-exp - new log-sum-exp). With the new one in both places "
                "it is 1.",
            ask="What does your log-sum-exp hold when the old output is weighted with it?"),
    Mistake("log-sum-exp not updated",
            change=tuple(variant for kept in (lambda lse, new: lse, lambda lse, new: new, np.maximum)
                         for variant in _either_way({"merge": _running(kept)})),
            does="Two parts merge rightly, and the third is weighed against one of them only.",
            why="After a merge the log-sum-exp is that of both parts: log(exp(a) + exp(b)).",
            ask="How much does the result of the first merge weigh in the second?"),
    Mistake("shares from doubled exponents",
            change=tuple({"merge_weights": lambda lses, p=p: _partial_weights(lses) ** p} for p in (2, 0.5)),
            does="The parts are weighted by the squares, or the square roots, of exp of their log-sum-exps.",
            why="A part's share in the whole is exp of its log-sum-exp, with the exponent as it is.",
            ask="By which factor does a part's share change if its log-sum-exp grows by 1?"),
    Mistake("logarithm to base 10", change={"lse": lambda highest, total: highest + np.log10(total)},
            does="The parts' log-sum-exps mix two bases.",
            why="exp undoes the natural logarithm, and not one to base 10.",
            ask="Which base has your logarithm, and which your exponential?"),
    Mistake("one maximum for all queries in the merge",
            change={"merge_weights": lambda lses: np.exp(lses - lses.max())},
            does="A query whose scores lie far below another's underflows to a sum of 0.",
            why="Each query has a largest log-sum-exp of its own.",
            ask="Over which axis is the maximum of the log-sum-exps to be taken?"),
    Mistake("power of 2 in the merge", change={"merge_weights": lambda lses: np.exp2(lses - lses.max(axis=0))},
            does="The parts are weighted by powers of 2 of natural logarithms.",
            why="exp undoes the natural logarithm; a power of 2 undoes log2.",
            ask="Which base has your logarithm, and which your exponential?"),
    Mistake("remainder dropped", change={"split": _floor_split},
            does="It is right if n_splits divides n_k. Otherwise the last keys are not read.",
            why="n_k // n_splits keys a part leave up to n_splits - 1 keys over.",
            ask="Where does the last part end if 7 keys are split into 3?"),
    Mistake("empty part", change={"split": _ceil_split},
            does="Rounding up gives the first parts too many keys, and the last may get none.",
            why="An empty part has no maximum. Either no part is empty, or an empty one has output 0 and "
                "log-sum-exp -inf.",
            ask="How many keys get the parts if 5 keys are split into 4 and each takes 2?"),
    Mistake("parts overlap", change={"split": _overlapping},
            does="A key at the border counts in two parts.",
            why="A slice ends before its second number: the next part begins there.",
            ask="Which keys does the slice 0:3 hold, and where must the next part begin?"),
    Mistake("gaps between the parts", change={"split": _gaps},
            does="A key at each border is in no part.",
            why="A slice ends before its second number already: no 1 has to be subtracted.",
            ask="Which keys does the slice 0:3 hold, and where must the next part begin?"),
)

def _naive_lse(highest, total):
    return np.log(np.exp(highest) * total)


def _in_parts(mistake):
    """The maximum may be missing in the parts, in the merge, or in both."""
    if mistake.name != "no maximum subtracted":
        return mistake
    parts, merge = {**mistake.variants[0], "lse": _naive_lse}, {"merge_weights": np.exp}
    return dataclasses.replace(
        mistake, change=(parts, merge, {**parts, **merge}, mistake.variants[0], {"lse": _naive_lse}),
        does="For small scores it is right. A score, or a part's log-sum-exp, above 709 (above 88 in float32, above "
             "11 in float16) overflows in exp, and where all lie far below 0 their sum underflows to 0.",
        why="Only differences count: the row's maximum is subtracted before exp in each part, and the "
            "query's largest log-sum-exp in the merge.",
        ask="Which number may be subtracted from all log-sum-exps of a query, and which from a part's scores?")


SPLITS_IGNORED = Mistake(
    "n_splits ignored",
    does="The function attends to all keys at once: its answer does not need n_splits.",
    why="Parts of the keys can be read by different processors at the same time; here you write how "
        "their partial results come together.",
    ask="Where does your function use its parameter n_splits?")


class _Unusable:
    """A number of parts that may be looked at, as 3, and passes for True, but is no use in making parts.

    What is added to all scores has no effect on a softmax, so that adding it is no use either.
    """

    __array_ufunc__ = None

    def _refuse(self, *unused):
        raise TypeError("n_splits was used")

    def _added(self, other):
        return other + 3 if getattr(other, "ndim", 0) > 1 else self._refuse()

    __index__ = __int__ = __float__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _refuse
    __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __neg__ = __hash__ = _refuse
    __add__ = __radd__ = _added

    def __bool__(self):
        return True

    __eq__, __lt__, __le__, __gt__, __ge__ = (
        lambda self, other, compare=compare: compare(3, other) for compare in (
            operator.eq, operator.lt, operator.le, operator.gt, operator.ge))


def ignores_splits(run):
    """The Mistake if the answer comes though n_splits cannot be used."""
    outcome = run(normal(3, 2, seed=91), normal(5, 2, seed=92), normal(5, 3, seed=93), _Unusable())
    return SPLITS_IGNORED if outcome.answer and outcome.answer.pieces else None


class _Listening(np.ndarray):
    """An array that notes the shapes of which exp is taken, in all that is computed of it."""

    shapes = []

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        inputs = [np.asarray(item) if isinstance(item, _Listening) else item for item in inputs]
        if out:
            options["out"] = tuple(np.asarray(item) for item in out)
        result = getattr(ufunc, method)(*inputs, **options)
        if ufunc in (np.exp, np.exp2):
            self.shapes.append(np.shape(result))
        return out[0] if out else result.view(_Listening) if isinstance(result, np.ndarray) else result


QUERIES_SPLIT = Mistake(
    "queries split instead of keys",
    does="The queries are dealt out in n_splits parts, and each part sees all keys.",
    why="Then nothing has to be merged: queries do not depend on each other. In decoding there is one query "
        "and many keys, and only the keys can be dealt out.",
    ask="What can be split if there is one query?")

BLOCK_LENGTH = Mistake(
    "n_splits taken for a part's length",
    does="Each part has n_splits keys.",
    why="n_splits says how many parts there are: about n_k / n_splits keys in each.",
    ask="How many parts should 12 keys make for n_splits = 2?")


def splits_something_else(run):
    """The Mistake if exp is taken of the wrong pieces of the scores of 5 queries and 12 keys."""
    _Listening.shapes.clear()
    run(*(normal(n, 3, seed=n).view(_Listening) for n in (5, 12, 12)), 2)
    shapes = [shape for shape in _Listening.shapes if len(shape) > 1]
    lengths = [shape[-1] for shape in shapes]
    if lengths.count(2) >= 6 and not {6, 12} & set(lengths):
        return BLOCK_LENGTH
    rows = [shape[-2] for shape in shapes if shape[-1] == 12]
    return QUERIES_SPLIT if len(rows) == 2 and sum(rows) == 5 and 6 not in lengths else None


UNEVEN = "parts of unequal length"


def split_kv_cases():
    """Cases that any way of making the parts answers alike.

    In parts of unequal length the longer ones may come first or last: there the keys read the same
    from both ends.
    """
    found = []
    for case in attention_cases():
        n_k = case.args[1].shape[-2]
        if case.aspect != PLAIN:
            found += [Case(case.aspect, (*case.args, n), case.extreme) for n in {1, n_k}]

    def arrays(n_q, n_k, d_k, d_v, seed):
        return (normal(n_q, d_k, seed=seed, scale=3.0), normal(n_k, d_k, seed=seed + 1),
                normal(n_k, d_v, seed=seed + 2))

    def mirrored(query, key, value):
        return query, *(np.concatenate([array, array[-2::-1]]) for array in (key, value))

    edge = (np.array([[1.0]]), np.array([[709.0], [709.3]]), np.array([[2.0], [3.0]]))  # exp fits, their sum does not
    tiny = (np.array([[2.0]]), np.array([[0.0], [1.0], [2.0], [0.0]]), np.array([[4.0], [8.0], [-4.0], [2.0]]))
    return [Case(PLAIN, (*tiny, 2)), Case(PLAIN, (*arrays(5, 6, 3, 2, 1), 3)),
            Case(PLAIN, (*arrays(7, 10, 11, 3, 4), 2)), Case(PLAIN, (*arrays(3, 12, 5, 7, 7), 4)),
            Case("one part", (*arrays(5, 7, 3, 2, 10), 1)),
            Case("a part for each key", (*arrays(5, 7, 3, 2, 13), 7)),
            Case(UNEVEN, (*mirrored(tiny[0], tiny[1][:2], tiny[2][:2]), 2)),
            Case(UNEVEN, (*mirrored(*arrays(5, 4, 3, 2, 16)), 2)),
            Case(UNEVEN, (*mirrored(*arrays(2, 3, 5, 7, 19)), 4)),
            Case(SQUARE, (*arrays(4, 4, 4, 4, 22), 2)),
            Case(LEADING, (*map(np.stack, zip(arrays(5, 6, 3, 2, 25), arrays(5, 6, 3, 2, 28))), 2)),
            Case(HUGE, (*edge, 2), True)] + found


split_kv_attention = Exercise(
    name="split_kv_attention", signature="(query, key, value, n_splits)", part=PART,
    text="Attention from partial results over n_splits parts of the keys, merged by their "
         "log-sum-exps. n_splits need not divide the number of keys.",
    answer=split_kv_answer, steps=SPLIT_STEPS, cases=split_kv_cases,
    hints=(
        "Each part of the keys with its values gives an output of its own, as if there were no other "
        "keys. What is missing to put the outputs together?",
        "The share of a part is its sum of exp(score) in the sum over all keys. Its log-sum-exp, the "
        "logarithm of that sum, tells it; subtract the row's maximum before exp and add it back after log.",
        "With the log-sum-exps of all parts on a new axis, subtract the largest of each query, take "
        "exp, and divide by their sum: these are the shares.",
        "np.array_split(key, n_splits, axis=-2) makes the parts. Collect output and log-sum-exp of "
        "each; the shares are the softmax of the log-sum-exps over the parts, and the answer is the "
        "sum of share * output.",
    ),
    mistakes=(*map(_in_parts, without(attention.mistakes, *NOT_IN_PARTS)), *MERGE_MISTAKES),
    audits=(ignores_splits, splits_something_else),
    aspects={UNEVEN: Mistake(
        "only for equal parts",
        does="The function is right if n_splits divides the number of keys, and not otherwise.",
        why="7 keys in 3 parts make parts of 3, 2 and 2. np.split and a reshape need equal ones; "
            "np.array_split does not.",
        ask="How long are the parts if 7 keys are split into 3?")},
)

EXERCISES = (attention_flops, attention_bytes, roofline_seconds, attention_torch, attention_torch_causal,
             decode_step, split_kv_attention)
