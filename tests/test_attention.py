"""The forward pass against plain loops, against torch's own, and by what must not change it."""

import numpy as np
import pytest
import reference
import torch
from cases import CASES, problem
from helpers import (
    BATCH,
    D_K,
    D_V,
    HEADS,
    N_K,
    N_Q,
    assert_close,
    bounded,
    dense_only,
    draws,
    each_library,
    each_library_and_dtype,
    each_torch,
    every_impl,
    in_library,
    mask_shapes,
    no_warnings,
    normal,
    random_mask,
    to_float64,
    to_library,
)
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from attnlib import attention, av_product, logsumexp, mask_scores, raw_scores, softmax, window_mask

pytestmark = [no_warnings, every_impl]
WIDE = tuple((BATCH, HEADS, *shape) for shape in ((N_Q, D_K), (N_K, D_K), (N_K, D_V)))
SCORES = (BATCH, HEADS, N_Q, N_K)


def assert_as_reference(library, arrays, mask, options, dtype="float64", tolerance=None):
    """Output and log-sum-exp as from the loops, which get what the dtype has left of the
    numbers.
    """
    arrays, mask = in_library(library, arrays, mask, dtype)
    rounded_mask = None if mask is None else to_float64(mask)
    expected = reference.attention(*map(to_float64, arrays), rounded_mask, **options)
    output, lse = attention(*arrays, mask, **options, return_lse=True)
    wide = {"float16": "float32", "bfloat16": "float32"}.get(dtype, dtype)
    assert_close(output, expected[0], like=arrays[0], tolerance=tolerance)
    assert_close(lse, expected[1], like=arrays[0], dtype=wide, tolerance=tolerance)
    assert_close(
        attention(*arrays, mask, **options), expected[0], like=arrays[0], tolerance=tolerance
    )


# --- against plain loops in float64 ---


@pytest.mark.parametrize("name", CASES)
@each_library_and_dtype
def test_every_case_as_the_loops(library, dtype, name):
    assert_as_reference(library, *problem(name), dtype=dtype)


@pytest.mark.parametrize("is_causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("kind", ["boolean", "floating"])
@pytest.mark.parametrize("shape", mask_shapes(SCORES), ids=str)
@each_library
def test_masks_of_every_shape_that_broadcasts(library, shape, kind, is_causal):
    assert_as_reference(library, draws(*WIDE), random_mask(kind, shape), {"is_causal": is_causal})


@pytest.mark.parametrize("mask", [True, False, -0.5, -np.inf])
@each_library
def test_a_mask_without_axes(library, mask):
    assert_as_reference(library, draws(), np.array(mask), {})


@st.composite
def problems(draw):
    """Any sizes from 0 (d_k from 1), any leading axes that broadcast, any mask, any magnitude."""
    n_q, n_k, d_v = [draw(st.integers(0, 5)) for _ in range(3)]
    d_k, batch = draw(st.integers(1, 4)), draw(st.lists(st.integers(0, 3), max_size=3))
    shapes = [(*draw(part_of(batch)), *last) for last in ((n_q, d_k), (n_k, d_k), (n_k, d_v))]
    scores = (*np.broadcast_shapes(*[shape[:-2] for shape in shapes]), n_q, n_k)
    kind = draw(st.sampled_from([None, "boolean", "floating"]))
    mask = kind and random_mask(kind, draw(part_of(scores)))
    options = {
        "is_causal": draw(st.booleans()),
        "softcap": draw(st.sampled_from([None, 0.5, 30])),
        "scale": draw(st.none() | st.floats(-1e4, 1e4)),
    }
    return draws(*shapes), mask, options


@st.composite
def part_of(draw, shape):
    """A shape that broadcasts to this one."""
    kept = shape[draw(st.integers(0, len(shape))) :]
    return tuple(1 if draw(st.booleans()) else size for size in kept)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@given(drawn=problems())
@bounded
def test_whatever_fits(library, drawn):
    # A score of 1e4 is known to 1e-12, and so then are the logarithms of the weights.
    assert_as_reference(library, *drawn, tolerance=1e-10)


@each_library
def test_equals_its_steps(library):
    (query, key, value), mask = in_library(library, draws(*WIDE), random_mask("floating", SCORES))
    scores = mask_scores(raw_scores(query, key, scale=0.7), mask)
    output, lse = attention(query, key, value, mask, scale=0.7, return_lse=True)
    assert_close(output, to_float64(av_product(softmax(scores), value)), like=query)
    assert_close(lse, to_float64(logsumexp(scores)), like=query)


@each_library
def test_impl_by_name(library):
    arrays, _ = in_library(library, draws())
    assert_close(attention(*arrays, impl="dense"), to_float64(attention(*arrays)), like=arrays[0])


# --- against torch's own ---


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in CASES
        if "softcap" not in CASES[name][2]
        and name not in ("grouped heads, h_kv of key and value", "no heads of query", "no heads")
    ],
)
@each_torch
def test_every_case_as_in_torch(library, name):
    arrays, mask, options = problem(name)
    arrays, mask = in_library(library, arrays, mask)
    output, lse = attention(*arrays, mask, **options, return_lse=True)
    theirs = torch_attention(*arrays, mask, **options).broadcast_to(output.shape)
    alive = (lse != -torch.inf)[..., None]  # torch's empty rows depend on its version
    assert_close(
        torch.where(alive, output, 0), to_float64(torch.where(alive, theirs, 0)), like=arrays[0]
    )


def torch_attention(
    query, key, value, attn_mask, is_causal=False, window=None, scale=None, enable_gqa=False
):
    """Theirs takes a mask or is_causal, not both, no window, and leading axes that are alike."""
    n_q, n_k = query.shape[-2], key.shape[-2]
    if window is not None:
        near = torch.from_numpy(window_mask(n_q, n_k, *window)).to(query.device)
        attn_mask = (
            near
            if attn_mask is None
            else (
                near & attn_mask
                if attn_mask.dtype == torch.bool
                else torch.where(near, attn_mask, -torch.inf)
            )
        )
    if attn_mask is not None and is_causal:
        no = torch.ones(n_q, n_k, dtype=torch.bool, device=query.device).triu(1)
        attn_mask = (
            attn_mask & ~no
            if attn_mask.dtype == torch.bool
            else torch.where(no, -torch.inf, attn_mask)
        )
        is_causal = False
    if not enable_gqa:
        batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
        query, key, value = [
            array.expand(*batch, *array.shape[-2:]) for array in (query, key, value)
        ]
        attn_mask = attn_mask if attn_mask is None else attn_mask.expand(*batch, n_q, n_k)
    return scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask,
        is_causal=is_causal,
        enable_gqa=enable_gqa,
        scale=None if scale is None else float(scale),
    )


# --- what a query may not attend to ---


@pytest.mark.parametrize("softcap, scale", [(None, None), (0.5, None), (None, 0), (0.5, 0)])
@pytest.mark.parametrize("kind", ["boolean", "floating", "causal"])
@each_library_and_dtype
def test_a_huge_masked_key_and_value_never_arrive(library, dtype, kind, softcap, scale):
    last = N_K - 1
    query, key, value = (
        draws()
    )  # ten times the query: products overflow; inf - inf and inf * scale are NaN
    (query, key, value), _ = in_library(library, (10 * query, key, value), dtype=dtype)
    mask = {
        "boolean": np.arange(N_K) < last,
        "floating": np.where(np.arange(N_K) < last, 0, -np.inf),
    }.get(kind)
    mask = None if mask is None else to_library(library, mask, dtype)
    options = {"is_causal": kind == "causal", "softcap": softcap, "scale": scale}
    assert N_Q < N_K  # so that nobody sees the last key, causal or not
    expected = attention(query, key[:last], value[:last], **options)
    key[last] = value[last] = torch.finfo(getattr(torch, dtype)).max
    key[last, ::2] *= -1
    assert_close(attention(query, key, value, mask, **options), to_float64(expected), like=query)


@each_library
def test_a_nan_key_that_is_masked_stays_out(library):
    (query, key, value), mask = in_library(library, draws(), np.arange(N_K) != 2)
    expected = attention(query, key, value, mask)
    key[2] = np.nan
    assert_close(attention(query, key, value, mask), to_float64(expected), like=query)


@pytest.mark.parametrize("number", [np.nan, np.inf])
@each_library
def test_nan_and_inf_stay_in_their_row(library, number):
    arrays, mask = in_library(library, draws(*WIDE), np.zeros(SCORES))
    expected, lse = map(to_float64, attention(*arrays, mask, return_lse=True))
    mask[1, 2, 3, 4] = number
    output, new_lse = attention(*arrays, mask, return_lse=True)
    expected[1, 2, 3], lse[1, 2, 3] = np.nan, number
    assert_close(output, expected, like=arrays[0])
    assert_close(new_lse, lse, like=arrays[0])


@pytest.mark.parametrize("softcap", [None, 0.5])
@each_library
def test_a_nan_query_is_seen_and_no_other(library, softcap):
    query, key, value = draws(*WIDE)
    expected = to_float64(attention(query, key, value, softcap=softcap))
    query[1, 2, 3, 4] = expected[1, 2, 3] = np.nan
    arrays, _ = in_library(library, (query, key, value))
    assert_close(attention(*arrays, softcap=softcap), expected, like=arrays[0])


@pytest.mark.parametrize(
    "mask",
    [np.arange(N_Q)[:, None] != 3, np.where(np.arange(N_Q)[:, None] != 3, 0, -np.inf)],
    ids=["boolean", "floating"],
)
@each_library_and_dtype
def test_an_empty_row_is_exactly_zero(library, dtype, mask):
    arrays, mask = in_library(library, draws(*WIDE), mask, dtype)
    output, lse = map(to_float64, attention(*arrays, mask, return_lse=True))
    assert (output[..., 3, :] == 0).all() and (lse[..., 3] == -np.inf).all()
    assert np.isfinite(output).all() and np.isfinite(np.delete(lse, 3, axis=-1)).all()


# --- what must not change it ---


@each_library
def test_permuted_keys(library):
    order = np.random.default_rng(0).permutation(N_K)
    arrays, mask = in_library(library, draws(*WIDE), random_mask("floating", SCORES))
    (query, key, value), shuffled = arrays, mask[..., order]
    permuted = attention(query, key[..., order, :], value[..., order, :], shuffled)
    assert_close(permuted, to_float64(attention(query, key, value, mask)), like=query)


@each_library
def test_permuted_queries(library):
    order = np.random.default_rng(0).permutation(N_Q)
    (query, key, value), mask = in_library(library, draws(*WIDE), random_mask("boolean", SCORES))
    permuted = attention(query[..., order, :], key, value, mask[..., order, :])
    assert_close(
        permuted, to_float64(attention(query, key, value, mask))[..., order, :], like=query
    )


@each_library
def test_shifted_scores(library):
    (query, key, value), shift = in_library(library, draws(), 100 * normal(N_Q, 1))
    output, lse = attention(query, key, value, return_lse=True)
    shifted, shifted_lse = attention(query, key, value, shift, return_lse=True)
    assert_close(shifted, to_float64(output), like=query)
    assert_close(shifted_lse, to_float64(lse + shift[:, 0]), like=query)


@each_library
def test_split_heads(library):
    arrays, mask = in_library(library, draws(*WIDE), random_mask("boolean", SCORES))
    whole = to_float64(attention(*arrays, mask, is_causal=True))
    for at in np.ndindex(BATCH, HEADS):
        head = attention(*[array[at] for array in arrays], mask[at], is_causal=True)
        assert_close(head, whole[at], like=arrays[0])


@each_library
def test_split_keys_merge_by_log_sum_exp(library):
    (query, key, value), _ = in_library(library, draws())
    whole, lse = attention(query, key, value, return_lse=True)
    parts = [
        attention(query, key[part], value[part], return_lse=True)
        for part in (slice(3), slice(3, None))
    ]
    shares = [np.exp(to_float64(part_lse) - to_float64(lse))[:, None] for _, part_lse in parts]
    merged = sum(share * to_float64(output) for share, (output, _) in zip(shares, parts))
    assert_close(whole, merged, like=query)


@each_library
def test_grouped_heads_are_repeated_heads(library):
    (query, key, value), _ = in_library(library, draws((6, N_Q, D_K), (3, N_K, D_K), (2, N_K, D_V)))
    repeated = attention(query, key[[0, 0, 1, 1, 2, 2]], value[[0, 0, 0, 1, 1, 1]])
    assert_close(attention(query, key, value, enable_gqa=True), to_float64(repeated), like=query)


def test_softcap_bounds_the_scores():
    query, key, value = draws()
    lse = attention(query, 1e6 * key, value, softcap=0.5, return_lse=True)[1]
    assert (abs(lse - np.log(N_K)) <= 0.5).all()


# --- how the arrays lie in memory ---


def in_memory(array):
    """The same numbers, laid out in every way."""
    padded = np.zeros([2 * size for size in array.shape])
    padded[tuple(slice(None, None, 2) for _ in array.shape)] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"?" + array.tobytes(), offset=1).reshape(array.shape)
    return {
        "every other": padded[tuple(slice(None, None, 2) for _ in array.shape)],
        "backwards": array[..., ::-1, ::-1].copy()[..., ::-1, ::-1],
        "read-only": read_only,
        "Fortran": np.asfortranarray(array),
        "unaligned": unaligned,
        "heads last": np.moveaxis(np.moveaxis(array, 1, 2).copy(), 2, 1),
    }


@pytest.mark.parametrize("layout", in_memory(normal(2, 2, 2, 2)))
@each_library
def test_layouts_of_memory(library, layout):
    arrays, mask = draws(*WIDE), random_mask("floating", SCORES)
    expected = to_float64(attention(*arrays, mask, is_causal=True))
    arrays = [in_memory(array)[layout] for array in (*arrays, mask)]
    if library != "numpy":
        arrays = [in_tensor(array).to("cpu" if library == "torch" else library) for array in arrays]
    assert_close(attention(*arrays, is_causal=True), expected, like=arrays[0])


def in_tensor(array):
    """A tensor with the array's strides, where torch has such: it has no negative ones."""
    if min(array.strides) < 0 or not array.flags.writeable:
        return torch.tensor(array.copy())
    return torch.from_numpy(array)


@each_library
def test_broadcast_inputs_of_stride_0(library):
    arrays, _ = in_library(library, draws())
    spread = np.broadcast_to if library == "numpy" else torch.broadcast_to
    wide = [spread(array, (BATCH, HEADS, *array.shape)) for array in arrays]
    expected = np.broadcast_to(to_float64(attention(*arrays)), (BATCH, HEADS, N_Q, D_V))
    assert_close(attention(*wide), expected, like=arrays[0])


# --- torch's transformations ---


@dense_only
@pytest.mark.parametrize("kind", ["boolean", "floating"])
@each_torch
def test_vmap(library, kind):
    arrays, mask = in_library(library, draws(*WIDE), random_mask(kind, SCORES))
    mapped = torch.func.vmap(lambda *one: attention(*one, is_causal=True, return_lse=True))(
        *arrays, mask
    )
    for got, expected in zip(mapped, attention(*arrays, mask, is_causal=True, return_lse=True)):
        assert_close(got, to_float64(expected), like=arrays[0])
