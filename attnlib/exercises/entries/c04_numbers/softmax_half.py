"""The exercise softmax_half."""

import numpy as np

from ...families.softmax import OVER_OTHER_AXES, SCORES_CUT
from ...model import HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, each, normal, ways

LONG = "long rows"


def softmax_half_answer(do, scores):
    wide = do.widen(np.asarray(scores, dtype=np.float64))
    powers = do.power(do.shift(wide))
    return do.narrow(do.divide(powers, do.total(powers)))


def half(array):
    """Rounded to float16, and wide again."""
    with np.errstate(over="ignore"):
        return np.asarray(array).astype(np.float16).astype(np.float64)


def _half_sum(powers):
    """Added up in float16, one by one."""
    total = np.zeros(powers.shape[:-1], np.float16)
    for k in range(powers.shape[-1]):
        total = total + powers[..., k].astype(np.float16)
    return total[..., None].astype(np.float64)


def _by_lse_in_float32(scores):
    wide = np.asarray(scores, np.float32)
    return np.exp(wide - np.logaddexp.reduce(wide, axis=-1, keepdims=True)).astype(np.float64)


def _cases():
    def case(aspect, scores, extreme=False):
        return Case(aspect, (np.array(scores, np.float16),), extreme, relative=6e-4)

    def drawn(aspect, *shape, seed=0, scale=1.0):
        return Case(aspect, (normal(*shape, seed=seed, dtype=np.float16, scale=scale),), relative=6e-4)

    return [
        case(PLAIN, [[0, 1], [2, 0]]), case(PLAIN, [[1, 2, 3]]), drawn(PLAIN, 5, 7, seed=1), drawn(PLAIN, 7, 3, seed=2),
        drawn(PLAIN, 3, 41, seed=3), case(SQUARE, [[0, 1], [2, 4]]), drawn(SQUARE, 5, 5, seed=4),
        case("one row", [0, 1, 2]), case("one key", [[3], [5]]), case(LEADING, [[[0, 1]], [[2, 0]]]),
        drawn(LEADING, 2, 3, 5, 7, seed=5), drawn(LONG, 2, 4099, seed=6), drawn(LONG, 1, 2500, seed=7, scale=0.1),
        case("scores of 12 and more", [[12, 11], [20, 30]], True),
        case(HUGE, [[1001, 1000], [-1000, -1001]], True), case(HUGE, [[10000, 9999], [-10000, -9999]], True),
        case(HUGE, [[60000, -60000], [0, 60000]], True), case(HUGE, [[60000, 60000]], True),
        # 1.29 - 4.25 is rounded by nearly half a gap in float16, and 30 such weights are more than the first.
        case("many small weights", [[4.25] + [1.29] * 30]),
    ]


IN_FLOAT16 = {"power": lambda s: half(np.exp(s)), "divide": lambda p, total: half(p / total),
              "total": lambda p: half(p.astype(np.float16).sum(axis=-1, keepdims=True))}

EXERCISE = Exercise(
    name="softmax_half", signature="(scores)", place=5,
    axes=dict(scores="n_q n_k"), answer_axes="n_q n_k",
    text="The softmax of each row of float16 scores (..., n), computed in float32 or wider and rounded once.",
    answer=softmax_half_answer,
    steps={
        "widen": lambda scores: scores,
        "shift": Step(lambda scores: scores - scores.max(axis=-1, keepdims=True), "the shifted scores"),
        "power": Step(np.exp, "the exponentials"),
        "total": Step(lambda powers: powers.sum(axis=-1, keepdims=True), "the sum of the exponentials", True),
        "divide": lambda powers, total: powers / total,
        "narrow": Step(half, "the weights"),
    },
    cases=_cases,
    hints=(
        "float16 has 11 binary digits: every step that is computed in it rounds, and the errors of a long sum add up.",
        "scores.astype(np.float32) widens once, at the start; everything after it is float32.",
        "Maximum, exp, sum and quotient as always; and at the very end .astype(scores.dtype), where scores is the "
        "array that came in.",
    ),
    mistakes=(
        *alike("Each step in float16 is rounded to 11 binary digits. Widened once at the start and rounded once at the end, "
               "the answer is the float16 number nearest to the exact one, or next to it.",
               "Which of your lines computes in float16?",
               ("computed in float16", ({**IN_FLOAT16, "shift": lambda s: half(s - s.max(axis=-1, keepdims=True))}, IN_FLOAT16),
                "All steps, or all from the exponentials on, are computed in float16."),
               ("maximum subtracted in float16", {"shift": lambda s: half(s - s.max(axis=-1, keepdims=True))},
                "The difference of score and maximum is rounded to float16, before anything is widened."),
               ("exponentials rounded to float16", ({"power": lambda s: half(np.exp(s))}, {
                   "shift": lambda s: half(s - s.max(axis=-1, keepdims=True)), "power": lambda s: half(np.exp(s))}),
                "The exponentials are rounded before they are added."),
               ("sum in float16", ({"total": _half_sum}, {"total": lambda p: half(p.sum(axis=-1, keepdims=True))}),
                "The sum of the exponentials is added up in float16, or rounded to it.")),
        *alike("exp overflows above 11 in float16, and above 88 in float32. With the row's maximum subtracted no exponent is "
               "above 0.", "Which number makes the largest exponent of each row 0?",
               ("no maximum subtracted", {"shift": lambda scores: scores}, "For small scores it is right; for large ones it is NaN."),
               ("one maximum for the whole array", {"shift": lambda scores: scores - scores.max()},
                "In rows far below the largest score of all, every exponential is 0, and 0 / 0 is NaN.")),
        SCORES_CUT,
        *alike("Each query has a softmax of its own, over the keys: the last axis.", "What does each row of your answer sum to?",
               *OVER_OTHER_AXES,
               ("softmax over everything", {"total": lambda p: p.sum()}, "All exponentials are divided by one sum."),
               ("not divided", {"divide": lambda powers, total: powers}, "The rows do not sum to 1: nothing is divided.")),
        Mistake("log-sum-exp in float32", change={"answer": _by_lse_in_float32},
                does="The log-sum-exp is subtracted in float32. For scores of 60000 the weights are off.",
                why="Near 60000 float32 numbers lie 0.004 apart, and the log-sum-exp is one of them. With the maximum subtracted "
                    "first no large number is left.",
                ask="How far apart are float32 numbers near 60000, and what does that do to a weight?"),
        Mistake("rounded besides", change=ways("narrow", *(lambda weights, n=n: half(np.round(weights, n)) for n in (2, 3, 4))),
                numbers=each(lambda n: {"narrow": lambda weights: half(np.round(weights, n))}, (1, 5, 6).__contains__),
                does="The weights are rounded to a few decimals: small ones become 0.",
                why="float16 keeps 11 binary digits of a small weight, too. Narrowing is all the rounding that there is.",
                ask="How many decimals does a weight of 0.0001 need?"),
        Mistake("logarithm of the softmax", change={"narrow": lambda weights: half(np.log(weights))},
                does="The answer holds logarithms of weights.", why="The weights are asked for.",
                ask="What does each row of your answer sum to?"),
        Mistake("power of 2 instead of e", change={"power": np.exp2}, does="The weights are too even: powers of 2 are shared out.",
                why="The softmax takes powers of e.", ask="How much more weight should a score get that is larger by 1?"),
        Mistake("scores divided by their number", change={"widen": lambda scores: scores / scores.shape[-1]},
                does="The weights are too even: the scores are divided by n first.", why="The scores are taken as they are.",
                ask="What is done to the scores before the maximum is taken?"),
        Mistake("negative scores set to 0", change={"widen": lambda scores: np.maximum(scores, 0)},
                does="Scores below 0 count as 0.", why="A negative score has a small weight, not that of a score of 0.",
                ask="Which weight should a score of -5 have beside one of 0?"),
    ),
)
