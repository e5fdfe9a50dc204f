"""Proofs to put in order: before the cell that asks for one, what the page's form needs (order.js).

Where no page can run Python, and without scripts, the cell stays with what it prints.
"""

import re
from html import escape

from docutils import nodes
from sphinx.errors import ExtensionError

from attncourse.exercises.engine.ordering import proofs

IMPORT = r"from attncourse\.exercises import order\s+"
ORDER = re.compile(rf"""\s*(?:{IMPORT})?order\((["'])(\w+)\1\)\s*""")
INDEX = re.compile(r"(?<!\w)([A-Za-zδℓ]{1,2}|Σ)_([a-z]+)")
POWER = re.compile(r"\^(?:\(([^()]+)\)|(\w))")


def asked_in(source):
    """The name of the proof that a cell of this code asks for, or None."""
    found = ORDER.fullmatch(source)
    return found and found.group(2)


def form(name):
    """What the form of a proof shows."""
    if name not in proofs():
        raise ExtensionError(f"no proof is called {name!r}")
    proof = proofs()[name]
    lines = {letter: as_html(line.text) for letter, line in proof.lettered.items()}
    return {"name": name, "text": as_html(proof.page.text), "lines": lines}


def as_html(text):
    """A line of a proof, its indices below the line and its exponents above."""
    return POWER.sub(
        lambda found: f"<sup>{found[1] or found[2]}</sup>",
        INDEX.sub(r"<i>\1</i><sub>\2</sub>", escape(text)).replace("<i>Σ</i>", "Σ"),
    )


def scripts(cells):
    return ("order.js",) if any(map(asked_in, cells)) else ()


def put_before(cell, name, as_data):
    data = nodes.raw("", as_data(form(name), 'class="inpage-proof"'), format="html")
    data["cell"] = cell["cell"]
    cell.parent.insert(cell.parent.index(cell), data)
