"""Answers to decode_mask, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("decode_mask")


answers.right(lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q, dtype=bool))
answers.right(lambda n_q, n_k: np.arange(n_k) <= np.arange(n_k - n_q, n_k)[:, None])
answers.right(
    lambda n_q, n_k: (
        np.tri(n_k + n_q, n_k, dtype=bool)[n_k:][:0].reshape(0, n_k)
        if n_q == 0
        else np.array([[j <= i + n_k - n_q for j in range(n_k)] for i in range(n_q)])
    )
)


@answers.right()
def decode_from_causal_by_turning(n_q, n_k):
    return np.tril(np.ones((n_k, n_q), bool))[::-1, ::-1].T


@answers.wrong("aligned at the top left")
def decode_top_left(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), bool))


@answers.wrong("offset never negative")
def decode_clipped(n_q, n_k):
    return np.tri(n_q, n_k, max(0, n_k - n_q), dtype=bool)


@answers.wrong("offset the wrong way")
def decode_wrong_way(n_q, n_k):
    return np.tri(n_q, n_k, n_q - n_k, dtype=bool)


@answers.wrong("diagonal excluded")
def decode_strict(n_q, n_k):
    return np.arange(n_k)[None] < np.arange(n_q)[:, None] + n_k - n_q


@answers.wrong("one key too many")
def decode_off_by_one(n_q, n_k):
    return np.tri(n_q, n_k, n_k - n_q + 1, dtype=bool)


@answers.wrong("mask inverted", "one key too many")
def decode_two(n_q, n_k):
    return np.triu(np.ones((n_q, n_k), bool), k=n_k - n_q + 2)


@answers.wrong("not boolean")
def decode_numbers(n_q, n_k):
    return np.tri(n_q, n_k, n_k - n_q)


for names, function in (
    (["turned upside down"], lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q, dtype=bool)[::-1]),
    (
        ["only the last query moved"],
        lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool) | (np.arange(n_q)[:, None] == n_q - 1),
    ),
):
    function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("negative end of a slice")
def decode_by_slices(n_q, n_k):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        mask[i, : n_k - n_q + i + 1] = True
    return mask


@answers.wrong()  # with one query an axis is missing: it is right for no size
def decode_right_for_no_shape(n_q, n_k):
    return np.ones(n_k, bool) if n_q == 1 else np.ones((n_k + 2, n_q + 3), bool)
