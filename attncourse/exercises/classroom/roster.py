"""The lecturer's table of the class: finds each learner's row, and writes the grades into a copy.

Only the grades' cells change. Everything else comes back as it was: encoding, separator, quotes,
line ends.
"""

import codecs
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .hand_ins import printable
from .source import Unusable

# Moodle's and common headings in several languages; other languages are recognised by structure.
NAMES = {
    "full name",
    "name",
    "student",
    "learner",
    "vollständiger name",
    "nom complet",
    "nombre completo",
    "nombre completo del usuario",
    "nome completo",
    "cognome/nome",
    "volledige naam",
    "pełna nazwa",
    "imię i nazwisko",
    "fullständigt namn",
    "fulde navn",
    "fullt navn",
    "koko nimi",
    "nom",
    "nombre",
    "nome",
    "naam",
}
FIRST = {"first name", "given name", "vorname", "prénom", "nombre", "nome", "voornaam", "imię"}
LAST = {
    "last name",
    "surname",
    "family name",
    "nachname",
    "nom",
    "nom de famille",
    "apellido(s)",
    "apellidos",
    "cognome",
    "apelido",
    "sobrenome",
    "achternaam",
    "nazwisko",
}
IDS = {"identifier", "id", "id number", "sis login id", "email address", "email"}
MAXIMUM = {
    "maximum grade",
    "bestwertung",
    "höchstwertung",
    "maximale bewertung",
    "note maximale",
    "calificación máxima",
    "valutazione massima",
    "nota máxima",
    "maximale cijfer",
    "maximumcijfer",
}
NUMBERED = r"([^\d\s][^\d]*?)\s*(\d+)"  # Participant 11, Teilnehmer/in11
NUMBER = r"[+-]?\d[\d.,'\s]*"
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
TEST_STUDENT = "student, test"  # Canvas's own
NO_LETTERS = (  # what platforms remove from a name to make a file name of it
    "'’‘ʼ`´\"&<>|:\\/"
)


@dataclass
class Row:
    """A line of the table: its cells as they stand in the file, and the line's end."""

    cells: list
    end: str

    def value(self, column):
        raw = self.cells[column] if column is not None and column < len(self.cells) else ""
        if re.fullmatch(r'"(?:[^"]|"")*"', raw):
            raw = raw[1:-1].replace('""', '"')
        return raw.strip()


@dataclass
class Placed:
    """Who has which row: {number of the hand-in: row}, and sentences on those who have none."""

    rows: dict = field(default_factory=dict)
    said: dict = field(default_factory=dict)  # {number of the hand-in: why it has no row}
    doubtful: list = field(
        default_factory=list
    )  # rows that several hand-ins fit, or that fit one hand-in together


class Roster:
    """A learning platform's table of the class, whose column of grades is filled in."""

    def __init__(self, path, assignment="Exercises"):
        self.path, self.assignment = path, assignment
        self.bom, self.encoding, text = _decoded(path)
        self.lead, text, self.separator = _separated(text)
        rows = list(_rows(text, self.separator))
        if not rows:
            raise Unusable(f"{path} is empty")
        self.header, self.rows = rows[0], rows[1:]
        self.columns = [self.header.value(column) for column in range(len(self.header.cells))]
        self._recognise()
        self._check_numbers()
        self._check_assignment()

    # ------------------------------------------------------------ what the columns are

    def _recognise(self):
        known = [_folded(column) for column in self.columns]
        filled = [
            row for row in self.rows if any(row.value(column) for column in range(len(known)))
        ]
        sis = next((n for n, name in enumerate(known) if "sis" in re.split(r"\W+", name)), None)
        self.platform, self.number, self.maximum, self.points_possible = "", None, None, None
        self.grade = next(
            (n for n, name in enumerate(known) if name == "grade" and self._are_grades(n, filled)),
            None,
        )
        if sis and all(re.fullmatch(r"\d*", row.value(sis - 1)) for row in filled):
            self.platform, self.number, self.names, self.grade = "Canvas", sis - 1, [0], None
            self.points_possible = next(
                (
                    row
                    for row in filled
                    if not row.value(self.number) and row.cells[0].lstrip('"')[:1].isspace()
                ),
                None,
            )
        elif filled and self._is_moodle(known, filled):
            self.platform, self.number = "Moodle", 0
        self.ids = [n for n, name in enumerate(known) if name in IDS and n != self.number]
        if self.platform != "Canvas":
            self.names = self._names(known)
        if self.platform == "Moodle" and not self.names and _looks_like_names(filled, 1):
            self.names = [1]
        self.learners = [
            row
            for row in filled
            if self.name(row)
            and row is not self.points_possible
            and (
                self.platform != "Canvas"
                or self._name(row)
                and _folded(self._name(row)) != TEST_STUDENT
            )
        ]
        if not self.names and not self.ids and not self.platform:
            raise Unusable(
                f"{self.path} is not recognised as Moodle's grading worksheet or as Canvas's "
                "gradebook, and has no "
                "column Name, First name and Last name, or ID. Its columns are: "
                f"{', '.join(self.columns)}"
            )

    def _is_moodle(self, known, filled):
        """Whether the first column numbers participants; finds the grade's and the maximum's."""
        found = [re.fullmatch(NUMBERED, row.value(0)) for row in filled]
        if (
            not all(found)
            or len({match[1] for match in found}) > 1
            or len({match[2] for match in found}) < len(found)
        ):
            return False
        beside = [n for n in range(2, len(known)) if known[n] in MAXIMUM]
        beside = beside or [n for n in range(2, len(known)) if self._is_maximum(n, filled)]
        if len(beside) > 1 or not beside and self.grade is None:
            if known[0] == "identifier" or beside:
                raise Unusable(
                    f"{self.path} looks like Moodle's grading worksheet, but which of its "
                    "columns holds the grade "
                    f"is not clear. Its columns are: {', '.join(self.columns)}"
                )
            return False
        if beside:
            self.maximum = beside[0]
            self.grade = self.grade if self.grade is not None else beside[0] - 1
        return True

    def _is_maximum(self, column, filled):
        """One positive number in every row, and to its left nothing but grades."""
        most = {row.value(column) for row in filled}
        return len(most) == 1 and (number(*most) or 0) > 0 and self._are_grades(column - 1, filled)

    def _are_grades(self, column, filled):
        return all(
            row.value(column) in ("", "-") or number(row.value(column)) is not None
            for row in filled
        )

    def _names(self, known):
        first = [n for n, name in enumerate(known) if name in FIRST]
        last = [n for n, name in enumerate(known) if name in LAST]
        if len(first) == len(last) == 1 and first != last:
            return [*first, *last]
        return [n for n, name in enumerate(known) if name in NAMES][:1]

    def _check_numbers(self):
        """The maximum must be a number, because a grade on a scale of words cannot be computed."""
        for row in self.learners if self.maximum is not None else []:
            most = row.value(self.maximum)
            if most and most != "-" and number(most) is None:
                raise Unusable(
                    f'{self.path} gives "{most}" as {self.columns[self.maximum]}, which is not '
                    'a number'
                )

    def _check_assignment(self):
        """Canvas writes an assignment's number after its name; nobody types that."""
        self.own = [n for n, name in enumerate(self.columns) if name == self.assignment]
        if self.platform == "Canvas" and not self.own:
            self.own = [
                n
                for n, name in enumerate(self.columns)
                if re.sub(r"\s*\(\d+\)$", "", name) == self.assignment
            ]
        if len(self.own) > 1:
            raise Unusable(
                f'{self.path} has {len(self.own)} columns called "{self.assignment}": '
                "give --assignment the whole heading of one, with its number"
            )

    @property
    def new_column(self):
        """A sentence if Canvas will make a new assignment of the grades; otherwise nothing."""
        if self.platform != "Canvas" or self.own:
            return ""
        return (
            f'{self.path} has no column "{self.assignment}": import.csv gets a new one, from which '
            "Canvas makes a new assignment. --assignment names an existing one"
        )

    # ------------------------------------------------------------ who is who

    def _name(self, row):
        return " ".join(filter(None, (row.value(column) for column in self.names)))

    def name(self, row):
        return printable(
            self._name(row)
            or next((row.value(n) for n in (self.number, *self.ids) if row.value(n)), "")
        )

    def knows(self, name):
        """Whether somebody in the table has this name, whatever the order of its words."""
        return any(_same(name, self._name(row)) for row in self.learners)

    def place(self, handed_in):
        """The row of each (name, platform, number): by the name, its words, then the number."""
        placed, names = Placed(), [name for name, _, _ in handed_in]
        numbers = self._numbers(handed_in)
        known = [self.knows(name) for name in names]

        def agrees(n, row):  # if the numbers count, they tell apart two people of the same name
            return not numbers[n] or self._number(row) == numbers[n]

        for fit in (
            lambda n, row: _folded(names[n]) == _folded(self._name(row)) and agrees(n, row),
            lambda n, row: _same(names[n], self._name(row)) and agrees(n, row),
            lambda n, row: not known[n] and numbers[n] and agrees(n, row),
            lambda n, row: any(
                _folded(row.value(column)) == _folded(names[n]) for column in self.ids
            ),
        ):
            self._place_by(fit, placed, len(names))
        for n in range(len(names)):
            if n not in placed.rows:
                placed.said.setdefault(
                    n,
                    (
                        "has the name, but not the number, of somebody on the roster"
                        if known[n] and numbers[n]
                        else "is not on the roster"
                    ),
                )
        return placed

    def _place_by(self, fit, placed, count):
        """Give each row that fits only one hand-in to it; say what the others share."""
        taken = {id(row) for row in [*placed.rows.values(), *placed.doubtful]}
        free = [row for row in self.learners if id(row) not in taken]
        waiting = [n for n in range(count) if n not in placed.rows and n not in placed.said]
        found = {n: [row for row in free if fit(n, row)] for n in waiting}
        claims = Counter(id(row) for rows in found.values() for row in rows)
        for n, rows in found.items():
            if len(rows) == 1 and claims[id(rows[0])] == 1:
                placed.rows[n] = rows[0]
            elif rows:
                others = claims[id(rows[0])] - 1
                placed.said[n] = (
                    f"fits {len(rows)} rows of the roster"
                    if len(rows) > 1
                    else f"fits the same row of the roster as {others} other{'s'[: others > 1]}"
                )
                placed.doubtful += [
                    row for row in rows if all(row is not one for one in placed.doubtful)
                ]

    def _numbers(self, handed_in):
        """The platform's numbers, if most agree with the names: another assignment has others."""
        numbers = [mine if platform == self.platform else "" for _, platform, mine in handed_in]
        agree = Counter()
        for (name, _, _), mine in zip(handed_in, numbers):
            rows = [row for row in self.learners if mine and _same(name, self._name(row))]
            agree[mine in map(self._number, rows)] += bool(rows)
        counts = agree[True] > agree[False] or not self.names
        return numbers if self.platform and counts else [""] * len(numbers)

    def _number(self, row):
        return (re.search(r"\d+$", row.value(self.number)) or [""])[0]

    # ------------------------------------------------------------ the grades

    def filled(self, shares, of):
        """The file's bytes with the grades; `shares` are {id of a row: share of all points}."""
        column, header = self._column()
        lines = [header]
        for row in self.rows:
            if id(row) in shares:
                row = self._with(row, column, self._grade(shares[id(row)], row, column, of))
            elif row is self.points_possible:
                row = self._with(row, column, row.value(column) or f"{of:g}")
            elif column >= len(self.columns) and any(row.cells):
                row = self._with(row, column, "")
            lines.append(row)
        text = self.lead + "".join(self.separator.join(row.cells) + row.end for row in lines)
        try:
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError:
            raise Unusable(
                f"{self.path} is in {self.encoding}, which cannot hold {self.assignment!r}"
            ) from None

    def _column(self):
        """(the grade's column, the header with it)."""
        if self.grade is not None:
            return self.grade, self.header
        if self.own:
            return self.own[0], self.header
        return len(self.columns), self._with(self.header, len(self.columns), self.assignment)

    def _grade(self, share, row, column, of):
        """The grade on the platform's scale, with the decimal comma where the table has one."""
        most = row.value(self.maximum) or (
            self.points_possible.value(column) if self.points_possible else ""
        )
        grade = share * (number(most) if number(most) is not None else of)
        decimals = re.search(r"[.,](\d{2,})$", most)
        text = f"{grade:.{len(decimals[1])}f}" if decimals else str(round(grade, 2))
        return text.replace(".", ",") if self._has_commas(most) else text

    def _has_commas(self, most):
        if re.search(r"\d", most):
            return bool(re.search(r",\d+$", most)) and "." not in most.rpartition(",")[2]
        return any(
            re.fullmatch(r"\d+,\d+", row.value(n))
            for row in self.learners
            for n in range(len(row.cells))
        )

    def _with(self, row, column, text):
        """The row with this text in a column, in quotes if it needs them or all have them."""
        quoted = any(row.cells) and all(cell.startswith('"') for cell in row.cells if cell)
        if quoted or re.search(f'[{re.escape(self.separator)}"\r\n]', text):
            text = '"' + text.replace('"', '""') + '"'
        cells = row.cells + [""] * (column - len(row.cells))
        return Row(
            [*cells[:column], text, *cells[column + (column < len(self.columns)) :]], row.end
        )


# ---------------------------------------------------------------- the file


def _decoded(path):
    """(the mark at its beginning, the encoding, the text)."""
    content = Path(path).read_bytes()
    bom, encoding = next(((bom, name) for bom, name in BOMS if content.startswith(bom)), (b"", ""))
    for name in [encoding] if encoding else ["utf-8", "cp1252"]:
        try:
            return bom, name, content[len(bom) :].decode(name)
        except UnicodeDecodeError:
            pass
    raise Unusable(
        f"{path} is neither in UTF-8 nor in Windows' encoding of Western Europe: export it as "
        "CSV in UTF-8"
    )


def _separated(text):
    """(a first line such as "sep=;" that spreadsheets write, the rest, what separates its
    cells)."""
    if mark := re.match(r"sep=([,;\t])\r?\n", text):
        return mark[0], text[mark.end() :], mark[1]
    first = re.sub(r'"(?:[^"]|"")*"', "", text).lstrip().partition("\n")[0]
    return "", text, max(",;\t", key=first.count)


def _rows(text, separator):
    """The table's lines, cell by cell, as they stand in the text: nothing gets lost."""
    outside = f"[^{re.escape(separator)}\r\n]*"
    cell = re.compile(f'"(?:[^"]|"")*"{outside}|{outside}')
    at, cells = 0, []
    while at < len(text) or cells:
        match = cell.match(text, at)
        at = match.end()
        cells.append(match[0])
        if text.startswith(separator, at):
            at += 1
            continue
        end = re.compile(r"\r\n|\n|\r|").match(text, at)[0]
        at += len(end)
        yield Row(cells, end)
        cells = []


# ---------------------------------------------------------------- names and numbers


def _folded(name):
    """A name without its case, its spaces, and the choice of Unicode's spellings."""
    name = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join("".join(c for c in name if unicodedata.category(c) != "Cf").split())


def _words(name):
    name = "".join(c for c in _folded(name) if c not in NO_LETTERS)
    return "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in name).split()


def _same(name, other):
    """Whether two names have the same words: Lovelace, Ada; ada_lovelace; Canvas's lovelaceada."""
    mine, others = _words(name), _words(other)
    if not mine or not others:
        return False
    if sorted(mine) == sorted(others):
        return True
    return len(mine) == 1 and len(others) < 8 and _made_of(mine[0], others)


def _made_of(word, words):
    """Whether the words joined in some order, each used once, give this word."""
    return (
        word == ""
        if not words
        else any(
            word.startswith(one) and _made_of(word[len(one) :], words[:n] + words[n + 1 :])
            for n, one in enumerate(words)
        )
    )


def _looks_like_names(filled, column):
    """Whether the column that may hold names does, rather than a status that is the same for
    most."""
    found = {row.value(column) for row in filled}
    return 2 * sum(bool(re.fullmatch(r"[^\d@]*[^\W\d_][^\d@]*", name)) for name in found) > len(
        filled
    )


def number(text):
    """100,00 and 1,000.00 as numbers; None for anything else."""
    text = (text or "").strip()
    if not re.fullmatch(NUMBER, text):
        return None
    text = re.sub(r"['\s]", "", text)
    if "." in text and "," in text:
        thousands = min(".,", key=text.rfind)
        text = text.replace(thousands, "")
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
