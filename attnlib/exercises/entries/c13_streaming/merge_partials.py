"""The exercise merge_partials."""

from dataclasses import replace

import numpy as np

from ...families.choose import named
from ...families.logsumexp import LOWEST, TINIER
from ...families.softmax import EPSILONS, NO_MAXIMUM, SHIFT_MISTAKES
from ...model import (FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, each,
                      normal,
    ways)


def merge_partials_answer(do, out_a, lse_a, out_b, lse_b):
    lse_a, lse_b = do.lses(lse_a, lse_b)
    shift = do.guard(do.highest(lse_a, lse_b))
    weight_a, weight_b = do.power(lse_a - shift), do.power(lse_b - shift)
    total = weight_a + weight_b
    lse = do.lse(total, shift, lse_a, lse_b)
    weight_a, weight_b = do.weights(weight_a, weight_b, lse_a, lse_b)
    shares = do.parts(weight_a, weight_b, weight_a + weight_b, lse_a, lse_b, lse)
    return do.finish(do.dead_rows(do.mix(*do.shares(*shares, lse_a, lse_b), out_a, out_b), total), lse)


def _column(numbers):
    return np.asarray(numbers)[..., None]


def _divided(weight_a, weight_b, total, *lses):
    return weight_a / total, weight_b / total


def _by_lse(weight_a, weight_b, total, lse_a, lse_b, lse):
    return np.exp(lse_a - lse), np.exp(lse_b - lse)


def _by_guarded_lse(weight_a, weight_b, total, lse_a, lse_b, lse):
    return _by_lse(weight_a, weight_b, total, lse_a, lse_b, np.where(lse == -np.inf, 0.0, lse))


MERGE_STEPS = {
    "lses": lambda lse_a, lse_b: (lse_a, lse_b),
    "highest": Step(np.maximum, "the maximum", True),
    "guard": lambda highest: np.where(highest == -np.inf, 0.0, highest),
    "power": Step(np.exp, "the parts' exponentials"),
    "lse": lambda total, shift, lse_a, lse_b: np.log(total) + shift,
    "weights": lambda weight_a, weight_b, lse_a, lse_b: (weight_a, weight_b),
    "parts": lambda weight_a, weight_b, total, *lses: _divided(weight_a, weight_b, np.where(total == 0, 1.0, total)),
    "shares": lambda share_a, share_b, lse_a, lse_b: (share_a, share_b),
    "mix": lambda share_a, share_b, out_a, out_b: _column(share_a) * out_a + _column(share_b) * out_b,
    "dead_rows": lambda out, total: out,
    "finish": lambda out, lse: (out, lse),
}

ONE_EMPTY, BOTH_EMPTY, LARGE_SUMS = "one empty part", "two empty parts", "large log-sum-exps in float32"


def _finite(numbers):
    return np.nan_to_num(numbers, nan=0.0, posinf=0.0)


def _normalised(share_a, share_b):
    total = np.where(share_a + share_b == 0, 1.0, share_a + share_b)
    return share_a / total, share_b / total


def _of_lses(*functions):
    """Variants: the shares as a function of the two log-sum-exps alone."""
    return ways("shares", *(lambda share_a, share_b, *lses, f=f: f(*lses) for f in functions))


def _measured_from(*functions):
    """Variants: another number subtracted from both log-sum-exps, with the sum guarded against 0 and not."""
    return tuple({"highest": highest, **more} for highest in functions for more in ({"parts": _divided}, {}))


def _for_all_queries(*functions):
    def spread(of):
        def shares(share_a, share_b, *lses):
            share = np.broadcast_to(of(share_a), share_a.shape)
            return share, 1 - share

        return shares

    return ways("shares", *map(spread, functions))


def _over_queries(least):
    def over(lse):
        highest = lse.max(axis=-1, keepdims=True)
        weights = np.exp(lse - np.where(np.isneginf(highest), 0.0, highest))
        return weights / np.maximum(weights.sum(axis=-1, keepdims=True), least)

    return lambda lse_a, lse_b: (over(lse_a), over(lse_b))


def _from_one(place, guarded):
    """The sigmoid of one part's log-sum-exp as its share; or that where no part is empty."""
    def shares(share_a, share_b, *lses):
        share = 1 / (1 + np.exp(-lses[place]))
        alone = (share, 1 - share)[::1 - 2 * place]
        empty = guarded & (np.isneginf(lses[0]) | np.isneginf(lses[1]))
        return np.where(empty, share_a, alone[0]), np.where(empty, share_b, alone[1])

    return shares


def _lse_as(*functions):
    """Wrong log-sum-exps: alone, and with the shares computed from them."""
    return tuple({"lse": lambda total, shift, lse_a, lse_b, f=f: f(lse_a, lse_b), **more} for f in functions
                 for more in ({}, {"parts": _by_lse}, {"parts": _by_guarded_lse}))


def _lse_of(*functions):
    """Variants: the log-sum-exp as another function of the sum and what was subtracted."""
    return ways("lse", *(lambda total, shift, lse_a, lse_b, f=f: f(total, shift) for f in functions))


def _empty_for_dead(number):
    """A number for the log-sum-exp of two empty parts."""
    return lambda total, shift: np.where(total == 0, number, np.log(total) + shift)


def _bare_powers(weight_a, weight_b, lse_a, lse_b):
    return np.exp(lse_a), np.exp(lse_b)


def _added_powers(lse_a, lse_b):
    return np.exp(lse_a) + np.exp(lse_b)


def _shared_with_epsilon(e):
    return {"parts": lambda weight_a, weight_b, total, *lses: _divided(weight_a, weight_b, total + e)}


EITHER_EMPTY = (np.logical_or, lambda a, b: a, lambda a, b: b)

MERGE_MISTAKES = (
    *alike("A part's output is divided by its own sum of exponentials already, and its share in the whole is that sum, "
           "exp(lse), over both. So the two shares of a query sum to 1.",
           "Which part should count more if its scores are much larger, and what must the output be if both parts are "
           "equal?",
           ("partial results averaged", _of_lses(lambda a, b: (np.full_like(a, 0.5), np.full_like(b, 0.5))),
            "The output is the plain mean of the two parts, whatever their log-sum-exps are."),
           ("partial results added", _of_lses(lambda a, b: (np.ones_like(a), np.ones_like(b))),
            "The output is the sum of the two parts."),
           ("not divided by the sum", {"parts": lambda weight_a, weight_b, *others: (weight_a, weight_b)},
            "The parts are weighted by their exponentials, and the result is not divided by the sum of these weights."),
           ("shares of the parts swapped", {"shares": lambda share_a, share_b, *lses: (share_b, share_a)},
            "Part a gets the share of part b."),
           ("one share for both parts", ways("shares", lambda a, b, *lses: (a, a), lambda a, b, *lses: (b, b)),
            "Both parts get the share of part a, or that of part b."),
           ("shares from doubled exponents", ways("shares", *(
               lambda a, b, *lses, p=p, norm=norm: norm(a ** p, b ** p)
               for p in (2, 0.5) for norm in (lambda a, b: (a, b), _normalised))),
            "The shares enter squared, or as their square roots."),
           ("log-sum-exps as weights", _of_lses(lambda a, b: (a / (a + b), b / (a + b))),
            "The parts are weighted by their log-sum-exps, which are logarithms and may be negative."),
           ("the larger part alone", _of_lses(lambda a, b: ((a >= b) / 1.0, (a < b) / 1.0),
                                              lambda a, b: ((a > b) / 1.0, (a <= b) / 1.0)),
            "The part with the larger log-sum-exp is taken, the other one dropped."),
           ("share from one log-sum-exp alone", ways("shares", *(
               _from_one(place, guarded) for guarded in (False, True) for place in (0, 1))),
            "One part's share is exp(lse) / (1 + exp(lse)), whatever the other part's log-sum-exp is."),
           ("sign of the exponent flipped", ways("parts", *(
               lambda wa, wb, total, lse_a, lse_b, lse, f=f: f(np.exp(lse - lse_a), np.exp(lse - lse_b)) for f in (
                   lambda a, b: (a, b), lambda a, b: (_finite(a), _finite(b)),
                   lambda a, b: _normalised(_finite(a), _finite(b))))),
            "The part with the smaller log-sum-exp gets the larger share: exp(lse - lse_a) stands for exp(lse_a - "
            "lse)."),
           ("power of 2 instead of e", ({"power": np.exp2}, {"power": np.exp2, **_lse_of(
               lambda total, shift: np.log2(total) + shift)[0]}),
            "The shares are computed with powers of 2; but log-sum-exps are natural logarithms.")),
    *alike("Each query has scores of its own, and so log-sum-exps and shares of its own; for each the shares of the "
           "two parts sum to 1.",
           "How many shares has part a if there are 5 queries, and with which number does each sum to 1?",
           ("one share for all queries", _for_all_queries(
               lambda a: a.mean(axis=-1, keepdims=True), np.mean, lambda a: a[..., :1], np.max),
            "All queries get the same shares: a mean, the largest, or those of the first query."),
           ("shares over the queries instead of the parts", _of_lses(_over_queries(0.0), _over_queries(1e-7)),
            "Each part's log-sum-exps go through a softmax of their own, over the queries."),
           ("no axis for the features", {
               "mix": lambda share_a, share_b, out_a, out_b: share_a * out_a + share_b * out_b},
            "The shares, one for each query, line up with the features, where the shapes fit at all: they need one "
            "more axis, of length 1.")),
    replace(NO_MAXIMUM,
            change=({"highest": lambda a, b: np.zeros_like(a), "parts": _divided},
                    {"highest": lambda a, b: np.zeros_like(a)},
                    {"weights": _bare_powers}, {"weights": _bare_powers, "parts": _divided},
                    *({"lse": lambda total, shift, *lses: np.log(_added_powers(*lses)), **more}
                      for more in ({}, {"parts": _by_lse}))),
            does="For small log-sum-exps it is right. Above 709 (above 88 in float32, above 11 in float16) exp "
                 "overflows; far below 0 both exponentials underflow.",
            why="Only the difference of the two matters. Subtract the larger one from both; then no "
                "exponent is above 0.",
            ask="Which number can be subtracted from both log-sum-exps so that exp never overflows?"),
    replace(named("minimum subtracted instead of maximum", SHIFT_MISTAKES), change=_measured_from(np.minimum),
            does="The smaller log-sum-exp becomes 0, and the exponential of the other may overflow; an "
                 "empty part spoils the row."),
    replace(named("one maximum for the whole array", SHIFT_MISTAKES),
            change=_measured_from(lambda a, b: np.maximum(a.max(), b.max())),
            does="Queries whose log-sum-exps lie far below the largest of all underflow.",
            why="Each query needs its own maximum.",
            ask="What is left of a query whose two numbers lie 10000 below another query's?"),
    Mistake("one part subtracted instead of the maximum",
            change=(*_measured_from(lambda a, b: a, lambda a, b: b),
                    *({"highest": part, "guard": lambda m: m} for part in (lambda a, b: a, lambda a, b: b))),
            does="The log-sum-exp of one part is always subtracted: if the other one is much larger, exp overflows.",
            why="With the larger of the two no exponent is above 0.",
            ask="What is the largest exponent if part b's scores are 10000 above part a's?"),
    *alike("A part without keys has a sum of exponentials of 0: log-sum-exp -inf, no share, output 0. Two empty parts "
           "merge to another, and beside one the other part stays as it is.",
           "What are the maximum, the sum of the weights and its logarithm if one log-sum-exp is -inf, and what if "
           "both are?",
           ("dead rows NaN", ({"guard": lambda highest: highest},
                              {"dead_rows": lambda out, total: np.where(_column(total == 0), np.nan, out)},
                              *_lse_of(_empty_for_dead(np.nan))),
            "Where both parts are empty, the output or the log-sum-exp is NaN, as -inf - -inf and 0 / 0 are."),
           ("empty parts guarded only for all queries at once", ways("guard", lambda highest: (
               np.zeros_like(highest) if np.isneginf(highest).all() else highest)),
            "A part that is empty for every query is dealt with; one query alone whose parts are both empty gets NaN."),
           ("0 for a row of -inf", _lse_of(_empty_for_dead(0.0)),
            "Where both parts are empty, the log-sum-exp is 0, as if their exponentials summed to 1."),
           ("empty part counted", {"lses": lambda a, b: tuple(np.where(np.isneginf(lse), 0.0, lse) for lse in (a, b))},
            "A log-sum-exp of -inf is taken as 0: an empty part counts as a sum of 1."),
           ("log-sum-exp lost beside an empty part", ways("lse", *(
               lambda total, shift, a, b, empty=empty: np.where(
                   empty(np.isneginf(a), np.isneginf(b)), -np.inf, np.log(total) + shift) for empty in EITHER_EMPTY)),
            "Where one part is empty, the log-sum-exp is -inf, as if both were."),
           ("output lost beside an empty part", ways("shares", *(
               lambda share_a, share_b, a, b, empty=empty: tuple(
                   np.where(empty(np.isneginf(a), np.isneginf(b)), 0.0, share) for share in (share_a, share_b))
               for empty in EITHER_EMPTY)),
            "Where one part is empty, the output is 0, as if both were."),
           ("epsilon in the logarithm", _lse_of(*(
               lambda total, shift, e=e: np.log(total + e) + shift for e in EPSILONS + TINIER)),
            "A small number stands with the sum in the logarithm: two empty parts give the logarithm of that number.")),
    Mistake("large negative number instead of -inf",
            change=_lse_of(*map(_empty_for_dead, (-1e9, -1e10, -1e30, -1e4, -1e3, *LOWEST))),
            numbers=each(lambda v: _lse_of(_empty_for_dead(v))[0], lambda v: v < 0),
            does="Where both parts are empty, the log-sum-exp is a large negative number.",
            why="The exponentials sum to 0 exactly, and log(0) is -inf.",
            ask="Which number has the exponential 0?"),
    *alike("The sums of exponentials of both parts are added, and the answer is the logarithm of that sum: larger than "
           "both log-sum-exps, by log 2 at most than the larger one.",
           "What should the log-sum-exp be for two equal parts, and by how much should it grow when both parts' grow "
           "by 1?",
           ("maximum instead of log-sum-exp", _lse_as(np.maximum), "The larger of the two log-sum-exps is returned."),
           ("log-sum-exps added", _lse_as(np.add), "The two log-sum-exps are added, as if the sums were multiplied."),
           ("log-sum-exps averaged", _lse_as(lambda a, b: (a + b) / 2),
            "The mean of the two log-sum-exps is returned."),
           ("log-sum-exp of one part", _lse_as(lambda a, b: a, lambda a, b: b),
            "The log-sum-exp of one part is handed on."),
           ("mean instead of sum", _lse_of(lambda total, shift: np.log(total / 2) + shift),
            "The log-sum-exp is too small by log 2: it is that of the mean of the two sums."),
           ("maximum subtracted again instead of added back", _lse_of(lambda total, shift: np.log(total) - shift),
            "The log-sum-exp falls when both parts' grow."),
           ("maximum not added back", _lse_of(lambda total, shift: np.log(total)),
            "The log-sum-exp lies between 0 and log 2."),
           ("no logarithm", (*_lse_of(lambda total, shift: total, lambda total, shift: total + shift),
                             {"lse": lambda total, shift, *lses: _added_powers(*lses)}),
            "A sum of exponentials is returned, not its logarithm."),
           ("another base of the logarithm", tuple(variant for base in (2, 10) for variant in (
               *_lse_of(lambda total, shift, base=base: np.log(total) / np.log(base) + shift,
                        lambda total, shift, base=base: (np.log(total) + shift) / np.log(base)),
               {"lse": lambda total, shift, *lses, base=base: np.log(_added_powers(*lses)) / np.log(base)})),
            "The log-sum-exp is a logarithm to base 2 or 10, in whole or in part; but exp undoes the natural one.")),
    Mistake("epsilon in the denominator", change=tuple(map(_shared_with_epsilon, EPSILONS)),
            numbers=each(_shared_with_epsilon, lambda e: 0 < e < 10),
            does="A number is added to the sum of the two weights: the shares sum to less than 1.",
            why="With the maximum subtracted the sum is at least 1, unless both parts are empty; choose 1 for it "
                "there.",
            ask="How small can the sum get once the maximum is subtracted?"),
    Mistake("concatenated instead of merged", change=ways("mix", *(
                lambda share_a, share_b, out_a, out_b, axis=axis: np.concatenate([out_a, out_b], axis=axis) for axis in (-2, -1))),
            does="The two outputs stand side by side or one below the other in a larger array.",
            why="Both parts answer the same queries: each query has one output, somewhere between those of the parts.",
            ask="How many queries are there, and how many rows has your output?"),
    Mistake("output and log-sum-exp swapped", change={"finish": lambda out, lse: (lse, out)},
            does="The log-sum-exp comes first, the output second.",
            why="The answer is (out, lse), in this order.",
            ask="In which order does the exercise name the two?"),
)


def merge_cases():
    f4, f2, inf = np.float32, np.float16, np.inf

    def tiny(aspect, out_a, lse_a, out_b, lse_b, dtype=np.float64, extreme=False):
        return Case(aspect, tuple(np.array(part, dtype) for part in (out_a, lse_a, out_b, lse_b)),
                    extreme or aspect in (ONE_EMPTY, BOTH_EMPTY, HUGE))

    def large(lse, less):
        return tiny(LARGE_SUMS, [[8]], [lse], [[24]], [lse - less], f4, True)

    def some(aspect, *shape, seed, dtype=np.float64, order="C"):
        arrays = [normal(*shape[:-1], *shape[-1:] * (i % 2 == 0), seed=seed + i, dtype=dtype, scale=1.5)
                  for i in range(4)]
        return Case(aspect, tuple(np.asarray(array, order=order) for array in arrays))

    def with_empty(*shape, seed, a=(), b=()):
        out_a, lse_a, out_b, lse_b = some(ONE_EMPTY, *shape, seed=seed).args
        out_a[..., a, :], lse_a[..., a], out_b[..., b, :], lse_b[..., b] = 0, -inf, 0, -inf
        return Case(BOTH_EMPTY if set(a) & set(b) else ONE_EMPTY, (out_a, lse_a, out_b, lse_b), True)

    return [
        tiny(PLAIN, [[2]], [0], [[6]], [0]), tiny(PLAIN, [[2]], [1], [[6]], [2]),
        tiny(PLAIN, [[8, 0], [4, 2], [0, 4]], [3, 1, 0], [[0, 4], [4, 6], [2, 2]], [1, 2, 0]),
        some(PLAIN, 5, 3, seed=1), some(PLAIN, 7, 11, seed=2, order="F"), some(PLAIN, 37, 13, seed=10),
        tiny(SQUARE, [[8, 0], [4, 2]], [3, 1], [[0, 4], [4, 6]], [1, 2]), some(SQUARE, 5, 5, seed=3),
        tiny(LEADING, [[[8], [4]]], [[3, 1]], [[[0], [6]]], [[1, 2]]), some(LEADING, 2, 5, 3, seed=4),
        some(LEADING, 2, 3, 5, 7, seed=5, order="F"),
        tiny(ONE_EMPTY, [[0, 0]], [-inf], [[6, 4]], [1]), tiny(ONE_EMPTY, [[6, 4]], [1], [[0, 0]], [-inf]),
        with_empty(5, 3, seed=6, a=(1, 2), b=(4,)),
        tiny(BOTH_EMPTY, [[0, 0]], [-inf], [[0, 0]], [-inf]), with_empty(5, 3, seed=7, a=(1, 2), b=(2, 4)),
        *(tiny(HUGE, [[2]], [a], [[6]], [b]) for a, b in (
            (10000, 9999), (-10000, -9999), (10000, -10000), (-10000, 10000), (800, 799))),
        tiny(HUGE, [[2], [3]], [10000, -10000], [[6], [5]], [9999, -9999]),
        tiny(FLOAT32, [[2]], [1], [[6]], [2], f4), some(FLOAT32, 5, 3, seed=8, dtype=f4),
        tiny(FLOAT32, [[2]], [100], [[6]], [99], f4, True), large(10000, 0), large(10000, 1), large(-10000, 0.5),
        tiny(FLOAT16, [[2]], [1], [[6]], [2], f2), some(FLOAT16, 3, 5, seed=9, dtype=f2),
        tiny(FLOAT16, [[2]], [20], [[6]], [19], f2, True),
    ]


EXERCISE = Exercise(
    name="merge_partials", signature="(out_a, lse_a, out_b, lse_b)", place=3,
    axes=dict(out_a="n_q d_v", lse_a="n_q", out_b="n_q d_v", lse_b="n_q"),
    text="Attention over two sets of keys from the partial results over each: the merged output and "
         "log-sum-exp. An empty part has output 0 and log-sum-exp -inf, and two of them merge to another.",
    answer=merge_partials_answer, steps=MERGE_STEPS, cases=merge_cases, outputs=("out", "lse"),
    hints=(
        "A part's output was divided by its own sum of exponentials, exp(lse). What is it worth beside the other part?",
        "The shares of the two parts are exp(lse_a) and exp(lse_b), divided by their sum. The new log-sum-exp is the "
        "logarithm of that sum.",
        "exp(lse) may overflow: subtract the larger of the two first, query by query, and add it to the logarithm.",
        "If both are -inf, subtract 0 instead: the weights become 0. Divide them by 1 instead of their sum, 0.",
        "With m = np.maximum(lse_a, lse_b), 0 where it is -inf, and w_a = exp(lse_a - m), w_b likewise: "
        "lse is m + log(w_a + w_b), and the shares are w_a and w_b over their sum, with one more axis: [..., None]. "
        "(exp(lse_a - lse) is the same on paper; it trusts digits that a large lse no longer has.)",
    ),
    mistakes=MERGE_MISTAKES,
)
