"""The catalogue of mistakes: a page of the book for each part, made from the exercises' pages when
it is built.

chapters/mistakes has a file for each, with its heading and the place where the rest is put
(book/editions.py).
"""

import re

from ..model import Mistake
from . import generic, ready
from .find import exercises

ANYWHERE = (
    generic.leaks("float64"),
    generic.fixed_dtype("float32"),
    ready.ready_made("attnlib's own", True),
    *(mistake for mistake in vars(generic).values() if isinstance(mistake, Mistake)),
)
INTRODUCTION = (
    "What goes wrong in the exercises of this part: what the answer does, why that is a mistake,"
    " and the question that leads out of it. `check` recognises each of them, and most pairs of"
    " them."
)
CLOSING = (
    "An answer that none of these explains is compared with plain changes of the arguments, of the"
    " steps and of the answer itself: one squared, negated, shifted, transposed, without its last"
    " key, times a number. If one of them gives exactly what was returned, `check` says which it"
    " is; if none does, it describes what it sees."
)


def body(part):
    """The page of one part below its heading. A mistake is explained where it first occurs, and
    only named afterwards.
    """
    first, lines = {}, []
    for exercise in exercises().values():
        known = {m: first[key(m)] for m in mistakes(exercise) if key(m) in first}
        first.update((key(m), exercise) for m in mistakes(exercise) if m not in known)
        if exercise.part == part:
            lines += section(exercise, known)
    opening = [INTRODUCTION, ""]
    if part == "Raw scores":
        lines += ["## In any exercise", "", *entries(ANYWHERE), ""]
    return "\n".join([*opening, *lines, "## Anything else", "", CLOSING, ""])


def mistakes(exercise):
    """The mistakes of its entries, and those that its audits name."""
    named = [
        audit.__globals__.get(name) for audit in exercise.audits for name in audit.__code__.co_names
    ]
    named += [
        mistake for audit in exercise.audits[:1] for mistake in getattr(audit, "mistakes", ())
    ]
    listed = {key(mistake) for mistake in ANYWHERE}
    return [
        *exercise.mistakes,
        *(m for m in named if isinstance(m, Mistake) and key(m) not in listed),
    ]


def key(mistake):
    return mistake.name, mistake.why


def file_of(part):
    """The name of a part's page: gpu.md for "On the GPU"."""
    return re.sub("^(on )?(the )?", "", part.lower()).replace(" ", "_") + ".md"


def section(exercise, known):
    lines = [
        f"## {escaped(exercise.name)}",
        "",
        f"`{exercise.name}{exercise.signature}`: {escaped(exercise.text)}",
        "",
    ]
    lines += entries(mistake for mistake in mistakes(exercise) if mistake not in known)
    for earlier in dict.fromkeys(known.values()):
        names = "; ".join(
            escaped(mistake.name) for mistake, where in known.items() if where is earlier
        )
        lines += ["", f"As in `{earlier.name}`: {names}."]
    return [*lines, ""]


def entries(mistakes):
    """A line for each mistake; mistakes with the same reason and the same question share them."""
    alike = {}
    for mistake in mistakes:
        alike.setdefault((mistake.why, mistake.ask), []).append(mistake)
    for (why, ask), group in alike.items():
        told = " ".join(
            f"**{escaped(mistake.name)}**: {escaped(mistake.does)}" for mistake in group
        )
        yield f"- {told} *Why:* {escaped(why)} *Ask:* {escaped(ask)}"


def escaped(text):
    """Plain text as Markdown: its stars, underscores and brackets aren't markup."""
    return re.sub(r"([\\*_<\[\]`$])", r"\\\1", text)
