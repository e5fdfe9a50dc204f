"""predict: questions that readers answer before a cell does."""

import difflib
import functools
import importlib.util
import pkgutil
import re
import textwrap

from .. import entries
from . import sureness
from .message import WIDTH, wrap

# In plain text, such as d_k; in a formula the second part stands below the line.
SYMBOL = re.compile(r"(?<![\w.])([A-Za-z])_([a-z]{1,5}|[A-Z]|\d)(?!(?!ᵀ)[\w(])")


@functools.cache
def by_chapter():
    """{chapter's file name without its ending: its questions}, from
    entries/cNN_subject/questions.py.
    """
    found = {}
    for folder in pkgutil.iter_modules(entries.__path__):
        package = f"{entries.__name__}.{folder.name}"
        if folder.ispkg and importlib.util.find_spec(f"{package}.questions"):
            found[folder.name.removeprefix("c")] = importlib.import_module(
                f"{package}.questions"
            ).QUESTIONS
    return found


def questions():
    """All questions by name, in the order of the book."""
    return {question.name: question for chapter in by_chapter().values() for question in chapter}


def predict(name, choice=None, sure=None):
    """Print a question; or, given the letter of a choice, whether it is right and, if not, what it
    takes for granted. `sure` is the probability that you give your choice, from chance to 0.99: it
    is scored with the cross-entropy, and calibration() sums up all such answers.
    """
    question = questions().get(name) if isinstance(name, str) else None
    if question is None:
        print(wrap(_no_question(name)))
    else:
        print(asked(question) if choice is None else wrap(answered(question, choice, sure)))


def asked(question):
    """The question with its choices, as text."""
    choices = [
        textwrap.fill(f"{letter}) {choice.text}", WIDTH, subsequent_indent="   ")
        for letter, choice in question.lettered.items()
    ]
    last = f'Pick one, then check it, for example: predict("{question.name}", "a")'
    return "\n".join([wrap(question.text), "", *choices, "", wrap(last)])


def answered(question, letter, sure=None):
    """Whether this choice is right, and why; and what it cost to be so sure."""
    choice = question.lettered.get(str(letter).strip(" ().").lower())
    if choice is None:
        return _no_choice(question, letter)
    is_right = choice is question.lettered[question.right_letter]
    told = f"{choice.text} {'Yes.' if is_right else 'No.'} {choice.because}"
    if sure is None:
        return told
    count = len(question.choices)
    problem = sureness.unusable(sure, count)
    return problem or f"{told} {sureness.take(question.name, sure, count, is_right)}"


def _no_choice(question, given):
    *first, last = question.lettered
    texts = {choice.text.lower(): letter for letter, choice in question.lettered.items()}
    close = difflib.get_close_matches(str(given).lower(), texts, 1, 0.4)
    did = f' Did you mean "{texts[close[0]]}"?' if close else ""
    return f"{question.name} has the choices {', '.join(first)} and {last}; got {given!r}.{did}"


def _no_question(name):
    if not isinstance(name, str):
        return (
            'The first argument is the name of a question, in quotes, as in predict("longer_key").'
        )
    close = difflib.get_close_matches(name, questions(), 3, 0.5)
    did = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(questions())}."
    return f'There is no question called "{name}". {did}'
