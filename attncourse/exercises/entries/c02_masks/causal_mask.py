import numpy as np

from ...families.masks import triangle_cases
from ...pages import written


def causal_mask(n_q, n_k):
    rows, columns = n_q, n_k
    offset = 0
    query, key = np.arange(rows)[:, None] + offset, np.arange(columns)[None, :]
    seen = key <= query
    mask = seen
    return mask


EXERCISE = written(causal_mask, place=1, answer_axes="n_q n_k", dtype="bool", cases=triangle_cases)
