"""The same tests for every implementation."""

import os
import time
from unittest.mock import patch

import pytest
import torch

if not torch.cuda.is_available():
    os.environ.setdefault(
        "TRITON_INTERPRET", "1"
    )  # before anybody imports Triton: kernels then run on the CPU

from helpers import FORKS_CI, HAS_DEVICE, HAS_INTERPRETER, TRITON_DTYPES  # noqa: E402
from served import address, chromium, folder, page  # noqa: E402, F401

from attncourse.exercises.families.triton_launches import quicker_interpreter  # noqa: E402
from attnlib import api, online_numpy, online_torch, threads  # noqa: E402

if HAS_INTERPRETER:
    for owner, name, value in quicker_interpreter():
        setattr(owner, name, value)

# Blocks so small that the tests' problems have several, and threads for all of them.
SMALL_BLOCKS = {
    online_numpy: {"QUERIES": 3, "KEYS": 2, "DIAGONAL": 2, "TASK": 5},
    online_torch: {"QUERIES": 3, "KEYS": 2},
    threads: {"FEW": 0},
}


@pytest.fixture(params=["dense", "online", "online in small blocks", "triton"], scope="module")
def each_impl(request):
    """What impl=None stands for while the tests of a module run."""
    name = request.param.split()[0]
    sizes = SMALL_BLOCKS if "small" in request.param else small_tiles() if name == "triton" else {}

    def choose(impl, kind, *_):
        return impl or ("dense" if name == "triton" and kind == "numpy" else name)

    patches = [patch.object(api, "choose_impl", choose)]
    patches += [patch.multiple(module, **values) for module, values in sizes.items()]
    for each in patches:
        each.start()
    yield request.param
    for each in patches:
        each.stop()


@pytest.fixture(scope="session")
def fork_site(tmp_path_factory):
    """The book as the continuous integration of a fork builds it: once, for the tests of all
    workers.
    """
    import run

    top = tmp_path_factory.getbasetemp()
    top = top.parent if "PYTEST_XDIST_WORKER" in os.environ else top
    with open(top / "fork-site.lock", "w+b") as file:
        while not run.lock(file):
            time.sleep(0.2)
        done = top / "fork-site.done"
        if not done.exists():
            assert run.build("--path-output", top / "fork-site", **FORKS_CI) == 0
            done.touch()
    return top / "fork-site" / "_build" / "html"


def small_tiles():
    """Tiles so small that the tests' problems need several: the interpreter takes any size, a
    device none below 16.
    """
    if not HAS_INTERPRETER:
        return {}
    from attnlib import flash_triton

    return {
        flash_triton: {
            "config": lambda step, dtype, d_k, *_: (8, 4, 4, 1) if d_k < 32 else (32, 32, 4, 1)
        }
    }


def pytest_configure(config):
    if config.option.markexpr == "gpu" and not HAS_DEVICE:
        raise pytest.UsageError(
            "there is no CUDA device here, and -m gpu runs the tests that need one"
        )


def pytest_collection_modifyitems(config, items):
    """The Triton kernels take tensors of three dtypes: no arrays, and no float64, which is the
    tests' default. Without a device, tests that need one are not made.
    """
    left_out = [
        item
        for item in items
        if hasattr(item, "callspec")
        and not is_taken(item.callspec.params)
        or item.get_closest_marker("gpu")
        and not HAS_DEVICE
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def is_taken(params):
    if params.get("each_impl") != "triton":
        return True
    library = params.get("library", "torch")
    return params.get("dtype") in TRITON_DTYPES and (
        library == "cuda" or library == "torch" and HAS_INTERPRETER
    )
