"""The exercise merge_stats."""

import numpy as np

from ...model import FLOAT16, FLOAT32, HUGE, PLAIN, Case, Exercise, Mistake, Step, alike, normal

EMPTY, BOTH_EMPTY = "an empty set", "two empty sets"


def merge_stats_answer(do, max_a, sum_a, max_b, sum_b):
    highest = do.highest(max_a, max_b)
    reference = do.reference(highest)
    first, second = do.factors(do.factor(max_a, reference), do.factor(max_b, reference))
    left, right = do.rescale(sum_a, first, max_a), do.rescale(sum_b, second, max_b)
    return do.order(*do.finish(highest, do.join(left, right)))


def _cases():
    def case(aspect, max_a, sum_a, max_b, sum_b, dtype=float, extreme=False):
        return Case(aspect, tuple(np.array(x, dtype) for x in (max_a, sum_a, max_b, sum_b)), extreme)

    def drawn(aspect, *shape, seed, dtype=np.float64):
        rng = np.random.default_rng([seed, *shape])
        sums = [(1 + 3 * rng.random(shape)).round(2).astype(dtype) for _ in range(2)]
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype), sums[0], normal(*shape, seed=seed + 1, dtype=dtype), sums[1]))

    return [
        case(PLAIN, [1, 2], [1.5, 1], [2, 0], [1, 2]), case(PLAIN, [[0, 3], [1, 1]], [[2, 1], [1, 3]], [[1, 1], [1, 4]], [[1, 2], [2, 1]]),
        drawn(PLAIN, 5, 7, seed=1), drawn(PLAIN, 13, seed=3), case("no axes", 1, 1.5, 2, 1), drawn("several axes", 2, 3, 5, seed=5),
        case("equal maxima", [1, 0], [1, 2], [1, 0], [3, 1]), case("negative maxima", [-3, -5], [1, 2], [-4, -1], [2, 1]),
        case(EMPTY, [1, -np.inf], [2, 0], [-np.inf, 3], [0, 1.5]), case(EMPTY, [-np.inf, -2], [0, 1], [-7, -np.inf], [2, 0]),
        case(BOTH_EMPTY, [-np.inf, 1], [0, 1], [-np.inf, 2], [0, 1]), case(BOTH_EMPTY, -np.inf, 0, -np.inf, 0),
        case(HUGE, [10000, -10000], [1, 2], [9999, -9999], [2, 1], extreme=True),
        case(HUGE, [0, 10000], [1, 1], [10000, -10000], [1, 3], extreme=True),
        case(HUGE, [-10000, -np.inf], [1.5, 0], [-10001, -10000], [1, 2], extreme=True),
        case(FLOAT32, [1, 2], [1.5, 1], [2, 0], [1, 2], np.float32), drawn(FLOAT16, 7, seed=8, dtype=np.float16),
    ]


def _exponents(max_part, reference):
    return np.exp(max_part - reference)


EXERCISE = Exercise(
    name="merge_stats", signature="(max_a, sum_a, max_b, sum_b)", place=2, outputs=("row_max", "row_sum"),
    axes=dict(max_a="n", sum_a="n", max_b="n", sum_b="n"), answer_axes="n",
    text="The maximum and the sum of exp(score - maximum) over two sets of scores, from those of each, all of shape "
         "(...). An empty set has maximum -inf and sum 0; two of them merge to another.",
    answer=merge_stats_answer,
    steps={
        "highest": Step(np.maximum, "the maximum", True),
        "reference": lambda highest: np.where(np.isneginf(highest), 0.0, highest),
        "factor": Step(_exponents, "the factor of a sum", True),
        "factors": lambda first, second: (first, second),
        "rescale": lambda row_sum, factor, row_max: row_sum * factor,
        "join": lambda left, right: left + right,
        "finish": lambda row_max, row_sum: (row_max, row_sum),
        "order": lambda row_max, row_sum: (row_max, row_sum),
    },
    cases=_cases,
    hints=(
        "The new maximum is the larger of the two. Each sum was made with its own maximum: by what must it be multiplied?",
        "exp(score - new) = exp(score - old) * exp(old - new). So each sum gets the factor exp(its maximum - the new one).",
        "For two empty sets -inf - -inf is NaN. Use 0 in the place of the new maximum there: np.where(row_max == -np.inf, "
        "0, row_max). exp(-inf - 0) is 0, as it should be.",
    ),
    mistakes=(
        *alike("A sum of exp(score - old maximum) becomes one of exp(score - new maximum) by the factor exp(old - new).",
               "What has each sum been made with, and what should it be made with now?",
               ("sums not rescaled", {"factor": lambda m, r: 1.0 + 0.0 * np.where(np.isneginf(m), 0.0, m)},
                "The two sums are added as they are."),
               ("first sum not rescaled", {"factors": lambda first, second: (1.0, second)},
                "Only the second sum is rescaled."),
               ("second sum not rescaled", {"factors": lambda first, second: (first, 1.0)},
                "Only the first sum is rescaled, as if the second maximum were always the larger one."),
               ("factor upside down", {"factor": lambda m, r: np.exp(r - m)},
                "Each sum is multiplied by exp(new - old): it grows where it should shrink."),
               ("difference instead of its exponential", {"factor": lambda m, r: m - r},
                "Each sum is multiplied by old - new, without an exponential."),
               ("lower maximum's factor always on one sum", tuple(
                   {"answer": lambda ma, sa, mb, sb, first=first, safe=safe: _lower(ma, sa, mb, sb, first, safe)}
                   for first in (True, False) for safe in (True, False)),
                "The factor exp(smaller - larger maximum) always goes to the same one of the two sums."),
               ("one factor for both sums", tuple(
                   {"answer": lambda ma, sa, mb, sb, safe=safe: _lower(ma, sa + sb, mb, 0 * sb, True, safe)}
                   for safe in (True, False)),
                "The two sums are added first, and the total gets the factor exp(smaller - larger maximum)."),
               ("factors swapped", {"factors": lambda first, second: (second, first)},
                "Each sum gets the factor of the other."),
               ("powers of 2", {"factor": lambda m, r: np.exp2(m - r)}, "Powers of 2 stand where exponentials belong.")),
        *alike("-inf - -inf is NaN, and so is its exponential. An empty set has nothing to add: its sum is 0.",
               "What is the new maximum of two empty sets, and what is subtracted from it?",
               ("two empty sets NaN", {"reference": lambda highest: highest}, "Two empty sets merge to NaN."),
               ("empty sets counted", {"answer": lambda ma, sa, mb, sb: _merged(*(
                   np.where(np.isneginf(x), 0.0, x) for x in (ma,)), sa, *(np.where(np.isneginf(x), 0.0, x) for x in (mb,)), sb)},
                "An empty set counts as one with maximum 0.")),
        Mistake("one empty set empties both",
                change=tuple({"answer": lambda ma, sa, mb, sb, lost=lost: _emptied(ma, sa, mb, sb, lost)} for lost in (False, True)),
                does="Where one of the two sets is empty the scores of the other are lost.",
                why="An empty set adds nothing: the other one stays as it is. Only two of them make an empty set.",
                ask="What should come out where the first set is empty and the second has maximum 3 and sum 1.5?"),
        Mistake("quotient of two exponentials", change={"factor": lambda m, r: np.exp(m) / np.exp(r)},
                does="For small maxima it is right; for maxima of 10000 or of -10000 it is NaN.",
                why="exp overflows above 709 (above 88 in float32, above 11 in float16), and inf / inf is NaN; so is 0 / 0, for "
                    "low maxima. The exponential of the difference is never above 1.",
                ask="Which single exponential is exp(old) / exp(new)?"),
        Mistake("two empty sets get maximum 0", change={"finish": lambda m, s: (np.where(np.isneginf(m), 0.0, m), s)},
                does="Two empty sets merge to a set with maximum 0.",
                why="The 0 stands in for the maximum in the exponents alone. The maximum of no scores is -inf.",
                ask="Merge your answer for two empty sets with a set whose maximum is -5: what is the maximum then?"),
        *alike("The row's maximum is the larger of the two, entry by entry.", "Which number is the maximum of both sets together?",
               ("smaller maximum", {"highest": np.minimum}, "The smaller of the two maxima is taken."),
               ("maximum of all rows", {"highest": lambda a, b: np.maximum(a, b).max() + 0 * np.where(np.isneginf(a), 0.0, a)},
                "One maximum is taken for all rows."),
               ("first maximum kept", {"highest": lambda a, b: a}, "The first set's maximum is kept, even where the second is larger."),
               ("second maximum kept", {"highest": lambda a, b: b}, "The second set's maximum is kept, even where the first is larger."),
               ("mean of the maxima", {"highest": lambda a, b: (a + b) / 2}, "The two maxima are averaged."),
               ("maxima added", {"highest": lambda a, b: a + b}, "The two maxima are added.")),
        *alike("Both sets' exponentials count: the two rescaled sums are added.", "How many scores have the two sets together?",
               ("larger sum instead of both", {"join": np.maximum}, "The larger of the two rescaled sums is taken."),
               ("the set of the larger maximum alone", {"answer": lambda ma, sa, mb, sb: (np.maximum(ma, mb), np.where(
                   ma >= mb, sa, sb))}, "The sum is that of the set that holds the larger maximum; the other set's is lost."),
               ("mean of the sums", {"join": lambda left, right: (left + right) / 2}, "The rescaled sums are averaged."),
               ("sums forgotten", {"rescale": lambda row_sum, factor, row_max: factor},
                "The two factors are added without the sums, as if each set held a single score."),
               ("sums multiplied", {"join": lambda left, right: left * right}, "The rescaled sums are multiplied.")),
        Mistake("log-sum-exp instead of the sum", change={"finish": lambda m, s: (m, np.where(s == 0, -np.inf, m + np.log(
            np.where(s == 0, 1.0, s))))},
                does="The second part is the log-sum-exp of both sets.", why="The sum of exp(score - maximum) is asked for.",
                ask="What is the sum for a set of one score?"),
        Mistake("parts in another order", change={"order": lambda m, s: (s, m)}, does="The sum comes first, the maximum second.",
                why="The answer is (row_max, row_sum).", ask="In which order are the two parts asked for?"),
    ),
)


def _lower(max_a, sum_a, max_b, sum_b, first, safe):
    highest = np.maximum(max_a, max_b)
    reference = np.where(np.isneginf(highest), 0.0, highest) if safe else highest
    factor = _exponents(np.minimum(max_a, max_b), reference)
    return highest, sum_a * factor + sum_b if first else sum_a + sum_b * factor


def _emptied(max_a, sum_a, max_b, sum_b, lost):
    """Both sets, and no score where one of them is empty; with the maximum lost, too."""
    empty = np.isneginf(max_a) | np.isneginf(max_b)
    highest, row_sum = _merged(max_a, sum_a, max_b, sum_b)
    return np.where(empty & lost, -np.inf, highest), np.where(empty, 0.0, row_sum)


def _merged(max_a, sum_a, max_b, sum_b):
    highest = np.maximum(max_a, max_b)
    reference = np.where(np.isneginf(highest), 0.0, highest)
    return highest, sum_a * _exponents(max_a, reference) + sum_b * _exponents(max_b, reference)
