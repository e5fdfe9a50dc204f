"""Answers to the exercises of "Raw scores", written as learners write them."""

import functools
import math

import numpy as np

import attnlib
from attnlib.exercises.engine.prove import Answers

ANSWERS = answers = Answers()

# ---------------------------------------------------------------- dot_score

answers.right("dot_score", lambda query, key: query @ key)
answers.right("dot_score", np.dot)
answers.right("dot_score", lambda q, k: float(np.sum(q * k)))
answers.right("dot_score", lambda *args: np.einsum("i,i", *args))
answers.right("dot_score", functools.partial(np.inner))


@answers.right("dot_score")
def dot_by_loop(query, key):
    total = 0.0
    for q, k in zip(query, key):
        total += q * k
    return total


@answers.right("dot_score")
def dot_by_python_sum(query, key):
    return sum(q * k for q, k in zip(query.tolist(), key.tolist()))


@answers.wrong("dot_score", "not summed")
def dot_elementwise(query, key):
    return query * key


@answers.wrong("dot_score", "scaled already")
def dot_scaled(query, key):
    return np.dot(query, key) / np.sqrt(query.shape[0])


@answers.wrong("dot_score", "cosine instead of dot product")
def dot_cosine(query, key):
    return query @ key / (np.sqrt(np.sum(query**2)) * np.sqrt(np.sum(key**2)))


@answers.wrong("dot_score", "outer product")
def dot_outer(query, key):
    return query[:, None] * key[None, :]


@answers.wrong("dot_score", "mean instead of sum")
def dot_mean(query, key):
    return np.mean(query * key)


@answers.wrong("dot_score", "distance instead of dot product")
def dot_distance(query, key):
    return np.linalg.norm(query - key)


@answers.wrong("dot_score", "product of the sums")
def dot_sums(query, key):
    total = 0
    for q in query:
        for k in key:
            total += q * k
    return total


@answers.wrong("dot_score", "axis kept")
def dot_keepdims(query, key):
    return np.sum(query * key, keepdims=True)


@answers.wrong("dot_score", "scaled already", "absolute value")
def dot_scaled_absolute(query, key):
    return np.abs(query * key).sum() / math.sqrt(len(query))


@answers.wrong("dot_score", "one product left out")
def dot_skips_the_first(query, key):
    return sum(query[i] * key[i] for i in range(1, len(query)))


# ---------------------------------------------------------------- raw_scores

answers.right("raw_scores", attnlib.raw_scores)


@answers.right("raw_scores")
def scores_by_einsum(query, key):
    return np.einsum("...id,...jd->...ij", query, key) / query.shape[-1] ** 0.5


@answers.right("raw_scores")
def scores_query_scaled_first(query, key):
    return (query / math.sqrt(query.shape[-1])) @ key.mT


@answers.right("raw_scores")
def scores_upcast(query, key):
    wide = query.astype(np.float64) @ np.swapaxes(key.astype(np.float64), -1, -2)
    return (wide / np.sqrt(query.shape[-1])).astype(query.dtype)


@answers.right("raw_scores")
def scores_by_broadcasting(query, key, scale=None):
    scale = scale or float(1 / np.sqrt(query.shape[-1]))
    return (query[..., :, None, :] * key[..., None, :, :]).sum(-1) * scale


@answers.right("raw_scores")
def scores_by_loops(query, key):
    out = np.empty((*query.shape[:-1], key.shape[-2]), query.dtype)
    for index in np.ndindex(*query.shape[:-2]):
        for i in range(query.shape[-2]):
            for j in range(key.shape[-2]):
                out[index + (i, j)] = np.dot(query[index][i], key[index][j]) / math.sqrt(query.shape[-1])
    return out


@answers.right("raw_scores")
def scores_by_moveaxis_in_place(query, key):
    result = np.matmul(query, np.moveaxis(key, -1, -2))
    result *= 1 / math.sqrt(key.shape[-1])
    return result


@answers.wrong("raw_scores", "float64 leaks out")
def scores_numpy_root(query, key):
    return query @ key.swapaxes(-1, -2) / np.sqrt(key.shape[-1])


@answers.wrong("raw_scores", "no scale")
def scores_unscaled(query, key):
    return np.einsum("...id,...jd->...ij", query, key)


@answers.wrong("raw_scores", "no scale", ".T on a batched array")
def scores_unscaled_two_axes(query, key):
    return query @ key.T


@answers.wrong("raw_scores", ".T on a batched array")
def scores_dot_t(query, key):
    return np.dot(query, key.T) / query.shape[-1] ** 0.5


@answers.wrong("raw_scores", "d_k instead of sqrt(d_k)")
def scores_over_d(query, key):
    d_k = key.shape[-1]
    return np.matmul(query, key.mT) / d_k


@answers.wrong("raw_scores", "d_k instead of sqrt(d_k)")
def scores_scaled_twice(query, key):
    root = math.sqrt(key.shape[-1])
    return (query / root) @ (key / root).mT


@answers.wrong("raw_scores", "multiplied by sqrt(d_k)")
def scores_times_root(query, key):
    return query @ key.mT * query.shape[-1] ** 0.5


@answers.wrong("raw_scores", "sqrt(n_k) instead of sqrt(d_k)")
def scores_root_n_k(query, key):
    scores = query @ key.mT
    return scores / math.sqrt(scores.shape[-1])


@answers.wrong("raw_scores", "d_k read from the first axis", "float64 leaks out")
def scores_root_length(query, key):
    return query @ key.mT / np.sqrt(len(query))


@answers.wrong("raw_scores", "1/2 instead of a square root")
def scores_precedence(query, key):
    return query @ key.mT / query.shape[-1] ** 1 / 2


@answers.wrong("raw_scores", "d_k read from the second axis")
def scores_second_axis(query, key):
    return query @ np.swapaxes(key, -2, -1) / math.sqrt(query.shape[1])


@answers.wrong("raw_scores", "K Qᵀ instead of Q Kᵀ")
def scores_keys_first(query, key):
    return key @ query.mT / math.sqrt(key.shape[-1])


@answers.wrong("raw_scores", "K Qᵀ instead of Q Kᵀ", "no scale")
def scores_keys_first_unscaled(query, key):
    return np.einsum("...jd,...id->...ji", key, query)


@answers.wrong("raw_scores", "no transpose")
def scores_no_transpose(query, key):
    return np.matmul(query, key) / math.sqrt(query.shape[-1])


@answers.wrong("raw_scores", "no transpose", "no scale")
def scores_no_transpose_unscaled(query, key):
    return query @ key


@answers.wrong("raw_scores", "reshape instead of transpose")
def scores_reshape(query, key):
    *batch, n, d = key.shape
    return query @ key.reshape(*batch, d, n) / math.sqrt(d)


@answers.wrong("raw_scores", "elementwise product")
def scores_elementwise(query, key):
    return query * key / math.sqrt(query.shape[-1])


@answers.wrong("raw_scores", "cosine instead of dot product")
def scores_cosine(query, key):
    q = query / np.linalg.norm(query, axis=-1, keepdims=True)
    k = key / np.linalg.norm(key, axis=-1, keepdims=True)
    return q @ k.mT


@answers.wrong("raw_scores", "summed over the batch")
def scores_batch_mixed(query, key):
    if query.ndim == 2:
        return query @ key.T / math.sqrt(query.shape[-1])
    letters = "abc"[: query.ndim - 2]
    return np.einsum(f"{letters}id,{letters}jd->ij", query, key) / math.sqrt(query.shape[-1])


@answers.wrong("raw_scores", "only for two axes")
def scores_unpacks_two(query, key):
    n_q, d_k = query.shape
    n_k, _ = key.shape
    out = np.zeros((n_q, n_k), query.dtype)
    for i in range(n_q):
        for j in range(n_k):
            out[i, j] = query[i] @ key[j] / math.sqrt(d_k)
    return out


@answers.wrong("raw_scores", "only for two axes", "float64 leaks out")
def scores_zeros_two(query, key):
    out = np.zeros((query.shape[0], key.shape[0]))
    for i, q in enumerate(query):
        for j, k in enumerate(key):
            out[i, j] = sum(q * k) / math.sqrt(len(q))
    return out


@answers.wrong("raw_scores", "only for two axes", "no scale")
def scores_einsum_two(query, key):
    return np.einsum("id,jd->ij", query, key)


@answers.wrong("raw_scores", "softmax already applied")
def scores_softmax(query, key):
    s = query @ key.mT / math.sqrt(query.shape[-1])
    e = np.exp(s)
    return e / e.sum(-1, keepdims=True)


@answers.wrong("raw_scores", "argument overwritten")
def scores_overwrite(query, key):
    query /= math.sqrt(query.shape[-1])
    return query @ key.mT


@answers.wrong("raw_scores", "list instead of an array")
def scores_list(query, key):
    return (query @ key.mT / math.sqrt(query.shape[-1])).tolist()


@answers.wrong("raw_scores", "extra value returned")
def scores_and_shape(query, key):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return scores, scores.shape


@answers.wrong("raw_scores", "narrower dtype")
def scores_float32(query, key):
    scores = query.astype(np.float32) @ key.mT.astype(np.float32) / math.sqrt(query.shape[-1])
    return scores.astype(np.float16) if query.dtype == np.float16 else scores


@answers.wrong("raw_scores", "computed in lower precision")
def scores_float32_inside(query, key):
    q, k = query.astype(np.float32), key.astype(np.float32)
    return (q @ k.mT / math.sqrt(q.shape[-1])).astype(query.dtype)


@answers.wrong("raw_scores", "right to some digits only")
def scores_epsilon_of_16(query, key):
    return query @ key.mT / (math.sqrt(query.shape[-1]) + 16e-8)


@answers.wrong("raw_scores", "right to some digits only")
def scores_rounded_root(query, key):
    return query @ key.mT / round(math.sqrt(query.shape[-1]), 6)


@answers.wrong("raw_scores", "no return")
def scores_no_return(query, key):
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # noqa: F841


@answers.wrong("raw_scores", "printed instead of returned")
def scores_printed(query, key):
    print(query @ key.mT / math.sqrt(query.shape[-1]))


@answers.wrong("raw_scores", "another answer each time")
def scores_noisy(query, key):
    return query @ key.mT / math.sqrt(query.shape[-1]) + np.random.normal(size=(query.shape[-2], key.shape[-2]))


@answers.wrong("raw_scores", "the answer cubed")
def scores_cubed(query, key):
    return (query @ key.mT / math.sqrt(query.shape[-1])) ** 3


@answers.wrong("raw_scores")
def scores_zeros(query, key):
    return np.zeros((*query.shape[:-1], key.shape[-2]), query.dtype)


# ---------------------------------------------------------------- score_variance

answers.right("score_variance", lambda d_k, std_query, std_key: d_k * std_query**2 * std_key**2)
answers.right("score_variance", lambda d, a, b: d * (a * b) ** 2)
answers.right("score_variance", lambda d, a, b: np.float64(d) * np.square(a) * np.square(b))


@answers.right("score_variance")
def variance_by_loop(d_k, std_query, std_key):
    return sum(std_query**2 * std_key**2 for _ in range(d_k))


@answers.wrong("score_variance", "standard deviation instead of variance")
def variance_root(d_k, std_query, std_key):
    return np.sqrt(d_k) * std_query * std_key


@answers.wrong("score_variance", "standard deviations not squared")
def variance_not_squared(d_k, std_query, std_key):
    return d_k * std_query * std_key


@answers.wrong("score_variance", "no factor d_k")
def variance_of_the_scaled(d_k, std_query, std_key):
    return (d_k * std_query**2 * std_key**2) / d_k


@answers.wrong("score_variance", "variances added")
def variance_added(d_k, std_query, std_key):
    return d_k * (std_query**2 + std_key**2)


@answers.wrong("score_variance", "d_k squared")
def variance_d_squared(d_k, std_query, std_key):
    return (d_k * std_query * std_key) ** 2


@answers.wrong("score_variance", "key's standard deviation not squared")
def variance_precedence(d_k, std_query, std_key):
    return d_k * std_query**2 * std_key


@answers.wrong("score_variance", "1 counted besides")
def variance_and_one(d_k, std_query, std_key):
    return d_k * std_query**2 * std_key**2 + 1


@answers.wrong("score_variance", "variances added", "no factor d_k")
def variance_two(d_k, std_query, std_key):
    return std_query**2 + std_key**2


# ---------------------------------------------------------------- causal_mask, decode_mask

answers.right("causal_mask", attnlib.causal_mask)
answers.right("causal_mask", lambda n_q, n_k: np.tril(np.ones((n_q, n_k), dtype=bool)))
answers.right("causal_mask", lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool))
answers.right("causal_mask", lambda n_q, n_k: np.array([[j <= i for j in range(n_k)] for i in range(n_q)]))
answers.right("causal_mask", lambda n_q, n_k: np.arange(n_q)[:, None] >= np.arange(n_k))
answers.right("causal_mask", lambda n_q, n_k: ~np.triu(np.ones((n_q, n_k), bool), k=1))


@answers.wrong("causal_mask", "mask inverted")
def causal_torch_style(n_q, n_k):
    return np.triu(np.ones((n_q, n_k)), k=1).astype(bool)


@answers.wrong("causal_mask", "diagonal excluded")
def causal_strict(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), bool), k=-1)


@answers.wrong("causal_mask", "one key too many")
def causal_one_more(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), bool), k=1)


@answers.wrong("causal_mask", "the future instead of the past")
def causal_upper(n_q, n_k):
    return np.triu(np.ones((n_q, n_k), bool))


@answers.wrong("causal_mask", "n_q and n_k swapped")
def causal_swapped(n_q, n_k):
    return np.tril(np.ones((n_k, n_q), bool))


@answers.wrong("causal_mask", "square mask")
def causal_square(n_q, n_k):
    return np.tri(n_q, dtype=bool)


@answers.wrong("causal_mask", "aligned at the bottom right")
def causal_bottom_right(n_q, n_k):
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


@answers.wrong("causal_mask", "additive mask instead of boolean")
def causal_additive(n_q, n_k):
    return np.triu(np.full((n_q, n_k), -np.inf), k=1)


@answers.wrong("causal_mask", "not boolean")
def causal_floats(n_q, n_k):
    return np.tril(np.ones((n_q, n_k)))


@answers.wrong("causal_mask", "not boolean", "diagonal excluded")
def causal_strict_ints(n_q, n_k):
    mask = np.zeros((n_q, n_k), int)
    for i in range(n_q):
        for j in range(n_k):
            if j < i:
                mask[i, j] = 1
    return mask


@answers.wrong("causal_mask", "list instead of an array")
def causal_list(n_q, n_k):
    return [[j <= i for j in range(n_k)] for i in range(n_q)]


answers.right("decode_mask", lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q, dtype=bool))
answers.right("decode_mask", lambda n_q, n_k: np.arange(n_k) <= np.arange(n_k - n_q, n_k)[:, None])
answers.right("decode_mask", lambda n_q, n_k: np.tri(n_k + n_q, n_k, dtype=bool)[n_k:][:0].reshape(0, n_k)
              if n_q == 0 else np.array([[j <= i + n_k - n_q for j in range(n_k)] for i in range(n_q)]))


@answers.right("decode_mask")
def decode_from_causal_by_turning(n_q, n_k):
    return np.tril(np.ones((n_k, n_q), bool))[::-1, ::-1].T


@answers.wrong("decode_mask", "aligned at the top left")
def decode_top_left(n_q, n_k):
    return np.tril(np.ones((n_q, n_k), bool))


@answers.wrong("decode_mask", "offset never negative")
def decode_clipped(n_q, n_k):
    return np.tri(n_q, n_k, max(0, n_k - n_q), dtype=bool)


@answers.wrong("decode_mask", "offset the wrong way")
def decode_wrong_way(n_q, n_k):
    return np.tri(n_q, n_k, n_q - n_k, dtype=bool)


@answers.wrong("decode_mask", "diagonal excluded")
def decode_strict(n_q, n_k):
    return np.arange(n_k)[None] < np.arange(n_q)[:, None] + n_k - n_q


@answers.wrong("decode_mask", "one key too many")
def decode_off_by_one(n_q, n_k):
    return np.tri(n_q, n_k, n_k - n_q + 1, dtype=bool)


@answers.wrong("decode_mask", "mask inverted", "one key too many")
def decode_two(n_q, n_k):
    return np.triu(np.ones((n_q, n_k), bool), k=n_k - n_q + 2)


@answers.wrong("decode_mask", "not boolean")
def decode_numbers(n_q, n_k):
    return np.tri(n_q, n_k, n_k - n_q)


# ---------------------------------------------------------------- padding_mask

answers.right("padding_mask", attnlib.padding_mask)
answers.right("padding_mask", lambda lengths, n_k: np.arange(n_k) < lengths[:, None, None])
answers.right("padding_mask", lambda lengths, n_k: (np.arange(n_k)[None, :] < np.asarray(lengths)[:, None])[:, None, :])


@answers.right("padding_mask")
def padding_by_loop(lengths, n_k):
    mask = np.zeros((len(lengths), 1, n_k), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, 0, :n] = True
    return mask


@answers.wrong("padding_mask", "mask inverted")
def padding_inverted(lengths, n_k):
    return np.arange(n_k) >= lengths[:, None, None]


@answers.wrong("padding_mask", "one key too many")
def padding_off_by_one(lengths, n_k):
    return np.arange(n_k) <= lengths[:, None, None]


@answers.wrong("padding_mask", "axis dropped")
def padding_two_axes(lengths, n_k):
    return np.arange(n_k) < lengths[:, None]


@answers.wrong("padding_mask", "queries padded instead of keys")
def padding_rows(lengths, n_k):
    return (np.arange(n_k) < lengths[:, None])[:, :, None]


@answers.wrong("padding_mask", "padding at the front")
def padding_left(lengths, n_k):
    return np.arange(n_k) >= n_k - lengths[:, None, None]


@answers.wrong("padding_mask", "n_k ignored")
def padding_longest(lengths, n_k):
    return np.arange(max(lengths)) < lengths[:, None, None]


@answers.wrong("padding_mask", "axis kept")
def padding_four_axes(lengths, n_k):
    return np.arange(n_k) < lengths[:, None, None, None]


@answers.wrong("padding_mask", "not boolean", "axis dropped")
def padding_list_of_numbers(lengths, n_k):
    return np.array([[1.0] * n + [0.0] * (n_k - n) for n in lengths])


@answers.wrong("padding_mask", "mask inverted", "axis dropped")
def padding_inverted_two_axes(lengths, n_k):
    return ~(np.arange(n_k) < lengths[:, None])


# ---------------------------------------------------------------- mask_scores

answers.right("mask_scores", attnlib.mask_scores)
answers.right("mask_scores", lambda scores, attn_mask: np.where(attn_mask, scores, -np.inf))
answers.right("mask_scores", lambda s, m: s + np.where(m, 0.0, -np.inf).astype(s.dtype))


@answers.right("mask_scores")
def masking_by_copy(scores, attn_mask):
    out = scores.copy()
    out[~np.broadcast_to(attn_mask, scores.shape)] = -np.inf
    return out


@answers.right("mask_scores")
def masking_by_putmask(scores, attn_mask):
    out = np.array(scores)
    np.copyto(out, -math.inf, where=~attn_mask)
    return out


@answers.wrong("mask_scores", "mask inverted")
def masking_inverted(scores, attn_mask):
    return np.where(attn_mask, -np.inf, scores)


@answers.wrong("mask_scores", "masked scores set to 0")
def masking_multiplied(scores, attn_mask):
    return scores * attn_mask


@answers.wrong("mask_scores", "large negative number instead of -inf")
def masking_billion(scores, attn_mask):
    return np.where(attn_mask, scores, -1e9)


@answers.wrong("mask_scores", "large negative number instead of -inf")
def masking_finfo(scores, attn_mask):
    return np.where(attn_mask, scores, np.finfo(scores.dtype).min)


@answers.wrong("mask_scores", "large negative number instead of -inf")
def masking_billion_added(scores, attn_mask):
    return scores + (1 - attn_mask.astype(scores.dtype)) * np.array(-1e9).astype(scores.dtype)


@answers.wrong("mask_scores", "0 times infinity")
def masking_times_infinity(scores, attn_mask):
    return scores + (1 - attn_mask.astype(scores.dtype)) * -np.inf


@answers.wrong("mask_scores", "argument overwritten", "only for a mask of the scores' shape")
def masking_in_place(scores, attn_mask):
    scores[~attn_mask] = -np.inf
    return scores


@answers.wrong("mask_scores", "only for a mask of the scores' shape")
def masking_by_index(scores, attn_mask):
    out = scores.copy()
    out[attn_mask == False] = -np.inf  # noqa: E712
    return out


@answers.wrong("mask_scores", "masked scores removed")
def masking_removed(scores, attn_mask):
    return scores[attn_mask]


@answers.wrong("mask_scores", "mask added")
def masking_added(scores, attn_mask):
    return scores + attn_mask


@answers.wrong("mask_scores", "masked scores set to 0", "mask inverted")
def masking_two(scores, attn_mask):
    return scores * (1 - attn_mask.astype(scores.dtype))


@answers.wrong("mask_scores", "softmax already applied")
def masking_softmax(scores, attn_mask):
    s = np.where(attn_mask, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# ---------------------------------------------------------------- more of what learners type

for label, names, function in (
    ("dot_score", ["sign flipped"], lambda q, k: -(q @ k)),
    ("dot_score", ["sum starts at 1"], lambda q, k: functools.reduce(lambda total, i: total + q[i] * k[i], range(len(q)), 1)),
    ("dot_score", ["q · q instead of q · k"], lambda q, k: np.dot(q, q)),
    ("dot_score", ["k · k instead of q · k"], lambda q, k: (k ** 2).sum()),
    ("dot_score", ["only one vector normalised"], lambda q, k: q @ k / np.linalg.norm(k)),
    ("dot_score", ["one vector reversed"], lambda q, k: np.convolve(q, k, mode="valid")[0]),
    ("dot_score", ["trailing comma"], lambda q, k: (q @ k,)),
    ("dot_score", ["list around the answer"], lambda q, k: [q @ k]),
    ("dot_score", [], lambda q, k: 0),
    ("raw_scores", ["Q Qᵀ instead of Q Kᵀ"], lambda q, k: q @ q.mT / math.sqrt(q.shape[-1])),
    ("raw_scores", ["K Kᵀ instead of Q Kᵀ"], lambda q, k: k @ k.mT / k.shape[-1] ** 0.5),
    ("raw_scores", ["distance instead of dot product"],
     lambda q, k: np.linalg.norm(q[..., :, None, :] - k[..., None, :, :], axis=-1)),
    ("raw_scores", ["one feature left out"], lambda q, k: q[..., 1:] @ k[..., 1:].mT / q.shape[-1] ** 0.5),
    ("raw_scores", ["scale rounded to an integer"], lambda q, k: q @ k.mT / math.isqrt(q.shape[-1])),
    ("raw_scores", ["floor division"], lambda q, k: q @ k.mT // math.sqrt(q.shape[-1])),
    ("raw_scores", ["K Qᵀ instead of Q Kᵀ", "sqrt(n_k) instead of sqrt(d_k)"],
     lambda q, k: k @ q.mT / math.sqrt(k.shape[-2])),
    ("raw_scores", ["maximum already subtracted"],
     lambda q, k: (lambda s: s - s.max(-1, keepdims=True))(q @ k.mT / math.sqrt(q.shape[-1]))),
    ("raw_scores", ["only for three axes"], lambda q, k: q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])),
    ("score_variance", ["standard deviations taken as 1"], lambda d, a, b: d),
    ("score_variance", ["standard deviations to the fourth power"], lambda d, a, b: d * a ** 4 * b ** 4),
    ("score_variance", ["standard deviations added"], lambda d, a, b: d * (a + b) ** 2),
    ("score_variance", ["d_k - 1 instead of d_k"], lambda d, a, b: (d - 1) * (a * b) ** 2),
    ("score_variance", ["a factor of 2"], lambda d, a, b: 2 * d * (a * b) ** 2),
    ("score_variance", ["cut to an integer"], lambda d, a, b: int(d * (a * b) ** 2)),
    ("causal_mask", ["nothing allowed", "not boolean"], lambda n_q, n_k: np.zeros((n_q, n_k), int)),
    ("causal_mask", ["only the diagonal"], lambda n_q, n_k: np.eye(n_q, n_k, dtype=bool)),
    ("causal_mask", ["transposed"], lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool).T),
    ("decode_mask", ["turned upside down"], lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q, dtype=bool)[::-1]),
    ("decode_mask", ["only the last query moved"],
     lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool) | (np.arange(n_q)[:, None] == n_q - 1)),
    ("padding_mask", ["queries padded too"],
     lambda lengths, n: (lambda m: m[:, :, None] & m[:, None, :])(np.arange(n) < lengths[:, None])),
    ("padding_mask", ["everything allowed"], lambda lengths, n: np.ones((len(lengths), 1, n), bool)),
    ("padding_mask", ["axis dropped"], lambda lengths, n: np.arange(n) < lengths[:, None]),
    ("mask_scores", ["tiny number instead of -inf"], lambda s, m: np.where(m, s, 1e-9)),
    ("mask_scores", ["multiplied by infinity"], lambda s, m: (s * np.where(m, 1, -np.inf)).astype(s.dtype)),
    ("mask_scores", ["causal mask instead of the given one"],
     lambda s, m: np.where(np.tri(*s.shape[-2:], dtype=bool), s, -np.inf)),
    ("mask_scores", ["softmax already applied"],
     lambda s, m: (lambda p: p / np.where(p.sum(-1, keepdims=True) == 0, 1, p.sum(-1, keepdims=True)))(
         np.where(m, np.exp(s - s.max(-1, keepdims=True)), 0).astype(s.dtype))),
    ("mask_scores", ["masked scores removed"], lambda s, m: s[np.broadcast_to(m, s.shape)]),
):
    function.__name__ = "_".join(names).replace(" ", "_") or "one_number"
    answers.wrong(label, *names, function=function)


# ---------------------------------------------------------------- what has no entry

def scored(query, key):
    return query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])


for names, function in (
        (["the last query left out"], lambda q, k: scored(q[..., :-1, :], k)),
        (["the answer times 1 / d_k²"], lambda q, k: scored(q, k) / q.shape[-1] ** 2),
        (["the answer times 3"], lambda q, k: 3 * scored(q, k)),
        (["the answer too large by 2.5"], lambda q, k: scored(q, k) + q.dtype.type(2.5)),
        (["query standardised by rows"],
         lambda q, k: scored((q - q.mean(-1, keepdims=True)) / q.std(-1, keepdims=True), k)),
        (["the first sequence's key for all"], lambda q, k: scored(q, k[:1] if k.ndim > 2 else k))):
    answers.wrong("raw_scores", *names, function=function)


@answers.wrong("dot_score", "every second product left out")
def dot_every_second(query, key):
    return query[::2] @ key[::2]


@answers.wrong("dot_score", "not summed", "scaled already", "list instead of an array")
def dot_list_scaled(query, key):
    return [q * k / len(query) ** 0.5 for q, k in zip(query, key)]


@answers.wrong("score_variance", "standard deviations not squared", "variances added")
def variance_of_sums(d_k, std_query, std_key):
    return d_k * (std_query + std_key)


@answers.wrong("decode_mask", "negative end of a slice")
def decode_by_slices(n_q, n_k):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        mask[i, : n_k - n_q + i + 1] = True
    return mask


@answers.wrong("causal_mask", "the first key always hidden")
def causal_from_one(n_q, n_k):
    return (np.arange(n_k) <= np.arange(n_q)[:, None]) & (np.arange(n_k) > 0)


@answers.wrong("mask_scores", "masked scores lowered by 7")
def masked_by_seven(scores, attn_mask):
    return np.where(attn_mask, scores, scores - scores.dtype.type(7))
