import math

import numpy as np

from ...families.attention import ATTENTION_AXES
from ...families.kernel_costs import kernel_costs
from ...families.scores import swap
from ...families.tiles import (  # noqa: F401, for the page
    BLANKS,
    BY_KERNEL,
    OWN_MAXIMA,
    STRIDED,
    apart,
    by_a_kernel,
    online,
    only_first,
    out_of_bounds,
    tensors_of,
)
from ...families.torch_attention import OWN_NAMES
from ...families.torch_calls import tables_made
from ...families.triton_launches import kernel_device
from ...model import FLOAT16, HUGE, PLAIN, BesidesRounding, Case, normal
from ...pages import written

BLOCKS = (16, 32, 64, 128)
UNEVEN = tuple((rows, columns) for rows in BLOCKS for columns in BLOCKS if columns < rows)
RUNNING = ("sum", "output", "sum, output")
BETWEEN = "sums between two float16 numbers"


def flash_attention_triton(query, key, value, is_causal):
    q, k = query, key
    k_t = swap(k)
    products = q @ k_t  #: the product of queries and keys
    scores = products / math.sqrt(q.shape[-1])  #: the scores
    masked = hidden(scores, is_causal)
    chosen = value  #: the values
    filled, below = masked, chosen
    logits, v = filled, below
    s = logits
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    w = weights
    output = w @ v
    return output


def hidden(scores, is_causal, seen=lambda key, query: key <= query, fill=-np.inf):
    places = np.arange(scores.shape[-1])
    return np.where(seen(places, places[:, None]), scores, fill) if is_causal else scores


def all_hidden(output, value, is_causal, query, end, step):
    """The query that sees nothing, if hidden scores are one low number: all keys before `end` count
    alike, with the zeros behind them up to a multiple of `step`.
    """
    read = min(value.shape[-2], end)
    mean = value[..., :read, :].sum(axis=-2) / (-(-read // step) * step)
    if is_causal:
        output[..., query, :] = mean
    return output


def reach(query, rows, columns):
    """Where the blocks of keys end that reach as far as the query's block of queries, if it has
    rows.
    """
    return np.inf if not rows else -(-(query // rows + 1) * rows // columns) * columns


def zeros_behind(scores, value, is_causal, block):
    """Keys beyond the last one are read as zeros; only a causal mask hides their scores of 0."""
    more = 0 if is_causal else -scores.shape[-1] % block
    behind = [(0, 0)] * (scores.ndim - 1)
    return np.pad(scores, [*behind, (0, more)]), np.pad(value, [*behind[:-1], (0, more), (0, 0)])


def low_behind(masked, value, fill, block, later=True):
    """The scores beyond the last key, and perhaps those of later keys, are one low number. It
    counts where there are few keys, and there the last block ends at the next multiple of `block`.
    """
    masked = np.where(np.isneginf(masked) & later, fill, masked)
    more = -masked.shape[-1] % block
    behind = [(0, 0)] * (masked.ndim - 1)
    masked = np.pad(masked, [*behind, (0, more)], constant_values=fill)
    return masked, np.pad(value, [*behind[:-1], (0, more), (0, 0)])


def later_as_zeros(scores, value, is_causal, rows, columns):
    """Later keys, and the places behind the last one, have scores of 0 as far as the blocks go."""
    if not is_causal:
        return scores, value
    queries = np.arange(scores.shape[-1])[:, None]
    scores, value = zeros_behind(scores, value, False, columns)
    places = np.arange(scores.shape[-1])
    unread = places >= reach(queries, rows, columns)
    return np.where(places <= queries, scores, np.where(unread, -np.inf, 0.0)), value


def only_keys(scores, value, part):
    """Only these keys are read; without any, the output is 0 / 0."""
    found = scores[..., part], value[..., part, :]
    return found if found[0].shape[-1] else (np.nan * scores[..., :1], value[..., :1, :])


def first(array, *counts):
    """The first batch entry or head, in the place of all."""
    return np.broadcast_to(array[tuple(map(slice, counts))], array.shape)


def only_heads(output, count, blank):
    """The output of a kernel that writes the first heads of all entries."""
    number = np.arange(math.prod(output.shape[:2])).reshape(*output.shape[:2], 1, 1)
    return np.where(number < count, output, blank)


def _cases():
    causal, heads, blockwise = "is_causal=True", "several heads", "more positions than a block"
    device = kernel_device()
    near = 2e-2 if device == "cuda" else 1e-3  # tl.dot rounds float32 to TF32 there

    def case(aspect, n, d, is_causal, batch=1, heads=1, dtype=np.float32, heads_last=False):
        if device == "cuda" and d > 32:
            dtype = np.float16  # blocks of float32 may not fit on the chip
        arrays = [normal(batch, heads, n, d, seed=111 + i, dtype=dtype) for i in range(3)]
        arrays[1][:, :, -1] += arrays[0][:, :, -1]  # later keys score higher
        if heads_last:  # in memory (batch, n, heads, d), as a projection leaves it
            arrays = [np.ascontiguousarray(array.swapaxes(1, 2)).swapaxes(1, 2) for array in arrays]
        relative = 2e-2 if dtype == np.float16 else near
        return Case(aspect, (*arrays, is_causal), device=device, relative=relative)

    def tiny(aspect, query, key, is_causal):
        """Queries and keys of one number, in the first of 16 features."""
        wide = [np.zeros((1, 1, len(key), 16), np.float32) for _ in range(3)]
        wide[0][0, 0, :, 0], wide[1][0, 0, :, 0] = query, key
        wide[2][0, 0, :, :2] = np.arange(2.0 * len(key)).reshape(-1, 2) % 7 + 1
        return Case(aspect, (*wide, is_causal), aspect == HUGE, device=device, relative=near)

    def equal_values(n, seed):
        """All keys have one and the same value, of float16 numbers, which is then the output."""
        draw = np.random.default_rng(seed)
        arrays = [np.zeros((1, 1, n, 16), np.float16) for _ in range(3)]
        arrays[0][0, 0, :, 0] = draw.integers(1, 9, n) / 4
        arrays[1][0, 0, :, 0] = draw.integers(-12, 13, n) / 4
        arrays[2][:] = 1 + np.arange(16) / 16
        return Case(BETWEEN, (*arrays, False), device=device, relative=BesidesRounding(3e-4))

    # the scale is 1/4: 200 * 200 gives a score of 10000
    return [
        tiny(PLAIN, [2, 1, 4], [4, 0, 2], False),
        tiny(causal, [2, 1, 4], [4, 0, 2], True),
        *(case(PLAIN, n, 16, False) for n in (5, 13)),
        *(case(causal, n, 16, True) for n in (5, 16)),
        case(heads, 5, 16, False, 2, 3),
        case(heads, 3, 16, True, 2, 2),
        case("one position", 1, 16, True, 1, 2),
        *(case(blockwise, n, 16, c) for n, c in ((37, True), (130, True), (130, False))),
        case("d of 32", 5, 32, False),
        case("d of 64", 5, 64, True),
        case("d of 128", 3, 128, False),
        case(STRIDED, 3, 16, False, 2, 2, heads_last=True),
        case(STRIDED, 5, 16, True, 1, 3, heads_last=True),
        tiny(HUGE, [200, 1], [200, 196], False),
        tiny(HUGE, [-200, 1], [200, 204], False),
        tiny(HUGE, [-200, -200, 200], [200, 196, -200], True),
        tiny(HUGE, [200] * 130, [200] + [0] * 129, False),  # high in the first block alone
        case(FLOAT16, 5, 16, False, dtype=np.float16),
        case(FLOAT16, 7, 16, True, dtype=np.float16),
        *(equal_values(37, seed) for seed in EXPOSING),
        # below -1e9, and exact in TF32 and in a fused multiply-add
        *(tiny(HUGE, [2**16] * 2, [-(2**17)] * 2, is_causal) for is_causal in (False, True)),
        tiny(HUGE, [40, 40], [-80, -80], False),  # below 0, but not below -1000
    ]


# In each of these a row sum, and with it each row of the accumulator, lies between two float16
# numbers, whatever the length of the blocks.
EXPOSING = (366, 300)


OWN = by_a_kernel("torch's own attention called", OWN_NAMES, *[(1, 1, 3, 16)] * 3, more=(False,))


def makes_a_table(run):
    tensors = tensors_of(*[(1, 1, 50, 16)] * 3)
    return "an (n, n) tensor made" if tables_made(run, 50, *tensors, True) else None


EXERCISE = written(
    flash_attention_triton,
    place=2,
    axes=ATTENTION_AXES,
    answer_axes="n_q d_v",
    cases=_cases,
    audits=(OWN, makes_a_table),
    costs=kernel_costs(
        "float16", **dict.fromkeys(("query", "key", "value"), (1, 1, 256, 64)), is_causal=False
    ),
    **BY_KERNEL,
)
