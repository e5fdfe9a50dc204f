"""Problems that a class hands in, whatever their kind: which calls count, what they are worth, and
that none of them is run outside of the sandbox.
"""

import ast
import csv
import json
import os
import re
import sys
from pathlib import Path

import nbformat
import pytest

import attncourse.exercises
from attncourse.exercises import __main__ as command
from attncourse.exercises.classroom import points, process, sandbox, source, verdict
from attncourse.exercises.engine import problem_pages, repairing
from attncourse.exercises.engine.find import exercises
from attncourse.exercises.engine.kinds import CALLS, KINDS, kinds, tasks

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
CHAPTERS = Path(__file__).parents[1] / "chapters"
NO_SANDBOX = sandbox.problem() if os.name == "posix" else "needs POSIX"
HEAD = "import numpy as np\nfrom attncourse.exercises import achieve, check, expose, order, repair"
TELL = (
    "import gc\ntell = next(o for o in gc.get_objects()"
    ' if getattr(o, "__qualname__", "") == "reporter.<locals>.tell")\n'
)


def notebook(*cells):
    cells = [nbformat.v4.new_code_cell(cell, id=f"c{n}") for n, cell in enumerate((HEAD, *cells))]
    return json.dumps(nbformat.v4.new_notebook(cells=cells)).encode()


def attended(*cells):
    limits = process.Limits(60, 2, 1 << 30)
    return process.attend(notebook(*cells), ".ipynb", limits, not NO_SANDBOX)


# --- the register of kinds --------------------------------------------------


def test_every_name_belongs_to_one_task():
    every = [*exercises(), *(name for kind in KINDS for name in kind.problems())]
    assert len({*every}) == len(every) == len(tasks()) and {*tasks()} == {*every}


def test_every_kind_that_the_book_has_is_marked():
    shared = problem_pages.pages
    pages = {
        name
        for name in attncourse.exercises.__all__
        if shared in vars(sys.modules[getattr(attncourse.exercises, name).__module__]).values()
    }
    assert pages == {*CALLS} and len(KINDS) >= 3


def test_the_lecturers_page_lists_every_problem_with_its_chapter():
    text = (CHAPTERS / "for_lecturers" / "index.md").read_text("utf-8")
    listed = {}
    for call, line in re.findall(r"^- `(\w+)` asks for (.+)$", text, re.MULTILINE):
        listed |= {(call, name): int(n) for name, n in re.findall(r"`(\w+)` \((\d+)\)", line)}
    assert listed == {
        (kind.call.__name__, name): problem.page.chapter
        for kind in KINDS
        for name, problem in kind.problems().items()
    }


def test_tasks_are_in_the_order_of_the_book():
    found = list(tasks())
    assert found.index("softmax") < found.index("one_maximum") < found.index("logsumexp")
    assert tasks()["softmax"] == "check" and tasks()["one_maximum"] == "expose"


# --- what counts ------------------------------------------------------------

LOOP = 'repair("delta_in_blocks", 10, "while True: pass")'
EVIL = """\
class Leaves:
    def __array__(self, *args, **options):
        raise SystemExit
expose("large_negative", Leaves(), Leaves(), Leaves(), Leaves())"""
# problem: (cells, status, level, words of the note or of what the call says)
ANSWERS = {
    "tile_sizes": (
        ['achieve("tile_sizes", block_q=256, block_k=64, stages=3)'],
        "correct",
        "right",
        "as good as the best",
    ),
    "like_four_keys": (
        ['achieve("like_four_keys", [0, 0, 0, 0, 0, 0, 0, 0])'],
        "incorrect",
        "otherwise",
        "too flat",
    ),
    "one_maximum": (
        [
            'expose("one_maximum")',
            'expose("one_maximum", [[1, 2], [3, 4]])',
            'x = [[0], [-746]]\nexpose("one_maximum", x)',
            "x[1][0] = 0",  # an answer is what it was when it was handed in
            'expose("one_maximum", [[0]])',
        ],
        "correct",
        "right",
        "Call 2 of 3 counts.",
    ),
    "safe_division": (['expose("safe_division", scores=[-6])'], "incorrect", "otherwise", "Ask"),
    "leak_test": (['expose("leak_test", [True])'], "error", "otherwise", "must have two axes"),
    "two_blocks": (
        ['expose("two_blocks", [1, 0], 1 / 0)'],
        "error",
        "otherwise",
        "Its cell stopped with ZeroDivisionError",
    ),
    "large_negative": ([EVIL], "error", "otherwise", "The call stops with SystemExit."),
    "ring_step": (['repair("ring_step", 11, "if True:")'], "correct", "right", "repaired."),
    "mean_loss": (['repair("mean_loss", 9, "words += 1")'], "incorrect", "otherwise", "is right:"),
    "last_tile": (
        [
            'repair("last_tile", 10, "scores = scores")',
            'repair("last_tile", 7, "for start in range(0, first + block_k, block_k):")',
        ],
        "incorrect",
        "one_mistake",
        "The last call of 2 counts.",
    ),
    "padded_batch": (['repair("padded_batch", 7)'], "incorrect", "one_mistake", "the wrong one"),
    "slots": (['repair("slots", 17, "n = at +")'], "error", "one_mistake", "isn't Python any more"),
    "heads_on_gpus": (
        ['repair("heads_on_gpus", 13, "raise SystemExit")'],
        "error",
        "one_mistake",
        "It ends the program",
    ),
    "delta_in_blocks": ([LOOP], "error", "one_mistake", "didn't finish within 3 seconds"),
    "shift_both_ways": (
        ['order("shift_both_ways", [*"fbdl"])'],
        "incorrect",
        "one_mistake",
        "isn't proved at all",
    ),
    "grouping_of_pairs": (
        ['order("grouping_of_pairs", letters="jbafcei")'],
        "correct",
        "right",
        "proved.",
    ),
    "delta_from_output": (
        ['order("delta_from_output", "a", "b")', 'expose("delta_from_output", 1)'],
        "error",
        "otherwise",
        "Its cell stopped with TypeError: too many",
    ),
    "hidden_first": (
        ['order("hidden_first", "abc")', 'expose("hidden_first")', '# expose("hidden_first", 1)'],
        "not attempted",
        "otherwise",
        "",
    ),
}


@pytest.fixture(scope="module")
def result():
    """All of them in one notebook, after a wrong function: each costs only itself."""
    cells = [cell for cells, *_ in ANSWERS.values() for cell in cells]
    wrong = "def softmax(scores, axis=-1):\n    return np.exp(scores)"
    return attended(wrong, *cells, 'check("softmax", softmax)')


def test_every_kind_is_right_and_wrong_here_and_a_function_beside_them_is_graded(result):
    for kind in KINDS:
        seen = {answer[1] for name, answer in ANSWERS.items() if kinds()[name] is kind}
        assert {"correct", "incorrect"} <= seen, kind
    assert {*result.answers} == {*ANSWERS, "softmax"} and not result.problems
    assert result.answers["softmax"].status == "incorrect"


@pytest.mark.parametrize("name", ANSWERS)
def test_each_kind_right_and_wrong(result, name):
    cells, status, level, words = ANSWERS[name]
    told = result.answers[name]
    found = verdict.judged(name, told, result.values.get(name, {}))
    said = " ".join(f"{found.note} {found.message}".split())
    assert (found.status, found.level) == (status, level) and words in said, (found, told)
    assert found.message.startswith(name) == bool(found.message)
    counted = "x = " if name == "one_maximum" else cells[-1]
    assert result.code.get(name, "").startswith(counted) or not result.values.get(name)


def test_a_problem_that_nobody_mentions_has_no_row():
    assert attended("1 + 1").answers == {}


def test_of_many_calls_the_last_count():
    tries = "for letter in 'jbafcei' * 3:\n    order('grouping_of_pairs', letter)"
    [told] = attended("order('grouping_of_pairs', 'jbafcei')\n" + tries).answers.values()
    assert told.status == "incorrect" and told.note == "The last call of 8 counts."


def test_a_call_that_never_ends_costs_only_itself(monkeypatch):
    def allowed(self, limits, real=process.Process._allowed):
        return 1 if self.at == "large_negative" else real(self, limits)

    monkeypatch.setattr(process.Process, "_allowed", allowed)
    monkeypatch.setattr(process, "GRACE", 0)
    never = EVIL.replace("raise SystemExit", "\n        while True: pass")
    found = attended(never, 'order("grouping_of_pairs", "jbafcei")').answers
    assert found["large_negative"].note == "did not finish within 1 seconds"
    assert found["grouping_of_pairs"].status == "correct"


def test_calls_are_kept_when_only_definitions_are_run():
    cell = "\n".join([EVIL, LOOP, 'order("x", "a")', 'print("y")', 'x = order("x", "b")'])
    kept = source.definitions(ast.parse(cell).body)
    assert [type(node).__name__ for node in kept] == ["ClassDef", "Expr", "Expr", "Expr"]


# --- what is believed -------------------------------------------------------


def honest(name, *answer):
    """What a notebook tells of a call, and the values beside it."""
    from attncourse.exercises.classroom.notebook import as_text

    judged = kinds()[name].judged(name, *answer)
    told = process.Told(judged.status, message=judged.text)
    return told, dict(enumerate(map(as_text, judged.shown)))


RIGHT = {
    "one_maximum": ([[373], [-373]],),
    "two_blocks": ([0, -1, 0], 1),
    "ring_step": (11, "if True:"),
    "grouping_of_pairs": ("jbafcei",),
}
WRONG = {
    "one_maximum": ([[0], [0]],),
    "two_blocks": ([0, 0], 1),
    "ring_step": (3, "pass"),
    "grouping_of_pairs": ("jb",),
}


@pytest.mark.parametrize("name", RIGHT)
def test_no_call_declares_itself_right(name):
    told, values = honest(name, *RIGHT[name])
    assert told.status == "correct" and verdict.judged(name, told, values).level == "right"
    _, wrong = honest(name, *WRONG[name])
    for shown in (wrong, {}):
        found = verdict.judged(name, told, shown)
        assert (found.status, found.level, found.note) == ("incorrect", "otherwise", verdict.UNTRUE)


@pytest.mark.parametrize("name", RIGHT)
def test_right_values_are_worth_nothing_to_a_call_that_is_wrong(name):
    told, _ = honest(name, *WRONG[name])
    _, values = honest(name, *RIGHT[name])
    assert told.status != "correct" and verdict.judged(name, told, values).level == "otherwise"


def test_less_than_all_cases_is_no_repair():
    told, values = honest("ring_step", *RIGHT["ring_step"])
    values.pop(max(values))
    assert verdict.judged("ring_step", told, values).level == "otherwise"


@pytest.mark.parametrize("inputs", [[[[20000.0], [0.0]]], [[[1.0, 0.0]], [[1.0]]], []])
def test_an_input_is_read_as_strictly_outside_as_inside(inputs):
    from attncourse.exercises.classroom.notebook import as_text
    from attncourse.exercises.sandbox.answer import read_answer
    from attncourse.exercises.sandbox.call import Outcome

    values = {0: as_text(Outcome(read_answer(tuple(inputs))))}
    with pytest.raises(ValueError):  # the row says that it could not be graded
        verdict.judged("one_maximum", process.Told("correct"), values)


def test_a_notebook_that_forges_its_report_gains_nothing():
    forged = f'{TELL}tell(at="one_maximum")\ntell(grade=["one_maximum", "correct", [], "", "", ""])'
    cells = ['expose("one_maximum", [[0]])', forged + "\ntell(done=True)"]
    name, result = "one_maximum", attended(*cells)
    found = verdict.judged(name, result.answers[name], result.values.get(name, {}))
    assert (found.status, found.level) == ("incorrect", "otherwise")


def test_outside_only_the_books_own_lines_are_run(monkeypatch):
    told, values = honest("ring_step", 11, "if True:")
    lines = []

    def changed(listing, number, line, real=repairing.Listing.changed):
        lines.append(line)
        return real(listing, number, line)

    monkeypatch.setattr(repairing.Listing, "changed", changed)
    monkeypatch.setattr(repairing, "call", None)  # what runs a learner's line
    listing = repairing.listings()["ring_step"]
    monkeypatch.delitem(vars(listing), "expected")  # kept from the call above
    assert verdict.judged("ring_step", told, values).level == "right"
    assert lines == [listing.right_line]


# --- a class ----------------------------------------------------------------

SOFTMAX = """\
def softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
check("softmax", softmax)"""
EXPOSED = 'expose("one_maximum", [[373], [-373]])'
REPAIRED = 'repair("ring_step", 11, "if step < world:")'
PROVED = 'order("shift_both_ways", "fbdlhkigj")'
SETTINGS = """\
deadline = 2001-09-09T01:46:41Z
[points]
softmax = 1
one_maximum = 2
ring_step = 4
shift_both_ways = 8
"""
CLASS = {
    "Ada Lovelace_11": {"a": (SOFTMAX, EXPOSED, REPAIRED, PROVED)},
    "Bo_12": {
        "late": (
            "raise ValueError",
            'expose("one_maximum", [[)',
            'expose("one_maximum", [[1 / 0]])',
            'repair("ring_step", 11, "while True:")',
            'order("shift_both_ways", "fa")',
        )
    },
    "Cy_13": {"first": (EXPOSED, 'repair("ring_step", 2, "x")'), "second": (REPAIRED,)},
}


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("problems")
    for learner, files in CLASS.items():
        for file, cells in files.items():
            path = folder / "in" / f"{learner}_assignsubmission_file_" / f"{file}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(notebook(*cells))
            os.utime(path, (1e9 + 2 * (file == "late"),) * 2)
    (folder / "settings.toml").write_text(SETTINGS)
    (folder / "roster.csv").write_text("Name,Grade\nAda Lovelace,\nBo,\nCy,\nDee,\n")
    words = ["grade", str(folder / "in"), "--out", str(folder / "out"), "--cell-seconds", "5"]
    words += ["--settings", str(folder / "settings.toml"), "--roster", str(folder / "roster.csv")]
    assert command.main([*words, *["--unprotected"] * bool(NO_SANDBOX)]) == 0
    return folder / "out"


def table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_class_of_three_gets_its_points(marked):
    rows = table(marked / "learners.csv")
    assert [(row["learner"], row["points"], row["of"], row["late"]) for row in rows] == [
        ("Ada Lovelace", "15.0", "15", ""),
        ("Bo", "2.0", "15", "late"),  # the right line, with a wrong repair
        ("Cy", "6.0", "15", ""),
        ("Dee", "0", "15", ""),
    ]
    grades = (marked / "import.csv").read_text()
    assert grades == "Name,Grade\nAda Lovelace,15.0\nBo,2.0\nCy,6.0\nDee,\n"


def test_each_answer_has_a_row(marked):
    rows = [row for row in table(marked / "grades.csv") if row["exercise"]]
    seen = {(row["learner"], row["exercise"]): row["status"] for row in rows}
    assert seen["Ada Lovelace", "shift_both_ways"] == seen["Cy", "one_maximum"] == "correct"
    assert seen["Bo", "one_maximum"] == seen["Bo", "ring_step"] == "error"
    assert seen["Bo", "shift_both_ways"] == "incorrect" and ("Bo", "softmax") not in seen
    problems = [row for row in rows if row["exercise"] in kinds()]
    assert not any(row["cases"] or row["mistakes"] for row in problems)
    assert len([row for row in rows if row["exercise"] == "ring_step"]) == 4


def page(marked, name):
    [path] = (marked / "feedback").glob(f"{name}_*/feedback.html")
    return path.read_text("utf-8")


def section(text, name):
    return " ".join(re.search(f'<section id="{name}">.*?</section>', text, re.DOTALL)[0].split())


def test_feedback_says_what_the_call_says_and_what_to_do(marked):
    ada, bo, cy = (page(marked, name) for name in ("Ada Lovelace", "Bo", "Cy"))
    for text in (ada, bo, cy):
        assert not any(word in text for word in ("test cases", "hint(&quot;one", 'hint("one'))
    found = section(ada, "one_maximum")
    assert "What expose says" in found and "as small as it gets" in found and "2 of 2" in found
    assert "Next step" not in found and "[[373], [-373]]" in found
    found = section(bo, "ring_step")
    assert "2 of 4 points" in found and "finish within 3 seconds" in found
    assert '<code>repair("ring_step")</code>' in found and "is worth a part of" in found
    assert "ZeroDivisionError" in section(bo, "one_maximum")
    assert "Line a is false" in section(bo, "shift_both_ways")
    found = section(cy, "ring_step")
    assert "You handed in 2 answers" in found and "4 of 4 points" in found
    missing = cy.partition("<h2>Not attempted</h2>")[2]
    assert "shift_<wbr>both_<wbr>ways" in missing and 'order("shift_both_ways")' in missing
    assert "hand it to <code>check</code>" in missing and 'hint("softmax")' in missing


def test_the_summary_counts_problems_as_it_counts_functions(marked):
    text = (marked / "summary.html").read_text("utf-8")
    for name in ("softmax", "one_maximum", "ring_step", "shift_both_ways"):
        assert f'<th scope="row"><code>{name.replace("_", "_<wbr>")}</code>' in text
    assert "No mistake was named." in text and "1 on the roster handed nothing" in text


def test_points_of_problems_are_set_by_name_and_unknown_names_refused(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("[points]\none_maximum = 3\n")
    assert points.settings(path).points == {"one_maximum": 3}
    path.write_text("[points]\none_maximun = 3\n")
    with pytest.raises(points.Unusable, match="did you mean one_maximum"):
        points.settings(path)


def test_without_settings_a_problem_that_half_of_the_class_answers_is_worth_a_point():
    row = dict(learner="a", exercise="one_maximum", status="incorrect")
    asked = dict(row, exercise="leak_test", status="not attempted")
    assert points.worth({}, [row, asked]) == {"one_maximum": 1}
    assert points.total([dict(row, share=0.5)], {"one_maximum": 1}) == 0.5
