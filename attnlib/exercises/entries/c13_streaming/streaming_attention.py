"""The exercise streaming_attention."""

import math
from types import SimpleNamespace

import numpy as np

from ...families.attention import ATTENTION_AXES, ATTENTION_STEPS, attention_answer
from ...families.choose import first_variants, pick
from ...families.memory import ALL_SCORES, keeps_all_scores, peak_memory, size_for_number
from ...families.scores import (PRODUCT_MISTAKES, SCALE_MISTAKES, SCORE_STEPS, divided_by, only_the_past, power_of_d_k,
    raw_scores_answer, softmax_of, swap, under_the_root)
from ...families.softmax import EPSILONS
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways


def streaming_attention_answer(do, query, key, value, block_size):
    row_max, row_sum, output = do.start(query, value)
    for key_block, value_block in do.blocks(key, value, block_size):
        scores = do.rescale(raw_scores_answer(do, query, key_block), query, key, value)
        new_max = do.new_max(row_max, scores)
        factor = do.factor(row_max, new_max)
        powers = do.powers(scores, row_max, new_max)
        row_sum = do.old_sum(row_sum, factor) + do.block_sum(powers, factor)
        output = do.old_output(output, factor) + do.block_output(powers, value_block, factor)
        output = do.after_block(output, row_sum)
        row_max = do.keep_max(row_max, new_max)
    return do.finish_stream(output, row_sum, value)


def _start(query, value, row_max=-np.inf, row_sum=0.0):
    rows = query.shape[:-1]
    return np.full((*rows, 1), row_max), np.full((*rows, 1), row_sum), np.zeros((*rows, value.shape[-1]))


def _blocks(key, value, block_size):
    return _cut(lambda size: 0, lambda size: size, lambda size: size)(key, value, block_size)


def _cut(start, stop, step):
    """Blocks that begin, end and follow each other as these functions of block_size say."""
    def blocks(key, value, size):
        parts = [slice(at + start(size), at + stop(size)) for at in range(0, key.shape[-2], step(size))]
        return [(key[..., part, :], value[..., part, :]) for part in parts if key[..., part, :].shape[-2]]

    return blocks


def _of_blocks(*functions):
    """Variants: a function of the list of blocks."""
    return ways("blocks", *(lambda *given, f=f: f(_blocks(*given)) for f in functions))


def _full_blocks(key, value, block_size):
    return [pair for pair in _blocks(key, value, block_size) if pair[0].shape[-2] == block_size]


def _padded_blocks(key, value, block_size):
    def pad(block):
        zeros = np.zeros((*block.shape[:-2], block_size - block.shape[-2], block.shape[-1]))
        return np.concatenate([block, zeros], axis=-2)

    return [tuple(map(pad, pair)) for pair in _blocks(key, value, block_size)]


def _last_one_full(key, value, block_size):
    """The last block begins early enough to be a full one."""
    n_k = key.shape[-2]
    starts = (min(at, max(n_k - block_size, 0)) for at in range(0, n_k, block_size))
    return [(key[..., at : at + block_size, :], value[..., at : at + block_size, :]) for at in starts]


def _first_values(key, value, block_size):
    return [(block, value[..., : block.shape[-2], :]) for block, _ in _blocks(key, value, block_size)]


def _row_highest(scores):
    return scores.max(axis=-1, keepdims=True)


def _row_total(powers):
    return powers.sum(axis=-1, keepdims=True)


def _one(row_max, new_max):
    return np.ones_like(new_max)


def _unless_first(change):
    """A factor of what came before, and 1 in the first block, before which there is nothing."""
    return lambda row_max, new_max: np.where(row_max == -np.inf, 1.0, change(row_max, new_max))


STREAM_STEPS = {
    **SCORE_STEPS,
    "rescale": lambda scores, query, key, value: scores,
    "start": _start,
    "blocks": _blocks,
    "new_max": Step(lambda row_max, scores: np.maximum(row_max, _row_highest(scores)), "the running maximum", True),
    "keep_max": lambda row_max, new_max: new_max,
    "factor": Step(lambda row_max, new_max: np.exp(row_max - new_max), "the factor of what came before", True),
    "powers": Step(lambda scores, row_max, new_max: np.exp(scores - new_max), "the block's exponentials"),
    "old_sum": lambda row_sum, factor: row_sum * factor,
    "block_sum": Step(lambda powers, factor: _row_total(powers), "the block's sum", True),
    "old_output": lambda output, factor: output * factor,
    "block_output": Step(lambda powers, value, factor: powers @ value, "the block's output"),
    "after_block": lambda output, row_sum: output,
    "finish_stream": lambda output, row_sum, value: output / row_sum,
}

NEW_RESCALED = {"block_sum": lambda powers, factor: factor * _row_total(powers),
                "block_output": lambda powers, value, factor: factor * (powers @ value)}

OWN_MAXIMUM = {"powers": lambda scores, row_max, new_max: np.exp(scores - _row_highest(scores))}

AVERAGED = {"factor": _one, "powers": lambda scores, row_max, new_max: softmax_of(scores)}


def _kept(old, factor):
    return old


def _bare(output, row_sum, value):
    return output


def _first_kept(row_max, new):
    return np.where(row_max == -np.inf, new, row_max)


def _merging(*joins):
    """Variants: each block's output and log-sum-exp, joined one after the other by a function of both."""
    def merged(join):
        def answer(query, key, value, block_size):
            out = lse = None
            for key_block, value_block in _blocks(key, value, block_size):
                scores = query @ swap(key_block) / math.sqrt(query.shape[-1])
                highest = _row_highest(scores)
                new = highest + np.log(_row_total(np.exp(scores - highest)))
                block = np.exp(scores - new) @ value_block
                out, lse = (block, new) if out is None else join(out, lse, block, new)
            return out

        return answer

    return ways("answer", *map(merged, joins))


def _shared(out, lse, block, new):
    """The output of two parts, each with its share."""
    both = np.logaddexp(lse, new)
    return np.exp(lse - both) * out + np.exp(new - both) * block


def _plain_attention(query, key, value, **changed):
    return attention_answer(SimpleNamespace(**{**ATTENTION_STEPS, **changed}), query, key, value)


def _queries_cut_too(query, key, value, block_size):
    """Each block of queries attends to the block of keys with the same numbers."""
    cut = [(query[..., at : at + block_size, :], *pair) for at, pair in zip(
        range(0, key.shape[-2], block_size), _blocks(key, value, block_size))]
    return np.concatenate([_plain_attention(*parts) for parts in cut if parts[0].shape[-2]], axis=-2)


def _max_starts_at(*numbers):
    return ways("start", *(lambda query, value, top=top: _start(query, value, top) for top in numbers))


WHICH_KEYS = "Which keys do your blocks hold for 7 keys and a block size of 3, each how often?"

STREAM_MISTAKES = (
    *alike("The exponentials so far were taken relative to the old maximum. Relative to the new one they are "
           "exp(old maximum - new maximum) times as large: that factor belongs to the sum and to the output so far.",
           "By which factor does exp(score - maximum) change when the maximum changes, and what is made of such terms?",
           ("sum not rescaled", {"old_sum": _kept},
            "When a later block has a larger maximum, the old part of the sum stays as it was."),
           ("output not rescaled", {"old_output": _kept},
            "When a later block has a larger maximum, the output so far stays as it was."),
           ("sum and output not rescaled", {"old_sum": _kept, "old_output": _kept},
            "When a later block has a larger maximum, sum and output so far stay as they were."),
           ("new block rescaled too",
            (NEW_RESCALED, {**NEW_RESCALED, "factor": _unless_first(lambda old, new: np.exp(old - new))}),
            "The factor is put on the new block as well, which is measured from the new maximum already."),
           ("rescaled the wrong way", {"factor": _unless_first(lambda old, new: np.exp(new - old))},
            "What came before grows when the maximum grows."),
           ("exp missing in the factor", ways("factor", _unless_first(lambda old, new: old - new),
                                              _unless_first(lambda old, new: new - old)),
            "What came before is multiplied with the difference of the two maxima itself, and not with exp of it."),
           ("power of 2 beside powers of e", ({"powers": lambda scores, row_max, new_max: np.exp2(scores - new_max)},
                                              {"factor": lambda row_max, new_max: np.exp2(row_max - new_max)}),
            "Exponentials and factor have two bases: one is a power of 2, the other one of e.")),
    Mistake("factor infinite at the first block", change={"factor": lambda old, new: np.exp(new - old)},
            does="Before the first block sum and output, both 0, are multiplied by an infinite factor: that is NaN, "
                 "and stays NaN.",
            why="The factor is exp(old maximum - new maximum), which is 0 where the old maximum is -inf. Without exp, "
                "or with old and new exchanged, it is infinite.",
            ask="What is your factor at the first block, where the old maximum is -inf?"),
    *alike("All terms are relative to one number, the running maximum: the larger of the old one and the block's. Then "
           "no exponent is above 0.",
           "From which maximum are the scores of the new block measured, and from which the old ones?",
           ("maximum of the first block kept",
            (*ways("new_max", lambda old, scores: _first_kept(old, _row_highest(scores))),
                                                *ways("keep_max", _first_kept)),
            "The maximum of the first block stays, whatever comes after it: nothing is rescaled to a larger one, or "
            "every block is rescaled from the first."),
           ("block maximum instead of the running maximum", {"new_max": lambda row_max, scores: _row_highest(scores)},
            "It is right as long as exp does not overflow: when a block lies far below the one before, the factor "
            "exp(old maximum - new maximum) is infinite."),
           ("block measured from its own maximum", (OWN_MAXIMUM, {**OWN_MAXIMUM, "factor": _one}),
            "Each block's exponentials are relative to the block's own maximum, and are added as they are."),
           ("block measured from the old maximum", ways(
               "powers", lambda scores, old, new: np.exp(scores - np.where(old == -np.inf, new, old))),
            "A block's scores are measured from the maximum before it."),
           ("no maximum subtracted", {"new_max": lambda row_max, scores: np.zeros_like(row_max), "factor": _one},
            "For small scores it is right. For scores above 709 (above 88 in float32, above 11 in float16) exp "
            "overflows, and inf / inf is NaN; in a row far below 0 all exponentials underflow, and their sum is 0."),
           ("one maximum for the whole array", {"new_max": lambda row_max, scores: np.maximum(row_max, scores.max())},
            "All queries share one maximum: a row that lies far below it underflows to a sum of 0.")),
    *alike("The maximum has to start below every score: at -inf.",
           "Which number is smaller than every score?",
           ("maximum starts at 0", _max_starts_at(0.0, 1.0, -1.0),
            "It is right, unless all scores of a query lie far below 0: then every power underflows, and their sum is "
            "0."),
           ("maximum starts too high", _max_starts_at(-100.0, -999.0, -1000.0),
            "If all scores of a query lie far below the number it started with, every power underflows.")),
    *alike("What came before is carried along: sum and output so far, rescaled, and the block's own added to each. "
           "Before the first block both are 0.",
           "What becomes of the first block's sum and output when the second comes, and which assignment forgets them?",
           ("output replaced in every block", {"old_output": lambda output, factor: np.zeros_like(output)},
            "The running sum goes on, and the output is that of the last block, divided by it."),
           ("sum replaced in every block", {"old_sum": lambda row_sum, factor: np.zeros_like(row_sum)},
            "The output goes on, and is divided by the sum of the last block alone."),
           ("only the last block", {"factor": lambda row_max, new_max: np.zeros_like(new_max)},
            "The output is that of the last block alone.")),
    *alike("What came before is carried along: sum and output so far, rescaled, and the block's own added to each.",
           "What is in the running sum before the first block, and what is added to it for a block of 3 keys?",
           ("sum starts at 1", {"start": lambda query, value: _start(query, value, 0.0, 1.0)},
            "1 is in the running sum before the first block, and counts where the maximum starts at 0 too."),
           ("mean instead of the sum of a block", ways(
               "block_sum", lambda powers, factor: powers.mean(axis=-1, keepdims=True),
               lambda powers, factor: _row_highest(powers)),
            "The running sum gets the mean or the largest of a block's exponentials, not their sum."),
           ("output halved in every block", {"after_block": lambda output, row_sum: output / 2},
            "After each block the output is halved, as in a mean with the one before."), alone=True),
    *alike("A block's share in the whole is its sum of exponentials, exp of its log-sum-exp, over that of all blocks "
           "so far; after a merge the log-sum-exp is that of both parts, log(exp(a) + exp(b)).",
           "Which block should count more if its scores are much larger, and what do the shares of all blocks sum to?",
           ("shares of the partial results swapped", _merging(
               lambda out, lse, block, new: (_shared(block, lse, out, new), np.logaddexp(lse, new))),
            "Each part gets the share of the other one."),
           ("log-sum-exp updated too early", _merging(lambda out, lse, block, new: (
               out + np.exp(new - np.logaddexp(lse, new)) * block, np.logaddexp(lse, new))),
            "What came before keeps its full weight when a block is merged, and the block's share comes on top."),
           ("log-sum-exp not updated", _merging(*(
               lambda *parts, kept=kept: (_shared(*parts), kept(parts[1], parts[3]))
               for kept in (lambda lse, new: lse, lambda lse, new: new, np.maximum))),
            "Two blocks merge rightly, and the third is weighed against one of them only."),
           ("log-sum-exps as weights", _merging(lambda out, lse, block, new: (
               (lse * out + new * block) / (lse + new), np.logaddexp(lse, new))),
            "The blocks are weighted by their log-sum-exps, which are logarithms and may be negative."),
           ("the larger part alone", _merging(
               lambda out, lse, block, new: (np.where(lse > new, out, block), np.maximum(lse, new))),
            "The block with the largest log-sum-exp is taken alone."),
           ("partial results averaged", (
               AVERAGED, {**AVERAGED, "powers": lambda scores, old, new: softmax_of(scores) * scores.shape[-1]},
               *_merging(lambda out, lse, block, new: ((out + block) / 2, lse))),
            "The output is the plain mean of the blocks' outputs, whatever their scores are."),
           ("partial results added", {**AVERAGED, "finish_stream": _bare},
            "The output is the sum of the blocks' outputs, each divided by its own sum already.")),
    *alike("Each key counts once, with its own value: the blocks start at 0, block_size, 2 block_size and so on, the "
           "last may be shorter, and a slice ends by itself where the array ends.",
           WHICH_KEYS,
           ("only the first block", _of_blocks(lambda blocks: blocks[:1]),
            "The output is that of the first block alone, as after a return inside the loop."),
           ("first block dropped", _of_blocks(lambda blocks: blocks[1:]), "The first block does not count."),
           ("last block dropped", _of_blocks(lambda blocks: blocks[:-1], lambda blocks: blocks[:-1] or blocks),
            "The last block does not count, whether it is full or not."),
           ("tail block dropped", ways("blocks", _full_blocks, lambda key, value, size: _full_blocks(
               key, value, min(size, key.shape[-2]))),
            "The keys after the last full block do not count."),
           ("tail block counted as zeros", {"blocks": _padded_blocks},
            "The last block is filled up with keys of 0, which get the score 0 and a weight."),
           ("blocks that overlap", ways(
               "blocks", _cut(lambda size: 0, lambda size: size + 1, lambda size: size),
               _cut(lambda size: 0, lambda size: size, lambda size: 1),
               _cut(lambda size: 0, lambda size: size, lambda size: max(size - 1, 1)),
               _last_one_full),
            "Keys where two blocks meet count more than once."),
           ("a key lost between blocks", ways(
               "blocks", lambda key, value, size: [(key[..., at : at + size - 1, :], value[..., at : at + size - 1, :])
                                                   for at in range(0, key.shape[-2], size)],
               _cut(lambda size: 0, lambda size: max(size - 1, 1), lambda size: size),
               _cut(lambda size: 1, lambda size: size, lambda size: size),
               _cut(lambda size: 0, lambda size: size, lambda size: size + 1)),
            "Each block is one key too short, at its end or at its beginning, or the next one starts a key too late."),
           ("values of the first block", {"blocks": _first_values},
            "Every block of keys is used with the first block of values.")),
    *alike("Each key counts once, with its own value: the blocks start at 0, block_size, 2 block_size and so on.",
           WHICH_KEYS,
           ("a block counted twice",
            _of_blocks(lambda blocks: [*blocks, blocks[-1]], lambda blocks: [blocks[0], *blocks]),
            "The first or the last block counts twice."),
           ("size of a block fixed in the code", ways("blocks", *(
               _cut(lambda size: 0, lambda size, w=w: w, lambda size: size) for w in (4, 2, 8, 16, 32))),
            "The blocks begin where they should, and all have a length that stands in the code."),
           ("every second block dropped", _of_blocks(lambda blocks: blocks[::2], lambda blocks: blocks[1::2]),
            "Only every second block counts."),
           ("blocks taken for their first key", _of_blocks(
               lambda blocks: [(key[..., :1, :], value[..., :1, :]) for key, value in blocks]),
            "Of each block only the first key counts."),
           ("last key left out", (
               *ways("blocks",
                     *(lambda key, value, size, part=part: _blocks(key[..., part, :], value[..., part, :], size)
                                 for part in (slice(-1), slice(1, None)))),
               *_of_blocks(lambda blocks: blocks[:-1] if blocks[-1][0].shape[-2] == 1 else blocks)),
            "The last key, or the first one, is in no block."), alone=True),
    Mistake("queries cut like the keys", change={"answer": _queries_cut_too},
            does="The queries are cut into blocks as the keys are, and each block of them sees one block of keys.",
            why="Every query attends to all keys: all queries meet each block of keys.",
            ask="Which blocks of keys does query 0 meet in your loop?"),
    *alike("After the last block the output is divided by the running sum, once: with the maximum subtracted that is "
           "at least 1.",
           "How often is the first block's part divided in your loop, and by what?",
           ("not divided by the sum", {"finish_stream": _bare},
            "The output is a sum of exponentials times values, and is not divided by the sum of the exponentials."),
           ("divided in every block", tuple(
               {"after_block": lambda output, row_sum: output / row_sum, **more}
               for more in ({"finish_stream": _bare}, {})),
            "The output is divided by the running sum after every block, and carried on like that."),
           ("epsilon in the denominator", ways("finish_stream", *(
               lambda output, row_sum, value, e=e: output / (row_sum + e) for e in EPSILONS[2:])),
            "Each row of weights sums to a little less than 1.")),
    *alike("Maximum, factor and sum have one number for each query, the scores and the output a row: before they meet, the "
           "number needs one more axis, of length 1.",
           "Which shapes do the factor and the output so far have for 5 queries and 3 features, and along which axis do "
           "they meet?",
           ("no axis for the features", tuple({
               "old_output": lambda output, factor, on=on: output * (factor[..., 0] if on[0] else factor),
               "finish_stream": lambda output, row_sum, value, on=on: output / (row_sum[..., 0] if on[1] else row_sum),
           } for on in ((True, False), (False, True), (True, True))),
            "The factor or the sum, one number a query, lines up with the features, where the shapes fit at all."),
           ("no axis for the keys", {
               "powers": lambda scores, row_max, new_max: np.exp(scores - new_max[..., 0])},
            "The maximum, one number a query, lines up with the keys, where the shapes fit at all."), alone=True),
    Mistake("softmax of each block",
            change={"block_output": lambda powers, value, factor: powers / _row_total(powers) @ value},
            does="A block's exponentials are divided by their own sum before they meet the values.",
            why="What is added up are the exponentials themselves, and the sum of all of them divides once, at the end.",
            ask="Two blocks have the sums 1 and 100. How much of the output should come from the first?"),
    Mistake("power of 2 instead of e",
            change={"powers": lambda scores, row_max, new_max: np.exp2(scores - new_max),
                    "factor": lambda row_max, new_max: np.exp2(row_max - new_max)},
            does="The weights are those of scores multiplied by log 2: too even.",
            why="The softmax is defined with e.",
            ask="How is exp(x) written as a power of 2?"),
    Mistake("sqrt(block_size) instead of sqrt(d_k)",
            change={"scale": lambda scores, query, key: scores / math.sqrt(key.shape[-2])},
            does="The scale depends on how many keys a block holds.",
            why="One score is a sum of d_k products; how many keys there are does not touch it.",
            ask="Over which index does the sum in q · k run, and how long is it?"),
    *alike("A score is a sum of d_k products: neither the values nor the number of keys has a part in it.",
           "Over which index does the sum in q · k run, and how long is it?",
           ("sqrt(d_v) instead of sqrt(d_k)", {"rescale": lambda scores, query, key, value: (
               scores * math.sqrt(query.shape[-1] / value.shape[-1]))},
            "The scale depends on the length of the values."),
           ("sqrt(n_k) instead of sqrt(d_k)", {"rescale": lambda scores, query, key, value: (
               scores * math.sqrt(query.shape[-1] / key.shape[-2]))},
            "The scale depends on how many keys there are.")),
    *first_variants(pick(SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_q) instead of sqrt(d_k)", "1/2 instead of a square root", "d_k fixed in the code")),
    *pick(PRODUCT_MISTAKES, "no transpose", "reshape instead of transpose", ".T on a batched array",
          "cosine instead of dot product"),
    Mistake("causal mask applied",
            change={"answer": lambda query, key, value, size: _plain_attention(
                query, key, value, finish_scores=only_the_past)},
            does="Keys after the query are hidden.",
            why="No mask was asked for: here every query may attend to every key.",
            ask="Which keys may a query attend to if nothing is said?"),
)

SHORTER_BLOCK, ONE_BLOCK, LONG_BLOCK = "a shorter last block", "one block", "block_size larger than n_k"


def streaming_cases():
    def some(aspect, block_size, sizes, seed, batch=(), dtype=np.float64, order="C"):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        arrays = (normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes))
        return Case(aspect, (*(np.asarray(array, order=order) for array in arrays), block_size), aspect == LONG_BLOCK)

    def tiny(aspect, block_size, *arrays):
        return Case(aspect, (*(np.array(array, float) for array in arrays), block_size), aspect in (HUGE, LONG_BLOCK))

    def huge(query, key, block_size=2):
        return tiny(HUGE, block_size, [[q] for q in query], [[k] for k in key], [[n] for n in range(1, 1 + len(key))])

    return [
        tiny(PLAIN, 2, [[1], [-1]], [[1], [0], [2], [3]], [[4], [0], [8], [-4]]),
        tiny(PLAIN, 1, [[1]], [[0], [1]], [[4], [8]]),
        some(PLAIN, 5, (7, 15, 3, 2), 1), some(PLAIN, 3, (5, 15, 2, 7), 4, order="F"),
        some(PLAIN, 7, (3, 14, 5, 11), 7),
        some(PLAIN, 13, (23, 52, 3, 5), 50),
        tiny(SHORTER_BLOCK, 2, [[1]], [[0], [1], [3]], [[4], [8], [2]]), some(SHORTER_BLOCK, 3, (5, 7, 2, 11), 10),
        some(SHORTER_BLOCK, 5, (3, 13, 7, 2), 13), some(SHORTER_BLOCK, 4, (5, 11, 3, 2), 16, order="F"),
        some("blocks of one key", 1, (3, 7, 5, 2), 19), some(ONE_BLOCK, 7, (5, 7, 3, 2), 22),
        tiny(LONG_BLOCK, 5, [[1]], [[0], [1]], [[4], [8]]), some(LONG_BLOCK, 11, (5, 7, 3, 2), 25),
        some(SQUARE, 3, (3, 9, 3, 3), 28), some(SQUARE, 5, (5, 5, 5, 5), 31), some(SQUARE, 2, (4, 4, 2, 4), 34),
        tiny(LEADING, 2, [[[1, 2]], [[3, 1]]], [[[1, 0], [2, 1]], [[0, 3], [1, 1]]], [[[4], [8]], [[2], [-4]]]),
        some(LEADING, 5, (3, 10, 7, 2), 37, (2,)), some(LEADING, 3, (5, 7, 2, 11), 40, (2, 3), order="F"),
        huge([100, -100, 0], [100, 0, -100, 99]), huge([100], [-100, -99, 100, 99]),
        huge([100, 1], [-100, -101, -102, -103]), huge([100], [100, 99, -100, -99]),
        huge([7.6], [-100, -101, -99, -100]), huge([20], [-100, -101, -99, -100]), huge([100, 0], [100, 99, 98], 3),
        some(FLOAT32, 3, (5, 7, 3, 2), 43, dtype=np.float32), some(FLOAT16, 2, (3, 5, 2, 7), 46, dtype=np.float16),
    ]


ALL_KEYS = Mistake(
    "keys not read in blocks",
    does="It computes the scores of a query with all keys at once: what it holds grows with n_k, whatever block_size is.",
    why=ALL_SCORES.why, ask=ALL_SCORES.ask)


def _long_input(n_q, n_k):
    return normal(n_q, 1, seed=60), normal(n_k, 1, seed=61), normal(n_k, 1, seed=62)


def _two_features(n_q, n_k):
    """With one feature an axis that is missing makes an array as large as the scores."""
    return (*_long_input(n_q, n_k)[:2], normal(n_k, 2, seed=63))


def read_in_blocks(run):
    """An audit: whether anything as large as all scores is made, or as large as those of one query with all keys.

    A copy of keys and values is as large as two rows of scores; a row, that less its maximum, and the exponentials
    are three, and then a small block_size saves nothing.
    """
    kept = keeps_all_scores(run, _two_features)
    if kept:
        return kept
    row, long = 8 * 32768, _long_input(1, 32768)
    held, outcome = peak_memory(run, *long, 256)
    if outcome.failure or held < 3 * row:
        return None
    more, outcome = peak_memory(run, *long, 32768)
    return ALL_KEYS if not outcome.failure and more - held < 0.5 * row else None


def _started_with(number):
    return Mistake(
        f"{number:.4g} added to the running sum",
        change={"finish_stream": lambda output, row_sum, value: output / (row_sum + number)},
        does=f"{number:.4g} is added to the sum of the exponentials.",
        why="Before the first block nothing has been added, and with the maximum subtracted the sum is at least 1.",
        ask="What should the sum be before the first key?")


STREAM_FITTED = (divided_by, under_the_root, power_of_d_k, _started_with)

EXERCISE = Exercise(
    name="streaming_attention", signature="(query, key, value, block_size)", place=1,
    axes=ATTENTION_AXES, answer_axes="n_q d_v",
    text="Attention with the keys and values read block_size at a time: the result of attention, but no array "
         "of shape (n_q, n_k) is ever made.",
    answer=streaming_attention_answer, steps=STREAM_STEPS, cases=streaming_cases, fitted=STREAM_FITTED,
    audits=(read_in_blocks, lambda run: size_for_number(run, _long_input)),
    aspects={SHORTER_BLOCK: Mistake(
        "only for full blocks",
        does="The function is right where block_size divides n_k, and not where the last block is shorter.",
        why="n_k need not be a multiple of block_size. range(0, n_k, block_size) has a start for the last block too, "
            "and a slice ends by itself where the array ends.",
        ask="How many blocks are there for 7 keys and a block size of 3, and how long is the last?")},
    hints=(
        "Go through the keys once, in slices of block_size; the last one may be shorter. What must be known of the "
        "blocks before, when a block comes?",
        "Three running quantities for each query: the maximum of the scores, the sum of the exponentials, and the sum "
        "of exponentials times values. The last two are relative to the maximum so far.",
        "When the maximum grows, both sums so far get the factor exp(old maximum - new maximum). Then the block's "
        "own exponentials, exp(scores - new maximum), are added.",
        "Start at -inf, 0 and 0. For each block: scores; new maximum, by np.maximum; factor; sum = sum * factor + "
        "e.sum(axis=-1, keepdims=True), with e = exp(scores - new maximum); output = output * factor + e @ value "
        "block. At the end output / sum.",
    ),
    mistakes=STREAM_MISTAKES,
)
