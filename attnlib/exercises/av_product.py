"""The exercises of the part "The AV product", and the steps and mistakes that later parts reuse."""

import dataclasses
import math

import numpy as np

from . import raw_scores, softmax
from .engine import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal
from .raw_scores import swap

PART = "The AV product"


# ---------------------------------------------------------------- av_product

def av_product_answer(do, weights, value):
    output = do.combine(do.weights_in(weights), do.values_in(value))
    return do.finish_output(output, weights, value)


AV_STEPS = {
    "weights_in": lambda weights: weights,
    "values_in": lambda value: value,
    "combine": lambda weights, value: weights @ value,
    "finish_output": lambda output, weights, value: output,
}


def _leading(array):
    return tuple(range(array.ndim - 2))


def _batch_mean(weights):
    return np.broadcast_to(weights.mean(axis=_leading(weights), keepdims=True), weights.shape)


def _query_mean(weights):
    return np.broadcast_to(weights.mean(axis=-2, keepdims=True), weights.shape)


def _best_only(weights):
    return (weights == weights.max(axis=-1, keepdims=True)) / 1.0


def _collapsed(reduce):
    def finish(output, weights, value):
        return reduce(output, axis=_leading(output)) if output.ndim > 2 else output

    return finish


def _reshaped(value):
    return value.reshape(*value.shape[:-2], value.shape[-1], value.shape[-2])


AV_MISTAKES = (
    Mistake("Aᵀ V instead of A V", change={"weights_in": swap},
            does="The weights are transposed: output j mixes values by what the queries give to key j.",
            why="Output i is the sum over keys j of weight (i, j) times value j. Aᵀ V sums over the "
                "queries, and fits only for n_q = n_k.",
            ask="Which index is summed over, that of the query or that of the key?"),
    Mistake("weights averaged over the batch", change={"weights_in": _batch_mean},
            does="All sequences of a batch, and all heads, use the same weights: their mean.",
            why="Leading axes are kept apart: each sequence and each head has weights of its own.",
            ask="Which indices of the weights may the sum touch?"),
    Mistake("weights averaged over the queries", change={"weights_in": _query_mean},
            does="All queries get the same output.",
            why="Each query mixes the values in its own way; that is the point of attention.",
            ask="What makes output i different from output j?"),
    Mistake("weights ignored", change=({"weights_in": lambda w: np.full_like(w, 1 / w.shape[-1])},
                                       {"weights_in": lambda w: np.ones_like(w)}),
            does="Every query gets the plain mean, or the sum, of all values.",
            why="A value counts as much as its weight says.",
            ask="Where does your output depend on the weights?"),
    Mistake("only the best key's value",
            change=({"weights_in": lambda w: softmax._first_hot(w, -1)}, {"weights_in": _best_only}),
            does="Each query gets the one value with the largest weight.",
            why="All values count, each with its weight; choosing one has no useful gradient.",
            ask="What do the smaller weights contribute?"),
    Mistake("weights normalised again", change={"weights_in": lambda w: w / w.sum(axis=-1, keepdims=True)},
            does="The weights are divided by their sum once more.",
            why="That undoes dropout and everything else that was done to the weights on purpose. "
                "The product takes them as they are.",
            ask="What should happen to a row of weights that sums to 0.8?"),
    Mistake("softmax of the weights", change={"weights_in": raw_scores._softmax},
            does="The weights go through another softmax, and are nearly equal.",
            why="They are weights already; the product takes them as they are.",
            ask="What does a softmax do to numbers between 0 and 1?"),
    Mistake("A * V instead of A @ V", change={"combine": lambda w, v: w * v},
            does="Weights and values are multiplied entry by entry, where the shapes fit at all.",
            why="Each query sums over all values; * sums nothing.",
            ask="Which operator sums over the keys, * or @?"),
    Mistake("V A instead of A V", change={"combine": lambda w, v: v @ w},
            does="The product has its factors swapped, where the shapes fit at all.",
            why="A product sums over the last axis of the left factor: that must be the keys' axis.",
            ask="Which of the two has the keys on its last axis?"),
    Mistake("transposed values", change={"values_in": swap},
            does="The values are transposed: the sum runs over features instead of keys.",
            why="Value j is row j. The keys' axis of the weights meets the rows of the values.",
            ask="What does the sum run over, keys or features?"),
    Mistake("reshaped values", change={"values_in": _reshaped},
            does="The values' numbers are dealt out anew into rows.",
            why="reshape keeps the order in memory; rows and columns lose their meaning.",
            ask="What does row j of the values mean before and after your reshape?"),
    Mistake("divided by the number of keys", change={"finish_output": lambda out, w, v: out / w.shape[-1]},
            does="The output is n_k times too small.",
            why="The weights sum to 1 already: their weighted sum is the mean.",
            ask="What is the output if all values are equal?"),
    Mistake("outputs summed over the batch",
            change=({"finish_output": _collapsed(np.sum)}, {"finish_output": _collapsed(np.mean)}),
            does="Leading axes disappear: the sequences of a batch are mixed.",
            why="Leading axes are kept: each sequence and each head has an output of its own.",
            ask="Which indices must stand in the answer beside i?"),
    Mistake("one key left out",
            change=({"combine": lambda w, v: w[..., :-1] @ v[..., :-1, :]},
                    {"combine": lambda w, v: w[..., 1:] @ v[..., 1:, :]}),
            does="The first or the last key's value is missing from every output.",
            why="All n_k values count; positions run from 0 to n_k - 1, and range(n) ends at n - 1.",
            ask="Which keys does your sum run over?"),
    Mistake("one key alone",
            change=({"combine": lambda w, v: w[..., -1:] @ v[..., -1:, :]},
                    {"combine": lambda w, v: w[..., :1] @ v[..., :1, :]}),
            does="Only the first or the last key's value counts.",
            why="All n_k terms are added. = instead of += in a loop keeps the last one only.",
            ask="What does your loop do with the terms before?"),
    Mistake("np.dot of batched weights", change={"combine": np.dot},
            does="With leading axes each sequence of the batch meets every other one, and the "
                 "answer has too many axes.",
            why="np.dot pairs all leading axes of both arrays; @ and np.matmul go through them together.",
            ask="Which product treats leading axes as a batch?"),
    Mistake("output transposed", change={"finish_output": lambda out, w, v: swap(out)},
            does="The answer has shape (..., d_v, n_q).",
            why="Row i of the output belongs to query i, as in the weights.",
            ask="What should one row of the output belong to?"),
    Mistake("features summed", change={"finish_output": lambda out, w, v: out.sum(axis=-1)},
            does="Each query gets one number.",
            why="The sum runs over the keys; each of the d_v features keeps its own.",
            ask="Which index disappears, and which stays?"),
)

DROPPED = "weights after dropout"


def _weights(*shape, seed=0, dtype=np.float64):
    return raw_scores._softmax(normal(*shape, seed=seed, scale=2.0)).astype(dtype)


def _av_cases():
    f4, f2 = np.float32, np.float16
    return [
        Case(PLAIN, (np.array([[0.5, 0.5, 0.0]]), np.array([[2.0, 4.0], [6.0, 0.0], [1.0, 1.0]]))),
        Case(PLAIN, (np.array([[1.0, 0.0], [0.25, 0.75], [0.5, 0.5]]), np.array([[4.0], [8.0]]))),
        Case(PLAIN, (_weights(5, 7, seed=1), normal(7, 3, seed=2))),
        Case(PLAIN, (_weights(7, 3, seed=3), normal(3, 11, seed=4))),
        Case(SQUARE, (np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[2.0, 4.0], [6.0, 0.0]]))),
        Case(SQUARE, (_weights(5, 5, seed=5), normal(5, 3, seed=6))),
        Case(SQUARE, (_weights(3, 3, seed=5), normal(3, 3, seed=6))),
        Case(LEADING, (np.array([[[1.0, 0.0]], [[0.5, 0.5]]]), np.array([[[2.0], [4.0]], [[6.0], [0.0]]]))),
        Case(LEADING, (_weights(2, 5, 7, seed=7), normal(2, 7, 3, seed=8))),
        Case(LEADING, (_weights(2, 3, 5, 7, seed=7), normal(2, 3, 7, 11, seed=8))),
        Case(DROPPED, (np.array([[0.5, 0.0], [0.0, 0.0]]), np.array([[2.0], [6.0]]))),
        Case(FLOAT32, (np.array([[0.5, 0.5]], f4), np.array([[2], [6]], f4))),
        Case(FLOAT32, (_weights(5, 3, seed=9, dtype=f4), normal(3, 7, seed=10, dtype=f4))),
        Case(FLOAT16, (_weights(2, 5, seed=11, dtype=f2), normal(5, 3, seed=12, dtype=f2))),
    ]


av_product = Exercise(
    name="av_product", signature="(weights, value)", part=PART,
    text="The weighted sums of the values, one for each query: shape (..., n_q, d_v), for weights of "
         "shape (..., n_q, n_k) and values of shape (..., n_k, d_v).",
    answer=av_product_answer, steps=AV_STEPS, cases=_av_cases,
    hints=(
        "Output i is the sum over all keys j of weight (i, j) times value j.",
        "Value j is row j of value. Which product of two matrices multiplies a row of the left one "
        "with the rows of the right one?",
        "A matrix product sums over the last axis of the left factor and the last but one of the "
        "right factor. Both are the keys' axis here: nothing needs to be transposed.",
    ),
    mistakes=AV_MISTAKES,
)

# ---------------------------------------------------------------- attention

def attention_answer(do, query, key, value):
    scores = do.rescale(raw_scores.raw_scores_answer(do, query, key), query, value)
    weights = softmax.softmax_steps_answer(do, scores, -1)
    output = av_product_answer(do, do.scale_weights(weights, query), do.choose_values(query, key, value))
    return do.answer_out(output, weights, scores)


ATTENTION_STEPS = {
    **raw_scores.SCORE_STEPS, **softmax.SOFTMAX_STEPS, **AV_STEPS,
    "rescale": lambda scores, query, value: scores,
    "scale_weights": lambda weights, query: weights,
    "choose_values": lambda query, key, value: value,
    "answer_out": lambda output, weights, scores: output,
}


def pick(mistakes, *names):
    """The mistakes of these names, in the order of the names; every name must exist."""
    found = {mistake.name: mistake for mistake in mistakes}
    return tuple(found[name] for name in names)


def drop(mistakes, *names):
    """All mistakes but those of these names."""
    pick(mistakes, *names)
    return tuple(mistake for mistake in mistakes if mistake.name not in names)


ATTENTION_SOFTMAX_MISTAKES = (
    *pick(softmax.SHIFT_MISTAKES, "no maximum subtracted", "one maximum for the whole array",
          "minimum subtracted instead of maximum", "mean subtracted instead of maximum",
          "maximum of absolute values"),
    *pick(softmax.EXPONENTIAL_MISTAKES, "no exponential", "power of 2 instead of e",
          "sigmoid instead of softmax", "argmax instead of softmax"),
    softmax.SIGN,
    *pick(softmax.TOTAL_MISTAKES, "not divided by the sum",
          "one sum for the whole array", "sum over the wrong axis", "sum without keepdims",
          "epsilon in the denominator"),
    *softmax.AXIS_MISTAKES,
    Mistake("softmax left out",
            change={"shift": lambda s, axis: s, "exponential": lambda s, axis: s, "divide": lambda p, t: p},
            does="The values are mixed with the raw scores themselves.",
            why="Scores may be negative and of any size; the softmax turns each row into shares of one whole.",
            ask="What must the weights of one query sum to?"),
    Mistake("scale after the softmax",
            change={"scale": lambda scores, query, key: scores,
                    "scale_weights": lambda weights, query: weights / math.sqrt(query.shape[-1])},
            does="The weights of one query sum to 1/sqrt(d_k), not to 1.",
            why="The scale keeps the scores small before exp; afterwards it only shrinks the output.",
            ask="Which of the two should the scale change, the scores or the weights?"),
)

def _by_d_v(scores, query, value):
    return scores * math.sqrt(query.shape[-1] / value.shape[-1])


SCALE_BY_D_V = Mistake(
    "sqrt(d_v) instead of sqrt(d_k)", change={"rescale": _by_d_v},
    does="The scale depends on the length of the values.",
    why="A score is a sum of d_k products of queries and keys; the values have no part in it.",
    ask="Whose last axis does the sum in q · k run over?")

VALUE_MISTAKES = (
    Mistake("queries instead of values", change={"choose_values": lambda query, key, value: query},
            does="The queries are mixed, not the values; that fits only for n_q = n_k.",
            why="The weights run over the keys, and each key has a value.",
            ask="What are the values there for?"),
    Mistake("keys instead of values", change={"choose_values": lambda query, key, value: key},
            does="The keys are mixed, not the values.",
            why="The keys decide how much each position counts; what it contributes is its value.",
            ask="What are the values there for?"),
    Mistake("weights returned instead of the output", change={"answer_out": lambda output, weights, scores: weights},
            does="The answer has shape (..., n_q, n_k): it holds the weights.",
            why="The weights still have to be applied to the values.",
            ask="What is the last step of attention?"),
)


def attention_cases():
    """The cases of raw_scores with values, and huge scores."""
    def with_value(case, number):
        key = case.args[1]
        d_v = {"equal sizes": key.shape[-1]}.get(case.aspect, 2 if key.size < 10 else 13)
        value = normal(*key.shape[:-1], d_v, seed=number)
        value = (np.round(4 * value) if key.size < 10 else value).astype(key.dtype)
        return Case(case.aspect, (*case.args, value))

    def huge(query, key):
        value = np.array([[1.0], [3.0], [2.0]])
        return Case(HUGE, (np.array(query, float), np.array(key, float), value), True)

    return [with_value(case, number) for number, case in enumerate(raw_scores.score_cases(), 20)] + [
        huge([[100], [0]], [[100], [99], [0]]), huge([[-100], [0]], [[100], [101], [102]]),
        huge([[100, 0], [1, 0]], [[0, 1], [0, 2], [0, 3]]),
        huge([[200], [1]], [[100], [-100], [100]]), huge([[4], [1]], [[100], [99], [0]]),
        Case(HUGE, (np.array([[1000.0]]), np.array([[1.0]] * 10 + [[0.0]]), np.arange(11.0)[:, None]), True),
    ]


attention = Exercise(
    name="attention", signature="(query, key, value)", part=PART,
    text="Scaled dot-product attention, softmax(Q Kᵀ / sqrt(d_k)) V, of shape (..., n_q, d_v).",
    answer=attention_answer, steps=ATTENTION_STEPS, cases=attention_cases,
    hints=(
        "Three steps, each an exercise of its own: scores, weights, output.",
        "The scores are Q Kᵀ / sqrt(d_k): swap the last two axes of key, and no others.",
        "The weights are the softmax of each row of the scores, over the keys: the last axis, with "
        "that row's maximum subtracted before exp.",
        "The output is weights @ value. With your earlier functions: raw_scores, then softmax, then av_product.",
    ),
    mistakes=(
        *raw_scores.SCALE_MISTAKES, SCALE_BY_D_V, raw_scores.CAUSAL_APPLIED,
        *drop(raw_scores.PRODUCT_MISTAKES, "summed over positions instead of features"),
        *ATTENTION_SOFTMAX_MISTAKES,
        *drop(AV_MISTAKES, "weights normalised again", "divided by the number of keys",
              "only the best key's value"),
        *VALUE_MISTAKES,
    ),
)

# ---------------------------------------------------------------- masked_attention

def masked_attention_answer(do, query, key, value, attn_mask):
    scores = do.rescale(raw_scores.raw_scores_answer(do, query, key), query, value)
    mask = do.sense(attn_mask)
    masked = do.scores_in(do.fill(scores, mask, do.dtype))
    axis = do.axis(-1, masked)
    powers = do.mask_powers(do.exponential(do.shift(masked, axis), axis), mask)
    weights = do.weights_out(do.divide(powers, do.total(powers, axis)))
    weights = do.dead_rows(do.mask_weights(weights, mask), mask, scores)
    output = av_product_answer(do, do.scale_weights(weights, query), do.choose_values(query, key, value))
    return do.answer_out(output, weights, scores)


def _somewhere(mask):
    """True for the rows that may attend to something."""
    return mask.any(axis=-1, keepdims=True)


def _left_alone(weights, mask, scores):
    return weights


MASKED_STEPS = {
    **ATTENTION_STEPS,
    **raw_scores.MASK_STEPS,
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


def _added(value, native=True, product=False):
    """A number added to masked scores: in the input's dtype or in float64, as it is or as (1 - mask) * value."""
    def fill(scores, mask, dtype):
        kind = np.dtype(dtype if native else "float64").type
        with np.errstate(all="ignore"):
            bias = (1 - mask).astype(kind) * kind(value) if product else np.where(mask, 0, value).astype(kind)
            return (scores.astype(kind) + bias).astype(np.float64)

    return fill


def _only_allowed(weights, mask):
    return np.where(mask, weights, 0.0)


def _numbers_only(weights, mask, scores):
    return np.nan_to_num(weights)


def _swapped_mask(mask):
    return swap(mask) if mask.ndim > 1 else mask


def without_dead_rows(*changes):
    """Each change twice: with the dead rows handled, and with them left alone."""
    return tuple({**change, **more} for change in changes for more in ({}, {"dead_rows": _left_alone}))


def with_numbers_only(mistake):
    """The mistake, with the dead rows found by the mask or by the NaN in the weights."""
    changes = [{**change, **more} for change in mistake.variants for more in ({}, {"dead_rows": _numbers_only})]
    return dataclasses.replace(mistake, change=tuple(changes))


LARGE = (-1e9, -1e4, -9999.0, -1e3, -100.0)
LARGE_ADDED = ((-1e9,), (-1e9, False), (-1e9, True, True), (-1e10,), (-1e10, False), (-1e10, True, True),
               (-1e4,), (-1e3,))

MASKING_MISTAKES = (
    Mistake("mask inverted",
            change=({"sense": lambda mask: ~mask}, {"fill": lambda scores, mask, dtype: np.where(mask, -np.inf, scores),
                     "dead_rows": MASKED_STEPS["dead_rows"]}),
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
    Mistake("masked scores set to 0", change=without_dead_rows({"fill": raw_scores.fill_with(0.0)}),
            does="Masked scores are 0, as if the mask were multiplied with the scores.",
            why="exp(0) is 1: a masked key keeps a weight, more than one with a negative score.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("mask added", change=without_dead_rows({"fill": lambda scores, mask, dtype: scores + mask}),
            does="Scores of allowed keys grow by 1, and masked ones stay as they are.",
            why="A boolean mask counts as 0 and 1 in a sum. It has to choose, not to be added.",
            ask="What does True + 2.5 give, and what should it give?"),
    Mistake("+inf instead of -inf", change=without_dead_rows({"fill": raw_scores.fill_with(np.inf)}),
            does="A query with a masked key gets NaN.",
            why="exp(+inf) is infinite, and inf / inf is NaN. Only -inf has the exponential 0.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("0 times infinity",
            change=without_dead_rows({"fill": lambda scores, mask, dtype: scores + np.where(mask, np.nan, -np.inf)}),
            does="A query that may attend to something gets NaN.",
            why="0 * inf is NaN: a mask times infinity does not leave allowed scores alone.",
            ask="What is 0 * inf, and how can the mask choose instead of multiply?"),
    Mistake("large negative number instead of -inf",
            change=tuple({"fill": _filled(value), "dead_rows": _left_alone} for value in LARGE)
                   + tuple({"fill": _filled(value)} for value in LARGE[1:]),
            does="Masked scores are a number such as -1e9. A query that may attend to nothing gets "
                 "uniform weights; in float16 the number may overflow, and the weights are NaN.",
            why="Scores may be large themselves, and in a row in which all keys are masked all "
                "scores are equal. Only -inf is below every score in every dtype.",
            ask="What are the weights of a row in which every key is masked?"),
    Mistake("large negative number added",
            change=tuple({"fill": _added(*how), "dead_rows": _left_alone} for how in LARGE_ADDED)
                   + ({"fill": _added(-1e4)}, {"fill": _added(-1e3)}),
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
            change={"fill": lambda scores, mask, dtype: scores, "mask_weights": _only_allowed},
            does="Masked weights are 0, but the weights of a query no longer sum to 1.",
            why="The masked keys have taken part in the softmax's sum. They must be hidden before it.",
            ask="What do the weights of one query sum to after your mask?"),
    Mistake("masked keys in the maximum",
            change={"fill": lambda scores, mask, dtype: scores, "mask_powers": _only_allowed},
            does="It is right, unless a masked key's score is far above the allowed ones: then all "
                 "allowed powers are 0, and 0 / 0 is NaN.",
            why="The maximum that is subtracted must be that of the allowed scores. So the mask comes "
                "before the maximum, not after the exponential or the softmax.",
            ask="What is left of the scores 0 and 1 if a masked score of 10000 is the maximum?"),
    Mistake("mask transposed", change=({"sense": _swapped_mask}, {"sense": lambda mask: mask.T}),
            does="The mask's rows are taken for keys and its columns for queries.",
            why="Row i of the mask belongs to query i, column j to key j, as in the scores.",
            ask="What does entry (0, 1) of the mask say?"),
    Mistake("dead rows NaN", change={"dead_rows": _left_alone},
            does="A query that may attend to nothing gets NaN.",
            why="Its maximum is -inf, and -inf - -inf is NaN. By definition its output is 0.",
            ask="What is the maximum of a row in which every score is -inf, and what is its sum of powers?"),
    Mistake("dead rows uniform",
            change={"dead_rows": lambda weights, mask, scores: np.where(
                _somewhere(mask), weights, 1 / weights.shape[-1])},
            does="A query that may attend to nothing gets the mean of all values.",
            why="Its weights come out equal: a very negative number in place of -inf does that, and a "
                "row whose scores were all set to 0. By definition its output is 0.",
            ask="What are the weights of a row in which every key is masked?"),
    Mistake("dead rows not masked",
            change={"dead_rows": lambda weights, mask, scores: np.where(
                _somewhere(mask), weights, raw_scores._softmax(scores))},
            does="A query that may attend to nothing attends to every key, as if there were no mask.",
            why="By definition its output is 0. A large negative number that is added to all its "
                "scores leaves their differences as they were.",
            ask="What are the weights of a row in which every key is masked?"),
)

NEEDS_NUMBERS = ("sum over the wrong axis", "sum without keepdims", "softmax over the queries' axis",
                 "softmax over the first axis", "softmax over the second axis", "softmax over everything",
                 "K Qᵀ instead of Q Kᵀ")


def _masked_variants(mistake):
    """A mistake of attention as it shows under a mask."""
    if mistake is softmax.NO_MAXIMUM:
        late = {"fill": lambda scores, mask, dtype: scores, "shift": softmax._no_shift}
        return dataclasses.replace(mistake, change=(
            mistake.change, {**late, "mask_powers": lambda powers, mask: powers * mask},
            {**late, "mask_powers": _only_allowed}))
    if mistake.name == "epsilon in the denominator":
        return dataclasses.replace(mistake, change=mistake.variants[2:])
    return with_numbers_only(mistake) if mistake.name in NEEDS_NUMBERS else mistake


MASKED_SOFTMAX_MISTAKES = tuple(map(_masked_variants, attention.mistakes))

DEAD = "a query that may attend to nothing"


def random_mask(*shape, seed=0):
    """A random mask in which every query may attend to a key, and every key is attended to."""
    mask = np.random.default_rng([seed, *shape]).random(shape) < 0.6
    mask[..., 0] |= ~mask.any(axis=-1)
    mask[..., 0, :] |= ~mask.any(axis=-2)
    return mask


def masked_attention_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, sizes, mask, seed, dtype=np.float64, batch=()):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        arrays = (normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes))
        return Case(aspect, (*arrays, mask))

    def tiny(aspect, query, key, value, mask, extreme=False, dtype=np.float64):
        arrays = (np.array(array, dtype) for array in (query, key, value))
        return Case(aspect, (*arrays, np.array(mask, bool)), extreme)

    dead = random_mask(5, 7, seed=11)
    dead[1], dead[3] = False, True
    single = np.array([[True] * 3, [False] * 3])
    column = np.array([[True], [False], [True], [True], [False]])
    alone = case(DEAD, (5, 3, 7, 2), column, 40)
    return [
        tiny(PLAIN, [[2.0], [1.0]], [[1.0], [0.0], [3.0]], [[4.0], [8.0], [-4.0]], [[1, 1, 0], [0, 1, 1]]),
        case(PLAIN, (5, 7, 3, 2), random_mask(5, 7), 1),
        case(PLAIN, (7, 5, 11, 13), random_mask(7, 5), 4),
        case(PLAIN, (3, 5, 2, 7), np.ones((3, 5), bool), 7),
        tiny(SQUARE, [[1.0, 0.0], [2.0, 2.0]], [[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [3.0, 2.0]], [[1, 0], [1, 1]]),
        case(SQUARE, (5, 5, 5, 5), random_mask(5, 5, seed=1), 10),
        case(SQUARE, (5, 5, 3, 2), np.tri(5, dtype=bool), 10),
        tiny(raw_scores.BROADCAST, [[2.0], [1.0]], [[1.0], [0.0], [3.0]], [[4.0], [8.0], [-4.0]], [1, 0, 1]),
        case(raw_scores.BROADCAST, (5, 7, 3, 2), random_mask(1, 7), 13),
        case(raw_scores.BROADCAST, (5, 7, 3, 2), random_mask(5, 7, seed=2), 16, batch=(2,)),
        case(raw_scores.BROADCAST, (5, 3, 7, 2), random_mask(2, 1, 3), 19, batch=(2,)),
        case(raw_scores.BROADCAST, (3, 5, 7, 11), random_mask(2, 1, 1, 5), 22, batch=(2, 3)),
        tiny(LEADING, [[[1.0, 2.0]], [[3.0, 1.0]]], [[[1.0, 0.0], [2.0, 1.0]], [[0.0, 3.0], [1.0, 1.0]]],
             [[[4.0], [8.0]], [[2.0], [-4.0]]], [[[1, 1]], [[1, 1]]]),
        case(LEADING, (5, 7, 3, 2), random_mask(2, 5, 7), 25, batch=(2,)),
        case(LEADING, (5, 7, 3, 11), random_mask(2, 3, 5, 7), 28, batch=(2, 3)),
        tiny(DEAD, [[2.0], [1.0]], [[1.0], [0.0], [3.0]], [[4.0], [8.0], [-4.0]], [[1, 0, 1], [0, 0, 0]]),
        case(DEAD, (5, 7, 3, 2), dead, 31), alone,
        case(DEAD, (5, 7, 3, 2), np.stack([dead, random_mask(5, 7, seed=3)]), 34, batch=(2,)),
        case(DEAD, (2, 3, 5, 7), single, 37, dtype=f4),
        case(DEAD, (2, 3, 5, 7), single, 37, dtype=f2),
        *(tiny(HUGE, query, key, [[1.0], [3.0], [2.0]], mask, True) for query, key, mask in (
            ([[100], [0]], [[100], [99], [-100]], [[1, 1, 0], [1, 0, 1]]),
            ([[-100], [0]], [[100], [101], [99]], [[1, 1, 0], [0, 1, 0]]),
            ([[100], [0]], [[-1], [-2], [100]], [[1, 1, 0], [1, 0, 1]]),
            ([[100, 0], [1, 0]], [[0, 1], [0, 2], [0, 3]], [[1, 1, 1], [1, 0, 1]]),
            ([[-100], [1]], [[100], [100], [101]], [[0, 1, 1], [1, 1, 1]]),
            ([[100], [0]], [[100], [0], [-100]], [[1, 1, 1], [1, 0, 1]]),
            ([[-100], [0]], [[100], [101], [102]], [[1, 1, 1], [1, 0, 1]]))),
        Case(HUGE, (np.array([[1000.0]]), np.array([[1.0]] * 10 + [[0.0]]), np.arange(11.0)[:, None],
                    np.ones((1, 11), bool)), True),
        case(FLOAT32, (5, 3, 7, 2), random_mask(5, 3), 43, dtype=f4),
        case(FLOAT16, (3, 2, 5, 7), random_mask(3, 2), 46, dtype=f2),
    ]


masked_attention = Exercise(
    name="masked_attention", signature="(query, key, value, attn_mask)", part=PART,
    text="Attention under a boolean mask (True: may attend) that broadcasts to the scores' shape. A "
         "query that may attend to nothing gets zeros.",
    answer=masked_attention_answer, steps=MASKED_STEPS, cases=masked_attention_cases,
    hints=(
        "It is attention with one more step. Between which two of its steps does the mask belong?",
        "Before the softmax a masked score becomes -inf: np.where(attn_mask, scores, -np.inf). The "
        "softmax then gives it the weight 0, and the others sum to 1.",
        "In a row in which every score is -inf the maximum is -inf too, and -inf - -inf is NaN. Which "
        "rows are these? attn_mask.any(axis=-1, keepdims=True) tells.",
        "Set the weights of those rows to 0 with np.where before the product with the values; or "
        "subtract 0 instead of a maximum of -inf, and divide by 1 instead of a sum of 0.",
    ),
    mistakes=(*MASKING_MISTAKES, *MASKED_SOFTMAX_MISTAKES),
    aspects={**raw_scores.mask_scores.aspects, DEAD: Mistake(
        "dead rows not zero",
        does="A query that may attend to nothing gets something else than zeros.",
        why="By definition its output is 0: there is nothing to mix.",
        ask="What are the weights of a row in which every key is masked?")},
)

# ---------------------------------------------------------------- dropout_weights

def dropout_weights_answer(do, weights, keep, p):
    dropped = do.drop(weights, do.sense(keep), p)
    return do.finish_weights(do.rescale(dropped, keep, p), weights, keep, p)


def _zeroed(weights, keep, p):
    return np.where(keep, weights, 0.0)


def _divided(dropped, keep, p):
    return dropped / (1 - p)


def _normalised(weights):
    return weights / weights.sum(axis=-1, keepdims=True)


DROPOUT_STEPS = {
    "sense": lambda keep: keep,
    "drop": _zeroed,
    "rescale": _divided,
    "finish_weights": lambda dropped, weights, keep, p: dropped,
}


def rescaled_by(factor):
    """A change: the kept weights multiplied by this function of p."""
    def rescale(dropped, keep, p):
        with np.errstate(all="ignore"):
            return dropped * np.float64(factor(np.float64(p)))

    return {"rescale": rescale}


DROPOUT_MISTAKES = (
    Mistake("not divided by 1 - p", change=rescaled_by(lambda p: 1),
            does="Dropped weights are 0, and the kept ones stay as they were.",
            why="On average the output shrinks by 1 - p, and at inference, without dropout, it is suddenly "
                "larger. Dividing by 1 - p keeps the expectation.",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("multiplied by 1 - p", change=rescaled_by(lambda p: 1 - p),
            does="The kept weights shrink by 1 - p.",
            why="Dropping shrinks the expectation by 1 - p already; dividing restores it.",
            ask="Are the weights too small or too large on average once some are dropped?"),
    Mistake("p instead of 1 - p",
            change=(rescaled_by(lambda p: 1 / p), rescaled_by(lambda p: p)),
            does="The kept weights are scaled by p, the probability of dropping.",
            why="p says how many are dropped; what is kept is a share of 1 - p.",
            ask="Which share of the weights is kept if p = 0.1?"),
    Mistake("keep inverted", change={"sense": lambda keep: ~keep},
            does="The weights to be kept are 0, and those to be dropped stay.",
            why="keep is True for a weight that stays.",
            ask="What does True in keep mean?"),
    Mistake("keep ignored", change={"drop": lambda weights, keep, p: weights},
            does="No weight is dropped.",
            why="Where keep is False the weight becomes 0.",
            ask="Where in your function does keep change a weight?"),
    Mistake("rows renormalised",
            change=({"rescale": lambda dropped, keep, p: _normalised(dropped)},
                    {"rescale": lambda dropped, keep, p: np.nan_to_num(_normalised(dropped))},
                    *({"rescale": lambda dropped, keep, p, e=e: dropped / (dropped.sum(axis=-1, keepdims=True) + e)}
                      for e in (1e-6, 1e-8, 1e-9, 1e-12)),
                    *({"rescale": lambda dropped, keep, p, e=e: _divided(dropped, keep, p) / (
                        _divided(dropped, keep, p).sum(axis=-1, keepdims=True) + e)} for e in (1e-6, 1e-8, 1e-9))),
            does="Each row of kept weights sums to 1 again.",
            why="Dropout keeps the expectation, not the sum: the factor is 1/(1 - p) for every row. "
                "A row of which everything is dropped cannot be renormalised at all.",
            ask="Which factor restores the mean of a weight, whichever others are dropped?"),
    Mistake("everything normalised",
            change={"rescale": lambda dropped, keep, p: dropped / dropped.sum()},
            does="All kept weights together sum to 1.",
            why="The factor is 1/(1 - p) for every weight: it keeps the mean, and looks at no other weight.",
            ask="Which factor restores the mean of a weight, whichever others are dropped?"),
    Mistake("no dropout",
            change={"drop": lambda weights, keep, p: weights, "rescale": lambda dropped, keep, p: dropped},
            does="The weights come back as they were.",
            why="Where keep is False the weight becomes 0, and the others grow to make up for it.",
            ask="Where does your answer depend on keep, and where on p?"),
    Mistake("the share that was kept instead of 1 - p",
            change=({"rescale": lambda dropped, keep, p: dropped / keep.mean()},
                    {"rescale": lambda dropped, keep, p: dropped / keep.mean(axis=-1, keepdims=True)},
                    {"rescale": lambda dropped, keep, p: np.nan_to_num(
                        dropped / keep.mean(axis=-1, keepdims=True), posinf=0)}),
            does="The kept weights are divided by the share that happened to be kept.",
            why="The factor is 1/(1 - p), the same whatever was drawn: then the expectation is right "
                "for every weight.",
            ask="On what may the factor depend, on p or on the draw?"),
    Mistake("square root of 1 - p", change=rescaled_by(lambda p: 1 / np.sqrt(1 - p)),
            does="The kept weights are divided by sqrt(1 - p).",
            why="That would keep the variance. Dropout keeps the mean: divide by 1 - p.",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("divided by 1 - p twice", change=rescaled_by(lambda p: (1 - p) ** -2),
            does="The kept weights are divided by 1 - p two times.",
            why="Once restores the expectation; twice makes it too large.",
            ask="Which two of your lines rescale?"),
    Mistake("brackets missing around 1 - p",
            change=({"rescale": lambda dropped, keep, p: dropped / 1 - p},
                    {"rescale": lambda dropped, keep, p: np.where(keep, dropped / 1 - p, 0.0)}),
            does="p is subtracted from the weights.",
            why="In Python w / 1 - p is (w / 1) - p: the division binds first.",
            ask="Where do brackets belong?"),
    Mistake("divided by 1 + p", change=(rescaled_by(lambda p: 1 / (1 + p)), rescaled_by(lambda p: 1 + p)),
            does="The factor is made with 1 + p.",
            why="A share of 1 - p is kept.",
            ask="Which share of the weights is kept if p = 0.1?"),
    Mistake("dropped weights left as they were",
            change={"rescale": lambda dropped, keep, p: dropped,
                    "drop": lambda weights, keep, p: np.where(keep, weights / (1 - p), weights)},
            does="Kept weights grow, and the others stay as they were instead of becoming 0.",
            why="A dropped weight is 0: its key does not count for this query.",
            ask="What should stand where keep is False?"),
    Mistake("-inf instead of 0",
            change=({"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf)},),
            does="Dropped weights are -inf.",
            why="-inf belongs into scores, before the softmax. These are weights: a dropped one is 0.",
            ask="Does dropout work on scores or on weights?"),
    Mistake("softmax afterwards",
            change=({"finish_weights": lambda dropped, weights, keep, p: raw_scores._softmax(dropped)},
                    {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf),
                     "rescale": lambda dropped, keep, p: raw_scores._softmax(dropped)},
                    {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf),
                     "rescale": lambda dropped, keep, p: np.nan_to_num(raw_scores._softmax(dropped))},
                    {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf),
                     "finish_weights": lambda dropped, weights, keep, p: raw_scores._softmax(dropped)}),
            does="The result goes through a softmax.",
            why="Dropout comes after the softmax, on weights, and does not normalise again.",
            ask="What does a softmax do to numbers between 0 and 1?"),
    Mistake("dropped weights removed", change={"drop": lambda weights, keep, p: weights[keep]},
            does="The answer is one long row of the kept weights.",
            why="The weights must keep their shape: they still line up with the values.",
            ask="Which function chooses between two values, entry by entry?"),
    Mistake("small weights dropped",
            change=({"drop": lambda weights, keep, p: np.where(weights > p, weights, 0.0)},
                    {"drop": lambda weights, keep, p: np.where(weights < p, weights, 0.0)}),
            does="Weights are compared with p, and keep is not used.",
            why="p is a probability, not a threshold; the draw has been made already, and stands in keep.",
            ask="Which argument says which weights are dropped?"),
)

ALL_DROPPED, P_ZERO = "a row that is dropped whole", "p = 0"


def dropout_weights_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, shape, p, seed, dtype=np.float64):
        keep = np.random.default_rng([seed, *shape]).random(shape) >= p
        keep[..., 0] |= ~keep.any(axis=-1)
        return Case(aspect, (_weights(*shape, seed=seed, dtype=dtype), keep, p))

    def tiny(aspect, weights, keep, p, extreme=False):
        return Case(aspect, (np.array(weights, float), np.array(keep, bool), p), extreme)

    return [
        tiny(PLAIN, [[0.5, 0.25, 0.25]], [[1, 0, 1]], 0.5),
        tiny(PLAIN, [[0.5, 0.5], [0.75, 0.25]], [[1, 1], [0, 1]], 0.2),
        case(PLAIN, (5, 7), 0.3, 1), case(PLAIN, (7, 3), 0.1, 2), case(PLAIN, (3, 11), 0.75, 3),
        case(SQUARE, (5, 5), 0.4, 4), case(LEADING, (2, 5, 7), 0.3, 5), case(LEADING, (2, 3, 5, 7), 0.6, 6),
        tiny(P_ZERO, [[0.5, 0.5]], [[1, 1]], 0.0, True),
        tiny(P_ZERO, [[0.125, 0.5, 0.375], [0.25, 0.0, 0.75]], np.ones((2, 3)), 0.0, True),
        tiny(ALL_DROPPED, [[0.5, 0.5], [0.25, 0.75]], [[1, 1], [0, 0]], 0.5, True),
        case(FLOAT32, (5, 3), 0.2, 7, f4), case(FLOAT16, (3, 5), 0.25, 8, f2),
    ]


dropout_weights = Exercise(
    name="dropout_weights", signature="(weights, keep, p)", part=PART,
    text="Inverted dropout: weights where keep is True, divided by 1 - p; the rest 0. The draw has "
         "been made already and stands in keep; p is the probability of dropping.",
    answer=dropout_weights_answer, steps=DROPOUT_STEPS, cases=dropout_weights_cases,
    hints=(
        "Two things happen: some weights become 0, and the others change so that the mean stays.",
        "A weight w is kept with probability 1 - p. By what must it grow so that its mean is w again?",
        "np.where(keep, ..., 0) chooses entry by entry. Divide by 1 - p, in brackets.",
    ),
    mistakes=DROPOUT_MISTAKES,
)

EXERCISES = (av_product, attention, masked_attention, dropout_weights)
