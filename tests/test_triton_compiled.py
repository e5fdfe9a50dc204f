"""What the compiler makes of the kernels for three chips, none of which need be here: see compiled.py.

These are facts of the machine code. They say nothing of speed, which has not been measured yet.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")
SHARED_MEMORY = {75: 65_536, 80: 166_912, 90: 232_448}  # bytes that one program may use


@pytest.fixture(params=SHARED_MEMORY, ids="sm_{}".format, scope="module")
def kernels(request):
    """The facts of every kernel compiled for one chip, in a process where no kernel is interpreted."""
    environment = {name: text for name, text in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run([sys.executable, Path(__file__).with_name("compiled.py"), str(request.param)],
                          capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_registers_and_shared_memory_suffice(kernels):
    for kernel in kernels:
        assert kernel["stack"] == 0, kernel  # no register is spilled to memory
        assert kernel["shared"] <= SHARED_MEMORY[kernel["capability"]], kernel
        assert kernel["registers"] * 32 * kernel["warps"] <= 65_536, kernel


def test_every_launcher_was_compiled(kernels):
    assert {kernel["kernel"] for kernel in kernels} == {
        "softmax_rows", "softmax_rows_backward", "softmax_long_rows", "softmax_long_rows_backward"}
