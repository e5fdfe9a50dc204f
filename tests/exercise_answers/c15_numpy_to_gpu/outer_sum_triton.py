"""Answers to outer_sum_triton, written as learners write them."""

import os

import torch

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("outer_sum_triton")


@triton.jit
def tile_kernel(x_ptr, y_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i, mask=i < m), tl.load(y_ptr + j, mask=j < n)
    at = i[:, None] * n + j[None, :]
    tl.store(out_ptr + at, x[:, None] + y[None, :], mask=(i < m)[:, None] & (j < n)[None, :])


@answers.right()
def table_in_tiles(x, y, block):
    out = x.new_empty(len(x), len(y))
    grid = (triton.cdiv(len(x), block), triton.cdiv(len(y), block))
    tile_kernel[grid](x, y, out, len(x), len(y), BLOCK=block)
    return out


@triton.jit
def row_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i, x = tl.program_id(0), tl.load(x_ptr + tl.program_id(0))
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK)
        tl.store(out_ptr + i * n + j, x + tl.load(y_ptr + j, mask=j < n), mask=j < n)


@answers.right()
def table_row_by_row(x, y, block):
    out = torch.zeros(len(x), len(y), device=x.device)
    row_kernel[(len(x),)](x, y, out, len(y), BLOCK=block)
    return out


@triton.jit
def flat_kernel(x_ptr, y_ptr, out_ptr, size, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x_ptr + at // n, mask=at < size) + tl.load(y_ptr + at % n, mask=at < size)
    tl.store(out_ptr + at, total, mask=at < size)


@answers.right()
def table_by_address(x, y, block):
    out = torch.empty(len(x), len(y), device=x.device)
    grid = (triton.cdiv(out.numel(), block),)
    flat_kernel[grid](x, y, out, out.numel(), len(y), BLOCK=block)
    return out


@triton.jit
def wrong_kernel(x_ptr, y_ptr, out_ptr, m, n, down, across, BLOCK: tl.constexpr, HOW: tl.constexpr):
    inside = tl.arange(0, BLOCK)
    i = tl.program_id(0) * BLOCK + inside
    j = tl.program_id(1) * BLOCK + inside
    if HOW == "diagonal":
        j = tl.program_id(0) * BLOCK + inside
    in_rows, in_columns = i < m, j < n
    if HOW == "rows not masked":
        in_rows = i >= 0
    elif HOW == "columns not masked":
        in_columns = j >= 0
    x, y = tl.load(x_ptr + i, mask=in_rows), tl.load(y_ptr + j, mask=in_columns)
    if HOW == "x from the first block":
        x = tl.load(x_ptr + inside, mask=in_rows)
    elif HOW == "y from the first block":
        y = tl.load(y_ptr + inside, mask=in_columns)
    if HOW == "product":
        table = x[:, None] * y[None, :]
    elif HOW == "x alone":
        table = x[:, None] + 0.0 * y[None, :]
    else:
        table = x[:, None] + y[None, :]
    at = i[:, None] * down + j[None, :] * across
    if HOW != "no store":
        tl.store(out_ptr + at, table, mask=in_rows[:, None] & in_columns[None, :])


def rounded_up(m, n, block):
    return triton.cdiv(m, block), triton.cdiv(n, block)


def launched(how, grid=rounded_up, strides=lambda m, n, block: (n, 1)):
    def answer(x, y, block):
        m, n = len(x), len(y)
        out, programs = x.new_empty(m, n), grid(m, n, block)
        if all(programs):
            apart = strides(m, n, block)
            wrong_kernel[programs](x, y, out, m, n, *apart, BLOCK=block, HOW=how)
        return out

    return answer


for number, (name, function) in enumerate(
    (
        ("only the first tile", launched("right", lambda m, n, block: (1, 1))),
        (
            "only the first tile of each row",
            launched("right", lambda m, n, block: (triton.cdiv(m, block), 1)),
        ),
        (
            "last tiles without a program",
            launched("right", lambda m, n, block: (m // block, n // block)),
        ),
        ("grid's axes swapped", launched("right", lambda m, n, block: rounded_up(n, m, block))),
        ("only the tiles on the diagonal", launched("diagonal")),
        ("rows not masked", launched("rows not masked")),
        ("columns not masked", launched("columns not masked")),
        ("x read from the first block", launched("x from the first block")),
        ("y read from the first block", launched("y from the first block")),
        ("product instead of sum", launched("product")),
        ("y left out", launched("x alone")),
        ("table stored column by column", launched("right", strides=lambda m, n, block: (1, m))),
        ("nothing written", launched("no store")),
        ("no Triton kernel launched", lambda x, y, block: x[:, None] + y),
    )
):
    function.__name__ = f"table_{number}"
    answers.wrong(name, function=function)


@triton.jit
def far_kernel(x_ptr, y_ptr, out_ptr, m, n, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK)
        total = tl.load(x_ptr + i) + tl.load(y_ptr + j, mask=j < n)
        tl.store(out_ptr + i * stride + j, total, mask=j < n)


@answers.wrong("number of rows taken for the row's stride")
def table_with_the_rows_stride(x, y, block):
    out = x.new_empty(len(x), len(y))
    far_kernel[(len(x),)](x, y, out, len(x), len(y), len(x), BLOCK=block)
    return out


@answers.wrong("block's length taken for the row's stride")
def table_a_block_apart(x, y, block):
    out = x.new_empty(len(x), len(y))
    far_kernel[(len(x),)](x, y, out, len(x), len(y), block, BLOCK=block)
    return out


@triton.jit
def astray_kernel(
    x_ptr,
    y_ptr,
    out_ptr,
    m,
    n,
    down,
    across,
    rows,
    columns,
    BLOCK: tl.constexpr,
    FLIP: tl.constexpr,
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i, mask=i < m), tl.load(y_ptr + j, mask=j < n)
    total = x[None, :] + y[:, None] if FLIP else x[:, None] + y[None, :]
    place = i[:, None] * down + j[None, :] * across
    tl.store(out_ptr + place, total, mask=(i < rows)[:, None] & (j < columns)[None, :])


def astray(steps=lambda m, n, block: (n, 1), ends=lambda m, n: (m, n), flip=False):
    """The table with other strides, another mask, or rows for columns inside a tile."""

    def table(x, y, block):
        (m,), (n,), out = x.shape, y.shape, x.new_empty(len(x), len(y))
        grid = triton.cdiv(m, block), triton.cdiv(n, block)
        sizes = *steps(m, n, block), *ends(m, n)
        astray_kernel[grid](x, y, out, m, n, *sizes, BLOCK=block, FLIP=flip)
        return out

    return table


answers.right(astray())
for name, steps in {
    "number of rows taken for the row's stride": lambda m, n, block: (m, 1),
    "block's length taken for the row's stride": lambda m, n, block: (block, 1),
    "row's number without the stride": lambda m, n, block: (1, 1),
    "table stored column by column": lambda m, n, block: (1, n),
}.items():
    answers.wrong(name, function=astray(steps))
answers.wrong("m and n swapped in the mask", function=astray(ends=lambda m, n: (n, m)))
answers.wrong("x and y exchanged inside a tile", function=astray(flip=True))


@triton.jit
def whole_row_kernel(x_ptr, y_ptr, out_ptr, n, WIDTH: tl.constexpr):
    i, columns = tl.program_id(0), tl.arange(0, WIDTH)
    sums = tl.load(x_ptr + i) + tl.load(y_ptr + columns, mask=columns < n)
    tl.store(out_ptr + i * n + columns, sums, mask=columns < n)


@answers.wrong("block ignored")
def a_program_for_each_row(x, y, block):
    m, n = len(x), len(y)
    out = torch.empty(m, n, device=x.device)
    whole_row_kernel[(m,)](x, y, out, n, WIDTH=triton.next_power_of_2(n))
    return out
