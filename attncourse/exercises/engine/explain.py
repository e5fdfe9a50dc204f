"""Finds the known mistakes, or the pair of them, that explain what a learner's function
returned.
"""

import functools
import weakref
from dataclasses import dataclass, field

import numpy as np

from ..model import (
    FLOAT16,
    FLOAT32,
    LEADING,
    PLAIN,
    SQUARE,
    BesidesRounding,
    EachByItself,
    Failure,
    arrays_of,
)
from ..sandbox.answer import WIDTHS
from . import changes, generic, numbers

# relative to the largest number of a row; the second number is for extreme cases
TOLERANCE = {
    "float64": (1e-10, 1e-7),
    "float32": (2e-5, 5e-3),
    "float16": (2e-2, 3e-2),
    "bfloat16": (4e-2, 6e-2),
}


MOST_ALTERNATIVES = (
    2  # mistakes, or pairs of them, that a message lists if they can't be told apart
)
LEFT_OPEN = 3  # aspects that an explanation may leave open; one that leaves more is a coincidence


@dataclass
class Seen:
    """The result of one case: arrays, a failure, or a phrase for anything else."""

    case: object
    index: int
    values: tuple = ()
    dtypes: tuple = ()
    failure: Failure | None = None
    other: str = ""
    terms: tuple = ()  # the numbers of an answer that is to be one number
    printed: str = ""
    marks: dict = field(default_factory=dict)  # generic mistakes that need no prediction, by name
    arrays: tuple = ()  # the answer's arrays themselves
    after: dict = field(default_factory=dict)  # the arguments after the call, if one was changed
    texts: np.ndarray | None = None  # the words of the answer, as they came

    def mark(self, mistake):
        self.marks.setdefault(mistake.name, mistake)


@dataclass
class Finding:
    """What explains an answer: `sets` are alternatives, each a tuple of mistakes."""

    sets: list
    hypothesis: tuple = ()  # the first alternative, as Exercise.hypotheses gives it
    leftover: tuple = ()  # aspects that stay unexplained
    generic: dict = field(default_factory=dict)
    correct: bool = False
    explained: bool = False


def tolerance(case, dtype, extreme, imprecise=False):
    # small numbers don't matter in a dtype that cannot hold them
    narrow = isinstance(case.relative, EachByItself) and WIDTHS.get(dtype, 64) < 32
    if case.relative and not narrow:
        return case.relative
    return of_dtype(case, dtype, extreme, imprecise)


def of_dtype(case, dtype, extreme, imprecise=False):
    """The usual tolerance of the narrower of two dtypes, the case's and the answer's."""
    names = [name for name in (case.dtype, dtype) if name in TOLERANCE] or ["float64"]
    if imprecise:
        names.append("float32")
    return TOLERANCE[min(names, key=WIDTHS.get)][extreme]


# ---------------------------------------------------------------- one case, one prediction


def fit_shape(values, shape):
    """The values in this shape if the two differ only by axes of length 1, else None."""
    if values.shape == shape:
        return values
    squeezed = [n for n in values.shape if n != 1] == [n for n in shape if n != 1]
    return values.reshape(shape) if squeezed and values.ndim != len(shape) else None


class Kept:
    """A function of an array whose result is kept as long as the array lives, because the
    predictions of an exercise are compared with many answers.
    """

    def __init__(self, function):
        self.function, self.known = function, {}

    def __call__(self, array):
        place = id(array)
        of, found = self.known.get(place, (None, None))
        # a callback that a time limit or the recursion limit cuts short is dropped: what it should
        # have taken out stays, and another array may come to live in the same place
        if of is None or of() is not array:
            found = self.function(array)
            try:
                gone = weakref.ref(array, functools.partial(self.forget, place))
                self.known[place] = gone, found
            except TypeError:  # a NumPy scalar
                pass
        return found

    def forget(self, place, of):
        """Remove what was kept for an array that is gone, unless another array has its place by
        now."""
        if self.known.get(place, (None,))[0] is of:
            del self.known[place]


@Kept
def highest(array):
    """The largest absolute value; NaN if there is one."""
    return np.abs(array).max(initial=0)


@Kept
def rows_of(b):
    """What close_rows needs of the numbers that it compares with."""
    b = np.atleast_1d(b).astype(np.float64)
    finite = np.isfinite(b)
    scale = np.where(finite, np.abs(b), 0).max(axis=-1, keepdims=True, initial=0)
    # a row that is 0 up to rounding: its terms were as large as the other rows
    scale = np.maximum(scale, 0.02 * scale.max(initial=0))
    return b, finite, bool(finite.all()), scale


def close_rows(a, b, relative):
    """One boolean per row (last axis): equal up to the tolerance, with NaN and infinities in the
    same places.

    The tolerance is relative to the row's largest number, and to each one if it is an EachByItself.
    """
    a = np.atleast_1d(a)
    if b.dtype == bool and a.dtype != bool:
        return (a == np.atleast_1d(b)).all(axis=-1)
    a = a.astype(np.float64)
    b, finite, all_finite, scale = rows_of(b)
    with np.errstate(all="ignore"):
        if isinstance(relative, EachByItself):
            scale = np.abs(b)
        near = np.abs(a - b) <= relative * scale
    if all_finite:
        return near.all(axis=-1)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(finite, near | same, same).all(axis=-1)


def first_differs(a, b, relative):
    """Whether the first entries already show that not all rows are close: most pairs end here."""
    return bool(b.size) and bool(abs(float(a.flat[0]) - float(b.flat[0])) > relative * highest(b))


def negligible(values, reference, relative):
    """Whether all values are 0 compared with the reference, up to rounding."""
    limit = 0.1 * relative * highest(reference)
    return bool(np.isfinite(limit) and highest(values) <= limit)


def nothing_left(exercise, cases):
    """Whether an answer in floating point is 0 in all these cases, up to rounding, where it should
    not be.
    """
    pairs = [
        (values, part, tolerance(seen.case, dtype, seen.case.extreme))
        for seen in cases
        for values, dtype, part in zip(seen.values, seen.dtypes, exercise.predict((), seen.index))
        if part.any()
    ]
    return bool(pairs) and all(
        part.dtype.kind == values.dtype.kind == "f" and negligible(values, part, relative)
        for values, part, relative in pairs
    )


def compare_part(values, dtype, predicted, reference, case, imprecise):
    """2: as predicted. 1: spoiled in the same rows. 0: something else."""
    fitted = fit_shape(values, predicted.shape)
    if fitted is None:
        return 0
    relative = tolerance(case, dtype, case.extreme, imprecise)
    floats = values.dtype.kind == predicted.dtype.kind == "f"
    if isinstance(relative, BesidesRounding) and floats and predicted.shape == reference.shape:
        usual = of_dtype(case, dtype, case.extreme)
        if not close_rows(predicted, reference, usual).all():
            relative = usual
    if floats and negligible(predicted, reference, relative):  # only rounding is left of it
        return 2 * negligible(fitted, reference, relative)
    if floats and not case.extreme and first_differs(fitted, predicted, relative):
        return 0
    as_predicted = close_rows(fitted, predicted, relative)
    if as_predicted.all():
        return 2
    if _whole_quotient(values, reference):
        return 2 * bool(values == np.floor(predicted))
    if (
        values.ndim
        and values.dtype.kind in "iu"
        and predicted.dtype.kind == "f"
        and case.dtype != dtype
    ):
        with np.errstate(all="ignore"):
            return 2 * bool(close_rows(fitted, np.trunc(predicted), relative).all())
    if not case.extreme or reference.shape != predicted.shape:
        return 0
    # a row that the mistake spoils with NaN or inf may be spoiled in another way, or be one number
    right = close_rows(fitted, reference, relative)
    spoils = ~close_rows(predicted, reference, relative)
    wild = spoils & ~_finite_rows(predicted)
    one_number = (np.atleast_1d(fitted) == np.atleast_1d(fitted)[..., :1]).all(axis=-1)
    spoiled = ~_finite_rows(fitted) | one_number
    return int((as_predicted | (wild & spoiled & ~right)).all())


def _whole_quotient(values, reference):
    """Whether // may stand where a mistake divides: a whole number came where one is asked for."""
    return (
        not values.ndim
        and values.dtype.kind in "iu"
        and reference.size == 1
        and bool(reference == np.floor(reference))
    )


def _finite_rows(array):
    return np.isfinite(np.atleast_1d(array).astype(float)).all(axis=-1)


def compare(seen, predicted, reference, imprecise=False):
    """How well a prediction fits the observed result: 2, 1 or 0 as in compare_part."""
    if isinstance(predicted, Failure):
        return _compare_failures(seen.failure, predicted)
    if seen.failure:
        wild = not all(np.isfinite(part.astype(float)).all() for part in predicted)
        return int(seen.failure.family == "arithmetic" and wild and seen.case.extreme)
    if not seen.values or len(predicted) != len(seen.values):
        return 0
    parts = zip(seen.values, seen.dtypes, predicted, reference)
    return min(
        compare_part(values, dtype, part, wanted, seen.case, imprecise)
        for values, dtype, part, wanted in parts
    )


def _compare_failures(seen, predicted):
    if seen is None or seen.family != predicted.family or predicted.family == "other":
        return 0
    return 2 if seen.cause == predicted.cause else 1


def shown_by(exercise, hypothesis, seen):
    """Whether a hypothesis predicts a wrong answer on this case."""
    return not same(
        exercise.predict(hypothesis, seen.index), exercise.predict((), seen.index), seen.case
    )


def same(first, second, case):
    """Whether two predictions agree on a case."""
    if isinstance(first, Failure) or isinstance(second, Failure):
        return (
            isinstance(first, Failure)
            and isinstance(second, Failure)
            and first.cause == second.cause
        )
    relative = tolerance(case, case.dtype, case.extreme)
    return len(first) == len(second) and all(
        a.shape == b.shape and close_rows(a, b, relative).all() for a, b in zip(first, second)
    )


# ---------------------------------------------------------------- all cases, all hypotheses


class Matcher:
    """Compares what was seen on all cases with every hypothesis about it."""

    def __init__(self, exercise, seen, imprecise=False, alternatives=MOST_ALTERNATIVES):
        self.exercise, self.seen, self.imprecise, self.alternatives = (
            exercise,
            seen,
            imprecise,
            alternatives,
        )
        self.known, self.compared = {}, {}
        screen = exercise.screen()
        self.screened = any(one.index == screen and one.case.aspect == PLAIN for one in seen)
        self.order = range(len(seen))
        # what ends most comparisons comes first: the screen, ordinary input, wrong cases
        self.order = sorted(
            self.order,
            key=lambda k: (seen[k].index != screen, seen[k].case.aspect != PLAIN, self.right(k)),
        )

    def level(self, hypothesis, k):
        found = self.known.get((hypothesis, k))
        if found is None:
            found = self._level(hypothesis, k)
            self.known[hypothesis, k] = found
        return found

    def _level(self, hypothesis, k):
        case, index = self.seen[k].case, self.seen[k].index
        found = self._compare(k, self.exercise.predict(hypothesis, index))
        if found < 2 and case.extreme and case.dtype in ("float16", "float32"):
            narrow = self.exercise.predict(hypothesis, index, wide=False)
            found = max(found, self._compare(k, narrow))
        return found

    def _compare(self, k, predicted):
        """compare() of what was seen; many hypotheses share one prediction, which is kept."""
        kept, found = self.compared.get((k, id(predicted)), (None, None))
        if kept is not predicted:
            wanted = self.exercise.predict((), self.seen[k].index)
            found = compare(self.seen[k], predicted, wanted, self.imprecise)
            self.compared[k, id(predicted)] = predicted, found
        return found

    def right(self, k):
        return self.level((), k) > 0

    def evident(self, hypothesis, missed):
        """Whether each mistake of a hypothesis shows: without it, some explained case would not be
        explained.
        """
        explained = [k for k in self.order if k not in missed]
        return all(
            any(self._shows(hypothesis, member, k, bool(missed)) for k in explained)
            for member in hypothesis
        )

    def _shows(self, hypothesis, member, k, partly):
        index = self.seen[k].index
        predicted = self.exercise.predict(hypothesis, index)
        if isinstance(predicted, Failure):
            # an exception is weak evidence: it must be of the predicted kind, and be part of an
            # explanation that leaves nothing open
            if partly or self.level(hypothesis, k) < 2:
                return False
        without = tuple(other for other in hypothesis if other != member)
        case = self.seen[k].case
        if not same(predicted, self.exercise.predict(without, index), case):
            return True
        # what costs digits shows only in a narrow dtype
        return (
            case.extreme
            and case.dtype in ("float16", "float32")
            and not same(
                *(
                    self.exercise.predict(those, index, wide=False)
                    for those in (hypothesis, without)
                ),
                case,
            )
        )

    def scan(self, size, most):
        """[(hypothesis, cases that it misses)], the fewest aspects missed, and at most `most`."""
        found = []
        for hypothesis in self._candidates(size):
            missed = self._missed(hypothesis, most)
            if missed is None or not self.evident(hypothesis, missed):
                continue
            if self._count(missed) < most:
                most, found = self._count(missed), []
            found.append((hypothesis, missed))
        return found, most

    def _candidates(self, size):
        """The hypotheses of a size, without those whose likes the screen rules out."""
        for alike, group in self.exercise.groups(size).items():
            if not self.screened or len(group) == 1 or self.level(alike, self.order[0]):
                yield from group

    def _missed(self, hypothesis, most):
        """The unexplained cases; None if an ordinary case is among them, if one contradicts it, or
        if they are too many.
        """
        missed = []
        for k in self.order:
            if self.level(hypothesis, k):
                continue
            if self.seen[k].case.aspect == PLAIN or self.right(k):
                return None
            missed.append(k)
            if self._count(missed) > most:
                return None
        return missed

    def _count(self, missed):
        return len({self.seen[k].case.aspect for k in missed})

    def best(self, hypotheses):
        """Those that fit most cases exactly, one for each set of names."""

        def exact(hypothesis):
            fitting = [k for k in range(len(self.seen)) if self.level(hypothesis, k) == 2]
            return len(fitting), sum(self.in_shape(hypothesis, k) for k in fitting)

        most = max(map(exact, hypotheses))
        found = {}
        for hypothesis in hypotheses:
            if exact(hypothesis) == most:
                mistakes = tuple(self.exercise.mistakes[i] for i, _ in hypothesis)
                found.setdefault(tuple(m.name for m in mistakes), (mistakes, hypothesis))
        found = list(found.values())
        if len(found) > 1:
            found = list(filter(self._visible, found)) or found
        if len(found) <= self.alternatives < len(self.exercise.mistakes):  # the simpler first
            found.sort(key=lambda chosen: sum(len(mistake.does) for mistake in chosen[0]))
        sets = [mistakes for mistakes, _ in found]
        if len(sets) > self.alternatives:  # so many say no more than what they share
            sets = [tuple(m for m in sets[0] if all(m in other for other in sets))]
        return {"sets": sets, "hypothesis": found[0][1]}

    def in_shape(self, hypothesis, k):
        """Whether an answer has the predicted shape itself, axes of length 1 included."""
        predicted = self.exercise.predict(hypothesis, self.seen[k].index)
        return not isinstance(predicted, Failure) and all(
            values.shape == part.shape for values, part in zip(self.seen[k].values, predicted)
        )

    def _visible(self, chosen):
        """Whether each mistake that shows on ordinary input when it is alone also shows there
        beside the others.
        """
        members = chosen[1]
        plain = [
            seen
            for seen in self.seen
            if seen.case.aspect == PLAIN
            and not isinstance(self.exercise.predict(members, seen.index), Failure)
        ]

        def differ(one, other):
            return any(
                not same(
                    self.exercise.predict(one, seen.index),
                    self.exercise.predict(other, seen.index),
                    seen.case,
                )
                for seen in plain
            )

        return all(
            differ(members, tuple(m for m in members if m != member))
            for member in members
            if differ((member,), ())
        )

    def finding(self, largest=2):
        """The smallest set of mistakes that leaves the fewest aspects unexplained."""
        chosen, most = [], len(self.seen)
        for size in range(1 + min(largest, self.most_proved())):
            found, fewest = self.scan(size, most)
            if found:
                chosen, most = found, fewest - 1  # more mistakes must explain more
            if most < 0:
                break
        best = (
            self.best([h for h, _ in chosen]) if chosen else {"sets": [()], "hypothesis": (None,)}
        )
        # an answer that is NaN or an error throughout proves a mistake only if that explains all of
        # it
        allowed = LEFT_OPEN if self.most_proved() > 1 else 0
        open_too_much = most >= 0 and chosen and chosen[0][0] and most + 1 > allowed
        if open_too_much or best["hypothesis"] and not best["sets"][0]:
            return Finding([], leftover=self._wrong_aspects())
        return Finding(
            **best,
            leftover=self._aspects(chosen[0][1]),
            correct=most < 0 and not best["hypothesis"],
            explained=most < 0,
        )

    def most_proved(self):
        """How many mistakes the answer can prove: none if it is 0 throughout, or another finite
        number.

        NaN or an exception throughout may prove one, which is how a kernel that writes nothing is
        recognised. So may rounding errors alone: many pairs leave nothing else.
        """
        if nothing_left(self.exercise, self.seen) and not self.one_number():
            return 1
        if not (self.one_number() or self.one_failure()):
            return 2
        finite = any(
            np.isfinite(part.astype(float)).any() for seen in self.seen for part in seen.values
        )
        return int(not finite or self.exercise.library == "torch")

    def one_number(self):
        """Whether the answer is NaN, or 0, or any one number throughout.

        A mask may be True throughout and also have the wrong shape.
        """
        if self.exercise.dtype == "bool":
            return False
        parts = [part.astype(float).ravel() for seen in self.seen for part in seen.values]
        numbers = np.concatenate(parts or [np.zeros(0)])
        return numbers.size > 1 and bool((numbers == numbers[0]).all() or np.isnan(numbers).all())

    def one_failure(self):
        """Whether every call ended in the same exception."""
        return one_cause(self.seen)

    def _aspects(self, missed):
        return tuple(dict.fromkeys(self.seen[k].case.aspect for k in sorted(missed)))

    def _wrong_aspects(self):
        return self._aspects([k for k in range(len(self.seen)) if not self.right(k)])


def explain(exercise, seen, others=()):
    """The Finding for what was seen on the cases, generic mistakes included.

    `others` are asked for a (matcher, finding) of their own where the known mistakes do not explain
    everything.
    """
    matcher = Matcher(exercise, seen)
    finding = matcher.finding(largest=1)
    if exercise.in_words:  # sums and axes mean nothing for words
        others, finding = (), finding if finding.explained else matcher.finding()
    elif (
        not finding.explained
    ):  # one change of any step is a simpler explanation than two known mistakes
        matcher, finding = by_operators(exercise, seen, complete=True) or (
            matcher,
            matcher.finding(),
        )
    for other in others:
        if not finding.explained:
            matcher, finding = other(exercise, seen, finding) or (matcher, finding)
    if not finding.explained and not finding.sets and not exercise.in_words:
        loose = Matcher(exercise, seen, imprecise=True)
        second = loose.finding(largest=1)
        found = second.explained or only_digits_left(exercise, loose, second)
        if found and "float64" in {s.case.dtype for s in seen}:
            matcher, finding = loose, second
            finding.generic["imprecise"] = generic.INEXACT
    if not finding.explained and not any(finding.sets) and not exercise.in_words:
        matcher, finding = (
            by_operators(exercise, seen) or by_axes(exercise, seen) or (matcher, finding)
        )
    add_marks(finding, matcher)
    add_aspects(finding, matcher)
    return finding


def only_digits_left(exercise, loose, finding):
    """Whether all is right to the digits of float32, and in fewer than float64 has, except where a
    case asks for digits that float32 can't hold.
    """
    exact, cases = Matcher(exercise, loose.seen), range(len(loose.seen))
    return (
        finding.sets == [()]
        and all(loose.right(k) or loose.seen[k].case.relative for k in cases)
        and any(loose.right(k) and not exact.right(k) for k in cases)
    )


def by_operators(exercise, seen, complete=False):
    """(matcher, finding) if the right answer, or the answer for changed arguments, was changed in
    one plain way.
    """
    plain = [one for one in seen if one.case.aspect == PLAIN]
    finite = [any(np.isfinite(part.astype(float)).any() for part in one.values) for one in plain]
    if not all(one.values for one in plain) or 2 * sum(finite) <= len(plain):
        return None  # too many would explain an exception, or NaN throughout
    if nothing_left(exercise, plain):
        return None  # so would mere rounding errors: by whatever makes the answer 0
    if any(generic.READ_TWICE.name in one.marks for one in seen):
        return None  # because of that, the second reading misses what it no longer found
    if any(np.isnan(part.astype(float)).any() for one in seen for part in one.values):
        if complete or wrong_by_nan_alone(exercise, seen):
            return None  # NaN suggests a separate mistake
    if complete and not any(isinstance(a, np.ndarray) for a in plain[0].case.args):
        return None
    kinds = (
        lambda: changes.operators(exercise),
        lambda: changes.changed(exercise, numbers.Factors(exercise, seen).all()),
        lambda: changes.changed(exercise, numbers.fitted(exercise, seen)),
    )
    for find in kinds[:1] if complete else kinds:
        matcher = Matcher(
            find(), seen, alternatives=float("inf")
        )  # all say the same: one is enough
        finding = matcher.finding(largest=1)
        if finding.sets and finding.sets[0] and len(finding.leftover) <= (not complete):
            finding.sets = finding.sets[:1]
            return matcher, finding
    return None


def wrong_by_nan_alone(exercise, seen):
    """Whether every case whose values are wrong has NaN in each part of the answer."""
    exact = Matcher(exercise, seen)
    wrong = [one for k, one in enumerate(seen) if one.values and not exact.right(k)]
    nan = [np.isnan(part.astype(float)).any() for one in wrong for part in one.values]
    return bool(nan) and all(nan)


def by_axes(exercise, seen):
    """(matcher, finding) if three axes are explained, and any other number of them is an
    exception.
    """
    three = [one for one in seen if axes(one) == 3 and one.case.aspect == LEADING]
    others = [one for one in seen if axes(one) != 3]
    if not (
        len(three) > 1
        and others
        and all(one.failure and one.failure.family == "shape" for one in others)
    ):
        return None
    matcher = Matcher(exercise, three)
    finding = matcher.finding(largest=1)
    if not (finding.explained and finding.sets):
        return None
    finding.generic[generic.THREE_AXES.name] = generic.THREE_AXES
    return matcher, finding


def add_marks(finding, matcher):
    """The generic mistakes: those seen on any case, and those of shape and dtype."""
    if any(generic.LIST.name in seen.marks for seen in matcher.seen):
        for seen in matcher.seen:  # a list of one number isn't a list around the answer
            if seen.marks.pop(generic.IN_A_LIST.name, None):
                seen.values = tuple(part[None] for part in seen.values)
    if any(generic.EXTRA.name in seen.marks for seen in matcher.seen):
        for seen in matcher.seen:  # a list that has one number here has more elsewhere
            seen.marks.pop(generic.IN_A_LIST.name, None)
    for seen in matcher.seen:
        for mistake in seen.marks.values():
            finding.generic.setdefault(mistake.name, mistake)
        if not seen.values:
            continue
        predicted = matcher.exercise.predict(finding.hypothesis, seen.index)
        if not isinstance(predicted, Failure):
            explained = (
                finding.explained or bool(finding.sets)
            ) and seen.case.aspect not in finding.leftover
            for mistake in form_marks(
                matcher.exercise, seen, predicted, bool(finding.hypothesis), explained
            ):
                seen.mark(mistake)
                finding.generic.setdefault(mistake.name, mistake)
    widths = sorted(name for name in finding.generic if name.endswith("leaks out"))
    fixed = "narrower dtype" in finding.generic and widths
    for name in widths[:-1] or widths * bool(fixed):  # one dtype for all inputs has one name
        del finding.generic[name]
    if fixed:
        del finding.generic["narrower dtype"]
        found = generic.fixed_dtype(widths[-1].split()[0])
        finding.generic[found.name] = found


def form_marks(exercise, seen, predicted, mistaken, explained):
    """Generic mistakes of shape and dtype, given what the values are explained by."""
    for i, (values, dtype, part) in enumerate(zip(seen.values, seen.dtypes, predicted)):
        if explained and values.shape != part.shape and fit_shape(values, part.shape) is not None:
            more = values.ndim - part.ndim
            yield generic.axes_kept(more) if more > 0 else generic.AXIS_DROPPED
        yield from dtype_marks(exercise, i, seen.case, values, dtype, part, mistaken)


def dtype_marks(exercise, i, case, values, dtype, part, mistaken):
    asked = exercise.dtype_of(i)
    if not dtype or asked == "number":
        return
    if asked not in ("bool", "input"):
        if dtype != asked and not (mistaken and part.dtype.kind == "f"):
            yield generic.another_dtype(exercise.outputs[i], dtype, asked)
    elif asked == "bool":
        if part.dtype == bool and dtype != "bool" and np.isin(values, (0, 1)).all():
            yield generic.not_boolean(dtype)
    elif dtype in WIDTHS:
        if WIDTHS[dtype] > WIDTHS[case.dtype]:
            yield generic.leaks(dtype, exercise.library)
        elif dtype != case.dtype:
            yield generic.narrower(dtype, case.dtype)
    # if a named mistake makes whole numbers anyway (a one-hot row), they need no second name
    elif values.dtype.kind in "biu" and not (mistaken and part.dtype.kind in "biu"):
        yield generic.integer(dtype, case.dtype)


def add_aspects(finding, matcher):
    """Name what an unexplained aspect says by itself: only for two axes, only for equal sizes."""
    known = generic.aspects_of(matcher.exercise)
    if finding.sets or finding.explained:
        for aspect in finding.leftover:
            said = known.get(aspect)
            if (
                not said
                or some_right(matcher, aspect)
                or not tells(matcher, finding.leftover, aspect)
            ):
                continue
            if said is generic.TWO_AXES and two_axes_open(matcher, finding.leftover):
                said = generic.LEADING_FORGOTTEN
            elif said is generic.TWO_AXES and any(finding.sets):
                said = generic.TWO_AXES_BESIDES
            if said.name not in (mistake.name for chosen in finding.sets for mistake in chosen):
                finding.generic[said.name] = said
        if any(finding.sets) or finding.explained or finding.generic:
            return
    if all_right(matcher, SQUARE) and all(
        misshapen(matcher, k) for k, s in enumerate(matcher.seen) if s.case.aspect == PLAIN
    ):
        if right_beside_square(matcher):
            return
        finding.generic[generic.ONLY_SQUARE.name] = generic.ONLY_SQUARE
    else:
        for mistake in only_where(matcher):
            finding.generic[mistake.name] = mistake
            finding.leftover = ()  # it is wrong exactly where the condition doesn't hold


def right_beside_square(matcher):
    """Whether an aspect with other sizes is right throughout: then no two sizes are mixed up. A
    size of 1 proves nothing.
    """
    known = {s.case.aspect: [] for s in matcher.seen if s.case.aspect not in (PLAIN, SQUARE)}
    for s in matcher.seen:
        if s.case.aspect in known and all(1 not in a.shape for a in arrays_of(s.case.args)):
            known[s.case.aspect].append(s)
    return any(cases and all_right(matcher, aspect) for aspect, cases in known.items())


def only_where(matcher):
    """The condition on a case's sizes, as a mistake, if the answer is right exactly where it
    holds.
    """
    cases = [seen.case for seen in matcher.seen]
    right = [matcher.right(k) and in_shape(matcher, k) for k in range(len(cases))]
    shapes = all(
        misshapen(matcher, k) or s.failure for k, s in enumerate(matcher.seen) if not right[k]
    )
    if any(s.failure and s.failure.cause == "bounds" for s in matcher.seen):
        return []  # a kernel's blocks, which no argument gives, decide where it stops
    if sum(right) < 2 or right.count(False) < 2 or not shapes:
        return []  # a wrong number has another cause, which shows at some sizes only
    known = changes.conditions(matcher.exercise, cases)
    return [generic.only_where(text) for text, met in known if met == right][:1]


def tells(matcher, leftover, aspect):
    """Whether an unexplained aspect is itself what is wrong, rather than a symptom of another one:
    it is the only one.
    """
    others = [
        s
        for k, s in enumerate(matcher.seen)
        if not matcher.right(k)
        and s.case.aspect in leftover
        and s.case.aspect not in (aspect, FLOAT32, FLOAT16)
    ]
    own = [k for k, s in enumerate(matcher.seen) if s.case.aspect == aspect]
    if not others:
        return True
    failures = [s.failure for s in others] + [matcher.seen[k].failure for k in own]
    stopped = all(failure and failure.family == "shape" for failure in failures)
    if stopped and all(failure.cause != "bounds" for failure in failures):
        return True
    return aspect == LEADING and (
        stopped or all(axes(s) != 2 for s in others) or all(misshapen(matcher, k) for k in own)
    )


def two_axes_open(matcher, leftover):
    """Whether something else is wrong for two axes that no mistake explains."""
    return any(
        axes(s) == 2 and not matcher.right(k) and s.case.aspect not in (LEADING, FLOAT32, FLOAT16)
        for k, s in enumerate(matcher.seen)
        if s.case.aspect in leftover
    )


def one_cause(cases):
    """Whether all these cases ended in an exception of the same cause."""
    return all(seen.failure for seen in cases) and len({seen.failure.cause for seen in cases}) == 1


def axes(seen):
    """How many axes the first argument of a case has."""
    return getattr(seen.case.args[0], "ndim", 0)


def misshapen(matcher, k):
    """Whether a case ended in an exception about shapes, or in an answer of another shape."""
    seen = matcher.seen[k]
    if seen.failure:
        return seen.failure.family == "shape"
    return not in_shape(matcher, k)


def in_shape(matcher, k):
    """Whether an answer has the expected shape itself, axes of length 1 included."""
    return matcher.in_shape((), k)


def some_right(matcher, aspect):
    return any(matcher.right(k) for k, s in enumerate(matcher.seen) if s.case.aspect == aspect)


def all_right(matcher, aspect):
    cases = [k for k, s in enumerate(matcher.seen) if s.case.aspect == aspect]
    return bool(cases) and all(matcher.right(k) for k in cases)
