"""Answers to looped_softmax_triton, written as learners write them."""

import os

import torch

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("looped_softmax_triton")


@triton.jit
def online_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    highest, total = -float("inf"), 0.0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + at, mask=at < n, other=-float("inf"))
        new = tl.maximum(highest, tl.max(x, axis=0))
        total = total * tl.exp(highest - new) + tl.sum(tl.exp(x - new), axis=0)
        highest = new
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + at, mask=at < n)
        tl.store(out_ptr + start + at, tl.exp(x - highest) / total, mask=at < n)


@answers.right()
def softmax_by_a_running_pair(scores, block):
    out = torch.empty_like(scores)
    online_kernel[(len(scores),)](scores, out, scores.shape[1], BLOCK=block)
    return out


@triton.jit
def three_loops_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    out_ptr += tl.program_id(0) * n
    highest = -float("inf")
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        highest = tl.maximum(highest, tl.max(tl.load(x_ptr + at, at < n, -1e30), axis=0))
    total = 0.0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.sum(tl.exp(tl.load(x_ptr + at, at < n, -1e30) - highest), axis=0)
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.exp(tl.load(x_ptr + at, at < n) - highest) / total, at < n)


@answers.right()
def softmax_in_three_loops(scores, block):
    out = torch.empty_like(scores)
    three_loops_kernel[(len(scores),)](scores, out, scores.shape[1], BLOCK=block)
    return out


@triton.jit
def lanes_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    inside = tl.arange(0, BLOCK)
    highest = tl.full((BLOCK,), -1e30, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + first + inside, mask=first + inside < n, other=-1e30)
        new = tl.maximum(highest, x)
        total = total * tl.exp(highest - new) + tl.exp(x - new)
        highest = new
    whole = tl.max(highest, axis=0)
    total = tl.sum(total * tl.exp(highest - whole), axis=0)
    for first in range(0, n, BLOCK):
        mask = first + inside < n
        x = tl.load(x_ptr + start + first + inside, mask=mask)
        tl.store(out_ptr + start + first + inside, tl.exp(x - whole) / total, mask=mask)


@answers.right()
def softmax_by_lane(scores, block):
    out = torch.zeros_like(scores)
    lanes_kernel[(len(scores),)](scores, out, scores.shape[1], BLOCK=block)
    return out


@triton.jit
def wrong_kernel(
    x_ptr, out_ptr, n, stride, other, FIRST: tl.constexpr, BLOCK: tl.constexpr, HOW: tl.constexpr
):
    start = tl.program_id(0) * stride
    highest, total = FIRST, 0.0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        if HOW == "no mask":
            x = tl.load(x_ptr + start + at)
        else:
            x = tl.load(x_ptr + start + at, mask=at < n, other=other)
        own = tl.max(x, axis=0)
        if HOW == "masked in the sum":
            x = tl.where(at < n, x, -float("inf"))
        new = tl.maximum(highest, own)
        if HOW == "block maximum":
            new = own
        if HOW == "not rescaled":
            total = total + tl.sum(tl.exp(x - new), axis=0)
        elif HOW == "all rescaled":
            total = (total + tl.sum(tl.exp(x - new), axis=0)) * tl.exp(highest - new)
        elif HOW == "by the new maximum":
            total = total * tl.exp(-new) + tl.sum(tl.exp(x - new), axis=0)
        elif HOW == "not carried":
            total = tl.sum(tl.exp(x - new), axis=0)
        elif HOW == "own maximum":
            total = total + tl.sum(tl.exp(x - own), axis=0)
        else:
            total = total * tl.exp(highest - new) + tl.sum(tl.exp(x - new), axis=0)
        highest = new
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + at, mask=at < n, other=other)
        if HOW == "own maximum":
            weights = tl.exp(x - tl.max(x, axis=0)) / total
        elif HOW == "no division":
            weights = tl.exp(x - highest)
        elif HOW == "logarithm":
            weights = x - highest - tl.log(total)
        else:
            weights = tl.exp(x - highest) / total
        if HOW != "no store":
            tl.store(out_ptr + start + at, weights, mask=at < n)


def launched(how, other=-float("inf"), stride=None, grid=len, first=-float("inf")):
    def answer(scores, block):
        out, n = torch.empty_like(scores), scores.shape[1]
        apart = stride(block) if stride else n
        wrong_kernel[(grid(scores),)](
            scores, out, n, apart, other, FIRST=first, BLOCK=block, HOW=how
        )
        return out

    return answer


LOWEST = torch.finfo(torch.float32).min
answers.right(launched("right", other=LOWEST, first=LOWEST))

for number, (name, function) in enumerate(
    (
        ("sum not rescaled", launched("not rescaled")),
        ("new terms rescaled as well", launched("all rescaled")),
        ("old maximum left out of the factor", launched("by the new maximum")),
        ("block maximum instead of the running maximum", launched("block maximum")),
        ("block measured from its own maximum", launched("own maximum")),
        ("sum not carried over the loop", launched("not carried")),
        ("padding counted as zeros", launched("right", other=0.0)),
        ("padding becomes NaN", launched("right", other=float("inf"))),
        ("negative number instead of -inf", launched("right", other=-1e4)),
        ("negative number instead of -inf", launched("right", other=-1e9)),
        ("negative number instead of -inf", launched("right", other=-1e9, first=-1e9)),
        ("negative number instead of -inf", launched("masked in the sum", other=-1e9)),
        ("maximum starts too high", launched("right", first=-1e4)),
        ("maximum starts too high", launched("right", first=-1e9)),
        ("maximum never below 0", launched("right", first=0.0)),
        ("edge not masked", launched("no mask")),
        ("not divided by the sum", launched("no division")),
        ("logarithm of the softmax", launched("logarithm")),
        ("only the first row", launched("right", grid=lambda scores: 1)),
        ("nothing written", launched("no store")),
        ("no Triton kernel launched", lambda scores, block: scores.softmax(-1)),
    )
):
    function.__name__ = f"softmax_{number}"
    answers.wrong(name, function=function)


@triton.jit
def two_loops_kernel(
    x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr, BEGIN: tl.constexpr, TURNED: tl.constexpr
):
    start = tl.program_id(0) * stride
    highest, total = -float("inf"), 0.0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + at, mask=at < n, other=-float("inf"))
        new = tl.maximum(highest, tl.max(x, axis=0))
        factor = tl.exp(new - highest) if TURNED else tl.exp(highest - new)
        total = total * factor + tl.sum(tl.exp(x - new), axis=0)
        highest = new
    for first in range(BEGIN, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + at, mask=at < n)
        tl.store(out_ptr + start + at, tl.exp(x - highest) / total, mask=at < n)


def in_two_loops(stride=None, begins=False, turned=False):
    def softmax(scores, block):
        out, (rows, n) = torch.empty_like(scores), scores.shape
        apart = {None: n, "block": block, "one": 1}[stride]
        begin = block if begins else 0
        two_loops_kernel[(rows,)](scores, out, n, apart, BLOCK=block, BEGIN=begin, TURNED=turned)
        return out

    return softmax


answers.right(in_two_loops())
answers.wrong("first block not written", function=in_two_loops(begins=True))
answers.wrong("NaN from the first block on", function=in_two_loops(turned=True))
answers.wrong("block's length taken for the row's stride", function=in_two_loops("block"))
answers.wrong("row's number without the stride", function=in_two_loops("one"))


@answers.wrong("block ignored")
def softmax_in_one_block_after_all(scores, block):
    out = torch.empty_like(scores)
    width = triton.next_power_of_2(scores.shape[1])
    online_kernel[(len(scores),)](scores, out, scores.shape[1], BLOCK=width)
    return out
