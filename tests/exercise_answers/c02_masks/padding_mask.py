"""Answers to padding_mask, written as learners write them."""

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("padding_mask")


answers.wrong("ready-made function", function=attnlib.padding_mask)
answers.right(lambda lengths, n_k: np.arange(n_k) < lengths[:, None, None])
answers.right(
    lambda lengths, n_k: (np.arange(n_k)[None, :] < np.asarray(lengths)[:, None])[:, None, :]
)


@answers.right()
def padding_by_loop(lengths, n_k):
    mask = np.zeros((len(lengths), 1, n_k), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, 0, :n] = True
    return mask


@answers.wrong("mask inverted")
def padding_inverted(lengths, n_k):
    return np.arange(n_k) >= lengths[:, None, None]


@answers.wrong("one key too many")
def padding_off_by_one(lengths, n_k):
    return np.arange(n_k) <= lengths[:, None, None]


@answers.wrong("axis dropped")
def padding_two_axes(lengths, n_k):
    return np.arange(n_k) < lengths[:, None]


@answers.wrong("queries padded instead of keys")
def padding_rows(lengths, n_k):
    return (np.arange(n_k) < lengths[:, None])[:, :, None]


@answers.wrong("padding at the front")
def padding_left(lengths, n_k):
    return np.arange(n_k) >= n_k - lengths[:, None, None]


@answers.wrong("n_k ignored")
def padding_longest(lengths, n_k):
    return np.arange(max(lengths)) < lengths[:, None, None]


@answers.wrong("axis kept")
def padding_four_axes(lengths, n_k):
    return np.arange(n_k) < lengths[:, None, None, None]


@answers.wrong("not boolean", "axis dropped")
def padding_list_of_numbers(lengths, n_k):
    return np.array([[1.0] * n + [0.0] * (n_k - n) for n in lengths])


@answers.wrong("mask inverted", "axis dropped")
def padding_inverted_two_axes(lengths, n_k):
    return ~(np.arange(n_k) < lengths[:, None])


for names, function in (
    (
        ["queries padded too"],
        lambda lengths, n: (lambda m: m[:, :, None] & m[:, None, :])(
            np.arange(n) < lengths[:, None]
        ),
    ),
    (["everything allowed"], lambda lengths, n: np.ones((len(lengths), 1, n), bool)),
    (["axis dropped"], lambda lengths, n: np.arange(n) < lengths[:, None]),
):
    function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("a slice at -0")
def padding_cut_from_the_end(lengths, n_k):
    mask = np.ones((len(lengths), 1, n_k), bool)
    for row, length in zip(mask, lengths):
        row[:, -(n_k - length) :] = False
    return mask


@answers.wrong("length 0 treated as no limit")
def padding_or_everything(lengths, n_k):
    mask = np.zeros((len(lengths), 1, n_k), dtype=bool)
    for b in range(len(lengths)):
        mask[b, 0, : int(lengths[b]) or n_k] = True
    return mask


@answers.wrong("one key too few")
def padding_that_ends_at_minus_1(lengths, n_k):
    mask = np.zeros((len(lengths), 1, n_k), dtype=bool)
    for b in range(len(lengths)):
        mask[b, 0, : lengths[b] - 1] = True
    return mask


@answers.wrong("the last keys by a slice from -0")
def padding_by_the_last_keys(lengths, n_k):
    mask = np.zeros((len(lengths), 1, n_k), dtype=bool)
    for b, m in enumerate(lengths):
        mask[b, 0, -m:] = True
    return mask


@answers.wrong()
def padding_by_positions_in_one_byte(lengths, n_k):
    position = np.arange(n_k).astype(np.uint8)
    return position[None, None] < lengths[:, None, None]


@answers.wrong("a slice at -0")
def padding_by_all_but_the_last_keys(lengths, n_k):
    mask = np.zeros((len(lengths), 1, n_k), dtype=bool)
    for b, m in enumerate(lengths):
        mask[b, 0, : -(n_k - m)] = True
    return mask
