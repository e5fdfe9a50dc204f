"""The exercise attention_torch_causal."""

import dataclasses

import numpy as np

from ...families.choose import pick, without
from ...families.masked_attention import MASKING_MISTAKES
from ...families.masks import CAUSAL_MASK_MISTAKES, TRIANGLE_MISTAKES, TRIANGLE_STEPS, aligned_mask_answer, fill_with
from ...families.torch_attention import (ATTENTION_TORCH_MISTAKES, HALF_ASPECTS, TORCH_STEPS, attention_torch_answer,
    attention_torch_cases, calls_own_attention, hooked, leaves_torch, stays_on_the_cpu)
from ...families.torch_calls import torch_missing
from ...model import HUGE, Case, Exercise, Mistake, Step, each


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


def _no_fill(scores, mask, dtype):
    return scores


def _only_allowed(array, mask):
    return np.where(mask, array, 0.0)


def with_dead_rows(mistake):
    """The mistake with each of the things that rows without any key become: NaN, equal weights, zeros."""
    return dataclasses.replace(mistake, change=tuple(
        {**change, **more} for change in mistake.variants for more in (
            {}, {"fill": fill_with(-1e9)}, {"mask_weights": lambda weights, mask: np.nan_to_num(weights)})))


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
    *map(with_dead_rows, pick(CAUSAL_MASK_MISTAKES, "mask inverted", "diagonal excluded",
                              "the future instead of the past", "aligned at the bottom right")),
    *pick(TRIANGLE_MISTAKES, "one key too many", "n_q and n_k swapped", "square mask"),
    Mistake("masked scores set to 0", change={"fill": fill_with(0.0)},
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
    causal_form(MASKING_MISTAKES, "+inf instead of -inf", {"fill": fill_with(np.inf)}),
    Mistake("0 times infinity",
            change={"answer": lambda query, key, value: np.full((*query.shape[:-1], value.shape[-1]), np.nan)},
            does="Every query gets NaN.",
            why="0 * inf is NaN: a mask times infinity does not leave allowed scores alone.",
            ask="What is 0 * inf, and how can the mask choose instead of multiply?"),
    Mistake("large negative number instead of -inf",
            change=tuple({"fill": fill_with(value)} for value in (-1e4, -9999.0, -1e3, -100.0)),
            numbers=each(lambda value: {"fill": fill_with(value)}, lambda value: value < 0),
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
                *({"fill": fill_with(value)} for value in (1e9, 1e4, 1.0, 1e-9))),
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


EXERCISE = Exercise(
    name="attention_torch_causal", signature="(query, key, value)", place=5,
    axes=dict(query="n_q d_k", key="n_k d_k", value="n_k d_v"), answer_axes="n_q d_v", library="torch",
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
    mistakes=(*without(ATTENTION_TORCH_MISTAKES, "causal mask applied"), *CAUSAL_MISTAKES),
    audits=(calls_own_attention, leaves_torch, stays_on_the_cpu), missing=torch_missing,
    seconds=6.0,  # torch takes its time to start on a busy machine
    aspects=HALF_ASPECTS,
)
