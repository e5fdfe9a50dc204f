"""Dense attention in torch: on any device, differentiable twice by autograd.

Its twin is dense_numpy.py: the same names in the same order, except for the
backward pass, which autograd does here. The functions trust their arguments;
attnlib.api checks them first and documents them.
"""

import functools
import math

import torch

from attnlib.masks import limits


def widen(array):
    """Half precision becomes float32; everything else stays as it is."""
    if array is None or array.dtype not in (torch.float16, torch.bfloat16):
        return array
    return array.float()


def is_autocast(device):
    """Whether torch.autocast is at work; a device may have none."""
    return torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)


def product(a, b):
    """a @ b in the dtype of a and b, also under torch.autocast."""
    return Product.apply(a, b) if is_autocast(a.device) else a @ b


class Product(torch.autograd.Function):
    """What autocast would round to half precision, forward and backward; differentiable any number
    of times.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b):
        with torch.autocast(a.device.type, enabled=False):
            return a @ b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return product(grad, b.mT).sum_to_size(a.shape), product(a.mT, grad).sum_to_size(b.shape)


def in_float32_or_wider(step):
    """Run a step on widened tensors; its result gets the first one's dtype."""

    @functools.wraps(step)
    def wide_step(array, *others, **options):
        others = (widen(other) if isinstance(other, torch.Tensor) else other for other in others)
        return step(widen(array), *others, **options).to(array.dtype)

    return wide_step


@in_float32_or_wider
def raw_scores(query, key, *, scale=None):
    """scale * Q Kᵀ; see attnlib.raw_scores."""
    *batch, n_q, d_k = query.shape
    scale = 1 / math.sqrt(d_k) if scale is None else float(scale)
    return product(query, key.mT) * scale


@in_float32_or_wider
def cap_scores(scores, softcap):
    """softcap * tanh(scores / softcap), which never passes softcap."""
    if softcap is None:
        return scores
    # Past tanh, whose gradient at NaN, from a huge masked key, would be 0 * NaN.
    overflowed = torch.isnan(scores)
    scaled = torch.where(overflowed, 0, scores) / float(softcap)
    return torch.where(overflowed, scores, float(softcap) * torch.tanh(scaled))


@in_float32_or_wider
def mask_scores(scores, attn_mask):
    """-inf where the mask says no; see attnlib.mask_scores."""
    if attn_mask.dtype == torch.bool:
        return torch.where(attn_mask, scores, -torch.inf)
    # Not the sum alone: inf, a score that overflowed, plus -inf is NaN.
    return torch.where(attn_mask == -torch.inf, -torch.inf, scores + attn_mask)


def row_max(scores, axis):
    """The largest score along the axis; -inf where there is none."""
    if scores.shape[axis] == 0:
        return scores.sum(axis, keepdim=True) - torch.inf
    # Any constant shift has the right gradient.
    return scores.detach().amax(axis, keepdim=True)


def shift_and_sum(scores, axis):
    """exp(scores - shift), their sum and the shift: the maximum.

    In a dead row the shift is 0 and the sum counts as 1.
    """
    shift = row_max(scores, axis)
    # -inf - -inf would be NaN.
    shift = torch.where(shift == -torch.inf, 0, shift)
    exps = torch.exp(scores - shift)
    row_sum = exps.sum(axis, keepdim=True)
    return exps, torch.where(row_sum == 0, 1, row_sum), shift


@in_float32_or_wider
def softmax(scores, axis=-1):
    """exp(scores) over its sum along the axis; see attnlib.softmax."""
    exps, row_sum, _ = shift_and_sum(scores, axis)
    weights = exps / row_sum
    # Cuts the gradient: 0 * inf, from a huge masked value, would be NaN.
    return torch.where(weights == 0, 0, weights)


@in_float32_or_wider
def logsumexp(scores, axis=-1):
    """log of the sum of exp(scores); see attnlib.logsumexp."""
    _, row_sum, shift = shift_and_sum(scores, axis)
    highest = row_max(scores, axis)
    lse = torch.where(torch.isinf(highest), highest, torch.log(row_sum) + shift)
    return lse.squeeze(axis)


@in_float32_or_wider
def log_softmax(scores, axis=-1):
    """log(softmax(scores)) along the axis; see attnlib.log_softmax."""
    _, row_sum, shift = shift_and_sum(scores, axis)
    # In this order: shift + log(row_sum) would round the logarithm away.
    return (scores - shift) - torch.log(row_sum)


@in_float32_or_wider
def av_product(weights, value):
    """A V; see attnlib.av_product."""
    return product(weights, value)


def repeat_heads(array, h):
    """(..., h_kv, n, d) -> (..., h, n, d): each head, h // h_kv times."""
    *batch, h_kv, n, d = array.shape
    return array if h_kv == h else array.repeat_interleave(h // h_kv, dim=-3)


def masked_scores(scores, attn_mask, is_causal, window):
    """A mask, causal and a window together mean all of them."""
    *batch, n_q, n_k = scores.shape
    if attn_mask is not None:
        scores = mask_scores(scores, attn_mask)
    if is_causal or window is not None:
        left, right = limits(is_causal, window)
        near = torch.ones(n_q, n_k, dtype=torch.bool, device=scores.device)
        near = near if left is None else near.triu(-min(left, n_q))
        near = near if right is None else near.tril(min(right, n_k))
        scores = mask_scores(scores, near)
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
    output = av_product(softmax(scores), value).to(dtype)
    if not return_lse:
        return output
    return output, logsumexp(scores).expand(output.shape[:-1]).clone()
