"""Fused attention as Triton kernels: in Triton's interpreter on the CPU, on the device where there
is one.

What holds for every implementation is tested with the others (test_attention.py, test_gradients.py,
test_precision.py); here are the kernels' own: tiles, masks by strides, memory, and what is refused.
"""

import heapq
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
import torch
from helpers import (
    BATCH,
    D_K,
    D_V,
    HAS_INTERPRETER,
    HEADS,
    N_K,
    N_Q,
    TRITON_DTYPES,
    assert_close,
    draws,
    each_torch,
    each_triton,
    in_library,
    mask_shapes,
    no_warnings,
    normal,
    poisoned,
    random_mask,
    surrounded,
    to_float64,
    to_library,
)

from attncourse.exercises.families.torch_calls import tables_made
from attnlib import api, attention

triton = pytest.importorskip("triton")
import triton.language as tl  # noqa: E402
from triton.runtime.interpreter import interpreter_builder  # noqa: E402

from attnlib import flash_triton  # noqa: E402
from attnlib.tiles_triton import tanh  # noqa: E402

pytestmark = no_warnings
CAUSAL = {"is_causal": True}


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles that the tests' problems fall into several of; a device takes none below 16."""
    if HAS_INTERPRETER:
        monkeypatch.setattr(flash_triton, "config", lambda *_: (4, 4, 4, 1))


def assert_as_dense(
    library, arrays, mask=None, options=None, dtype="float32", backward=True, tolerance=None
):
    """Output, log-sum-exp and gradients as dense attention has them in float64."""
    arrays, mask = in_library(library, arrays, mask, dtype)
    options = options or {}
    results = []
    for impl, wide in (
        ("triton", lambda tensor: tensor),
        ("dense", lambda tensor: tensor.double()),
    ):
        inputs = [wide(array).detach().requires_grad_() for array in arrays]
        own_mask = mask if mask is None or mask.dtype == torch.bool else wide(mask)
        output, lse = attention(*inputs, own_mask, **options, return_lse=True, impl=impl)
        grads = ()
        if backward:
            finite = torch.where(torch.isinf(lse), 0, lse)
            loss = (output * wide(like(output, library, 5, dtype))).sum() + (
                finite * like(lse, library, 6, dtype)
            ).sum()
            grads = torch.autograd.grad(loss, inputs)
        results.append((output, lse, *grads))
    for got, expected, of in zip(*results, ("output", "lse", "query", "key", "value")):
        low = "float32" if of == "lse" else dtype
        assert_close(
            got,
            to_float64(expected),
            like=arrays[0],
            dtype=low,
            tolerance=tolerance if of != "lse" else None,
        )


def like(tensor, library, seed, dtype):
    return to_library(library, normal(*tensor.shape, seed=seed), dtype)


# --- tiles as they ship ---


def blocky(n_q, n_k):
    """Boolean, in groups of 50: whole tiles in which nobody, or everybody, attends."""
    return np.arange(n_q)[:, None] // 50 % 5 >= np.arange(n_k) // 50 % 5


SHIPPED = {  # n_q, n_k, heads of query and of key, d_k, d_v, mask, options, dtypes
    "ragged": (131, 263, 1, 1, 64, 64, None, {}, TRITON_DTYPES),
    "whole tiles": (128, 256, 1, 1, 64, 64, None, CAUSAL, ("float16",)),
    "causal, more keys": (
        131,
        263,
        2,
        1,
        32,
        32,
        None,
        {**CAUSAL, "enable_gqa": True},
        ("float32",),
    ),
    "causal, more queries": (263, 131, 1, 1, 64, 16, None, CAUSAL, ("bfloat16",)),
    "head of 16": (37, 67, 1, 1, 16, 16, None, {"softcap": 2.0}, ("float16",)),
    "head of 80, values of 40": (67, 131, 1, 1, 80, 40, blocky, CAUSAL, ("float16",)),
    "head of 256": (67, 131, 1, 1, 256, 256, None, CAUSAL, ("float16",)),
    "head of 1, values of 200": (67, 37, 1, 1, 1, 200, None, {}, ("float32",)),
    "floating mask and softcap": (
        67,
        131,
        1,
        1,
        64,
        64,
        lambda n_q, n_k: random_mask("floating", (n_q, n_k)),
        {"softcap": 5.0, "scale": 0.3},
        ("float32",),
    ),
    "window": (
        263,
        131,
        2,
        1,
        64,
        64,
        None,
        {"window": (40, 17), "enable_gqa": True},
        ("bfloat16",),
    ),
    "window of whole tiles and more": (
        263,
        400,
        1,
        1,
        32,
        16,
        None,
        {"window": (129, 150)},
        ("float16",),
    ),
    "window, mask and softcap": (
        131,
        263,
        1,
        1,
        64,
        64,
        lambda n_q, n_k: random_mask("floating", (n_q, n_k)),
        {"window": (3, None), "softcap": 5.0, **CAUSAL},
        ("float16",),
    ),
    "empty rows": (
        131,
        67,
        1,
        1,
        64,
        64,
        lambda n_q, n_k: np.arange(n_q)[:, None] % 65 != 3,
        {},
        ("bfloat16",),
    ),
}


@pytest.mark.parametrize(
    "name, dtype", [(name, dtype) for name in SHIPPED for dtype in SHIPPED[name][-1]]
)
@each_triton
def test_tiles_as_they_ship(library, dtype, name):
    n_q, n_k, h, h_kv, d_k, d_v, mask, options, _ = SHIPPED[name]
    arrays = draws((h, n_q, d_k), (h_kv, n_k, d_k), (h_kv, n_k, d_v))
    # Sums of 263 products of numbers that were rounded once more: to half precision.
    tolerance = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5}[dtype]
    assert_as_dense(library, arrays, mask and mask(n_q, n_k), options, dtype, tolerance=tolerance)


# --- softcaps ---

CAPS = (1e-3, 0.1, 1.0, 30.0, 1e3, 1e4, 1e5, 1e6)


@pytest.mark.parametrize("cap", CAPS)
@each_triton
def test_a_softcap_of_any_size_keeps_all_digits(library, small_tiles, cap):
    """Scores up to a few hundred: far below the largest caps, far above the smallest."""
    arrays = draws((2, 13, 16), (2, 17, 16), (2, 17, 8))
    for scale in (0.3, 10.0):
        assert_as_dense(
            library,
            arrays,
            options={"softcap": cap, "scale": scale},
            tolerance=2e-5 * max(1, scale),
        )


@pytest.mark.skipif(not HAS_INTERPRETER, reason="the kernel is called as the interpreter takes it")
def test_the_hyperbolic_tangent_is_exact_to_the_last_digits():
    @triton.jit
    def apply(x, y, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(y + at, tanh(tl.load(x + at, mask=at < n, other=0)), mask=at < n)

    sizes = torch.cat(
        [
            torch.logspace(-30, 2, 1000),
            torch.linspace(0.5, 0.75, 1000),
            torch.tensor([0.0, torch.inf]),
        ]
    )
    x = torch.cat([sizes, -sizes])
    y = torch.empty_like(x)
    apply[(1,)](x, y, x.numel(), BLOCK=4096)
    exact = torch.tanh(x.double())
    assert ((y - exact).abs() <= 3e-7 * exact.abs()).all()
    apply[(1,)](torch.tensor([torch.nan]), y, 1, BLOCK=1)
    assert y[0].isnan()


# --- masks ---

WIDE = tuple((BATCH, HEADS, *shape) for shape in ((N_Q, D_K), (N_K, D_K), (N_K, D_V)))
SCORES = (BATCH, HEADS, N_Q, N_K)


@pytest.mark.parametrize("shape", mask_shapes(SCORES), ids=str)
@each_triton
def test_masks_of_every_shape_that_broadcasts(library, small_tiles, shape):
    """Of both kinds where there are gradients, else in turn."""
    backward = shape in ((), (N_K,), (HEADS, 1, N_K), SCORES)
    kinds = ("boolean", "floating") if backward else (("boolean", "floating")[shape.count(1) % 2],)
    for kind in kinds:
        assert_as_dense(
            library,
            draws(*WIDE),
            random_mask(kind, shape),
            {"is_causal": len(shape) % 2 == 0},
            backward=backward,
        )


@pytest.mark.parametrize("kind", ["boolean", "floating"])
@pytest.mark.parametrize(
    "shape", [(), (N_Q, 1), (HEADS, 1, N_K), (BATCH, 1, N_Q, N_K), (2, 1, 1, 1, N_K)], ids=str
)
@each_triton
def test_a_mask_is_read_where_it_is(library, shape, kind):
    """By its strides, 0 along axes that were broadcast, also where leading axes cannot be
    merged.
    """
    arrays, mask = in_library(
        library, draws(*((2, *shape) for shape in WIDE)), random_mask(kind, shape), "float32"
    )
    with patch.object(flash_triton, "forward", side_effect=flash_triton.forward) as called:
        attention(*arrays, mask, impl="triton")
    reads = [call.args[3] for call in called.call_args_list]
    expected = mask.expand(2, *SCORES).stride()[-3:]
    assert reads and all(
        read.untyped_storage().data_ptr() == mask.untyped_storage().data_ptr() for read in reads
    )
    assert all(read.stride()[-3:] == expected for read in reads)


# --- windows ---

WINDOWS = [(0, 0), (1, None), (None, 2), (3, 4), (5, 1), (6, 13), (40, 0), (11, 11)]


@pytest.mark.parametrize(
    "n_q, n_k, block_q, block_k", [(13, 17, 4, 8), (19, 11, 8, 4), (29, 5, 8, 4)]
)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@each_triton
def test_windows_of_every_width(library, monkeypatch, n_q, n_k, window, block_q, block_k):
    if HAS_INTERPRETER:  # a device takes no tile below 16
        monkeypatch.setattr(flash_triton, "config", lambda *_: (block_q, block_k, 4, 1))
    assert_as_dense(
        library,
        draws((2, n_q, 8), (1, n_k, 8), (1, n_k, 4)),
        options={"window": window, "enable_gqa": True},
    )


@pytest.mark.parametrize(
    "options", [CAUSAL, {"softcap": 0.5}, {"is_causal": True, "softcap": 2.0}], ids=str
)
@pytest.mark.parametrize("kind", ["boolean", "floating"])
@each_triton
def test_windows_together_with_all_else(library, small_tiles, kind, options):
    mask = random_mask(kind, (2, 1, 23, 13))
    assert_as_dense(
        library,
        draws((2, 2, 23, 8), (1, 1, 13, 8), (2, 2, 13, 4)),
        mask,
        {"window": (5, 2), "enable_gqa": True, **options},
    )


def test_a_window_that_hides_nothing_is_none():
    assert flash_triton.window_argument(6, 12, 7, 13) == (None, None)
    assert flash_triton.window_argument(5, 11, 7, 13) == (5, 11)
    assert (
        flash_triton.window_argument(2**62, 2**62, 7, 13)
        == flash_triton.window_argument(None, None, 7, 13)
        == (None, None)
    )


@pytest.mark.skipif(not HAS_INTERPRETER, reason="a device takes no tile below 16")
def test_blocks_outside_a_window_are_left_out(small_tiles):
    """Rows 16 to 19 are NaN, and 0 * NaN would be NaN: only the tiles that meet them read them."""
    (query, key, value), _ = in_library(
        "torch", draws((40, 16), (40, 16), (40, 16)), dtype="float16"
    )
    near = torch.zeros(40, dtype=torch.bool)
    near[12:24] = True

    def is_nan(poison):
        inputs = [tensor.clone() for tensor in (query, key, value)]
        inputs[poison][16:20] = torch.nan
        inputs = [tensor.requires_grad_() for tensor in inputs]
        output = attention(*inputs, window=(4, 4), impl="triton")
        return [
            torch.isnan(tensor).any(-1)
            for tensor in (output, *torch.autograd.grad(output.sum(), inputs))
        ]

    output, grad_query, *_ = is_nan(poison=2)
    assert output.equal(near) and grad_query.equal(near)
    _, _, grad_key, grad_value = is_nan(poison=0)
    assert grad_key.equal(near) and grad_value.equal(near)


# --- blocks that are left out ---


@each_triton
def test_keys_after_the_last_query_are_not_touched(library, small_tiles):
    (query, key, value), _ = in_library(
        library, draws((67, 16), (131, 16), (131, 16)), dtype="float16"
    )
    expected = attention(query, key, value, is_causal=True, impl="triton")
    key[128:], value[128:] = torch.nan, torch.nan  # 0 * NaN would be NaN
    assert torch.equal(attention(query, key, value, is_causal=True, impl="triton"), expected)


@pytest.mark.skipif(not HAS_INTERPRETER, reason="a device takes no tile below 16")
def test_blocks_above_the_diagonal_are_left_out(small_tiles):
    (query, key, value), _ = in_library(
        "torch", draws((16, 16), (16, 16), (16, 16)), dtype="float16"
    )
    for tensor in (query, key, value):
        tensor.requires_grad_()
    with torch.no_grad():
        value[8:] = torch.nan
    output = attention(query, key, value, is_causal=True, impl="triton")
    assert torch.isfinite(output[:8]).all() and torch.isnan(output[8:]).all()
    with torch.no_grad():
        value[8:], query[:8] = 0, torch.nan  # keys from 8 on meet no query below 8
    grads = torch.autograd.grad(
        attention(query, key, value, is_causal=True, impl="triton").sum(), (key, value)
    )
    assert all(torch.isfinite(grad[8:]).all() and torch.isnan(grad[:8]).all() for grad in grads)


# --- the order in which blocks are started ---


def span(work, processors):
    """When the last of these pieces of work is done, if each is begun in turn by the first
    processor that is free.
    """
    free = [0] * processors
    for piece in work:
        heapq.heapreplace(free, free[0] + piece)
    return max(free)


@pytest.mark.skipif(not HAS_INTERPRETER, reason="counts what the interpreter does")
@pytest.mark.parametrize(
    "step, heads, blocks, processors",
    [("attend", 16, 16, 132), ("backward_queries", 8, 4, 9), ("backward_keys", 8, 4, 9)],
)
def test_longest_blocks_are_started_first_over_all_heads(
    monkeypatch, step, heads, blocks, processors
):
    """Causal: hardly later than all work shared out evenly; head after head it would be 1.2 times
    as late, and more.
    """
    pieces = Counter()

    def count(state, *_):  # in place of the work
        pieces[interpreter_builder.grid_idx[0]] += 1
        return state

    monkeypatch.setattr(flash_triton, "config", lambda *_: (16, 16, 4, 1))
    inputs = [
        torch.zeros(2, heads // 2, 16 * blocks, 1, requires_grad=step != "attend") for _ in range(3)
    ]
    with patch.object(flash_triton, step, count):
        output = attention(*inputs, is_causal=True, impl="triton").sum()
        if step != "attend":
            output.backward()
    begun = [pieces[program] for program in range(heads * blocks)]
    assert sum(begun) == heads * blocks * (blocks + 1) // 2
    evenly = sum(begun) / processors
    assert span(begun, processors) < 1.04 * evenly
    assert (
        span([block for _ in range(heads) for block in range(blocks, 0, -1)], processors)
        > 1.2 * evenly
    )


@triton.jit
def places(out, blocks, h, window):
    turn, batch, head = flash_triton.place(blocks, h, window)
    tl.store(out + tl.program_id(0), (batch * h + head) * blocks + turn)


@pytest.mark.parametrize(
    "window, expected",
    [
        ((None, None), range(12)),
        ((None, 0), [3 * both + turn for turn in range(3) for both in range(4)]),
        ((2, 0), range(12)),
    ],
)
@each_triton
def test_every_block_has_its_place(library, window, expected):
    """Head follows head, whose keys are then in the cache, where no block is longer than
    another.
    """
    out = torch.empty(12, dtype=torch.int32, device="cuda" if library == "cuda" else "cpu")
    places[(12,)](out, 3, 2, window)
    assert out.tolist() == list(expected)


# --- axes ---


@pytest.mark.parametrize("h, h_key, h_value", [(6, 3, 2), (6, 1, 6), (4, 4, 1), (6, 2, 2)])
@each_triton
def test_grouped_heads(library, small_tiles, h, h_key, h_value):
    arrays = draws((2, h, 5, 8), (2, h_key, 9, 8), (2, h_value, 9, 4))
    assert_as_dense(library, arrays, options={"enable_gqa": True, **CAUSAL})


@each_triton
def test_grouped_keys_are_not_repeated(library):
    (query, key, value), _ = in_library(
        library, draws((1, 6, N_Q, 8), (1, 2, N_K, 8), (1, 2, N_K, 8)), dtype="float32"
    )
    with patch.object(flash_triton, "forward", side_effect=flash_triton.forward) as called:
        attention(query, key, value, enable_gqa=True, impl="triton")
    assert [tensor.data_ptr() for tensor in called.call_args.args[:3]] == [
        x.data_ptr() for x in (query, key, value)
    ]
    assert called.call_args.args[1].shape == (1, 2, N_K, 8)


LEADING = {
    "axes that merge": (
        (2, 3, 2, N_Q, 8),
        (2, 3, 2, N_K, 8),
        (2, 3, 2, N_K, 4),
        (2, 3, 1, N_Q, N_K),
    ),
    "axes that do not": ((2, 1, 2, N_Q, 8), (3, 2, N_K, 8), (2, 3, 1, N_K, 4), (3, 1, 1, N_K)),
}


@pytest.mark.parametrize("name", LEADING)
@each_triton
def test_leading_axes(library, small_tiles, name):
    *shapes, mask = LEADING[name]
    assert_as_dense(library, draws(*shapes), random_mask("boolean", mask))


def spread(tensor):
    """The same numbers, with gaps in every axis."""
    wide = tensor.new_zeros([2 * size for size in tensor.shape])
    at = tuple(slice(None, None, 2) for _ in tensor.shape)
    wide[at] = tensor
    return wide[at]


LAYOUTS = {
    "spread": spread,
    "heads last": lambda tensor: tensor.transpose(1, 2).contiguous().transpose(1, 2),
    "transposed": lambda tensor: tensor.mT.contiguous().mT,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@each_triton
def test_layouts_of_memory(library, small_tiles, layout):
    arrays, mask = in_library(library, draws(*WIDE), random_mask("floating", SCORES), "float32")
    grad = like(arrays[2].new_empty(BATCH, HEADS, N_Q, D_V), library, 5, "float32")
    results = []
    for move in (LAYOUTS[layout], torch.clone):
        inputs = [move(tensor).detach().requires_grad_() for tensor in arrays]
        output = attention(*inputs, move(mask), impl="triton")
        results.append((output, *torch.autograd.grad(output, inputs, move(grad))))
    assert all(map(torch.equal, *results))


@each_triton
def test_offsets_beyond_31_bits(library):
    arrays = draws((2, 5, 16), (2, 7, 16), (2, 7, 16))
    far = torch.empty(
        2**31 + 2**12, dtype=torch.float16, device="cuda" if library == "cuda" else "cpu"
    )  # hardly touched
    inputs = []
    for at, array in zip((0, 512, 1024), arrays):
        tensor = far.as_strided(array.shape, (2**31, 16, 1), at)
        tensor.copy_(to_library(library, array))
        inputs.append(tensor)
    near = [tensor.clone().requires_grad_() for tensor in inputs]
    inputs = [tensor.requires_grad_() for tensor in inputs]
    output, expected = attention(*inputs, impl="triton"), attention(*near, impl="triton")
    assert torch.equal(output, expected)
    grads = torch.autograd.grad(output.sum(), inputs), torch.autograd.grad(expected.sum(), near)
    assert all(map(torch.equal, *grads))


# --- memory and repetition ---


def kernel_inputs(library, dtype):
    """Tensors as the operators take them, with NaN all around, and a mask."""
    arrays = draws((2, 4, 13, 24), (2, 2, 19, 24), (2, 2, 19, 8))
    arrays, mask = in_library(library, arrays, random_mask("boolean", (19,)), dtype)
    mask = poisoned(mask).expand(2, 4, 13, 19)
    return [poisoned(tensor) for tensor in arrays], mask


@pytest.mark.parametrize("is_causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("dtype", TRITON_DTYPES)
@each_triton
def test_nothing_outside_the_tensors_is_read_or_written(library, dtype, is_causal):
    inputs, mask = kernel_inputs(library, dtype)
    options = 4 if is_causal else None, 0 if is_causal else None, 0.3, None
    with surrounded():
        output, lse = flash_triton.forward._init_fn(*inputs, mask, *options)
        ones = poisoned(torch.ones_like(output)), poisoned(torch.ones_like(lse))
        grads = flash_triton.backward._init_fn(*ones, *inputs, mask, output, lse, *options)
    wide = [tensor.double().requires_grad_() for tensor in inputs]
    expected = attention(
        *wide, mask, window=options[:2], scale=0.3, enable_gqa=True, return_lse=True, impl="dense"
    )
    loss = expected[0].sum() + torch.where(torch.isinf(expected[1]), 0, expected[1]).sum()
    tolerance = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5}[dtype]
    for got, exact in zip((output, *grads), (expected[0], *torch.autograd.grad(loss, wide))):
        assert_close(got, to_float64(exact), like=inputs[0], tolerance=tolerance)


@each_triton
def test_the_same_bits_every_time(library, small_tiles):
    def once():
        output, lse = attention(
            *inputs, is_causal=True, enable_gqa=True, return_lse=True, impl="triton"
        )
        return output, lse, *torch.autograd.grad(output.sum() + lse.sum(), inputs)

    n_q, n_k = (513, 1025) if library == "cuda" else (9, 13)
    inputs, _ = in_library(
        library, draws((6, n_q, 64), (2, n_k, 64), (2, n_k, 64)), dtype="float16"
    )
    inputs = [tensor.requires_grad_() for tensor in inputs]
    first = once()
    for _ in range(100 if library == "cuda" else 2):
        assert all(map(torch.equal, once(), first))


@each_triton
def test_no_array_of_scores(library):
    (query, key, value), _ = in_library(
        library, draws((1, 1, 300, 16), (1, 1, 300, 16), (1, 1, 300, 16)), dtype="float16"
    )

    def run():
        output, lse = flash_triton.forward._init_fn(query, key, value, None, 200, None, 0.3, None)
        flash_triton.backward._init_fn(
            output, lse, query, key, value, None, output, lse, 200, None, 0.3, None
        )

    assert not tables_made(run, 300)
    assert tables_made(lambda: attention(query, key, value, impl="dense"), 300)


# --- around the kernels ---


@pytest.mark.filterwarnings("ignore")  # of torch's compiler
@pytest.mark.parametrize("options", [CAUSAL, {"window": (3, 1)}], ids=str)
@each_triton
def test_under_torch_compile(library, options):
    arrays, mask = in_library(library, draws(*WIDE), random_mask("boolean", (N_K,)), "float32")
    inputs = [tensor.requires_grad_() for tensor in arrays]

    def loss(query, key, value):
        output, lse = attention(query, key, value, mask, **options, return_lse=True, impl="triton")
        return (output**2).sum() + torch.where(torch.isinf(lse), 0, lse).sum()

    # On the CPU without inductor, which would want a C++ compiler.
    compiled = torch.compile(
        loss, fullgraph=True, backend="inductor" if library == "cuda" else "aot_eager"
    )
    for got, expected in zip(
        torch.autograd.grad(compiled(*inputs), inputs), torch.autograd.grad(loss(*inputs), inputs)
    ):
        assert_close(got, to_float64(expected), like=inputs[0])


@each_triton
def test_the_operator_is_registered_as_torch_wants_it(library):
    arrays, _ = in_library(
        library, draws((1, 2, 5, 8), (1, 1, 7, 8), (1, 1, 7, 4)), dtype="float32"
    )
    torch.library.opcheck(
        flash_triton.forward,
        (*[tensor.requires_grad_() for tensor in arrays], None, 3, 0, 0.5, None),
    )


def zeros(*shape, dtype=torch.float32, **options):
    return torch.zeros(shape, dtype=dtype, **options)


REFUSED = {
    "arrays": (lambda: attention(*draws(), impl="triton"), "takes torch tensors; got NumPy arrays"),
    "float64": (
        lambda: attention(*[zeros(2, 3, dtype=torch.float64)] * 3, impl="triton"),
        "takes float16, bfloat16 and float32, .*; got query of float64",
    ),
    "another device": (
        lambda: attention(*[zeros(2, 3, device="meta")] * 3, impl="triton"),
        "takes CUDA tensors, .*; got query on meta",
    ),
    "d_k": (
        lambda: attention(zeros(2, 257), zeros(3, 257), zeros(3, 5), impl="triton"),
        "takes d_k and d_v up to 256, and impl='online' any; got 257 and 5",
    ),
    "d_v": (
        lambda: attention(zeros(2, 5), zeros(3, 5), zeros(3, 300), impl="triton"),
        "up to 256, .* got 5 and 300",
    ),
    "positions": (
        lambda: attention(
            zeros(1, 5),
            zeros(1, 5).expand(2**30 + 1, 5),
            zeros(1, 5).expand(2**30 + 1, 5),
            impl="triton",
        ),
        "up to 2\\*\\*30 positions; got 1 queries and 1073741825 keys",
    ),
    "a mask that learns": (
        lambda: attention(
            zeros(2, 5), zeros(3, 5), zeros(3, 5), zeros(2, 3, requires_grad=True), impl="triton"
        ),
        "no gradient for attn_mask, and impl='online' has",
    ),
}


@pytest.mark.skipif(not HAS_INTERPRETER, reason="tensors on the CPU")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_taken_is_said(name):
    call, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_mask_that_learns_is_taken_where_nothing_does():
    mask = zeros(2, 3, requires_grad=True)
    with torch.no_grad():
        assert (
            flash_triton.unsupported(zeros(2, 5), zeros(3, 5), zeros(3, 5), mask)
            != "impl='triton' has no gradient for attn_mask, and impl='online' has; got one that"
            " requires it"
        )


@each_torch
def test_impl_none_takes_the_kernels_on_cuda_where_they_serve(library):
    (query, key, value), mask = in_library(
        library, draws(), random_mask("floating", (N_Q, N_K)), "float32"
    )
    with patch.object(api, "attention_kernels", side_effect=api.attention_kernels) as called:
        attention(query, key, value)
        assert bool(called.called) == (library == "cuda")
        attention(
            query, key, value, mask.requires_grad_()
        ).sum().backward()  # by dense: there is a gradient for it
        attention(query.double(), key.double(), value.double())
    assert torch.isfinite(mask.grad).all()
