"""The exercises' checker: right answers are accepted, wrong ones named, and nothing else happens."""

import pytest

from attnlib.exercises import grade
from attnlib.exercises.grading import exercises
from attnlib.exercises.proof import load_answers, prove_pairs, prove_singles

ENTRIES = [entry for entries in load_answers().values() for entry in entries]
NAMES = list(exercises())


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.right], ids=lambda e: e.label)
def test_right_answer_is_accepted(entry):
    result = grade(entry.exercise, entry.function)
    assert result.status == "correct", result.message


@pytest.mark.parametrize("entry", [e for e in ENTRIES if not e.right], ids=lambda e: e.label)
def test_wrong_answer_is_named(entry):
    result = grade(entry.exercise, entry.function)
    assert result.status in ("incorrect", "error"), result.message
    assert set(result.mistakes) == set(entry.names), result.message
    assert all(len(line) <= 76 for line in result.message.split("\n")), result.message
