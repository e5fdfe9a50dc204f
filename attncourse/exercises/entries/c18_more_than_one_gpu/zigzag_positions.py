import numpy as np

from ...families.counts import floats_for, number_cases
from ...model import Case
from ...pages import written


def zigzag_positions(rank, world, n):
    size = n // (2 * world)
    front, back = rank, 2 * world - 1 - rank
    first = block(front, size)
    second = block(back, size)
    both = first, second
    positions = np.concatenate(both)
    return positions


def block(number, size):
    return np.arange(number * size, (number + 1) * size)


def mask_of(positions, n):
    mask = np.zeros(n, dtype=bool)
    mask[positions] = True
    return mask


def zigzag_cases():
    ranks = 0, 1, 1, 0, 2, 1, 3, 1, 2, 6, 0
    worlds = 2, 2, 2, 3, 3, 3, 4, 4, 5, 8, 7
    lengths = 8, 8, 12, 12, 18, 30, 40, 24, 60, 80, 42
    return [
        *number_cases(*zip(ranks, worlds, lengths)),
        *(Case("blocks of one position", args) for args in ((0, 2, 4), (1, 3, 6), (3, 4, 8))),
        *(Case("one rank", args) for args in ((0, 1, 2), (0, 1, 6))),
    ]


EXERCISE = written(
    zigzag_positions, place=3, cases=zigzag_cases, dtype="number", audits=(floats_for(1, 2, 12),)
)
