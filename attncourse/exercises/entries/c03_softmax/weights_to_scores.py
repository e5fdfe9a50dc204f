import numpy as np

from ...families.inputs import given, inputs
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case
from ...pages import written

AXES = dict(weights="n_q n_k")


def weights_to_scores(weights):
    logs = np.log(weights)  #: the logarithms
    centre = logs.mean(axis=-1, keepdims=True)  #: the mean of the logarithms (one per row)
    centred = logs - centre  #: the scores
    return centred


def _rows(shape, seed, dtype):
    numbers = np.random.default_rng([seed, *shape]).random(shape) + 0.2
    return (numbers / numbers.sum(axis=-1, keepdims=True)).astype(dtype)


def _cases():
    return [
        given(PLAIN, [[0.2, 0.8]]),
        given(PLAIN, [[0.1, 0.2, 0.7], [0.25, 0.25, 0.5]]),
        given("one row", [0.5, 0.25, 0.25]),
        given("one key", [[1.0], [1.0]]),
        given("equal weights", [[0.25] * 4, [0.1, 0.2, 0.3, 0.4]]),
        given(SQUARE, [[0.3, 0.7], [0.6, 0.4]]),
        given(LEADING, [[[0.2, 0.8]], [[0.5, 0.5]]]),
        given("small weights", [[1e-12, 1 - 1e-12], [1e-300, 1.0]]),
        given(FLOAT32, [[0.25, 0.75]], dtype=np.float32),
        given(FLOAT16, [[0.25, 0.75]], dtype=np.float16),
        Case("long rows", (_rows((2, 500), 1, np.float64),)),
        *inputs(AXES, make={"weights": _rows}),
    ]


EXERCISE = written(weights_to_scores, place=5, axes=AXES, answer_axes="n_q n_k", cases=_cases)
