"""order: proofs whose lines are shuffled, with false ones among them, and their form in a page."""

import itertools
import json
import math
import random
import re

import nbformat
import numpy as np
import one_page
import pytest
from sphinx.errors import ExtensionError
from sphinx.testing.util import SphinxTestApp

import attnlib
from attncourse.exercises import order
from attncourse.exercises.engine import breaking, ordering, repairing
from attncourse.exercises.engine.ordering import Proof, ordered, proofs
from attncourse.exercises.engine.problem_pages import read
from book.inpage import proofs as forms
from book.inpage.site import as_data
from book.notebooks import CHAPTERS

RIGHT = {
    "shift_both_ways": (
        "shift numerator denominator same equal log_s log_t difference constant",
        "equal log_t log_s difference constant shift denominator numerator same",
        "log_s shift denominator log_t numerator same equal difference constant",
    ),
    "grouping_of_pairs": (
        "largest left right factors left_done right_done equal",
        "factors largest left left_done right right_done equal",
        "largest right factors right_done left left_done equal",
    ),
    "delta_from_output": (
        "factor chain from_weights from_output swap equal",
        "swap from_output factor chain from_weights equal",
        "factor from_output chain swap from_weights equal",
    ),
}
NOT_YET = (  # of proofs in the order of RIGHT, without or with these lines
    ("shift_both_ways", "numerator shift", "comes too early: it rests on line"),
    ("shift_both_ways", "shift same numerator denominator", "which come later. The factor cancels"),
    ("shift_both_ways", "shift equal numerator", "in the middle of the proof that a shift"),
    ("shift_both_ways", "equal log_s shift log_t difference", "that equal weights mean a shift,"),
    ("shift_both_ways", "shift numerator same", "rests on one that you have left out. The factor"),
    ("shift_both_ways", "shift numerator denominator same", "at all: it's the other direction"),
    (
        "shift_both_ways",
        "equal log_s log_t difference constant",
        "changes no weight isn't proved at",
    ),
    ("shift_both_ways", "log_s log_t", "changes no weight isn't proved at all"),
    ("shift_both_ways", "shift numerator denominator same equal", "shift isn't proved yet."),
    ("shift_both_ways", "wrong_0 shift", "left side is 1 and the right side is 2"),
    ("shift_both_ways", "wrong_1 wrong_2", "Leave them out, and then look at"),
    ("grouping_of_pairs", "left largest", "so M first has to be defined"),
    (
        "grouping_of_pairs",
        "largest left left_done right right_done equal",
        "left out. It substitutes into L",
    ),
    ("grouping_of_pairs", "largest left right", "the grouping doesn't matter isn't proved yet."),
    ("grouping_of_pairs", "wrong_2", "one grouping gives 2 and the other 1"),
    ("delta_from_output", "chain factor", "asks where the weight appears"),
    (
        "delta_from_output",
        "factor chain from_weights swap equal",
        "both of them have to come first",
    ),
    ("delta_from_output", "wrong_1", "8 and the right side is 16"),
)
each = pytest.mark.parametrize("name", proofs())


def plain(text):
    return " ".join(text.split())


def letters(name, lines):
    of = {line.name.replace(" ", "_"): letter for letter, line in proofs()[name].lettered.items()}
    return "".join(of[line] for line in lines.split())


# --- what is accepted -------------------------------------------------------


def test_each_proof_has_three_right_orders():
    assert set(RIGHT) == set(proofs()) and all(len(found) >= 3 for found in RIGHT.values())


@pytest.mark.parametrize("name, lines", [(n, one) for n, found in RIGHT.items() for one in found])
def test_any_right_order_is_accepted(name, lines):
    said = plain(ordered(name, letters(name, lines)))
    assert said.startswith(f"{name}: proved. This is one of"), said
    assert proofs()[name].page.prose("Why") in said


@pytest.mark.parametrize("name, lines, part", NOT_YET)
def test_what_is_wrong_is_said(name, lines, part):
    said = plain(ordered(name, letters(name, lines)))
    assert said.startswith(f"{name}: not yet. ") and part in said, said


def is_right(proof, names):
    """By the definition alone: each line after those that it rests on, and no supposition's lines
    amid those of another one.
    """
    place = {name: i for i, name in enumerate(names)}
    if any(place[a] > place[name] for name, line in proof.right.items() for a in line.after):
        return False
    scopes = [sorted(place[name] for name in names) for names in proof.supposing.values()]
    return all(
        one[-1] < other[0] or other[-1] < one[0] for one, other in itertools.combinations(scopes, 2)
    )


@each
def test_the_right_orders_are_those_of_the_definition_and_are_counted(name):
    proof, count = proofs()[name], 0
    names = list(proof.right)
    of = {line.name: letter for letter, line in proof.lettered.items()}
    if len(names) > 7:  # too many orders: some of them
        rng, tried = random.Random(0), []
        begins = [line.split() for line in RIGHT[name]]
        for _ in range(500):
            one = [*rng.choice(begins)]
            i, j = rng.randrange(len(one)), rng.randrange(len(one))
            one.insert(i, one.pop(j))
            tried.append(one)
    else:
        tried = list(itertools.permutations(names))
    for one in tried:
        said = "proved. " in plain(ordered(name, "".join(map(of.get, one))))
        assert said == is_right(proof, one), one
        count += said
    assert 0 < count < len(tried) and (len(names) > 7 or count == proof.orders)


def test_the_orders_of_two_directions():
    """Counted in another way: the two blocks in either order, and the general lines anywhere."""
    proof = proofs()["shift_both_ways"]
    first, second = map(sorted, proof.supposing.values())
    count = 0
    for blocks in ((first, second), (second, first)):
        for inner in itertools.product(*map(itertools.permutations, blocks)):
            base = [*inner[0], *inner[1]]
            for i, j in itertools.product(range(8), range(9)):
                one = [*base]
                one.insert(i, "log_s")
                one.insert(j, "log_t")
                count += is_right(proof, one)
    assert count == proof.orders


@each
def test_one_line_less_or_a_false_one_more_is_no_proof(name):
    whole = letters(name, RIGHT[name][0])
    for i in range(len(whole)):
        assert "not yet" in ordered(name, whole[:i] + whole[i + 1 :])
    for letter, line in proofs()[name].lettered.items():
        if not line.part:
            said = plain(ordered(name, whole + letter))
            assert f"Line {letter} is false. {line.why} Leave it out" in said


# --- what the lines say -----------------------------------------------------


def test_the_false_lines_are_false_by_the_numbers_that_are_named():
    s = attnlib.softmax
    assert np.exp(0 + 0) == 1 and np.exp(0) + np.exp(0) == 2
    assert s(np.zeros(2)).tolist() == s(np.ones(2)).tolist() and round(math.e, 3) == 2.718
    two, one = s(np.array([2.0, 1.0]))
    assert round(two / one, 3) == 2.718
    assert round(math.exp(-1) + 1, 3) == 1.368 and round(math.exp(-1), 3) == 0.368
    assert ((0 + 0) / 2 + 4) / 2 == 2 and (0 + (0 + 4) / 2) / 2 == 1
    gradients = 2 * np.array([3, 5])
    assert gradients.tolist() == [6, 10]
    assert np.array([0.5, 0.5]) @ gradients == 8 and gradients.sum() == 16
    weights, values = np.array([0.25, 0.75]), np.array([4, 0])
    assert weights @ values == 1 and (weights * values.sum()).tolist() == [1, 3]


# --- what else can be said --------------------------------------------------


@pytest.mark.parametrize(
    "given, said",
    [
        ("", "There is no letter"),
        ("az", "holds the letters of the lines, from a to i, in quotes"),
        (7, "holds the letters of the lines"),
        (None, "prove it. Query i has the weights"),
        ("aba", "Line a stands there twice"),
        (["a"], "not yet"),
        ("B, A", "not yet. Line b is false"),
    ],
)
def test_what_is_no_order_gets_a_sentence(given, said):
    assert said in plain(ordered("delta_from_output", given))


@pytest.mark.parametrize(
    "name, said",
    [
        ("shift_both_way", "Did you mean shift_both_ways?"),
        ("qqqq", "There are shift_both_ways, grouping_of_pairs, delta_from_output."),
        (3, 'in quotes, as in order("shift_both_ways")'),
    ],
)
def test_a_name_that_is_none_gets_a_sentence(name, said, capsys):
    order(name)
    assert said in plain(capsys.readouterr().out)


@each
def test_a_proofs_page_is_whole(name):
    proof = proofs()[name]
    assert proof.page.prose("Why").endswith(".") and len(proof.wrong) >= 3
    assert len(proof.lettered) == len(proof.right) + len(proof.wrong)
    for part in proof.parts:
        assert len(proof.page.items(part)) == sum(x.part == part for x in proof.right.values())
    for line in proof.right.values():
        assert bool(line.after) == bool(line.why) and {*line.after} <= {*proof.right}
        assert line.text.endswith(".") and line.why.endswith("." * bool(line.why))
    assert all(line.text.endswith(".") and line.why.endswith(".") for line in proof.wrong)
    assert max(map(len, ordered(name).splitlines())) <= 76
    assert "not yet" in ordered(name, "cab") and "not yet" in ordered(name, [*proof.lettered])


def test_the_letters_depend_on_nothing_but_the_names(tmp_path):
    path = tmp_path / "order_x.md"
    path.write_text("---\n---\n# x\nText.\n\n## A\n- p: P.\n- q (after p): Q. *U.*\n", "utf-8")
    proof = Proof(read(path, "x"))
    assert proof.orders == 1 and [line.name for line in proof.lettered.values()] == ["q", "p"]


def test_no_kind_knows_the_others():
    kinds = {breaking: "breaking", repairing: "repairing", ordering: "ordering"}
    for one, other in itertools.permutations(kinds, 2):
        assert not any(
            kinds[other] in str(value) for value in vars(one).values() if callable(value)
        )


# --- in the book ------------------------------------------------------------


@each
def test_each_proof_stands_in_its_chapter_and_its_solution_proves_it(name):
    (path,) = CHAPTERS.glob(f"{proofs()[name].page.path.parent.name[1:3]}_*.ipynb")
    cells = nbformat.read(path, 4).cells
    (cell,) = (c for c in cells if c.cell_type == "code" and forms.asked_in(c.source) == name)
    assert cell.outputs[0].text == ordered(name) + "\n"
    solved = nbformat.read(CHAPTERS / "solutions" / path.name, 4).cells
    (found,) = (c for c in solved if c.cell_type == "code" and f'order("{name}"' in c.source)
    given = re.search(r'order\("\w+", "(\w+)"\)', found.source)[1]
    assert found.outputs[0].text == ordered(name, given) + "\n"
    assert f"{name}: proved." in found.outputs[0].text


def test_the_forms_lines_are_those_of_the_proof_with_their_indices():
    form = forms.form("grouping_of_pairs")
    shown = re.sub("<sub>", "_", re.sub("<[^s][^>]*>|</sub>", "", form["lines"]["f"]))
    assert form["lines"]["f"] == (
        "For all finite x, y and z, e<sup>x − y</sup> e<sup>y − z</sup> = e<sup>x − z</sup>."
    ), shown
    assert "<sup><i>m</i><sub>ab</sub> − M</sup>" in form["lines"]["b"]
    assert forms.as_html("a < Σ_l e^b") == "a &lt; Σ<sub>l</sub> e<sup>b</sup>"
    assert forms.asked_in('order("x")') == "x" and forms.asked_in('order("x", "a")') is None
    assert forms.scripts(['order("x")']) == ("order.js",) and forms.scripts(["order()"]) == ()
    with pytest.raises(ExtensionError, match="no proof is called 'gone'"):
        forms.form("gone")


class Form:
    """The form of a proof, used by keys."""

    def __init__(self, page, name):
        self.page, self.name = page, name

    def key(self, label):
        self.page.get_by_role("button", name=label, exact=True).focus()
        self.page.keyboard.press("Enter")

    def proof(self):
        items = self.page.get_by_role("list", name="Your proof", exact=True).locator(
            "li > span:first-child"
        )
        return "".join(text[0] for text in items.all_text_contents())

    def focused(self):
        return self.page.evaluate("document.activeElement.ariaLabel")

    def line(self):
        return self.page.locator("[role=status] .inpage-line").text_content()


@pytest.fixture
def form(chromium):
    name = "delta_from_output"
    cell = '<div class="cell"><div class="cell_input"><pre>order("x")</pre></div></div>'
    body = as_data(forms.form(name), 'class="inpage-proof"') + cell
    with one_page.opened(chromium, one_page.html(body, "order.js")) as page:
        yield Form(page, name)


def test_a_proof_is_put_in_order_by_keys_and_kept(form):
    assert form.proof() == "" and not form.page.locator(".cell").is_visible()
    for letter in "cae":
        form.key(f"Take: line {letter}")
    assert form.proof() == "cae" and form.line() == "Line e is number 3 of 3."
    form.key("Up: line a")
    assert form.proof() == "ace" and form.focused() == "Down: line a"  # it can't go up any more
    form.key("Down: line c")
    assert form.proof() == "aec" and form.focused() == "Up: line c"
    form.key("Leave out: line e")
    assert form.proof() == "ac" and form.line() == "Line e is left out."
    assert form.focused() == "Leave out: line c"
    form.page.reload()
    assert form.proof() == "ac"
    kept = form.page.evaluate("localStorage.getItem(Object.keys(localStorage)[0])")
    assert json.loads(kept)["typed"] == {"order delta_from_output": "ac"}


def test_the_form_asks_python_and_says_done(form):
    form.key("Check")
    assert form.line() == "Take a line first."
    whole = letters(form.name, RIGHT[form.name][0])
    for given in (whole[:2], whole):
        for letter in given[len(form.proof()) :]:
            form.key(f"Take: line {letter}")
        form.page.evaluate("(text) => { inPage.answer = text; }", ordered(form.name, given))
        form.key("Check")
        output = form.page.locator("pre.inpage-output")
        output.wait_for()
        assert plain(output.text_content()) == plain(ordered(form.name, given))
    assert form.page.locator(".inpage-done").text_content() == "Done"
    asked = form.page.evaluate("inPage.asked.at(-1).texts[1]")
    space = {"__name__": "cell"}
    exec(asked, space)  # it is a whole cell
    assert f'order("{form.name}", "{whole}")' in asked


def test_what_a_file_held_is_only_letters_of_lines(form):
    entry = json.dumps({"typed": {"order delta_from_output": 'a")\nexit("', "b": "c"}})
    form.page.evaluate("(text) => localStorage.setItem('answers in /x.html', text)", entry)
    form.page.reload()
    assert form.proof() == "aei"
    form.key("Check")
    assert form.page.evaluate("inPage.asked[0].texts[1]").endswith(
        'order("delta_from_output", "aei")'
    )


def test_a_page_with_a_proof_has_its_data_before_its_cell_and_the_script(tmp_path):
    (tmp_path / "chapters").mkdir()
    cells = {
        "03_x": 'order("shift_both_ways")',
        "04_y": 'order("shift_both_ways", "a")',
        "05_z": 'predict("longer_key")',
    }
    for name, source in cells.items():
        parts = [nbformat.v4.new_markdown_cell("# T"), nbformat.v4.new_code_cell(source)]
        notebook = nbformat.v4.new_notebook(cells=parts)
        nbformat.write(notebook, tmp_path / "chapters" / f"{name}.ipynb")
    pages = "".join(f"chapters/{name}\n" for name in cells)
    (tmp_path / "index.md").write_text(f"# T\n\n```{{toctree}}\n{pages}```\n")
    (tmp_path / "conf.py").write_text(
        "extensions = ['myst_nb', 'book.boxes', 'book.slides', 'book.inpage.site']\n"
        "nb_execution_mode = 'off'\n"
    )
    app = SphinxTestApp("html", srcdir=tmp_path)
    app.build()
    app.cleanup()
    with_form, without, asking = (
        (app.outdir / f"chapters/{name}.html").read_text("utf-8") for name in cells
    )
    assert re.search(r'class="inpage-proof">\{.*\}</script>\s*<div class="cell', with_form)
    assert "inpage/order.js" in with_form
    assert "inpage-proof" not in without and "inpage/order.js" not in without
    assert "inpage/sure.js" in asking and '<p data-question="longer_key">' in asking
    assert "inpage/sure.js" not in with_form + without and "order.js" not in asking
