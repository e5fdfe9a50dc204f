"""Causal linear attention in chunks beside causal softmax attention, in NumPy on one core."""

import datetime
import functools

import numpy as np

from attncourse.bench import cpu
from attncourse.bench.report import aligned, in_words, spread
from attnlib import threads

CHUNK = 64


def in_chunks(query, key, value):
    """Linear attention with f(x) = elu(x) + 1: a chunk reads what came before from the state, and
    itself from a small table.
    """
    query, key = positive(query), positive(key)
    value = np.concatenate([value, np.ones_like(value[..., :1])], axis=-1)  # sums the weights, too
    output = np.empty_like(value)
    state = np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]), value.dtype)
    for at in range(0, query.shape[-2], CHUNK):
        q, k, v = (array[..., at : at + CHUNK, :] for array in (query, key, value))
        output[..., at : at + CHUNK, :] = q @ state + np.tril(q @ k.mT) @ v
        state += k.mT @ v
    return output[..., :-1] / output[..., -1:]


def positive(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


CONTENDERS = {"softmax": lambda *arrays: cpu.online_numpy(*arrays, True), "linear": in_chunks}


def measure_linear(n, budget):
    """Milliseconds of both in turn, and how many times as long the softmax takes, round by
    round.
    """
    arrays, before = cpu.draw(n), cpu.busy_seconds()
    with threads.blas_threads(1):
        calls = {name: functools.partial(call, *arrays) for name, call in CONTENDERS.items()}
        taken = cpu.time_in_turn(calls, budget, repeats=max(1, 2048 // n))
    softmax, linear = (taken[name][:, 0] for name in CONTENDERS)
    return {
        "n": n,
        "rounds": len(softmax),
        "load": cpu.share_of_others(before),
        "ms": {"softmax": spread(softmax), "linear": spread(linear)},
        "softmax against linear": spread(softmax / linear),
    }


def bench(sizes, budget, path=None):
    """The record: each n in its own process."""
    record = {
        "date": datetime.date.today().isoformat(),
        "command": cpu.command(),
        "machine": {
            **cpu.machine(),
            "problem": f"{cpu.machine()['problem']}, causal, one core, chunks of {CHUNK}",
        },
        "linear": [cpu.in_process(call="measure_linear", n=n, budget=budget) for n in sizes],
    }
    cpu.write(record, path)
    return record


def table(record):
    """The record as a Markdown table, a line for each n."""
    lines = [("n", "softmax, ms", "linear, ms", "softmax / linear")]
    for row in record["linear"]:
        times = (in_words(row["ms"][name], "ms") for name in CONTENDERS)
        ratio = in_words(row["softmax against linear"], "speed")
        lines.append((f"{row['n']:,}", *times, ratio))
    return aligned(lines)
