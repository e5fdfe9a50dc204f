"""A reference written as a plain function: each of its assignments is a step that a mistake may
replace.

The function is compiled anew so that every `x = expression` asks the step "x" for its value, with
everything that is known at that line, and then the step "x after", which leaves the value as it is
unless a mistake changes it.
"""

import ast
import builtins
import copy
import functools
import inspect
import itertools
import math
import re
from pathlib import Path

import numpy as np

from .model import Step

MADE = re.compile(r"#: (?P<phrase>.*?)(?P<one_a_row> \(one per row\))?$")
AFTER = "{} after"
RETURN_KNOWN = "return {name: value for name, value in locals().items() if name[-2:] != '__'}"


class Wrong(ValueError):
    """What is wrong with a reference or a page, with the file and the line."""


class Line:
    """The right side of an assignment: a function of what is known by then, compiled when it is
    first called.
    """

    def __init__(self, expression, reads, scope, numbers=(), part=None):
        self.expression, self.scope, self.part, self.run = expression, scope, part, None
        self.numbers = dict(numbers)  # the constants that the line is repeated for
        self.reads = tuple(name for name in reads if name not in self.numbers)

    def __call__(self, known):
        if self.run is None:
            self.run = eval(
                compiled(source_of(self.expression), (*self.reads, *self.numbers)), self.scope
            )
        made = self.run(*[known[name] for name in self.reads], **self.numbers)
        return made if self.part is None else made[self.part]

    def reading(self, **changes):
        """The line with changes of what it reads: {name: function of its value}."""
        return lambda known: self(
            {**known, **{name: change(known[name]) for name, change in changes.items()}}
        )


source_of = functools.cache(ast.unparse)  # of a node, which is parsed once


@functools.cache
def compiled(source, parameters):
    return compile(f"lambda {', '.join(parameters)}: ({source})", f"<{source}>", "eval")


@functools.cache
def names_read(tree):
    """The names in an expression that it does not bind itself, in order."""
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.arg))]
    own = {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in found
        if isinstance(node, ast.arg) or not isinstance(node.ctx, ast.Load)
    }
    return tuple(
        dict.fromkeys(
            node.id for node in found if isinstance(node, ast.Name) and node.id not in own
        )
    )


def side(statement):
    """(names, expression) of `a = ...`, `a, b = ...`, `a += ...`, `return ...`; None for anything
    else.
    """
    if isinstance(statement, ast.Return) and statement.value:
        return ("return",), statement.value
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        old = ast.Name(statement.target.id, ast.Load())
        return (old.id,), ast.BinOp(old, statement.op, statement.value)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        if all(isinstance(part, ast.Name) for part in parts):
            return tuple(part.id for part in parts), statement.value
    return None


def call_of(step):
    """The call of a step with everything that is known by then."""
    steps, known = ast.Name("steps__", ast.Load()), ast.Call(ast.Name("locals", ast.Load()), [], [])
    return ast.Call(ast.Subscript(steps, ast.Constant(step), ast.Load()), [known], [])


def may_write(node):
    """Whether a node of a function changes an array or a list where it is, or might."""
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return isinstance(node, (ast.FunctionDef, ast.Global, ast.Nonlocal))


def shareable(value):
    """Whether a value can be shared: nobody can change it. An array is made read-only for that."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
        return not value.dtype.hasobject
    if isinstance(value, tuple):
        return all(map(shareable, value))
    return value is None or isinstance(value, (bool, int, float, str, np.generic))


def single(statement):
    """The assignments to one target each of "a = b = ..."."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [ast.Assign([target], statement.value, lineno=0) for target in targets] or [statement]


@functools.cache
def assignments(code):
    """The assignments to one target each that a page's line consists of."""
    return [part for statement in ast.parse(code).body for part in single(statement)]


def own_rows(path, first):
    """The rows of the function that begins in this line."""
    rows = path.read_text(encoding="utf-8").splitlines()[first - 1 :]
    end = next(
        (i for i, row in enumerate(rows) if i and row and not row[0].isspace() and row[0] != ")"),
        len(rows),
    )
    return rows[:end]


class Reference:
    """The steps of a reference, and the function of them and the arguments that the engine
    calls.
    """

    def __init__(self, function):
        self.path = Path(function.__code__.co_filename)
        self.signature = inspect.signature(function)
        self.arguments, self.globals = tuple(self.signature.parameters), function.__globals__
        self.functions = {}  # of parts of it, with the steps in them that are changed
        self.rows, self.first = (
            own_rows(self.path, function.__code__.co_firstlineno),
            function.__code__.co_firstlineno,
        )
        (self.tree,) = ast.parse("\n".join(self.rows)).body
        self.steps, self.known, self.owner, self.places = (
            {},
            {},
            {},
            {},
        )  # {step: function}, {step: names}, {name: its step}, {step: the statement it is in}
        seen = {*self.arguments, "dtype"}
        for name in self.arguments:
            self.steps[name], self.known[name], self.owner[name] = self.as_it_is(name), seen, name
        seen = set(seen)
        for place, statement in enumerate(self.tree.body):
            self._statements([statement], seen)
            for step in self.steps.keys() - self.places.keys() - {*self.arguments}:
                self.places[step] = place
        for name in self.owner.keys() - {*self.arguments}:
            self.places[AFTER.format(name)] = self.places[self.owner[name]]

    @functools.cached_property
    def scope(self):
        """What a page's lines may use besides the reference's names."""
        return {"np": np, "math": math, **self.globals}

    def as_it_is(self, name):
        return lambda known: known[name]

    def _statements(self, body, seen):
        for node in body:
            if isinstance(
                node, (ast.For, ast.While)
            ):  # what a loop makes is known in the whole loop
                seen |= {
                    name.id
                    for name in ast.walk(node)
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
                }
            if side(node):
                names, value = side(node)
                self._step(node, names, value, frozenset(seen))
                seen |= set(names)
            for part in ("body", "orelse"):
                self._statements(
                    getattr(node, part, ()) if not isinstance(node, ast.FunctionDef) else (), seen
                )

    def _step(self, node, names, value, seen):
        step = ", ".join(names)
        for name in (
            {step, *names} & set(self.steps) if len(names) == 1 else {step} & set(self.steps)
        ):
            raise Wrong(
                f"{self.path.name}:{self.first + node.lineno - 1}: {name} is made twice in"
                f" {self.tree.name}, and a page could not tell which line it means: give one of the"
                " two another name, or make it in a tuple"
            )
        made = MADE.search(self.rows[node.end_lineno - 1])
        reads = [name for name in names_read(value) if name in seen]
        line = Line(value, reads, self.globals)
        self.steps[step] = Step(line, made["phrase"], bool(made["one_a_row"])) if made else line
        self.known[step] = seen
        for name in names if step != "return" else ():
            if step == name or name not in self.owner:  # of two lines the one that makes only this
                self.owner[name] = step
            self.steps[AFTER.format(name)] = self.as_it_is(name)
            self.known[AFTER.format(name)] = seen | set(names)

    def reads_itself(self, step):
        line = self.steps[step].run if isinstance(self.steps[step], Step) else self.steps[step]
        return isinstance(line, Line) and step in line.reads

    def answer(self, changes, dtype, *args):
        """What the function returns with these changed steps, {step: function}; the others run as
        they stand.
        """
        return self._function(frozenset(changes))(changes, dtype, *args)

    def place(self, changes):
        """The first statement that these changes touch; 0 if they touch the arguments or all."""
        return min(self.places.get(step, 0) for step in changes)

    def known_before(self, place, changes, dtype, *args):
        """What is known before a statement, {name: value}; None if it can't be used twice."""
        if place > self.straight:
            return None
        others = frozenset(step for step in changes if self.places.get(step, 0) < place)
        known = self._function(others, place)(changes, dtype, *args)
        return known if all(map(shareable, known.values())) else None

    def go_on(self, place, changes, known):
        """What the function returns if it goes on at a statement with what is known by then."""
        others = frozenset(step for step in changes if self.places.get(step, 0) >= place)
        return self._function(others, None, place, tuple(known))(changes, **known)

    @functools.cached_property
    def straight(self):
        """How many statements come before the first that may return; 0 if one of them all changes
        an array or a list where it is, or might.
        """
        nodes = [list(ast.walk(statement)) for statement in self.tree.body]
        if any(map(may_write, itertools.chain(*nodes))):
            return 0
        returns = [any(isinstance(node, ast.Return) for node in walked) for walked in nodes]
        return returns.index(True)

    def _function(self, others, end=None, start=0, known=()):
        """The function that calls these other steps, from one statement to another. It takes the
        changed steps, and the dtype and the arguments or, from a later statement, what is known.
        """
        if (others, end, start, known) not in self.functions:
            self.functions[others, end, start, known] = self._made(others, end, start, known)
        return self.functions[others, end, start, known]

    def _made(self, others, end, start, known):
        function = copy.copy(self.tree)
        function.args = copy.copy(self.tree.args)
        if start:
            function.args.args = [ast.arg(name) for name in ("steps__", *known)]
            function.args.defaults, before = [], []
        else:
            function.args.args = [ast.arg("steps__"), ast.arg("dtype__"), *self.tree.args.args]
            taken = [name for name in self.arguments if name in others]
            before = [
                *["dtype = dtype__"] * ("dtype" not in self.arguments),
                *["given__ = dict(locals())"] * bool(taken),
                *(f"{name} = steps__['{name}'](given__)" for name in taken),
            ]
        after = [] if end is None else [RETURN_KNOWN]
        function.body = [
            *ast.parse("\n".join(before)).body,
            *self._stepwise(self.tree.body[start:end], others),
            *ast.parse("\n".join(after)).body,
        ]
        found = {}
        module = ast.fix_missing_locations(ast.Module([function], []))
        exec(compile(module, f"<{self.tree.name} in steps>", "exec"), self.globals, found)
        return found[self.tree.name]

    def _stepwise(self, body, others):
        """The statements; one that another step replaces becomes the call of that step."""
        found = []
        for node in body:
            if side(node):
                names, value = side(node)
                step = ", ".join(names)
                made = call_of(step) if step in others else value
                if step == "return":
                    found.append(ast.Return(made))
                    continue
                targets = [ast.Name(name, ast.Store()) for name in names]
                found.append(
                    ast.Assign(
                        targets if len(names) == 1 else [ast.Tuple(targets, ast.Store())], made
                    )
                )
                found += [
                    ast.Assign([ast.Name(name, ast.Store())], call_of(AFTER.format(name)))
                    for name in names
                    if self.owner[name] == step and AFTER.format(name) in others
                ]
                continue
            if not isinstance(node, ast.FunctionDef):
                parts = [part for part in ("body", "orelse") if getattr(node, part, None)]
                node = copy.copy(node) if parts else node
                for part in parts:
                    setattr(node, part, self._stepwise(getattr(node, part), others))
            found.append(node)
        return found

    def change(self, code, scope, numbers=()):
        """{step: function} of a page's line, such as "w = swap(weights)" or "powers = scores;
        return powers".
        """
        found = {}
        for statement in assignments(code):
            if side(statement) is None:
                raise Wrong(f'"{ast.unparse(statement)}" is neither "name = ..." nor "return ..."')
            names, value = side(statement)
            for step, line in self._changes(names, value, scope, dict(numbers)):
                if step in found:
                    raise Wrong(f'"{code}" changes {step} twice')
                found[step] = line
        return found

    def _changes(self, names, value, scope, numbers):
        step, reads = ", ".join(names), names_read(value)
        whole = step == "answer" and step not in self.steps
        if (
            step in self.steps
            and step not in self.arguments
            and step in reads
            and not self.reads_itself(step)
        ):
            step = AFTER.format(step)  # made of itself: what comes after the line
        elif step not in self.steps and step in self.owner:
            step = AFTER.format(step)
        split = step not in self.steps and set(names) <= set(self.arguments)
        if not (step in self.steps or split or whole):
            raise Wrong(
                f'{self.tree.name} has no line that makes "{step}"; it makes'
                f' {", ".join(self.makes())}'
            )
        known = set(self.arguments) if whole or split else self.known[step]
        for name in reads:
            if (
                name not in known
                and name not in numbers
                and name not in scope
                and not hasattr(builtins, name)
            ):
                later = " yet" if name in self.owner else ""
                raise Wrong(f'"{name}" is not known{later} where {self.tree.name} makes "{step}"')
        reads = [name for name in reads if name in known or name in numbers]
        if whole:
            line = Line(value, reads, scope, numbers)
            return [("answer", lambda *args: line(self._bound(args)))]
        if split:
            return [(name, Line(value, reads, scope, numbers, i)) for i, name in enumerate(names)]
        return [(step, Line(value, reads, scope, numbers))]

    def _bound(self, args):
        given = self.signature.bind(*args)
        given.apply_defaults()
        return given.arguments

    def makes(self):
        return [step for step in self.steps if not step.endswith(" after")]
