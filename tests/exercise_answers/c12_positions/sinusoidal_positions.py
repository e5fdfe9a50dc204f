"""Answers to sinusoidal_positions, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("sinusoidal_positions")


@answers.right()
def positions_by_columns(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    table = np.empty((n, d))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table


@answers.right()
def positions_by_loops(n, d):
    table = np.zeros((n, d))
    for p in range(n):
        for i in range(d // 2):
            angle = p / 10000 ** (2 * i / d)
            table[p, 2 * i], table[p, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


@answers.right()
def positions_by_logarithms(n, d):
    rates = np.exp(-math.log(10000.0) * np.arange(0, d, 2) / d)
    angles = np.outer(np.arange(n), rates)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@answers.right()
def positions_by_a_phase(n, d):
    column = np.arange(d)
    return np.sin(np.arange(n)[:, None] / 10000 ** (column // 2 * 2 / d) + column % 2 * np.pi / 2)


@answers.right()
def positions_by_complex_numbers(n, d):
    waves = np.exp(1j * np.arange(n)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d))
    return np.dstack([waves.imag, waves.real]).reshape(n, d)


@answers.right()
def positions_by_turning(n, d):
    """Each row is the one before it, turned by the frequencies."""
    step, waves = np.exp(1j * 10000.0 ** (-np.arange(0, d, 2) / d)), [np.ones(d // 2, complex)]
    for _ in range(n - 1):
        waves.append(waves[-1] * step)
    return np.stack([np.imag(waves), np.real(waves)], axis=-1).reshape(n, d)


def table(angles):
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(angles), -1)


def angles(n, exponents, base=10000, first=0):
    return np.arange(first, n + first)[:, None] / base**exponents


answers.wrong(
    "exponents half as large", function=lambda n, d: table(angles(n, np.arange(d // 2) / d))
)
answers.wrong(
    "exponents twice as large", function=lambda n, d: table(angles(n, 2 * np.arange(0, d, 2) / d))
)
answers.wrong(
    "last exponent 1",
    function=lambda n, d: table(angles(n, np.arange(d // 2) / max(d // 2 - 1, 1))),
)
answers.wrong("all pairs alike", function=lambda n, d: table(angles(n, np.arange(0, d, 2) // d)))
answers.wrong(
    "frequencies that grow",
    function=lambda n, d: table(np.arange(n)[:, None] * 10000 ** (np.arange(0, d, 2) / d)),
)
answers.wrong(
    "another base", function=lambda n, d: table(angles(n, np.arange(0, d, 2) / d, base=1000))
)
answers.wrong(
    "another base", function=lambda n, d: table(angles(n, np.arange(0, d, 2) / d, base=1234))
)
answers.wrong(
    "positions from 1", function=lambda n, d: table(angles(n, np.arange(0, d, 2) / d, first=1))
)
answers.wrong(
    "whole turns instead of radians",
    function=lambda n, d: table(2 * np.pi * angles(n, np.arange(0, d, 2) / d)),
)
answers.wrong(
    "a frequency for each column",
    function=lambda n, d: np.where(
        np.arange(d) % 2, np.cos(angles(n, np.arange(d) / d)), np.sin(angles(n, np.arange(d) / d))
    ),
)
answers.wrong(
    "sine and cosine swapped",
    function=lambda n, d: np.stack(
        [np.cos(angles(n, np.arange(0, d, 2) / d)), np.sin(angles(n, np.arange(0, d, 2) / d))],
        axis=-1,
    ).reshape(n, d),
)
answers.wrong(
    "sines throughout", function=lambda n, d: np.sin(angles(n, np.arange(d) // 2 * 2 / d))
)
answers.wrong("transposed", function=lambda n, d: table(angles(n, np.arange(0, d, 2) / d)).T)
answers.wrong(
    "exponents half as large",
    "positions from 1",
    function=lambda n, d: table(angles(n, np.arange(d // 2) / d, first=1)),
)


@answers.wrong("a frequency for each column")
def positions_with_doubled_indices(n, d):
    made = np.zeros((n, d))
    for p in range(n):
        for i in range(0, d, 2):
            made[p, i] = math.sin(p / 10000 ** (2 * i / d))
            made[p, i + 1] = math.cos(p / 10000 ** (2 * (i + 1) / d))
    return made


@answers.wrong("sines first, then cosines")
def positions_in_halves(n, d):
    made = angles(n, np.arange(0, d, 2) / d)
    return np.concatenate([np.sin(made), np.cos(made)], axis=-1)


def by_power_and_logarithm(power, log):
    return lambda n, d: table(np.outer(np.arange(n), power(-log(10000) * np.arange(0, d, 2) / d)))


answers.wrong("power and logarithm of two bases", function=by_power_and_logarithm(np.exp, np.log10))
answers.wrong("power and logarithm of two bases", function=by_power_and_logarithm(np.exp, np.log2))
answers.wrong("power and logarithm of two bases", function=by_power_and_logarithm(np.exp2, np.log))
answers.wrong(
    "speeds of the binary counter",
    function=lambda n, d: table(np.outer(np.arange(n), 0.5 ** np.arange(d // 2))),
)


@answers.wrong("last exponent 1")
def sinusoidal_divided_by_one_less(n, d):
    pairs = np.arange(d // 2)
    angles = np.arange(n)[:, None] * 10000 ** (-pairs / np.float64(d / 2 - 1))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@answers.wrong("last pair left at 0")
def sinusoidal_loop_too_short(n, d):
    out = np.zeros((n, d))
    p = np.arange(n)
    for i in range(0, d - 2, 2):
        out[:, i] = np.sin(p / 10000 ** (i / d))
        out[:, i + 1] = np.cos(p / 10000 ** (i / d))
    return out


def table_of(angles):
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(angles), -1)


@answers.wrong("angles in float32")
def sinusoidal_in_float32(n, d):
    p = np.arange(n, dtype=np.float32)[:, None]
    omega = np.float32(10000) ** (-np.arange(0, d, 2, dtype=np.float32) / np.float32(d))
    return table_of(p * omega).astype(np.float64)


@answers.wrong("sines cut to whole numbers")
def sinusoidal_in_an_array_of_integers(n, d):
    out = np.zeros((n, d), dtype=int)
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    out[:, 0::2] = np.sin(angles)
    out[:, 1::2] = np.cos(angles)
    return out.astype(float)


@answers.wrong("exponent without brackets")
def sinusoidal_without_brackets(n, d):
    return table_of(np.arange(n)[:, None] / 10000**2 * np.arange(d // 2) / d)


@answers.wrong("exponents of the odd columns")
def sinusoidal_from_odd_columns(n, d):
    return table_of(np.arange(n)[:, None] / 10000 ** (np.arange(1, d, 2) / d))


@answers.wrong("n instead of d in the exponent")
def sinusoidal_with_n(n, d):
    return table_of(np.arange(n)[:, None] * 10000 ** -(np.arange(0, d, 2) / n))
