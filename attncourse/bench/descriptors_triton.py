"""The forward kernel with keys and values by descriptors: only a contender, because it hasn't been
measured yet.

On an H100 and newer one instruction (TMA) copies a whole block of keys or values, whose place a
descriptor knows. Without it, 128 keys of d = 128 in float16 take 2,048 copies of 16 bytes, each
with an address that some thread has to compute and keep. Whether descriptors are faster here,
`python -m attncourse.bench --device cuda` will tell.
"""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from attnlib.flash_triton import (
    attention_forward,
    launch_forward,
    new_output,
    tile,
    window_argument,
)
from attnlib.tiles_triton import capability_of, on_its_device, padded_width


@triton.jit
def attention_forward_by_descriptors(
    query,
    key,
    value,
    mask,
    output,
    lse,
    h,
    group_k,
    group_v,
    n_q,
    n_k,
    window,
    units,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """attention_forward; a descriptor stands alone, because Triton's launcher doesn't find it in a
    pair."""
    attention_forward(
        query,
        (key,),
        (value,),
        mask,
        output,
        lse,
        h,
        group_k,
        group_v,
        n_q,
        n_k,
        window,
        units,
        D_K,
        D_V,
        BLOCK_Q,
        BLOCK_K,
        PRECISION,
    )


def descriptor_of(tensor, block):
    """A descriptor of a tensor whose rows have no gaps between their numbers, and whose other sizes
    are multiples of 16 bytes.
    """
    *steps, last = tensor.stride()
    if capability_of(tensor) < 90:
        raise ValueError(
            f"descriptors need compute capability 9.0 or newer; got {capability_of(tensor) / 10}"
        )
    if tensor.dtype == torch.float32:
        raise ValueError("descriptors are for float16 and bfloat16; got float32")
    if (
        last != 1
        or any(step <= 0 or step * tensor.element_size() % 16 for step in steps)
        or tensor.data_ptr() % 16
    ):
        raise ValueError(
            "descriptors need rows without gaps, and a start and strides in multiples of 16 bytes; "
            f"got strides {tuple(tensor.stride())} of {tensor.element_size()} bytes each"
        )
    return TensorDescriptor.from_tensor(tensor, [1, 1, block, padded_width(tensor.shape[-1])])


@on_its_device
def forward(query, key, value, attn_mask, left, right, scale, softcap):
    """flash_triton.forward, for any number of queries and keys above 0."""
    output, lse = new_output(query, value)
    block = tile("forward", query, value, plain=attn_mask is None and softcap is None)["BLOCK_K"]
    launch_forward(
        attention_forward_by_descriptors,
        lambda tensor: descriptor_of(tensor, block),
        query,
        key,
        value,
        attn_mask,
        window_argument(left, right, query.shape[2], key.shape[2]),
        scale,
        softcap,
        output,
        lse,
    )
    return output, lse


def attention(query, key, value, is_causal):
    """Tensors (batch, heads, n, d); key and value may have fewer heads."""
    return forward(
        query,
        key,
        value,
        None,
        None,
        0 if is_causal else None,
        1 / math.sqrt(query.shape[-1]),
        None,
    )[0]
