"""What the build puts into the pages for their exercises, and what it fetches for that; no browser
needed.
"""

import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from attncourse import language
from attncourse.exercises.engine.find import exercises
from attncourse.language import grammar
from book import editions
from book.inpage import bundle, fetch, licences, move, policy, runnable, site, words
from book.notebooks import ROOT

needs_runtime = pytest.mark.skipif(
    fetch.runtime_at_hand() is None,
    reason="no Python for the pages here: `python3 run.py book` fetches it",
)


@pytest.fixture(scope="module")
def session():
    """The module that runs in the page's Python, here in this one."""
    spec = importlib.util.spec_from_file_location(
        "session", ROOT / "book" / "inpage" / "worker" / "session.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- the session ---

ABOVE = [
    "import numpy as np\nimport gone_module",
    "factor = 2\nraise ValueError",
    "factor = factor + 1",
    "factor = (not python",
    "unused = 1 / 0",
]
RIGHT = "def dot_score(query, key):\n    return np.sum(query * key)"


def test_an_answer_gets_the_statements_above_that_it_needs(session):
    found = session.check("dot_score", RIGHT + " + 0 * factor", ABOVE)
    assert found == {
        "message": found["message"],
        "status": "correct",
        "mistakes": [],
        "restart": False,
    }


def test_an_answer_that_needs_what_is_not_there_says_so(session):
    found = session.check("dot_score", RIGHT, [])
    assert found["status"] == "error" and "name 'np' is not defined" in found["message"]


def test_what_is_imported_from_the_future_holds_for_the_cells_below(session):
    above = [
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
        "    from numpy.typing import NDArray\nimport numpy as np"
    ]
    answer = RIGHT.replace("(query,", "(query: NDArray,")
    assert session.check("dot_score", answer, above)["status"] == "correct"
    assert session.check("dot_score", answer, ["import numpy as np"])["status"] == "error"
    assert (
        session.Session().run(
            [*above, answer, "dot_score([1], [2]) if False else dot_score.__name__"]
        )["message"]
        == "'dot_score'\n"
    )


def test_lines_are_those_that_python_counts(session):
    cells = ["x = '\u2028 \x85'\n\f\f\ny = 1 / 0"]
    assert "Line 3: y = 1 / 0" in session.Session().run(cells)["message"]


def test_a_mistake_is_named(session):
    found = session.check("dot_score", "def dot_score(query, key):\n    return query * key", [])
    assert found["status"] == "incorrect" and found["mistakes"]


@pytest.mark.parametrize(
    "source, said",
    [
        (
            "def dot_score(query, key):\n    return query +* key",
            "Line 2 is not Python.\n    return query +* key",
        ),
        (
            "import numpy as np\nnp.ones(3) + np.ones(2)",
            "Line 2: np.ones(3) + np.ones(2)\nValueError: operands",
        ),
        ("def dot_scor(query, key):\n    return 1", "No function is called dot_score here"),
        ("exit_code = __import__('sys').exit(3)", "SystemExit: 3"),
    ],
)
def test_what_stops_before_a_check_shows_the_learners_own_line(session, source, said):
    found = session.check("dot_score", source, [])
    assert found["status"] == "error" and said in found["message"], found["message"]
    assert found["restart"] == ("SystemExit" in said)


def test_cells_run_in_order_and_go_on_where_they_were(session):
    cells, said = session.Session(), []
    assert cells.run(["x = [1]", "x.append(2)", "x"], said.append)["message"] == "[1, 2]\n"
    assert said == ["cell 1 of 2", "cell 2 of 2"]
    assert (
        cells.run(["x = [1]", "x.append(2)", "x", "print(x)"], said.append)["message"] == "[1, 2]\n"
    )
    assert len(said) == 2  # nothing above has run again
    assert cells.run(["x = [5]", "x.append(2)", "x"])["message"] == "[5, 2]\n"


def test_a_cell_that_imports_all_that_it_uses_waits_for_none_above(session):
    said, cells = [], ["import math\nx = 1 / 0", "y = 1\nmath = 2"]
    run = session.Session().run
    assert run([*cells, "import ast\nast.Add.__name__"], said.append)["message"] == "'Add'\n"
    assert said == []
    for last in ("import ast\ny", "y + 0", "1 + 1"):
        assert run([*cells, last], said.append)["message"] in ("1\n", "2\n")
    assert said


def test_problems_are_broken_and_repaired_in_a_page(session):
    for call, said in (
        ('expose("safe_division", [-7])', "safe_division: exposed, by 0.0011, by an input of"),
        (
            'repair("slots", 17, "n = at + 1")',
            "slots: repaired. With your line, the listing is right on all 4",
        ),
        ('repair("slots", 17, "n = exit()")', "It calls exit()"),
        ('achieve("tile_sizes", 128, 128, 2)', "traffic: 66 MiB, wanted at most 40 MiB: 26 too"),
        ('order("delta_from_output", "b")', "Line b is false. With one feature"),
    ):
        untouched = session.Untouched()
        source = f"from attncourse.exercises import {call.partition('(')[0]}\n\n{call}"
        assert said in session.Session().run(["import torch\n1 / 0", source])["message"]
        assert not untouched.has_changed()


COLLECT = "from attncourse.language import answer_files\nmine = answer_files.collect()"


def handed(**typed):
    return json.dumps({"typed": typed})


def test_cells_that_collect_answers_find_those_of_the_browser(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells, said = session.Session(), []
    above = ["print('above')", COLLECT]
    assert cells.run([*above, "[*mine]"], said.append)["message"] == "[]\n"
    cells.hand_over(handed(softmax="def softmax(scores):\n    return 1"))
    assert cells.run([*above, "[*mine]"], said.append)["message"] == "['softmax']\n"
    assert len(said) == 4  # other answers: all of it has run again
    cells.hand_over(handed(softmax="def softmax(scores):\n    return 1"))
    assert cells.run([*above, "[*mine]", "mine['softmax'](0)"], said.append)["message"] == "1\n"
    assert len(said) == 4


def test_a_model_is_asked_and_says_whose_its_steps_are(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = session.Session()
    wrong = "def softmax(scores):\n    return np.exp(scores)"
    right = "def av_product(weights, value):\n    return weights @ value"
    cells.hand_over(handed(softmax=wrong, av_product=right))
    text = words.TEXT.format(first="trophy", second="suitcase", adjective="big")
    found = cells.model(json.dumps({"text": text}))
    assert found["answer"] == "trophy." and found["weights"][2] == 0.989
    assert [step["name"] for step in found["steps"] if step["yours"]] == ["av_product"]
    assert {step["name"]: step["why"] for step in found["steps"] if step["why"]}.keys() == {
        "softmax"
    }
    found = cells.model(json.dumps({"text": text, "anyway": True}))
    assert [step["name"] for step in found["steps"] if step["yours"]] == ["softmax", "av_product"]
    assert max(found["weights"]) > 1.5
    assert cells.model(json.dumps({"text": "The", "seed": 2}))["written"].startswith("The ring")
    assert json.dumps(found)  # nothing of NumPy's


def test_what_fails_in_a_cell_above_is_passed_over(session):
    assert (
        session.Session().run(["x = 1\ngone()\ny = 2", "not python", "x + y"])["message"] == "3\n"
    )


def test_a_cell_says_its_error_and_its_line(session):
    found = session.Session().run(["y = 1", "print(y)\ny / 0"])["message"]
    assert found == "1\nLine 2: y / 0\nZeroDivisionError: division by zero"


def test_a_module_that_a_page_has_not_is_left_out(session):
    cells = session.Session()
    above = "import math, gone_module, gone_too.part\nfrom gone_module import x"
    assert cells.run([above, "math.pi > 3"])["message"] == "True\n"
    found = cells.run([above, "math.pi > 3", "gone_module.y"])["message"]
    assert found.endswith(
        "name 'gone_module' is not defined\n"
        "(A page has no gone_module and gone_too: cells that need it run in Colab.)"
    )


def test_an_error_in_the_standard_library_is_the_learners_line(session):
    source = "import os\ndef dot_score(query, key):\n    return os.path.join(None)"
    assert "line 3: return os.path.join(None)" in session.check("dot_score", source, [])["message"]


@pytest.mark.parametrize(
    "cells, found",
    [
        (["import math, torch", "math.pi", "torch.ones(2)"], {0, 2}),
        (
            [
                "import torch\nhas_gpu = torch.cuda.is_available()\nimport math",
                "math.pi",
                "if has_gpu:\n    print(1)",
            ],
            {0, 2},
        ),
        (
            [
                (
                    "try:\n    import triton\nexcept ImportError:\n    from attncourse import"
                    " no_triton as triton"
                ),
                "triton.jit",
            ],
            {0, 1},
        ),
        (
            [
                "from concurrent.futures import ThreadPoolExecutor",
                "def clock(job):\n    ThreadPoolExecutor(job)",
                "clock(1)",
            ],
            {0, 1, 2},
        ),
        (
            [
                "import torch",
                "x = torch.ones(2)",
                "def f(x):\n    return x",
                "f(3)",
                "x + 1",
                "x = 1",
                "x + 1",
            ],
            {0, 1, 4},
        ),
        (["import torch", "rules = {torch.e}", "rules |= {1}", "rules[0] = 1"], {0, 1, 2, 3}),
        (
            ["import torch", "kept = {}", "torch.no()\nall = {**kept}", "all"],
            {0, 2, 3},
        ),  # the error ended the cell
        (
            [
                "import torch",
                "name = torch.e",
                "for name in 'ab':\n    print(name)",
                "[name for name in 'ab']",
            ],
            {0, 1},
        ),
        (["text = 'import torch'", "text", "not python", "# torch\n1"], set()),
    ],
)
def test_a_cell_is_run_elsewhere_if_it_rests_on_what_a_page_has_not(cells, found):
    assert runnable.elsewhere(cells) == found


AS_IN_A_PAGE = r"""
import json, sys
from book.inpage.worker import session
session.without_figures()
sys.modules.update({name: None for name in ("concurrent.futures", "subprocess", "torch", "triton")})
here, (cells, wanted) = session.Session(), json.load(sys.stdin)
for n, want in wanted:
    found = here.run(cells[:n + 1])["message"]
    if found.strip() != want.strip():
        print(f"cell {n + 1}: {cells[n]}\n{found}")
"""


@pytest.mark.parametrize(
    "path",
    [ROOT / "chapters" / "00_twenty_minutes.ipynb"]
    + sorted(ROOT.glob("chapters/09*.ipynb"))
    + sorted(ROOT.glob("chapters/1[3-8]*.ipynb"))
    + sorted(ROOT.glob("chapters/20*.ipynb")),
    ids=lambda path: path.stem,
)
def test_cells_that_a_page_offers_print_what_the_book_prints(path):
    """The other chapters import nothing that a page has not."""
    cells = nbformat.read(path, as_version=4).cells
    sources = [cell.source if cell.cell_type == "code" else "" for cell in cells]
    offered = [
        n
        for n, source in enumerate(sources)
        if source
        and n not in runnable.elsewhere(sources)
        and not re.match(r"check\(|predict\(|import importlib", source)
    ]
    wanted = [
        (
            n,
            "".join(
                output.get("text", "") or output.get("data", {}).get("text/plain", "")
                for output in cells[n].outputs
                if output.output_type != "display_data"
            ),
        )
        for n in offered
    ]
    said = subprocess.run(
        [sys.executable, "-c", AS_IN_A_PAGE],
        input=json.dumps([sources, wanted]),
        text=True,
        capture_output=True,
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        timeout=600,
    )
    assert (said.stdout, said.returncode) == ("", 0), said.stderr
    assert len(offered) >= 5


def test_no_count_overflows_where_integers_have_32_bits():
    for name in ("attention_flops", "attention_bytes"):
        exercise = exercises()[name]
        assert all(
            np.max(exercise.predict((), k)) < 2**31 for k in range(len(exercise.all_cases()))
        ), name


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch.setattr(np, "exp", np.cos),
        lambda patch: patch.setattr(np.linalg, "norm", None),
        lambda patch: patch.setattr("attnlib.softmax", max),
        lambda patch: patch.setattr(type(exercises()["softmax"]), "predict", None),
        lambda patch: patch.setattr("builtins.sum", max),
        lambda patch: patch.delattr("math.exp"),
    ],
)
def test_a_changed_library_is_noticed(session, monkeypatch, change):
    untouched = session.Untouched()
    assert not untouched.has_changed()
    with monkeypatch.context() as patch:
        change(patch)
        assert untouched.has_changed()
    assert not untouched.has_changed()


def test_answers_that_change_nothing_leave_the_library_untouched(session):
    untouched = session.Untouched()
    for source, status in (
        (RIGHT, "correct"),
        (RIGHT.replace("sum", "max"), "incorrect"),
        ("1 / 0", "error"),
    ):
        assert session.check("dot_score", source, ["import numpy as np"])["status"] == status
        assert not untouched.has_changed()


def test_an_answer_that_changes_a_setting_asks_for_a_new_python(session):
    for line, restart in (("", False), ("np.set_printoptions(precision=1)\n", True)):
        with np.printoptions():
            source = f"import numpy as np\n{line}{RIGHT}"
            assert session.check("dot_score", source, [])["restart"] == restart


# --- the pages ---


def test_an_exercise_that_the_page_cannot_run_leads_to_colab(monkeypatch):
    monkeypatch.setattr(fetch, "runtime_at_hand", lambda: None)
    for url, said in (
        (
            "https://github.com/a/b",
            r'<a href="https://colab[^"]*/a/b/blob/\w+/chapters/03_softmax.ipynb">',
        ),
        (None, "Do this exercise in the chapter's notebook"),
    ):
        monkeypatch.setattr(site.address, "find", lambda: url)
        site.elsewhere.cache_clear()
        for name in ("softmax", "attention_torch"):
            assert re.search(said, site.beside(exercises()[name], "chapters/03_softmax"))
    site.elsewhere.cache_clear()


@needs_runtime
def test_an_exercise_brings_its_hints_and_torch_leads_to_colab():
    text = site.beside(exercises()["softmax"], "chapters/03_softmax")
    assert text.startswith("<script type=\"application/json\"") and "hint 1 of 4: " in text
    assert site.beside(exercises()["attention_torch"], "chapters/03_softmax").startswith(
        '<p class="inpage-colab">'
    )


def test_data_cannot_end_its_script():
    assert "</script>" not in site.as_data({"text": "</script>"}, "")[: -len("</script>")]


@pytest.mark.parametrize("page", move.PLACES)
def test_what_a_reader_moves_stands_after_a_figure_and_has_its_script(page):
    wanted, kind = move.PLACES[page]
    cells = nbformat.read(ROOT / f"{page}.ipynb", as_version=4).cells
    assert ["plot." in cell.source for cell in cells if cell.id == wanted] == [True]
    for script in move.scripts(page):
        assert (ROOT / "book" / "inpage" / "static" / "inpage" / script).is_file()
    assert f"move-{kind}.js" in move.scripts(page) and move.scripts("chapters/index") == ()


def test_what_the_words_show_is_what_the_model_computes():
    """For a sentence that training never showed, also where the nouns are exchanged."""
    model, shown = language.load(), words.table()
    assert len(shown["looks"]) == 5 * 4 * 6
    for first, second, noun in (("trophy", "suitcase", 8), ("suitcase", "trophy", 8)):
        text = words.TEXT.format(first=first, second=second, adjective="small")
        run = model(language.encode(text))
        look = shown["looks"][f"{first} {second} small"]
        row = [look["weights"].get(j, 0) for j in range(21)]
        assert np.allclose(row, run.weights[2, 1, -1], rtol=0, atol=6e-4)
        assert max(look["weights"], key=look["weights"].get) == noun
        assert look["answer"] == second and look["probability"] > 0.9


def test_of_all_sentences_to_choose_the_model_answers_rightly():
    too_big = set(grammar.TOO_BIG)
    for sentence, look in words.table()["looks"].items():
        first, second, adjective = sentence.split()
        assert look["answer"] == (first if adjective in too_big else second), sentence


@needs_runtime
def test_the_folder_holds_this_attnlib_and_is_named_by_its_content():
    wheel = zipfile.ZipFile(io.BytesIO(bundle.files()[bundle.WHEEL]))
    packed = tarfile.open(fileobj=io.BytesIO(wheel.read(bundle.SOURCES)))
    read = {member.name: packed.extractfile(member).read() for member in packed}
    assert read["attnlib/api.py"] == (ROOT / "attnlib" / "api.py").read_bytes()
    assert read["attnlib/flash_triton.py"] == b"import torch\n"  # all that a page gets to
    assert bundle.as_one(read) == bundle.as_one(read)
    assert bundle.wheel("a", read) == bundle.wheel("a", read)
    assert re.fullmatch(r"python-[0-9a-f]{12}", bundle.name())
    assert bundle.sizes()[1] < 10  # MB to send at the first click


@needs_runtime
def test_only_pages_that_use_the_trained_model_load_it():
    wheel = zipfile.ZipFile(io.BytesIO(bundle.files()[bundle.MODEL]))
    for name in ("model", "numerals"):
        weights = f"attncourse/language/{name}.npz"
        assert wheel.read(weights) == (ROOT / weights).read_bytes()
    assert bundle.sizes(has_model=True) > bundle.sizes()
    for cell, has_model in (
        ("import numpy as np\n\nfrom attncourse import language, plot", True),
        ("from attncourse.language import load", True),
        ("from attncourse.language import numerals, translator", True),
        ("import attncourse.language as model", True),
        ("from attncourse import plot\nprint('language')", False),
    ):
        data = site.runtime_data(lambda path, resource: path, ["", cell])
        assert ("attnlib-model" in data["packages"]) is has_model, cell
        assert data["bytes"] == bundle.sizes(has_model)[0]


@needs_runtime
def test_only_pages_that_collect_answers_are_handed_them():
    for cell, is_handed in (
        ("from attncourse.language import answer_files, answers", True),
        ("from attncourse.language import answers", False),
    ):
        data = site.runtime_data(lambda path, resource: path, ["", cell])
        assert ("answers" in data) is is_handed
        assert not is_handed or "softmax" in data["answers"]


def test_each_part_has_a_licence():
    texts = {what: text for what, _, text in licences.shipped()}
    assert all(len(text) > 400 for text in texts.values()), texts.keys()
    assert "Mozilla" in texts.get("Pyodide, Python for browsers", "Mozilla")


# --- the policy ---

PAGE = """<html><head><script>themes()</script></head><body onclick="print()">
<article class="x"><script>outputs()</script><p onclick="steal()">x</p></article></body></html>"""


def test_a_policy_knows_the_themes_scripts_and_no_others():
    said = policy.policy(PAGE, policy.of_handlers(PAGE))
    assert policy.with_policy(PAGE).index("Content-Security-Policy") < PAGE.index("<script>") + 40
    for code, is_known in (
        ("themes()", True),
        ("print()", True),
        ("outputs()", False),
        ("steal()", False),
    ):
        assert (policy.hashed(code) in said) == is_known
    script = said.split("script-src")[1].split(";")[0]
    assert "'unsafe-inline'" not in script and "unsafe-eval" not in script and "http" not in script


def test_only_a_page_with_python_starts_workers_from_blobs_and_compiles():
    data = {"python": "../_static/python-1/"}
    for values, has_python in ((data, True), ({"page": "x"}, False)):
        said = policy.policy(PAGE + site.as_data(values, 'id="inpage-data"'))
        assert ("worker-src 'self' blob:;" in said) == ("'wasm-unsafe-eval'" in said) == has_python


# --- what is fetched ---


@pytest.fixture
def sources(monkeypatch, tmp_path):
    """Two files of two bytes, and sources that give them; each says what it wrote."""
    files = {"a": fetch.digest(b"aa"), "b": fetch.digest(b"bb")}
    monkeypatch.setattr(fetch, "FILES", files)

    def source(content):
        def take(name, folder):
            if content is None:
                raise OSError("no such host")
            (folder / name).write_bytes(content.get(name, b""))

        return take

    def use(**contents):
        monkeypatch.setattr(
            fetch, "SOURCES", {name: source(content) for name, content in contents.items()}
        )
        return fetch.fetch_runtime(tmp_path / "cache"), tmp_path / "cache"

    return use


def test_files_come_from_the_first_source_that_has_the_pinned_bytes(sources):
    (source, problems), folder = sources(
        first=None, second={"a": b"aa", "b": b"bad"}, third={"a": b"aa", "b": b"bb"}
    )
    assert source == "third" and (folder / "b").read_bytes() == b"bb"
    assert problems == [
        "not from first: a: no such host",
        "not from second: b has other bytes than the pinned ones",
    ]


def test_nothing_is_kept_where_no_source_has_it(sources):
    (source, _), folder = sources(first={"a": b"aa", "b": b"bad"})
    assert source is None and not folder.exists()


def test_the_build_says_in_one_line_where_python_could_not_be_fetched(sources, monkeypatch, capsys):
    sources(first=None)
    for name, _text in (("runtime", "pages"), ("editor", "editor")):
        monkeypatch.setattr(fetch, f"{name}_folder", lambda: ROOT / "no such folder")
    assert fetch.main() == 1
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and "lead to Colab" in said and "first: a: no such host" in said


def test_python_is_fetched_once_and_then_nothing_is_said(sources, monkeypatch, tmp_path, capsys):
    taken = []
    sources(first={"a": b"aa", "b": b"bb"})
    monkeypatch.setattr(fetch, "runtime_folder", lambda: tmp_path / "fresh")
    monkeypatch.setattr(fetch, "editor_folder", lambda: tmp_path / "editor")
    monkeypatch.setattr(fetch, "make_editor", lambda folder: taken.append(folder))
    assert fetch.main() == 0 and capsys.readouterr().out.count("\n") == 1
    fetch.editor_folder().mkdir()
    (fetch.editor_folder() / "licences.txt").touch()
    monkeypatch.setattr(fetch, "SOURCES", {})
    assert fetch.main() == 0 and capsys.readouterr().out == "" and len(taken) == 1


def test_a_build_can_leave_python_out(monkeypatch):
    monkeypatch.setattr(fetch, "FILES", {})
    assert fetch.runtime_at_hand() is not None
    monkeypatch.setenv("BOOK_WITHOUT_PYTHON", "1")
    assert fetch.runtime_at_hand() is None


def test_a_program_that_fails_gives_its_last_line_as_the_reason():
    with pytest.raises(OSError, match="^no such package$"):
        fetch.run([sys.executable, "-c", "import sys; print('x'); sys.exit('no such package\\n')"])
    fetch.run([sys.executable, "-c", ""])


def test_a_changed_file_in_the_cache_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setattr(fetch, "FILES", {"a": fetch.digest(b"aa")})
    monkeypatch.setattr(fetch, "runtime_folder", lambda: tmp_path)
    (tmp_path / "a").write_bytes(b"aa")
    assert fetch.runtime_at_hand() == tmp_path
    (tmp_path / "a").write_bytes(b"ab")
    assert fetch.runtime_at_hand() is None


def test_without_node_the_command_says_so_and_goes_on(monkeypatch):
    monkeypatch.setattr(fetch.shutil, "which", lambda name: None)
    assert "a plain text box" in fetch.make_editor(None)


def test_no_part_of_the_runtime_is_in_the_repository():
    large = [
        path
        for path in (ROOT / "book" / "inpage").rglob("*")
        if path.is_file() and path.stat().st_size > 100_000
    ]
    assert large == []


def test_notebooks_to_download_keep_their_texts_and_leave_their_figures(tmp_path):
    outputs = [
        new_output("stream", text="1\n"),
        new_output("display_data", {"image/png": "AA", "text/plain": "x"}),
    ]
    path = tmp_path / "chapters" / "a.ipynb"
    path.parent.mkdir()
    nbformat.write(new_notebook(cells=[new_code_cell("1", outputs=outputs)]), path)
    editions.leave_figures_out(tmp_path)
    text = path.read_text(encoding="utf-8")
    assert "image/png" not in text and '"x"' in text and "1\\n" in text
    nbformat.validate(nbformat.read(path, 4))
