"""The exercise dropout_weights."""

import numpy as np

from ...families.scores import softmax_of
from ...families.weighted_sums import random_weights
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, alike, ways


def dropout_weights_answer(do, weights, keep, p):
    dropped = do.drop(weights, do.sense(keep), p)
    return do.finish_weights(do.rescale(dropped, keep, p), weights, keep, p)


def _divided(dropped, keep, p):
    return dropped / (1 - p)


def _as_they_are(dropped, keep, p):
    return dropped


def _normalised(dropped, axis=-1, epsilon=0.0):
    return dropped / (dropped.sum(axis=axis, keepdims=True) + epsilon)


DROPOUT_STEPS = {
    "sense": lambda keep: keep,
    "drop": lambda weights, keep, p: np.where(keep, weights, 0.0),
    "rescale": _divided,
    "finish_weights": lambda dropped, weights, keep, p: dropped,
}


def _scaled_by(*factors):
    """Variants: the kept weights multiplied by a function of p."""
    def scaled(factor):
        def rescale(dropped, keep, p):
            with np.errstate(all="ignore"):
                return dropped * np.float64(factor(np.float64(p)))

        return rescale

    return ways("rescale", *map(scaled, factors))


def _chosen(kept, dropped):
    """A change: what stands where keep is True, and where it is False."""
    return {"drop": lambda weights, keep, p: np.where(keep, kept(weights, p), dropped(weights, p)),
            "rescale": _as_they_are}


def _itself(weights, p):
    return weights


def _grown(weights, p):
    return weights / (1 - p)


def _whole(reduce, axis):
    return lambda keep: np.broadcast_to(reduce(keep, axis=axis, keepdims=True), keep.shape)


def _shared_out(dropped, weights, keep, p):
    more = (weights - dropped).sum(axis=-1, keepdims=True) / np.maximum(keep.sum(axis=-1, keepdims=True), 1)
    return np.where(keep, weights + more, 0.0)


MINUS_INF = {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf)}

DROPOUT_MISTAKES = (
    *alike("A weight is kept with probability 1 - p: the factor that restores its mean is 1/(1 - p).",
           "What is the mean of a weight that is kept with probability 1 - p, and what brings it back to the weight?",
           ("not divided by 1 - p", _scaled_by(lambda p: 1),
            "Dropped weights are 0, and the kept ones stay as they were."),
           ("multiplied by 1 - p", _scaled_by(lambda p: 1 - p), "The kept weights shrink by 1 - p."),
           ("p instead of 1 - p",
            _scaled_by(lambda p: 1 / p, lambda p: p, lambda p: 1 / p if p else 1, lambda p: p if p else 1),
            "The kept weights are scaled by p, the probability of dropping."),
           ("square root of 1 - p", _scaled_by(lambda p: 1 / np.sqrt(1 - p)),
            "The kept weights are divided by sqrt(1 - p)."),
           ("divided by 1 - p twice", _scaled_by(lambda p: (1 - p) ** -2),
            "The kept weights are divided by 1 - p two times."),
           ("divided by 1 + p", _scaled_by(lambda p: 1 / (1 + p), lambda p: 1 + p), "The factor is made with 1 + p."),
           ("p and 1 - p both in the factor", _scaled_by(
               lambda p: p / (1 - p), lambda p: (1 - p) / p if p else 1, lambda p: (1 - p) / p),
            "The kept weights are multiplied by p / (1 - p) or by (1 - p) / p."),
           ("nothing kept at p = 0", _scaled_by(lambda p: 1 / (1 - p) if p else 0),
            "It is right, unless p is 0: then every weight becomes 0."),
           ("brackets missing around 1 - p", ways("rescale", lambda dropped, keep, p: dropped / 1 - p,
                                                  lambda dropped, keep, p: np.where(keep, dropped / 1 - p, 0.0)),
            "p is subtracted from the weights: in Python w / 1 - p is (w / 1) - p."),
           ("p added", ways("rescale", lambda dropped, keep, p: dropped + p,
                            lambda dropped, keep, p: np.where(keep, dropped + p, 0.0)), "p is added to the weights.")),
    *alike("A weight is kept with probability 1 - p: the factor that restores its mean is 1/(1 - p).",
           "What is the mean of a weight that is kept with probability 1 - p?",
           ("another function of p", _scaled_by(
               np.exp, lambda p: np.exp(-p), lambda p: 1 / (1 - p / 2), lambda p: 1 / (1 - p ** 2),
               lambda p: 1 / (1 - np.sqrt(p)), lambda p: 1 - p ** 2, lambda p: 1 - np.log1p(-p)),
            "The kept weights are multiplied by a number, but not by 1/(1 - p)."), alone=True),
    *alike("The factor is 1/(1 - p) for every weight: it keeps the mean, and looks at no other weight and at no draw.",
           "On what may the factor depend, on p or on what was drawn?",
           ("rows renormalised", (*ways("rescale", *(
               lambda dropped, keep, p, e=e: _normalised(dropped, epsilon=e) for e in (0, 1e-6, 1e-8, 1e-9, 1e-12)),
               lambda dropped, keep, p: np.nan_to_num(_normalised(dropped))), *ways("rescale", *(
                   lambda dropped, keep, p, e=e: _normalised(_divided(dropped, keep, p), epsilon=e)
                   for e in (1e-6, 1e-8, 1e-9)))),
            "Each row of kept weights sums to 1 again, where any is kept."),
           ("rows renormalised and rescaled", ways("rescale", *(
               lambda dropped, keep, p, fill=fill: _divided(fill(_normalised(dropped)), keep, p)
               for fill in (np.nan_to_num, lambda weights: weights))),
            "Each row of kept weights is brought to the sum 1, and divided by 1 - p besides."),
           ("everything normalised", {"rescale": lambda dropped, keep, p: _normalised(dropped, None)},
            "All kept weights together sum to 1."),
           ("the share that was kept instead of 1 - p", ways(
               "rescale", lambda dropped, keep, p: dropped / keep.mean(),
               lambda dropped, keep, p: dropped / keep.mean(axis=-1, keepdims=True),
               lambda dropped, keep, p: np.nan_to_num(dropped / keep.mean(axis=-1, keepdims=True), posinf=0)),
            "The kept weights are divided by the share that happened to be kept."),
           ("dropped weight shared out", {"rescale": _as_they_are, "finish_weights": _shared_out},
            "The sum of the dropped weights is shared out equally among those that stay.")),
    *alike("keep says which weights stay: where it is False the weight becomes 0, and each entry speaks for itself.",
           "What should stand where keep is True, and what where it is False?",
           ("keep inverted", {"sense": np.logical_not}, "The weights to be kept are 0, and those to be dropped stay."),
           ("keep ignored", {"drop": lambda weights, keep, p: weights}, "No weight is dropped."),
           ("no dropout", _chosen(_itself, _itself), "The weights come back as they were."),
           ("dropped weights left as they were", _chosen(_grown, _itself),
            "Kept weights grow, and the others stay as they were instead of becoming 0."),
           ("dropped weights rescaled instead of the kept ones", _chosen(_itself, _grown),
            "Kept weights stay as they were, and the dropped ones grow."),
           ("dropped weights removed", {"drop": lambda weights, keep, p: weights[keep]},
            "The answer is one long row of the kept weights, and no longer lines up with the values."),
           ("keep returned instead of the weights", tuple({
               "drop": lambda weights, keep, p: np.where(keep, 1.0, 0.0),
               **more} for more in ({}, {"rescale": _as_they_are})),
            "The answer holds 0 and one other number: the weights themselves are lost."),
           ("small weights dropped", ways("drop", lambda weights, keep, p: np.where(weights > p, weights, 0.0),
                                          lambda weights, keep, p: np.where(weights < p, weights, 0.0)),
            "Weights are compared with p, which is a probability and no limit, and keep is not used.")),
    *alike("keep says which weights stay: where it is False the weight becomes 0, and each entry speaks for itself.",
           "What should stand where keep is False?",
           ("rows treated as a whole",
            ways("sense", *(_whole(reduce, axis) for axis in (-1, -2) for reduce in (np.any, np.all))),
            "A row or a column of weights is kept or dropped as a whole."),
           ("dropped weights set to something else", tuple(
               _chosen(kept, other) for kept in (_grown, _itself) for other in (
                   lambda w, p: p, lambda w, p: 1.0, lambda w, p: w.mean(), lambda w, p: w.mean(axis=-1, keepdims=True),
                   lambda w, p: -w, lambda w, p: w / 2, lambda w, p: w * p, lambda w, p: np.nan)),
            "Where keep is False stands something else than 0."),
           ("keep added to the weights", (
               {"drop": lambda weights, keep, p: weights + keep}, {"drop": lambda weights, keep, p: weights - ~keep},
               {"drop": lambda weights, keep, p: weights + keep, "rescale": _as_they_are}),
            "keep counts as 0 and 1 in a sum with the weights."), alone=True),
    *alike("Dropout comes after the softmax, on weights: a dropped weight is 0, and nothing is normalised again.",
           "Does dropout work on scores or on weights, and what is a dropped weight?",
           ("-inf instead of 0", MINUS_INF, "Dropped weights are -inf."),
           ("softmax afterwards", (
               {"finish_weights": lambda dropped, *given: softmax_of(dropped)},
               {**MINUS_INF, "finish_weights": lambda dropped, *given: softmax_of(dropped)},
               {**MINUS_INF, "rescale": lambda dropped, keep, p: softmax_of(dropped)},
               {**MINUS_INF, "rescale": lambda dropped, keep, p: np.nan_to_num(softmax_of(dropped))}),
            "The result goes through a softmax.")),
)

ALL_DROPPED, P_ZERO = "a row that is dropped whole", "p = 0"


def dropout_weights_cases():
    def some(aspect, shape, p, seed, dtype=np.float64, order="C"):
        keep = np.random.default_rng([seed, *shape]).random(shape) >= p
        keep[..., 0] |= ~keep.any(axis=-1)
        weights = random_weights(*shape, seed=seed, dtype=dtype)
        return Case(aspect, (np.asarray(weights, order=order), np.asarray(keep, order=order), p))

    def tiny(aspect, weights, keep, p):
        return Case(aspect, (np.array(weights, float), np.array(keep, bool), p), aspect in (P_ZERO, ALL_DROPPED))

    return [
        tiny(PLAIN, [[0.5, 0.25, 0.25]], [[1, 0, 1]], 0.5),
        tiny(PLAIN, [[0.5, 0.5], [0.75, 0.25]], [[1, 1], [0, 1]], 0.2),
        some(PLAIN, (5, 7), 0.3, 1), some(PLAIN, (7, 3), 0.1, 2, order="F"), some(PLAIN, (37, 41), 0.75, 3),
        some(SQUARE, (5, 5), 0.4, 4), some(LEADING, (2, 5, 7), 0.3, 5), some(LEADING, (2, 3, 5, 7), 0.6, 6, order="F"),
        tiny(P_ZERO, [[0.5, 0.5]], [[1, 1]], 0.0),
        tiny(P_ZERO, [[0.125, 0.5, 0.375], [0.25, 0, 0.75]], np.ones((2, 3)), 0.0),
        tiny(ALL_DROPPED, [[0.5, 0.5], [0.25, 0.75]], [[1, 1], [0, 0]], 0.5),
        some(FLOAT32, (5, 3), 0.2, 7, np.float32), some(FLOAT16, (3, 5), 0.25, 8, np.float16),
    ]


OWN_MASK = Mistake(
    "own mask drawn",
    does="Weights become 0, but not where keep is False.",
    why="The draw has been made already, and stands in keep: whoever calls the function needs the same one for the "
        "backward pass.",
    ask="Where does your function use keep?")


def draws_its_own(run):
    """The Mistake if of equal weights others are dropped than keep says."""
    keep = np.random.default_rng(70).random((16, 16)) < 0.5
    outcome = run(np.full(keep.shape, 0.0625), keep, 0.5)
    if outcome.failure or not outcome.answer.pieces or outcome.answer.pieces[0].values.shape != keep.shape:
        return None
    kept = outcome.answer.pieces[0].values != 0
    other = run(np.full(keep.shape, 0.0625), ~keep, 0.5)
    if other.answer and other.answer.pieces and (other.answer.pieces[0].values != 0)[~kept].all():
        return None  # what keep drops is dropped, though in another place
    by_chance = 64 < kept.sum() < 192 and 64 < (kept == keep).sum() < 192
    return OWN_MASK if by_chance else None


EXERCISE = Exercise(
    name="dropout_weights", signature="(weights, keep, p)", place=4,
    axes=dict(weights="n_q n_k", keep="n_q n_k"), answer_axes="n_q n_k",
    text="Inverted dropout: weights where keep is True, divided by 1 - p; the rest 0. The draw has "
         "been made already and stands in keep; p is the probability of dropping.",
    answer=dropout_weights_answer, steps=DROPOUT_STEPS, cases=dropout_weights_cases, audits=(draws_its_own,),
    hints=(
        "Two things happen: some weights become 0, and the others change so that the mean stays.",
        "A weight w is kept with probability 1 - p. By what must it grow so that its mean is w again?",
        "np.where(keep, ..., 0) chooses entry by entry. Divide by 1 - p, in brackets.",
    ),
    mistakes=DROPOUT_MISTAKES,
)
