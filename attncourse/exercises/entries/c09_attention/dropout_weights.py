import numpy as np

from ...families.inputs import given
from ...families.scores import softmax_of  # noqa: F401, for the page
from ...families.weighted_sums import random_weights
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case
from ...pages import written


def dropout_weights(weights, keep, p):
    where = keep
    dropped = np.where(where, weights, 0.0)
    scaled = dropped / (1 - p)
    return scaled


# wrong factors of the kept weights, and what may stand in place of the dropped ones
WITH_P = (lambda p: 1 / p, lambda p: p, lambda p: 1 / p if p else 1, lambda p: p if p else 1)
WITH_BOTH = (lambda p: p / (1 - p), lambda p: (1 - p) / p if p else 1, lambda p: (1 - p) / p)
FACTORS = (
    np.exp,
    lambda p: np.exp(-p),
    lambda p: 1 / (1 - p / 2),
    lambda p: 1 / (1 - p**2),
    lambda p: 1 / (1 - np.sqrt(p)),
    lambda p: 1 - p**2,
    lambda p: 1 - np.log1p(-p),
)
OTHERS = (
    lambda w, p: p,
    lambda w, p: 1.0,
    lambda w, p: w.mean(),
    lambda w, p: w.mean(axis=-1, keepdims=True),
    lambda w, p: -w,
    lambda w, p: w / 2,
    lambda w, p: w * p,
    lambda w, p: np.nan,
)


def times(dropped, p, factor):
    """1 / p is infinite for p = 0."""
    with np.errstate(all="ignore"):
        return dropped * np.float64(factor(np.float64(p)))


def as_shares(dropped, epsilon=0.0):
    return dropped / (dropped.sum(axis=-1, keepdims=True) + epsilon)


def shared_out(weights, dropped, keep):
    lost = (weights - dropped).sum(axis=-1, keepdims=True)
    return np.where(keep, weights + lost / np.maximum(keep.sum(axis=-1, keepdims=True), 1), 0.0)


ALL_DROPPED, P_ZERO = "a row that is dropped whole", "p = 0"


def dropout_weights_cases():
    def some(aspect, shape, p, seed, dtype=np.float64, order="C"):
        keep = np.random.default_rng([seed, *shape]).random(shape) >= p
        keep[..., 0] |= ~keep.any(axis=-1)
        weights = random_weights(*shape, seed=seed, dtype=dtype)
        return Case(aspect, (np.asarray(weights, order=order), np.asarray(keep, order=order), p))

    def tiny(aspect, weights, keep, p):
        keep = np.array(keep, bool)
        return given(aspect, weights, keep, p, extreme=aspect in (P_ZERO, ALL_DROPPED))

    return [
        tiny(PLAIN, [[0.5, 0.25, 0.25]], [[1, 0, 1]], 0.5),
        tiny(PLAIN, [[0.5, 0.5], [0.75, 0.25]], [[1, 1], [0, 1]], 0.2),
        some(PLAIN, (5, 7), 0.3, 1),
        some(PLAIN, (7, 3), 0.1, 2, order="F"),
        some(PLAIN, (37, 41), 0.75, 3),
        some(SQUARE, (5, 5), 0.4, 4),
        some(LEADING, (2, 5, 7), 0.3, 5),
        some(LEADING, (2, 3, 5, 7), 0.6, 6, order="F"),
        tiny(P_ZERO, [[0.5, 0.5]], [[1, 1]], 0.0),
        tiny(P_ZERO, [[0.125, 0.5, 0.375], [0.25, 0, 0.75]], np.ones((2, 3)), 0.0),
        tiny(ALL_DROPPED, [[0.5, 0.5], [0.25, 0.75]], [[1, 1], [0, 0]], 0.5),
        some(FLOAT32, (5, 3), 0.2, 7, np.float32),
        some(FLOAT16, (3, 5), 0.25, 8, np.float16),
    ]


def draws_its_own(run):
    """An audit: whether of equal weights others are dropped than keep says."""
    keep = np.random.default_rng(70).random((16, 16)) < 0.5
    outcome = run(np.full(keep.shape, 0.0625), keep, 0.5)
    pieces = outcome.answer.pieces if outcome.answer else ()
    if not pieces or pieces[0].values.shape != keep.shape:
        return None
    kept = pieces[0].values != 0
    other = run(np.full(keep.shape, 0.0625), ~keep, 0.5)
    if other.answer and other.answer.pieces and (other.answer.pieces[0].values != 0)[~kept].all():
        return None  # what keep drops is dropped, though in another place
    by_chance = 64 < kept.sum() < 192 and 64 < (kept == keep).sum() < 192
    return "own mask drawn" if by_chance else None


AXES = dict(weights="n_q n_k", keep="n_q n_k")

EXERCISE = written(
    dropout_weights,
    place=4,
    axes=AXES,
    answer_axes="n_q n_k",
    cases=dropout_weights_cases,
    audits=(draws_its_own,),
)
