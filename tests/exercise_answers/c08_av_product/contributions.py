"""Answers to contributions, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("contributions")


@answers.right()
def parts_by_broadcasting(weights, value):
    return weights[..., :, :, None] * value[..., None, :, :]


@answers.right()
def parts_by_einsum(weights, value):
    return np.einsum("...ij,...jc->...ijc", weights, value)


@answers.right()
def parts_by_expand_dims(weights, value):
    return np.multiply(np.expand_dims(weights, -1), np.expand_dims(value, -3))


@answers.right()
def parts_by_loop(weights, value):
    found = np.zeros((*weights.shape, value.shape[-1]), value.dtype)
    for *lead, i, j in np.ndindex(weights.shape):
        found[(*lead, i, j)] = weights[(*lead, i, j)] * value[(*lead, j)]
    return found


@answers.right()
def parts_by_diagonal_matrices(weights, value):
    return (
        weights[..., None] * np.eye(weights.shape[-1], dtype=weights.dtype) @ value[..., None, :, :]
    )


@answers.right()
def parts_key_by_key(weights, value):
    return np.stack(
        [weights[..., :, j, None] * value[..., None, j, :] for j in range(value.shape[-2])], axis=-2
    )


@answers.right()
def parts_by_moved_axes(weights, value):
    return np.swapaxes(np.swapaxes(weights, -1, -2)[..., None] * value[..., :, None, :], -2, -3)


@answers.wrong("keys before queries")
def parts_key_first(weights, value):
    return np.swapaxes(weights, -1, -2)[..., None] * value[..., :, None, :]


@answers.wrong("features before keys")
def parts_features_before_keys(weights, value):
    return weights[..., :, None, :] * np.swapaxes(value, -1, -2)[..., None, :, :]


@answers.wrong("new axis before the batch")
def parts_new_axis_in_front(weights, value):
    return weights[..., None] * value[None]


@answers.wrong("weights normalised again")
def parts_normalised(weights, value):
    total = weights.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    return (weights / total)[..., None] * value[..., None, :, :]


@answers.wrong("parts reshaped into place")
def parts_reshaped(weights, value):
    parts = np.einsum("...ij,...jc->...jic", weights, value)
    return parts.reshape(*weights.shape, value.shape[-1])


@answers.wrong("lengths instead of vectors")
def parts_lengths(weights, value):
    return weights * np.linalg.norm(value, axis=-1)[..., None, :]


@answers.wrong("output subtracted from the values")
def parts_slopes(weights, value):
    return weights[..., None] * (value[..., None, :, :] - (weights @ value)[..., :, None, :])


for number, (name, function) in enumerate(
    (
        ("summed over the keys", lambda weights, value: weights @ value),
        (
            "values indexed by the query",
            lambda weights, value: weights[..., None] * value[..., :, None, :],
        ),
        (
            "every weight times every value",
            lambda weights, value: np.einsum("...ij,...kc->...ijkc", weights, value),
        ),
        ("weights * value", lambda weights, value: weights * value),
        ("outer product of all numbers", np.outer),
        (
            "summed over the features",
            lambda weights, value: weights * value.sum(axis=-1)[..., None, :],
        ),
        ("features first", lambda weights, value: np.einsum("...ij,...jc->...cij", weights, value)),
        (
            "values without weights",
            lambda weights, value: np.broadcast_to(
                value[..., None, :, :], (*weights.shape, value.shape[-1])
            ),
        ),
        (
            "weights without values",
            lambda weights, value: np.repeat(weights[..., None], value.shape[-1], axis=-1),
        ),
        (
            "all other keys",
            lambda weights, value: (
                (weights @ value)[..., None, :] - weights[..., None] * value[..., None, :, :]
            ),
        ),
        (
            "queries and keys on one axis",
            lambda weights, value: (weights[..., None] * value[..., None, :, :]).reshape(
                *weights.shape[:-2], -1, value.shape[-1]
            ),
        ),
        (
            "running sums",
            lambda weights, value: (weights[..., None] * value[..., None, :, :]).cumsum(axis=-2),
        ),
        (
            "softmax of the weights",
            lambda weights, value: np.einsum(
                "...ij,...jc->...ijc",
                np.exp(weights) / np.exp(weights).sum(axis=-1, keepdims=True),
                value,
            ),
        ),
        (
            "shares of the output",
            lambda weights, value: (
                weights[..., None] * value[..., None, :, :] / (weights @ value)[..., None, :]
            ),
        ),
    )
):
    answers.wrong(name, function=function)


answers.wrong(
    "features before keys",
    "divided by the number of keys",
    function=lambda weights, value: (
        np.einsum("...ij,...jc->...icj", weights, value) / weights.shape[-1]
    ),
)


@answers.wrong("new axis of the weights before the keys")
def parts_of_features(weights, value):
    return weights[..., None, :] * value
