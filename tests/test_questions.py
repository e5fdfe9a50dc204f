"""Questions to predict: what each has, what predict says, and that the cell behind it agrees."""

import nbformat
import pytest

from attnlib.exercises import predict
from attnlib.exercises.engine.questions import answered, by_chapter, questions
from attnlib.exercises.model import Choice, Question
from book import boxes, checks, notebooks

ALL = list(questions().values())
each = pytest.mark.parametrize("question", ALL, ids=[question.name for question in ALL])
DOG = Question("dog", "How many dogs?", (Choice("Two.", "Cats count too."), Choice("One.", "So it is."),
                                         Choice("None.", "Dogs count.")), right="b", shows="1 dog")


def faults(question):
    """What is missing in a question, in words."""
    texts = [text for choice in question.choices for text in (choice.text, choice.because)]
    found = [f"{len(question.choices)} choices"] if len(question.choices) not in (3, 4) else []
    found += [f"no choice {question.right}"] if question.right not in question.lettered else []
    found += [f"no sentence: {text}" for text in (question.text, *texts) if not text.strip().endswith((".", "?"))]
    found += ["two choices are alike"] if len(set(texts)) < len(texts) else []
    return found + ([] if question.shows.strip() else ["nothing that its cell shows"])


@each
def test_a_question_is_whole(question):
    assert faults(question) == []


@pytest.mark.parametrize("choices, right, shows", [
    (DOG.choices[:2], "b", "1 dog"), (DOG.choices, "d", "1 dog"), (DOG.choices, "b", " "),
    ((*DOG.choices, Choice("Four", "So many.")), "b", "1 dog"), ((*DOG.choices, Choice("Four.", "")), "b", "1 dog"),
    ((*DOG.choices, DOG.choices[0]), "b", "1 dog")])
def test_a_broken_question_is_found(choices, right, shows):
    assert faults(DOG) == [] != faults(Question("dog", DOG.text, choices, right, shows))


def disagreement(question, notebook):
    """Why the cell behind a question is no answer to it, in words; '' if it is one."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    places = [i for i, cell in enumerate(cells) if boxes.asked_in(cell.source) == question.name]
    if len(places) != 1:
        return f"asked in {len(places)} cells"
    asking, *behind = cells[places[0]:]
    if not behind or "hide-output" not in checks.tags(behind[0]):
        return "the output of the cell behind it is not folded: tag it hide-output"
    shown = "\n".join(checks.output_texts(behind[0]))
    if question.text.split("\n")[0][:40] not in "\n".join(checks.output_texts(asking)):
        return "asked in other words: fill the chapter again"
    return "" if question.shows in shown else f"the cell behind it prints {shown!r}"


@pytest.mark.parametrize("chapter, question", [
    (chapter, question) for chapter, asked in by_chapter().items() for question in asked],
    ids=lambda value: getattr(value, "name", ""))
def test_the_cell_behind_it_agrees(chapter, question):
    path, = notebooks.CHAPTERS.glob(f"{chapter}*.ipynb")  # a folder may have a shorter name: c13_streaming
    assert disagreement(question, nbformat.read(path, as_version=4)) == ""


def asking(shown="1 dog\n", tags=("hide-output",), source='predict("dog")'):
    def code(source, text, **metadata):
        return nbformat.v4.new_code_cell(source, metadata=metadata, outputs=[
            nbformat.v4.new_output("stream", name="stdout", text=text)])
    return nbformat.v4.new_notebook(cells=[
        code(source, DOG.text), nbformat.v4.new_markdown_cell("So:"), code("dogs()", shown, tags=list(tags))])


@pytest.mark.parametrize("change, said", [
    ({}, ""), ({"shown": "2 dogs\n"}, "prints '2 dogs"), ({"tags": ()}, "not folded"),
    ({"source": 'predict("cat")'}, "in 0 cells")])
def test_a_cell_that_does_not_agree_is_found(change, said):
    found = disagreement(DOG, asking(**change))
    assert said in found and bool(said) == bool(found)


def test_every_question_of_a_notebook_is_known():
    asked = [boxes.asked_in(cell.source) for path in notebooks.notebook_paths()
             for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert sorted(filter(None, asked)) == sorted(questions())
    assert len(questions()) == sum(map(len, by_chapter().values())), "two questions have one name"


@pytest.mark.parametrize("chapter", sorted(by_chapter()))
def test_a_chapter_with_questions_has_three_or_more(chapter):
    assert len(by_chapter()[chapter]) >= 3


# --- what predict says ---

def said(capsys, *words):
    predict(*words)
    return " ".join(capsys.readouterr().out.split())


@each
def test_predict_asks_and_then_answers(capsys, question):
    asked = said(capsys, question.name)
    for letter, choice in question.lettered.items():
        assert f"{letter}) {choice.text}" in asked and choice.because not in asked
        answer = said(capsys, question.name, letter)
        assert choice.because in answer
        assert (" Yes. " in answer) == (letter == question.right) != (" No. " in answer)


def test_lines_fit_a_cell(capsys):
    for question in ALL:
        for letter in (None, *question.lettered):
            predict(question.name, letter)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 76


def test_an_unknown_name_gets_the_nearest(capsys):
    assert 'no question called "longr_key". Did you mean longer_key' in said(capsys, "longr_key")
    assert "There are " in said(capsys, "xyzzy") and "longer_key" in said(capsys, "xyzzy")
    assert "in quotes" in said(capsys, predict)


@pytest.mark.parametrize("given, expected", [
    ("B", "One. Yes."), (" b) ", "One. Yes."), ("e", "has the choices a, b and c; got 'e'."),
    (2, "got 2."), ("one", 'got \'one\'. Did you mean "b"?'), (["b"], "has the choices")])
def test_an_unknown_choice_gets_the_nearest(given, expected):
    assert expected in answered(DOG, given)
