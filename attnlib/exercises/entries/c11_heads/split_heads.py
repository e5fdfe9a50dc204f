"""The exercise split_heads."""

import dataclasses

import numpy as np

from ...families.heads import (HEADS_FIXED, HEADS_REVERSED, HEAD_STEPS, INTERLEAVED, ONE_LEADING_AXIS, SPLIT_BY_RESHAPE,
    as_it_is, axes_0213, axes_1_and_2, features_divided, split_by_reshape, swap_heads)
from ...families.scores import swap
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal


def split_heads_answer(do, x, n_heads):
    x = do.axes(x, 2)
    return do.finish_heads(do.move(do.order(do.split(x, n_heads))))


def _by_first_sizes(x, n_heads):
    return x.reshape(x.shape[0], x.shape[1], n_heads, -1)


def _overlapping(x, n_heads):
    size = x.shape[-1] // n_heads
    return np.stack([x[..., i : i + size] for i in range(n_heads)], axis=-2)


HEAD_SIZE_FIXED = Mistake("head's size fixed in the code", alone=True,
        change=tuple({"split": lambda x, n_heads, d=d: x.reshape(*x.shape[:-1], -1, d)} for d in (2, 4, 8, 3, 16, 1)),
    does="Each head has the same number of features whatever n_heads is; where that does not divide d_model "
         "the function stops.",
    why="n_heads says how many heads there are, and each has d_model // n_heads features.",
    ask="Where does n_heads stand in your function?")

SPLIT_MISTAKES = (
    HEADS_FIXED, HEAD_SIZE_FIXED,
    dataclasses.replace(HEADS_REVERSED, change={"order": lambda parts: parts[..., ::-1, :]}),
    Mistake("heads not split", change={"split": lambda x, n_heads: x, "move": as_it_is},
            does="The answer is x, with its features on one axis.",
            why="Each head gets d_head features of its own: one axis more.",
            ask="How many axes must the answer have?"),
    Mistake("only one head",
            change=(*({"split": lambda x, n_heads, at=at: features_divided(x, n_heads)[..., at, :],
                       "move": swap_heads, "finish_heads": as_it_is} for at in (slice(0, 1), slice(-1, None))),
                    *({"split": lambda x, n_heads, at=at: features_divided(x, n_heads)[..., at, :], "move": as_it_is}
                      for at in (0, -1))),
            does="The answer holds one head's features.",
            why="All heads come back, on an axis of their own.",
            ask="How many heads must the answer hold?"),
    SPLIT_BY_RESHAPE, INTERLEAVED,
    dataclasses.replace(ONE_LEADING_AXIS, change=(
        ONE_LEADING_AXIS.change, {"move": axes_0213}, {"move": axes_1_and_2},
        {"split": _by_first_sizes, "move": axes_0213}, {"split": _by_first_sizes, "move": axes_1_and_2},
        {"split": lambda x, n_heads: x.reshape(-1, x.shape[-2], n_heads, x.shape[-1] // n_heads)})),
    Mistake("heads left behind the positions", change={"move": as_it_is},
            does="The answer has shape (..., n, n_heads, d_head).",
            why="Each head attends by itself: heads are a batch axis and stand in front of the positions.",
            ask="Which two axes have to change places?"),
    Mistake("n_heads and d_head swapped",
            change=({"split": lambda x, n_heads: features_divided(x, x.shape[-1] // n_heads)},
                    {"split": lambda x, n_heads: split_by_reshape(x, x.shape[-1] // n_heads), "move": as_it_is}),
            does="The answer has d_head heads of n_heads features each.",
            why="n_heads says how many heads there are; each has d_model // n_heads features.",
            ask="How long is the last axis of one head?"),
    Mistake("wrong axes swapped",
            change=({"move": swap}, {"move": lambda parts: np.swapaxes(parts, -1, -3)}, {"move": np.transpose},
                    {"move": lambda parts: swap(swap_heads(parts))},
                    {"move": lambda parts: np.moveaxis(parts, -1, -3)}),
            does="The positions or the features end up on the wrong axis.",
            why="After the split the axes are (..., n, n_heads, d_head). The middle one has to go in front "
                "of the positions, and nothing else moves.",
            ask="What does each of the three last axes stand for, before and after?"),
    Mistake("heads in front of the batch",
            change={"finish_heads": lambda heads: np.moveaxis(heads, -3, 0)},
            does="The heads' axis is the first of all, before the batch.",
            why="The batch stays in front: (..., n_heads, n, d_head).",
            ask="Where does the batch axis stand in your answer?"),
    Mistake("batch and positions run together",
            change=({"split": lambda x, n_heads: x.reshape(-1, n_heads, x.shape[-1] // n_heads)},),
            does="All positions of all sequences stand on one axis.",
            why="Each sequence attends to itself only; the leading axes are kept.",
            ask="Which axis does -1 stand for in your reshape?"),
    Mistake("twice as many heads", alone=True,
            change=tuple({"split": lambda x, n_heads, h=h: features_divided(x, h(n_heads) if x.shape[-1] % h(n_heads) == 0
                                                                              else n_heads)}
                         for h in (lambda n: 2 * n, lambda n: n + 1, lambda n: max(n - 1, 1), lambda n: max(n // 2, 1))),
            does="The features are shared out among another number of heads than n_heads.",
            why="n_heads says how many heads there are; each has d_model // n_heads features.",
            ask="How many heads has your answer?"),
    Mistake("x transposed before the split", alone=True,
            change=({"split": lambda x, n_heads: split_by_reshape(swap(x).reshape(x.shape), n_heads), "move": as_it_is},
                    {"split": lambda x, n_heads: features_divided(swap(x).reshape(x.shape), n_heads)},
                    {"split": lambda x, n_heads: swap(x).reshape(*x.shape[:-2], n_heads, x.shape[-2], -1), "move": as_it_is}),
            does="The positions and features of x have changed places before the split.",
            why="Each position keeps its features: the last axis alone is split.",
            ask="Which axis of x do you split?"),
    Mistake("all features to each head",
            change={"split": lambda x, n_heads: np.repeat(x[..., None, :], n_heads, axis=-2)},
            does="Each head is a copy of the whole input.",
            why="The features are shared out: each head gets d_model // n_heads of them.",
            ask="How many numbers should the answer hold, compared with x?"),
    Mistake("blocks that overlap", change={"split": _overlapping},
            does="Head i begins at feature i, so that the heads share features.",
            why="The blocks stand side by side: head i begins at feature i * d_head.",
            ask="At which feature does head 1 begin?"),
    Mistake("d_model not divided by n_heads",
            change={"split": lambda x, n_heads: x.reshape(*x.shape[:-1], n_heads, x.shape[-1])},
            does="It works for one head only: d_model features for each head are more than x has.",
            why="The heads share the features: each has d_model // n_heads.",
            ask="How many numbers does x hold, and how many does your shape ask for?"),
    Mistake("positions split instead of features",
            change={"split": lambda x, n_heads: x.reshape(*x.shape[:-2], n_heads, -1, x.shape[-1]),
                    "move": as_it_is},
            does="Each head gets some of the positions, where n_heads divides their number.",
            why="Every head sees every position, with a part of its features.",
            ask="Which axis is to be split?"),
)


def _split_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, n_heads, *shape, seed=0, dtype=np.float64):
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype), n_heads))

    return [
        Case(PLAIN, (np.arange(8.0).reshape(2, 4), 2)), Case(PLAIN, (np.arange(12.0).reshape(2, 6), 3)),
        case(PLAIN, 3, 5, 21, seed=1), case(PLAIN, 2, 7, 10, seed=2), case(PLAIN, 5, 3, 10, seed=3),
        case(PLAIN, 6, 2, 48, seed=13),
        case("one head", 1, 3, 5, seed=4), case("as many heads as features", 5, 3, 5, seed=5),
        case(SQUARE, 2, 2, 4, seed=6), case(SQUARE, 3, 3, 9, seed=7), case(SQUARE, 2, 6, 6, seed=8),
        Case(LEADING, (np.arange(16.0).reshape(2, 2, 4), 2)),
        case(LEADING, 3, 2, 5, 21, seed=9), case(LEADING, 2, 2, 3, 5, 14, seed=10),
        case(FLOAT32, 2, 3, 10, seed=11, dtype=f4), case(FLOAT16, 3, 5, 6, seed=12, dtype=f2),
    ]


EXERCISE = Exercise(
    name="split_heads", signature="(x, n_heads)", place=1,
    axes=dict(x="n d_model"), answer_axes="n_heads n d_head",
    text="The features of x, of shape (..., n, d_model), shared out among the heads: shape "
         "(..., n_heads, n, d_model // n_heads). Head i gets the i-th block of features.",
    answer=split_heads_answer, steps=HEAD_STEPS,
    cases=_split_cases,
    hints=(
        "Each head sees every position, with d_head = d_model // n_heads of its features.",
        "First split the last axis into two, (n_heads, d_head): a reshape can do that.",
        "Now the axes are (..., n, n_heads, d_head). Every head is to be a matrix of its own, (n, d_head): "
        "which two axes must change places?",
        "x.reshape(*x.shape[:-1], n_heads, -1) splits; np.swapaxes(..., -3, -2) moves the heads.",
    ),
    mistakes=SPLIT_MISTAKES,
)
