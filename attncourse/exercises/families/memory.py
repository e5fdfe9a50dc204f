"""What values cannot show: how much memory a function holds while it runs."""

import time

# Idle threads of torch and BLAS count in process_time; a browser has no time of one thread.
own_time = getattr(time, "thread_time", time.process_time)


def peak_memory(run, *args):
    """(bytes that the call holds at most at one time, its outcome); 0 bytes where nobody can tell.

    `run` is what an audit gets. It takes some 100 kB itself, so a bound should lie well above. What
    Python doesn't hand out (a tensor, a mapped file) shows on Linux alone, in megabytes. A process
    also grows for other reasons, such as a library's first call, and shrinks while the system takes
    pages back, so growth is the median of three measurements.
    """
    traced, grown, outcome = _measured(run, args)
    if grown > traced:
        grown = sorted([grown, *(_measured(run, args)[1] for _ in range(2))])[1]
    return max(traced, grown), outcome


def _measured(run, args):
    """(bytes that Python handed out, bytes by which the process grew, the outcome)."""
    _give_back()
    before = _resident("VmRSS", reset=True)
    traced, outcome = _traced(run, *args)
    grown = _resident("VmHWM") - before - NOISE if before else 0  # 0: it can't be counted from here
    return traced, grown, outcome


def _give_back():
    """Return freed memory to the system: in it, a new array wouldn't make the process grow."""
    try:
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
    except (ImportError, AttributeError, OSError, TypeError):  # not GNU's C library
        pass


NOISE = 4 << 20  # bytes by which a process grows for other reasons


def _resident(name, reset=False):
    """What the system says of this process's memory, in bytes; 0 where it says nothing."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")  # the highest amount is counted from here
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))
    except (OSError, StopIteration):
        return 0


def _traced(run, *args):
    try:
        import tracemalloc
    except ImportError:
        return 0, run(*args)
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        outcome = run(*args)
        return tracemalloc.get_traced_memory()[1] - before, outcome
    finally:
        if not was_tracing:
            tracemalloc.stop()


def grows(run, most, small, large):
    """Whether a call holds `most` bytes or more for `large` arguments beyond what it holds for
    `small` ones.

    The difference counts: text that is put together to be printed takes memory in both.
    """
    held, outcome = peak_memory(run, *large)
    return held >= most and not outcome.failure and held - peak_memory(run, *small)[0] >= 0.8 * most


def size_for_number(run, arrays):
    """An audit: whether large blocks take little memory and small ones much; arrays as in
    keeps_all_scores.
    """
    n_q, n_k = 96, 1536
    scores = 8 * n_q * n_k
    held, outcome = peak_memory(run, *arrays(n_q, n_k), n_k // 2)
    if outcome.failure or held > 0.3 * scores:
        return None
    more, outcome = peak_memory(run, *arrays(n_q, n_k), 2)
    found = not outcome.failure and more > 0.45 * scores
    return "block_size used as the number of blocks" if found else None


def keeps_all_scores(run, arrays):
    """An audit: whether anything as large as all scores is made; arrays(n_q, n_k) are the arguments
    before block_size. Where it doesn't grow with the queries, they are what is cut into blocks.

    Vectors have one feature or two: blocks and what is left of them take a third of all scores, and
    a learner's lists of numbers half.
    """
    began = own_time()
    kept, sizes = (
        grows(run, 0.9 * 8 * 96 * 768, (*arrays(12, 96), 32), (*arrays(96, 768), 32)),
        (96, 768, 32),
    )
    if not kept and own_time() - began < 0.5:
        # No loop over single keys, so a larger case is quick, and megabytes show a tensor too.
        kept, sizes = (
            grows(run, 0.7 * 8 * 1024 * 2048, (*arrays(128, 256), 128), (*arrays(1024, 2048), 128)),
            (1024, 2048, 128),
        )
    if not kept:
        return None
    n_q, n_k, size = sizes
    # Four times the queries: the process's size is known only to within a factor of 1.6 or so.
    held, more = (peak_memory(run, *arrays(count, n_k), size) for count in (n_q, 4 * n_q))
    cut = more[0] <= 2 * held[0] and not (held[1].failure or more[1].failure)
    return "blocks of queries instead of keys" if cut else "scores of all keys kept"


def keeps_a_row(run, arrays, n_k):
    """Whether the scores of one query with all keys are made.

    A copy of keys and values is as large as two rows of scores. A row, the row less its maximum
    and the exponentials are three, and then a small block_size saves nothing.
    """
    held, outcome = peak_memory(run, *arrays, 256)
    if outcome.failure or held < 3 * 8 * n_k:
        return False
    more, outcome = peak_memory(run, *arrays, n_k)
    return not outcome.failure and more - held < 0.5 * 8 * n_k


def keeps_a_square(run, arrays):
    """Whether an array with two axes of length n is made; arrays(n) are all the arguments.

    A mask has a byte for each pair, so of a quick answer a larger case is tried with that bound.
    States of a few numbers for each position, in a list of arrays, stay below it.
    """
    began = own_time()
    kept = grows(run, 0.9 * 8 * 272**2, arrays(32), arrays(272))
    if not kept and own_time() - began < 0.25:
        kept = grows(run, 0.9 * 1448**2, arrays(128), arrays(1448))
    return kept
