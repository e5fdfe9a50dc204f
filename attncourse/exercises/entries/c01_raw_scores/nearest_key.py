import numpy as np

from ...families.counts import floats_for
from ...families.inputs import given, inputs
from ...families.scores import swap
from ...model import LEADING, PLAIN
from ...pages import written

AXES = dict(query="n_q d_k", key="n_k d_k")
TIES = "equal products"


def nearest_key(query, key):
    q, k = query, key
    products = q @ swap(k)  #: the product of queries and keys
    found = products.argmax(axis=-1)
    return found


def last_of_the_largest(products):
    return products.shape[-1] - 1 - products[..., ::-1].argmax(axis=-1)


def first_of_the_nearly_largest(products):
    return np.isclose(products, products.max(axis=-1, keepdims=True)).argmax(axis=-1)


def closeness(q, k):
    return -np.square(q[..., :, None, :] - k[..., None, :, :]).sum(axis=-1)


def norm(array):
    return np.linalg.norm(array, axis=-1, keepdims=True)


def unit(array):
    return array / np.where(norm(array) == 0, 1.0, norm(array))


def raised(array, epsilon):
    """Vectors divided by their lengths, to which a small number was added."""
    return array / (norm(array) + epsilon)


def single(array):
    return array.astype(np.float32)


def _cases():
    return [
        given(PLAIN, [[1, 0]], [[1, 5], [3, 0], [2, 2]]),
        given(PLAIN, [[1, 2], [-1, 0]], [[3, 0], [0, 1], [-2, 0]]),
        given(TIES, [[1, 0]], [[1, 0], [2, 0], [2, 5]]),
        given(TIES, [[0, 0], [1, 1]], [[1, 2], [2, 1], [0, 0]]),
        # so many that a sort that keeps no order of equals shows
        given(TIES, [[1]], np.random.default_rng(1).integers(4, size=(40, 1))),
        given("nearly equal products", [[1, 0]], [[1, 0], [1 + 1e-9, 0]]),
        given("nearly equal products", [[1, 0]], [[2, 5], [2, 5], [2 + 1e-6, 0]]),
        given("negative products only", [[-1, -1]], [[3, 1], [1, 1], [2, 5]]),
        given("one key", [[1, 2], [3, 4]], [[5, 6]]),
        given("one query", [[1, 2, 3]], [[0, 0, 1], [1, 0, 0]]),
        given(LEADING, [[[1, 0]], [[0, 1]]], [[[1, 5], [3, 0]], [[1, 5], [3, 0]]]),
        *inputs(AXES),
    ]


EXERCISE = written(
    nearest_key,
    place=2,
    dtype="number",
    axes=AXES,
    answer_axes="n_q",
    cases=_cases,
    audits=(floats_for(np.array([[1.0, 0.0]]), np.array([[1.5, 5.0], [3.25, 0.0]])),),
)
