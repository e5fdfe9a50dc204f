import math

import numpy as np

from ...families.inputs import inputs
from ...families.scores import swap
from ...model import FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case
from ...pages import written

AXES = dict(query="n_q d_k", key="n_k d_k", grad_weights="n_q n_k")


def query_gradient(query, key, grad_weights):
    d_k = query.shape[-1]
    products = query @ swap(key)  #: the product of queries and keys
    scaled = products / math.sqrt(d_k)  #: the scaled scores
    weights = softmax(scaled)  #: the weights
    mean = (weights * grad_weights).sum(axis=-1, keepdims=True)  #: the weighted mean (one per row)
    centred = grad_weights - mean
    grad_scores = weights * centred  #: the gradient with respect to the scores
    back = grad_scores @ key  #: the sum over the keys
    grad = back / math.sqrt(d_k)
    return grad


def softmax(scores, axis=-1):
    return shares(scores - scores.max(axis=axis, keepdims=True), axis)


def shares(scores, axis=-1):
    powers = np.exp(scores)
    return powers / powers.sum(axis=axis, keepdims=True)


def _cases():
    def case(aspect, query, key, grad_weights, dtype=float):
        arrays = tuple(np.array(array, dtype) for array in (query, key, grad_weights))
        return Case(aspect, arrays, aspect == HUGE)

    keys = [[1, 0.5, 0, 0], [0, 0, 1, 1], [1, 2, 0, 0], [0, -0.1, 1, 0]]
    return [
        case(PLAIN, [[1.0]], [[1], [0], [3]], [[0, 1, 0]]),
        case(PLAIN, [[1, 0, 0, 0]], [[2, 1, 0, 0], [0, 0, 1, 2]], [[1, 0]]),
        case(PLAIN, [[1, 2, 0, 1]], keys, [[0, 0, 1, 0]]),
        case("one key", [[1, 2]], [[3, 4]], [[5]]),
        case("equal gradients", [[0, 0]], [[3, 4], [1, 0]], [[2, 2]]),
        case(SQUARE, [[1, 0], [0, 2]], [[1, 1], [0, 1]], [[1, 0], [2, 0]]),
        case(LEADING, [[[1.0]], [[2.0]]], [[[1], [0]], [[0], [2]]], [[[1, 0]], [[1, 3]]]),
        case(HUGE, [[100.0]], [[100], [99.99], [-100]], [[1, 2, 3]]),
        case(FLOAT32, [[1.0]], [[1], [0], [3]], [[0, 1, 0]], np.float32),
        *inputs(AXES),
    ]


EXERCISE = written(query_gradient, place=2, axes=AXES, answer_axes="n_q d_k", cases=_cases)
