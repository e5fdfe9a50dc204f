"""Questions to predict: what each has, what predict says, and that the cell behind it agrees."""

import csv
import html
import re
from dataclasses import replace

import nbformat
import pytest

from attncourse.exercises import __main__ as command
from attncourse.exercises import predict
from attncourse.exercises.classroom import question_bank
from attncourse.exercises.engine.questions import answered, asked, by_chapter, questions
from attncourse.exercises.model import Choice, Question
from book import boxes, checks, editions, notebooks, slides

ALL = list(questions().values())
each = pytest.mark.parametrize("question", ALL, ids=[question.name for question in ALL])
DOG = Question(
    "dog",
    "How many dogs?",
    (
        Choice("Two.", "Cats count too."),
        Choice("One.", "So it is."),
        Choice("None.", "Dogs count."),
    ),
    right="b",
    shows="1 dog",
)


def faults(question):
    """What is missing in a question, in words."""
    texts = [text for choice in question.choices for text in (choice.text, choice.because)]
    found = [f"{len(question.choices)} choices"] if len(question.choices) not in (3, 4) else []
    found += [f"no choice {question.right}"] if question.right not in question.lettered else []
    found += [
        f"no sentence: {text}"
        for text in (question.text, *texts)
        if not text.strip().endswith((".", "?"))
    ]
    found += ["two choices are alike"] if len(set(texts)) < len(texts) else []
    return found + ([] if question.shows.strip() else ["nothing that its cell shows"])


@each
def test_a_question_is_whole(question):
    assert faults(question) == []


@pytest.mark.parametrize(
    "choices, right, shows",
    [
        (DOG.choices[:2], "b", "1 dog"),
        (DOG.choices, "d", "1 dog"),
        (DOG.choices, "b", " "),
        ((*DOG.choices, Choice("Four", "So many.")), "b", "1 dog"),
        ((*DOG.choices, Choice("Four.", "")), "b", "1 dog"),
        ((*DOG.choices, DOG.choices[0]), "b", "1 dog"),
    ],
)
def test_a_broken_question_is_found(choices, right, shows):
    assert faults(DOG) == [] != faults(Question("dog", DOG.text, choices, right, shows))


def disagreement(question, notebook):
    """Why the cell behind a question is no answer to it, in words; '' if it is one."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    places = [i for i, cell in enumerate(cells) if boxes.asked_in(cell.source) == question.name]
    if len(places) != 1:
        return f"asked in {len(places)} cells"
    asking, *behind = cells[places[0] :]
    if not behind or "hide-output" not in checks.tags(behind[0]):
        return "the output of the cell behind it is not folded: tag it hide-output"
    shown = "\n".join(checks.output_texts(behind[0]))
    if asked(question) != "\n".join(checks.output_texts(asking)).strip():
        return "asked in other words or in another order: fill the chapter again"
    return "" if question.shows in shown else f"the cell behind it prints {shown!r}"


@pytest.mark.parametrize(
    "chapter, question",
    [(chapter, question) for chapter, asked in by_chapter().items() for question in asked],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_cell_behind_it_agrees(chapter, question):
    (path,) = notebooks.CHAPTERS.glob(
        f"{chapter}*.ipynb"
    )  # a folder may have a shorter name: c13_streaming
    assert disagreement(question, nbformat.read(path, as_version=4)) == ""


def asking(shown="1 dog\n", tags=("hide-output",), source='predict("dog")'):
    def code(source, text, **metadata):
        return nbformat.v4.new_code_cell(
            source,
            metadata=metadata,
            outputs=[nbformat.v4.new_output("stream", name="stdout", text=text)],
        )

    return nbformat.v4.new_notebook(
        cells=[
            code(source, asked(DOG)),
            nbformat.v4.new_markdown_cell("So:"),
            code("dogs()", shown, tags=list(tags)),
        ]
    )


@pytest.mark.parametrize(
    "change, said",
    [
        ({}, ""),
        ({"shown": "2 dogs\n"}, "prints '2 dogs"),
        ({"tags": ()}, "not folded"),
        ({"source": 'predict("cat")'}, "in 0 cells"),
    ],
)
def test_a_cell_that_does_not_agree_is_found(change, said):
    found = disagreement(DOG, asking(**change))
    assert said in found and bool(said) == bool(found)


def test_every_question_of_a_notebook_is_known():
    asked = [
        boxes.asked_in(cell.source)
        for path in notebooks.notebook_paths()
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
    ]
    assert sorted(filter(None, asked)) == sorted(questions())
    assert len(questions()) == sum(map(len, by_chapter().values())), "two questions have one name"


@pytest.mark.parametrize("chapter", sorted(by_chapter()))
def test_a_chapter_with_questions_has_three_or_more(chapter):
    assert len(by_chapter()[chapter]) >= 3


# --- the order of the choices ---


def share(questions, letter, right):
    return sum(right(question) == letter for question in questions) / len(questions)


@pytest.mark.parametrize("count", [3, 4])
def test_the_right_choice_is_in_no_favourite_place(count):
    asked = [question for question in ALL if len(question.choices) == count]
    seen, written = (
        [share(asked, letter, right) for letter in "abcd"[:count]]
        for right in (lambda asked: asked.right_letter, lambda asked: asked.right)
    )
    assert all(0.6 < count * part < 1.5 for part in seen), seen
    assert not all(0.6 < count * part < 1.5 for part in written), "they are written in a fair order"


def test_the_order_depends_on_nothing_but_the_name():
    assert [choice.text for choice in DOG.lettered.values()] == ["None.", "One.", "Two."]
    others = replace(DOG, text="?", choices=tuple(map(Choice, "xyz", "xyz")))
    assert others.right_letter == DOG.right_letter
    cat = replace(DOG, name="cat", right="a")
    assert [choice.text for choice in cat.lettered.values()] == ["Two.", "None.", "One."]
    assert cat.right_letter == "a"


def test_a_choice_that_speaks_of_the_others_stays_below_them():
    whole = re.compile(r"Both|Neither: it|All (two|three|four)[:,] |None of (them|these)")
    for question in ALL:
        shown = list(question.lettered.values())
        written = [choice for choice in question.choices if choice.last]
        assert shown[len(shown) - len(written) :] == written
        assert sorted(map(id, shown)) == sorted(map(id, question.choices))
        if any(whole.match(choice.text) for choice in shown if not choice.last):
            assert question.name in {
                "gather_or_ring",
                "hidden_from",
            }  # these two speak of what is asked for


@each
def test_box_slide_lecturers_page_and_predict_show_one_order(question, capsys):
    letter, lettered = question.right_letter, [*question.lettered.items()]
    as_html = [(letter, boxes.words(choice.text)) for letter, choice in lettered]
    box = boxes.question_box(question.name).astext()
    assert re.findall(r"<summary>(\w)\) (.*?)</summary>", box) == as_html
    slide = slides.Slide()
    slides.ask(slide, question)
    wall = slides.in_columns(slide.parts)
    card = r'<span>(.*?)</span><span class="counts">'
    assert re.findall(rf"<li[^>]*>{card}", wall) == [text for _, text in as_html]
    assert re.findall(rf'<li class="[^"]*right"[^>]*>{card}', wall) == [dict(as_html)[letter]]
    cards = [other.upper() for other, _ in lettered]
    assert re.findall(r'aria-label="(\w), first vote"', wall) == cards
    assert f"<b>{letter.upper()}.</b>" in wall
    lecturers = editions.as_item(question)
    for other, choice in lettered:
        assert (
            f"**{other}) {choice.text}**" if other == letter else f'- {other}) "{choice.text}"'
        ) in lecturers
    predict(question.name)
    asked = " ".join(capsys.readouterr().out.split())
    places = [asked.index(f"{letter}) {choice.text}") for letter, choice in lettered]
    assert places == sorted(places)


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
        assert (" Yes. " in answer) == (letter == question.right_letter) != (" No. " in answer)


def test_lines_fit_a_cell(capsys):
    for question in ALL:
        for letter in (None, *question.lettered):
            predict(question.name, letter)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 76


def test_an_unknown_name_gets_the_nearest(capsys):
    assert 'no question called "longr_key". Did you mean longer_key' in said(capsys, "longr_key")
    assert "There are " in said(capsys, "xyzzy") and "longer_key" in said(capsys, "xyzzy")
    assert "in quotes" in said(capsys, predict)


@pytest.mark.parametrize(
    "given, expected",
    [
        ("B", "One. Yes."),
        (" b) ", "One. Yes."),
        ("e", "has the choices a, b and c; got 'e'."),
        (2, "got 2."),
        ("one", 'got \'one\'. Did you mean "b"?'),
        (["b"], "has the choices"),
    ],
)
def test_an_unknown_choice_gets_the_nearest(given, expected):
    assert expected in answered(DOG, given)


# ---------------------------------------------------------------- for other programs


def from_gift(text):
    """{name: (category, text, [(is right, text, feedback)])}, as Moodle reads it: escaped
    characters are hidden first, an empty line ends a question, and a tilde or an equals sign
    begins a choice.
    """
    found, category = {}, ""
    for block in re.split(r"\n\s*\n", text.strip()):
        block = re.sub(r"\\([\\~=#{}:])", lambda sign: f"\0{ord(sign[1])};", block)
        if block.startswith("$CATEGORY:"):
            category = block.removeprefix("$CATEGORY:").strip()
            continue
        whole = re.fullmatch(r"::([^:]+)::\[html\]([^{}]+)\{([^{}]+)\}", block)
        assert whole, f"no question: {block}"
        name, asked, body = (shown(part) for part in whole.groups())
        pieces = re.findall(r"([~=])([^~=]*)", whole[3])
        assert "".join(map("".join, pieces)) == whole[3].lstrip(), f"before the choices: {block}"
        choices = []
        for sign, piece in pieces:
            words, *feedback = piece.strip().split("#")
            assert len(feedback) == 1, f"not one feedback: {piece}"
            choices.append((sign == "=", shown(words), shown(feedback[0])))
        assert sum(right for right, *_ in choices) == 1, f"not one right choice: {block}"
        assert name not in found, f"twice: {name}"
        found[name] = category, asked, choices
    return found


def shown(text):
    return re.sub(r"\0(\d+);", lambda sign: chr(int(sign[1])), text)


def plain(text):
    """HTML for Moodle without what it adds to the words."""
    text = re.sub(r"</?(code|em)>", "", re.sub(r"\\\((\w)_\{(\w+)\}\\\)", r"\1_\2", text))
    return html.unescape(text)


def without_marks(text):
    """The words as they are written, without the marks of Markdown."""
    return re.sub(r"`|\*(?=\S)|(?<=\S)\*", "", text)


def test_moodle_reads_every_question_with_its_answers_and_reasons():
    read = from_gift(question_bank.gift())
    assert list(read) == [question.name for question in ALL]
    for chapter, asked_there in by_chapter().items():
        for question in asked_there:
            category, text, choices = read[question.name]
            assert category.endswith("/" + chapter.replace("_", " "))
            assert plain(text) == without_marks(question.text)
            assert [tuple(map(plain, words)) for _, *words in choices] == [
                (without_marks(choice.text), without_marks(choice.because))
                for choice in question.lettered.values()
            ]
            right = [right for right, *_ in choices].index(True)
            assert "abcd"[right] == question.right_letter


STRANGE = Question(
    "strange",
    "What is d_k in `{a: 1}` # ~ \\ or x = 2 < 3?",
    (Choice("`d_k` = *two*.", "a_b_c stays: it's no symbol."), *DOG.choices[:2]),
    right="a",
    shows="2",
)


def test_signs_of_the_format_come_through(monkeypatch):
    monkeypatch.setattr(question_bank, "by_chapter", lambda: {"01_one": (STRANGE, DOG)})
    read = from_gift(question_bank.gift())
    _, text, choices = read["strange"]
    assert text == r"What is \(d_{k}\) in <code>{a: 1}</code> # ~ \ or x = 2 &lt; 3?"
    assert (True, "<code>d_k</code> = <em>two</em>.", "a_b_c stays: it's no symbol.") in choices
    with pytest.raises(AssertionError):  # as it would be without escaping
        monkeypatch.setattr(question_bank, "controlled", str)
        from_gift(question_bank.gift())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("=One.", "~One."),
        lambda text: text.replace("~Two.", "=Two."),
        lambda text: text.replace("#Cats", "Cats"),
        lambda text: text.replace("}", ""),
        lambda text: text.replace("dogs?{", "dogs?{{"),
        lambda text: text.replace("{\n", "{\n\n"),
        lambda text: text + "\n" + text,
    ],
)
def test_a_bad_file_is_found(monkeypatch, spoil):
    monkeypatch.setattr(question_bank, "by_chapter", lambda: {"01_one": (DOG,)})
    good = question_bank.gift()
    assert list(from_gift(good)) == ["dog"] and spoil(good) != good
    with pytest.raises(AssertionError):
        from_gift(spoil(good))


def test_the_command_writes_both_files(tmp_path, capsys):
    bank, table = tmp_path / "bank.gift", tmp_path / "bank.csv"
    assert command.main(["questions", "--gift", str(bank), "--csv", str(table)]) == 0
    assert f"{len(ALL)} questions" in capsys.readouterr().out
    assert bank.read_text("utf-8") == question_bank.gift()
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [question.name for question in ALL]
    for row, question in zip(rows, ALL):
        letters = question.lettered
        assert row["right"] == question.right_letter and row["question"] == question.text
        assert {x: row[x] for x in "abcd" if row[x]} == {x: c.text for x, c in letters.items()}
        assert {x: row[f"because_{x}"] for x in letters} == {
            x: choice.because for x, choice in letters.items()
        }
    with pytest.raises(SystemExit):
        command.main(["questions"])
