"""Answers to nearest_key, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("nearest_key")

answers.right(lambda query, key: (query @ key.mT).argmax(axis=-1))
answers.right(lambda query, key: np.argmax(np.einsum("...id,...jd->...ij", query, key), axis=-1))


@answers.right()
def nearest_by_loops(query, key):
    found = np.zeros(query.shape[:-1], dtype=int)
    for at in np.ndindex(*found.shape):
        best = -np.inf
        for j in range(key.shape[-2]):
            product = float(query[at] @ key[at[:-1]][j])
            if product > best:
                best, found[at] = product, j
    return found


answers.wrong(
    "over the queries instead of the keys",
    function=lambda query, key: (query @ key.mT).argmax(axis=-2),
)
answers.wrong(
    "over the queries instead of the keys",
    function=lambda query, key: (key @ query.mT).argmax(axis=-1),
)
answers.wrong("over the whole array", function=lambda query, key: np.argmax(query @ key.mT))
answers.wrong(
    "the largest product instead of its position",
    function=lambda query, key: (query @ key.mT).max(axis=-1),
)
answers.wrong(
    "smallest instead of largest", function=lambda query, key: (query @ key.mT).argmin(axis=-1)
)
answers.wrong(
    "size without sign", function=lambda query, key: np.abs(query @ key.mT).argmax(axis=-1)
)
answers.wrong("counted from 1", function=lambda query, key: (query @ key.mT).argmax(axis=-1) + 1)
answers.wrong(
    "largest cosine",
    function=lambda query, key: (
        query @ (key / np.linalg.norm(key, axis=-1, keepdims=True).clip(1e-9)).mT
    ).argmax(axis=-1),
)
answers.wrong(
    "the order of all keys",
    function=lambda query, key: np.argsort(query @ key.mT, axis=-1)[..., ::-1],
)


@answers.wrong("nearest by distance")
def nearest_by_distance(query, key):
    gaps = query[..., :, None, :] - key[..., None, :, :]
    return np.linalg.norm(gaps, axis=-1).argmin(axis=-1)


@answers.wrong("last of equals")
def nearest_by_late_loop(query, key):
    found = np.zeros(query.shape[:-1], dtype=int)
    for at in np.ndindex(*found.shape):
        best = -np.inf
        for j in range(key.shape[-2]):
            product = float(query[at] @ key[at[:-1]][j])
            if product >= best:
                best, found[at] = product, j
    return found


@answers.wrong("only positive products")
def nearest_from_zero(query, key):
    found = np.zeros(query.shape[:-1], dtype=int)
    for at in np.ndindex(*found.shape):
        best = 0.0
        for j in range(key.shape[-2]):
            product = float(query[at] @ key[at[:-1]][j])
            if product > best:
                best, found[at] = product, j
    return found


@answers.wrong("positions as floating-point numbers")
def nearest_as_floats(query, key):
    products = query @ np.swapaxes(key, -1, -2)
    return products.argmax(axis=-1).astype(query.dtype)


@answers.wrong("size without sign", "last of equals")
def nearest_by_size_or_as_near(query, key):
    products = np.abs(query @ np.swapaxes(key, -1, -2))
    found = np.zeros(products.shape[:-1], dtype=int)
    best = np.full(products.shape[:-1], -np.inf)
    for j in range(products.shape[-1]):
        better = products[..., j] >= best
        found[better] = j
        best[better] = products[..., j][better]
    return found


@answers.wrong("the key instead of its position")
def nearest_keys_themselves(query, key):
    found = (query @ np.swapaxes(key, -1, -2)).argmax(axis=-1)
    return np.take_along_axis(key, found[..., None], axis=-2)


@answers.wrong("a row of 0 and 1 for each query")
def nearest_one_hot(query, key):
    products = query @ np.swapaxes(key, -1, -2)
    return (products == products.max(-1, keepdims=True)).astype(int)


@answers.wrong("nearly equal products taken for equal")
def nearest_by_isclose(query, key):
    p = query @ np.swapaxes(key, -1, -2)
    return np.isclose(p, p.max(axis=-1, keepdims=True)).argmax(axis=-1)


@answers.wrong("largest cosine")
def nearest_by_raised_lengths(query, key):
    k = key / (np.linalg.norm(key, axis=-1, keepdims=True) + 1e-9)
    return np.argmax(np.einsum("...id,...jd->...ij", query, k), axis=-1)


@answers.wrong("largest cosine")
def nearest_by_the_cosine_of_a_library(query, key):
    q_len = np.linalg.norm(query, axis=-1)[..., :, None]
    k_len = np.linalg.norm(key, axis=-1)[..., None, :]
    return (query @ np.swapaxes(key, -1, -2) / (q_len * k_len + 1e-8)).argmax(axis=-1)


@answers.wrong("products in float32")
def nearest_in_float32(query, key):
    q, k = query.astype(np.float32), key.astype(np.float32)
    return (q @ np.swapaxes(k, -1, -2)).argmax(axis=-1)


@answers.wrong("positions in the flattened products")
def flattened(query, key):
    products = query @ np.swapaxes(key, -1, -2)
    n_q, n_k = products.shape[-2:]
    return products.argmax(axis=-1) + n_k * np.arange(n_q)
