"""Answers to blockwise_logsumexp, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("blockwise_logsumexp")


def starts(scores, block_size):
    return range(0, scores.shape[-1], block_size)


def read(scores, block_size, starts=starts, rescale=True, safe=True, back=True):
    row_max = np.full(scores.shape[:-1], -np.inf)
    row_sum = np.zeros(scores.shape[:-1])
    for start in starts(scores, block_size):
        block = scores[..., start : start + block_size].astype(np.float64)
        new_max = np.maximum(row_max, block.max(axis=-1))
        used = np.where(np.isneginf(new_max), 0, new_max) if safe else new_max
        row_sum = row_sum * (np.exp(row_max - used) if rescale else 1) + np.exp(
            block - used[..., None]
        ).sum(axis=-1)
        row_max = new_max
    with np.errstate(divide="ignore"):
        logs = np.log(row_sum)
    if not back:
        return logs.astype(scores.dtype)
    return np.where(np.isneginf(row_max) & safe, -np.inf, row_max + logs).astype(scores.dtype)


answers.right(read)


@answers.right()
def by_logaddexp(scores, block_size):
    total = np.full(scores.shape[:-1], -np.inf)
    for start in range(0, scores.shape[-1], block_size):
        total = np.logaddexp(
            total,
            np.logaddexp.reduce(
                scores[..., start : start + block_size].astype(np.float64), axis=-1
            ),
        )
    return total.astype(scores.dtype)


@answers.right()
def in_two_readings(scores, block_size):
    blocks = [slice(start, start + block_size) for start in range(0, scores.shape[-1], block_size)]
    row_max = np.max([scores[..., b].max(axis=-1) for b in blocks], axis=0)
    used = np.where(np.isneginf(row_max), 0, row_max)[..., None]
    row_sum = sum(np.exp(scores[..., b].astype(np.float64) - used).sum(axis=-1) for b in blocks)
    with np.errstate(divide="ignore"):
        return (used[..., 0] + np.log(row_sum)).astype(scores.dtype)


answers.wrong(
    "shorter block dropped",
    function=lambda scores, block_size: read(
        scores, block_size, lambda s, b: range(0, s.shape[-1] // b * b, b)
    ),
)
answers.wrong(
    "last block dropped",
    function=lambda scores, block_size: read(
        scores, block_size, lambda s, b: list(starts(s, b))[:-1]
    ),
)
answers.wrong(
    "old sum not rescaled",
    function=lambda scores, block_size: read(scores, block_size, rescale=False),
)
answers.wrong(
    "blocks of -inf NaN", function=lambda scores, block_size: read(scores, block_size, safe=False)
)
answers.wrong(
    "maximum not added back",
    function=lambda scores, block_size: read(scores, block_size, back=False),
)


@answers.wrong("log-sum-exps of the blocks added")
def by_adding_logs(scores, block_size):
    return sum(
        np.logaddexp.reduce(scores[..., s : s + block_size].astype(np.float64), axis=-1)
        for s in starts(scores, block_size)
    ).astype(scores.dtype)


@answers.wrong("as much memory as the scores take")
def by_the_whole_row(scores, block_size):
    highest = scores.max(axis=-1, keepdims=True)
    shifted = scores.astype(np.float64) - np.where(np.isneginf(highest), 0, highest)
    with np.errstate(divide="ignore"):
        return (
            np.where(np.isneginf(highest), 0, highest)[..., 0]
            + np.log(np.exp(shifted).sum(axis=-1))
        ).astype(scores.dtype)


@answers.wrong("maximum of all rows")
def by_one_maximum(scores, block_size):
    row_max = np.full(scores.shape[:-1], -np.inf, scores.dtype)
    row_sum = np.zeros(scores.shape[:-1], scores.dtype)
    for start in starts(scores, block_size):
        block = scores[..., start : start + block_size]
        new_max = np.maximum(row_max, block.max())
        used = np.where(np.isneginf(new_max), 0, new_max)
        row_sum = row_sum * np.exp(row_max - used) + np.exp(block - used[..., None]).sum(axis=-1)
        row_max = new_max
    with np.errstate(divide="ignore"):
        return row_max + np.log(row_sum)


def by_safe_maximum(scores, block_size, carry=True):
    row_max = np.full(scores.shape[:-1], -np.inf, scores.dtype)
    row_sum = np.zeros(scores.shape[:-1], scores.dtype)
    for start in starts(scores, block_size):
        block = scores[..., start : start + block_size]
        new_max = np.maximum(row_max, block.max(axis=-1))
        safe = np.where(np.isinf(new_max), 0, new_max)
        row_sum = row_sum * np.exp(row_max - safe) + np.exp(block - safe[..., None]).sum(axis=-1)
        row_max = safe if carry else new_max
    return row_max, row_sum


@answers.wrong("0 kept as the maximum")
def by_zero_carried_on(scores, block_size):
    row_max, row_sum = by_safe_maximum(scores, block_size)
    with np.errstate(divide="ignore"):
        return row_max + np.log(row_sum)


answers.wrong(
    "sum without its logarithm",
    function=lambda scores, block_size: by_safe_maximum(scores, block_size, carry=False)[1],
)
answers.wrong(
    "block_size used as the number of blocks",
    function=lambda scores, block_size: read(scores, -(-scores.shape[-1] // block_size)),
)


@answers.wrong("shorter block dropped")
def blockwise_whole_blocks(scores, block_size):
    total = np.full(scores.shape[:-1], -np.inf, dtype=scores.dtype)
    for i in range(max(scores.shape[-1] // block_size, 1)):
        block = scores[..., i * block_size : (i + 1) * block_size]
        total = np.logaddexp(total, np.logaddexp.reduce(block, axis=-1))
    return total


@answers.right()
def blockwise_joined_at_the_end(scores, block_size):
    parts = [
        np.logaddexp.reduce(scores[..., i : i + block_size], axis=-1)
        for i in range(0, scores.shape[-1], block_size)
    ]
    return np.logaddexp.reduce(parts, axis=0)


@answers.wrong("block_size used as the number of blocks")
def blockwise_so_many_blocks(scores, block_size):
    total = np.full(scores.shape[:-1], -np.inf, scores.dtype)
    for block in np.array_split(scores, min(block_size, scores.shape[-1]), axis=-1):
        total = np.logaddexp(total, np.logaddexp.reduce(block, axis=-1))
    return total


@answers.wrong("blocks not joined")
def blockwise_stacked(scores, block_size):
    starts = range(0, scores.shape[-1], block_size)
    return np.stack(
        [np.logaddexp.reduce(scores[..., i : i + block_size], axis=-1) for i in starts], axis=-1
    )


@answers.wrong("blocks along the first axis", "as much memory as the scores take")
def blockwise_of_queries(scores, block_size):
    total = np.full(scores.shape[1:], -np.inf, dtype=scores.dtype)
    for i in range(0, len(scores), block_size):
        total = np.logaddexp(total, np.logaddexp.reduce(scores[i : i + block_size], axis=0))
    return total


@answers.wrong("no maximum subtracted", "shorter block dropped")
def blockwise_sum_of_whole_blocks(scores, block_size):
    total = np.zeros(scores.shape[:-1], dtype=scores.dtype)
    for i in range(scores.shape[-1] // block_size):
        total += np.exp(scores[..., i * block_size : (i + 1) * block_size]).sum(axis=-1)
    return np.log(total)


def log_sums(blocks, scores, start=-np.inf):
    total = np.full(scores.shape[:-1], start, dtype=scores.dtype)
    for block in blocks:
        total = np.logaddexp(total, np.logaddexp.reduce(block, axis=-1))
    return total


def block_starts(scores, block_size):
    return range(0, scores.shape[-1], block_size)


answers.wrong(
    "an extra score of 0",
    function=lambda scores, block_size: log_sums(
        (scores[..., i : i + block_size] for i in block_starts(scores, block_size)), scores, 0
    ),
)
answers.wrong(
    "blocks that overlap",
    function=lambda scores, block_size: log_sums(
        (scores[..., i : i + block_size + 1] for i in block_starts(scores, block_size)), scores
    ),
)


@answers.wrong("padded by zeros")
def blockwise_padded(scores, block_size):
    total = np.full(scores.shape[:-1], -np.inf, dtype=scores.dtype)
    for i in block_starts(scores, block_size):
        block = scores[..., i : i + block_size]
        missing = block_size - block.shape[-1]
        block = np.concatenate(
            [block, np.zeros((*block.shape[:-1], missing), block.dtype)], axis=-1
        )
        total = np.logaddexp(total, np.logaddexp.reduce(block, axis=-1))
    return total


def read_from(lowest):
    """The running maximum begins at what `lowest` makes of the scores' dtype."""

    def read(scores, block_size):
        row_max = np.full(scores.shape[:-1], lowest(scores.dtype), scores.dtype)
        row_sum = np.zeros_like(row_max)
        for i in block_starts(scores, block_size):
            block = scores[..., i : i + block_size]
            new_max = np.maximum(row_max, block.max(axis=-1))
            row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max[..., None]).sum(
                axis=-1
            )
            row_max = new_max
        return row_max + np.log(row_sum)

    return read


# below every score there is, and a row of -inf has a sum of 0: nothing is wrong with it
answers.right(function=read_from(lambda dtype: np.finfo(dtype).min))
answers.wrong("starting maximum too high", function=read_from(lambda dtype: 0.0))
answers.wrong("starting maximum too high", function=read_from(lambda dtype: -1000.0))
answers.wrong("starting maximum too high", function=read_from(lambda dtype: -9999.0))
answers.wrong("starting maximum too high", function=read_from(lambda dtype: -1e4))
answers.wrong("starting maximum too high", function=read_from(lambda dtype: -250.0))
answers.wrong(
    "starting maximum too high",
    function=read_from(lambda dtype: -1e9 if dtype == np.float64 else -np.inf),
)
answers.wrong(
    "starting maximum too high",
    function=read_from(lambda dtype: max(-2e9 + 7, np.finfo(dtype).min)),
)


@answers.wrong("last score left out if it's alone")
def blocks_up_to_the_last_but_one(scores, block_size):
    total = np.full(scores.shape[:-1], -np.inf, scores.dtype)
    for start in range(0, scores.shape[-1] - 1, block_size):
        for score in np.moveaxis(scores[..., start : start + block_size], -1, 0):
            total = np.logaddexp(total, score)
    return total


@answers.wrong("only blocks that are -inf in all rows skipped")
def blocks_skipped_where_all_rows_are_dead(scores, block_size):
    row_max = np.full(scores.shape[:-1], -np.inf, scores.dtype)
    row_sum = np.zeros_like(row_max)
    for start in range(0, scores.shape[-1], block_size):
        block = scores[..., start : start + block_size]
        if np.all(np.isneginf(block)):
            continue
        new_max = np.maximum(row_max, block.max(axis=-1))
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max[..., None]).sum(
            axis=-1
        )
        row_max = new_max
    with np.errstate(divide="ignore"):
        return row_max + np.log(row_sum)


def joined(scores, blocks):
    """The log-sum-exp of these slices of the last axis, one after the other."""
    total = np.full(scores.shape[:-1], -np.inf, scores.dtype)
    for block in blocks:
        total = np.logaddexp(total, np.logaddexp.reduce(scores[..., block], axis=-1))
    return total


answers.wrong(
    "blocks that overlap",
    function=lambda scores, size: joined(
        scores, [slice(i, i + size) for i in range(scores.shape[-1])]
    ),
)
answers.wrong(
    "one score of each full block left out",
    function=lambda scores, size: joined(
        scores, [slice(i, i + size - 1) for i in starts(scores, size)]
    ),
)
answers.wrong(
    "another number where a row is -inf",
    function=lambda scores, size: np.nan_to_num(
        joined(scores, [slice(i, i + size) for i in starts(scores, size)])
    ),
)


@answers.wrong("-inf replaced by a number")
def raised_to_a_number(scores, block_size):
    row_max = np.full(scores.shape[:-1], -1e9, scores.dtype)
    row_sum = np.zeros(scores.shape[:-1], scores.dtype)
    for start in starts(scores, block_size):
        block = np.maximum(scores[..., start : start + block_size], scores.dtype.type(-1e9))
        new_max = np.maximum(row_max, block.max(axis=-1))
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max[..., None]).sum(
            axis=-1
        )
        row_max = new_max
    return row_max + np.log(row_sum)


@answers.wrong("maximum of the first block kept")
def first_maximum(scores, block_size):
    first = scores[..., :block_size].max(axis=-1, keepdims=True)
    used = np.where(np.isfinite(first), first, 0).astype(scores.dtype)
    row_sum = np.zeros(scores.shape[:-1], scores.dtype)
    for start in starts(scores, block_size):
        row_sum = row_sum + np.exp(scores[..., start : start + block_size] - used).sum(axis=-1)
    with np.errstate(divide="ignore"):
        return used[..., 0] + np.log(row_sum)
