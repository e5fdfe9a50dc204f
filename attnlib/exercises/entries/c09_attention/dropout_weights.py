"""The exercise dropout_weights."""

import numpy as np

from ...families.scores import softmax_of
from ...families.weighted_sums import random_weights
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake


def dropout_weights_answer(do, weights, keep, p):
    dropped = do.drop(weights, do.sense(keep), p)
    return do.finish_weights(do.rescale(dropped, keep, p), weights, keep, p)


def _zeroed(weights, keep, p):
    return np.where(keep, weights, 0.0)


def _divided(dropped, keep, p):
    return dropped / (1 - p)


def _normalised(weights):
    return weights / weights.sum(axis=-1, keepdims=True)


DROPOUT_STEPS = {
    "sense": lambda keep: keep,
    "drop": _zeroed,
    "rescale": _divided,
    "finish_weights": lambda dropped, weights, keep, p: dropped,
}


def rescaled_by(factor):
    """A change: the kept weights multiplied by this function of p."""
    def rescale(dropped, keep, p):
        with np.errstate(all="ignore"):
            return dropped * np.float64(factor(np.float64(p)))

    return {"rescale": rescale}


DROPOUT_MISTAKES = (
    Mistake("not divided by 1 - p", change=rescaled_by(lambda p: 1),
            does="Dropped weights are 0, and the kept ones stay as they were.",
            why="On average the output shrinks by 1 - p, and at inference, without dropout, it is suddenly "
                "larger. Dividing by 1 - p keeps the expectation.",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("multiplied by 1 - p", change=rescaled_by(lambda p: 1 - p),
            does="The kept weights shrink by 1 - p.",
            why="Dropping shrinks the expectation by 1 - p already; dividing restores it.",
            ask="Are the weights too small or too large on average once some are dropped?"),
    Mistake("p instead of 1 - p",
            change=(rescaled_by(lambda p: 1 / p), rescaled_by(lambda p: p),
                    rescaled_by(lambda p: 1 / p if p else 1), rescaled_by(lambda p: p if p else 1)),
            does="The kept weights are scaled by p, the probability of dropping.",
            why="p says how many are dropped; what is kept is a share of 1 - p.",
            ask="Which share of the weights is kept if p = 0.1?"),
    Mistake("keep inverted", change={"sense": lambda keep: ~keep},
            does="The weights to be kept are 0, and those to be dropped stay.",
            why="keep is True for a weight that stays.",
            ask="What does True in keep mean?"),
    Mistake("keep ignored", change={"drop": lambda weights, keep, p: weights},
            does="No weight is dropped.",
            why="Where keep is False the weight becomes 0.",
            ask="Where in your function does keep change a weight?"),
    Mistake("rows renormalised",
            change=({"rescale": lambda dropped, keep, p: _normalised(dropped)},
                    {"rescale": lambda dropped, keep, p: np.nan_to_num(_normalised(dropped))},
                    *({"rescale": lambda dropped, keep, p, e=e: dropped / (dropped.sum(axis=-1, keepdims=True) + e)}
                      for e in (1e-6, 1e-8, 1e-9, 1e-12)),
                    *({"rescale": lambda dropped, keep, p, e=e: _divided(dropped, keep, p) / (
                        _divided(dropped, keep, p).sum(axis=-1, keepdims=True) + e)} for e in (1e-6, 1e-8, 1e-9))),
            does="Each row of kept weights sums to 1 again.",
            why="Dropout keeps the expectation, not the sum: the factor is 1/(1 - p) for every row. "
                "A row of which everything is dropped cannot be renormalised at all.",
            ask="Which factor restores the mean of a weight, whichever others are dropped?"),
    Mistake("everything normalised",
            change={"rescale": lambda dropped, keep, p: dropped / dropped.sum()},
            does="All kept weights together sum to 1.",
            why="The factor is 1/(1 - p) for every weight: it keeps the mean, and looks at no other weight.",
            ask="Which factor restores the mean of a weight, whichever others are dropped?"),
    Mistake("no dropout",
            change={"drop": lambda weights, keep, p: weights, "rescale": lambda dropped, keep, p: dropped},
            does="The weights come back as they were.",
            why="Where keep is False the weight becomes 0, and the others grow to make up for it.",
            ask="Where does your answer depend on keep, and where on p?"),
    Mistake("the share that was kept instead of 1 - p",
            change=({"rescale": lambda dropped, keep, p: dropped / keep.mean()},
                    {"rescale": lambda dropped, keep, p: dropped / keep.mean(axis=-1, keepdims=True)},
                    {"rescale": lambda dropped, keep, p: np.nan_to_num(
                        dropped / keep.mean(axis=-1, keepdims=True), posinf=0)}),
            does="The kept weights are divided by the share that happened to be kept.",
            why="The factor is 1/(1 - p), the same whatever was drawn: then the expectation is right "
                "for every weight.",
            ask="On what may the factor depend, on p or on the draw?"),
    Mistake("square root of 1 - p", change=rescaled_by(lambda p: 1 / np.sqrt(1 - p)),
            does="The kept weights are divided by sqrt(1 - p).",
            why="That would keep the variance. Dropout keeps the mean: divide by 1 - p.",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("divided by 1 - p twice", change=rescaled_by(lambda p: (1 - p) ** -2),
            does="The kept weights are divided by 1 - p two times.",
            why="Once restores the expectation; twice makes it too large.",
            ask="Which two of your lines rescale?"),
    Mistake("brackets missing around 1 - p",
            change=({"rescale": lambda dropped, keep, p: dropped / 1 - p},
                    {"rescale": lambda dropped, keep, p: np.where(keep, dropped / 1 - p, 0.0)}),
            does="p is subtracted from the weights.",
            why="In Python w / 1 - p is (w / 1) - p: the division binds first.",
            ask="Where do brackets belong?"),
    Mistake("divided by 1 + p", change=(rescaled_by(lambda p: 1 / (1 + p)), rescaled_by(lambda p: 1 + p)),
            does="The factor is made with 1 + p.",
            why="A share of 1 - p is kept.",
            ask="Which share of the weights is kept if p = 0.1?"),
    Mistake("dropped weights left as they were",
            change={"rescale": lambda dropped, keep, p: dropped,
                    "drop": lambda weights, keep, p: np.where(keep, weights / (1 - p), weights)},
            does="Kept weights grow, and the others stay as they were instead of becoming 0.",
            why="A dropped weight is 0: its key does not count for this query.",
            ask="What should stand where keep is False?"),
    Mistake("dropped weights rescaled instead of the kept ones",
            change={"rescale": lambda dropped, keep, p: dropped,
                    "drop": lambda weights, keep, p: np.where(keep, weights, weights / (1 - p))},
            does="Kept weights stay as they were, and the dropped ones grow.",
            why="Where keep is False the weight becomes 0; where it is True it is divided by 1 - p.",
            ask="Which of the two values in np.where is taken where keep is True?"),
    Mistake("p and 1 - p both in the factor",
            change=(rescaled_by(lambda p: p / (1 - p)), rescaled_by(lambda p: (1 - p) / p if p else 1),
                    rescaled_by(lambda p: (1 - p) / p)),
            does="The kept weights are multiplied by p / (1 - p) or by (1 - p) / p.",
            why="A weight is kept with probability 1 - p: the factor that restores its mean is 1/(1 - p), and p alone "
                "has no part in it.",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("nothing kept at p = 0", change=rescaled_by(lambda p: 1 / (1 - p) if p else 0),
            does="It is right, unless p is 0: then every weight becomes 0.",
            why="p = 0 drops nothing: the factor is 1/(1 - 0) = 1, and no case of its own is needed.",
            ask="What should come back if nothing is dropped?"),
    Mistake("-inf instead of 0",
            change=({"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf)},),
            does="Dropped weights are -inf.",
            why="-inf belongs into scores, before the softmax. These are weights: a dropped one is 0.",
            ask="Does dropout work on scores or on weights?"),
    Mistake("softmax afterwards",
            change=({"finish_weights": lambda dropped, weights, keep, p: softmax_of(dropped)},
                    {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf),
                     "rescale": lambda dropped, keep, p: softmax_of(dropped)},
                    {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf),
                     "rescale": lambda dropped, keep, p: np.nan_to_num(softmax_of(dropped))},
                    {"drop": lambda weights, keep, p: np.where(keep, weights, -np.inf),
                     "finish_weights": lambda dropped, weights, keep, p: softmax_of(dropped)}),
            does="The result goes through a softmax.",
            why="Dropout comes after the softmax, on weights, and does not normalise again.",
            ask="What does a softmax do to numbers between 0 and 1?"),
    Mistake("dropped weights removed", change={"drop": lambda weights, keep, p: weights[keep]},
            does="The answer is one long row of the kept weights.",
            why="The weights must keep their shape: they still line up with the values.",
            ask="Which function chooses between two values, entry by entry?"),
    Mistake("keep returned instead of the weights",
            change=({"drop": lambda weights, keep, p: np.where(keep, 1.0, 0.0)},
                    {"drop": lambda weights, keep, p: np.where(keep, 1.0, 0.0), "rescale": lambda dropped, keep, p: dropped}),
            does="The answer holds 0 and one other number: the weights themselves are lost.",
            why="keep says which weights stay; what stays is the weight, divided by 1 - p.",
            ask="Where do the weights stand in your answer?"),
    Mistake("rows treated as a whole", alone=True,
            change=tuple({"sense": lambda keep, reduce=reduce, axis=axis: np.broadcast_to(
                reduce(keep, axis=axis, keepdims=True), keep.shape)} for axis in (-1, -2) for reduce in (np.any, np.all)),
            does="A row or a column of weights is kept or dropped as a whole.",
            why="keep speaks for each weight by itself.",
            ask="Over which axis does your all, or any, go?"),
    Mistake("p added", alone=True, change=({"rescale": lambda dropped, keep, p: dropped + p},
                    {"rescale": lambda dropped, keep, p: np.where(keep, dropped + p, 0.0)}),
            does="p is added to the weights.",
            why="What is dropped is made up for by a factor, 1/(1 - p): then the mean of each weight stays.",
            ask="Which operation keeps the ratio of two weights that both stay?"),
    Mistake("dropped weight shared out", alone=True,
            change=({"rescale": lambda dropped, keep, p: dropped, "finish_weights": lambda dropped, weights, keep, p: np.where(
                keep, weights + (weights - dropped).sum(axis=-1, keepdims=True) / np.maximum(
                    keep.sum(axis=-1, keepdims=True), 1), 0.0)},),
            does="The sum of the dropped weights is shared out equally among those that stay.",
            why="The factor is 1/(1 - p) for every weight: it keeps the mean, and looks at no other weight.",
            ask="On what may the factor depend, on p or on the draw?"),
    Mistake("dropped weights set to something else", alone=True,
            change=tuple({"rescale": lambda dropped, keep, p: dropped, 
                "drop": lambda weights, keep, p, other=other, scaled=scaled: np.where(keep, weights / (1 - p) if scaled else weights, other(weights, p))} for scaled in (True, False) for other in (
                lambda w, p: p, lambda w, p: 1.0, lambda w, p: w.mean(), lambda w, p: w.mean(axis=-1, keepdims=True),
                lambda w, p: -w, lambda w, p: w / 2, lambda w, p: w * p, lambda w, p: np.nan)),
            does="Where keep is False stands something else than 0.",
            why="A dropped weight is 0: its key does not count for this query.",
            ask="What should stand where keep is False?"),
    Mistake("keep added to the weights", alone=True,
            change=({"drop": lambda weights, keep, p: weights + keep}, {"drop": lambda weights, keep, p: weights - ~keep},
                    {"drop": lambda weights, keep, p: weights + keep, "rescale": lambda dropped, keep, p: dropped}),
            does="keep counts as 0 and 1 in a sum with the weights.",
            why="keep has to choose, or to be multiplied: a dropped weight is 0.",
            ask="What does True + 0.25 give, and what should it give?"),
    Mistake("another function of p", alone=True,
            change=tuple(map(rescaled_by, (np.exp, lambda p: np.exp(-p), lambda p: 1 / (1 - p ** 2), lambda p: 1 / (1 - p / 2),
                                           lambda p: 1 / (1 - p / 100), lambda p: 2, lambda p: 0.5, lambda p: 1 / (1 - p) ** 3,
                                           lambda p: 1 / (1 - np.sqrt(p)), lambda p: 1 - p ** 2, lambda p: 1 - np.log1p(-p)))),
            does="The kept weights are multiplied by a number, but not by 1 / (1 - p).",
            why="A weight is kept with probability 1 - p: the factor that restores its mean is 1/(1 - p).",
            ask="What is the mean of a weight that is kept with probability 1 - p?"),
    Mistake("small weights dropped",
            change=({"drop": lambda weights, keep, p: np.where(weights > p, weights, 0.0)},
                    {"drop": lambda weights, keep, p: np.where(weights < p, weights, 0.0)}),
            does="Weights are compared with p, and keep is not used.",
            why="p is a probability, not a threshold; the draw has been made already, and stands in keep.",
            ask="Which argument says which weights are dropped?"),
)

ALL_DROPPED, P_ZERO = "a row that is dropped whole", "p = 0"


def dropout_weights_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, shape, p, seed, dtype=np.float64):
        keep = np.random.default_rng([seed, *shape]).random(shape) >= p
        keep[..., 0] |= ~keep.any(axis=-1)
        return Case(aspect, (random_weights(*shape, seed=seed, dtype=dtype), keep, p))

    def tiny(aspect, weights, keep, p, extreme=False):
        return Case(aspect, (np.array(weights, float), np.array(keep, bool), p), extreme)

    return [
        tiny(PLAIN, [[0.5, 0.25, 0.25]], [[1, 0, 1]], 0.5),
        tiny(PLAIN, [[0.5, 0.5], [0.75, 0.25]], [[1, 1], [0, 1]], 0.2),
        case(PLAIN, (5, 7), 0.3, 1), case(PLAIN, (7, 3), 0.1, 2), case(PLAIN, (3, 11), 0.75, 3),
        case(SQUARE, (5, 5), 0.4, 4), case(LEADING, (2, 5, 7), 0.3, 5), case(LEADING, (2, 3, 5, 7), 0.6, 6),
        tiny(P_ZERO, [[0.5, 0.5]], [[1, 1]], 0.0, True),
        tiny(P_ZERO, [[0.125, 0.5, 0.375], [0.25, 0.0, 0.75]], np.ones((2, 3)), 0.0, True),
        tiny(ALL_DROPPED, [[0.5, 0.5], [0.25, 0.75]], [[1, 1], [0, 0]], 0.5, True),
        case(FLOAT32, (5, 3), 0.2, 7, f4), case(FLOAT16, (3, 5), 0.25, 8, f2),
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
    name="dropout_weights", signature="(weights, keep, p)", place=3,
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
