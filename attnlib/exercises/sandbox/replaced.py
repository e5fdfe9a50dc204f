"""What a learner's function finds in place of what would end the process, wait for ever or take all memory.

The stand-ins are the learner's own steps to the guard: what ends a loop gets into them too.
"""

import builtins
import contextlib
import io
import itertools
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import types

import numpy as np

DEEPEST = 5000  # recursion limit a learner may ask for; more can overflow the C stack
_set_recursion_limit = sys.setrecursionlimit
STANDARD = sysconfig.get_path("stdlib") + os.sep
LIBRARIES = (os.path.dirname(os.path.dirname(os.path.abspath(np.__file__))) + os.sep, STANDARD,
             os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep)


class TimeUp(BaseException):
    """The time for a check is over; not an Exception, so that `except Exception` lets it pass."""


class Blocked(BaseException):
    """The learner's function called something that would end the process, wait for ever or undo work."""


def _blocked(name):
    def stand_in(*args, **kwargs):
        raise Blocked(name)

    return stand_in


SHUT = {
    os: ("_exit", "abort", "kill", "killpg", "fork", "forkpty", "execv", "execve", "_execvpe", "posix_spawn",
         "posix_spawnp", "system"),
    builtins: ("input", "exit", "quit", "breakpoint"),
    signal: ("setitimer", "alarm", "pthread_kill", "pthread_sigmask", "sigwait", "pause"),
}
# what a library may do (Triton keeps compiled kernels in files), and a learner's own code may not
SHUT_TO_LEARNERS = {
    os: ("remove", "unlink", "rmdir", "removedirs", "rename", "renames", "replace", "truncate", "ftruncate", "close",
         "dup2"),
    shutil: ("rmtree", "move"),
    subprocess: ("Popen", "run", "call", "check_call", "check_output"),
}


def _shut_to_learners(name, original):
    def stand_in(*args, **kwargs):
        if not _for_a_library(sys._getframe(1)):
            raise Blocked(name)
        return original(*args, **kwargs)

    return stand_in


def _open(original):
    def stand_in(file, mode="r", *args, **kwargs):
        if set("wax+") & set(mode) and not _for_a_library(sys._getframe(1)):
            raise Blocked("open")
        return original(file, mode, *args, **kwargs)

    return stand_in


def _for_a_library(frame):
    """Whether the innermost code outside the standard library is a library's."""
    while frame is not None and _is_standard(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(LIBRARIES)


def _is_standard(path):
    return path.startswith((STANDARD, "<frozen")) and "-packages" not in path


def _sleep(meter, original):
    def sleep(seconds):
        if seconds > meter.left:  # nothing gets into a sleep where there are no signals
            raise TimeUp
        return original(seconds)

    return sleep


def _set_handler(original):
    def stand_in(number, handler):
        if number == signal.SIGALRM:
            raise Blocked("signal")
        return original(number, handler)

    return stand_in


def _stepping(kind):
    """The same endless iterator in Python's own steps: a signal gets into sum(itertools.count())."""
    return type(kind.__name__, (kind,), {"__next__": lambda self: kind.__next__(self)})


STEPPING = {name: _stepping(getattr(itertools, name)) for name in ("count", "cycle", "repeat")}


def _iter(original):
    def calls(function, sentinel):
        for item in original(function, sentinel):
            yield item

    return lambda *args: calls(*args) if len(args) == 2 else original(*args)


def _has_flags():
    """Whether floating-point errors are noticed: not in a browser."""
    try:
        with np.errstate(under="raise"):
            np.exp(np.array([-1000.0]))
    except FloatingPointError:
        return True
    return False


FLAGS = _has_flags()


def _exp(original):
    """np.exp, with the errors that np.seterr or np.errstate asks for."""
    def exp(x, *args, **kwargs):
        found = original(x, *args, **kwargs)
        for kind, text, value in (("under", "underflow", 0), ("over", "overflow", np.inf)):
            if np.geterr()[kind] == "raise" and (np.isfinite(x) & (found == value)).any():
                raise FloatingPointError(f"{text} encountered in exp")
        return found

    return exp


def _stand_ins(meter, silent):
    """(module, name, what stands there while a learner's function runs)."""
    for module, names in SHUT.items():
        yield from ((module, name, _blocked(name)) for name in names)
    for module, names in SHUT_TO_LEARNERS.items():
        yield from ((module, name, _shut_to_learners(name, getattr(module, name, None))) for name in names)
    yield from ((itertools, name, kind) for name, kind in STEPPING.items())
    yield builtins, "iter", _iter(iter)
    yield builtins, "open", _open(open)
    yield io, "open", _open(open)
    yield time, "sleep", _sleep(meter, time.sleep)
    if not FLAGS:
        yield np, "exp", _exp(np.exp)
    if hasattr(signal, "SIGALRM"):
        yield signal, "signal", _set_handler(signal.signal)
    yield sys, "setrecursionlimit", lambda depth: _set_recursion_limit(min(depth, DEEPEST))
    if silent:
        yield builtins, "print", lambda *args, **kwargs: None


@contextlib.contextmanager
def shut_doors(function, meter, silent=False):
    """Replace what would end the process or wait for ever, while the block lasts; print too if silent."""
    undo, instead = [], {}
    for module, name, stand_in in _stand_ins(meter, silent):
        if hasattr(module, name):
            undo.append((vars(module), name, getattr(module, name)))
            instead[id(getattr(module, name))] = stand_in
            setattr(module, name, stand_in)
    names = function.__globals__ if type(function) is types.FunctionType else {}
    for name, value in list(names.items()):  # from time import sleep; IPython's own exit
        if name in ("exit", "quit") and (hasattr(value, "_ip") or type(value).__name__ == "Quitter"):
            instead[id(value)] = _blocked(name)
        if id(value) in instead:
            undo.append((names, name, value))
            names[name] = instead[id(value)]
    try:
        yield
    finally:
        for names, name, value in undo:
            names[name] = value


def _has_gpu():
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_available()


MEMORY = 2 << 30  # bytes that a learner's function may take beside what is taken


@contextlib.contextmanager
def little_memory():
    """On Linux: a list that never ends is a MemoryError before it takes the whole machine.

    Not where there is a GPU: its driver maps memory of the host in amounts of its own.
    """
    if not sys.platform.startswith("linux") or _has_gpu():
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[5]) * resource.getpagesize()
    most = taken + MEMORY
    if before[0] == resource.RLIM_INFINITY or before[0] > most:
        resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
