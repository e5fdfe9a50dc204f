"""The exercise attention_entropy."""

import numpy as np

from ...families.inputs import inputs
from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike

AXES = dict(weights="n_q n_k")
ZEROS = "weights of 0"


def attention_entropy_answer(do, weights):
    return do.finish(do.total(do.terms(do.weigh(weights), do.log(weights))), weights)


def _log(weights):
    return np.log(np.where(weights == 0, 1.0, weights))


def _rows(shape, seed, dtype):
    numbers = np.random.default_rng([seed, *shape]).random(shape) + 0.1
    return (numbers / numbers.sum(axis=-1, keepdims=True)).astype(dtype)


def _cases():
    def case(aspect, weights, dtype=float):
        return Case(aspect, (np.array(weights, dtype),))

    return [
        case(PLAIN, [[0.5, 0.5], [0.25, 0.75]]), case(PLAIN, [[0.25, 0.25, 0.5]]), case("one row", [0.5, 0.25, 0.25]),
        case("equal weights", [[0.25] * 4]), case("one key", [[1.0], [1.0]]), case(SQUARE, [[0.3, 0.7], [0.6, 0.4]]),
        case(LEADING, [[[0.2, 0.8]], [[0.5, 0.5]]]), case(ZEROS, [[1, 0, 0], [0.5, 0, 0.5]]), case(ZEROS, [0.0, 1.0]),
        case(ZEROS, [[[0, 0.25, 0.75]], [[0.5, 0.5, 0]]]),
        case("small weights", [[1e-12, 1 - 1e-12], [1e-300, 1.0]]),
        case(FLOAT32, [[0.25, 0.75]], np.float32), case(FLOAT16, [[0.25, 0.75]], np.float16),
        *inputs(AXES, make={"weights": _rows}),
    ]


EXERCISE = Exercise(
    name="attention_entropy", signature="(weights)", place=6,
    axes=AXES, answer_axes="n_q",
    text="The entropy of each row of weights (..., n) in nats, minus the sum of w log w, with 0 log 0 counted as 0: "
         "shape (...).",
    answer=attention_entropy_answer,
    steps={
        "log": Step(_log, "the logarithms"),
        "weigh": lambda weights: weights,
        "terms": Step(lambda weights, logs: weights * logs, "the products of weights and logarithms"),
        "total": Step(lambda terms: terms.sum(axis=-1), "the sum", True),
        "finish": lambda total, weights: -total,
    },
    cases=_cases,
    hints=(
        "Each weight is multiplied with its own logarithm; then the row is added up, and the sign turned.",
        "0 times the logarithm of 0 is 0 * -inf, which is NaN. Such terms have to be 0.",
        "np.log(np.where(weights > 0, weights, 1)) is 0 where the weight is 0, and the product with the weight too.",
    ),
    mistakes=(
        *alike("0 log 0 counts as 0: a key without weight adds nothing. A machine computes 0 * -inf, which is NaN.",
               "What is np.log(0.0), and what is 0 times it?",
               ("0 times log 0", {"log": np.log}, "A row with a weight of 0 gives NaN."),
               ("epsilon in the logarithm", tuple({"log": lambda weights, e=e: np.log(weights + e)} for e in (
                   1e-9, 1e-8, 1e-6, 1e-12, 1e-5, 1e-7, 1e-10, 1e-4, 1e-3)),
                "A small number is added to every weight before the logarithm, also where none is needed.")),
        Mistake("small weights cut off", change=tuple({"log": lambda weights, e=e: np.log(np.maximum(weights, e))} for e in (
            1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)),
                does="A small number stands in for every weight below it in the logarithm.",
                why="A weight of 0 needs a number in its place, and no other weight does: 1e-12 has a logarithm, -27.6.",
                ask="Which weights does your bound change, and which one of them has no logarithm?"),
        *alike("The entropy is the mean of -log w under the weights themselves: each logarithm counts with its own weight, "
               "and the sign makes it positive.", "What is the entropy of four equal weights?",
               ("sign forgotten", {"finish": lambda total, weights: total}, "The answer is never positive."),
               ("weights forgotten", {"terms": lambda weights, logs: logs}, "The logarithms are added up, each as much as the others."),
               ("mean instead of sum", {"total": lambda terms: terms.mean(axis=-1)}, "The answer is n times too small."),
               ("weights squared", {"weigh": np.square}, "Each logarithm is multiplied with the square of its weight."),
               ("not summed", {"total": lambda terms: terms}, "Each key has its term in the answer, and they are not added up."),
               ("only the largest weight", {"total": lambda terms: terms.min(axis=-1)}, "Only one term of each row counts.")),
        *alike("Each query has an entropy of its own: the sum runs over its keys, the last axis.",
               "How many entropies has a table of weights (n_q, n_k)?",
               ("summed over the queries", {"total": lambda terms: terms.sum(axis=-2) if terms.ndim > 1 else terms.sum()},
                "The sum runs over the queries."),
               ("one number for all rows", {"total": lambda terms: terms.sum()}, "All rows are added up to one number.")),
        *alike("The entropy is asked for in nats, with the natural logarithm: n equal weights have log n.",
               "What is the entropy of two equal weights, in nats?",
               ("in bits", {"log": lambda weights: _log(weights) / np.log(2)}, "The logarithm has base 2: the answer is in bits."),
               ("logarithm to base 10", {"log": lambda weights: _log(weights) / np.log(10)}, "The logarithm has base 10."),
               ("share of the largest entropy", {"finish": lambda total, weights: -total / np.log(max(weights.shape[-1], 2))},
                "The entropy is divided by log n, so that it is at most 1.")),
        Mistake("number of keys that count", change={"finish": lambda total, weights: np.exp(-total)},
                does="The answer is exp(entropy): how many equal weights would have this entropy.",
                why="The entropy itself is asked for.", ask="What is the entropy of a row with one weight of 1?"),
        Mistake("log of the sum of squares", change={"answer": lambda weights: -np.log(np.square(weights).sum(axis=-1))},
                does="The answer is another measure of spread: minus the logarithm of the sum of squares.",
                why="Entropy averages the logarithms; it does not take the logarithm of an average.",
                ask="In which order do the logarithm and the sum come?"),
    ),
)
