"""The public functions: documented, checked, and sent to the right implementation.

NumPy arrays go to dense_numpy or online_numpy, torch tensors to dense_torch or online_torch, or to
the Triton kernels; torch is imported only when a tensor comes in, Triton when its kernels may run.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
from typing import TYPE_CHECKING, Literal, TypeVar, overload

import numpy as np

from attnlib import checks, dense_numpy, online_numpy

if TYPE_CHECKING:  # torch is imported only when a tensor comes in
    import torch

Array = TypeVar("Array", np.ndarray, "torch.Tensor")
Impl = Literal["dense", "online", "triton"] | None
Window = tuple[int | None, int | None] | None
IMPLS = ("dense", "online", "triton")
SOFTMAX_IMPLS = ("dense", "triton")
HAS_TRITON = importlib.util.find_spec("triton") is not None


def dense_twin(kind):
    if kind == "numpy":
        return dense_numpy
    from attnlib import dense_torch

    return dense_torch


def online_twin(kind):
    if kind == "numpy":
        return online_numpy
    from attnlib import online_torch

    return online_torch


def softmax_kernels():
    from attnlib import softmax_triton

    return softmax_triton


def attention_kernels():
    from attnlib import flash_triton

    return flash_triton


def why_not_triton(kind, kernels, *arguments):
    """Why impl="triton" does not take these arguments, in a sentence; None if it does."""
    if kind == "numpy":
        return "impl='triton' takes torch tensors; got NumPy arrays"
    if not HAS_TRITON:
        return (
            "impl='triton' needs the package triton, which is not installed (pip install triton, on"
            " Linux)"
        )
    return kernels().unsupported(*arguments)


def choose_softmax_impl(impl, kind, scores):
    """What impl=None means for the softmax: the kernels for CUDA tensors that they take."""
    if impl is None:
        on_cuda = kind == "torch" and scores.is_cuda
        return (
            "triton"
            if on_cuda and why_not_triton(kind, softmax_kernels, scores) is None
            else "dense"
        )
    checks.check_impl(impl, SOFTMAX_IMPLS)
    if impl == "triton" and (sentence := why_not_triton(kind, softmax_kernels, scores)):
        raise ValueError(sentence)
    return impl


def choose_impl(impl, kind, scores_shape, *arguments):
    """The one place that decides what impl=None means for attention with these arguments.

    NumPy: online for 2^18 scores or more. Measured on two cores
    (attncourse/recorded/attention_cpu.json, "choice"): for one head of n = 256 online took 1.3
    times as long as dense, and for 8 heads of n = 128 about as long; one head of n = 512 was 3.4
    times as fast, 8 of n = 256 1.9 times, and every larger problem at least 1.6 times. Each head
    costs online 30 us before any work is done, so heads of fewer than 2^14 scores stay dense.
    torch: the Triton kernels for CUDA tensors that they take; otherwise dense, which autograd can
    differentiate twice and vmap can map.
    """
    if (
        impl is None
        and kind == "torch"
        and arguments[0].is_cuda
        and not why_not_triton(kind, attention_kernels, *arguments)
    ):
        return "triton"
    if impl is None:
        *batch, n_q, n_k = scores_shape
        is_large = n_q * n_k >= 2**14 and math.prod(scores_shape) >= 2**18
        return "online" if kind == "numpy" and is_large else "dense"
    checks.check_impl(impl, IMPLS)
    if impl == "triton" and (sentence := why_not_triton(kind, attention_kernels, *arguments)):
        raise ValueError(sentence)
    return impl


def raw_scores(query: Array, key: Array, *, scale: float | None = None) -> Array:
    """Raw scores: how well each query matches each key.

        S = scale * Q Kᵀ,    S[i, j] = scale * sum_c Q[i, c] K[j, c]

    Args:
        query: `(..., n_q, d_k)`, NumPy array or torch tensor: float16, bfloat16 (in NumPy that of
            ml_dtypes), float32, float64. Half precision is computed in float32, also under
            torch.autocast, and rounded once, at the end.
        key: `(..., n_k, d_k)`, the same kind, dtype and device; leading axes broadcast.
        scale: a number, finite in the dtype that is computed in; None for 1 / sqrt(d_k), which
            gives the scores variance 1 when the entries of query and key are independent with
            mean 0 and variance 1.

    Returns:
        `(..., n_q, n_k)`, the inputs' kind, dtype and device.

    Raises:
        TypeError: not arrays, not floating, or of different kinds or dtypes; a scale that is
            not a number.
        ValueError: shapes that do not fit, different devices, or a scale that is not finite in
            the dtype that is computed in.

    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.

    >>> import numpy as np
    >>> raw_scores(np.array([[2.0, 0.0, 0.0, 2.0]]), np.eye(4))
    array([[1., 0., 0., 1.]])
    """
    kind = checks.check_arrays(query=query, key=key)
    checks.check_equal_d_k(query, key)
    checks.check_leading_axes(query=query.shape[:-2], key=key.shape[:-2])
    checks.check_number("scale", scale, query)
    return dense_twin(kind).raw_scores(query, key, scale=scale)


def mask_scores(scores: Array, attn_mask: Array) -> Array:
    """Masked scores: -inf where a query may not attend, so that the softmax gives exactly 0.

        boolean mask:   S[i, j] where M[i, j] is True, else -inf
        floating mask:  S[i, j] + M[i, j], and -inf wherever M[i, j] is -inf

    Args:
        scores: `(..., n_q, n_k)`, NumPy array or torch tensor of a floating dtype.
        attn_mask: boolean (True = may attend) or of the scores' dtype; broadcasts to the
            scores' shape.

    Returns:
        A new array of the scores' shape, kind, dtype and device.

    Raises:
        TypeError: not arrays, or a mask that is neither boolean nor of the scores' dtype.
        ValueError: a mask that does not broadcast, or different devices.

    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.3.

    >>> import numpy as np
    >>> mask_scores(np.array([[1.0, 0.5, 2.5]]), np.array([True, True, False]))
    array([[ 1. ,  0.5, -inf]])
    """
    kind = checks.check_arrays(scores=scores)
    checks.check_mask(attn_mask, scores, "scores", scores.shape)
    return dense_twin(kind).mask_scores(scores, attn_mask)


def softmax(
    scores: Array, axis: int = -1, *, impl: Literal["dense", "triton"] | None = None
) -> Array:
    """Softmax: weights, none negative, that sum to 1 along one axis.

        A[i, j] = exp(S[i, j] - m[i]) / sum_k exp(S[i, k] - m[i]),    m[i] = max_k S[i, k]

    A row that is -inf throughout (a dead row: nothing may be attended to) gives zeros.
    A NaN or +inf score makes its own row NaN and no other.

    Args:
        scores: any shape with at least one axis, NumPy array or torch tensor: float16,
            bfloat16 (in NumPy that of ml_dtypes), float32, float64; both implementations compute
            half precision in float32 and round once.
        axis: the axis along which the weights sum to 1.
        impl: "dense" goes step by step; "triton" is a kernel that reads each number of a row once,
            for CUDA tensors of float16, bfloat16 and float32 (it can be differentiated once). None
            means triton for the CUDA tensors that it takes, and dense for everything else.

    Returns:
        Weights of the scores' shape, kind, dtype and device.

    Raises:
        TypeError: scores is not a floating array, or axis is not a whole number.
        ValueError: scores has no such axis, an unknown impl, or scores that "triton" does not take.

    Source: named by Bridle, "Probabilistic Interpretation of Feedforward Classification
    Network Outputs" (1990); the shift by the maximum is analysed in Blanchard, Higham and
    Higham, "Accurately computing the log-sum-exp and softmax functions" (2021).

    >>> import numpy as np
    >>> softmax(np.array([1.0, 0.5, 2.5, -0.1])).round(3)
    array([0.156, 0.094, 0.698, 0.052])
    """
    kind = checks.check_arrays(min_ndim=1, scores=scores)
    checks.check_axis(axis, scores.ndim)
    if choose_softmax_impl(impl, kind, scores) == "triton":
        return softmax_kernels().softmax(scores, axis)
    return dense_twin(kind).softmax(scores, axis)


def logsumexp(scores: Array, axis: int = -1) -> Array:
    """Log-sum-exp: the logarithm of sum_k exp(S[i, k]), a smooth maximum.

        lse[i] = m[i] + log sum_k exp(S[i, k] - m[i]),    m[i] = max_k S[i, k]

    A row that is -inf throughout gives -inf, a +inf score +inf, a NaN NaN.

    Args:
        scores: any shape with at least one axis, NumPy array or torch tensor: float16,
            bfloat16 (in NumPy that of ml_dtypes), float32, float64; half precision is computed
            in float32 and rounded once.
        axis: the axis that is summed over.

    Returns:
        The scores' shape without that axis; natural logarithm; their kind, dtype and device.

    Raises:
        TypeError: scores is not a floating array, or axis is not a whole number.
        ValueError: scores has no such axis.

    Source: Blanchard, Higham and Higham (2021), as for softmax.

    >>> import numpy as np
    >>> float(logsumexp(np.array([1000.0, 1000.0])).round(4))
    1000.6931
    """
    return along_axis("logsumexp", scores, axis)


def log_softmax(scores: Array, axis: int = -1) -> Array:
    """Logarithm of the softmax, accurate also where the softmax itself underflows to 0.

        log A[i, j] = (S[i, j] - m[i]) - log sum_k exp(S[i, k] - m[i]),    m[i] = max_k S[i, k]

    A row that is -inf throughout stays -inf, the logarithm of the softmax's zeros. A NaN or
    +inf score makes its own row NaN and no other.

    Args:
        scores: any shape with at least one axis, NumPy array or torch tensor: float16,
            bfloat16 (in NumPy that of ml_dtypes), float32, float64; half precision is computed
            in float32 and rounded once.
        axis: the axis along which the weights sum to 1.

    Returns:
        The scores' shape, kind, dtype and device.

    Raises:
        TypeError: scores is not a floating array, or axis is not a whole number.
        ValueError: scores has no such axis.

    Source: Blanchard, Higham and Higham (2021), as for softmax.

    >>> import numpy as np
    >>> log_softmax(np.array([0.0, -1000.0]))
    array([    0., -1000.])
    """
    return along_axis("log_softmax", scores, axis)


def along_axis(step, scores, axis):
    kind = checks.check_arrays(min_ndim=1, scores=scores)
    checks.check_axis(axis, scores.ndim)
    return getattr(dense_twin(kind), step)(scores, axis)


def av_product(weights: Array, value: Array) -> Array:
    """Output: for each query, the values summed with its weights.

        O = A V,    O[i] = sum_j A[i, j] V[j]

    Args:
        weights: `(..., n_q, n_k)`, NumPy array or torch tensor of a floating dtype.
        value: `(..., n_k, d_v)`, the same kind and dtype; leading axes broadcast.

    Returns:
        `(..., n_q, d_v)`, the inputs' kind, dtype and device.

    Raises:
        TypeError: not arrays, not floating, or of different kinds or dtypes.
        ValueError: shapes that do not fit, or different devices.

    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.

    >>> import numpy as np
    >>> av_product(np.array([[0.25, 0.75]]), np.array([[4.0, 0.0], [0.0, 4.0]]))
    array([[1., 3.]])
    """
    kind = checks.check_arrays(weights=weights, value=value)
    checks.check_equal_n_k("weights", weights.shape[-1], "value", value.shape[-2])
    checks.check_leading_axes(weights=weights.shape[:-2], value=value.shape[:-2])
    return dense_twin(kind).av_product(weights, value)


@overload
def attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    *,
    is_causal: bool = False,
    window: Window = None,
    scale: float | None = None,
    softcap: float | None = None,
    enable_gqa: bool = False,
    return_lse: Literal[False] = False,
    impl: Impl = None,
) -> Array: ...


@overload
def attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    *,
    is_causal: bool = False,
    window: Window = None,
    scale: float | None = None,
    softcap: float | None = None,
    enable_gqa: bool = False,
    return_lse: Literal[True],
    impl: Impl = None,
) -> tuple[Array, Array]: ...


@overload
def attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    *,
    is_causal: bool = False,
    window: Window = None,
    scale: float | None = None,
    softcap: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool,
    impl: Impl = None,
) -> Array | tuple[Array, Array]: ...


def attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    *,
    is_causal: bool = False,
    window: Window = None,
    scale: float | None = None,
    softcap: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    impl: Impl = None,
) -> Array | tuple[Array, Array]:
    """Scaled dot-product attention.

        O = softmax(mask(cap(scale * Q Kᵀ))) V,    cap(s) = softcap * tanh(s / softcap)

    A query that may attend to nothing gives output 0, log-sum-exp -inf and gradients 0.
    A finite value at a key that a query may not attend to never reaches its output, however
    large; an inf or NaN there may, because 0 * inf is NaN, also for a query that may attend to
    nothing.

    Args:
        query: `(..., n_q, d_k)`, NumPy array or torch tensor: float16, bfloat16 (in NumPy that of
            ml_dtypes), float32, float64. See impl for how half precision is computed.
        key: `(..., n_k, d_k)`, the same kind, dtype and device; leading axes broadcast.
        value: `(..., n_k, d_v)`, likewise.
        attn_mask: broadcasts to the scores, `(..., n_q, n_k)`. Boolean: True = may attend.
            Floating, of query's dtype: added to the scores, after softcap.
        is_causal: query i attends to keys 0 to i, aligned at the top left as in torch.
            Together with attn_mask, both apply. So one query with six keys sees only the first key.
            When decoding, where the queries are the last n_q of n_k positions, pass window=(None,
            n_k - n_q) instead; one query needs no mask at all.
        window: a pair (left, right): query i attends to keys i - left to i + right, aligned
            likewise; None on one side means all keys there, None instead of the pair means all
            keys. Together with attn_mask and is_causal, all of them apply. "online" and "triton"
            skip blocks of keys outside the window, and make no mask for it.
        scale: a number, finite in the dtype that is computed in; None for 1 / sqrt(d_k).
        softcap: a positive number, neither 0 nor inf in that dtype, bounds the scores smoothly
            to [-softcap, softcap]; None leaves them.
        enable_gqa: query has h heads on axis -3, key and value have h_kv, and query head i
            reads key head i // (h // h_kv); h must be a multiple of h_kv. Key and value may have
            different numbers of heads, and the rule then holds for each with its own h_kv.
        return_lse: also return the log-sum-exp of each query's scores.
        impl: "dense" makes the whole `(..., n_q, n_k)` array of scores; "online" makes one block of
            it at a time, in memory that grows with n_q + n_k (in torch it can be differentiated
            once, and vmap can't map it); "triton" is online's arithmetic in fused kernels, for CUDA
            tensors of float16, bfloat16 and float32 with d_k and d_v up to 256 (likewise once, no
            vmap, and no gradient of attn_mask). None chooses triton for the CUDA tensors that it
            takes, online for NumPy arrays with many scores, and dense for everything else. In half
            precision, "dense" and "online" compute in float32, torch.autocast or not, and round
            output and gradients once, at the end. "triton" sums its products and takes its softmax
            in float32, but rounds the weights to the dtype of value before they meet it (except on
            chips older than an A100, in float16); in the backward pass it rounds the weights and
            the gradients of the scores likewise, before they are multiplied.

    Returns:
        The output `(..., n_q, d_v)`, of query's kind, dtype and device; with return_lse the
        pair (output, lse), lse `(..., n_q)`, natural logarithm, in float32 where the inputs
        are half precision, so that partial results can still be merged.

    Raises:
        TypeError: not arrays, not floating, mixed kinds or dtypes, a mask that is neither
            boolean nor of query's dtype, a window, scale, softcap or flag of the wrong type.
        ValueError: shapes that do not fit, a mask that does not broadcast, different devices,
            a window below 0, a scale that is not finite or a softcap that is not positive in
            the dtype that is computed in, an unknown impl, or arguments that "triton" does not
            take.

    Source: Vaswani et al., "Attention Is All You Need" (2017), equation 1; window: Beltagy et
    al., "Longformer" (2020), section 3.1; softcap: Gemma Team, "Gemma 2" (2024), section 2;
    grouped heads: Ainslie et al., "GQA" (2023).

    >>> import numpy as np
    >>> query, key = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> attention(query, key, np.array([[1.0], [0.0]])).round(3)
    array([[0.67]])

    Two new queries at the end of three positions, by a window instead of is_causal:

    >>> attention(np.zeros((2, 1)), np.zeros((3, 1)), np.eye(3), window=(None, 3 - 2)).round(2)
    array([[0.5 , 0.5 , 0.  ],
           [0.33, 0.33, 0.33]])
    """
    kind, shape = checked_attention(
        query, key, value, attn_mask, is_causal, window, scale, softcap, enable_gqa
    )
    checks.check_flags(return_lse=return_lse)
    impl = choose_impl(impl, kind, shape, query, key, value, attn_mask)
    twin = (
        attention_kernels()
        if impl == "triton"
        else {"dense": dense_twin, "online": online_twin}[impl](kind)
    )
    with ignore_float_errors(kind):
        return twin.attention(
            query,
            key,
            value,
            attn_mask,
            is_causal=is_causal,
            window=window,
            scale=scale,
            softcap=softcap,
            enable_gqa=enable_gqa,
            return_lse=return_lse,
        )


def attention_backward(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    grad_output: np.ndarray,
    attn_mask: np.ndarray | None = None,
    *,
    is_causal: bool = False,
    window: Window = None,
    scale: float | None = None,
    softcap: float | None = None,
    enable_gqa: bool = False,
    impl: Literal["dense", "online"] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of attention, for NumPy arrays (torch tensors have autograd).

        dV = Aᵀ dO,    dA = dO Vᵀ,    dS = A * (dA - rowsum(A * dA)),
        dQ = scale * dS K,    dK = scale * dSᵀ Q

    with dS multiplied by 1 - tanh² where there is a softcap.

    Args:
        grad_output: `(..., n_q, d_v)`, the gradient with respect to the output; its shape
            and dtype are the output's.
        query, key, value, attn_mask, is_causal, window, scale, softcap, enable_gqa, impl: as for
            attention.

    Returns:
        (grad_query, grad_key, grad_value), each of the shape and dtype of its argument; axes
        that were broadcast and heads that were repeated are summed over.

    Raises:
        TypeError, ValueError: as for attention; TypeError for torch tensors.

    Source: Dao et al., "FlashAttention" (2022), appendix B.2.

    >>> import numpy as np
    >>> one = np.ones((1, 1))
    >>> [grad.item() for grad in attention_backward(one, one, one, one)]
    [0.0, 0.0, 1.0]
    """
    kind, shape = checked_attention(
        query, key, value, attn_mask, is_causal, window, scale, softcap, enable_gqa
    )
    if kind != "numpy":
        raise TypeError(
            "attention_backward takes NumPy arrays; got torch tensors, "
            "whose gradients attention(...) gives by autograd: call backward() on its output"
        )
    checks.check_grad_output(grad_output, query, value, shape)
    twin = {"dense": dense_numpy, "online": online_numpy}[
        choose_impl(impl, kind, shape, query, key, value, attn_mask)
    ]
    with ignore_float_errors(kind):
        return twin.attention_backward(
            query,
            key,
            value,
            grad_output,
            attn_mask,
            is_causal=is_causal,
            window=window,
            scale=scale,
            softcap=softcap,
            enable_gqa=enable_gqa,
        )


def merge_partials(out_a: Array, lse_a: Array, out_b: Array, lse_b: Array) -> tuple[Array, Array]:
    """Merge attention over two sets of keys into attention over both.

        lse = log(exp(lse_a) + exp(lse_b)),    O = exp(lse_a - lse) O_a + exp(lse_b - lse) O_b

    The shares are computed as exp(lse_a - m) and exp(lse_b - m) over their sum, where m is the
    larger of the two: then they sum to 1 whatever the size of the log-sum-exp, whose rounding would
    otherwise be a factor on both. Except for rounding, the order of the parts and of further merges
    does not matter. A part without keys (log-sum-exp -inf) changes nothing, whatever its output
    holds, and two such parts merge to another empty one, with output 0.

    Args:
        out_a, out_b: `(..., n_q, d_v)`, the outputs over the first and over the other keys.
        lse_a, lse_b: `(..., n_q)`, their log-sum-exp, as attention(..., return_lse=True) gives it:
            of the outputs' dtype, or float32 if that is half precision.

    Returns:
        The pair (output, lse), of the shapes and dtypes of one part.

    Raises:
        TypeError: not arrays, not floating, or mixed kinds or dtypes.
        ValueError: shapes that do not fit, or different devices.

    Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), section
    3.1; Dao et al., "FlashAttention" (2022), section 3.1.

    >>> import numpy as np
    >>> query, key = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> value = np.array([[1.0], [0.0]])
    >>> parts = [attention(query, key[j], value[j], return_lse=True) for j in ([0], [1])]
    >>> merge_partials(*parts[0], *parts[1])[0].round(3)
    array([[0.67]])
    """
    kind = checks.check_partials(out_a, lse_a, out_b, lse_b)
    return online_twin(kind).merge_partials(out_a, lse_a, out_b, lse_b)


def ignore_float_errors(kind):
    """If rounding to half precision overflows or underflows, the result shows it: NumPy need not
    warn or raise.
    """
    return np.errstate(all="ignore") if kind == "numpy" else contextlib.nullcontext()


def checked_attention(query, key, value, attn_mask, is_causal, window, scale, softcap, enable_gqa):
    """The checks that attention and its backward share; the kind and the scores' shape."""
    checks.check_flags(is_causal=is_causal, enable_gqa=enable_gqa)
    kind, shape = checks.check_attention(query, key, value, enable_gqa)
    if attn_mask is not None:
        checks.check_mask(attn_mask, query, "query", shape)
    checks.check_window(window)
    checks.check_number("scale", scale, query)
    checks.check_number("softcap", softcap, query, positive=True)
    return kind, shape
