"""Give each chapter the number that its file begins with: 03_softmax is chapter 3.

Sphinx counts the existing chapters; the book's plan has more chapters than are written, and a
chapter keeps its number when another one is added before it.
"""

import re


def of_file(docname):
    """The number that a chapter's file name begins with; None for any other page."""
    found = re.fullmatch(r"chapters/(\d\d)_\w+", docname)
    return int(found[1]) if found else None


def renumber(app, env):
    """Replace Sphinx's numbers by the files' numbers, wherever Sphinx keeps them."""
    changed = [name for name in env.toc_secnumbers if of_file(name) is not None]
    for name in changed:
        sections = env.toc_secnumbers[name]
        for anchor, number in sections.items():
            sections[anchor] = with_first(number, of_file(name))
        title = env.titles[name]
        title["secnumber"] = with_first(title["secnumber"], of_file(name))
        for link in env.tocs[name].findall(
            lambda node: node.get("secnumber") if hasattr(node, "get") else None
        ):
            link["secnumber"] = with_first(link["secnumber"], of_file(name))
    return changed


def with_first(number, first):
    return (first, *number[1:])


def setup(app):
    # After Sphinx's own count, which listens with the usual priority.
    app.connect("env-get-updated", renumber, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
