"""Streaming attention in torch: on any device, a block of keys at a time, gradients in O(n) memory.

Its twin is online_numpy.py, whose first step, blocks, it takes; threads are torch's own. It works
on all heads at once. The functions here trust their arguments; attnlib.api checks them first and
documents them.
"""

import functools
import math

import torch

from attnlib.dense_torch import is_autocast, repeat_heads, widen
from attnlib.masks import limits

QUERIES, KEYS = 512, 256


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
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    softcap = None if softcap is None else float(softcap)
    options = limits(is_causal, window), scale, softcap, query.shape[-3] if enable_gqa else None
    output, lse = Streaming.apply(query, key, value, attn_mask, options)
    output = output.to(query.dtype)
    return (output, lse) if return_lse else output


def merge_partials(out_a, lse_a, out_b, lse_b):
    """Attention over two sets of keys, from attention over each; see attnlib.merge_partials."""
    highest = torch.maximum(lse_a, lse_b).detach()  # any constant shift has the right gradient
    weight_a, weight_b = (torch.exp(lse - finite(highest)) for lse in (lse_a, lse_b))
    # Not exp(lse_a - lse): if lse is large, its rounding would be a factor on both shares.
    row_sum = weight_a + weight_b
    row_sum = torch.where(row_sum == 0, 1, row_sum)
    lse = torch.where(torch.isinf(highest), highest, torch.log(row_sum) + highest)
    output = share_of(out_a, lse_a, weight_a / row_sum) + share_of(out_b, lse_b, weight_b / row_sum)
    return output.to(out_a.dtype), lse


def share_of(output, lse, share):
    """What a part contributes to the merged output: 0 if it has no keys, whatever its output
    holds."""
    return share[..., None] * torch.where(lse[..., None] == -torch.inf, 0, widen(output))


class Streaming(torch.autograd.Function):
    """Keeps the arguments, the output and the log-sum-exp for the backward pass, and no scores."""

    @staticmethod
    def forward(query, key, value, attn_mask, options):
        return forward(query, key, value, attn_mask, *options)

    @staticmethod
    def setup_context(ctx, inputs, output):
        arrays, ctx.options = inputs[:4], inputs[4]
        ctx.save_for_backward(*arrays, *output)

    @staticmethod
    def backward(ctx, grad_output, grad_lse):
        needs_mask = ctx.needs_input_grad[3]
        return (
            *once(
                backward_blocks, *ctx.saved_tensors, grad_output, grad_lse, needs_mask, *ctx.options
            ),
            None,
        )


def once(gradients, *arguments):
    """gradients(*arguments), which can't be differentiated again.

    torch.compile never does that, and can't read OnceDifferentiable.
    """
    if torch.compiler.is_compiling():
        return gradients(*arguments)
    return OnceDifferentiable.apply(gradients, *arguments)


class OnceDifferentiable(torch.autograd.Function):
    """Raises where torch's once_differentiable does, and also where torch.func would otherwise find
    second derivatives of 0.
    """

    @staticmethod
    def forward(gradients, *arguments):
        return tuple(gradients(*arguments))

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(
            "attention a block at a time can be differentiated once; impl='dense' any number of"
            " times"
        )


# --- blocks ---


def blocks_of(start, stop, size):
    return [slice(at, min(at + size, stop)) for at in range(start, stop, size)]


def key_blocks(n_k, rows, window):
    """Slices of keys, none outside the window of all these queries."""
    left, right = window
    start = 0 if left is None else max(0, rows.start - left)
    return blocks_of(start, n_k if right is None else min(n_k, rows.stop + right), KEYS)


def block_of(array, keys, h):
    """These keys or values, in float32 or wider, each head as often as query heads read it."""
    block = widen(array[..., keys, :])
    return block if h is None else repeat_heads(block, h)


def mask_at(attn_mask, rows, keys):
    """The part of a mask; an axis of size 1 stays as it is."""
    if attn_mask.ndim and attn_mask.shape[-1] > 1:
        attn_mask = attn_mask[..., keys]
    if attn_mask.ndim > 1 and attn_mask.shape[-2] > 1:
        attn_mask = attn_mask[..., rows, :]
    return attn_mask


def finite(shift):
    """-inf, which stands for no keys yet, as 0: -inf - -inf would be NaN."""
    return torch.where(shift == -torch.inf, 0, shift)


def score_block(query, key, attn_mask, rows, keys, window, scale, softcap):
    """Masked scores of one block, (..., rows, keys), and the slope of the softcap."""
    scores, slope = query @ key.mT * scale, 1
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
        slope = 1 - (scores / softcap) ** 2
    if attn_mask is not None:
        mask = mask_at(attn_mask, rows, keys)
        hidden = ~mask if mask.dtype == torch.bool else mask == -torch.inf
        scores = scores if mask.dtype == torch.bool else scores + widen(mask)
        scores = torch.where(hidden, -torch.inf, scores)
    if window != (None, None):
        scores = torch.where(outside(window, rows, keys, query.device), -torch.inf, scores)
    return scores, slope


def outside(window, rows, keys, device):
    """Where keys are too far before a query, or too far after it."""
    query_at, key_at = (torch.arange(part.start, part.stop, device=device) for part in (rows, keys))
    left, right = window
    before = False if left is None else key_at < query_at[:, None] - left
    return before | (False if right is None else key_at > query_at[:, None] + right)


# --- forward and backward ---


def in_its_own_dtype(step):
    """torch.autocast would round the factors of every product to half precision."""

    @functools.wraps(step)
    def undisturbed(query, *others):
        if not is_autocast(query.device):
            return step(query, *others)
        with torch.autocast(query.device.type, enabled=False):
            return step(query, *others)

    return undisturbed


@in_its_own_dtype
def forward(query, key, value, attn_mask, window, scale, softcap, h):
    """The output, in float32 or wider, and the log-sum-exp."""
    shapes = [query.shape[:-2]] + [
        array.shape[:-2] if h is None else (*array.shape[:-3], h) for array in (key, value)
    ]
    shape = (*torch.broadcast_shapes(*shapes), query.shape[-2])
    wide = widen(query[..., :0, :])
    output, lse = wide.new_empty(*shape, value.shape[-1]), wide.new_empty(shape)
    for rows in blocks_of(0, query.shape[-2], QUERIES):
        sum_blocks(
            query,
            key,
            value,
            attn_mask,
            rows,
            output[..., rows, :],
            lse[..., rows],
            window,
            scale,
            softcap,
            h,
        )
    return output, lse


def sum_blocks(query, key, value, attn_mask, rows, output, lse, window, scale, softcap, h):
    """Write the output and the log-sum-exp of one block of queries."""
    total, row_sum = torch.zeros_like(output), torch.zeros_like(lse)
    shift, log_n = torch.full_like(lse, -torch.inf), math.log(max(1, key.shape[-2]))
    query = widen(query[..., rows, :])
    for keys in key_blocks(key.shape[-2], rows, window):
        scores, _ = score_block(
            query, block_of(key, keys, h), attn_mask, rows, keys, window, scale, softcap
        )
        # log n_k keeps the sum of all weights at 1 or below: no sum of values overflows.
        moved = torch.maximum(shift, scores.amax(-1) + log_n)
        factor = torch.exp(shift - finite(moved))
        weights = torch.exp(scores - finite(moved)[..., None])
        row_sum = row_sum * factor + weights.sum(-1)
        total = total * factor[..., None] + weights @ block_of(value, keys, h)
        shift = moved
    lse[...] = torch.where(torch.isinf(shift), shift, torch.log(row_sum) + shift)
    output[...] = total / torch.where(row_sum == 0, 1, row_sum)[..., None]


@in_its_own_dtype
def backward_blocks(
    query,
    key,
    value,
    attn_mask,
    output,
    lse,
    grad_output,
    grad_lse,
    needs_mask,
    window,
    scale,
    softcap,
    h,
):
    """Gradients of query, key, value and of a floating mask; the weights are computed again from
    the log-sum-exp.
    """
    # rowsum(A * dA) = rowsum(dO * O); the gradient of the log-sum-exp is the weights.
    delta = (widen(grad_output) * output).sum(-1) - grad_lse
    lse = torch.where(lse == -torch.inf, torch.inf, lse)  # the weights of an empty row are 0
    grads = [torch.zeros_like(widen(array)) for array in (query, key, value)]
    grad_mask = torch.zeros_like(widen(attn_mask)) if needs_mask else None
    for rows in blocks_of(0, query.shape[-2], QUERIES):
        for keys in key_blocks(key.shape[-2], rows, window):
            query_block, grad_block = widen(query[..., rows, :]), widen(grad_output[..., rows, :])
            key_block, value_block = block_of(key, keys, h), block_of(value, keys, h)
            scores, slope = score_block(
                query_block, key_block, attn_mask, rows, keys, window, scale, softcap
            )
            weights = torch.exp(scores - lse[..., rows, None])
            grad_scores = weights * (grad_block @ value_block.mT - delta[..., rows, None])
            # A weight of 0 passes nothing back, even where the product overflowed.
            grad_scores = torch.where(weights == 0, 0, grad_scores)
            if needs_mask:
                add_up(mask_at(grad_mask, rows, keys), grad_scores)
            grad_scores = torch.where(weights == 0, 0, grad_scores * slope) * scale
            add_up(grads[0][..., rows, :], grad_scores @ key_block)
            add_up(grads[1][..., keys, :], grad_scores.mT @ query_block)
            add_up(grads[2][..., keys, :], weights.mT @ grad_block)
    return [None if grad is None else grad.to(query.dtype) for grad in (*grads, grad_mask)]


def add_up(grad, part):
    """grad += part, summed over the axes that were broadcast and over repeated heads."""
    part = part.sum(tuple(range(part.ndim - grad.ndim))) if part.ndim > grad.ndim else part
    for axis, (size, copied) in enumerate(zip(grad.shape, part.shape)):
        if size != copied:  # consecutive copies belong to one head
            part = part.unflatten(axis, (size, copied // size)).sum(axis + 1)
    grad += part
