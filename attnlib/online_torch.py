"""Streaming attention in torch: on any device, a block of keys at a time, gradients in O(n) memory.

Its twin is online_numpy.py, whose steps 1 to 3 it takes; threads are torch's own. All heads
and queries go through a block of keys at once. The functions here trust their arguments;
attnlib.api checks them first and documents them.
"""

import math

import torch
from torch.autograd.function import once_differentiable

from attnlib.dense_torch import repeat_heads, widen

KEYS = 256


def attention(query, key, value, attn_mask=None, *, is_causal=False,
              scale=None, softcap=None, enable_gqa=False, return_lse=False):
    """softmax(mask(cap(scale * Q Kᵀ))) V; see attnlib.attention."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    softcap = None if softcap is None else float(softcap)
    options = is_causal, scale, softcap, query.shape[-3] if enable_gqa else None
    output, lse = Streaming.apply(query, key, value, attn_mask, options)
    return (output, lse) if return_lse else output


def merge_partials(out_a, lse_a, out_b, lse_b):
    """Attention over two sets of keys from that over each; see attnlib.merge_partials."""
    lse = torch.logaddexp(lse_a, lse_b)
    shift = finite(lse)
    share_a, share_b = (torch.exp(part - shift)[..., None] for part in (lse_a, lse_b))
    return (share_a * widen(out_a) + share_b * widen(out_b)).to(out_a.dtype), lse


class Streaming(torch.autograd.Function):
    """Keeps the arguments, the output and the log-sum-exp for the backward pass, and no scores."""

    @staticmethod
    def forward(ctx, query, key, value, attn_mask, options):
        output, lse = sum_blocks(query, key, value, attn_mask, *options)
        ctx.save_for_backward(query, key, value, attn_mask, output, lse)
        ctx.options = options
        return output.to(query.dtype), lse

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output, grad_lse):
        grads = backward_blocks(*ctx.saved_tensors, grad_output, grad_lse, ctx.needs_input_grad[3], *ctx.options)
        return *grads, None


# --- blocks of keys ---

def key_blocks(key, n_q, is_causal):
    """Slices of keys, none that a causal mask hides from all queries."""
    n_k = min(key.shape[-2], n_q) if is_causal else key.shape[-2]
    return [slice(start, min(start + KEYS, n_k)) for start in range(0, n_k, KEYS)]


def block_of(array, keys, h):
    """These keys or values, in float32 or wider, each head as often as query heads read it."""
    block = widen(array[..., keys, :])
    return block if h is None else repeat_heads(block, h)


def mask_at(attn_mask, first, keys):
    """The part of a mask for the queries from `first` on; an axis of size 1 stays as it is."""
    if attn_mask.ndim and attn_mask.shape[-1] > 1:
        attn_mask = attn_mask[..., keys]
    if attn_mask.ndim > 1 and attn_mask.shape[-2] > 1:
        attn_mask = attn_mask[..., first:, :]
    return attn_mask


def finite(shift):
    """-inf, which stands for no keys yet, as 0: -inf - -inf would be NaN."""
    return torch.where(shift == -torch.inf, 0, shift)


def score_block(query, key, attn_mask, keys, first, is_causal, scale, softcap):
    """Masked scores of one block, (..., queries from `first` on, keys), and the slope of the softcap."""
    scores, slope = query @ key.mT * scale, 1
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
        slope = 1 - (scores / softcap) ** 2
    if attn_mask is not None:
        mask = mask_at(attn_mask, first, keys)
        hidden = ~mask if mask.dtype == torch.bool else mask == -torch.inf
        scores = scores if mask.dtype == torch.bool else scores + widen(mask)
        scores = torch.where(hidden, -torch.inf, scores)
    if is_causal:
        at = torch.arange(first, first + query.shape[-2], device=query.device)
        later = torch.arange(keys.start, keys.stop, device=query.device) > at[:, None]
        scores = torch.where(later, -torch.inf, scores)
    return scores, slope


# --- forward and backward ---

def sum_blocks(query, key, value, attn_mask, is_causal, scale, softcap, h):
    """The output, in float32 or wider, and the log-sum-exp."""
    total, row_sum, highest = empty_sums(query, key, value, h)
    log_n = math.log(max(1, key.shape[-2]))
    for keys in key_blocks(key, query.shape[-2], is_causal):
        first = keys.start if is_causal else 0
        scores, _ = score_block(widen(query[..., first:, :]), block_of(key, keys, h), attn_mask, keys, first,
                                is_causal, scale, softcap)
        seen = (..., slice(first, None))
        # log n_k keeps the sum of all weights below 1, so that no sum of values overflows.
        moved = torch.maximum(highest[seen], scores.amax(-1) + log_n)
        factor, weights = torch.exp(highest[seen] - finite(moved)), torch.exp(scores - finite(moved)[..., None])
        row_sum[seen] = row_sum[seen] * factor + weights.sum(-1)
        total[*seen, :] = total[*seen, :] * factor[..., None] + weights @ block_of(value, keys, h)
        highest[seen] = moved
    lse = torch.where(torch.isinf(highest), highest, torch.log(row_sum) + highest)
    return total / torch.where(row_sum == 0, 1, row_sum)[..., None], lse


def empty_sums(query, key, value, h):
    """Zeros for the output, zeros for the sum of weights, -inf for the maximum."""
    shapes = [query.shape[:-2]] + [array.shape[:-2] if h is None else (*array.shape[:-3], h)
                                   for array in (key, value)]
    rows = (*torch.broadcast_shapes(*shapes), query.shape[-2])
    like = widen(query[..., :0, :])
    return (like.new_zeros(*rows, value.shape[-1]), like.new_zeros(rows), like.new_full(rows, -torch.inf))


def backward_blocks(query, key, value, attn_mask, output, lse, grad_output, grad_lse, needs_mask,
                    is_causal, scale, softcap, h):
    """Gradients of query, key, value and of a floating mask; weights come back from the log-sum-exp."""
    wide_query, grad_output = widen(query), widen(grad_output)
    # rowsum(A * dA) = rowsum(dO * O); the gradient of the log-sum-exp is the weights.
    delta = (grad_output * output).sum(-1) - grad_lse
    lse = torch.where(lse == -torch.inf, torch.inf, lse)  # the weights of an empty row are 0
    grads = [torch.zeros_like(widen(array)) for array in (query, key, value)]
    grad_mask = torch.zeros_like(widen(attn_mask)) if needs_mask else None
    for keys in key_blocks(key, query.shape[-2], is_causal):
        first = keys.start if is_causal else 0
        rows = wide_query[..., first:, :]
        key_block, value_block = block_of(key, keys, h), block_of(value, keys, h)
        scores, slope = score_block(rows, key_block, attn_mask, keys, first, is_causal, scale, softcap)
        weights = torch.exp(scores - lse[..., first:, None])
        grad_scores = weights * (grad_output[..., first:, :] @ value_block.mT - delta[..., first:, None])
        # A weight of 0 passes nothing back, even where the product overflowed.
        grad_scores = torch.where(weights == 0, 0, grad_scores)
        if needs_mask:
            add_up(mask_at(grad_mask, first, keys), grad_scores)
        grad_scores = torch.where(weights == 0, 0, grad_scores * slope) * scale
        add_up(grads[0][..., first:, :], grad_scores @ key_block)
        add_up(grads[1][..., keys, :], grad_scores.mT @ rows)
        add_up(grads[2][..., keys, :], weights.mT @ grad_output[..., first:, :])
    return [grad.to(query.dtype) for grad in grads] + [grad_mask if grad_mask is None else grad_mask.to(query.dtype)]


def add_up(grad, part):
    """grad += part, summed over the axes that were broadcast and over repeated heads."""
    part = part.sum(tuple(range(part.ndim - grad.ndim))) if part.ndim > grad.ndim else part
    for axis, (size, copied) in enumerate(zip(grad.shape, part.shape)):
        if size != copied:  # consecutive copies belong to one head
            part = part.unflatten(axis, (size, copied // size)).sum(axis + 1)
    grad += part
