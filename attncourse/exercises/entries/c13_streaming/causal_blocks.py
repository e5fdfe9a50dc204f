import math

import numpy as np

from ...families.counts import number_cases
from ...model import SQUARE, Case
from ...pages import written


def causal_blocks(n, block_q, block_k):
    first, last = query_blocks(n, block_q)
    seen = last + 1  #: the number of keys that a block sees (one per row)
    row = up(seen, block_k)
    count = row.sum()
    return count


def query_blocks(n, block_q):
    """The first and the last query of each block."""
    first = np.arange(0, n, block_q)
    return first, np.minimum(first + block_q, n) - 1


def full_query_blocks(n, block_q):
    first = np.arange(0, n // block_q * block_q, block_q)
    return first, first + block_q - 1


def one_more(n, block_q, block_k):
    """With n // block + 1 blocks on each side, also where the blocks fit exactly."""
    rows, columns = np.arange(n // block_q + 1)[:, None], np.arange(n // block_k + 1)
    return (columns * block_k <= rows * block_q + block_q - 1).sum()


def up(count, size):
    return -(-count // size)


def whole_blocks(seen, n, block_k):
    """The key blocks of which all keys are seen; the last one may be shorter."""
    return np.where(seen == n, up(seen, block_k), seen // block_k)


def masked_in_part(n, block_q, block_k, whole):
    first, last = query_blocks(n, block_q)
    return (up(last + 1, block_k) - whole(first + 1, n, block_k)).sum()


def overlapping(n, block_q, block_k, test):
    """How many pairs of blocks a test of their first and last positions lets through."""
    return test(*(at[:, None] for at in query_blocks(n, block_q)), *query_blocks(n, block_k)).sum()


NEAR = (
    lambda first, last, key, end: (key <= last) & (end >= first),
    lambda first, last, key, end: (key <= last) & (end + 1 >= first),
)
LATER = (
    lambda first, last, key, end: end + 1 >= first,
    lambda first, last, key, end: end > first,
    lambda first, last, key, end: key >= first,
    lambda first, last, key, end: key > first,
    lambda first, last, key, end: end >= last,
)


def half_square(side):
    """The formula for as many key blocks as query blocks."""
    return side * (side + 1) // 2


def numbers_of_blocks(n, block_q, block_k):
    return up(n, block_q), up(n, block_k)


def with_diagonal(n, block_q, block_k, side):
    rows, columns = numbers_of_blocks(n, block_q, block_k)
    return rows * columns + side(rows, columns)


SIDES = (min, max, lambda rows, columns: rows, lambda rows, columns: columns)


def by_share(n, block_q, block_k, pairs, larger):
    return pairs(n, block_q, block_k) * (1 / 2 + larger(block_q, block_k) / (2 * n))


PAIRS = (
    lambda n, block_q, block_k: up(n, block_q) * up(n, block_k),
    lambda n, block_q, block_k: n * n / (block_q * block_k),
)
LARGER = (max, lambda q, k: q + k - math.gcd(q, k))


def by_number(n, block_q, block_k, cut, more):
    return sum(min(i + more, cut(n, block_k)) for i in range(cut(n, block_q)))


def _cases():
    sizes = [
        (5, 2, 3),
        (7, 2, 3),
        (7, 3, 2),
        (13, 5, 2),
        (13, 4, 7),
        (12, 2, 3),
        (12, 6, 2),
        (29, 3, 11),
    ]
    sizes += [(29, 8, 3), (101, 16, 7), (1024, 128, 64), (1000, 64, 128), (31, 7, 30)]
    square, one = [(4, 2, 2), (7, 3, 3), (64, 8, 8), (5, 1, 1)], [(5, 1, 2), (5, 3, 1)]
    large = [(3, 5, 2), (3, 2, 5), (3, 7, 5), (1, 4, 2)]
    return [
        *number_cases(*sizes),
        *(Case(SQUARE, args) for args in square),
        *(Case("blocks of one position", args) for args in one),
        *(Case("a block larger than n", args) for args in large),
    ]


EXERCISE = written(causal_blocks, place=2, cases=_cases, dtype="number")
