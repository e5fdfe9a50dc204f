"""Thirty made-up learners hand in by Moodle, in folders and in files, and by Canvas: each gets the
own grade.

Every answer is graded in the sandbox when the Moodle folders are marked, and once more when the
Canvas archive is marked a second time. In between, what the sandbox told is used again, because
only finding the people differs.
"""

import csv
import hashlib
import io
import json
import os
import re
import unicodedata
import zipfile
from dataclasses import dataclass, field, replace

import nbformat
import pytest

from attncourse.exercises.classroom import process, sandbox
from attncourse.exercises.classroom.grade import Options, grade_folder
from attncourse.exercises.classroom.points import Settings
from attncourse.exercises.classroom.roster import Roster

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")

HEAD = "import numpy as np\nimport attnlib\nfrom attncourse.exercises import check"
SIGNATURE = "def softmax_row(scores):\n"
CHECK = 'check("softmax_row", softmax_row)'


def notebook(*lines, head=HEAD, check=CHECK):
    """A notebook whose function has these lines."""
    cells = [head, SIGNATURE + "\n".join(f"    {line}" for line in lines), check]
    return json.dumps(
        nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell, id=f"c{n}") for n, cell in enumerate(cells)]
        )
    ).encode()


LARGEST = "e = np.exp(scores - scores.max())"
RIGHT = notebook(LARGEST, "return e / e.sum()")
ALSO_RIGHT = notebook(
    "m = np.max(scores)", "exps = np.exp(scores - m)", "return exps / np.sum(exps)"
)
PARTLY = notebook("e = np.exp(scores)", "return e / e.sum()")
UNTOUCHED = notebook('"""Weights."""', "...")
RENAMED = RIGHT.replace(b"softmax_row(scores)", b"mine(scores)").replace(
    b", softmax_row)", b", mine)"
)
SCRIPT = f"{HEAD}\n\n\n{SIGNATURE}    {LARGEST}\n    return e / e.sum()\n".encode()
ELSEWHERE = json.dumps(
    nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1", id="c")])
).encode()
EMPTY, SOME = None, "some, but not all"


@dataclass
class Person:
    """Who hands in what; the grade is a share of all points, EMPTY (ungradable), or SOME."""

    name: str
    grade: object
    files: dict = field(default_factory=dict)  # {name: content}, in the order of handing in
    on_roster: bool = True
    late: bool = False
    as_written: str = ""  # by the platform, where it isn't the roster's spelling
    number: int = 0

    @property
    def on_disk(self):
        """Moodle takes letters out that a file's name cannot have everywhere."""
        return re.sub("['\"|:/]", "", self.as_written or self.name)


def the_class():
    """Every kind of answer, file and name that has gone wrong once."""
    people = [
        Person("Ada Lovelace", 1, {"a.ipynb": RIGHT}),
        # the same letters: one right and one not; one on the roster and the other in the folder
        Person("Amy Lin", 1, {"a.ipynb": ALSO_RIGHT}),
        Person("Ami Nyl", 0, {"a.ipynb": UNTOUCHED}),
        Person("Liam Bone", EMPTY),
        Person("Noel Miba", 1, {"a.ipynb": RIGHT}, on_roster=False),
        # the same name twice, and the same words in another order
        Person("Jan Novak", 1, {"a.ipynb": RIGHT}),
        Person("Jan Novak", 0, {"a.ipynb": UNTOUCHED}),
        Person("Wei Li", 1, {"a.ipynb": RIGHT}),
        Person("Li Wei", 0, {"a.ipynb": UNTOUCHED}),
        Person("Mary Ann Smith-Jones", 1, {"a.ipynb": RIGHT}, as_written="Smith-Jones Mary Ann"),
        # letters that are written in several ways, or not everywhere
        Person(
            "Jörg Müller",
            1,
            {"Lösung für Woche 3.ipynb": RIGHT},
            as_written=unicodedata.normalize("NFD", "Jörg Müller"),
        ),
        Person("José Ángel Núñez", SOME, {"a.ipynb": PARTLY}),
        Person("山田 太郎", 1, {"a.ipynb": RIGHT}),
        Person("Conan O'Neil", 1, {"a.ipynb": RIGHT}),
        Person("=1+1 @Eve", 1, {"a.ipynb": RIGHT}),
        # files
        Person("Bo Twice", 1, {"first.ipynb": PARTLY, "second.ipynb": ALSO_RIGHT}),
        Person("Cy Broken", EMPTY, {"a.ipynb": b'{"cells": ['}),
        Person("Di Brokenfirst", 1, {"a.ipynb": RIGHT[:-60], "b.ipynb": RIGHT}),
        Person("Ed Paper", EMPTY, {"thesis.pdf": b"%PDF"}),
        Person("Flo Script", 1, {"a.py": SCRIPT}),
        Person("Gus Deep", 1, {"week3/a.ipynb": RIGHT}),
        Person("Hal Pretends", SOME, {"Ada Lovelace_11_assignsubmission_file_b.ipynb": PARTLY}),
        Person("Ida Mixup", SOME, {"nameless_LATE_11_7_assignsubmission_file_.ipynb": PARTLY}),
        Person("Jo Elsewhere", EMPTY, {"a.ipynb": ELSEWHERE}),
        Person("Kim Late", 1, {"a.ipynb": RIGHT}, late=True),
        # answers
        Person("Lou Untouched", 0, {"a.ipynb": UNTOUCHED}),
        Person("Max Readymade", 0, {"a.ipynb": notebook("return attnlib.softmax(scores)")}),
        Person("Ned Noreturn", 0, {"a.ipynb": notebook(LARGEST, "e / e.sum()")}),
        Person("Ola Text", 0, {"a.ipynb": notebook(LARGEST, "return str(e / e.sum())")}),
        Person("Pam Ragged", 0, {"a.ipynb": notebook("return [[1.0], [2.0, 3.0]]")}),
        Person("Quin Lazy", 0, {"a.ipynb": notebook("return (x for x in scores)")}),
        Person(
            "Ray Prints",
            SOME,
            {
                "a.ipynb": notebook(
                    "print('\\udc80 \\ud800')", "e = np.exp(scores)", "return e / e.sum()"
                )
            },
        ),
        Person("Sam Renamed", 1, {"a.ipynb": RENAMED}),
        Person("Tea Typo", 0, {"a.ipynb": notebook("return return")}),
        Person("Uli Absent", EMPTY),
    ]
    for number, person in enumerate(people, 11):
        person.number = number
    return people


PEOPLE = the_class()
HANDED_IN = [person for person in PEOPLE if person.files]


# ---------------------------------------------------------------- three ways of handing in, and the


def moodle_folders(where):
    for person in HANDED_IN:
        for own, content in person.files.items():
            path = where / f"{person.on_disk}_{person.number}_assignsubmission_file_" / own
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return where


def moodle_flat(where):
    where.mkdir()
    for person in HANDED_IN:
        for own, content in person.files.items():
            name = (
                f"{person.on_disk}_{person.number}_assignsubmission_file_{own.rpartition('/')[2]}"
            )
            (where / name).write_bytes(content)
    return where


def canvas_zip(where):
    path = where.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        attachment = 900
        for person in HANDED_IN:
            for own, content in person.files.items():
                attachment += 1
                name = re.sub(r"[\W_]", "", sortable(person.name)).lower() + "_LATE" * person.late
                archive.writestr(
                    f"{name}_{person.number}_{attachment}_{own.rpartition('/')[2]}", content
                )
    return path


def sortable(name):
    return ", ".join(reversed(name.rsplit(" ", 1)))


def table(rows, encoding, end="\r\n", **options):
    file = io.StringIO()
    csv.writer(file, lineterminator=end, **options).writerows(rows)
    return file.getvalue().encode(encoding)


def german_worksheet(people):
    """Moodle's in German, with decimal commas, from a spreadsheet that writes semicolons."""
    rows = [
        [
            "ID",
            "Vollständiger Name",
            "E-Mail-Adresse",
            "Status",
            "Bewertung",
            "Bestwertung",
            "Bewertung kann geändert werden",
            "Zuletzt geändert (Bewertung)",
            "Feedback als Kommentar",
        ]
    ]
    rows += [
        [
            f"Teilnehmer/in{person.number}",
            person.name,
            f"{person.number}@x.example",
            "Zur Bewertung abgegeben",
            "",
            "100,00",
            "Ja",
            "-",
            '"ab; c"',
        ]
        for person in people
    ]
    return table(rows, "utf-8-sig", delimiter=";")


def unknown_worksheet(people):
    """Moodle's in a language that is in no list, found by its structure; every cell in quotes."""
    rows = [["Auðkenni", "Fullt heiti", "Tölvupóstur", "Staða", "Einkunn", "Hámark", "Breytt"]]
    rows += [
        [
            f"Þátttakandi {person.number}",
            person.name,
            f"{person.number}@x.example",
            "Skilað",
            "-",
            "100.00",
            "-",
        ]
        for person in people
    ]
    return table(rows, "utf-8", "\n", quoting=csv.QUOTE_ALL)


def gradebook(people):
    """Canvas's, with a row of its own, the points, and its test student."""
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Week 2 (31)", "Week 3 (32)"],
        ["    Points Possible", "", "", "", "", "10", "100"],
    ]
    rows += [
        [
            sortable(person.name),
            person.number,
            f"s{person.number}",
            f"+{person.number}",
            "A",
            "7.50",
            "",
        ]
        for person in people
    ]
    return table([*rows, ["Student, Test", "999", "", "x", "A", "", ""]], "utf-16")


WAYS = {
    "Moodle's folders": (moodle_folders, german_worksheet, "Bewertung", ";"),
    "Moodle's files": (moodle_flat, unknown_worksheet, "Einkunn", ","),
    "Canvas's archive": (canvas_zip, gradebook, "Week 3 (32)", ","),
}


# ---------------------------------------------------------------- marking


@dataclass
class Marked:
    out: object
    roster: bytes
    code: int
    said: list

    def table(self, name="grades.csv"):
        return list(csv.DictReader(io.StringIO((self.out / name).read_text("utf-8-sig"))))

    def files(self):
        return {
            str(path.relative_to(self.out)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.out.rglob("*"))
            if path.is_file()
        }


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """Each way of handing in, marked; the last one twice."""
    folder, told, real = tmp_path_factory.mktemp("thirty"), {}, process.attend
    (folder / "rosters").mkdir()
    options = Options(
        process.Limits(60, 5, 1 << 30),
        jobs=2,
        protected=not sandbox.problem(),
        settings=Settings({"softmax_row": 4}),
        assignment="Week 3",
    )

    def remembered(content, *more):
        if content not in told:
            told[content] = real(content, *more)
        return told[content]

    def mark(way, out):
        hand_in, roster, _, _ = WAYS[way]
        content = roster([person for person in PEOPLE if person.on_roster])
        (folder / "rosters" / f"{out}.csv").write_bytes(content)
        where, said = folder / way.replace("'", ""), []
        path = (
            hand_in(where)
            if not (where.exists() or where.with_suffix(".zip").exists())
            else where.with_suffix(".zip")
        )
        code = grade_folder(
            path,
            folder / out,
            replace(options, roster=Roster(folder / "rosters" / f"{out}.csv", "Week 3")),
            said.append,
        )
        return Marked(folder / out, content, code, said)

    with pytest.MonkeyPatch.context() as patch:
        first, *others = WAYS
        found = {first: mark(first, "first")}
        patch.setattr(process, "attend", remembered)
        found |= {way: mark(way, way.split()[-1]) for way in others}
        told.clear()
        found["again"] = mark(others[-1], "again")
    return found


@pytest.fixture(params=WAYS)
def one(request, marked):
    return marked[request.param], *WAYS[request.param][2:]


def imported(one):
    """{number of the learner: the grade's cell}, and both tables without the grades' column."""
    result, heading, separator = one
    encoding = {b"\xef\xbb": "utf-8-sig", b"\xff\xfe": "utf-16"}.get(result.roster[:2], "utf-8")
    before, after = (
        [
            list(row)
            for row in csv.reader(
                io.StringIO(text.decode(encoding), newline=""), delimiter=separator
            )
        ]
        for text in (result.roster, (result.out / "import.csv").read_bytes())
    )
    column, identifier = before[0].index(heading), 1 if before[0][0] == "Student" else 0
    grades = {
        int(re.search(r"\d+$", row[identifier])[0]): row[column]
        for row in after
        if re.search(r"\d$", row[identifier])
    }
    return (
        grades,
        [row[:column] + row[column + 1 :] for row in before],
        [row[:column] + row[column + 1 :] for row in after],
    )


def test_everybody_gets_the_own_grade(one):
    grades, _, _ = imported(one)
    for person in PEOPLE:
        seen = grades.get(person.number, "")
        if not person.on_roster or person.grade is EMPTY:
            assert seen in ("", "-"), (person.name, seen)
        else:
            share = float(seen.replace(",", ".")) / 100
            assert 0 < share < 1 if person.grade is SOME else share == person.grade, (
                person.name,
                seen,
            )


def test_everything_else_of_the_roster_comes_back(one):
    _, before, after = imported(one)
    assert before == after
    result, heading, separator = one
    grades = result.out.joinpath("import.csv").read_bytes()
    assert grades[:3] == result.roster[:3] and grades.count(b"\r") == result.roster.count(b"\r")
    assert grades.count(b'"') == result.roster.count(b'"')


def test_learners_and_files_are_all_there(one):
    result, _, _ = one
    assert result.code == 0
    rows = result.table("learners.csv")
    assert len(rows) == len(PEOPLE) and len({row["learner"] for row in rows}) == len(rows)
    assert len(result.table()) >= sum(len(person.files) for person in PEOPLE)
    found = {int(row["id"]): row for row in rows if row["id"]}
    assert sorted(found) == [person.number for person in HANDED_IN]
    for person in HANDED_IN:
        if person.grade not in (EMPTY, SOME):
            assert float(found[person.number]["points"]) == 4 * person.grade, person.name
    pages = list((result.out / "feedback").rglob("*.html"))
    assert len(pages) == len(HANDED_IN)


def test_terminal_and_summary_say_who_is_missing(one):
    result, _, _ = one
    said = "\n".join(result.said)
    assert re.search(r"(Noel Miba|mibanoel) is not on the roster", said)
    [line] = [
        line for line in result.said if line.startswith("On the roster, but nothing handed in")
    ]
    assert "Liam" in line and "Uli" in line and line.count(" ") < 14
    for nobody in ("Broken", "Paper", "Elsewhere"):
        assert re.search(rf"(?i){nobody}\w* gets no grade in import.csv", said), nobody
    text = (result.out / "summary.html").read_text("utf-8")
    assert "2 on the roster handed nothing in" in text and "Uli" in text and "Noel" not in text


def test_feedback_pages_are_for_the_learner(one):
    result, _, _ = one
    for path in (result.out / "feedback").rglob("*.html"):
        text = path.read_text("utf-8")
        for word in (
            "assignsubmission_file_/",
            "week3/",
            "roster",
            "/tmp",
            "pip install",
            "Tried to",
        ):
            assert word not in text, (path, word)
    [page] = [
        path.read_text("utf-8")
        for path in (result.out / "feedback").rglob("*.html")
        if re.search("(?i)prints", path.parent.name + path.name)
    ]
    assert "e = np.exp(scores)" in page and "The mistake: no maximum subtracted" in " ".join(
        page.split()
    )


def test_marked_again_it_is_the_same(marked):
    assert marked["again"].files() == marked["Canvas's archive"].files()


def test_three_ways_give_the_same_grades(marked):
    found = [
        {
            int(row["id"]): (row["points"], row["of"])
            for row in marked[way].table("learners.csv")
            if row["id"]
        }
        for way in WAYS
    ]
    assert found[0] == found[1] == found[2]
