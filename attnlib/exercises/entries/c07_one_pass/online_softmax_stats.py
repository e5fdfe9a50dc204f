"""The exercise online_softmax_stats."""

import numpy as np

from ...families.memory import grows
from ...model import FLOAT16, FLOAT32, HUGE, PLAIN, Case, Exercise, Mistake, Once, Step, normal


def online_softmax_stats_answer(do, blocks):
    row_max, row_sum = do.start()
    for block in do.blocks(blocks):
        new_max = do.new_max(row_max, block)
        rescaled = do.rescale(row_sum, row_max, new_max)
        row_sum = do.join(rescaled, do.block_sum(block, row_max, new_max), row_max, new_max)
        row_max = new_max
    return do.finish(row_max, row_sum)


RAGGED = "blocks of different lengths"

NEGATIVE = "negative scores alone"

ONE_BLOCK = "one block"


def _stream_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, *blocks, dtype=np.float64, extreme=False):
        return Case(aspect, (Once([np.array(block, dtype) for block in blocks]),), extreme)

    def some(aspect, *lengths, seed, dtype=np.float64, top=None):
        blocks = [normal(length, seed=seed + i) for i, length in enumerate(lengths)]
        if top is not None:
            blocks[top][-1] = 2.5
        return case(aspect, *blocks, dtype=dtype)

    return [
        case(PLAIN, [0, 1], [3, 2]), case(PLAIN, [3, 1], [0, 2]), case(PLAIN, [1, 0], [2, 4], [3, 1]),
        some(PLAIN, 5, 5, 5, 5, 5, seed=1, top=2), some(PLAIN, 3, 3, 3, seed=6, top=0),
        some(PLAIN, 3, 3, 3, seed=9, top=2),
        case(ONE_BLOCK, [1, 3]), some(ONE_BLOCK, 7, seed=2),
        case(RAGGED, [0, 1], [2]), case(RAGGED, [2], [0, 1]), some(RAGGED, 7, 7, 7, 2, seed=12, top=1),
        some(RAGGED, 3, 1, 11, 2, 5, seed=16, top=3),
        case("blocks of one score", [1], [0], [3], [2]),
        case("equal scores", [2, 2], [2, 2]),
        case(NEGATIVE, [-3, -1], [-2, -4]), case(NEGATIVE, [-2, -3], [-1]), case(NEGATIVE, [-200], [-201, -199]),
        case(HUGE, [10000, 9999], [9998], extreme=True), case(HUGE, [-10000], [-9999, -9998], extreme=True),
        case(HUGE, [0], [10000], [9999], extreme=True), case(HUGE, [-10000], [0], [10000, 1], extreme=True),
        case(HUGE, [10000], [0, 9999.5], extreme=True), case(HUGE, [800, 799], [801], extreme=True),
        case(HUGE, [-10000, -9999.5], [-9999.25], extreme=True),
        case(FLOAT32, [0, 1], [3, 2], dtype=f4), some(FLOAT32, 5, 3, 5, seed=22, dtype=f4, top=1),
        case(FLOAT32, [100], [98, 99], dtype=f4, extreme=True), case(FLOAT16, [0, 1], [3, 2], dtype=f2),
        case(FLOAT16, [20], [18, 19], dtype=f2, extreme=True),
    ]


def _exp_sum(block, reference):
    return np.exp(block - reference).sum()


def _padded(sizes):
    """Blocks filled up with zeros to what `sizes` makes of all lengths so far."""
    def blocks_in(blocks):
        blocks = list(blocks)
        lengths = [block.size for block in blocks]
        return [np.pad(block, (0, max(sizes(lengths, i) - block.size, 0))) for i, block in enumerate(blocks)]

    return {"blocks": blocks_in}


def _full_blocks(blocks, compare=np.greater_equal):
    blocks = list(blocks)
    return [block for block in blocks if compare(block.size, blocks[0].size)]


def _wrong_way(row_sum, row_max, new_max):
    return row_sum * np.exp(new_max - row_max) if row_sum else 0.0


def _from_old(block, row_max, new_max):
    return _exp_sum(block, new_max if row_max == -np.inf else row_max)


def _both_rescaled(rescaled, added, row_max, new_max):
    return rescaled + added * (1.0 if row_max == -np.inf else np.exp(row_max - new_max))


NOT_RESCALED = Mistake(
    "sum not rescaled", change={"rescale": lambda row_sum, row_max, new_max: row_sum},
    does="When a later block has a larger maximum, the old part of the sum stays as it was.",
    why="The old exponentials were taken relative to the old maximum. Relative to the new one they are "
        "exp(old maximum - new maximum) times as large.",
    ask="By which factor does exp(score - maximum) change when the maximum changes?")

LIST_EXPECTED = Mistake(
    "list expected instead of an iterable",
    does="The function works for a list of blocks, and not for an iterator.",
    why="An iterator has no length and no index, and does not come back: it hands out one block after "
        "the other, so that only one is in memory.",
    ask="Which statement takes the blocks one by one?")


def _few_blocks():
    return [np.array([0.0, 1.0]), np.array([3.0, 2.0])]


def no_list_needed(run):
    """An audit: whether the function needs more than an iterator."""
    return LIST_EXPECTED if run(iter(_few_blocks())).failure and not run(_few_blocks()).failure else None


KEPT_BLOCKS = Mistake(
    "blocks kept",
    does="The function keeps all blocks until the end.",
    why="The point of reading block by block is that only one block is in memory.",
    ask="Which few numbers say all about the blocks before?")


def no_blocks_kept(run):
    """An audit: whether more than a few of many blocks are in memory at once."""
    def blocks(n_blocks):
        return ((np.linspace(-1.0, 1.0 + i % 7, length) for i in range(n_blocks)),)

    length = 1000
    return KEPT_BLOCKS if grows(run, 100 * length * 4, blocks(10), blocks(100)) else None


def _streamed(blocks, old_factor, new_factor=lambda old, new, own: np.exp(own - new) * np.exp(new - own), first=0):
    """Maximum and sum with other factors, of the old, the new and the block's own maximum."""
    row_max, row_sum = -np.inf, 0.0
    for k, block in enumerate(blocks):
        own = block.max()
        new = max(row_max, own)
        if k < first:
            row_sum = _exp_sum(block, own)
        else:
            kept = old_factor(row_max, new, own) * row_sum if row_sum else 0.0
            row_sum = kept + _exp_sum(block, new) * new_factor(row_max, new, own)
        row_max = new
    return row_max, row_sum


def _of_all(blocks, total):
    """The maximum, and a total of all scores and the blocks' lengths."""
    blocks = list(blocks)
    scores = np.concatenate(blocks)
    return scores.max(), total(scores, [block.size for block in blocks])


def _all_from_the_first(blocks):
    blocks = list(blocks)
    scores = np.concatenate(blocks)
    return scores.max(), _exp_sum(scores, blocks[0].max())


EXERCISE = Exercise(
    name="online_softmax_stats", signature="(blocks)", place=1,
    text="The maximum of all scores, and the sum of exp(score - maximum), from blocks of scores that come "
         "one by one and are not kept.",
    answer=online_softmax_stats_answer,
    steps={
        "start": lambda: (-np.inf, 0.0),
        "blocks": lambda blocks: blocks,
        "new_max": Step(lambda row_max, block: max(row_max, block.max()), "the running maximum", True),
        "rescale": Step(lambda row_sum, row_max, new_max: row_sum * np.exp(row_max - new_max), "the rescaled sum",
                        True),
        "block_sum": Step(lambda block, row_max, new_max: _exp_sum(block, new_max), "the block's sum", True),
        "join": lambda rescaled, added, row_max, new_max: rescaled + added,
        "finish": lambda row_max, row_sum: (row_max, row_sum),
    },
    cases=_stream_cases, dtype="number", outputs=("row_max", "row_sum"),
    audits=(no_list_needed, no_blocks_kept),
    hints=(
        "Go through the blocks once, and carry two numbers along: the maximum so far, and the sum so far.",
        "The sum so far is relative to the maximum so far. When a block brings a larger maximum, what "
        "happens to exp(score - maximum) for the scores before?",
        "Every old exponential gets the same factor, exp(old maximum - new maximum): so the old sum gets it, too.",
        "Begin with -inf and 0. For each block: the new maximum is the larger of the old one and the "
        "block's; multiply the sum by exp(old - new); add the block's np.exp(block - new) summed; "
        "keep the new maximum.",
    ),
    mistakes=(
        NOT_RESCALED,
        Mistake("block maximum instead of the running maximum",
                change=({"new_max": lambda row_max, block: block.max()},),
                does="The maximum returned is that of the last block, and the sum is relative to it.",
                why="The running maximum is the larger of the old one and the block's; with a block's own "
                    "maximum the factor may exceed 1 and overflow.",
                ask="What should the maximum be after a block whose scores are all small?"),
        Mistake("maximum of the first block kept",
                change=({"new_max": lambda row_max, block: block.max() if row_max == -np.inf else row_max},
                        {"answer": _all_from_the_first}),
                does="The scores are measured from the maximum of the first block throughout.",
                why="A later block may hold a larger score: its exponential may overflow.",
                ask="What happens to the maximum when a block brings a larger score?"),
        Mistake("block measured from its own maximum",
                change={"block_sum": lambda block, row_max, new_max: _exp_sum(block, block.max())},
                does="Each block's sum is relative to the block's own maximum, and is added as it is.",
                why="All terms of the sum must be relative to the same number, the running maximum.",
                ask="From which maximum are the scores of the new block measured, and from which the old ones?"),
        Mistake("block measured from the old maximum", change={"block_sum": _from_old},
                does="A block's scores are measured from the maximum before it; they overflow if it is much higher.",
                why="The running maximum has to be updated first: then no exponent is above 0.",
                ask="Which maximum is known before the block's exponentials are taken?"),
        Mistake("old sum rescaled to the block's maximum",
                change=tuple({"answer": lambda blocks, first=first: _streamed(
                    blocks, lambda old, new, own: np.exp(old - own), first=first)} for first in (0, 1)),
                does="The old sum gets the factor exp(old maximum - block's maximum), also where the block's is lower.",
                why="All terms are measured from the new running maximum: the factor is exp(old - new), never above 1.",
                ask="From which maximum is the new block measured, and from which the old sum?"),
        Mistake("another factor for the old sum",
                change=tuple({"rescale": lambda row_sum, row_max, new_max, of=of: row_sum * of(row_max, new_max)
                              if row_sum else 0.0} for of in (
                    lambda old, new: np.exp(2 * (old - new)), lambda old, new: np.exp((old - new) / 2),
                    lambda old, new: np.exp2(old - new), lambda old, new: 10.0 ** (old - new),
                    lambda old, new: 1 / (1 + new - old), lambda old, new: old / new, lambda old, new: new / old,
                    lambda old, new: np.exp(-new), lambda old, new: np.exp(old),
                                  lambda old, new: 1 - np.exp(old - new))),
                does="When the maximum grows, the old sum gets a factor that is not exp(old maximum - new maximum).",
                why="exp(score - new) is exp(score - old) times exp(old - new).",
                ask="By which factor does exp(score - maximum) change when the maximum changes?"),
        Mistake("one score of each block left out",
                change=tuple({"block_sum": lambda block, row_max, new_max, part=part: _exp_sum(block[part], new_max)}
                             for part in (slice(None, -1), slice(1, None))),
                does="The first or the last score of each block is missing in the sum.",
                why="All scores of a block count; range(n - 1) and the slice [1:] leave one out.",
                ask="How many terms does a block of three scores add?"),
        Mistake("number of scores instead of the sum",
                change=({"answer": lambda blocks: _of_all(blocks, lambda s, lengths: float(s.size))},
                        {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: float(len(lengths)))}),
                does="The second number is how many scores, or blocks, there are.",
                why="Each score adds exp(score - maximum), which is 1 only for the largest one.",
                ask="What does a score far below the maximum add to the sum?"),
        Mistake("both factors swapped",
                change={"answer": lambda blocks: _streamed(
                    blocks, lambda old, new, own: np.exp(own - new), lambda old, new, own: (
                        np.exp(old - new) if np.isfinite(old) else 1.0) * np.exp(new - own))},
                does="The old sum gets the new block's factor, and the new block the old one's.",
                why="Each sum is relative to its own maximum, and moves from there to the common one.",
                ask="From which maximum was each of the two sums measured?"),
        Mistake("largest score's term missing", change={"finish": lambda row_max, row_sum: (row_max, row_sum - 1)},
                does="The sum is too small by 1, the term of the largest score.",
                why="The largest score counts as well: its term is exp(0) = 1.",
                ask="What should row_sum be for a single score?"),
        Mistake("divided by the number of scores", change=(
                    {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: np.exp(s - s.max()).mean())},
                    {"answer": lambda blocks: _of_all(blocks,
                                                      lambda s, lengths: np.exp(s - s.max()).sum() / len(lengths))}),
                does="The sum is divided by the number of scores, or of blocks.",
                why="The sum itself is asked for: it is what the exponentials are divided by.",
                ask="What should row_sum be for n equal scores?"),
        Mistake("rescaled the wrong way",
                change={"rescale": _wrong_way},
                does="The old sum grows when the maximum grows.",
                why="Relative to a larger maximum the old exponentials are smaller: the factor is exp(old "
                    "- new), never above 1.",
                ask="Should the old sum become smaller or larger when the maximum grows?"),
        Mistake("factor infinite at the first block",
                change={"rescale": lambda row_sum, row_max, new_max: row_sum * np.exp(new_max - row_max)},
                does="Before the first block the sum, 0, is multiplied by an infinite factor: that is NaN, and stays "
                     "NaN.",
                why="The factor is exp(old maximum - new maximum), which is 0 where the old maximum is -inf. Without "
                    "exp, or "
                    "with old and new exchanged, it is infinite.",
                ask="What is your factor at the first block, where the old maximum is -inf?"),
        Mistake("new block rescaled too",
                change=({"join": _both_rescaled},
                        {"join": lambda rescaled, added, row_max, new_max:
                         rescaled + added * np.exp(row_max - new_max)}),
                does="The factor exp(old maximum - new maximum) is put on the new block's sum as well.",
                why="The new block is measured from the new maximum already; only the old sum needs the factor.",
                ask="Which part of the sum is still relative to the old maximum?"),
        Mistake("old sum lost", change={"rescale": lambda row_sum, row_max, new_max: 0.0},
                does="The sum is that of the last block alone.",
                why="The sum so far is carried along: rescaled, then added to the new block's.",
                ask="Which assignment forgets the blocks before?"),
        Mistake("old sum lost when the maximum grows",
                change={"rescale": lambda row_sum, row_max, new_max: row_sum if new_max == row_max else 0.0},
                does="A new maximum starts the sum anew.",
                why="The old scores still count: their sum gets the factor exp(old maximum - new maximum).",
                ask="What are the old exponentials worth relative to the new maximum?"),
        Mistake("no maximum subtracted",
                change=({"rescale": lambda row_sum, row_max, new_max: row_sum,
                         "block_sum": lambda block, row_max, new_max: _exp_sum(block, 0.0)},
                        {"finish": lambda row_max, row_sum: (row_max, row_sum * np.exp(row_max))},
                        {"rescale": lambda row_sum, row_max, new_max: row_sum,
                         "block_sum": lambda block, row_max, new_max: _exp_sum(block, 0.0),
                         "finish": lambda row_max, row_sum: (row_max, row_sum / np.exp(row_max))}),
                does="exp(score) is summed as it is: it overflows for scores above 709.",
                why="The sum is asked for relative to the maximum: then it lies between 1 and the number of scores.",
                ask="How large can the sum of exp(score - maximum) become?"),
        Mistake("maximum starts at 0",
                change=tuple({"start": lambda start=start: (start, 0.0)} for start in (
                    0.0, *(float(np.finfo(dtype).tiny) for dtype in (np.float64, np.float32)),
                    1.0, -1.0, -10.0, -50.0, -100.0, -999.0, -1000.0, -9999.0)),
                does="The maximum starts at 0 or another number: if all scores lie below it, it stays there.",
                why="The maximum has to start below every score: at -inf.",
                ask="Which number is smaller than every score?"),
        Mistake("sum starts at 1",
                change=({"rescale": lambda row_sum, row_max, new_max: 1.0
                         if row_max == -np.inf else row_sum * np.exp(row_max - new_max)},),
                does="The sum is too large by one term.",
                why="Before the first block nothing has been added: the sum starts at 0.",
                ask="What is the sum of no terms at all?"),
        Mistake("only the last block", change={"blocks": lambda blocks: list(blocks)[-1:]},
                does="The answer is that of the last block.",
                why="All scores count: what is known of the blocks before is carried along in two numbers.",
                ask="What do you carry from one block to the next?"),
        Mistake("last block dropped", change={"blocks": lambda blocks: list(blocks)[:-1]},
                does="The last block does not count.",
                why="Every block counts; a loop that looks one block ahead has to deal with the last one after it.",
                ask="What happens to a block when no other follows?"),
        Mistake("first block dropped",
                change=({"blocks": lambda blocks: list(blocks)[1:]},
                        {"block_sum": lambda block, row_max, new_max: 0.0
                         if row_max == -np.inf else _exp_sum(block, new_max)},
                        {"block_sum": lambda block, row_max, new_max: 1.0
                         if row_max == -np.inf else _exp_sum(block, new_max)}),
                does="The first block does not count; or it gives a maximum, but its scores are missing from the sum.",
                why="A next() before the loop takes a block away: it has to be counted, too.",
                ask="What happens to the first block in your function?"),
        Mistake("only the first block", change={"blocks": lambda blocks: list(blocks)[:1]},
                does="The answer is that of the first block.",
                why="All blocks count. A return inside a loop, for one, ends it after the first round.",
                ask="Which blocks does your function read before it returns?"),
        Mistake("shorter blocks dropped",
                change=({"blocks": _full_blocks}, {"blocks": lambda blocks: _full_blocks(blocks, np.equal)}),
                does="A block that is shorter than the first one does not count.",
                why="The number of scores need not be a multiple of the block size: the last block may be short.",
                ask="What happens to a block that is not full?"),
        Mistake("tail block counted as zeros",
                change=(_padded(lambda lengths, i: lengths[0]), _padded(lambda lengths, i: max(lengths)),
                        _padded(lambda lengths, i: max(lengths[:i + 1]))),
                does="A short block is filled up with scores of 0.",
                why="exp(0 - maximum) is not 0: the filling counts. Fill with -inf, or not at all.",
                ask="Which score adds nothing to a sum of exponentials?"),
        Mistake("logarithm of the sum",
                change=({"finish": lambda row_max, row_sum: (row_max, np.log(row_sum))},
                        {"finish": lambda row_max, row_sum: (row_max, row_max + np.log(row_sum))}),
                does="The second number is a logarithm.",
                why="The sum itself is asked for; the log-sum-exp comes at the very end.",
                ask="What should row_sum be for a single score?"),
        Mistake("maximum and sum swapped", change={"finish": lambda row_max, row_sum: (row_sum, row_max)},
                does="The sum comes first, the maximum second.",
                why="The answer is (row_max, row_sum), in this order.",
                ask="In which order does the signature name the two numbers?"),
        Mistake("minimum instead of maximum",
                change={"new_max": lambda row_max, block: block.min()
                        if row_max == -np.inf else min(row_max, block.min())},
                does="The smallest score of all is kept.",
                why="Only relative to the largest score is no exponent above 0.",
                ask="Which score must become 0, so that exp does not overflow?"),
        Mistake("mean of a block instead of its maximum",
                change=tuple({"new_max": lambda row_max, block, of=of: max(row_max, of(block))}
                             for of in (np.mean, np.median)),
                does="The running maximum is that of the blocks' means or medians.",
                why="The largest score of all is asked for: a block's mean lies below its largest score.",
                ask="What is the largest score of the block 0, 4?"),
        Mistake("one score of a block instead of its maximum",
                change=tuple({"new_max": lambda row_max, block, i=i: max(row_max, block[i])} for i in (0, -1)),
                does="Only the first or the last score of each block is looked at for the maximum.",
                why="The largest score may stand anywhere in its block.",
                ask="Which scores of a block do you compare with the maximum?"),
        Mistake("maximum of absolute values",
                change={"new_max": lambda row_max, block: max(row_max, np.abs(block).max())},
                does="The maximum is that of the absolute values.",
                why="The largest score itself is asked for, whatever its sign.",
                ask="What is the maximum of -3 and 1?"),
        Mistake("mean instead of sum",
                change={"block_sum": lambda block, row_max, new_max: np.exp(block - new_max).mean()},
                does="Each block adds the mean of its exponentials.",
                why="Every score adds its own exponential: blocks may have different lengths.",
                ask="What should row_sum be for n equal scores?"),
        Mistake("no exponential in the factor",
                change=({"rescale": lambda row_sum, row_max, new_max: row_sum * (row_max - new_max)
                         if row_sum else 0.0},
                        {"rescale": lambda row_sum, row_max, new_max: row_sum + row_max - new_max if row_sum else 0.0}),
                does="The old sum is changed by old maximum - new maximum, not by the exponential of it.",
                why="A difference of exponents is a factor exp(difference).",
                ask="By which factor does exp(score - maximum) change when the maximum changes?"),
        Mistake("no exponential",
                change=({"block_sum": lambda block, row_max, new_max: (block - new_max).sum()},
                        {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: (s - s.max()).sum())},
                        {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: s.sum())}),
                does="The shifted scores are summed, not their exponentials.",
                why="The sum of exp(score - maximum) is asked for.",
                ask="Which function makes every term positive?"),
        Mistake("power of 2 instead of e",
                change={"block_sum": lambda block, row_max, new_max: np.exp2(block - new_max).sum(),
                        "rescale": lambda row_sum, row_max, new_max: row_sum * np.exp2(row_max - new_max)},
                does="Powers of 2 are summed.",
                why="The softmax is made of powers of e: a score that is larger by 1 counts e times as much.",
                ask="Which base has the exponential of the softmax?"),
    ),
)
