"""Reads the formula of a scalar answer: the learner's function is run on numbers that know their
origin. Comparing it term by term with the reference names any wrong formula: a term left out, a
factor exchanged, a size fixed in the code.
"""

import itertools
from fractions import Fraction

import numpy as np

from ..model import Mistake
from ..sandbox.call import call
from .explain import Finding, Matcher

SIMPLE = 3  # differences that get a name each; if there are more, the formula is shown


class Polynomial(dict):
    """{exponents of the arguments: coefficient}; exponents may be negative or fractions."""

    def __add__(self, other):
        found = Polynomial(self)
        for powers, factor in other.items():
            found[powers] = found.get(powers, 0) + factor
        return Polynomial({powers: factor for powers, factor in found.items() if factor})

    def __mul__(self, other):
        found = Polynomial()
        for (left, a), (right, b) in itertools.product(self.items(), other.items()):
            found += Polynomial({tuple(map(sum, zip(left, right))): a * b})
        return found

    def over(self, other):
        """The monomial that makes this polynomial of the other one, or None."""
        if len(self) != len(other) or not self:
            return None
        (first, a), (second, b) = min(self.items()), min(other.items())
        ratio = Polynomial({tuple(x - y for x, y in zip(first, second)): Fraction(a) / b})
        return ratio if ratio * other == self else None

    def power(self, exponent):
        """A monomial to any power, a polynomial to a whole one."""
        exponent = Fraction(exponent).limit_denominator(12)
        if len(self) == 1:
            ((powers, factor),) = self.items()
            scale = (
                factor ** int(exponent)
                if exponent.denominator == 1
                else Fraction(repr(float(factor) ** exponent))
            )
            return Polynomial({tuple(p * exponent for p in powers): Fraction(scale)})
        if exponent.denominator != 1 or not 0 < exponent <= 4:
            raise TypeError("a sum to this power is no polynomial")
        found = self
        for _ in range(int(exponent) - 1):
            found *= self
        return found

    def at(self, numbers):
        """Its value."""
        return sum(
            float(factor) * np.prod(np.power(np.array(numbers, float), np.array(powers, float)))
            for powers, factor in self.items()
        )

    def putting(self, place, other):
        """The polynomial with argument `place` replaced: by 1, by a number, or by another
        argument's number.
        """
        found = Polynomial()
        for powers, factor in self.items():
            moved, exponent = list(powers), powers[place]
            moved[place] = 0
            if isinstance(other, int):
                moved[other] += exponent
            elif other != 1:
                factor = factor * other ** int(exponent)
            found += Polynomial({tuple(moved): factor})
        return found


class Traced:
    """A number and the quotient of polynomials that it came from. What it cannot follow raises
    TypeError.
    """

    def __init__(self, value, above, below):
        ratio = above.over(below)
        if ratio is not None:
            above, below = ratio, one(below)
        elif len(below) == 1:
            above, below = above * below.power(-1), one(below)
        self.value, self.above, self.below = value, above, below

    def _of(self, other):
        if isinstance(other, Traced):
            return other
        other = other.item() if isinstance(other, np.generic) else other
        if type(other) not in (int, float, bool, Fraction) or not np.isfinite(float(other)):
            raise TypeError("no number")
        exact = Fraction(repr(other)) if type(other) is float else Fraction(other)
        return Traced(other, one(self.above, exact), one(self.above))

    def __add__(self, other):
        other, value = self._of(other), None
        value = self.value + other.value
        if self.below == other.below:
            return Traced(value, self.above + other.above, self.below)
        return Traced(
            value, self.above * other.below + other.above * self.below, self.below * other.below
        )

    def __mul__(self, other):
        other = self._of(other)
        return Traced(self.value * other.value, self.above * other.above, self.below * other.below)

    def __truediv__(self, other):
        other = self._of(other)
        return Traced(self.value / other.value, self.above * other.below, self.below * other.above)

    def __floordiv__(self, other):
        if self.value % self._of(other).value:
            raise TypeError("rounded")
        return self / other

    def __pow__(self, exponent):
        exponent = self._of(exponent)
        if any(any(powers) for powers in exponent.above) or exponent.below != one(self.above):
            raise TypeError("an exponent that is no constant")
        return Traced(
            self.value**exponent.value,
            self.above.power(exponent.value),
            self.below.power(exponent.value),
        )

    def at(self, numbers):
        """Its value for other arguments."""
        return self.above.at(numbers) / self.below.at(numbers)

    def sqrt(self):
        return self**0.5

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + self._of(other) * -1

    def __rsub__(self, other):
        return self._of(other) - self

    def __rtruediv__(self, other):
        return self._of(other) / self

    def __rfloordiv__(self, other):
        return self._of(other) // self

    def __abs__(self):
        return self if self.value >= 0 else -self

    def __bool__(self):
        return bool(self.value)

    def __eq__(self, other):
        return self.value == self._of(other).value

    def __lt__(self, other):
        return self.value < self._of(other).value

    def __le__(self, other):
        return self.value <= self._of(other).value

    def __gt__(self, other):
        return self.value > self._of(other).value

    def __ge__(self, other):
        return self.value >= self._of(other).value

    __radd__, __rmul__, __hash__ = __add__, __mul__, None


def one(like, factor=Fraction(1)):
    """A number as a polynomial in as many arguments as another one."""
    places = len(next(iter(like), ()))
    return Polynomial({(Fraction(0),) * places: factor} if factor else {})


def arguments(numbers):
    """The numbers of a case, each as the argument that it is."""
    places = range(len(numbers))
    unit = {(Fraction(0),) * len(numbers): Fraction(1)}
    return [
        Traced(
            number,
            Polynomial({tuple(Fraction(i == k) for i in places): Fraction(1)}),
            Polynomial(unit),
        )
        for k, number in enumerate(numbers)
    ]


# ---------------------------------------------------------------- the learner's formula


def traced(function, numbers, clock):
    """What a function makes of the arguments, or None."""
    box = []
    outcome = call(
        lambda *args: box.append(function(*args)), arguments(numbers), clock, silent=True
    )
    found = box[0] if box else None
    if isinstance(found, np.ndarray) and found.ndim == 0:
        found = found.item()
    return found if isinstance(found, Traced) and not outcome.failure else None


def in_letters(exercise, function, clock):
    """The formula of an answer that is one number of short vectors, beside the right one, as a
    sentence; or ''.
    """
    cases = [
        case
        for case in exercise.all_cases()
        if all(
            isinstance(arg, np.ndarray) and arg.ndim == 1 and 1 < arg.size <= 4 for arg in case.args
        )
    ]
    if not cases or exercise.answer_axes:
        return ""
    args = min(cases, key=lambda case: case.size).args
    names = [
        f"{name}[{i}]" for name, arg in zip(exercise.parameters, args) for i in range(arg.size)
    ]
    letters = iter(arguments([float(number) for arg in args for number in arg]))
    vectors = [np.array([next(letters) for _ in arg], dtype=object) for arg in args]
    box = []
    call(lambda *vectors: box.append(function(*vectors)), vectors, clock, silent=True)
    if not box or not isinstance(box[0], Traced) or not _holds(function, box[0], args, clock):
        return ""
    wanted = exercise.answer({}, "float64", *vectors)
    return (
        f"With {args[0].size} entries it is {spelled(box[0], names)}; it should be"
        f" {spelled(wanted, names)}."
    )


def _holds(function, found, args, clock):
    """Whether the formula found from one input holds for others too: an absolute value, a maximum
    or an if takes another branch for other signs.
    """
    for seed in range(6):
        vectors = [
            np.random.default_rng([seed, i]).normal(size=arg.size) for i, arg in enumerate(args)
        ]
        box = []
        call(lambda *vectors: box.append(function(*vectors)), vectors, clock, silent=True)
        try:
            if not np.isclose(
                float(box[0]), found.at(np.concatenate(vectors)), rtol=1e-6, atol=1e-9
            ):
                return False
        except (IndexError, TypeError, ValueError):
            return False
    return True


def by_formula(function, clock, exercise, seen, finding):
    """(matcher, finding) for an answer whose formula can be read on every case, else None."""
    if not exercise.formula or not all(one.values and one.values[0].size == 1 for one in seen):
        return None
    cases = [one.case.args for one in seen]
    wanted = [exercise.apply((), one.case, arguments(one.case.args)) for one in seen]
    values = [float(one.values[0].sum()) for one in seen]
    found = [traced(function, one.case.args, clock) for one in seen]
    traceable = all(isinstance(number, Traced) for number in found)
    if not traceable or not np.allclose(
        [float(number.value) for number in found], values, rtol=1e-9, atol=0
    ):
        found = fitted(values, wanted, cases)
    if not found:
        return None
    said = {mistake.name: mistake for mistake in mistakes_of(exercise, found, wanted, cases)}
    return Matcher(exercise, seen), Finding([], generic=said, explained=True)


def fitted(values, wanted, cases):
    """The reference times one monomial that makes it the values; None if none does."""
    right = np.array([float(number.value) for number in wanted])
    known = np.array([all(argument > 0 for argument in case) for case in cases]) & (right != 0)
    ratio = np.array(values)[known] / right[known]
    if len(ratio) < len(cases[0]) + 2 or not (np.isfinite(ratio) & (ratio > 0)).all():
        return None
    table = np.column_stack([np.log(np.array(cases, float)[known]), np.ones(len(ratio))])
    powers = np.round(2 * np.linalg.lstsq(table, np.log(ratio), rcond=None)[0][:-1]) / 2
    factor = ratio / np.exp(table[:, :-1] @ powers)
    if not np.allclose(factor, factor[0], rtol=1e-9):
        return None
    monomial = Polynomial(
        {tuple(map(Fraction, powers)): Fraction(float(factor[0])).limit_denominator(10**6)}
    )
    return [
        Traced(value, number.above * monomial, number.below)
        for value, number in zip(values, wanted)
    ]


def mistakes_of(exercise, found, wanted, cases):
    names, (why, ask) = exercise.parameters, exercise.formula
    text = spelled_all(found, names, cases)
    forms = {spelled(number, names) for number in wanted}
    if len(forms) == 2 and forms == {spelled(number, names) for number in found}:
        yield Mistake(
            "the other formula for some numbers",
            does=f"The answer is {', or '.join(sorted(forms))}, but not always the right one.",
            why=why,
            ask=ask,
        )
        return
    said = _differences(found, wanted, names) or [f"another formula: {text}"]
    if len(said) == 1:
        yield Mistake(said[0], does=f"The answer is {text}.", why=why, ask=ask)
        return
    for place, name in enumerate(said):  # no single one of them makes the whole formula
        more = "The formula differs there as well." if place else f"The whole answer is {text}."
        yield Mistake(name, does="", why=more if place else f"{more} {why}", ask=ask)


def _differences(found, wanted, names):
    """Names for what is different, if it is the same thing in all cases."""
    known = {
        tuple(differences(a.above * b.below, b.above * a.below, names))
        for a, b in zip(found, wanted)
    }
    said = known.pop()
    return () if known or len(said) > SIMPLE else said


def differences(found, wanted, names):
    """What turns one polynomial into the other, as phrases; empty if that takes too many words."""
    for search in (_replaced, _multiplied, _terms):
        said = search(found, wanted, names)
        if said:
            return (len(said) > 1 and _brackets(found, wanted, names)) or said
    return []


def _brackets(found, wanted, names):
    """A factor of the whole sum that multiplies only a part of it: a sum without brackets."""
    for k in _used(wanted):
        alone = Polynomial({powers: factor for powers, factor in found.items() if powers[k] == 1})
        rest = Polynomial({powers: factor for powers, factor in found.items() if not powers[k]})
        if not alone or any(powers[k] != 1 for powers in wanted):
            continue
        if len(wanted) > 1 and set(alone.putting(k, Fraction(1))) & set(rest):
            continue  # a sum such as n + 1 in the factor's place makes the same
        if all(powers[k] in (0, 1) for powers in found) and (
            found.putting(k, Fraction(1)) == wanted.putting(k, Fraction(1))
        ):
            part = _sum(alone.putting(k, Fraction(1)), names)
            return [f"brackets missing: {names[k]} multiplies only {part}"]
    return []


def _used(polynomial):
    return [
        k for k in range(len(next(iter(polynomial), ()))) if any(powers[k] for powers in polynomial)
    ]


def _replacements(found, wanted):
    """What may replace an argument: nothing, another argument, a number from the answer."""
    numbers = {abs(Fraction(a) / b) for a in found.values() for b in wanted.values()} - {1}
    for k in _used(wanted):
        yield k, Fraction(1)
        yield from ((k, other) for other in range(len(next(iter(wanted)))) if other != k)
        if k not in _used(found):
            yield from ((k, number) for number in sorted(numbers))


def _replaced(found, wanted, names):
    """One or two arguments of the reference replaced throughout."""
    for k, other in _replacements(found, wanted):
        if wanted.putting(k, other) == found:
            return [_replacement(names, k, other)]
    for k, m in itertools.combinations(_used(wanted), 2):
        if wanted.putting(k, Fraction(1)).putting(m, Fraction(1)) == found:
            return [f"{names[k]} and {names[m]} left out"]
    return []


def _replacement(names, k, other):
    if isinstance(other, int):
        return f"{names[other]} for {names[k]}"
    return f"{names[k]} left out" if other == 1 else f"{names[k]} fixed at {_number(other)}"


def _multiplied(found, wanted, names):
    """The reference times one monomial."""
    ratio = found.over(wanted)
    if ratio is None:
        return []
    ((powers, factor),) = ratio.items()
    said = [_factor_said(wanted, k, power, names[k]) for k, power in enumerate(powers) if power]
    if factor < 0:
        said.append("sign flipped")
    if abs(factor) != 1:
        said.append(f"a factor of {_number(abs(factor))}")
    return said


def _factor_said(wanted, k, power, name):
    """The phrase for an argument that the reference was multiplied by, to a power."""
    own = {powers[k] for powers in wanted}
    once = len(own) == 1 and 0 not in own
    has = own.copy().pop() if once else 0
    if once and has + power == 0:
        return f"{name} left out"
    if once and has * (has + power) < 0:
        return (
            f"divided by {name} instead of multiplied"
            if has > 0
            else f"multiplied by {name} instead of divided"
        )
    if once and has == power == 1:
        return f"{name} squared"
    return f"{'multiplied' if power > 0 else 'divided'} by {_power(name, abs(power))}"


def _terms(found, wanted, names):
    """Terms left out, added, or with another factor."""
    missing = [term for term in wanted.items() if found.get(term[0]) != term[1]]
    extra = [term for term in found.items() if wanted.get(term[0]) != term[1]]
    said = []
    for old in list(missing):
        new = min(extra, key=lambda new: _distance(old, new), default=None)
        if new and _distance(old, new) <= 2:
            missing.remove(old), extra.remove(new)
            said.append(_changed(old, new, names))
    if not said and len(missing) == len(wanted):
        return []  # nothing is left of the right formula
    rest = ((missing, "left out"), (extra, "counted besides"))
    return said + [f"{_sum(Polynomial(terms), names)} {what}" for terms, what in rest if terms]


def _distance(old, new):
    """How far apart two terms are: the exponents that differ, and half a step for another
    coefficient.
    """
    return sum(abs(a - b) for a, b in zip(old[0], new[0])) + (old[1] != new[1]) / 2


def _changed(old, new, names):
    steps = [(names[k], b - a) for k, (a, b) in enumerate(zip(old[0], new[0])) if a != b]
    if old[1] == new[1] and len(steps) == 1 and abs(steps[0][1]) == 1:
        return (
            f"{steps[0][0]} {'missing' if steps[0][1] < 0 else 'too often'} in {_term(old, names)}"
        )
    return f"{_term(new, names)} for {_term(old, names)}"


# ---------------------------------------------------------------- as text

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _number(fraction):
    if fraction.denominator == 1 and abs(fraction) < 10**7:
        return str(fraction.numerator)
    if fraction.numerator == 1 and fraction.denominator <= 1024:
        return f"1/{fraction.denominator}"
    return f"{float(fraction):.6g}"


def _power(name, exponent):
    if exponent == 1:
        return name
    if exponent.denominator == 1:
        return name + str(exponent.numerator).translate(SUPERSCRIPTS)
    return f"sqrt({name})" if exponent == Fraction(1, 2) else f"{name}^({exponent})"


def _term(term, names):
    """One term, as in 2·n_q·d_k / n_k."""
    powers, factor = term
    above = [_power(name, p) for name, p in zip(names, powers) if p > 0]
    below = [_power(name, -p) for name, p in zip(names, powers) if p < 0]
    size = _number(abs(factor))
    if above and size == "1":
        size = ""
    text = ("-" if factor < 0 else "") + "·".join([size, *above] if size else above)
    return text + (
        f" / {below[0]}" if len(below) == 1 else f" / ({'·'.join(below)})" if below else ""
    )


def _sum(polynomial, names):
    terms = [_term(term, names) for term in sorted(polynomial.items(), reverse=True)] or ["0"]
    return " + ".join(terms).replace("+ -", "- ")


def spelled(number, names):
    """The formula of one traced number."""
    above, below = _sum(number.above, names), _sum(number.below, names)
    if below == "1":
        return above
    return f"{f'({above})' if len(number.above) > 1 else above} / ({below})"


def spelled_all(numbers, names, cases):
    """The formula of all cases, with max and min where it has two forms."""
    forms = {spelled(number, names): number for number in numbers}
    texts = list(forms)
    if len(texts) == 1:
        return texts[0]
    for name, chosen in (("max", max), ("min", min)):
        if all(
            np.isclose(float(number.value), chosen(form.at(case) for form in forms.values()))
            for number, case in zip(numbers, cases)
        ):
            return f"{name}({', '.join(texts)})"
    return f"{', '.join(texts[:-1])}, or {texts[-1]}, depending on the numbers"
