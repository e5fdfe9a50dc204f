"""Block quotes become boxes in the book, and stay plain Markdown outside."""
import pytest
from docutils import nodes
from sphinx.testing.util import SphinxTestApp

from book import boxes

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
        "extensions = ['myst_nb', 'book.boxes']\n"
        "myst_enable_extensions = ['dollarmath']\n")
    app = SphinxTestApp("html", srcdir=folder)
    app.build()
    yield (app.env.get_doctree("index"),
           (app.outdir / "index.html").read_text())
    app.cleanup()


def found(doctree):
    """Class, title and body of each box."""
    return [(box["classes"][0], box[0].astext(),
             "\n".join(child.astext() for child in box[1:]))
            for box in doctree.findall(nodes.admonition)]


def test_leads_become_boxes(build):
    assert found(build[0]) == [
        ("exercise", "Exercise 1.2: what q^\\top k means",
         "Text with x and code.\na list"),
        ("note", "Note", "after the bold."),
        ("theorem", "Theorem: is it convex?", "It is."),
        ("goals", "You will be able to", "compute a score"),
        ("warning", "Watch out", "The second\nline."),
        ("remember", "Remember", "dot"),
    ]


def test_other_block_quotes_stay(build):
    texts = [quote.astext() for quote in
             build[0].findall(nodes.block_quote)]
    assert [text.split()[0] for text in texts] == [
        "Note", "Notebook.", "A"]


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


def test_an_empty_block_quote_stays():
    assert boxes.box_from(nodes.block_quote()) is None
