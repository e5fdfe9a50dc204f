"""Answers to mask_scores, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("mask_scores")


answers.wrong("ready-made function", function=attnlib.mask_scores)
answers.right(lambda scores, attn_mask: np.where(attn_mask, scores, -np.inf))
answers.right(lambda s, m: s + np.where(m, 0.0, -np.inf).astype(s.dtype))


@answers.right()
def masking_by_copy(scores, attn_mask):
    out = scores.copy()
    out[~np.broadcast_to(attn_mask, scores.shape)] = -np.inf
    return out


@answers.right()
def masking_by_putmask(scores, attn_mask):
    out = np.array(scores)
    np.copyto(out, -math.inf, where=~attn_mask)
    return out


@answers.wrong("mask inverted")
def masking_inverted(scores, attn_mask):
    return np.where(attn_mask, -np.inf, scores)


@answers.wrong("masked scores set to 0")
def masking_multiplied(scores, attn_mask):
    return scores * attn_mask


@answers.wrong("negative number instead of -inf")
def masking_billion(scores, attn_mask):
    return np.where(attn_mask, scores, -1e9)


@answers.wrong("negative number instead of -inf")
def masking_finfo(scores, attn_mask):
    return np.where(attn_mask, scores, np.finfo(scores.dtype).min)


@answers.wrong("negative number instead of -inf")
def masking_billion_added(scores, attn_mask):
    return scores + (1 - attn_mask.astype(scores.dtype)) * np.array(-1e9).astype(scores.dtype)


@answers.wrong("0 times infinity")
def masking_times_infinity(scores, attn_mask):
    return scores + (1 - attn_mask.astype(scores.dtype)) * -np.inf


@answers.wrong("argument overwritten", "only for a mask of the scores' shape")
def masking_in_place(scores, attn_mask):
    scores[~attn_mask] = -np.inf
    return scores


@answers.wrong("only for a mask of the scores' shape")
def masking_by_index(scores, attn_mask):
    out = scores.copy()
    out[attn_mask == False] = -np.inf  # noqa: E712
    return out


@answers.wrong("masked scores removed")
def masking_removed(scores, attn_mask):
    return scores[attn_mask]


@answers.wrong("a change by 1 instead of -inf")
def masking_added(scores, attn_mask):
    return scores + attn_mask


@answers.wrong("masked scores set to 0", "mask inverted")
def masking_two(scores, attn_mask):
    return scores * (1 - attn_mask.astype(scores.dtype))


@answers.wrong("softmax already applied")
def masking_softmax(scores, attn_mask):
    s = np.where(attn_mask, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


for names, function in (
    (["tiny number instead of -inf"], lambda s, m: np.where(m, s, 1e-9)),
    (["a factor instead of -inf"], lambda s, m: (s * np.where(m, 1, -np.inf)).astype(s.dtype)),
    (
        ["causal mask instead of the given one"],
        lambda s, m: np.where(np.tri(*s.shape[-2:], dtype=bool), s, -np.inf),
    ),
    (
        ["softmax already applied"],
        lambda s, m: (
            lambda p: p / np.where(p.sum(-1, keepdims=True) == 0, 1, p.sum(-1, keepdims=True))
        )(np.where(m, np.exp(s - s.max(-1, keepdims=True)), 0).astype(s.dtype)),
    ),
    (["masked scores removed"], lambda s, m: s[np.broadcast_to(m, s.shape)]),
):
    function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("masked scores lowered by 7")
def masked_by_seven(scores, attn_mask):
    return np.where(attn_mask, scores, scores - scores.dtype.type(7))


answers.wrong(
    "mask transposed",
    function=lambda scores, attn_mask: np.where(
        np.swapaxes(attn_mask, -1, -2) if attn_mask.ndim > 1 else attn_mask, scores, -np.inf
    ).astype(scores.dtype),
)


@answers.wrong("additive mask in a boolean array")
def bias_as_boolean(scores, attn_mask):
    bias = np.zeros_like(attn_mask)
    bias[~attn_mask] = -np.inf
    return scores + bias
