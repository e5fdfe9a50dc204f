"""Answers to causal_padding_mask, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("causal_padding_mask")


@answers.right()
def joined_by_broadcasting(lengths, n):
    position = np.arange(n)
    return (position <= position[:, None]) & (position < lengths[:, None, None, None])


@answers.right()
def joined_by_loops(lengths, n):
    mask = np.zeros((len(lengths), 1, n, n), dtype=bool)
    for b, length in enumerate(lengths):
        for i in range(n):
            mask[b, 0, i, : min(i + 1, length)] = True
    return mask


@answers.right()
def joined_by_the_smaller_end(lengths, n):
    ends = np.minimum(np.arange(1, n + 1), lengths[:, None])
    return (np.arange(n) < ends[..., None])[:, None]


def joined(lengths, n, length=0, diagonal=0, join=np.logical_and):
    position = np.arange(n)
    real = position < (lengths + length)[:, None, None, None]
    return join(position <= (position + diagonal)[:, None], real)


def whole(mask, lengths, n):
    return np.broadcast_to(mask, (len(lengths), 1, n, n)).copy()


answers.wrong("mask inverted", function=lambda lengths, n: ~joined(lengths, n))
answers.wrong(
    "causal mask forgotten",
    function=lambda lengths, n: whole(joined(lengths, n, diagonal=n), lengths, n),
)
answers.wrong(
    "padding forgotten", function=lambda lengths, n: whole(np.tri(n, dtype=bool), lengths, n)
)
answers.wrong(
    "causal mask forgotten", function=lambda lengths, n: np.arange(n) < lengths[:, None, None, None]
)
answers.wrong("padding forgotten", function=lambda lengths, n: np.tri(n, dtype=bool))
answers.wrong(
    "either condition suffices", function=lambda lengths, n: joined(lengths, n, join=np.logical_or)
)
answers.wrong("one padded key seen", function=lambda lengths, n: joined(lengths, n, length=1))
answers.wrong("last real key hidden", function=lambda lengths, n: joined(lengths, n, length=-1))
answers.wrong("diagonal excluded", function=lambda lengths, n: joined(lengths, n, diagonal=-1))
answers.wrong("one key too many", function=lambda lengths, n: joined(lengths, n, diagonal=1))
answers.wrong("axis dropped", function=lambda lengths, n: joined(lengths, n)[:, 0])
answers.wrong("transposed", function=lambda lengths, n: joined(lengths, n).mT)
answers.wrong(
    "additive mask instead of boolean",
    function=lambda lengths, n: np.where(joined(lengths, n), 0, -np.inf),
)
answers.wrong(
    "causal mask forgotten",
    "one padded key seen",
    function=lambda lengths, n: whole(joined(lengths, n, length=1, diagonal=n), lengths, n),
)


@answers.wrong("padded queries hidden too")
def joined_with_queries(lengths, n):
    position = np.arange(n)
    query_is_real = position[:, None] < lengths[:, None, None, None]
    return joined(lengths, n) & query_is_real


@answers.wrong("padded queries hidden too")
def joined_with_queries_alone(lengths, n):
    position = np.arange(n)
    return np.tri(n, dtype=bool) & (position[:, None] < lengths[:, None, None, None])


answers.wrong(
    "exactly one condition",
    function=lambda lengths, n: (
        np.tri(n, dtype=bool) ^ (np.arange(n) < lengths[:, None])[:, None]
    )[:, None],
)
answers.wrong(
    "heads' axis at the end",
    function=lambda lengths, n: (
        np.tri(n, dtype=bool) & (np.arange(n) < lengths[:, None])[:, None]
    )[..., None],
)


answers.wrong(
    "padding inverted",
    function=lambda lengths, n: (
        np.tri(n, dtype=bool) & (np.arange(n) >= lengths[:, None, None, None])
    ),
)
answers.wrong(
    "causal mask inverted",
    function=lambda lengths, n: (
        ~np.tri(n, dtype=bool) & (np.arange(n) < lengths[:, None, None, None])
    ),
)


@answers.wrong("a slice at -0")
def causal_padding_cut_from_the_end(lengths, n):
    mask = np.broadcast_to(np.tri(n, dtype=bool), (len(lengths), 1, n, n)).copy()
    for row, length in zip(mask, lengths):
        row[..., -(n - length) :] = False
    return mask
