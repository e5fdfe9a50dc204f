"""Answers to delta_rule, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("delta_rule")


def walk(
    query,
    key,
    value,
    beta,
    subtract=1,
    late=False,
    turned=False,
    rate=lambda beta: beta,
    recall_by=None,
    fresh=False,
    write=lambda b, v, old: b * (v - old),
    sign=1,
):
    """A learner's loop, with what may be wrong in it."""
    state = np.zeros((key.shape[-1], value.shape[-1]), query.dtype)
    output = np.zeros((len(query), value.shape[-1]), query.dtype)
    for t in range(len(query)):
        q, k, v, b = query[t], key[t], value[t], rate(beta[t])
        old = subtract * ((q if recall_by == "query" else k) @ state)
        change = np.outer(write(b, v, old), k) if turned else np.outer(k, write(b, v, old))
        if late:
            output[t] = q @ state
        state = sign * change if fresh else state + sign * change
        if not late:
            output[t] = q @ state
    return output


def wrong(*names, **how):
    answers.wrong(
        *names, function=lambda query, key, value, beta: walk(query, key, value, beta, **how)
    )


answers.right(lambda query, key, value, beta: walk(query, key, value, beta))


@answers.right()
def delta_in_place(query, key, value, beta):
    state = np.zeros((key.shape[-1], value.shape[-1]))
    outputs = []
    for q, k, v, b in zip(query, key, value, beta):
        state -= b * np.outer(k, k @ state - v)
        outputs.append(q @ state)
    return np.array(outputs, query.dtype)


@answers.right()
def delta_as_a_matrix(query, key, value, beta):
    d = key.shape[-1]
    state, outputs = np.zeros((d, value.shape[-1]), query.dtype), []
    for q, k, v, b in zip(query, key, value, beta):
        erase = np.eye(d, dtype=query.dtype) - b * k[:, None] * k[None, :]
        state = erase @ state + b * k[:, None] * v[None, :]
        outputs.append(np.einsum("d,de->e", q, state))
    return np.stack(outputs)


@answers.right()
def delta_as_a_step_of_gradient_descent(query, key, value, beta):
    state = np.zeros((value.shape[-1], key.shape[-1]), np.float64)  # the other way round
    output = np.empty((len(query), value.shape[-1]), query.dtype)
    for t in range(len(query)):
        gradient = np.outer(state @ key[t] - value[t], key[t])
        state = state - beta[t] * gradient
        output[t] = state @ query[t]
    return output


@answers.right()
def delta_solved_at_once(query, key, value, beta):
    """The errors solve a triangular system: error_t = v_t - sum of (k_t · k_j) beta_j error_j."""
    q, k, v, b = (x.astype(np.float64) for x in (query, key, value, beta))
    n = len(query)
    error = np.linalg.solve(np.eye(n) + np.tril(k @ k.T, -1) * b, v)
    return (np.tril(q @ k.T) @ (b[:, None] * error)).astype(query.dtype)


@answers.right()
def delta_numbers_alone(query, key, value, beta):
    d_k, d_v = key.shape[-1], value.shape[-1]
    state = [[0.0] * d_v for _ in range(d_k)]
    output = np.empty((len(query), d_v), query.dtype)
    rows = zip(query.tolist(), key.tolist(), value.tolist(), beta.tolist())
    for t, (q, k, v, b) in enumerate(rows):
        error = [v[j] - sum(k[i] * state[i][j] for i in range(d_k)) for j in range(d_v)]
        for i in range(d_k):
            for j in range(d_v):
                state[i][j] += b * k[i] * error[j]
        output[t] = [sum(q[i] * state[i][j] for i in range(d_k)) for j in range(d_v)]
    return output


wrong("value instead of the error", subtract=0)
wrong("sign of what is recalled flipped", subtract=-1)
wrong("sign of the error flipped", sign=-1)
wrong("recalled by the query", recall_by="query")
wrong("beta forgotten", rate=lambda beta: beta.dtype.type(1))
wrong("beta on the value only", write=lambda b, v, old: b * v - old)
wrong("beta on what is recalled only", write=lambda b, v, old: v - b * old)
wrong("1 - beta instead of beta", rate=lambda beta: 1 - beta)
wrong("sigmoid of beta", rate=lambda beta: 1 / (1 + np.exp(-beta)))
wrong("update after the output", late=True)
wrong("state transposed", turned=True)
wrong("state replaced", fresh=True)
wrong("value instead of the error", "beta forgotten", subtract=0, rate=lambda beta: 1)
wrong("value instead of the error", "update after the output", subtract=0, late=True)
wrong("beta forgotten", "update after the output", rate=lambda beta: 1, late=True)


@answers.wrong("keys normalised")
def delta_unit_keys(query, key, value, beta):
    return walk(query, key / np.linalg.norm(key, axis=-1, keepdims=True), value, beta)


@answers.wrong("scaled")
def delta_scaled(query, key, value, beta):
    return walk(query / query.dtype.type(math.sqrt(query.shape[-1])), key, value, beta)


@answers.wrong("the whole state decays")
def delta_as_a_gate(query, key, value, beta):
    state = np.zeros((key.shape[-1], value.shape[-1]), query.dtype)
    output = np.empty((len(query), value.shape[-1]), query.dtype)
    for t in range(len(query)):
        state = (1 - beta[t]) * state + beta[t] * np.outer(key[t], value[t])
        output[t] = query[t] @ state
    return output


@answers.wrong("last state for all")
def delta_read_at_the_end(query, key, value, beta):
    state = np.zeros((key.shape[-1], value.shape[-1]), query.dtype)
    for k, v, b in zip(key, value, beta):
        state = state + b * np.outer(k, v - k @ state)
    return query @ state


@answers.wrong("only the last output")
def delta_last_output(query, key, value, beta):
    return walk(query, key, value, beta)[-1]
