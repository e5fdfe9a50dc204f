"""A class hands in its notebooks: each is graded, what one does costs only itself, and nothing gets out."""

import base64
import csv
import hashlib
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

from attnlib.exercises import __main__ as command
from attnlib.exercises.classroom import hand_ins, pages, points, process, sandbox, source, verdict
from attnlib.exercises.classroom.grade import Options, grade_folder, grade_one
from attnlib.exercises.classroom.hand_ins import collect
from attnlib.exercises.classroom.source import Unusable
from attnlib.exercises.engine import catalogue
from attnlib.exercises.engine.find import exercises

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
CHAPTERS = Path(__file__).parents[1] / "chapters"
LIMITS = process.Limits(seconds=60, cell_seconds=1.5, memory=1 << 30)
NO_SANDBOX = sandbox.problem() if os.name == "posix" else "needs POSIX"
OPTIONS = Options(LIMITS, jobs=2, protected=not NO_SANDBOX)
in_a_sandbox = pytest.mark.skipif(bool(NO_SANDBOX), reason=f"no attack without a sandbox: {NO_SANDBOX}")

HEAD = "import numpy as np\nimport attnlib\nfrom attnlib.exercises import check, grade, hint"
RIGHT = ("def softmax(scores, axis=-1):\n"
         "    e = np.exp(scores - scores.max(axis=axis, keepdims=True))\n"
         "    return e / e.sum(axis=axis, keepdims=True)")
WRONG = "def softmax(scores, axis=-1):\n    e = np.exp(scores)\n    return e / e.sum(axis=axis, keepdims=True)"
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
SLEEPER = f"sleeper{os.getpid()}"[:15]  # tells what a notebook here leaves running from anything else

PATCHES = """\
import builtins, sys
import attnlib.exercises.engine.grading as grading
fake = lambda *args, **options: grading.Grade("correct", (), "softmax: correct")
names = ("grade", "judge", "_grade", "grade_function", "explain", "close_rows", "exercises")
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("attnlib"):
        for name in names:
            setattr(module, name, fake)
np.allclose = np.array_equal = np.isclose = lambda *args, **options: True
np.abs = np.isnan = lambda *args: np.zeros(1)
builtins.all, builtins.any = lambda *args: True, lambda *args: False"""
# what reports: a cell that studies the grader can find it, and say whatever it likes
TELL = """\
import gc
tell = next(o for o in gc.get_objects() if getattr(o, "__qualname__", "") == "reporter.<locals>.tell")
"""
FORGED = TELL + """\
for n in range(2):
    tell(grade=["softmax", "correct", [], "", "softmax: correct", ""])
    tell(at="softmax")
tell(done=True)"""
MALFORMED = TELL + """\
deep = {"grade": []}
for n in range(900):
    deep = {"grade": [deep]}
for bad in (dict(grade=1), dict(grade=["softmax", "correct", 3, None, {}, []]), dict(grade=["softmax", "marvellous"]),
            dict(at=[1]), dict(at=-1), dict(names=3), dict(value=[[], 1]), dict(value=["softmax", 1e9, {}]), {},
            dict(a=1, b=2), dict(problem=3), dict(reached={"a": 1}), deep,
            dict(grade=["softmax", "correct", ["x" * 10**5] * 10**3, "", "", ""])):
    tell(**bad)"""
FORGED_VALUES = TELL + """\
tell(at="softmax")
tell(value=["softmax", 0, [[["float64", [2**70, 0], "", "float64", "array", ""]], "", ""]])
tell(value=["softmax", 1, [[["object", [1], "AAAA", "float64", "array", ""]], "", ""]])
tell(value=["softmax", 2, [[[[], {}, 3, None, "array", ""]] * 10**3, "", ""]])
tell(grade=["softmax", "correct", [], "", "softmax: correct", ""])
tell(done=True)"""
PATCHED_GRADER = """\
import gc, types
for o in gc.get_objects():
    if type(o) is types.SimpleNamespace and hasattr(o, "does_nothing"):
        o.grade = lambda *args: types.SimpleNamespace(status="correct", mistakes=(), message="softmax: correct")"""
FAKED = """\
import os
for number in range(3, 50):
    try:
        os.write(number, b'0 {"grade": ["softmax", "correct", [], ""]}\\n0 {"done": true}\\n')
    except OSError:
        pass
print('{"grade": ["softmax", "correct", [], ""], "done": true}')"""
FORKS = """\
import os, time
for number in range(5):
    if os.fork() == 0:
        os.setsid()
        open("/proc/self/comm", "w").write("%s")
        time.sleep(1000)""" % SLEEPER

# name of the notebook: (its cells, what is found in it, words in its notes)
NOTEBOOKS = {
    "right": ([HEAD, RIGHT, CHECK], CORRECT, ""),
    "wrong": ([HEAD, WRONG, CHECK], INCORRECT, ""),
    "never checked": ([HEAD, WRONG], INCORRECT, ""),
    "untouched": ([HEAD, "def softmax(scores, axis=-1):\n    ...", CHECK], [("softmax", "not attempted", "")], ""),
    "another name": ([HEAD, RIGHT.replace("softmax", "mine"), 'check("softmax", mine)'], CORRECT, ""),
    "checked twice": ([HEAD, WRONG, CHECK, RIGHT, CHECK], CORRECT, ""),
    "name used again": ([HEAD, RIGHT, CHECK, "softmax = softmax(np.ones(3))"], CORRECT, ""),
    "library's own": ([HEAD, "softmax = attnlib.softmax", CHECK], [("softmax", "not attempted", "")],
                      "A library's function"),
    "IPython's lines": (["%matplotlib inline\n!ls\n" + HEAD, "%%time\n" + RIGHT, "%%bash\nexit", "softmax?", CHECK],
                        CORRECT, ""),
    "library not there": (["import not_there\n" + HEAD, WRONG, CHECK], INCORRECT, ""),
    "syntax": ([HEAD, "def softmax(scores, axis=-1)\n    return 3", CHECK], [("softmax", "error", "")], "SyntaxError"),
    "constant lost": ([HEAD, "scale = 1 / 0", RIGHT.replace("exp(", "exp(scale * "), CHECK], [("softmax", "error", "")],
                      "The cell of scale stopped with ZeroDivisionError"),
    "raises": ([HEAD, "1 / 0", WRONG, "raise SystemExit", CHECK], INCORRECT, ""),
    "asks": ([HEAD, "input()", WRONG, CHECK], INCORRECT, ""),
    "redefines check": ([HEAD, WRONG, "def check(*args):\n    print('softmax: correct.')\ngrade = hint = check", CHECK],
                        INCORRECT, ""),
    "patches": ([HEAD, WRONG, PATCHES, CHECK], INCORRECT, ""),
    "patches inside": ([HEAD, WRONG.replace("):\n", "):\n    import attnlib.exercises.engine.grading as g\n    g.judge = None\n"),
                        CHECK], INCORRECT, ""),
    "fakes the report": ([HEAD, WRONG, FAKED, CHECK], INCORRECT, ""),
    "floods": ([HEAD, "for n in range(200_000):\n    print('x' * 1000)", WRONG, CHECK], INCORRECT, ""),
    "renamed": ([HEAD, RIGHT.replace("softmax", "mine"), CHECK], CORRECT, "Graded is mine, which stands where"),
    "renamed below the stub": ([HEAD, STUB + "\n\n" + RIGHT.replace("softmax", "mine"), CHECK], CORRECT, "Graded is mine"),
    "untouched kernel": ([HEAD, KERNEL + STUB, CHECK], [("softmax", "not attempted", "")], ""),
    "renamed below a kernel": ([HEAD, KERNEL + RIGHT.replace("softmax", "mine"), CHECK], CORRECT, "Graded is mine"),
    "helper above": ([HEAD, RIGHT.replace("softmax", "mine"), "x = 1", STUB, CHECK], [("softmax", "not attempted", "")], ""),
    "nothing checked": ([HEAD, CHECK], [("softmax", "error", "")], "the notebook defines no function softmax"),
    "slow": ([HEAD, "import time\n" + RIGHT.replace("):\n", "):\n    time.sleep(9)\n"), CHECK], [("softmax", "error", "")],
             "did not finish within 3 seconds"),
    "one line": ([HEAD, "def softmax(scores, axis=-1):\n    return attnlib.softmax(scores, axis)", CHECK],
                 [("softmax", "incorrect", "ready-made function")], ""),
    "package not here": ([HEAD + "\nimport not_there as nt", RIGHT.replace("):\n", "):\n    nt.set()\n"), CHECK],
                         [("softmax", "error", "")], "Not installed where this was graded: not_there."),
    "unexplained": ([HEAD, "def softmax(scores, axis=-1):\n    return (np.sin(3 * scores) + 0.2).astype(scores.dtype)", CHECK],
                    [("softmax", "incorrect", "")], "What it does:"),
    "forty-five ends": ([HEAD, *["import os\nos._exit(0)"] * 45, WRONG, CHECK], INCORRECT,
                        "only imports and definitions were run"),
    "newlines": ([HEAD, "\n" * 300_000, WRONG, CHECK], INCORRECT, ""),
    "deep": ([HEAD, "x = " + " + ".join(["1"] * 5000), "x = " + "(" * 3000 + ")" * 3000, "x = " + "[" * 90_000, WRONG,
              CHECK], INCORRECT, ""),
    "forges": ([HEAD, WRONG, FORGED, CHECK], [("softmax", "incorrect", "")], verdict.UNTRUE),
    "forges values": ([HEAD, WRONG, FORGED_VALUES, CHECK], [("softmax", "incorrect", "")], verdict.UNTRUE),
    "forges the grader": ([HEAD, WRONG, PATCHED_GRADER, CHECK], [("softmax", "incorrect", "")], verdict.UNTRUE),
    "malformed": ([HEAD, WRONG, MALFORMED, CHECK], INCORRECT, ""),
    "floods the report": ([HEAD, WRONG, TELL + "while True:\n    tell(reached='x' * 900_000)", CHECK], INCORRECT,
                          "code cell 3 wrote too much"),
    "leaves": ([HEAD, WRONG, "import os\nos._exit(0)", CHECK], INCORRECT, "code cell 3 ended the process"),
    "crashes": ([HEAD, "def softmax(scores, axis=-1):\n    import ctypes\n    ctypes.string_at(0)",
                 WRONG.replace("softmax", "softmax_row").replace("axis=axis, keepdims=True", "").replace(", axis=-1", "")],
                [("softmax_row", "incorrect", MISTAKE), ("softmax", "error", "")], "SIGSEGV"),
    "closes files": ([HEAD, WRONG, "import os\nos.closerange(0, 100)", CHECK], INCORRECT, "code cell 3 ended"),
    "loops": ([HEAD, "while True:\n    try:\n        pass\n    except BaseException:\n        pass", WRONG, CHECK],
              INCORRECT, ""),
    "loops for ever": ([HEAD, WRONG, "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    pass",
                        CHECK], INCORRECT, "code cell 3 did not finish within 1.5 seconds"),
    "kills": ([HEAD, WRONG, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", CHECK], INCORRECT, "SIGKILL"),
    "nothing in it": (["1 + 1"], [("", "error", "")], "no exercise"),
    "José 漢字 (1)": ([HEAD, RIGHT, CHECK], CORRECT, ""),
}
ON_LINUX = {
    "takes memory": ([HEAD, "kept = []\nwhile True:\n    kept.append(np.ones(10**7))", "kept = None", WRONG, CHECK],
                     INCORRECT, ""),
    **({} if NO_SANDBOX else {"forks": ([HEAD, WRONG, FORKS, CHECK], INCORRECT, "")}),
    "fork bomb": ([HEAD, WRONG, "import os\nwhile True:\n    os.fork()", CHECK], INCORRECT, "code cell 3"),
}
if sys.platform.startswith("linux"):
    NOTEBOOKS.update(ON_LINUX)
BROKEN = {"empty.ipynb": "", "cut off.ipynb": '{"cells": [', "no notebook.ipynb": "[1]", "empty.py": " \n"}


def write(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def hashes(folder):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


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
    seen = [(row["exercise"], row["status"], row["mistakes"]) for row in rows if row["exercise"] or not found[0][0]]
    assert seen == found, rows
    assert words in " ".join(row["note"] for row in rows), rows


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_is_one_row(graded, name):
    [row] = [row for row in graded.rows if row["notebook"] == name]
    assert (row["exercise"], row["status"]) == ("", "error") and row["note"]


def test_a_link_is_not_followed(graded):
    assert [row["note"] for row in graded.of("link")] == ["it is a link, or no ordinary file"]


@pytest.mark.parametrize("name, words", [("thesis", "it is a PDF, not a notebook"), ("essay", "it is a text, not a")])
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
    assert list(graded.rows[0]) == ["learner", "id", "exercise", "status", "cases", "mistakes", "notebook", "note"]
    assert {row["status"] for row in graded.rows} == set(process.STATUSES)
    count = len(NOTEBOOKS) + len(BROKEN) + 3
    progress = [line for line in graded.said if line.startswith("[")]
    assert len(progress) == count and progress[-1].startswith(f"[{count}/{count}]")
    learners = [row["learner"].casefold() for row in graded.rows]
    assert learners == sorted(learners)
    assert ".hidden.ipynb: left alone, as it is hidden" in graded.said


def test_every_answer_that_is_not_right_has_a_reason(graded):
    assert [row for row in graded.rows if row["status"] in ("incorrect", "error") and not row["mistakes"] + row["note"]] == []


def test_summary_counts_learners_and_names_the_mistakes(graded):
    text = (graded.out / "summary.html").read_text(encoding="utf-8")
    best = Counter(row["status"] for row in graded.rows if row["exercise"] == "softmax")
    for status in process.STATUSES:
        assert re.search(rf'<span class="{status.split()[0]}" style="flex:{best[status]}" title="{status}">{best[status]}<', text)
    made = sum(row["mistakes"] == MISTAKE for row in graded.rows if row["exercise"] == "softmax")
    tried = sum(best.values()) - best["not attempted"]
    assert f"<td>{MISTAKE}</td><td><code>softmax</code></td><td>{made} of {tried}</td>" in text
    assert "in the book: \"Mistakes: the softmax\"" in text and "<i>Ask the room:</i> Which number can be subtracted" in text
    assert "<script" not in text and "http" not in text
    assert [row["learner"] for row in graded.rows if row["notebook"] in text] == []  # it is to be projected


def test_notes_name_what_could_not_be_run(graded):
    text = (graded.out / "notes.html").read_text(encoding="utf-8")
    assert "empty.ipynb: the file is empty" in text and "thesis.pdf" in text and ".hidden.ipynb" in text


# ---------------------------------------------------------------- chapters as they are handed in

def test_chapters_untouched_and_solved(tmp_path):
    for path in sorted(CHAPTERS.glob("0[1-9]*.ipynb"))[:2]:
        (tmp_path / "in" / "untouched").mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / "solved").mkdir(exist_ok=True)
        (tmp_path / "in" / "untouched" / path.name).write_bytes(path.read_bytes())
        solved = CHAPTERS / "solutions" / path.name
        (tmp_path / "in" / "solved" / path.name).write_bytes(solved.read_bytes())
    grade_folder(tmp_path / "in", tmp_path / "out", replace(OPTIONS, limits=process.Limits()), lambda text: None)
    rows = read(tmp_path / "out")
    found = {(row["learner"], row["status"]) for row in rows}
    assert found == {("solved", "correct"), ("untouched", "not attempted")}
    count = Counter(row["learner"] for row in rows)
    assert count["solved"] == count["untouched"] >= 11


def test_grading_twice_gives_the_same_and_keeps_what_was_there(tmp_path):
    write(tmp_path / "b.ipynb", HEAD, "import random\nprint(hash('a'), id(attnlib), random.random())", WRONG)
    write(tmp_path / "a.ipynb", HEAD, RIGHT)
    said = []
    for _ in range(3):  # in the folder itself, where the first grades lie when the second ones are made
        grade_folder(tmp_path, tmp_path / "grades", OPTIONS, said.append)
        if not (tmp_path / "grades-2").exists():
            (tmp_path / "grades" / "grades.csv").open("a").write("a note of mine")
            before = hashes(tmp_path)
    assert {path: hashes(tmp_path)[path] for path in before} == before
    for name in ("learners.csv", "summary.html", "feedback/a.html", "feedback/b.html"):
        first, second, third = ((tmp_path / place / name).read_bytes() for place in ("grades", "grades-2", "grades-3"))
        assert first == second == third
    second, third = ((tmp_path / place / "grades.csv").read_bytes() for place in ("grades-2", "grades-3"))
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
        "noether/04.ipynb": "noether", "emmy.ipynb": "emmy", "03_softmax_kurt.ipynb": "03_softmax_kurt"}
    assert learners(tmp_path, *expected) == expected
    late = {one.learner: (one.late, one.id, one.platform) for one in collect(tmp_path)[0]}
    assert late["hoppergrace"] == (True, "123", "Canvas") and late["Alan Turing"] == (False, "12", "Moodle")


def test_no_two_learners_share_a_name(tmp_path):
    found = learners(tmp_path, "Ann Lee_1_assignsubmission_file_/a.ipynb", "Ann Lee_2_assignsubmission_file_/a.ipynb",
                     "bo.ipynb", "bo.py", "cy.ipynb", "cy/a.ipynb", "cy/b.ipynb", "José.ipynb", "Jose\u0301.ipynb")
    assert len(set(found.values())) == len(found) - 1  # cy has handed in two
    assert found["cy/a.ipynb"] == found["cy/b.ipynb"] == "cy"
    assert found["bo.py"] == "bo.py" and found["Ann Lee_1_assignsubmission_file_/a.ipynb"] == "Ann Lee_1"


def test_wrapping_folder_and_what_systems_leave_behind(tmp_path):
    found = learners(tmp_path, "week 3/ada/a.ipynb", "week 3/alan/a.ipynb", "__MACOSX/ada/._a.ipynb",
                     "week 3/ada/.ipynb_checkpoints/a-checkpoint.ipynb")
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
    assert [one.learner for one in found] == ["a"] and f"more than {hand_ins.DEEPEST} folders" in odd
    subprocess.run(["rm", "-r", str(tmp_path / "d")], check=True)


def test_archive_of_a_class_is_read_as_it_is(tmp_path):
    write(tmp_path / "in" / "Ada_1_assignsubmission_file_" / "a.ipynb", HEAD, RIGHT, CHECK)
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.write(tmp_path / "in" / "Ada_1_assignsubmission_file_" / "a.ipynb", "Ada_1_assignsubmission_file_/a.ipynb")
        archive.writestr("Bo_2_assignsubmission_file_/thesis.zip", "PK")
        archive.writestr("../../Cy_3_assignsubmission_file_/a.ipynb", "")
        archive.writestr("__MACOSX/._a.ipynb", "")
    grade_folder(tmp_path / "class.zip", tmp_path / "out", OPTIONS, lambda text: None)
    assert [(row["learner"], row["id"], row["status"]) for row in read(tmp_path / "out")] == [
        ("Ada", "1", "correct"), ("Bo", "2", "error"), ("Cy", "3", "error")]
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


@pytest.mark.parametrize("name", ["=1+1", "@x", "a\x1b[31mb", "a\nb", "a\udcffb", "\uff1dHYPERLINK(1)", "a;=1", 'a; "=1',
                                  "a, +1", " =1", "-x"])
def test_names_are_no_commands(name):
    shown = hand_ins.printable(name)
    assert shown.isprintable() and shown.encode()
    assert not re.search(r"(^|[;,])[\s\"]*[=+@\uff1d\-]", shown), shown


@pytest.mark.parametrize("name", ["-", "-3", "2.5", "Ann-Marie O'Neil", "a = b"])
def test_ordinary_names_stay(name):
    assert hand_ins.printable(name) == name


def test_what_is_no_folder_of_notebooks_gets_a_sentence(tmp_path, capsys):
    for folder, words in ((tmp_path / "gone", "there is no folder"), (tmp_path, "no file that ends in .ipynb or .py")):
        with pytest.raises(Unusable, match=words):
            collect(folder)
        words_of = ["grade", str(folder), "--out", str(tmp_path / "out"), *["--unprotected"] * bool(NO_SANDBOX)]
        assert command.main(words_of) == 1
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text, count", [
    ("# %%\nx = 1\n# %% [markdown]\n# text\n# %%\ny = 2", 4),
    ("x = 1\n1 / 0\n@property\ndef f(a):\n    return a\n", 3),
    ("!pip install x\nx = 1", 2),
    ("x = = 1\ny = 2", 1),
])
def test_scripts_become_cells(text, count):
    found = source.statements(text.encode())
    assert len(found) == count and (count != 3 or found[2].startswith("@property"))


@pytest.mark.parametrize("cell, expected", [
    ("x = 5 % 3", "x = 5 % 3"),
    ("%pip install x\ny = 1", "pass\ny = 1"),
    ("if x:\n    !ls", "if x:\n    pass"),
    ("files = !ls", "pass"),
    ("%%timeit -n 1\nf()", "\nf()"),
    ("%%bash\nrm x", ""),
    ("np.exp?", "pass"),
])
def test_ipythons_own_lines_are_left_out(cell, expected):
    assert source.as_python(cell) == expected


# ---------------------------------------------------------------- when something goes wrong

def test_time_for_a_notebook_ends(tmp_path):
    limits = replace(OPTIONS, limits=process.Limits(seconds=3, cell_seconds=30))
    write(tmp_path / "in" / "slow.ipynb", HEAD, *["import time\ntime.sleep(1)"] * 9, WRONG, CHECK)
    write(tmp_path / "in" / "still.ipynb", HEAD, "import time\ndef f(x=time.sleep(9)): pass", WRONG, CHECK)
    grade_folder(tmp_path / "in", tmp_path / "out", limits, lambda text: None)
    slow, cells, still, _ = read(tmp_path / "out")
    assert (slow["status"], slow["mistakes"]) == ("incorrect", MISTAKE)
    assert "used up the notebook's time; only imports and definitions were run" in cells["note"]
    assert still["status"] == "error" and "not graded" in still["note"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_memory_of_all_processes_counts_together():
    forks = ("import os, time\nimport numpy as np\nfor n in range(6):\n    if os.fork() == 0:\n"
             "        kept = np.ones(30 << 20)\n        time.sleep(20)\n        os._exit(0)\nfor n in range(6):\n    os.wait()")
    cells = [{"cell_type": "code", "source": cell} for cell in (HEAD, WRONG, forks, CHECK)]
    limits = process.Limits(memory=1 << 30)
    result = process.attend(json.dumps({"cells": cells}).encode(), ".ipynb", limits, OPTIONS.protected)
    assert result.ended == {"took more than 1024 MB of memory": [3]}
    assert result.answers["softmax"].mistakes == (MISTAKE,)


def test_ctrl_c_keeps_what_is_graded(tmp_path):
    write(tmp_path / "in" / "a.ipynb", HEAD, WRONG, CHECK)
    write(tmp_path / "in" / "b.ipynb", HEAD, "import time\ntime.sleep(60)")
    run = subprocess.Popen(
        [sys.executable, "-m", "attnlib.exercises", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"),
         "--jobs", "1", *["--unprotected"] * bool(NO_SANDBOX)],
        stdout=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=str(tmp_path)))
    while not run.stdout.readline().startswith("[1/2]"):
        pass
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    rest, _ = run.communicate(timeout=20)
    assert run.returncode == 130 and "Stopped. What was graded so far" in rest
    assert [row["learner"] for row in read(tmp_path / "out")] == ["a"]
    assert "1 more are not in it" in (tmp_path / "out" / "summary.html").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


# ---------------------------------------------------------------- attacks

REACH = {  # what a notebook could do on the lecturer's machine, and cannot in the sandbox
    "read a file": "open(victim).read()",
    "list the class": "os.listdir(folder)",
    "write a file": "open(folder + '/new', 'w')",
    "delete a file": "os.remove(folder + '/spare')",
    "rename a file": "os.rename(folder + '/other', folder + '/another')",
    "connect by TCP": "socket.create_connection(('127.0.0.1', port), 2)",
    "connect by MPTCP": "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(('127.0.0.1', port))",
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
    "fill the scratch folder": "[open(f'/tmp/{n}', 'wb').write(bytes(32 << 20)) for n in range(20)]",
    "write one large file": "open('/tmp/large', 'wb').write(bytes(65 << 20))",
    "write to the root": "open('/new', 'w')",
    "write into /dev": "open('/dev/new', 'w')",
    "write into /dev/shm": "open('/dev/shm/new', 'w')",
    "write into attnlib": "open(attnlib.__file__, 'a')",
    "write into a package": "open(np.__file__, 'a')",
    "change the kernel's settings": "open('/proc/sys/kernel/core_pattern', 'a')",
    "trace a process": "called(libc.ptrace(16, os.getppid(), 0, 0))",
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
    result = process.attend(json.dumps({"cells": [cell]}).encode(), ".ipynb", process.Limits(), protected)
    assert result.problem and not result.ended, result
    return [] if result.problem == "nothing" else result.problem.split("; ")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """What a lecturer's machine has: files, sockets, processes, secrets; all made for the test."""
    for name in ("victim", "spare", "other"):
        (tmp_path / name).write_text("a")
    monkeypatch.setenv("ATTNLIB_SECRET", "password")
    name = f"attnlib {os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as by_path, \
            socket.socket(socket.AF_UNIX) as by_name, subprocess.Popen(["sleep", "600"]) as other:
        by_path.bind(str(tmp_path / "socket"))
        by_name.bind("\0" + name)
        by_path.listen()
        by_name.listen()
        yield dict(folder=str(tmp_path), victim=str(tmp_path / "victim"), port=tcp.getsockname()[1], name=name,
                   pid=other.pid)
        other.kill()


@in_a_sandbox
def test_notebook_reaches_nothing_of_the_machine(machine, tmp_path):
    before = os.stat(machine["victim"])
    assert tried(REACH, protected=True, **machine) == []
    after = os.stat(machine["victim"])
    assert (after.st_mode, after.st_mtime) == (before.st_mode, before.st_mtime)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "socket", "spare", "victim"]


@in_a_sandbox
def test_without_the_sandbox_it_would(machine):
    """So that the test above tries what can be done."""
    done = tried(REACH, protected=False, **machine)
    missing = set(REACH) - set(done)
    assert missing <= {"connect by MPTCP", "send with fast-open", "read the lecturer's environment"}, missing
    assert os.stat(machine["victim"]).st_mtime == 1


@in_a_sandbox
@pytest.mark.parametrize("what", REFUSED)
def test_sandbox_refuses(what):
    assert tried({what: REFUSED[what]}, protected=True, victim="/tmp/none") == []


@in_a_sandbox
def test_devices_stay_as_they_are():
    before = os.stat("/dev/null")
    tried({}, protected=True, victim="/dev/null")
    assert (os.stat("/dev/null").st_mode, os.stat("/dev/null").st_mtime) == (before.st_mode, before.st_mtime)


@in_a_sandbox
def test_what_a_notebook_reaches_for_is_said(tmp_path):
    write(tmp_path / "a.ipynb", HEAD, WRONG, "open('/etc/shadow')", "open('data.csv')", "import os\nos.listdir('/home/x')",
          "import shutil\nshutil.rmtree('/home/x', ignore_errors=True)",
          "os.rmdir('/')", "os.rmdir('/tmp')", "import socket\nsocket.create_connection(('example.org', 80))",
          "import os\nos.kill(1, 9)", "import subprocess\nsubprocess.run(['ls'])", CHECK)
    said = []
    grade_folder(tmp_path, tmp_path / "out", OPTIONS, said.append)
    [row] = read(tmp_path / "out")
    assert row["mistakes"] == MISTAKE
    assert row["note"] == ("Tried to read /etc/shadow; list /home/x; delete /home/x; delete /; delete /tmp; use the network (example.org); "
                           "send a signal to process 1; start a program (ls).")
    assert "tried to read /etc/shadow" in "".join(said)
    assert "tried to read /etc/shadow" in (tmp_path / "out" / "notes.html").read_text()


def test_right_notebooks_reach_for_nothing(graded):
    assert [row["note"] for name in ("right", "wrong", "IPython's lines") for row in graded.of(name)] == ["", "", ""]


def test_without_bubblewrap_grading_stops_with_a_sentence(tmp_path, capsys, monkeypatch):
    write(tmp_path / "a.ipynb", HEAD, RIGHT, CHECK)
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox.problem.cache_clear()
    try:
        assert command.main(["grade", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
        said = capsys.readouterr().err
        for words in ("bubblewrap is not installed", "sudo apt install bubblewrap", "in a container", "--unprotected"):
            assert words in said
        assert not (tmp_path / "out").exists()
        assert command.main(["grade", str(tmp_path), "--out", str(tmp_path / "out"), "--unprotected"]) == 0
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
        found[i] = [[[str(array.dtype), list(array.shape), text, str(array.dtype), "array", ""]], "", ""]
    return found


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
    assert verdict.judged("softmax", process.Told("correct"), {}).share == 0


@pytest.mark.parametrize("told", [
    None, 3, "abc", [], [[], "", "set"], [[[]], "", ""], [[["float64", [1], "AAAAAAAAAAA=", "float64", "array", "cuda"]], "", ""],
    [[["float64", [2], "AAAAAAAAAAA=", "float64", "array", ""]], "", ""], [[["object", [1], "", "float64", "array", ""]], "", ""],
    [[["float64", [1] * 9, "AAAAAAAAAAA=", "float64", "array", ""]], "", ""],
    [[["float64", [-1], "AAAAAAAAAAA=", "float64", "array", ""]], "", ""],
    [[["float64", [1], "AAAAAAAAAAA=", "float64", "array", ""]] * 33, "tuple", ""]])
def test_values_are_looked_at(told):
    assert verdict.answer(told) is None
    good = [[["float64", [1], "AAAAAAAAAAA=", "float64", "array", ""]], "", ""]
    assert verdict.answer(good).pieces[0].values.tolist() == [0]


def test_share_is_that_of_the_cases_and_never_whole():
    right = told_of(reference)
    count = len(right)
    half = {i: value for i, value in right.items() if i < count // 2}
    assert verdict.judged("softmax", process.Told("incorrect"), half).share == (count // 2) / count
    assert verdict.judged("softmax", process.Told("incorrect"), right).share == (count - 1) / count
    assert verdict.judged("softmax", process.Told("incorrect", ("ready-made function",)), right).share == 0


# ---------------------------------------------------------------- what is written

def class_of_three(folder):
    """Ada is right, Bo wrong and late, Cy has copied from Ada under other names."""
    write(folder / "Ada Lovelace_11_assignsubmission_file_" / "a.ipynb", HEAD, RIGHT, CHECK)
    write(folder / "Bo =1_12_assignsubmission_file_" / "a.ipynb", HEAD, WRONG, CHECK)
    write(folder / "Cy_13_assignsubmission_file_" / "a.ipynb", HEAD, RIGHT.replace("scores", "s").replace(" e ", " exps ")
          .replace(" e.", " exps.").replace("    return", "    # mine\n    return"), CHECK)
    for path in folder.rglob("*.ipynb"):
        late = "Bo" in str(path)
        os.utime(path, (1e9 + 2 * late, 1e9 + 2 * late))
    return folder


def graded_as(folder, out, *words):
    assert command.main(["grade", str(folder), "--out", str(out), *words, *["--unprotected"] * bool(NO_SANDBOX)]) == 0
    return {row["learner"]: row for row in read(out, "learners.csv")}


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    folder = class_of_three(tmp_path_factory.mktemp("three") / "in")
    (folder.parent / "settings.toml").write_text("deadline = 2001-09-09T01:46:41Z\n[points]\nsoftmax = 2\nlogsumexp = 1\n")
    graded_as(folder, folder.parent / "out", "--settings", str(folder.parent / "settings.toml"))
    return folder.parent


def test_row_for_each_learner(three):
    found = {row["learner"]: row for row in read(three / "out", "learners.csv")}
    assert [(name, row["id"], row["late"], row["points"], row["of"]) for name, row in found.items()] == [
        ("Ada Lovelace", "11", "", "2.0", "3"), ("Bo =1", "12", "late", "1.35", "3"), ("Cy", "13", "", "2.0", "3")]


def test_tables_open_in_a_spreadsheet_and_in_moodle(three):
    for name in ("grades.csv", "learners.csv"):
        assert (three / "out" / name).read_bytes().startswith(b"\xef\xbb\xbf")
    text = (three / "out" / "moodle.csv").read_text()
    assert text.splitlines()[:2] == ["Identifier,Full name,Grade,Maximum Grade,Last modified (grade)",
                                     "Participant 11,Ada Lovelace,2.0,3,-"]
    assert not (three / "out" / "canvas.csv").exists()


def test_feedback_has_checks_words_and_moodles_folders(three):
    text = (three / "out" / "feedback" / "Bo =1_12_assignsubmission_file_" / "feedback.html").read_text()
    assert "1.35 of 3 points, handed in late" in text and "softmax: incorrect, 1.35 of 2" in text
    assert "a.ipynb: 31 of 46 cases are right.</p>" in text
    assert "The mistake: no maximum subtracted" in text


def test_answers_alike_but_for_names_are_listed(three):
    text = (three / "out" / "notes.html").read_text()
    assert "<code>softmax</code>: Ada Lovelace, Cy</li>" in text and "Bo" not in text.partition("Alike")[2].partition("</ul>")[0]


@pytest.mark.parametrize("other, alike", [
    ("def g(a, b):\n    '''Doc.'''\n    c = a * 2 + b - a / (b + 1) + a ** 2 - (b - a) * 3 + a\n    return c", True),
    ("def f(x, y):\n    z = x * 2 + y - x / (y + 1) + x ** 2 - (y - x) * 4 + x\n    return z", False),
    ("def f(x, y):\n    z = x * 2 + y - x / (x + 1) + x ** 2 - (y - x) * 3 + x\n    return z", False)])
def test_fingerprint_knows_names_from_the_rest(other, alike, monkeypatch):
    one = "def f(x, y):\n    z = x * 2 + y - x / (y + 1) + x ** 2 - (y - x) * 3 + x  # note\n    return z"
    monkeypatch.setattr(source.inspect, "getsource", lambda text: text)
    assert source.fingerprint(one) and (source.fingerprint(one) == source.fingerprint(other)) is alike
    assert source.fingerprint("def f(x):\n    return x") == ""


def test_feedback_is_text_whatever_it_says():
    learner = dict(learner="<b>Bo", points=0, of=1, late="")
    row = dict(exercise="softmax", status="error", notebook="<i>.ipynb", note="<u>", message="<script>alert(1)</script>", share=0)
    text = pages.feedback(learner, [row], {"softmax": 1})
    assert not re.search(r"<(b|i|u|script)\b", text)


MOODLE = "Identifier,Full name,Email address,Grade,Maximum grade,Last modified (grade)\n"
CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section,Old (1)\n"


@pytest.mark.parametrize("roster, expected", [
    (MOODLE + "Participant 11,Ada Lovelace,ada@x,-,100.00,-\nParticipant 9,Di,di@x,-,100.00,-\n",
     MOODLE + "Participant 11,Ada Lovelace,ada@x,100.0,100.00,-\nParticipant 9,Di,di@x,0.0,100.00,-\n"),
    (CANVAS + "    Points Possible,,,,,10\n\"Lovelace, Ada\",11,,,A,\nDi,9,,,A,3\n",
     CANVAS.strip() + ",Week 3\n    Points Possible,,,,,10,1\n\"Lovelace, Ada\",11,,,A,,1.0\nDi,9,,,A,3,0.0\n"),
    ("Name;Number\nAda Lovelace;7\nDi;8\n", "Name;Number;Week 3\nAda Lovelace;7;1.0\nDi;8;0.0\n")])
def test_roster_comes_back_with_its_grades(three, tmp_path, roster, expected):
    (tmp_path / "roster.csv").write_text(roster, "utf-8-sig")
    found = graded_as(three / "in", tmp_path / "out", "--roster", str(tmp_path / "roster.csv"), "--assignment", "Week 3")
    assert (tmp_path / "out" / "import.csv").read_text().replace("\r\n", "\n") == expected
    assert found["Di"]["points"] == "0" and found["Di"]["note"] == "nothing handed in"
    assert found["Cy"]["note"] == "not in the roster"


@pytest.mark.parametrize("text, words", [
    ("deadline = 2026", "a day and a time"), ("[points]\nsofmax = 1", "did you mean softmax"), ("points = 3", "[points] gives"),
    ("[points]\nsoftmax = -1", "not negative"), ("x = ", "no TOML"), ("weights = 1", "may set points and deadline")])
def test_settings_that_cannot_be_meant_get_a_sentence(tmp_path, text, words):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(Unusable, match=re.escape(words)):
        points.settings(tmp_path / "s.toml")


def test_worth_without_settings_is_what_half_of_the_class_has():
    has = {"a": "softmax", "b": "softmax logsumexp", "c": "softmax", "d": "softmax_row"}
    rows = [dict(learner=name, exercise=one, status="correct") for name in has for one in has[name].split()]
    assert points.worth({}, rows) == {"softmax": 1}
    untouched = [dict(learner=name, exercise="logsumexp", status="not attempted") for name in "abcd"]
    assert points.worth({}, rows + untouched) == {"softmax": 1}
    assert points.total([dict(exercise="softmax", share=0.5), dict(exercise="softmax", share=0.25)], {"softmax": 3}) == 1.5


@pytest.mark.parametrize("words, code, said", [
    (["--help"], 0, "mark the notebooks that a class hands in"), ([], 0, "mark the notebooks"),
    (["gade", "x"], 2, "did you mean grade?"), (["table", "sofmax"], 2, "did you mean softmax?"),
    (["xyz"], 2, "--help lists what there is"), (["catalogue"], 2, "takes one folder")])
def test_command_names_what_there_is(capsys, words, code, said):
    assert command.main(words) == code
    assert said in "".join(capsys.readouterr())


# ---------------------------------------------------------------- the page for lecturers

PAGE = (CHAPTERS / "for_lecturers.md").read_text(encoding="utf-8")
EXPECTED = re.findall(r"^- \[`(\w+)`\]\(mistakes/(\w+)\.md#\w+\): (.+)\.$", PAGE, re.MULTILINE)


def misnamed(exercise, page, names):
    """What of this line is not in the catalogue."""
    known = {mistake.name for mistake in (*catalogue.mistakes(exercises()[exercise]), *catalogue.ANYWHERE)}
    home = catalogue.file_of(exercises()[exercise].part).removesuffix(".md")
    return [name for name in re.findall(r"\*([^;]+)\*", names) if name not in known] + [page] * (page != home)


def test_page_for_lecturers_uses_the_catalogues_names():
    assert len(EXPECTED) >= 15
    assert {line[0]: misnamed(*line) for line in EXPECTED if misnamed(*line)} == {}
    assert misnamed("softmax", "softmax", "*no scale*; *softmax twice*") == ["no scale"]
    assert misnamed("softmax", "gpu", "*softmax twice*") == ["gpu"]


def test_page_for_lecturers_plans_every_chapter():
    plans = set(re.findall(r"^\| \[[^]]+\]\((\w+\.ipynb)\)", PAGE, re.MULTILINE))
    assert plans == {path.name for path in CHAPTERS.glob("[0-9]*.ipynb")} - {"00_start_here.ipynb"}


def test_page_for_lecturers_shows_a_line_that_the_command_prints(graded):
    shown = re.search(r"^\[1/3\] (.*): (\d) of (\d) correct \(\d\.\d s\)$", PAGE, re.MULTILINE)
    assert shown
    assert any(re.fullmatch(r"\[ ?\d+/\d+\] .*: \d of \d correct \(\d+\.\d s\)", line) for line in graded.said)
