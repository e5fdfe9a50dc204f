"""The exercise matmul_triton."""

import itertools

import numpy as np

from ...families.kernel_costs import kernel_costs
from ...families.tiles import BLANK, BLANKS, NO_KERNEL, STRIDED, STRIDES, nothing_written, out_of_bounds, without_kernel
from ...families.torch_calls import Listener
from ...families.triton_launches import NEVER_WRITTEN, kernel_device, kernels_missing, kernels_watched
from ...model import FLOAT16, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways


def matmul_triton_answer(do, a, b):
    a, b = do.reach(*do.loads(a, b))
    return do.store(do.narrow(do.sums(do.product, a, b, do.dtype)))


BLOCKS = (16, 32, 64, 128)


def _reached(part):
    """Only these of the products that a sum is made of; `part` is a function of their number."""
    def reach(a, b):
        kept = part(a.shape[1])
        return a[:, kept], b[kept]

    return {"reach": reach}


def _tiles_added(how):
    """The sum over the tiles along k, of which `how` makes the answer."""
    def variant(block):
        def product(a, b):
            parts = [a[:, at:at + block] @ b[at:at + block] for at in range(0, a.shape[1], block)]
            return how(parts)

        return {"product": product}

    return variant


def _first_tile_again(block):
    """The pointers do not move on: every step reads the first tiles. Beyond k, in the last step, nothing is read."""
    def moved(masked):
        def product(a, b):
            total = 0.0
            for at in range(0, a.shape[1], block):
                stop = min(block, a.shape[1] - at) if masked else min(block, a.shape[1])
                total = total + a[:, :stop] @ b[:stop]
            return total

        return {"product": product}

    return moved(True), moved(False)


def _sums_in_half(block):
    """The sum so far is rounded to float16 after each tile, for all tensors, and for those of float16 alone."""
    def rounded(a, b):
        total = np.float16(0)
        for at in range(0, a.shape[1], block):
            part = (a[:, at:at + block] @ b[at:at + block]).astype(np.float16)
            total = (total + part).astype(np.float16)
        return total.astype(np.float64)

    return ways("sums", lambda product, a, b, dtype: rounded(a, b),
                lambda product, a, b, dtype: rounded(a, b) if dtype == "float16" else product(a, b))


def _tile_by_tile(multiply):
    """The sum over pairs of tiles, filled up with zeros, of what `multiply` makes of a pair."""
    def variant(block):
        def product(a, b):
            (m, k), n = a.shape, b.shape[1]
            a, b = (np.pad(x, [(0, -size % block) for size in x.shape]) for x in (a, b))
            total = np.zeros((len(a), b.shape[1]))
            for i, j, at in itertools.product(*(range(0, size, block) for size in (m, n, k))):
                total[i:i + block, j:j + block] += multiply(a[i:i + block, at:at + block], b[at:at + block, j:j + block])
            return total[:m, :n]

        return {"product": product}

    return variant


def _rows_apart(array, apart):
    """What is read if the rows are taken to begin this far apart."""
    at = np.arange(len(array))[:, None] * apart + np.arange(array.shape[1])
    return array.ravel()[at] if at.max() < array.size else out_of_bounds()


def _written_apart(block, blank):
    """The output's rows are written m numbers apart, tile after tile."""
    def store(output):
        m, n = output.shape
        if (m - 1) * m + n > m * n:
            out_of_bounds()
        flat = np.full(m * n, blank)
        for top in range(0, m, block):
            for left in range(0, n, block):
                for i in range(top, min(top + block, m)):
                    flat[i * m + left:i * m + min(left + block, n)] = output[i, left:left + block]
        return flat.reshape(m, n)

    return {"store": store}


def _filled(with_a, with_b):
    """The sum also counts what the loads fill in beyond k."""
    def variant(block):
        def product(a, b):
            beyond = -a.shape[1] % block
            return a @ b + (beyond * with_a * with_b if beyond else 0.0)

        return {"product": product}

    return variant


def _no_mask(block, sizes):
    """Tiles reach beyond the tensors unless each of these sizes is a multiple of the block."""
    def loads(a, b):
        n = {"m": a.shape[0], "k": a.shape[1], "n": b.shape[1]}
        return out_of_bounds() if any(n[name] % block for name in sizes) else (a, b)

    return {"loads": loads}


def _written(where, blank):
    """Where `where` says no the output keeps what it was made with."""
    return {"store": lambda output: np.where(where(*np.indices(output.shape), *output.shape), output, blank)}


def _stops(rows, columns):
    """Variants in which only these first rows and columns are written, for each block and blank."""
    return lambda block: [_written(
        lambda i, j, m, n: (i < rows(m, block)) & (j < columns(n, block)), blank) for blank in BLANKS]


def _any_block(variants):
    return tuple(change for block in BLOCKS for change in variants(block))


def _all(n, block):
    return n


def _whole_blocks(n, block):
    return n // block * block


def _first_block(n, block):
    return block


def _tf32(number, rounded):
    """A float32 with the 10 digits that tensor cores look at."""
    bits = np.asarray(number, np.float32).view(np.int32)
    return ((bits + (0x1000 if rounded else 0)) & ~0x1FFF).view(np.float32).astype(np.float64)


MATMUL_MISTAKES = (
    *alike("An output's entry is a sum over all of k: tile after tile along a's columns and b's rows, from the first to the "
           "last, which may be shorter.",
           "With k = 37 and blocks of 16, how many tiles of a does one program read, and how many columns has the last?",
           ("only the first block of k", tuple(_reached(lambda k, block=block: slice(block)) for block in BLOCKS),
            "The sum ends after one tile."),
           ("tail block dropped", tuple(_reached(lambda k, block=block: slice(k // block * block)) for block in BLOCKS),
            "If k is no multiple of the block, the products after the last full block are left out."),
           ("first block of k dropped", tuple(_reached(lambda k, block=block: slice(block, None)) for block in BLOCKS),
            "The sum begins with the second tile."),
           ("only the last block summed", tuple(map(_tiles_added(lambda parts: parts[-1]), BLOCKS)),
            "Each tile's product takes the place of the sum so far."),
           ("pointers not moved on", tuple(change for block in BLOCKS for change in _first_tile_again(block)),
            "Every step of the loop reads the first tiles again."),
           ("mean over the blocks", tuple(map(_tiles_added(lambda parts: sum(parts) / len(parts)), BLOCKS)),
            "The sum is divided by the number of tiles.")),
    Mistake("edge not masked", change=_any_block(
                lambda block: [_no_mask(block, sizes) for sizes in ("mkn", "mk", "k", "kn")]),
            does="The kernel reads or writes beyond a tensor where a size is no multiple of the block.",
            why="Tiles have a fixed size. What lies beyond the edge belongs to the next row or to somebody else: each "
                "load is masked on both axes, and so is the store.",
            ask="Which rows and columns of the last tile exist?"),
    *alike("Each program makes one tile of the output: the grid needs m / BLOCK times n / BLOCK programs, rounded up, and "
           "rows come from program_id(0), columns from program_id(1).",
           "How many tiles of 16 by 16 does an output of 37 by 19 have, and which program makes the last of them?",
           ("only the first tile", _any_block(_stops(_first_block, _first_block)),
            f"One tile of the output is written; the rest is {BLANK}."),
           ("only the first tiles of each row", _any_block(_stops(_all, _first_block)),
            f"The first columns are written; the rest is {BLANK}."),
           ("only the first tiles of each column", _any_block(_stops(_first_block, _all)),
            f"The first rows are written; the rest is {BLANK}."),
           ("last tiles not computed", tuple(
               change for block in BLOCKS[:3] for ends in ((_whole_blocks, _whole_blocks), (_all, _whole_blocks), (_whole_blocks, _all))
               for change in _stops(*ends)(block)),
            f"Rows or columns after the last full tile are not written: they are {BLANK}."),
            ("only the tiles on the diagonal", tuple(_written(
                lambda i, j, m, n, block=block: i // block == j // block, blank) for block in BLOCKS[:3] for blank in BLANKS),
             f"Rows and columns come from the same program_id; beside the diagonal of tiles stands {BLANK}."),
           ("grid's axes swapped", tuple(_written(
               lambda i, j, m, n, block=block: (i < -(-n // block) * block) & (j < -(-m // block) * block), blank)
               for block in BLOCKS[:3] for blank in BLANKS),
            "Along the rows there are as many programs as the columns need, and the other way round. Tiles without a program hold "
            f"{BLANK}.")),
    Mistake("edge not filled by 0", change=tuple(
                _filled(*fill)(block) for fill in ((-np.inf, -np.inf), (-np.inf, 0.0), (1.0, 1.0)) for block in BLOCKS),
            does="Where k is no multiple of the block, the sum also counts what the loads fill in beyond k.",
            why="Only 0 leaves a sum of products as it is. -inf belongs beyond a row before a softmax.",
            ask="What is `other` in your loads, and what does it add to the sum?"),
    nothing_written(lambda a, b: (len(a), b.shape[1]),
                    ask="Which line of your kernel writes to the output, and for which rows and columns?"),
    *alike("Entry (i, j) is row i of a times column j of b, and stands in row i and column j of the output.",
           "For a of shape (2, 3) and b of shape (3, 4), which shape has the output, and what is its entry (0, 1)?",
           ("product transposed", {"store": np.transpose}, "The output is bᵀ aᵀ, with a row for each column of b."),
           ("b read transposed", {"loads": lambda a, b: (a, b.ravel().reshape(b.shape[::-1]).T)},
            "b's numbers are read as if its columns were its rows."),
           ("a read transposed", {"loads": lambda a, b: (a.ravel().reshape(a.shape[::-1]).T, b)},
            "a's numbers are read as if its columns were its rows."),
           ("rows of b instead of columns", {"product": lambda a, b: a @ b.T}, "Rows of a are multiplied with rows of b."),
           ("tile of b transposed", tuple(map(_tile_by_tile(lambda x, y: x @ y.T), BLOCKS)),
            "Each tile of b is transposed before it is multiplied."),
           ("tile of a transposed", tuple(map(_tile_by_tile(lambda x, y: x.T @ y), BLOCKS)),
            "Each tile of a is transposed before it is multiplied."),
           ("tiles in another order", tuple(map(_tile_by_tile(lambda x, y: y @ x), BLOCKS)),
            "The tile of b is multiplied with that of a, and not a's with b's."),
           ("entries multiplied in pairs", ({"product": lambda a, b: a * b}, *map(_tile_by_tile(lambda x, y: x * y), BLOCKS)),
            "Entries of the same place, in the matrices or in their tiles, are multiplied, and not rows with columns.")),
    Mistake("another matrix's row stride", change=(
                {"loads": lambda a, b: (a, _rows_apart(b, a.shape[1]))}, {"loads": lambda a, b: (_rows_apart(a, b.shape[1]), b)},
                *_any_block(lambda block: [_written_apart(block, blank) for blank in BLANKS])),
            does="The rows of b are looked for k numbers apart, those of a n apart, or those of the output are written m apart.",
            why="In a of shape (m, k) the rows begin k numbers apart, in b of shape (k, n) and in the output n.",
            ask="How many columns has each of the three, and where does its second row begin?"),
    Mistake("sums in half precision", change=_any_block(_sums_in_half),
            does="The sum so far has the digits of float16.",
            why="What is stored may have 16 bits; what is added up has 32, or each step rounds away what the next one needs.",
            ask="Which dtype has your accumulator, and which has what tl.dot returns?"),
    *alike("A product of matrices is a sum of products, with no other factor and nothing beside it.",
           "What is the product of [[1, 2]] and [[3], [4]]?",
           ("scaled", ways("product", lambda a, b: a @ b / np.sqrt(a.shape[1]), lambda a, b: a @ b / a.shape[1]),
            "The sum is divided by k or its root, as scores are."),
           ("added to the mark", ways("store", lambda output: output + NEVER_WRITTEN),
            f"The product is added to what torch.empty holds, which the checker marks with {NEVER_WRITTEN:.0f}.")),
    Mistake("products of float32 in TF32", change=tuple(
                {"product": lambda a, b, rounded=rounded: _tf32(a, rounded) @ _tf32(b, rounded)} for rounded in (True, False)),
            does="The factors have lost 13 of their 23 binary digits.",
            why="On a GPU from the A100 on tl.dot takes float32 to tensor cores in a shorter form, TF32, unless told not to.",
            ask="Which argument of tl.dot asks for all digits of float32?"),
)


def matmul_triton_cases():
    device = kernel_device()

    def case(aspect, a, b, dtype=np.float32):
        return Case(aspect, (np.array(a, dtype), np.array(b, dtype)), device=device)  # keeps the order in memory

    def drawn(aspect, m, k, n, dtype=np.float32):
        return case(aspect, normal(m, k, seed=111, dtype=dtype), normal(k, n, seed=112, dtype=dtype), dtype)

    def cancelling():
        """Beside the first product and the last one all others are too small for float16, and the two cancel."""
        a, b = np.full((2, 300), 0.25), np.full((300, 2), 0.25)
        a[0, 0], a[0, -1], b[[0, -1]] = 256, -256, 128
        return case(FLOAT16, a, b, np.float16)

    turned = normal(5, 19, seed=113).T, normal(3, 5, seed=114).T
    return [
        case(PLAIN, [[1, 2, 0], [0, 1, 3]], [[1, 0, 2, 1], [2, 1, 0, 1], [0, 3, 1, 2]]), drawn(PLAIN, 5, 7, 3), drawn(PLAIN, 3, 2, 11),
        case(SQUARE, [[1, 2], [3, 4]], [[0, 1], [2, 5]]), drawn(SQUARE, 16, 16, 16), drawn(SQUARE, 7, 7, 7),
        drawn("sizes of 64", 64, 64, 64), drawn("many tiles along k", 3, 300, 5), drawn("many tiles along k", 17, 150, 2),
        drawn("many tiles of the output", 150, 7, 5), drawn("many tiles of the output", 3, 5, 150),
        drawn("many tiles of the output", 37, 41, 75), drawn("many tiles of the output", 70, 3, 150),
        drawn("one row", 1, 19, 23), drawn("one column", 23, 19, 1), drawn("a sum of one product", 5, 1, 7),
        case(STRIDED, *turned), case(STRIDED, normal(4, 6, seed=115), normal(5, 6, seed=116).T),
        case(FLOAT16, [[1, 2], [0, 3], [1, 1]], [[2, 1], [1, 4]], np.float16), drawn(FLOAT16, 5, 37, 7, np.float16), cancelling(),
    ]


OWN_PRODUCT = Mistake(
    "torch's own product called",
    does="The answer comes from a matrix product of torch's.",
    why="That is the function which the kernel is to replace.",
    ask="Which sum does one entry of the product stand for?")


def kernel_multiplies(run):
    import torch

    a, b = (torch.from_numpy(normal(*shape, seed=117, dtype=np.float32)).to(kernel_device()) for shape in ((2, 3), (3, 4)))
    if without_kernel(run, a, b):
        return NO_KERNEL
    return OWN_PRODUCT if Listener().hear(run, a, b).heard("matmul", "einsum", "tensordot", "mm") else None


EXERCISE = Exercise(
    name="matmul_triton", signature="(a, b)", place=6,
    axes=dict(a="rows inner", b="inner columns"), answer_axes="rows columns", library="torch",
    text="The product of two torch tensors (m, k) and (k, n), of any sizes, by a Triton kernel: one tile of the output a program.",
    answer=matmul_triton_answer,
    steps={
        "loads": lambda a, b: (a, b), "reach": lambda a, b: (a, b),
        "sums": lambda product, a, b, dtype: product(a, b),
        "product": Step(lambda a, b: a @ b, "the product"),
        "narrow": lambda output: output, "store": lambda output: output,
    },
    cases=matmul_triton_cases,
    hints=(
        "One program makes one tile of the output: the grid is (triton.cdiv(m, BLOCK), triton.cdiv(n, BLOCK)), and BLOCK at least 16.",
        "Its rows are tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), its columns the same with program_id(1). A loop goes over "
        "k: for first in range(0, k, BLOCK), with inner = first + tl.arange(0, BLOCK).",
        "In each step load a tile of a at row[:, None] and inner[None, :], and one of b at inner[:, None] and column[None, :], "
        "each masked on both axes, with other=0.0: a product with 0 adds nothing.",
        "total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32) before the loop, total += tl.dot(x, y, input_precision=\"ieee\") in it, and "
        "after it one tl.store, masked with the output's rows and columns. The launcher begins with a.contiguous() and b.contiguous().",
    ),
    mistakes=MATMUL_MISTAKES,
    audits=(kernel_multiplies,), missing=kernels_missing, around=kernels_watched, seconds=60.0,
    aspects={STRIDED: STRIDES}, costs=kernel_costs("float16", a=(96, 128), b=(128, 64)),
)
