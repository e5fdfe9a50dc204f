"""`python -m attncourse.language --help`: train the model, test it, ask it."""

import argparse
import concurrent.futures
import dataclasses
import datetime
import functools
import json
import os
import platform
import sys
import time
from importlib import metadata
from pathlib import Path

from attncourse import language
from attncourse.bench.cpu import cores, cpu_name
from attncourse.language import decoder, find_head

COUNT = 500  # held-out texts of each kind
WHERE = "where to write (default: here)"


def main(arguments=None):
    options = parser().parse_args(arguments)
    if options.command == "train" and options.seeds:
        train_seeds(options.seeds, Path(options.to))
    elif options.command == "train":
        train_one(options.seed, options.threads, Path(options.to))
    elif options.command == "accuracy":
        print(table(language.accuracy(language.load(), COUNT)))
    elif options.command == "transformers":
        compare(Path(options.to))
    elif options.command == "reactions":
        map_reactions(Path(options.to))
    elif options.command == "numerals":
        train_translators(options.seeds, Path(options.to))
    else:
        model = language.load()
        prompt = language.encode(options.text)
        print(language.decode([*prompt, *model.generate(prompt)]))


def parser():
    parser = argparse.ArgumentParser(prog="python -m attncourse.language", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="train it, and write model.npz and language.json")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--threads", type=int, default=cores(), help="of torch (default: all cores)")
    train.add_argument(
        "--seeds",
        type=int,
        metavar="N",
        help="train with the seeds 0 to N - 1, write language_seeds.json, keep no weights",
    )
    commands.add_parser("accuracy", help="the share of right answers on held-out texts, by kind")
    compare = commands.add_parser(
        "transformers", help="compare with its classes, and write transformers.json"
    )
    numerals = commands.add_parser(
        "numerals", help="train the translator, and write numerals.npz and numerals.json"
    )
    numerals.add_argument("--seeds", type=int, default=5, metavar="N", help="0 to N - 1")
    mapping = commands.add_parser(
        "reactions", help="fetch RXNMapper's weights, map ten reactions, write reactions.json"
    )
    for command in (train, compare, numerals, mapping):
        command.add_argument("--to", default=".", metavar="FOLDER", help=WHERE)
    commands.add_parser("ask", help="let it go on").add_argument("text")
    return parser


def train_one(seed, threads, folder):
    trained, facts = trained_and_facts(seed, threads)
    decoder.save(trained, folder / "model.npz", seed=seed)
    write(folder / "language.json", {**conditions(f"train --seed {seed}"), **facts})
    print(f"\n{facts['seconds']} s\n{table(facts['accuracy'])}")


def train_seeds(count, folder):
    """Each seed on one thread, as many at a time as there are cores; results are written after each
    seed."""
    runs = []
    with concurrent.futures.ProcessPoolExecutor(cores()) as pool:
        for run in pool.map(functools.partial(facts_alone, threads=1), range(count)):
            runs.append({**run, "nine in ten at step": reached(run.pop("log"))})
            facts = {**conditions(f"train --seeds {count}"), "at a time": cores(), "runs": runs}
            write(folder / "language_seeds.json", facts)
            print(f"seed {run['seed']}, {run['seconds']} s\n{table(run['accuracy'])}")


def reached(log):
    """For each kind, the first step in a log at which nine answers in ten were right."""
    return {
        kind: next((entry["step"] for entry in log if entry["accuracy"][kind] >= 0.9), None)
        for kind in log[0]["accuracy"]
    }


def facts_alone(seed, threads):
    return trained_and_facts(seed, threads)[1]


def trained_and_facts(seed, threads):
    from attncourse.language import training

    start, processor_start = time.perf_counter(), time.process_time()
    trained, log = training.train(seed=seed, threads=threads)
    facts = {
        "seed": seed,
        "threads": threads,
        "seconds": round(time.perf_counter() - start),
        "processor seconds": round(time.process_time() - processor_start),
        "sizes": dataclasses.asdict(trained.sizes),
        "parameters": sum(array.size for array in trained.parameters.values()),
        "plan": dataclasses.asdict(training.Plan()),
        "accuracy": language.accuracy(decoder.rounded(trained), COUNT),
        "heads": find_head.best(decoder.rounded(trained)),
        "log": log,
    }
    return trained, facts


def compare(folder):
    from attncourse.language import transformers_models

    found = transformers_models.compared()
    facts = {**conditions("transformers", ("numpy", "torch", "transformers")), "models": found}
    write(folder / "transformers.json", facts)
    for name, model in found.items():
        print(f"{name:12} {model['without_cache']:8} {model['with_cache']:8}")


def map_reactions(folder):
    from attncourse.language import reactions

    facts = {**conditions("reactions"), **reactions.measured()}
    write(folder / "reactions.json", facts)
    layer, head = reactions.HEAD
    atoms, whole = facts["heads"][layer][head]
    print(f"atoms {atoms} of {reactions.N_ATOMS}, reactions {whole} of {len(facts['attention'])}")


def train_translators(count, folder):
    """Each seed twice, as in translator.py and with free values; the weights of seed 0 are kept."""
    from attncourse.language import numerals, translator, translator_torch

    held_out, runs = numerals.numbers(held_out=True), []
    for seed in range(count):
        for free_values in (False, True):
            start = time.process_time()
            trained, losses = translator_torch.train(seed, threads=1, free_values=free_values)
            seconds = round(time.process_time() - start, 1)
            if not (seed or free_values):
                translator.save(translator_torch.as_numpy(trained), folder / "numerals.npz")
            found = translator_torch.measured(trained, held_out, free_values)
            runs.append(
                {
                    "seed": seed,
                    "free values": free_values,
                    "processor seconds": seconds,
                    "last loss": round(losses[-1], 4),
                    **{name: round(share, 4) for name, share in found.items()},
                }
            )
            print(runs[-1], flush=True)
            facts = {"held-out numbers": len(held_out), "runs": runs}
            write(folder / "numerals.json", {**conditions(f"numerals --seeds {count}"), **facts})


def conditions(command, packages=("numpy", "torch")):
    """When, with what command, on what kind of machine and with which versions."""
    return {
        "date": datetime.date.today().isoformat(),
        "command": f"python -m attncourse.language {command}",
        "machine": {
            "cpu": cpu_name(),
            "cores": cores(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
            "versions": {name: metadata.version(name) for name in packages},
        },
    }


def write(path, facts):
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)


def table(accuracy):
    return "\n".join(f"{kind:8}{share:6.3f}" for kind, share in accuracy.items())


if __name__ == "__main__":
    main()
