import numpy as np

from ...families.memory import grows
from ...model import FLOAT16, FLOAT32, HUGE, PLAIN, Case, Once, normal
from ...pages import written

RAGGED, NEGATIVE = "blocks of different lengths", "negative scores alone"
ONE_BLOCK, LOWEST = "one block", "scores far below any other"
TINY = tuple(float(np.finfo(dtype).tiny) for dtype in (np.float64, np.float32))
LOW = (-1e4, -1e5, -1e6, -1e9, -1e10, -1e30, -65504.0, float(np.finfo(np.float32).min))


def online_softmax_stats(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        new_max = max(row_max, block.max())  #: the running maximum (one per row)
        rescaled = row_sum * np.exp(row_max - new_max)  #: the rescaled sum (one per row)
        added = exp_sum(block, new_max)  #: the block's sum (one per row)
        row_sum = rescaled + added
        row_max = new_max
    return row_max, row_sum


def exp_sum(block, reference):
    return np.exp(block - reference).sum()


def padded(blocks, size):
    """Blocks filled up with zeros to what `size` makes of all lengths and those so far."""
    blocks = list(blocks)
    lengths = [block.size for block in blocks]
    return [
        np.pad(block, (0, max(size(lengths, lengths[: i + 1]) - block.size, 0)))
        for i, block in enumerate(blocks)
    ]


def full_blocks(blocks, compare):
    """The blocks whose length compares with the first one's."""
    blocks = list(blocks)
    return [block for block in blocks if compare(block.size, blocks[0].size)]


def largest_not_added(blocks, first_counts):
    """Score by score: one that becomes the maximum rescales the sum, and adds nothing."""
    row_max, row_sum = -np.inf, 0.0
    for score in (score for block in blocks for score in block):
        if score > row_max:
            first = first_counts and row_max == -np.inf
            row_sum = 1.0 if first else row_sum * np.exp(row_max - score)
            row_max = score
        else:
            row_sum += np.exp(score - row_max)
    return row_max, row_sum


def never_rescaled(blocks):
    """Score by score: each one's term is relative to the maximum so far, and stays as it is."""
    scores = np.concatenate(list(blocks))
    return scores.max(), np.exp(scores - np.maximum.accumulate(scores)).sum()


def started_again(blocks):
    """Score by score: one that becomes the maximum starts a new sum."""
    row_max, row_sum = -np.inf, 0.0
    for score in (score for block in blocks for score in block):
        row_sum = 1.0 if score > row_max else row_sum + np.exp(score - row_max)
        row_max = max(row_max, score)
    return row_max, row_sum


def of_all(blocks, total):
    """The maximum, and a total of all scores, the blocks' lengths and the first block."""
    blocks = list(blocks)
    scores = np.concatenate(blocks)
    return scores.max(), total(scores, [block.size for block in blocks], blocks[0])


OTHER_FACTORS = (
    lambda old, new: 1 / (1 + new - old),
    lambda old, new: old / new,
    lambda old, new: new / old,
    lambda old, new: np.exp(-new),
    lambda old, new: np.exp(old),
    lambda old, new: 1 - np.exp(old - new),
)


def no_list_needed(run):
    """An audit: whether the function needs more than an iterator."""

    def blocks():
        return [np.array([0.0, 1.0]), np.array([3.0, 2.0])]

    needed = run(iter(blocks())).failure and not run(blocks()).failure
    return "list expected instead of an iterable" if needed else None


def no_blocks_kept(run):
    """An audit: whether more than a few of many blocks are in memory at once."""
    length = 1000

    def blocks(n_blocks):
        return ((np.linspace(-1.0, 1.0 + i % 7, length) for i in range(n_blocks)),)

    return "blocks kept" if grows(run, 100 * length * 4, blocks(10), blocks(100)) else None


def _stream_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, *blocks, dtype=np.float64, extreme=False):
        return Case(aspect, (Once([np.array(block, dtype) for block in blocks]),), extreme)

    def huge(*blocks, aspect=HUGE):
        return case(aspect, *blocks, extreme=True)

    def some(aspect, *lengths, seed, dtype=np.float64, top=None):
        blocks = [normal(length, seed=seed + i) for i, length in enumerate(lengths)]
        if top is not None:
            blocks[top][-1] = 2.5
        return case(aspect, *blocks, dtype=dtype)

    return [
        case(PLAIN, [0, 1], [3, 2]),
        case(PLAIN, [3, 1], [0, 2]),
        case(PLAIN, [1, 0], [2, 4], [3, 1]),
        some(PLAIN, 5, 5, 5, 5, 5, seed=1, top=2),
        some(PLAIN, 3, 3, 3, seed=6, top=0),
        some(PLAIN, 3, 3, 3, seed=9, top=2),
        case(ONE_BLOCK, [1, 3]),
        some(ONE_BLOCK, 7, seed=2),
        case(RAGGED, [0, 1], [2]),
        case(RAGGED, [2], [0, 1]),
        some(RAGGED, 7, 7, 7, 2, seed=12, top=1),
        some(RAGGED, 3, 1, 11, 2, 5, seed=16, top=3),
        case("blocks of one score", [1], [0], [3], [2]),
        case("equal scores", [2, 2], [2, 2]),
        case(NEGATIVE, [-2], [-1]),
        case(NEGATIVE, [-3, -1], [-2, -4]),
        case(NEGATIVE, [-2, -3], [-1]),
        case(NEGATIVE, [-200], [-201, -199]),
        huge([10000, 9999], [9998]),
        huge([-10000], [-9999, -9998]),
        huge([0], [10000], [9999]),
        huge([-10000], [0], [10000, 1]),
        huge([10000], [0, 9999.5]),
        huge([800, 799], [801]),
        huge([-10000, -9999.5], [-9999.25]),
        # below any number that is taken for the lowest, and finite
        huge([-3e9], [-2e9], aspect=LOWEST),
        huge([-3e39], [-2e39], aspect=LOWEST),
        case(FLOAT32, [0, 1], [3, 2], dtype=f4),
        some(FLOAT32, 5, 3, 5, seed=22, dtype=f4, top=1),
        case(FLOAT32, [100], [98, 99], dtype=f4, extreme=True),
        case(FLOAT16, [0, 1], [3, 2], dtype=f2),
        case(FLOAT16, [20], [18, 19], dtype=f2, extreme=True),
    ]


EXERCISE = written(
    online_softmax_stats,
    place=1,
    cases=_stream_cases,
    dtype="number",
    outputs=("row_max", "row_sum"),
    audits=(no_list_needed, no_blocks_kept),
)
