import numpy as np

from ...model import PLAIN, Case
from ...pages import written


def padding_mask(lengths, n_k):
    positions = np.arange(n_k)
    limits = lengths  #: lengths
    ends = limits[:, None]
    real = positions < ends
    seen = real[:, None, :]
    mask = seen
    return mask


def _cases():
    def case(aspect, lengths, n_k, dtype=np.int64):
        return Case(aspect, (np.array(lengths, dtype), n_k))

    return [
        case(PLAIN, [1, 2], 3),
        case(PLAIN, [2, 5, 1], 7),
        case(PLAIN, [3, 1, 4, 2, 5], 11),
        case(PLAIN, np.random.default_rng(0).integers(0, 71, 37), 70),
        case("one sequence", [2], 3),
        case("lengths of n_k", [3, 3], 3),
        case("lengths of n_k", [5, 2, 4], 5),
        case("a length of 0", [0, 2], 3),
        case("many positions", [300, 2], 400),
        case("int32 lengths", [1, 4, 2], 5, np.int32),
    ]


EXERCISE = written(
    padding_mask,
    place=4,
    axes=dict(lengths="batch"),
    answer_axes="batch one n_k",
    dtype="bool",
    cases=_cases,
)
