"""Runs a learner's function so that an accident in it costs this call alone.

`call(function, args, clock)` returns an `Outcome`; it never raises, except for a real Ctrl-C. It
works in one process (Jupyter, a terminal, Pyodide), and guards against accidents, not attacks.
"""

import contextlib
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
from .answer import Answer, read_answer
from .limit import TimeUp, time_limit
from .surroundings import as_before, little_memory, replaced

BUDGET = 3.0  # seconds for all calls of one check together
PRINTED = 2000  # characters kept of what the learner's function prints
SLOWER = 3 if sys.platform == "emscripten" else 1  # there a trace function looks at the time
LIBRARIES = ("<frozen ", *(path + os.sep for path in (
    os.path.dirname(linecache.__file__),  # in a browser the standard library lies in a zip
    os.path.dirname(os.path.dirname(os.path.abspath(np.__file__))),
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))))


@dataclass
class Outcome:
    """What one call gave: an answer or a failure, what it printed, whether it had NumPy raise exceptions."""

    answer: Answer | None = None
    failure: Failure | None = None
    printed: str = ""
    raises: bool = False

    def note_raising(self):
        self.raises = True


class Clock:
    """The seconds left to one check; stands still while the engine itself works."""

    def __init__(self, seconds=BUDGET):
        self.seconds = self.left = SLOWER * seconds

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
    """Call function(*args) and say what came of it; `args` are copies made for this call.

    `silent` keeps what it prints from being put together at all: text takes memory.
    """
    outcome, captured, limit = Outcome(), Captured(), time_limit(max(clock.left, 0.05))
    try:
        with (as_before(), replaced(function, outcome.note_raising, silent), contextlib.redirect_stdout(captured),
              contextlib.redirect_stderr(captured), little_memory(), around()):
            warnings.simplefilter("ignore")
            # the global generators start differently at each call and alike in each session
            np.random.seed(seed)
            random.seed(seed)
            with limit:
                outcome.answer, outcome.failure = _run(function, args)
    except TimeUp as error:
        outcome.failure = replace(_failure(error), text=f"{clock.seconds:.0f} seconds")
    except Exception as error:  # of what is around the call, and ends with it
        outcome.failure = _failure(error)
    clock.left -= limit.meter.used
    if limit.interrupted:
        raise KeyboardInterrupt
    outcome.printed = captured.text
    return outcome


def _run(function, args):
    """(answer, failure). Within the limit, as a result's own methods may do anything."""
    try:
        return read_answer(function(*args)), None
    except TimeUp:
        raise
    except BaseException as error:
        return None, _failure(error)


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
    if type(error).__name__ == "InterpreterError" and error.__cause__:  # Triton's, around the learner's
        error = error.__cause__
    steps = list(_steps(error.__traceback__))
    own = [step for step in steps if _is_learners(step)]
    number, line = _line(own[-1]) if own else (0, "")
    try:
        text = str(error)[:300]
    except Exception:
        text = ""
    stub = len(own) == 1 and own[0] is steps[-1] and _raises(own[0])
    return Failure(type(error).__name__, text, number, line, stub)


def _steps(traceback):
    """The traceback's steps below the guard's own."""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename != __file__:
            yield traceback
        traceback = traceback.tb_next


def _is_learners(step):
    return not step.tb_frame.f_code.co_filename.startswith(LIBRARIES)


def _line(step):
    """(number, text) of a step's line."""
    name, number = step.tb_frame.f_code.co_filename, step.tb_lineno
    return number, linecache.getline(name, number).strip()


def _raises(step):
    """Whether a step is a raise statement."""
    return step.tb_frame.f_code.co_code[step.tb_lasti] == dis.opmap["RAISE_VARARGS"]
