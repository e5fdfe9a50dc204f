"""What the tests of attnlib share: libraries, sizes, arrays, tolerances, comparison.

Every size is a different prime, so that a transposition fails.
"""

import contextlib
import importlib.util
import itertools

import numpy as np
import pytest
import torch
from hypothesis import settings

from attnlib import attention, attention_backward

BATCH, HEADS, N_Q, N_K, D_K, D_V = 2, 3, 5, 7, 11, 13

# rtol and atol against a float64 oracle, for numbers of the order of 1.
TOLERANCES = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
FINITE_DIFFERENCES = 1e-7

HAS_DEVICE = torch.cuda.is_available()


def on_cuda(*cases):
    """Cases for a device, if there is one: otherwise none are made, so that real skips stay
    visible.
    """
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.gpu)
        for case in cases
        if HAS_DEVICE
    ]


each_library = pytest.mark.parametrize("library", ["numpy", "torch", *on_cuda("cuda")])
# A fork's address, and the environment of its continuous integration
PUBLIC = "https://github.com/someone/a-book"
FORKS_CI = {
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "someone/a-book",
    "GITHUB_SHA": "0123abc",
}

# For modules whose tests apply to every implementation (see conftest.py), with the exceptions.
every_impl = pytest.mark.usefixtures("each_impl")
# The kernels round the weights to half precision before they meet the values.
weights_in_float32 = pytest.mark.parametrize(
    "each_impl", ["dense", "online", "online in small blocks"], indirect=True
)
dense_only = pytest.mark.parametrize("each_impl", ["dense"], indirect=True)
each_torch = pytest.mark.parametrize("library", ["torch", *on_cuda("cuda")])
# Triton's kernels run on a CUDA device or, if there is none, in its interpreter.
TRITON_DTYPES = ("float16", "bfloat16", "float32")
HAS_INTERPRETER = importlib.util.find_spec("triton") is not None and not HAS_DEVICE
each_triton = pytest.mark.parametrize("library", on_cuda("cuda") or ["torch"])


def each_library_and(*dtypes):
    """Every library with every one of these dtypes that it has: NumPy has no bfloat16."""
    pairs = [(library, dtype) for dtype in dtypes for library in ("numpy", "torch")]
    pairs.remove(("numpy", "bfloat16"))
    return pytest.mark.parametrize(
        "library, dtype", pairs + on_cuda(*(("cuda", dtype) for dtype in dtypes))
    )


each_library_and_dtype = each_library_and(*TOLERANCES)
# But Triton's interpreter, which is NumPy, warns about inf - inf and overflowing products, which
# are intended.
no_warnings = pytest.mark.filterwarnings(
    "error", "ignore::RuntimeWarning:triton", "ignore:Guards may run slower on Python 3.13.0"
)  # torch.compile's
bounded = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def draws(query=(N_Q, D_K), key=(N_K, D_K), value=(N_K, D_V)):
    """Query, key and value of these shapes, from the normal distribution."""
    return normal(*query, seed=1), normal(*key, seed=2), normal(*value, seed=3)


def to_library(library, array, dtype=None):
    """The NumPy array, or a tensor; a floating one in this dtype."""
    if library == "numpy":
        return np.array(array, dtype=None if array.dtype == bool else dtype)
    device = "cuda" if library == "cuda" else "cpu"
    tensor = torch.tensor(array, device=device)
    return tensor if dtype is None or array.dtype == bool else tensor.to(getattr(torch, dtype))


def to_float64(array):
    """A NumPy array of float64, whatever is given; a boolean mask stays boolean."""
    if isinstance(array, torch.Tensor):
        array = array.detach().cpu()
        array = (array if array.dtype == torch.bool else array.double()).numpy()
    return array if array.dtype == bool else np.asarray(array, dtype=np.float64)


def in_library(library, arrays, mask=None, dtype="float64"):
    """A problem's arrays and its mask, or None, in a library and dtype."""
    arrays = [to_library(library, array, dtype) for array in arrays]
    return arrays, None if mask is None else to_library(library, mask, dtype)


def dtype_name(array):
    return str(array.dtype).removeprefix("torch.")


def assert_close(got, expected, like, dtype=None, tolerance=None):
    """Values and shape as expected; kind, device and (unless given) dtype as `like`."""
    dtype = dtype or dtype_name(like)
    tolerance = tolerance or TOLERANCES[dtype]
    assert type(got) is type(like)
    assert dtype_name(got) == dtype
    assert got.device == like.device
    assert tuple(got.shape) == np.shape(expected)
    np.testing.assert_allclose(
        to_float64(got), to_float64(expected), rtol=tolerance, atol=tolerance
    )


def mask_shapes(shape):
    """Every shape that broadcasts to this one: (), (n_k,), (1,), (n_q, n_k), (1, n_k), ..."""
    return [
        picked
        for rank in range(len(shape) + 1)
        for picked in itertools.product(*[(1, size) for size in shape[len(shape) - rank :]])
    ]


def random_mask(kind, shape, seed=0):
    """Boolean, two thirds True; or floating, with -inf instead of False."""
    may_attend = np.array(np.random.default_rng(seed).random(shape) < 2 / 3)
    if kind == "boolean":
        return may_attend
    return np.where(may_attend, normal(*shape, seed=4), -np.inf)


def gradients(query, key, value, grad_output, attn_mask=None, **options):
    """The gradients of sum(grad_output * output), by attention_backward or by autograd."""
    if isinstance(query, np.ndarray):
        return attention_backward(query, key, value, grad_output, attn_mask, **options)
    inputs = [array.detach().requires_grad_() for array in (query, key, value)]
    return torch.autograd.grad(attention(*inputs, attn_mask, **options), inputs, grad_output)


# --- memory around tensors ---

MARGIN = 64  # numbers before and after a tensor


def poisoned(tensor):
    """The same numbers and strides, with NaN (True in a mask) before, between and after them."""
    span = (
        sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) + 1
        if tensor.numel()
        else 0
    )
    buffer = torch.full(
        (span + 2 * MARGIN,),
        True if tensor.dtype == torch.bool else torch.nan,
        dtype=tensor.dtype,
        device=tensor.device,
    )
    copy = buffer.as_strided(tensor.shape, tensor.stride(), MARGIN)
    copy.copy_(tensor) if 0 not in tensor.stride() else buffer.narrow(0, MARGIN, span).fill_(0)
    if 0 in tensor.stride():  # axes that were broadcast are written once
        once = tuple(slice(None) if stride else slice(0, 1) for stride in tensor.stride())
        copy[once].copy_(tensor[once])
    return copy


@contextlib.contextmanager
def surrounded():
    """What torch.empty gives inside the block has NaN around it, before and afterwards.

    In Triton's interpreter a kernel that would read or write outside its tensors raises IndexError.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    from attncourse.exercises.families.triton_launches import kernels_watched

    buffers = []

    class Surround(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if "empty" in function.name() and result.is_floating_point():
                result = poisoned(result.fill_(torch.nan))
                buffers.append(result)
            return result

    with Surround(), kernels_watched():
        yield
    for tensor in buffers:
        whole = tensor.as_strided(
            (tensor.untyped_storage().nbytes() // tensor.element_size(),), (1,), 0
        )
        assert torch.isnan(whole[:MARGIN]).all() and torch.isnan(whole[-MARGIN:]).all()
