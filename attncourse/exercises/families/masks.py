"""Who may attend to whom: the steps of masks and of masked scores, and what goes wrong in them."""

import numpy as np

from ..model import PLAIN, SQUARE, Case


def written_the_other_way(mask):
    """Entry [j, i] set for query i and key j; beyond the mask that is an IndexError."""
    found = np.zeros_like(mask)
    found[tuple(np.nonzero(mask))[::-1]] = True
    return found


FEWER_KEYS = "more queries than keys"


def triangle_cases():
    sizes = (
        (PLAIN, 2, 3),
        (PLAIN, 5, 7),
        (PLAIN, 3, 11),
        ("one query", 1, 3),
        (SQUARE, 3, 3),
        (SQUARE, 1, 1),
        (FEWER_KEYS, 3, 2),
        (FEWER_KEYS, 4, 2),
        (FEWER_KEYS, 11, 5),
        ("many positions", 140, 150),
        ("many positions", 300, 40),
    )
    return [Case(aspect, (n_q, n_k)) for aspect, n_q, n_k in sizes]


BROADCAST = "a mask that broadcasts"


# ---------------------------------------------------------------- what masks.md uses


def all_are(value, key, query):
    return (key + query) * 0 == (0 if value else 1)


def table(n, mask):
    return np.tri(n, dtype=bool)[: mask.shape[0], : mask.shape[1]]
