"""Answers to causal_mask, written as learners write them."""

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("causal_mask")


answers.wrong("ready-made function", function=attnlib.causal_mask)
answers.right(lambda n_q, n_k: np.tril(np.ones((n_q, n_k), dtype=bool)))
answers.right(lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool))
answers.right(lambda n_q, n_k: np.array([[j <= i for j in range(n_k)] for i in range(n_q)]))
answers.right(lambda n_q, n_k: np.arange(n_q)[:, None] >= np.arange(n_k))
answers.right(lambda n_q, n_k: ~np.triu(np.ones((n_q, n_k), bool), k=1))


@answers.wrong("mask inverted")
def causal_torch_style(n_q, n_k):
    return np.triu(np.ones((n_q, n_k)), k=1).astype(bool)


@answers.wrong("diagonal excluded")
def causal_strict(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), bool), k=-1)


@answers.wrong("one key too many")
def causal_one_more(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), bool), k=1)


@answers.wrong("the future instead of the past")
def causal_upper(n_q, n_k):
    return np.triu(np.ones((n_q, n_k), bool))


@answers.wrong("n_q and n_k swapped")
def causal_swapped(n_q, n_k):
    return np.tril(np.ones((n_k, n_q), bool))


@answers.wrong("square mask")
def causal_square(n_q, n_k):
    return np.tri(n_q, dtype=bool)


@answers.wrong("aligned at the bottom right")
def causal_bottom_right(n_q, n_k):
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


@answers.wrong("additive mask instead of boolean")
def causal_additive(n_q, n_k):
    return np.triu(np.full((n_q, n_k), -np.inf), k=1)


@answers.wrong("not boolean")
def causal_floats(n_q, n_k):
    return np.tril(np.ones((n_q, n_k)))


@answers.wrong("not boolean", "diagonal excluded")
def causal_strict_ints(n_q, n_k):
    mask = np.zeros((n_q, n_k), int)
    for i in range(n_q):
        for j in range(n_k):
            if j < i:
                mask[i, j] = 1
    return mask


@answers.wrong("list instead of an array")
def causal_list(n_q, n_k):
    return [[j <= i for j in range(n_k)] for i in range(n_q)]


for names, function in (
    (["nothing allowed", "not boolean"], lambda n_q, n_k: np.zeros((n_q, n_k), int)),
    (["only the diagonal"], lambda n_q, n_k: np.eye(n_q, n_k, dtype=bool)),
    (["transposed"], lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool).T),
):
    function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


@answers.wrong("the first key always hidden")
def causal_from_one(n_q, n_k):
    return (np.arange(n_k) <= np.arange(n_q)[:, None]) & (np.arange(n_k) > 0)


@answers.wrong("positions compared one by one")
def causal_without_a_column(n_q, n_k):
    return np.arange(n_q) >= np.arange(n_k)


TABLE = np.tri(12, dtype=bool)


@answers.wrong("number of positions fixed in the code")
def causal_from_a_table(n_q, n_k):
    return TABLE[:n_q, :n_k]


@answers.wrong("transposed")
def causal_indices_swapped(n_q, n_k):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        for j in range(min(i + 1, n_k)):
            mask[j, i] = True
    return mask


@answers.wrong("mask inverted", "additive mask in a boolean array")
def causal_infinity_as_true(n_q, n_k):
    mask = np.zeros((n_q, n_k), bool)
    mask[np.triu_indices(n_q, 1, n_k)] = -np.inf
    return mask


@answers.wrong("mask inverted")
def causal_zeros_of_a_triangle(n_q, n_k):
    return np.tril(np.ones((n_q, n_k))) == 0


@answers.wrong("rows only as far as there are keys")
def causal_along_the_diagonal(n_q, n_k):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(min(n_q, n_k)):
        mask[i, : i + 1] = True
    return mask
