"""Answers to add_triton, written as learners write them."""

import os

import torch

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("add_triton")


@triton.jit
def right_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, total, mask=at < n)


@answers.right()
def add_a_block_each(x, y, block):
    out = torch.empty_like(x)
    right_kernel[(triton.cdiv(len(x), block),)](x, y, out, len(x), BLOCK=block)
    return out


@answers.right()
def add_with_idle_programs(x, y, block):
    out = torch.zeros_like(x)
    right_kernel[(len(x),)](x, y, out, len(x), BLOCK=block)
    return out


@triton.jit
def strided_kernel(x_ptr, y_ptr, out_ptr, n, programs, BLOCK: tl.constexpr):
    at = tl.program_id(0) + programs * tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, x + tl.load(y_ptr + at, mask=at < n), mask=at < n)


@answers.right()
def add_every_third_place(x, y, block):
    out, programs = torch.empty_like(x), triton.cdiv(len(x), block)
    strided_kernel[(programs,)](x, y, out, len(x), programs, BLOCK=block)
    return out


@triton.jit
def wrong_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, HOW: tl.constexpr):
    inside = tl.arange(0, BLOCK)
    at = tl.program_id(0) * BLOCK + inside
    if HOW == "no offset":
        at = inside
    elif HOW == "no factor":
        at = tl.program_id(0) + inside
    mask = at < n
    if HOW == "place in the block masked":
        mask = inside < n
    elif HOW == "one less":
        mask = at < n - 1
    if HOW == "no mask":
        total = tl.load(x_ptr + at) + tl.load(y_ptr + at)
    elif HOW == "x from the first block":
        total = tl.load(x_ptr + inside, mask=mask) + tl.load(y_ptr + at, mask=mask)
    elif HOW == "both from the first block":
        total = tl.load(x_ptr + inside, mask=mask) + tl.load(y_ptr + inside, mask=mask)
    elif HOW == "x twice":
        total = tl.load(x_ptr + at, mask=mask) + tl.load(x_ptr + at, mask=mask)
    elif HOW == "y alone":
        total = tl.load(y_ptr + at, mask=mask)
    elif HOW == "product":
        total = tl.load(x_ptr + at, mask=mask) * tl.load(y_ptr + at, mask=mask)
    else:
        total = tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask)
    if HOW == "store in the first block":
        tl.store(out_ptr + inside, total, mask=mask)
    elif HOW == "store beside":
        tl.store(out_ptr + tl.program_id(0) + inside, total, mask=mask)
    elif HOW == "no mask" or HOW == "no mask in the store":
        tl.store(out_ptr + at, total)
    elif HOW != "no store":
        tl.store(out_ptr + at, total, mask=mask)


def launched(how, grid=triton.cdiv, out=torch.empty_like):
    def answer(x, y, block):
        result = out(x)
        programs = grid(len(x), block)
        if programs:
            wrong_kernel[(programs,)](x, y, result, len(x), BLOCK=block, HOW=how)
        return result

    answer.__name__ = f"add_{how}".replace(" ", "_")
    return answer


answers.wrong("edge not masked", function=launched("no mask"))
answers.wrong("edge not masked", function=launched("no mask in the store"))
answers.wrong("only the first block written", function=launched("no offset"))
answers.wrong("only the first block written", function=launched("right", grid=lambda n, block: 1))
answers.wrong(
    "program's number not multiplied by the block",
    function=launched("no factor", out=torch.zeros_like),
)
answers.wrong(
    "last block without a program", function=launched("right", grid=lambda n, block: n // block)
)
answers.wrong("last place left out", function=launched("one less"))
answers.wrong("each program reads the first block", function=launched("x from the first block"))
answers.wrong("each program reads the first block", function=launched("both from the first block"))
answers.wrong("all blocks stored in the first", function=launched("store in the first block"))
answers.wrong("blocks stored one place apart", function=launched("store beside"))
answers.wrong("one tensor added to itself", function=launched("x twice"))
answers.wrong("first tensor left out", function=launched("y alone"))
answers.wrong("product instead of sum", function=launched("product"))
answers.wrong("nothing written", function=launched("no store"))
answers.wrong("no Triton kernel launched", function=lambda x, y, block: x + y)
answers.wrong("place inside the block masked", function=launched("place in the block masked"))


@triton.jit
def placed_kernel(x_ptr, y_ptr, out_ptr, n, apart, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    at = b * (BLOCK if apart == 1 else 1) + tl.arange(0, BLOCK) * apart
    total = tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, total, mask=at < n)


@answers.wrong("as many programs as a block has places")
def sum_by_block_programs(x, y, block):
    out = torch.empty_like(x)
    placed_kernel[(block,)](x, y, out, len(x), 1, BLOCK=block)
    return out


@answers.wrong("places of a program a block apart")
def sum_of_spread_places(x, y, block):
    out = torch.zeros_like(x)
    placed_kernel[(triton.cdiv(len(x), block),)](x, y, out, len(x), block, BLOCK=block)
    return out


@triton.jit
def all_at_once_kernel(x_ptr, y_ptr, out_ptr, n, WIDTH: tl.constexpr):
    at = tl.arange(0, WIDTH)
    x, y = tl.load(x_ptr + at, mask=at < n), tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x + y, mask=at < n)


@answers.wrong("block ignored")
def a_single_program(x, y, block):
    out = torch.empty_like(x)
    all_at_once_kernel[(1,)](x, y, out, len(x), WIDTH=triton.next_power_of_2(len(x)))
    return out
