"""Answers to log_softmax_backward, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("log_softmax_backward")


@answers.right()
def logs_by_formula(log_weights, grad_log_weights):
    return grad_log_weights - np.exp(log_weights) * grad_log_weights.sum(axis=-1, keepdims=True)


@answers.right()
def logs_by_jacobian(log_weights, grad_log_weights):
    n = log_weights.shape[-1]
    jacobian = np.eye(n) - np.exp(log_weights.astype(np.float64))[..., None, :]
    return np.einsum("...j,...jl->...l", grad_log_weights, jacobian).astype(log_weights.dtype)


@answers.right()
def logs_row_by_row(log_weights, grad_log_weights):
    found = np.empty_like(log_weights)
    for at in np.ndindex(*log_weights.shape[:-1]):
        found[at] = grad_log_weights[at] - np.exp(log_weights[at]) * sum(grad_log_weights[at])
    return found


def back(log_weights, grad, weights=np.exp, axis=-1):
    return grad - weights(log_weights) * grad.sum(axis=axis, keepdims=True)


answers.wrong("row sum not subtracted", function=lambda log_weights, grad: grad.copy())
answers.wrong(
    "weights missing", function=lambda log_weights, grad: grad - grad.sum(axis=-1, keepdims=True)
)
answers.wrong(
    "logarithms treated as weights",
    function=lambda log_weights, grad: back(log_weights, grad, lambda x: x),
)
answers.wrong(
    "row sum added",
    function=lambda log_weights, grad: (
        grad + np.exp(log_weights) * grad.sum(axis=-1, keepdims=True)
    ),
)
answers.wrong(
    "sum over the queries",
    function=lambda log_weights, grad: back(log_weights, grad, axis=max(-2, -grad.ndim)),
)
answers.wrong(
    "one sum for the whole array",
    function=lambda log_weights, grad: grad - np.exp(log_weights) * grad.sum(),
)
answers.wrong("sign flipped", function=lambda log_weights, grad: -back(log_weights, grad))
answers.wrong(
    "mean instead of sum",
    function=lambda log_weights, grad: (
        grad - np.exp(log_weights) * grad.mean(axis=-1, keepdims=True)
    ),
)
answers.wrong(
    "mean instead of the weight times the sum",
    function=lambda log_weights, grad: grad - grad.mean(axis=-1, keepdims=True),
)


@answers.wrong("backward of the softmax")
def logs_as_weights(log_weights, grad_log_weights):
    weights = np.exp(log_weights)
    return weights * (grad_log_weights - (weights * grad_log_weights).sum(axis=-1, keepdims=True))


@answers.wrong("only each log-weight's own score")
def logs_without_the_others(log_weights, grad_log_weights):
    return grad_log_weights * (1 - np.exp(log_weights))


@answers.wrong("Jacobian not transposed")
def logs_by_the_wrong_side(log_weights, grad_log_weights):
    return grad_log_weights - (np.exp(log_weights) * grad_log_weights).sum(axis=-1, keepdims=True)


answers.wrong(
    "only the logarithm's derivative", function=lambda log_weights, grad: grad / np.exp(log_weights)
)
answers.wrong(
    "weights added up",
    function=lambda log_weights, grad: (
        grad - np.exp(log_weights).sum(axis=-1, keepdims=True) * grad
    ),
)


answers.wrong(
    "row sum treated as 1",
    function=lambda log_weights, grad_log_weights: grad_log_weights - np.exp(log_weights),
)


@answers.wrong("backward of the softmax", "logarithms treated as weights")
def backward_of_another_function(log_weights, grad_log_weights):
    total = (log_weights * grad_log_weights).sum(axis=-1, keepdims=True)
    return log_weights * (grad_log_weights - total)


def through_the_weights(denominator):
    """The gradient of the weights, and then the backward of the softmax."""

    def gradient(log_weights, grad_log_weights):
        weights = np.exp(log_weights)
        grad = grad_log_weights / denominator(weights)
        return weights * (grad - (weights * grad).sum(axis=-1, keepdims=True))

    return gradient


answers.wrong(
    "divided by weights that underflow", function=through_the_weights(lambda weights: weights)
)
answers.wrong(
    "divided by weights that underflow",
    function=through_the_weights(lambda weights: np.maximum(weights, np.finfo(weights.dtype).tiny)),
)
answers.wrong(
    "epsilon in the denominator",
    function=through_the_weights(lambda weights: weights + weights.dtype.type(1e-9)),
)


@answers.wrong("softmax over another axis")
def another_softmax_over_the_first_axis(log_weights, grad_log_weights):
    e = np.exp(log_weights - log_weights.max(axis=0, keepdims=True))
    w = e / e.sum(axis=0, keepdims=True)
    if log_weights.ndim == 1:
        w = np.exp(log_weights)
    return grad_log_weights - w * grad_log_weights.sum(axis=-1, keepdims=True)


def through_these(grad_weights):
    """The backward of the softmax, with this gradient of the weights."""

    def gradient(log_weights, grad_log_weights):
        w = np.exp(log_weights)
        g = grad_weights(w, grad_log_weights)
        return w * (g - (w * g).sum(axis=-1, keepdims=True))

    return gradient


for guarded in (
    lambda w, g: np.where(w > 0, g / np.where(w > 0, w, 1), 0),
    lambda w, g: np.divide(g, w, out=np.zeros_like(g), where=w > 0),
    lambda w, g: np.nan_to_num(g / w),
):
    answers.wrong("divided by weights that underflow", function=through_these(guarded))
