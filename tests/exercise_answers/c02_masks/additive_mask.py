"""Answers to additive_mask, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("additive_mask")


@answers.right()
def additive_by_where(attn_mask, dtype):
    return np.where(attn_mask, 0.0, -np.inf).astype(dtype)


@answers.right()
def additive_by_filling(attn_mask, dtype):
    mask = np.full(attn_mask.shape, -np.inf, dtype)
    mask[attn_mask] = 0
    return mask


@answers.right()
def additive_by_logarithm(attn_mask, dtype):
    with np.errstate(divide="ignore"):
        return np.log(attn_mask.astype(dtype))


answers.wrong(
    "mask inverted", function=lambda attn_mask, dtype: np.where(attn_mask, -np.inf, 0).astype(dtype)
)
answers.wrong(
    "a negative number instead of -inf",
    function=lambda attn_mask, dtype: np.where(attn_mask, 0, -1e9).astype(dtype),
)
answers.wrong(
    "a negative number instead of -inf",
    function=lambda attn_mask, dtype: np.where(attn_mask, 0, -1e4).astype(dtype),
)
answers.wrong(
    "the dtype's lowest number instead of -inf",
    function=lambda attn_mask, dtype: np.where(attn_mask, 0, np.finfo(dtype).min).astype(dtype),
)
answers.wrong(
    "inf instead of -inf",
    function=lambda attn_mask, dtype: np.where(attn_mask, 0, np.inf).astype(dtype),
)
answers.wrong(
    "arithmetic that makes NaN of infinity",
    function=lambda attn_mask, dtype: (1 - attn_mask.astype(dtype)) * dtype_of(dtype, -np.inf),
)
answers.wrong("the mask's own 1 and 0", function=lambda attn_mask, dtype: attn_mask.astype(dtype))
answers.wrong(
    "1 instead of 0",
    function=lambda attn_mask, dtype: np.where(attn_mask, 1, -np.inf).astype(dtype),
)
answers.wrong(
    "float64 leaks out", function=lambda attn_mask, dtype: np.where(attn_mask, 0.0, -np.inf)
)
answers.wrong(
    "narrower dtype",
    function=lambda attn_mask, dtype: np.where(attn_mask, 0.0, -np.inf).astype(np.float16),
)


def dtype_of(dtype, number):
    return np.dtype(dtype).type(number)


answers.wrong(
    "float64's lowest number instead of -inf",
    function=lambda attn_mask, dtype: np.nan_to_num((1 - attn_mask) * -np.inf, nan=0.0).astype(
        dtype
    ),
)


@answers.wrong("additive mask in a boolean array", "boolean dtype")
def additive_like_the_mask(attn_mask, dtype):
    found = np.zeros_like(attn_mask)
    found[~attn_mask] = -np.inf
    return found


@answers.wrong("view instead of astype")
def additive_viewed(attn_mask, dtype):
    return np.where(attn_mask, 0.0, -np.inf).view(dtype)


@answers.wrong("a row without any key not masked")
def additive_but_for_empty_rows(attn_mask, dtype):
    found = np.where(attn_mask, 0, -np.inf).astype(dtype)
    found[~attn_mask.any(-1)] = 0
    return found


@answers.wrong("arithmetic that makes NaN of infinity")
def additive_by_differences(attn_mask, dtype):
    found = np.zeros(attn_mask.shape, dtype)
    found[attn_mask] = -np.inf
    return -np.inf - found


@answers.wrong("a negative number instead of -inf", "fixed dtype")
def additive_in_float32(attn_mask, dtype):
    return np.where(attn_mask, 0, -1e9).astype(np.float32)
