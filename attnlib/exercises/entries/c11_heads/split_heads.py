"""The exercise split_heads."""

from dataclasses import replace

import numpy as np

from ...families.choose import pick
from ...families.heads import (HEADS_FIXED, HEAD_MISTAKES, HEAD_STEPS, as_it_is, axes_0213, axes_1_and_2,
    features_divided, one_leading_axis, split_by_reshape, swap_heads)
from ...families.scores import swap
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, alike, normal, ways


def split_heads_answer(do, x, n_heads):
    x = do.axes(x, 2)
    return do.finish_heads(do.move(do.order(do.split(x, n_heads))))


def _by_first_sizes(x, n_heads):
    return x.reshape(x.shape[0], x.shape[1], n_heads, -1)


def _dealt_out_among(count):
    """The features shared out among another number of heads, where that divides them."""
    return lambda x, n_heads: features_divided(x, count(n_heads) if x.shape[-1] % count(n_heads) == 0 else n_heads)


def _head_alone(part, move):
    return {"split": lambda x, n_heads: features_divided(x, n_heads)[..., part, :], "move": move,
            "finish_heads": as_it_is}


SPLIT_MISTAKES = (
    *pick(HEAD_MISTAKES, "heads split by a reshape alone", "features dealt out in turn"),
    replace(*pick(HEAD_MISTAKES, "heads in reverse order"), change={"order": lambda parts: parts[..., ::-1, :]}),
    replace(*pick(HEAD_MISTAKES, "only for one leading axis"), change=(
        *ways("axes", one_leading_axis), *ways("move", axes_0213, axes_1_and_2),
        *({"split": _by_first_sizes, "move": move} for move in (axes_0213, axes_1_and_2)),
        {"split": lambda x, n_heads: x.reshape(-1, x.shape[-2], n_heads, x.shape[-1] // n_heads)})),
    *alike("n_heads says how many heads there are, and each has d_model // n_heads features of its own, a block of "
           "them.",
           "How many heads does your answer hold, and how many numbers each, compared with x?",
           ("heads not split", {"split": lambda x, n_heads: x, "move": as_it_is},
            "The answer is x, with its features on one axis."),
           ("only one head", (*(_head_alone(part, swap_heads) for part in (slice(0, 1), slice(-1, None))),
                              *(_head_alone(part, as_it_is) for part in (0, -1))),
            "The answer holds one head's features."),
           ("n_heads and d_head swapped", (
               {"split": lambda x, n_heads: features_divided(x, x.shape[-1] // n_heads)},
               {"split": lambda x, n_heads: split_by_reshape(x, x.shape[-1] // n_heads), "move": as_it_is}),
            "The answer has d_head heads of n_heads features each."),
           ("all features to each head", {"split": lambda x, n_heads: np.repeat(x[..., None, :], n_heads, axis=-2)},
            "Each head is a copy of the whole input."),
           ("d_model not divided by n_heads",
            {"split": lambda x, n_heads: x.reshape(*x.shape[:-1], n_heads, x.shape[-1])},
            "It works for one head only: d_model features for each head are more than x has.")),
    Mistake("blocks that overlap", change={"split": lambda x, n_heads: np.stack(
                [x[..., i : i + x.shape[-1] // n_heads] for i in range(n_heads)], axis=-2)},
            does="Head i begins at feature i, not at i * d_head, so that the heads share features.",
            why="Each head has d_model // n_heads features of its own, and no feature belongs to two heads.",
            ask="At which feature does head 1 begin if there are 6 features and 2 heads?"),
    *alike("n_heads says how many heads there are, and each has d_model // n_heads features of its own, a block of "
           "them.",
           "Where does n_heads stand in your function?",
           ("number of heads fixed in the code", HEADS_FIXED,
            "The number of heads is the same whatever n_heads is; where it does not divide d_model it stops."),
           ("head's size fixed in the code", ways("split", *(
               lambda x, n_heads, d=d: x.reshape(*x.shape[:-1], -1, d) for d in (2, 4, 8, 3, 16, 1))),
            "Each head has the same number of features whatever n_heads is; where that does not divide d_model the "
            "function stops."),
           ("twice as many heads", ways("split", *map(_dealt_out_among, (
               lambda n: 2 * n, lambda n: n + 1, lambda n: max(n - 1, 1), lambda n: max(n // 2, 1)))),
            "The features are shared out among another number of heads than n_heads."), alone=True),
    *alike("After the split of the last axis the axes are (..., n, n_heads, d_head). The heads go in front of the "
           "positions, behind the batch, and nothing else moves.",
           "What does each axis stand for after your split, and which two have to change places?",
           ("heads left behind the positions", {"move": as_it_is}, "The answer has shape (..., n, n_heads, d_head)."),
           ("wrong axes swapped", ways(
               "move", swap, lambda parts: np.swapaxes(parts, -1, -3), np.transpose,
               lambda parts: swap(swap_heads(parts)), lambda parts: np.moveaxis(parts, -1, -3)),
            "The positions or the features end up on the wrong axis."),
           ("heads in front of the batch", {"finish_heads": lambda heads: np.moveaxis(heads, -3, 0)},
            "The heads' axis is the first of all, before the batch."),
           ("batch and positions run together", ways(
               "split", lambda x, n_heads: x.reshape(-1, n_heads, x.shape[-1] // n_heads)),
            "All positions of all sequences stand on one axis."),
           ("positions split instead of features", {
               "split": lambda x, n_heads: x.reshape(*x.shape[:-2], n_heads, -1, x.shape[-1]), "move": as_it_is},
            "Each head gets some of the positions with all features, where n_heads divides their number."),
           ("x transposed before the split", (
               {"split": lambda x, n_heads: split_by_reshape(swap(x).reshape(x.shape), n_heads), "move": as_it_is},
               {"split": lambda x, n_heads: features_divided(swap(x).reshape(x.shape), n_heads)},
               {"split": lambda x, n_heads: swap(x).reshape(*x.shape[:-2], n_heads, x.shape[-2], -1),
                "move": as_it_is}),
            "The positions and features of x have changed places before the split.")),
)


def split_cases():
    def some(aspect, n_heads, *shape, dtype=np.float64, order="C"):
        return Case(aspect, (np.asarray(normal(*shape, seed=n_heads, dtype=dtype), order=order), n_heads))

    return [
        Case(PLAIN, (np.arange(8.0).reshape(2, 4), 2)), Case(PLAIN, (np.arange(12.0).reshape(2, 6), 3)),
        some(PLAIN, 3, 5, 21), some(PLAIN, 2, 7, 10, order="F"), some(PLAIN, 5, 3, 10), some(PLAIN, 6, 2, 48),
        some("one head", 1, 3, 5), some("as many heads as features", 5, 3, 5),
        some(SQUARE, 2, 2, 4), some(SQUARE, 3, 3, 9), some(SQUARE, 2, 6, 6),
        Case(LEADING, (np.arange(16.0).reshape(2, 2, 4), 2)),
        some(LEADING, 3, 2, 5, 21), some(LEADING, 2, 2, 3, 5, 14), some(LEADING, 7, 3, 2, 5, 21, order="F"),
        some(FLOAT32, 2, 3, 10, dtype=np.float32), some(FLOAT16, 3, 5, 6, dtype=np.float16),
    ]


EXERCISE = Exercise(
    name="split_heads", signature="(x, n_heads)", place=1,
    axes=dict(x="n d_model"), answer_axes="n_heads n d_head",
    text="The features of x, of shape (..., n, d_model), shared out among the heads: shape (..., n_heads, n, d_model "
         "// n_heads). Head i gets the i-th block of features.",
    answer=split_heads_answer, steps=HEAD_STEPS,
    cases=split_cases,
    hints=(
        "Each head sees every position, with d_head = d_model // n_heads of its features.",
        "First split the last axis into two, (n_heads, d_head): a reshape can do that.",
        "Now the axes are (..., n, n_heads, d_head). Every head is to be a matrix of its own, (n, d_head): "
        "which two axes must change places?",
        "x.reshape(*x.shape[:-1], n_heads, -1) splits; np.swapaxes(..., -3, -2) moves the heads.",
    ),
    mistakes=SPLIT_MISTAKES,
)
