"""Streaming attention in NumPy: a block of keys at a time, never storing all the scores.

Five steps make it fast; each is marked where it is taken. Brackets say how many times as fast as
the step before it is, for 8 heads with n = 4096 and d = 64 on two cores with AVX-512; `python -m
attncourse.bench` measures it again (attncourse/recorded/attention_cpu.json). Without AVX-512,
NumPy's exponential is slower, and the whole has 0.65 to 0.86 of the speed of torch's SDPA for n
from 1024 to 4096 (attncourse/recorded/duel.json).

    Step 1, blocks: a running sum, so that a block of scores can be forgotten. O(n) memory.
        [5.3, sometimes 1.5: the naive way mostly waits for pages of fresh memory]
    Step 2, in place: the same few buffers for every block. [1.04]
    Step 3, scores transposed: a query is a column, so that maxima and sums add up rows. [1.11]
    Step 4, no maximum where none is needed: scores that are known to be small stay as they are.
    [1.31]
    Step 5, threads: one for each core, over heads and blocks of queries. [1.07]

Its twin is online_torch.py. The functions here trust their arguments; attnlib.api checks
them first and documents them.
"""

import collections
import dataclasses
import functools
import math

import numpy as np

from attnlib import threads
from attnlib.dense_numpy import widen
from attnlib.masks import limits

try:  # NumPy 2.1 or newer
    from numpy.lib.introspect import opt_func_info
except ImportError:
    opt_func_info = None  # type: ignore[assignment]

QUERIES, KEYS = 512, 512  # a block of scores is 1 MiB of float32, which a cache holds
DIAGONAL = 128  # keys that a causal mask cuts through at once
TASK = 1024  # queries whose sums a thread finishes at once: fewer steps in Python
SMALL = 40  # largest score, in powers of 2, that needs no maximum
LOG2_E = math.log2(math.e)


def exp2_is_faster():
    """exp2 is 1.8 times as fast as exp where NumPy runs its loop for AVX-512, 2.7 times as slow
    elsewhere.
    """
    if opt_func_info is None:
        return False
    listed = opt_func_info(
        func_name="^exp2$", signature="float32"
    ).values()  # none if NumPy has no loop for it
    return any(
        name in loop["current"]
        for loops in listed
        for loop in loops.values()
        for name in ("X86_V4", "AVX512")
    )


EXP2_IS_FASTER = exp2_is_faster()


@dataclasses.dataclass
class Head:
    """One head: its matrices, views of the arguments, and the options that all heads share."""

    index: tuple
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    attn_mask: np.ndarray | None
    left: int | None  # of a window, as in limits()
    right: int | None  # 0: causal
    scale: float
    softcap: float | None

    @functools.cached_property
    def longest_key(self):
        """The largest norm of a key."""
        return longest(self.key)

    @functools.cached_property
    def has_tiny_values(self):
        """Whether a value, times the smallest weight that needs no maximum, may fall below the
        normal numbers.
        """
        least = 2**64 * np.finfo(wide_dtype(self.value)).tiny
        blocks = (np.abs(widen(self.value[keys])) for keys in blocks_of(0, len(self.value), KEYS))
        return any(((block > 0) & (block < least)).any() for block in blocks)

    @functools.cached_property
    def scales_queries(self):
        """Whether a query times the scale keeps its digits, so that the scores need not be scaled
        one by one.

        What such a product loses below the normal numbers is less than 2^-149 for each feature;
        keys
        and softcaps below these bounds make no more than 2^-29 of it.
        """
        factor = abs(self.scale) / (self.softcap or 1)
        fits = (
            2**-40 <= factor <= 2**40 and (self.softcap or 0) <= 2**40 and self.longest_key <= 2**80
        )
        return fits and (factor <= 1 or longest(self.query) <= 2**80)


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
    heads = split_heads(
        query,
        key,
        value,
        attn_mask,
        is_causal=is_causal,
        window=window,
        scale=scale,
        softcap=softcap,
        enable_gqa=enable_gqa,
    )
    output, lse = forward(heads, query, key, value, enable_gqa, query.dtype)
    return (output, lse) if return_lse else output


def forward(heads, query, key, value, enable_gqa, dtype):
    """The output in this dtype, and the log-sum-exp."""
    shape = (*leading_axes(query, key, value, enable_gqa), query.shape[-2], value.shape[-1])
    output, lse = np.empty(shape, dtype), np.empty(shape[:-1], wide_dtype(query))

    def attend_to_keys(task, scratch):
        head, rows = task
        attend(head, rows, scratch, output[head.index], lse[head.index])

    threads.run(attend_to_keys, forward_tasks(heads), cost(heads, query, key))
    return output, lse


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
    heads = split_heads(
        query,
        key,
        value,
        attn_mask,
        is_causal=is_causal,
        window=window,
        scale=scale,
        softcap=softcap,
        enable_gqa=enable_gqa,
    )
    output, lse = forward(heads, query, key, value, enable_gqa, wide_dtype(query))
    grads = [np.zeros(array.shape, wide_dtype(array)) for array in (query, key, value)]

    def add_gradients(group, scratch):
        for head in group:
            own = [matrix_at(grad, head.index, output.shape[:-2]) for grad in grads]
            for rows in query_blocks(query):
                result = (array[head.index][rows] for array in (output, lse, grad_output))
                backward_block(head, rows, *result, *own, scratch)

    threads.run(add_gradients, groups_of(heads, grads, output.shape[:-2]), cost(heads, query, key))
    return tuple(grad.astype(query.dtype, copy=False) for grad in grads)


def merge_partials(out_a, lse_a, out_b, lse_b):
    """Attention over two sets of keys, from attention over each; see attnlib.merge_partials."""
    with np.errstate(all="ignore"):
        highest = np.maximum(lse_a, lse_b)
        weight_a, weight_b = (np.exp(lse - finite(highest)) for lse in (lse_a, lse_b))
        # Not exp(lse_a - lse): if lse is large, its rounding would be a factor on both shares.
        row_sum = weight_a + weight_b
        row_sum = np.where(row_sum == 0, 1, row_sum)
        lse = np.where(np.isinf(highest), highest, np.log(row_sum) + highest)
        output = share_of(out_a, lse_a, weight_a / row_sum) + share_of(
            out_b, lse_b, weight_b / row_sum
        )
        return output.astype(out_a.dtype), lse


def share_of(output, lse, share):
    """What a part contributes to the merged output: 0 if it has no keys, whatever its output
    holds."""
    return share[..., None] * np.where(lse[..., None] == -np.inf, 0, widen(output))


# --- heads and blocks ---


def wide_dtype(array):
    return widen(array[..., :0]).dtype


def longest(vectors):
    """Their largest norm; NaN or inf if an entry or a square is."""
    blocks = (widen(vectors[rows]) for rows in blocks_of(0, len(vectors), KEYS))
    return math.sqrt(max((np.vecdot(block, block).max() for block in blocks), default=0))


def leading_axes(query, key, value, enable_gqa):
    """The axes before the last two, broadcast; grouped heads count as often as query's heads."""
    shapes = [array.shape[:-2] for array in (query, key, value)]
    if enable_gqa:
        shapes = [(*shape[:-1], query.shape[-3]) for shape in shapes]
    return np.broadcast_shapes(*shapes)


def split_heads(query, key, value, attn_mask, *, is_causal, window, scale, softcap, enable_gqa):
    """Every head with its matrices; nothing is copied."""
    batch = leading_axes(query, key, value, enable_gqa)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    softcap = None if softcap is None else float(softcap)
    arrays = [query, key, value, None if attn_mask is None else np.atleast_2d(attn_mask)]
    options = *limits(is_causal, window), scale, softcap
    return [
        Head(index, *[matrix_at(array, index, batch) for array in arrays], *options)
        for index in np.ndindex(*batch)
    ]


def matrix_at(array, index, batch):
    return None if array is None else array[own_index(array.shape[:-2], index, batch)]


def own_index(sizes, index, batch):
    """Where an array with these leading axes keeps the matrix of `index`.

    i * size // full is i for an axis of full size, 0 for one that is broadcast, and
    i // (h // h_kv) for grouped heads.
    """
    start = len(batch) - len(sizes)
    return tuple(i * size // full for i, size, full in zip(index[start:], sizes, batch[start:]))


def groups_of(heads, grads, batch):
    """Heads in lists, so that no two lists add to the same gradient."""
    groups = collections.defaultdict(list)
    for head in heads:
        groups[own_index(unshared(grads, batch), head.index, batch)].append(head)
    return list(groups.values())


def unshared(arrays, batch):
    """For each leading axis, the number of parts that share no matrix."""
    padded = [(1,) * (len(batch) + 2 - array.ndim) + array.shape for array in arrays]
    return tuple(math.gcd(*sizes) for sizes in zip(*padded))[:-2]


def cost(heads, query, key):
    """Multiplications in Q Kᵀ."""
    return len(heads) * query.shape[-2] * key.shape[-2] * query.shape[-1]


def blocks_of(start, stop, size):
    return [slice(at, min(at + size, stop)) for at in range(start, stop, size)]


def query_blocks(query):
    """The last blocks first: under a causal mask they take longest."""
    return blocks_of(0, query.shape[-2], QUERIES)[::-1]


def forward_tasks(heads):
    """(head, queries) for a thread: fewer queries if some threads would have nothing to do, and the
    last ones first, because under a causal mask they take longest.
    """
    if not heads:
        return []
    n_q, size, least = len(heads[0].query), TASK, rows_at_once(heads[0])
    while size > least and len(heads) * n_q < 4 * threads.thread_bound() * size:
        size = max(least, size // 2)
    return [(head, rows) for rows in blocks_of(0, n_q, size)[::-1] for head in heads]


def forward_rows(head, rows):
    """The blocks of queries of a task."""
    return blocks_of(rows.start, rows.stop, rows_at_once(head))


def rows_at_once(head):
    """Half as many queries as in the backward pass, so that blocks have twice as many keys, unless
    a mask may leave some out, or keys of half precision would be widened twice as often.
    """
    whole = head.attn_mask is not None or head.key.dtype.itemsize == 2
    return QUERIES if whole else (QUERIES + 1) // 2


def key_blocks(head, rows):
    """Blocks of keys, none outside the window of all these queries, smaller ones along a causal
    mask's diagonal. The first of these is one with the block before it: fewer and larger products.
    """
    n_k, size = len(head.key), KEYS * QUERIES // (rows.stop - rows.start)
    start = 0 if head.left is None else max(0, rows.start - head.left)
    stop = n_k if head.right is None else min(n_k, rows.stop + head.right)
    diagonal = max(start, min(stop, rows.start)) if head.right == 0 else stop
    before, along = blocks_of(start, diagonal, size), blocks_of(diagonal, stop, DIAGONAL)
    if before and along:
        before[-1] = slice(before[-1].start, along.pop(0).stop)
    return before + along


def masks_at(head, rows, keys):
    """What the masks say about a block, transposed: a list of booleans, and a number to add or
    None. A boolean array covers the last keys and the first queries of the block. None if no query
    may attend to any of the keys.
    """
    allowed, added = [], None
    if head.attn_mask is not None:
        block = mask_at(head.attn_mask, rows, keys)
        if block.dtype != bool:
            added = widen(block)
            block = added != -np.inf
        if not block.any():
            return None
        if not block.all():
            shape = keys.stop - keys.start, rows.stop - rows.start
            allowed.append(np.broadcast_to(np.ascontiguousarray(block), shape))
    if head.right == 0 and keys.stop > rows.start + 1:
        allowed.append(upper_triangle(keys.stop - rows.start))
    if head.left is not None and keys.start < rows.stop - 1 - head.left:
        allowed.append(steps(rows, keys) >= -head.left)
    if head.right and keys.stop - 1 > rows.start + head.right:
        allowed.append(steps(rows, keys) <= head.right)
    return allowed, added


def steps(rows, keys):
    """The distance from each query to each key; keys are rows."""
    return np.arange(keys.start, keys.stop)[:, None] - np.arange(rows.start, rows.stop)


def mask_at(attn_mask, rows, keys):
    """The part of a mask (n_q, n_k), transposed; an axis of size 1 stays as it is."""
    n_q, n_k = attn_mask.shape
    return attn_mask[rows if n_q > 1 else slice(None), keys if n_k > 1 else slice(None)].T


@functools.cache
def upper_triangle(size):
    """On the diagonal: key <= query; keys are rows."""
    return np.tri(size, dtype=bool).T.copy()


def scratch_array(scratch, name, shape, dtype):
    """Step 2: an array of this shape in memory that every block uses again."""
    size = math.prod(shape)
    if name not in scratch or scratch[name].size < size:
        scratch[name] = np.empty(size, dtype)
    return scratch[name][:size].reshape(shape)


def finite(shift):
    """-inf, which stands for no keys yet, as 0: -inf - -inf would be NaN."""
    return np.where(shift == -np.inf, 0, shift)


# --- one block of queries ---


def attend(head, rows, scratch, output, lse):
    """Write the output and the log-sum-exp of the queries of one task."""
    query = widen(head.query[rows])
    small = scores_are_small(head, query)
    total, row_sum, shift = sum_blocks(head, rows, query, small, scratch)
    if small and has_lost_digits(head, total, scratch):  # again, with a maximum and weights below 1
        total, row_sum, shift = sum_blocks(head, rows, query, False, scratch)
    np.divide(
        total, np.where(row_sum == 0, 1, row_sum)[:, None], out=output[rows], casting="same_kind"
    )
    lse[rows] = np.where(np.isinf(shift), shift, np.log(row_sum) + shift)


def has_lost_digits(head, total, scratch):
    """Whether huge values overflowed, or tiny ones may have vanished beside a small weight."""
    size = np.abs(total, out=scratch_array(scratch, "product", total.shape, total.dtype))
    if not size.max(initial=0) < np.inf:
        return True
    return bool(
        size.min(initial=np.inf) < len(head.key) * np.finfo(total.dtype).tiny
        and head.has_tiny_values
    )


def scores_are_small(head, query):
    """Step 4: no score is larger than |q| |k| scale (Cauchy and Schwarz), nor than softcap.

    If that is small, exp neither overflows nor underflows, and the maximum, which cancels in the
    end, can be left out.
    """
    if head.attn_mask is not None and head.attn_mask.dtype != bool:
        return False
    bound = math.sqrt(np.vecdot(query, query).max()) * head.longest_key * abs(head.scale)
    if head.softcap is not None and math.isfinite(bound):
        bound = min(bound, head.softcap)
    return bound * LOG2_E <= SMALL  # False for NaN


def sum_blocks(head, task, query, small, scratch):
    """Sums over all keys of exp(score - shift) * value and of exp(score - shift), and the shift,
    for the queries of a task.
    """
    total = scratch_array(scratch, "total", (len(query), head.value.shape[-1]), query.dtype)
    total[:] = 0
    row_sum = np.zeros(len(query), query.dtype)
    shift = np.full(len(query), 0 if small else -np.inf, query.dtype)
    query = scaled(head, query, exponential(small)[1])
    for rows in forward_rows(head, task):
        own = slice(rows.start - task.start, rows.stop - task.start)
        sum_keys(head, rows, query[own], small, (total[own], row_sum[own], shift[own]), scratch)
    return total, row_sum, shift


def exponential(small):
    """A function, and what its arguments are multiplied by to make it exp."""
    return (np.exp2, LOG2_E) if small and EXP2_IS_FASTER else (np.exp, 1)


def sum_keys(head, rows, query, small, sums, scratch):
    """Step 1: the sums of one block of queries, a block of keys at a time."""
    exp, unit = exponential(small)
    is_first = True
    for keys in key_blocks(head, rows):
        first = max(rows.start, keys.start) if head.right == 0 else rows.start
        masks = masks_at(head, slice(first, rows.stop), keys)
        if masks is None:
            continue
        seen = slice(first - rows.start, None)
        total, row_sum, shift = (array[seen] for array in sums)
        scores = score_block(head, query[seen], keys, unit, scratch)
        if not small:
            mask_block(scores, *masks)
            subtract_shift(scores, len(head.key), shift, total, row_sum)
        weights = exp(scores, out=scores)
        if small:
            for part in masks[0]:
                covered(weights, part)[...] *= part
        is_first = is_first and first == rows.start
        add_block(weights, widen(head.value[keys]), total, row_sum, is_first, scratch)
        is_first = False


def scaled(head, query, unit):
    """The scale multiplies the queries, which are fewer than the scores."""
    if not head.scales_queries:
        return query
    return query * query.dtype.type(
        head.scale * unit if head.softcap is None else head.scale / head.softcap
    )


def score_block(head, query, keys, unit, scratch):
    """Step 3: scores (keys, queries), from a query already scaled."""
    scores = scratch_array(scratch, "scores", (keys.stop - keys.start, len(query)), query.dtype)
    np.matmul(widen(head.key[keys]), query.T, out=scores)
    if not head.scales_queries:
        return scale_block(head, scores, unit)
    if head.softcap is not None:
        np.tanh(scores, out=scores)
        scores *= query.dtype.type(head.softcap * unit)
    return scores


def scale_block(head, scores, unit):
    """Scores that are scaled one by one and by one factor after the other, because the product of
    the factors may not be a number of this dtype.
    """
    scores *= head.scale
    if head.softcap is not None:
        scores /= head.softcap
        np.tanh(scores, out=scores)
        scores *= head.softcap
    if unit != 1:
        scores *= unit
    return scores


def mask_block(scores, allowed, added):
    if added is not None:
        scores += added
    for part in allowed:  # also if inf - inf is NaN
        np.copyto(covered(scores, part), -np.inf, where=~part)


def covered(block, part):
    """The last keys and the first queries: as many as this mask has."""
    return block[len(block) - len(part) :, : part.shape[1]]


def subtract_shift(scores, n_k, shift, total, row_sum):
    """Shift by the running maximum + log n_k; where it has moved, older sums are rescaled.

    log n_k keeps the sum of all weights at 1 or below, so that no sum of values overflows.
    """
    moved = np.maximum(shift, scores.max(0) + shift.dtype.type(math.log(n_k)))
    if (moved != shift).any():
        factor = np.exp(shift - finite(moved))
        row_sum *= factor
        total *= factor[:, None]
        shift[:] = moved
    scores -= finite(shift)


def add_block(weights, value, total, row_sum, is_first, scratch):
    """weights is (keys, queries); the sum over keys is a product too. The first block is written
    where others are added.
    """
    ones = all_ones(len(weights), weights.dtype)
    if is_first:
        np.matmul(ones, weights, out=row_sum)
        np.matmul(weights.T, value, out=total)
        return
    row_sum += ones @ weights
    total += np.matmul(
        weights.T, value, out=scratch_array(scratch, "product", total.shape, total.dtype)
    )


def all_ones(size, dtype):
    """Made once for all sizes up to the next power of 2."""
    return ones_to_cut(1 << size.bit_length(), dtype)[:size]


@functools.cache
def ones_to_cut(size, dtype):
    return np.ones(size, dtype)


# --- backward: the weights of a block again, from the log-sum-exp ---


def backward_block(head, rows, output, lse, grad_output, grad_query, grad_key, grad_value, scratch):
    """Add what one block of queries contributes to the gradients of its head."""
    query, grad_output = widen(head.query[rows]), widen(grad_output)
    delta = (grad_output * output).sum(-1)  # rowsum(A * dA) = rowsum(dO * O)
    lse = np.where(lse == -np.inf, np.inf, lse)  # the weights of an empty row are 0
    for keys in key_blocks(head, rows):
        first = max(rows.start, keys.start) if head.right == 0 else rows.start
        masks = masks_at(head, slice(first, rows.stop), keys)
        if masks is None:
            continue
        seen = slice(first - rows.start, None)
        key, value = widen(head.key[keys]), widen(head.value[keys])
        weights, slope = weight_block(head, query[seen], keys, lse[seen], masks, scratch)
        grad_scores = np.matmul(
            value,
            grad_output[seen].T,
            out=scratch_array(scratch, "grad", weights.shape, query.dtype),
        )
        grad_scores -= delta[seen]
        grad_scores *= weights
        grad_scores *= slope
        # A weight of 0 passes nothing back, even where the product overflowed.
        np.copyto(grad_scores, 0, where=weights == 0)
        grad_value[keys] += weights @ grad_output[seen]
        grad_query[first : rows.stop] += grad_scores.T @ key * query.dtype.type(head.scale)
        grad_key[keys] += grad_scores @ query[seen] * query.dtype.type(head.scale)


def weight_block(head, query, keys, lse, masks, scratch):
    """Weights (keys, queries), exp(score - lse), and the slope of the softcap."""
    scores = score_block(head, scaled(head, query, 1), keys, 1, scratch)
    slope = 1 if head.softcap is None else 1 - (scores / query.dtype.type(head.softcap)) ** 2
    mask_block(scores, *masks)
    scores -= lse
    return np.exp(scores, out=scores), slope
