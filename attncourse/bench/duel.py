"""Streaming attention beside torch's, on one core and on all of them.

Each contender lives in a process of its own and is asked in turn, so that no library's threads
disturb another, and a disturbance from outside affects all of them. OPENBLAS_CORETYPE, which
OpenBLAS reads once when it is loaded, says which of its kernels a contender uses.

The smallest programs that show the limit: two matrix products for each block and no softmax, by
NumPy's BLAS and by torch's, and the products with one exponential per score between them, the least
that streaming attention in NumPy can do.
"""

import contextlib
import datetime
import json
import os
import subprocess
import sys
import time

import numpy as np

from attncourse.bench import cpu
from attncourse.bench.report import aligned, in_words, spread

SIZES = (1024, 2048, 4096)
# name: (function in cpu.py or its CONTENDERS, OPENBLAS_CORETYPE)
CONTENDERS = {
    "torch SDPA": ("torch SDPA", None),
    "attnlib online": ("attnlib online", None),
    "products alone": ("products alone", None),
    "products, exponentials": ("products_and_exponentials", None),
    "products by torch": ("products_by_torch", None),
    "attnlib online, AVX2 kernels": ("attnlib online", "Haswell"),
    "products, exponentials, AVX2 kernels": ("products_and_exponentials", "Haswell"),
}


def answer_times(contender):
    """In the contender's process: milliseconds of a call, for every problem that is asked."""
    attend = cpu.CONTENDERS.get(contender) or getattr(cpu, contender)
    for line in sys.stdin:
        n, is_causal, repeats = json.loads(line)
        arrays = cpu.draw(n)

        def call():
            attend(*arrays, is_causal)  # noqa: B023, called before the next line

        print(cpu.milliseconds(call, repeats, warm_up=True)[0], flush=True)


@contextlib.contextmanager
def started(cores):
    """{name: process} for all contenders, with so many threads each."""
    command = [sys.executable, "-m", "attncourse.bench", "--job"]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), cores)
    with contextlib.ExitStack() as stack:
        processes = {}
        for name, (contender, kernels) in CONTENDERS.items():
            job = json.dumps({"call": "answer_times", "contender": contender})
            own = {name: str(number) for name, number in threads.items()}
            own |= {"OPENBLAS_CORETYPE": kernels} if kernels else {}
            processes[name] = stack.enter_context(
                subprocess.Popen(
                    [*command, job],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**os.environ, "OMP_WAIT_POLICY": "passive", **own},
                )
            )
        yield processes
        for process in processes.values():
            process.communicate()  # the end of its input ends the process


def asked(process, problem):
    process.stdin.write(json.dumps(problem) + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def compare(processes, n, is_causal, budget):
    """A row: milliseconds, and the ratios to torch's in the same round."""
    rng, end, before = np.random.default_rng(n), time.monotonic() + budget, cpu.busy_seconds()
    taken = {name: [] for name in processes}
    while len(taken["torch SDPA"]) < 5 or time.monotonic() < end:
        for name in rng.permutation(list(processes)):
            problem = n, is_causal, max(1, 4096 // n)
            taken[name].append(asked(processes[name], problem))
    taken = {name: np.array(samples) for name, samples in taken.items()}
    return {
        "n": n,
        "is_causal": is_causal,
        "rounds": len(taken["torch SDPA"]),
        "busy": busy(before),
        "ms": {name: spread(own) for name, own in taken.items()},
        "speed against SDPA": {
            name: spread(taken["torch SDPA"] / own) for name, own in taken.items()
        },
    }


def busy(before):
    """The share of the cores' time that was used, by the contenders and by others."""
    if before is None:
        return None
    wall, _, everybody = np.subtract(cpu.busy_seconds(), before)
    return round(float(everybody / wall / os.cpu_count()), 3)


def bench(sizes, budget, path=None):
    record = {
        "date": datetime.date.today().isoformat(),
        "command": cpu.command(),
        "machine": cpu.machine(),
        "duel": [],
    }
    for cores in sorted({1, cpu.cores()}):
        with started(cores) as processes:
            for n in sizes:
                for is_causal in (False, True):
                    row = compare(processes, n, is_causal, budget)
                    record["duel"].append({"cores": cores, **row})
                    cpu.write(record, path)
    return record


def table(record, names=None):
    """The speed against SDPA of these contenders, by default of all others, as a Markdown table: a
    line for each problem.
    """
    names = names or [name for name in record["duel"][0]["ms"] if name != "torch SDPA"]
    lines = [("cores, n", *names)]
    for row in record["duel"]:
        ratios = (in_words(row["speed against SDPA"][name], "speed") for name in names)
        causal = ", causal" if row["is_causal"] else ""
        lines.append((f"{row['cores']}, {row['n']:,}{causal}", *ratios))
    return aligned(lines)
