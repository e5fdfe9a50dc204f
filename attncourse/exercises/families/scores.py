"""Queries against keys: the steps of scaled scores, and what goes wrong in them."""

import numpy as np

from ..model import FLOAT32, LEADING, PLAIN, SQUARE, Case, normal
from .inputs import inputs


def swap(array):
    return np.swapaxes(array, -1, -2)


def softmax_of(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def only_the_past(scores):
    return np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)


def score_cases():
    """Queries and keys for every aspect; attention adds the values."""
    f4 = np.float32
    return [
        Case(
            PLAIN,
            (
                np.array([[2.0, 0.0, 0.0, 4.0]]),
                np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 3.0, 1.0, 1.0]]),
            ),
        ),
        Case("one query", (normal(1, 5, seed=5), normal(3, 5, seed=6))),
        Case(SQUARE, (np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [2.0, 5.0]]))),
        Case(SQUARE, (normal(5, 3, seed=7), normal(5, 3, seed=8))),
        Case(
            LEADING,
            (np.array([[[1.0, 2.0]], [[3.0, 1.0]]]), np.array([[[1.0, 1.0]], [[2.0, 0.0]]])),
        ),
        Case(FLOAT32, (np.array([[1, 2]], f4), np.array([[3, 4]], f4))),
        Case(FLOAT32, (normal(3, 3, seed=11, dtype=f4), normal(3, 3, seed=12, dtype=f4))),
        *inputs(dict(query="n_q d_k", key="n_k d_k")),
    ]


# ---------------------------------------------------------------- what scores.md uses

HALVES = (lambda n: slice(n // 2), lambda n: slice((n + 1) // 2), lambda n: slice(n // 2, None))


def cosine(q, k_t):
    return (
        q
        @ k_t
        / (np.linalg.norm(q, axis=-1, keepdims=True) * np.linalg.norm(k_t, axis=-2, keepdims=True))
    )


def each_feature(q, k_t, join, reduce):
    """Query and key joined feature by feature, and reduced over the features."""
    return reduce(join(q[..., :, None, :], swap(k_t)[..., None, :, :]), axis=-1)


def half(q, k_t, part):
    part = part(q.shape[-1])
    return q[..., part] @ k_t[..., part, :]


def over_the_batch(scores, reduce):
    return reduce(scores, axis=tuple(range(scores.ndim - 2))) if scores.ndim > 2 else scores
