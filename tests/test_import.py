"""What an import brings in, and what it does not."""

import ast
import functools
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import attnlib

ROOT = Path(attnlib.__file__).parents[1]
PACKAGES = ("attncourse", "attnlib")
HEAVY = ("torch", "triton", "matplotlib", "scipy")
BLOCKED = f"import sys; sys.modules.update(dict.fromkeys({HEAVY!r}));"
WITHOUT_TORCH = (
    BLOCKED
    + """
import numpy as np, attnlib
x = np.ones((2, 3))
assert attnlib.attention(x, x, x, attnlib.causal_mask(2, 2)).tolist() == x.tolist()
assert attnlib.attention_backward(x, x, x, x)[2].tolist() == x.tolist()
try:
    attnlib.attention([[1.0]], x, x)
except TypeError as error:
    assert "query must be a NumPy array or a torch tensor; got list" in str(error)
"""
)


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


def test_import_brings_in_numpy_alone():
    done = run(f"import sys, attnlib; print(*[name for name in {HEAVY} if name in sys.modules])")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_import_brings_in_nothing_but_numpy_and_itself():
    numpy = (
        "import contextlib, sys, numpy\nwith contextlib.suppress(ImportError): import"
        " numpy.lib.introspect\n"
    )
    before = run(numpy + "print(*sys.modules)").stdout.split()
    after = run(numpy + "import attnlib; print(*sys.modules)").stdout.split()
    new = {
        name
        for name in {*after} - {*before}
        if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert sorted(new) == [
        "attnlib",
        "attnlib.api",
        "attnlib.checks",
        "attnlib.dense_numpy",
        "attnlib.masks",
        "attnlib.online_numpy",
        "attnlib.threads",
    ]


def test_everything_of_numpy_works_without_torch():
    done = run(WITHOUT_TORCH)
    assert done.returncode == 0, done.stderr


def test_blocking_blocks():
    pytest.importorskip("torch")
    assert run(BLOCKED + "import torch").returncode != 0


def test_public_names():
    assert attnlib.__all__ == sorted(attnlib.__all__)
    assert set(attnlib.__all__) == {
        "raw_scores",
        "mask_scores",
        "softmax",
        "logsumexp",
        "log_softmax",
        "av_product",
        "causal_mask",
        "merge_partials",
        "padding_mask",
        "window_mask",
        "attention",
        "attention_backward",
    }


# --- who imports whom ---


@functools.cache
def modules():
    """{name: path} of every file of both packages; a folder's own name is that of its
    __init__.py.
    """
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
    }


def imported(name, source, names):
    """Those of `names` that the module imports, wherever in it: a function's own import counts as
    one.
    """
    folder = name if modules()[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & names
        elif isinstance(node, ast.ImportFrom):
            above = folder.rsplit(".", node.level - 1)[0] if node.level else ""
            start = ".".join(part for part in (above, node.module) if part)
            parts = {f"{start}.{alias.name}" for alias in node.names}
            yield from parts & names or {start} & names


def import_graph():
    names = set(modules())
    return {
        name: set(imported(name, path.read_text(encoding="utf-8"), names)) - {name}
        for name, path in modules().items()
    }


def test_attnlib_never_imports_attncourse():
    graph = import_graph()
    assert [
        name
        for name, used in graph.items()
        if name.startswith("attnlib") and any(one.startswith("attncourse") for one in used)
    ] == []
    assert "attnlib" in graph["attncourse.bench.cuda"]


def test_imports_go_one_way():
    graph = import_graph()
    assert (
        "attnlib.masks" in graph["attnlib.flash_triton"]
        and "attnlib.decode_triton" in graph["attnlib.flash_triton"]
    )
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, with the files of a circle


def test_an_answer_is_graded_where_nobody_has_imported_attnlib():
    done = run(
        "from attncourse.exercises import grade; print(grade('softmax_row', lambda scores:"
        " scores).status)"
    )
    assert done.stdout.strip() == "incorrect", done.stderr
