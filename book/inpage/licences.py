"""One page with the licence of everything that the site ships; the archive holds it too."""

import html
import importlib.metadata
import io
import zipfile
from pathlib import Path

from book.inpage import bundle, fetch
from book.notebooks import ROOT
from book.slides import REVEAL

FONTS = ROOT / "attncourse" / "plot" / "fonts"
FONTS_FROM = "https://github.com/mozilla/Fira"
TEXTS = Path(__file__).parent / "licences"
PAGE = "licences"
IN_THE_THEME = (
    "pydata-sphinx-theme",
    "sphinx-book-theme",
    "sphinx",
    "sphinx-copybutton",
    "sphinx-design",
    "pygments",
    "myst-nb",
)
OPENING = (
    "<h1>Licences</h1><p>What this site ships, and the licence of each "
    "part. Nothing is loaded from anywhere else.</p>"
)


def shipped():
    """(what it is, where it is from, its licence) of each part."""
    yield "This book and attnlib", "", read(ROOT / "LICENSE")
    yield ("MathJax, for formulas", "https://www.mathjax.org/", read(TEXTS / "Apache-2.0.txt"))
    yield "reveal.js, for slides", "https://revealjs.com/", read(REVEAL / "LICENSE")
    yield ("Fira Sans, the typeface", FONTS_FROM, read(FONTS / "OFL.txt"))
    yield (
        "Bootstrap and Font Awesome, in the theme",
        "https://fontawesome.com/license/free",
        of_the_theme(),
    )
    for name in IN_THE_THEME:
        yield name, "", of_package(name)
    if bundle.files():
        yield from with_python()


def with_python():
    yield (
        "Pyodide, Python for browsers",
        "https://github.com/pyodide/pyodide",
        read(TEXTS / "MPL-2.0.txt"),
    )
    yield ("Python and its standard library", "https://www.python.org/", read(TEXTS / "Python.txt"))
    yield "NumPy, and what it holds", "https://numpy.org/", of_numpy()
    editor = fetch.editor_at_hand()
    if editor:
        yield ("CodeMirror, the editor", "https://codemirror.net/", read(editor / "licences.txt"))


def read(path):
    return Path(path).read_text(encoding="utf-8")


def of_package(name):
    """The licence files of an installed package."""
    found = [
        file
        for file in importlib.metadata.files(name) or ()
        if ".dist-info" in str(file) and "licen" in file.name.lower()
    ]
    return "\n\n".join(read(file.locate()) for file in found)


def of_the_theme():
    """The notices that the theme keeps beside its scripts and fonts."""
    found = [
        file
        for file in importlib.metadata.files("pydata-sphinx-theme")
        if "static" in str(file) and "LICENSE" in file.name
    ]
    return "\n\n".join(read(file.locate()) for file in found)


def of_numpy():
    wheel = zipfile.ZipFile(io.BytesIO(bundle.files()[fetch.NUMPY]))
    names = [name for name in wheel.namelist() if "/licenses/" in name]
    return "\n\n".join(
        f"{name.split('/licenses/')[1]}\n\n" + wheel.read(name).decode() for name in names
    )


def as_html():
    parts = []
    for what, where, text in shipped():
        link = f'<p><a href="{where}">{where}</a></p>' if where else ""
        parts.append(
            f"<details><summary>{html.escape(what)}</summary>{link}"
            f'<pre class="licence">{html.escape(text.strip())}</pre>'
            "</details>"
        )
    return OPENING + "\n".join(parts)


def pages(app):
    yield PAGE, {"title": "Licences", "body": as_html()}, "page.html"


def setup(app):
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
