"""Looks after the process that runs one handed-in notebook, and ends it with all that it started.

What ends the process, takes too long or too much memory, is left out of the next try: a cell, or an
exercise. So it costs the learner that one alone.
"""

import contextlib
import ctypes
import glob
import json
import os
import secrets
import select
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

TRIES = 40
EXERCISE_SECONDS = 60
GRACE = 3  # seconds beyond a limit that the process itself should keep
MOST_PROCESSES = 64
LONGEST_LINE = 1 << 20
SUBREAPER = 36
KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_HOME",
        "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV", "CONDA_PREFIX", "TRITON_INTERPRET")
START = "import sys; sys.path.insert(0, {!r}); from attnlib.exercises.classroom.notebook import main; main()"


class Stop:
    """While it lasts Ctrl-C waits until everything that was begun can be ended."""

    asked = False

    def __enter__(self):
        self.before = signal.signal(signal.SIGINT, lambda *unused: setattr(Stop, "asked", True))
        return self

    def __exit__(self, *unused):
        Stop.asked = False
        signal.signal(signal.SIGINT, self.before)


@dataclass(frozen=True)
class Limits:
    """Seconds for a notebook, seconds for one of its cells, bytes for all its processes."""

    seconds: float = 120
    cell_seconds: float = 30
    memory: int = 4 << 30


@dataclass
class Result:
    """What became of a notebook: (exercise, status, mistakes, note) and sentences on its cells."""

    grades: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)


def attend(cells, names, limits):
    """Run the cells and grade these exercises, and those handed to check; a Result."""
    result, skip = Result(), []
    until = time.monotonic() + limits.seconds
    for _ in range(TRIES):
        graded = list(result.grades)
        order = {"cells": cells, "names": names, "skip": skip, "graded": graded,
                 "cell_seconds": limits.cell_seconds, "memory": limits.memory}
        with Process(order) as process:
            end = process.follow(limits, until)
        result.grades.update(process.grades)
        if end == "done":
            return result
        _leave_out(process.at, end, skip, result)
        if process.at is None or time.monotonic() > until:
            break
    why = result.problems[-1] if result.problems else "others ended the process too often"
    for name in names:
        result.grades.setdefault(name, (name, "error", [], f"not graded: {why}"))
    return result


def _leave_out(at, end, skip, result):
    """Note what ended the process, so that the next try goes without it."""
    if isinstance(at, str):
        result.grades[at] = at, "error", [], end
    elif isinstance(at, int):
        skip.append(at)
        result.problems.append(f"code cell {at + 1} {end}")
    else:
        result.problems.append(f"the process {end} before the first cell")


# ---------------------------------------------------------------- one process

class Process:
    """One try: a scratch folder, a process in it, and the report that comes through a pipe."""

    def __init__(self, order):
        self.order, self.secret = order, secrets.token_hex(16)
        self.at, self.grades, self.done = None, {}, False
        self.began, self.unread = time.monotonic(), b""

    def __enter__(self):
        self.scratch = tempfile.mkdtemp(prefix="attnlib-")
        self.pipe, theirs = os.pipe()
        order = dict(self.order, pipe=theirs, secret=self.secret, scratch=self.scratch)
        self.before = set(_children(os.getpid(), _processes()))
        _adopt(True)
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps(order).encode())
            file.seek(0)
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", START.format(str(Path(__file__).resolve().parents[3]))],
                stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[theirs],
                cwd=self.scratch, env=_environment(self.scratch), start_new_session=True)
        os.close(theirs)
        return self

    def __exit__(self, *unused):
        self._end_all()
        _adopt(False)
        os.close(self.pipe)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def follow(self, limits, until):
        """Read the report until it ends; "done", or what became of the process."""
        looked = 0
        while not self.done:
            if Stop.asked:
                raise KeyboardInterrupt
            ended = self.process.poll() is not None
            if not self._read(0 if ended else 0.05) and ended:
                return _how(self.process.returncode)
            now = time.monotonic()
            if now > until:
                return "used up the notebook's time"
            if now > self.began + self._allowed(limits):
                return "did not finish in time"
            if now > looked + 0.2:
                looked = now
                if problem := self._too_much(limits.memory):
                    return problem
        return "done"

    def _allowed(self, limits):
        if self.at is None:
            return EXERCISE_SECONDS  # libraries may load slowly
        return (EXERCISE_SECONDS if isinstance(self.at, str) else limits.cell_seconds) + GRACE

    def _read(self, seconds):
        """Take in what the pipe holds; whether there was something."""
        if not select.select([self.pipe], [], [], seconds)[0]:
            return False
        new = os.read(self.pipe, 1 << 16)
        *lines, self.unread = (self.unread + new).split(b"\n")
        self.unread = self.unread[-LONGEST_LINE:]
        for line in lines:
            if line.startswith(self.secret.encode() + b" "):  # anything else a cell has written
                self._take(json.loads(line[len(self.secret):]))
        return bool(new)

    def _take(self, event):
        self.done = event.get("done", False)
        if "grade" in event:
            name, status, mistakes, note = event["grade"]
            self.grades[name] = name, status, mistakes, note
        self.at, self.began = event.get("at", self.at), time.monotonic()

    # ------------------------------------------------------------ all that it started

    def _family(self):
        """{process id: bytes} of the process and all that it has started, as far as they can be seen."""
        seen = _processes()
        new = set(_children(os.getpid(), seen)) - self.before
        found, waiting = {}, [self.process.pid, *new]
        while waiting:
            pid = waiting.pop()
            if pid in seen and pid not in found:
                found[pid] = seen[pid][1]
                waiting += _children(pid, seen)
        return found

    def _too_much(self, memory):
        family = self._family()
        if len(family) > MOST_PROCESSES:
            return f"started more than {MOST_PROCESSES} processes"
        if sum(family.values()) > memory:
            return f"took more than {memory >> 20} MB of memory"
        return ""

    def _end_all(self):
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for _ in range(100):  # those that left the group, until there are no more
            family = self._family()
            if not family:
                return
            for pid in family:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.01)


def _how(code):
    if code >= 0:
        return "ended the process"
    try:
        return f"ended the process ({signal.Signals(-code).name})"
    except ValueError:
        return "ended the process"


def _environment(scratch):
    """Nothing of the lecturer's environment but what Python needs: it may hold passwords."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    if not glob.glob("/dev/nvidia[0-9]*"):
        kept["TRITON_INTERPRET"] = "1"
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return dict(kept, **threads, HOME=scratch, TMPDIR=scratch, PYTHONUSERBASE=site.getuserbase(),
                PYTHONUTF8="1", PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", MPLBACKEND="Agg")


# ---------------------------------------------------------------- processes, as Linux shows them

def _adopt(yes):
    """On Linux: what a notebook leaves running becomes a child of this process, and can be ended."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(SUBREAPER, int(yes), 0, 0, 0)


def _processes():
    """{process id: (its parent, bytes of memory)} of all processes; empty where there is no /proc."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(path, "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            found[int(path.split("/")[2])] = int(fields[1]), int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return found


def _children(parent, seen):
    return [pid for pid, (its_parent, _) in seen.items() if its_parent == parent]
