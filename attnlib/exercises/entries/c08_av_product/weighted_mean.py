"""The exercise weighted_mean."""

from dataclasses import replace

import numpy as np

from ...families.choose import also, pick
from ...families.inputs import inputs
from ...families.scores import softmax_of, swap
from ...families.weighted_sums import AV_MISTAKES, AV_STEPS
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, each, normal, ways

AXES = dict(weights="n_q n_k", value="n_k d_v")
ZEROS, TINY, HUGE_SUMS = "a row of zeros", "tiny weights", "huge weights"
EPSILONS = (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30,
            *(float(getattr(np.finfo(dtype), name)) for dtype in (np.float32, np.float64) for name in ("eps", "tiny")))
# weights whose sums lie a little above and a little below each of them: there the three ways to use it differ
NEAR_EPSILONS = (1e-9, 1e-12, 1e-15, 1e-18, 1e-22, 1e-30, 1e-33, 4e-38, 1e-40, 3e-308, 1e-309)


def weighted_mean_answer(do, weights, value):
    weights = do.weights_in(weights)
    total = do.guard(do.limit(do.total(weights)))
    shares = do.rescue(do.divide(weights, total), weights)
    output = do.after(do.combine(shares, do.values_in(value)), total)
    return do.finish_output(output, weights, value)


def _sum(weights):
    return weights.sum(axis=-1, keepdims=True)


STEPS = {
    **AV_STEPS,
    "total": Step(_sum, "the sum of the weights", True),
    "limit": lambda total: total,
    "guard": lambda total: np.where(total == 0, 1.0, total),
    "divide": Step(lambda weights, total: weights / total, "the shares"),
    "rescue": lambda shares, weights: shares,
    "after": lambda output, total: output,
}


def _cases():
    def case(aspect, weights, value, dtype=float):
        return Case(aspect, (np.array(weights, dtype), np.array(value, dtype)), aspect in (ZEROS, TINY, HUGE_SUMS))

    def positive(shape, seed, dtype):
        return np.abs(normal(*shape, seed=seed, scale=2.0)).astype(dtype)

    some = positive((2, 3, 5, 7), 1, float)
    some[0, 1, 2] = some[1, 2, 4] = some[1, 0, 0, 3] = 0
    return [
        case(PLAIN, [[1, 3]], [[2, 4], [6, 0]]), case(PLAIN, [[1, 1, 2], [0, 1, 3]], [[4], [8], [0]]),
        case(PLAIN, [[0.125, 0.125]], [[2], [6]]),
        case(SQUARE, [[1, 3], [4, 4]], [[2, 4], [6, 0]]), case(LEADING, [[[1, 3]], [[2, 2]]], [[[2], [6]], [[4], [0]]]),
        case(ZEROS, [[0, 0]], [[2], [6]]), case(ZEROS, [[1, 3], [0, 0], [0, 2]], [[2, 4], [6, 0]]),
        Case(ZEROS, (some, normal(2, 3, 7, 11, seed=2)), True),
        *(case(aspect, [[unit, 3 * unit]], [[2], [6]], dtype) for aspect, unit, dtype in (
            *((TINY, unit, float) for unit in NEAR_EPSILONS), (TINY, 1e-40, np.float32), (TINY, 6e-8, np.float16),
            (HUGE_SUMS, 4e307, float), (HUGE_SUMS, 8e37, np.float32), (HUGE_SUMS, 12000, np.float16))),
        case(FLOAT32, [[1, 3]], [[2], [6]], np.float32), case(FLOAT16, [[1, 3]], [[2], [6]], np.float16),
        *inputs(AXES, make={"weights": positive}),
    ]


def _zero(weights):
    return (weights == 0).all(axis=-1, keepdims=True)


def _at_least(limit):
    return {"limit": lambda total: np.maximum(total, limit)}


def _zeros_below(limit):
    return {"rescue": lambda shares, w: np.where(_sum(w) <= limit, 0.0, shares)}


def _raised_by(e):
    return {"limit": lambda total: total + e}


STOPS = Mistake(
    "error at a row of zeros",
    does="The function raises an exception where a row of weights is all 0.",
    why="Such a row is no error: its output is 0, and the other queries get their means.",
    ask="What should the answer be for a query whose weights are all 0?")


def stops_at_zeros(run):
    """An audit: whether a row of zeros makes the function raise, or fail an assertion, of its own."""
    value = np.array([[2.0], [6.0]])
    failure = run(np.array([[1.0, 3.0], [0.0, 0.0]]), value).failure
    own = failure and (failure.kind == "AssertionError" or failure.line.startswith("raise"))
    return STOPS if own and not run(np.array([[1.0, 3.0], [2.0, 2.0]]), value).failure else None


SHARES = alike(
    "In a mean the shares of the values sum to 1: each weight is divided by the sum of its own row.",
    "What should the output be if all values are equal, and by what must each weight be divided for that?",
    ("not divided by the sum", {"divide": lambda w, total: w},
     "The answer is the weighted sum of the values: as many times too large as the weights of the row sum to."),
    ("divided by the largest weight", {"total": lambda w: w.max(axis=-1, keepdims=True)},
     "The largest weight of a row becomes 1, and the shares sum to more."),
    ("divided by the Euclidean length", {"total": lambda w: np.sqrt((w ** 2).sum(axis=-1, keepdims=True))},
     "The squares of the shares sum to 1, not the shares."),
    ("divided by the mean", {"total": lambda w: w.mean(axis=-1, keepdims=True)},
     "The shares of a row sum to n_k, not to 1."),
    ("divided by the number of keys instead of the sum", {"total": lambda w: np.full_like(_sum(w), w.shape[-1])},
     "The products are averaged over the keys, whatever the weights sum to."),
    ("sum of the whole array", ways("total", lambda w: np.full_like(_sum(w), w.sum()),
                                    lambda w: w.sum(axis=(-2, -1), keepdims=True)),
     "The weights of all queries together sum to 1, not those of each."),
    ("sum over the queries", {"total": lambda w: w.sum(axis=-2, keepdims=True)},
     "The shares of each key sum to 1 over the queries; the rows do not."),
    ("sum without keepdims", ({"total": lambda w: w.sum(axis=-1)},
                              {"divide": lambda w, total: w, "after": lambda out, total: out / total[..., 0]}),
     "The sums line up with the columns instead of the rows, where the shapes fit at all."))

NUMBERS = (
    Mistake("epsilon in the denominator", change=tuple(map(_raised_by, EPSILONS)),
            numbers=each(_raised_by, lambda e: 0 < e < 10),
            does="A number is added to the sum: the shares sum to less than 1, and where the weights are as small as "
                 "that number, to much less.",
            why="Only a sum of exactly 0 needs help; every other one is right as it is, however small.",
            ask="What does your function make of the weights 1e-12 and 3e-12?"),
    Mistake("sum never below a limit", change=tuple(map(_at_least, (1.0, *EPSILONS))),
            numbers=each(_at_least, lambda e: 0 < e < 10),
            does="A sum below a limit counts as that limit: the shares of such a row sum to less than 1.",
            why="Only a sum of exactly 0 needs help; every other one is right as it is, however small.",
            ask="Which sums does your limit change beside 0?"),
    Mistake("rows of small weights taken for zeros", change=tuple(map(_zeros_below, EPSILONS)),
            numbers=each(_zeros_below, lambda e: 0 < e < 10),
            does="A row whose sum is below a limit gives zeros.",
            why="Only a row of nothing but zeros is empty; every other one has a mean, however small its sum.",
            ask="What is the mean of 2 and 6 with the weights 1e-12 and 3e-12?"),
    Mistake("divided after the product", change={"divide": lambda w, total: w, "after": lambda out, total: out / total},
            does="Weights times values is computed first and divided afterwards: for huge weights the product "
                 "overflows.",
            why="Shares are never above 1, so that no product is larger than its value; weights as they come may be of "
                "any size.",
            ask="What is the largest number that your function computes on its way, and is it needed?"),
    Mistake("multiplied by the reciprocal",
            change={"divide": lambda w, total: w * (1 / total)},
            does="The weights are multiplied by 1 / sum, which overflows for a tiny sum.",
            why="The quotient of two tiny numbers is an ordinary one; the reciprocal of a tiny number is not.",
            ask="How large is 1 / sum for the smallest sums that the dtype can hold?"),
)


def _rescued(fill):
    return {"rescue": lambda shares, weights: np.where(_zero(weights), fill(weights), shares)}


ROWS_OF_ZEROS = (
    Mistake("rows of zeros NaN", change={"guard": lambda total: total},
            does="A query whose weights are all 0 gets NaN.",
            why="The sum of such a row is 0, and 0 / 0 is NaN, which spreads to everything computed from it.",
            ask="What is divided by what in a row of zeros, and what may stand in the place of its sum?"),
    Mistake("rows of zeros uniform", change=_rescued(lambda w: 1 / w.shape[-1]),
            does="A query whose weights are all 0 gets the plain mean of the values.",
            why="A query that gives no weight to any key takes nothing from any value.",
            ask="How much should a value with the weight 0 contribute?"),
    *alike("Each query has a row of its own, and only a row of nothing but zeros is empty.",
           "Which rows does your test look at: each by itself, or all of them; and for any 0, or for nothing else?",
           ("any 0 empties the row",
            {"rescue": lambda s, w: np.where((w == 0).any(axis=-1, keepdims=True), 0.0, s)},
            "A row with a single 0 among its weights gives zeros."),
           ("one row of zeros empties all", {"rescue": lambda s, w: s * (not _zero(w).any())},
            "If the weights of one query are all 0, all queries get zeros."),
           ("only an array of nothing but zeros is seen",
            {"rescue": lambda s, w: np.where(_zero(w) & (w != 0).any(), np.nan, s)},
            "A row of zeros among others gives NaN; only if all rows are zeros they give zeros.")),
    Mistake("rows of zeros left out",
            change={"finish_output": lambda out, w, v: out[~_zero(w)[..., 0]] if _zero(w).any() else out},
            does="Rows of zeros are missing from the answer.",
            why="Row i of the answer belongs to query i.",
            ask="Which row of the answer belongs to the query behind an empty one?"),
)


def _fewer_keys(mistake):
    """The key may be missing from the sum too."""
    return also(mistake, *({"weights_in": lambda w, s=s: w[..., s], "values_in": lambda v, s=s: v[..., s, :]}
                           for s in (slice(None, -1), slice(1, None))))


EXERCISE = Exercise(
    name="weighted_mean", signature="(weights, value)", place=2, axes=AXES, answer_axes="n_q d_v",
    text="The weighted means of the values, one for each query: shape (..., n_q, d_v), for weights of shape "
         "(..., n_q, n_k), none negative, whose rows have any sum that does not overflow, and values of shape "
         "(..., n_k, d_v). A row of zeros gives zeros.",
    answer=weighted_mean_answer, steps=STEPS, cases=_cases, audits=(stops_at_zeros,),
    hints=(
        "A weighted mean is a weighted sum in which the weights of each row sum to 1. What must they be divided by?",
        "The sum of a row runs over the keys; keepdims=True keeps it in line with its row. Which row has a sum that "
        "nothing can be divided by?",
        "Divide the weights before they meet the values: shares are at most 1, and nothing overflows.",
        "Where the sum is 0, divide by 1 instead, with np.where: the zeros stay zeros. Every other sum stays as it is, "
        "and the shares are the weights of a matrix product.",
    ),
    mistakes=(
        *SHARES, *NUMBERS, *ROWS_OF_ZEROS,
        *map(_fewer_keys, pick(AV_MISTAKES, "one key left out")),
        # the shares transposed, or the weights before
        *(also(mistake, *ways("rescue", lambda shares, weights: swap(shares)))
          for mistake in pick(AV_MISTAKES, "Aᵀ V instead of A V")),
        # a row of zeros may give zeros all the same
        *(replace(also(mistake, {"weights_in": lambda w: np.where(_zero(w), 0.0, softmax_of(w))}),
                  why="Weights are no scores: one twice as large counts twice as much, and 0 not at all.",
                  ask="How much should a value with the weight 0 contribute?")
          for mistake in pick(AV_MISTAKES, "softmax of the weights")),
        *pick(AV_MISTAKES, "V A instead of A V", "transposed values", "A * V instead of A @ V",
              "not summed", "summed over the features instead of the keys",
              "summed over the queries instead of the keys", "features summed", "outputs averaged over the queries",
              "output transposed", "reshaped values", "weights averaged over the batch",
              "outputs summed over the batch", "np.dot of batched weights", "weights averaged over the queries",
              "only the first query", "weights ignored", "only the best key's value", "one key alone",
              "keys in reverse order", "keys shifted by one", "rounded",
              "divided by the number of keys", "divided by the number of features", "median of the values")),
)
