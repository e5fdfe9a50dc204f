import numpy as np

from ...families.programs import (  # noqa: F401, for the page
    blocks_in,
    first_block_again,
    first_columns,
    first_rows,
    in_blocks,
    listed,
    rows_to,
    sized,
    whole_blocks,
)
from ...families.tiles import BLANKS, BY_KERNEL, by_a_kernel, out_of_bounds  # noqa: F401, for the page
from ...model import PLAIN, SQUARE
from ...pages import written


def outer_sum_triton(x, y, block):
    down, across = x, y
    table = down[:, None] + across  #: the sums
    output = table
    return output


def on_the_diagonal(output, block, blank):
    i, j = np.indices(output.shape) // block
    return np.where(i == j, output, blank)


def shifted_tiles(output, block, blank, rows=True, columns=True):
    """Tiles that begin one row, or one column, after each other don't reach the end."""
    m, n = (blocks_in(size, block) - 1 + block for size in output.shape)
    output = first_rows(output, m, blank) if rows else output
    return first_columns(output, n, blank) if columns else output


def column_by_column(output):
    """Entry (i, j) is stored at place j * rows + i."""
    return output.T.ravel().reshape(output.shape)


def one_size(output, block, blank, rows):
    """Loads and store compare both axes with one size: the other axis is read beyond its end, or
    written only up to there.
    """
    size, other = output.shape if rows else output.shape[::-1]
    if min(size, blocks_in(other, block) * block) > other:
        out_of_bounds()
    return first_columns(output, size, blank) if rows else first_rows(output, size, blank)


def in_rows(i, j, m, n):
    return i * n + j


def inside(i, j, m, n):
    return (i < m) & (j < n)


def tiled(x, y, block, blank, place=in_rows, mask=inside, table=np.add.outer):
    """The table written tile after tile, each entry of a tile to its place if the mask lets it."""
    (m,), (n,), flat = x.shape, y.shape, np.full(len(x) * len(y), blank)
    x, y = (np.pad(array, (0, -len(array) % block)) for array in (x, y))
    for i in np.split(np.arange(len(x)), len(x) // block):
        for j in np.split(np.arange(len(y)), len(y) // block):
            at, written = place(i[:, None], j, m, n), mask(i[:, None], j, m, n)
            if at[written].max(initial=0) >= flat.size:
                out_of_bounds()
            flat[at[written]] = table(x[i], y[j])[written]
    return flat.reshape(m, n)


def _cases():
    return [
        listed(PLAIN, [10, 20, 30], [1, 2, 3, 4, 5], block=2),
        *(
            sized(PLAIN, (m,), (n,), block=block)
            for m, n, block in ((7, 11, 4), (11, 7, 4), (3, 13, 2), (19, 5, 4))
        ),
        *(
            sized("whole tiles", (m,), (n,), block=block)
            for m, n, block in ((4, 8, 4), (12, 4, 2), (16, 32, 16))
        ),
        *(
            sized("whole tiles in one direction", (m,), (n,), block=block)
            for m, n, block in ((8, 11, 4), (7, 12, 4), (2, 5, 2), (5, 2, 2))
        ),
        *(
            sized("one tile", (m,), (n,), block=block)
            for m, n, block in ((3, 5, 8), (5, 3, 8), (1, 1, 2))
        ),
        sized(SQUARE, (5,), (5,), block=2),
    ]


EXERCISE = written(
    outer_sum_triton,
    place=6,
    axes=dict(x="m", y="n"),
    answer_axes="m n",
    cases=_cases,
    audits=(by_a_kernel("", (), (3,), (5,), more=(2,)), in_blocks(np.add.outer, (3,), (5,))),
    **BY_KERNEL,
)
