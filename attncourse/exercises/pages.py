"""An exercise as a function and a page: NAME.py holds the reference and the cases, NAME.md every
sentence.

entries/README.md describes the pages; the reference's part is reference.py.
"""

import ast
import functools
import importlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .model import Exercise, Mistake
from .reference import Reference, Wrong

FAMILIES = Path(__file__).parent / "families"
CODE = r"`[^`]+`"
WAY = rf"(?:{CODE}|as in \w+|again with {CODE}|at \*[^*]+\*|an audit)"
ITEM = re.compile(
    rf"\*\*(?P<name>.+?)\*\*(?P<alone> \(never in pairs\))?: (?P<ways>{WAY}(?:, {WAY})*)(?::"
    r" (?P<does>.+))?"
)
TAKEN = re.compile(
    r"(?:(?P<all>all of )|from )(?P<family>\w+)(?P<alone> \(never in pairs\))?(?P<first> \(first"
    r" variants\))?"
    rf"(?: \(again with (?P<again>{CODE})\))?"
    r"(?:(?: except |: )(?P<names>.+?))?\.?"
)
NAMED = re.compile(rf"\*(.+?)\*(?: also ({CODE}(?:, {CODE})*))?(?:, (?=\*)|$)")
REASON = re.compile(r"(?P<why>.+?\.) \*(?P<ask>[A-Z].*\?)\*(?P<alone> \(never in pairs\))?")
REPEATED = re.compile(r"(?P<code>.+) for (?P<names>\w+(?:, \w+)*) in (?P<values>.+)")
ANY = re.compile(r"(?P<code>.+) for any (?P<name>\w+)(?: if (?P<suits>.+))?")


@dataclass(frozen=True)
class Item:
    """A mistake as it stands on a page."""

    name: str
    ways: tuple  # (line, the names that it may use)
    does: str
    why: str
    ask: str
    where: str  # the file and the line
    never_in_pairs: bool = False
    aspect: str = ""
    audit: bool = False


class Later(Sequence):
    """A sequence that is made at its first use."""

    def __init__(self, make):
        self.make = make

    @functools.cached_property
    def made(self):
        return tuple(self.make())

    def __len__(self):
        return len(self.made)

    def __iter__(self):
        return iter(self.made)

    def __getitem__(self, i):
        return self.made[i]


def written(function, file=None, **fields):
    """The Exercise made of a reference and of the page beside its file, or beside another file."""
    reference = Reference(function)
    path = Path(file or reference.path).with_suffix(".md")
    text, hints = opening(path)
    items = items_of(path, reference.scope)
    fields["audits"] = tuple(Audit(audit, items) for audit in fields.get("audits", ()))
    fields["aspects"] = {
        **fields.get("aspects", {}),
        **{i.aspect: mistake_of(replace(i, ways=()), None) for i in items if i.aspect},
    }
    usual = [item for item in items if item.ways]
    return Exercise(
        name=path.stem,
        signature=str(reference.signature),
        answer=reference.answer,
        steps=reference.steps,
        text=text,
        hints=hints,
        mistakes=Later(lambda: [mistake_of(i, reference) for i in usual if "{" not in i.name]),
        fitted=Later(
            lambda: [functools.partial(fitted, i, reference) for i in usual if "{" in i.name]
        ),
        **fields,
    )


class Audit:
    """An audit of the entry, which may name a mistake of the page instead of giving one."""

    def __init__(self, function, items):
        self.function, self.items = function, items
        self.__globals__, self.__code__ = function.__globals__, function.__code__

    @functools.cached_property
    def mistakes(self):
        """The mistakes on the page that audits name."""
        return tuple(mistake_of(item, None) for item in self.items if item.audit)

    def __call__(self, run):
        found = self.function(run)
        return (
            next((m for m in self.mistakes if m.name == found), found)
            if isinstance(found, str)
            else found
        )


# ---------------------------------------------------------------- a page's blocks


def opening(path):
    """(what the exercise asks for, its hints) of a page."""
    text, hints = [], []
    for section, _number, block in blocks(path):
        if section == "Hints":
            hints.append(block.removeprefix("1. "))
        elif not section and not block.startswith("# "):
            text.append(block)
    return " ".join(text), tuple(hints)


@functools.cache
def blocks(path):
    """(section, line number, text) of each paragraph and item; lines of one are joined."""
    found, section, fresh = [], "", True
    for number, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if row.startswith("## "):
            section, fresh = row[3:].strip(), True
        elif not row.strip():
            fresh = True
        elif fresh or row.startswith(("- ", "1. ", "# ")):
            found.append([section, number, row.strip()])
            fresh = row.startswith("# ")
        elif found[-1][2].startswith("- ") and not row.startswith(" "):
            raise Wrong(
                f"{path.parent.name}/{path.name}:{number}: a reason stands after an empty line, and"
                " an item's further lines are indented"
            )
        else:
            found[-1][2] += " " + row.strip()
    return found


@functools.cache
def family_items(name):
    path = FAMILIES / f"{name}.md"
    if not path.exists():
        raise Wrong(f"there is no page families/{name}.md")
    try:
        scope = vars(importlib.import_module(f"{__package__}.families.{name}"))
    except ModuleNotFoundError:
        scope = {}
    return items_of(path, {"np": np, "math": math, **scope})


def items_of(path, scope):
    """The items of a page, including those that it takes from families, in order."""
    found, reason = [], None
    for section, number, block in blocks(path):
        if section != "Mistakes":
            continue
        where = f"{path.parent.name}/{path.name}:{number}"
        try:
            if not block.startswith("- "):
                reason = REASON.fullmatch(block)
                if reason is None:
                    raise Wrong(
                        "a reason ends with its question in stars: why it is a mistake. *What leads"
                        " out of it?*"
                    )
            elif block.startswith("- **"):
                found.append(own_item(block[2:], reason, scope, where))
            else:
                found += taken(block[2:])
        except Wrong as error:
            raise Wrong(f"{where}: {error}") from None
    names = [item.name for item in found]
    for name in names:
        if names.count(name) > 1:
            raise Wrong(f'{path.parent.name}/{path.name}: "{name}" stands there twice')
    return tuple(found)


def own_item(block, reason, scope, where):
    item = ITEM.fullmatch(block)
    if item is None:
        raise Wrong("an item reads: - **name**: `changed line`, `another`: What the answer does.")
    ways, does, more = [], item["does"], {}
    for way in re.findall(WAY, item["ways"]):
        if way.startswith("`"):
            ways.append((way.strip("`"), scope))
        elif way.startswith("as in "):
            family = named(way.removeprefix("as in "), item["name"])
            ways += family.ways
            does = does or family.does
        elif way.startswith("again with "):
            ways += added(ways, way.removeprefix("again with "))
        elif way.startswith("at "):
            more["aspect"] = way[4:-1]
        else:
            more["audit"] = True
    if not does:
        raise Wrong(f'"{item["name"]}" does not say what the answer does')
    if reason is None:
        raise Wrong(f'"{item["name"]}" has no reason above it')
    alone = bool(item["alone"] or reason["alone"])
    return Item(item["name"], tuple(ways), does, reason["why"], reason["ask"], where, alone, **more)


def added(ways, code):
    """The lines of a mistake, each with another line behind it."""
    return [
        (f"{head}; {code.strip('`')}{tail}", scope)
        for line, scope in ways
        for head, tail in [parted(line)]
    ]


def parted(line):
    """("x = x * c", " for c in ...") of a line."""
    free = ANY.fullmatch(line)
    code = unrolled(free["code"] if free else line)[0]
    return code, line[len(code) :]


def named(family, name):
    for item in family_items(family):
        if item.name == name:
            return item
    raise Wrong(f'families/{family}.md has no mistake called "{name}"')


def taken(block):
    """The items of "all of softmax except *a*, *b*" or "from softmax: *a*, *b* also `line`"."""
    match = TAKEN.fullmatch(block)
    if match is None or not (match["all"] or match["names"]):
        raise Wrong(
            "a list reads: - all of softmax except *a*, *b*   or: - from softmax: *a*, *b* also"
            " `line`"
        )
    chosen = NAMED.findall(match["names"] or "")
    if NAMED.sub("", match["names"] or ""):
        raise Wrong(
            f'names stand in stars, with commas between them: "{NAMED.sub("", match["names"])}" is'
            ' left over'
        )
    items = {name: named(match["family"], name) for name, more in chosen}
    if match["all"]:
        found = [item for item in family_items(match["family"]) if item.name not in items]
    else:
        found = [
            replace(
                items[name],
                ways=(
                    *items[name].ways[: 1 if match["first"] else None],
                    *((line, None) for line in re.findall("`([^`]+)`", more)),
                ),
            )
            for name, more in chosen
        ]
    if match["again"]:
        found = [
            replace(item, ways=(*item.ways, *added(item.ways, match["again"]))) for item in found
        ]
    return [
        replace(item, never_in_pairs=item.never_in_pairs or bool(match["alone"])) for item in found
    ]


# ---------------------------------------------------------------- an item's mistake


def mistake_of(item, reference):
    """The Mistake of an item; an item without lines asks nothing of the reference."""
    try:
        changes, numbers = [], []
        for line, scope in item.ways:
            scope = scope or reference.scope
            free = ANY.fullmatch(line)
            if free:
                numbers.append(functools.partial(suited, free, scope, reference))
            else:
                changes += variants(line, scope, reference)
    except Wrong as error:
        raise Wrong(f"{item.where}: {item.name}: {error}") from None
    return Mistake(
        item.name,
        does=item.does,
        why=item.why,
        ask=item.ask,
        change=tuple(changes),
        never_in_pairs=item.never_in_pairs,
        numbers=(
            (lambda found: [change for make in numbers for change in make(found)])
            if numbers
            else None
        ),
    )


def variants(line, scope, reference, numbers=None):
    """The changes of a line, one for each of the values that it is repeated for."""
    code, repeats = unrolled(line)
    bound = [dict(numbers or {})]
    for names, values in repeats:
        bound = [
            {**one, **dict(zip(names, value if len(names) > 1 else (value,)))}
            for one in bound
            for value in eval(values, scope, one)
        ]
    try:
        return [reference.change(code, scope, one) for one in bound]
    except SyntaxError:
        raise Wrong(f'"{code}" is no Python') from None


@functools.cache
def unrolled(line):
    """(code, [(names, values)]) of "code for names in values for ...": each repetition stands after
    those it may use.
    """
    match = REPEATED.fullmatch(line)
    if match and is_python(match["values"]):
        code, outer = unrolled(match["code"])
        if is_python(code, "exec"):
            return code, [*outer, (match["names"].split(", "), match["values"])]
    return line, []


def is_python(text, mode="eval"):
    try:
        ast.parse(text, mode=mode)
    except SyntaxError:
        return False
    return True


def suited(free, scope, reference, numbers):
    """The variants of "line for any c if ..." for those numbers that suit."""
    suits = eval(f"lambda {free['name']}: {free['suits'] or True}", scope)
    return [
        change
        for number in numbers
        if suits(number)
        for change in variants(free["code"], scope, reference, {free["name"]: number})
    ]


def fitted(item, reference, number):
    """The Mistake of an item with a number in its name, read off an answer: {c} is the number."""
    changes = []
    for line, scope in item.ways:
        free, scope = ANY.fullmatch(line), scope or reference.scope
        if free is None:
            raise Wrong(
                f'{item.where}: each line of a mistake with a number in its name ends with "for'
                ' any c"'
            )
        changes += variants(free["code"], scope, reference, {free["name"]: number})

    def filled(text):
        return re.sub(
            r"\{([^{}]+)\}", lambda found: told(eval(found[1], scope, {free["name"]: number})), text
        )

    return Mistake(
        filled(item.name), does=filled(item.does), why=item.why, ask=item.ask, change=tuple(changes)
    )


def told(value):
    return value if isinstance(value, str) else f"{value:.4g}"
