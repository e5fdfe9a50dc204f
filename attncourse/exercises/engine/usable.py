"""What can be said about a learner's function before its values: whether it can be called, how, and
what its code names.
"""

import ast
import difflib
import dis
import inspect
import re
import textwrap
import types

from ..sandbox.call import call
from .find import exercises
from .running import learners_copy


class NotGiven:
    """The default that no learner passes; the reference shows it as `...`."""

    def __repr__(self):
        return "..."


NOT_GIVEN = NotGiven()


def usable_name(name):
    """The exercise of this name, or a sentence."""
    known = exercises()
    if isinstance(name, str) and name in known:
        return known[name], ""
    if not isinstance(name, str):
        return (
            None,
            (
                'The first argument is the name of an exercise in quotes, as in '
                'check("softmax", softmax).'
            ),
        )
    close = difflib.get_close_matches(name, known, 3, 0.5)
    did = f" Did you mean {' or '.join(close)}?" if close else " status() lists them all."
    return None, f'There is no exercise called "{name}".{did}'


def unusable_function(exercise, function):
    """A sentence if this cannot be called as an answer, else ''."""
    usage = f'check("{exercise.name}", {exercise.name})'
    if function is NOT_GIVEN:
        return f"The second argument is missing: your function, as in {usage}."
    if str(type(function).__module__).startswith("triton."):
        return (
            "The second argument is the kernel itself. Pass the Python function that makes the"
            f" output, launches the kernel with kernel[grid](...), and returns the output: {usage}."
        )
    if callable(function):
        return ""
    kind = type(function).__name__
    if isinstance(function, str):
        return f"The second argument must be your function, without quotes: {usage}."
    return (
        f"The second argument is an object of type {kind}. Pass the function itself, without "
        f"calling it: {usage}, with no brackets after the second name."
    )


def binds(function, args):
    """Whether the function takes these arguments; True if its signature cannot be read."""
    try:
        inspect.signature(function).bind(*args)
    except TypeError:
        return False
    except Exception:
        return True
    return True


def wrong_parameters(exercise, function):
    try:
        yours = str(inspect.signature(function))
    except Exception:
        yours = "something else"
    return (
        f"The function must take {exercise.signature}, but yours takes {yours}, so it wasn't "
        "called."
    )


def permutation(exercise, function):
    """The order of the function's parameters in the signature, if the function has them in another
    order."""
    try:
        yours = tuple(inspect.signature(function).parameters)
    except Exception:
        return None
    wanted = exercise.parameters
    if yours == wanted or sorted(yours) != sorted(wanted):
        return None
    return [wanted.index(name) for name in yours]


def in_order(exercise, function):
    """The function, to be called with the signature's arguments in the signature's order."""
    order = permutation(exercise, function)
    return (lambda *args: function(*[args[i] for i in order])) if order else function


def lacks_default(exercise, function):
    """Whether the function takes all arguments, but doesn't work without the optional one."""
    full = [
        case.args for case in exercise.all_cases() if len(case.args) == len(exercise.parameters)
    ]
    return (
        bool(exercise.optional) and binds(function, full[0]) and not binds(function, full[0][:-1])
    )


def with_default(exercise, function):
    """The function with the signature's default; its text is still the learner's."""
    name, default = exercise.optional

    def filled(*args, **named):
        return (
            function(*args, **named)
            if name in named
            else function(*args, *[default][len(args) - missing :])
        )

    missing = len(exercise.parameters) - 1
    filled.__wrapped__ = function
    filled.__signature__ = inspect.Signature(
        [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)]
    )
    return filled


def refuses_name(exercise, function, seen, clock):
    """Whether the optional argument is taken by position but not by its name."""
    if not exercise.optional:
        return False
    one = next((s for s in seen if len(s.case.args) == len(exercise.parameters) and s.values), None)
    if one is None:
        return False

    def by_name(*args):
        return function(*args[:-1], **{exercise.optional[0]: args[-1]})

    failure = call(by_name, learners_copy(exercise, one.case), clock).failure
    return bool(failure) and failure.kind == "TypeError" and "argument" in failure.text


IDLE = {
    "RESUME",
    "NOP",
    "CACHE",
    "LOAD_CONST",
    "RETURN_CONST",
    "RETURN_VALUE",
    "STORE_FAST",
    "LOAD_FAST",
    "LOAD_FAST_BORROW",
    "LOAD_FAST_CHECK",
    "POP_TOP",
    "LOAD_SMALL_INT",
    "NOT_TAKEN",
    "MAKE_CELL",
    "COPY_FREE_VARS",
}


def does_nothing(function):
    """Whether a function's code computes nothing: pass, ..., or names set to constants."""
    try:
        code = getattr(inspect.unwrap(function), "__code__", None)
    except Exception:  # an object of the learner's own class may do anything
        return False
    return isinstance(code, types.CodeType) and all(
        step.opname in IDLE for step in dis.get_instructions(code)
    )


def not_attempted(function, seen):
    if seen.failure:
        return seen.failure.kind == "NotImplementedError" and seen.failure.stub
    if seen.other in ("Ellipsis", "NotImplemented"):
        return True
    return seen.other == "None" and does_nothing(function) and not seen.printed


# a narrower dtype, by its names in NumPy and torch; the rest are attributes or only texts
NARROW, SHORTER = {"float16", "float32"}, {"half", "single", "float", "f2", "f4"}


def source(function):
    """The learner's function as text, or '' if it cannot be read."""
    try:
        return inspect.getsource(function)
    except Exception:
        return ""


def returns_something(code):
    """Whether a function's own return line holds a call, whose result it gives back."""
    try:
        tree = ast.parse(textwrap.dedent(code))
    except SyntaxError:
        return False
    inner = {
        part
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function not in tree.body
        for part in ast.walk(function)
    }
    return any(
        isinstance(node, ast.Return) and isinstance(node.value, ast.Call) and node not in inner
        for node in ast.walk(tree)
    )


def writes_inf(code):
    """Whether code names -inf other than as a bound with which something is compared."""
    minus_inf = r"(-\s*((np|math|numpy)\.)?inf\b|float\(.-inf.\))"
    bounds = re.findall(rf"^\s*(\w+) = .*{minus_inf}", code, re.MULTILINE)
    for name in (found[0] for found in bounds):
        if re.search(rf"[<>]=? *{name}\b|\b{name} *[<>]", code):
            code = re.sub(rf"^\s*{name} = .*$", "", code, flags=re.MULTILINE)
    return re.search(rf"(?<![<>] )(?<![<>=]= ){minus_inf}", code) is not None


def narrows(function):
    """Whether a function's code names a narrower dtype, other than to compare one with it."""
    try:
        tree = ast.parse(textwrap.dedent(source(function)))
    except SyntaxError:  # a lambda in the middle of something
        return False
    aside = set()
    for node in ast.walk(tree):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, ast.Compare):
            aside.update(ast.walk(node))
        for notes in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            aside.update(ast.walk(notes) if notes else ())
    return any(_names_a_narrow_dtype(node) for node in ast.walk(tree) if node not in aside)


def _names_a_narrow_dtype(node):
    if isinstance(node, ast.Attribute):
        return node.attr in NARROW | SHORTER
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.lstrip("<>=|") in NARROW | SHORTER - {"float"}
    return isinstance(node, ast.Name) and node.id in NARROW


def draws_numbers(code):
    """Whether a function's code draws random numbers."""
    return bool(names_in(code) & {"random", "default_rng", "randn", "RandomState"})


def names_in(code):
    """The names and attributes that a function's code uses."""
    try:
        tree = ast.parse(textwrap.dedent(code))
    except SyntaxError:  # a lambda in the middle of something
        return set()
    return {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(tree)}
