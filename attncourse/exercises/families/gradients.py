"""Backward, one step of attention at a time: what gradients.md and its exercises use."""

import numpy as np

from ..model import normal
from .scores import softmax_of, swap  # noqa: F401, for the page
from .weighted_sums import leading

# the lengths of other axes than d_k, and the axes of a row sum beside the last one
LENGTHS = (
    lambda q, k: k.shape[-2],
    lambda q, k: q.shape[-2],
    lambda q, k: q.shape[0],
    lambda q, k: q.shape[1],
)
OTHER_AXES = (
    lambda n: -2,
    lambda n: 0,
    lambda n: 1,
    lambda n: max(-2, -n),
    lambda n: min(1, n - 1),
    lambda n: tuple(range(1, n)) or 0,
)


def book_weights(*shape, seed=0, dtype=np.float64):
    """Weights as a softmax gives them."""
    return softmax_of(normal(*shape, seed=seed)).astype(dtype)


def through_softmax(weights, grad):
    return weights * (grad - (weights * grad).sum(axis=-1, keepdims=True))


def changed(change, gradients, *places):
    """The gradients, those at the places changed; without places all of them."""
    return tuple(
        change(gradient) if i in places or not places else gradient
        for i, gradient in enumerate(gradients)
    )


def over_the_batch(gradient, reduce):
    return reduce(gradient, axis=leading(gradient)) if gradient.ndim > 2 else gradient


def added_up(gradient):
    return over_the_batch(gradient, np.sum)


def shared(gradient):
    """Each sequence of the batch gets the sum over all of them."""
    return np.broadcast_to(added_up(gradient), gradient.shape)


def shared_along_the_first(gradient):
    """The sum over the first axis, if that is a leading one."""
    return gradient.sum(axis=0, keepdims=True) + 0 * gradient if gradient.ndim > 2 else gradient


def over_rows(gradient):
    return gradient / gradient.shape[-2]


def over_columns(gradient):
    return gradient / gradient.shape[-1]


def over_entries(gradient):
    return gradient / gradient.size


def zeros(gradient):
    return 0 * gradient


def last(array, axis=-2):
    """The last row or column alone, and zeros: what a loop with = in place of += leaves."""
    found = np.zeros_like(array)
    part = (..., slice(-1, None), slice(None)) if axis == -2 else (..., slice(-1, None))
    found[part] = array[part]
    return found
