"""A reader's answers, from the notebooks in a folder and from a file with the page's progress.

Of a notebook, only the functions that answer an exercise are run, with the imports, functions and
constants that they name, within the limits of `check`.
"""

from __future__ import annotations

import ast
import contextlib
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

import attnlib
from attncourse.exercises.sandbox.call import Clock, call
from attncourse.exercises.sandbox.statements import IMPORTS, as_python, futures, is_open, remember
from attncourse.language.answers import STEPS

PROGRESS = "attention-progress*.json"  # what the book's first page saves; a page hands one over


class Found(dict):
    """{exercise: function}, with `problems`: {exercise: why its answer could not be defined}."""

    def __init__(self):
        super().__init__()
        self.problems: dict[str, str] = {}


def collect(folder: str | Path = ".") -> Found:
    """The answers to the model's steps in the notebooks of this folder and in a saved progress.

    The notebook of an exercise's own chapter comes first, then the progress, then other notebooks.
    """
    folder, found = Path(folder), Found()
    notebooks = [_of_notebook(path) for path in sorted(folder.glob("*.ipynb"))]
    saved = [_of_progress(path) for path in sorted(folder.glob(PROGRESS))]
    for step in STEPS:
        chapter = f"{step.chapter:02}_"
        own = [one for one in notebooks if one.name.startswith(chapter)]
        others = [one for one in notebooks if one not in own]
        for source in [*own, *saved, *others]:
            if place := source.place_of(step.name):
                function, problem = source.define(step.name, *place)
                if function is None:
                    found.problems.setdefault(step.name, problem)
                else:
                    found[step.name] = function
                    found.problems.pop(step.name, None)
                    break
            elif problem := source.lacks(step.name):
                found.problems.setdefault(step.name, problem)
    return found


class Source:
    """The statements of a file's cells."""

    texts: dict[str, str]  # the statements that should answer an exercise

    def __init__(self, name: str, cells: list[str], texts=None):
        self.name, self.cells, self.texts, self.nodes = name, cells, texts or {}, []
        for number, cell in enumerate(cells):
            text = as_python(cell)
            with contextlib.suppress(SyntaxError, ValueError):
                self.nodes += [(number, text, node) for node in ast.parse(text).body]

    def place_of(self, exercise: str):
        """(number of the last statement that answers it, the function's name there), or None."""
        names = {exercise, *self._handed(exercise)}
        for place in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[place][2]
            if isinstance(node, ast.FunctionDef) and node.name in names and not is_open(node):
                return place, node.name
        return None

    def lacks(self, exercise: str) -> str:
        """Why a text that should answer the exercise defines no such function; "" if there is no
        text."""
        text = self.texts.get(exercise, "")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError) as error:
            return f"line {getattr(error, 'lineno', 1)} is not Python"
        stubs = (isinstance(node, ast.FunctionDef) and is_open(node) for node in tree.body)
        return "" if not text or any(stubs) else f"no function is called {exercise}"

    def _handed(self, exercise):
        """The functions that the cells hand to check for this exercise."""
        pattern = rf"\bcheck\([ \t]*[\"']{exercise}[\"'],[ \t]*(\w+)"
        return {name for cell in self.cells for name in re.findall(pattern, cell)}

    def define(self, exercise: str, place: int, name: str) -> tuple[Callable | None, str]:
        """(the function, "") or (None, why it could not be defined)."""
        space = {"__name__": "__main__", "np": np, "math": math, "attnlib": attnlib}

        def run():
            for number, text, node in self._needed(place):
                file = f"<{self.name}, cell {number + 1}>"
                remember(file, text)
                lost = ModuleNotFoundError if isinstance(node, IMPORTS) else ()
                with contextlib.suppress(lost):
                    tree = ast.Module([node], [])
                    exec(compile(tree, file, "exec", futures(space), dont_inherit=True), space)

        failure = call(run, [], Clock()).failure
        if failure:
            return None, f"{failure.kind}: {failure.text}"
        return space[name], ""

    def _needed(self, place):
        """The answer's statement, and the statements that it needs: imports, functions and
        constants."""
        wanted, chosen = _uses(self.nodes[place][2]), [self.nodes[place]]
        for entry in self.nodes[place - 1 :: -1] if place else ():
            node = entry[2]
            if _binds(node) & wanted or getattr(node, "module", "") == "__future__":
                chosen.append(entry)
                wanted |= _uses(node)
        return chosen[::-1]


def _of_notebook(path):
    cells = []
    with contextlib.suppress(ValueError, KeyError, TypeError, OSError):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    return Source(path.name, cells)


def _of_progress(path):
    """The page's answers, in the order of the book: a later one may call an earlier one."""
    typed = {}
    with contextlib.suppress(ValueError, KeyError, TypeError, OSError):
        typed = dict(json.loads(path.read_text(encoding="utf-8"))["typed"])
    order = [step.name for step in sorted(STEPS, key=lambda step: step.chapter)]
    texts = {name: typed[name] for name in order if isinstance(typed.get(name), str)}
    return Source(path.name, [*texts.values()], texts)


def _uses(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _binds(node):
    """The names that a statement defines, if it is a kind that is run: nothing is computed."""
    if isinstance(node, ast.FunctionDef):
        return set() if is_open(node) else {node.name}
    if isinstance(node, IMPORTS):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign) and not _calls(node.value):
        return {
            one.id
            for target in node.targets
            for one in ast.walk(target)
            if isinstance(one, ast.Name)
        }
    return set()


def _calls(tree):
    return any(isinstance(one, (ast.Call, ast.Await)) for one in ast.walk(tree))
