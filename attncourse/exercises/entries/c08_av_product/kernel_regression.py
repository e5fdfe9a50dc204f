import math

import numpy as np

from ...families.inputs import inputs
from ...model import FLOAT16, FLOAT32, PLAIN, SQUARE, Case
from ...pages import written

AXES = dict(query="n_q", key="n_k", value="n_k")
FAR = "a query far from all keys"
EPSILONS = (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30)


def kernel_regression(query, key, value, width):
    distance = query[:, None] - key  #: the distances
    unit = 2 * width**2
    exponents = -(distance**2) / unit
    shifted = exponents - exponents.max(axis=-1, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    weights = powers / powers.sum(axis=-1, keepdims=True)  #: the weights
    output = weights @ value
    return output


def _cases():
    def case(aspect, query, key, value, width, dtype=float):
        return Case(
            aspect, (*(np.array(part, dtype) for part in (query, key, value)), width), aspect == FAR
        )

    return [
        case(PLAIN, [0], [0, 1], [2, 6], 1.0),
        case(PLAIN, [0, 1, 2], [0, 2], [4, 8], 0.5),
        case(PLAIN, [3], [1, 2, 5], [1, 0, 4], 2.0),
        case(SQUARE, [0, 1], [0, 2], [4, 8], 2.0),
        case("one key", [0, 1], [2], [5], 0.5),
        case("keys in no order", [0, 1], [2, 0, 1], [1, 5, 3], 0.5),
        case("a whole number as the width", [0, 3], [0, 2], [4, 8], 2),
        case(FAR, [100], [0, 1], [2, 6], 1.0),
        case(FAR, [0, 1000], [0, 2, 4], [2, 6, 1], 0.5),
        case(FAR, [-400, 0, 400], [-1, 1, 2], [2, 6, 4], 1.0),
        case(FAR, [0, 5], [0, 1], [2, 6], 0.01),
        case(FAR, [50], [0, 100], [2, 6], 1.0),
        case(FAR, [100], [0, 0.001], [2, 6], 1.0),  # both keys count, in unequal parts
        case(FAR, [12], [0, -1], [2, 6], 1.0),  # the exponentials are 5e-32 and less, but not 0
        case(FAR, [30], [0, 1], [2, 6], 1.0, np.float32),
        case(FAR, [200], [0, 4], [2, 6], 1.0, np.float16),
        case(FLOAT32, [0, 1], [0, 2], [4, 8], 0.5, np.float32),
        case(FLOAT16, [0, 1], [0, 2], [4, 8], 0.5, np.float16),
        *inputs(AXES, numbers=[(0.5, 1.5, 0.75)], leading=False),
    ]


def nearest_where_all_vanish(query, key, value, width):
    distance = abs(query[:, None] - key)
    powers = np.exp(-(distance**2) / (2 * width**2))
    total = powers.sum(axis=-1)
    return np.where(total == 0, value[distance.argmin(axis=-1)], powers @ value / total)


def nearest_mean_where_all_vanish(query, key, value, width):
    squares = (query[:, None] - key) ** 2
    powers = np.exp(-squares / (2 * width**2))
    nearest = np.where(squares == squares.min(axis=1, keepdims=True), 1.0, 0.0)
    powers = np.where(powers.sum(axis=1, keepdims=True) == 0, nearest, powers)
    return powers @ value / powers.sum(axis=1)


def density(query, key, width):
    return np.exp(-((query[:, None] - key) ** 2) / (2 * width**2)) / (
        width * math.sqrt(2 * math.pi)
    )


def mean_within(exponents):
    near = np.where(exponents >= -0.5, 1.0, 0.0)  # a distance of one width at most
    return near / near.sum(axis=-1, keepdims=True)


EXERCISE = written(kernel_regression, place=4, axes=AXES, answer_axes="n_q", cases=_cases)
