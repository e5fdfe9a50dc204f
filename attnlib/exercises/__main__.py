"""python3 -m attnlib.exercises [table [NAME ...] | pairs [NAME ...] | catalogue]"""

import sys

from .proof import catalogue, table


def main(words):
    command, names = (words[0], words[1:]) if words else ("table", [])
    if command == "catalogue":
        print(catalogue())
    elif command == "table":
        print(table(names))
    elif command == "pairs":
        print(table(names, limit=None))
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
