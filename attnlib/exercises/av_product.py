"""The exercises of the part "The AV product", and the steps and mistakes that later parts reuse."""

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
    Mistake("only the best key's value", change=({"weights_in": lambda w: softmax._first_hot(w, -1)}, {"weights_in": _best_only}),
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
    Mistake("elementwise product", change={"combine": lambda w, v: w * v},
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
    Mistake("summed over the batch", change=({"finish_output": _collapsed(np.sum)}, {"finish_output": _collapsed(np.mean)}),
            does="Leading axes disappear: the sequences of a batch are mixed.",
            why="Leading axes are kept: each sequence and each head has an output of its own.",
            ask="Which indices must stand in the answer beside i?"),
    Mistake("np.dot on batches", change={"combine": np.dot},
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
    scores = raw_scores.raw_scores_answer(do, query, key)
    weights = softmax.softmax_steps_answer(do, scores, -1)
    output = av_product_answer(do, do.scale_weights(weights, query), do.choose_values(query, key, value))
    return do.answer_out(output, weights, scores)


ATTENTION_STEPS = {
    **raw_scores.SCORE_STEPS, **softmax.SOFTMAX_STEPS, **AV_STEPS,
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

VALUE_MISTAKES = (
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
        *raw_scores.SCALE_MISTAKES,
        *drop(raw_scores.PRODUCT_MISTAKES, "summed over positions instead of features"),
        *ATTENTION_SOFTMAX_MISTAKES,
        *drop(AV_MISTAKES, "weights normalised again", "divided by the number of keys",
              "only the best key's value"),
        *VALUE_MISTAKES,
    ),
)

EXERCISES = (av_product, attention)
