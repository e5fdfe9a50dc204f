"""The benchmark for CUDA devices: its parts on the CPU, on small problems; whole, where there is a device."""

import json
import subprocess
import sys

import pytest
import torch

pytest.importorskip("triton")
from attnlib import bench_cuda  # noqa: E402
from helpers import HAS_INTERPRETER  # noqa: E402

on_cpu = pytest.mark.skipif(not HAS_INTERPRETER, reason="the kernels run on the device")
quietly = pytest.mark.filterwarnings("ignore")  # of backends that say why they do not run


@pytest.fixture(autouse=True)
def few_contenders(monkeypatch):
    """Without those that compile."""
    for contenders in (bench_cuda.SOFTMAX, bench_cuda.ATTENTION):
        for name in {"torch.compile", "FlexAttention"} & set(contenders):
            monkeypatch.delitem(contenders, name)


def right(rows, most):
    return {name for name, number in rows.items() if number is not None and number < most}


@on_cpu
@quietly
def test_softmax():
    row = bench_cuda.measure_softmax(bench_cuda.Timer("cpu"), "cpu", 8, torch.float32, 3, numbers=64)
    assert right(row["errors"], 1e-6) == {"attnlib", "torch.softmax"}
    for step in ("forward", "backward"):
        assert set(row[step]) == {"attnlib", "torch.softmax", "copy"}
        assert all(numbers["ms"]["median"] > 0 and numbers["GB/s"]["median"] > 0 for numbers in row[step].values())
    json.dumps(row)


@on_cpu
@quietly
@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(is_causal):
    row = bench_cuda.measure_attention(bench_cuda.Timer("cpu"), "cpu", 96, 16, is_causal, torch.float32, 3, 96, 16)
    assert {"attnlib", "attnlib, descriptors", "SDPA math"} <= right(row["errors"], 1e-5)
    assert "attnlib, descriptors" in row["forward"] and "attnlib, descriptors" not in row["backward"]
    assert "SDPA cuDNN" not in right(row["errors"], 1e9) and "error" in row["forward"]["SDPA cuDNN"]
    assert row["forward"]["attnlib"]["ms"]["median"] > 0 and row["backward"]["attnlib"]["ms"]["median"] > 0
    json.dumps(row)


@on_cpu
@quietly
def test_decode_and_what_is_printed():
    timer = bench_cuda.Timer("cpu")
    row = bench_cuda.measure_decode(timer, "cpu", 600, 16, 1, torch.float32, 3, h=4, h_kv=2)
    assert {"attnlib", "copy"} <= set(row["decode"]) and "speed against copy" in row["decode"]["attnlib"]
    results = {"ceilings": bench_cuda.ceilings(timer, "cpu", 3, 16, 2048), "softmax": [], "attention": [], "decode": [row],
               "memory": [bench_cuda.measure_memory("cpu", 64, 16, torch.float32, "attnlib")]}
    text = bench_cuda.table(results)
    assert "decode: n_k 600, d 16, batch 1" in text and "speed against copy" in text and "memory, n 64" in text


@on_cpu
def test_without_a_device_it_says_so():
    done = subprocess.run([sys.executable, "-m", "attnlib.bench", "--device", "cuda"], capture_output=True, text=True)
    assert done.returncode == 1 and "there is no CUDA device here" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.gpu
@quietly
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_quick_run():
    results = bench_cuda.bench(quick=True, rounds=3, progress=lambda what: None)
    assert results["softmax"] and results["attention"] and results["decode"] and bench_cuda.table(results)
