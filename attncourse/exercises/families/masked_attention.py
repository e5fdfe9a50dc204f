"""Attention under a mask: what masked_attention.md and its exercises use."""

import math

import numpy as np

from .scores import softmax_of, swap  # noqa: F401, for the page
from .softmax import EPSILONS, lowered  # noqa: F401, for the page

# numbers in place of -inf, and (number, in the input's dtype, as a product) added to scores
LARGE = (-1e9, -1e4, -9999.0, -1e3, -100.0, -50.0, -30.0, -1e5, -1e6, -1e8, -1e10, -1e7, -500.0)
LARGE_ADDED = (
    *((-1e9,), (-1e9, False), (-1e9, True, True), (-1e10,), (-1e10, False), (-1e10, True, True)),
    *((-1e4,), (-1e3,), (-1e5,), (-1e6,), (-1e8,)),
)
# np.log(mask + 1e-9)
LOGARITHMS = tuple((math.log(e), False) for e in (1e-9, 1e-6, 1e-8, 1e-10, 1e-12))


def filled(scores, mask, dtype, value):
    """A number for -inf, as the dtype can hold it: -1e9 is -inf in float16."""
    if dtype != "bfloat16":  # which NumPy does not know, and which holds them all
        with np.errstate(over="ignore"):
            value = float(np.array(value).astype(dtype))
    return np.where(mask, scores, value)


def lowered_by(scores, mask, dtype, value, native=True, product=False):
    """A number added to masked scores: in the input's dtype, or float64; or (1 - mask) * value."""
    kind = np.dtype(dtype if native else "float64").type
    with np.errstate(all="ignore"):
        if product:
            bias = (1 - mask).astype(kind) * kind(value)
        else:
            bias = np.where(mask, 0, value).astype(kind)
        return (scores.astype(kind) + bias).astype(np.float64)


def lowest_for_masked(scores, mask, axis, less=0):
    """Masked scores as low as the lowest one, of all or of the row, or lower by a number."""
    return np.where(mask, scores, scores.min(axis=axis, keepdims=True) - less)


def one_key(mask, part):
    """Whether each query may attend to the first key, or to the last one."""
    return mask[..., part]


def of_all_queries(mask):
    """Whether any query may attend to a key."""
    return mask.any(axis=-2, keepdims=True) if mask.ndim > 1 else mask


def one_row_for_all(mask, scores, reduce):
    whole = np.broadcast_to(mask, scores.shape)
    return np.broadcast_to(reduce(whole, axis=-2, keepdims=True), scores.shape)


def renormalised(weights, mask, epsilon):
    kept = np.where(mask, weights, 0.0)
    return kept / (kept.sum(axis=-1, keepdims=True) + epsilon)
