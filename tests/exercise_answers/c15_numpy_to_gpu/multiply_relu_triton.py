"""Answers to multiply_relu_triton, written as learners write them."""

import os

import torch

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("multiply_relu_triton")


@triton.jit
def right_kernel(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i, columns = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * n + columns, mask=columns < n)
    w = tl.load(w_ptr + columns, mask=columns < n)
    tl.store(out_ptr + i * n + columns, tl.maximum(x * w, 0.0), mask=columns < n)


@answers.right()
def products_in_a_grid(x, w, block):
    out = torch.empty_like(x)
    rows, n = x.shape
    right_kernel[(rows, triton.cdiv(n, block))](x, w, out, n, BLOCK=block)
    return out


@triton.jit
def looping_kernel(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for first in range(0, n, BLOCK):
        columns = first + tl.arange(0, BLOCK)
        at = tl.program_id(0) * n + columns
        product = tl.load(x_ptr + at, mask=columns < n) * tl.load(w_ptr + columns, mask=columns < n)
        tl.store(out_ptr + at, tl.where(product > 0, product, 0.0), mask=columns < n)


@answers.right()
def products_in_a_loop(x, w, block):
    out = torch.empty_like(x)
    looping_kernel[(len(x),)](x, w, out, len(w), BLOCK=block)
    return out


@triton.jit
def flat_kernel(x_ptr, w_ptr, out_ptr, size, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    product = tl.load(x_ptr + at, mask=at < size) * tl.load(w_ptr + at % n, mask=at < size)
    tl.store(out_ptr + at, tl.maximum(product, 0.0), mask=at < size)


@answers.right()
def products_by_address(x, w, block):
    out = torch.zeros_like(x)
    flat_kernel[(triton.cdiv(x.numel(), block),)](x, w, out, x.numel(), len(w), BLOCK=block)
    return out


@triton.jit
def wrong_kernel(x_ptr, w_ptr, out_ptr, n, stride, to, BLOCK: tl.constexpr, HOW: tl.constexpr):
    i, inside = tl.program_id(0), tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + inside
    if HOW == "no offset":
        columns = inside
    elif HOW == "no factor":
        columns = tl.program_id(1) + inside
    mask = columns < n
    if HOW == "one less":
        mask = columns < n - 1
    elif HOW == "place in the block masked":
        mask = inside < n
    elif HOW == "no mask":
        mask = columns >= 0
    x = tl.load(x_ptr + i * stride + columns, mask=mask)
    if HOW == "x from the first block":
        x = tl.load(x_ptr + i * stride + inside, mask=mask)
    if HOW == "w in the row":
        w = tl.load(w_ptr + i * n + columns, mask=mask)
    elif HOW == "w of the row":
        w = tl.load(w_ptr + i)
    elif HOW == "w from the first block":
        w = tl.load(w_ptr + inside, mask=mask)
    else:
        w = tl.load(w_ptr + columns, mask=mask)
    if HOW == "ReLU first":
        product = tl.maximum(x, 0.0) * w
    elif HOW == "no ReLU":
        product = x * w
    elif HOW == "minimum":
        product = tl.minimum(x * w, 0.0)
    elif HOW == "absolute":
        product = tl.abs(x * w)
    elif HOW == "sum":
        product = tl.maximum(x + w, 0.0)
    else:
        product = tl.maximum(x * w, 0.0)
    if HOW == "first block stored":
        tl.store(out_ptr + i * to + inside, product, mask=mask)
    elif HOW != "no store":
        tl.store(out_ptr + i * to + columns, product, mask=mask)


def launched(
    how,
    grid=lambda rows, blocks: (rows, blocks),
    blocks=triton.cdiv,
    stride=lambda n, block: n,
    to=lambda n, block: n,
):
    def answer(x, w, block):
        out, (rows, n) = torch.empty_like(x), x.shape
        programs = grid(rows, blocks(n, block))
        if all(programs):
            strides = stride(n, block), to(n, block)
            wrong_kernel[programs](x, w, out, n, *strides, BLOCK=block, HOW=how)
        return out

    return answer


for number, (name, function) in enumerate(
    (
        ("only the first block written", launched("no offset")),
        ("only the first block written", launched("right", blocks=lambda n, block: 1)),
        ("program's number not multiplied by the block", launched("no factor")),
        ("last block without a program", launched("right", blocks=lambda n, block: n // block)),
        ("last place left out", launched("one less")),
        ("all blocks stored in the first", launched("first block stored")),
        ("edge not masked", launched("no mask")),
        ("place inside the block masked", launched("place in the block masked")),
        ("only the first row written", launched("right", grid=lambda rows, blocks: (1, blocks))),
        ("rows stored one place apart", launched("right", to=lambda n, block: 1)),
        ("rows stored a block apart", launched("right", to=lambda n, block: block)),
        ("rows read one place apart", launched("right", stride=lambda n, block: 1)),
        ("rows read a block apart", launched("right", stride=lambda n, block: block)),
        ("grid's axes swapped", launched("right", grid=lambda rows, blocks: (blocks, rows))),
        ("w read at the row's address", launched("w in the row")),
        ("one factor for each row", launched("w of the row")),
        ("w read from the first block", launched("w from the first block")),
        ("x read from the first block", launched("x from the first block")),
        ("ReLU before the product", launched("ReLU first")),
        ("no ReLU", launched("no ReLU")),
        ("minimum instead of maximum", launched("minimum")),
        ("absolute value instead of the ReLU", launched("absolute")),
        ("sum instead of product", launched("sum")),
        ("nothing written", launched("no store")),
        ("no Triton kernel launched", lambda x, w, block: torch.relu(x * w)),
    )
):
    function.__name__ = f"products_{number}"
    answers.wrong(name, function=function)


@triton.jit
def factors_kernel(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr, HOW: tl.constexpr):
    i, columns = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * n + columns, mask=columns < n)
    w = tl.load(w_ptr + columns, mask=columns < n)
    if HOW == "w":
        kept = x * tl.maximum(w, 0.0)
    elif HOW == "both":
        kept = tl.maximum(x, 0.0) * tl.maximum(w, 0.0)
    else:
        kept = tl.where(x * w > 0, x, 0.0)
    tl.store(out_ptr + i * n + columns, kept, mask=columns < n)


def by_factors(how):
    def products(x, w, block):
        out, (rows, n) = torch.empty_like(x), x.shape
        factors_kernel[(rows, triton.cdiv(n, block))](x, w, out, n, BLOCK=block, HOW=how)
        return out

    return products


answers.wrong("ReLU before the product", function=by_factors("w"))
answers.wrong("ReLU before the product", function=by_factors("both"))
answers.wrong("a factor instead of the product", function=by_factors("x"))


@triton.jit
def whole_row_kernel(x_ptr, w_ptr, out_ptr, n, WIDTH: tl.constexpr):
    i, columns = tl.program_id(0), tl.arange(0, WIDTH)
    x = tl.load(x_ptr + i * n + columns, mask=columns < n)
    w = tl.load(w_ptr + columns, mask=columns < n)
    tl.store(out_ptr + i * n + columns, tl.maximum(x * w, 0.0), mask=columns < n)


@answers.wrong("block ignored")
def a_program_for_each_row(x, w, block):
    out, (rows, n) = torch.empty_like(x), x.shape
    whole_row_kernel[(rows,)](x, w, out, n, WIDTH=triton.next_power_of_2(n))
    return out


@triton.jit
def one_step_kernel(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr, IS_PRODUCT: tl.constexpr):
    i, columns = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * n + columns, mask=columns < n)
    if IS_PRODUCT:
        x = x * tl.load(w_ptr + columns, mask=columns < n)
    else:
        x = tl.maximum(x, 0.0)
    tl.store(out_ptr + i * n + columns, x, mask=columns < n)


@answers.wrong("more than one kernel launched")
def one_after_the_other(x, w, block):
    out, (rows, n) = torch.empty_like(x), x.shape
    grid = (rows, triton.cdiv(n, block))
    one_step_kernel[grid](x, w, out, n, BLOCK=block, IS_PRODUCT=True)
    one_step_kernel[grid](out, w, out, n, BLOCK=block, IS_PRODUCT=False)
    return out


@triton.jit
def products_kernel(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i, columns = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * n + columns, mask=columns < n)
    w = tl.load(w_ptr + columns, mask=columns < n)
    tl.store(out_ptr + i * n + columns, x * w, mask=columns < n)


@answers.wrong("part of the work left to torch")
def relu_after_the_kernel(x, w, block):
    out = torch.empty_like(x)
    rows, n = x.shape
    products_kernel[(rows, triton.cdiv(n, block))](x, w, out, n, BLOCK=block)
    return torch.relu(out)
