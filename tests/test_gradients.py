"""Gradients, NumPy's by formula and torch's by autograd, against finite differences and each
other.
"""

import numpy as np
import pytest
import reference
import torch
from cases import CASES, problem
from helpers import (
    BATCH,
    D_K,
    D_V,
    FINITE_DIFFERENCES,
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
    gradients,
    in_library,
    no_warnings,
    normal,
    random_mask,
    to_float64,
    to_library,
)
from hypothesis import given
from hypothesis import strategies as st

from attnlib import (
    attention,
    attention_backward,
    log_softmax,
    logsumexp,
    mask_scores,
    softmax,
    window_mask,
)

pytestmark = [no_warnings, every_impl]
WIDE = tuple((BATCH, HEADS, *shape) for shape in ((N_Q, D_K), (N_K, D_K), (N_K, D_V)))
SMALL = tuple((2, *shape) for shape in ((3, 1), (2, 1), (2, 2)))
SCORES = (BATCH, HEADS, N_Q, N_K)


def random_like_output(arrays, mask, options):
    return normal(*reference.attention(*arrays, mask, **options)[0].shape, seed=5)


# --- first derivatives ---


# Slopes along a direction need a smooth function: scores of 1e4 jump, scores of 1e-30 stand still.
@pytest.mark.parametrize("name", [name for name in CASES if name != "huge scores"])
@each_library
def test_every_case_by_finite_differences(library, name):
    arrays, mask, options = problem(name)
    grad_output = random_like_output(arrays, mask, options)
    inputs, wide_mask = in_library(library, arrays, mask)
    grads = gradients(*inputs, to_library(library, grad_output), wide_mask, **options)
    for index, grad in enumerate(grads):
        direction = normal(*arrays[index].shape, seed=6)
        slope = reference.slope(
            lambda *moved: (reference.attention(*moved, mask, **options)[0] * grad_output).sum(),
            arrays,
            index,
            direction,
        )
        assert np.isclose(
            (to_float64(grad) * direction).sum(),
            slope,
            rtol=FINITE_DIFFERENCES,
            atol=FINITE_DIFFERENCES,
        )
        assert_close(grad, to_float64(grad), like=inputs[index])


@each_library
def test_entry_by_entry(library):
    arrays, mask, options = problem("softcap, mask and causal")
    grad_output = random_like_output(arrays, mask, options)
    inputs, wide_mask = in_library(library, arrays, mask)
    grads = gradients(*inputs, to_library(library, grad_output), wide_mask, **options)
    for index, array in enumerate(arrays):
        expected = [
            reference.slope(
                lambda *moved: (
                    reference.attention(*moved, mask, **options)[0] * grad_output
                ).sum(),
                arrays,
                index,
                one.reshape(array.shape),
            )
            for one in np.eye(array.size)
        ]
        assert_close(
            grads[index],
            np.reshape(expected, array.shape),
            like=inputs[index],
            tolerance=FINITE_DIFFERENCES,
        )


@pytest.mark.parametrize("name", CASES)
@each_torch
def test_every_case_as_autograd_through_plain_torch(library, name):
    arrays, mask, options = problem(name)
    grad_output = random_like_output(arrays, mask, options)
    inputs, tensor_mask = in_library(library, arrays, mask)
    inputs = [tensor.requires_grad_() for tensor in inputs]
    plain = torch.autograd.grad(
        plain_attention(*inputs, tensor_mask, **options), inputs, to_library(library, grad_output)
    )
    for grad, formula, theirs, tensor, array in zip(
        gradients(*inputs, to_library(library, grad_output), tensor_mask, **options),
        attention_backward(*arrays, grad_output, mask, **options),
        plain,
        inputs,
        arrays,
    ):
        assert_close(grad, to_float64(theirs), like=tensor, tolerance=1e-10)
        assert_close(formula, to_float64(theirs), like=array, tolerance=1e-10)


def plain_attention(
    query,
    key,
    value,
    attn_mask=None,
    is_causal=False,
    window=None,
    scale=None,
    softcap=None,
    enable_gqa=False,
):
    """torch's own softmax; empty rows are cut out after it."""
    if enable_gqa:
        key, value = [
            (
                array[
                    ..., torch.arange(query.shape[-3]) // (query.shape[-3] // array.shape[-3]), :, :
                ]
                if query.shape[-3]
                else array[..., :0, :, :]
            )
            for array in (key, value)
        ]
    scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else float(scale))
    scores = scores if softcap is None else torch.tanh(scores / float(softcap)) * float(softcap)
    allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device)
    allowed = allowed.tril() if is_causal else allowed
    if window is not None:
        allowed = allowed & torch.from_numpy(window_mask(*scores.shape[-2:], *window)).to(
            query.device
        )
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        allowed = allowed & attn_mask
    elif attn_mask is not None:
        allowed = allowed & (attn_mask > -torch.inf)
        scores = scores + torch.where(attn_mask > -torch.inf, attn_mask, 0)
    alive = allowed.any(-1, keepdim=True)
    weights = torch.softmax(torch.where(allowed | ~alive, scores, -torch.inf), dim=-1)
    return torch.where(alive, weights, 0) @ value


@pytest.mark.parametrize(
    "name",
    [
        "no leading axes",
        "causal, more keys",
        "causal, more queries",
        "scale",
        "two leading axes",
        "grouped heads",
    ],
)
@each_torch
def test_backward_as_of_scaled_dot_product_attention(library, name):
    arrays, mask, options = problem(name)
    mask = (
        None if mask is None else mask | (np.arange(N_K) == 2)
    )  # no empty rows: theirs depend on the version
    grad_output = random_like_output(arrays, mask, options)
    inputs, tensor_mask = in_library(library, arrays, mask)
    inputs = [tensor.requires_grad_() for tensor in inputs]
    theirs = torch.nn.functional.scaled_dot_product_attention(*inputs, tensor_mask, **options)
    theirs = torch.autograd.grad(theirs, inputs, to_library(library, grad_output))
    for formula, expected, array in zip(
        attention_backward(*arrays, grad_output, mask, **options), theirs, arrays
    ):
        assert_close(formula, to_float64(expected), like=array)


@st.composite
def small_problems(draw):
    n_q, n_k, d_k, d_v, batch = [draw(st.integers(1, 4)) for _ in range(5)]
    lead = [draw(st.sampled_from([(), (1,), (batch,)])) for _ in range(3)]
    arrays = draws((*lead[0], n_q, d_k), (*lead[1], n_k, d_k), (*lead[2], n_k, d_v))
    mask = draw(
        st.sampled_from([None, random_mask("boolean", (n_q, n_k)), random_mask("floating", (n_k,))])
    )
    return (
        arrays,
        mask,
        {
            "is_causal": draw(st.booleans()),
            "scale": draw(st.floats(-3, 3)),
            "softcap": draw(st.sampled_from([None, 0.5, 30])),
        },
    )


@given(drawn=small_problems())
@bounded
def test_the_formula_is_what_autograd_finds(drawn):
    arrays, mask, options = drawn
    grad_output = random_like_output(arrays, mask, options)
    inputs, tensor_mask = in_library("torch", arrays, mask)
    by_autograd = gradients(*inputs, torch.from_numpy(grad_output), tensor_mask, **options)
    for formula, expected, array in zip(
        attention_backward(*arrays, grad_output, mask, **options), by_autograd, arrays
    ):
        assert_close(formula, to_float64(expected), like=array)


# --- empty rows and masked keys ---

EMPTY = {
    "boolean": np.arange(N_Q)[:, None] != 3,
    "floating": np.where(np.arange(N_Q)[:, None] != 3, 0, -np.inf),
}


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("softcap", [None, 0.5])
@each_library_and_dtype
def test_an_empty_row_has_gradient_zero(library, dtype, softcap, kind):
    arrays, mask = in_library(library, draws(*WIDE), EMPTY[kind], dtype)
    grad_output = to_library(library, normal(BATCH, HEADS, N_Q, D_V), dtype)
    grads = [to_float64(grad) for grad in gradients(*arrays, grad_output, mask, softcap=softcap)]
    assert all(np.isfinite(grad).all() for grad in grads)
    assert (grads[0][..., 3, :] == 0).all() and (grads[0][..., 2, :] != 0).all()


@each_library
def test_nobody_attends_to_anything(library):
    arrays, mask = in_library(library, draws(*WIDE), np.array(False))
    grads = gradients(*arrays, to_library(library, normal(BATCH, HEADS, N_Q, D_V)), mask)
    assert all((to_float64(grad) == 0).all() for grad in grads)


@pytest.mark.parametrize("softcap, scale", [(None, None), (0.5, None), (None, 0), (0.5, 0)])
@pytest.mark.parametrize("kind", ["boolean", "floating", "causal"])
@each_library_and_dtype
def test_a_huge_masked_key_and_value_leave_the_gradients_alone(
    library, dtype, kind, softcap, scale
):
    last = N_K - 1
    query, key, value = (
        draws()
    )  # ten times the query: products overflow; inf - inf and inf * scale are NaN
    (query, key, value), _ = in_library(library, (10 * query, key, value), dtype=dtype)
    grad_output = to_library(library, normal(N_Q, D_V), dtype)
    mask = {
        "boolean": np.arange(N_K) < last,
        "floating": np.where(np.arange(N_K) < last, 0, -np.inf),
    }.get(kind)
    mask = None if mask is None else to_library(library, mask, dtype)
    options = {"is_causal": kind == "causal", "softcap": softcap, "scale": scale}
    expected = gradients(query, key[:last], value[:last], grad_output, **options)
    key[last] = value[last] = torch.finfo(getattr(torch, dtype)).max
    key[last, ::2] *= -1
    for grad, kept, like in zip(
        gradients(query, key, value, grad_output, mask, **options), expected, (query, key, value)
    ):
        rows = np.zeros(
            (len(like) - len(kept), kept.shape[1])
        )  # the masked key's own gradient is 0
        assert_close(grad, np.concatenate([to_float64(kept), rows]), like=like)


# --- torch: twice differentiable, also with respect to the mask ---

CHECKED = {
    "plain": {},
    "causal": {"is_causal": True},
    "window": {"window": (1, 0)},
    "softcap": {"softcap": 0.5, "scale": 0.7},
    "log-sum-exp": {"is_causal": True, "return_lse": True},
}
MASKS = {
    "no mask": None,
    "boolean": np.array([[True, False], [False, False], [True, True]]),
    "floating": np.array([[0.3, -0.2], [-np.inf, -np.inf], [-np.inf, 0.1]]),
    "floating for each key": np.array([0.3, -0.2]),
}


def differentiable(library, mask, options, dtype="float64"):
    """attention as a function of the tensors that need gradients, a floating mask among them; and
    these.

    An empty row's log-sum-exp, -inf, counts as 0.
    """
    arrays, mask = in_library(library, draws(*SMALL), mask, dtype)
    inputs, fixed = (
        (arrays, [mask]) if mask is None or mask.dtype == torch.bool else ([*arrays, mask], [])
    )

    def function(*inputs):
        if not options.get("return_lse"):
            return attention(*inputs, *fixed, **options)
        output, lse = attention(*inputs, *fixed, **options)
        return output, torch.where(torch.isinf(lse), 0, lse)

    return function, [tensor.requires_grad_() for tensor in inputs]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", CHECKED)
@each_torch
def test_gradcheck(library, name, mask):
    assert torch.autograd.gradcheck(*differentiable(library, MASKS[mask], CHECKED[name]))


@dense_only
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", CHECKED)
@each_torch
def test_gradgradcheck(library, name, mask):
    assert torch.autograd.gradgradcheck(*differentiable(library, MASKS[mask], CHECKED[name]))


@dense_only
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mask", ["boolean", "floating"])
@each_torch
def test_an_empty_row_has_second_derivative_zero(library, mask, dtype):
    function, inputs = differentiable(
        library, MASKS[mask], {"return_lse": True, "softcap": 0.5}, dtype
    )
    cubes = sum((result**3).sum() for result in function(*inputs))
    first = torch.autograd.grad(cubes, inputs, create_graph=True)
    second = torch.autograd.grad(sum((grad**2).sum() for grad in first), inputs)
    for grads in (first, second):
        assert all(torch.isfinite(grad).all() for grad in grads)
        assert (grads[0][:, 1] == 0).all() and (grads[0][:, 2] != 0).all()


@dense_only
@each_torch
def test_a_huge_masked_key_leaves_second_derivatives_alone(library):
    arrays, mask = in_library(library, draws(), np.arange(N_K) < N_K - 1)
    arrays[1][-1] = arrays[2][-1] = 1e300
    arrays[1][-1, ::2] *= -1
    inputs = [tensor.requires_grad_() for tensor in arrays]
    first = torch.autograd.grad(
        (attention(*inputs, mask, softcap=0.5) ** 3).sum(), inputs, create_graph=True
    )
    second = torch.autograd.grad(sum((grad**2).sum() for grad in first), inputs)
    assert all(torch.isfinite(grad).all() for grad in second)


@each_torch
def test_the_log_sum_exp_of_an_empty_row_has_gradient_zero(library):
    inputs, mask = in_library(library, draws(), EMPTY["boolean"])
    query, key, value = [tensor.requires_grad_() for tensor in inputs]
    lse = attention(query, key, value, mask, return_lse=True)[1]
    grads = torch.autograd.grad(lse.sum(), (query, key))
    weights = torch.where(mask, torch.softmax(query @ key.mT / D_K**0.5, dim=-1), 0)
    assert_close(grads[0], to_float64(weights @ key / D_K**0.5), like=query)
    assert_close(grads[1], to_float64(weights.mT @ query / D_K**0.5), like=key)


@pytest.mark.parametrize("step", [softmax, logsumexp, log_softmax])
@each_torch
def test_steps_with_empty_rows(library, step):
    (scores,), mask = in_library(
        library, [normal(2, 3)], np.array([[True, True, False], [False] * 3])
    )

    def function(scores):
        result = step(mask_scores(scores, mask))
        return torch.where(torch.isinf(result), 0, result)

    assert torch.autograd.gradcheck(function, scores.requires_grad_())
    assert torch.autograd.gradgradcheck(function, scores)


@pytest.mark.parametrize("mask", ["boolean", "floating"])
@each_torch
def test_functional_gradient(library, mask):
    (query, key, value), mask = in_library(library, draws(*WIDE), random_mask(mask, SCORES))
    ones = to_library(library, np.ones((BATCH, HEADS, N_Q, D_V)))
    grads = torch.func.grad(lambda *arrays: attention(*arrays, mask).sum(), argnums=(0, 1, 2))(
        query, key, value
    )
    for grad, whole, like in zip(
        grads, gradients(query, key, value, ones, mask), (query, key, value)
    ):
        assert_close(grad, to_float64(whole), like=like)
    if mask.dtype != torch.bool:
        (grad,) = torch.func.grad(
            lambda mask: attention(query, key, value, mask).sum(), argnums=(0,)
        )(mask)
        (expected,) = torch.autograd.grad(
            attention(query, key, value, mask.requires_grad_()).sum(), mask
        )
        assert_close(grad, to_float64(expected), like=mask)


@each_torch
def test_a_second_functional_gradient_is_right_or_an_error(library, each_impl):
    (query, key, value), _ = in_library(library, draws())

    def slope(query):
        return (
            torch.func.grad(lambda query: (attention(query, key, value) ** 3).sum())(query) ** 2
        ).sum()

    if each_impl == "dense":
        assert torch.autograd.gradcheck(slope, query.requires_grad_())
        assert abs(torch.func.grad(slope)(query.detach())).max() > 0
    else:
        with pytest.raises(RuntimeError, match="can be differentiated once"):
            torch.func.grad(slope)(query)


@dense_only
@each_torch
def test_functional_gradient_of_each_example(library):
    (query, key, value), mask = in_library(library, draws(*WIDE), random_mask("floating", SCORES))
    each = torch.func.vmap(
        torch.func.grad(lambda *one: attention(*one).sum(), argnums=(0, 1, 2, 3))
    )
    ones = to_library(library, np.ones((BATCH, HEADS, N_Q, D_V)))
    expected = gradients(query, key, value, ones, mask)
    for grad, whole, like in zip(each(query, key, value, mask), expected, (query, key, value)):
        assert_close(grad, to_float64(whole), like=like)
