from ...families.counts import number_cases
from ...model import SQUARE, Case
from ...pages import written


def attention_flops(n_q, n_k, d_k, d_v):
    first = n_q * n_k * d_k
    second = n_q * n_k * d_v
    products = first + second
    operations = 2 * products
    total = operations
    return total


def _cases():
    # All counts stay below 2**31: in a browser NumPy's integers have 32 bits.
    return [
        *number_cases(
            (2, 3, 5, 7), (1, 1, 1, 1), (13, 11, 5, 3), (1, 4096, 128, 64), (31, 17, 64, 61)
        ),
        Case(SQUARE, (1024, 1024, 128, 128)),
        Case(SQUARE, (3, 3, 2, 2)),
    ]


EXERCISE = written(
    attention_flops,
    place=1,
    dtype="number",
    cases=_cases,
    formula=(
        "Attention has two matrix products, and one of (n, m) and (m, p) takes n * m * p "
        "multiply-adds, each of two operations.",
        "Which sizes does each of the two products have?",
    ),
)
