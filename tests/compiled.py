"""Compile every kernel that the launchers launch, without the chip itself: one JSON line each.

    python tests/compiled.py 90            # compute capability 9.0; add "all" for every
    configuration

The launchers run as they are, on CPU tensors; only the last step, the launch, is left out. So the
compiled kernels are the ones that ship: the same tiles, warps and stages, and the same facts that
Triton derives from strides and sizes.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.pop("TRITON_INTERPRET", None)  # before Triton is imported

import torch  # noqa: E402
import triton  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402

from attncourse.bench import descriptors_triton  # noqa: E402
from attncourse.bench.compiled import NoDevice, facts  # noqa: E402
from attnlib import flash_triton, softmax_triton, tiles_triton  # noqa: E402

CUOBJDUMP = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"


def compiled(launcher, *args, **options):
    """The kernels that a launcher launches, compiled and not launched."""
    run, kernels = JITFunction.run, []

    def warm_up(self, *args, **kwargs):
        kernels.append(run(self, *args, **{**kwargs, "warmup": True}))
        return kernels[-1]

    JITFunction.run = warm_up
    try:
        launcher(*args, **options)
    finally:
        JITFunction.run = run
    return kernels


def loops(kernel):
    """How many machine instructions each loop of a kernel holds, counted from the target of its
    jump."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        code = subprocess.run(
            [CUOBJDUMP, "--dump-sass", file.name], capture_output=True, text=True, check=True
        ).stdout
    jumps = re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\d+ )?BRA\b[^;]*?0x([0-9a-f]+)", code)
    # An instruction takes 16 bytes; a jump to itself is the end of the kernel's code.
    return [
        (int(start, 16) - int(stop, 16)) // 16 + 1
        for start, stop in jumps
        if int(stop, 16) < int(start, 16)
    ]


def softmax_launches(everything):
    for n in (7, 1000, 4096, 16384, 32768, 262144) if everything else (1000, 32768, 262144):
        for dtype in tiles_triton.DTYPES if everything else (torch.float32,):
            rows = torch.empty(64, n, dtype=dtype)
            yield f"softmax, rows of {n}", dtype, softmax_triton.forward._init_fn, rows
            yield (
                f"softmax backward, rows of {n}",
                dtype,
                softmax_triton.backward._init_fn,
                rows,
                rows,
            )


CAUSAL = (None, 0)
FEATURES = {
    "plain": {},
    "causal": {"window": CAUSAL},
    "window": {"window": (255, 33)},
    "boolean mask": {"mask": torch.bool},
    "causal window and boolean mask": {"window": (255, 0), "mask": torch.bool},
    "floating mask, softcap and causal": {"window": CAUSAL, "mask": "floating", "softcap": 30.0},
}
HEADS = (64, 64), (128, 128), (256, 256), (80, 40)
# In CI: every kernel on every chip; each dtype, head size and feature at least once, the largest
# tiles with most.
SOME = [
    (torch.float16, (64, 64), "causal"),
    (torch.bfloat16, (128, 128), "plain"),
    (torch.float16, (128, 128), "floating mask, softcap and causal"),
    (torch.bfloat16, (256, 256), "causal"),
    (torch.float16, (64, 64), "window"),
    (torch.bfloat16, (128, 128), "causal window and boolean mask"),
    (torch.float16, (80, 40), "boolean mask"),
    (torch.float32, (64, 64), "causal"),
]

SOME_DECODE = [(torch.float16, (128, 128), "plain"), (torch.float32, (64, 64), "boolean mask")]


def attention_launches(cases):
    for dtype, (d_k, d_v), name in cases:
        options = FEATURES[name]
        query, key, value, output = (
            torch.empty(2, h, 1024, d, dtype=dtype)
            for h, d in ((8, d_k), (2, d_k), (2, d_v), (8, d_v))
        )
        mask = options.get("mask")
        if mask is not None:
            mask = torch.empty(
                1024, 1024, dtype=torch.bool if mask == torch.bool else dtype
            ).expand(2, 8, -1, -1)
        inputs = query, key, value, mask
        options = *options.get("window", (None, None)), 1.0, options.get("softcap")
        lse = torch.empty(2, 8, 1024)
        what = f"attention, d {d_k}" + (f" and {d_v}" if d_v != d_k else "") + f", {name}"
        yield what, dtype, flash_triton.forward._init_fn, *inputs, *options
        yield (
            what,
            dtype,
            flash_triton.backward._init_fn,
            output,
            lse,
            *inputs,
            output,
            lse,
            *options,
        )


def decode_launches(cases):
    for dtype, (d_k, d_v), name in cases:
        query, key, value = (
            torch.empty(1, h, n, d, dtype=dtype)
            for h, n, d in ((8, 1, d_k), (2, 4096, d_k), (2, 4096, d_v))
        )
        mask = torch.empty(4096, dtype=torch.bool).expand(1, 8, 1, -1) if name != "plain" else None
        yield (
            f"decoding, d {d_k}, {name}",
            dtype,
            flash_triton.forward._init_fn,
            query,
            key,
            value,
            mask,
            None,
            None,
            1.0,
            None,
        )


def descriptor_launches(cases):
    """The benchmark's forward kernel, where descriptors copy keys and values."""
    for what, dtype, _, *args in itertools.islice(attention_launches(cases), 0, None, 2):
        yield f"{what}, descriptors", dtype, descriptors_triton.forward, *args


def main(capability, everything):
    triton.runtime.driver.set_active(NoDevice(capability))
    tiles_triton.CAPABILITY = capability
    cases = itertools.product(tiles_triton.DTYPES, HEADS, FEATURES) if everything else SOME
    decode = (
        itertools.product(tiles_triton.DTYPES, HEADS[:3], ("plain", "boolean mask"))
        if everything
        else SOME_DECODE
    )
    described = (
        itertools.product(tiles_triton.DTYPES[:2], HEADS, FEATURES) if everything else SOME[:3]
    )
    for name, dtype, launcher, *args in itertools.chain(
        softmax_launches(everything),
        attention_launches(cases),
        decode_launches(decode),
        descriptor_launches(described if capability >= 90 else ()),
    ):
        if dtype == torch.bfloat16 and capability < 80:
            continue
        for kernel in compiled(launcher, *args):
            print(
                json.dumps(
                    {
                        "what": name,
                        "dtype": str(dtype).removeprefix("torch."),
                        "capability": capability,
                        **facts(kernel),
                    }
                ),
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]), "all" in sys.argv)
