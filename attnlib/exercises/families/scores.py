"""Queries against keys: the steps of scaled scores, and what goes wrong in them."""

import math
from dataclasses import replace

import numpy as np

from ..model import FLOAT32, LEADING, PLAIN, SQUARE, Case, Mistake, Step, alike, normal
from .inputs import inputs


def swap(array):
    return np.swapaxes(array, -1, -2)


def raw_scores_answer(do, query, key):
    left, right = do.roles(query, key)
    product = do.product(left, do.transpose(right))
    return do.finish_scores(do.scale(product, query, key))


SCORE_STEPS = {
    "roles": lambda query, key: (query, key),
    "transpose": swap,
    "product": Step(lambda query, key_t: query @ key_t, "the product of queries and keys"),
    "scale": Step(lambda scores, query, key: scores / math.sqrt(query.shape[-1]), "the scaled scores"),
    "finish_scores": Step(lambda scores: scores, "the scores"),
}


def _cosine(query, key_t):
    lengths = np.linalg.norm(query, axis=-1, keepdims=True) * np.linalg.norm(key_t, axis=-2, keepdims=True)
    return query @ key_t / lengths


def _each_feature(join, reduce):
    """Query and key joined feature by feature, and reduced over the features."""
    return lambda query, key_t: reduce(join(query[..., :, None, :], swap(key_t)[..., None, :, :]), axis=-1)


def _divided(by):
    """The step "scale" with another divisor, made of queries and keys."""
    return {"scale": lambda scores, query, key: scores / by(query, key)}


def under_the_root(number):
    return Mistake(
        f"{number:.4g} added under the root", change=_divided(lambda query, key: math.sqrt(query.shape[-1] + number)),
        does=f"The scores are divided by sqrt(d_k + {number:.4g}).",
        why="Only d_k stands under the root in Q Kᵀ / sqrt(d_k).", ask="What stands under the root in the formula?")


def divided_by(number):
    return Mistake(
        f"{number:.4g} instead of sqrt(d_k)", change=_divided(lambda query, key: number),
        does=f"The scores are divided by {number:.4g} whatever d_k is.",
        why="The scale belongs to the length of these queries and keys.", ask="Which axis of the query tells d_k?")


def power_of_d_k(number):
    return Mistake(
        f"d_k to the power {number:.4g}", change=_divided(lambda query, key: float(query.shape[-1]) ** number),
        does=f"The scores are divided by d_k to the power {number:.4g}.",
        why="The standard deviation of a sum of d_k products grows like the square root, d_k to the power 0.5.",
        ask="Which power of d_k is its square root?")


def _over_the_batch(reduce):
    def product(query, key_t):
        scores = query @ key_t
        return reduce(scores, axis=tuple(range(scores.ndim - 2))) if scores.ndim > 2 else scores

    return {"product": product}


def unscaled(scores, query, key):
    return scores


SCALE_MISTAKES = (
    Mistake("no scale", change={"scale": unscaled},
            does="The scores are Q Kᵀ itself: sqrt(d_k) times too large.",
            why="A dot product of d_k terms has a standard deviation that grows like sqrt(d_k); the scale brings it "
                "back "
                "to 1, so that the scores do not grow with d_k.",
            ask="How does the standard deviation of q · k grow with d_k, and what brings it back to 1?"),
    Mistake("d_k instead of sqrt(d_k)", change=_divided(lambda query, key: query.shape[-1]),
            does="The scores are sqrt(d_k) times too small.",
            why="The variance of q · k is d_k, so its standard deviation is sqrt(d_k). Dividing by d_k, or by "
                "sqrt(d_k) "
                "twice, makes the scores smaller the larger d_k is.",
            ask="Is it the variance or the standard deviation that the scale should bring to 1, and how often is it "
                "applied?"),
    Mistake("multiplied by sqrt(d_k)",
            change=tuple(_divided(lambda query, key, p=p: query.shape[-1] ** p) for p in (-0.5, -1.0)),
            does="The scores are d_k times too large, or more.",
            why="The scale has to shrink the scores: 1/sqrt(d_k), not sqrt(d_k).",
            ask="Are dot products of long vectors too large or too small?"),
    *alike("One score is a sum of d_k products; how many keys or queries there are does not touch it.",
           "Over which index does the sum in q · k run, and how long is it?",
           ("sqrt(n_k) instead of sqrt(d_k)", _divided(lambda query, key: math.sqrt(key.shape[-2])),
            "The scale depends on how many keys there are."),
           ("sqrt(n_q) instead of sqrt(d_k)", _divided(lambda query, key: math.sqrt(query.shape[-2])),
            "The scale depends on how many queries there are.")),
    Mistake("1/2 instead of a square root",
            change=tuple(_divided(lambda query, key, f=f: f * query.shape[-1]) for f in (2, 0.5)),
            does="The scores are divided by d_k, and by 2 or 1/2 besides.",
            why="In Python the power binds before the division: d_k ** 1/2 is (d_k ** 1) / 2, and d_k ** -1/2 is (1 / "
                "d_k) / 2.",
            ask="Where do brackets belong in d_k ** 1/2?"),
    *alike("The features are the last axis, shape[-1], whatever the number of axes; len(x) and shape[0] are the first "
           "one.",
           "Which index names the last axis whatever the number of axes?",
           ("d_k read from the first axis",
            (_divided(lambda query, key: math.sqrt(query.shape[0])),
             _divided(lambda query, key: math.sqrt(key.shape[0]))),
            "The scale depends on the first axis: on the number of positions, or on the batch if there are leading "
            "axes."),
           ("d_k read from the second axis", _divided(lambda query, key: math.sqrt(query.shape[1])),
            "The scale is right for two axes, and depends on the number of positions or heads where there are more.")),
    Mistake("d_k fixed in the code",
            change=tuple(_divided(lambda query, key, d=d: math.sqrt(d)) for d in (64, 128, 32, 16, 512, 768, 256)),
            does="The scores are divided by the same number whatever d_k is.",
            why="The scale belongs to the length of these queries and keys, not to a certain model.",
            ask="Which axis of the query tells d_k?"),
    Mistake("scale rounded to an integer",
            change=tuple(_divided(lambda query, key, cut=cut: cut(math.sqrt(query.shape[-1]))) for cut in (int, round,
                                                                                                           math.ceil)),
            does="The scores are divided by a whole number near sqrt(d_k).",
            why="int(), round(), math.isqrt and // throw the fraction away. sqrt(d_k) is not whole for most d_k.",
            ask="What is the scale for d_k = 3?"),
    Mistake("square root of the scores",
            change={"scale": lambda scores, query, key: np.sqrt(np.abs(scores / query.shape[-1]))},
            does="The root is taken of the score and not of d_k.",
            why="Only d_k stands under the root in Q Kᵀ / sqrt(d_k).",
            ask="What stands under the root in the formula?"),
)

PRODUCT_MISTAKES = (
    Mistake("K Qᵀ instead of Q Kᵀ", change={"roles": lambda query, key: (key, query)},
            does="Row j belongs to key j and column i to query i: the scores are transposed.",
            why="The softmax later runs along each row, and a row must hold one query's scores for all keys.",
            ask="What should one row of the scores belong to, a query or a key?"),
    Mistake("no transpose", change={"transpose": lambda key: key},
            does="Query and key are multiplied as they are; that works only for n_k = d_k, and then sums over the "
                 "wrong axis "
                 "of the key.",
            why="A score sums over features, the last axis of both; a matrix product sums over the last axis of the "
                "left one "
                "and the last but one of the right one.",
            ask="Which axis of key must stand last but one?"),
    Mistake("reshape instead of transpose",
            change={"transpose": lambda key: key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])},
            does="The shape is right, but the key's numbers are dealt out anew into rows.",
            why="reshape keeps the order in memory; a transposition moves entry (j, c) to (c, j).",
            ask="Into which place must entry (0, 1) of the key go, and where does reshape put it?"),
    Mistake(".T on a batched array", change={"transpose": lambda key: key.T},
            does="For two axes .T swaps them. With leading axes it reverses all axes, the batch too.",
            why="Only the last two axes may change places: np.swapaxes(key, -1, -2), or key.mT.",
            ask="What is the shape of key.T if key has shape (2, 5, 3)?"),
    Mistake("summed over positions instead of features",
            change={"transpose": lambda key: key, "product": lambda query, key: swap(query) @ key},
            does="The answer has shape (d_k, d_k): features against features.",
            why="That is Qᵀ K. A score belongs to a query and a key, and sums over features.",
            ask="Which index must disappear in a score, the position or the feature?"),
    Mistake("elementwise product",
            change=({"transpose": lambda key: key, "product": np.multiply}, {"product": np.multiply}),
            does="Query and key, or its transpose, are multiplied entry by entry, and nothing is summed.",
            why="Each query meets each key, and the d_k products of a meeting are added.",
            ask="Which operator sums over the features, * or @?"),
    Mistake("cosine instead of dot product", change=({"product": _cosine}, {"product": _cosine, "scale": unscaled}),
            does="The lengths of queries and keys do not matter.",
            why="Attention's score is the dot product: a longer key is scored higher.",
            ask="What happens to a score when the key is twice as long?"),
    Mistake("summed over the batch", change=(_over_the_batch(np.sum), _over_the_batch(np.mean)),
            does="Leading axes disappear: the sequences of a batch are mixed.",
            why="Leading axes are kept: each sequence and each head has scores of its own.",
            ask="Which indices must stand in the answer beside i and j?"),
    *(replace(mistake, alone=True) for mistake in alike(
        "All d_k products of a query's and a key's features are added: one of 0 leaves the others as they are.",
        "What is to be done with the d_k pairs of entries?",
        ("features multiplied instead of summed", {"product": _each_feature(np.multiply, np.prod)},
         "The d_k products of a query and a key are multiplied with each other."),
        ("largest feature instead of the sum", {"product": _each_feature(np.multiply, np.max)},
         "Of the d_k products of a query and a key only the largest counts."),
        ("half of the features", tuple(
            {"product": lambda query, key_t, part=part: query[..., part(query.shape[-1])] @ key_t[...,
                                                                                                  part(query.shape[-1]),
                                                                                                  :]}
            for part in (lambda n: slice(n // 2), lambda n: slice((n + 1) // 2), lambda n: slice(n // 2, None))),
         "Only half of the features count."),
        ("sum instead of product",
         ({"product": _each_feature(np.add, np.sum)}, {"product": _each_feature(np.subtract, np.sum)}),
         "The entries of query and key are added or subtracted, not multiplied."),
        ("smaller entry instead of product", {"product": _each_feature(np.minimum, np.sum)},
         "Of each pair of entries the smaller one is added up."))),
    Mistake("np.dot on batches", change={"product": np.dot},
            does="With leading axes each sequence of the batch meets every other one, and the answer has too many "
                 "axes.",
            why="np.dot, np.inner and np.tensordot pair all leading axes of both arrays; @ and np.matmul go through "
                "them "
                "together.",
            ask="Which product treats leading axes as a batch?"),
)


def softmax_of(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def only_the_past(scores):
    return np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)


CAUSAL_APPLIED = Mistake(
    "causal mask applied", change={"finish_scores": only_the_past},
    does="Scores of keys after the query are -inf.",
    why="No mask was asked for: here every query may attend to every key.",
    ask="Which keys may a query attend to if nothing is said?")


def score_cases():
    """Queries and keys for every aspect; attention adds the values."""
    f4 = np.float32
    return [
        Case(PLAIN, (np.array([[2.0, 0.0, 0.0, 4.0]]), np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 3.0, 1.0, 1.0]]))),
        Case("one query", (normal(1, 5, seed=5), normal(3, 5, seed=6))),
        Case(SQUARE, (np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [2.0, 5.0]]))),
        Case(SQUARE, (normal(5, 3, seed=7), normal(5, 3, seed=8))),
        Case(LEADING, (np.array([[[1.0, 2.0]], [[3.0, 1.0]]]), np.array([[[1.0, 1.0]], [[2.0, 0.0]]]))),
        Case(FLOAT32, (np.array([[1, 2]], f4), np.array([[3, 4]], f4))),
        Case(FLOAT32, (normal(3, 3, seed=11, dtype=f4), normal(3, 3, seed=12, dtype=f4))),
        *inputs(dict(query="n_q d_k", key="n_k d_k")),
    ]
