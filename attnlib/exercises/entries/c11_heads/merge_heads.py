"""The exercise merge_heads."""

import dataclasses

import numpy as np

from ...families.heads import (HEAD_STEPS, INTERLEAVED_MERGE, MERGED_BY_RESHAPE, ONE_LEADING_AXIS, as_it_is, axes_0213,
    axes_1_and_2, merged_by_reshape, swap_heads)
from ...families.scores import swap
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal


def merge_heads_answer(do, heads):
    heads = do.axes(heads, 3)
    return do.finish_merge(do.join(do.bring(do.order(heads))))


MERGE_MISTAKES = (
    MERGED_BY_RESHAPE, INTERLEAVED_MERGE,
    dataclasses.replace(ONE_LEADING_AXIS, change=(
        ONE_LEADING_AXIS.change, {"bring": axes_0213}, {"bring": axes_1_and_2},
        {"bring": axes_1_and_2, "join": lambda parts: parts.reshape(parts.shape[0], parts.shape[1], -1)},
        {"join": lambda parts: parts.reshape(-1, parts.shape[-3], parts.shape[-2] * parts.shape[-1])},
        {"answer": lambda x: np.concatenate([x[:, i] for i in range(x.shape[1])], axis=-1)},
        {"answer": lambda x: swap_heads(x).reshape(x.shape[0], x.shape[-2], -1)},
        {"answer": lambda x: np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[-2], -1)},
        {"answer": lambda x: np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[2], -1)})),
    Mistake("axes counted from the front",
            change=({"bring": lambda heads: np.swapaxes(heads, 1, 2) if heads.ndim > 3 else swap_heads(heads)},),
            does="The function is right with one leading axis and without any, and not with two.",
            why="The heads' axis is the third from the end, -3, whatever stands before it.",
            ask="Which indices name the heads and the positions, however many axes stand before them?"),
    Mistake("one head's features in place of all", alone=True,
            change=tuple({"order": lambda heads, f=f: np.broadcast_to(f(heads), heads.shape)} for f in (
                lambda h: h[..., :1, :, :], lambda h: h[..., -1:, :, :], lambda h: h.sum(axis=-3, keepdims=True),
                lambda h: h.mean(axis=-3, keepdims=True))),
            does="All blocks of features are the same: those of one head, or the sum of all.",
            why="Each head keeps features of its own. They are put behind one another, and nothing is lost.",
            ask="In what do the blocks of your answer differ?"),
    Mistake("only half of the features", alone=True,
            change=({"finish_merge": lambda merged: merged[..., :max(1, merged.shape[-1] // 2)]},
                    {"finish_merge": lambda merged: merged[..., merged.shape[-1] // 2:]}),
            does="The answer holds the first or the second half of the features.",
            why="The features of all heads stand behind one another, n_heads * d_head of them.",
            ask="How long is the last axis of the answer?"),
    Mistake("heads in reverse order", change={"order": lambda heads: heads[..., ::-1, :, :]},
            does="The last head's features come first.",
            why="The features of head 0 come first, as one block, then those of head 1.",
            ask="Which numbers of the answer come from head 0?"),
    Mistake("one head left out",
            change=({"order": lambda heads: heads[..., :-1, :, :]}, {"order": lambda heads: heads[..., 1:, :, :]}),
            does="The first or the last head's features are missing.",
            why="There are n_heads heads, from 0 to n_heads - 1; range(n) ends at n - 1.",
            ask="Which heads does your loop or your slice run over?"),
    Mistake("everything on one axis", change=({"bring": as_it_is, "join": np.ravel}, {"join": np.ravel}),
            does="The answer is one long row of numbers.",
            why="Positions keep an axis of their own, and so do the leading axes: only heads and features are joined.",
            ask="Which axes does -1 stand for in your reshape?"),
    Mistake("heads not joined", change=({"join": as_it_is}, {"bring": as_it_is, "join": as_it_is}),
            does="The heads still have an axis of their own.",
            why="The heads' features stand behind one another in one axis of length n_heads * d_head.",
            ask="How many axes should the answer have?"),
    Mistake("heads added",
            change=({"join": lambda parts: parts.sum(axis=-2)}, {"join": lambda parts: parts.mean(axis=-2)}),
            does="The heads are added or averaged: the answer has d_head features.",
            why="Each head keeps features of its own. They are put behind one another, and nothing is lost.",
            ask="How long is the last axis of the answer?"),
    Mistake("largest of the heads",
            change=({"join": lambda parts: parts.max(axis=-2)}, {"join": lambda parts: parts.prod(axis=-2)}),
            does="Of the heads the largest entry, or the product of all, is taken: the answer has d_head features.",
            why="Each head keeps features of its own. They are put behind one another, and nothing is lost.",
            ask="How long is the last axis of the answer?"),
    Mistake("heads put below each other",
            change=({"bring": as_it_is, "join": lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1])},
                    {"bring": as_it_is, "join": lambda heads: heads.reshape(-1, heads.shape[-1])},
                    {"bring": swap_heads, "join": lambda parts: parts.reshape(*parts.shape[:-3], -1, parts.shape[-1])}),
            does="The heads are joined to the positions: the answer has shape (..., n_heads * n, d_head).",
            why="There are n positions still; it is the features that are put behind one another.",
            ask="Along which axis do you concatenate?"),
    Mistake("wrong axes swapped",
            change=({"bring": swap}, {"bring": lambda heads: np.swapaxes(heads, -1, -3)},
                    {"bring": swap, "join": merged_by_reshape},
                    {"bring": swap, "join": lambda heads: heads.reshape(*heads.shape[:-3], heads.shape[-1], -1)},
                    {"bring": lambda heads: np.swapaxes(heads, -1, -3), "join": merged_by_reshape},
                    {"bring": lambda heads: heads.T, "join": lambda parts: parts.reshape(parts.shape[1], -1)},
                    {"bring": lambda heads: np.swapaxes(swap_heads(heads), -1, -3)}),
            does="The positions or the features end up on the wrong axis.",
            why="The axes are (..., n_heads, n, d_head). The heads go behind the positions, and nothing "
                "else moves.",
            ask="What does each of the three last axes stand for, before and after?"),
    Mistake("batch and positions run together",
            change=({"join": lambda parts: parts.reshape(-1, parts.shape[-2] * parts.shape[-1])},),
            does="All positions of all sequences stand on one axis.",
            why="The leading axes are kept.",
            ask="Which axis does -1 stand for in your reshape?"),
    Mistake("batch among the features",
            change=({"join": lambda parts: np.moveaxis(parts, -3, 0).reshape(parts.shape[-3], -1)},
                    {"join": lambda parts: parts.reshape(parts.shape[-3], -1)}),
            does="One row holds the features of all sequences.",
            why="The leading axes are kept: only the heads and their features are joined.",
            ask="Which axes does -1 stand for in your reshape?"),
    Mistake("only one head",
            change=({"join": lambda parts: parts[..., 0, :]}, {"join": lambda parts: parts[..., -1, :]}),
            does="The answer holds the features of one head.",
            why="All heads' features are put behind one another.",
            ask="How long is the last axis of the answer?"),
    Mistake("answer transposed", change={"finish_merge": swap},
            does="The answer has shape (..., n_heads * d_head, n).",
            why="Rows belong to positions, as in the input.",
            ask="What should one row of the answer belong to?"),
)


def _merge_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, *shape, seed=0, dtype=np.float64):
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype),))

    return [
        Case(PLAIN, (np.arange(8.0).reshape(2, 2, 2),)), Case(PLAIN, (np.arange(12.0).reshape(2, 3, 2),)),
        case(PLAIN, 3, 5, 7, seed=1), case(PLAIN, 5, 2, 3, seed=2), case(PLAIN, 2, 7, 5, seed=3),
        case("one head", 1, 3, 5, seed=4), case("one feature a head", 5, 3, 1, seed=5),
        case(SQUARE, 3, 3, 3, seed=6), case(SQUARE, 2, 4, 2, seed=7), case(SQUARE, 3, 3, 2, seed=8),
        Case(LEADING, (np.arange(16.0).reshape(2, 2, 2, 2),)),
        case(LEADING, 2, 3, 5, 7, seed=9), case(LEADING, 2, 3, 5, 2, 7, seed=10),
        case(FLOAT32, 2, 3, 5, seed=11, dtype=f4), case(FLOAT16, 3, 5, 2, seed=12, dtype=f2),
    ]


EXERCISE = Exercise(
    name="merge_heads", signature="(x)", place=2,
    axes=dict(x="n_heads n d_head"), answer_axes="n d_model",
    text="The heads' features behind one another, the inverse of split_heads: from shape "
         "(..., n_heads, n, d_head) to (..., n, n_heads * d_head).",
    answer=merge_heads_answer, steps=HEAD_STEPS, cases=_merge_cases,
    hints=(
        "Undo split_heads step by step, the last step first.",
        "The heads' axis has to go back behind the positions: (..., n, n_heads, d_head).",
        "Then the last two axes become one of length n_heads * d_head, and a reshape can do that.",
        "np.swapaxes(x, -3, -2) moves the heads; .reshape(*batch, n, n_heads * d_head) joins.",
    ),
    mistakes=MERGE_MISTAKES,
    aspects={LEADING: Mistake(
        "only for three axes",
        does="The function is right for three axes, and not with leading (batch) axes.",
        why="There may be any number of axes in front; count axes from the end.",
        ask="Which of your lines count the axes from the front, or expect exactly three?")},
)
