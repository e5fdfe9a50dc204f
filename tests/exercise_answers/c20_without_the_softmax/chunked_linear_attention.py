"""Answers to chunked_linear_attention, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("chunked_linear_attention")


def chunks(n, chunk):
    return [(start, start + chunk) for start in range(0, n, chunk)]


def in_chunks(
    query,
    key,
    value,
    chunk,
    spans=chunks,
    diagonal=0,
    triangle=True,
    first=False,
    inside=True,
    carry=True,
    replace=False,
    root=1.0,
    small_root=1.0,
):
    """A learner's function, with what may be wrong in it."""
    query = query / query.dtype.type(root)
    state = np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]), query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
    for start, stop in spans(query.shape[-2], chunk):
        q, k, v = (x[..., start:stop, :] for x in (query, key, value))
        products = q @ k.mT / query.dtype.type(small_root)
        products = np.tril(products, diagonal) if triangle else products
        new = k.mT @ v + (0 if replace else state)
        before = q @ (new if first else state)
        output[..., start:stop, :] = before + products @ v if inside else before
        state = new if carry else state
    return output


def wrong(*names, **how):
    answers.wrong(
        *names, function=lambda query, key, value, chunk: in_chunks(query, key, value, chunk, **how)
    )


answers.right(lambda query, key, value, chunk: in_chunks(query, key, value, chunk))


@answers.right()
def chunks_joined(query, key, value, chunk):
    state, outputs = 0.0, []
    for a, b in chunks(query.shape[-2], chunk):
        q, k, v = query[..., a:b, :], key[..., a:b, :], value[..., a:b, :]
        n = q.shape[-2]
        products = np.einsum("...id,...jd->...ij", q, k) * np.tri(n, dtype=q.dtype)
        outputs.append(products @ v + (q @ state if a else 0))
        state = state + np.einsum("...jd,...je->...de", k, v)
    return np.concatenate(outputs, axis=-2)


@answers.right()
def all_chunks_at_once(query, key, value, chunk):
    n = query.shape[-2]
    padding = [(0, 0)] * (query.ndim - 2) + [(0, -n % chunk), (0, 0)]
    q, k, v = (
        np.pad(x, padding).reshape(*x.shape[:-2], -1, chunk, x.shape[-1])
        for x in (query, key, value)
    )
    added = k.mT @ v
    states = np.cumsum(added, axis=-3) - added
    output = np.tril(q @ k.mT) @ v + q @ states
    return output.reshape(*query.shape[:-2], -1, value.shape[-1])[..., :n, :].astype(query.dtype)


@answers.right()
def position_by_position(query, key, value, chunk):
    state = np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]), np.float64)
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for i in range(query.shape[-2]):
        state += key[..., i, :, None] * value[..., i, None, :]
        output[..., i, :] = (query[..., i, :, None] * state).sum(axis=-2)
    return output


@answers.right()
def running_sums(query, key, value, chunk):
    states = np.cumsum(key[..., :, None] * value[..., None, :], axis=-3)
    return np.einsum("...nd,...nde->...ne", query, states)


@answers.right()
def numbers_alone(query, key, value, chunk):
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for place in np.ndindex(*query.shape[:-2]):
        d_k, d_v = query.shape[-1], value.shape[-1]
        state = [[0.0] * d_v for _ in range(d_k)]
        rows = zip(query[place].tolist(), key[place].tolist(), value[place].tolist())
        for i, (q, k, v) in enumerate(rows):
            for a in range(d_k):
                for b in range(d_v):
                    state[a][b] += k[a] * v[b]
            for b in range(d_v):
                output[(*place, i, b)] = sum(q[a] * state[a][b] for a in range(d_k))
    return output


@answers.wrong("an array over all pairs")
def all_of_it(query, key, value, chunk):
    return np.tril(query @ key.mT) @ value


@answers.wrong("an array over all pairs")
def chunks_out_of_a_table(query, key, value, chunk):
    products = np.tril(query @ key.mT)
    parts = [products[..., a:b, :] @ value for a, b in chunks(query.shape[-2], chunk)]
    return np.concatenate(parts, axis=-2)


@answers.wrong("an array over all pairs")
def one_mask_for_all(query, key, value, chunk):
    mask = np.tri(query.shape[-2], dtype=bool)
    state, outputs = np.zeros((key.shape[-1], value.shape[-1]), query.dtype), []
    for a, b in chunks(query.shape[-2], chunk):
        q, k, v = query[..., a:b, :], key[..., a:b, :], value[..., a:b, :]
        outputs.append(np.where(mask[a:b, a:b], q @ k.mT, 0) @ v + q @ state)
        state = state + k.mT @ v
    return np.concatenate(outputs, axis=-2)


wrong("not causal within a chunk", triangle=False)
wrong("not causal within a chunk", first=True, inside=False)
wrong("own position left out", diagonal=-1)
wrong("one position too many within a chunk", diagonal=1)
wrong("state updated before it is read", first=True)
wrong("chunk itself left out", inside=False)
wrong("earlier chunks left out", carry=False)
wrong("only the chunk before", replace=True)
wrong("own position left out", "only the chunk before", diagonal=-1, replace=True)
wrong(
    "last chunk's outputs left at 0",
    spans=lambda n, chunk: [(i * chunk, (i + 1) * chunk) for i in range(n // chunk)],
)


@answers.wrong("scaled")
def chunks_scaled(query, key, value, chunk):
    return in_chunks(query, key, value, chunk, root=math.sqrt(query.shape[-1]))


@answers.wrong("scaled within a chunk only")
def small_tables_scaled(query, key, value, chunk):
    return in_chunks(query, key, value, chunk, small_root=math.sqrt(query.shape[-1]))


@answers.wrong("last chunk's outputs missing")
def whole_chunks(query, key, value, chunk):
    outputs, state = [], 0.0
    for i in range(query.shape[-2] // chunk):
        q, k, v = (x[..., i * chunk : (i + 1) * chunk, :] for x in (query, key, value))
        outputs.append(np.tril(q @ k.mT) @ v + (q @ state if i else 0))
        state = state + k.mT @ v
    return np.concatenate(outputs, axis=-2)


@answers.wrong("only for full chunks")
def reshaped_chunks(query, key, value, chunk):
    q, k, v = (
        x.reshape(*x.shape[:-2], -1, min(chunk, x.shape[-2]), x.shape[-1])
        for x in (query, key, value)
    )
    added = k.mT @ v
    output = np.tril(q @ k.mT) @ v + q @ (np.cumsum(added, axis=-3) - added)
    return output.reshape(*query.shape[:-1], value.shape[-1]).astype(query.dtype)


@answers.wrong("state transposed")
def values_first(query, key, value, chunk):
    state, outputs = 0.0, []
    for a, b in chunks(query.shape[-2], chunk):
        q, k, v = query[..., a:b, :], key[..., a:b, :], value[..., a:b, :]
        outputs.append(np.tril(q @ k.mT) @ v + (q @ state if a else 0))
        state = state + v.mT @ k
    return np.concatenate(outputs, axis=-2)


@answers.wrong("f applied")
def chunks_of_features(query, key, value, chunk):
    def f(x):
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

    return in_chunks(f(query), f(key), value, chunk)


@answers.wrong("divided by the sum of the products")
def chunks_divided(query, key, value, chunk):
    ones = np.ones((*value.shape[:-1], 1), value.dtype)
    return in_chunks(query, key, value, chunk) / in_chunks(query, key, ones, chunk)


@answers.wrong("state carried into the next sequence")
def one_state_for_the_batch(query, key, value, chunk):
    state = np.zeros((key.shape[-1], value.shape[-1]))
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for place in np.ndindex(*query.shape[:-1]):
        state = state + np.outer(key[place], value[place])
        output[place] = query[place] @ state
    return output


@answers.wrong("last chunk's outputs left at 0")
def chunks_no_longer_than_the_sequence(query, key, value, chunk):
    n = query.shape[-2]
    chunk = min(chunk, n)
    state = np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]), value.dtype)
    output = np.zeros_like(value)
    for start in range(0, n // chunk * chunk, chunk):
        part = np.s_[..., start : start + chunk, :]
        q, k, v = query[part], key[part], value[part]
        output[part] = q @ state + np.tril(q @ k.mT) @ v
        state = state + k.mT @ v
    return output


def before_the_last_position(n, chunk):
    return [(start, start + chunk) for start in range(0, n - 1, chunk)]


def before_the_last_chunk(n, chunk):
    return [(start, start + chunk) for start in range(0, n - chunk, chunk)]


def chunks_joined_from(spans):
    def attention(query, key, value, chunk):
        state, outputs = 0.0, []
        for a, b in spans(query.shape[-2], chunk):
            q, k, v = query[..., a:b, :], key[..., a:b, :], value[..., a:b, :]
            outputs.append(np.tril(q @ k.mT) @ v + (q @ state if a else 0))
            state = state + k.mT @ v
        return np.concatenate(outputs, axis=-2)

    return attention


wrong("single last position dropped", spans=before_the_last_position)
wrong("last chunk dropped", spans=before_the_last_chunk)
answers.wrong("single last position dropped", function=chunks_joined_from(before_the_last_position))
answers.wrong("last chunk dropped", function=chunks_joined_from(before_the_last_chunk))
