"""What values cannot show: how much memory a function holds while it runs."""

import time

from ..model import Mistake


def peak_memory(run, *args):
    """(bytes that the call holds at most at one time, its outcome); 0 bytes where nobody can tell.

    `run` is what an audit gets. It takes some 100 kB itself, so that a bound should lie well above. What Python
    does not hand out (a tensor, a mapped file) shows on Linux alone, and in amounts of megabytes.
    """
    before = _resident("VmRSS", reset=True)
    traced, outcome = _traced(run, *args)
    return max(traced, _resident("VmHWM") - before - NOISE), outcome


NOISE = 4 << 20  # bytes by which a process grows for reasons of its own


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
    """Whether a call holds `most` bytes or more for `large` arguments beyond what it holds for `small` ones.

    The difference counts: text that is put together to be printed takes memory in both.
    """
    held, outcome = peak_memory(run, *large)
    return held >= most and not outcome.failure and held - peak_memory(run, *small)[0] >= 0.8 * most


ALL_SCORES = Mistake(
    "scores of all keys kept",
    does="While it runs it holds as many scores as n_q times n_k, in one array or in pieces.",
    why="The point of going block by block is that the memory does not grow with the number of keys: for 100000 positions "
        "the scores alone would take 40 gigabytes in float32. So no scores of a block are kept when the next one comes.",
    ask="Which array in your function grows with n_k, and where does block_size stand in it?")


NUMBER_OF_BLOCKS = Mistake(
    "block_size taken for the number of blocks",
    does="The smaller block_size is, the more keys are read at once, and the larger, the fewer.",
    why="A block holds block_size keys, and how many blocks there are follows from n_k. Otherwise a longer text makes longer "
        "blocks, and they no longer fit where they should.",
    ask="How many keys does your first block hold for 1000 keys and a block size of 10?")


def size_for_number(run, arrays):
    """NUMBER_OF_BLOCKS where large blocks take little memory and small ones much; arrays as in keeps_all_scores."""
    n_q, n_k = 96, 1536
    scores = 8 * n_q * n_k
    held, outcome = peak_memory(run, *arrays(n_q, n_k), n_k // 2)
    if outcome.failure or held > 0.3 * scores:
        return None
    more, outcome = peak_memory(run, *arrays(n_q, n_k), 2)
    return NUMBER_OF_BLOCKS if not outcome.failure and more > 0.45 * scores else None


def keeps_all_scores(run, arrays):
    """ALL_SCORES where anything as large as all scores is made; arrays(n_q, n_k) are the arguments before block_size.

    Their vectors have one feature or two: blocks and what is left of them take a third of all scores, and a learner's lists
    of numbers half.
    """
    began = time.process_time()
    kept = grows(run, 0.9 * 8 * 96 * 768, (*arrays(12, 96), 32), (*arrays(96, 768), 32))
    if not kept and time.process_time() - began < 0.2:  # no loop over single keys: megabytes show a tensor too
        kept = grows(run, 0.7 * 8 * 1024 * 2048, (*arrays(128, 256), 128), (*arrays(1024, 2048), 128))
    return ALL_SCORES if kept else None
