"""Handouts: what stands on them, and that each is one page that isn't overfull."""

import asyncio
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attncourse.exercises.engine.find import exercises
from book import browser, handouts

needs_chromium = pytest.mark.skipif(
    browser.chromium() is None, reason="no Chromium on this machine"
)
TAUGHT = handouts.with_exercises()
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg"
    "=="
)
LIST = "> **Remember:**\n> - It's [here](01_one.ipynb), $x < 2$.\n> - `axis=-1`\n"


def chapter(folder, *more, remember=LIST, code='check("softmax", softmax)'):
    picture = new_output("display_data", data={"image/png": DOT})
    cells = [
        new_markdown_cell("# Why d_k\n\nText."),
        new_code_cell(
            "plot.dot()",
            outputs=[picture],
            metadata={
                "handout": True,
                "mystnb": {"image": {"alt": 'A "dot".'}},
                "slideshow": {"title": "One *dot*."},
            },
        ),
        new_code_cell("plot.dot()", outputs=[picture]),
        new_markdown_cell("So $$ a < b , $$", metadata={"handout": "With $b$"}),
        new_markdown_cell("$$ unchosen $$"),
        new_code_cell(code),
        new_markdown_cell(remember),
        *more,
    ]
    path = folder / "03_some.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def faults(path):
    """What is missing on a chapter's handout, in words."""
    page = handouts.handout(path)
    list_, formulas = page.partition("<h2>Remember</h2>")[2], page.partition("<dl>")[2]
    found = ["no list"] if list_.count("<li>") < 3 else []
    found += ["no formula"] if "<dd>\\[" not in formulas.partition("</dl>")[0] else []
    figures = re.findall(r'<img src="data:image/png;base64,[^"]+" alt="([^"]*)">', page)
    found += [] if len(figures) == 1 and figures[0] else [f"{len(figures)} figures"]
    found += ["no caption"] * ("<figcaption></figcaption>" in page or "<dt></dt>" in page)
    return found + [f"no {name}" for name in TAUGHT.get(path, ()) if f">{name}<" not in page]


def test_every_chapter_with_exercises_has_one():
    assert {exercise.chapter for exercise in exercises().values()} == {
        int(path.stem[:2]) for path in TAUGHT
    }
    assert sorted(name for names in TAUGHT.values() for name in names) == sorted(exercises())


@pytest.mark.parametrize("path", TAUGHT, ids=[path.stem for path in TAUGHT])
def test_a_handout_has_all_its_parts(path):
    assert faults(path) == []


def test_what_is_missing_is_found(tmp_path):
    again = new_code_cell(
        "plot.dot()",
        outputs=[new_output("display_data", data={"image/png": DOT})],
        metadata={"handout": True},
    )
    assert faults(chapter(tmp_path)) == ["no list"]
    assert "2 figures" in faults(chapter(tmp_path, again))
    assert "no caption" in faults(chapter(tmp_path, again))


def test_what_stands_there(tmp_path):
    page = handouts.handout(chapter(tmp_path))
    assert "<h1>Why <i>d</i><sub>k</sub></h1>" in page and "<p>Chapter 3</p>" in page
    assert f'base64,{DOT}" alt="A &quot;dot&quot;."' in page
    assert "<figcaption>One <em>dot</em>.</figcaption>" in page
    assert "<dt>With \\(b\\)</dt><dd>\\[a &lt; b\\]</dd>" in page and "unchosen" not in page
    assert "<li>It’s here, \\(x &lt; 2\\).</li>" in page and "<code>axis=-1</code>" in page
    assert "<p><code>softmax</code></p>" in page


def test_a_chapter_without_exercises_has_none(tmp_path):
    path = chapter(tmp_path)
    assert handouts.with_exercises(tmp_path) == {path: ["softmax"]}
    chapter(tmp_path, code='grade("softmax", softmax)\ncheck("nothing_of_ours", print)')
    assert handouts.with_exercises(tmp_path) == {}


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


def in_chromium(work):
    async def run():
        async with browser.opened() as chromium:
            return await work(chromium)

    return asyncio.run(run())


@needs_chromium
def test_each_is_one_page_and_not_overfull(tmp_path):
    in_chromium(lambda chromium: handouts.print_all(chromium, tmp_path))
    printed = {path.name: pages_of(path) for path in tmp_path.rglob("*.pdf")}
    expected = {f"{path.stem}.handout.pdf" for path in TAUGHT} | {"cards.pdf"}
    assert printed == dict.fromkeys(expected, 1)


@needs_chromium
@pytest.mark.parametrize(
    "more, said",
    [
        ({"remember": LIST + "> - A long line of text.\n" * 80}, r"some is 0 px too wide and \d+"),
        ({"remember": LIST.replace("axis=-1", "a" * 300)}, r"some is \d+ px too wide and"),
        ({"wide": "+ b " * 80}, r"some is \d+ px too wide and"),
    ],
)
def test_what_does_not_fit_is_found(tmp_path, more, said):
    formula = new_markdown_cell(f"$$ a {more.pop('wide', '')} $$", metadata={"handout": "Long"})
    path = chapter(tmp_path, formula, **more)
    with pytest.raises(handouts.Overfull, match=said):
        in_chromium(
            lambda chromium: handouts.print_page(
                chromium, handouts.handout(path), tmp_path / "x.pdf", "some"
            )
        )


@needs_chromium
def test_two_pages_are_counted(tmp_path):
    text = '<div class="page">a</div><p style="break-before: page">b</p>'
    pdf = tmp_path / "two.pdf"
    in_chromium(lambda chromium: handouts.print_page(chromium, text, pdf, "two"))
    assert pages_of(pdf) == 2
