"""Watches the process that runs one handed-in notebook, and ends it with everything that it
started.

A cell or an exercise that ends the process, or takes too long or too much memory, is left out of
the next try, so it costs the learner only that one. If this happens too often, only imports and
definitions are run.
"""

import base64
import contextlib
import glob
import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

from ..engine.find import exercises
from ..engine.kinds import tasks
from . import sandbox, verdict
from .source import chapters

TRIES, MOST_LEFT_OUT = 60, 8  # all tries, and the tries with all of the cells
EXERCISE_SECONDS = 60
MOST_SHOWN = 64  # outcomes of a call that answers a problem
GRACE = 3  # seconds beyond a limit that the process itself should keep
LONGEST_LINE, LONGEST_REPORT, LONGEST_OF_ALL, MOST_EVENTS = 1 << 20, 32 << 20, 128 << 20, 10_000
STATUSES = ("correct", "incorrect", "error", "not attempted")
MOST_NOTED, MOST_NAMED, MOST_KEPT, MOST_QUOTED = 20, 8, 48 << 20, 3


class Stopped(Exception):
    """Ctrl-C while a notebook is run."""


class Stop:
    """Inside the block, Ctrl-C waits until everything that has begun can be ended."""

    asked = False

    def __enter__(self):
        Stop.asked = False
        self.before = signal.signal(signal.SIGINT, lambda *unused: setattr(Stop, "asked", True))
        return self

    def __exit__(self, *unused):
        signal.signal(signal.SIGINT, self.before)


@dataclass(frozen=True)
class Limits:
    """Seconds for a notebook and for one of its cells, bytes and number of all its processes."""

    seconds: float = 120
    cell_seconds: float = 30
    memory: int = 4 << 30
    processes: int = 64


@dataclass
class Told:
    """What a notebook says about one answer; only its values count."""

    status: str
    mistakes: tuple = ()
    note: str = ""
    message: str = ""
    fingerprint: str = ""
    graded: bool = True  # whether that was reached
    checked: bool = True  # whether this machine can check the exercise


@dataclass
class Result:
    """What became of a notebook, according to itself."""

    answers: dict = field(default_factory=dict)  # {exercise: Told}
    values: dict = field(
        default_factory=dict
    )  # {exercise: {case: an answer as notebook.as_text gives it}}
    code: dict = field(default_factory=dict)  # {exercise: the learner's own text of the answer}
    names: list = field(default_factory=list)
    # {what became of the process: {the number of each cell that did it: its first line}}
    ended: dict = field(default_factory=dict)
    begins: str = ""  # the first line of the cell that runs
    bare: bool = False  # whether only imports and definitions were run in the end
    problem: str = ""  # why there is nothing to run
    read: int = 0  # bytes of all reports
    kept: int = 0  # letters of all values
    reached: list = field(default_factory=list)

    @property
    def problems(self):
        """Sentences on what could not be run."""
        ended = [
            f"code cell{'s'[: len(cells) > 1]} {', '.join(map(str, cells))} "
            f"{end}{_beginnings(cells)}"
            for end, cells in self.ended.items()
        ]
        return (
            [self.problem] * bool(self.problem)
            + ended
            + ["only imports and definitions were run"] * self.bare
        )


def _beginnings(cells):
    """How the cells begin, for a reader of a notebook that doesn't number them."""
    lines = [line for line in cells.values() if line][:MOST_QUOTED]
    verb = "it begins" if len(cells) == 1 else "they begin"
    quoted = ", ".join(f'"{line}"' for line in lines)
    return f" ({verb} with {quoted})" if lines else ""


def attend(content, kind, limits, protected=True):
    """Run the cells of this file, and what they define; a Result."""
    result, skip, bare, until = Result(), [], False, time.monotonic() + limits.seconds
    for _ in range(TRIES):
        order = {
            "content": base64.b64encode(content).decode(),
            "kind": kind,
            "skip": skip,
            "bare": bare,
            "graded": list(result.answers),
            "cell_seconds": limits.cell_seconds,
            "memory": limits.memory,
            "processes": limits.processes,
            "chapters": chapters(),
        }
        with Process(order, result, protected) as process:
            end = process.follow(limits, until)
        if end == "done":
            return result
        _leave_out(process.at, end, skip, result)
        late = time.monotonic() > until
        if process.at is None or bare and late or result.read > LONGEST_OF_ALL:
            break
        if not bare and (late or len(skip) >= MOST_LEFT_OUT):
            bare, until = True, time.monotonic() + limits.seconds
            result.bare = True
            skip.clear()
    why = result.problems[-1] if result.problems else "others ended the process too often"
    for name in result.names:
        result.answers.setdefault(name, Told("error", note=f"not graded: {why}", graded=False))
    return result


def _leave_out(at, end, skip, result):
    """Note what ended the process, so that the next try goes without it."""
    if isinstance(at, str):
        result.answers[at] = Told("error", note=end)
        result.values.pop(at, None)
    elif isinstance(at, int):
        skip.append(at)
        result.ended.setdefault(end, {})[at + 1] = result.begins
    else:
        result.problem = f"it {end} before the first cell"


# ---------------------------------------------------------------- one process


class Process:
    """One try: a process, in a sandbox if `protected`, and its report."""

    def __init__(self, order, result, protected):
        self.order, self.result, self.protected = order, result, protected
        self.secret = secrets.token_hex(16)
        self.at, self.done, self.read, self.events = None, False, 0, 0
        self.began, self.unread = time.monotonic(), b""

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            order = stack.enter_context(tempfile.TemporaryFile())
            order.write(json.dumps(dict(self.order, secret=self.secret)).encode())
            order.seek(0)
            rules = stack.enter_context(sandbox.filtered()).fileno() if self.protected else None
            self.scratch = None if self.protected else tempfile.mkdtemp(prefix="attnlib-")
            self.process = subprocess.Popen(
                sandbox.command(rules),
                stdin=order,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env=sandbox.environment(self.scratch or sandbox.HOME),
                cwd=self.scratch or "/",
                pass_fds=[rules] if self.protected else [],
                start_new_session=True,
            )
        self.pipe = self.process.stdout.fileno()
        return self

    def __exit__(self, *unused):
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)  # the sandbox dies with bubblewrap
        self.process.wait()
        self.process.stdout.close()
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def follow(self, limits, until):
        """Read the report until it ends; "done", or what became of the process."""
        looked = 0
        while not self.done:
            if Stop.asked:
                raise Stopped
            ended = self.process.poll() is not None
            if not self._read(0 if ended else 0.05) and ended:
                return _how(self.process.returncode)
            now = time.monotonic()
            if self.read > LONGEST_REPORT or self.events > MOST_EVENTS:
                return "wrote too much into its report"
            if now > until:
                return "used up the notebook's time"
            if now > self.began + self._allowed(limits) + GRACE:
                return f"did not finish within {self._allowed(limits):g} seconds"
            if now > looked + 0.2:
                looked = now
                if problem := _too_much(self.process.pid, limits, self.protected):
                    return problem
        return "done"

    def _allowed(self, limits):
        if self.at is None:
            return EXERCISE_SECONDS  # libraries may load slowly
        return EXERCISE_SECONDS if isinstance(self.at, str) else limits.cell_seconds

    def _read(self, seconds):
        """Take in what the pipe holds; whether there was something."""
        if not select.select([self.pipe], [], [], seconds)[0]:
            return False
        new = os.read(self.pipe, 1 << 18)
        self.read, self.result.read = self.read + len(new), self.result.read + len(new)
        *lines, self.unread = (self.unread + new).split(b"\n")
        self.unread = self.unread[-LONGEST_LINE:]
        for line in lines:
            if line.startswith(self.secret.encode() + b" ") and len(line) < LONGEST_LINE:
                self.events += 1
                with contextlib.suppress(
                    ValueError, TypeError, KeyError, RecursionError
                ):  # of a forged line
                    self._take(json.loads(line[len(self.secret) :]))
        return bool(new)

    def _take(self, event):
        """One event. Nothing in it is believed before it is checked."""
        [(kind, told)] = event.items()
        known, result = tasks(), self.result
        if kind == "done":
            self.done = True
        elif kind == "at" and (
            told in known if isinstance(told, str) else type(told) is int and 0 <= told < 10**6
        ):
            self.at, self.began = told, time.monotonic()
        elif kind == "begins":
            result.begins = text(told, 60)
        elif kind == "names":
            result.names = [name for name in known if name in told]
        elif kind == "problem":
            result.problem = text(told, 300)
        elif (
            kind == "reached"
            and text(told, 200) not in result.reached
            and len(result.reached) < MOST_NOTED
        ):
            result.reached.append(told[:200])
        elif kind == "code" and told[0] in known:
            result.code[told[0]] = text(told[1], 8000)
        elif kind == "value" and told[0] in known and told[0] == self.at:
            name, index, value = told
            size = verdict.kept(value)
            if (
                type(index) is int
                and 0 <= index < _cases(name)
                and 0 < size <= MOST_KEPT - result.kept
            ):
                result.values.setdefault(name, {})[index] = value
                result.kept += size
        elif kind == "unchecked" and told[0] in known:
            note = text(told[1], 400)
            result.answers[told[0]] = Told("error", note=note, graded=False, checked=False)
        elif kind == "grade" and told[0] in known and told[1] in STATUSES:
            name, status, mistakes, note, message, fingerprint = told
            result.answers[name] = Told(
                status,
                tuple(text(one, 100) for one in mistakes[:MOST_NAMED]),
                text(note, 400),
                text(message, 8000),
                text(fingerprint, 16),
            )


def _cases(name):
    return len(exercises()[name].all_cases()) if name in exercises() else MOST_SHOWN


def text(told, longest):
    if type(told) is not str:
        raise TypeError("not a text")
    return told[:longest]


def _how(code):
    """What an exit code means; bubblewrap gives 128 plus the signal's number."""
    number = -code if code < 0 else code - 128
    try:
        return f"ended the process ({signal.Signals(number).name})"
    except ValueError:
        return "ended the process"


# ---------------------------------------------------------------- processes, as Linux shows them


def _too_much(first, limits, protected):
    """Whether a process and all that it has started are too many, or too large together."""
    seen = _processes()
    family = list(_family(first, seen))
    if len(family) > limits.processes:
        return f"started more than {limits.processes} processes"
    files = 0 if protected else _files_in_memory(family)  # the sandbox refuses to make them
    if sum(seen[pid][1] for pid in family) + files > limits.memory:
        return f"took more than {limits.memory >> 20} MB of memory"
    return ""


def _family(first, seen):
    """Each process that comes from the first one."""
    children, waiting = {}, [first]
    for pid, (parent, _) in seen.items():
        children.setdefault(parent, []).append(pid)
    while waiting:
        pid = waiting.pop()
        if pid in seen:
            yield pid
        waiting += children.get(pid, [])


def _files_in_memory(family):
    """Bytes of what memfd_create has made, which count as no process's own memory."""
    found = {}
    for pid in family:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    if os.readlink(entry.path).startswith("/memfd:"):
                        file = os.stat(entry.path)
                        found[file.st_dev, file.st_ino] = 512 * file.st_blocks
    return sum(found.values())


def _processes():
    """{process id: (its parent, bytes of memory)} of all processes; empty without /proc."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(path, "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            found[int(path.split("/")[2])] = (
                int(fields[1]),
                int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
            )
    return found
