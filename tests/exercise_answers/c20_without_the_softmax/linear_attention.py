"""Answers to linear_attention, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("linear_attention")


def f(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def walk(
    query,
    key,
    value,
    f_q=f,
    f_k=f,
    late=False,
    decay=1,
    divide=True,
    own_only=False,
    add=0,
    width=None,
):
    """A learner's loop over the positions, with what may be wrong in it."""
    q, k = f_q(query), f_k(key)
    state = np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]), width or query.dtype)
    total = np.zeros((*key.shape[:-2], key.shape[-1]), width or query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
    for i in range(query.shape[-2]):
        new = k[..., i, :, None] * value[..., i, None, :]
        if not late:
            state = new if own_only else decay * state + new
            total = k[..., i, :] if own_only else decay * total + k[..., i, :]
        above = np.einsum("...d,...de->...e", q[..., i, :], state)
        below = (q[..., i, :] * total).sum(-1, keepdims=True) + add
        output[..., i, :] = above / below if divide else above
        if late:
            state, total = state + new, total + k[..., i, :]
    return output


def wrong(*names, **how):
    answers.wrong(*names, function=lambda query, key, value: walk(query, key, value, **how))


answers.right(lambda query, key, value: walk(query, key, value))
answers.right(lambda query, key, value: walk(query, key, value, width=np.float64))


@answers.right()
def linear_running_sums(query, key, value):
    q, k = f(query), f(key)
    states = np.cumsum(k[..., :, None] * value[..., None, :], axis=-3)
    above = np.einsum("...nd,...nde->...ne", q, states)
    return above / (q * np.cumsum(k, axis=-2)).sum(axis=-1, keepdims=True)


@answers.right()
def linear_values_and_ones(query, key, value):
    q, k = f(query), f(key)
    ones = np.ones((*value.shape[:-1], 1), value.dtype)
    both = np.concatenate([value, ones], axis=-1)
    states = np.einsum("...nd,...ne->...nde", k, both).cumsum(axis=-3)
    both = np.einsum("...nd,...nde->...ne", q, states)
    return both[..., :-1] / both[..., -1:]


@answers.right()
def linear_in_chunks(query, key, value):
    q, k = f(query.astype(np.float64)), f(key.astype(np.float64))
    state, total, outputs = 0, 0, []
    for start in range(0, query.shape[-2], 4):
        at = (..., slice(start, start + 4), slice(None))
        products = np.tril(q[at] @ k[at].mT)
        before = q[at] @ state if start else 0
        below = (q[at] * total).sum(-1, keepdims=True) + products.sum(-1, keepdims=True)
        outputs.append((before + products @ value[at]) / below)
        state, total = state + k[at].mT @ value[at], total + k[at].sum(-2, keepdims=True)
    return np.concatenate(outputs, axis=-2).astype(query.dtype)


@answers.right()
def linear_numbers_alone(query, key, value):
    def g(x):
        return x + 1 if x > 0 else math.exp(x)

    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for place in np.ndindex(*query.shape[:-2]):
        d_k, d_v = query.shape[-1], value.shape[-1]
        state, total = [[0.0] * d_v for _ in range(d_k)], [0.0] * d_k
        rows = zip(query[place].tolist(), key[place].tolist(), value[place].tolist())
        for i, (q, k, v) in enumerate(rows):
            for a in range(d_k):
                total[a] += g(k[a])
                for b in range(d_v):
                    state[a][b] += g(k[a]) * v[b]
            below = sum(g(q[a]) * total[a] for a in range(d_k))
            for b in range(d_v):
                output[(*place, i, b)] = sum(g(q[a]) * state[a][b] for a in range(d_k)) / below
    return output


@answers.right()
def linear_a_row_at_a_time(query, key, value):
    q, k = f(query), f(key)
    rows = []
    for i in range(query.shape[-2]):
        shares = np.einsum("...d,...jd->...j", q[..., i, :], k[..., : i + 1, :])
        shares = shares / shares.sum(axis=-1, keepdims=True)
        rows.append(np.einsum("...j,...je->...e", shares, value[..., : i + 1, :]))
    return np.stack(rows, axis=-2)


def at_once(query, key, value, diagonal=0, f=f, turn=lambda products: products):
    """A learner's function with the table of all pairs, which is an array too many."""
    products = turn(f(query) @ f(key).mT)
    n = products.shape[-1]
    products = products * np.tri(n, n, diagonal, dtype=products.dtype)
    return products @ value / products.sum(axis=-1, keepdims=True)


answers.wrong("an array over all pairs", function=at_once)


@answers.wrong("epsilon in the denominator")
def linear_with_an_epsilon(query, key, value):
    q, k = f(query), f(key)
    states = np.cumsum(k[..., :, None] * value[..., None, :], axis=-3)
    above = np.einsum("...nd,...nde->...ne", q, states)
    return above / ((q * np.cumsum(k, axis=-2)).sum(axis=-1, keepdims=True) + 3e-5)


answers.wrong(
    "an array over all pairs",
    "f without the + 1",
    function=lambda query, key, value: at_once(
        query, key, value, f=lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))
    ),
)


@answers.wrong("an array over all pairs")
def linear_with_a_mask(query, key, value):
    q, k = f(query), f(key)
    mask = np.tri(query.shape[-2], dtype=bool)
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for i in range(query.shape[-2]):
        row = np.where(mask[i], np.einsum("...d,...jd->...j", q[..., i, :], k), 0)
        above = np.einsum("...j,...je->...e", row, value)
        output[..., i, :] = above / row.sum(-1, keepdims=True)
    return output


@answers.wrong("not causal")
def linear_over_everything(query, key, value):
    q, k = f(query), f(key)
    return q @ (k.mT @ value) / (q @ k.sum(axis=-2)[..., None])


@answers.wrong("denominator not causal")
def linear_denominator_of_all(query, key, value):
    q, k = f(query), f(key)
    states = np.cumsum(k[..., :, None] * value[..., None, :], axis=-3)
    return np.einsum("...nd,...nde->...ne", q, states) / (q @ k.sum(axis=-2)[..., None])


@answers.wrong("summed along the batch")
def linear_first_axis(query, key, value):
    q, k = f(query), f(key)
    states = np.cumsum(k[..., :, None] * value[..., None, :], axis=0)
    above = np.einsum("...nd,...nde->...ne", q, states)
    return above / (q * np.cumsum(k, axis=0)).sum(axis=-1, keepdims=True)


@answers.wrong("state carried into the next sequence")
def linear_without_a_new_state(query, key, value):
    q, k = f(query), f(key)
    state, total = np.zeros((key.shape[-1], value.shape[-1])), np.zeros(key.shape[-1])
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for place in np.ndindex(*query.shape[:-1]):
        state, total = state + np.outer(k[place], value[place]), total + k[place]
        output[place] = q[place] @ state / (q[place] @ total)
    return output


@answers.wrong("state transposed")
def linear_transposed(query, key, value):
    q, k = f(query), f(key)
    states = np.cumsum(value[..., :, None] * k[..., None, :], axis=-3)
    above = np.einsum("...nd,...nde->...ne", q, states)
    return above / (q * np.cumsum(k, axis=-2)).sum(axis=-1, keepdims=True)


wrong("no division", divide=False)
wrong("update after the output", late=True)
wrong("update after the output", late=True, add=1e-6)
wrong("only its own position", own_only=True)
wrong("epsilon in the denominator", add=1e-6)
wrong("no f", f_q=np.asarray, f_k=np.asarray)
wrong("f on the queries only", f_k=np.asarray)
wrong("f on the keys only", f_q=np.asarray)
for elu in (
    lambda x: np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1),
    lambda x: np.maximum(x, 0) + np.minimum(0, np.exp(np.minimum(x, 0)) - 1),
):
    wrong("f without the + 1", f_q=elu, f_k=elu)
    wrong("f without the + 1", "no division", f_q=elu, f_k=elu, divide=False)
wrong("relu instead of f", f_q=lambda x: np.maximum(x, 0), f_k=lambda x: np.maximum(x, 0))
wrong("relu + 1 instead of f", f_q=lambda x: np.maximum(x, 0) + 1, f_k=lambda x: x.clip(0) + 1)
wrong("x + 1 below 0 too", f_q=lambda x: x + 1, f_k=lambda x: x + 1)
wrong("exp everywhere", f_q=np.exp, f_k=np.exp)
wrong(
    "exp(x) + 1 instead of exp(x)",
    f_q=lambda x: np.where(x > 0, x, np.exp(x)) + 1,
    f_k=lambda x: np.where(x > 0, x, np.exp(x)) + 1,
)
wrong("scaled before f", f_q=lambda x: f(x / math.sqrt(x.shape[-1])))
wrong("scaled before f", "no division", f_q=lambda x: f(x / math.sqrt(x.shape[-1])), divide=False)
answers.right(lambda query, key, value: walk(query / 1, key, value, f_q=lambda x: f(x) / 8))


@answers.wrong("softmax attention")
def softmax_after_all(query, key, value):
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for i in range(query.shape[-2]):
        scores = np.einsum("...d,...jd->...j", query[..., i, :], key[..., : i + 1, :])
        scores = scores / math.sqrt(query.shape[-1])
        e = np.exp(scores - scores.max(-1, keepdims=True))
        weights = e / e.sum(-1, keepdims=True)
        output[..., i, :] = np.einsum("...j,...je->...e", weights, value[..., : i + 1, :])
    return output


@answers.wrong("0 times infinity")
def features_without_a_choice(query, key, value):
    def f(x):
        return (x > 0) * (x + 1) + (x <= 0) * np.exp(x)

    keys = np.cumsum(f(key), axis=-2)
    states = np.cumsum(f(key)[..., None] * value[..., None, :], axis=-3)
    sums = np.einsum("...nd,...ndv->...nv", f(query), states)
    return (sums / (f(query) * keys).sum(axis=-1, keepdims=True)).astype(query.dtype)


@answers.right()
def features_by_two_terms(query, key, value):
    def f(x):
        return np.maximum(x, 0) + np.exp(np.minimum(x, 0))

    keys = np.cumsum(f(key), axis=-2)
    states = np.cumsum(f(key)[..., None] * value[..., None, :], axis=-3)
    sums = np.einsum("...nd,...ndv->...nv", f(query), states)
    return sums / (f(query) * keys).sum(axis=-1, keepdims=True)
