"""Answers to dot_score, written as learners write them."""

import functools
import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("dot_score")


answers.right(lambda query, key: query @ key)
answers.right(np.dot)
answers.right(lambda q, k: float(np.sum(q * k)))
answers.right(lambda *args: np.einsum("i,i", *args))
answers.right(functools.partial(np.inner))


@answers.right()
def dot_by_loop(query, key):
    total = 0.0
    for q, k in zip(query, key):
        total += q * k
    return total


@answers.right()
def dot_by_python_sum(query, key):
    return sum(q * k for q, k in zip(query.tolist(), key.tolist()))


@answers.wrong("not summed")
def dot_elementwise(query, key):
    return query * key


@answers.wrong("scaled already")
def dot_scaled(query, key):
    return np.dot(query, key) / np.sqrt(query.shape[0])


@answers.wrong("cosine instead of dot product")
def dot_cosine(query, key):
    return query @ key / (np.sqrt(np.sum(query**2)) * np.sqrt(np.sum(key**2)))


@answers.wrong("outer product")
def dot_outer(query, key):
    return query[:, None] * key[None, :]


@answers.wrong("mean instead of sum")
def dot_mean(query, key):
    return np.mean(query * key)


@answers.wrong("distance instead of dot product")
def dot_distance(query, key):
    return np.linalg.norm(query - key)


@answers.wrong("product of the sums")
def dot_sums(query, key):
    total = 0
    for q in query:
        for k in key:
            total += q * k
    return total


@answers.wrong("axis kept")
def dot_keepdims(query, key):
    return np.sum(query * key, keepdims=True)


@answers.wrong("scaled already", "absolute value")
def dot_scaled_absolute(query, key):
    return np.abs(query * key).sum() / math.sqrt(len(query))


@answers.wrong("one product left out")
def dot_skips_the_first(query, key):
    return sum(query[i] * key[i] for i in range(1, len(query)))


for names, function in (
    (["sign flipped"], lambda q, k: -(q @ k)),
    (
        ["sum starts at 1"],
        lambda q, k: functools.reduce(lambda total, i: total + q[i] * k[i], range(len(q)), 1),
    ),
    (["q · q instead of q · k"], lambda q, k: np.dot(q, q)),
    (["k · k instead of q · k"], lambda q, k: (k**2).sum()),
    (["only one vector normalised"], lambda q, k: q @ k / np.linalg.norm(k)),
    (["one vector reversed"], lambda q, k: np.convolve(q, k, mode="valid")[0]),
    (["trailing comma"], lambda q, k: (q @ k,)),
    (["list around the answer"], lambda q, k: [q @ k]),
    (["same number for all arguments"], lambda q, k: 0),
):
    function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("every second product left out")
def dot_every_second(query, key):
    return query[::2] @ key[::2]


@answers.wrong("not summed", "scaled already", "list instead of an array")
def dot_list_scaled(query, key):
    return [q * k / len(query) ** 0.5 for q, k in zip(query, key)]


@answers.wrong()
def dot_of_two_slips(query, key):
    total = 1.0
    for i in range(len(query) - 1):
        total += query[i] * key[i]
    return total


@answers.wrong("two products left out")
def dot_without_first_and_last(query, key):
    return sum(q * k for q, k in zip(query[1:-1], key[1:-1]))
