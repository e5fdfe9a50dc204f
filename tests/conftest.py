"""The same tests for every implementation."""

import os
from unittest.mock import patch

import pytest
import torch

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before anybody imports Triton: kernels then run on the CPU

from attnlib import api, online_numpy, online_torch, threads  # noqa: E402

# Blocks so small that the problems of the tests fall into several, and threads for all of them.
SMALL_BLOCKS = {online_numpy: {"QUERIES": 3, "KEYS": 2, "DIAGONAL": 2}, online_torch: {"QUERIES": 3, "KEYS": 2},
                threads: {"FEW": 0}}


@pytest.fixture(params=["dense", "online", "online in small blocks"], scope="module")
def each_impl(request):
    """What impl=None stands for while the tests of a module run."""
    name = request.param.split()[0]
    sizes = SMALL_BLOCKS if "small" in request.param else {}
    patches = [patch.object(api, "choose_impl", lambda impl, *_: impl or name)]
    patches += [patch.multiple(module, **values) for module, values in sizes.items()]
    for each in patches:
        each.start()
    yield request.param
    for each in patches:
        each.stop()
