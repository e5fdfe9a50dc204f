"""The exercises of the part "Kernels in Triton".

They are checked on a CUDA device, or else in Triton's interpreter, on the CPU.
"""

import dataclasses

import numpy as np

from . import gpu, raw_scores, softmax
from .av_product import ATTENTION_STEPS, attention, attention_answer, pick
from .model import FLOAT16, HUGE, PLAIN, SQUARE, Case, Exercise, Mistake, each, normal
from .families.torch_calls import Listener, tables_made
from .families.triton_launches import NEVER_WRITTEN, Kernels, kernel_device, kernels_missing, kernels_watched

PART = "Kernels in Triton"


# ---------------------------------------------------------------- what both Triton exercises share

NO_KERNEL = Mistake(
    "no Triton kernel launched",
    does="The answer comes from torch alone.",
    why="Here you write the kernel: what one program reads, computes and writes.",
    ask="Which line of your function launches a kernel, as in kernel[grid](...)?")

BLANKS = (NEVER_WRITTEN, 0.0)  # what torch.empty and torch.zeros leave where a kernel does not write

NOT_CAST = Mistake(
    "half precision not cast to float32",
    does="The function is right for float32, and not for float16.",
    why="A kernel loads float16 as float16, and tl.exp takes float32 or float64 only. Cast after each "
        "load, compute in float32, and the store goes back to the output's dtype.",
    ask="Which dtype has what tl.load returns if the tensor is float16?")


STRIDED = "a view that is not contiguous"

STRIDES = Mistake(
    "strides ignored",
    does="The function is right for tensors whose entries follow one another in memory row by row, and not for a "
         "view such as a transposed one.",
    why="A tensor's strides say where its rows and columns lie; x.mT has the same memory and other strides. Either "
        "the kernel is told all strides, or the launcher begins with x.contiguous() and makes its output of that.",
    ask="Where in memory lies entry (1, 0) of x.mT, and where does your kernel look for it?")


def out_of_bounds(*unused):
    raise IndexError("outside its tensors")


def power_of_2(n):
    return 1 << (n - 1).bit_length()


def each_tile(change):
    """Variants for blocks of 4 and 8, where these numbers stand in the learner's code."""
    return each(change, (4, 8).__contains__)


def each_blank(change):
    """The same, for either thing that an output may hold where nothing is written."""
    return lambda numbers: [change(block, blank) for block in numbers if block in (4, 8) for blank in BLANKS]


def in_one(change):
    """A change of the whole loop: it leaves no step of the softmax for another mistake."""
    return {**{name: softmax.SOFTMAX_STEPS[name] for name in ("shift", "exponential", "total", "divide")}, **change}


def without_kernel(run, *args):
    """Whether an answer comes, and no kernel was launched for it."""
    before = Kernels.launches
    outcome = run(*args)
    return outcome.failure is None and Kernels.launches == before


# ---------------------------------------------------------------- softmax_triton

def softmax_triton_answer(do, scores):
    rows, n = scores.shape
    loaded = do.load(scores)
    weights = do.loop(do, loaded) if loaded.size else loaded
    return do.store(weights[..., :n], n)


def _whole_rows(do, scores):
    return softmax.softmax_steps_answer(do, scores, -1)


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

    return {"load": lambda scores: scores[:, :block], "store": store}


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
        [raw_scores._softmax(tile) for tile in _tiles(scores, block)], axis=-1)})


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
    Mistake("no mask on the load", change={"load": _unless_power_of_2},
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
    Mistake("block's length no power of 2", change={"load": _no_power_of_2},
            does="The kernel is made for rows whose length is a power of 2, and does not compile for any other.",
            why="tl.arange(0, BLOCK) takes powers of 2 only: the block is triton.next_power_of_2(n) long, and a mask "
                "leaves out what lies beyond the row.",
            ask="Which numbers may stand in tl.arange(0, BLOCK)?"),
    Mistake("tail block dropped",
            change=tuple(_tail_dropped(block, blank) for block in BLOCKS for blank in BLANKS),
            numbers=each_blank(_tail_dropped),
            does=f"The columns after the last full block are neither read nor written: they are {NEVER_WRITTEN:.0f}, "
                 "the checker's mark in torch.empty, or 0.",
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
            does=f"Row 0 is right; the others are not written: they are {NEVER_WRITTEN:.0f}, the checker's mark in "
                 "torch.empty, or 0.",
            why="One program does one row: the grid needs as many programs as there are rows, and each "
                "adds program_id * stride to its pointers.",
            ask="How many programs does your grid start, and which row does each of them do?"),
    Mistake("last rows not computed",
            change=tuple(_stored(lambda i, j, rows, n, most=most: i < most(rows), blank) for blank in BLANKS
                         for most in (lambda rows: rows - 1, lambda rows: -(-rows // 2), lambda rows: rows // 2)),
            does=f"Only the first rows are written; the others are {NEVER_WRITTEN:.0f}, the checker's mark in "
                 "torch.empty, or 0.",
            why="One program does one row: the grid needs as many programs as there are rows.",
            ask="How many programs does your grid start?"),
    Mistake("grid of columns instead of rows", change=tuple(map(_one_program_a_column, BLANKS)),
            does="As many rows are done as there are columns.",
            why="One program does one row: the grid is (rows,), not (n,).",
            ask="What does scores.shape[1] count?"),
    Mistake("nothing written", change=tuple({"answer": lambda scores, blank=blank: np.full(scores.shape, blank)}
                                            for blank in BLANKS),
            does=f"The output holds what it was made with: {NEVER_WRITTEN:.0f}, the checker's mark in "
                 "torch.empty, or 0.",
            why="A kernel returns nothing: tl.store writes its result, and where it writes nothing the "
                "output stays as torch.empty or torch.zeros made it.",
            ask="Which line of your kernel writes to the output, and how often does it run?"),
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
        *softmax.extreme_rows(rowwise),
        case(FLOAT16, [[0, 1, 3], [2, 4, 1]], np.float16), case(FLOAT16, normal(3, 5, seed=107), np.float16),
    ]


(EPSILON,) = pick(softmax.softmax.mistakes, "epsilon in the denominator")  # of float32's size

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


softmax_triton = Exercise(
    name="softmax_triton", signature="(scores)", part=PART, library="torch",
    text="The softmax of each row of a torch tensor (rows, n), n up to 16384, by a Triton kernel.",
    answer=softmax_triton_answer,
    steps={**softmax.SOFTMAX_STEPS, "load": lambda scores: scores, "loop": _whole_rows,
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
        *pick(softmax.softmax.mistakes, "no maximum subtracted", "one maximum for the whole array",
              "minimum subtracted instead of maximum",
              "mean subtracted instead of maximum", "maximum of absolute values", "no exponential",
              "power of 2 instead of e", "sigmoid instead of softmax", "sign flipped", "not divided by the sum",
              "divided by the number of scores", "divided by the Euclidean length", "logarithm of the softmax", "uniform weights",
              "softmax over the queries' axis", "softmax over everything"),
        dataclasses.replace(EPSILON, change=EPSILON.variants[:4]),
        *SOFTMAX_TRITON_MISTAKES,
    ),
    audits=(kernel_computes_softmax,), missing=kernels_missing, around=kernels_watched, seconds=60.0,
    aspects={FLOAT16: NOT_CAST, STRIDED: STRIDES},
)


# ---------------------------------------------------------------- flash_attention_triton

def flash_triton_answer(do, query, key, value, is_causal):
    query, key, value = do.heads(query, key, value)
    is_causal = do.flag(is_causal)
    scores = do.hide(raw_scores.raw_scores_answer(do, query, key), is_causal)
    scores, value = do.reach(*do.pad(scores, do.choose_values(query, key, value), is_causal))
    if not scores.shape[-1]:
        return do.store(np.full(query.shape, np.nan))  # 0 / 0: no key was read
    return do.store(do.stream(do, scores, value, query))


def _at_once(do, scores, value, query):
    return attention_answer(
        gpu.hooked(do, roles=lambda q, k: (q, k), transpose=lambda k: k, product=lambda q, k: scores,
                   scale=lambda s, q, k: s, choose_values=lambda q, k, v: v), query, value, value)


def _hidden(scores, is_causal, seen, fill=-np.inf):
    n = scores.shape[-1]
    return np.where(seen(np.arange(n), np.arange(n)[:, None]), scores, fill) if is_causal else scores


def causal_seen(key, query):
    return key <= query


def _causal(seen=causal_seen, fill=-np.inf):
    return {"hide": lambda scores, is_causal: _hidden(scores, is_causal, seen, fill)}


CAUSAL_MASK = _causal()


def _padded_keys(block):
    """Keys beyond the last one are read as zeros; only a causal mask hides their scores of 0."""
    def pad(scores, value, is_causal):
        if is_causal:
            return scores, value
        n = scores.shape[-1]
        widths = [(0, 0)] * (scores.ndim - 1)
        more = (-n) % block
        return np.pad(scores, [*widths, (0, more)]), np.pad(value, [*widths[:-1], (0, more), (0, 0)])

    return {"pad": pad}


def _reaching(part):
    """Only the keys in this slice, a function of their number, are read."""
    def reach(scores, value):
        kept = part(scores.shape[-1])
        return scores[..., kept], value[..., kept, :]

    return {"reach": reach}


def _last_keys_dropped(block):
    return _reaching(lambda n: slice(n // block * block))


def _first_keys_dropped(block):
    return _reaching(lambda n: slice(block, None))


def _key_tiles(scores, value, block):
    return [(scores[..., at:at + block], value[..., at:at + block, :]) for at in range(0, scores.shape[-1], block)]


def _online(block, rescale_output=True, rescale_sum=True, running=True, skips=False, own_powers=False):
    """Attention a block of keys at a time, with one of its steps left out.

    A block in which a query sees nothing is read too, or skipped, where that makes a difference.
    `own_powers` measures a block from its own maximum, and what came before from the running one.
    """
    def stream(do, scores, value, query):
        highest, total, output = -np.inf, 0.0, 0.0
        for tile, part in _key_tiles(scores, value, block):
            own = tile.max(axis=-1, keepdims=True)
            new = np.maximum(highest, own) if running else own
            factor = np.exp(highest - new) if np.ndim(highest) else 0.0
            powers = np.where(skips & np.isneginf(own), 0.0, np.exp(tile - (own if own_powers else new)))
            total = total * (factor if rescale_sum else 1) + powers.sum(axis=-1, keepdims=True)
            output = output * (factor if rescale_output else 1) + powers @ part
            highest = new
        return output / total

    return in_one({"stream": stream})


def _own_maxima(block):
    """Blocks measured from their own maxima; what came before is rescaled to the running one, or not."""
    return [_online(block, skips=skips, **how) for skips in (False, True) for how in (
        {"running": False, "rescale_output": False, "rescale_sum": False}, {"own_powers": True})]


def _each_tile_alone(block, mean, skips=False):
    def stream(do, scores, value, query):
        parts = [raw_scores._softmax(tile) @ part for tile, part in _key_tiles(scores, value, block)]
        return sum(np.nan_to_num(part) if skips else part for part in parts) / (len(parts) if mean else 1)

    return in_one({"stream": stream})


def _only_tile(block, at):
    def stream(do, scores, value, query):
        tile, part = _key_tiles(scores, value, block)[at]
        return raw_scores._softmax(tile) @ part

    return in_one({"stream": stream})


def _beyond_the_end(block):
    def hide(scores, is_causal):
        return out_of_bounds() if scores.shape[-1] % block else CAUSAL_MASK["hide"](scores, is_causal)

    return {"hide": hide}


def _diagonal_skipped(block):
    """The loop ends where the block of queries begins."""
    return _causal(lambda key, query: key < query // block * block)


def _up_to_the_diagonal(rows, columns):
    """Without a mask too, the loop over blocks of keys ends with the block of queries."""
    def hide(scores, is_causal):
        stop = lambda query: -(-(query // rows + 1) * rows // columns) * columns
        return _hidden(scores, True, causal_seen if is_causal else lambda key, query: key < stop(query))

    return {"hide": hide}


def _inside_the_blocks(rows, columns, reach=0):
    """Queries and keys counted from the beginning of their blocks; blocks of 64 hold all positions.

    The loop may end where a block of `reach` queries ends.
    """
    def seen(key, query):
        stop = -(-(query // reach + 1) * reach // columns) * columns if reach else np.inf
        return (key % columns <= query % rows) & (key < stop)

    return _causal(seen)


def _written(where, blank):
    """Where `where`, of batch, head and position, says no the output keeps what it was made with."""
    def store(output):
        batch, head, position, _ = np.indices(output.shape)
        return np.where(where(batch, head, position, output.shape), output, blank)

    return store


def _first_head(array):
    return np.broadcast_to(array[:1, :1], array.shape)


def _first_of_batch(array):
    return np.broadcast_to(array[:1], array.shape)


def _heads_mixed(pick_head, written):
    def heads(query, key, value):
        return pick_head(query), pick_head(key), pick_head(value)

    return ({"heads": heads}, *({"heads": heads, "store": _written(written, blank)} for blank in BLANKS),
            {"heads": lambda query, key, value: (query, pick_head(key), pick_head(value))},
            {"heads": lambda query, key, value: (query, pick_head(key), value)},
            {"heads": lambda query, key, value: (query, key, pick_head(value))},
            {"heads": lambda query, key, value: (pick_head(query), key, value)})


KEY_BLOCKS = (16, 32, 64, 128)

FLASH_MISTAKES = (
    Mistake("causal flag ignored", change={"flag": lambda is_causal: False},
            does="With is_causal=True every query still sees every key.",
            why="Under the causal mask query i sees the keys 0 to i, and nothing after them.",
            ask="Where does your kernel use the flag?"),
    Mistake("always causal", change={"flag": lambda is_causal: True},
            does="With is_causal=False later keys are hidden as well.",
            why="The mask belongs there only if the flag asks for it.",
            ask="Where does your kernel use the flag?"),
    Mistake("causal flag inverted", change={"flag": lambda is_causal: not is_causal},
            does="The mask is there when the flag is False, and not when it is True.",
            why="is_causal=True asks for the mask.",
            ask="What does your kernel do if the flag is True?"),
    *(dataclasses.replace(mistake, change=(_causal(seen), *({**_causal(seen), **_online(block)} for block in blocks)),
                          numbers=each_tile(lambda block, seen=seen: {**_causal(seen), **_online(block)}))
      for mistake, seen, blocks in zip(
          pick(raw_scores.causal_mask.mistakes, "diagonal excluded", "one key too many",
               "the future instead of the past", "mask inverted"),
          (lambda key, query: key < query, lambda key, query: key <= query + 1,
           lambda key, query: key >= query, lambda key, query: key > query),
          ((), (), KEY_BLOCKS[:2], KEY_BLOCKS[:2]))),  # a first block without any key makes the rest NaN
    Mistake("masked scores set to 0", change=_causal(fill=0.0),
            does="Scores of later keys are 0.",
            why="exp(0) is 1: a later key keeps a weight, more than one with a negative score.",
            ask="Which score gives a weight of exactly 0?"),
    Mistake("large negative number instead of -inf", change=tuple(_causal(fill=fill) for fill in (-1e4, -1e3, -100.0)),
            does="Scores of later keys are a number such as -10000, which is not below every score.",
            why="Scores may be as low themselves; then later keys get a weight.",
            ask="What are the weights of query 0 if its only allowed score is -10000 too?"),
    Mistake("diagonal block skipped", change=tuple(map(_diagonal_skipped, KEY_BLOCKS)), numbers=each_tile(_diagonal_skipped),
            does="With is_causal=True a query sees only the keys before its block of queries; the first "
                 "block sees none, and becomes NaN.",
            why="The block on the diagonal is the one that is masked in part. The loop ends after it: at "
                "(block of queries + 1) * its length.",
            ask="Which keys does the last query of a block see, and does your loop reach them?"),
    Mistake("positions counted inside the block", alone=True,
            change=tuple(_inside_the_blocks(rows, columns, reach)
                         for rows, reaches in ((16, (0, 16)), (32, (0, 32)), (64, (0, 16, 32)))
                         for columns in KEY_BLOCKS[:3] if (rows, columns) != (64, 64) for reach in reaches),
            numbers=each_tile(lambda block: _inside_the_blocks(block, block)),
            does="The causal mask compares places inside a block, not positions: it is right for the first block only.",
            why="tl.arange(0, BLOCK) counts from 0 in every block. The position is the block's start plus that.",
            ask="Which position has the first query of the second block, in your mask and in the sequence?"),
    Mistake("keys after the diagonal never read",
            change=tuple(_up_to_the_diagonal(rows, columns) for rows in KEY_BLOCKS for columns in KEY_BLOCKS),
            does="With is_causal=False too, the loop over the keys ends where the block of queries ends.",
            why="Without a mask every query sees every key: the loop ends at the diagonal only if is_causal is True, "
                "and at n otherwise.",
            ask="Where does your loop over the keys end if is_causal is False?"),
    Mistake("padding counted as zeros", change=tuple(map(_padded_keys, KEY_BLOCKS)), numbers=each_tile(_padded_keys),
            does="If n is no multiple of the block, weight goes to keys that do not exist.",
            why="Beyond the last key tl.load gives what other= says; without it that is undefined, and usually 0. "
                "The scores there are 0, and exp(0) is 1: they must be -inf before the maximum is taken.",
            ask="What is the score of a key of zeros, and what is its exponential?"),
    Mistake("no mask on the load", change=tuple(map(_beyond_the_end, KEY_BLOCKS)), numbers=each_tile(_beyond_the_end),
            does="The kernel reads or writes beyond the last position of a head, and at the last head beyond "
                 "the tensor.",
            why="Blocks have a fixed length, and n is no multiple of it: loads and stores need a mask such as "
                "rows[:, None] < n.",
            ask="How many rows has the last block, and how many of them exist?"),
    Mistake("first block of keys dropped",
            change=tuple(map(_first_keys_dropped, KEY_BLOCKS)), numbers=each_tile(_first_keys_dropped),
            does="The keys of the first block are not read; if there is no other block, the output is NaN.",
            why="The loop over the keys begins at 0.",
            ask="Which keys does your kernel load in the first turn of its loop?"),
    Mistake("tail block dropped", change=tuple(map(_last_keys_dropped, KEY_BLOCKS)), numbers=each_tile(_last_keys_dropped),
            does="If n is no multiple of the block, the last keys are not read.",
            why="n // BLOCK blocks leave up to BLOCK - 1 keys over: round up, and mask.",
            ask="How many blocks of 16 keys are needed for 37 keys?"),
    Mistake("last queries not computed", change=tuple(
                {"store": _written(lambda b, h, i, shape, block=block, least=least: i < max(
                    shape[2] // block, least) * block, blank)}
                for least in (0, 1) for block in KEY_BLOCKS for blank in BLANKS),
            does=f"If n is no multiple of the block, the last rows of the output are not written: they are "
                 f"{NEVER_WRITTEN:.0f}, the checker's mark in torch.empty, or 0.",
            why="The grid needs n / BLOCK programs rounded up: triton.cdiv(n, BLOCK).",
            ask="How many blocks of 16 queries are needed for 37 queries?"),
    Mistake("only the first block of queries", change=tuple(
                {"store": _written(lambda b, h, i, shape, block=block: i < block, blank)}
                for block in KEY_BLOCKS[:3] for blank in BLANKS),
            does="The first rows of the output are written, and no others.",
            why="Each program does one block of queries: the grid has as many programs as blocks, and "
                "each adds program_id * BLOCK to its rows.",
            ask="How many programs does your grid start, and which rows does each of them do?"),
    Mistake("nothing written", change=tuple(
                {"answer": lambda query, key, value, is_causal, blank=blank: np.full(query.shape, blank)}
                for blank in BLANKS),
            does=f"The output holds what it was made with: {NEVER_WRITTEN:.0f}, the checker's mark in "
                 "torch.empty, or 0.",
            why="A kernel returns nothing: tl.store writes its result, and where it writes nothing the "
                "output stays as torch.empty or torch.zeros made it.",
            ask="Which line of your kernel writes to the output, and how often does it run?"),
    Mistake("heads mixed up", change=_heads_mixed(_first_head, lambda b, h, i, shape: (b == 0) & (h == 0)),
            does="Every head reads queries, keys or values of the first head of the first batch entry.",
            why="Each program has a head of its own, and adds that head's offset to its pointers.",
            ask="How many entries lie between the first element of one head and that of the next?"),
    Mistake("offset of the batch alone",
            change=tuple({"store": _written(lambda b, h, i, shape, count=count: b * shape[1] + h < count(shape), blank)}
                         for count in (lambda shape: shape[0], lambda shape: -(-shape[0] * shape[1] // 2))
                         for blank in BLANKS),
            does="The heads of a batch entry read and write at one place: only the first heads of the output are "
                 "written.",
            why="program_id(1) counts all heads of all entries: head number i of them begins i * n * d numbers after "
                "the first.",
            ask="How many entries lie between the first element of one head and that of the next?"),
    Mistake("batch entries mixed up", change=_heads_mixed(_first_of_batch, lambda b, h, i, shape: b == 0),
            does="Every batch entry reads queries, keys or values of the first one.",
            why="The pointers need the batch's offset too, not only the head's.",
            ask="How many entries lie between one batch entry and the next?"),
    Mistake("output not rescaled", change=tuple(_online(block, rescale_output=False) for block in KEY_BLOCKS),
            numbers=each_tile(lambda block: _online(block, rescale_output=False)),
            does="When a later block has a larger maximum, earlier values keep too much weight.",
            why="When the maximum grows from m to m', sum and accumulator so far must be multiplied by exp(m - m').",
            ask="By which factor do the earlier exponentials change when a larger maximum comes?"),
    Mistake("sum not rescaled", change=tuple(_online(block, rescale_sum=False) for block in KEY_BLOCKS),
            numbers=each_tile(lambda block: _online(block, rescale_sum=False)),
            does="When a later block has a larger maximum, the sum so far stays too large.",
            why="When the maximum grows from m to m', sum and accumulator so far must be multiplied by exp(m - m').",
            ask="By which factor do the earlier exponentials change when a larger maximum comes?"),
    Mistake("nothing rescaled", change=tuple(
                _online(block, rescale_output=False, rescale_sum=False) for block in KEY_BLOCKS),
            numbers=each_tile(lambda block: _online(block, rescale_output=False, rescale_sum=False)),
            does="Sum and accumulator stay as they are when a later block has a larger maximum.",
            why="When the maximum grows from m to m', both must be multiplied by exp(m - m').",
            ask="By which factor do the earlier exponentials change when a larger maximum comes?"),
    Mistake("block measured from its own maximum",
            change=tuple(change for block in KEY_BLOCKS for change in _own_maxima(block)),
            numbers=lambda numbers: [change for block in numbers if block in (4, 8) for change in _own_maxima(block)],
            does="Each block of keys subtracts a maximum of its own, and the results are added.",
            why="Exponentials with different maxima are not on one scale. The maximum runs: "
                "tl.maximum(m, the block's maximum), and what came before is rescaled.",
            ask="Which number was subtracted from the scores of each block?"),
    Mistake("block maximum instead of the running maximum",
            change=tuple(_online(block, running=False) for block in KEY_BLOCKS[:2]),
            numbers=each_tile(lambda block: _online(block, running=False)),
            does="The maximum is replaced by the block's, also where that is lower: the factor for what came "
                 "before can overflow, and a block that a query does not see makes it NaN.",
            why="The running maximum is the larger of the old one and the block's; then no factor exceeds 1.",
            ask="What should the maximum be after a block whose scores are all small?"),
    Mistake("partial results added", change=tuple(
                _each_tile_alone(block, False, skips) for block in KEY_BLOCKS for skips in (False, True)),
            numbers=lambda numbers: [_each_tile_alone(block, False, skips)
                                     for block in numbers if block in (4, 8) for skips in (False, True)],
            does="Each block of keys is a softmax of its own, and the outputs are added.",
            why="All keys share one softmax: divide once, after the last block.",
            ask="What do the weights of one query sum to over all blocks?"),
    Mistake("partial results averaged", change=tuple(
                _each_tile_alone(block, True, skips) for block in KEY_BLOCKS for skips in (False, True)),
            numbers=lambda numbers: [_each_tile_alone(block, True, skips)
                                     for block in numbers if block in (4, 8) for skips in (False, True)],
            does="Each block of keys is a softmax of its own, and counts the same.",
            why="All keys share one softmax: a block counts as much as its exponentials.",
            ask="How much of the whole sum belongs to each block?"),
    Mistake("only the last block", change=tuple(_only_tile(block, -1) for block in KEY_BLOCKS),
            numbers=each_tile(lambda block: _only_tile(block, -1)),
            does="Only the last block of keys counts.",
            why="The loop over the keys must keep what came before: rescale it, and add.",
            ask="What happens in your loop to the accumulator of the blocks before?"),
    Mistake("only the first block", change=tuple(_only_tile(block, 0) for block in KEY_BLOCKS),
            numbers=each_tile(lambda block: _only_tile(block, 0)),
            does="Only the first block of keys counts.",
            why="The pointers to the keys must move on with the loop, and the loop must reach the last block.",
            ask="Which keys does your kernel load in the second turn of its loop?"),
)


def flash_triton_cases():
    device = kernel_device()
    near = 2e-2 if device == "cuda" else 1e-3  # tl.dot rounds float32 to TF32 there

    def case(aspect, n, d, is_causal, batch=1, heads=1, dtype=np.float32, seed=111, order=""):
        if device == "cuda" and d > 32:
            dtype = np.float16  # blocks of float32 may not fit on the chip
        arrays = [normal(batch, heads, n, d, seed=seed + i, dtype=dtype) for i in range(3)]
        arrays[1][:, :, -1] += arrays[0][:, :, -1]  # later keys score higher
        if order:  # in memory (batch, n, heads, d), as a projection leaves it
            arrays = [np.ascontiguousarray(array.swapaxes(1, 2)).swapaxes(1, 2) for array in arrays]
        return Case(aspect, (*arrays, is_causal), device=device, relative=2e-2 if dtype == np.float16 else near)

    def tiny(aspect, query, key, is_causal, extreme=False):
        """Queries and keys of one number, in the first of 16 features."""
        wide = [np.zeros((1, 1, len(numbers), 16), np.float32) for numbers in (query, key)]
        for array, numbers in zip(wide, (query, key)):
            array[0, 0, :, 0] = numbers
        value = np.zeros((1, 1, len(key), 16), np.float32)
        value[0, 0, :, :2] = np.arange(2.0 * len(key)).reshape(-1, 2) % 7 + 1
        return Case(aspect, (*wide, value, is_causal), extreme, device=device, relative=near)

    # the scale is 1/4: 200 * 200 gives a score of 10000
    return [
        tiny(PLAIN, [2, 1, 4], [4, 0, 2], False), tiny(CAUSAL, [2, 1, 4], [4, 0, 2], True),
        case(PLAIN, 5, 16, False), case(CAUSAL, 5, 16, True), case(CAUSAL, 16, 16, True), case(PLAIN, 13, 16, False),
        case(HEADS, 5, 16, False, 2, 3), case(HEADS, 3, 16, True, 2, 2),
        case("one position", 1, 16, True, 1, 2),
        case(BLOCKWISE, 37, 16, True), case(BLOCKWISE, 130, 16, False),
        case("d of 32", 5, 32, False), case("d of 64", 5, 64, True), case("d of 128", 3, 128, False),
        case(STRIDED, 3, 16, False, 2, 2, order="heads last"), case(STRIDED, 5, 16, True, 1, 3, order="heads last"),
        tiny(HUGE, [200, 1], [200, 196], False, True), tiny(HUGE, [-200, 1], [200, 204], False, True),
        tiny(HUGE, [-200, -200, 200], [200, 196, -200], True, True),
        case(FLOAT16, 5, 16, False, dtype=np.float16), case(FLOAT16, 7, 16, True, dtype=np.float16),
    ]


CAUSAL = "is_causal=True"
HEADS = "several heads"
BLOCKWISE = "more positions than a block"

TABLE_MADE = Mistake(
    "an (n, n) tensor made",
    does="The function makes a tensor with n rows and n columns.",
    why="That is what a fused kernel avoids: it keeps a block of scores on the chip, and the memory "
        "grows with n, not with n².",
    ask="Which tensor of your launcher grows with the square of n?")


def kernel_computes_attention(run):
    import torch

    n = 50
    arrays = [torch.from_numpy(normal(1, 1, n, 16, seed=seed, dtype=np.float32)).to(kernel_device())
              for seed in (121, 122, 123)]
    small = [array[:, :, :3].contiguous() for array in arrays]
    if without_kernel(run, *small, False):
        return NO_KERNEL
    if Listener().hear(run, *small, False).heard(*gpu.OWN_NAMES):
        return gpu.OWN_ATTENTION
    return TABLE_MADE if tables_made(run, n, *arrays, True) else None


flash_attention_triton = Exercise(
    name="flash_attention_triton", signature="(query, key, value, is_causal)", part=PART, library="torch",
    text="Attention of torch tensors (batch, heads, n, d), d one of 16, 32, 64 and 128, causal or not, by a "
         "Triton kernel that makes no (n, n) tensor.",
    answer=flash_triton_answer,
    steps={**ATTENTION_STEPS, "heads": lambda query, key, value: (query, key, value),
           "flag": lambda is_causal: is_causal, **CAUSAL_MASK, "pad": lambda scores, value, is_causal: (scores, value),
           "reach": lambda scores, value: (scores, value), "stream": _at_once, "store": lambda output: output},
    cases=flash_triton_cases,
    hints=(
        "One program does one block of queries of one head, and loops over the blocks of keys. The grid "
        "is (triton.cdiv(n, BLOCK), batch * heads).",
        "A program keeps three things: the running maximum m, the running sum of exponentials, and an "
        "accumulator of exponentials @ values; all in float32.",
        "For each block: the scores by tl.dot, times 1/sqrt(d); -inf where the column is n or more, or "
        "above the row if is_causal; then the new maximum, tl.maximum(m, tl.max(scores, 1)).",
        "Multiply sum and accumulator by tl.exp(m - new) before adding the block's tl.exp(scores - "
        "new[:, None]); after the loop store accumulator / sum[:, None] under the mask rows < n.",
    ),
    mistakes=(
        *pick(raw_scores.SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
              "sqrt(n_k) instead of sqrt(d_k)", "1/2 instead of a square root", "d_k fixed in the code"),
        *pick(attention.mistakes, "K Qᵀ instead of Q Kᵀ", "no maximum subtracted",
              "minimum subtracted instead of maximum", "no exponential", "power of 2 instead of e",
              "sign flipped", "not divided by the sum",
              "softmax over the queries' axis", "softmax over everything", "weights averaged over the batch",
              "keys instead of values", "queries instead of values"),
        *FLASH_MISTAKES,
    ),
    audits=(kernel_computes_attention,), missing=kernels_missing, around=kernels_watched, seconds=60.0,
    aspects={FLOAT16: NOT_CAST, STRIDED: STRIDES},
)

EXERCISES = (softmax_triton, flash_attention_triton)
