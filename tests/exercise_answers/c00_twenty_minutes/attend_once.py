"""Answers to attend_once, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("attend_once")


def softmax(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


@answers.right()
def once_in_three_lines(query, key, value):
    scores = key @ query / math.sqrt(len(query))
    powers = np.exp(scores - scores.max())
    return powers / powers.sum() @ value


@answers.right()
def once_as_a_row(query, key, value):
    scores = query[None] @ key.T * query.shape[0] ** -0.5
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return (weights @ value)[0]


@answers.right()
def once_by_loops(query, key, value):
    scores = [
        sum(float(a) * float(b) for a, b in zip(query, k)) / math.sqrt(len(query)) for k in key
    ]
    powers = [math.exp(s - max(scores)) for s in scores]
    output = np.zeros(value.shape[1])
    for power, v in zip(powers, value):
        output += power / sum(powers) * v
    return output.astype(query.dtype)


@answers.right()
def once_by_einsum(query, key, value):
    weights = softmax(np.einsum("c,jc->j", query, key) / math.sqrt(query.size))
    return np.einsum("j,jc->c", weights, value)


@answers.right()
def once_with_products(query, key, value):
    scores = (key * query).sum(axis=1) / math.sqrt(key.shape[1])
    return (softmax(scores)[:, None] * value).sum(axis=0)


answers.wrong(
    "ready-made function",
    function=lambda query, key, value: attnlib.attention(query[None], key, value)[0],
)
answers.wrong("no scale", function=lambda query, key, value: softmax(key @ query) @ value)
answers.wrong(
    "d_k instead of sqrt(d_k)",
    function=lambda query, key, value: softmax(key @ query / len(query)) @ value,
)
answers.wrong(
    "sqrt(n_k) instead of sqrt(d_k)",
    function=lambda query, key, value: softmax(key @ query / math.sqrt(len(key))) @ value,
)
answers.wrong(
    "float64 leaks out",
    function=lambda query, key, value: softmax(key @ query / np.sqrt(len(query))) @ value,
)


@answers.wrong("no maximum subtracted")
def once_overflowing(query, key, value):
    powers = np.exp(key @ query / math.sqrt(len(query)))
    return powers / powers.sum() @ value


@answers.wrong("not divided by the sum")
def once_not_divided(query, key, value):
    scores = key @ query / math.sqrt(len(query))
    return np.exp(scores - scores.max()) @ value


@answers.wrong("softmax left out")
def once_without_softmax(query, key, value):
    return key @ query / math.sqrt(len(query)) @ value


@answers.wrong("weights returned instead of the output")
def once_weights(query, key, value):
    return softmax(key @ query / math.sqrt(len(query)))


@answers.wrong("scores returned instead of the output")
def once_scores(query, key, value):
    return key @ query / math.sqrt(len(query))


@answers.wrong("not summed")
def once_not_summed(query, key, value):
    return softmax(key @ query / math.sqrt(len(query)))[:, None] * value


@answers.wrong("only the best key's value")
def once_hard(query, key, value):
    return value[np.argmax(key @ query)]


@answers.wrong("keys instead of values")
def once_keys(query, key, value):
    return softmax(key @ query / math.sqrt(len(query))) @ key


@answers.wrong("sign flipped")
def once_flipped(query, key, value):
    scores = key @ query / math.sqrt(len(query))
    return softmax(-scores) @ value


@answers.wrong("uniform weights")
def once_mean(query, key, value):
    return value.mean(axis=0)


@answers.wrong("scale after the softmax")
def weights_scaled(query, key, value):
    scores = key @ query
    powers = np.exp(scores - scores.max())
    return powers / powers.sum() * len(query) ** -0.5 @ value


def weights_of(query, key):
    scores = key @ query / len(query) ** 0.5
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


@answers.wrong("weights along the features")
def weights_times_value(query, key, value):
    return weights_of(query, key) * value


@answers.wrong("weights along the features")
def weights_times_value_summed(query, key, value):
    return sum(weights_of(query, key) * value)


@answers.wrong("products not added up")
def products_of_features(query, key, value):
    scores = query * key / len(query) ** 0.5
    powers = np.exp(scores - scores.max())
    return powers / powers.sum() @ value


@answers.wrong("maximum subtracted on only one side of the fraction")
def maximum_in_the_numerator(query, key, value):
    scores = key @ query / len(query) ** 0.5
    return np.exp(scores - scores.max()) / np.exp(scores).sum() @ value


@answers.wrong("maximum of the unscaled scores")
def once_less_the_unscaled_maximum(query, key, value):
    scores = key @ query
    powers = np.exp(scores / math.sqrt(len(query)) - scores.max())
    return powers / powers.sum() @ value
