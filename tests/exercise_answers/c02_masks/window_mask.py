"""Answers to window_mask, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("window_mask")


@answers.right()
def window_by_two_comparisons(n_q, n_k, left, right):
    i, j = np.arange(n_q)[:, None], np.arange(n_k)
    mask = np.ones((n_q, n_k), dtype=bool)
    if left is not None:
        mask &= j >= i - left
    if right is not None:
        mask &= j <= i + right
    return mask


@answers.right()
def window_by_loops(n_q, n_k, left, right):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        for j in range(n_k):
            mask[i, j] = (left is None or j >= i - left) and (right is None or j <= i + right)
    return mask


@answers.right()
def window_by_triangles(n_q, n_k, left, right):
    upper = np.tri(n_q, n_k, right, dtype=bool) if right is not None else np.ones((n_q, n_k), bool)
    lower = (
        ~np.tri(n_q, n_k, -left - 1, dtype=bool) if left is not None else np.ones((n_q, n_k), bool)
    )
    return upper & lower


@answers.right()
def window_by_infinity(n_q, n_k, left, right):
    distance = np.arange(n_k) - np.arange(n_q)[:, None]
    left, right = (np.inf if side is None else side for side in (left, right))
    return (-left <= distance) & (distance <= right)


def window(n_q, n_k, left, right, first=0, last=0, join=np.logical_and):
    i, j = np.arange(n_q)[:, None], np.arange(n_k)[None, :]
    begins = j >= i - left - first if left is not None else j >= 0 * i
    ends = j <= i + right + last if right is not None else j >= 0 * i
    return join(begins, ends)


answers.wrong(
    "mask inverted", function=lambda n_q, n_k, left, right: ~window(n_q, n_k, left, right)
)
answers.wrong(
    "either side suffices",
    function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right, join=np.logical_or),
)
answers.wrong(
    "left end excluded",
    function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right, first=-1),
)
answers.wrong(
    "right end excluded",
    function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right, last=-1),
)
answers.wrong(
    "one key too many on the left",
    function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right, first=1),
)
answers.wrong(
    "one key too many on the right",
    function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right, last=1),
)
answers.wrong(
    "left and right swapped", function=lambda n_q, n_k, left, right: window(n_q, n_k, right, left)
)
answers.wrong(
    "left on both sides", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, left)
)
answers.wrong(
    "n_q and n_k swapped", function=lambda n_q, n_k, left, right: window(n_k, n_q, left, right)
)
answers.wrong("transposed", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right).T)
answers.wrong(
    "None treated as 0",
    function=lambda n_q, n_k, left, right: window(n_q, n_k, left or 0, right or 0),
)
answers.wrong(
    "only the left side counts", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, None)
)
answers.wrong(
    "causal too",
    function=lambda n_q, n_k, left, right: (
        window(n_q, n_k, left, right) & np.tri(n_q, n_k, dtype=bool)
    ),
)
answers.wrong(
    "mask inverted",
    "left and right swapped",
    function=lambda n_q, n_k, left, right: ~window(n_q, n_k, right, left),
)
answers.wrong(
    "not boolean", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right).astype(int)
)


@answers.wrong("0 treated as no limit")
def window_by_truth(n_q, n_k, left, right):
    return window(n_q, n_k, left or None, right or None)


@answers.wrong()
def window_without_none(n_q, n_k, left, right):
    i, j = np.arange(n_q)[:, None], np.arange(n_k)
    return (j >= i - left) & (j <= i + right)


@answers.wrong("None treated as 0")
def window_causal_unless_told(n_q, n_k, left, right):
    apart = np.arange(n_k) - np.arange(n_q)[:, None]
    mask = apart <= (0 if right is None else right)
    return mask if left is None else mask & (apart >= -left)


@answers.wrong("negative start of a slice")
def window_by_slices(n_q, n_k, left, right):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        mask[i, None if left is None else i - left : None if right is None else i + right + 1] = (
            True
        )
    return mask


@answers.wrong("right end excluded", "0 treated as no limit")
def window_of_truths(n_q, n_k, left, right):
    apart = np.arange(n_k) - np.arange(n_q)[:, None]
    mask = np.ones((n_q, n_k), dtype=bool)
    if left:
        mask &= apart >= -left
    if right:
        mask &= apart < right
    return mask


@answers.wrong("None opens both sides")
def window_of_two_limits(n_q, n_k, left, right):
    if left is None or right is None:
        return np.ones((n_q, n_k), dtype=bool)
    apart = np.arange(n_k) - np.arange(n_q)[:, None]
    return (apart >= -left) & (apart <= right)


def window_with(left_open, right_open):
    """Another number in the place of None on each side."""

    def mask(n_q, n_k, left, right):
        left = left_open(n_q, n_k) if left is None else left
        right = right_open(n_q, n_k) if right is None else right
        i, j = np.arange(n_q)[:, None], np.arange(n_k)
        return (i - left <= j) & (j <= i + right)

    return mask


answers.right(function=window_with(lambda n_q, n_k: n_q, lambda n_q, n_k: n_k))
answers.wrong(
    "None treated as the number of keys",
    function=window_with(lambda n_q, n_k: n_k, lambda n_q, n_k: n_k),
)
answers.wrong(
    "None treated as the number of queries",
    function=window_with(lambda n_q, n_k: n_q, lambda n_q, n_k: n_q),
)
answers.wrong(
    "None treated as a fixed number", function=window_with(lambda n_q, n_k: 10, lambda n_q, n_k: 10)
)
answers.wrong(
    "None treated as a fixed number",
    function=window_with(lambda n_q, n_k: 1000, lambda n_q, n_k: 1000),
)
answers.wrong(
    "None treated as a fixed number",
    function=window_with(lambda n_q, n_k: 512, lambda n_q, n_k: 512),
)


@answers.wrong("brackets missing around a comparison")
def window_without_brackets(n_q, n_k, left, right):
    i = np.arange(n_q)[:, None]
    j = np.arange(n_k)[None, :]
    if left is None:
        left = n_q
    if right is None:
        right = n_k
    return (j >= i - left) & j <= i + right


@answers.wrong("the larger limit on both sides")
def window_of_one_width(n_q, n_k, left, right):
    i = np.arange(n_q)[:, None]
    j = np.arange(n_k)[None, :]
    left = n_q + n_k if left is None else left
    right = n_q + n_k if right is None else right
    return np.abs(i - j) <= max(left, right)


@answers.wrong("None treated as 0", "aligned at the bottom right")
def window_at_the_end_without_none(n_q, n_k, left, right):
    left = left or 0
    right = right or 0
    i = np.arange(n_q)[:, None] + (n_k - n_q)
    j = np.arange(n_k)[None, :]
    return (i - left <= j) & (j <= i + right)


@answers.wrong("half of each limit")
def window_of_that_width(n_q, n_k, left, right):
    distance = np.arange(n_k) - np.arange(n_q)[:, None]
    mask = np.ones((n_q, n_k), bool)
    if left is not None:
        mask &= distance >= -(left // 2)
    if right is not None:
        mask &= distance <= right // 2
    return mask


@answers.wrong("left end excluded", "None treated as 0")
def window_without_none_on_the_right(n_q, n_k, left, right):
    distance = np.arange(n_k) - np.arange(n_q)[:, None]
    mask = distance <= (right or 0)
    if left is not None:
        mask &= distance > -left
    return mask
