"""Answers to window_mask, written as learners write them."""

import numpy as np

from attnlib.exercises.engine.prove import Answers

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
    lower = ~np.tri(n_q, n_k, -left - 1, dtype=bool) if left is not None else np.ones((n_q, n_k), bool)
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


answers.wrong("mask inverted", function=lambda n_q, n_k, left, right: ~window(n_q, n_k, left, right))
answers.wrong("either side suffices", function=lambda n_q, n_k, left, right: window(
    n_q, n_k, left, right, join=np.logical_or))
answers.wrong("left end excluded", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right, first=-1))
answers.wrong("right end excluded", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right, last=-1))
answers.wrong("one key too many on the left", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right, first=1))
answers.wrong("one key too many on the right", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right, last=1))
answers.wrong("left and right swapped", function=lambda n_q, n_k, left, right: window(n_q, n_k, right, left))
answers.wrong("left on both sides", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, left))
answers.wrong("n_q and n_k swapped", function=lambda n_q, n_k, left, right: window(n_k, n_q, left, right))
answers.wrong("transposed", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right).T)
answers.wrong("None taken as 0", function=lambda n_q, n_k, left, right: window(n_q, n_k, left or 0, right or 0))
answers.wrong("only the left side counts", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, None))
answers.wrong("causal besides", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right) & np.tri(
    n_q, n_k, dtype=bool))
answers.wrong("mask inverted", "left and right swapped", function=lambda n_q, n_k, left, right: ~window(
    n_q, n_k, right, left))
answers.wrong("not boolean", function=lambda n_q, n_k, left, right: window(n_q, n_k, left, right).astype(int))


@answers.wrong("0 taken as no limit")
def window_by_truth(n_q, n_k, left, right):
    return window(n_q, n_k, left or None, right or None)


@answers.wrong()
def window_without_none(n_q, n_k, left, right):
    i, j = np.arange(n_q)[:, None], np.arange(n_k)
    return (j >= i - left) & (j <= i + right)


@answers.wrong("None taken as 0")
def window_causal_unless_told(n_q, n_k, left, right):
    apart = np.arange(n_k) - np.arange(n_q)[:, None]
    mask = apart <= (0 if right is None else right)
    return mask if left is None else mask & (apart >= -left)


@answers.wrong("negative start of a slice")
def window_by_slices(n_q, n_k, left, right):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        mask[i, None if left is None else i - left:None if right is None else i + right + 1] = True
    return mask


@answers.wrong("right end excluded", "0 taken as no limit")
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
