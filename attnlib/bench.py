"""Time, memory and error of attention on a CPU: `python -m attnlib.bench --help`.

First the ceilings, then every problem in a process of its own: errors against float64 on
fresh inputs, then all contenders in turn, round after round, so that a disturbance hits
them alike. Memory is measured in one process a contender. One table for people, one JSON.
"""

import argparse
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
from pathlib import Path

import numpy as np

from attnlib import online_numpy as online
from attnlib import threads

RECORDED = Path(__file__).with_name("recorded")
HEADS, D = 8, 64
SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384)
MOST_SCORES = 2**28  # 1 GiB of float32: dense contenders stop there
PAUSE = 0.02         # seconds between samples, for the threads of the last one to fall asleep


# --- what has to be done at least, and how long that takes ---

def attention_flops(n_q, n_k, d_k, d_v):
    """Operations of the two matrix products, a multiply-add counted as 2."""
    return 2 * n_q * n_k * d_k + 2 * n_q * n_k * d_v


def attention_bytes(n_q, n_k, d_k, d_v, itemsize):
    """Bytes that a fused kernel must move: query, key and value read once, the output written once."""
    return itemsize * (n_q * d_k + n_k * d_k + n_k * d_v + n_q * d_v)


def roofline_seconds(flops, bytes_moved, peak_flops, bandwidth):
    """The least time that the arithmetic and the memory allow, working at the same time.

    Source: Williams, Waterman and Patterson, "Roofline" (2009).
    """
    return max(flops / peak_flops, bytes_moved / bandwidth)


def traffic(call):
    """(name, bytes) of each operation of torch in call(): its arguments, read once, and what it writes.

    What a view shares with another tensor is not moved. Caches and what an operation does inside are not seen.
    """
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves
    moved = []

    def note(mode, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        read, written = ([leaf for leaf in tree_leaves(tree) if hasattr(leaf, "untyped_storage")]
                         for tree in ((args, kwargs), result))
        stored = {tensor.untyped_storage().data_ptr() for tensor in read}
        if operation._schema.is_mutable or any(t.untyped_storage().data_ptr() not in stored for t in written):
            moved.append((operation.name().removeprefix("aten::"), sum(map(size_in_memory, read + written))))
        return result
    with type("Meter", (TorchDispatchMode,), {"__torch_dispatch__": note})():
        call()
    return moved


def size_in_memory(tensor):
    """Bytes; an axis that was expanded lies there once."""
    return min(tensor.nbytes, tensor.untyped_storage().nbytes())


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


def products_alone(query, key, value, is_causal):
    """The two matrix products of every block, in the same blocks and threads: no softmax."""
    heads = online.split_heads(query, key, value, None, is_causal=is_causal, scale=None, softcap=None,
                               enable_gqa=False)

    def work(task, scratch):
        head, rows = task
        for keys in online.key_blocks(head, rows):
            seen = head.query[max(rows.start, keys.start) if is_causal else rows.start:rows.stop]
            scores = online.score_block(head, seen, keys, 1, scratch)
            np.matmul(scores.T, head.value[keys], out=online.room(scratch, "product", seen.shape, seen.dtype))
    tasks = [(head, rows) for head in heads for rows in online.query_blocks(query)]
    threads.run(work, tasks, online.cost(heads, query, key))


def torch_eager(query, key, value, is_causal):
    import torch
    query, key, value = map(torch.from_numpy, (query, key, value))
    scores = query @ key.mT / math.sqrt(D)
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -torch.inf)
    return (torch.softmax(scores, -1) @ value).numpy()


def torch_sdpa(query, key, value, is_causal):
    import torch
    query, key, value = (torch.from_numpy(array)[None] for array in (query, key, value))
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=is_causal)[0].numpy()


def jax(query, key, value, is_causal):
    query, key, value = (array.swapaxes(0, 1) for array in (query, key, value))  # theirs: (n, heads, d)
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
    """Blocks of 128 queries and 256 keys; loops for the softmax, the BLAS of SciPy for the products."""
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
                    scores[i, max(allowed, 0):] = 0
                    row_sum[i] = row_sum[i] * factor + added
                    total[i] *= factor
                    highest[i] = moved
                total += np.dot(scores, value[head, start:stop])
            for i in range(last - first):
                total[i] /= row_sum[i]
        return output
    return attention, ThreadpoolController()


CONTENDERS = {"NumPy naive": naive, "NumPy in place": naive_in_place, "attnlib online": online_numpy,
              "torch eager": torch_eager, "torch SDPA": torch_sdpa, "JAX": jax, "numba": numba,
              "products alone": products_alone}
NEEDS = {"torch eager": "torch", "torch SDPA": "torch", "JAX": "jax", "numba": "numba"}
AGAINST = {"torch SDPA": "SDPA", "products alone": "the products", "NumPy in place": "in place"}
STORES_SCORES = ("NumPy naive", "NumPy in place", "torch eager", "JAX")


def contenders(n, without=()):
    """Those that are installed and whose scores fit."""
    return {name: call for name, call in CONTENDERS.items() if name not in without and util.find_spec(NEEDS.get(name, "numpy"))
            and not (name in STORES_SCORES and HEADS * n * n > MOST_SCORES)}


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
    query = query * np.float32(online.LOG2_E / math.sqrt(D))
    for keys in online.blocks_of(0, len(key), online.KEYS):
        scores = room(scratch, "scores", len(key[keys]), len(query))
        np.matmul(key[keys], query.T, out=scores)
        np.exp2(scores, out=scores)
        row_sum = row_sum + np.ones(len(scores), np.float32) @ scores
        total += np.matmul(scores.T, value[keys], out=room(scratch, "product", len(query), D))
    return total / row_sum[:, None]


def room(scratch, name, *shape):
    return online.room(scratch, name, shape, np.float32)


def climb(step):
    """Attention over all heads and blocks of queries by one step, BLAS with its own threads."""
    def attention(query, key, value, is_causal=False):
        output, scratch = np.empty_like(query), {}
        for head in range(len(query)):
            for rows in online.blocks_of(0, query.shape[1], online.QUERIES):
                output[head, rows] = step(query[head, rows], key[head], value[head], scratch)
        return output
    return attention


LADDER = {"naive": naive, "1 blocks": climb(step_blocks), "2 in place": climb(step_in_place),
          "3 transposed": climb(step_transposed), "4 no maximum": climb(step_no_maximum),
          "5 threads": online_numpy}


# --- one problem, in a process of its own ---

def draw(n, factor=1, seed=0):
    query, key, value = np.random.default_rng(seed).standard_normal((3, HEADS, n, D), dtype=np.float32)
    return query * np.float32(factor), key, value


def sample(call, arrays, is_causal):
    """Milliseconds of one call, and those that all its threads together spent on a core."""
    time.sleep(PAUSE)
    start, start_of_cpu = time.perf_counter(), time.process_time()
    call(*arrays, is_causal)
    return 1e3 * (time.perf_counter() - start), 1e3 * (time.process_time() - start_of_cpu)


def time_in_turn(calls, arrays, is_causal, budget):
    """{name: samples (rounds, 2)}: as many rounds as fit into the budget of seconds, 3 to 40."""
    for call in calls.values():  # warms up, compiles
        call(*arrays, is_causal)
    samples, end = {name: [] for name in calls}, time.monotonic() + budget
    for done in range(40):
        if done >= 3 and time.monotonic() > end:
            break
        for name, call in calls.items():
            samples[name].append(sample(call, arrays, is_causal))
    return {name: np.array(rounds) for name, rounds in samples.items()}


def error(call, n, factor, is_causal):
    """The largest difference from float64 on the last 64 queries of one head, on fresh inputs."""
    arrays = draw(n, factor, seed=1)
    output = call(*arrays, is_causal)
    if output is None:
        return None
    query, key, value = (array[-1].astype(np.float64) for array in arrays)
    scores = query[-64:] @ key.T / math.sqrt(D)
    if is_causal:
        scores[np.arange(n) > np.arange(n)[-64:, None]] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    exact = weights / weights.sum(-1, keepdims=True) @ value
    return float(abs(output[-1, -64:] - exact).max())


def measure_times(n, is_causal, factor, budget, without=()):
    """One row: for each contender milliseconds, ratios by round, and its error."""
    calls = contenders(n, without)
    errors = {name: error(call, n, factor, is_causal) for name, call in calls.items()}
    taken = time_in_turn(calls, draw(n, factor), is_causal, budget)
    results = {}
    for name, own in taken.items():
        results[name] = {"ms": spread(own[:, 0]), "CPU ms": spread(own[:, 1]), "error": errors[name]}
        for other, label in AGAINST.items():
            if other in taken:
                results[name][f"speed against {label}"] = spread(taken[other][:, 0] / own[:, 0])
                results[name][f"CPU speed against {label}"] = spread(taken[other][:, 1] / own[:, 1])
    return {"n": n, "is_causal": is_causal, "factor": factor, "contenders": results}


def measure_ladder(n, budget):
    taken = time_in_turn(LADDER, draw(n), False, budget)
    return {"n": n, "steps": {name: {"ms": spread(own[:, 0]), "CPU ms": spread(own[:, 1])}
                              for name, own in taken.items()}}


def spread(samples):
    """Rounded to 4 digits: the median, the quartiles, and the least."""
    low, median, high = np.quantile(samples, [0.25, 0.5, 0.75])
    return {name: float(f"{number:.4g}") for name, number in
            (("median", median), ("low", low), ("high", high), ("least", samples.min()))}


def measure_memory(n, name):
    """Peak extra memory of one call in MiB: the resident set's growth, first touches of the libraries aside."""
    call = CONTENDERS[name]
    call(*draw(64), False)
    call(*draw(1024 if n > 1024 else 64), False)
    arrays = draw(n)
    before = reset_peak()
    call(*arrays, False)
    return {"n": n, "contender": name, "MiB": None if before is None else round(peak() - before, 1)}


def reset_peak():
    """Linux: forget the highest resident set so far; the present one in MiB. Elsewhere None."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return peak()
    except OSError:
        return None


def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


# --- all of it ---

def ceilings():
    """What the machine can do at best: one large product, and a copy, in float32."""
    matrix, copy = np.random.default_rng(0).standard_normal((2, 2048, 2048), dtype=np.float32)
    product = min(timed(lambda: np.matmul(matrix, matrix, out=copy)) for _ in range(5))
    copied = min(timed(lambda: np.copyto(copy, matrix)) for _ in range(5))
    return {"product GFLOP/s": round(2 * 2048**3 / product / 1e9), "copy GB/s": round(2 * matrix.nbytes / copied / 1e9, 1)}


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def machine():
    packages = ("numpy", "torch", "jax", "numba", "threadpoolctl")
    features = getattr(np._core._multiarray_umath, "__cpu_features__", {})
    return {"date": datetime.date.today().isoformat(), "cpu": cpu_name(), "cores": len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity") else os.cpu_count(), "AVX512F": bool(features.get("AVX512F")),
            "system": platform.system(), "python": platform.python_version(),
            "versions": {name: metadata.version(name) for name in packages if util.find_spec(name)},
            "not installed": [name for name in packages if not util.find_spec(name)],
            "OMP_WAIT_POLICY": "passive", "problem": f"float32, {HEADS} heads, d = {D}"}


def cpu_name():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def in_process(**job):
    """One measurement in a fresh process."""
    command = [sys.executable, "-m", "attnlib.bench", "--job", json.dumps(job)]
    # Threads that wait in a loop would be charged for it, and disturb whoever comes next.
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{job}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def jobs(sizes, budget, without):
    """Every measurement, named by the list of the JSON that it belongs to."""
    for n in sizes:
        for is_causal in (False, True):
            for factor in (1, 20):
                yield "times", {"call": "measure_times", "n": n, "is_causal": is_causal, "factor": factor,
                                "budget": budget, "without": without}
        for name in contenders(n, without):
            yield "memory", {"call": "measure_memory", "n": n, "name": name}
    yield "ladder", {"call": "measure_ladder", "n": min(4096, max(sizes)), "budget": budget}


def bench(sizes, budget, without=()):
    results = {"machine": machine(), "ceilings": ceilings(), "times": [], "memory": [], "ladder": []}
    todo = list(jobs(sizes, budget, without))
    for done, (part, job) in enumerate(todo):
        progress(done, len(todo), f"n = {job['n']}, {job['call'].removeprefix('measure_')}")
        results[part].append(in_process(**job))
    progress(len(todo), len(todo), "")
    return results


def progress(done, total, what):
    if sys.stderr.isatty():
        bar = "#" * (30 * done // total)
        print(f"\r[{bar:30}] {done}/{total} {what:24}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def table(results):
    """Milliseconds, speed against SDPA and the products, extra memory, error."""
    memory = {(row["n"], row["contender"]): row["MiB"] for row in results["memory"]}
    lines = [f"{'':26}{'ms':>9}{'/ SDPA':>8}  {'(quartiles)':13}{'/ prod.':>8}{'CPU / SDPA':>11}{'/ prod.':>8}{'MiB':>8}{'error':>9}"]
    for row in results["times"]:
        lines.append(f"n = {row['n']}{', causal' if row['is_causal'] else ''}"
                     f"{', queries times 20' if row['factor'] != 1 else ''}")
        for name, got in row["contenders"].items():
            extra = memory.get((row["n"], name)) if not row["is_causal"] and row["factor"] == 1 else None
            lines.append(f"    {name:22}{got['ms']['median']:9.4g}{ratio(got, 'speed against SDPA')}"
                         f"{ratio(got, 'speed against the products')[:8]}"
                         f"{ratio(got, 'CPU speed against SDPA')[:8]:>11}"
                         f"{ratio(got, 'CPU speed against the products')[:8]}"
                         f"{'' if extra is None else format(extra, '.1f'):>8}"
                         f"{'' if got['error'] is None else format(got['error'], '.1e'):>9}")
    for row in results["ladder"]:
        lines.append(f"the steps at n = {row['n']}")
        lines += [f"    {name:22}{got['ms']['median']:9.4g}" for name, got in row["steps"].items()]
    missing = results["machine"]["not installed"]
    return "\n".join(lines + ([f"not installed: {', '.join(missing)}"] if missing else []))


def ratio(got, label):
    if label not in got:
        return " " * 23
    numbers = got[label]
    return f"{numbers['median']:8.2f}  ({numbers['low']:.2f}-{numbers['high']:.2f})  "


def recorded(name):
    """The measurement kept as attnlib/recorded/NAME.json: what bench() returned there. None where there is none."""
    path = RECORDED / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def gpu_times(what, measure):
    """{label: seconds} that measure() finds on this machine's GPU, else those recorded on another one; {} where none are.

    For a chapter's cells: a line says where the figures come from. With ATTNLIB_RECORD=1 in the
    environment those of this GPU are recorded, in attnlib/recorded/chapters.json.
    """
    import torch
    record = recorded("chapters") or {}
    if torch.cuda.is_available():
        triton = metadata.version("triton") if util.find_spec("triton") else "none"
        record[what] = {"device": torch.cuda.get_device_name(), "date": datetime.date.today().isoformat(),
                        "torch": torch.__version__, "triton": triton, "times": measure()}
        if os.environ.get("ATTNLIB_RECORD") == "1":
            path = RECORDED / "chapters.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if what not in record:
        print("No GPU here, and no measurement has been recorded yet.")
        return {}
    print("{device}, {date}, torch {torch}, triton {triton}:".format(**record[what]))
    return record[what]["times"]


def markdown(record, what="ms", is_causal=False, factor=1, sizes=None):
    """A Markdown table, aligned so that it reads as plain text: a line for each contender, a column for each n.

    `what` is "ms", "error", "MiB", or a ratio such as "speed against SDPA", which comes with its
    quartiles; `sizes` are the n to show, all by default.
    """
    if what == "MiB":
        cells = {(row["n"], row["contender"]): row["MiB"] for row in record["memory"]}
    else:
        cells = {(row["n"], name): got.get(what) for row in record["times"]
                 if row["is_causal"] == is_causal and row["factor"] == factor for name, got in row["contenders"].items()}
    sizes = sorted({n for n, _ in cells}) if sizes is None else sizes
    names = [name for name in CONTENDERS if any(cells.get((n, name)) is not None for n in sizes)]
    rows = [[name, *(in_words(cells.get((n, name)), what) for n in sizes)] for name in names]
    return aligned([[what, *(f"n = {n}" for n in sizes)], *rows])


def markdown_ladder(record):
    """The steps of online_numpy.py: milliseconds, and how many times as fast as the step before and as the first."""
    steps = record["ladder"][0]["steps"]
    first, *_ = medians = [step["ms"]["median"] for step in steps.values()]
    rows = [[name, f"{ms:.4g}", f"{before / ms:.2f}", f"{first / ms:.2f}"]
            for name, ms, before in zip(steps, medians, [first, *medians])]
    return aligned([["step", "ms", "against the step before", "against the first"], *rows])


def in_words(number, what):
    if number is None:
        return ""
    if what == "error":
        return f"{number:.0e}"
    if isinstance(number, dict) and what != "ms":
        return f"{number['median']:.2f} ({number['low']:.2f}-{number['high']:.2f})"
    number = number["median"] if what == "ms" else number
    return f"{number:.1f}" if number < 100 else f"{number:.0f}"


def aligned(rows):
    """Rows of words as a Markdown table: the first column to the left, numbers to the right."""
    widths = [max(3, *map(len, column)) for column in zip(*rows)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [[row[0].ljust(widths[0]), *(word.rjust(width) for word, width in zip(row[1:], widths[1:]))]
             for row in (rows[0], rule, *rows[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m attnlib.bench", description="Time, memory and error of attention "
                                     "on this CPU. About a quarter of an hour; best on a machine that is idle.")
    parser.add_argument("--quick", action="store_true", help="n = 256 alone, without what compiles: under 30 seconds")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="other numbers of positions")
    parser.add_argument("--budget", type=float, default=8, metavar="SECONDS", help="for each row of the table")
    parser.add_argument("--json", metavar="PATH", help="write all numbers there")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.job:
        call = {call.__name__: call for call in (measure_times, measure_memory, measure_ladder)}[options.job.pop("call")]
        print(json.dumps(call(**options.job)))
        return
    results = bench([256], 0.3, ["JAX", "numba"]) if options.quick else bench(options.sizes, options.budget)
    print(table(results))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            file.write(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
