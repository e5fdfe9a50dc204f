"""Answers to av_product, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("av_product")


def soft(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


answers.wrong("ready-made function", function=attnlib.av_product)
answers.right(np.matmul)
answers.right(lambda weights, value: np.einsum("...ij,...jd->...id", weights, value))
answers.right(lambda a, v: (a[..., None] * v[..., None, :, :]).sum(axis=-2))


@answers.right()
def av_by_keys(weights, value):
    return sum(weights[..., j, None] * value[..., j : j + 1, :] for j in range(value.shape[-2]))


@answers.wrong("Aᵀ V instead of A V")
def av_transposed(weights, value):
    return np.swapaxes(weights, -1, -2) @ value


@answers.wrong("weights averaged over the batch")
def av_batch_mean(weights, value):
    axes = tuple(range(weights.ndim - 2))
    return weights.mean(axis=axes) @ value if axes else weights @ value


@answers.wrong("outputs reduced over the batch")
def av_batch_sum(weights, value):
    out = weights @ value
    while out.ndim > 2:
        out = out.sum(axis=0)
    return out


@answers.wrong("weights normalised again")
def av_normalised(weights, value):
    return weights / weights.sum(-1, keepdims=True) @ value


@answers.wrong("V A instead of A V")
def av_order(weights, value):
    return value @ weights


@answers.wrong("A * V instead of A @ V")
def av_elementwise(weights, value):
    return weights * value


@answers.wrong("np.dot of batched weights")
def av_np_dot(weights, value):
    return np.dot(weights, value)


@answers.wrong("weights ignored")
def av_mean(weights, value):
    return np.broadcast_to(
        value.mean(axis=-2, keepdims=True), (*weights.shape[:-1], value.shape[-1])
    )


@answers.wrong("only for two axes")
def av_loops(weights, value):
    n_q, n_k = weights.shape
    out = np.zeros((n_q, value.shape[1]), weights.dtype)
    for i in range(n_q):
        for j in range(n_k):
            out[i] += weights[i, j] * value[j]
    return out


@answers.wrong("only the best key's value")
def av_best(weights, value):
    return np.take_along_axis(value, weights.argmax(-1)[..., None], axis=-2)


@answers.wrong("divided by the number of keys", "float64 leaks out")
def av_mean_of_products(weights, value):
    out = weights @ value
    return out / np.float64(weights.shape[-1])


@answers.wrong("softmax of the weights")
def av_softmax(weights, value):
    return soft(weights) @ value


@answers.wrong("output transposed")
def av_output_transposed(weights, value):
    return np.einsum("...ij,...jd->...di", weights, value)


@answers.wrong("features summed")
def av_features(weights, value):
    return np.einsum("...ij,...jd->...i", weights, value)


def swap(array):
    return np.swapaxes(array, -1, -2)


for number, (name, function) in enumerate(
    (
        ("Aᵀ V instead of A V", lambda w, v: np.einsum("...ij,...id->...jd", w, v)),
        (
            "summed over the queries instead of the keys",
            lambda w, v: (w[..., None] * v[..., None, :, :]).sum(axis=-3),
        ),
        (
            "summed over the features instead of the keys",
            lambda w, v: (w[..., None] * v[..., None, :, :]).sum(axis=-1),
        ),
        ("not summed", lambda w, v: w[..., None] * v[..., None, :, :]),
        ("keys in reverse order", lambda w, v: w @ v[..., ::-1, :]),
        ("divided by the number of features", lambda w, v: w @ v / math.sqrt(v.shape[-1])),
        ("only the first query", lambda w, v: w[..., :1, :] @ v),
    )
):
    function.__name__ = f"av_product_{number}"
    answers.wrong(name, function=function)

answers.wrong(
    "weights normalised again",
    function=lambda weights, value: (
        weights
        / np.where(weights.sum(-1, keepdims=True) == 0, 1, weights.sum(-1, keepdims=True))
        @ value
    ),
)
answers.wrong(
    "divided by the number of keys",
    "only for three axes",
    function=lambda weights, value: np.einsum("bqk,bkd->bqd", weights, value) / weights.shape[-1],
)
answers.wrong(
    "Aᵀ V instead of A V",
    "float64 leaks out",
    function=lambda weights, value: swap(weights).astype(np.float64) @ value,
)


@answers.wrong("n_q keys instead of n_k")
def av_product_over_the_queries(weights, value):
    out = np.zeros(weights.shape[:-1] + value.shape[-1:], value.dtype)
    for j in range(weights.shape[-2]):
        out += weights[..., :, j, None] * value[..., j, None, :]
    return out


answers.wrong("weights squared", function=lambda weights, value: weights**2 @ value)

answers.wrong(
    "outputs averaged over the queries",
    "axis kept",
    function=lambda weights, value: (weights @ value).mean(-2, keepdims=True),
)
answers.wrong(
    "all values subtracted",
    function=lambda weights, value: weights @ value - value.mean(-2, keepdims=True),
)


@answers.wrong("the first sequence used for all")
def first_values(weights, value):
    return weights @ value.reshape(-1, *value.shape[-2:])[0]
