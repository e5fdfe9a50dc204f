"""The exercise attention_torch_causal."""

from dataclasses import replace

import numpy as np

from ...families.attention import ATTENTION_MISTAKES
from ...families.choose import pick
from ...families.masked_attention import MASKING_MISTAKES, as_low_as_the_lowest, no_fill, only_allowed
from ...families.masks import CAUSAL_MASK_MISTAKES, TRIANGLE_MISTAKES, TRIANGLE_STEPS, aligned_mask_answer, fill_with
from ...families.torch_attention import (ON_TORCH, TORCH_MISTAKES, TORCH_STEPS, WIDTH_MISTAKES, attention_torch_answer,
    attention_torch_cases, hooked)
from ...model import HUGE, Case, Exercise, Mistake, Step, alike, each, ways


def attention_torch_causal_answer(do, query, key, value):
    seen = {}

    def hide(scores):
        seen["mask"] = do.sense(aligned_mask_answer(hooked(do, sense=lambda mask: mask), *scores.shape[-2:]))
        return do.fill(do.finish_scores(scores), seen["mask"], do.dtype)

    return attention_torch_answer(hooked(
        do, finish_scores=hide,
        exponential=lambda shifted, axis: do.mask_powers(do.exponential(shifted, axis), seen["mask"]),
        weights_out=lambda weights: do.mask_weights(do.weights_out(weights), seen["mask"]),
    ), query, key, value)


CAUSAL_STEPS = {
    **TORCH_STEPS, **TRIANGLE_STEPS, "offset": lambda n_q, n_k: 0,
    "fill": Step(fill_with(-np.inf), "the masked scores"),
    "mask_powers": lambda powers, mask: powers,
    "mask_weights": lambda weights, mask: weights,
}


def _filled(*numbers):
    """Variants: a number in place of -inf."""
    return ways("fill", *map(fill_with, numbers))


def _added(number):
    return {"fill": lambda scores, mask, dtype: scores + np.where(mask, 0.0, -abs(number))}


def _with_dead_rows(mistake):
    """The mistake with each of the things that rows without any key become: NaN, equal weights, zeros."""
    return replace(mistake, change=tuple({**change, **more} for change in mistake.variants for more in (
        {}, {"fill": fill_with(-1e9)}, {"mask_weights": lambda weights, mask: np.nan_to_num(weights)})))


def _window(width):
    return {"compare": lambda key, query: (key <= query) & (key > query - width)}


def _as_under_any_mask(name, change):
    """A mistake of masked attention; no row is dead under this mask."""
    return replace(*pick(MASKING_MISTAKES, name), change=change)


CAUSAL_MISTAKES = (
    *map(_with_dead_rows, pick(CAUSAL_MASK_MISTAKES, "mask inverted", "diagonal excluded",
                               "the future instead of the past", "aligned at the bottom right")),
    *pick(TRIANGLE_MISTAKES, "one key too many", "n_q and n_k swapped", "square mask"),
    *alike("Causal means that query i sees the keys 0 to i, its own position too, and nothing after them.",
           "Which keys may query 0 see, which query 1, and which the last one?",
           ("mask ignored", {"fill": no_fill}, "Every query sees every key."),
           ("the first key hidden", ways("compare", lambda key, query: (key <= query) & ((key > 0) | (query == 0)),
                                         lambda key, query: (key <= query) & (key > 0)),
            "Later queries do not see key 0."),
           ("diagonal excluded but for the first row", {"compare": lambda key, query: key < np.maximum(query, 1)},
            "Query 0 sees key 0; any other query sees the keys before its own position, and not that one.")),
    Mistake("a window of keys", change=tuple(map(_window, (2, 3))), numbers=each(_window, lambda n: n in range(4, 20)),
            does="Each query sees its own position and a few before it, and no earlier key.",
            why="Causal means all keys up to the query's own position; a window is a mask of its own.",
            ask="Which keys may the last query see?"),
    Mistake("large negative number instead of -inf", change=_filled(-1e4, -9999.0, -1e3, -100.0),
            numbers=each(lambda number: _filled(number)[0], lambda number: number < 0),
            does="Scores of later keys are a number such as -10000, which is not below every score.",
            why="Scores may be as low themselves; then later keys get a weight. Only -inf is below every score.",
            ask="What are the weights of query 0 if its only allowed score is -10000 too?"),
    Mistake("large negative number added", change=tuple(map(_added, (1e4, 1e3, 100.0))),
            numbers=each(_added, lambda number: abs(number) >= 1),
            does="Scores of later keys are lowered by a number such as 10000.",
            why="A later key's score may lie higher above the allowed ones than that. Only -inf is below every score.",
            ask="What is left of a score of 10000 if 10000 is subtracted, and is it below -10000?"),
    *(_as_under_any_mask(name, change) for name, change in (
        ("masked scores set to 0", _filled(0.0)), ("+inf instead of -inf", _filled(np.inf)),
        ("mask added", {"fill": lambda scores, mask, dtype: scores + mask}),
        ("0 times infinity",
         {"answer": lambda query, key, value: np.full((*query.shape[:-1], value.shape[-1]), np.nan)}),
        ("positive number instead of -inf", _filled(1e9, 1e4, 1.0, 1e-9)),
        ("the lowest score instead of -inf", ways("fill", *map(as_low_as_the_lowest, (None, -1)))),
        ("mask after the softmax", {"fill": no_fill, "mask_weights": only_allowed}),
        ("-inf after the softmax", tuple({"fill": no_fill, "mask_weights": lambda weights, mask, e=e: np.where(
            mask, weights, e)} for e in (-np.inf, -1e9))),
        ("masked keys in the maximum", {"fill": no_fill, "mask_powers": only_allowed}))),
)


def attention_torch_causal_cases():
    def huge(query, key):
        value = np.arange(1.0, len(key) + 1)
        return Case(HUGE, tuple(np.array(array, float)[:, None] for array in (query, key, value)), True)

    return attention_torch_cases() + [huge([-100, -100, 100], [100, 99, -100]), huge([-100, 0, 100], [99, 100, 98]),
                                      huge([100, 1, -100], [-100, 100, 50]), huge([0, 0, -1000], [1, 1.01, 1.02]),
                                      huge([0] * 10 + [1000], [1] * 10 + [0]), huge([1000, 0], [1])]


EXERCISE = Exercise(
    name="attention_torch_causal", signature="(query, key, value)", place=6,
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
    mistakes=(
        *CAUSAL_MISTAKES, *WIDTH_MISTAKES, *TORCH_MISTAKES,
        *pick(ATTENTION_MISTAKES,
              "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)", "sqrt(n_k) instead of sqrt(d_k)",
              "sqrt(n_q) instead of sqrt(d_k)", "1/2 instead of a square root", "d_k read from the first axis",
              "d_k read from the second axis", "d_k fixed in the code", "sqrt(d_v) instead of sqrt(d_k)",
              "temperature applied", "scale after the softmax", "K Qᵀ instead of Q Kᵀ", "no transpose",
              "reshape instead of transpose", ".T on a batched array", "elementwise product",
              "cosine instead of dot product", "axes counted from the front", "no maximum subtracted",
              "one maximum for the whole array", "minimum subtracted instead of maximum",
              "mean subtracted instead of maximum", "scores clipped", "maximum without keepdims",
              "maximum over the wrong axis", "no exponential", "power of 2 instead of e", "sigmoid instead of softmax",
              "argmax instead of softmax", "sign flipped", "not divided by the sum", "sum over the wrong axis",
              "epsilon in the denominator", "divided by the mean", "sum without keepdims",
              "softmax over the queries' axis", "softmax over the first axis", "softmax over all axes but the first",
              "softmax over the second axis", "softmax over everything", "softmax after the values",
              "softmax left out", "softmax of the output", "softmax plus one", "Aᵀ V instead of A V",
              "V A instead of A V", "transposed values", "A * V instead of A @ V", "reshaped values", "rounded",
              "weights averaged over the batch", "outputs summed over the batch", "one key left out",
              "softmax of the weights", "divided by the number of features", "key and value swapped",
              "values instead of keys", "queries instead of values", "keys instead of values",
              "scores returned instead of the output", "weights returned instead of the output",
              "values returned instead of the output", "input added")),
    **ON_TORCH,
)
