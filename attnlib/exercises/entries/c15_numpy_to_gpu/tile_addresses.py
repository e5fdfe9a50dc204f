"""The exercise tile_addresses."""

import numpy as np

from ...families.counts import number_cases
from ...model import SQUARE, Case, Exercise, Mistake, Step, alike, ways


def tile_addresses_answer(do, tile, block, shape, strides):
    tile, block, strides = do.tile(tile), do.block(block), do.strides(strides, shape, block)
    row, column = do.rows(tile, block), do.columns(tile, block)
    addresses = do.address(row[:, None], column[None, :], strides)
    return do.finish(do.hide(addresses, do.exists(row[:, None], column[None, :], shape)))


def _as_it_is(pair, *more):
    return pair


def _swapped(pair, *more):
    return pair[::-1]


def _along(axis, place=lambda start, inside: start + inside, size=lambda axis: axis):
    """The step that places a tile along one axis."""
    return lambda tile, block: place(tile[axis] * block[size(axis)], np.arange(block[axis]))


def _address(function):
    return ways("address", function)


def _exists(*functions):
    return ways("exists", *functions)


def _both(place):
    """The same change along both axes, or along one alone."""
    rows, columns = {"rows": place(0)}, {"columns": place(1)}
    return ({**rows, **columns}, rows, columns)


def _places(tile, block):
    """Rows and columns of the tile, those beyond the matrix too."""
    return tile[0] * block[0] + np.arange(block[0])[:, None], tile[1] * block[1] + np.arange(block[1])[None, :]


def _masked_by_address(limit):
    def answer(tile, block, shape, strides):
        row, column = _places(tile, block)
        addresses = row * strides[0] + column * strides[1]
        return np.where(addresses < limit(shape, strides), addresses, -1)

    return {"answer": answer}


def _brought_back(back):
    """No mask: `back(place, size)` is an existing place along an axis."""
    def answer(tile, block, shape, strides):
        row, column = (back(place, size) for place, size in zip(_places(tile, block), shape))
        return row * strides[0] + column * strides[1]

    return {"answer": answer}


def _masked_inside(tile, block, shape, strides):
    row, column = _places(tile, block)
    inside = (row - row[0, 0] < shape[0]) & (column - column[0, 0] < shape[1])
    return np.where(inside, row * strides[0] + column * strides[1], -1)


def _one_piece(tile, block, shape, strides):
    row, column = _places(tile, block)
    addresses = row[0, 0] * strides[0] + column[0, 0] * strides[1] + np.arange(block[0] * block[1]).reshape(block)
    return np.where((row < shape[0]) & (column < shape[1]), addresses, -1)


def _one_behind_the_other(tile, block, shape, strides):
    """Tiles are counted row by row, and each takes the place behind the one before."""
    row, column = _places(tile, block)
    number = tile[0] * -(-shape[1] // block[1]) + tile[1]
    addresses = (number * block[0] * block[1] + np.arange(block[0] * block[1])).reshape(block)
    return np.where((row < shape[0]) & (column < shape[1]), addresses, -1)


TILE_MISTAKES = (
    *alike("Tile (I, J) has I whole tiles above it and J beside it: its first entry is in row I * block[0] and in column "
           "J * block[1].",
           "Which row and which column has the first entry of tile (1, 2), with blocks of 2 by 4?",
           ("tile's place left out", _both(lambda axis: lambda tile, block: np.arange(block[axis])),
            "Along an axis every tile begins at 0, as the first one does."),
           ("tile's number not multiplied by the block", _both(
               lambda axis: lambda tile, block: tile[axis] + np.arange(block[axis])),
            "Along an axis tile 1 begins one entry after tile 0, not a block after it."),
           ("tile's number and place inside swapped", _both(
               lambda axis: lambda tile, block: tile[axis] + np.arange(block[axis]) * block[axis]),
            "The places inside of the tile are multiplied by the block, instead of the tile's number."),
           ("tile's row and column swapped", {"tile": _swapped}, "Tile (I, J) is looked for at (J, I)."),
           ("block's height and width swapped in the start", (
               {"rows": _along(0, size=lambda axis: 1), "columns": _along(1, size=lambda axis: 0)},
               {"rows": _along(0, size=lambda axis: 1)}, {"columns": _along(1, size=lambda axis: 0)}),
            "A tile begins at its number times the other size of the block.")),
    *alike("Row r begins r * strides[0] numbers after the first number, and in a row two columns are strides[1] apart. "
           "Neither need have to do with the shape.",
           "How many numbers lie between the beginnings of two rows, and how many between two columns of a row?",
           ("row stride and column stride swapped", {"strides": _swapped}, "Rows are as far apart as columns should be."),
           ("columns taken for neighbours", _address(lambda row, column, strides: row * strides[0] + column),
            "The column is added as it is, so that a row is always one piece of memory."),
           ("rows taken for neighbours", _address(lambda row, column, strides: row + column * strides[1]),
            "The row is added as it is."),
           ("number of columns instead of the row's stride", ways(
               "strides", lambda strides, shape, block: (shape[1], strides[1]), lambda strides, shape, block: (shape[1], 1)),
            "Rows are taken to be shape[1] apart, which holds for a whole matrix and not for a part of a wider one."),
           ("block's width instead of the row's stride", ways(
               "strides", lambda strides, shape, block: (block[1], strides[1]), lambda strides, shape, block: (block[1], 1)),
            "Rows are taken to be block[1] apart, as if the tile lay in memory by itself."),
           ("tile taken for one piece of memory", ways("answer", _one_piece, _one_behind_the_other),
            "From the tile's first entry on each address is one more than the one before, also from row to row."),
           ("bytes instead of numbers", ways("strides", *(
               lambda strides, shape, block, b=b: (b * strides[0], b * strides[1]) for b in (2, 4, 8))),
            "The addresses count bytes.")),
    *alike("A place exists where its row is one of shape[0] and its column one of shape[1], both counted in the whole matrix.",
           "For a matrix of 3 rows, which rows of a tile that begins at row 2 exist?",
           ("no mask", _exists(lambda row, column, shape: (row >= 0) & (column >= 0)),
            "Also places that the matrix does not have get an address."),
           ("only the rows masked", _exists(lambda row, column, shape: (row < shape[0]) & (column >= 0)),
            "Places beyond the last column get an address, which belongs to another row."),
           ("only the columns masked", _exists(lambda row, column, shape: (row >= 0) & (column < shape[1])),
            "Places beyond the last row get an address."),
           ("one too many", _exists(lambda row, column, shape: (row <= shape[0]) & (column <= shape[1]),
                                    lambda row, column, shape: (row <= shape[0]) & (column < shape[1]),
                                    lambda row, column, shape: (row < shape[0]) & (column <= shape[1])),
            "Row shape[0] or column shape[1] is taken to exist; the last one is one before."),
           ("last one left out", _exists(lambda row, column, shape: (row < shape[0] - 1) & (column < shape[1] - 1),
                                         lambda row, column, shape: (row < shape[0] - 1) & (column < shape[1]),
                                         lambda row, column, shape: (row < shape[0]) & (column < shape[1] - 1)),
            "The last row or the last column of the matrix is taken not to exist."),
           ("either instead of both", _exists(lambda row, column, shape: (row < shape[0]) | (column < shape[1])),
            "A place gets an address if its row or its column exists."),
           ("mask turned round", _exists(lambda row, column, shape: (row >= shape[0]) | (column >= shape[1])),
            "The places that exist are -1, and the others have an address."),
           ("rows held against the number of columns", _exists(
               lambda row, column, shape: (row < shape[1]) & (column < shape[0]),
               lambda row, column, shape: (row < shape[1]) & (column < shape[1]),
               lambda row, column, shape: (row < shape[0]) & (column < shape[0])),
            "A row is compared with shape[1] or a column with shape[0]."),
           ("place inside of the tile masked", {"answer": _masked_inside},
            "The mask looks at the place inside of the tile, which begins at 0 in every tile."),
           ("held back at the edge", _brought_back(lambda place, size: np.minimum(place, size - 1)),
            "Places beyond the edge have the address of the last row or column."),
           ("begun again at the edge", _brought_back(lambda place, size: place % size),
            "Beyond the edge rows and columns begin again at the front.")),
    Mistake("address held against the size", change=(
                _masked_by_address(lambda shape, strides: shape[0] * shape[1]),
                _masked_by_address(lambda shape, strides: shape[0] * strides[0]),
                _masked_by_address(lambda shape, strides: 1 + sum((n - 1) * stride for n, stride in zip(shape, strides)))),
            does="A place counts as existing if its address is small enough.",
            why="Beyond the edge of a matrix the memory goes on: an address there may be small enough, and somebody else's.",
            ask="Which address has the place one beyond the end of the first row?"),
    Mistake("another mark than -1", change=ways("hide", *(
                lambda addresses, exists, mark=mark: np.where(exists, addresses, mark) for mark in (0, np.nan, -np.inf, np.inf))),
            does="Places that do not exist are marked with another number than -1.",
            why="0 is an address like any other, and NaN or an infinity makes all addresses floating: -1 is an integer and no address.",
            ask="What lies at address 0, and which numbers may be an index?"),
    Mistake("block cut at the edge", change={"hide": lambda addresses, exists: addresses[exists.any(axis=1)][:, exists.any(axis=0)]},
            does="At the edge of the matrix the answer is smaller than the block.",
            why="A block has one size, fixed when a kernel is compiled. What does not exist is marked, not cut away.",
            ask="Which shape has the answer if only one column of the tile exists?"),
    Mistake("tile transposed", change={"finish": lambda addresses: addresses.T},
            does="The answer has a row for each column of the tile.",
            why="Entry (i, j) of the answer is row i and column j of the tile: rows[:, None] and columns[None, :].",
            ask="Which axis of your answer do the rows run along?"),
    Mistake("answer flat", change={"finish": lambda addresses: addresses.ravel()},
            does="The addresses are right, on one axis.",
            why="The answer has the block's shape, so that it can be used as an index of a tile.",
            ask="Which shape has a tile?"),
)


def tile_addresses_cases():
    return [*number_cases(((0, 1), (2, 4), (3, 7), (10, 1)), ((1, 0), (2, 4), (3, 7), (10, 1)), ((1, 2), (2, 4), (3, 11), (13, 1)),
                          ((2, 1), (3, 5), (8, 9), (17, 1)), ((1, 3), (4, 2), (7, 7), (7, 1)), ((0, 0), (4, 8), (3, 5), (5, 1)),
                          ((1, 0), (8, 2), (10, 5), (5, 1)), ((0, 1), (2, 8), (5, 11), (11, 1))),
            *(Case("a part of a wider matrix", args) for args in (
                ((1, 1), (2, 4), (5, 6), (11, 1)), ((0, 2), (3, 2), (4, 5), (100, 1)), ((3, 0), (2, 16), (7, 13), (64, 1)))),
            *(Case("a transposed matrix", args) for args in (
                ((0, 1), (2, 4), (3, 7), (1, 3)), ((1, 0), (4, 2), (7, 5), (1, 11)), ((2, 1), (2, 3), (5, 7), (2, 30)))),
            *(Case(SQUARE, args) for args in (((1, 1), (2, 2), (3, 3), (3, 1)), ((2, 1), (4, 4), (11, 11), (11, 1)))),
            Case("a tile inside of the matrix", ((1, 1), (2, 4), (6, 12), (12, 1))),
            *(Case("a tile beyond the matrix", (tile, (2, 4), (4, 8), (8, 1))) for tile in ((2, 2), (5, 0)))]


EXERCISE = Exercise(
    name="tile_addresses", signature="(tile, block, shape, strides)", place=4,
    text="The address of each entry of tile (I, J), where a matrix of this shape, with these strides in numbers, is cut into "
         "tiles of block = (rows, columns): integers of the block's shape, and -1 where the matrix has no such entry.",
    answer=tile_addresses_answer,
    steps={
        "tile": _as_it_is, "block": _as_it_is, "strides": _as_it_is,
        "rows": _along(0), "columns": _along(1),
        "address": Step(lambda row, column, strides: row * strides[0] + column * strides[1], "the addresses"),
        "exists": lambda row, column, shape: (row < shape[0]) & (column < shape[1]),
        "hide": lambda addresses, exists: np.where(exists, addresses, -1),
        "finish": lambda addresses: addresses,
    },
    cases=tile_addresses_cases, answer_axes="rows columns", dtype="number",
    hints=(
        "Along one axis first: tile I begins at row I * block[0], and has the rows after it, np.arange(block[0]).",
        "With rows as a column, [:, None], and columns as a row, [None, :], row * strides[0] + column * strides[1] is the "
        "whole tile.",
        "np.where(exists, addresses, -1), where exists asks both: row < shape[0], and column < shape[1].",
    ),
    mistakes=TILE_MISTAKES,
)
