import numpy as np

from ...families.scores import softmax_of  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, PLAIN, Case, normal
from ...pages import written


def dot_score(query, key):
    products = query * key  #: the products of the features
    total = products.sum()
    score = total  #: the score
    return score


length = np.linalg.norm


def centred(query, key):
    return (query - query.mean()) * (key - key.mean())


def _cases():
    def some(aspect, n, seed, dtype=np.float64, scale=1.0):
        pair = (normal(n, seed=seed + i, dtype=dtype, scale=scale) for i in (0, 1))
        return Case(aspect, tuple(pair))

    return [
        Case(PLAIN, (np.array([1.0, 2.0, 0.0, -3.0]), np.array([2.0, 1.0, 5.0, 4.0]))),
        Case("one feature", (np.array([2.0]), np.array([3.0]))),
        some(PLAIN, 7, 1),
        Case(PLAIN, (normal(5, seed=3), -normal(5, seed=3))),
        some(PLAIN, 61, 13),
        Case(
            "every second entry of an array", (normal(14, seed=5)[::2], normal(7, 2, seed=6)[:, 1])
        ),
        some("large entries", 13, 8, scale=60),
        some(FLOAT32, 2, 4, np.float32),
        some(FLOAT16, 3, 6, np.float16),
    ]


EXERCISE = written(
    dot_score, place=1, axes=dict(query="d_k", key="d_k"), dtype="number", cases=_cases
)
