import math

from ...families.counts import number_cases
from ...pages import written


def projection_std(d_model):
    variance = 1 / d_model
    return math.sqrt(variance)


EXERCISE = written(
    projection_std,
    place=6,
    dtype="number",
    cases=lambda: number_cases(*((n,) for n in (4, 9, 1, 2, 7, 64, 768, 1025))),
)
