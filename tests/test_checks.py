"""Every error: its type, and a sentence that names the argument, the rule and what came.

Each row of a table: what is called, the exception, and what its sentence says.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from helpers import each_library, no_warnings

from attnlib import (
    attention,
    attention_backward,
    av_product,
    causal_mask,
    log_softmax,
    logsumexp,
    mask_scores,
    merge_partials,
    padding_mask,
    raw_scores,
    softmax,
    window_mask,
)

pytestmark = [
    no_warnings,
    pytest.mark.filterwarnings("ignore:The PyTorch API of (nested|Masked):UserWarning"),
]
HUGE = 10**400


def zeros_of(library):
    """zeros(3, 5) of one library; zeros(3, dtype="float16") of a dtype."""

    def zeros(*shape, dtype="float32"):
        if library == "numpy":
            return np.zeros(shape, dtype=dtype)
        return torch.zeros(
            shape, dtype=getattr(torch, dtype), device="cuda" if library == "cuda" else "cpu"
        )

    return zeros


def assert_raises(call, exception, *fragments):
    with pytest.raises(exception) as caught:
        call()
    assert type(caught.value) is exception
    sentence = str(caught.value)
    assert all(fragment in sentence for fragment in fragments), sentence
    assert "got" in sentence


def attend(x, *masks, **options):
    return attention(x(2, 5), x(3, 5), x(3, 7), *masks, **options)


EVERY_LIBRARY = {
    # ranks
    "query of one axis": (
        lambda x: attention(x(5), x(3, 5), x(3, 7)),
        ValueError,
        "query must have at least 2 axes",
        "shape (5,)",
    ),
    "key of no axes": (
        lambda x: attention(x(2, 5), x(), x(3, 7)),
        ValueError,
        "key must have at least 2 axes",
        "shape ()",
    ),
    "value of one axis": (
        lambda x: attention(x(2, 5), x(3, 5), x(3)),
        ValueError,
        "value must have at least 2 axes",
        "shape (3,)",
    ),
    "raw scores of one axis": (
        lambda x: raw_scores(x(5), x(3, 5)),
        ValueError,
        "query must have at least 2 axes",
        "shape (5,)",
    ),
    "weights of one axis": (
        lambda x: av_product(x(3), x(3, 7)),
        ValueError,
        "weights must have at least 2 axes",
        "shape (3,)",
    ),
    "scores of one axis to mask": (
        lambda x: mask_scores(x(3), x(3)),
        ValueError,
        "scores must have at least 2 axes",
        "shape (3,)",
    ),
    "softmax of no axes": (
        lambda x: softmax(x()),
        ValueError,
        "scores must have at least 1 axis",
        "shape ()",
    ),
    "logsumexp of no axes": (
        lambda x: logsumexp(x()),
        ValueError,
        "scores must have at least 1 axis",
    ),
    "log_softmax of no axes": (
        lambda x: log_softmax(x()),
        ValueError,
        "scores must have at least 1 axis",
    ),
    # sizes
    "d_k": (
        lambda x: attention(x(2, 5), x(3, 11), x(3, 7)),
        ValueError,
        "query and key must have the same last axis (d_k)",
        "5 and 11",
    ),
    "d_k of raw scores": (
        lambda x: raw_scores(x(2, 5), x(5, 3)),
        ValueError,
        "query and key must have the same last axis (d_k)",
        "5 and 3",
    ),
    "d_k of 0": (
        lambda x: attention(x(2, 0), x(3, 0), x(3, 7)),
        ValueError,
        "at least one feature",
        "got 0",
    ),
    "d_k of 0, raw scores": (
        lambda x: raw_scores(x(2, 0), x(3, 0)),
        ValueError,
        "at least one feature",
        "got 0",
    ),
    "n_k": (
        lambda x: attention(x(2, 5), x(3, 5), x(11, 7)),
        ValueError,
        "key and value must have as many positions (n_k)",
        "3 and 11",
    ),
    "n_k that could broadcast": (
        lambda x: attention(x(2, 5), x(3, 5), x(1, 7)),
        ValueError,
        "key and value must have as many positions (n_k)",
        "3 and 1",
    ),
    "n_k of weights": (
        lambda x: av_product(x(2, 3), x(5, 7)),
        ValueError,
        "weights and value must have as many positions (n_k)",
        "3 and 5",
    ),
    "leading axes": (
        lambda x: attention(x(2, 3, 5), x(7, 3, 5), x(3, 7)),
        ValueError,
        "the leading axes",
        "must broadcast",
        "query (2,)",
        "key (7,)",
        "value ()",
    ),
    "leading axes of raw scores": (
        lambda x: raw_scores(x(2, 3, 5), x(7, 3, 5)),
        ValueError,
        "must broadcast",
        "query (2,)",
        "key (7,)",
    ),
    "leading axes of the AV product": (
        lambda x: av_product(x(2, 3, 5), x(7, 5, 3)),
        ValueError,
        "must broadcast",
        "weights (2,)",
        "value (7,)",
    ),
    "leading axes, advice": (
        lambda x: attention(x(6, 2, 5), x(3, 3, 5), x(3, 3, 7)),
        ValueError,
        "query (6,), key (3,), value (3,)",
        "enable_gqa=True lets several query heads",
    ),
    "leading axes, none of key": (
        lambda x: attention(x(6, 2, 5), x(0, 3, 5), x(6, 3, 7)),
        ValueError,
        "must broadcast",
        "query (6,), key (0,)",
    ),
    # grouped heads
    "grouped heads that do not divide": (
        lambda x: attention(x(6, 2, 5), x(4, 3, 5), x(4, 3, 7), enable_gqa=True),
        ValueError,
        "with enable_gqa=True the heads of query must be a multiple of the heads of key",
        "6 and 4",
    ),
    "grouped heads of value": (
        lambda x: attention(x(6, 2, 5), x(3, 3, 5), x(5, 3, 7), enable_gqa=True),
        ValueError,
        "the heads of query must be a multiple of the heads of value",
        "6 and 5",
    ),
    "grouped heads, more of key": (
        lambda x: attention(x(3, 2, 5), x(6, 3, 5), x(6, 3, 7), enable_gqa=True),
        ValueError,
        "multiple of the heads of key",
        "3 and 6",
    ),
    "grouped heads, none of key": (
        lambda x: attention(x(3, 2, 5), x(0, 3, 5), x(3, 3, 7), enable_gqa=True),
        ValueError,
        "multiple of the heads of key",
        "3 and 0",
    ),
    "grouped heads without heads": (
        lambda x: attend(x, enable_gqa=True),
        ValueError,
        "with enable_gqa=True query must have a heads axis: at least 3 axes",
        "shape (2, 5)",
    ),
    "grouped heads, value without heads": (
        lambda x: attention(x(6, 2, 5), x(3, 3, 5), x(3, 7), enable_gqa=True),
        ValueError,
        "value must have a heads axis",
        "shape (3, 7)",
    ),
    "grouped heads, leading axes": (
        lambda x: attention(x(2, 6, 2, 5), x(7, 3, 3, 5), x(3, 3, 7), enable_gqa=True),
        ValueError,
        "must broadcast",
        "query (2, 6)",
        "key (7, 6)",
        "value (6,)",
    ),
    # dtypes
    "integers": (
        lambda x: attention(x(2, 5, dtype="int64"), x(3, 5), x(3, 7)),
        TypeError,
        "query must have a floating dtype",
        "float32",
        "got int64",
    ),
    "complex numbers": (
        lambda x: raw_scores(x(2, 5), x(3, 5, dtype="complex64")),
        TypeError,
        "key must have a floating dtype",
        "got complex64",
    ),
    "booleans": (
        lambda x: softmax(x(5, dtype="bool")),
        TypeError,
        "scores must have a floating dtype",
        "got bool",
    ),
    "integer scores": (
        lambda x: mask_scores(x(2, 3, dtype="int32"), x(2, 3)),
        TypeError,
        "scores must have a floating dtype",
        "got int32",
    ),
    "integer value": (
        lambda x: av_product(x(2, 3), x(3, 5, dtype="uint8")),
        TypeError,
        "value must have a floating dtype",
        "got uint8",
    ),
    "dtypes of query and key": (
        lambda x: attention(x(2, 5), x(3, 5, dtype="float64"), x(3, 7)),
        TypeError,
        "query and key must have the same dtype",
        "float32 and float64",
    ),
    "dtypes of query and value": (
        lambda x: attention(x(2, 5), x(3, 5), x(3, 7, dtype="float16")),
        TypeError,
        "query and value must have the same dtype",
        "float32 and float16",
    ),
    "dtypes of weights and value": (
        lambda x: av_product(x(2, 3), x(3, 7, dtype="float64")),
        TypeError,
        "weights and value must have the same dtype",
        "float32 and float64",
    ),
    # kinds
    "a list": (
        lambda x: attention([[0.0]], x(3, 5), x(3, 7)),
        TypeError,
        "query must be a NumPy array or a torch tensor",
        "got list",
    ),
    "None": (
        lambda x: attention(x(2, 5), None, x(3, 7)),
        TypeError,
        "key must be a NumPy array",
        "got NoneType",
    ),
    "a number": (
        lambda x: softmax(1.0),
        TypeError,
        "scores must be a NumPy array or a torch tensor",
        "got float",
    ),
    "a NumPy number": (
        lambda x: attention(x(2, 5), x(3, 5), np.float64(1)),
        TypeError,
        "value must be a NumPy array or a torch tensor",
        "got float64",
    ),
    "a list of weights": (
        lambda x: av_product([[1.0]], x(3, 5)),
        TypeError,
        "weights must be",
        "got list",
    ),
    "a list of lists to mask": (
        lambda x: mask_scores([[1.0]], x(3, 5)),
        TypeError,
        "scores must be",
        "got list",
    ),
    # masks
    "a list as a mask": (
        lambda x: attend(x, [True]),
        TypeError,
        "attn_mask must be a NumPy array",
        "got list",
    ),
    "True as a mask": (
        lambda x: attend(x, True),
        TypeError,
        "attn_mask must be a NumPy array",
        "got bool",
    ),
    "None as a mask to apply": (
        lambda x: mask_scores(x(2, 3), None),
        TypeError,
        "attn_mask must be",
        "NoneType",
    ),
    "an integer mask": (
        lambda x: attend(x, x(2, 3, dtype="int64")),
        TypeError,
        "attn_mask must be boolean (True = may attend) or of the dtype of query (float32)",
        "got int64",
    ),
    "a mask of another dtype": (
        lambda x: attend(x, x(2, 3, dtype="float64")),
        TypeError,
        "or of the dtype of query (float32)",
        "got float64",
    ),
    "an integer mask to apply": (
        lambda x: mask_scores(x(2, 3), x(2, 3, dtype="uint8")),
        TypeError,
        "attn_mask must be boolean (True = may attend) or of the dtype of scores (float32)",
        "got uint8",
    ),
    "a mask that does not broadcast": (
        lambda x: attend(x, x(3, 2)),
        ValueError,
        "attn_mask must broadcast to the shape of the scores, (2, 3)",
        "got (3, 2)",
    ),
    "a mask that grows the scores": (
        lambda x: attend(x, x(7, 2, 3, dtype="bool")),
        ValueError,
        "attn_mask must broadcast to the shape of the scores, (2, 3)",
        "got (7, 2, 3)",
    ),
    "a mask that grows an axis of 1": (
        lambda x: attention(x(1, 5), x(3, 5), x(3, 7), x(2, 3)),
        ValueError,
        "to the shape of the scores, (1, 3)",
        "got (2, 3)",
    ),
    "a mask with one axis too many": (
        lambda x: attend(x, x(1, 2, 3)),
        ValueError,
        "to the shape of the scores, (2, 3)",
        "got (1, 2, 3)",
    ),
    "a mask that grows scores": (
        lambda x: mask_scores(x(2, 3), x(5, 2, 3)),
        ValueError,
        "attn_mask must broadcast to the shape of the scores, (2, 3)",
        "got (5, 2, 3)",
    ),
    "a mask for every head and grouped heads": (
        lambda x: attention(x(6, 2, 5), x(3, 3, 5), x(3, 3, 7), x(3, 2, 3), enable_gqa=True),
        ValueError,
        "to the shape of the scores, (6, 2, 3)",
        "got (3, 2, 3)",
    ),
    # windows
    "a window of one number": (
        lambda x: attend(x, window=3),
        TypeError,
        "window must be None or a pair (left, right)",
        "got int",
    ),
    "a window of an array": (
        lambda x: attend(x, window=np.ones(2)),
        TypeError,
        "window must be",
        "got ndarray",
    ),
    "a window of three": (
        lambda x: attend(x, window=(1, 2, 3)),
        TypeError,
        "a pair (left, right)",
        "got 3 numbers",
    ),
    "a window below 0": (
        lambda x: attend(x, window=(-1, 0)),
        ValueError,
        "left of window (None for all keys) must be 0 or more",
        "got -1",
    ),
    "a window of fractions": (
        lambda x: attend(x, window=(0, 0.5)),
        TypeError,
        "right of window (None for all keys) must be a whole number",
        "got float",
    ),
    "a window beyond int64": (
        lambda x: attend(x, window=(0, 2**63)),
        ValueError,
        "right of window",
        "must be at most",
    ),
    # numbers
    "scale in words": (
        lambda x: attend(x, scale="1"),
        TypeError,
        "scale must be None or a finite number",
        "got str",
    ),
    "scale complex": (
        lambda x: attend(x, scale=1j),
        TypeError,
        "scale must be None",
        "got complex",
    ),
    "scale True": (lambda x: attend(x, scale=True), TypeError, "scale must be None", "got bool"),
    "scale of an array": (
        lambda x: attend(x, scale=np.ones(1)),
        TypeError,
        "scale must be None",
        "got ndarray",
    ),
    "scale NaN": (
        lambda x: attend(x, scale=math.nan),
        ValueError,
        "scale must be None or a finite number",
        "nan",
    ),
    "scale inf": (
        lambda x: raw_scores(x(2, 5), x(3, 5), scale=-math.inf),
        ValueError,
        "scale must be",
        "-inf",
    ),
    "scale of raw scores": (
        lambda x: raw_scores(x(2, 5), x(3, 5), scale="1"),
        TypeError,
        "scale must be",
        "str",
    ),
    "scale that no float holds": (
        lambda x: attend(x, scale=HUGE),
        ValueError,
        "scale must be None or a finite",
    ),
    "softcap 0": (
        lambda x: attend(x, softcap=0),
        ValueError,
        "softcap must be None or a positive number",
        "got 0",
    ),
    "softcap below 0": (
        lambda x: attend(x, softcap=-1.5),
        ValueError,
        "softcap must be",
        "got -1.5",
    ),
    "softcap inf": (
        lambda x: attend(x, softcap=math.inf),
        ValueError,
        "softcap must be",
        "got inf",
    ),
    "softcap NaN": (
        lambda x: attend(x, softcap=np.float32("nan")),
        ValueError,
        "softcap must be",
        "got nan",
    ),
    "scale that float32 does not hold": (
        lambda x: attend(x, scale=-1e39),
        ValueError,
        "scale must be None or a finite number in float32",
        "-inf there",
    ),
    "scale that half precision is not computed in": (
        lambda x: raw_scores(x(2, 5, dtype="float16"), x(3, 5, dtype="float16"), scale=1e39),
        ValueError,
        "in float32",
    ),
    "softcap that float32 does not hold": (
        lambda x: attend(x, softcap=1e300),
        ValueError,
        "softcap must be None or a positive number in float32",
        "inf there",
    ),
    "softcap that float32 has as 0": (
        lambda x: attend(x, softcap=1e-50),
        ValueError,
        "a positive number in float32",
        "got 1e-50, which is 0.0 there",
    ),
    "softcap that no float holds": (
        lambda x: attend(x, softcap=Fraction(1, HUGE)),
        ValueError,
        "a positive number",
        "which is 0.0 there",
    ),
    "softcap False": (
        lambda x: attend(x, softcap=np.False_),
        TypeError,
        "softcap must be None",
        "got bool",
    ),
    # axis, flags, impl
    "axis too large": (
        lambda x: softmax(x(2, 3), 2),
        ValueError,
        "axis must be from -2 to 1 for an array of 2 axes",
        "got 2",
    ),
    "axis too small": (
        lambda x: logsumexp(x(2, 3), -3),
        ValueError,
        "axis must be from -2 to 1",
        "got -3",
    ),
    "axis of a fraction": (
        lambda x: log_softmax(x(2, 3), 1.0),
        TypeError,
        "axis must be one whole number",
        "1.0",
    ),
    "two axes": (
        lambda x: softmax(x(2, 3), (0, 1)),
        TypeError,
        "axis must be one whole number",
        "(0, 1)",
    ),
    "no axis": (
        lambda x: logsumexp(x(2, 3), None),
        TypeError,
        "axis must be one whole number",
        "None",
    ),
    "axis True": (
        lambda x: softmax(x(2, 3), True),
        TypeError,
        "axis must be one whole number",
        "True",
    ),
    "is_causal 1": (
        lambda x: attend(x, is_causal=1),
        TypeError,
        "is_causal must be True or False",
        "got int",
    ),
    "is_causal None": (
        lambda x: attend(x, is_causal=None),
        TypeError,
        "is_causal must be",
        "got NoneType",
    ),
    "enable_gqa": (
        lambda x: attend(x, enable_gqa="yes"),
        TypeError,
        "enable_gqa must be True or False",
        "got str",
    ),
    "return_lse": (
        lambda x: attend(x, return_lse=1.0),
        TypeError,
        "return_lse must be True or False",
        "got float",
    ),
    "impl": (
        lambda x: attend(x, impl="fast"),
        ValueError,
        "impl must be None or one of 'dense', 'online', 'triton'",
        "got 'fast'",
    ),
    "impl of another case": (
        lambda x: attend(x, impl="Dense"),
        ValueError,
        "impl must be",
        "got 'Dense'",
    ),
    "impl True": (lambda x: attend(x, impl=True), ValueError, "impl must be", "got True"),
    "impl of an array": (
        lambda x: attend(x, impl=np.array(["dense", "online"])),
        ValueError,
        "impl must be None or one of",
        "got ndarray",
    ),
    "impl of a list": (
        lambda x: softmax(x(3), impl=["dense"]),
        ValueError,
        "impl must be None or one of",
        "got list",
    ),
}


@pytest.mark.parametrize("name", EVERY_LIBRARY)
@each_library
def test_errors_in_every_library(library, name):
    call, exception, *fragments = EVERY_LIBRARY[name]
    assert_raises(lambda: call(zeros_of(library)), exception, *fragments)


N, T = zeros_of("numpy"), zeros_of("torch")
BIG_ENDIAN = np.zeros((2, 3), ">f4")
MASKED = np.ma.masked_array(np.ones((2, 5), np.float32), mask=np.eye(2, 5))
MATRIX = np.ones((2, 5), np.float32).view(np.matrix)


def meta(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype, device="meta")


def backward(grad_output=None, **options):
    return attention_backward(
        N(2, 5), N(3, 5), N(3, 7), N(2, 7) if grad_output is None else grad_output, **options
    )


ONE_LIBRARY = {
    "kinds of query and key": (
        lambda: attention(N(2, 5), T(3, 5), N(3, 7)),
        TypeError,
        "query and key must both be NumPy arrays or both torch tensors",
        "got numpy and torch",
        "torch.from_numpy",
    ),
    "kinds of query and value": (
        lambda: attention(T(2, 5), T(3, 5), N(3, 7)),
        TypeError,
        "query and value must both",
        "torch and numpy",
    ),
    "kind of a mask": (
        lambda: attend(T, N(2, 3, dtype="bool")),
        TypeError,
        "query and attn_mask must both",
        "torch and numpy",
    ),
    "kind of a mask to apply": (
        lambda: mask_scores(N(2, 3), T(2, 3)),
        TypeError,
        "scores and attn_mask must both",
        "numpy and torch",
    ),
    "kind of weights": (
        lambda: av_product(N(2, 3), T(3, 5)),
        TypeError,
        "weights and value must both",
    ),
    "devices of query and key": (
        lambda: attention(T(2, 5), meta(3, 5), T(3, 7)),
        ValueError,
        "query and key must be on the same device",
        "got cpu and meta",
    ),
    "devices of query and value": (
        lambda: attention(meta(2, 5), meta(3, 5), T(3, 7)),
        ValueError,
        "query and value must",
        "meta and cpu",
    ),
    "device of a mask": (
        lambda: attend(T, meta(2, 3, dtype=torch.bool)),
        ValueError,
        "query and attn_mask must",
        "cpu and meta",
    ),
    "device of a mask to apply": (
        lambda: mask_scores(meta(2, 3), T(2, 3)),
        ValueError,
        "scores and attn_mask must",
        "meta and cpu",
    ),
    "device of weights": (
        lambda: av_product(meta(2, 3), T(3, 5)),
        ValueError,
        "weights and value must",
        "meta",
    ),
    "bfloat16 and float32": (
        lambda: raw_scores(T(2, 5, dtype="bfloat16"), T(3, 5)),
        TypeError,
        "same dtype",
        "bfloat16 and float32",
    ),
    "long double": (
        lambda: (
            softmax(np.zeros(3, np.longdouble))
            if np.longdouble != np.float64
            else softmax(np.zeros(3, "M8[s]"))
        ),
        TypeError,
        "scores must have a floating dtype",
    ),
    "objects": (
        lambda: softmax(np.zeros(3, object)),
        TypeError,
        "scores must have a floating dtype",
        "got object",
    ),
    "words": (
        lambda: softmax(np.array(["a"])),
        TypeError,
        "scores must have a floating dtype",
        "got <U1",
    ),
    "another byte order": (
        lambda: attention(BIG_ENDIAN, BIG_ENDIAN, BIG_ENDIAN),
        TypeError,
        "query must have a floating dtype",
    ),
    "eight bits": (
        lambda: softmax(torch.zeros(3).to(torch.float8_e5m2)),
        TypeError,
        "floating dtype",
        "got float8_e5m2",
    ),
    "a masked array": (
        lambda: attention(N(2, 5), MASKED, N(2, 7)),
        TypeError,
        "key must be a plain NumPy array",
        "attn_mask hides keys",
        "got MaskedArray",
    ),
    "a masked array of scores": (
        lambda: softmax(MASKED),
        TypeError,
        "scores must be a plain",
        "got MaskedArray",
    ),
    "a masked array as a mask": (
        lambda: mask_scores(N(2, 5), MASKED > 0),
        TypeError,
        "attn_mask must be a plain",
        "got MaskedArray",
    ),
    "a masked array of lengths": (
        lambda: padding_mask(np.ma.array([1, 2], mask=[0, 1]), 3),
        TypeError,
        "lengths must be a plain",
        "MaskedArray",
    ),
    "a matrix": (
        lambda: softmax(MATRIX),
        TypeError,
        "scores must be a plain NumPy array (np.asarray",
        "got matrix",
    ),
    "matrices": (
        lambda: attention(MATRIX, MATRIX, MATRIX),
        TypeError,
        "query must be a plain",
        "got matrix",
    ),
    "a matrix as a log-sum-exp": (
        lambda: merge_partials(N(2, 5), MATRIX, N(2, 5), MATRIX),
        TypeError,
        "lse_a must be a plain",
        "got matrix",
    ),
    "a sparse tensor": (
        lambda: attention(T(2, 5).to_sparse(), T(3, 5), T(3, 7)),
        TypeError,
        "query must be a dense torch tensor",
        "to_dense()",
        "got torch.sparse_coo",
    ),
    "a sparse mask": (
        lambda: attend(T, T(2, 3).to_sparse()),
        TypeError,
        "attn_mask must be a dense",
        "got torch.sparse_coo",
    ),
    "a nested tensor": (
        lambda: softmax(torch.nested.nested_tensor([T(2, 3), T(4, 3)])),
        TypeError,
        "scores must be a dense",
        "nested",
    ),
    "a masked tensor": (
        lambda: softmax(torch.masked.masked_tensor(T(2, 3), T(2, 3, dtype="bool"))),
        TypeError,
        "got MaskedTensor",
    ),
    "scale of a tensor": (
        lambda: attend(T, scale=torch.ones(())),
        TypeError,
        "scale must be None",
        "got Tensor",
    ),
    # the backward pass
    "backward of tensors": (
        lambda: attention_backward(T(2, 5), T(3, 5), T(3, 7), T(2, 7)),
        TypeError,
        "attention_backward takes NumPy arrays",
        "torch tensors",
        "autograd",
    ),
    "grad_output of another shape": (
        lambda: backward(N(7, 2)),
        ValueError,
        "grad_output must have the shape of the output, (2, 7)",
        "got (7, 2)",
    ),
    "grad_output that could broadcast": (
        lambda: backward(N(1, 7)),
        ValueError,
        "grad_output must have the shape of the output, (2, 7)",
        "got (1, 7)",
    ),
    "grad_output without the batch": (
        lambda: attention_backward(N(3, 2, 5), N(3, 5), N(3, 7), N(2, 7)),
        ValueError,
        "(3, 2, 7)",
        "got (2, 7)",
    ),
    "grad_output of another dtype": (
        lambda: backward(N(2, 7, dtype="float64")),
        TypeError,
        "query and grad_output must have the same dtype",
        "float32 and float64",
    ),
    "grad_output of torch": (
        lambda: backward(T(2, 7)),
        TypeError,
        "query and grad_output must both",
        "torch",
    ),
    "grad_output a list": (
        lambda: backward([[0.0]]),
        TypeError,
        "grad_output must be a NumPy array",
        "got list",
    ),
    "backward, d_k": (
        lambda: attention_backward(N(2, 5), N(3, 3), N(3, 7), N(2, 7)),
        ValueError,
        "query and key",
        "5 and 3",
    ),
    "backward, mask": (
        lambda: backward(attn_mask=N(3, 2)),
        ValueError,
        "attn_mask must broadcast",
        "got (3, 2)",
    ),
    "backward, window": (lambda: backward(window=(0, -2)), ValueError, "right of window", "got -2"),
    "backward, flag": (
        lambda: backward(is_causal=0),
        TypeError,
        "is_causal must be True or False",
        "got int",
    ),
    "backward, softcap": (lambda: backward(softcap=0), ValueError, "softcap must be", "got 0"),
    "backward, scale": (lambda: backward(scale="1"), TypeError, "scale must be", "got str"),
    # masks
    "sizes of a fraction": (
        lambda: causal_mask(2.0, 3),
        TypeError,
        "n_q must be a whole number",
        "got float",
    ),
    "size None": (
        lambda: window_mask(2, None, 0, 0),
        TypeError,
        "n_k must be a whole number",
        "got NoneType",
    ),
    "size True": (
        lambda: causal_mask(2, True),
        TypeError,
        "n_k must be a whole number",
        "got bool",
    ),
    "sizes below 0": (lambda: causal_mask(2, -1), ValueError, "n_k must be 0 or more", "got -1"),
    "left below 0": (
        lambda: window_mask(2, 3, -1, 0),
        ValueError,
        "left must be 0 or more",
        "got -1",
    ),
    "right of a fraction": (
        lambda: window_mask(2, 3, 0, 0.5),
        TypeError,
        "right must be a whole number",
        "float",
    ),
    "right beyond int64": (
        lambda: window_mask(2, 3, 0, 2**63 - 1),
        ValueError,
        "right must be at most",
    ),
    "n_k of padding": (
        lambda: padding_mask([1], 1.5),
        TypeError,
        "n_k must be a whole number",
        "got float",
    ),
    "n_k of padding below 0": (
        lambda: padding_mask([], -2),
        ValueError,
        "n_k must be 0 or more",
        "got -2",
    ),
    "sizes of 2^62": (
        lambda: causal_mask(2**62, 2**62),
        ValueError,
        "n_q times n_k",
        "at most 2**40",
        f"{2**62}",
    ),
    "sizes of 2^62 and 0": (
        lambda: window_mask(0, 2**62, 1, 1),
        ValueError,
        "n_q times n_k, 0 counted as 1",
        f"{2**62}",
    ),
    "n_k of padding of 2^62": (
        lambda: padding_mask([1], 2**62),
        ValueError,
        "batch times n_k",
        "at most 2**40",
    ),
    "rows of lengths": (
        lambda: padding_mask([[1], [2, 3]], 3),
        ValueError,
        "lengths must be one row (batch,) of whole numbers",
        "got list",
    ),
    "lengths that need a gradient": (
        lambda: padding_mask(torch.ones(2, requires_grad=True), 3),
        TypeError,
        "lengths must be one row",
        "got Tensor",
    ),
    "one length": (
        lambda: padding_mask(3, 3),
        ValueError,
        "lengths must have one axis (batch,)",
        "shape ()",
    ),
    "lengths of two axes": (
        lambda: padding_mask([[1, 2]], 3),
        ValueError,
        "one axis (batch,)",
        "shape (1, 2)",
    ),
    "lengths of fractions": (
        lambda: padding_mask([1.0], 3),
        TypeError,
        "lengths must be whole numbers",
        "float64",
    ),
    "lengths of booleans": (
        lambda: padding_mask([True], 3),
        TypeError,
        "lengths must be whole numbers",
        "got bool",
    ),
    "lengths of words": (
        lambda: padding_mask(["3"], 3),
        TypeError,
        "lengths must be whole numbers",
    ),
    "a length above n_k": (
        lambda: padding_mask([0, 4], 3),
        ValueError,
        "lengths must be from 0 to n_k = 3",
        "got 0 to 4",
    ),
    "a length below 0": (
        lambda: padding_mask([-1, 2], 3),
        ValueError,
        "lengths must be from 0 to n_k = 3",
        "got -1 to 2",
    ),
}


@pytest.mark.parametrize("name", ONE_LIBRARY)
def test_errors(name):
    call, exception, *fragments = ONE_LIBRARY[name]
    assert_raises(call, exception, *fragments)


ACCEPTED = {
    "scale of NumPy": lambda x: attend(x, scale=np.float32(2)),
    "scale a fraction": lambda x: attend(x, scale=Fraction(1, 3), softcap=Fraction(1, 3)),
    "scale of half precision, computed in float32": lambda x: attention(
        *[x(2, 5, dtype="float16")] * 3, scale=1e30, softcap=1e38
    ),
    "scale that float64 holds": lambda x: attention(
        *[x(2, 5, dtype="float64")] * 3, scale=1e300, softcap=1e-300
    ),
    "scale a whole number": lambda x: attend(x, scale=np.int64(2), softcap=3),
    "flags of NumPy": lambda x: attend(x, is_causal=np.True_, return_lse=np.False_),
    "a window": lambda x: attend(x, window=[None, np.uint8(1)]),
    "a window without limits": lambda x: attend(x, window=(None, None), is_causal=True),
    "impl dense": lambda x: attend(x, impl="dense"),
    "impl online": lambda x: attend(x, impl="online"),
    "enable_gqa with as many heads": lambda x: attention(
        x(6, 2, 5), x(6, 3, 5), x(6, 3, 7), enable_gqa=True
    ),
    "mask of no axes": lambda x: attend(x, x(dtype="bool")),
    "mask where nothing is": lambda x: attention(x(0, 5), x(0, 5), x(0, 7), x(1, 1)),
}


@pytest.mark.parametrize("name", ACCEPTED)
@each_library
def test_what_is_accepted(library, name):
    zeros = zeros_of(library)
    assert type(ACCEPTED[name](zeros)) is type(zeros(1))


def test_a_wrong_call_does_no_work():
    """Shapes that would take terabytes are refused at once."""
    wide = np.broadcast_to(np.float32(0), (10**6, 10**6, 5))
    assert_raises(lambda: attention(wide, wide, wide, scale=math.nan), ValueError, "scale")
    assert_raises(lambda: attention(wide, wide, wide, return_lse=1), TypeError, "return_lse")
