"""What answers are worth: points, a deadline and a roster, from small files of the lecturer's."""

import csv
import difflib
import io
import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from ..engine.find import exercises
from .hand_ins import printable
from .source import Unusable

NAMES, IDS = ("full name", "student", "name", "learner"), ("identifier", "id", "id number", "sis login id", "email address")
KNOWN = ("points", "deadline")


@dataclass(frozen=True)
class Settings:
    """{exercise: points}, and when hand-ins became late."""

    points: dict = field(default_factory=dict)
    deadline: datetime | None = None

    def late(self, hand_in):
        return hand_in.late or bool(self.deadline and hand_in.time > self.deadline.timestamp())


def settings(path):
    """The settings in a TOML file: `deadline = 2026-11-20T23:59:00` and a table [points]."""
    try:
        found = tomllib.loads(Path(path).read_text("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Unusable(f"{path} is no TOML file: {error}") from None
    points, deadline = found.get("points", {}), found.get("deadline")
    for name in found:
        if name not in KNOWN:
            raise Unusable(f"{path} may set {' and '.join(KNOWN)}; it sets {name}")
    if not isinstance(points, dict) or any(type(n) not in (int, float) or not 0 <= n < 1e6 for n in points.values()):
        raise Unusable(f"{path}: [points] gives each exercise a number of points that is not negative")
    for name in points:
        if name not in exercises():
            raise Unusable(f"{path}: {unknown(name, exercises(), 'exercise')}")
    if deadline is not None and not isinstance(deadline, datetime):
        raise Unusable(f"{path}: deadline is a day and a time, such as 2026-11-20T23:59:00; got {deadline!r}")
    return Settings(points, deadline)


def unknown(name, known, kind):
    """A sentence on a word that nothing is called, with the nearest that something is."""
    close = difflib.get_close_matches(name, list(known), 1, 0.5)
    return f'there is no {kind} called "{name}"' + (f"; did you mean {close[0]}?" if close else "")


def worth(given, rows):
    """{exercise: points}: as set, else one for each exercise that at least half of the learners attempted."""
    if given:
        return {name: given[name] for name in exercises() if name in given}
    tried = {(row["learner"], row["exercise"]) for row in rows if row.get("exercise") and row["status"] != "not attempted"}
    count = Counter(name for _, name in tried)
    learners = len({row["learner"] for row in rows if row.get("exercise")})
    often = [name for name in exercises() if count[name] and 2 * count[name] >= learners]
    return dict.fromkeys(often or [name for name in exercises() if count[name]], 1)


def total(answers, points):
    """The points of one learner: the best of each exercise's answers counts."""
    best = Counter()
    for row in answers:
        best[row.get("exercise")] = max(best[row.get("exercise")], row.get("share", 0))
    return round(sum(points[name] * best[name] for name in points), 2)


# ---------------------------------------------------------------- the roster

class Roster:
    """A learning platform's table of the class, which gets its column of grades filled in."""

    def __init__(self, path):
        try:
            text = Path(path).read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise Unusable(f"{path} is not in UTF-8: export it as CSV in UTF-8") from None
        first = text.partition("\n")[0]
        self.separator = max(",;\t", key=first.count)
        self.rows = list(csv.DictReader(io.StringIO(text), delimiter=self.separator))
        self.columns = list(self.rows[0]) if self.rows else []
        self.names = [column for column in self.columns if (column or "").strip().lower() in NAMES]
        self.ids = [column for column in self.columns if (column or "").strip().lower() in IDS]
        if not self.names and not self.ids:
            raise Unusable(f"{path} has none of the columns {', '.join((*NAMES, *IDS))}; it has {', '.join(self.columns)}")

    def row_of(self, learner, number):
        """The row of a learner: by the platform's number, else by the letters of the name."""
        wanted = _letters(learner)
        by_number = [row for row in self.rows if number and any(_digits(row[column]) == number for column in self.ids)]
        by_name = [row for row in self.rows if any(_letters(row[column]) == wanted for column in self.names)]
        by_id = [row for row in self.rows if any((row[column] or "").strip() == learner for column in self.ids)]
        found = by_number or by_id or by_name
        return found[0] if len(found) == 1 else None

    def name(self, row):
        return printable(" ".join(filter(None, (row[column] for column in self.names or self.ids[:1]))))

    def learners(self):
        return [row for row in self.rows if not (row.get("Student") or "").strip().startswith("Points Possible")]

    def filled(self, shares, assignment, of):
        """The table as text, with the grades in its column; `shares` are those of learners by the row's number."""
        moodle = "Grade" in self.columns
        column = "Grade" if moodle else assignment
        file = io.StringIO()
        columns = self.columns + [column] * (column not in self.columns)
        writer = csv.DictWriter(file, columns, delimiter=self.separator, extrasaction="ignore")
        writer.writeheader()
        for row in self.rows:
            new = {name: printable(value or "") for name, value in row.items() if name}
            if row not in self.learners():
                new[column] = new.get(column) or of
            elif id(row) in shares:
                new[column] = round(shares[id(row)] * _number(self._most(row, column), of), 2)
            writer.writerow(new)
        return file.getvalue()

    def _most(self, row, column):
        """What the platform gives at most, which may be another number than ours."""
        possible = [one.get(column) for one in self.rows if one not in self.learners()]
        return row.get("Maximum grade") or row.get("Maximum Grade") or (possible or [None])[0]


def _letters(name):
    """Lovelace, Ada; Ada Lovelace; lovelaceada: the same letters."""
    return "".join(sorted(re.sub(r"[\W_]", "", (name or "").casefold())))


def _digits(text):
    return re.sub(r"^Participant ", "", (text or "").strip())


def _number(text, otherwise):
    try:
        return float(text)
    except (TypeError, ValueError):
        return otherwise
