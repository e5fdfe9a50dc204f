"""Row softmax as Triton kernels, forward and backward: for short rows, no number is read twice.

The ladder that leads to these kernels:

1. One program, one row: load it, subtract its maximum, exp, divide by the sum, store it. A row of n
   numbers of b bytes moves 2nb bytes: it is read once and written once, and nothing else touches
   memory. torch.exp, sum and division one after another would move about four times as many.
2. Mask the tail: a tile's length is a power of 2, and a row's need not be. What a program reads
   beyond the row is -inf, which adds exp(-inf) = 0 to the sum; beyond the row it writes nothing.
3. Several short rows per program: a row of 16 numbers would leave 31 of 32 threads of a warp idle.
4. Running maximum: a row of more than LONGEST numbers does not fit into a program's registers. It
   is read in blocks that keep a running maximum and sum, then read again to be written: 3nb bytes.
5. Backwards the second time: the blocks that were read last are still in the cache, so the second
   pass begins with them, and much of it costs no traffic with memory.

The backward pass, dS = A * (dA - sum(A * dA)), has the same two forms: 3nb bytes while both rows
stay in registers, and 5nb above.

Speed on a GPU has not been measured yet. Tests check the results, in Triton's interpreter, and what
the compiler makes of the kernels for three generations of chips (tests/test_triton_compiled.py).
"""

import math

import torch
import triton
import triton.language as tl

from attnlib.tiles_triton import LOWEST, merge_axes, on_its_device, unsupported  # noqa: F401, the last for api.py

LONGEST = {
    "forward": 32768,
    "backward": 16384,
}  # numbers of a row that stay in registers: above, they spill
BLOCK_OF_LONG_ROWS = 4096

# --- kernels: rows that stay in registers ---


@triton.jit
def row_starts(row, sizes, strides):
    """Where these rows begin, along three axes; int64 for tensors of 2^31 or more numbers."""
    last, rest = row % sizes[2], row // sizes[2]
    middle, first = rest % sizes[1], rest // sizes[1]
    return (
        first.to(tl.int64) * strides[0]
        + middle.to(tl.int64) * strides[1]
        + last.to(tl.int64) * strides[2]
    )


@triton.jit
def tile_of_rows(sizes, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """This program's rows, the columns, and which of these entries exist."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    return row, column.to(tl.int64), (row < sizes[0] * sizes[1] * sizes[2])[:, None] & (column < n)


@triton.jit
def softmax_rows(
    scores,
    weights,
    sizes,
    scores_strides,
    weights_strides,
    n,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Steps 1 to 3: whole rows in registers."""
    row, column, exists = tile_of_rows(sizes, n, ROWS, BLOCK)
    tile = scores + row_starts(row, sizes, scores_strides)[:, None] + column * scores_strides[3]
    x = tl.load(tile, mask=exists, other=-float("inf")).to(tl.float32)
    exps = tl.exp(x - tl.maximum(tl.max(x, 1), LOWEST)[:, None])
    row_sum = tl.sum(exps, 1)
    # A row where all is masked has the sum 0, and weights 0.
    y = exps / tl.where(row_sum == 0, 1, row_sum)[:, None]
    tile = weights + row_starts(row, sizes, weights_strides)[:, None] + column * weights_strides[3]
    tl.store(tile, y.to(weights.dtype.element_ty), mask=exists)


@triton.jit
def softmax_rows_backward(
    weights,
    grad_weights,
    grad_scores,
    sizes,
    weights_strides,
    grad_strides,
    out_strides,
    n,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """dS = A * (dA - sum(A * dA)), whole rows in registers."""
    row, column, exists = tile_of_rows(sizes, n, ROWS, BLOCK)
    tile = weights + row_starts(row, sizes, weights_strides)[:, None] + column * weights_strides[3]
    y = tl.load(tile, mask=exists, other=0).to(tl.float32)
    tile = grad_weights + row_starts(row, sizes, grad_strides)[:, None] + column * grad_strides[3]
    grad = tl.load(tile, mask=exists, other=0).to(tl.float32)
    product = product_of(y, grad)
    result = product - y * tl.sum(product, 1)[:, None]
    tile = grad_scores + row_starts(row, sizes, out_strides)[:, None] + column * out_strides[3]
    tl.store(tile, result.to(grad_scores.dtype.element_ty), mask=exists)


@triton.jit
def product_of(y, grad):
    """A * dA; a weight of 0 passes nothing back, even where the gradient overflowed: 0 * inf is
    NaN.
    """
    return tl.where(y == 0, 0, y * grad)


# --- kernels: longer rows, one program each, in blocks ---


@triton.jit
def softmax_long_rows(
    scores, weights, sizes, scores_strides, weights_strides, n, BLOCK: tl.constexpr
):
    """Steps 4 and 5: a running maximum and sum, then the weights, the last block first."""
    row, lane = tl.program_id(0), tl.arange(0, BLOCK).to(tl.int64)
    scores += row_starts(row, sizes, scores_strides)
    weights += row_starts(row, sizes, weights_strides)
    highest, row_sum = tl.full((BLOCK,), LOWEST, tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + lane
        x = tl.load(
            scores + at * scores_strides[3],
            mask=at < n,
            other=-float("inf"),
            eviction_policy="evict_last",
        ).to(tl.float32)
        # Every lane has its own maximum, so the threads need not wait for each other. Of the two
        # powers that rescale and add, exp(old - new) and exp(x - new), one is always exp(0).
        power = tl.exp(-tl.abs(x - highest))
        row_sum = tl.where(x > highest, row_sum * power + 1, row_sum + power)
        highest = tl.maximum(highest, x)
    shift = tl.max(highest, 0)
    total = tl.sum(row_sum * tl.exp(highest - shift), 0)
    total = tl.where(total == 0, 1, total)
    for start in range(0, n, BLOCK):
        at = (n - 1) // BLOCK * BLOCK - start + lane
        x = tl.load(
            scores + at * scores_strides[3],
            mask=at < n,
            other=-float("inf"),
            eviction_policy="evict_first",
        ).to(tl.float32)
        y = tl.exp(x - shift) / total
        tl.store(weights + at * weights_strides[3], y.to(weights.dtype.element_ty), mask=at < n)


@triton.jit
def softmax_long_rows_backward(
    weights,
    grad_weights,
    grad_scores,
    sizes,
    weights_strides,
    grad_strides,
    out_strides,
    n,
    BLOCK: tl.constexpr,
):
    """dS = A * (dA - sum(A * dA)): the sum, then the result, the last block first."""
    row, lane = tl.program_id(0), tl.arange(0, BLOCK).to(tl.int64)
    weights += row_starts(row, sizes, weights_strides)
    grad_weights += row_starts(row, sizes, grad_strides)
    grad_scores += row_starts(row, sizes, out_strides)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + lane
        y = tl.load(
            weights + at * weights_strides[3], mask=at < n, other=0, eviction_policy="evict_last"
        )
        grad = tl.load(
            grad_weights + at * grad_strides[3], mask=at < n, other=0, eviction_policy="evict_last"
        )
        sums += product_of(y.to(tl.float32), grad.to(tl.float32))
    total = tl.sum(sums, 0)
    for start in range(0, n, BLOCK):
        at = (n - 1) // BLOCK * BLOCK - start + lane
        y = tl.load(
            weights + at * weights_strides[3], mask=at < n, other=0, eviction_policy="evict_first"
        )
        grad = tl.load(
            grad_weights + at * grad_strides[3], mask=at < n, other=0, eviction_policy="evict_first"
        )
        y, grad = y.to(tl.float32), grad.to(tl.float32)
        result = product_of(y, grad) - y * total
        tl.store(
            grad_scores + at * out_strides[3], result.to(grad_scores.dtype.element_ty), mask=at < n
        )


# --- launchers ---


def config(n, step):
    """Sizes of the tile and how many warps share it: 16 to 32 numbers for each thread."""
    if n > LONGEST[step]:
        return {"BLOCK": BLOCK_OF_LONG_ROWS, "num_warps": 8}
    block = triton.next_power_of_2(n)
    rows = max(1, 2048 // block)
    most = 32 if step == "forward" else 16  # more threads have fewer registers each
    return {"ROWS": rows, "BLOCK": block, "num_warps": min(most, max(4, rows * block // 512))}


def launch(step, short, long, *tensors):
    """Run one of the two kernels over the rows along the last axis; the last tensor is written."""
    *leading, n = tensors[-1].shape
    if tensors[-1].numel() == 0:
        return
    leading, strides = merge_axes(leading, [tensor.stride()[:-1] for tensor in tensors])
    if len(leading) > 3:  # the kernels count along three axes
        for i in range(tensors[-1].shape[0]):
            launch(step, short, long, *(tensor[i] for tensor in tensors))
        return
    sizes = (1,) * (3 - len(leading)) + tuple(leading)
    strides = [
        (0,) * (3 - len(own)) + tuple(own) + (tensor.stride(-1),)
        for own, tensor in zip(strides, tensors)
    ]
    options = config(n, step)
    rows = math.prod(sizes)
    if rows >= 2**31:
        raise ValueError(f"impl='triton' takes fewer than 2**31 rows; got {rows}")
    kernel = short if "ROWS" in options else long
    kernel[(triton.cdiv(rows, options.get("ROWS", 1)),)](*tensors, sizes, *strides, n, **options)


@torch.library.custom_op("attnlib::softmax", mutates_args=())
@on_its_device
def forward(scores: torch.Tensor) -> torch.Tensor:
    weights = torch.empty_like(scores)
    launch("forward", softmax_rows, softmax_long_rows, scores, weights)
    return weights


@torch.library.custom_op("attnlib::softmax_backward", mutates_args=())
@on_its_device
def backward(weights: torch.Tensor, grad_weights: torch.Tensor) -> torch.Tensor:
    grad_scores = torch.empty_like(weights)
    launch(
        "backward",
        softmax_rows_backward,
        softmax_long_rows_backward,
        weights,
        grad_weights,
        grad_scores,
    )
    return grad_scores


# For torch.compile, which plans with shapes only, and for autograd.
forward.register_fake(torch.empty_like)
backward.register_fake(lambda weights, grad_weights: torch.empty_like(weights))
forward.register_autograd(
    lambda ctx, grad: backward(*ctx.saved_tensors, grad),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output),
)


def softmax(scores, axis=-1):
    """exp(scores) over its sum along the axis; see attnlib.softmax."""
    return forward(scores.movedim(axis, -1)).movedim(-1, axis)
