"""What a right kernel would cost on a chip: bytes counted in the interpreter, and what the compiler
makes for three chips.
"""

import contextlib
import re

from ...bench import counted, launches
from ...bench.compiled import SHARED_MEMORY
from ..model import normal
from .triton_launches import has_cuda, interpreted, kernel_device

CHIPS = {75: "T4", 80: "A100", 90: "H100"}
SECONDS = 60
LINE = 64  # bytes: torch's tensors begin at multiples of it on the CPU, so no two share a line

# what the compiler refuses and the interpreter does not: (its words, ours)
REFUSED = (
    (
        r"and K >= (\d+)",
        r"tl.dot takes tiles whose common axis, the one it sums over, has \1 entries or more.",
    ),
    (
        r"Cannot access global variable (\w+)",
        (
            r"it uses the global \1, and a kernel sees no global but constants, as in \1 ="
            r" tl.constexpr(1.44)."
        ),
    ),
)


def kernel_costs(dtype, cache=32 << 10, **arguments):
    """An exercise's `costs`: a function of `run`, which calls the learner's function as for an
    audit, to a text.

    Args:
        dtype: of the tensors, as torch calls it.
        cache: bytes of the cache that is tried on the accesses.
        arguments: the exercise's arguments in their order, a tensor by its shape: `scores=(16,
        1000)`.
    """

    def costs(run):
        args = _made(dtype, arguments.values())
        with (
            launches.noted() as noted,
            counted() if interpreted() else contextlib.nullcontext() as moved,
        ):
            outcome = run(*args)
        bytes_moved = [_bytes(args, outcome, moved, cache), ""] if moved else []
        lines = [
            f"What it would cost on a GPU, for {what}, {dtype}.",
            "",
            *bytes_moved,
            *_compiled(noted),
        ]
        return "\n".join(lines).rstrip()

    what = _described(arguments)
    return costs


def _described(arguments):
    """The arguments in words; those of one shape together."""
    shapes = {
        value: [name for name in arguments if arguments[name] == value]
        for value in arguments.values()
        if isinstance(value, tuple)
    }
    plain = [f"{name}={value}" for name, value in arguments.items() if not isinstance(value, tuple)]
    return _listed(
        [f"{_listed(names)} of shape {shape}" for shape, names in shapes.items()] + plain, ", "
    )


def _made(dtype, values):
    import torch

    return [
        (
            torch.from_numpy(normal(*value, seed=seed)).to(kernel_device(), getattr(torch, dtype))
            if isinstance(value, tuple)
            else value
        )
        for seed, value in enumerate(values)
    ]


def _bytes(args, outcome, moved, cache):
    import torch

    if outcome.failure:
        return f"The bytes could not be counted: {outcome.failure.kind}, {outcome.failure.text}."
    least = sum(tensor.nbytes for tensor in args if hasattr(tensor, "nbytes")) + sum(
        piece.values.size * getattr(torch, piece.dtype).itemsize for piece in outcome.answer.pieces
    )
    left = moved.through_cache(cache, LINE)
    return (
        f"Your kernels read {_size(moved.read)} and write {_size(moved.written)} (counted in the"
        f" interpreter): {moved.bytes / least:.1f} times the least, which is to read each argument"
        f" once and to write the answer once. Behind a cache of {_size(cache)}, with one program"
        f" after the other, {left / least:.1f} times the least would go to and from memory."
    )


def _size(nbytes):
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= size:
            return f"{nbytes / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{nbytes} B"


# ---------------------------------------------------------------- compiled


def _compiled(noted):
    """What the compiler makes of the launches, as lines."""
    import triton

    limits = _limits()
    try:
        found = launches.compiled(noted, limits, SECONDS)
    except launches.NotCompiled as why:
        return [f"What the compiler makes of your kernels is not known: {why}."]
    lines = []
    for name, made in found:
        lines += _nowhere(name, made) or _table(name, made, limits)
    tables = any("registers" in facts for _, made in found for facts in made.values())
    legend = [
        f"Compiled by Triton {triton.__version__}, not run. Registers hold a thread's numbers; what"
        " does not fit there is spilled to memory. Shared memory is on the chip, a part of it for"
        " each program. Matrix instructions multiply small tiles."
    ]
    return lines + (legend if tables else [])


def _limits():
    """{compute capability: bytes of shared memory} of the chips to compile for; this machine's own
    among them.
    """
    import torch

    if interpreted() or not has_cuda() or torch.version.hip:
        return SHARED_MEMORY
    major, minor = torch.cuda.get_device_capability()
    most = torch.cuda.get_device_properties(
        torch.cuda.current_device()
    ).shared_memory_per_block_optin
    return {**SHARED_MEMORY, 10 * major + minor: most}


def _nowhere(name, made):
    """What there is to say if every chip's compiler refuses the kernel in the same words, else
    nothing.
    """
    facts = next(iter(made.values()))
    if "error" not in facts or any(other.get("error") != facts["error"] for other in made.values()):
        return []
    if "line" in facts:
        return _refused(f"{name} runs in the interpreter, and no chip compiles it", facts)
    return _refused(f"{name} was not compiled", facts)


def _refused(what, facts):
    line = [f"  line {facts['line_number']}: {facts['line']}"] if "line" in facts else []
    return [f"{what}: {_why(facts['error'])}", *line, ""]


def _why(error):
    """The compiler's words, or ours where they are known."""
    for words, ours in REFUSED:
        found = re.search(words, error)
        if found:
            return found.expand(ours)
    return error[:300].rstrip(".") + "."


HEAD = "  chip          registers  spilled       shared memory  matrix instructions"


def _table(name, made, limits):
    """A row for each chip, and sentences for what is wrong there."""
    compiled = {chip: made[chip] for chip in sorted(made) if "registers" in made[chip]}
    lines = [
        f"{name}, {32 * facts['warps']} threads a program:" for facts in list(compiled.values())[:1]
    ]
    lines += [HEAD] * bool(compiled) + [
        _row(chip, facts, limits[chip]) for chip, facts in compiled.items()
    ]
    lines += [
        sentence.format(_listed(list(map(_chip, chips))))
        for sentence, chips in _remarks(compiled, limits)
        if chips
    ]
    lines += [""] * bool(compiled)
    for chip in sorted(made.keys() - compiled.keys()):
        if "error" in made[chip]:
            lines += _refused(f"{name} was not compiled for {_chip(chip)}", made[chip])
        else:
            lines += [f"For {_chip(chip)} the compiler of {name} {made[chip]['ended']}.", ""]
    return lines


def _row(chip, facts, limit):
    shared = f"{_size(facts['shared'])} of {_size(limit)}"
    products = " and ".join(kind for kind in ("wgmma", "mma") if facts[kind]) or "none"
    return (
        f"  {_chip(chip):12}  {facts['registers']:9}  {facts['stack']:5} B  {shared:>18} "
        f" {products}"
    )


def _remarks(compiled, limits):
    """(sentence, the chips for which it is so)."""
    products = {chip: facts["mma"] + facts["wgmma"] for chip, facts in compiled.items()}
    yield (
        (
            "On {} it does not start: a program may not use so much shared memory. Smaller tiles or"
            " fewer num_stages need less."
        ),
        [chip for chip, facts in compiled.items() if facts["shared"] > limits[chip]],
    )
    yield (
        (
            "On {} numbers are spilled, and cost accesses to memory: smaller tiles or more"
            " num_warps leave a thread fewer."
        ),
        [chip for chip, facts in compiled.items() if facts["stack"]],
    )
    yield (
        "For {} Triton makes tl.dot of ordinary multiplications and additions.",
        [chip for chip in products if any(products.values()) and not products[chip]],
    )


def _chip(capability):
    return f"sm_{capability} ({CHIPS.get(capability, 'yours')})"


def _listed(words, last=" and "):
    return last.join(filter(None, [", ".join(words[:-1]), words[-1]]))
