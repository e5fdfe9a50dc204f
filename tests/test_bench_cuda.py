"""The benchmark for CUDA devices: its parts on the CPU, on small problems; whole, where there is a
device.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import attnlib

pytest.importorskip("triton")
from helpers import (  # noqa: E402
    HAS_INTERPRETER,
    assert_close,
    draws,
    each_triton,
    in_library,
    poisoned,
    random_mask,
    surrounded,
    to_float64,
)

from attncourse.bench import cuda, report  # noqa: E402
from attnlib import flash_triton, tiles_triton  # noqa: E402

on_cpu = pytest.mark.skipif(not HAS_INTERPRETER, reason="the kernels run on the device")
quietly = pytest.mark.filterwarnings("ignore")  # of backends that say why they do not run


@pytest.fixture(autouse=True)
def few_contenders(monkeypatch):
    """Without those that compile."""
    for contenders in (cuda.SOFTMAX, cuda.ATTENTION):
        for name in {"torch.compile", "FlexAttention"} & set(contenders):
            monkeypatch.delitem(contenders, name)


def right(rows, most):
    return {name for name, number in rows.items() if number is not None and number < most}


@on_cpu
@quietly
def test_softmax():
    row = cuda.measure_softmax(cuda.Timer("cpu"), "cpu", 8, torch.float32, 3, numbers=64)
    assert right(row["errors"], 1e-6) == {"attnlib", "torch.softmax"}
    for step in ("forward", "backward"):
        assert set(row[step]) == {"attnlib", "torch.softmax", "copy"}
        assert all(
            numbers["ms"]["median"] > 0 and numbers["GB/s"]["median"] > 0
            for numbers in row[step].values()
        )
    json.dumps(row)


@on_cpu
@quietly
@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(is_causal):
    row = cuda.measure_attention(
        cuda.Timer("cpu"), "cpu", 96, 16, is_causal, torch.float16, 3, 96, 16
    )
    assert {"attnlib", "attnlib, descriptors", "SDPA math"} <= right(row["errors"], 2e-3)
    assert (
        "ms" in row["forward"]["attnlib, descriptors"]
        and "attnlib, descriptors" not in row["backward"]
    )
    assert "SDPA cuDNN" not in right(row["errors"], 1e9) and "error" in row["forward"]["SDPA cuDNN"]
    assert (
        row["forward"]["attnlib"]["ms"]["median"] > 0
        and row["backward"]["attnlib"]["ms"]["median"] > 0
    )
    json.dumps(row)


# --- keys and values by descriptors ---

DESCRIBED = {  # shapes of query, key and value; of a floating mask; window, scale, softcap
    "ragged": ((1, 2, 131, 64), (1, 2, 263, 64), (1, 2, 263, 64), None, (None, None, 0.3, None)),
    "causal, grouped heads": (
        (2, 4, 131, 32),
        (2, 2, 263, 32),
        (2, 1, 263, 32),
        None,
        (None, 0, 0.3, None),
    ),
    "head of 80, window": (
        (1, 1, 67, 80),
        (1, 1, 131, 80),
        (1, 1, 131, 40),
        None,
        (40, 17, 0.3, None),
    ),
    "mask and softcap": (
        (1, 2, 67, 64),
        (1, 2, 131, 64),
        (1, 2, 131, 64),
        (67, 131),
        (None, None, 0.3, 5.0),
    ),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", DESCRIBED)
@each_triton
def test_descriptors_read_the_same(library, dtype, name):
    from attncourse.bench import descriptors_triton

    *shapes, mask, options = DESCRIBED[name]
    (*tensors,), mask = in_library(
        library, draws(*shapes), mask and random_mask("floating", mask), dtype
    )
    mask = None if mask is None else poisoned(mask).expand(*tensors[0].shape[:3], -1)
    expected = flash_triton.forward(*tensors, mask, *options)
    tensors = [poisoned(tensor) for tensor in tensors]
    with surrounded():
        results = descriptors_triton.forward(*tensors, mask, *options)
    for got, by_pointers in zip(results, expected):
        assert_close(
            got, to_float64(by_pointers), like=got, tolerance=None if library == "cuda" else 1e-30
        )


def test_a_descriptor_is_made_where_the_unit_that_copies_takes_it(monkeypatch):
    from attncourse.bench.descriptors_triton import descriptor_of

    key = torch.zeros(2, 3, 17, 24, dtype=torch.float16)
    for taken in (key, key.transpose(1, 2), key[..., 8:]):
        assert descriptor_of(taken, 16).block_shape == [
            1,
            1,
            16,
            32 if taken.shape[-1] == 24 else 16,
        ]
    for refused in (
        key[..., 1:],
        key[..., ::2],
        key[..., :20].contiguous(),
        key.mT,
        key[:1].expand(2, -1, -1, -1),
    ):
        with pytest.raises(ValueError, match="rows without gaps, .*; got strides"):
            descriptor_of(refused, 16)
    with pytest.raises(ValueError, match="float16 and bfloat16; got float32"):
        descriptor_of(key.float(), 16)
    monkeypatch.setattr(tiles_triton, "CAPABILITY", 80)
    with pytest.raises(ValueError, match="9.0 or newer; got 8.0"):
        descriptor_of(key, 16)


def test_nothing_but_the_benchmark_knows_descriptors():
    root = Path(attnlib.__file__).parents[1]
    assert [
        path.relative_to(root).as_posix()
        for package in ("attncourse", "attnlib")
        for path in (root / package).rglob("*.py")
        if "descriptors_triton" in path.read_text()
    ] == ["attncourse/bench/cuda.py"]


# --- the rest of the benchmark ---


@on_cpu
@quietly
def test_decode_and_what_is_printed():
    timer = cuda.Timer("cpu")
    row = cuda.measure_decode(timer, "cpu", 600, 16, 1, torch.float32, 3, h=4, h_kv=2)
    assert {"attnlib", "copy"} <= set(row["decode"]) and "speed against copy" in row["decode"][
        "attnlib"
    ]
    results = {
        "ceilings": cuda.ceilings(timer, "cpu", 3, 16, 2048),
        "softmax": [],
        "attention": [],
        "decode": [row],
        "memory": [cuda.measure_memory("cpu", 64, 16, torch.float32, "attnlib")],
    }
    text = report.device_table(results)
    assert (
        "decode: n_k 600, d 16, batch 1" in text
        and "speed against copy" in text
        and "memory, n 64" in text
    )


@on_cpu
def test_without_a_device_it_says_so():
    done = subprocess.run(
        [sys.executable, "-m", "attncourse.bench", "--device", "cuda"],
        capture_output=True,
        text=True,
    )
    assert (
        done.returncode == 1
        and "there is no CUDA device here" in done.stderr
        and "Traceback" not in done.stderr
    )


@pytest.mark.gpu
@quietly
def test_quick_run():
    results = cuda.bench(quick=True, rounds=3, progress=lambda what: None)
    assert (
        results["softmax"]
        and results["attention"]
        and results["decode"]
        and report.device_table(results)
    )
