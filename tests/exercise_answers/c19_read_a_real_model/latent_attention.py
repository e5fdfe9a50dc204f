"""Answers to latent_attention, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("latent_attention")


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@answers.right()
def latent_plain(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    query = (x @ w_q) @ w_up_k.swapaxes(-1, -2)
    scores = query @ c.T / w_q.shape[-1] ** 0.5
    scores[:, ~np.tri(len(x), dtype=bool)] = -np.inf
    return softmax(scores) @ c @ w_up_v


@answers.right()
def latent_einsum(x, w_q, w_down, w_up_k, w_up_v):
    c = np.einsum("nm,mr->nr", x, w_down)
    q = np.einsum("nm,hmd->hnd", x, w_q)
    q = np.einsum("hnd,hrd->hnr", q, w_up_k)
    scores = np.einsum("hnr,mr->hnm", q, c) / math.sqrt(w_q.shape[-1])
    scores = np.where(np.tril(np.ones((len(x), len(x)), bool)), scores, -np.inf)
    mixed = np.einsum("hnm,mr->hnr", softmax(scores).astype(x.dtype), c)
    return np.einsum("hnr,hrv->hnv", mixed, w_up_v)


@answers.right()
def latent_head_by_head(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    n = len(x)
    out = np.zeros((len(w_q), n, w_up_v.shape[-1]), x.dtype)
    for i in range(len(w_q)):
        both = w_q[i] @ w_up_k[i].T
        scores = (x @ both) @ c.T / np.sqrt(w_q.shape[-1]).astype(x.dtype)
        scores = np.where(np.arange(n) <= np.arange(n)[:, None], scores, -np.inf)
        weights = softmax(scores).astype(x.dtype)
        out[i] = (weights @ c) @ w_up_v[i]
    return out


@answers.right()
def latent_position_by_position(x, w_q, w_down, w_up_k, w_up_v):
    cache = []
    out = np.zeros((len(w_q), len(x), w_up_v.shape[-1]))
    for t, row in enumerate(x):
        cache.append(row @ w_down)
        c = np.array(cache)
        for i in range(len(w_q)):
            narrow = w_up_k[i] @ (row @ w_q[i])
            weights = softmax(c @ narrow / math.sqrt(w_q.shape[-1]))
            out[i, t] = (weights @ c) @ w_up_v[i]
    return out.astype(x.dtype)


@answers.right()
def latent_by_attnlib(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    q = (x @ w_q) @ np.swapaxes(w_up_k, 1, 2)
    h = len(w_q)
    scale = 1 / math.sqrt(w_q.shape[-1])
    mixed = attnlib.attention(q, np.stack([c] * h), np.stack([c] * h), is_causal=True, scale=scale)
    return mixed @ w_up_v


@answers.wrong("keys of single heads made")
def latent_all_heads_made(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    q, k, v = x @ w_q, c @ w_up_k, c @ w_up_v
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    return (softmax(scores) @ v).astype(x.dtype)


@answers.wrong("keys of single heads made")
def latent_one_head_at_a_time(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    out = []
    for a, b, d in zip(w_q, w_up_k, w_up_v):
        scores = (x @ a) @ (c @ b).T / math.sqrt(a.shape[-1])
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        out.append(softmax(scores) @ c @ d)
    return np.stack(out).astype(x.dtype)


@answers.wrong("values of single heads made")
def latent_values_made(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    q = (x @ w_q) @ w_up_k.swapaxes(-1, -2)
    scores = q @ c.T / math.sqrt(w_q.shape[-1])
    scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    return (softmax(scores) @ np.einsum("nr,hrd->hnd", c, w_up_v)).astype(x.dtype)


@answers.wrong("sqrt(r) instead of sqrt(d_k)")
def latent_scale_of_the_cache(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    q = (x @ w_q) @ w_up_k.swapaxes(-1, -2)
    scores = q @ c.T / math.sqrt(q.shape[-1])
    scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    return (softmax(scores) @ c @ w_up_v).astype(x.dtype)


@answers.wrong("no causal mask")
def latent_unmasked(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    q = (x @ w_q) @ w_up_k.swapaxes(-1, -2)
    return softmax(q @ c.T / math.sqrt(w_q.shape[-1])) @ c @ w_up_v


@answers.wrong("values not projected up")
def latent_left_narrow(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    q = (x @ w_q) @ w_up_k.swapaxes(-1, -2)
    scores = q @ c.T / math.sqrt(w_q.shape[-1])
    scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    return (softmax(scores) @ c).astype(x.dtype)


@answers.wrong("heads side by side")
def latent_merged(x, w_q, w_down, w_up_k, w_up_v):
    out = latent_plain(x, w_q, w_down, w_up_k, w_up_v)
    return out.swapaxes(0, 1).reshape(len(x), -1)


@answers.wrong("no scale")
def latent_unscaled(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    scores = (x @ w_q) @ w_up_k.swapaxes(-1, -2) @ c.T
    scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    return (softmax(scores) @ c @ w_up_v).astype(x.dtype)


@answers.wrong("no maximum subtracted")
def latent_overflowing(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    scores = (x @ w_q) @ w_up_k.swapaxes(-1, -2) @ c.T / math.sqrt(w_q.shape[-1])
    e = np.exp(np.where(np.tri(len(x), dtype=bool), scores, -np.inf))
    return (e / e.sum(-1, keepdims=True) @ c @ w_up_v).astype(x.dtype)


@answers.wrong("first head's values for all")
def latent_one_value_map(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    scores = (x @ w_q) @ w_up_k.swapaxes(-1, -2) @ c.T / math.sqrt(w_q.shape[-1])
    scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    return (softmax(scores) @ c @ w_up_v[0]).astype(x.dtype)


@answers.wrong("diagonal excluded")
def latent_strictly_causal(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    scores = (x @ w_q) @ w_up_k.swapaxes(-1, -2) @ c.T / math.sqrt(w_q.shape[-1])
    scores = np.where(np.tri(len(x), k=-1, dtype=bool), scores, -np.inf)
    return attnlib.softmax(scores) @ c @ w_up_v


@answers.wrong("the future instead of the past")
def mask_turned_round(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    narrow = x @ w_q @ np.swapaxes(w_up_k, -1, -2)
    scores = narrow @ c.T / np.sqrt(w_q.shape[-1])
    scores = np.where(np.tri(len(x), dtype=bool).T, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return (weights @ c @ w_up_v).astype(x.dtype)


def latent_by(hide):
    """An answer right but for what `hide` makes of the scores."""

    def answer(x, w_q, w_down, w_up_k, w_up_v):
        c = x @ w_down
        scores = (x @ w_q) @ w_up_k.swapaxes(-1, -2) @ c.T / math.sqrt(w_q.shape[-1])
        return (softmax(hide(scores)) @ c @ w_up_v).astype(x.dtype)

    return answer


def filled(scores, number):
    return np.where(np.tri(scores.shape[-1], dtype=bool), scores, number)


answers.wrong("negative number instead of -inf", function=latent_by(lambda s: filled(s, -1e4)))
answers.wrong("negative number instead of -inf", function=latent_by(lambda s: filled(s, -1e9)))
answers.wrong("negative number instead of -inf", function=latent_by(lambda s: filled(s, -1e30)))
answers.wrong("negative number added", function=latent_by(lambda s: s + filled(0 * s, -1e4)))
answers.wrong("negative number added", function=latent_by(lambda s: s + filled(0 * s, -1e30)))
answers.right(latent_by(lambda s: filled(s, np.finfo(s.dtype).min)))


@answers.wrong("scores of 0 hidden too")
def latent_by_zeros(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    scores = np.tril((x @ w_q) @ w_up_k.swapaxes(-1, -2) @ c.T / math.sqrt(w_q.shape[-1]))
    scores[scores == 0] = -np.inf
    return (softmax(scores) @ c @ w_up_v).astype(x.dtype)


@answers.wrong("scores of 0 hidden too")
def latent_by_zeros_filled(x, w_q, w_down, w_up_k, w_up_v):
    c = x @ w_down
    scores = np.tril((x @ w_q) @ w_up_k.swapaxes(-1, -2) @ c.T / math.sqrt(w_q.shape[-1]))
    return (softmax(np.where(scores == 0, -1e9, scores)) @ c @ w_up_v).astype(x.dtype)
