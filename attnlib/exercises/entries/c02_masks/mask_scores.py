"""The exercise mask_scores."""

import numpy as np

from ...families.masks import (BROADCAST, FITTED_FILLS, INVERTED, MASK_ASPECTS, MASK_STEPS, ZERO_FILL, add_where_masked,
    fill_with)
from ...families.scores import only_the_past, softmax_of
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal


def mask_scores_answer(do, scores, attn_mask):
    return do.finish_masked(do.fill(scores, do.sense(attn_mask), do.dtype))


def lowest_of_dtype(scores, mask, dtype):
    return np.where(mask, scores, float(np.finfo(dtype).min))


FILLS = (-1e9, -1e10, -1e8, -1e6, -1e5, -1e4, -1e3, -100.0, -1e12, -1e15, -1e18, -1e20, -1e30, -1e38,
         -9999.0, -99999.0, -999999.0)


def _removed(scores, mask, dtype):
    return scores[mask]


def _all_removed(scores, mask, dtype):
    return scores[np.broadcast_to(mask, scores.shape)]


MASK_MISTAKES = (
    INVERTED,
    ZERO_FILL,
    Mistake("mask added",
            change=({"fill": lambda scores, mask, dtype: scores + mask},
                    {"fill": lambda scores, mask, dtype: scores - mask},
                    {"fill": lambda scores, mask, dtype: scores - ~mask},
                    {"fill": lambda scores, mask, dtype: scores + ~mask}),
            does="Some scores change by 1, and none becomes -inf.",
            why="A boolean mask counts as 0 and 1 in a sum. It has to choose, not to be added.",
            ask="What does True + 2.5 give, and what should it give?"),
    Mistake("+inf instead of -inf", change={"fill": fill_with(np.inf)},
            does="Masked scores are +inf.",
            why="exp(+inf) is infinite: the softmax becomes NaN.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("0 times infinity",
            change=({"fill": lambda scores, mask, dtype: scores + np.where(mask, np.nan, -np.inf)},
                    {"fill": lambda scores, mask, dtype: scores + np.where(mask, np.nan, np.inf)}),
            does="Scores of allowed keys are NaN.",
            why="0 * inf is NaN: a mask times infinity does not leave allowed scores alone.",
            ask="What is 0 * inf, and how can the mask choose instead of multiply?"),
    Mistake("NaN instead of -inf", change={"fill": fill_with(np.nan)},
            does="Masked scores are NaN.",
            why="NaN spreads: one of them makes a whole row of the softmax NaN.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("large negative number instead of -inf",
            change=tuple({"fill": fill_with(value)} for value in FILLS) + ({"fill": lowest_of_dtype},) +
            tuple({"fill": add_where_masked(value)} for value in FILLS[:10]),
            does="Masked scores are a large negative number, or are lowered by such a number.",
            why="Scores may be large themselves, and a row in which all keys are masked becomes "
                "uniform instead of empty. Only -inf is below every score in every dtype.",
            ask="What are the weights of a row in which every key is masked?"),
    Mistake("tiny number instead of -inf",
            change=tuple({"fill": fill_with(value)} for value in (1e-9, 1e-10, 1e-8, 1e-6, 1e-12, -1e-9, -1e-10)),
            does="Masked scores are 1e-9 or the like: nearly 0.",
            why="1e-9 is a small number and -1e9 a very negative one. exp(1e-9) is 1: a masked key keeps a weight.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
    Mistake("large positive number instead of -inf",
            change=tuple({"fill": fill_with(-value)} for value in FILLS),
            does="Masked scores are a large positive number.",
            why="The largest score gets the largest weight: the softmax would attend to masked keys alone.",
            ask="Which sign must a score have that gets no weight?"),
    Mistake("multiplied by infinity",
            change=({"fill": lambda scores, mask, dtype: scores * np.where(mask, 1.0, -np.inf)},
                    {"fill": lambda scores, mask, dtype: scores * np.where(mask, 1.0, np.inf)},
                    {"fill": lambda scores, mask, dtype: scores * np.where(mask, -0.0, np.inf)},
                    {"fill": lambda scores, mask, dtype: scores * np.where(mask, 0.0, -np.inf)},
                    *({"fill": lambda scores, mask, dtype, v=v: scores * np.where(mask, 1.0, v)}
                      for v in (-1e9, 1e9, -1e10, -1e4))),
            does="Masked scores are multiplied by infinity or a large number, or divided by 0, as by a mask: their signs decide "
                 "what comes out.",
            why="A score times infinity, or divided by 0, is +inf, -inf or NaN as its sign is. The mask has to choose.",
            ask="What becomes of a negative score, and of a score of 0?"),
    Mistake("causal mask instead of the given one", change={"fill": lambda scores, mask, dtype: only_the_past(scores)},
            does="Scores of later keys are -inf, whatever the mask says.",
            why="The caller says which keys may be seen: it may be padding, a window, or anything else.",
            ask="Where does your function use attn_mask?"),
    Mistake("masked scores removed", change=({"fill": _removed}, {"fill": _all_removed}),
            does="The answer is one long row of the allowed scores.",
            why="The scores must keep their shape: weights and values still line up with the keys.",
            ask="Which function chooses between two values, entry by entry?"),
    Mistake("mask ignored", change={"fill": lambda scores, mask, dtype: scores},
            does="The scores come back as they were.",
            why="Where the mask is False the score must become -inf.",
            ask="Where in your function does the mask change a score?"),
    Mistake("the lowest score instead of -inf",
            change=({"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min())},
                    {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=-1, keepdims=True))}),
            does="Masked scores are as low as the lowest one, and no lower.",
            why="The lowest score still has a weight.",
            ask="Which score gives a weight of exactly 0 after the softmax?"),
)


def _hidden_with(reduce, axis):
    """The mask as it is for one query, or one key, and then for all."""
    return lambda scores, mask, dtype: np.where(
        reduce(np.broadcast_to(mask, scores.shape), axis=axis, keepdims=True), scores, -np.inf)


def _first_rows(scores, mask, rows):
    """Scores of which only these rows are masked."""
    found, masked = scores.copy(), np.where(mask, scores, -np.inf)
    found[..., rows, :] = masked[..., rows, :]
    return found


HIDDEN_FOR_ALL = Mistake(
    "hidden for all queries",
    change=({"fill": _hidden_with(np.all, -2)}, {"fill": _hidden_with(np.any, -2)},
            {"fill": _hidden_with(np.all, -1)}, {"fill": _hidden_with(np.any, -1)}),
    does="A whole row or column is treated alike: as soon as one entry of the mask is False, or only if all are.",
    why="Each entry of the mask speaks for one query and one key.",
    ask="Over which axis does your all, or any, go?")

NO_SCORES_LEFT = Mistake(
    "additive mask instead of the scores",
    change=tuple({"fill": lambda scores, mask, dtype, v=v: np.broadcast_to(np.where(mask, v, -np.inf), scores.shape)}
                 for v in (0.0, 1.0)),
    does="Allowed scores are lost: the answer is 0 or 1 where the mask is True, and -inf elsewhere.",
    why="An allowed score stays as it is. Such a mask still has to be added to the scores.",
    ask="Where in your answer do the scores stand?")


def _masking_cases():
    def mask(*shape, seed=0):
        return np.random.default_rng([seed, *shape]).random(shape) < 0.6

    f4, f2 = np.float32, np.float16
    return [
        Case(PLAIN, (np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]),
                     np.array([[True, False, True], [False, True, True]]))),
        Case(PLAIN, (normal(5, 7, seed=1), mask(5, 7))),
        Case(PLAIN, (normal(3, 11, seed=2), mask(3, 11))),
        Case(SQUARE, (normal(5, 5, seed=3), mask(5, 5))),
        Case(BROADCAST, (np.array([[1.0, -2.0], [3.0, 4.0]]), np.array([True, False]))),
        Case(BROADCAST, (normal(2, 5, 3, seed=4), mask(5, 3))),
        Case(BROADCAST, (normal(2, 3, 5, 7, seed=5), mask(2, 1, 1, 7))),
        Case(LEADING, (normal(2, 5, 3, seed=6), mask(2, 5, 3))),
        Case("a row without any key", (np.array([[1.0, 2.0]]), np.array([[False, False]]))),
        Case("everything allowed", (normal(3, 5, seed=7), np.ones((3, 5), bool))),
        Case("scores of ±10000", (np.array([[1e4, -1e4, 3.0]]), np.array([[False, True, True]]))),
        Case(FLOAT32, (normal(5, 3, seed=8, dtype=f4), mask(5, 3))),
        Case(FLOAT16, (normal(5, 3, seed=9, dtype=f2), mask(5, 3))),
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
    mistakes=MASK_MISTAKES + (
        HIDDEN_FOR_ALL, NO_SCORES_LEFT,
        Mistake("the mean instead of -inf", alone=True,
                change=({"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.mean())},
                        {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.mean(axis=-1, keepdims=True))}),
                does="Masked scores are the mean of the scores.",
                why="A mean score still has a weight.",
                ask="Which score gives a weight of exactly 0 after the softmax?"),
        Mistake("only below the lowest score", alone=True,
                change=({"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min() - 1)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores.min(axis=-1, keepdims=True) - 1)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, scores, scores - scores.max())}),
                does="Masked scores are a little lower than the lowest one.",
                why="A score a little lower still has a weight. Only -inf is below every score.",
                ask="Which score gives a weight of exactly 0 after the softmax?"),
        Mistake("rows without any key not masked", alone=True,
                change=({"fill": lambda scores, mask, dtype: np.where(mask | ~np.broadcast_to(mask, scores.shape).any(
                            axis=-1, keepdims=True), scores, -np.inf)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, scores, np.where(np.broadcast_to(
                            mask, scores.shape).any(axis=-1, keepdims=True), -np.inf, 0.0))}),
                does="It is right, unless a whole row is masked: that row keeps its scores, or gets zeros.",
                why="Where the mask is False the score is -inf, also if that is everywhere in a row. What a softmax "
                    "makes of such a row is another question.",
                ask="What should stand in a row in which every key is masked?"),
        Mistake("only the first row masked", alone=True,
                change=({"fill": lambda scores, mask, dtype: _first_rows(scores, mask, slice(0, 1))},
                        {"fill": lambda scores, mask, dtype: _first_rows(scores, mask, slice(1, None))},
                        {"fill": lambda scores, mask, dtype: _first_rows(scores, mask, slice(-1, None))}),
                does="Some rows of the scores are masked, and the others stay as they were.",
                why="The mask has a row for each query.",
                ask="Which rows does your function go through?"),
        Mistake("masked scores negated", change={"fill": lambda scores, mask, dtype: np.where(mask, scores, -scores)},
                does="Masked scores have changed their sign.",
                why="A negated score still has a weight, and may be the largest.",
                ask="Which score gives a weight of exactly 0 after the softmax?"),
        Mistake("allowed scores changed", alone=True,
                change=({"fill": lambda scores, mask, dtype: np.where(mask, 1.0, scores)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, np.abs(scores), -np.inf)},
                        {"fill": lambda scores, mask, dtype: np.where(mask, -scores, -np.inf)}),
                does="Scores of allowed keys are changed.",
                why="Where the mask is True the score stays as it is.",
                ask="What stands in your answer where the mask is True?"),
        Mistake("softmax already applied", change={"finish_masked": softmax_of},
                does="Each row sums to 1: the answer holds weights, not scores.",
                why="Masked scores are asked for; the softmax comes after.",
                ask="Which step of attention comes after the mask?"),
    ),
    aspects=MASK_ASPECTS,
)
