"""Answers to row_sums_triton, written as learners write them."""

import os

import torch

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("row_sums_triton")


@triton.jit
def looped_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i, total = tl.program_id(0), 0.0
    for first in range(0, n, BLOCK):
        columns = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i * n + columns, mask=columns < n, other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(out_ptr + i, total)


@answers.right()
def sums_in_a_loop(x, block):
    out = x.new_empty(len(x))
    looped_kernel[(len(x),)](x, out, x.shape[1], BLOCK=block)
    return out


@triton.jit
def lanes_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    lanes = tl.zeros((BLOCK,), dtype=tl.float32)
    for step in range(tl.cdiv(n, BLOCK)):
        columns = step * BLOCK + tl.arange(0, BLOCK)
        lanes += tl.load(x_ptr + columns, mask=columns < n, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(lanes, axis=0))


@answers.right()
def sums_by_lane(x, block):
    out = torch.empty(x.shape[0], device=x.device)
    lanes_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=block)
    return out


@triton.jit
def where_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i, total, first = tl.program_id(0), 0.0, 0
    while first < n:
        columns = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i * n + columns, mask=columns < n, other=float("nan"))
        total += tl.sum(tl.where(columns < n, x, 0.0), axis=0)
        first += BLOCK
    tl.store(out_ptr + i, total)


@answers.right()
def sums_chosen_by_where(x, block):
    out = torch.zeros(x.shape[0], device=x.device)
    where_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=block)
    return out


@triton.jit
def wrong_kernel(x_ptr, out_ptr, n, stride, last, BLOCK: tl.constexpr, HOW: tl.constexpr):
    i, total = tl.program_id(0), 0.0
    for first in range(0, last, BLOCK):
        inside = tl.arange(0, BLOCK)
        at = first + inside
        mask = at < n
        if HOW == "no mask":
            x = tl.load(x_ptr + i * stride + at)
        elif HOW == "place in the block masked":
            x = tl.load(x_ptr + i * stride + at, mask=inside < n, other=0.0)
        elif HOW == "not moved on":
            x = tl.load(x_ptr + i * stride + inside, mask=inside < n, other=0.0)
        elif HOW == "address not moved on":
            x = tl.load(x_ptr + i * stride + inside, mask=mask, other=0.0)
        elif HOW == "minus infinity":
            x = tl.load(x_ptr + i * stride + at, mask=mask, other=-float("inf"))
        else:
            x = tl.load(x_ptr + i * stride + at, mask=mask, other=0.0)
        if HOW == "not carried":
            total = tl.sum(x, axis=0)
        else:
            total += tl.sum(x, axis=0)
    if HOW == "one place":
        tl.store(out_ptr, total)
    elif HOW != "no store":
        tl.store(out_ptr + i, total)


def launched(how, stride=lambda n, block: n, last=lambda n, block: n, grid=len):
    def answer(x, block):
        out, n = x.new_empty(len(x)), x.shape[1]
        wrong_kernel[(grid(x),)](x, out, n, stride(n, block), last(n, block), BLOCK=block, HOW=how)
        return out

    answer.__name__ = f"sums_{how}".replace(" ", "_")
    return answer


for number, (name, function) in enumerate(
    (
        ("edge not masked", launched("no mask")),
        ("place inside the block masked", launched("place in the block masked")),
        ("first block again in each step", launched("not moved on")),
        ("first block again in each step", launched("address not moved on")),
        ("padding other than 0", launched("minus infinity")),
        ("sum not carried over the loop", launched("not carried")),
        ("all sums stored in the first place", launched("one place")),
        ("nothing written", launched("no store")),
        ("row's number without the stride", launched("right", stride=lambda n, block: 1)),
        ("block's length taken for the row's stride", launched("right", lambda n, block: block)),
        ("first row for all", launched("right", stride=lambda n, block: 0)),
        ("only the first block of a row", launched("right", last=lambda n, block: min(n, block))),
        ("tail block dropped", launched("right", last=lambda n, block: n // block * block)),
        ("only the first row", launched("right", grid=lambda x: 1)),
        ("no Triton kernel launched", lambda x, block: x.sum(-1)),
    )
):
    function.__name__ = f"sums_{number}"
    answers.wrong(name, function=function)


@triton.jit
def astray_kernel(x_ptr, out_ptr, n, begin, across, along, BLOCK: tl.constexpr):
    i, total = tl.program_id(0), 0.0
    for first in range(begin, n, BLOCK):
        columns = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i * across + columns * along, mask=columns < n, other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(out_ptr + i, total)


@answers.wrong("first block of a row left out")
def sums_from_the_second_block(x, block):
    out, n = x.new_empty(len(x)), x.shape[1]
    astray_kernel[(len(x),)](x, out, n, block, n, 1, BLOCK=block)
    return out


@answers.wrong("places of a column added")
def sums_of_columns(x, block):
    out, n = x.new_empty(len(x)), x.shape[1]
    astray_kernel[(len(x),)](x, out, n, 0, 1, n, BLOCK=block)
    return out


@answers.wrong("block ignored")
def sums_in_one_block_after_all(x, block):
    out = x.new_empty(len(x))
    looped_kernel[(len(x),)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


@answers.wrong("programs not one per row")
def sums_by_a_grid_of_blocks(x, block):
    out = torch.zeros(x.shape[0], device=x.device)
    looped_kernel[(triton.cdiv(x.shape[1], block),)](x, out, x.shape[1], BLOCK=block)
    return out
