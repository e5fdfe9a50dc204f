"""What the Triton kernels share: tiles of matrices, one step of the online softmax, and launching.

Kernels take a matrix of many heads as a pair, (tensor, strides), and no mask as None. An axis that
was broadcast has the stride 0, so nothing is copied. The number of columns is D, known when a
kernel is compiled.

A tile's sides are powers of 2, and a matrix's need not be: what lies beyond is read as 0, and never
written.
"""

import functools

import torch
import triton
import triton.language as tl

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
LOG2_E, LN_2 = tl.constexpr(1.4426950408889634), tl.constexpr(0.6931471805599453)
LARGEST_TF32 = tl.constexpr(3.4011621342146535e38)

# The lowest number of float32 is the maximum of no numbers. With -inf instead, -inf - -inf would be
# NaN in a row where everything is masked; this way it is exp(-inf - LOWEST) = 0.
LOWEST = tl.constexpr(-3.4028234663852886e38)


# --- tiles ---


@triton.jit
def head_of(matrix, batch, head):
    """The matrix of one head, also as a pair; int64, for tensors of 2^31 numbers and more."""
    if len(matrix) == 1:  # a descriptor alone: it knows where everything is
        return matrix[0], batch, head
    else:
        tensor, strides = matrix
        return tensor + batch.to(tl.int64) * strides[0] + head.to(tl.int64) * strides[1], strides


@triton.jit
def load_rows(matrix, row, n, D: tl.constexpr, ALL: tl.constexpr, PRECISION: tl.constexpr):
    """Rows of a matrix of D columns, as wide as a power of 2: what lies beyond is 0."""
    start, strides = matrix
    BLOCK_D: tl.constexpr = padded_width(D)
    column = tl.arange(0, BLOCK_D)
    tile = (
        start + row.to(tl.int64)[:, None] * strides[2] + column.to(tl.int64)[None, :] * strides[3]
    )
    if ALL and D == BLOCK_D:  # nothing to compare
        x = tl.load(tile)
    else:
        x = tl.load(tile, mask=(row < n)[:, None] & (column < D)[None, :], other=0.0)
    if PRECISION == "upcast":
        x = x.to(
            tl.float32
        )  # Triton's interpreter would multiply the bits of bfloat16 as whole numbers
    if PRECISION == "tf32x3":
        # The last numbers below inf would become inf in the first of the three parts.
        x = tl.where(tl.abs(x) < float("inf"), tl.clamp(x, -LARGEST_TF32, LARGEST_TF32), x)
    return x


@triton.jit
def load_block(
    matrix,
    start,
    n,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    ALL: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """load_rows for BLOCK rows in a row; a descriptor fills in the zeros by itself."""
    if len(matrix) == 3:
        descriptor, batch, head = matrix
        x = descriptor.load([batch, head, start, 0]).reshape(BLOCK, padded_width(D))
        return x.to(tl.float32) if PRECISION == "upcast" else x
    else:
        return load_rows(matrix, start + tl.arange(0, BLOCK), n, D, ALL, PRECISION)


@triton.jit
def store_rows(x, matrix, row, n, D: tl.constexpr):
    start, strides = matrix
    column = tl.arange(0, padded_width(D))
    tile = (
        start + row.to(tl.int64)[:, None] * strides[2] + column.to(tl.int64)[None, :] * strides[3]
    )
    tl.store(tile, x.to(start.dtype.element_ty), mask=(row < n)[:, None] & (column < D)[None, :])


@triton.constexpr_function
def padded_width(d):
    """A power of 2, and at least what the matrix units take."""
    return max(16, triton.next_power_of_2(d))


# --- one step of the online softmax ---


@triton.jit
def product(a, b, total, PRECISION: tl.constexpr):
    """total + a b, summed in float32; float32 is multiplied in three parts where the chip has tf32
    for it.
    """
    if PRECISION == "tf32x3":
        return tl.dot(a, b, total, input_precision="tf32x3")
    return tl.dot(a, b, total, input_precision="ieee")


@triton.jit
def tanh(x):
    """The hyperbolic tangent, exact to float32's last digits, even where Triton has none.

    1 - 2 / (1 + exp(2x)) subtracts nearly equal numbers near 0: for a softcap of 10000 the scores
    would
    keep three digits. There a polynomial replaces it, taken from tanhf in Moshier's Cephes library.
    """
    square = x * x
    near = -5.70498872745e-3 * square + 2.06390887954e-2
    near = (near * square - 5.37397155531e-2) * square + 1.33314422036e-1
    near = (near * square - 3.33332819422e-1) * square * x + x
    return tl.where(tl.abs(x) < 0.625, near, 1 - 2 / (1 + tl.exp2(x * (2 * LOG2_E))))


@triton.jit
def score_block(
    rows,
    columns,
    mask,
    query_at,
    key_at,
    n_q,
    n_k,
    window,
    units,
    CHECK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """A block of masked scores, what to multiply them by to have powers of 2, and the softcap's
    slope.

    Rows are queries and columns are keys, or the other way round: the axes of size 1 in query_at
    and key_at, the positions, tell which. The window is (left, right), None where there is no
    limit.
    """
    scores = tl.dot(
        rows, tl.trans(columns), input_precision="tf32x3" if PRECISION == "tf32x3" else "ieee"
    )
    _, unit, cap = units
    slope = 1.0
    if cap is not None:
        share = tanh(scores * unit)
        scores, slope, unit = cap * share, 1 - share * share, 1.0
    if mask is not None:
        start, strides = mask
        at = start + query_at.to(tl.int64) * strides[2] + key_at.to(tl.int64) * strides[3]
        if CHECK:
            bias = tl.load(at, mask=(query_at < n_q) & (key_at < n_k), other=0)
        else:
            bias = tl.load(at, mask=query_at < n_q, other=0)
        if bias.dtype.is_int():  # a boolean mask
            scores = tl.where(bias != 0, scores, -float("inf"))
        else:
            bias = bias.to(tl.float32)
            # Not the sum alone: inf, a score that overflowed, plus -inf is NaN.
            scores = tl.where(bias == -float("inf"), -float("inf"), scores * unit + bias * LOG2_E)
            unit = 1.0
    if CHECK:
        seen = key_at < n_k
        if window[0] is not None:
            seen = seen & (key_at >= query_at - window[0])
        if window[1] is not None:
            seen = seen & (key_at - window[1] <= query_at)
        scores = tl.where(seen, scores, -float("inf"))
    return scores, unit, slope


@triton.jit
def nothing_seen(ROWS: tl.constexpr, D_V: tl.constexpr):
    """The running maximum, the sum of the weights, and the sum of weighted values, before the first
    key.
    """
    return (
        tl.full((ROWS,), LOWEST, tl.float32),
        tl.zeros((ROWS,), tl.float32),
        tl.zeros((ROWS, padded_width(D_V)), tl.float32),
    )


@triton.jit
def attend(
    running,
    q,
    key,
    value,
    mask,
    query_at,
    start,
    n_q,
    n_k,
    window,
    units,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    BLOCK_K: tl.constexpr,
    CHECK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """What `running`, as nothing_seen begins it, is after one more block of keys."""
    highest, row_sum, total = running
    key_at = start + tl.arange(0, BLOCK_K)
    k = load_block(key, start, n_k, D_K, BLOCK_K, not CHECK, PRECISION)
    scores, unit, _ = score_block(
        q, k, mask, query_at[:, None], key_at[None, :], n_q, n_k, window, units, CHECK, PRECISION
    )
    # unit > 0: the maximum comes first, and scaling and subtracting are one instruction for each
    # score.
    moved = tl.maximum(highest, tl.max(scores, 1) * unit)
    weights = tl.exp2(scores * unit - moved[:, None])
    factor = tl.exp2(highest - moved)
    row_sum = row_sum * factor + tl.sum(weights, 1)
    v = load_block(value, start, n_k, D_V, BLOCK_K, not CHECK, PRECISION)
    total = product(weights.to(v.dtype), v, total * factor[:, None], PRECISION)
    return moved, row_sum, total


@triton.jit
def normalised(running):
    """Output and log-sum-exp; a row that saw no key has the sum 0, output 0 and log-sum-exp
    -inf.
    """
    highest, row_sum, total = running
    is_empty, row_sum = row_sum == 0, tl.where(row_sum == 0, 1, row_sum)
    lse = tl.where(highest == float("inf"), highest, (highest + tl.log2(row_sum)) * LN_2)
    return total / row_sum[:, None], tl.where(is_empty, -float("inf"), lse)


# --- what launchers tell the kernels ---

CAPABILITY = 90  # of a tensor on no device: the interpreter takes any tile


def capability_of(tensor):
    """80 for compute capability 8.0."""
    if tensor.device.type != "cuda":
        return CAPABILITY
    major, minor = torch.cuda.get_device_capability(tensor.device)
    return 10 * major + minor


def precision(query):
    """How matrix products are done: "tf32x3" on the matrix units in three parts, as exact as
    float32.

    "upcast" multiplies in float32 what is half precision: in the interpreter, which has no
    bfloat16, and
    on a T4, for whose matrix units Triton (3.6 and 3.7) has no instructions.
    """
    if (
        query.dtype == torch.bfloat16
        and INTERPRETED
        or query.dtype == torch.float16
        and capability_of(query) < 80
    ):
        return "upcast"
    return "tf32x3" if query.dtype == torch.float32 and capability_of(query) >= 80 else "ieee"


def units_of(scale, softcap):
    """The scale's sign, what the products are multiplied by, above 0, so that a maximum stays one,
    and the cap or None.

    A scale of 0 gives the sign 0. Without softcap the products become powers of 2 at once.
    """
    sign, size = (scale > 0) - (scale < 0), abs(scale) or 1.0
    if softcap is None:
        return float(sign), size * LOG2_E.value, None
    return float(sign), size / softcap, softcap * LOG2_E.value


def with_strides(tensor):
    """(tensor, strides) as the kernels read it, and None as None; a boolean mask is passed as its
    bytes."""
    if tensor is None:
        return None
    return tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor, tensor.stride()


def groups(query, key, value):
    """How many query heads share a key head, and a value head."""
    h = query.shape[1]
    return h // max(1, key.shape[1]), h // max(1, value.shape[1])


def on_its_device(launcher):
    """Triton launches on the current device, but tensors may be on another one."""

    @functools.wraps(launcher)
    def launch_there(tensor, *arguments):
        with torch.cuda.device_of(tensor):  # does nothing for tensors on the CPU
            return launcher(tensor, *arguments)

    return launch_there


def merge_axes(shape, strides):
    """The shape and the strides of each tensor with fewer axes, where memory allows it."""
    axes = []
    for size, *steps in zip(shape, *strides):
        if size == 1:
            continue
        if axes and all(outer == size * step for outer, step in zip(axes[-1][1:], steps)):
            size, *steps = axes[-1][0] * size, *steps  # type: ignore[misc]
            axes.pop()
        axes.append((size, *steps))
    shape, *strides = zip(*axes) if axes else ((), *[()] * len(strides))
    return shape, strides


# --- where the kernels run ---

INTERPRETED = not isinstance(product, triton.runtime.JITFunction)


def unsupported(tensor, name="scores"):
    """Why the kernels do not take this tensor, in a sentence, or None if they do."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    if tensor.dtype not in DTYPES:
        return (
            "impl='triton' takes float16, bfloat16 and float32, and impl='dense' float64; got"
            f" {name} of {dtype}"
        )
    if INTERPRETED and tensor.device.type == "cpu":
        return None
    if INTERPRETED or tensor.device.type != "cuda":
        return (
            "impl='triton' takes CUDA tensors, and tensors on the CPU if TRITON_INTERPRET=1 is set"
            f" before Triton is imported; got {name} on {tensor.device.type}"
        )
    major, minor = torch.cuda.get_device_capability(tensor.device)
    if (major, minor) < ((8, 0) if tensor.dtype == torch.bfloat16 else (7, 5)):
        return (
            "impl='triton' needs compute capability 7.5 (T4), for bfloat16 8.0 (A100), or newer; "
            f"got {name} of {dtype} on {major}.{minor}"
        )
    return None
