"""Answers to find_adjectives, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("find_adjectives")

W_Q = np.array([[2, 0], [0, 0], [0, 0], [0, 1]])
W_K = np.array([[0, 0], [1, 0], [0, 0], [0, 1]])


def scores_of(x, w_q, w_k):
    return x @ np.array(w_q) @ (x @ np.array(w_k)).mT


answers.right(lambda x: (x @ W_Q) @ (x @ W_K).mT)
answers.right(lambda x: np.einsum("...ic,cd,ed,...je->...ij", x, W_Q, W_K, x))


@answers.right()
def with_the_2_in_the_keys(x):
    w_q = np.zeros((4, 2))
    w_k = np.zeros((4, 2))
    w_q[0, 1], w_k[1, 1] = 1, 2
    w_q[3, 0] = w_k[3, 0] = 1
    return (x @ w_q) @ np.swapaxes(x @ w_k, -1, -2)


@answers.right()
def with_a_wide_query(x):
    w_q = np.zeros((4, 4))
    w_q[0, 1], w_q[3, 3] = 2, 1
    return x @ w_q @ x.mT


@answers.right()
def pair_by_pair(x):
    n = x.shape[-2]
    scores = np.zeros((*x.shape[:-2], n, n))
    for i in range(n):
        for j in range(n):
            one, other = x[..., i, :], x[..., j, :]
            scores[..., i, j] = 2 * one[..., 0] * other[..., 1] + one[..., 3] * other[..., 3]
    return scores


answers.wrong("adjectives look for nouns", function=lambda x: (x @ W_K) @ (x @ W_Q).mT)
answers.wrong("one matrix for both", function=lambda x: (x @ W_Q) @ (x @ W_Q).mT)
answers.wrong(
    "nouns look for nouns", function=lambda x: scores_of(x, W_Q, [[1, 0], [0, 0], [0, 0], [0, 1]])
)
answers.wrong(
    "adjectives look for adjectives",
    function=lambda x: scores_of(x, [[0, 0], [2, 0], [0, 0], [0, 1]], W_K),
)
answers.wrong(
    "verbs look for adjectives too",
    function=lambda x: scores_of(x, [[2, 0], [0, 0], [2, 0], [0, 1]], W_K),
)
answers.wrong(
    "adjectives look for adjectives too",
    function=lambda x: scores_of(x, [[2, 0], [2, 0], [0, 0], [0, 1]], W_K),
)
answers.wrong(
    "verbs found too", function=lambda x: scores_of(x, W_Q, [[0, 0], [1, 0], [1, 0], [0, 1]])
)
answers.wrong(
    "nouns found too", function=lambda x: scores_of(x, W_Q, [[1, 0], [1, 0], [0, 0], [0, 1]])
)
answers.wrong("no agreement", function=lambda x: (x @ W_Q[:, :1]) @ (x @ W_K[:, :1]).mT)
answers.wrong(
    "disagreement rewarded", function=lambda x: scores_of(x, W_Q, [[0, 0], [1, 0], [0, 0], [0, -1]])
)
answers.wrong("agreement counted twice", function=lambda x: scores_of(x, W_Q * [1, 2], W_K))
answers.wrong("1 for a noun and an adjective", function=lambda x: scores_of(x, W_Q > 0, W_K))
answers.wrong("4 for a noun and an adjective", function=lambda x: scores_of(x, W_Q, W_K * [2, 1]))
answers.wrong("only agreement", function=lambda x: x[..., 3:] @ x[..., 3:].mT)
answers.wrong(
    "both rules in one entry",
    function=lambda x: scores_of(x, [[2], [0], [0], [1]], [[0], [1], [0], [1]]),
)
answers.wrong("divided by a root", function=lambda x: scores_of(x, W_Q, W_K) / np.sqrt(2))
answers.wrong("divided by a root", function=lambda x: scores_of(x, W_Q, W_K) / x.shape[-1] ** 0.5)


@answers.wrong("softmax already applied")
def weights_of_words(x):
    powers = np.exp((x @ W_Q) @ (x @ W_K).mT)
    return powers / powers.sum(axis=-1, keepdims=True)


@answers.wrong("diagonal set to 0")
def without_the_diagonal(x):
    return scores_of(x, W_Q, W_K) * (1 - np.eye(x.shape[-2]))


@answers.wrong("agreement only for a noun and an adjective")
def agreement_of_pairs(x):
    noun, adjective, number = x[..., 0], x[..., 1], x[..., 3]
    pairs = noun[..., :, None] * adjective[..., None, :]
    return pairs * (2 + number[..., :, None] * number[..., None, :])


@answers.wrong("agreement only for nouns")
def agreement_of_nouns(x):
    noun, adjective, number = x[..., 0], x[..., 1], x[..., 3]
    keys = 2 * adjective[..., None, :] + number[..., :, None] * number[..., None, :]
    return noun[..., :, None] * keys


@answers.wrong("verbs look for adjectives")
def verbs_ask(x):
    return scores_of(x, [[0, 0], [0, 0], [2, 0], [0, 1]], W_K)


@answers.wrong("nouns look for verbs")
def verbs_found(x):
    return scores_of(x, W_Q, [[0, 0], [0, 0], [1, 0], [0, 1]])


@answers.wrong("no matrices")
def words_as_they_are(x):
    return x @ x.mT


def rules(x):
    """Where a noun meets an adjective, and the product of the numbers."""
    noun, adjective, number = x[..., 0], x[..., 1], x[..., 3]
    pairs = noun[..., :, None] * adjective[..., None, :]
    return pairs, number[..., :, None] * number[..., None, :]


@answers.wrong("adjectives look for nouns too")
def found_both_ways(x):
    pairs, agreement = rules(x)
    return 2 * (pairs + pairs.mT) + agreement


@answers.wrong("disagreement costs nothing")
def only_agreement_counts(x):
    pairs, agreement = rules(x)
    return 2 * pairs + np.maximum(agreement, 0)


@answers.wrong("words without a number compared")
def numbers_compared(x):
    number = x[..., 3]
    return 2 * rules(x)[0] + np.where(number[..., :, None] == number[..., None, :], 1, -1)


@answers.wrong("2 only where the numbers agree")
def only_its_own_adjectives(x):
    pairs, agreement = rules(x)
    return 2 * pairs * (agreement > 0) + agreement
