"""Features split into heads and merged again: what heads.md and the exercises on heads use."""

import numpy as np

from .scores import swap


def swap_heads(array):
    """(..., n, h, d) to (..., h, n, d), and back."""
    return np.swapaxes(array, -3, -2)


def features_divided(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)


def joined(parts):
    return parts.reshape(*parts.shape[:-2], -1)


def one_leading_axis(array, few):
    if array.ndim != few + 1:
        raise ValueError("not enough values to unpack")
    return array


def split_by_reshape(x, n_heads):
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], x.shape[-1] // n_heads)


def merged_by_reshape(heads):
    *batch, h, n, d = heads.shape
    return heads.reshape(*batch, n, h * d)


def dealt_out(x, n_heads):
    """Feature i to head i % n_heads, as (..., n, n_heads, d_head)."""
    return swap(x.reshape(*x.shape[:-1], x.shape[-1] // n_heads, n_heads))


def spread(array, reduce):
    """One head's array, or a mean or a sum, in the place of all heads'."""
    return np.broadcast_to(reduce(array, axis=-3, keepdims=True), array.shape)


def first(array, axis, keepdims):
    return np.take(array, [0], axis)


def last(array, axis, keepdims):
    return np.take(array, [-1], axis)
