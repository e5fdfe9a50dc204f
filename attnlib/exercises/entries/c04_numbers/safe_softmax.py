"""The exercise safe_softmax."""

from dataclasses import replace

import numpy as np

from ...families.choose import also, pick
from ...families.logsumexp import DEAD_ROW
from ...families.masks import ZERO_FILL
from ...families.softmax import (ALL_SOFTMAX_MISTAKES, COUNTED_AS_1, LOWEST_INSTEAD, LOW_FILLS, SOFTMAX_STEPS,
                                 along_cases,
    beside_dead_rows, lowest_scores, softmax_steps_answer)
from ...model import FLOAT16, FLOAT32, HUGE, NEG_INF, Case, Exercise, Mistake, Step, normal


def safe_softmax_answer(do, scores):
    weights = softmax_steps_answer(do, do.fill(scores, do.dtype), -1)
    return do.rescue(weights, scores)


def _dead(scores):
    return np.isneginf(scores).all(axis=-1, keepdims=True)


def _dead_rows(fill):
    return {"rescue": lambda weights, scores: np.where(_dead(scores), fill(scores), weights)}


def _first_key(scores):
    return np.arange(scores.shape[-1]) == 0


def _filled(value, rescued=False):
    """A number for -inf, as the dtype can hold it: -1e9 is -inf in float16."""
    def fill(scores, dtype):
        with np.errstate(over="ignore"):
            return np.where(np.isneginf(scores), float(np.array(value).astype(dtype)), scores)

    # with the maximum of each row: without it, and with -1e9, the row is NaN as with -inf
    left = {} if rescued else {"rescue": lambda weights, scores: weights}
    return {"fill": fill, "shift": SOFTMAX_STEPS["shift"], **left}


DEAD_ROWS_NAN = Mistake(
    "dead rows NaN", change=_dead_rows(lambda scores: np.nan),
    does="A row of nothing but -inf gives NaN.",
    why="Its maximum is -inf and -inf - -inf is NaN; or its sum is 0 and 0 / 0 is NaN. One NaN "
        "spreads to everything that is computed from it.",
    ask="What are the maximum and the sum of a row of nothing but -inf, and what may stand in their "
        "place?")

DEAD_ROWS_UNIFORM = Mistake(
    "dead rows uniform", change=_dead_rows(lambda scores: 1 / scores.shape[-1]),
    does="A row of nothing but -inf gives equal weights.",
    why="A query that may attend to nothing would attend to everything, padding and future alike. "
        "A large negative number in place of -inf does this: all scores of the row are then equal.",
    ask="How much weight may a key have that must not be seen?")

DEAD_ROW_MISTAKES = (
    DEAD_ROWS_NAN, DEAD_ROWS_UNIFORM,
    Mistake("dead rows NaN in float16", alone=True,
            change={"fill": lambda s, dtype: np.where(_dead(s), np.nan if np.dtype(dtype) == np.float16 else 0.0, s),
                    "rescue": lambda w, s: np.where(_dead(s) & ~np.isnan(w), 0.0, w)},
            does="A row of nothing but -inf gives NaN in float16, and zeros in wider dtypes.",
            why="float16 reaches from 6e-8 to 65504. A number such as 1e-9 is 0 in it, and -1e9 is -inf: what should keep "
                "NaN away is not there.",
            ask="Which numbers stand in your function, and what are they in float16?"),
    Mistake("dead rows not zero",
            change=(_dead_rows(lambda scores: 1.0), _dead_rows(_first_key), _dead_rows(lambda scores: -np.inf),
                    _dead_rows(lambda scores: np.inf)),
            does="A row of nothing but -inf gives weights that are not 0.",
            why="A query that may attend to nothing gets no weights at all: its output is 0.",
            ask="How much weight may a key have that must not be seen?"),
    Mistake("large negative number instead of -inf",
            change=tuple(_filled(value) for value in (-1e9, -1e4, -9999.0, -1e3, -100.0)) + tuple(
                _filled(value, True) for value in LOW_FILLS[2:]),
            numbers=lambda numbers: [_filled(v, rescued) for v in numbers if v <= -5 for rescued in (False, True)],
            does="A number such as -1e9 stands in for -inf: beside scores as low it gets a weight. A row of nothing "
                 "but "
                 "-inf becomes uniform, or NaN in float16, which cannot hold -1e9, unless it is set to 0 afterwards.",
            why="Scores of -10000 are legal, and a row of nothing but -inf has no weights. Only -inf "
                "is below every score in every dtype.",
            ask="What are the weights of the scores -10000, -inf?"),
    replace(ZERO_FILL, change=_filled(0.0), does="Scores of -inf count as 0."),
    replace(LOWEST_INSTEAD, change=tuple(
        {"fill": lambda s, dtype, axis=axis: np.where(np.isneginf(s), lowest_scores(s, axis), s),
         "rescue": lambda w, s: w}
        for axis in (None, -1))),
    replace(COUNTED_AS_1, change=(COUNTED_AS_1.change, {
        **COUNTED_AS_1.change, "rescue": lambda w, s: np.where(_dead(s), 0.0, w)})),
    Mistake("any -inf empties the row",
            change={"rescue": lambda w, s: np.where(np.isneginf(s).any(axis=-1, keepdims=True), 0.0, w)},
            does="A row with a single -inf among its scores gives zeros.",
            why="Only a row that is all -inf is empty; in any other one the remaining keys share the weight.",
            ask="Which rows have nothing left to attend to: those with any -inf, or those with nothing else?"),
    Mistake("one dead row empties all",
            change=({"rescue": lambda w, s: w * (not _dead(s).any())},
                    {"rescue": lambda w, s: np.where(_dead(s).any(), 0.0, w)}),
            does="If one row is all -inf, all rows give zeros.",
            why="Each query has weights of its own.",
            ask="Does your test ask about one row, or about the whole array?"),
    Mistake("only an array of nothing but -inf is seen as dead",
            change={"rescue": lambda w, s: np.where(np.isneginf(s).all(), 0.0, np.where(_dead(s), np.nan, w))},
            does="A dead row among others gives NaN; only if all rows are dead they give zeros.",
            why="Each row has to be looked at by itself.",
            ask="Does your test ask about one row, or about the whole array?"),
    Mistake("dead rows left out", change={"rescue": lambda w, s: w[~_dead(s)[..., 0]]},
            does="Rows of nothing but -inf are missing from the answer.",
            why="The weights must keep their shape: row i belongs to query i.",
            ask="Which row of the answer belongs to the query behind a dead one?"),
    Mistake("row of negative scores taken for dead",
            change=tuple({"rescue": lambda w, s, c=c: np.where(s.max(axis=-1, keepdims=True) < c, 0.0, w)}
                         for c in (0.0, -100.0, -700.0, -745.0, -1e3, -5000.0)),
            does="A row of large negative scores gives zeros.",
            why="Only a row that is all -inf is empty. Scores of -10000 and -9999 have weights as any others.",
            ask="What are the weights of the scores -10000, -9999?"),
)

STOPS = Mistake(
    "error at a dead row",
    does="The function raises an exception where a row is all -inf.",
    why="Such a row is no error: a query that may attend to nothing gets zeros, and the others their weights.",
    ask="What should the answer be for a query that may attend to nothing?")


def stops_at_dead_rows(run):
    """An audit: whether a dead row makes the function raise, or fail an assertion, of its own."""
    failure = run(np.array([[0.0, 1.0], [-np.inf, -np.inf]])).failure
    own = failure and (failure.kind == "AssertionError" or failure.line.startswith("raise"))
    return STOPS if own and not run(np.array([[0.0, 1.0], [2.0, -np.inf]])).failure else None


def _beside_dead_rows(mistake):
    """The minimum may be taken of the finite scores alone; and a sum may be 0."""
    if mistake.name == "minimum subtracted instead of maximum":
        return also(mistake, {"shift": lambda s, axis: s - lowest_scores(s, axis)})
    return beside_dead_rows(mistake)


def _cases():
    inf = np.inf

    def case(aspect, scores, dtype=np.float64):
        return Case(aspect, (np.array(scores, dtype),), True)

    some = normal(2, 3, 5, 7, seed=12)
    some[0, 1, 2] = some[1, 2, 4] = -inf
    return [
        *along_cases(with_axis=False), case(HUGE, [[-500, -499], [-1, -2]]), case(HUGE, [[-800, -799], [-720, -721]]),
        *(case(NEG_INF, rows) for rows in ([[-10000, -inf], [-inf, -10000]], [[-1000, -inf, -999.5]],
                                           [[-100, -inf, -99.5]])),
        *(case(DEAD_ROW, rows) for rows in ([[-inf, -inf]], [[0, 1], [-inf, -inf]], [-inf] * 3, [[-inf] * 3] * 2,
                                            [[0, -inf, 1], [-inf] * 3], some)),
        case(FLOAT32, [[-inf, -inf], [0, 1]], np.float32), case(FLOAT16, [[-inf, -inf], [0, 1]], np.float16),
    ]


EXERCISE = Exercise(
    name="safe_softmax", signature="(scores)", place=4,
    axes=dict(scores="n_q n_k"), answer_axes="n_q n_k",
    text="The softmax over the last axis. A row of nothing but -inf gives zeros, not NaN.",
    answer=safe_softmax_answer,
    steps={
        **SOFTMAX_STEPS,
        "fill": Step(lambda scores, dtype: scores, "the masked scores"),
        "rescue": lambda weights, scores: np.where(_dead(scores), 0.0, weights),
    },
    cases=_cases, audits=(stops_at_dead_rows,),
    hints=(
        "Where does NaN come from in a row of nothing but -inf? Look at its maximum, and at its sum.",
        "-inf - -inf is NaN. If 0 is subtracted from such a row instead, exp gives zeros.",
        "Then the row's sum is 0, and 0 / 0 is NaN again. Divided by 1 the zeros stay zeros.",
        "Twice np.where, before use: where the maximum is -inf take 0; where the sum is 0 take 1. "
        "All other rows stay as they are.",
    ),
    mistakes=(
        *DEAD_ROW_MISTAKES, *map(_beside_dead_rows, pick(
            ALL_SOFTMAX_MISTAKES, "no maximum subtracted", "minimum subtracted instead of maximum",
            "mean subtracted instead of maximum", "median subtracted instead of maximum", "maximum never below 0",
            "a fixed number subtracted instead of the maximum", "one maximum for the whole array",
            "one score subtracted instead of the maximum", "maximum of absolute values", "divided by the maximum",
            "maximum added", "scores clipped", "standardised scores", "no exponential",
            "absolute values instead of exponentials",
            "squares instead of exponentials", "power of 2 instead of e", "power of 10 instead of e",
            "exponential taken twice",
            "softplus instead of exp", "1 subtracted from the exponentials", "sigmoid instead of softmax",
            "argmax instead of softmax", "sign flipped", "not divided by the sum", "divided by the mean",
            "divided by the Euclidean length", "divided by the number of scores", "sum over the wrong axis",
            "sum without keepdims", "epsilon in the denominator", "sum never below 1", "one score left out of the sum",
            "exponential of the sum instead of the sum of exponentials", "divided by the sum of the scores",
            "logarithm of the softmax", "softmax over everything", "softmax over the queries' axis",
            "softmax over the first axis", "softmax over all axes but the first", "softmax over the second axis",
            "maximum without keepdims", "maximum over the wrong axis", "rounded", "small weights raised",
            "softmax twice",
            "uniform weights"))),
)
