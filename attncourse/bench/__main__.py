"""`python -m attncourse.bench --help`: measure here, and print the table."""

import argparse
import json

from attncourse.bench import cpu, duel, linear, report, writing


def measures(call):
    """The measurement with this name."""
    return next(getattr(part, call) for part in (cpu, writing, linear, duel) if hasattr(part, call))


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m attncourse.bench",
        description=(
            "Time, memory and error of attention "
            "on this CPU. About 20 minutes; best on a machine that is idle."
        ),
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="n = 256 alone, without what compiles: about half a minute",
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=cpu.SIZES,
        metavar="N",
        help="other numbers of positions",
    )
    parser.add_argument(
        "--budget", type=float, default=45, metavar="SECONDS", help="for each part of the table"
    )
    parser.add_argument(
        "--json",
        metavar="PATH",
        help=(
            "write all numbers there, after every measurement; "
            "a run that was interrupted goes on from there"
        ),
    )
    parser.add_argument(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help=(
            "cuda: softmax and attention, kernels "
            "beside torch's, on this machine's GPU (bench/cuda.py)"
        ),
    )
    parser.add_argument(
        "--writing",
        action="store_true",
        help="instead, words per second of the small model, with and without a cache",
    )
    parser.add_argument(
        "--linear",
        action="store_true",
        help="instead, causal linear attention in chunks beside softmax attention, on one core",
    )
    parser.add_argument(
        "--duel",
        action="store_true",
        help="instead, streaming attention beside torch's on one core and on all, a process each",
    )
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.job:
        call = options.job.pop("call")
        print(json.dumps(measures(call)(**options.job)))
    elif options.writing:
        seconds = 2 if options.quick else options.budget
        print(writing.table(writing.bench(seconds, options.json)))
    elif options.duel:
        sizes = [256] if options.quick else [n for n in options.sizes if n in duel.SIZES]
        print(duel.table(duel.bench(sizes, 0.3 if options.quick else options.budget, options.json)))
    elif options.linear:
        sizes, seconds = ([256], 0.3) if options.quick else (options.sizes, options.budget)
        print(linear.table(linear.bench(sizes, seconds, options.json)))
    elif options.device == "cuda":
        from attncourse.bench import cuda

        print(report.device_table(cuda.main(options.quick, options.json)))
    else:
        todo = (
            ([256], 0.3, ["JAX", "numba"]) if options.quick else (options.sizes, options.budget, [])
        )
        print(report.table(cpu.bench(*todo, options.json)))


if __name__ == "__main__":
    main()
