"""Put into the pages what their exercises need to run where they stand.

An exercise gets the data that the page's scripts read. An exercise that a browser cannot run gets a
link to Colab, and so does every exercise if `python3 run.py book` could fetch nothing. Without
scripts all listings stay as they are.
"""

import functools
import json
import re
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.transforms import SphinxTransform

from attncourse.exercises.engine.find import exercises
from attncourse.exercises.engine.grading import hint_text
from attncourse.language.answers import NAMES
from book import address, boxes
from book.inpage import bundle, fetch, move, proofs, runnable

CHECK = re.compile(r"""\s*check\((["'])(\w+)\1, *\w+\)\s*""")
ANSWERS = re.compile(r"\bimport\b.*\banswer_files\b")
MODEL = re.compile(r"^\s*(from|import) attncourse\b.*\blanguage\b", re.MULTILINE)
SCRIPTS = ("python.js", "store.js", "editor.js", "exercises.js", "progress.js")
FIRST = "chapters/index"
OFFER = '<p class="inpage-colab">{}: {}.</p>'
NO_TORCH = "it needs torch, which does not run in a page"
FROM_A_FILE = "a page that is read from a file runs no Python"
NO_RUNTIME = "this copy of the book holds no Python for its pages"


class Exercises(SphinxTransform):
    """Before each cell that checks an exercise, insert its data or a link to Colab, and before each
    that asks for a proof, the data of its form. Other cells that a
    page cannot run get the class inpage-elsewhere.
    """

    default_priority = 210

    def apply(self):
        if not is_chapter(self.env.docname):
            return
        elsewhere = runnable.elsewhere(cells_of(self.env, self.env.docname))
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("cell") in elsewhere:
                cell["classes"].append("inpage-elsewhere")
            name = checked_in(boxes.code_of(cell))
            if name in exercises():
                text = beside(exercises()[name], self.env.docname)
                data = nodes.raw("", text, format="html", cell=cell["cell"])
                cell.parent.insert(cell.parent.index(cell), data)
            proof = proofs.asked_in(boxes.code_of(cell))
            if proof is not None:
                proofs.put_before(cell, proof, as_data)


def is_chapter(docname):
    return re.fullmatch(r"chapters/\d\d_\w+", docname) is not None


def checked_in(source):
    """The name of the exercise, if checking it is all that this code does."""
    found = CHECK.fullmatch(source)
    return found and found.group(2)


def beside(exercise, docname):
    if exercise.library != "numpy":
        return OFFER.format(elsewhere(docname), NO_TORCH)
    if fetch.runtime_at_hand() is None:
        return OFFER.format(elsewhere(docname), NO_RUNTIME)
    hints = [hint_text(exercise, n + 1) for n in range(len(exercise.hints))]
    return as_data(
        {
            "name": exercise.name,
            "hints": hints,
            "offer": OFFER.format(elsewhere(docname), FROM_A_FILE),
        },
        'class="inpage-exercise"',
    )


def as_data(values, attributes):
    text = json.dumps(values, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" {attributes}>{text}</script>'


@functools.cache
def elsewhere(docname):
    """The link to the chapter's notebook: in Colab, if the book has an address that Colab can
    open."""
    url = address.find() or ""
    if not url.startswith("https://github.com/"):
        return "Do this exercise in the chapter's notebook"
    path = url.split("github.com/")[1]
    branch = address.configured()["branch"]
    return (
        f'<a href="https://colab.research.google.com/github/{path}/blob/'
        f'{branch}/{docname}.ipynb">Do this exercise in Colab</a>'
    )


# --- the page as a whole ----------------------------------------------------


def add_data(app, pagename, templatename, context, doctree):
    """The scripts and their data, for chapters and for the first page."""
    if doctree is None or not (is_chapter(pagename) or pagename == FIRST):
        return
    values = {"chapters": chapters(app), "page": pagename, **move.data(pagename)}
    if is_chapter(pagename) and bundle.files():
        values.update(runtime_data(context["pathto"], cells_of(app.env, pagename)))
    if pagename == FIRST:
        context["body"] += '<section id="your-progress" hidden></section>'
    context["body"] += as_data(values, 'id="inpage-data"')
    for name in (*SCRIPTS, *asking(app, pagename), *move.scripts(pagename)):
        app.add_js_file("inpage/" + name, loading_method="defer")
    app.add_css_file("inpage/inpage.css")


def in_deck(pagename, static):
    """What the head of a deck needs, if something is moved on one of its slides."""
    kind = move.PLACES.get(pagename, (None, None))[1]
    if kind is None or kind in move.NOT_IN_DECKS:
        return ""
    names = ("python.js", *move.scripts(pagename))
    return "\n".join(
        [f'<link rel="stylesheet" href="{static}/inpage/inpage.css">']
        + [as_data(move.data(pagename), 'id="inpage-data"')]
        + [f'<script defer src="{static}/inpage/{name}"></script>' for name in names]
    )


def asking(app, pagename):
    """The scripts of what a chapter asks besides its exercises."""
    cells = cells_of(app.env, pagename) if is_chapter(pagename) else ()
    return ("sure.js",) * any(map(boxes.asked_in, cells)) + proofs.scripts(cells)


def runtime_data(pathto, cells):
    folder = pathto(f"_static/{bundle.name()}/", resource=True)
    has_model = any(MODEL.search(source) for source in cells)
    counted, megabytes = bundle.sizes(has_model)
    packages = ["numpy", "attnlib", *["attnlib-model"] * has_model]
    editor = folder + "editor.mjs" if "editor.mjs" in bundle.files() else None
    # Cells that collect a reader's answers get the ones that the browser keeps (store.js).
    asked = NAMES if any(ANSWERS.search(source) for source in cells) else None
    return {
        "python": folder,
        "packages": packages,
        "bytes": counted,
        "megabytes": megabytes,
        "editor": editor,
        **({"answers": asked} if asked else {}),
    }


def chapters(app):
    """Each chapter with its page's exercises, in the order of the book."""
    found = []
    for page in filter(is_chapter, sorted(app.env.found_docs)):
        names = [
            name for cell in cells_of(app.env, page) if (name := checked_in(cell)) in exercises()
        ]
        if names:
            found.append({"page": page, "exercises": names, "title": app.env.titles[page].astext()})
    return found


def cells_of(env, page):
    return read_code(env.doc2path(page))


@functools.cache
def read_code(path):
    """The code of each cell; empty for cells of text."""
    notebook = nbformat.read(path, as_version=4)
    return [cell["source"] if cell["cell_type"] == "code" else "" for cell in notebook["cells"]]


def ship(app, exception):
    if exception is None and app.builder.name == "html":
        bundle.put_into(Path(app.outdir, "_static"))


def setup(app):
    app.add_transform(Exercises)
    app.connect("html-page-context", add_data, priority=950)
    app.connect("build-finished", ship, priority=800)  # before the archive
    return {"parallel_read_safe": True, "parallel_write_safe": True}
