"""Answers to cross_attention, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("cross_attention")


def soft(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attend(query, key, value):
    return soft(query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])) @ value


answers.right(lambda x, memory, w_q, w_k, w_v: attend(x @ w_q, memory @ w_k, memory @ w_v))
answers.right(
    lambda x, memory, w_q, w_k, w_v: attnlib.attention(x @ w_q, memory @ w_k, memory @ w_v)
)


@answers.right()
def cross_matrices_first(x, memory, w_q, w_k, w_v):
    scores = x @ (w_q @ w_k.T) @ memory.mT / math.sqrt(w_q.shape[1])
    return soft(scores) @ memory @ w_v  # values projected when they are mixed


@answers.right()
def cross_einsum(x, memory, w_q, w_k, w_v):
    wide = [array.astype(np.float64) for array in (x, memory, w_q, w_k, w_v)]
    q, k, v = (
        np.einsum("...nd,de->...ne", a, w) for a, w in zip((wide[0], wide[1], wide[1]), wide[2:])
    )
    weights = soft(np.einsum("...id,...jd->...ij", q, k) / np.sqrt(q.shape[-1]))
    return np.einsum("...ij,...jd->...id", weights, v).astype(x.dtype)


@answers.right()
def cross_one_position_at_a_time(x, memory, w_q, w_k, w_v):
    key, value = memory @ w_k, memory @ w_v
    rows = []
    for i in range(x.shape[-2]):
        query = x[..., i : i + 1, :] @ w_q
        rows.append(attend(query, key, value))
    return np.concatenate(rows, axis=-2)


@answers.right()
def cross_keys_and_values_at_once(x, memory, w_q, w_k, w_v):
    both = memory @ np.concatenate([w_k, w_v], axis=1)
    key, value = both[..., : w_k.shape[1]], both[..., w_k.shape[1] :]
    return attend(x @ w_q, key, value)


@answers.wrong("x and memory swapped")
def cross_other_way_round(x, memory, w_q, w_k, w_v):
    return attend(memory @ w_q, x @ w_k, x @ w_v)


@answers.wrong("keys and values from x")
def cross_self(x, memory, w_q, w_k, w_v):
    return attend(x @ w_q, x @ w_k, x @ w_v)


@answers.wrong("queries from memory")
def cross_self_of_memory(x, memory, w_q, w_k, w_v):
    return attend(memory @ w_q, memory @ w_k, memory @ w_v)


@answers.wrong("values from x")
def cross_values_from_x(x, memory, w_q, w_k, w_v):
    return attend(x @ w_q, memory @ w_k, x @ w_v)


@answers.wrong("keys from x")
def cross_keys_from_x(x, memory, w_q, w_k, w_v):
    return attend(x @ w_q, x @ w_k, memory @ w_v)


@answers.wrong("x among the keys")
def cross_concatenated(x, memory, w_q, w_k, w_v):
    both = np.concatenate([x, memory], axis=-2)
    return attend(x @ w_q, both @ w_k, both @ w_v)


@answers.wrong("projections mixed up")
def cross_matrices_swapped(x, memory, w_q, w_k, w_v):
    return attend(x @ w_k, memory @ w_q, memory @ w_v)


@answers.wrong("projections mixed up")
def cross_keys_as_values(x, memory, w_q, w_k, w_v):
    key = memory @ w_k
    return attend(x @ w_q, key, key)


@answers.wrong("input not projected")
def cross_values_as_they_are(x, memory, w_q, w_k, w_v):
    return attend(x @ w_q, memory @ w_k, memory)


@answers.wrong("input not projected")
def cross_no_matrices(x, memory, w_q, w_k, w_v):
    return attend(x, memory, memory)


@answers.wrong("x @ w.T instead of x @ w")
def cross_transposed(x, memory, w_q, w_k, w_v):
    return attend(x @ w_q.T, memory @ w_k.T, memory @ w_v.T)


@answers.wrong("projected twice")
def cross_twice(x, memory, w_q, w_k, w_v):
    return attend(x @ w_q, memory @ w_k, memory @ w_v) @ w_v


@answers.wrong("sqrt(d_x) instead of sqrt(d_k)")
def cross_scaled_by_x(x, memory, w_q, w_k, w_v):
    return soft(x @ w_q @ (memory @ w_k).mT / math.sqrt(x.shape[-1])) @ (memory @ w_v)


@answers.wrong("sqrt(d_memory) instead of sqrt(d_k)")
def cross_scaled_by_memory(x, memory, w_q, w_k, w_v):
    return soft(x @ w_q @ (memory @ w_k).mT / math.sqrt(len(w_k))) @ (memory @ w_v)


@answers.wrong("no scale")
def cross_unscaled(x, memory, w_q, w_k, w_v):
    return soft(x @ w_q @ (memory @ w_k).mT) @ (memory @ w_v)


@answers.wrong("float64 leaks out")
def cross_leaking(x, memory, w_q, w_k, w_v):
    return soft(x @ w_q @ (memory @ w_k).mT / np.sqrt(w_q.shape[-1])) @ (memory @ w_v)


@answers.wrong("softmax over the queries' axis")
def cross_other_axis(x, memory, w_q, w_k, w_v):
    return soft(x @ w_q @ (memory @ w_k).mT / math.sqrt(w_q.shape[-1]), axis=-2) @ (memory @ w_v)


@answers.wrong(".T on a batched array")
def cross_dot_t(x, memory, w_q, w_k, w_v):
    return soft(x @ w_q @ (memory @ w_k).T / math.sqrt(w_q.shape[-1])) @ (memory @ w_v)


@answers.wrong("input added")
def cross_residual(x, memory, w_q, w_k, w_v):
    return x + attend(x @ w_q, memory @ w_k, memory @ w_v)


@answers.wrong("causal mask applied")
def cross_causal(x, memory, w_q, w_k, w_v):
    scores = x @ w_q @ (memory @ w_k).mT / math.sqrt(w_q.shape[-1])
    return soft(np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)) @ (memory @ w_v)


@answers.wrong("x and memory swapped", "no scale")
def cross_swapped_and_unscaled(x, memory, w_q, w_k, w_v):
    return soft(memory @ w_q @ (x @ w_k).mT) @ (x @ w_v)


@answers.wrong("no maximum subtracted")
def cross_naive(x, memory, w_q, w_k, w_v):
    e = np.exp(x @ w_q @ (memory @ w_k).mT / math.sqrt(w_q.shape[-1]))
    return e / e.sum(-1, keepdims=True) @ (memory @ w_v)


@answers.wrong("no scale", "output transposed")
def cross_transposed_and_unscaled(x, memory, w_q, w_k, w_v):
    return np.swapaxes(soft(x @ w_q @ (memory @ w_k).mT) @ (memory @ w_v), -1, -2)


@answers.wrong("input added")
def cross_with_a_residual_where_it_fits(x, memory, w_q, w_k, w_v):
    scores = (x @ w_q) @ np.swapaxes(memory @ w_k, -1, -2) / w_q.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out = powers / powers.sum(axis=-1, keepdims=True) @ (memory @ w_v)
    return x + out if x.shape == out.shape else out


@answers.wrong("queries added")
def cross_with_its_queries_added(x, memory, w_q, w_k, w_v):
    query = x @ w_q
    scores = query @ np.swapaxes(memory @ w_k, -1, -2) / w_q.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out = powers / powers.sum(axis=-1, keepdims=True) @ (memory @ w_v)
    return out + query if query.shape == out.shape else out
