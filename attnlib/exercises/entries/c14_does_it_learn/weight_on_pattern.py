"""The exercise weight_on_pattern."""

import numpy as np

from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, ways


def weight_on_pattern_answer(do, weights, pattern):
    pattern = do.sense(pattern)
    on = do.total(do.keep(weights, pattern), pattern)
    counted = do.counted(pattern)
    return do.mean(do.keep_rows(on, counted), counted)


def _drawn(shape, seed, dtype=np.float64):
    rng = np.random.default_rng([seed, *shape])
    numbers = rng.random(shape) + 0.05
    weights = (numbers / numbers.sum(axis=-1, keepdims=True)).astype(dtype)
    pattern = rng.random(shape) < 0.3
    pattern[..., 0, :] = False
    pattern[..., 1, :2] = True
    return weights, pattern


def _cases():
    def case(aspect, weights, pattern, dtype=float):
        return Case(aspect, (np.array(weights, dtype), np.array(pattern, bool)))

    half = [[1.0, 0.0], [0.25, 0.75]]
    return [
        case(PLAIN, half, [[0, 0], [0, 1]]), case(PLAIN, half, [[1, 0], [0, 1]]),
        case(PLAIN, [[0.5, 0.5, 0], [0.25, 0.25, 0.5]], [[0, 0, 0], [1, 0, 1]]),
        Case(PLAIN, _drawn((5, 7), 1)), Case(PLAIN, _drawn((11, 13), 2)), Case(PLAIN, _drawn((7, 5), 3)),
        case("every query has a right key", half, [[0, 1], [1, 0]]), case("all keys right", half, [[1, 1], [1, 1]]),
        case("one query", [[0.156, 0.094, 0.698, 0.052]], [[0, 0, 1, 0]]),
        case("no weight on the right keys", half, [[0, 1], [0, 0]]),
        Case(SQUARE, _drawn((3, 3), 4)), Case(SQUARE, _drawn((5, 5), 5)),
        Case(LEADING, _drawn((2, 3, 5), 6)), Case(LEADING, _drawn((2, 3, 5, 7), 7)), Case(LEADING, _drawn((3, 2, 4, 4), 8)),
        case(FLOAT32, half, [[0, 0], [0, 1]], np.float32), Case(FLOAT32, _drawn((5, 7), 9, np.float32)),
        case(FLOAT16, half, [[0, 0], [0, 1]], np.float16), Case(FLOAT16, _drawn((7, 5), 10, np.float16)),
    ]


EXERCISE = Exercise(
    name="weight_on_pattern", signature="(weights, pattern)", place=3,
    axes=dict(weights="n_q n_k", pattern="n_q n_k"), answer_axes="",
    text="For weights and a boolean pattern, both (..., n_q, n_k): the weight that a query puts on its True keys, as a mean "
         "over those queries that have a True key (at least one has): shape (...).",
    answer=weight_on_pattern_answer,
    steps={
        "sense": lambda pattern: pattern,
        "keep": Step(lambda weights, pattern: weights * pattern, "the weights of right keys"),
        "total": Step(lambda kept, pattern: kept.sum(axis=-1), "each query's weight on its right keys", True),
        "counted": lambda pattern: pattern.any(axis=-1),
        "keep_rows": lambda on, counted: on * counted,
        "mean": lambda on, counted: on.sum(axis=-1) / counted.sum(axis=-1),
    },
    cases=_cases,
    hints=(
        "First one number for each query: the sum of its weights over the keys where the pattern is True.",
        "Then the mean over the queries that have a right key. The others have nothing to be right about: they do not count, "
        "not even as 0.",
        "(weights * pattern).sum() over both axes, divided by the number of rows for which pattern.any(axis=-1) is True.",
    ),
    mistakes=(
        *alike("A query without a right key can be neither right nor wrong: the mean runs over the queries that have one.",
               "By how many queries do you divide, and which of them could have been right?",
               ("queries without a right key counted", ({"mean": lambda on, counted: on.mean(axis=-1)},
                                                        {"counted": lambda pattern: pattern.any(axis=-1) | True}),
                "Queries without any True key count as 0 in the mean."),
               ("queries that miss their right keys left out", {
                   "mean": lambda on, counted: on.sum(axis=-1) / np.maximum((on > 0).sum(axis=-1), 1)},
                "Queries with a weight of 0 on their right keys are not counted, as if they had none."),
               ("summed over the queries", {"mean": lambda on, counted: on.sum(axis=-1)},
                "The queries are added up, and their number is not divided by.")),
        Mistake("NaN for queries without a right key", change=(
                    {"mean": lambda on, counted: np.where(counted, on, np.nan).mean(axis=-1)},
                    {"answer": lambda weights, pattern: ((weights * pattern).sum(axis=-1) / pattern.sum(axis=-1)).mean(axis=-1)}),
                does="A query without a right key is NaN, such as 0 / 0, and the mean with it.",
                why="A query without a right key can be neither right nor wrong: the mean runs over the queries that have one.",
                ask="What does your function make of a row of the pattern that is False throughout?"),
        *alike("A query that divides its weight over several right keys is as right as one that chooses among them.",
               "A query has two right keys with a half each. How much of its weight is on right keys?",
               ("only the largest weight", {"total": lambda kept, pattern: kept.max(axis=-1)},
                "Of several right keys only the one with the largest weight counts."),
               ("mean over the right keys", (
                   {"answer": lambda weights, pattern: (weights * pattern).sum(axis=(-1, -2)) / pattern.sum(axis=(-1, -2))},
                   {"total": lambda kept, pattern: kept.sum(axis=-1) / np.maximum(pattern.sum(axis=-1), 1)}),
                "A sum is divided by a number of right keys, a query's or that of all."),
               ("only the first right key", {"keep": lambda weights, pattern: weights * pattern * (np.cumsum(pattern, axis=-1) == 1)},
                "Of several right keys only the first one counts."),
               ("mean over all keys", {"total": lambda kept, pattern: kept.mean(axis=-1)},
                "Each query's weight is divided by the number of keys.")),
        *alike("The share is a mean of weights, which says how much of the output comes from right keys.",
               "What does a query with 0.6 on its right key add to the mean?",
               ("only whether the largest weight is right",
                {"answer": lambda weights, pattern: (np.take_along_axis(
                    pattern, weights.argmax(axis=-1)[..., None], axis=-1)[..., 0] & pattern.any(axis=-1)).sum(axis=-1)
                    / pattern.any(axis=-1).sum(axis=-1)},
                "A query counts as 1 where its largest weight is on a True key, and as 0 otherwise."),
               ("a loss instead of a weight", ways("mean", lambda on, counted: np.where(
                   counted, -np.log(on), 0).sum(axis=-1) / counted.sum(axis=-1),
                   lambda on, counted: -np.log(on.sum(axis=-1) / counted.sum(axis=-1))),
                "Minus the logarithm is taken of the weights on right keys, or of their mean."),
               ("weights squared", {"keep": lambda weights, pattern: weights**2 * pattern},
                "Each weight is squared before the sum.")),
        *alike("The pattern says which keys are right, so its True entries are those to add up.",
               "Which weights does your sum run over?",
               ("wrong keys instead of right ones", {"keep": lambda weights, pattern: weights * ~pattern},
                "The weights of the False entries are added up."),
               ("pattern ignored", {"keep": lambda weights, pattern: weights, "counted": lambda pattern: pattern.any(axis=-1)},
                "All weights of the queries that have a right key are added up: that is 1 for each.")),
        Mistake("keys and queries exchanged",
                change={"counted": lambda pattern: pattern.any(axis=-2), "total": lambda kept, pattern: kept.sum(axis=-2)},
                does="The mean runs over the keys that are right for some query.",
                why="The last axis runs over keys, the one before it over queries: a query's weights are a row.",
                ask="Which axis of the weights sums to 1?"),
        *alike("The mean runs over the queries of one matrix: (..., n_q, n_k) gives a number for each head of each text.",
               "How many numbers should come out for 2 texts with 3 heads each?",
               ("one number for everything",
                {"mean": lambda on, counted: on.sum() / counted.sum()},
                "Batch and heads are averaged too, and give one number."),
               ("queries of all matrices counted together", {"mean": lambda on, counted: on.sum(axis=-1) / counted.sum()},
                "Each matrix has its own sum, divided by the number of such queries in all matrices."),
               ("not averaged", {"mean": lambda on, counted: on}, "Each query keeps a number of its own.")),
    ),
)
