import math
from dataclasses import replace

import numpy as np

from ...families.attention import ATTENTION_AXES
from ...families.blocks import SHORTER_BLOCK, blockwise
from ...families.inputs import drawn, given
from ...families.memory import keeps_all_scores, size_for_number
from ...families.scores import softmax_of, swap  # noqa: F401, for the page
from ...model import HUGE, PLAIN, normal
from ...pages import written


def streaming_backward(query, key, value, output, lse, grad_output, block_size):
    grad_query, grad_key, grad_value = zeros(query, key, value)
    delta_products = grad_output * output  #: the products of grad_output and output
    delta = row_sum(delta_products)  #: delta (one per row)
    blocks = slices(key.shape[-2], block_size)
    for at in blocks:
        keys, values = key[..., at, :], value[..., at, :]
        q, k = query, keys
        k_t = swap(k)
        products = q @ k_t  #: the product of queries and keys
        scores = products / math.sqrt(q.shape[-1])  #: the scores
        logits = scores
        block_weights = np.exp(logits - lse[..., None])  #: the block's weights
        grad_weights = grad_output @ swap(values)  #: the gradient of the block's weights
        centred = grad_weights - delta
        grad_scores = block_weights * centred  #: the gradient of the block's scores
        grad_logits = grad_scores
        for_query = grad_logits / math.sqrt(query.shape[-1])
        query_part = for_query @ keys
        so_far = grad_query
        grad_query = so_far + query_part
        for_key = grad_logits / math.sqrt(query.shape[-1])
        key_part = swap(for_key) @ query
        grad_key = put(grad_key, at, key_part)
        value_part = swap(block_weights) @ grad_output
        grad_value = put(grad_value, at, value_part)
    return grad_query, grad_key, grad_value


# what may stand under the root instead of the number of features
SIZES = (lambda query, key: key.shape[-2], lambda query, key: query.shape[-2])


def zeros(*arrays):
    return tuple(np.zeros_like(array) for array in arrays)


def row_sum(products):
    return products.sum(axis=-1, keepdims=True)


def slices(n_k, size):
    return [slice(at, min(at + size, n_k)) for at in range(0, n_k, size)]


def put(gradient, at, part):
    gradient[..., at, :] += part
    return gradient


def joined(gradient, blocks):
    """The gradients of the blocks that were read."""
    return np.concatenate([gradient[..., at, :] for at in blocks], axis=-2)


def _with_forward(query, key, value, grad_output, block_size):
    """The arguments, with what the forward pass leaves."""
    scores = query.astype(float) @ swap(key.astype(float)) / math.sqrt(query.shape[-1])
    highest = scores.max(axis=-1, keepdims=True)
    lse = np.log(row_sum(np.exp(scores - highest))) + highest
    output = np.exp(scores - lse) @ value.astype(float)
    made = output.astype(query.dtype), lse[..., 0].astype(query.dtype)
    return query, key, value, *made, grad_output, block_size


def backward_cases():
    def forward(case):
        return replace(case, args=_with_forward(*case.args))

    def some(aspect, size, n_q, n_k, d_k, d_v, seed, **more):
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v), (n_q, d_v)
        return forward(drawn(aspect, *shapes, seed=seed, behind=(size,), **more))

    keys = [[1, 0, 2, 0], [1, 0, 0, 4], [1, 0, 2, 2], [2, 0, 1, 1]]
    short = [[1, 0, 0, 0], [1, 4, 0, 0], [1, 0, 2, 0]]
    value, grad = [[4, 1], [0, 2], [1, 5]], [[1, 3], [2, 1]]
    written_down = [
        given(PLAIN, [[2, 0, 0, 0]], short[:2], [[4], [0]], [[1]], 1),
        given(PLAIN, [[0, 2, 0, 0]], keys, [[4], [0], [8], [2]], [[1]], 2),
        given(SHORTER_BLOCK, [[2, 0, 0, 0]], short, [[4], [0], [8]], [[1]], 2),
        given(HUGE, [[100, 0], [1, 2]], [[100, 0], [100, 8], [0, 1]], value, grad, 2),
        given(HUGE, [[-100, 0], [1, 2]], [[100, 0], [100, 8], [101, 1]], value, grad, 1),
    ]
    return [*map(forward, written_down), *blockwise(some)]


def _long_input(n_q, n_k):
    arrays = (normal(n, 1, seed=60 + i) for i, n in enumerate((n_q, n_k, n_k, n_q)))
    return _with_forward(*arrays, 0)[:-1]


EXERCISE = written(
    streaming_backward,
    place=4,
    axes=dict(ATTENTION_AXES, output="n_q d_v", lse="n_q", grad_output="n_q d_v"),
    outputs=("grad_query", "grad_key", "grad_value"),
    cases=backward_cases,
    audits=(
        lambda run: keeps_all_scores(run, _long_input),
        lambda run: size_for_number(run, _long_input),
    ),
)
