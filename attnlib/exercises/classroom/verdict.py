"""Whether an answer is right: the grader's own process compares the values that came out of the sandbox."""

import base64
import math
import threading
from dataclasses import dataclass

import numpy as np

from ..engine.explain import explain
from ..engine.find import exercises
from ..engine.report import matches
from ..engine.running import run_case
from ..sandbox.answer import WIDTHS, Answer, Piece
from ..sandbox.call import Clock, Outcome

DTYPES = {str(np.dtype(name)) for name in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g")}
HOLDERS = ("array", "number", "list", "tuple", "tensor", "matrix")
UNTRUE = "It called itself correct, but the values that it returned are not."
MOST_PIECES, MOST_AXES = 32, 8  # more than any exercise's cases have; the engine tries orders of axes
ONE_AT_A_TIME = threading.Lock()  # the engine keeps what it has computed


@dataclass
class Verdict:
    """What an answer gets: its status, and how many of its cases are right."""

    status: str
    passed: int
    cases: int
    mistakes: tuple
    note: str
    message: str

    @property
    def share(self):
        """Of the points. An answer that is not correct lacks one case at least, whatever its values."""
        return 1.0 if self.status == "correct" else max(min(self.passed, self.cases - 1), 0) / self.cases


def judged(name, told, values):
    """The Verdict on what a notebook told of an exercise, by the values that it returned."""
    exercise = exercises()[name]
    with ONE_AT_A_TIME, np.errstate(all="ignore"):
        seen = _seen(exercise, values)
        passed = sum(matches(exercise, one) and not one.marks for one in seen)
        right = passed == len(seen) and told.status == "correct" and _right(exercise, seen)
    verdict = Verdict(told.status, passed, len(seen), told.mistakes, told.note, told.message)
    if told.status == "correct" and not right:
        verdict.status, verdict.note, verdict.message = "incorrect", UNTRUE, f"{name}: not yet. {UNTRUE}"
    if "ready-made function" in told.mistakes or verdict.status == "not attempted":
        verdict.passed = 0
    return verdict


def _seen(exercise, values):
    return [run_case(exercise, None, case, i, Clock(), 0, lambda *unused: Outcome(answer=answer(values.get(i))))
            for i, case in enumerate(exercise.all_cases()) if case.device == "cpu" and not case.unless()]


def _right(exercise, seen):
    finding = explain(exercise, seen)
    return finding.correct and not finding.generic


def answer(told):
    """The Answer that notebook.as_text has put into text; None for anything that it would not write."""
    try:
        pieces, holder, wrapped = told
        if len(pieces) <= MOST_PIECES and holder in ("", "tuple", "list") and wrapped in ("", "tuple", "list"):
            return Answer(pieces=tuple(_piece(*piece) for piece in pieces), holder=holder, wrapped=wrapped)
    except (TypeError, ValueError, OverflowError):
        pass
    return None


def _piece(dtype, shape, values, came_as, holder, device):
    if dtype not in DTYPES or came_as not in WIDTHS.keys() | DTYPES or holder not in HOLDERS:
        raise ValueError("no array of numbers")
    if device not in ("", "cpu") or len(shape) > MOST_AXES or any(type(n) is not int or n < 0 for n in shape):
        raise ValueError("no shape on the CPU")
    numbers = np.frombuffer(base64.b64decode(values, validate=True), dtype)
    if math.prod(shape) != numbers.size:
        raise ValueError("the shape is another one")
    return Piece(numbers.reshape(shape).copy(), came_as, holder, device)
