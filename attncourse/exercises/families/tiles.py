"""Kernels that read and write tiles: what goes wrong in them."""

import numpy as np

from ..model import normal
from .scores import softmax_of, swap
from .torch_calls import Listener
from .triton_launches import NEVER_WRITTEN, Kernels, kernel_device, kernels_missing, kernels_watched

BLANKS = (
    NEVER_WRITTEN,
    0.0,
)  # what torch.empty and torch.zeros leave where a kernel does not write

STRIDED = "a view that is not contiguous"

# torch's functions that do what one kernel should do with the rest
LEFT_TO_TORCH = "part of the work left to torch"
TORCH_OWN = ("relu", "clamp", "clip", "maximum", "where", "mul", "threshold")

# what the exercises that ask for a kernel have in common
BY_KERNEL = dict(library="torch", missing=kernels_missing, around=kernels_watched, seconds=60.0)


def out_of_bounds(*unused):
    raise IndexError("outside its tensors")


def only_first(output, blank, rows=np.inf, columns=np.inf):
    """The output of a kernel that writes only its first rows and columns."""
    i, j = np.indices(output.shape[-2:])
    return np.where((i < rows) & (j < columns), output, blank)


def blocks_of(array, block):
    """The last axis in blocks; the last of them may be shorter."""
    return [array[..., at : at + block] for at in range(0, array.shape[-1], block)]


OWN_MAXIMA = (
    dict(running=False, kept="sum, output"),
    dict(own_powers=True),  # what came before is rescaled to the running maximum
)


def online(
    scores,
    value,
    block,
    kept="",
    running=True,
    skips=False,
    own_powers=False,
    start=-np.inf,
    narrow="",
    dtype=np.float64,
    divided=False,
):
    """Attention a block of keys at a time, with one of its steps left out, or another first
    maximum.

    `kept` is not rescaled. A block in which a query sees nothing is read too, or skipped, where
    that makes a difference. What is `narrow` is rounded to the dtype after each block; an output
    that is `divided` is divided by the sum there.
    """

    def rounded(name, numbers):
        return numbers.astype(dtype).astype(np.float64) if name in narrow else numbers

    highest, total, output = start, 0.0, 0.0
    for tile, part in pairs_of_blocks(scores, value, block):
        own = tile.max(axis=-1, keepdims=True)
        new = np.maximum(highest, own) if running else own
        new = np.where(skips & np.isneginf(own), highest, new)
        factor = np.exp(highest - new) if np.ndim(highest) else 0.0
        powers = np.exp(tile - (own if own_powers else new))
        powers = np.where(skips & np.isneginf(own), 0.0, powers)
        total = total * (1 if "sum" in kept else factor) + powers.sum(axis=-1, keepdims=True)
        output = output * (1 if "output" in kept else factor) + powers @ part
        highest, total, output = new, rounded("sum", total), rounded("output", output)
        output = output / total if divided else output
    return output if divided else output / total


def apart(scores, value, block, skips=False):
    """The output of each block of keys by itself."""
    found = [softmax_of(tile) @ part for tile, part in pairs_of_blocks(scores, value, block)]
    return list(map(np.nan_to_num, found)) if skips else found


def pairs_of_blocks(scores, value, block):
    return zip(blocks_of(scores, block), map(swap, blocks_of(swap(value), block)))


def tensors_of(*shapes):
    import torch

    arrays = (normal(*shape, seed=108 + i, dtype=np.float32) for i, shape in enumerate(shapes))
    return [torch.from_numpy(array).to(kernel_device()) for array in arrays]


def by_a_kernel(name, words, *shapes, more=()):
    """An audit: without a kernel the answer is torch's; torch functions called `words` have a
    name.
    """

    def audit(run):
        args = [*tensors_of(*shapes), *more]
        before = Kernels.launches
        outcome = run(*args)
        if outcome.failure is None and Kernels.launches == before:
            return "no Triton kernel launched"
        return name if Listener().hear(run, *args).heard(*words) else None

    return audit
