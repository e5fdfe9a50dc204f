import math

import numpy as np

from ...families.inputs import LONG_KEYS, LONG_QUERY, drawn, given
from ...families.scores import swap
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE
from ...pages import written

ONE_POSITION = "one position in the cache"


def decode_step(query, key_cache, value_cache, key_new, value_new):
    keys = append(key_cache, key_new)
    values = append(value_cache, value_new)
    key, value = keys, values
    q, k = query, key
    k_t = swap(k)
    products = q @ k_t  #: the product of queries and keys
    scores = products / math.sqrt(q.shape[-1])  #: the scores
    logits = scores
    visible = logits
    s = visible
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    w = weights
    chosen = value  #: the values
    v = chosen
    output = w @ v
    attended = output
    kept_keys, kept_values = keys, values
    return attended, kept_keys, kept_values


def append(cache, new, axis=-2):
    return np.concatenate([cache, new], axis=axis)


def last_repeated(array):
    return append(array, array[..., -1:, :])


def other_lengths():
    """What attnlib says if the keys have more features than the query."""
    raise ValueError("query and key must have the same last axis")


def only(scores, keep):
    """Scores with -inf where `keep`, a function of the number of keys, says no."""
    return np.where(keep(scores.shape[-1]), scores, -np.inf)


def decode_cases():
    def case(aspect, n, d, d_v, lead=(), dtype=np.float64, seed=60):
        shapes = (1, d), (n, d), (n, d_v), (1, d), (1, d_v)
        return drawn(aspect, *shapes, seed=seed, lead=lead, dtype=dtype)

    def huge(query, *keys):
        keys, values = ([[number] for number in row] for row in (keys, range(1, len(keys) + 1)))
        return given(HUGE, [[query]], keys[:-1], values[:-1], keys[-1:], values[-1:])

    return [
        given(PLAIN, [[2.0]], [[1.0], [0.0]], [[4.0], [8.0]], [[0.5]], [[-4.0]]),
        case(PLAIN, 7, 3, 5),
        case(PLAIN, 5, 11, 2, seed=70),
        case(PLAIN, 2, 5, 7, seed=80),
        given(ONE_POSITION, [[1, 1]], [[1, 0]], [[2, 5, 1]], [[1, 2]], [[4, 3, 0]]),
        case(ONE_POSITION, 1, 5, 3),
        case(ONE_POSITION, 1, 3, 3, (2,)),
        given(SQUARE, [[1.0, 0.0]], [[1.0, 2.0]], [[4.0, 8.0]], [[3.0, 1.0]], [[-4.0, 0.0]]),
        case(SQUARE, 5, 5, 5),
        case(SQUARE, 4, 5, 5),
        case(SQUARE, 3, 2, 3, (3,)),
        case(LEADING, 1, 2, 1, (2,)),
        case(LEADING, 5, 3, 7, (2,)),
        case(LEADING, 7, 5, 11, (2, 3)),
        case(LEADING, 3, 3, 3, (3,)),
        case(LEADING, 3, 2, 5, (2, 1)),
        huge(100.0, 100, 99, 0),
        huge(-100.0, 100, 101, 102),
        huge(1000.0, *[1] * 10, 0),
        given(HUGE, [LONG_QUERY], LONG_KEYS[:2], [[1], [3]], LONG_KEYS[2:], [[2]]),
        huge(100.0, -100, -99, 1),
        huge(100.0, 0, 50, 100),
        huge(100.0, 0, 100, 50),
        huge(-100.0, 101, 102, 100),
        case(FLOAT32, 2, 1, 1, dtype=np.float32),
        case(FLOAT32, 5, 7, 3, (2,), np.float32),
        case(FLOAT16, 5, 3, 2, dtype=np.float16),
    ]


AXES = dict(query="n_q d_k", key_cache="n_k d_k", value_cache="n_k d_v")
AXES |= dict(key_new="new d_k", value_new="new d_v")
OUTPUTS = ("output", "key_cache", "value_cache")
EXERCISE = written(decode_step, place=1, axes=AXES, cases=decode_cases, outputs=OUTPUTS)
