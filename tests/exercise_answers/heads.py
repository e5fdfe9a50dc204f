"""Answers to the exercises on heads, written as learners write them."""

import math

import numpy as np

from attnlib.exercises.engine.prove import Answers

ANSWERS = answers = Answers()


def soft(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attend(query, key, value):
    return soft(query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])) @ value


def split(x, n_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads), -2, -3)


def merge(heads):
    heads = np.swapaxes(heads, -2, -3)
    return heads.reshape(*heads.shape[:-2], -1)


# ---------------------------------------------------------------- split_heads

answers.right("split_heads", split)
answers.right("split_heads", lambda x, n_heads: np.stack(np.split(x, n_heads, axis=-1), axis=-3))
answers.right("split_heads", lambda x, n_heads: np.einsum(
    "...nhd->...hnd", x.reshape(x.shape[:-1] + (n_heads, x.shape[-1] // n_heads))))
answers.right("split_heads", lambda x, n_heads: x.mT.reshape(
    *x.shape[:-2], n_heads, x.shape[-1] // n_heads, x.shape[-2]).mT)


@answers.right("split_heads")
def split_loop(x, n_heads):
    *batch, n, d_model = x.shape
    size = d_model // n_heads
    heads = np.empty((*batch, n_heads, n, size), x.dtype)
    for i in range(n_heads):
        heads[..., i, :, :] = x[..., i * size : (i + 1) * size]
    return heads


@answers.wrong("split_heads", "heads split by a reshape alone")
def split_reshape(x, n_heads):
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], x.shape[-1] // n_heads)


@answers.wrong("split_heads", "heads split by a reshape alone")
def split_flat(x, n_heads):
    *batch, n, d_model = x.shape
    return np.resize(x.ravel(), (*batch, n_heads, n, d_model // n_heads))


@answers.wrong("split_heads", "heads split by a reshape alone", "only for one leading axis")
def split_reshape_of_three(x, n_heads):
    b, n, d = x.shape
    return x.reshape(b, n_heads, n, d // n_heads)


@answers.wrong("split_heads", "only for one leading axis")
def split_of_three(x, n_heads):
    b, n, d = x.shape
    return x.reshape(b, n, n_heads, d // n_heads).transpose(0, 2, 1, 3)


@answers.wrong("split_heads", "only for one leading axis")
def split_axes_from_the_front(x, n_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, -1), 1, 2)


@answers.wrong("split_heads", "only for one leading axis")
def split_first_sizes(x, n_heads):
    return x.reshape(x.shape[0], x.shape[1], n_heads, -1).transpose(0, 2, 1, 3)


@answers.wrong("split_heads", "only for two axes")
def split_of_two(x, n_heads):
    n, d = x.shape
    return x.reshape(n, n_heads, d // n_heads).transpose(1, 0, 2)


@answers.wrong("split_heads", "heads in front of the batch")
def split_list(x, n_heads):
    return np.array(np.split(x, n_heads, axis=-1))


@answers.wrong("split_heads", "heads left behind the positions")
def split_unmoved(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)


@answers.wrong("split_heads", "features dealt out in turn")
def split_strided(x, n_heads):
    return np.stack([x[..., i::n_heads] for i in range(n_heads)], axis=-3)


@answers.wrong("split_heads", "features dealt out in turn")
def split_last_two_swapped(x, n_heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, n_heads), -1, -3)


@answers.wrong("split_heads", "wrong axes swapped")
def split_wrong_axes(x, n_heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], n_heads, -1), -1, -3)


@answers.wrong("split_heads", "d_model not divided by n_heads")
def split_undivided(x, n_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, x.shape[-1]), -2, -3)


@answers.wrong("split_heads", "batch and positions run together")
def split_everything(x, n_heads):
    return x.reshape(-1, n_heads, x.shape[-1] // n_heads).swapaxes(0, 1)


@answers.wrong("split_heads", "blocks that overlap")
def split_overlapping(x, n_heads):
    return np.stack([x[..., i : i + x.shape[-1] // n_heads] for i in range(n_heads)], axis=-3)


# ---------------------------------------------------------------- merge_heads

answers.right("merge_heads", merge)
answers.right("merge_heads", lambda x: np.concatenate([x[..., i, :, :] for i in range(x.shape[-3])], axis=-1))
answers.right("merge_heads", lambda x: np.block([x[..., i, :, :] for i in range(x.shape[-3])]))
answers.right("merge_heads", lambda x: np.einsum("...hnd->...nhd", x).reshape(
    x.shape[:-3] + (x.shape[-2], x.shape[-3] * x.shape[-1])))


@answers.right("merge_heads")
def merge_loop(x):
    *batch, h, n, d = x.shape
    output = np.zeros((*batch, n, h * d), dtype=x.dtype)
    for i in range(h):
        output[..., i * d : (i + 1) * d] = x[..., i, :, :]
    return output


answers.wrong("merge_heads", "heads merged by a reshape alone", function=lambda x: x.reshape(
    *x.shape[:-3], x.shape[-2], -1))
answers.wrong("merge_heads", "heads merged by a reshape alone", function=lambda x: x.reshape(*x.shape[:-2], -1))
answers.wrong("merge_heads", "only for three axes", function=np.hstack)
answers.wrong("merge_heads", "only for three axes", function=lambda x: np.concatenate(x, axis=-1))
answers.wrong("merge_heads", "heads added", function=lambda x: x.sum(-3))
answers.wrong("merge_heads", "heads added", function=lambda x: np.mean(x, axis=-3))
answers.wrong("merge_heads", "heads put below each other", function=lambda x: np.concatenate(
    [x[..., i, :, :] for i in range(x.shape[-3])], axis=-2))
answers.wrong("merge_heads", "features dealt out in turn", function=lambda x: np.moveaxis(x, -3, -1).reshape(
    *x.shape[:-3], x.shape[-2], -1))
answers.wrong("merge_heads", "heads not joined", function=lambda x: np.swapaxes(x, -3, -2))
answers.wrong("merge_heads", "wrong axes swapped", function=lambda x: x.T.reshape(x.shape[-2], -1))
answers.wrong("merge_heads", "wrong axes swapped", function=lambda x: np.swapaxes(x, -1, -2).reshape(
    *x.shape[:-3], x.shape[-2], -1))
answers.wrong("merge_heads", "batch among the features", function=lambda x: np.swapaxes(x, -3, -2).reshape(
    x.shape[-2], -1))
answers.wrong("merge_heads", "batch and positions run together", function=lambda x: np.swapaxes(x, -3, -2).reshape(
    -1, x.shape[-3] * x.shape[-1]))


@answers.wrong("merge_heads", "only for one leading axis")
def merge_of_four(x):
    b, h, n, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, n, h * d)


@answers.wrong("merge_heads", "only for one leading axis")
def merge_axes_from_the_front(x):
    return np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[2], -1)


# ---------------------------------------------------------------- multi_head_attention

@answers.right("multi_head_attention")
def multi_by_parts(x, w_q, w_k, w_v, w_o, n_heads):
    return merge(attend(split(x @ w_q, n_heads), split(x @ w_k, n_heads), split(x @ w_v, n_heads))) @ w_o


@answers.right("multi_head_attention")
def multi_sum_over_heads(x, w_q, w_k, w_v, w_o, n_heads):
    size, output = x.shape[-1] // n_heads, 0
    for i in range(n_heads):
        own = slice(i * size, (i + 1) * size)
        output = output + attend(x @ w_q[:, own], x @ w_k[:, own], x @ w_v[:, own]) @ w_o[own]
    return output


@answers.right("multi_head_attention")
def multi_einsum(x, w_q, w_k, w_v, w_o, n_heads):
    d_model = x.shape[-1]
    size = d_model // n_heads
    q, k, v = (np.einsum("...nm,mhd->...hnd", x, w.reshape(d_model, n_heads, size)) for w in (w_q, w_k, w_v))
    scores = np.einsum("...hid,...hjd->...hij", q, k) / np.array(math.sqrt(size), x.dtype)
    output = np.einsum("...hij,...hjd->...ihd", soft(scores), v)
    return np.einsum("...ihd,hdm->...im", output, w_o.reshape(n_heads, size, d_model))


@answers.right("multi_head_attention")
def multi_one_projection(x, w_q, w_k, w_v, w_o, n_heads):
    parts = np.split(x @ np.concatenate([w_q, w_k, w_v], axis=1), 3, axis=-1)
    return merge(attend(*(split(part, n_heads) for part in parts))) @ w_o


@answers.right("multi_head_attention")
def multi_batch_loop(x, w_q, w_k, w_v, w_o, n_heads):
    sequences = x.astype(np.float64).reshape(-1, *x.shape[-2:])
    outputs = []
    for one in sequences:
        heads = zip(*(np.hsplit(one @ w, n_heads) for w in (w_q, w_k, w_v)))
        outputs.append(np.hstack([attend(*head) for head in heads]) @ w_o)
    return np.array(outputs).reshape(x.shape).astype(x.dtype)


def multi(x, matrices, n_heads, size=None, split=split, merge=merge, soft=soft):
    q, k, v = (split(x @ w, n_heads) for w in matrices[:3])
    scores = q @ k.mT / math.sqrt(size or q.shape[-1])
    return merge(soft(scores) @ v) @ matrices[3]


@answers.wrong("multi_head_attention", "d_model instead of the head's size")
def multi_scaled_by_d_model(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, size=x.shape[-1])


@answers.wrong("multi_head_attention", "d_model instead of the head's size")
def multi_scaled_by_w(x, w_q, w_k, w_v, w_o, n_heads):
    size, heads = x.shape[-1] // n_heads, []
    for start in range(0, x.shape[-1], size):
        q, k, v = ((x @ w)[..., start : start + size] for w in (w_q, w_k, w_v))
        heads.append(soft(q @ k.mT / math.sqrt(len(w_q))) @ v)
    return np.concatenate(heads, axis=-1) @ w_o


@answers.wrong("multi_head_attention", "d_model instead of the head's size", "heads merged by a reshape alone")
def multi_scale_and_merge(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, size=x.shape[-1], merge=lambda heads: heads.reshape(x.shape))


@answers.wrong("multi_head_attention", "no scale")
def multi_unscaled(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, size=1)


@answers.wrong("multi_head_attention", "no scale", "no maximum subtracted")
def multi_bare(x, w_q, w_k, w_v, w_o, n_heads):
    e = np.exp(split(x @ w_q, n_heads) @ split(x @ w_k, n_heads).mT)
    return merge(e / e.sum(-1, keepdims=True) @ split(x @ w_v, n_heads)) @ w_o


@answers.wrong("multi_head_attention", "heads split by a reshape alone")
def multi_split_by_reshape(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads,
                 split=lambda a, h: a.reshape(*a.shape[:-2], h, a.shape[-2], -1))


@answers.wrong("multi_head_attention", "heads split by a reshape alone", "heads merged by a reshape alone")
def multi_reshapes(x, w_q, w_k, w_v, w_o, n_heads):
    *batch, n, d_model = x.shape
    q, k, v = ((x @ w).reshape(*batch, n_heads, n, d_model // n_heads) for w in (w_q, w_k, w_v))
    return attend(q, k, v).reshape(*batch, n, d_model) @ w_o


@answers.wrong("multi_head_attention", "heads merged by a reshape alone")
def multi_merge_by_reshape(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, merge=lambda heads: heads.reshape(x.shape))


@answers.wrong("multi_head_attention", "attention between heads instead of positions")
def multi_between_heads(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = ((x @ w).reshape(*x.shape[:-1], n_heads, -1) for w in (w_q, w_k, w_v))
    return attend(q, k, v).reshape(x.shape) @ w_o


@answers.wrong("multi_head_attention", "no output projection")
def multi_no_output(x, w_q, w_k, w_v, w_o, n_heads):
    return merge(attend(*(split(x @ w, n_heads) for w in (w_q, w_k, w_v))))


@answers.wrong("multi_head_attention", "n_heads ignored")
def multi_single(x, w_q, w_k, w_v, w_o, n_heads):
    return attend(x @ w_q, x @ w_k, x @ w_v) @ w_o


@answers.wrong("multi_head_attention", "n_heads ignored")
def multi_split_too_late(x, w_q, w_k, w_v, w_o, n_heads):
    scores = (x @ w_q) @ (x @ w_k).mT / math.sqrt(x.shape[-1] // n_heads)
    heads = split(soft(scores) @ (x @ w_v), n_heads)
    return merge(heads) @ w_o


@answers.wrong("multi_head_attention", "x @ w.T instead of x @ w")
def multi_like_linear(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q.T, w_k.T, w_v.T, w_o.T), n_heads)


@answers.wrong("multi_head_attention", "x @ w.T instead of x @ w")
def multi_output_transposed(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o.T), n_heads)


@answers.wrong("multi_head_attention", "projections mixed up")
def multi_order(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_v, w_k, w_o), n_heads)


@answers.wrong("multi_head_attention", "queries and keys swapped")
def multi_queries_for_keys(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_k, w_q, w_v, w_o), n_heads)


@answers.wrong("multi_head_attention", "input not projected")
def multi_values_are_x(x, w_q, w_k, w_v, w_o, n_heads):
    return merge(attend(split(x @ w_q, n_heads), split(x @ w_k, n_heads), split(x, n_heads))) @ w_o


@answers.wrong("multi_head_attention", "only for one leading axis")
def multi_of_three(x, w_q, w_k, w_v, w_o, n_heads):
    b, n, d = x.shape
    q, k, v = ((x @ w).reshape(b, n, n_heads, d // n_heads).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    return attend(q, k, v).transpose(0, 2, 1, 3).reshape(b, n, d) @ w_o


@answers.wrong("multi_head_attention", "only for two axes")
def multi_of_two(x, w_q, w_k, w_v, w_o, n_heads):
    n, d = x.shape
    q, k, v = ((x @ w).reshape(n, n_heads, d // n_heads).transpose(1, 0, 2) for w in (w_q, w_k, w_v))
    return attend(q, k, v).transpose(1, 0, 2).reshape(n, d) @ w_o


@answers.wrong("multi_head_attention", "softmax over the heads")
def multi_heads_compete(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, soft=lambda scores: soft(scores, -3))


@answers.wrong("multi_head_attention", "input split before the projection")
def multi_blocks(x, w_q, w_k, w_v, w_o, n_heads):
    size, heads = x.shape[-1] // n_heads, []
    for i in range(n_heads):
        own = slice(i * size, (i + 1) * size)
        heads.append(attend(*(x[..., own] @ w[own, own] for w in (w_q, w_k, w_v))))
    return np.concatenate(heads, axis=-1) @ w_o


@answers.wrong("multi_head_attention", "only one head")
def multi_last_head(x, w_q, w_k, w_v, w_o, n_heads):
    size = x.shape[-1] // n_heads
    for i in range(n_heads):
        own = slice(i * size, (i + 1) * size)
        output = attend(x @ w_q[:, own], x @ w_k[:, own], x @ w_v[:, own]) @ w_o[own]
    return output


@answers.wrong("multi_head_attention", "input added")
def multi_residual(x, w_q, w_k, w_v, w_o, n_heads):
    return x + multi(x, (w_q, w_k, w_v, w_o), n_heads)


@answers.wrong("multi_head_attention", "features dealt out in turn")
def multi_interleaved(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads,
                 split=lambda a, h: np.stack([a[..., i::h] for i in range(h)], axis=-3))


# ---------------------------------------------------------------- grouped_query_attention

def group(query, key):
    return query.shape[-3] // key.shape[-3]


def repeat(array, times):
    return np.repeat(array, times, axis=-3)


def tile(array, times):
    return np.concatenate([array] * times, axis=-3)


answers.right("grouped_query_attention", lambda query, key, value: attend(
    query, repeat(key, group(query, key)), repeat(value, group(query, key))))


@answers.right("grouped_query_attention")
def grouped_by_broadcasting(query, key, value):
    *batch, h, n, d = query.shape
    query = query.reshape(*batch, key.shape[-3], h // key.shape[-3], n, d)
    output = attend(query, key[..., :, None, :, :], value[..., :, None, :, :])
    return output.reshape(*batch, h, n, value.shape[-1])


@answers.right("grouped_query_attention")
def grouped_loop(query, key, value):
    size = group(query, key)
    return np.stack([attend(query[..., i, :, :], key[..., i // size, :, :], value[..., i // size, :, :])
                     for i in range(query.shape[-3])], axis=-3)


@answers.right("grouped_query_attention")
def grouped_long_queries(query, key, value):
    *batch, h, n, d = query.shape
    long = query.reshape(*batch, key.shape[-3], group(query, key) * n, d)
    return attend(long, key, value).reshape(*batch, h, n, -1)


@answers.right("grouped_query_attention")
def grouped_einsum(query, key, value):
    split = query.reshape(*query.shape[:-3], key.shape[-3], group(query, key), *query.shape[-2:])
    scores = np.einsum("...hgid,...hjd->...hgij", split.astype(float), key) / np.sqrt(query.shape[-1])
    output = np.einsum("...hgij,...hjd->...hgid", soft(scores), value)
    return output.reshape(*query.shape[:-1], value.shape[-1]).astype(query.dtype)


@answers.wrong("grouped_query_attention", "tiled instead of repeated")
def grouped_tiled(query, key, value):
    return attend(query, tile(key, group(query, key)), tile(value, group(query, key)))


@answers.wrong("grouped_query_attention", "tiled instead of repeated")
def grouped_remainder(query, key, value):
    heads = np.arange(query.shape[-3]) % key.shape[-3]
    return attend(query, key[..., heads, :, :], value[..., heads, :, :])


@answers.wrong("grouped_query_attention", "tiled instead of repeated")
def grouped_the_other_way(query, key, value):
    *batch, h, n, d = query.shape
    query = query.reshape(*batch, h // key.shape[-3], key.shape[-3], n, d)
    return attend(query, key[..., None, :, :, :], value[..., None, :, :, :]).reshape(*batch, h, n, -1)


@answers.wrong("grouped_query_attention", "tiled instead of repeated", "no scale")
def grouped_tiled_unscaled(query, key, value):
    weights = soft(query @ tile(key, group(query, key)).mT)
    return weights @ tile(value, group(query, key))


@answers.wrong("grouped_query_attention", "tiled instead of repeated", "no maximum subtracted")
def grouped_tiled_bare(query, key, value):
    e = np.exp(query @ tile(key, group(query, key)).mT / math.sqrt(key.shape[-1]))
    return e / e.sum(-1, keepdims=True) @ tile(value, group(query, key))


@answers.wrong("grouped_query_attention", "no scale")
def grouped_unscaled(query, key, value):
    return soft(query @ repeat(key, group(query, key)).mT) @ repeat(value, group(query, key))


@answers.wrong("grouped_query_attention", "only for three axes")
def grouped_first_axis(query, key, value):
    times = query.shape[0] // key.shape[0]
    return attend(query, np.repeat(key, times, axis=0), np.repeat(value, times, axis=0))


@answers.wrong("grouped_query_attention", "only for one leading axis")
def grouped_second_axis(query, key, value):
    times = query.shape[1] // key.shape[1]
    return attend(query, np.repeat(key, times, axis=1), np.repeat(value, times, axis=1))


@answers.wrong("grouped_query_attention", "only for one leading axis")
def grouped_of_four(query, key, value):
    b, h, n, d = query.shape
    times = h // key.shape[1]
    return attend(query, key.repeat(times, 1), value.repeat(times, 1))


@answers.wrong("grouped_query_attention", "key heads not matched to the query heads")
def grouped_unmatched(query, key, value):
    return attend(query, key, value)


@answers.wrong("grouped_query_attention", "i // h_kv")
def grouped_divided_by_heads(query, key, value):
    heads = np.arange(query.shape[-3]) // key.shape[-3]
    return attend(query, key[..., heads, :, :], value[..., heads, :, :])


@answers.wrong("grouped_query_attention", "only one key head")
def grouped_first_head(query, key, value):
    return attend(query, key[..., :1, :, :], value[..., :1, :, :])


@answers.wrong("grouped_query_attention", "key heads averaged")
def grouped_mean(query, key, value):
    return attend(query, key.mean(-3, keepdims=True), value.mean(-3, keepdims=True))


@answers.wrong("grouped_query_attention", "query heads merged within a group")
def grouped_queries(query, key, value):
    *batch, h, n, d = query.shape
    query = query.reshape(*batch, key.shape[-3], -1, n, d).mean(axis=-3)
    return attend(query, key, value)


@answers.wrong("grouped_query_attention", "heads merged")
def grouped_merged(query, key, value):
    return merge(attend(query, repeat(key, group(query, key)), repeat(value, group(query, key))))


@answers.wrong("grouped_query_attention", "groups left apart")
def grouped_apart(query, key, value):
    *batch, h, n, d = query.shape
    query = query.reshape(*batch, key.shape[-3], -1, n, d)
    return attend(query, key[..., :, None, :, :], value[..., :, None, :, :])


@answers.wrong("grouped_query_attention", "argument overwritten")
def grouped_in_place(query, key, value):
    query *= 1 / math.sqrt(query.shape[-1])
    return soft(query @ repeat(key, group(query, key)).mT) @ repeat(value, group(query, key))

# ---------------------------------------------------------------- one step wrong of several

for number, (name, function) in enumerate((
    ("heads not split", lambda x, n_heads: x),
    ("heads in reverse order", lambda x, n_heads: split(x, n_heads)[..., ::-1, :, :]),
    ("only for one leading axis", lambda x, n_heads: x.reshape(
        -1, x.shape[-2], n_heads, x.shape[-1] // n_heads).swapaxes(1, 2)),
)):
    function.__name__ = f"split_{number}"
    answers.wrong("split_heads", name, function=function)

for number, (name, function) in enumerate((
    ("heads not joined", lambda x: x),
    ("heads merged by a reshape alone", lambda x: x.reshape(-1, x.shape[-2], x.shape[-3] * x.shape[-1])),
    ("everything on one axis", lambda x: x.reshape(-1)),
    ("heads put below each other", lambda x: np.swapaxes(x, -2, -3).reshape(*x.shape[:-3], -1, x.shape[-1])),
)):
    function.__name__ = f"merge_{number}"
    answers.wrong("merge_heads", name, function=function)


def layer(turned=(), order=(0, 1, 2, 3), last=True, mix=attend):
    """A learner's function, with matrices transposed, mixed up, or forgotten."""
    def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
        given = w_q, w_k, w_v, w_o
        w_q, w_k, w_v, w_o = (given[j].T if i in turned else given[j] for i, j in enumerate(order))
        heads = mix(*(split(x @ w, n_heads) for w in (w_q, w_k, w_v)))
        return merge(heads) @ w_o if last else merge(heads)

    return multi_head_attention


for number, (name, function) in enumerate((
    ("x @ w.T instead of x @ w", layer(turned=(0,))), ("x @ w.T instead of x @ w", layer(turned=(3,))),
    ("projections mixed up", layer(order=(0, 2, 1, 3))), ("projections mixed up", layer(order=(0, 1, 2, 0))),
    ("queries and keys swapped", layer(order=(1, 0, 2, 3))), ("no output projection", layer(last=False)),
    ("heads in reverse order", layer(mix=lambda q, k, v: attend(q, k, v)[..., ::-1, :, :])),
)):
    function.__name__ = f"layer_{number}"
    answers.wrong("multi_head_attention", name, function=function)


# ---------------------------------------------------------------- numbers in the code, and what has no entry

answers.wrong("split_heads", "number of heads fixed in the code", function=lambda x, n_heads: split(x, 8))
answers.wrong("split_heads", "wrong axes swapped", function=lambda x, n_heads: x.reshape(*x.shape[:-1], n_heads, -1).T)
answers.wrong("split_heads", "positions in reverse order", function=lambda x, n_heads: split(x, n_heads)[..., ::-1, :])
answers.wrong("merge_heads", "the last position left out", function=lambda x: merge(x)[..., :-1, :])


@answers.wrong("grouped_query_attention", "i // h_kv")
def grouped_by_quotient(query, key, value):
    h, h_kv = query.shape[-3], key.shape[-3]
    read = np.minimum(np.arange(h) // h_kv, h_kv - 1)
    return attend(query, np.take(key, read, -3), np.take(value, read, -3))


@answers.wrong("grouped_query_attention", "query times sqrt(h_kv) / sqrt(h)")
def grouped_scaled_by_groups(query, key, value):
    size = query.shape[-3] // key.shape[-3]
    return attend(query / math.sqrt(size), np.repeat(key, size, -3), np.repeat(value, size, -3))


answers.wrong("merge_heads", "only for one leading axis", function=lambda x: (
    np.concatenate([x[:, i] for i in range(x.shape[1])], axis=-1)))
answers.wrong("merge_heads", "only for one leading axis", function=lambda x: (
    np.swapaxes(x, -3, -2).reshape(x.shape[0], x.shape[-2], -1)))
