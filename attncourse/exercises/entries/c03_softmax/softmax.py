import numpy as np

from ...families.softmax import along_cases, small_weights
from ...pages import written


def softmax(scores, axis=-1):
    s = scores  #: the scores
    along = axis
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    return weights


def _cases():
    return [*along_cases(), small_weights()]


EXERCISE = written(
    softmax, place=3, axes=dict(scores="n_q n_k"), answer_axes="n_q n_k", cases=_cases
)
