"""The steps of a softmax, and what goes wrong in them."""

from dataclasses import replace

import numpy as np

from ..model import (
    FLOAT16,
    FLOAT32,
    HUGE,
    LEADING,
    NEG_INF,
    PLAIN,
    SMALL,
    SQUARE,
    Case,
    EachByItself,
    normal,
)


def largest(scores, axis):
    return (scores == scores.max(axis=axis, keepdims=True)) / 1.0


def first_hot(scores, axis):
    if axis is None:
        return first_hot(scores.ravel(), -1).reshape(scores.shape)
    hot = np.zeros_like(scores)
    np.put_along_axis(hot, scores.argmax(axis=axis, keepdims=True), 1.0, axis)
    return hot


EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, float(np.finfo(np.float32).eps))


def lowest_scores(scores, axis):
    """The lowest finite score, 0 if there is none."""
    lowest = np.where(np.isneginf(scores), np.inf, scores).min(axis=axis, keepdims=True)
    return np.where(np.isinf(lowest), 0.0, lowest)


def extreme_rows(case):
    """Rows that tell no shift, minimum, mean, absolute maximum and clipping apart."""
    return [
        case(HUGE, [10000, 9999], extreme=True),
        case(HUGE, [-10000, -9999], extreme=True),
        case(HUGE, [10000, 0, -10000], extreme=True),
        case(HUGE, [1000, 1000, 999, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 0], extreme=True),
        case(HUGE, [30, 28, -40], extreme=True),
        case(HUGE, [400, 399, 0], extreme=True),
        case(HUGE, [0, 10000, 9999], extreme=True),
        case(HUGE, [9999, 10000, 0], extreme=True),
        case(HUGE, [-800, -10, -9], extreme=True),
        case(HUGE, [1500, 1499, 0], extreme=True),
    ]


def low_rows(case):
    """Scores of -inf beside scores as low as what learners write in their place."""
    found = [
        case(NEG_INF, [[low, low - 1, -np.inf], [0, 1, 2]], extreme=True)
        for low in (-5000.0, -10000.0, -3e9)
    ]
    # there a log-sum-exp has six digits after the point
    return [*found[:-1], replace(found[-1], relative=1e-5)]


# far below the maximum, yet normal numbers in float32 as well: a limit on the scores shows here
SMALL_WEIGHTS = "small weights"
ONE_IN_TWENTY = EachByItself(0.05)


LOW_FILLS = (-5.0, -10.0, -100.0, -999.0, -1e3, -2e3, -9999.0, -1e4, -6e4, -65504.0, -1e5)


AXIS_GIVEN = "an axis given"


def small_weights(*behind, dtype=np.float64, times=1.0):
    """A case of weights of 1e-14 and 2e-35, which have to be right by themselves."""
    scores = np.array([[0.0, -32.0, -80.0], [1.0, 0.0, 2.0]], dtype) * dtype(times)
    return Case(SMALL_WEIGHTS, (scores, *behind), relative=ONE_IN_TWENTY)


def along_cases(with_axis=True):
    """Scores for a function along an axis: every shape, huge rows, -inf beside other scores, narrow
    dtypes.
    """
    inf, f4, f2 = np.inf, np.float32, np.float16

    def case(aspect, scores, *axis, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), *axis), extreme)

    def rowwise(aspect, row, extreme):
        return case(aspect, [row, [0.0] * (len(row) - 1) + [1.0]], extreme=extreme)

    def drawn(aspect, *shape, axis=(), seed=1):
        return Case(aspect, (normal(*shape, seed=seed), *axis))

    three = (3, 5, 2, -3), (3, 5, 2, 2)
    given = [
        case(AXIS_GIVEN, [[0, 1], [2, 5]], 0),
        case(HUGE, [[10000], [9999]], 0, extreme=True),
        *(
            drawn(AXIS_GIVEN, *shape, axis=(axis,))
            for *shape, axis in ((5, 3, 0), (5, 3, 1), (2, 5, 3, 1), (2, 5, 3, -2), *three)
        ),
    ]
    return [
        case(PLAIN, [[0, 1, 3], [2, 5, 4]]),
        case(PLAIN, [[1, -2, 3]]),
        case(PLAIN, [[-3, -1]]),
        drawn(PLAIN, 5, 7),
        Case(PLAIN, (normal(7, 3, seed=2) + 1,)),
        Case(PLAIN, (np.asarray(normal(7, 11, seed=3), order="F"),)),
        case(SQUARE, [[0, 1], [2, 5]]),
        drawn(SQUARE, 5, 5),
        case("one axis", [0, 1, 3]),
        drawn("one axis", 7),
        case(LEADING, [[[0, 1], [2, 5]]]),
        drawn(LEADING, 2, 5, 3),
        drawn(LEADING, 2, 3, 5, 7),
        drawn(LEADING, 5, 1, 3),
        *(given if with_axis else ()),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3,)),
        case(HUGE, [[10000, 9999], [0, 1]], extreme=True),
        case(HUGE, [[-10000, -9999], [0, 1]], extreme=True),
        case(HUGE, [[400, 399], [0, 1]], extreme=True),
        *extreme_rows(rowwise),
        case(NEG_INF, [[0, -inf], [1, 2]], extreme=True),
        case(NEG_INF, [[1, -inf, 3], [-inf, -inf, 2]], extreme=True),
        *low_rows(case),
        case(FLOAT32, [[0, 1, 3], [2, 5, 4]], dtype=f4),
        Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4),)),
        case(FLOAT32, [[80, 100, 99], [101, 1, 100]], dtype=f4, extreme=True),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], dtype=f2),
        case(FLOAT16, [[20, 21, 19], [0, 1, 2]], dtype=f2, extreme=True),
    ]


# ---------------------------------------------------------------- what softmax.md uses

LIMITS = (10, 20, 30, 50, 80, 88, 100, 500, 700)
CLIPS = (
    lambda s, c, along: np.clip(s, -c, c),
    lambda s, c, along: np.minimum(s, c),
    lambda s, c, along: np.maximum(s, -c),
    lambda s, c, along: np.maximum(lowered(s, along), -c),
)


def lowered(s, along):
    return s - s.max(axis=along, keepdims=True)


def in_rows(scores, axis):
    """The softmax of rows that a reshape made, whatever axis they lay along."""
    rows = lowered(scores.reshape(-1, scores.shape[axis]), -1)
    return (np.exp(rows) / np.exp(rows).sum(axis=-1, keepdims=True)).reshape(scores.shape)


def as_it_is(s, along):
    return s


def one_of(array, i, along):
    return np.take(array, [i], axis=-1 if along is None else along)
