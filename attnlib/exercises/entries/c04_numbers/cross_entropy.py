"""The exercise cross_entropy."""

import numpy as np

from ...families.inputs import SIZES
from ...families.softmax import SCORES_CUT
from ...families.targets import targets_of, with_targets
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike


def cross_entropy_answer(do, scores, target):
    shifted = do.shift(scores)
    chosen = do.choose(shifted, target)
    total = do.total(do.power(shifted))
    return do.finish(do.base(do.sense(do.join(do.log(total), chosen, total))))


def _cases():
    def case(aspect, scores, target, dtype=float, extreme=False):
        return Case(aspect, (np.array(scores, dtype), np.array(target)), extreme)

    # log1p is more exact here than the reference, to 6e-4; behind a maximum added back the loss is off by 6e-3.
    almost_certain = Case("an almost certain target", (np.array([[30.0, 0, 0]]), np.array([0])), relative=2e-3)
    return [
        case(PLAIN, [[0, 1], [2, 0]], [1, 0]), case(PLAIN, [[0, 0, 0], [1, 2, 3]], [2, 0]), case(PLAIN, [[1, -1, 0.5]], [1]),
        case(SQUARE, [[0, 1], [2, 0]], [0, 1]), case("no leading axes", [0, 1, 2], 1), case("one key", [[3], [-2]], [0, 0]),
        case("the same target", [[0, 1, 2], [2, 1, 0]], [1, 1]), case(LEADING, [[[0, 1]], [[2, 0]]], [[1], [1]]),
        case(HUGE, [[10000, 9999], [-10000, -9999]], [1, 0], extreme=True), case(HUGE, [[0, 10000], [10000, 0]], [0, 0], extreme=True),
        case(HUGE, [[10000, 10000.5]], [0], np.float32, True),
        case("a weight that underflows", [[0, 800], [800, 0]], [0, 0]), almost_certain,
        case(FLOAT32, [[0, 1], [2, 0]], [1, 0], np.float32), case(FLOAT32, [[0, 100], [100, 0]], [0, 0], np.float32, True),
        case(FLOAT16, [[0, 1], [2, 0]], [1, 0], np.float16), *with_targets(SIZES),
    ]


def _lse(scores):
    highest = scores.max(axis=-1, keepdims=True)
    return np.log(np.exp(scores - highest).sum(axis=-1)) + highest[..., 0]


def _log_weights(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _loss_along(scores, target, axis, of_maximum):
    """The loss of weights that sum to 1 along another axis."""
    shifted = scores - scores.max(axis=of_maximum, keepdims=True)
    return -targets_of(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)), target)


def _of_weights(function):
    """The target's weight first, and a function of it."""
    return {"join": lambda log, chosen, total: function(np.exp(chosen) / total)}


EXERCISE = Exercise(
    name="cross_entropy", signature="(scores, target)", place=3,
    axes=dict(scores="n_q n_k", target="n_q"), answer_axes="n_q",
    text="Minus the logarithm of the target's weight, for scores (..., n) and targets (...), as exact as after "
         "subtracting each row's maximum.",
    answer=cross_entropy_answer,
    steps={
        "shift": Step(lambda scores: scores - scores.max(axis=-1, keepdims=True), "the shifted scores"),
        "power": Step(np.exp, "the exponentials"),
        "total": Step(lambda powers: powers.sum(axis=-1), "the sum of the exponentials", True),
        "log": Step(np.log, "the logarithm of the sum", True),
        "choose": targets_of,
        "join": lambda log, chosen, total: log - chosen,
        "sense": lambda loss: loss,
        "base": lambda loss: loss,
        "finish": lambda loss: loss,
    },
    cases=_cases,
    hints=(
        "The logarithm of a quotient is a difference: -log(exp(s_t) / sum) = log(sum) - s_t.",
        "Subtract the row's maximum from all scores first; it cancels, and the sum lies between 1 and n.",
        "np.take_along_axis(shifted, target[..., None], axis=-1)[..., 0] picks each row's target, for any leading axes.",
    ),
    mistakes=(
        *alike("The softmax underflows to 0 where a score lies far below the maximum, and the logarithm of 0 is -inf. "
               "log(sum) - score never takes the logarithm of anything below 1.",
               "What is the weight of a score 800 below the maximum, and what is its logarithm?",
               ("logarithm of the softmax", _of_weights(lambda weights: -np.log(weights)),
                "Where the target's weight underflows the answer is inf."),
               ("epsilon in the logarithm", tuple(_of_weights(lambda weights, e=e: -np.log(weights + e)) for e in (
                   1e-9, 1e-8, 1e-12, 1e-6, 1e-7, 1e-10, 1e-15, 1e-5)),
                "A small number is added to the weight before the logarithm: losses stop growing there."),
               ("weight cut at a small number", tuple(_of_weights(lambda weights, e=e: -np.log(np.maximum(weights, e))) for e in (
                   1e-9, 1e-8, 1e-12, 1e-6, 1e-7, 1e-10, 1e-15, 1e-5)),
                "Weights below a small number are replaced by it: losses stop growing there.")),
        *alike("exp overflows above 709 (above 88 in float32, above 11 in float16). The row's maximum, subtracted from all "
               "scores, cancels in log(sum) - score.", "Which number makes the largest exponent 0?",
               ("no maximum subtracted", {"shift": lambda scores: scores}, "For small scores it is right; for scores of 10000 it is not."),
               ("one maximum for the whole array", {"shift": lambda scores: scores - scores.max()},
                "In rows far below the largest score of all, every exponential is 0.")),
        SCORES_CUT,
        *alike("The target's own score is subtracted, shifted as all others are.", "What is the loss where all scores are equal?",
               ("score of the target not subtracted", {"choose": lambda shifted, target: 0.0 * targets_of(shifted, target)},
                "The answer is the log-sum-exp of the shifted scores: it does not depend on the target."),
               ("target's score added", {"choose": lambda shifted, target: -targets_of(shifted, target)},
                "The target's score comes in with the wrong sign."),
               ("target's score unshifted", {"answer": lambda scores, target: np.log(np.exp(
                   scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1)) - targets_of(scores, target)},
                "The maximum is subtracted in the sum and not in the target's score."),
               ("target off by one", {"choose": lambda shifted, target: targets_of(shifted, target - 1)},
                "The key before the target is taken; targets count from 0.")),
        Mistake("maximum added back before the difference",
                change={"answer": lambda scores, target: _lse(scores) - targets_of(scores, target)},
                does="The target's score is subtracted from the whole log-sum-exp: digits of a small loss are lost beside "
                     "the maximum.",
                why="log(sum) may be tiny. Added to a large maximum it is rounded to that number's digits, and they do not come "
                    "back when the target's score is taken away.",
                ask="What is 30 + 1e-17 on a machine, and what is left of it when 30 is subtracted?"),
        *alike("Each row has a loss of its own.", "How many losses have scores of shape (n_q, n)?",
               ("mean over the rows", {"finish": lambda loss: np.mean(loss)}, "The losses are averaged to one number."),
               ("sum over the rows", {"finish": lambda loss: np.sum(loss)}, "The losses are added up to one number."),
               ("all targets taken in each row", ({"choose": lambda shifted, target: shifted[..., target]},
                                                  {"answer": lambda scores, target: -_log_weights(scores)[..., target]}),
                "Each row's scores are looked up at the targets of all rows: the answer has more axes than the targets."),
               ("a column of the first row's target", {"choose": lambda shifted, target: shifted[..., np.ravel(target)[0]]},
                "All rows take the first row's target.")),
        Mistake("sign flipped", change={"sense": lambda loss: -loss},
                does="The answer is the logarithm of the weight, never positive.",
                why="A loss is minus that logarithm: 0 for a certain target, larger the less weight it has.",
                ask="Should a loss be small or large where the target has nearly all the weight?"),
        Mistake("in bits", change={"base": lambda loss: loss / np.log(2)},
                does="The logarithm has base 2.", why="The natural logarithm is asked for.",
                ask="What is the loss for two equal scores?"),
        *alike("Of each row the logarithm of one weight counts, that of the target, and of the other keys nothing but what they "
               "add to the sum.", "Which entries of a row of log-weights does the loss take, and how often?",
               ("all keys added up", {"answer": lambda scores, target: -_log_weights(scores).sum(axis=-1)},
                "Minus the logarithms of all weights of a row are added up; the target plays no part."),
               ("mean over the keys", {"choose": lambda shifted, target: shifted.mean(axis=-1)},
                "Minus the logarithms of all weights of a row are averaged; the target plays no part."),
               ("keys not added up", {"answer": lambda scores, target: -_log_weights(scores) * (
                   np.arange(scores.shape[-1]) == np.asarray(target)[..., None])},
                "The answer keeps the keys: the loss stands at the target, and 0 beside it."),
               ("entropy of the weights", {"answer": lambda scores, target: -(
                   np.exp(_log_weights(scores)) * _log_weights(scores)).sum(axis=-1)},
                "The answer is the entropy of the row's own weights; the target plays no part.")),
        *alike("The loss is minus the logarithm of the target's weight, which is 0 for a weight of 1 and grows without end "
               "towards 0.", "What is the loss of a target with weight 1, and of one with weight 0.5?",
               ("logarithm of the other weights", _of_weights(lambda weights: -np.log(1 - weights)),
                "The answer is -log(1 - weight): it is large where the target has nearly all the weight."),
               ("weighted by the weight", _of_weights(lambda weights: -weights * np.log(weights)),
                "The logarithm is multiplied by the target's weight."),
               ("scores taken for weights", {"answer": lambda scores, target: -np.log(targets_of(scores, target))},
                "The logarithm is that of the score itself: the softmax is missing.")),
        *alike("Each row has a softmax of its own, over the keys.", "What do the weights of one query sum to?",
               ("softmax over the first axis", tuple({"answer": lambda scores, target, m=m: _loss_along(scores, target, 0, m)}
                                                     for m in (0, -1)),
                "The exponentials are added up over the first axis, which is the batch if there are leading axes."),
               ("softmax over everything", {"answer": lambda scores, target: _loss_along(scores, target, None, None)},
                "The exponentials of the whole array are added up.")),
        Mistake("one minus the weight", change=_of_weights(lambda weights: 1 - weights),
                does="The answer is 1 minus the target's weight.", why="The logarithm is asked for: it has no upper end.",
                ask="What is the loss of a target with weight 0.5?"),
    ),
)
