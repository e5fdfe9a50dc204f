"""The proof by table: which known mistakes are recognised, alone and in pairs, and which right
answers are refused.

A mistake's answer here is the reference itself, changed by the mistake; tests/exercise_answers/
holds answers written the way learners write them.
"""

import importlib.util
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..model import Case, Failure, Words, arrays_of, fresh_copy
from ..sandbox.call import Clock, call_unguarded
from . import generic, message
from .explain import explain
from .find import exercises
from .grading import grade
from .running import plain, run_case

ANSWERS = Path(__file__).resolve().parents[3] / "tests" / "exercise_answers"


def simulated(exercise, hypothesis):
    """A learner's function that makes these mistakes, in the input's own dtype and kind."""

    def function(*args):
        arrays = [plain(arg) for arg in args]
        if exercise.in_words:
            arrays = [Words(arg) if isinstance(arg, list) else arg for arg in arrays]
        dtypes = [_dtype(arg) for arg in args if _dtype(arg)]
        case = Case(
            "",
            tuple(arrays),
            torch_dtype=dtypes[0] if exercise.library == "torch" and dtypes else "",
        )
        # half-precision tensors are computed in float32 or wider: only NumPy answers stay narrow
        result = exercise.apply(hypothesis, case, fresh_copy(arrays, exercise.library == "torch"))
        if exercise.in_words:
            return message.in_words(case, result).tolist()
        if exercise.library == "torch":
            return _tensors(result, _widest([arg for arg in args if hasattr(arg, "detach")]))
        return cast(result, args) if exercise.dtype == "input" else result

    return function


def _dtype(arg):
    """The name of a floating tensor's dtype, else ''."""
    return (
        str(arg.dtype).removeprefix("torch.")
        if hasattr(arg, "detach") and arg.is_floating_point()
        else ""
    )


def _widest(tensors):
    """The first of the widest floating tensors, or the first tensor."""
    return max(tensors, key=lambda one: one.is_floating_point() * one.dtype.itemsize)


def _tensors(result, like):
    import torch

    if isinstance(result, tuple):
        return tuple(_tensors(part, like) for part in result)
    tensor = torch.from_numpy(np.array(result))
    return (tensor.to(like.dtype) if tensor.is_floating_point() else tensor).to(like.device)


def cast(result, args):
    """The result in the width of the floating arguments."""
    if isinstance(result, tuple):
        return tuple(cast(part, args) for part in result)
    found = [array.dtype for array in arrays_of(args) if array.dtype.kind == "f"]
    result = np.asarray(result)
    return result.astype(np.result_type(*found)) if found and result.dtype.kind == "f" else result


def names_of(exercise, hypothesis):
    return {exercise.mistakes[i].name for i, _ in hypothesis}


FORM = {generic.AXIS_KEPT.name, generic.AXIS_DROPPED.name}


def verdict(exercise, hypothesis):
    """What `check` calls the answer of a hypothesis.

    "exact": these mistakes. "either": these or others that predict the same. "simpler": fewer
    mistakes that predict the same, except for an axis of length 1. "blank": no name, for an answer
    that is NaN throughout or an error nearly everywhere, which proves no two mistakes. Anything
    else: what was said instead.
    """
    function, clock = simulated(exercise, hypothesis), Clock()
    seen = [
        run_case(exercise, function, case, i, clock, i, call_unguarded)
        for i, case in enumerate(exercise.all_cases())
    ]
    finding = explain(exercise, seen)
    names = names_of(exercise, hypothesis)
    found = [{mistake.name for mistake in chosen} for chosen in finding.sets]
    if not message.names(finding) and is_blank(exercise, hypothesis):
        return "blank"
    if set(message.names(finding)) == names:  # one of them may be named by its aspect
        return "exact"
    if finding.generic or names not in found:
        fewer = finding.explained and set(finding.generic) <= FORM and len(found[0]) < len(names)
        return "simpler" if fewer and not finding.correct else f"called {message.names(finding)}"
    return "exact" if len(found) == 1 else "either"


def is_blank(exercise, hypothesis):
    """Whether 9 of 10 answers of these mistakes are an error of a learner's, or NaN throughout."""
    answers = [exercise.predict(hypothesis, i) for i in range(len(exercise.all_cases()))]
    if any(isinstance(answer, Failure) and answer.kind in PROGRAMMING for answer in answers):
        return False
    blank = [
        not isinstance(answer, tuple) or all(np.isnan(part).all() for part in answer)
        for answer in answers
    ]
    return sum(blank) >= 0.9 * len(blank)


def prove_singles(exercise):
    """{mistake: verdict}; the first that is not exact, if it has variants."""
    found = {}
    for hypothesis in exercise.hypotheses(1):
        name = next(iter(names_of(exercise, hypothesis)))
        if found.get(name, "exact") == "exact":
            found[name] = verdict(exercise, hypothesis)
    return found


def pairs_of(exercise, limit=None):
    """The pairs of mistakes that compose, in their first variants, evenly thinned to `limit`."""
    pairs = [h for h in exercise.hypotheses(2) if all(j == 0 for _, j in h)]
    if limit is None or len(pairs) <= limit:
        return pairs
    return [pairs[n * len(pairs) // limit] for n in range(limit)]


def prove_pairs(exercise, limit=None):
    """{pair of names: verdict}."""
    return {
        tuple(sorted(names_of(exercise, h))): verdict(exercise, h)
        for h in pairs_of(exercise, limit)
    }


@dataclass(frozen=True)
class Entry:
    """An answer that a learner might give, and what must be said about it."""

    exercise: str
    function: object
    right: bool
    names: tuple = ()

    @property
    def label(self):
        return f"{self.exercise}-{getattr(self.function, '__name__', 'answer')}"


class Answers(list):
    """The entries of one file in tests/exercise_answers, collected by decorators."""

    def __init__(self, exercise):
        self.exercise = exercise

    def right(self, function=None):
        """An answer that must be accepted."""
        return self._add(True, (), function)

    def wrong(self, *names, function=None):
        """An answer that must be refused with exactly these names; without any if none is given."""
        return self._add(False, names, function)

    def _add(self, right, names, function):
        def add(function):
            self.append(Entry(self.exercise, function, right, names))
            return function

        return add if function is None else add(function)


def load_answers():
    """The answers in tests/exercise_answers: {exercise: [Entry, ...]}."""
    found = defaultdict(list)
    if not ANSWERS.is_dir():
        return found
    for path in sorted(ANSWERS.glob("*/*.py")):
        spec = importlib.util.spec_from_file_location(f"exercise_answers_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except ModuleNotFoundError:  # torch or Triton is not installed
            continue
        found[path.stem] += module.ANSWERS
    return found


def false_alarms(name, answers):
    """(known right answers, the refused ones among them)."""
    right = [entry for entry in answers.get(name, ()) if entry.right]
    return len(right), sum(grade(name, entry.function).status != "correct" for entry in right)


PROGRAMMING = (
    "NameError",
    "UnboundLocalError",
    "AttributeError",
    "TypeError",
    "KeyError",
    "ImportError",
)


def problems(exercise):
    """Sentences about what is wrong with an entry itself: missing axes, changes that cannot run."""
    cases = exercise.all_cases()
    for name, arg in zip(exercise.parameters, cases[0].args):
        if isinstance(arg, np.ndarray) and len(exercise.labels(name)) == 0:
            yield f"{name} has no axes: nothing says what its last axes run over"
    for i, mistake in enumerate(exercise.mistakes):
        failures = [
            exercise.predict(((i, j),), k)
            for j in range(len(mistake.variants))
            for k in range(len(cases))
        ]
        broken = next(
            (f for f in failures if isinstance(f, Failure) and f.kind in PROGRAMMING), None
        )
        if broken:
            yield f"{mistake.name}: its change raises {broken.kind}: {broken.text}"


HEADER = (
    "exercise",
    "mistakes",
    "alone",
    "pairs",
    "as a pair",
    "same as other",
    "misnamed",
    "right",
    "alarms",
)
COLUMNS = "{:26}{:>9}{:>6}{:>6}{:>10}{:>14}{:>9}{:>6}{:>7}"
SAMPLE = 40  # pairs
RECORD = ANSWERS.parent / "proofs.txt"


def table(chosen=(), limit=SAMPLE):
    """The proof as text, one line per exercise; then what can't be told apart, and why."""
    answers = load_answers()
    lines, remarks = [COLUMNS.format(*HEADER)], []
    for exercise in exercises().values():
        if chosen and exercise.name not in chosen:
            continue
        singles, pairs = prove_singles(exercise), prove_pairs(exercise, limit)
        alarms = false_alarms(exercise.name, answers)
        lines.append(COLUMNS.format(exercise.name, *counts(singles, pairs), *alarms))
        remarks += [
            f"{exercise.name}: {' and '.join([k] if isinstance(k, str) else k)}: {v}"
            for found in (singles, pairs)
            for k, v in found.items()
            if v != "exact"
        ]
        remarks += [
            f"{exercise.name}: error of the entry: {problem}" for problem in problems(exercise)
        ]
    return "\n".join(lines + [""] * bool(remarks) + remarks)


def counts(singles, pairs):
    """The numbers of a line between the exercise's name and its right answers."""
    alone = sum(v == "exact" for v in singles.values())
    exact = sum(v == "exact" for v in pairs.values())
    same = sum(v in ("either", "simpler") for v in pairs.values())
    misnamed = sum(v.startswith("called") for v in pairs.values())
    return len(singles), alone, len(pairs), exact, same, misnamed


def recorded():
    """{exercise: its numbers} of the table in tests/proofs.txt."""
    rows = [line.split() for line in RECORD.read_text(encoding="utf-8").splitlines()[1:]]
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


def record(chosen=()):
    """Write the table's numbers into tests/proofs.txt; those of other exercises stay as they
    were."""
    proofs = recorded() if RECORD.exists() else {}
    answers = load_answers()
    for exercise in exercises().values():
        if not chosen or exercise.name in chosen:
            found = counts(prove_singles(exercise), prove_pairs(exercise, SAMPLE))
            proofs[exercise.name] = (*found, *false_alarms(exercise.name, answers))
            exercise.forget()
    rows = [COLUMNS.format(name, *proofs[name]) for name in exercises() if name in proofs]
    RECORD.write_text("\n".join([COLUMNS.format(*HEADER), *rows, ""]), encoding="utf-8")
