"""Answers to softcap_scores, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("softcap_scores")

answers.right(
    lambda scores, cap, attn_mask: np.where(attn_mask, cap * np.tanh(scores / cap), -np.inf)
)


@answers.right()
def capping_in_steps(scores, cap, attn_mask):
    out = scores / cap
    out = np.tanh(out)
    out = out * cap
    out[~np.broadcast_to(attn_mask, out.shape)] = -np.inf
    return out


@answers.right()
def capping_added(s, c, m):
    capped = (c * np.tanh(s.astype(np.float64) / c)).astype(s.dtype)
    return capped + np.where(m, 0.0, -math.inf).astype(s.dtype)


@answers.right()
def capping_one_by_one(scores, cap, attn_mask):
    mask = np.broadcast_to(attn_mask, scores.shape)
    out = np.full_like(scores, -np.inf)
    for index in np.ndindex(scores.shape):
        if mask[index]:
            out[index] = cap * math.tanh(float(scores[index]) / cap)
    return out


@answers.wrong("-cap instead of -inf")
def capping_after_the_mask(scores, cap, attn_mask):
    scores = np.where(attn_mask, scores, -np.inf)
    return cap * np.tanh(scores / cap)


@answers.wrong("-cap instead of -inf")
def capping_after_the_sum(scores, cap, attn_mask):
    masked = scores + np.where(attn_mask, 0, -np.inf).astype(scores.dtype)
    return np.tanh(masked / cap) * cap


@answers.wrong("mask inverted")
def capping_inverted(scores, cap, attn_mask):
    return np.where(attn_mask, -np.inf, cap * np.tanh(scores / cap))


@answers.wrong("clipped instead of bent")
def capping_clipped(scores, cap, attn_mask):
    return np.where(attn_mask, np.clip(scores, -cap, cap), -np.inf)


@answers.wrong("not divided by the cap")
def capping_undivided(scores, cap, attn_mask):
    return np.where(attn_mask, cap * np.tanh(scores), -np.inf)


@answers.wrong("not multiplied by the cap")
def capping_unmultiplied(scores, cap, attn_mask):
    return np.where(attn_mask, np.tanh(scores / cap), -np.inf)


@answers.wrong("mask ignored")
def capping_unmasked(scores, cap, attn_mask):
    return cap * np.tanh(scores / cap)


@answers.wrong("negative number instead of -inf")
def capping_billion(scores, cap, attn_mask):
    return np.where(attn_mask, cap * np.tanh(scores / cap), np.finfo(scores.dtype).min)


@answers.wrong("masked scores set to 0")
def capping_multiplied(scores, cap, attn_mask):
    return cap * np.tanh(scores / cap) * attn_mask


@answers.wrong("sigmoid instead of tanh")
def capping_sigmoid(scores, cap, attn_mask):
    wide = scores.astype(np.float64)
    return np.where(attn_mask, cap / (1 + np.exp(-wide / cap)), -np.inf).astype(scores.dtype)


@answers.wrong("exponentials overflow")
def capping_by_exp(scores, cap, attn_mask):
    up, down = np.exp(scores / cap), np.exp(-scores / cap)
    return np.where(attn_mask, cap * (up - down) / (up + down), -np.inf)


@answers.wrong("cap fixed in the code")
def capping_gemma(scores, cap, attn_mask):
    return np.where(attn_mask, 50.0 * np.tanh(scores / 50.0), -np.inf)


@answers.wrong("only scores beyond the cap bent")
def capping_some(scores, cap, attn_mask):
    capped = np.where(abs(scores) > cap, cap * np.tanh(scores / cap), scores)
    return np.where(attn_mask, capped, -np.inf)


@answers.wrong("softmax already applied")
def capping_to_weights(scores, cap, attn_mask):
    s = np.where(attn_mask, cap * np.tanh(scores / cap), -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@answers.wrong("only for a mask of the scores' shape")
def capping_indexed(scores, cap, attn_mask):
    out = cap * np.tanh(scores / cap)
    out[~attn_mask] = -np.inf
    return out


@answers.wrong("clipped instead of bent", "masked scores set to 0")
def capping_two(scores, cap, attn_mask):
    return np.clip(scores, -cap, cap) * attn_mask


@answers.wrong("-cap instead of -inf")
def capping_with_the_cap_as_fill(scores, cap, attn_mask):
    return np.where(attn_mask, cap * np.tanh(scores / cap), -cap).astype(scores.dtype)


def capping_by(before, after):
    def capping(scores, cap, attn_mask):
        return np.where(attn_mask, np.tanh(scores * cap**before) * cap**after, -np.inf)

    return capping


answers.right(capping_by(-1.0, 1))
answers.wrong("multiplied before and after", function=capping_by(1, 1))
answers.wrong("divided before and after", function=capping_by(-1.0, -1.0))
