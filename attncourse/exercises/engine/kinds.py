"""The kinds of problem beside the exercises that check takes, as marking uses them.

A kind consists of what a notebook calls, its problems by name, `judged`, which says what becomes of
a call, and `level`, which says from what the call has shown how much the answer is worth. A new
kind is one more line in KINDS.
"""

import functools
from dataclasses import dataclass

from . import achieving, breaking, ordering, repairing
from .find import exercises


@dataclass(frozen=True)
class Kind:
    call: object  # (name, *answer, **named), which only prints
    problems: object  # () -> {name: a problem with its page}
    judged: object  # (name, *answer, **named) -> Judged
    level: object  # (name, what Judged.shown holds) -> a level, such as RIGHT


KINDS = (
    Kind(achieving.achieve, achieving.marked, achieving.judged, achieving.level),
    Kind(breaking.expose, breaking.problems, breaking.judged, breaking.level),
    Kind(repairing.repair, repairing.listings, repairing.judged, repairing.level),
    Kind(ordering.order, ordering.proofs, ordering.judged, ordering.level),
)
CALLS = tuple(kind.call.__name__ for kind in KINDS)


@functools.cache
def kinds():
    """{name of a problem: its kind}."""
    return {name: kind for kind in KINDS for name in kind.problems()}


@functools.cache
def tasks():
    """{name: the name of the call that takes an answer to it}, for exercises and problems in the
    order of the book; within a chapter, the exercises come first.
    """
    chapters = {name: exercise.chapter for name, exercise in exercises().items()}
    calls = dict.fromkeys(chapters, "check")
    for name, kind in kinds().items():
        chapters[name] = kind.problems()[name].page.chapter
        calls[name] = kind.call.__name__
    return {name: calls[name] for name in sorted(calls, key=chapters.get)}
