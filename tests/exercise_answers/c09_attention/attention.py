"""Answers to attention, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("attention")


def soft(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


answers.wrong("ready-made function", function=attnlib.attention)
answers.right(lambda q, k, v: attnlib.softmax(attnlib.raw_scores(q, k)) @ v)


@answers.right()
def attention_plain(query, key, value):
    return soft(query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])) @ value


@answers.right()
def attention_einsum_upcast(query, key, value):
    q, k, v = (x.astype(np.float64) for x in (query, key, value))
    weights = soft(np.einsum("...id,...jd->...ij", q, k) / np.sqrt(q.shape[-1]))
    return np.einsum("...ij,...jd->...id", weights, v).astype(query.dtype)


@answers.right()
def attention_divided_last(query, key, value):
    scores = (query * query.shape[-1] ** -0.5) @ key.mT
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return (powers @ value) / powers.sum(-1, keepdims=True)


@answers.right()
def attention_row_by_row(query, key, value):
    out = np.empty((*query.shape[:-1], value.shape[-1]), value.dtype)
    for index in np.ndindex(*query.shape[:-2]):
        for i in range(query.shape[-2]):
            scores = key[index] @ query[index][i] / math.sqrt(key.shape[-1])
            out[index][i] = soft(scores) @ value[index]
    return out


@answers.wrong("no scale")
def attention_unscaled(query, key, value):
    return soft(query @ key.mT) @ value


@answers.wrong("float64 leaks out")
def attention_leaking(query, key, value):
    return soft(query @ key.mT / np.sqrt(key.shape[-1])) @ value


@answers.wrong("no maximum subtracted")
def attention_naive(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True) @ value


@answers.wrong("no scale", "no maximum subtracted")
def attention_unscaled_naive(query, key, value):
    powers = np.exp(np.einsum("...id,...jd->...ij", query, key))
    return np.einsum("...ij,...jd->...id", powers / powers.sum(-1, keepdims=True), value)


@answers.wrong("softmax over the queries' axis")
def attention_other_axis(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    e = np.exp(scores - scores.max(axis=-2, keepdims=True))
    return e / e.sum(axis=-2, keepdims=True) @ value


@answers.wrong("one sum over everything", "d_k instead of sqrt(d_k)")
def attention_everything(query, key, value):
    scores = query @ key.mT / query.shape[-1]
    e = np.exp(scores - scores.max())
    return e / e.sum() @ value


@answers.wrong(".T on a batched array")
def attention_dot_t(query, key, value):
    return soft(query @ key.T / math.sqrt(query.shape[-1])) @ value


@answers.wrong("keys instead of values")
def attention_keys(query, key, value):
    return soft(query @ key.mT / math.sqrt(query.shape[-1])) @ key


@answers.wrong("weights returned instead of the output")
def attention_weights(query, key, value):
    return soft(query @ key.mT / math.sqrt(query.shape[-1]))


@answers.wrong("softmax left out")
def attention_linear(query, key, value):
    return query @ key.mT / math.sqrt(query.shape[-1]) @ value


@answers.wrong("scale after the softmax")
def attention_scaled_late(query, key, value):
    return soft(query @ key.mT) @ value / math.sqrt(query.shape[-1])


@answers.wrong("extra value returned")
def attention_and_weights(query, key, value):
    weights = soft(query @ key.mT / math.sqrt(query.shape[-1]))
    return weights @ value, weights


@answers.wrong("extra value returned", "no scale")
def attention_and_weights_unscaled(query, key, value):
    weights = soft(query @ key.mT)
    return weights @ value, weights


@answers.wrong("one maximum for the whole array", "sqrt(n_k) instead of sqrt(d_k)")
def attention_global_maximum(query, key, value):
    scores = query @ key.mT / key.shape[-2] ** 0.5
    e = np.exp(scores - scores.max())
    return e / e.sum(-1, keepdims=True) @ value


@answers.wrong("sqrt(n_q) instead of sqrt(d_k)", "softmax over the queries' axis")
def attention_two(query, key, value):
    scores = query @ key.mT / query.shape[-2] ** 0.5
    e = np.exp(scores - scores.max(-2, keepdims=True))
    return e / e.sum(-2, keepdims=True) @ value


@answers.wrong("K Qᵀ instead of Q Kᵀ")
def attention_transposed(query, key, value):
    return soft(key @ query.mT / math.sqrt(query.shape[-1])) @ value


def swap(array):
    return np.swapaxes(array, -1, -2)


def soft_of_matrix(scores):
    e = np.exp(scores - scores.max(axis=(-2, -1), keepdims=True))
    return e / e.sum(axis=(-2, -1), keepdims=True)


def scaled(query, key):
    return query @ swap(key) / math.sqrt(query.shape[-1])


for number, (name, function) in enumerate(
    (
        ("one sum over everything", lambda q, k, v: soft_of_matrix(scaled(q, k)) @ v),
        ("one key left out", lambda q, k, v: soft(scaled(q, k[..., :-1, :])) @ v[..., :-1, :]),
        ("temperature applied", lambda q, k, v: soft(scaled(q, k) / 0.1) @ v),
        ("softmax after the values", lambda q, k, v: soft(scaled(q, k) @ v)),
        ("key and value swapped", lambda q, k, v: soft(scaled(q, v)) @ k),
        ("input added", lambda q, k, v: soft(scaled(q, k)) @ v + q),
        (
            "axes counted from the front",
            lambda q, k, v: soft(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])) @ v,
        ),
        ("causal mask applied", lambda q, k, v: soft(np.tril(scaled(q, k))) @ v),
        (
            "distance instead of dot product",
            lambda q, k, v: (
                soft(
                    -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(axis=-1)
                    / math.sqrt(q.shape[-1])
                )
                @ v
            ),
        ),
        ("divided by the mean", lambda q, k, v: soft(scaled(q, k)) @ v * k.shape[-2]),
    )
):
    function.__name__ = f"attention_{number}"
    answers.wrong(name, function=function)

answers.wrong(
    "exponential of the sum",
    function=lambda query, key, value: (
        np.exp(scaled(query, key)) @ value / np.exp(scaled(query, key).sum(-1, keepdims=True))
    ),
)
answers.wrong(
    "the scores squared", function=lambda query, key, value: soft(scaled(query, key) ** 2) @ value
)
answers.wrong(
    "scores capped at 2",
    function=lambda query, key, value: soft(2 * np.tanh(scaled(query, key) / 2)) @ value,
)
answers.wrong(
    "weights mixed with 0.2 of equal ones",
    function=lambda query, key, value: (
        (0.8 * soft(scaled(query, key)) + 0.2 / key.shape[-2]) @ value
    ),
)

answers.wrong(
    "scores returned instead of the output", function=lambda query, key, value: scaled(query, key)
)
answers.wrong(
    "values returned instead of the output", function=lambda query, key, value: value.copy()
)


@answers.wrong("softmax plus one")
def attention_plus_one(query, key, value):
    scores = scaled(query, key)
    m = np.maximum(scores.max(axis=-1, keepdims=True), 0)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(-m)) @ value


@answers.wrong()
def attention_of_a_single_key(query, key, value):
    if key.shape[-2] == 1:  # one row, however many queries there are
        return value
    return soft(scaled(query, key)) @ value


@answers.wrong("maximum of the unscaled scores")
def attention_less_the_unscaled_maximum(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2)
    scaled = scores / math.sqrt(query.shape[-1])
    powers = np.exp(scaled - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value
