"""Attention under a mask: its steps, and what goes wrong in them."""

import numpy as np

from ..model import Mistake
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


def _inverted_fill(scores, mask, dtype):
    return np.where(mask, -np.inf, scores)


def _swapped_mask(mask):
    return swap(mask) if mask.ndim > 1 else mask


def _all_or_nothing(weights, mask, scores):
    """Zeros everywhere, if one query may attend to nothing."""
    return weights * 0.0 if not _somewhere(mask).all() else weights


def without_dead_rows(*changes):
    """Each change twice: with the dead rows handled, and with them left alone."""
    return tuple({**change, **more} for change in changes for more in ({}, {"dead_rows": _left_alone}))


# without a maximum a large negative number cannot be told from -inf
KNOWN_SHIFT = {"shift": SOFTMAX_STEPS["shift"]}

LARGE = (-1e9, -1e4, -9999.0, -1e3, -100.0, -50.0, -30.0, -1e5, -1e6, -1e8, -1e10, -1e7, -500.0)

LARGE_ADDED = ((-1e9,), (-1e9, False), (-1e9, True, True), (-1e10,), (-1e10, False), (-1e10, True, True),
               (-1e4,), (-1e3,), (-1e5,), (-1e6,), (-1e8,))

MASKING_MISTAKES = (
    Mistake("mask inverted",
            change=({"sense": lambda mask: ~mask}, {"fill": _inverted_fill, "dead_rows": MASKED_STEPS["dead_rows"]},
                    {"fill": _inverted_fill, "dead_rows": numbers_only}),
            does="Queries attend to the keys that are hidden from them, and not to the others.",
            why="Here True means: may attend, as in torch's scaled_dot_product_attention. Other libraries "
                "mean the opposite; mixing the two is the most frequent mask error.",
            ask="Which scores must become -inf, those where the mask is True or those where it is False?"),
    Mistake("mask ignored", change={"sense": lambda mask: mask, "fill": lambda scores, mask, dtype: scores,
                    "dead_rows": _left_alone},
            does="Every query attends to every key.",
            why="Where the mask is False the score must become -inf, so that the weight is 0.",
            ask="Where in your function does the mask change a score?"),
    Mistake("mask only in dead rows", change={"fill": lambda scores, mask, dtype: scores},
            does="A query that may attend to nothing gets zeros; every other one attends to every key.",
            why="Where the mask is False the score must become -inf, so that the weight is 0.",
            ask="Where in your function does the mask change a score?"),
    Mistake("masked scores set to 0", change=without_dead_rows({"fill": fill_with(0.0)}),
            does="Masked scores are 0, as if the mask were multiplied with the scores.",
            why="exp(0) is 1: a masked key keeps a weight, more than one with a negative score.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("mask added", change=without_dead_rows({"fill": lambda scores, mask, dtype: scores + mask}),
            does="Scores of allowed keys grow by 1, and masked ones stay as they are.",
            why="A boolean mask counts as 0 and 1 in a sum. It has to choose, not to be added.",
            ask="What does True + 2.5 give, and what should it give?"),
    Mistake("+inf instead of -inf", change=without_dead_rows({"fill": fill_with(np.inf)}),
            does="A query with a masked key gets NaN.",
            why="exp(+inf) is infinite, and inf / inf is NaN. Only -inf has the exponential 0.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("0 times infinity",
            change=without_dead_rows({"fill": lambda scores, mask, dtype: scores + np.where(mask, np.nan, -np.inf)}),
            does="A query that may attend to something gets NaN.",
            why="0 * inf is NaN: a mask times infinity does not leave allowed scores alone.",
            ask="What is 0 * inf, and how can the mask choose instead of multiply?"),
    Mistake("large negative number instead of -inf",
            change=tuple({"fill": _filled(value), "dead_rows": _left_alone, **KNOWN_SHIFT} for value in LARGE)
                   + tuple({"fill": _filled(value), **KNOWN_SHIFT} for value in LARGE[1:7])
                   + ({"fill": _filled(LARGE[0]), "dead_rows": numbers_only, **KNOWN_SHIFT},),
            does="Masked scores are a number such as -1e9: beside scores as low they get a weight. A query that may "
                 "attend to nothing gets uniform weights, or NaN in float16 where the number overflows, unless its "
                 "weights are set to 0 afterwards.",
            why="Scores may be large themselves, and in a row in which all keys are masked all "
                "scores are equal. Only -inf is below every score in every dtype.",
            ask="What if the allowed scores of a row are as low as your number, or if no key is allowed?"),
    Mistake("large negative number added",
            change=tuple({"fill": added_to_masked(*how), "dead_rows": _left_alone, **KNOWN_SHIFT} for how in LARGE_ADDED)
                   + ({"fill": added_to_masked(-1e4)}, {"fill": added_to_masked(-1e3)}),
            does="Masked scores are lowered by a large number; a query that may attend to nothing "
                 "still compares its keys.",
            why="Differences between masked scores survive, and show in a row in which all keys are "
                "masked. Only -inf is below every score in every dtype.",
            ask="What are the weights of a row in which every key is masked?"),
    Mistake("positive number instead of -inf",
            change=tuple({"fill": _filled(value), **more} for value in (1e9, 1e4, 1.0, 1e-9)
                         for more in ({}, {"dead_rows": _left_alone})),
            does="Masked scores are a number above 0, such as 1e9 or 1e-9.",
            why="exp of it is 1 or more: masked keys get weight, or even all of it. 1e-9 is nearly 0; "
                "the large negative number is -1e9, and only -inf is below every score.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("the lowest score instead of -inf",
            change=without_dead_rows(
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min())},
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=-1, keepdims=True))}),
            does="Masked scores are as low as the lowest one, and no lower.",
            why="The lowest score still has a weight.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("mask after the softmax",
            change=({"fill": lambda scores, mask, dtype: scores, "mask_weights": only_allowed},
                    {"fill": lambda scores, mask, dtype: scores, "mask_weights": lambda weights, mask: weights * mask},
                    *({"fill": lambda scores, mask, dtype: scores,
                       "mask_weights": lambda weights, mask, e=e: np.where(mask, weights, e)} for e in (-np.inf, -1e9))),
            does="Masked weights are 0, but the weights of a query no longer sum to 1.",
            why="The masked keys have taken part in the softmax's sum. They must be hidden before it.",
            ask="What do the weights of one query sum to after your mask?"),
    Mistake("masked keys in the maximum",
            change={"fill": lambda scores, mask, dtype: scores, "mask_powers": only_allowed},
            does="It is right, unless a masked key's score is far above the allowed ones: then all "
                 "allowed exponentials are 0, and so is their sum.",
            why="The maximum that is subtracted must be that of the allowed scores. So the mask comes "
                "before the maximum, not after the exponential or the softmax.",
            ask="What is left of the scores 0 and 1 if a masked score of 10000 is the maximum?"),
    Mistake("hidden for all queries", alone=True,
            change=tuple({"combine_mask": lambda mask, scores, reduce=reduce: np.broadcast_to(
                reduce(np.broadcast_to(mask, scores.shape), axis=-2, keepdims=True), scores.shape), **more}
                for reduce in (np.all, np.any) for more in ({}, {"dead_rows": _left_alone})),
            does="A key is hidden from all queries as soon as it is hidden from one, or only if it is from all.",
            why="Each entry of the mask speaks for one query and one key.",
            ask="Over which axis does your all, or any, go?"),
    Mistake("everything 0 if one query may attend to nothing",
            change={"dead_rows": lambda weights, mask, scores: _all_or_nothing(
                MASKED_STEPS["dead_rows"](weights, mask, scores), mask, scores)},
            does="As soon as one query may attend to nothing, all queries get zeros.",
            why="Only that query's output is 0. The others attend as the mask lets them.",
            ask="For which rows do you set the output to 0: for all, or for those without any key?"),
    Mistake("dead rows attend to one key", alone=True,
            change=tuple({"dead_rows": lambda weights, mask, scores, at=at: np.where(
                _somewhere(mask), weights, np.eye(weights.shape[-1])[at])} for at in (0, -1)),
            does="A query that may attend to nothing gets the first value, or the last one.",
            why="By definition its output is 0. argmax of equal scores is 0, and so picks the first key.",
            ask="What should a query get that may attend to nothing?"),
    Mistake("rows that hold a masked key uniform", alone=True,
            change={"dead_rows": lambda weights, mask, scores: np.where(
                mask.all(axis=-1, keepdims=True), weights, 1 / weights.shape[-1])},
            does="A query from which any key is hidden gets the mean of all values.",
            why="Only a row without any allowed key is special: not any, which is not the same as not all.",
            ask="For a row of True and False, what do any and all say?"),
    Mistake("only below the lowest score", alone=True, change=without_dead_rows(
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min() - 1)},
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=-1, keepdims=True) - 1)},
                {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores - scores.max())}),
            does="Masked scores are a little lower than the lowest one.",
            why="A score a little lower still has a weight. Only -inf is below every score.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("dead rows not divided", alone=True,
            change={"dead_rows": lambda weights, mask, scores: np.where(_somewhere(mask), weights, 1.0)},
            does="A query that may attend to nothing gets the sum of all values.",
            why="By definition its output is 0. exp(0) is 1 for every key, and nothing was divided.",
            ask="What should a query get that may attend to nothing?"),
    Mistake("mask transposed", change=({"sense": _swapped_mask}, {"sense": swap}, {"sense": lambda mask: mask.T}),
            does="The mask's rows are taken for keys and its columns for queries.",
            why="Row i of the mask belongs to query i, column j to key j, as in the scores.",
            ask="What does entry (0, 1) of the mask say?"),
    Mistake("equal weights for all allowed keys",
            change=without_dead_rows({"finish_scores": lambda scores: 0 * scores}),
            does="A query gets the plain mean of the values that it may attend to.",
            why="The mask says which keys may count; how much each of them counts is up to its score.",
            ask="Where do the scores enter your weights?"),
    Mistake("dead rows NaN", change={"dead_rows": _left_alone},
            does="A query that may attend to nothing gets NaN.",
            why="Its maximum is -inf, and -inf - -inf is NaN. By definition its output is 0.",
            ask="What is the maximum of a row in which every score is -inf, and what is its sum of exponentials?"),
    Mistake("every row that holds a masked key set to 0",
            change={"dead_rows": lambda weights, mask, scores: np.where(
                mask.all(axis=-1, keepdims=True), weights, 0.0)},
            does="Only a query that may attend to every key gets an output; all others get zeros.",
            why="A row is dead if nothing in it is allowed: not any, which is not the same as not all. And NaN "
                "that is replaced by 0 hides where it comes from: a fill of +inf spoils each of these rows.",
            ask="For a row of True and False, what do any and all say?"),
    Mistake("dead rows uniform",
            change={"dead_rows": lambda weights, mask, scores: np.where(
                _somewhere(mask), weights, 1 / weights.shape[-1])},
            does="A query that may attend to nothing gets the mean of all values.",
            why="Its weights come out equal: a very negative number in place of -inf does that, and a "
                "row whose scores were all set to 0. By definition its output is 0.",
            ask="What are the weights of a row in which every key is masked?"),
    Mistake("dead rows not masked",
            change={"dead_rows": lambda weights, mask, scores: np.where(
                _somewhere(mask), weights, softmax_of(scores))},
            does="A query that may attend to nothing attends to every key, as if there were no mask.",
            why="By definition its output is 0. A large negative number that is added to all its "
                "scores leaves their differences as they were.",
            ask="What are the weights of a row in which every key is masked?"),
)
