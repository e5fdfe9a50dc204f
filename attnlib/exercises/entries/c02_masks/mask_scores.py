"""The exercise mask_scores."""

from dataclasses import replace

import numpy as np

from ...families.masks import (BROADCAST, FITTED_FILLS, INVERTED, MASK_ASPECTS, MASK_STEPS, NO_WEIGHT, ZERO_FILL,
    add_where_masked, fill_with)
from ...families.scores import only_the_past, softmax_of
from ...families.inputs import inputs
from ...model import FLOAT32, PLAIN, Case, Exercise, Mistake, alike, normal


def mask_scores_answer(do, scores, attn_mask):
    return do.finish_masked(do.fill(scores, do.sense(attn_mask), do.dtype))


def lowest_of_dtype(scores, mask, dtype):
    return np.where(mask, scores, float(np.finfo(dtype).min))


FILLS = (-1e9, -1e10, -1e8, -1e6, -1e5, -1e4, -1e3, -100.0, -1e12, -1e15, -1e18, -1e20, -1e30, -1e38, -9999.0, -99999.0,
         -999999.0)


def _filled(*fills):
    """Other numbers, of the scores alone, where the mask is False."""
    return tuple({"fill": lambda scores, mask, dtype, of=of: np.where(mask, scores, of(scores))} for of in fills)


def _joined(*ways):
    """Scores and mask joined by arithmetic."""
    return tuple({"fill": lambda scores, mask, dtype, way=way: way(scores, mask)} for way in ways)


def _times(allowed, masked):
    return {"fill": lambda scores, mask, dtype: scores * np.where(mask, allowed, masked)}


def _hidden_with(reduce, axis):
    """The mask as it is for one query, or one key, and then for all."""
    return {"fill": lambda scores, mask, dtype: np.where(
        reduce(np.broadcast_to(mask, scores.shape), axis=axis, keepdims=True), scores, -np.inf)}


def _first_rows(rows):
    """Scores of which only these rows are masked."""
    def fill(scores, mask, dtype):
        found, masked = scores.copy(), np.where(mask, scores, -np.inf)
        found[..., rows, :] = masked[..., rows, :]
        return found

    return {"fill": fill}


def _any_key(scores, mask):
    return np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True)


def _row_min(scores):
    return scores.min(axis=-1, keepdims=True)


SHAPE_KEPT = "Where the mask is True the score stays as it is, and the scores keep their shape: the mask chooses."

MASK_MISTAKES = (
    INVERTED, ZERO_FILL,
    *alike("Only -inf gives a weight of exactly 0: a mask cannot be added or multiplied in, it has to choose.",
           "What do True + 2.5, 0 * inf and -3 * -inf give, and what should stand there?",
           ("mask added", _joined(np.add, lambda s, m: s - m, lambda s, m: s - ~m, lambda s, m: s + ~m),
            "Some scores change by 1, and none becomes -inf."),
           ("0 times infinity", _joined(*(lambda s, m, v=v: s + np.where(m, np.nan, v) for v in (-np.inf, np.inf))),
            "Scores of allowed keys are NaN: 0 is multiplied by infinity."),
           ("multiplied by infinity",
            (_times(1.0, -np.inf), _times(1.0, np.inf), _times(-0.0, np.inf), _times(0.0, -np.inf),
             *(_times(1.0, v) for v in (-1e9, 1e9, -1e10, -1e4))),
            "Masked scores are multiplied by infinity or a large number, or divided by 0, as by a mask: their signs "
            "decide "
            "what comes out.")),
    *alike("The softmax takes the exponential of each score: a masked one must not count at all, and only -inf does "
           "not.", NO_WEIGHT,
           ("+inf instead of -inf", {"fill": fill_with(np.inf)}, "Masked scores are +inf."),
           ("NaN instead of -inf", {"fill": fill_with(np.nan)}, "Masked scores are NaN."),
           ("large positive number instead of -inf", tuple({"fill": fill_with(-value)} for value in FILLS),
            "Masked scores are a large positive number."),
           ("the lowest score instead of -inf", _filled(np.min, _row_min),
            "Masked scores are as low as the lowest one, and no lower."),
           ("masked scores negated", _filled(np.negative), "Masked scores have changed their sign.")),
    Mistake("tiny number instead of -inf", alone=True,
            change=tuple({"fill": fill_with(value)} for value in (1e-9, 1e-10, 1e-8, 1e-6, 1e-12, -1e-9, -1e-10)),
            does="Masked scores are 1e-9 or the like: nearly 0, where -1e9 is far below.",
            why="The softmax takes the exponential of each score: a masked one must not count at all, and only -inf does "
                "not.", ask=NO_WEIGHT),
    Mistake("large negative number instead of -inf",
            change=(*({"fill": fill_with(value)} for value in FILLS), {"fill": lowest_of_dtype},
                    *({"fill": add_where_masked(value)} for value in FILLS[:10])),
            does="Masked scores are a large negative number, or are lowered by such a number.",
            why="Scores may be large themselves, and a row in which all keys are masked becomes "
                "uniform instead of empty. Only -inf is below every score in every dtype.",
            ask="What are the weights of a row in which every key is masked?"),
    Mistake("mask transposed", change={"sense": lambda mask: np.swapaxes(mask, -1, -2) if mask.ndim > 1 else mask},
            does="Entry [i, j] of the scores is masked by entry [j, i] of the mask, where the shapes fit at all.",
            why="The mask has the scores' own axes: its rows belong to queries, its columns to keys.",
            ask="What does row 0 of the mask say, and about which query?"),
    Mistake("causal mask instead of the given one", change={"fill": lambda scores, mask, dtype: only_the_past(scores)},
            does="Scores of later keys are -inf, whatever the mask says.",
            why="The caller says which keys may be seen: it may be padding, a window, or anything else.",
            ask="Where does your function use attn_mask?"),
    *alike(SHAPE_KEPT, "What should stand in your answer where the mask is True, and what where it is False?",
           ("masked scores removed", _joined(lambda s, m: s[m], lambda s, m: s[np.broadcast_to(m, s.shape)]),
            "The answer is one long row of the allowed scores."),
           ("mask ignored", _joined(lambda s, m: s), "The scores come back as they were."),
           ("additive mask instead of the scores",
            _joined(*(lambda s, m, v=v: np.broadcast_to(np.where(m, v, -np.inf), s.shape) for v in (0.0, 1.0))),
            "Allowed scores are lost: the answer is 0 or 1 where the mask is True, and -inf elsewhere.")),
    Mistake("hidden for all queries",
            change=tuple(_hidden_with(reduce, axis) for axis in (-2, -1) for reduce in (np.all, np.any)),
            does="A whole row or column is treated alike: as soon as one entry of the mask is False, or only if all "
                 "are.",
            why="Each entry of the mask speaks for one query and one key.",
            ask="Over which axis does your all, or any, go?"),
    *(replace(mistake, alone=True) for mistake in alike(
        "A mean score, or one a little lower than the others, still has a weight. Only -inf is below every score.",
        NO_WEIGHT,
        ("the mean instead of -inf", _filled(np.mean, lambda s: s.mean(axis=-1, keepdims=True)),
         "Masked scores are the mean of the scores."),
        ("only below the lowest score",
         _filled(lambda s: s.min() - 1, lambda s: _row_min(s) - 1, lambda s: s - s.max()),
         "Masked scores are a little lower than the lowest one."))),
    *(replace(mistake, alone=True) for mistake in alike(
        SHAPE_KEPT + " Each row has a mask of its own, and it may be False throughout.",
        "Which rows does your function go through, and what does it do with a row in which every key is masked?",
        ("rows without any key not masked",
         _joined(lambda s, m: np.where(m | ~_any_key(s, m), s, -np.inf),
                 lambda s, m: np.where(m, s, np.where(_any_key(s, m), -np.inf, 0.0))),
         "It is right, unless a whole row is masked: that row keeps its scores, or gets zeros."),
        ("only the first row masked", tuple(map(_first_rows, (slice(0, 1), slice(1, None), slice(-1, None)))),
         "Some rows of the scores are masked, and the others stay as they were."),
        ("allowed scores changed",
         _joined(lambda s, m: np.where(m, 1.0, s), lambda s, m: np.where(m, np.abs(s), -np.inf),
                 lambda s, m: np.where(m, -s, -np.inf)),
         "Scores of allowed keys are changed."))),
    Mistake("softmax already applied", change={"finish_masked": softmax_of},
            does="Each row sums to 1: the answer holds weights, not scores.",
            why="Masked scores are asked for; the softmax comes after.",
            ask="Which step of attention comes after the mask?"),
)


def _masking_cases():
    def mask(*shape, seed=0):
        return np.random.default_rng([seed, *shape]).random(shape) < 0.6

    def drawn(shape, seed, dtype):
        return mask(*shape, seed=seed)

    return [
        Case(PLAIN, (np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]),
                     np.array([[True, False, True], [False, True, True]]))),
        Case(BROADCAST, (np.array([[1.0, -2.0], [3.0, 4.0]]), np.array([True, False]))),
        Case(BROADCAST, (normal(2, 5, 3, seed=4), mask(5, 3))),
        Case(BROADCAST, (normal(2, 3, 5, 7, seed=5), mask(2, 1, 1, 7))),
        Case("a row without any key", (np.array([[1.0, 2.0]]), np.array([[False, False]]))),
        Case("everything allowed", (normal(3, 5, seed=7), np.ones((3, 5), bool))),
        Case("scores of ±10000", (np.array([[1e4, -1e4, 3.0]]), np.array([[False, True, True]]))),
        Case(FLOAT32, (np.array([[1, 2]], np.float32), np.array([[False, True]]))),
        *inputs(dict(scores="n_q n_k", attn_mask="n_q n_k"), make={"attn_mask": drawn}),
    ]


EXERCISE = Exercise(
    name="mask_scores", signature="(scores, attn_mask)", place=7,
    axes=dict(scores="n_q n_k", attn_mask="n_q n_k"), answer_axes="n_q n_k",
    text="The scores, with -inf where the boolean mask is False.",
    answer=mask_scores_answer, steps=MASK_STEPS, cases=_masking_cases, fitted=FITTED_FILLS,
    hints=(
        "True means: may attend. These scores stay as they are. What should the others become?",
        "After the softmax a masked key must have a weight of exactly 0: exp(score) = 0.",
        "np.where chooses between two values, entry by entry, and broadcasts: the mask first, then "
        "what stands where it is True, then what stands where it is False.",
    ),
    mistakes=MASK_MISTAKES, aspects=MASK_ASPECTS,
)
