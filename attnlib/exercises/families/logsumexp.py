"""The logarithm of a sum of exponentials: its steps, and what goes wrong in them."""

import numpy as np

from ..model import Mistake, alike, each
from .choose import pick
from .softmax import EPSILONS, EXPONENTIAL_MISTAKES, ONE_LEFT_OUT


DEAD_ROW = "a row of -inf"

TINIER = (float(np.finfo(np.float64).tiny), float(np.finfo(np.float32).tiny), float(np.finfo(np.float64).eps), 1e-10,
          1e-12, 1e-15, 1e-16, 1e-20, 1e-30, 1e-300)

LOWEST = tuple(float(np.finfo(dtype).min) for dtype in (np.float16, np.float32, np.float64))


def _largest(k):
    """The sum of the k largest powers."""
    def total(powers, axis):
        ordered = np.sort(powers, axis=axis)
        n = ordered.shape[axis]
        return np.take(ordered, range(max(n - k, 0), n), axis=axis).sum(axis=axis, keepdims=True)

    return {"total": total}


def _log(of, **more):
    """Another last function in place of the logarithm."""
    return {"log": of, **more}


UNGUARDED = {"guard": lambda m: np.zeros_like(m)}

LOG_MISTAKES = (
    Mistake("no logarithm",
            change=(_log(lambda total: total), _log(lambda total: total, **UNGUARDED),
                    _log(lambda total: total, add_back=lambda logs, m, axis: logs * np.exp(m))),
            does="The answer holds the sum of the exponentials, not its logarithm.",
            why="The sum itself overflows for large scores; its logarithm is about as large as the largest score.",
            ask="What is the last function in log sum exp to be applied?"),
    *alike("exp and the natural logarithm of the sum undo each other; no other logarithm does, and nothing is added to "
           "the sum.",
           "What should the answer be for a single score, and for two scores of 0?",
           ("logarithm to base 2", _log(np.log2), "The sum's logarithm is 1.44 times too large."),
           ("logarithm to base 10", _log(np.log10), "The sum's logarithm is 2.3 times too small."),
           ("log1p instead of log", _log(np.log1p), "The logarithm is that of the sum plus 1.")),
    Mistake("epsilon in the logarithm",
            change=(*(_log(lambda total, e=e: np.log(total + e)) for e in EPSILONS + TINIER),
                    *(_log(lambda total, e=e: np.log(np.maximum(total, e)))
                      for e in (1e-6, 1e-8, *TINIER, float(np.finfo(np.float32).eps)))),
            numbers=each(lambda e: _log(lambda total: np.log(total + e)), lambda e: 0 < e < 10),
            does="A small number stands with the sum in the logarithm. A row of nothing but -inf gives "
                 "the logarithm of that number.",
            why="With the maximum subtracted the sum is at least 1. In a row of -inf it is 0, and "
                "there -inf is the answer that is asked for.",
            ask="When can the sum be 0, and what should its logarithm be then?"),
    *alike("The exponentials of all scores of a row are added, the small ones too, and nothing is averaged.",
           "How many exponentials are added, and what should the answer be for n equal scores?",
           ("one score left out of the sum", ONE_LEFT_OUT,
            "The first, the last or the largest score of a row is missing in the sum."),
           ("mean instead of sum", {"total": lambda p, axis: p.mean(axis=axis, keepdims=True)},
            "The answer is too small by log n.")),
    Mistake("only the largest scores", change=tuple(map(_largest, (2, 3))),
            numbers=each(_largest, lambda k: k in range(4, 20)),
            does="Only the few largest scores of a row are summed.",
            why="Small scores have small exponentials, and there may be many of them: all are added.",
            ask="What should the answer be for n equal scores?"),
)

BASES = pick(EXPONENTIAL_MISTAKES, "power of 2 instead of e", "power of 10 instead of e")
