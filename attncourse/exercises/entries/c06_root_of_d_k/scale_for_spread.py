import math

from ...families.counts import number_cases
from ...pages import written


def scale_for_spread(spread, d_k, std_query, std_key):
    target = spread
    root = math.sqrt(d_k)  #: the root
    product = std_query * std_key  #: the spread of one product
    present = root * product  #: the spread of the dot product
    return target / present


def _cases():
    easy = ((1, 4, 1, 1), (1, 16, 1, 1), (3, 4, 1, 1), (1, 9, 2, 1), (1, 9, 1, 2), (4, 1, 2, 3))
    return number_cases(
        *easy, (2.5, 25, 3, 5), (0.5, 64, 0.2, 0.7), (1.5, 7, 1.1, 0.3), (2, 128, 0.02, 0.05)
    )


EXERCISE = written(scale_for_spread, place=1, dtype="number", cases=_cases)
