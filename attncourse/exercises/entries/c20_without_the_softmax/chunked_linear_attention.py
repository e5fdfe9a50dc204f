import numpy as np

from ...families.inputs import drawn, given
from ...families.memory import keeps_a_square
from ...families.scores import only_the_past, softmax_of, swap  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, normal
from ...pages import written
from .linear_attention import AXES, in_one_row, lower, positive  # noqa: F401, for the page

SHORTER, LONG = "a shorter last chunk", "chunk larger than n"


def chunked_linear_attention(query, key, value, chunk):
    state, found, states = empty(key, value), [], []
    parts = cut(query, key, value, chunk)
    for q_part, k_part, v_part in parts:
        q = q_part
        k = k_part
        v = v_part
        products = q @ swap(k)  #: the products within a chunk
        seen = lower(products)
        terms = products * seen
        inside = terms @ v  #: what the chunk itself adds
        added = swap(k) @ v  #: what the chunk adds to the state
        old_state = state
        new_state = old_state + added
        states.append(old_state)
        read = old_state
        before = q @ read  #: what the earlier chunks add
        output = before + inside
        found.append(output)
        state = new_state
    return joined(found)


def empty(key, value):
    return np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]))


def cut(query, key, value, chunk):
    """Chunks of the three, `chunk` positions each."""
    starts = range(0, query.shape[-2], chunk)
    return [tuple(x[..., at : at + chunk, :] for x in (query, key, value)) for at in starts]


def joined(found):
    return np.concatenate(found, axis=-2)


def unless_empty(q, state):
    """What the state adds, and nothing before it has been made."""
    return q @ state if state.any() else 0


def two_back(states):
    """The state before the chunk before."""
    return states[max(len(states) - 2, 0)]


def only_full(parts, chunk):
    """The chunks of full length; where there is none, as when a loop is never entered, nothing."""
    return [part for part in parts if part[0].shape[-2] == chunk]


def without_single(parts):
    """The chunks, without the last one if it is a single position."""
    return parts if parts[-1][0].shape[-2] > 1 else parts[:-1]


def unfilled(found, n):
    """The outputs in an array that was all 0, as long as the inputs."""
    output = joined(found)
    return np.pad(output, [(0, 0)] * (output.ndim - 2) + [(0, n - output.shape[-2]), (0, 0)])


def all_pairs(query, key, value, change):
    return change(query @ swap(key)) @ value


def divided(query, key, value, numerator):
    total = (query @ swap(key) * lower(query @ swap(key))).sum(axis=-1, keepdims=True)
    return numerator / total


def carried_over(query, key, value, chunk):
    """The state of one sequence is the beginning of the next."""
    rows = (in_one_row(x) for x in (query, key, value))
    output = all_pairs(*rows, lambda products: products * lower(products))
    return output.reshape(*query.shape[:-1], value.shape[-1])


def _cases():
    def some(aspect, chunk, n, d_k, d_v, seed, **more):
        return drawn(aspect, (n, d_k), (n, d_k), (n, d_v), seed=seed, behind=(chunk,), **more)

    column = [[1], [2], [1], [3]]
    return [
        given(PLAIN, column, [[1], [0], [2], [1]], [[4], [8], [2], [1]], 2),
        given(SHORTER, [[1], [2], [1]], [[1], [1], [2]], [[4], [8], [2]], 2),
        given(LONG, [[1], [2]], [[1], [3]], [[4], [8]], 5, extreme=True),
        given(LEADING, [[[1], [2]], [[3], [1]]], [[[1], [1]], [[2], [1]]], [[[4], [8]]] * 2, 1),
        some(PLAIN, 5, 15, 3, 2, 1),
        some(PLAIN, 3, 12, 2, 7, 5, order="F"),
        some(PLAIN, 7, 14, 5, 11, 9),
        some(PLAIN, 13, 52, 3, 5, 13),
        some(SHORTER, 3, 7, 2, 11, 17),
        some(SHORTER, 5, 13, 7, 2, 21, order="F"),
        some(SHORTER, 4, 11, 3, 2, 25),
        some("chunks of one position", 1, 7, 5, 2, 29),
        some("one chunk", 7, 7, 3, 2, 33),
        some(LONG, 11, 7, 3, 2, 37, extreme=True),
        some(SQUARE, 3, 9, 3, 3, 41),
        some(SQUARE, 5, 5, 5, 5, 45),
        some(SQUARE, 2, 4, 2, 2, 49),
        some(LEADING, 5, 10, 7, 2, 53, lead=(2,)),
        some(LEADING, 3, 7, 2, 11, 57, lead=(2, 3), order="F"),
        some(FLOAT32, 3, 7, 3, 2, 61, dtype=np.float32),
        some(FLOAT32, 1, 2, 2, 1, 63, dtype=np.float32),
        some(FLOAT16, 2, 5, 2, 7, 65, dtype=np.float16),
        some(FLOAT16, 1, 2, 2, 1, 67, dtype=np.float16),
    ]


def _long(n):
    return normal(n, 1, seed=60), normal(n, 1, seed=61), normal(n, 2, seed=62), 16


def makes_a_square(run):
    return "an array over all pairs" if keeps_a_square(run, _long) else None


EXERCISE = written(
    chunked_linear_attention,
    place=2,
    axes=AXES,
    answer_axes="n d_v",
    cases=_cases,
    audits=(makes_a_square,),
)
