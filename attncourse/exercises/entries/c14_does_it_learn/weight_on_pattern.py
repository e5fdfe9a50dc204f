import numpy as np

from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case
from ...pages import written


def weight_on_pattern(weights, pattern):
    kept = weights * pattern  #: the weights of right keys
    on = kept.sum(axis=-1)  #: each query's weight on its right keys (one per row)
    counted = pattern.any(axis=-1)
    found = on * counted
    mean = found.sum(axis=-1) / counted.sum(axis=-1)
    return mean


def largest_is_right(weights, pattern):
    largest = weights.argmax(axis=-1)[..., None]
    return np.take_along_axis(pattern, largest, axis=-1)[..., 0]


def _drawn(shape, seed, dtype=np.float64):
    rng = np.random.default_rng([seed, *shape])
    numbers = rng.random(shape) + 0.05
    weights = (numbers / numbers.sum(axis=-1, keepdims=True)).astype(dtype)
    pattern = rng.random(shape) < 0.3
    pattern[..., 0, :] = False
    pattern[..., 1, :2] = True
    return weights, pattern


def _cases():
    def case(aspect, weights, pattern, dtype=float):
        return Case(aspect, (np.array(weights, dtype), np.array(pattern, bool)))

    half = [[1.0, 0.0], [0.25, 0.75]]
    return [
        case(PLAIN, half, [[0, 0], [0, 1]]),
        case(PLAIN, half, [[1, 0], [0, 1]]),
        case(PLAIN, [[0.5, 0.5, 0], [0.25, 0.25, 0.5]], [[0, 0, 0], [1, 0, 1]]),
        Case(PLAIN, _drawn((5, 7), 1)),
        Case(PLAIN, _drawn((11, 13), 2)),
        Case(PLAIN, _drawn((7, 5), 3)),
        case("every query has a right key", half, [[0, 1], [1, 0]]),
        case("all keys right", half, [[1, 1], [1, 1]]),
        case("one query", [[0.156, 0.094, 0.698, 0.052]], [[0, 0, 1, 0]]),
        case("no weight on the right keys", half, [[0, 1], [0, 0]]),
        Case(SQUARE, _drawn((3, 3), 4)),
        Case(SQUARE, _drawn((5, 5), 5)),
        Case(LEADING, _drawn((2, 3, 5), 6)),
        Case(LEADING, _drawn((2, 3, 5, 7), 7)),
        Case(LEADING, _drawn((3, 2, 4, 4), 8)),
        case(FLOAT32, half, [[0, 0], [0, 1]], np.float32),
        Case(FLOAT32, _drawn((5, 7), 9, np.float32)),
        Case(LEADING, _drawn((2, 3, 5), 11, np.float32)),
        case(FLOAT16, half, [[0, 0], [0, 1]], np.float16),
        Case(FLOAT16, _drawn((7, 5), 10, np.float16)),
    ]


EXERCISE = written(
    weight_on_pattern,
    place=3,
    axes=dict(weights="n_q n_k", pattern="n_q n_k"),
    answer_axes="",
    cases=_cases,
)
