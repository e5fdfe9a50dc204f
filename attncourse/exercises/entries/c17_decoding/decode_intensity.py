from ...families.counts import number_cases
from ...model import SQUARE, Case
from ...pages import written


def decode_intensity(n_k, d_k, d_v, h, h_kv, itemsize):
    operations = 2
    queries = 1
    readers = h
    products = n_k * d_k
    mixture = n_k * d_v
    flops = operations * queries * readers * (products + mixture)
    heads = h_kv
    keys = n_k * d_k
    values = n_k * d_v
    extra = 0
    moved = (heads * (keys + values) + extra) * itemsize
    intensity = flops / moved
    return intensity


def _cases():
    sizes = [(5, 3, 7, 6, 2, 4), (1, 1, 1, 1, 1, 1), (13, 5, 2, 12, 3, 2)]
    sizes += [
        (4096, 128, 64, 32, 8, 2),
        (61, 17, 31, 10, 5, 8),
        (7, 2, 13, 3, 1, 1),
        (11, 7, 3, 5, 5, 8),
    ]
    one_each = Case("as many key heads as query heads", (3, 2, 5, 4, 4, 2))
    return number_cases(*sizes) + [one_each, Case(SQUARE, (8,) * 6), Case(SQUARE, (4,) * 6)]


FORMULA = (
    (
        "The numerator: h heads, each with two products of n_k times d_k and n_k times d_v"
        " multiply-adds, each of 2 operations. The denominator: the keys and the values of h_kv"
        " heads, with itemsize bytes per number."
    ),
    "Which sizes stand in both the numerator and the denominator?",
)

EXERCISE = written(decode_intensity, place=2, cases=_cases, dtype="number", formula=FORMULA)
