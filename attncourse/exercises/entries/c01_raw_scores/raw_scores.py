import math

import numpy as np

from ...families.scores import score_cases, softmax_of, swap  # noqa: F401, for the page
from ...model import Case, normal
from ...pages import written


def raw_scores(query, key):
    q, k = query, key
    k_t = swap(k)
    products = q @ k_t  #: the product of queries and keys
    scores = products / math.sqrt(q.shape[-1])  #: the scores
    return scores


def squared_distances(q, k_t):
    return ((q[..., :, None] - k_t[..., None, :, :]) ** 2).sum(axis=-2)


DISTANCES = (
    lambda q, k_t: np.sqrt(squared_distances(q, k_t)),
    lambda q, k_t: -np.sqrt(squared_distances(q, k_t)),
    squared_distances,
    lambda q, k_t: -squared_distances(q, k_t),
)


def _cases():
    return [
        *score_cases(),
        Case("large entries", (normal(3, 5, seed=15, scale=80), normal(7, 5, seed=16, scale=80))),
    ]


EXERCISE = written(
    raw_scores,
    place=5,
    axes=dict(query="n_q d_k", key="n_k d_k"),
    answer_axes="n_q n_k",
    cases=_cases,
)
