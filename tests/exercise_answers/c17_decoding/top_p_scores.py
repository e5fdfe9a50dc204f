"""Answers to top_p_scores, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("top_p_scores")


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@answers.right()
def top_p_plain(scores, p):
    if p == 1:
        return scores.copy()
    weights = softmax(scores)
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranked = np.take_along_axis(weights, order, axis=-1)
    needed = np.cumsum(ranked, axis=-1) - ranked < p
    kept = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(kept, order, needed, axis=-1)
    return np.where(kept, scores, -np.inf)


@answers.right()
def top_p_row_by_row(scores, p):
    out = np.full_like(scores, -np.inf)
    for index in np.ndindex(scores.shape[:-1]):
        row = scores[index]
        total, weights = 0.0, softmax(row.astype(np.float64))
        for place in sorted(range(len(row)), key=lambda i: (-row[i], i)):
            if total >= p and p < 1:
                break
            out[index][place] = row[place]
            total += weights[place]
    return out


@answers.right()
def top_p_by_searching(scores, p):
    rows = scores.reshape(-1, scores.shape[-1]).copy()
    for row in rows if p < 1 else ():
        order = np.lexsort((np.arange(len(row)), -row))
        sums = attnlib.softmax(row[order].astype(np.float64)).cumsum()
        row[order[np.searchsorted(sums, p) + 1 :]] = -math.inf
    return rows.reshape(scores.shape)


@answers.right()
def top_p_by_comparing_all_pairs(scores, p):
    weights = attnlib.softmax(scores)
    place = np.arange(scores.shape[-1])
    mine, other = scores[..., :, None], scores[..., None, :]
    ahead = (other > mine) | (other == mine) & (place < place[:, None])
    larger = (ahead * weights[..., None, :]).sum(axis=-1)
    return np.where((larger < p) | (p == 1), scores, np.array(-np.inf, scores.dtype))


@answers.right()
def top_p_inverse_of_the_order(scores, p):
    order = (-scores).argsort(axis=-1, kind="stable")
    rank = order.argsort(axis=-1)
    sums = np.take_along_axis(softmax(scores), order, axis=-1).cumsum(axis=-1)
    count = 1 + (sums < p).sum(axis=-1, keepdims=True)
    return scores if p >= 1 else np.where(rank < count, scores, -np.inf)


def chosen_by(choose, order_of=None, fill=-np.inf):
    """Top-p with this choice among the sorted weights and their sums."""

    def function(scores, p):
        if p == 1:
            return scores
        order = order_of(scores) if order_of else np.argsort(-scores, axis=-1, kind="stable")
        ranked = np.take_along_axis(softmax(scores), order, axis=-1)
        kept = np.zeros(scores.shape, dtype=bool)
        np.put_along_axis(kept, order, choose(ranked, ranked.cumsum(axis=-1), p), axis=-1)
        return np.where(kept, scores, np.array(fill, scores.dtype))

    return function


def needed(ranked, sums, p):
    return sums - ranked < p


answers.wrong("the last needed entry left out", function=chosen_by(lambda r, sums, p: sums <= p))


@answers.wrong("the last needed entry left out")
def top_p_at_least_one(scores, p):
    if p == 1:
        return scores
    order = np.argsort(-scores, axis=-1, kind="stable")
    kept = np.take_along_axis(softmax(scores), order, axis=-1).cumsum(axis=-1) <= p
    kept[..., 0] = True
    back = np.argsort(order, axis=-1)
    return np.where(np.take_along_axis(kept, back, axis=-1), scores, -np.inf)


answers.wrong(
    "a further entry where the sum is exactly p",
    function=chosen_by(lambda ranked, sums, p: sums - ranked <= p),
)
answers.wrong(
    "smallest weights first",
    function=chosen_by(needed, lambda scores: np.argsort(scores, axis=-1, kind="stable")),
)
answers.wrong(
    "later of equals first",
    function=chosen_by(needed, lambda s: np.argsort(s, axis=-1, kind="stable")[..., ::-1]),
)
answers.wrong("0 instead of -inf", function=chosen_by(needed, fill=0))
answers.wrong("negative number instead of -inf", function=chosen_by(needed, fill=-1e4))


@answers.wrong("small weights dropped for p = 1")
def top_p_without_a_special_case(scores, p):
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranked = np.take_along_axis(softmax(scores), order, axis=-1)
    kept = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(kept, order, ranked.cumsum(axis=-1) - ranked < p, axis=-1)
    return np.where(kept, scores, -np.inf)


@answers.wrong("not sorted")
def top_p_unsorted(scores, p):
    weights = softmax(scores)
    kept = (weights.cumsum(axis=-1) - weights < p) | (p == 1)
    return np.where(kept, scores, -np.inf)


@answers.wrong("not put back")
def top_p_not_put_back(scores, p):
    ranked = -np.sort(-softmax(scores), axis=-1)
    kept = (ranked.cumsum(axis=-1) - ranked < p) | (p == 1)
    return np.where(kept, scores, -np.inf)


@answers.wrong("put back the wrong way round")
def top_p_order_twice(scores, p):
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranked = np.take_along_axis(softmax(scores), order, axis=-1)
    kept = (ranked.cumsum(axis=-1) - ranked < p) | (p == 1)
    return np.where(np.take_along_axis(kept, order, axis=-1), scores, -np.inf)


@answers.wrong("all equals kept")
def top_p_by_a_bound(scores, p):
    if p == 1:
        return scores
    ranked = -np.sort(-scores, axis=-1)
    sums = softmax(ranked).cumsum(axis=-1)
    last = (sums < p).sum(axis=-1, keepdims=True)
    bound = np.take_along_axis(ranked, last, axis=-1)
    return np.where(scores >= bound, scores, -np.inf)


@answers.wrong("weights of at least p")
def top_p_threshold(scores, p):
    return np.where(softmax(scores) >= p, scores, -np.inf)


@answers.wrong("at least p times the largest weight")
def top_p_min_p(scores, p):
    weights = softmax(scores)
    return np.where(weights >= p * weights.max(axis=-1, keepdims=True), scores, -np.inf)


@answers.wrong("weights instead of scores")
def top_p_weights(scores, p):
    return softmax(top_p_plain(scores, p))


@answers.wrong("the set instead of the scores")
def top_p_set(scores, p):
    return np.isfinite(top_p_plain(scores, p))


@answers.wrong("no maximum subtracted")
def top_p_overflows(scores, p):
    if p == 1:
        return scores
    order = np.argsort(-scores, axis=-1, kind="stable")
    with np.errstate(all="ignore"):
        powers = np.exp(scores)
        weights = powers / powers.sum(axis=-1, keepdims=True)
    ranked = np.take_along_axis(weights, order, axis=-1)
    kept = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(kept, order, ranked.cumsum(axis=-1) - ranked < p, axis=-1)
    return np.where(kept, scores, -np.inf)


@answers.wrong("one set for all rows")
def top_p_flat(scores, p):
    return top_p_plain(scores.reshape(1, -1), p).reshape(scores.shape)


@answers.wrong("over the second axis")
def top_p_second_axis(scores, p):
    moved = np.moveaxis(scores, 1, -1)
    return np.moveaxis(top_p_plain(moved, p), -1, 1)


@answers.wrong("a fixed p")
def top_p_fixed(scores, p):
    return top_p_plain(scores, 0.85)


@answers.wrong("argument overwritten")
def top_p_in_place(scores, p):
    scores[...] = top_p_plain(scores, p)
    return scores


@answers.wrong("only the largest where no sum reaches 1")
def top_p_up_to_argmax(scores, p):
    order = np.argsort(-scores, axis=-1, kind="stable")
    sums = np.cumsum(np.take_along_axis(softmax(scores), order, axis=-1), axis=-1)
    last = np.argmax(sums >= p, axis=-1)[..., None]
    kept = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(kept, order, np.arange(scores.shape[-1]) <= last, axis=-1)
    return np.where(kept, scores, -np.inf)


@answers.wrong("later of equals first", "small weights dropped for p = 1")
def top_p_from_below(scores, p):
    order = np.argsort(scores, axis=-1)
    left_out = np.cumsum(softmax(np.take_along_axis(scores, order, -1)), axis=-1) <= 1 - p
    left_out[..., -1] = False
    found = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(found, order, left_out, axis=-1)
    return np.where(found, -np.inf, scores)


def chosen_without_a_special_case(choose, of=softmax):
    """The same with p = 1 as a number like any other, for any numbers instead of the weights."""

    def function(scores, p):
        order = np.argsort(-scores, axis=-1, kind="stable")
        ranked = np.take_along_axis(of(scores), order, axis=-1)
        needed = choose(ranked, ranked.cumsum(axis=-1), p)
        needed[..., 0] = True
        kept = np.zeros(scores.shape, dtype=bool)
        np.put_along_axis(kept, order, needed, axis=-1)
        return np.where(kept, scores, -np.inf)

    return function


answers.wrong(
    "the last needed entry left out",
    function=chosen_without_a_special_case(lambda ranked, sums, p: sums <= p),
)
answers.wrong(
    "no softmax", function=chosen_without_a_special_case(needed, of=lambda scores: scores)
)


@answers.wrong("weights of at least p")
def top_p_by_weight_and_the_largest(scores, p):
    weights = softmax(scores)
    largest = weights == weights.max(axis=-1, keepdims=True)
    return np.where((weights >= p) | largest, scores, -np.inf)


@answers.wrong("weights of at least p")
def each_weight_compared(scores, p):
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=-1).astype(float)
    powers = np.exp(ranked - ranked[..., :1])
    taken = powers / powers.sum(axis=-1, keepdims=True) >= p
    taken[..., 0] = True
    kept = np.zeros(scores.shape, bool)
    np.put_along_axis(kept, order, taken, axis=-1)
    return np.where(kept, scores, -np.inf).astype(scores.dtype)
