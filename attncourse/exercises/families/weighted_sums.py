"""Weights times values: the steps, and what goes wrong in them."""

import numpy as np

from ..model import normal
from .scores import (
    softmax_of,
    swap,  # noqa: F401
)
from .softmax import first_hot  # noqa: F401


def leading(array):
    return tuple(range(array.ndim - 2))


def random_weights(*shape, seed=0, dtype=np.float64):
    return softmax_of(normal(*shape, seed=seed, scale=2.0)).astype(dtype)


def terms(weights, value):
    """What each key adds to each output: (..., n_q, n_k, d_v)."""
    return weights[..., None] * value[..., None, :, :]


def spread(weights, reduce, axis):
    """One row, or one table, of weights in place of all."""
    return np.broadcast_to(reduce(weights, axis=axis, keepdims=True), weights.shape)


def row_sums(weights):
    """The sums of the rows, with 1 for a row of zeros."""
    return one_for_0(weights.sum(axis=-1, keepdims=True))


def one_for_0(total):
    return np.where(total == 0, 1.0, total)


def as_many_keys_as_queries(weights, value):
    n_q, n_k = weights.shape[-2:]
    if n_q > n_k:
        raise IndexError(f"index {n_k} is out of bounds for axis 0 with size {n_k}")
    return weights[..., :n_q] @ value[..., :n_q, :]


# ---------------------------------------------------------------- what weighted_sums.md uses


def first_axis(array):
    return 0


def some_queries(output, start, stop):
    """The outputs of these queries, and 0 for the others."""
    found = np.zeros_like(output)
    found[..., start:stop, :] = output[..., start:stop, :]
    return found


def some_largest(w, n):
    return w >= np.sort(w, axis=-1)[..., -min(n, w.shape[-1]), None]


def kept(w, where):
    return np.where(where, w, 0.0)


def kept_as_shares(w, where):
    return kept(w, where) / row_sums(kept(w, where))
