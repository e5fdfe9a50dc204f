"""Words per second of the small model, without a cache and with each kind of cache."""

import datetime
import time

import numpy as np

from attncourse import language
from attncourse.bench import cpu
from attncourse.bench.report import aligned, spread

COUNT = 40  # words at most; the text ends before that


# Each writes the text with the model that it is given, and all write the same text.
CONTENDERS = {
    "no cache": lambda model: model.generate([0], COUNT, use_cache=False),
    "cache": lambda model: model.generate([0], COUNT),
    "cache, drafts": lambda model: language.generate_with_drafts(model, [0], COUNT)[0],
    "cache on pages": lambda model: model.generate(
        [0], COUNT, cache=language.Pages(model.sizes, n_pages=20).new_cache()
    ),
    "cache in 8 bits": lambda model: model.generate(
        [0], COUNT, cache=model.new_cache(language.Int8Cache)
    ),
}


def measure_writing(name, budget):
    """Words per second of one contender in this process, over so many seconds after a warm-up."""
    model, write = language.load(), CONTENDERS[name]
    text, samples = write(model), []
    before, end = cpu.busy_seconds(), time.monotonic() + budget
    while len(samples) < 5 or time.monotonic() < end:
        samples.append(len(text) / cpu.timed(lambda: write(model)))
    rates = spread(np.array(samples))
    return {
        "contender": name,
        "text": text,
        "words per second": {key: rates[key] for key in ("median", "low", "high")},
        "samples": len(samples),
        "load": cpu.share_of_others(before),
    }


def bench(budget, path=None):
    """The record: each contender in its own process, and whether all wrote the same text."""
    rows = [
        cpu.in_process(call="measure_writing", name=name, budget=budget / len(CONTENDERS))
        for name in CONTENDERS
    ]
    texts = [row.pop("text") for row in rows]
    if any(text != texts[0] for text in texts):
        raise SystemExit("the contenders did not write the same text")
    record = {
        "date": datetime.date.today().isoformat(),
        "command": cpu.command(),
        "machine": {**cpu.machine(), "problem": f"{len(texts[0])} words of the small model"},
        "writing": rows,
    }
    cpu.write(record, path)
    return record


def table(record):
    """The record as a Markdown table, with the ratio to writing without a cache."""
    rows = record["writing"]
    base = rows[0]["words per second"]["median"]
    lines = [("", "words per second", "quartiles", "times no cache", "others' load")]
    for row in rows:
        rate = row["words per second"]
        lines.append(
            (
                row["contender"],
                f"{rate['median']:,.0f}",
                f"{rate['low']:,.0f} to {rate['high']:,.0f}",
                f"{rate['median'] / base:.2f}",
                "unknown" if row["load"] is None else f"{row['load']:.0%}",
            )
        )
    machine = record["machine"]
    said = f"{machine['problem']}, {machine['cpu']}, {machine['cores']} cores, {record['date']}"
    return f"{aligned(lines)}\n\n{said}"
