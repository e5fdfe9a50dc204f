import numpy as np

from ...families.masks import FEWER_KEYS
from ...model import PLAIN, SQUARE, Case
from ...pages import written

NO_LEFT, NO_RIGHT = "no limit on the left", "no limit on the right"
NO_LIMIT = "no limit at all"


def window_mask(n_q, n_k, left, right):
    rows, columns = n_q, n_k
    query, key = np.arange(rows)[:, None], np.arange(columns)[None, :]
    before, after = left, right
    far_before, far_after = rows + columns, rows + columns  # farther than any key
    first = query - (far_before if before is None else before)
    last = query + (far_after if after is None else after)
    begins = key >= first
    ends = key <= last
    seen = begins & ends
    mask = seen
    return mask


def half(limit):
    return None if limit is None else limit // 2


def _cases():
    of_aspects = {
        PLAIN: ((3, 4, 1, 0), (4, 5, 1, 2), (7, 11, 2, 3), (13, 17, 5, 2), (5, 7, 0, 2)),
        SQUARE: ((3, 3, 1, 1), (7, 7, 2, 1)),
        "one query": ((1, 3, 0, 1),),
        "a window of one key": ((3, 3, 0, 0), (5, 7, 0, 0)),
        FEWER_KEYS: ((3, 2, 1, 0), (11, 5, 2, 3)),
        "a window wider than the keys": ((3, 4, 9, 8),),
        # far beyond each other's number, where n_k, n_q or a fixed number is not no limit
        NO_LEFT: (
            (3, 4, None, 0),
            (7, 11, None, 2),
            (5, 2, None, 0),
            (13, 3, None, 1),
            (1100, 1, None, 0),
        ),
        NO_RIGHT: (
            (3, 4, 0, None),
            (7, 11, 2, None),
            (2, 5, 0, None),
            (3, 13, 1, None),
            (1, 1100, 0, None),
        ),
        NO_LIMIT: ((2, 3, None, None), (13, 3, None, None), (3, 13, None, None)),
    }
    return [Case(aspect, args) for aspect, cases in of_aspects.items() for args in cases]


EXERCISE = written(window_mask, place=3, answer_axes="n_q n_k", dtype="bool", cases=_cases)
