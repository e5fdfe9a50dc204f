"""The bytes of a kernel, counted in Triton's interpreter: against counts done by hand. conftest.py
sets TRITON_INTERPRET.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from attncourse import bench, no_triton

triton = pytest.importorskip("triton")
tl = triton.language


@triton.jit
def add_rows(x, y, sums, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    exists = tl.arange(0, BLOCK) < n
    tl.store(sums + at, tl.load(x + at, mask=exists) + tl.load(y + at, mask=exists), mask=exists)


@triton.jit
def add_to_one(x, total, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(total + at * 0, tl.load(x + at, mask=at < n), mask=at < n)


def tensors(dtype=torch.float32):
    return [torch.ones(3, 5, dtype=dtype) for _ in range(3)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_bytes_are_those_that_the_masks_let_through(dtype):
    x, y, sums = tensors(dtype)
    with bench.counted() as moved:
        add_rows[(3,)](x, y, sums, 5, BLOCK=8)
    assert (moved.read, moved.written) == (
        x.nbytes + y.nbytes,
        sums.nbytes,
    ) and moved.bytes == 3 * x.nbytes
    assert (moved.of(x).read, moved.of(x).written, moved.of(sums).written) == (
        x.nbytes,
        0,
        sums.nbytes,
    )
    assert [access.program for access in moved.trace] == [
        (i, 0, 0) for i in range(3) for _ in range(3)
    ]
    assert (sums == 2).all()


def test_an_atomic_addition_reads_and_writes():
    x, total = torch.arange(5.0), torch.zeros(1)
    with bench.counted() as moved:
        add_to_one[(1,)](x, total, 5, BLOCK=8)
    assert (moved.of(total).read, moved.of(total).written) == (20, 20) and total.item() == 10


def test_nothing_is_noted_afterwards_nor_after_an_error():
    x, y, sums = tensors()
    with pytest.raises(ZeroDivisionError), bench.counted() as moved:
        1 / 0  # noqa: B018
    add_rows[(3,)](x, y, sums, 5, BLOCK=8)
    assert moved.trace == []


def test_a_cache_keeps_what_was_used_last():
    lines = lambda *numbers: [
        bench.interpreter.Access((0, 0, 0), np.array([128 * number]), 4, False)
        for number in numbers
    ]
    moved = bench.interpreter.Moved(lines(0, 1, 0, 2, 0, 1))
    assert moved.through_cache(3 * 128) == 3 * 128
    assert moved.through_cache(2 * 128) == 4 * 128  # 2 pushes 1 out
    assert moved.through_cache(128) == 6 * 128


def test_a_written_line_goes_back_once_and_is_not_fetched():
    write = bench.interpreter.Access((0, 0, 0), np.arange(0, 256, 4), 4, True)
    assert bench.interpreter.Moved([write, write]).through_cache(4 * 128) == 256
    assert bench.interpreter.Moved([write, write]).through_cache(128) == 4 * 128


def test_the_stand_in_for_triton_is_counted_too():
    def kernel(x, y, n, BLOCK):
        at = no_triton.arange(0, BLOCK)
        no_triton.store(y + at, no_triton.load(x + at, at < n, other=0.0), mask=at < n)

    x, y = torch.arange(5.0), torch.zeros(5)
    with bench.counted() as moved:
        no_triton.jit(kernel)[(2,)](x, y, 5, BLOCK=8)
    assert (moved.of(x).read, moved.of(y).written) == (40, 40) and (x == y).all()


@triton.jit
def add_blocks(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, HOW: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if HOW == "no factor":
        at = tl.program_id(0) + tl.arange(0, BLOCK)
    exists = at < n
    if HOW == "no mask":
        exists = at >= 0
    total = tl.load(x_ptr + at, mask=exists) + tl.load(y_ptr + at, mask=exists)
    if HOW == "far away":
        at = at * 1_000_000
    tl.store(out_ptr + at, total, mask=exists)


def added(how, programs=3):
    def add(x, y, block):
        out = torch.empty_like(x)
        add_blocks[(programs,)](x, y, out, len(x), BLOCK=block, HOW=how)
        return out

    return add


@pytest.mark.parametrize(
    "function, said",
    [
        (added("right"), ["all 10 places, each once."] * 3),
        (added("no mask"), ["all 10 places, each once. Outside: 10, 11."] * 3),
        (added("right", 2), ["8 of 10 places, each once. Missed: 8, 9."] * 3),
        (
            added("no factor"),
            ["6 of 10 places. More than once: 1, 2, 3, 4. Missed: 6, 7, 8, 9."] * 3,
        ),
    ],
    ids=["right", "no mask", "too few programs", "overlapping"],
)
def test_what_a_kernel_touches_is_told_place_by_place(function, said):
    x = torch.arange(10.0)
    seen = bench.touched(function, x, x, 4)
    names = ("x, read", "y, read", "output, written")
    assert str(seen).split("\n") == [f"{name}: {what}" for name, what in zip(names, said)]
    assert (x == torch.arange(10.0)).all()


def test_programs_are_those_that_touched_a_place():
    seen = bench.touched(added("no factor"), torch.ones(10), torch.ones(10), 4)
    assert seen.touches[2].programs == {
        0: [(0, 0, 0)],
        1: [(0, 0, 0), (1, 0, 0)],
        2: [(0, 0, 0), (1, 0, 0), (2, 0, 0)],
        3: [(0, 0, 0), (1, 0, 0), (2, 0, 0)],
        4: [(1, 0, 0), (2, 0, 0)],
        5: [(2, 0, 0)],
    }


def test_addresses_far_outside_do_no_harm_and_are_told():
    seen = bench.touched(added("far away", 1), torch.ones(10), torch.ones(10), 16)
    assert str(seen).endswith(
        "output, written: 1 of 10 places, each once. Missed: 1, 2, 3, 4, 5, 6 and 3 more. Outside:"
        " 1000000, 2000000, 3000000, 4000000, 5000000, 6000000 and 3 more."
    )


def test_a_function_without_a_kernel_and_one_that_fails_touch_nothing():
    assert "No kernel" in str(bench.touched(lambda x: ..., torch.ones(3)))
    seen = bench.touched(lambda x: 1 / 0, torch.ones(3))
    assert seen.touches == () and "ZeroDivisionError" in str(seen)


def test_the_stand_in_touches_the_same_places():
    def kernel(x, y, BLOCK):
        at = no_triton.program_id(0) * BLOCK + no_triton.arange(0, BLOCK)
        no_triton.store(y + at, no_triton.load(x + at))

    def copied(x):
        y = torch.zeros(5)
        no_triton.jit(kernel)[(2,)](x, y, BLOCK=4)
        return y

    assert str(bench.touched(copied, torch.ones(5))).split("\n") == [
        "x, read: all 5 places, each once. Outside: 5, 6, 7.",
        "output, written: all 5 places, each once. Outside: 5, 6, 7.",
    ]


def test_where_kernels_are_compiled_a_sentence_says_so():
    code = "import triton\nfrom attncourse import bench\nwith bench.counted(): pass"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_INTERPRET": "0"},
    )
    assert "set TRITON_INTERPRET=1 before Triton is imported" in ran.stderr
