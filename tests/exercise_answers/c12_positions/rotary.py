"""Answers to rotary, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("rotary")


@answers.right()
def rotary_by_halves(x, positions, base):
    half = x.shape[-1] // 2
    angles = positions[:, None] * base ** (-2 * np.arange(half) / x.shape[-1])
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(
        x.dtype
    )


@answers.right()
def rotary_by_rotate_half(x, positions, base):
    d = x.shape[-1]
    angles = np.outer(positions, 1.0 / base ** (np.arange(0, d, 2) / d))
    cos, sin = (np.tile(f(angles), 2) for f in (np.cos, np.sin))
    swapped = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    return (x * cos + swapped * sin).astype(x.dtype)


@answers.right()
def rotary_by_complex_numbers(x, positions, base):
    half = x.shape[-1] // 2
    pairs = x[..., :half] + 1j * x[..., half:].astype(np.float64)
    turned = pairs * np.exp(
        1j * np.multiply.outer(positions, np.power(float(base), -np.arange(half) / half))
    )
    return np.concatenate([turned.real, turned.imag], axis=-1).astype(x.dtype)


@answers.right()
def rotary_by_loops(x, positions, base):
    half, turned = x.shape[-1] // 2, np.empty_like(x)
    for r, p in enumerate(positions):
        for i in range(half):
            angle = float(p) * base ** (-2 * i / x.shape[-1])
            first, second = x[..., r, i].astype(float), x[..., r, i + half].astype(float)
            turned[..., r, i] = first * math.cos(angle) - second * math.sin(angle)
            turned[..., r, i + half] = second * math.cos(angle) + first * math.sin(angle)
    return turned


@answers.right()
def rotary_by_matrices(x, positions, base):
    half = x.shape[-1] // 2
    turns = np.zeros((len(positions), 2 * half, 2 * half))
    i = np.arange(half)
    angles = positions[:, None] * float(base) ** (-i / half)
    turns[:, i, i] = turns[:, i + half, i + half] = np.cos(angles)
    turns[:, i, i + half], turns[:, i + half, i] = -np.sin(angles), np.sin(angles)
    return np.einsum("nab,...nb->...na", turns, x).astype(x.dtype)


def turned(
    x,
    positions,
    base,
    exponents=None,
    signs=(-1, 1),
    wide=float,
    split=lambda x: np.split(x, 2, axis=-1),
    join=lambda parts: np.concatenate(parts, axis=-1),
):
    d = x.shape[-1]
    exponents = np.arange(0, d, 2) / d if exponents is None else exponents
    rates = (base**-exponents).astype(wide)
    angles = np.asarray(positions).astype(wide)[:, None] * rates
    (first, second), cos, sin = split(x), np.cos(angles), np.sin(angles)
    return join(
        [first * cos + signs[0] * second * sin, second * cos + signs[1] * first * sin]
    ).astype(x.dtype)


def neighbours(x):
    return x[..., 0::2], x[..., 1::2]


def side_by_side(parts):
    return np.stack(parts, axis=-1).reshape(*parts[0].shape[:-1], -1)


answers.wrong(
    "neighbours paired",
    function=lambda x, positions, base: turned(
        x, positions, base, split=neighbours, join=side_by_side
    ),
)
answers.wrong(
    "neighbours read, halves written",
    function=lambda x, positions, base: turned(x, positions, base, split=neighbours),
)
answers.wrong(
    "turned the other way",
    function=lambda x, positions, base: turned(x, positions, base, signs=(1, -1)),
)
answers.wrong(
    "no minus sign", function=lambda x, positions, base: turned(x, positions, base, signs=(1, 1))
)
answers.wrong(
    "exponents half as large",
    function=lambda x, positions, base: turned(
        x, positions, base, np.arange(x.shape[-1] // 2) / x.shape[-1]
    ),
)
answers.wrong(
    "exponents twice as large",
    function=lambda x, positions, base: turned(
        x, positions, base, np.arange(0, x.shape[-1], 2) / (x.shape[-1] // 2)
    ),
)
answers.wrong("base ignored", function=lambda x, positions, base: turned(x, positions, 10000.0))
answers.wrong(
    "positions ignored", function=lambda x, positions, base: turned(x, np.arange(x.shape[-2]), base)
)
answers.wrong(
    "positions one too high", function=lambda x, positions, base: turned(x, positions + 1, base)
)
answers.wrong(
    "angles computed in x's width",
    function=lambda x, positions, base: turned(x, positions, base, wide=x.dtype),
)
answers.wrong(
    "angles in float32",
    "computed in lower precision",
    function=lambda x, positions, base: turned(x, positions, base, wide=np.float32),
)
answers.wrong(
    "float64 leaks out",
    function=lambda x, positions, base: turned(x.astype(float), positions, base),
)
answers.wrong(
    "neighbours paired",
    "exponents half as large",
    function=lambda x, positions, base: turned(
        x,
        positions,
        base,
        np.arange(x.shape[-1] // 2) / x.shape[-1],
        split=neighbours,
        join=side_by_side,
    ),
)


@answers.wrong("frequencies in x's width")
def rotary_with_narrow_frequencies(x, positions, base):
    d = x.shape[-1]
    rates = (1.0 / base ** (np.arange(0, d, 2) / d)).astype(x.dtype)
    angles = positions[:, None] * rates.astype(float)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(
        x.dtype
    )


@answers.wrong("frequencies in float32")
def rotary_with_float32_exponents(x, positions, base):
    d = x.shape[-1]
    angles = np.outer(positions, 1 / (base ** (np.arange(0, d, 2, dtype=np.float32) / d)))
    cos, sin = np.cos(np.tile(angles, 2)), np.sin(np.tile(angles, 2))
    swapped = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    return (x * cos + swapped * sin).astype(x.dtype)


@answers.wrong("angles of neighbours for pairs of halves")
def rotary_with_repeated_angles(x, positions, base):
    d = x.shape[-1]
    angles = np.repeat(positions[:, None] * base ** (-np.arange(0, d, 2) / d), 2, axis=-1)
    swapped = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    return (x * np.cos(angles) + swapped * np.sin(angles)).astype(x.dtype)


@answers.wrong("first already turned")
def rotary_in_place(x, positions, base):
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-np.arange(0, d, 2) / d)
    made = x.astype(float)
    made[..., : d // 2] = made[..., : d // 2] * np.cos(angles) - made[..., d // 2 :] * np.sin(
        angles
    )
    made[..., d // 2 :] = made[..., d // 2 :] * np.cos(angles) + made[..., : d // 2] * np.sin(
        angles
    )
    return made.astype(x.dtype)


def turned_by(angles, x):
    first, second = np.split(x, 2, axis=-1)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(
        x.dtype
    )


def wide_angles(x, positions, base):
    return np.outer(positions, float(base) ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))


answers.right(
    lambda x, positions, base: turned_by(np.mod(wide_angles(x, positions, base), 2 * np.pi), x)
)
answers.wrong(
    "exact angles rounded to float32",
    function=lambda x, positions, base: turned_by(
        wide_angles(x, positions, base).astype(np.float32), x
    ),
)
answers.wrong(
    "angles transposed",
    function=lambda x, positions, base: turned_by(wide_angles(x, positions, base).T, x),
)
answers.wrong(
    "angles computed in x's width",
    function=lambda x, positions, base: turned_by(
        wide_angles(x, positions, base).astype(x.dtype), x
    ),
)
answers.wrong(
    "power and logarithm of two bases",
    function=lambda x, positions, base: turned_by(
        np.outer(positions, np.exp(-math.log10(base) * np.arange(0, x.shape[-1], 2) / x.shape[-1])),
        x,
    ),
)
answers.wrong(
    "neighbours paired",
    "turned the other way",
    function=lambda x, positions, base: turned(
        x, positions, base, signs=(1, -1), split=neighbours, join=side_by_side
    ),
)
answers.wrong(
    "neighbours paired",
    "no minus sign",
    function=lambda x, positions, base: turned(
        x, positions, base, signs=(1, 1), split=neighbours, join=side_by_side
    ),
)


def by_waves(function):
    def answer(x, positions, base):
        angles, half = wide_angles(x, positions, base), x.shape[-1] // 2
        return function(x[..., :half], x[..., half:], np.cos(angles), np.sin(angles), x).astype(
            x.dtype
        )

    return answer


answers.wrong(
    "sine and cosine exchanged",
    function=by_waves(
        lambda first, second, cos, sin, x: np.concatenate(
            [first * sin - second * cos, second * sin + first * cos], axis=-1
        )
    ),
)
answers.wrong(
    "sine and cosine exchanged",
    function=by_waves(
        lambda first, second, cos, sin, x: np.concatenate(
            [first * cos - second * sin, second * sin + first * cos], axis=-1
        )
    ),
)
answers.wrong(
    "waves added instead of a rotation",
    function=by_waves(lambda first, second, cos, sin, x: x + np.concatenate([sin, cos], axis=-1)),
)
answers.wrong(
    "waves added instead of a rotation",
    function=by_waves(
        lambda first, second, cos, sin, x: x + np.stack([sin, cos], axis=-1).reshape(x.shape[-2:])
    ),
)
answers.wrong(
    "a wave for each feature",
    function=by_waves(lambda first, second, cos, sin, x: x * np.concatenate([cos, sin], axis=-1)),
)


@answers.wrong("a frequency for each feature")
def rotary_with_d_frequencies(x, positions, base):
    d = x.shape[-1]
    angles = np.outer(positions, base ** (-np.arange(d) / d))
    swapped = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    return (x * np.cos(angles) + swapped * np.sin(angles)).astype(x.dtype)


@answers.wrong("angles computed in x's width")
def rotary_with_positions_like_x(x, positions, base):
    half = x.shape[-1] // 2
    angles = np.outer(positions.astype(x.dtype), base ** (-np.arange(half) / half))
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(
        x.dtype
    )


@answers.wrong("sines and cosines in x's width")
def rotary_with_narrow_tables(x, positions, base):
    half = x.shape[-1] // 2
    angles = positions[:, None] * float(base) ** (-np.arange(half) / half)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


@answers.right()
def rotary_from_float64_tables(x, positions, base):
    half = x.shape[-1] // 2
    angles = positions[:, None] * float(base) ** (-np.arange(half) / half)
    table = np.cos(angles), np.sin(angles)
    first, second = x[..., :half], x[..., half:]
    out = np.empty_like(x)
    out[..., :half] = first * table[0] - second * table[1]
    out[..., half:] = second * table[0] + first * table[1]
    return out


def rotated_at(x, positions, base):
    half = x.shape[-1] // 2
    angles = positions[:, None] * float(base) ** (-np.arange(half) / half)
    first, second = x[..., :half].astype(float), x[..., half:].astype(float)
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
    return turned.astype(x.dtype)


@answers.wrong("positions taken as consecutive")
def rotary_from_the_first_position_on(x, positions, base):
    return rotated_at(x, positions[0] + np.arange(len(positions)), base)


@answers.wrong("positions sorted")
def rotary_in_ascending_order(x, positions, base):
    return rotated_at(x, np.sort(positions), base)
