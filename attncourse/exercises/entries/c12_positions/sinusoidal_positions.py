import numpy as np

from ...model import PLAIN, SQUARE, Case
from ...pages import written

FAR = "many positions"


def sinusoidal_positions(n, d):
    base = 10000.0
    exponents = 2 * np.arange(d // 2) / d
    frequencies = base**-exponents
    positions = np.arange(n)
    angles = positions[:, None] * frequencies  #: the angles
    even, odd = np.sin(angles), np.cos(angles)
    table = side_by_side(even, odd)
    return table


def side_by_side(even, odd):
    return np.stack([even, odd], axis=-1).reshape(len(even), -1)


def own_frequencies(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(d) / d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


def doubled_indices(n, d):
    """Columns j = 0, 2, 4 ...: 2j in the exponents of the sines, 2(j + 1) in the cosines'."""
    j = np.arange(0, d, 2)
    angles = [np.arange(n)[:, None] / 10000 ** (2 * k / d) for k in (j, j + 1)]
    return side_by_side(np.sin(angles[0]), np.cos(angles[1]))


# angles of positions and even numbers up to d, each of them float32
WAYS = (
    lambda p, even, d: p * np.float32(10000) ** (-even / d),
    lambda p, even, d: p / np.float32(10000) ** (even / d),
    lambda p, even, d: p * np.exp(even * np.float32(-np.log(10000.0) / d)),
    lambda p, even, d: p * np.exp(even * np.float32(-np.log(10000.0)) / d),
    lambda p, even, d: p * (10000.0 ** (-np.float64(even) / d)).astype(np.float32),
    lambda p, even, d: (p * 10000.0 ** (-np.float64(even) / d)).astype(np.float32),
)


def in_float32(way, positions, d):
    numbers = positions[:, None], np.arange(0, d, 2), d
    angles = way(*(np.float32(number) for number in numbers))
    return np.float64(np.sin(angles)), np.float64(np.cos(angles))


def _cases():
    sizes = [
        (PLAIN, 3, 4),
        (PLAIN, 2, 6),
        (PLAIN, 5, 6),
        (PLAIN, 7, 10),
        (PLAIN, 11, 22),
        (PLAIN, 5, 2),
        (SQUARE, 4, 4),
        (SQUARE, 6, 6),
        ("one position", 1, 4),
        ("one pair", 4, 2),
        (FAR, 1009, 6),
        (FAR, 257, 64),
    ]
    return [Case(aspect, (n, d)) for aspect, n, d in sizes]


EXERCISE = written(sinusoidal_positions, place=1, answer_axes="n d_model", cases=_cases)
