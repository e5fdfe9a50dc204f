"""Split keys as Triton kernels: few queries against many keys, on small splits and on those that
ship.
"""

from unittest.mock import patch

import numpy as np
import pytest
import torch
from helpers import (
    HAS_INTERPRETER,
    TRITON_DTYPES,
    draws,
    each_triton,
    in_library,
    no_warnings,
    poisoned,
    random_mask,
    surrounded,
    to_float64,
)

from attnlib import attention

pytest.importorskip("triton")
from test_flash_triton import CAPS, assert_as_dense  # noqa: E402

from attnlib import decode_triton, flash_triton  # noqa: E402

pytestmark = no_warnings


@pytest.fixture
def small_splits(monkeypatch):
    """Splits of 4 keys and more, for any number of queries and keys; a device takes no tile below
    16.
    """
    small = 4 if HAS_INTERPRETER else 16
    monkeypatch.setattr(decode_triton, "MANY_KEYS", 1)
    monkeypatch.setattr(decode_triton, "LEAST_KEYS", small)
    monkeypatch.setattr(decode_triton, "config", lambda *_: (small, 4, 1))


CASES = {  # n_q, n_k, heads of query, key and value, d_k, d_v, mask, options
    "one query": (1, 67, 2, 2, 2, 16, 16, None, {}),
    "one key": (1, 1, 2, 2, 2, 16, 16, None, {}),
    "grouped heads": (1, 67, 6, 2, 2, 16, 8, None, {}),
    "several queries of grouped heads": (3, 37, 6, 2, 2, 16, 8, None, {"softcap": 2.0}),
    "more rows than a tile has": (5, 37, 8, 1, 1, 8, 16, None, {"scale": -0.3}),
    "different groups": (2, 37, 6, 3, 2, 16, 8, (6, 1, 37), {}),
    "window": (7, 67, 4, 2, 1, 16, 16, None, {"window": (2, 40)}),
    "window to the left, and a mask": (
        7,
        37,
        2,
        1,
        1,
        16,
        16,
        (2, 7, 37),
        {"window": (3, None), "softcap": 2.0},
    ),
    "causal": (7, 37, 2, 1, 1, 16, 16, None, {"is_causal": True}),
    "causal and a mask": (7, 37, 2, 1, 1, 11, 13, (2, 7, 37), {"is_causal": True}),
    "a mask for each key": (2, 67, 2, 2, 2, 16, 16, (67,), {}),
}


@pytest.mark.parametrize(
    "name, kind",
    [
        (name, kind)
        for name in CASES
        for kind in (("boolean", "floating") if CASES[name][-2] else (None,))
    ],
)
@each_triton
def test_small_splits_as_dense(library, small_splits, name, kind):
    n_q, n_k, h, h_key, h_value, d_k, d_v, mask, options = CASES[name]
    arrays = draws((2, h, n_q, d_k), (2, h_key, n_k, d_k), (2, h_value, n_k, d_v))
    with patch.object(decode_triton, "forward", side_effect=decode_triton.forward) as called:
        assert_as_dense(
            library, arrays, mask and random_mask(kind, mask), {"enable_gqa": True, **options}
        )
    assert called.called


@pytest.mark.parametrize("cap", CAPS)
@each_triton
def test_a_softcap_of_any_size_keeps_all_digits(library, small_splits, cap):
    arrays = draws((4, 1, 16), (2, 67, 16), (2, 67, 16))
    assert_as_dense(library, arrays, options={"softcap": cap, "enable_gqa": True}, tolerance=2e-5)


@pytest.mark.parametrize("dtype", TRITON_DTYPES)
@each_triton
def test_splits_as_they_ship(library, dtype):
    arrays = draws((4, 1, 64), (2, 1031, 64), (2, 1031, 64))
    tolerance = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5}[dtype]
    assert_as_dense(
        library, arrays, np.arange(1031) % 5 != 3, {"enable_gqa": True}, dtype, tolerance=tolerance
    )
    assert (
        decode_triton.keys_of_split(1031, 2, 64, 132) == 256 + 64
    )  # 4 splits: 258 keys, to whole tiles


@each_triton
def test_splits_of_a_window_as_they_ship(library):
    arrays = draws((4, 5, 64), (2, 1031, 64), (2, 1031, 64))
    with patch.object(decode_triton, "forward", side_effect=decode_triton.forward) as called:
        assert_as_dense(
            library,
            arrays,
            options={"window": (2, 700), "enable_gqa": True},
            dtype="float16",
            tolerance=4e-3,
        )
    assert called.called


@each_triton
def test_splits_without_keys_and_rows_without_any(library, small_splits):
    mask = np.zeros((3, 67), bool)
    mask[0, 40], mask[2] = True, True  # one key in a late split; none; all
    assert_as_dense(library, draws((3, 16), (67, 16), (67, 16)), mask)


@each_triton
def test_what_is_no_number_stays_in_its_row(library, small_splits):
    (query, key, value), _ = in_library(
        library, draws((3, 16), (67, 16), (67, 16)), dtype="float32"
    )
    expected = to_float64(attention(query, key, value, impl="dense"))
    query[1] = torch.nan
    mask = torch.zeros(3, 67, device=query.device)
    mask[2, 5] = torch.inf
    output, lse = attention(query, key, value, mask, return_lse=True, impl="triton")
    np.testing.assert_allclose(to_float64(output)[0], expected[0], rtol=1e-5, atol=1e-5)
    assert torch.isnan(output[1:]).all() and lse[2] == torch.inf


@each_triton
def test_nothing_outside_the_tensors_is_read_or_written(library, small_splits):
    (query, key, value), mask = in_library(
        library,
        draws((2, 6, 3, 16), (2, 2, 37, 16), (2, 2, 37, 8)),
        random_mask("floating", (37,)),
        "float32",
    )
    expected = attention(query, key, value, mask, enable_gqa=True, impl="dense")
    tensors = [poisoned(tensor) for tensor in (query, key, value)]
    with surrounded():
        output, lse = flash_triton.forward._init_fn(
            *tensors, poisoned(mask).expand(2, 6, 3, 37), None, None, 0.25, None
        )
    np.testing.assert_allclose(to_float64(output), to_float64(expected), rtol=1e-5, atol=1e-5)
    assert torch.isfinite(lse).all()


@each_triton
def test_offsets_beyond_31_bits(library, small_splits):
    (query, key, value), _ = in_library(
        library, draws((2, 3, 16), (2, 37, 16), (2, 37, 16)), dtype="float16"
    )
    far = torch.empty(2**31 + 2**12, dtype=torch.float16, device=query.device)  # hardly touched
    tensors = [
        far.as_strided(tensor.shape, (2**31, 16, 1), at)
        for at, tensor in zip((0, 512, 2048), (query, key, value))
    ]
    for tensor, numbers in zip(tensors, (query, key, value)):
        tensor.copy_(numbers)
    assert torch.equal(
        attention(*tensors, impl="triton"), attention(query, key, value, impl="triton")
    )


@each_triton
def test_the_same_bits_every_time(library, small_splits):
    (query, key, value), _ = in_library(
        library, draws((2, 1, 16), (2, 131, 16), (2, 131, 16)), dtype="float16"
    )
    first = attention(query, key, value, impl="triton")
    for _ in range(100 if library == "cuda" else 2):
        assert torch.equal(attention(query, key, value, impl="triton"), first)


def test_how_keys_are_split():
    keys = decode_triton.keys_of_split
    assert (
        keys(65536, 8, 64, 132) == 2048
    )  # 33 splits for each of 8 heads: 1986 keys, to whole tiles
    for n_k in (1, 511, 512, 65536, 10**6):
        for programs in (1, 8, 300):
            size = keys(n_k, programs, 64, 132)
            assert size % 64 == 0 and -(-n_k // size) <= decode_triton.MOST_SPLITS
            assert size >= min(n_k, decode_triton.LEAST_KEYS)
            assert -(-n_k // size) == 1 or -(-n_k // size) * programs <= 2 * 132


@pytest.mark.parametrize(
    "n_q, n_k, right, taken",
    [
        (1, 512, None, True),
        (16, 4096, None, True),
        (17, 4096, None, False),
        (1, 511, None, False),
        (16, 4096, 496, True),
        (16, 4096, 495, False),
        (16, 4096, 0, False),
    ],
)
def test_who_is_served(n_q, n_k, right, taken):
    assert (
        decode_triton.serves(torch.empty(1, 1, n_q, 8), torch.empty(1, 1, n_k, 8), (None, right))
        == taken
    )
