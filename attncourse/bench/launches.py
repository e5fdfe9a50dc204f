"""The launches of Triton kernels: recorded while they run, written as modules, compiled in their
own process.
"""

import ast
import contextlib
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import types
from dataclasses import dataclass
from pathlib import Path

JITTED = ("InterpretedFunction", "JITFunction", "ConstexprFunction")
START = (
    "import sys; sys.path.insert(0, {!r}); from attncourse.bench.compiled import main;"
    " main(*sys.argv[1:])"
)
PATIENCE = 5  # on a busy machine compiling may take this many times its seconds


@dataclass(frozen=True)
class Tensor:
    """What the compiler asks of a tensor: its dtype, and the remainder of its address by 16."""

    dtype: str
    remainder: int

    def data_ptr(self):
        return self.remainder


@dataclass(frozen=True)
class Launch:
    """A jitted function and its launch's arguments; tensors become `Tensor`s, so that no memory is
    kept.
    """

    kernel: object
    args: tuple
    options: dict


class NotCompiled(Exception):
    """A sentence that says why nothing is known about what the compiler makes."""


@contextlib.contextmanager
def noted():
    """Gives a list, in which it records all launches inside the block, compiled and interpreted
    ones.
    """
    from triton.runtime import interpreter, jit

    launches, owners = [], (interpreter.InterpretedFunction, jit.JITFunction)
    undo = [(owner, owner.run) for owner in owners]
    for owner, run in undo:
        owner.run = _noting(run, launches)
    try:
        yield launches
    finally:
        for owner, run in undo:
            owner.run = run


def _noting(run, launches):
    def noting(self, *args, **options):
        given = {
            name: _without_memory(value)
            for name, value in options.items()
            if name not in ("grid", "warmup")
        }
        if not options.get("warmup"):
            launches.append(Launch(self, _without_memory(args), given))
        return run(self, *args, **options)

    return noting


def _without_memory(value):
    if isinstance(value, tuple):
        return tuple(map(_without_memory, value))
    return Tensor(str(value.dtype), value.data_ptr() % 16) if hasattr(value, "data_ptr") else value


# ---------------------------------------------------------------- written as modules


class Modules:
    """A folder of modules, one for each jitted function with what it uses, so that names don't
    clash.
    """

    def __init__(self, folder):
        self.folder, self.names, self.first_lines = Path(folder), {}, {}

    def launches(self, launches):
        """Write the module `launches` and what its launches use: only distinct launches, in
        order."""
        texts = {}
        for launch in launches:
            options = ", ".join(
                f"{name!r}: {self.expression(value)}" for name, value in launch.options.items()
            )
            texts.setdefault(
                f"({self.expression(launch.kernel)}, {self.expression(launch.args)},"
                f" {{{options}}})",
                launch,
            )
        self._write(
            "launches",
            [
                "from attncourse.bench.launches import Tensor",
                f"FIRST_LINES = {self.first_lines}",
                f"LAUNCHES = [{', '.join(texts)}]",
            ],
        )
        return list(texts.values())

    def _write(self, name, lines):
        text = "\n".join(["import triton as _triton", *lines])
        (self.folder / f"{name}.py").write_text(text + "\n", encoding="utf-8")

    def module(self, jitted):
        """The name of the module with a jitted function."""
        function = jitted.fn
        if function not in self.names:
            name = self.names[function] = f"jitted_{len(self.names)}"
            try:
                lines, first = inspect.getsourcelines(function)
            except (OSError, TypeError):
                raise NotCompiled(f"the text of {function.__name__} cannot be found") from None
            source = textwrap.dedent("".join(lines))
            start = re.search(r"^def\s+\w+\s*\(", source, re.MULTILINE).start()
            self.first_lines[name] = first + source[:start].count("\n")
            bindings = [self._binding(*used) for used in _used(jitted, source[start:])]
            decorator = (
                "constexpr_function" if type(jitted).__name__ == "ConstexprFunction" else "jit"
            )
            self._write(name, [*bindings, f"@_triton.{decorator}", source[start:]])
        return self.names[function]

    def _binding(self, name, value):
        """The line that gives a name its value."""
        if isinstance(value, types.ModuleType):
            return f"import {value.__name__} as {name}"
        named = getattr(value, "fn", value) if type(value).__name__ in JITTED else value
        if str(getattr(named, "__module__", "")).startswith("triton.") and hasattr(
            named, "__qualname__"
        ):
            return f"from {named.__module__} import {named.__name__} as {name}"
        try:
            return f"{name} = {self.expression(value)}"
        except TypeError:  # the compiler refuses it by its name, whatever its value
            return f"{name} = object()"

    def expression(self, value):
        """A value as Python, to be read where _triton is known."""
        if type(value).__name__ in JITTED:
            return f"__import__({self.module(value)!r}).{value.fn.__name__}"
        if isinstance(value, tuple):
            return "(" + "".join(f"{self.expression(item)}, " for item in value) + ")"
        if isinstance(value, float):
            return f"float('{float(value)}')"
        if value is None or type(value) in (bool, int, str, Tensor):
            return repr(value)
        if type(value).__name__ in ("constexpr", "dtype") and type(value).__module__.startswith(
            "triton."
        ):
            inner = value.value if type(value).__name__ == "constexpr" else value.name
            return f"_triton.language.{type(value).__name__}({self.expression(inner)})"
        raise TypeError(f"a value of type {type(value).__name__}")


def _used(jitted, source):
    """(name, value) of what a jitted function uses from outside; its own variables hide outer ones
    of the same name.
    """
    function = jitted.fn
    outside = dict(function.__globals__)
    outside.update(
        zip(
            function.__code__.co_freevars,
            (cell.cell_contents for cell in function.__closure__ or ()),
        )
    )
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    for name in sorted(names - set(function.__code__.co_varnames)):
        if name in outside and outside[name] is not jitted:
            yield name, outside[name]


# ---------------------------------------------------------------- compiled


def compiled(launches, capabilities, seconds=60):
    """What the compiler makes of launches, without the chips themselves.

    Args:
        launches: what `noted` gave.
        capabilities: compute capabilities, 90 for 9.0.
        seconds: of CPU for each chip, after which its compiler is stopped; or, if it doesn't
            compute, PATIENCE times as many of the clock.

    Returns:
        [(kernel's name, {capability: facts})], one for each launch that differs from those before
        it. The facts are those of `attncourse.bench.compiled.facts`; or "error", the compiler's
        words, with "line_number" and "line" where it names one; or "ended", a phrase for why there
        are none.

    Raises:
        NotCompiled: a source is not found, an argument cannot be written down, or there is no
        compiler.
    """
    with tempfile.TemporaryDirectory(prefix="attnlib-") as folder:
        try:
            distinct = Modules(folder).launches(launches)
        except TypeError as error:
            raise NotCompiled(f"{error} cannot be handed to the compiler") from None
        printed = _printed(Path(folder), capabilities, seconds)
    ends = dict.fromkeys(capabilities, "ended without a word")
    late = [made["late"] for made in printed if "late" in made]
    ends.update(dict.fromkeys(late, f"was not done within {seconds:g} seconds"))
    found = [
        (launch.kernel.fn.__name__, {chip: {"ended": ends[chip]} for chip in capabilities})
        for launch in distinct
    ]
    for made in printed:
        if "late" not in made:
            found[made.pop("launch")][1][made.pop("capability")] = made
    return found


def _printed(folder, capabilities, seconds):
    """What the compiling process prints, and who is late if it has to be stopped; it ends with all
    that it started.
    """
    environment = {name: text for name, text in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [
        sys.executable,
        "-P",
        "-c",
        START.format(str(Path(__file__).resolve().parents[2])),
        folder,
    ]
    with open(folder / "printed", "w+") as printed, open(folder / "errors", "w+") as errors:
        process = subprocess.Popen(
            [*command, str(seconds), *map(str, capabilities)],
            env=environment,
            stdout=printed,
            stderr=errors,
            start_new_session=True,
        )
        late = []
        try:
            process.wait(PATIENCE * seconds)
        except subprocess.TimeoutExpired:
            late = [{"late": capability} for capability in capabilities]
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if process.returncode > 0:
        words = (folder / "errors").read_text(errors="replace").strip().splitlines()
        raise NotCompiled(words[-1] if words else "the compiler's process ended")
    return [*map(json.loads, (folder / "printed").read_text().splitlines()), *late]
