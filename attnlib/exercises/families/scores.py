"""Queries against keys: the steps of scaled scores, and what goes wrong in them."""

import math

import numpy as np

from ..model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Mistake, Step, normal


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


def under_the_root(number):
    return Mistake(
        f"{number:.4g} added under the root",
        change={"scale": lambda scores, query, key: scores / math.sqrt(query.shape[-1] + number)},
        does=f"The scores are divided by sqrt(d_k + {number:.4g}).",
        why="Only d_k stands under the root in Q Kᵀ / sqrt(d_k).",
        ask="What stands under the root in the formula?")


def divided_by(number):
    return Mistake(
        f"{number:.4g} instead of sqrt(d_k)", change={"scale": lambda scores, query, key: scores / number},
        does=f"The scores are divided by {number:.4g} whatever d_k is.",
        why="The scale belongs to the length of these queries and keys.",
        ask="Which axis of the query tells d_k?")


def power_of_d_k(number):
    return Mistake(
        f"d_k to the power {number:.4g}",
        change={"scale": lambda scores, query, key: scores / float(query.shape[-1]) ** number},
        does=f"The scores are divided by d_k to the power {number:.4g}.",
        why="The standard deviation of a sum of d_k products grows like the square root, d_k to the power 0.5.",
        ask="Which power of d_k is its square root?")


def _over_the_batch(reduce):
    def product(query, key_t):
        scores = query @ key_t
        return reduce(scores, axis=tuple(range(scores.ndim - 2))) if scores.ndim > 2 else scores

    return product


def unscaled(scores, query, key):
    return scores


SCALE_MISTAKES = (
    Mistake("no scale", change={"scale": unscaled},
            does="The scores are Q Kᵀ itself: sqrt(d_k) times too large.",
            why="A dot product of d_k terms has a standard deviation that grows like sqrt(d_k); "
                "without the scale the softmax saturates and its gradient vanishes.",
            ask="How does the standard deviation of q · k grow with d_k, and what brings it back to 1?"),
    Mistake("d_k instead of sqrt(d_k)",
            change={"scale": lambda scores, query, key: scores / query.shape[-1]},
            does="The scores are sqrt(d_k) times too small.",
            why="The variance of q · k is d_k, so its standard deviation is sqrt(d_k). Dividing by "
                "d_k, or by sqrt(d_k) twice, makes the softmax nearly uniform.",
            ask="Is it the variance or the standard deviation that the scale should bring to 1, and "
                "how often is it applied?"),
    Mistake("multiplied by sqrt(d_k)",
            change=({"scale": lambda scores, query, key: scores * math.sqrt(query.shape[-1])},
                    {"scale": lambda scores, query, key: scores * query.shape[-1]}),
            does="The scores are d_k times too large, or more.",
            why="The scale has to shrink the scores: 1/sqrt(d_k), not sqrt(d_k).",
            ask="Are dot products of long vectors too large or too small?"),
    Mistake("sqrt(n_k) instead of sqrt(d_k)",
            change={"scale": lambda scores, query, key: scores / math.sqrt(key.shape[-2])},
            does="The scale depends on how many keys there are.",
            why="One score is a sum of d_k products; how many keys there are does not touch it.",
            ask="Over which index does the sum in q · k run, and how long is it?"),
    Mistake("sqrt(n_q) instead of sqrt(d_k)",
            change={"scale": lambda scores, query, key: scores / math.sqrt(query.shape[-2])},
            does="The scale depends on how many queries there are.",
            why="One score is a sum of d_k products; how many queries there are does not touch it.",
            ask="Over which index does the sum in q · k run, and how long is it?"),
    Mistake("1/2 instead of a square root",
            change=({"scale": lambda scores, query, key: scores / query.shape[-1] / 2},
                    {"scale": lambda scores, query, key: scores * 2 / query.shape[-1]}),
            does="The scores are divided by d_k, and by 2 or 1/2 besides.",
            why="In Python the power binds before the division: d_k ** 1/2 is (d_k ** 1) / 2, and "
                "d_k ** -1/2 is (1 / d_k) / 2.",
            ask="Where do brackets belong in d_k ** 1/2?"),
    Mistake("d_k read from the first axis",
            change=({"scale": lambda scores, query, key: scores / math.sqrt(query.shape[0])},
                    {"scale": lambda scores, query, key: scores / math.sqrt(key.shape[0])}),
            does="The scale depends on the first axis: on the number of positions, or on the batch if there are "
                 "leading axes.",
            why="len(query) and query.shape[0] are the length of the first axis; the features are the last one.",
            ask="Which index names the last axis whatever the number of axes?"),
    Mistake("d_k read from the second axis",
            change={"scale": lambda scores, query, key: scores / math.sqrt(query.shape[1])},
            does="The scale is right for two axes, and depends on the number of positions or heads "
                 "where there are more.",
            why="Axis 1, shape[1], is the last one only if there are two; shape[-1] always is.",
            ask="Which index names the last axis whatever the number of axes?"),
    Mistake("d_k fixed in the code",
            change=tuple({"scale": lambda scores, query, key, d=d: scores / math.sqrt(d)}
                         for d in (64, 128, 32, 16, 512, 768, 256)),
            does="The scores are divided by the same number whatever d_k is.",
            why="The scale belongs to the length of these queries and keys, not to a certain model.",
            ask="Which axis of the query tells d_k?"),
    Mistake("scale rounded to an integer",
            change=({"scale": lambda scores, query, key: scores / int(math.sqrt(query.shape[-1]))},
                    {"scale": lambda scores, query, key: scores / round(math.sqrt(query.shape[-1]))},
                    {"scale": lambda scores, query, key: scores / math.ceil(math.sqrt(query.shape[-1]))}),
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
            why="The softmax later runs along each row, and a row must hold one query's scores for "
                "all keys.",
            ask="What should one row of the scores belong to, a query or a key?"),
    Mistake("no transpose", change={"transpose": lambda key: key},
            does="Query and key are multiplied as they are; that works only for n_k = d_k, and then "
                 "sums over the wrong axis of the key.",
            why="A score sums over features, the last axis of both; a matrix product sums over the "
                "last axis of the left one and the last but one of the right one.",
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
            change={"transpose": lambda key: key, "product": lambda query, key: query * key},
            does="Query and key are multiplied entry by entry, and nothing is summed.",
            why="Each query meets each key, and the d_k products of a meeting are added.",
            ask="Which operator sums over the features, * or @?"),
    Mistake("cosine instead of dot product", change=({"product": _cosine}, {"product": _cosine, "scale": unscaled}),
            does="The lengths of queries and keys do not matter.",
            why="Attention's score is the dot product: a longer key is scored higher.",
            ask="What happens to a score when the key is twice as long?"),
    Mistake("summed over the batch",
            change=({"product": _over_the_batch(np.sum)}, {"product": _over_the_batch(np.mean)}),
            does="Leading axes disappear: the sequences of a batch are mixed.",
            why="Leading axes are kept: each sequence and each head has scores of its own.",
            ask="Which indices must stand in the answer beside i and j?"),
    Mistake("features multiplied instead of summed", alone=True,
            change={"product": _each_feature(np.multiply, np.prod)},
            does="The d_k products of a query and a key are multiplied with each other.",
            why="They are added: one feature of 0 must not make the whole score 0.",
            ask="What is to be done with the d_k products?"),
    Mistake("largest feature instead of the sum", alone=True, change={"product": _each_feature(np.multiply, np.max)},
            does="Of the d_k products of a query and a key only the largest counts.",
            why="All features count: their products are added.",
            ask="What is to be done with the d_k products?"),
    Mistake("half of the features", alone=True,
            change=tuple({"product": lambda query, key_t, part=part: query[..., part(query.shape[-1])] @ key_t[
                ..., part(query.shape[-1]), :]} for part in (
                lambda n: slice(n // 2), lambda n: slice((n + 1) // 2), lambda n: slice(n // 2, None),
                lambda n: slice(0, None, 2), lambda n: slice(1, None, 2))),
            does="Only half of the features count.",
            why="All d_k products are added, each once.",
            ask="Which features does your slice or your loop go through?"),
    Mistake("sum instead of product", alone=True,
            change=({"product": _each_feature(np.add, np.sum)}, {"product": _each_feature(np.subtract, np.sum)}),
            does="The entries of query and key are added or subtracted, not multiplied.",
            why="Only a product is large when both are large, and negative when their signs differ.",
            ask="What happens to each pair of entries before the sum?"),
    Mistake("smaller entry instead of product", alone=True, change={"product": _each_feature(np.minimum, np.sum)},
            does="Of each pair of entries the smaller one is added up.",
            why="A score multiplies the entries of query and key, feature by feature.",
            ask="Which operation joins the features of a query and a key?"),
    Mistake("np.dot on batches", change={"product": np.dot},
            does="With leading axes each sequence of the batch meets every other one, and the "
                 "answer has too many axes.",
            why="np.dot, np.inner and np.tensordot pair all leading axes of both arrays; @ and np.matmul go "
                "through them together.",
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
    f4, f2 = np.float32, np.float16
    return [
        Case(PLAIN, (np.array([[2.0, 0.0, 0.0, 4.0]]), np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 3.0, 1.0, 1.0]]))),
        Case(PLAIN, (normal(5, 3, seed=1), normal(7, 3, seed=2))),
        Case(PLAIN, (normal(7, 11, seed=3), normal(5, 11, seed=4))),
        Case("one query", (normal(1, 5, seed=5), normal(3, 5, seed=6))),
        Case(SQUARE, (np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [2.0, 5.0]]))),
        Case(SQUARE, (normal(3, 3, seed=7), normal(3, 3, seed=8))),
        Case(SQUARE, (normal(5, 3, seed=7), normal(5, 3, seed=8))),
        Case(SQUARE, (normal(5, 5, seed=7), normal(5, 5, seed=8))),
        Case(LEADING, (np.array([[[1.0, 2.0]], [[3.0, 1.0]]]), np.array([[[1.0, 1.0]], [[2.0, 0.0]]]))),
        Case(LEADING, (normal(2, 5, 3, seed=9), normal(2, 7, 3, seed=10))),
        Case(LEADING, (normal(2, 3, 5, 11, seed=9), normal(2, 3, 7, 11, seed=10))),
        Case(FLOAT32, (np.array([[1, 2]], f4), np.array([[3, 4]], f4))),
        Case(FLOAT32, (normal(5, 7, seed=11, dtype=f4), normal(3, 7, seed=12, dtype=f4))),
        Case(FLOAT32, (normal(3, 3, seed=11, dtype=f4), normal(3, 3, seed=12, dtype=f4))),
        Case(FLOAT16, (normal(3, 5, seed=13, dtype=f2), normal(2, 5, seed=14, dtype=f2))),
    ]
