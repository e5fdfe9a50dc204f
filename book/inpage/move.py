"""Places after a cell's figure where a reader moves something by hand, or asks a model.

The notebooks don't know about them; the page's scripts fill them, and without scripts nothing is
shown there. On the cell's slide they take the place of the figure; in print it stays.
"""

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

from attncourse.plot import COLORS
from book.inpage import words
from book.notebooks import read_cells

PLACES = {  # page: (id of the cell, what is moved: static/inpage/move-*.js)
    "chapters/00_twenty_minutes": ("figure-map", "words"),
    "chapters/01_raw_scores": ("turn-2", "turn"),
    "chapters/02_masks": ("code-45", "mask"),
    "chapters/03_softmax": ("code-094", "softmax"),
    "chapters/07_one_pass": ("code-16", "online"),
    "chapters/08_av_product": ("code-26", "hull"),
    "chapters/21_a_model_made_of_your_answers": ("figure-map", "model"),
}
NOT_IN_DECKS = {"model"}  # it needs Python in the page
SENTENCE = {"words", "model"}  # what shows the sentence of the trophy
PLACE = '<div class="inpage-move" data-move="{}" hidden></div>'


class Places(SphinxTransform):
    """After the cell: a place that the page's scripts fill."""

    default_priority = 211

    def apply(self):
        if self.env.docname not in PLACES:
            return
        wanted, kind = PLACES[self.env.docname]
        ids = [cell.get("id") for cell in read_cells(self.env.doc2path(self.env.docname))]
        cell = next(
            (
                block
                for block in self.document.findall(nodes.container)
                if "cell" in block and ids[block["cell"]] == wanted
            ),
            None,
        )
        if cell is None:
            raise ExtensionError(
                f"{self.env.docname}: what a reader moves "
                f"there stands after the cell {wanted}; the "
                "notebook has no such cell"
            )
        place = nodes.raw("", PLACE.format(kind), format="html", cell=cell["cell"])
        place["in_deck"] = kind not in NOT_IN_DECKS
        cell.parent.insert(cell.parent.index(cell) + 1, place)


def scripts(pagename):
    """The scripts of this page's place, and no others."""
    if pagename not in PLACES:
        return ()
    kind = PLACES[pagename][1]
    sentence = ("move-sentence.js",) * (kind in SENTENCE)
    return ("move.js", *sentence, f"move-{kind}.js")


def data(pagename):
    """The data that the scripts of this page's place read."""
    if pagename not in PLACES:
        return {}
    kind, more = PLACES[pagename][1], {}
    if kind == "words":
        more = {"words": words.table()}
    if kind == "model":
        more = {"words": words.choices()}
    return {"colors": COLORS, **more}


def setup(app):
    app.add_transform(Places)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
