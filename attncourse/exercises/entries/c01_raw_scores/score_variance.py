from ...model import PLAIN, Case
from ...pages import written


def score_variance(d_k, std_query, std_key):
    terms = d_k  #: d_k (one per row)
    of_query = std_query**2  #: the query's variance (one per row)
    of_key = std_key**2  #: the key's variance (one per row)
    of_term = of_query * of_key
    variance = terms * of_term
    return variance


def _cases():
    return [
        *(Case(PLAIN, args) for args in ((4, 3.0, 5.0), (1, 2.0, 3.0), (7, 0.5, 3.0))),
        *(Case(PLAIN, args) for args in ((64, 1.5, 0.25), (11, 2.0, 7.0), (300, 0.13, 0.27))),
        Case("standard deviations of 1", (16, 1.0, 1.0)),
        Case("a standard deviation of 0", (5, 0.0, 2.0)),
    ]


EXERCISE = written(
    score_variance,
    place=4,
    answer_axes="",
    dtype="number",
    cases=_cases,
    formula=(
        "Independent variances multiply in a product and add in a sum of terms.",
        "How many terms does a score have, and what is the variance of one?",
    ),
)
