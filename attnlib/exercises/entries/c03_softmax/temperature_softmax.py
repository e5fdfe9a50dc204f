"""The exercise temperature_softmax."""

from dataclasses import replace

import numpy as np

from ...families.choose import pick
from ...families.softmax import ALL_SOFTMAX_MISTAKES, EPSILONS, NO_MAXIMUM, SOFTMAX_STEPS, extreme_rows, no_shift
from ...model import (FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SMALL, SQUARE, Case, Exercise, Mistake, Step, alike, each,
    normal)


def temperature_softmax_answer(do, scores, temperature):
    axis = do.axis(-1, scores)
    tempered = do.temper(do.scores_in(scores), temperature)
    shifted = do.shift_late(do.shift(tempered, axis), scores, temperature)
    powers = do.exponential(shifted, axis)
    total = do.total(do.below(powers, temperature), axis)
    weights = do.divide(do.above(powers, temperature), total)
    return do.weights_out(do.weights_late(weights, temperature))


def _untempered(scores, temperature):
    return scores


def _renormalised_power(weights, temperature):
    powers = weights ** (1 / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


LOW, HIGH = "a low temperature", "a high temperature"


def _temperature_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, scores, temperature, dtype=np.float64, extreme=False):
        return Case(aspect, (np.array(scores, dtype), temperature), extreme)

    def huge(row, temperature):
        return case(HUGE, [row, [0.0] * (len(row) - 1) + [1.0]], temperature, extreme=True)

    return [
        case(PLAIN, [[0, 2, 6], [2, 4, 8]], 2.0), case(PLAIN, [[1, -2, 3]], 0.5), case(PLAIN, [[-3, -1]], 2.0),
        case(PLAIN, [[0, 3], [3, 6]], 3),
        Case(PLAIN, (normal(5, 7, seed=1), 2.0)), Case(PLAIN, (normal(7, 3, seed=2), 0.5)),
        Case(PLAIN, (normal(7, 11, seed=3), 0.7)), Case(PLAIN, (normal(3, 5, seed=12), 2.6)),
        case(SQUARE, [[0, 2], [4, 10]], 2.0), Case(SQUARE, (normal(5, 5, seed=3), 3.0)),
        case("one axis", [0, 2, 6], 2.0), Case("one axis", (normal(7, seed=4), 0.5)),
        case("a temperature of 1", [[0, 1, 3], [2, 5, 4]], 1.0), Case("a temperature of 1", (normal(5, 3, seed=5), 1)),
        case(LEADING, [[[0, 2], [4, 10]]], 2.0), Case(LEADING, (normal(2, 5, 3, seed=5), 0.5)),
        Case(LEADING, (normal(2, 3, 5, 7, seed=6), 3.0)),
        case(LOW, [[0.0, 0.01, 0.02]], 0.01), Case(LOW, (normal(3, 5, seed=7) * 0.1, 0.01)),
        case(HIGH, [[0, 100, 300]], 100.0), case(HIGH, [[10000, 9000], [0, 1000]], 1000.0, extreme=True),
        Case(SMALL, (normal(3, 5, seed=10) * 1e-3, 0.5)),
        huge([10000, 9999], 0.5), huge([-10000, -9999], 0.5), huge([10000, 9990], 10.0),
        huge([-10000, -9990], 10.0), huge([2000, 1999], 0.9), huge([-2000, -1999], 0.9),
        *extreme_rows(lambda aspect, row, extreme: huge([score / 2 for score in row], 0.5)),
        case(FLOAT32, [[0, 2, 6], [2, 4, 8]], 2.0, f4), Case(FLOAT32, (normal(5, 3, seed=11, dtype=f4), 0.5)),
        case(FLOAT32, [[40, 50, 49.5], [50.5, 0.5, 50]], 0.5, f4, True),
        case(FLOAT16, [[0, 2, 6], [2, 4, 1]], 2.0, f2), case(FLOAT16, [[10, 10.5, 9.5], [0, 1, 2]], 0.5, f2, True),
    ]


def _tempered(*ways):
    """Other scores, made of scores and temperature."""
    return tuple({"temper": way} for way in ways)


def _divided_by(*numbers):
    return _tempered(*(lambda s, t, of=of: s / of(t) for of in numbers))


def _afterwards(*late):
    """The weights of an ordinary softmax changed by the temperature."""
    return tuple({"temper": _untempered, "weights_late": change} for change in late)


def _maximum(of, **more):
    """Another number subtracted, made of the row's maximum before it is divided, and the temperature."""
    return {"shift": no_shift, "shift_late": lambda tempered, s, t: tempered - of(s.max(axis=-1, keepdims=True), t),
            **more}


TEMPERATURE_MISTAKES = (
    Mistake("temperature ignored", change={"temper": _untempered},
            does="The weights are the same at every temperature.",
            why="Scores are divided by the temperature: a high one evens the weights out, a low one "
                "sharpens them. What is added to all scores of a row, or multiplied with all exponentials, "
                "has no effect at all.",
            ask="Where in your function does the temperature change the ratio of two weights?"),
    Mistake("multiplied by the temperature", change={"temper": lambda s, t: s * t},
            does="A high temperature sharpens the weights, a low one evens them out.",
            why="It is the other way round: scores are divided by the temperature.",
            ask="What should happen to the weights when the temperature becomes very high?"),
    *alike("The scores are divided, not the weights: exp(s / T) is exp(s) to the power 1 / T, and the sum of such "
           "powers is "
           "another one.",
           "What has to be divided by the temperature, and what do the weights of a row sum to in your function?",
           ("temperature after the softmax", _afterwards(lambda w, t: w / t, lambda w, t: w * t, _renormalised_power),
            "The temperature changes the weights of an ordinary softmax, not the scores: a weight that underflows "
            "stays 0."),
           ("power of the weights not normalised", _afterwards(lambda w, t: w ** (1 / t), lambda w, t: w ** t),
            "The weights of an ordinary softmax are raised to a power, and left at that: no row sums to 1."),
           ("temperature only above the fraction line", {"below": lambda p, t: p ** t},
            "The exponentials above the fraction line have the temperature, their sum has not."),
           ("temperature only below the fraction line", {"above": lambda p, t: p ** t},
            "The sum has the temperature, the exponentials above the fraction line have not.")),
    Mistake("only the maximum divided by the temperature", change=_maximum(lambda m, t: m / t, temper=_untempered),
            does="The weights are the same at every temperature; for large scores exp overflows, or all exponentials "
                 "underflow.",
            why="What is subtracted from all scores of a row has no effect. The scores themselves have to be divided.",
            ask="Which brackets are missing in (scores - maximum) / temperature?"),
    *alike("The maximum that is subtracted has to be that of the divided scores: then the largest exponent is 0.",
           "What is the largest exponent for the scores 10000, 9990 at a temperature of 10?",
           ("maximum of the undivided scores", _maximum(lambda m, t: m),
            "The maximum is taken before the scores are divided by the temperature. For small scores that does no "
            "harm; for "
            "large ones exp overflows or all exponentials underflow."),
           ("maximum multiplied by the temperature", _maximum(lambda m, t: m * t),
            "The maximum is multiplied by the temperature, the scores are divided by it. For small scores that does no "
            "harm; "
            "for large ones exp overflows or all exponentials underflow.")),
    *alike("Scores are divided by the temperature as it is given, once: it may be any number above 0, and 1 leaves the "
           "softmax "
           "as it is.",
           "What are the weights at a temperature of 1, and what should one of 0.5 do to the difference of two scores?",
           ("square root of the temperature", _divided_by(np.sqrt),
            "The scores are divided by the square root of the temperature."),
           ("square of the temperature", _tempered(lambda s, t: s / t ** 2, lambda s, t: s * t ** 2),
            "The temperature enters twice."),
           ("1 added to the temperature", _divided_by(lambda t: 1 + t), "The scores are divided by 1 + temperature."),
           ("temperature never below 1", _divided_by(lambda t: max(t, 1)), "Temperatures below 1 count as 1."),
           ("temperature rounded to a whole number",
            _divided_by(lambda t: max(1, int(t)), lambda t: max(1, round(t)), np.ceil, lambda t: float(int(t)),
                        np.round,
                        lambda t: int(t) or t),
            "The scores are divided by a whole number: the fraction of the temperature is lost."),
           ("another function of the temperature",
            _tempered(lambda s, t: s / np.log1p(t), lambda s, t: s / (1 + np.log1p(t)), lambda s, t: s * np.exp(-t),
                      lambda s, t: s / np.log(t), lambda s, t: s / np.log2(t), lambda s, t: s * (1 + t),
                      lambda s, t: s * (1 - t),
                      lambda s, t: s / (1 + t * t), lambda s, t: s / np.tanh(t), lambda s, t: s * np.exp(1 / t),
                      lambda s, t: s / (1 + 1 / t), lambda s, t: s / (t + 1 / t), lambda s, t: s / t + s,
                      lambda s, t: s - s / t,
                      lambda s, t: s / t ** 3, lambda s, t: s / (2 * t), lambda s, t: s / t / np.sqrt(s.shape[-1]),
                      lambda s, t: s / t / s.shape[-1]),
            "The scores are divided by something else that is computed from the temperature."),
           ("temperature as the base of the power", _tempered(lambda s, t: s * np.log(t)),
            "The powers are temperature ** score.")),
    Mistake("square of the scores over the temperature", change={"temper": lambda s, t: s * s / t},
            does="Each score is squared before it is divided.",
            why="A score of -3 would get as much weight as one of 3.",
            ask="What happens to the sign of a score in your function?"),
    Mistake("floor division", change={"temper": lambda s, t: s // t},
            does="The scores are divided by the temperature and rounded down.",
            why="// throws the fraction away, and with it differences between scores.",
            ask="Which operator divides without rounding?"),
    Mistake("epsilon added to the temperature", change=_divided_by(*(lambda t, e=e: t + e for e in EPSILONS)),
            numbers=each(lambda e: {"temper": lambda s, t: s / (t + e)}, lambda e: 0 < e < 1),
            does="The scores are divided by slightly more than the temperature.",
            why="The temperature is above 0; a small number added to it shows at low temperatures.",
            ask="Can the temperature be 0 here?"),
    Mistake("a fixed temperature", change=_divided_by(lambda t: 2.0, lambda t: 0.5),
            numbers=each(lambda c: {"temper": lambda s, t: s / c}),
            does="The scores are divided by the same number at every temperature.",
            why="The caller says how high the temperature is.",
            ask="Where does your function use its parameter temperature?"),
    Mistake("temperature kept within limits",
            change=_divided_by(lambda t: max(t, 0.1), lambda t: min(t, 10), lambda t: min(t, 1), lambda t: max(t, 0.5),
                               lambda t: min(t, 2)),
            numbers=lambda numbers: [{"temper": lambda s, t, c=c, cut=cut: s / cut(t, c)}
                                     for c in numbers if c > 0 for cut in (min, max)],
            does="A temperature above or below a limit counts as the limit.",
            why="Any temperature above 0 is allowed.",
            ask="Which temperatures does your function change?"),
    # the temperature may come after exp, too
    replace(NO_MAXIMUM, change=(NO_MAXIMUM.change, {
        "shift": no_shift, "temper": _untempered,
        "above": lambda powers, t: powers ** (1 / t), "below": lambda powers, t: powers ** (1 / t)})),
)

EXERCISE = Exercise(
    name="temperature_softmax", signature="(scores, temperature)", place=4,
    axes=dict(scores="n_q n_k"), answer_axes="n_q n_k",
    text="The softmax of scores / temperature over the last axis, for a temperature above 0.",
    answer=temperature_softmax_answer,
    steps={
        **SOFTMAX_STEPS,
        "temper": Step(lambda scores, temperature: scores / temperature, "the divided scores"),
        "shift_late": lambda shifted, scores, temperature: shifted,
        "above": lambda powers, temperature: powers,
        "below": lambda powers, temperature: powers,
        "weights_late": lambda weights, temperature: weights,
    },
    cases=_temperature_cases,
    hints=(
        "A high temperature makes the weights nearly equal. What must happen to the differences of "
        "the scores for that?",
        "Divide the scores by the temperature before anything else; then take an ordinary softmax.",
        "The maximum that is subtracted has to be that of the divided scores.",
        "First scores / temperature; from it subtract its own maximum over the last axis, with "
        "keepdims=True; then np.exp; then divide by the sum over the last axis.",
    ),
    mistakes=(
        *TEMPERATURE_MISTAKES,
        *pick(ALL_SOFTMAX_MISTAKES, "minimum subtracted instead of maximum", "mean subtracted instead of maximum",
              "median subtracted instead of maximum", "maximum never below 0",
              "a fixed number subtracted instead of the maximum",
              "one maximum for the whole array", "one score subtracted instead of the maximum",
              "maximum of absolute values",
              "divided by the maximum", "maximum added", "scores clipped", "standardised scores", "no exponential",
              "absolute values instead of exponentials", "squares instead of exponentials", "power of 2 instead of e",
              "power of 10 instead of e", "exponential taken twice", "softplus instead of exp",
              "1 subtracted from the exponentials", "sigmoid instead of softmax", "argmax instead of softmax",
              "sign flipped",
              "not divided by the sum", "divided by the mean", "divided by the Euclidean length",
              "divided by the number of scores", "sum over the wrong axis", "sum without keepdims",
              "epsilon in the denominator",
              "sum never below 1", "one score left out of the sum",
              "exponential of the sum instead of the sum of exponentials", "divided by the sum of the scores",
              "logarithm of the softmax", "softmax over everything", "softmax over the queries' axis",
              "softmax over the first axis", "softmax over all axes but the first", "softmax over the second axis",
              "maximum without keepdims", "maximum over the wrong axis", "rounded", "small weights raised",
              "softmax twice",
              "uniform weights")),
)
