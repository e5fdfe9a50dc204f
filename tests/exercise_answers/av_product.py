"""Answers to the exercises of "The AV product", written as learners write them."""

import math

import numpy as np

import attnlib
from attnlib.exercises.engine.prove import Answers

ANSWERS = answers = Answers()


def soft(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# ---------------------------------------------------------------- av_product

answers.right("av_product", attnlib.av_product)
answers.right("av_product", np.matmul)
answers.right("av_product", lambda weights, value: np.einsum("...ij,...jd->...id", weights, value))
answers.right("av_product", lambda a, v: (a[..., None] * v[..., None, :, :]).sum(axis=-2))


@answers.right("av_product")
def av_by_keys(weights, value):
    return sum(weights[..., j, None] * value[..., j : j + 1, :] for j in range(value.shape[-2]))


@answers.wrong("av_product", "Aᵀ V instead of A V")
def av_transposed(weights, value):
    return np.swapaxes(weights, -1, -2) @ value


@answers.wrong("av_product", "weights averaged over the batch")
def av_batch_mean(weights, value):
    axes = tuple(range(weights.ndim - 2))
    return weights.mean(axis=axes) @ value if axes else weights @ value


@answers.wrong("av_product", "outputs summed over the batch")
def av_batch_sum(weights, value):
    out = weights @ value
    while out.ndim > 2:
        out = out.sum(axis=0)
    return out


@answers.wrong("av_product", "weights normalised again")
def av_normalised(weights, value):
    return weights / weights.sum(-1, keepdims=True) @ value


@answers.wrong("av_product", "V A instead of A V")
def av_order(weights, value):
    return value @ weights


@answers.wrong("av_product", "A * V instead of A @ V")
def av_elementwise(weights, value):
    return weights * value


@answers.wrong("av_product", "np.dot of batched weights")
def av_np_dot(weights, value):
    return np.dot(weights, value)


@answers.wrong("av_product", "weights ignored")
def av_mean(weights, value):
    return np.broadcast_to(value.mean(axis=-2, keepdims=True), (*weights.shape[:-1], value.shape[-1]))


@answers.wrong("av_product", "only for two axes")
def av_loops(weights, value):
    n_q, n_k = weights.shape
    out = np.zeros((n_q, value.shape[1]), weights.dtype)
    for i in range(n_q):
        for j in range(n_k):
            out[i] += weights[i, j] * value[j]
    return out


@answers.wrong("av_product", "only the best key's value")
def av_best(weights, value):
    return np.take_along_axis(value, weights.argmax(-1)[..., None], axis=-2)


@answers.wrong("av_product", "divided by the number of keys", "float64 leaks out")
def av_mean_of_products(weights, value):
    out = weights @ value
    return out / np.float64(weights.shape[-1])


@answers.wrong("av_product", "softmax of the weights")
def av_softmax(weights, value):
    return soft(weights) @ value


@answers.wrong("av_product", "output transposed")
def av_output_transposed(weights, value):
    return np.einsum("...ij,...jd->...di", weights, value)


@answers.wrong("av_product", "features summed")
def av_features(weights, value):
    return np.einsum("...ij,...jd->...i", weights, value)


# ---------------------------------------------------------------- attention

answers.right("attention", attnlib.attention)
answers.right("attention", lambda q, k, v: attnlib.softmax(attnlib.raw_scores(q, k)) @ v)


@answers.right("attention")
def attention_plain(query, key, value):
    return soft(query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])) @ value


@answers.right("attention")
def attention_einsum_upcast(query, key, value):
    q, k, v = (x.astype(np.float64) for x in (query, key, value))
    weights = soft(np.einsum("...id,...jd->...ij", q, k) / np.sqrt(q.shape[-1]))
    return np.einsum("...ij,...jd->...id", weights, v).astype(query.dtype)


@answers.right("attention")
def attention_divided_last(query, key, value):
    scores = (query * query.shape[-1] ** -0.5) @ key.mT
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return (powers @ value) / powers.sum(-1, keepdims=True)


@answers.right("attention")
def attention_row_by_row(query, key, value):
    out = np.empty((*query.shape[:-1], value.shape[-1]), value.dtype)
    for index in np.ndindex(*query.shape[:-2]):
        for i in range(query.shape[-2]):
            scores = key[index] @ query[index][i] / math.sqrt(key.shape[-1])
            out[index][i] = soft(scores) @ value[index]
    return out


@answers.wrong("attention", "no scale")
def attention_unscaled(query, key, value):
    return soft(query @ key.mT) @ value


@answers.wrong("attention", "float64 leaks out")
def attention_leaking(query, key, value):
    return soft(query @ key.mT / np.sqrt(key.shape[-1])) @ value


@answers.wrong("attention", "no maximum subtracted")
def attention_naive(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True) @ value


@answers.wrong("attention", "no scale", "no maximum subtracted")
def attention_unscaled_naive(query, key, value):
    powers = np.exp(np.einsum("...id,...jd->...ij", query, key))
    return np.einsum("...ij,...jd->...id", powers / powers.sum(-1, keepdims=True), value)


@answers.wrong("attention", "softmax over the queries' axis")
def attention_other_axis(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    e = np.exp(scores - scores.max(axis=-2, keepdims=True))
    return e / e.sum(axis=-2, keepdims=True) @ value


@answers.wrong("attention", "softmax over everything", "d_k instead of sqrt(d_k)")
def attention_everything(query, key, value):
    scores = query @ key.mT / query.shape[-1]
    e = np.exp(scores - scores.max())
    return e / e.sum() @ value


@answers.wrong("attention", ".T on a batched array")
def attention_dot_t(query, key, value):
    return soft(query @ key.T / math.sqrt(query.shape[-1])) @ value


@answers.wrong("attention", "keys instead of values")
def attention_keys(query, key, value):
    return soft(query @ key.mT / math.sqrt(query.shape[-1])) @ key


@answers.wrong("attention", "weights returned instead of the output")
def attention_weights(query, key, value):
    return soft(query @ key.mT / math.sqrt(query.shape[-1]))


@answers.wrong("attention", "softmax left out")
def attention_linear(query, key, value):
    return query @ key.mT / math.sqrt(query.shape[-1]) @ value


@answers.wrong("attention", "scale after the softmax")
def attention_scaled_late(query, key, value):
    return soft(query @ key.mT) @ value / math.sqrt(query.shape[-1])


@answers.wrong("attention", "extra value returned")
def attention_and_weights(query, key, value):
    weights = soft(query @ key.mT / math.sqrt(query.shape[-1]))
    return weights @ value, weights


@answers.wrong("attention", "extra value returned", "no scale")
def attention_and_weights_unscaled(query, key, value):
    weights = soft(query @ key.mT)
    return weights @ value, weights


@answers.wrong("attention", "one maximum for the whole array", "sqrt(n_k) instead of sqrt(d_k)")
def attention_global_maximum(query, key, value):
    scores = query @ key.mT / key.shape[-2] ** 0.5
    e = np.exp(scores - scores.max())
    return e / e.sum(-1, keepdims=True) @ value


@answers.wrong("attention", "sqrt(n_q) instead of sqrt(d_k)", "softmax over the queries' axis")
def attention_two(query, key, value):
    scores = query @ key.mT / query.shape[-2] ** 0.5
    e = np.exp(scores - scores.max(-2, keepdims=True))
    return e / e.sum(-2, keepdims=True) @ value


@answers.wrong("attention", "K Qᵀ instead of Q Kᵀ")
def attention_transposed(query, key, value):
    return soft(key @ query.mT / math.sqrt(query.shape[-1])) @ value

# ---------------------------------------------------------------- what the mistakes of both share


def swap(array):
    return np.swapaxes(array, -1, -2)


def soft_of_matrix(scores):
    e = np.exp(scores - scores.max(axis=(-2, -1), keepdims=True))
    return e / e.sum(axis=(-2, -1), keepdims=True)


def scaled(query, key):
    return query @ swap(key) / math.sqrt(query.shape[-1])


for number, (name, function) in enumerate((
    ("Aᵀ V instead of A V", lambda w, v: np.einsum("...ij,...id->...jd", w, v)),
    ("summed over the queries instead of the keys", lambda w, v: (w[..., None] * v[..., None, :, :]).sum(axis=-3)),
    ("summed over the features instead of the keys", lambda w, v: (w[..., None] * v[..., None, :, :]).sum(axis=-1)),
    ("not summed", lambda w, v: w[..., None] * v[..., None, :, :]),
    ("keys in reverse order", lambda w, v: w @ v[..., ::-1, :]),
    ("divided by the number of features", lambda w, v: w @ v / math.sqrt(v.shape[-1])),
    ("only the first query", lambda w, v: w[..., :1, :] @ v),
)):
    function.__name__ = f"av_product_{number}"
    answers.wrong("av_product", name, function=function)

for number, (name, function) in enumerate((
    ("softmax over everything", lambda q, k, v: soft_of_matrix(scaled(q, k)) @ v),
    ("one key left out", lambda q, k, v: soft(scaled(q, k[..., :-1, :])) @ v[..., :-1, :]),
    ("temperature applied", lambda q, k, v: soft(scaled(q, k) / 0.1) @ v),
    ("softmax after the values", lambda q, k, v: soft(scaled(q, k) @ v)),
    ("key and value swapped", lambda q, k, v: soft(scaled(q, v)) @ k),
    ("input added", lambda q, k, v: soft(scaled(q, k)) @ v + q),
    ("axes counted from the front", lambda q, k, v: soft(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])) @ v),
    ("causal mask applied", lambda q, k, v: soft(np.tril(scaled(q, k))) @ v),
    ("distance instead of dot product", lambda q, k, v: soft(
        -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(axis=-1) / math.sqrt(q.shape[-1])) @ v),
    ("divided by the mean", lambda q, k, v: soft(scaled(q, k)) @ v * k.shape[-2]),
)):
    function.__name__ = f"attention_{number}"
    answers.wrong("attention", name, function=function)


# ---------------------------------------------------------------- what has no entry, and what was missing

answers.wrong("av_product", "weights normalised again", function=lambda weights, value: (
    weights / np.where(weights.sum(-1, keepdims=True) == 0, 1, weights.sum(-1, keepdims=True)) @ value))
answers.wrong("av_product", "divided by the number of keys", "only for three axes",
              function=lambda weights, value: np.einsum("bqk,bkd->bqd", weights, value) / weights.shape[-1])
answers.wrong("av_product", "Aᵀ V instead of A V", "float64 leaks out",
              function=lambda weights, value: swap(weights).astype(np.float64) @ value)


@answers.wrong("av_product", "n_q keys instead of n_k")
def av_product_over_the_queries(weights, value):
    out = np.zeros(weights.shape[:-1] + value.shape[-1:], value.dtype)
    for j in range(weights.shape[-2]):
        out += weights[..., :, j, None] * value[..., j, None, :]
    return out


answers.wrong("av_product", "weights squared", function=lambda weights, value: weights ** 2 @ value)
answers.wrong("attention", "exponential of the sum", function=lambda query, key, value: (
    np.exp(scaled(query, key)) @ value / np.exp(scaled(query, key).sum(-1, keepdims=True))))
answers.wrong("attention", "the scores squared", function=lambda query, key, value: (
    soft(scaled(query, key) ** 2) @ value))
answers.wrong("attention", "scores capped at 2", function=lambda query, key, value: (
    soft(2 * np.tanh(scaled(query, key) / 2)) @ value))
answers.wrong("attention", "weights mixed with 0.2 of equal ones", function=lambda query, key, value: (
    (0.8 * soft(scaled(query, key)) + 0.2 / key.shape[-2]) @ value))
answers.wrong("dropout_weights", "keep in reverse order of its keys", function=lambda weights, keep, p: (
    np.where(keep[..., ::-1], weights / (1 - p), 0).astype(weights.dtype)))


answers.wrong("av_product", "outputs averaged over the queries", "axis kept", function=lambda weights, value: (
    (weights @ value).mean(-2, keepdims=True)))
answers.wrong("av_product", "mean of the values subtracted", function=lambda weights, value: (
    weights @ value - value.mean(-2, keepdims=True)))
answers.wrong("attention", "scores returned instead of the output", function=lambda query, key, value: scaled(query, key))
answers.wrong("attention", "values returned instead of the output", function=lambda query, key, value: value.copy())


@answers.wrong("attention", "softmax plus one")
def attention_plus_one(query, key, value):
    scores = scaled(query, key)
    m = np.maximum(scores.max(axis=-1, keepdims=True), 0)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(-m)) @ value
