"""Answers to multiply_relu_backward_triton, written as learners write them."""

import os

import torch

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("multiply_relu_backward_triton")


@triton.jit
def where_kernel(x_ptr, w_ptr, grad_ptr, out_ptr, n, BLOCK: tl.constexpr):
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at, mask = tl.program_id(0) * n + columns, columns < n
    w = tl.load(w_ptr + columns, mask=mask)
    positive = tl.load(x_ptr + at, mask=mask) * w > 0
    grad = tl.load(grad_ptr + at, mask=mask)
    tl.store(out_ptr + at, tl.where(positive, grad * w, 0.0), mask=mask)


@answers.right()
def gradient_by_where(x, w, grad_output, block):
    out, (rows, n) = torch.empty_like(x), x.shape
    where_kernel[(rows, triton.cdiv(n, block))](x, w, grad_output, out, n, BLOCK=block)
    return out


@triton.jit
def masked_kernel(x_ptr, w_ptr, grad_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for first in range(0, n, BLOCK):
        columns = first + tl.arange(0, BLOCK)
        at, mask = tl.program_id(0) * n + columns, columns < n
        w = tl.load(w_ptr + columns, mask=mask, other=0.0)
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        grad = tl.load(grad_ptr + at, mask=mask & (x * w > 0), other=0.0)
        tl.store(out_ptr + at, grad * w, mask=mask)


@answers.right()
def gradient_by_a_masked_load(x, w, grad_output, block):
    out = torch.empty_like(x)
    masked_kernel[(len(x),)](x, w, grad_output, out, len(w), BLOCK=block)
    return out


@triton.jit
def flat_kernel(x_ptr, w_ptr, grad_ptr, out_ptr, size, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(w_ptr + at % n, mask=at < size)
    positive = (tl.load(x_ptr + at, mask=at < size) * w > 0).to(tl.float32)
    tl.store(out_ptr + at, tl.load(grad_ptr + at, mask=at < size) * w * positive, mask=at < size)


@answers.right()
def gradient_by_address(x, w, grad_output, block):
    out = torch.zeros_like(x)
    grid = (triton.cdiv(x.numel(), block),)
    flat_kernel[grid](x, w, grad_output, out, x.numel(), len(w), BLOCK=block)
    return out


@triton.jit
def wrong_kernel(x_ptr, w_ptr, grad_ptr, out_ptr, n, BLOCK: tl.constexpr, HOW: tl.constexpr):
    i, columns = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at, mask = i * n + columns, columns < n
    if HOW == "no mask":
        mask = columns >= 0
    x, grad = tl.load(x_ptr + at, mask=mask), tl.load(grad_ptr + at, mask=mask)
    if HOW == "first row":
        grad = tl.load(grad_ptr + columns, mask=mask)
    if HOW == "w in the row":
        w = tl.load(w_ptr + at, mask=mask)
    else:
        w = tl.load(w_ptr + columns, mask=mask)
    if HOW == "x > 0":
        passed = tl.where(x > 0, grad, 0.0)
    elif HOW == "w > 0":
        passed = tl.where(w > 0, grad, 0.0)
    elif HOW == "grad > 0":
        passed = tl.maximum(grad, 0.0)
    elif HOW == "open at 0":
        passed = tl.where(x * w >= 0, grad, 0.0)
    elif HOW == "turned":
        passed = tl.where(x * w > 0, 0.0, grad)
    elif HOW == "no grad":
        passed = tl.where(x * w > 0, 1.0, 0.0)
    elif HOW == "no ReLU":
        passed = grad
    else:
        passed = tl.where(x * w > 0, grad, 0.0)
    if HOW == "times x":
        passed = passed * x
    elif HOW != "no w":
        passed = passed * w
    if HOW != "no store":
        tl.store(out_ptr + at, passed, mask=mask)


def launched(how, blocks=triton.cdiv, rows=len):
    def answer(x, w, grad_output, block):
        out, n = torch.empty_like(x), x.shape[1]
        grid = (rows(x), blocks(n, block))
        if all(grid):
            wrong_kernel[grid](x, w, grad_output, out, n, BLOCK=block, HOW=how)
        return out

    return answer


for number, (name, function) in enumerate(
    (
        ("ReLU ignored", launched("no ReLU")),
        ("sign of x instead of the product's", launched("x > 0")),
        ("sign of w instead of the product's", launched("w > 0")),
        ("sign of the gradient instead of the product's", launched("grad > 0")),
        ("condition turned round", launched("turned")),
        ("open at 0", launched("open at 0")),
        ("w left out", launched("no w")),
        ("multiplied by x", launched("times x")),
        ("gradient that arrives left out", launched("no grad")),
        ("gradient read from the first row", launched("first row")),
        ("w read at the row's address", launched("w in the row")),
        ("edge not masked", launched("no mask")),
        ("only the first block written", launched("right", blocks=lambda n, block: 1)),
        ("last block without a program", launched("right", blocks=lambda n, block: n // block)),
        ("only the first row written", launched("right", rows=lambda x: 1)),
        ("nothing written", launched("no store")),
        (
            "no Triton kernel launched",
            lambda x, w, grad_output, block: grad_output * w * (x * w > 0),
        ),
    )
):
    function.__name__ = f"gradient_{number}"
    answers.wrong(name, function=function)


@triton.jit
def late_kernel(x_ptr, w_ptr, grad_ptr, out_ptr, n, BLOCK: tl.constexpr):
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at, mask = tl.program_id(0) * n + columns, columns < n
    gradient = tl.load(grad_ptr + at, mask=mask) * tl.load(w_ptr + columns, mask=mask)
    tl.store(out_ptr + at, tl.maximum(gradient, 0.0), mask=mask)


@answers.wrong("sign of the gradient instead of the product's")
def gradient_through_a_relu(x, w, grad_output, block):
    out, (rows, n) = torch.empty_like(x), x.shape
    late_kernel[(rows, triton.cdiv(n, block))](x, w, grad_output, out, n, BLOCK=block)
    return out


@triton.jit
def one_step_kernel(x_ptr, w_ptr, g_ptr, out_ptr, n, BLOCK: tl.constexpr, IS_FIRST: tl.constexpr):
    i, columns = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(w_ptr + columns, mask=columns < n)
    if IS_FIRST:
        x = tl.load(x_ptr + i * n + columns, mask=columns < n)
        found = tl.where(x * w > 0, tl.load(g_ptr + i * n + columns, mask=columns < n), 0.0)
    else:
        found = tl.load(out_ptr + i * n + columns, mask=columns < n) * w
    tl.store(out_ptr + i * n + columns, found, mask=columns < n)


@answers.wrong("more than one kernel launched")
def one_after_the_other(x, w, grad_output, block):
    out, (rows, n) = torch.empty_like(x), x.shape
    grid = (rows, triton.cdiv(n, block))
    one_step_kernel[grid](x, w, grad_output, out, n, BLOCK=block, IS_FIRST=True)
    one_step_kernel[grid](x, w, grad_output, out, n, BLOCK=block, IS_FIRST=False)
    return out
