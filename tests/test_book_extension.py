"""Block quotes become boxes in the book, and stay plain Markdown outside."""

import re

import nbformat
import pytest
from docutils import nodes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.errors import ExtensionError
from sphinx.testing.util import SphinxTestApp

import attnlib
from attncourse import exercises
from attncourse.exercises.engine.questions import questions
from book import boxes, reference
from book.notebooks import ROOT, notebook_paths

PAGE = """\
# Title

> **Note** that no end mark means no box.

> **Exercise 1.2: what $q^\\top k$ means.** Text with $x$ and `code`.
>
> - a list

> **Note**: after the bold.

> **Theorem: is it convex?** It is.

> **You will be able to.**
>
> 1. compute a score

> **Watch out.** The second
> line.

> **Notebook.** Not a lead, only begins like one.

> A quotation, **Note.** not at its beginning.

> **Remember.** ![dot](dot.png)
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """The page's doctree and HTML."""
    folder = tmp_path_factory.mktemp("boxes")
    (folder / "index.md").write_text(PAGE)
    (folder / "dot.png").write_bytes(b"")
    (folder / "conf.py").write_text(
        "extensions = ['myst_nb', 'book.boxes']\nmyst_enable_extensions = ['dollarmath']\n"
    )
    app = SphinxTestApp("html", srcdir=folder)
    app.build()
    yield (app.env.get_doctree("index"), (app.outdir / "index.html").read_text())
    app.cleanup()


def found(doctree):
    """Class, title and body of each box."""
    return [
        (box["classes"][0], box[0].astext(), "\n".join(child.astext() for child in box[1:]))
        for box in doctree.findall(nodes.admonition)
    ]


def test_leads_become_boxes(build):
    assert found(build[0]) == [
        ("exercise", "Exercise 1.2: what q^\\top k means", "Text with x and code.\na list"),
        ("note", "Note", "after the bold."),
        ("theorem", "Theorem: is it convex?", "It is."),
        ("goals", "You will be able to", "compute a score"),
        ("warning", "Watch out", "The second\nline."),
        ("remember", "Remember", "dot"),
    ]


def test_other_block_quotes_stay(build):
    texts = [quote.astext() for quote in build[0].findall(nodes.block_quote)]
    assert [text.split()[0] for text in texts] == ["Note", "Notebook.", "A"]


def test_maths_and_images_survive(build):
    doctree, _ = build
    box = next(iter(doctree.findall(nodes.admonition)))
    assert [m.astext() for m in box[0].findall(nodes.math)] == ["q^\\top k"]
    assert len(list(doctree.findall(nodes.image))) == 1


def test_boxes_in_html(build):
    _, html = build
    assert html.count('<p class="admonition-title">') == 6
    assert '<div class="exercise admonition">' in html
    assert html.count("<blockquote>") == 3


def built_with(folder, source):
    """The page of a notebook of one code cell."""
    nbformat.write(
        new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell(source)]),
        folder / "index.ipynb",
    )
    (folder / "conf.py").write_text(
        "extensions = ['myst_nb', 'book.boxes']\nnb_execution_mode = 'off'\n"
    )
    app = SphinxTestApp("html", srcdir=folder)
    app.build()
    app.cleanup()
    return (app.outdir / "index.html").read_text()


def test_a_question_becomes_a_box_with_its_answers_folded(tmp_path):
    page = built_with(tmp_path, 'predict("longer_key")')
    question = questions()["longer_key"]
    assert page.count('<div class="predict admonition">') == 1 and "predict(" not in page
    for letter, choice in question.lettered.items():
        answer = "Yes" if letter == question.right_letter else "No"
        assert (
            f"<details><summary>{letter}) {choice.text}</summary><p><b>{answer}.</b>"
            f" {choice.because}</p></details>" in page
        )


def test_an_answer_to_a_question_stays_code(tmp_path):
    page = built_with(tmp_path, 'predict("longer_key", "b")')
    assert "predict admonition" not in page and "longer_key" in page


def test_an_unknown_question_stops_the_build(tmp_path):
    with pytest.raises(ExtensionError, match="no question is called 'gone'"):
        built_with(tmp_path, 'predict("gone")')


def test_an_empty_block_quote_stays():
    assert boxes.box_from(nodes.block_quote()) is None


def test_a_chapter_has_the_number_of_its_file(tmp_path):
    """In its own title and sections, and in the links to it; other pages keep what Sphinx gives
    them.
    """
    (tmp_path / "chapters").mkdir()
    (tmp_path / "conf.py").write_text(
        "extensions = ['myst_nb', 'book.numbers']\nroot_doc = 'index'\n"
    )
    (tmp_path / "index.md").write_text(
        "# Book\n\n```{toctree}\n:numbered:\n"
        "chapters/00_none\nchapters/01_one\nchapters/07_seven\nother\n```\n"
    )
    (tmp_path / "chapters" / "00_none.md").write_text("# None\n")
    (tmp_path / "chapters" / "01_one.md").write_text("# One\n\n## Part\n")
    (tmp_path / "chapters" / "07_seven.md").write_text("# Seven\n\n## First\n\n## Second\n")
    (tmp_path / "other.md").write_text("# Other\n")
    app = SphinxTestApp("html", srcdir=tmp_path)
    app.build()
    numbers = app.env.toc_secnumbers
    page = (app.outdir / "chapters" / "07_seven.html").read_text()
    index = (app.outdir / "index.html").read_text()
    app.cleanup()
    assert numbers["chapters/07_seven"] == {"": (7,), "#first": (7, 1), "#second": (7, 2)}
    assert numbers["chapters/01_one"][""] == (1,) and numbers["other"][""] == (4,)
    assert numbers["chapters/00_none"][""] == (0,)
    assert "7.2. </span>Second" in page and "7. Seven" in index and "4. Other" in index


# --- the back matter ----------------------------------------------------------

GLOSSARY_PAGE = """\
# Glossary

- **raw score**, **raw scores**: a scaled dot product ([One](01_one.ipynb)).
- **weight**: its share ([One](01_one.ipynb)).
- **nowhere**: not said ([One](01_one.ipynb)).
"""
ONE = (
    "# The *weight*\n\nThe [*weight*](01_one.ipynb) is linked, this **weight.** is not. *Raw"
    " scores* come first, *raw scores* again."
)


@pytest.fixture(scope="module")
def terms(tmp_path_factory):
    """The glossary's HTML, its chapter's, and the warnings."""
    folder = tmp_path_factory.mktemp("terms")
    (folder / "chapters").mkdir()
    (folder / "chapters" / "glossary.md").write_text(GLOSSARY_PAGE)
    nbformat.write(
        new_notebook(cells=[new_markdown_cell(ONE)]), folder / "chapters" / "01_one.ipynb"
    )
    (folder / "index.md").write_text(
        "# Book\n\n```{toctree}\nchapters/glossary\nchapters/01_one\n```\n"
    )
    (folder / "conf.py").write_text("extensions = ['myst_nb', 'book.reference']\n")
    app = SphinxTestApp("html", srcdir=folder)
    app.build()
    pages = [
        (app.outdir / "chapters" / f"{name}.html").read_text() for name in ("glossary", "01_one")
    ]
    yield *pages, app.warning.getvalue()
    app.cleanup()


def test_terms_are_linked_both_ways(terms):
    glossary, chapter, _ = terms
    for name in ("term-raw-score", "term-weight"):
        assert f'href="01_one.html#{name}"' in glossary and f'id="{name}"' in glossary
        assert chapter.count(f'href="glossary.html#{name}"') == chapter.count(f'id="{name}"') == 1
    assert '<strong id="term-weight"><a class="term' in chapter  # neither the title nor the link
    assert '<em id="term-raw-score">' in chapter


def test_a_term_that_its_chapter_does_not_define_is_a_warning(terms):
    assert "no passage in italics or bold defines 'nowhere'" in terms[2]
    assert "'weight'" not in terms[2]


def test_a_docstring_keeps_its_formulas_and_its_code():
    lines = [
        "One line with `code` and ``more``.",
        "",
        "    S = a * b",
        "    T = `x`",
        "",
        ":param a: `(n,)`",
        "    not set in",
        ">>> `as it stands`",
    ]
    assert reference.in_rst(lines) == [
        "One line with ``code`` and ``more``.",
        "",
        ".. code-block:: text",
        "",
        "    S = a * b",
        "    T = `x`",
        "",
        ":param a: ``(n,)``",
        "    not set in",
        ">>> `as it stands`",
    ]


def test_the_reference_names_every_public_function():
    page = (ROOT / "chapters" / "reference.md").read_text(encoding="utf-8")
    names = [f"attnlib.{name}" for name in attnlib.__all__] + [
        f"attncourse.exercises.{name}" for name in exercises.__all__
    ]
    assert sorted(re.findall(r"auto(?:function|class):: (\S+)", page)) == sorted(names)


def test_references_are_what_the_chapters_send_readers_to(tmp_path):
    one = (
        "# One\n\n**Read on.** Ada et al., *A Title* (1990), [doi:10.1/a](https://doi.org/10.1/a),"
        " begins. It's by van Dam\nand Lovelace, *No Link* (Journal, 1991): old. An *aside* (1992)"
        " is none."
    )
    for name, text in (("01_one", one), ("02_two", one.replace("One", "Two"))):
        nbformat.write(
            new_notebook(cells=[new_markdown_cell("# " + name[3:]), new_markdown_cell(text)]),
            tmp_path / f"{name}.ipynb",
        )
    chapters = ["[one](01_one.ipynb)", "[two](02_two.ipynb)"]
    assert reference.works(tmp_path) == {
        "A Title": ("Ada et al.", "1990", ", [doi:10.1/a](https://doi.org/10.1/a)", chapters),
        "No Link": ("van Dam and Lovelace", "Journal, 1991", "", chapters),
    }


def test_every_title_that_a_chapter_names_is_in_the_list():
    named = {
        title
        for path in notebook_paths()
        for title in re.findall(
            r"\*([^*]+)\* \([^()]*\d{4}", reference.read_on(nbformat.read(path, as_version=4))
        )
    }
    assert named == set(reference.works(ROOT / "chapters")) and len(named) > 40
