"""Runs the cells of one handed-in notebook, and calls what they define. The process in the sandbox.

`process.py` starts it, with an order on standard input:

    secret          what every line of the report begins with
    content, kind   the file, in base64, and its suffix
    skip, graded    cells to leave out and exercises to leave alone: what ended an earlier try
    bare            whether only imports and definitions are run
    cell_seconds, memory, processes

It reports on standard output. A first copy of attnlib is imported before any cell runs, and taken out of reach of
`import`; the notebook gets a second one, whose `check` only notes what it is handed. So a notebook that redefines
check, or writes into attnlib, changes nothing but its own copy. What it reports is still the notebook's own word:
verdict.py holds the values against the reference, outside.
"""

import ast
import base64
import json
import linecache
import os
import re
import resource
import sys
import types
import warnings

from .reached import watch
from .source import READERS, Unusable, as_python, assigned_in, checked_in, defined_in, definitions, fingerprint

NOT_THEIRS = ("attnlib", "numpy", "torch", "scipy")  # an answer is not a library's function
# Libraries whose names the grading looks up: they are put back before each exercise.
RESTS_ON = ("attnlib", "base64", "builtins", "contextlib", "dis", "functools", "importlib", "inspect", "itertools",
            "json", "math", "numpy", "operator", "os", "random", "re", "resource", "shutil", "signal", "subprocess",
            "textwrap", "threading", "time", "tracemalloc", "types")
OF_TORCH = ("torch", "torch.nn.functional", "torch.overrides", "torch.linalg")
LARGEST_FILE, MOST_FILES, ADDRESSES = 64 << 20, 256, 4 << 30
MOST_VALUES = 1 << 19  # bytes of an answer that are reported


def main():
    order = json.load(sys.stdin)
    tell = reporter(order["secret"])
    limit(order)
    warnings.simplefilter("ignore")
    work(order, tell)
    tell(done=True)


def limit(order):
    """What one process may take; the sandbox is what it may reach."""
    most = {"CORE": 0, "FSIZE": LARGEST_FILE, "NOFILE": MOST_FILES, "DATA": order["memory"], "MSGQUEUE": 0,
            # addresses that are only reserved count too, so there are more of them
            "AS": order["memory"] + ADDRESSES, "NPROC": order["processes"]}
    for name, number in most.items():
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (number, number))
        except (AttributeError, ValueError, OSError):
            pass  # macOS knows fewer


def reporter(secret):
    """A function that writes one line of the report; it holds on to what a cell could replace."""
    pipe, nothing = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    write, dumps, process, owner = os.write, json.dumps, os.getpid, os.getpid()

    def tell(**event):
        if process() != owner:  # a child that a cell has started
            return
        line = f"{secret} {dumps(event)}\n".encode()
        while line:
            line = line[write(pipe, line):]

    return tell


def work(order, tell):
    try:
        cells = READERS[order["kind"]](base64.b64decode(order["content"]))
    except Unusable as error:
        return tell(problem=str(error))
    trusted, handed = two_copies()
    if any("torch" in cell for cell in cells):
        import_torch()
    named = names_in(cells, trusted.exercises)
    tell(names=named)
    untouched = Untouched(trusted.modules)
    session = Session(order, cells, trusted, handed, tell)
    watch(lambda words: tell(reached=words))
    session.run()
    for name in trusted.exercises:
        if (name in named or name in handed) and name not in order["graded"]:
            tell(at=name)
            untouched.restore()
            session.grade(name)


def names_in(cells, known):
    """The exercises that cells define, or hand to check, as far as their text tells."""
    named = {name for cell in cells for name in defined_in(cell)}
    named |= {name for cell in cells for name in re.findall(r"\bcheck\([ \t]*[\"'](\w+)[\"']", cell)}
    return [name for name in known if name in named]


# ---------------------------------------------------------------- two copies of attnlib

def two_copies():
    """(the copy that grades and that nobody else sees, what the notebook's check is handed)."""
    from ..engine import find, grading, running, usable
    from ..sandbox import call, limit

    trusted = types.SimpleNamespace(
        grade=grading.grade, exercises=find.exercises(), limit=limit, call=call.call, Clock=call.Clock,
        binds=usable.binds, unusable=usable.unusable_function, copy=running.learners_copy,
        does_nothing=usable.does_nothing)
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


# ---------------------------------------------------------------- one notebook

class Session:
    """The cells of one notebook, run, and what is told about its answers."""

    def __init__(self, order, cells, trusted, handed, tell):
        self.order, self.cells, self.trusted, self.handed, self.tell = order, cells, trusted, handed, tell
        self.stopped, self.lacking = {}, []  # {name that a cell gives: why the cell stopped}, packages not there
        module = types.ModuleType("__main__")
        module.display = lambda *args, **options: None  # Jupyter's
        sys.modules["__main__"] = module
        self.names = vars(module)

    # ------------------------------------------------------------ the cells

    def run(self):
        """Run the cells, as Jupyter does after an error: the next one all the same."""
        for number, source in enumerate(self.cells):
            if number in self.order["skip"]:
                why = "was left out"
            else:
                self.tell(at=number)
                why = self._run_cell(number, source)
            if why:
                self.stopped.update(dict.fromkeys([*defined_in(source), *assigned_in(source)], why))

    def _run_cell(self, number, source):
        file, limits, seconds = f"<cell {number + 1}>", self.trusted.limit, self.order["cell_seconds"]
        try:
            source = as_python(source)
            linecache.cache[file] = len(source), None, source.splitlines(True), file  # for inspect.getsource
            with limits.TimerLimit(seconds):
                return self._run_statements(ast.parse(source, file).body, file)
        except limits.TimeUp:
            return f"stopped at a time limit of {seconds} seconds"
        except BaseException as error:  # SystemExit too: it costs this cell only
            return f"stopped with {described(error)}"

    def _run_statements(self, statements, file):
        """Run a cell; a library that is not there costs what uses it, not the imports after it."""
        for statement in definitions(statements) if self.order["bare"] else statements:
            try:
                exec(compile(ast.Module([statement], []), file, "exec", dont_inherit=True), self.names)
            except ImportError as error:
                if not isinstance(statement, (ast.Import, ast.ImportFrom)):
                    raise
                self.lacking.append(str(getattr(error, "name", "") or described(error))[:60])
        return ""

    # ------------------------------------------------------------ the exercises

    def grade(self, name):
        """Tell the values of one answer in every case, and what check says about it."""
        function, status, note = self._answer(name)
        if function is None:
            return self.tell(grade=[name, status, [], note, "", ""])
        result = self.trusted.grade(name, function)
        mistakes, notes = list(result.mistakes), [note] * bool(note)
        if "endless loop" in mistakes:
            mistakes.remove("endless loop")
            notes.append(_reason(result) or "it took too long: slow, or without an end")
        elif result.status in ("incorrect", "error"):
            self._tell_values(name, function)
            notes += [_reason(result)] * (not mistakes)
            notes += self._lacks(result)
        elif result.status == "correct":
            self._tell_values(name, function)
        elif missing := self.trusted.exercises[name].missing():
            notes.append(missing)
        self.tell(grade=[name, result.status, mistakes, " ".join(filter(None, notes)), result.message[:8000],
                         fingerprint(function) if result.status != "not attempted" else ""])

    def _answer(self, name):
        """(the learner's function, or None with a status; what has to be said about that)."""
        functions = [*reversed(self.handed.get(name, [])), self.names.get(name)]
        own = [function for function in functions if is_own(function)]
        renamed = self._renamed(name)
        if own and not (renamed and self.trusted.does_nothing(own[0])):
            return own[0], "", ""
        if renamed:
            return self.names[renamed], "", f"Graded is {renamed}, which stands where {name} was asked for."
        if own:
            return own[0], "", ""
        if any(map(callable, functions)):
            return None, "not attempted", "A library's function was handed over as it is."
        if name in self.stopped:
            return None, "error", f"Its cell {self.stopped[name]}."
        if any(name == checked for cell in self.cells for checked, _ in checked_in(cell)):
            return None, "error", f"It is checked, but the notebook defines no function {name}."
        return None, "not attempted", ""

    def _renamed(self, name):
        """The one function that stands in, or right above, the cell that checks this exercise; or None."""
        for number, cell in enumerate(self.cells):
            if any(name == checked for checked, _ in checked_in(cell)):
                above = next((one for one in reversed(self.cells[:number]) if one.strip()), "")
                found = [*defined_in(cell), *(defined_in(above) if not checked_in(above) else ())]
                found = [one for one in found if one not in self.trusted.exercises and self._may_be(name, one)]
                if len(found) == 1:
                    return found[0]
        return None

    def _may_be(self, name, one):
        function = self.names.get(one)
        return is_own(function) and not self.trusted.unusable(self.trusted.exercises[name], function)  # no kernel

    def _lacks(self, result):
        """What is not there because of something before: a name whose cell stopped, a package."""
        for missing in re.findall(r"NameError:\s+name\s+'(\w+)'", result.message)[:1]:
            if missing in self.stopped:
                yield f"The cell of {missing} {self.stopped[missing]}."
        if self.lacking and ("NameError" in result.message or "ImportError" in result.message
                             or "ModuleNotFoundError" in result.message):
            yield f"Not installed where this was graded: {', '.join(dict.fromkeys(self.lacking))}."

    def _tell_values(self, name, function):
        """What the function returns for each case, so that it can be judged outside."""
        exercise, trusted = self.trusted.exercises[name], self.trusted
        clock = trusted.Clock(exercise.seconds) if exercise.seconds else trusted.Clock()
        for index, case in enumerate(exercise.all_cases()):
            if not clock.over and not case.unless() and trusted.binds(function, case.args):
                outcome = trusted.call(function, trusted.copy(exercise, case), clock, index, exercise.around)
                values = outcome.answer and as_text(outcome.answer)
                if values:
                    self.tell(value=[name, index, values])


def as_text(answer):
    """An Answer as what JSON can hold; None for one that is too large."""
    if sum(piece.values.nbytes for piece in answer.pieces) > MOST_VALUES:
        return None
    pieces = [[str(piece.values.dtype), list(piece.values.shape), base64.b64encode(piece.values.tobytes()).decode(),
               piece.dtype, piece.holder, piece.device] for piece in answer.pieces]
    return [pieces, answer.holder, answer.wrapped]


def _reason(result):
    """What is wrong, where no mistake is named: the paragraph after "not yet"."""
    return " ".join(result.message.split("\n\n")[:2][-1].split())[:300]


def described(error):
    try:
        return f"{type(error).__name__}: {error}".rstrip(": ")[:200]
    except BaseException:
        return type(error).__name__


def is_own(function):
    """Whether this may be a learner's answer: callable, and no library's function as it is."""
    if not callable(function):
        return False
    home = getattr(function, "__module__", None) or type(function).__module__
    return str(home).partition(".")[0] not in NOT_THEIRS
