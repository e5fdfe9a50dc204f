"""Runs a learner's function so that an accident in it costs only this call.

`call(function, args, clock)` returns an `Outcome`. It raises only after a real Ctrl-C, and
`GuardFailed` if the guard itself breaks, which is never the learner's mistake. It works in one
process (Jupyter, a terminal, Pyodide), and guards against accidents, not attacks.
"""

import contextlib
import contextvars
import dis
import io
import linecache
import os
import random
import sys
import warnings
from dataclasses import dataclass, replace

import numpy as np

from ..model import Failure
from . import answer, limit
from .answer import Answer, read_answer
from .limit import TimeUp, time_limit
from .surroundings import as_before, little_memory, replaced

BUDGET = 3.0  # seconds for all calls of one check together
PRINTED = 2000  # characters kept of what the learner's function prints
SLOWER = 3 if sys.platform == "emscripten" else 1  # in these a trace function looks at the time
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARIES = (
    "<frozen ",
    *(
        path + os.sep
        for path in (
            os.path.dirname(linecache.__file__),  # in a browser the standard library lies in a zip
            os.path.dirname(os.path.dirname(os.path.abspath(np.__file__))),
            PACKAGE,
            os.path.join(os.path.dirname(PACKAGE), "attnlib"),
        )
    ),
)


class GuardFailed(Exception):
    """The guard that protects the session has failed here, so nothing is known about the answer."""


@dataclass
class Outcome:
    """The result of one call: an answer or a failure, what it printed, whether it made NumPy raise
    exceptions.
    """

    answer: Answer | None = None
    failure: Failure | None = None
    printed: str = ""
    raises: bool = False

    def note_raising(self):
        self.raises = True


class Clock:
    """The seconds left for one check (None: BUDGET); it stops while the engine itself works."""

    def __init__(self, seconds=None):
        self.seconds = self.left = SLOWER * (BUDGET if seconds is None else seconds)

    @property
    def over(self):
        return self.left <= 0


class Captured(io.TextIOBase):
    """Stands in for stdout and stderr; keeps the beginning, forgets the rest."""

    def __init__(self, most=PRINTED):
        self.text, self.most = "", most

    def writable(self):
        return True

    def write(self, text):
        if len(self.text) < self.most:
            self.text += str(text)[: self.most - len(self.text)]
        return len(text)


def call(function, args, clock, seed=0, around=contextlib.nullcontext, silent=False):
    """Call function(*args) and return the outcome; `args` are copies made for this call.

    `silent` keeps its output from even being put together, because text takes memory.
    """
    outcome = Outcome()
    try:
        captured, time_left = Captured(), time_limit(max(clock.left, 0.05))
        with (
            as_before(),
            replaced(function, outcome.note_raising, silent) as function,
            contextlib.redirect_stdout(captured),
            contextlib.redirect_stderr(captured),
            little_memory(),
            around(),
        ):
            warnings.simplefilter("ignore")
            # the global generators start differently at each call and alike in each session
            np.random.seed(seed)
            random.seed(seed)
            with time_left:
                contextvars.copy_context().run(next, _apart(outcome, function, args), None)
    except TimeUp as error:
        outcome.failure = replace(_failure(error), text=f"{clock.seconds:.0f} seconds")
    except MemoryError as error:  # only the learner's function can have taken so much
        outcome.failure = _failure(error)
    except Exception as error:
        raise GuardFailed(_described(error)) from error
    if (
        outcome.failure and outcome.failure.kind == "FloatingPointError"
    ):  # because of a state that the guard did not find
        outcome.note_raising()
    clock.left -= time_left.meter.used
    if time_left.interrupted:
        raise KeyboardInterrupt
    outcome.printed = captured.text
    return outcome


def _apart(outcome, function, args):
    """A generator that runs the function and gives nothing.

    TimeUp and a RecursionError can end a frame between any two of its steps, also where it would
    have said that an exception is dealt with. Such an exception would stay the thread's "current"
    one for ever; a generator keeps its own, so here it disappears with the generator.
    """
    outcome.answer, outcome.failure = _run(function, args)
    return
    yield


def _run(function, args):
    """(answer, failure). Within the limit, as a result's own methods may do anything."""
    try:
        return read_answer(function(*args)), None
    except TimeUp:
        raise
    except BaseException as error:
        if _is_guards(error):
            raise
        return None, _failure(error)


def _is_guards(error):
    """Whether an exception is the guard's own: it comes from one of the guard's lines, and isn't
    one that this line exists for.
    """
    if not isinstance(error, Exception) or isinstance(error, (MemoryError, RecursionError)):
        return False
    *_, last = _frames(error.__traceback__)
    return last.tb_frame.f_code.co_filename in (answer.__file__, limit.__file__)


def _described(error):
    return f"{type(error).__name__}: {error}"[:300]


def call_unguarded(function, args, clock, seed=0, around=None):
    """The same for functions of our own, where nothing has to be kept out: several times faster."""
    outcome = Outcome()
    try:
        with np.errstate(all="ignore"):
            outcome.answer = read_answer(function(*args))
    except Exception as error:
        outcome.failure = _failure(error)
    return outcome


# ---------------------------------------------------------------- an exception as text


def _failure(error):
    if (
        type(error).__name__ == "InterpreterError" and error.__cause__
    ):  # Triton's, around the learner's
        error = error.__cause__
    steps = list(_steps(error.__traceback__))
    own = [step for step in steps if _is_learners(step)]
    try:
        text = str(error)[:300]
    except Exception:
        text = ""
    number, line = _line(own[-1], "truth value" in text or "bitwise_" in text) if own else (0, "")
    stub = len(own) == 1 and own[0] is steps[-1] and _raises(own[0])
    return Failure(type(error).__name__, text, number, line, stub)


def _steps(traceback):
    """The traceback's steps below the guard's own."""
    return (step for step in _frames(traceback) if step.tb_frame.f_code.co_filename != __file__)


def _frames(traceback):
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_learners(step):
    return not step.tb_frame.f_code.co_filename.startswith(LIBRARIES)


def _line(step, whole=False):
    """(number, text) of a step's line, or of all lines of a comparison, where each matters."""
    code, number = step.tb_frame.f_code, step.tb_lineno
    last = number
    if whole:
        first, end, *_ = list(code.co_positions())[step.tb_lasti // 2]
        number, last = first or number, min(end or number, number + 4)
    lines = (linecache.getline(code.co_filename, i).strip() for i in range(number, last + 1))
    return number, " ".join(lines)


def _raises(step):
    """Whether a step is a raise statement."""
    return step.tb_frame.f_code.co_code[step.tb_lasti] == dis.opmap["RAISE_VARARGS"]
