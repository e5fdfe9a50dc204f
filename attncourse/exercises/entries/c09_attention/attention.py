import math

import numpy as np

from ...families.attention import ATTENTION_AXES, attention_cases
from ...families.scores import swap
from ...pages import written


def attention(query, key, value):
    q, k = query, key
    k_t = swap(k)
    products = q @ k_t  #: the product of queries and keys
    scores = products / math.sqrt(q.shape[-1])  #: the scores
    logits = scores
    s = logits
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    w = weights
    chosen = value  #: the values
    v = chosen
    output = w @ v
    return output


EXERCISE = written(
    attention, place=1, axes=ATTENTION_AXES, answer_axes="n_q d_v", cases=attention_cases
)
