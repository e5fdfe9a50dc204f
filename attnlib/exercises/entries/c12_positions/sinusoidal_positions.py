"""The exercise sinusoidal_positions."""

import dataclasses

import numpy as np

from ...families.positions import ANGLE_MISTAKES, ANGLE_STEPS, ANOTHER_BASE
from ...model import PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike

FAR = "many positions"


def sinusoidal_positions_answer(do, n, d):
    rows, columns = do.sizes(n, d)
    angles = do.angles(do.count(rows), do.frequencies(do.base(), do.exponents(columns)))
    even, odd = do.waves(angles, columns)
    return do.form(do.place(even, odd))


def _neighbours(even, odd):
    return np.stack([even, odd], axis=-1).reshape(len(even), -1)


def _own_frequencies(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(d) / d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


def _doubled_indices(n, d):
    """Columns j from 0, 2, 4 ..., and their double in the exponents of sines; j + 1 doubled in those of cosines."""
    j = np.arange(0, d, 2)
    angles = [np.arange(n)[:, None] / 10000 ** (2 * k / d) for k in (j, j + 1)]
    return _neighbours(np.sin(angles[0]), np.cos(angles[1]))


def _cases():
    sizes = [(PLAIN, 3, 4), (PLAIN, 2, 6), (PLAIN, 5, 6), (PLAIN, 7, 10), (PLAIN, 11, 22), (PLAIN, 5, 2), (SQUARE, 4, 4),
             (SQUARE, 6, 6), ("one position", 1, 4), ("one pair", 4, 2), (FAR, 1009, 6), (FAR, 257, 64)]
    return [Case(aspect, (n, d)) for aspect, n, d in sizes]


EXERCISE = Exercise(
    name="sinusoidal_positions", signature="(n, d)", place=1,
    answer_axes="n d_model",
    text="The sinusoidal positions (n, d) in float64: entry (p, 2i) is sin(p / 10000^(2i/d)), entry (p, 2i + 1) the cosine "
         "of the same.",
    answer=sinusoidal_positions_answer,
    steps={
        **ANGLE_STEPS,
        "angles": Step(ANGLE_STEPS["angles"], "the angles"),
        "sizes": lambda n, d: (n, d),
        "base": lambda: 10000.0,
        "count": lambda n: np.arange(n),
        "waves": lambda angles, d: (np.sin(angles), np.cos(angles)),
        "place": _neighbours,
        "form": lambda table: table,
    },
    cases=_cases,
    hints=(
        "Make a table of angles first, (n, d/2): one row for each position p, one column for each pair i.",
        "np.arange(n)[:, None] counts positions down the rows, np.arange(0, d, 2) is the list of the numbers 2i. Divide "
        "by 10000 to the power of those over d.",
        "Then np.empty((n, d)) has room for both: its columns 0::2 take the sines of the angles, its columns 1::2 the "
        "cosines.",
    ),
    mistakes=(
        *(mistake for mistake in ANGLE_MISTAKES if mistake.name != "frequencies in reverse order"),
        dataclasses.replace(ANOTHER_BASE, ask="Which number is raised to a power in your function, and which should be?"),
        Mistake("speeds of the binary counter", change={"frequencies": lambda base, exponents: 0.5 ** np.arange(len(exponents))},
                does="Each pair turns half as fast as the one before, whatever d is.",
                why="The factor from pair to pair is 10000^(-2/d): with more features the speeds lie closer together.",
                ask="How fast does the last pair turn for d = 64, by the formula and in your function?"),
        *alike("The two numbers of a pair stand side by side: columns 2i and 2i + 1.",
               "Which columns hold the sine and the cosine of the same angle?",
               ("sines first, then cosines", {"place": lambda even, odd: np.concatenate([even, odd], axis=-1)},
                "The first d/2 columns are sines, the last d/2 cosines."),
               ("cosines first, then sines", {"place": lambda even, odd: np.concatenate([odd, even], axis=-1)},
                "The first d/2 columns are cosines, the last d/2 sines.")),
        Mistake("sine and cosine swapped", change={"place": lambda even, odd: _neighbours(odd, even)},
                does="The even columns are cosines, the odd ones sines.",
                why="In each pair the sine stands first, in column 2i, and the cosine behind it, in column 2i + 1.",
                ask="What should the first two entries of position 0 be?"),
        *alike("A pair is a sine and a cosine of one angle; together they are a point on a circle, and this is what can be turned.",
               "What are the entries of position 0, column by column?",
               ("sines throughout", {"waves": lambda angles, d: (np.sin(angles), np.sin(angles))},
                "The odd columns hold sines as well."),
               ("cosines throughout", {"waves": lambda angles, d: (np.cos(angles), np.cos(angles))},
                "The even columns hold cosines as well."),
               ("angles themselves", {"waves": lambda angles, d: (angles, angles)},
                "The entries are the angles, without sine and cosine.")),
        Mistake("a frequency for each column", change=({"answer": _own_frequencies}, {"answer": _doubled_indices}),
                does="Sine and cosine of a pair have different frequencies.",
                why="Only a sine and a cosine of the same angle make a point on a circle, and a shift a rotation of it.",
                ask="Which exponent stands in the cosine next to sin(p / 10000^(2i/d))?"),
        *alike("The positions are 0, 1, 2 and so on.", "Which entries does position 0 have?",
               ("positions from 1", {"count": lambda n: np.arange(1, n + 1)}, "The first row belongs to position 1."),
               ("positions as shares of n", {"count": lambda n: np.arange(n) / n},
                "The positions are divided by n: the same word has another position in a longer text."),
               ("positions from 0 to 1", {"count": lambda n: np.linspace(0, 1, n)},
                "The positions are squeezed between 0 and 1: the same word has another position in a longer text."),
               ("positions backwards", {"count": lambda n: np.arange(n)[::-1]}, "The last row belongs to position 0.")),
        *alike("Rows count positions, columns features.", "Which shape has your table for n = 3 and d = 4?",
               ("transposed", {"form": lambda table: table.T}, "Rows are features and columns positions."),
               ("n and d swapped", {"sizes": lambda n, d: (d, n - n % 2)},
                "The table has d positions of n features.")),
    ),
)
