"""Answers to tile_addresses, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("tile_addresses")


@answers.right()
def by_broadcasting(tile, block, shape, strides):
    rows = (tile[0] * block[0] + np.arange(block[0]))[:, None]
    columns = (tile[1] * block[1] + np.arange(block[1]))[None, :]
    exists = (rows < shape[0]) & (columns < shape[1])
    return np.where(exists, rows * strides[0] + columns * strides[1], -1)


@answers.right()
def by_loops(tile, block, shape, strides):
    addresses = np.full(block, -1)
    for i in range(block[0]):
        for j in range(block[1]):
            row, column = tile[0] * block[0] + i, tile[1] * block[1] + j
            if row < shape[0] and column < shape[1]:
                addresses[i, j] = row * strides[0] + column * strides[1]
    return addresses


@answers.right()
def by_padding(tile, block, shape, strides):
    matrix = np.arange(shape[0])[:, None] * strides[0] + np.arange(shape[1]) * strides[1]
    (top, left), (height, width) = np.multiply(tile, block), block
    wide = np.pad(matrix, [(0, top + height), (0, left + width)], constant_values=-1)
    return wide[top : top + height, left : left + width]


@answers.right()
def by_indices(tile, block, shape, strides):
    places = np.indices(block) + np.multiply(tile, block)[:, None, None]
    addresses = np.tensordot(strides, places, 1)
    addresses[(places >= np.array(shape)[:, None, None]).any(axis=0)] = -1
    return addresses


def written(
    rows=lambda tile, block: tile[0] * block[0] + np.arange(block[0]),
    columns=lambda tile, block: tile[1] * block[1] + np.arange(block[1]),
    address=lambda row, column, shape, strides: row * strides[0] + column * strides[1],
    exists=lambda row, column, shape: (row < shape[0]) & (column < shape[1]),
    blank=-1,
):
    def answer(tile, block, shape, strides):
        row, column = rows(tile, block)[:, None], columns(tile, block)[None, :]
        return np.where(exists(row, column, shape), address(row, column, shape, strides), blank)

    return answer


for number, (name, function) in enumerate(
    (
        (
            "tile's place left out",
            written(
                rows=lambda tile, block: np.arange(block[0]),
                columns=lambda tile, block: np.arange(block[1]),
            ),
        ),
        ("tile's place left out", written(columns=lambda tile, block: np.arange(block[1]))),
        (
            "tile's number not multiplied by the block",
            written(rows=lambda tile, block: tile[0] + np.arange(block[0])),
        ),
        (
            "tile's row and column swapped",
            written(
                rows=lambda tile, block: tile[1] * block[0] + np.arange(block[0]),
                columns=lambda tile, block: tile[0] * block[1] + np.arange(block[1]),
            ),
        ),
        (
            "block's height and width swapped in the start",
            written(rows=lambda tile, block: tile[0] * block[1] + np.arange(block[0])),
        ),
        (
            "tile's number and place inside swapped",
            written(rows=lambda tile, block: tile[0] + np.arange(block[0]) * block[0]),
        ),
        (
            "row stride and column stride swapped",
            written(
                address=lambda row, column, shape, strides: row * strides[1] + column * strides[0]
            ),
        ),
        (
            "columns treated as neighbours",
            written(address=lambda row, column, shape, strides: row * strides[0] + column),
        ),
        (
            "number of columns instead of the row's stride",
            written(address=lambda row, column, shape, strides: row * shape[1] + column),
        ),
        (
            "bytes instead of numbers",
            written(
                address=lambda row, column, shape, strides: (
                    4 * (row * strides[0] + column * strides[1])
                )
            ),
        ),
        ("no mask", written(exists=lambda row, column, shape: True)),
        ("only the rows masked", written(exists=lambda row, column, shape: row < shape[0])),
        ("only the columns masked", written(exists=lambda row, column, shape: column < shape[1])),
        (
            "one too many",
            written(exists=lambda row, column, shape: (row <= shape[0]) & (column <= shape[1])),
        ),
        (
            "last one left out",
            written(
                exists=lambda row, column, shape: (row < shape[0] - 1) & (column < shape[1] - 1)
            ),
        ),
        (
            "either instead of both",
            written(exists=lambda row, column, shape: (row < shape[0]) | (column < shape[1])),
        ),
        (
            "wrong size in the mask",
            written(exists=lambda row, column, shape: (row < shape[1]) & (column < shape[0])),
        ),
        ("a mark other than -1", written(blank=0)),
        ("a mark other than -1", written(blank=np.nan)),
    )
):
    function.__name__ = f"addresses_{number}"
    answers.wrong(name, function=function)


@answers.wrong("block's width instead of the row's stride")
def addresses_of_a_tile_alone(tile, block, shape, strides):
    return written(address=lambda row, column, *sizes: row * block[1] + column)(
        tile, block, shape, strides
    )


@answers.wrong("address compared to the size")
def addresses_below_the_size(tile, block, shape, strides):
    addresses = written(exists=lambda row, column, sizes: True)(tile, block, shape, strides)
    return np.where(addresses < shape[0] * shape[1], addresses, -1)


@answers.wrong("tile transposed")
def addresses_turned(tile, block, shape, strides):
    return by_broadcasting(tile, block, shape, strides).T


@answers.wrong("answer flattened")
def addresses_in_a_row(tile, block, shape, strides):
    return by_loops(tile, block, shape, strides).reshape(-1)


@answers.wrong("block cut at the edge")
def addresses_that_exist(tile, block, shape, strides):
    row = np.arange(tile[0] * block[0], min((tile[0] + 1) * block[0], shape[0]))
    column = np.arange(tile[1] * block[1], min((tile[1] + 1) * block[1], shape[1]))
    return row[:, None] * strides[0] + column * strides[1]


@answers.wrong("address compared to the size")
def addresses_up_to_the_last(tile, block, shape, strides):
    addresses = written(exists=lambda row, column, sizes: True)(tile, block, shape, strides)
    last = (shape[0] - 1) * strides[0] + (shape[1] - 1) * strides[1]
    return np.where(addresses <= last, addresses, -1)


@answers.wrong("position inside the tile masked")
def addresses_with_a_mask_of_the_first_tile(tile, block, shape, strides):
    r, c = np.arange(block[0])[:, None], np.arange(block[1])
    addresses = (tile[0] * block[0] + r) * strides[0] + (tile[1] * block[1] + c) * strides[1]
    return np.where((r < shape[0]) & (c < shape[1]), addresses, -1)


@answers.wrong("clamped at the edge")
def addresses_clipped(tile, block, shape, strides):
    row = np.clip(tile[0] * block[0] + np.arange(block[0]), 0, shape[0] - 1)
    column = np.clip(tile[1] * block[1] + np.arange(block[1]), 0, shape[1] - 1)
    return np.add.outer(row * strides[0], column * strides[1])


@answers.wrong("wrapped around at the edge")
def addresses_round_the_edge(tile, block, shape, strides):
    row = (tile[0] * block[0] + np.arange(block[0])) % shape[0]
    column = (tile[1] * block[1] + np.arange(block[1])) % shape[1]
    return np.add.outer(row * strides[0], column * strides[1])


@answers.wrong("tile treated as one piece of memory")
def addresses_in_one_piece(tile, block, shape, strides):
    addresses = by_loops(tile, block, shape, strides)
    first = tile[0] * block[0] * strides[0] + tile[1] * block[1] * strides[1]
    return np.where(addresses < 0, -1, first + np.arange(addresses.size).reshape(block))


@answers.wrong("tile treated as one piece of memory")
def by_the_number_of_the_tile(tile, block, shape, strides):
    number = tile[0] * -(-shape[1] // block[1]) + tile[1]
    places = np.indices(block) + np.multiply(tile, block)[:, None, None]
    addresses = number * block[0] * block[1] + np.arange(block[0] * block[1]).reshape(block)
    return np.where((places < np.array(shape)[:, None, None]).all(axis=0), addresses, -1)


answers.wrong(
    "tile's number not multiplied by the block",
    "only the columns masked",
    function=written(
        rows=lambda tile, block: tile[0] + np.arange(block[0]),
        columns=lambda tile, block: tile[1] + np.arange(block[1]),
        exists=lambda row, column, shape: (column < shape[1]) & (row >= 0),
    ),
)


@answers.wrong("block's height and width swapped")
def addresses_of_a_turned_block(tile, block, shape, strides):
    rows = tile[0] * block[1] + np.arange(block[1])[:, None]
    columns = tile[1] * block[0] + np.arange(block[0])[None, :]
    exists = (rows < shape[0]) & (columns < shape[1])
    return np.where(exists, rows * strides[0] + columns * strides[1], -1)


@answers.wrong("addresses as floating-point numbers")
def addresses_in_floats(tile, block, shape, strides):
    out = -np.ones(block)
    for i in range(block[0]):
        for j in range(block[1]):
            row, column = tile[0] * block[0] + i, tile[1] * block[1] + j
            if row < shape[0] and column < shape[1]:
                out[i, j] = row * strides[0] + column * strides[1]
    return out
