from ...families.counts import number_cases
from ...model import SQUARE, Case
from ...pages import written


def attention_bytes(n_q, n_k, d_k, d_v, itemsize):
    query = n_q * d_k
    key = n_k * d_k
    value = n_k * d_v
    output = n_q * d_v
    count = query + key + value + output
    total = count * itemsize
    return total


def _cases():
    return [
        *number_cases((2, 3, 5, 7, 4), (1, 1, 1, 1, 8), (13, 11, 5, 3, 2), (1, 4096, 128, 64, 2)),
        *number_cases((31, 17, 64, 61, 4), (3, 2, 5, 7, 1)),
        Case(SQUARE, (4096, 4096, 128, 128, 2)),
        Case(SQUARE, (3, 3, 2, 2, 4)),
    ]


EXERCISE = written(
    attention_bytes,
    place=2,
    dtype="number",
    cases=_cases,
    formula=(
        "Four arrays travel, each once: as many numbers as it has entries, each of itemsize bytes.",
        "How many entries does each of the four arrays have?",
    ),
)
