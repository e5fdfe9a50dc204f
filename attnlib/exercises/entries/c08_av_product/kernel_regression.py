"""The exercise kernel_regression."""

import math

import numpy as np

from ...families.inputs import inputs
from ...model import FLOAT16, FLOAT32, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, ways

AXES = dict(query="n_q", key="n_k", value="n_k")
FAR, SQUARES = "a query far from all keys", "squared distances beyond the dtype"
EPSILONS = (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30)


def kernel_regression_answer(do, query, key, value, width):
    distance = do.distance(query, key)
    scores = do.shift(do.scores(distance, do.unit(width), width, query, key))
    return do.finish(do.combine(do.divide(do.power(scores)), value), value)


def _products(distance, unit, axis=-1, reduce=np.min):
    """-(d² - m²) / unit with m the least distance: as a product, so that nothing overflows but to -inf."""
    distance, root = abs(distance), math.sqrt(unit)
    least = reduce(distance, axis=axis, keepdims=True)
    return -((distance - least) / root) * ((distance + least) / root)


def _scores(distance, unit, width, query, key):
    return _products(distance, unit)


def _squares(distance, unit, width, query, key):
    return -distance ** 2 / unit


def _squared_quotients(distance, unit, width, query, key):
    return -(distance / math.sqrt(unit)) ** 2


def _of_scores(*functions):
    """Scores made in another way, of distances and width."""
    return ways("scores", *(lambda d, u, w, q, k, f=f: f(abs(d), w) for f in functions))


def _shifted(scores):
    return scores - scores.max(axis=-1, keepdims=True)


def _cases():
    def case(aspect, query, key, value, width, dtype=float):
        return Case(aspect, (*(np.array(part, dtype) for part in (query, key, value)), width), aspect in (FAR, SQUARES))

    return [
        case(PLAIN, [0], [0, 1], [2, 6], 1.0), case(PLAIN, [0, 1, 2], [0, 2], [4, 8], 0.5), case(PLAIN, [3], [1, 2, 5], [1, 0, 4], 2.0),
        case(SQUARE, [0, 1], [0, 2], [4, 8], 2.0), case("one key", [0, 1], [2], [5], 0.5),
        case("keys in no order", [0, 1], [2, 0, 1], [1, 5, 3], 0.5), case("a whole number as the width", [0, 3], [0, 2], [4, 8], 2),
        case(FAR, [100], [0, 1], [2, 6], 1.0), case(FAR, [0, 1000], [0, 2, 4], [2, 6, 1], 0.5),
        case(FAR, [-400, 0, 400], [-1, 1, 2], [2, 6, 4], 1.0), case(FAR, [0, 5], [0, 1], [2, 6], 0.01), case(FAR, [50], [0, 100], [2, 6], 1.0),
        case(FAR, [30], [0, 1], [2, 6], 1.0, np.float32), case(FAR, [200], [0, 4], [2, 6], 1.0, np.float16),
        case(SQUARES, [5e200], [0, 1e200], [2, 6], 1.0),
        case(SQUARES, [0], [-1e200, 1e200], [2, 6], 1.0), case(SQUARES, [3e30], [0, 1e30], [2, 6], 1.0, np.float32),
        case(SQUARES, [0, 1000], [0, 512], [2, 6], 1.0, np.float16), case(SQUARES, [1024], [0, 256], [2, 6], 512.0, np.float16),
        case(FLOAT32, [0, 1], [0, 2], [4, 8], 0.5, np.float32), case(FLOAT16, [0, 1], [0, 2], [4, 8], 0.5, np.float16),
        *inputs(AXES, numbers=[(0.5, 1.5, 0.75)], leading=False),
    ]


def _raised_by(e):
    return {"divide": lambda powers: powers / (powers.sum(axis=-1, keepdims=True) + e), "shift": lambda scores: scores,
            "scores": _squares}


def _nearest_where_all_vanish(query, key, value, width):
    distance = abs(query[:, None] - key)
    powers = np.exp(_squares(distance, 2 * width ** 2, width, query, key))
    total = powers.sum(axis=-1)
    return np.where(total == 0, value[distance.argmin(axis=-1)], powers @ value / total)


def _density(query, key, width):
    return np.exp(_squares(query[:, None] - key, 2 * width ** 2, width, query, key)) / (width * math.sqrt(2 * math.pi))


def _mean_within(scores):
    near = np.where(scores >= -0.5, 1.0, 0.0)  # a distance of one width at most
    return near / near.sum(axis=-1, keepdims=True)


UNSHIFTED = {"scores": _squares, "shift": lambda scores: scores}
# a softmax that knows of rows that see nothing, such as attnlib's
SAFE = {"shift": lambda scores: scores - np.nan_to_num(scores.max(axis=-1, keepdims=True), nan=np.nan, neginf=0.0),
        "divide": lambda powers: powers / np.where(powers.any(axis=-1, keepdims=True), powers.sum(axis=-1, keepdims=True), 1.0)}

SUMMED_BY_KEY = {"divide": lambda powers: powers / powers.sum(axis=0)}

EXERCISE = Exercise(
    name="kernel_regression", signature="(query, key, value, width)", place=4, axes=AXES, answer_axes="n_q",
    text="The Nadaraya-Watson estimate at each query: the mean of the values with the weights exp(-(q - k)² / (2 width²)), "
         "(n_q,), also where a query is so far from every key that all exponentials, or the squared distances, leave the "
         "range of the dtype.",
    answer=kernel_regression_answer,
    steps={
        "distance": Step(lambda query, key: query[:, None] - key, "the distances"),
        "unit": lambda width: 2 * width ** 2,
        "scores": _scores,
        "shift": Step(_shifted, "the shifted scores"),
        "power": Step(np.exp, "the exponentials"),
        "divide": Step(lambda powers: powers / powers.sum(axis=-1, keepdims=True), "the weights"),
        "combine": lambda weights, value: weights @ value,
        "finish": lambda output, value: output,
    },
    cases=_cases,
    hints=(
        "It is attention with another score: -(q - k)² / (2 width²), a softmax over the keys, and a product with the values.",
        "query[:, None] - key is the table of all differences, (n_q, n_k). Which of its rows lead to exponentials that are "
        "all 0, and what does a softmax do against that?",
        "Subtract each query's largest score before the exponential. And if the squares themselves overflow? What counts are "
        "differences of squares, and with m the least distance of a query, d² - m² = (d - m)(d + m).",
        "Make the inputs float64. The exponents are -((d - m) / width) * ((d + m) / width) / 2, with d the absolute differences: "
        "0 for the nearest key, and at worst -inf. The answer goes back to the inputs' dtype.",
    ),
    mistakes=(
        *alike("The kernel is exp(-(q - k)² / (2 width²)): at a distance of one width it has fallen to exp(-1/2), whatever "
               "the width.", "What is your kernel at a distance of 0, of one width, and of two?",
               ("width not squared", {"unit": lambda width: 2 * width},
                "The squared distance is divided by the width itself."),
               ("2 forgotten", {"unit": lambda width: width ** 2},
                "The squared distance is divided by width²: the kernel is narrower by a factor of sqrt(2)."),
               ("2 squared too", {"unit": lambda width: (2 * width) ** 2},
                "The squared distance is divided by (2 width)²: the kernel is wider by a factor of sqrt(2)."),
               ("multiplied by the width", ways("unit", lambda width: 2 / width ** 2, lambda width: 2 / width),
                "A larger width makes a narrower kernel."),
               ("width ignored", ways("unit", lambda width: 2, lambda width: 1),
                "The answer is the same for every width."),
               ("distance not squared", _of_scores(lambda d, w: -d / (2 * w ** 2), lambda d, w: -d / w, lambda d, w: -d / (2 * w)),
                "The distance itself stands in the exponent: the kernel has a sharp top and long tails."),
               ("1 / (1 + distance²)", {"scores": lambda d, u, w, q, k: -np.log1p((d / w) ** 2)},
                "The weights fall with the square of the distance, not with an exponential of it."),
               ("equal weights within one width", {"power": lambda scores: scores, "divide": _mean_within, "scores": _squares,
                                                   "shift": lambda scores: scores},
                "Keys within one width count fully, and all others not at all.")),
        *alike("Near keys count most: the kernel is 1 at a distance of 0 and falls to both sides.",
               "Which key has the largest weight for a query that stands exactly on a key?",
               ("minus sign forgotten", ways("scores", lambda d, u, w, q, k: d ** 2 / u,
                                             lambda d, u, w, q, k: -_products(d, u, reduce=np.max)),
                "The farthest key has the largest weight."),
               ("signed differences", ways("scores", lambda d, u, w, q, k: -d / (2 * w ** 2), lambda d, u, w, q, k: d / (2 * w ** 2),
                                                    lambda d, u, w, q, k: -d / w, lambda d, u, w, q, k: d / w),
                "Not squared, a difference keeps its sign: keys on one side count most, however far they are."),
               ("product instead of distance", ways("scores", lambda d, u, w, q, k: q[:, None] * k, lambda d, u, w, q, k: q[:, None] * k / w ** 2,
                                                    lambda d, u, w, q, k: q[:, None] * k / w, lambda d, u, w, q, k: q[:, None] * k / (2 * w ** 2)),
                "The score is the product of query and key: keys far from 0 are favoured. The term -k² / (2 width²) is missing.")),
        Mistake("squared distances overflow", change=ways("scores", _squares, _squared_quotients),
                does="Where a distance is so large that its square is beyond the dtype, all scores of the query are -inf, and the "
                     "answer is NaN.",
                why="A softmax needs differences of scores alone, and those can be had without the squares: d² - m² = (d - m)(d + m).",
                ask="What is inf - inf, and which differences of squares do you need?"),
        Mistake("overflow taken for a dead row",
                change=({**SAFE, "scores": _squares}, {**SAFE, "scores": _squared_quotients},
                        {"scores": _squares, "finish": lambda output, value: np.nan_to_num(output)}),
                does="Where a distance is so large that its square is beyond the dtype, all scores of the query are -inf, and its "
                     "answer is 0, as if it might read nothing.",
                why="No key is hidden here: every query has a nearest one, whose exponential is 1. A softmax needs differences of "
                    "scores alone, and those can be had without the squares: d² - m² = (d - m)(d + m).",
                ask="Which weight should the nearest key have, however far it is, and which score does it get?"),
        *alike("Each exponential underflows to 0 where a query is far from all keys, and 0 / 0 is no mean. After subtracting the "
               "query's largest score the nearest key has the exponential 1.",
               "What is the largest exponential of a query at a distance of a hundred widths, and what should it be?",
               ("no maximum subtracted", UNSHIFTED,
                "For a query near some key it is right; far from all of them it is NaN."),
               ("one maximum for all queries", {"scores": _squares, "shift": lambda scores: scores - scores.max()},
                "The largest score of all queries is subtracted: queries much farther from the keys than the nearest one get NaN."),
               ("epsilon in the denominator", tuple(map(_raised_by, EPSILONS)),
                "A small number is added to the sum: where the exponentials are small beside it, the answer goes to 0."),
               ("zero far from the keys", {**UNSHIFTED, "finish": lambda output, value: np.nan_to_num(output)},
                "Where all exponentials underflow, the answer is set to 0."),
               ("nearest value far from the keys", {"answer": _nearest_where_all_vanish},
                "Where all exponentials underflow, the answer is the nearest key's value, even if another key is as near."),
               ("mean of the values far from the keys", ({**UNSHIFTED, "finish": lambda output, value: np.where(
                   np.isnan(output), value.mean(), output)},),
                "Where all exponentials underflow, the answer is the plain mean of the values.")),
        *alike("The estimate is a mean: for each query the weights of all keys sum to 1.",
               "What should the answer be where all values are 5?",
               ("not divided by the sum", {"scores": _squares, "shift": lambda scores: scores, "divide": lambda powers: powers},
                "The kernel times the values is added up, and not divided by the sum of the kernel: far from all keys it is 0."),
               ("divided by the number of keys", {"scores": _squares, "shift": lambda scores: scores,
                                                  "divide": lambda powers: powers / powers.shape[-1]},
                "The products are averaged over the keys, whatever the kernel sums to."),
               ("normal density as weights", ({"answer": lambda q, k, v, w: _density(q, k, w) @ v},
                                              {"answer": lambda q, k, v, w: _density(q, k, w) @ v / len(k)}),
                "The kernel is divided by width * sqrt(2 pi), so that its integral is 1: that is a density over all places, "
                "and over the keys it sums to anything."),
               ("sum over the queries", (SUMMED_BY_KEY, *(
                   {**SUMMED_BY_KEY, "shift": lambda scores: scores - scores.max(axis=0), "scores": scores} for scores in (
                       _squares, _squared_quotients, lambda d, u, w, q, k: _products(d, u, axis=0)))),
                "The weights of each key sum to 1 over the queries, not those of each query over the keys."),
               ("sum of the whole table", {"divide": lambda powers: powers / powers.sum()},
                "All weights of all queries together sum to 1."),
               ("a density", {"scores": _squares, "shift": lambda scores: scores, "divide": lambda powers: powers,
                              "combine": lambda weights, value: weights.mean(axis=-1)},
                "The mean of the kernel over the keys: how many keys are near, whatever their values.")),
        *alike("Every query has an estimate of its own, from all keys and their values.",
               "What do the rows and the columns of your table of differences count?",
               ("keys before queries", {"distance": lambda query, key: key[:, None] - query},
                "The table has a row for each key and a column for each query: the softmax runs over the queries, and the "
                "product with the values fits only where there are as many queries as keys."),
               ("query minus key, place by place", {"distance": lambda query, key: query - key},
                "Query i is subtracted from key i alone, where the shapes fit at all."),
               ("weights returned", {"combine": lambda weights, value: weights}, "The answer is the table of weights; the values are missing."),
               ("products not summed", {"combine": lambda weights, value: weights * value},
                "The products of weights and values are not added up."),
               ("nearest key's value", {"answer": lambda q, k, v, w: v[abs(q[:, None] - k).argmin(axis=-1)]},
                "Each query gets the value of the nearest key."),
               ("values of sorted keys", {"distance": lambda query, key: query[:, None] - np.sort(key)},
                "The keys are sorted and the values are not: a key meets another one's value."),
               ("values in reverse order", {"combine": lambda weights, value: weights @ value[::-1]},
                "The first key's weight meets the last value.")),
    ),
)

