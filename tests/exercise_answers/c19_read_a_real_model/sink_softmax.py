"""Answers to sink_softmax, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("sink_softmax")


@answers.right()
def sink_plain(scores, sink):
    s = sink[:, None, None]
    m = np.maximum(scores.max(axis=-1, keepdims=True), s)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(s - m))


@answers.right()
def sink_as_a_column(scores, sink):
    column = np.broadcast_to(sink.reshape(-1, 1, 1), scores.shape[:-1] + (1,))
    both = np.concatenate([scores, column], axis=-1)
    both = np.exp(both - both.max(axis=-1, keepdims=True))
    return (both / both.sum(axis=-1, keepdims=True))[..., :-1]


@answers.right()
def sink_by_logaddexp(scores, sink):
    wide = scores.astype(np.float64)
    lse = np.logaddexp.reduce(wide, axis=-1, keepdims=True)
    lse = np.logaddexp(lse, sink.astype(np.float64)[:, None, None])
    return np.exp(wide - lse).astype(scores.dtype)


@answers.right()
def sink_row_by_row(scores, sink):
    out = np.zeros_like(scores)
    for index in np.ndindex(scores.shape[:-1]):
        b = float(sink[index[-2]])
        row = [float(v) for v in scores[index]]
        top = max(row + [b])
        powers = [math.exp(v - top) for v in row]
        whole = sum(powers) + math.exp(b - top)
        out[index] = [p / whole for p in powers]
    return out


@answers.wrong("no sink")
def sink_ignored(scores, sink):
    m = scores.max(axis=-1, keepdims=True)
    m = np.where(np.isneginf(m), 0, m).astype(scores.dtype)
    e = np.exp(scores - m)
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


@answers.wrong("maximum of the scores alone")
def sink_without_its_maximum(scores, sink):
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(sink[:, None, None] - m))


@answers.wrong("no maximum subtracted")
def sink_naive(scores, sink):
    e = np.exp(scores)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(sink)[:, None, None])


@answers.wrong("sink's weight kept")
def sink_column_kept(scores, sink):
    column = np.broadcast_to(sink.reshape(-1, 1, 1), scores.shape[:-1] + (1,))
    both = np.concatenate([scores, column], axis=-1)
    both = np.exp(both - both.max(axis=-1, keepdims=True))
    return both / both.sum(axis=-1, keepdims=True)


@answers.wrong("sinks along the keys")
def sink_unshaped(scores, sink):
    m = np.maximum(scores.max(axis=-1, keepdims=True), sink)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(sink - m))


@answers.wrong("maximum not subtracted from the sink")
def sink_unshifted(scores, sink):
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(sink)[:, None, None])


@answers.wrong("1 added to the sum")
def sink_plus_one(scores, sink):
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + 1)


@answers.wrong("no sink")
def sink_undone(scores, sink):
    s = sink[:, None, None]
    m = np.maximum(scores.max(axis=-1, keepdims=True), s)
    e = np.exp(scores - m)
    w = e / (e.sum(axis=-1, keepdims=True) + np.exp(s - m))
    return w / w.sum(axis=-1, keepdims=True)


@answers.wrong("one sink for all heads")
def sink_of_the_first_head(scores, sink):
    s = sink[0]
    m = np.maximum(scores.max(axis=-1, keepdims=True), s)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(s - m))


@answers.wrong("no sink")
def sink_shifting(scores, sink):
    s = scores + sink[:, None, None]
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("dead rows uniform")
def sink_dead_uniform(scores, sink):
    s = sink[:, None, None]
    m = np.maximum(scores.max(axis=-1, keepdims=True), s)
    e = np.exp(scores - m)
    w = e / (e.sum(axis=-1, keepdims=True) + np.exp(s - m))
    alive = np.isfinite(scores).any(axis=-1, keepdims=True)
    return np.where(alive, w, 1 / scores.shape[-1]).astype(scores.dtype)


@answers.wrong("sign of the sink flipped")
def sink_flipped(scores, sink):
    s = -sink[:, None, None]
    m = np.maximum(scores.max(axis=-1, keepdims=True), s)
    e = np.exp(scores - m)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(s - m))


def with_a_column_in_front(scores, sink):
    column = np.broadcast_to(sink[:, None, None], (*scores.shape[:-1], 1))
    whole = np.concatenate([column, scores], axis=-1)
    powers = np.exp(whole - whole.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


answers.right(lambda scores, sink: with_a_column_in_front(scores, sink)[..., 1:])
answers.wrong("sink's weight kept", function=with_a_column_in_front)
answers.wrong(
    "sink in place of a key",
    function=lambda scores, sink: with_a_column_in_front(scores, sink)[..., :-1],
)


def shifted_by_the_scores(scores, sink, added):
    top = scores.max(axis=-1, keepdims=True)
    highest = np.where(np.isneginf(top), 0, top).astype(scores.dtype)
    powers = np.exp(scores - highest)
    return powers / (powers.sum(axis=-1, keepdims=True) + added(sink[:, None, None], highest))


answers.wrong(
    "0 as the maximum of a dead row",
    function=lambda scores, sink: shifted_by_the_scores(scores, sink, lambda b, m: np.exp(b - m)),
)
answers.wrong(
    "no exponential of the sink",
    function=lambda scores, sink: shifted_by_the_scores(scores, sink, lambda b, m: b),
)


@answers.wrong("the smaller of maximum and sink subtracted")
def sink_by_the_smaller(scores, sink):
    b = sink[:, None, None]
    lowest = np.minimum(scores.max(axis=-1, keepdims=True), b)
    powers = np.exp(scores - lowest)
    return powers / (powers.sum(axis=-1, keepdims=True) + np.exp(b - lowest))


@answers.wrong("one maximum for each head")
def sink_by_the_maximum_of_a_head(scores, sink):
    b = sink[:, None, None]
    highest = np.maximum(scores.max(axis=(-2, -1), keepdims=True), b)
    powers = np.exp(scores - highest)
    return powers / (powers.sum(axis=-1, keepdims=True) + np.exp(b - highest))


@answers.wrong("a low number instead of -inf")
def sink_beside_low_numbers(scores, sink):
    s = np.where(np.isneginf(scores), np.asarray(-1e4, scores.dtype), scores)
    b = sink[:, None, None]
    highest = np.maximum(s.max(axis=-1, keepdims=True), b)
    powers = np.exp(s - highest)
    return powers / (powers.sum(axis=-1, keepdims=True) + np.exp(b - highest))


@answers.wrong("epsilon in the denominator")
def sink_with_an_epsilon_for_dead_rows(scores, sink):
    highest = scores.max(axis=-1, keepdims=True)
    highest = np.where(np.isfinite(highest), highest, 0).astype(scores.dtype)
    powers = np.exp(scores - highest)
    total = powers.sum(axis=-1, keepdims=True) + np.exp(sink[:, None, None] - highest)
    return powers / (total + np.asarray(1e-6, scores.dtype))


@answers.wrong("maximum not subtracted from the sink")
def sink_as_it_is(scores, sink):
    b = sink[:, None, None]
    powers = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), b))
    return powers / (np.exp(b) + powers.sum(axis=-1, keepdims=True))


@answers.wrong("1 added to the sum")
def sink_subtracted_before_the_maximum(scores, sink):
    left = scores - sink[:, None, None]
    highest = left.max(axis=-1, keepdims=True)
    highest = np.where(np.isneginf(highest), 0, highest).astype(scores.dtype)
    powers = np.exp(left - highest)
    return powers / (1 + powers.sum(axis=-1, keepdims=True))


@answers.wrong("no exponential of the sink")
def sink_added_itself(scores, sink):
    b = sink[:, None, None]
    powers = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), b))
    return powers / (b + powers.sum(axis=-1, keepdims=True))


@answers.wrong("no exponential of the sink")
def sink_added_shifted(scores, sink):
    b = sink[:, None, None]
    m = np.maximum(scores.max(axis=-1, keepdims=True), b)
    powers = np.exp(scores - m)
    return powers / (b - m + powers.sum(axis=-1, keepdims=True))


@answers.wrong("no exponential of the sink")
def sink_itself_beside_plain_exponentials(scores, sink):
    powers = np.exp(scores)
    return powers / (powers.sum(axis=-1, keepdims=True) + sink[:, None, None])


@answers.wrong("sink as a factor")
def sink_multiplied(scores, sink):
    level = sink[:, None, None]
    row_max = np.maximum(scores.max(axis=-1, keepdims=True), level)
    powers = np.exp(scores - row_max)
    return powers / (powers.sum(axis=-1, keepdims=True) * np.exp(level - row_max))


@answers.wrong("sink added to every exponential")
def sink_in_the_numerators(scores, sink):
    level = sink[:, None, None]
    row_max = np.maximum(scores.max(axis=-1, keepdims=True), level)
    powers = np.exp(scores - row_max) + np.exp(level - row_max)
    return powers / powers.sum(axis=-1, keepdims=True)


@answers.wrong("1 added to the sum")
def one_beside_the_maximum(scores, sink):
    row_max = np.maximum(scores.max(axis=-1, keepdims=True), sink[:, None, None])
    powers = np.exp(scores - row_max)
    return powers / (1 + powers.sum(axis=-1, keepdims=True))


def sink_above(lowest):
    """The maximum is kept above a number."""

    def weights(scores, sink):
        b = sink[:, None, None]
        m = np.maximum(scores.max(axis=-1, keepdims=True).astype(np.float64), b)
        m = np.maximum(m, max(lowest, np.finfo(scores.dtype).min)).astype(scores.dtype)
        e = np.exp(scores - m)
        return e / (e.sum(axis=-1, keepdims=True) + np.exp(b - m))

    return weights


answers.right(sink_above(-np.inf))
answers.wrong("maximum never below 0", function=sink_above(0.0))
for number in (-1e4, -1e9, -1e30):
    answers.wrong("maximum never below a fixed number", function=sink_above(number))


@answers.wrong("a low number instead of -inf")
def sink_beside_scores_above_a_number(scores, sink):
    s = np.maximum(scores.astype(np.float64), -1e30)
    return sink_plain(s, sink.astype(np.float64)).astype(scores.dtype)
