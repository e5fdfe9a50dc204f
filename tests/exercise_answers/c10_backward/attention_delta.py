"""Answers to attention_delta, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("attention_delta")


@answers.right()
def delta_in_one_line(output, grad_output):
    return (output * grad_output).sum(axis=-1)


@answers.right()
def delta_by_einsum(output, grad_output):
    return np.einsum("...ic,...ic->...i", grad_output, output)


@answers.right()
def delta_by_dot_products(output, grad_output):
    return np.vecdot(output, grad_output)


@answers.right()
def delta_by_small_products(output, grad_output):
    return (output[..., None, :] @ grad_output[..., :, None])[..., 0, 0]


@answers.right()
def delta_feature_by_feature(output, grad_output):
    delta = np.zeros(output.shape[:-1], output.dtype)
    for c in range(output.shape[-1]):
        delta += output[..., c] * grad_output[..., c]
    return delta


answers.wrong(
    "a product for each pair of queries",
    function=lambda output, grad: np.diagonal(output @ grad.mT, axis1=-2, axis2=-1).copy(),
)
answers.wrong(
    "a product for each pair of features",
    function=lambda output, grad: np.trace(
        output[..., :, None] * grad[..., None, :], axis1=-2, axis2=-1
    ),
)
answers.wrong(
    "axis kept", function=lambda output, grad: (output * grad).sum(axis=-1, keepdims=True)
)
answers.wrong("not summed", function=lambda output, grad: output * grad)
answers.wrong(
    "summed over the queries instead of the features",
    function=lambda output, grad: (output * grad).sum(axis=-2),
)
answers.wrong("one sum for the whole array", function=lambda output, grad: (output * grad).sum())
answers.wrong(
    "axes counted from the front", function=lambda output, grad: (output * grad).sum(axis=1)
)
answers.wrong("mean instead of sum", function=lambda output, grad: (output * grad).mean(axis=-1))
answers.wrong(
    "divided by sqrt(d_v)",
    function=lambda output, grad: (output * grad).sum(axis=-1) / math.sqrt(output.shape[-1]),
)
answers.wrong("output squared", function=lambda output, grad: (output**2).sum(axis=-1))
answers.wrong("gradient squared", function=lambda output, grad: (grad**2).sum(axis=-1))
answers.wrong("output left out", function=lambda output, grad: grad.sum(axis=-1))
answers.wrong(
    "product of two sums", function=lambda output, grad: output.sum(axis=-1) * grad.sum(axis=-1)
)
answers.wrong("sum instead of product", function=lambda output, grad: (output + grad).sum(axis=-1))
answers.wrong(
    "difference instead of product", function=lambda output, grad: (output - grad).sum(axis=-1)
)
answers.wrong("sign flipped", function=lambda output, grad: -(output * grad).sum(axis=-1))
answers.wrong("absolute values", function=lambda output, grad: np.abs(output * grad).sum(axis=-1))
answers.wrong(
    "a whole table returned",
    "a product for each pair of queries",
    function=lambda output, grad: output @ grad.mT,
)
answers.wrong(
    "each output times all gradients",
    "a product for each pair of queries",
    function=lambda output, grad: (output @ grad.mT).sum(axis=-1),
)
answers.wrong(
    "reduced over the batch",
    function=lambda output, grad: (output * grad).sum(axis=(*range(output.ndim - 2), -1)),
)


@answers.wrong("only one feature")
def delta_that_assigns(output, grad_output):
    delta = np.zeros(output.shape[:-1], output.dtype)
    for c in range(output.shape[-1]):
        delta = output[..., c] * grad_output[..., c]
    return delta


@answers.wrong("cosine")
def delta_of_directions(output, grad_output):
    lengths = np.sqrt((output**2).sum(axis=-1) * (grad_output**2).sum(axis=-1))
    return (output * grad_output).sum(axis=-1) / lengths


@answers.wrong("float64 leaks out")
def delta_into_zeros(output, grad_output):
    delta = np.zeros(output.shape[:-1])
    for c in range(output.shape[-1]):
        delta += output[..., c] * grad_output[..., c]
    return delta
