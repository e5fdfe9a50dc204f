"""How sure readers are: what it costs, the calibration, and the buttons in a page."""

import json
import math
import re

import numpy as np
import one_page
import pytest

from attncourse import plot
from attncourse.exercises import calibration, predict
from attncourse.exercises.engine import sureness
from attncourse.exercises.engine.questions import answered, questions
from attncourse.exercises.engine.sureness import Said, curve, summed_up
from attncourse.exercises.entries.c04_numbers.cross_entropy import cross_entropy
from book import boxes

QUESTION = questions()["longer_key"]
NAMES = [*questions()][:6]


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(sureness, "said", {})


def plain(text):
    return " ".join(text.split())


def wrong_letter(question):
    return next(letter for letter in question.lettered if letter != question.right_letter)


def said_of(name, is_right, sure):
    question = questions()[name]
    letter = question.right_letter if is_right else wrong_letter(question)
    return answered(question, letter, sure)


# --- what it costs ----------------------------------------------------------


@pytest.mark.parametrize("choices", [3, 4])
@pytest.mark.parametrize("sure", [0.5, 0.8, 0.99])
def test_the_loss_is_the_cross_entropy_of_chapter_4(choices, sure):
    rest = (1 - sure) / (choices - 1)
    scores = np.log([sure, *[rest] * (choices - 1)])
    for target in (0, 1):
        expected = cross_entropy(scores, np.array(target))
        assert math.isclose(Said(sure, choices, target == 0).loss, expected)
    assert math.isclose(Said(1 / choices, choices, False).loss, math.log(choices))


def test_an_answer_says_what_it_costs_and_the_first_one_counts():
    count = len(QUESTION.choices)
    assert f"a cross-entropy of {-math.log(0.2 / (count - 1)):.2f}." in said_of(
        "longer_key", False, 0.8
    )
    again = said_of("longer_key", True, 0.9)
    assert "a cross-entropy of 0.11. " in again and "Your first answer to this question" in again
    assert [*sureness.said.values()] == [Said(0.8, count, False)]


def test_without_sure_nothing_is_said_or_kept():
    assert "cross-entropy" not in answered(QUESTION, "a") and sureness.said == {}
    answered(QUESTION, "z", 0.8)
    assert sureness.said == {}


@pytest.mark.parametrize("sure", [1, 0.995, 80, 0, 0.1, "0.8", True, float("nan"), [0.5]])
def test_what_is_no_probability_gets_a_sentence_and_is_not_kept(sure):
    assert "sure is a probability from" in answered(QUESTION, "a", sure) and sureness.said == {}


def test_about_chance_is_chance():
    question = next(one for one in questions().values() if len(one.choices) == 3)
    answered(question, "a", 0.33)
    assert sureness.said[question.name].sure == 1 / 3


# --- calibration ------------------------------------------------------------


def test_answers_that_are_about_as_sure_are_counted_together():
    answers = [
        Said(*one) for one in ((0.8, 4, True), (0.82, 4, False), (1 / 3, 3, False), (0.99, 3, True))
    ]
    assert curve(answers) == [(1 / 3, 0, 1), (pytest.approx(0.81), 0.5, 2), (0.99, 1, 1)]
    assert sum(count for *_, count in curve(answers)) == len(answers)


@pytest.mark.parametrize(
    "right, verdict", [(10, "not sure enough"), (7, "may be chance"), (2, "You are too sure.")]
)
def test_the_verdict_is_about_what_was_to_be_expected(right, verdict):
    said = plain(summed_up([Said(0.7, 4, i < right) for i in range(10)]))
    assert f"You were right {right} of 10 times" in said and verdict in said
    assert "7.0 were expected, give or take 1.4" in said
    losses = [-math.log(0.7)] * right + [-math.log(0.1)] * (10 - right)
    assert f"Mean cross-entropy {np.mean(losses):.2f}, where guessing costs 1.39." in said


def test_calibration_prints_and_draws(capsys, monkeypatch):
    drawn = []
    monkeypatch.setattr(plot, "calibration", lambda *values: drawn.append(values))
    calibration()
    assert "There is no answer with sure yet" in capsys.readouterr().out and drawn == []
    for i, name in enumerate(NAMES[:4]):
        predict(name, questions()[name].right_letter, sure=0.5 if i else 0.9)
    capsys.readouterr()
    calibration()
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["50", "%", "3", "100", "%"] and max(map(len, lines)) <= 76
    assert drawn == [((0.5, 0.9), (1, 1), (3, 1))]


# --- in a page --------------------------------------------------------------


@pytest.fixture
def page(chromium):
    asked = "".join(
        f'<div class="predict">{boxes.question_box(name)[1].astext()}</div>' for name in NAMES
    )
    text = one_page.html(f'{asked}<p class="versions"></p>', "sure.js")
    with one_page.opened(chromium, text) as found:
        yield found


def choose(page, name, letter, percent=None):
    """By keys: how sure, and then the choice."""
    box = page.locator(".predict", has=page.locator(f'[data-question="{name}"]'))
    if percent:
        level = box.get_by_role("button", name=re.compile(f"^{percent} %"))
        level.focus()
        page.keyboard.press("Enter")
        assert level.get_attribute("aria-pressed") == "true"
    box.locator("summary").nth("abcd".index(letter)).focus()
    page.keyboard.press("Enter")
    return box


def kept(page):
    entry = json.loads(page.evaluate("localStorage.getItem('answers in /x.html') ?? '{}'"))
    return entry.get("typed", {})


def test_an_answer_in_a_page_costs_what_it_costs_in_a_notebook(page):
    plan = [
        (NAMES[0], True, 80),
        (NAMES[1], False, 99),
        (NAMES[2], True, 50),
        (NAMES[3], False, 50),
    ]
    for name, is_right, percent in plan:
        question = questions()[name]
        letter = question.right_letter if is_right else wrong_letter(question)
        box = choose(page, name, letter, percent)
        told = said_of(name, is_right, percent / 100)
        loss = re.search(r"a cross-entropy of (\S+)\. A guess costs log \d = (\S+?)\. ", told)
        line = box.locator("[role=status]").text_content()
        assert line.endswith(f"a cross-entropy of {loss[1]}. A guess costs {loss[2]}.")
        assert ("it's right" in line) == is_right
    page.reload()
    summary = page.get_by_role("group", name="How sure you were", exact=True)
    in_words = plain(summed_up([*sureness.said.values()]))
    text = plain(summary.text_content())
    for part in (
        "2 of 4",
        r"\d\.\d were expected, give or take \d\.\d",
        "Mean cross-entropy \\d\\.\\d\\d, where guessing costs \\d\\.\\d\\d",
    ):
        assert re.search(part, text)[0] == re.search(part, in_words)[0]
    assert ("may be chance" in text) == ("may be chance" in in_words)
    rows = [row.split("\n") for row in summary.locator("tbody tr").all_text_contents()]
    assert "".join(map("".join, rows)) == "50 %250 %80 %1100 %99 %10 %"
    assert summary.locator("svg circle").count() == 3


def test_the_first_choice_counts_and_can_be_forgotten(page):
    name = NAMES[0]
    question = questions()[name]
    choose(page, name, wrong_letter(question), 70)
    first = kept(page)
    assert first == {
        f"predict {name}": f"{wrong_letter(question)} 70 wrong {len(question.choices)}"
    }
    choose(page, name, question.right_letter)
    assert kept(page) == first
    page.get_by_role("button", name="Forget this chapter's answers").focus()
    page.keyboard.press("Enter")
    assert kept(page) == {}
    assert (
        "Before you open a choice above"
        in page.get_by_role("group", name="How sure you were").text_content()
    )


def test_a_choice_that_was_opened_first_is_no_prediction(page):
    box = choose(page, NAMES[0], "a")
    assert kept(page) == {}
    assert all(level.is_disabled() for level in box.get_by_role("button").all())


def test_what_a_file_held_is_read_with_care(page):
    entry = {
        f"predict {name}": text
        for name, text in zip(NAMES, ("a 10", "<b>", "z 80 right 4", "a 80 right 9"))
    }
    page.evaluate(
        "(text) => localStorage.setItem('answers in /x.html', text)", json.dumps({"typed": entry})
    )
    page.reload()
    assert (
        "Before you open a choice above"
        in page.get_by_role("group", name="How sure you were").text_content()
    )
