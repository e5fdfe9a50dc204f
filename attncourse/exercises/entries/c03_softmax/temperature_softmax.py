import numpy as np

from ...families.softmax import EPSILONS, extreme_rows, small_weights  # noqa: F401
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SMALL, SQUARE, Case, normal
from ...pages import written


def temperature_softmax(scores, temperature):
    tempered = scores / temperature  #: the divided scores
    s = tempered
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    above = powers
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = above / total  #: the weights
    return weights


def shares(powers):
    return powers / powers.sum(axis=-1, keepdims=True)


ROUNDED = (
    lambda t: max(1, int(t)),
    lambda t: max(1, round(t)),
    np.ceil,
    lambda t: float(int(t)),
    np.round,
    lambda t: int(t) or t,
)
LOW, HIGH = "a low temperature", "a high temperature"


def _cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, scores, temperature, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), temperature), extreme)

    def huge(row, temperature):
        return case(HUGE, [row, [0.0] * (len(row) - 1) + [1.0]], temperature, extreme=True)

    return [
        case(PLAIN, [[0, 2, 6], [2, 4, 8]], 2.0),
        case(PLAIN, [[1, 2]], 2.0),
        case(PLAIN, [[1, -2, 3]], 0.5),
        case(PLAIN, [[-3, -1]], 2.0),
        case(PLAIN, [[0, 3], [3, 6]], 3),
        Case(PLAIN, (normal(5, 7, seed=1), 2.0)),
        Case(PLAIN, (normal(7, 3, seed=2), 0.5)),
        Case(PLAIN, (normal(7, 11, seed=3), 0.7)),
        Case(PLAIN, (normal(3, 5, seed=12), 2.6)),
        case(SQUARE, [[0, 2], [4, 10]], 2.0),
        Case(SQUARE, (normal(5, 5, seed=3), 3.0)),
        case("one axis", [0, 2, 6], 2.0),
        Case("one axis", (normal(7, seed=4), 0.5)),
        case("a temperature of 1", [[0, 1, 3], [2, 5, 4]], 1.0),
        Case("a temperature of 1", (normal(5, 3, seed=5), 1)),
        case(LEADING, [[[0, 2], [4, 10]]], 2.0),
        Case(LEADING, (normal(2, 5, 3, seed=5), 0.5)),
        Case(LEADING, (normal(2, 3, 5, 7, seed=6), 3.0)),
        case(LOW, [[0.0, 0.001, 0.002]], 0.001),
        case(LOW, [[0.0, 1e-9, 2e-9]], 1e-9),
        case(LOW, [[0.0, 0.01, 0.02]], 0.01),
        Case(LOW, (normal(3, 5, seed=7) * 0.1, 0.01)),
        case(HIGH, [[0, 100, 300]], 100.0),
        case(HIGH, [[10000, 9000], [0, 1000]], 1000.0, extreme=True),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3, 0.5)),
        small_weights(2.0, times=2),
        huge([10000, 9999], 0.5),
        huge([-10000, -9999], 0.5),
        huge([10000, 9990], 10.0),
        huge([-10000, -9990], 10.0),
        huge([2000, 1999], 0.9),
        huge([-2000, -1999], 0.9),
        *extreme_rows(lambda aspect, row, extreme: huge([score / 2 for score in row], 0.5)),
        case(FLOAT32, [[0, 2, 6], [2, 4, 8]], 2.0, f4),
        Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4), 0.5)),
        case(FLOAT32, [[40, 50, 49.5], [50.5, 0.5, 50]], 0.5, f4, True),
        case(FLOAT16, [[0, 2, 6], [2, 4, 1]], 2.0, f2),
        case(FLOAT16, [[10, 10.5, 9.5], [0, 1, 2]], 0.5, f2, True),
    ]


EXERCISE = written(
    temperature_softmax, place=4, axes=dict(scores="n_q n_k"), answer_axes="n_q n_k", cases=_cases
)
