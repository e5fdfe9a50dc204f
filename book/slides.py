"""Cut the chapters into reveal.js decks, beside their pages.

Each notebook cell says in Jupyter's own metadata what it is in the deck,
`{"slideshow": {"slide_type": "slide"}}`: a slide, a subslide below it, a
fragment that appears, notes for the speaker, or skip. A cell without a type
goes on with the slide before it. A notebook without any slide has no deck.
What a deck shows was rendered for the page: the same figures and numbers.
"""
import string
from pathlib import Path

import nbformat
import sphinx_revealjs
from docutils import nodes
from sphinx.util.fileutil import copy_asset

LINES_OF_A_CELL = 10_000  # myst-nb: line 20003 is line 3 of the second cell
TEMPLATE = string.Template(
    Path(__file__).with_name("deck.html").read_text(encoding="utf-8"))
REVEAL = (Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs")
REVEAL_FILES = ("LICENSE", "dist/reveal.css", "dist/reveal.js",
                "plugin/notes/notes.js")


def make_deck(app, pagename, templatename, context, doctree):
    """Write the deck of a page, if its notebook has slides."""
    kinds = types(app.env.doc2path(pagename)) if doctree else []
    if not kinds:
        return
    columns = cut(blocks(doctree), kinds, app.builder)
    static = context["pathto"]("_static", resource=True)
    path = Path(app.outdir, f"{pagename}.slides.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEMPLATE.substitute(
        title=context["title"], book=app.config.html_title, static=static,
        mathjax=f"{static}/{app.config.mathjax_path}",
        page=pagename.rsplit("/", 1)[1] + ".html",
        slides="\n".join(map(column_html, columns))), "utf-8")


def types(source):
    """The slide type of each cell; none at all where no slide begins."""
    if not str(source).endswith(".ipynb"):
        return []
    found = [cell.metadata.get("slideshow", {}).get("slide_type", "-")
             for cell in nbformat.read(str(source), as_version=4).cells]
    return found if "slide" in found else []


# --- from a page to its parts -----------------------------------------------

def blocks(node):
    """Pairs of cell (from 0) and block, in the order of the page."""
    cell = 0
    for block in walk(node):
        line = next((n.line for n in block.findall() if n.line), None)
        if line is not None and line >= LINES_OF_A_CELL:
            cell = line // LINES_OF_A_CELL - 1
        yield cell, block


def walk(node):
    for child in node.children:
        if isinstance(child, nodes.section):
            yield from walk(child)
        elif not isinstance(child, (nodes.Invisible, nodes.Text)):
            yield child


def html(block, builder):
    """What the page has in the block's place."""
    if isinstance(block, nodes.title):
        inline = nodes.inline("", "", *block.deepcopy().children)
        level = 1 if block.parent.parent.tagname == "document" else 2
        text = builder.render_partial(inline)["fragment"].strip()
        return f"<h{level}>{text}</h{level}>"
    return builder.render_partial(block.deepcopy())["fragment"]


# --- from the parts to slides -----------------------------------------------

class Slide:
    def __init__(self, heading):
        self.heading, self.parts, self.notes = heading, [], []

    def add(self, kind, text):
        if kind == "notes":
            self.notes.append(text)
        elif kind == "fragment":
            self.parts.append(f'<div class="fragment">{text}</div>')
        else:
            self.parts.append(text)

    def html(self):
        has_heading = any("<h1>" in p or "<h2>" in p for p in self.parts)
        parts = ([] if has_heading else [self.heading]) + self.parts
        if self.notes:
            parts.append(f'<aside class="notes">{"".join(self.notes)}</aside>')
        return f"<section>{''.join(parts)}</section>"


def cut(blocks, kinds, builder):
    """The deck's columns, each a list of slides, one below the other."""
    columns, heading, last_cell = [], "", None
    for cell, block in blocks:
        kind, text = kinds[cell], html(block, builder)
        begins = cell != last_cell and kind in ("slide", "subslide")
        last_cell = cell
        if isinstance(block, nodes.title):
            heading = text
        if kind == "skip" or not (columns or begins):
            continue
        if begins and (kind == "slide" or not columns):
            columns.append([])
        if begins:
            columns[-1].append(Slide(heading))
        columns[-1][-1].add(kind, text)
    return columns


def column_html(slides):
    inside = "\n".join(slide.html() for slide in slides)
    return inside if len(slides) == 1 else f"<section>{inside}</section>"


def copy_reveal(app, exception):
    if exception is None and app.builder.name == "html":
        for name in REVEAL_FILES:
            copy_asset(str(REVEAL / name),
                       str(Path(app.outdir) / "_static" / "reveal"))


def setup(app):
    # Before book.editions, which links to the decks that are there.
    app.connect("html-page-context", make_deck, priority=800)
    app.connect("build-finished", copy_reveal)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
