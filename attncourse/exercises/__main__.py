"""The exercises from outside a notebook: marks a class, proves the exercises.

    python3 -m attncourse.exercises grade FOLDER           mark the notebooks that a class hands in
    python3 -m attncourse.exercises questions --gift FILE  the questions to predict for Moodle, or
    with --csv FILE as a table
    python3 -m attncourse.exercises table [NAME ...]       which mistakes are recognised, alone and
    in a sample of pairs
    python3 -m attncourse.exercises pairs [NAME ...]       the same, with all pairs
    python3 -m attncourse.exercises record [NAME ...]      writes the numbers into
    tests/proofs.txt, which the tests compare with

grade --help lists what grading takes. In a notebook: check, hint and status.
"""

import argparse
import difflib
import sys

from .classroom import question_bank
from .engine.find import exercises
from .engine.prove import record, table

COMMANDS = ("grade", "questions", "table", "pairs", "record")


def main(words):
    command, names = (words[0], words[1:]) if words else ("--help", [])
    if command in ("--help", "-h", "help"):
        print(__doc__.rstrip())
        return 0
    if command not in COMMANDS:
        return refuse(f'there is no command "{command}"' + nearest(command, COMMANDS))
    if command == "grade":
        return grade(names)
    if command == "questions":
        return question_bank.main(names)
    for name in names:
        if name not in exercises():
            return refuse(f'there is no exercise called "{name}"' + nearest(name, exercises()))
    if command == "record":
        record(names)
    else:
        print(table(names) if command == "table" else table(names, limit=None))
    return 0


def nearest(word, known):
    close = difflib.get_close_matches(word, list(known), 1, 0.5)
    return f"; did you mean {close[0]}?" if close else "; --help lists what there is"


def refuse(sentence):
    print(f"attncourse.exercises: {sentence}", file=sys.stderr)
    return 2


def grade(words):
    """Grade the notebooks that a class has handed in."""
    from .classroom import grade as marking  # needs POSIX

    return marking.main(
        argparse.ArgumentParser("python3 -m attncourse.exercises grade", description=grade.__doc__),
        words,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
