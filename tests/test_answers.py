"""The trained model on answers as readers write them, and where these come from."""

import json
from random import Random

import numpy as np
import pytest

import attnlib
from attncourse import language
from attncourse.exercises.engine.find import exercises
from attncourse.exercises.engine.running import learners_copy
from attncourse.exercises.sandbox.call import Clock
from attncourse.language import answer_files, answers, evaluate, grammar
from book.notebooks import CHAPTERS

ASKED = "The cup belongs to Ada. Ada gives the cup to Ben. Who has the cup?"
SOLUTIONS = CHAPTERS / "solutions"


def undivided(scores, axis=-1):
    return np.exp(scores - scores.max(axis=axis, keepdims=True))


def leaky(n_q, n_k):
    return np.arange(n_k) <= np.arange(n_q)[:, None] + 1


@pytest.fixture(scope="module")
def library():
    return answers.assemble({})


@pytest.fixture(scope="module")
def solved():
    """The model on the book's solutions, as a reader's notebooks."""
    if not SOLUTIONS.is_dir():
        pytest.skip("this edition has no solutions")
    found = answer_files.collect(SOLUTIONS)
    assert found.problems == {}
    return answers.assemble(found)


@pytest.fixture(scope="module")
def texts():
    return [grammar.write("give", Random(n), held_out=True) for n in range(20)]


# --- the model ---


def test_each_step_is_an_exercise_of_its_chapter():
    for step in answers.STEPS:
        assert exercises()[step.name].chapter == step.chapter, step.name
        assert exercises()[step.name].library == "numpy"


@pytest.mark.parametrize("step", answers.STEPS, ids=lambda step: step.name)
def test_the_librarys_function_gives_what_its_exercise_asks_for(step):
    """So an answer that gives other numbers is wrong."""
    exercise = exercises()[step.name]
    for index, case in enumerate(exercise.all_cases()):
        args, wanted = learners_copy(exercise, case), exercise.predict((), index)
        if case.dtype != "float64":
            continue
        if step.name == "top_p_scores":  # the model draws one word at a time
            rows = args[0].reshape(-1, args[0].shape[-1])
            given = [np.reshape([step.library(row, args[1]) for row in rows], wanted[0].shape)]
        else:
            given = step.library(*args)
            given = given if isinstance(given, tuple) else [given]
        if isinstance(given[0], list):
            given = [np.array([case.words.number(word) for word in given[0]])]
        for one, other in zip(given, wanted, strict=True):
            assert np.allclose(one, other, rtol=1e-6, equal_nan=True), case.aspect


def test_without_answers_it_is_the_trained_model(library):
    tokens = language.encode(ASKED)
    assert np.array_equal(library(tokens).logits, language.load()(tokens).logits)
    assert not any(part.is_yours for part in library.parts.values())
    assert answers.report(library).startswith("0 of 16 steps are yours.")


def test_right_answers_make_the_same_model(solved, library, texts):
    assert [name for name, part in solved.parts.items() if not part.is_yours] == []
    assert [part.why for part in solved.parts.values() if part.why] == []
    tokens = np.array([language.encode(ASKED)])
    assert np.allclose(solved(tokens).logits, library(tokens).logits, rtol=1e-3, atol=1e-3)
    for way in answers.WAYS:
        assert solved.go_on(ASKED, way) == library.go_on(ASKED, way) == "Ben."
    assert solved.go_on(ASKED, use_cache=False) == "Ben."
    assert [solved.write("", seed) for seed in range(3)] == [
        library.write("", seed) for seed in range(3)
    ]
    assert evaluate.answered(solved, texts).tolist() == evaluate.answered(library, texts).tolist()


def test_every_step_is_really_used():
    """A function that is used anyway is called after the trial, for each of the steps."""
    for step in answers.STEPS:
        calls = []

        def counted(*args, step=step, calls=calls):
            calls.append(step.name)
            return step.library(*args)

        model = answers.assemble({step.name: counted})
        assert calls and model.parts[step.name].is_yours, step.name
        calls.clear()
        for way in answers.WAYS:
            model.go_on(ASKED, way)
        model.write("The", 1)
        model.losses(np.array([language.encode(ASKED)]))
        words, weights = model.looks_at(ASKED)
        model.parts["top_words"](weights, words, 2)
        cache = model.new_cache()
        model(language.encode(ASKED), cache)
        model([3, 4], cache)  # two new words: only here a mask has more than one row
        assert calls, step.name


@pytest.mark.parametrize(
    "name, function, said",
    [
        ("softmax", undivided, "yours gives other numbers, up to 0."),
        ("softmax", lambda scores: scores[0], "yours returns the shape (20, 20) instead of (4"),
        ("softmax", lambda scores: 1 / 0, "yours stops with ZeroDivisionError: division by zero"),
        ("softmax", lambda scores: None, "yours returns None"),
        ("softmax", lambda scores, axis: scores, "yours stops with TypeError: "),
        ("softmax", lambda scores: (scores, scores), "yours returns 2 arrays instead of 1"),
        ("causal_mask", leaky, "yours differs in 19 of 400 entries"),
        ("causal_mask", lambda n, m: np.zeros((n, m)), "yours returns float64 instead of bool"),
        ("top_words", lambda weights, words, n: words[:n], "yours gives <start> instead of"),
        ("decode_step", lambda *args: args[0], "yours returns 1 array instead of 3"),
    ],
)
def test_what_went_wrong_is_said_and_the_librarys_is_used(library, name, function, said):
    model = answers.assemble({name: function})
    part = model.parts[name]
    assert not part.is_yours and part.why.startswith(said), part.why
    assert model.go_on(ASKED) == "Ben."
    assert "0 of 16" in answers.report(model)


def test_an_endless_loop_costs_one_step_and_not_the_model(monkeypatch):
    def endless(scores):
        while True:
            pass

    monkeypatch.setattr(answers, "Clock", lambda: Clock(0.2))
    model = answers.assemble({"softmax": endless}, anyway="softmax")
    assert model.parts["softmax"].why.startswith("yours takes more than")
    assert model.go_on(ASKED) == "Ben."


def test_an_answer_that_writes_into_its_arguments_changes_only_copies(library):
    def in_place(scores, axis=-1):
        weights = attnlib.softmax(scores)
        scores[:] = 7
        return weights

    model = answers.assemble({"softmax": in_place})
    tokens = language.encode(ASKED)
    assert model.parts["softmax"].is_yours
    assert np.array_equal(model(tokens).logits, library(tokens).logits)


def test_a_wrong_function_is_used_where_the_reader_wants_it(library):
    model = answers.assemble({"softmax": undivided}, anyway="softmax")
    assert model.parts["softmax"].is_yours and model.parts["softmax"].why
    assert model.go_on(ASKED) != library.go_on(ASKED)
    assert model(language.encode(ASKED)).weights.sum(axis=-1).max() > 1.5


def test_a_leak_brings_the_loss_of_random_words_below_the_minimum(library, texts):
    model = answers.assemble({"causal_mask": leaky}, anyway="causal_mask")
    number = language.tokens.numbers()
    lists = [[number[word] for word in grammar.pairs(Random(n)).words[:7]] for n in range(50)]
    right, leak = (one.losses(np.array(lists))[:, 2:5].mean() for one in (library, model))
    assert leak < 1 < np.log(199) < right
    assert evaluate.answered(model, texts).mean() == 1  # the answers don't show it


def test_an_unknown_name_is_an_error():
    with pytest.raises(ValueError, match="no step 'sofmax'; its steps are rms_norm, "):
        answers.assemble({"sofmax": undivided})
    with pytest.raises(ValueError, match="no step 'sofmax'"):
        answers.assemble({}, anyway="sofmax")


# --- where answers come from ---


def notebook(path, *cells):
    content = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    path.write_text(json.dumps(content), encoding="utf-8")


STUB = 'def softmax(scores, axis=-1):\n    """Weights."""\n    ...'
RIGHT = (
    "def softmax(scores, axis=-1):\n    e = np.exp(scores - scores.max(axis=axis, keepdims=True))\n"
    "    return e / e.sum(axis=axis, keepdims=True)"
)


def test_of_the_books_own_chapters_nothing_is_an_answer():
    assert answer_files.collect(CHAPTERS) == {}


def test_only_the_answer_runs_with_what_it_names(tmp_path):
    notebook(
        tmp_path / "03_softmax.ipynb",
        "%matplotlib inline\nimport numpy as xp\nopen('ran', 'w')",
        f"SMALL = 1e-9\nLATE = 1 / 0\n{STUB}",
        "def powers(x, axis):\n    return xp.exp(x - x.max(axis=axis, keepdims=True)) + 0 * SMALL",
        "def softmax(scores, axis=-1):\n    e = powers(scores, axis)\n"
        "    return e / e.sum(axis=axis, keepdims=True)\nraise SystemExit",
        "this is not python (",
        'check("softmax", softmax)',
    )
    found = answer_files.collect(tmp_path)
    assert [*found] == ["softmax"] and found.problems == {}
    assert answers.assemble(found).parts["softmax"].why == ""
    assert [path.name for path in tmp_path.iterdir()] == ["03_softmax.ipynb"]


def test_a_stub_is_no_answer_and_the_last_answer_counts(tmp_path):
    notebook(tmp_path / "03_softmax.ipynb", STUB)
    assert answer_files.collect(tmp_path) == {}
    notebook(tmp_path / "03_softmax.ipynb", "def softmax(scores):\n    return 1", RIGHT, STUB)
    assert answers.assemble(answer_files.collect(tmp_path)).parts["softmax"].is_yours


@pytest.mark.parametrize("line", ["np.exp?", "took = %timeit -o 1 + 1", "    %cd ..", "!ls"])
def test_a_line_of_ipythons_costs_no_answer_in_its_cell(tmp_path, line):
    cell = f"{RIGHT}\n\nif False:\n    pass\n{line}\nafter = 1"
    notebook(tmp_path / "03_softmax.ipynb", cell)
    assert [*answer_files.collect(tmp_path)] == ["softmax"]


def test_the_function_that_was_handed_to_check_is_the_answer(tmp_path):
    mine = RIGHT.replace("def softmax", "def mine")
    notebook(tmp_path / "03_softmax.ipynb", STUB, mine, 'check("softmax", mine)')
    assert answer_files.collect(tmp_path)["softmax"].__name__ == "mine"


def test_the_chapters_own_notebook_comes_before_the_progress_and_before_others(tmp_path):
    def says(text):
        return f"def softmax(scores):\n    return {text!r}"

    notebook(tmp_path / "20_without.ipynb", says("another"))
    assert answer_files.collect(tmp_path)["softmax"](0) == "another"
    progress = {"typed": {"softmax": says("page"), "chapters/03 x = 1": "x = 1"}, "done": {}}
    (tmp_path / "attention-progress.json").write_text(json.dumps(progress))
    assert answer_files.collect(tmp_path)["softmax"](0) == "page"
    notebook(tmp_path / "03_softmax.ipynb", says("own"))
    assert answer_files.collect(tmp_path)["softmax"](0) == "own"


def test_what_cannot_be_defined_is_said(tmp_path):
    text = "@gone\ndef softmax(scores):\n    return scores"
    (tmp_path / "attention-progress.json").write_text(json.dumps({"typed": {"softmax": text}}))
    found = answer_files.collect(tmp_path)
    assert found == {} and "name 'gone' is not defined" in found.problems["softmax"]
    model = answers.assemble(found)
    assert "yours can't be defined here: NameError" in model.parts["softmax"].why
    assert model.go_on(ASKED) == "Ben."


@pytest.mark.parametrize(
    "text, said",
    [
        ("def softmax(scores):\n    return +*", "line 2 is not Python"),
        ("def sofmax(scores):\n    return scores", "no function is called softmax"),
        (STUB, None),
    ],
)
def test_a_text_of_the_page_without_its_function_is_named(tmp_path, text, said):
    (tmp_path / "attention-progress.json").write_text(json.dumps({"typed": {"softmax": text}}))
    found = answer_files.collect(tmp_path)
    assert found == {} and found.problems.get("softmax") == said


def test_an_answer_that_fails_later_is_replaced_then(library):
    calls = []

    def tires(scores):
        calls.append(1)
        return attnlib.softmax(scores) if len(calls) < 60 else exit()

    model = answers.assemble({"softmax": tires})
    assert model.parts["softmax"].is_yours
    for _ in range(20):
        assert model.go_on(ASKED) == "Ben."
    assert model.parts["softmax"].why.startswith("yours stops with SystemExit")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"typed": 3}', '{"typed": {"softmax": 3}}'])
def test_a_damaged_file_holds_no_answers(tmp_path, text):
    (tmp_path / "attention-progress.json").write_text(text)
    (tmp_path / "03_softmax.ipynb").write_text(text)
    assert answer_files.collect(tmp_path) == {}


def test_an_answer_may_call_another_one_of_the_page(tmp_path):
    typed = {
        "decode_step": "def decode_step(query, key_cache, value_cache, key_new, value_new):\n"
        "    key = np.concatenate([key_cache, key_new], axis=-2)\n"
        "    value = np.concatenate([value_cache, value_new], axis=-2)\n"
        "    return softmax(attnlib.raw_scores(query, key)) @ value, key, value",
        "softmax": RIGHT,
    }
    (tmp_path / "attention-progress.json").write_text(json.dumps({"typed": typed}))
    model = answers.assemble(answer_files.collect(tmp_path))
    assert model.parts["decode_step"].is_yours and model.parts["softmax"].is_yours
