"""Puts a grade's message together: what was wrong, for which input, and what to ask yourself."""

import re
from dataclasses import replace

import numpy as np

from ..model import FLOAT16, FLOAT32, PLAIN, Failure
from . import generic, message
from .explain import axes, close_rows, compare, fit_shape, same, tolerance


def write(exercise, seen, finding, show=True, letters=""):
    """The message; it tells only the first mistake if there are more than two or too many lines."""
    named = len(message.common(finding.sets)[0]) + len(finding.generic)
    text = _text(exercise, seen, finding, show, letters, first=named > 2)
    if text.count("\n") >= message.MOST_LINES:
        text = _text(exercise, seen, finding, show, letters, first=True)
    if text.count("\n") >= message.MOST_LINES:
        text = _text(exercise, seen, finding, show, letters, first=True, brief=True)
    if text.count("\n") >= message.MOST_LINES:  # of an answer in parts, the first wrong one
        text = _text(exercise, seen, finding, show, letters, first=True, brief=True, parts=1)
    if text.count("\n") >= message.MOST_LINES:
        text = _text(exercise, seen, finding, False, letters, first=True)
    return text


def _text(exercise, seen, finding, show, letters, first, brief=False, parts=None):
    lines = [f"{exercise.name}: not yet.", ""]
    wrong = _wrong(exercise, seen)
    screen = next((s for s in seen if s.index == exercise.screen()), seen[0])
    named = bool(finding.sets and finding.sets[0]) or bool(finding.generic)
    failed = [screen] if screen.failure else [s for s in seen if s.failure and not named]
    left = _left(exercise, seen, finding, wrong)
    telling = _telling(exercise, seen, finding, wrong)
    if left and not _explains(finding) and not letters:
        telling = [_described(exercise, seen, [k for k in left if k in telling] or left)]
    if screen.failure:  # preferably an input that gives an error as well
        telling = [k for k in telling if seen[k].failure] or telling
    error, example = [], show and telling and seen[message.first_to_show(seen, telling)]
    if failed:  # the quoted error must come from the input that is shown
        one = example if example and example.failure else failed[0]
        lead = "For other sizes it stops" if example and one is not example else "It stops"
        error = message.error_lines(
            one.failure, exercise, named, f"{lead} with an error.", one.case
        )
        if one is not example and one.failure.family == "shape":
            error += ["The input was:", *message.shapes(exercise, one.case)]
        error.append("")
        finding = _in_order_of_stopping(exercise, finding, one)
    shown = bool(error)
    if not example or example.failure:
        lines, error = lines + error, []
    lines += message.mistake_lines(finding, first, brief)
    if letters:
        lines += [f"What it does: {letters}", ""]
    elif left and not (first and named):
        news = [k for k in left if _new(exercise, seen[k], finding)]
        if news:
            lines += _unexplained(exercise, seen, finding, wrong, news, telling, shown, show)
    if show and not (example and _explains(finding) and _only_dtype(exercise, example)):
        text = message.smallest(exercise, seen, telling, parts)
        lines += [text, ""] if text else []
    lines += error
    lines += [] if first else message.dtype_lines(finding, seen)
    if _explains(finding) or not left:  # else what the numbers are wrong for isn't known
        lines += message.questions(finding, 1 if first else 2)
    lines += message.printed_lines(seen[0].printed)
    return message.wrap("\n".join(lines).strip("\n"))


def _in_order_of_stopping(exercise, finding, one):
    """The finding with those mistakes first that stop this case, in the order of their steps: the
    error that is quoted comes from the first of them.
    """
    names, steps = [mistake.name for mistake in exercise.mistakes], list(exercise.steps)

    def place(mistake):
        if mistake.name not in names:
            return len(steps)
        i = names.index(mistake.name)
        stops = [
            variant
            for j, variant in enumerate(exercise.mistakes[i].variants)
            if isinstance(exercise.predict(((i, j),), one.index), Failure)
        ]
        changed = [steps.index(step) for variant in stops[:1] for step in variant if step in steps]
        return min(changed, default=0 if stops else len(steps))

    return replace(finding, sets=[tuple(sorted(those, key=place)) for those in finding.sets])


def _explains(finding):
    """Whether anything named says something about the values."""
    return bool(finding.sets and finding.sets[0]) or any(
        not isinstance(mistake, generic.DtypeMistake) for mistake in finding.generic.values()
    )


def unexplained(exercise, seen, finding):
    """The numbers of the cases that are wrong in a way that no named mistake explains."""
    if not finding.sets and any(name.startswith("only for ") for name in finding.generic):
        return []  # it is wrong exactly where the named condition on the sizes fails
    return _left(exercise, seen, finding, _wrong(exercise, seen))


def _left(exercise, seen, finding, wrong):
    """The numbers of the cases that are wrong for a reason that nothing named explains."""
    if finding.explained:
        return []
    covered = {m.name for m in finding.generic.values()}
    if generic.LEADING_FORGOTTEN.name in covered:  # it says that these stop, or are misshapen
        wrong = [k for k in wrong if axes(seen[k]) < 3 or _in_shape(exercise, seen[k])]
    known = generic.aspects_of(exercise)
    return [
        k
        for k in wrong
        if seen[k].case.aspect in finding.leftover
        and getattr(known.get(seen[k].case.aspect), "name", None) not in covered
    ]


def _in_shape(exercise, one):
    wanted = exercise.predict((), one.index)
    return [part.shape for part in one.values] == [part.shape for part in wanted]


def _described(exercise, seen, cases):
    """The one of these cases to describe and to show: the smallest about which something can be
    said.
    """
    order = sorted(cases, key=lambda k: message.reading_order(seen, k))
    readable = [
        k
        for k in order
        if message.readable(seen[k].case) and seen[k].case.aspect == seen[order[0]].case.aspect
    ]
    return next(
        (k for k in readable if message.tells_more(_properties(exercise, seen, seen[k], cases))),
        order[0],
    )


def _new(exercise, one, finding):
    """Whether a case that no named mistake explains shows something that the named ones do not show
    there in any variant.
    """
    if any(mistake is generic.READ_TWICE for mistake in one.marks.values()):
        return False
    if one.failure and one.failure.limit or generic.ONLY_SQUARE.name in finding.generic:
        return False  # the checker's doing; what the name says already
    chosen = finding.sets[0] if finding.sets else ()
    if _right_in_its_dtype(exercise, one):
        return False
    if len(chosen) == 1 and _rounded_alike(exercise, one, chosen[0].name):
        return False
    if not chosen or not all(mistake in exercise.mistakes for mistake in chosen):
        return True
    if len(chosen) == 1 and _in_another_variant(exercise, one, chosen[0]):
        return False
    predicted = exercise.predict(finding.hypothesis, one.index)
    if isinstance(predicted, Failure):
        return False
    if same(predicted, exercise.predict((), one.index), one.case):
        return True
    finite = all(np.isfinite(part.astype(float)).all() for part in predicted)
    wild = any(np.isnan(part.astype(float)).any() for part in one.values)
    return finite and bool(one.failure or wild)


def _right_in_its_dtype(exercise, one):
    """Whether an answer of a wider dtype is right once it has the dtype that is asked for."""
    wider = any(isinstance(mistake, generic.DtypeMistake) for mistake in one.marks.values())
    if not wider or one.case.dtype not in (FLOAT16, FLOAT32):
        return False
    wanted = exercise.predict((), one.index)
    relative = tolerance(one.case, one.case.dtype, one.case.extreme)
    with np.errstate(over="ignore"):
        cast = [part.astype(one.case.dtype) for part in one.values]
    return [part.shape for part in cast] == [part.shape for part in wanted] and all(
        close_rows(part, right, relative).all() for part, right in zip(cast, wanted)
    )


def _only_dtype(exercise, one):
    """Whether nothing but the dtype is wrong with an answer: it shows no other mistake."""
    return _right_in_its_dtype(exercise, one) and all(
        isinstance(mistake, generic.DtypeMistake) for mistake in one.marks.values()
    )


def _rounded_alike(exercise, one, name):
    """Whether an answer that is rounded to some digits differs by half a unit of the last one: at
    a tie, either way is a rounding.
    """
    digits = re.search(r"rounded to (\d) digit", name)
    if not digits or len(one.values) != 1:
        return False
    values, wanted = one.values[0], exercise.predict((), one.index)[0]
    most = 0.5001 * 10.0 ** -int(digits[1])
    return values.shape == wanted.shape and bool((abs(values - wanted) <= most).all())


def _in_another_variant(exercise, one, mistake):
    """Whether the same mistake, in the way that others write it, explains the case."""
    i, wanted = exercise.mistakes.index(mistake), exercise.predict((), one.index)
    return any(
        compare(one, exercise.predict(((i, j),), one.index), wanted)
        for j in range(len(mistake.variants))
    )


def _properties(exercise, seen, one, cases):
    """Sentences about one of these wrong cases, as far as the others don't contradict them."""
    wanted = exercise.predict((), one.index)
    others = [
        (other.values, exercise.predict((), other.index))
        for other in (seen[k] for k in cases)
        if other is not one and other.values and not other.case.extreme
    ]
    names = exercise.part_names(wanted)
    sure = [name for i, name in enumerate(names) if all(_part_right(exercise, s, i) for s in seen)]
    return message.properties(one, wanted, names, sure, others)


def _part_right(exercise, one, i):
    """Whether one part of an answer in several is the expected one in this case."""
    wanted = exercise.predict((), one.index)
    if i >= min(len(one.values), len(wanted)):
        return i >= len(wanted)  # a list that has fewer entries here
    relative = tolerance(one.case, one.dtypes[i], one.case.extreme)
    same = one.values[i].shape == wanted[i].shape
    return same and close_rows(one.values[i], wanted[i], relative).all()


def _telling(exercise, seen, finding, wrong):
    """The wrong cases that show what is named: every named mistake if one case can."""
    chosen = finding.sets[0] if finding.sets else ()
    numbers = [
        exercise.mistakes.index(mistake) for mistake in chosen if mistake in exercise.mistakes
    ]

    whole = finding.hypothesis if len(numbers) == len(chosen) else ()
    whole = whole if all(j < len(exercise.mistakes[i].variants) for i, j in whole) else ()

    def shows(k, members=whole):
        """Whether the answer to this case would change without any of these mistakes."""
        index, case = seen[k].index, seen[k].case
        return all(
            not same(
                exercise.predict(whole, index),
                exercise.predict(tuple(other for other in whole if other != member), index),
                case,
            )
            for member in members
        )

    known = generic.aspects_of(exercise)
    explained = [k for k in wrong if seen[k].case.aspect not in finding.leftover]
    by_aspect = [k for k in wrong if known.get(seen[k].case.aspect) in finding.generic.values()]
    if not numbers and all(_right_in_its_dtype(exercise, seen[k]) for k in explained):
        explained = by_aspect or explained  # a dtype is told last
    if any(one.failure for one in seen if one.index == exercise.screen()):
        failing = [k for k in explained if seen[k].failure and message.readable(seen[k].case)]
        explained = failing or explained  # an input that gives the error that is quoted
    found = [k for k in explained if shows(k)] or [k for k in explained if shows(k, whole[:1])]
    found = found or explained or wrong
    if whole:  # its values, not only its shape
        found = [k for k in found if not matches(exercise, seen[k], fit_shape)] or found
    if any(mistake in (generic.INEXACT, generic.IMPRECISE) for mistake in finding.generic.values()):
        found = [k for k in found if not matches(exercise, seen[k])] or found
    # what a call itself shows, such as an argument that it changed; a dtype only where all else is
    # right
    marked = {name for one in seen for name in one.marks if name in finding.generic}
    plain = {name for name in marked if not isinstance(finding.generic[name], generic.DtypeMistake)}
    names = plain or (set() if numbers or finding.leftover else marked)
    showing = [k for k in found if names <= set(seen[k].marks)]
    return [k for k in showing if message.readable(seen[k].case)] or (
        showing if showing == found else found
    )


def _wrong(exercise, seen):
    """The numbers of the cases whose answer is not the expected one, in any respect."""
    return [k for k, one in enumerate(seen) if one.marks or not matches(exercise, one)]


def matches(exercise, one, fit=lambda values, shape: values if values.shape == shape else None):
    """Whether the values of one case are the expected ones; `fit` brings them into a shape."""
    return bool(one.values) and all(
        fit(a, b.shape) is not None
        and close_rows(fit(a, b.shape), b, tolerance(one.case, d, one.case.extreme)).all()
        for a, b, d in zip(one.values, exercise.predict((), one.index), one.dtypes)
    )


def before_the_end(exercise, seen):
    """Of an answer whose check was cut short, an earlier input for which it has a wrong shape."""
    odd = [k for k, one in enumerate(seen) if one.values and not _in_shape(exercise, one)]
    if not odd:
        return []
    k = odd[0]
    said = _properties(exercise, seen, seen[k], odd)
    return [
        "",
        f"Look at another input first. {' '.join(said)}",
        "",
        message.smallest(exercise, seen, [k]),
    ]


def one_number_for_all(seen):
    """A sentence if every call gave the same number."""
    given = [part for one in seen for part in (one.values or (np.empty(0),))]
    if any(part.ndim or not np.isfinite(part) or part != given[0] for part in given):
        return ""
    return f"The answer is {message.number(given[0])} whatever the arguments are."


def _unexplained(exercise, seen, finding, wrong, left, telling, shown, below):
    """What can be said about what no known mistake explains, if possible about the case that is
    shown below.
    """
    example = message.first_to_show(seen, telling) if telling else None
    one = example if example in left else _described(exercise, seen, left)
    right = [s.case.aspect for k, s in enumerate(seen) if k not in wrong]
    right = [
        a
        for a in dict.fromkeys(right)
        if a not in {seen[k].case.aspect for k in wrong} and a not in (FLOAT16, FLOAT32)
    ]
    wrong_aspects = message.aspects_text(dict.fromkeys(seen[k].case.aspect for k in left))
    named = _explains(finding)
    lines = (
        []
        if named
        else [f"Tried and right: {', '.join(right)}. Tried and wrong: {wrong_aspects}."]
        if right
        else []
    )
    also = "also " * any(finding.sets)  # else what is named may be what does this
    plain_cases = [seen[k] for k in left if seen[k].case.aspect == PLAIN]
    same_kind = message.factors(plain_cases, [exercise.predict((), s.index) for s in plain_cases])
    general = same_kind or one_number_for_all(seen)
    said = [general] if general else _properties(exercise, seen, seen[one], left)
    alike = [k for k in left if not named or seen[k].case.aspect == seen[one].case.aspect]
    in_shape = all(_in_shape(exercise, seen[k]) for k in alike)
    if (
        general
        or in_shape
        and not message.tells_more(said)  # no more than that something is wrong
        or all(_properties(exercise, seen, seen[k], left) == said for k in alike)
    ):
        where = f" where it was tried with {seen[one].case.aspect}" * named
        lead = f"What it {also}does{where}:"
    elif below and one == example:
        lead = f"What it {also}does for the input below:"
    elif not named:
        lead = "What it does for one of the inputs:"
    else:
        lead = f"What it {also}does for one input ({seen[one].case.aspect}):"
    if said and not (shown and seen[one].failure):
        lines.append(f"{lead} {' '.join(said)}")
    return lines + [""] if lines else []
