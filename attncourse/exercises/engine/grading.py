"""check, grade, hint and status: what a notebook calls."""

import contextlib
import functools
from dataclasses import dataclass, replace

import numpy as np

from ..model import PLAIN
from ..sandbox.call import Clock, GuardFailed, call
from . import generic, message, ready, report
from .explain import Finding, Matcher, close_rows, explain, tolerance
from .find import exercises
from .formula import by_formula, in_letters
from .numbers import numbers_in
from .running import choose_terms, learners_copy, run_case
from .usable import (
    NOT_GIVEN,
    binds,
    draws_numbers,
    in_order,
    lacks_default,
    names_in,
    narrows,
    not_attempted,
    refuses_name,
    returns_something,
    source,
    unusable_function,
    usable_name,
    with_default,
    writes_inf,
    wrong_parameters,
)

SWEPT = (
    "A remark: {} doesn't tell the NaN that the exercise means from one that a bug makes. It's"
    " safer to find the entries that are meant by what makes them special, such as a score of -inf"
    " or a sum of 0, and to set only those."
)


@dataclass(frozen=True)
class Grade:
    """What is known about an answer: its status, the names of its mistakes, the message."""

    status: str  # "correct", "not attempted", "incorrect" or "error"
    mistakes: tuple
    message: str
    checked: bool = (
        True  # False if this machine can't: then the status says nothing about the answer
    )


def grade(name, function=NOT_GIVEN):
    """What check() prints, as data: .status, .mistakes and .message."""
    if callable(name) and isinstance(function, str):
        name, function = function, name
    exercise, problem = usable_name(name)
    if exercise is None:
        return Grade("error", (), message.wrap(problem))
    if function is None or function is Ellipsis:
        return _not_attempted(exercise)
    problem = unusable_function(exercise, function)
    if problem:
        return Grade("error", (), message.wrap(f"{exercise.name}: not checked. {problem}"))
    problem = exercise.cannot_check()
    if problem:
        return Grade(
            "not attempted",
            (),
            message.wrap(f"{exercise.name}: not checked. {problem}"),
            checked=False,
        )
    try:
        return grade_function(exercise, function)
    except GuardFailed as error:
        return Grade(
            "error",
            (),
            message.wrap(
                f"{exercise.name}: could not be checked. The safeguard that protects the"
                " notebook while your function runs failed here, which says nothing about your"
                f" answer. {error}"
            ),
            checked=False,
        )


def grade_function(exercise, function):
    """The grade of a callable."""
    by_name = in_order(exercise, function)
    if by_name is not function and _grade(exercise, by_name).status == "correct":
        return _grade(exercise, by_name, (generic.PARAMETER_ORDER,))
    return _grade(exercise, function)


def _grade(exercise, function, also=()):
    cases = exercise.all_cases()
    if lacks_default(exercise, function):
        return _grade(exercise, with_default(exercise, function), (*also, generic.NO_DEFAULT))
    bound = [i for i, case in enumerate(cases) if binds(function, case.args)]
    if not bound:
        problem = wrong_parameters(exercise, function)
        return Grade("error", (), message.wrap(f"{exercise.name}: not yet. {problem}"))
    clock = Clock(exercise.seconds)
    seen = []
    for i in bound:
        if cases[i].left_out:
            continue
        seen.append(run_case(exercise, function, cases[i], i, clock, seed=len(seen)))
        if len(seen) == 1 and not_attempted(function, seen[0]):
            return _not_attempted(exercise)
        if clock.over or _hopeless(seen[-1]):
            break
    return judge(exercise, function, seen, len(bound), clock, also)


def _hopeless(seen):
    """Whether more cases could add nothing."""
    ends = (
        "TimeUp",
        "Blocked",
        "SystemExit",
        "KeyboardInterrupt",
        "NameError",
        "UnboundLocalError",
        "RecursionError",
        "MemoryError",
    )
    return bool(seen.failure and seen.failure.kind in ends) or bool(seen.other and not seen.values)


def judge(exercise, function, seen, n_bound, clock, also):
    """The grade for what was seen, with the mistakes known beforehand."""
    cases = exercise.all_cases()
    if _hopeless(seen[-1]):
        return _hopeless_grade(exercise, seen, source(function))
    first = next((s for s in seen if s.index == exercise.screen()), seen[0])
    again, makers = run_again(exercise, function, first, clock)
    if _differ(first, again):
        finding = Finding([], generic={generic.RANDOM.name: generic.RANDOM})
        return Grade(
            "incorrect", message.names(finding), report.write(exercise, seen, finding, show=False)
        )
    choose_terms(exercise, seen)
    finding = explain(
        exercise,
        seen,
        (functools.partial(_by_numbers, function), functools.partial(by_formula, function, clock)),
    )
    if generic.INEXACT in finding.generic.values() and narrows(function):
        finding.generic["imprecise"] = generic.IMPRECISE
    if not finding.explained and not any(finding.sets):
        found = without_a_formula(exercise, seen, source(function))
        if found:
            finding.generic[found.name], finding.leftover = found, ()
    finding.generic.update((mistake.name, mistake) for mistake in also)
    if stores_inf_as_true(exercise, function, seen):
        finding.generic[generic.BOOLEAN_BIAS.name] = generic.BOOLEAN_BIAS
    for mistake in list(finding.generic.values()):
        if mistake.name.endswith("leaks out"):
            found = generic.leaks(
                mistake.name.split()[0],
                exercise.library,
                source(function),
                single_numbers(exercise),
                exercise.wide_inside,
                part=any(len(set(one.dtypes)) > 1 for one in seen if mistake.name in one.marks),
            )
            finding.generic[mistake.name] = found
    if makers == [ready.REFERENCE] or makers and makes_the_answer(exercise, function, first, clock):
        right = all(
            report.matches(exercise, one) and not one.marks
            for one in seen
            if one.case.dtype == "float64" or one.failure
        )
        if right:
            finding = Finding(
                [], generic={"ready-made": ready.ready_made(makers[0], True)}, explained=True
            )
            return Grade(
                "incorrect",
                message.names(finding),
                report.write(exercise, seen, finding, show=False),
            )
        finding.generic["ready-made"] = ready.ready_made(makers[0], False)
    elif any(isinstance(arg, np.ndarray) for arg in first.case.args) and any(
        np.shares_memory(a, b) for a, b in zip(first.arrays, again.arrays)
    ):
        finding.generic[generic.ONE_BUFFER.name] = generic.ONE_BUFFER
    if n_bound < len(cases):
        finding.generic[generic.NO_AXIS.name] = generic.NO_AXIS
    elif refuses_name(exercise, function, seen, clock):
        finding.generic[generic.RENAMED.name] = generic.RENAMED
    for audit in exercise.audits:
        own = Clock(exercise.seconds)  # what ran out of time in an audit would count as passed
        found = audit(
            lambda *args: call(function, list(args), own, around=exercise.around, silent=True)
        )
        if found:
            finding.generic[found.name] = found
    if finding.correct and not finding.generic:
        return _correct(exercise, cases, source(function))
    screen = exercise.screen()
    failed = any(s.failure for s in seen if s.index == screen)
    status = "error" if failed else "incorrect"
    letters = "" if finding.explained or finding.sets else in_letters(exercise, function, clock)
    return Grade(
        status, message.names(finding), report.write(exercise, seen, finding, letters=letters)
    )


def without_a_formula(exercise, seen, code):
    """A mistake if the answer is the same number throughout, or near the right one by chance."""
    same = report.one_number_for_all(seen)
    if same:
        return replace(generic.SAME_FOR_ALL, does=same)
    if not draws_numbers(code):
        return None
    plain = [one for one in seen if one.case.aspect == PLAIN]
    near = [
        len(one.values) == len(exercise.predict((), one.index))
        and all(
            a.shape == b.shape and np.allclose(a.astype(float), b.astype(float), rtol=0.2)
            for a, b in zip(one.values, exercise.predict((), one.index))
        )
        for one in plain
    ]
    most = near and 2 * sum(near) >= len(near)  # an estimate from few numbers is far off
    return generic.ESTIMATED if most else None


def single_numbers(exercise):
    """The parameters that are single numbers, as Python has them."""
    pairs = zip(exercise.parameters, exercise.all_cases()[0].args)
    return [name for name, arg in pairs if isinstance(arg, (int, float))]


def stores_inf_as_true(exercise, function, seen):
    """Whether a wrong boolean mask comes from code that writes -inf."""
    boolean = exercise.dtype == "bool" and all(set(one.dtypes) == {"bool"} for one in seen)
    wrong = boolean and not all(report.matches(exercise, one) for one in seen)
    return wrong and writes_inf(source(function))


def _by_numbers(function, exercise, seen, finding):
    """(matcher, finding) if the numbers in the learner's code explain more than those of the
    entries.
    """
    numbers = numbers_in(function)
    if not numbers or not any(mistake.numbers for mistake in exercise.mistakes):
        return None
    matcher = Matcher(exercise.with_numbers(numbers), seen)
    second = matcher.finding()
    better = second.explained or bool(second.sets) and len(second.leftover) < len(finding.leftover)
    return (matcher, second) if better else None


def run_again(exercise, function, first, clock, changed=False):
    """(what is seen of a second call, the ready-made functions that may have made its answer)."""
    watch = ready.Watch(exercise, changed)

    @contextlib.contextmanager
    def around():
        with exercise.around(), watch.around(function):
            yield

    again = run_case(
        exercise, watch.of(function), first.case, first.index, clock, seed=1000, around=around
    )
    if watch.seen_reference:
        return again, [ready.REFERENCE]
    return again, watch.makers(exercise, learners_copy(exercise, first.case), first.values)


def makes_the_answer(exercise, function, first, clock):
    """Whether the answer changes with what a ready-made function gives back."""
    again, _ = run_again(exercise, function, first, clock, changed=True)
    return not again.failure and _differ(first, again)


def _differ(first, again):
    """Whether two calls with the same input gave something else."""
    if not first.values or len(again.values) != len(first.values):
        return bool(first.values) != bool(again.values)
    return not all(
        a.shape == b.shape and close_rows(a, b, tolerance(first.case, d, False)).all()
        for a, b, d in zip(again.values, first.values, first.dtypes)
    )


def _not_attempted(exercise):
    text = (
        f"{exercise.name}: not attempted yet. Replace the ... in the cell above; "
        f'hint("{exercise.name}") gives a first step.'
    )
    return Grade("not attempted", (), message.wrap(text))


def _correct(exercise, cases, code):
    aspects = message.aspects_text(dict.fromkeys(case.aspect for case in cases))
    sweeps = names_in(code) & {"nan_to_num", "isnan", "nansum"}
    remark = f"\n\n{message.wrap(SWEPT.format(min(sweeps)))}" if sweeps else ""
    return Grade(
        "correct", (), message.wrap(f"{exercise.name}: correct. Tried: {aspects}.") + remark
    )


def _hopeless_grade(exercise, seen, code=""):
    last = seen[-1]
    lines = [f"{exercise.name}: not yet."]
    if last.failure:
        lines += [
            "",
            *message.error_lines(last.failure, exercise),
            *message.printed_lines(last.printed),
        ]
        lines += report.before_the_end(exercise, seen[:-1])
        ended = {"TimeUp": ("endless loop",)}.get(last.failure.kind, ())
        return Grade("error", ended, message.wrap("\n".join(lines)))
    if last.other == "None":
        none = generic.NONE_RETURNED if returns_something(code) else generic.NO_RETURN
        mistake = generic.PRINTED if last.printed.strip() else none
        lines += [
            "",
            f"What it does: {mistake.does}",
            f"The mistake: {mistake.name}. {mistake.why}",
            "",
            f"Ask yourself: {mistake.ask}",
        ]
        return Grade("incorrect", (mistake.name,), message.wrap("\n".join(lines)))
    expected = f"({', '.join(exercise.outputs)})" if exercise.outputs else "one array or number"
    if exercise.in_words:
        expected = "a list of words"
    if exercise.in_list:
        expected = f"a list of {len(exercise.predict((), last.index))} arrays"
    lines += [
        "",
        f"It returns {last.other}, but it should return {expected}.",
        *message.printed_lines(last.printed),
    ]
    known = [
        mistake
        for mistake in last.marks.values()
        if mistake
        in (generic.PARTS_MISSING, generic.NONE_AS_A_PART, generic.ENTRIES_MISSING, generic.NO_LIST)
    ]
    lines += [
        line
        for m in known
        for line in (f"The mistake: {m.name}. {m.why}", "", f"Ask yourself: {m.ask}")
    ]
    return Grade("incorrect", tuple(m.name for m in known), message.wrap("\n".join(lines)))


# ---------------------------------------------------------------- the session

_hints_given = {}
_done = set()


def check(name, function=NOT_GIVEN):
    """Print what is right or wrong about an answer, which mistake it is, and what a right kernel
    would cost.
    """
    result = grade(name, function)
    print(result.message)
    if result.status == "correct":
        name, function = (function, name) if isinstance(function, str) else (name, function)
        _done.add(name)
        text = costs(exercises()[name], function)
        if text:
            print(f"\n{text}")


def costs(exercise, function):
    """What a right answer would cost on a chip, as text; the answer counts as right whatever
    happens here.
    """
    if exercise.costs is None:
        return ""
    clock = Clock(exercise.seconds)
    try:
        text = exercise.costs(
            lambda *args: call(function, list(args), clock, around=exercise.around, silent=True)
        )
    except Exception as error:
        text = (
            f"What it would cost on a chip couldn't be worked out. {type(error).__name__}: {error}"
        )
    return message.wrap(text)


def hint(name):
    """Print the next hint of an exercise; after the last one, print it again."""
    exercise, problem = usable_name(name)
    if exercise is None:
        print(message.wrap(problem))
        return
    given = min(_hints_given.get(name, 0) + 1, len(exercise.hints))
    _hints_given[name] = given
    print(hint_text(exercise, given))


def hint_text(exercise, number):
    """What hint() prints for the hint of this number, counted from 1."""
    last = ", the last" if number == len(exercise.hints) else ""
    return message.wrap(
        f"{exercise.name}, hint {number} of {len(exercise.hints)}{last}: "
        f"{exercise.hints[number - 1]}"
    )


def status(part=None):
    """Print which exercises are done in this session, of one part of the book or of all."""
    known = exercises().values()
    parts = dict.fromkeys(exercise.part for exercise in known)
    if part is not None and part not in parts:
        print(message.wrap(f'There is no part called "{part}". The parts are: {"; ".join(parts)}.'))
        return
    chosen = [exercise for exercise in known if part in (None, exercise.part)]
    width = max(len(exercise.name) for exercise in chosen)
    for name in dict.fromkeys(exercise.part for exercise in chosen):
        print(name)
        for exercise in (e for e in chosen if e.part == name):
            print(f"  {exercise.name:{width}}  {'done' if exercise.name in _done else 'not done'}")
    print(f"{sum(e.name in _done for e in chosen)} of {len(chosen)} done.")
