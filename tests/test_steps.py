"""The steps one by one against plain loops, and what no step may do to its arguments."""

import math

import numpy as np
import pytest
import reference
import torch
from helpers import (
    BATCH,
    D_K,
    D_V,
    HEADS,
    N_K,
    N_Q,
    assert_close,
    bounded,
    each_library,
    each_library_and_dtype,
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
from hypothesis.extra.numpy import array_shapes, arrays

from attnlib import (
    attention,
    attention_backward,
    av_product,
    log_softmax,
    logsumexp,
    mask_scores,
    raw_scores,
    softmax,
)

pytestmark = no_warnings
ROW = np.array([1.0, 0.5, 2.5, -0.1])
QUERY, KEY = normal(BATCH, HEADS, N_Q, D_K), normal(HEADS, N_K, D_K)
SCORES, VALUE = normal(BATCH, HEADS, N_Q, N_K), normal(BATCH, 1, N_K, D_V)


def by_rows(step, scores, axis):
    """A step that takes one row as a list, along any axis of an array."""
    return np.apply_along_axis(lambda row: np.asarray(step(row.tolist())), axis, scores)


def loops_softmax(row):
    return reference.softmax_row(row)[0]


def loops_logsumexp(row):
    return reference.softmax_row(row)[1]


def loops_log_softmax(row):
    """The distance to the maximum first: beside a maximum of 1e30 the logarithm is rounded away."""
    highest = max(row, default=-math.inf)
    rest = loops_logsumexp([score - highest for score in row]) if highest > -math.inf else 0.0
    return [(score - highest) - rest if score != -math.inf else score for score in row]


STEPS = {softmax: loops_softmax, logsumexp: loops_logsumexp, log_softmax: loops_log_softmax}
each_step = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)


# --- raw scores and the AV product ---


@pytest.mark.parametrize("scale", [None, 0.7, 0, -2, np.float32(0.5)])
@each_library_and_dtype
def test_raw_scores(library, dtype, scale):
    (query, key), _ = in_library(library, (QUERY, KEY), dtype=dtype)
    products = np.einsum("bhic,hjc->bhij", to_float64(query), to_float64(key))
    expected = products * (1 / math.sqrt(D_K) if scale is None else float(scale))
    assert_close(raw_scores(query, key, scale=scale), expected, like=query)


@each_library_and_dtype
def test_av_product(library, dtype):
    (weights, value), _ = in_library(library, (SCORES, VALUE), dtype=dtype)
    expected = np.einsum("bhij,bgjd->bhid", to_float64(weights), to_float64(value))
    assert_close(av_product(weights, value), expected, like=weights)


@pytest.mark.parametrize("sizes", [(0, 3, 2), (2, 0, 3), (0, 0, 1)], ids=str)
@each_library
def test_products_of_size_0(library, sizes):
    n_q, n_k, d = sizes
    (query, key), _ = in_library(library, (normal(n_q, 5), normal(n_k, 5)))
    scores = raw_scores(query, key)
    assert_close(scores, np.zeros((n_q, n_k)), like=query)
    assert_close(
        av_product(scores, to_library(library, normal(n_k, d))), np.zeros((n_q, d)), like=query
    )


# --- masks ---


@pytest.mark.parametrize("kind", ["boolean", "floating"])
@pytest.mark.parametrize("shape", mask_shapes(SCORES.shape), ids=str)
@each_library
def test_mask_scores(library, shape, kind):
    mask = random_mask(kind, shape)
    (scores,), wide_mask = in_library(library, (SCORES,), mask)
    bias = np.where(mask, 0, -np.inf) if kind == "boolean" else mask
    assert_close(mask_scores(scores, wide_mask), SCORES + bias, like=scores)


@pytest.mark.parametrize("kind", ["boolean", "floating"])
@each_library_and_dtype
def test_a_masked_score_is_minus_inf_whatever_it_was(library, dtype, kind):
    mask = (
        np.array([True, False, False, False])
        if kind == "boolean"
        else np.array([0.0, *[-np.inf] * 3])
    )
    (scores,), mask = in_library(
        library, (np.array([[1.0, np.nan, np.inf, -np.inf]]),), mask, dtype
    )
    assert_close(
        mask_scores(scores, mask), np.array([[1.0, -np.inf, -np.inf, -np.inf]]), like=scores
    )


@each_library
def test_an_unmasked_score_stays_whatever_it_is(library):
    scores = to_library(library, np.array([[np.nan, np.inf, -np.inf, 1e300]]))
    assert_close(
        mask_scores(scores, to_library(library, np.array(True))), to_float64(scores), like=scores
    )


# --- softmax, log-sum-exp and log-softmax ---


@pytest.mark.parametrize("axis", [-4, -3, -2, -1, 0, 1, 2, 3, np.int64(1)])
@each_step
@each_library
def test_every_axis(library, step, axis):
    scores = to_library(library, SCORES)
    assert_close(step(scores, axis), by_rows(STEPS[step], SCORES, axis), like=scores)
    assert_close(step(scores, axis=axis), by_rows(STEPS[step], SCORES, axis), like=scores)


@each_step
@each_library_and_dtype
def test_the_last_axis_unless_told(library, dtype, step):
    scores = to_library(library, SCORES, dtype)
    assert_close(step(scores), by_rows(STEPS[step], to_float64(scores), -1), like=scores)


@each_library
def test_the_row_of_the_book(library):
    row = to_library(library, ROW)
    assert to_float64(softmax(row)).round(3).tolist() == [0.156, 0.094, 0.698, 0.052]
    assert_close(logsumexp(row), np.log(np.exp(ROW).sum()), like=row)


@pytest.mark.parametrize("magnitude", [1e-300, 1e-30, 1e4, 1e30, 1e300])
@each_step
@each_library
def test_tiny_and_huge_scores(library, step, magnitude):
    scores = to_library(library, magnitude * SCORES)
    assert_close(step(scores), by_rows(STEPS[step], magnitude * SCORES, -1), like=scores)


@pytest.mark.parametrize("shift", [-1e4, 3.0, 1e4])
@each_library
def test_shifted_scores(library, shift):
    scores, shifted = to_library(library, SCORES), to_library(library, SCORES + shift)
    assert_close(softmax(shifted), to_float64(softmax(scores)), like=scores, tolerance=1e-11)
    assert_close(logsumexp(shifted), to_float64(logsumexp(scores)) + shift, like=scores)
    assert_close(
        log_softmax(shifted), to_float64(log_softmax(scores)), like=scores, tolerance=1e-11
    )


@each_library_and_dtype
def test_a_row_of_minus_inf(library, dtype):
    scores = to_library(library, np.array([[-np.inf] * 3, [0.0, -np.inf, 0.0]]), dtype)
    log2 = np.log(2)
    assert_close(softmax(scores), np.array([[0.0, 0, 0], [0.5, 0, 0.5]]), like=scores)
    assert_close(logsumexp(scores), np.array([-np.inf, log2]), like=scores)
    assert_close(
        log_softmax(scores), np.array([[-np.inf] * 3, [-log2, -np.inf, -log2]]), like=scores
    )


@pytest.mark.parametrize("number", [np.nan, np.inf])
@each_step
@each_library
def test_nan_and_inf_stay_in_their_row(library, step, number):
    scores = np.zeros((5, 3))
    scores[2, 1] = number
    expected = by_rows(STEPS[step], np.zeros((5, 3)), -1)
    expected[2] = number if step is logsumexp else np.nan
    scores = to_library(library, scores)
    assert_close(step(scores), expected, like=scores)


@pytest.mark.parametrize(
    "shape, axis", [((0,), 0), ((3, 0), -1), ((0, 3), -1), ((0, 3), 0), ((2, 0, 3), 1)]
)
@each_library
def test_sizes_of_0(library, shape, axis):
    scores = to_library(library, np.zeros(shape))
    assert_close(softmax(scores, axis), np.zeros(shape), like=scores)
    assert_close(log_softmax(scores, axis), np.zeros(shape), like=scores)
    left = [size for at, size in enumerate(shape) if at != axis % len(shape)]
    assert_close(logsumexp(scores, axis), np.full(left, -np.inf), like=scores)


any_scores = arrays(
    np.float64,
    array_shapes(min_dims=1, max_dims=3, max_side=5),
    elements=st.just(-np.inf) | st.floats(-1e4, 1e4) | st.sampled_from([-1e30, 1e30]),
)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@given(scores=any_scores)
@bounded
def test_whatever_scores(library, scores):
    for step, loops in STEPS.items():
        got = to_float64(step(to_library(library, scores)))
        np.testing.assert_allclose(got, by_rows(loops, scores, -1), rtol=1e-12, atol=1e-12)
    sums = to_float64(softmax(to_library(library, scores))).sum(-1)
    assert np.allclose(sums, (scores > -np.inf).any(-1), rtol=0, atol=1e-12)


# --- arguments and results ---

GIVEN = {
    "query": QUERY,
    "key": normal(*QUERY.shape[:2], N_K, D_K),
    "value": normal(*QUERY.shape[:2], N_K, D_V),
    "scores": SCORES,
    "weights": SCORES,
    "grad_output": normal(BATCH, HEADS, N_Q, D_V),
    "attn_mask": random_mask("floating", SCORES.shape),
    "all_true": np.ones((N_Q, N_K), dtype=bool),
}
CALLS = {
    "raw_scores": lambda given: raw_scores(given["query"], given["key"], scale=1),
    "mask_scores": lambda given: mask_scores(given["scores"], given["attn_mask"]),
    "mask_scores, all True": lambda given: mask_scores(given["scores"], given["all_true"]),
    "softmax": lambda given: softmax(given["scores"]),
    "logsumexp": lambda given: logsumexp(given["scores"]),
    "log_softmax": lambda given: log_softmax(given["scores"]),
    "av_product": lambda given: av_product(given["weights"], given["value"]),
    "attention": lambda given: attention(
        given["query"],
        given["key"],
        given["value"],
        given["attn_mask"],
        is_causal=True,
        softcap=2,
        enable_gqa=True,
        return_lse=True,
    ),
    "attention_backward": lambda given: attention_backward(
        given["query"],
        given["key"],
        given["value"],
        given["grad_output"],
        given["attn_mask"],
        softcap=2,
    ),
}


def memory(array):
    return (
        array.__array_interface__["data"][0]
        if isinstance(array, np.ndarray)
        else array.untyped_storage().data_ptr()
    )


@pytest.mark.parametrize("name", CALLS)
@each_library_and_dtype
def test_arguments_are_neither_written_to_nor_returned(library, dtype, name):
    if name == "attention_backward" and library != "numpy":
        pytest.skip("torch has autograd")
    given = {key: to_library(library, array, dtype) for key, array in GIVEN.items()}
    before = {key: to_float64(array).copy() for key, array in given.items()}
    results = CALLS[name](given)
    for key, array in given.items():
        np.testing.assert_array_equal(to_float64(array), before[key], err_msg=key)
    results = results if isinstance(results, tuple) else (results,)
    assert not {memory(array) for array in results} & {memory(array) for array in given.values()}


@pytest.mark.parametrize("name", CALLS)
def test_results_may_be_written_to(name):
    results = CALLS[name](GIVEN)
    for array in results if isinstance(results, tuple) else (results,):
        array[...] = 0  # a read-only view, as np.broadcast_to gives, would raise


@pytest.mark.parametrize(
    "dtype, magnitude",
    [("float16", 1e4), ("float32", 1e4), ("float32", 1e-30), ("float64", 1e4), ("float64", 1e-200)],
)
@pytest.mark.parametrize("name", CALLS)
def test_numpy_set_to_raise_finds_nothing(name, dtype, magnitude):
    given = {
        key: array if array.dtype == bool else (array * magnitude).astype(dtype)
        for key, array in GIVEN.items()
    }
    with np.errstate(all="raise"):
        CALLS[name](given)


def test_scores_that_overflow_make_no_noise():
    query, key = np.full((2, 3), 1e38, np.float32), np.full((2, 3), [[1], [1e38]], np.float32)
    mask = np.array([True, False])
    for softcap in (None, 1e-5):
        output = attention(query, key, np.ones_like(key), mask, softcap=softcap)
        np.testing.assert_array_equal(output, np.ones_like(key))
        attention_backward(query, key, key, query, mask, softcap=softcap)


@each_library
def test_log_sum_exp_of_half_precision_is_float32(library):
    arrays, _ = in_library(library, (QUERY, GIVEN["key"], GIVEN["value"]), dtype="float16")
    wide, _ = in_library(library, [to_float64(array) for array in arrays], dtype="float32")
    lse = attention(*arrays, return_lse=True)[1]
    assert_close(
        lse, to_float64(attention(*wide, return_lse=True)[1]), like=wide[0], tolerance=1e-6
    )


@each_library
def test_tensors_of_another_default_dtype(library):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        for name, call in CALLS.items():
            if library == "numpy" or name != "attention_backward":
                result = call(
                    {key: to_library(library, array, "float32") for key, array in GIVEN.items()}
                )
                result = result[0] if isinstance(result, tuple) else result
                assert str(result.dtype).endswith("float32"), name
    finally:
        torch.set_default_dtype(before)
