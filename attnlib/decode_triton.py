"""Few queries against many keys, as Triton kernels: the keys are split over programs, and the parts
are merged.

Decoding makes one token at a time: one query per head meets a cache of n_k keys. Each key and value
is read for about 4d operations, far too few to keep the chip busy: the time is the bytes of the
cache divided by the bandwidth. The ladder:

1. All queries that share a key head form one tile, h // h_kv heads of n_q queries: the cache is
   read once for all of them, and the tile's rows fill the 16 that the matrix units need at least.
2. Split: batch * h_kv programs would leave most of the chip without work, and its bandwidth unused.
   So each head's keys are split over as many programs as keep all processors busy.
3. Merge: a split leaves its output and its log-sum-exp, 4 (d + 1) bytes per row, and a second
   kernel weighs the outputs by exp(lse of the part - lse): attnlib.merge_partials, for many parts
   at once.

Only the last split may have fewer than LEAST_KEYS keys: with 256 keys of d = 64 in float16, 64 KiB
are read for each 260 bytes that merging adds. Speed on a GPU has not been measured yet.
"""

import math

import torch
import triton
import triton.language as tl

from attnlib.tiles_triton import (
    LOWEST,
    attend,
    capability_of,
    groups,
    head_of,
    load_rows,
    normalised,
    nothing_seen,
    padded_width,
    precision,
    units_of,
    with_strides,
)

FEW_QUERIES, MANY_KEYS = 16, 512  # at most so many queries, at least so many keys
LEAST_KEYS, MOST_SPLITS = 256, 128
PROCESSORS = 132  # of an H200, for the interpreter


@triton.jit
def rows_of_kv_group(kv_group, n_q, group, ROWS: tl.constexpr):
    """Head and position of this tile's rows, the queries of one head after those of another; and
    their number.

    Rows beyond the last repeat it: what they read exists, and what they compute is not stored.
    """
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    inside = tl.minimum(row, group * n_q - 1)
    return kv_group * group + inside // n_q, inside % n_q, row < group * n_q


@triton.jit
def rows_of_heads(matrix, batch, head):
    """head_of, where each row of a tile may be of another head."""
    tensor, strides = matrix
    return (
        tensor + (batch.to(tl.int64) * strides[0] + head.to(tl.int64) * strides[1])[:, None],
        strides,
    )


@triton.jit
def attention_decode(
    query,
    key,
    value,
    mask,
    output,
    lse,
    h,
    group,
    group_k,
    group_v,
    n_q,
    n_k,
    window,
    keys_a_split,
    units,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Attention of one tile of queries over one split of the keys: its output and log-sum-exp."""
    kv_groups, split = h // group, tl.program_id(2)
    batch, kv_group = tl.program_id(0) // kv_groups, tl.program_id(0) % kv_groups
    head, query_at, exists = rows_of_kv_group(kv_group, n_q, group, ROWS)
    key, value = (
        head_of(key, batch, kv_group * group // group_k),
        head_of(value, batch, kv_group * group // group_v),
    )
    if mask is not None:
        mask = rows_of_heads(mask, batch, head)

    rows, strides = rows_of_heads(query, batch, head)
    rows += query_at.to(tl.int64)[:, None] * strides[2]
    q = load_rows((rows, (0, 0, 0, strides[3])), query_at, n_q, D_K, False, PRECISION)
    q = (q * units[0]).to(q.dtype)
    running = nothing_seen(ROWS, D_V)
    first, end = split * keys_a_split, tl.minimum((split + 1) * keys_a_split, n_k)
    whole = end // BLOCK_K * BLOCK_K  # keys_a_split is a multiple of BLOCK_K
    if (
        window[0] is not None or window[1] is not None
    ):  # few comparisons compared with the bytes: no separate loop
        whole = first
    for start in range(first, whole, BLOCK_K):
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
            False,
            PRECISION,
        )
    for start in range(whole, end, BLOCK_K):
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
            True,
            PRECISION,
        )

    out, row_lse = normalised(running)
    batches = tl.num_programs(0) // kv_groups
    at = ((split.to(tl.int64) * batches + batch) * h + head) * n_q + query_at
    tl.store(lse + at, row_lse, mask=exists)
    column = tl.arange(0, padded_width(D_V))
    tl.store(
        output + at[:, None] * D_V + column[None, :],
        out.to(output.dtype.element_ty),
        mask=exists[:, None] & (column < D_V)[None, :],
    )


@triton.jit
def merge_splits(
    parts, part_lse, output, lse, rows, splits, D_V: tl.constexpr, SPLITS: tl.constexpr
):
    """O = sum_s exp(lse_s - lse) O_s for one row, 16 splits at a time."""
    row, column = tl.program_id(0).to(tl.int64), tl.arange(0, padded_width(D_V))
    split = tl.arange(0, SPLITS)
    lses = tl.load(
        part_lse + split.to(tl.int64) * rows + row, mask=split < splits, other=-float("inf")
    )
    highest = tl.maximum(tl.max(lses, 0), LOWEST)
    row_sum = tl.sum(tl.exp(lses - highest), 0)
    total = tl.zeros((padded_width(D_V),), tl.float32)
    for start in range(0, splits, 16):
        at = (start + tl.arange(0, 16)).to(tl.int64) * rows + row
        exists = start + tl.arange(0, 16) < splits
        share = tl.exp(tl.load(part_lse + at, mask=exists, other=-float("inf")) - highest)
        out = tl.load(
            parts + at[:, None] * D_V + column[None, :],
            mask=exists[:, None] & (column < D_V)[None, :],
            other=0,
        )
        total += tl.sum(share[:, None] * out, 0)
    is_empty, row_sum = row_sum == 0, tl.where(row_sum == 0, 1, row_sum)
    result = tl.where(highest == float("inf"), highest, highest + tl.log(row_sum))
    tl.store(lse + row, tl.where(is_empty, -float("inf"), result))
    tl.store(
        output + row * D_V + column,
        (total / row_sum).to(output.dtype.element_ty),
        mask=column < D_V,
    )


# --- launcher ---


def serves(query, key, window):
    return query.shape[2] <= FEW_QUERIES and keys_seen(query, key, window) >= MANY_KEYS


def keys_seen(query, key, window):
    """Under a causal mask or in a window, few queries see few keys: splits of the other keys would
    have nothing to do.
    """
    n_q, n_k = query.shape[2], key.shape[2]
    return n_k if window[1] is None else min(n_k, n_q + window[1])


def config(dtype, d_k, d_v, capability):
    """(BLOCK_K, num_warps, num_stages): enough keys in flight to keep the memory busy, within
    shared memory.
    """
    chip = max(known for known in (75, 80, 90) if known <= max(75, capability))
    size = {64: 0, 128: 1, 256: 2}[max(padded_width(d_k), padded_width(d_v), 64)]
    return TILES[chip, dtype != torch.float32 and chip > 75][size]


TILES = {
    (90, True): ((128, 4, 3), (64, 4, 3), (32, 4, 3)),
    (90, False): ((64, 4, 2), (32, 4, 2), (16, 8, 2)),
    (80, True): ((64, 4, 3), (64, 4, 3), (32, 4, 3)),
    (80, False): ((32, 4, 2), (32, 4, 2), (16, 8, 2)),
    (75, False): ((32, 4, 1), (32, 4, 1), (16, 4, 1)),
}


def processors(tensor):
    return (
        torch.cuda.get_device_properties(tensor.device).multi_processor_count
        if tensor.is_cuda
        else PROCESSORS
    )


def keys_of_split(n_k, programs, block_k, available):
    """How many keys a split has, a multiple of BLOCK_K: two programs for each processor, if there
    are enough keys.
    """
    splits = max(1, min(2 * available // programs, n_k // LEAST_KEYS, MOST_SPLITS))
    return triton.cdiv(triton.cdiv(n_k, splits), block_k) * block_k


def forward(query, key, value, attn_mask, window, scale, softcap, output, lse):
    """Write the output and log-sum-exp of tensors (batch, heads, n, d); key and value may have
    fewer heads.
    """
    batch, h, n_q, d_k = query.shape
    n_k, d_v = keys_seen(query, key, window), value.shape[-1]
    group_k, group_v = groups(query, key, value)
    group = math.gcd(group_k, group_v)
    block_k, warps, stages = config(query.dtype, d_k, d_v, capability_of(query))
    rows = 16 if group * n_q <= 16 else 32
    tiles, kv_groups = triton.cdiv(group * n_q, rows), batch * (h // group)
    keys = keys_of_split(n_k, tiles * kv_groups, block_k, processors(query))
    splits = triton.cdiv(n_k, keys)
    parts, part_lse = output, lse
    if splits > 1:  # in float32, so that merging rounds once
        parts = query.new_empty(splits, *output.shape, dtype=torch.float32)
        part_lse = query.new_empty(splits, *lse.shape, dtype=torch.float32)
    attention_decode[(kv_groups, tiles, splits)](
        *map(with_strides, (query, key, value, attn_mask)),
        parts,
        part_lse,
        h,
        group,
        group_k,
        group_v,
        n_q,
        n_k,
        window,
        keys,
        units_of(scale, softcap),
        D_K=d_k,
        D_V=d_v,
        ROWS=rows,
        BLOCK_K=block_k,
        PRECISION=precision(query),
        num_warps=warps,
        num_stages=stages,
    )
    if splits > 1:
        merge_splits[(lse.numel(),)](
            parts,
            part_lse,
            output,
            lse,
            lse.numel(),
            splits,
            D_V=d_v,
            SPLITS=triton.next_power_of_2(splits),
            num_warps=4,
        )
