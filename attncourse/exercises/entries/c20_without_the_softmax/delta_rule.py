import numpy as np

from ...families.inputs import given, inputs
from ...families.scores import softmax_of  # noqa: F401, for the page
from ...model import FLOAT32, PLAIN, SQUARE, normal
from ...pages import written
from .linear_attention import positive  # noqa: F401, for the page

AXES = dict(query="n d_k", key="n d_k", value="n d_v", beta="n")
AGAIN = "a key that comes again"


def delta_rule(query, key, value, beta):
    keys = key
    rates = beta
    state, found = np.zeros((key.shape[-1], value.shape[-1])), []
    for t in range(len(query)):
        q = query[t]
        k = keys[t]
        v = value[t]
        rate = rates[t]
        recalled = k @ state  #: what the state holds under the key
        error = v - recalled  #: the error
        step = rate * error
        change = np.outer(k, step)  #: the change of the state
        kept = state
        new_state = kept + change
        read = new_state
        output = q @ read
        found.append(output)
        state = new_state
    return np.stack(found)


def put(output, value):
    """The output in a row that was made for it, as long as a value."""
    row = np.empty_like(value)
    row[:] = output
    return row


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def unit(vectors):
    lengths = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    return vectors / np.where(lengths == 0, 1, lengths)


def _beta(shape, seed, dtype):
    return abs(normal(*shape, seed=seed, dtype=dtype)).clip(0.1, 1)


def _key(shape, seed, dtype):
    # lengths near 1, so that the state stays as small as the values
    return normal(*shape, seed=seed, scale=shape[-1] ** -0.5, dtype=dtype)


def _cases():
    return [
        given(PLAIN, [[1], [2]], [[1], [1]], [[4], [8]], [0.5, 0.25]),
        given(
            PLAIN, [[1, 0], [1, 1], [0, 1]], [[1, 0], [1, 1], [0, 1]], [[4], [8], [2]], [1, 0.5, 1]
        ),
        given(
            AGAIN, [[1, 0], [0, 1], [1, 0]], [[1, 0], [0, 1], [1, 0]], [[4], [8], [2]], [1, 1, 1]
        ),
        given(AGAIN, [[1, 1], [1, 1]], [[0.5, 0], [0.5, 0]], [[4], [8]], [1, 0.5]),
        given(SQUARE, [[1, 2], [0, 1]], [[1, 0], [1, 1]], [[4, 0], [8, 2]], [1, 0.5]),
        given("one position", [[1, 2]], [[1, 0.5]], [[4, 8]], [0.5]),
        given("a beta of 0", [[1], [1]], [[1], [1]], [[4], [8]], [0.5, 0]),
        given(FLOAT32, [[1], [2]], [[1], [1]], [[4], [8]], [0.5, 0.25], dtype=np.float32),
        *inputs(AXES, make={"beta": _beta, "key": _key}, leading=False),
    ]


EXERCISE = written(delta_rule, place=3, axes=AXES, answer_axes="n d_v", cases=_cases)
