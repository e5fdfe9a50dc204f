"""What the compiler makes of the kernels for three chips, none of which need be here: see
compiled.py.

These are facts of what the compiler made. They say nothing of speed, which has not been measured
yet.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attncourse.bench.compiled import SHARED_MEMORY

pytest.importorskip("triton")
BY_DESCRIPTORS = "attention_forward_by_descriptors"
PRODUCTS = (
    "attention_forward",
    "attention_backward_queries",
    "attention_backward_keys",
    "attention_decode",
)


@pytest.fixture(params=SHARED_MEMORY, ids="sm_{}".format, scope="module")
def kernels(request):
    """The facts of every kernel compiled for one chip, in a process where no kernel is
    interpreted.
    """
    environment = {name: text for name, text in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("compiled.py"), str(request.param)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def allowed_stack(kernel):
    """Bytes a thread that may be spilled: none, but for four kinds of kernels that are not made to
    be fast.
    """
    if kernel["what"].startswith("attention, d 256") and kernel["dtype"] == "float32":
        return 400  # three parts of every operand: 16 by 16 is the least tile there is
    if (
        kernel["what"].startswith("attention, d 128")
        and "mask" in kernel["what"]
        and kernel["dtype"] == "float32"
    ):
        return 40  # likewise, and a mask
    if "80 and 40" in kernel["what"] and "mask" in kernel["what"]:
        return 40  # d_k and d_v padded to different widths, and a mask: ten numbers
    return (
        40 if kernel["capability"] == 75 and kernel["kernel"] in PRODUCTS else 0
    )  # no matrix units: see below


def test_registers_and_shared_memory_suffice(kernels):
    for kernel in kernels:
        assert kernel["stack"] <= allowed_stack(kernel), kernel
        assert kernel["shared"] <= SHARED_MEMORY[kernel["capability"]], kernel
        assert kernel["registers"] * 32 * kernel["warps"] <= 65_536, kernel


def test_matrix_units_are_used(kernels):
    """On sm_90 by the instructions of a whole group of warps (wgmma), where the tile has the 64
    rows that they take.
    """
    products = [kernel for kernel in kernels if kernel["kernel"] in PRODUCTS]
    assert products
    for kernel in products:
        if kernel["capability"] == 75:
            assert (
                kernel["wgmma"] + kernel["mma"] == 0
            )  # Triton 3.6 and 3.7 have none for it: float32 instead
            continue
        assert kernel["wgmma"] + kernel["mma"] > 0, kernel
        grouped = kernel["kernel"].startswith("attention_forward") and kernel["capability"] == 90
        assert not grouped or kernel["wgmma"] > 0, kernel


def test_descriptors_are_used_where_they_are_asked_for(kernels):
    """A block copied by one instruction: in the kernel that the benchmark has beside the others,
    and in no other.
    """
    for kernel in kernels:
        assert (kernel["tma"] > 0) == (kernel["kernel"] == BY_DESCRIPTORS), kernel
    assert any(kernel["tma"] for kernel in kernels) == (kernels[0]["capability"] >= 90)


def test_every_kernel_was_compiled(kernels):
    assert {kernel["kernel"] for kernel in kernels} - {BY_DESCRIPTORS} == {
        "softmax_rows",
        "softmax_rows_backward",
        "softmax_long_rows",
        "softmax_long_rows_backward",
        "attention_delta",
        "merge_splits",
        *PRODUCTS,
    }
