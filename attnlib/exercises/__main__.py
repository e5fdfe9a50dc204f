"""python3 -m attnlib.exercises [table [NAME ...] | pairs [NAME ...] | catalogue FOLDER | grade FOLDER]"""

import argparse
import sys

from .engine import catalogue
from .engine.prove import table


def main(words):
    command, names = (words[0], words[1:]) if words else ("table", [])
    if command == "grade":
        return grade(names)
    if command == "catalogue" and len(names) == 1:
        print(*catalogue.write(names[0]), sep="\n")
    elif command == "table":
        print(table(names))
    elif command == "pairs":
        print(table(names, limit=None))
    else:
        print(__doc__)
        return 2
    return 0


def grade(words):
    """Grade the notebooks that a class has handed in."""
    from .classroom import grade as marking  # needs POSIX

    return marking.main(argparse.ArgumentParser("python3 -m attnlib.exercises grade", description=grade.__doc__), words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
