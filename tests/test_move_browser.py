"""What a reader moves on the pages of the built book, and the pages on a phone, in Chromium."""

import re

import numpy as np
import pytest
from playwright import sync_api
from served import NEEDS_A_BROWSER_AND_PYTHON_FOR_IT, PAGE, PATIENCE, Exercise

import attnlib
from attncourse import language
from book import pages
from book.inpage import move, words

pytestmark = NEEDS_A_BROWSER_AND_PYTHON_FOR_IT

WORDS = ["Ada's", "old", "cat", "sleeps"]
ROW = [1.0, 0.5, 2.5, -0.1]
KEYS = np.array([[0, 1], [0.75, -1], [1, 0.5], [-0.8, 1.5]])
VECTORS = np.array([[1.8, -0.8], [-1.5, 1.2], [1.2, 1.8], [-0.6, -1.9]])
VALUES = np.array([[0, 1], [2, 2], [3, 0], [1, -1]])
TABLE_SCORES = np.array([[0, 0, 0, 0], [1, 0, 1, 0], [0.25, 0.5, 1, 0.45], ROW])
PLACE_OF = {kind: f"{page}.html" for page, (_, kind) in move.PLACES.items()}


@pytest.fixture
def place(page, address):
    def at(kind):
        page.goto(address + PLACE_OF[kind])
        return page.locator(f"[data-move={kind}]")

    return at


def numbers(place):
    """The numbers of the last table, a row for each word; a pair in brackets is flattened."""
    rows = place.locator("table").last.locator("tbody tr").all_inner_texts()
    return [
        [float(part) for part in re.findall(r"-?[\d.]+", row.replace("\u2212", "-"))]
        for row in rows
    ]


def fill(place, name, value):
    place.get_by_label(f"{name}, as a number").fill(str(value))


@pytest.mark.parametrize(
    "scores, temperature",
    [
        (ROW, 1),
        (ROW, 0.1),
        (ROW, 10),
        ([1000, 999, 1000, -1000], 1),
        ([-1000, 1000, 0, 999.9], 0.1),
        ([0, 0, 0, 0], 5),
    ],
)
def test_moved_scores_make_the_weights_of_numpy(place, scores, temperature):
    panel = place("softmax")
    for word, score in zip(WORDS, scores):
        fill(panel, f"Score of {word}", score)
    fill(panel, "Temperature T", temperature)
    expected = attnlib.softmax(np.array(scores) / temperature)
    assert np.allclose([row[-1] for row in numbers(panel)], expected, rtol=0, atol=5.01e-4)


@pytest.mark.parametrize("degrees", [0, 47, 164, 360, -90, 1000.5])
def test_a_rotated_query_has_the_weights_of_numpy(place, degrees):
    panel = place("turn")
    fill(panel, "Angle in degrees", degrees)
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    query = VECTORS[3] @ np.array([[cos, sin], [-sin, cos]])
    scores = attnlib.raw_scores(query[None], VECTORS)[0]
    expected = np.stack([scores, attnlib.softmax(scores)], axis=-1)
    assert np.allclose(numbers(panel), expected, rtol=0, atol=[5.01e-3, 5.01e-4])


def test_a_query_is_rotated_by_key(place):
    panel = place("turn")
    panel.get_by_label("Angle in degrees", exact=True).press("ArrowRight")
    assert panel.get_by_label("Angle in degrees, as a number").input_value() == "1"
    panel.get_by_role("button", name="Find cat").press("Enter")
    sync_api.expect(panel.locator("[aria-live]")).to_contain_text("to cat.")


@pytest.mark.parametrize(
    "first, second, adjective, noun",
    [
        ("guitar", "drawer", "narrow", "drawer"),
        ("guitar", "drawer", "bulky", "guitar"),
        ("suitcase", "trophy", "small", "trophy"),  # one of them is chosen on the other's place
    ],
)
def test_chosen_words_have_the_weights_of_the_model(place, first, second, adjective, noun):
    panel = place("words")
    panel.get_by_label("What does not fit").select_option(first)
    panel.get_by_label("Into what").select_option(second)
    panel.get_by_label("It is too").select_option(adjective)
    text = words.TEXT.format(first=first, second=second, adjective=adjective)
    row = language.load()(language.encode(text)).weights[2, 1, -1]
    assert np.allclose(numbers(panel)[0], row.max(), rtol=0, atol=5.01e-4)
    assert panel.locator("tbody th").first.inner_text() == noun
    sync_api.expect(panel.locator("[aria-live]")).to_contain_text(f"answers: the {noun}.")
    panel.get_by_role("button", name="Swap the nouns").click()
    assert panel.get_by_label("Into what").input_value() == first


def test_a_slider_moves_by_key_and_a_field_keeps_no_nonsense(place):
    panel = place("softmax")
    panel.get_by_label("Score of cat", exact=True).press("ArrowRight")
    assert numbers(panel)[2][0] == 2.6
    panel.get_by_role("button", name="Add 1 to all scores").press("Enter")
    assert [row[0] for row in numbers(panel)] == [2.0, 1.5, 3.6, 0.9]
    panel.get_by_label("Temperature T, as a number").fill("-3")
    panel.get_by_label("Score of old, as a number").fill("")
    panel.get_by_label("Score of old, as a number").press("Tab")
    assert panel.get_by_label("Score of old, as a number").input_value() == "1.5"
    assert numbers(panel)[2][-1] == 1.0  # the least temperature, 0.01
    panel.get_by_role("button", name="Start over").press("Enter")
    assert np.allclose(
        [row[-1] for row in numbers(panel)], attnlib.softmax(np.array(ROW)), rtol=0, atol=5.01e-4
    )


@pytest.mark.parametrize("query", [(2, 1), (-3.5, 0.7), (0, 0), (1000, -1000), (-1000, -1)])
def test_a_moved_query_has_the_output_of_numpy(place, query):
    panel = place("hull")
    for name, part in zip(("first", "second"), query):
        fill(panel, f"Query, {name} feature", part)
    query = np.array([query], dtype=float)
    *rows, output = numbers(panel)
    assert np.allclose([row[0] for row in rows], KEYS @ query[0], rtol=0, atol=5.01e-3)
    assert np.allclose(
        [row[1] for row in rows], attnlib.softmax(query @ KEYS.T)[0], rtol=0, atol=5.01e-4
    )
    assert np.allclose(
        output,
        attnlib.attention(query, KEYS, VALUES.astype(float), scale=1.0)[0],
        rtol=0,
        atol=5.01e-4,
    )


def test_the_query_is_dragged(place):
    panel = place("hull")
    plane = panel.locator(".inpage-plane")
    plane.scroll_into_view_if_needed()
    box, mouse = plane.bounding_box(), panel.page.mouse
    x, y, one = (
        box["x"] + box["width"] / 2,
        box["y"] + box["width"] / 2,
        box["width"] / 280 * 130 / 2.5,
    )
    mouse.move(x + 2 * one, y - one)
    mouse.down()
    mouse.move(x - 2 * one, y - 1.5 * one)
    mouse.up()
    mouse.move(x, y)
    assert [
        panel.get_by_label(f"Query, {name} feature", exact=True).input_value()
        for name in ("first", "second")
    ] == ["-2", "1.5"]


def expected_weights(mask):
    return attnlib.softmax(attnlib.mask_scores(TABLE_SCORES, np.array(mask, dtype=bool)))


def test_a_painted_mask_makes_the_weights_of_numpy(place):
    panel, mask = place("mask"), np.tril(np.ones((4, 4)))
    cell = lambda i, j: panel.get_by_role("button", name=f"{WORDS[i]} sees {WORDS[j]}: ")
    agree = lambda: np.allclose(numbers(panel), expected_weights(mask), rtol=0, atol=5.01e-4)
    assert agree()
    cell(3, 2).click()
    cell(0, 0).press("Space")
    mask[3, 2] = mask[0, 0] = 0
    assert agree() and cell(0, 0).get_attribute("aria-pressed") == "false"
    assert numbers(panel)[0] == [0, 0, 0, 0]
    panel.get_by_text("Ada's may see no key").wait_for()
    cell(0, 1).hover()
    panel.page.mouse.down()
    for j in (2, 3):
        cell(0, j).hover()
    panel.page.mouse.up()
    mask[0, 1:] = 1
    assert agree()
    for name, value in (("None seen", 0), ("All seen", 1)):
        panel.get_by_role("button", name=name).press("Enter")
        mask[:] = value
        assert agree()


@pytest.mark.parametrize("scores", [ROW, [-1000, 1000, 999, 1000], [3, 2, 1, 0], [0, 1, 2, 3]])
def test_one_pass_step_by_step_is_numpys(place, scores):
    panel = place("online")
    for word, score in zip(WORDS, scores):
        fill(panel, f"Score of {word}", score)
    for _ in range(5):  # one more than there are
        panel.get_by_role("button", name="Read the next score").press("Enter")
    scores = np.array(scores, dtype=float)
    most = np.maximum.accumulate(scores)
    sums = np.exp(np.logaddexp.accumulate(scores) - most)
    factors = np.exp(np.concatenate([[-np.inf], most[:-1]]) - most)
    assert np.allclose(
        numbers(panel), np.stack([scores, most, factors, sums], axis=1), rtol=0, atol=5.01e-4
    )
    panel.get_by_role("button", name="Take one back").press("Enter")
    assert len(numbers(panel)) == 3


def test_a_finger_moves_the_query_and_paints_but_scrolls_beside_them(chromium, address):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    fingers = context.new_cdp_session(page)

    def drag(start, stop, steps=8):
        places = [
            tuple(a + (b - a) * step / steps for a, b in zip(start, stop))
            for step in range(steps + 1)
        ]
        for kind, where in zip(["touchStart"] + ["touchMove"] * steps, places):
            fingers.send(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [dict(zip("xy", where))]}
            )
        page.wait_for_timeout(200)  # lifted in mid-flight, the page would go on
        fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    middle = lambda box: (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def still():
        """How far down the page is, once it has stopped."""
        return page.evaluate("""async () => {
            for (let last = NaN; last !== scrollY; await new Promise((done) => setTimeout(done, 200))) last = scrollY;
            return scrollY;
        }""")  # noqa: E501

    def show(place):
        place.evaluate("place => place.scrollIntoView({ block: 'center', behavior: 'instant' })")
        return still()

    page.goto(address + PLACE_OF["hull"])
    query = lambda: [
        page.get_by_label(f"Query, {name} feature", exact=True).input_value()
        for name in ("first", "second")
    ]
    plane = page.locator(".inpage-plane")
    down = show(plane)
    x, y = middle(plane.bounding_box())
    drag((x - 80, y), (x - 80, y + 100))
    assert query() == ["2", "1"] and still() < down - 50
    down = show(plane)
    for part, stop in (
        (2, "-1"),
        (-2, "1"),
    ):  # Chromium lets a shape that has moved be dragged only once, if at all
        start = middle(page.locator(".inpage-handle").bounding_box())
        drag(start, (start[0], start[1] + part * 52 * plane.bounding_box()["width"] / 280))
        assert query() == ["2", stop] and still() == down

    page.goto(address + PLACE_OF["mask"])
    cell = lambda j: page.get_by_role("button", name=f"Ada's sees {WORDS[j]}: ")
    seen = lambda: [cell(j).get_attribute("aria-pressed") for j in range(4)]
    show(cell(1))
    cell(0).tap()
    assert seen() == ["false"] * 4
    drag(middle(cell(1).bounding_box()), middle(cell(2).bounding_box()))
    assert seen() == ["false", "true", "true", "false"]
    context.close()


@pytest.mark.parametrize("kind", PLACE_OF)
@pytest.mark.parametrize("width", [320, 195])  # a small phone; one at 200 %
def test_what_is_moved_keeps_to_a_narrow_page(page, place, kind, width):
    page.set_viewport_size({"width": width, "height": 422})
    panel = place(kind)
    assert panel.bounding_box()["width"] < width
    for slider in panel.locator("input").all():
        box = slider.bounding_box()
        assert 0 < box["x"] and box["x"] + box["width"] < width
    page.evaluate("window.scrollTo({ left: 500, behavior: 'instant' })")
    wide = page.locator(".inpage-move table").evaluate_all("""tables => tables.filter((table) => {
        const room = table.closest(".inpage-move");
        return table.getBoundingClientRect().right > room.getBoundingClientRect().right
            && getComputedStyle(room).overflowX !== "auto";
    }).length""")
    assert wide == 0


def test_a_slider_is_named_once(place):
    said = place("softmax").aria_snapshot()
    assert said.count("Score of cat") == 2  # the slider and its field


@pytest.mark.parametrize("kind", PLACE_OF)
@pytest.mark.parametrize("look", [("light", 1280), ("dark", 390)])
def test_what_is_moved_is_accessible(page, place, kind, look):
    page.emulate_media(color_scheme=look[0])
    page.set_viewport_size({"width": look[1], "height": 844})
    panel = place(kind)
    panel.scroll_into_view_if_needed()
    page.evaluate(pages.AXE)
    page.evaluate(pages.IN_PAGE)
    assert page.evaluate("bookPages.accessibility()") == []
    assert page.evaluate("bookPages.sideways()") == []
    assert "/python-" not in "".join(page.asked)


def test_without_scripts_nothing_to_move_is_shown(chromium, address):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    for kind, where in PLACE_OF.items():
        page.goto(address + where)
        place = page.locator(f"[data-move={kind}]")
        assert place.count() == 1 and not place.is_visible()
        assert page.locator(f"[data-move={kind}]").evaluate(
            "place => place.previousElementSibling.querySelector('img') !== null"
        )
    context.close()


# --- the page around them, on a phone ---


@pytest.fixture
def phone(chromium, address):
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(address + PAGE)
    yield page
    context.close()


def test_a_link_of_the_contents_leads_below_them(phone):
    phone.locator("button.secondary-toggle:visible").tap()
    phone.locator("dialog[open] a[href='#from-scores-to-shares']").tap()
    phone.wait_for_timeout(1000)
    assert phone.locator("dialog[open]").count() == 0
    assert 0 <= phone.locator("#from-scores-to-shares").bounding_box()["y"] < 200
    phone.locator("button.secondary-toggle:visible").tap()  # they can be opened again
    phone.locator("dialog[open] a[href='#from-scores-to-shares']").wait_for()


@pytest.mark.parametrize(
    "opener", ["primary-toggle", "secondary-toggle", "search-button", "theme-switch-button"]
)
def test_who_presses_by_key_goes_on_there(phone, opener):
    phone.locator(f"button.{opener}:visible").press("Enter")
    phone.wait_for_timeout(500)
    phone.keyboard.press("Escape")
    phone.wait_for_timeout(500)
    assert opener in phone.evaluate("document.activeElement.className")


def test_nothing_lies_on_what_is_typed(phone):
    phone.set_viewport_size({"width": 390, "height": 420})
    Exercise(phone, "softmax").box.tap()
    phone.wait_for_timeout(500)
    top = phone.locator("#pst-back-to-top")
    for _ in range(2):  # upwards the theme shows it
        phone.evaluate("scrollBy({ top: -30, behavior: 'instant' })")
        phone.wait_for_timeout(300)
    assert not top.is_visible()
    phone.evaluate("document.activeElement.blur(); scrollBy({ top: -30, behavior: 'instant' })")
    top.wait_for()
