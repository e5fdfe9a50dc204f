from ...families.counts import number_cases
from ...model import SQUARE, Case
from ...pages import written


def tile_bytes(block_q, block_k, d_k, d_v, itemsize):
    query = block_q * d_k
    key = block_k * d_k
    value = block_k * d_v
    count = query + key + value
    total = count * itemsize
    return total


def _cases():
    return [
        *number_cases((2, 3, 5, 7, 4), (1, 1, 1, 1, 8), (16, 32, 64, 128, 2), (13, 11, 5, 3, 2)),
        *number_cases((128, 16, 64, 32, 4), (31, 17, 64, 61, 1), (64, 128, 256, 16, 2)),
        Case(SQUARE, (64, 64, 128, 128, 2)),
        Case(SQUARE, (3, 3, 2, 2, 4)),
    ]


EXERCISE = written(
    tile_bytes,
    place=1,
    dtype="number",
    cases=_cases,
    formula=(
        "Three tiles, each with as many numbers as it has entries, each of itemsize bytes.",
        "How many rows and how many columns does each of the three tiles have?",
    ),
)
