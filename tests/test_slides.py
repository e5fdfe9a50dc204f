"""Decks, editions and the archive: cut and packed from a tiny book."""

import functools
import re
import zipfile

import nbformat
import numpy as np
import pytest
from docutils import nodes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image
from sphinx.testing.util import SphinxTestApp

from attncourse.exercises.engine.questions import questions
from book import boxes, editions, notebooks
from book import slides as decks

QUESTION = questions()["longer_key"]

ANSWER = [nbformat.v4.new_output("execute_result", {"text/plain": "2"}, execution_count=1)]
FIGURE = [
    nbformat.v4.new_output(
        "display_data",
        {
            "image/png": (
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQ"
                "AAAABJRU5ErkJggg=="
            )
        },
    )
]


def code(source, outputs=(), **metadata):
    return new_code_cell(source, execution_count=1, outputs=list(outputs), metadata=metadata)


CELLS = [  # slide type or all that is said of slides, cell
    (None, new_markdown_cell("before the first slide")),
    ("notes", new_markdown_cell("# Title $x$\n\nOpening words.")),
    (
        {
            "slide_type": "slide",
            "minutes": 2,
            "notes": "Draw *it*.",
            "title": "One & one aren't three.",
            "lines": ["They are $2$."],
        },
        new_markdown_cell("## Section\n\nFirst a reason. A **term** of it.\n\n$$ y^2 $$"),
    ),
    ("notes", new_markdown_cell("Say *this*.")),
    ("skip", new_markdown_cell("not shown")),
    (None, code("1 + 1", ANSWER, tags=["hide-output"])),
    (
        {"slide_type": "slide", "optional": True, "minutes": 3, "title": "A title with $z$."},
        new_markdown_cell("> **Note.** A box with one paragraph."),
    ),
    ("skip", new_markdown_cell("> **Note.** A box that is not shown.")),
    (
        {"slide_type": "fragment", "lines": ["This one appears later."]},
        new_markdown_cell("Prose, and some more.\n\nAnd a second paragraph."),
    ),
    (
        {"slide_type": "subslide", "lines": ["Do *one* thing only."]},
        new_markdown_cell("> **Exercise: it.** Long text."),
    ),
    ("-", code('predict("longer_key")')),
    ({"slide_type": "skip", "optional": True}, new_markdown_cell("not shown")),
    ({"show": "output"}, code("2 - 0", ANSWER, tags=["hide-output"])),
    (
        {"slide_type": "slide", "steps": True, "title": "Step by step it goes."},
        new_markdown_cell("Step by step it goes.\n\n- one\n- two"),
    ),
    ({"slide_type": "-", "steps": True}, code("3", ANSWER)),
    (
        {"slide_type": "slide", "build": {"right": [0.25]}, "cover": True, "minutes": 1},
        code("figure()", FIGURE, mystnb={"image": {"alt": "What there is to see."}}),
    ),
    (
        {"slide_type": "fragment", "lines": []},
        new_markdown_cell("> **Note.** A box whose prose is for the notes."),
    ),
    (
        {"slide_type": "slide", "lecture": "Second *lecture*", "minutes": 4},
        code("print(inspect.getsource(attnlib.numpy.mine))"),
    ),
    ("skip", code('def mine():\n    ...\n')),
    ("skip", code('check("mine", mine)')),
    ({"slide_type": "slide", "only": True}, code("'for-the-wall'", ANSWER)),
    ({"only": True}, new_markdown_cell("A list for it:\n\n- wallpaper")),
]
CONF = """\
extensions = ["myst_nb", "book.boxes", "book.slides", "book.editions"]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
mathjax_path = "mathjax/tex-chtml.js"
exclude_patterns = ["_build"]
master_doc = "chapters/index"
html_title, author = "A Book", "An Author"
"""
INDEX = """\
# A book

```{toctree}
01_cut
02_plain
for_lecturers/index
for_lecturers/01_cut
solutions/01_cut
```

- **Solutions**: [for one](solutions/01_cut.ipynb)
- [For lecturers](for_lecturers/index.md): a plan
- the [page for lecturers](for_lecturers/index.md) has one
- [the chapter](01_cut.ipynb) and [its answer](solutions/01_cut.ipynb)
"""


def notebook(cells):
    for kind, cell in cells:
        if kind:
            cell.metadata["slideshow"] = {"slide_type": kind} if isinstance(kind, str) else kind
    return new_notebook(cells=[cell for _, cell in cells])


def built(folder):
    chapters = folder / "chapters"
    (chapters / "solutions").mkdir(parents=True)
    (folder / "conf.py").write_text(CONF)
    (chapters / "index.md").write_text(INDEX)
    (chapters / "for_lecturers").mkdir()
    (chapters / "for_lecturers" / "index.md").write_text("# For lecturers\n")
    (chapters / "for_lecturers" / "01_cut.md").write_text(
        "# Teaching: the cut\n\n<!-- questions 01_raw_scores -->\n"
    )
    nbformat.write(notebook(CELLS), chapters / "01_cut.ipynb")
    plain = notebook(
        [
            (None, new_markdown_cell("# Plain")),
            (
                None,
                new_code_cell(
                    "def answer():\n    return 41 + 1", metadata={"tags": [editions.ANSWERS]}
                ),
            ),
        ]
    )
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


@pytest.fixture(scope="module")
def slides(deck):
    """Each slide as (what stands on it, its notes)."""
    found = re.findall(r"<section.*?</section>", deck, re.DOTALL)
    return [
        re.fullmatch(
            r'(.*?)(?:<aside class="notes">(.*)</aside>)?' "</section>", slide, re.DOTALL
        ).groups(default="")
        for slide in found
    ]


def title(slide):
    return re.search(r"<h[12]>(.*?)</h[12]>", slide[0]).group(1)


def test_one_line_of_slides_each_with_its_title(slides, deck):
    assert deck.count("<section") == len(slides) == 11
    assert [title(slide) for slide in slides] == [
        "Title x",
        "One &amp; one aren’t three.",
        'A title with <span class="math notranslate nohighlight">\\(z\\)</span>.',
        "Exercise: it",
        boxes.words(QUESTION.text),
        "Section",
        "Step by step it goes.",
        "Section",
        "Second <em>lecture</em>",
        "Section",
        "Section",
    ]


def test_the_first_slide_says_whose_it_is(slides):
    wall, notes = slides[0]
    for text in ("Chapter 1<", "A Book", "An Author", "CC BY 4.0"):
        assert text in wall
    # which edition it is concerns the speaker
    edition = r"20\d\d-\d\d-\d\d, [0-9a-f]{7}"
    assert re.search(edition, notes) and not re.search(edition, wall)
    assert "11 slides, 1 of them optional: 3 and 4 minutes" in notes


def test_the_first_slide_shows_the_cover_as_its_own_slide_does_with_its_text(slides):
    cover, figure = (
        re.search(r"<img[^>]*>", wall).group() for wall in (slides[0][0], slides[7][0])
    )
    source = re.compile(r'src="([^"]*)"')
    assert source.search(cover).group(1) == source.search(figure).group(1)
    assert 'alt="What there is to see."' in cover and "aria-hidden" not in cover


def test_without_a_cover_the_first_slide_shows_the_mark():
    class config:
        html_title, author = "A Book", "An Author"

    slide = decks.title_slide(config, None, "Title", [decks.Slide()], "static")
    assert "static/mark.svg" in slide and "pictured" not in slide


def test_title_and_lines_are_on_the_wall_and_the_prose_in_the_notes(slides):
    wall, notes = slides[1]
    assert '<p class="section">Section</p>' in wall
    assert wall.count('<p class="claim">They are <span class="math notranslate nohighlight">') == 1
    assert wall.index("They are") < wall.index("y^2")
    assert "First a reason." not in wall
    assert "First a reason." in notes and "<em>this</em>" in notes
    assert notes.startswith("<p><b>2 min, 2 so far.</b></p>")
    assert "Draw <em>it</em>." in notes


def test_what_only_repeats_the_title_is_not_in_the_notes(slides):
    assert "Step by step" in slides[6][0] and "Step by step" not in slides[6][1]


def test_lines_replace_the_prose_of_a_box(slides):
    assert '<p>Do <em>one</em> thing only.</p>' in slides[3][0]
    assert "Long text" not in slides[3][0] and "Long text" in slides[3][1]
    assert "prose is for the notes" in slides[7][1]
    assert "Note" not in slides[7][0]


def test_skip_and_subslide_hold_for_boxes_of_one_paragraph(slides, deck):
    assert "A box with one paragraph." in slides[2][0]
    assert "not shown" not in deck and "before the first" not in deck


def test_an_optional_slide_is_marked_and_takes_no_time(slides):
    assert '<span class="optional">optional</span>' in slides[2][0]
    assert "<b>3 min.</b>" in slides[2][1]
    assert ["optional" in wall for wall, _ in slides].count(True) == 1
    assert "<b>1 min, 3 so far.</b>" in slides[7][1]


def test_a_lecture_begins_with_a_slide_and_a_clock_of_its_own(slides):
    assert slides[8][0].startswith('<section class="title">') and not slides[8][1]
    assert "<b>4 min, 4 so far.</b>" in slides[9][1]


def test_what_appears_later_is_a_fragment(slides):
    assert '<div class="fragment"><p class="claim">This one appears later.</p>' in slides[2][0]
    assert slides[6][0].count('<li class="fragment">') == 2
    assert re.search(r'class="cell_output[^"]* fragment', slides[6][0])


def test_a_figure_is_uncovered_bit_by_bit_and_told_once(slides):
    parts = re.findall(r"<img[^>]*>", slides[7][0])
    assert ["inset(0 75% 0 0%)" in parts[0], "inset(0 0% 0 25%)" in parts[1]] == [True, True]
    assert slides[7][0].count("What there is to see.") == 1


def test_a_question_has_its_answer_on_the_next_fragment(slides):
    wall, notes = slides[4]
    assert f'data-question="longer_key" data-shows="{QUESTION.shows}"' in wall
    right = QUESTION.lettered[QUESTION.right_letter]
    before, after = wall.split('<div class="fragment answer"')
    assert right.because in after and right.because not in before
    for choice in QUESTION.choices:
        assert choice.text in before
        assert (choice.because in notes) == (choice is not right)


def test_what_folds_on_the_page_is_open_in_the_deck(slides, book):
    page = (book / "chapters" / "01_cut.html").read_text("utf-8")
    assert '<details class="admonition hide' in page
    assert "<details" not in slides[1][0]
    assert re.search(r'class="output[^>]*>.*2\n', slides[1][0], re.DOTALL)


def test_a_cell_may_show_its_output_alone(slides):
    assert "2 - 0" not in slides[5][0]
    assert re.search(r'class="output[^>]*>.*2\n', slides[5][0], re.DOTALL)


def test_what_is_for_the_slides_only_is_neither_on_the_page_nor_in_its_search(slides, book):
    assert "for-the-wall" in slides[10][0] and "wallpaper" in slides[10][0]
    assert "A list for it" in slides[10][1]
    page = (book / "chapters" / "01_cut.html").read_text("utf-8")
    index = (book / "searchindex.js").read_text("utf-8")
    for text in ("for-the-wall", "wallpap"):
        assert text not in page and text not in index
    assert "First a reason." in page and '"reason"' in index.replace("reason:", '"reason":')


def test_code_that_an_exercise_asks_for_later_is_marked(slides, deck):
    assert '<div data-gives-away="mine">' in slides[9][0]
    assert deck.count("data-gives-away") == 1


def test_neighbours_with_a_column_stand_side_by_side():
    parts = [("", "a"), ("right", "c"), ("left", "b"), ("", "d")]
    columns = '<div class="columns"><div>b</div><div>c</div></div>'
    assert decks.in_columns(parts) == f"a{columns}d"


def test_a_picture_keeps_a_formula_from_standing_alone():
    slide = decks.Slide()
    assert not slide.alone
    slide.add("words")
    slide.add("y", kind="printout")
    slide.add("x", kind="formula")
    assert slide.alone == "formula printout" and ' data-alone="' in slide.html(1, 1, "")
    slide.add("a picture", kind="picture, table or list")
    assert not slide.alone and "data-alone" not in slide.html(1, 1, "")


def test_a_formula_has_the_names_of_its_symbols_beside_it():
    named = decks.named("formula", {"names": ["$a$ a weight"]})
    assert named.startswith('<div class="named"><div>formula</div><ul><li>')
    assert decks.named("formula", {}) == "formula"


def test_of_a_listing_some_rows_are_shown_and_some_of_them_lit():
    block = nodes.container("", nodes.literal_block("a\nb\nc", "a\nb\nc"))
    listing = decks.lit(block, [2, 3], [3])
    assert listing.astext() == "b\nc" and listing["classes"] == ["has-lit"]
    assert listing[0]["highlight_args"] == {"hl_lines": [2]}
    assert decks.lit(block, None, None) is block


def test_symbols_in_plain_words_have_an_index():
    assert boxes.subscripts("d_k, n_1") == "<i>d</i><sub>k</sub>, <i>n</i><sub>1</sub>"
    assert boxes.subscripts("W_Kᵀ") == "<i>W</i><sub>K</sub>ᵀ"
    assert boxes.subscripts("of dₖ") == "of <i>d</i><sub>k</sub>"  # in a heading
    for name in ("head_scores", "w_q(x)", "a_thousand_words"):
        assert boxes.subscripts(name) == name
    assert boxes.words("`d_k` & d_k") == "<code>d_k</code> &amp; <i>d</i><sub>k</sub>"


def test_a_vote_has_a_second_round_before_its_answer(slides):
    wall = slides[4][0]
    again = wall.index('data-fragment-index="0">Discuss with your neighbour')
    assert again < wall.index('class="fragment answer" data-fragment-index="1"')
    assert wall.count("second vote") == wall.count("first vote") == len(QUESTION.choices)


def test_every_slide_but_the_first_has_its_footer(slides):
    for place, (wall, _) in enumerate(slides[1:], 2):
        assert f"<span>A Book · Title x · CC BY 4.0</span> <span>{place} / 11</span>" in wall


CHAPTERS = [
    path
    for path in notebooks.notebook_paths()
    if path.stem[:2].isdigit() and path.parent == notebooks.CHAPTERS
]
BOOK = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


@BOOK
def test_the_symbols_of_a_note_are_formulas_or_code(path):
    for cell in decks.read_cells(path):
        note = re.sub(r"`[^`]*`|\$[^$]*\$", "", decks.of_cell(cell).get("notes", ""))
        assert not re.search(r"\w_\w", note), f"{cell.id}: {note}"


@BOOK
def test_a_lecture_takes_45_minutes_with_four_votes_at_most_and_time_for_each(path):
    for table in decks.tables_of(path):
        assert sum(table.sections.values()) <= 45
        assert len(table.votes) <= 4 and min(table.votes.values(), default=3) >= 3


def test_the_timetable_for_lecturers_tells_what_is_optional_apart(tmp_path):
    cells = [
        nbformat.v4.new_markdown_cell("## Beginning", metadata=slide(minutes=2)),
        nbformat.v4.new_code_cell('predict("first")', metadata=slide(minutes=3)),
        nbformat.v4.new_markdown_cell(
            "## Aside (optional)", metadata=slide(minutes=1, optional=True)
        ),
        nbformat.v4.new_code_cell('predict("last")', metadata=slide(minutes=3, optional=True)),
        nbformat.v4.new_markdown_cell("Again.", metadata=slide(minutes=4, lecture="Second")),
    ]
    path = tmp_path / "chapter.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert decks.timetable(path).split("\n\n") == [
        "**First lecture.** Beginning 5. That makes 5. Vote on `first`."
        " The slides marked optional take 4 more."
        " If there is time, also vote on `last`.",
        "**Second lecture.** Aside 4. That makes 4.",
    ]


def test_the_plans_vote_on_what_the_slides_vote_on():
    plans = (notebooks.CHAPTERS / "for_lecturers/index.md").read_text("utf-8")
    named = {
        name for line in re.findall(r"Vote on (.+?)\.", plans) for name in line.split("`")[1::2]
    }
    votes = {name for path in CHAPTERS for table in decks.tables_of(path) for name in table.votes}
    assert len(named) > 20 and named <= votes


def slide(**said):
    return {"slideshow": said}


def covers(path):
    """The pictures for the title slide: for each its bytes as text, and what is said of it."""
    return [
        (output.data["image/png"], cell.metadata.mystnb.image.alt)
        for cell in decks.read_cells(path)
        if decks.of_cell(cell).get("cover") and decks.of_cell(cell).get("slide_type") != "skip"
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]


def test_each_chapter_with_a_deck_has_one_cover_of_its_own():
    found = {
        path.stem: covers(path)
        for path in notebooks.notebook_paths()
        if path.parent == notebooks.CHAPTERS and decks.has_deck(decks.read_cells(path))
    }
    assert not [name for name, pictures in found.items() if len(pictures) != 1]
    pictures = [pictures[0][0] for pictures in found.values()]
    assert len(found) > 20 and len(set(pictures)) == len(pictures)


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    """A function from a notebook to its page's blocks and its deck, each built once."""

    @functools.cache
    def built_alone(path):
        folder = tmp_path_factory.mktemp(path.stem)
        (folder / "conf.py").write_text(
            CONF.replace("chapters/index", "page").replace(', "book.editions"', "")
        )
        (folder / "page.ipynb").write_bytes(path.read_bytes())
        app = SphinxTestApp("html", srcdir=folder)
        app.build()
        blocks = list(decks.walk(app.env.get_doctree("page")))
        deck = app.outdir / "page.slides.html"
        app.cleanup()
        return blocks, deck.read_text("utf-8") if deck.exists() else ""

    return built_alone


@BOOK
def test_every_cell_of_a_chapter_has_its_blocks(path, chapter):
    """Each block of the page is known to come from the cell that wrote it."""
    source = nbformat.read(path, as_version=4)
    blocks, _ = chapter(path)
    for number, cell in enumerate(source.cells):
        text = "".join(block.astext() for block in blocks if block["cell"] == number)
        first = re.search(r"[A-Za-z]{5,}", cell.source)
        if "remove-cell" in cell.metadata.get("tags", []) or not first:
            continue
        if "predict(" not in cell.source:
            assert first.group() in text, cell.source


@BOOK
def test_at_most_one_slide_in_ten_shows_a_formula_listing_or_printout_alone(path, chapter):
    _, deck = chapter(path)
    sections = re.findall(r"<section[^>]*>", deck)
    alone = [place for place, opened in enumerate(sections, 1) if "data-alone" in opened]
    assert len(alone) <= len(sections) // 10, f"slides {alone} of {len(sections)}"


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
    (tmp_path / "01_cut.handout.pdf").touch()
    prints.link_to_pdfs(page)
    prints.link_to_pdfs(page)
    assert '<a href="01_cut.handout.pdf">Handout (PDF)</a>' in page.read_text()
    assert page.read_text().count('<a href="01_cut.pdf">PDF</a>') == 1
    assert 'href="01_cut.slides.pdf"' not in page.read_text()


def test_a_chapters_page_for_lecturers_has_its_deck_and_the_pdf(book, tmp_path):
    from book import prints

    (tmp_path / "for_lecturers").mkdir()
    page = tmp_path / "for_lecturers" / "01_cut.html"
    page.write_text((book / "chapters" / "for_lecturers" / "01_cut.html").read_text())
    assert '<a href="../01_cut.slides.html">Slides</a>' in page.read_text()
    (tmp_path / "01_cut.slides.pdf").touch()
    (tmp_path / "01_cut.handout.pdf").touch()
    prints.link_to_pdfs(page)
    assert '<a href="../01_cut.slides.pdf">PDF of the slides</a>' in page.read_text()
    assert '<a href="../01_cut.handout.pdf">Handout (PDF)</a>' in page.read_text()


def test_a_chapters_page_for_lecturers_has_its_questions(book):
    page = (book / "chapters" / "for_lecturers" / "01_cut.html").read_text()
    for text in (QUESTION.text, *(choice.because for choice in QUESTION.choices)):
        assert text in page.replace("’", "'")  # typographic on the page


def test_figures_are_lighter_with_the_same_pixels(tmp_path):
    image = Image.fromarray(np.random.default_rng(0).integers(1, 256, (20, 30, 4), dtype=np.uint8))
    (tmp_path / "_images").mkdir()
    image.save(tmp_path / "_images/a.png")
    (tmp_path / "deck").mkdir()
    page = tmp_path / "deck/page.html"
    page.write_text('<img src="../_images/a.png"><img src="../_images/b.png"><a href="card.png">')
    editions.lighten_figures(tmp_path)
    assert page.read_text() == (
        '<img src="../_images/a.webp"><img src="../_images/b.png"><a href="card.png">'
    )
    assert [path.name for path in (tmp_path / "_images").iterdir()] == ["a.webp"]
    with Image.open(tmp_path / "_images/a.webp") as found:
        assert (np.asarray(found.convert("RGBA")) == np.asarray(image)).all()


def test_the_archive_holds_the_book_below_one_folder(book):
    [path] = book.glob("*.zip")
    names = zipfile.ZipFile(path).namelist()
    assert {name.split("/")[0] for name in names} == {path.stem}
    for name in ("chapters/index.html", "chapters/01_cut.slides.html", "_static/reveal/reveal.js"):
        assert f"{path.stem}/{name}" in names
    index = (book / "chapters" / "index.html").read_text("utf-8")
    assert f'<a href="../{path.name}" download>' in index
    packed = zipfile.ZipFile(path).read(f"{path.stem}/chapters/index.html").decode("utf-8")
    assert "</h1>" in packed and ".zip" not in packed  # it does not hold itself


# --- without the solutions --------------------------------------------------


def test_the_student_edition_neither_has_nor_names_solutions(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_EDITION", "student")
    monkeypatch.setattr(editions, "leave_solutions_out", lambda *a: None)
    index = (built(tmp_path) / "chapters" / "index.html").read_text("utf-8")
    text = index[index.index("<h1>") :]
    assert "for one" not in text and "a plan" not in text
    text = re.sub(r'<li class="toctree.*', "", text)
    assert "its answer" in text and 'href="solutions/' not in text
    assert 'href="for_lecturers' not in text and "page for lecturers has one" in re.sub(
        "<[^>]*>", "", text
    )


def test_the_student_edition_packs_what_answers_an_exercise(book, tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_EDITION", "student")
    monkeypatch.setattr(editions, "leave_solutions_out", lambda *a: None)
    pages = [
        (place / "chapters" / "02_plain.html").read_text("utf-8")
        for place in (book, built(tmp_path))
    ]
    assert ["41 + 1" in re.sub("<[^>]*>", "", page) for page in pages] == [True, False]
    assert "Packed, because it answers an exercise" in pages[1]


def test_the_student_edition_has_a_table_of_contents_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "_toc.yml").write_text(
        "root: chapters/index\nparts:\n- chapters:\n  - file: chapters/01_a\n- caption: Solutions\n"
        "  chapters:\n  - file: chapters/solutions/01_a\n- caption: Teaching\n  chapters:\n  -"
        " file: chapters/for_lecturers/index\n"
    )

    class App:
        srcdir, outdir, external_toc_path = tmp_path, tmp_path / "html", None

    editions.leave_solutions_out(App, App)
    assert App.external_toc_path is None
    monkeypatch.setenv("BOOK_EDITION", "student")
    editions.leave_solutions_out(App, App)
    kept = open(App.external_toc_path).read()
    assert (
        "chapters/01_a" in kept
        and "olutions" not in kept
        and "lecturers" not in kept
        and "Teaching" not in kept
    )


def test_a_link_within_the_chapter_leads_to_its_page():
    links = '<a class="internal" href="#timing">timing</a> <a href="b.html#here">b</a>'
    found = decks.to_the_page(links, "15_numpy_to_gpu.html")
    assert re.findall('href="([^"]*)"', found) == ["15_numpy_to_gpu.html#timing", "b.html#here"]
