"""Answers to merge_stats, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("merge_stats")


@answers.right()
def merged_by_two_factors(max_a, sum_a, max_b, sum_b):
    row_max = np.maximum(max_a, max_b)
    safe = np.where(np.isneginf(row_max), 0, row_max)
    return row_max, sum_a * np.exp(max_a - safe) + sum_b * np.exp(max_b - safe)


@answers.right()
def merged_by_the_larger(max_a, sum_a, max_b, sum_b):
    row_max = np.where(max_a > max_b, max_a, max_b)
    with np.errstate(invalid="ignore"):
        left = np.where(sum_a == 0, 0, sum_a * np.exp(max_a - row_max))
        right = np.where(sum_b == 0, 0, sum_b * np.exp(max_b - row_max))
    return row_max, left + right


@answers.right()
def merged_one_by_one(max_a, sum_a, max_b, sum_b):
    found = np.empty((2, *np.shape(max_a)))
    for at in np.ndindex(*np.shape(max_a)):
        top = max(float(max_a[at]), float(max_b[at]))
        total = sum(
            float(s[at]) * np.exp(float(m[at]) - top)
            for m, s in ((max_a, sum_a), (max_b, sum_b))
            if s[at] > 0
        )
        found[(0, *at)], found[(1, *at)] = top, total
    return found[0].astype(max_a.dtype), found[1].astype(max_a.dtype)


def merged(max_a, sum_a, max_b, sum_b, factor=np.exp, join=np.add, highest=np.maximum):
    row_max = highest(max_a, max_b)
    safe = np.where(np.isneginf(row_max), 0, row_max)
    return row_max, join(sum_a * factor(max_a - safe), sum_b * factor(max_b - safe))


answers.wrong(
    "two empty sets NaN",
    function=lambda max_a, sum_a, max_b, sum_b: (
        np.maximum(max_a, max_b),
        sum_a * np.exp(max_a - np.maximum(max_a, max_b))
        + sum_b * np.exp(max_b - np.maximum(max_a, max_b)),
    ),
)
answers.wrong(
    "sums not rescaled",
    function=lambda max_a, sum_a, max_b, sum_b: (np.maximum(max_a, max_b), sum_a + sum_b),
)
answers.wrong("powers of 2", function=lambda *parts: merged(*parts, factor=np.exp2))
answers.wrong(
    "mean of the sums", function=lambda *parts: merged(*parts, join=lambda a, b: (a + b) / 2)
)
answers.wrong("larger sum instead of both", function=lambda *parts: merged(*parts, join=np.maximum))
answers.wrong(
    "first sum not rescaled",
    function=lambda max_a, sum_a, max_b, sum_b: (
        np.maximum(max_a, max_b),
        sum_a
        + sum_b
        * np.exp(
            max_b - np.where(np.isneginf(np.maximum(max_a, max_b)), 0, np.maximum(max_a, max_b))
        ),
    ),
)
answers.wrong(
    "factors swapped",
    function=lambda max_a, sum_a, max_b, sum_b: merged(max_a, sum_b, max_b, sum_a),
)
answers.wrong("parts in another order", function=lambda *parts: merged(*parts)[::-1])


@answers.wrong("two empty sets get maximum 0")
def merged_to_zero(max_a, sum_a, max_b, sum_b):
    row_max = np.maximum(max_a, max_b)
    row_max = np.where(row_max == -np.inf, 0, row_max)
    return row_max, sum_a * np.exp(max_a - row_max) + sum_b * np.exp(max_b - row_max)


@answers.wrong("lower maximum's factor always on one sum")
def merged_as_if_the_first_were_larger(max_a, sum_a, max_b, sum_b):
    row_max = np.maximum(max_a, max_b)
    return row_max, sum_a + sum_b * np.exp(np.minimum(max_a, max_b) - row_max)


@answers.wrong("one factor for both sums")
def merged_then_rescaled(max_a, sum_a, max_b, sum_b):
    row_max = np.maximum(max_a, max_b)
    safe = np.where(row_max == -np.inf, 0, row_max)
    return row_max, (sum_a + sum_b) * np.exp(np.minimum(max_a, max_b) - safe)


answers.wrong(
    "sums forgotten",
    function=lambda max_a, sum_a, max_b, sum_b: merged(
        max_a, np.ones_like(sum_a), max_b, np.ones_like(sum_b)
    ),
)


@answers.wrong("quotient of two exponentials")
def merged_by_quotients(max_a, sum_a, max_b, sum_b):
    row_max = np.maximum(max_a, max_b)
    below = np.exp(np.where(row_max == -np.inf, 0, row_max))
    return row_max, sum_a * np.exp(max_a) / below + sum_b * np.exp(max_b) / below


@answers.wrong("one empty set empties both")
def merge_unless_empty(max_a, sum_a, max_b, sum_b):
    highest = np.maximum(max_a, max_b)
    total = sum_a * np.exp(max_a - highest) + sum_b * np.exp(max_b - highest)
    empty = np.isneginf(max_a) | np.isneginf(max_b)
    return highest, np.where(empty, 0, total).astype(highest.dtype)


@answers.wrong("first sum not rescaled", "parts in another order")
def merge_sum_first(max_a, sum_a, max_b, sum_b):
    highest = np.maximum(max_a, max_b)
    reference = np.where(np.isneginf(highest), 0, highest).astype(highest.dtype)
    return sum_a + sum_b * np.exp(max_b - reference), highest


@answers.wrong("first sum not rescaled", "two empty sets NaN")
def merge_into_the_first(max_a, sum_a, max_b, sum_b):
    highest = np.maximum(max_a, max_b)
    return highest, sum_a + sum_b * np.exp(max_b - highest)


answers.wrong(
    "the set of the larger maximum alone",
    function=lambda max_a, sum_a, max_b, sum_b: (
        np.maximum(max_a, max_b),
        np.where(max_a >= max_b, sum_a, sum_b),
    ),
)


@answers.wrong("mean of the maxima", "two empty sets NaN")
def merge_in_the_middle(max_a, sum_a, max_b, sum_b):
    middle = (max_a + max_b) / 2
    return middle, sum_a * np.exp(max_a - middle) + sum_b * np.exp(max_b - middle)


@answers.wrong("one number as the maximum")
def max_of_both_arrays(max_a, sum_a, max_b, sum_b):
    row_max = np.max([max_a, max_b])
    reference = 0 if row_max == -np.inf else row_max
    return row_max, sum_a * np.exp(max_a - reference) + sum_b * np.exp(max_b - reference)


@answers.wrong("relative to one set's maximum")
def merge_towards_the_first_maximum(max_a, sum_a, max_b, sum_b):
    row_max = np.maximum(max_a, max_b)
    safe = np.where(np.isneginf(max_a), np.where(np.isneginf(max_b), 0, max_b), max_a).astype(
        row_max.dtype
    )
    return row_max, sum_a * np.exp(max_a - safe) + sum_b * np.exp(max_b - safe)


@answers.wrong("two empty sets get the lowest number")
def merge_by_nan_to_num(max_a, sum_a, max_b, sum_b):
    a, b = np.nan_to_num(max_a), np.nan_to_num(max_b)
    row_max = np.maximum(a, b)
    return row_max, sum_a * np.exp(a - row_max) + sum_b * np.exp(b - row_max)


@answers.wrong("factor upside down")
def merge_by_guarded_factors_upside_down(max_a, sum_a, max_b, sum_b):
    row_max = np.maximum(max_a, max_b)
    factor_a = np.where(np.isneginf(max_a), 0, np.exp(row_max - max_a))
    factor_b = np.where(np.isneginf(max_b), 0, np.exp(row_max - max_b))
    return row_max, (sum_a * factor_a + sum_b * factor_b).astype(sum_a.dtype)


@answers.wrong("through the log-sum-exp")
def merged_through_logaddexp(max_a, sum_a, max_b, sum_b):
    m = np.maximum(max_a, max_b)
    with np.errstate(all="ignore"):
        lse = np.logaddexp(max_a + np.log(sum_a), max_b + np.log(sum_b))
        total = np.exp(lse - np.where(np.isneginf(m), 0, m))
    return m, np.where(np.isneginf(m), 0, total).astype(m.dtype)


@answers.wrong("quotient of two exponentials")
def merged_by_a_quotient(max_a, sum_a, max_b, sum_b):
    m = np.maximum(max_a, max_b)
    with np.errstate(all="ignore"):
        total = sum_a * np.exp(max_a) + sum_b * np.exp(max_b)
        return m, total / np.exp(m)


@answers.wrong("log-sum-exp instead of the maximum")
def merge_by_logaddexp(max_a, sum_a, max_b, sum_b):
    both = np.logaddexp(max_a, max_b)
    low = np.where(np.isneginf(both), 0, both).astype(max_a.dtype)
    return both, sum_a * np.exp(max_a - low) + sum_b * np.exp(max_b - low)


@answers.wrong("one empty set decides for all rows")
def one_test_for_the_array(max_a, sum_a, max_b, sum_b):
    if np.isneginf(max_a).any():
        return max_b, sum_b
    if np.isneginf(max_b).any():
        return max_a, sum_a
    highest = np.maximum(max_a, max_b)
    return highest, sum_a * np.exp(max_a - highest) + sum_b * np.exp(max_b - highest)


def merged_above(lowest, returned=False):
    """The maximum is kept above a number, in the exponents alone or in the answer too."""

    def merge(max_a, sum_a, max_b, sum_b):
        row_max = np.maximum(max_a, max_b)
        m = np.maximum(row_max, max_a.dtype.type(max(lowest, np.finfo(max_a.dtype).min)))
        total = sum_a * np.exp(max_a - m) + sum_b * np.exp(max_b - m)
        return (m if returned else row_max), total

    return merge


for number in (0.0, -1e4, -1e9, -1e30):
    answers.wrong("maximum never below a fixed number", function=merged_above(number))
answers.wrong("maximum never below a fixed number", function=merged_above(-1e4, returned=True))
answers.wrong("maximum never below a fixed number", function=merged_above(-1e9, returned=True))
answers.right(merged_above(np.finfo(float).min))
