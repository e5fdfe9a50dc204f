"""Answers to av_product_backward, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("av_product_backward")


@answers.right()
def backward_by_products(weights, value, grad_output):
    return grad_output @ value.mT, weights.mT @ grad_output


@answers.right()
def backward_by_einsum(weights, value, grad_output):
    grad_weights = np.einsum("...ic,...jc->...ij", grad_output, value)
    return [grad_weights, np.einsum("...ij,...ic->...jc", weights, grad_output)]


@answers.right()
def backward_by_broadcasting(weights, value, grad_output):
    pairs = grad_output[..., :, None, :] * value[..., None, :, :]
    parts = weights[..., :, :, None] * grad_output[..., :, None, :]
    return pairs.sum(axis=-1), parts.sum(axis=-3)


@answers.right()
def backward_transposed_twice(weights, value, grad_output):
    grad_weights = np.swapaxes(value @ np.swapaxes(grad_output, -1, -2), -1, -2)
    return grad_weights, np.swapaxes(np.swapaxes(grad_output, -1, -2) @ weights, -1, -2)


def by_entries(add=lambda array, place, more: array.__setitem__(place, array[place] + more)):
    """A learner's loop over all products of the forward pass."""

    def av_product_backward(weights, value, grad_output):
        grad_weights, grad_value = np.zeros_like(weights), np.zeros_like(value)
        for place in np.ndindex(*weights.shape):
            *batch, i, j = place
            for c in range(value.shape[-1]):
                add(grad_weights, place, grad_output[*batch, i, c] * value[*batch, j, c])
                add(grad_value, (*batch, j, c), weights[place] * grad_output[*batch, i, c])
        return grad_weights, grad_value

    return av_product_backward


answers.right(by_entries())
answers.wrong(
    "assigned instead of added",
    function=by_entries(lambda array, place, more: array.__setitem__(place, more)),
)
answers.wrong("gradients in another order", function=lambda a, v, g: (a.mT @ g, g @ v.mT))
answers.wrong("A instead of Aᵀ in grad_value", function=lambda a, v, g: (g @ v.mT, a @ g))
answers.wrong("value not transposed in grad_weights", function=lambda a, v, g: (g @ v, a.mT @ g))
answers.wrong(
    "A instead of Aᵀ in grad_value",
    "value not transposed in grad_weights",
    function=lambda a, v, g: (g @ v, a @ g),
)
answers.wrong(
    "values instead of grad_output in grad_value", function=lambda a, v, g: (g @ v.mT, a.mT @ v)
)
answers.wrong("a gradient transposed", function=lambda a, v, g: (v @ g.mT, a.mT @ g))
answers.wrong(
    "gradients in another order",
    "a gradient transposed",
    function=lambda a, v, g: (a.mT @ g, v @ g.mT),
)
answers.wrong(
    "gradients in another order", "sign flipped", function=lambda a, v, g: (-a.mT @ g, -g @ v.mT)
)
answers.wrong("a gradient left at 0", function=lambda a, v, g: (g @ v.mT, np.zeros_like(v)))
answers.wrong("weights multiplied in", function=lambda a, v, g: (a * (g @ v.mT), a.mT @ g))
answers.wrong(
    "weights left out of grad_value", function=lambda a, v, g: (g @ v.mT, np.ones_like(a).mT @ g)
)
answers.wrong(
    "gradient divided by a size", function=lambda a, v, g: (g @ v.mT, a.mT @ g / a.shape[-2])
)
answers.wrong(
    "grad_output ignored", function=lambda a, v, g: (np.ones_like(g) @ v.mT, a.mT @ np.ones_like(g))
)
answers.wrong("sign flipped", function=lambda a, v, g: (-g @ v.mT, -a.mT @ g))
answers.wrong("step taken", function=lambda a, v, g: (a - g @ v.mT, v - a.mT @ g))
answers.wrong("only for two axes", function=lambda a, v, g: (g @ v.T, a.T @ g))


@answers.wrong("backward through the softmax as well")
def backward_to_the_scores(weights, value, grad_output):
    grad_weights = grad_output @ value.mT
    delta = (weights * grad_weights).sum(axis=-1, keepdims=True)
    return weights * (grad_weights - delta), weights.mT @ grad_output


@answers.wrong("reduced over the batch")
def backward_without_batch(weights, value, grad_output):
    batch = tuple(range(weights.ndim - 2))
    return (grad_output @ value.mT).sum(axis=batch), (
        np.swapaxes(weights, -1, -2) @ grad_output
    ).sum(axis=batch)


@answers.wrong("float64 leaks out")
def backward_into_zeros(weights, value, grad_output):
    grad_value = np.zeros(value.shape)
    grad_value += weights.mT @ grad_output
    return grad_output @ value.mT, grad_value


@answers.wrong("grad_weights divided by sqrt(d_v)", "float64 leaks out")
def with_a_scale(weights, value, grad_output):
    grad_weights = grad_output @ np.swapaxes(value, -1, -2) / np.sqrt(value.shape[-1])
    return grad_weights, (np.swapaxes(weights, -1, -2) @ grad_output).astype(np.float64)


@answers.wrong("output instead of grad_output")
def backward_from_the_output(weights, value, grad_output):
    output = weights @ value
    return output @ value.mT, weights.mT @ output


@answers.wrong("grad_weights instead of the weights in grad_value")
def backward_with_grad_weights_twice(weights, value, grad_output):
    grad_weights = grad_output @ value.mT
    return grad_weights, grad_weights.mT @ grad_output


@answers.wrong("features summed before the product")
def backward_of_summed_features(weights, value, grad_output):
    grad_weights = grad_output.sum(-1, keepdims=True) * value.sum(-1)[..., None, :]
    return grad_weights, weights.mT @ grad_output
