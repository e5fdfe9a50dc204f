"""A notebook alone, as Colab opens it: its button and its set-up cell. `pytest --nbval` runs it so
from top to bottom.

The environment has Colab's packages and not ours. A local clone stands in for the public address.
"""

import ast
import os
import re
import shutil
import subprocess
from collections import Counter

import nbformat
import pytest
from helpers import PUBLIC
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from book import alone, notebooks
from book.notebooks import CHAPTERS, ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights")
PACKAGE = ("attncourse", "attnlib", "pyproject.toml", "README.md", "LICENSE")
NO_INDEX = (
    r"NewConnectionError|ConnectTimeout|ReadTimeout|name resolution|"
    r"(Could not find a version|No matching distribution).*setuptools"
)


# --- the environment --------------------------------------------------------


def make_public(folder):
    """A repository with attnlib as it is in this working tree."""
    folder.mkdir()
    for name in PACKAGE:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, folder)
    git = ["git", "-C", str(folder), "-c", "user.name=test", "-c", "user.email=test@example.org"]
    subprocess.check_call([*git, "init", "--quiet"])
    subprocess.check_call([*git, "add", "--all"])
    subprocess.check_call([*git, "commit", "--quiet", "--message", "all"])


class Colab:
    """Runs cells, as Colab does, with a clone behind the public address."""

    def __init__(self, folder):
        self.python = alone.make_colab(folder / "env")
        make_public(folder / "public")
        alone.make_kernel(folder / "kernels" / "python3", self.python)
        self.kernels = [str(folder / "kernels")]
        hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        self.environment = {k: v for k, v in os.environ.items() if k not in hidden}
        self.environment.update(
            OMP_NUM_THREADS="1",
            MPLBACKEND="module://matplotlib_inline.backend_inline",
            PYTHONUTF8="1",
            PYTHONNOUSERSITE="1",
            GIT_CONFIG_COUNT="1",
            GIT_CONFIG_KEY_0=f"url.{folder / 'public'}.insteadOf",
            GIT_CONFIG_VALUE_0=PUBLIC,
        )

    def freeze(self):
        return subprocess.check_output(
            [self.python, "-m", "pip", "freeze"], text=True, env=self.environment
        ).splitlines()

    def run(self, sources, folder):
        """Run cells in a fresh kernel in `folder`; the outputs of each."""
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        notebook = nbformat.v4.new_notebook(cells=cells)
        manager = AsyncKernelManager(
            kernel_spec_manager=KernelSpecManager(
                kernel_dirs=self.kernels, ensure_native_kernel=False
            )
        )
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=300,
            coalesce_streams=True,
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute(
            env=self.environment, cleanup_kc=True
        )  # a manager that is handed over is left running
        return [cell.outputs for cell in cells]


def text(outputs):
    return "".join(output.get("text", "") for output in outputs)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    return Colab(tmp_path_factory.mktemp("colab"))


CPU_SECONDS = """\
import resource
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
print(spent.ru_utime + spent.ru_stime)"""


@pytest.fixture(scope="module")
def set_up(bare, tmp_path_factory):
    """(packages before, packages after, CPU seconds) of the set-up cell."""
    before = bare.freeze()
    cell = notebooks.set_up_source("git+" + PUBLIC)
    said, spent = bare.run([cell, CPU_SECONDS], tmp_path_factory.mktemp("empty"))
    after = bare.freeze()
    if before == after and re.search(NO_INDEX, text(said)) and "CI" not in os.environ:
        pytest.skip("no package index can be reached for setuptools")
    return before, after, float(text(spent))


def test_the_environment_is_colabs_and_not_ours(bare, set_up):
    before, _, _ = set_up
    names = {line.partition("==")[0] for line in before}
    assert {"numpy", "torch", "matplotlib", "ipykernel"} <= names
    assert not names & {"attnlib", "pytest", "sphinx", "nbval", "hypothesis"}


def test_set_up_adds_attnlib_and_changes_nothing_else(set_up):
    before, after, _ = set_up
    assert len(after) == len(before) + 1
    [added] = set(after) - set(before)
    assert added.startswith("attnlib")


def test_set_up_takes_less_than_20_seconds_of_work(set_up):
    assert 0 < set_up[2] < 20


def package_files(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".md")
    }


def test_set_up_installs_every_file_of_the_package(bare, set_up):
    """The notebooks run beside attnlib as it is here (book/alone.py): a reader in Colab gets the
    same.
    """
    for package, least in {"attnlib": 14, "attncourse": 200}.items():
        found = package_files(alone.site_packages(bare.python) / package)
        assert found == package_files(ROOT / package) and len(found) >= least


def test_set_up_is_one_line_and_does_nothing_a_second_time(bare, set_up, tmp_path):
    cell = notebooks.set_up_source("git+" + PUBLIC)
    assert sum("install" in line for line in cell.splitlines()) == 1
    assert bare.run([cell], tmp_path) == [[]]


# --- a learner's answers ----------------------------------------------------


def bound_in(source):
    """The names that a cell binds, functions and imports included."""
    lines = [line for line in source.splitlines() if not line.lstrip().startswith("%")]
    nodes = list(ast.walk(ast.parse("\n".join(lines) + "\n    pass" * ("%pip" in source))))
    names = [node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    names += [
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return set(names + [node.asname or node.name for node in nodes if isinstance(node, ast.alias)])


def overwritten(sources):
    """The exercises whose function more than one cell binds."""
    asked = set(re.findall(r'^check\("(\w+)"', "\n".join(sources), re.MULTILINE))
    counts = Counter(name for source in sources for name in bound_in(source) & asked)
    return sorted(name for name in asked if counts[name] != 1)


# "Start here" mends an answer before the reader's eyes, and has no exercise.
@pytest.mark.parametrize(
    "path",
    sorted(CHAPTERS.glob("0[1-9]*.ipynb")) + sorted(CHAPTERS.glob("[1-9]*.ipynb")),
    ids=lambda path: path.name,
)
def test_no_cell_binds_an_answers_name_again(path):
    sources = [
        cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"
    ]
    assert overwritten(sources) == []


@pytest.mark.parametrize(
    "source, found",
    [
        ("x = 1", []),
        ("softmax = None", ["softmax"]),
        ("from attnlib import softmax", ["softmax"]),
        ("for softmax in range(3):\n    pass", ["softmax"]),
        ("def softmax(x):\n    return x", ["softmax"]),
    ],
)
def test_a_second_binding_is_found(source, found):
    cells = ["def softmax(scores, axis=-1):\n    ...", 'check("softmax", softmax)', source]
    assert overwritten(cells) == found


# --- the button -------------------------------------------------------------


@pytest.mark.parametrize(
    "path", notebooks.notebook_paths(), ids=lambda path: str(path.relative_to(CHAPTERS))
)
def test_colab_button_follows_the_address(fork_site, path):
    page = path.relative_to(ROOT)
    html = (fork_site / page.with_suffix(".html")).read_text(encoding="utf-8")
    buttons = re.findall(r'href="(https://colab[^"]*)"', html)
    assert set(buttons) == {
        f"https://colab.research.google.com/github/someone/a-book/blob/colab/{page.as_posix()}"
    }
    download = nbformat.read(fork_site / "_sources" / page, as_version=4)
    assert [c.source for c in download.cells if notebooks.is_set_up(c)] == [
        notebooks.set_up_source(f"git+{PUBLIC}@0123abc")
    ]
