"""The built book as Chromium shows it, from a server of its own and with no other host to be
reached; and an exercise of a page, used as a reader uses it.
"""

import functools
import http.server
import os
import shutil
import textwrap
import threading

import pytest
from playwright import sync_api

import run
from book import browser
from book.inpage import fetch

NEEDS_A_BROWSER_AND_PYTHON_FOR_IT = [
    pytest.mark.skipif(browser.chromium() is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(
        fetch.runtime_at_hand() is None,
        reason="no Python for the pages here: `python3 run.py book` fetches it",
    ),
]
NO_OTHER_HOST = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"
PAGE = "chapters/03_softmax.html"
PATIENCE = 90_000  # ms, on a busy machine


# --- the site ---


@pytest.fixture(scope="module")
def folder(fork_site, tmp_path_factory):
    """The built book, below a sub-path."""
    served = tmp_path_factory.mktemp("site")
    shutil.copytree(fork_site, served / "a" / "path", copy_function=os.link)
    return served


class Handler(run.QuietHandler):
    """The book's own server; a file can be missing."""

    missing = ()

    def do_GET(self):
        if any(name in self.path for name in self.missing):
            return self.send_error(404)
        super().do_GET()


@pytest.fixture(scope="module")
def address(folder):
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_address[1]}/a/path/"
    server.shutdown()


@pytest.fixture(scope="module")
def chromium():
    if browser.chromium() is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium.launch(
            executable_path=browser.chromium(), args=[*browser.SILENT, NO_OTHER_HOST]
        )


LOOK = {"width": 1280, "height": 900}


def new_page(chromium):
    """A page of a reader who comes for the first time; it notes its errors and what it asks for."""
    context = chromium.new_context(viewport=LOOK, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.asked, page.errors = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    return page


def assert_quiet(page):
    """The page had no error and asked only this host."""
    assert page.errors == []
    assert all(url.startswith(("http://localhost:", "data:", "blob:")) for url in page.asked)


@pytest.fixture
def page(chromium):
    page = new_page(chromium)
    yield page
    page.context.close()
    assert_quiet(page)


class Exercise:
    """One exercise of a page, used as a reader uses it."""

    def __init__(self, page, name):
        self.page, self.name = page, name
        self.panel = page.get_by_role("group", name=f"Exercise {name}", exact=True)
        self.box = page.get_by_role("textbox", name=f"Your answer to {name}", exact=True)

    def type(self, source):
        self.box.focus()
        self.page.wait_for_timeout(500)  # the editor takes the text box's place
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def press(self, button):
        self.panel.get_by_role("button", name=button, exact=True).click()

    def said(self):
        output = self.panel.locator("pre")
        output.wait_for()
        return output.text_content()

    def line(self):
        return self.panel.locator("[role=status] .inpage-line").text_content()

    def check(self, source):
        self.type(source)
        self.press("Check")
        return self.said()

    def done_with(self, words):
        self.panel.locator("[role=status] .inpage-line", has_text=words).wait_for()


def answer(line, name="softmax", parameters="scores, axis=-1"):
    return f"def {name}({parameters}):\n" + textwrap.indent(line, "    ")


RIGHT = answer(
    "e = np.exp(scores - scores.max(axis=axis, keepdims=True))\nreturn e / e.sum(axis=axis,"
    " keepdims=True)"
)
PLAIN = answer("e = np.exp(scores)\nreturn e / e.sum(axis=axis, keepdims=True)")
