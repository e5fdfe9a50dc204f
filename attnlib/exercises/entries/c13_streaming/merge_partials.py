"""The exercise merge_partials."""

from dataclasses import replace

import numpy as np

from ...families.choose import named
from ...families.logsumexp import LOWEST, TINIER
from ...families.softmax import EPSILONS, NO_MAXIMUM, SHIFT_MISTAKES
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, each, normal


def merge_partials_answer(do, out_a, lse_a, out_b, lse_b):
    lse_a, lse_b = do.lses(lse_a, lse_b)
    shift = do.guard(do.highest(lse_a, lse_b))
    weight_a, weight_b = do.power(lse_a - shift), do.power(lse_b - shift)
    total = weight_a + weight_b
    lse = do.lse(total, shift, lse_a, lse_b)
    weight_a, weight_b = do.weights(weight_a, weight_b, lse_a, lse_b)
    shares = do.shares(weight_a, weight_b, weight_a + weight_b, lse_a, lse_b, lse)
    return do.finish(do.dead_rows(do.mix(*shares, out_a, out_b), total), lse)


def _column(numbers):
    return np.asarray(numbers)[..., None]


def _divided(weight_a, weight_b, total, lse_a, lse_b, lse):
    return weight_a / total, weight_b / total


def _by_lse(weight_a, weight_b, total, lse_a, lse_b, lse):
    return np.exp(lse_a - lse), np.exp(lse_b - lse)


def _by_guarded_lse(weight_a, weight_b, total, lse_a, lse_b, lse):
    return _by_lse(weight_a, weight_b, total, lse_a, lse_b, np.where(lse == -np.inf, 0.0, lse))


def _finite(numbers):
    return np.nan_to_num(numbers, nan=0.0, posinf=0.0)


def _normalised(share_a, share_b):
    total = np.where(share_a + share_b == 0, 1.0, share_a + share_b)
    return share_a / total, share_b / total


def _shared(share):
    """A change of the shares by a function of the two log-sum-exps alone."""
    return {"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse: share(lse_a, lse_b)}


def _ones(lse_a, lse_b):
    return np.ones_like(lse_a), np.ones_like(lse_b)


def _bare_powers(weight_a, weight_b, lse_a, lse_b):
    return np.exp(lse_a), np.exp(lse_b)


MERGE_STEPS = {
    "lses": lambda lse_a, lse_b: (lse_a, lse_b),
    "highest": Step(np.maximum, "the maximum", True),
    "guard": lambda highest: np.where(highest == -np.inf, 0.0, highest),
    "power": Step(np.exp, "the parts' exponentials"),
    "lse": lambda total, shift, lse_a, lse_b: np.log(total) + shift,
    "weights": lambda weight_a, weight_b, lse_a, lse_b: (weight_a, weight_b),
    "shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse: _divided(
        weight_a, weight_b, np.where(total == 0, 1.0, total), lse_a, lse_b, lse),
    "mix": lambda share_a, share_b, out_a, out_b: _column(share_a) * out_a + _column(share_b) * out_b,
    "dead_rows": lambda out, total: out,
    "finish": lambda out, lse: (out, lse),
}

ONE_EMPTY, BOTH_EMPTY = "one empty part", "two empty parts"


def _merge_cases():
    f4, f2, inf = np.float32, np.float16, np.inf

    def case(aspect, out_a, lse_a, out_b, lse_b, dtype=np.float64, extreme=False):
        return Case(aspect, tuple(np.array(part, dtype) for part in (out_a, lse_a, out_b, lse_b)), extreme)

    def some(aspect, *shape, seed, dtype=np.float64):
        out_a, out_b = (normal(*shape, seed=seed + i, dtype=dtype) for i in (0, 31))
        lse_a, lse_b = (normal(*shape[:-1], seed=seed + i, dtype=dtype, scale=1.5) for i in (30, 32))
        return Case(aspect, (out_a, lse_a, out_b, lse_b))

    def with_empty(*shape, seed, a=(), b=()):
        out_a, lse_a, out_b, lse_b = some(ONE_EMPTY, *shape, seed=seed).args
        out_a[..., a, :], lse_a[..., a], out_b[..., b, :], lse_b[..., b] = 0, -inf, 0, -inf
        return Case(BOTH_EMPTY if set(a) & set(b) else ONE_EMPTY, (out_a, lse_a, out_b, lse_b), True)

    return [
        case(PLAIN, [[2]], [0], [[6]], [0]), case(PLAIN, [[2]], [1], [[6]], [2]),
        case(PLAIN, [[8, 0], [4, 2], [0, 4]], [3, 1, 0], [[0, 4], [4, 6], [2, 2]], [1, 2, 0]),
        some(PLAIN, 5, 3, seed=1), some(PLAIN, 7, 11, seed=2),
        case(SQUARE, [[8, 0], [4, 2]], [3, 1], [[0, 4], [4, 6]], [1, 2]), some(SQUARE, 5, 5, seed=3),
        case(LEADING, [[[8], [4]]], [[3, 1]], [[[0], [6]]], [[1, 2]]), some(LEADING, 2, 5, 3, seed=4),
        some(LEADING, 2, 3, 5, 7, seed=5),
        case(ONE_EMPTY, [[0, 0]], [-inf], [[6, 4]], [1], extreme=True),
        case(ONE_EMPTY, [[6, 4]], [1], [[0, 0]], [-inf], extreme=True),
        with_empty(5, 3, seed=6, a=(1, 2), b=(4,)),
        case(BOTH_EMPTY, [[0, 0]], [-inf], [[0, 0]], [-inf], extreme=True),
        with_empty(5, 3, seed=7, a=(1, 2), b=(2, 4)),
        case(HUGE, [[2]], [10000], [[6]], [9999], extreme=True),
        case(HUGE, [[2]], [-10000], [[6]], [-9999], extreme=True),
        case(HUGE, [[2]], [10000], [[6]], [-10000], extreme=True),
        case(HUGE, [[2]], [-10000], [[6]], [10000], extreme=True),
        case(HUGE, [[2], [3]], [10000, -10000], [[6], [5]], [9999, -9999], extreme=True),
        case(HUGE, [[2]], [800], [[6]], [799], extreme=True),
        case(FLOAT32, [[2]], [1], [[6]], [2], f4), some(FLOAT32, 5, 3, seed=8, dtype=f4),
        case(FLOAT32, [[2]], [100], [[6]], [99], f4, True),
        case(FLOAT16, [[2]], [1], [[6]], [2], f2), some(FLOAT16, 3, 5, seed=9, dtype=f2),
        case(FLOAT16, [[2]], [20], [[6]], [19], f2, True),
    ]


def _for_all(share, of):
    share = np.broadcast_to(of(share), share.shape)
    return share, 1 - share


def _over_queries(lse, least=0.0):
    highest = lse.max(axis=-1, keepdims=True)
    weights = np.exp(lse - np.where(np.isneginf(highest), 0.0, highest))
    return weights / np.maximum(weights.sum(axis=-1, keepdims=True), least)


def _alone(place):
    """The sigmoid of one part's log-sum-exp as its share."""
    def shares(weight_a, weight_b, total, lse_a, lse_b, lse):
        share = 1 / (1 + np.exp(-(lse_a, lse_b)[place]))
        return (share, 1 - share)[::1 - 2 * place]

    return shares


def _alone_but_empty(place):
    """The same, where no part is empty."""
    def shares(weight_a, weight_b, total, lse_a, lse_b, lse):
        right = MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse)
        empty = np.isneginf(lse_a) | np.isneginf(lse_b)
        return tuple(np.where(empty, a, b) for a, b in zip(right, _alone(place)(
            weight_a, weight_b, total, lse_a, lse_b, lse)))

    return shares


def _lse_as(merge):
    """A wrong log-sum-exp: alone, and with the shares computed from it."""
    change = {"lse": lambda total, shift, lse_a, lse_b: merge(lse_a, lse_b)}
    return change, {**change, "shares": _by_lse}, {**change, "shares": _by_guarded_lse}


MERGE_MISTAKES = (
    Mistake("partial results averaged", change=_shared(lambda a, b: (0.5 * np.ones_like(a), 0.5 * np.ones_like(b))),
            does="The output is the plain mean of the two parts, whatever their log-sum-exps are.",
            why="A part counts as much as its sum of exponentials says: exp(lse).",
            ask="Which part should count more if its scores are much larger?"),
    Mistake("partial results added", change=_shared(_ones),
            does="The output is the sum of the two parts.",
            why="Each part is divided by its own sum already. Their shares in the common sum have to be 1 together.",
            ask="What must the output be if both parts are equal?"),
    Mistake("not divided by the sum",
            change={"shares": lambda weight_a, weight_b, *others: (weight_a, weight_b)},
            does="The parts are weighted by their exponentials, and the result is not divided by "
                "the sum of these weights.",
            why="The two shares must sum to 1.",
            ask="What must the output be if both parts are equal?"),
    Mistake("shares of the parts swapped",
            change={"shares": lambda weight_a, weight_b, total, *others: _divided(
                weight_b, weight_a, np.where(total == 0, 1.0, total), *others)},
            does="Part a gets the share of part b.",
            why="The part with the larger log-sum-exp has the larger share.",
            ask="Which part should count more if its scores are much larger?"),
    Mistake("sign of the exponent flipped",
            change=({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse:
                     (np.exp(lse - lse_a), np.exp(lse - lse_b))},
                    {"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse:
                     (_finite(np.exp(lse - lse_a)), _finite(np.exp(lse - lse_b)))},
                    {"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse:
                     _normalised(_finite(np.exp(lse - lse_a)), _finite(np.exp(lse - lse_b)))}),
            does="The part with the smaller log-sum-exp gets the larger share: exp(lse - lse_a) stands for "
                 "exp(lse_a - lse).",
            why="A part's share is its own sum over the common one: exp(lse_a) / exp(lse).",
            ask="Can lse - lse_a be negative, and how large should a share be at most?"),
    Mistake("empty part counted",
            change={"lses": lambda a, b: (np.where(np.isneginf(a), 0.0, a), np.where(np.isneginf(b), 0.0, b))},
            does="A log-sum-exp of -inf is taken as 0: an empty part counts as a sum of 1.",
            why="exp(-inf) is 0: a part without keys has no share. exp(0) is 1.",
            ask="What is the sum of exponentials of a part without keys?"),
    Mistake("log-sum-exps as weights", change=_shared(lambda a, b: (a / (a + b), b / (a + b))),
            does="The parts are weighted by their log-sum-exps, which may be negative.",
            why="A part's sum of exponentials is exp(lse): that is its weight.",
            ask="Which function undoes the logarithm in the log-sum-exp?"),
    Mistake("the larger part alone",
            change=(_shared(lambda a, b: ((a >= b) / 1.0, (a < b) / 1.0)),
                    _shared(lambda a, b: ((a > b) / 1.0, (a <= b) / 1.0))),
            does="The part with the larger log-sum-exp is taken, the other one dropped.",
            why="Both parts count, by their sums of exponentials.",
            ask="What must the output be if both log-sum-exps are equal?"),
    Mistake("no axis for the features",
            change={"mix": lambda share_a, share_b, out_a, out_b: share_a * out_a + share_b * out_b},
            does="The shares, one for each query, line up with the features, where the shapes fit at all.",
            why="Axes are aligned from the end. The shares need one more axis, of length 1.",
            ask="Which shapes are multiplied, and how do they line up from the end?"),
    replace(NO_MAXIMUM,
            change=({"highest": lambda a, b: np.zeros_like(a), "shares": _divided},
                    {"highest": lambda a, b: np.zeros_like(a)},
                    {"weights": _bare_powers}, {"weights": _bare_powers, "shares": _divided},
                    {"lse": lambda total, shift, lse_a, lse_b: np.log(np.exp(lse_a) + np.exp(lse_b))},
                    {"lse": lambda total, shift, lse_a, lse_b: np.log(np.exp(lse_a) + np.exp(lse_b)),
                     "shares": _by_lse}),
            does="For small log-sum-exps it is right. Above 709 (above 88 in float32, above 11 in float16) exp "
                 "overflows; far below 0 both exponentials underflow.",
            why="Only the difference of the two matters. Subtract the larger one from both; then no "
                "exponent is above 0.",
            ask="Which number can be subtracted from both log-sum-exps so that exp never overflows?"),
    replace(named("minimum subtracted instead of maximum", SHIFT_MISTAKES),
            change=({"highest": np.minimum, "shares": _divided}, {"highest": np.minimum}),
            does="The smaller log-sum-exp becomes 0, and the exponential of the other may overflow; an "
                "empty part spoils the row.",
            ask="Which exponents overflow, large positive or large negative ones?"),
    replace(named("one maximum for the whole array", SHIFT_MISTAKES),
            change=({"highest": lambda a, b: np.maximum(a.max(), b.max()), "shares": _divided},
                    {"highest": lambda a, b: np.maximum(a.max(), b.max())}),
            does="Queries whose log-sum-exps lie far below the largest of all underflow.",
            why="Each query needs its own maximum.",
            ask="What is left of a query whose two numbers lie 10000 below another query's?"),
    Mistake("one part subtracted instead of the maximum",
            change=({"highest": lambda a, b: a, "shares": _divided}, {"highest": lambda a, b: b, "shares": _divided},
                    {"highest": lambda a, b: a}, {"highest": lambda a, b: b},
                    {"highest": lambda a, b: a, "guard": lambda m: m},
                    {"highest": lambda a, b: b, "guard": lambda m: m}),
            does="The log-sum-exp of one part is always subtracted: if the other one is much larger, exp overflows.",
            why="With the larger of the two no exponent is above 0.",
            ask="What is the largest exponent if part b's scores are 10000 above part a's?"),
    Mistake("dead rows NaN",
            change=({"guard": lambda highest: highest},
                    {"dead_rows": lambda out, total: np.where(_column(total == 0), np.nan, out)},
                    {"lse": lambda total, shift, lse_a, lse_b: np.where(total == 0, np.nan, np.log(total) + shift)}),
            does="Where both parts are empty, the output or the log-sum-exp is NaN.",
            why="-inf - -inf is NaN, and so is 0 / 0. Two empty parts merge to another: output 0, log-sum-exp -inf.",
            ask="What are the maximum and the sum of the weights if both log-sum-exps are -inf?"),
    Mistake("0 for a row of -inf",
            change={"lse": lambda total, shift, lse_a, lse_b: np.where(total == 0, 0.0, np.log(total) + shift)},
            does="Where both parts are empty, the log-sum-exp is 0.",
            why="A log-sum-exp of 0 says that the exponentials sum to 1; here they sum to 0, and log(0) is -inf. "
                "The next merge would count the empty part.",
            ask="What is the logarithm of an empty sum?"),
    Mistake("large negative number instead of -inf",
            change=tuple({"lse": lambda total, shift, lse_a, lse_b, v=value:
                          np.where(total == 0, v, np.log(total) + shift)}
                         for value in (-1e9, -1e10, -1e30, -1e4, -1e3) + LOWEST),
            numbers=each(lambda v: {"lse": lambda total, shift, lse_a, lse_b: np.where(
                total == 0, v, np.log(total) + shift)}, lambda v: v < 0),
            does="Where both parts are empty, the log-sum-exp is a large negative number.",
            why="The exponentials sum to 0 exactly, and log(0) is -inf.",
            ask="Which number has the exponential 0?"),
    Mistake("maximum instead of log-sum-exp", change=_lse_as(np.maximum),
            does="The larger of the two log-sum-exps is returned.",
            why="Both sums of exponentials are added: the result lies above the larger one, by up to log 2.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("log-sum-exps added", change=_lse_as(np.add),
            does="The two log-sum-exps are added.",
            why="The sums of exponentials are added, not their logarithms: that would multiply them.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("mean instead of sum",
            change={"lse": lambda total, shift, lse_a, lse_b: np.log(total / 2) + shift},
            does="The log-sum-exp is too small by log 2: it is that of the mean of the two sums.",
            why="The sums of exponentials of both parts are added.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("maximum subtracted again instead of added back",
            change={"lse": lambda total, shift, lse_a, lse_b: np.log(total) - shift},
            does="The log-sum-exp falls when both parts' grow.",
            why="The maximum was subtracted from both; afterwards it has to be added.",
            ask="By how much should the log-sum-exp grow when both parts' grow by 1?"),
    Mistake("one share for both parts",
            change=tuple({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, i=i: (
                MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse)[i],) * 2} for i in (0, 1)),
            does="Both parts get the share of part a, or that of part b.",
            why="The two shares sum to 1.",
            ask="Which share has part b if that of part a is 1/4?"),
    Mistake("shares from doubled exponents",
            change=tuple({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, p=p, norm=norm: norm(*(
                share ** p for share in MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse)))}
                for p in (2, 0.5) for norm in (lambda a, b: (a, b), _normalised)),
            does="The shares enter squared, or as their square roots.",
            why="A part's share is exp(lse - merged lse), with the difference as it is.",
            ask="What do your two shares sum to if both log-sum-exps are equal?"),
    Mistake("one share for all queries",
            change=tuple({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, of=of: _for_all(
                MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse)[0], of)} for of in (
                lambda a: a.mean(axis=-1, keepdims=True), lambda a: a.mean(), lambda a: a[..., :1], lambda a: a.max())),
            does="All queries get the same shares: a mean, or those of the first query.",
            why="Each query has scores of its own, and so log-sum-exps and shares of its own.",
            ask="How many shares has part a if there are 5 queries?"),
    Mistake("shares over the queries instead of the parts",
            change=tuple({"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, over=over: (
                over(lse_a), over(lse_b))} for over in (_over_queries, lambda lse: _over_queries(lse, 1e-7))),
            does="Each part's log-sum-exps go through a softmax of their own, over the queries.",
            why="The two parts compete for each query: for each, their shares sum to 1.",
            ask="Which two numbers must sum to 1?"),
    Mistake("share from one log-sum-exp alone",
            change=tuple({"shares": shares} for shares in (
                *map(_alone, (0, 1)), *map(_alone_but_empty, (0, 1)))),
            does="One part's share is exp(lse) / (1 + exp(lse)), whatever the other part's log-sum-exp is.",
            why="A part's share in the whole depends on both: exp(lse_a) / (exp(lse_a) + exp(lse_b)).",
            ask="Which share has part a if lse_b is much larger than lse_a?"),
    Mistake("log-sum-exp lost beside an empty part", change=tuple(
                {"lse": lambda total, shift, lse_a, lse_b, empty=empty: np.where(
                    empty(np.isneginf(lse_a), np.isneginf(lse_b)), -np.inf, np.log(total) + shift)}
                for empty in (np.logical_or, lambda a, b: a, lambda a, b: b)),
            does="Where one part is empty, the log-sum-exp is -inf, as if both were.",
            why="An empty part adds 0 to the sum: what is left is the other part's log-sum-exp.",
            ask="What is the sum of exponentials if one part has none?"),
    Mistake("output lost beside an empty part", change=tuple(
                {"shares": lambda weight_a, weight_b, total, lse_a, lse_b, lse, empty=empty: tuple(
                    np.where(empty(np.isneginf(lse_a), np.isneginf(lse_b)), 0.0, share)
                    for share in MERGE_STEPS["shares"](weight_a, weight_b, total, lse_a, lse_b, lse))}
                for empty in (np.logical_or, lambda a, b: a, lambda a, b: b)),
            does="Where one part is empty, the output is 0, as if both were.",
            why="An empty part has no share: what is left is the other part's output.",
            ask="Which share has the other part if one is empty?"),
    Mistake("log-sum-exps averaged", change=_lse_as(lambda a, b: (a + b) / 2),
            does="The mean of the two log-sum-exps is returned.",
            why="The sums of exponentials are added: the result lies above both.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("log-sum-exp of one part", change=(*_lse_as(lambda a, b: a), *_lse_as(lambda a, b: b)),
            does="The log-sum-exp of one part is handed on.",
            why="The merged output belongs to both parts' keys, and so must the log-sum-exp.",
            ask="Of which keys is the returned log-sum-exp?"),
    Mistake("maximum not added back",
            change=({"lse": lambda total, shift, lse_a, lse_b: np.log(total)},),
            does="The log-sum-exp lies between 0 and log 2.",
            why="Subtracting the maximum divides the sum by exp(maximum): after the logarithm it "
                "has to be added again.",
            ask="By how much should the log-sum-exp grow when both parts' grow by 1?"),
    Mistake("no logarithm",
            change=({"lse": lambda total, shift, lse_a, lse_b: total},
                    {"lse": lambda total, shift, lse_a, lse_b: total + shift},
                    {"lse": lambda total, shift, lse_a, lse_b: np.exp(lse_a) + np.exp(lse_b)}),
            does="A sum of exponentials is returned, not its logarithm.",
            why="The next merge expects a log-sum-exp again.",
            ask="What is the last function in log sum exp to be applied?"),
    Mistake("epsilon in the denominator",
            change=tuple({"shares": lambda weight_a, weight_b, total, *others, e=e:
                          _divided(weight_a, weight_b, total + e, *others)}
                         for e in EPSILONS),
            numbers=each(lambda e: {"shares": lambda weight_a, weight_b, total, *others: _divided(
                weight_a, weight_b, total + e, *others)}, lambda e: 0 < e < 10),
            does="The two shares sum to a little less than 1.",
            why="With the maximum subtracted the sum is at least 1, unless both parts are empty; "
                "choose 1 for it there.",
            ask="How small can the sum get once the maximum is subtracted?"),
    Mistake("epsilon in the logarithm",
            change=tuple({"lse": lambda total, shift, lse_a, lse_b, e=e: np.log(total + e) + shift}
                         for e in EPSILONS + TINIER),
            does="A small number stands with the sum in the logarithm: two empty parts give the "
                "logarithm of that number.",
            why="With the maximum subtracted the sum is at least 1, unless both parts are empty; there -inf is right.",
            ask="When can the sum be 0, and what should its logarithm be then?"),
    Mistake("power of 2 instead of e",
            change=({"power": np.exp2},
                    {"power": np.exp2, "lse": lambda total, shift, lse_a, lse_b: np.log2(total) + shift}),
            does="The shares are computed with powers of 2.",
            why="The log-sum-exps are natural logarithms: exp undoes them.",
            ask="Which function undoes the natural logarithm?"),
    Mistake("logarithm to base 2",
            change=({"lse": lambda total, shift, lse_a, lse_b: np.log2(total) + shift},
                    {"lse": lambda total, shift, lse_a, lse_b: np.log2(np.exp(lse_a) + np.exp(lse_b))},
                    {"lse": lambda total, shift, lse_a, lse_b: (np.log(total) + shift) / np.log(2)}),
            does="The log-sum-exp is a logarithm to base 2, in whole or in part.",
            why="exp and the natural logarithm undo each other; exp and log2 do not.",
            ask="What should the log-sum-exp be for two equal parts?"),
    Mistake("output and log-sum-exp swapped", change={"finish": lambda out, lse: (lse, out)},
            does="The log-sum-exp comes first, the output second.",
            why="The answer is (out, lse), in this order.",
            ask="In which order does the exercise name the two?"),
)

EXERCISE = Exercise(
    name="merge_partials", signature="(out_a, lse_a, out_b, lse_b)", place=2,
    axes=dict(out_a="n_q d_v", lse_a="n_q", out_b="n_q d_v", lse_b="n_q"),
    text="Attention over two sets of keys from the partial results over each: the merged output and "
         "log-sum-exp. An empty part has output 0 and log-sum-exp -inf, and two of them merge to another.",
    answer=merge_partials_answer, steps=MERGE_STEPS, cases=_merge_cases, outputs=("out", "lse"),
    hints=(
        "A part's output was divided by its own sum of exponentials, exp(lse). What is it worth beside the other part?",
        "The shares of the two parts are exp(lse_a) and exp(lse_b), divided by their sum. The new "
        "log-sum-exp is the logarithm of that sum.",
        "exp(lse) may overflow: subtract the larger of the two first, query by query, and add it to the logarithm.",
        "If both are -inf, subtract 0 instead: the weights become 0. Divide them by 1 instead of their sum, 0.",
        "With m = np.maximum(lse_a, lse_b), 0 where it is -inf, and w_a = exp(lse_a - m), w_b likewise: "
        "lse is m + log(w_a + w_b). The shares multiply the outputs with one more axis: [..., None].",
    ),
    mistakes=MERGE_MISTAKES,
)
