"""Turn block quotes that open with a bold lead into boxes.

Notebooks stay plain Markdown, so that Colab and JupyterLab show them too:

    > **Exercise 1.2: the scale.** What is the variance of $q^\\top k$?

becomes a box of class `exercise` whose title is "Exercise 1.2: the scale".
The lead is the first word or words of the bold text, which ends in a period
or a colon (inside the bold or right after it). A block quote with any other
beginning stays a block quote.
"""
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

BOX_CLASSES = {  # lead, in lower case: class of the box
    "definition": "definition",
    "example": "example",
    "exercise": "exercise",
    "lemma": "theorem",
    "note": "note",
    "proof": "proof",
    "remember": "remember",
    "solution": "solution",
    "theorem": "theorem",
    "try it": "try",
    "warning": "warning",
    "watch out": "warning",
    "you need": "goals",
    "you will be able to": "goals",
}


def box_class(title):
    """The class for a title such as "Exercise 2: the scale", or None."""
    for lead, name in BOX_CLASSES.items():
        if re.match(re.escape(lead) + r"(?![\w-])", title, re.IGNORECASE):
            return name
    return None


class Boxes(SphinxTransform):
    # Before Sphinx collects titles and resolves references in them.
    default_priority = 200

    def apply(self):
        for quote in list(self.document.findall(nodes.block_quote)):
            box = box_from(quote)
            if box is not None:
                quote.replace_self(box)


def box_from(quote):
    """The box that the block quote stands for, or None."""
    opening = quote[0] if len(quote) else None
    if not (isinstance(opening, nodes.paragraph) and len(opening)
            and isinstance(opening[0], nodes.strong)):
        return None
    lead = opening[0]
    name = box_class(lead.astext())
    if name is None or not cut_end_mark(opening):
        return None
    opening.remove(lead)
    body = quote.children if opening.astext().strip() else quote.children[1:]
    title = nodes.title("", "", *lead.children)
    return nodes.admonition("", title, *body, classes=[name])


def cut_end_mark(opening):
    """Take the period or colon off the lead; False if there is none."""
    lead, last = opening[0], opening[0][-1]
    after = opening[1] if len(opening) > 1 else nodes.Text("")
    if isinstance(last, nodes.Text) and last.endswith((".", ":")):
        lead.replace(last, nodes.Text(last[:-1]))
        if isinstance(after, nodes.Text):
            opening.replace(after, nodes.Text(after.lstrip()))
        return True
    if isinstance(after, nodes.Text) and after.startswith((".", ":")):
        opening.replace(after, nodes.Text(after[1:].lstrip()))
        return True
    return False


def setup(app):
    app.add_transform(Boxes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
