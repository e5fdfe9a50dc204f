"""Answers to multi_head_attention, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("multi_head_attention")


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


@answers.right()
def multi_by_parts(x, w_q, w_k, w_v, w_o, n_heads):
    return (
        merge(attend(split(x @ w_q, n_heads), split(x @ w_k, n_heads), split(x @ w_v, n_heads)))
        @ w_o
    )


@answers.right()
def multi_sum_over_heads(x, w_q, w_k, w_v, w_o, n_heads):
    size, output = x.shape[-1] // n_heads, 0
    for i in range(n_heads):
        own = slice(i * size, (i + 1) * size)
        output = output + attend(x @ w_q[:, own], x @ w_k[:, own], x @ w_v[:, own]) @ w_o[own]
    return output


@answers.right()
def multi_einsum(x, w_q, w_k, w_v, w_o, n_heads):
    d_model = x.shape[-1]
    size = d_model // n_heads
    q, k, v = (
        np.einsum("...nm,mhd->...hnd", x, w.reshape(d_model, n_heads, size))
        for w in (w_q, w_k, w_v)
    )
    scores = np.einsum("...hid,...hjd->...hij", q, k) / np.array(math.sqrt(size), x.dtype)
    output = np.einsum("...hij,...hjd->...ihd", soft(scores), v)
    return np.einsum("...ihd,hdm->...im", output, w_o.reshape(n_heads, size, d_model))


@answers.right()
def multi_one_projection(x, w_q, w_k, w_v, w_o, n_heads):
    parts = np.split(x @ np.concatenate([w_q, w_k, w_v], axis=1), 3, axis=-1)
    return merge(attend(*(split(part, n_heads) for part in parts))) @ w_o


@answers.right()
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


@answers.wrong("d_model instead of the head's size")
def multi_scaled_by_d_model(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, size=x.shape[-1])


@answers.wrong("d_model instead of the head's size")
def multi_scaled_by_w(x, w_q, w_k, w_v, w_o, n_heads):
    size, heads = x.shape[-1] // n_heads, []
    for start in range(0, x.shape[-1], size):
        q, k, v = ((x @ w)[..., start : start + size] for w in (w_q, w_k, w_v))
        heads.append(soft(q @ k.mT / math.sqrt(len(w_q))) @ v)
    return np.concatenate(heads, axis=-1) @ w_o


@answers.wrong("d_model instead of the head's size", "heads merged by a reshape alone")
def multi_scale_and_merge(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(
        x,
        (w_q, w_k, w_v, w_o),
        n_heads,
        size=x.shape[-1],
        merge=lambda heads: heads.reshape(x.shape),
    )


@answers.wrong("no scale")
def multi_unscaled(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, size=1)


@answers.wrong("no scale", "no maximum subtracted")
def multi_bare(x, w_q, w_k, w_v, w_o, n_heads):
    e = np.exp(split(x @ w_q, n_heads) @ split(x @ w_k, n_heads).mT)
    return merge(e / e.sum(-1, keepdims=True) @ split(x @ w_v, n_heads)) @ w_o


@answers.wrong("heads split by a reshape alone")
def multi_split_by_reshape(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(
        x,
        (w_q, w_k, w_v, w_o),
        n_heads,
        split=lambda a, h: a.reshape(*a.shape[:-2], h, a.shape[-2], -1),
    )


@answers.wrong("heads split by a reshape alone", "heads merged by a reshape alone")
def multi_reshapes(x, w_q, w_k, w_v, w_o, n_heads):
    *batch, n, d_model = x.shape
    q, k, v = ((x @ w).reshape(*batch, n_heads, n, d_model // n_heads) for w in (w_q, w_k, w_v))
    return attend(q, k, v).reshape(*batch, n, d_model) @ w_o


@answers.wrong("heads merged by a reshape alone")
def multi_merge_by_reshape(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, merge=lambda heads: heads.reshape(x.shape))


@answers.wrong("attention between heads instead of positions")
def multi_between_heads(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = ((x @ w).reshape(*x.shape[:-1], n_heads, -1) for w in (w_q, w_k, w_v))
    return attend(q, k, v).reshape(x.shape) @ w_o


@answers.wrong("no output projection")
def multi_no_output(x, w_q, w_k, w_v, w_o, n_heads):
    return merge(attend(*(split(x @ w, n_heads) for w in (w_q, w_k, w_v))))


@answers.wrong("one head over all features")
def multi_single(x, w_q, w_k, w_v, w_o, n_heads):
    return attend(x @ w_q, x @ w_k, x @ w_v) @ w_o


@answers.wrong("one head over all features")
def multi_split_too_late(x, w_q, w_k, w_v, w_o, n_heads):
    scores = (x @ w_q) @ (x @ w_k).mT / math.sqrt(x.shape[-1] // n_heads)
    heads = split(soft(scores) @ (x @ w_v), n_heads)
    return merge(heads) @ w_o


@answers.wrong("x @ w.T instead of x @ w")
def multi_like_linear(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q.T, w_k.T, w_v.T, w_o.T), n_heads)


@answers.wrong("x @ w.T instead of x @ w")
def multi_output_transposed(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o.T), n_heads)


@answers.wrong("projections mixed up")
def multi_order(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_v, w_k, w_o), n_heads)


@answers.wrong("queries and keys swapped")
def multi_queries_for_keys(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_k, w_q, w_v, w_o), n_heads)


@answers.wrong("input not projected")
def multi_values_are_x(x, w_q, w_k, w_v, w_o, n_heads):
    return merge(attend(split(x @ w_q, n_heads), split(x @ w_k, n_heads), split(x, n_heads))) @ w_o


@answers.wrong("only for one leading axis")
def multi_of_three(x, w_q, w_k, w_v, w_o, n_heads):
    b, n, d = x.shape
    q, k, v = (
        (x @ w).reshape(b, n, n_heads, d // n_heads).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v)
    )
    return attend(q, k, v).transpose(0, 2, 1, 3).reshape(b, n, d) @ w_o


@answers.wrong("only for two axes")
def multi_of_two(x, w_q, w_k, w_v, w_o, n_heads):
    n, d = x.shape
    q, k, v = (
        (x @ w).reshape(n, n_heads, d // n_heads).transpose(1, 0, 2) for w in (w_q, w_k, w_v)
    )
    return attend(q, k, v).transpose(1, 0, 2).reshape(n, d) @ w_o


@answers.wrong("softmax over the heads")
def multi_heads_compete(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, soft=lambda scores: soft(scores, -3))


@answers.wrong("input split before the projection")
def multi_blocks(x, w_q, w_k, w_v, w_o, n_heads):
    size, heads = x.shape[-1] // n_heads, []
    for i in range(n_heads):
        own = slice(i * size, (i + 1) * size)
        heads.append(attend(*(x[..., own] @ w[own, own] for w in (w_q, w_k, w_v))))
    return np.concatenate(heads, axis=-1) @ w_o


@answers.wrong("only one head")
def multi_last_head(x, w_q, w_k, w_v, w_o, n_heads):
    size = x.shape[-1] // n_heads
    for i in range(n_heads):
        own = slice(i * size, (i + 1) * size)
        output = attend(x @ w_q[:, own], x @ w_k[:, own], x @ w_v[:, own]) @ w_o[own]
    return output


@answers.wrong("input added")
def multi_residual(x, w_q, w_k, w_v, w_o, n_heads):
    return x + multi(x, (w_q, w_k, w_v, w_o), n_heads)


@answers.wrong("features dealt out in turn")
def multi_interleaved(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(
        x,
        (w_q, w_k, w_v, w_o),
        n_heads,
        split=lambda a, h: np.stack([a[..., i::h] for i in range(h)], axis=-3),
    )


def layer(turned=(), order=(0, 1, 2, 3), last=True, mix=attend):
    """A learner's function, with matrices transposed, mixed up, or forgotten."""

    def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
        given = w_q, w_k, w_v, w_o
        w_q, w_k, w_v, w_o = (given[j].T if i in turned else given[j] for i, j in enumerate(order))
        heads = mix(*(split(x @ w, n_heads) for w in (w_q, w_k, w_v)))
        return merge(heads) @ w_o if last else merge(heads)

    return multi_head_attention


for number, (name, function) in enumerate(
    (
        ("x @ w.T instead of x @ w", layer(turned=(0,))),
        ("x @ w.T instead of x @ w", layer(turned=(3,))),
        ("projections mixed up", layer(order=(0, 2, 1, 3))),
        ("projections mixed up", layer(order=(0, 1, 2, 0))),
        ("queries and keys swapped", layer(order=(1, 0, 2, 3))),
        ("no output projection", layer(last=False)),
        ("heads in reverse order", layer(mix=lambda q, k, v: attend(q, k, v)[..., ::-1, :, :])),
    )
):
    function.__name__ = f"layer_{number}"
    answers.wrong(name, function=function)


def by_reshape(x, n_heads):
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], x.shape[-1] // n_heads)


@answers.wrong("heads split by a reshape alone", "no scale")
def multi_split_by_reshape_unscaled(x, w_q, w_k, w_v, w_o, n_heads):
    return multi(x, (w_q, w_k, w_v, w_o), n_heads, size=1, split=by_reshape)


@answers.wrong("the queries with negative numbers set to 0")
def multi_queries_through_a_relu(x, w_q, w_k, w_v, w_o, n_heads):
    heads = attend(
        np.maximum(split(x @ w_q, n_heads), 0), split(x @ w_k, n_heads), split(x @ w_v, n_heads)
    )
    return merge(heads) @ w_o


@answers.wrong("matrices split by a reshape alone")
def multi_head_with_reshaped_matrices(x, w_q, w_k, w_v, w_o, n_heads):
    query, key, value = (
        x[..., None, :, :] @ w.reshape(n_heads, len(w), -1) for w in (w_q, w_k, w_v)
    )
    heads = attnlib.attention(query, key, value)
    return np.concatenate([heads[..., i, :, :] for i in range(n_heads)], axis=-1) @ w_o


@answers.wrong("blocks that overlap")
def heads_from_feature_h(x, w_q, w_k, w_v, w_o, n_heads):
    d = x.shape[-1] // n_heads
    outputs = []
    for h in range(n_heads):
        query, key, value = ((x @ w)[..., h : h + d] for w in (w_q, w_k, w_v))
        scores = query @ key.mT / d**0.5
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        outputs.append(powers / powers.sum(axis=-1, keepdims=True) @ value)
    return np.concatenate(outputs, axis=-1) @ w_o


@answers.wrong("one block of w_o for all heads")
def heads_through_the_first_rows(x, w_q, w_k, w_v, w_o, n_heads):
    d, out = x.shape[-1] // n_heads, 0
    for i in range(n_heads):
        at = slice(i * d, (i + 1) * d)
        query, key, value = (x @ w[:, at] for w in (w_q, w_k, w_v))
        scores = query @ key.mT * d**-0.5
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out = out + powers / powers.sum(axis=-1, keepdims=True) @ value @ w_o[:d]
    return out


@answers.wrong("n_heads features for each head")
def multi_head_of_the_wrong_size(x, w_q, w_k, w_v, w_o, n_heads):
    def split(y):
        return np.swapaxes(y.reshape(*y.shape[:-1], -1, n_heads), -3, -2)

    out = attnlib.attention(split(x @ w_q), split(x @ w_k), split(x @ w_v))
    return np.swapaxes(out, -3, -2).reshape(x.shape) @ w_o
