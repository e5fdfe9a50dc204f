"""Answers to raw_scores_backward, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("raw_scores_backward")


@answers.right()
def backward_by_products(query, key, grad_scores):
    scale = 1 / math.sqrt(query.shape[-1])
    return grad_scores @ key * scale, grad_scores.mT @ query * scale


@answers.right()
def backward_scaled_first(query, key, grad_scores):
    grad_scores = grad_scores / math.sqrt(key.shape[-1])
    return [grad_scores @ key, np.swapaxes(grad_scores, -1, -2) @ query]


@answers.right()
def backward_by_einsum(query, key, grad_scores):
    scale = query.shape[-1] ** -0.5
    return (
        np.einsum("...ij,...jc->...ic", grad_scores, key * scale),
        np.einsum("...ij,...ic->...jc", grad_scores, query * scale),
    )


@answers.right()
def backward_row_by_row(query, key, grad_scores):
    grad_query, grad_key = np.zeros_like(query), np.zeros_like(key)
    root = math.sqrt(query.shape[-1])
    for b in np.ndindex(*query.shape[:-2]):
        for i in range(query.shape[-2]):
            grad_query[b][i] = grad_scores[b][i] @ key[b] / root
            grad_key[b][...] += np.outer(grad_scores[b][i], query[b][i]) / root
    return grad_query, grad_key


def backward(query, key, grad_scores, for_query=1, for_key=1):
    scale = 1 / math.sqrt(query.shape[-1])
    return grad_scores @ key * scale**for_query, grad_scores.mT @ query * scale**for_key


def wrong(*names, **powers):
    answers.wrong(
        *names, function=lambda query, key, grad_scores: backward(query, key, grad_scores, **powers)
    )


wrong("no scale in grad_query", for_query=0)
wrong("no scale in grad_key", for_key=0)
wrong("no scale in the gradients", for_query=0, for_key=0)
wrong("scale twice in the gradients", for_query=2, for_key=2)
wrong("scale inverted in the gradients", for_query=-1, for_key=-1)


def divided(function, root=lambda query: math.sqrt(query.shape[-1])):
    def raw_scores_backward(query, key, grad_scores):
        return tuple(part / root(query) for part in function(query, key, grad_scores))

    return raw_scores_backward


answers.wrong(
    "another size under the root in the gradients",
    function=divided(lambda q, k, g: (g @ k, g.mT @ q), lambda query: math.sqrt(query.shape[-2])),
)
answers.wrong(
    "another size under the root in the gradients",
    function=divided(lambda q, k, g: (g @ k, g.mT @ q), lambda query: math.sqrt(len(query))),
)
answers.wrong("dS instead of dSᵀ in grad_key", function=divided(lambda q, k, g: (g @ k, g @ q)))
answers.wrong(
    "dSᵀ instead of dS in grad_query", function=divided(lambda q, k, g: (g.mT @ k, g.mT @ q))
)
answers.wrong(
    "query and key swapped in the products", function=divided(lambda q, k, g: (g @ q, g.mT @ k))
)
answers.wrong("gradients in another order", function=divided(lambda q, k, g: (g.mT @ q, g @ k)))
answers.wrong(
    "gradients in another order",
    "no scale in the gradients",
    function=lambda q, k, g: (g.mT @ q, g @ k),
)
answers.wrong("a gradient transposed", function=divided(lambda q, k, g: (g @ k, q.mT @ g)))
answers.wrong(
    "gradients in another order",
    "a gradient transposed",
    function=divided(lambda q, k, g: (q.mT @ g, g @ k)),
)
answers.wrong("a gradient left at 0", function=divided(lambda q, k, g: (g @ k, np.zeros_like(k))))
answers.wrong(
    "gradient divided by a size",
    function=divided(lambda q, k, g: (g @ k / k.shape[-2], g.mT @ q / q.shape[-2])),
)
answers.wrong(
    "grad_scores ignored",
    function=divided(lambda q, k, g: (np.ones_like(g) @ k, np.ones_like(g).mT @ q)),
)
answers.wrong("sign flipped", function=divided(lambda q, k, g: (-g @ k, -g.mT @ q)))
answers.wrong("only for two axes", function=divided(lambda q, k, g: (g @ k, g.T @ q)))
answers.wrong(
    "float64 leaks out",
    function=divided(lambda q, k, g: (g @ k, g.mT @ q), lambda q: np.sqrt(q.shape[-1])),
)


@answers.wrong("assigned instead of added")
def backward_that_assigns(query, key, grad_scores):
    grad_query, grad_key = np.zeros_like(query), np.zeros_like(key)
    root = math.sqrt(query.shape[-1])
    for *batch, i, j in np.ndindex(*grad_scores.shape):
        grad_query[*batch, i] = grad_scores[*batch, i, j] * key[*batch, j] / root
        grad_key[*batch, j] = grad_scores[*batch, i, j] * query[*batch, i] / root
    return grad_query, grad_key


@answers.wrong("backward through the softmax as well")
def backward_from_the_weights(query, key, grad_weights):
    root = math.sqrt(query.shape[-1])
    scores = query @ key.mT / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True))
    return grad_scores @ key / root, grad_scores.mT @ query / root


@answers.wrong("step taken")
def backward_and_a_step(query, key, grad_scores):
    grad_query, grad_key = backward(query, key, grad_scores)
    return query - grad_query, key - grad_key


@answers.wrong("query overwritten")
def names_used_again(query, key, grad_scores):
    g = grad_scores / math.sqrt(query.shape[-1])
    query = g @ key
    key = np.swapaxes(g, -1, -2) @ query
    return query, key


@answers.wrong("another size under the root in the gradients")
def backward_with_the_second_axis(query, key, grad_scores):
    g = grad_scores / math.sqrt(query.shape[1])
    return g @ key, g.mT @ query


@answers.wrong("another size under the root in the gradients")
def each_by_the_others_length(query, key, grad_scores):
    return (
        grad_scores @ key * key.shape[-2] ** -0.5,
        np.swapaxes(grad_scores, -1, -2) @ query * query.shape[-2] ** -0.5,
    )
