"""Features split into heads and merged again: the steps, and what goes wrong in them."""

import math

import numpy as np

from ..model import Mistake, Step, alike, ways
from .scores import swap


def swap_heads(array):
    """(..., n, h, d) to (..., h, n, d), and back."""
    return np.swapaxes(array, -3, -2)


def features_divided(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)


def joined(parts):
    return parts.reshape(*parts.shape[:-2], -1)


HEAD_STEPS = {
    "axes": lambda array, few: array,
    "split": features_divided,
    "order": lambda heads: heads,
    "move": swap_heads,
    "finish_heads": Step(lambda heads: heads, "the heads' outputs"),
    "bring": swap_heads,
    "join": joined,
    "finish_merge": lambda merged: merged,
}


def one_leading_axis(array, few):
    if array.ndim != few + 1:
        raise ValueError("not enough values to unpack")
    return array


def as_it_is(array):
    return array


def split_by_reshape(x, n_heads):
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], x.shape[-1] // n_heads)


def merged_by_reshape(heads):
    *batch, h, n, d = heads.shape
    return heads.reshape(*batch, n, h * d)


def axes_0213(array):
    return array.transpose(0, 2, 1, 3)


def axes_1_and_2(array):
    return np.swapaxes(array, 1, 2)


HEADS_FIXED = ways("split", *(lambda x, n_heads, h=h: features_divided(x, h) for h in (2, 8, 4, 12, 3, 16, 1)))

INTERLEAVED_MERGE = Mistake(
    "features dealt out in turn", change={"bring": lambda heads: swap(swap_heads(heads))},
    does="The first features of all heads come first, then their second ones.",
    why="The features of head 0 come first, as one block, then those of head 1.",
    ask="Which numbers of the answer come from head 0?")

HEAD_MISTAKES = (
    Mistake("only for one leading axis", change={"axes": one_leading_axis},
            does="The function is right with one batch axis; without one, or with two, it stops or answers something "
                 "else.",
            why="There may be any number of leading axes. Unpacking a shape into a fixed number of names, or "
                "axes counted from the front, fits one number only.",
            ask="How do you get the sizes from the shape, however many axes stand before them?"),
    *alike("reshape keeps the order of the numbers, row by row. In x the features of one position follow one another, "
           "in "
           "the heads' outputs all positions of head 0: the heads' axis has to be moved as well.",
           "Which axis is to be split or joined, and which two must stand side by side for that?",
           ("heads split by a reshape alone", tuple({"split": split, "move": as_it_is} for split in (
               split_by_reshape,
               lambda x, n_heads: x.reshape(-1, n_heads, x.shape[-2], x.shape[-1] // n_heads))),
            "Each head gets some of the positions with all features instead of all positions with some features."),
           ("heads merged by a reshape alone", (
               {"bring": as_it_is, "join": merged_by_reshape}, {"bring": as_it_is},
               *({"bring": as_it_is, "join": join} for join in (
                   lambda heads: heads.reshape(-1, heads.shape[-2], heads.shape[-3] * heads.shape[-1]),
                   lambda heads: heads.reshape(-1, heads.shape[-3] * heads.shape[-1])))),
            "Numbers of different positions end up in one row.")),
    *alike("Head i owns the i-th block of d_head features that follow one another, from the first to the last.",
           "Which features belong to head 0?",
           ("features dealt out in turn", {"split": lambda x, n_heads: swap(
               x.reshape(*x.shape[:-1], x.shape[-1] // n_heads, n_heads))},
            "Head i gets the features i, i + n_heads, i + 2 n_heads and so on."),
           ("heads in reverse order", {"finish_heads": lambda heads: heads[..., ::-1, :, :]},
            "The first head stands last.")),
    *alike("Within a head a score is a sum of as many products as one head's queries have features, and the scale "
           "makes up for their number alone.",
           "Over which index does the sum in q · k run within one head, and how long is it?",
           ("sqrt(n_heads) instead of sqrt(d_k)", {
               "scale": lambda scores, query, key: scores / math.sqrt(query.shape[-3])},
            "The scale depends on how many heads there are."),
           ("d_model instead of the head's size", {
               "scale": lambda scores, query, key: scores / math.sqrt(query.shape[-1] * query.shape[-3])},
            "The scores are divided by the root of the number of features of all heads, not of one.")),
    Mistake("softmax over the heads", change={"axis": lambda axis, scores: -3},
            does="The heads compete with each other, and not the keys.",
            why="Each head is an attention of its own: its weights sum to 1 over the keys, the last axis.",
            ask="Along which axis must the weights of one query sum to 1?"),
)
