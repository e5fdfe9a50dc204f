"""What is moved by hand on the slides: the page's own, in a small build of those slides."""

import re
import shutil

import nbformat
import pytest
from playwright import sync_api
from served import chromium as chromium  # noqa: F401 (a fixture)
from sphinx.testing.util import SphinxTestApp

# On a slide these run again, with the `place` of this file.
from test_move_browser import (  # noqa: F401
    WORDS,
    fill,
    numbers,
    test_a_moved_query_has_the_output_of_numpy,
    test_a_painted_mask_makes_the_weights_of_numpy,
    test_a_query_is_rotated_by_key,
    test_a_rotated_query_has_the_weights_of_numpy,
    test_a_slider_moves_by_key_and_a_field_keeps_no_nonsense,
    test_chosen_words_have_the_weights_of_the_model,
    test_moved_scores_make_the_weights_of_numpy,
    test_one_pass_step_by_step_is_numpys,
    test_the_query_is_dragged,
)
from test_slides import CONF

from book import browser, pages
from book import slides as decks
from book.inpage import move
from book.notebooks import ROOT

pytestmark = pytest.mark.skipif(browser.chromium() is None, reason="no Chromium on this machine")

IN_DECKS = {kind: page for page, (_, kind) in move.PLACES.items() if kind not in move.NOT_IN_DECKS}
STATIC = [f"{ROOT}/book/static", f"{ROOT}/book/inpage/static"]
EXTENSIONS = '"book.inpage.move", "book.inpage.policy", "sphinx-mathjax-offline"'
FRAGMENT = "Reveal.getIndices().f"


def title_and_slide(page):
    """The notebook's title, and the cells of the slide on which something is moved."""
    notebook = nbformat.read(ROOT / f"{page}.ipynb", as_version=4)
    cells = notebook.cells
    stop = [cell.id for cell in cells].index(move.PLACES[page][0])
    start = max(
        place
        for place, cell in enumerate(cells[: stop + 1])
        if decks.of_cell(cell).get("slide_type") == "slide"
    )
    title = next(cell for cell in cells if cell.source.startswith("# "))
    title.source = title.source.splitlines()[0]
    notebook.cells = [title, *cells[start : stop + 1]]
    return notebook


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("moved")
    (folder / "chapters").mkdir()
    conf = CONF.replace("chapters/index", IN_DECKS["words"])
    conf = conf.replace('"book.editions"', EXTENSIONS)
    (folder / "conf.py").write_text(conf + f"html_static_path = {STATIC}\n")
    for page in IN_DECKS.values():
        nbformat.write(title_and_slide(page), folder / f"{page}.ipynb")
    app = SphinxTestApp("html", srcdir=folder)
    app.build()
    app.cleanup()
    yield app.outdir
    shutil.rmtree(folder)


@pytest.fixture
def page(chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda r: r.url.startswith("file:") or page.problems.append(r.url))
    yield page
    context.close()
    assert page.problems == []


@pytest.fixture
def slide(page, built):
    """The slide as it first stands."""

    def at(kind, query=""):
        page.goto((built / f"{IN_DECKS[kind]}.slides.html").as_uri() + query)
        page.evaluate("deckIsReady.then(() => {})")
        page.evaluate("Reveal.slide(1, 0, -1)")
        return page.locator("section.present")

    return at


@pytest.fixture
def place(page, slide):
    """What is moved, all steps of the slide shown."""

    def at(kind):
        slide(kind)
        page.evaluate("Reveal.slide(1, 0, 99)")
        return page.locator(f"[data-move={kind}]")

    return at


@pytest.mark.parametrize("kind", IN_DECKS)
def test_with_the_last_key_it_takes_the_place_of_the_figure(page, slide, kind):
    section = slide(kind)
    figure, place = section.locator("img").first, section.locator(f"[data-move={kind}]")
    for _ in range(section.locator(".fragment").count()):
        assert figure.is_visible() and not place.is_visible()
        page.keyboard.press("ArrowRight")
    assert place.is_visible() and not figure.is_visible()


@pytest.mark.parametrize("kind", IN_DECKS)
def test_it_fits_on_the_slide_in_letters_of_20_px_and_is_accessible(page, place, kind):
    panel = place(kind)
    for _ in range(3 if kind == "online" else 0):  # a row of the table each
        panel.get_by_role("button", name="Read the next score").click()
    page.wait_for_timeout(800)  # the sentence below
    page.evaluate(pages.AXE)
    page.evaluate(pages.IN_PAGE)
    for wall in pages.WALLS:
        page.set_viewport_size(wall)
        assert page.evaluate(f"bookPages.badSizes({pages.SMALLEST_TYPE})") == []
    for check in ("badWords()", "wordless()", "accessibility(Reveal.getCurrentSlide())"):
        assert page.evaluate(f"bookPages.{check}") == []


@pytest.mark.parametrize("kind", IN_DECKS)
def test_in_print_and_without_scripts_the_figure_stands_there(chromium, built, slide, kind):
    section = slide(kind, "?view=print")
    section = section.page.locator(".pdf-page section").last
    assert section.locator("img").first.is_visible()
    assert not section.locator(".inpage-move").is_visible()
    context = chromium.new_context(java_script_enabled=False)
    bare = context.new_page()
    bare.goto((built / f"{IN_DECKS[kind]}.slides.html").as_uri())
    assert bare.locator(".moved img").first.is_visible()
    assert not bare.locator(".inpage-move").is_visible()
    context.close()


def test_it_keeps_its_own_keys_and_leaves_the_deck_the_others(page, place):
    panel, shown = place("softmax"), page.evaluate(FRAGMENT)
    score = panel.get_by_label("Score of old", exact=True)
    focused = lambda: page.evaluate("document.activeElement.localName")
    score.press("ArrowRight")
    score.press("Home")
    assert score.input_value() == "-5" and page.evaluate(FRAGMENT) == shown
    assert score.evaluate("e => getComputedStyle(e).outlineWidth") == "4px"
    page.keyboard.press("Escape")
    assert focused() == "body" and not page.evaluate("Reveal.isOverview()")
    button = panel.get_by_role("button", name="Start over")
    button.press("Space")
    assert score.input_value() == "0.5" and page.evaluate(FRAGMENT) == shown
    for field in (score, button, panel.get_by_label("Score of old, as a number")):
        field.press("PageUp")  # a presenter's key
        assert page.evaluate(FRAGMENT) == shown - 1 and score.input_value() == "0.5"
        page.keyboard.press("PageDown")
        assert page.evaluate(FRAGMENT) == shown
    button.press("ArrowLeft")
    assert page.evaluate(FRAGMENT) == shown - 1


def test_after_a_pointer_the_keys_belong_to_the_deck(page, place):
    panel, shown = place("words"), page.evaluate(FRAGMENT)
    panel.get_by_role("button", name="Swap the nouns").click()
    page.keyboard.press("Space")
    assert panel.get_by_label("Into what").input_value() == "trophy"
    panel = place("turn")
    angle = panel.get_by_label("Angle in degrees", exact=True)
    angle.click()
    assert angle.input_value() != "0"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(FRAGMENT) < shown and not panel.is_visible()
    page.keyboard.press("ArrowRight")
    field = panel.get_by_label("Angle in degrees, as a number")
    field.click()
    page.keyboard.type("9")
    assert "9" in field.input_value()


SAID = [  # kind, what is moved to what, what the notes then say
    ("turn", {"Angle in degrees": 0}, "0.902"),
    ("turn", {"Angle in degrees": 90}, "0.822"),
    ("turn", {"Angle in degrees": 164}, "0.878"),
    ("turn", {"Angle in degrees": 270}, "0.893"),
    ("softmax", {"Temperature T": 0.5}, "0.931"),
    ("softmax", {"Temperature T": 10}, "0.290"),
    ("hull", {"Query, first feature": 2, "Query, second feature": -2}, "0.920"),
]


@pytest.mark.parametrize("kind, fields, said", SAID)
def test_the_notes_say_what_the_largest_weight_becomes(page, place, kind, fields, said):
    panel = place(kind)
    for name, value in fields.items():
        fill(panel, name, value)
    assert said in page.locator("section.present aside.notes").text_content()
    sync_api.expect(panel.locator("[aria-live]")).to_contain_text(said)


def test_the_notes_on_words_a_mask_and_one_pass_are_right(page, place):
    notes = lambda: page.locator("section.present aside.notes").text_content()
    panel = place("words")
    panel.get_by_label("What does not fit").select_option("guitar")
    panel.get_by_label("Into what").select_option("drawer")
    for adjective, most in (("long", "0.975"), ("narrow", "0.993")):
        panel.get_by_label("It is too").select_option(adjective)
        assert most in notes() and most in panel.locator("table").inner_text()
    panel = place("mask")
    for rule, weight in (("Causal", 0.48), ("Window, 1 back", 0.62)):
        panel.get_by_role("button", name=rule).click()
        assert str(weight) in notes() and round(numbers(panel)[2][2], 2) == weight
    panel = place("online")
    fill(panel, "Score of sleeps", 5)
    for _ in WORDS[1:]:
        panel.get_by_role("button", name="Read the next score").click()
    _, old, cat, sleeps = numbers(panel)
    said = {float(number) for number in re.findall(r"0\.\d+|1\.\d+", notes())}
    assert {old[-1], cat[-2], cat[-1], sleeps[-2]} == said
    assert cat[-2:] == [0.223, 1.358]


@pytest.mark.parametrize(
    "rule, row", [("Window, 1 back", [0, 1, 1, 0]), ("Padding after 3", [1, 1, 1, 0])]
)
def test_a_rule_paints_its_mask(place, rule, row):
    panel = place("mask")
    panel.get_by_role("button", name=rule).press("Enter")
    cells = panel.get_by_role("button", name="cat sees ")
    assert [cell.get_attribute("aria-pressed") == "true" for cell in cells.all()] == row
