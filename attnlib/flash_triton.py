"""Fused attention as Triton kernels, forward and backward: no (n_q, n_k) array is ever in memory.

The ladder that leads to these kernels:

1. Tile: one program has BLOCK_Q queries of one head, and meets the keys and values a block at a time.
   A block of scores lives in registers alone. In float16 with d = 128 a program reads 32 KiB of
   queries once, then 512 bytes for each key and its value, for 512 * BLOCK_Q operations: the matrix
   units, not the memory, set the pace.
2. Mask the tail: lengths and head sizes are no multiples of a tile. What lies beyond is read as 0,
   and its scores are -inf.
3. Running maximum: the softmax of a row is not known before its last key. The output so far is
   rescaled whenever the row's maximum moves, and divided by the sum of the weights at the end.
   The log-sum-exp, 4 bytes a row, is all that the backward pass needs of the weights.
4. Skip blocks: under a causal mask a program stops at its diagonal, which halves the work; in a window
   it begins where its first query does. Only the blocks on these edges compare positions at all.
5. Pipeline: while one block is multiplied, the next num_stages - 1 are on their way to shared memory.
6. exp2: the hardware has no exp. log2(e) goes into the scale, which costs nothing.
7. Descriptors: on an H100 and newer, one instruction copies a whole block of keys or values, whose place a
   descriptor knows. 128 keys of d = 128 in float16 take 2,048 copies of 16 bytes otherwise, each with an
   address that some thread has to compute and keep. Off until it has been measured: DESCRIPTORS.

Backward, the weights come back as exp(scores - lse). Two kernels, one for the gradients of keys and
values, one for those of queries: each sums what is its own in a fixed order, with no atomics, so
that every run gives the same bits. It costs 7 matrix products where one kernel with atomics has 5.

Masks are read where they are, by their strides (0 along an axis that was broadcast). Grouped heads
share a key head by index. Few queries against many keys go to decode_triton.py.

Speed on a GPU has not been measured yet, so the tiles of `config` are those that compile without
spilling registers (tests/test_triton_compiled.py), not those that were found to be fastest.
"""

import math
from typing import Optional

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from attnlib import softmax_triton
from attnlib.masks import limits
from attnlib.softmax_triton import INTERPRETED, LOWEST, merge_axes, on_its_device

LOG2_E, LN_2 = tl.constexpr(1.4426950408889634), tl.constexpr(0.6931471805599453)
LARGEST_TF32 = tl.constexpr(3.4011621342146535e38)
LARGEST_HEAD = 256
MOST_POSITIONS = 2**30  # a position and a tile's length are added in int32


# --- what the kernels share ---

@triton.jit
def head_of(tensor, strides, batch, head):
    """Where the matrix of one head begins; int64, for tensors of 2^31 numbers and more."""
    if strides is None:  # a descriptor: it knows where everything is
        return tensor, batch, head
    else:
        return tensor + batch.to(tl.int64) * strides[0] + head.to(tl.int64) * strides[1]


@triton.jit
def load_rows(matrix, strides, row, n, D: tl.constexpr, ALL: tl.constexpr, PRECISION: tl.constexpr):
    """Rows of a matrix of D columns, as wide as a power of 2: what lies beyond is 0."""
    BLOCK_D: tl.constexpr = width(D)
    column = tl.arange(0, BLOCK_D)
    tile = matrix + row.to(tl.int64)[:, None] * strides[2] + column.to(tl.int64)[None, :] * strides[3]
    if ALL and D == BLOCK_D:  # nothing to compare
        x = tl.load(tile)
    else:
        x = tl.load(tile, mask=(row < n)[:, None] & (column < D)[None, :], other=0.0)
    if PRECISION == "upcast":
        x = x.to(tl.float32)  # Triton's interpreter would multiply the bits of bfloat16 as whole numbers
    if PRECISION == "tf32x3":
        # The last numbers below inf would become inf in the first of the three parts.
        x = tl.where(tl.abs(x) < float("inf"), tl.clamp(x, -LARGEST_TF32, LARGEST_TF32), x)
    return x


@triton.jit
def load_block(matrix, strides, start, n, D: tl.constexpr, BLOCK: tl.constexpr, ALL: tl.constexpr,
               PRECISION: tl.constexpr):
    """load_rows for BLOCK rows in a row; a descriptor, which has no strides here, fills in the zeros by itself."""
    if strides is None:
        descriptor, batch, head = matrix
        x = descriptor.load([batch, head, start, 0]).reshape(BLOCK, width(D))
        return x.to(tl.float32) if PRECISION == "upcast" else x
    else:
        return load_rows(matrix, strides, start + tl.arange(0, BLOCK), n, D, ALL, PRECISION)


@triton.jit
def store_rows(x, matrix, strides, row, n, D: tl.constexpr):
    column = tl.arange(0, width(D))
    tile = matrix + row.to(tl.int64)[:, None] * strides[2] + column.to(tl.int64)[None, :] * strides[3]
    tl.store(tile, x.to(matrix.dtype.element_ty), mask=(row < n)[:, None] & (column < D)[None, :])


@triton.constexpr_function
def width(d):
    """A power of 2, and no less than the matrix units take."""
    return max(16, triton.next_power_of_2(d))


@triton.jit
def product(a, b, total, PRECISION: tl.constexpr):
    """total + a b, summed in float32; float32 is multiplied in three parts where the chip has tf32 for it."""
    if PRECISION == "tf32x3":
        return tl.dot(a, b, total, input_precision="tf32x3")
    return tl.dot(a, b, total, input_precision="ieee")


@triton.jit
def score_block(rows, columns, mask, mask_strides, query_at, key_at, n_q, n_k, window, unit, cap,
                CHECK: tl.constexpr, MASK: tl.constexpr, SOFTCAP: tl.constexpr, PRECISION: tl.constexpr):
    """A block of masked scores, what to multiply them by to have powers of 2, and the softcap's slope.

    Rows are queries and columns keys, or the other way round: query_at and key_at, the positions,
    have an axis of size 1 to tell. The window is (left, right), None where there is no limit.
    """
    scores = tl.dot(rows, tl.trans(columns), input_precision="tf32x3" if PRECISION == "tf32x3" else "ieee")
    slope = 1.0
    if SOFTCAP:
        tanh = 1 - 2 / (1 + tl.exp2(scores * (2 * LOG2_E * unit)))
        scores, slope, unit = cap * tanh, 1 - tanh * tanh, 1.0
    if MASK != "none":
        at = mask + query_at.to(tl.int64) * mask_strides[2] + key_at.to(tl.int64) * mask_strides[3]
        if CHECK:
            bias = tl.load(at, mask=(query_at < n_q) & (key_at < n_k), other=0)
        else:
            bias = tl.load(at, mask=query_at < n_q, other=0)
        if MASK == "boolean":
            scores = tl.where(bias != 0, scores, -float("inf"))
        else:
            bias = bias.to(tl.float32)
            # Not the sum alone: inf, a score that overflowed, plus -inf is NaN.
            scores = tl.where(bias == -float("inf"), -float("inf"), scores * unit + bias * LOG2_E)
            unit = 1.0
    if CHECK:
        seen = key_at < n_k
        if window[0] is not None:
            seen = seen & (key_at >= query_at - window[0])
        if window[1] is not None:
            seen = seen & (key_at - window[1] <= query_at)
        scores = tl.where(seen, scores, -float("inf"))
    return scores, unit, slope


@triton.jit
def keys_met(block, n_q, n_k, window, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):
    """Where a block of queries begins to meet keys, up to where all of them see whole blocks, and where it ends.

    With a limit to the left no block counts as whole: a third loop, for the edge there, would spill registers.
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
    """Where a block of keys begins to meet queries, from where on these see all of it, and where it ends.

    Keys and queries that are not there need no check: keys have rows of their own, which are not stored,
    and the weights of the queries are 0.
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
def attend(q, key, value, mask, key_strides, value_strides, mask_strides, query_at, start, n_q, n_k, window, unit,
           cap, highest, row_sum, total, D_K: tl.constexpr, D_V: tl.constexpr, BLOCK_K: tl.constexpr,
           CHECK: tl.constexpr, MASK: tl.constexpr, SOFTCAP: tl.constexpr, PRECISION: tl.constexpr):
    """One more block of keys: the running maximum, the sum of the weights, and the sum of weighted values."""
    key_at = start + tl.arange(0, BLOCK_K)
    k = load_block(key, key_strides, start, n_k, D_K, BLOCK_K, not CHECK, PRECISION)
    scores, unit, _ = score_block(q, k, mask, mask_strides, query_at[:, None], key_at[None, :], n_q, n_k, window, unit,
                                  cap, CHECK, MASK, SOFTCAP, PRECISION)
    # unit > 0: the maximum comes first, and scaling and subtracting are one instruction for each score.
    moved = tl.maximum(highest, tl.max(scores, 1) * unit)
    weights = tl.exp2(scores * unit - moved[:, None])
    factor = tl.exp2(highest - moved)
    row_sum = row_sum * factor + tl.sum(weights, 1)
    v = load_block(value, value_strides, start, n_k, D_V, BLOCK_K, not CHECK, PRECISION)
    total = product(weights.to(v.dtype), v, total * factor[:, None], PRECISION)
    return moved, row_sum, total


@triton.jit
def normalised(highest, row_sum, total):
    """Output and log-sum-exp; a row that saw no key has the sum 0, output 0 and log-sum-exp -inf."""
    is_empty, row_sum = row_sum == 0, tl.where(row_sum == 0, 1, row_sum)
    lse = tl.where(highest == float("inf"), highest, (highest + tl.log2(row_sum)) * LN_2)
    return total / row_sum[:, None], tl.where(is_empty, -float("inf"), lse)


@triton.jit
def attention_forward(query, key, value, mask, output, lse, query_strides, key_strides, value_strides, mask_strides,
                      output_strides, h, group_k, group_v, n_q, n_k, window, sign, unit, cap,
                      D_K: tl.constexpr, D_V: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
                      MASK: tl.constexpr, SOFTCAP: tl.constexpr, PRECISION: tl.constexpr):
    blocks = tl.cdiv(n_q, BLOCK_Q)
    # The last queries first: under a causal mask they see the most keys, and nobody has to wait for them.
    block = blocks - 1 - tl.program_id(0) % blocks
    batch, head = tl.program_id(0) // blocks // h, tl.program_id(0) // blocks % h
    query, output = head_of(query, query_strides, batch, head), head_of(output, output_strides, batch, head)
    key, value = head_of(key, key_strides, batch, head // group_k), head_of(value, value_strides, batch, head // group_v)
    mask = head_of(mask, mask_strides, batch, head)

    query_at = block * BLOCK_Q + tl.arange(0, BLOCK_Q)
    q = load_rows(query, query_strides, query_at, n_q, D_K, False, PRECISION)
    q = (q * sign).to(q.dtype)
    highest = tl.full((BLOCK_Q,), LOWEST, tl.float32)
    row_sum = tl.zeros((BLOCK_Q,), tl.float32)
    total = tl.zeros((BLOCK_Q, width(D_V)), tl.float32)
    edges = keys_met(block, n_q, n_k, window, BLOCK_Q, BLOCK_K)
    for part in tl.static_range(0 if window[0] is None else 1, 2):
        for start in range(edges[part], edges[part + 1], BLOCK_K):
            highest, row_sum, total = attend(
                q, key, value, mask, key_strides, value_strides, mask_strides, query_at, start, n_q, n_k, window, unit,
                cap, highest, row_sum, total, D_K, D_V, BLOCK_K, part == 1, MASK, SOFTCAP, PRECISION)
    out, row_lse = normalised(highest, row_sum, total)
    store_rows(out, output, output_strides, query_at, n_q, D_V)
    lse += (batch * h + head).to(tl.int64) * n_q
    tl.store(lse + query_at, row_lse, mask=query_at < n_q)


# --- backward ---

@triton.jit
def attention_delta(output, grad_output, grad_lse, delta, output_strides, grad_strides, h, n_q, D_V: tl.constexpr,
                    BLOCK_Q: tl.constexpr):
    """rowsum(dO * O), which is rowsum(A * dA), less the gradient of the log-sum-exp, which is the weights."""
    blocks = tl.cdiv(n_q, BLOCK_Q)
    block, both = tl.program_id(0) % blocks, tl.program_id(0) // blocks
    output = head_of(output, output_strides, both // h, both % h)
    grad_output = head_of(grad_output, grad_strides, both // h, both % h)
    row = block * BLOCK_Q + tl.arange(0, BLOCK_Q)
    out = load_rows(output, output_strides, row, n_q, D_V, False, "ieee").to(tl.float32)
    grad = load_rows(grad_output, grad_strides, row, n_q, D_V, False, "ieee").to(tl.float32)
    at = both.to(tl.int64) * n_q + row
    result = tl.sum(out * grad, 1) - tl.load(grad_lse + at, mask=row < n_q, other=0)
    tl.store(delta + at, result, mask=row < n_q)


@triton.jit
def row_facts(lse, delta, both, row, n_q):
    """The log-sum-exp, as a power of 2, and delta; rows without a key, and rows that are not there, have weights 0."""
    at = both.to(tl.int64) * n_q + row
    power = tl.load(lse + at, mask=row < n_q, other=-float("inf")) * LOG2_E
    return tl.where(power == -float("inf"), float("inf"), power), tl.load(delta + at, mask=row < n_q, other=0)


@triton.jit
def grad_block(weights, grad_weights, delta, slope):
    """The gradient of scores; a weight of 0 passes nothing back, even where the product overflowed."""
    return tl.where(weights == 0, 0, weights * (grad_weights - delta) * slope)


@triton.jit
def backward_queries(q, grad_out, power, delta, key, value, mask, key_strides, value_strides, mask_strides, query_at,
                     start, n_q, n_k, window, unit, cap, grad_q, D_K: tl.constexpr, D_V: tl.constexpr,
                     BLOCK_K: tl.constexpr, CHECK: tl.constexpr, MASK: tl.constexpr, SOFTCAP: tl.constexpr,
                     PRECISION: tl.constexpr):
    """What one block of keys adds to the gradient of these queries."""
    key_at = start + tl.arange(0, BLOCK_K)
    k = load_rows(key, key_strides, key_at, n_k, D_K, not CHECK, PRECISION)
    v = load_rows(value, value_strides, key_at, n_k, D_V, not CHECK, PRECISION)
    scores, unit, slope = score_block(q, k, mask, mask_strides, query_at[:, None], key_at[None, :], n_q, n_k, window,
                                      unit, cap, CHECK, MASK, SOFTCAP, PRECISION)
    weights = tl.exp2(scores * unit - power[:, None])
    grad_weights = tl.dot(grad_out, tl.trans(v), input_precision="tf32x3" if PRECISION == "tf32x3" else "ieee")
    grad_scores = grad_block(weights, grad_weights, delta[:, None], slope)
    return product(grad_scores.to(k.dtype), k, grad_q, PRECISION)


@triton.jit
def attention_backward_queries(query, key, value, mask, lse, delta, grad_output, grad_query, query_strides,
                               key_strides, value_strides, mask_strides, grad_strides, out_strides, h, group_k,
                               group_v, n_q, n_k, window, sign, scale, unit, cap, D_K: tl.constexpr,
                               D_V: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
                               MASK: tl.constexpr, SOFTCAP: tl.constexpr, PRECISION: tl.constexpr):
    """dQ = scale * dS K: the same walk over the keys as forward."""
    blocks = tl.cdiv(n_q, BLOCK_Q)
    block = blocks - 1 - tl.program_id(0) % blocks
    batch, head = tl.program_id(0) // blocks // h, tl.program_id(0) // blocks % h
    query, grad_query = head_of(query, query_strides, batch, head), head_of(grad_query, out_strides, batch, head)
    key, value = head_of(key, key_strides, batch, head // group_k), head_of(value, value_strides, batch, head // group_v)
    mask, grad_output = head_of(mask, mask_strides, batch, head), head_of(grad_output, grad_strides, batch, head)

    query_at = block * BLOCK_Q + tl.arange(0, BLOCK_Q)
    q = load_rows(query, query_strides, query_at, n_q, D_K, False, PRECISION)
    q = (q * sign).to(q.dtype)
    grad_out = load_rows(grad_output, grad_strides, query_at, n_q, D_V, False, PRECISION)
    power, row_delta = row_facts(lse, delta, batch * h + head, query_at, n_q)
    grad_q = tl.zeros((BLOCK_Q, width(D_K)), tl.float32)
    edges = keys_met(block, n_q, n_k, window, BLOCK_Q, BLOCK_K)
    for part in tl.static_range(0 if window[0] is None else 1, 2):
        for start in range(edges[part], edges[part + 1], BLOCK_K):
            grad_q = backward_queries(q, grad_out, power, row_delta, key, value, mask, key_strides, value_strides,
                                      mask_strides, query_at, start, n_q, n_k, window, unit, cap, grad_q, D_K, D_V,
                                      BLOCK_K, part == 1, MASK, SOFTCAP, PRECISION)
    store_rows(grad_q * scale, grad_query, out_strides, query_at, n_q, D_K)


@triton.jit
def backward_keys(k, v, query, grad_output, mask, lse, delta, both, query_strides, grad_strides, mask_strides, key_at,
                  start, n_q, n_k, window, unit, cap, grad_k, grad_v, D_K: tl.constexpr, D_V: tl.constexpr,
                  BLOCK_Q: tl.constexpr, CHECK: tl.constexpr, MASK: tl.constexpr, SOFTCAP: tl.constexpr,
                  PRECISION: tl.constexpr):
    """What one block of queries adds to the gradients of these keys and values; blocks lie as (keys, queries)."""
    query_at = start + tl.arange(0, BLOCK_Q)
    q = load_rows(query, query_strides, query_at, n_q, D_K, False, PRECISION)
    grad_out = load_rows(grad_output, grad_strides, query_at, n_q, D_V, False, PRECISION)
    power, row_delta = row_facts(lse, delta, both, query_at, n_q)
    scores, unit, slope = score_block(k, q, mask, mask_strides, query_at[None, :], key_at[:, None], n_q, n_k, window,
                                      unit, cap, CHECK, MASK, SOFTCAP, PRECISION)
    weights = tl.exp2(scores * unit - power[None, :])
    grad_v = product(weights.to(grad_out.dtype), grad_out, grad_v, PRECISION)
    grad_weights = tl.dot(v, tl.trans(grad_out), input_precision="tf32x3" if PRECISION == "tf32x3" else "ieee")
    grad_scores = grad_block(weights, grad_weights, row_delta[None, :], slope)
    return product(grad_scores.to(q.dtype), q, grad_k, PRECISION), grad_v


@triton.jit
def attention_backward_keys(query, key, value, mask, lse, delta, grad_output, grad_key, grad_value, query_strides,
                            key_strides, value_strides, mask_strides, grad_strides, out_strides_k, out_strides_v, h,
                            group, group_k, group_v, n_q, n_k, window, sign, scale, unit, cap, D_K: tl.constexpr,
                            D_V: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, MASK: tl.constexpr,
                            SOFTCAP: tl.constexpr, PRECISION: tl.constexpr):
    """dK = scale * dSᵀ Q and dV = Aᵀ dO, summed over the query heads of the group."""
    blocks = tl.cdiv(n_k, BLOCK_K)
    block, packs = tl.program_id(0) % blocks, h // group  # the first keys, which the most queries see, come first
    batch, pack = tl.program_id(0) // blocks // packs, tl.program_id(0) // blocks % packs
    key = head_of(key, key_strides, batch, pack * group // group_k)
    value = head_of(value, value_strides, batch, pack * group // group_v)
    key_at = block * BLOCK_K + tl.arange(0, BLOCK_K)
    k = load_rows(key, key_strides, key_at, n_k, D_K, False, PRECISION)
    k = (k * sign).to(k.dtype)
    v = load_rows(value, value_strides, key_at, n_k, D_V, False, PRECISION)
    grad_k = tl.zeros((BLOCK_K, width(D_K)), tl.float32)
    grad_v = tl.zeros((BLOCK_K, width(D_V)), tl.float32)
    edges = queries_met(block, n_q, n_k, window, BLOCK_Q, BLOCK_K)
    for head in range(pack * group, (pack + 1) * group):
        head = tl.cast(head, tl.int32)
        q_head, grad_head = head_of(query, query_strides, batch, head), head_of(grad_output, grad_strides, batch, head)
        mask_head = head_of(mask, mask_strides, batch, head)
        for part in tl.static_range(0, 2 if window[0] is None else 1):
            for start in range(edges[part], edges[part + 1], BLOCK_Q):
                grad_k, grad_v = backward_keys(
                    k, v, q_head, grad_head, mask_head, lse, delta, batch * h + head, query_strides, grad_strides,
                    mask_strides, key_at, start, n_q, n_k, window, unit, cap, grad_k, grad_v, D_K, D_V, BLOCK_Q,
                    part == 0 or MASK != "none", MASK, SOFTCAP, PRECISION)
    store_rows(grad_k * scale, head_of(grad_key, out_strides_k, batch, pack), out_strides_k, key_at, n_k, D_K)
    store_rows(grad_v, head_of(grad_value, out_strides_v, batch, pack), out_strides_v, key_at, n_k, D_V)


# --- launchers ---

def config(step, dtype, d_k, d_v, capability, plain):
    """(BLOCK_Q, BLOCK_K, num_warps, num_stages) that fit the chip's registers and shared memory.

    A mask and a softcap (not plain) take registers of their own, and some tiles have to be smaller.
    """
    chip = max(known for known in (75, 80, 90) if known <= max(75, capability))
    half = dtype != torch.float32 and chip > 75  # a T4's products are done in float32: see `precision`
    size = {64: 0, 128: 1, 256: 2}[max(width(d_k), width(d_v), 64)]
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
    ("forward", 90, 1): (128, 64, 8, 2), ("keys", 90, 1): (16, 64, 8, 2),
    ("forward", 80, 0): (128, 32, 4, 3), ("forward", 80, 1): (128, 32, 8, 3), ("forward", 80, 2): (64, 32, 8, 2),
    ("queries", 80, 0): (64, 32, 4, 2), ("keys", 80, 0): (32, 64, 8, 1), ("keys", 80, 1): (32, 64, 8, 1),
}


DESCRIPTORS = False  # whether keys and values are read by them: measured by bench_cuda.py, not yet on a device


def described(tensor, block):
    """The tensor and its strides; or, on an H100 and newer, its descriptor and None, where such a one is possible.

    The unit that copies by descriptors (TMA) wants rows without gaps between their numbers, and all else in
    multiples of 16 bytes.
    """
    *steps, last = tensor.stride()
    aligned = last == 1 and all(step > 0 and step * tensor.element_size() % 16 == 0 for step in steps)
    if (not DESCRIPTORS or capability_of(tensor) < 90 or tensor.dtype == torch.float32 or not aligned
            or tensor.data_ptr() % 16):
        return tensor, tensor.stride()
    return TensorDescriptor.from_tensor(tensor, [1, 1, block, width(tensor.shape[-1])]), None


def capability_of(tensor):
    """80 for compute capability 8.0; the interpreter takes any tile."""
    if tensor.device.type != "cuda":
        return 90
    major, minor = torch.cuda.get_device_capability(tensor.device)
    return 10 * major + minor


def tile(step, query, value, plain):
    capability = capability_of(query)
    block_q, block_k, warps, stages = config(step, query.dtype, query.shape[-1], value.shape[-1], capability, plain)
    return {"BLOCK_Q": block_q, "BLOCK_K": block_k, "num_warps": warps, "num_stages": stages}


def precision(query):
    """How matrix products are done: "tf32x3" on the matrix units in three parts, as exact as float32.

    "upcast" multiplies in float32 what is half precision: in the interpreter, which has no bfloat16, and
    on a T4, for whose matrix units Triton (3.6 and 3.7) has no instructions.
    """
    if query.dtype == torch.bfloat16 and INTERPRETED or query.dtype == torch.float16 and capability_of(query) < 80:
        return "upcast"
    return "tf32x3" if query.dtype == torch.float32 and capability_of(query) >= 80 else "ieee"


def numbers(scale, softcap):
    """The scale's sign, and what the products are multiplied by: above 0, so that a maximum stays one.

    A scale of 0 is a sign of 0. Without softcap the products become powers of 2 at once.
    """
    sign, size = (scale > 0) - (scale < 0), abs(scale) or 1.0
    return (float(sign), size * LOG2_E.value, 1.0) if softcap is None else (float(sign), size / softcap, softcap * LOG2_E.value)


def mask_arguments(attn_mask, like):
    """The mask as the kernels read it, its strides and its kind; any tensor stands for none."""
    if attn_mask is None:
        return like, (0, 0, 0, 0), "none"
    if attn_mask.dtype == torch.bool:
        return attn_mask.view(torch.uint8), attn_mask.stride(), "boolean"
    return attn_mask, attn_mask.stride(), "floating"


def window_argument(left, right, n_q, n_k):
    """(left, right) as the kernels read it, in int32: None also where all keys are near enough."""
    return (None if left is None or left >= n_q - 1 else left,
            None if right is None or right >= n_k - 1 else right)


def groups(query, key, value):
    """How many query heads share a key head, and a value head."""
    h = query.shape[1]
    return h // max(1, key.shape[1]), h // max(1, value.shape[1])


@torch.library.custom_op("attnlib::attention", mutates_args=())
@on_its_device
def forward(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: Optional[torch.Tensor],
            left: Optional[int], right: Optional[int], scale: float, softcap: Optional[float]) -> tuple[
                torch.Tensor, torch.Tensor]:
    """Output and log-sum-exp of tensors (batch, heads, n, d); key and value may have fewer heads.

    A query sees as many keys before its own position as left says, and after it as right says; causal: right = 0.
    """
    batch, h, n_q, d_k = query.shape
    n_k, d_v = value.shape[2:]
    output, lse = new_output(query, value)
    if batch * h * n_q * n_k == 0:
        return output.zero_(), lse.fill_(-math.inf)
    from attnlib import decode_triton  # here, since it builds on this file
    window = window_argument(left, right, n_q, n_k)
    if decode_triton.serves(query, key, window):
        decode_triton.forward(query, key, value, attn_mask, window, scale, softcap, output, lse)
        return output, lse
    mask, mask_strides, kind = mask_arguments(attn_mask, query)
    options = tile("forward", query, value, plain=attn_mask is None and softcap is None)
    (keys, key_strides), (values, value_strides) = (described(tensor, options["BLOCK_K"]) for tensor in (key, value))
    attention_forward[(triton.cdiv(n_q, options["BLOCK_Q"]) * batch * h,)](
        query, keys, values, mask, output, lse, query.stride(), key_strides, value_strides, mask_strides,
        output.stride(), h, *groups(query, key, value), n_q, n_k, window, *numbers(scale, softcap), D_K=d_k, D_V=d_v,
        MASK=kind, SOFTCAP=softcap is not None, PRECISION=precision(query), **options)
    return output, lse


def new_output(query, value):
    """Empty output and log-sum-exp, the latter in float32: partial results are merged by it."""
    *rows, _ = query.shape
    return query.new_empty(*rows, value.shape[-1]), query.new_empty(rows, dtype=torch.float32)


@torch.library.custom_op("attnlib::attention_backward", mutates_args=())
@on_its_device
def backward(grad_output: torch.Tensor, grad_lse: torch.Tensor, query: torch.Tensor, key: torch.Tensor,
             value: torch.Tensor, attn_mask: Optional[torch.Tensor], output: torch.Tensor, lse: torch.Tensor,
             left: Optional[int], right: Optional[int], scale: float, softcap: Optional[float]) -> tuple[
                 torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of query, key and value."""
    batch, h, n_q, d_k = query.shape
    n_k, d_v = value.shape[2:]
    if batch * h * n_q * n_k == 0:
        return tuple(torch.zeros_like(tensor, memory_format=torch.contiguous_format) for tensor in (query, key, value))
    group = math.gcd(*groups(query, key, value))
    grad_query = torch.empty_like(query, memory_format=torch.contiguous_format)
    grad_key, grad_value = (tensor.new_empty(batch, h // group, n_k, tensor.shape[-1]) for tensor in (key, value))
    delta, grad_lse = torch.empty_like(lse), grad_lse.contiguous()
    attention_delta[(triton.cdiv(n_q, 32) * batch * h,)](
        output, grad_output, grad_lse, delta, output.stride(), grad_output.stride(), h, n_q, D_V=d_v, BLOCK_Q=32)

    mask, mask_strides, kind = mask_arguments(attn_mask, query)
    sign, *units = numbers(scale, softcap)
    features = {"D_K": d_k, "D_V": d_v, "MASK": kind, "SOFTCAP": softcap is not None, "PRECISION": precision(query)}
    window = window_argument(left, right, n_q, n_k)
    strides = query.stride(), key.stride(), value.stride(), mask_strides, grad_output.stride()
    plain = attn_mask is None and softcap is None
    options = tile("keys", query, value, plain)
    attention_backward_keys[(triton.cdiv(n_k, options["BLOCK_K"]) * batch * (h // group),)](
        query, key, value, mask, lse, delta, grad_output, grad_key, grad_value, *strides, grad_key.stride(),
        grad_value.stride(), h, group, *groups(query, key, value), n_q, n_k, window, sign, scale, *units, **features,
        **options)
    options = tile("queries", query, value, plain)
    attention_backward_queries[(triton.cdiv(n_q, options["BLOCK_Q"]) * batch * h,)](
        query, key, value, mask, lse, delta, grad_output, grad_query, *strides, grad_query.stride(), h,
        *groups(query, key, value), n_q, n_k, window, sign, scale, *units, **features, **options)
    return grad_query, *(sum_groups(grad, tensor.shape[1]) for grad, tensor in ((grad_key, key), (grad_value, value)))


def sum_groups(grad, heads):
    """Key and value may be shared by different numbers of heads: what is left to sum."""
    if grad.shape[1] == heads:
        return grad
    return grad.unflatten(1, (heads, -1)).sum(2)


# --- for torch.compile, which plans with shapes alone, and for autograd ---

@forward.register_fake
def _(query, key, value, attn_mask, *options):
    return new_output(query, value)


@backward.register_fake
def _(grad_output, grad_lse, query, key, value, *others):
    return tuple(torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in (query, key, value))


def remember(ctx, inputs, output):
    tensors, ctx.options = inputs[:4], inputs[4:]
    ctx.save_for_backward(*tensors, *output)


def gradients(ctx, grad_output, grad_lse):
    return *backward(grad_output, grad_lse, *ctx.saved_tensors, *ctx.options), *[None] * 5


forward.register_autograd(gradients, setup_context=remember)


# --- any leading axes ---

def attention(query, key, value, attn_mask=None, *, is_causal=False, window=None,
              scale=None, softcap=None, enable_gqa=False, return_lse=False):
    """softmax(mask(cap(scale * Q Kᵀ))) V; see attnlib.attention."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    softcap = None if softcap is None else float(softcap)
    d_v = value.shape[-1]
    if d_v == 0:  # the log-sum-exp is wanted all the same
        value = torch.nn.functional.pad(value, (0, 1))
    tensors, batch = with_leading_axes(query, key, value, attn_mask, enable_gqa)
    output, lse = over_batch(tensors, *limits(is_causal, window), scale, softcap)
    output, lse = output.reshape(*batch, *output.shape[-2:])[..., :d_v], lse.reshape(*batch, lse.shape[-1])
    return (output, lse) if return_lse else output


def with_leading_axes(query, key, value, attn_mask, enable_gqa):
    """Query, key, value and mask as views (*batch, heads, n, d), and the leading axes of the output.

    Axes that were broadcast get stride 0; a key that all heads share stays one head.
    """
    leads = [tensor.shape[:-2] for tensor in (query, key, value)]
    if enable_gqa:
        leads = [(*lead[:-1], query.shape[-3]) for lead in leads]
    leading = torch.broadcast_shapes(*leads)
    full = leading or (1,)
    query = query.expand(*full, *query.shape[-2:])
    key, value = (tensor.expand(*full[:-1], tensor.shape[-3] if tensor.ndim > 2 else 1, *tensor.shape[-2:])
                  for tensor in (key, value))
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*full, query.shape[-2], key.shape[-2])
    return (query, key, value, attn_mask), leading


def over_batch(tensors, *options):
    """The axes before the heads as one, which costs nothing where memory allows it; else one after another."""
    present = [tensor for tensor in tensors if tensor is not None]
    extra = present[0].ndim - 4
    if extra > 0 and any(len(merge_axes(tensor.shape[:-3], [tensor.stride()[:-3]])[0]) > 1 for tensor in present):
        parts = [over_batch([tensor if tensor is None else tensor[i] for tensor in tensors], *options)
                 for i in range(present[0].shape[0])]
        return tuple(torch.stack(part) for part in zip(*parts))
    tensors = [tensor if tensor is None else tensor.reshape(-1 if tensor.numel() else math.prod(tensor.shape[:-3]),
                                                            *tensor.shape[-3:]) for tensor in tensors]
    return forward(*tensors, *options)


def unsupported(query, key, value, attn_mask):
    """Why the kernels do not take these tensors, in a sentence, or None where they do."""
    sentence = softmax_triton.unsupported(query, "query")
    if sentence:
        return sentence
    if max(query.shape[-1], value.shape[-1]) > LARGEST_HEAD:
        return (f"impl='triton' takes d_k and d_v up to {LARGEST_HEAD}, and impl='online' any; "
                f"got {query.shape[-1]} and {value.shape[-1]}")
    if max(query.shape[-2], key.shape[-2]) > MOST_POSITIONS:
        return f"impl='triton' takes up to 2**30 positions; got {query.shape[-2]} queries and {key.shape[-2]} keys"
    if attn_mask is not None and attn_mask.requires_grad and torch.is_grad_enabled():
        return "impl='triton' has no gradient for attn_mask, and impl='online' has; got one that requires it"
    return None
