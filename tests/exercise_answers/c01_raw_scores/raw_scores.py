"""Answers to raw_scores, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("raw_scores")


answers.wrong("ready-made function", function=attnlib.raw_scores)


@answers.right()
def scores_by_einsum(query, key):
    return np.einsum("...id,...jd->...ij", query, key) / query.shape[-1] ** 0.5


@answers.right()
def scores_query_scaled_first(query, key):
    return (query / math.sqrt(query.shape[-1])) @ key.mT


@answers.right()
def scores_upcast(query, key):
    wide = query.astype(np.float64) @ np.swapaxes(key.astype(np.float64), -1, -2)
    return (wide / np.sqrt(query.shape[-1])).astype(query.dtype)


@answers.right()
def scores_by_broadcasting(query, key, scale=None):
    scale = scale or float(1 / np.sqrt(query.shape[-1]))
    return (query[..., :, None, :] * key[..., None, :, :]).sum(-1) * scale


@answers.right()
def scores_by_loops(query, key):
    out = np.empty((*query.shape[:-1], key.shape[-2]), query.dtype)
    for index in np.ndindex(*query.shape[:-2]):
        for i in range(query.shape[-2]):
            for j in range(key.shape[-2]):
                out[index + (i, j)] = np.dot(query[index][i], key[index][j]) / math.sqrt(
                    query.shape[-1]
                )
    return out


@answers.right()
def scores_by_moveaxis_in_place(query, key):
    result = np.matmul(query, np.moveaxis(key, -1, -2))
    result *= 1 / math.sqrt(key.shape[-1])
    return result


@answers.wrong("float64 leaks out")
def scores_numpy_root(query, key):
    return query @ key.swapaxes(-1, -2) / np.sqrt(key.shape[-1])


@answers.wrong("no scale")
def scores_unscaled(query, key):
    return np.einsum("...id,...jd->...ij", query, key)


@answers.wrong("no scale", ".T on a batched array")
def scores_unscaled_two_axes(query, key):
    return query @ key.T


@answers.wrong(".T on a batched array")
def scores_dot_t(query, key):
    return np.dot(query, key.T) / query.shape[-1] ** 0.5


@answers.wrong("d_k instead of sqrt(d_k)")
def scores_over_d(query, key):
    d_k = key.shape[-1]
    return np.matmul(query, key.mT) / d_k


@answers.wrong("d_k instead of sqrt(d_k)")
def scores_scaled_twice(query, key):
    root = math.sqrt(key.shape[-1])
    return (query / root) @ (key / root).mT


@answers.wrong("scores multiplied instead of divided")
def scores_times_root(query, key):
    return query @ key.mT * query.shape[-1] ** 0.5


@answers.wrong("sqrt(n_k) instead of sqrt(d_k)")
def scores_root_n_k(query, key):
    scores = query @ key.mT
    return scores / math.sqrt(scores.shape[-1])


@answers.wrong("d_k read from the first axis", "float64 leaks out")
def scores_root_length(query, key):
    return query @ key.mT / np.sqrt(len(query))


@answers.wrong("1/2 instead of a square root")
def scores_precedence(query, key):
    return query @ key.mT / query.shape[-1] ** 1 / 2


@answers.wrong("d_k read from the second axis")
def scores_second_axis(query, key):
    return query @ np.swapaxes(key, -2, -1) / math.sqrt(query.shape[1])


@answers.wrong("K Qᵀ instead of Q Kᵀ")
def scores_keys_first(query, key):
    return key @ query.mT / math.sqrt(key.shape[-1])


@answers.wrong("K Qᵀ instead of Q Kᵀ", "no scale")
def scores_keys_first_unscaled(query, key):
    return np.einsum("...jd,...id->...ji", key, query)


@answers.wrong("no transpose")
def scores_no_transpose(query, key):
    return np.matmul(query, key) / math.sqrt(query.shape[-1])


@answers.wrong("no transpose", "no scale")
def scores_no_transpose_unscaled(query, key):
    return query @ key


@answers.wrong("reshape instead of transpose")
def scores_reshape(query, key):
    *batch, n, d = key.shape
    return query @ key.reshape(*batch, d, n) / math.sqrt(d)


@answers.wrong("elementwise product")
def scores_elementwise(query, key):
    return query * key / math.sqrt(query.shape[-1])


@answers.wrong("cosine instead of dot product")
def scores_cosine(query, key):
    q = query / np.linalg.norm(query, axis=-1, keepdims=True)
    k = key / np.linalg.norm(key, axis=-1, keepdims=True)
    return q @ k.mT


@answers.wrong("reduced over the batch")
def scores_batch_mixed(query, key):
    if query.ndim == 2:
        return query @ key.T / math.sqrt(query.shape[-1])
    letters = "abc"[: query.ndim - 2]
    return np.einsum(f"{letters}id,{letters}jd->ij", query, key) / math.sqrt(query.shape[-1])


@answers.wrong("only for two axes")
def scores_unpacks_two(query, key):
    n_q, d_k = query.shape
    n_k, _ = key.shape
    out = np.zeros((n_q, n_k), query.dtype)
    for i in range(n_q):
        for j in range(n_k):
            out[i, j] = query[i] @ key[j] / math.sqrt(d_k)
    return out


@answers.wrong("only for two axes", "float64 leaks out")
def scores_zeros_two(query, key):
    out = np.zeros((query.shape[0], key.shape[0]))
    for i, q in enumerate(query):
        for j, k in enumerate(key):
            out[i, j] = sum(q * k) / math.sqrt(len(q))
    return out


@answers.wrong("only for two axes", "no scale")
def scores_einsum_two(query, key):
    return np.einsum("id,jd->ij", query, key)


@answers.wrong("softmax already applied")
def scores_softmax(query, key):
    s = query @ key.mT / math.sqrt(query.shape[-1])
    e = np.exp(s)
    return e / e.sum(-1, keepdims=True)


@answers.wrong("argument overwritten")
def scores_overwrite(query, key):
    query /= math.sqrt(query.shape[-1])
    return query @ key.mT


@answers.wrong("list instead of an array")
def scores_list(query, key):
    return (query @ key.mT / math.sqrt(query.shape[-1])).tolist()


@answers.wrong("extra value returned")
def scores_and_shape(query, key):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return scores, scores.shape


@answers.wrong("narrower dtype")
def scores_float32(query, key):
    scores = query.astype(np.float32) @ key.mT.astype(np.float32) / math.sqrt(query.shape[-1])
    return scores.astype(np.float16) if query.dtype == np.float16 else scores


@answers.wrong("computed in lower precision")
def scores_float32_inside(query, key):
    q, k = query.astype(np.float32), key.astype(np.float32)
    return (q @ k.mT / math.sqrt(q.shape[-1])).astype(query.dtype)


@answers.wrong("right to some digits only")
def scores_epsilon_of_16(query, key):
    return query @ key.mT / (math.sqrt(query.shape[-1]) + 16e-8)


@answers.wrong("right to some digits only")
def scores_rounded_root(query, key):
    return query @ key.mT / round(math.sqrt(query.shape[-1]), 6)


@answers.wrong("no return")
def scores_no_return(query, key):
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # noqa: F841


@answers.wrong("printed instead of returned")
def scores_printed(query, key):
    print(query @ key.mT / math.sqrt(query.shape[-1]))


@answers.wrong("another answer each time")
def scores_noisy(query, key):
    return query @ key.mT / math.sqrt(query.shape[-1]) + np.random.normal(
        size=(query.shape[-2], key.shape[-2])
    )


@answers.wrong("the answer cubed")
def scores_cubed(query, key):
    return (query @ key.mT / math.sqrt(query.shape[-1])) ** 3


@answers.wrong()
def scores_zeros(query, key):
    return np.zeros((*query.shape[:-1], key.shape[-2]), query.dtype)


for names, function in (
    (["Q Qᵀ instead of Q Kᵀ"], lambda q, k: q @ q.mT / math.sqrt(q.shape[-1])),
    (["K Kᵀ instead of Q Kᵀ"], lambda q, k: k @ k.mT / k.shape[-1] ** 0.5),
    (
        ["distance instead of dot product"],
        lambda q, k: np.linalg.norm(q[..., :, None, :] - k[..., None, :, :], axis=-1),
    ),
    (["one feature left out"], lambda q, k: q[..., 1:] @ k[..., 1:].mT / q.shape[-1] ** 0.5),
    (["scale rounded to an integer"], lambda q, k: q @ k.mT / math.isqrt(q.shape[-1])),
    (["floor division"], lambda q, k: q @ k.mT // math.sqrt(q.shape[-1])),
    (
        ["K Qᵀ instead of Q Kᵀ", "sqrt(n_k) instead of sqrt(d_k)"],
        lambda q, k: k @ q.mT / math.sqrt(k.shape[-2]),
    ),
    (
        ["maximum already subtracted"],
        lambda q, k: (lambda s: s - s.max(-1, keepdims=True))(q @ k.mT / math.sqrt(q.shape[-1])),
    ),
    (["only for three axes"], lambda q, k: q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])),
):
    function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(*names, function=function)


def scored(query, key):
    return query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])


for names, function in (
    (["the last query left out"], lambda q, k: scored(q[..., :-1, :], k)),
    (["the answer times 1 / d_k²"], lambda q, k: scored(q, k) / q.shape[-1] ** 2),
    (["the answer times 3"], lambda q, k: 3 * scored(q, k)),
    (["the answer too large by 2.5"], lambda q, k: scored(q, k) + q.dtype.type(2.5)),
    (
        ["query standardised by rows"],
        lambda q, k: scored((q - q.mean(-1, keepdims=True)) / q.std(-1, keepdims=True), k),
    ),
    (["the first sequence's key for all"], lambda q, k: scored(q, k[:1] if k.ndim > 2 else k)),
):
    answers.wrong(*names, function=function)


@answers.wrong("elementwise product")
def scores_star_for_at(query, key):
    return query * key.mT / math.sqrt(query.shape[-1])
