import numpy as np

from ...families.programs import (  # noqa: F401, for the page
    MULTIPLE,
    SHORTER,
    first_block_again,
    in_blocks,
    listed,
    only_in_row_0,
    rows_from,
    sized,
)
from ...families.tiles import BY_KERNEL, LEFT_TO_TORCH, TORCH_OWN, by_a_kernel
from ...model import PLAIN, SQUARE
from ...pages import written


def multiply_relu_backward_triton(x, w, grad_output, block):
    numbers = x
    factors = w  #: the factors
    arrived = grad_output  #: the gradient that arrives
    products = numbers * factors  #: the products
    open_ones = products > 0
    passed = np.where(open_ones, arrived, 0.0)  #: what the ReLU lets through
    gradient = passed * factors  #: the gradient
    output = gradient
    return output


def _cases():
    def case(aspect, rows, n, block):
        return sized(aspect, (rows, n), (n,), (rows, n), block=block)

    zeros = [[0, -2, 3, 0, 5], [6, 0, -8, -9, 0]], [0, -1, 2, -2, 3], [[1, 2, 3, 4, 5], [6] * 5]
    return [
        listed(
            PLAIN,
            [[1, -2, 3, -4, 5], [-6, 7, 8, -9, -10]],
            [1, 2, -1, -2, 3],
            [[1, 2, -3, 4, 5], [6, -7, 8, 9, 10]],
            block=2,
        ),
        *(case(PLAIN, *sizes) for sizes in ((3, 11, 4), (7, 5, 2), (2, 37, 8))),
        *(case(MULTIPLE, *sizes) for sizes in ((3, 8, 4), (5, 12, 2), (2, 32, 16))),
        *(case(SHORTER, *sizes) for sizes in ((3, 5, 8), (7, 3, 16))),
        case(SQUARE, 5, 5, 2),
        case("one row", 1, 7, 4),
        case("one column", 7, 1, 2),
        listed("products of 0", *zeros, block=2),
    ]


EXERCISE = written(
    multiply_relu_backward_triton,
    place=9,
    axes=dict(x="rows n", w="n", grad_output="rows n"),
    answer_axes="rows n",
    cases=_cases,
    audits=(
        by_a_kernel(LEFT_TO_TORCH, TORCH_OWN, (2, 5), (5,), (2, 5), more=(2,)),
        in_blocks(
            lambda x, w, grad_output: np.where(x * w > 0, grad_output * w, 0),
            (2, 5),
            (5,),
            (2, 5),
            kernels=1,
        ),
    ),
    **BY_KERNEL,
)
