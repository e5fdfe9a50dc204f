"""Reads what was handed in: a notebook's or a script's bytes as the text of its cells. Used inside
the sandbox.
"""

import ast
import functools
import hashlib
import inspect
import json
import re
import textwrap
from difflib import SequenceMatcher
from pathlib import Path

from ..engine.kinds import CALLS
from ..sandbox.statements import UNREADABLE, as_python, is_open, lines

LEAST = 3  # a notebook with one in so many of a chapter's cells is that chapter
SHORT = 40  # nodes of a syntax tree: answers with so few are alike anyway


class Unusable(Exception):
    """Why something cannot be graded, in a sentence for the lecturer."""


def cells(content):
    """The sources of a notebook's code cells."""
    if not content.strip():
        raise Unusable("the file is empty")
    try:
        found = [
            cell["source"] for cell in json.loads(content)["cells"] if cell["cell_type"] == "code"
        ]
        return ["".join(source) for source in found]
    except (ValueError, RecursionError):
        raise Unusable("it is broken: its text is not JSON") from None
    except (KeyError, TypeError):
        raise Unusable("it is not a notebook of format 4") from None


def statements(content):
    """A .py file as cells: cut at the marks of Jupytext, VS Code, Spyder or nbconvert, else one per
    statement.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unusable("its text is not UTF-8") from None
    if not text.strip():
        raise Unusable("the file is empty")
    text = "".join(lines(text))
    parts = re.split(r"^# (?:%%|In ?\[).*$", text, flags=re.MULTILINE)
    return list(map(_from_export, parts)) if len(parts) > 1 else _one_by_one(as_python(text))


def _from_export(cell):
    """nbconvert writes a cell of %%time as get_ipython().run_cell_magic('time', '', 'the cell')."""
    try:
        [node] = ast.parse(cell).body
        if ast.unparse(node.value.func) == "get_ipython().run_cell_magic":
            name, line, body = map(ast.literal_eval, node.value.args)
            return f"%%{name} {line}\n{body}"
    except (*UNREADABLE, TypeError, AttributeError):
        pass
    return cell


def _one_by_one(text):
    """The top-level statements, so that one that fails costs only itself; all in one if the text
    isn't Python.
    """
    try:
        nodes = ast.parse(text).body
    except UNREADABLE:
        return [text]
    first = [
        min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", ()))]) - 1
        for node in nodes
    ]
    text = lines(text)
    return ["".join(text[start:end]) for start, end in zip(first, [*first[1:], len(text)])]


READERS = {".ipynb": cells, ".py": statements}


def defined_in(source):
    return re.findall(r"^def[ \t]+(\w+)", source, re.MULTILINE)


def assigned_in(source):
    return re.findall(r"^(\w+)[ \t]*=(?!=)", source, re.MULTILINE)


def checked_in(source):
    """(name of an exercise, text of the function) of each check in a cell."""
    return re.findall(r"\bcheck\([ \t]*[\"'](\w+)[\"'][ \t]*,[ \t]*(\w+)", source)


def problems_in(source, answered=False):
    """The names of the problems that a cell asks for or answers; only answered ones on request."""
    calls = rf"\b(?:{'|'.join(CALLS)})\(\s*(?:name\s*=\s*)?[\"'](\w+)[\"']"
    return re.findall(calls + r"\s*," * answered, source)


# ---------------------------------------------------------------- the book's own cells


def mark(source):
    """A short number for the text of a cell."""
    return hashlib.sha256(source.strip().encode("utf-8", "replace")).hexdigest()[:16]


@functools.cache
def chapters():
    """{chapter: [(mark, names that it leaves open) of each code cell]}, if the chapters are here.

    They are beside the package in a clone, but pip doesn't install them.
    """
    found = {}
    for path in sorted(Path(__file__).resolve().parents[3].glob("chapters/*.ipynb")):
        found[path.stem] = [
            (mark(source), left_open(source)) for source in cells(path.read_bytes())
        ]
    return found


def left_open(source):
    """The functions in a cell whose body is only `...`: those that a learner should write."""
    try:
        nodes = ast.parse(as_python(source)).body
    except UNREADABLE:
        return []
    return [node.name for node in nodes if isinstance(node, ast.FunctionDef) and is_open(node)]


def books_own(sources, known):
    """(numbers of the cells that stand as their chapter gives them, what the learner wrote in such
    words).

    A cell is the chapter's if it stands in its place there: a learner may well write what the book
    says elsewhere. The second part is the names whose open function is gone and which no other cell
    defines.
    """
    marks = [mark(source) for source in sources]
    chapter = max(
        known.values(), key=lambda cells: len({one for one, _ in cells} & set(marks)), default=()
    )
    matcher = SequenceMatcher(None, [one for one, _ in chapter], marks, autojunk=False)
    same = [
        (block.a + n, block.b + n)
        for block in matcher.get_matching_blocks()
        for n in range(block.size)
    ]
    if LEAST * len(same) < len(chapter):
        return set(), set()  # what was handed in isn't a chapter
    own, kept = {number for _, number in same}, {number for number, _ in same}
    gone = {name for n, (_, names) in enumerate(chapter) if n not in kept for name in names}
    others = (source for number, source in enumerate(sources) if number not in own)
    return own, gone.difference(*map(defined_in, others))


def needed(sources, own, names=()):
    """{number of a cell of the book's own: its statements that checks, these names and the other
    cells rest on}.

    What a chapter shows, trains or starts takes time, but no answer needs it.
    """
    trees, wanted = {}, {"os", "sys", *names}
    for number, source in enumerate(sources):
        try:
            trees[number] = ast.parse(as_python(source)).body
        except UNREADABLE:
            trees[number] = []
        for node in trees[number] if number not in own else ():
            wanted |= _uses(node)
    kept = {number: [] for number in own}
    for number in sorted(trees, reverse=True):
        for node in reversed(trees[number]) if number in own else ():
            imports = isinstance(node, (ast.Import, ast.ImportFrom))
            if imports or _is_check(node) or _binds(node) & wanted or "environ" in ast.dump(node):
                wanted |= _uses(node)
                kept[number].insert(0, node)
    return kept


def _uses(node):
    """The names that a statement looks up; for a function those that it doesn't define itself."""
    found = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    own = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    if isinstance(node, ast.FunctionDef):
        own |= {one.id for one in found if isinstance(one.ctx, ast.Store)}
    return {one.id for one in found if isinstance(one.ctx, ast.Load)} - own


def _binds(node):
    """The names that a statement gives or changes: x, and x of x[0] = 1 and of x.a = 1."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    stored = [one for one in ast.walk(node) if isinstance(getattr(one, "ctx", None), ast.Store)]
    return {name.id for one in stored for name in ast.walk(one) if isinstance(name, ast.Name)}


def bound_by(node):
    """The names that an import gives."""
    return {alias.asname or alias.name.partition(".")[0] for alias in node.names}


def definitions(nodes):
    """The statements that a notebook needs for its answers; everything else that a cell does is
    left out.
    """
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return [node for node in nodes if isinstance(node, kinds) or _is_check(node)]


def _is_check(node):
    call = getattr(node, "value", None)
    return (
        isinstance(node, ast.Expr)
        and isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in ("check", *CALLS)
    )


# ---------------------------------------------------------------- alike except for names


class Renamed(ast.NodeTransformer):
    """Replaces the names of a function's arguments and variables by numbers, and drops notes and
    docstrings.
    """

    def __init__(self, own):
        self.own = {name: f"v{number}" for number, name in enumerate(own)}

    def visit_Name(self, node):
        return ast.copy_location(ast.Name(self.own.get(node.id, node.id), ast.Load()), node)

    def visit_arg(self, node):
        return ast.arg(self.own.get(node.arg, node.arg))

    def visit_FunctionDef(self, node):
        node.name, node.returns = self.own.get(node.name, node.name), None
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)


def fingerprint(function):
    """A number that functions share if only names, notes and spaces differ; "" for short ones."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        if sum(1 for _ in ast.walk(tree)) < SHORT:
            return ""
        text = ast.dump(Renamed(_own_names(tree)).visit(tree))
        return hashlib.sha256(text.encode()).hexdigest()[:16]
    except Exception:
        return ""


def _own_names(tree):
    """The names that a function gives, in the order of its text."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.FunctionDef)):
            found.append((node.lineno, node.col_offset, getattr(node, "arg", None) or node.name))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append((node.lineno, node.col_offset, node.id))
    return dict.fromkeys(name for _, _, name in sorted(found))
