"""Answers to head_scores, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("head_scores")


def heads_of(x, n_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, -1), -2, -3)


@answers.right()
def head_scores_by_reshape(x, w_q, w_k, n_heads):
    query, key = heads_of(x @ w_q, n_heads), heads_of(x @ w_k, n_heads)
    return query @ key.mT / math.sqrt(query.shape[-1])


@answers.right()
def head_scores_head_by_head(x, w_q, w_k, n_heads):
    d_head = x.shape[-1] // n_heads
    found = []
    for i in range(n_heads):
        own = slice(i * d_head, (i + 1) * d_head)
        found.append((x @ w_q[:, own]) @ (x @ w_k[:, own]).mT / d_head**0.5)
    return np.stack(found, axis=-3)


@answers.right()
def head_scores_by_einsum(x, w_q, w_k, n_heads):
    query, key = ((x @ w).reshape(*x.shape[:-1], n_heads, -1) for w in (w_q, w_k))
    return np.einsum("...ihc,...jhc->...hij", query, key) / query.shape[-1] ** 0.5


def scores(x, w_q, w_k, n_heads, scale, heads=heads_of):
    return heads(x @ w_q, n_heads) @ heads(x @ w_k, n_heads).mT / scale


answers.wrong(
    "the model's width instead of the head's",
    function=lambda x, w_q, w_k, n_heads: scores(x, w_q, w_k, n_heads, math.sqrt(x.shape[-1])),
)
answers.wrong("no scale", function=lambda x, w_q, w_k, n_heads: scores(x, w_q, w_k, n_heads, 1))
answers.wrong(
    "number of heads instead of their size",
    function=lambda x, w_q, w_k, n_heads: scores(x, w_q, w_k, n_heads, math.sqrt(n_heads)),
)
answers.wrong(
    "scores transposed",
    function=lambda x, w_q, w_k, n_heads: head_scores_by_reshape(x, w_k, w_q, n_heads),
)
answers.wrong(
    "w_q for both",
    function=lambda x, w_q, w_k, n_heads: head_scores_by_reshape(x, w_q, w_q, n_heads),
)
answers.wrong(
    "reshaped without moving the heads",
    function=lambda x, w_q, w_k, n_heads: scores(
        x,
        w_q,
        w_k,
        n_heads,
        math.sqrt(x.shape[-1] // n_heads),
        lambda y, n_heads: y.reshape(*y.shape[:-2], n_heads, y.shape[-2], -1),
    ),
)
answers.wrong(
    "every n-th feature for a head",
    function=lambda x, w_q, w_k, n_heads: scores(
        x,
        w_q,
        w_k,
        n_heads,
        math.sqrt(x.shape[-1] // n_heads),
        lambda y, n_heads: np.moveaxis(y.reshape(*y.shape[:-1], -1, n_heads), -1, -3),
    ),
)
answers.wrong(
    "heads added up",
    function=lambda x, w_q, w_k, n_heads: head_scores_by_reshape(x, w_q, w_k, n_heads).sum(axis=-3),
)
answers.wrong(
    "the model's width instead of the head's",
    "scores transposed",
    function=lambda x, w_q, w_k, n_heads: scores(x, w_k, w_q, n_heads, math.sqrt(x.shape[-1])),
)


@answers.wrong("x cut before the projection")
def head_scores_of_blocks_of_x(x, w_q, w_k, n_heads):
    d_head = x.shape[-1] // n_heads
    found = []
    for i in range(n_heads):
        own = slice(i * d_head, (i + 1) * d_head)
        query, key = x[..., own] @ w_q[own, own], x[..., own] @ w_k[own, own]
        found.append(query @ key.mT / math.sqrt(d_head))
    return np.stack(found, axis=-3)


@answers.wrong("heads of one position compared")
def head_scores_without_moving(x, w_q, w_k, n_heads):
    query, key = ((x @ w).reshape(*x.shape[:-1], n_heads, -1) for w in (w_q, w_k))
    return attnlib.raw_scores(query, key)


@answers.wrong("x cut before the projection")
def head_scores_of_blocks_of_rows(x, w_q, w_k, n_heads):
    pairs = zip(np.split(x, n_heads, axis=-1), np.split(w_q, n_heads), np.split(w_k, n_heads))
    return np.stack(
        [attnlib.raw_scores(block @ query, block @ key) for block, query, key in pairs], axis=-3
    )


@answers.wrong("heads last")
def head_scores_with_heads_last(x, w_q, w_k, n_heads):
    query, key = ((x @ w).reshape(*x.shape[:-1], n_heads, -1) for w in (w_q, w_k))
    return np.einsum("...ihc,...jhc->...ijh", query, key) / math.sqrt(query.shape[-1])


def of_heads(x, w_q, w_k, n_heads, size=None):
    shape = *x.shape[:-1], n_heads, x.shape[-1] // n_heads
    query, key = (np.swapaxes((x @ w).reshape(shape), -2, -3) for w in (w_q, w_k))
    return query @ np.swapaxes(key, -1, -2) / (size or shape[-1]) ** 0.5


answers.wrong(
    "number of positions instead of the head's size",
    function=lambda x, w_q, w_k, n_heads: of_heads(x, w_q, w_k, n_heads, x.shape[-2]),
)
answers.wrong(
    "only one projection",
    function=lambda x, w_q, w_k, n_heads: of_heads(
        x, w_q, np.eye(len(w_k), dtype=x.dtype), n_heads
    ),
)
answers.wrong(
    "causal mask added",
    function=lambda x, w_q, w_k, n_heads: np.where(
        np.tri(x.shape[-2], dtype=bool), of_heads(x, w_q, w_k, n_heads), -np.inf
    ).astype(x.dtype),
)


@answers.wrong("scores transposed")
def scores_of_keys_with_queries(x, w_q, w_k, n_heads):
    shape = x.shape[:-1] + (n_heads, x.shape[-1] // n_heads)
    q = (x @ w_q).reshape(shape)
    k = (x @ w_k).reshape(shape)
    return np.einsum("...ihc,...jhc->...hji", q, k) / math.sqrt(shape[-1])


@answers.wrong("number of heads instead of their size", "softmax already applied")
def weights_of_heads(x, w_q, w_k, n_heads):
    shape = x.shape[:-1] + (n_heads, x.shape[-1] // n_heads)
    q = np.swapaxes((x @ w_q).reshape(shape), -3, -2)
    k = np.swapaxes((x @ w_k).reshape(shape), -3, -2)
    return attnlib.softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(n_heads))


@answers.wrong("x cut before the projection")
def blocks_of_x(x, w_q, w_k, n_heads):
    size = x.shape[-1] // n_heads
    found = []
    for start in range(0, x.shape[-1], size):
        part = x[..., start : start + size]
        query, key = (part @ w[start : start + size] for w in (w_q, w_k))
        found.append(query @ np.swapaxes(key, -1, -2) * size**-0.5)
    return np.stack(found, axis=-3)


@answers.wrong("blocks that overlap")
def scores_of_neighbouring_slices(x, w_q, w_k, n_heads):
    d = x.shape[-1] // n_heads
    q, k = x @ w_q, x @ w_k
    found = [q[..., h : h + d] @ k[..., h : h + d].mT / math.sqrt(d) for h in range(n_heads)]
    return np.stack(found, axis=-3)
