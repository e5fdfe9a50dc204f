"""Dense attention in NumPy: every step in the open, all in memory. The oracle.

Its twin is dense_torch.py: the same names in the same order, except for the
backward pass, which autograd does there. The functions here trust their
arguments; attnlib.api checks them first and documents them.
"""

import functools
import math

import numpy as np

from attnlib.masks import limits, window_mask


def widen(array):
    """Half precision becomes float32; everything else stays as it is."""
    # Two bytes: float16, or bfloat16 of ml_dtypes. Its name takes 2 us to find.
    if array is None or array.dtype.itemsize != 2:
        return array
    return array.astype(np.float32)


def in_float32_or_wider(step):
    """Run a step on widened arrays; its result gets the first one's dtype."""

    @functools.wraps(step)
    def wide_step(array, *others, **options):
        others = (widen(other) if isinstance(other, np.ndarray) else other for other in others)
        # Scores at masked keys may overflow; elsewhere inf or NaN will show.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            result = step(widen(array), *others, **options)
            return result.astype(array.dtype, copy=False)

    return wide_step


@in_float32_or_wider
def raw_scores(query, key, *, scale=None):
    """scale * Q Kᵀ; see attnlib.raw_scores."""
    *batch, n_q, d_k = query.shape
    scale = 1 / math.sqrt(d_k) if scale is None else float(scale)
    return query @ key.mT * scale


@in_float32_or_wider
def cap_scores(scores, softcap):
    """softcap * tanh(scores / softcap), which never passes softcap."""
    if softcap is None:
        return scores
    return float(softcap) * np.tanh(scores / float(softcap))


@in_float32_or_wider
def mask_scores(scores, attn_mask):
    """-inf where the mask says no; see attnlib.mask_scores."""
    if attn_mask.dtype == bool:
        return np.where(attn_mask, scores, -np.inf)
    # Not the sum alone: inf, a score that overflowed, plus -inf is NaN.
    return np.where(attn_mask == -np.inf, -np.inf, scores + attn_mask)


def row_max(scores, axis):
    """The largest score along the axis; -inf where there is none."""
    return scores.max(axis, keepdims=True, initial=-np.inf)


def shift_and_sum(scores, axis):
    """exp(scores - shift), their sum and the shift: the maximum.

    In a dead row the shift is 0 and the sum counts as 1.
    """
    shift = row_max(scores, axis)
    # -inf - -inf would be NaN.
    shift = np.where(shift == -np.inf, 0, shift)
    exps = np.exp(scores - shift)
    row_sum = exps.sum(axis, keepdims=True)
    return exps, np.where(row_sum == 0, 1, row_sum), shift


@in_float32_or_wider
def softmax(scores, axis=-1):
    """exp(scores) over its sum along the axis; see attnlib.softmax."""
    exps, row_sum, _ = shift_and_sum(scores, axis)
    return exps / row_sum


@in_float32_or_wider
def logsumexp(scores, axis=-1):
    """log of the sum of exp(scores); see attnlib.logsumexp."""
    _, row_sum, shift = shift_and_sum(scores, axis)
    highest = row_max(scores, axis)
    lse = np.where(np.isinf(highest), highest, np.log(row_sum) + shift)
    return lse.squeeze(axis)


@in_float32_or_wider
def log_softmax(scores, axis=-1):
    """log(softmax(scores)) along the axis; see attnlib.log_softmax."""
    _, row_sum, shift = shift_and_sum(scores, axis)
    # In this order: shift + log(row_sum) would round the logarithm away.
    return (scores - shift) - np.log(row_sum)


@in_float32_or_wider
def av_product(weights, value):
    """A V; see attnlib.av_product."""
    return weights @ value


def repeat_heads(array, h):
    """(..., h_kv, n, d) -> (..., h, n, d): each head, h // h_kv times."""
    *batch, h_kv, n, d = array.shape
    return array if h_kv == h else np.repeat(array, h // h_kv, axis=-3)


def masked_scores(scores, attn_mask, is_causal, window):
    """A mask, causal and a window together mean all of them."""
    *batch, n_q, n_k = scores.shape
    if attn_mask is not None:
        scores = mask_scores(scores, attn_mask)
    if is_causal or window is not None:
        scores = mask_scores(scores, window_mask(n_q, n_k, *limits(is_causal, window)))
    return scores


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
    return_lse=False,
):
    """softmax(mask(cap(scale * Q Kᵀ))) V; see attnlib.attention."""
    dtype = query.dtype
    query, key, value, attn_mask = map(widen, (query, key, value, attn_mask))
    if enable_gqa:
        h = query.shape[-3]
        key, value = repeat_heads(key, h), repeat_heads(value, h)
    scores = cap_scores(raw_scores(query, key, scale=scale), softcap)
    scores = masked_scores(scores, attn_mask, is_causal, window)
    output = av_product(softmax(scores), value).astype(dtype, copy=False)
    if not return_lse:
        return output
    return output, np.broadcast_to(logsumexp(scores), output.shape[:-1]).copy()


def attention_backward(
    query,
    key,
    value,
    grad_output,
    attn_mask=None,
    *,
    is_causal=False,
    window=None,
    scale=None,
    softcap=None,
    enable_gqa=False,
):
    """d sum(grad_output * output); see attnlib.attention_backward."""
    dtype, shapes = query.dtype, (query.shape, key.shape, value.shape)
    query, key, value = map(widen, (query, key, value))
    grad_output, attn_mask = widen(grad_output), widen(attn_mask)
    if enable_gqa:
        h = query.shape[-3]
        key, value = repeat_heads(key, h), repeat_heads(value, h)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scores = cap_scores(raw_scores(query, key, scale=scale), softcap)
        weights = softmax(masked_scores(scores, attn_mask, is_causal, window))
        grad_scores = softmax_backward(weights, value, grad_output)
        if softcap is not None:  # scores = softcap * tanh; d tanh = 1 - tanh^2
            slope = 1 - (scores / float(softcap)) ** 2
            grad_scores = np.where(weights == 0, 0, grad_scores * slope)
        grads = (
            grad_scores @ key * scale,
            grad_scores.mT @ query * scale,
            weights.mT @ grad_output,
        )
        return tuple(sum_to_shape(grad, shape).astype(dtype) for grad, shape in zip(grads, shapes))


def softmax_backward(weights, value, grad_output):
    """dS = A * (dA - rowsum(A * dA)), where dA = dO Vᵀ."""
    grad_weights = grad_output @ value.mT
    # rowsum(A * dA) = rowsum(dO * O), which never meets a masked value.
    delta = (grad_output * (weights @ value)).sum(-1, keepdims=True)
    # A weight of 0 passes nothing back, even where dA overflowed.
    return np.where(weights == 0, 0, weights * (grad_weights - delta))


def sum_to_shape(grad, shape):
    """Undo broadcasting and repeated heads: add up the copies."""
    grad = grad.sum(tuple(range(grad.ndim - len(shape))))
    for axis, size in enumerate(shape):
        before, copied, after = (grad.shape[:axis], grad.shape[axis], grad.shape[axis + 1 :])
        if copied != size:  # consecutive copies belong to one head
            groups = (*before, size, copied // size, *after)
            grad = grad.reshape(groups).sum(axis + 1)
    return grad
