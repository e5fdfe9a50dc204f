"""The exercise weights_to_scores."""

import numpy as np

from ...families.inputs import inputs
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike

AXES = dict(weights="n_q n_k")


def weights_to_scores_answer(do, weights):
    logs = do.log(weights)
    return do.finish(logs - do.centre(logs))


def _rows(shape, seed, dtype):
    numbers = np.random.default_rng([seed, *shape]).random(shape) + 0.2
    return (numbers / numbers.sum(axis=-1, keepdims=True)).astype(dtype)


def _cases():
    def case(aspect, weights, dtype=float):
        return Case(aspect, (np.array(weights, dtype),))

    return [
        case(PLAIN, [[0.2, 0.8]]), case(PLAIN, [[0.1, 0.2, 0.7], [0.25, 0.25, 0.5]]), case("one row", [0.5, 0.25, 0.25]),
        case("equal weights", [[0.25] * 4, [0.1, 0.2, 0.3, 0.4]]), case("one key", [[1.0], [1.0]]),
        case(SQUARE, [[0.3, 0.7], [0.6, 0.4]]), case(LEADING, [[[0.2, 0.8]], [[0.5, 0.5]]]),
        case("small weights", [[1e-12, 1 - 1e-12], [1e-300, 1.0]]),
        case(FLOAT32, [[0.25, 0.75]], np.float32), case(FLOAT16, [[0.25, 0.75]], np.float16),
        *inputs(AXES, make={"weights": _rows}),
    ]


EXERCISE = Exercise(
    name="weights_to_scores", signature="(weights)", place=5,
    axes=AXES, answer_axes="n_q n_k",
    text="The scores of mean 0 in each row whose softmax are these weights, of shape (..., n), all positive, each row "
         "with sum 1.",
    answer=weights_to_scores_answer,
    steps={
        "log": Step(np.log, "the logarithms"),
        "centre": Step(lambda logs: logs.mean(axis=-1, keepdims=True), "the mean of the logarithms", True),
        "finish": Step(lambda scores: scores, "the scores"),
    },
    cases=_cases,
    hints=(
        "A weight is exp(score) divided by a sum. What is its logarithm?",
        "log(weight) is the score minus one number that is the same for the whole row.",
        "So the logarithms are scores already; subtract their mean along the last axis, with keepdims=True.",
    ),
    mistakes=(
        *alike("The softmax does not tell scores from scores plus a constant, so one of them has to be chosen: the one "
               "with mean 0 in each row.", "What is the mean of each row of your answer?",
               ("not centred", {"centre": lambda logs: 0.0}, "The answer is the logarithm of the weights."),
               ("maximum subtracted", {"centre": lambda logs: logs.max(axis=-1, keepdims=True)},
                "The largest score of each row is 0."),
               ("minimum subtracted", {"centre": lambda logs: logs.min(axis=-1, keepdims=True)},
                "The smallest score of each row is 0."),
               ("sum instead of the mean", {"centre": lambda logs: logs.sum(axis=-1, keepdims=True)},
                "The sum of the logarithms is subtracted, not their mean."),
               ("first score 0", {"centre": lambda logs: logs[..., :1]}, "The first score of each row is 0."),
               ("mean of the whole array", {"centre": lambda logs: logs.mean()},
                "One mean is subtracted from all rows."),
               ("mean of each column", {"centre": lambda logs: logs.mean(axis=-2, keepdims=True) if logs.ndim > 1 else logs.mean()},
                "The mean is taken over the queries, not over the keys."),
               ("median subtracted", {"centre": lambda logs: np.median(logs, axis=-1, keepdims=True)},
                "The median of each row is 0, and its mean is not."),
               ("logarithm of the mean subtracted",
                {"answer": lambda weights: np.log(weights) - np.log(weights.mean(axis=-1, keepdims=True))},
                "The logarithm of the mean weight is subtracted, and not the mean of the logarithms.")),
        *alike("A softmax divides exponentials, so its inverse takes the natural logarithm.",
               "Which function undoes the exponential?",
               ("no logarithm", {"log": lambda weights: weights}, "The weights themselves are centred."),
               ("logarithm to base 2", {"log": np.log2}, "The scores are too large by the factor 1 / log 2."),
               ("logarithm to base 10", {"log": np.log10}, "The scores are too small."),
               ("exponential instead of the logarithm", {"log": np.exp}, "The exponential is taken once more."),
               ("odds instead of weights", {"log": lambda weights: np.log(weights / (1 - weights))},
                "The logarithm of w / (1 - w) is taken: right up to a factor for two keys, and not for more.")),
        Mistake("sign flipped", change={"finish": lambda scores: -scores},
                does="The largest weight has the lowest score.", why="A larger weight comes from a higher score.",
                ask="Which score should be the highest one?"),
        Mistake("epsilon in the logarithm", change=tuple({"log": lambda w, f=f, e=e: np.log(f(w, e))} for e in (
            1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5) for f in (np.add, np.maximum)),
                does="A small number is added to the weights, or stands in for smaller ones, before the logarithm.",
                why="All weights are positive, so each has a logarithm: that of 1e-300 is -691.",
                ask="What is the logarithm of 1e-300, and what is it with your small number?"),
        Mistake("divided instead of subtracted", change=tuple({"answer": lambda w, of=of: np.log(w) / of(
            np.log(w), axis=-1, keepdims=True)} for of in (np.mean, np.sum)),
                does="The logarithms are divided by their mean, or by their sum.",
                why="Only a shift is free. A factor changes the weights.", ask="What is the softmax of your answer?"),
        Mistake("divided by the deviation", change={"finish": lambda s: s / np.where(s.std(axis=-1, keepdims=True) == 0, 1, s.std(
            axis=-1, keepdims=True))},
                does="Each row has standard deviation 1.",
                why="Only a shift is free. A factor changes the weights.", ask="What is the softmax of your answer?"),
    ),
)
