"""Kernels that read and write tiles: what goes wrong in them."""

import numpy as np

from ..model import Mistake, each
from .softmax import SOFTMAX_STEPS
from .triton_launches import NEVER_WRITTEN, Kernels


NO_KERNEL = Mistake(
    "no Triton kernel launched",
    does="The answer comes from torch alone.",
    why="Here you write the kernel: what one program reads, computes and writes.",
    ask="Which line of your function launches a kernel, as in kernel[grid](...)?")

BLANKS = (NEVER_WRITTEN, 0.0)  # what torch.empty and torch.zeros leave where a kernel does not write
BLANK = f"{NEVER_WRITTEN:.0f}, the checker's mark in torch.empty, or 0"  # the same, in a sentence


def nothing_written(shape, ask="Which line of your kernel writes to the output, and how often does it run?"):
    """The output as it was made; `shape` gives its shape from the arguments."""
    return Mistake(
        "nothing written",
        change=tuple({"answer": lambda *given, blank=blank: np.full(shape(*given), blank)} for blank in BLANKS),
        does=f"The output holds what it was made with: {BLANK}.",
        why="A kernel returns nothing: tl.store writes its result, and where it writes nothing the output stays as "
            "torch.empty or torch.zeros made it.",
        ask=ask)

NOT_CAST = Mistake(
    "half precision not cast to float32",
    does="The function is right for float32, and not for float16.",
    why="A kernel loads float16 as float16, and tl.exp takes float32 or float64 only. Cast after each "
        "load, compute in float32, and the store goes back to the output's dtype.",
    ask="Which dtype has what tl.load returns if the tensor is float16?")

STRIDED = "a view that is not contiguous"

STRIDES = Mistake(
    "strides ignored",
    does="The function is right for tensors whose entries follow one another in memory row by row, and not for a "
         "view such as a transposed one.",
    why="A tensor's strides say where its rows and columns lie; x.mT has the same memory and other strides. Either "
        "the kernel is told all strides, or the launcher begins with x.contiguous() and makes its output of that.",
    ask="Where in memory lies entry (1, 0) of x.mT, and where does your kernel look for it?")


def out_of_bounds(*unused):
    raise IndexError("outside its tensors")


def each_tile(change):
    """Variants for blocks of 4 and 8, where these numbers stand in the learner's code."""
    return each(change, (4, 8).__contains__)


def in_one(change):
    """A change of the whole loop: it leaves no step of the softmax for another mistake."""
    return {**{name: SOFTMAX_STEPS[name] for name in ("shift", "exponential", "total", "divide")}, **change}


def without_kernel(run, *args):
    """Whether an answer comes, and no kernel was launched for it."""
    before = Kernels.launches
    outcome = run(*args)
    return outcome.failure is None and Kernels.launches == before
