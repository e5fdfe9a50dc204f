import numpy as np

from ...families.heads import features_divided, one_leading_axis, split_by_reshape, swap_heads  # noqa: F401, for the page
from ...families.scores import swap  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written


def split_heads(x, n_heads):
    features = x
    parts = features_divided(features, n_heads)
    heads = swap_heads(parts)  #: the heads
    return heads


def if_it_divides(x, heads, n_heads):
    """Another number of heads, where it divides the features."""
    return n_heads if x.shape[-1] % heads else heads


def split_cases():
    def some(aspect, n_heads, *shape, dtype=np.float64, order="C"):
        return Case(
            aspect, (np.asarray(normal(*shape, seed=n_heads, dtype=dtype), order=order), n_heads)
        )

    return [
        Case(PLAIN, (np.arange(12.0).reshape(3, 4), 2)),
        Case(PLAIN, (np.arange(12.0).reshape(2, 6), 3)),
        some(PLAIN, 3, 5, 21),
        some(PLAIN, 2, 7, 10, order="F"),
        some(PLAIN, 5, 3, 10),
        some(PLAIN, 6, 2, 48),
        some("one head", 1, 3, 5),
        some("as many heads as features", 5, 3, 5),
        some("one position", 3, 1, 6),
        some(SQUARE, 2, 2, 4),
        some(SQUARE, 3, 3, 9),
        some(SQUARE, 2, 6, 6),
        Case(LEADING, (np.arange(16.0).reshape(2, 2, 4), 2)),
        some(LEADING, 3, 2, 5, 21),
        some(LEADING, 2, 2, 3, 5, 14),
        some(LEADING, 7, 3, 2, 5, 21, order="F"),
        some(FLOAT32, 2, 3, 10, dtype=np.float32),
        some(FLOAT16, 3, 5, 6, dtype=np.float16),
    ]


EXERCISE = written(
    split_heads,
    place=1,
    axes=dict(x="n d_model"),
    answer_axes="n_heads n d_head",
    cases=split_cases,
)
