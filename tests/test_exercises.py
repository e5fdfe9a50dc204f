"""The exercises' checker: right answers are accepted, wrong ones named, and nothing else happens."""

import numpy as np
import pytest

from attnlib.exercises import grade
from attnlib.exercises.engine import catalogue
from attnlib.exercises.engine.grading import exercises
from attnlib.exercises.model import PARTS
from attnlib.exercises.engine.prove import load_answers, prove_pairs, prove_singles

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


@pytest.mark.parametrize("name", NAMES)
def test_enough_right_and_wrong_answers(name):
    if exercises()[name].missing():
        pytest.skip(exercises()[name].missing())
    right = [e for e in ENTRIES if e.exercise == name and e.right]
    assert len(right) >= 3
    assert len(exercises()[name].mistakes) >= 6
    assert len(exercises()[name].hints) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_every_mistake_is_named_alone(name):
    found = prove_singles(exercises()[name])
    assert {mistake: said for mistake, said in found.items() if said != "exact"} == {}


@pytest.mark.parametrize("name", NAMES)
def test_pairs_are_named_as_pairs(name):
    found = prove_pairs(exercises()[name], limit=25)
    unnamed = [pair for pair, said in found.items() if said == "called ()"]
    misnamed = {pair: said for pair, said in found.items()
                if said not in ("exact", "either", "simpler", "blank") and pair not in unnamed}
    assert misnamed == {}
    assert len(unnamed) <= 1, unnamed
    exact = sum(said == "exact" for said in found.values())
    assert exact >= 0.6 * len(found), found


def test_mistakes_are_written_as_sentences():
    for exercise in exercises().values():
        for mistake in exercise.mistakes:
            where = exercise.name, mistake.name
            assert mistake.does.endswith("."), where
            assert mistake.why.endswith("."), where
            assert mistake.ask[0].isupper() and mistake.ask.endswith("?"), where
            assert " or " not in mistake.name and " with " not in mistake.name, where
        names = [mistake.name for mistake in exercise.mistakes]
        assert len(names) == len(set(names)), exercise.name


@pytest.mark.parametrize("part", PARTS)
def test_catalogue_is_current_and_names_every_mistake(part, request):
    stored = (request.config.rootpath / "chapters" / "mistakes" / catalogue.file_of(part)).read_text(encoding="utf-8")
    assert stored == catalogue.page(part), "python -m attnlib.exercises catalogue chapters/mistakes"
    for exercise in exercises().values():
        if exercise.part == part:
            assert f"`{exercise.name}{exercise.signature}`" in stored
            assert all(catalogue.escaped(mistake.name) in stored for mistake in catalogue.mistakes(exercise))


def test_what_is_right_is_so_but_for_the_other_mistakes():
    def dot_score(query, key):
        return np.array([[query @ key / np.sqrt(len(query))]])

    found = grade("dot_score", dot_score)
    assert found.mistakes == ("scaled already", "axis kept")
    assert "Apart from the other mistakes, the values are right" in " ".join(found.message.split())
