"""What must hold for every notebook and doesn't show when it is run.

A check takes a notebook as a dict (with each source as one string) and returns its problems, one
sentence each. `python -m book.checks` runs them all.
"""

import re
import sys

import nbformat

from book import boxes, notebooks

LONGEST_LINE = 72
MOST_LINES = 15
LONG_CELL_TAG = "long-cell"
FIGURE_TYPES = ("image/png", "image/jpeg", "image/svg+xml", "image/gif")


def problems(path):
    """All problems of the notebook in this file."""
    notebook = nbformat.read(path, as_version=4)
    found = [problem for check in CHECKS for problem in check(notebook)]
    expected = notebooks.set_up_source(notebooks.clone_of(path))
    return found + set_up_cell(notebook, expected) + missing_files(notebook, path.parent)


# --- reading a notebook ----------------------------------------------------


def code_cells(notebook):
    """Pairs of number (from 1, as in "In [1]") and code cell."""
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    return list(enumerate(cells, 1))


def tags(cell):
    return cell["metadata"].get("tags", [])


def markdown(notebook):
    """All Markdown as one text."""
    return "\n\n".join(c["source"] for c in notebook["cells"] if c["cell_type"] == "markdown")


def prose(notebook):
    """The Markdown without code; each blank line stays a blank line."""
    text = re.sub(
        r"^ *(```+|~~~+)[^\n{]*\n.*?^ *\1[`~]* *$",
        "",
        markdown(notebook),
        flags=re.MULTILINE | re.DOTALL,
    )
    return re.sub(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", "", text)


MATH = re.compile(r"(?<!\\)\$\$.*?(?<!\\)\$\$|(?<!\\)\$[^$]*?(?<!\\)\$", re.DOTALL)


def output_texts(cell):
    """All text in the cell's outputs, without terminal colours."""
    for output in cell["outputs"]:
        texts = [output.get("text", ""), output.get("evalue", "")]
        texts += output.get("traceback", [])
        texts += [
            value
            for kind, value in output.get("data", {}).items()
            if isinstance(value, str) and (kind.startswith("text/") or kind == "image/svg+xml")
        ]
        yield re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(texts))


# --- code and outputs -------------------------------------------------------


def cells_not_run(notebook):
    """Every code cell has been run once, from the top."""
    return [
        f"code cell {n} has execution count {cell['execution_count']}: run `python3 run.py fill`"
        for n, cell in code_cells(notebook)
        if cell["execution_count"] != n or not cell["source"].strip()
    ]


def errors(notebook):
    """Only a cell with the tag for it may raise."""
    return [
        f"code cell {n} raised {output['ename']}; if it should, tag it raises-exception"
        for n, cell in code_cells(notebook)
        for output in cell["outputs"]
        if output["output_type"] == "error" and "raises-exception" not in tags(cell)
    ]


def standard_error(notebook):
    """A warning in the book tells the reader that something is wrong."""
    return [
        f"code cell {n} wrote to stderr: {output['text'].strip()[:60]!r}"
        for n, cell in code_cells(notebook)
        for output in cell["outputs"]
        if output.get("name") == "stderr"
    ]


def of_one_machine(notebook):
    """No output depends on where or when it was made."""
    patterns = {
        "a local path": (
            r"(?<![\w.])/(home|tmp|root|work|Users|usr|opt|var|"
            r"mnt|content)/|[A-Z]:\\|site-packages|ipykernel_"
        ),
        "a memory address": r"\b0x[0-9a-fA-F]{6,}",
        "a warning": r"\w*Warning: ",
        "a plot object (end the cell with plt.show())": (
            r"^\[?<matplotlib|^\[?Text\(|^<Figure(?!.*with)|^<Axes"
        ),
    }
    return [
        f"code cell {n} shows {what}: {match.group()!r}"
        for n, cell in code_cells(notebook)
        for text in output_texts(cell)
        for what, pattern in patterns.items()
        if (match := re.search(pattern, text, re.MULTILINE))
    ]


def outside_hosts(notebook):
    """An output that loads from elsewhere is empty without a network."""
    return [
        f"code cell {n} loads {match.group(1)}"
        for n, cell in code_cells(notebook)
        for text in output_texts(cell)
        for match in re.finditer(
            r"<(?:script|img|link|iframe|video)[^>]*(?:src|href)="
            r"[\"']?((?:https?:)?//[^\"' >]+)",
            text,
        )
    ]


def figures_without_alt(notebook):
    """Each figure says in a sentence what there is to see."""
    return [
        f"code cell {n} draws a figure: its metadata needs "
        "mystnb.image.alt, a sentence that says what to see; it has "
        f"{alt(cell)!r}"
        for n, cell in code_cells(notebook)
        if draws(cell) and not is_sentence(alt(cell))
    ]


def draws(cell):
    return any(
        kind in output.get("data", {}) for output in cell["outputs"] for kind in FIGURE_TYPES
    )


def alt(cell):
    return cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")


def is_sentence(text):
    return len(text) >= 20 and len(text.split()) >= 4 and "_build" not in text


def images_without_alt(notebook):
    """Images in Markdown and in HTML outputs have alternative text too."""
    texts = [prose(notebook)]
    texts += [t for _, c in code_cells(notebook) for t in output_texts(c)]
    return [
        f"no alternative text: {match.group()}"
        for text in texts
        for match in re.finditer(r"!\[\s*\]\([^)]*\)|<img(?![^>]*\balt=[\"'][^\"']{4})[^>]*>", text)
    ]


def long_code(notebook):
    """Code fits a phone and a printed page, and a cell has one idea."""
    found = []
    for n, cell in code_cells(notebook):
        lines = cell["source"].splitlines()
        if notebooks.is_set_up(cell):
            continue
        found += [
            f"code cell {n} has a line of {len(line)} columns; "
            f"{LONGEST_LINE} fit: {line.strip()[:40]}..."
            for line in lines
            if len(line) > LONGEST_LINE
        ]
        if len(lines) > MOST_LINES and LONG_CELL_TAG not in tags(cell):
            found.append(
                f"code cell {n} has {len(lines)} lines; "
                f"{MOST_LINES} are allowed without the tag "
                f"{LONG_CELL_TAG}"
            )
    return found


def unchecked_cells(notebook):
    """nbval's marks would exempt a cell from the checks."""
    marks = r"NBVAL_\w+|PYTEST_VALIDATE_\w+|nbval-[\w-]+"
    return [
        f"code cell {n} switches its check off: {match.group()}"
        for n, cell in code_cells(notebook)
        if (match := re.search(marks, " ".join([cell["source"], *tags(cell)])))
    ]


# --- metadata ----------------------------------------------------------------


def left_behind(notebook):
    """No time of execution, and no other trace of an editor."""
    traces = ("execution", "ExecuteTime", "colab", "outputId", "vscode")
    return [
        f"cell {n} has {trace!r} in its metadata: run `python3 run.py fill`"
        for n, cell in enumerate(notebook["cells"], 1)
        for trace in traces
        if trace in cell["metadata"]
    ]


def kernel(notebook):
    """Colab and Jupyter both know the kernel python3."""
    name = notebook["metadata"].get("kernelspec", {}).get("name")
    return [] if name == "python3" else [f"the kernel is {name}, not python3"]


def set_up_cell(notebook, expected):
    """The first code cell installs attnlib if it is missing."""
    cells = code_cells(notebook)
    first = cells[0][1] if cells else None
    if (
        first
        and first["source"] == expected
        and (notebooks.SET_UP_TAG in tags(first))
        and not first["outputs"]
    ):
        return []
    return ["the first code cell is not the set-up cell: run `python3 run.py fill`"]


# --- Markdown that every reader's program shows -----------------------------

DIALECT_IN_CODE = {
    "a directive": r"^[ >]*[`~:]{3,} *\{[^}\n]*\}|^[ >]*:{3,}.*$",
    "a role": r"(?<!`)\{[a-z][a-z0-9:_+-]*\}`[^`\n]+`",
    "a labelled formula": r"\$\$ *\([\w-]+\) *$",
}
DIALECT = {
    "a target": r"^ *\([\w-]+\)= *$",
    "attributes": r"^ *\{[#.][\w-]+[^}]*\} *$",
    "a comment": r"^%.*$",
    "a block break": r"^\+\+\+.*$",
    "front matter": r"\A---\n",
    "a footnote": r"\[\^[\w-]+\]",
    "a substitution": r"\{\{.*?\}\}",
    "a link without a text": r"(?<!!)\[\]\([^)]*\)",
    "a script, style or frame": r"<(script|style|iframe)\b[^>]*>",
}


def one_renderer_only(notebook):
    """Nothing that only the book renders and that Colab shows as raw text."""
    # Directives and roles are made of backquotes: look for those before
    # prose() takes code away. Look for the rest where no formula is.
    texts = {True: markdown(notebook), False: MATH.sub("", prose(notebook))}
    return [
        f"only the book shows {what}: {match.group().strip()}"
        for whole, dialect in ((True, DIALECT_IN_CODE), (False, DIALECT))
        for what, pattern in dialect.items()
        for match in re.finditer(pattern, texts[whole], re.MULTILINE)
    ]


def lone_dollars(notebook):
    """Dollars come in pairs within a paragraph."""
    rests = [MATH.sub("", paragraph) for paragraph in re.split(r"\n\s*\n", prose(notebook))]
    return [
        f"a dollar without its partner: {rest.strip()[:60]}"
        for rest in rests
        if re.search(r"(?<!\\)\$", rest)
    ]


def bars_in_tables(notebook):
    """A bar ends the table's cell, also within a formula."""
    rows = re.findall(r"^ *\|.*$", prose(notebook), re.MULTILINE)
    return [
        f"in a table, write \\mid or \\vert for the bar in {formula}"
        for row in rows
        for formula in MATH.findall(row)
        if "|" in formula
    ]


def unportable_formulas(notebook):
    """MathJax and KaTeX both show what is left."""
    patterns = {
        r"\\begin\{(align|equation|gather|eqnarray)\*?\}": "$$ and \\begin{aligned}",
        r"\\(label|ref|eqref)\{[^}]*\}": "the formula's name in words",
    }
    return [
        f"write {better} for {match.group()}"
        for pattern, better in patterns.items()
        for match in re.finditer(pattern, prose(notebook))
    ]


def headings(notebook):
    """One title first, and no level skipped below it."""
    levels = [
        len(match.group(1)) for match in re.finditer(r"^(#{1,6}) ", prose(notebook), re.MULTILINE)
    ]
    first = notebook["cells"][0] if notebook["cells"] else {"source": ""}
    found = []
    if not re.match(r"# \S", first["source"]) or levels.count(1) != 1:
        found.append(
            "a notebook begins with its title, the only heading "
            f"with one #; it has {levels.count(1)}"
        )
    return found + [
        f"a heading of level {lower} follows one of level {upper}"
        for upper, lower in zip(levels, levels[1:])
        if lower > upper + 1
    ]


def unknown_boxes(notebook):
    """A block quote with a bold lead that ends is meant to be a box."""
    return [
        f"no box is called {match.group(1).strip('*:.')!r}; there are "
        f"{', '.join(sorted(boxes.BOX_CLASSES))}"
        for match in re.finditer(
            r"(?:\A|\n\n) *> ?\*\*([^*\n]+(?:[.:?]\*\*|\*\*[.:]))", prose(notebook)
        )
        if boxes.box_class(match.group(1)) is None
    ]


def folded_text(notebook):
    """Markdown inside <details> is read only between blank lines."""
    text = prose(notebook)
    found = [
        f"<{tag}> and </{tag}> are not in pairs"
        for tag in ("details", "summary")
        if text.count(f"<{tag}>") != text.count(f"</{tag}>")
    ]
    if re.search(r"</summary>(?! *\n\s*\n)|\S *\n</details>", text):
        found.append("leave a blank line after </summary> and before </details>")
    return found


def missing_files(notebook, folder):
    """Links to files of the book lead somewhere."""
    return [
        f"a link leads nowhere: {target}"
        for target in re.findall(r"\]\(([^)\s]+)", prose(notebook))
        if not re.match(r"[a-z]+:|#", target) and not (folder / target.split("#")[0]).exists()
    ]


def typed_addresses(text):
    """Repositories that a text names: the book's own address is found (book/address.py), never
    typed.
    """
    return re.findall(r"github\.com[/:][\w.-]+/[\w-]+|github/[\w.-]+/[\w-]+(?=/blob)", text)


CHECKS = (
    cells_not_run,
    errors,
    standard_error,
    of_one_machine,
    outside_hosts,
    figures_without_alt,
    images_without_alt,
    long_code,
    unchecked_cells,
    left_behind,
    kernel,
    one_renderer_only,
    lone_dollars,
    bars_in_tables,
    unportable_formulas,
    headings,
    unknown_boxes,
    folded_text,
)


def main():
    count = 0
    for path in notebooks.notebook_paths():
        for problem in problems(path):
            count += 1
            print(f"{path.relative_to(notebooks.ROOT)}: {problem}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
