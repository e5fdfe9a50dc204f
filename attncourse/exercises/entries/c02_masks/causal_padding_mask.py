import numpy as np

from ...families.scores import swap  # noqa: F401, for the page
from ...model import PLAIN, Case
from ...pages import written


def causal_padding_mask(lengths, n):
    limits = lengths  #: lengths
    ends = limits[:, None, None, None]
    query, key = np.arange(n)[:, None], np.arange(n)
    real = key < ends
    past = key <= query
    seen = past & real
    mask = seen
    return mask


def _cases():
    def case(aspect, lengths, n, dtype=np.int64):
        return Case(aspect, (np.array(lengths, dtype), n))

    return [
        case(PLAIN, [1, 2], 3),
        case(PLAIN, [2, 5, 1], 7),
        case(PLAIN, [3, 1, 4, 2, 5], 11),
        case(PLAIN, [7, 3], 13),
        case("one sequence", [2], 3),
        case("one sequence", [4], 5),
        case("lengths of n", [3, 3], 3),
        case("lengths of n", [5, 2, 4], 5),
        case("as many sequences as positions", [1, 3, 2], 3),
        case("a length of 0", [0, 2], 3),
        case("int32 lengths", [1, 4, 2], 5, np.int32),
    ]


EXERCISE = written(
    causal_padding_mask,
    place=5,
    axes=dict(lengths="batch"),
    answer_axes="batch one n_q n_k",
    dtype="bool",
    cases=_cases,
)
