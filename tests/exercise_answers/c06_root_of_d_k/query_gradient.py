"""Answers to query_gradient, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("query_gradient")


def gradient(query, key, grad_weights, scale=None, scale_back=None, grad_scores=None):
    root = math.sqrt(query.shape[-1])
    weights = attnlib.softmax(query @ key.mT * (1 / root if scale is None else scale))
    mean = (weights * grad_weights).sum(axis=-1, keepdims=True)
    slopes = (
        weights * (grad_weights - mean)
        if grad_scores is None
        else grad_scores(weights, grad_weights, mean)
    )
    return slopes @ key * (1 / root if scale_back is None else scale_back)


@answers.right()
def gradient_by_rows(query, key, grad_weights):
    scale = query.shape[-1] ** -0.5
    weights = attnlib.softmax(query @ key.mT * scale)
    mean = np.einsum("...ij,...ij->...i", weights, grad_weights)[..., None]
    return np.einsum("...ij,...jc->...ic", weights * (grad_weights - mean), key) * scale


@answers.right()
def gradient_by_jacobian(query, key, grad_weights):
    scale = query.shape[-1] ** -0.5
    found = np.zeros_like(query)
    for at in np.ndindex(*query.shape[:-1]):
        weights = attnlib.softmax(key[at[:-1]] @ query[at] * scale)
        jacobian = np.diag(weights) - np.outer(weights, weights)
        found[at] = scale * key[at[:-1]].T @ (jacobian @ grad_weights[at])
    return found


@answers.right()
def gradient_of_scaled_queries(query, key, grad_weights):
    small = query / math.sqrt(query.shape[-1])
    scores = small @ np.swapaxes(key, -1, -2)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    pulled = weights * grad_weights
    grad_scores = pulled - weights * pulled.sum(axis=-1, keepdims=True)
    return grad_scores @ key / math.sqrt(query.shape[-1])


answers.wrong(
    "scale forgotten in the backward pass",
    function=lambda query, key, grad_weights: gradient(query, key, grad_weights, None, 1),
)
answers.wrong(
    "scale forgotten in the forward pass",
    function=lambda query, key, grad_weights: gradient(query, key, grad_weights, 1),
)
answers.wrong(
    "scale forgotten in the backward pass",
    "scale forgotten in the forward pass",
    function=lambda query, key, grad_weights: gradient(query, key, grad_weights, 1, 1),
)
answers.wrong(
    "scaled twice in the backward pass",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, None, 1 / query.shape[-1]
    ),
)
answers.wrong(
    "mean not subtracted",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, grad_scores=lambda a, b, mean: a * b
    ),
)
answers.wrong(
    "plain mean instead of the weighted one",
    function=lambda query, key, grad_weights: gradient(
        query,
        key,
        grad_weights,
        grad_scores=lambda a, b, mean: a * (b - b.mean(axis=-1, keepdims=True)),
    ),
)
answers.wrong(
    "not multiplied by the weights",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, grad_scores=lambda a, b, mean: b - mean
    ),
)
answers.wrong(
    "each key by itself",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, grad_scores=lambda a, b, mean: b * a * (1 - a)
    ),
)
answers.wrong(
    "softmax left out in the backward pass",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, grad_scores=lambda a, b, mean: b
    ),
)
answers.wrong(
    "step downhill", function=lambda query, key, grad_weights: -gradient(query, key, grad_weights)
)


@answers.wrong("no maximum subtracted")
def gradient_without_maximum(query, key, grad_weights):
    root = math.sqrt(query.shape[-1])
    exps = np.exp(query @ key.mT / root)
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return (
        weights * (grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True)) @ key / root
    )


answers.wrong(
    "scores divided by d_k",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, 1 / query.shape[-1]
    ),
)
answers.wrong(
    "mean subtracted without the weights",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, grad_scores=lambda a, b, mean: a * b - mean
    ),
)
answers.wrong(
    "one sum for all queries",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, grad_scores=lambda a, b, mean: a * (b - (a * b).sum())
    ),
)


def grad_scores(query, key, grad_weights):
    weights = attnlib.softmax(attnlib.raw_scores(query, key))
    return (
        weights
        * (grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True))
        / math.sqrt(query.shape[-1])
    )


answers.wrong("stopped at the scores", function=grad_scores)
answers.wrong(
    "the keys' gradient",
    function=lambda query, key, grad_weights: grad_scores(query, key, grad_weights).mT @ query,
)


answers.wrong(
    "another size under the root",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, key.shape[-2] ** -0.5, key.shape[-2] ** -0.5
    ),
)


@answers.wrong("softmax over the queries", "scale forgotten in the backward pass")
def gradient_over_the_queries(query, key, grad_weights):
    weights = attnlib.softmax(query @ key.mT / math.sqrt(query.shape[-1]), axis=-2)
    return weights * (grad_weights - (weights * grad_weights).sum(axis=-2, keepdims=True)) @ key


answers.wrong(
    "weights missing in the first term",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, grad_scores=lambda weights, grad, mean: grad - weights * mean
    ),
)


answers.wrong(
    "each key by itself",
    "scale forgotten in the backward pass",
    function=lambda query, key, grad_weights: gradient(
        query,
        key,
        grad_weights,
        scale_back=1,
        grad_scores=lambda weights, grad, mean: weights * (1 - weights) * grad,
    ),
)


answers.wrong(
    "weights instead of the gradient of the scores",
    function=lambda query, key, grad_weights: gradient(
        query, key, grad_weights, grad_scores=lambda weights, grad, mean: weights
    ),
)


@answers.wrong("d_k instead of its root")
def gradient_by_d_k(query, key, grad_weights):
    d_k = query.shape[-1]
    weights = attnlib.softmax(query @ key.mT / d_k)
    centred = grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True)
    return (weights * centred) @ key / d_k


@answers.wrong()  # each row of the scores' gradient sums to 0: nothing but rounding is left
def gradient_times_the_query(query, key, grad_weights):
    root = math.sqrt(query.shape[-1])
    weights = attnlib.softmax(query @ key.mT / root)
    centred = grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True)
    return (weights * centred).sum(axis=-1, keepdims=True) * query / root
