"""First kernels: what goes wrong where programs share out the places of an axis, a block for each.

The block's length is an argument, so it is known what each program would read and write.
"""

import numpy as np

from ..model import PLAIN, SQUARE, Case, normal
from .tiles import BLANKS, out_of_bounds, tensors_of  # noqa: F401, for the page
from .triton_launches import Kernels, kernel_device

MULTIPLE, SHORTER = "a multiple of the block", "shorter than a block"


def sized(aspect, *shapes, block, seed=121):
    """A case of float32 arrays of these shapes, and the block's length."""
    arrays = (normal(*shape, seed=seed + i, dtype=np.float32) for i, shape in enumerate(shapes))
    return Case(aspect, (*arrays, block), device=kernel_device())


def matrices():
    """Cases of one matrix whose rows are longer than a block, whole blocks, or shorter."""
    shapes = {
        PLAIN: (((3, 11), 4), ((5, 7), 2), ((2, 37), 8)),
        MULTIPLE: (((3, 8), 4), ((5, 12), 2), ((2, 64), 16)),
        SHORTER: (((3, 5), 8), ((7, 3), 16)),
        SQUARE: (((5, 5), 2),),
        "one row": (((1, 7), 4),),
        "one column": (((7, 1), 2),),
    }
    return [
        sized(aspect, shape, block=block)
        for aspect, these in shapes.items()
        for shape, block in these
    ]


def listed(aspect, *lists, block):
    """A case of float32 numbers that stand here."""
    arrays = (np.array(numbers, np.float32) for numbers in lists)
    return Case(aspect, (*arrays, block), device=kernel_device())


def blocks_in(n, block):
    return -(-n // block)


def first_columns(output, columns, blank):
    """The output of programs that write only the first places of the last axis."""
    return np.where(np.arange(output.shape[-1]) < columns, output, blank)


def first_rows(output, rows, blank):
    """The output of programs that write only the first places of the first axis."""
    return first_columns(output.T, rows, blank).T


def as_many_rows(output, programs, blank):
    """Each program takes a row; one that has none reads beyond the tensor."""
    return first_rows(output, programs, blank) if programs <= len(output) else out_of_bounds()


def stored_first(output, block, blank):
    """Each program stores its block in the place of the first one, so the last one stays."""
    kept = np.full_like(output, blank)
    for start in range(0, output.shape[-1], block):
        part = output[..., start : start + block]
        kept[..., : part.shape[-1]] = part
    return kept


def stored_beside(output, block, blank):
    """Program b stores its block from place b on."""
    kept, n = np.full_like(output, blank), output.shape[-1]
    for number, start in enumerate(range(0, n, block)):
        part = output[..., start : start + block]
        kept[..., number : number + part.shape[-1]] = part
    return kept


def first_block_again(array, block):
    """Each program reads the first block."""
    return array[..., np.arange(array.shape[-1]) % block]


def whole_blocks(array, block):
    """Without a mask, the last block reaches beyond the tensor unless it is whole."""
    return array if array.shape[-1] % block == 0 else out_of_bounds()


def inside_masked(array, block):
    """With a mask that compares the place inside the block with n, only a lone block is cut off."""
    return array if array.shape[-1] <= block else whole_blocks(array, block)


def rows_from(array, apart):
    """What is read if row i is taken to begin i * apart numbers after the first."""
    at = np.arange(len(array))[:, None] * apart + np.arange(array.shape[1])
    return array.ravel()[at] if at.max() < array.size else out_of_bounds()


def rows_to(output, apart, blank):
    """The output if row i is written i * apart numbers after the first, row after row."""
    rows, n = output.shape
    if (rows - 1) * apart + n > output.size:
        out_of_bounds()
    flat = np.full(output.size, blank)
    for i, row in enumerate(output):
        flat[i * apart : i * apart + n] = row
    return flat.reshape(output.shape)


def grid_turned(output, block, blank, rows_masked=False):
    """A grid of (blocks, rows) whose first number is taken for the row; a mask may let no row pass
    that doesn't exist.
    """
    rows, n = output.shape
    if blocks_in(n, block) > rows and not rows_masked:
        out_of_bounds()
    return first_columns(first_rows(output, blocks_in(n, block), blank), rows * block, blank)


def as_half(array):
    """Rounded to float16, and wide again."""
    return array.astype(np.float16).astype(array.dtype)


def per_row(vector, rows):
    """One number of the vector for each row, if there are so many."""
    return vector[:rows, None] if rows <= len(vector) else out_of_bounds()


def only_in_row_0(vector, rows):
    """A vector that is read i * n numbers further on in row i."""
    return vector if rows == 1 else out_of_bounds()


def in_blocks(right, *shapes, kernels=None):
    """An audit of an answer whose numbers are right: another block changes the number of programs
    or of places that they load and store, and there are no more than so many kernels. Only the
    interpreter counts places.
    """

    def audit(run):
        tensors, seen = tensors_of(*shapes), []
        wanted = right(*(tensor.cpu().numpy() for tensor in tensors))
        for block in (1, 4):
            outcome = run(*tensors, block)
            pieces = outcome.answer.pieces if outcome.answer else ()
            values = pieces[0].values if len(pieces) == 1 else np.empty(0)
            if values.shape != wanted.shape or not np.allclose(values, wanted, atol=1e-5):
                return None
            seen.append((Kernels.programs, Kernels.places))
        if kernels and len(Kernels.programs) > kernels:
            return "more than one kernel launched"
        return "block ignored" if Kernels.places and seen[0] == seen[1] else None

    return audit
