"""What Triton's compiler makes of kernels, without the chips themselves: registers, spills, shared
memory, instructions.

    python -m attncourse.bench.compiled FOLDER 60 75 80 90    # launches that
    attncourse.bench.launches has written: a JSON line each, within 60 seconds of CPU for each chip

Compiling needs neither a driver nor a chip, only a process in which Triton does not interpret.
"""

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

# bytes that one program may use, by compute capability (CUDA C++ Programming Guide, table of
# compute capabilities)
SHARED_MEMORY = {75: 65_536, 80: 166_912, 90: 232_448}
# Instructions of PTX, each of which becomes one of the machine's: HGMMA, HMMA and UTMALDG there. To
# read them in
# the machine code itself would take longer than to compile it.
COUNTED = {
    "wgmma": r"\bwgmma\.mma_async\b",
    "mma": r"\bmma\.sync\b",
    "tma": r"\bcp\.async\.bulk\.tensor\b",
}


class NoDevice:
    """What Triton asks a driver before it compiles."""

    def __init__(self, capability):
        self.capability = capability

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self.capability, 32)


def facts(kernel):
    """What the compiler made: registers, stack (spills), shared memory, products, copies by
    descriptors.
    """
    import triton

    cuobjdump = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        usage = subprocess.run(
            [cuobjdump, "--dump-resource-usage", file.name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    numbers = dict(re.findall(r"\b(REG|STACK):(\d+)", usage))
    return {
        "kernel": kernel.metadata.name,
        "warps": kernel.metadata.num_warps,
        "stages": kernel.metadata.num_stages,
        "registers": int(numbers["REG"]),
        "stack": int(numbers["STACK"]),
        "shared": kernel.metadata.shared,
        **{name: len(re.findall(pattern, kernel.asm["ptx"])) for name, pattern in COUNTED.items()},
    }


def refusal(error, first_lines):
    """Why the compiler made nothing: its message, and the last line of the written functions that
    it reached.

    Args:
        first_lines: {module: the number that its function's first line has in the learner's file}.
    """
    lines = {}
    for module, first in first_lines.items():
        for jitted in vars(importlib.import_module(module)).values():
            if getattr(jitted, "__module__", None) == module:
                lines[jitted.src] = first
    found, words = {}, str(error)
    while error is not None:
        node, source = getattr(error, "node", None), getattr(error, "src", None)
        if source in lines and hasattr(node, "lineno"):
            found = {
                "line_number": lines[source] + node.lineno - 1,
                "line": source.split("\n")[node.lineno - 1].strip(),
            }
        words = (
            getattr(error, "error_message", None)
            or (words if hasattr(error, "node") else str(error))
            or words
        )
        error = error.__cause__
    return {"error": " ".join(words.split())[:1000], **found}


def report(launches, first_lines, capability):
    """Compile every launch for one chip, and print the result."""
    from triton.runtime import driver

    driver.set_active(NoDevice(capability))
    for number, (kernel, args, options) in enumerate(launches):
        try:
            made = facts(kernel.run(*args, grid=(1,), warmup=True, **options))
        except Exception as error:  # whatever the compiler raises is the result
            made = refusal(error, first_lines)
        line = json.dumps({"launch": number, "capability": capability, **made}) + "\n"
        os.write(1, line.encode())  # at once, as several processes write here


def main(folder, seconds, *capabilities):
    """One process per chip: they compile at the same time, and if LLVM ends one, the others go on.
    One that computes for too long is ended, so that a busy machine doesn't count.
    """
    sys.path.insert(0, folder)
    written, running = importlib.import_module("launches"), {}
    for capability in map(int, capabilities):
        process = os.fork()
        if process == 0:
            signal.setitimer(signal.ITIMER_PROF, float(seconds))
            report(written.LAUNCHES, written.FIRST_LINES, capability)
            os._exit(0)
        running[process] = capability
    for _ in capabilities:
        process, status = os.wait()
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
            os.write(1, json.dumps({"late": running[process]}).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
