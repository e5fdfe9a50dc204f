"""The exercise nearest_key."""

import numpy as np

from ...families.inputs import inputs
from ...model import LEADING, PLAIN, Case, Exercise, Mistake, Step, alike

TIES = "equal products"
AXES = dict(query="n_q d_k", key="n_k d_k")


def nearest_key_answer(do, query, key):
    left, right = do.roles(query, key)
    return do.form(do.find(do.product(do.measure(left), do.measure(right))))


def _swap(array):
    return np.swapaxes(array, -1, -2)


def _last_of_the_largest(products):
    return products.shape[-1] - 1 - products[..., ::-1].argmax(axis=-1)


def _distance(query, key):
    return -np.square(query[..., :, None, :] - key[..., None, :, :]).sum(axis=-1)


def _unit(array):
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    return array / np.where(length == 0, 1.0, length)


def _cases():
    def case(aspect, query, key):
        return Case(aspect, (np.array(query, float), np.array(key, float)))

    return [
        case(PLAIN, [[1, 0]], [[1, 5], [3, 0], [2, 2]]), case(PLAIN, [[1, 2], [-1, 0]], [[3, 0], [0, 1], [-2, 0]]),
        case(TIES, [[1, 0]], [[1, 0], [2, 0], [2, 5]]), case(TIES, [[0, 0], [1, 1]], [[1, 2], [2, 1], [0, 0]]),
        case("negative products only", [[-1, -1]], [[3, 1], [1, 1], [2, 5]]),
        case("one key", [[1, 2], [3, 4]], [[5, 6]]), case("one query", [[1, 2, 3]], [[0, 0, 1], [1, 0, 0]]),
        case(LEADING, [[[1, 0]], [[0, 1]]], [[[1, 5], [3, 0]], [[1, 5], [3, 0]]]),
        *inputs(AXES),
    ]


EXERCISE = Exercise(
    name="nearest_key", signature="(query, key)", place=2, dtype="number",
    axes=AXES, answer_axes="n_q",
    text="For each query the position of the key with the largest dot product, the first of equals: whole numbers of "
         "shape (..., n_q), for queries (..., n_q, d_k) and keys (..., n_k, d_k).",
    answer=nearest_key_answer,
    steps={
        "roles": lambda query, key: (query, key),
        "measure": lambda vectors: vectors,
        "product": Step(lambda query, key: query @ _swap(key), "the product of queries and keys"),
        "find": lambda products: products.argmax(axis=-1),
        "form": lambda positions: positions,
    },
    cases=_cases,
    hints=(
        "Two steps: all dot products of queries and keys, then in each row the position of the largest one.",
        "Rows of query @ (key with its last two axes swapped) belong to queries, columns to keys.",
        "np.argmax(..., axis=-1) gives positions along the last axis, and the first of equal ones.",
    ),
    mistakes=(
        *alike("Each query has a row of products, and the keys lie along that row, the last axis.",
               "Along which axis of the products do the keys lie?",
               ("over the queries instead of the keys",
                ({"find": lambda products: products.argmax(axis=-2)}, {"roles": lambda query, key: (key, query)}),
                "The answer says for each key which query matches it best."),
               ("over the whole array", {"find": lambda products: np.asarray(products.argmax())},
                "One position is returned, counted through all products."),
               ("over the first axis", {"find": lambda products: products.argmax(axis=0)},
                "The largest product is looked for along the first axis.")),
        *alike("A position is asked for, from 0 to n_k - 1.", "Does your function return a number of the products, or where it stands?",
               ("the largest product instead of its position", {"find": lambda products: products.max(axis=-1)},
                "The answer holds the largest products themselves."),
               ("counted from 1", {"form": lambda positions: positions + 1}, "The positions are counted from 1."),
               ("the order of all keys", {"find": lambda products: np.argsort(-products, axis=-1)},
                "The answer holds all keys in the order of their products.")),
        Mistake("smallest instead of largest", change={"find": lambda products: products.argmin(axis=-1)},
                does="The answer is the key with the smallest dot product.",
                why="The larger the dot product, the better a key matches.",
                ask="Which dot product has a key that points the query's way?"),
        Mistake("size without sign", change={"find": lambda products: np.abs(products).argmax(axis=-1)},
                does="A key that points away from the query counts as if it pointed its way.",
                why="A negative product says that the two point away from each other.",
                ask="Which matches better, a key with product 1 or one with product -5?"),
        Mistake("last of equals", change={"find": _last_of_the_largest},
                does="Where several keys have the largest product, the last of them is taken.",
                why="The first of equals is asked for; np.argmax gives it.",
                ask="What does your comparison do when two products are equal, < or <=?"),
        Mistake("nearest by distance", change={"product": _distance},
                does="The key with the smallest distance from the query is taken.",
                why="A dot product also grows with the key's length: a long key can win from far away.",
                ask="Does a key that is twice as long change its dot product?"),
        Mistake("largest cosine", change={"measure": _unit},
                does="The lengths of the keys do not count, only the angles.",
                why="The dot product is asked for: a key that is twice as long has twice the product.",
                ask="What happens to q · k when k is twice as long?"),
        Mistake("only positive products", change={"find": lambda products: np.maximum(products, 0).argmax(axis=-1)},
                does="Negative products count as 0.",
                why="If all products are negative, the one nearest to 0 is still the largest.",
                ask="Which is the largest of -3, -1 and -2?"),
        Mistake("only the first query", change={"form": lambda positions: positions[..., :1]},
                does="Only the first query gets its key.", why="Each query has a position of its own.",
                ask="How many positions does the answer hold?"),
    ),
)
