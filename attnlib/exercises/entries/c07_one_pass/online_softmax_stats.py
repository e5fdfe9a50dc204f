"""The exercise online_softmax_stats."""

import numpy as np

from ...families.memory import grows
from ...model import FLOAT16, FLOAT32, HUGE, PLAIN, Case, Exercise, Mistake, Once, Step, alike, normal


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


def _full_blocks(compare):
    """The blocks that compare with the first one's length."""
    def blocks_in(blocks):
        blocks = list(blocks)
        return [block for block in blocks if compare(block.size, blocks[0].size)]

    return {"blocks": blocks_in}


def _rescaled(of):
    """Another old sum, once there is one, of the sum and both maxima."""
    return {"rescale": lambda row_sum, row_max, new_max: of(row_sum, row_max, new_max) if row_sum else 0.0}


def _highest(of):
    """Another running maximum, of the one so far and the block."""
    return {"new_max": lambda row_max, block: of(row_max, block)}


def _finished(of):
    return {"finish": of}


def _part(part):
    """Only some blocks."""
    return {"blocks": lambda blocks: list(blocks)[part]}


def _first_block_as(of):
    """Something else for the first block's sum."""
    return {"block_sum": lambda block, row_max, new_max: of(block) if row_max == -np.inf else _exp_sum(block, new_max)}


UNSHIFTED = {"rescale": lambda row_sum, row_max, new_max: row_sum,
             "block_sum": lambda block, row_max, new_max: _exp_sum(block, 0.0)}

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


def _largest_not_added(blocks, first_counts):
    """Score by score: one that becomes the maximum rescales the sum, and adds nothing."""
    row_max, row_sum = -np.inf, 0.0
    for score in (score for block in blocks for score in block):
        if score > row_max:
            row_sum = 1.0 if first_counts and row_max == -np.inf else row_sum * np.exp(row_max - score)
            row_max = score
        else:
            row_sum += np.exp(score - row_max)
    return row_max, row_sum


def _of_all(blocks, total):
    """The maximum, and a total of all scores and the blocks' lengths."""
    blocks = list(blocks)
    scores = np.concatenate(blocks)
    return scores.max(), total(scores, [block.size for block in blocks])


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
        *alike("Relative to a larger maximum the old exponentials are smaller: the old sum, and it alone, gets the "
               "factor "
               "exp(old maximum - new maximum), which is never above 1.",
               "By which factor does exp(score - maximum) change when the maximum grows, and which part of the sum is "
               "still "
               "relative to the old one?",
               ("sum not rescaled", {"rescale": lambda row_sum, row_max, new_max: row_sum},
                "When a later block has a larger maximum, the old part of the sum stays as it was."),
               ("rescaled the wrong way", _rescaled(lambda total, old, new: total * np.exp(new - old)),
                "The old sum grows when the maximum grows."),
               ("old sum rescaled to the block's maximum",
                tuple({"answer": lambda blocks, first=first: _streamed(
                    blocks, lambda old, new, own: np.exp(old - own), first=first)} for first in (0, 1)),
                "The old sum gets the factor exp(old maximum - block's maximum), also where the block's is lower."),
               ("another factor for the old sum",
                tuple(_rescaled(lambda total, old, new, of=of: total * of(old, new)) for of in (
                    lambda old, new: np.exp(2 * (old - new)), lambda old, new: np.exp((old - new) / 2),
                    lambda old, new: np.exp2(old - new), lambda old, new: 10.0 ** (old - new),
                    lambda old, new: 1 / (1 + new - old), lambda old, new: old / new, lambda old, new: new / old,
                    lambda old, new: np.exp(-new), lambda old, new: np.exp(old),
                    lambda old, new: 1 - np.exp(old - new))),
                "When the maximum grows, the old sum gets a factor that is not exp(old maximum - new maximum)."),
               ("no exponential in the factor",
                (_rescaled(lambda total, old, new: total * (old - new)),
                 _rescaled(lambda total, old, new: total + old - new)),
                "The old sum is changed by old maximum - new maximum, not by the exponential of it."),
               ("new block rescaled too",
                ({"join": lambda kept, added, old, new: kept + added * (1.0 if old == -np.inf else np.exp(old - new))},
                 {"join": lambda kept, added, old, new: kept + added * np.exp(old - new)}),
                "The factor exp(old maximum - new maximum) is put on the new block's sum as well."),
               ("both factors swapped", {"answer": lambda blocks: _streamed(
                   blocks, lambda old, new, own: np.exp(own - new), lambda old, new, own: (
                       np.exp(old - new) if np.isfinite(old) else 1.0) * np.exp(new - own))},
                "The old sum gets the new block's factor, and the new block the old one's.")),
        Mistake("factor infinite at the first block",
                change={"rescale": lambda row_sum, row_max, new_max: row_sum * np.exp(new_max - row_max)},
                does="Before the first block the sum, 0, is multiplied by an infinite factor: that is NaN, and stays "
                     "NaN.",
                why="The factor is exp(old maximum - new maximum), which is 0 where the old maximum is -inf. Without "
                    "exp, or "
                    "with old and new exchanged, it is infinite.",
                ask="What is your factor at the first block, where the old maximum is -inf?"),
        *alike("The sum so far is carried along: rescaled, then added to the new block's.",
               "What are the old exponentials worth relative to the new maximum, and which assignment forgets them?",
               ("old sum lost", {"rescale": lambda row_sum, row_max, new_max: 0.0},
                "The sum is that of the last block alone."),
               ("old sum lost when the maximum grows",
                {"rescale": lambda row_sum, row_max, new_max: row_sum if new_max == row_max else 0.0},
                "A new maximum starts the sum anew.")),
        *alike("The running maximum is the largest of all scores so far: the larger of the old one and the block's. "
               "Then no "
               "exponent is above 0.",
               "Which score is the largest of the blocks -3, 1 and 0, 4, and which one does your function keep?",
               ("block maximum instead of the running maximum", _highest(lambda row_max, block: block.max()),
                "The maximum returned is that of the last block, and the sum is relative to it."),
               ("maximum of the first block kept",
                (_highest(lambda row_max, block: block.max() if row_max == -np.inf else row_max),
                 {"answer": lambda blocks: (lambda blocks: _of_all(
                     blocks, lambda scores, lengths: _exp_sum(scores, blocks[0].max())))(list(blocks))}),
                "The scores are measured from the maximum of the first block throughout."),
               ("minimum instead of maximum",
                _highest(lambda row_max, block: block.min() if row_max == -np.inf else min(row_max, block.min())),
                "The smallest score of all is kept."),
               ("mean of a block instead of its maximum",
                tuple(_highest(lambda row_max, block, of=of: max(row_max, of(block))) for of in (np.mean, np.median)),
                "The running maximum is that of the blocks' means or medians."),
               ("one score of a block instead of its maximum",
                tuple(_highest(lambda row_max, block, i=i: max(row_max, block[i])) for i in (0, -1)),
                "Only the first or the last score of each block is looked at for the maximum."),
               ("maximum of absolute values", _highest(lambda row_max, block: max(row_max, np.abs(block).max())),
                "The maximum is that of the absolute values.")),
        *alike("All terms of the sum are relative to the same number, the running maximum, which is known before the "
               "block's "
               "exponentials are taken.",
               "From which maximum are the scores of the new block measured, and from which the old ones?",
               ("block measured from its own maximum",
                {"block_sum": lambda block, row_max, new_max: _exp_sum(block, block.max())},
                "Each block's sum is relative to the block's own maximum, and is added as it is."),
               ("block measured from the old maximum",
                {"block_sum": lambda block, row_max, new_max: _exp_sum(block,
                                                                       new_max if row_max == -np.inf else row_max)},
                "A block's scores are measured from the maximum before it; they overflow if it is much higher.")),
        *alike("All blocks count, and all scores of each: its own exp(score - maximum) for every one.",
               "Which blocks and scores does your function go through, and what does it carry from one block to the "
               "next?",
               ("one score of each block left out",
                tuple({"block_sum": lambda block, row_max, new_max, part=part: _exp_sum(block[part], new_max)}
                      for part in (slice(None, -1), slice(1, None))),
                "The first or the last score of each block is missing in the sum."),
               ("new maximum not added",
                tuple({"answer": lambda blocks, first=first: _largest_not_added(blocks, first)} for first in (True, False)),
                "A score that becomes the maximum rescales the sum, and its own term, exp(0) = 1, is not added."),
               ("blocks without a new maximum left out",
                {"join": lambda kept, added, old, new: kept + (added if new > old else 0.0)},
                "A block that brings no larger maximum adds nothing to the sum."),
               ("only the last block", _part(slice(-1, None)), "The answer is that of the last block."),
               ("only the first block", _part(slice(0, 1)), "The answer is that of the first block."),
               ("last block dropped", _part(slice(None, -1)), "The last block does not count."),
               ("first block dropped",
                (_part(slice(1, None)), _first_block_as(lambda block: 0.0), _first_block_as(lambda block: 1.0)),
                "The first block does not count; or it gives a maximum, but its scores are missing from the sum."),
               ("shorter blocks dropped", (_full_blocks(np.greater_equal), _full_blocks(np.equal)),
                "A block that is shorter than the first one does not count."),
               ("mean instead of sum", {"block_sum": lambda block, row_max, new_max: np.exp(block - new_max).mean()},
                "Each block adds the mean of its exponentials.")),
        Mistake("tail block counted as zeros",
                change=(_padded(lambda lengths, i: lengths[0]), _padded(lambda lengths, i: max(lengths)),
                        _padded(lambda lengths, i: max(lengths[:i + 1]))),
                does="A short block is filled up with scores of 0.",
                why="exp(0 - maximum) is not 0: the filling counts. Fill with -inf, or not at all.",
                ask="Which score adds nothing to a sum of exponentials?"),
        *alike("The sum of exp(score - maximum) itself is asked for: each score adds its own, and the largest adds 1.",
               "What should row_sum be for a single score, and for n equal ones?",
               ("number of scores instead of the sum",
                ({"answer": lambda blocks: _of_all(blocks, lambda s, lengths: float(s.size))},
                 {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: float(len(lengths)))}),
                "The second number is how many scores, or blocks, there are."),
               ("largest score's term missing", _finished(lambda row_max, row_sum: (row_max, row_sum - 1)),
                "The sum is too small by 1, the term of the largest score."),
               ("divided by the number of scores",
                ({"answer": lambda blocks: _of_all(blocks, lambda s, lengths: np.exp(s - s.max()).mean())},
                 {"answer": lambda blocks: _of_all(blocks,
                                                   lambda s, lengths: np.exp(s - s.max()).sum() / len(lengths))}),
                "The sum is divided by the number of scores, or of blocks."),
               ("logarithm of the sum", (_finished(lambda row_max, row_sum: (row_max, np.log(row_sum))),
                                         _finished(lambda row_max, row_sum: (row_max, row_max + np.log(row_sum)))),
                "The second number is a logarithm."),
               ("no exponential",
                ({"block_sum": lambda block, row_max, new_max: (block - new_max).sum()},
                 {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: (s - s.max()).sum())},
                 {"answer": lambda blocks: _of_all(blocks, lambda s, lengths: s.sum())}),
                "The shifted scores are summed, or the scores themselves, not their exponentials."),
               ("power of 2 instead of e",
                {"block_sum": lambda block, row_max, new_max: np.exp2(block - new_max).sum(),
                 "rescale": lambda row_sum, row_max, new_max: row_sum * np.exp2(row_max - new_max)},
                "Powers of 2 are summed."),
               ("sum starts at 1",
                {"rescale": lambda total, old, new: 1.0 if old == -np.inf else total * np.exp(old - new)},
                "The sum is too large by one term: it starts at 1, not at 0.")),
        Mistake("no maximum subtracted",
                change=(UNSHIFTED, _finished(lambda row_max, row_sum: (row_max, row_sum * np.exp(row_max))),
                        {**UNSHIFTED, **_finished(lambda row_max, row_sum: (row_max, row_sum / np.exp(row_max)))}),
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
        Mistake("maximum and sum swapped", change=_finished(lambda row_max, row_sum: (row_sum, row_max)),
                does="The sum comes first, the maximum second.",
                why="The answer is (row_max, row_sum), in this order.",
                ask="In which order does the signature name the two numbers?"),
    ),
)
