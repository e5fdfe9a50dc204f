"""The proof by table: which known mistakes are recognised, alone and in pairs, and false alarms.

A mistake's answer here is the reference itself, changed by the mistake; tests/exercise_answers/
holds answers written the way learners write them.
"""

import importlib.util
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from .grading import exercises, grade, grade_function

ANSWERS = Path(__file__).resolve().parents[2] / "tests" / "exercise_answers"


def simulated(exercise, hypothesis):
    """A learner's function that makes these mistakes, in the input's own dtype."""
    def function(*args):
        case = exercise.all_cases()[0]
        result = exercise.apply(hypothesis, _like(args, case), list(args))
        return cast(result, args) if exercise.dtype == "input" else result

    return function


def _like(args, case):
    """A stand-in for the case, to tell the steps the dtype of these arguments."""
    return type(case)(case.aspect, args)


def cast(result, args):
    """The result in the width of the floating arguments."""
    if isinstance(result, tuple):
        return tuple(cast(part, args) for part in result)
    found = [arg.dtype for arg in args if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]
    result = np.asarray(result)
    return result.astype(np.result_type(*found)) if found and result.dtype.kind == "f" else result


def names_of(exercise, hypothesis):
    return {exercise.mistakes[i].name for i, _ in hypothesis}


def said(result, names):
    """Whether a grade names exactly these mistakes, or an alternative that holds them."""
    found = set(result.mistakes)
    if found == names:
        return "exact"
    if any(" or " in name for name in found):
        options = {part for name in found for whole in name.split(" or ") for part in whole.split(" with ")}
        if names <= options:
            return "either"
    return "no"


def prove_singles(exercise):
    """{mistake: 'exact', 'either' or what was said instead}, over all variants."""
    found = {}
    for hypothesis in exercise.hypotheses(1):
        names = names_of(exercise, hypothesis)
        result = grade_function(exercise, simulated(exercise, hypothesis))
        verdict = said(result, names)
        name = next(iter(names))
        if found.get(name, "exact") == "exact":
            found[name] = verdict if verdict != "no" else f"{result.status}: {result.mistakes}"
    return found


def first_variants(exercise):
    """The pairs of mistakes, each in its first variant."""
    return [h for h in exercise.hypotheses(2) if all(j == 0 for _, j in h)]


def prove_pairs(exercise, limit=None):
    """{pair: verdict} for the pairs of first variants, evenly thinned to `limit`."""
    pairs = first_variants(exercise)
    if limit and len(pairs) > limit:
        pairs = [pairs[int(n * len(pairs) / limit)] for n in range(limit)]
    found = {}
    for hypothesis in pairs:
        names = names_of(exercise, hypothesis)
        result = grade_function(exercise, simulated(exercise, hypothesis))
        verdict = said(result, names)
        found[tuple(sorted(names))] = verdict if verdict != "no" else f"{result.status}: {result.mistakes}"
    return found


def load_answers():
    """The answers in tests/exercise_answers: {exercise: [(function, kind, names)]}."""
    found = defaultdict(list)
    if not ANSWERS.is_dir():
        return found
    for path in sorted(ANSWERS.glob("[a-z]*.py")):
        spec = importlib.util.spec_from_file_location(f"exercise_answers_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        for entry in module.ANSWERS:
            found[entry.exercise].append(entry)
    return found


def false_alarms(name, answers):
    """(known right answers, those of them that are refused)."""
    right = [entry for entry in answers.get(name, ()) if entry.right]
    return len(right), sum(grade(name, entry.function).status != "correct" for entry in right)


HEADER = ("exercise", "mistakes", "alone", "pairs", "as a pair", "right", "alarms")


def table(chosen=(), limit=60, details=True):
    """The proof as text, an exercise a line; then what is not told apart."""
    answers = load_answers()
    lines = ["{:26}{:>9}{:>8}{:>8}{:>11}{:>8}{:>8}".format(*HEADER)]
    remarks = []
    for exercise in exercises().values():
        if chosen and exercise.name not in chosen:
            continue
        singles, pairs = prove_singles(exercise), prove_pairs(exercise, limit)
        good = [sum(v in ("exact", "either") for v in found.values()) for found in (singles, pairs)]
        right, alarms = false_alarms(exercise.name, answers)
        lines.append(f"{exercise.name:26}{len(singles):>9}{good[0]:>8}{len(pairs):>8}{good[1]:>11}"
                     f"{right:>8}{alarms:>8}")
        remarks += [f"{exercise.name}: {k}: {v}" for found in (singles, pairs) for k, v in found.items()
                    if v != "exact"]
    if details and remarks:
        lines += ["", "Not named exactly:"] + remarks
    return "\n".join(lines)


# ---------------------------------------------------------------- the catalogue

def catalogue():
    """The catalogue of mistakes as Markdown, by part and exercise."""
    lines = ["# The catalogue of mistakes", ""]
    part = None
    for exercise in exercises().values():
        if exercise.part != part:
            part = exercise.part
            lines += [f"## {part}", ""]
        lines += [f"### `{exercise.name}{exercise.signature}`", "", exercise.text, ""]
        for mistake in exercise.mistakes:
            lines += [f"- **{sentence(mistake.name)}.** {mistake.does} *Why:* {mistake.why} "
                      f"*Question:* {mistake.ask}"]
        lines.append("")
    return "\n".join(lines)


def sentence(name):
    return name[0].upper() + name[1:]
