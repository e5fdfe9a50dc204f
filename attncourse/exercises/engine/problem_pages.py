"""The pages of the problems that come as text, a wrong program or the lines of a proof:
entries/cNN_subject/KIND_NAME.md. entries/README.md describes them.
"""

import difflib
import functools
import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import entries
from .message import wrap

SHOWN = 12  # numbers of an array that a message shows
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """A page as it was read: what its first lines set, its opening, and its sections."""

    name: str
    path: Path
    settings: dict
    text: str
    sections: dict

    @property
    def chapter(self):
        return int(self.path.parent.name[1:3])

    def code(self, title):
        """The listing of a section."""
        return BLOCK.search(self.section(title))[1]

    def section(self, title):
        if title not in self.sections:
            raise ValueError(f"{self.path.name} has no section called {title}")
        return self.sections[title]

    def prose(self, title):
        """A section's sentences on one line."""
        return " ".join(self.section(title).split())

    def items(self, title):
        """The items of a section's list, each on one line."""
        found = re.split(r"^- ", self.sections.get(title, ""), flags=re.MULTILINE)[1:]
        return [" ".join(item.split()) for item in found]

    def defined(self, *titles):
        """What the listings of these sections define when they are run one after another."""
        space = {"np": np, "math": math}
        for title in titles:
            exec(compile(self.code(title), str(self.path), "exec"), space)
        return space


@dataclass(frozen=True)
class Judged:
    """What becomes of a call of a problem. `shown` is what its answer has come to, as Outcomes of
    plain numbers: from them, marking judges it once more where no answer is run.
    """

    status: str  # as in Grade; "not attempted" if the call only asks for the problem
    text: str  # what the call prints
    shown: tuple = ()


@functools.cache
def pages(kind):
    """{name: page} of the problems of a kind, such as "break", in the order of the book."""
    paths = sorted(Path(entries.__path__[0]).glob(f"c*/{kind}_*.md"))
    found = [read(path, path.stem.removeprefix(f"{kind}_")) for path in paths]
    return {page.name: page for page in found}


def read(path, name):
    _, settings, body = re.split(r"^---\n", path.read_text("utf-8"), maxsplit=2, flags=re.MULTILINE)
    opening, *parts = re.split(r"^## (.+)\n", body, flags=re.MULTILINE)
    title, _, text = opening.strip().partition("\n")
    if title != f"# {name}":
        raise ValueError(f"{path.name} must begin with # {name}; got {title}")
    return Page(
        name,
        path,
        dict(line.split(": ", 1) for line in settings.splitlines()),
        " ".join(text.split()),
        dict(zip(parts[::2], parts[1::2])),
    )


# ---------------------------------------------------------------- what all kinds say


def unknown(name, known, call):
    """What becomes of a call if no problem has this name, else None."""
    if not isinstance(name, str):
        sentence = f"The first argument is the name of a problem, in quotes, as in {call}."
    elif name in known:
        return None
    else:
        close = difflib.get_close_matches(name, known, 2, 0.5)
        did = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(known)}."
        sentence = f'There is no problem called "{name}". {did}'
    return Judged("error", paragraphs(sentence))


def not_tried(name, why):
    """What becomes of a call whose answer can't be tried."""
    return Judged("error", paragraphs(f"{name}: not tried. {why}"))


def numbered(code):
    """A listing with a number before each line."""
    lines = code.rstrip("\n").split("\n")
    return "\n".join(f"{i:4}  {line}".rstrip() for i, line in enumerate(lines, 1))


def paragraphs(*parts):
    """The parts that there are, wrapped, with an empty line between them."""
    return "\n\n".join(wrap(part) for part in parts if part)
