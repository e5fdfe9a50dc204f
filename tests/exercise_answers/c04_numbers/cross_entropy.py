"""Answers to cross_entropy, written as learners write them."""

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("cross_entropy")


def pick(array, target):
    return np.take_along_axis(array, target[..., None], axis=-1)[..., 0]


@answers.right()
def loss_by_shift(scores, target):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1)) - pick(shifted, target)


@answers.right()
def loss_from_the_target(scores, target):
    gaps = scores - np.take_along_axis(scores, target[..., None], axis=-1)
    highest = gaps.max(axis=-1)
    return highest + np.log(np.exp(gaps - highest[..., None]).sum(axis=-1))


@answers.right()
def loss_by_loops(scores, target):
    found = np.zeros(target.shape)
    for at in np.ndindex(*target.shape):
        row = scores[at].astype(np.float64)
        row = row - row.max()
        found[at] = np.log(np.exp(row).sum()) - row[target[at]]
    return found.astype(scores.dtype)


def soft(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@answers.right()
def loss_by_log1p(scores, target):
    shifted = scores - scores.max(-1, keepdims=True)
    rest = np.exp(shifted)
    np.put_along_axis(rest, shifted.argmax(-1)[..., None], 0, -1)
    return np.log1p(rest.sum(-1)) - pick(shifted, target)


@answers.wrong("maximum added back before the difference")
def loss_by_lse(scores, target):
    highest = scores.max(-1)
    lse = highest + np.log(np.exp(scores - highest[..., None]).sum(-1))
    return lse - pick(scores, target)


answers.wrong(
    "logarithm of the softmax", function=lambda scores, target: -np.log(pick(soft(scores), target))
)
answers.wrong(
    "epsilon in the logarithm",
    function=lambda scores, target: -np.log(pick(soft(scores), target) + 1e-9),
)
answers.wrong(
    "no maximum subtracted",
    function=lambda scores, target: np.log(np.exp(scores).sum(axis=-1)) - pick(scores, target),
)
answers.wrong("sign flipped", function=lambda scores, target: -loss_by_shift(scores, target))
answers.wrong(
    "mean over the rows", function=lambda scores, target: loss_by_shift(scores, target).mean()
)
answers.wrong(
    "target off by one", function=lambda scores, target: loss_by_shift(scores, target - 1)
)
answers.wrong(
    "in bits",
    function=lambda scores, target: loss_by_shift(scores, target) / scores.dtype.type(np.log(2)),
)
answers.wrong(
    "one minus the weight", function=lambda scores, target: 1 - pick(soft(scores), target)
)


@answers.wrong("target's score unshifted")
def loss_half_shifted(scores, target):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1)) - pick(scores, target)


@answers.wrong("one maximum for the whole array")
def loss_by_one_maximum(scores, target):
    shifted = scores - scores.max()
    return np.log(np.exp(shifted).sum(axis=-1)) - pick(shifted, target)


@answers.wrong("all targets taken in each row")
def loss_at_all_targets(scores, target):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1)) - shifted[..., target]


def log_weights(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


answers.wrong(
    "all targets taken in each row",
    function=lambda scores, target: -log_weights(scores)[..., target],
)


@answers.wrong("sum over the rows", "in bits")
def entropy_of_all_in_bits(scores, target):
    losses = -np.take_along_axis(log_weights(scores), target[..., None], axis=-1) / np.log(2)
    return losses.sum().astype(scores.dtype)


@answers.wrong("scores clipped")
def entropy_of_clipped(scores, target):
    scores = np.clip(scores, -60, 60)
    log_weight = np.take_along_axis(scores, target[..., None], axis=-1)[..., 0] - np.log(
        np.exp(scores).sum(axis=-1)
    )
    return -log_weight


answers.wrong(
    "logarithm of the softmax",
    "mean over the rows",
    function=lambda scores, target: (
        -np.log(np.take_along_axis(soft(scores), target[..., None], axis=-1)).mean()
    ),
)
answers.wrong(
    "epsilon in the logarithm",
    "sign flipped",
    function=lambda scores, target: np.log(
        np.take_along_axis(soft(scores), target[..., None], axis=-1)[..., 0] + 1e-9
    ).astype(scores.dtype),
)


@answers.wrong("logarithm of the softmax", "no maximum subtracted")
def entropy_by_definition(scores, target):
    powers = np.exp(scores)
    return -np.log(
        np.take_along_axis(powers / powers.sum(axis=-1, keepdims=True), target[..., None], axis=-1)[
            ..., 0
        ]
    )


answers.wrong(
    "all keys added up", function=lambda scores, target: -log_weights(scores).sum(axis=-1)
)
answers.wrong(
    "mean over the keys", function=lambda scores, target: -log_weights(scores).mean(axis=-1)
)
answers.wrong(
    "keys not added up",
    function=lambda scores, target: (
        -log_weights(scores) * (np.arange(scores.shape[-1]) == target[..., None])
    ),
)
answers.wrong(
    "entropy of the weights",
    function=lambda scores, target: -(soft(scores) * log_weights(scores)).sum(axis=-1),
)
answers.wrong(
    "logarithm of the other weights",
    function=lambda scores, target: (
        -np.log(1 - np.take_along_axis(soft(scores), target[..., None], axis=-1)[..., 0])
    ),
)
answers.wrong(
    "weighted by the weight",
    function=lambda scores, target: (
        -np.take_along_axis(soft(scores) * log_weights(scores), target[..., None], axis=-1)[..., 0]
    ),
)
answers.wrong(
    "scores taken for weights",
    function=lambda scores, target: (
        -np.log(np.take_along_axis(scores, target[..., None], axis=-1)[..., 0])
    ),
)


@answers.wrong("softmax over the first axis")
def entropy_of_columns(scores, target):
    shifted = scores - scores.max(axis=0)
    log_weight = shifted - np.log(np.exp(shifted).sum(axis=0))
    return -np.take_along_axis(log_weight, target[..., None], axis=-1)[..., 0]


def one_hot(scores, target):
    return (np.arange(scores.shape[-1]) == target[..., None]).astype(scores.dtype)


# the losses of all keys, of which 0 times one of inf is NaN
answers.wrong(
    "0 times infinity",
    function=lambda scores, target: -(log_weights(scores) * one_hot(scores, target)).sum(axis=-1),
)
answers.wrong(
    "0 times infinity",
    function=lambda scores, target: (
        -np.einsum("...n,...n->...", log_weights(scores), one_hot(scores, target))
    ),
)


@answers.wrong("softmax over the queries")
def entropy_over_the_queries(scores, target):
    logs = attnlib.log_softmax(scores, axis=-2)
    return -np.take_along_axis(logs, target[..., None], axis=-1)[..., 0]


@answers.wrong("weight instead of its logarithm")
def minus_the_weight(scores, target):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return -np.take_along_axis(weights, target[..., None], axis=-1)[..., 0]


@answers.wrong("labels smoothed")
def cross_entropy_of_smooth_labels(scores, target):
    s = scores - scores.max(axis=-1, keepdims=True)
    logs = s - np.log(np.exp(s).sum(axis=-1, keepdims=True))
    own = np.take_along_axis(logs, target[..., None], axis=-1)[..., 0]
    return -(0.9 * own + 0.1 * logs.mean(axis=-1)).astype(scores.dtype)


@answers.wrong("computed in lower precision")
def cross_entropy_in_float32(scores, target):
    s = scores.astype(np.float32)
    s = s - s.max(axis=-1, keepdims=True)
    own = np.take_along_axis(s, target[..., None], axis=-1)[..., 0]
    return (np.log(np.exp(s).sum(axis=-1)) - own).astype(scores.dtype)


def with_a_number_for_inf(number):
    def loss(scores, target):
        finite = np.where(np.isneginf(scores), number, scores).astype(scores.dtype)
        return -pick(attnlib.log_softmax(finite), target)

    return loss


for number in (-100, -1e4):
    answers.wrong("negative number instead of -inf", function=with_a_number_for_inf(number))


@answers.wrong("no logarithm")
def loss_from_the_sum(scores, target):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(shifted).sum(axis=-1) - pick(shifted, target)


@answers.wrong("maximum of absolute values")
def loss_by_the_largest_size(scores, target):
    shifted = scores - np.abs(scores).max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1)) - pick(shifted, target)
