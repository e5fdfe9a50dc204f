"""What the checker sees of torch and Triton beside values, and what it says where they are
missing.
"""

import importlib.util

import pytest

from attncourse.exercises import grade
from attncourse.exercises.engine.prove import load_answers
from attncourse.exercises.families import triton_launches as launches

KERNELS = ("softmax_triton", "flash_attention_triton", "add_triton")
NEEDS_TRITON = pytest.mark.skipif(
    not importlib.util.find_spec("triton"), reason="Triton is not installed"
)


@pytest.mark.parametrize("name", KERNELS)
def test_without_gpu_and_interpreter_a_kernel_is_not_called_wrong(name, monkeypatch):
    monkeypatch.setattr(launches, "interpreted", lambda: False)
    monkeypatch.setattr(launches, "has_cuda", lambda: False)
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    result = grade(name, lambda *args: args[0])
    assert result.status == "not attempted" and not result.mistakes
    assert "CUDA" in result.message and "TRITON_INTERPRET" in result.message


def test_interpreter_asked_for_too_late(monkeypatch):
    monkeypatch.setattr(launches, "interpreted", lambda: False)
    monkeypatch.setattr(launches, "has_cuda", lambda: False)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    assert "restart" in grade("softmax_triton", lambda scores: scores).message


@pytest.mark.parametrize("name", ["attention_torch", "attention_torch_causal", *KERNELS])
def test_without_torch_nothing_is_called_wrong(name, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = grade(name, lambda *args: args[0])
    assert result.status == "not attempted" and "pip install torch" in result.message


@NEEDS_TRITON
def test_a_kernel_that_leaves_its_tensors_does_no_harm():
    wrong = [
        e.function for e in load_answers()["softmax_triton"] if e.names == ("edge not masked",)
    ]
    for function in wrong:
        result = grade("softmax_triton", function)
        assert "outside" in result.message and result.mistakes == ("edge not masked",)


@NEEDS_TRITON
def test_checking_a_kernel_leaves_torch_and_triton_as_they_were():
    import torch
    from triton.runtime import interpreter
    from triton.runtime.jit import JITFunction

    def state():
        builder = type(interpreter.interpreter_builder)
        return JITFunction.run, interpreter.GridExecutor._init_args_hst, dict(vars(builder))

    before = state()
    right = next(e.function for e in load_answers()["softmax_triton"] if e.right)
    assert grade("softmax_triton", right).status == "correct"
    assert state() == before
    assert not torch.are_deterministic_algorithms_enabled()


@NEEDS_TRITON
def test_what_triton_has_no_more_is_no_stub(monkeypatch):
    import triton

    names = {}
    exec(
        compile(
            "def gone(*args, **kwargs):\n    raise NotImplementedError('it was removed')",
            triton.__file__,
            "exec",
        ),
        names,
    )
    monkeypatch.setattr(
        triton.language, "make_block_ptr", triton.language.core.builtin(names["gone"])
    )
    answer = next(
        e.function
        for e in load_answers()["flash_attention_triton"]
        if e.function.__name__ == "flash_by_block_pointers"
    )
    result = grade("flash_attention_triton", answer)
    assert result.status == "error" and "NotImplementedError: it was removed" in result.message
    assert "line" in result.message and "tl.make_block_ptr(" in result.message


@NEEDS_TRITON
def test_a_grid_that_is_a_number_is_named():
    right = next(e.function for e in load_answers()["add_triton"] if e.right)
    kernel = next(v for v in right.__globals__.values() if hasattr(v, "run") and hasattr(v, "fn"))
    blocks = 2

    def add(x, y, block):
        return kernel[blocks](x, y, x, len(x), BLOCK=block)

    def length(x, y, block):
        return len(block)

    said = grade("add_triton", add).message
    assert "has no len()" in said and "Triton takes a tuple as the grid" in " ".join(said.split())
    assert "grid" not in grade("add_triton", length).message


def test_the_stand_in_takes_the_grids_that_triton_takes():
    torch = pytest.importorskip("torch")
    from attncourse import no_triton

    @no_triton.jit
    def mark(target, n):
        no_triton.store(target + no_triton.program_id(0), 1.0)

    for grid in ((3,), lambda arguments: (arguments["n"],)):
        target = torch.zeros(5)
        mark[grid](target, 3)
        assert target.tolist() == [1, 1, 1, 0, 0]
    with pytest.raises(TypeError, match=r"a grid is a tuple, as in kernel\[\(3,\)\]"):
        mark[3](torch.zeros(5), 3)
