import numpy as np

from ...families.inputs import given, inputs
from ...families.memory import keeps_a_square
from ...families.scores import only_the_past, softmax_of, swap  # noqa: F401, for the page
from ...families.softmax import EPSILONS  # noqa: F401, for the page
from ...model import FLOAT32, LEADING, PLAIN, SQUARE, normal
from ...pages import written

AXES = dict(query="n d_k", key="n d_k", value="n d_v")
FAR_BELOW, FAR_ABOVE = "features far below 0", "features far above 0"


def linear_attention(query, key, value):
    q = query
    k = key
    f_q = positive(q)  #: the features of the queries
    f_k = positive(k)  #: the features of the keys
    v = value
    products = f_q @ swap(f_k)  #: the products of the features
    seen = lower(products)
    terms = products * seen
    sums = terms @ v  #: the sums before the division
    counted = products * seen
    total = counted.sum(axis=-1, keepdims=True)  #: the sum of the products (one per row)
    output = sums / total
    return output


def positive(x):
    """elu(x) + 1."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def without_choice(x):
    """x + 1 and exp(x), each times 1 or 0; exp(x) may be infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (x > 0) * (x + 1) + (x <= 0) * np.exp(x)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def softplus(x):
    return np.logaddexp(0, x)


def lower(products, diagonal=0):
    """1 where the key's position is at most the query's plus `diagonal`, else 0."""
    n = products.shape[-1]
    return np.tri(n, n, diagonal)


def in_one_row(array):
    """All sequences of a batch behind each other, as one."""
    return array.reshape(-1, array.shape[-1])


def state_carried_over(query, key, value):
    """The state of one sequence is the beginning of the next."""
    output = linear_attention(*map(in_one_row, (query, key, value)))
    return output.reshape(*query.shape[:-1], value.shape[-1])


def running_sums_along(axis, query, key, value):
    """Running sums of the keys' features times values along this axis of the outer products."""
    f_q, f_k = positive(query), positive(key)
    states = np.cumsum(f_k[..., None] * value[..., None, :], axis=axis)
    totals = np.cumsum(f_k, axis=axis)
    sums = (f_q[..., None] * states).sum(axis=-2)
    return sums / (f_q * totals).sum(axis=-1, keepdims=True)


def states_turned(f_q, f_k, v):
    """Each state's rows belong to the values, and einsum stretches an axis of length 1."""
    states = np.cumsum(v[..., :, None] * f_k[..., None, :], axis=-3)
    return np.einsum("...nd,...nde->...ne", f_q, states)


def _cases():
    return [
        given(PLAIN, [[0], [1]], [[0], [2]], [[4], [8]]),
        given(PLAIN, [[1, 0], [0, 1], [2, 0]], [[1, 0], [0, 2], [1, 1]], [[2], [8], [-4]]),
        given("negative features", [[-1], [1]], [[1], [-1]], [[4], [8]]),
        given("negative features", [[-1, 2], [1, -2]], [[1, -1], [-1, 2]], [[4], [8]]),
        given(SQUARE, [[0, 1], [1, 0]], [[1, 0], [0, 2]], [[4, 0], [8, 2]]),
        given(
            LEADING, [[[0], [1]], [[1], [0]]], [[[0], [2]], [[3], [1]]], [[[4], [8]], [[2], [6]]]
        ),
        given(FAR_BELOW, [[-4], [-5]], [[-6], [-5]], [[4], [8]]),
        given(FAR_BELOW, [[-12], [-11]], [[-11], [-13]], [[4], [8]]),
        given(FAR_ABOVE, [[1000], [-3]], [[2], [2000]], [[4], [8]]),
        given(FAR_ABOVE, [[720], [-1]], [[2], [3]], [[4], [8]], dtype=np.float16),
        given("one position", [[1, 0]], [[0, 2]], [[4, 8]]),
        given(FLOAT32, [[0], [1]], [[0], [2]], [[4], [8]], dtype=np.float32),
        *inputs(AXES),
    ]


def _long(n):
    return normal(n, 1, seed=60), normal(n, 1, seed=61), normal(n, 2, seed=62)


def makes_a_square(run):
    return "an array over all pairs" if keeps_a_square(run, _long) else None


EXERCISE = written(
    linear_attention,
    place=1,
    axes=AXES,
    answer_axes="n d_v",
    cases=_cases,
    audits=(makes_a_square,),
)
