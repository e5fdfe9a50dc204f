"""`run.py check`: each thing that it looks for, seen to be found."""

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attncourse import plot
from book import browser, pages
from book.notebooks import ROOT

needs_chromium = pytest.mark.skipif(
    browser.chromium() is None, reason="no Chromium on this machine"
)

MATHJAX = (
    Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
)
PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width">
<style>body {{ color: #111; background: #fff; }}</style>
</head>
<body><main><article><h1>A page</h1><p>Some text.</p>
{}
</article></main></body></html>
"""
SCRIPT = '<script src="mathjax/tex-chtml.js" defer></script>'
FIGURE = (
    '<img src="dot.svg" width="200" height="100" '
    'alt="Two bars side by side; the left one is the higher.">'
)
COPY = """<div class="highlight"><pre tabindex="0">{}</pre>
<button class="copybtn" onclick="
    const area = document.createElement('textarea');
    area.value = {}; document.body.append(area); area.select();
    document.execCommand('copy'); area.remove();">Copy</button></div>"""
OF_THE_PAGE = "this.previousElementSibling.textContent"

GOOD = [
    FIGURE,
    '<p><span class="math">\\(x^2\\)</span></p>',
    "<table><tr><td>narrow</td></tr></table>",
    COPY.format("x = 1", OF_THE_PAGE),
    COPY.format("&gt;&gt;&gt; x + 1\n2", "'x + 1'"),
    '<p id="place"><a href="#place">here</a></p><button>Press</button>',
    (
        '<button aria-label="Ada\'s sees old: 0.00">0.00</button><button'
        ' aria-label="Close">\u00d7</button><label>Score of cat <input></label><input'
        ' aria-label="Score of cat, as a number">'
    ),
    '<p><a href="https://example.org/">a link loads nothing</a></p>',
]
BAD = {  # what is said of the page: what stands on it
    "outside request: https://example.org/dot.png": FIGURE.replace(
        "dot.svg", "https://example.org/dot.png"
    ),
    "outside request: http://localhost/dot.svg": FIGURE.replace(  # not below the sub-path
        "dot.svg", "/dot.svg"
    ),
    "missing file: ": FIGURE.replace("dot.svg", "gone.svg"),
    "page error: gone is not defined": "<script>gone();</script>",
    "formula not rendered: \\(\\frac{1": '<p><span class="math">\\(\\frac{1\\)</span></p>',
    "formula with an error: \\left(1: Extra \\left": (
        '<p><span class="math">\\(\\left(1\\)</span></p>'
    ),
    "formula with an error: \\undefined: unknown command": (
        '<p><span class="math">\\(\\undefined\\)</span></p>'
    ),
    "formula not rendered: x": '<p><span class="math">x</span></p>',
    'figure without a text: <img src="dot.svg" width="200" height="100" alt="">': FIGURE.replace(
        "Two bars side by side; the left one is the higher.", ""
    ),
    "figure without a text: <img": FIGURE.replace(
        "Two bars side by side; the left one is the higher.",
        "../_build/jupyter_execute/one two three.png",
    ),
    "the page scrolls sideways by": (
        '<table><tr><td style="min-width: 2000px">wide</td></tr></table>'
    ),
    "axe color-contrast": '<p style="color: #ccc">pale</p>',
    "axe color-contrast: ": (  # texts that look alike, and are no texts to axe, come before it
        '<div style="color: #ccc"><p>x</p><p style="visibility: hidden">pale</p>'
        '<p aria-hidden="true">pale</p><button disabled style="color: #ccc">pale</button>'
        "<p>pale</p></div>"
    ),
    "axe label": "<input>",
    "axe label-content-name-mismatch": '<button aria-label="x is done">Mark as done</button>',
    'named "Ada\'s sees Ada\'s" over the text "0 00"': (
        '<button aria-label="Ada\'s sees Ada\'s">0.00</button>'
    ),
    'named "Size" over the text "score"': '<label>Score <input aria-label="Size"></label>',
    'the keyboard does not reach <button>': '<button tabindex="-1">No</button>',
    "the keyboard does not reach <span>": '<p><span style="cursor: pointer">press me</span></p>',
    "no copy button": '<div class="highlight"><pre>x = 1</pre></div>',
    'copies "y = 2" and not x = 1': COPY.format("x = 1", "'y = 2'"),
    "copies more than code": COPY.format("$ x", OF_THE_PAGE),
    'copies ">>> x" and not x': COPY.format("&gt;&gt;&gt; x", OF_THE_PAGE),
    "a link leads nowhere: gone.html": '<a href="gone.html">gone</a>',
    "a link leads nowhere: good0.html#gone": '<a href="good0.html#gone">gone</a>',
    "loads 1.6": FIGURE.replace("dot.svg", "large.png"),
    "hidden without scripts: late": (
        '<p style="opacity: 0" id="late">late</p><script>document'
        '.getElementById("late").style.opacity = 1</script>'
    ),
    "cut off in print": (
        f'<pre style="overflow: auto; max-width: 600px" tabindex="0">{"long " * 30}</pre>'
    ),
}
WIDE = '<div style="overflow: auto"><span class="math">\\(' + "x + " * 20 + 'x\\)</span></div>'
DARK = "<style>@media (prefers-color-scheme: dark) {p {color: #ccc}}</style>"
PHONE = '<div style="width: 500px">wider than a phone</div>'


def copy_mathjax(folder):
    shutil.copytree(MATHJAX / "output" / "chtml", folder / "mathjax" / "output" / "chtml")
    shutil.copy(MATHJAX / "tex-chtml.js", folder / "mathjax")
    shutil.copytree(MATHJAX / "ui", folder / "mathjax" / "ui")


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """What is said of each of the pages above, by their names."""
    folder = tmp_path_factory.mktemp("pages")
    copy_mathjax(folder)
    (folder / "dot.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    )
    (folder / "large.png").write_bytes(os.urandom(1_600_000))
    cases = {f"good{n}": text for n, text in enumerate(GOOD)}
    cases |= {f"bad{n}": text for n, text in enumerate(BAD.values())}
    cases |= {"dark": DARK, "phone": PHONE, "wide": WIDE}
    for name, text in cases.items():
        text += SCRIPT if 'class="math"' in text else ""
        (folder / f"{name}.html").write_text(PAGE.format(text), "utf-8")
    found = asyncio.run(pages.examine(folder))
    return {report.page.removesuffix(".html"): report for report in found}


@needs_chromium
@pytest.mark.parametrize("number", range(len(GOOD)))
def test_a_good_page_has_no_problem(reports, number):
    assert reports[f"good{number}"].problems == {}


@needs_chromium
@pytest.mark.parametrize("number, said", list(enumerate(BAD)))
def test_a_bad_page_is_found(reports, number, said):
    problems = reports[f"bad{number}"].problems
    assert any(sentence.startswith(said) for sentence in problems), problems


@needs_chromium
def test_a_view_of_its_own_is_named(reports):
    [(sentence, views)] = reports["dark"].problems.items()
    assert sentence.startswith("axe color-contrast") and views == ["dark"]
    [(sentence, views)] = reports["phone"].problems.items()
    assert "sideways by" in sentence and views == ["390 px"]
    [(sentence, views)] = reports["wide"].problems.items()
    assert "formula wider than" in sentence and views == ["390 px"]


@needs_chromium
def test_the_table_has_a_line_for_each_page(reports):
    lines = list(pages.table(list(reports.values())))
    for report in reports.values():
        assert sum(line.startswith(report.page) for line in lines) == 1
    assert any("light: loads 1.6" in line for line in lines)


# --- decks ------------------------------------------------------------------

DECK = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A deck</title>
<link rel="stylesheet" href="reveal.css">
<link rel="stylesheet" href="slides.css">
<script src="slides.js"></script>
<script defer src="reveal.js"></script>
<script defer src="notes.js"></script>
<script defer src="mathjax/tex-chtml.js"></script></head>
<body><div class="reveal"><div class="slides">
<section class="title"><h1>First</h1><p>Fits: <span class="math">\\(x^2\\)</span>.</p>
<aside class="notes"><p style="font-size: 8px">Small, above: <span
class="math">\\({}\\)</span></p></aside></section>
{}
</div></div>
</body></html>
"""
SLIDE = """<section{}><h2>{}</h2><div class="wall"><p>Some words.</p>{}</div>
<p class="footer">A book, CC BY 4.0</p></section>"""
DRAWING = (
    '<svg viewBox="0 0 200 40" width="{}" role="img" aria-label="Letters that grow with it.">'
    '<text y="20" style="font-size: 15px">word</text></svg>'
)
IMAGE = '<img src="{}" alt="A figure higher than it is wide.">'


def slide(text="", title="The second slide makes a claim.", attributes=""):
    return SLIDE.format(attributes, title, text)


ASKED = ' data-question="dog" data-shows="42 dogs"'
BAD_SLIDES = {
    "": slide(
        IMAGE.format("sharp.png")
        + "<p>It overflows above 11.1, far below the rest.</p>"
        + DRAWING.format(300)
    ),
    "is 9": slide('<div style="height: 800px">High</div>'),
    # within the frame, and under the footer
    "and the footer begins at 68": slide('<div style="height: 545px">High</div>'),
    "is 15": slide('<p style="width: 1500px">Wide</p>'),
    "has type of 14px": slide('<p>x<sub style="font-size: 14px">i</sub></p>'),
    "has type of 15px": slide(DRAWING.format(200)),
    "cuts code off": slide(f'<pre style="overflow: hidden; width: 300px">{"long " * 30}</pre>'),
    "has a figure with type of 17px": slide(
        IMAGE.format("sharp.png").replace("<img", '<img style="max-width: 850px"')
    ),
    "has a figure with type of 10px": slide(IMAGE.format("tall.png")),
    "has a figure of 1200 pixels that is 1620 wide": slide(IMAGE.format("soft.png")),
    "axe color-contrast": slide('<p style="color: #ddd">pale</p>'),
    '"Only a name" has no sentence': slide(title="Only a name"),
    "has nothing but its title": slide().replace("<p>Some words.</p>", ""),
    'says "above" of what is not on it': slide("<p>As was said above.</p>"),
    'says "below" of what is not on it': slide("<p>The sum below shows it.</p>"),
    'says "run the cell" of what': slide("<p>Then run the cell.</p>"),
    "has raw Markdown: **": slide("<p>Some **bold** words.</p>"),
    "has raw Markdown: | 1 | 2 |": slide("<p>| a | b |\n| 1 | 2 |</p>"),
    "has the code of mine before its exercise": slide(
        '<div data-gives-away="mine"><pre>def mine(): 1</pre></div>'
    ),
    "shows its answer at once": slide('<div class="answer">It is b.</div>', attributes=ASKED),
    '"42 dogs", the answer of dog, before it': (
        slide("<p>42 dogs</p>") + slide('<p class="fragment answer">b</p>', attributes=ASKED)
    ),
}
LINES = ("o = \\frac{u = 1}{\\ell}", "= \\sum_j a_j v_j", "u + v + w", "o_{\\text{far}} \\le t")
OF_THE_DECK = ("has the code", "shows its answer", '"42 dogs"')


@pytest.fixture(scope="module")
def deck_folder(tmp_path_factory):
    from book import slides

    folder = tmp_path_factory.mktemp("decks")
    copy_mathjax(folder)
    plt.imsave(folder / "sharp.png", np.ones((400, 1860, 3)))
    plt.imsave(folder / "tall.png", np.ones((1860, 1860, 3)))
    plt.imsave(folder / "soft.png", np.ones((400, 1200, 3)))
    for name in slides.REVEAL_FILES:
        shutil.copy(slides.REVEAL / name, folder)
    for name in ("slides.css", "slides.js"):
        shutil.copy(ROOT / "book" / "static" / name, folder)
    for number, text in enumerate(BAD_SLIDES.values()):
        (folder / f"{number:02}.slides.html").write_text(DECK.format("y^2", text), "utf-8")
    (folder / "lines.slides.html").write_text(
        DECK.format("y", slide("".join(f'<div class="math">\\[{line}\\]</div>' for line in LINES))),
        "utf-8",
    )
    (folder / "note.slides.html").write_text(DECK.format("\\left(1", slide()), "utf-8")
    return folder


@pytest.fixture(scope="module")
def decks(deck_folder):
    return asyncio.run(pages.examine(deck_folder))


@needs_chromium
@pytest.mark.parametrize("number, said", list(enumerate(BAD_SLIDES)))
def test_a_bad_slide_is_found(decks, number, said):
    report = decks[number]
    view = "deck" if said.startswith(OF_THE_DECK) else "slide 2"
    if not said:
        assert report.problems == {}
    else:
        assert any(said in sentence for sentence in report.problems), report.problems
        assert all(views == [view] for views in report.problems.values())


@needs_chromium
def test_a_slide_is_looked_at_in_both_sizes(deck_folder, tmp_path):
    """What only a wall of 1920 pixels shows is found too."""
    shutil.copytree(deck_folder, tmp_path, dirs_exist_ok=True)
    for page in tmp_path.glob("*.slides.html"):
        page.unlink()
    wide = "<style>@media (min-width: 1900px) {.late {height: 700px}}</style>"
    (tmp_path / "wide.slides.html").write_text(
        DECK.format("y", slide(wide + '<div class="late">x</div>')), "utf-8"
    )
    [report] = asyncio.run(pages.examine(tmp_path))
    assert any("the footer begins" in said for said in report.problems)


@needs_chromium
def test_a_bad_formula_in_the_notes_is_found(decks):
    [(sentence, views)] = decks[-1].problems.items()
    assert sentence.startswith("formula with an error") and views == ["deck"]


@needs_chromium
def test_a_printed_slide_keeps_its_room(deck_folder):
    async def room():
        async with browser.opened() as chromium:
            page = await chromium.new_page()
            await page.goto((deck_folder / "00.slides.html").as_uri() + "?view=print")
            await page.evaluate("window.deckIsReady")
            return await page.evaluate(
                "(({padding, display, height}) => [padding, display, height])"
                "(getComputedStyle(document.querySelector('.pdf-page section')))"
            )

    assert asyncio.run(room()) == ["36px 64px 56px", "flex", "720px"]


SIGNS = """() => [...document.querySelectorAll(".wall mjx-math")].map((line) => [
    line.querySelector(":scope > mjx-mo[space='4'], :scope > mjx-mo:first-child"), line]
    .map((e) => e && Math.round(e.getBoundingClientRect().left)))"""


@needs_chromium
@pytest.mark.parametrize("view", ["#/1", "?view=print"])
def test_a_derivation_goes_down_its_signs(deck_folder, view):
    async def signs():
        async with browser.opened() as chromium:
            page = await chromium.new_page(viewport={"width": 1920, "height": 1080})
            await page.goto((deck_folder / "lines.slides.html").as_uri() + view)
            await page.evaluate("window.deckIsReady")
            return await page.evaluate(SIGNS)

    (first, _), (second, begins), (none, _), (last, start) = asyncio.run(signs())
    assert max(first, second, last) - min(first, second, last) <= 1
    assert none is None and begins == second > start  # the longest left side begins first


ROLE_OF = {
    "Q": "query",
    "K": "key",
    "V": "value",
    "S": "scores",
    "A": "weights",
    "q_i": "query",
    "k_j": "key",
    "v_j": "value",
    "s_j": "scores",
    "a_j": "weights",
    "K_{ij}^2": "key",
    "d_k": None,
    "W_Q": None,
    "k + a": None,
}
COLOURS = """() => [...document.querySelectorAll(".wall mjx-math")].map((math) => [...new Set(
    [...math.querySelectorAll("mjx-mi mjx-c")].map((letter) => getComputedStyle(letter).color))])"""


@needs_chromium
def test_letters_have_the_colours_of_their_figures(deck_folder, tmp_path):
    async def colours():
        async with browser.opened() as chromium:
            page = await chromium.new_page()
            await page.goto((tmp_path / "roles.slides.html").as_uri() + "#/1")
            await page.evaluate("window.deckIsReady")
            return await page.evaluate(COLOURS)

    shutil.copytree(deck_folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "roles.slides.html").write_text(
        DECK.format(
            "y", slide("".join(f'<span class="math">\\({letter}\\)</span> ' for letter in ROLE_OF))
        ),
        "utf-8",
    )
    text = rgb("#1a1a1a")
    for found, (letter, role) in zip(asyncio.run(colours()), ROLE_OF.items(), strict=True):
        assert set(found) - {text} == ({rgb(plot.COLORS[role])} if role else set()), letter


def rgb(color):
    return "rgb({}, {}, {})".format(*bytes.fromhex(color[1:]))


# --- without a browser ------------------------------------------------------


def test_no_chromium_is_said_in_a_sentence(tmp_path):
    """Run where no program is on the path and Playwright has fetched none."""
    environment = {"PATH": "", "PYTHONPATH": str(ROOT), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "book.pages", str(tmp_path)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if any(Path(path).exists() for path in browser.INSTALLED):
        pytest.skip("a browser stands where its installer puts it")
    assert done.returncode == 1
    assert done.stderr == f"check: {browser.NONE_FOUND}\n"
