from ...families.counts import number_cases
from ...model import Case
from ...pages import written


def ring_source(rank, step, world):
    difference = rank - step  #: the difference (one per row)
    source = difference % world
    return source


def gives_a_float(run):
    outcome = run(2, 1, 4)
    pieces = outcome.answer.pieces if outcome.answer else ()
    floats = pieces and pieces[0].values.dtype.kind == "f"
    return "rank as a floating-point number" if floats else None


def ring_source_cases():
    ranks = 0, 1, 2, 3, 1, 6, 0, 5, 3, 10, 7, 20, 2, 4, 3, 3
    steps = 1, 3, 1, 2, 4, 2, 5, 7, 6, 4, 31, 9, 5, 1, 4, 0
    worlds = 4, 4, 4, 5, 7, 7, 8, 8, 11, 11, 32, 32, 6, 6, 5, 5
    return [
        *number_cases(*zip(ranks, steps, worlds)),
        *(Case("the first step", args) for args in ((2, 0, 4), (0, 0, 3), (7, 0, 8))),
        *(Case("two ranks", args) for args in ((0, 1, 2), (1, 1, 2))),
        Case("one rank", (0, 0, 1)),
    ]


EXERCISE = written(
    ring_source, place=1, cases=ring_source_cases, dtype="number", audits=(gives_a_float,)
)
