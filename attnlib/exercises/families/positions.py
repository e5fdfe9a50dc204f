"""Mistakes of the frequencies that sinusoidal and rotary positions share: steps "exponents", "frequencies" and "angles"."""

import numpy as np

from ..model import Mistake, alike, each, ways

ANGLE_STEPS = {
    "exponents": lambda d: 2 * np.arange(d // 2) / d,
    "frequencies": lambda base, exponents: base ** -exponents,
    "angles": lambda positions, frequencies: positions[:, None] * frequencies,
}


def _stretched(d):
    return np.arange(d // 2) / max(d // 2 - 1, 1)


ANGLE_MISTAKES = (
    *alike("The exponents are 0, 2/d, 4/d and so on: pair i has 2i/d, and the last one is 2/d below 1.",
           "For d = 6, which three exponents does your function use?",
           ("exponents half as large", {"exponents": lambda d: np.arange(d // 2) / d},
            "The exponent of pair i is i/d: the frequencies fall only half as far on their logarithmic scale."),
           ("exponents twice as large", {"exponents": lambda d: 4 * np.arange(d // 2) / d},
            "The exponent of pair i is 4i/d: the frequencies fall twice as far on their logarithmic scale."),
           ("last exponent 1", {"exponents": _stretched},
            "The exponents run from 0 to 1, both included: pair i has i / (d/2 - 1)."),
           ("exponents that begin at 2/d", {"exponents": lambda d: 2 * np.arange(1, d // 2 + 1) / d},
            "The exponent of pair i is 2(i + 1)/d: no pair turns by one radian a position."),
           ("whole-number division in the exponent",
            {"exponents": lambda d: np.ceil(2 * np.arange(d // 2) / d)},
            "The exponents are rounded to whole numbers: 0 for the first pair, 1 for all others.")),
    *alike("Pair i turns by base^(-2i/d) for each position: the first pair fastest, and the later the more slowly.",
           "How fast does each pair turn in your function, in radians a position?",
           ("frequencies that grow", {"frequencies": lambda base, exponents: base ** exponents},
            "The power is multiplied with the position: later pairs turn faster and faster."),
           ("frequencies in reverse order", {"frequencies": lambda base, exponents: base ** -exponents[::-1]},
            "The first pair turns most slowly, the last one fastest."),
           ("all pairs alike", {"frequencies": lambda base, exponents: np.ones_like(exponents)},
            "Every pair turns by one radian a position.")),
    Mistake("power and logarithm of two bases",
            change=ways("frequencies", *(lambda base, exponents, power=power, log=log: power ** (-log(base) * exponents)
                                         for power, log in ((np.e, np.log10), (np.e, np.log2), (10.0, np.log), (2.0, np.log)))),
            does="The frequencies are made by a power and a logarithm that do not undo each other, such as exp and log10.",
            why="base^(-x) is exp(-x log base) with the natural logarithm: that one exp undoes.",
            ask="What is exp(log10(10000)), and what is exp(log(10000))?"),
    *alike("The angle is position times frequency, in radians.", "Which angle has position 1 in the pair i = 0?",
           ("whole turns instead of radians", {"angles": lambda positions, f: 2 * np.pi * positions[:, None] * f},
            "The angles are multiplied by 2π."),
           ("degrees instead of radians", {"angles": lambda positions, f: np.radians(positions[:, None] * f)},
            "The angles are taken for degrees.")),
)

ANOTHER_BASE = Mistake(
    "another base", alone=True,
    change=tuple({"base": lambda *_, b=b: b} for b in (1e3, 1e5, np.e, 2.0, 5e5)),
    # half or twice the exponent is the base 100 or 10^8
    numbers=each(lambda b: {"base": lambda *_: float(b)}, lambda b: b > 1 and b not in (100, 10000, 10**8)),
    does="The frequencies are powers of another number than the one that is asked for.",
    why="The base sets the longest wavelength. Positions made with another base mean something else.",
    ask="Which number is raised to a power in your function?")
