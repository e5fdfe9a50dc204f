"""What a page asks of Python: check an answer, run a cell, ask a model. Runs in Pyodide, and in
CPython for the tests.

Cells come as the texts in the page, edited or not. A check begins with only those statements above
that the answer needs; Run continues one session, in order, as a notebook does.
"""

import ast
import contextlib
import copy
import io
import json
import sys
import traceback
import types
from pathlib import Path

import numpy as np

from attncourse.exercises import grade
from attncourse.exercises.sandbox.call import Captured
from attncourse.exercises.sandbox.statements import IMPORTS, futures, remember, run

LIBRARY = ("attncourse", "attnlib", "numpy")
PROGRESS = "attention-progress.json"  # where attncourse.language.answer_files looks
LONGEST = 20_000  # characters of what a cell prints
NOT_HERE = "(A page has no {}: cells that need it run in Colab.)"


def without_figures():
    """Replaces attncourse.plot: Matplotlib would be 10 MB more, and the page already has its
    pictures.
    """
    plot = types.ModuleType("attncourse.plot")
    plot.__getattr__ = lambda name: lambda *args, **kwargs: None
    sys.modules["attncourse.plot"] = plot
    sys.modules["attncourse"].plot = plot


# ---------------------------------------------------------------- what must stay as it is


class Untouched:
    """What the loaded modules hold now, to be compared with what they hold later.

    Everything counts for libraries, but only callables for Python itself, which has counters.
    """

    def __init__(self):
        self.parts, self.arrays, self.known = [], [], {"__main__"}
        self._take_new()

    def _take_new(self):
        for name, module in list(sys.modules.items()):
            if isinstance(module, types.ModuleType) and name not in self.known:
                self.known.add(name)
                self._take(vars(module), name)

    def _take(self, names, module):
        is_ours = module.partition(".")[0] in LIBRARY
        kept = {
            name: value
            for name, value in list(names.items())
            if is_ours or callable(value) and name != "_"
        }
        self.parts.append((names, kept))
        for value in kept.values() if is_ours else ():
            if type(value) is np.ndarray:
                self.arrays.append((value, value.tobytes()))
            if isinstance(value, type) and value.__module__ == module:
                self._take(vars(value), module)

    def has_changed(self):
        self._take_new()  # the exercises' own modules come with the first check
        return any(
            names.get(name) is not value
            for names, kept in self.parts
            for name, value in kept.items()
        ) or any(array.tobytes() != before for array, before in self.arrays)


def settings():
    return repr((np.geterr(), np.get_printoptions(), sys.getrecursionlimit()))


# ---------------------------------------------------------------- what an answer needs


def statements(cells):
    """The top-level statements of the cells; a cell that isn't Python has none."""
    for cell in cells:
        with contextlib.suppress(SyntaxError):
            yield from ast.parse(cell).body


def binds(statement):
    """The names that a statement defines at the top level."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, IMPORTS):
        return {alias.asname or alias.name.split(".")[0] for alias in statement.names}
    return {
        name
        for node in ast.walk(statement)
        if isinstance(getattr(node, "ctx", None), ast.Store)
        for name in uses(node)
    }  # also x of x[0] = 1


def uses(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def needed(answer, cells):
    """The statements of the cells above that the answer needs, in order."""
    wanted, chosen = uses(answer), []
    for statement in reversed(list(statements(cells))):
        if binds(statement) & wanted or getattr(statement, "module", "") == "__future__":
            chosen.append(statement)
            wanted |= uses(statement)
    return chosen[::-1]


def rests_on_nothing(source, cells):
    """Whether a cell imports something, and takes no name from the cells above."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return False
    own = {name for part in tree.body if isinstance(part, IMPORTS) for name in binds(part)}
    above = {name for part in statements(cells) for name in binds(part)}
    return bool(own) and not (uses(tree) - own) & above


# ---------------------------------------------------------------- running


def space_for(answer, cells):
    """The names that the cells above define for an answer, without those that fail."""
    space = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for statement in needed(answer, cells):
            with contextlib.suppress(Exception):
                run(statement, space, "<a cell above>")
    return space


def own_lines(error, name):
    """The error as Python shows it, with only the learner's steps."""
    steps = [s for s in traceback.extract_tb(error.__traceback__) if s.filename == name]
    where = [f"Line {s.lineno}: {s.line}\n" for s in steps[-1:]]
    lines = traceback.format_exception_only(error)
    if isinstance(error, SyntaxError) and error.lineno:
        where, lines = [f"Line {error.lineno} is not Python.\n"], lines[1:]
    return "".join(where + lines).rstrip()


def check(name, source, cells):
    """What grade says about the answer in the text: its message, status and mistakes."""
    before, found = settings(), _checked(name, source, cells)
    found["restart"] |= settings() != before
    return found


def _checked(name, source, cells):
    file = f"<{name}>"
    remember(file, source)
    printed = Captured()
    try:
        tree = ast.parse(source, file)
        space = space_for(tree, cells)
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, file, "exec", futures(space), dont_inherit=True), space)
    except BaseException as error:
        return result(f"{name}: not yet.\n\n{own_lines(error, file)}", "error")
    if name not in space:
        return result(
            f"{name}: not checked. No function is called {name} here: keep the line that "
            f"begins with def {name}(...).",
            "error",
        )
    found = grade(name, space[name])
    return result(printed.text + found.message, found.status, found.mistakes)


def result(message, status, mistakes=()):
    return {
        "message": message,
        "status": status,
        "mistakes": list(mistakes),
        "restart": needs_restart(message, mistakes),
    }


def needs_restart(message, mistakes):
    """Whether the interpreter may be damaged: in a browser a recursion or an exit may leave it
    unusable.
    """
    return "endless loop" in mistakes or any(
        word in message
        for word in ("RecursionError", "MemoryError", "SystemExit", "exit()", "KeyboardInterrupt")
    )


class Session:
    """The cells that have run, in order, and the names that they have left."""

    def __init__(self):
        self.handed, self.assembled = None, {}
        self.forget()

    def forget(self):
        self.space, self.ran, self.missing = {"__name__": "__main__"}, [], set()

    def hand_over(self, answers):
        """The reader's answers from other pages, as the file that the book's first page saves, so
        that a cell that collects answers finds it. If they have changed, all cells run again.
        """
        if answers != self.handed:
            Path(PROGRESS).write_text(answers, encoding="utf-8")
            self.handed, self.assembled = answers, {}
            self.forget()

    def model(self, wish):
        """What the trained model does with these answers: its steps, and what was asked for.

        wish, as JSON: `text` to go on with and to show the map of, or `seed` of a text to write;
        `anyway` to use answers that give other numbers too.
        """
        from attncourse.language import answer_files, answers  # only such a page has the model

        wish = json.loads(wish)
        anyway = bool(wish.get("anyway"))
        if anyway not in self.assembled:
            mine = answer_files.collect()
            self.assembled[anyway] = answers.assemble(mine, [*mine] if anyway else [])
        model = self.assembled[anyway]
        found = {"message": "", "restart": False}
        if "seed" in wish:
            found["written"] = model.write(wish.get("text", ""), wish["seed"])
        else:
            words, weights = model.looks_at(wish["text"])
            found["answer"] = model.go_on(wish["text"])
            found["weights"] = [round(float(weight), 3) for weight in weights]
        found["steps"] = [
            {"name": part.step.name, "yours": part.is_yours, "why": part.why}
            for part in model.parts.values()
        ]
        return found

    def run(self, cells, announce=lambda text: None):
        """Run the last of the cells, after those above that have not run as they stand now. A cell
        that imports everything it uses, as a problem's cell does, waits for none of them.
        """
        above = cells[:-1]
        if above and rests_on_nothing(cells[-1], above):
            text = Session().one(len(above), cells[-1])
            return {"message": text, "restart": needs_restart(text, ())}
        if self.ran[: len(above)] != above[: len(self.ran)]:  # one of them was edited since
            self.forget()
        for number in range(len(self.ran), len(above)):
            announce(f"cell {number + 1} of {len(above)}")
            self.prepare(number, above[number])
        text = self.one(len(above), cells[-1])
        self.ran = cells
        return {"message": text, "restart": needs_restart(text, ())}

    def one(self, number, source):
        """What the cell prints, and the value of its last line."""
        file, printed = f"<cell {number + 1}>", Captured(LONGEST)
        remember(file, source)
        try:
            body = ast.parse(source, file).body
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                for statement in body:
                    self.step(statement, file, statement is body[-1])
        except BaseException as error:
            because = (
                f"\n{NOT_HERE.format(' and '.join(sorted(self.missing)))}" if self.missing else ""
            )
            return printed.text + own_lines(error, file) + because
        return printed.text

    def prepare(self, number, source):
        """Run a cell for the cells below it, and ignore what fails in it, for example because torch
        is missing.
        """
        file = f"<cell {number + 1}>"
        remember(file, source)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for statement in statements([source]):
                with contextlib.suppress(Exception):
                    self.step(statement, file, False)

    def step(self, statement, file, last):
        if isinstance(statement, IMPORTS):
            return self.take(statement, file)
        if not (last and isinstance(statement, ast.Expr)):
            return run(statement, self.space, file)
        code = compile(
            ast.Expression(statement.value), file, "eval", futures(self.space), dont_inherit=True
        )
        value = eval(code, self.space)
        if value is not None:
            print(repr(value))

    def take(self, statement, file):
        """Import what a page has, because one import cell often names torch beside NumPy."""
        for alias in statement.names:
            alone = copy.copy(statement)
            alone.names = [alias]
            try:
                run(alone, self.space, file)
            except ModuleNotFoundError as error:
                self.missing.add(error.name.split(".")[0])
