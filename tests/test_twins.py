"""The twins side by side: the same names, words and order; and the public functions' docstrings."""

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

import attnlib
from attnlib import api, dense_numpy, dense_torch, masks

NUMPY_ALONE = ["attention_backward", "softmax_backward", "sum_to_shape"]
TORCH_ALONE = ["is_autocast", "product"]  # NumPy has no autocast
SHARED = [
    "raw_scores",
    "mask_scores",
    "softmax",
    "logsumexp",
    "log_softmax",
    "av_product",
    "attention",
]
PUBLIC = {name: getattr(attnlib, name) for name in attnlib.__all__}


def tree_of(module):
    return ast.parse(Path(module.__file__).read_text(encoding="utf-8"))


def functions(module):
    """Its functions, in the order of the file."""
    return [node.name for node in tree_of(module).body if isinstance(node, ast.FunctionDef)]


SHARED_NAMES = [name for name in functions(dense_torch) if name not in TORCH_ALONE]


def imports(module):
    """Every name that the module imports, wherever in it: attnlib, attnlib.masks,
    attnlib.masks.causal_mask.
    """
    found = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def plain_signature(function):
    return [
        (parameter.name, parameter.kind, parameter.default)
        for parameter in inspect.signature(function).parameters.values()
    ]


def test_the_same_names_in_the_same_order():
    assert [name for name in functions(dense_numpy) if name not in NUMPY_ALONE] == SHARED_NAMES
    assert set(NUMPY_ALONE) < set(functions(dense_numpy)) and set(TORCH_ALONE) < set(
        functions(dense_torch)
    )


@pytest.mark.parametrize("name", SHARED_NAMES)
def test_the_same_signature_and_words(name):
    twin, other = getattr(dense_numpy, name), getattr(dense_torch, name)
    assert plain_signature(twin) == plain_signature(other)
    assert (twin.__doc__ or "").replace("array", "tensor") == (other.__doc__ or "").replace(
        "array", "tensor"
    )


@pytest.mark.parametrize("name", [*SHARED, "attention_backward"])
def test_public_signature_is_the_twins(name):
    public = [parameter for parameter in plain_signature(PUBLIC[name]) if parameter[0] != "impl"]
    assert public == plain_signature(getattr(dense_numpy, name))


@pytest.mark.parametrize("name", [*SHARED, "attention_backward"])
def test_twins_have_one_line_that_points_to_the_public_docstring(name):
    twin = getattr(dense_numpy, name)
    assert twin.__doc__.count("\n") == 0 and f"see attnlib.{name}." in twin.__doc__


def without_hints(function):
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def test_the_signatures_of_the_specification():
    assert (
        without_hints(attnlib.attention)
        == "(query, key, value, attn_mask=None, *, is_causal=False, window=None, scale=None,"
        " softcap=None, enable_gqa=False, return_lse=False, impl=None)"
    )
    assert (
        without_hints(attnlib.attention_backward)
        == "(query, key, value, grad_output, attn_mask=None, *, is_causal=False, window=None,"
        " scale=None, softcap=None, enable_gqa=False, impl=None)"
    )
    assert without_hints(attnlib.raw_scores) == "(query, key, *, scale=None)"
    assert without_hints(attnlib.softmax) == "(scores, axis=-1, *, impl=None)"
    for step in (attnlib.logsumexp, attnlib.log_softmax):
        assert without_hints(step) == "(scores, axis=-1)"


@pytest.mark.parametrize("name", PUBLIC)
def test_public_functions_have_type_hints(name):
    signature = inspect.signature(PUBLIC[name])
    assert signature.return_annotation is not signature.empty
    assert all(
        parameter.annotation is not parameter.empty for parameter in signature.parameters.values()
    )
    assert Path(attnlib.__file__).with_name("py.typed").exists()


def test_twins_never_import_each_other():
    assert not [name for name in imports(dense_numpy) if "torch" in name]
    assert not [name for name in imports(dense_torch) if "numpy" in name or name == "attnlib"]


def test_imports_are_found():
    assert {"numpy", "attnlib.masks.window_mask"} <= imports(dense_numpy)
    assert "attnlib.dense_torch" in imports(api)


# --- docstrings ---


@pytest.mark.parametrize("name", PUBLIC)
def test_public_docstrings_are_whole(name):
    function = PUBLIC[name]
    doc = inspect.getdoc(function)
    sections = re.split(r"^(Args|Returns|Raises|Source):", doc, flags=re.MULTILINE)
    assert sections[1::2] == ["Args", "Returns", "Raises", "Source"]
    assert doc.splitlines()[0].endswith(".") and ">>>" in doc
    described = re.findall(r"^    ([\w, ]+):", sections[2], flags=re.MULTILINE)
    described = ", ".join(described).split(", ")
    assert sorted(described) == sorted(inspect.signature(function).parameters)


@pytest.mark.parametrize("module", [api, masks], ids=lambda module: module.__name__)
def test_examples_run(module):
    results = doctest.testmod(module)
    examples = sum(name in functions(module) for name in PUBLIC)
    assert results.failed == 0 and results.attempted >= examples > 0
