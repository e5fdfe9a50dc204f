import math

import numpy as np

from ...families.inputs import LONG_KEYS, LONG_QUERY, given
from ...families.scores import swap
from ...families.torch_attention import ON_TORCH, attention_torch_cases
from ...model import HUGE
from ...pages import written

LOW = "scores of -10 billion"


def attention_torch_causal(query, key, value):
    q, k = query, key
    k_t = swap(k)
    products = q @ k_t  #: the product of queries and keys
    scores = products / math.sqrt(q.shape[-1])  #: the scores
    logits = scores
    rows, columns = scores.shape[-2:]
    offset = 0
    query_at, key_at = np.arange(rows)[:, None] + offset, np.arange(columns)
    seen = key_at <= query_at
    mask = seen
    s = np.where(mask, logits, -np.inf)  #: the masked scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    kept = weights
    w = kept
    chosen = value  #: the values
    v = chosen
    output = w @ v
    return output


def attention_torch_causal_cases():
    def huge(query, key):
        rows = query, key, range(1, len(key) + 1)
        return given(HUGE, *([[number] for number in row] for row in rows))

    return [
        *attention_torch_cases(),
        huge([-100, -100, 100], [100, 99, -100]),
        huge([-100, 0, 100], [99, 100, 98]),
        huge([100, 1, -100], [-100, 100, 50]),
        huge([0, 0, -1000], [1, 1.01, 1.02]),
        given(HUGE, [LONG_QUERY, [1] * 4, LONG_QUERY], LONG_KEYS, [[1], [3], [2]]),
        huge([0] * 10 + [1000], [1] * 10 + [0]),
        huge([1000, 0], [1]),
        given(LOW, [[1e5], [1]], [[-1e5], [0]], [[1], [2]]),
        given(LOW, [[1e5], [1]], [[-1e5], [-1.05e5]], [[1], [2]]),
        given(LOW, [[2e19], [1]], [[-1e19], [0]], [[1], [2]]),  # below -1e38
        given(LOW, [[2e19], [1]], [[-1e19], [-1.05e19]], [[1], [2]]),
    ]


EXERCISE = written(attention_torch_causal, place=6, cases=attention_torch_causal_cases, **ON_TORCH)
