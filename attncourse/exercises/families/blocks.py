"""Keys read a block at a time: what exercises on that are tried with."""

import numpy as np

from ..model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE

SHORTER_BLOCK = "a shorter last block"
ONE_BLOCK, LONG_BLOCK = "one block", "block_size larger than n_k"


def blockwise(case):
    """The cases that case(aspect, block_size, n_q, n_k, d_k, d_v, seed, ...) makes."""
    return [
        case(PLAIN, 5, 7, 15, 3, 2, 1),
        case(PLAIN, 3, 5, 15, 2, 7, 5, order="F"),
        case(PLAIN, 7, 3, 14, 5, 11, 9),
        case(PLAIN, 13, 23, 52, 3, 5, 13),
        case(SHORTER_BLOCK, 3, 5, 7, 2, 11, 17),
        case(SHORTER_BLOCK, 5, 3, 13, 7, 2, 21, order="F"),
        case(SHORTER_BLOCK, 4, 5, 11, 3, 2, 25),
        case("blocks of one key", 1, 3, 7, 5, 2, 29),
        case(ONE_BLOCK, 7, 5, 7, 3, 2, 33),
        case(LONG_BLOCK, 11, 5, 7, 3, 2, 37, extreme=True),
        case(SQUARE, 3, 3, 9, 3, 3, 41),
        case(SQUARE, 5, 5, 5, 5, 5, 45),
        case(SQUARE, 2, 4, 4, 2, 4, 49),
        case(LEADING, 5, 3, 10, 7, 2, 53, lead=(2,)),
        case(LEADING, 3, 5, 7, 2, 11, 57, lead=(2, 3), order="F"),
        case(LEADING, 2, 3, 5, 2, 3, 71, lead=(3,)),
        case(FLOAT32, 3, 5, 7, 3, 2, 61, dtype=np.float32),
        case(FLOAT16, 2, 3, 5, 2, 7, 65, dtype=np.float16),
    ]
