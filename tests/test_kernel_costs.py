"""What a right kernel would cost on a chip: bytes against counts by hand, and what the compiler
says for three chips.
"""

import re
import sys
import types

import pytest
import torch
from helpers import HAS_INTERPRETER

from attncourse.bench import launches
from attncourse.bench.compiled import SHARED_MEMORY
from attncourse.exercises import check, grade
from attncourse.exercises.engine.find import exercises
from attncourse.exercises.engine.grading import costs
from attncourse.exercises.engine.prove import load_answers
from attncourse.exercises.families import kernel_costs

if not HAS_INTERPRETER:
    pytest.skip("kernels are counted in Triton's interpreter", allow_module_level=True)

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton import language as tongue  # noqa: E402

LOG2_E = tongue.constexpr(1.4426950408889634)
NUMBER = 1.0
columns = types.ModuleType("not_there")  # a kernel's own variable hides it


@triton.jit
def power_of_e(x):
    return tongue.exp2(x * LOG2_E)


helper = power_of_e


@triton.jit
def with_helper(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + columns
    x = tl.load(x_ptr + at, mask=columns < n, other=-float("inf")).to(tl.float32)
    powers = helper(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, powers / tl.sum(powers, axis=0), mask=columns < n)


@triton.jit
def with_global(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + columns
    x = tl.load(x_ptr + at, mask=columns < n, other=-float("inf")).to(tl.float32)
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, powers * NUMBER / tl.sum(powers, axis=0), mask=columns < n)  # here


WITHOUT_SOURCE = """
@triton.jit
def unwritten(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + columns
    x = tl.load(x_ptr + at, mask=columns < n, other=-float("inf")).to(tl.float32)
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, powers / tl.sum(powers, axis=0), mask=columns < n)
"""


@triton.jit
def many_tiles(x_ptr, y_ptr, out_ptr, n, SIDE: tl.constexpr):
    i, j = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for start in range(0, n, SIDE):
        total += tl.dot(tl.load(x_ptr + i * n + start + j), tl.load(y_ptr + (start + i) * SIDE + j))
    tl.store(out_ptr + i * SIDE + j, total)


def softmax_by(kernel, **options):
    def softmax(scores):
        scores = scores.contiguous()
        out = torch.empty_like(scores)
        rows, n = scores.shape
        kernel[(rows,)](scores, out, n, BLOCK=triton.next_power_of_2(n), **options)
        return out

    return softmax


def right(name, function):
    [found] = [
        entry.function
        for entry in load_answers()[name]
        if entry.right and entry.function.__name__ == function
    ]
    return found


def flash_in_tiles(queries, keys):
    """The right answer, in tiles of another size."""
    kernel = sys.modules[right("flash_attention_triton", "flash_in_blocks").__module__].flash_kernel

    def attention(query, key, value, is_causal):
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        batch, heads, n, d = query.shape
        out = torch.empty_like(query)
        kernel[(triton.cdiv(n, queries), batch * heads)](
            query,
            key,
            value,
            out,
            *query.stride()[:3],
            heads,
            n,
            d**-0.5,
            D=d,
            CAUSAL=is_causal,
            BM=queries,
            BN=keys,
        )
        return out

    return kernel, attention


def said(name, function):
    return " ".join(costs(exercises()[name], function).split())


def made_of(kernel, *args, chips=SHARED_MEMORY, **options):
    """{chip: facts} of one launch, which is noted as if it ran."""
    with launches.noted() as noted:
        kernel[(1,)](*args, **options)
    [(name, made)] = launches.compiled(noted, chips)
    assert name == kernel.fn.__name__
    return made


@pytest.fixture
def not_compiled(monkeypatch):
    monkeypatch.setattr(launches, "compiled", lambda *args: [])


# ---------------------------------------------------------------- bytes


@pytest.mark.parametrize(
    "function, read, times, cached",
    [
        ("one_program_a_row", 1, "1.0", "1.0"),
        ("blocks_of_a_row", 2, "1.5", "1.0"),
        ("several_rows_a_program", 1, "1.0", "1.0"),
    ],
)
def test_bytes_of_a_softmax_are_those_counted_by_hand(function, read, times, cached, not_compiled):
    kib = 16 * 1000 * 4 / 1024
    text = said("softmax_triton", right("softmax_triton", function))
    assert f"read {read * kib:g} KiB and write {kib:g} KiB" in text
    assert (
        f"(counted in the interpreter): {times} times the least" in text
        and f"program after the other, {cached} times" in text
    )


@pytest.mark.parametrize("queries, times", [(32, "4.5"), (64, "2.5"), (256, "1.0")])
def test_bytes_of_attention_are_those_counted_by_hand(queries, times, not_compiled):
    """Each block of queries reads all keys and values."""
    kib = 256 * 64 * 2 // 1024
    text = said("flash_attention_triton", flash_in_tiles(queries, 16)[1])
    assert f"read {kib + 256 // queries * 2 * kib} KiB and write {kib} KiB" in text
    assert f": {times} times the least" in text


def test_block_pointers_are_counted(not_compiled):
    text = said(
        "flash_attention_triton", right("flash_attention_triton", "flash_by_block_pointers")
    )
    assert "read 288 KiB and write 32 KiB" in text


# ---------------------------------------------------------------- what the compiler makes


@pytest.mark.parametrize("name", ["softmax_triton", "flash_attention_triton"])
def test_a_right_kernel_is_told_of_three_chips(name, capsys):
    answer = next(entry.function for entry in load_answers()[name] if entry.right)
    check(name, answer)
    text = capsys.readouterr().out
    assert text.startswith(f"{name}: correct.") and "Registers hold a thread's numbers" in text
    rows = dict(re.findall(r"^  (sm_\d+) \(\w+\) +\d+ +0 B .* (\w+)$", text, re.MULTILINE))
    products = (
        {"sm_75": "none", "sm_80": "mma", "sm_90": "mma"}
        if name == "flash_attention_triton"
        else dict.fromkeys(("sm_75", "sm_80", "sm_90"), "none")
    )
    assert rows == products
    assert all(len(line) <= 76 for line in text.splitlines())
    assert ("For sm_75 (T4) Triton makes tl.dot of" in text) == (name == "flash_attention_triton")


def test_tiles_of_8_are_right_and_no_chip_compiles_them(capsys):
    kernel, attention = flash_in_tiles(8, 8)
    check("flash_attention_triton", attention)
    text = capsys.readouterr().out
    assert text.startswith("flash_attention_triton: correct.")
    assert (
        "no chip compiles it: tl.dot takes tiles whose common axis, the one it sums over, has 16"
        " entries" in " ".join(text.split())
    )
    number, line = re.search(r"  line (\d+): (.*)", text).groups()
    with open(kernel.fn.__code__.co_filename) as file:
        assert (
            file.read().split("\n")[int(number) - 1].strip() == line and "tl.dot(powers, v)" in line
        )


def test_a_kernel_that_spills_is_told_so():
    made = made_of(
        with_helper, torch.zeros(1, 5), torch.empty(1, 5), 5, BLOCK=8192, num_warps=1, chips=[90]
    )
    text = " ".join(kernel_costs._table("with_helper", made, SHARED_MEMORY))
    assert (
        made[90]["stack"] > 0
        and f"255  {made[90]['stack']:5} B" in text
        and "32 threads a program" in text
    )
    assert (
        "On sm_90 (H100) numbers are spilled, and cost accesses to memory: smaller tiles or more"
        " num_warps" in text
    )


def test_more_shared_memory_than_there_is_is_told():
    x, y, out = torch.ones(128, 512), torch.ones(512, 128), torch.empty(128, 128)
    made = made_of(many_tiles, x, y, out, 512, SIDE=128, num_stages=4, num_warps=8, chips=[90])
    assert (out == 512).all() and made[90]["shared"] > SHARED_MEMORY[90]
    text = " ".join(kernel_costs._table("many_tiles", made, SHARED_MEMORY))
    assert "On sm_90 (H100) it does not start: a program may not use so much shared memory." in text


def test_helpers_constants_and_other_names_are_taken_along(monkeypatch):
    monkeypatch.setattr(
        launches, "START", f"import sys; sys.modules['torch'] = None; {launches.START}"
    )  # nor is it needed
    made = made_of(with_helper, torch.zeros(1, 5), torch.empty(1, 5), 5, BLOCK=8)
    assert made.keys() == SHARED_MEMORY.keys() and all(
        facts["registers"] > 0 for facts in made.values()
    )


def test_what_a_kernel_may_not_use_is_told_with_its_line():
    text = said("softmax_triton", softmax_by(with_global))
    assert (
        "with_global runs in the interpreter, and no chip compiles it: it uses the global NUMBER"
        in text
    )
    assert re.search(r"line \d+: tl.store\(.*# here", text)


def test_an_unknown_option_is_told_in_tritons_words():
    assert "with_helper was not compiled: 'Keyword argument warps was" in said(
        "softmax_triton", softmax_by(with_helper, warps=8)
    )


def test_a_launch_is_compiled_once_and_each_kind_of_it():
    tensors = torch.zeros(1, 5), torch.empty(1, 5)
    with launches.noted() as noted:
        for block in (8, 16, 8):
            with_helper[(1,)](*tensors, 5, BLOCK=block)
    found = launches.compiled(noted, [80])
    assert [made[80]["kernel"] for _, made in found] == ["with_helper"] * 2 and len(noted) == 3


def test_on_a_device_its_own_chip_is_compiled_for_and_nothing_counted(monkeypatch):
    """A chip is pretended here: the kernel runs in the interpreter."""
    monkeypatch.setattr(kernel_costs, "interpreted", lambda: False)
    monkeypatch.setattr(kernel_costs, "has_cuda", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 9))
    monkeypatch.setattr(
        torch.cuda,
        "get_device_properties",
        lambda device: types.SimpleNamespace(shared_memory_per_block_optin=101_376),
    )
    text = said("softmax_triton", softmax_by(with_helper))
    assert (
        re.search(r"sm_89 \(yours\) +\d+ +0 B +16 B of 99 KiB", text)
        and "sm_75 (T4)" in text
        and "Your kernels read" not in text
    )


def test_nothing_is_noted_afterwards():
    before = triton.runtime.JITFunction.run, type(with_helper).run
    with pytest.raises(ZeroDivisionError), launches.noted() as noted:
        1 / 0  # noqa: B018
    assert (triton.runtime.JITFunction.run, type(with_helper).run) == before and noted == []


# ---------------------------------------------------------------- where it cannot be said


def test_a_source_that_is_not_found():
    names = {"triton": triton, "tl": tl}
    exec(WITHOUT_SOURCE, names)
    text = said("softmax_triton", softmax_by(names["unwritten"]))
    assert (
        "1.0 times the least" in text
        and "not known: the text of unwritten cannot be found." in text
    )


def test_an_argument_that_cannot_be_written_down():
    odd = launches.Launch(with_helper, (types.SimpleNamespace(),), {})
    with pytest.raises(
        launches.NotCompiled, match="a value of type SimpleNamespace cannot be handed"
    ):
        launches.compiled([odd], [80])


@pytest.mark.parametrize("patience", [1, 1000])  # by the clock, and by what it computes
def test_a_compiler_that_takes_too_long(monkeypatch, patience):
    monkeypatch.setattr(kernel_costs, "SECONDS", 0.05)
    monkeypatch.setattr(launches, "PATIENCE", patience)
    text = said("softmax_triton", softmax_by(with_helper))
    assert "For sm_90 (H100) the compiler of with_helper was not done within 0.05 seconds." in text


def test_a_compiler_that_has_to_wait_is_not_late(monkeypatch):
    waiting = (
        "import attncourse.bench.compiled as c, time; c.report = lambda *unused: time.sleep(2);"
    )
    monkeypatch.setattr(kernel_costs, "SECONDS", 0.5)
    monkeypatch.setattr(launches, "PATIENCE", 1000)
    monkeypatch.setattr(launches, "START", launches.START.replace("from", f"{waiting} from"))
    assert "ended without a word" in said("softmax_triton", softmax_by(with_helper))


@pytest.mark.parametrize(
    "program, words",
    [
        ("raise SystemExit('no compiler {}')", "is not known: no compiler"),
        (
            "import os, signal; '{}'; os.kill(os.getpid(), signal.SIGKILL)",
            "the compiler of with_helper ended without a word",
        ),
    ],
)
def test_a_compiler_that_ends(program, words, monkeypatch):
    monkeypatch.setattr(launches, "START", program)
    assert words in said("softmax_triton", softmax_by(with_helper))


def test_a_right_answer_stays_right_whatever_happens(monkeypatch, capsys):
    monkeypatch.setattr(exercises()["softmax_triton"], "costs", lambda run: 1 / 0)
    check(softmax_by(with_helper), "softmax_triton")
    text = capsys.readouterr().out
    assert (
        text.startswith("softmax_triton: correct.")
        and "couldn't be worked out. ZeroDivisionError" in text
    )


def test_marking_and_wrong_answers_ask_no_compiler(monkeypatch, capsys):
    monkeypatch.setattr(exercises()["softmax_triton"], "costs", lambda run: pytest.fail("asked"))
    assert grade("softmax_triton", softmax_by(with_helper)).status == "correct"
    check("softmax_triton", lambda scores: scores)
    assert "What it would cost" not in capsys.readouterr().out
