from ...families.counts import number_cases
from ...model import SQUARE, Case
from ...pages import written


def kv_cache_bytes(batch, n, n_layers, h_kv, d_head, itemsize):
    positions = n
    features = h_kv * d_head
    arrays = 2
    count = batch * n_layers * arrays * positions * features
    total = count * itemsize
    return total


def _cache_cases():
    return number_cases(
        (3, 5, 7, 2, 11, 4),
        (1, 1, 1, 1, 1, 1),
        (1, 13, 3, 5, 2, 2),
        (2, 4096, 32, 8, 128, 2),
        (5, 17, 61, 31, 64, 8),
        (1, 7, 2, 3, 5, 1),
        (7, 2, 13, 1, 3, 2),
        (16, 32768, 80, 8, 128, 2),
    ) + [Case(SQUARE, (8, 8, 8, 8, 8, 8)), Case(SQUARE, (1, 4, 4, 4, 4, 4))]


EXERCISE = written(
    kv_cache_bytes,
    place=5,
    cases=_cache_cases,
    dtype="number",
    formula=(
        "Each of batch sequences keeps, in each layer, keys and values of n positions: "
        "h_kv heads of d_head numbers each, and a number takes itemsize bytes.",
        "How many numbers does one position of one sequence leave behind in one layer?",
    ),
)
