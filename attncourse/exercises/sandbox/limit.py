"""The time limit of a call: TimeUp is raised when the time is over, at every step until the call
has ended.

On the main thread a timer signal looks at the time, elsewhere (a thread, Pyodide) a trace function.
What neither can interrupt goes on until it ends by itself: one call of compiled code that never
looks for signals (a sum over range(10**12), one einsum of hours), and where there are no signals
any compiled call, a wait for a lock among them.

The clock stops while a module is being imported: one that is cut short stays half-made in this
process (torch's compiler, which torch imports at the first call that needs it, can't be imported
again).
"""

import dis
import functools
import signal
import sys
import threading
from time import monotonic, process_time

TICK = 0.02  # seconds between two looks at the time
ALARM = 0.005  # and between two alarms: at the recursion limit most of them have no room to look
IDLE = 0.0005  # seconds of CPU: what computes less than that between two looks is waiting
PATIENCE = 10  # on a busy machine an answer may take this many times its seconds
IMPORTS = 120  # seconds of the clock that imports may take, all together
IMPORT_MACHINERY = "<frozen importlib._bootstrap>"  # CPython's name for its own code
ROOM = 30  # frames below the learner's, which a trace function needs
MORE_ROOM = 10 * ROOM  # of which an endless recursion gets none: all its calls end at once


class TimeUp(BaseException):
    """The time for a check is over; not an Exception, so that `except Exception` lets it pass."""


class Meter:
    """Counts the seconds of a call: of CPU while it computes, of the clock while it waits.

    So a busy machine, or one that is put to sleep, doesn't make a right answer late, and yet a wait
    for a lock, which takes no CPU, ends. `longest` is the longest time between two looks of a
    process that has not been stopped.
    """

    def __init__(self, seconds, longest):
        self.seconds, self.longest, self.used, self.awake = seconds, longest, 0.0, 0.0
        self.at, self.cpu, self.left_for_imports = monotonic(), process_time(), IMPORTS

    def over(self, frame=None, base=None):
        """Whether the time is over for what runs in `frame`, called by `base`."""
        now, cpu = monotonic(), process_time()
        gone, computed = now - self.at, cpu - self.cpu
        if gone >= TICK:
            if self.left_for_imports > 0:  # not a separate function, for the same reason as below
                while frame is not base and frame.f_code.co_filename != IMPORT_MACHINERY:
                    frame = frame.f_back
                if frame is not base:
                    self.left_for_imports -= gone
                    self.at, self.cpu = now, cpu
                    return False
            awake = min(gone, max(computed, self.longest))
            used = awake if computed < IDLE else min(gone, computed)
            # at once: at the recursion limit any of the calls above may fail
            self.at, self.cpu, self.used, self.awake = (
                now,
                cpu,
                self.used + used,
                self.awake + awake,
            )
        return self.used > self.seconds or self.awake > PATIENCE * self.seconds


def time_limit(seconds):
    """The limit that works here, to be used once, as a context manager."""
    on_main_thread = threading.current_thread() is threading.main_thread()
    has_timer = hasattr(signal, "setitimer") and sys.platform != "emscripten"
    return (TimerLimit if on_main_thread and has_timer else TraceLimit)(seconds)


class Limit:
    """What both limits share: how TimeUp is raised so that no `except:` and no `finally:` outlasts
    it.

    CPython switches a trace function off when it raises, and then lets go of what the frame had as
    f_trace: what is put there, a Step, switches it on again at that moment.
    """

    interrupted = False  # by Ctrl-C
    longest = float("inf")

    def __init__(self, seconds):
        self.meter, self.base, self.over = Meter(seconds, self.longest), None, False

    def __enter__(self):
        self.before, hook = sys.gettrace(), sys.unraisablehook
        around = getattr(hook, "__self__", None)
        self.hook = around.hook if isinstance(around, Limit) else hook  # another thread's limit
        sys.unraisablehook = self.report
        self.start()
        self.base = sys._getframe(1)  # nothing is raised before, so __exit__ is called
        return self

    def __exit__(self, *unused):
        self.base = None
        sys.settrace(self.before)
        self.stop()
        if self.over:
            sys.setrecursionlimit(sys.getrecursionlimit() - MORE_ROOM)
        sys.unraisablehook = self.hook
        self.meter.over()

    def report(self, unraisable):
        """In place of Python's hook, which would itself be ended, and so be called again; or which
        finds no room under the recursion limit. If another thread takes an alarm too late, Python
        reports "ignored due to race condition" with all errors of an endless recursion as its
        context: that has nothing to say to anybody.
        """
        ends = self.over or self.base is None
        if not (ends or isinstance(unraisable.exc_value, RecursionError)):
            self.hook(unraisable)

    def look(self, event, frame):
        """Raise TimeUp in this frame if the time is over, and from then on at each step under
        `with`.
        """
        if not (self.over or self.meter.over(frame, self.base)) or not self._reaches(frame):
            return
        if not self.over:  # an endless recursion has left no room for what ends it
            sys.setrecursionlimit(sys.getrecursionlimit() + MORE_ROOM)
            self.over = True
        while frame is not self.base and type(frame.f_trace) is not Step:
            self._take(frame)
            frame = frame.f_back
        sys.settrace(self.trace)
        raise TimeUp

    def _reaches(self, frame):
        return (
            self.base is not None
            and frame is not self.base
            and frame.f_code.co_filename != __file__
        )

    def _take(self, frame):
        frame.f_trace, frame.f_trace_opcodes = Step(self), True

    def trace(self, frame, event, unused):
        if frame.f_code.co_filename == __file__:
            return None  # an alarm in what follows would keep __exit__ from being called
        self.look(event, frame)
        if event == "call" and not _is_room():
            frame.f_trace = Step(self)
            raise RecursionError("maximum recursion depth exceeded")
        frame.f_trace_opcodes = frame.f_trace_opcodes or _jumps_to_itself(frame.f_code)
        return self.trace

    def renew(self, frame):
        """What a Step does when its frame has let it go."""
        if self.base is None:
            return
        if self.over and self._reaches(frame):
            self._take(frame)
        sys.settrace(self.trace)


def _raise_time_up(*unused):
    raise TimeUp


class Step:
    """A frame's trace function. No frame of it may hold it: it has to go when the learner's drops
    it.
    """

    __call__ = staticmethod(_raise_time_up)

    def __init__(self, limit):
        self.limit = limit

    def __del__(self):
        self.limit.renew(sys._getframe().f_back)


def _is_room(frames=ROOM):
    """Whether so many more frames fit under the recursion limit: a trace function that finds none
    is gone.
    """
    try:
        return frames == 0 or _is_room(frames - 1)
    except RecursionError:
        return False


@functools.cache
def _jumps_to_itself(code):
    """Whether code holds `while True: pass`: for Python 3.11 that is only one event."""
    return any(
        step.opname == "JUMP_BACKWARD" and step.argval == step.offset
        for step in dis.get_instructions(code)
    )


class TimerLimit(Limit):
    """By a timer signal."""

    longest = 2 * TICK

    def start(self):
        self.alarm = signal.signal(signal.SIGALRM, self.look)
        self.interrupt = signal.signal(signal.SIGINT, self._on_interrupt)
        self.started = monotonic()
        self.timer = signal.setitimer(signal.ITIMER_REAL, ALARM, ALARM)

    def stop(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        # An alarm under way is discarded: what came before may end the process. To wait for it
        # could take for ever, because another thread may have taken it.
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, self.alarm or signal.SIG_DFL)
        signal.signal(signal.SIGINT, self.interrupt or signal.default_int_handler)
        if self.timer[0]:  # somebody else's timer goes on with what it has left
            left = self.timer[0] - (monotonic() - self.started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), self.timer[1])

    def _on_interrupt(self, event, frame):
        self.interrupted = True
        # Elsewhere it would keep the timer and the handlers from being put back.
        if self._reaches(frame):
            raise KeyboardInterrupt


class TraceLimit(Limit):
    """Uses a trace function: slower, but it needs neither signals nor the main thread."""

    def start(self):
        sys.settrace(self.trace)

    def stop(self):
        pass
