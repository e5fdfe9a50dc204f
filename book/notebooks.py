"""Where the notebooks are, and the first code cell that they share."""

import importlib.util
import os
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"
PACKAGES = ("attncourse", "attnlib")  # one distribution

SET_UP = """\
import importlib.util
if importlib.util.find_spec("attnlib") is None:  # in Colab, for example
    %pip install --quiet --no-deps {place}"""
SET_UP_TAG = "remove-cell"  # the book's readers have nothing to install
DEVICE_TAG = "depends-on-device"  # on a GPU, or without Triton, the cell says something else


def notebook_paths(chapters=CHAPTERS):
    return sorted(
        path for path in Path(chapters).rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts
    )


def read_cells(source):
    """The notebook's cells; none for any other page."""
    if not str(source).endswith(".ipynb"):
        return []
    return nbformat.read(str(source), as_version=4).cells


def set_up_source(place):
    """The text of every notebook's first code cell, which installs from `source`."""
    return SET_UP.format(place=place)


def clone_of(path):
    """The clone that holds a notebook, as seen from its folder: the sources name no address."""
    folder = Path(path).resolve().parent
    return (
        Path(*[".."] * len(folder.relative_to(ROOT).parts)).as_posix()
        if ROOT in folder.parents
        else ".."
    )


def is_set_up(cell):
    return cell["cell_type"] == "code" and 'find_spec("attnlib")' in cell["source"]


def says_the_same_here(cell):
    """Whether the cell must print what the book shows: it was filled with Triton and without a
    GPU.
    """
    if DEVICE_TAG not in cell["metadata"].get("tags", []):
        return True
    import torch

    return bool(importlib.util.find_spec("triton")) and not torch.cuda.is_available()


def use_one_environment():
    """Make kernels started from here alike on every machine."""
    os.environ.update(
        # figures go into the notebook, whatever the user's settings are
        MPLBACKEND="module://matplotlib_inline.backend_inline",
        # kernels run side by side, and sums depend on the number of threads
        OMP_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
        MKL_NUM_THREADS="1",
        # the kernel of this environment, not one installed for the user
        JUPYTER_PREFER_ENV_PATH="1",
        PYTHONUTF8="1",
    )
    # A first import of it may print that it builds its font cache: not into
    # a notebook.
    import matplotlib.font_manager  # noqa: F401
