"""Fused attention as Triton kernels, forward and backward: no (n_q, n_k) array is ever in memory.

The ladder that leads to these kernels:

1. Tile: one program has BLOCK_Q queries of one head, and meets the keys and values a block at a
   time. A block of scores lives only in registers. In float16 with d = 128 a program reads 32 KiB
   of queries once, then 512 bytes for each key and its value, for 512 * BLOCK_Q operations: the
   matrix units, not the memory, set the pace.
2. Mask the tail: lengths and head sizes need not be multiples of a tile. What lies beyond is read
   as 0, and its scores are -inf.
3. Running maximum: the softmax of a row isn't known before its last key. The output so far is
   rescaled whenever the row's maximum moves, and divided by the sum of the weights at the end.
   The log-sum-exp, 4 bytes per row, is all that the backward pass needs of the weights.
4. Skip blocks: under a causal mask a program stops at its diagonal, which halves the work; in a
   window it begins where its first query does. Only the blocks on these edges compare positions.
5. Pipeline: while one block is multiplied, the next num_stages - 1 are being copied to shared
   memory.
6. exp2: the hardware has no exp. log2(e) goes into the scale, which costs nothing.
7. Longest first: under a causal mask, the last queries of all heads start before any other block.
   What starts late is then short, so no processor waits long for the others at the end.

In the backward pass the weights are computed again as exp(scores - lse). There are two kernels, one
for the gradients of keys and values, one for those of queries: each sums its own results in a fixed
order, without atomics, so that every run gives the same bits. This costs 7 matrix products, where
one kernel with atomics needs 5.

Masks are read where they are, by their strides. Grouped heads share a key head by index. Few
queries against many keys go to decode_triton.py; what the kernels there and here share is in
tiles_triton.py.

Speed on a GPU has not been measured yet, so the tiles of `config` were chosen because they compile
without spilling registers (tests/test_triton_compiled.py), not because they are fastest.
"""

import math
from typing import Optional

import torch
import triton
import triton.language as tl

from attnlib import decode_triton, tiles_triton
from attnlib.masks import limits
from attnlib.tiles_triton import (
    LOG2_E,
    attend,
    capability_of,
    groups,
    head_of,
    load_rows,
    merge_axes,
    normalised,
    nothing_seen,
    on_its_device,
    padded_width,
    precision,
    product,
    score_block,
    store_rows,
    units_of,
    with_strides,
)

LARGEST_HEAD = 256
MOST_POSITIONS = 2**30  # a position and a tile's length are added in int32


# --- which blocks meet ---


@triton.jit
def place(blocks, h, window):
    """Which block, batch and head this program has: blocks are counted in the order in which they
    start.

    Under a causal mask blocks differ in work, and the heads take turns: on 132 processors, 16 heads
    of 16 blocks then take 1.03 times as long as work shared out evenly, and 1.64 times if head
    follows head (counted and simulated: tests/test_flash_triton.py). Without a causal mask head
    does follow head: programs that run at the same time then read the same keys, from the cache.
    """
    heads = tl.num_programs(0) // blocks
    if window[0] is None and window[1] is not None:
        turn, batch_head = tl.program_id(0) // heads, tl.program_id(0) % heads
    else:
        turn, batch_head = tl.program_id(0) % blocks, tl.program_id(0) // blocks
    return turn, batch_head // h, batch_head % h


@triton.jit
def keys_met(block, n_q, n_k, window, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):
    """Where a block of queries begins to meet keys, how far all of them see whole blocks, and where
    it ends.

    With a limit to the left no block counts as whole: a third loop, for the edge there, would spill
    registers.
    """
    first, last = block * BLOCK_Q, tl.minimum(n_q, (block + 1) * BLOCK_Q) - 1
    start, whole, end = 0, n_k // BLOCK_K * BLOCK_K, n_k
    if window[1] is not None:
        whole = tl.minimum(n_k, first + window[1] + 1) // BLOCK_K * BLOCK_K
        end = tl.minimum(n_k, last + window[1] + 1)
    if window[0] is not None:
        start = tl.maximum(0, first - window[0]) // BLOCK_K * BLOCK_K
        whole = start
    return start, whole, end


@triton.jit
def queries_met(block, n_q, n_k, window, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):
    """Where a block of keys begins to meet queries, from where on these see all of it, and where it
    ends.

    Keys and queries that don't exist need no check: such keys have rows of their own, which are not
    stored, and such queries have weights 0.
    """
    first, last = block * BLOCK_K, tl.minimum(n_k, (block + 1) * BLOCK_K) - 1
    start, whole, end = 0, 0, n_q
    if window[1] is not None:
        start = tl.maximum(0, first - window[1]) // BLOCK_Q * BLOCK_Q
        whole = tl.cdiv(tl.minimum(n_q, tl.maximum(0, last - window[1])), BLOCK_Q) * BLOCK_Q
    if window[0] is not None:
        end = tl.minimum(n_q, last + window[0] + 1)
        whole = end
    return start, whole, end


# --- forward ---


@triton.jit
def attention_forward(
    query,
    key,
    value,
    mask,
    output,
    lse,
    h,
    group_k,
    group_v,
    n_q,
    n_k,
    window,
    units,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    blocks = tl.cdiv(n_q, BLOCK_Q)
    turn, batch, head = place(blocks, h, window)
    block = blocks - 1 - turn
    query, output = head_of(query, batch, head), head_of(output, batch, head)
    if mask is not None:
        mask = head_of(mask, batch, head)
    key, value = head_of(key, batch, head // group_k), head_of(value, batch, head // group_v)

    query_at = block * BLOCK_Q + tl.arange(0, BLOCK_Q)
    q = load_rows(query, query_at, n_q, D_K, False, PRECISION)
    q = (q * units[0]).to(q.dtype)
    running = nothing_seen(BLOCK_Q, D_V)
    edges = keys_met(block, n_q, n_k, window, BLOCK_Q, BLOCK_K)
    for part in tl.static_range(0 if window[0] is None else 1, 2):
        for start in range(edges[part], edges[part + 1], BLOCK_K):
            running = attend(
                running,
                q,
                key,
                value,
                mask,
                query_at,
                start,
                n_q,
                n_k,
                window,
                units,
                D_K,
                D_V,
                BLOCK_K,
                part == 1,
                PRECISION,
            )
    out, row_lse = normalised(running)
    store_rows(out, output, query_at, n_q, D_V)
    tl.store(lse + (batch * h + head).to(tl.int64) * n_q + query_at, row_lse, mask=query_at < n_q)


# --- backward ---


@triton.jit
def attention_delta(
    output, grad_output, grad_lse, delta, h, n_q, D_V: tl.constexpr, BLOCK_Q: tl.constexpr
):
    """rowsum(dO * O), which equals rowsum(A * dA), minus the gradient with respect to the
    log-sum-exp, whose own gradient is the weights.
    """
    blocks = tl.cdiv(n_q, BLOCK_Q)
    block, batch_head = tl.program_id(0) % blocks, tl.program_id(0) // blocks
    row = block * BLOCK_Q + tl.arange(0, BLOCK_Q)
    out = load_rows(
        head_of(output, batch_head // h, batch_head % h), row, n_q, D_V, False, "ieee"
    ).to(tl.float32)
    grad = load_rows(
        head_of(grad_output, batch_head // h, batch_head % h), row, n_q, D_V, False, "ieee"
    ).to(tl.float32)
    at = batch_head.to(tl.int64) * n_q + row
    result = tl.sum(out * grad, 1) - tl.load(grad_lse + at, mask=row < n_q, other=0)
    tl.store(delta + at, result, mask=row < n_q)


@triton.jit
def row_stats(stats, batch_head, row, n_q):
    """The log-sum-exp, as a power of 2, and delta; rows without a key, and rows that don't exist,
    have weights 0.
    """
    lse, delta = stats
    at = batch_head.to(tl.int64) * n_q + row
    power = tl.load(lse + at, mask=row < n_q, other=-float("inf")) * LOG2_E
    return tl.where(power == -float("inf"), float("inf"), power), tl.load(
        delta + at, mask=row < n_q, other=0
    )


@triton.jit
def grad_block(weights, grad_weights, delta, slope):
    """The gradient of scores; a weight of 0 passes nothing back, even where the product
    overflowed.
    """
    return tl.where(weights == 0, 0, weights * (grad_weights - delta) * slope)


@triton.jit
def backward_queries(
    grad_q,
    q,
    grad_out,
    stats,
    key,
    value,
    mask,
    query_at,
    start,
    n_q,
    n_k,
    window,
    units,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    BLOCK_K: tl.constexpr,
    CHECK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """The gradient of these queries with what one more block of keys adds to it."""
    power, delta = stats
    key_at = start + tl.arange(0, BLOCK_K)
    k = load_rows(key, key_at, n_k, D_K, not CHECK, PRECISION)
    v = load_rows(value, key_at, n_k, D_V, not CHECK, PRECISION)
    scores, unit, slope = score_block(
        q, k, mask, query_at[:, None], key_at[None, :], n_q, n_k, window, units, CHECK, PRECISION
    )
    weights = tl.exp2(scores * unit - power[:, None])
    grad_weights = tl.dot(
        grad_out, tl.trans(v), input_precision="tf32x3" if PRECISION == "tf32x3" else "ieee"
    )
    grad_scores = grad_block(weights, grad_weights, delta[:, None], slope)
    return product(grad_scores.to(k.dtype), k, grad_q, PRECISION)


@triton.jit
def attention_backward_queries(
    query,
    key,
    value,
    mask,
    stats,
    grad_output,
    grad_query,
    h,
    group_k,
    group_v,
    n_q,
    n_k,
    window,
    scale,
    units,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """dQ = scale * dS K: the same walk over the keys as in the forward pass."""
    blocks = tl.cdiv(n_q, BLOCK_Q)
    turn, batch, head = place(blocks, h, window)
    block = blocks - 1 - turn
    query, grad_query = head_of(query, batch, head), head_of(grad_query, batch, head)
    if mask is not None:
        mask = head_of(mask, batch, head)
    key, value = head_of(key, batch, head // group_k), head_of(value, batch, head // group_v)

    query_at = block * BLOCK_Q + tl.arange(0, BLOCK_Q)
    q = load_rows(query, query_at, n_q, D_K, False, PRECISION)
    q = (q * units[0]).to(q.dtype)
    grad_out = load_rows(head_of(grad_output, batch, head), query_at, n_q, D_V, False, PRECISION)
    stats = row_stats(stats, batch * h + head, query_at, n_q)
    grad_q = tl.zeros((BLOCK_Q, padded_width(D_K)), tl.float32)
    edges = keys_met(block, n_q, n_k, window, BLOCK_Q, BLOCK_K)
    for part in tl.static_range(0 if window[0] is None else 1, 2):
        for start in range(edges[part], edges[part + 1], BLOCK_K):
            grad_q = backward_queries(
                grad_q,
                q,
                grad_out,
                stats,
                key,
                value,
                mask,
                query_at,
                start,
                n_q,
                n_k,
                window,
                units,
                D_K,
                D_V,
                BLOCK_K,
                part == 1,
                PRECISION,
            )
    store_rows(grad_q * scale, grad_query, query_at, n_q, D_K)


@triton.jit
def backward_keys(
    grads,
    k,
    v,
    query,
    grad_output,
    mask,
    stats,
    batch_head,
    key_at,
    start,
    n_q,
    n_k,
    window,
    units,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    CHECK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """The gradients of these keys and values with what one more block of queries adds; blocks lie
    as (keys, queries).
    """
    grad_k, grad_v = grads
    query_at = start + tl.arange(0, BLOCK_Q)
    q = load_rows(query, query_at, n_q, D_K, False, PRECISION)
    grad_out = load_rows(grad_output, query_at, n_q, D_V, False, PRECISION)
    scores, unit, slope = score_block(
        k, q, mask, query_at[None, :], key_at[:, None], n_q, n_k, window, units, CHECK, PRECISION
    )
    # After the scores: loaded before them, these registers would spill.
    power, row_delta = row_stats(stats, batch_head, query_at, n_q)
    weights = tl.exp2(scores * unit - power[None, :])
    grad_v = product(weights.to(grad_out.dtype), grad_out, grad_v, PRECISION)
    grad_weights = tl.dot(
        v, tl.trans(grad_out), input_precision="tf32x3" if PRECISION == "tf32x3" else "ieee"
    )
    grad_scores = grad_block(weights, grad_weights, row_delta[None, :], slope)
    return product(grad_scores.to(q.dtype), q, grad_k, PRECISION), grad_v


@triton.jit
def attention_backward_keys(
    query,
    key,
    value,
    mask,
    stats,
    grad_output,
    grad_key,
    grad_value,
    h,
    group,
    group_k,
    group_v,
    n_q,
    n_k,
    window,
    scale,
    units,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """dK = scale * dSᵀ Q and dV = Aᵀ dO, summed over the query heads of the group."""
    block, batch, kv_group = place(
        tl.cdiv(n_k, BLOCK_K), h // group, window
    )  # the first keys meet the most queries
    key_at = block * BLOCK_K + tl.arange(0, BLOCK_K)
    k = load_rows(
        head_of(key, batch, kv_group * group // group_k), key_at, n_k, D_K, False, PRECISION
    )
    k = (k * units[0]).to(k.dtype)
    v = load_rows(
        head_of(value, batch, kv_group * group // group_v), key_at, n_k, D_V, False, PRECISION
    )
    grads = (
        tl.zeros((BLOCK_K, padded_width(D_K)), tl.float32),
        tl.zeros((BLOCK_K, padded_width(D_V)), tl.float32),
    )
    edges = queries_met(block, n_q, n_k, window, BLOCK_Q, BLOCK_K)
    for head in range(kv_group * group, (kv_group + 1) * group):
        head = tl.cast(head, tl.int32)
        q_head, grad_head = head_of(query, batch, head), head_of(grad_output, batch, head)
        mask_head = mask
        if mask is not None:
            mask_head = head_of(mask, batch, head)
        for part in tl.static_range(0, 2 if window[0] is None else 1):
            for start in range(edges[part], edges[part + 1], BLOCK_Q):
                grads = backward_keys(
                    grads,
                    k,
                    v,
                    q_head,
                    grad_head,
                    mask_head,
                    stats,
                    batch * h + head,
                    key_at,
                    start,
                    n_q,
                    n_k,
                    window,
                    units,
                    D_K,
                    D_V,
                    BLOCK_Q,
                    part == 0 or mask is not None,
                    PRECISION,
                )
    store_rows(grads[0] * scale, head_of(grad_key, batch, kv_group), key_at, n_k, D_K)
    store_rows(grads[1], head_of(grad_value, batch, kv_group), key_at, n_k, D_V)


# --- launchers ---


def config(step, dtype, d_k, d_v, capability, plain):
    """(BLOCK_Q, BLOCK_K, num_warps, num_stages) that fit the chip's registers and shared memory.

    A mask and a softcap (not plain) need additional registers, so some tiles have to be smaller.
    """
    chip = max(known for known in (75, 80, 90) if known <= max(75, capability))
    half = (
        dtype != torch.float32 and chip > 75
    )  # a T4's products are done in float32: see `precision`
    size = {64: 0, 128: 1, 256: 2}[max(padded_width(d_k), padded_width(d_v), 64)]
    if not plain and half and (step, chip, size) in MASKED_TILES:
        return MASKED_TILES[step, chip, size]
    return TILES[step, chip, half][size]


# For head sizes up to 64, 128 and 256: queries and keys of a tile, warps, stages.
TILES = {
    ("forward", 90, True): ((128, 128, 8, 3), (128, 128, 8, 2), (64, 64, 8, 2)),
    ("queries", 90, True): ((128, 64, 8, 3), (128, 64, 8, 2), (64, 32, 8, 2)),
    ("keys", 90, True): ((32, 128, 8, 2), (32, 64, 8, 2), (32, 32, 8, 1)),
    ("forward", 80, True): ((128, 64, 4, 3), (128, 64, 8, 3), (64, 64, 8, 2)),
    ("queries", 80, True): ((64, 64, 4, 2), (64, 64, 8, 2), (64, 32, 8, 1)),
    ("keys", 80, True): ((32, 64, 8, 2), (32, 64, 8, 2), (32, 32, 8, 1)),
    # float32 in three parts: three times the registers for what is multiplied.
    ("forward", 90, False): ((64, 32, 4, 2), (32, 32, 8, 2), (16, 16, 8, 1)),
    ("queries", 90, False): ((32, 32, 4, 2), (16, 16, 8, 1), (16, 16, 8, 1)),
    ("keys", 90, False): ((16, 32, 8, 1), (16, 16, 8, 1), (16, 16, 8, 1)),
    ("forward", 80, False): ((32, 32, 8, 2), (32, 32, 8, 2), (16, 16, 8, 1)),
    ("queries", 80, False): ((32, 32, 4, 2), (16, 32, 8, 1), (16, 16, 8, 1)),
    ("keys", 80, False): ((16, 32, 8, 1), (16, 16, 8, 1), (16, 16, 8, 1)),
    # 64 KiB of shared memory, and no matrix units as far as Triton knows.
    ("forward", 75, False): ((32, 16, 4, 1), (32, 32, 8, 1), (16, 32, 8, 1)),
    ("queries", 75, False): ((32, 16, 4, 1), (16, 16, 8, 1), (16, 16, 8, 1)),
    ("keys", 75, False): ((16, 16, 4, 1), (16, 16, 4, 1), (16, 8, 8, 1)),
}
MASKED_TILES = {
    ("forward", 90, 1): (128, 64, 8, 2),
    ("keys", 90, 1): (16, 64, 8, 2),
    ("forward", 80, 0): (128, 32, 4, 3),
    ("forward", 80, 1): (128, 32, 8, 3),
    ("forward", 80, 2): (64, 32, 8, 2),
    ("queries", 80, 0): (64, 32, 4, 2),
    ("keys", 80, 0): (32, 64, 8, 1),
    ("keys", 80, 1): (32, 64, 8, 1),
}


def tile(step, query, value, plain):
    capability = capability_of(query)
    block_q, block_k, warps, stages = config(
        step, query.dtype, query.shape[-1], value.shape[-1], capability, plain
    )
    return {"BLOCK_Q": block_q, "BLOCK_K": block_k, "num_warps": warps, "num_stages": stages}


def window_argument(left, right, n_q, n_k):
    """(left, right) as the kernels read it, in int32: None also where all keys are near enough."""
    return (
        None if left is None or left >= n_q - 1 else left,
        None if right is None or right >= n_k - 1 else right,
    )


@torch.library.custom_op("attnlib::attention", mutates_args=())
@on_its_device
def forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: Optional[torch.Tensor],
    left: Optional[int],
    right: Optional[int],
    scale: float,
    softcap: Optional[float],
    in_float32: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and log-sum-exp of tensors (batch, heads, n, d); key and value may have fewer heads.

    A query sees as many keys before its own position as left says, and after it as right says;
    causal: right = 0.
    in_float32: the output is not rounded to query's dtype, because ring.py merges it with other
    parts.
    """
    n_q, n_k = query.shape[2], key.shape[2]
    output, lse = new_output(query, value, in_float32)
    if lse.numel() * n_k == 0:
        return output.zero_(), lse.fill_(-math.inf)
    window = window_argument(left, right, n_q, n_k)
    if decode_triton.serves(query, key, window):
        decode_triton.forward(query, key, value, attn_mask, window, scale, softcap, output, lse)
    else:
        launch_forward(
            attention_forward,
            with_strides,
            query,
            key,
            value,
            attn_mask,
            window,
            scale,
            softcap,
            output,
            lse,
        )
    return output, lse


def launch_forward(
    kernel, passed, query, key, value, attn_mask, window, scale, softcap, output, lse
):
    """Start a forward kernel, to which key and value go as passed(tensor)."""
    batch, h, n_q, d_k = query.shape
    n_k, d_v = value.shape[2:]
    options = tile("forward", query, value, plain=attn_mask is None and softcap is None)
    kernel[(triton.cdiv(n_q, options["BLOCK_Q"]) * batch * h,)](
        with_strides(query),
        passed(key),
        passed(value),
        with_strides(attn_mask),
        with_strides(output),
        lse,
        h,
        *groups(query, key, value),
        n_q,
        n_k,
        window,
        units_of(scale, softcap),
        D_K=d_k,
        D_V=d_v,
        PRECISION=precision(query),
        **options,
    )


def new_output(query, value, in_float32=False):
    """Empty output and log-sum-exp, the latter in float32, because it merges partial results."""
    *rows, _ = query.shape
    return new(query, (*rows, value.shape[-1]), in_float32), new(query, rows, in_float32=True)


def new(query, shape, in_float32):
    return query.new_empty(shape, dtype=torch.float32 if in_float32 else query.dtype)


@torch.library.custom_op("attnlib::attention_backward", mutates_args=())
@on_its_device
def backward(
    grad_output: torch.Tensor,
    grad_lse: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: Optional[torch.Tensor],
    output: torch.Tensor,
    lse: torch.Tensor,
    left: Optional[int],
    right: Optional[int],
    scale: float,
    softcap: Optional[float],
    in_float32: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of query, key and value; in_float32 as for forward."""
    batch, h, n_q, d_k = query.shape
    n_k, d_v = value.shape[2:]
    if batch * h * n_q * n_k == 0:
        return tuple(new(query, tensor.shape, in_float32).zero_() for tensor in (query, key, value))
    group = math.gcd(*groups(query, key, value))
    shapes = (batch, h, n_q, d_k), (batch, h // group, n_k, d_k), (batch, h // group, n_k, d_v)
    grad_query, grad_key, grad_value = (new(query, shape, in_float32) for shape in shapes)
    delta = torch.empty_like(lse)
    attention_delta[(triton.cdiv(n_q, 32) * batch * h,)](
        with_strides(output),
        with_strides(grad_output),
        grad_lse.contiguous(),
        delta,
        h,
        n_q,
        D_V=d_v,
        BLOCK_Q=32,
    )

    inputs = (
        *map(with_strides, (query, key, value, attn_mask)),
        (lse, delta),
        with_strides(grad_output),
    )
    sizes = (
        *groups(query, key, value),
        n_q,
        n_k,
        window_argument(left, right, n_q, n_k),
        scale,
        units_of(scale, softcap),
    )
    features = {"D_K": d_k, "D_V": d_v, "PRECISION": precision(query)}
    plain = attn_mask is None and softcap is None
    options = tile("keys", query, value, plain)
    attention_backward_keys[(triton.cdiv(n_k, options["BLOCK_K"]) * batch * (h // group),)](
        *inputs,
        with_strides(grad_key),
        with_strides(grad_value),
        h,
        group,
        *sizes,
        **features,
        **options,
    )
    options = tile("queries", query, value, plain)
    attention_backward_queries[(triton.cdiv(n_q, options["BLOCK_Q"]) * batch * h,)](
        *inputs, with_strides(grad_query), h, *sizes, **features, **options
    )
    return grad_query, *(
        sum_groups(grad, tensor.shape[1]) for grad, tensor in ((grad_key, key), (grad_value, value))
    )


def sum_groups(grad, heads):
    """Different numbers of heads may share key and value: this sums what is left."""
    if grad.shape[1] == heads:
        return grad
    return grad.unflatten(1, (heads, -1)).sum(2)


# --- for torch.compile, which plans with shapes only, and for autograd ---


@forward.register_fake
def _(query, key, value, attn_mask, left, right, scale, softcap, in_float32=False):
    return new_output(query, value, in_float32)


@backward.register_fake
def _(
    grad_output,
    grad_lse,
    query,
    key,
    value,
    attn_mask,
    output,
    lse,
    left,
    right,
    scale,
    softcap,
    in_float32=False,
):
    return tuple(new(query, tensor.shape, in_float32) for tensor in (query, key, value))


def remember(ctx, inputs, output):
    tensors, ctx.options = inputs[:4], inputs[4:8]
    ctx.save_for_backward(*tensors, *output)


def gradients(ctx, grad_output, grad_lse):
    return *backward(grad_output, grad_lse, *ctx.saved_tensors, *ctx.options), *[None] * 6


forward.register_autograd(gradients, setup_context=remember)


# --- any leading axes ---


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
    d_v = value.shape[-1]
    if d_v == 0:  # the log-sum-exp is still wanted
        value = torch.nn.functional.pad(value, (0, 1))
    tensors, batch = with_leading_axes(query, key, value, attn_mask, enable_gqa)
    output, lse = over_batch(tensors, *limits(is_causal, window), scale, softcap)
    output, lse = (
        output.reshape(*batch, *output.shape[-2:])[..., :d_v],
        lse.reshape(*batch, lse.shape[-1]),
    )
    return (output, lse) if return_lse else output


def with_leading_axes(query, key, value, attn_mask, enable_gqa):
    """Query, key, value and mask as views (*batch, heads, n, d), and the leading axes of the
    output.

    Axes that were broadcast get stride 0; a key that all heads share stays one head.
    """
    leads = [tensor.shape[:-2] for tensor in (query, key, value)]
    if enable_gqa:
        leads = [(*lead[:-1], query.shape[-3]) for lead in leads]
    leading = torch.broadcast_shapes(*leads)
    full = leading or (1,)
    query = query.expand(*full, *query.shape[-2:])
    key, value = (
        tensor.expand(*full[:-1], tensor.shape[-3] if tensor.ndim > 2 else 1, *tensor.shape[-2:])
        for tensor in (key, value)
    )
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*full, query.shape[-2], key.shape[-2])
    return (query, key, value, attn_mask), leading


def over_batch(tensors, *options):
    """The axes before the heads as one, which costs nothing where memory allows it; else one after
    another.
    """
    present = [tensor for tensor in tensors if tensor is not None]
    extra = present[0].ndim - 4
    if extra > 0 and any(
        len(merge_axes(tensor.shape[:-3], [tensor.stride()[:-3]])[0]) > 1 for tensor in present
    ):
        parts = [
            over_batch([tensor if tensor is None else tensor[i] for tensor in tensors], *options)
            for i in range(present[0].shape[0])
        ]
        return tuple(torch.stack(part) for part in zip(*parts))
    tensors = [
        (
            tensor
            if tensor is None
            else tensor.reshape(
                -1 if tensor.numel() else math.prod(tensor.shape[:-3]), *tensor.shape[-3:]
            )
        )
        for tensor in tensors
    ]
    return forward(*tensors, *options)


def unsupported(query, key, value, attn_mask):
    """Why the kernels do not take these tensors, in a sentence, or None if they do."""
    sentence = tiles_triton.unsupported(query, "query")
    if sentence:
        return sentence
    if max(query.shape[-1], value.shape[-1]) > LARGEST_HEAD:
        return (
            f"impl='triton' takes d_k and d_v up to {LARGEST_HEAD}, and impl='online' any; "
            f"got {query.shape[-1]} and {value.shape[-1]}"
        )
    if max(query.shape[-2], key.shape[-2]) > MOST_POSITIONS:
        return (
            f"impl='triton' takes up to 2**30 positions; got {query.shape[-2]} queries and"
            f" {key.shape[-2]} keys"
        )
    if attn_mask is not None and attn_mask.requires_grad and torch.is_grad_enabled():
        return (
            "impl='triton' has no gradient for attn_mask, and impl='online' has; got one that"
            " requires it"
        )
    return None
