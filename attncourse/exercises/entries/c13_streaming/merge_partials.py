import numpy as np

from ...families.inputs import drawn, given
from ...families.logsumexp import LOWEST, TINIER  # noqa: F401, for the page
from ...families.softmax import EPSILONS  # noqa: F401, for the page
from ...families.weighted_sums import one_for_0
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case
from ...pages import written


def merge_partials(out_a, lse_a, out_b, lse_b):
    both = np.stack([lse_a, lse_b])
    highest = both.max(axis=0)  #: the maximum (one per row)
    shift = guarded(highest)
    powers = np.exp(both - shift)  #: the parts' exponentials
    added = powers.sum(axis=0)
    lse = np.log(added) + shift
    terms = powers
    parts = terms / one_for_0(terms.sum(axis=0))
    shares = parts
    out = (shares[..., None] * np.stack([out_a, out_b])).sum(axis=0)
    return out, lse


def guarded(numbers):
    """The numbers, and 0 for -inf."""
    return np.where(numbers == -np.inf, 0.0, numbers)


def finite(numbers):
    return np.nan_to_num(numbers, nan=0.0, posinf=0.0)


def normalised(shares):
    return shares / one_for_0(shares.sum(axis=0))


def one_for_all(out_a, lse_a, out_b, lse_b):
    """One test for all queries: where any has an empty part, the other part stands for both."""
    if np.isneginf(lse_a).any():
        return out_b, lse_b
    return (
        (out_a, lse_a) if np.isneginf(lse_b).any() else merge_partials(out_a, lse_a, out_b, lse_b)
    )


def for_all_queries(shares, of):
    share = np.broadcast_to(of(shares[0]), shares[0].shape)
    return np.stack([share, 1 - share])


OF_ALL = (lambda a: a.mean(axis=-1, keepdims=True), np.mean, lambda a: a[..., :1], np.max)


def over_queries(both, least):
    weights = np.exp(both - guarded(both.max(axis=-1, keepdims=True)))
    return weights / np.maximum(weights.sum(axis=-1, keepdims=True), least)


def from_one(both, shares, place, guard):
    """The sigmoid of one part's log-sum-exp as its share; or that where no part is empty."""
    share = 1 / (1 + np.exp(-both[place]))
    alone = np.stack((share, 1 - share)[:: 1 - 2 * place])
    return np.where(guard & np.isneginf(both).any(axis=0), shares, alone)


RESTS = (np.asarray, lambda p: np.stack([p[0], 1 - p[0]]), lambda p: np.stack([1 - p[1], p[1]]))
EITHER = (lambda empty: empty.any(axis=0), lambda empty: empty[0], lambda empty: empty[1])
LOW = (-1e3, -9999.0, -1e4, -1e9)  # not below every log-sum-exp
HUGE_PAIRS = (10000, 9999), (-10000, -9999), (10000, -10000), (-10000, 10000), (800, 799)
ONE_EMPTY, BOTH_EMPTY = "one empty part", "two empty parts"
LARGE_SUMS = "large log-sum-exps in float32"


def merge_cases():
    f4, f2, inf = np.float32, np.float16, np.inf

    def tiny(aspect, *parts, dtype=np.float64, extreme=False, **more):
        extreme = extreme or aspect in (ONE_EMPTY, BOTH_EMPTY)
        return given(aspect, *parts, dtype=dtype, extreme=extreme, **more)

    def large(lse, less):
        # shares from the difference of the log-sum-exps are right to 1e-7 here, shares from a
        # rounded new one to 3e-4
        parts = [[8]], [lse], [[24]], [lse - less]
        return tiny(LARGE_SUMS, *parts, dtype=f4, extreme=True, relative=2e-5)

    def some(aspect, *shape, seed, **more):
        return drawn(aspect, shape, shape[:-1], shape, shape[:-1], seed=seed, scale=1.5, **more)

    def with_empty(*shape, seed, a=(), b=()):
        out_a, lse_a, out_b, lse_b = some(ONE_EMPTY, *shape, seed=seed).args
        out_a[..., a, :], lse_a[..., a], out_b[..., b, :], lse_b[..., b] = 0, -inf, 0, -inf
        aspect = BOTH_EMPTY if set(a) & set(b) else ONE_EMPTY
        return Case(aspect, (out_a, lse_a, out_b, lse_b), True)

    return [
        tiny(PLAIN, [[2]], [0], [[6]], [0]),
        tiny(PLAIN, [[2]], [1], [[6]], [2]),
        tiny(PLAIN, [[8, 0], [4, 2], [0, 4]], [3, 1, 0], [[0, 4], [4, 6], [2, 2]], [1, 2, 0]),
        some(PLAIN, 5, 3, seed=1),
        some(PLAIN, 7, 11, seed=2, order="F"),
        some(PLAIN, 37, 13, seed=10),
        tiny(SQUARE, [[8, 0], [4, 2]], [3, 1], [[0, 4], [4, 6]], [1, 2]),
        some(SQUARE, 5, 5, seed=3),
        tiny(LEADING, [[[8], [4]]], [[3, 1]], [[[0], [6]]], [[1, 2]]),
        some(LEADING, 2, 5, 3, seed=4),
        some(LEADING, 2, 3, 5, 7, seed=5, order="F"),
        tiny(ONE_EMPTY, [[0, 0]], [-inf], [[6, 4]], [1]),
        tiny(ONE_EMPTY, [[6, 4]], [1], [[0, 0]], [-inf]),
        with_empty(5, 3, seed=6, a=(1, 2), b=(4,)),
        tiny(BOTH_EMPTY, [[0, 0]], [-inf], [[0, 0]], [-inf]),
        with_empty(5, 3, seed=7, a=(1, 2), b=(2, 4)),
        *(tiny(ONE_EMPTY, [[0]], [-inf], [[6]], [low]) for low in (-10300, -2e9)),
        *(tiny(HUGE, [[2]], [a], [[6]], [b]) for a, b in HUGE_PAIRS),
        tiny(HUGE, [[2], [3]], [10000, -10000], [[6], [5]], [9999, -9999]),
        tiny(FLOAT32, [[2]], [1], [[6]], [2], dtype=f4),
        some(FLOAT32, 5, 3, seed=8, dtype=f4),
        tiny(FLOAT32, [[2]], [100], [[6]], [99], dtype=f4, extreme=True),
        large(10000, 0),
        large(10000, 1),
        large(-10000, 0.5),
        tiny(FLOAT16, [[2]], [1], [[6]], [2], dtype=f2),
        some(FLOAT16, 3, 5, seed=9, dtype=f2),
        tiny(FLOAT16, [[2]], [20], [[6]], [19], dtype=f2, extreme=True),
    ]


AXES = dict(out_a="n_q d_v", lse_a="n_q", out_b="n_q d_v", lse_b="n_q")
OUTPUTS = ("out", "lse")
EXERCISE = written(merge_partials, place=3, axes=AXES, cases=merge_cases, outputs=OUTPUTS)
