"""Run notebooks and store their outputs: `python3 run.py fill [chapter...]`.

A file is written only if all its cells ran, and a second run writes the same bytes. The first code
cell installs attnlib from the clone if it is missing.
"""

import json
import os
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from book import notebooks
from book.notebooks import ROOT

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# What editors and kernels leave in a cell's metadata.
LEFT_BEHIND = (
    "ExecuteTime",
    "collapsed",
    "colab",
    "execution",
    "id",
    "outputId",
    "scrolled",
    "trusted",
    "vscode",
)


class Unusable(Exception):
    """Why a notebook was not filled, in words for its author."""


def main(names):
    try:
        paths = chosen(names, notebooks.notebook_paths())
    except Unusable as problem:
        print(f"fill: {problem}", file=sys.stderr)
        return 1
    notebooks.use_one_environment()
    return 1 if sum(not report(path) for path in paths) else 0


def chosen(names, paths):
    """The notebooks that the names mean; all of them if there is no name."""
    wanted = []
    for name in names:
        found = [path for path in paths if is_called(path, name)]
        if not found:
            known = ", ".join(sorted({path.stem for path in paths}))
            raise Unusable(f"no notebook is called {name!r}; there are {known or 'none'}")
        wanted += found
    return sorted(set(wanted)) if names else paths


def is_called(path, name):
    """Whether `name` is the path, file name, stem or number of `path`."""
    number = path.stem.split("_")[0]
    return name in (path.name, path.stem, number) or os.path.abspath(name) == str(path)


def report(path):
    """Fill one notebook, report the result, and return whether it went well."""
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    print(f"fill: {name} ...", end=" ", flush=True)
    try:
        print("written" if fill(path) else "unchanged")
    except Unusable as problem:
        print(f"not written\n{problem}")
        return False
    return True


def fill(path):
    """Run the notebook and store its outputs; return whether it changed."""
    before = path.read_bytes()
    notebook = read(before)
    put_set_up(notebook, notebooks.set_up_source(notebooks.clone_of(path)))
    execute(notebook, path.parent)
    tidy(notebook)
    after = (nbformat.writes(notebook).rstrip("\n") + "\n").encode()
    if path.read_bytes() != before:
        raise Unusable("the file was saved by somebody else meanwhile; run fill again")
    if after == before:
        return False
    replace(path, after)
    return True


def read(content):
    """The notebook in format 4.5, every cell with an id that stays."""
    try:
        raw = json.loads(content)
        cells = raw["cells"]
    except (ValueError, KeyError, TypeError):
        raise Unusable("this is not a notebook of format 4") from None
    for number, cell in enumerate(cells):
        cell.setdefault("id", f"cell-{number}")
    raw.update(nbformat=4, nbformat_minor=5)
    notebook = nbformat.reads(json.dumps(raw), as_version=4)
    nbformat.validate(notebook)
    return notebook


def put_set_up(notebook, source):
    """Make the first code cell the set-up cell with this source."""
    code = [n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    first = code[0] if code else len(notebook.cells)
    if not code or not notebooks.is_set_up(notebook.cells[first]):
        cell = nbformat.v4.new_code_cell(id="set-up")
        notebook.cells.insert(first, cell)
    cell = notebook.cells[first]
    cell.source = source
    tags = cell.metadata.setdefault("tags", [])
    if notebooks.SET_UP_TAG not in tags:
        tags.append(notebooks.SET_UP_TAG)


def execute(notebook, folder):
    client = NotebookClient(
        notebook,
        kernel_name=KERNEL["name"],
        record_timing=False,
        coalesce_streams=True,
        timeout=600,
        extra_arguments=["--log-level=ERROR"],  # no messages about its ports
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise Unusable(where_it_failed(notebook, error)) from None


def where_it_failed(notebook, error):
    """The failing cell's number and code, and what it raised."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    number, cell = next(
        (n, cell)
        for n, cell in enumerate(code, 1)
        if any(o.output_type == "error" for o in cell.outputs)
        and "raises-exception" not in cell.metadata.get("tags", [])
    )
    lines = "\n".join("    " + line for line in cell.source.splitlines())
    return f"code cell {number} raised {error.ename}: {error.evalue}\n{lines}"


def tidy(notebook):
    """Keep what readers need, but nothing that differs between machines."""
    notebook.metadata.pop("colab", None)
    notebook.metadata.kernelspec = KERNEL
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        for key in LEFT_BEHIND:
            cell.metadata.pop(key, None)
        for output in cell.get("outputs", []):
            if output.output_type == "error":  # a traceback holds paths
                output.traceback = [f"{output.ename}: {output.evalue}"]


def replace(path, content):
    """Replace the file in one step, so that a full disk leaves the old one intact."""
    new = path.with_name(path.name + ".new")
    try:
        new.write_bytes(content)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
