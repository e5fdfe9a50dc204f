"""Time, memory and error of attention on a CPU: `python -m attncourse.bench`.

First come the ceilings, then every problem in its own process: errors against float64 on fresh
inputs, then all contenders in turn, round after round, so that a disturbance affects all of them.
Memory is measured in one process per contender. The results are one JSON file, from which report.py
makes the table and the book its tables and figures.
"""

import datetime
import functools
import json
import math
import os
import platform
import subprocess
import sys
import time
from importlib import metadata, util

import numpy as np

from attncourse.bench.report import HEADS, D, spread
from attnlib import attention, threads
from attnlib import online_numpy as online

CHOICES = (16, 32, 64, 128, 256, 512, 1024)
SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384)
COPIES = 4  # of the scores: the most that a contender holds at once
PAUSE = (
    0.05  # seconds between samples: OpenBLAS's threads wait 26 ms in a loop before they fall asleep
)


# --- contenders: functions of NumPy arrays (heads, n, d) ---


def naive(query, key, value, is_causal):
    scores = query @ key.mT / np.float32(math.sqrt(D))
    if is_causal:
        scores = np.where(np.tri(len(query[0]), dtype=bool), scores, np.float32(-np.inf))
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True) @ value


def naive_in_place(query, key, value, is_causal):
    scores = query @ key.mT
    scores *= np.float32(1 / math.sqrt(D))
    if is_causal:
        scores[:, ~np.tri(len(query[0]), dtype=bool)] = -np.inf
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    return scores @ value


def online_numpy(query, key, value, is_causal):
    return online.attention(query, key, value, is_causal=is_causal)


def products_alone(query, key, value, is_causal, multiply=np.matmul, then=None):
    """Only the two matrix products of every block, in the same blocks and threads, without the
    softmax."""
    heads = online.split_heads(
        query,
        key,
        value,
        None,
        is_causal=is_causal,
        window=None,
        scale=None,
        softcap=None,
        enable_gqa=False,
    )

    def work(task, scratch):
        head, task_rows = task
        blocks = [
            (rows, keys)
            for rows in online.forward_rows(head, task_rows)
            for keys in online.key_blocks(head, rows)
        ]
        for rows, keys in blocks:
            seen = head.query[max(rows.start, keys.start) if is_causal else rows.start : rows.stop]
            block = keys.stop - keys.start, len(seen)
            scores = online.scratch_array(scratch, "scores", block, seen.dtype)
            multiply(head.key[keys], seen.T, out=scores)
            if then is not None:
                then(scores, out=scores)
            product = online.scratch_array(scratch, "product", seen.shape, seen.dtype)
            multiply(scores.T, head.value[keys], out=product)

    threads.run(work, online.forward_tasks(heads), online.cost(heads, query, key))


def products_by_torch(query, key, value, is_causal):
    """The same products of the same blocks, multiplied by torch's BLAS: what NumPy's costs."""
    import torch

    def multiply(a, b, out):
        torch.mm(*map(torch.from_numpy, (a, b)), out=torch.from_numpy(out))

    torch.set_num_threads(1)  # in each of our threads
    products_alone(query, key, value, is_causal, multiply)


def products_and_exponentials(query, key, value, is_causal):
    """The least that streaming attention in NumPy can do: no mask, no sum of a row, no division."""
    products_alone(query, key, value, is_causal, then=np.exp2 if online.EXP2_IS_FASTER else np.exp)


def torch_eager(query, key, value, is_causal):
    import torch

    query, key, value = map(torch.from_numpy, (query, key, value))
    scores = query @ key.mT / math.sqrt(D)
    if is_causal:
        scores = scores.masked_fill(
            ~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -torch.inf
        )
    return (torch.softmax(scores, -1) @ value).numpy()


def torch_sdpa(query, key, value, is_causal):
    import torch

    query, key, value = (torch.from_numpy(array)[None] for array in (query, key, value))
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=is_causal)[
        0
    ].numpy()


def jax(query, key, value, is_causal):
    query, key, value = (
        array.swapaxes(0, 1) for array in (query, key, value)
    )  # theirs: (n, heads, d)
    return np.asarray(compiled_by_jax()(query, key, value, is_causal=is_causal)).swapaxes(0, 1)


@functools.cache
def compiled_by_jax():
    from jax import jit, nn

    return jit(nn.dot_product_attention, static_argnames="is_causal")


def numba(query, key, value, is_causal):
    compiled, controller = compiled_by_numba()
    with controller.limit(limits=1, user_api="blas"):
        return compiled(query, key, value, is_causal, np.float32(1 / math.sqrt(D)))


@functools.cache
def compiled_by_numba():
    """Blocks of 128 queries and 256 keys; loops for the softmax, the BLAS of SciPy for the
    products.
    """
    import scipy.linalg  # noqa: F401, before its threads are looked up
    from numba import njit, prange
    from threadpoolctl import ThreadpoolController

    @njit(parallel=True, fastmath=True)
    def attention(query, key, value, is_causal, scale):
        h, n, d = query.shape
        output = np.zeros_like(query)
        blocks = (n + 127) // 128
        for task in prange(h * blocks):
            head, first = task // blocks, task % blocks * 128
            last = min(first + 128, n)
            highest = np.full(last - first, -np.inf, np.float32)
            row_sum = np.zeros(last - first, np.float32)
            total = output[head, first:last]
            for start in range(0, last if is_causal else n, 256):
                stop = min(start + 256, n)
                scores = np.dot(query[head, first:last], key[head, start:stop].T)
                for i in range(last - first):
                    allowed = min(stop, first + i + 1) - start if is_causal else stop - start
                    moved = highest[i]
                    for j in range(allowed):
                        scores[i, j] *= scale
                        moved = max(moved, scores[i, j])
                    factor = np.exp(highest[i] - moved)
                    added = np.float32(0)
                    for j in range(allowed):
                        scores[i, j] = np.exp(scores[i, j] - moved)
                        added += scores[i, j]
                    scores[i, max(allowed, 0) :] = 0
                    row_sum[i] = row_sum[i] * factor + added
                    total[i] *= factor
                    highest[i] = moved
                total += np.dot(scores, value[head, start:stop])
            for i in range(last - first):
                total[i] /= row_sum[i]
        return output

    return attention, ThreadpoolController()


CONTENDERS = {
    "NumPy naive": naive,
    "NumPy in place": naive_in_place,
    "attnlib online": online_numpy,
    "torch eager": torch_eager,
    "torch SDPA": torch_sdpa,
    "JAX": jax,
    "numba": numba,
    "products alone": products_alone,
}
NEEDS = {"torch eager": "torch", "torch SDPA": "torch", "JAX": "jax", "numba": "numba"}
AGAINST = {
    "torch SDPA": "SDPA",
    "products alone": "the products",
    "NumPy in place": "in place",
    "torch eager": "torch eager",
    "JAX": "JAX",
}
STORES_SCORES = ("NumPy naive", "NumPy in place", "torch eager", "JAX")


def contenders(n, without=()):
    """The contenders that are installed and whose scores fit."""
    return {
        name: call
        for name, call in CONTENDERS.items()
        if name not in without
        and util.find_spec(NEEDS.get(name, "numpy"))
        and not (name in STORES_SCORES and too_large(n))
    }


def too_large(n):
    """A sentence if the scores would fill more than a quarter of the free memory, else ""."""
    needed, free = COPIES * 4 * HEADS * n * n / 2**30, free_memory()
    return (
        f"needs up to {needed:.0f} GiB, more than a quarter of the {free:.0f} that are free"
        if needed > free / 4
        else ""
    )


def free_memory():
    """GiB; 8 if the system does not tell."""
    try:
        with open("/proc/meminfo") as file:
            return next(
                int(line.split()[1]) / 2**20 for line in file if line.startswith("MemAvailable")
            )
    except OSError:
        return 8


# --- the ladder of online_numpy.py, one step at a time: one head's block of queries, no mask ---


def step_blocks(query, key, value, scratch):
    total, row_sum, highest = 0, 0, np.full((len(query), 1), -np.inf, np.float32)
    for keys in online.blocks_of(0, len(key), online.KEYS):
        scores = query @ key[keys].T / np.float32(math.sqrt(D))
        moved = np.maximum(highest, scores.max(-1, keepdims=True))
        weights, factor = np.exp(scores - moved), np.exp(highest - moved)
        row_sum = row_sum * factor + weights.sum(-1, keepdims=True)
        total, highest = total * factor + weights @ value[keys], moved
    return total / row_sum


def step_in_place(query, key, value, scratch):
    total, row_sum, highest = np.zeros_like(query), 0, np.full((len(query), 1), -np.inf, np.float32)
    query = query / np.float32(math.sqrt(D))
    for keys in online.blocks_of(0, len(key), online.KEYS):
        scores = room(scratch, "scores", len(query), len(key[keys]))
        np.matmul(query, key[keys].T, out=scores)
        moved = np.maximum(highest, scores.max(-1, keepdims=True))
        factor = np.exp(highest - moved)
        scores -= moved
        np.exp(scores, out=scores)
        row_sum = row_sum * factor + scores.sum(-1, keepdims=True)
        total *= factor
        total += np.matmul(scores, value[keys], out=room(scratch, "product", len(query), D))
        highest = moved
    return total / row_sum


def step_transposed(query, key, value, scratch):
    total, row_sum, highest = np.zeros_like(query), 0, np.full(len(query), -np.inf, np.float32)
    query = query / np.float32(math.sqrt(D))
    for keys in online.blocks_of(0, len(key), online.KEYS):
        scores = room(scratch, "scores", len(key[keys]), len(query))
        np.matmul(key[keys], query.T, out=scores)
        moved = np.maximum(highest, scores.max(0))
        factor = np.exp(highest - moved)
        scores -= moved
        np.exp(scores, out=scores)
        row_sum = row_sum * factor + np.ones(len(scores), np.float32) @ scores
        total *= factor[:, None]
        total += np.matmul(scores.T, value[keys], out=room(scratch, "product", len(query), D))
        highest = moved
    return total / row_sum[:, None]


def step_no_maximum(query, key, value, scratch):
    total, row_sum = np.zeros_like(query), 0
    exp, unit = (np.exp2, online.LOG2_E) if online.EXP2_IS_FASTER else (np.exp, 1)
    query = query * np.float32(unit / math.sqrt(D))
    for keys in online.blocks_of(0, len(key), online.KEYS):
        scores = room(scratch, "scores", len(key[keys]), len(query))
        np.matmul(key[keys], query.T, out=scores)
        exp(scores, out=scores)
        row_sum = row_sum + np.ones(len(scores), np.float32) @ scores
        total += np.matmul(scores.T, value[keys], out=room(scratch, "product", len(query), D))
    return total / row_sum[:, None]


def room(scratch, name, *shape):
    return online.scratch_array(scratch, name, shape, np.float32)


def climb(step):
    """Attention over all heads and blocks of queries by one step, BLAS with its own threads."""

    def attention(query, key, value, is_causal=False):
        output, scratch = np.empty_like(query), {}
        for head in range(len(query)):
            for rows in online.blocks_of(0, query.shape[1], online.QUERIES):
                output[head, rows] = step(query[head, rows], key[head], value[head], scratch)
        return output

    return attention


LADDER = {
    "naive": naive,
    "1 blocks": climb(step_blocks),
    "2 in place": climb(step_in_place),
    "3 transposed": climb(step_transposed),
    "4 no maximum": climb(step_no_maximum),
    "5 threads": online_numpy,
}


# --- one problem, in its own process ---


def draw(n, factor=1, seed=0, heads=HEADS):
    query, key, value = np.random.default_rng(seed).standard_normal(
        (3, heads, n, D), dtype=np.float32
    )
    return query * np.float32(factor), key, value


def milliseconds(call, repeats, warm_up):
    """Seconds of one call, the mean over so many in a row, and the seconds that all its threads
    together spent on a core.
    """
    time.sleep(PAUSE)
    if warm_up:  # a processor needs up to a millisecond to wake up
        call()
    start, start_of_cpu = time.perf_counter(), time.process_time()
    for _ in range(repeats):
        call()
    return (
        1e3 * (time.perf_counter() - start) / repeats,
        1e3 * (time.process_time() - start_of_cpu) / repeats,
    )


def time_in_turn(calls, budget, repeats=1, warm_up=True):
    """{name: samples (rounds, 2)} of warm calls; 3 to 12 rounds, as many as fit into the budget of
    seconds. The order is drawn anew for each round, so that no contender always follows the same
    one.
    """
    samples, rng, end = (
        {name: [] for name in calls},
        np.random.default_rng(0),
        time.monotonic() + budget,
    )
    for done in range(12):
        if done >= 3 and time.monotonic() > end:
            break
        for name in [list(calls)[i] for i in rng.permutation(len(calls))]:
            samples[name].append(milliseconds(calls[name], repeats, warm_up))
    return {name: np.array(rounds) for name, rounds in samples.items()}


def error(call, n, factor, is_causal):
    """The largest difference from float64 on the last 64 queries of one head, on fresh inputs."""
    arrays = draw(n, factor, seed=1)
    output = call(*arrays, is_causal)
    if output is None:
        return None
    query, key, value = (array[-1].astype(np.float64) for array in arrays)
    last = np.arange(n)[-64:, None]
    scores = query[last[:, 0]] @ key.T / math.sqrt(D)
    if is_causal:
        scores[np.arange(n) > last] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    exact = weights / weights.sum(-1, keepdims=True) @ value
    return float(f"{abs(output[-1, -64:] - exact).max():.2g}")


def measure_times(n, is_causal, budget, without=()):
    """Two rows, of queries as drawn and times 20: for each contender its error, milliseconds,
    ratios round by round.
    """
    calls = contenders(n, without)
    # Errors first: they warm up and compile, too.
    errors = {
        (name, factor): error(call, n, factor, is_causal)
        for name, call in calls.items()
        for factor in (1, 20)
    }
    problems, before = {factor: draw(n, factor) for factor in (1, 20)}, busy_seconds()
    taken = time_in_turn(
        {
            (name, factor): functools.partial(calls[name], *problems[factor], is_causal)
            for name, factor in errors
        },
        budget,
        warm_up=n <= 1024,
    )
    load = share_of_others(before)
    return [
        {
            "n": n,
            "is_causal": is_causal,
            "factor": factor,
            "load": load,
            "contenders": {name: one_contender(name, factor, taken, errors) for name in calls},
        }
        for factor in (1, 20)
    ]


def one_contender(name, factor, taken, errors):
    own = taken[name, factor]
    got = {"error": errors[name, factor], "rounds": len(own), **both_times(own)}
    for other, label in AGAINST.items():
        if (other, factor) in taken:
            got[f"speed against {label}"] = spread(taken[other, factor][:, 0] / own[:, 0])
    if factor != 1:
        got["cost against factor 1"] = spread(own[:, 0] / taken[name, 1][:, 0])
    return got


def both_times(samples):
    return {"ms": spread(samples[:, 0]), "CPU ms": spread(samples[:, 1])}


def measure_ladder(n, budget):
    calls = {name: functools.partial(step, *draw(n), False) for name, step in LADDER.items()}
    for call in calls.values():
        call()
    before = busy_seconds()
    taken, names = time_in_turn(calls, budget, warm_up=n <= 1024), list(calls)
    steps = {name: both_times(own) for name, own in taken.items()}
    for last, name in zip(names, names[1:]):
        steps[name]["speed against the step before"] = spread(taken[last][:, 0] / taken[name][:, 0])
        steps[name]["speed against the first"] = spread(taken[names[0]][:, 0] / taken[name][:, 0])
    return [{"n": n, "load": share_of_others(before), "steps": steps}]


def measure_choice(n, heads, budget):
    """The basis of attnlib.choose_impl: small calls of the public function, dense, online and as
    chosen.
    """
    arrays = draw(n, heads=heads)
    calls = {
        "NumPy in place": functools.partial(naive_in_place, *arrays, False),
        **{
            f"attention, impl={impl!r}": functools.partial(attention, *arrays, impl=impl)
            for impl in ("dense", "online", None)
        },
    }
    for call in calls.values():
        call()
    taken = time_in_turn(calls, budget, repeats=max(1, 2**23 // (heads * n * n * D)))
    in_place, dense, online_, _ = taken.values()
    return [
        {
            "n": n,
            "heads": heads,
            "ms": {name: spread(own[:, 0]) for name, own in taken.items()},
            "speed of online against dense": spread(dense[:, 0] / online_[:, 0]),
            "us above in place": {
                name: spread(1e3 * (own[:, 0] - in_place[:, 0])) for name, own in taken.items()
            },
        }
    ]


def measure_memory(n, name):
    """Peak extra memory of one call in MiB: the growth of the resident set, not counting the
    libraries' first touches.
    """
    call = CONTENDERS[name]
    call(*draw(64), False)
    call(*draw(1024 if n > 1024 else 64), False)
    arrays = draw(n)
    before = reset_peak()
    call(*arrays, False)
    return [
        {"n": n, "contender": name, "MiB": None if before is None else round(peak() - before, 1)}
    ]


def reset_peak():
    """On Linux, forget the highest resident set so far and return the present one in MiB. Elsewhere
    None."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return peak()
    except OSError:
        return None


def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def busy_seconds():
    """(wall, this process, all processes together): seconds so far. None if the system does not
    tell.
    """
    try:
        with open("/proc/stat") as file:
            user, nice, system, _, _, irq, softirq, steal, *_ = map(
                int, file.readline().split()[1:]
            )
    except OSError:
        return None
    ticks = user + nice + system + irq + softirq + steal
    return time.monotonic(), time.process_time(), ticks / os.sysconf("SC_CLK_TCK")


def share_of_others(before):
    """How much of the cores' time other processes have used since then: 0 on an idle machine, at
    most 1.
    """
    if before is None:
        return None
    wall, own, everybody = np.subtract(busy_seconds(), before)
    return round(max(0.0, float(everybody - own) / wall / os.cpu_count()), 3)


# --- all of it ---


def ceilings():
    """What the machine can do at best: one large product, and a copy, in float32."""
    matrix, copy = np.random.default_rng(0).standard_normal((2, 2048, 2048), dtype=np.float32)
    product = min(timed(lambda: np.matmul(matrix, matrix, out=copy)) for _ in range(5))
    copied = min(timed(lambda: np.copyto(copy, matrix)) for _ in range(5))
    return {
        "product GFLOP/s": round(2 * 2048**3 / product / 1e9),
        "copy GB/s": round(2 * matrix.nbytes / copied / 1e9, 1),
    }


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def machine():
    packages = ("numpy", "torch", "jax", "numba", "scipy", "threadpoolctl")
    return {
        "cpu": cpu_name(),
        "cores": cores(),
        "memory GiB": round(free_memory()),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in packages if util.find_spec(name)},
        "not installed": [name for name in packages if not util.find_spec(name)],
        "NumPy's BLAS": [
            f"OpenBLAS {library.version}, kernels for {library.architecture}, "
            f"{library.num_threads} threads"
            for library in threads.blas()
        ],
        "exp2 is faster": online.EXP2_IS_FASTER,
        "OMP_WAIT_POLICY": "passive",
        "problem": f"float32, {HEADS} heads, d = {D}",
    }


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def cpu_name():
    try:
        with open("/proc/cpuinfo") as file:
            return next(
                line.split(":")[1].strip() for line in file if line.startswith("model name")
            )
    except (OSError, StopIteration):
        return platform.processor()


def in_process(**job):
    """One measurement in a fresh process."""
    command = [sys.executable, "-m", "attncourse.bench", "--job", json.dumps(job)]
    # Threads that wait in a loop would be charged for it, and would disturb the next contender.
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{job}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def jobs(sizes, budget, without):
    """Every measurement, with the list of the record that it belongs to; memory comes last, because
    load doesn't affect it.
    """
    for n in sizes:
        for is_causal in (False, True):
            yield (
                "times",
                {
                    "call": "measure_times",
                    "n": n,
                    "is_causal": is_causal,
                    "budget": budget,
                    "without": without,
                },
            )
    yield "ladder", {"call": "measure_ladder", "n": min(4096, max(sizes)), "budget": budget}
    for n in (n for n in CHOICES if n <= max(sizes)):
        for heads in (1, 8):
            yield (
                "choice",
                {"call": "measure_choice", "n": n, "heads": heads, "budget": budget / 10},
            )
    for n in sizes:
        for name in contenders(n, without):
            yield "memory", {"call": "measure_memory", "n": n, "name": name}


def bench(sizes, budget, without=(), path=None):
    """The record: what `path` holds already, completed; it is written there after every
    measurement.
    """
    record = begun(path) or {
        "date": datetime.date.today().isoformat(),
        "command": command(),
        "machine": machine(),
        "ceilings": ceilings(),
        "done": [],
        "skipped": skipped(sizes, without),
        "times": [],
        "memory": [],
        "ladder": [],
        "choice": [],
    }
    todo = [(part, job) for part, job in jobs(sizes, budget, without) if job not in record["done"]]
    for done, (part, job) in enumerate(todo):
        progress(done, len(todo), f"n = {job['n']}, {job['call'].removeprefix('measure_')}")
        record[part] += in_process(**job)
        record["done"].append(job)
        write(record, path)
    progress(len(todo), len(todo), "")
    return record


def command():
    return " ".join(["python -m attncourse.bench", *sys.argv[1:]])


def skipped(sizes, without):
    """One sentence for each contender that is left out."""
    return [
        f"{name} at n = {n}: {too_large(n)}"
        for n in sizes
        for name in STORES_SCORES
        if name not in without and util.find_spec(NEEDS.get(name, "numpy")) and too_large(n)
    ]


def begun(path):
    """The record of an earlier, interrupted run; None if there is none."""
    if path is None or not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    now = {**machine(), "memory GiB": None}
    if {**record["machine"], "memory GiB": None} != now:
        raise SystemExit(
            f"{path} was measured on another machine or with other versions; name another file"
        )
    return record


def write(record, path):
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(record, indent=1) + "\n")


def progress(done, total, what):
    if sys.stderr.isatty():
        bar = "#" * (30 * done // total)
        print(
            f"\r[{bar:30}] {done}/{total} {what:24}",
            end="\n" if done == total else "",
            file=sys.stderr,
            flush=True,
        )
