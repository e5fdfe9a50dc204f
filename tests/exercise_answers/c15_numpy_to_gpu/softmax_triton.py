"""Answers to softmax_triton, written as learners write them."""

import os

import torch
import torch.nn.functional as F

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("softmax_triton")


@triton.jit
def row_kernel(x_ptr, out_ptr, x_stride, out_stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + columns, powers / tl.sum(powers, axis=0), mask=mask)


@answers.right()
def one_program_a_row(scores):
    scores = scores.contiguous()
    rows, n = scores.shape
    out = torch.empty_like(scores)
    row_kernel[(rows,)](
        scores, out, scores.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n)
    )
    return out


@triton.jit
def online_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    columns = tl.arange(0, BLOCK)
    highest = -float("inf")
    total = 0.0
    for first in range(0, n, BLOCK):
        x = tl.load(
            x_ptr + start + first + columns, mask=first + columns < n, other=-float("inf")
        ).to(tl.float32)
        new = tl.maximum(highest, tl.max(x, 0))
        total = total * tl.exp(highest - new) + tl.sum(tl.exp(x - new), 0)
        highest = new
    for first in range(0, n, BLOCK):
        mask = first + columns < n
        x = tl.load(x_ptr + start + first + columns, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + start + first + columns, tl.exp(x - highest) / total, mask=mask)


@answers.right()
def blocks_of_a_row(scores):
    scores = scores.contiguous()
    out = torch.empty_like(scores)
    online_kernel[(scores.shape[0],)](scores, out, scores.shape[1], BLOCK=1024)
    return out


@triton.jit
def rows_kernel(x_ptr, out_ptr, rows, n, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    mask = (row < rows) & (column < n)
    x = tl.load(x_ptr + row * stride + column, mask=mask, other=-1e30)
    x = x.to(tl.float32) * 1.4426950408889634
    powers = tl.exp2(x - tl.max(x, axis=1)[:, None])
    weights = powers / tl.sum(powers, axis=1)[:, None]
    tl.store(out_ptr + row * stride + column, weights.to(out_ptr.dtype.element_ty), mask=mask)


@answers.right()
def several_rows_a_program(scores):
    scores = scores.contiguous()
    out = torch.zeros_like(scores)
    rows, n = scores.shape
    grid = (triton.cdiv(rows, 4),)
    rows_kernel[grid](scores, out, rows, n, n, ROWS=4, BLOCK=max(triton.next_power_of_2(n), 2))
    return out


@triton.jit
def statistics_kernel(x_ptr, highest_ptr, total_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf")).to(tl.float32)
    highest = tl.max(x, 0)
    tl.store(highest_ptr + row, highest)
    tl.store(total_ptr + row, tl.sum(tl.exp(x - highest), 0))


@triton.jit
def normalise_kernel(x_ptr, highest_ptr, total_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n).to(tl.float32)
    weights = tl.exp(x - tl.load(highest_ptr + row)) / tl.load(total_ptr + row)
    tl.store(out_ptr + row * n + columns, weights, mask=columns < n)


@answers.right()
def two_kernels(scores):
    scores = scores.contiguous()
    rows, n = scores.shape
    highest = torch.empty(rows, device=scores.device)
    total, out = torch.empty_like(highest), torch.empty_like(scores)
    statistics_kernel[(rows,)](scores, highest, total, n, BLOCK=triton.next_power_of_2(n))
    normalise_kernel[(rows, triton.cdiv(n, 512))](scores, highest, total, out, n, BLOCK=512)
    return out


@triton.jit
def softmax_kernel(
    x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr, HOW: tl.constexpr, LOW: tl.constexpr
):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    if HOW == "zero padding" or HOW == "zeros in the maximum":
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
    elif HOW == "no other":
        x = tl.load(x_ptr + row * stride + columns, mask=mask).to(tl.float32)
    elif HOW == "no mask":
        x = tl.load(x_ptr + row * stride + columns).to(tl.float32)
    elif HOW == "no cast" or HOW == "no cast, no maximum":
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float("inf"))
    elif HOW == "no stride":
        x = tl.load(x_ptr + row + columns, mask=mask, other=-float("inf")).to(tl.float32)
    else:
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=LOW).to(tl.float32)
    if HOW == "minimum":
        x = x - tl.min(tl.where(mask, x, float("inf")), axis=0)
    elif HOW == "maximum from 0":
        x = x - tl.maximum(tl.max(x, axis=0), 0.0)
    elif HOW != "no maximum" and HOW != "no cast, no maximum":
        x = x - tl.max(x, axis=0)
    if HOW == "exp2":
        powers = tl.exp2(x)
    else:
        powers = tl.exp(x)
    if HOW == "zeros in the maximum":
        powers = tl.where(mask, powers, 0.0)
    if HOW == "no division":
        weights = powers
    elif HOW == "divided by the largest":
        weights = powers / tl.max(powers, axis=0)
    else:
        weights = powers / tl.sum(powers, axis=0)
    if HOW == "no mask on the store":
        tl.store(out_ptr + row * stride + columns, weights)
    elif HOW == "no stride in the store":
        tl.store(out_ptr + row + columns, weights, mask=mask)
    elif HOW != "no store":
        tl.store(out_ptr + row * stride + columns, weights, mask=mask)


def launched(
    how,
    block=triton.next_power_of_2,
    stride=lambda n: n,
    grid=lambda rows, n: (rows,),
    out=torch.empty_like,
    low=-float("inf"),
):
    def answer(scores):
        scores = scores.contiguous()
        result = out(scores)
        rows, n = scores.shape
        softmax_kernel[grid(rows, n)](
            scores, result, stride(n), n, BLOCK=block(n), HOW=how, LOW=low
        )
        return result

    return answer


answers.right(launched("right", low=torch.finfo(torch.float32).min))
answers.right(launched("no cast"))  # tl.max gives float32, and so does the difference

for number, (names, function) in enumerate(
    (
        (["padding counted as zeros"], launched("zero padding")),
        (["padding counted as zeros"], launched("no other")),
        (
            ["padding counted as zeros"],
            launched("zero padding", block=lambda n: max(128, triton.next_power_of_2(n))),
        ),
        (["negative number instead of -inf"], launched("right", low=-1e4)),
        (["negative number instead of -inf"], launched("right", low=-1e9)),
        (["edge not masked"], launched("no mask")),
        (["edge not masked"], launched("no mask on the store")),
        (
            ["half precision not cast to float32", "no maximum subtracted"],
            launched("no cast, no maximum"),
        ),
        (["row's number without the stride"], launched("no stride")),
        (["row's number without the stride"], launched("no stride in the store")),
        (["minimum subtracted instead of maximum"], launched("minimum")),
        (["padding counted in the maximum"], launched("zeros in the maximum")),
        (["maximum never below 0"], launched("maximum from 0")),
        (["no maximum subtracted"], launched("no maximum")),
        (["power of 2 instead of e"], launched("exp2")),
        (["not divided by the sum"], launched("no division")),
        (
            ["not divided by the sum", "last rows not computed"],
            launched(
                "divided by the largest",
                grid=lambda rows, n: (max(rows - 1, 1),),
                out=torch.zeros_like,
            ),
        ),
        (["nothing written"], launched("no store")),
        (["nothing written"], launched("no store", out=torch.zeros_like)),
        (["fixed block"], launched("right", block=lambda n: 1024)),
        (
            ["block shorter than the row"],
            launched("right", block=lambda n: 1 << (n.bit_length() - 1)),
        ),
        (["fixed block"], launched("right", block=lambda n: 256, out=torch.zeros_like)),
        (
            ["block's length used as the row's stride"],
            launched("right", stride=triton.next_power_of_2),
        ),
        (["only the first row"], launched("right", grid=lambda rows, n: (1,))),
        (
            ["only the first row"],
            launched("right", grid=lambda rows, n: (1,), out=torch.zeros_like),
        ),
        (["grid of columns instead of rows"], launched("right", grid=lambda rows, n: (n,))),
        (
            ["float32 leaks out"],
            launched("right", out=lambda x: torch.empty(x.shape, device=x.device)),
        ),
        (["argument overwritten"], launched("right", out=lambda x: x)),
    )
):
    function.__name__ = f"softmax_kernel_{number}"
    answers.wrong(*names, function=function)


@answers.wrong("no Triton kernel launched")
def softmax_of_torch(scores):
    return torch.softmax(scores, dim=-1)


@answers.wrong("no Triton kernel launched")
def softmax_by_hand(scores):
    powers = torch.exp(scores.float() - scores.float().max(-1, keepdim=True).values)
    return (powers / powers.sum(-1, keepdim=True)).to(scores.dtype)


@answers.wrong("torch's own softmax called")
def softmax_with_a_dummy(scores):
    one_program_a_row(scores)
    return F.softmax(scores, dim=-1)


@triton.jit
def tiled_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, HOW: tl.constexpr, FIRST: tl.constexpr):
    start = tl.program_id(0) * n
    columns = tl.arange(0, BLOCK)
    highest = FIRST
    total = 0.0
    for first in range(0, n, BLOCK):
        x = tl.load(
            x_ptr + start + first + columns, mask=first + columns < n, other=-float("inf")
        ).to(tl.float32)
        new = tl.maximum(highest, tl.max(x, 0))
        if HOW == "sum not rescaled":
            total = total + tl.sum(tl.exp(x - new), 0)
        elif HOW == "last block":
            total = tl.sum(tl.exp(x - new), 0)
        elif HOW == "tile maximum":
            total = total + tl.sum(tl.exp(x - tl.max(x, 0)), 0)
        else:
            total = total * tl.exp(highest - new) + tl.sum(tl.exp(x - new), 0)
        highest = new
    for first in range(0, n, BLOCK):
        mask = first + columns < n
        x = tl.load(x_ptr + start + first + columns, mask=mask, other=-float("inf")).to(tl.float32)
        if HOW == "tile maximum":
            tl.store(out_ptr + start + first + columns, tl.exp(x - tl.max(x, 0)) / total, mask=mask)
        else:
            tl.store(out_ptr + start + first + columns, tl.exp(x - highest) / total, mask=mask)


def tiled(how, block, first=-float("inf")):
    def answer(scores):
        scores = scores.contiguous()
        out = torch.empty_like(scores)
        tiled_kernel[(scores.shape[0],)](
            scores, out, scores.shape[1], BLOCK=block, HOW=how, FIRST=first
        )
        return out

    answer.__name__ = f"softmax_{how}".replace(" ", "_")
    return answer


answers.wrong("maximum starts too high", function=tiled("right", 1024, first=-1e9))
answers.wrong("maximum starts too high", function=tiled("right", 512, first=-1e4))
answers.wrong("sum not rescaled", function=tiled("sum not rescaled", 512))
answers.wrong("block measured from its own maximum", function=tiled("tile maximum", 1024))


@answers.wrong("grid of columns instead of rows")
def softmax_by_the_smaller_size(scores):
    scores = scores.contiguous()
    rows, n = scores.shape
    out = torch.zeros_like(scores)
    row_kernel[(min(rows, n),)](
        scores, out, scores.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n)
    )
    return out
