"""Attention under a mask: its steps, and what goes wrong in them."""

import math

import numpy as np

from ..model import Mistake, alike
from .attention import ATTENTION_STEPS
from .masks import MASK_STEPS, fill_with
from .scores import softmax_of, swap
from .softmax import SOFTMAX_STEPS


def _somewhere(mask):
    """True for the rows that may attend to something."""
    return mask.any(axis=-1, keepdims=True)


def _left_alone(weights, mask, scores):
    return weights


MASKED_STEPS = {
    **ATTENTION_STEPS,
    **MASK_STEPS,
    "mask_in": lambda mask: mask,
    "combine_mask": lambda mask, scores: mask,
    "mask_powers": lambda powers, mask: powers,
    "mask_weights": lambda weights, mask: weights,
    "fill_weights": lambda weights, mask, dtype: weights,
    "dead_rows": lambda weights, mask, scores: np.where(_somewhere(mask), weights, 0.0),
}


def _filled(value):
    """A number for -inf, as the dtype can hold it: -1e9 is -inf in float16."""
    def fill(scores, mask, dtype):
        with np.errstate(over="ignore"):
            return np.where(mask, scores, float(np.array(value).astype(dtype)))

    return fill


def added_to_masked(value, native=True, product=False):
    """A number added to masked scores: in the input's dtype or in float64, as it is or as (1 - mask) * value."""
    def fill(scores, mask, dtype):
        kind = np.dtype(dtype if native else "float64").type
        with np.errstate(all="ignore"):
            bias = (1 - mask).astype(kind) * kind(value) if product else np.where(mask, 0, value).astype(kind)
            return (scores.astype(kind) + bias).astype(np.float64)

    return fill


def only_allowed(weights, mask):
    return np.where(mask, weights, 0.0)


def numbers_only(weights, mask, scores):
    return np.nan_to_num(weights)


def no_fill(scores, mask, dtype):
    return scores


def as_low_as_the_lowest(axis, less=0):
    """Masked scores as low as the lowest one, of all or of the row, or lower by a number."""
    return lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=axis, keepdims=True) - less)


def with_dead_rows(*functions):
    """Variants of the fill: with the dead rows handled, and with them left alone."""
    return tuple({"fill": fill, **more} for fill in functions for more in ({}, {"dead_rows": _left_alone}))


def _dead_rows_get(change):
    """A change of the weights of rows that may attend to nothing."""
    return {"dead_rows": lambda weights, mask, scores: np.where(_somewhere(mask), weights, change(weights, scores))}


def _hidden_rows_get(number):
    """A change of the weights of rows that hold a masked key."""
    return {"dead_rows": lambda weights, mask, scores: np.where(
        mask.all(axis=-1, keepdims=True), weights, number(weights.shape[-1]))}


def _for_all_queries(choose):
    """One row of the mask for all queries."""
    return {"combine_mask": lambda mask, scores: np.broadcast_to(
        choose(np.broadcast_to(mask, scores.shape)), scores.shape)}


# without a maximum a large negative number cannot be told from -inf
KNOWN_SHIFT = {"shift": SOFTMAX_STEPS["shift"]}

LARGE = (-1e9, -1e4, -9999.0, -1e3, -100.0, -50.0, -30.0, -1e5, -1e6, -1e8, -1e10, -1e7, -500.0)

LARGE_ADDED = ((-1e9,), (-1e9, False), (-1e9, True, True), (-1e10,), (-1e10, False), (-1e10, True, True),
               (-1e4,), (-1e3,), (-1e5,), (-1e6,), (-1e8,))
# np.log(mask + 1e-9)
LOGARITHMS = tuple((math.log(e), False) for e in (1e-9, 1e-6, 1e-8, 1e-10, 1e-12))

MASKING_MISTAKES = (
    Mistake("mask inverted",
            change=({"sense": np.logical_not},
                    *({"fill": lambda scores, mask, dtype: np.where(mask, -np.inf, scores), "dead_rows": dead}
                      for dead in (MASKED_STEPS["dead_rows"], numbers_only))),
            does="Queries attend to the keys that are hidden from them, and not to the others.",
            why="Here True means: may attend, as in torch's scaled_dot_product_attention. Other libraries "
                "mean the opposite; mixing the two is the most frequent mask error.",
            ask="Which scores must become -inf, those where the mask is True or those where it is False?"),
    *alike("Where the mask is False the score must become -inf, before the softmax, so that the weight is 0.",
           "Where in your function does the mask change a score?",
           ("mask ignored", {"sense": lambda mask: mask, "fill": no_fill, "dead_rows": _left_alone},
            "Every query attends to every key."),
           ("mask only in dead rows", {"fill": no_fill},
            "A query that may attend to nothing gets zeros; every other one attends to every key.")),
    *alike("Only -inf is below every score in every dtype, and only its exponential is exactly 0.",
           "Which score gives a weight of exactly 0 after the softmax?",
           ("masked scores set to 0", with_dead_rows(fill_with(0.0)),
            "Masked scores are 0, as if the mask were multiplied with the scores: exp(0) is 1, a weight for each."),
           ("mask added", with_dead_rows(lambda scores, mask, dtype: scores + mask),
            "True counts as 1: scores of allowed keys grow by 1, and masked ones stay as they are."),
           ("+inf instead of -inf", with_dead_rows(fill_with(np.inf)),
            "A query with a masked key gets NaN: exp(+inf) is infinite, and inf / inf is NaN."),
           ("0 times infinity", with_dead_rows(lambda scores, mask, dtype: scores + np.where(mask, np.nan, -np.inf)),
            "A query that may attend to something gets NaN, as 0 * inf is."),
           ("positive number instead of -inf", with_dead_rows(*map(_filled, (1e9, 1e4, 1.0, 1e-9))),
            "Masked scores are a number above 0: 1e9, say, or 1e-9, which is nearly 0 and no large negative number."),
           ("the lowest score instead of -inf", with_dead_rows(*map(as_low_as_the_lowest, (None, -1))),
            "Masked scores are as low as the lowest one, and no lower."),
           ("large negative number instead of -inf", (
               *({"fill": _filled(value), "dead_rows": _left_alone, **KNOWN_SHIFT} for value in LARGE),
               *({"fill": _filled(value), **KNOWN_SHIFT} for value in LARGE[1:7]),
               {"fill": _filled(LARGE[0]), "dead_rows": numbers_only, **KNOWN_SHIFT}),
            "Masked scores are a number such as -1e9: beside scores as low they get a weight. A query that may attend "
            "to nothing gets uniform weights, or NaN in float16 where the number overflows, unless its weights are set "
            "to 0 afterwards."),
           ("large negative number added", (
               *({"fill": added_to_masked(*how), "dead_rows": _left_alone, **KNOWN_SHIFT}
                 for how in (*LARGE_ADDED, *LOGARITHMS)),
               *({"fill": added_to_masked(*how)} for how in ((-1e4,), (-1e3,), *LOGARITHMS))),
            "Masked scores are lowered by a number such as 1e9: their differences stay, and show in a row in which all "
            "keys are masked, unless its weights are set to 0 afterwards.")),
    *alike("Only -inf is below every score in every dtype, and only its exponential is exactly 0.",
           "Which score gives a weight of exactly 0 after the softmax?",
           ("only below the lowest score", with_dead_rows(
               as_low_as_the_lowest(None, 1), as_low_as_the_lowest(-1, 1),
               lambda scores, mask, dtype: np.where(mask, scores, scores - scores.max())),
            "Masked scores are a little lower than the lowest one."), alone=True),
    *alike("The masked keys have taken part in the softmax's sum. They must be hidden before it.",
           "What do the weights of one query sum to after your mask?",
           ("mask after the softmax", tuple({"fill": no_fill, "mask_weights": hide} for hide in (
               only_allowed, lambda weights, mask: weights * mask)),
            "Masked weights are 0, but the weights of a query no longer sum to 1."),
           ("-inf after the softmax", tuple(
               {"fill": no_fill, "fill_weights": _filled(number), **more}
               for number in (-np.inf, -1e9) for more in ({}, {"dead_rows": _left_alone})),
            "Masked weights, and not masked scores, become -inf or a large negative number.")),
    Mistake("masked keys in the maximum", change={"fill": no_fill, "mask_powers": only_allowed},
            does="It is right, unless a masked key's score is far above the allowed ones: then all "
                 "allowed exponentials are 0, and so is their sum.",
            why="The maximum that is subtracted must be that of the allowed scores. So the mask comes "
                "before the maximum, not after the exponential or the softmax.",
            ask="What is left of the scores 0 and 1 if a masked score of 10000 is the maximum?"),
    *alike("Row i of the mask belongs to query i, column j to key j, as in the scores; where it has one row, that is "
           "meant for all.",
           "What does entry (0, 1) of the mask say, and for which query?",
           ("mask transposed", ({"sense": lambda mask: swap(mask) if mask.ndim > 1 else mask}, {"sense": swap},
                                {"sense": lambda mask: mask.T}),
            "The mask's rows are taken for keys and its columns for queries."),
           ("the first row of the mask for all", (
               *({"sense": lambda mask, part=part: mask[..., part, :] if mask.ndim > 1 else mask}
                 for part in (slice(1), slice(-1, None))),
               {"sense": lambda mask: mask[0] if mask.ndim > 1 else mask}),
            "One row of the mask, the first or the last, or mask[0], is used for all queries."),
           ("hidden for all queries", tuple(
               {**_for_all_queries(lambda mask, reduce=reduce: reduce(mask, axis=-2, keepdims=True)), **more}
               for reduce in (np.all, np.any) for more in ({}, {"dead_rows": _left_alone})),
            "A key is hidden from all queries as soon as it is hidden from one, or only if it is from all.")),
    Mistake("equal weights for all allowed keys",
            change=tuple({"finish_scores": lambda scores: 0 * scores, **more}
                         for more in ({}, {"dead_rows": _left_alone})),
            does="A query gets the plain mean of the values that it may attend to.",
            why="The mask says which keys may count; how much each of them counts is up to its score.",
            ask="Where do the scores enter your weights?"),
    Mistake("dead rows NaN", change={"dead_rows": _left_alone},
            does="A query that may attend to nothing gets NaN.",
            why="Its maximum is -inf, and -inf - -inf is NaN. By definition its output is 0.",
            ask="What is the maximum of a row in which every score is -inf, and what is its sum of exponentials?"),
    *alike("By definition the output of a query that may attend to nothing is 0, and the others attend as the mask "
           "says.",
           "What are the weights of a row in which every key is masked, and which rows are these?",
           ("dead rows uniform", _dead_rows_get(lambda weights, scores: 1 / weights.shape[-1]),
            "A query that may attend to nothing gets the mean of all values: its weights come out equal, as with a "
            "very negative number in place of -inf."),
           ("dead rows not masked", _dead_rows_get(lambda weights, scores: softmax_of(scores)),
            "A query that may attend to nothing attends to every key, as if there were no mask."),
           ("dead rows not divided", _dead_rows_get(lambda weights, scores: 1.0),
            "A query that may attend to nothing gets the sum of all values: exp(0) is 1, and nothing was divided."),
           ("dead rows attend to one key", tuple(
               _dead_rows_get(lambda weights, scores, at=at: np.eye(weights.shape[-1])[at]) for at in (0, -1)),
            "A query that may attend to nothing gets the first value, or the last one."),
           ("every row that holds a masked key set to 0", _hidden_rows_get(lambda n: 0.0),
            "Only a query that may attend to every key gets an output; all others get zeros."),
           ("rows that hold a masked key uniform", _hidden_rows_get(lambda n: 1 / n),
            "A query from which any key is hidden gets the mean of all values."),
           ("everything 0 if one query may attend to nothing", {"dead_rows": lambda weights, mask, scores: (
               np.where(_somewhere(mask), weights, 0.0) * _somewhere(mask).all())},
            "As soon as one query may attend to nothing, all queries get zeros.")),
)
