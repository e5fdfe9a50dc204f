"""Measurements made readable: statistics, tables, and the records that the book shows.

Nothing here measures anything except gpu_times, for a chapter's cells.
"""

import datetime
import json
import math
import os
from importlib import metadata, util
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parents[1] / "recorded"
HEADS, D = 8, 64  # for every problem on a CPU


def spread(samples):
    """Rounded to 4 digits: the median, the quartiles and the minimum."""
    low, median, high = np.quantile(samples, [0.25, 0.5, 0.75])
    return {
        name: float(f"{number:.4g}")
        for name, number in (
            ("median", median),
            ("low", low),
            ("high", high),
            ("least", samples.min()),
        )
    }


# --- records ---


def recorded(name):
    """The measurement kept as attncourse/recorded/NAME.json, as bench() returned it. None if there
    is none.
    """
    path = RECORDED / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def gpu_times(what, measure):
    """{label: seconds} that measure() finds on this machine's GPU, otherwise those recorded on
    another one; {} if there are none.

    For a chapter's cells: a line says where the figures come from. With ATTNLIB_RECORD=1 in the
    environment those of this GPU are recorded, in attncourse/recorded/chapters.json.
    """
    import torch

    record = recorded("chapters") or {}
    if torch.cuda.is_available():
        triton = metadata.version("triton") if util.find_spec("triton") else "none"
        record[what] = {
            "device": torch.cuda.get_device_name(),
            "date": datetime.date.today().isoformat(),
            "torch": torch.__version__,
            "triton": triton,
            "times": measure(),
        }
        if os.environ.get("ATTNLIB_RECORD") == "1":
            path = RECORDED / "chapters.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if what not in record:
        print("This cell measures on a GPU, and there is none here.")
        return {}
    print("{device}, {date}, torch {torch}, triton {triton}:".format(**record[what]))
    return record[what]["times"]


# --- of a CPU ---


def table(record):
    """The tables to read: milliseconds, speed against SDPA and the products, what larger scores
    cost, memory, error.
    """
    memory = {(row["n"], row["contender"]): row["MiB"] for row in record["memory"]}
    lines = [
        f"{'':22}{'ms':>9}{'speed / SDPA':>20}{'/ the products':>20}{'q * 20':>9}{'MiB':>9}{'error':>9}"  # noqa: E501
    ]
    for row, large in zip(record["times"][::2], record["times"][1::2]):
        lines.append(f"n = {row['n']}{', causal' if row['is_causal'] else ''}")
        for name, got in row["contenders"].items():
            extra = None if row["is_causal"] else memory.get((row["n"], name))
            cost = large["contenders"][name]["cost against factor 1"]["median"]
            lines.append(
                f"    {name:18}{got['ms']['median']:9.4g}"
                f"{in_words(got.get('speed against SDPA'), 'speed'):>20}"
                f"{in_words(got.get('speed against the products'), 'speed'):>20}{cost:9.2f}"
                f"{in_words(extra, 'MiB'):>9}{in_words(got['error'], 'error'):>9}"
            )
    return "\n\n".join(
        [
            "\n".join(lines),
            markdown_ladder(record),
            markdown_choice(record),
            markdown_aims(record),
            notes(record),
        ]
    )


def notes(record):
    shares = [row["load"] for row in record["times"] + record["ladder"] if row["load"] is not None]
    load = [f"Other processes used up to {100 * max(shares):.0f} % of the cores."] if shares else []
    missing = [
        f"Not installed: {', '.join(names)}."
        for names in [record["machine"]["not installed"]]
        if names
    ]
    return "\n".join(
        [
            (
                "Ratios of speed: medians over rounds, quartiles in brackets. Skipped:"
                if record["skipped"]
                else "Ratios of speed: medians over rounds, quartiles in brackets."
            ),
            *record["skipped"],
            *load,
            *missing,
        ]
    )


def markdown(record, what="ms", is_causal=False, factor=1, sizes=None):
    """A Markdown table, aligned so that it reads as plain text: a line for each contender, a column
    for each n.

    `what` is "ms", "error", "MiB", or a ratio such as "speed against SDPA", which comes with its
    quartiles; `sizes` are the n to show, all by default.
    """
    if what == "MiB":
        cells = {(row["n"], row["contender"]): row["MiB"] for row in record["memory"]}
    else:
        cells = {
            (row["n"], name): got.get(what)
            for row in record["times"]
            if row["is_causal"] == is_causal and row["factor"] == factor
            for name, got in row["contenders"].items()
        }
    sizes = sorted({n for n, _ in cells}) if sizes is None else sizes
    names = [
        name
        for name in dict.fromkeys(name for _, name in cells)
        if any(cells.get((n, name)) is not None for n in sizes)
    ]
    rows = [[name, *(in_words(cells.get((n, name)), what) for n in sizes)] for name in names]
    return aligned([[what, *(f"n = {n}" for n in sizes)], *rows])


def markdown_ladder(record):
    """The steps of online_numpy.py: milliseconds, and how many times as fast as the step before and
    as the first.
    """
    (row,) = record["ladder"]
    ratios = "speed against the step before", "speed against the first"
    rows = [
        [name, in_words(step["ms"], "ms"), *(in_words(step.get(ratio), ratio) for ratio in ratios)]
        for name, step in row["steps"].items()
    ]
    heads = (ratio.removeprefix("speed ") for ratio in ratios)
    return aligned([[f"n = {row['n']}", "ms", *heads], *rows])


def markdown_aims(record):
    """What attnlib should reach on a CPU with AVX-512, and the worst that was measured."""
    rows = [
        [
            what,
            f"at {'most' if sign < 0 else 'least'} {bound:g}",
            in_words(worst, what),
            "met" if sign * worst["median"] >= sign * bound else "missed",
        ]
        for what, bound, sign, found in aims(record)
        if found
        for worst in [min(found, key=lambda number: sign * number["median"])]
    ]
    return aligned([["attnlib online, the worst n", "aim", "measured", ""], *rows])


def aims(record):
    """(what, bound, 1 for at least or -1 for at most, everything measured)."""

    def measured(label, is_causal, factor, least=0, most=math.inf):
        rows = (
            row
            for row in record["times"]
            if least <= row["n"] <= most
            and (row["is_causal"], row["factor"]) == (is_causal, factor)
        )
        return [
            got[label]
            for row in rows
            for got in [row["contenders"]["attnlib online"]]
            if label in got
        ]

    for is_causal, in_place, sdpa in ((False, 1.6, 0.9), (True, 6, 0.85)):
        causal = ", causal" if is_causal else ""
        yield (
            f"speed / in place, n = 4096{causal}",
            in_place,
            1,
            measured("speed against in place", is_causal, 1, 4096, 4096),
        )
        yield (
            f"speed / SDPA, n >= 1024{causal}",
            sdpa,
            1,
            measured("speed against SDPA", is_causal, 1, 1024),
        )
        for other in ("torch eager", "JAX"):
            yield f"speed / {other}{causal}", 1, 1, measured(f"speed against {other}", is_causal, 1)
        yield (
            f"speed / the products, n >= 4096{causal}",
            0.85,
            1,
            measured("speed against the products", is_causal, 1, 4096),
        )
        yield (
            f"time of q * 20 / of q{causal}",
            1.3,
            -1,
            measured("cost against factor 1", is_causal, 20),
        )
    yield (
        "MiB beyond the output",
        8,
        -1,
        [
            {"median": row["MiB"] - output_mib(row["n"])}
            for row in record["memory"]
            if row["contender"] == "attnlib online" and row["MiB"] is not None
        ],
    )
    for impl in ("'online'", "None"):
        yield (
            f"us beyond in place, n = 64, impl={impl}",
            50,
            -1,
            [
                row["us above in place"][f"attention, impl={impl}"]
                for row in record["choice"]
                if row["n"] == 64
            ],
        )


def output_mib(n):
    return HEADS * n * D * 4 / 2**20


def markdown_choice(record):
    """Small calls: where online becomes faster than dense."""
    rows = [
        [
            f"{row['heads']} x {row['n']}",
            *(f"{ms['median']:.3f}" for ms in row["ms"].values()),
            in_words(row["speed of online against dense"], "speed"),
        ]
        for row in record["choice"]
    ]
    names = record["choice"][0]["ms"] if rows else []
    return aligned([["heads x n, ms", *names, "online against dense"], *rows])


def in_words(number, what):
    """A number, or a median with its quartiles, with as many digits as it deserves."""
    if number is None:
        return ""
    if what == "error":
        return f"{number:.0e}"
    if isinstance(number, dict) and "low" in number and what != "ms":
        digits = 0 if what.startswith("us") else 2
        return (
            f"{number['median']:.{digits}f}"
            f" ({number['low']:.{digits}f}-{number['high']:.{digits}f})"
        )
    number = number["median"] if isinstance(number, dict) else number
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 100 else f"{number:.0f}"


def aligned(rows):
    """Rows of words as a Markdown table: the first column to the left, numbers to the right."""
    widths = [max(3, *map(len, column)) for column in zip(*rows)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [
        [row[0].ljust(widths[0]), *(word.rjust(width) for word, width in zip(row[1:], widths[1:]))]
        for row in (rows[0], rule, *rows[1:])
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# --- of a CUDA device ---


def device_table(results):
    """Milliseconds, rates and the ratios that matter, a line for each contender."""
    peak = {name: number["median"] for name, number in results["ceilings"].items()}
    lines = [
        f"ceilings: {peak['copy GB/s']:.0f} GB/s of a copy, {peak['product TFLOP/s']:.0f} TFLOP/s"
        " of a product"
    ]
    for row in results["softmax"] + results["attention"] + results["decode"]:
        facts = ", ".join(
            f"{name} {row[name]}"
            for name in ("n", "n_k", "d", "batch", "dtype", "is_causal")
            if name in row
        )
        for step in ("forward", "backward", "decode"):
            lines += (
                [f"{step}: {facts}", *map(device_line, row[step].items())] if step in row else []
            )
    lines += [
        f"memory, n {row['n']}: {row['contender']:16} {row['MiB']} MiB" for row in results["memory"]
    ]
    return "\n".join(lines)


def device_line(named):
    name, got = named
    if "error" in got:
        return f"    {name:16} {got['error']}"
    parts = [
        f"{label} {number['median']:.4g}"
        + (f" ({number['low']:.2f}-{number['high']:.2f})" if "speed" in label else "")
        for label, number in got.items()
    ]
    return f"    {name:16} {', '.join(parts)}"
