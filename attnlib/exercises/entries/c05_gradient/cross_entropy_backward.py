"""The exercise cross_entropy_backward."""

import numpy as np

from ...families.inputs import SIZES
from ...families.softmax import OVER_OTHER_AXES, SCORES_CUT
from ...families.targets import with_targets
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Step, alike, ways


def cross_entropy_backward_answer(do, scores, target):
    powers = do.power(do.shift(scores))
    weights = do.weights_out(powers / do.total(powers))
    return do.finish(do.sense(do.join(weights, do.one_hot(weights, target))))


def _one_hot(weights, target):
    found = np.zeros_like(weights)
    np.put_along_axis(found, np.asarray(target)[..., None], 1.0, axis=-1)
    return found


def _through_the_softmax(grad, weights):
    return weights * (grad - (weights * grad).sum(axis=-1, keepdims=True))


def _found(weights, target):
    """1 where a key's number equals the target's entry, as the shapes line up."""
    return np.zeros_like(weights) + (np.arange(weights.shape[-1]) == target)


def _whole_rows(weights, target):
    found = np.zeros_like(weights)
    found[target] = 1.0
    return found


def _cases():
    def case(aspect, scores, target, dtype=float, extreme=False):
        return Case(aspect, (np.array(scores, dtype), np.array(target)), extreme)

    return [
        case(PLAIN, [[0, 0], [0, 0]], [1, 0]), case(PLAIN, [[0, 1, 2], [1, 0, 0]], [2, 0]), case(PLAIN, [[1, -1, 0.5]], [1]),
        case(SQUARE, [[0, 1], [2, 0]], [0, 1]), case("no leading axes", [0, 1, 2], 1), case("one key", [[3], [-2]], [0, 0]),
        case("the same target", [[0, 1, 2], [2, 1, 0]], [1, 1]), case(LEADING, [[[0, 1]], [[2, 0]]], [[1], [1]]),
        case(HUGE, [[10000, 9999], [-10000, -9999]], [1, 0], extreme=True), case(HUGE, [[0, 10000], [10000, 0]], [0, 0], extreme=True),
        case(FLOAT32, [[0, 1], [2, 0]], [1, 0], np.float32), case(FLOAT16, [[0, 1], [2, 0]], [1, 0], np.float16),
        *with_targets(SIZES),
    ]


EXERCISE = Exercise(
    name="cross_entropy_backward", signature="(scores, target)", place=5,
    axes=dict(scores="n_q n_k", target="n_q"), answer_axes="n_q n_k",
    text="The gradient of each row's cross-entropy with respect to its scores (..., n), for targets (...).",
    answer=cross_entropy_backward_answer,
    steps={
        "shift": Step(lambda scores: scores - scores.max(axis=-1, keepdims=True), "the shifted scores"),
        "power": Step(np.exp, "the exponentials"),
        "total": Step(lambda powers: powers.sum(axis=-1, keepdims=True), "the sum of the exponentials", True),
        "weights_out": Step(lambda weights: weights, "the weights"),
        "one_hot": _one_hot,
        "join": np.subtract,
        "sense": lambda grad: grad,
        "finish": lambda grad: grad,
    },
    cases=_cases,
    hints=(
        "The loss is log(sum of exp(s)) - s_t. Differentiate the two terms one by one.",
        "The derivative of the log-sum-exp by s_j is the weight of key j; that of s_t is 1 at the target and 0 elsewhere.",
        "So the gradient is the softmax of each row, less 1 at its target.",
    ),
    mistakes=(
        *alike("The gradient has two parts: the weights, from the log-sum-exp, and -1 at the target.",
               "What is the gradient at the target's own score, and what elsewhere?",
               ("target not subtracted", {"join": lambda weights, one_hot: weights}, "The answer is the softmax alone."),
               ("target added", {"one_hot": lambda weights, target: -_one_hot(weights, target)},
                "1 is added at the target, where it should be subtracted."),
               ("only the target", {"join": lambda weights, one_hot: -one_hot},
                "The answer is -1 at the target and 0 elsewhere."),
               ("only the target's entry kept", {"join": np.subtract, "finish": lambda grad: np.where(grad < 0, grad, 0.0)},
                "Only the target has a gradient; the other keys have 0."),
               ("gradient of the weights", {"join": lambda weights, one_hot: -one_hot / weights},
                "The answer is -1 / weight at the target: the derivative by the weight, not by the score."),
               ("target's weight subtracted", {"one_hot": lambda weights, target: _one_hot(weights, target) * weights},
                "The entry of the target is 0: its weight is subtracted, not 1."),
               ("-1 put in place of the target's weight", {"one_hot": lambda weights, target: _one_hot(weights, target) * (
                   1 + weights)}, "The entry of the target is -1: its weight is overwritten, not lessened by 1."),
               ("1 subtracted everywhere", {"one_hot": lambda weights, target: 1.0}, "1 is subtracted from every entry."),
               ("target off by one", ({"one_hot": lambda weights, target: _one_hot(weights, np.asarray(target) - 1)},
                                      {"one_hot": lambda weights, target: _found(weights, np.asarray(target)[..., None] - 1)}),
                "The key before the target is taken; targets count from 0."),
               ("target without a last axis", {"one_hot": _found},
                "The target of row i is looked for in column i, where the shapes fit at all."),
               ("target taken for a row", {"one_hot": _whole_rows}, "1 is subtracted in whole rows: weights[target] takes rows."),
               ("the first target for all rows", {"one_hot": lambda weights, target: np.zeros_like(weights) + (
                   np.arange(weights.shape[-1]) == np.ravel(target)[0])}, "All rows take the first row's target."),
               ("every row's target in every row", {"one_hot": lambda weights, target: np.zeros_like(weights) + np.isin(
                   np.arange(weights.shape[-1]), target)}, "1 is subtracted in whole columns: scores[:, target] takes all rows.")),
        *alike("The loss of a row is log(sum) - s_t, and nothing is averaged or multiplied besides.",
               "What is the gradient for two equal scores?",
               ("sign flipped", {"sense": lambda grad: -grad}, "The gradient points the wrong way: along it the loss falls."),
               ("mean over the rows", {"finish": lambda grad: grad / (grad.size / grad.shape[-1])},
                "The gradient is divided by the number of rows, as of a mean loss."),
               ("divided by n", {"finish": lambda grad: grad / grad.shape[-1]}, "The gradient is n times too small."),
               ("loss without the logarithm", {"join": lambda weights, one_hot: _through_the_softmax(-one_hot, weights)},
                "The answer is that of the loss -a_t: in each row a_t times the right one."),
               ("through the softmax twice", ways(
                   "join", lambda weights, one_hot: _through_the_softmax(weights - one_hot, weights),
                   lambda weights, one_hot: (weights - one_hot) * weights * (1 - weights)),
                "The gradient a - y is multiplied by a further derivative of the softmax.")),
        *alike("The slope of the log-sum-exp by a score is that key's weight, the exponential divided by the sum.",
               "What do the entries of the first term sum to in each row?",
               ("scores instead of the weights", {"answer": lambda scores, target: scores - _one_hot(scores, target)},
                "1 is subtracted from the scores themselves: the softmax is missing."),
               ("exponentials instead of the weights", {"total": lambda powers: 1.0},
                "The exponentials are not divided by their sum.")),
        *alike("exp overflows above 709 (above 88 in float32, above 11 in float16). A maximum subtracted from the row cancels.",
               "Which number makes the largest exponent of each row 0?",
               ("no maximum subtracted", {"shift": lambda scores: scores}, "For small scores it is right; for scores of 10000 it is NaN."),
               ("one maximum for the whole array", {"shift": lambda scores: scores - scores.max()},
                "In rows far below the largest score of all, every exponential is 0, and 0 / 0 is NaN.")),
        SCORES_CUT,
        *alike("Each row has a softmax of its own.", "Along which axis do the keys of one query lie?",
               *OVER_OTHER_AXES,
               ("softmax over everything", {"total": lambda p: p.sum()}, "All exponentials are divided by one sum.")),
    ),
)
