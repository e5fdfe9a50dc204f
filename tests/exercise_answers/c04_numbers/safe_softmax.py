"""Answers to safe_softmax, written as learners write them."""

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("safe_softmax")


def row_plain(scores):
    e = np.exp(scores - np.max(scores))
    return e / np.sum(e)


def softmax_plain(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


answers.wrong("ready-made function", function=attnlib.softmax)


@answers.right()
def safe_by_where(scores):
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(m == -np.inf, 0, m))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@answers.right()
def safe_by_nan_to_num(scores):
    return np.nan_to_num(softmax_plain(scores))


@answers.right()
def safe_by_loop(scores):
    out = np.zeros_like(scores)
    for index in np.ndindex(scores.shape[:-1]):
        if np.isfinite(scores[index]).any():
            out[index] = row_plain(scores[index])
    return out


@answers.right()
def safe_by_divide(scores):
    lowest = np.finfo(scores.dtype).min
    e = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), lowest))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


@answers.wrong("dead rows NaN")
def safe_not(scores):
    return softmax_plain(scores)


@answers.wrong("dead rows NaN")
def safe_maximum_only(scores):
    m = scores.max(axis=-1, keepdims=True)
    m[m == -np.inf] = 0
    e = np.exp(scores - m)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("dead rows uniform")
def safe_large_negative(scores):
    return softmax_plain(np.where(np.isneginf(scores), np.finfo(scores.dtype).min, scores))


@answers.wrong("dead rows uniform")
def safe_uniform(scores):
    out = np.full_like(scores, 1 / scores.shape[-1])
    live = scores.max(axis=-1) > -np.inf
    out[live] = softmax_plain(scores[live]) if live.any() else out[live]
    return out


@answers.wrong("negative number instead of -inf")
def safe_minus_10000(scores):
    return softmax_plain(np.maximum(scores, -1e4))


@answers.wrong("masked scores set to 0")
def safe_zero_scores(scores):
    return softmax_plain(np.where(scores == -np.inf, 0, scores).astype(scores.dtype))


@answers.wrong("any -inf empties the row")
def safe_any(scores):
    dead = np.any(scores == -np.inf, axis=-1, keepdims=True)
    return np.where(dead, 0, softmax_plain(scores)).astype(scores.dtype)


@answers.wrong("epsilon in the denominator")
def safe_epsilon(scores):
    m = np.nan_to_num(scores.max(axis=-1, keepdims=True), neginf=0.0)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + 1e-6)


@answers.wrong("dead rows NaN", "epsilon in the denominator")
def safe_epsilon_alone(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-8)


@answers.wrong("one maximum for the whole array")
def safe_one_maximum(scores):
    e = np.exp(scores - max(scores.max(), np.finfo(scores.dtype).min))
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))


@answers.wrong("no maximum subtracted")
def safe_naive(scores):
    e = np.exp(scores)
    total = e.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 0, e / total).astype(scores.dtype)


@answers.wrong("only an array full of -inf treated as dead")
def safe_whole_array(scores):
    if np.all(scores == -np.inf):
        return np.zeros_like(scores)
    return softmax_plain(scores)


@answers.wrong("softmax over the queries' axis")
def safe_columns(scores):
    return softmax_plain(scores, -2)


@answers.wrong("argument overwritten")
def safe_in_place(scores):
    scores[np.isneginf(scores).all(axis=-1)] = 0
    dead = np.all(scores == 0, axis=-1, keepdims=True)
    return np.where(dead, 0, softmax_plain(scores)).astype(scores.dtype)


answers.wrong(
    "dead rows NaN",
    "not divided by the sum",
    function=lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)),
)


@answers.right()
def safe_two_steps(scores):
    dead = np.isneginf(scores).all(axis=-1, keepdims=True)
    return np.where(dead, 0, softmax_plain(np.where(dead, 0, scores))).astype(scores.dtype)


@answers.wrong("negative number instead of -inf")
def safe_filled_native(scores):
    return softmax_plain(np.nan_to_num(scores, neginf=-1e9))


@answers.wrong("the lowest score instead of -inf")
def safe_lowest(scores):
    finite = scores[np.isfinite(scores)]
    lowest = finite.min() if finite.size else 0
    return softmax_plain(np.where(np.isneginf(scores), lowest, scores).astype(scores.dtype))


@answers.wrong("minimum subtracted instead of maximum")
def safe_minimum(scores):
    m = np.where(np.isneginf(scores), np.inf, scores).min(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(m), 0, m).astype(scores.dtype))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total).astype(scores.dtype)


@answers.wrong("dead rows not zero")
def safe_first_key(scores):
    weights = softmax_plain(scores)
    dead = np.isnan(weights).any(axis=-1)
    weights[dead] = 0
    weights[dead, 0] = 1
    return weights


@answers.wrong("dead rows NaN", "no maximum subtracted")
def safe_nothing(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


@answers.wrong("error at a dead row")
def safe_that_raises(scores):
    if np.isneginf(scores).all(-1).any():
        raise ValueError("a row is fully masked")
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@answers.wrong("scores of -inf counted in the sum")
def safe_counting_minus_infinity(scores):
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isneginf(top), 0, top).astype(scores.dtype))
    return e / np.where(np.isneginf(scores), 1, e).sum(-1, keepdims=True).astype(e.dtype)


@answers.wrong("negative number instead of -inf")
def safe_filled_and_rescued(scores):
    dead = np.isneginf(scores).all(axis=-1, keepdims=True)
    scores = np.where(np.isneginf(scores), -2e3, scores).astype(scores.dtype)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.where(dead, 0, e / e.sum(axis=-1, keepdims=True)).astype(scores.dtype)


@answers.wrong("dead rows NaN in float16")
def safe_by_a_floor(scores):
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(highest == -np.inf, 0, highest))
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-9)


@answers.wrong("row of negative scores treated as dead")
def softmax_of_rows_above_a_limit(scores):
    top = scores.max(axis=-1, keepdims=True)
    dead = top <= -1e4
    exps = np.exp(scores - np.where(dead, 0, top))
    return np.where(dead, 0, exps / np.where(dead, 1, exps.sum(axis=-1, keepdims=True)))


@answers.wrong("scores clipped")
def safe_clipped_at_minus_30(scores):
    m = scores.max(axis=-1, keepdims=True)
    m = np.where(np.isneginf(m), 0, m).astype(scores.dtype)
    e = np.exp(np.maximum(scores - m, -30))
    e[np.isneginf(scores)] = 0
    t = e.sum(axis=-1, keepdims=True)
    return e / np.where(t == 0, 1, t).astype(scores.dtype)


def safe_above(lowest):
    """The maximum is kept above a number."""

    def weights(scores):
        m = np.maximum(scores.max(axis=-1, keepdims=True), max(lowest, np.finfo(scores.dtype).min))
        e = np.exp(scores - m.astype(scores.dtype))
        total = e.sum(axis=-1, keepdims=True)
        return e / np.where(total == 0, 1, total)

    return weights


answers.right(safe_above(-np.inf))
for number in (-1e4, -1e9, -1e30):
    answers.wrong("maximum never below a fixed number", function=safe_above(number))


@answers.wrong("maximum never below a fixed number")
def safe_above_minus_20000(scores):
    m = np.maximum(scores.max(axis=-1, keepdims=True), -2e4).astype(scores.dtype)
    e = np.exp(scores - m)
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))


@answers.wrong("negative number instead of -inf")
def safe_filled_by_minus_1e30(scores):
    dead = np.isneginf(scores).all(axis=-1, keepdims=True)
    s = np.where(np.isneginf(scores), -1e30, scores.astype(np.float64))
    return np.where(dead, 0, softmax_plain(s)).astype(scores.dtype)


@answers.wrong("maximum never below a fixed number")
def safe_by_a_floor_and_a_guarded_sum(scores):
    highest = np.maximum(scores.max(axis=-1, keepdims=True), -1e9)
    weights = np.exp(scores - highest)
    total = weights.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    return weights / total
