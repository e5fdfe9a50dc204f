import math

import numpy as np

from ...families.inputs import drawn, given
from ...families.numpy_calls import Results
from ...families.scores import softmax_of, swap
from ...families.softmax import EPSILONS  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, HUGE, PLAIN, SQUARE, normal
from ...pages import written

AXES = dict(
    x="n d_model",
    w_q="n_heads d_model d_k",
    w_down="d_model r",
    w_up_k="n_heads r d_k",
    w_up_v="n_heads r d_v",
)


def latent_attention(x, w_q, w_down, w_up_k, w_up_v):
    asked = x @ w_q  #: the queries
    c = x @ w_down  #: the cached vectors
    up_k, up_v = w_up_k, w_up_v
    narrow = asked @ swap(up_k)  #: the absorbed queries
    products = narrow @ swap(c)  #: the product of queries and keys
    scores = products / math.sqrt(asked.shape[-1])  #: the scores
    seen = past(scores)
    s = np.where(seen, scores, -np.inf)  #: the masked scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    w = weights
    mixed = w @ c  #: the weighted sums of the cached vectors
    output = mixed @ up_v
    heads = output
    return heads


def past(scores, offset=0):
    return np.tri(*scores.shape[-2:], offset, dtype=bool)


def merged(heads):
    """(h, n, d) to (n, h * d)."""
    return np.swapaxes(heads, 0, 1).reshape(heads.shape[1], -1)


def by_heads(x, w_q, w_down, w_up_k, w_up_v):
    """Keys and values of every head, and then attention."""
    c = x @ w_down
    key, value, query = c @ w_up_k, c @ w_up_v, x @ w_q
    scores = query @ swap(key) / math.sqrt(query.shape[-1])
    return softmax_of(np.where(past(scores), scores, -np.inf)) @ value


def _cases():
    def some(aspect, n, d_model, h, r, d_k, d_v, seed, **more):
        shapes = ((n, d_model), (h, d_model, d_k), (d_model, r), (h, r, d_k), (h, r, d_v))
        return drawn(aspect, *shapes, seed=seed, **{"scale": 0.7} | more)

    def low(number, second=0):
        """The first score is -number ** 2; beside it a masked one of 0, or a lower one."""
        x, up_k, up_v = [[number, 4], [second, 8]], [[[1], [0]]], [[[0], [1]]]
        return given(HUGE, x, [[[-1], [0]]], [[1, 0], [0, 1]], up_k, up_v)

    return [
        given(PLAIN, [[1, 0], [0, 1]], [[[1], [2]]], [[1], [1]], [[[2]]], [[[4, 8]]]),
        given(
            PLAIN,
            [[1, 0], [0, 1], [1, 1]],
            [[[1, 0, 0, 1], [0, 1, 0, 0]], [[0, 1, 1, 0], [1, 0, 0, 0]]],
            [[1, 0], [0, 2]],
            [[[1, 0, 2, 0], [0, 1, 0, 0]], [[0, 0, 1, 1], [1, 0, 0, 2]]],
            [[[1, 0, 0], [0, 2, 1]], [[3, 0, 1], [0, 1, 0]]],
        ),
        some(PLAIN, 5, 11, 2, 3, 7, 13, seed=1),
        some(PLAIN, 7, 5, 3, 2, 11, 17, seed=10),
        some(PLAIN, 5, 11, 2, 3, 7, 13, seed=20, order="F"),
        some(PLAIN, 19, 13, 3, 7, 5, 11, seed=30, scale=0.4),
        some(PLAIN, 3, 7, 2, 11, 5, 2, seed=35, scale=0.5),
        some(SQUARE, 3, 3, 3, 3, 3, 3, seed=40),
        some(SQUARE, 5, 5, 5, 5, 5, 5, seed=50, scale=0.5),
        some("one position", 1, 5, 2, 3, 7, 11, seed=60),
        some("one head", 5, 7, 1, 3, 2, 11, seed=70),
        some("a latent vector of one number", 5, 7, 2, 1, 3, 11, seed=80),
        given(HUGE, [[100, 0], [0, 99], [100, 99]], [[[1], [1]]], [[1], [1]], [[[1]]], [[[2, 1]]]),
        given(HUGE, [[100, 1], [-98, 1]], [[[1], [0]]], [[1], [0]], [[[1]]], [[[0.5, 1]]]),
        some(HUGE, 5, 3, 2, 3, 2, 5, seed=90, scale=12.0, extreme=True),
        some(FLOAT32, 5, 7, 2, 3, 11, 13, seed=100, dtype=np.float32, scale=0.5),
        some(FLOAT16, 3, 5, 2, 3, 2, 7, seed=110, dtype=np.float16, scale=0.5),
        *(low(n, by * n) for n in (1e5, 1e19) for by in (0, 1.25)),
    ]


def keys_and_values_stay_narrow(run):
    """An audit: whether the numbers of one head's key or value occur in anything computed.

    Those of all positions: an output is a value wherever a query gives a single key all its weight.
    """
    shapes = ((13, 17), (3, 17, 5), (17, 2), (3, 2, 5), (3, 2, 7))
    x, w_q, w_down, w_up_k, w_up_v = args = [
        normal(*shape, seed=200 + i) for i, shape in enumerate(shapes)
    ]
    Results.kept.clear()
    outcome = run(*(array.view(Results) for array in args))
    found = [array.ravel() for array in Results.kept]
    Results.kept.clear()
    if outcome.failure:
        return None
    for name, w_up in (
        ("keys of single heads made", w_up_k),
        ("values of single heads made", w_up_v),
    ):
        for head in (x @ w_down) @ w_up:
            if all(
                any(_holds(array, first) and _holds(array, second) for array in found)
                for first, second in head[::-1, :2]
            ):
                return name
    return None


def _holds(array, number):
    """Whether a number stands in an array, also divided by the scale of the scores."""
    if array.dtype.kind != "f":
        return False
    with np.errstate(invalid="ignore"):
        return any(
            np.isclose(array, wanted, rtol=1e-9, atol=0).any()
            for wanted in (number, number / math.sqrt(5))
        )


EXERCISE = written(
    latent_attention,
    place=4,
    axes=AXES,
    answer_axes="n_heads n d_v",
    cases=_cases,
    audits=(keys_and_values_stay_narrow,),
)
