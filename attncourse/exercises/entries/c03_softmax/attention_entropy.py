import numpy as np

from ...families.inputs import given, inputs
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE
from ...pages import written

AXES = dict(weights="n_q n_k")
ZEROS = "weights of 0"
SMALL = "small weights"


def attention_entropy(weights):
    w = weights
    logs = log_or_0(weights)  #: the logarithms
    terms = w * logs  #: the products of weights and logarithms
    total = terms.sum(axis=-1)  #: the sum (one per row)
    return -total


def log_or_0(weights):
    return np.log(np.where(weights == 0, 1.0, weights))


def _rows(shape, seed, dtype):
    numbers = np.random.default_rng([seed, *shape]).random(shape) + 0.1
    return (numbers / numbers.sum(axis=-1, keepdims=True)).astype(dtype)


def _cases():
    return [
        given(PLAIN, [[0.5, 0.5], [0.25, 0.75]]),
        given(PLAIN, [[0.25, 0.25, 0.5]]),
        given("one row", [0.5, 0.25, 0.25]),
        given("equal weights", [[0.25] * 4]),
        given("one key", [[1.0], [1.0]]),
        given(SQUARE, [[0.3, 0.7], [0.6, 0.4]]),
        given(LEADING, [[[0.2, 0.8]], [[0.5, 0.5]]]),
        given(ZEROS, [[1, 0, 0], [0.5, 0, 0.5]]),
        given(ZEROS, [0.0, 1.0]),
        given(ZEROS, [[[0, 0.25, 0.75]], [[0.5, 0.5, 0]]]),
        given(SMALL, [[1e-12, 1.0]]),
        given(SMALL, [[1e-300, 1.0]]),
        given(SMALL, [[1e-20, 1.0], [1.0, 2e-30]]),  # a bound of 1e-12 in the logarithm shows here
        given(FLOAT32, [[0.25, 0.75]], dtype=np.float32),
        given(FLOAT16, [[0.25, 0.75]], dtype=np.float16),
        *inputs(AXES, make={"weights": _rows}),
    ]


EXERCISE = written(attention_entropy, place=6, axes=AXES, answer_axes="n_q", cases=_cases)
