"""Turn block quotes that open with a bold lead into boxes.

Notebooks stay plain Markdown, so that Colab and JupyterLab show them too:

    > **Exercise 1.2: the scale.** What is the variance of $q^\\top k$?

becomes a box of class `exercise` whose title is "Exercise 1.2: the scale". The lead is the first
word or words of the bold text, which ends in a period, a colon (these are left out of the title,
and may follow the bold text) or a question mark. A block quote with any other beginning stays a
block quote.

A code cell `predict("name")` becomes the box of that question, with what each choice takes for
granted folded below it, and nothing has to run.
"""

import re

from docutils import nodes
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

from attncourse.exercises.engine.questions import SYMBOL, questions

BOX_CLASSES = {  # lead, in lower case: class of the box
    "definition": "definition",
    "example": "example",
    "exercise": "exercise",
    "in real code": "note",
    "lemma": "theorem",
    "note": "note",
    "proof": "proof",
    "property": "theorem",
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
                replace(quote, box)
        for cell in list(self.document.findall(nodes.container)):
            name = asked_in(code_of(cell))
            if name is not None:
                replace(cell, question_box(name))


def replace(block, box):
    """Replace the block by the box, which comes from the same cell."""
    if "cell" in block:
        box["cell"] = block["cell"]
    block.parent.replace(block, box)  # and none of its classes


def box_from(quote):
    """The box that the block quote stands for, or None."""
    if not (len(quote) and isinstance(quote[0], nodes.paragraph)):
        return None
    lead, *after = without_empty_text(quote[0])
    if not isinstance(lead, nodes.strong):
        return None
    name, ended = box_class(lead.astext()), cut_end_mark(lead, after)
    if name is None or ended is None:
        return None
    title, after = ended
    opening = [nodes.paragraph("", "", *after)] if after else []
    return nodes.admonition("", nodes.title("", "", *title), *opening, *quote[1:], classes=[name])


def without_empty_text(element):
    """The children without the empty text that the Markdown parser puts before bold text."""
    return [child for child in element.children if child != nodes.Text("")]


def cut_end_mark(lead, after):
    """Take the period or colon off the lead: (title, after), or None.

    It stands at the end of the bold text or right after it.
    """
    title = without_empty_text(lead)
    last, first = title[-1], after[0] if after else None
    rest = first.lstrip() if isinstance(first, nodes.Text) else ""
    if isinstance(last, nodes.Text) and last.endswith((".", ":", "?")):
        title[-1] = nodes.Text(last.rstrip(".:"))
    elif rest.startswith((".", ":")):
        rest = rest[1:].lstrip()
    else:
        return None
    if isinstance(first, nodes.Text):
        after = ([nodes.Text(rest)] if rest else []) + after[1:]
    return title, after


# --- questions --------------------------------------------------------------


def code_of(cell):
    """The code that a cell shows; empty if it isn't a code cell."""
    is_code = cell.get("nb_element") == "cell_code"
    code = cell.next_node(nodes.literal_block) if is_code else None
    return code.astext() if code else ""


def asked_in(source):
    """The name of the question that a cell of this code asks, or None."""
    asked = re.fullmatch(r"""\s*predict\((["'])(\w+)\1\)\s*""", source)
    return asked and asked.group(2)


def question_box(name):
    question = questions().get(name)
    if question is None:
        raise ExtensionError(f"no question is called {name!r}")
    choices = "".join(
        f"<details><summary>{letter}) {words(choice.text)}</summary>"
        f"<p>{verdict(question, letter)}</p></details>"
        for letter, choice in question.lettered.items()
    )
    text = f'<p data-question="{name}">{words(question.text)}</p>{choices}'
    return nodes.admonition(
        "",
        nodes.title("", "Predict, then open your choice"),
        nodes.raw("", text, format="html"),
        classes=["predict"],
        question=question,
    )


def verdict(question, letter):
    is_right = "Yes." if letter == question.right_letter else "No."
    return f"<b>{is_right}</b> {words(question.lettered[letter].because)}"


def words(text):
    """A line of an entry as HTML: `code`, *emphasis*, and d_k with its index below the line."""
    parser = MarkdownIt("commonmark")
    parser.add_render_rule(
        "text", lambda self, tokens, place, *_: subscripts(escapeHtml(tokens[place].content))
    )
    return parser.renderInline(text)


def subscripts(text):
    """The symbols of a plain text, such as d_k or dₖ, as they stand in a formula."""
    return SYMBOL.sub(r"<i>\1</i><sub>\2</sub>", text.replace("ₖ", "_k"))


def setup(app):
    app.add_transform(Boxes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
