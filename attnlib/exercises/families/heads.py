"""Features split into heads and merged again: the steps, and what goes wrong in them."""

import math

import numpy as np

from ..model import Mistake, Step
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


def _one_leading_axis(array, few):
    if array.ndim != few + 1:
        raise ValueError("not enough values to unpack")
    return array


def as_it_is(array):
    return array


def split_by_reshape(x, n_heads):
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], x.shape[-1] // n_heads)


def _every_nth(x, n_heads):
    return swap(x.reshape(*x.shape[:-1], x.shape[-1] // n_heads, n_heads))


def merged_by_reshape(heads):
    *batch, h, n, d = heads.shape
    return heads.reshape(*batch, n, h * d)


def axes_0213(array):
    return array.transpose(0, 2, 1, 3)


def axes_1_and_2(array):
    return np.swapaxes(array, 1, 2)


ONE_LEADING_AXIS = Mistake(
    "only for one leading axis", change={"axes": _one_leading_axis},
    does="The function is right with one batch axis; without one, or with two, it stops or answers something else.",
    why="There may be any number of leading axes. Unpacking a shape into a fixed number of names, or "
        "axes counted from the front, fits one number only.",
    ask="How do you get n and d_model from the shape, however many axes stand before them?")

SPLIT_BY_RESHAPE = Mistake(
    "heads split by a reshape alone",
    change=({"split": split_by_reshape, "move": as_it_is},
            {"split": lambda x, n_heads: x.reshape(-1, n_heads, x.shape[-2], x.shape[-1] // n_heads), "move": as_it_is}),
    does="Each head gets some of the positions with all features instead of all positions with some features.",
    why="reshape keeps the order in memory, and there the features of one position stand together. "
        "Split the last axis first, then move the heads' axis in front of the positions.",
    ask="Which axis is to be split, and into which two?")

INTERLEAVED = Mistake(
    "features dealt out in turn", change={"split": _every_nth},
    does="Head i gets the features i, i + n_heads, i + 2 n_heads and so on.",
    why="Head i owns a block of d_head features that follow one another: n_heads comes before d_head "
        "when the last axis is split.",
    ask="Which features belong to head 0?")

HEADS_REVERSED = Mistake(
    "heads in reverse order", change={"finish_heads": lambda heads: heads[..., ::-1, :, :]},
    does="The first head stands last.",
    why="Head i belongs to the i-th block of features, from the first to the last.",
    ask="Which features belong to head 0?")

HEADS_FIXED = Mistake("number of heads fixed in the code", alone=True,
        change=tuple({"split": lambda x, n_heads, h=h: features_divided(x, h)} for h in (2, 8, 4, 12, 3, 16, 1)),
    does="The number of heads is the same whatever n_heads is; where it does not divide d_model the function stops.",
    why="n_heads says how many heads there are, and each has d_model // n_heads features.",
    ask="Where does n_heads stand in your function?")

MERGED_BY_RESHAPE = Mistake(
    "heads merged by a reshape alone",
    change=({"bring": as_it_is, "join": merged_by_reshape}, {"bring": as_it_is},
            *({"bring": as_it_is, "join": join} for join in (
                lambda heads: heads.reshape(-1, heads.shape[-2], heads.shape[-3] * heads.shape[-1]),
                lambda heads: heads.reshape(-1, heads.shape[-3] * heads.shape[-1])))),
    does="Numbers of different positions end up in one row.",
    why="reshape keeps the order in memory, and there all positions of head 0 come first. Move the "
        "heads' axis behind the positions before joining.",
    ask="Which two axes must stand side by side before they can be joined?")

INTERLEAVED_MERGE = Mistake(
    "features dealt out in turn", change={"bring": lambda heads: swap(swap_heads(heads))},
    does="The first features of all heads come first, then their second ones.",
    why="The features of head 0 come first, as one block, then those of head 1.",
    ask="Which numbers of the answer come from head 0?")


def _by_d_model(scores, query, key):
    return scores / math.sqrt(query.shape[-1] * query.shape[-3])


SCALE_BY_HEADS = Mistake(
    "sqrt(n_heads) instead of sqrt(d_k)",
    change={"scale": lambda scores, query, key: scores / math.sqrt(query.shape[-3])},
    does="The scale depends on how many heads there are.",
    why="Within a head a score is a sum of d_k products; how many heads there are does not touch it.",
    ask="Over which index does the sum in q · k run, and how long is it?")

D_MODEL_SCALE = Mistake(
    "d_model instead of the head's size", change={"scale": _by_d_model},
    does="The scores are divided by sqrt(d_model) and not by sqrt(d_head).",
    why="Within a head a score is a sum of d_head = d_model / n_heads products, and the scale makes up "
        "for their number.",
    ask="How long is a query within one head?")

OVER_HEADS = Mistake(
    "softmax over the heads", change={"axis": lambda axis, scores: -3},
    does="The heads compete with each other, and not the keys.",
    why="Each head is an attention of its own: its weights sum to 1 over the keys, the last axis.",
    ask="Along which axis must the weights of one query sum to 1?")
