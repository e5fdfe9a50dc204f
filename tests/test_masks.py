"""Masks, entry by entry."""

import warnings

import nbformat
import numpy as np
import pytest
import torch
from helpers import (
    D_K,
    D_V,
    N_K,
    N_Q,
    assert_close,
    bounded,
    draws,
    each_library,
    no_warnings,
    to_float64,
    to_library,
)
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import flex_attention

import attnlib
from attnlib import attention, causal_mask, padding_mask, window_mask
from book.notebooks import CHAPTERS

pytestmark = no_warnings
SIZES = [(N_Q, N_K), (N_K, N_Q), (N_Q, N_Q), (1, N_K), (N_Q, 1), (0, N_K), (N_Q, 0), (0, 0)]
each_size = pytest.mark.parametrize("n_q, n_k", SIZES)


def assert_mask(mask, shape, may_attend):
    """Boolean, of this shape, and may_attend(*position) at each of its positions."""
    assert type(mask) is np.ndarray and mask.dtype == bool and mask.flags.writeable
    assert mask.shape == shape
    assert all(mask[at] == may_attend(*at) for at in np.ndindex(shape))


@each_size
def test_causal_mask(n_q, n_k):
    assert_mask(causal_mask(n_q, n_k), (n_q, n_k), lambda i, j: j <= i)


@each_size
def test_causal_as_in_torch(n_q, n_k):
    expected = torch.ones(n_q, n_k, dtype=torch.bool).tril()
    np.testing.assert_array_equal(causal_mask(n_q, n_k), expected.numpy())


@pytest.mark.parametrize("left", [None, 0, 1, 3, 11])
@pytest.mark.parametrize("right", [None, 0, 1, 3, 11])
@each_size
def test_window_mask(n_q, n_k, left, right):
    assert_mask(
        window_mask(n_q, n_k, left, right),
        (n_q, n_k),
        lambda i, j: (left is None or i - left <= j) and (right is None or j <= i + right),
    )


def test_a_window_wider_than_any():
    assert window_mask(N_Q, N_K, 2**62, 2**62).all()


@given(lengths=st.lists(st.integers(0, 7), max_size=4))
@bounded
def test_padding_mask(lengths):
    assert_mask(padding_mask(lengths, 7), (len(lengths), 1, 7), lambda b, _, j: j < lengths[b])


@pytest.mark.parametrize(
    "lengths",
    [np.array([3, 1]), np.array([3, 1], dtype=np.uint8), (3, 1), torch.tensor([3, 1])],
    ids=lambda lengths: type(lengths).__name__,
)
def test_lengths_of_every_kind(lengths):
    np.testing.assert_array_equal(padding_mask(lengths, 3), padding_mask([3, 1], 3))


@pytest.mark.parametrize("whole", [np.int8, np.uint8, np.uint64])
def test_sizes_of_numpy(whole):
    np.testing.assert_array_equal(
        window_mask(whole(5), whole(7), whole(1), whole(2)), window_mask(5, 7, 1, 2)
    )
    np.testing.assert_array_equal(padding_mask([2], whole(7)), padding_mask([2], 7))


@pytest.mark.parametrize("n_q, n_k", [(N_Q, N_K), (N_K, N_Q)])
@each_library
def test_causal_mask_is_what_is_causal_does(library, n_q, n_k):
    arrays = [to_library(library, array) for array in draws((n_q, D_K), (n_k, D_K), (n_k, D_V))]
    masked = attention(*arrays, to_library(library, causal_mask(n_q, n_k)))
    assert_close(attention(*arrays, is_causal=True), to_float64(masked), like=arrays[0])


@each_library
def test_padding_is_as_if_the_keys_were_not_there(library):
    query, key, value = [to_library(library, array) for array in draws((2, 1, N_Q, D_K))]
    lengths = [3, 5]
    mask = to_library(library, padding_mask(lengths, N_K)[:, None])
    output = attention(query, key, value, mask)
    for b, length in enumerate(lengths):
        expected = attention(query[b, 0], key[:length], value[:length])
        assert_close(output[b, 0], to_float64(expected), like=query)


def test_flex_attention_sees_the_packed_texts_of_chapter_2_as_its_cells_do():
    cells = nbformat.read(CHAPTERS / "02_masks.ipynb", as_version=4).cells
    wanted = ("def weights_of", "def packed_attention", "cu_seqlens = ", "blocks = ")
    space = {"np": np, "attnlib": attnlib}
    for cell in cells:
        if cell.cell_type == "code" and any(f"\n{start}" in f"\n{cell.source}" for start in wanted):
            exec(cell.source, space)
    document = torch.from_numpy(np.repeat(np.arange(4), space["lengths"]))
    n = len(document)
    blocks = flex_attention.create_block_mask(
        lambda b, h, q, k: (document[q] == document[k]) & (k <= q), 1, 1, n, n, "cpu", 32
    )
    arrays = [torch.from_numpy(space[name])[None, None] for name in ("query", "key", "value")]
    with warnings.catch_warnings(action="ignore"):  # it isn't compiled here
        output = flex_attention.flex_attention(*arrays, block_mask=blocks)
    np.testing.assert_allclose(output[0, 0].numpy(), space["output"], rtol=1e-9, atol=1e-12)
    mixed = space["seen_some"] & ~space["seen_all"]
    assert blocks.kv_num_blocks.sum() == mixed.sum()
    assert blocks.full_kv_num_blocks.sum() == space["seen_all"].sum()
