import numpy as np

from ...model import FLOAT16, FLOAT32, PLAIN, SQUARE, Case, normal
from ...pages import written


def halves_from_neighbours(w, n_heads):
    heads = n_heads
    d = w.shape[-1] // heads
    order = even_then_odd(d)
    matrix = reordered(w, heads, order)  #: the matrix
    return matrix


def even_then_odd(d):
    return np.r_[0:d:2, 1:d:2]


def overwritten(d, first):
    """The columns of a head if the even ones (first = 0), or the odd ones, are written in place,
    and then the others are read.
    """
    halves, changed = (slice(d // 2), slice(d // 2, d)), np.arange(d)
    for odd in (first, 1 - first):
        changed[halves[odd]] = changed[odd::2].copy()
    return changed


def reordered(w, heads, order):
    """The columns of each head in this order."""
    return w.reshape(*w.shape[:-1], heads, -1)[..., order].reshape(w.shape)


def among_heads(w, heads):
    """Every second head first, whole heads at a time."""
    blocks = w.reshape(*w.shape[:-1], heads, -1)
    return blocks[..., even_then_odd(heads), :].reshape(w.shape)


def blocks_reversed(w, heads):
    """The heads in reverse order, and the columns of each as they are."""
    return w.reshape(*w.shape[:-1], heads, -1)[..., ::-1, :].reshape(w.shape)


def overlapping(w, heads, order):
    """The columns of each head in this order, if head h begins at column h."""
    d = w.shape[-1] // heads
    return np.concatenate([w[..., h : h + d][..., order] for h in range(heads)], axis=-1)


def put_back(made, w, heads, order):
    """The same, where each head is written from column h on, and read from w, or else from there,
    after the heads before it have been written.
    """
    d = made.shape[-1] // heads
    for h in range(heads):
        made[..., h : h + d] = (made if w is None else w)[..., h : h + d][..., order]
    return made


def dealt_out(w, heads, order, together=False):
    """The heads' columns a step of `heads` apart, and left there or brought together."""
    columns = w.reshape(*w.shape[:-1], -1, heads)[..., order, :]
    return (columns.swapaxes(-1, -2) if together else columns).reshape(w.shape)


def _cases():
    def counted(d, n_heads):
        return Case(PLAIN, (np.arange(d)[:, None] * 10.0 + np.arange(d) + 1, n_heads))

    def case(aspect, d, n_heads, seed, dtype=np.float64):
        return Case(aspect, (normal(d, d, seed=seed, dtype=dtype), n_heads))

    return [
        counted(4, 1),
        counted(8, 2),
        case(PLAIN, 6, 1, 1),
        case(PLAIN, 12, 2, 2),
        case(PLAIN, 30, 3, 3),
        case(PLAIN, 50, 5, 4),
        case("one head", 10, 1, 5),
        case(SQUARE, 16, 4, 6),
        case("one pair a head", 6, 3, 7),
        case(FLOAT32, 12, 2, 8, np.float32),
        case(FLOAT16, 8, 2, 9, np.float16),
    ]


EXERCISE = written(
    halves_from_neighbours,
    place=3,
    axes=dict(w="d_model d_model"),
    answer_axes="d_model d_model",
    cases=_cases,
)
