import numpy as np

from ...families.counts import floats_for, number_cases
from ...model import SQUARE, Case
from ...pages import written


def tile_addresses(tile, block, shape, strides):
    top = tile[0] * block[0]
    left = tile[1] * block[1]
    rows = top + np.arange(block[0])
    columns = left + np.arange(block[1])
    row, column = rows[:, None], columns[None, :]
    addresses = row * strides[0] + column * strides[1]  #: the addresses
    exists = (row < shape[0]) & (column < shape[1])
    marked = np.where(exists, addresses, -1)
    return marked


def inside(block):
    """The places of a tile that is one piece of memory."""
    return np.arange(block[0] * block[1]).reshape(block)


def _cases():
    part, turned = "a part of a wider matrix", "a transposed matrix"
    within, beyond = "a tile inside of the matrix", "a tile beyond the matrix"
    return [
        *number_cases(((0, 1), (2, 4), (3, 7), (10, 1)), ((1, 0), (2, 4), (3, 7), (10, 1))),
        *number_cases(((1, 2), (2, 4), (3, 11), (13, 1)), ((2, 1), (3, 5), (8, 9), (17, 1))),
        *number_cases(((1, 3), (4, 2), (7, 7), (7, 1)), ((0, 0), (4, 8), (3, 5), (5, 1))),
        *number_cases(((1, 0), (8, 2), (10, 5), (5, 1)), ((0, 1), (2, 8), (5, 11), (11, 1))),
        Case(part, ((1, 1), (2, 4), (5, 6), (11, 1))),
        Case(part, ((0, 2), (3, 2), (4, 5), (100, 1))),
        Case(part, ((3, 0), (2, 16), (7, 13), (64, 1))),
        Case(turned, ((0, 1), (2, 4), (3, 7), (1, 3))),
        Case(turned, ((1, 0), (4, 2), (7, 5), (1, 11))),
        Case(turned, ((2, 1), (2, 3), (5, 7), (2, 30))),
        Case(SQUARE, ((1, 1), (2, 2), (3, 3), (3, 1))),
        Case(SQUARE, ((2, 1), (4, 4), (11, 11), (11, 1))),
        Case(within, ((1, 1), (2, 4), (6, 12), (12, 1))),
        Case(beyond, ((2, 2), (2, 4), (4, 8), (8, 1))),
        Case(beyond, ((5, 0), (2, 4), (4, 8), (8, 1))),
    ]


FLOATS = floats_for((0, 1), (2, 4), (3, 7), (10, 1), name="addresses as floating-point numbers")

EXERCISE = written(
    tile_addresses,
    place=4,
    answer_axes="rows columns",
    dtype="number",
    cases=_cases,
    audits=(FLOATS,),
)
