"""Exercises run in the pages of the built book, in Chromium, with no other host to be reached."""

import ast
import http.server
import importlib.util
import inspect
import json
import random
import re
import sys
import textwrap
import threading
import time

import nbformat
import pytest
from served import (
    LOOK,
    NEEDS_A_BROWSER_AND_PYTHON_FOR_IT,
    PAGE,
    PATIENCE,
    PLAIN,
    RIGHT,
    Exercise,
    Handler,
    answer,
    assert_quiet,
    new_page,
)

from attncourse.exercises.engine.find import exercises
from attncourse.exercises.engine.prove import load_answers
from book import notebooks, pages

pytestmark = NEEDS_A_BROWSER_AND_PYTHON_FOR_IT


@pytest.fixture
def softmax(page, address):
    page.goto(address + PAGE)
    return Exercise(page, "softmax")


@pytest.fixture(scope="module")
def open_page(chromium, address):
    page = new_page(chromium)
    page.goto(address + PAGE)
    yield page
    page.context.close()


@pytest.fixture
def ready(open_page):
    """Like softmax, for tests that only check and run: on a page whose Python the first of them
    has started, which takes seven seconds.
    """
    open_page.emulate_media(color_scheme="light")
    open_page.set_viewport_size(LOOK)
    yield Exercise(open_page, "softmax")
    assert_quiet(open_page)


# A busy machine may need more than the page's 30 seconds, so these last ten times as long here.
ASK = """async (questions) => {
  const results = [], timer = window.setTimeout;
  window.setTimeout = (then, ms) => timer(then, 10 * ms);
  for (const question of questions) {
    const began = performance.now();
    const { status, mistakes, message, heap } = await inPage.ask({ kind: "check", ...question }, () => {});
    results.push({ status, mistakes, message, heap, ms: performance.now() - began });
  }
  window.setTimeout = timer;
  return results;
}"""  # noqa: E501


# --- an exercise ---


def test_nothing_is_loaded_before_the_first_check(softmax):
    softmax.page.wait_for_timeout(1000)
    assert softmax.page.asked and not any("/python-" in url for url in softmax.page.asked)


def test_a_right_answer_is_kept_and_done_after_a_reload(softmax):
    assert softmax.check(RIGHT).startswith("softmax: correct.")
    softmax.page.reload()
    assert softmax.box.input_value() == RIGHT
    assert softmax.panel.locator(".inpage-done").text_content() == "Done"
    assert (
        "1 of 6 exercises of this chapter" in softmax.page.locator(".inpage-tally").text_content()
    )
    softmax.press("Start over")
    assert softmax.box.input_value().endswith("...")
    softmax.press("Bring it back")
    assert softmax.box.input_value() == RIGHT


def test_wrong_answers_are_named_and_a_syntax_error_shows_its_line(ready):
    assert "no maximum subtracted" in ready.check(PLAIN)
    assert "softmax over the first axis" in ready.check(RIGHT.replace("axis=axis", "axis=0"))
    assert "keepdims" in ready.check(RIGHT.replace(", keepdims=True", ""))
    assert "Line 2 is not Python." in ready.check(answer("return np.exp(scores"))
    assert "line 2: return scores.maximum()" in ready.check(answer("return scores.maximum()"))
    assert "line 3: return json.loads('{')" in ready.check(
        answer("import json\nreturn json.loads('{')")
    )
    assert "softmax, hint 1 of 4:" in (ready.press("Hint"), ready.said())[1]


def test_a_loop_in_python_ends_by_itself(ready):
    assert (
        "endless loop" in ready.check(answer("while True:\n    pass")) or "seconds" in ready.said()
    )
    assert ready.check(RIGHT).startswith("softmax: correct.")


ENDLESS = answer("import re\nreturn re.match('(a+)+b', 'a' * 60)")


def test_what_python_cannot_end_the_reader_stops(ready):
    ready.check(RIGHT)
    ready.type(ENDLESS)
    ready.press("Check")
    ready.done_with("Running.")
    ready.press("Stop")
    ready.done_with("Stopped.")
    assert ready.check(RIGHT).startswith("softmax: correct.")


def test_what_nobody_stops_ends_after_30_seconds(softmax):
    softmax.check(RIGHT)
    softmax.page.clock.install()
    softmax.type(ENDLESS)
    softmax.press("Check")
    softmax.done_with("Running.")
    softmax.page.clock.fast_forward(31_000)
    softmax.done_with("Stopped after 30 seconds.")


def test_memory_that_is_eaten_up_is_an_error_and_the_next_check_works(ready):
    eater = {
        "name": "softmax",
        "source": answer("x = [0]\nwhile True:\n    x = x + x"),
        "texts": [],
    }
    found = ready.page.evaluate(ASK, [eater])[0]
    assert "MemoryError" in found["message"] and found["heap"] <= 2**30
    assert "MemoryError" in ready.check(answer("return np.ones((15_000, 15_000))"))
    assert ready.check(RIGHT).startswith("softmax: correct.")


@pytest.mark.parametrize(
    "file", ["numpy-", "pyodide.asm.wasm", "worker.mjs", "attnlib-", "python_stdlib"]
)
def test_a_missing_file_is_said(softmax, monkeypatch, file):
    monkeypatch.setattr(Handler, "missing", (file,))
    softmax.type(RIGHT)
    softmax.press("Check")
    softmax.done_with("Python could not be loaded")
    assert file in softmax.line()
    monkeypatch.setattr(Handler, "missing", ())
    assert softmax.check(RIGHT).startswith("softmax: correct.")


def test_two_exercises_take_turns(ready):
    row = Exercise(ready.page, "softmax_row")
    row.type(answer("return scores", "softmax_row", "scores"))
    ready.type(RIGHT)
    ready.press("Check")
    row.press("Check")
    assert "softmax_row: not yet." in row.said() and "softmax: correct." in ready.said()
    ready.type(ENDLESS)
    ready.press("Check")
    row.press("Check")
    row.done_with("Waiting")
    row.press("Stop")
    row.done_with("Stopped.")  # at once, not when its turn comes
    ready.done_with("Running.")
    row.press("Check")
    ready.press("Stop")
    assert "softmax_row: not yet." in row.said()


@pytest.mark.parametrize("has_editor", [True, False])
def test_the_keyboard_alone(softmax, monkeypatch, has_editor):
    monkeypatch.setattr(Handler, "missing", () if has_editor else ("editor.mjs",))
    page = softmax.page
    softmax.box.focus()
    page.wait_for_timeout(800)
    assert page.locator(".cm-editor").count() == has_editor
    page.keyboard.press("Control+a")
    page.keyboard.type(
        "def softmax(scores, axis=-1):\ne = np.exp(scores)\nreturn e / e.sum(axis=axis,"
        " keepdims=True)"
    )
    assert "    e = np.exp" in page.evaluate("JSON.stringify(inPage.read().typed.softmax)")
    assert "return e / e.sum" in page.evaluate(
        "inPage.read().typed.softmax"
    )  # the slash came through
    page.keyboard.press("Control+Enter")
    assert "no maximum subtracted" in softmax.said()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Check"


def test_who_stops_by_key_goes_on_there(softmax):
    page = softmax.page
    here = lambda: page.evaluate("document.activeElement.textContent")
    softmax.type(ENDLESS)
    softmax.press("Check")
    softmax.panel.get_by_role("button", name="Stop").press("Enter")
    softmax.done_with("Stopped.")
    assert here() == "Check"
    cell = page.get_by_role("group", name="Code cell").first
    cell.get_by_role("button", name="Run").press("Enter")
    cell.get_by_role("button", name="Stop").press("Enter")
    cell.get_by_text("Stopped.").wait_for()
    assert here() == "Run"


def test_a_hint_is_read_aloud_alone_and_each_cell_by_its_own_name(softmax):
    softmax.page.get_by_text("The first check loads Python").first.wait_for()
    softmax.press("Hint")
    assert (
        softmax.panel.get_by_role("status").inner_text().strip().startswith("softmax, hint 1 of 4:")
    )
    cells = softmax.page.locator("[aria-label^='Code cell']")
    names = cells.evaluate_all("cells => cells.map((cell) => cell.getAttribute('aria-label'))")
    assert len(names) > 10 and len(set(names)) == len(names)
    signs = [
        line
        for line in softmax.page.locator("article").aria_snapshot().splitlines()
        if "Predict, then open" in line and any("\ue000" <= letter <= "\uf8ff" for letter in line)
    ]
    assert signs == []


def test_how_far_python_is_loaded_does_not_contradict_what_was_announced(softmax):
    page = softmax.page
    page.evaluate("""() => {
        window.seen = new Set();
        const look = () => document.querySelectorAll(".inpage-line").forEach((line) => seen.add(line.textContent));
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    }""")  # noqa: E501
    softmax.check(RIGHT)
    seen = page.evaluate("[...seen]")
    assert "100 %" in seen and not any(" of " in text and "MB" in text for text in seen)


@pytest.mark.parametrize("look", [("light", 1280), ("dark", 1280), ("dark", 390)])
def test_an_open_editor_and_its_message_are_accessible(ready, look):
    page, (scheme, width) = ready.page, look
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    ready.press("Hint")
    ready.check(PLAIN + "  # why?\n# a comment, a string: \"x\", None")
    page.evaluate(pages.AXE)
    page.evaluate(pages.IN_PAGE)
    assert page.evaluate("bookPages.accessibility()") == []
    assert page.evaluate("bookPages.sideways()") == []


def test_other_cells_run_in_order_and_can_be_edited(ready):
    page = ready.page
    panel = page.locator(".cell", has_text='print("ratio of the weights').get_by_role(
        "group", name="Code cell"
    )
    panel.get_by_role("button", name="Run").click()
    panel.locator("pre").wait_for()
    assert "ratio of the weights" in panel.locator("pre").text_content()
    panel.get_by_role("button", name="Edit").click()
    page.wait_for_timeout(500)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("total.round(3) * 2")
    page.keyboard.press("Control+Enter")
    panel.locator("pre", has_text="34.908").wait_for()
    text = panel.locator("xpath=..").get_by_role("textbox", name="Code cell")
    panel.get_by_role("button", name="Start over").click()
    assert "ratio" in text.inner_text()
    panel.get_by_role("button", name="Bring it back").click()
    assert text.inner_text() == "total.round(3) * 2"


def test_what_rests_on_torch_offers_no_run_and_the_rest_prints_what_the_book_prints(page, address):
    """All of these cells: no chapter else takes so little time."""
    page.goto(address + "chapters/17_decoding.html")
    cells = page.locator(".bd-article .cell")
    offers = [
        cell
        for cell in cells.all()
        if cell.get_by_role("button", name="Run", include_hidden=True).count()
    ]
    assert len(offers) > 15 and not any("tl.load" in cell.text_content() for cell in offers)
    texts = "places => places.map((place) => place.textContent).join('')"
    for cell in offers:
        cell.get_by_role("button", name="Run", include_hidden=True).dispatch_event("click")
        cell.locator(".inpage-output:not([hidden])").wait_for(state="attached")
        printed = cell.locator(".inpage-output").text_content().strip()
        assert printed == (
            cell.locator(".cell_output pre").evaluate_all(texts).strip() or "It prints nothing."
        )


# --- progress ---


def test_progress_goes_into_a_file_and_comes_back(softmax, chromium, address, tmp_path):
    page = softmax.page
    softmax.check(RIGHT)
    page.goto(address + "chapters/index.html")
    assert "1 of" in page.locator("#your-progress > p").first.text_content()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    download.value.save_as(tmp_path / "progress.json")
    other = chromium.new_context().new_page()
    other.goto(address + "chapters/index.html")
    other.locator("#your-progress input").set_input_files(tmp_path / "progress.json")
    other.locator("#your-progress li", has_text="softmax: 1 of 6").wait_for()
    other.get_by_text("Read from progress.json: 1 text and 1 exercise marked as done.").wait_for()
    (tmp_path / "other.json").write_text('{"done": {"softmax": 1}}')
    other.locator("#your-progress input").set_input_files(tmp_path / "other.json")
    other.locator("#your-progress", has_text="holds no progress").wait_for()
    other.goto(address + PAGE)
    assert Exercise(other, "softmax").box.input_value() == RIGHT
    Exercise(other, "softmax").type(PLAIN)
    for response, text in (("dismiss", PLAIN), ("accept", RIGHT)):
        other.goto(address + "chapters/index.html")
        other.once(
            "dialog", lambda dialog: (asked.append(dialog.message), getattr(dialog, response)())
        )
        asked = []
        other.locator("#your-progress input").set_input_files(tmp_path / "progress.json")
        other.locator(
            "#your-progress",
            has_text={
                "dismiss": (
                    "Read from progress.json: 0 texts and 0 exercises marked as done. "
                    "Not read, as you chose: 1 text."
                ),
                "accept": "Read from progress.json: 1 text and 0 exercises marked as done.",
            }[response],
        ).wait_for()
        assert "another text for 1 of the answers" in asked[0]
        other.goto(address + PAGE)
        assert Exercise(other, "softmax").box.input_value() == text
    other.context.close()


FROM_A_FILE = "This text was read from a file. It runs only when you press"


def test_what_comes_from_a_file_is_not_run_unasked(page, address, tmp_path):
    page.add_init_script("""window.sent = [];
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (question) {
            sent.push(JSON.stringify(question));
            post.call(this, question);
        };""")
    page.goto(address + PAGE)
    cell = page.locator(".cell", has_text='print("ratio of the weights')
    listing = cell.locator(".cell_input pre").text_content().rstrip("\n")
    theirs = {
        "softmax_row": "theirs = 1\ndef softmax_row(scores):\n    return scores",
        f"chapters/03_softmax {listing}": "theirs = 2",
    }
    (tmp_path / "theirs.json").write_text(json.dumps({"done": {}, "typed": theirs}))
    page.goto(address + "chapters/index.html")
    page.locator("#your-progress input").set_input_files(tmp_path / "theirs.json")
    page.get_by_text("Read from theirs.json: 2 texts and 0 exercises").wait_for()
    page.goto(address + PAGE)
    row, softmax = Exercise(page, "softmax_row"), Exercise(page, "softmax")
    assert row.box.input_value() == theirs["softmax_row"]
    marks = page.get_by_text(FROM_A_FILE)
    assert marks.all_inner_texts() == [
        f"{FROM_A_FILE} {button} here." for button in ("Run", "Check")
    ]
    softmax.check(RIGHT)
    page.locator("[aria-label^='Code cell'] >> text=Run").last.click()
    page.wait_for_function("sent.length === 2")
    assert "theirs" not in "".join(page.evaluate("sent"))
    assert "softmax_row: not yet." in row.said() if row.press("Check") else row.said()
    assert "theirs = 1" in page.evaluate("sent.at(-1)") and "theirs = 2" not in page.evaluate(
        "sent.at(-1)"
    )
    assert marks.all_inner_texts() == [f"{FROM_A_FILE} Run here."]
    page.reload()
    assert marks.all_inner_texts() == [f"{FROM_A_FILE} Run here."]


# --- a model made of answers ---

MODEL_PAGE = "chapters/21_a_model_made_of_your_answers.html"
WEIGHTED = answer("return weights @ value", "av_product", "weights, value")
WATCHED = """window.sent = [];
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (question) {
        sent.push(JSON.stringify(question));
        post.call(this, question);
    };"""


def keep(page, address, typed, from_file=()):
    """Answers as if they had been typed in other chapters, or read from a file."""
    page.goto(address + "chapters/index.html")
    kept = {"typed": typed, "done": {}, "fromFile": dict.fromkeys(from_file, "2026-01-01")}
    page.evaluate(
        "kept => localStorage.setItem(`answers in ${new URL(document.documentElement.dataset"
        ".content_root, location.href).pathname}`, JSON.stringify(kept))",
        kept,
    )


def test_a_model_is_made_of_the_answers_that_the_browser_keeps(page, address):
    page.add_init_script(WATCHED)
    typed = {"softmax": PLAIN, "av_product": WEIGHTED, "raw_scores": "theirs = 1"}
    keep(page, address, typed, ["raw_scores"])
    page.goto(address + MODEL_PAGE)
    cell = page.locator(".bd-article .cell", has_text="answers.report(model)").first
    cell.get_by_role("button", name="Run", exact=True).click()
    said = cell.locator(".inpage-output:not([hidden])")
    said.wait_for()
    assert said.text_content().startswith("2 of 16 steps are yours.")
    assert "theirs" not in "".join(page.evaluate("sent"))


def test_the_box_asks_the_model_and_lets_it_write(page, address):
    undivided = answer("return np.exp(scores - scores.max(axis=axis, keepdims=True))")
    keep(page, address, {"softmax": undivided, "av_product": WEIGHTED, "rotary": "x"}, ["rotary"])
    page.goto(address + MODEL_PAGE)
    panel = page.locator("[data-move=model]")
    panel.get_by_text(
        "This browser keeps your answers to 2 of the 16 steps. Not counted: 1"
    ).wait_for()
    said = panel.locator(".inpage-said")
    panel.get_by_role("button", name="Ask it").click()
    panel.get_by_text("1 of 16 steps are yours").wait_for()
    assert said.text_content() == "What is too big? The trophy."
    assert panel.locator("tbody td").first.text_content() == "0.989"
    panel.get_by_label("It is too").select_option("small")
    assert said.text_content() == ""
    panel.get_by_role("button", name="Ask it").click()
    panel.get_by_text("What is too small? The suitcase.").wait_for()
    panel.get_by_role("button", name="Let it write").click()
    panel.get_by_text("The window above the bridge is green.").wait_for()
    panel.get_by_label("even if they give other numbers").check()
    panel.get_by_role("button", name="Ask it").click()
    panel.get_by_text("2 of 16 steps are yours").wait_for()
    assert "suitcase" not in said.text_content()
    panel.locator("summary").click()
    panel.get_by_role("row", name="softmax yours: it gives other numbers").wait_for()


# --- what cannot be kept ---

FILL = """() => {
    for (let text = "x".repeat(1 << 22), n = 0; text; n += 1)
        try { localStorage.setItem(`filled ${n}`, text); } catch { text = text.slice(1 + text.length / 2); }
}"""  # noqa: E501
NO_STORAGE = """Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("switched off", "SecurityError"); } });"""


def under(exercise):
    """The line under the box, if it says something."""
    line = exercise.panel.locator("xpath=preceding-sibling::*[1][@role='status']")
    return line.filter(has_text=re.compile("."))


def test_a_full_storage_is_said_under_the_box(softmax):
    page = softmax.page
    softmax.type(PLAIN)
    assert under(softmax).count() == 0
    page.evaluate(FILL)
    softmax.type(RIGHT)
    assert under(softmax).all_inner_texts() == [
        "Not kept, because this browser's storage is full: copy this text before you leave the"
        " page. An earlier text of yours is kept."
    ]
    row = Exercise(page, "softmax_row")
    row.type("typed " * 5)
    assert under(row).inner_text().endswith("No earlier text of yours is kept.")
    assert page.evaluate("inPage.read().typed.softmax") == RIGHT  # as long as the page is open
    page.evaluate(
        "Object.keys(localStorage).filter((key) => key.startsWith('filled')).forEach("
        "(key) => localStorage.removeItem(key))"
    )
    softmax.type(RIGHT + "\n")
    assert under(softmax).count() == 0
    page.reload()
    assert (softmax.box.input_value(), row.box.input_value()) == (RIGHT + "\n", "typed " * 5)


def test_a_storage_that_is_off_is_said_under_the_box(page, address, tmp_path):
    stacks = []
    page.on("pageerror", lambda error: stacks.append(error.stack))
    page.add_init_script(NO_STORAGE)
    page.goto(address + PAGE)
    softmax = Exercise(page, "softmax")
    assert under(softmax).count() == 0
    softmax.type(RIGHT)
    assert (
        under(softmax)
        .inner_text()
        .startswith("Not kept, because this browser's storage is switched off: copy")
    )
    (tmp_path / "progress.json").write_text(
        json.dumps({"done": {"softmax": "2026-01-01"}, "typed": {"softmax": PLAIN}})
    )
    page.goto(address + "chapters/index.html")
    page.locator("#your-progress input").set_input_files(tmp_path / "progress.json")
    page.get_by_text(
        "Nothing was read from progress.json, because this browser's storage is switched off."
    ).wait_for()
    assert page.locator("#your-progress > p").first.text_content().startswith("0 of")
    assert not any("/inpage/" in stack or "book.js" in stack for stack in stacks)
    page.errors.clear()  # the theme's own scripts stop, and ours go on


def test_a_page_that_is_open_twice_says_which_text_is_kept(softmax):
    first, other = softmax.page, softmax.page.context.new_page()
    other.goto(first.url)
    second = Exercise(other, "softmax")
    softmax.type(PLAIN)
    line = (
        "Another tab has changed this text: what stands there is kept, and this is not. Type here"
        " to keep this instead."
    )
    under(second).get_by_text(line).wait_for()
    assert under(softmax).count() == 0
    second.type(RIGHT)
    under(softmax).get_by_text(line).wait_for()
    assert under(second).count() == 0
    first.reload()
    assert softmax.box.input_value() == RIGHT and under(softmax).count() == 0


@pytest.mark.parametrize(
    "entry",
    [
        "{",
        "null",
        "7",
        '"text"',
        "[1]",
        '{"typed": null, "done": null}',
        '{"typed": 3, "done": [], "fromFile": "x"}',
        '{"typed": {"softmax_row": "mine", "softmax": 5}, "done": {"softmax": {}}}',
    ],
)
def test_a_damaged_entry_leaves_the_editors(softmax, entry):
    page = softmax.page
    page.evaluate(
        """(entry) => {
        inPage.keep("softmax", "x", "y");
        for (const key of Object.keys(localStorage)) localStorage.setItem(key, entry);
        localStorage.setItem(`place in ${root.pathname}`, entry);
    }""",
        entry,
    )
    page.reload()
    assert (
        softmax.box.input_value().endswith("...")
        and "0 of 6" in page.locator(".inpage-tally").text_content()
    )
    assert Exercise(page, "softmax_row").box.input_value() == "mine" or "mine" not in entry
    softmax.type(RIGHT)
    page.reload()
    assert softmax.box.input_value() == RIGHT
    page.goto(page.url.replace("03_softmax", "index"))
    assert page.locator("#your-progress li").count() > 10


# --- the policy ---


@pytest.fixture
def elsewhere():
    """Another host, and what it was asked for."""
    asked = []

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Type", "text/javascript")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_address[1]}/", asked
    server.shutdown()


LEAVE = """
import contextlib, io, js, pyodide, pyodide.code, pyodide.http, urllib.request, socket
url, got = {url!r}, []
for name in {names}:
    holder = js.self
    while holder:
        if name in dir(holder) or hasattr(holder, name) or hasattr(js, name):
            got.append(name)
        holder = js.Object.getPrototypeOf(holder)
for name in ("sendBeacon", "serviceWorker", "storage", "storageBuckets", "locks"):
    if hasattr(js.navigator, name):
        got.append(name)
script = f"import({{url!r}})"
for way in (lambda: js.eval(script), lambda: pyodide.code.run_js(script), lambda: js.Function.new(script)(),
            lambda: js.setTimeout(script, 0), lambda: js.XMLHttpRequest.new().open("GET", url),
            lambda: js.fetch(url), lambda: pyodide.http.open_url(url), lambda: pyodide.http.pyxhr.get(url),
            lambda: urllib.request.urlopen(url, timeout=3), lambda: js.WebSocket.new(url.replace("http", "ws")),
            lambda: pyodide.http.pyfetch(url).send(None), lambda: js.importScripts(url),
            lambda: js.Worker.new(url), lambda: js.EventSource.new(url), lambda: js.navigator.sendBeacon(url),
            lambda: socket.create_connection(("localhost", int(url.split(":")[2].strip("/"))), 3).send(b"GET /x HTTP/1.0")):
    with contextlib.suppress(Exception):
        way()
        if "setTimeout" not in way.__code__.co_names:  # a text that it would run later
            got.append(way.__code__.co_names)
print(got)
"""  # noqa: E501
NETWORK = (
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "WebTransport",
    "EventSource",
    "importScripts",
    "Worker",
    "SharedWorker",
    "BroadcastChannel",
    "caches",
    "indexedDB",
    "FontFace",
    "fonts",
    "cookieStore",
)


def test_python_reaches_no_other_host(ready, elsewhere):
    url, asked = elsewhere
    (found,) = ready.page.evaluate(
        """async (text) => [await inPage.ask({ kind: "run", texts: [text] }, () => {})]""",
        LEAVE.format(url=url, names=NETWORK),
    )
    ready.page.wait_for_timeout(500)
    assert found["message"].strip() == "[]" and asked == []


BLOB = """([script]) => new Promise((done) => {
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })), { type: "module" });
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = () => done("error");
})"""  # noqa: E501


@pytest.mark.parametrize("way", ["fetch(URL)", "import(URL)", "eval('1')"])
def test_a_worker_of_the_page_has_its_policy(softmax, folder, address, elsewhere, way):
    """Whatever Python finds left in its worker, the browser itself lets nothing out."""
    url, asked = elsewhere
    script = f"""const URL = {url!r};
        const go = async () => {way};
        go().then(() => postMessage("out"), () => postMessage("stopped"));"""
    assert softmax.page.evaluate(BLOB, [script]) == "stopped" and asked == []
    bare = folder / "a/path/without_policy.html"
    bare.write_text("<!DOCTYPE html><title>x</title>")
    softmax.page.goto(address + bare.name)
    bare.unlink()
    assert softmax.page.evaluate(BLOB, [script]) == "out" and bool(asked) == ("URL" in way)
    softmax.page.asked.clear()


def test_after_an_answer_that_changed_the_library_a_right_one_is_right(ready):
    for change in (
        "np.exp = np.cos",
        "import builtins\nbuiltins.max = min",
        "np.set_printoptions(precision=1)",
    ):
        ready.check(f"import numpy as np\n{change}\n{RIGHT}")
        assert ready.check(RIGHT).startswith("softmax: correct.")
    assert ready.check(answer("np.exp = np.cos\nreturn np.exp(scores)")).startswith(
        "softmax: not yet."
    )
    assert ready.check(RIGHT).startswith("softmax: correct.")


def test_a_script_in_an_output_is_inert(page, folder, address):
    bad = (
        "<script>document.title = 'ran'</script><img src='x' onerror=\"document.title = 'ran'\">"
        "<p class='math'>\\(\\href{javascript:document.title='ran'}{x}\\)</p>"
    )
    text = (folder / "a/path" / PAGE).read_text(encoding="utf-8").replace("</h1>", "</h1>" + bad, 1)
    (folder / "a/path/chapters/with.html").write_text(text, encoding="utf-8")
    without = re.sub(r'<meta http-equiv="Content-Security[^>]*>', "", text)
    (folder / "a/path/chapters/without.html").write_text(without, encoding="utf-8")
    titles = []
    for name in ("with", "without"):
        page.goto(f"{address}chapters/{name}.html")
        page.evaluate("window.MathJax.startup.promise")
        page.wait_for_timeout(500)
        titles.append(page.title())
        assert page.locator("a[href^='javascript']").count() == 0
        (folder / f"a/path/chapters/{name}.html").unlink()
    assert titles[0] != "ran" and titles[1] == "ran"


def test_every_page_has_a_policy(folder):
    found = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    assert len(found) > 20
    assert [
        p.name
        for p in found
        if "Content-Security-Policy" not in (text := p.read_text(encoding="utf-8"))
        and 'http-equiv="Refresh"' not in text
    ] == []


def test_without_scripts_the_listings_stay(chromium, address):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(address + PAGE)
    assert page.get_by_text("Weights that sum to 1 along the axis.").is_visible()
    assert page.locator("textarea").count() == 0
    page.context.close()


# --- the same verdicts as in CPython ---


@pytest.fixture(scope="module")
def session():
    path = notebooks.ROOT / "book" / "inpage" / "worker" / "session.py"
    spec = importlib.util.spec_from_file_location("session", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def solutions():
    """{exercise: its solution's cell and those above it} from the book's solutions."""
    for path in sorted((notebooks.CHAPTERS / "solutions").glob("*.ipynb")):
        cells = [c["source"] for c in nbformat.read(path, 4)["cells"] if c["cell_type"] == "code"]
        for number, cell in enumerate(cells):
            for name in re.findall(r"^def (\w+)\(", cell, re.MULTILINE):
                exercise = exercises().get(name)
                if exercise and exercise.library == "numpy":
                    yield {"name": name, "source": cell, "texts": cells[:number]}


def test_every_solution_is_accepted_in_the_page(ready):
    questions = {question["name"]: question for question in solutions()}
    assert len(questions) >= 40
    results = ready.page.evaluate(ASK, list(questions.values()))
    wrong = {
        name: found["message"]
        for name, found in zip(questions, results)
        if found["status"] != "correct"
    }
    assert wrong == {}


COLLECTS = "from attncourse.exercises.engine.prove import Answers\n"
# a page has no prove.py
COLLECTS_NOTHING = """
class Answers:
    def __init__(self, exercise):
        pass

    def right(self, function=None):
        return function or (lambda own: own)

    def wrong(self, *names, function=None):
        return self.right(function)
"""


def wrong_answers():
    """For each exercise, the wrong answers of the tests as texts, each with the module that it
    stands in; none of what a page hasn't: torch, and memory outside Python's own.
    """
    for name, entries in load_answers().items():
        if exercises()[name].library != "numpy":
            continue
        module = inspect.getsource(sys.modules[f"exercise_answers_{name}"])
        assert COLLECTS in module
        codes = [(entry, own_text(entry.function)) for entry in entries if not entry.right]
        yield [
            {
                "name": name,
                "source": f"{code}\n{name} = {entry.function.__name__}\n",
                "texts": [module.replace(COLLECTS, COLLECTS_NOTHING)],
            }
            for entry, code in codes
            if code and not re.search("torch|mmap", code)
        ]


def own_text(function):
    """The function without its decorators, or None where it is not a def of its own."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    tree.decorator_list = []
    return ast.unparse(tree)


def test_wrong_answers_get_the_same_names_as_in_cpython(ready, session, capsys):
    chosen = random.Random(0)
    questions = [one for own in wrong_answers() for one in chosen.sample(own, min(3, len(own)))]
    assert len(questions) >= 200
    results = ready.page.evaluate(ASK, questions)
    differ = []
    for question, found in zip(questions, results):
        here = session.check(question["name"], question["source"], question["texts"])
        if (here["status"], sorted(here["mistakes"])) != (
            found["status"],
            sorted(found["mistakes"] or ()),
        ):
            differ.append(
                (question["source"], here["mistakes"], found["mistakes"], found["message"])
            )
    times = sorted(found["ms"] for found in results)
    with capsys.disabled():
        print_table(
            "checks in the page, ms",
            {
                "median": times[len(times) // 2],
                "95 %": times[len(times) * 95 // 100],
                "longest": times[-1],
            },
        )
    assert differ == []


# --- what it costs ---


def test_first_load(chromium, address, folder, capsys):
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(address + PAGE)
    data = json.loads(page.locator("#inpage-data").text_content())
    began = time.monotonic()
    Exercise(page, "softmax").check(RIGHT)
    first = time.monotonic() - began
    site = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    with capsys.disabled():
        print_table(
            "the first check",
            {
                "sent, MB (compressed)": data["megabytes"],
                "unpacked, MB": data["bytes"] / 1e6,
                "from typing to the verdict, s": first,
                "the whole site, MB": site / 1e6,
            },
        )
    assert data["megabytes"] < 10 and site < 60e6
    context.close()


def print_table(title, rows):
    print(f"\n{title}")
    for what, number in rows.items():
        print(f"  {what:32}{number:8.1f}")
