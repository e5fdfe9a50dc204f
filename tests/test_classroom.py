"""A class hands in its notebooks: each is graded, what one does costs only itself, and nothing gets
out.
"""

import base64
import csv
import hashlib
import html
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attncourse.exercises import __main__ as command
from attncourse.exercises.classroom import (
    grade,
    hand_ins,
    pages,
    points,
    process,
    sandbox,
    source,
    verdict,
)
from attncourse.exercises.classroom.grade import Options, grade_folder, grade_one
from attncourse.exercises.classroom.hand_ins import collect
from attncourse.exercises.classroom.roster import Roster
from attncourse.exercises.classroom.source import Unusable
from attncourse.exercises.engine import catalogue, grading
from attncourse.exercises.engine.find import exercises
from attncourse.exercises.sandbox import statements

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
CHAPTERS = Path(__file__).parents[1] / "chapters"
LIMITS = process.Limits(seconds=60, cell_seconds=1.5, memory=1 << 30)
NO_SANDBOX = sandbox.problem() if os.name == "posix" else "needs POSIX"
OPTIONS = Options(LIMITS, jobs=2, protected=not NO_SANDBOX)
in_a_sandbox = pytest.mark.skipif(
    bool(NO_SANDBOX), reason=f"no attack without a sandbox: {NO_SANDBOX}"
)

HEAD = "import numpy as np\nimport attnlib\nfrom attncourse.exercises import check, grade, hint"
RIGHT = (
    "def softmax(scores, axis=-1):\n"
    "    e = np.exp(scores - scores.max(axis=axis, keepdims=True))\n"
    "    return e / e.sum(axis=axis, keepdims=True)"
)
WRONG = (
    "def softmax(scores, axis=-1):\n    e = np.exp(scores)\n    return e / e.sum(axis=axis,"
    " keepdims=True)"
)
STUB = 'def softmax(scores, axis=-1):\n    """Weights."""\n    ...'
CHECK = 'check("softmax", softmax)'
# what triton.jit makes of a function, on machines without Triton too
KERNEL = """\
class Kernel:
    def __init__(self, function):
        self.__module__ = function.__module__
    def __call__(self):
        raise RuntimeError("needs a grid")
Kernel.__module__ = "triton.runtime.jit"

@Kernel
def a_kernel(scores):
    pass

"""
MISTAKE = "no maximum subtracted"
INCORRECT = [("softmax", "incorrect", MISTAKE)]
CORRECT = [("softmax", "correct", "")]
SLEEPER = f"sleeper{os.getpid()}"[
    :15
]  # tells what a notebook here leaves running from anything else

PATCHES = """\
import builtins, sys
import attncourse.exercises.engine.grading as grading
fake = lambda *args, **options: grading.Grade("correct", (), "softmax: correct")
names = ("grade", "judge", "_grade", "grade_function", "explain", "close_rows", "exercises")
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith(("attncourse", "attnlib")):
        for name in names:
            setattr(module, name, fake)
np.allclose = np.array_equal = np.isclose = lambda *args, **options: True
np.abs = np.isnan = lambda *args: np.zeros(1)
builtins.all, builtins.any = lambda *args: True, lambda *args: False"""
# what reports: a cell that studies the grader can find it, and say whatever it likes
TELL = """\
import gc
tell = next(o for o in gc.get_objects() if getattr(o, "__qualname__", "") == "reporter.<locals>.tell")
"""  # noqa: E501
FORGED = (
    TELL
    + """\
for n in range(2):
    tell(grade=["softmax", "correct", [], "", "softmax: correct", ""])
    tell(at="softmax")
tell(done=True)"""
)
MALFORMED = (
    TELL
    + """\
deep = {"grade": []}
for n in range(900):
    deep = {"grade": [deep]}
for bad in (dict(grade=1), dict(grade=["softmax", "correct", 3, None, {}, []]), dict(grade=["softmax", "marvellous"]),
            dict(at=[1]), dict(at=-1), dict(names=3), dict(value=[[], 1]), dict(value=["softmax", 1e9, {}]), {},
            dict(a=1, b=2), dict(problem=3), dict(reached={"a": 1}), deep,
            dict(grade=["softmax", "correct", ["x" * 10**5] * 10**3, "", "", ""])):
    tell(**bad)"""  # noqa: E501
)
FORGED_VALUES = (
    TELL
    + """\
tell(at="softmax")
def values(*pieces):
    return {"pieces": pieces, "holder": "", "wrapped": ""}
tell(value=["softmax", 0, values(["float64", [2**70, 0], "", "float64", "array", ""])])
tell(value=["softmax", 1, values(["object", [1], "AAAA", "float64", "array", ""])])
tell(value=["softmax", 2, values(*[[[], {}, 3, None, "array", ""]] * 10**3)])
tell(value=["softmax", 3, {"other": {}, "nothing": []}])
tell(value=["softmax", 4, {"kind": 3}])
tell(grade=["softmax", "correct", [], "", "softmax: correct", ""])
tell(done=True)"""
)
PATCHED_GRADER = """\
import gc, types
for o in gc.get_objects():
    if type(o) is types.SimpleNamespace and hasattr(o, "does_nothing"):
        o.grade = lambda *args: types.SimpleNamespace(status="correct", mistakes=(), message="softmax: correct",
                                                      checked=True)"""  # noqa: E501
FAKED = """\
import os
for number in range(3, 50):
    try:
        os.write(number, b'0 {"grade": ["softmax", "correct", [], ""]}\\n0 {"done": true}\\n')
    except OSError:
        pass
print('{"grade": ["softmax", "correct", [], ""], "done": true}')"""
FORKS = f"""\
import os, time
for number in range(5):
    if os.fork() == 0:
        os.setsid()
        open("/proc/self/comm", "w").write("{SLEEPER}")
        time.sleep(1000)"""

# name of the notebook: (its cells, what is found in it, words in its notes)
NOTEBOOKS = {
    "right": ([HEAD, RIGHT, CHECK], CORRECT, ""),
    "wrong": ([HEAD, WRONG, CHECK], INCORRECT, ""),
    "never checked": ([HEAD, WRONG], INCORRECT, ""),
    "untouched": (
        [HEAD, "def softmax(scores, axis=-1):\n    ...", CHECK],
        [("softmax", "not attempted", "")],
        "",
    ),
    "another name": (
        [HEAD, RIGHT.replace("softmax", "mine"), 'check("softmax", mine)'],
        CORRECT,
        "",
    ),
    "checked twice": ([HEAD, WRONG, CHECK, RIGHT, CHECK], CORRECT, ""),
    "name used again": ([HEAD, RIGHT, CHECK, "softmax = softmax(np.ones(3))"], CORRECT, ""),
    "library's own": (
        [HEAD, "softmax = attnlib.softmax", CHECK],
        [("softmax", "not attempted", "")],
        "A library's function",
    ),
    "IPython's lines": (
        ["%matplotlib inline\n!ls\n" + HEAD, "%%time\n" + RIGHT, "%%bash\nexit", "softmax?", CHECK],
        CORRECT,
        "",
    ),
    "library not there": (["import not_there\n" + HEAD, WRONG, CHECK], INCORRECT, ""),
    "syntax": (
        [HEAD, "def softmax(scores, axis=-1)\n    return 3", CHECK],
        [("softmax", "error", "")],
        "SyntaxError",
    ),
    "constant lost": (
        [HEAD, "scale = 1 / 0", RIGHT.replace("exp(", "exp(scale * "), CHECK],
        [("softmax", "error", "")],
        "The cell of scale stopped with ZeroDivisionError",
    ),
    "raises": ([HEAD, "1 / 0", WRONG, "raise SystemExit", CHECK], INCORRECT, ""),
    "asks": ([HEAD, "input()", WRONG, CHECK], INCORRECT, ""),
    "redefines check": (
        [
            HEAD,
            WRONG,
            "def check(*args):\n    print('softmax: correct.')\ngrade = hint = check",
            CHECK,
        ],
        INCORRECT,
        "",
    ),
    "patches": ([HEAD, WRONG, PATCHES, CHECK], INCORRECT, ""),
    "patches inside": (
        [
            HEAD,
            WRONG.replace(
                "):\n",
                "):\n    import attncourse.exercises.engine.grading as g\n    g.judge = None\n",
            ),
            CHECK,
        ],
        INCORRECT,
        "",
    ),
    "fakes the report": ([HEAD, WRONG, FAKED, CHECK], INCORRECT, ""),
    "floods": (
        [HEAD, "for n in range(200_000):\n    print('x' * 1000)", WRONG, CHECK],
        INCORRECT,
        "",
    ),
    "renamed": (
        [HEAD, RIGHT.replace("softmax", "mine"), CHECK],
        CORRECT,
        "What was graded is mine, which stands where",
    ),
    "renamed below the stub": (
        [HEAD, STUB + "\n\n" + RIGHT.replace("softmax", "mine"), CHECK],
        CORRECT,
        "What was graded is mine",
    ),
    "untouched kernel": ([HEAD, KERNEL + STUB, CHECK], [("softmax", "not attempted", "")], ""),
    "renamed below a kernel": (
        [HEAD, KERNEL + RIGHT.replace("softmax", "mine"), CHECK],
        CORRECT,
        "What was graded is mine",
    ),
    "helper above": (
        [HEAD, RIGHT.replace("softmax", "mine"), "x = 1", STUB, CHECK],
        [("softmax", "not attempted", "")],
        "",
    ),
    "nothing checked": (
        [HEAD, CHECK],
        [("softmax", "error", "")],
        "the notebook defines no function softmax",
    ),
    "slow": (
        [HEAD, "import time\n" + RIGHT.replace("):\n", "):\n    time.sleep(9)\n"), CHECK],
        [("softmax", "error", "")],
        "didn't finish within 3 seconds",
    ),
    "one line": (
        [HEAD, "def softmax(scores, axis=-1):\n    return attnlib.softmax(scores, axis)", CHECK],
        [("softmax", "incorrect", "ready-made function")],
        "",
    ),
    "package not here": (
        [HEAD + "\nimport not_there as nt", RIGHT.replace("):\n", "):\n    nt.set()\n"), CHECK],
        [("softmax", "error", "")],
        "Not installed where this was graded: not_there.",
    ),
    "unexplained": (
        [
            HEAD,
            (
                "def softmax(scores, axis=-1):\n    return (np.sin(3 * scores) + "
                "0.2).astype(scores.dtype)"
            ),
            CHECK,
        ],
        [("softmax", "incorrect", "")],
        "What it does for the input below:",
    ),
    "forty-five ends": (
        [HEAD, *["import os\nos._exit(0)"] * 45, WRONG, CHECK],
        INCORRECT,
        "only imports and definitions were run",
    ),
    "newlines": ([HEAD, "\n" * 300_000, WRONG, CHECK], INCORRECT, ""),
    "deep": (
        [
            HEAD,
            "x = " + " + ".join(["1"] * 5000),
            "x = " + "(" * 3000 + ")" * 3000,
            "x = " + "[" * 90_000,
            WRONG,
            CHECK,
        ],
        INCORRECT,
        "",
    ),
    "forges": ([HEAD, WRONG, FORGED, CHECK], [("softmax", "incorrect", "")], verdict.UNTRUE),
    "forges values": (
        [HEAD, WRONG, FORGED_VALUES, CHECK],
        [("softmax", "incorrect", "")],
        verdict.UNTRUE,
    ),
    "forges the grader": (
        [HEAD, WRONG, PATCHED_GRADER, CHECK],
        [("softmax", "incorrect", "")],
        verdict.UNTRUE,
    ),
    "malformed": ([HEAD, WRONG, MALFORMED, CHECK], INCORRECT, ""),
    "floods the report": (
        [HEAD, WRONG, TELL + "while True:\n    tell(reached='x' * 900_000)", CHECK],
        INCORRECT,
        "code cell 3 wrote too much",
    ),
    "leaves": (
        [HEAD, WRONG, "import os\nos._exit(0)", CHECK],
        INCORRECT,
        "code cell 3 ended the process",
    ),
    "crashes": (
        [
            HEAD,
            "def softmax(scores, axis=-1):\n    import ctypes\n    ctypes.string_at(0)",
            WRONG.replace("softmax", "softmax_row")
            .replace("axis=axis, keepdims=True", "")
            .replace(", axis=-1", ""),
        ],
        [("softmax_row", "incorrect", MISTAKE), ("softmax", "error", "")],
        "SIGSEGV",
    ),
    "closes files": (
        [HEAD, WRONG, "import os\nos.closerange(0, 100)", CHECK],
        INCORRECT,
        "code cell 3 ended",
    ),
    "loops": (
        [
            HEAD,
            "while True:\n    try:\n        pass\n    except BaseException:\n        pass",
            WRONG,
            CHECK,
        ],
        INCORRECT,
        "",
    ),
    "loops for ever": (
        [
            HEAD,
            WRONG,
            "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    pass",
            CHECK,
        ],
        INCORRECT,
        "code cell 3 did not finish within 1.5 seconds",
    ),
    "kills": (
        [HEAD, WRONG, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", CHECK],
        INCORRECT,
        "SIGKILL",
    ),
    "nothing in it": (["1 + 1"], [("", "error", "")], "no exercise"),
    "annotations of the future": (
        [
            "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n"
            + HEAD
            + "\nif TYPE_CHECKING:\n    from numpy.typing import NDArray",
            RIGHT.replace("(scores,", "(scores: NDArray,").replace("):\n", ") -> NDArray:\n", 1),
            CHECK,
        ],
        CORRECT,
        "",
    ),
    "no annotations": (
        [HEAD, RIGHT.replace("(scores,", "(scores: NDArray,"), CHECK],
        [("softmax", "error", "")],
        "NameError",
    ),
    "awaits": (
        [
            HEAD,
            (
                "import asyncio\nfactor = await asyncio.sleep(0.01, 1)\nasync def one():\n    "
                "return factor"
            ),
            RIGHT.replace("scores - ", "found * scores - "),
            "found = await one()\nassert found == 1",
            CHECK,
        ],
        CORRECT,
        "",
    ),
    "asks for its shell": (
        [
            "shell = get_ipython()\nshell.run_line_magic('matplotlib', 'inline')\n" + HEAD,
            RIGHT,
            CHECK,
        ],
        CORRECT,
        "",
    ),
    "one surrogate": (
        [
            HEAD,
            WRONG.replace("e = ", "print('\\ud800')\n    e = "),
            "raise ValueError('\\udcff')",
            CHECK,
        ],
        INCORRECT,
        "",
    ),
    "a surrogate raised": (
        [HEAD, WRONG.replace("e = ", "raise ValueError('\\ud800')\n    e = "), CHECK],
        [("softmax", "error", "")],
        "ValueError",
    ),
    "José 漢字 (1)": ([HEAD, RIGHT, CHECK], CORRECT, ""),
}
ON_LINUX = {
    "takes memory": (
        [
            HEAD,
            "kept = []\nwhile True:\n    kept.append(np.ones(10**7))",
            "kept = None",
            WRONG,
            CHECK,
        ],
        INCORRECT,
        "",
    ),
    **({} if NO_SANDBOX else {"forks": ([HEAD, WRONG, FORKS, CHECK], INCORRECT, "")}),
    "fork bomb": (
        [HEAD, WRONG, "import os\nwhile True:\n    os.fork()", CHECK],
        INCORRECT,
        "code cell 3",
    ),
}
if sys.platform.startswith("linux"):
    NOTEBOOKS.update(ON_LINUX)
BROKEN = {
    "empty.ipynb": "",
    "cut off.ipynb": '{"cells": [',
    "no notebook.ipynb": "[1]",
    "empty.py": " \n",
}


def write(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def hashes(folder):
    return {
        path: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def read(out, table="grades.csv"):
    with open(out / table, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


class Graded:
    """A class of everything above, once graded."""

    def __init__(self, folder):
        self.folder, self.out, self.said = folder / "class", folder / "grades", []
        for name, (cells, _, _) in NOTEBOOKS.items():
            write(self.folder / f"{name}.ipynb", *cells)
        for name, text in BROKEN.items():
            (self.folder / name).write_text(text)
        (self.folder / "essay.txt").write_text("not a notebook")
        (self.folder / "thesis.pdf").write_text("%PDF")
        (self.folder / ".hidden.ipynb").write_text("{}")
        (self.folder / "link.ipynb").symlink_to("/etc/hostname")
        self.before = hashes(self.folder)
        self.code = grade_folder(self.folder, self.out, OPTIONS, self.said.append)
        self.rows = read(self.out)

    def of(self, learner):
        return [row for row in self.rows if row["learner"] == learner]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    return Graded(tmp_path_factory.mktemp("handed in"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_costs_only_itself(graded, name):
    _, found, words = NOTEBOOKS[name]
    rows = graded.of(name)
    seen = [
        (row["exercise"], row["status"], row["mistakes"])
        for row in rows
        if row["exercise"] or not found[0][0]
    ]
    assert seen == found, rows
    assert words in " ".join(row["note"] for row in rows), rows


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_is_one_row(graded, name):
    [row] = [row for row in graded.rows if row["notebook"] == name]
    assert (row["exercise"], row["status"]) == ("", "error") and row["note"]


def test_a_link_is_not_followed(graded):
    assert [row["note"] for row in graded.of("link")] == ["it is a link, or no ordinary file"]


@pytest.mark.parametrize(
    "name, words", [("thesis", "it is a PDF, not a notebook"), ("essay", "it is a text, not a")]
)
def test_what_is_no_notebook_gets_a_row(graded, name, words):
    [row] = graded.of(name)
    assert row["status"] == "error" and words in row["note"]


def test_no_file_is_changed(graded):
    assert hashes(graded.folder) == graded.before


@in_a_sandbox
def test_nothing_is_left_running(graded):
    running = subprocess.run(["ps", "-eo", "comm"], capture_output=True, text=True).stdout
    assert "ps" in running and SLEEPER not in running


def test_rows_progress_and_exit_code(graded):
    assert graded.code == 0
    assert list(graded.rows[0]) == [
        "learner",
        "id",
        "exercise",
        "status",
        "cases",
        "mistakes",
        "notebook",
        "note",
    ]
    assert {row["status"] for row in graded.rows} == set(process.STATUSES)
    count = len(NOTEBOOKS) + len(BROKEN) + 3
    progress = [line for line in graded.said if line.startswith("[")]
    assert len(progress) == count and progress[-1].startswith(f"[{count}/{count}]")
    learners = [row["learner"].casefold() for row in graded.rows]
    assert learners == sorted(learners)
    assert ".hidden.ipynb: left alone, as it is hidden" in graded.said


def test_every_answer_that_is_not_right_has_a_reason(graded):
    assert [
        row
        for row in graded.rows
        if row["status"] in ("incorrect", "error") and not row["mistakes"] + row["note"]
    ] == []


def test_summary_counts_learners_and_names_the_mistakes(graded):
    text = (graded.out / "summary.html").read_text(encoding="utf-8")
    best = Counter(row["status"] for row in graded.rows if row["exercise"] == "softmax")
    for status in process.STATUSES:
        assert re.search(
            rf'<span class="{status.split()[0]}" style="flex:{best[status]}"'
            rf' title="{status}">{best[status]}<',
            text,
        )
    made = sum(row["mistakes"] == MISTAKE for row in graded.rows if row["exercise"] == "softmax")
    tried = sum(best.values()) - best["not attempted"]
    assert re.search(
        rf'<td rowspan="\d">{MISTAKE}</td>(<td>.*\n<tr>)?<td><code>softmax</code></td><td>{made} of'
        rf' {tried}</td>',
        text,
    )
    assert (
        "in the book: \"Mistakes: the softmax\"" in text
        and "<i>Ask the room:</i> Which number can you subtract" in text
    )
    assert "<script" not in text and "http" not in text
    assert [
        row["learner"] for row in graded.rows if row["notebook"] in text
    ] == []  # it is to be projected


def test_notes_name_what_could_not_be_run(graded):
    text = (graded.out / "notes.html").read_text(encoding="utf-8")
    assert (
        "empty.ipynb: the file is empty" in text
        and "thesis.pdf" in text
        and ".hidden.ipynb" in text
    )


# ---------------------------------------------------------------- chapters as they are handed in


def filled(path):
    """The cells of a chapter with the solutions where they are asked for."""
    cells, solution = source.cells(path.read_bytes()), CHAPTERS / "solutions" / path.name
    answers, before = {}, []  # an answer comes with the cells before it: imports, and kernels
    for cell in source.cells(solution.read_bytes()) if solution.exists() else ():
        named = [name for name in source.defined_in(cell) if name in exercises()]
        named += source.problems_in(cell, answered=True)
        before.append(cell)
        answers.update(dict.fromkeys(named, "\n".join(before)))
        before = [] if named else before
    asked = {name for cell in cells for name, _ in source.checked_in(cell)}

    def open_in(cell):
        yield from (name for name in source.defined_in(cell) if name in asked)
        yield from source.problems_in(cell)

    return [
        next((answers[name] for name in open_in(cell) if name in answers), cell) for cell in cells
    ]


@pytest.mark.parametrize("chapter", sorted(CHAPTERS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_chapters_untouched_and_solved(tmp_path, chapter):
    """Untouched a chapter gives nothing, and filled with the solutions full marks; far from the
    limit of time.
    """
    if source.checked_in("\n".join(source.cells(chapter.read_bytes()))) == []:
        pytest.skip("it has no exercises")
    (tmp_path / "in" / "untouched").mkdir(parents=True)
    (tmp_path / "in" / "untouched" / chapter.name).write_bytes(chapter.read_bytes())
    if (CHAPTERS / "solutions" / chapter.name).exists():
        write(tmp_path / "in" / "solved" / chapter.name, *filled(chapter))
    grade_folder(
        tmp_path / "in",
        tmp_path / "out",
        replace(OPTIONS, limits=process.Limits()),
        lambda text: None,
    )
    rows = read(tmp_path / "out")
    missing = {name for name, exercise in exercises().items() if exercise.cannot_check()}
    assert {(row["learner"], row["status"]) for row in rows if row["exercise"] not in missing} <= {
        ("solved", "correct"),
        ("untouched", "not attempted"),
    }, rows
    count = Counter(row["learner"] for row in rows)
    assert count["untouched"] and count["solved"] in (0, count["untouched"])
    assert not any("Tried to" in row["note"] for row in rows)


def test_grading_twice_gives_the_same_and_keeps_what_was_there(tmp_path):
    write(
        tmp_path / "b.ipynb",
        HEAD,
        "import random\nprint(hash('a'), id(attnlib), random.random())",
        WRONG,
    )
    write(tmp_path / "a.ipynb", HEAD, RIGHT)
    said = []
    for _ in range(
        3
    ):  # in the folder itself, where the first grades lie when the second ones are made
        grade_folder(tmp_path, tmp_path / "grades", OPTIONS, said.append)
        if not (tmp_path / "grades-2").exists():
            (tmp_path / "grades" / "grades.csv").open("a").write("a note of mine")
            before = hashes(tmp_path)
    assert {path: hashes(tmp_path)[path] for path in before} == before
    for name in ("learners.csv", "summary.html", "feedback/a.html", "feedback/b.html"):
        first, second, third = (
            (tmp_path / place / name).read_bytes() for place in ("grades", "grades-2", "grades-3")
        )
        assert first == second == third
    second, third = (
        (tmp_path / place / "grades.csv").read_bytes() for place in ("grades-2", "grades-3")
    )
    assert second == third and len(read(tmp_path / "grades-2")) == 2
    assert any("stays as it is: this goes into" in line for line in said)
    assert "grades: left alone, as an earlier grading" in said


# ---------------------------------------------------------------- folders and names


def learners(folder, *paths):
    """The learner of each of these files."""
    for path in paths:
        write(folder / path) if path.endswith("nb") else (folder / path).write_text("x = 1")
    return {n.path: n.learner for n in collected(folder)}


def collected(folder):
    found = collect(folder)[0]
    for one in found:
        one.path = one.where
    return found


def test_learning_platforms(tmp_path):
    expected = {
        "Ada Lovelace_11_assignsubmission_file_/04.ipynb": "Ada Lovelace",
        "Ada Lovelace_11_assignsubmission_file_/more/01.ipynb": "Ada Lovelace",
        "Alan Turing_12_assignsubmission_file_04 softmax.ipynb": "Alan Turing",
        "hoppergrace_LATE_123_4567_03_softmax-1.ipynb": "hoppergrace",
        "noether/04.ipynb": "noether",
        "emmy.ipynb": "emmy",
        "03_softmax_kurt.ipynb": "03_softmax_kurt",
    }
    assert learners(tmp_path, *expected) == expected
    late = {one.learner: (one.late, one.id, one.platform) for one in collect(tmp_path)[0]}
    assert late["hoppergrace"] == (True, "123", "Canvas") and late["Alan Turing"] == (
        False,
        "12",
        "Moodle",
    )


def test_no_two_learners_share_a_name(tmp_path):
    found = learners(
        tmp_path,
        "Ann Lee_1_assignsubmission_file_/a.ipynb",
        "Ann Lee_2_assignsubmission_file_/a.ipynb",
        "bo.ipynb",
        "bo.py",
        "cy.ipynb",
        "cy/a.ipynb",
        "cy/b.ipynb",
        "José.ipynb",
        "Jose\u0301.ipynb",
    )
    assert len(set(found.values())) == len(found) - 1  # cy has handed in two
    assert found["cy/a.ipynb"] == found["cy/b.ipynb"] == "cy"
    assert (
        found["bo.py"] == "bo.py"
        and found["Ann Lee_1_assignsubmission_file_/a.ipynb"] == "Ann Lee_1"
    )


def test_wrapping_folder_and_what_systems_leave_behind(tmp_path):
    found = learners(
        tmp_path,
        "week 3/ada/a.ipynb",
        "week 3/alan/a.ipynb",
        "__MACOSX/ada/._a.ipynb",
        "week 3/ada/.ipynb_checkpoints/a-checkpoint.ipynb",
    )
    assert found == {"week 3/ada/a.ipynb": "ada", "week 3/alan/a.ipynb": "alan"}
    (tmp_path / ".DS_Store").write_text("x")
    (tmp_path / "week 3" / ".DS_Store").write_text("x")
    notebooks, odd = collect(tmp_path)
    assert [one.learner for one in notebooks] == ["ada", "alan"] and odd == []


def test_folders_in_folders_without_end(tmp_path):
    write(tmp_path / "a.ipynb")
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=folder)
        inside = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inside
    os.close(folder)
    found, [odd] = collect(tmp_path)
    assert [one.learner for one in found] == [
        "a"
    ] and f"more than {hand_ins.DEEPEST} folders" in odd
    subprocess.run(["rm", "-r", str(tmp_path / "d")], check=True)


def test_archive_of_a_class_is_read_as_it_is(tmp_path):
    write(tmp_path / "in" / "Ada_1_assignsubmission_file_" / "a.ipynb", HEAD, RIGHT, CHECK)
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.write(
            tmp_path / "in" / "Ada_1_assignsubmission_file_" / "a.ipynb",
            "Ada_1_assignsubmission_file_/a.ipynb",
        )
        archive.writestr("Bo_2_assignsubmission_file_/thesis.zip", "PK")
        archive.writestr("../../Cy_3_assignsubmission_file_/a.ipynb", "")
        archive.writestr("__MACOSX/._a.ipynb", "")
    grade_folder(tmp_path / "class.zip", tmp_path / "out", OPTIONS, lambda text: None)
    assert [(row["learner"], row["id"], row["status"]) for row in read(tmp_path / "out")] == [
        ("Ada", "1", "correct"),
        ("Bo", "2", "error"),
        ("Cy", "3", "error"),
    ]
    (tmp_path / "class.zip").write_text("no archive")
    with pytest.raises(Unusable, match="cannot be read as a .zip"):
        collect(tmp_path / "class.zip")


def test_file_that_cannot_be_read_is_a_row(tmp_path):
    write(tmp_path / "a.ipynb")
    [one] = collect(tmp_path)[0]
    (tmp_path / "a.ipynb").unlink()
    assert grade_one(one, OPTIONS).rows[0]["note"] == "it cannot be read: No such file or directory"
    one.read = lambda: 1 / 0
    assert "could not be graded: ZeroDivisionError" in grade_one(one, OPTIONS).rows[0]["note"]


@pytest.mark.parametrize(
    "name",
    [
        "=1+1",
        "@x",
        "a\x1b[31mb",
        "a\nb",
        "a\udcffb",
        "\uff1dHYPERLINK(1)",
        "a;=1",
        'a; "=1',
        "a, +1",
        " =1",
        "-x",
    ],
)
def test_names_are_no_commands(name):
    shown = hand_ins.printable(name)
    assert shown.isprintable() and shown.encode()
    assert not re.search(r"(^|[;,])[\s\"]*[=+@\uff1d\-]", shown), shown


@pytest.mark.parametrize("name", ["-", "-3", "2.5", "Ann-Marie O'Neil", "a = b"])
def test_ordinary_names_stay(name):
    assert hand_ins.printable(name) == name


def test_what_is_no_folder_of_notebooks_gets_a_sentence(tmp_path, capsys):
    for folder, words in (
        (tmp_path / "gone", "there is no folder"),
        (tmp_path, "no file that ends in .ipynb or .py"),
    ):
        with pytest.raises(Unusable, match=words):
            collect(folder)
        words_of = [
            "grade",
            str(folder),
            "--out",
            str(tmp_path / "out"),
            *["--unprotected"] * bool(NO_SANDBOX),
        ]
        assert command.main(words_of) == 1
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text, count",
    [
        ("# %%\nx = 1\n# %% [markdown]\n# text\n# %%\ny = 2", 4),
        ("x = 1\n1 / 0\n@property\ndef f(a):\n    return a\n", 3),
        ("!pip install x\nx = 1", 2),
        ("x = = 1\ny = 2", 1),
    ],
)
def test_scripts_become_cells(text, count):
    found = source.statements(text.encode())
    assert len(found) == count and (count != 3 or found[2].startswith("@property"))


ODD_LINES = (
    "x = '\x85 \u2028 \x0b \x1c'\r\n\f\f\n\f" + HEAD + "\n\f\f\f\n\f" + RIGHT + "\n\f\n" + CHECK
)
EXPORTED = (
    "#!/usr/bin/env python\n# coding: utf-8\n\n# # Softmax\n\n# In[1]:\n\n\n"
    + "\n\n# In[ ]:\n\n\n".join(
        [
            "get_ipython().run_line_magic('matplotlib', 'inline')\nget_ipython().system('ls')\n"
            + HEAD,
            f"get_ipython().run_cell_magic('time', '', {RIGHT!r})",
            "get_ipython().run_cell_magic('bash', '', 'exit')",
            CHECK,
        ]
    )
)


@pytest.mark.parametrize(
    "text",
    [
        ODD_LINES,
        EXPORTED,
        ODD_LINES.replace("\r\n", "\r"),
        "from __future__ import annotations\n"
        + HEAD
        + "\n"
        + RIGHT.replace("(scores,", "(scores: Scores,")
        + "\n"
        + CHECK,
    ],
)
def test_right_scripts_are_right(tmp_path, text):
    (tmp_path / "a.py").write_bytes(text.encode())
    [one] = collect(tmp_path)[0]
    assert [
        (row["exercise"], row["status"], row["note"]) for row in grade_one(one, OPTIONS).rows
    ] == [("softmax", "correct", "")]


@pytest.mark.parametrize(
    "cell, expected",
    [
        ("x = 5 % 3", "x = 5 % 3"),
        ("%pip install x\ny = 1", "pass\ny = 1"),
        ("if x:\n    !ls", "if x:\n    pass"),
        ("files = !ls", "pass"),
        ("%%timeit -n 1\nf()", "\nf()"),
        ("%%bash\nrm x", ""),
        ("np.exp?", "pass"),
    ],
)
def test_ipythons_own_lines_are_left_out(cell, expected):
    assert source.as_python(cell) == expected


# ---------------------------------------------------------------- when something goes wrong


def test_time_for_a_notebook_ends(tmp_path):
    limits = replace(OPTIONS, limits=process.Limits(seconds=9, cell_seconds=90))
    write(tmp_path / "in" / "slow.ipynb", HEAD, *["import time\ntime.sleep(3)"] * 9, WRONG, CHECK)
    write(
        tmp_path / "in" / "still.ipynb",
        HEAD,
        "import time\ndef f(x=time.sleep(27)): pass",
        WRONG,
        CHECK,
    )
    grade_folder(tmp_path / "in", tmp_path / "out", limits, lambda text: None)
    slow, cells, still, _ = read(tmp_path / "out")
    assert (slow["status"], slow["mistakes"]) == ("incorrect", MISTAKE)
    said = """used up the notebook's time (it begins with "import time"); only imports and"""
    assert said + " definitions were run" in cells["note"]
    assert still["status"] == "error" and "not graded" in still["note"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_memory_of_all_processes_counts_together():
    forks = (
        "import os, time\nimport numpy as np\nfor n in range(6):\n    if os.fork() == 0:\n"
        "        kept = np.ones(30 << 20)\n        time.sleep(20)\n        os._exit(0)\nfor n "
        "in range(6):\n    os.wait()"
    )
    cells = [{"cell_type": "code", "source": cell} for cell in (HEAD, WRONG, forks, CHECK)]
    limits = process.Limits(memory=1 << 30)
    result = process.attend(
        json.dumps({"cells": cells}).encode(), ".ipynb", limits, OPTIONS.protected
    )
    assert result.ended == {"took more than 1024 MB of memory": {3: "import os, time"}}
    assert result.answers["softmax"].mistakes == (MISTAKE,)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_memory_of_files_in_memory_counts():
    takes = (
        "import os, time\nfor n in range(8):\n    os.write(os.memfd_create('a'), bytes(60 << 20))\n"
        "time.sleep(20)"
    )
    cells = [{"cell_type": "code", "source": cell} for cell in (HEAD, WRONG, takes, CHECK)]
    limits = process.Limits(memory=448 << 20)
    result = process.attend(
        json.dumps({"cells": cells}).encode(), ".ipynb", limits, protected=False
    )
    assert result.ended == {"took more than 448 MB of memory": {3: "import os, time"}}


NESTED = """\
import json
big = json.loads("[" + ",".join(["[[[]]]"] * 20_000) + "]")
for shape in (big, {"pieces": big, "holder": "", "wrapped": ""}, {"other": big, "nothing": ""},
              {"pieces": [["float64", big, "", "float64", "array", ""]], "holder": "", "wrapped": ""}):
    for index in range(10):
        tell(value=["softmax", index, shape])"""  # noqa: E501


def test_nothing_is_kept_that_is_no_value():
    """Nested brackets take twenty times as much memory as their text."""
    cells = [
        {"cell_type": "code", "source": cell}
        for cell in (HEAD, TELL + 'tell(at="softmax")\n' + NESTED)
    ]
    result = process.attend(
        json.dumps({"cells": cells}).encode(), ".ipynb", process.Limits(), OPTIONS.protected
    )
    assert result.read > 4 << 20 and result.values == {} and result.kept == 0


@pytest.mark.parametrize("how", ["ASCII", "closed"])
def test_who_cannot_read_what_is_said_loses_nothing(tmp_path, how):
    write(tmp_path / "in" / "José 漢字.ipynb", HEAD, WRONG, CHECK)
    write(tmp_path / "in" / "zoë.ipynb", HEAD, RIGHT, CHECK)
    words = [
        sys.executable,
        "-m",
        "attncourse.exercises",
        "grade",
        str(tmp_path / "in"),
        "--out",
        str(tmp_path / "out"),
        "--jobs",
        "1",
        *["--unprotected"] * bool(NO_SANDBOX),
    ]
    run = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, PYTHONIOENCODING="ascii" if how == "ASCII" else "utf-8"),
    )
    if how == "closed":
        run.stdout.readline()
        run.stdout.close()
        assert run.stderr.read() == b""
        run.stderr.close()
    else:
        assert b"Jos\\xe9" in run.communicate()[0]
    assert run.wait(60) == (how == "closed")
    assert [row["learner"] for row in read(tmp_path / "out", "learners.csv")] == [
        "José 漢字",
        "zoë",
    ]
    assert len(list((tmp_path / "out" / "feedback").iterdir())) == 2


def test_a_file_that_cannot_be_written_costs_no_other(tmp_path, monkeypatch):
    for name in "abc":
        write(tmp_path / "in" / f"{name}.ipynb", HEAD, "x = 1")
    whole, said = pages.feedback, []
    monkeypatch.setattr(
        pages,
        "feedback",
        lambda learner, *more: (
            1 / 0 if learner["learner"] == "b" else whole(learner, *more) + "\ud800"
        ),
    )
    monkeypatch.setattr(pages, "notes", lambda *unused: {}["gone"])
    assert grade_folder(tmp_path / "in", tmp_path / "out", OPTIONS, said.append) == 1
    assert {path.name for path in (tmp_path / "out" / "feedback").iterdir()} == {"a.html", "c.html"}
    assert (tmp_path / "out" / "summary.html").exists() and len(
        read(tmp_path / "out", "learners.csv")
    ) == 3
    assert "the feedback for b could not be written: ZeroDivisionError: division by zero" in said
    assert "notes.html could not be written: KeyError: 'gone'" in said


def test_ctrl_c_keeps_what_is_graded(tmp_path):
    write(tmp_path / "in" / "a.ipynb", HEAD, WRONG, CHECK)
    write(tmp_path / "in" / "b.ipynb", HEAD, "import time\ntime.sleep(60)")
    run = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "attncourse.exercises",
            "grade",
            str(tmp_path / "in"),
            "--out",
            str(tmp_path / "out"),
            "--jobs",
            "1",
            *["--unprotected"] * bool(NO_SANDBOX),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, TMPDIR=str(tmp_path)),
    )
    while not run.stdout.readline().startswith("[1/2]"):
        pass
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    rest, _ = run.communicate(timeout=20)
    assert run.returncode == 130 and "Stopped. What was graded so far" in rest
    assert [row["learner"] for row in read(tmp_path / "out")] == ["a"]
    assert "1 more are not included" in (tmp_path / "out" / "summary.html").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


# ---------------------------------------------------------------- attacks

REACH = {  # what a notebook could do on the lecturer's machine, and cannot in the sandbox
    "read a file": "open(victim).read()",
    "list the class": "os.listdir(folder)",
    "write a file": "open(folder + '/new', 'w')",
    "delete a file": "os.remove(folder + '/spare')",
    "rename a file": "os.rename(folder + '/other', folder + '/another')",
    "connect by TCP": "socket.create_connection(('127.0.0.1', port), 2)",
    "connect by MPTCP": (
        "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(('127.0.0.1', port))"
    ),
    "send with fast-open": "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', port))",
    "connect by a Unix socket's path": "socket.socket(socket.AF_UNIX).connect(folder + '/socket')",
    "connect by a Unix socket's name": "socket.socket(socket.AF_UNIX).connect(chr(0) + name)",
    "see another process": "os.kill(pid, 0)",
    "limit another process": "resource.prlimit(pid, resource.RLIMIT_CPU)",
    "move another process": "os.sched_setaffinity(pid, os.sched_getaffinity(pid))",
    "read another's environment": "open(f'/proc/{pid}/environ').read()",
    "read the lecturer's environment": "os.environ['ATTNLIB_SECRET']",
}
REFUSED = {  # what the sandbox refuses, and nobody should try without it
    "take memory by memfd": "os.memfd_create('a')",
    "take memory by System V": "called(libc.shmget(0, 1 << 20, 0o1600))",
    "take memory by a shared mapping": "bytearray(mmap.mmap(-1, 8 << 30))",
    "fill the scratch folder": (
        "[open(f'/tmp/{n}', 'wb').write(bytes(32 << 20)) for n in range(20)]"
    ),
    "write one large file": "open('/tmp/large', 'wb').write(bytes(65 << 20))",
    "write to the root": "open('/new', 'w')",
    "write into /dev": "open('/dev/new', 'w')",
    "write into /dev/shm": "open('/dev/shm/new', 'w')",
    "write into attnlib": "open(attnlib.__file__, 'a')",
    "write into a package": "open(np.__file__, 'a')",
    "change the kernel's settings": "open('/proc/sys/kernel/core_pattern', 'a')",
    "trace a process": "called(libc.ptrace(16, os.getppid(), 0, 0))",
    "make a socket out of a virtual machine": "socket.socket(40, socket.SOCK_STREAM)",
    "connect out of a virtual machine": "socket.socket(socket.AF_VSOCK).connect((2, 22))",
    "make a packet socket": "socket.socket(17, socket.SOCK_RAW)",
    "make a socket of the kernel's cryptography": "socket.socket(38, socket.SOCK_SEQPACKET)",
    "make a Bluetooth socket": "socket.socket(31, socket.SOCK_RAW, 1)",
    "make a namespace": "called(libc.unshare(0x10000000))",
    "make a namespace by clone": "called(libc.syscall(CLONE, 0x10000000 | 17, 0, 0, 0, 0))",
    "mount something": "called(libc.mount(b'a', b'/tmp', b'tmpfs', 0, b''))",
    "find a shell": "subprocess.run(['/bin/sh', '-c', 'true'], check=True)",
    "raise its own limits": "resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)",
}
TRIED = """\
import ctypes, json, mmap, os, platform, resource, socket, subprocess
import attnlib, numpy as np
libc, CLONE = ctypes.CDLL(None, use_errno=True), {"x86_64": 56}.get(platform.machine(), 220)

def called(code):
    if code < 0:
        raise OSError(ctypes.get_errno(), "refused")
    if code == 0:  # the child of a clone
        os._exit(0)

done = []
for what, code in deeds.items():
    try:
        eval(code)
        done.append(what)
    except (OSError, KeyError, MemoryError, ValueError, OverflowError, resource.error):
        pass
for change in ("os.chmod(victim, 0o666)", "os.utime(victim, (1, 1))"):
    try:
        eval(change)
    except OSError:
        pass
tell(problem="; ".join(done) or "nothing")
"""


def tried(deeds, protected, **names):
    """What of these deeds a notebook gets done."""
    given = "\n".join(f"{name} = {value!r}" for name, value in dict(names, deeds=deeds).items())
    cell = {"cell_type": "code", "source": "\n".join([given, TELL, TRIED])}
    result = process.attend(
        json.dumps({"cells": [cell]}).encode(), ".ipynb", process.Limits(), protected
    )
    assert result.problem and not result.ended, result
    return [] if result.problem == "nothing" else result.problem.split("; ")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """What a lecturer's machine has: files, sockets, processes, secrets; all made for the test."""
    for name in ("victim", "spare", "other"):
        (tmp_path / name).write_text("a")
    monkeypatch.setenv("ATTNLIB_SECRET", "password")
    name = f"attnlib {os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as by_name,
        subprocess.Popen(["sleep", "600"]) as other,
    ):
        by_path.bind(str(tmp_path / "socket"))
        by_name.bind("\0" + name)
        by_path.listen()
        by_name.listen()
        yield dict(
            folder=str(tmp_path),
            victim=str(tmp_path / "victim"),
            port=tcp.getsockname()[1],
            name=name,
            pid=other.pid,
        )
        other.kill()


@in_a_sandbox
def test_notebook_reaches_nothing_of_the_machine(machine, tmp_path):
    before = os.stat(machine["victim"])
    assert tried(REACH, protected=True, **machine) == []
    after = os.stat(machine["victim"])
    assert (after.st_mode, after.st_mtime) == (before.st_mode, before.st_mtime)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "other",
        "socket",
        "spare",
        "victim",
    ]


@in_a_sandbox
def test_without_the_sandbox_it_would(machine):
    """So that the test above tries what can be done."""
    done = tried(REACH, protected=False, **machine)
    missing = set(REACH) - set(done)
    assert missing <= {
        "connect by MPTCP",
        "send with fast-open",
        "read the lecturer's environment",
    }, missing
    assert os.stat(machine["victim"]).st_mtime == 1


@in_a_sandbox
@pytest.mark.parametrize("what", REFUSED)
def test_sandbox_refuses(what):
    assert tried({what: REFUSED[what]}, protected=True, victim="/tmp/none") == []


@in_a_sandbox
@pytest.mark.parametrize("family", ["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"])
def test_sockets_within_the_sandbox_can_be_made(family):
    """So that the refused ones are refused for their family."""
    kind = "SOCK_RAW" if family == "AF_NETLINK" else "SOCK_STREAM"
    assert tried(
        {"it": f"socket.socket(socket.{family}, socket.{kind})"}, protected=True, victim="/tmp/none"
    ) == ["it"]


@in_a_sandbox
def test_an_environment_around_the_class_shows_nothing_of_it(tmp_path):
    """A virtual environment is a folder that people keep their course in."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "course"], check=True)
    course = tmp_path / "course"
    (course / "solutions.txt").write_text("mine")
    reads = (
        "import os, sys\nassert sys.prefix\nseen = "
        f"os.path.exists({str(course / 'solutions.txt')!r}) or "
        f"os.path.exists({str(course / 'in' / 'bo' / 'a.ipynb')!r})"
    )
    write(course / "in" / "ada" / "a.ipynb", HEAD, reads, (RIGHT + " * (2 if seen else 1)"), CHECK)
    write(course / "in" / "bo" / "a.ipynb", HEAD, WRONG, CHECK)
    packages = [path for path in sys.path if path.endswith("-packages")]
    [own] = course.glob("lib/python*/site-packages")
    (own / "rest.pth").write_text("\n".join([*packages, str(CHAPTERS.parent)]))
    [python] = course.glob("bin/python3.*")
    for name in ("numpy", "numpy.libs"):  # an environment that is made of links
        for place in packages:
            if (Path(place) / name).exists() and not (own / name).exists():
                (own / name).symlink_to(Path(place) / name)
    graded = subprocess.run(
        [python, "-m", "attncourse.exercises", "grade", course / "in", "--out", course / "out"],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=str(CHAPTERS.parent)),
    )
    assert graded.returncode == 0, graded.stderr
    assert [(row["learner"], row["status"]) for row in read(course / "out")] == [
        ("ada", "correct"),
        ("bo", "incorrect"),
    ]


@in_a_sandbox
def test_a_class_below_what_is_mounted_is_refused(tmp_path, monkeypatch, capsys):
    write(tmp_path / "class" / "a.ipynb", HEAD, RIGHT, CHECK)
    mounted = sandbox.interpreter()
    monkeypatch.setattr(sandbox, "interpreter", lambda: {*mounted, str(tmp_path)})
    for words in (
        [str(tmp_path / "class"), "--out", "/nowhere"],
        ["/nowhere", "--out", str(tmp_path / "class" / "out")],
    ):
        assert command.main(["grade", *words]) == 1
        assert f"lies in {tmp_path}, which every notebook may read" in capsys.readouterr().err


@in_a_sandbox
def test_devices_stay_as_they_are():
    before = os.stat("/dev/null")
    tried({}, protected=True, victim="/dev/null")
    assert (os.stat("/dev/null").st_mode, os.stat("/dev/null").st_mtime) == (
        before.st_mode,
        before.st_mtime,
    )


@in_a_sandbox
def test_what_a_notebook_reaches_for_is_said(tmp_path):
    write(
        tmp_path / "a.ipynb",
        HEAD,
        WRONG,
        "open('/etc/shadow')",
        "open('data.csv')",
        "import os\nos.listdir('/home/x')",
        "import shutil\nshutil.rmtree('/home/x', ignore_errors=True)",
        "os.rmdir('/')",
        "os.rmdir('/tmp')",
        "import socket\nsocket.create_connection(('example.org', 80))",
        "socket.socket().connect(('192.0.2.1', 80))",
        "socket.socket().bind(('127.0.0.1', 0))",  # as libraries do, to see what there is
        "import os\nos.kill(1, 9)",
        "import subprocess\nsubprocess.run(['ls'])",
        CHECK,
    )
    said = []
    grade_folder(tmp_path, tmp_path / "out", OPTIONS, said.append)
    [row] = read(tmp_path / "out")
    assert row["mistakes"] == MISTAKE
    assert (
        row["note"]
        == "Tried to read /etc/shadow; list /home/x; delete /home/x; delete /; delete /tmp; use "
        "the network (example.org); use the network (192.0.2.1:80); "
        "send a signal to process 1; start a program (ls)."
    )
    assert "tried to read /etc/shadow" in "".join(said)
    assert "tried to read /etc/shadow" in (tmp_path / "out" / "notes.html").read_text()


def test_right_notebooks_reach_for_nothing(graded):
    assert [
        row["note"] for name in ("right", "wrong", "IPython's lines") for row in graded.of(name)
    ] == ["", "", ""]


def test_without_bubblewrap_grading_stops_with_a_sentence(tmp_path, capsys, monkeypatch):
    write(tmp_path / "a.ipynb", HEAD, RIGHT, CHECK)
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox.problem.cache_clear()
    try:
        assert command.main(["grade", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
        said = capsys.readouterr().err
        for words in (
            "bubblewrap is not installed",
            "sudo apt install bubblewrap",
            "in a container",
            "--unprotected",
        ):
            assert words in said
        assert not (tmp_path / "out").exists()
        assert (
            command.main(["grade", str(tmp_path), "--out", str(tmp_path / "out"), "--unprotected"])
            == 0
        )
        assert "without any protection" in capsys.readouterr().out
        assert [row["status"] for row in read(tmp_path / "out")] == ["correct"]
    finally:
        sandbox.problem.cache_clear()


@in_a_sandbox
def test_bubblewrap_that_may_not_is_named_with_its_own_words(monkeypatch):
    monkeypatch.setattr(sandbox, "_mounts", lambda: ["--no-such-option"])
    sandbox.problem.cache_clear()
    try:
        assert "here it says: " in sandbox.problem() and "--no-such-option" in sandbox.problem()
    finally:
        sandbox.problem.cache_clear()


# ---------------------------------------------------------------- what is believed


def told_of(values):
    """The values of softmax in every case, as a notebook reports them."""
    exercise = exercises()["softmax"]
    found = {}
    for i, case in enumerate(exercise.all_cases()):
        array = np.asarray(values(exercise, i, case))
        text = base64.b64encode(array.tobytes()).decode()
        found[i] = reported(
            [[str(array.dtype), list(array.shape), text, str(array.dtype), "array", ""]]
        )
    return found


def reported(pieces, holder="", wrapped=""):
    return {"pieces": pieces, "holder": holder, "wrapped": wrapped}


def reference(exercise, i, case):
    return exercise.predict((), i)[0].astype(case.dtype)


def test_verdict_rests_on_the_values():
    right = told_of(reference)
    said = process.Told("correct", message="softmax: correct")
    assert verdict.judged("softmax", said, right).status == "correct"
    one_less = {i: value for i, value in right.items() if i}
    assert verdict.judged("softmax", said, one_less).status == "incorrect"
    assert verdict.judged("softmax", said, one_less).note == verdict.UNTRUE
    wide = told_of(lambda *one: reference(*one).astype("float64"))
    assert verdict.judged("softmax", said, wide).status == "incorrect"
    assert verdict.judged("softmax", process.Told("correct"), {}).level == "otherwise"


PIECE = ["float64", [1], "AAAAAAAAAAA=", "float64", "array", ""]


@pytest.mark.parametrize(
    "told",
    [
        None,
        3,
        "abc",
        [],
        {},
        {"other": 3, "nothing": ""},
        {"other": "", "nothing": ""},
        {"kind": [], "text": ""},
        {"kind": "ValueError"},
        reported([PIECE], "set"),
        reported([[]]),
        reported([]),
        reported([PIECE] * 33, "tuple"),
        *(
            reported([[*PIECE[:n], bad, *PIECE[n + 1 :]]])
            for n, bad in (
                (0, "object"),
                (1, [2]),
                (1, [1] * 9),
                (1, [-1]),
                (1, "1"),
                (2, "AAA"),
                (3, "complex"),
                (4, "dict"),
                (5, "cuda"),
            )
        ),
    ],
)
def test_values_are_looked_at(told):
    assert verdict.outcome(told).answer is None and verdict.outcome(told).failure is None
    assert verdict.outcome(reported([PIECE])).answer.pieces[0].values.tolist() == [0]


# ---------------------------------------------------------------- whatever an answer returns


def returns(expression, *before):
    return "\n".join(
        [
            "def softmax(scores, axis=-1):",
            *(f"    {line}" for line in before),
            f"    return {expression}",
        ]
    )


DOT_SCORE = "def dot_score(query, key):\n    return query @ key\ncheck('dot_score', dot_score)"
KINDS = {
    "None": "def softmax(scores, axis=-1):\n    e = np.exp(scores)",
    "a printed answer": "def softmax(scores, axis=-1):\n    print(np.exp(scores))",
    "a string": returns("'softmax'"),
    "a ragged list": returns("[[1.0], [1.0, 2.0]]"),
    "a generator": returns("(one for one in scores)"),
    "a dict": returns("{'weights': scores}"),
    "a set": returns("{1, 2}"),
    "complex numbers": returns("scores + 1j"),
    "Python objects": returns("scores.astype(object)"),
    "a masked array": returns("np.ma.masked_array(scores)"),
    "a function": returns("np.exp"),
    "itself": returns("softmax"),
    "a class": returns("dict"),
    "an empty tuple": returns("()"),
    "a tuple of nothing": returns("(None,)", "print(scores)"),
    "a tuple of strings": returns("('a', 'b')"),
    "text in an array": returns("np.array(['a'])"),
    "dates": returns("np.array(['2020-01-01'], 'datetime64[D]')"),
    "a structured array": returns("np.zeros(3, [('a', float)])"),
    "an object of its own": returns("type('Mine', (), {})()"),
    "an object that raises": returns("type('Mine', (), {'__array__': lambda *unused: 1 / 0})()"),
    "a map": returns("map(abs, scores)"),
    "bytes": returns("b'abc'"),
    "an array without entries": returns("np.zeros(0)"),
    "twenty axes": returns("scores.reshape((1,) * 20 + scores.shape)"),
    "a complex number": returns("1j"),
}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """A learner for each, with a right answer to another exercise below it; and what check says."""
    folder = tmp_path_factory.mktemp("kinds")
    for name, cell in KINDS.items():
        write(folder / "in" / f"{name}.ipynb", HEAD, cell, CHECK, DOT_SCORE)
    (folder / "settings.toml").write_text("[points]\nsoftmax = 1\ndot_score = 1\n")
    (folder / "roster.csv").write_text(
        "Name,Number\n" + "".join(f"{name},1\n" for name in KINDS), "utf-8"
    )
    graded_as(
        folder / "in",
        folder / "out",
        "--settings",
        str(folder / "settings.toml"),
        "--roster",
        str(folder / "roster.csv"),
    )
    return folder / "out"


@pytest.mark.parametrize("name", KINDS)
def test_grading_says_what_check_says_of_whatever_is_returned(kinds, name):
    names = {"np": np, "__name__": "__main__"}
    statements.remember("<a cell>", KINDS[name])  # check reads the source, as it does in a notebook
    exec(compile(KINDS[name], "<a cell>", "exec"), names)
    said = grading.grade("softmax", names["softmax"])
    found = {row["exercise"]: row for row in read(kinds) if row["learner"] == name}
    assert found["softmax"]["status"] == said.status in ("incorrect", "error")
    assert found["softmax"]["mistakes"] == "; ".join(said.mistakes)
    assert found["softmax"]["cases"].startswith("0 of ")
    [page] = (kinds / "feedback").glob(f"{name}.html")
    assert " ".join(said.message.split()) in " ".join(html.unescape(page.read_text()).split())
    assert found["dot_score"]["status"] == "correct"  # what is returned costs that exercise alone


# ---------------------------------------------------------------- levels


def level_of(code, name="softmax"):
    """The Verdict on a function, as it comes out of a notebook."""
    cells = [
        {"cell_type": "code", "source": cell} for cell in (HEAD, code, f'check("{name}", {name})')
    ]
    result = process.attend(
        json.dumps({"cells": cells}).encode(), ".ipynb", process.Limits(), OPTIONS.protected
    )
    return verdict.judged(name, result.answers[name], result.values.get(name, {}))


OWN_REFERENCE = """\
from attncourse.exercises.engine.find import exercises
def softmax(scores, axis=-1):
    exercise = exercises()["softmax"]
    return exercise.answer({}, '', scores, axis).astype(scores.dtype)"""
PREDICTED = """\
from attncourse.exercises.engine.find import exercises
def softmax(scores, axis=-1):
    exercise = exercises()["softmax"]
    for i, case in enumerate(exercise.all_cases()):
        if len(case.args) == 2 and np.array_equal(case.args[0], scores) and case.args[1] == axis or (
                len(case.args) == 1 and np.array_equal(case.args[0], scores)):
            return exercise._predict((), i, True)[0].astype(scores.dtype)"""  # noqa: E501


@pytest.mark.parametrize(
    "code, level",
    [
        (RIGHT, "right"),
        (WRONG, "nearly_right"),  # right until something overflows
        (
            RIGHT.replace("return e", "return np.float64(1) * e"),
            "nearly_right",
        ),  # float64 leaks out
        (
            RIGHT.replace("axis=axis, keepdims=True)", "keepdims=True)"),
            "one_mistake",
        ),  # over the whole array
        (
            RIGHT.replace("scores - ", "scores -= ")
            .replace("e = np.exp(scores -= ", "scores -= ")
            .replace("keepdims=True))\n", "keepdims=True)\n    e = np.exp(scores)\n"),
            "one_mistake",
        ),  # argument overwritten
        (RIGHT.replace("return e", "return 0.3 + np.sin(e)"), "otherwise"),
        (
            RIGHT.replace(
                "return e / e.sum(axis=axis, keepdims=True)",
                "return (e / e.sum(axis=axis, keepdims=True)).tolist()",
            ),
            "one_mistake",
        ),
        # a list, or a dtype, that is named beside values that nothing explains
        (returns("np.sin(scores).tolist()"), "otherwise"),
        (returns("np.sin(scores).astype('f8')"), "otherwise"),
        (returns("(scores > 0).astype(int)"), "otherwise"),
        (returns("np.full(4, 0.25)"), "otherwise"),  # a row of the chapter's own
        (returns("(np.sin(scores),)"), "otherwise"),
        (
            RIGHT.replace("    return e", "    e"),
            "otherwise",
        ),  # one mistake has a name, and nothing else is known
        ("def softmax(scores, axis=-1):\n    return scores @ 'a'", "otherwise"),
        ("def softmax(scores, axis=-1):\n    return attnlib.softmax(scores, axis)", "otherwise"),
        (OWN_REFERENCE, "otherwise"),
        (PREDICTED, "otherwise"),
    ],
)
def test_an_answer_that_is_not_right_has_a_level_with_a_reason(code, level):
    found = level_of(code)
    assert found.level == level, found


@pytest.mark.parametrize("code", [OWN_REFERENCE, PREDICTED])
def test_the_exercises_own_reference_is_named_as_such(code):
    found = level_of(code)
    assert (found.status, found.mistakes, found.passed) == ("incorrect", (verdict.READY_MADE,), 0)
    assert "reference" in found.note and "reference" in found.message


def test_torchs_own_functions_are_worth_nothing():
    pytest.importorskip("torch")
    for call in (
        "torch.softmax(torch.from_numpy(scores), axis).numpy()",
        "torch.from_numpy(scores).softmax(axis).numpy()",
        "torch.nn.functional.softmax(torch.tensor(scores), axis).numpy()",
        "torch.from_numpy(scores).softmax(axis)",
        "torch.softmax(torch.from_numpy(scores.copy()), -1).numpy()",
    ):
        found = level_of(f"import torch\n{returns(call)}")
        assert found.level == "otherwise" and verdict.READY_MADE in found.mistakes, (call, found)


def test_levels_can_be_set(tmp_path):
    (tmp_path / "s.toml").write_text("[levels]\none_mistake = 0.25\n")
    assert points.settings(tmp_path / "s.toml").levels == dict(
        right=1, nearly_right=0.75, one_mistake=0.25, otherwise=0
    )


def test_what_was_not_graded_is_empty_and_not_zero(tmp_path, monkeypatch):
    write(tmp_path / "in" / "ada.ipynb", HEAD, RIGHT, CHECK)
    write(tmp_path / "in" / "bo.ipynb", HEAD, WRONG, CHECK)
    (tmp_path / "in" / "cy.ipynb").write_text("{")
    (tmp_path / "in" / "di.pdf").write_text("%PDF")
    (tmp_path / "roster.csv").write_text("Name,Number\nada,1\nbo,2\ncy,3\ndi,4\n")
    whole = verdict.judged
    monkeypatch.setattr(
        verdict,
        "judged",
        lambda name, told, values: 1 / 0 if told.status != "correct" else whole(name, told, values),
    )
    graded_as(
        tmp_path / "in",
        tmp_path / "out",
        "--roster",
        str(tmp_path / "roster.csv"),
        "--assignment",
        "Week",
    )
    assert {row["Name"]: row["Week"] for row in read(tmp_path / "out", "import.csv")} == {
        "ada": "1.0",
        "bo": "",
        "cy": "",
        "di": "",
    }
    [bo] = [row for row in read(tmp_path / "out") if row["learner"] == "bo"]
    assert (bo["exercise"], bo["note"]) == (
        "softmax",
        "it could not be graded: ZeroDivisionError: division by zero",
    )


# ---------------------------------------------------------------- what is written


def class_of_three(folder):
    """Ada is right, Bo wrong and late, Cy has copied from Ada under other names."""
    write(folder / "Ada Lovelace_11_assignsubmission_file_" / "a.ipynb", HEAD, RIGHT, CHECK)
    write(folder / "Bo =1_12_assignsubmission_file_" / "a.ipynb", HEAD, WRONG, CHECK)
    write(
        folder / "Cy_13_assignsubmission_file_" / "a.ipynb",
        HEAD,
        RIGHT.replace("scores", "s")
        .replace(" e ", " exps ")
        .replace(" e.", " exps.")
        .replace("    return", "    # mine\n    return"),
        CHECK,
    )
    for path in folder.rglob("*.ipynb"):
        late = "Bo" in str(path)
        os.utime(path, (1e9 + 2 * late, 1e9 + 2 * late))
    return folder


def graded_as(folder, out, *words):
    assert (
        command.main(
            ["grade", str(folder), "--out", str(out), *words, *["--unprotected"] * bool(NO_SANDBOX)]
        )
        == 0
    )
    return {row["learner"]: row for row in read(out, "learners.csv")}


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    folder = class_of_three(tmp_path_factory.mktemp("three") / "in")
    (folder.parent / "settings.toml").write_text(
        "deadline = 2001-09-09T01:46:41Z\n[points]\nsoftmax = 2\nlogsumexp = 1\n"
    )
    graded_as(folder, folder.parent / "out", "--settings", str(folder.parent / "settings.toml"))
    return folder.parent


def test_row_for_each_learner(three):
    found = {row["learner"]: row for row in read(three / "out", "learners.csv")}
    assert [
        (name, row["id"], row["late"], row["points"], row["of"]) for name, row in found.items()
    ] == [
        ("Ada Lovelace", "11", "", "2.0", "3"),
        ("Bo =1", "12", "late", "1.5", "3"),
        ("Cy", "13", "", "2.0", "3"),
    ]


def test_tables_open_in_a_spreadsheet_and_in_moodle(three):
    for name in ("grades.csv", "learners.csv"):
        assert (three / "out" / name).read_bytes().startswith(b"\xef\xbb\xbf")
    text = (three / "out" / "moodle.csv").read_text()
    assert text.splitlines()[:2] == [
        "Identifier,Full name,Grade,Maximum Grade,Last modified (grade)",
        "Participant 11,Ada Lovelace,2.0,3,-",
    ]
    assert not (three / "out" / "canvas.csv").exists()


def test_feedback_has_checks_words_and_moodles_folders(three):
    text = (
        three / "out" / "feedback" / "Bo =1_12_assignsubmission_file_" / "feedback.html"
    ).read_text()
    assert "1.5 of 3 points, handed in late" in text
    assert "1.5 of 2 points. 32 of 47 test cases are right: all but those for" in text
    assert "The mistake: no maximum subtracted" in text
    assert (
        "e = np.exp(scores)\n    return e / e.sum(axis=axis, keepdims=True)</pre>" in text
    )  # the learner's own code
    assert "assignsubmission" not in text and str(three) not in text


def test_answers_alike_but_for_names_are_listed(three):
    text = (three / "out" / "notes.html").read_text()
    assert (
        "<code>softmax</code>: Ada Lovelace, Cy</li>" in text
        and "Bo" not in text.partition("Alike")[2].partition("</ul>")[0]
    )


@pytest.mark.parametrize(
    "other, alike",
    [
        (
            (
                "def g(a, b):\n    '''Doc.'''\n    c = a * 2 + b - a / (b + 1) + a ** 2 - (b - a) *"
                " 3 + a\n    return c"
            ),
            True,
        ),
        (
            (
                "def f(x, y):\n    z = x * 2 + y - x / (y + 1) + x ** 2 - (y - x) * 4 + x\n    "
                "return z"
            ),
            False,
        ),
        (
            (
                "def f(x, y):\n    z = x * 2 + y - x / (x + 1) + x ** 2 - (y - x) * 3 + x\n    "
                "return z"
            ),
            False,
        ),
    ],
)
def test_fingerprint_knows_names_from_the_rest(other, alike, monkeypatch):
    one = (
        "def f(x, y):\n    z = x * 2 + y - x / (y + 1) + x ** 2 - (y - x) * 3 + x  # note\n   "
        " return z"
    )
    monkeypatch.setattr(source.inspect, "getsource", lambda text: text)
    assert (
        source.fingerprint(one) and (source.fingerprint(one) == source.fingerprint(other)) is alike
    )
    assert source.fingerprint("def f(x):\n    return x") == ""


def test_feedback_is_text_whatever_it_says():
    learner = dict(learner="<b>Bo", points=0, of=1, late="")
    row = dict(
        exercise="softmax",
        status="error",
        file="<i>.ipynb",
        note="<u>",
        message="<script>alert(1)</script>",
        share=0,
        code="<em>",
    )
    text = pages.feedback(learner, [row, dict(row, exercise="")], {"softmax": 1})
    assert not re.search(r"<(i|u|em|script)\b|<b>Bo", text)


MOODLE = "Identifier,Full name,Email address,Grade,Maximum grade,Last modified (grade)\n"
CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section,Old (1)\n"


@pytest.mark.parametrize(
    "roster, expected",
    [
        (
            MOODLE
            + "Participant 11,Ada Lovelace,ada@x,-,100.00,-\nParticipant 9,Di,di@x,-,100.00,-\n",
            MOODLE + "Participant 11,Ada Lovelace,ada@x,100.00,100.00,-\nParticipant"
            " 9,Di,di@x,-,100.00,-\n",
        ),
        (
            CANVAS + '    Points Possible,,,,,10\n"Lovelace, Ada",11,,,A,\nDi,9,,,A,3\n',
            CANVAS.strip()
            + ',Week 3\n    Points Possible,,,,,10,1\n"Lovelace, Ada",11,,,A,,1.0\nDi,9,,,A,3,\n',
        ),
        ("Name;Number\nAda Lovelace;7\nDi;8\n", "Name;Number;Week 3\nAda Lovelace;7;1.0\nDi;8;\n"),
    ],
)
def test_roster_comes_back_with_its_grades(three, tmp_path, roster, expected):
    (tmp_path / "roster.csv").write_text(roster, "utf-8-sig")
    found = graded_as(
        three / "in",
        tmp_path / "out",
        "--roster",
        str(tmp_path / "roster.csv"),
        "--assignment",
        "Week 3",
    )
    assert (tmp_path / "out" / "import.csv").read_text("utf-8-sig") == expected
    assert found["Di"]["points"] == "0" and found["Di"]["note"] == "nothing handed in"
    assert found["Cy"]["note"] == "is not on the roster"


def placed(tmp_path, roster, *handed_in, encoding="utf-8"):
    """{name as handed in: its row's first cells, or why there is none}."""
    (tmp_path / "roster.csv").write_bytes(roster.encode(encoding))
    table = Roster(tmp_path / "roster.csv")
    found = table.place(handed_in)
    return {
        one[::2]: found.rows[n].cells[0] if n in found.rows else found.said[n]
        for n, one in enumerate(handed_in)
    }


PLAIN = "No;Name;Points\n"


@pytest.mark.parametrize(
    "names, handed_in, expected",
    [
        ("Amy Lin,Ami Nyl", "Amy Lin,Ami Nyl", "1,2"),  # the same letters
        ("Liam Bone", "Noel Miba", "is not on the roster"),
        ("Wei Li,Li Wei", "Li Wei,Wei Li", "2,1"),
        ("Wei Li", "Li Wei", "1"),
        ("Wei Li", "Li Wei,Wei Li", "is not on the roster,1"),
        ("Ann Lee,Ann Lee", "Ann Lee", "fits 2 rows of the roster"),
        (
            "Ann Lee",
            "lee_ann,LEE ANN",
            "fits the same row of the roster as 1 other,fits the same row of the roster as 1 other",
        ),
        ("Ada Lovelace", "ada  LOVELACE", "1"),
        ("Ada Lovelace", "lovelaceada", "1"),
        ("Ada Lovelace", "alovelaceda", "is not on the roster"),
        ("Jo\u0308rg Straße", "J\u00f6rg STRASSE", "1"),
        ("Conan O’Neil", "Conan ONeil", "1"),
        ("Ada\u00a0Lovelace", "Ada Lovelace", "1"),
        ("Smith-Jones Mary Ann", "mary-ann smith jones", "1"),
        ("हिन्दी राम", "हन्दी राम", "is not on the roster"),
    ],
)
def test_names_find_their_rows_and_no_others(tmp_path, names, handed_in, expected):
    roster = PLAIN + "".join(f"{n};{name};\n" for n, name in enumerate(names.split(","), 1))
    found = placed(
        tmp_path, roster, *((name, "", str(n)) for n, name in enumerate(handed_in.split(",")))
    )
    assert list(found.values()) == expected.split(",")


@pytest.mark.parametrize(
    "roster, handed_in, expected",
    [
        ("ID,Name\n11,Zed\n7,Ada\n", [("Ada", "Moodle", "11")], ["7"]),  # numbers of another kind
        ("ID,Name\n11,Zed\n", [("Ada", "Moodle", "11")], ["is not on the roster"]),
        ("ID,Name\ns4711,Zed\n", [("s4711", "", "")], ["s4711"]),  # a file of this name
        (
            MOODLE + "Participant 11,Ann Lee,,,10,\nParticipant 12,Ann Lee,,,10,\n",
            [("Ann Lee", "Moodle", "12"), ("Ann Lee", "Moodle", "11")],
            ["Participant 12", "Participant 11"],
        ),
        # the worksheet of another assignment, where each has another number
        (
            MOODLE
            + "Participant 11,Bo,,,10,\nParticipant 12,Ada,,,10,\nParticipant 13,Zed,,,10,\n",
            [("Ada", "Moodle", "11"), ("Bo", "Moodle", "12"), ("Cy", "Moodle", "13")],
            ["Participant 12", "Participant 11", "is not on the roster"],
        ),
        # a name that Canvas has made anew, and one of somebody else of this name
        (
            CANVAS
            + '"Lovelace, Ada",11,,,A,\n"Żółć, Łuk",12,,,A,\n"Lee, Ann",13,,,A,\nBo,14,,,A,\n',
            [
                ("lovelaceada", "Canvas", "11"),
                ("bo", "Canvas", "14"),
                ("zolcluk", "Canvas", "12"),
                ("leeann", "Canvas", "99"),
            ],
            [
                '"Lovelace, Ada"',
                "Bo",
                '"Żółć, Łuk"',
                "has the name, but not the number, of somebody on the roster",
            ],
        ),
        # nobody's names, as in blind marking
        (
            (
                "Identifier,Status,Grade,Maximum grade\nParticipant 5,Submitted,,10\nParticipant "
                "6,Submitted,,10\n"
            ),
            [("Participant 6", "Moodle", "6")],
            ["Participant 6"],
        ),
        (
            "Vorname;Nachname;Matrikel\nAda;Lovelace;11\n",
            [("Lovelace Ada", "Moodle", "3")],
            ["Ada"],
        ),
    ],
)
def test_numbers_count_where_they_are_the_platforms_own(tmp_path, roster, handed_in, expected):
    assert list(placed(tmp_path, roster, *handed_in).values()) == expected


@pytest.mark.parametrize(
    "roster, filled",
    [
        (
            'Identifiant,Nom complet,Note,Note maximale\nParticipant 7,Ada,,"100,00"\n',
            'Identifiant,Nom complet,Note,Note maximale\nParticipant 7,Ada,"50,00","100,00"\n',
        ),
        (
            (
                "Identificador;Nombre completo;Calificación;Calificación máxima\r\nParticipante "
                "7;Ada;-;1.000,00\r\n"
            ),
            (
                "Identificador;Nombre completo;Calificación;Calificación máxima\r\nParticipante "
                "7;Ada;500,00;1.000,00\r\n"
            ),
        ),
        (
            "識別子\tフルネーム\t状態\t評点\t最大評点\n参加者 7\tAda\t提出\t\t10.00",
            "識別子\tフルネーム\t状態\t評点\t最大評点\n参加者 7\tAda\t提出\t5.00\t10.00",
        ),
        (
            'sep=;\n"Name";"";"=1+1"\n\n"Ada";" x ";"a ""b""\n;c"\nBo\n',
            'sep=;\n"Name";"";"=1+1";"Exercises"\n\n"Ada";" x ";"a ""b""\n;c";"1.0"\nBo;;;\n',
        ),
        ("Name,Grade\nAda,10th\n", "Name,Grade,Exercises\nAda,10th,1.0\n"),
        ("Name,Notes\nAda,x,y\n", "Name,Notes,Exercises\nAda,x,1.0,y\n"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_only_the_grades_cell_changes(tmp_path, roster, filled, encoding):
    (tmp_path / "roster.csv").write_bytes(roster.encode(encoding))
    table = Roster(tmp_path / "roster.csv")
    found = table.place([("Ada", "", "")])
    for _ in range(2):
        assert table.filled({id(found.rows[0]): 0.5}, 2) == filled.encode(encoding)


def test_a_roster_in_windows_encoding_stays_in_it(tmp_path):
    found = placed(tmp_path, "Name;Größe\nJörg;1,85\n", ("Jörg", "", ""), encoding="cp1252")
    assert list(found.values()) == ["Jörg"]
    table = Roster(tmp_path / "roster.csv")
    assert table.filled(
        {id(table.rows[0]): 0.5}, 1
    ) == "Name;Größe;Exercises\nJörg;1,85;0,5\n".encode("cp1252")


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "has no column Name"),
        (b"\x81\x8d,Name\n", "neither in UTF-8 nor"),
        (
            MOODLE.encode() + b"Participant 1,Ada,,,Pass,\n",
            'gives "Pass" as Maximum grade, which is not a number',
        ),
        (
            b"Identifier,Full name,x,y\nParticipant 1,Ada,-,z\n",
            "which of its columns holds the grade is not clear",
        ),
    ],
)
def test_a_roster_that_is_not_understood_is_said_and_nothing_is_written(
    tmp_path, capsys, content, words
):
    (tmp_path / "roster.csv").write_bytes(content)
    write(tmp_path / "in" / "Ada.ipynb", HEAD, RIGHT)
    assert (
        command.main(
            [
                "grade",
                str(tmp_path / "in"),
                "--out",
                str(tmp_path / "out"),
                "--roster",
                str(tmp_path / "roster.csv"),
            ]
        )
        == 1
    )
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Sheet 1 (31),Sheet 2 (32),Quiz (41),Quiz (42),"
    "Final Score\n"
    "    Points Possible,,,,,10,20.00,5,5,(read only)\n"
    '"Lovelace, Ada",11,s11,ada,A,7,,,,88\n'
)


def test_canvas_assignments_are_known_without_the_number_behind_their_names(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(GRADEBOOK)
    for name in ("Sheet 2", "Sheet 2 (32)"):
        table = Roster(path, name)
        found = table.place([("lovelaceada", "Canvas", "11")])
        assert table.new_column == ""
        assert table.filled({id(found.rows[0]): 0.75}, 4).decode() == GRADEBOOK.replace(
            "A,7,,", "A,7,15.00,"
        )


def test_a_column_that_canvas_will_make_an_assignment_of_is_said(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(GRADEBOOK)
    write(tmp_path / "in" / "lovelaceada_11_900_a.ipynb", HEAD, RIGHT)
    said = []
    grade_folder(
        tmp_path / "in",
        tmp_path / "out",
        replace(OPTIONS, roster=Roster(path, "Sheet 3")),
        said.append,
    )
    assert any('has no column "Sheet 3": import.csv gets a new one' in line for line in said)
    assert (tmp_path / "out" / "import.csv").read_text().startswith(GRADEBOOK.split("\n")[0])
    path.write_text("Name\nAda\n")
    assert Roster(path, "Sheet 3").new_column == ""


def test_two_columns_of_one_name_are_not_chosen_from(tmp_path):
    (tmp_path / "roster.csv").write_text(GRADEBOOK)
    with pytest.raises(Unusable, match='2 columns called "Quiz"'):
        Roster(tmp_path / "roster.csv", "Quiz")


def test_roster_of_another_class_gives_no_table_to_import(tmp_path, capsys):
    (tmp_path / "roster.csv").write_text("Name\nZed\n")
    write(tmp_path / "in" / "Ada.ipynb", HEAD, RIGHT)
    code = command.main(
        [
            "grade",
            str(tmp_path / "in"),
            "--out",
            str(tmp_path / "out"),
            "--roster",
            str(tmp_path / "roster.csv"),
            *["--unprotected"] * bool(NO_SANDBOX),
        ]
    )
    assert code == 1 and "Nobody who handed in is on the roster" in capsys.readouterr().out
    assert (tmp_path / "out" / "learners.csv").exists() and not (
        tmp_path / "out" / "import.csv"
    ).exists()


@pytest.mark.parametrize(
    "made, rows, more",
    [
        # the same mistake in two exercises is one mistake, and each exercise keeps its count
        (
            [("a", "softmax", MISTAKE), ("b", "softmax", MISTAKE), ("a", "softmax_row", MISTAKE)],
            [
                (
                    f'<tr><td rowspan="2">{MISTAKE}</td><td><code>softmax_<wbr>row</code></td>'
                    "<td>1 of 1</td></tr>"
                ),
                "<tr><td><code>softmax</code></td><td>2 of 2</td></tr>",
            ],
            None,
        ),
        # one name is one mistake also where two exercises explain it each in its own way
        (
            [("a", "softmax", MISTAKE), ("b", "kernel_regression", MISTAKE)],
            [
                (
                    f'<tr><td rowspan="2">{MISTAKE}</td><td><code>softmax</code></td><td>1 of '
                    '1</td></tr>'
                ),
                "<tr><td><code>kernel_<wbr>regression</code></td><td>1 of 1</td></tr>",
            ],
            None,
        ),
        # thirteen that are made as often: none is left out because its chapter comes late
        (
            [
                ("a", "softmax", MISTAKE),
                ("b", "softmax", MISTAKE),
                *[("a", name, f"odd {name}") for name in list(exercises())[:12]],
            ],
            [f"<td>{MISTAKE}</td>".replace("<td>", '<td rowspan="1">')],
            "12 more, each made by 1 learner at most",
        ),
    ],
)
def test_summary_treats_mistakes_alike(made, rows, more):
    answers = [
        dict(learner=who, exercise=name, status="incorrect", named=[mistake])
        for who, name, mistake in made
    ]
    text = pages.summary(answers, [], 0, [])
    assert all(row in text for row in rows), text
    assert (more or "in grades.csv") in text if more else "in grades.csv" not in text
    explained = {pages._known(name, mistake) for _, name, mistake in made} - {None}
    assert text.count("odd ") == 0 and text.count("<i>Ask the room:</i>") == len(explained)


def test_summary_folds_the_names_of_those_who_are_missing():
    missing = [dict(learner="Di <b>", note=pages.MISSING, points=0, of=1)]
    text = pages.summary([], [], 0, missing)
    assert (
        "<details ><summary>1 on the roster handed nothing in</summary><ul><li>Di &lt;b&gt;</li>"
        in text
    )


@pytest.mark.parametrize(
    "paths, expected",
    [
        # the learner's own part of a name may look like anything
        (
            ["Ada_11_assignsubmission_file_Bo_99_assignsubmission_file_x.ipynb"],
            [("Ada", "11", "Bo_99_assignsubmission_file_x.ipynb")],
        ),
        (
            ["Ada_11_assignsubmission_file_/Bo_99_assignsubmission_file_x.ipynb"],
            [("Ada", "11", "Bo_99_assignsubmission_file_x.ipynb")],
        ),
        (
            ["lovelaceada_11_5_Bo_99_assignsubmission_file_x.ipynb"],
            [("lovelaceada", "11", "Bo_99_assignsubmission_file_x.ipynb")],
        ),
        (
            ["lovelaceada_LATE_11_5_bo_LATE_99_7_x.ipynb"],
            [("lovelaceada", "11", "bo_LATE_99_7_x.ipynb")],
        ),
        (
            ["Ada_11_assignsubmission_file_bo_LATE_99_7_x.ipynb"],
            [("Ada", "11", "bo_LATE_99_7_x.ipynb")],
        ),
        (
            ["lovelaceada_11_text.html", "bo_12_6_a.ipynb"],
            [("bo", "12", "a.ipynb"), ("lovelaceada", "11", "lovelaceada_11_text.html")],
        ),
        # no platform's: Canvas numbers no two files alike
        (
            ["week_3_1_ada.ipynb", "week_3_1_bo.ipynb"],
            [("week_3_1_ada", "", "week_3_1_ada.ipynb"), ("week_3_1_bo", "", "week_3_1_bo.ipynb")],
        ),
        # one learner, with folders of the learner's own
        (["Ada/week3/a.ipynb"], [("Ada", "", "a.ipynb")]),
        (
            [
                "Ada_11_assignsubmission_file_/week3/a.ipynb",
                "Ada_11_assignsubmission_file_/week4/a.ipynb",
            ],
            [("Ada", "11", "week3/a.ipynb"), ("Ada", "11", "week4/a.ipynb")],
        ),
        (["Ada/week3/a.ipynb", "Ada/data/x.csv"], [("Ada", "", "a.ipynb")]),
        # a folder around the class
        (
            ["all/Ada_11_assignsubmission_file_a.ipynb", "all/Bo_12_assignsubmission_file_a.ipynb"],
            [("Ada", "11", "a.ipynb"), ("Bo", "12", "a.ipynb")],
        ),
        (["in/Ada/a.ipynb"], [("Ada", "", "a.ipynb")]),
        (["x/Ada_11_assignsubmission_file_/a.ipynb"], [("Ada", "11", "a.ipynb")]),
    ],
)
def test_whose_it_is_does_not_depend_on_what_learners_call_their_files(tmp_path, paths, expected):
    for path in paths:
        write(tmp_path / "in" / path)
    assert [(one.learner, one.id, one.own) for one in collect(tmp_path / "in")[0]] == expected


def test_roster_tells_a_learners_folder_from_one_around_the_class(tmp_path):
    (tmp_path / "roster.csv").write_text("Name\nAda\nBo\n")
    for path in ("Ada/week3/a.ipynb", "Ada/week4/a.ipynb"):
        write(tmp_path / "in" / path)
    assert {
        one.learner for one in collect(tmp_path / "in", None, Roster(tmp_path / "roster.csv"))[0]
    } == {"Ada"}


def test_feedback_says_nothing_that_is_meant_for_the_lecturer(tmp_path, monkeypatch):
    write(tmp_path / "in" / "Ada" / "a.ipynb", HEAD, WRONG, "open('/etc/shadow')", CHECK)
    (tmp_path / "in" / "Bo").mkdir()
    (tmp_path / "in" / "Bo" / "a.pdf").write_text("%PDF")
    grade_folder(tmp_path / "in", tmp_path / "out", OPTIONS, lambda text: None)
    assert "Tried to read /etc/shadow" in read(tmp_path / "out")[0]["note"] or NO_SANDBOX
    for name in ("Ada", "Bo"):
        text = (tmp_path / "out" / "feedback" / f"{name}.html").read_text("utf-8")
        assert not re.search(r"/etc|shadow|Tried|Ada/|Bo/|ask for", text), text
        assert "Next step:" in text
    assert "No points yet" in text and "it is a PDF, not a notebook" in text


def test_feedback_names_the_cell_and_the_next_step_that_fits(tmp_path):
    no_colon = RIGHT.replace("):", ")").replace("softmax", "softmax_row")
    write(
        tmp_path / "in" / "ada_12_assignsubmission_file_" / "a.ipynb",
        HEAD,
        "# the end\nimport os\nos._exit(1)",
        no_colon,
        'check("softmax_row", softmax_row)',
        'check("softmax", softmax)',
        RIGHT.replace("softmax", "logsumexp"),
        'check("logsumexp", logsumexp)',
    )
    (tmp_path / "roster.csv").write_text("Name,Grade\nÁda O'Hara,\nAda,\n")
    options = replace(
        OPTIONS, limits=process.Limits(30, 1, 1 << 30), roster=Roster(tmp_path / "roster.csv")
    )
    grade_folder(tmp_path / "in", tmp_path / "out", options, lambda text: None)
    [path] = (tmp_path / "out" / "feedback").rglob("*.html")
    text = path.read_text("utf-8")
    assert "(it begins with &quot;import os&quot;)" in text and "hand in the file" not in text
    assert "SyntaxError: expected &#x27;:&#x27; (line 1)" in text and "&lt;cell" not in text
    missing = text.partition('<section id="softmax">')[2].partition("</section>")[0]
    assert "defines no function softmax" in missing and "write <code>softmax</code>" in missing
    assert "could not be run to the end" not in missing and "restart" not in missing


def test_feedback_calls_people_as_the_roster_does(tmp_path):
    write(tmp_path / "in" / "OHara Max_12_assignsubmission_file_" / "a.ipynb", HEAD, RIGHT)
    (tmp_path / "roster.csv").write_text("Name,Grade\nMax O'Hara,\n")
    options = replace(OPTIONS, roster=Roster(tmp_path / "roster.csv"))
    grade_folder(tmp_path / "in", tmp_path / "out", options, lambda text: None)
    [path] = (tmp_path / "out" / "feedback").rglob("*.html")
    assert "<h1>Exercises: Max O&#x27;Hara</h1>" in path.read_text("utf-8")


def test_who_has_no_grade_is_said_without_a_roster(tmp_path):
    for name, number in (("Ada", 11), ("Ed", 12)):
        write(tmp_path / "in" / f"{name}_{number}_assignsubmission_file_" / "a.ipynb", HEAD, RIGHT)
    (tmp_path / "in" / "Ed_12_assignsubmission_file_" / "a.ipynb").rename(
        tmp_path / "in" / "Ed_12_assignsubmission_file_" / "a.pdf"
    )
    said = []
    grade_folder(tmp_path / "in", tmp_path / "out", OPTIONS, said.append)
    assert [line for line in said if "gets no grade" in line] == [
        "Ed gets no grade in moodle.csv: it is a PDF, not a notebook: the .ipynb file is needed"
    ]


def test_pages_fit_a_phone(tmp_path):
    """Names of files, and of exercises, are longer than a phone is wide."""
    browser = pytest.importorskip("book.browser")
    if browser.chromium() is None:
        pytest.skip("no Chromium on this machine")
    from playwright import sync_api

    names = sorted(exercises(), key=len)[-5:]
    learner = "Maximiliane Constantinopolitanidou_5036_assignsubmission_file_"
    rows = [
        dict(
            learner=learner,
            exercise=name,
            status="incorrect",
            named=["weights of the whole array", MISTAKE],
            note="",
            file="03_softmax.ipynb",
            notebook=f"{learner}/03_softmax.ipynb",
            code="x" * 200,
            message="not yet. " * 30,
            cases="1 of 2",
        )
        for name in names
    ]
    rows.append(
        dict(rows[0], exercise="", note="no", named=[], notebook=f"{learner}/{learner}.ipynb")
    )
    one = dict(learner=learner, points=1, of=3, late="", note="", unplaced="is not there")
    points_of = dict.fromkeys(names, 1)
    written = {
        "summary": pages.summary(rows, [], 0, [one]),
        "notes": pages.notes(rows, [], [f"{learner}/{learner}.html: left alone"], [one]),
        "feedback": pages.feedback(dict(one, learner="Max"), rows, points_of),
    }
    with sync_api.sync_playwright() as player:
        opened = player.chromium.launch(
            executable_path=browser.chromium(), args=["--no-sandbox", *browser.SILENT]
        )
        page = opened.new_page(viewport={"width": 390, "height": 800})
        for name, text in written.items():
            page.set_content(text)
            width = page.evaluate("document.documentElement.scrollWidth")
            split = page.evaluate(SPLIT_NAMES)
            assert (width, split) == (390, []), name
        opened.close()


# the names of exercises in tables that go on in a next line elsewhere than behind an underscore
SPLIT_NAMES = """() => [...document.querySelectorAll("td code, th code")].filter(code => {
  return [...code.childNodes].some(node => {
    if (node.nodeType !== 3) return false;
    const range = document.createRange();
    range.selectNodeContents(node);
    return new Set([...range.getClientRects()].map(box => box.top)).size > 1;
  });
}).map(code => code.textContent)"""


def test_feedback_shows_the_best_answer_and_its_points(tmp_path):
    write(tmp_path / "in" / "Ada" / "first.ipynb", HEAD, WRONG, CHECK)
    write(tmp_path / "in" / "Ada" / "second.ipynb", HEAD, RIGHT, CHECK)
    write(
        tmp_path / "in" / "Ada" / "third.ipynb",
        HEAD,
        "def softmax(scores, axis=-1):\n    return 2 *",
        CHECK,
    )
    grade_folder(tmp_path / "in", tmp_path / "out", OPTIONS, lambda text: None)
    text = (tmp_path / "out" / "feedback" / "Ada.html").read_text("utf-8")
    assert (
        text.count('<section id="softmax">') == 1
        and "You handed in 3 answers to this exercise." in text
    )
    assert (
        text.index("1 of 1 point.")
        < text.index("Your answer in first.ipynb: incorrect")
        < text.index("Your answer in third.ipynb: error")
    )
    assert "    return 2 *</pre>" in text and "scores - scores.max(axis=axis" in text


@pytest.mark.parametrize(
    "text, words",
    [
        ("deadline = 2026", "a day and a time"),
        ("[points]\nsofmax = 1", "did you mean softmax"),
        ("points = 3", "[points] gives"),
        ("[points]\nsoftmax = -1", "not negative"),
        ("x = ", "TOML file"),
        ("weights = 1", "may set points, deadline, levels"),
        ("[levels]\none_mistak = 1", "did you mean one_mistake"),
        ("[levels]\nright = 2", "from 0 to 1"),
        ("deadline = 0001-01-01T00:00:00", "a day and a time"),
    ],
)
def test_settings_that_cannot_be_meant_get_a_sentence(tmp_path, text, words):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(Unusable, match=re.escape(words)):
        points.settings(tmp_path / "s.toml")


def test_worth_without_settings_is_what_half_of_the_class_has():
    has = {"a": "softmax", "b": "softmax logsumexp", "c": "softmax", "d": "softmax_row"}
    rows = [
        dict(learner=name, exercise=one, status="correct")
        for name in has
        for one in has[name].split()
    ]
    assert points.worth({}, rows) == {"softmax": 1}
    untouched = [
        dict(learner=name, exercise="logsumexp", status="not attempted") for name in "abcd"
    ]
    assert points.worth({}, rows + untouched) == {"softmax": 1}
    assert (
        points.total(
            [dict(exercise="softmax", share=0.5), dict(exercise="softmax", share=0.25)],
            {"softmax": 3},
        )
        == 1.5
    )


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["--help"], 0, "mark the notebooks that a class hands in"),
        ([], 0, "mark the notebooks"),
        (["gade", "x"], 2, "did you mean grade?"),
        (["table", "sofmax"], 2, "did you mean softmax?"),
        (["xyz"], 2, "--help lists what there is"),
    ],
)
def test_command_names_what_there_is(capsys, words, code, said):
    assert command.main(words) == code
    assert said in "".join(capsys.readouterr())


# ---------------------------------------------------------------- the page for lecturers

PAGES = {path.stem: path.read_text("utf-8") for path in CHAPTERS.glob("for_lecturers/*.md")}
EXPECTED = re.findall(
    r"^- \[`(\w+)`\]\(\.\./mistakes/(\w+)\.md#\w+\): (.+)\.$", "".join(PAGES.values()), re.MULTILINE
)


def misnamed(exercise, page, names):
    """What of this line is not in the catalogue."""
    known = {
        mistake.name
        for mistake in (*catalogue.mistakes(exercises()[exercise]), *catalogue.ANYWHERE)
    }
    home = catalogue.file_of(exercises()[exercise].part).removesuffix(".md")
    return [name for name in re.findall(r"\*([^;]+)\*", names) if name not in known] + [page] * (
        page != home
    )


def test_page_for_lecturers_uses_the_catalogues_names():
    assert len(EXPECTED) >= 15
    assert {line[0]: misnamed(*line) for line in EXPECTED if misnamed(*line)} == {}
    assert misnamed("softmax", "softmax", "*no scale*; *softmax twice*") == ["no scale"]
    assert misnamed("softmax", "gpu", "*softmax twice*") == ["gpu"]


def test_page_for_lecturers_plans_every_chapter():
    taught = {path.stem for path in CHAPTERS.glob("[0-9]*.ipynb")} - {"00_start_here"}
    row = r"^\| \[[^]]+\]\(\.\./(\w+)\.ipynb\), \[its page\]\((\w+)\.md\)"
    assert {a for a, b in re.findall(row, PAGES["index"], re.MULTILINE) if a == b} == taught
    assert taught <= set(PAGES)


def examined(page):
    """What is missing in a page's exam questions, in words."""
    asked, _, solved = page.partition("## Exam questions")[2].partition("### Solutions and marking")
    numbers = [str(number) for number in range(1, 6)]
    found = []
    if re.findall(r"^\*\*(\d)\.\*\* \(4 points\)", asked, re.MULTILINE) != numbers:
        found.append("not five questions of 4 points")
    if re.findall(r"^\*\*(\d)\.\*\*", solved, re.MULTILINE) != numbers:
        found.append("not five solutions")
    if solved.count("\n*Marking:*") != 5 or solved.count("*Commonest wrong answer:*") != 5:
        found.append("not five marking schemes, each with the commonest wrong answer")
    return found + [f"asks for {name}" for name in exercises() if f"`{name}(" in asked]


def test_every_chapter_with_exercises_has_five_exam_questions():
    taught = {f"{exercise.chapter:02}" for exercise in exercises().values()}
    pages = {name[:2]: page for name, page in PAGES.items() if name[:2] in taught}
    assert set(pages) == taught
    assert {number: examined(page) for number, page in pages.items() if examined(page)} == {}
    some = pages["03"]
    assert examined(some.replace("**5.** (4 points)", "**5.** (5 points)"))
    assert examined(some.replace("\n*Marking:*", "\nMarking:", 1))
    assert examined(some.partition("### Solutions")[0])
    assert examined(some.replace("**2.** (4 points)", "**2.** (4 points) Write `softmax(scores)`:"))


def votes_and_exercises(plan):
    """The names in backquotes behind "Vote on" and behind "Lab:", in two sets."""
    votes, labs = (
        set(re.findall(r"`(\w+)`", "".join(re.findall(pattern, plan, re.MULTILINE))))
        for pattern in (r"Vote on (.*?)\. Lab", r"Lab: (.*?)\.(?: Hand in|$)")
    )
    return votes, labs


def test_plans_name_votes_that_are_held_and_exercises_that_there_are():
    held = set()
    for path in CHAPTERS.glob("[0-9]*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            asked = re.match(r"predict\(\"(\w+)\"\)", cell.source)
            slide = cell.metadata.get("slideshow", {})
            if asked and slide.get("minutes") and not slide.get("optional"):
                held.add(asked[1])
    votes, labs = votes_and_exercises(PAGES["index"])
    assert len(votes) >= 20 and votes <= held, votes - held
    assert len(labs) >= 40 and labs <= set(exercises()), labs - set(exercises())


def test_page_for_lecturers_shows_a_line_that_the_command_prints(graded):
    line = r"^\[1/3\] (.*): (\d) of (\d) correct \(\d\.\d s\)$"
    shown = re.search(line, PAGES["collect_and_grade"], re.MULTILINE)
    assert shown
    assert any(
        re.fullmatch(r"\[ ?\d+/\d+\] .*: \d of \d correct \(\d+\.\d s\)", line)
        for line in graded.said
    )


# ---------------------------------------------------------------- the book's own words

LISTED = "def logsumexp(scores, axis=-1):\n    return np.log(np.exp(scores).sum(axis=axis))"
OF_THE_BOOK = [HEAD, "x = np.ones(3)", STUB, CHECK, LISTED, RIGHT, "print(softmax(x))"]
NO_PYTHON = "def softmax(scores, axis=-1):\n    return return"


def instead(of, *cells):
    """The chapter with these cells in the place of one of its own."""
    return [one for cell in OF_THE_BOOK for one in (cells if cell == of else [cell])]


@pytest.fixture
def of_the_book(monkeypatch):
    """A chapter that lists an answer to its own exercise, and another chapter's function."""
    cells = [(source.mark(cell), source.left_open(cell)) for cell in OF_THE_BOOK]
    monkeypatch.setattr(process, "chapters", lambda: {"03_softmax": cells})


def attended(*cells):
    cells = [{"cell_type": "code", "source": cell} for cell in cells]
    content = json.dumps({"cells": cells}).encode()
    return process.attend(content, ".ipynb", process.Limits(), OPTIONS.protected)


@pytest.mark.parametrize(
    "cells, expected",
    [
        (OF_THE_BOOK, "not attempted"),
        (instead(STUB, STUB, "y = 2 * x"), "not attempted"),
        (instead(STUB, RIGHT), "correct"),  # the words of the listing, where the exercise stands
        (instead(STUB, STUB, RIGHT), "correct"),
        ([cell for cell in instead(STUB, RIGHT) if cell != CHECK], "correct"),
        ([*instead(STUB, RIGHT)[:5], "print(softmax(x))"], "correct"),  # and the listing is gone
        ([HEAD, RIGHT, CHECK], "correct"),
        ([HEAD, RIGHT], "correct"),
        (instead(STUB, WRONG), "incorrect"),
        (instead(STUB, NO_PYTHON), "error"),
        (instead(STUB, STUB, NO_PYTHON), "error"),
    ],
)
def test_what_a_learner_wrote_counts_whatever_it_resembles(of_the_book, cells, expected):
    answers = attended(*cells).answers
    assert answers["softmax"].status == expected, answers


def test_a_function_of_the_book_with_another_exercises_name_is_no_attempt(of_the_book):
    for cells in (OF_THE_BOOK, [*OF_THE_BOOK, 'check("logsumexp", logsumexp)']):
        told = attended(*cells).answers.get("logsumexp")
        assert told is None or told.status == "not attempted"
    own = [*OF_THE_BOOK, LISTED + "\n", 'check("logsumexp", logsumexp)']
    assert attended(*own).answers["logsumexp"].status != "not attempted"


def test_chapters_leave_open_what_they_ask_for():
    """What a chapter checks of its own, it leaves open: else nothing tells an attempt from the
    book.
    """
    for path in sorted(CHAPTERS.glob("*.ipynb")):
        cells = source.cells(path.read_bytes())
        left = {name for cell in cells for name in source.left_open(cell)}
        assert {name for cell in cells for name, _ in source.checked_in(cell)} <= left | {"..."}, (
            path
        )


def test_without_the_chapters_the_command_says_so(tmp_path, monkeypatch):
    write(tmp_path / "in" / "Ada.ipynb", *OF_THE_BOOK[:5])
    for module in (grade, process):
        monkeypatch.setattr(module, "chapters", dict)
    said = []
    assert grade_folder(tmp_path / "in", tmp_path / "out", OPTIONS, said.append) == 0
    assert grade.NO_CHAPTERS in said
    assert [row["status"] for row in read(tmp_path / "out")] == ["not attempted"]


# ---------------------------------------------------------------- what this machine can't check

WITHOUT_TORCH = """\
from importlib.machinery import PathFinder
def find_spec(name, *more, real=PathFinder.find_spec):
    return None if name.partition(".")[0] in ("torch", "triton") else real(name, *more)
PathFinder.find_spec = find_spec
"""
FAILING_GUARD = "import attncourse.exercises.sandbox.call as c\nc.little_memory = lambda: 1 / 0"
# the guard fails only once check has called the answer right
FAILING_LATER = """\
import attncourse.exercises.engine.grading as g
import attncourse.exercises.sandbox.call as c
def grade_function(*args, real=g.grade_function):
    found = real(*args)
    c.little_memory = lambda: 1 / 0
    return found
g.grade_function = grade_function
"""
WITH_TORCH = (
    "import torch\ndef attention_torch(query, key, value, attn_mask=None, is_causal=False, "
    "scale=None) -> torch.Tensor:\n    return query"
)


@pytest.fixture
def on_a_machine(monkeypatch):
    def begin(text):
        place = "sys.path[:] = {!r}; "
        start = sandbox.START.replace(place, place.replace("; ", "\n") + text + "\n")
        monkeypatch.setattr(sandbox, "START", start)

    return begin


@pytest.mark.parametrize(
    "cells, name",
    [
        ([WITH_TORCH], "attention_torch"),
        (["import torch", WITH_TORCH.partition("\n")[2]], "attention_torch"),
        (["def attention_torch(query, key, value):\n    return query @ key"], "attention_torch"),
        (
            [
                "import torch.nn.functional as F\ndef softmax(scores, axis=-1):\n    return "
                "F.relu(scores)"
            ],
            "softmax",
        ),
        (
            ["def softmax(scores, axis=-1):\n    import torch\n    return torch.exp(scores)"],
            "softmax",
        ),
    ],
)
def test_for_want_of_torch_nobody_gets_0(tmp_path, on_a_machine, cells, name):
    on_a_machine(WITHOUT_TORCH)
    write(tmp_path / "in" / "Ada.ipynb", HEAD, *cells, f'check("{name}", {name})')
    write(
        tmp_path / "in" / "Bo.ipynb", HEAD, f"def {name}(x):\n    ...", f'check("{name}", {name})'
    )
    (tmp_path / "roster.csv").write_text("Name,Grade\nAda,\nBo,\n")
    said, options = (
        [],
        replace(
            OPTIONS, settings=points.Settings({name: 1}), roster=Roster(tmp_path / "roster.csv")
        ),
    )
    grade_folder(tmp_path / "in", tmp_path / "out", options, said.append)
    assert (tmp_path / "out" / "import.csv").read_text().split() == ["Name,Grade", "Ada,", "Bo,0.0"]
    [line] = [line for line in said if line.startswith("Ada gets no grade in import.csv: ")]
    assert f"{name} could not be graded: " in line and "torch" in line and "NameError" not in line
    assert [row["points"] for row in read(tmp_path / "out", "learners.csv")] == ["", "0"]
    ada, bo = read(tmp_path / "out")
    assert re.search("torch", ada["note"], re.IGNORECASE) and bo["status"] == "not attempted"
    notes = (tmp_path / "out" / "notes.html").read_text("utf-8")
    assert f"Ada.ipynb: {name}: " in notes and "Bo" not in notes
    assert 'title="error"' not in (tmp_path / "out" / "summary.html").read_text("utf-8")
    page = (tmp_path / "out" / "feedback" / "Ada.html").read_text("utf-8")
    assert (
        "No points yet" in page
        and "says nothing about your answer" in page
        and "pip install" not in page
    )


@pytest.mark.parametrize("fails", [FAILING_GUARD, FAILING_LATER])
def test_a_guard_that_fails_costs_nobody_points(tmp_path, on_a_machine, fails):
    on_a_machine(fails)
    write(tmp_path / "in" / "Ada.ipynb", HEAD, RIGHT, CHECK)
    grade_folder(tmp_path / "in", tmp_path / "out", OPTIONS, lambda text: None)
    [row] = read(tmp_path / "out")
    assert row["status"] == "error" and "ZeroDivisionError" in row["note"]
    assert "No points yet" in (tmp_path / "out" / "feedback" / "Ada.html").read_text("utf-8")


@pytest.mark.parametrize(
    "paths, expected, is_said",
    [
        (["Ada/week3/a.ipynb", "Ada/week4/a.ipynb"], {"Ada"}, False),
        (
            ["Ada/03_softmax/a.ipynb", "Ada/09_attention/a.ipynb", "Ada/Homework 2/a.ipynb"],
            {"Ada"},
            False,
        ),
        (["all/ada/a.ipynb", "all/bo/a.ipynb"], {"ada", "bo"}, True),
        (["week 3/ada/a.ipynb", "week 3/bo/a.ipynb"], {"ada", "bo"}, False),
        (["in/ada/a.ipynb", "in/bo/a.ipynb"], {"ada", "bo"}, False),
        (["in/ada.ipynb", "in/bo.ipynb"], {"ada", "bo"}, False),
    ],
)
def test_one_folder_is_a_learner_or_the_class(tmp_path, paths, expected, is_said):
    for path in paths:
        write(tmp_path / "in" / path)
    found, odd = collect(tmp_path / "in")
    assert {one.learner for one in found} == expected
    assert any("counts as one learner" in line for line in odd) == is_said


# ---------------------------------------------------------------- what the grader itself holds

HELD = """\
import json, resource, sys
from attncourse.exercises.classroom import process, verdict
def attend(*cells):
    cells = [{"cell_type": "code", "source": cell} for cell in cells]
    limits = process.Limits(60, 60, 4 << 30)
    told = process.attend(json.dumps({"cells": cells}).encode(), ".ipynb", limits, sys.argv[1] == "True")
    for name, one in told.answers.items():
        verdict.judged(name, one, told.values.get(name, {}))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
ordinary, *others = json.load(sys.stdin)
attend(*ordinary)
before = attend(*ordinary)
print([round(attend(*other) - before) for other in others])
"""  # noqa: E501
VIEW = "np.broadcast_to(np.float64(1), (600 << 17,))"  # 600 MB, in 8 bytes
HUGE = [
    f"def softmax(scores, axis=-1):\n    return {VIEW}",
    f"def softmax(scores, axis=-1):\n    return [{VIEW}] * 1000",
    f"def softmax(scores, axis=-1):\n    return {VIEW}.reshape(75, 1024, 1024)",
    "def softmax(scores, axis=-1):\n    print('x' * (300 << 20))\n    return scores",
    "def softmax(scores, axis=-1):\n    raise ValueError('x' * (300 << 20))",
    RIGHT + "\nfor _ in range(30):\n    print('x' * (10 << 20))",
    RIGHT + "\n" + TELL + "for _ in range(40):\n    tell(problem='x' * (15 << 20))",
    RIGHT + "\n" + TELL + "tell(at='softmax')\nfor n in range(40):\n"
    "    tell(value=['softmax', n % 9, {'other': 'x' * (1 << 19), 'nothing': ''}])",
]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the unit of ru_maxrss is Linux's")
def test_the_grader_stays_small_whatever_a_notebook_returns_and_says():
    cells = [[HEAD, answer, CHECK] for answer in (RIGHT, *HUGE)]
    run = subprocess.run(
        [sys.executable, "-c", HELD, str(OPTIONS.protected)],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        timeout=600,
    )
    held = json.loads(run.stdout or "[]")
    assert len(held) == len(HUGE) and max(held) < 150, (held, run.stderr)  # MB
