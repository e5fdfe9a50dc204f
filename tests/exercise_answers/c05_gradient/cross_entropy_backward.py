"""Answers to cross_entropy_backward, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("cross_entropy_backward")


def soft(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def hot(scores, target):
    return (np.arange(scores.shape[-1]) == target[..., None]).astype(scores.dtype)


answers.right(lambda scores, target: soft(scores) - hot(scores, target))


@answers.right()
def gradient_in_place(scores, target):
    grad = soft(scores)
    np.put_along_axis(
        grad, target[..., None], np.take_along_axis(grad, target[..., None], -1) - 1, -1
    )
    return grad


@answers.right()
def gradient_by_loops(scores, target):
    grad = soft(scores)
    for at in np.ndindex(*target.shape):
        grad[at + (int(target[at]),)] -= 1
    return grad


answers.wrong("target not subtracted", function=lambda scores, target: soft(scores))
answers.wrong("sign flipped", function=lambda scores, target: hot(scores, target) - soft(scores))
answers.wrong("only the target", function=lambda scores, target: -hot(scores, target))
answers.wrong("1 subtracted everywhere", function=lambda scores, target: soft(scores) - 1)
answers.wrong(
    "target off by one",
    function=lambda scores, target: (
        soft(scores) - hot(scores, target - 1 + (target == 0) * scores.shape[-1])
    ),
)
answers.wrong(
    "divided by n",
    function=lambda scores, target: (soft(scores) - hot(scores, target)) / scores.shape[-1],
)
answers.wrong(
    "target's weight subtracted",
    function=lambda scores, target: soft(scores) * (1 - hot(scores, target)),
)
answers.wrong(
    "no maximum subtracted",
    function=lambda scores, target: (
        np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True) - hot(scores, target)
    ),
)
answers.wrong(
    "only the target's entry kept",
    function=lambda scores, target: (soft(scores) - hot(scores, target)) * hot(scores, target),
)


@answers.wrong("mean over the rows")
def gradient_of_the_mean(scores, target):
    return (soft(scores) - hot(scores, target)) / max(target.size, 1)


answers.wrong(
    "gradient of the weights", function=lambda scores, target: -hot(scores, target) / soft(scores)
)


@answers.wrong("target's weight replaced by -1")
def gradient_that_writes(scores, target):
    grad = soft(scores)
    np.put_along_axis(grad, target[..., None], -1, axis=-1)
    return grad


@answers.wrong("target used as a row number")
def gradient_in_a_row(scores, target):
    grad = soft(scores)
    grad[target] -= 1
    return grad


@answers.wrong("loss without the logarithm")
def gradient_of_the_share(scores, target):
    weights, places = soft(scores), hot(scores, target)
    return -weights * (places - (weights * places).sum(axis=-1, keepdims=True))


@answers.wrong("through the softmax twice")
def gradient_through_a_second_softmax(scores, target):
    weights = soft(scores)
    grad = weights - hot(scores, target)
    return weights * (grad - (weights * grad).sum(axis=-1, keepdims=True))


@answers.right()
def gradient_that_sums_to_0(scores, target):
    grad = soft(scores)
    np.put_along_axis(grad, target[..., None], 0, axis=-1)
    np.put_along_axis(grad, target[..., None], -grad.sum(axis=-1, keepdims=True), axis=-1)
    return grad


answers.wrong(
    "through the softmax twice",
    function=lambda scores, target: (
        (soft(scores) - hot(scores, target)) * soft(scores) * (1 - soft(scores))
    ),
)
answers.wrong(
    "target off by one", function=lambda scores, target: soft(scores) - hot(scores, target - 1)
)
answers.wrong(
    "target without a last axis",
    function=lambda scores, target: soft(scores) - (np.arange(scores.shape[-1]) == target),
)
answers.wrong(
    "scores instead of the weights", function=lambda scores, target: scores - hot(scores, target)
)
answers.wrong(
    "exponentials instead of the weights",
    function=lambda scores, target: (
        np.exp(scores - scores.max(axis=-1, keepdims=True)) - hot(scores, target)
    ),
)


answers.wrong("target added", function=lambda scores, target: soft(scores) + hot(scores, target))
answers.wrong(
    "softmax over the first axis",
    "target off by one",
    function=lambda scores, target: soft(scores, 0) - hot(scores, target - 1),
)
answers.wrong(
    "mean over the rows",
    "sign flipped",
    function=lambda scores, target: ((hot(scores, target) - soft(scores)) / target.size).astype(
        scores.dtype
    ),
)


@answers.wrong("scores clipped")
def entropy_backward_of_clipped(scores, target):
    powers = np.exp(np.clip(scores, -500, 500))
    return (powers / powers.sum(axis=-1, keepdims=True) - hot(scores, target)).astype(scores.dtype)


answers.wrong(
    "gradient of the weights",
    "mean over the rows",
    function=lambda scores, target: -hot(scores, target) / soft(scores) / max(target.size, 1),
)


def through_the_weights(denominator):
    """The gradient of the target's weight, and then the backward of the softmax."""

    def gradient(scores, target):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = powers / powers.sum(axis=-1, keepdims=True)
        grad = np.where(
            np.arange(scores.shape[-1]) == target[..., None], -1 / denominator(weights), 0
        )
        return weights * (grad - (weights * grad).sum(axis=-1, keepdims=True)).astype(scores.dtype)

    return gradient


answers.wrong(
    "divided by weights that underflow", function=through_the_weights(lambda weights: weights)
)
answers.wrong(
    "divided by weights that underflow",
    function=through_the_weights(lambda weights: np.maximum(weights, np.finfo(weights.dtype).tiny)),
)
answers.wrong(
    "epsilon in the denominator",
    function=through_the_weights(lambda weights: weights + weights.dtype.type(1e-7)),
)


@answers.wrong("logarithms of the weights", "only the target's entry kept")
def log_softmax_at_the_target(scores, target):
    s = scores - scores.max(axis=-1, keepdims=True)
    log_w = s - np.log(np.exp(s).sum(axis=-1, keepdims=True))
    hit = np.arange(scores.shape[-1]) == target[..., None]
    return np.where(hit, log_w - 1, 0).astype(scores.dtype)
