"""Reads what was handed in: a notebook's or a script's bytes as the text of its cells. Used inside the sandbox."""

import ast
import hashlib
import inspect
import json
import re
import textwrap

MAGIC = r"^([ \t]*)(?:\w+[ \t]*=[ \t]*)?[%!?].*$|^([ \t]*)[\w.]+\?+[ \t]*$"
WHOLE_CELL = ("%%time", "%%timeit", "%%capture", "%%prun")
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
SHORT = 40  # nodes of a syntax tree: answers of so few are alike by themselves


class Unusable(Exception):
    """Why something cannot be graded, in a sentence for the lecturer."""


def cells(content):
    """The sources of a notebook's code cells."""
    if not content.strip():
        raise Unusable("the file is empty")
    try:
        found = [cell["source"] for cell in json.loads(content)["cells"] if cell["cell_type"] == "code"]
        return ["".join(source) for source in found]
    except (ValueError, RecursionError):
        raise Unusable("it is broken: its text is not JSON") from None
    except (KeyError, TypeError):
        raise Unusable("it is not a notebook of format 4") from None


def statements(content):
    """A .py file as cells: at the marks of Jupytext, VS Code, Spyder or nbconvert, else a statement each."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unusable("its text is not UTF-8") from None
    if not text.strip():
        raise Unusable("the file is empty")
    parts = re.split(r"^# (?:%%|In ?\[).*$", text, flags=re.MULTILINE)
    return parts if len(parts) > 1 else _one_by_one(as_python(text))


def _one_by_one(text):
    """The top-level statements, so that one that fails costs itself alone; all in one if the text is no Python."""
    try:
        nodes = ast.parse(text).body
    except UNREADABLE:
        return [text]
    first = [min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", ()))]) - 1 for node in nodes]
    lines = text.splitlines(keepends=True)
    return ["".join(lines[start:end]) for start, end in zip(first, [*first[1:], len(lines)])]


READERS = {".ipynb": cells, ".py": statements}


def as_python(source):
    """The cell without IPython's own lines: %magic, !shell and help?."""
    try:
        compile(source, "<cell>", "exec", dont_inherit=True)
        return source
    except UNREADABLE:
        pass
    lines = source.lstrip("\n").split("\n")
    if lines[0].startswith("%%"):
        if lines[0].split()[0] not in WHOLE_CELL:
            return ""
        lines[0] = ""
    return re.sub(MAGIC, r"\1\2pass", "\n".join(lines), flags=re.MULTILINE)


def defined_in(source):
    return re.findall(r"^def[ \t]+(\w+)", source, re.MULTILINE)


def assigned_in(source):
    return re.findall(r"^(\w+)[ \t]*=(?!=)", source, re.MULTILINE)


def checked_in(source):
    """(name of an exercise, text of the function) of each check in a cell."""
    return re.findall(r"\bcheck\([ \t]*[\"'](\w+)[\"'][ \t]*,[ \t]*(\w+)", source)


def definitions(nodes):
    """The statements that a notebook needs for its answers; whatever else a cell does is left out."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return [node for node in nodes if isinstance(node, kinds) or _is_check(node)]


def _is_check(node):
    call = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(call, ast.Call) and getattr(call.func, "id", "") == "check"


# ---------------------------------------------------------------- alike but for names

class Renamed(ast.NodeTransformer):
    """A function's arguments and variables under numbers instead of names, without notes and docstrings."""

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
    """A number that functions share which differ in names, notes and spaces only; "" for short ones."""
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
