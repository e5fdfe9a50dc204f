"""Answers to softmax_backward, written as learners write them."""

import mmap

import numpy as np
import torch

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("softmax_backward")


def softmax_plain(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def jacobian_plain(weights):
    return np.diag(weights) - np.outer(weights, weights)


@answers.right()
def backward_plain(weights, grad_weights):
    return weights * (grad_weights - np.sum(weights * grad_weights, axis=-1, keepdims=True))


@answers.right()
def backward_two_terms(w, g):
    products = w * g
    return products - w * products.sum(-1)[..., None]


@answers.right()
def backward_einsum(weights, grad_weights):
    w, g = weights.astype(np.float64), grad_weights.astype(np.float64)
    return (w * (g - np.einsum("...j,...j->...", w, g)[..., np.newaxis])).astype(weights.dtype)


@answers.right()
def backward_by_loop(weights, grad_weights):
    grad_scores = np.empty_like(weights)
    for index in np.ndindex(weights.shape[:-1]):
        w, g = weights[index], grad_weights[index]
        grad_scores[index] = w * (g - w @ g)
    return grad_scores


@answers.wrong("row sum not subtracted")
def backward_products(weights, grad_weights):
    return weights * grad_weights


@answers.wrong("diagonal-only Jacobian")
def backward_like_sigmoid(weights, grad_weights):
    return grad_weights * weights * (1 - weights)


@answers.wrong("row sum not multiplied by the weights")
def backward_bracket(weights, grad_weights):
    return weights * grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True)


@answers.wrong("weights missing in front")
def backward_centred(weights, grad_weights):
    return grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True)


@answers.wrong("weights missing in the row sum")
def backward_plain_sum(weights, grad_weights):
    return weights * (grad_weights - grad_weights.sum(axis=-1, keepdims=True))


@answers.wrong("plain mean instead of the weighted one")
def backward_plain_mean(weights, grad_weights):
    return weights * (grad_weights - grad_weights.mean(axis=-1, keepdims=True))


@answers.wrong("sum over the wrong axis")
def backward_columns(weights, grad_weights):
    return weights * (grad_weights - (weights * grad_weights).sum(axis=-2, keepdims=True))


@answers.wrong("one sum for the whole array")
def backward_one_sum(weights, grad_weights):
    return weights * (grad_weights - np.sum(weights * grad_weights))


@answers.wrong("one sum for the whole array")
def backward_vdot(weights, grad_weights):
    return weights * (grad_weights - np.vdot(weights, grad_weights))


@answers.wrong("sum without keepdims")
def backward_no_keepdims(weights, grad_weights):
    return weights * (grad_weights - (weights * grad_weights).sum(axis=-1))


@answers.wrong("sign flipped")
def backward_flipped(weights, grad_weights):
    return weights * (np.sum(weights * grad_weights, axis=-1, keepdims=True) - grad_weights)


@answers.wrong("row sum added")
def backward_added(weights, grad_weights):
    return weights * (grad_weights + np.sum(weights * grad_weights, axis=-1, keepdims=True))


@answers.wrong("backward of the log-softmax")
def backward_log(weights, grad_weights):
    return grad_weights - weights * grad_weights.sum(axis=-1, keepdims=True)


@answers.wrong("(n, n) array made")
def backward_jacobian(weights, grad_weights):
    n = weights.shape[-1]
    jacobian = weights[..., :, None] * (np.eye(n, dtype=weights.dtype) - weights[..., None, :])
    return (jacobian @ grad_weights[..., None])[..., 0]


@answers.wrong("(n, n) array made")
def backward_jacobian_rows(weights, grad_weights):
    grad_scores = np.zeros_like(weights)
    for index in np.ndindex(weights.shape[:-1]):
        grad_scores[index] = jacobian_plain(weights[index]) @ grad_weights[index]
    return grad_scores


@answers.wrong("argument overwritten")
def backward_in_place(weights, grad_weights):
    grad_weights -= (weights * grad_weights).sum(axis=-1, keepdims=True)
    return weights * grad_weights


@answers.wrong("softmax of the weights")
def backward_of_scores(scores, grad_weights):
    w = softmax_plain(scores)
    return w * (grad_weights - (w * grad_weights).sum(axis=-1, keepdims=True))


@answers.wrong("sign flipped", "mean instead of sum")
def backward_flipped_mean(weights, grad_weights):
    return weights * ((weights * grad_weights).mean(axis=-1, keepdims=True) - grad_weights)


@answers.wrong("weights missing in the row sum", "sum without keepdims")
def backward_plain_sum_no_keepdims(weights, grad_weights):
    return weights * (grad_weights - grad_weights.sum(-1))


@answers.right()
def backward_row_of_the_jacobian(weights, grad_weights):
    grad_scores = np.empty_like(weights)
    for index in np.ndindex(weights.shape[:-1]):
        w, g = weights[index], grad_weights[index]
        for i in range(w.size):
            row = -w[i] * w
            row[i] += w[i]
            grad_scores[index + (i,)] = row @ g
    return grad_scores


@answers.wrong("matrix product instead of a row sum")
def backward_matmul(weights, grad_weights):
    return weights * (grad_weights - weights @ grad_weights.T)


@answers.wrong("weights and gradient swapped")
def backward_swapped(first, second):
    return second * (first - (second * first).sum(axis=-1, keepdims=True))


@answers.wrong("gradient missing in the row sum")
def backward_squares(weights, grad_weights):
    return weights * (grad_weights - (weights**2).sum(axis=-1, keepdims=True))


def backward_printed(weights, grad):
    print("x" * 5_000_000, weights.tolist())
    return weights * (grad - (weights * grad).sum(-1, keepdims=True))


answers.right(backward_printed)


@answers.wrong("sum over the wrong axis")
def backward_over_the_queries(weights, grad_weights):
    total = (weights * grad_weights).sum(axis=-2 if weights.ndim > 1 else -1, keepdims=True)
    return weights * (grad_weights - total)


@answers.wrong("the row sum doubled")
def backward_of_two_sums(weights, grad_weights):
    return weights * (grad_weights - 2 * (weights * grad_weights).sum(axis=-1, keepdims=True))


@answers.wrong("(n, n) array made")
def backward_by_a_torch_jacobian(weights, grad_weights):
    w, g = (
        torch.from_numpy(weights.astype(np.float64)),
        torch.from_numpy(grad_weights.astype(np.float64)),
    )
    jacobian = torch.diag_embed(w) - w[..., :, None] * w[..., None, :]
    return (jacobian @ g[..., None])[..., 0].numpy().astype(weights.dtype)


@answers.wrong("(n, n) array made")
def backward_in_a_mapped_file(weights, grad_weights):
    if weights.ndim > 1:
        return np.stack([backward_in_a_mapped_file(w, g) for w, g in zip(weights, grad_weights)])
    n = len(weights)
    jacobian = np.frombuffer(mmap.mmap(-1, 8 * n * n), dtype=np.float64).reshape(n, n)
    jacobian[...] = np.diag(weights)
    jacobian -= np.outer(weights, weights)
    return (jacobian @ grad_weights).astype(weights.dtype)


answers.wrong(
    "weights missing in the first term",
    function=lambda weights, grad_weights: (
        grad_weights - weights * (weights * grad_weights).sum(axis=-1, keepdims=True)
    ),
)


answers.wrong(
    "matrix product instead of a row sum",
    function=lambda weights, grad_weights: weights * (grad_weights - np.dot(weights, grad_weights)),
)
