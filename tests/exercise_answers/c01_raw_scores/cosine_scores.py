"""Answers to cosine_scores, written as learners write them."""

import math

import numpy as np

from attnlib.exercises.engine.prove import Answers

ANSWERS = answers = Answers("cosine_scores")


def unit(array):
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    return array / np.where(length == 0, 1, length).astype(array.dtype)


def lengths(array):
    return np.linalg.norm(array, axis=-1, keepdims=True)


answers.right(lambda query, key: unit(query) @ unit(key).mT)


@answers.right()
def cosine_by_quotient(query, key):
    both = lengths(query) * lengths(key).mT
    products = query @ key.mT
    return np.divide(products, both, out=np.zeros_like(products), where=both > 0)


@answers.right()
def cosine_by_loops(query, key):
    wide_q, wide_k = query.astype(np.float64), key.astype(np.float64)
    found = np.zeros((*query.shape[:-1], key.shape[-2]))
    for at in np.ndindex(*found.shape):
        q, k = wide_q[at[:-1]], wide_k[at[:-2]][at[-1]]
        both = math.sqrt(q @ q) * math.sqrt(k @ k)
        found[at] = q @ k / both if both else 0.0
    return found.astype(query.dtype)


answers.wrong("dot products instead of cosines", function=lambda query, key: query @ key.mT)
answers.wrong("not divided by the keys' lengths", function=lambda query, key: unit(query) @ key.mT)
answers.wrong("not divided by the queries' lengths", function=lambda query, key: query @ unit(key).mT)
answers.wrong("K Qᵀ instead of Q Kᵀ", function=lambda query, key: unit(key) @ unit(query).mT)
answers.wrong("scaled by sqrt(d_k) too", function=lambda query, key: unit(query) @ unit(key).mT / math.sqrt(query.shape[-1]))
answers.wrong("distance instead of the cosine", function=lambda query, key: 1 - unit(query) @ unit(key).mT)
answers.wrong("angle instead of the cosine", function=lambda query, key: np.arccos(np.clip(unit(query) @ unit(key).mT, -1, 1)))
answers.wrong("epsilon added to the length", function=lambda query, key: (
    query / (lengths(query) + 1e-8)) @ (key / (lengths(key) + 1e-8)).mT)


answers.wrong("epsilon added to the length", function=lambda query, key: (
    query / np.maximum(lengths(query), 1e-8)) @ (key / np.maximum(lengths(key), 1e-8)).mT)
answers.wrong("epsilon added to the length", function=lambda query, key: (
    query @ key.mT / (lengths(query) * lengths(key).mT + 1e-8)))


@answers.wrong("0 / 0 for a vector of zeros")
def cosine_without_care(query, key):
    return query @ key.mT / (lengths(query) * lengths(key).mT)


@answers.wrong("one length for all")
def cosine_by_whole_norm(query, key):
    def whole(array):
        length = np.sqrt((array.astype(np.float64) ** 2).sum())
        return (array / (length or 1)).astype(array.dtype)

    return whole(query) @ whole(key).mT


@answers.wrong("sum of squares instead of the length")
def cosine_by_squares(query, key):
    def shorter(array):
        total = np.square(array.astype(np.float64)).sum(axis=-1, keepdims=True)
        return array / np.where(total == 0, 1, total)

    return (shorter(query) @ shorter(key).mT).astype(query.dtype)
