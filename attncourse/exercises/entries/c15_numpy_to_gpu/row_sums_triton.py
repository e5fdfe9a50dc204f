import numpy as np

from ...families.programs import (  # noqa: F401, for the page
    as_half,
    as_many_rows,
    blocks_in,
    first_block_again,
    first_rows,
    in_blocks,
    inside_masked,
    listed,
    matrices,
    rows_from,
    whole_blocks,
)
from ...families.tiles import BLANKS, BY_KERNEL, blocks_of, by_a_kernel, out_of_bounds  # noqa: F401, for the page
from ...model import PLAIN
from ...pages import written


def row_sums_triton(x, block):
    loaded = x
    s = loaded
    sums = s.sum(axis=-1)  #: the sums
    output = sums
    return output


def filled(x, block, value):
    """The sums with the places beyond the row counted as this value."""
    beyond = -x.shape[-1] % block
    return x.sum(axis=-1) + (beyond * value if beyond else 0.0)


def first_again(x, block, masked):
    """Each step of the loop reads the first block; its mask looks at the step's place, or not."""
    n, total = x.shape[-1], 0.0
    for start in range(0, n, block):
        total = total + x[:, : min(block, n - start) if masked else block].sum(axis=-1)
    return total


def half_sums(x, block):
    """Numbers and the sum so far are rounded to float16 in each step."""
    total = np.zeros(len(x))
    for tile in blocks_of(as_half(x), block):
        total = as_half(total + as_half(tile.sum(axis=-1)))
    return total


def columns_of(x):
    """What is read if the place is taken for columns * n + i."""
    rows, n = x.shape
    at = np.arange(n) * n + np.arange(rows)[:, None]
    return x.ravel()[at] if at.max() < x.size else out_of_bounds()


def in_one_place(sums, blank):
    """Each program stores in the first place, so the last row's sum stays."""
    return np.where(np.arange(len(sums)) == 0, sums[-1], blank)


def _cases():
    return [listed(PLAIN, [[1, 2, 3, 4, 5], [10, 20, 30, 40, 50]], block=2), *matrices()]


EXERCISE = written(
    row_sums_triton,
    place=7,
    axes=dict(x="rows n"),
    answer_axes="rows",
    cases=_cases,
    audits=(by_a_kernel("", (), (2, 5), more=(2,)), in_blocks(lambda x: x.sum(axis=-1), (2, 5))),
    **BY_KERNEL,
)
