"""Answers to matmul_triton, written as learners write them."""

import os

import torch

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("matmul_triton")


@triton.jit
def tile_kernel(a_ptr, b_ptr, out_ptr, m, n, k, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for first in range(0, k, BLOCK):
        inner = first + tl.arange(0, BLOCK)
        a = tl.load(
            a_ptr + row[:, None] * k + inner[None, :],
            mask=(row[:, None] < m) & (inner[None, :] < k),
            other=0.0,
        )
        b = tl.load(
            b_ptr + inner[:, None] * n + column[None, :],
            mask=(inner[:, None] < k) & (column[None, :] < n),
            other=0.0,
        )
        total += tl.dot(a, b, input_precision="ieee")
    tl.store(
        out_ptr + row[:, None] * n + column[None, :],
        total,
        mask=(row[:, None] < m) & (column[None, :] < n),
    )


def tiles_of(block):
    def answer(a, b):
        a, b = a.contiguous(), b.contiguous()
        (m, k), n = a.shape, b.shape[1]
        out = torch.empty(m, n, dtype=a.dtype, device=a.device)
        tile_kernel[(triton.cdiv(m, block), triton.cdiv(n, block))](a, b, out, m, n, k, BLOCK=block)
        return out

    answer.__name__ = f"tiles_of_{block}"
    return answer


answers.right(tiles_of(16))
answers.right(tiles_of(32))


@triton.jit
def strided_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    m,
    n,
    k,
    a_row,
    a_col,
    b_row,
    b_col,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    INNER: tl.constexpr,
):
    """Pointers that move on, one axis of programs, tiles that are not square."""
    across = tl.cdiv(n, COLUMNS)
    row = tl.program_id(0) // across * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(0) % across * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inner = tl.arange(0, INNER)
    a_ptrs, b_ptrs = (
        a_ptr + row * a_row + inner[None, :] * a_col,
        b_ptr + inner[:, None] * b_row + column * b_col,
    )
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, INNER)):
        left = k - step * INNER
        a = tl.load(a_ptrs, mask=(row < m) & (inner[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(inner[:, None] < left) & (column < n), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        a_ptrs += INNER * a_col
        b_ptrs += INNER * b_row
    tl.store(
        out_ptr + row * n + column,
        total.to(out_ptr.dtype.element_ty),
        mask=(row < m) & (column < n),
    )


@answers.right()
def with_all_strides(a, b):
    (m, k), n = a.shape, b.shape[1]
    out = torch.zeros((m, n), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(m, 16) * triton.cdiv(n, 32),)
    strided_kernel[grid](
        a, b, out, m, n, k, *a.stride(), *b.stride(), ROWS=16, COLUMNS=32, INNER=64
    )
    return out


@triton.jit
def row_kernel(a_ptr, b_ptr, out_ptr, n, k, BLOCK: tl.constexpr, INNER: tl.constexpr):
    """One row of the output a program, and no tl.dot."""
    row, column = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, k, INNER):
        inner = first + tl.arange(0, INNER)
        a = tl.load(a_ptr + row * k + inner, mask=inner < k, other=0.0).to(tl.float32)
        b = tl.load(
            b_ptr + inner[:, None] * n + column[None, :],
            mask=(inner[:, None] < k) & (column[None, :] < n),
            other=0.0,
        )
        total += tl.sum(a[:, None] * b, axis=0)
    tl.store(out_ptr + row * n + column, total, mask=column < n)


@answers.right()
def a_row_a_program(a, b):
    a, b = a.contiguous(), b.contiguous()
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    row_kernel[(m, triton.cdiv(n, 64))](a, b, out, n, k, BLOCK=64, INNER=32)
    return out


@triton.jit
def wrong_kernel(a_ptr, b_ptr, out_ptr, m, n, k, BLOCK: tl.constexpr, HOW: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    if HOW == "one axis":
        column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    steps = tl.cdiv(k, BLOCK)
    if HOW == "tail":
        steps = k // BLOCK
    elif HOW == "first":
        steps = 1
    for step in range(0, steps):
        inner = step * BLOCK + tl.arange(0, BLOCK)
        at = inner
        if HOW == "not moved":
            at = tl.arange(0, BLOCK)
        rows, columns, inside = row[:, None] < m, column[None, :] < n, inner < k
        if HOW == "inner not masked":
            inside = inner >= 0
        if HOW == "not masked":
            a = tl.load(a_ptr + row[:, None] * k + at[None, :])
            b = tl.load(b_ptr + at[:, None] * n + column[None, :])
        elif HOW == "stride of a":
            a = tl.load(
                a_ptr + row[:, None] * k + at[None, :], mask=rows & inside[None, :], other=0.0
            )
            b = tl.load(
                b_ptr + at[:, None] * k + column[None, :], mask=inside[:, None] & columns, other=0.0
            )
        elif HOW == "minus infinity":
            a = tl.load(
                a_ptr + row[:, None] * k + at[None, :],
                mask=rows & inside[None, :],
                other=-float("inf"),
            )
            b = tl.load(
                b_ptr + at[:, None] * n + column[None, :],
                mask=inside[:, None] & columns,
                other=-float("inf"),
            )
        elif HOW == "b transposed":
            a = tl.load(
                a_ptr + row[:, None] * k + at[None, :], mask=rows & inside[None, :], other=0.0
            )
            b = tl.load(
                b_ptr + at[:, None] + column[None, :] * k, mask=inside[:, None] & columns, other=0.0
            )
        else:
            a = tl.load(
                a_ptr + row[:, None] * k + at[None, :], mask=rows & inside[None, :], other=0.0
            )
            b = tl.load(
                b_ptr + at[:, None] * n + column[None, :], mask=inside[:, None] & columns, other=0.0
            )
        if HOW == "tf32":
            a = (a.to(tl.float32).to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)
            b = (b.to(tl.float32).to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)
        if HOW == "halved":
            a, b = a.to(tl.float16).to(tl.float32), b.to(tl.float16).to(tl.float32)
        if HOW == "half":
            total = (total.to(tl.float16) + tl.dot(a, b, input_precision="ieee").to(tl.float16)).to(
                tl.float32
            )
        elif HOW == "half for half":
            part = tl.dot(a, b, input_precision="ieee").to(out_ptr.dtype.element_ty)
            total = (total.to(out_ptr.dtype.element_ty) + part).to(tl.float32)
        elif HOW == "half sum":
            total = (total + tl.dot(a, b, input_precision="ieee")).to(tl.float16).to(tl.float32)
        elif HOW == "half parts":
            part = tl.dot(a, b, input_precision="ieee").to(out_ptr.dtype.element_ty)
            total += part.to(tl.float32)
        elif HOW == "stored in half":
            total = (
                (total + tl.dot(a, b, input_precision="ieee"))
                .to(out_ptr.dtype.element_ty)
                .to(tl.float32)
            )
        elif HOW == "tile transposed":
            total += tl.dot(a, tl.trans(b), input_precision="ieee")
        elif HOW == "in pairs":
            total += a * b
        elif HOW == "last":
            total = tl.dot(a, b, input_precision="ieee")
        else:
            total += tl.dot(a, b, input_precision="ieee")
    if HOW == "store transposed":
        tl.store(
            out_ptr + row[:, None] + column[None, :] * m,
            total,
            mask=(row[:, None] < m) & (column[None, :] < n),
        )
    elif HOW == "stride of the output":
        tl.store(
            out_ptr + row[:, None] * m + column[None, :],
            total,
            mask=(row[:, None] < m) & (column[None, :] < n),
        )
    elif HOW == "sizes swapped":
        tl.store(
            out_ptr + row[:, None] * n + column[None, :],
            total,
            mask=(row[:, None] < n) & (column[None, :] < m),
        )
    elif HOW == "store not masked":
        tl.store(out_ptr + row[:, None] * n + column[None, :], total)
    elif HOW != "no store":
        tl.store(
            out_ptr + row[:, None] * n + column[None, :],
            total,
            mask=(row[:, None] < m) & (column[None, :] < n),
        )


def launched(
    how="right",
    block=16,
    grid=lambda m, n, block: (triton.cdiv(m, block), triton.cdiv(n, block)),
    shape=lambda m, n: (m, n),
    dtype=None,
    make=torch.empty,
    contiguous=True,
):
    def answer(a, b):
        if contiguous:
            a, b = a.contiguous(), b.contiguous()
        (m, k), n = a.shape, b.shape[1]
        out = make(shape(m, n), dtype=dtype or a.dtype, device=a.device)
        wrong_kernel[grid(m, n, block)](a, b, out, m, n, k, BLOCK=block, HOW=how)
        return out

    return answer


for number, (names, function) in enumerate(
    (
        (["only the first block of k"], launched("first")),
        (["only the first block of k"], launched("first", block=32)),
        (["tail block dropped"], launched("tail")),
        (["only the last block summed"], launched("last")),
        (["pointers not advanced"], launched("not moved")),
        (["edge not masked"], launched("not masked")),
        (["edge not masked"], launched("inner not masked")),
        (["another matrix's row stride"], launched("stride of a")),
        (["another matrix's row stride"], launched("stride of the output")),
        (["edge not masked"], launched("store not masked")),
        (["edge not filled by 0"], launched("minus infinity")),
        (["edge not filled by 0"], launched("minus infinity", block=32)),
        (
            ["grid's axes swapped"],
            launched(
                block=64, grid=lambda m, n, block: (triton.cdiv(n, block), triton.cdiv(m, block))
            ),
        ),
        (
            ["grid's axes swapped"],
            launched(grid=lambda m, n, block: (triton.cdiv(n, block), triton.cdiv(m, block))),
        ),
        (["sums in half precision"], launched("half")),
        (["sums in half precision"], launched("half", block=32)),
        (["sums in half precision"], launched("half sum")),
        (["sums in half precision"], launched("half for half")),
        (["sums in half precision"], launched("half for half", block=32)),
        (["sums in half precision"], launched("stored in half", block=32)),
        (
            ["sums in half precision", "a stride ignored"],
            launched("half for half", contiguous=False),
        ),
        (["tile of b transposed"], launched("tile transposed")),
        (["tile of b transposed"], launched("tile transposed", block=32)),
        (["entries multiplied in pairs"], launched("in pairs")),
        (["only the tiles on the diagonal"], launched("one axis")),
        (["only the tiles on the diagonal"], launched("one axis", block=32, make=torch.zeros)),
        (["b read transposed"], launched("b transposed")),
        (["product transposed"], launched("store transposed", shape=lambda m, n: (n, m))),
        (["nothing written"], launched("no store")),
        (["nothing written"], launched("no store", make=torch.zeros)),
        (["only the first tile"], launched(grid=lambda m, n, block: (1, 1))),
        (
            ["only the first tiles of each row"],
            launched(grid=lambda m, n, block: (triton.cdiv(m, block), 1)),
        ),
        (
            ["only the first tiles of each column"],
            launched(grid=lambda m, n, block: (1, triton.cdiv(n, block)), make=torch.zeros),
        ),
        (["last tiles not computed"], launched(grid=lambda m, n, block: (m // block, n // block))),
        (
            ["last tiles not computed"],
            launched(
                block=32,
                grid=lambda m, n, block: (triton.cdiv(m, block), max(n // block, 1)),
                make=torch.zeros,
            ),
        ),
        (["factors of float32 shortened"], launched("tf32")),
        (["factors of float32 shortened"], launched("halved")),
        (["rows masked by the columns' number"], launched("sizes swapped")),
        (["rows masked by the columns' number"], launched("sizes swapped", block=32)),
        (["sums in half precision"], launched("half parts")),
        (["float32 leaks out"], launched(dtype=torch.float32)),
        (["a stride ignored"], launched(contiguous=False)),
    )
):
    function.__name__ = f"matmul_kernel_{number}"
    answers.wrong(*names, function=function)


@answers.wrong("no Triton kernel launched")
def matmul_of_torch(a, b):
    return a @ b


@answers.wrong("torch's own product called")
def matmul_with_a_dummy(a, b):
    tiles_of(16)(a, b)
    return torch.matmul(a, b)


@answers.wrong("a matrix's strides swapped")
def matmul_with_strides_of_a_swapped(a, b):
    (m, k), n = a.shape, b.shape[1]
    out = a.new_empty(m, n)
    grid = (triton.cdiv(m, 16) * triton.cdiv(n, 32),)
    strided_kernel[grid](
        a, b, out, m, n, k, *a.stride()[::-1], *b.stride(), ROWS=16, COLUMNS=32, INNER=64
    )
    return out
