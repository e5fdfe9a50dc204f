import numpy as np

from ...families.kernel_costs import kernel_costs
from ...families.programs import (  # noqa: F401, for the page
    as_many_rows,
    blocks_in,
    first_rows,
    in_blocks,
    listed,
    matrices,
    rows_from,
    rows_to,
    whole_blocks,
)
from ...families.scores import softmax_of
from ...families.tiles import BLANKS, BY_KERNEL, blocks_of, by_a_kernel  # noqa: F401, for the page
from ...families.triton_launches import kernel_device
from ...model import HUGE, PLAIN, Case
from ...pages import written
from .softmax_triton import (  # noqa: F401, for the page
    as_it_should_be,
    block_maximum,
    in_a_loop,
    last_tile_summed,
    padded,
    sum_not_rescaled,
    tile_maximum,
    tiles_alone,
)


def looped_softmax_triton(scores, block):
    loaded = scores
    s = loaded  #: the scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True, initial=-np.inf)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    row = weights
    output = row[..., : scores.shape[-1]]
    return output


def widened(scores, block, value):
    """The rows as the loop reads them, with this value in the last block's free places."""
    return padded(scores, value, blocks_in(scores.shape[-1], block) * block)


def in_the_maximum(scores, block, value):
    """The maximum of the rows with this value in the last block's free places, if there are any."""
    highest = scores.max(axis=-1, keepdims=True)
    return np.maximum(highest, value) if scores.shape[-1] % block else highest


def tail_not_summed(scores, block):
    """The maximum and the sum of the whole blocks alone; of none, they are -inf and 0."""
    whole = scores[:, : scores.shape[-1] // block * block]
    highest = whole.max(axis=-1, keepdims=True, initial=-np.inf)
    return np.exp(scores - highest) / np.exp(whole - highest).sum(axis=-1, keepdims=True)


def rescaled_too_late(total, old, new, own):
    """The factor meets the old sum and the block's own terms."""
    return (total + own) * np.exp(old - new)


def rescaled_the_wrong_way(total, old, new, own):
    """The sum so far, once there is one, grows with the maximum."""
    return total * (np.exp(new - old) if np.isfinite(old).all() else 1.0) + own


def rescaled_by_the_new_maximum(total, old, new, own):
    """The factor is exp(-new): the old maximum is forgotten."""
    return total * np.exp(-new) + own


def _cases():
    def huge(scores, block):
        return Case(HUGE, (np.array(scores, np.float32), block), True, device=kernel_device())

    return [
        listed(PLAIN, [[1, 0, 2, 0, 4], [3, 1, 2, 2, 0]], block=2),
        *matrices(),
        huge([[1e4, 9999, -1e4, 0, 1e4], [-1e4, -9999, -1e4, -9999, -9998]], 2),
        huge([[-1e4, -1e4, 1e4, 9998], [1e4, 9997, -1e4, -1e4]], 2),
        huge([[-1e4, -9999, -9998]], 4),
        huge([[-1e4, -9999], [-9997, -9998]], 2),
        # below -1e9, and exact even in a fused multiply-add; below 0, but not below -1000
        huge([[-(2**31), -(2**32), -(2**31)], [-800, -801, -799]], 2),
        huge([[-(2**31), -(2**32), -(2**31), -(2**31)]], 2),
    ]


OWN = by_a_kernel("torch's own softmax called", ("softmax",), (2, 5), more=(2,))

EXERCISE = written(
    looped_softmax_triton,
    place=10,
    axes=dict(scores="rows n"),
    answer_axes="rows n",
    cases=_cases,
    audits=(OWN, in_blocks(softmax_of, (2, 5))),
    costs=kernel_costs("float32", scores=(16, 1000), block=256),
    **BY_KERNEL,
)
