"""Scores, softmax and weighted sum in one function: the steps, and what goes wrong in them."""

import numpy as np

from ..model import FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, normal
from .inputs import LONG_KEYS, LONG_QUERY, inputs
from .scores import (
    softmax_of,  # noqa: F401
    swap,
)


def distances(sign, root):
    """Scores that tell how far query and key are apart."""

    def product(query, key_t):
        squares = ((query[..., :, None, :] - swap(key_t)[..., None, :, :]) ** 2).sum(axis=-1)
        return sign * (np.sqrt(squares) if root else squares)

    return product


def causal_at_the_end(scores):
    """Only keys up to the query's position, the last query at the last key."""
    n_q, n_k = scores.shape[-2:]
    return np.where(np.tri(n_q, n_k, n_k - n_q, dtype=bool), scores, -np.inf)


ATTENTION_AXES = dict(query="n_q d_k", key="n_k d_k", value="n_k d_v")


def attention_cases():
    def tiny(aspect, query, key, value, dtype=float):
        return Case(
            aspect, tuple(np.array(array, dtype) for array in (query, key, value)), aspect == HUGE
        )

    def some(aspect, *shapes, seed):
        return Case(aspect, tuple(normal(*shape, seed=seed + i) for i, shape in enumerate(shapes)))

    three = [[1], [3], [2]]
    return [
        tiny(PLAIN, [[2, 0, 0, 4]], [[1, 2, 3, 4], [0, 3, 1, 1]], [[4, 0], [8, 2]]),
        some("one query", (1, 5), (3, 5), (3, 13), seed=5),
        some(SQUARE, (5, 3), (5, 3), (5, 3), seed=7),
        tiny(SQUARE, [[1, 2], [3, 4]], [[0, 1], [2, 5]], [[4, 1], [0, 8]]),
        tiny(LEADING, [[[1, 2]], [[3, 1]]], [[[1, 1]], [[2, 0]]], [[[4, 2]], [[8, 0]]]),
        some(LEADING, (3, 3, 3), (3, 3, 3), (3, 3, 3), seed=44),
        tiny("one key", [[1], [2]], [[3]], [[4, 8]]),
        tiny(FLOAT32, [[1, 2]], [[3, 4]], [[2, 4]], np.float32),
        tiny(HUGE, [[100], [0]], [[100], [99], [0]], three),
        tiny(HUGE, [[-100], [0]], [[100], [101], [102]], three),
        tiny(HUGE, [[100], [0]], [[-100], [-99], [1]], three),
        tiny(HUGE, [[100, 0], [1, 0]], [[0, 1], [0, 2], [0, 3]], three),
        tiny(HUGE, [[4], [1]], [[100], [99], [0]], three),
        tiny(HUGE, [[200], [1]], [[100], [-100], [100]], three),
        tiny(HUGE, [LONG_QUERY, [1] * 4], LONG_KEYS, three),
        tiny(HUGE, [[1000]], [[1]] * 10 + [[0]], [[n] for n in range(11)]),
        *inputs(ATTENTION_AXES),
    ]


# ---------------------------------------------------------------- what attention.md uses


def only_with_axes(n_axes, text, array):
    """The array, and an error of that text if it has another number of axes."""
    if array.ndim != n_axes:
        raise ValueError(text)
    return array
