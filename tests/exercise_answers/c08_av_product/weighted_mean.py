"""Answers to weighted_mean, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("weighted_mean")


def row_sums(weights):
    return weights.sum(axis=-1, keepdims=True)


@answers.right()
def mean_by_where(weights, value):
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total).astype(weights.dtype) @ value


@answers.right()
def mean_by_divide(weights, value):
    total = row_sums(weights)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0) @ value


@answers.right()
def mean_by_nan_to_num(weights, value):
    with np.errstate(invalid="ignore"):
        return np.einsum("...qk,...kd->...qd", np.nan_to_num(weights / row_sums(weights)), value)


@answers.right()
def mean_by_loop(weights, value):
    out = np.zeros(weights.shape[:-1] + value.shape[-1:], value.dtype)
    for index in np.ndindex(weights.shape[:-1]):
        row = weights[index]
        if row.any():
            out[index] = row / row.sum() @ value[index[:-1]]
    return out


@answers.right()
def mean_by_largest(weights, value):
    top = weights.max(axis=-1, keepdims=True)
    scaled = weights / np.where(top > 0, top, 1).astype(weights.dtype)
    total = row_sums(scaled)
    total[total == 0] = 1
    return scaled / total @ value


@answers.wrong("rows of zeros NaN")
def mean_unguarded(weights, value):
    return weights / weights.sum(axis=-1, keepdims=True) @ value


@answers.wrong("rows of zeros NaN")
def mean_product_first(weights, value):
    return weights @ value / weights.sum(axis=-1, keepdims=True)


@answers.right()
def mean_product_first_guarded(weights, value):
    total = row_sums(weights)
    return np.where(total == 0, 0, weights @ value / np.where(total == 0, 1, total)).astype(
        value.dtype
    )


@answers.right()
def mean_product_first_nan_to_zero(weights, value):
    out = weights @ value / row_sums(weights)
    out[~weights.any(axis=-1)] = 0
    return out


@answers.wrong("error at a row of zeros")
def mean_that_raises(weights, value):
    total = row_sums(weights)
    if (total == 0).any():
        raise ValueError("weights sum to zero")
    return weights / total @ value


@answers.wrong("sum without keepdims")
def mean_without_keepdims(weights, value):
    total = weights.sum(axis=-1)
    return weights / np.where(total == 0, 1, total).astype(weights.dtype) @ value


@answers.wrong("rows of zeros uniform")
def mean_uniform(weights, value):
    empty = ~weights.any(axis=-1, keepdims=True)
    filled = np.where(empty, 1, weights).astype(weights.dtype)
    return filled / row_sums(filled) @ value


@answers.wrong("one row of zeros empties all")
def mean_all_or_nothing(weights, value):
    total = row_sums(weights)
    if (total == 0).any():
        return np.zeros(weights.shape[:-1] + value.shape[-1:], value.dtype)
    return weights / total @ value


@answers.wrong("only an array full of zeros handled")
def mean_whole_array(weights, value):
    if not weights.any():
        return np.zeros(weights.shape[:-1] + value.shape[-1:], value.dtype)
    return weights / row_sums(weights) @ value


@answers.wrong("rows of zeros left out")
def mean_rows_dropped(weights, value):
    live = weights.any(axis=-1)
    total = row_sums(weights)
    out = weights / np.where(total == 0, 1, total).astype(weights.dtype) @ value
    return out if live.all() else out[live]


def shared(total_of):
    """A weighted mean with something else in the place of the sum, and a guard."""

    def mean(weights, value):
        total = np.asarray(total_of(weights))
        return (weights / np.where(total == 0, 1, total).astype(weights.dtype)) @ value

    return mean


for number, (name, total_of) in enumerate(
    (
        ("divided by the largest weight", lambda w: w.max(axis=-1, keepdims=True)),
        ("divided by the mean", lambda w: w.mean(axis=-1, keepdims=True)),
        ("divided by the Euclidean length", lambda w: np.linalg.norm(w, axis=-1, keepdims=True)),
        ("sum of the whole array", np.sum),
        ("sum over the queries", lambda w: w.sum(axis=-2, keepdims=True)),
        ("sum never below a limit", lambda w: np.maximum(row_sums(w), 1)),
    )
):
    function = shared(total_of)
    function.__name__ = f"weighted_mean_{number}"
    answers.wrong(name, function=function)

answers.wrong("not divided by the sum", function=lambda weights, value: weights @ value)
answers.wrong(
    "divided by the number of keys instead of the sum",
    function=lambda weights, value: weights @ value / weights.shape[-1],
)
answers.wrong(
    "epsilon in the denominator",
    function=lambda weights, value: weights / (weights.sum(-1, keepdims=True) + 1e-9) @ value,
)
answers.wrong(
    "sum never below a limit",
    function=lambda weights, value: (
        weights / np.maximum(weights.sum(-1, keepdims=True), 1e-12) @ value
    ),
)
answers.right(
    function=lambda weights, value: (
        weights
        * (1 / np.where(row_sums(weights) == 0, 1, row_sums(weights))).astype(weights.dtype)
        @ value
    )
)
answers.wrong(
    "softmax of the weights",
    function=lambda weights, value: (
        (e := np.exp(weights - weights.max(-1, keepdims=True))) / e.sum(-1, keepdims=True) @ value
    ),
)
answers.wrong(
    "weights ignored",
    function=lambda weights, value: np.broadcast_to(
        value.mean(-2, keepdims=True), (*weights.shape[:-1], value.shape[-1])
    ),
)
answers.wrong(
    "rows of small weights treated as zeros",
    function=lambda weights, value: (
        np.where(row_sums(weights) > 1e-8, weights / row_sums(weights), 0).astype(weights.dtype)
        @ value
    ),
)


@answers.wrong("any 0 empties the row")
def mean_any_zero(weights, value):
    total = row_sums(weights)
    shares = weights / np.where(total == 0, 1, total).astype(weights.dtype)
    return np.where((weights == 0).any(-1, keepdims=True), 0, shares).astype(weights.dtype) @ value


@answers.wrong("Aᵀ V instead of A V")
def mean_transposed(weights, value):
    total = row_sums(weights)
    return (
        np.swapaxes(weights / np.where(total == 0, 1, total).astype(weights.dtype), -1, -2) @ value
    )


@answers.wrong("divided by the number of keys")
def mean_divided_twice(weights, value):
    total = row_sums(weights)
    total[total == 0] = 1
    return weights @ value / total / weights.shape[-1]


@answers.wrong("softmax of the weights")
def mean_by_guarded_softmax(weights, value):
    powers = np.exp(weights - weights.max(axis=-1, keepdims=True))
    shares = np.where(weights.any(axis=-1, keepdims=True), powers / row_sums(powers), 0)
    return shares.astype(weights.dtype) @ value


@answers.wrong("sum over the queries", "epsilon in the denominator")
def mean_over_queries_raised(weights, value):
    return weights / (weights.sum(axis=-2, keepdims=True) + 1e-9) @ value


@answers.wrong("sum of the whole array", "sum never below a limit")
def mean_of_everything_limited(weights, value):
    return weights / np.maximum(weights.sum(), 1e-12) @ value


@answers.wrong("divided by the number of keys above 0")
def mean_over_keys_with_a_weight(weights, value):
    count = np.count_nonzero(weights, axis=-1, keepdims=True)
    count = np.maximum(count, 1).astype(weights.dtype)
    return (weights @ value) / count


@answers.wrong("divided by the sum twice")
def mean_of_shares_divided_again(weights, value):
    total = np.where(row_sums(weights) == 0, 1, row_sums(weights)).astype(weights.dtype)
    return (weights / total) @ value / total


@answers.wrong("rows of zeros given a number")
def mean_of_nothing_is_one(weights, value):
    total = weights.sum(axis=-1, keepdims=True)
    mean = weights / np.where(total == 0, 1, total) @ value
    return np.where((weights == 0).all(axis=-1, keepdims=True), 1, mean).astype(mean.dtype)
