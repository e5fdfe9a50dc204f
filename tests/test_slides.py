"""Decks, editions and the archive: cut and packed from a tiny book."""
import re
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.testing.util import SphinxTestApp

from book import editions

CELLS = [  # slide type, cell
    (None, new_markdown_cell("before the first slide")),
    ("slide", new_markdown_cell("# Title $x$\n\nOpening words.")),
    ("notes", new_markdown_cell("Say *this*.")),
    ("skip", new_markdown_cell("not shown")),
    (None, new_code_cell("1 + 1", execution_count=1, outputs=[
        nbformat.v4.new_output("execute_result", {"text/plain": "2"},
                               execution_count=1)])),
    ("slide", new_markdown_cell("## Section\n\n> **Note.** A box.")),
    ("fragment", new_markdown_cell("appears")),
    ("subslide", new_markdown_cell("below")),
]
CONF = """\
extensions = ["myst_nb", "book.boxes", "book.slides", "book.editions"]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
mathjax_path = "mathjax/tex-chtml.js"
exclude_patterns = ["_build"]
master_doc = "chapters/index"
"""
INDEX = """\
# A book

```{toctree}
01_cut
02_plain
solutions/01_cut
```

- **Solutions**: [for one](solutions/01_cut.ipynb)
- [the chapter](01_cut.ipynb) and [its answer](solutions/01_cut.ipynb)
"""


def notebook(cells):
    for kind, cell in cells:
        if kind:
            cell.metadata["slideshow"] = {"slide_type": kind}
    return new_notebook(cells=[cell for _, cell in cells])


def built(folder):
    chapters = folder / "chapters"
    (chapters / "solutions").mkdir(parents=True)
    (folder / "conf.py").write_text(CONF)
    (chapters / "index.md").write_text(INDEX)
    nbformat.write(notebook(CELLS), chapters / "01_cut.ipynb")
    plain = notebook([(None, new_markdown_cell("# Plain"))])
    nbformat.write(plain, chapters / "02_plain.ipynb")
    nbformat.write(plain, chapters / "solutions" / "01_cut.ipynb")
    app = SphinxTestApp("html", srcdir=folder)
    # Only the theme of the book has this file.
    (app.outdir / "_static" / "scripts").mkdir(parents=True)
    app.build()
    app.cleanup()
    return app.outdir


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return built(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module")
def deck(book):
    return (book / "chapters" / "01_cut.slides.html").read_text("utf-8")


def test_slides_fragments_and_notes_are_where_the_cells_say(deck):
    shape = re.findall(r'</?section>|<h\d>|class="fragment"|class="notes"',
                       deck)
    assert shape == [
        "<section>", "<h1>", 'class="notes"', "</section>",
        "<section>", "<section>", "<h2>", 'class="fragment"', "</section>",
        "<section>", "<h2>", "</section>", "</section>"]


def test_a_deck_shows_what_the_page_shows(deck):
    for text in ("Title <span class=\"math notranslate nohighlight\">"
                 "\\(x\\)</span>", "Opening words.", "<em>this</em>",
                 '1 + 1', '<div class="note admonition">',
                 "Section", "appears", "below"):
        assert text in deck, text
    assert "not shown" not in deck and "before the first" not in deck
    assert deck.index("Say") > deck.index('class="notes"') > deck.index(
        '1 + 1')


def test_a_deck_asks_nothing_of_another_host(book, deck):
    files = re.findall(r'(?:src|href)="([^"#]+)"', deck)
    assert "../_static/mathjax/tex-chtml.js" in files
    assert not any(":" in file or file.startswith("/") for file in files)
    for name in ("reveal.js", "reveal.css", "notes.js", "LICENSE"):
        assert (book / "_static" / "reveal" / name).stat().st_size > 500


def test_no_slide_no_deck(book):
    assert not (book / "chapters" / "02_plain.slides.html").exists()
    plain = (book / "chapters" / "02_plain.html").read_text("utf-8")
    assert ">Slides<" not in plain


def test_pages_name_their_deck_and_their_versions(book):
    page = (book / "chapters" / "01_cut.html").read_text("utf-8")
    assert '<a href="01_cut.slides.html">Slides</a>' in page
    assert re.search(r"Outputs made with NumPy \d[\d.]+, torch \d", page)


def test_pdfs_are_linked_once_they_are_there(book, tmp_path):
    from book import prints
    page = tmp_path / "01_cut.html"
    page.write_text((book / "chapters" / "01_cut.html").read_text())
    (tmp_path / "01_cut.pdf").touch()
    prints.link_to_pdfs(page)
    prints.link_to_pdfs(page)
    assert page.read_text().count('<a href="01_cut.pdf">PDF</a>') == 1
    assert "slides.pdf" not in page.read_text()


def test_the_archive_holds_the_book_below_one_folder(book):
    [path] = book.glob("*.zip")
    names = zipfile.ZipFile(path).namelist()
    assert {name.split("/")[0] for name in names} == {path.stem}
    for name in ("chapters/index.html", "chapters/01_cut.slides.html",
                 "_static/reveal/reveal.js"):
        assert f"{path.stem}/{name}" in names
    index = (book / "chapters" / "index.html").read_text("utf-8")
    assert f'<a href="../{path.name}" download>' in index


# --- without the solutions --------------------------------------------------

def test_the_student_edition_neither_has_nor_names_solutions(
        tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_EDITION", "student")
    monkeypatch.setattr(editions, "leave_solutions_out", lambda *a: None)
    index = (built(tmp_path) / "chapters" / "index.html").read_text("utf-8")
    text = index[index.index("<h1>"):]
    assert "for one" not in text
    assert "its answer" in text and 'href="solutions/' not in re.sub(
        r'<li class="toctree.*', "", text)


def test_the_student_edition_has_a_table_of_contents_of_its_own(
        tmp_path, monkeypatch):
    (tmp_path / "_toc.yml").write_text(
        "root: chapters/index\nparts:\n- chapters:\n  - file: chapters/01_a\n"
        "- caption: Solutions\n  chapters:\n"
        "  - file: chapters/solutions/01_a\n")

    class App:
        srcdir, outdir, external_toc_path = tmp_path, tmp_path / "html", None
    editions.leave_solutions_out(App, App)
    assert App.external_toc_path is None
    monkeypatch.setenv("BOOK_EDITION", "student")
    editions.leave_solutions_out(App, App)
    kept = open(App.external_toc_path).read()
    assert "chapters/01_a" in kept and "olutions" not in kept
