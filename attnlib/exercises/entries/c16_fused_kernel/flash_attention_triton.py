"""The exercise flash_attention_triton."""

import dataclasses

import numpy as np

from ...families.attention import ATTENTION_MISTAKES, ATTENTION_STEPS, attention_answer
from ...families.choose import pick
from ...families.kernel_costs import kernel_costs
from ...families.masks import CAUSAL_MASK_MISTAKES
from ...families.scores import SCALE_MISTAKES, raw_scores_answer, softmax_of
from ...families.tiles import (BLANK, BLANKS, NOT_CAST, NO_KERNEL, STRIDED, STRIDES, each_tile, in_one, nothing_written,
    out_of_bounds, without_kernel)
from ...families.torch_attention import OWN_ATTENTION, OWN_NAMES, hooked
from ...families.torch_calls import Listener, tables_made
from ...families.triton_launches import kernel_device, kernels_missing, kernels_watched
from ...model import FLOAT16, HUGE, PLAIN, Case, Exercise, Mistake, normal


def flash_triton_answer(do, query, key, value, is_causal):
    query, key, value = do.heads(query, key, value)
    is_causal = do.flag(is_causal)
    scores = do.hide(raw_scores_answer(do, query, key), is_causal)
    scores, value = do.reach(*do.pad(scores, do.choose_values(query, key, value), is_causal))
    if not scores.shape[-1]:
        return do.store(np.full(query.shape, np.nan))  # 0 / 0: no key was read
    return do.store(do.stream(do, scores, value, query))


def _at_once(do, scores, value, query):
    return attention_answer(
        hooked(do, roles=lambda q, k: (q, k), transpose=lambda k: k, product=lambda q, k: scores,
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


def _online(block, rescale_output=True, rescale_sum=True, running=True, skips=False, own_powers=False, start=-np.inf):
    """Attention a block of keys at a time, with one of its steps left out, or another maximum to start from.

    A block in which a query sees nothing is read too, or skipped, where that makes a difference.
    `own_powers` measures a block from its own maximum, and what came before from the running one.
    """
    def stream(do, scores, value, query):
        highest, total, output = start, 0.0, 0.0
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
        parts = [softmax_of(tile) @ part for tile, part in _key_tiles(scores, value, block)]
        return sum(np.nan_to_num(part) if skips else part for part in parts) / (len(parts) if mean else 1)

    return in_one({"stream": stream})


def _only_tile(block, at):
    def stream(do, scores, value, query):
        tile, part = _key_tiles(scores, value, block)[at]
        return softmax_of(tile) @ part

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
          pick(CAUSAL_MASK_MISTAKES, "diagonal excluded", "one key too many",
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
    Mistake("edge not masked", change=tuple(map(_beyond_the_end, KEY_BLOCKS)), numbers=each_tile(_beyond_the_end),
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
            does=f"If n is no multiple of the block, the last rows of the output are not written: they are {BLANK}.",
            why="The grid needs n / BLOCK programs rounded up: triton.cdiv(n, BLOCK).",
            ask="How many blocks of 16 queries are needed for 37 queries?"),
    Mistake("only the first block of queries", change=tuple(
                {"store": _written(lambda b, h, i, shape, block=block: i < block, blank)}
                for block in KEY_BLOCKS[:3] for blank in BLANKS),
            does="The first rows of the output are written, and no others.",
            why="Each program does one block of queries: the grid has as many programs as blocks, and "
                "each adds program_id * BLOCK to its rows.",
            ask="How many programs does your grid start, and which rows does each of them do?"),
    nothing_written(lambda query, *others: query.shape),
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
    Mistake("NaN from the first block on", change={"answer": lambda query, *others: np.full_like(query, np.nan)},
            does="Every number is NaN.",
            why="Before the first block the maximum is -inf, and sum and accumulator are 0. Then exp(m - m') is 0, but exp(m' - m) is "
                "infinite, and infinity times 0, inf - inf and 0 / 0 are NaN for good.",
            ask="What are your factor, your differences and your quotients in the first turn of the loop?"),
    Mistake("maximum begins at 0", change=tuple(_online(block, start=0.0) for block in KEY_BLOCKS[:1]),
            does="Where all scores of a query lie far below 0, the maximum stays at 0: all exponentials underflow, and "
                 "0 / 0 is NaN.",
            why="Only -inf is below every score. With tl.zeros there is a score of 0 among them from the start.",
            ask="Which number is below every score, also below -10000?"),
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
    if Listener().hear(run, *small, False).heard(*OWN_NAMES):
        return OWN_ATTENTION
    return TABLE_MADE if tables_made(run, n, *arrays, True) else None


EXERCISE = Exercise(
    name="flash_attention_triton", signature="(query, key, value, is_causal)", place=2,
    axes=dict(query="n_q d_k", key="n_k d_k", value="n_k d_v"), answer_axes="n_q d_v", library="torch",
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
        *pick(SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
              "sqrt(n_k) instead of sqrt(d_k)", "1/2 instead of a square root", "d_k fixed in the code"),
        *pick(ATTENTION_MISTAKES, "K Qᵀ instead of Q Kᵀ", "no maximum subtracted",
              "minimum subtracted instead of maximum", "no exponential", "power of 2 instead of e",
              "sign flipped", "not divided by the sum",
              "softmax over the queries' axis", "softmax over everything", "weights averaged over the batch",
              "keys instead of values", "queries instead of values"),
        *FLASH_MISTAKES,
    ),
    audits=(kernel_computes_attention,), missing=kernels_missing, around=kernels_watched, seconds=60.0,
    aspects={FLOAT16: NOT_CAST, STRIDED: STRIDES},
    costs=kernel_costs("float16", query=(1, 1, 256, 64), key=(1, 1, 256, 64), value=(1, 1, 256, 64), is_causal=False),
)
