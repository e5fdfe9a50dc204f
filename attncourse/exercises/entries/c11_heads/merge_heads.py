import numpy as np

from ...families.heads import (  # noqa: F401
    first,
    joined,
    last,
    merged_by_reshape,
    one_leading_axis,
    spread,
    swap_heads,
)
from ...families.scores import swap  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written


def merge_heads(x):
    outputs = x
    side = swap_heads(outputs)
    merged = joined(side)
    return merged


def below_each_other(parts):
    return parts.reshape(*parts.shape[:-3], -1, parts.shape[-1])


def merge_cases():
    def some(aspect, *shape, dtype=np.float64, order="C"):
        return Case(aspect, (np.asarray(normal(*shape, seed=1, dtype=dtype), order=order),))

    return [
        Case(PLAIN, (np.arange(8.0).reshape(2, 2, 2),)),
        Case(PLAIN, (np.arange(12.0).reshape(2, 3, 2),)),
        some(PLAIN, 3, 5, 7),
        some(PLAIN, 5, 2, 3, order="F"),
        some(PLAIN, 2, 7, 5),
        some(PLAIN, 7, 13, 11),
        some("one head", 1, 3, 5),
        some("one feature a head", 5, 3, 1),
        some("one position", 3, 1, 5),
        some(SQUARE, 3, 3, 3),
        some(SQUARE, 2, 4, 2),
        some(SQUARE, 3, 3, 2),
        Case(LEADING, (np.arange(16.0).reshape(2, 2, 2, 2),)),
        some(LEADING, 2, 3, 5, 7),
        some(LEADING, 2, 3, 5, 2, 7),
        some(LEADING, 3, 2, 5, 7, order="F"),
        some(FLOAT32, 2, 3, 5, dtype=np.float32),
        some(FLOAT16, 3, 5, 2, dtype=np.float16),
    ]


EXERCISE = written(
    merge_heads,
    place=2,
    axes=dict(x="n_heads n d_head"),
    answer_axes="n d_model",
    cases=merge_cases,
)
