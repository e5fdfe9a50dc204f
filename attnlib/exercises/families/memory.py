"""What values cannot show: how much memory a function holds while it runs."""


def peak_memory(run, *args):
    """(bytes that the call holds at most at one time, its outcome); 0 bytes where nobody can tell.

    `run` is what an audit gets. It takes some 100 kB itself, so that a bound should lie well above.
    """
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
