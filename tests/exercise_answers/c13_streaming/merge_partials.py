"""Answers to merge_partials, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("merge_partials")

answers.wrong("ready-made function", function=attnlib.merge_partials)


@answers.right()
def merge_guarded(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    m = np.where(m == -np.inf, 0, m)
    w_a, w_b = np.exp(lse_a - m), np.exp(lse_b - m)
    total = w_a + w_b
    safe = np.where(total == 0, 1, total)[..., None]
    return (w_a[..., None] * out_a + w_b[..., None] * out_b) / safe, np.log(total) + m


@answers.right()
def merge_in_float64(out_a, lse_a, out_b, lse_b):
    wide_a, wide_b = lse_a.astype(np.float64), lse_b.astype(np.float64)
    lse = np.logaddexp(wide_a, wide_b)
    finite = np.where(np.isneginf(lse), 0, lse)
    out = np.exp(wide_a - finite)[..., None] * out_a + np.exp(wide_b - finite)[..., None] * out_b
    return out.astype(out_a.dtype), lse.astype(lse_a.dtype)


@answers.right()
def merge_shares_divided(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    finite = np.where(np.isneginf(lse), 0, lse)
    a, b = np.exp(lse_a - finite), np.exp(lse_b - finite)
    total = np.where(a + b == 0, 1, a + b)[..., None]
    return (a[..., None] * out_a + b[..., None] * out_b) / total, lse


@answers.wrong("shares from a rounded log-sum-exp")
def merge_logaddexp(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    finite = np.where(np.isneginf(lse), 0, lse)
    out = np.exp(lse_a - finite)[..., None] * out_a + np.exp(lse_b - finite)[..., None] * out_b
    return out, lse


@answers.right()
def merge_by_loop(out_a, lse_a, out_b, lse_b):
    out, lse = np.zeros_like(out_a), np.full_like(lse_a, -np.inf)
    for i in np.ndindex(lse_a.shape):
        a, b = float(lse_a[i]), float(lse_b[i])
        top = max(a, b)
        if top == -math.inf:
            continue
        total = math.exp(a - top) + math.exp(b - top)
        lse[i] = top + math.log(total)
        out[i] = (math.exp(a - top) * out_a[i] + math.exp(b - top) * out_b[i]) / total
    return out, lse


@answers.right()
def merge_nan_to_num(out_a, lse_a, out_b, lse_b):
    wide = [part.astype(np.float64) for part in (out_a, lse_a, out_b, lse_b)]
    lse = np.logaddexp(wide[1], wide[3])
    share = np.nan_to_num(np.exp(wide[1] - lse))[..., None]
    out = share * wide[0] + (1 - share) * wide[2]
    return out.astype(out_a.dtype), lse.astype(lse_a.dtype)


@answers.wrong("partial results averaged")
def merge_mean(out_a, lse_a, out_b, lse_b):
    return (out_a + out_b) / 2, np.logaddexp(lse_a, lse_b)


@answers.wrong("partial results averaged", "log-sum-exps averaged")
def merge_means(out_a, lse_a, out_b, lse_b):
    return 0.5 * (out_a + out_b), 0.5 * (lse_a + lse_b)


@answers.wrong("partial results added")
def merge_sum(out_a, lse_a, out_b, lse_b):
    return out_a + out_b, np.logaddexp(lse_a, lse_b)


@answers.wrong("partial results added", "log-sum-exps added")
def merge_sums(out_a, lse_a, out_b, lse_b):
    return out_a + out_b, lse_a + lse_b


@answers.wrong("not divided by the sum")
def merge_not_normalised(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    m = np.where(m == -np.inf, 0, m)
    w_a, w_b = np.exp(lse_a - m), np.exp(lse_b - m)
    return w_a[..., None] * out_a + w_b[..., None] * out_b, m + np.log(w_a + w_b)


@answers.wrong("dead rows NaN")
def merge_unguarded(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    w_a, w_b = np.exp(lse_a - m)[..., None], np.exp(lse_b - m)[..., None]
    return (w_a * out_a + w_b * out_b) / (w_a + w_b), m + np.log((w_a + w_b)[..., 0])


@answers.wrong("dead rows NaN", "shares from a rounded log-sum-exp")
def merge_logaddexp_unguarded(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    return np.exp(lse_a - lse)[..., None] * out_a + np.exp(lse_b - lse)[..., None] * out_b, lse


@answers.wrong("no maximum subtracted")
def merge_naive(out_a, lse_a, out_b, lse_b):
    w_a, w_b = np.exp(lse_a), np.exp(lse_b)
    total = w_a + w_b
    return (w_a[..., None] * out_a + w_b[..., None] * out_b) / total[..., None], np.log(total)


@answers.wrong("shares of the parts swapped", "shares from a rounded log-sum-exp")
def merge_swapped(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    finite = np.where(np.isneginf(lse), 0, lse)
    out = np.exp(lse_b - finite)[..., None] * out_a + np.exp(lse_a - finite)[..., None] * out_b
    return out, lse


@answers.wrong("log-sum-exps as weights")
def merge_by_logarithms(out_a, lse_a, out_b, lse_b):
    out = (lse_a[..., None] * out_a + lse_b[..., None] * out_b) / (lse_a + lse_b)[..., None]
    return out, np.logaddexp(lse_a, lse_b)


@answers.wrong("maximum instead of log-sum-exp")
def merge_maximum(out_a, lse_a, out_b, lse_b):
    out, lse = merge_guarded(out_a, lse_a, out_b, lse_b)
    return out, np.maximum(lse_a, lse_b)


@answers.wrong("maximum not added back")
def merge_not_added_back(out_a, lse_a, out_b, lse_b):
    m = np.nan_to_num(np.maximum(lse_a, lse_b), neginf=0)
    w_a, w_b = np.exp(lse_a - m), np.exp(lse_b - m)
    total = w_a + w_b
    out = (w_a[..., None] * out_a + w_b[..., None] * out_b) / np.where(total > 0, total, 1)[
        ..., None
    ]
    return out, np.log(total)


@answers.wrong("no axis for the features")
def merge_no_axis(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    m = np.where(m == -np.inf, 0, m)
    w_a, w_b = np.exp(lse_a - m), np.exp(lse_b - m)
    total = np.maximum(w_a + w_b, np.finfo(m.dtype).tiny)
    return w_a / total * out_a + w_b / total * out_b, np.log(w_a + w_b) + m


@answers.wrong("output and log-sum-exp swapped")
def merge_order(out_a, lse_a, out_b, lse_b):
    return merge_guarded(out_a, lse_a, out_b, lse_b)[::-1]


@answers.wrong("epsilon in the denominator")
def merge_epsilon(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    m = np.where(m == -np.inf, 0, m)
    w_a, w_b = np.exp(lse_a - m)[..., None], np.exp(lse_b - m)[..., None]
    return (w_a * out_a + w_b * out_b) / (w_a + w_b + 1e-6), (np.log(w_a + w_b) + m[..., None])[
        ..., 0
    ]


@answers.wrong("axis kept", "dead rows NaN", "shares from a rounded log-sum-exp")
def merge_column(out_a, lse_a, out_b, lse_b):
    lse_a, lse_b = lse_a[..., None], lse_b[..., None]
    lse = np.logaddexp(lse_a, lse_b)
    return np.exp(lse_a - lse) * out_a + np.exp(lse_b - lse) * out_b, lse


@answers.right()
def merge_by_sigmoid(out_a, lse_a, out_b, lse_b):
    both_empty = np.isneginf(lse_a) & np.isneginf(lse_b)
    gap = np.where(both_empty, 0, lse_b.astype(np.float64) - lse_a)
    share = (1 / (1 + np.exp(gap)))[..., None]
    return (share * out_a + (1 - share) * out_b).astype(out_a.dtype), np.logaddexp(lse_a, lse_b)


@answers.wrong("maximum instead of log-sum-exp")
def merge_maximum_throughout(out_a, lse_a, out_b, lse_b):
    lse = np.maximum(lse_a, lse_b)
    finite = np.where(np.isneginf(lse), 0, lse)
    out = np.exp(lse_a - finite)[..., None] * out_a + np.exp(lse_b - finite)[..., None] * out_b
    return out, lse


@answers.wrong("one part subtracted instead of the maximum")
def merge_relative_to_a(out_a, lse_a, out_b, lse_b):
    ratio = np.exp(lse_b - lse_a)
    out = (out_a + ratio[..., None] * out_b) / (1 + ratio)[..., None]
    return out, lse_a + np.log(1 + ratio)


@answers.wrong("not divided by the sum", "dead rows NaN")
def merge_not_normalised_unguarded(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    w_a, w_b = np.exp(lse_a - m)[..., None], np.exp(lse_b - m)[..., None]
    return w_a * out_a + w_b * out_b, np.logaddexp(lse_a, lse_b)


@answers.wrong("not divided by the sum", "no maximum subtracted")
def merge_bare_powers(out_a, lse_a, out_b, lse_b):
    return (
        np.exp(lse_a)[..., None] * out_a + np.exp(lse_b)[..., None] * out_b,
        np.logaddexp(lse_a, lse_b),
    )


@answers.wrong("only the larger part", "maximum instead of log-sum-exp")
def merge_best(out_a, lse_a, out_b, lse_b):
    return np.where((lse_a >= lse_b)[..., None], out_a, out_b), np.maximum(lse_a, lse_b)


@answers.wrong("log-sum-exps as weights", "log-sum-exps averaged")
def merge_logarithms(out_a, lse_a, out_b, lse_b):
    total = (lse_a + lse_b)[..., None]
    return (lse_a[..., None] * out_a + lse_b[..., None] * out_b) / total, (lse_a + lse_b) / 2


def merge_exponent_flipped(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    return out_a * np.exp(lse - lse_a)[..., None] + out_b * np.exp(lse - lse_b)[..., None], lse


def merge_empty_counted(out_a, lse_a, out_b, lse_b):
    lse_a, lse_b = np.where(lse_a == -np.inf, 0, lse_a), np.where(lse_b == -np.inf, 0, lse_b)
    lse = np.logaddexp(lse_a, lse_b)
    return out_a * np.exp(lse_a - lse)[..., None] + out_b * np.exp(lse_b - lse)[..., None], lse


for names, function in (
    (["sign of the exponent flipped"], merge_exponent_flipped),
    (["empty part counted", "shares from a rounded log-sum-exp"], merge_empty_counted),
):
    if function.__name__ == "<lambda>":
        function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("share from only one log-sum-exp")
def merge_by_sigmoid_of_dead(out_a, lse_a, out_b, lse_b):
    share = 1 / (1 + np.exp(-lse_a))
    share = np.where(np.isneginf(lse_b), np.where(np.isneginf(lse_a), 0, 1), share).astype(
        out_a.dtype
    )
    return share[..., None] * out_a + (1 - share)[..., None] * out_b, np.logaddexp(lse_a, lse_b)


@answers.wrong("mean instead of sum")
def merge_with_mean(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    shares = np.nan_to_num(np.exp(np.stack([lse_a, lse_b]) - lse))[..., None]
    return shares[0] * out_a + shares[1] * out_b, (lse - np.log(2)).astype(lse.dtype)


@answers.wrong("log-sum-exp lost beside an empty part")
def merge_losing_lse(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    share = np.nan_to_num(np.exp(lse_a - lse))[..., None]
    return share * out_a + (1 - share) * out_b, np.where(np.isneginf(lse_b), lse_b, lse)


@answers.wrong("shares of the parts swapped")
def merge_swapped_and_divided(out_a, lse_a, out_b, lse_b):
    out, lse = merge_guarded(out_b, lse_a, out_a, lse_b)
    return out, lse


@answers.wrong("another base of the logarithm")
def merge_log10(out_a, lse_a, out_b, lse_b):
    m = np.maximum(lse_a, lse_b)
    m = np.where(m == -np.inf, 0, m)
    total = np.exp(lse_a - m) + np.exp(lse_b - m)
    return merge_guarded(out_a, lse_a, out_b, lse_b)[0], np.log10(total) + m


answers.wrong(
    "concatenated instead of merged",
    function=lambda out_a, lse_a, out_b, lse_b: (
        np.concatenate([out_a, out_b], axis=-2),
        np.logaddexp(lse_a, lse_b),
    ),
)


@answers.wrong("empty parts guarded only for all queries at once")
def merge_with_early_returns(out_a, lse_a, out_b, lse_b):
    if np.isneginf(lse_a).all():
        return out_b, lse_b
    if np.isneginf(lse_b).all():
        return out_a, lse_a
    return merge_unguarded(out_a, lse_a, out_b, lse_b)


def by_rounded_lse(mixed):
    """Shares from the merged log-sum-exp, as it is rounded to its dtype."""

    def merge(out_a, lse_a, out_b, lse_b):
        lse = np.logaddexp(lse_a, lse_b)
        finite = np.where(np.isneginf(lse), lse.dtype.type(0), lse)
        return mixed(
            np.exp(lse_a - finite)[..., None], np.exp(lse_b - finite)[..., None], out_a, out_b
        ), lse

    return merge


answers.wrong(
    "shares from a rounded log-sum-exp",
    function=by_rounded_lse(
        lambda share_a, share_b, out_a, out_b: share_a * out_a + share_b * out_b
    ),
)
answers.wrong(
    "shares from a rounded log-sum-exp",
    function=by_rounded_lse(
        lambda share_a, share_b, out_a, out_b: share_a * out_a + (1 - share_a) * out_b
    ),
)
answers.wrong(
    "shares from a rounded log-sum-exp",
    function=by_rounded_lse(
        lambda share_a, share_b, out_a, out_b: out_a + share_b * (out_b - out_a)
    ),
)


@answers.wrong("shares from a rounded log-sum-exp")
def by_rounded_sum(out_a, lse_a, out_b, lse_b):
    highest = np.maximum(lse_a, lse_b)
    highest = np.where(np.isneginf(highest), highest.dtype.type(0), highest)
    with np.errstate(divide="ignore"):
        lse = highest + np.log(np.exp(lse_a - highest) + np.exp(lse_b - highest))
    finite = np.where(np.isneginf(lse), lse.dtype.type(0), lse)
    return np.exp(lse_a - finite)[..., None] * out_a + np.exp(lse_b - finite)[
        ..., None
    ] * out_b, lse


def for_an_empty_part(number):
    """A number for the -inf of an empty part, put right again only where both are empty."""

    def merge(out_a, lse_a, out_b, lse_b):
        dead = np.isneginf(lse_a) & np.isneginf(lse_b)
        a, b = (np.where(np.isneginf(lse), lse.dtype.type(number), lse) for lse in (lse_a, lse_b))
        out, lse = merge_guarded(out_a, a, out_b, b)
        return out, np.where(dead, -np.inf, lse).astype(lse_a.dtype)

    return merge


def with_a_lowest_maximum(number):
    def merge(out_a, lse_a, out_b, lse_b):
        m = np.maximum(np.maximum(lse_a, lse_b), lse_a.dtype.type(number))
        w_a, w_b = np.exp(lse_a - m), np.exp(lse_b - m)
        total = w_a + w_b
        safe = np.where(total == 0, 1, total)[..., None]
        return (w_a[..., None] * out_a + w_b[..., None] * out_b) / safe, np.log(total) + m

    return merge


for number in (-1e4, -9999, -5000):
    answers.wrong("number instead of an empty part's -inf", function=for_an_empty_part(number))
    answers.wrong("number instead of an empty part's -inf", function=with_a_lowest_maximum(number))


@answers.wrong("negative number instead of -inf")
def merge_with_a_number_for_empty(out_a, lse_a, out_b, lse_b):
    a, b = (np.where(np.isneginf(lse), lse.dtype.type(-1e4), lse) for lse in (lse_a, lse_b))
    return merge_guarded(out_a, a, out_b, b)
