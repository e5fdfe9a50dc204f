"""Low precision: the rule of twice the error of plain code, and that half precision is computed
wider.
"""

import contextlib

import numpy as np
import pytest
import torch
from helpers import (
    each_library,
    each_library_and,
    each_torch,
    every_impl,
    gradients,
    in_library,
    no_warnings,
    normal,
    to_float64,
    to_library,
    weights_in_float32,
)

from attnlib import (
    attention,
    attention_backward,
    av_product,
    log_softmax,
    logsumexp,
    mask_scores,
    merge_partials,
    raw_scores,
    softmax,
)

pytestmark = [no_warnings, every_impl]
N_Q, N_K, D_K, D_V = 61, 127, 67, 31
ARRAYS = normal(N_Q, D_K), normal(N_K, D_K), normal(N_K, D_V)
GRAD_OUTPUT = normal(N_Q, D_V, seed=7)
UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8}  # half a unit in the last place, relative
each_library_and_low_dtype = each_library_and("float16", "bfloat16", "float32")
each_library_and_half_precision = each_library_and("float16", "bfloat16")
each_causal = pytest.mark.parametrize("is_causal", [False, True], ids=["full", "causal"])


def plain_numpy(query, key, value, is_causal):
    return plain_weights(query, key, is_causal) @ value


def plain_weights(query, key, is_causal):
    """Every step in the dtype of the inputs."""
    scores = query @ key.T / query.dtype.type(D_K**0.5)
    if is_causal:
        scores = np.where(np.tri(N_Q, N_K, dtype=bool), scores, query.dtype.type(-np.inf))
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


def plain_backward_numpy(query, key, value, grad_output, is_causal):
    weights, grad_weights = plain_weights(query, key, is_causal), grad_output @ value.T
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdims=True))
    grad_scores /= query.dtype.type(D_K**0.5)
    return grad_scores @ key, grad_scores.T @ query, weights.T @ grad_output


def plain_torch(query, key, value, is_causal):
    """Every step in the dtype of the inputs."""
    scores = query @ key.mT / D_K**0.5
    if is_causal:
        scores = scores.masked_fill(
            ~torch.ones(N_Q, N_K, dtype=torch.bool, device=query.device).tril(), -torch.inf
        )
    return torch.softmax(scores, dim=-1) @ value


def plain_backward_torch(query, key, value, grad_output, is_causal):
    inputs = [tensor.detach().requires_grad_() for tensor in (query, key, value)]
    return torch.autograd.grad(plain_torch(*inputs, is_causal), inputs, grad_output)


def error(got, exact):
    """Root mean square: the largest alone would depend on the machine's order of summation."""
    return np.sqrt(np.mean((to_float64(got) - exact) ** 2))


@each_causal
@each_library_and_low_dtype
def test_at_most_twice_the_error_of_plain_code(library, dtype, is_causal):
    arrays, _ = in_library(library, ARRAYS, dtype=dtype)
    plain = (plain_numpy if library == "numpy" else plain_torch)(*arrays, is_causal)
    exact = attention(*map(to_float64, arrays), is_causal=is_causal)
    assert plain.dtype == arrays[0].dtype
    assert error(attention(*arrays, is_causal=is_causal), exact) <= 2 * error(plain, exact)


@each_causal
@each_library_and_low_dtype
def test_gradients_at_most_twice_the_error_of_plain_code(library, dtype, is_causal):
    arrays, _ = in_library(library, (*ARRAYS, GRAD_OUTPUT), dtype=dtype)
    plain = (plain_backward_numpy if library == "numpy" else plain_backward_torch)(
        *arrays, is_causal
    )
    exact = attention_backward(*map(to_float64, arrays), is_causal=is_causal)
    for grad, theirs, expected in zip(gradients(*arrays, is_causal=is_causal), plain, exact):
        assert theirs.dtype == arrays[0].dtype
        assert error(grad, expected) <= 2 * error(theirs, expected)


def assert_rounded_once(got, exact, dtype):
    """The exact number, rounded once at the end: what float32 leaves of the error is far below."""
    np.testing.assert_allclose(to_float64(got), exact, rtol=1.01 * UNIT[dtype], atol=3e-6)


@weights_in_float32
@each_causal
@each_library_and_half_precision
def test_half_precision_is_rounded_once(library, dtype, is_causal):
    (*arrays, grad_output), mask = in_library(
        library, (*ARRAYS, GRAD_OUTPUT), normal(N_Q, N_K), dtype
    )
    wide = [to_float64(array) for array in (*arrays, grad_output, mask)]
    options = {"is_causal": is_causal, "softcap": 3, "scale": 0.2}
    exact, lse = attention(*wide[:3], wide[4], **options, return_lse=True)
    output, wide_lse = attention(*arrays, mask, **options, return_lse=True)
    assert_rounded_once(output, exact, dtype)
    np.testing.assert_allclose(to_float64(wide_lse), lse, rtol=3e-6)
    for grad, expected in zip(
        gradients(*arrays, grad_output, mask, **options), attention_backward(*wide, **options)
    ):
        assert_rounded_once(grad, expected, dtype)


@pytest.mark.parametrize(
    "step",
    [softmax, logsumexp, log_softmax, lambda scores: raw_scores(scores, scores)],
    ids=["softmax", "logsumexp", "log_softmax", "raw_scores"],
)
@each_library_and_half_precision
def test_steps_round_once(library, dtype, step):
    scores = to_library(library, normal(N_Q, N_K), dtype)
    assert_rounded_once(step(scores), step(to_float64(scores)), dtype)


# --- at the edge of the range of float32 ---

FEW = [normal(*shape, seed=seed) for seed, shape in enumerate([(3, 5), (40, 5), (40, 4)])]
ONE = np.full((3, 1), -27.0), np.ones((40, 1)), 1 + np.abs(normal(40, 4))


def assert_exact_in_float32(library, arrays, **options):
    """Each column of the output to 2e-6 of its largest number, however small that is."""
    arrays, _ = in_library(library, arrays, dtype="float32")
    exact = attention(*map(to_float64, arrays), **options)
    error = abs(to_float64(attention(*arrays, **options)) - exact)
    assert (error <= 2e-6 * abs(exact).max(0)).all(), error / abs(exact).max(0)


@pytest.mark.parametrize(
    "sizes",
    [[1e-30] * 4, [1e-33] * 4, [1e-36] * 4, [1, 1e-33, 1e30, 1e-36], [0, 1e-36, 0, 1e-30]],
    ids=str,
)
@each_library
def test_tiny_values_beside_small_weights(library, sizes):
    query, key, value = ONE
    with np.errstate(divide="ignore", invalid="ignore"):
        assert_exact_in_float32(library, (query, key, value * sizes), scale=1)


@pytest.mark.parametrize(
    "query, key, options",
    [
        (1e35, 1e-36, {"scale": 1e4}),
        (1e37, 1e-38, {"scale": 1e2, "softcap": 3}),
        (1e-35, 1e37, {"scale": 1e-5}),
        (1e15, 1e15, {"scale": 1e-30}),
        (1, 1, {"softcap": 1e-40}),
        (1, 1, {"softcap": 1e-10}),
        (1, 1, {"softcap": 1e30}),
        (1, 1, {"softcap": 3e38}),
        (1e15, 1e15, {"softcap": 1e30, "scale": 1e-30}),
        (1, 1, {"scale": 1e-42}),
        (1e-20, 1e-20, {"scale": 1e38}),
    ],
    ids=str,
)
@each_library
def test_factors_whose_products_leave_the_range(library, query, key, options):
    assert_exact_in_float32(library, (query * FEW[0], key * FEW[1], FEW[2]), **options)


@pytest.mark.parametrize(
    "query, key, options",
    [
        (1e35, 1e-36, {"scale": 1e4}),
        (1, 1, {"softcap": 1e-40, "scale": 1e-40}),
        (1e-35, 1e37, {"scale": 1e-5}),
    ],
    ids=str,
)
@each_library
def test_gradients_of_factors_whose_products_leave_the_range(library, query, key, options):
    arrays, _ = in_library(
        library, (query * FEW[0], key * FEW[1], FEW[2], normal(3, 4)), dtype="float32"
    )
    exact = attention_backward(*map(to_float64, arrays), **options)[2]
    np.testing.assert_allclose(
        to_float64(gradients(*arrays, **options)[2]), exact, rtol=2e-5, atol=1e-6
    )


# --- NumPy's settings, torch's autocast, and bfloat16 of ml_dtypes ---


@pytest.mark.parametrize("mode", ["warn", "raise"])
@pytest.mark.parametrize("magnitude", [1e-7, 1, 1e4])
def test_numpy_has_nothing_to_say_of_float16(magnitude, mode):
    with np.errstate(all="ignore"):
        query, key, value, grad = [
            (magnitude * array).astype("float16") for array in (*ARRAYS, GRAD_OUTPUT)
        ]
    with np.errstate(all=mode):
        attention(query, key, value, return_lse=True, is_causal=True)
        attention_backward(query, key, value, grad, softcap=3)
        merge_partials(value, value[:, 0].astype("float32"), value, value[:, 1].astype("float32"))


@pytest.mark.parametrize("is_inside", [True, False], ids=["backward inside", "backward outside"])
@each_torch
def test_autocast_changes_nothing(library, is_inside):
    arrays, _ = in_library(library, (3 * ARRAYS[0], *ARRAYS[1:], GRAD_OUTPUT), dtype="float32")
    inputs = [array.requires_grad_() for array in arrays[:3]]

    def run(inside):
        with (
            torch.autocast(arrays[0].device.type, torch.bfloat16)
            if inside
            else contextlib.nullcontext()
        ):
            output, lse = attention(*inputs, is_causal=True, return_lse=True)
            with (
                contextlib.nullcontext()
                if is_inside
                else torch.autocast(arrays[0].device.type, enabled=False)
            ):
                return output, lse, *torch.autograd.grad((output * arrays[3]).sum(), inputs)

    for got, expected in zip(run(True), run(False)):
        assert got.dtype == torch.float32
        np.testing.assert_allclose(to_float64(got), to_float64(expected), rtol=1e-6, atol=1e-6)


@each_torch
def test_autocast_leaves_the_steps_alone(library):
    query, key = [to_library(library, array, "float32").requires_grad_() for array in ARRAYS[:2]]
    expected = av_product(raw_scores(query, key), key)
    with torch.autocast(query.device.type, torch.bfloat16):
        got = av_product(raw_scores(query, key), key)
        (first,) = torch.autograd.grad((got**3).sum(), query, create_graph=True)
        (second,) = torch.autograd.grad((first**2).sum(), key)
    (first_expected,) = torch.autograd.grad((expected**3).sum(), query, create_graph=True)
    (second_expected,) = torch.autograd.grad((first_expected**2).sum(), key)
    for a, b in ((got, expected), (first, first_expected), (second, second_expected)):
        np.testing.assert_allclose(
            to_float64(a), to_float64(b), rtol=1e-4, atol=1e-5 * abs(to_float64(b)).max()
        )


def test_bfloat16_of_numpy():
    dtype = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    query, key, value, grad, mask = arrays = [
        array.astype(dtype) for array in (*ARRAYS, GRAD_OUTPUT, normal(N_Q, N_K))
    ]
    wide = [array.astype("float64") for array in arrays]
    options = {"is_causal": True, "softcap": 3, "scale": 0.2}
    exact, lse = attention(*wide[:3], wide[4], **options, return_lse=True)
    output, wide_lse = attention(query, key, value, mask, **options, return_lse=True)
    assert wide_lse.dtype == np.float32
    np.testing.assert_allclose(wide_lse, lse, rtol=3e-6)
    steps = [
        (output, exact),
        (softmax(mask), softmax(wide[4])),
        (raw_scores(query, key), raw_scores(*wide[:2])),
        (mask_scores(mask, mask), 2 * wide[4]),
        (merge_partials(output, wide_lse, output, wide_lse)[0], exact),
    ]
    steps += zip(
        attention_backward(query, key, value, grad, mask, **options),
        attention_backward(*wide, **options),
    )
    for got, expected in steps[:-4] + steps[-3:]:
        assert got.dtype == dtype
        assert_rounded_once(got.astype("float64"), expected, "bfloat16")
    np.testing.assert_allclose(
        steps[-4][0].astype("float64"), exact, rtol=0.01, atol=1e-5
    )  # rounded twice
