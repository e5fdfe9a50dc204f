"""Step 5 of online_numpy.py: a thread for each core, each with one thread of BLAS.

Other modules call only run(work, tasks, cost). It leaves the process as it found it: BLAS gets back
the threads that it had, even after an exception, after Ctrl-C and in the child of a fork. When
several calls overlap, the last one to end restores them. ATTNLIB_NUM_THREADS limits how many
threads are used.

One thing it can't control: a thread of OpenBLAS that has just finished a product waits in a loop
for 2^26 ticks of the clock, about 26 ms, and shares a core with our threads meanwhile. On two
cores, a call of 12 ms right after a large product took 19 to 23 ms.
"""

import collections
import contextlib
import functools
import os
import threading

import numpy as np

FEW = 2**22  # multiplications in a product below which threads cost more than they gain

_active_calls: list[int] = []  # for each running call, the thread that made it
_saved_counts: list[int] = []  # the threads that each BLAS had before the first of these calls
_lock = threading.RLock()  # held while either changes


def run(work, tasks, cost):
    """Do all tasks with a thread for each core, each with one thread of BLAS.

    By itself, BLAS would divide every product among its threads, and these products are too small
    for that.
    """
    bound, errors, waiting = thread_bound(), [], collections.deque(tasks)
    alone = cost < FEW or not tasks or not blas()
    workers = 1 if alone else min(bound, len(tasks))
    others = [
        threading.Thread(target=drain, args=(work, waiting, errors)) for _ in range(workers - 1)
    ]
    with contextlib.nullcontext() if alone else blas_threads(bound // workers):
        try:
            for thread in others:
                thread.start()
            drain(work, waiting, errors)
        finally:
            waiting.clear()  # after Ctrl-C, every thread stops after its current task
            for thread in others:
                if thread.ident is not None:
                    thread.join()
    if errors:
        raise errors[0]


def drain(work, waiting, errors):
    """Do waiting tasks until there are none left; an exception is kept, and ends all threads'
    work.
    """
    scratch = {}
    try:
        with np.errstate(all="ignore"):  # each thread has its own setting
            while True:
                try:
                    task = waiting.popleft()
                except IndexError:  # none is left
                    return
                work(task, scratch)
    except BaseException as error:
        waiting.clear()
        errors.append(error)


def thread_bound():
    """As many threads as BLAS would use, but at most ATTNLIB_NUM_THREADS."""
    most = os.environ.get("ATTNLIB_NUM_THREADS", "")
    if most and not (most.isdecimal() and int(most) > 0):
        raise ValueError(f"ATTNLIB_NUM_THREADS must be a whole number above 0; got {most!r}")
    own = max((library.num_threads for library in blas()), default=1)
    return min(own, int(most or own))


@functools.cache
def blas():
    """The OpenBLAS libraries of this process whose threads can be set; found once, in 1 ms.

    Without threadpoolctl, or with another BLAS, the list is empty. BLAS then keeps its own threads,
    we start none, and a call takes longer.
    """
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    return [
        library
        for library in ThreadpoolController().lib_controllers
        if library.internal_api == "openblas" and library.threading_layer == "pthreads"
    ]


def set_blas_threads(numbers):
    for library, number in zip(blas(), numbers):
        # threadpoolctl 3.8 listens only to the first thread that sets a number, until that is
        # cleared, and silently ignores all others. Here our lock decides who sets it, and the last
        # call to end has to restore the numbers, whichever thread made it.
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(number)
        clear(force=True)


@contextlib.contextmanager
def blas_threads(number):
    """BLAS has this many threads until the last of all overlapping calls has ended."""
    with _lock:
        if not _active_calls:
            _saved_counts[:] = [library.num_threads for library in blas()]
            set_blas_threads([number] * len(_saved_counts))
        _active_calls.append(threading.get_ident())
    try:
        yield
    finally:
        with _lock:
            _active_calls.remove(threading.get_ident())
            if not _active_calls:
                set_blas_threads(_saved_counts)


def forget_other_threads():
    """Restore, in the child of a fork, what other threads would have restored: only the one that
    forked goes on.
    """
    if _active_calls:
        _active_calls[:] = [thread for thread in _active_calls if thread == threading.get_ident()]
        if not _active_calls:
            set_blas_threads(_saved_counts)
    _lock.release()


if hasattr(os, "register_at_fork"):  # POSIX; with the lock held, the child never sees half a change
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=forget_other_threads
    )
