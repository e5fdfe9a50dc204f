"""Softmax and attention on a CUDA device: `python -m attncourse.bench --device cuda --json PATH`.

First come the ceilings: a copy, and a large matrix product of random numbers. Then come the
problems, one after another: errors against float64 on fresh inputs, then all contenders in turn,
round after round, so that a disturbance affects all of them. Ratios are taken round by round;
medians and quartiles are kept. The cache is emptied between two samples. A contender that does not
take a problem leaves its sentence in the record. This was written without a GPU: its parts have run
only on the CPU, and no figure has been recorded.
"""

import contextlib
import datetime
import functools
import json
import math
import platform
import time
import warnings
from importlib import metadata, util
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

import attnlib
from attncourse.bench.report import spread

ROWS = (1024, 4096, 16384, 32768, 65536, 131072, 262144)
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
HEAD_SIZES = (64, 128)
CACHES = (16384, 65536)
SOFTMAX_NUMBERS, TOKENS, WIDTH = (
    2**27,
    16384,
    2048,
)  # of a problem: 256 MiB in bfloat16; positions; heads * d
FLUSHED = 2**28  # bytes, more than any chip's cache
LEAST_SAMPLE = 1e-3  # seconds: short calls are repeated


# --- timing ---


class Timer:
    """Seconds of one call: between two events on a CUDA device, elsewhere by the clock."""

    def __init__(self, device):
        self.on_cuda = torch.device(device).type == "cuda"
        self.flushed = torch.empty(FLUSHED if self.on_cuda else 1, dtype=torch.uint8, device=device)

    def sample(self, call, repeats):
        self.flushed.zero_()
        if not self.on_cuda:
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            return (time.perf_counter() - start) / repeats
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeats):
            call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / repeats

    def in_turn(self, calls, rounds):
        """{name: seconds of each round}; a call that fails is left out, and its sentence kept."""
        repeats, samples, failed = {}, {}, {}
        for name, call in calls.items():
            try:
                call()  # compiles
                once = max(1e-7, min(self.sample(call, 1) for _ in range(2)))
                repeats[name], samples[name] = max(1, min(100, round(LEAST_SAMPLE / once))), []
            except Exception as error:
                failed[name] = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        for _ in range(rounds):
            for name in samples:
                samples[name].append(self.sample(calls[name], repeats[name]))
        return {
            name: torch.tensor(own, dtype=torch.float64) for name, own in samples.items()
        }, failed


def rates(seconds, failed, work, unit, against):
    """For each contender milliseconds, the rate (work is in units), and the speed against others,
    round by round.
    """
    results = {name: {"error": sentence} for name, sentence in failed.items()}
    for name, own in seconds.items():
        results[name] = {"ms": spread((1e3 * own).numpy()), unit: spread((work / own).numpy())}
        results[name].update(
            {
                f"speed against {other}": spread((seconds[other] / own).numpy())
                for other in against
                if other in seconds
            }
        )
    return results


def random(*shape, device, dtype, seed=0):
    generator = torch.Generator(device).manual_seed(seed)
    return torch.randn(shape, generator=generator, device=device, dtype=torch.float32).to(dtype)


def ceilings(timer, device, rounds, size=8192, numbers=2**29):
    """The best the device can do: GB/s of a copy, and TFLOP/s of a product, both in bfloat16."""
    a, b = (random(size, size, device=device, dtype=torch.bfloat16, seed=seed) for seed in (0, 1))
    source = random(numbers // 1024, 1024, device=device, dtype=torch.bfloat16)
    target = torch.empty_like(source)
    seconds, failed = timer.in_turn(
        {"copy": lambda: target.copy_(source), "product": lambda: a @ b}, rounds
    )
    return {
        "copy GB/s": spread((4 * numbers / 1e9 / seconds["copy"]).numpy()),
        "product TFLOP/s": spread((2 * size**3 / 1e12 / seconds["product"]).numpy()),
    }


# --- softmax ---


@functools.cache
def compiled_softmax():
    return torch.compile(lambda scores: torch.softmax(scores, -1), dynamic=False)


SOFTMAX = {
    "attnlib": lambda scores: attnlib.softmax(scores, impl="triton"),
    "torch.softmax": lambda scores: torch.softmax(scores, -1),
    "torch.compile": lambda scores: compiled_softmax()(scores),
}


def measure_softmax(timer, device, n, dtype, rounds, numbers=SOFTMAX_NUMBERS):
    """Forward (2 bytes moved for each byte of a row) and backward (3); and the copy beside them."""
    scores = random(max(1, numbers // n), n, device=device, dtype=dtype)
    grad = random(*scores.shape, device=device, dtype=dtype, seed=1)
    target, bytes_moved = torch.empty_like(scores), scores.numel() * scores.element_size() / 1e9
    forward = {name: functools.partial(call, scores) for name, call in SOFTMAX.items()}
    backward = {name: backward_of(call, [scores], grad) for name, call in SOFTMAX.items()}
    row = {
        "n": n,
        "dtype": str(dtype).removeprefix("torch."),
        "errors": {name: error(call, scores[:8]) for name, call in SOFTMAX.items()},
    }
    for step, calls, factor in (("forward", forward, 2), ("backward", backward, 3)):
        copy = {"copy": lambda: target.copy_(scores)}
        seconds, failed = timer.in_turn({**calls, **copy}, rounds)
        seconds["copy"] = seconds["copy"] * factor / 2  # with as many bytes
        row[step] = rates(seconds, failed, factor * bytes_moved, "GB/s", ("copy", "torch.softmax"))
    return row


def backward_of(call, inputs, grad):
    """Only the backward pass: autograd over a graph that was made once; a failure comes when it is
    called.
    """
    inputs = [tensor.detach().requires_grad_() for tensor in inputs]
    made = []

    def run():
        if not made:
            made.append(call(*inputs))
        return torch.autograd.grad(made[0], inputs, grad, retain_graph=True)

    return run


def error(call, scores):
    """The largest difference from float64, on inputs that no timing has seen; None if the call
    fails.
    """
    scores = random(*scores.shape, device=scores.device, dtype=scores.dtype, seed=2)
    with contextlib.suppress(Exception):
        return float((call(scores).double() - torch.softmax(scores.double(), -1)).abs().max())


# --- attention ---


def sdpa(backend, query, key, value, is_causal):
    with sdpa_kernel(backend):
        return scaled_dot_product_attention(
            query, key, value, is_causal=is_causal, enable_gqa=query.shape[1] != key.shape[1]
        )


@functools.cache
def flex():
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention, dynamic=False)


@functools.cache
def causal_blocks(n, device):
    from torch.nn.attention.flex_attention import create_block_mask

    return create_block_mask(lambda b, h, i, j: j <= i, None, None, n, n, device=device)


def flex_attention(query, key, value, is_causal):
    blocks = causal_blocks(query.shape[2], query.device.type) if is_causal else None
    return flex()(query, key, value, block_mask=blocks, enable_gqa=query.shape[1] != key.shape[1])


def ours(query, key, value, is_causal):
    return attnlib.attention(query, key, value, is_causal=is_causal, enable_gqa=True, impl="triton")


def ours_by_descriptors(query, key, value, is_causal):
    from attncourse.bench import descriptors_triton

    return descriptors_triton.attention(query, key, value, is_causal)


@functools.cache
def compiled_dense():
    def dense(query, key, value, is_causal):
        return attnlib.attention(
            query, key, value, is_causal=is_causal, enable_gqa=True, impl="dense"
        )

    return torch.compile(dense, dynamic=False)


def dense_compiled(query, key, value, is_causal):
    return compiled_dense()(query, key, value, is_causal)


ATTENTION = {
    "attnlib": ours,
    "SDPA flash": functools.partial(sdpa, SDPBackend.FLASH_ATTENTION),
    "SDPA cuDNN": functools.partial(sdpa, SDPBackend.CUDNN_ATTENTION),
    "SDPA efficient": functools.partial(sdpa, SDPBackend.EFFICIENT_ATTENTION),
    "SDPA math": functools.partial(sdpa, SDPBackend.MATH),
    "torch.compile": dense_compiled,
    "FlexAttention": flex_attention,
}
STORES_SCORES = ("SDPA math", "torch.compile")
MOST_SCORES = 2**32  # 8 GiB in bfloat16, and more on the way


def contenders(query, key):
    scores = math.prod(query.shape[:3]) * key.shape[2]
    return {
        name: call
        for name, call in ATTENTION.items()
        if name not in STORES_SCORES or scores <= MOST_SCORES
    }


def measure_attention(timer, device, n, d, is_causal, dtype, rounds, tokens=TOKENS, width=WIDTH):
    """TFLOP/s forward and backward, which has 2.5 times the operations; half of each under a causal
    mask.
    """
    shape = max(1, tokens // n), width // d, n, d
    query, key, value, grad = (
        random(*shape, device=device, dtype=dtype, seed=seed) for seed in range(4)
    )
    calls = contenders(query, key)
    forward_calls = {
        **calls,
        "attnlib, descriptors": ours_by_descriptors,
    }  # only of the forward pass
    flops = 4 * shape[0] * shape[1] * n * n * d * (0.5 if is_causal else 1) / 1e12
    row = {
        "n": n,
        "d": d,
        "batch": shape[0],
        "heads": shape[1],
        "is_causal": is_causal,
        "dtype": str(dtype).removeprefix("torch."),
        "errors": {
            name: attention_error(call, shape, device, dtype, is_causal)
            for name, call in forward_calls.items()
        },
    }
    against = ("SDPA flash", "SDPA cuDNN")
    forward = {
        name: functools.partial(call, query, key, value, is_causal)
        for name, call in forward_calls.items()
    }
    with torch.no_grad():
        row["forward"] = rates(*timer.in_turn(forward, rounds), flops, "TFLOP/s", against)
    backward = {
        name: backward_of(functools.partial(call, is_causal=is_causal), (query, key, value), grad)
        for name, call in calls.items()
    }
    row["backward"] = rates(*timer.in_turn(backward, rounds), 2.5 * flops, "TFLOP/s", against)
    return row


def attention_error(call, shape, device, dtype, is_causal):
    """The largest difference from float64 on the last 64 queries of the last head, on fresh
    inputs.
    """
    query, key, value = (
        random(*shape, device=device, dtype=dtype, seed=seed) for seed in (10, 11, 12)
    )
    with contextlib.suppress(Exception), torch.no_grad():
        got = call(query, key, value, is_causal)[-1, -1, -64:].double()
        last, key, value = (
            query[-1, -1, -64:].double(),
            key[-1, -1].double(),
            value[-1, -1].double(),
        )
        scores = last @ key.mT / math.sqrt(shape[-1])
        if is_causal:
            n = shape[2]
            at = torch.arange(n, device=device)
            scores = scores.masked_fill(at > at[-64:, None], -torch.inf)
        return float((got - torch.softmax(scores, -1) @ value).abs().max())


def measure_decode(timer, device, n_k, d, batch, dtype, rounds, h=32, h_kv=8):
    """One query against a cache: GB/s of the cache, beside a copy of as many bytes."""
    query = random(batch, h, 1, d, device=device, dtype=dtype)
    key, value = (
        random(batch, h_kv, n_k, d, device=device, dtype=dtype, seed=seed) for seed in (1, 2)
    )
    target = torch.empty_like(key)
    calls = {
        name: functools.partial(call, query, key, value, False)
        for name, call in contenders(query, key).items()
    }
    with torch.no_grad():  # the copy reads half of the cache and writes as much: the same bytes
        seconds, failed = timer.in_turn({**calls, "copy": lambda: target.copy_(key)}, rounds)
    bytes_read = 2 * key.numel() * key.element_size() / 1e9
    return {
        "n_k": n_k,
        "d": d,
        "batch": batch,
        "heads": [h, h_kv],
        "dtype": str(dtype).removeprefix("torch."),
        "decode": rates(seconds, failed, bytes_read, "GB/s", ("copy", "SDPA flash")),
    }


def measure_memory(device, n, d, dtype, name, heads=16):
    """Peak extra MiB of a forward and backward pass, by torch's allocator; None if there is none or
    the call fails.
    """
    if torch.device(device).type != "cuda":
        return {"n": n, "contender": name, "MiB": None}
    inputs = [
        random(1, heads, n, d, device=device, dtype=dtype, seed=seed).requires_grad_()
        for seed in range(3)
    ]
    used = None
    with contextlib.suppress(Exception):
        ATTENTION[name](*inputs, True).sum().backward()  # compiles
        for tensor in inputs:
            tensor.grad = None
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        ATTENTION[name](*inputs, True).sum().backward()
        torch.cuda.synchronize()
        used = round((torch.cuda.max_memory_allocated() - before) / 2**20, 1)
    return {"n": n, "contender": name, "MiB": used}


# --- all of it ---


def machine(device):
    packages = ("torch", "triton", "numpy")
    facts = {
        "date": datetime.date.today().isoformat(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in packages if util.find_spec(name)},
    }
    if torch.device(device).type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        facts.update(
            device=properties.name,
            capability=f"{properties.major}.{properties.minor}",
            cuda=torch.version.cuda,
            processors=properties.multi_processor_count,
            memory_GiB=round(properties.total_memory / 2**30),
        )
    return facts


def bench(device="cuda", quick=False, rounds=21, progress=print):
    """All measurements; quick: one of each kind."""
    timer, dtype = (
        Timer(device),
        (torch.bfloat16 if torch.cuda.get_device_capability(device) >= (8, 0) else torch.float16),
    )
    results = {
        "machine": machine(device),
        "ceilings": ceilings(timer, device, rounds),
        "softmax": [],
        "attention": [],
        "decode": [],
        "memory": [],
    }
    for n in ROWS[:1] if quick else ROWS:
        for own in (dtype,) if quick else (dtype, torch.float32):
            progress(f"softmax, rows of {n}")
            results["softmax"].append(measure_softmax(timer, device, n, own, rounds))
    for d in HEAD_SIZES[:1] if quick else HEAD_SIZES:
        for n in LENGTHS[2:3] if quick else LENGTHS:
            for is_causal in (False, True):
                progress(f"attention, d = {d}, n = {n}{', causal' if is_causal else ''}")
                results["attention"].append(
                    measure_attention(timer, device, n, d, is_causal, dtype, rounds)
                )
        for n_k in CACHES[:1] if quick else CACHES:
            for batch in (1, 16):
                progress(f"decoding, d = {d}, n_k = {n_k}")
                results["decode"].append(
                    measure_decode(timer, device, n_k, d, batch, dtype, rounds)
                )
    for n in LENGTHS[:1] if quick else LENGTHS[2:]:
        results["memory"] += [
            measure_memory(device, n, 64, dtype, name)
            for name in ATTENTION
            if name not in STORES_SCORES or n <= 8192
        ]
    return results


def main(quick=False, path=None):
    """The results, written to path as JSON; SystemExit with a sentence if there is no device."""
    if not torch.cuda.is_available():
        raise SystemExit(
            "there is no CUDA device here: --device cuda measures on one (without it, the CPU is"
            " measured)"
        )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of backends that say why they do not run: the record has it
        results = bench(quick=quick)
    if path:
        Path(path).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return results
