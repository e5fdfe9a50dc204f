"""Step 5 of online_numpy.py: a thread for each core, each with one thread of BLAS.

run(work, tasks, cost) is all that others call. It leaves nothing behind in the process: BLAS
gets back the threads that it had, also after an exception, after Ctrl-C and in the child of a fork,
and when several threads call at once the last to leave restores them. ATTNLIB_NUM_THREADS bounds them.

What it cannot help: a thread of OpenBLAS that has just finished a product waits in a loop for
2^26 ticks of the clock, some 26 ms, and shares a core with ours meanwhile. On two cores a call of
12 ms right after a large product took 19 to 23.
"""

import collections
import contextlib
import functools
import os
import threading

import numpy as np

FEW = 2**22  # multiplications in a product below which threads cost more than they bring

users, before, lock = [], None, threading.RLock()  # the threads whose calls are under way, one entry a call


def run(work, tasks, cost):
    """Do all tasks: a thread for each core, each with one thread of BLAS.

    BLAS left to itself would share out every product, too small for that.
    """
    bound, errors, waiting = thread_bound(), [], collections.deque(tasks)
    alone = cost < FEW or not tasks or not blas()
    workers = 1 if alone else min(bound, len(tasks))
    others = [threading.Thread(target=work_off, args=(work, waiting, errors)) for _ in range(workers - 1)]
    with contextlib.nullcontext() if alone else blas_threads(bound // workers):
        try:
            for thread in others:
                thread.start()
            work_off(work, waiting, errors)
        finally:
            waiting.clear()  # after Ctrl-C, everybody ends with the task at hand
            for thread in others:
                if thread.ident is not None:
                    thread.join()
    if errors:
        raise errors[0]


def work_off(work, waiting, errors):
    scratch = {}
    try:
        with np.errstate(all="ignore"):  # each thread has its own setting
            while waiting:
                with contextlib.suppress(IndexError):  # another thread took the last
                    work(waiting.popleft(), scratch)
    except BaseException as error:
        waiting.clear()
        errors.append(error)


def thread_bound():
    """As many as BLAS would use, ATTNLIB_NUM_THREADS at most."""
    most = os.environ.get("ATTNLIB_NUM_THREADS", "")
    if most and not (most.isdecimal() and int(most) > 0):
        raise ValueError(f"ATTNLIB_NUM_THREADS must be a whole number above 0; got {most!r}")
    own = max((library.num_threads for library in blas()), default=1)
    return min(own, int(most or own))


@functools.cache
def blas():
    """The OpenBLAS of this process, whose threads can be set; found once, in 1 ms.

    Without threadpoolctl, or with another BLAS, there is none: then BLAS keeps its own threads,
    there are no others, and a call takes longer.
    """
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    return [library for library in ThreadpoolController().lib_controllers
            if library.internal_api == "openblas" and library.threading_layer == "pthreads"]


def set_blas_threads(numbers):
    for library, number in zip(blas(), numbers):
        # threadpoolctl 3.8 silently ignores all threads but the first that sets a number, until that
        # is cleared. Here the lock decides, and whoever leaves last has to restore.
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(number)
        clear(force=True)


@contextlib.contextmanager
def blas_threads(number):
    """BLAS with this many threads, until the last of all calls at once has left."""
    global before
    with lock:
        if not users:
            before = [library.num_threads for library in blas()]
            set_blas_threads([number] * len(before))
        users.append(threading.get_ident())
    try:
        yield
    finally:
        with lock:
            users.remove(threading.get_ident())
            if not users:
                set_blas_threads(before)


def forget_other_threads():
    """In the child of a fork only the thread that forked goes on: what the others would have restored."""
    if users:
        users[:] = [user for user in users if user == threading.get_ident()]
        if not users:
            set_blas_threads(before)
    lock.release()


if hasattr(os, "register_at_fork"):  # POSIX; with the lock held, the child sees no half of a change
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=forget_other_threads)
