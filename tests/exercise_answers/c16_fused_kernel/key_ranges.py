"""Answers to key_ranges, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("key_ranges")


def _four(first, last, n_k, block_k, left, right, some=None, all_of=None):
    """The right answer, with the ends of the two ranges replaced."""
    left, right = n_k + last if left is None else left, n_k if right is None else right
    some_from, some_to = some or (first - left, last + right + 1)
    all_from, all_to = all_of or (last - left, first + right + 1)
    start = max(0, some_from) // block_k * block_k
    whole = -(-max(0, all_from) // block_k) * block_k
    edge = min(n_k, all_to) // block_k * block_k
    if edge <= whole:
        whole = edge = start
    return start, whole, edge, min(n_k, some_to)


@answers.right()
def ranges_by_arithmetic(first, last, n_k, block_k, left, right):
    start = 0 if left is None else max(0, first - left) // block_k * block_k
    end = n_k if right is None else min(n_k, last + right + 1)
    whole = 0 if left is None else -(-max(0, last - left) // block_k) * block_k
    edge = (n_k if right is None else min(n_k, first + right + 1)) // block_k * block_k
    if whole >= edge:
        return start, start, start, end
    return start, whole, edge, end


@answers.right()
def ranges_from_the_mask(first, last, n_k, block_k, left, right):
    query, key = np.arange(first, last + 1)[:, None], np.arange(n_k)
    seen = np.ones((last + 1 - first, n_k), bool)
    if left is not None:
        seen &= key >= query - left
    if right is not None:
        seen &= key <= query + right
    some, every = np.flatnonzero(seen.any(0)), seen.all(0)
    start, end = some[0] // block_k * block_k, some[-1] + 1
    whole = [at for at in range(0, n_k - block_k + 1, block_k) if every[at : at + block_k].all()]
    if not whole:
        return start, start, start, end
    return start, whole[0], whole[-1] + block_k, end


@answers.right()
def ranges_with_infinities(first, last, n_k, block_k, left, right):
    left = math.inf if left is None else left
    right = math.inf if right is None else right
    start = int(max(first - left, 0)) // block_k * block_k
    end = int(min(last + right + 1, n_k))
    whole = math.ceil(max(last - left, 0) / block_k) * block_k
    edge = math.floor(min(first + right + 1, n_k) / block_k) * block_k
    if not whole < edge:
        whole = edge = start
    return [start, whole, edge, end]


@answers.right()
def ranges_by_walking(first, last, n_k, block_k, left, right):
    sees = lambda i, j: (left is None or j >= i - left) and (right is None or j <= i + right)
    queries = range(first, last + 1)
    touched = [j for j in range(n_k) if any(sees(i, j) for i in queries)]
    start = min(touched) - min(touched) % block_k
    full = [
        j
        for j in range(start, n_k, block_k)
        if j + block_k <= n_k and all(sees(i, k) for i in queries for k in range(j, j + block_k))
    ]
    whole, edge = (full[0], full[-1] + block_k) if full else (start, start)
    return start, whole, edge, max(touched) + 1


@answers.wrong("crossed where no block is whole")
def ranges_that_cross(first, last, n_k, block_k, left, right):
    start = 0 if left is None else max(0, first - left) // block_k * block_k
    end = n_k if right is None else min(n_k, last + right + 1)
    whole = 0 if left is None else -(-max(0, last - left) // block_k) * block_k
    edge = (n_k if right is None else min(n_k, first + right + 1)) // block_k * block_k
    return start, whole, edge, end


@answers.wrong("start from the last query")
def ranges_of_the_last(first, last, n_k, block_k, left, right):
    far = n_k + last if left is None else left
    ahead = n_k if right is None else right
    return _four(first, last, n_k, block_k, left, right, some=(last - far, last + ahead + 1))


@answers.wrong("end from the first query")
def ranges_to_the_first(first, last, n_k, block_k, left, right):
    far = n_k + last if left is None else left
    ahead = n_k if right is None else right
    return _four(first, last, n_k, block_k, left, right, some=(first - far, first + ahead + 1))


@answers.wrong("edge from the last query")
def ranges_edge_of_the_last(first, last, n_k, block_k, left, right):
    far = n_k + last if left is None else left
    ahead = n_k if right is None else right
    return _four(first, last, n_k, block_k, left, right, all_of=(last - far, last + ahead + 1))


@answers.wrong("last key left out")
def ranges_without_the_last_key(first, last, n_k, block_k, left, right):
    return _four(first, last, n_k, block_k, left, None if right is None else right - 1)


@answers.wrong("end rounded up")
def ranges_rounded(first, last, n_k, block_k, left, right):
    *three, end = _four(first, last, n_k, block_k, left, right)
    return *three, -(-end // block_k) * block_k


@answers.wrong("start not rounded")
def ranges_from_the_key(first, last, n_k, block_k, left, right):
    start = 0 if left is None else max(0, first - left)
    _, whole, edge, end = _four(first, last, n_k, block_k, left, right)
    return (start, whole, edge, end) if whole < edge else (start, start, start, end)


@answers.wrong("left limit ignored")
def ranges_causal_alone(first, last, n_k, block_k, left, right):
    return _four(first, last, n_k, block_k, None, right)


@answers.wrong("left and right swapped")
def ranges_swapped(first, last, n_k, block_k, left, right):
    return _four(first, last, n_k, block_k, right, left)


@answers.wrong("no right limit treated as 0")
def ranges_or_zero(first, last, n_k, block_k, left, right):
    return _four(first, last, n_k, block_k, left, right or 0)


@answers.wrong("numbers of blocks instead of positions")
def ranges_in_blocks(first, last, n_k, block_k, left, right):
    *three, end = _four(first, last, n_k, block_k, left, right)
    return *(at // block_k for at in three), -(-end // block_k)


@answers.wrong("end beyond the keys")
def ranges_beyond(first, last, n_k, block_k, left, right):
    *three, end = _four(first, last, n_k, block_k, left, right)
    return *three, end if right is None else last + right + 1


@answers.wrong("a limit of 0 treated as none")
def ranges_by_or(first, last, n_k, block_k, left, right):
    return _four(first, last, n_k, block_k, left or None, right or None)


@answers.wrong("everything read treated as whole")
def ranges_without_a_mask(first, last, n_k, block_k, left, right):
    start, _, _, end = _four(first, last, n_k, block_k, left, right)
    return start, start, end, end


@answers.wrong("no masked part on the left")
def ranges_as_if_causal(first, last, n_k, block_k, left, right):
    start, _, edge, end = _four(first, last, n_k, block_k, left, right)
    return start, start, edge, end


@answers.wrong("some and every mixed up")
def ranges_the_other_way_round(first, last, n_k, block_k, left, right):
    return ranges_by_arithmetic(last, first, n_k, block_k, left, right)


@answers.wrong("last key left out")
def ranges_to_the_last_key(first, last, n_k, block_k, left, right):
    start, whole, edge, _ = _four(first, last, n_k, block_k, left, right)
    return start, whole, edge, n_k - 1 if right is None else min(n_k - 1, last + right)


@answers.wrong("last key left out")
def ranges_to_both_last_keys(first, last, n_k, block_k, left, right):
    last_seen = n_k - 1 if right is None else min(n_k - 1, last + right)
    last_by_all = n_k - 1 if right is None else min(n_k - 1, first + right)
    start = 0 if left is None else max(0, first - left) // block_k * block_k
    whole = 0 if left is None else math.ceil(max(0, last - left) / block_k) * block_k
    edge = last_by_all // block_k * block_k
    if whole >= edge:
        whole = edge = start
    return start, whole, edge, last_seen


@answers.wrong("causal whatever the limits")
def ranges_of_the_ladder(first, last, n_k, block_k, left, right):
    return 0, 0, (first + 1) // block_k * block_k, last + 1


@answers.wrong("start below 0")
def ranges_from_below(first, last, n_k, block_k, left, right):
    start = 0 if left is None else (first - left) // block_k * block_k
    whole = 0 if left is None else -((left - last) // block_k) * block_k
    _, _, edge, end = _four(first, last, n_k, block_k, None, right)
    if whole >= edge:
        whole = edge = start
    return start, whole, edge, end


@answers.wrong("start below 0")
def ranges_with_n_k_for_none(first, last, n_k, block_k, left, right):
    left, right = n_k if left is None else left, n_k if right is None else right
    start, whole = (first - left) // block_k * block_k, math.ceil((last - left) / block_k) * block_k
    edge, end = min(n_k, first + right + 1) // block_k * block_k, min(n_k, last + right + 1)
    return (start, whole, edge, end) if whole < edge else (start, start, start, end)


@answers.wrong("last key left out", "edge rounded up")
def ranges_with_both_ends_wrong(first, last, n_k, block_k, left, right):
    start = 0 if left is None else max(0, first - left) // block_k * block_k
    whole = 0 if left is None else math.ceil(max(0, last - left) / block_k) * block_k
    seen_by_all, end = (
        (n_k, n_k) if right is None else (min(n_k, first + right + 1), min(n_k, last + right))
    )
    edge = math.ceil(seen_by_all / block_k) * block_k
    return (start, whole, edge, end) if whole < edge else (start, start, start, end)


@answers.wrong("last query left out", "edge from the last query")
def ranges_of_a_half_open_block(first, last, n_k, block_k, left, right):
    low = 0 if left is None else max(0, first - left)
    end = n_k if right is None else min(n_k, last + right)
    all_low = 0 if left is None else max(0, last - 1 - left)
    all_end = n_k if right is None else min(n_k, last + right + 1)
    start = low // block_k * block_k
    whole = -(-all_low // block_k) * block_k
    edge = all_end // block_k * block_k
    if edge <= whole:
        whole = edge = start
    return start, whole, edge, end


@answers.wrong("edge not rounded")
def ranges_of_an_edge_inside_a_block(first, last, n_k, block_k, left, right):
    start = 0 if left is None else max(0, first - left) // block_k * block_k
    end = n_k if right is None else min(n_k, last + right + 1)
    whole = 0 if left is None else -(-max(0, last - left) // block_k) * block_k
    edge = n_k if right is None else min(n_k, first + right + 1)
    return (start, whole, edge, end) if whole < edge else (start, start, start, end)


@answers.wrong("edge not rounded", "another place where no block is whole")
def ranges_of_an_edge_inside_a_block_after_max(first, last, n_k, block_k, left, right):
    start = 0 if left is None else max(0, first - left) // block_k * block_k
    end = n_k if right is None else min(n_k, last + right + 1)
    whole = 0 if left is None else -(-max(0, last - left) // block_k) * block_k
    edge = n_k if right is None else min(n_k, first + right + 1)
    return start, whole, max(whole, edge), end


@answers.wrong("whole not rounded")
def ranges_of_a_whole_inside_a_block(first, last, n_k, block_k, left, right):
    start = 0 if left is None else max(0, first - left) // block_k * block_k
    end = n_k if right is None else min(n_k, last + right + 1)
    whole = 0 if left is None else max(0, last - left)
    edge = (n_k if right is None else min(n_k, first + right + 1)) // block_k * block_k
    return (start, whole, edge, end) if whole < edge else (start, start, start, end)


@answers.wrong("no limit treated as the number of keys")
def ranges_of_n_k_for_none(first, last, n_k, block_k, left, right):
    left, right = n_k if left is None else left, n_k if right is None else right
    start = max(0, first - left) // block_k * block_k
    end = min(n_k, last + right + 1)
    whole = -(-max(0, last - left) // block_k) * block_k
    edge = min(n_k, first + right + 1) // block_k * block_k
    return (start, whole, edge, end) if whole < edge else (start, start, start, end)
