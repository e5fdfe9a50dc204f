"""The exercise blockwise_logsumexp."""

import numpy as np

from ...families.memory import NUMBER_OF_BLOCKS, grows
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, NEG_INF, PLAIN, Case, Exercise, Mistake, Step, alike, normal, ways

RAGGED, DEAD, LOW = "a last block that is shorter", "rows and blocks of -inf", "low scores"


def blockwise_logsumexp_answer(do, scores, block_size):
    row_max = np.full(scores.shape[:-1], -np.inf)
    row_sum = np.zeros(scores.shape[:-1])
    for block in do.blocks(scores, block_size):
        new_max = do.new_max(row_max, block.max(axis=-1))
        reference = do.reference(new_max)
        row_sum = do.rescale(row_sum, row_max, reference) + do.block_sum(block, reference)
        row_max = new_max
    return do.finish(row_max, do.log(row_sum))


def _blocks(scores, block_size):
    return [scores[..., start:start + block_size] for start in range(0, scores.shape[-1], block_size)]


def _full_blocks(scores, block_size):
    whole = scores.shape[-1] // block_size * block_size
    return _blocks(scores[..., :whole], block_size) if whole else []


def _full_blocks_at_least_one(scores, block_size):
    return _full_blocks(scores, block_size) or _blocks(scores, block_size)[:1]


def _padded(scores, block_size):
    shape = *scores.shape[:-1], -scores.shape[-1] % block_size
    return _blocks(np.concatenate([scores, np.zeros(shape)], axis=-1), block_size)


def _stacked(parts, axis):
    return np.moveaxis(parts, axis, -1)


def _along_the_first(scores, block_size):
    return np.logaddexp.reduce(scores, axis=0)


def _log(row_sum):
    return np.where(row_sum == 0, -np.inf, np.log(np.where(row_sum == 0, 1.0, row_sum)))


def _direct(reduce):
    """The log-sum-exp of each block, and these reduced."""
    def answer(scores, block_size):
        parts = [np.logaddexp.reduce(block, axis=-1) for block in _blocks(scores, block_size)]
        return reduce(np.stack(parts), axis=0)

    return {"answer": answer}


def _cases():
    def case(aspect, scores, block_size, dtype=float, extreme=False):
        return Case(aspect, (np.array(scores, dtype), block_size), extreme)

    return [
        case(PLAIN, [[0, 1, 2, 3]], 2), case(PLAIN, [[3, 2, 1, 0], [0, 3, 1, 2]], 2), Case(PLAIN, (normal(5, 12, seed=1), 4)),
        Case(PLAIN, (normal(7, 15, seed=2), 5)), Case(PLAIN, (normal(3, 33, seed=3), 11)), case("one row", [1, 0, 2, 2], 2),
        case(RAGGED, [[0, 1, 5]], 2), Case(RAGGED, (normal(5, 13, seed=4), 4)), Case(RAGGED, (normal(3, 7, seed=5), 5)),
        case("one block", [[0, 1]], 2), case("one block", [[0, 1]], 9), case("blocks of one score", [[2, 0, 1]], 1),
        Case(LEADING, (normal(2, 5, 12, seed=6), 4)), Case(LEADING, (normal(2, 3, 5, 11, seed=7), 3)),
        case(NEG_INF, [[-np.inf, 0, 1, -np.inf]], 2), case(DEAD, [[-np.inf, -np.inf, 1, 0]], 2),
        case(DEAD, [[1, 0, -np.inf, -np.inf], [-np.inf] * 4], 2), case(DEAD, [-np.inf] * 5, 2),
        case(DEAD, [[-np.inf, -np.inf, -800, -799]], 2),
        case(LOW, [[-800, -799, -801, -800.5]], 2), case(HUGE, [[10000, 9999, 0, -10000]], 2, extreme=True),
        case(HUGE, [[10000, 9999, 9998], [-9999, -10000, -9998]], 2, extreme=True),
        case(HUGE, [[-10000, -9999, -9998, -9999]], 2, extreme=True), case(HUGE, [[0, 1, 10000, 9999]], 2, extreme=True),
        case(FLOAT32, [[0, 1, 2, 3]], 2, np.float32), Case(FLOAT32, (normal(5, 12, seed=8, dtype=np.float32), 5)),
        Case(FLOAT16, (normal(3, 10, seed=9, dtype=np.float16), 4)),
    ]


WHOLE_ARRAY = Mistake(
    "an array as large as the scores",
    does="The answer is right, but an array of the scores' size is made on the way.",
    why="A block at a time needs room for one block: that is the point of reading in blocks.",
    ask="Which of your lines computes with all of the scores at once?")


def no_large_array(run):
    """The Mistake if the call holds as much memory as the scores take."""
    def scores(n):
        return np.zeros((4, n))

    return WHOLE_ARRAY if grows(run, 0.7 * scores(100_000).nbytes, (scores(2000), 1000), (scores(100_000), 1000)) else None


class Noted(np.ndarray):
    """An array that notes how long the axes are of what is made of it."""

    def __array_finalize__(self, whole):
        self.lengths = getattr(whole, "lengths", set())
        self.lengths.update(self.shape)


def blocks_of_another_size(run):
    """NUMBER_OF_BLOCKS if 60 keys in blocks of 4 are read 15 at a time, and never 4.

    Memory does not tell it here: there are as many blocks of 4 keys as keys in a block too large, and who keeps each block's
    log-sum-exp to join them at the end is right.
    """
    scores = np.zeros((3, 60)).view(Noted)
    outcome = run(scores, 4)
    return NUMBER_OF_BLOCKS if not outcome.failure and 15 in scores.lengths and 4 not in scores.lengths else None


EXERCISE = Exercise(
    name="blockwise_logsumexp", signature="(scores, block_size)", place=3,
    axes=dict(scores="n_q n_k"), answer_axes="n_q",
    text="The log-sum-exp of each row of scores (..., n), read a block of keys at a time, for any block size; blocks and "
         "rows may be -inf throughout.",
    answer=blockwise_logsumexp_answer,
    steps={
        "blocks": _blocks,
        "new_max": Step(np.maximum, "the running maximum", True),
        "reference": lambda new_max: np.where(np.isneginf(new_max), 0.0, new_max),
        "rescale": lambda row_sum, row_max, reference: row_sum * np.exp(row_max - reference),
        "block_sum": Step(lambda block, reference: np.exp(block - reference[..., None]).sum(axis=-1), "the block's sum", True),
        "log": Step(_log, "the logarithm of the sum", True),
        "finish": lambda row_max, log: row_max + np.where(np.isneginf(row_max), 0.0, log),
    },
    cases=_cases, audits=(no_large_array, blocks_of_another_size),
    hints=(
        "Keep two numbers a row, the maximum so far and the sum of exp(score - maximum so far). It is online_softmax_stats "
        "for many rows at once.",
        "When a block brings a larger maximum, multiply the old sum by exp(old maximum - new maximum) before you add.",
        "A row of -inf so far has maximum -inf, and -inf - -inf is NaN: subtract 0 there instead. At the end the answer is "
        "maximum + log(sum), and -inf for a row of -inf.",
    ),
    mistakes=(
        *alike("Every score counts, and the last block may be shorter than the others.", "Which scores does your last slice hold?",
               ("last block dropped", {"blocks": lambda s, b: _blocks(s, b)[:-1]}, "The last block is not read."),
               ("shorter block dropped", ({"blocks": _full_blocks}, {"blocks": _full_blocks_at_least_one}), "A last block that is shorter than the others is not read."),
               ("first block dropped", {"blocks": lambda s, b: _blocks(s, b)[1:]}, "The first block is not read."),
               ("only the first block", {"blocks": lambda s, b: _blocks(s, b)[:1]}, "Only the first block is read."),
               ("only the last block", {"blocks": lambda s, b: _blocks(s, b)[-1:]}, "Only the last block is read."),
               ("blocks that overlap", ways(
                   "blocks", lambda s, b: [s[..., i:i + b] for i in range(0, s.shape[-1], max(b - 1, 1))],
                   lambda s, b: [s[..., i:i + b + 1] for i in range(0, s.shape[-1], b)]),
                "A block begins in the one before, or ends in the next: some scores count twice."),
               ("filled up by zeros", {"blocks": _padded},
                "A last block that is shorter is filled up with zeros, which count as scores: exp(0) is 1.")),
        *alike("A sum of exp(score - old maximum) becomes one of exp(score - new maximum) by the factor exp(old - new).",
               "What has the old sum been made with, and what is the new block's sum made with?",
               ("old sum not rescaled", {"rescale": lambda row_sum, row_max, reference: row_sum},
                "The sum so far stays as it is when the maximum grows."),
               ("factor upside down", {"rescale": lambda row_sum, row_max, reference: row_sum * np.exp(
                   reference - np.where(np.isneginf(row_max), reference, row_max))},
                "The old sum is multiplied by exp(new - old): it grows where it should shrink."),
               ("difference instead of its exponential", {"rescale": lambda row_sum, row_max, reference: row_sum * np.where(
                   np.isneginf(row_max), 0.0, row_max - reference)}, "The old sum is multiplied by old - new, without an exponential."),
               ("each block's own maximum", {"new_max": lambda old, new: new},
                "The maximum is that of the last block, not of all so far.")),
        *alike("The log-sum-exps of the blocks are logarithms: their exponentials are what adds up.",
               "What is log(e^a + e^b) for a = b = 0?",
               ("log-sum-exps of the blocks added", _direct(np.sum), "The blocks' log-sum-exps are added."),
               ("mean of the blocks", _direct(np.mean), "The blocks' log-sum-exps are averaged."),
               ("largest of the blocks", _direct(np.max), "The largest of the blocks' log-sum-exps is taken."),
               ("blocks not joined", _direct(_stacked), "The answer has one log-sum-exp for each block, not one for each row.")),
        Mistake("blocks along the first axis", change={"answer": _along_the_first},
                does="The scores are added up over the first axis: the keys stay.",
                why="The keys of one row lie along the last axis, whatever stands in front of it: scores[..., i:i + block_size].",
                ask="Which axis should the answer no longer have, and which one do your blocks cut?"),
        *alike("-inf - -inf is NaN. Where nothing but -inf has come yet, the maximum must not be subtracted.",
               "What is the running maximum after a block of nothing but -inf?",
               ("blocks of -inf NaN", ({"reference": lambda new_max: new_max},
                                       {"reference": lambda new_max: new_max, "finish": lambda row_max, log: row_max + log}), "A row that begins with a block of -inf gives NaN.")),
        *alike("The answer is maximum + log(sum).", "What is the log-sum-exp of a row with one score?",
               ("maximum not added back", {"finish": lambda row_max, log: np.where(np.isneginf(row_max), -np.inf, log)},
                "The answer is the logarithm of the shifted sum."),
               ("maximum subtracted", {"finish": lambda row_max, log: np.where(np.isneginf(row_max), -np.inf, log - row_max)},
                "The maximum is subtracted once more instead of being added back."),
               ("no logarithm", {"log": lambda row_sum: row_sum}, "The sum is added to the maximum without its logarithm."),
               ("shifted sum alone", {"log": lambda row_sum: row_sum, "finish": lambda row_max, log: log},
                "The answer is the sum of exp(score - maximum) itself."),
               ("logarithm to base 2", {"log": lambda row_sum: _log(row_sum) / np.log(2)}, "The logarithm has base 2.")),
        Mistake("no maximum subtracted", change={
            "reference": np.zeros_like, "rescale": lambda row_sum, row_max, reference: row_sum, "finish": lambda row_max, log: log},
                does="For small scores it is right; high scores overflow to inf, low ones underflow to -inf.",
                why="exp overflows above 709 (above 88 in float32, above 11 in float16). With the maximum subtracted the largest "
                    "exponent is 0.", ask="Which number can be subtracted from all scores, and added back at the end?"),
        Mistake("0 kept as the maximum", change={"new_max": lambda old, new: np.where(
                    np.isneginf(np.maximum(old, new)), 0.0, np.maximum(old, new))},
                does="After nothing but -inf the running maximum is 0: low scores that come then underflow.",
                why="The 0 stands in for the maximum in the exponents alone. What is carried on to the next block is -inf.",
                ask="A block of -inf, and then one of scores near -800: what is the maximum after both?"),
        Mistake("maximum of all rows", change={"new_max": lambda old, new: np.maximum(old, new.max())},
                does="One maximum is taken for all rows: a row far below it underflows to -inf.",
                why="Each row has its own maximum. A difference of 746 is enough for a float64 exponential of 0.",
                ask="Along which axis of a block do the scores of one row lie?"),
        Mistake("a score of 0 besides", change={"answer": lambda scores, block_size: np.logaddexp(
                    0.0, np.logaddexp.reduce(scores, axis=-1))},
                does="The answer is that of the row and one further score of 0.",
                why="Before the first block the sum is 0, and its logarithm -inf. A log-sum-exp of 0 is that of one score of 0.",
                ask="What is the log-sum-exp of no scores?"),
        Mistake("starting maximum 0", change={"new_max": lambda old, new: np.maximum(np.maximum(old, new), 0.0)},
                does="The running maximum never falls below 0: rows of low scores underflow to -inf.",
                why="Before the first block there is no maximum: -inf.", ask="What is the maximum of no scores?"),
    ),
)
