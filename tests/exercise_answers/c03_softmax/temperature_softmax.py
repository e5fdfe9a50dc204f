"""Answers to temperature_softmax, written as learners write them."""

import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("temperature_softmax")


def softmax_plain(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@answers.right()
def tempered_by_library(scores, temperature):
    return attnlib.softmax(scores / temperature)


@answers.right()
def tempered_after_the_shift(scores, temperature):
    e = np.exp((scores - scores.max(axis=-1, keepdims=True)) / temperature)
    return e / e.sum(axis=-1, keepdims=True)


@answers.right()
def tempered_rows(scores, temperature):
    out = np.empty_like(scores)
    for index in np.ndindex(scores.shape[:-1]):
        row = [float(s) / temperature for s in scores[index]]
        powers = [math.exp(s - max(row)) for s in row]
        out[index] = [p / sum(powers) for p in powers]
    return out


@answers.right()
def tempered_inverse(scores, temperature):
    beta = 1 / temperature
    logits = np.moveaxis(scores.astype(np.float64) * beta, -1, 0)
    e = np.exp(logits - logits.max(axis=0))
    return np.moveaxis(e / e.sum(axis=0), 0, -1).astype(scores.dtype)


@answers.wrong("temperature ignored")
def tempered_not(scores, temperature):
    return softmax_plain(scores)


@answers.wrong("temperature ignored")
def tempered_powers_divided(scores, temperature):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) / temperature
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("multiplied by the temperature")
def tempered_times(scores, temperature):
    return softmax_plain(temperature * scores)


@answers.wrong("multiplied by the temperature")
def tempered_inverse_wrong_way(scores, temperature):
    beta = 1 / temperature
    e = np.exp((scores - np.max(scores, -1, keepdims=True)) / beta)
    return e / np.sum(e, -1, keepdims=True)


@answers.wrong("temperature after the softmax")
def tempered_weights(scores, temperature):
    return softmax_plain(scores) / temperature


answers.wrong(
    "power of the weights not normalised",
    function=lambda scores, temperature: softmax_plain(scores) ** (1 / temperature),
)


@answers.wrong("powers of the weights")
def tempered_weights_to_a_power(scores, temperature):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = (e / e.sum(axis=-1, keepdims=True)) ** (1 / temperature)
    return w / w.sum(axis=-1, keepdims=True)


@answers.wrong("temperature only in the numerator")
def tempered_above(scores, temperature):
    s = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(s / temperature) / np.exp(s).sum(axis=-1, keepdims=True)


@answers.wrong("temperature only in the denominator")
def tempered_below(scores, temperature):
    s = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(s) / np.exp(s / temperature).sum(axis=-1, keepdims=True)


@answers.wrong("maximum of the undivided scores")
def tempered_old_maximum(scores, temperature):
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores / temperature - m)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("no maximum subtracted")
def tempered_naive(scores, temperature):
    e = np.exp(scores / temperature)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("no maximum subtracted", "multiplied by the temperature")
def tempered_naive_times(scores, temperature):
    e = np.exp(scores * temperature)
    return e / e.sum(axis=-1)[..., None]


@answers.wrong("square root of the temperature")
def tempered_like_a_scale(scores, temperature):
    return softmax_plain(scores / math.sqrt(temperature))


@answers.wrong("epsilon added to the temperature")
def tempered_epsilon(scores, temperature):
    return softmax_plain(scores / (temperature + 1e-8))


@answers.wrong("epsilon added to the temperature", "epsilon in the denominator")
def tempered_two_epsilons(scores, temperature):
    s = scores / (temperature + 1e-6)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-6)


@answers.wrong("softmax over the first axis")
def tempered_first_axis(scores, temperature):
    return softmax_plain(scores / temperature, 0)


@answers.wrong("sum without keepdims")
def tempered_no_keepdims(scores, temperature):
    scores = scores / temperature
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1)


@answers.wrong("argument overwritten")
def tempered_in_place(scores, temperature):
    scores /= temperature
    return softmax_plain(scores)


@answers.wrong("one maximum for the whole array", "temperature ignored")
def tempered_not_global(scores, temperature):
    e = np.exp(scores - scores.max())
    return e / e.sum(axis=-1, keepdims=True)


@answers.right()
def tempered_by_differences(scores, temperature):
    z = scores.astype(np.float64) / temperature
    return (1 / np.exp(z[..., None, :] - z[..., :, None]).sum(axis=-1)).astype(scores.dtype)


@answers.wrong("only the maximum divided by the temperature")
def tempered_maximum_only(scores, temperature):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True) / temperature)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("no maximum subtracted")
def tempered_powers_of_powers(scores, temperature):
    powers = np.exp(scores) ** (1 / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


@answers.wrong("no maximum subtracted", "one sum over everything")
def tempered_one_naive_sum(scores, temperature):
    e = np.exp(scores / temperature)
    return e / np.sum(e)


@answers.wrong("no maximum subtracted", "sign flipped")
def tempered_flipped(scores, temperature):
    e = np.exp(-scores / temperature)
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("square of the temperature", "one maximum for the whole array")
def tempered_twice(scores, temperature):
    z = scores / temperature / temperature
    e = np.exp(z - z.max())
    return e / e.sum(axis=-1, keepdims=True)


@answers.wrong("floor division")
def tempered_rounded_down(scores, temperature):
    return softmax_plain(scores // temperature)


@answers.wrong("temperature rounded to a whole number")
def tempered_by_an_integer(scores, temperature):
    scores = scores / max(1, int(temperature))
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@answers.wrong("softmax over all axes but the first")
def tempered_over_the_rest(scores, temperature):
    axes = tuple(range(1, scores.ndim)) or (0,)
    e = np.exp((scores - scores.max(axis=axes, keepdims=True)) / temperature)
    return e / e.sum(axis=axes, keepdims=True)


def tempered_from(limited):
    """A right softmax at another temperature."""

    def weights(scores, temperature):
        scores = scores / scores.dtype.type(limited(temperature))
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    return weights


answers.wrong(
    "temperature never below a limit",
    function=tempered_from(lambda temperature: max(temperature, 1e-2)),
)
answers.wrong(
    "temperature never below a limit",
    function=tempered_from(lambda temperature: max(temperature, 1e-6)),
)
answers.wrong(
    "epsilon added to the temperature",
    function=tempered_from(lambda temperature: temperature + 1e-8),
)


@answers.wrong("scores clipped")
def tempered_clipped_at_minus_30(scores, temperature):
    s = scores / temperature
    e = np.exp(np.maximum(s - s.max(axis=-1, keepdims=True), -30))
    return e / e.sum(axis=-1, keepdims=True)
