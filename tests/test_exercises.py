"""The exercises' checker: right answers are accepted, wrong ones named, and nothing else happens."""

import dataclasses
import math

import numpy as np
import pytest

from attnlib.exercises import grade
from attnlib.exercises.engine import catalogue
from attnlib.exercises.engine.find import exercises
from attnlib.exercises.engine import prove
from attnlib.exercises.engine.numbers import read_number
from attnlib.exercises.engine.prove import load_answers, problems, prove_pairs, prove_singles
from attnlib.exercises.model import PARTS, Mistake

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
    assert all(name.count(" or ") <= 1 for name in result.mistakes), result.message
    lines = result.message.split("\n")
    assert all(len(line) <= 76 for line in lines) and len(lines) <= 25, result.message


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
def test_entry_has_no_error_of_its_own(name):
    assert list(problems(exercises()[name])) == []


def test_table_reports_errors_of_an_entry(monkeypatch):
    misspelt = Mistake("misspelt", change={"axis": lambda axis, scores: scroes}, does="D.", why="W.", ask="A?")  # noqa: F821
    broken = dataclasses.replace(exercises()["softmax"], axes={}, mistakes=(misspelt,))
    monkeypatch.setattr(prove, "exercises", lambda: {"softmax": broken})
    monkeypatch.setattr(prove, "load_answers", dict)
    found = prove.table()
    assert "softmax: error of the entry: scores has no axes" in found
    assert "softmax: error of the entry: misspelt: its change raises NameError" in found
    assert "blank" not in found


def test_a_number_is_positive_where_both_signs_fit():
    assert read_number(lambda number: abs(number ** 2 - 4)) == pytest.approx(2)
    assert read_number(lambda number: abs(number + 4)) == pytest.approx(-4)
    assert read_number(lambda number: abs(number + 4), negative=False) is None


def scores_by_torch_habits(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


@pytest.mark.parametrize("name, function, said", [
    ("raw_scores", lambda query, key: query @ key.mT / math.sqrt(query.size(-1)), "x.shape[-1]"),
    ("raw_scores", scores_by_torch_habits, "np.swapaxes(x, -1, -2)"),
    ("softmax", lambda scores, axis=-1: np.exp(scores).sum(axis, keepdim=True), "NumPy calls it keepdims"),
    ("softmax", lambda scores, axis=-1: scores.max(dim=axis), "NumPy calls it axis"),
    ("softmax", lambda scores, axis=-1: scores.unsqueeze(0), "NumPy has x[..., None]"),
    ("causal_mask", lambda n_q, n_k: np.ones(n_q)[n_k + n_q] > 0, "one beyond the end"),
    ("merge_stats", lambda max_a, sum_a, max_b, sum_b: (max(max_a, max_b), sum_a + sum_b), "np.maximum and np.minimum"),
])
def test_habits_of_torch_are_told_in_numpys_words(name, function, said):
    assert said in " ".join(grade(name, function).message.split())



def test_keepdims_is_not_mentioned_where_nothing_is_reduced():
    def causal_mask(n_q, n_k):
        return np.arange(n_q) >= np.arange(n_k)

    assert "keepdims" not in grade("causal_mask", causal_mask).message


def test_dtype_of_the_smallest_example_is_said_where_it_matters():
    found = grade("softmax_row", lambda scores: (np.exp(scores - scores.max()) / np.exp(
        scores - scores.max()).sum()).astype(np.float32)).message
    assert "(float64)" in found and "dtype float32" in found


def test_one_number_of_short_vectors_is_told_as_a_formula():
    def dot_score(query, key):
        total = 1.0
        for i in range(len(query) - 1):
            total += query[i] * key[i]
        return total

    assert "query[0]·key[0] + 1; it should be query[0]·key[0]" in " ".join(grade("dot_score", dot_score).message.split())


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


def test_of_two_mistakes_each_is_told_as_it_would_be_alone():
    def dot_score(query, key):
        return np.array([[query @ key / np.sqrt(len(query))]])

    found = grade("dot_score", dot_score)
    assert found.mistakes == ("scaled already", "axis kept")
    assert "What the second does alone: The values are right" in " ".join(found.message.split())
    assert "What it does:" not in found.message


def test_rows_of_cosines_are_not_said_to_sum_to_1():
    def cosine_scores(query, key):
        lengths = np.linalg.norm(query) * np.linalg.norm(key)
        return (query @ key.mT / (lengths or 1)).astype(query.dtype)

    found = grade("cosine_scores", cosine_scores)
    assert found.mistakes == ("one length for all",)
    assert "sum to 1" not in " ".join(found.message.split())


def test_numbers_that_nearly_agree_are_shown_apart():
    def ulp_error(computed, exact):
        return (computed - exact) / np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)

    found = grade("ulp_error", ulp_error).message
    assert "computed = [1.5, 3.250000238, 4.999999046] (float32)" in found and "exact = [1.5, 3.25, 5.0000001]" in found


@pytest.mark.parametrize("name, function, said", [
    ("kv_cache_bytes", lambda batch, n, n_layers, h_kv, d_head, itemsize: batch * n * h_kv * d_head * itemsize,
     "What the first does alone: One array is counted: the answer is half"),
    ("attention_flops", lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k * d_v,
     "Or: Of 2 mistakes, the first alone: The answer is half"),
])
def test_what_is_half_is_said_of_that_mistake_alone(name, function, said):
    assert said in " ".join(grade(name, function).message.split())


def test_of_many_mistakes_the_first_is_said():
    def av_product(weights, value):
        output = np.zeros(value.shape[-1])
        for j in range(len(value)):
            for c in range(value.shape[-1]):
                output[c] = weights[0, j] * value[j, c]
        return output

    found = grade("av_product", av_product)
    assert len(found.mistakes) > 3
    assert "second mistake" not in found.message and "Mend the first mistake first" in found.message
