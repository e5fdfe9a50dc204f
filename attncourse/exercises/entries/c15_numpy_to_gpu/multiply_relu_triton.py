import numpy as np

from ...families.programs import (  # noqa: F401, for the page
    MULTIPLE,
    SHORTER,
    first_block_again,
    in_blocks,
    listed,
    only_in_row_0,
    per_row,
    rows_from,
    sized,
)
from ...families.tiles import BY_KERNEL, LEFT_TO_TORCH, TORCH_OWN, by_a_kernel
from ...model import PLAIN, SQUARE
from ...pages import written


def multiply_relu_triton(x, w, block):
    numbers = x
    factors = w  #: the factors
    products = numbers * factors  #: the products
    kept = np.maximum(products, 0)  #: the products that aren't negative
    output = kept
    return output


def _cases():
    return [
        listed(PLAIN, [[1, -2, 3, -4, 5], [-6, 7, 8, -9, -10]], [1, 2, -1, -2, 3], block=2),
        *(
            sized(PLAIN, (rows, n), (n,), block=block)
            for rows, n, block in ((3, 11, 4), (7, 5, 2), (2, 37, 8))
        ),
        *(
            sized(MULTIPLE, (rows, n), (n,), block=block)
            for rows, n, block in ((3, 8, 4), (5, 12, 2), (2, 32, 16))
        ),
        *(
            sized(SHORTER, (rows, n), (n,), block=block)
            for rows, n, block in ((3, 5, 8), (7, 3, 16))
        ),
        sized(SQUARE, (5, 5), (5,), block=2),
        sized("one row", (1, 7), (7,), block=4),
        sized("one column", (7, 1), (1,), block=2),
    ]


EXERCISE = written(
    multiply_relu_triton,
    place=8,
    axes=dict(x="rows n", w="n"),
    answer_axes="rows n",
    cases=_cases,
    audits=(
        by_a_kernel(LEFT_TO_TORCH, TORCH_OWN, (2, 5), (5,), more=(2,)),
        in_blocks(lambda x, w: np.maximum(x * w, 0), (2, 5), (5,), kernels=1),
    ),
    **BY_KERNEL,
)
