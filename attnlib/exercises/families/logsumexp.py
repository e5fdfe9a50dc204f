"""The logarithm of a sum of exponentials: its steps, and what goes wrong in them."""

import numpy as np

from ..model import Mistake, each
from .choose import named
from .softmax import EPSILONS, EXPONENTIAL_MISTAKES, ONE_LEFT_OUT


DEAD_ROW = "a row of -inf"

TINIER = (float(np.finfo(np.float64).tiny), float(np.finfo(np.float32).tiny), float(np.finfo(np.float64).eps), 1e-10,
          1e-12, 1e-15, 1e-16, 1e-20, 1e-30, 1e-300)

LOWEST = tuple(float(np.finfo(dtype).min) for dtype in (np.float16, np.float32, np.float64))


def _largest(powers, axis, k):
    """The sum of the k largest powers."""
    ordered = np.sort(powers, axis=axis)
    n = ordered.shape[axis]
    return np.take(ordered, range(max(n - k, 0), n), axis=axis).sum(axis=axis, keepdims=True)


LOG_MISTAKES = (
    Mistake("no logarithm",
            change=({"log": lambda total: total},
                    {"guard": lambda m: np.zeros_like(m), "log": lambda total: total},
                    {"log": lambda total: total, "add_back": lambda logs, m, axis: logs * np.exp(m)}),
            does="The answer holds the sum of the exponentials, not its logarithm.",
            why="The sum itself overflows for large scores; its logarithm is about as large as the "
                "largest score.",
            ask="What is the last function in log sum exp to be applied?"),
    Mistake("logarithm to base 2", change={"log": lambda total: np.log2(total)},
            does="The sum's logarithm is 1.44 times too large.",
            why="exp and the natural logarithm undo each other; exp and log2 do not.",
            ask="What should the answer be for two scores of 0?"),
    Mistake("logarithm to base 10", change={"log": lambda total: np.log10(total)},
            does="The sum's logarithm is 2.3 times too small.",
            why="exp and the natural logarithm undo each other; exp and log10 do not.",
            ask="What should the answer be for two scores of 0?"),
    Mistake("log1p instead of log", change={"log": lambda total: np.log1p(total)},
            does="The logarithm is that of the sum plus 1.",
            why="log1p(x) is log(1 + x): the 1 is one term too many.",
            ask="What should the answer be for a single score?"),
    Mistake("epsilon in the logarithm",
            change=tuple({"log": lambda total, e=e: np.log(total + e)} for e in EPSILONS + TINIER) +
                   tuple({"log": lambda total, e=e: np.log(np.maximum(total, e))}
                         for e in (1e-6, 1e-8, *TINIER, float(np.finfo(np.float32).eps))),
            numbers=each(lambda e: {"log": lambda total: np.log(total + e)}, lambda e: 0 < e < 10),
            does="A small number stands with the sum in the logarithm. A row of nothing but -inf gives "
                 "the logarithm of that number.",
            why="With the maximum subtracted the sum is at least 1. In a row of -inf it is 0, and "
                "there -inf is the answer that is asked for.",
            ask="When can the sum be 0, and what should its logarithm be then?"),
    Mistake("one score left out of the sum",
            change=ONE_LEFT_OUT,
            does="The first, the last or the largest score of a row is missing in the sum.",
            why="The sum runs over all scores of a row.",
            ask="How many exponentials are added, and how many scores has the row?"),
    Mistake("only the largest scores",
            change=tuple({"total": lambda p, axis, k=k: _largest(p, axis, k)} for k in (2, 3)),
            numbers=each(lambda k: {"total": lambda p, axis: _largest(p, axis, k)}, lambda k: k in range(4, 20)),
            does="Only the two or three largest scores of a row are summed.",
            why="Small scores have small exponentials, and there may be many of them: all are added.",
            ask="What should the answer be for n equal scores?"),
    Mistake("mean instead of sum",
            change={"total": lambda p, axis: p.mean(axis=axis, keepdims=True)},
            does="The answer is too small by log n.",
            why="Log-sum-exp adds the exponentials; it does not average them.",
            ask="What should the answer be for n equal scores?"),
)

BASES = tuple(named(name, EXPONENTIAL_MISTAKES) for name in ("power of 2 instead of e", "power of 10 instead of e"))
