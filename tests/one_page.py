"""A page of a few lines with the book's own scripts, in Chromium: what a form does, with no build.

Python in the page is left out: what a form asks it is kept, and answered from the test.
"""

import contextlib

from book.inpage.site import as_data
from book.notebooks import ROOT

FOLDER = ROOT / "book/inpage/static/inpage"
SCRIPTS = ("python.js", "store.js", "editor.js", "exercises.js")
STUB = """
inPage.canRun = true; inPage.asked = [];
inPage.ask = (question) => {
  inPage.asked.push(question);
  return Promise.resolve({ message: inPage.answer, restart: false });
};
"""


def html(body, script):
    texts = {name: (FOLDER / name).read_text("utf-8") for name in (*SCRIPTS, script)}
    texts["python.js"] += STUB
    css = (FOLDER / "inpage.css").read_text("utf-8")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title>'
        f'<style>{css}</style><body><div class="bd-article">{body}</div>'
        + as_data({"python": "x", "megabytes": 16}, 'id="inpage-data"')
        + "<script>DOCUMENTATION_OPTIONS = {};</script>"
        + "".join(f"<script>{text}</script>" for text in texts.values())
    )


@contextlib.contextmanager
def opened(chromium, text):
    """The page on a phone; it asks for nothing else, and must make no error."""
    context = chromium.new_context(viewport={"width": 390, "height": 800})
    page, errors, asked = context.new_page(), [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.route("**/*", lambda route: route.fulfill(body=text, content_type="text/html"))
    page.goto("http://localhost/x.html")
    yield page
    wide = page.evaluate("document.documentElement.scrollWidth")
    context.close()
    assert errors == [] and wide <= 390 and {*asked} == {"http://localhost/x.html"}
