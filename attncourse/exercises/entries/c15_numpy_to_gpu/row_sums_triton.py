import numpy as np

from ...families.programs import (  # noqa: F401, for the page
    MULTIPLE,
    SHORTER,
    first_block_again,
    first_rows,
    inside_masked,
    listed,
    rows_from,
    sized,
    whole_blocks,
)
from ...families.tiles import BLANKS, BY_KERNEL, blocks_of, by_a_kernel  # noqa: F401, for the page
from ...model import PLAIN, SQUARE
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


def in_one_place(sums, blank):
    """Each program stores in the first place, so the last row's sum stays."""
    return np.where(np.arange(len(sums)) == 0, sums[-1], blank)


def _cases():
    return [
        listed(PLAIN, [[1, 2, 3, 4, 5], [10, 20, 30, 40, 50]], block=2),
        *(
            sized(PLAIN, shape, block=block)
            for shape, block in (((3, 11), 4), ((5, 7), 2), ((2, 37), 8))
        ),
        *(
            sized(MULTIPLE, shape, block=block)
            for shape, block in (((3, 8), 4), ((5, 12), 2), ((2, 64), 16))
        ),
        *(sized(SHORTER, shape, block=block) for shape, block in (((3, 5), 8), ((7, 3), 16))),
        sized(SQUARE, (5, 5), block=2),
        sized("one row", (1, 7), block=4),
        sized("one column", (7, 1), block=2),
    ]


EXERCISE = written(
    row_sums_triton,
    place=7,
    axes=dict(x="rows n"),
    answer_axes="rows",
    cases=_cases,
    audits=(by_a_kernel("", (), (2, 5), more=(2,)),),
    **BY_KERNEL,
)
