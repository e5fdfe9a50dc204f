"""The exercise rotary."""

import dataclasses

import numpy as np

from ...families.positions import ANGLE_MISTAKES, ANGLE_STEPS, ANOTHER_BASE
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways

FAR, SKIPPED = "far positions", "positions that do not begin at 0"


def rotary_answer(do, x, positions, base):
    frequencies = do.narrow_frequencies(do.frequencies(do.base(base), do.exponents(x.shape[-1])), do.dtype)
    angles = do.narrow(do.angles(do.count(positions), frequencies), positions, frequencies, do.dtype)
    first, second = do.split(x)
    return do.join(*do.turn(first, second, *do.share(angles)))


def _halves(x):
    return np.split(x, 2, axis=-1)


def _neighbours(x):
    return x[..., 0::2], x[..., 1::2]


def _side_by_side(first, second):
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)


NEIGHBOURS = {"split": _neighbours, "join": _side_by_side}


def _one_after_the_other(first, second):
    return np.concatenate([first, second], axis=-1)


def _turned(minus, plus):
    """A turn with these signs: first * cos + minus * second * sin, second * cos + plus * first * sin."""
    return lambda first, second, a, b: (first * np.cos(a) + minus * second * np.sin(a),
                                        second * np.cos(b) + plus * first * np.sin(b))


def _waves(of_first, of_second):
    return lambda first, second, a, b: (first + of_first(a), second + of_second(b))


def _in_place(first, second, a, b):
    first = first * np.cos(a) - second * np.sin(a)
    return first, second * np.cos(b) + first * np.sin(b)


def _in(dtype):
    """Angles of positions and frequencies that are rounded to a dtype first; None is the input's own."""
    def rounded(angles, positions, frequencies, own):
        kind = np.dtype(dtype or own)
        return (positions.astype(kind)[:, None] * frequencies.astype(kind)).astype(np.float64)
    return rounded


def _repeated(angles):
    return np.split(np.repeat(angles, 2, axis=-1), 2, axis=-1)


def _tiled(angles):
    both = np.concatenate([angles, angles], axis=-1)
    return both[..., 0::2], both[..., 1::2]


def _cases():
    def tiny(aspect, x, positions, base, dtype=float):
        return Case(aspect, (np.array(x, dtype), np.array(positions), base))

    def case(aspect, positions, base, *shape, seed=0, dtype=np.float64):
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype), np.array(positions), base))

    return [
        tiny(PLAIN, [[1, 0, 0, 0], [1, 2, 3, 4]], [0, 1], 100.0), tiny(PLAIN, [[1, 2, 3, 4]], [2], 10000.0),
        case(PLAIN, range(5), 10000.0, 5, 6, seed=1), case(PLAIN, range(7), 500.0, 7, 10, seed=2),
        case(PLAIN, range(11), 10000, 11, 26, seed=3), case(SQUARE, range(4), 50.0, 4, 4, seed=4),
        tiny("one pair", [[1, 0], [3, 4]], [1, 2], 10000.0), tiny(SKIPPED, [[1, 2, 3, 4]], [7], 10000.0),
        case(SKIPPED, [3, 4, 9, 9, 1], 10000.0, 5, 6, seed=5), case(SKIPPED, [12, 2, 31, 40, 5, 6, 7], 800.0, 7, 10, seed=6),
        case(LEADING, range(5), 10000.0, 2, 5, 6, seed=7), case(LEADING, [4, 0, 3], 700.0, 2, 3, 3, 10, seed=8),
        case(FLOAT32, range(5), 10000.0, 5, 6, seed=9, dtype=np.float32), tiny(FLOAT32, [[1, 2, 3, 4]], [1], 100.0, np.float32),
        case(FLOAT16, range(7), 10000.0, 7, 10, seed=10, dtype=np.float16), tiny(FLOAT16, [[1, 2, 3, 4]], [1], 100.0, np.float16),
        # Frequencies of 1 and 0.01 are rounded alike by whoever rounds them; past 2048 and 2^24 whole numbers are rounded, too.
        tiny(FAR, [[1, 2, 2, 1]], [2049], 10000.0, np.float16), tiny(FAR, [[1, 2, 2, 1]], [40003], 10000.0, np.float16),
        tiny(FAR, [[1, 2, 2, 1]], [10_000_019], 10000.0, np.float32), tiny(FAR, [[1, 2]], [2 ** 24 + 1], 10000.0, np.float32),
        tiny(FAR, [[1, 2, 2, 1]], [2 ** 24 + 1], 10000.0, np.float16),
        # float64's own 2π is so coarse that whole turns taken off this angle leave an error of 1e-9.
        dataclasses.replace(tiny(FAR, [[1, 2, 2, 1]], [2 ** 24 + 1], 10000.0), relative=1e-7),
    ]


EXERCISE = Exercise(
    name="rotary", signature="(x, positions, base)", place=2,
    axes=dict(x="n d_head", positions="n"), answer_axes="n d_head",
    text="Rotary positions: for i < d/2 the pair of features (i, i + d/2) of x (..., n, d) at position p is turned by the angle "
         "p * base^(-2i/d). The angles are computed in float64, whatever x's width.",
    answer=rotary_answer,
    steps={
        **ANGLE_STEPS,
        "angles": Step(ANGLE_STEPS["angles"], "the angles"),
        "base": lambda base: base,
        "count": lambda positions: positions,
        "narrow_frequencies": lambda frequencies, dtype: frequencies,
        "narrow": lambda angles, positions, frequencies, dtype: angles,
        "split": _halves,
        "share": lambda angles: (angles, angles),
        "turn": _turned(-1, 1),
        "join": _one_after_the_other,
    },
    cases=_cases,
    hints=(
        "One table of angles serves all leading axes: (n, d/2), a row for each position, a column for each pair.",
        "first, second = x[..., :d // 2], x[..., d // 2:] are the two features of all pairs, and the angles line up with both.",
        "cos and sin of the angles are float64; first * cos - second * sin and second * cos + first * sin go one after the other "
        "into np.concatenate, which .astype(x.dtype) rounds at the end.",
    ),
    mistakes=(
        *ANGLE_MISTAKES,
        dataclasses.replace(ANOTHER_BASE, name="base ignored", alone=False,
                            change={"base": lambda base: 10000.0},
                            does="The base is a fixed number, whatever the argument says.",
                            why="The base is an argument: models differ in it.",
                            ask="Where does your function use its third argument?"),
        *alike("Feature i makes a pair with feature i + d/2, and both are written back to their places.",
               "Which feature belongs to feature 0 when d is 6?",
               ("neighbours paired", NEIGHBOURS, "Features 2i and 2i + 1 make the pairs."),
               ("neighbours read, halves written", {"split": _neighbours},
                "Features 2i and 2i + 1 are turned, and their new values are written to i and i + d/2."),
               ("halves read, neighbours written", {"join": _side_by_side},
                "Features i and i + d/2 are turned, and their new values are written to 2i and 2i + 1.")),
        Mistake("turned the other way", change=({"turn": _turned(1, -1)},
                                                {"split": lambda x: _halves(x)[::-1],
                                                 "join": lambda first, second: _one_after_the_other(second, first)}),
                does="All pairs turn the other way, as where the two signs are exchanged, or the two halves.",
                why="A positive angle turns (1, 0) towards (0, 1): its second feature becomes + sin.",
                ask="Where does the pair (1, 0) go at a right angle, by the formula and in your function?"),
        Mistake("angles transposed", change={"angles": lambda positions, frequencies: frequencies[:, None] * positions},
                does="The table of angles has a row for each pair and a column for each position.",
                why="Rows of x are positions, and its columns features: the angles must line up with them, as (n, d/2).",
                ask="Which shape has your table of angles for 3 positions and d = 4?"),
        *alike("Both features of a pair are turned by the same angle; otherwise it is no rotation, and lengths change.",
               "By which angles does your function turn features 0 and d/2?",
               ("angles of neighbours for pairs of halves", {"share": _repeated},
                "The angles are laid out for neighbours, each twice in turn, and the pairs are halves."),
               ("angles of halves for pairs of neighbours", {"share": _tiled, **NEIGHBOURS},
                "The angles are laid out for halves, all of them twice, and the pairs are neighbours."),
               ("a frequency for each feature", tuple(
                   {"exponents": lambda d: np.arange(d) / d, "share": share, **pairs} for share, pairs in (
                       (_halves, {}), (_neighbours, NEIGHBOURS))),
                "The two features of a pair have different frequencies: d exponents are made, not d/2.")),
        *alike("A rotation has two signs: first * cos - second * sin, second * cos + first * sin.",
               "Where does the point (1, 0) go when it is turned by a small positive angle, and where does (0, 1)?",
               ("no minus sign", {"turn": _turned(1, 1)}, "Both products with the sine are added."),
               ("two minus signs", {"turn": _turned(-1, -1)}, "Both products with the sine are subtracted.")),
        Mistake("sine and cosine exchanged", change=ways(  # cos(π/2 - a) is sin a
                    "turn", lambda first, second, a, b: _turned(-1, 1)(first, second, np.pi / 2 - a, np.pi / 2 - b),
                    lambda first, second, a, b: _turned(-1, 1)(first, second, a, np.pi / 2 - b),
                    lambda first, second, a, b: _turned(-1, 1)(first, second, np.pi / 2 - a, b)),
                does="The sine stands where the cosine should and the cosine where the sine should, in one of the two lines or in both.",
                why="A turn by 0 leaves the pair as it is: each feature keeps the cosine, 1, of itself.",
                ask="What does your function make of a row at position 0?"),
        Mistake("waves added instead of a rotation",
                change=tuple({"turn": wave, **pairs} for wave in (_waves(np.sin, np.cos), _waves(np.cos, np.sin))
                             for pairs in ({}, NEIGHBOURS)),
                does="Sines and cosines of the angles are added to the features: nothing is turned.",
                why="Sinusoidal positions are added, to a word's vector. Rotary ones turn a query or a key, and lengths stay.",
                ask="What should become of a row of zeros, and what becomes of it in your function?"),
        Mistake("a wave for each feature", change=tuple({"turn": lambda first, second, a, b, waves=waves: (
                    first * waves[0](a), second * waves[1](b)), **pairs}
                    for waves in ((np.cos, np.sin), (np.sin, np.cos)) for pairs in ({}, NEIGHBOURS)),
                does="One feature of a pair is multiplied with the cosine and the other with the sine: nothing is turned.",
                why="A rotation mixes the two numbers of a pair: each feature needs the cosine for itself and the sine for its partner.",
                ask="What does your function make of the pair (1, 0) at position 0, and of the pair (0, 1)?"),
        Mistake("first already turned", change={"turn": _in_place},
                does="The second feature is computed from the first one's new value.",
                why="Both new values come from the two old ones.",
                ask="Which value of the first feature does your line for the second one use?"),
        Mistake("only the first half turned", change={"turn": lambda first, second, a, b: (_turned(-1, 1)(first, second, a, b)[0], second)},
                does="The second feature of every pair stays as it was.",
                why="A rotation changes both numbers of a pair.",
                ask="Which lengths have a pair before and after?"),
        Mistake("only the cosine", change={"turn": lambda first, second, a, b: (first * np.cos(a), second * np.cos(b))},
                does="Every feature is multiplied with the cosine, and its partner does not come in.",
                why="A rotation mixes the two numbers of a pair: the sine multiplies the other one.",
                ask="What does your function make of the pair (1, 0) at a right angle?"),
        *alike("Row r stands at positions[r], which need not be r: in decoding the first query of a call is far into the text.",
               "Which position has row 0?",
               ("positions ignored", {"count": lambda positions: np.arange(len(positions))},
                "Row r is turned as if it stood at position r."),
               ("positions from 1", {"count": lambda positions: positions + 1}, "Every position is counted one too high."),
               ("positions counted from the first", {"count": lambda positions: positions - positions[0]},
                "The first row's position is taken for 0.")),
        *alike("A position of 2049 is no float16 number, and an angle of 100,000 has hardly three places behind the point in float32. "
               "A wrong angle is a wrong position.",
               "Which dtype do positions, frequencies and angles have, line by line, when x is float16?",
               ("angles in x's width", {"narrow": _in(None)}, "The angles are rounded to x's dtype, at the end or in the making."),
               ("frequencies in x's width", {"narrow_frequencies": lambda f, dtype: f.astype(dtype).astype(float)},
                "The frequencies are rounded to x's dtype."),
               ("angles in float32", {"narrow": _in("float32")}, "Positions, frequencies and angles are rounded to float32."),
               ("frequencies in float32",
                ways("frequencies", lambda b, e: (b ** -e).astype(np.float32), lambda b, e: b ** -e.astype(np.float32),
                     lambda b, e: 1 / b ** e.astype(np.float32)),
                "The frequencies are computed in float32, or rounded to it.")),
        Mistake("exact angles rounded to float32", alone=True,
                change={"narrow": lambda angles, positions, frequencies, own: angles.astype(np.float32)},
                does="The angles are computed in float64 and then rounded to float32.",
                why="An angle of 100,000 has hardly three places behind the point in float32. A wrong angle is a wrong position.",
                ask="Which of your lines gives the angles a dtype, and which dtype do their cosines and sines need?"),
    ),
)
