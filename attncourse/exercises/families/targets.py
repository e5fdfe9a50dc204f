"""Rows of scores with a target each: how the target's entry is picked, and inputs with targets."""

import numpy as np

from ..model import FLOAT32, LEADING, PLAIN, Case, normal


def targets_of(array, target):
    """The entry of each row (..., n) that its target (...) names."""
    return np.take_along_axis(array, np.asarray(target)[..., None], axis=-1)[..., 0]


def one_hot(array, target):
    """True at each row's target."""
    return np.arange(array.shape[-1]) == np.asarray(target)[..., None]


def with_targets(sizes):
    """Cases of ordinary sizes, with and without leading axes, and one in float32."""
    small, other = ((size["n_q"], size["n_k"]) for size in sizes)

    def case(aspect, seed, *shape, dtype=np.float64):
        target = np.random.default_rng([seed, *shape]).integers(shape[-1], size=shape[:-1])
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype, scale=2), target))

    return [
        case(PLAIN, 1, *small),
        case(PLAIN, 2, *other),
        case(PLAIN, 3, 37, 41),
        case(LEADING, 4, 2, *small),
        case(LEADING, 5, 2, 3, *other),
        case(FLOAT32, 6, *small, dtype=np.float32),
    ]
