import numpy as np

from ...model import FLOAT16, FLOAT32, HUGE, PLAIN, Case, normal
from ...pages import written

EMPTY, BOTH_EMPTY = "an empty set", "two empty sets"
DIGITS = "large maxima in float32"


def merge_stats(max_a, sum_a, max_b, sum_b):
    highest = np.maximum(max_a, max_b)  #: the maximum (one per row)
    reference = finite(highest)
    factor_a = np.exp(max_a - reference)  #: the first sum's factor (one per row)
    factor_b = np.exp(max_b - reference)  #: the second sum's factor (one per row)
    first, second = factor_a, factor_b
    left, right = sum_a * first, sum_b * second
    total = left + right
    row_max, row_sum = highest, total
    return row_max, row_sum


def finite(maximum):
    return np.where(np.isneginf(maximum), 0.0, maximum)


def lse_and_one(highest, total):
    """The sum put into the first part."""
    return highest + np.log(np.where(total == 0, 1.0, total)), np.where(total == 0, 0.0, 1.0)


def lower_factor(max_a, sum_a, max_b, sum_b, of, first):
    """The factor exp(smaller - larger maximum) on the first sum, or on the second."""
    highest = np.maximum(max_a, max_b)
    factor = np.exp(np.minimum(max_a, max_b) - of(highest))
    return highest, sum_a * factor + sum_b if first else sum_a + sum_b * factor


def merged(max_a, sum_a, max_b, sum_b):
    highest = np.maximum(max_a, max_b)
    reference = finite(highest)
    return highest, sum_a * np.exp(max_a - reference) + sum_b * np.exp(max_b - reference)


def emptied(max_a, sum_a, max_b, sum_b, lost):
    """Both sets, but no score where one of them is empty; with the maximum lost, too."""
    empty = np.isneginf(max_a) | np.isneginf(max_b)
    highest, row_sum = merged(max_a, sum_a, max_b, sum_b)
    return np.where(empty & lost, -np.inf, highest), np.where(empty, 0.0, row_sum)


def all_or_none(max_a, sum_a, max_b, sum_b):
    """One test for the whole array: an empty set in any row replaces the set in all rows."""
    for empty, kept in ((max_a, (max_b, sum_b)), (max_b, (max_a, sum_a))):
        if np.isneginf(empty).any():
            return kept
    return merged(max_a, sum_a, max_b, sum_b)


def through_log_sum_exp(max_a, sum_a, max_b, sum_b, dtype):
    """The sum made again of the log-sum-exp, which has the digits of the dtype."""
    highest = np.maximum(max_a, max_b)
    maxima = [of.astype(dtype) for of in (max_a, max_b)]
    sums = [np.log(of.astype(dtype)) for of in (sum_a, sum_b)]
    lse = np.logaddexp(maxima[0] + sums[0], maxima[1] + sums[1])
    shifted = lse - finite(highest).astype(dtype)
    return highest, np.where(np.isneginf(highest), 0.0, np.exp(shifted))


def _cases():
    inf = np.inf

    def case(aspect, max_a, sum_a, max_b, sum_b, dtype=float, extreme=False):
        return Case(
            aspect, tuple(np.array(x, dtype) for x in (max_a, sum_a, max_b, sum_b)), extreme
        )

    def drawn(aspect, *shape, seed, dtype=np.float64):
        rng = np.random.default_rng([seed, *shape])
        sums = [(1 + 3 * rng.random(shape)).round(2).astype(dtype) for _ in range(2)]
        maxima = [normal(*shape, seed=seed + i, dtype=dtype) for i in range(2)]
        return Case(aspect, (maxima[0], sums[0], maxima[1], sums[1]))

    return [
        case(PLAIN, [1, 2], [1.5, 1], [2, 0], [1, 2]),
        case(PLAIN, [[0, 3], [1, 1]], [[2, 1], [1, 3]], [[1, 1], [1, 4]], [[1, 2], [2, 1]]),
        drawn(PLAIN, 5, 7, seed=1),
        drawn(PLAIN, 13, seed=3),
        case("no axes", 1, 1.5, 2, 1),
        drawn("several axes", 2, 3, 5, seed=5),
        case("equal maxima", [1, 0], [1, 2], [1, 0], [3, 1]),
        case("negative maxima", [-3, -5], [1, 2], [-4, -1], [2, 1]),
        case(EMPTY, [1, -inf], [2, 0], [-inf, 3], [0, 1.5]),
        case(EMPTY, [-inf, -2], [0, 1], [-7, -inf], [2, 0]),
        case(EMPTY, [-10000, -inf], [1.5, 0], [-10001, -10000], [1, 2], extreme=True),
        case(BOTH_EMPTY, [-inf, 1], [0, 1], [-inf, 2], [0, 1]),
        case(BOTH_EMPTY, -inf, 0, -inf, 0),
        case(HUGE, [10000, -10000], [1, 2], [9999, -9999], [2, 1], extreme=True),
        case(HUGE, [0, 10000], [1, 1], [10000, -10000], [1, 3], extreme=True),
        case(HUGE, [-10000, -9999], [1.5, 1], [-10001, -10000], [1, 2], extreme=True),
        case(FLOAT32, [1, 2], [1.5, 1], [2, 0], [1, 2], np.float32),
        # 9000.693 has three digits of log 2 in float32
        case(DIGITS, [9000, -9000], [1, 1], [9000, -9000], [1, 2], np.float32),
        drawn(FLOAT16, 7, seed=8, dtype=np.float16),
        case(HUGE, [-20000, -20001], [1, 1], [-20000, -20000], [1, 2], extreme=True),
        case(HUGE, [-2e38, -3e38], [1, 1], [-3e38, -2e38], [1, 2], extreme=True),
    ]


EXERCISE = written(
    merge_stats,
    place=2,
    outputs=("row_max", "row_sum"),
    cases=_cases,
    answer_axes="n",
    axes=dict(max_a="n", sum_a="n", max_b="n", sum_b="n"),
)
