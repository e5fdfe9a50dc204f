"""Runs a learner's function so that nothing it does outlasts the call.

`call(function, args, clock)` returns an `Outcome`; it never raises, except for a real Ctrl-C.
It works in one process (Jupyter, a terminal, Pyodide): a timer signal ends endless loops where
signals exist, a trace function where they do not, and both raise again at every further step, so
that no handler outlasts them; global state is copied before the call and put back after it;
functions that would end the process are replaced while the call lasts.

What neither signal nor trace gets into goes on until it ends by itself: one call of compiled code
that never looks for signals (a sum over range(10**12), one einsum of hours), and where there are no
signals (Pyodide, a thread) any compiled call, a wait for a lock among them.
"""

import builtins
import contextlib
import dis
import functools
import gc
import io
import itertools
import linecache
import math
import operator
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from _signal import getsignal  # signal's own makes an enum of each answer, in ten times the time
from dataclasses import dataclass, field, replace
from time import monotonic, process_time  # a learner's function may replace those in the module

import numpy as np

from .replaced import LIBRARIES, TimeUp, little_memory, shut_doors
from ..model import Failure
from .answer import Answer, read_answer

BUDGET = 3.0  # seconds for all calls of one check together
PRINTED = 2000  # characters kept of what the learner's function prints
# the guard's own hold on what is shut while a learner's function runs
_set_recursion_limit, _handle = sys.setrecursionlimit, signal.signal
_setitimer, _send = getattr(signal, "setitimer", None), getattr(signal, "pthread_kill", None)


@dataclass
class Outcome:
    """What one call gave: an answer or a failure, what it printed, which arguments it changed."""

    answer: Answer | None = None
    failure: Failure | None = None
    printed: str = ""
    overwritten: tuple = ()
    notes: set = field(default_factory=set)


class Clock:
    """The seconds left to one check; stands still while the engine itself works."""

    def __init__(self, seconds=BUDGET):
        self.seconds = self.left = seconds

    @property
    def over(self):
        return self.left <= 0


class Captured(io.TextIOBase):
    """Stands in for stdout and stderr; keeps the beginning, forgets the rest."""

    def __init__(self):
        self.text = ""

    def writable(self):
        return True

    def write(self, text):
        if len(self.text) < PRINTED:
            self.text += str(text)[: PRINTED - len(self.text)]
        return len(text)


# ---------------------------------------------------------------- global state

MODULES = (np, np.linalg, np.random, math, os, random, time, builtins, sys, signal, itertools, shutil, subprocess,
           threading)
OWN = __name__.partition(".")[0]


def _own_modules():
    return [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == OWN]


class State:
    """A copy of the global state that a learner's function might change."""

    def __init__(self):
        self.modules = [(module, dict(vars(module))) for module in (*MODULES, *_own_modules())]
        self.numpy_random = np.random.get_state(legacy=False)
        self.random = random.getstate()
        self.environ = dict(os.environ)
        self.directory = _directory()
        self.streams = sys.stdin, sys.stdout, sys.stderr
        self.lists = [(each, list(each)) for each in (sys.path, sys.meta_path, sys.path_hooks)]
        self.handlers = _handlers()
        self.garbage = gc.isenabled(), gc.get_threshold(), sys.getswitchinterval()
        self.recursion = sys.getrecursionlimit()
        self.print_options = np.get_printoptions()
        self.hooks = sys.gettrace(), sys.getprofile(), sys.excepthook, sys.displayhook
        self.torch = _torch_state()

    def restore(self):
        for module, before in self.modules:
            _restore_module(module, before)
        np.random.set_state(self.numpy_random)
        random.setstate(self.random)
        if dict(os.environ) != self.environ:
            os.environ.clear()
            os.environ.update(self.environ)
        if self.directory and _directory() != self.directory:
            os.chdir(self.directory)
        sys.stdin, sys.stdout, sys.stderr = self.streams
        for each, entries in self.lists:
            each[:] = entries
        self._restore_handlers()
        sys.setrecursionlimit(self.recursion)
        np.set_printoptions(**self.print_options)
        self._restore_hooks()
        _restore_torch(self.torch)

    def _restore_hooks(self):
        trace, profile, sys.excepthook, sys.displayhook = self.hooks
        if sys.gettrace() is not trace:
            sys.settrace(trace)
        if sys.getprofile() is not profile:
            sys.setprofile(profile)


    def _restore_handlers(self):
        enabled, threshold, interval = self.garbage
        (gc.enable if enabled else gc.disable)()
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)
        for number, handler in self.handlers.items():
            if getsignal(number) != handler:
                _handle(number, handler)


SIGNALS = [int(number) for number in signal.valid_signals()]


def _handlers():
    """The handlers that Python has for signals; only the main thread may set them."""
    if not _on_main_thread():
        return {}
    return {number: handler for number in SIGNALS if (handler := getsignal(number)) is not None}


def _directory():
    try:
        return os.getcwd()
    except OSError:
        return None


def _restore_module(module, before):
    names = vars(module)
    if len(names) == len(before) and all(map(operator.is_, names.values(), before.values())):
        return
    for name, value in before.items():
        if names.get(name, before) is not value:
            setattr(module, name, value)
    # a submodule that was imported meanwhile stays; anything else that was added goes
    for name in [name for name in names if name not in before]:
        if not isinstance(names[name], type(sys)):
            delattr(module, name)


def _torch_state():
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_rng_state"):
        return None
    return (torch.get_rng_state(), torch.get_default_dtype(), torch.get_num_threads(),
            torch.is_grad_enabled())


def _restore_torch(state):
    if state is None:
        return
    torch = sys.modules["torch"]
    rng, dtype, threads, grad = state
    torch.set_rng_state(rng)
    if torch.get_default_dtype() is not dtype:
        torch.set_default_dtype(dtype)
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    if torch.is_grad_enabled() != grad:
        torch.set_grad_enabled(grad)


# ---------------------------------------------------------------- the time limit

TICK = 0.05  # seconds between two looks at the time
IDLE = 0.0005  # seconds of CPU: what computes less than that in a tick waits
PATIENCE = 10  # on a busy machine an answer may take that many times its seconds


class Meter:
    """Counts the seconds of a call: of CPU while it computes, of the clock while it waits.

    So a busy machine, or one that is put to sleep, makes no right answer late; and a wait for a
    lock, which takes no CPU, ends all the same.
    """

    def __init__(self, seconds):
        self.seconds, self.used, self.awake = seconds, 0.0, 0.0
        self.at, self.cpu = monotonic(), process_time()

    @property
    def left(self):
        return self.seconds - self.used

    def over(self):
        if monotonic() - self.at >= TICK:
            self.read()
        return self.used > self.seconds or self.awake > PATIENCE * self.seconds

    def read(self):
        now, cpu = monotonic(), process_time()
        gone, computed = now - self.at, cpu - self.cpu
        self.at, self.cpu = now, cpu
        awake = min(gone, max(computed, TICK))  # a stopped process hears of no tick
        self.awake += awake
        self.used += awake if computed < IDLE else min(gone, computed)


def _on_main_thread():
    return threading.current_thread() is threading.main_thread()


def _has_timer():
    return _on_main_thread() and hasattr(signal, "setitimer") and sys.platform != "emscripten"


class TimerLimit:
    """Raises TimeUp when the time is over, and at every further step until the function has ended."""

    def __init__(self, seconds):
        self.meter, self.ending, self.interrupted = Meter(seconds), Ending(), False

    def __enter__(self):
        self.ending.begin()
        self.alarm = _handle(signal.SIGALRM, self._on_alarm)
        self.interrupt = _handle(signal.SIGINT, self._on_interrupt)
        self.started = monotonic()
        self.watch = Watch(self.meter)
        self.timer = _setitimer(signal.ITIMER_REAL, TICK, TICK)
        return self

    def __exit__(self, *error):
        self.ending.finish(*error)
        _setitimer(signal.ITIMER_REAL, 0)
        self.watch.end()
        _handle(signal.SIGALRM, self.alarm or signal.SIG_DFL)
        _handle(signal.SIGINT, self.interrupt or signal.default_int_handler)
        if self.timer[0]:  # somebody else's timer goes on with what it has left
            left = self.timer[0] - (monotonic() - self.started)
            _setitimer(signal.ITIMER_REAL, max(left, 0.001), self.timer[1])
        self.meter.read()

    def _on_alarm(self, number, frame):
        if self.meter.over() and self.ending.reaches(frame):
            self.ending.start(frame)
            raise TimeUp

    def _on_interrupt(self, *unused):
        self.interrupted = True
        raise KeyboardInterrupt


class Watch:
    """A thread that makes room at the recursion limit, where no handler of a signal could run."""

    def __init__(self, meter):
        self.meter, self.main = meter, threading.get_ident()
        self.lasts = threading.Lock()
        self.lasts.acquire()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.lasts.acquire(timeout=4 * TICK):
            if self.meter.over():
                _set_recursion_limit(sys.getrecursionlimit() + ROOM)
                _send(self.main, signal.SIGALRM)

    def end(self):
        """Wait for it: a signal that comes after its handler has gone would end the process."""
        self.lasts.release()
        self.thread.join()


class TraceLimit:
    """The same by a trace function: slower, but it needs neither signals nor the main thread."""

    interrupted = False

    def __init__(self, seconds):
        self.meter, self.ending = Meter(seconds), Ending()

    def __enter__(self):
        self.before = sys.gettrace(), sys.getprofile()
        self.ending.begin()
        sys.setprofile(self._profile)  # for a function that switches the trace function off
        sys.settrace(self.trace)
        return self

    def __exit__(self, *error):
        self.ending.finish(*error)
        sys.settrace(self.before[0])
        sys.setprofile(self.before[1])
        self.meter.read()

    def trace(self, frame, event, unused):
        if self.meter.over() and self.ending.reaches(frame):
            self.ending.start(frame)
            raise TimeUp
        if event == "call" and not _is_room():
            frame.f_trace = Again(self)
            raise RecursionError("maximum recursion depth exceeded")
        frame.f_trace_opcodes = frame.f_trace_opcodes or _jumps_to_itself(frame.f_code)
        return self.trace

    def _profile(self, frame, *unused):
        if self.meter.over() and self.ending.reaches(frame):
            self.ending.start(frame)


ROOM = 30  # frames that the guard needs below the learner's


def _is_room(frames=ROOM):
    """Whether so many more frames fit under the recursion limit."""
    try:
        return frames == 0 or _is_room(frames - 1)
    except RecursionError:
        return False


class Again:
    """A frame's trace function that switches the limit's on again: see Ending."""

    def __init__(self, limit):
        self.limit = limit

    def __del__(self):
        sys.settrace(self.limit.trace)


@functools.cache
def _jumps_to_itself(code):
    """Whether code holds `while True: pass` on one line: for Python 3.11 that is one event alone."""
    return any(step.opname == "JUMP_BACKWARD" and step.argval == step.offset for step in dis.get_instructions(code))


class Ending:
    """Raises TimeUp at every step of the learner's frames: no `except:` and no `finally:` outlasts it.

    CPython switches a trace function off when it raises. Afterwards it lets go of what the frame had
    as f_trace; what is put there switches itself on again at that moment.
    """

    def begin(self):
        self.base, self.on = sys._getframe(2), False

    def reaches(self, frame):
        """Whether a frame belongs to the call, and not to the guard itself."""
        return self.base is not None and frame is not self.base and not _is_guards(frame)

    def start(self, frame):
        if not self.on:  # an endless recursion left no room for what ends it
            _set_recursion_limit(sys.getrecursionlimit() + 10 * ROOM)
        self.on = True
        while frame is not None and frame is not self.base:
            self.take(frame)
            frame = frame.f_back
        sys.settrace(self.trace)

    def take(self, frame):
        frame.f_trace, frame.f_trace_opcodes = AtEachStep(self), True

    def renew(self, frame):
        if self.reaches(frame):
            self.take(frame)
        sys.settrace(self.trace)

    def trace(self, frame, *unused):
        """What new frames get, those of a __del__ too."""
        if self.on and not _is_guards(frame):
            self.take(frame)
            raise TimeUp

    def finish(self, kind=None, error=None, traceback=None):
        """Let the frames of an exception go while TimeUp is still raised: their objects may have a __del__."""
        while self.on and traceback is not None:
            try:
                traceback.tb_frame.clear()
            except RuntimeError:  # the frame of the guard itself goes on
                pass
            traceback = traceback.tb_next
        self.on, self.base = False, None
        sys.settrace(None)


def _is_guards(frame):
    return frame.f_code.co_filename == __file__


def _ignore(unraisable):
    pass


def _raise_time_up(*unused):
    raise TimeUp


class AtEachStep:
    """A frame's trace function. No frame of it may hold it: it has to go when the frame drops it."""

    __call__ = staticmethod(_raise_time_up)

    def __init__(self, ending):
        self.ending = ending

    def __del__(self):
        if self.ending.on:
            self.ending.renew(sys._getframe(1))


# ---------------------------------------------------------------- the call

def call(function, args, clock, seed=0, around=contextlib.nullcontext, silent=False):
    """Call function(*args) and say what came of it; `args` are copies made for this call.

    `silent` keeps what it prints from being put together at all: text takes memory.
    """
    outcome, captured = Outcome(), Captured()
    state = State()
    limit = (TimerLimit if _has_timer() else TraceLimit)(max(clock.left, 0.05))
    try:
        with (warnings.catch_warnings(), np.errstate(all="ignore"), shut_doors(function, limit.meter, silent),
              little_memory(), around()):
            warnings.simplefilter("ignore")
            # the global generators start differently at each call and alike in each session
            np.random.seed(seed)
            random.seed(seed)
            sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = captured
            sys.unraisablehook = _ignore  # what ends an endless recursion may itself find no room in a __del__
            with limit:
                outcome.answer, outcome.failure = _run(function, args)
    except TimeUp as error:
        outcome.failure = replace(_failure(error), text=f"{clock.seconds:.0f} seconds")
    except BaseException as error:
        outcome.failure = _failure(error)
    finally:
        state.restore()
        clock.left -= limit.meter.used
    if limit.interrupted:
        raise KeyboardInterrupt
    outcome.printed = captured.text
    return outcome


def _run(function, args):
    """(answer, failure). Here, within the limit, also an exception's text is read, and its frames go."""
    names = [(vars(builtins), dict(vars(builtins))), (sys.modules, dict(sys.modules))]
    try:
        try:
            return read_answer(function(*args)), None
        finally:  # before anything of ours needs them
            for now, before in names:
                now.update(before)
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


def _failure(error):
    if type(error).__name__ == "InterpreterError" and error.__cause__:  # Triton's, around the learner's
        error = error.__cause__
    number, line = _learners_line(error.__traceback__)
    try:
        text = str(error)[:300]
    except TimeUp:
        raise
    except BaseException:
        text = ""
    return Failure(type(error).__name__, text, number, line)




def _learners_line(traceback):
    """(number, text) of the innermost line that the learner wrote."""
    found = 0, ""
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith(LIBRARIES):
            number = traceback.tb_lineno
            found = number, linecache.getline(name, number).strip()
        traceback = traceback.tb_next
    return found
