"""The exercises of the part "Raw scores", and the steps and mistakes that later parts reuse."""

import math
from dataclasses import replace

import numpy as np

from .model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal

PART = "Raw scores"


def swap(array):
    return np.swapaxes(array, -1, -2)


# ---------------------------------------------------------------- dot_score

def dot_score_answer(do, query, key):
    return do.scale(do.total(do.product(query, key)), query, key)


def _dot_cases():
    return [
        Case(PLAIN, (np.array([1.0, 2.0, 0.0, -3.0]), np.array([2.0, 1.0, 5.0, 4.0]))),
        Case("one feature", (np.array([2.0]), np.array([3.0]))),
        Case(PLAIN, (normal(7, seed=1), normal(7, seed=2))),
        Case(PLAIN, (normal(5, seed=3), -normal(5, seed=3))),
        Case("large entries", (normal(13, seed=8, scale=60), normal(13, seed=9, scale=60))),
        Case(FLOAT32, (normal(7, seed=4, dtype=np.float32), normal(7, seed=5, dtype=np.float32))),
        Case(FLOAT16, (normal(3, seed=4, dtype=np.float16), normal(3, seed=7, dtype=np.float16))),
    ]


dot_score = Exercise(
    name="dot_score", signature="(query, key)", part=PART,
    text="The dot product of one query and one key, both of shape (d_k,): one number, not scaled.",
    answer=dot_score_answer,
    steps={
        "product": lambda query, key: query * key,
        "total": lambda product: product.sum(),
        "scale": lambda score, query, key: score,
    },
    cases=_dot_cases, dtype="number",
    hints=(
        "Multiply the two vectors entry by entry: the first of one with the first of the other.",
        "The score is one number. What turns d_k products into one?",
        "query * key has shape (d_k,); its sum has no axis left. The operator @ does both.",
    ),
    mistakes=(
        Mistake("not summed", change={"total": lambda product: product},
                does="The answer has d_k entries: the products, one for each feature.",
                why="A score says with one number how well a query and a key agree.",
                ask="What is to be done with the d_k products?"),
        Mistake("scaled already", change={"scale": lambda s, q, k: s / math.sqrt(len(q))},
                does="The answer is the dot product divided by sqrt(d_k).",
                why="Here the bare dot product is asked for; the scale comes later, and only once.",
                ask="Which of your operations is not part of a dot product?"),
        Mistake("cosine instead of dot product",
                change={"scale": lambda s, q, k: s / (np.linalg.norm(q) * np.linalg.norm(k))},
                does="The answer lies between -1 and 1, however long the vectors are.",
                why="Attention's score depends on the lengths of both vectors, not on their angle alone.",
                ask="What happens to q · k when q is twice as long?"),
        Mistake("mean instead of sum", change={"total": lambda product: product.mean()},
                does="The answer is d_k times too small.",
                why="A dot product adds its terms; it does not average them.",
                ask="What divides by d_k in your function?"),
        Mistake("product of the sums",
                change={"product": lambda q, k: q.sum() * k.sum(), "total": lambda product: product},
                does="The answer is the sum of the query's entries times the sum of the key's.",
                why="That multiplies every feature with every other one; a dot product multiplies "
                    "feature i with feature i only.",
                ask="For two features, which of the four products belong to the dot product?"),
        Mistake("outer product", change={"product": np.outer, "total": lambda product: product},
                does="The answer is a d_k by d_k table of all products.",
                why="A dot product uses only the products of equal features, and adds them.",
                ask="Which entries of the table belong to a dot product?"),
        Mistake("sum instead of product", alone=True, change={"product": lambda q, k: q + k},
                does="The entries of query and key are added, not multiplied.",
                why="Only a product is large when both are large, and negative when their signs differ.",
                ask="What happens to each pair of entries before the sum?"),
        Mistake("absolute value",
                change=({"scale": lambda s, q, k: abs(s)}, {"product": lambda q, k: abs(q * k)}),
                does="The answer is never negative.",
                why="A negative score says that query and key point away from each other.",
                ask="What should the score of a vector and its opposite be?"),
        Mistake("distance instead of dot product",
                change=({"product": lambda q, k: (q - k) ** 2,
                         "scale": lambda s, q, k: np.sqrt(s)},
                        {"product": lambda q, k: (q - k) ** 2},
                        {"product": lambda q, k: -((q - k) ** 2)}),
                does="The answer tells how far query and key are apart.",
                why="A dot product also grows with the lengths of both, and has a sign.",
                ask="Which operation joins the i-th entries of two vectors in a dot product?"),
        Mistake("one product alone",
                change=({"total": lambda product: product[0]}, {"total": lambda product: product[-1]}),
                does="Only the first or the last feature counts.",
                why="All d_k products are added. A return inside the loop ends it after the first one; "
                    "= instead of += keeps the last one only.",
                ask="How often does your loop run, and what does it keep?"),
        Mistake("cut to an integer",
                change=({"scale": lambda s, q, k: np.trunc(s)}, {"scale": lambda s, q, k: np.rint(s)}),
                does="The answer has no fraction.",
                why="Entries are real numbers, and so is their score.",
                ask="Which of your operations throws the fraction away?"),
        Mistake("one product left out",
                change=({"total": lambda product: product[1:].sum()}, {"total": lambda product: product[:-1].sum()},
                        {"total": lambda product: product[1:-1].sum()}),
                does="The first or the last feature does not count.",
                why="All d_k products are added; positions run from 0 to d_k - 1, and range(n) ends at n - 1.",
                ask="What is the score of two vectors of length 1?"),
        Mistake("every second product left out",
                change=({"total": lambda product: product[::2].sum()}, {"total": lambda product: product[1::2].sum()}),
                does="Only every second feature counts.",
                why="All d_k products are added; a step of 2 in a slice or a range skips half of them.",
                ask="Which features does your slice or your loop go through?"),
        Mistake("half of the features", alone=True,
                change=({"total": lambda product: product[:len(product) // 2].sum()},
                        {"total": lambda product: product[len(product) // 2:].sum()}),
                does="Only the first or the second half of the features counts.",
                why="All d_k products are added, each once.",
                ask="Which features does your slice or your loop go through?"),
        Mistake("product of all instead of the sum",
                change=({"total": np.prod}, {"total": lambda product: abs(np.prod(product))}),
                does="The d_k products are multiplied with each other.",
                why="They are added: one feature of 0 must not make the whole score 0.",
                ask="What should the score be if one feature of the query is 0?"),
        Mistake("only positive products",
                change=({"total": lambda product: product[product > 0].sum()},
                        {"total": lambda product: max(product.sum(), 0.0)}),
                does="Negative products, or a negative sum, count as 0.",
                why="A feature in which query and key point in opposite directions lowers the score.",
                ask="What should the score of a vector and its opposite be?"),
        Mistake("squared products",
                change=({"total": lambda product: (product ** 2).sum()}, {"scale": lambda s, q, k: s ** 2},
                        {"total": lambda product: np.sqrt((product ** 2).sum())}),
                does="The products, or their sum, are squared.",
                why="A square has no sign, and grows with the fourth power of the entries.",
                ask="What should the score of a vector and its opposite be?"),
        Mistake("running sum instead of the sum", change={"total": np.cumsum},
                does="The answer has d_k entries: the sum after each feature.",
                why="The score is the last of them, one number.",
                ask="Which entry of a running sum holds the whole sum?"),
        Mistake("one entry alone multiplied", alone=True,
                change=({"product": lambda q, k: q * k[0]}, {"product": lambda q, k: q[0] * k},
                        {"product": lambda q, k: q * k[-1]}, {"product": lambda q, k: q[-1] * k}),
                does="All entries of one vector are multiplied with the same entry of the other.",
                why="Entry i of the query meets entry i of the key.",
                ask="Which index do you use for the query, and which for the key?"),
        Mistake("features shifted", alone=True,
                change=({"product": lambda q, k: q * np.roll(k, 1)}, {"product": lambda q, k: q * np.roll(k, -1)},
                        {"product": lambda q, k: q[:-1] * k[1:]}, {"product": lambda q, k: q[1:] * k[:-1]}),
                does="Feature i of the query meets the feature beside it of the key.",
                why="Feature i of the query belongs to feature i of the key.",
                ask="Which entry of the key belongs to the query's first one?"),
        Mistake("softmax of a vector", alone=True,
                change=({"product": lambda q, k: _softmax(q) * _softmax(k)}, {"product": lambda q, k: _softmax(q) * k},
                        {"product": lambda q, k: q * _softmax(k)}, {"total": lambda product: _softmax(product).sum()}),
                does="A softmax is taken before the sum.",
                why="The softmax comes after the scores, over all keys of a query.",
                ask="Which operation is no part of a dot product?"),
        Mistake("square of the sum", alone=True,
                change=({"product": lambda q, k: (q + k) ** 2}, {"product": lambda q, k: (q + k) ** 2 / 2},
                        {"product": lambda q, k: ((q + k) ** 2 - (q - k) ** 2) / 2},
                        {"product": lambda q, k: (q + k) ** 2 - (q - k) ** 2}),
                does="The entries of query and key are added, and their sums squared.",
                why="The square of a sum holds the product, twice, and two squares besides.",
                ask="What is (a + b)² without brackets?"),
        Mistake("means subtracted", alone=True, change=({"product": lambda q, k: (q - q.mean()) * (k - k.mean())},
                        {"product": lambda q, k: (q - q.mean()) * (k - k.mean()), "total": np.mean},
                        {"product": lambda q, k: (q - q.mean()) * (k - k.mean()),
                         "total": lambda product: product.sum() / max(product.size - 1, 1)},
                        {"product": lambda q, k: (q - q.mean()) * (k - k.mean()) / (q.std() * k.std()), "total": np.mean}),
                does="The answer is a covariance or a correlation: the means of query and key are subtracted.",
                why="A dot product takes the entries as they are.",
                ask="What should the score of two constant vectors be?"),
        Mistake("divided by d_k - 1", alone=True,
                change={"total": lambda product: product.sum() / max(product.size - 1, 1)},
                does="The sum is divided by d_k - 1.",
                why="A dot product adds its terms, and divides by nothing.",
                ask="What divides in your function?"),
        Mistake("divided by the squared lengths", alone=True,
                change=({"scale": lambda s, q, k: s / (q @ q * (k @ k))}, {"scale": lambda s, q, k: s / (q @ q)},
                        {"scale": lambda s, q, k: s / (k @ k)}),
                does="The answer is divided by the squared length of a vector, or of both.",
                why="A dot product depends on the lengths of both.",
                ask="What happens to q · k when q is twice as long?"),
        Mistake("product of two single numbers", alone=True,
                change=({"product": lambda q, k: q.max() * k.max(), "total": lambda product: product},
                        {"product": lambda q, k: q.mean() * k.mean(), "total": lambda product: product},
                        {"product": lambda q, k: np.linalg.norm(q) * np.linalg.norm(k), "total": lambda product: product}),
                does="Each vector is made one number first, its largest entry, its mean, or its length; these are multiplied.",
                why="Feature i of one meets feature i of the other; only then the products become one number.",
                ask="What comes first in a dot product, the products or the sum?"),
        Mistake("only the last features", alone=True,
                change=({"total": lambda product: product[-2:].sum()}, {"total": lambda product: product[:2].sum()}),
                does="Only the first two or the last two features count.",
                why="All d_k products are added.",
                ask="Which features does your slice or your loop go through?"),
        Mistake("entries sorted", alone=True, change=({"product": lambda q, k: np.sort(q) * np.sort(k)},),
                does="Both vectors are sorted before they are multiplied.",
                why="Feature i of the query belongs to feature i of the key, whatever their sizes are.",
                ask="Which entry of the key belongs to the query's first one?"),
        Mistake("entries cut to integers", alone=True,
                change=({"product": lambda q, k: np.trunc(q) * np.trunc(k)}, {"product": lambda q, k: np.rint(q) * np.rint(k)}),
                does="The entries lose their fractions before they are multiplied.",
                why="Entries are real numbers.",
                ask="Which of your operations throws the fraction away?"),
        Mistake("sign flipped", change={"scale": lambda s, q, k: -s},
                does="The answer has the wrong sign.",
                why="A query and a key that agree have a positive score.",
                ask="What should the score of a vector with itself be?"),
        Mistake("sum starts at 1", change={"total": lambda product: 1 + product.sum()},
                does="The answer is too large by 1.",
                why="Before the first product nothing has been added: a sum starts at 0, only a product starts at 1.",
                ask="What should the score of two vectors of zeros be?"),
        Mistake("q · q instead of q · k", change={"product": lambda q, k: q * q},
                does="The answer does not depend on the key.",
                why="The score compares a query with a key: entry i of one times entry i of the other.",
                ask="Where does the key come into your products?"),
        Mistake("k · k instead of q · k", change={"product": lambda q, k: k * k},
                does="The answer does not depend on the query.",
                why="The score compares a query with a key: entry i of one times entry i of the other.",
                ask="Where does the query come into your products?"),
        Mistake("only one vector normalised",
                change=({"scale": lambda s, q, k: s / np.linalg.norm(q)},
                        {"scale": lambda s, q, k: s / np.linalg.norm(k)}),
                does="The answer is divided by the length of one of the two vectors.",
                why="A dot product depends on the lengths of both.",
                ask="What happens to q · k when q is twice as long?"),
        Mistake("one vector reversed", change={"product": lambda q, k: q * k[::-1]},
                does="The first feature of one vector meets the last one of the other.",
                why="Feature i of the query belongs to feature i of the key. A convolution turns one of them round.",
                ask="Which entry of the key belongs to the query's first one?"),
        Mistake("maximum instead of sum", change={"total": lambda product: product.max()},
                does="The answer is the largest of the products alone.",
                why="All features count, not the best one.",
                ask="What is to be done with the d_k products?"),
    ),
)

# ---------------------------------------------------------------- raw_scores

def raw_scores_answer(do, query, key):
    left, right = do.roles(query, key)
    product = do.product(left, do.transpose(right))
    return do.finish_scores(do.scale(product, query, key))


SCORE_STEPS = {
    "roles": lambda query, key: (query, key),
    "transpose": swap,
    "product": lambda query, key_t: query @ key_t,
    "scale": lambda scores, query, key: scores / math.sqrt(query.shape[-1]),
    "finish_scores": lambda scores: scores,
}


def _cosine(query, key_t):
    lengths = np.linalg.norm(query, axis=-1, keepdims=True) * np.linalg.norm(key_t, axis=-2, keepdims=True)
    return query @ key_t / lengths


def _squared(query, key_t):
    return ((query[..., :, None] - key_t[..., None, :, :]) ** 2).sum(axis=-2)


def _negative_squared(query, key_t):
    return -_squared(query, key_t)


def _distance(query, key_t):
    return np.sqrt(_squared(query, key_t))


def _negative_distance(query, key_t):
    return -_distance(query, key_t)


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


def _unscaled(scores, query, key):
    return scores


SCALE_MISTAKES = (
    Mistake("no scale", change={"scale": _unscaled},
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
    Mistake(".T on a batched array", change={"transpose": lambda key: key.T}, written=".T",
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
    Mistake("cosine instead of dot product", change=({"product": _cosine}, {"product": _cosine, "scale": _unscaled}),
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


def _softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _causal(scores):
    return np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)


CAUSAL_APPLIED = Mistake(
    "causal mask applied", change={"finish_scores": _causal},
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


def _raw_scores_cases():
    large = Case("large entries", (normal(3, 5, seed=15, scale=80), normal(7, 5, seed=16, scale=80)))
    return [*score_cases(), large]


raw_scores = Exercise(
    name="raw_scores", signature="(query, key)", part=PART,
    text="The scaled scores Q Kᵀ / sqrt(d_k) of shape (..., n_q, n_k), for queries of shape "
         "(..., n_q, d_k) and keys of shape (..., n_k, d_k).",
    answer=raw_scores_answer, steps=SCORE_STEPS, cases=_raw_scores_cases, fitted=(divided_by, under_the_root, power_of_d_k),
    hints=(
        "Entry (i, j) is the dot product of query i and key j. Which axis do the two share?",
        "A matrix product sums over the last axis of the left array and the last but one of the "
        "right array. So the last two axes of key have to change places, and only these two.",
        "np.swapaxes(key, -1, -2) swaps the last two axes, whatever stands before them.",
        "query @ np.swapaxes(key, -1, -2) gives the dot products. Now divide by the square root of "
        "the last axis's length: math.sqrt(...) is a Python number and keeps the input's dtype.",
    ),
    mistakes=SCALE_MISTAKES + PRODUCT_MISTAKES + (
        Mistake("Q Qᵀ instead of Q Kᵀ", change={"roles": lambda query, key: (query, query)},
                does="Queries meet queries: the keys do not matter.",
                why="Entry (i, j) is the score of query i and key j.",
                ask="Where do the keys come in?"),
        Mistake("K Kᵀ instead of Q Kᵀ", change={"roles": lambda query, key: (key, key)},
                does="Keys meet keys: the queries do not matter.",
                why="Entry (i, j) is the score of query i and key j.",
                ask="Where do the queries come in?"),
        Mistake("distance instead of dot product",
                change=tuple(change for distance in (_distance, _negative_distance, _squared, _negative_squared)
                             for change in ({"product": distance, "scale": _unscaled}, {"product": distance})),
                does="The scores tell how far queries and keys are apart.",
                why="Attention's score is the dot product: it grows with the lengths of both, and has a sign.",
                ask="Which operation joins the features of a query and a key in a dot product?"),
        Mistake("one feature left out",
                change=({"product": lambda query, key_t: query[..., 1:] @ key_t[..., 1:, :]},
                        {"product": lambda query, key_t: query[..., :-1] @ key_t[..., :-1, :]}),
                does="The first or the last feature does not count.",
                why="All d_k products are added; positions run from 0 to d_k - 1, and range(n) ends at n - 1.",
                ask="Which features do your loops or slices go through?"),
        Mistake("mean instead of sum",
                change={"scale": lambda scores, query, key: scores / query.shape[-1] ** 1.5},
                does="The products are averaged over the features, and scaled besides.",
                why="A dot product adds its terms; only the root of d_k divides.",
                ask="What divides by d_k in your function?"),
        Mistake("floor division", change={"scale": lambda scores, query, key: scores // math.sqrt(query.shape[-1])},
                does="The scores are rounded down to whole numbers.",
                why="// throws the fraction away, and with it the differences between scores.",
                ask="Which operator divides without rounding?"),
        Mistake("maximum already subtracted",
                change={"finish_scores": lambda scores: scores - scores.max(axis=-1, keepdims=True)},
                does="The largest score of each row is 0.",
                why="Subtracting the maximum belongs to the softmax, which keeps exp from overflowing.",
                ask="Which step of attention comes after the scores?"),
        Mistake("softmax already applied", change={"finish_scores": _softmax},
                does="Each row sums to 1: the answer holds weights, not scores.",
                why="Raw scores come before the softmax, and before the mask.",
                ask="Which step of attention comes after the scores?"),
        Mistake("exponential already taken", change={"finish_scores": np.exp},
                does="The answer holds exp(score).",
                why="The exponential belongs to the softmax, and so does what keeps it from overflowing.",
                ask="Which step of attention comes after the scores?"),
        CAUSAL_APPLIED,
        Mistake("scores negated", change={"finish_scores": lambda scores: -scores},
                does="Every score has the wrong sign.",
                why="A query and a key that agree must have a high score.",
                ask="What should the score of a vector with itself be?"),
        Mistake("square root taken twice", alone=True,
                change={"scale": lambda scores, query, key: scores / query.shape[-1] ** 0.25},
                does="The scores are divided by the fourth root of d_k.",
                why="Only one root is taken: the standard deviation of a sum of d_k products grows like sqrt(d_k).",
                ask="How often do you take a root, and of what?"),
        Mistake("logarithm instead of the root", alone=True,
                change=({"scale": lambda scores, query, key: scores / math.log(query.shape[-1] + 1)},
                        {"scale": lambda scores, query, key: scores / np.float64(np.log(query.shape[-1]))}),
                does="The scores are divided by a logarithm of d_k.",
                why="The standard deviation of a sum of d_k products grows like sqrt(d_k).",
                ask="How does the standard deviation of q · k grow with d_k?"),
        Mistake("absolute value", change={"finish_scores": np.abs},
                does="No score is negative.",
                why="A negative score says that query and key point away from each other.",
                ask="What should the score of a vector and its opposite be?"),
    ),
)

# ---------------------------------------------------------------- score_variance

def score_variance_answer(do, d_k, std_query, std_key):
    one = do.join(do.of_query(std_query), do.of_key(std_key))
    return do.finish(do.terms(d_k) * one, d_k)


def _variance_cases():
    return [Case(PLAIN, args) for args in
            ((4, 3.0, 5.0), (1, 2.0, 3.0), (7, 0.5, 3.0), (64, 1.5, 0.25), (11, 2.0, 7.0), (300, 0.13, 0.27))] + [
        Case("standard deviations of 1", (16, 1.0, 1.0)),
        Case("a standard deviation of 0", (5, 0.0, 2.0))]


score_variance = Exercise(
    name="score_variance", signature="(d_k, std_query, std_key)", part=PART,
    text="The variance of the unscaled score of two vectors of length d_k with independent entries "
         "of mean 0 and these standard deviations.",
    answer=score_variance_answer,
    steps={
        "terms": lambda d_k: d_k,
        "of_query": lambda std: std ** 2,
        "of_key": lambda std: std ** 2,
        "join": lambda a, b: a * b,
        "finish": lambda variance, d_k: variance,
    },
    cases=_variance_cases, dtype="number",
    formula=("Independent variances multiply in a product and add in a sum of terms.",
             "How many terms does a score have, and what is the variance of one?"),
    hints=(
        "Begin with one term, q_1 k_1. What is the mean of a product of two independent numbers of mean 0?",
        "With mean 0 the variance of a product of independent numbers is the product of their variances.",
        "The variance is the square of the standard deviation, and variances of independent terms add.",
        "There are d_k independent terms, each with variance std_query squared times std_key squared.",
    ),
    mistakes=(
        Mistake("standard deviation instead of variance", change={"finish": lambda v, d_k: math.sqrt(v)},
                does="The answer is the square root of the variance.",
                why="The variance is asked for; the standard deviation is what the scale divides by.",
                ask="Which of the two adds when independent terms are added?"),
        Mistake("standard deviations not squared",
                change={"of_query": lambda std: std, "of_key": lambda std: std},
                does="The answer is d_k times the product of the standard deviations.",
                why="Variances multiply here, and a variance is a standard deviation squared.",
                ask="What is the variance of a number whose standard deviation is 3?"),
        Mistake("query's standard deviation not squared", change={"of_query": lambda std: std},
                does="The query's standard deviation enters once, the key's squared.",
                why="A variance is a standard deviation squared, for both.",
                ask="What is the variance of one entry of the query?"),
        Mistake("key's standard deviation not squared", change={"of_key": lambda std: std},
                does="The key's standard deviation enters once, the query's squared.",
                why="A variance is a standard deviation squared, for both.",
                ask="What is the variance of one entry of the key?"),
        Mistake("no factor d_k", change={"terms": lambda d_k: 1},
                does="The answer does not grow with d_k. It is the variance of one product, or of "
                     "the scaled score.",
                why="The unscaled score is a sum of d_k independent products, and their variances add.",
                ask="How many products does a score add up?"),
        Mistake("standard deviations taken as 1", change={"of_query": lambda std: 1, "of_key": lambda std: 1},
                does="The answer is d_k whatever the standard deviations are.",
                why="d_k is the variance for entries of standard deviation 1; here they are given.",
                ask="What becomes of the score if all queries are twice as long?"),
        Mistake("standard deviations to the fourth power",
                change=({"of_query": lambda std: std ** 4, "of_key": lambda std: std ** 4},
                        {"finish": lambda v, d_k: v ** 2}),
                does="The standard deviations enter to the fourth power: something is squared twice.",
                why="A variance is a standard deviation squared, once.",
                ask="What is the variance of a number whose standard deviation is 3?"),
        Mistake("standard deviations added",
                change=({"of_query": lambda std: std, "of_key": lambda std: std, "join": lambda a, b: (a + b) ** 2},),
                does="The two standard deviations are added, where they should be multiplied.",
                why="The terms of a score are products of two entries, and independent variances multiply there.",
                ask="Is q_1 k_1 a sum or a product of the two entries?"),
        Mistake("d_k - 1 instead of d_k", change={"terms": lambda d_k: d_k - 1},
                does="One term of the sum is missing.",
                why="d_k - 1 belongs to the estimate of a variance from samples; here d_k variances are added.",
                ask="What should the answer be for d_k = 1?"),
        Mistake("a factor of 2", change=tuple({"finish": lambda v, d_k, f=f: f * v} for f in (2, 0.5, 4, 0.25)),
                does="The answer is 2 or 4 times too large or too small.",
                why="Each of the d_k products counts once, with the product of the two variances.",
                ask="Where does the 2 come from?"),
        Mistake("cut to an integer",
                change=({"finish": lambda v, d_k: np.trunc(v)}, {"finish": lambda v, d_k: np.rint(v)}),
                does="The answer has no fraction.",
                why="A variance is a real number.",
                ask="Which of your operations throws the fraction away?"),
        Mistake("d_k squared", change={"terms": lambda d_k: d_k ** 2},
                does="The answer grows like d_k squared.",
                why="That is the variance of d_k equal terms. These are independent: variances add, "
                    "and standard deviations do not.",
                ask="What is the variance of the sum of two independent numbers?"),
        Mistake("sqrt(d_k) instead of d_k", change={"terms": math.sqrt},
                does="The answer grows like the square root of d_k.",
                why="The standard deviation grows like sqrt(d_k), the variance like d_k.",
                ask="Which of the two adds when independent terms are added?"),
        Mistake("divided by d_k", change={"finish": lambda v, d_k: v / d_k ** 2},
                does="The answer shrinks as d_k grows.",
                why="A score is a sum of d_k terms, not a mean.",
                ask="Does a longer sum of independent terms vary more or less?"),
        Mistake("one of the two alone counted", alone=True, change=({"join": max}, {"join": min}),
                does="Only the larger, or the smaller, of the two variances counts.",
                why="The terms of a score are products of two entries, and independent variances multiply there.",
                ask="What becomes of the score if all keys are twice as long?"),
        Mistake("variances averaged",
                change={"join": lambda a, b: (a + b) / 2},
                does="The two variances are averaged, where they should be multiplied.",
                why="The terms of a score are products of two entries, and independent variances multiply there.",
                ask="Is q_1 k_1 a mean or a product of the two entries?"),
        Mistake("variances added", change={"join": lambda a, b: a + b},
                does="The two variances are added, where they should be multiplied.",
                why="Variances add for a sum; the terms of a score are products.",
                ask="Is q_1 k_1 a sum or a product of the two entries?"),
        Mistake("key's variance left out", change={"join": lambda a, b: a},
                does="The answer does not depend on the key.",
                why="The variance of a product of independent numbers of mean 0 has both factors.",
                ask="What becomes of the score if all keys are twice as long?"),
        Mistake("query's variance left out", change={"join": lambda a, b: b},
                does="The answer does not depend on the query.",
                why="The variance of a product of independent numbers of mean 0 has both factors.",
                ask="What becomes of the score if all queries are twice as long?"),
    ),
)

# ---------------------------------------------------------------- masks

def aligned_mask_answer(do, n_q, n_k):
    rows, columns = do.sizes(n_q, n_k)
    query, key = np.arange(rows)[:, None], np.arange(columns)[None, :]
    mask = do.compare(key, query + do.offset(n_q, n_k))
    return do.form(do.sense(mask))


def named(name, *lists):
    """The mistake of this name from lists of mistakes."""
    return next(mistake for mistakes in lists for mistake in mistakes if mistake.name == name)


TRIANGLE_STEPS = {
    "sizes": lambda n_q, n_k: (n_q, n_k),
    "compare": lambda key, query: key <= query,
    "sense": lambda mask: mask,
    "form": lambda mask: mask,
}


def _additive(fill):
    return lambda mask: np.where(mask, 0.0, fill)


INVERTED = Mistake(
    "mask inverted", change={"sense": lambda mask: ~mask},
    does="True stands where a query may not attend.",
    why="Here True means: may attend, as in torch's scaled_dot_product_attention. Other libraries "
        "mean the opposite; mixing the two is the most frequent mask error.",
    ask="What does True mean for the softmax that follows?")

ADDITIVE = Mistake(
    "additive mask instead of boolean", change=tuple({"form": _additive(fill)} for fill in (-np.inf, -1e9, -1e4)),
    does="The mask holds 0 and a very negative number, to be added to the scores.",
    why="A boolean mask is asked for: it says who may attend, and leaves the arithmetic to mask_scores.",
    ask="Which expression gives True and False directly?")

NOTHING_ALLOWED = Mistake(
    "nothing allowed", change={"compare": lambda key, query: (key + query) * 0 > 0, "sense": lambda mask: mask,
                               "form": lambda mask: mask},
    does="No query may see any key: the mask is False throughout.",
    why="True means: may attend. An array of zeros has to be filled where attending is allowed.",
    ask="Which entries of the mask does your function set to True?")

TRIANGLE_MISTAKES = (
    INVERTED,
    Mistake("diagonal excluded", change={"compare": lambda key, query: key < query},
            does="A query may not see the key at its own position.",
            why="A position attends to itself too; and the first query would see nothing at all.",
            ask="What may the first query attend to?"),
    Mistake("one key too many", change={"compare": lambda key, query: key <= query + 1},
            does="Each query sees one key of its future.",
            why="With the next key in sight a model copies the answer it should predict.",
            ask="What is the last key that query 0 may see?"),
    Mistake("the future instead of the past", change={"compare": lambda key, query: key >= query},
            does="Each query sees itself and what comes after it.",
            why="Causal means that nothing later than the query is seen: the lower triangle.",
            ask="Is key j <= query i above or below the diagonal?"),
    Mistake("n_q and n_k swapped", change={"sizes": lambda n_q, n_k: (n_k, n_q)},
            does="The answer has n_k rows and n_q columns.",
            why="Rows belong to queries, columns to keys, as in the scores.",
            ask="Which shape must the mask share with the scores?"),
    Mistake("square mask", change=({"sizes": lambda n_q, n_k: (n_q, n_q)}, {"sizes": lambda n_q, n_k: (n_k, n_k)}),
            does="The mask is square.",
            why="There may be more keys than queries, or fewer.",
            ask="Which shape must the mask share with the scores?"),
    Mistake("everything allowed",
            change={"compare": lambda key, query: (key + query) * 0 == 0, "sense": lambda mask: mask,
                    "form": lambda mask: mask},
            does="Every query may see every key.",
            why="A causal mask hides the future.",
            ask="Which keys must query 0 not see?"),
    ADDITIVE,
    NOTHING_ALLOWED,
    Mistake("only the diagonal", change={"compare": lambda key, query: key == query},
            does="Each query sees one key alone.",
            why="A query may attend to everything up to its own position.",
            ask="Which comparison holds for all keys up to the query?"),
    Mistake("sliding window instead of the whole past",
            change=tuple({"compare": lambda key, query, w=w: (key <= query) & (key > query - w)} for w in (2, 3, 4, 5)),
            does="Each query sees itself and a few keys before it.",
            why="A causal mask hides the future alone: the whole past stays in sight.",
            ask="What is the first key that the last query may see?"),
    Mistake("blocks of positions", alone=True,
            change=tuple({"compare": lambda key, query, w=w: key // w <= query // w} for w in (2, 3, 4)),
            does="Positions are taken together in blocks: a query sees its whole block, and so a part of its future.",
            why="The mask holds for single positions: key j <= query i.",
            ask="What is the last key that query 0 may see?"),
    Mistake("only the key before", alone=True, change={"compare": lambda key, query: key == query - 1},
            does="Each query sees the key before its own position, and no other.",
            why="A query may attend to everything up to its own position.",
            ask="Which comparison holds for all keys up to the query?"),
    Mistake("positions compared as shares", alone=True,
            change={"compare": lambda key, query: key * query.shape[0] <= (query - query[0]) * key.shape[1]},
            does="Positions are divided by n_q and n_k before they are compared.",
            why="Query and key stand at whole positions; how many there are only decides where query 0 stands.",
            ask="At which position does query 1 stand, and how does that depend on n_k?"),
    Mistake("one column too many", alone=True,
            change=({"sizes": lambda n_q, n_k: (n_q, n_k + 1)}, {"sizes": lambda n_q, n_k: (n_q + 1, n_k)},
                                           {"sizes": lambda n_q, n_k: (n_q + 1, n_k + 1)},
                                           {"sizes": lambda n_q, n_k: (n_q, max(n_k - 1, 0))},
                                           {"sizes": lambda n_q, n_k: (max(n_q - 1, 0), n_k)}),
            does="The mask has a row or a column too many, or too few.",
            why="It has the shape of the scores, (n_q, n_k).",
            ask="How many rows and columns has your mask?"),
    Mistake("window around the diagonal", alone=True,
            change=tuple({"compare": lambda key, query, w=w: abs(key - query) <= w} for w in (1, 2, 3)),
            does="Each query sees a few keys before it and as many after it.",
            why="A causal mask hides the future alone: the whole past stays in sight, and nothing later.",
            ask="What is the last key that query 0 may see?"),
    Mistake("itself not seen", alone=True, change=({"compare": lambda key, query: key != query},),
            does="Each query sees every key but the one at its own position.",
            why="Causal means key j <= query i: a query sees itself and what came before.",
            ask="Which comparison holds for all keys up to the query?"),
    Mistake("edge off by two", alone=True, change=({"compare": lambda key, query: key <= query + 2},
                                       {"compare": lambda key, query: key < query - 1}),
            does="The edge of the mask is off by two keys: two too many, or two too few.",
            why="The last key that a query may see is the one at its own position.",
            ask="What is the last key that query 0 may see?"),
    Mistake("transposed", change={"form": lambda mask: mask.T, "sense": lambda mask: mask},
            does="Rows and columns of the mask have changed places.",
            why="Rows belong to queries, columns to keys, as in the scores.",
            ask="What does row 0 of the mask say, and about which query?"),
    Mistake("turned upside down",
            change=({"form": lambda mask: mask[::-1]}, {"form": lambda mask: mask[:, ::-1]}),
            does="The rows or columns of the mask are in reverse order.",
            why="Row 0 belongs to the first query, column 0 to the first key.",
            ask="What may the first query see, and in which row does it stand?"),
)

FEWER_KEYS = "more queries than keys"

ONLY_MORE_KEYS = Mistake(
    "only for n_q <= n_k",
    does="The mask is right unless there are more queries than keys.",
    why="The contract allows any two numbers; the shape is (n_q, n_k) in every case.",
    ask="What should the mask look like for n_q = 3, n_k = 2?")


def _triangle_cases():
    return [Case(PLAIN, (2, 3)), Case(PLAIN, (5, 7)), Case(PLAIN, (3, 11)), Case("one query", (1, 3)),
            Case(SQUARE, (3, 3)), Case(SQUARE, (1, 1)), Case(FEWER_KEYS, (3, 2)), Case(FEWER_KEYS, (11, 5))]


causal_mask = Exercise(
    name="causal_mask", signature="(n_q, n_k)", part=PART,
    text="A boolean mask of shape (n_q, n_k), True where key j <= query i, aligned at the top left.",
    answer=aligned_mask_answer, steps={**TRIANGLE_STEPS, "offset": lambda n_q, n_k: 0},
    cases=_triangle_cases, dtype="bool", aspects={FEWER_KEYS: ONLY_MORE_KEYS},
    hints=(
        "Row i belongs to query i, column j to key j. Write down the mask for n_q = 2, n_k = 3 by hand.",
        "np.arange counts positions. With one of them as a column, a comparison makes a table.",
        "np.arange(n_q)[:, None] is a column of query positions; compare it with np.arange(n_k).",
    ),
    mistakes=TRIANGLE_MISTAKES + (
        Mistake("aligned at the bottom right", change={"offset": lambda n_q, n_k: n_k - n_q},
                does="The last query sees every key.",
                why="That is the mask for decoding with a cache. Here query 0 and key 0 stand at the "
                    "same position: aligned at the top left.",
                ask="At which position does query 0 stand?"),
    ),
)

def _up_to(key, query):
    """Row by row what row[:query + 1] holds, also for a negative end."""
    n_k = key.shape[-1]
    return key < np.where(query + 1 < 0, n_k + query + 1, query + 1)


def _swapped_before_the_offset(mistake):
    """The sizes may be swapped for the offset too."""
    if mistake.name != "n_q and n_k swapped":
        return mistake
    return replace(mistake, change=(mistake.change, {**mistake.change, "offset": lambda n_q, n_k: n_q - n_k}))


decode_mask = Exercise(
    name="decode_mask", signature="(n_q, n_k)", part=PART,
    text="A boolean causal mask of shape (n_q, n_k), aligned at the bottom right: the last query "
         "sees every key. With n_q > n_k the first queries see none.",
    answer=aligned_mask_answer, steps={**TRIANGLE_STEPS, "offset": lambda n_q, n_k: n_k - n_q},
    cases=_triangle_cases, dtype="bool", aspects={FEWER_KEYS: ONLY_MORE_KEYS},
    hints=(
        "The last query stands at the last key's position. Where does query 0 stand then?",
        "Query i stands at position i + n_k - n_q; that is negative for some if n_q > n_k.",
        "Compare np.arange(n_k) with the column np.arange(n_q)[:, None] moved by n_k - n_q.",
    ),
    mistakes=tuple(map(_swapped_before_the_offset, TRIANGLE_MISTAKES)) + (
        Mistake("aligned at the top left", change={"offset": lambda n_q, n_k: 0},
                does="Query 0 sees key 0 only, and the last query does not see the last keys.",
                why="With a cache the new queries stand at the end: the last one sees every key.",
                ask="At which position does the last query stand?"),
        Mistake("only the last query moved",
                change={"offset": lambda n_q, n_k: 0, "form": lambda mask: np.vstack([mask[:-1], 0 * mask[-1:] + 1 > 0])},
                does="The last query sees every key; the others are aligned at the top left.",
                why="All queries stand at the end of the keys: each is moved by n_k - n_q.",
                ask="At which position does the last query but one stand?"),
        Mistake("another offset", alone=True,
                change=({"offset": lambda n_q, n_k: n_k // n_q}, {"offset": lambda n_q, n_k: (n_k - n_q) // 2},
                        {"offset": lambda n_q, n_k: n_q}, {"offset": lambda n_q, n_k: n_k % n_q}),
                does="The queries are moved, but not by n_k - n_q.",
                why="The last query, n_q - 1, must land on the last key, n_k - 1.",
                ask="Which number added to n_q - 1 gives n_k - 1?"),
        Mistake("offset the wrong way", change={"offset": lambda n_q, n_k: n_q - n_k},
                does="The queries are moved to before the keys instead of to their end.",
                why="The last query must land on the last key.",
                ask="Which number added to n_q - 1 gives n_k - 1?"),
        Mistake("negative end of a slice",
                change={"compare": lambda key, query: _up_to(key, query)},
                does="For n_q > n_k the first queries see keys, though they should see none.",
                why="Where n_k - n_q + i + 1 is negative a slice [:that] counts from the end, and holds keys. "
                    "A comparison, or a lower limit of 0, has no such trap.",
                ask="What does row[:-1] hold, and what should the row of a query before the first key hold?"),
        Mistake("offset never negative", change={"offset": lambda n_q, n_k: max(n_k - n_q, 0)},
                does="For n_q > n_k the mask is aligned at the top left.",
                why="The last query sees every key whichever is longer; then the first ones see none.",
                ask="What do the first queries see if there are more queries than keys?"),
        Mistake("distance instead of offset", change={"offset": lambda n_q, n_k: abs(n_k - n_q)},
                does="For n_q > n_k the queries are moved the wrong way.",
                why="The last query sees every key whichever is longer; then the first ones see none.",
                ask="What do the first queries see if there are more queries than keys?"),
    ),
)

# ---------------------------------------------------------------- padding_mask

def padding_mask_answer(do, lengths, n_k):
    positions = do.positions(n_k, lengths)
    mask = do.compare(positions[None, :], do.limits(lengths)[:, None])
    return do.form(do.axes(do.sense(mask)))


def _padding_cases():
    def case(aspect, lengths, n_k, dtype=np.int64):
        return Case(aspect, (np.array(lengths, dtype), n_k))

    return [case(PLAIN, [1, 2], 3), case(PLAIN, [2, 5, 1], 7), case(PLAIN, [3, 1, 4, 2, 5], 11),
            case("one sequence", [2], 3), case("lengths of n_k", [3, 3], 3), case("lengths of n_k", [5, 2, 4], 5),
            case("a length of 0", [0, 2], 3), case("int32 lengths", [1, 4, 2], 5, np.int32)]


padding_mask = Exercise(
    name="padding_mask", signature="(lengths, n_k)", part=PART,
    text="A boolean mask of shape (batch, 1, n_k), True for the first lengths[b] keys.",
    answer=padding_mask_answer,
    steps={
        "positions": lambda n_k, lengths: np.arange(n_k),
        "limits": lambda lengths: lengths,
        "compare": lambda position, limit: position < limit,
        "sense": lambda mask: mask,
        "axes": lambda mask: mask[:, None, :],
        "form": lambda mask: mask,
    },
    cases=_padding_cases, dtype="bool",
    hints=(
        "Key j of sequence b is real if j is among the first lengths[b] positions.",
        "Compare np.arange(n_k) with the lengths as a column: the result has shape (batch, n_k).",
        "The scores have shape (batch, n_q, n_k), and all queries share the mask: an axis of "
        "length 1 belongs in the middle, as in lengths[:, None, None].",
    ),
    mistakes=(
        INVERTED,
        Mistake("one key too many", change={"compare": lambda position, limit: position <= limit},
                does="Each sequence lets one padded key through.",
                why="Positions count from 0: the first lengths[b] keys are 0 to lengths[b] - 1.",
                ask="What is the position of the last real key of a sequence of length 1?"),
        Mistake("one key too few", change={"compare": lambda position, limit: position < limit - 1},
                does="The last real key of each sequence is hidden.",
                why="Positions count from 0: the first lengths[b] keys are 0 to lengths[b] - 1.",
                ask="What is the position of the last real key of a sequence of length 1?"),
        Mistake("only the last real key", change={"compare": lambda position, limit: position == limit - 1},
                does="One key a sequence is True, the last real one.",
                why="All keys up to the length may be attended to.",
                ask="Which comparison holds for all positions before the length?"),
        Mistake("two keys too many", alone=True, change=({"compare": lambda position, limit: position < limit + 2},
                                             {"compare": lambda position, limit: position < limit - 2}),
                does="The edge of each row is off by two keys.",
                why="Positions count from 0: the first lengths[b] keys are 0 to lengths[b] - 1.",
                ask="What is the position of the last real key of a sequence of length 1?"),
        Mistake("half of the length", alone=True,
                change=({"limits": lambda lengths: lengths // 2}, {"limits": lambda lengths: 2 * lengths},
                                              {"limits": lambda lengths: lengths / 2}),
                does="Each row has half as many keys as it should, or twice as many.",
                why="The first lengths[b] keys are real.",
                ask="How many entries of a row must be True for a sequence of length 4?"),
        Mistake("causal mask joined", alone=True,
                change=({"form": lambda mask: mask & np.tri(mask.shape[-1], dtype=bool)},
                        {"form": lambda mask: mask | np.tri(mask.shape[-1], dtype=bool)}),
                does="The answer has shape (batch, n_k, n_k): the future is hidden besides.",
                why="The mask hides padding, for any number of queries. What is causal is another mask.",
                ask="How many queries will the scores have?"),
        Mistake("n_k fixed in the code", alone=True,
                change=tuple({"positions": lambda n_k, lengths, n=n: np.arange(n)}
                                                      for n in (512, 128, 64, 10, 1024, 32, 16, 8, 100)),
                does="The mask is as wide as a number that stands in the code.",
                why="The keys' axis has n_k positions.",
                ask="Which axis of the scores does the mask's last axis line up with?"),
        Mistake("lengths added up", alone=True, change=({"limits": np.cumsum},),
                does="The lengths are taken as ends in one long row: each is added to those before.",
                why="Each sequence has a row of its own, which starts at key 0.",
                ask="At which key does the second sequence start?"),
        Mistake("only the key behind the last one", alone=True,
                change={"compare": lambda position, limit: position == limit},
                does="One key a sequence is True, the first padded one.",
                why="All keys before the length may be attended to.",
                ask="Which comparison holds for all positions before the length?"),
        Mistake("padding at the front", change={"positions": lambda n_k, lengths: np.arange(n_k)[::-1]},
                does="The last lengths[b] keys are True.",
                why="The real keys stand at the front, the padding behind them.",
                ask="Where does the padding stand?"),
        Mistake("queries padded instead of keys", change={"axes": lambda mask: mask[:, :, None]},
                does="The answer has shape (batch, n_k, 1): it masks rows of the scores.",
                why="Rows belong to queries, columns to keys. Hiding a padded query leaves the padded "
                    "keys in every sum.",
                ask="Along which axis of the scores do the keys run?"),
        Mistake("axis of the queries in front", change={"axes": lambda mask: mask[None, :, :]},
                does="The answer has shape (1, batch, n_k).",
                why="The scores have shape (batch, n_q, n_k): the batch stands in front.",
                ask="Which axis of the scores does each axis of the mask line up with?"),
        Mistake("queries padded too",
                change=({"axes": lambda mask: mask[:, :, None] & mask[:, None, :]},
                        {"axes": lambda mask: mask[:, :, None] | mask[:, None, :]}),
                does="The answer has shape (batch, n_k, n_k): rows of padded positions are masked, too.",
                why="The mask hides keys, for any number of queries. A query without any key gives NaN or zeros; "
                    "what a padded query computes is simply not used.",
                ask="How many queries will the scores have?"),
        replace(named("everything allowed", TRIANGLE_MISTAKES),
                does="Every key may be attended to, padding too.",
                why="The padding behind a sequence holds no key of it.",
                ask="Which keys of a sequence of length 1 are padding?"),
        NOTHING_ALLOWED,
        Mistake("a row for each key", change={"axes": lambda mask: np.repeat(mask[:, None, :], mask.shape[-1], axis=1)},
                does="The answer has shape (batch, n_k, n_k).",
                why="The mask does not know how many queries there are; an axis of length 1 fits any number.",
                ask="How many queries will the scores have?"),
        Mistake("n_k ignored", change={"positions": lambda n_k, lengths: np.arange(lengths.max())},
                does="The mask is as wide as the longest sequence.",
                why="The keys' axis has n_k positions, even if no sequence is that long.",
                ask="Which axis of the scores does the mask's last axis line up with?"),
        Mistake("one length for all", change=({"limits": lambda lengths: np.full_like(lengths, lengths[0])},
                                              {"limits": lambda lengths: np.full_like(lengths, lengths.max())},
                                              {"limits": lambda lengths: np.full_like(lengths, lengths.min())},
                                              {"limits": lambda lengths: np.full_like(lengths, lengths[-1])},
                                              {"limits": lambda lengths: np.full(lengths.shape, lengths.mean())},
                                              {"limits": lambda lengths: np.full_like(lengths, lengths.sum())}),
                does="All sequences of the batch get the same mask.",
                why="Each sequence has a length of its own.",
                ask="Which of your numbers depends on b?"),
        ADDITIVE,
    ),
)

# ---------------------------------------------------------------- mask_scores

def mask_scores_answer(do, scores, attn_mask):
    return do.finish_masked(do.fill(scores, do.sense(attn_mask), do.dtype))


def fill_with(value):
    return lambda scores, mask, dtype: np.where(mask, scores, value)


def add_where_masked(value):
    return lambda scores, mask, dtype: scores + np.where(mask, 0.0, value)


def _lowest(scores, mask, dtype):
    return np.where(mask, scores, float(np.finfo(dtype).min))


FILLS = (-1e9, -1e10, -1e8, -1e6, -1e5, -1e4, -1e3, -100.0, -1e12, -1e15, -1e18, -1e20, -1e30, -1e38,
         -9999.0, -99999.0, -999999.0)

MASK_STEPS = {
    "sense": lambda mask: mask,
    "fill": fill_with(-np.inf),
    "finish_masked": lambda scores: scores,
}


def _removed(scores, mask, dtype):
    return scores[mask]


def _all_removed(scores, mask, dtype):
    return scores[np.broadcast_to(mask, scores.shape)]


ZERO_FILL = Mistake(
    "masked scores set to 0", change={"fill": fill_with(0.0)},
    does="Masked scores are 0, as if the mask were multiplied with the scores.",
    why="exp(0) is 1: a masked key keeps a weight, more than one with a negative score.",
    ask="Which score gives a weight of exactly 0 after the softmax?")

MASK_MISTAKES = (
    INVERTED,
    ZERO_FILL,
    Mistake("mask added",
            change=({"fill": lambda scores, mask, dtype: scores + mask},
                    {"fill": lambda scores, mask, dtype: scores - mask},
                    {"fill": lambda scores, mask, dtype: scores - ~mask},
                    {"fill": lambda scores, mask, dtype: scores + ~mask}),
            does="Some scores change by 1, and none becomes -inf.",
            why="A boolean mask counts as 0 and 1 in a sum. It has to choose, not to be added.",
            ask="What does True + 2.5 give, and what should it give?"),
    Mistake("+inf instead of -inf", change={"fill": fill_with(np.inf)},
            does="Masked scores are +inf.",
            why="exp(+inf) is infinite: the softmax becomes NaN.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("0 times infinity",
            change=({"fill": lambda scores, mask, dtype: scores + np.where(mask, np.nan, -np.inf)},
                    {"fill": lambda scores, mask, dtype: scores + np.where(mask, np.nan, np.inf)}),
            does="Scores of allowed keys are NaN.",
            why="0 * inf is NaN: a mask times infinity does not leave allowed scores alone.",
            ask="What is 0 * inf, and how can the mask choose instead of multiply?"),
    Mistake("NaN instead of -inf", change={"fill": fill_with(np.nan)},
            does="Masked scores are NaN.",
            why="NaN spreads: one of them makes a whole row of the softmax NaN.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("large negative number instead of -inf",
            change=tuple({"fill": fill_with(value)} for value in FILLS) + ({"fill": _lowest},) +
            tuple({"fill": add_where_masked(value)} for value in FILLS[:10]),
            does="Masked scores are a large negative number, or are lowered by such a number.",
            why="Scores may be large themselves, and a row in which all keys are masked becomes "
                "uniform instead of empty. Only -inf is below every score in every dtype.",
            ask="What are the weights of a row in which every key is masked?"),
    Mistake("tiny number instead of -inf",
            change=tuple({"fill": fill_with(value)} for value in (1e-9, 1e-10, 1e-8, 1e-6, 1e-12, -1e-9, -1e-10)),
            does="Masked scores are 1e-9 or the like: nearly 0.",
            why="1e-9 is a small number and -1e9 a very negative one. exp(1e-9) is 1: a masked key keeps a weight.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("large positive number instead of -inf",
            change=tuple({"fill": fill_with(-value)} for value in FILLS),
            does="Masked scores are a large positive number.",
            why="The largest score gets the largest weight: the softmax would attend to masked keys alone.",
            ask="Which sign must a score have that gets no weight?"),
    Mistake("multiplied by infinity",
            change=({"fill": lambda scores, mask, dtype: scores * np.where(mask, 1.0, -np.inf)},
                    {"fill": lambda scores, mask, dtype: scores * np.where(mask, 1.0, np.inf)},
                    {"fill": lambda scores, mask, dtype: scores * np.where(mask, -0.0, np.inf)},
                    {"fill": lambda scores, mask, dtype: scores * np.where(mask, 0.0, -np.inf)},
                    *({"fill": lambda scores, mask, dtype, v=v: scores * np.where(mask, 1.0, v)}
                      for v in (-1e9, 1e9, -1e10, -1e4))),
            does="Masked scores are multiplied by infinity or a large number, or divided by 0, as by a mask: their signs decide "
                 "what comes out.",
            why="A score times infinity, or divided by 0, is +inf, -inf or NaN as its sign is. The mask has to choose.",
            ask="What becomes of a negative score, and of a score of 0?"),
    Mistake("causal mask instead of the given one", change={"fill": lambda scores, mask, dtype: _causal(scores)},
            does="Scores of later keys are -inf, whatever the mask says.",
            why="The caller says which keys may be seen: it may be padding, a window, or anything else.",
            ask="Where does your function use attn_mask?"),
    Mistake("masked scores removed", change=({"fill": _removed}, {"fill": _all_removed}),
            does="The answer is one long row of the allowed scores.",
            why="The scores must keep their shape: weights and values still line up with the keys.",
            ask="Which function chooses between two values, entry by entry?"),
    Mistake("mask ignored", change={"fill": lambda scores, mask, dtype: scores},
            does="The scores come back as they were.",
            why="Where the mask is False the score must become -inf.",
            ask="Where in your function does the mask change a score?"),
    Mistake("the lowest score instead of -inf",
            change=({"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min())},
                    {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=-1, keepdims=True))}),
            does="Masked scores are as low as the lowest one, and no lower.",
            why="The lowest score still has a weight.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
)

def _hidden_with(reduce, axis):
    """The mask as it is for one query, or one key, and then for all."""
    return lambda scores, mask, dtype: np.where(
        reduce(np.broadcast_to(mask, scores.shape), axis=axis, keepdims=True), scores, -np.inf)


def masked_set_to(number):
    return Mistake(
        f"masked scores set to {number:.4g}", change={"fill": fill_with(number)},
        does=f"Masked scores are {number:.4g}.",
        why="Scores may lie below any number: only -inf gives a weight of exactly 0 in every row.",
        ask="Which score gives a weight of exactly 0 after the softmax?")


def masked_lowered_by(number):
    way = "raised" if number > 0 else "lowered"
    return Mistake(
        f"masked scores {way} by {abs(number):.4g}", change={"fill": add_where_masked(number)},
        does=f"Masked scores are {way} by {abs(number):.4g}.",
        why="A score that is moved by a number keeps a weight. Only -inf gives a weight of exactly 0.",
        ask="Which score gives a weight of exactly 0 after the softmax?")


def masked_multiplied_by(number):
    return Mistake(
        f"masked scores multiplied by {number:.4g}",
        change={"fill": lambda scores, mask, dtype: np.where(mask, scores, scores * number)},
        does=f"Masked scores are multiplied by {number:.4g}.",
        why="A factor leaves the sign and a weight. The mask has to choose: the score, or -inf.",
        ask="Which score gives a weight of exactly 0 after the softmax?")


FITTED_FILLS = (masked_set_to, masked_lowered_by, masked_multiplied_by)

def _first_rows(scores, mask, rows):
    """Scores of which only these rows are masked."""
    found, masked = scores.copy(), np.where(mask, scores, -np.inf)
    found[..., rows, :] = masked[..., rows, :]
    return found


HIDDEN_FOR_ALL = Mistake(
    "hidden for all queries",
    change=({"fill": _hidden_with(np.all, -2)}, {"fill": _hidden_with(np.any, -2)},
            {"fill": _hidden_with(np.all, -1)}, {"fill": _hidden_with(np.any, -1)}),
    does="A whole row or column is treated alike: as soon as one entry of the mask is False, or only if all are.",
    why="Each entry of the mask speaks for one query and one key.",
    ask="Over which axis does your all, or any, go?")

NO_SCORES_LEFT = Mistake(
    "additive mask instead of the scores",
    change=tuple({"fill": lambda scores, mask, dtype, v=v: np.broadcast_to(np.where(mask, v, -np.inf), scores.shape)}
                 for v in (0.0, 1.0)),
    does="Allowed scores are lost: the answer is 0 or 1 where the mask is True, and -inf elsewhere.",
    why="An allowed score stays as it is. Such a mask still has to be added to the scores.",
    ask="Where in your answer do the scores stand?")

BROADCAST = "a mask that broadcasts"


def _masking_cases():
    def mask(*shape, seed=0):
        return np.random.default_rng([seed, *shape]).random(shape) < 0.6

    f4, f2 = np.float32, np.float16
    return [
        Case(PLAIN, (np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]),
                     np.array([[True, False, True], [False, True, True]]))),
        Case(PLAIN, (normal(5, 7, seed=1), mask(5, 7))),
        Case(PLAIN, (normal(3, 11, seed=2), mask(3, 11))),
        Case(SQUARE, (normal(5, 5, seed=3), mask(5, 5))),
        Case(BROADCAST, (np.array([[1.0, -2.0], [3.0, 4.0]]), np.array([True, False]))),
        Case(BROADCAST, (normal(2, 5, 3, seed=4), mask(5, 3))),
        Case(BROADCAST, (normal(2, 3, 5, 7, seed=5), mask(2, 1, 1, 7))),
        Case(LEADING, (normal(2, 5, 3, seed=6), mask(2, 5, 3))),
        Case("a row without any key", (np.array([[1.0, 2.0]]), np.array([[False, False]]))),
        Case("everything allowed", (normal(3, 5, seed=7), np.ones((3, 5), bool))),
        Case("scores of ±10000", (np.array([[1e4, -1e4, 3.0]]), np.array([[False, True, True]]))),
        Case(FLOAT32, (normal(5, 3, seed=8, dtype=f4), mask(5, 3))),
        Case(FLOAT16, (normal(5, 3, seed=9, dtype=f2), mask(5, 3))),
    ]


mask_scores = Exercise(
    name="mask_scores", signature="(scores, attn_mask)", part=PART,
    text="The scores, with -inf where the boolean mask is False.",
    answer=mask_scores_answer, steps=MASK_STEPS, cases=_masking_cases, fitted=FITTED_FILLS,
    hints=(
        "True means: may attend. These scores stay as they are. What should the others become?",
        "After the softmax a masked key must have a weight of exactly 0: exp(score) = 0.",
        "np.where chooses between two values, entry by entry, and broadcasts: the mask first, then "
        "what stands where it is True, then what stands where it is False.",
    ),
    mistakes=MASK_MISTAKES + (
        HIDDEN_FOR_ALL, NO_SCORES_LEFT,
        Mistake("the mean instead of -inf", alone=True,
                change=({"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.mean())},
                        {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.mean(axis=-1, keepdims=True))}),
                does="Masked scores are the mean of the scores.",
                why="A mean score still has a weight.",
                ask="Which score gives a weight of exactly 0 after the softmax?"),
        Mistake("only below the lowest score", alone=True,
                change=({"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min() - 1)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=-1, keepdims=True) - 1)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores - scores.max())}),
                does="Masked scores are a little lower than the lowest one.",
                why="A score a little lower still has a weight. Only -inf is below every score.",
                ask="Which score gives a weight of exactly 0 after the softmax?"),
        Mistake("rows without any key not masked", alone=True,
                change=({"fill": lambda scores, mask, dtype: np.where(mask | ~np.broadcast_to(mask, scores.shape).any(
                            axis=-1, keepdims=True), scores, -np.inf)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, scores, np.where(np.broadcast_to(
                            mask, scores.shape).any(axis=-1, keepdims=True), -np.inf, 0.0))}),
                does="It is right, unless a whole row is masked: that row keeps its scores, or gets zeros.",
                why="Where the mask is False the score is -inf, also if that is everywhere in a row. What a softmax "
                    "makes of such a row is another question.",
                ask="What should stand in a row in which every key is masked?"),
        Mistake("only the first row masked", alone=True,
                change=({"fill": lambda scores, mask, dtype: _first_rows(scores, mask, slice(0, 1))},
                        {"fill": lambda scores, mask, dtype: _first_rows(scores, mask, slice(1, None))},
                        {"fill": lambda scores, mask, dtype: _first_rows(scores, mask, slice(-1, None))}),
                does="Some rows of the scores are masked, and the others stay as they were.",
                why="The mask has a row for each query.",
                ask="Which rows does your function go through?"),
        Mistake("masked scores negated", change={"fill": lambda scores, mask, dtype: np.where(mask, scores, -scores)},
                does="Masked scores have changed their sign.",
                why="A negated score still has a weight, and may be the largest.",
                ask="Which score gives a weight of exactly 0 after the softmax?"),
        Mistake("allowed scores changed", alone=True,
                change=({"fill": lambda scores, mask, dtype: np.where(mask, 1.0, scores)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, np.abs(scores), -np.inf)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, -scores, -np.inf)}),
                does="Scores of allowed keys are changed.",
                why="Where the mask is True the score stays as it is.",
                ask="What stands in your answer where the mask is True?"),
        Mistake("softmax already applied", change={"finish_masked": _softmax},
                does="Each row sums to 1: the answer holds weights, not scores.",
                why="Masked scores are asked for; the softmax comes after.",
                ask="Which step of attention comes after the mask?"),
    ),
    aspects={BROADCAST: Mistake(
        "only for a mask of the scores' shape",
        does="The function is right if the mask has the scores' shape, and not if it broadcasts to it.",
        why="A mask of shape (n_q, n_k) or (batch, 1, n_k) serves all heads and queries. Indexing "
            "with it, as in scores[~mask], does not broadcast.",
        ask="Which function chooses entry by entry, and broadcasts?")},
)

EXERCISES = (dot_score, raw_scores, score_variance, causal_mask, decode_mask, padding_mask, mask_scores)
