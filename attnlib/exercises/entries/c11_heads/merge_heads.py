"""The exercise merge_heads."""

from dataclasses import replace

import numpy as np

from ...families.choose import pick
from ...families.heads import (HEAD_MISTAKES, HEAD_STEPS, INTERLEAVED_MERGE, as_it_is, axes_0213, axes_1_and_2,
    merged_by_reshape, one_leading_axis, swap_heads)
from ...families.scores import swap
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, alike, normal, ways


def merge_heads_answer(do, heads):
    heads = do.axes(heads, 3)
    return do.finish_merge(do.join(do.bring(do.order(heads))))


def _joined_with(*changes):
    return tuple({"bring": bring, "join": join} for bring, join in changes)


def _below_each_other(parts):
    return parts.reshape(*parts.shape[:-3], -1, parts.shape[-1])


def _first_and_last_swapped(heads):
    return np.swapaxes(heads, -1, -3)


MERGE_MISTAKES = (
    *pick(HEAD_MISTAKES, "heads merged by a reshape alone"), INTERLEAVED_MERGE,
    replace(*pick(HEAD_MISTAKES, "only for one leading axis"), change=(
        *ways("axes", one_leading_axis), *ways("bring", axes_0213, axes_1_and_2),
        {"bring": axes_1_and_2, "join": lambda parts: parts.reshape(parts.shape[0], parts.shape[1], -1)},
        {"join": lambda parts: parts.reshape(-1, parts.shape[-3], parts.shape[-2] * parts.shape[-1])},
        *ways("answer", lambda x: np.concatenate([x[:, i] for i in range(x.shape[1])], axis=-1),
              lambda x: swap_heads(x).reshape(x.shape[0], x.shape[-2], -1),
              *(lambda x, n=n: np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[n], -1) for n in (-2, 2))))),
    Mistake("axes counted from the front",
            change={"bring": lambda heads: np.swapaxes(heads, 1, 2) if heads.ndim > 3 else swap_heads(heads)},
            does="The function is right with one leading axis and without any, and not with two.",
            why="The heads' axis is the third from the end, -3, whatever stands before it.",
            ask="Which indices name the heads and the positions, however many axes stand before them?"),
    *alike("Each head keeps features of its own. They are put behind one another, those of head 0 first, and nothing "
           "is lost.",
           "How long is the last axis of the answer, and which numbers in it come from head 0?",
           ("heads in reverse order", {"order": lambda heads: heads[..., ::-1, :, :]},
            "The last head's features come first."),
           ("one head left out", ways("order", lambda heads: heads[..., :-1, :, :], lambda heads: heads[..., 1:, :, :]),
            "The first or the last head's features are missing."),
           ("only one head", ways("join", lambda parts: parts[..., 0, :], lambda parts: parts[..., -1, :]),
            "The answer holds the features of one head."),
           ("heads added", ways("join", lambda parts: parts.sum(axis=-2), lambda parts: parts.mean(axis=-2)),
            "The heads are added or averaged: the answer has d_head features."),
           ("largest of the heads", ways("join", lambda parts: parts.max(axis=-2), lambda parts: parts.prod(axis=-2)),
            "Of the heads the largest entry, or the product of all, is taken: the answer has d_head features."),
           ("heads not joined", ({"join": as_it_is}, *_joined_with((as_it_is, as_it_is))),
            "The heads still have an axis of their own.")),
    *alike("Each head keeps features of its own. They are put behind one another, those of head 0 first, and nothing "
           "is lost.",
           "In what do the blocks of your answer differ, and how long is its last axis?",
           ("one head's features in place of all", ways("order", *(
               lambda heads, f=f: np.broadcast_to(f(heads), heads.shape) for f in (
                   lambda h: h[..., :1, :, :], lambda h: h[..., -1:, :, :], lambda h: h.sum(axis=-3, keepdims=True),
                   lambda h: h.mean(axis=-3, keepdims=True)))),
            "All blocks of features are the same: those of one head, or the sum of all."),
           ("only half of the features",
            ways("finish_merge", lambda merged: merged[..., :max(1, merged.shape[-1] // 2)],
                                              lambda merged: merged[..., merged.shape[-1] // 2:]),
            "The answer holds the first or the second half of the features."), alone=True),
    *alike("There are n positions still, and the leading axes are kept: only heads and features are joined, where they "
           "stand side by side, as (..., n, n_heads, d_head).",
           "What does each axis stand for before your reshape, and which two does it join?",
           ("everything on one axis", (*_joined_with((as_it_is, np.ravel)), {"join": np.ravel}),
            "The answer is one long row of numbers."),
           ("heads put below each other", _joined_with(
               (as_it_is, _below_each_other), (as_it_is, lambda heads: heads.reshape(-1, heads.shape[-1])),
               (swap_heads, _below_each_other)),
            "The heads are joined to the positions: the answer has n_heads * n rows of d_head features."),
           ("wrong axes swapped", (
               *ways("bring", swap, _first_and_last_swapped, lambda heads: _first_and_last_swapped(swap_heads(heads))),
               *_joined_with((swap, merged_by_reshape), (_first_and_last_swapped, merged_by_reshape),
                             (swap, lambda heads: heads.reshape(*heads.shape[:-3], heads.shape[-1], -1)),
                             (np.transpose, lambda parts: parts.reshape(parts.shape[1], -1)))),
            "The positions or the features end up on the wrong axis."),
           ("batch and positions run together", {
               "join": lambda parts: parts.reshape(-1, parts.shape[-2] * parts.shape[-1])},
            "All positions of all sequences stand on one axis."),
           ("batch among the features", ways(
               "join", lambda parts: np.moveaxis(parts, -3, 0).reshape(parts.shape[-3], -1),
               lambda parts: parts.reshape(parts.shape[-3], -1)),
            "One row holds the features of all sequences."),
           ("answer transposed", {"finish_merge": swap}, "The answer has shape (..., n_heads * d_head, n).")),
)


def merge_cases():
    def some(aspect, *shape, dtype=np.float64, order="C"):
        return Case(aspect, (np.asarray(normal(*shape, seed=1, dtype=dtype), order=order),))

    return [
        Case(PLAIN, (np.arange(8.0).reshape(2, 2, 2),)), Case(PLAIN, (np.arange(12.0).reshape(2, 3, 2),)),
        some(PLAIN, 3, 5, 7), some(PLAIN, 5, 2, 3, order="F"), some(PLAIN, 2, 7, 5), some(PLAIN, 7, 13, 11),
        some("one head", 1, 3, 5), some("one feature a head", 5, 3, 1),
        some(SQUARE, 3, 3, 3), some(SQUARE, 2, 4, 2), some(SQUARE, 3, 3, 2),
        Case(LEADING, (np.arange(16.0).reshape(2, 2, 2, 2),)),
        some(LEADING, 2, 3, 5, 7), some(LEADING, 2, 3, 5, 2, 7), some(LEADING, 3, 2, 5, 7, order="F"),
        some(FLOAT32, 2, 3, 5, dtype=np.float32), some(FLOAT16, 3, 5, 2, dtype=np.float16),
    ]


EXERCISE = Exercise(
    name="merge_heads", signature="(x)", place=2,
    axes=dict(x="n_heads n d_head"), answer_axes="n d_model",
    text="The heads' features behind one another, the inverse of split_heads: from shape (..., n_heads, n, d_head) to "
         "(..., n, n_heads * d_head).",
    answer=merge_heads_answer, steps=HEAD_STEPS, cases=merge_cases,
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
