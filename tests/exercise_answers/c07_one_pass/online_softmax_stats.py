"""Answers to online_softmax_stats, written as learners write them."""

import functools
import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("online_softmax_stats")


@answers.right()
def stats_plain(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        new_max = max(row_max, block.max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max).sum()
        row_max = new_max
    return row_max, row_sum


@answers.right()
def stats_first_block_apart(blocks):
    blocks = iter(blocks)
    first = next(blocks)
    row_max = np.max(first)
    row_sum = np.sum(np.exp(first - row_max))
    for block in blocks:
        if block.max() > row_max:
            row_sum *= np.exp(row_max - block.max())
            row_max = block.max()
        row_sum += np.sum(np.exp(block - row_max))
    return row_max, row_sum


@answers.right()
def stats_by_score(blocks):
    m, s = -math.inf, 0.0
    for block in blocks:
        for score in block.tolist():
            if score > m:
                m, s = score, s * math.exp(m - score) + 1.0
            else:
                s += math.exp(score - m)
    return m, s


@answers.right()
def stats_merged(blocks):
    def merge(one, two):
        m = max(one[0], two[0])
        return m, one[1] * math.exp(one[0] - m) + two[1] * math.exp(two[0] - m)

    each = ((float(b.max()), float(np.exp(b.astype(float) - b.max()).sum())) for b in blocks)
    return functools.reduce(merge, each)


@answers.right()
def stats_by_log_sum_exp(blocks):
    top, lse = -np.inf, -np.inf
    for block in blocks:
        wide = block.astype(np.float64)
        lse = np.logaddexp(lse, np.logaddexp.reduce(wide))
        top = np.maximum(top, wide.max())
    return [top, np.exp(lse - top)]


@answers.wrong("sum not rescaled")
def stats_not_rescaled(blocks):
    row_max, row_sum = -np.inf, 0
    for block in blocks:
        row_max = max(row_max, block.max())
        row_sum += np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("sum not rescaled")
def stats_rescaled_too_late(blocks):
    m, s = -math.inf, 0.0
    for block in blocks:
        old = m
        m = max(m, float(np.max(block)))
        old = m
        s = s * math.exp(old - m) + float(np.exp(block - m).sum())
    return m, s


@answers.wrong("block maximum instead of the running maximum")
def stats_block_maximum(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        block_max = block.max()
        row_sum = row_sum * np.exp(row_max - block_max) + np.exp(block - block_max).sum()
        row_max = block_max
    return row_max, row_sum


@answers.wrong("block measured from its own maximum")
def stats_own_maximum(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        new_max = max(row_max, block.max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.sum(np.exp(block - block.max()))
        row_max = new_max
    return row_max, row_sum


@answers.wrong("block measured from its own maximum", "sum not rescaled")
def stats_sums_added(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        row_sum += np.sum(np.exp(block - block.max()))
        row_max = max(row_max, block.max())
    return row_max, row_sum


@answers.wrong("rescaled the wrong way")
def stats_wrong_way(blocks):
    blocks = iter(blocks)
    first = next(blocks)
    m = first.max()
    s = np.exp(first - m).sum()
    for block in blocks:
        new = max(m, block.max())
        s = s * np.exp(new - m) + np.exp(block - new).sum()
        m = new
    return m, s


@answers.wrong("no maximum subtracted")
def stats_naive(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        row_max = max(row_max, block.max())
        row_sum += np.exp(block).sum()
    return row_max, row_sum


@answers.wrong("starting maximum too high")
def stats_from_zero(blocks):
    row_max = row_sum = 0.0
    for block in blocks:
        new_max = max(row_max, block.max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max).sum()
        row_max = new_max
    return row_max, row_sum


@answers.wrong("starting maximum too high", "sum not rescaled")
def stats_from_zero_not_rescaled(blocks):
    row_max = row_sum = 0.0
    for block in blocks:
        row_max = max(row_max, block.max())
        row_sum += np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("only the first block")
def stats_return_in_the_loop(blocks):
    for block in blocks:
        row_max = block.max()
        return row_max, np.exp(block - row_max).sum()


@answers.wrong("iterable read twice")
def stats_two_loops(blocks):
    row_max = -np.inf
    for block in blocks:
        row_max = max(row_max, block.max())
    row_sum = 0.0
    for block in blocks:
        row_sum += np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("blocks kept")
def stats_concatenated(blocks):
    scores = np.concatenate(list(blocks))
    return scores.max(), np.exp(scores - scores.max()).sum()


@answers.wrong("blocks kept")
def stats_listed(blocks):
    blocks = list(blocks)
    row_max = max(block.max() for block in blocks)
    return row_max, sum(np.exp(block - row_max).sum() for block in blocks)


@answers.wrong("list expected instead of an iterable")
def stats_indexed(blocks):
    row_max = blocks[0].max()
    row_sum = np.exp(blocks[0] - row_max).sum()
    for i in range(1, len(blocks)):
        new_max = max(row_max, blocks[i].max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(blocks[i] - new_max).sum()
        row_max = new_max
    return row_max, row_sum


@answers.wrong("logarithm of the sum")
def stats_lse(blocks):
    row_max, row_sum = stats_plain(blocks)
    return row_max, row_max + np.log(row_sum)


@answers.wrong("maximum and sum swapped")
def stats_swapped(blocks):
    row_max, row_sum = stats_plain(blocks)
    return row_sum, row_max


@answers.wrong("tail block counted as zeros")
def stats_padded(blocks):
    row_max, row_sum, size = -np.inf, 0.0, 0
    for block in blocks:
        size = max(size, block.size)
        block = np.pad(block, (0, size - block.size))
        new_max = max(row_max, block.max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max).sum()
        row_max = new_max
    return row_max, row_sum


@answers.right()
def stats_of_each_block(blocks):
    maxima, sums = [], []
    for block in blocks:
        maxima.append(block.max())
        sums.append(np.exp(block - block.max()).sum())
    row_max = max(maxima)
    return row_max, np.sum(np.array(sums) * np.exp(np.array(maxima) - row_max))


@answers.wrong("only the last block")
def stats_last_block(blocks):
    for block in blocks:
        row_max = block.max()
        row_sum = np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("maximum of the first block subtracted")
def stats_first_maximum(blocks):
    row_max = None
    for block in blocks:
        if row_max is None:
            row_max, row_sum = block.max(), 0.0
        row_sum += np.exp(block - row_max).sum()
    return row_max, row_sum


@answers.wrong("first block dropped")
def stats_first_sum_forgotten(blocks):
    blocks = iter(blocks)
    m, s = next(blocks).max(), 0.0
    for block in blocks:
        new = max(m, block.max())
        s = s * np.exp(m - new) + np.exp(block - new).sum()
        m = new
    return m, s


@answers.wrong("no maximum subtracted")
def stats_naive_divided(blocks):
    m, s = -math.inf, 0.0
    for block in blocks:
        for score in block.tolist():
            m, s = max(m, score), s + math.exp(score)
    return m, s / math.exp(m)


@answers.wrong("blocks kept")
def stats_growing_array(blocks):
    scores = np.array([])
    for block in blocks:
        scores = np.append(scores, block)
    return scores.max(), np.exp(scores - scores.max()).sum()


@answers.wrong("argument overwritten")
def stats_in_place(blocks):
    m, s = -np.inf, 0.0
    for block in blocks:
        new = max(m, block.max())
        block -= new
        s = s * np.exp(m - new) + np.exp(block).sum()
        m = new
    return m, s


@answers.wrong("blocks kept", "maximum and sum swapped")
def stats_concatenated_swapped(blocks):
    scores = np.concatenate(list(blocks))
    return np.exp(scores - scores.max()).sum(), scores.max()


def stats_printed(blocks):
    highest, total = -np.inf, 0.0
    for block in blocks:
        print(block, "x" * 500_000)
        new = max(highest, block.max())
        total, highest = total * np.exp(highest - new) + np.exp(block - new).sum(), new
    return highest, total


answers.right(stats_printed)

for names, function in ((["trailing comma"], lambda blocks: (stats_printed(blocks),)),):
    if function.__name__ == "<lambda>":
        function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("mean of a block instead of its maximum")
def stats_of_means(blocks):
    top, total = -np.inf, 0.0
    for block in blocks:
        new = max(top, block.mean())
        total = total * np.exp(top - new) + np.exp(block - new).sum()
        top = new
    return top, total


@answers.wrong("old sum rescaled to the block's maximum")
def stats_to_the_block(blocks):
    top, total = None, 0.0
    for block in blocks:
        if top is None:
            top, total = block.max(), np.exp(block - block.max()).sum()
            continue
        new = max(top, block.max())
        total = total * np.exp(top - block.max()) + np.exp(block - new).sum()
        top = new
    return top, total


@answers.wrong("factor infinite at the first block")
def stats_without_exp(blocks):
    row_max, row_sum = -np.inf, 0.0
    for block in blocks:
        new = max(row_max, block.max())
        row_sum = row_sum * (row_max - new) + np.exp(block - new).sum()
        row_max = new
    return row_max, row_sum


@answers.wrong("new maximum not added")
def stats_without_the_largest(blocks):
    m, s = None, 0.0
    for block in blocks:
        if m is None:
            m = block[0]
        for score in block:
            if score > m:
                m, s = score, s * np.exp(m - score)
            else:
                s += np.exp(score - m)
    return m, s


@answers.wrong("blocks without a new maximum left out")
def stats_of_record_blocks(blocks):
    m, s = -np.inf, 0.0
    for block in blocks:
        top = block.max()
        if top > m:
            s = s * np.exp(m - top) + np.exp(block - top).sum()
            m = top
    return m, s


def stats_from(lowest):
    """The running maximum begins at what `lowest` makes of the blocks' dtype."""

    def stats(blocks):
        row_max = row_sum = None
        for block in blocks:
            if row_max is None:
                row_max, row_sum = lowest(block.dtype), 0.0
            new_max = max(row_max, block.max())
            row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max).sum()
            row_max = new_max
        return row_max, row_sum

    return stats


# no finite score is below the dtype's lowest, so that nothing is wrong with it
answers.right(function=stats_from(lambda dtype: np.finfo(dtype).min))
answers.wrong("maximum starts at a large negative number", function=stats_from(lambda dtype: -1e4))
answers.wrong("maximum starts at a large negative number", function=stats_from(lambda dtype: -1e9))
answers.wrong("maximum starts at a large negative number", function=stats_from(lambda dtype: -1e30))
answers.wrong(
    "maximum starts at a large negative number",
    function=stats_from(lambda dtype: float(np.finfo(np.float32).min)),
)


@answers.wrong("starting maximum too high")
def stats_from_minus_1000(blocks):
    row_max, row_sum = -1000.0, 0.0
    for block in blocks:
        new_max = max(row_max, block.max())
        row_sum = row_sum * np.exp(row_max - new_max) + np.exp(block - new_max).sum()
        row_max = new_max
    return row_max, row_sum


@answers.wrong("rescaled the wrong way", "starting maximum too high")
def stats_from_0_rescaled_the_wrong_way(blocks):
    m, s = 0.0, 0.0
    for b in blocks:
        new = max(m, b.max())
        s = s * np.exp(new - m) + np.exp(b - new).sum()
        m = new
    return m, s
