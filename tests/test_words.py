"""Exercises about words: what comes in, what is said, and what others make of strings."""

import numpy as np
import pytest

from attncourse.exercises import grade
from attncourse.exercises.classroom import notebook, verdict
from attncourse.exercises.engine.find import exercises
from attncourse.exercises.engine.prove import load_answers
from attncourse.exercises.model import Words
from attncourse.exercises.sandbox.call import Clock, call


def test_words_are_numbers_in_the_order_of_the_alphabet_and_no_position():
    words = Words(["the", "cat", "the", "dog"])
    assert words.numbers.tolist() == [-1, -3, -1, -2]
    assert [words.text(number) for number in (-3, -2, 2)] == ["cat", "dog", 2]
    assert words.number("cow") == Words.OTHER and words.number(np.str_("dog")) == -2


def test_a_learner_gets_a_list_of_strings():
    kinds = []

    def looking(weights, words, count):
        kinds.append({type(words), *map(type, words)})
        return words[:count]

    grade("top_words", looking)
    assert kinds and all(found == {list, str} for found in kinds)


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda weights, words, count: [word.upper() for word in words], 'returned ["BIG"'),
        (lambda weights, words, count: words[0], "returns a string"),
        (lambda weights, words, count: words[::-1][:count], 'expected ["trophy"]'),
        (lambda weights, words, count: np.array(words)[-count:], 'np.array(["trophy"])'),
        (lambda weights, words, count: [], "returned []"),
    ],
)
def test_messages_show_words(function, said):
    found = grade("top_words", function)
    assert found.status == "incorrect" and said in found.message


@pytest.mark.parametrize(
    "answer, said",
    [
        (np.array(["a", "b"]), "an array of dtype <U1"),
        (["a", "b"], "an array of dtype <U1"),
        ((np.array([1.0]), np.array(["a"])), "a tuple that holds an array of dtype <U1"),
    ],
)
def test_strings_are_no_answer_where_numbers_are_asked_for(answer, said):
    found = grade("softmax_row", lambda scores: answer)
    assert found.status == "incorrect" and f"It returns {said}" in found.message


def test_words_leave_the_sandbox_of_a_class_as_they_are():
    function = next(entry.function for entry in load_answers()["top_words"] if entry.right)
    case = exercises()["top_words"].all_cases()[0]
    args = [case.args[0], list(case.words.items), case.args[2]]
    outcome = call(function, args, Clock())
    told = notebook.as_text(outcome)
    assert verdict.kept(told)
    [dtype, shape, values, came_as, holder, device] = told["pieces"][0]
    piece = verdict._piece(dtype, shape, values, came_as, holder, device)
    assert piece.values.tolist() == ["sleeps", "the"]
    with pytest.raises(ValueError):
        verdict._piece("<U100", shape, values, came_as, holder, device)
