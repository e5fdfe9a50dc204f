"""Puts a grade's message together: what was wrong, for which input, and what to ask oneself."""

from ..model import FLOAT16, FLOAT32, PLAIN
from . import generic, message
from .explain import close_rows, shown_by, tolerance


def write(exercise, seen, finding, show=True, letters=""):
    """The message; only the first mistake is said where there are more than two, or too many lines."""
    named = len(message.common(finding.sets)[0]) + len(finding.generic)
    text = _text(exercise, seen, finding, show, letters, first=named > 2)
    if text.count("\n") >= message.MOST_LINES:
        text = _text(exercise, seen, finding, show, letters, first=True)
    if text.count("\n") >= message.MOST_LINES:
        text = _text(exercise, seen, finding, False, letters, first=True)
    return text


def _text(exercise, seen, finding, show, letters, first):
    lines = [f"{exercise.name}: not yet.", ""]
    wrong = _wrong(exercise, seen)
    screen = next((s for s in seen if s.index == exercise.screen()), seen[0])
    named = bool(finding.sets and finding.sets[0]) or bool(finding.generic)
    failed = [s for s in seen if s.failure]
    shown = screen.failure or (failed[0].failure if failed and not named else None)
    telling = _telling(exercise, seen, finding, wrong)
    if shown and show and telling:  # the shapes in its text are those of the input that is shown
        shown = seen[message.first_to_show(seen, telling)].failure or shown
    if shown:
        lines += [*message.error_lines(shown, exercise, named), ""]
    lines += message.mistake_lines(finding, first)
    if letters:
        lines += [f"What it does: {letters}", ""]
    elif not (first and named):
        lines += _unexplained(exercise, seen, finding, wrong, shown)
    if show:
        text = message.smallest(exercise, seen, telling)
        lines += [text, ""] if text else []
    lines += message.questions(finding, 1 if first else 2)
    lines += message.printed_lines(seen[0].printed)
    return message.wrap("\n".join(lines).strip("\n"))


def _telling(exercise, seen, finding, wrong):
    """The wrong cases that show what is named: every named mistake if one case can."""
    chosen = finding.sets[0] if finding.sets else ()
    numbers = [exercise.mistakes.index(mistake) for mistake in chosen if mistake in exercise.mistakes]

    def shows(k):
        return all(any(shown_by(exercise, ((i, j),), seen[k])
                       for j in range(len(exercise.mistakes[i].variants))) for i in numbers)

    explained = [k for k in wrong if seen[k].case.aspect not in finding.leftover]
    return [k for k in explained if shows(k)] or explained or wrong


def _wrong(exercise, seen):
    """The numbers of the cases whose answer is not the expected one, in any respect."""
    return [k for k, one in enumerate(seen) if one.marks or not matches(exercise, one)]


def matches(exercise, one):
    """Whether the values of one case are the expected ones."""
    return bool(one.values) and all(
        a.shape == b.shape and close_rows(a, b, tolerance(one.case, d, one.case.extreme)).all()
        for a, b, d in zip(one.values, exercise.predict((), one.index), one.dtypes))


def _unexplained(exercise, seen, finding, wrong, shown):
    """What can be said of what no known mistake explains."""
    if finding.explained:
        return []
    left = [k for k in wrong if seen[k].case.aspect in finding.leftover]
    covered = {m.name for m in finding.generic.values()}
    known = {**generic.ASPECTS, **exercise.aspects}
    left = [k for k in left if getattr(known.get(seen[k].case.aspect), "name", None) not in covered]
    if not left:
        return []
    one = max(left, key=lambda k: (seen[k].index == exercise.screen(), -k))
    right = [s.case.aspect for k, s in enumerate(seen) if k not in wrong]
    right = [a for a in dict.fromkeys(right)
             if a not in {seen[k].case.aspect for k in wrong} and a not in (FLOAT16, FLOAT32)]
    wrong_aspects = message.aspects_text(dict.fromkeys(seen[k].case.aspect for k in left))
    lines = [] if finding.sets and finding.sets[0] else [
        f"Right for: {', '.join(right)}. Wrong for: {wrong_aspects}."] if right else []
    lead = f"What it does, for {seen[one].case.aspect}:" if finding.sets else "What it does:"
    plain_cases = [seen[k] for k in left if seen[k].case.aspect == PLAIN]
    same_kind = message.factors(plain_cases, [exercise.predict((), s.index) for s in plain_cases])
    wanted = exercise.predict((), seen[one].index)
    said = [same_kind] if same_kind else message.properties(seen[one], wanted, exercise.part_names(wanted))
    if said and not (shown and seen[one].failure):
        lines.append(f"{lead} {' '.join(said)}")
    return lines + [""] if lines else []
