"""The book's notebooks, and the checks that hold them, each seen to fail."""

import ast
import base64
import contextlib
import copy
import inspect
import io
import json
import linecache
import re
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from PIL import Image

from attncourse import packed
from attncourse.exercises import grade
from attncourse.exercises.engine.find import exercises
from attncourse.exercises.engine.report import matches
from attncourse.exercises.engine.running import run_case
from attncourse.exercises.engine.usable import binds
from attncourse.exercises.sandbox.call import Clock
from book import checks, editions, figures, fill, notebooks
from book.notebooks import CHAPTERS, ROOT

SET_UP = notebooks.set_up_source("..")
ALT = "Two bars side by side; the left one is the higher."
FIGURE = {
    "output_type": "display_data",
    "metadata": {},
    "data": {"image/png": "", "text/plain": "<Figure size 640x480 with 1 Axes>"},
}


# --- the book ---------------------------------------------------------------


@pytest.mark.parametrize(
    "path", notebooks.notebook_paths(), ids=lambda path: str(path.relative_to(CHAPTERS))
)
def test_notebook_has_no_problems(path):
    found = checks.problems(path)
    assert not found, "\n".join(found)


def pages_in_toc():
    """Every page in _toc.yml, without its ending."""
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    return re.findall(r"^ *(?:- )?(?:file|root): *(\S+)", text, re.MULTILINE)


def test_pages_in_toc_exist():
    missing = [
        page
        for page in pages_in_toc()
        if not any((ROOT / (page + ending)).exists() for ending in (".md", ".ipynb"))
    ]
    assert missing == []


def test_notebooks_are_in_toc():
    pages = {
        path.relative_to(ROOT).with_suffix("").as_posix() for path in notebooks.notebook_paths()
    }
    assert pages - set(pages_in_toc()) == set()


def test_readme_types_no_address():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert checks.typed_addresses(text) == []


def test_readme_shows_what_check_says_and_stays_short():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {"np": np}
    exec(re.search(r"```python\n(def softmax.*?)\ncheck", text, re.DOTALL)[1], names)
    assert f"```text\n{grade('softmax', names['softmax']).message.rstrip()}\n```" in text
    assert len(text.split()) <= 700


def test_first_page_shows_what_check_says():
    def without_the_scale(query, key, value):
        powers = np.exp(key @ query - (key @ query).max())
        return powers / powers.sum() @ value

    text = (ROOT / "chapters" / "index.md").read_text(encoding="utf-8")
    said = grade("attend_once", without_the_scale).message.rstrip()
    assert said.startswith("attend_once: not yet.") and f"```text\n{said}\n```" in text


@pytest.mark.parametrize(
    "text",
    [
        "git clone https://github.com/somebody/a-book",
        "https://colab.research.google.com/github/somebody/a-book/blob/main/x",
    ],
)
def test_a_typed_address_is_found(text):
    assert checks.typed_addresses(text)
    assert not checks.typed_addresses(text.replace("/somebody", ""))


# --- the checks -------------------------------------------------------------


def code(source="1 + 1", outputs=(), count=2, **metadata):
    return {
        "cell_type": "code",
        "source": source,
        "metadata": metadata,
        "outputs": list(outputs),
        "execution_count": count,
    }


def markdown(source):
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def html(text):
    return {"output_type": "display_data", "metadata": {}, "data": {"text/html": text}}


def error():
    return {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "no",
        "traceback": ["ValueError: no"],
    }


def notebook(*cells):
    set_up = code(SET_UP, count=1, tags=["remove-cell"])
    return {
        "metadata": {"kernelspec": {"name": "python3"}},
        "cells": [markdown("# Title\n\nText."), set_up, *cells],
    }


GOOD = notebook(
    code(outputs=[FIGURE], mystnb={"image": {"alt": ALT}}),
    code("raise ValueError('no')", [error()], 3, tags=["raises-exception"]),
    code("print(1)", [stream("1 of 2\n"), html("<b>2</b>")], 4),
    markdown(
        "## Section\n\n> **Exercise 1: $x$.** Price: \\$3 and `$`.\n\n"
        "| a | b |\n|---|---|\n| $x \\mid y$ | `{note}` |\n\n"
        "$$\n\\begin{aligned}\na_{i} &= b\n\\end{aligned}\n$$\n\n"
        "<details>\n<summary>Hint</summary>\n\nText.\n\n</details>\n\n"
        "```\n# no heading $\n{% no dialect %}\n```\n\n### Below"
    ),
)


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda c: c.__name__)
def test_good_notebook_passes(check):
    assert check(copy.deepcopy(GOOD)) == []


BAD = [
    (checks.cells_not_run, [code(count=None)]),
    (checks.cells_not_run, [code("# only a comment", count=None)]),
    (checks.cells_not_run, [code(count=3)]),
    (checks.cells_not_run, [code("", count=2)]),
    (checks.errors, [code(outputs=[error()])]),
    (checks.standard_error, [code(outputs=[stream("careful", "stderr")])]),
    (checks.of_one_machine, [code(outputs=[stream("/home/me/book")])]),
    (checks.of_one_machine, [code(outputs=[stream("in C:\\Users\\me")])]),
    (checks.of_one_machine, [code(outputs=[stream("at 0x7f12ab34cd56>")])]),
    (checks.of_one_machine, [code(outputs=[stream("x: UserWarning: no")])]),
    (checks.of_one_machine, [code(outputs=[stream("Text(0.5, 1.0, 'x')")])]),
    (checks.of_one_machine, [code(outputs=[html("<p>lib/site-packages")])]),
    (checks.outside_hosts, [code(outputs=[html("<script src='https://x.org/a.js'></script>")])]),
    (checks.figures_without_alt, [code(outputs=[FIGURE])]),
    (
        checks.figures_without_alt,
        [code(outputs=[FIGURE], mystnb={"image": {"alt": "_build/images/x.png"}})],
    ),
    (checks.images_without_alt, [markdown("![](chart.png)")]),
    (checks.images_without_alt, [code(outputs=[html("<img src='x.png'>")])]),
    (checks.long_code, [code("x = 1" + " + 1" * 20)]),
    (checks.long_code, [code("x = 1\n" * 16)]),
    (checks.unchecked_cells, [code("# NBVAL_IGNORE_OUTPUT\n1")]),
    (checks.unchecked_cells, [code(tags=["nbval-skip"])]),
    (checks.left_behind, [code(execution={"iopub.status.busy": "2026"})]),
    (checks.one_renderer_only, [markdown("```{note}\nText\n```")]),
    (checks.one_renderer_only, [markdown("```{eval-rst}\nText\n```")]),
    (checks.one_renderer_only, [markdown("> ```{note}\n> Text\n> ```")]),
    (checks.one_renderer_only, [markdown(":::{tip}\nText\n:::")]),
    (checks.one_renderer_only, [markdown("See {doc}`other`.")]),
    (checks.one_renderer_only, [markdown("(target)=\n## Section")]),
    (checks.one_renderer_only, [markdown("$$x$$ (label)")]),
    (checks.one_renderer_only, [markdown("% a comment")]),
    (checks.one_renderer_only, [markdown("Text[^1].\n\n[^1]: Foot.")]),
    (checks.one_renderer_only, [markdown("See [](other.ipynb).")]),
    (checks.one_renderer_only, [markdown("<script>x()</script>")]),
    (checks.lone_dollars, [markdown("A score of $x_i and a weight.")]),
    (checks.lone_dollars, [markdown("$$x$$ and $$y$")]),
    (checks.bars_in_tables, [markdown("| $p(x|y)$ | b |\n|---|---|")]),
    (checks.unportable_formulas, [markdown("$$\\begin{align}x\\end{align}$$")]),
    (checks.unportable_formulas, [markdown("$$x \\label{x}$$")]),
    (checks.headings, [markdown("# Another title")]),
    (checks.headings, [markdown("### Two levels down")]),
    (checks.unknown_boxes, [markdown("> **Excercise.** Text.")]),
    (checks.unknown_boxes, [markdown("> **Hint**: text.")]),
    (checks.folded_text, [markdown("<details>\n<summary>a</summary>\ntext\n\n</details>")]),
    (checks.folded_text, [markdown("<details>\n\ntext")]),
]


@pytest.mark.parametrize("check, cells", BAD, ids=lambda value: getattr(value, "__name__", ""))
def test_check_finds(check, cells):
    assert check(notebook(*copy.deepcopy(cells)))


def test_title_must_come_first():
    bad = notebook()
    bad["cells"].insert(0, markdown("Text before the title."))
    assert checks.headings(bad)


def test_kernel_must_be_python3():
    bad = notebook()
    bad["metadata"]["kernelspec"]["name"] = "my-env"
    assert checks.kernel(bad)


def test_set_up_cell_must_be_first_and_name_the_clone():
    good, bad = notebook(), notebook()
    assert checks.set_up_cell(good, SET_UP) == []
    assert checks.set_up_cell(good, SET_UP.replace("..", "../.."))
    bad["cells"].insert(1, code())
    assert checks.set_up_cell(bad, SET_UP)
    assert checks.set_up_cell({"cells": []}, SET_UP)


def test_links_must_lead_to_files(tmp_path):
    (tmp_path / "there.ipynb").touch()
    links = notebook(markdown("[a](there.ipynb#part) [b](https://example.org) [c](#here)"))
    assert checks.missing_files(links, tmp_path) == []
    links = notebook(markdown("[a](gone.ipynb)"))
    assert checks.missing_files(links, tmp_path)


# --- changed figures --------------------------------------------------------

DRAWN = '''\
import matplotlib.pyplot as plt
def draw(x=2, color="C0", label="query", size=(4, 3)):
    plt.figure(figsize=size)
    plt.plot([1, x, 3], [1, 2, 4], "o-", color=color, markersize=4)
    plt.title(label)
    plt.show()'''
CHANGES = {  # the cell as stored: the cell as run
    "draw()  # same": "draw()",
    "draw()  # point": "draw(x=2.02)",
    "draw()  # color": "draw(color='#1f5fd4')",
    "draw()  # label": "draw(label='guery')",
    "draw()  # size": "draw(size=(4, 3.1))",
    "draw()  # missing": "pass",
    "draw()  # added": "draw(); draw()",
}


ALONE = {  # a cell that does well beside its files, once: how it does alone, and there again
    "print(1)": ("PASSED", "PASSED"),
    "n = 1 + globals().get('n', 0); print(n)": ("PASSED", "FAILED"),
    "import sphinx": ("FAILED", "FAILED"),
    "text = open('beside.txt').read()": ("FAILED", "FAILED"),
    "open('left.txt', 'w').close()": ("PASSED", "PASSED"),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What `pytest --nbval` says of a notebook whose figures changed, and which is not made to run
    alone.
    """
    path = tmp_path_factory.mktemp("figures") / "changed.ipynb"
    (path.parent / "beside.txt").touch()
    cells = [nbformat.v4.new_code_cell(s) for s in [DRAWN, *CHANGES, *ALONE]]
    drawn = nbformat.v4.new_notebook(cells=cells)
    fill.execute(drawn, path.parent)
    for cell, source in zip(drawn.cells[1:], CHANGES.values()):
        cell.source = source
    nbformat.write(drawn, path)
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "conftest",
            "--nbval",
            "-v",
            "--twice",
            "-p",
            "no:cacheprovider",
            "--color=no",
            str(path),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout


@pytest.mark.parametrize("number, change", list(enumerate(CHANGES, 1)))
def test_changed_figure_fails(report, number, change):
    outcome = re.search(rf"::Cell {number} ([A-Z]+)", report).group(1)
    expected = "PASSED" if change.endswith("same") else "FAILED"
    assert outcome == expected, report


@pytest.mark.parametrize("number, source", list(enumerate(ALONE, 1 + len(CHANGES))))
def test_what_needs_more_than_colab_or_cannot_run_twice_fails(report, number, source):
    found = tuple(
        re.search(rf"::Cell {number}{again} ([A-Z]+)", report).group(1) for again in ("", " again")
    )
    assert found == ALONE[source], report


def test_what_a_notebook_leaves_behind_is_an_error(report):
    assert "changed.ipynb left files behind: ['left.txt']" in report


SHARING = """
@pytest.fixture(scope="module")
def site(): ...
@pytest.fixture(scope="module")
def page(site): ...
@pytest.fixture
def line(page): ...
@pytest.fixture(params=[1, 2], scope="module")
def other(): ...
def test_site(tmp_path, site): ...
def test_line(line): ...
def test_other(other): ...
def test_alone(tmp_path): ...
"""


def test_a_worker_takes_one_function_or_what_shares_a_kernel_or_fixtures(request, tmp_path):
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "conftest.py"))
    config = SimpleNamespace(
        rootpath=tmp_path,
        option=SimpleNamespace(),
        getoption=lambda name: "loadscope",
        getvalue=lambda name: ["popen"],
    )
    piece = conftest.pytest_xdist_make_scheduler(config, None)._split_scope
    for file in ("test_one.py", "test_two.py"):
        (tmp_path / file).write_text(SHARING)
        assert {name: piece(f"{file}::{name}") for name in SPREAD} == {
            name: f"{file}::{taken}" for name, taken in SPREAD.items()
        }
    assert {piece(f"a.ipynb::{cell}") for cell in ("Cell 0", "Cell 1 again")} == {"a.ipynb"}


SPREAD = {
    "test_site": "site",
    "test_line": "site",
    "test_other[1]": "other",
    "test_other[2]": "other",
    "test_alone": "test_alone",
    "test_alone[1]": "test_alone",
    "test_alone[2-b::c]": "test_alone",
    "Group::test_method": "Group::test_method",
}


def test_a_worker_takes_an_exercise_with_all_its_answers(request):
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "conftest.py"))
    file = "tests/test_exercises.py"
    assert {
        conftest.piece(ROOT, f"{file}::{name}")
        for name in (
            "test_right_answer_is_accepted[softmax-by_rows]",
            "test_wrong_answer_is_named[softmax-answer0]",
            "test_pairs_are_named_as_pairs[softmax]",
        )
    } == {"softmax"}


def png(width=40, height=30, dot=(10, 10)):
    """The outputs of a cell that draws a black dot on white."""
    image = Image.new("RGB", (width, height), "white")
    image.paste("black", (*dot, dot[0] + 3, dot[1] + 3))
    file = io.BytesIO()
    image.save(file, "PNG")
    data = {"image/png": base64.b64encode(file.getvalue()).decode()}
    return [{"output_type": "display_data", "data": data}]


@pytest.mark.parametrize(
    "new, reason",
    [
        (png(), None),
        (png(dot=(11, 10)), "figure 1 differs .* near x=0, y=0 "),
        (png(width=41), "stored with 40 x 30 pixels, and drawn with 41 x 30"),
        ([], r"stores 1 figure\(s\) here, and the cell draws 0"),
        (png() + png(), "draws 2"),
    ],
)
def test_difference_says_what_changed(new, reason):
    found = figures.difference(png(), new)
    assert found is None if reason is None else re.search(reason, found)


def test_noise_of_a_few_levels_passes():
    rng = np.random.default_rng(0)
    figure = rng.integers(20, 235, size=(50, 70, 4)).astype(float)
    noise = rng.integers(-6, 7, size=figure.shape)
    rms, _, _ = figures.largest_difference(figure, figure + noise)
    assert 0 < rms < figures.TOLERANCE


# --- outputs that depend on the device ----------------------------------------


@pytest.mark.parametrize(
    "tag, has_gpu, has_triton, same",
    [
        ("remove-input", True, False, True),
        (notebooks.DEVICE_TAG, False, True, True),
        (notebooks.DEVICE_TAG, True, True, False),
        (notebooks.DEVICE_TAG, False, False, False),
    ],
)
def test_only_a_cell_that_says_so_may_differ_on_another_device(
    monkeypatch, tag, has_gpu, has_triton, same
):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_gpu)
    monkeypatch.setattr(notebooks.importlib.util, "find_spec", lambda name: has_triton or None)
    assert notebooks.says_the_same_here(code(tags=[tag])) is same


# --- the students' edition -----------------------------------------------------

CHAPTERS_OF_THE_BOOK = sorted(CHAPTERS.glob("*.ipynb"))


def named(path):
    return path.stem


def code_of(text):
    return [
        "".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"
    ]


def given(node):
    """The names that a top-level statement defines as functions or assigns."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = getattr(node, "targets", [])
    return [
        name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
    ]


def is_stub(node):
    """Whether a function ends in the three dots of an exercise."""
    last = node.body[-1] if isinstance(node, ast.FunctionDef) else None
    return (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Constant)
        and last.value.value is ...
    )


def is_constant(node):
    """Whether it assigns and computes nothing: a function that it makes is not called."""
    return isinstance(node, ast.Assign) and not any(calls(node.value))


def calls(tree):
    if isinstance(tree, ast.Call) and getattr(tree.func, "id", "") != "dict":
        yield tree
    if not isinstance(tree, ast.Lambda):
        for part in ast.iter_child_nodes(tree):
            yield from calls(part)


def right_answers(cells):
    """(function, exercise) for every function of these cells that is a right answer, run without
    the other statements.
    """
    space, found = {}, []
    for number, source in enumerate(cells):
        file = f"<answers {hash(tuple(cells))} {number}>"
        linecache.cache[file] = len(source), None, source.splitlines(True), file
        for node in ast.parse(re.sub(r"^ *%.*$", "    pass", source, flags=re.MULTILINE)).body:
            if (
                isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef))
                and not is_stub(node)
                or is_constant(node)
            ):
                with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(ast.Module([node], []), file, "exec"), space)
            if (
                isinstance(node, ast.FunctionDef)
                and not is_stub(node)
                and callable(space.get(node.name))
            ):
                found += [
                    (node.name, name) for name in exercises() if is_right(name, space[node.name])
                ]
    return found


def is_right(name, function):
    exercise = exercises()[name]
    for i, case in enumerate(exercise.all_cases()):
        if case.left_out or case.device != "cpu":
            continue
        if not binds(function, case.args):
            return False
        seen = run_case(exercise, function, case, i, Clock(0.5), 0)
        if seen.failure or not seen.values or not matches(exercise, seen):
            return False
    return grade(name, function).status == "correct"


@pytest.mark.parametrize("path", CHAPTERS_OF_THE_BOOK, ids=named)
def test_no_chapter_of_the_students_edition_holds_a_right_answer(path):
    text = path.read_text(encoding="utf-8")
    cells = code_of(editions.without_answers(text))
    assert len(cells) == len(code_of(text))
    assert right_answers([cell for cell in cells if "attncourse.packed" not in cell]) == []


@pytest.mark.parametrize(
    "chapter, answers",
    [
        (
            "11_heads",
            {
                ("split", "split_heads"),
                ("merge", "merge_heads"),
                ("multi_head", "multi_head_attention"),
            },
        ),
        ("09_attention", {("in_steps", "attention_torch")}),
    ],
)
def test_a_right_answer_in_a_chapter_is_found(chapter, answers):
    text = (CHAPTERS / f"{chapter}.ipynb").read_text(encoding="utf-8")
    assert answers <= set(right_answers(code_of(text)))


@pytest.mark.parametrize("path", CHAPTERS_OF_THE_BOOK, ids=named)
def test_an_untouched_chapter_answers_nothing(path):
    """What bears an exercise's name, or is handed to check, is the exercise's own three dots."""
    for source in code_of(path.read_text(encoding="utf-8")):
        for name, function in re.findall(r"\bcheck\(\s*[\"'](\w+)[\"'],\s*(\w+)", source):
            assert function == name
        nodes = [] if "%pip" in source else ast.parse(source).body
        assert [
            name
            for node in nodes
            if not is_stub(node)
            for name in given(node)
            if name in exercises()
        ] == []


def test_a_packed_cell_does_what_the_cell_did_and_cannot_be_read():
    source = (
        "import math\n\n\ndef twice(x):\n    return [y * factor for y in x]\n\n\nroot ="
        " math.sqrt(twice([2])[0])"
    )
    names = editions.defined_in(source)
    assert names == ["math", "root", "twice"]
    cell, space = packed.as_cell(source, names), {"factor": 2}
    assert (
        "def" not in cell
        and "return" not in cell
        and max(map(len, cell.splitlines())) <= checks.LONGEST_LINE
    )
    exec(cell, space)
    assert space["root"] == 2 and space["twice"]([3]) == [6]
    assert "return [y * factor" in inspect.getsource(
        space["twice"]
    )  # Triton compiles what it reads


def test_a_chapter_runs_with_its_answers_packed(tmp_path):
    text = editions.without_answers((CHAPTERS / "11_heads.ipynb").read_text(encoding="utf-8"))
    stop = next(i for i, cell in enumerate(json.loads(text)["cells"]) if cell["id"] == "code-41")
    notebook = nbformat.reads(text, as_version=4)
    notebook.cells = notebook.cells[: stop + 1]
    fill.execute(notebook, tmp_path)
    assert "the list and the arrays agree" in notebook.cells[-1].outputs[0]["text"]


def test_what_prints_an_answer_prints_nothing_there():
    text = (CHAPTERS / "01_raw_scores.ipynb").read_text(encoding="utf-8")
    before, after = (
        next(cell for cell in json.loads(one)["cells"] if cell["id"] == "code-090")
        for one in (text, editions.without_answers(text))
    )
    assert before["outputs"] and not after["outputs"] and before["source"] == after["source"]


def test_downloads_of_the_students_edition_are_packed(tmp_path):
    path = tmp_path / "chapters" / "03_softmax.ipynb"
    path.parent.mkdir()
    path.write_bytes((CHAPTERS / path.name).read_bytes())
    editions.pack_downloads(tmp_path)
    text = path.read_text(encoding="utf-8")
    assert "def entropy" not in text and "entropy = unpacked(" in text
