import numpy as np

from ...families.kernel_costs import kernel_costs
from ...families.scores import softmax_of  # noqa: F401, for the page
from ...families.softmax import EPSILONS, extreme_rows  # noqa: F401, for the page
from ...families.tiles import (  # noqa: F401, for the page
    BLANKS,
    BY_KERNEL,
    STRIDED,
    blocks_of,
    by_a_kernel,
    only_first,
    out_of_bounds,
)
from ...families.triton_launches import Kernels, kernel_device
from ...model import FLOAT16, HUGE, PLAIN, SQUARE, Case, normal
from ...pages import written

BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


def softmax_triton(scores):
    n = scores.shape[-1]
    loaded = scores
    s = loaded  #: the scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True, initial=-np.inf)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    row = weights
    output = row[..., :n]
    return output


def power_of_2(n):
    return 1 << (n - 1).bit_length()


def padded(scores, value, width):
    return np.pad(scores, ((0, 0), (0, width - scores.shape[-1])), constant_values=value)


def rows_apart(row, blank):
    """The rows are written at multiples of the block's length, into a longer tensor that is cut to
    size.
    """
    return padded(row, blank, power_of_2(row.shape[-1])).ravel()[: row.size].reshape(row.shape)


def read_and_written_apart(scores, blank):
    """Row i is read and written at i times the block's length, up to the end of the tensor."""
    flat, output, n = scores.ravel(), np.full(scores.size, blank), scores.shape[-1]
    for start in range(0, len(scores) * power_of_2(n), power_of_2(n)):
        at = slice(start, start + n)
        if flat[at].size:
            output[at] = softmax_of(flat[at])
    return output.reshape(scores.shape)


def from_place(scores):
    """Row i as it is read if it begins i entries after the first."""
    at = np.arange(len(scores))[:, None] + np.arange(scores.shape[1])
    return scores.ravel()[at] if at.max() < scores.size else out_of_bounds()


def overlaid(row, blank):
    """Row i is written i entries after the first, over the rows before it."""
    if len(row) + row.shape[1] - 1 > row.size:
        out_of_bounds()
    flat = np.full(row.size, blank)
    for i, one in enumerate(row):
        flat[i : i + len(one)] = one
    return flat.reshape(row.shape)


def one_program_a_column(row, blank):
    rows, n = row.shape
    if n > rows and kernel_device() == "cpu":
        out_of_bounds()
    return only_first(row, blank, n)


def if_power_of_2(row, otherwise=out_of_bounds):
    return row if row.shape[-1] == power_of_2(row.shape[-1]) else otherwise()


def not_compiled():
    raise ValueError("arange's range must be a power of 2")


def tiled(softmax_of_tiles, scores, block):
    """The weights of a kernel that goes through a row in blocks; of no columns none."""
    return softmax_of_tiles(scores, block) if scores.size else scores


def tile_maximum(scores, block):
    powers = [np.exp(tile - tile.max(axis=-1, keepdims=True)) for tile in blocks_of(scores, block)]
    return np.concatenate(powers, axis=-1) / sum(p.sum(axis=-1, keepdims=True) for p in powers)


def in_a_loop(scores, block, merged, running=True, own_powers=False):
    """The weights from a sum that takes the row block by block. merged(so far, old maximum, new
    maximum, the block's own sum) is the next sum. The maximum is the running one, or the block's
    own; so is the one that the block's own sum is measured from.
    """
    highest, total = np.full((len(scores), 1), -np.inf), 0.0
    for tile in blocks_of(scores, block):
        top = tile.max(axis=-1, keepdims=True)
        new = np.maximum(highest, top) if running else top
        own = np.exp(tile - (top if own_powers else new)).sum(axis=-1, keepdims=True)
        total = merged(total, highest, new, own)
        highest = new
    return np.exp(scores - highest) / total


def sum_not_rescaled(scores, block):
    return in_a_loop(scores, block, lambda total, old, new, own: total + own)


def as_it_should_be(total, old, new, own):
    return total * np.exp(old - new) + own


def block_maximum(scores, block):
    """Rescaled as it should be, and to the block's own maximum: the factor may overflow."""
    return in_a_loop(scores, block, as_it_should_be, running=False)


def last_tile_summed(scores, block):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / blocks_of(powers, block)[-1].sum(axis=-1, keepdims=True)


def tiles_alone(scores, block):
    return np.concatenate([softmax_of(tile) for tile in blocks_of(scores, block)], axis=-1)


def _in_small_tiles():
    """Whether the last row, of 1000 scores, took so many steps that a longer one would take seconds
    to interpret.
    """
    return Kernels.accesses > 600


def _cases():
    def case(aspect, scores, dtype=np.float32, extreme=False, **more):  # keeps the order in memory
        return Case(aspect, (np.array(scores, dtype),), extreme, device=kernel_device(), **more)

    def rowwise(aspect, row, dtype=np.float32, extreme=False):
        return case(aspect, [row, [0.0] * (len(row) - 1) + [1.0]], dtype, extreme)

    def falling(n, **more):
        """The first scores are far above all others, whatever the block's length."""
        scores = normal(1, n, seed=109)
        scores[0, :3] += 10000
        return case(HUGE, scores, extreme=True, **more)

    def long(rows, n, **more):
        scores = normal(rows, n, seed=101)
        scores[:, -1] += 6  # the last block has the maximum
        scores[1:, 0] += 9  # in the rows after it the first block has
        return case("long rows", scores, **more)

    two = "a power of 2"
    drawn = (PLAIN, 5, 7), (PLAIN, 7, 3), (SQUARE, 5, 5), (two, 5, 16), ("a multiple of 64", 1, 192)
    return [
        case(PLAIN, [[0, 1, 3], [2, 5, 4]]),
        *(case(aspect, normal(*shape, seed=102)) for aspect, *shape in drawn),
        case(SQUARE, [[0, 1], [2, 5]]),
        case(two, [[1, 0, 2, -1]]),
        case("one row", [[1.0, 0.5, 2.5, -0.1, 0.0]]),
        case("one column", [[3], [-2], [5]]),
        falling(50),
        *(long(2, n) for n in (100, 1000)),
        falling(2100, unless=_in_small_tiles),
        long(1, 8200, unless=_in_small_tiles),
        case(STRIDED, np.array([[0, 1, 3], [2, 5, 4]], order="F")),
        case(STRIDED, normal(7, 5, seed=110).T),
        case(HUGE, [[10000, 9999, 9998], [0, 1, 2]], extreme=True),
        case(HUGE, [[-10000, -9999, -9998], [0, 1, 2]], extreme=True),
        case(HUGE, [[-10000, -9999, -9998, -9997], [-10000, 1, 0, 2]], extreme=True),
        *extreme_rows(rowwise),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], np.float16),
        case(FLOAT16, normal(3, 5, seed=107), np.float16),
        # below -1e9, and exact even in a fused multiply-add; below 0, but not below -1000
        case(HUGE, [[-(2**31), -(2**32), -(2**31)], [-800, -801, -799]], extreme=True),
        case(HUGE, [[-(2**31), -(2**32), -(2**31), -(2**31)], [0, 1, 2, 3]], extreme=True),
    ]


OWN = by_a_kernel("torch's own softmax called", ("softmax", "logsumexp"), (2, 3))

EXERCISE = written(
    softmax_triton,
    place=11,
    axes=dict(scores="n_q n_k"),
    answer_axes="n_q n_k",
    cases=_cases,
    audits=(OWN,),
    costs=kernel_costs("float32", scores=(16, 1000)),
    **BY_KERNEL,
)
