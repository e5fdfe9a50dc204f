"""Answers to streaming_backward, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("streaming_backward")


def backward(
    query,
    key,
    value,
    output,
    lse,
    grad_output,
    block_size,
    delta="output",
    weights="lse",
    adds=True,
    scale=True,
    stop=None,
    keep=None,
):
    """A learner's function, with what may be wrong in it."""
    grads = [np.zeros_like(array) for array in (query, key, value)]
    root = math.sqrt(query.shape[-1])
    row = (grad_output * output).sum(axis=-1, keepdims=True)
    for start in range(
        0, key.shape[-2] if stop is None else stop(key.shape[-2], block_size), block_size
    ):
        at = slice(start, start + block_size)
        scores = query @ np.swapaxes(key[..., at, :], -1, -2) / root
        if weights == "lse":
            a = np.exp(scores - lse[..., None])
        elif weights == "softmax":
            a = np.exp(scores - scores.max(-1, keepdims=True))
            a = a / a.sum(-1, keepdims=True)
        elif weights == "row":
            a = np.exp(scores - lse)
        else:
            a = np.exp(scores)
        if keep is not None:
            keep.append(a)
        grad_weights = grad_output @ np.swapaxes(value[..., at, :], -1, -2)
        if delta == "block":
            row = (a * grad_weights).sum(axis=-1, keepdims=True)
        grad_scores = a * (grad_weights - (0 if delta is None else row))
        if scale:
            grad_scores = grad_scores / root
        part = grad_scores @ key[..., at, :]
        grads[0] = grads[0] + part if adds else part
        grads[1][..., at, :] = np.swapaxes(grad_scores, -1, -2) @ query
        grads[2][..., at, :] = np.swapaxes(a, -1, -2) @ grad_output
    return tuple(grads)


@answers.right()
def backward_plain(query, key, value, output, lse, grad_output, block_size):
    return backward(query, key, value, output, lse, grad_output, block_size)


@answers.right()
def backward_in_lists(query, key, value, output, lse, grad_output, block_size):
    query_scaled = query / math.sqrt(query.shape[-1])
    delta = np.einsum("...id,...id->...i", grad_output, output)[..., None]
    total, keys, values = 0, [], []
    for i in range(math.ceil(key.shape[-2] / block_size)):
        k, v = (array[..., i * block_size : (i + 1) * block_size, :] for array in (key, value))
        a = np.exp(query_scaled @ k.mT - lse[..., None])
        ds = a * (grad_output @ v.mT - delta)
        total = total + ds @ k / math.sqrt(query.shape[-1])
        keys.append(ds.mT @ query_scaled)
        values.append(a.mT @ grad_output)
    return total, np.concatenate(keys, axis=-2), np.concatenate(values, axis=-2)


@answers.right()
def backward_transposed(query, key, value, output, lse, grad_output, block_size):
    """A query is a column, and the blocks come in reverse order."""
    scale = 1 / math.sqrt(query.shape[-1])
    delta = (output * grad_output).sum(-1)[..., None, :]
    dq, dk, dv = np.zeros_like(query), np.empty_like(key), np.empty_like(value)
    for start in reversed(range(0, key.shape[-2], block_size)):
        rows = np.s_[..., start : min(start + block_size, key.shape[-2]), :]
        a = key[rows] @ query.swapaxes(-1, -2)
        a *= scale
        a -= lse[..., None, :]
        np.exp(a, out=a)
        dv[rows] = a @ grad_output
        ds = value[rows] @ grad_output.swapaxes(-1, -2)
        ds -= delta
        ds *= a
        ds *= scale
        dk[rows] = ds @ query
        dq += ds.swapaxes(-1, -2) @ key[rows]
    return dq, dk, dv


@answers.right()
def backward_delta_in_a_first_pass(query, key, value, output, lse, grad_output, block_size):
    """delta from the weights, in a pass of its own."""
    root, delta = math.sqrt(query.shape[-1]), 0
    for start in range(0, key.shape[-2], block_size):
        k, v = (array[..., start : start + block_size, :] for array in (key, value))
        a = np.exp(query @ k.mT / root - lse[..., None])
        delta = delta + (a * (grad_output @ v.mT)).sum(-1, keepdims=True)
    dq, dk, dv = (np.zeros_like(array) for array in (query, key, value))
    for start in range(0, key.shape[-2], block_size):
        at = np.s_[..., start : start + block_size, :]
        a = np.exp(query @ key[at].mT / root - lse[..., None])
        ds = a * (grad_output @ value[at].mT - delta) / root
        dq += ds @ key[at]
        dk[at] += ds.mT @ query
        dv[at] += a.mT @ grad_output
    return dq, dk, dv


@answers.right()
def backward_delta_inside(query, key, value, output, lse, grad_output, block_size):
    """delta brought into the product, as one more feature of the values."""
    root = query.shape[-1] ** 0.5
    wide = np.concatenate([grad_output, -(grad_output * output).sum(-1, keepdims=True)], axis=-1)
    grads = [np.zeros(array.shape, array.dtype) for array in (query, key, value)]
    for start in range(0, key.shape[-2], block_size):
        at = slice(start, start + block_size)
        one = np.ones((*value[..., at, :].shape[:-1], 1), value.dtype)
        a = np.exp(query @ key[..., at, :].mT / root - lse[..., np.newaxis])
        ds = a * (wide @ np.concatenate([value[..., at, :], one], axis=-1).mT) / root
        grads[0] += ds @ key[..., at, :]
        grads[1][..., at, :] = ds.mT @ query
        grads[2][..., at, :] = a.mT @ grad_output
    return tuple(grads)


def wrong(*names, **changed):
    answers.wrong(*names, function=lambda *args: backward(*args, **changed))


wrong("delta not subtracted", delta=None)
wrong("delta of one block instead of all keys", delta="block")
wrong("softmax of each block", weights="softmax")
wrong("lse not subtracted", weights="none")
wrong("lse along the keys", weights="row")
wrong("grad_query replaced in every block", adds=False)
wrong("no scale in the gradients", scale=False)
wrong("shorter last block dropped", stop=lambda n_k, size: n_k // size * size)
wrong("only the first block", stop=lambda n_k, size: 1)


@answers.wrong("scores of all keys kept")
def backward_with_all_scores(query, key, value, output, lse, grad_output, block_size):
    root = math.sqrt(query.shape[-1])
    a = np.exp(query @ key.mT / root - lse[..., None])
    ds = a * (grad_output @ value.mT - (grad_output * output).sum(-1, keepdims=True)) / root
    return ds @ key, ds.mT @ query, a.mT @ grad_output


@answers.wrong("scores of all keys kept")
def backward_with_blocks_kept(query, key, value, output, lse, grad_output, block_size):
    kept = []
    return backward(query, key, value, output, lse, grad_output, block_size, keep=kept)


@answers.wrong("gradients in another order")
def backward_in_another_order(*args):
    grad_query, grad_key, grad_value = backward(*args)
    return grad_value, grad_key, grad_query


@answers.wrong("no scale in the weights")
def backward_unscaled_weights(query, key, value, output, lse, grad_output, block_size):
    root = math.sqrt(query.shape[-1])
    delta = (grad_output * output).sum(axis=-1, keepdims=True)
    dq, dk, dv = (np.zeros_like(array) for array in (query, key, value))
    for start in range(0, key.shape[-2], block_size):
        at = np.s_[..., start : start + block_size, :]
        a = np.exp(query @ key[at].mT - lse[..., None])
        ds = a * (grad_output @ value[at].mT - delta) / root
        dq += ds @ key[at]
        dk[at] = ds.mT @ query
        dv[at] = a.mT @ grad_output
    return dq, dk, dv


@answers.wrong("diagonal-only Jacobian")
def backward_of_single_weights(query, key, value, output, lse, grad_output, block_size):
    root = math.sqrt(query.shape[-1])
    dq, dk, dv = (np.zeros_like(array) for array in (query, key, value))
    for start in range(0, key.shape[-2], block_size):
        at = np.s_[..., start : start + block_size, :]
        a = np.exp(query @ key[at].mT / root - lse[..., None])
        ds = a * (1 - a) * (grad_output @ value[at].mT) / root
        dq += ds @ key[at]
        dk[at], dv[at] = ds.mT @ query, a.mT @ grad_output
    return dq, dk, dv


def backward_with(
    root_of=lambda query, value: query.shape[-1],
    scores_root_of=lambda query, value: query.shape[-1],
    grad_value=lambda a, ds, grad_output, output: a.mT @ grad_output,
    delta=1,
    size=lambda n_k, block_size: block_size,
):
    """A learner's function, with what may be wrong in its scale, its grad_value or its blocks."""

    def answer(query, key, value, output, lse, grad_output, block_size):
        root, scores_root = (
            math.sqrt(root_of(query, value)),
            math.sqrt(scores_root_of(query, value)),
        )
        row = delta * (grad_output * output).sum(axis=-1, keepdims=True)
        dq, dk, dv = (np.zeros_like(array) for array in (query, key, value))
        step = size(key.shape[-2], block_size)
        for start in range(0, key.shape[-2], step):
            at = np.s_[..., start : start + step, :]
            a = np.exp(query @ key[at].mT / scores_root - lse[..., None])
            ds = a * (grad_output @ value[at].mT - row) / root
            dq += ds @ key[at]
            dk[at], dv[at] = ds.mT @ query, grad_value(a, ds, grad_output, output)
        return dq, dk, dv

    return answer


answers.right(function=backward_with())
answers.wrong(
    "sqrt(d_v) instead of sqrt(d_k)",
    function=backward_with(
        lambda query, value: value.shape[-1], lambda query, value: value.shape[-1]
    ),
)
answers.wrong(
    "sqrt(d_v) instead of sqrt(d_k)", function=backward_with(lambda query, value: value.shape[-1])
)
answers.wrong(
    "d_k instead of sqrt(d_k) in the weights",
    function=backward_with(scores_root_of=lambda query, value: query.shape[-1] ** 2),
)
answers.wrong(
    "d_k instead of sqrt(d_k) in the weights",
    function=backward_with(*2 * [lambda query, value: query.shape[-1] ** 2]),
)
answers.wrong(
    "gradient of the scores instead of the weights in grad_value",
    function=backward_with(grad_value=lambda a, ds, grad_output, output: ds.mT @ grad_output),
)
answers.wrong(
    "output instead of grad_output in grad_value",
    function=backward_with(grad_value=lambda a, ds, grad_output, output: a.mT @ output),
)
answers.wrong(
    "delta not subtracted",
    "output instead of grad_output in grad_value",
    function=backward_with(grad_value=lambda a, ds, grad_output, output: a.mT @ output, delta=0),
)
answers.wrong(
    "block_size used as the number of blocks",
    function=backward_with(size=lambda n_k, block_size: -(-n_k // block_size)),
)


@answers.wrong("shorter last block dropped")
def backward_of_full_blocks(query, key, value, output, lse, grad_output, block_size):
    scale = 1 / math.sqrt(query.shape[-1])
    delta = (output * grad_output).sum(axis=-1, keepdims=True)
    grad_query, grad_key, grad_value = (np.zeros_like(x) for x in (query, key, value))
    n_k = key.shape[-2]
    block_size = min(block_size, n_k)
    for start in range(0, n_k - block_size + 1, block_size):
        at = np.s_[..., start : start + block_size, :]
        weights = np.exp(query @ key[at].mT * scale - lse[..., None])
        grad_value[at] = weights.mT @ grad_output
        grad_scores = weights * (grad_output @ value[at].mT - delta) * scale
        grad_query += grad_scores @ key[at]
        grad_key[at] = grad_scores.mT @ query
    return grad_query, grad_key, grad_value


def backward_with_roots(of_scores, of_gradients):
    """An answer with these numbers under its roots."""

    def backward(query, key, value, output, lse, grad_output, block_size):
        grad_query, grad_key, grad_value = (np.zeros_like(a) for a in (query, key, value))
        delta = (output * grad_output).sum(axis=-1, keepdims=True)
        there, back = (n(query, key) ** -0.5 for n in (of_scores, of_gradients))
        for first in range(0, key.shape[-2], block_size):
            at = slice(first, first + block_size)
            k, v = key[..., at, :], value[..., at, :]
            weights = np.exp(query @ np.swapaxes(k, -1, -2) * there - lse[..., None])
            scores = weights * (grad_output @ np.swapaxes(v, -1, -2) - delta) * back
            grad_query += scores @ k
            grad_key[..., at, :] = np.swapaxes(scores, -1, -2) @ query
            grad_value[..., at, :] = np.swapaxes(weights, -1, -2) @ grad_output
        return grad_query, grad_key, grad_value

    return backward


def n_keys(query, key):
    return key.shape[-2]


def n_features(query, key):
    return key.shape[-1]


for roots in ((n_keys, n_keys), (n_features, n_keys)):
    answers.wrong("another size under the root", function=backward_with_roots(*roots))


@answers.wrong("power of 2 instead of e")
def backward_by_powers_of_2(query, key, value, output, lse, grad_output, block_size):
    scale = query.shape[-1] ** -0.5
    grads = [np.zeros_like(array) for array in (query, key, value)]
    delta = (output * grad_output).sum(axis=-1, keepdims=True)
    for start in range(0, key.shape[-2], block_size):
        at = np.s_[..., start : start + block_size, :]
        weights = np.exp2(query @ key[at].mT * scale - lse[..., None])
        grad_scores = weights * (grad_output @ value[at].mT - delta) * scale
        grads[0] += grad_scores @ key[at]
        grads[1][at] = grad_scores.mT @ query
        grads[2][at] = weights.mT @ grad_output
    return tuple(grads)


def starts_before_the_last_key(n_k, size):
    return n_k - 1


def starts_before_the_last_block(n_k, size):
    return n_k - size


wrong("single last key dropped", stop=starts_before_the_last_key)
wrong("last block dropped", stop=starts_before_the_last_block)


def backward_joined(stop):
    """An answer that joins the blocks' gradients."""

    def backward(query, key, value, output, lse, grad_output, block_size):
        root = math.sqrt(query.shape[-1])
        delta = (grad_output * output).sum(axis=-1, keepdims=True)
        total, keys, values = np.zeros_like(query), [], []
        for start in range(0, stop(key.shape[-2], block_size), block_size):
            k, v = (array[..., start : start + block_size, :] for array in (key, value))
            a = np.exp(query @ k.mT / root - lse[..., None])
            ds = a * (grad_output @ v.mT - delta) / root
            total += ds @ k
            keys.append(ds.mT @ query)
            values.append(a.mT @ grad_output)
        return total, np.concatenate(keys, axis=-2), np.concatenate(values, axis=-2)

    return backward


answers.wrong("single last key dropped", function=backward_joined(starts_before_the_last_key))
answers.wrong("last block dropped", function=backward_joined(starts_before_the_last_block))
