import numpy as np

from ...families.programs import (  # noqa: F401, for the page
    MULTIPLE,
    SHORTER,
    as_half,
    blocks_in,
    first_block_again,
    first_columns,
    in_blocks,
    listed,
    sized,
)
from ...families.tiles import BLANKS, BY_KERNEL, by_a_kernel  # noqa: F401, for the page
from ...model import PLAIN
from ...pages import written


def add_triton(x, y, block):
    a, b = x, y
    total = a + b  #: the sums
    output = total
    return output


def spread(output, block, blank):
    """Each program handles places that are a block apart."""
    at = np.add.outer(np.arange(blocks_in(len(output), block)), np.arange(block) * block)
    return np.where(np.isin(np.arange(len(output)), at), output, blank)


def _cases():
    return [
        listed(PLAIN, [1, 2, 3, 4, 5], [10, 20, 30, 40, 50], block=2),
        *(sized(PLAIN, (n,), (n,), block=block) for n, block in ((10, 4), (11, 2), (37, 8))),
        *(sized(MULTIPLE, (n,), (n,), block=block) for n, block in ((8, 4), (12, 2), (32, 16))),
        *(sized(SHORTER, (n,), (n,), block=block) for n, block in ((5, 8), (3, 16))),
        sized("blocks of one", (4,), (4,), block=1),
    ]


EXERCISE = written(
    add_triton,
    place=5,
    axes=dict(x="n", y="n"),
    answer_axes="n",
    cases=_cases,
    audits=(by_a_kernel("", (), (5,), (5,), more=(2,)), in_blocks(np.add, (5,), (5,))),
    **BY_KERNEL,
)
