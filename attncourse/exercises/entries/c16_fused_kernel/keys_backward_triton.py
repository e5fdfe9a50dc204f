import math

import numpy as np

from ...families.kernel_costs import kernel_costs
from ...families.scores import swap
from ...families.tiles import BLANKS, BY_KERNEL, by_a_kernel, only_first, out_of_bounds, tensors_of  # noqa: F401, for the page
from ...families.torch_calls import tables_made
from ...families.triton_launches import kernel_device
from ...model import FLOAT16, HUGE, PLAIN, Case, normal
from ...pages import written

BLOCKS = (16, 32, 64, 128)
STARTS = (0, *BLOCKS)  # a loop over all queries, and loops that begin at the diagonal block
LOG2_E = math.log2(math.e)


def keys_backward_triton(query, key, value, grad_output, lse, delta):
    q, k, v = query, key, value
    grad = grad_output
    products = q @ swap(k)  #: the product of queries and keys
    scores = products / math.sqrt(q.shape[-1])  #: the scores
    logits = scores - lse[..., None]
    powers = np.exp(logits)  #: the exponentials
    w = causal(powers)  #: the weights
    grad_weights = grad @ swap(v)  #: the gradient of the weights
    centred = grad_weights - delta[..., None]
    grad_scores = w * centred  #: the gradient of the scores
    summed = everything(w)
    parts_v = np.where(summed, w, 0.0)
    parts_k = np.where(summed, grad_scores, 0.0)
    sum_v = swap(parts_v) @ grad
    sum_k = swap(parts_k) @ q
    grad_key = sum_k / math.sqrt(q.shape[-1])
    grad_value = sum_v
    return grad_key, grad_value


def begins(i, j, block):
    """Whether query i is read for key j by a loop that begins at key j's block."""
    return i >= j // block * block if block else i >= 0


def causal(powers, seen=lambda i, j: j <= i, block=0, fill=0.0):
    i, j = np.indices(powers.shape[-2:])
    return np.where(begins(i, j, block), np.where(seen(i, j), powers, fill), 0.0)


def everything(weights, read=lambda i, j: i >= 0):
    return read(*np.indices(weights.shape[-2:]))


def reach(j, rows, columns):
    """Where the blocks of queries end that reach as far as key j's block of keys."""
    return -(-(j // columns + 1) * columns // rows) * rows


def along_keys(per_query, block):
    """One number for each query, met along the keys of each tile."""
    n = per_query.shape[-1]
    i, j = np.indices((n, n))
    return np.pad(per_query, [(0, 0), (0, -n % block)])[..., i // block * block + j % block]


def by_blocks_of_keys(matrix, reduce, block):
    """Each row's block of keys replaced by what `reduce` makes of it."""
    blocks = [matrix[..., at : at + block] for at in range(0, matrix.shape[-1], block)]
    return np.concatenate([np.broadcast_to(reduce(one), one.shape) for one in blocks], axis=-1)


def in_tiles(matrix, rows, block, beyond=0.0):
    """The tiles of a matrix (head, tile, query, tile, key), and the rows in blocks; queries beyond
    the end hold `beyond`.
    """
    heads, n, _ = matrix.shape
    more, count = -n % block, -(-n // block)
    matrix = np.pad(matrix, [(0, 0), (0, more), (0, 0)], constant_values=beyond)
    matrix = np.pad(matrix, [(0, 0), (0, 0), (0, more)])
    rows = np.pad(rows, [(0, 0), (0, more), (0, 0)])
    return (
        matrix.reshape(heads, count, block, count, block),
        rows.reshape(heads, count, block, -1),
    )


def untransposed(matrix, rows, block, beyond=0.0):
    """Each tile is multiplied by its block of rows without being transposed."""
    found = np.einsum("hsrtc,hscd->htrd", *in_tiles(matrix, rows, block, beyond))
    return found.reshape(len(rows), -1, rows.shape[-1])[:, : rows.shape[1]]


def with_own_rows(matrix, rows, block, beyond=0.0):
    """Each transposed tile is multiplied by the rows of the program's own block of keys."""
    found = np.einsum("hsrtc,htrd->htcd", *in_tiles(matrix, rows, block, beyond))
    return found.reshape(len(rows), -1, rows.shape[-1])[:, : rows.shape[1]]


def running(matrix, rows, block, dtype):
    """The sum over blocks of queries, rounded to the dtype after each of them."""
    total = 0.0
    for at in range(0, rows.shape[1], block):
        part = swap(matrix[:, at : at + block]) @ rows[:, at : at + block]
        total = (total + part).astype(dtype).astype(np.float64)
    return total


def first_head(array):
    return np.broadcast_to(array[:1], array.shape)


def one_head(gradient, which, blank):
    """The head that is left if all of them are stored in the place of the first."""
    kept = np.full_like(gradient, blank)
    kept[0] = gradient[which]
    return kept


def grid_turned(gradient, block, blank):
    """The programs (b, h) for which b is taken for the head, and h for the block of keys."""
    heads, n, _ = gradient.shape
    blocks = -(-n // block)
    if blocks > heads:
        out_of_bounds()
    kept = np.full_like(gradient, blank)
    kept[:blocks, : heads * block] = gradient[:blocks, : heads * block]
    return kept


def nan_behind(gradient, block):
    """NaN where the last block of queries isn't whole: every key's sum runs over it."""
    return gradient if gradient.shape[1] % block == 0 else np.nan * gradient


def whole_tiles(array, block):
    return array if array.shape[1] % block == 0 else out_of_bounds()


def _with_forward(query, key, value, grad_output):
    """The arguments, with what the causal forward pass leaves."""
    q, k, v, grad = (array.astype(np.float64) for array in (query, key, value, grad_output))
    i, j = np.indices((q.shape[1],) * 2)
    scores = np.where(j <= i, q @ swap(k) / math.sqrt(q.shape[-1]), -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    lse = highest + np.log(np.exp(scores - highest).sum(axis=-1, keepdims=True))
    delta = (grad * (np.exp(scores - lse) @ v)).sum(axis=-1)
    return query, key, value, grad_output, *(x.astype(np.float32) for x in (lse[..., 0], delta))


def _cases():
    heads, blockwise = "several heads", "more positions than a block"
    device = kernel_device()
    near = 2e-2 if device == "cuda" else 1e-3  # tl.dot rounds float32 to TF32 there

    def made(aspect, arrays, extreme=False, dtype=np.float32):
        args = _with_forward(*(array.astype(dtype) for array in arrays))
        relative = 2e-2 if dtype == np.float16 else near
        return Case(aspect, args, extreme, device=device, relative=relative)

    def case(aspect, n, d, heads=1, dtype=np.float32, seed=131):
        if device == "cuda" and d > 32:
            dtype = np.float16  # blocks of float32 may not fit on the chip
        return made(aspect, [normal(heads, n, d, seed=seed + i) for i in range(4)], dtype=dtype)

    def tiny(aspect, query, key, value, grad):
        """Queries and keys of one number, in the first of 16 features."""
        wide = np.zeros((4, 1, len(query), 16))
        for one, numbers in zip(wide, (query, key, value, grad)):
            one[0, :, 0] = numbers
        return made(aspect, wide, aspect == HUGE)

    def cancelling(n=130):
        """Sums over the first queries that float16 cannot hold, and small ones in the end."""
        query, key, value, grad = np.zeros((4, 1, n, 16))
        query[0, :, :2], key[0, 2:, 0], value[0, 0, 0] = (4, 1), -200, 4
        grad[0, 1:4, 0], grad[0, -2:, 0] = (2000, 2000, 99), (-2040, -2050)
        return made("sums between two float16 numbers", (query, key, value, grad))

    # the scale is 1/4: 200 * 200 gives a score of 10000
    return [
        tiny(PLAIN, [4, 2], [0, 2], [1, 3], [2, 1]),
        tiny(PLAIN, [2, 1, 4], [4, 0, 2], [1, 2, 5], [1, 3, 2]),
        *(case(PLAIN, n, 16) for n in (5, 13, 16)),
        case(heads, 5, 16, 3),
        case(heads, 16, 16, 2),
        tiny("one position", [2], [1], [3], [2]),
        *(case(blockwise, *sizes) for sizes in ((32, 16), (37, 16, 2), (128, 16), (130, 16))),
        case("d of 32", 5, 32),
        case("d of 64", 5, 64),
        case("d of 128", 3, 128),
        tiny(HUGE, [200, 1], [200, 196], [1, 3], [2, 1]),
        tiny(HUGE, [-200, 200], [200, 100], [1, 3], [2, 1]),
        *(case(FLOAT16, n, 16, dtype=np.float16, seed=s) for n, s in ((5, 141), (37, 151))),
        cancelling(),
    ]


def _tensors(n):
    return tensors_of(*[(1, n, 16)] * 4, (1, n), (1, n))


def makes_a_table(run):
    return "an (n, n) tensor made" if tables_made(run, 50, *_tensors(50)) else None


EXERCISE = written(
    keys_backward_triton,
    place=4,
    axes=dict(
        query="n_q d_k",
        key="n_k d_k",
        value="n_k d_v",
        grad_output="n_q d_v",
        lse="n_q",
        delta="n_q",
    ),
    outputs=("grad_key", "grad_value"),
    cases=_cases,
    audits=(by_a_kernel("", (), *[(1, 3, 16)] * 4, (1, 3), (1, 3)), makes_a_table),
    costs=kernel_costs(
        "float32",
        **dict.fromkeys(("query", "key", "value", "grad_output"), (1, 256, 64)),
        **dict.fromkeys(("lse", "delta"), (1, 256)),
    ),
    **BY_KERNEL,
)
