"""Attention again, in plain Python loops and float64, without using attnlib."""

import math

import numpy as np


def attention(
    query,
    key,
    value,
    attn_mask=None,
    *,
    is_causal=False,
    window=None,
    scale=None,
    softcap=None,
    enable_gqa=False,
):
    """The output and the log-sum-exp, one query at a time."""
    if enable_gqa:
        key, value = repeat_heads(key, query.shape[-3]), repeat_heads(value, query.shape[-3])
    query, key, value, bias = broadcast(query, key, value, attn_mask)
    output, lse = np.zeros((*bias.shape[:-1], value.shape[-1])), np.zeros(bias.shape[:-1])
    for *batch, i in np.ndindex(*bias.shape[:-1]):
        batch = tuple(batch)
        allowed = [
            j
            for j in range(key.shape[-2])
            if bias[*batch, i, j] != -math.inf
            and (j <= i or not is_causal)
            and is_near(i, j, window)
        ]
        scores = [
            one_score(query[*batch, i], key[*batch, j], scale, softcap) + bias[*batch, i, j]
            for j in allowed
        ]
        weights, lse[*batch, i] = softmax_row(scores)
        for weight, j in zip(weights, allowed):
            output[*batch, i] += weight * value[*batch, j]
    return output, lse


def is_near(i, j, window):
    left, right = window or (None, None)
    return (left is None or i - j <= left) and (right is None or j - i <= right)


def one_score(query, key, scale, softcap):
    scale = 1 / math.sqrt(len(query)) if scale is None else float(scale)
    score = math.fsum(q * k for q, k in zip(query.tolist(), key.tolist())) * scale
    return score if softcap is None else float(softcap) * math.tanh(score / float(softcap))


def softmax_row(scores):
    """The weights of one row and its log-sum-exp; no scores give -inf, as in an empty row."""
    highest = max(scores, default=-math.inf)
    if highest == -math.inf:
        return [0.0] * len(scores), -math.inf
    exps = [math.exp(score - highest) for score in scores]
    total = math.fsum(exps)
    return [exp / total for exp in exps], highest + math.log(total)


def repeat_heads(array, h):
    h_kv = array.shape[-3]
    heads = np.array([i // (h // h_kv) for i in range(h)], dtype=int)
    return array[..., heads, :, :]


def broadcast(query, key, value, attn_mask):
    """All with the same leading axes; the mask as numbers to add, -inf for no."""
    attn_mask = np.asarray(True) if attn_mask is None else attn_mask
    bias = np.where(attn_mask, 0.0, -np.inf) if attn_mask.dtype == bool else attn_mask
    batch = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (
        np.broadcast_to(array, batch + array.shape[-2:]) for array in (query, key, value)
    )
    return query, key, value, np.broadcast_to(bias, (*batch, query.shape[-2], key.shape[-2]))


def slope(function, arrays, index, direction, step=1e-5):
    """d function along one direction of one argument, by central differences."""

    def at(distance):
        moved = list(arrays)
        moved[index] = moved[index] + distance * direction
        return function(*moved)

    return (at(step) - at(-step)) / (2 * step)
