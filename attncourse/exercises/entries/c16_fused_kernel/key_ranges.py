from ...families.counts import number_cases
from ...model import Case
from ...pages import written

NONE = 10**9


def key_ranges(first, last, n_k, block_k, left, right):
    before = NONE if left is None else left
    after = NONE if right is None else right
    first_seen = first - before  #: the first key that some query sees (one per row)
    end_seen = last + after + 1  #: the end of what some query sees (one per row)
    first_by_all = last - before  #: the first key that every query sees (one per row)
    end_by_all = first + after + 1  #: the end of what every query sees (one per row)
    start = down(max(0, first_seen), block_k)
    end = min(n_k, end_seen)
    begin = up(max(0, first_by_all), block_k)
    stop = down(min(n_k, end_by_all), block_k)
    whole, edge = (begin, stop) if begin < stop else (start, start)
    return start, whole, edge, end


def down(position, size):
    return position // size * size


def up(position, size):
    return -(-position // size) * size


def from_below(key, size):
    return down(key if abs(key) < NONE // 2 else 0, size)


def n_k_for_no_limit(first, last, n_k, size, left, right):
    left, right = n_k if left is None else left, n_k if right is None else right
    start, end = down(first - left, size), min(n_k, last + right + 1)
    begin, stop = up(last - left, size), down(min(n_k, first + right + 1), size)
    return (start, begin, stop, end) if begin < stop else (start, start, start, end)


def _cases():
    beyond, shorter = "a window that reaches beyond the keys", "a shorter last block"
    none, one = "no whole block", "one query"
    return [
        *number_cases((4, 7, 12, 2, None, 0), (4, 7, 12, 4, None, 0), (0, 3, 8, 2, None, None)),
        *number_cases(
            (32, 47, 100, 16, 20, 0), (64, 127, 512, 32, None, 0), (64, 127, 512, 32, 100, 0)
        ),
        *number_cases(
            (10, 14, 40, 4, 9, 11), (256, 319, 1000, 64, 200, 200), (12, 15, 37, 3, 7, None)
        ),
        *number_cases((20, 23, 64, 4, None, 9), (33, 38, 90, 7, 24, 15), (5, 5, 30, 2, 3, 6)),
        *number_cases(
            (40, 55, 80, 8, 0, None), (9, 17, 60, 5, 13, 21), (300, 331, 400, 16, 77, 50)
        ),
        Case(beyond, (0, 3, 20, 4, 5, 5)),
        Case(beyond, (1, 2, 9, 2, 3, 4)),
        Case(beyond, (28, 31, 32, 4, 3, 6)),
        Case(beyond, (12, 15, 18, 4, 2, 9)),
        Case(beyond, (2, 6, 25, 5, 30, 40)),
        Case(beyond, (10, 13, 8, 2, None, 0)),
        Case(beyond, (21, 23, 9, 4, None, None)),
        Case(shorter, (8, 10, 11, 4, None, 0)),
        Case(shorter, (0, 4, 7, 3, None, None)),
        Case(shorter, (30, 33, 38, 8, 12, None)),
        Case(shorter, (16, 31, 35, 16, None, 2)),
        Case(none, (0, 3, 4, 4, None, 0)),
        Case(none, (6, 9, 40, 8, 1, 1)),
        Case(none, (8, 15, 16, 16, None, 0)),
        Case(none, (37, 41, 64, 8, 3, 2)),
        Case(none, (17, 30, 50, 4, 2, 1)),
        Case(none, (21, 22, 70, 6, 1, 0)),
        Case(one, (5, 5, 8, 2, None, 0)),
        Case(one, (6, 6, 20, 3, 4, 0)),
    ]


EXERCISE = written(
    key_ranges, place=3, dtype="number", outputs=("start", "whole", "edge", "end"), cases=_cases
)
