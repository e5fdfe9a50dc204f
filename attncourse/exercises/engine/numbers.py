"""Numbers that no page lists: those in a learner's code, and those that an answer reveals.

A mistake with `numbers` gets further variants from the first kind. The second kind are factors and
offsets of an answer or an argument, compared with the sizes of the case, and the one number of an
exercise's `fitted` mistakes.
"""

import dis
import inspect
import itertools
import math
import types
from types import SimpleNamespace

import numpy as np

from ..model import PLAIN, Failure, Mistake
from .changes import Operators, reference, sizes, upper

# ---------------------------------------------------------------- in the code

MOST_NUMBERS = 8  # more than these are a table rather than the few that a mistake is made of
EVERYWHERE = (0, 1, -1, 2, -2, 0.5, -0.5)  # axes and exponents


def numbers_in(function):
    """The numbers written in a function and in those of its module that it calls, except for those
    found everywhere.
    """
    found, met = {}, set()
    try:
        _collect(inspect.unwrap(function), found, met)
    except Exception:
        return ()
    return tuple(found)[:MOST_NUMBERS]


def _collect(item, found, met):
    """Put the numbers in an item of a learner's module into `found`: a number, code, a function, a
    kernel.
    """
    if type(item).__module__.startswith("triton."):
        item = getattr(item, "fn", None)
    if type(item) in (int, float) and item not in EVERYWHERE and np.isfinite(item):
        found.setdefault(item)
    elif isinstance(item, types.CodeType):
        for step in dis.get_instructions(item):
            if step.opname.startswith("LOAD_") and isinstance(
                step.argval, (int, float, types.CodeType)
            ):
                _collect(step.argval, found, met)
    elif isinstance(item, types.FunctionType) and item not in met:
        met.add(item)
        cells = [cell.cell_contents for cell in item.__closure__ or ()]
        named = [item.__globals__.get(name) for name in item.__code__.co_names]
        own = [
            other
            for other in named
            if getattr(other, "__module__", item.__module__) == item.__module__
        ]
        for other in (item.__code__, *(item.__defaults__ or ()), *cells, *own):
            _collect(other, found, met)


# ---------------------------------------------------------------- in the answer

CONSTANTS = {
    "log 2": math.log(2),
    "1 / log 2": 1 / math.log(2),
    "log 10": math.log(10),
    "sqrt(2)": math.sqrt(2),
    "1 / sqrt(2)": math.sqrt(0.5),
    "e": math.e,
    "1 / e": 1 / math.e,
    "pi": math.pi,
    "sqrt(2 pi)": math.sqrt(2 * math.pi),
}
EXPONENTS = (0.5, -0.5, 1, -1, 0.25, -0.25, 2, -2, 1.5, -1.5)


def _written(powers):
    """Sizes with their exponents, as a formula."""

    def one(name, exponent):
        forms = {
            0.5: "sqrt({})",
            1: "{}",
            2: "{}²",
            0.25: "the fourth root of {}",
            1.5: "{} sqrt({})",
        }
        return forms[exponent].format(name, name)

    above = " ".join(one(name, e) for name, e in powers if e > 0)
    below = [one(name, -e) for name, e in powers if e < 0]
    return above + (" / " if above else "1 / ") * bool(below) + " / ".join(below)


def _formulas(names):
    """(text, {name: exponent}) of the formulas with which a factor is compared."""
    for name in names:
        for exponent in EXPONENTS:
            yield ((name, exponent),)
    for one, two in itertools.combinations(names, 2):
        for pair in itertools.product(EXPONENTS[:4], repeat=2):
            yield tuple(zip((one, two), pair))


def _short(number):
    """Four digits of a number, and six of one that they would show as 1."""
    return f"{number:.6g}" if f"{number:.4g}" == "1" else f"{number:.4g}"


def formula(exercise, numbers):
    """(text, function of a case) for {case: number}: a constant, or powers of sizes; None if
    neither fits.
    """
    numbers = {case: float(number) for case, number in numbers.items()}
    first = next(iter(numbers.values()))
    if np.allclose(list(numbers.values()), first, rtol=1e-6):
        exact = (
            float(f"{first:.6g}")
            if math.isclose(first, float(f"{first:.6g}"), rel_tol=1e-9)
            else first
        )
        known = next(
            (
                text
                for text, value in CONSTANTS.items()
                if math.isclose(abs(first), value, rel_tol=1e-6)
            ),
            None,
        )
        return "-" * (first < 0) + (known or _short(abs(first))), lambda case: exact
    known = {case: sizes(exercise, case) for case in numbers}
    names = [
        name
        for name in next(iter(known.values()))
        if all(name in found for found in known.values())
    ]
    for sign, case_sizes in itertools.product((1, -1), _formulas(names)):

        def value(case, powers=case_sizes, sign=sign):
            own = sizes(exercise, case)
            return sign * math.prod(own[name] ** e for name, e in powers if name in own)

        if all(math.isclose(value(case), number, rel_tol=1e-6) for case, number in numbers.items()):
            return "-" * (sign < 0) + _written(case_sizes), value
    return None


def factor(a, b):
    """The number that all entries of b are multiplied with in a, or None."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    known = np.isfinite(b) & (b != 0)
    if a.shape != b.shape or not known.any() or not np.isfinite(a[known]).all():
        return None
    if not ((a == b) | known)[~known].all():  # a factor leaves 0 and -inf as they are
        return None
    ratio = a[known] / b[known]
    return ratio[0] if np.allclose(ratio, ratio[0], rtol=1e-6) and abs(ratio[0]) > 1e-9 else None


def difference(a, b):
    """The number that is added to all entries of b in a, or None."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape or not a.size or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    found = (a - b).ravel()
    return (
        found[0]
        if np.allclose(found, found[0], rtol=1e-6) and abs(found[0]) > 1e-6 * np.abs(b).max()
        else None
    )


def read_number(error, negative=True):
    """The number at which an error vanishes, or None: a coarse grid, then the golden section.

    A negative one only if no positive one does as well: a square has both.
    """
    grid = np.geomspace(1e-6, 1e12, 109)
    tried = {float(number): error(number) for number in (*grid, *(-grid if negative else ()))}
    best = min(tried, key=tried.get)
    best = abs(best) if tried[abs(best)] <= 1.01 * tried[best] else best
    low, high = sorted((best / 1.5, best * 1.5))
    share = (math.sqrt(5) - 1) / 2
    a, b = high - share * (high - low), low + share * (high - low)
    at_a, at_b = error(a), error(b)
    for _ in range(70):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - share * (high - low)
            at_a = error(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + share * (high - low)
            at_b = error(b)
    return (low + high) / 2 if min(at_a, at_b) < 1e-9 else None


def scaled_formula(exercise, numbers):
    """Like formula, with an additional constant."""
    found = formula(exercise, numbers)
    known = {case: sizes(exercise, case) for case in numbers}
    names = [
        name for name in next(iter(known.values())) if all(name in own for own in known.values())
    ]
    for name, exponent in itertools.product([] if found else names, EXPONENTS[:4]):
        rest = {case: number / known[case][name] ** exponent for case, number in numbers.items()}
        if np.allclose(list(rest.values()), first := next(iter(rest.values())), rtol=1e-6):
            return (
                f"{_short(first)} {_written(((name, exponent),))}",
                lambda case: first * sizes(exercise, case)[name] ** exponent,
            )
    return found


class Factors:
    """Factors and offsets, of the answer or of one argument, as an answer reveals them."""

    def __init__(self, exercise, seen):
        self.exercise = exercise
        # one leading axis more or less changes no factor; narrow dtypes and huge numbers would blur
        # it
        self.seen = [
            one
            for one in seen
            if one.case.aspect == PLAIN
            and not one.case.extreme
            and one.values
            and one.case.size > 3
        ]
        self.cases = [one.case for one in self.seen]

    def all(self):
        """[Mistake] for every factor that all ordinary cases tell."""
        if (
            len(self.seen) < 2
            or self.exercise.in_list
            or not all(
                np.isfinite(np.asarray(v, float)).all() for one in self.seen for v in one.values
            )
        ):
            return []
        parts = range(len(self.seen[0].values))
        found = [self._of_answer(read, part) for read in (factor, difference) for part in parts]
        if not any(found):
            # a size multiplied by a large number would fill the memory
            operate, first = Operators(self.exercise), self.cases[0].args
            found = [
                self._of_argument(i)
                for i in operate.arrays + operate.numbers
                if not isinstance(first[i], int)
            ]
        return [mistake for mistake in found if mistake]

    def _of_answer(self, read, part):
        wanted = [self.exercise.predict((), one.index) for one in self.seen]
        if any(isinstance(right, Failure) or len(right) <= part for right in wanted):
            return None
        numbers = {
            one.case: read(one.values[part], right[part]) for one, right in zip(self.seen, wanted)
        }
        if None in numbers.values() or read is factor and np.allclose(list(numbers.values()), 1):
            return None
        found = scaled_formula(self.exercise, numbers)
        if not found:
            return None
        text, value = found
        name = self.exercise.outputs[part] if self.exercise.outputs else "the answer"

        def answer(*args):
            parts = reference(self.exercise, list(args))
            parts = parts if isinstance(parts, tuple) else (parts,)
            number = value(_like(args))
            changed = tuple(
                (p * number if read is factor else p + number) if k == part else p
                for k, p in enumerate(parts)
            )
            return changed if len(parts) > 1 else changed[0]

        if read is factor:
            return Mistake(
                f"{name} times {text}",
                change={"answer": answer},
                does=f"{upper(name)} is {text} times what it should be.",
                why="One factor is missing, superfluous, or wrong.",
                ask=f"Which of your lines brings in the factor {text}?",
            )
        way = "small" if text.startswith("-") else "large"
        return Mistake(
            f"{name} too {way} by {text.removeprefix('-')}",
            change={"answer": answer},
            does=f"{upper(name)} is too {way} by {text.removeprefix('-')}.",
            why="One number was added or left out.",
            ask=f"Which of your lines changes every entry by {text.removeprefix('-')}?",
        )

    def _of_argument(self, i):
        numbers = {}
        for one in sorted(self.seen, key=lambda one: abs(one.case.size - 40))[:3]:
            number = read_number(
                lambda c, one=one: self._error(one, i, c), isinstance(one.case.args[i], np.ndarray)
            )
            if number is None or math.isclose(number, 1, rel_tol=1e-9):
                return None
            numbers[one.case] = number
        found = scaled_formula(self.exercise, numbers)
        if not found:
            return None
        text, value = found
        name = self.exercise.parameters[i]

        def answer(*args):
            number = value(_like(args))
            return reference(
                self.exercise, [arg * number if k == i else arg for k, arg in enumerate(args)]
            )

        return Mistake(
            f"{name} times {text}",
            change={"answer": answer},
            does=f"The answer is the right one for {name} times {text}.",
            why=(
                f"The definition takes {name} as given: one factor is missing, superfluous, or"
                " wrong."
            ),
            ask=f"Which of your lines brings in the factor {text}?",
        )

    def _error(self, one, i, number):
        """How far the answer is from the answer for one argument multiplied."""
        args = [arg * number if k == i else arg for k, arg in enumerate(one.case.args)]
        return distance(one, lambda: reference(self.exercise, args))


def distance(one, compute):
    """How far an answer is from what is computed, relative to its largest entry."""
    try:
        with np.errstate(all="ignore"):
            parts = compute()
            parts = parts if isinstance(parts, tuple) else (parts,)
            found = max(_gap(values, part) for values, part in zip(one.values, parts))
            return math.inf if math.isnan(found) else found
    except Exception:
        return math.inf


def _gap(values, part):
    values, part = np.asarray(values, float), np.asarray(part, float)
    if values.shape != part.shape or (np.isfinite(values) != np.isfinite(part)).any():
        return math.inf
    finite = np.isfinite(values)
    size = float(np.abs(values[finite]).max(initial=0))
    return float(np.abs(values[finite] - part[finite]).max(initial=0)) / (size or 1.0)


def fitted(exercise, seen):
    """The mistakes of an exercise that have a number in them, with the number that an answer
    tells.
    """
    plain = [
        one
        for one in seen
        if one.case.aspect == PLAIN
        and not one.case.extreme
        and one.values
        and distance(one, lambda: exercise.predict((), one.index)) > 1e-6
    ]
    if not plain:
        return
    one = min(plain, key=lambda one: (one.case.size < 40, abs(one.case.size - 40)))
    for make in exercise.fitted:

        def compute(number, make=make):
            return exercise.answer(make(number).variants[0], one.case.dtype, *one.case.args)

        number = read_number(lambda number: distance(one, lambda: compute(number)))
        if number is not None:
            yield make(
                float(f"{number:.6g}")
                if math.isclose(number, float(f"{number:.6g}"), rel_tol=1e-7)
                else number
            )


def _like(args):
    return SimpleNamespace(args=args)
