"""Answers to masked_attention, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("masked_attention")


def soft(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def scaled(query, key):
    return query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])


answers.wrong(
    "ready-made function",
    function=lambda query, key, value, attn_mask: attnlib.attention(query, key, value, attn_mask),
)
answers.right(
    lambda query, key, value, attn_mask: (
        np.nan_to_num(soft(np.where(attn_mask, scaled(query, key), -np.inf))) @ value
    )
)


@answers.right()
def masked_by_safe_maximum(query, key, value, attn_mask):
    scores = np.einsum("...id,...jd->...ij", query, key) / math.sqrt(query.shape[-1])
    scores = np.where(attn_mask, scores, -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(highest), 0, highest))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ value


@answers.right()
def masked_in_float64(query, key, value, attn_mask):
    q, k, v = (array.astype(np.float64) for array in (query, key, value))
    scores = q @ k.mT / np.sqrt(q.shape[-1])
    scores[~np.broadcast_to(attn_mask, scores.shape)] = -np.inf
    output = soft(scores) @ v
    output[np.isnan(output)] = 0
    return output.astype(query.dtype)


@answers.right()
def masked_row_by_row(query, key, value, attn_mask):
    scores = scaled(query, key)
    mask = np.broadcast_to(attn_mask, scores.shape)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for row in np.ndindex(*scores.shape[:-1]):
        seen = np.flatnonzero(mask[row])
        if len(seen):
            output[row] = soft(scores[row][seen]) @ value[row[:-1]][seen]
    return output


@answers.right()
def masked_finite_and_zeroed(query, key, value, attn_mask):
    scores = np.where(attn_mask, scaled(query.astype(np.float64), key), -1e30)
    return (soft(scores) * attn_mask @ value).astype(query.dtype)


@answers.right()
def masked_dead_rows_opened(query, key, value, attn_mask):
    alive = attn_mask.any(axis=-1, keepdims=True)
    weights = soft(np.where(attn_mask | ~alive, scaled(query, key), -np.inf))
    return np.where(alive, weights @ value, 0).astype(query.dtype)


@answers.right()
def masked_array(query, key, value, attn_mask):
    scores = scaled(query, key)
    scores = np.ma.masked_array(scores, ~np.broadcast_to(attn_mask, scores.shape))
    e = np.ma.exp(scores - scores.max(axis=-1)[..., None])
    return ((e / e.sum(axis=-1)[..., None]).filled(0) @ value).astype(query.dtype)


@answers.wrong("dead rows NaN")
def masked_simple(query, key, value, attn_mask):
    return soft(np.where(attn_mask, scaled(query, key), -np.inf)) @ value


@answers.wrong("dead rows NaN")
def masked_bias(query, key, value, attn_mask):
    bias = np.zeros(attn_mask.shape, query.dtype)
    bias[~attn_mask] = -np.inf
    return soft(scaled(query, key) + bias) @ value


@answers.wrong("negative number instead of -inf")
def masked_minus_1e9(query, key, value, attn_mask):
    return soft(np.where(attn_mask, scaled(query, key), -1e9)) @ value


@answers.wrong("negative number instead of -inf")
def masked_minus_10000(query, key, value, attn_mask):
    scores = scaled(query, key)
    np.putmask(scores, ~np.broadcast_to(attn_mask, scores.shape), -10000)
    return soft(scores) * attn_mask.any(-1, keepdims=True) @ value


@answers.wrong("negative number instead of -inf")
def masked_minus_1e9_in_float64(query, key, value, attn_mask):
    scores = scaled(query.astype(float), key)
    return (soft(np.where(attn_mask, scores, -1e9)) @ value).astype(query.dtype)


@answers.wrong("dead rows uniform")
def masked_lowest_float(query, key, value, attn_mask):
    scores = scaled(query, key)
    return soft(np.where(attn_mask, scores, np.finfo(scores.dtype).min)) @ value


@answers.wrong("dead rows uniform")
def masked_dead_scores_zero(query, key, value, attn_mask):
    scores = np.where(attn_mask, scaled(query, key), -np.inf)
    scores = np.where(np.isneginf(scores).all(axis=-1, keepdims=True), 0, scores)
    return soft(scores) @ value


@answers.wrong("dead rows not masked")
def masked_opened_only(query, key, value, attn_mask):
    mask = attn_mask | ~attn_mask.any(axis=-1, keepdims=True)
    return soft(np.where(mask, scaled(query, key), -np.inf)) @ value


@answers.wrong("large negative number added")
def masked_penalty(query, key, value, attn_mask):
    penalty = (1 - attn_mask.astype(query.dtype)) * -1e9
    return soft(scaled(query, key) + penalty) @ value


@answers.wrong("large negative number added", "float64 leaks out")
def masked_penalty_wide(query, key, value, attn_mask):
    return soft(scaled(query, key) + np.where(attn_mask, 0, -1e9)) @ value


@answers.wrong("dead rows not divided")
def masked_nan_to_one(query, key, value, attn_mask):
    weights = soft(np.where(attn_mask, scaled(query, key), -np.inf))
    return np.nan_to_num(weights, nan=1.0) @ value


@answers.wrong("masked scores set to 0")
def masked_multiplied(query, key, value, attn_mask):
    return soft(scaled(query, key) * attn_mask) @ value


@answers.wrong("masked scores set to 0")
def masked_zeroed_with_dead(query, key, value, attn_mask):
    weights = soft(np.where(attn_mask, scaled(query, key), 0))
    return np.where(attn_mask.any(axis=-1, keepdims=True), weights, 0) @ value


@answers.wrong("mask inverted")
def masked_inverted(query, key, value, attn_mask):
    return np.nan_to_num(soft(np.where(attn_mask, -np.inf, scaled(query, key)))) @ value


@answers.wrong("mask inverted")
def masked_filled_where_true(query, key, value, attn_mask):
    scores = scaled(query, key)
    scores[np.broadcast_to(attn_mask, scores.shape)] = -np.inf
    return np.where(attn_mask.any(-1, keepdims=True), soft(scores), 0) @ value


@answers.wrong("mask inverted", "dead rows NaN")
def masked_inverted_and_nan(query, key, value, attn_mask):
    return soft(np.where(attn_mask, -np.inf, scaled(query, key))) @ value


@answers.wrong("mask after the softmax")
def masked_weights_zeroed(query, key, value, attn_mask):
    return soft(scaled(query, key)) * attn_mask @ value


@answers.wrong("mask after the softmax")
def masked_weights_where(query, key, value, attn_mask):
    weights = soft(scaled(query, key))
    return np.einsum("...ij,...jd->...id", np.where(attn_mask, weights, 0), value)


@answers.wrong("masked keys in the maximum")
def masked_renormalised(query, key, value, attn_mask):
    weights = soft(scaled(query, key)) * attn_mask
    total = weights.sum(-1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), 0) @ value


@answers.wrong("masked keys in the maximum")
def masked_powers(query, key, value, attn_mask):
    scores = scaled(query, key)
    e = np.where(attn_mask, np.exp(scores - scores.max(-1, keepdims=True)), 0)
    return np.nan_to_num(e / e.sum(-1, keepdims=True)) @ value


@answers.wrong("masked keys in the maximum", "dead rows NaN")
def masked_renormalised_and_nan(query, key, value, attn_mask):
    weights = soft(scaled(query, key)) * attn_mask
    return weights / weights.sum(-1, keepdims=True) @ value


@answers.wrong("masked keys in the maximum", "epsilon in the denominator")
def masked_powers_and_epsilon(query, key, value, attn_mask):
    scores = scaled(query, key)
    e = np.exp(scores - scores.max(-1, keepdims=True)) * attn_mask
    return e / (e.sum(-1, keepdims=True) + 1e-9) @ value


@answers.wrong("no maximum subtracted")
def masked_without_maximum(query, key, value, attn_mask):
    e = np.exp(scaled(query, key)) * attn_mask
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ value


@answers.wrong("no maximum subtracted")
def masked_without_maximum_filled(query, key, value, attn_mask):
    e = np.exp(np.where(attn_mask, scaled(query, key), -np.inf))
    return np.nan_to_num(e / e.sum(-1, keepdims=True)) @ value


@answers.wrong("no scale")
def masked_unscaled(query, key, value, attn_mask):
    return np.nan_to_num(soft(np.where(attn_mask, query @ key.mT, -np.inf))) @ value


@answers.wrong("no scale", "dead rows NaN")
def masked_unscaled_and_nan(query, key, value, attn_mask):
    scores = np.einsum("...qd,...kd->...qk", query, key)
    return soft(np.where(attn_mask, scores, float("-inf"))) @ value


@answers.wrong("no scale", "mask ignored")
def masked_nothing(query, key, value, attn_mask):
    return soft(query @ key.mT) @ value


@answers.wrong("mask ignored")
def masked_not_at_all(query, key, value, attn_mask):
    scores = scaled(query, key)
    np.where(attn_mask, scores, -np.inf)
    return soft(scores) @ value


@answers.wrong("mask only in dead rows")
def masked_outputs_only(query, key, value, attn_mask):
    return soft(scaled(query, key)) @ value * attn_mask.any(-1, keepdims=True)


@answers.wrong("softmax over the queries' axis")
def masked_columns(query, key, value, attn_mask):
    scores = np.where(attn_mask, scaled(query, key), -np.inf)
    e = np.exp(scores - scores.max(-2, keepdims=True))
    return np.nan_to_num(e / e.sum(-2, keepdims=True)) @ value


@answers.wrong("softmax over the second axis")
def masked_axis_1(query, key, value, attn_mask):
    scores = np.where(attn_mask, scaled(query, key), -np.inf)
    e = np.exp(scores - scores.max(1, keepdims=True))
    return np.nan_to_num(e / e.sum(1, keepdims=True)) @ value


@answers.wrong("mask transposed")
def masked_transposed(query, key, value, attn_mask):
    return np.nan_to_num(soft(np.where(attn_mask.T, scaled(query, key), -np.inf))) @ value


@answers.wrong("positive number instead of -inf")
def masked_sign_of_the_exponent(query, key, value, attn_mask):
    return soft(np.where(attn_mask, scaled(query, key), 1e-9)) @ value


@answers.wrong("positive number instead of -inf")
def masked_sign_of_the_number(query, key, value, attn_mask):
    return soft(np.where(attn_mask, scaled(query, key), 1e9)) @ value


@answers.wrong("only for a mask of the scores' shape")
def masked_by_index(query, key, value, attn_mask):
    scores = scaled(query, key)
    scores[~attn_mask] = -np.inf
    return np.nan_to_num(soft(scores)) @ value


@answers.wrong(".T on a batched array")
def masked_two_axes(query, key, value, attn_mask):
    scores = query @ key.T / math.sqrt(query.shape[-1])
    return np.nan_to_num(soft(np.where(attn_mask, scores, -np.inf))) @ value


def under(mask, scores):
    """Attention's weights under a mask; a row that may attend to nothing gets zeros."""
    return np.where(
        mask.any(axis=-1, keepdims=True),
        soft(np.where(mask, scores, np.finfo(scores.dtype).min)),
        0,
    )


for number, (name, function) in enumerate(
    (
        (
            "causal mask applied",
            lambda q, k, v, m: (
                under(m & np.tri(q.shape[-2], k.shape[-2], dtype=bool), scaled(q, k)) @ v
            ),
        ),
        ("equal weights for all allowed keys", lambda q, k, v, m: under(m, 0 * scaled(q, k)) @ v),
        ("temperature applied", lambda q, k, v, m: under(m, 2 * scaled(q, k)) @ v),
    )
):
    function.__name__ = f"masked_more_{number}"
    answers.wrong(name, function=function)


def with_weights(change):
    """Attention under a mask whose weights, and the mask, a function changes."""

    def answer(query, key, value, attn_mask):
        scores = scaled(query, key)
        mask = np.broadcast_to(attn_mask, scores.shape)
        weights = np.nan_to_num(soft(np.where(mask, scores, -np.inf)))
        return (change(weights, mask) @ value).astype(query.dtype)

    return answer


@answers.wrong("everything 0 if one query may attend to nothing")
def masked_all_or_nothing(query, key, value, attn_mask):
    if not np.broadcast_to(attn_mask, (*query.shape[:-1], key.shape[-2])).any(axis=-1).all():
        return np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    return soft(np.where(attn_mask, scaled(query, key), -np.inf)) @ value


@answers.wrong("masked scores lowered by 7")
def masked_lowered(query, key, value, attn_mask):
    scores = scaled(query, key)
    mask = np.broadcast_to(attn_mask, scores.shape)
    return (
        np.where(
            mask.any(axis=-1, keepdims=True), soft(np.where(mask, scores, scores - 7)), 0
        ).astype(query.dtype)
        @ value
    )


answers.wrong(
    "the weights taken from 1",
    function=with_weights(
        lambda weights, mask: np.where(mask.any(axis=-1, keepdims=True), 1 - weights, 0)
    ),
)


@answers.wrong("negative number instead of -inf")
def masked_by_a_number_and_rescued(query, key, value, attn_mask):
    weights = soft(np.where(attn_mask, scaled(query, key), query.dtype.type(-1e4)))
    return np.where(attn_mask.any(axis=-1, keepdims=True), weights, 0).astype(query.dtype) @ value


@answers.wrong("-inf after the softmax")
def masked_weights_minus_inf(query, key, value, attn_mask):
    return np.where(attn_mask, soft(scaled(query, key)), -np.inf) @ value


@answers.wrong("-inf after the softmax")
def masked_weights_minus_1e9(query, key, value, attn_mask):
    weights = soft(scaled(query, key))
    weights[~np.broadcast_to(attn_mask, weights.shape)] = -1e9
    return weights @ value


@answers.wrong("the first row of the mask for all")
def masked_by_the_first_row(query, key, value, attn_mask):
    mask = np.broadcast_to(attn_mask, (*query.shape[:-1], key.shape[-2]))[..., :1, :]
    return np.nan_to_num(soft(np.where(mask, scaled(query, key), -np.inf))) @ value


@answers.wrong("no maximum subtracted", "dead rows uniform")
def masked_without_maximum_and_uniform(query, key, value, attn_mask):
    e = np.where(attn_mask, np.exp(scaled(query, key)), 0)
    total = e.sum(axis=-1, keepdims=True)
    return (
        np.where(total == 0, 1 / key.shape[-2], e / np.where(total == 0, 1, total)).astype(
            query.dtype
        )
        @ value
    )


@answers.wrong("no maximum subtracted", "dead rows uniform")
def masked_without_maximum_by_index(query, key, value, attn_mask):
    scores = scaled(query, key)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
    mask = np.broadcast_to(attn_mask, scores.shape)
    for row in np.ndindex(*scores.shape[:-1]):
        e = np.exp(scores[row]) * mask[row] if mask[row].any() else np.ones_like(scores[row])
        output[row] = e / e.sum() @ value[row[:-1]]
    return output


@answers.wrong("large negative number added")
def masked_by_logarithm(query, key, value, attn_mask):
    weights = soft(scaled(query, key) + np.log(attn_mask + 1e-9))
    return np.where(attn_mask.any(axis=-1, keepdims=True), weights, 0).astype(query.dtype) @ value


@answers.wrong("no scale", "output transposed")
def masked_transposed_and_unscaled(query, key, value, attn_mask):
    weights = soft(np.where(attn_mask, query @ np.swapaxes(key, -1, -2), -np.inf))
    return np.swapaxes(np.nan_to_num(weights) @ value, -1, -2)


@answers.wrong("additive mask in a boolean array")
def masked_by_a_boolean_bias(query, key, value, attn_mask):
    bias = np.zeros_like(attn_mask)
    bias[~attn_mask] = -np.inf
    scores = query @ key.mT / query.shape[-1] ** 0.5 + bias
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


@answers.wrong("dead rows judged by one key")
def masked_rows_judged_by_key_0(query, key, value, attn_mask):
    s = attnlib.raw_scores(query, key)
    m = np.broadcast_to(attn_mask, s.shape)
    out = attnlib.softmax(np.where(m, s, -np.inf)) @ value
    return out * m.any(axis=-2, keepdims=True)[..., :1]


def filled_and_zeroed(fill):
    """A number for -inf, and zeros for dead rows."""

    def answer(query, key, value, attn_mask):
        low = query.dtype.type(max(fill, np.finfo(query.dtype).min))
        weights = soft(np.where(attn_mask, scaled(query, key), low))
        return weights * attn_mask.any(axis=-1, keepdims=True) @ value

    return answer


for fill in (-1e9, -1e10, -1e20, -1e29):
    answers.wrong("negative number instead of -inf", function=filled_and_zeroed(fill))
answers.right(filled_and_zeroed(-math.inf))


@answers.wrong("negative number instead of -inf")
def masked_minus_1e20(query, key, value, attn_mask):
    weights = soft(np.where(attn_mask, scaled(query.astype(np.float64), key), -1e20))
    return (np.where(attn_mask.any(axis=-1, keepdims=True), weights, 0) @ value).astype(query.dtype)


@answers.wrong("negative number instead of -inf")
def masked_minus_1e12_alone(query, key, value, attn_mask):
    scores = scaled(query.astype(np.float64), key)
    return (soft(np.where(attn_mask, scores, -1e12)) @ value).astype(query.dtype)


@answers.wrong("large negative number added")
def masked_lowered_by_1e20(query, key, value, attn_mask):
    scores = scaled(query.astype(np.float64), key) - 1e20 * ~attn_mask
    weights = soft(scores) * attn_mask.any(axis=-1, keepdims=True)
    return (weights @ value).astype(query.dtype)


@answers.wrong("masked keys still in the sum")
def masked_minus_1e9_and_zeroed(query, key, value, attn_mask):
    scores = np.where(attn_mask, scaled(query.astype(np.float64), key), -1e9)
    return (soft(scores) * attn_mask @ value).astype(query.dtype)


@answers.wrong("masked keys still in the sum")
def masked_lowered_by_1e15_and_zeroed(query, key, value, attn_mask):
    scores = scaled(query.astype(np.float64), key) + np.where(attn_mask, 0, -1e15)
    return (np.where(attn_mask, soft(scores), 0) @ value).astype(query.dtype)


def masked_above(lowest, guarded=True):
    """The maximum is kept above a number."""

    def answer(query, key, value, attn_mask):
        scores = np.where(attn_mask, scaled(query.astype(np.float64), key), -np.inf)
        e = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), lowest))
        total = e.sum(axis=-1, keepdims=True)
        if guarded:
            weights = e / np.where(total == 0, 1, total)
        else:
            weights = np.where(attn_mask.any(axis=-1, keepdims=True), e / total, 0)
        return (weights @ value).astype(query.dtype)

    return answer


answers.right(masked_above(np.finfo(np.float64).min))
for lowest in (-1e4, -1e9, -1e20):
    answers.wrong("maximum never below a fixed number", function=masked_above(lowest))
    answers.wrong("maximum never below a fixed number", function=masked_above(lowest, False))
