"""Low precision: the rule of twice the error of plain code, and that half precision is computed wider."""

import numpy as np
import pytest
import torch

from attnlib import attention, attention_backward, log_softmax, logsumexp, raw_scores, softmax
from helpers import (
    each_library_and, every_impl, gradients, in_library, no_warnings, normal, to_float64, to_library,
    weights_in_float32)

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
    scores = query @ key.T / query.dtype.type(D_K ** 0.5)
    if is_causal:
        scores = np.where(np.tri(N_Q, N_K, dtype=bool), scores, query.dtype.type(-np.inf))
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


def plain_backward_numpy(query, key, value, grad_output, is_causal):
    weights, grad_weights = plain_weights(query, key, is_causal), grad_output @ value.T
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdims=True))
    grad_scores /= query.dtype.type(D_K ** 0.5)
    return grad_scores @ key, grad_scores.T @ query, weights.T @ grad_output


def plain_torch(query, key, value, is_causal):
    """Every step in the dtype of the inputs."""
    scores = query @ key.mT / D_K ** 0.5
    if is_causal:
        scores = scores.masked_fill(~torch.ones(N_Q, N_K, dtype=torch.bool, device=query.device).tril(), -torch.inf)
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
    plain = (plain_backward_numpy if library == "numpy" else plain_backward_torch)(*arrays, is_causal)
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
    (*arrays, grad_output), mask = in_library(library, (*ARRAYS, GRAD_OUTPUT), normal(N_Q, N_K), dtype)
    wide = [to_float64(array) for array in (*arrays, grad_output, mask)]
    options = {"is_causal": is_causal, "softcap": 3, "scale": 0.2}
    exact, lse = attention(*wide[:3], wide[4], **options, return_lse=True)
    output, wide_lse = attention(*arrays, mask, **options, return_lse=True)
    assert_rounded_once(output, exact, dtype)
    np.testing.assert_allclose(to_float64(wide_lse), lse, rtol=3e-6)
    for grad, expected in zip(gradients(*arrays, grad_output, mask, **options), attention_backward(*wide, **options)):
        assert_rounded_once(grad, expected, dtype)


@pytest.mark.parametrize("step", [softmax, logsumexp, log_softmax, lambda scores: raw_scores(scores, scores)],
                         ids=["softmax", "logsumexp", "log_softmax", "raw_scores"])
@each_library_and_half_precision
def test_steps_round_once(library, dtype, step):
    scores = to_library(library, normal(N_Q, N_K), dtype)
    assert_rounded_once(step(scores), step(to_float64(scores)), dtype)
