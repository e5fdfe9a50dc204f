"""Answers to cosine_scores, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

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
answers.wrong(
    "not divided by the queries' lengths", function=lambda query, key: query @ unit(key).mT
)
answers.wrong("K Qᵀ instead of Q Kᵀ", function=lambda query, key: unit(key) @ unit(query).mT)
answers.wrong(
    "scaled by sqrt(d_k) too",
    function=lambda query, key: unit(query) @ unit(key).mT / math.sqrt(query.shape[-1]),
)
answers.wrong(
    "distance instead of the cosine", function=lambda query, key: 1 - unit(query) @ unit(key).mT
)
answers.wrong(
    "angle instead of the cosine",
    function=lambda query, key: np.arccos(np.clip(unit(query) @ unit(key).mT, -1, 1)),
)
answers.wrong(
    "short lengths raised",
    function=lambda query, key: (
        (query / (lengths(query) + 1e-8)) @ (key / (lengths(key) + 1e-8)).mT
    ),
)


answers.wrong(
    "short lengths raised",
    function=lambda query, key: (
        (query / np.maximum(lengths(query), 1e-8)) @ (key / np.maximum(lengths(key), 1e-8)).mT
    ),
)
answers.wrong(
    "short lengths raised",
    function=lambda query, key: query @ key.mT / (lengths(query) * lengths(key).mT + 1e-8),
)


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


@answers.wrong("multiplied by the keys' lengths")
def cosine_without_brackets(query, key):
    products = query @ np.swapaxes(key, -1, -2)
    q_len = np.sqrt((query * query).sum(axis=-1))[..., :, None]
    k_len = np.sqrt((key * key).sum(axis=-1))[..., None, :]
    q_len = np.where(q_len == 0, 1, q_len)
    k_len = np.where(k_len == 0, 1, k_len)
    return products / q_len * k_len


@answers.wrong("short lengths raised")
def cosine_with_a_shortest_length(query, key):
    q_len = np.maximum(np.linalg.norm(query, axis=-1, keepdims=True), 1e-2)
    k_len = np.maximum(np.linalg.norm(key, axis=-1, keepdims=True), 1e-2)
    return (query / q_len) @ np.swapaxes(key / k_len, -1, -2)


@answers.wrong("0 / 0 for a vector of zeros")
def cosine_with_care_for_queries(query, key):
    q_len = np.linalg.norm(query, axis=-1, keepdims=True)
    k_len = np.linalg.norm(key, axis=-1, keepdims=True)
    q = np.where(q_len == 0, 0, query / np.where(q_len == 0, 1, q_len))
    return q @ np.swapaxes(key / k_len, -1, -2)


@answers.wrong("one length for all")
def cosine_by_two_lengths(query, key):
    q_len = np.sqrt(np.sum(query * query))
    k_len = np.sqrt(np.sum(key * key))
    if q_len == 0 or k_len == 0:
        return np.zeros(query.shape[:-1] + key.shape[-2:-1], query.dtype)
    return (query @ np.swapaxes(key, -1, -2)) / (q_len * k_len)


@answers.wrong("cosine 1 for a vector of zeros", "float64 leaks out")
def cosine_of_zeros_is_one(query, key):
    q = query.astype(np.float64)
    k = key.astype(np.float64)
    lengths = np.linalg.norm(q, axis=-1)[..., :, None] * np.linalg.norm(k, axis=-1)[..., None, :]
    with np.errstate(invalid="ignore"):
        cosines = (q @ np.swapaxes(k, -1, -2)) / lengths
    return np.nan_to_num(cosines, nan=1.0)


@answers.wrong("short lengths raised")
def cosines_of_raised_lengths(query, key):
    q = np.maximum(np.linalg.norm(query, axis=-1, keepdims=True), query.dtype.type(1e-9))
    k = np.maximum(np.linalg.norm(key, axis=-1, keepdims=True), key.dtype.type(1e-9))
    return (query / q) @ np.swapaxes(key / k, -1, -2)


@answers.wrong("short lengths raised")
def cosines_by_the_limit_of_torch(query, key):
    q = np.maximum(np.linalg.norm(query, axis=-1, keepdims=True), 1e-12)
    k = np.maximum(np.linalg.norm(key, axis=-1, keepdims=True), 1e-12)
    return (query / q) @ np.swapaxes(key / k, -1, -2)


@answers.wrong("short lengths raised")
def cosines_with_a_tiny_epsilon(query, key):
    q = np.linalg.norm(query, axis=-1)[..., :, None].astype(np.float64)
    k = np.linalg.norm(key, axis=-1)[..., None, :].astype(np.float64)
    dots = query.astype(np.float64) @ np.swapaxes(key.astype(np.float64), -1, -2)
    return (dots / (q * k + 1e-30)).astype(query.dtype)


@answers.wrong("short lengths raised")
def cosines_of_raised_products(query, key):
    both = np.linalg.norm(query, axis=-1)[..., :, None] * np.linalg.norm(key, axis=-1)[..., None, :]
    products = query @ np.swapaxes(key, -1, -2)
    return products / np.maximum(both, np.asarray(3e-4, products.dtype))


@answers.wrong("correlation instead of the cosine")
def cosines_of_centred_vectors(query, key):
    return unit(query - query.mean(-1, keepdims=True)) @ np.swapaxes(
        unit(key - key.mean(-1, keepdims=True)), -1, -2
    )


@answers.wrong("correlation instead of the cosine", "0 / 0 for a vector of zeros")
def cosines_by_a_formula_of_statistics(query, key):
    q = query - query.mean(-1, keepdims=True)
    k = key - key.mean(-1, keepdims=True)
    return q @ k.mT / (lengths(q) * lengths(k).mT)


@answers.wrong("short vectors taken for vectors of zeros")
def cosines_of_long_vectors_alone(query, key):
    both = lengths(query) * lengths(key).mT
    products = query @ key.mT
    return np.where(both < 1e-6, 0, products / np.where(both < 1e-6, 1, both)).astype(query.dtype)


@answers.wrong("short vectors taken for vectors of zeros")
def cosines_by_isclose(query, key):
    both = lengths(query) * lengths(key).mT
    return query @ key.mT / np.where(np.isclose(both, 0), 1, both).astype(query.dtype)
