"""The exercise softmax_triton."""

import dataclasses

import numpy as np

from ...families.choose import pick
from ...families.kernel_costs import kernel_costs
from ...families.scores import softmax_of
from ...families.softmax import ALL_SOFTMAX_MISTAKES, SOFTMAX_STEPS, extreme_rows, softmax_steps_answer
from ...families.tiles import (BLANK, BLANKS, NOT_CAST, NO_KERNEL, STRIDED, STRIDES, each_tile, in_one, nothing_written,
    out_of_bounds, without_kernel)
from ...families.torch_calls import Listener
from ...families.triton_launches import Kernels, kernel_device, kernels_missing, kernels_watched
from ...model import FLOAT16, HUGE, PLAIN, SQUARE, Case, Exercise, Mistake, normal


def power_of_2(n):
    return 1 << (n - 1).bit_length()


def each_blank(change):
    """The same, for either thing that an output may hold where nothing is written."""
    return lambda numbers: [change(block, blank) for block in numbers if block in (4, 8) for blank in BLANKS]


def softmax_triton_answer(do, scores):
    rows, n = scores.shape
    loaded = do.load(scores)
    weights = do.loop(do, loaded) if loaded.size else loaded
    return do.store(weights[..., :n], n)


def _whole_rows(do, scores):
    return softmax_steps_answer(do, scores, -1)


def _padded(value, width):
    def load(scores):
        rows, n = scores.shape
        return np.concatenate([scores, np.full((rows, width(n) - n), value, scores.dtype)], axis=-1)

    return {"load": load}


def _rows_apart(blank):
    """The rows are written at multiples of the block's length, into a longer tensor that is cut to size."""
    def store(weights, n):
        wide = np.pad(weights, ((0, 0), (0, power_of_2(n) - n)), constant_values=blank)
        return wide.ravel()[:weights.size].reshape(weights.shape)

    return {"store": store}


def _multiple_of(block):
    return lambda n: -(-n // block) * block


def _stored(where, blank):
    """Where `where` says no the output keeps what it was made with."""
    return {"store": lambda weights, n: np.where(where(*np.indices(weights.shape), *weights.shape), weights, blank)}


def _cut(block, blank):
    def store(weights, n):
        return np.pad(weights, ((0, 0), (0, n - weights.shape[-1])), constant_values=blank)

    return {"load": lambda scores: scores[:, :block(scores.shape[-1]) if callable(block) else block], "store": store}


def _tail_dropped(block, blank):
    """Columns after the last full block are neither read nor written."""
    def store(weights, n):
        return np.pad(weights, ((0, 0), (0, n - weights.shape[-1])), constant_values=blank)

    return {"load": lambda scores: scores[:, :scores.shape[-1] // block * block], "store": store}


def _no_power_of_2(scores):
    if scores.shape[-1] != power_of_2(scores.shape[-1]):
        raise ValueError("arange's range must be a power of 2")
    return scores


def _unless_power_of_2(scores):
    return scores if scores.shape[-1] == power_of_2(scores.shape[-1]) else out_of_bounds()


def _one_program_a_column(blank):
    def store(weights, n):
        rows = len(weights)
        if n > rows and kernel_device() == "cpu":
            out_of_bounds()
        return np.where(np.arange(rows)[:, None] < n, weights, blank)

    return {"store": store}


def _tiles(scores, block):
    return [scores[:, at:at + block] for at in range(0, scores.shape[-1], block)]


def _tile_maximum(block):
    def loop(do, scores):
        powers = [np.exp(tile - tile.max(axis=-1, keepdims=True)) for tile in _tiles(scores, block)]
        return np.concatenate(powers, axis=-1) / sum(p.sum(axis=-1, keepdims=True) for p in powers)

    return in_one({"loop": loop})


def _sum_not_rescaled(block):
    def loop(do, scores):
        highest, total = -np.inf, 0.0
        for tile in _tiles(scores, block):
            highest = np.maximum(highest, tile.max(axis=-1, keepdims=True))
            total = total + np.exp(tile - highest).sum(axis=-1, keepdims=True)
        return np.exp(scores - highest) / total

    return in_one({"loop": loop})


def _block_maximum(block):
    """Rescaled as it should be, and to the block's own maximum: the factor may overflow."""
    def loop(do, scores):
        highest, total = np.full((len(scores), 1), -np.inf), 0.0
        for tile in _tiles(scores, block):
            new = tile.max(axis=-1, keepdims=True)
            total = total * np.exp(highest - new) + np.exp(tile - new).sum(axis=-1, keepdims=True)
            highest = new
        return np.exp(scores - highest) / total

    return in_one({"loop": loop})


def _tiles_alone(block):
    return in_one({"loop": lambda do, scores: np.concatenate(
        [softmax_of(tile) for tile in _tiles(scores, block)], axis=-1)})


def _last_tile_summed(block):
    def loop(do, scores):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / _tiles(powers, block)[-1].sum(axis=-1, keepdims=True)

    return in_one({"loop": loop})


BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)

SOFTMAX_TRITON_MISTAKES = (
    Mistake("padding counted as zeros",
            change=(_padded(0.0, power_of_2), *(_padded(0.0, _multiple_of(block)) for block in (*BLOCKS[:7], 16384))),
            numbers=each_tile(lambda block: _padded(0.0, _multiple_of(block))),
            does="Rows whose length is no power of 2, or no multiple of the block, sum to less than 1.",
            why="A block is longer than such a row. What tl.load gives where its mask is False is undefined, and "
                "usually 0, if no other= is given; exp gives 0 a weight. It must be -inf.",
            ask="Which value of `other` in tl.load adds nothing to the sum of exponentials?"),
    Mistake("padding becomes NaN", change=_padded(np.inf, power_of_2),
            does="Rows whose length is no power of 2 become NaN.",
            why="inf - inf is NaN. It comes from +inf beyond the row, or from the row's minimum, which is the padding of "
                "-inf; with -inf and the maximum nothing beyond the row counts.",
            ask="Which value stands beyond the row, and what is subtracted from it?"),
    Mistake("large negative number instead of -inf",
            change=tuple(_padded(value, power_of_2) for value in (-1.0, -100.0, -1e3, -9999.0, -1e4)),
            does="Beyond the row stands a number such as -10000, which a score may be as well.",
            why="Only -inf is below every score.",
            ask="What are the weights of a row whose scores are all near -10000?"),
    Mistake("edge not masked", change={"load": _unless_power_of_2},
            does="The kernel reads or writes beyond the row, and at the last row beyond the tensor.",
            why="A block's length is a power of 2; what lies beyond the row belongs to another row or to "
                "somebody else. Loads and stores need mask=columns < n.",
            ask="How many entries does tl.arange(0, BLOCK) have, and how many has the row?"),
    Mistake("block's length taken for the row's stride",
            change=({"store": lambda weights, n: _unless_power_of_2(weights) if len(weights) > 1 else weights},
                    *map(_rows_apart, BLANKS)),
            does="Row i is looked for at i * BLOCK, and found only if the row is as long as the block.",
            why="Rows lie stride(0) entries apart; the block is longer than a row.",
            ask="How many entries lie between the starts of two rows?"),
    Mistake("fixed block",
            change=tuple(_cut(block, blank) for block in (*BLOCKS, 8192) for blank in BLANKS), numbers=each_blank(_cut),
            does="Only the first entries of a long row are read and written.",
            why="A block of fixed length does not hold any row: take the next power of 2 above n, or loop "
                "over blocks.",
            ask="How long may a row be, and how long is your block?"),
    Mistake("block shorter than the row",
            change=tuple(_cut(lambda n: power_of_2(n + 1) // 2, blank) for blank in BLANKS),
            does="The block is as long as the power of 2 below the length of the row: the columns after it are left out.",
            why="A block has to hold the whole row: its length is the next power of 2 above n, and a mask leaves out what lies "
                "beyond the row.",
            ask="How long is your block for a row of 5 numbers?"),
    Mistake("block's length no power of 2", change={"load": _no_power_of_2},
            does="The kernel is made for rows whose length is a power of 2, and does not compile for any other.",
            why="tl.arange(0, BLOCK) takes powers of 2 only: the block is triton.next_power_of_2(n) long, and a mask "
                "leaves out what lies beyond the row.",
            ask="Which numbers may stand in tl.arange(0, BLOCK)?"),
    Mistake("tail block dropped",
            change=tuple(_tail_dropped(block, blank) for block in BLOCKS for blank in BLANKS),
            numbers=each_blank(_tail_dropped),
            does=f"The columns after the last full block are neither read nor written: they are {BLANK}.",
            why="n // BLOCK blocks leave up to BLOCK - 1 columns over. range(0, n, BLOCK) has a start for them, and "
                "a mask leaves out what lies beyond the row.",
            ask="How many blocks of 16 columns are needed for 37 columns?"),
    Mistake("block maximum instead of the running maximum", change=tuple(map(_block_maximum, BLOCKS[:-1])),
            numbers=each_tile(_block_maximum),
            does="It is right as long as exp does not overflow: when a block lies far below the one before, the "
                 "factor exp(old maximum - new maximum) is infinite.",
            why="The running maximum is the larger of the old one and the block's: tl.maximum(m, tl.max(x, axis=0)). "
                "Then no factor exceeds 1.",
            ask="What should the maximum be after a block whose scores are all small?"),
    Mistake("only the first row", change=tuple(_stored(lambda i, j, *sizes: i == 0, blank) for blank in BLANKS),
            does=f"Row 0 is right; the others are not written: they are {BLANK}.",
            why="One program does one row: the grid needs as many programs as there are rows, and each "
                "adds program_id * stride to its pointers.",
            ask="How many programs does your grid start, and which row does each of them do?"),
    Mistake("last rows not computed",
            change=tuple(_stored(lambda i, j, rows, n, most=most: i < most(rows), blank) for blank in BLANKS
                         for most in (lambda rows: rows - 1, lambda rows: -(-rows // 2), lambda rows: rows // 2)),
            does=f"Only the first rows are written; the others are {BLANK}.",
            why="One program does one row: the grid needs as many programs as there are rows.",
            ask="How many programs does your grid start?"),
    Mistake("grid of columns instead of rows", change=tuple(map(_one_program_a_column, BLANKS)),
            does="As many rows are done as there are columns.",
            why="One program does one row: the grid is (rows,), not (n,).",
            ask="What does scores.shape[1] count?"),
    nothing_written(lambda scores: scores.shape),
    Mistake("block measured from its own maximum", change=tuple(map(_tile_maximum, BLOCKS)), numbers=each_tile(_tile_maximum),
            does="In a row of several blocks each block subtracts a maximum of its own.",
            why="Exponentials with different maxima are not on one scale: the sum needs one maximum for the row.",
            ask="Which number was subtracted from the scores of each block?"),
    Mistake("sum not rescaled", change=tuple(map(_sum_not_rescaled, BLOCKS)), numbers=each_tile(_sum_not_rescaled),
            does="In a row of several blocks the sum keeps the scale of an old maximum.",
            why="When the maximum grows from m to m', the sum so far must be multiplied by exp(m - m').",
            ask="By which factor do the earlier exponentials change when a larger maximum comes?"),
    Mistake("blocks normalised alone", change=tuple(map(_tiles_alone, BLOCKS)), numbers=each_tile(_tiles_alone),
            does="Each block of a long row sums to 1.",
            why="The whole row must sum to 1: the sum runs over all its blocks.",
            ask="What does a row of three blocks sum to?"),
    Mistake("only the last block summed", change=tuple(map(_last_tile_summed, BLOCKS)), numbers=each_tile(_last_tile_summed),
            does="A long row is divided by the sum of its last block.",
            why="The sum must run over all blocks: total = total + ..., not total = ....",
            ask="What happens in your loop to the sums of the blocks before?"),
)


def _in_small_tiles():
    """Whether the last row, of 1000 scores, took so many steps that a longer one would take seconds to interpret."""
    return Kernels.accesses > 600


def softmax_triton_cases():
    device = kernel_device()
    f4 = np.float32

    def case(aspect, scores, dtype=f4, extreme=False, **more):
        return Case(aspect, (np.array(scores, dtype),), extreme, device=device, **more)  # keeps the order in memory

    def rowwise(aspect, row, dtype=f4, extreme=False):
        return case(aspect, [row, [0.0] * (len(row) - 1) + [1.0]], extreme=extreme)

    def falling(n, **more):
        """The first scores are far above all others, whatever the block's length."""
        scores = normal(1, n, seed=109)
        scores[0, :3] += 10000
        return case(HUGE, scores, extreme=True, **more)

    def long(rows, n, **more):
        scores = normal(rows, n, seed=101, dtype=f4)
        scores[:, -1] += 6  # the last block has the maximum
        scores[1:, 0] += 9  # in the rows after it the first block has
        return case("long rows", scores, **more)

    return [
        case(PLAIN, [[0, 1, 3], [2, 5, 4]]), case(PLAIN, normal(5, 7, seed=102)), case(PLAIN, normal(7, 3, seed=103)),
        case(SQUARE, [[0, 1], [2, 5]]), case(SQUARE, normal(5, 5, seed=104)),
        case("a power of 2", [[1, 0, 2, -1]]), case("a power of 2", normal(3, 16, seed=105)),
        case("one row", [[1.0, 0.5, 2.5, -0.1, 0.0]]), case("one column", [[3], [-2], [5]]),
        case("a multiple of 64", normal(1, 192, seed=106)),
        falling(50), long(2, 100), long(2, 1000), falling(2100, unless=_in_small_tiles), long(1, 8200, unless=_in_small_tiles),
        case(STRIDED, np.array([[0, 1, 3], [2, 5, 4]], order="F")), case(STRIDED, normal(7, 5, seed=110).T),
        case(HUGE, [[10000, 9999, 9998], [0, 1, 2]], extreme=True),
        case(HUGE, [[-10000, -9999, -9998], [0, 1, 2]], extreme=True),
        *extreme_rows(rowwise),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], np.float16), case(FLOAT16, normal(3, 5, seed=107), np.float16),
    ]


(EPSILON,) = pick(ALL_SOFTMAX_MISTAKES, "epsilon in the denominator")  # of float32's size

OWN_SOFTMAX = Mistake(
    "torch's own softmax called",
    does="The answer comes from torch.softmax, or from a module that calls it.",
    why="That is the function which the kernel is to replace.",
    ask="Which three steps does that call stand for?")


def kernel_computes_softmax(run):
    import torch

    scores = torch.from_numpy(normal(2, 3, seed=108, dtype=np.float32)).to(kernel_device())
    if without_kernel(run, scores):
        return NO_KERNEL
    return OWN_SOFTMAX if Listener().hear(run, scores).heard("softmax", "logsumexp") else None


EXERCISE = Exercise(
    name="softmax_triton", signature="(scores)", place=5,
    axes=dict(scores="n_q n_k"), answer_axes="n_q n_k", library="torch",
    text="The softmax of each row of a torch tensor (rows, n), n up to 16384, by a Triton kernel.",
    answer=softmax_triton_answer,
    steps={**SOFTMAX_STEPS, "load": lambda scores: scores, "loop": _whole_rows,
           "store": lambda weights, n: weights},
    cases=softmax_triton_cases,
    hints=(
        "One program does one row: the grid is (rows,), and tl.program_id(0) says which row it is.",
        "A block's length is a power of 2: triton.next_power_of_2(n), passed as a tl.constexpr. Columns "
        "are tl.arange(0, BLOCK), and those at n and beyond are masked out.",
        "tl.load(pointer + row * stride + columns, mask=columns < n, other=-float(\"inf\")): the padding "
        "adds nothing to the sum. Cast it with .to(tl.float32).",
        "Subtract tl.max(x, axis=0), take tl.exp, divide by tl.sum(..., axis=0), and tl.store with the "
        "same mask. The launcher begins with scores.contiguous(), makes torch.empty_like of that and returns it.",
    ),
    mistakes=(
        *pick(ALL_SOFTMAX_MISTAKES, "no maximum subtracted", "one maximum for the whole array",
              "minimum subtracted instead of maximum",
              "mean subtracted instead of maximum", "maximum of absolute values", "no exponential",
              "power of 2 instead of e", "sigmoid instead of softmax", "sign flipped", "not divided by the sum",
              "divided by the number of scores", "divided by the Euclidean length", "logarithm of the softmax", "uniform weights",
              "softmax over the queries' axis", "softmax over everything"),
        dataclasses.replace(EPSILON, change=EPSILON.variants[:4]),
        *SOFTMAX_TRITON_MISTAKES,
    ),
    audits=(kernel_computes_softmax,), missing=kernels_missing, around=kernels_watched, seconds=60.0,
    aspects={FLOAT16: NOT_CAST, STRIDED: STRIDES}, costs=kernel_costs("float32", scores=(16, 1000)),
)
