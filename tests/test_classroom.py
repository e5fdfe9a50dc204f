"""A class hands in its notebooks: each is graded, and what one does costs only itself."""

import csv
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from attnlib.exercises import __main__ as command
from attnlib.exercises.classroom import confine, grade as marking, notebook as untrusted, process
from attnlib.exercises.engine import catalogue
from attnlib.exercises.engine.grading import exercises
from attnlib.exercises.classroom.grade import Unusable, collect, grade_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
CHAPTERS = Path(__file__).parents[1] / "chapters"
LIMITS = process.Limits(seconds=60, cell_seconds=1.5, memory=1 << 30)

HEAD = "import numpy as np\nimport attnlib\nfrom attnlib.exercises import check, grade, hint"
RIGHT = ("def softmax(scores, axis=-1):\n"
         "    e = np.exp(scores - scores.max(axis=axis, keepdims=True))\n"
         "    return e / e.sum(axis=axis, keepdims=True)")
WRONG = "def softmax(scores, axis=-1):\n    e = np.exp(scores)\n    return e / e.sum(axis=axis, keepdims=True)"
CHECK = 'check("softmax", softmax)'
MISTAKE = "no maximum subtracted"
INCORRECT = [("softmax", "incorrect", MISTAKE)]
CORRECT = [("softmax", "correct", "")]
SLEEPER = str(10**8 + os.getpid())  # seconds: tells what a notebook here leaves running from anything else

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
FAKED = """\
import os
for number in range(3, 50):
    try:
        os.write(number, b'0 {"grade": ["softmax", "correct", [], ""]}\\n0 {"done": true}\\n')
    except OSError:
        pass
print('{"grade": ["softmax", "correct", [], ""], "done": true}')"""
VANDAL = """\
import os, shutil
folder = %r
open(os.path.join(folder, "right.ipynb"), "w").write("gone")"""
FORKS = """\
import os
for number in range(5):
    if os.fork() == 0:
        os.setsid()
        os.execv("/bin/sleep", ["sleep", "%s"])""" % SLEEPER

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
                      "a library's function"),
    "IPython's lines": (["%matplotlib inline\n!ls\n" + HEAD, "%%time\n" + RIGHT, "%%bash\nexit", "softmax?", CHECK],
                        CORRECT, ""),
    "library not there": (["import not_there\n" + HEAD, WRONG, CHECK], INCORRECT, ""),
    "syntax": ([HEAD, "def softmax(scores, axis=-1)\n    return 3", CHECK], [("softmax", "error", "")], "SyntaxError"),
    "raises": ([HEAD, "1 / 0", WRONG, "raise SystemExit", CHECK], INCORRECT, ""),
    "asks": ([HEAD, "input()", WRONG, CHECK], INCORRECT, ""),
    "redefines check": ([HEAD, WRONG, "def check(*args):\n    print('softmax: correct.')\ngrade = hint = check", CHECK],
                        INCORRECT, ""),
    "patches": ([HEAD, WRONG, PATCHES, CHECK], INCORRECT, ""),
    "patches inside": ([HEAD, WRONG.replace("):\n", "):\n    import attnlib.exercises.engine.grading as g\n    g.judge = None\n"),
                        CHECK], INCORRECT, ""),
    "fakes the report": ([HEAD, WRONG, FAKED, CHECK], INCORRECT, ""),
    "floods": ([HEAD, "for n in range(200_000):\n    print('x' * 1000)", WRONG, CHECK], INCORRECT, ""),
    "leaves": ([HEAD, WRONG, "import os\nos._exit(0)", CHECK], INCORRECT, "code cell 3 ended the process"),
    "crashes": ([HEAD, "def softmax(scores, axis=-1):\n    import ctypes\n    ctypes.string_at(0)",
                 WRONG.replace("softmax", "softmax_row").replace("axis=axis, keepdims=True", "").replace(", axis=-1", "")],
                [("softmax_row", "incorrect", MISTAKE), ("softmax", "error", "")], "SIGSEGV"),
    "closes files": ([HEAD, WRONG, "import os\nos.closerange(0, 100)", CHECK], INCORRECT, "code cell 3 ended"),
    "loops": ([HEAD, "while True:\n    try:\n        pass\n    except BaseException:\n        pass", WRONG, CHECK],
              INCORRECT, ""),
    "loops for ever": ([HEAD, WRONG, "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    pass",
                        CHECK], INCORRECT, "code cell 3 did not finish in time"),
    "kills": ([HEAD, WRONG, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", CHECK], INCORRECT, "SIGKILL"),
    "nothing in it": (["1 + 1"], [("", "error", "")], "no exercise"),
    "José 漢字 (1)": ([HEAD, RIGHT, CHECK], CORRECT, ""),
}
ON_LINUX = {
    "takes memory": ([HEAD, "kept = []\nwhile True:\n    kept.append(np.ones(10**7))", "kept = None", WRONG, CHECK],
                     INCORRECT, ""),
    "forks": ([HEAD, WRONG, FORKS, CHECK], INCORRECT, ""),
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


def read(out):
    with open(out / "grades.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Graded:
    """A class of everything above, once graded."""

    def __init__(self, folder):
        self.folder, self.out, self.said = folder / "class", folder / "grades", []
        for name, (cells, _, _) in NOTEBOOKS.items():
            write(self.folder / f"{name}.ipynb", *cells)
        for name, text in BROKEN.items():
            (self.folder / name).write_text(text)
        write(self.folder / "vandal.ipynb", HEAD, WRONG, VANDAL % str(self.folder),
              "shutil.rmtree(folder)", CHECK)
        (self.folder / "essay.txt").write_text("not a notebook")
        (self.folder / "link.ipynb").symlink_to("/etc/hostname")
        self.before = hashes(self.folder)
        self.code = grade_folder(self.folder, self.out, LIMITS, self.said.append)
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


def test_no_file_is_changed(graded):
    assert [(row["exercise"], row["status"], row["mistakes"]) for row in graded.of("vandal")] == INCORRECT
    assert hashes(graded.folder) == graded.before
    if confine.version():
        assert not any("put back" in line for line in graded.said)


def test_nothing_is_left_running_or_lying_about(graded):
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert "ps -eo args" in running and SLEEPER not in running


def test_rows_progress_and_exit_code(graded):
    assert graded.code == 0
    assert list(graded.rows[0]) == ["learner", "exercise", "status", "mistakes", "notebook", "note"]
    assert {row["status"] for row in graded.rows} == set(marking.STATUSES)
    count = len(NOTEBOOKS) + len(BROKEN) + 2
    progress = [line for line in graded.said if line.startswith("[")]
    assert len(progress) == count and progress[-1].startswith(f"[{count}/{count}]")
    learners = [row["learner"].casefold() for row in graded.rows]
    assert learners == sorted(learners)


def test_summary_counts_learners_and_names_the_mistakes(graded):
    text = (graded.out / "summary.md").read_text(encoding="utf-8")
    by_status = Counter(row["status"] for row in graded.rows if row["exercise"] == "softmax")
    counts = " | ".join(str(by_status[status]) for status in marking.STATUSES)
    assert f"| `softmax` | {counts} |" in text
    tried = sum(by_status.values()) - by_status["not attempted"]
    assert f"| {MISTAKE} | `softmax` | {by_status['incorrect']} of {tried} |" in text
    assert 'in the book: "Mistakes: the softmax"' in text and "*Ask the room:* Which number can be subtracted" in text
    assert "empty.ipynb: the file is empty." in text and "essay.txt" in text
    assert len(text.splitlines()) < 70


# ---------------------------------------------------------------- chapters as they are handed in

def test_chapters_untouched_and_solved(tmp_path):
    for path in sorted(CHAPTERS.glob("0[1-9]*.ipynb"))[:2]:
        (tmp_path / "in" / "untouched").mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / "solved").mkdir(exist_ok=True)
        (tmp_path / "in" / "untouched" / path.name).write_bytes(path.read_bytes())
        solved = CHAPTERS / "solutions" / path.name
        (tmp_path / "in" / "solved" / path.name).write_bytes(solved.read_bytes())
    grade_folder(tmp_path / "in", tmp_path / "out", say=lambda text: None)
    rows = read(tmp_path / "out")
    found = {(row["learner"], row["status"]) for row in rows}
    assert found == {("solved", "correct"), ("untouched", "not attempted")}
    count = Counter(row["learner"] for row in rows)
    assert count["solved"] == count["untouched"] >= 11


def test_grading_twice_gives_the_same_table(tmp_path):
    write(tmp_path / "in" / "b.ipynb", HEAD, "import random\nprint(hash('a'), id(attnlib), random.random())", WRONG)
    write(tmp_path / "in" / "a.ipynb", HEAD, RIGHT)
    said = []
    for _ in range(2):
        grade_folder(tmp_path / "in", tmp_path / "out", LIMITS, said.append)
    tables = [(tmp_path / "out" / name).read_bytes() for name in ("grades.csv", "grades.1.csv")]
    assert tables[0] == tables[1] and len(tables[0].splitlines()) == 3
    assert any("grades.csv is now grades.1.csv" in line for line in said)


# ---------------------------------------------------------------- folders and names

def learners(folder, *paths):
    """The learner of each of these files."""
    for path in paths:
        write(folder / path) if path.endswith("nb") else (folder / path).write_text("x = 1")
    return {n.path.relative_to(folder).as_posix(): n.learner for n in collect(folder)[0]}


def test_learning_platforms(tmp_path):
    expected = {
        "Ada Lovelace_11_assignsubmission_file_/04.ipynb": "Ada Lovelace",
        "Ada Lovelace_11_assignsubmission_file_/more/01.ipynb": "Ada Lovelace",
        "Alan Turing_12_assignsubmission_file_04 softmax.ipynb": "Alan Turing",
        "hoppergrace_LATE_123_4567_03_softmax-1.ipynb": "hoppergrace",
        "noether/04.ipynb": "noether", "emmy.ipynb": "emmy", "03_softmax_kurt.ipynb": "03_softmax_kurt"}
    assert learners(tmp_path, *expected) == expected


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


@pytest.mark.parametrize("name", ["=1+1", "@x", "a\x1b[31mb", "a\nb", "a\udcffb"])
def test_names_are_no_commands(name):
    shown = marking.printable(name)
    assert shown.isprintable() and shown[0] not in "=+-@" and shown.encode()


def test_what_is_no_folder_of_notebooks_gets_a_sentence(tmp_path, capsys):
    for folder, words in ((tmp_path / "gone", "there is no folder"), (tmp_path, "no file that ends in .ipynb or .py")):
        with pytest.raises(Unusable, match=words):
            collect(folder)
        assert command.main(["grade", str(folder), "--out", str(tmp_path / "out")]) == 1
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text, count", [
    ("# %%\nx = 1\n# %% [markdown]\n# text\n# %%\ny = 2", 4),
    ("x = 1\n1 / 0\n@property\ndef f(a):\n    return a\n", 3),
    ("!pip install x\nx = 1", 2),
    ("x = = 1\ny = 2", 1),
])
def test_scripts_become_cells(text, count):
    found = marking.statements(text.encode())
    assert len(found) == count and (count != 3 or found[2].startswith("@property"))


@pytest.mark.parametrize("source, expected", [
    ("x = 5 % 3", "x = 5 % 3"),
    ("%pip install x\ny = 1", "pass\ny = 1"),
    ("if x:\n    !ls", "if x:\n    pass"),
    ("files = !ls", "pass"),
    ("%%timeit -n 1\nf()", "\nf()"),
    ("%%bash\nrm x", ""),
    ("np.exp?", "pass"),
])
def test_ipythons_own_lines_are_left_out(source, expected):
    assert untrusted.as_python(source) == expected


# ---------------------------------------------------------------- when something goes wrong

def test_changed_and_deleted_files_are_put_back(tmp_path):
    learners(tmp_path, "a/1.ipynb", "b/2.ipynb", "c/3.ipynb")
    (tmp_path / "c" / "data.txt").write_text("1 2 3")
    before = hashes(tmp_path)
    notebooks, others = collect(tmp_path)
    assert marking.put_back(notebooks + others) == []
    (tmp_path / "a" / "1.ipynb").write_text("changed")
    (tmp_path / "b" / "2.ipynb").unlink()
    (tmp_path / "c" / "data.txt").unlink()
    assert marking.put_back(notebooks + others) == ["a/1.ipynb", "b/2.ipynb", "c/data.txt"]
    assert hashes(tmp_path) == before


def test_time_for_a_notebook_ends(tmp_path):
    write(tmp_path / "in" / "slow.ipynb", HEAD, *["import time\ntime.sleep(1)"] * 9, WRONG, CHECK)
    grade_folder(tmp_path / "in", tmp_path / "out", process.Limits(seconds=1.5, cell_seconds=30), lambda text: None)
    [row, cell] = read(tmp_path / "out")
    assert row["exercise"] == "softmax" and row["status"] == "error" and "not graded" in row["note"]
    assert "used up the notebook's time" in cell["note"]


def test_ctrl_c_keeps_what_is_graded(tmp_path):
    write(tmp_path / "in" / "a.ipynb", HEAD, WRONG, CHECK)
    write(tmp_path / "in" / "b.ipynb", HEAD, "import time\ntime.sleep(60)")
    run = subprocess.Popen(
        [sys.executable, "-m", "attnlib.exercises", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=str(tmp_path)))
    while not run.stdout.readline().startswith("[1/2]"):
        pass
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    rest, _ = run.communicate(timeout=20)
    assert run.returncode == 130 and "Stopped. What was graded so far" in rest
    assert [row["learner"] for row in read(tmp_path / "out")] == ["a"]
    assert "1 more are not in it" in (tmp_path / "out" / "summary.md").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


@pytest.mark.skipif(not confine.version(), reason="needs Landlock")
def test_fence_keeps_files_processes_and_connections(tmp_path):
    (tmp_path / "secret").write_text("a")
    (tmp_path / "scratch").mkdir()
    code = f"""
import os, socket, numpy
from attnlib.exercises.classroom import confine as fence
found = fence.close({str(tmp_path / "scratch")!r})
open({str(tmp_path / "scratch" / "mine")!r}, "w").write("b")
tried = dict(read=lambda: open({str(tmp_path / "secret")!r}).read(),
             write=lambda: open({str(tmp_path / "new")!r}, "w"),
             delete=lambda: os.remove({str(tmp_path / "secret")!r}))
if found >= 4:
    tried["connect"] = lambda: socket.create_connection(("127.0.0.1", 9))
if found >= 6:
    tried["kill"] = lambda: os.kill(os.getppid(), 0)
for name, deed in tried.items():
    try:
        deed()
        print(name)
    except PermissionError:
        pass
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert (tmp_path / "secret").exists() and not (tmp_path / "new").exists()


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
