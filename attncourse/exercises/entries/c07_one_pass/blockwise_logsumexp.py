import numpy as np

from ...families.memory import grows
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, Case, normal
from ...pages import written

RAGGED, DEAD, LOW = "a last block that is shorter", "rows and blocks of -inf", "low scores"
LOWEST = "scores far below any other"
STARTS = (0.0, -1.0, -10.0, -50.0, -100.0, -999.0, -1e3, -9999.0, -1e4, -1e9, -1e30)
FILLS = (-1e9, -1e4, -1e30)


def blockwise_logsumexp(scores, block_size):
    blocks = blocks_of(scores, block_size)
    row_max, row_sum = start(scores)
    for block in blocks:
        new_max = np.maximum(row_max, block.max(axis=-1))  #: the running maximum (one per row)
        reference = finite(new_max)
        kept = row_sum * np.exp(row_max - reference)
        added = np.exp(block - reference[..., None]).sum(axis=-1)  #: the block's sum (one per row)
        row_sum = kept + added
        row_max = new_max
    logs = log_of(row_sum)  #: the logarithm of the sum (one per row)
    lse = row_max + np.where(np.isneginf(row_max), 0.0, logs)
    return lse


def start(scores):
    return np.full(scores.shape[:-1], -np.inf), np.zeros(scores.shape[:-1])


def finite(maximum):
    return np.where(np.isneginf(maximum), 0.0, maximum)


def filled(block, number):
    return np.where(np.isneginf(block), number, block)


def log_of(row_sum):
    return np.where(row_sum == 0, -np.inf, np.log(np.where(row_sum == 0, 1.0, row_sum)))


def blocks_of(scores, size, step=None):
    n = scores.shape[-1]
    return [scores[..., first : first + size] for first in range(0, n, step or size)]


def full_blocks(scores, size):
    return [block for block in blocks_of(scores, size) if block.shape[-1] == size]


def without_gaps(blocks):
    """The blocks without those after which some row has had only scores of -inf."""
    kept, highest = [], -np.inf
    for block in blocks:
        new = np.maximum(highest, block.max(axis=-1))
        if not np.isneginf(new).any():
            kept.append(block)
            highest = new
    return kept


def padded(scores, size):
    shape = *scores.shape[:-1], -scores.shape[-1] % size
    return blocks_of(np.concatenate([scores, np.zeros(shape)], axis=-1), size)


def of_blocks(scores, size, reduce):
    """The log-sum-exp of each block, and these reduced."""
    parts = [np.logaddexp.reduce(block, axis=-1) for block in blocks_of(scores, size)]
    return reduce(np.stack(parts), axis=0)


def keys_last(parts, axis):
    return np.moveaxis(parts, axis, -1)


def _cases():
    inf = np.inf

    def case(aspect, scores, block_size, dtype=float, extreme=False):
        return Case(aspect, (np.array(scores, dtype), block_size), extreme)

    def drawn(aspect, *shape, seed, dtype=np.float64):
        return Case(aspect, (normal(*shape[:-1], seed=seed, dtype=dtype), shape[-1]))

    def huge(aspect, scores):
        return case(aspect, scores, 2, extreme=True)

    return [
        case(PLAIN, [[0, 1, 2, 3]], 2),
        case(PLAIN, [[3, 2, 1, 0], [0, 3, 1, 2]], 2),
        drawn(PLAIN, 5, 12, 4, seed=1),
        drawn(PLAIN, 7, 15, 5, seed=2),
        drawn(PLAIN, 3, 33, 11, seed=3),
        case("one row", [1, 0, 2, 2], 2),
        case(RAGGED, [[0, 1, 5]], 2),
        drawn(RAGGED, 5, 13, 4, seed=4),
        drawn(RAGGED, 3, 7, 5, seed=5),
        case("one block", [[0, 1]], 2),
        case("one block", [[0, 1]], 9),
        case("blocks of one score", [[2, 0, 1]], 1),
        case("blocks of one score", [[0, 2, 1]], 1),
        drawn(LEADING, 2, 5, 12, 4, seed=6),
        drawn(LEADING, 2, 3, 5, 11, 3, seed=7),
        case(NEG_INF, [[-inf, 0, 1, -inf]], 2),
        case(DEAD, [[-inf, -inf, 1, 0]], 2),
        case(DEAD, [[1, 0, -inf, -inf], [-inf] * 4], 2),
        case(DEAD, [[-inf, -inf, 1], [2, 0, 1]], 2),
        case(DEAD, [-inf] * 5, 2),
        case(DEAD, [[-inf, -inf, -800, -799]], 2),
        case(LOW, [[-800, -799, -801, -800.5]], 2),
        huge(HUGE, [[10000, 9999, 0, -10000]]),
        huge(HUGE, [[0, 1, 10000, 9999]]),
        huge(HUGE, [[10000, 9999, 9998], [-9999, -10000, -9998]]),
        huge(HUGE, [[-10000, -9999, -9998, -9999]]),
        huge(HUGE, [[-11000, -11001, -10999, -11000]]),  # exp(score + 10000) is 0 here
        # below any number that is taken for the lowest, and finite
        huge(LOWEST, [[-3e9, -2e9, -2e9]]),
        huge(LOWEST, [[-2e39, -3e39, -2e39]]),
        case(FLOAT32, [[0, 1, 2, 3]], 2, np.float32),
        drawn(FLOAT32, 5, 12, 5, seed=8, dtype=np.float32),
        drawn(FLOAT16, 3, 10, 4, seed=9, dtype=np.float16),
    ]


def no_large_array(run):
    """An audit: whether the call holds as much memory as the scores take."""

    def scores(n):
        return np.zeros((4, n))

    large = scores(100_000)
    found = grows(run, 0.7 * large.nbytes, (scores(2000), 1000), (large, 1000))
    return "as much memory as the scores take" if found else None


class Noted(np.ndarray):
    """An array that notes how long the axes are of what is made of it."""

    def __array_finalize__(self, whole):
        self.lengths = getattr(whole, "lengths", set())
        self.lengths.update(self.shape)


def blocks_of_another_size(run):
    """An audit: whether 60 keys in blocks of 4 are read 15 at a time, and never 4.

    Memory does not tell it here: there are as many blocks of 4 keys as keys in a block too large,
    and it is right to keep each block's log-sum-exp and join them at the end.
    """
    scores = np.zeros((3, 60)).view(Noted)
    outcome = run(scores, 4)
    other = not outcome.failure and 15 in scores.lengths and 4 not in scores.lengths
    return "block_size used as the number of blocks" if other else None


EXERCISE = written(
    blockwise_logsumexp,
    place=3,
    axes=dict(scores="n_q n_k"),
    answer_axes="n_q",
    cases=_cases,
    audits=(no_large_array, blocks_of_another_size),
)
