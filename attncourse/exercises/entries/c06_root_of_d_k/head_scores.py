import math

import numpy as np

from ...families.scores import only_the_past, softmax_of, swap  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written


def head_scores(x, w_q, w_k, n_heads):
    of_query, of_key = w_q, w_k
    projected = np.stack([x @ of_query, x @ of_key])  #: the projections
    blocks = divided(projected, n_heads)
    heads = np.swapaxes(blocks, -2, -3)
    products = heads[0] @ swap(heads[1])  #: the product of queries and keys
    scaled = products / math.sqrt(x.shape[-1] // n_heads)  #: the scaled scores
    return scaled


def divided(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)


def every_nth(x, n_heads):
    return swap(x.reshape(*x.shape[:-1], x.shape[-1] // n_heads, n_heads))


def overlapping(x, n_heads):
    """Head i from feature i on."""
    size = x.shape[-1] // n_heads
    return np.stack([x[..., i : i + size] for i in range(n_heads)], axis=-2)


def dealt_out(x, n_heads):
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], x.shape[-1] // n_heads)


def cut_first(x, w_q, w_k, n_heads, all_columns, root=lambda size, width: width):
    """Each head from its block of x, times its block of rows of the matrices."""
    size = x.shape[-1] // n_heads
    found = []
    for i in range(n_heads):
        own = slice(i * size, (i + 1) * size)
        query, key = (x[..., own] @ w[own, slice(None) if all_columns else own] for w in (w_q, w_k))
        found.append(query @ swap(key) / math.sqrt(root(size, query.shape[-1])))
    return np.stack(found, axis=-3)


def _cases():
    def case(aspect, n_heads, *shape, seed=0, dtype=np.float64):
        d = shape[-1]
        w_q, w_k = (normal(d, d, seed=seed + i, dtype=dtype, scale=d**-0.5) for i in (1, 2))
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype), w_q, w_k, n_heads))

    def tiny(x, w_q, w_k, n_heads):
        return Case(PLAIN, (*(np.array(a, float) for a in (x, w_q, w_k)), n_heads))

    return [
        tiny([[1, 2]], [[1, 0], [0, 1]], [[2, 0], [0, 3]], 2),
        tiny([[1, 0], [0, 1]], [[1, 2], [0, 1]], [[0, 1], [1, 0]], 1),
        tiny([[1, 2, 3, 4], [0, 1, 0, 2]], np.eye(4), np.eye(4), 2),
        case(PLAIN, 2, 5, 6, seed=1),
        case(PLAIN, 3, 7, 12, seed=4),
        case(PLAIN, 5, 3, 10, seed=7),
        case(PLAIN, 2, 23, 22, seed=10),
        case("one head", 1, 5, 3, seed=13),
        case("as many heads as features", 5, 3, 5, seed=16),
        case(SQUARE, 2, 4, 4, seed=19),
        case(SQUARE, 3, 9, 9, seed=20),
        case(LEADING, 2, 3, 5, 6, seed=22),
        case(LEADING, 3, 2, 2, 5, 12, seed=25),
        case(FLOAT32, 2, 5, 6, seed=28, dtype=np.float32),
        case(FLOAT16, 2, 3, 4, seed=31, dtype=np.float16),
    ]


EXERCISE = written(
    head_scores,
    place=3,
    axes=dict(x="n d_model", w_q="d_model d_model", w_k="d_model d_model"),
    answer_axes="n_heads n_q n_k",
    cases=_cases,
)
