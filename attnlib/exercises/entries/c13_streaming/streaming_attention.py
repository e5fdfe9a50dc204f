"""The exercise streaming_attention."""

import math
from types import SimpleNamespace

import numpy as np

from ...families.attention import ATTENTION_STEPS, attention_answer
from ...families.choose import first_variants, pick
from ...families.memory import grows
from ...families.scores import (PRODUCT_MISTAKES, SCALE_MISTAKES, SCORE_STEPS, divided_by, only_the_past, power_of_d_k,
    raw_scores_answer, softmax_of, swap, under_the_root)
from ...families.softmax import EPSILONS
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, normal


def streaming_attention_answer(do, query, key, value, block_size):
    row_max, row_sum, output = do.start(query, value)
    for key_block, value_block in do.blocks(key, value, block_size):
        scores = raw_scores_answer(do, query, key_block)
        new_max = do.new_max(row_max, scores)
        factor = do.factor(row_max, new_max)
        powers = do.powers(scores, row_max, new_max)
        row_sum = do.old_sum(row_sum, factor) + do.block_sum(powers, factor)
        output = do.old_output(output, factor) + do.block_output(powers, value_block, factor)
        output = do.after_block(output, row_sum)
        row_max = do.keep_max(row_max, new_max)
    return do.finish_stream(output, row_sum, value)


def _stream_start(query, value, row_max=-np.inf):
    rows = query.shape[:-1]
    return np.full((*rows, 1), row_max), np.zeros((*rows, 1)), np.zeros((*rows, value.shape[-1]))


def _blocks(key, value, block_size, extra=0):
    return [(key[..., start : start + block_size + extra, :], value[..., start : start + block_size + extra, :])
            for start in range(0, key.shape[-2], block_size)]


def _cut_blocks(key, value, block_size, start=0, stop=lambda size: size, step=0):
    """Blocks that begin later, end earlier, or follow each other at another distance."""
    found = [slice(at + start, at + stop(block_size)) for at in range(0, key.shape[-2], max(block_size + step, 1))]
    return [(key[..., part, :], value[..., part, :]) for part in found if key[..., part, :].shape[-2]]


def _every_block_but(which):
    return lambda *given: [pair for i, pair in enumerate(_blocks(*given)) if i % 2 == which]


def _full_blocks(key, value, block_size):
    return [pair for pair in _blocks(key, value, block_size) if pair[0].shape[-2] == block_size]


def _padded_blocks(key, value, block_size):
    def pad(block):
        zeros = np.zeros((*block.shape[:-2], block_size - block.shape[-2], block.shape[-1]))
        return np.concatenate([block, zeros], axis=-2)

    return [tuple(map(pad, pair)) for pair in _blocks(key, value, block_size)]


def _from_every_key(key, value, block_size):
    return [(key[..., start : start + block_size, :], value[..., start : start + block_size, :])
            for start in range(key.shape[-2])]


def _first_values(key, value, block_size):
    return [(block, value[..., : block.shape[-2], :]) for block, _ in _blocks(key, value, block_size)]


def _row_highest(scores):
    return scores.max(axis=-1, keepdims=True)


def _one(row_max, new_max):
    return np.ones_like(new_max)


def _both_ways(row_max, new_max):
    return np.where(row_max == -np.inf, 1.0, np.exp(new_max - row_max))


STREAM_STEPS = {
    **SCORE_STEPS,
    "start": _stream_start,
    "blocks": _blocks,
    "new_max": Step(lambda row_max, scores: np.maximum(row_max, _row_highest(scores)), "the running maximum", True),
    "keep_max": lambda row_max, new_max: new_max,
    "factor": Step(lambda row_max, new_max: np.exp(row_max - new_max), "the factor of what came before", True),
    "powers": Step(lambda scores, row_max, new_max: np.exp(scores - new_max), "the block's exponentials"),
    "old_sum": lambda row_sum, factor: row_sum * factor,
    "block_sum": Step(lambda powers, factor: powers.sum(axis=-1, keepdims=True), "the block's sum", True),
    "old_output": lambda output, factor: output * factor,
    "block_output": Step(lambda powers, value, factor: powers @ value, "the block's output"),
    "after_block": lambda output, row_sum: output,
    "finish_stream": lambda output, row_sum, value: output / row_sum,
}


def _kept(old, factor):
    return old


def _bare(output, row_sum, value):
    return output


def _divided_again(output, row_sum):
    return output / row_sum


def _block_weights(scores, row_max, new_max):
    return softmax_of(scores)


def _block_weights_by_length(scores, row_max, new_max):
    return softmax_of(scores) * scores.shape[-1]


def _first_kept(row_max, new):
    return np.where(row_max == -np.inf, new, row_max)


def _merging(join):
    """Each block's output and log-sum-exp, joined one after the other by a function of both."""
    def answer(query, key, value, block_size):
        out = lse = None
        for key_block, value_block in _blocks(key, value, block_size):
            scores = query @ swap(key_block) / math.sqrt(query.shape[-1])
            highest = _row_highest(scores)
            new = highest + np.log(np.exp(scores - highest).sum(axis=-1, keepdims=True))
            block = np.exp(scores - new) @ value_block
            out, lse = (block, new) if out is None else join(out, lse, block, new)
        return out

    return {"answer": answer}


def _shared(out, lse, block, new):
    """The output of two parts, each with its share."""
    both = np.logaddexp(lse, new)
    return np.exp(lse - both) * out + np.exp(new - both) * block


CAUSAL_IN_BLOCKS = Mistake(
    "causal mask applied", change={"answer": lambda query, key, value, block_size: attention_answer(
        SimpleNamespace(**{**ATTENTION_STEPS, "finish_scores": only_the_past}), query, key, value)},
    does="Keys after the query are hidden.",
    why="No mask was asked for: here every query may attend to every key.",
    ask="Which keys may a query attend to if nothing is said?")

STREAM_MISTAKES = (
    Mistake("maximum of the first block kept",
            change=({"new_max": lambda row_max, scores: _first_kept(row_max, _row_highest(scores))},
                    {"keep_max": _first_kept}),
            does="The maximum of the first block stays, whatever comes after it: nothing is rescaled to a larger one, "
                 "or every block is rescaled from the first.",
            why="The running maximum goes on: after each block it is the larger of the old one and the block's.",
            ask="Which line of your loop updates the maximum, and what does it hold after the second block?"),
    Mistake("power of 2 beside powers of e",
            change=({"powers": lambda scores, row_max, new_max: np.exp2(scores - new_max)},
                    {"factor": lambda row_max, new_max: np.exp2(row_max - new_max)}),
            does="Exponentials and factor have two bases: one is a power of 2, the other one of e.",
            why="The factor brings old exponentials to the new maximum; that works with one base only.",
            ask="Which base has your power, and which your factor?"),
    Mistake("output replaced in every block", change={"old_output": lambda output, factor: np.zeros_like(output)},
            does="The running sum goes on, and the output is that of the last block, divided by it.",
            why="The output so far is rescaled, and the block's is added: output = output * factor + ..., not output = ....",
            ask="What becomes of the first block's output when the second comes?"),
    Mistake("sum replaced in every block", change={"old_sum": lambda row_sum, factor: np.zeros_like(row_sum)},
            does="The output goes on, and is divided by the sum of the last block alone.",
            why="The sum so far is rescaled, and the block's is added: sum = sum * factor + ..., not sum = ....",
            ask="What becomes of the first block's sum when the second comes?"),
    Mistake("shares of the partial results swapped",
            change=_merging(lambda out, lse, block, new: (_shared(block, lse, out, new), np.logaddexp(lse, new))),
            does="Each part gets the share of the other one.",
            why="A part's share in the whole is exp of its own log-sum-exp.",
            ask="Which part should count more, the one with the larger or the smaller log-sum-exp?"),
    Mistake("log-sum-exp updated too early",
            change=_merging(lambda out, lse, block, new: (
                out + np.exp(new - np.logaddexp(lse, new)) * block, np.logaddexp(lse, new))),
            does="What came before keeps its full weight when a block is merged, and the block's share comes on top.",
            why="The share of what came before is exp(old log-sum-exp - new log-sum-exp). With the new one in both places "
                "it is 1.",
            ask="What does your log-sum-exp hold when the old output is weighted with it?"),
    Mistake("log-sum-exp not updated",
            change=tuple(_merging(lambda *parts, kept=kept: (_shared(*parts), kept(parts[1], parts[3])))
                         for kept in (lambda lse, new: lse, lambda lse, new: new, np.maximum)),
            does="Two blocks merge rightly, and the third is weighed against one of them only.",
            why="After a merge the log-sum-exp is that of both parts: log(exp(a) + exp(b)).",
            ask="How much does the result of the first merge weigh in the second?"),
    Mistake("log-sum-exps as weights",
            change=_merging(lambda out, lse, block, new: (
                (lse * out + new * block) / (lse + new), np.logaddexp(lse, new))),
            does="The blocks are weighted by their log-sum-exps themselves.",
            why="A log-sum-exp may be negative; the share of a block is exp of it.",
            ask="Which function undoes the logarithm?"),
    Mistake("the larger part alone",
            change=_merging(lambda out, lse, block, new: (np.where(lse > new, out, block), np.maximum(lse, new))),
            does="The block with the largest log-sum-exp is taken alone.",
            why="The other blocks hold weight too.",
            ask="How much of the whole softmax's sum belongs to each block?"),
    Mistake("sum not rescaled", change={"old_sum": _kept},
            does="When a later block has a larger maximum, the old part of the sum stays as it was.",
            why="The old exponentials were taken relative to the old maximum. Relative to the new one they are "
                "exp(old maximum - new maximum) times as large.",
            ask="By which factor does exp(score - maximum) change when the maximum changes?"),
    Mistake("sum and output not rescaled", change={"old_sum": _kept, "old_output": _kept},
            does="When a later block has a larger maximum, sum and output so far stay as they were.",
            why="Both are made of exponentials relative to the old maximum. Relative to the new one these are "
                "exp(old maximum - new maximum) times as large.",
            ask="By which factor does exp(score - maximum) change when the maximum changes?"),
    Mistake("output not rescaled", change={"old_output": _kept},
            does="When a later block has a larger maximum, the output so far stays as it was.",
            why="The output is a sum of exponentials times values, and these were taken relative to the old "
                "maximum: it needs the same factor as the sum of exponentials.",
            ask="Which two quantities are relative to the maximum?"),
    Mistake("rescaled the wrong way",
            change=({"factor": _both_ways}, {"factor": lambda row_max, new_max: np.exp(new_max - row_max)}),
            does="What came before grows when the maximum grows; in the first block it is NaN if the maximum "
                 "started at -inf.",
            why="Relative to a larger maximum the old exponentials are smaller: the factor is exp(old - new), never above 1.",
            ask="Should the old sum become smaller or larger when the maximum grows?"),
    Mistake("new block rescaled too",
            change=({"block_sum": lambda powers, factor: factor * powers.sum(axis=-1, keepdims=True),
                     "block_output": lambda powers, value, factor: factor * (powers @ value)},
                    {"factor": lambda row_max, new_max: np.where(row_max == -np.inf, 1.0, np.exp(row_max - new_max)),
                     "block_sum": lambda powers, factor: factor * powers.sum(axis=-1, keepdims=True),
                     "block_output": lambda powers, value, factor: factor * (powers @ value)}),
            does="The factor exp(old maximum - new maximum) is put on the new block as well.",
            why="The new block is measured from the new maximum already; only what came before needs the factor.",
            ask="Which part of the sum is still relative to the old maximum?"),
    Mistake("block maximum instead of the running maximum",
            change={"new_max": lambda row_max, scores: _row_highest(scores)},
            does="It is right as long as exp does not overflow: when a block lies far below the one before, the "
                 "factor exp(old maximum - new maximum) is infinite.",
            why="The running maximum is the larger of the old one and the block's; then no factor exceeds 1.",
            ask="What should the maximum be after a block whose scores are all small?"),
    Mistake("block measured from its own maximum",
            change=({"powers": lambda scores, row_max, new_max: np.exp(scores - _row_highest(scores))},
                    {"powers": lambda scores, row_max, new_max: np.exp(scores - _row_highest(scores)), "factor": _one}),
            does="Each block's exponentials are relative to the block's own maximum, and are added as they are.",
            why="All terms of the sum must be relative to the same number, the running maximum.",
            ask="From which maximum are the scores of the new block measured, and from which the old ones?"),
    Mistake("block measured from the old maximum",
            change=({"powers": lambda scores, row_max, new_max: np.exp(
                scores - np.where(row_max == -np.inf, new_max, row_max))},),
            does="A block's scores are measured from the maximum before it.",
            why="The running maximum has to be updated first: then the block and the rescaled rest are relative to "
                "the same number, and no exponent is above 0.",
            ask="Which maximum is known before the block's exponentials are taken?"),
    Mistake("only the last block",
            change=({"factor": lambda row_max, new_max: np.zeros_like(new_max)},),
            does="The output is that of the last block alone.",
            why="The sum and the output so far are carried along: rescaled, then added to the new block's.",
            ask="Which assignment forgets the blocks before?"),
    Mistake("only the first block", change={"blocks": lambda *given: _blocks(*given)[:1]},
            does="The output is that of the first block alone.",
            why="All blocks count. A return inside a loop ends it after one round, and key[..., :block_size, :] is the "
                "first block alone.",
            ask="Which keys does your function read before it returns?"),
    Mistake("tail block dropped",
            change=({"blocks": _full_blocks},
                    {"blocks": lambda key, value, size: _full_blocks(key, value, min(size, key.shape[-2]))}),
            does="The keys after the last full block do not count.",
            why="n_k need not be a multiple of block_size: the last block may be short. range(0, n_k, block_size) "
                "has a start for it, and a slice ends by itself where the array ends.",
            ask="How many blocks are there for 7 keys and a block size of 3?"),
    Mistake("a block counted twice", alone=True,
            change=({"blocks": lambda *given: [*_blocks(*given), _blocks(*given)[-1]]},
                    {"blocks": lambda *given: [_blocks(*given)[0], *_blocks(*given)]}),
            does="The first or the last block counts twice.",
            why="Each key counts once. A tail that is handled after the loop must not have been in the loop.",
            ask="Which blocks does your loop read, and which do you read besides?"),
    Mistake("size of a block fixed in the code", alone=True, change=tuple({"blocks": lambda key, value, size, w=w: [
                (key[..., at:at + w, :], value[..., at:at + w, :]) for at in range(0, key.shape[-2], size)]}
                for w in (4, 2, 8, 16, 32)),
            does="The blocks begin where they should, and all have a length that stands in the code.",
            why="A block holds block_size keys.",
            ask="Where does your slice end?"),
    Mistake("mean instead of the sum of a block", alone=True,
            change=({"block_sum": lambda powers, factor: powers.mean(axis=-1, keepdims=True)},
                    {"block_sum": lambda powers, factor: powers.max(axis=-1, keepdims=True)}),
            does="The running sum gets the mean or the largest of a block's exponentials, not their sum.",
            why="The sum runs over all keys, each exponential once.",
            ask="What is added to the running sum for a block of 3 keys?"),
    Mistake("output halved in every block", alone=True, change=({"after_block": lambda output, row_sum: output / 2},),
            does="After each block the output is averaged with the one before.",
            why="Both parts are added; the division by the running sum comes at the end.",
            ask="What divides the output in your loop?"),
    Mistake("last key left out", alone=True,
            change=({"blocks": lambda key, value, size: _blocks(key[..., :-1, :], value[..., :-1, :], size)},
                    {"blocks": lambda key, value, size: _blocks(key[..., 1:, :], value[..., 1:, :], size)},
                    {"blocks": lambda key, value, size: [pair for at, pair in zip(range(0, key.shape[-2], size), _blocks(
                        key, value, size)) if at < key.shape[-2] - 1]}),
            does="The first or the last key does not count.",
            why="range(0, n_k - 1, block_size) has no start at the last key, and a slice [:-1] ends before it.",
            ask="Which keys do your blocks hold together?"),
    Mistake("last block dropped", change=({"blocks": lambda *given: _blocks(*given)[:-1]},
                                          {"blocks": lambda *given: _blocks(*given)[:-1] or _blocks(*given)}),
            does="The last block does not count, whether it is full or not.",
            why="range(0, n_k - block_size, block_size) ends before the last start.",
            ask="At which key does the last block start, and does your loop get there?"),
    Mistake("tail block counted as zeros", change={"blocks": _padded_blocks},
            does="The last block is filled up with keys of 0, which get the score 0 and a weight.",
            why="exp(0 - maximum) is not 0: the filling counts. Mask its scores with -inf, or do not fill at all.",
            ask="Which score adds nothing to a sum of exponentials?"),
    Mistake("every second block dropped", alone=True,
            change=({"blocks": _every_block_but(0)}, {"blocks": _every_block_but(1)}),
            does="Only every second block counts.",
            why="The starts are 0, block_size, 2 block_size and so on; a loop that also moves its own counter skips blocks.",
            ask="At which keys do your blocks start?"),
    Mistake("blocks taken for their first key", alone=True,
            change=({"blocks": lambda *given: [(key[..., :1, :], value[..., :1, :]) for key, value in _blocks(*given)]},),
            does="Of each block only the first key counts.",
            why="key[start] is one key; key[start : start + block_size] is the block.",
            ask="How many keys does your slice hold?"),
    Mistake("sum starts at 1",
            change={"start": lambda query, value: (lambda row_max, row_sum, output: (row_max, row_sum + 1, output))(
                *_stream_start(query, value, 0.0))},
            does="1 is in the running sum before the first block.",
            why="Before the first block nothing has been added: the sum starts at 0.",
            ask="What should the sum be before the first key?"),
    Mistake("first block dropped", change={"blocks": lambda *given: _blocks(*given)[1:]},
            does="The first block does not count.",
            why="The blocks start at key 0.",
            ask="At which key does your first block start?"),
    Mistake("blocks that overlap",
            change=({"blocks": lambda *given: _blocks(*given, extra=1)}, {"blocks": _from_every_key},
                    {"blocks": lambda *given: _cut_blocks(*given, step=-1)}),
            does="Keys where two blocks meet count more than once.",
            why="A slice ends before its second number: key[start : start + block_size] holds block_size keys, "
                "and the next start is block_size further.",
            ask="Which keys does key[0:3] hold, and where must the next block start?"),
    Mistake("a key lost between blocks",
            change=({"blocks": lambda *given: _blocks(*given, extra=-1)},
                    {"blocks": lambda *given: _cut_blocks(*given, stop=lambda size: max(size - 1, 1))},
                    {"blocks": lambda *given: _cut_blocks(*given, start=1)},
                    {"blocks": lambda *given: _cut_blocks(*given, step=1)}),
            does="Each block is one key too short, at its end or at its beginning, or the next one starts a key too late.",
            why="A slice ends before its second number: key[start : start + block_size] holds block_size keys.",
            ask="Which keys does key[0:3] hold?"),
    Mistake("values of the first block", change={"blocks": _first_values},
            does="Every block of keys is used with the first block of values.",
            why="Key j and value j belong together: both are cut at the same places.",
            ask="Which values belong to the keys of the second block?"),
    Mistake("partial results averaged",
            change=({"factor": _one, "powers": _block_weights}, {"factor": _one, "powers": _block_weights_by_length},
                    _merging(lambda out, lse, block, new: ((out + block) / 2, lse))),
            does="The output is the plain mean of the blocks' outputs, whatever their scores are.",
            why="A block counts as much as its sum of exponentials says.",
            ask="Which block should count more if its scores are much larger?"),
    Mistake("partial results added",
            change={"factor": _one, "powers": _block_weights, "finish_stream": _bare},
            does="The output is the sum of the blocks' outputs.",
            why="Each block is divided by its own sum already. The blocks' shares in the common sum have to be "
                "1 together.",
            ask="What must the output be if all values are equal?"),
    Mistake("not divided by the sum", change={"finish_stream": _bare},
            does="The output is a sum of exponentials times values, and is not divided by the sum of the exponentials.",
            why="Weights are shares of one whole: after the last block the output is divided by the running sum.",
            ask="What must the weights of one query sum to?"),
    Mistake("divided in every block",
            change=({"after_block": _divided_again, "finish_stream": _bare}, {"after_block": _divided_again}),
            does="The output is divided by the running sum after every block, and carried on like that.",
            why="The division comes once, at the end. Otherwise the old part is divided by sums that it has "
                "been divided by before.",
            ask="How often is the first block's part divided in your loop?"),
    Mistake("no maximum subtracted",
            change=({"new_max": lambda row_max, scores: np.zeros_like(row_max), "factor": _one},),
            does="For small scores it is right. For scores above 709 (above 88 in float32, above 11 in float16) exp "
                 "overflows, and inf / inf is NaN; in a row far below 0 all exponentials underflow, and their sum is 0.",
            why="The softmax does not change when a number is subtracted from all scores of a row; with "
                "the running maximum no exponent is above 0.",
            ask="Which number can be subtracted from every score of a row so that exp never overflows?"),
    Mistake("one maximum for the whole array",
            change={"new_max": lambda row_max, scores: np.maximum(row_max, scores.max())},
            does="A row that lies far below the largest score of all underflows to a sum of 0.",
            why="Each query needs a running maximum of its own, so that its largest power is 1.",
            ask="What is left of a row whose scores all lie 10000 below another row's?"),
    Mistake("maximum starts at 0",
            change=tuple({"start": lambda query, value, top=top: _stream_start(query, value, top)}
                         for top in (0.0, 1.0, -1.0)),
            does="It is right, unless all scores of a query lie far below 0: then every power underflows, and "
                 "their sum is 0.",
            why="The maximum has to start below every score: at -inf.",
            ask="Which number is smaller than every score?"),
    Mistake("maximum starts too high",
            change=tuple({"start": lambda query, value, top=top: _stream_start(query, value, top)}
                         for top in (-100.0, -999.0, -1000.0)),
            does="If all scores of a query lie far below the number it started with, every power underflows.",
            why="The maximum has to start below every score: at -inf.",
            ask="Which number is smaller than every score?"),
    Mistake("epsilon in the denominator",
            change=tuple({"finish_stream": lambda output, row_sum, value, e=e: output / (row_sum + e)}
                         for e in EPSILONS[2:]),
            does="Each row of weights sums to a little less than 1.",
            why="With the maximum subtracted the sum is at least 1; a small number added "
                "to it only makes the weights wrong.",
            ask="How small can the sum get once the maximum is subtracted?"),
    Mistake("power of 2 instead of e",
            change={"powers": lambda scores, row_max, new_max: np.exp2(scores - new_max),
                    "factor": lambda row_max, new_max: np.exp2(row_max - new_max)},
            does="The weights are those of scores multiplied by log 2: too even.",
            why="The softmax is defined with e. Kernels use powers of 2 after multiplying the scores "
                "by log2(e).",
            ask="How is exp(x) written as a power of 2?"),
    Mistake("sqrt(block_size) instead of sqrt(d_k)",
            change={"scale": lambda scores, query, key: scores / math.sqrt(key.shape[-2])},
            does="The scale depends on how many keys a block holds.",
            why="One score is a sum of d_k products; how many keys there are does not touch it.",
            ask="Over which index does the sum in q · k run, and how long is it?"),
    *first_variants(pick(SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_q) instead of sqrt(d_k)", "1/2 instead of a square root")),
    *pick(PRODUCT_MISTAKES, "no transpose", "reshape instead of transpose", ".T on a batched array",
          "cosine instead of dot product"),
    CAUSAL_IN_BLOCKS,
)

SHORTER_BLOCK, ONE_BLOCK, LONG_BLOCK = "a shorter last block", "one block", "block_size larger than n_k"

SINGLE_KEYS = "blocks of one key"


def _stream_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, block_size, sizes, seed, batch=(), dtype=np.float64):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        return Case(aspect, (*(normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes)),
                             block_size))

    def tiny(aspect, block_size, query, key, value, extreme=False):
        return Case(aspect, (*(np.array(array, float) for array in (query, key, value)), block_size), extreme)

    def huge(query, key, block_size=2):
        value = np.arange(1.0, 1 + len(key))[:, None]
        return tiny(HUGE, block_size, [[q] for q in query], [[k] for k in key], value, True)

    return [
        tiny(PLAIN, 2, [[1], [-1]], [[1], [0], [2], [3]], [[4], [0], [8], [-4]]),
        tiny(PLAIN, 1, [[1]], [[0], [1]], [[4], [8]]),
        case(PLAIN, 5, (7, 15, 3, 2), 1), case(PLAIN, 3, (5, 15, 2, 7), 4), case(PLAIN, 7, (3, 14, 5, 11), 7),
        tiny(SHORTER_BLOCK, 2, [[1]], [[0], [1], [3]], [[4], [8], [2]]), case(SHORTER_BLOCK, 3, (5, 7, 2, 11), 10),
        case(SHORTER_BLOCK, 5, (3, 13, 7, 2), 13), case(SHORTER_BLOCK, 4, (5, 11, 3, 2), 16),
        case(SINGLE_KEYS, 1, (3, 7, 5, 2), 19), case(ONE_BLOCK, 7, (5, 7, 3, 2), 22),
        tiny(LONG_BLOCK, 5, [[1]], [[0], [1]], [[4], [8]], True),
        Case(LONG_BLOCK, case(LONG_BLOCK, 11, (5, 7, 3, 2), 25).args, True),
        case(SQUARE, 3, (3, 9, 3, 3), 28), case(SQUARE, 5, (5, 5, 5, 5), 31), case(SQUARE, 2, (4, 4, 2, 4), 34),
        tiny(LEADING, 2, [[[1, 2]], [[3, 1]]], [[[1, 0], [2, 1]], [[0, 3], [1, 1]]], [[[4], [8]], [[2], [-4]]]),
        case(LEADING, 5, (3, 10, 7, 2), 37, (2,)), case(LEADING, 3, (5, 7, 2, 11), 40, (2, 3)),
        huge([100, -100, 0], [100, 0, -100, 99]), huge([100], [-100, -99, 100, 99]),
        huge([100, 1], [-100, -101, -102, -103]), huge([100], [100, 99, -100, -99]),
        huge([7.6], [-100, -101, -99, -100]), huge([20], [-100, -101, -99, -100]), huge([100, 0], [100, 99, 98], 3),
        case(FLOAT32, 3, (5, 7, 3, 2), 43, dtype=f4), case(FLOAT16, 2, (3, 5, 2, 7), 46, dtype=f2),
    ]


ALL_SCORES = Mistake(
    "scores of all keys kept",
    does="While it runs it holds as many scores as n_q times n_k, in one array or in pieces.",
    why="The point of going block by block is that the memory does not grow with n_q times n_k: for 100000 "
        "positions the scores alone would take 40 gigabytes in float32.",
    ask="Which array in your function grows with n_q and n_k both, and what of a block is needed after it?")


def no_scores_kept(run):
    """An audit: whether anything as large as all scores is made.

    Blocks and what is left of them take a third of that, and a learner's lists of numbers half.
    """
    def arrays(n_q, n_k):
        return normal(n_q, 1, seed=60), normal(n_k, 1, seed=61), normal(n_k, 1, seed=62), 32

    return ALL_SCORES if grows(run, 0.9 * 8 * 96 * 768, arrays(12, 96), arrays(96, 768)) else None


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
    axes=dict(query="n_q d_k", key="n_k d_k", value="n_k d_v"), answer_axes="n_q d_v",
    text="Attention with the keys and values read block_size at a time: the result of attention, but no array "
         "of shape (n_q, n_k) is ever made.",
    answer=streaming_attention_answer, steps=STREAM_STEPS, cases=_stream_cases, fitted=STREAM_FITTED, audits=(no_scores_kept,),
    aspects={SHORTER_BLOCK: Mistake(
        "only for full blocks",
        does="The function is right where block_size divides n_k, and not where the last block is shorter.",
        why="n_k need not be a multiple of block_size. range(0, n_k, block_size) has a start for the last block too, "
            "and a slice ends by itself where the array ends.",
        ask="How many blocks are there for 7 keys and a block size of 3, and how long is the last?")},
    hints=(
        "Go through the keys once, in slices of block_size; the last one may be shorter. What must be known of the "
        "blocks before, when a block comes?",
        "Three running quantities for each query: the maximum of the scores, the sum of the exponentials, and the sum of "
        "exponentials times values. The last two are relative to the maximum so far.",
        "When the maximum grows, both sums so far get the factor exp(old maximum - new maximum). Then the block's "
        "own exponentials, exp(scores - new maximum), are added.",
        "Start at -inf, 0 and 0. For each block: scores; new maximum, by np.maximum; factor; sum = sum * factor + "
        "e.sum(axis=-1, keepdims=True), with e = exp(scores - new maximum); "
        "output = output * factor + e @ value block. At the end output / sum.",
    ),
    mistakes=STREAM_MISTAKES,
)
