"""Answers to kernel_regression, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("kernel_regression")


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@answers.right()
def estimate_by_factors(query, key, value, width):
    d = np.abs(query.astype(float)[:, None] - key)
    least = d.min(axis=1, keepdims=True)
    weights = np.exp(-((d - least) / width) * ((d + least) / width) / 2)
    return (weights @ value / weights.sum(axis=1)).astype(query.dtype)


@answers.right()
def estimate_by_loop(query, key, value, width):
    found = []
    for q in query.tolist():
        distances = [abs(q - k) / width for k in key.tolist()]
        least = min(distances)
        powers = [math.exp(-(d - least) * (d + least) / 2) for d in distances]
        found.append(sum(p * v for p, v in zip(powers, value.tolist())) / sum(powers))
    return np.array(found, dtype=value.dtype)


@answers.right()
def estimate_from_the_nearest_key(query, key, value, width):
    q, k = query.astype(np.float64)[:, None], key.astype(np.float64)
    nearest = k[np.abs(q - k).argmin(axis=-1)][:, None]
    # (q - k)² - (q - nearest)²
    scores = -((nearest - k) / width) * ((2 * q - nearest - k) / width) / 2
    return (softmax(scores) @ value).astype(value.dtype)


@answers.right()
def estimate_with_a_way_out(query, key, value, width):
    z = np.abs(query[:, None].astype(np.float64) - key) / width
    with np.errstate(over="ignore", invalid="ignore"):
        scores = -(z**2) / 2
        shifted = scores - scores.max(axis=-1, keepdims=True)
    far = np.isinf(scores).all(axis=-1, keepdims=True)
    shifted = np.where(far, np.where(z == z.min(axis=-1, keepdims=True), 0, -np.inf), shifted)
    powers = np.exp(shifted)
    return (powers @ value / powers.sum(axis=-1)).astype(query.dtype)


@answers.right()
def estimate_in_units_of_the_least(query, key, value, width):
    d = np.abs(np.subtract.outer(query.astype(np.float64), key.astype(np.float64)))
    least = np.amin(d, axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        weights = np.exp(-0.5 * ((d - least) / width) * ((d + least) / width))
    return np.average(np.broadcast_to(value, weights.shape), axis=1, weights=weights).astype(
        query.dtype
    )


@answers.wrong("no maximum subtracted")
def estimate_plain(query, key, value, width):
    kernel = np.exp(-((query[:, None] - key) ** 2) / (2 * width**2))
    return kernel @ value / kernel.sum(axis=-1)


@answers.right()
def estimate_by_softmax(query, key, value, width):
    return softmax(-((query[:, None] - key) ** 2) / (2 * width**2)) @ value


@answers.right()
def estimate_by_softmax_in_float64(query, key, value, width):
    z = (query.astype(float)[:, None] - key.astype(float)) / width
    return (softmax(-z * z / 2) @ value).astype(query.dtype)


@answers.right()
def estimate_by_the_library(query, key, value, width):
    return attnlib.softmax(-((query[:, None] - key) ** 2) / (2 * width**2)) @ value


@answers.right()
def estimate_by_the_library_in_float64(query, key, value, width):
    z = (query.astype(float)[:, None] - key.astype(float)) / width
    return (attnlib.softmax(-z * z / 2) @ value).astype(query.dtype)


@answers.wrong("nearest value far from the keys")
def estimate_nearest(query, key, value, width):
    distance = np.abs(query[:, None] - key)
    kernel = np.exp(-(distance**2) / (2 * width**2))
    total = kernel.sum(axis=-1)
    return np.where(total == 0, value[distance.argmin(axis=-1)], kernel @ value / total)


@answers.wrong("normal density as weights")
def estimate_by_the_density(query, key, value, width):
    density = np.exp(-(((query[:, None] - key) / width) ** 2) / 2) / (
        width * math.sqrt(2 * math.pi)
    )
    return density @ value


@answers.wrong("keys before queries")
def estimate_by_columns(query, key, value, width):
    d = np.abs(key[:, None].astype(float) - query)
    least = d.min(axis=-1, keepdims=True)
    return (softmax(-((d - least) / width) * ((d + least) / width) / 2) @ value).astype(query.dtype)


@answers.wrong("one maximum for all queries")
def estimate_one_maximum(query, key, value, width):
    scores = -((query[:, None] - key) ** 2) / (2 * width**2)
    powers = np.exp(scores - scores.max())
    return powers @ value / powers.sum(axis=-1)


@answers.wrong("epsilon in the denominator")
def estimate_epsilon(query, key, value, width):
    kernel = np.exp(-((query[:, None] - key) ** 2) / (2 * width**2))
    return kernel @ value / (kernel.sum(axis=-1) + 1e-8)


@answers.wrong("zero far from the keys")
def estimate_zero(query, key, value, width):
    kernel = np.exp(-((query[:, None] - key) ** 2) / (2 * width**2))
    total = kernel.sum(axis=-1)
    return np.divide(kernel @ value, total, out=np.zeros_like(total), where=total > 0)


@answers.wrong("mean of the values far from the keys")
def estimate_mean(query, key, value, width):
    kernel = np.exp(-((query[:, None] - key) ** 2) / (2 * width**2))
    estimate = kernel @ value / kernel.sum(axis=-1)
    return np.where(np.isnan(estimate), value.mean(), estimate)


@answers.wrong("no maximum subtracted", "query minus key, place by place")
def estimate_by_place(query, key, value, width):
    powers = np.exp(-((query - key) ** 2) / (2 * width**2))
    return powers @ value / powers.sum()


@answers.wrong("sum over the queries")
def estimate_summed_over_queries(query, key, value, width):
    d = np.abs(query[:, None].astype(float) - key)
    least = d.min(axis=-1, keepdims=True)
    powers = np.exp(-((d - least) / width) * ((d + least) / width) / 2)
    return (powers / powers.sum(axis=0) @ value).astype(query.dtype)


def by_products(unit_of):
    """A right estimate but for what divides the squared distance."""

    def estimate(query, key, value, width):
        d, root = np.abs(query.astype(float)[:, None] - key), math.sqrt(unit_of(width))
        least = d.min(axis=1, keepdims=True)
        return (softmax(-((d - least) / root) * ((d + least) / root)) @ value).astype(query.dtype)

    return estimate


def by_squares(unit_of):
    """The same of the squares themselves, in float64."""

    def estimate(query, key, value, width):
        return (
            softmax(-((query.astype(float)[:, None] - key) ** 2) / unit_of(width)) @ value
        ).astype(query.dtype)

    return estimate


def by_exponentials(unit_of):
    """The same without a maximum."""

    def estimate(query, key, value, width):
        kernel = np.exp(-((query[:, None] - key) ** 2) / unit_of(width))
        return kernel @ value / kernel.sum(axis=-1)

    return estimate


for name, unit_of in (
    ("width not squared", lambda w: 2 * w),
    ("2 forgotten", lambda w: w**2),
    ("2 squared too", lambda w: (2 * w) ** 2),
    ("width in the numerator", lambda w: 2 / w**2),
    ("width ignored", lambda w: 2),
):
    answers.wrong(name, function=by_products(unit_of))
    answers.wrong(name, function=by_squares(unit_of))
    answers.wrong(name, "no maximum subtracted", function=by_exponentials(unit_of))


def factored(scores_of):
    """A right estimate with other scores, computed by a softmax in float64."""

    def estimate(query, key, value, width):
        scores = scores_of(query.astype(float)[:, None], key.astype(float), width)
        return (softmax(scores) @ value).astype(query.dtype)

    return estimate


for name, scores_of in (
    ("distance not squared", lambda q, k, w: -abs(q - k) / (2 * w**2)),
    ("minus sign forgotten", lambda q, k, w: (q - k) ** 2 / (2 * w**2)),
    ("product instead of distance", lambda q, k, w: q * k / w**2),
    ("signed differences", lambda q, k, w: -(q - k) / (2 * w**2)),
):
    answers.wrong(name, function=factored(scores_of))


@answers.wrong("minus sign forgotten")
def estimate_farthest(query, key, value, width):
    d = np.abs(query.astype(float)[:, None] - key)
    most = d.max(axis=1, keepdims=True)
    return (softmax(((d - most) / width) * ((d + most) / width) / 2) @ value).astype(query.dtype)


@answers.wrong("sum over the queries")
def estimate_by_softmax_over_queries(query, key, value, width):
    scores = -(((query[:, None].astype(float) - key) / width) ** 2) / 2
    powers = np.exp(scores - scores.max(axis=0))
    return (powers / powers.sum(axis=0) @ value).astype(query.dtype)


def kernel_of(query, key, width):
    return np.exp(-((query[:, None] - key) ** 2) / (2 * width**2))


answers.wrong(
    "not divided by the sum",
    function=lambda query, key, value, width: kernel_of(query, key, width) @ value,
)
answers.wrong(
    "divided by the number of keys",
    function=lambda query, key, value, width: kernel_of(query, key, width) @ value / len(key),
)
answers.wrong(
    "nearest key's value",
    function=lambda query, key, value, width: value[np.abs(query[:, None] - key).argmin(axis=-1)],
)


answers.wrong(
    "softmax of the kernel",
    function=lambda query, key, value, width: softmax(kernel_of(query, key, width)) @ value,
)
answers.wrong(
    "width instead of 2 width²",
    function=lambda query, key, value, width: (
        softmax(-((query[:, None] - key) ** 2) / width) @ value
    ),
)


@answers.wrong("mean of the nearest values far from the keys")
def estimate_by_the_nearest_far_away(query, key, value, width):
    d = (query[:, None] - key) ** 2
    k = np.exp(-d / (2 * width**2))
    near = (d == d.min(axis=1, keepdims=True)).astype(k.dtype)
    k = np.where(k.sum(axis=1, keepdims=True) == 0, near, k)
    return k @ value / k.sum(axis=1)
