"""Whether an answer is right: the grader's own process compares the values that came out of the
sandbox. It uses the same engine as `check`, so that both say the same about whatever a function
returns.
"""

import base64
import math
import re
import threading
from dataclasses import dataclass

import numpy as np

from ..engine import generic, message
from ..engine.explain import explain
from ..engine.find import exercises
from ..engine.kinds import kinds
from ..engine.report import matches, unexplained
from ..engine.running import choose_terms, run_case
from ..model import (
    FLOAT16,
    FLOAT32,
    HUGE,
    NEARLY,
    NEG_INF,
    ONE_MISTAKE,
    OTHERWISE,
    RIGHT,
    SMALL,
    Failure,
)
from ..sandbox.answer import WIDTHS, Answer, Piece
from ..sandbox.call import Clock, Outcome

DTYPES = {
    str(np.dtype(name))
    for name in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g")
}
HOLDERS = ("array", "number", "list", "tuple", "tensor", "matrix")
UNTRUE = "It called itself correct, but the values that it returned are not."
READY_MADE = "ready-made function"
MOST_PIECES, MOST_AXES = (
    32,
    8,
)  # more than any exercise's cases have; the engine tries orders of axes
MOST_TEXT = 1 << 20  # letters of one answer
ONE_AT_A_TIME = threading.Lock()  # the engine keeps what it has computed

BY_ITSELF = (
    FLOAT16,
    FLOAT32,
    HUGE,
    NEG_INF,
    SMALL,
)  # aspects that only ask for a dtype or an extreme
# mistakes that no value shows: here the notebook has to be believed
UNSEEN = tuple(
    mistake.name
    for mistake in (
        generic.OVERWRITTEN,
        generic.LIST_CHANGED,
        generic.READ_TWICE,
        generic.RAISES,
        generic.ONE_BUFFER,
        generic.RANDOM,
        generic.NO_AXIS,
        generic.RENAMED,
        generic.NO_DEFAULT,
        generic.PARAMETER_ORDER,
    )
)


@dataclass
class Verdict:
    """What an answer gets: its status, its level, and how many of its cases are right. Problems
    have no cases.
    """

    status: str
    level: str
    passed: int
    cases: int
    mistakes: tuple
    note: str
    message: str


def judged(name, told, values):
    """The Verdict on what a notebook told of an answer, by the values that it returned."""
    if name in kinds():
        return _of_a_problem(name, told, values)
    exercise = exercises()[name]
    with ONE_AT_A_TIME, np.errstate(all="ignore"):
        seen = _seen(exercise, values)
        passed = sum(_is_right(exercise, one) for one in seen)
        verdict = Verdict(
            told.status, OTHERWISE, passed, len(seen), told.mistakes, told.note, told.message
        )
        if told.status == "correct" and passed == len(seen) and _explains(exercise, seen) == ():
            verdict.level = RIGHT
        elif told.status == "correct":
            _is_untrue(name, verdict)
        elif READY_MADE not in told.mistakes and told.status != "not attempted":
            verdict.level = _level(exercise, told, seen)
    if READY_MADE in told.mistakes or verdict.status == "not attempted":
        verdict.passed = 0
    return verdict


def _is_untrue(name, verdict):
    verdict.status, verdict.level = "incorrect", OTHERWISE
    verdict.note, verdict.message = UNTRUE, f"{name}: not yet. {UNTRUE}"


def _of_a_problem(name, told, values):
    """The Verdict on the call that answers a problem, by what it has shown."""
    shown = [outcome(values[i]) for i in sorted(values)]
    with ONE_AT_A_TIME, np.errstate(all="ignore"):
        level = kinds()[name].level(name, shown) if shown else OTHERWISE
    verdict = Verdict(told.status, level, 0, 0, (), told.note, told.message)
    if told.status == "correct" and level != RIGHT:
        _is_untrue(name, verdict)
    elif told.status != "correct" and level == RIGHT or told.status == "not attempted":
        verdict.level = OTHERWISE
    return verdict


def _seen(exercise, values):
    seen = [
        run_case(exercise, None, case, i, Clock(), 0, lambda *unused: outcome(values.get(i)))
        for i, case in enumerate(exercise.all_cases())
        if case.device == "cpu" and not case.left_out
    ]
    choose_terms(exercise, seen)
    return seen


def _is_right(exercise, one):
    return matches(exercise, one) and not one.marks


# ---------------------------------------------------------------- levels


def _level(exercise, told, seen):
    """The level of an answer that is not right."""
    unseen = {*UNSEEN, *_audited(exercise)}
    ordinary = [one for one in seen if not (one.case.extreme or one.case.aspect in BY_ITSELF)]
    if (
        ordinary
        and unseen.isdisjoint(told.mistakes)
        and all(_is_right(exercise, one) for one in ordinary)
    ):
        return NEARLY
    [mistake, *others] = told.mistakes or [""]
    returned = [one for one in seen if one.values]
    if not mistake or others or not returned:
        return OTHERWISE
    if mistake in unseen:  # then everything else has to be right
        return ONE_MISTAKE if all(_is_right(exercise, one) for one in returned) else OTHERWISE
    # a list or a dtype that is named beside a wrong value doesn't account for that value
    by_own_numbers = not any(mistake in one.marks for one in seen) and (
        exercise.formula
        or any(known.numbers for known in exercise.mistakes if known.name == mistake)
    )
    return ONE_MISTAKE if by_own_numbers or _explains(exercise, seen) == (mistake,) else OTHERWISE


def _audited(exercise):
    """The names of what an exercise's audits find: too large arrays, blocks that are kept."""
    from ..engine import catalogue

    own = {mistake.name for mistake in exercise.mistakes}
    return {mistake.name for mistake in catalogue.mistakes(exercise)} - own


def _explains(exercise, seen):
    """The names of the mistakes that explain all of these values; None if none do."""
    finding = explain(exercise, seen)
    return None if unexplained(exercise, seen, finding) else message.names(finding)


# ---------------------------------------------------------------- what a notebook reports


def outcome(told):
    """The Outcome that notebook.as_text has put into text; an empty one for anything that it would
    not write.
    """
    try:
        if "kind" in told:
            return Outcome(failure=Failure(_words(told["kind"]), _words(told["text"])))
        return Outcome(answer=answer(told))
    except (TypeError, KeyError, ValueError):
        return Outcome()


def answer(told):
    """The Answer in it; None for anything that as_text would not write."""
    try:
        if "other" in told:
            return (
                Answer(other=_words(told["other"]), nothing=_words(told["nothing"]))
                if told["other"] or told["nothing"]
                else None
            )
        pieces, holder, wrapped = told["pieces"], told["holder"], told["wrapped"]
        if (
            0 < len(pieces) <= MOST_PIECES
            and holder in ("", "tuple", "list")
            and wrapped in ("", "tuple", "list")
        ):
            return Answer(
                pieces=tuple(_piece(*piece) for piece in pieces), holder=holder, wrapped=wrapped
            )
    except (TypeError, KeyError, ValueError, OverflowError):
        pass
    return None


def kept(told):
    """How many letters it takes to keep a reported value; 0 for one that isn't worth keeping."""
    if type(told) is not dict:
        return 0
    words = list(told.values())
    if "pieces" in told:
        pieces = told["pieces"]
        if (
            type(pieces) is not list
            or len(pieces) > MOST_PIECES
            or any(type(piece) is not list for piece in pieces)
        ):
            return 0
        shapes = [piece[1] for piece in pieces if len(piece) == 6]
        if len(shapes) < len(pieces) or any(
            type(shape) is not list or len(shape) > MOST_AXES for shape in shapes
        ):
            return 0
        if any(type(n) is not int for shape in shapes for n in shape):
            return 0
        words = [
            told.get("holder"),
            told.get("wrapped"),
            *(part for piece in pieces for part in [piece[0], *piece[2:]]),
        ]
    if len(told) > 3 or any(type(word) is not str for word in words):
        return 0
    size = sum(map(len, words))
    return size + 1 if size <= MOST_TEXT else 0


def _words(told):
    if type(told) is not str:
        raise TypeError("not a text")
    return told[:300]


def _piece(dtype, shape, values, came_as, holder, device):
    is_words = re.fullmatch(r"<U[1-9]\d?", dtype) and came_as == dtype  # of at most 99 letters
    known = dtype in DTYPES and came_as in WIDTHS.keys() | DTYPES
    if not (known or is_words) or holder not in HOLDERS:
        raise ValueError("no array of numbers or words")
    if (
        device not in ("", "cpu")
        or len(shape) > MOST_AXES
        or any(type(n) is not int or n < 0 for n in shape)
    ):
        raise ValueError("no shape on the CPU")
    numbers = np.frombuffer(base64.b64decode(values, validate=True), dtype)
    if math.prod(shape) != numbers.size:
        raise ValueError("the shape is another one")
    return Piece(numbers.reshape(shape).copy(), came_as, holder, device)
