import itertools

import numpy as np

from ...families.kernel_costs import kernel_costs
from ...families.tiles import BLANKS, BY_KERNEL, STRIDED, by_a_kernel, only_first, out_of_bounds  # noqa: F401, for the page
from ...families.triton_launches import NEVER_WRITTEN, kernel_device  # noqa: F401, for the page
from ...model import FLOAT16, PLAIN, SQUARE, Case, normal
from ...pages import written

BLOCKS = (16, 32, 64, 128)


def matmul_triton(a, b):
    x, y = a, b
    product = x @ y  #: the product
    sums = product
    output = sums
    return output


def parts(x, y, block):
    """The products that each tile along k adds."""
    return [x[:, at : at + block] @ y[at : at + block] for at in range(0, x.shape[1], block)]


def first_tile_again(x, y, block, masked, which):
    """Each step reads the first tiles of `which`; beyond k, in the last step, nothing is read if
    masked.
    """
    k, total = x.shape[1], 0.0
    for at in range(0, k, block):
        size = min(block, k - at if masked or which != "ab" else k)
        from_a, from_b = (0 if name in which else at for name in "ab")
        total = total + x[:, from_a : from_a + size] @ y[from_b : from_b + size]
    return total


def in_half(x, y, block, part_dtype=np.float16):
    """The sum so far is rounded to float16 after each tile."""
    total = np.float16(0)
    for part in parts(x, y, block):
        total = (total + part.astype(part_dtype)).astype(np.float16)
    return total.astype(np.float64)


def tile_by_tile(x, y, block, multiply):
    """The sum over pairs of tiles, filled up with zeros, of what `multiply` makes of a pair."""
    (m, k), n = x.shape, y.shape[1]
    x, y = (np.pad(matrix, [(0, -size % block) for size in matrix.shape]) for matrix in (x, y))
    total = np.zeros((len(x), y.shape[1]))
    for i, j, at in itertools.product(*(range(0, size, block) for size in (m, n, k))):
        rows, columns, inner = (slice(start, start + block) for start in (i, j, at))
        total[rows, columns] += multiply(x[rows, inner], y[inner, columns])
    return total[:m, :n]


def filled(x, y, block, product_beyond):
    """The sum also counts what the loads fill in beyond k."""
    beyond = -x.shape[1] % block
    return x @ y + (beyond * product_beyond if beyond else 0.0)


def whole_tiles(a, b, block, sizes):
    """Tiles reach beyond the tensors unless each of these sizes is a multiple of the block."""
    found = {"m": a.shape[0], "k": a.shape[1], "n": b.shape[1]}
    return out_of_bounds() if any(found[name] % block for name in sizes) else (a, b)


def other_sizes_masked(output, block, blank):
    """The store's mask compares rows with n and columns with m."""
    m, n = output.shape
    rows, columns = min(-(-m // block) * block, n), min(-(-n // block) * block, m)
    if rows > m:
        out_of_bounds()
    flat, stored = np.full(m * n, blank), np.pad(output, [(0, 0), (0, max(columns - n, 0))])
    for i in range(rows):
        flat[i * n : i * n + columns] = stored[i, :columns]
    return flat.reshape(m, n)


def full_tiles(output, block, along_rows, along_columns, least, blank):
    """Along the axes that are asked for only full tiles are written, at least so many."""
    m, n = (max(size // block, least) * block for size in output.shape)
    return only_first(output, blank, m if along_rows else np.inf, n if along_columns else np.inf)


def rows_apart(array, apart):
    """What is read if the rows are taken to begin this far apart."""
    at = np.arange(len(array))[:, None] * apart + np.arange(array.shape[1])
    return array.ravel()[at] if at.max() < array.size else out_of_bounds()


def strides_swapped(array):
    """What is read if the strides of the rows and of the columns are exchanged."""
    across, along = (stride // array.itemsize for stride in array.strides)
    at = np.arange(len(array))[:, None] * along + np.arange(array.shape[1]) * across
    return array.ravel(order="K")[at] if at.max() < array.size else out_of_bounds()


def written_apart(output, apart, block, blank):
    """The output's rows are written so many numbers apart, tile after tile."""
    m, n = output.shape
    if (m - 1) * apart + n > m * n:
        out_of_bounds()
    flat = np.full(m * n, blank)
    for top, left in itertools.product(range(0, m, block), range(0, n, block)):
        for i in range(top, min(top + block, m)):
            at = i * apart
            flat[at + left : at + min(left + block, n)] = output[i, left : left + block]
    return flat.reshape(m, n)


def tf32(number, rounded):
    """A float32 with the 10 digits that tensor cores look at."""
    bits = np.asarray(number, np.float32).view(np.int32)
    return ((bits + 0x1000 * rounded) & ~0x1FFF).view(np.float32).astype(np.float64)


def _cases():
    def case(aspect, a, b, dtype=np.float32):  # keeps the order in memory
        return Case(aspect, (np.array(a, dtype), np.array(b, dtype)), device=kernel_device())

    def drawn(aspect, m, k, n, dtype=np.float32):
        a, b = normal(m, k, seed=111, dtype=dtype), normal(k, n, seed=112, dtype=dtype)
        return case(aspect, a, b, dtype)

    # beside the first product and the last one all others are too small for float16, and the two
    # cancel
    a, b = np.full((2, 300), 0.25), np.full((300, 2), 0.25)
    a[0, 0], a[0, -1], b[[0, -1]] = 256, -256, 128
    along_k, of_output = "many tiles along k", "many tiles of the output"
    return [
        case(PLAIN, [[1, 2, 0], [0, 1, 3]], [[1, 0, 2, 1], [2, 1, 0, 1], [0, 3, 1, 2]]),
        *(drawn(PLAIN, *sizes) for sizes in ((5, 7, 3), (3, 2, 11))),
        case(SQUARE, [[1, 2], [3, 4]], [[0, 1], [2, 5]]),
        *(drawn(SQUARE, size, size, size) for size in (16, 7)),
        drawn("sizes of 64", 64, 64, 64),
        *(drawn(along_k, *sizes) for sizes in ((3, 300, 5), (17, 150, 2))),
        *(
            drawn(of_output, *sizes)
            for sizes in ((150, 7, 5), (3, 5, 150), (37, 41, 75), (70, 3, 150))
        ),
        drawn("one row", 1, 19, 23),
        drawn("one column", 23, 19, 1),
        drawn("a sum of one product", 5, 1, 7),
        case(STRIDED, normal(5, 19, seed=113).T, normal(3, 5, seed=114).T),
        case(STRIDED, normal(4, 6, seed=115), normal(5, 6, seed=116).T),
        case(FLOAT16, [[1, 2], [0, 3], [1, 1]], [[2, 1], [1, 4]], np.float16),
        drawn(FLOAT16, 5, 37, 7, np.float16),
        case(FLOAT16, a, b, np.float16),
    ]


OWN = by_a_kernel(
    "torch's own product called", ("matmul", "einsum", "tensordot", "mm"), (2, 3), (3, 4)
)

EXERCISE = written(
    matmul_triton,
    place=12,
    axes=dict(a="rows inner", b="inner columns"),
    answer_axes="rows columns",
    cases=_cases,
    audits=(OWN,),
    costs=kernel_costs("float16", a=(96, 128), b=(128, 64)),
    **BY_KERNEL,
)
