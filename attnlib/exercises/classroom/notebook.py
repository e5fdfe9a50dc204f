"""Runs the cells of one handed-in notebook, and grades what they define. A process of its own.

`process.py` starts it, with an order on standard input:

    secret, pipe    what every line of the report begins with, and where the report goes
    cells           the source of each code cell
    names           exercises that the text of the cells names
    skip, graded    cells to leave out and exercises to leave alone: what ended an earlier try
    cell_seconds, memory, scratch

The grading copy of attnlib is imported before any cell runs, and taken out of reach of `import`;
the notebook gets a second copy, whose `check` only notes what it is handed. So a notebook that
redefines check, or writes into attnlib, changes nothing but its own copy.
"""

import ast
import json
import linecache
import os
import re
import sys
import types
import warnings

MAGIC = r"^(\s*)(?:\w+\s*=\s*)?[%!?].*$|^(\s*)[\w.]+\?+\s*$"
WHOLE_CELL = ("%%time", "%%timeit", "%%capture", "%%prun")
NOT_THEIRS = ("attnlib", "numpy", "torch", "scipy")  # an answer is not a library's function
# Libraries whose names the grading looks up: they are put back before each exercise.
RESTS_ON = ("attnlib", "builtins", "contextlib", "dis", "functools", "importlib", "inspect", "itertools", "json",
            "math", "numpy", "operator", "os", "random", "re", "resource", "shutil", "signal", "subprocess", "textwrap",
            "threading", "time", "tracemalloc", "types")
OF_TORCH = ("torch", "torch.nn.functional", "torch.overrides", "torch.linalg")


def main():
    order = json.load(sys.stdin)
    tell = reporter(order.pop("pipe"), order.pop("secret"))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    shut_in(order)
    tell(started=True)
    work(order, tell)
    tell(done=True)


def shut_in(order):
    from . import confine  # not needed, nor there, where this is only imported

    confine.limit(order["memory"])
    confine.close(order["scratch"])
    warnings.simplefilter("ignore")


def reporter(pipe, secret):
    """A function that writes one line of the report; it holds on to what a cell could replace."""
    write, dumps, process, owner, leave = os.write, json.dumps, os.getpid, os.getpid(), os._exit

    def tell(**event):
        if process() != owner:  # a cell has forked, and its child has come this far
            leave(0)
        line = f"{secret} {dumps(event)}\n".encode()
        while line:
            line = line[write(pipe, line):]

    return tell


def work(order, tell):
    trusted, handed = two_copies()
    if any("torch" in cell for cell in order["cells"]):
        import_torch()
    untouched = Untouched(trusted.modules)
    names = notebooks_names()
    stopped = run_cells(order, names, trusted, tell)
    for name in trusted.exercises:
        if (name in order["names"] or name in handed) and name not in order["graded"]:
            tell(at=name)
            untouched.restore()
            tell(grade=graded(name, trusted, handed.get(name, []), names, stopped))


# ---------------------------------------------------------------- two copies of attnlib

def two_copies():
    """(the copy that grades and that nobody else sees, what the notebook's check is handed)."""
    from ..engine import grading
    from ..sandbox import limit

    trusted = types.SimpleNamespace(grade=grading.grade, exercises=grading.exercises(), limit=limit)
    trusted.modules = [sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "attnlib"]
    import attnlib
    import attnlib.exercises.engine.grading

    handed = {}

    def check(name, function=None):
        if callable(name) and isinstance(function, str):
            name, function = function, name
        if isinstance(name, str) and name in trusted.exercises:
            handed.setdefault(name, []).append(function)

    attnlib.exercises.check = attnlib.exercises.engine.grading.check = check
    attnlib.plot = sys.modules["attnlib.plot"] = NoFigures("attnlib.plot")
    return trusted, handed


class NoFigures(types.ModuleType):
    """attnlib.plot without matplotlib: nobody looks at the figures."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **options: None


def import_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        pass  # then its exercises are "not attempted", and the grade's message says why


class Untouched:
    """The names in the libraries that grading rests on, as they were before the first cell."""

    def __init__(self, modules):
        modules = modules + [module for name, module in sys.modules.items()
                             if name.partition(".")[0] in RESTS_ON or name in OF_TORCH]
        self.names = [(vars(module), dict(vars(module))) for module in modules]

    def restore(self):
        for names, before in self.names:  # without a builtin, which may be theirs
            names.update(before)
        sys.settrace(None)
        sys.setprofile(None)
        warnings.resetwarnings()
        warnings.simplefilter("ignore")


# ---------------------------------------------------------------- the cells

def notebooks_names():
    """The names that cells share, as the module __main__."""
    module = types.ModuleType("__main__")
    module.display = lambda *args, **options: None  # Jupyter's
    sys.modules["__main__"] = module
    return vars(module)


def run_cells(order, names, trusted, tell):
    """Run the cells, as Jupyter does after an error: the next one all the same. What stopped which."""
    stopped = {}
    for number, source in enumerate(order["cells"]):
        if number in order["skip"]:
            stopped[number] = "was left out"
            continue
        tell(at=number)
        why = run_cell(number, source, names, order["cell_seconds"], trusted.limit)
        if why:
            stopped[number] = f"stopped with {why}"
    return {name: why for number, why in stopped.items() for name in defined_in(order["cells"][number])}


def run_cell(number, source, names, seconds, limits):
    file = f"<cell {number + 1}>"
    try:
        source = as_python(source)
        linecache.cache[file] = len(source), None, source.splitlines(True), file  # for inspect.getsource
        with limits.TimerLimit(seconds):
            return run_statements(ast.parse(source, file), file, names)
    except limits.TimeUp:
        return f"a time limit of {seconds} seconds"
    except BaseException as error:  # SystemExit too: it costs this cell only
        return described(error)


def run_statements(cell, file, names):
    """Run a cell; a library that is not there costs what uses it, not the imports after it."""
    missing = ""
    for statement in cell.body:
        try:
            exec(compile(ast.Module([statement], []), file, "exec", dont_inherit=True), names)
        except ImportError as error:
            if not isinstance(statement, (ast.Import, ast.ImportFrom)):
                raise
            missing = missing or described(error)
    return missing


def described(error):
    try:
        return f"{type(error).__name__}: {error}".rstrip(": ")[:200]
    except BaseException:
        return type(error).__name__


def as_python(source):
    """The cell without IPython's own lines: %magic, !shell and help?."""
    try:
        compile(source, "<cell>", "exec", dont_inherit=True)
        return source
    except (SyntaxError, ValueError):
        pass
    lines = source.lstrip("\n").split("\n")
    if lines[0].startswith("%%"):
        if lines[0].split()[0] not in WHOLE_CELL:
            return ""
        lines[0] = ""
    return re.sub(MAGIC, r"\1\2pass", "\n".join(lines), flags=re.MULTILINE)


def defined_in(source):
    return re.findall(r"^def\s+(\w+)", source, re.MULTILINE)


# ---------------------------------------------------------------- the exercises

def graded(name, trusted, handed, names, stopped):
    """(name, status, mistakes, note) of one exercise."""
    functions = [*reversed(handed), names.get(name)]
    own = [function for function in functions if is_own(function)]
    if own:
        result = trusted.grade(name, own[0])
        note = trusted.exercises[name].missing() or _error_in(result)
        return name, result.status, list(result.mistakes), note
    if any(map(callable, functions)):
        return name, "not attempted", [], "a library's function was handed over as it is"
    if name in stopped:
        return name, "error", [], f"its cell {stopped[name]}"
    return name, "not attempted", [], ""


def _error_in(result):
    """What stopped an answer, where no mistake is named: the paragraph after "not yet"."""
    if result.status != "error" or result.mistakes:
        return ""
    return " ".join(result.message.split("\n\n")[:2][-1].split())[:200]


def is_own(function):
    """Whether this may be a learner's answer: callable, and no library's function as it is."""
    if not callable(function):
        return False
    home = getattr(function, "__module__", None) or type(function).__module__
    return str(home).partition(".")[0] not in NOT_THEIRS


if __name__ == "__main__":
    main()
