"""The questions to predict for other programs: Moodle's GIFT, and a table (CSV)."""

import argparse
import csv
import io
import re
from html import escape
from pathlib import Path

from ..engine.questions import SYMBOL, by_chapter

CATEGORY = "Questions to predict"
CONTROLS = re.compile(r"[\\~=#{}:]")  # characters that mean something in GIFT
COLUMNS = ("chapter", "name", "question", *"abcd", "right", *(f"because_{x}" for x in "abcd"))


def gift():
    """All questions, a category for each chapter; Moodle reads them without changing a setting."""
    blocks = []
    for chapter, questions in by_chapter().items():
        blocks.append(f"$CATEGORY: $course$/{CATEGORY}/{chapter.replace('_', ' ')}")
        blocks += map(as_gift, questions)
    return "\n\n".join(blocks) + "\n"


def as_gift(question):
    """One question: its choices in the readers' order, each with the reason as its feedback."""
    choices = "".join(
        f"{'=' if letter == question.right_letter else '~'}"
        f"{formatted(choice.text)}#{formatted(choice.because)}\n"
        for letter, choice in question.lettered.items()
    )
    return f"::{controlled(question.name)}::[html]{formatted(question.text)}{{\n{choices}}}"


def formatted(text):
    return controlled(as_html(text))


def controlled(text):
    return CONTROLS.sub(r"\\\g<0>", text)


def as_html(text):
    """`code` and *emphasis* as in Markdown, and symbols such as d_k as Moodle's formulas."""
    parts = re.split(r"`([^`]+)`", text)  # plain text and code alternate
    parts[::2] = map(with_formulas, parts[::2])
    parts[1::2] = [f"<code>{escape(code, quote=False)}</code>" for code in parts[1::2]]
    return "".join(parts)


def with_formulas(text):
    text = SYMBOL.sub(r"\\(\1_{\2}\\)", escape(text, quote=False))
    return re.sub(r"\*(?! )([^*]+)(?<! )\*", r"<em>\1</em>", text)


def table():
    """A row for each question; a question with three choices leaves d empty."""
    written = io.StringIO()
    rows = csv.DictWriter(written, COLUMNS, restval="", lineterminator="\n")
    rows.writeheader()
    for chapter, questions in by_chapter().items():
        rows.writerows(as_row(chapter, question) for question in questions)
    return written.getvalue()


def as_row(chapter, question):
    row = {"chapter": chapter, "name": question.name, "question": question.text}
    for letter, choice in question.lettered.items():
        row |= {letter: choice.text, f"because_{letter}": choice.because}
    return row | {"right": question.right_letter}


def main(words):
    """Write the questions to predict, with their choices and explanations, into files."""
    parser = argparse.ArgumentParser(
        "python3 -m attncourse.exercises questions", description=main.__doc__
    )
    parser.add_argument("--gift", metavar="FILE", type=Path, help="in Moodle's format GIFT")
    parser.add_argument("--csv", metavar="FILE", type=Path, help="as a table")
    options = parser.parse_args(words)
    if not (options.gift or options.csv):
        parser.error("name a file: --gift FILE, --csv FILE, or both")
    for path, text in ((options.gift, gift), (options.csv, table)):
        if path:
            # A spreadsheet takes a table for UTF-8 only if it begins with a byte order mark.
            path.write_text(text(), "utf-8-sig" if text is table else "utf-8")
            print(f"questions: {path}, {sum(map(len, by_chapter().values()))} questions")
    return 0
