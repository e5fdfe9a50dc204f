"""The exercise cosine_scores."""

import math

import numpy as np

from ...families.inputs import inputs
from ...model import FLOAT16, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike

ZERO, LONG = "a vector of zeros", "very long and very short vectors"
AXES = dict(query="n_q d_k", key="n_k d_k")


def cosine_scores_answer(do, query, key):
    left, right = do.roles(query, key)
    return do.finish(do.product(do.query_unit(do.unit, left), do.key_unit(do.unit, right)), query)


def _swap(array):
    return np.swapaxes(array, -1, -2)


def _length(array):
    return np.sqrt(np.square(array).sum(axis=-1, keepdims=True))


def _unit(array):
    length = _length(array)
    return array / np.where(length == 0, 1.0, length)


def _over(length):
    return lambda array: array / np.where(length(array) == 0, 1.0, length(array))


def _bare(array):
    return array / _length(array)


def _cases():
    def case(aspect, query, key, dtype=float):
        return Case(aspect, (np.array(query, dtype), np.array(key, dtype)))

    return [
        case(PLAIN, [[3, 4]], [[6, 8], [4, -3], [-3, -4]]), case(PLAIN, [[1, 0], [1, 1]], [[2, 0], [0, 5], [1, 1]]),
        case(SQUARE, [[1, 0], [3, 4]], [[0, 2], [4, 3]]), case("one feature", [[2], [-3]], [[5], [-1], [4]]),
        case(ZERO, [[0, 0], [3, 4]], [[3, 4], [0, 0], [1, 0]]), case(ZERO, [[0, 0]], [[0, 0]]),
        case(LONG, [[3e4, 4e4]], [[3e-4, 4e-4], [4e5, -3e5]]), case(LONG, [[1e-9, 1e-9]], [[1, 1], [1, 0]]),
        case(LEADING, [[[3, 4]], [[1, 0]]], [[[1, 0]], [[3, 4]]]),
        case(FLOAT16, [[3, 4], [1, 0]], [[6, 8], [0, 1]], np.float16),
        *inputs(AXES),
    ]


EXERCISE = Exercise(
    name="cosine_scores", signature="(query, key)", place=3,
    axes=AXES, answer_axes="n_q n_k",
    text="The cosines of the angles between all queries (..., n_q, d_k) and all keys (..., n_k, d_k), of shape "
         "(..., n_q, n_k), not scaled; a vector of zeros has cosine 0 with every vector.",
    answer=cosine_scores_answer,
    steps={
        "roles": lambda query, key: (query, key),
        "unit": _unit,
        "query_unit": lambda unit, query: unit(query),
        "key_unit": lambda unit, key: unit(key),
        "product": Step(lambda query, key: query @ _swap(key), "the product of queries and keys"),
        "finish": Step(lambda cosines, query: cosines, "the cosines"),
    },
    cases=_cases,
    hints=(
        "The cosine is the dot product divided by both lengths: one length for each query, one for each key.",
        "np.linalg.norm(query, axis=-1, keepdims=True) has shape (..., n_q, 1). Divide the queries by it, the keys by "
        "theirs; then all dot products are cosines.",
        "A length of 0 must not divide: np.where(length == 0, 1, length) leaves a vector of zeros as it is, and its dot "
        "products are 0.",
    ),
    mistakes=(
        *alike("A cosine is free of both lengths: the dot product is divided by that of the query and by that of the key.",
               "What happens to your answer when a key is twice as long, and when a query is?",
               ("not divided by the queries' lengths", {"query_unit": lambda unit, query: query},
                "The rows of longer queries are larger."),
               ("not divided by the keys' lengths", {"key_unit": lambda unit, key: key},
                "The columns of longer keys are larger."),
               ("dot products instead of cosines", {"query_unit": lambda unit, query: query, "key_unit": lambda unit, key: key},
                "The answer is Q Kᵀ: it grows with the lengths.")),
        *alike("The length of a vector is the square root of the sum of its squares, over its own features.",
               "What is the length of the vector (3, 4)?",
               ("sum of squares instead of the length", {"unit": _over(lambda a: np.square(a).sum(axis=-1, keepdims=True))},
                "Each vector is divided by the square of its length."),
               ("sum of absolute values instead of the length", {"unit": _over(lambda a: np.abs(a).sum(axis=-1, keepdims=True))},
                "Each vector is divided by the sum of the sizes of its entries."),
               ("largest entry instead of the length", {"unit": _over(lambda a: np.abs(a).max(axis=-1, keepdims=True))},
                "Each vector is divided by its largest entry."),
               ("one length for all", {"unit": _over(lambda a: np.sqrt(np.square(a).sum()))},
                "All vectors are divided by one length, that of the whole array."),
               ("length over the positions", {"unit": _over(lambda a: np.sqrt(np.square(a).sum(axis=-2, keepdims=True)))},
                "The squares are added over the positions, not over the features of one vector.")),
        Mistake("0 / 0 for a vector of zeros", change={"unit": _bare},
                does="A vector of zeros gives NaN.",
                why="Its length is 0. By definition its cosine is 0 with every vector.",
                ask="What is divided by what where all features are 0?"),
        Mistake("epsilon added to the length", alone=True,
                change=tuple({"unit": lambda a, e=e: a / (_length(a) + e)}
                             for e in (1e-8, 1e-6, 1e-9, 1e-12, 1e-5, 1e-4, 1e-3, 1e-10)) + tuple(
                    {"unit": lambda a, e=e: a / np.maximum(_length(a), e)} for e in (1e-8, 1e-6, 1e-5, 1e-4, 1e-3)) + tuple(
                    {"answer": lambda query, key, e=e: query @ _swap(key) / (_length(query) * _swap(_length(key)) + e)}
                    for e in (1e-8, 1e-6, 1e-9, 1e-12)),
                does="A small number is added to the lengths, or taken as the smallest length: short vectors get cosines that are too small.",
                why="Only a length of exactly 0 needs care; any other divides safely.",
                ask="What is the cosine of a vector of length 1e-9 with itself in your function?"),
        Mistake("scaled by sqrt(d_k) too", change={"finish": lambda cosines, query: cosines / math.sqrt(query.shape[-1])},
                does="The cosines are divided by sqrt(d_k).",
                why="The scale is for dot products, which grow with d_k; a cosine lies between -1 and 1 whatever d_k is.",
                ask="What is the cosine of a vector with itself?"),
        Mistake("angle instead of the cosine",
                change=({"finish": lambda cosines, query: np.arccos(np.clip(cosines, -1, 1))},
                        {"finish": lambda cosines, query: np.degrees(np.arccos(np.clip(cosines, -1, 1)))}),
                does="The answer holds angles.", why="The cosine of the angle is asked for: 1 for the same direction.",
                ask="What should the score of a vector with itself be?"),
        Mistake("distance instead of the cosine", change={"finish": lambda cosines, query: 1 - cosines},
                does="The answer is 1 minus the cosine: 0 where the directions agree.",
                why="A score is large where query and key agree.", ask="What should the score of a vector with itself be?"),
        Mistake("K Qᵀ instead of Q Kᵀ", change={"roles": lambda query, key: (key, query)},
                does="Row j belongs to key j and column i to query i.",
                why="A row must hold one query's scores for all keys.",
                ask="What should one row of the scores belong to, a query or a key?"),
        Mistake("absolute value", alone=True, change={"finish": lambda cosines, query: np.abs(cosines)},
                does="No cosine is negative.", why="A negative cosine says that the two point away from each other.",
                ask="What is the cosine of a vector and its opposite?"),
    ),
)
