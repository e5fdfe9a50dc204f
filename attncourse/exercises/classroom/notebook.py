"""Runs the cells of one handed-in notebook, and calls what they define. The process in the sandbox.

`process.py` starts it, with an order on standard input:

    secret          what every line of the report begins with
    content, kind   the file, in base64, and its suffix
    skip, graded    cells to leave out and exercises to leave alone: what ended an earlier try
    bare            whether only imports and definitions are run
    cell_seconds, memory, processes

It reports on standard output. A first copy of attnlib is imported before any cell runs, and taken
out of reach of `import`; the notebook gets a second one, whose `check`, `expose` and so on only
note what they are handed. So a notebook that redefines check, or writes into attnlib, changes
nothing but its own copy. What it reports is still only the notebook's word: verdict.py, outside,
compares the values with the reference.
"""

import ast
import base64
import copy
import importlib.util
import inspect
import itertools
import json
import linecache
import os
import re
import resource
import sys
import textwrap
import types
import warnings

from .reached import watch
from .source import (
    READERS,
    Unusable,
    as_python,
    assigned_in,
    books_own,
    bound_by,
    checked_in,
    defined_in,
    definitions,
    fingerprint,
    needed,
    problems_in,
)

PACKAGES = ("attncourse", "attnlib")
NOT_THEIRS = (
    "attncourse",
    "attnlib",
    "numpy",
    "torch",
    "scipy",
)  # an answer is not a library's function
# Libraries whose names the grading looks up: they are put back before each exercise.
RESTS_ON = (
    "attncourse",
    "attnlib",
    "base64",
    "builtins",
    "contextlib",
    "copy",
    "dis",
    "functools",
    "importlib",
    "inspect",
    "itertools",
    "json",
    "math",
    "numpy",
    "operator",
    "os",
    "random",
    "re",
    "resource",
    "shutil",
    "signal",
    "subprocess",
    "textwrap",
    "threading",
    "time",
    "tracemalloc",
    "types",
)
OPTIONAL = ("torch", "triton", "scipy")  # the book's libraries that a machine may lack
OF_TORCH = ("torch", "torch.nn.functional", "torch.overrides", "torch.linalg")
LARGEST_FILE, MOST_FILES, ADDRESSES = 64 << 20, 256, 4 << 30
MOST_VALUES, MOST_WORDS = (
    1 << 19,
    300,
)  # bytes of an answer that are reported, letters of what came instead
LONGEST_CODE = 6000
MOST_CALLS = 8  # of a problem: the last ones that a notebook makes


def main():
    order = json.load(sys.stdin)
    tell = reporter(order["secret"])
    limit(order)
    warnings.simplefilter("ignore")
    work(order, tell)
    tell(done=True)


def limit(order):
    """What one process may take; the sandbox is what it may reach."""
    most = {
        "CORE": 0,
        "FSIZE": LARGEST_FILE,
        "NOFILE": MOST_FILES,
        "DATA": order["memory"],
        "MSGQUEUE": 0,
        # addresses that are only reserved count too, so there are more of them
        "AS": order["memory"] + ADDRESSES,
        "NPROC": order["processes"],
    }
    for name, number in most.items():
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (number, number))
        except (AttributeError, ValueError, OSError):
            pass  # macOS knows fewer


def reporter(secret):
    """A function that writes one line of the report; it keeps its own references to what a cell
    could replace."""
    pipe, nothing = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    write, dumps, process, owner = os.write, json.dumps, os.getpid, os.getpid()

    def tell(**event):
        if process() != owner:  # a child that a cell has started
            return
        line = f"{secret} {dumps(event)}\n".encode()
        while line:
            line = line[write(pipe, line) :]

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
    named += [name for name in trusted.kinds if name in problems_in("\n".join(cells))]
    tell(names=named)
    untouched = Untouched(trusted.modules)
    session = Session(order, cells, trusted, handed, tell)
    watch(lambda words: tell(reached=words))
    session.run()
    for name in (*trusted.exercises, *trusted.kinds):
        if (name in named or name in handed) and name not in order["graded"]:
            tell(at=name)
            untouched.restore()
            session.grade(name)


def names_in(cells, known):
    """The exercises that cells hand to check, or define, as far as their text shows.

    A function that isn't checked counts if the notebook checks others of its chapter, or nothing:
    otherwise it is a helper that happens to have the name of another chapter's exercise.
    """
    defined = {name for cell in cells for name in defined_in(cell)}
    checked = {
        name for cell in cells for name in re.findall(r"\bcheck\([ \t]*[\"'](\w+)[\"']", cell)
    }
    chapters = {known[name].chapter for name in checked if name in known}
    return [
        name
        for name, exercise in known.items()
        if name in checked or name in defined and (not chapters or exercise.chapter in chapters)
    ]


# ---------------------------------------------------------------- two copies of attnlib


def two_copies():
    """(the copy that grades and that nothing else sees, what the notebook's check is handed)."""
    from ..engine import find, generic, grading, kinds, problem_pages, ready, running, usable
    from ..sandbox import call, limit, statements

    trusted = types.SimpleNamespace(
        run=statements.run,
        remember=statements.remember,
        grade=grading.grade,
        exercises=dict(find.exercises()),  # loaded now: later, an import finds the other copy
        kinds=kinds.kinds(),
        Judged=problem_pages.Judged,
        limit=limit,
        call=call.call,
        Clock=call.Clock,
        GuardFailed=call.GuardFailed,
        binds=usable.binds,
        unusable=usable.unusable_function,
        copy=running.learners_copy,
        does_nothing=usable.does_nothing,
        in_order=usable.in_order,
        reference=ready.REFERENCE,
        other_order=generic.PARAMETER_ORDER.name,
    )
    trusted.modules = [
        sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in PACKAGES
    ]
    import attncourse.exercises.engine.grading

    handed = {}

    def check(name, function=None):
        if callable(name) and isinstance(function, str):
            name, function = function, name
        if isinstance(name, str) and name in trusted.exercises:
            handed.setdefault(name, []).append(function)

    def noting(kind):
        signature = inspect.signature(kind.call)

        def note(name, *answer, **named):
            signature.bind(name, *answer, **named)  # a call that raises in the book raises here
            if isinstance(name, str) and trusted.kinds.get(name) is kind and (answer or named):
                cell = sys._getframe(1).f_code.co_filename
                calls = handed.setdefault(name, [])
                calls.append((*_as_it_is(answer, named), cell))
                del calls[:-MOST_CALLS]

        return note

    attncourse.exercises.check = attncourse.exercises.engine.grading.check = check
    for kind in kinds.KINDS:
        call = kind.call.__name__
        note = noting(kind)
        for module in (attncourse.exercises, sys.modules[kind.call.__module__]):
            setattr(module, call, note)
    attncourse.plot = sys.modules["attncourse.plot"] = NoFigures("attncourse.plot")
    return trusted, handed


def _as_it_is(answer, named):
    """Copies of what a call is handed, because later cells may change it; some can't be copied."""
    try:
        return copy.deepcopy((answer, named))
    except Exception:
        return answer, named


class Shell:
    """What get_ipython() gives: magics and shell lines, which do nothing here."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **options: None


class NoFigures(types.ModuleType):
    """attncourse.plot without matplotlib, because nobody looks at the figures."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **options: None


def import_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        pass  # then its exercises are not checked, and the notes say why


class Untouched:
    """The names in the libraries that grading rests on, as they were before the first cell."""

    def __init__(self, modules):
        modules = modules + [
            module
            for name, module in sys.modules.items()
            if name.partition(".")[0] in RESTS_ON or name in OF_TORCH
        ]
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
    """Runs the cells of one notebook, and reports on its answers."""

    def __init__(self, order, cells, trusted, handed, tell):
        self.order, self.cells, self.trusted, self.handed, self.tell = (
            order,
            cells,
            trusted,
            handed,
            tell,
        )
        self.stopped, self.lacking = (
            {},
            [],
        )  # {name that a cell defines: why the cell stopped}, missing packages
        # libraries of the book that this machine lacks, and the names that they would have
        self.not_here = {name for name in OPTIONAL if not importlib.util.find_spec(name)}
        self.own, self.rewritten = books_own(cells, order["chapters"])
        self.needed = needed(cells, self.own, self.rewritten)
        module = types.ModuleType("__main__")
        module.display = lambda *args, **options: None  # Jupyter's
        module.get_ipython = Shell
        sys.modules["__main__"] = module
        self.names = vars(module)

    # ------------------------------------------------------------ the cells

    def run(self):
        """Run the cells as Jupyter does, going on after an error."""
        for number, source in enumerate(self.cells):
            if number in self.order["skip"]:
                why = "was left out"
            else:
                self.tell(begins=_first_line(source))
                self.tell(at=number)
                why = self._run_cell(number, source)
            if why:
                names = defined_in(source), assigned_in(source), problems_in(source, answered=True)
                self.stopped.update(dict.fromkeys(itertools.chain(*names), why))

    def _run_cell(self, number, source):
        file, limits, seconds = (
            f"<cell {number + 1}>",
            self.trusted.limit,
            self.order["cell_seconds"],
        )
        try:
            source = as_python(source)
            self.trusted.remember(file, source)
            with limits.TimerLimit(seconds):
                nodes = self.needed[number] if number in self.own else ast.parse(source, file).body
                return self._run_statements(nodes, file)
        except limits.TimeUp:
            return f"stopped at a time limit of {seconds} seconds"
        except BaseException as error:  # SystemExit too: it costs this cell only
            return f"stopped with {described(error)}"

    def _run_statements(self, statements, file):
        """Run a cell; a missing library costs what uses it, but not the imports after it."""
        for statement in definitions(statements) if self.order["bare"] else statements:
            try:
                self.trusted.run(statement, self.names, file)
            except ImportError as error:
                if not isinstance(statement, (ast.Import, ast.ImportFrom)):
                    raise
                package = str(getattr(error, "name", "") or described(error))[:60]
                self.lacking.append(package)
                if package.partition(".")[0] in self.not_here:
                    self.not_here |= bound_by(statement)
        return ""

    # ------------------------------------------------------------ the exercises

    def grade(self, name):
        """Tell the values of one answer in every case, and what check says about it; of a problem,
        what the call has shown, and what it prints.
        """
        try:
            if name in self.trusted.kinds:
                return self._grade_problem(name)
            function, status, note = self._answer(name)
            self.tell(code=[name, self._code(name, function)])
            self._grade(name, function, status, note)
        except (
            self.trusted.GuardFailed
        ) as error:  # while the values are reported; check reports its own
            self._tell_unchecked(name, f"What guards a call has failed: {error}")

    def _grade(self, name, function, status, note):
        if function is None and (lacking := self._for_want_of(note)):
            return self._tell_unchecked(name, lacking)
        if function is None:
            return self.tell(grade=[name, status, [], note, "", ""])
        result = self.trusted.grade(name, function)
        if not result.checked and self.trusted.does_nothing(function):
            return self.tell(grade=[name, "not attempted", [], note, "", ""])
        lacking = self._for_want_of(result.message)
        if not result.checked or lacking:
            problem = self.trusted.exercises[name].cannot_check() or lacking or _reason(result)
            return self._tell_unchecked(name, problem)
        mistakes, notes = list(result.mistakes), [note] * bool(note)
        if "endless loop" in mistakes:
            mistakes.remove("endless loop")
            notes.append(_reason(result) or "it took too long: it is slow, or it never ends")
        elif result.status in ("incorrect", "error"):
            self._tell_values(name, function, by_name=self.trusted.other_order in mistakes)
            notes += [_reason(result)] * (not mistakes)
            if self.trusted.reference in " ".join(result.message.split()):
                notes.append("It calls the exercise's own reference in attncourse.")
            notes += self._lacks(result.message)
        elif result.status == "correct":
            self._tell_values(name, function)
        self.tell(
            grade=[
                name,
                result.status,
                mistakes,
                " ".join(filter(None, notes)),
                result.message[:8000],
                fingerprint(function) if result.status != "not attempted" else "",
            ]
        )

    def _grade_problem(self, name):
        """Tell what the first call that solves a problem has come to, or else the last one."""
        calls, judged = self.handed.get(name, []), []
        if not calls:
            return self._tell_unanswered(name)
        for answer, named, cell in calls:
            self.tell(code=[name, "".join(linecache.getlines(cell))[:LONGEST_CODE]])
            judged.append(self._judged(name, answer, named))
            if judged[-1].status == "correct":
                break
        found = judged[-1]
        which = f"Call {len(judged)}" if found.status == "correct" else "The last call"
        note = f"{which} of {len(calls)} counts." * (len(calls) > 1)
        for index, outcome in enumerate(found.shown):
            if values := as_text(outcome):
                self.tell(value=[name, index, values])
        self.tell(grade=[name, found.status, [], note, found.text[:8000], ""])

    def _judged(self, name, answer, named):
        try:
            return self.trusted.kinds[name].judged(name, *answer, **named)
        except self.trusted.GuardFailed:
            raise
        except BaseException as error:  # from a method of what was handed over
            text = f"{name}: not tried. The call stops with {described(error)}."
            return self.trusted.Judged("error", text)

    def _tell_unanswered(self, name):
        """Report a problem for which no call has been handed over."""
        note = f"Its cell {self.stopped[name]}." if name in self.stopped else ""
        if lacking := self._for_want_of(note):
            return self._tell_unchecked(name, lacking)
        status = "error" if note else "not attempted"
        self.tell(grade=[name, status, [], note, "", ""])

    def _answer(self, name):
        """(the learner's function, or None with a status; what has to be said about it)."""
        found = [*reversed(self.handed.get(name, [])), self.names.get(name)]
        functions = [function for function in found if not self._is_the_books(name, function)]
        own, renamed = [function for function in functions if is_own(function)], self._renamed(name)
        if own and not (renamed and self.trusted.does_nothing(own[0])):
            return own[0], "", ""
        if renamed:
            return (
                self.names[renamed],
                "",
                f"What was graded is {renamed}, which stands where {name} should be.",
            )
        if any(map(callable, functions)):
            return None, "not attempted", "A library's function was handed in unchanged."
        if name in self.stopped:
            return None, "error", f"Its cell {self.stopped[name]}."
        if len(functions) < len(found):  # what is there is the book's
            return None, "not attempted", ""
        if any(name == checked for cell in self.cells for checked, _ in checked_in(cell)):
            return None, "error", f"It is checked, but the notebook defines no function {name}."
        return None, "not attempted", ""

    def _is_the_books(self, name, function):
        """Whether a function is in a cell that is as the book has it."""
        place = getattr(getattr(function, "__code__", None), "co_filename", "")
        own = {f"<cell {number + 1}>" for number in self.own}
        return place in own and name not in self.rewritten

    def _code(self, name, function):
        """The learner's text of an answer: the function's, otherwise that of the last cell that
        defines it."""
        try:
            return textwrap.dedent(inspect.getsource(function))[:LONGEST_CODE]
        except Exception:
            cells = [cell for cell in self.cells if name in defined_in(cell)]
            return cells[-1][:LONGEST_CODE] if cells else ""

    def _renamed(self, name):
        """The only function in, or right above, the cell that checks this exercise; or None."""
        for number, cell in enumerate(self.cells):
            if any(name == checked for checked, _ in checked_in(cell)):
                above = next((one for one in reversed(self.cells[:number]) if one.strip()), "")
                found = [*defined_in(cell), *(defined_in(above) if not checked_in(above) else ())]
                found = [
                    one
                    for one in found
                    if one not in self.trusted.exercises and self._may_be(name, one)
                ]
                if len(found) == 1:
                    return found[0]
        return None

    def _may_be(self, name, one):
        function = self.names.get(one)
        return (
            is_own(function)
            and not self._is_the_books(name, function)
            and not self.trusted.unusable(self.trusted.exercises[name], function)
        )  # no kernel

    def _lacks(self, text):
        """What is missing because of something earlier: a name whose cell stopped, a package."""
        for missing in re.findall(r"NameError:\s+name\s+'(\w+)'", text)[:1]:
            if missing in self.stopped:
                yield f"The cell of {missing} {self.stopped[missing]}."
        if self.lacking and re.search("NameError|ImportError|ModuleNotFoundError", text):
            yield f"Not installed where this was graded: {', '.join(dict.fromkeys(self.lacking))}."

    def _tell_unchecked(self, name, problem):
        """Report that this machine can't judge the answer, and why."""
        self.tell(unchecked=[name, problem[:MOST_WORDS]])

    def _for_want_of(self, text):
        """A sentence if an exception occurs only because this machine lacks one of the book's
        libraries; otherwise nothing.
        """
        found = re.search(r"(?:NameError:\s+name|No\s+module\s+named)\s+'(\w+)", text)
        if not found or found[1] not in self.not_here:
            return ""
        packages = {found[1], *(package.partition(".")[0] for package in self.lacking)}
        lacking = " and ".join(sorted(packages.intersection(OPTIONAL)))
        return f"it needs {lacking}, which isn't installed where this was graded"

    def _tell_values(self, name, function, by_name=False):
        """What the function returns for each case, so that it can be judged outside."""
        exercise, trusted = self.trusted.exercises[name], self.trusted
        function = trusted.in_order(exercise, function) if by_name else function
        clock = trusted.Clock(exercise.seconds)
        for index, case in enumerate(exercise.all_cases()):
            if not clock.over and not case.left_out and trusted.binds(function, case.args):
                outcome = trusted.call(
                    function, trusted.copy(exercise, case), clock, index, exercise.around
                )
                if values := as_text(outcome):
                    self.tell(value=[name, index, values])


def as_text(outcome):
    """The result of one call, as JSON can hold it: an Answer, what came instead of arrays, or an
    exception.
    """
    if outcome.failure:
        return {
            "kind": outcome.failure.kind[:MOST_WORDS],
            "text": outcome.failure.text[:MOST_WORDS],
        }
    answer = outcome.answer
    if answer.nothing or answer.other:
        return {"nothing": answer.nothing, "other": answer.other[:MOST_WORDS]}
    if sum(piece.values.nbytes for piece in answer.pieces) > MOST_VALUES:
        return None
    pieces = [
        [
            str(piece.values.dtype),
            list(piece.values.shape),
            base64.b64encode(piece.values.tobytes()).decode(),
            piece.dtype,
            piece.holder,
            piece.device,
        ]
        for piece in answer.pieces
    ]
    return {"pieces": pieces, "holder": answer.holder, "wrapped": answer.wrapped}


def _reason(result):
    """What is wrong, if no mistake is named: the paragraph after "not yet"."""
    return " ".join(result.message.split("\n\n")[:2][-1].split())[:300]


def _first_line(source):
    """The line by which a learner knows a cell, which Jupyter gives no lasting number."""
    lines = [line.strip() for line in source.splitlines()]
    return next((line for line in lines if line and not line.startswith("#")), "")[:60]


def described(error):
    try:
        if isinstance(error, SyntaxError) and error.lineno:  # without our own name for the cell
            return f"{type(error).__name__}: {error.msg} (line {error.lineno})"[:200]
        return f"{type(error).__name__}: {error}".rstrip(": ")[:200]
    except BaseException:
        return type(error).__name__


def is_own(function):
    """Whether this may be a learner's answer: callable, and not simply a library's function."""
    if not callable(function):
        return False
    home = getattr(function, "__module__", None) or type(function).__module__
    return str(home).partition(".")[0] not in NOT_THEIRS
