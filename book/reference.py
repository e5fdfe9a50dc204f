"""The back matter: attnlib's reference from its docstrings, and terms linked both ways.

A docstring is plain text that `help()` shows: single backquotes are code, an indented paragraph is
a formula or a table. Sphinx's autodoc gets it in its own markup.

The list of references is made from the chapters' entries under "Read on.":
`Names, *Title* (journal, year), [link](address)`.

In the glossary an item is `- **term**, **other form**: what it means ([chapter](file)).` The
chapter's first passage in italics or bold with one of these words gets a link to the item, and the
item's link to the chapter leads to that passage.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

GLOSSARY = "chapters/glossary"
ITEM = re.compile(r"^- (\*\*.+?\*\*(?:, \*\*.+?\*\*)*): .*\]\((\w+)\.ipynb\)\)\.$", re.MULTILINE)
REFERENCES = "chapters/references"
NAME = r"(?:van |de |von )?[A-ZÀ-Þ][\w'’-]*"
WORK = re.compile(
    rf"({NAME}(?:(?:, and |, | and | ){NAME})*(?: et al\.| and others)?), \*([^*]+)\* "
    r"\(([^()]*?\d{4}[^()]*)\)(, \[[^\]]+\]\([^)]+\))?"
)
LOG = logging.getLogger(__name__)


# --- docstrings -------------------------------------------------------------


def as_sphinx_reads_it(app, what, name, thing, options, lines):
    lines[:] = in_rst(lines)


def in_rst(lines):
    """The lines with `code` as ``code``, and what is indented before the first heading as it
    stands.
    """
    heads = [n for n, line in enumerate(lines) if re.match(r":\w|Args:|Returns:", line)] or [
        len(lines)
    ]
    result = []
    for n, line in enumerate(lines):
        is_set_in = n < heads[0] and line.startswith("    ")
        if is_set_in and not (n and lines[n - 1].startswith("    ")):
            result += [".. code-block:: text", ""]
        result.append(
            line
            if is_set_in or line.lstrip().startswith(">>>")
            else re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line)
        )
    return result


# --- terms ------------------------------------------------------------------


def terms(source):
    """{chapter: {anchor: [the term and its other forms]}} of the glossary's text."""
    found = {}
    for match in ITEM.finditer(source):
        forms = re.findall(r"\*\*(.+?)\*\*", match[1])
        found.setdefault(match[2], {})[anchor(forms[0])] = forms
    return found


def anchor(term):
    return "term-" + re.sub(r"\W+", "-", term.lower()).strip("-")


def plain(text):
    return text.strip(" .,:;?").lower()


class Terms(SphinxTransform):
    default_priority = 210  # once the boxes are made, but before references are resolved

    def apply(self):
        docname = self.env.docname
        glossary = Path(self.env.doc2path(GLOSSARY))
        if not glossary.exists() or not docname.startswith("chapters/"):
            return
        self.env.note_dependency(str(glossary))
        found = terms(glossary.read_text(encoding="utf-8"))
        if docname == GLOSSARY:
            mark_items(self.document)
        for name, forms in found.get(docname.split("/", 1)[1], {}).items():
            if not link_definition(self.document, name, forms):
                LOG.warning(
                    "%s: no passage in italics or bold defines %r, as the glossary says",
                    docname,
                    forms[0],
                )


def mark_items(document):
    """Give each item an anchor, and a link to its term's place in the chapter."""
    for item in document.findall(nodes.list_item):
        lead = item.next_node(nodes.strong)
        links = [node for node in item.findall(nodes.Element) if "reftarget" in node]
        if lead is not None and links:
            name = anchor(lead.astext())
            item["ids"].append(name)
            page = links[-1]["reftarget"].rsplit("/", 1)[-1] + ".html"
            links[-1].replace_self(nodes.reference("", links[-1].astext(), refuri=f"{page}#{name}"))


def link_definition(document, name, forms):
    """Whether a passage with one of the forms was found, and linked to the glossary."""
    wanted = {plain(form) for form in forms}
    for passage in document.findall(lambda node: isinstance(node, (nodes.emphasis, nodes.strong))):
        if plain(passage.astext()) in wanted and not has_link(passage):
            passage["ids"].append(name)
            link = nodes.reference(
                "", "", *passage.children, refuri=f"glossary.html#{name}", classes=["term"]
            )
            passage.children = []
            passage += link
            return True
    return False


def has_link(passage):
    """Whether the passage is part of a link or a title, or has a link in it."""
    node, within = passage, []
    while node is not None:
        within.append(node)
        node = node.parent
    return any(
        isinstance(node, (nodes.reference, nodes.title)) or "reftarget" in node
        for node in [*within, *passage.findall(nodes.Element)]
    )


# --- references -------------------------------------------------------------


def read_on(notebook):
    """The text under a chapter's "Read on.", or ""."""
    texts = [
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
    ]
    return " ".join(text.partition("**Read on.**")[2].replace("\n", " ") for text in texts)


def works(folder):
    """{title: (names, year, link, [chapters])} of all chapters in the folder."""
    found = {}
    for path in sorted(folder.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for names, title, year, link in WORK.findall(read_on(notebook)):
            chapter = re.search(r"^# (.+)$", "".join(notebook["cells"][0]["source"]), re.MULTILINE)[
                1
            ]
            entry = found.setdefault(title, (names, year, link, []))
            entry[3].append(f"[{chapter}]({path.name})")
    return found


def put_references(app, docname, source):
    if docname != REFERENCES:
        return
    items = [
        f"- {names}, *{title}* ({year}){link}. In {', '.join(chapters)}."
        for title, (names, year, link, chapters) in works(Path(app.srcdir, "chapters")).items()
    ]
    source[0] = source[0].replace("<!-- references -->", "\n".join(sorted(items, key=str.lower)))


def setup(app):
    app.connect("source-read", put_references)
    app.setup_extension("sphinx.ext.napoleon")  # and autodoc with it
    app.connect("autodoc-process-docstring", as_sphinx_reads_it, priority=900)  # after napoleon
    app.add_transform(Terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
