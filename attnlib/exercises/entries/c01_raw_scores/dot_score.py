"""The exercise dot_score."""

import math

import numpy as np

from ...families.scores import softmax_of
from ...model import FLOAT16, FLOAT32, PLAIN, Case, Exercise, Mistake, Step, alike, normal


def dot_score_answer(do, query, key):
    return do.scale(do.total(do.product(query, key)), query, key)


def _cases():
    def some(aspect, n, seed, dtype=np.float64, scale=1.0):
        return Case(aspect,
                    (normal(n, seed=seed, dtype=dtype, scale=scale),
                     normal(n, seed=seed + 1, dtype=dtype, scale=scale)))

    return [
        Case(PLAIN, (np.array([1.0, 2.0, 0.0, -3.0]), np.array([2.0, 1.0, 5.0, 4.0]))),
        Case("one feature", (np.array([2.0]), np.array([3.0]))),
        some(PLAIN, 7, 1), Case(PLAIN, (normal(5, seed=3), -normal(5, seed=3))), some(PLAIN, 61, 13),
        Case("every second entry of an array", (normal(14, seed=5)[::2], normal(7, 2, seed=6)[:, 1])),
        some("large entries", 13, 8, scale=60), some(FLOAT32, 2, 4, np.float32), some(FLOAT16, 3, 6, np.float16),
    ]


def _total(*sums):
    """Other sums of the products."""
    return tuple({"total": total} for total in sums)


def _joined(*products):
    """Other products of query and key, summed as before."""
    return tuple({"product": product} for product in products)


def _at_once(*scores):
    """Other numbers made of query and key, with no sum after them."""
    return tuple({"product": score, "total": lambda product: product} for score in scores)


def _scaled(*scales):
    """The score changed afterwards."""
    return tuple({"scale": scale} for scale in scales)


def _centred(query, key):
    return (query - query.mean()) * (key - key.mean())


LENGTH = np.linalg.norm

EXERCISE = Exercise(
    name="dot_score", signature="(query, key)", place=1,
    axes=dict(query="d_k", key="d_k"),
    text="The dot product of one query and one key, both of shape (d_k,): one number, not scaled.",
    answer=dot_score_answer,
    steps={
        "product": Step(lambda query, key: query * key, "the products of the features"),
        "total": lambda product: product.sum(),
        "scale": Step(lambda score, query, key: score, "the score"),
    },
    cases=_cases, dtype="number",
    hints=(
        "Multiply the two vectors entry by entry: the first of one with the first of the other.",
        "The score is one number. What turns d_k products into one?",
        "query * key has shape (d_k,); its sum has no axis left. The operator @ does both.",
    ),
    mistakes=(
        *alike("A score says with one number how well a query and a key agree: the products of equal features, added.",
               "Which products belong to a dot product, and what is to be done with them?",
               ("not summed", _total(lambda product: product),
                "The answer has d_k entries: the products, one for each feature."),
               ("outer product", _at_once(np.outer), "The answer is a d_k by d_k table of all products."),
               ("running sum instead of the sum", _total(np.cumsum),
                "The answer has d_k entries: the sum after each feature.")),
        *alike("Here the bare dot product is asked for: its terms are added, and nothing divides.",
               "What divides in your function?",
               ("scaled already", _scaled(lambda s, q, k: s / math.sqrt(len(q))),
                "The answer is the dot product divided by sqrt(d_k)."),
               ("mean instead of sum", _total(np.mean), "The answer is d_k times too small."),
               ("divided by d_k - 1", _total(lambda product: product.sum() / max(product.size - 1, 1)),
                "The sum is divided by d_k - 1.")),
        *alike("A dot product depends on the lengths of both vectors, not on their angle alone.",
               "What happens to q · k when q is twice as long?",
               ("cosine instead of dot product", _scaled(lambda s, q, k: s / (LENGTH(q) * LENGTH(k))),
                "The answer lies between -1 and 1, however long the vectors are."),
               ("only one vector normalised", _scaled(lambda s, q, k: s / LENGTH(q), lambda s, q, k: s / LENGTH(k)),
                "The answer is divided by the length of one of the two vectors."),
               ("divided by the squared lengths",
                _scaled(lambda s, q, k: s / (q @ q * (k @ k)), lambda s, q, k: s / (q @ q),
                        lambda s, q, k: s / (k @ k)),
                "The answer is divided by the squared length of a vector, or of both.")),
        *alike("Feature i of the query meets feature i of the key; only then the products become one number.",
               "What comes first in a dot product, the products or the sum?",
               ("product of the sums", _at_once(lambda q, k: q.sum() * k.sum()),
                "The answer is the sum of the query's entries times the sum of the key's."),
               ("product of two single numbers",
                _at_once(lambda q, k: q.max() * k.max(), lambda q, k: LENGTH(q) * LENGTH(k)),
                "Each vector is made one number first, its largest entry or its length; these are multiplied."),
               ("one vector reversed", _joined(lambda q, k: q * k[::-1]),
                "The first feature of one vector meets the last one of the other."),
               ("entries sorted", _joined(lambda q, k: np.sort(q) * np.sort(k)),
                "Both vectors are sorted before they are multiplied.")),
        *alike("Only a product is large when both entries are large, and negative when their signs differ.",
               "Which operation joins the i-th entries of two vectors in a dot product?",
               ("sum instead of product", _joined(np.add), "The entries of query and key are added, not multiplied."),
               ("distance instead of dot product",
                (*_joined(lambda q, k: (q - k) ** 2, lambda q, k: -((q - k) ** 2)),
                 {"product": lambda q, k: (q - k) ** 2, "scale": lambda s, q, k: np.sqrt(s)}),
                "The answer tells how far query and key are apart.")),
        *alike("A feature in which query and key point in opposite directions lowers the score, and a score may be "
               "negative.",
               "What should the score of a vector and its opposite be?",
               ("absolute value", (*_scaled(lambda s, q, k: abs(s)), *_joined(lambda q, k: abs(q * k))),
                "The answer is never negative."),
               ("only positive products",
                _total(lambda product: product[product > 0].sum(), lambda product: max(product.sum(), 0.0)),
                "Negative products, or a negative sum, count as 0."),
               ("squared products",
                (*_total(lambda product: (product ** 2).sum(), lambda product: np.sqrt((product ** 2).sum())),
                                     *_scaled(lambda s, q, k: s ** 2)),
                "The products, or their sum, are squared."),
               ("sign flipped", _scaled(lambda s, q, k: -s), "The answer has the wrong sign.")),
        *alike("All d_k products are added, each once; positions run from 0 to d_k - 1, and a return inside the loop, "
               "or = "
               "where += belongs, leaves some out.",
               "Which features does your slice or your loop go through, and what does it keep?",
               ("one product alone", _total(lambda product: product[0], lambda product: product[-1]),
                "Only the first or the last feature counts."),
               ("one product left out",
                _total(lambda product: product[1:].sum(), lambda product: product[:-1].sum(),
                       lambda product: product[1:-1].sum()),
                "The first or the last feature does not count."),
               ("every second product left out",
                _total(lambda product: product[::2].sum(), lambda product: product[1::2].sum()),
                "Only every second feature counts."),
               ("maximum instead of sum", _total(np.max), "The answer is the largest of the products alone."),
               ("product of all instead of the sum", _total(np.prod, lambda product: abs(np.prod(product))),
                "The d_k products are multiplied with each other.")),
        *alike("Entries are real numbers, and so is their score.", "Which of your operations throws the fraction away?",
               ("cut to an integer", _scaled(lambda s, q, k: np.trunc(s), lambda s, q, k: np.rint(s)),
                "The answer has no fraction."),
               ("entries cut to integers",
                _joined(lambda q, k: np.trunc(q) * np.trunc(k), lambda q, k: np.rint(q) * np.rint(k)),
                "The entries lose their fractions before they are multiplied.")),
        *alike("A dot product takes the entries as they are: means and a softmax come elsewhere.",
               "Which operation is no part of a dot product?",
               ("softmax of a vector",
                (*_joined(lambda q, k: softmax_of(q) * softmax_of(k), lambda q, k: softmax_of(q) * k,
                                                 lambda q, k: q * softmax_of(k)),
                 *_total(lambda product: softmax_of(product).sum())),
                "A softmax is taken before the sum."),
               ("means subtracted",
                (*_joined(_centred), {"product": _centred, "total": np.mean},
                 {"product": _centred, "total": lambda product: product.sum() / max(product.size - 1, 1)},
                 {"product": lambda q, k: _centred(q, k) / (q.std() * k.std()), "total": np.mean}),
                "The answer is a covariance or a correlation: the means of query and key are subtracted.")),
        Mistake("sum starts at 1", change={"total": lambda product: 1 + product.sum()},
                does="The answer is too large by 1.",
                why="Before the first product nothing has been added: a sum starts at 0, only a product starts at 1.",
                ask="What should the score of two vectors of zeros be?"),
        *alike("The score compares a query with a key: entry i of one times entry i of the other.",
               "Where do query and key come into your products?",
               ("q · q instead of q · k", _joined(lambda q, k: q * q), "The answer does not depend on the key."),
               ("k · k instead of q · k", _joined(lambda q, k: k * k), "The answer does not depend on the query.")),
    ),
)
