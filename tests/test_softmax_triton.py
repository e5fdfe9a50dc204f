"""Row softmax as Triton kernels: in Triton's interpreter on the CPU, on the device where there is
one.
"""

from unittest.mock import patch

import numpy as np
import pytest
import torch
from helpers import (
    TRITON_DTYPES,
    assert_close,
    each_torch,
    each_triton,
    no_warnings,
    normal,
    on_cuda,
    poisoned,
    surrounded,
    to_float64,
    to_library,
)

from attnlib import softmax

triton = pytest.importorskip("triton")
from attnlib import softmax_triton, tiles_triton  # noqa: E402

pytestmark = no_warnings
each_dtype = pytest.mark.parametrize("dtype", TRITON_DTYPES)


@pytest.fixture(params=["whole rows", "blocks"])
def each_form(request, monkeypatch):
    """Whole rows in registers; or blocks of 8 numbers, which any row of the tests has several
    of.
    """
    if request.param == "blocks":
        monkeypatch.setattr(softmax_triton, "LONGEST", {"forward": 0, "backward": 0})
        monkeypatch.setattr(softmax_triton, "BLOCK_OF_LONG_ROWS", 8)


def exact(scores):
    highest = scores.max(-1, keepdims=True, initial=-np.inf)
    exps = np.exp(scores - np.where(highest == -np.inf, 0, highest))
    total = exps.sum(-1, keepdims=True)
    return exps / np.where(total == 0, 1, total)


def exact_backward(weights, grad):
    return weights * (grad - (weights * grad).sum(-1, keepdims=True))


def assert_right(scores, axis=-1):
    """Weights and gradient as in float64, of a tensor of scores as it lies in memory."""
    wide = np.moveaxis(to_float64(scores), axis, -1)
    grad = normal(*wide.shape, seed=9)
    scores = scores.detach().requires_grad_()
    weights = softmax(scores, axis, impl="triton")
    assert_close(weights, np.moveaxis(exact(wide), -1, axis), like=scores)
    grad = to_library(
        "torch" if scores.device.type == "cpu" else "cuda",
        np.moveaxis(grad, -1, axis),
        str(scores.dtype).removeprefix("torch."),
    )
    (got,) = torch.autograd.grad(weights, scores, grad)
    expected = exact_backward(exact(wide), np.moveaxis(to_float64(grad), axis, -1))
    assert_close(got, np.moveaxis(expected, -1, axis), like=scores)


# --- results ---


@pytest.mark.parametrize(
    "shape", [(7, 1), (1, 2), (5, 3), (3, 16), (2, 17), (5, 61), (2, 3, 2, 11), (13,)], ids=str
)
@each_dtype
@each_triton
def test_short_rows(library, dtype, each_form, shape):
    assert_right(to_library(library, 3 * normal(*shape), dtype))


@pytest.mark.parametrize("n", [2047, 16411, 32771, *on_cuda(65537, 131072, 262144)])
@each_triton
def test_long_rows(library, n):
    scores = normal(3, n)
    scores[0, -1] = scores[1, 0] = 20  # the maximum in the last block, and in the first
    for dtype in TRITON_DTYPES:
        assert_right(to_library(library, scores, dtype))


@pytest.mark.parametrize("axis", [0, 1, -2])
@each_triton
def test_every_axis(library, each_form, axis):
    assert_right(to_library(library, normal(3, 19, 2), "float32"), axis)


LAYOUTS = {
    "every other": lambda scores: scores.repeat_interleave(2, -1)[..., ::2],
    "transposed": lambda scores: scores.mT.contiguous().mT,
    "axes in another order": (
        lambda scores: scores.permute(1, 3, 0, 2).contiguous().permute(2, 0, 3, 1)
    ),
    "broadcast": lambda scores: scores[:1, :, :1].expand(3, -1, 4, -1),
    "rows apart": lambda scores: torch.nn.functional.pad(scores, (3, 4))[..., 3:-4],
    "no number repeated, three axes apart": lambda scores: torch.nn.functional.pad(
        scores, (0, 1, 0, 1, 0, 1)
    )[:, :-1, :-1, :-1],
}


@pytest.mark.parametrize("name", LAYOUTS)
@each_triton
def test_layouts_of_memory(library, each_form, name):
    assert_right(LAYOUTS[name](to_library(library, normal(3, 2, 3, 17), "float32")))


@each_triton
def test_more_axes_than_the_kernels_count_along(library, each_form):
    assert_right(to_library(library, normal(3, 5, 3, 5, 17), "float32")[::2, ::2, ::2, ::2])


@each_triton
def test_offsets_beyond_31_bits(library, each_form):
    far = torch.empty(
        2**31 + 2**12, dtype=torch.float16, device="cuda" if library == "cuda" else "cpu"
    )  # hardly touched
    scores = far.as_strided((2, 17), (2**31, 1))
    scores.copy_(to_library(library, normal(2, 17)))
    assert_right(scores)


@pytest.mark.parametrize(
    "numbers, expected",
    [
        ([-np.inf, -np.inf, -np.inf], [0, 0, 0]),
        ([-np.inf, 0, 0], [0, 0.5, 0.5]),
        ([0, 0, -np.inf], [0.5, 0.5, 0]),
        ([np.inf, 0, 0], [np.nan] * 3),
        ([0, np.nan, 0], [np.nan] * 3),
        ([-np.inf, np.inf, -np.inf], [np.nan] * 3),
        ([-3e38, -3e38, -3e38], [1 / 3] * 3),
        ([3e38, 3e38, -3e38], [0.5, 0.5, 0]),
        ([np.nan] * 3, [np.nan] * 3),
    ],
)
@each_triton
def test_what_is_no_number_stays_in_its_row(library, each_form, numbers, expected):
    scores = np.zeros((3, 12))  # several blocks
    scores[1], scores[1, [0, 5, 11]] = -np.inf, numbers
    got = to_float64(softmax(to_library(library, scores, "float32"), impl="triton"))
    np.testing.assert_allclose(got[1, [0, 5, 11]], expected, rtol=1e-6)
    np.testing.assert_allclose(got[[0, 2]], 1 / 12, rtol=1e-6)


@each_dtype
@each_triton
def test_a_dead_row_and_an_inf_gradient(library, dtype, each_form):
    scores = np.zeros((3, 11))
    scores[1], scores[2, 4] = -np.inf, -np.inf
    scores = to_library(library, scores, dtype).requires_grad_()
    grad = np.ones((3, 11))
    grad[2, 4] = np.inf  # its weight is 0
    (got,) = torch.autograd.grad(
        softmax(scores, impl="triton"), scores, to_library(library, grad, dtype)
    )
    assert np.isfinite(to_float64(got)).all() and (to_float64(got)[1] == 0).all()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)], ids=str)
@each_triton
def test_sizes_of_0(library, shape):
    scores = to_library(library, np.zeros(shape), "float32").requires_grad_()
    weights = softmax(scores, impl="triton")
    assert weights.shape == shape
    assert torch.autograd.grad(weights.sum(), scores)[0].shape == shape


@pytest.mark.parametrize("dtype", TRITON_DTYPES[:2])
@each_triton
def test_at_most_twice_the_error_of_torch(library, dtype):
    scores = to_library(library, 5 * normal(11, 997), dtype)
    errors = [
        np.sqrt(np.mean((to_float64(weights) - exact(to_float64(scores))) ** 2))
        for weights in (softmax(scores, impl="triton"), torch.softmax(scores, -1))
    ]
    # The interpreter cuts to bfloat16 where a GPU rounds: that alone is twice the error.
    assert errors[0] <= 2 * errors[1] * (1.2 if dtype == "bfloat16" else 1)


# --- memory ---


@pytest.mark.parametrize("name", ["rows apart", "transposed", "broadcast"])
@each_dtype
@each_triton
def test_nothing_outside_the_rows_is_read_or_written(library, dtype, each_form, name):
    scores = LAYOUTS[name](to_library(library, normal(3, 2, 3, 17), dtype))
    weights, grad = torch.softmax(scores, -1), torch.ones_like(scores)
    with surrounded():
        got = softmax_triton.forward._init_fn(poisoned(scores))
        grad = softmax_triton.backward._init_fn(poisoned(weights), poisoned(grad))
    assert_close(got, exact(to_float64(scores)), like=scores)
    assert torch.isfinite(grad).all()


@each_triton
def test_the_same_bits_every_time(library, each_form):
    def once():
        weights = softmax(scores, impl="triton")
        return weights, *torch.autograd.grad((weights**2).sum(), scores)

    scores = to_library(library, normal(5, 101), "float16").requires_grad_()
    first = once()
    for _ in range(100 if library == "cuda" else 2):
        assert all(map(torch.equal, once(), first))


# --- around the kernels ---


@each_triton
def test_under_torch_compile(library, each_form):
    scores = to_library(library, normal(5, 19), "float32").requires_grad_()
    # On the CPU without inductor, which would want a C++ compiler.
    compiled = torch.compile(
        lambda scores: (softmax(scores, impl="triton") ** 2).sum(),
        fullgraph=True,
        backend="inductor" if library == "cuda" else "aot_eager",
    )
    weights = exact(to_float64(scores))
    (grad,) = torch.autograd.grad(compiled(scores), scores)
    assert_close(grad, exact_backward(weights, 2 * weights), like=scores)


@each_triton
def test_the_operators_are_registered_as_torch_wants_them(library):
    scores = to_library(library, normal(3, 5), "float32").requires_grad_()
    torch.library.opcheck(softmax_triton.forward, (scores,))


def test_merged_axes_lie_as_before():
    for shape in [(2, 3, 5), (1, 4, 1, 6), (3,), ()]:
        for tensor in (
            torch.zeros(shape),
            torch.zeros(shape).mT if len(shape) > 1 else torch.zeros(shape),
        ):
            merged, (strides,) = tiles_triton.merge_axes(tensor.shape, [tensor.stride()])
            view = tensor.as_strided(merged, strides)
            assert view.numel() == tensor.numel() and len(merged) <= max(1, tensor.ndim)
    padded = torch.zeros(4, 6, 7)[:, :5]
    assert tiles_triton.merge_axes((4, 5, 7), [padded.stride()])[0] == (4, 35)
    assert tiles_triton.merge_axes(
        (4, 5, 7), [padded.stride(), torch.zeros(4, 5, 7).mT.mT.stride()]
    )[0] == (4, 35)


REFUSED = {
    "an array": (np.zeros(3), "takes torch tensors; got NumPy arrays"),
    "float64": (
        torch.zeros(3, dtype=torch.float64),
        "float16, bfloat16 and float32, .* got scores of float64",
    ),
    "another device": (torch.zeros(3, device="meta"), "takes CUDA tensors, .* got scores on meta"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_taken_is_said(name):
    scores, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence):
        softmax(scores, impl="triton")


def test_an_unknown_impl_is_said():
    with pytest.raises(
        ValueError, match="impl must be None or one of 'dense', 'triton'; got 'online'"
    ):
        softmax(np.zeros(3), impl="online")


def test_an_old_device_is_said(monkeypatch):
    monkeypatch.setattr(tiles_triton, "INTERPRETED", False)
    for capability, dtype, sentence in (
        ((7, 0), torch.float16, "got scores of float16 on 7.0"),
        ((7, 5), torch.bfloat16, "for bfloat16 8.0 .*got scores of bfloat16 on 7.5"),
    ):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
        scores = type("OnCuda", (), {"dtype": dtype, "device": torch.device("cuda", 0)})()
        with pytest.raises(AssertionError, match=sentence):
            raise AssertionError(tiles_triton.unsupported(scores))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    assert (
        tiles_triton.unsupported(
            type("OnCuda", (), {"dtype": torch.float16, "device": torch.device("cuda")})()
        )
        is None
    )


def test_without_triton_the_sentence_names_it():
    from attnlib import api

    with (
        patch.object(api, "HAS_TRITON", False),
        pytest.raises(ValueError, match="needs the package triton"),
    ):
        softmax(torch.zeros(3), impl="triton")


@each_torch
def test_impl_none_takes_the_kernels_on_cuda_alone(library):
    scores = to_library(library, normal(3, 5), "float32")
    with patch.object(softmax_triton, "softmax", side_effect=softmax_triton.softmax) as called:
        softmax(scores)
        softmax(scores.double())
    assert called.call_count == (library == "cuda")
