"""The kernels that a chapter shows: they run where Triton is not installed, and compile for GPUs
that are not here.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from attncourse import no_triton
from attncourse.bench.compiled import SHARED_MEMORY
from book import notebooks

TESTS = Path(__file__).parent
CHAPTERS = [
    "15_numpy_to_gpu.ipynb",
    "solutions/15_numpy_to_gpu.ipynb",
    "16_fused_kernel.ipynb",
    "solutions/16_fused_kernel.ipynb",
    "17_decoding.ipynb",
]


def code_cells(chapter):
    """All cells of code but the first, which installs attnlib."""
    cells = nbformat.read(notebooks.CHAPTERS / chapter, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"][1:]


def run(program, cells, *args, **environment):
    """What a program prints that gets the sources of these cells, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, args)],
        text=True,
        capture_output=True,
        input=json.dumps([cell.source for cell in cells]),
        cwd=TESTS.parent,
        env={**os.environ, "MPLBACKEND": "agg", "CUDA_VISIBLE_DEVICES": "", **environment},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


# --- without Triton ---

WITHOUT_TRITON = """
import contextlib, io, json, linecache, sys
sys.modules["triton"] = None  # import triton raises ImportError
said, names = [], {"__name__": "__main__"}
for number, source in enumerate(json.load(sys.stdin)):
    linecache.cache[f"cell {number}"] = len(source), None, source.splitlines(True), f"cell {number}"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(source, f"cell {number}", "exec"), names)
    said.append(out.getvalue())
print(json.dumps(said))
"""


def stored_text(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_cells_run_without_triton_and_say_the_same(chapter):
    cells = code_cells(chapter)
    said = run(WITHOUT_TRITON, cells)
    for cell, text in zip(cells, said, strict=True):
        if notebooks.DEVICE_TAG not in cell.metadata.get("tags", []):
            assert text == stored_text(cell), cell.source
    if not chapter.startswith("solutions"):
        assert "Triton is not installed: a stand-in runs the kernels.\n" in said


def test_the_stand_in_masks_loads_and_stores():
    import torch

    numbers = no_triton.pointer_to(torch.arange(6.0).view(2, 3)[1])
    column = no_triton.arange(0, 4)
    loaded = no_triton.load(numbers + column, mask=column < 3, other=-1.0)
    assert loaded.tolist() == [3.0, 4.0, 5.0, -1.0]
    target = torch.zeros(5)
    no_triton.store(no_triton.pointer_to(target) + column, loaded, mask=column < 2)
    assert target.tolist() == [3.0, 4.0, 0.0, 0.0, 0.0]


def test_the_stand_in_is_no_substitute_for_the_checker():
    printed = run(WITHOUT_TRITON, code_cells(CHAPTERS[1]))
    assert sum("Triton exists for Linux" in text for text in printed) >= 7


# --- compiled for GPUs ---

COMPILED = """
import ast, json, sys
sys.path.insert(0, "tests")
import compiled, torch, triton
from pathlib import Path
kernels = [ast.unparse(node) for source in json.load(sys.stdin) if "@triton.jit" in source
           for node in ast.parse(source).body if getattr(node, "decorator_list", [])]
# Triton reads a kernel's source from its file.
(Path(sys.argv[2]) / "kernels.py").write_text("import triton, triton.language as tl\\n" + "\\n".join(kernels))
sys.path.insert(0, sys.argv[2])
import kernels
triton.runtime.driver.set_active(compiled.NoDevice(int(sys.argv[1])))
scores, out = torch.empty(8, 1000), torch.empty(8, 1024)
rows, cache, parts, few = (torch.empty(*size) for size in ((8, 64), (2, 1000, 64), (4, 8, 64), (4, 8)))
table, group = torch.zeros(63, dtype=torch.int64), {"GROUP": 4, "D": 64}
tiles = (*(torch.empty(100, 100, dtype=torch.float16) for _ in range(3)), 100, 100, 100)
launches = {
    "one_row": (out[0], out[1], {"n": 1024}),
    "many_rows": (out, out, 1024, 1024, {"n": 1024}),
    "what_is_loaded": (scores, out, 1000, 1000, -float("inf"), {"BLOCK": 1024}),
    "several_rows": (scores, scores, 8, 1000, {"ROWS": 2, "BLOCK": 1024}),
    "double_kernel": (scores, scores, {"BLOCK": 128}),
    "add_kernel": (scores, scores, scores, 8000, {"BLOCK": 128}),
    "outer_sum_kernel": (scores, scores, out, 8, 1000, {"BLOCK": 32}),
    "row_sums_kernel": (scores, scores, 1000, {"BLOCK": 128}),
    "multiply_relu_kernel": (scores, scores, scores, 1000, {"BLOCK": 128}),
    "multiply_relu_backward_kernel": (scores, scores, scores, scores, 1000, {"BLOCK": 128}),
    "looped_softmax_kernel": (scores, scores, 1000, {"BLOCK": 128}),
    "softmax_kernel": (scores, scores, 1000, 1000, 1000, {"BLOCK": 1024}),
    "head_by_head": (rows, cache, cache, rows, 1000, {**group, "BLOCK": 16}),
    "group_at_once": (rows, cache, cache, rows, 1000, {**group, "BLOCK": 16}),
    "part_of_keys": (rows, cache, cache, parts, few, 1000, 8, 256, {**group, "BLOCK": 16}),
    "merge_parts": (parts, few, rows, 8, 4, {"PARTS": 4, "D": 64}),
    "part_of_pages": (rows, cache, cache, table, parts, few, 1000, 8, 256, 1008, {**group, "PAGE": 16}),
    "one_entry": (out, out, out, 1024, {"k": 1024}),
    "one_tile": (out, out, out, {"n": 16}),
    "tiled": (*tiles, {"GROUP": 4, "BLOCK": 32}),
    "matmul_kernel": (*tiles, {"BLOCK": 32})}
if hasattr(kernels, "rows"):  # chapter 16, at its sizes
    x, square, row = torch.empty(2, 512, 32, dtype=torch.half), torch.empty(2, 512, 512, dtype=torch.half), torch.empty(2, 512)
    inputs, sums, k = (x, x, x), torch.empty(2, 512, 32), kernels
    backward = (*inputs, x, row, row, sums, sums, sums, 0.2, 0.2, 512, 32, 64)
    launches = {
        "scores_kernel": (x, x, square, 0.2, 512, 32, 16, {}), "weights_kernel": (square, square, 512, 16, {}),
        "product_kernel": (square, x, x, 512, 32, 16, {}), "whole_rows": (*inputs, x, 0.2, 512, 32, 16, {}),
        "largest_scores": (x, x, row, 0.2, 37, {"D": 32, "BLOCK": 16}),
        "in_blocks": (*inputs, x, 0.2, 512, 32, 128, 64, k.multiply_add, k.divided, {}),
        "causal": (*inputs, x, row, 0.2, 512, 32, 64, 64, k.mask_the_diagonal, k.longest_first, {}),
        "keys_backward": (*backward, k.made_again, True, {}),
        "queries_backward": (*inputs, x, row, row, sums, 0.2, 0.2, 512, 32, 64, {})}
if hasattr(kernels, "attention_kernel"):
    x = torch.empty(2, 512, 128, dtype=torch.half)
    launches["attention_kernel"] = x, x, x, x, 0.1, 500, 128, True, 16, 16, {}
    row, sums = torch.empty(2, 512), torch.empty(2, 512, 128)
    launches["keys_causal"] = x, x, x, x, row, row, sums, sums, 0.1, 500, 128, 16, {}
facts = []
for name in set(launches) & set(vars(kernels)):
    *args, constants = launches[name]
    [kernel] = compiled.compiled(lambda: getattr(kernels, name)[(8,)](*args, **constants))
    facts.append(compiled.facts(kernel))
print(json.dumps(facts))
"""  # noqa: E501


FIRST = {
    "add_kernel",
    "outer_sum_kernel",
    "row_sums_kernel",
    "multiply_relu_kernel",
    "multiply_relu_backward_kernel",
    "looped_softmax_kernel",
}


@pytest.mark.parametrize("capability", [75, 80, 90])
@pytest.mark.parametrize(
    "chapter, kernels",
    [
        (
            CHAPTERS[0],
            {
                "one_row",
                "many_rows",
                "what_is_loaded",
                "double_kernel",
                *FIRST,
                "softmax_kernel",
                "several_rows",
                "one_entry",
                "one_tile",
                "tiled",
                "matmul_kernel",
            },
        ),
        (CHAPTERS[1], {*FIRST, "softmax_kernel", "matmul_kernel"}),
        (
            CHAPTERS[2],
            {
                "scores_kernel",
                "weights_kernel",
                "product_kernel",
                "whole_rows",
                "largest_scores",
                "in_blocks",
                "causal",
                "keys_backward",
                "queries_backward",
                "attention_kernel",
                "keys_causal",
            },
        ),
        (CHAPTERS[3], {"attention_kernel", "keys_causal"}),
        (
            CHAPTERS[4],
            {"head_by_head", "group_at_once", "part_of_keys", "merge_parts", "part_of_pages"},
        ),
    ],
    ids=["15", "solutions of 15", "16", "solutions of 16", "17"],
)
def test_kernels_compile_for_gpus(chapter, kernels, capability, tmp_path):
    pytest.importorskip("triton")
    facts = run(COMPILED, code_cells(chapter), capability, tmp_path, TRITON_INTERPRET="0")
    assert {kernel["kernel"] for kernel in facts} == kernels
    # Triton has no matrix instructions for a T4: products take more registers than there are, and
    # the chapter says so.
    assert all(kernel["stack"] == 0 or capability == 75 and "16" in chapter for kernel in facts), (
        facts
    )
    assert all(kernel["shared"] <= SHARED_MEMORY[capability] for kernel in facts), facts
    products = [
        kernel
        for kernel in facts
        if kernel["kernel"] in ("tiled", "matmul_kernel") and kernel["shared"]
    ]
    assert len(products) == ("15" in chapter)
    assert all(
        bool(product["mma"] + product["wgmma"]) == (capability >= 80) for product in products
    ), products


LADDER = (
    COMPILED[: COMPILED.index("scores, out =")]
    + """
x, lse = torch.empty(4, 1024, 128, dtype=torch.half), torch.empty(4, 1024)
inputs, tile = (x, x, x, x), (1024, 128, 64, 64)


def measured(kernel, *args, num_stages=2):
    [made] = compiled.compiled(lambda: kernel[(16, 4)](*args, num_warps=4, num_stages=num_stages))
    return compiled.loops(made), compiled.facts(made)["shared"]


def step(name, finish=kernels.divided, **options):
    [loop], shared = measured(kernels.in_blocks, *inputs, 0.1, *tile, getattr(kernels, name), finish, **options)
    return loop, shared


names = ["divide_once", "powers_of_2", "multiply_add"]
instructions = {"divide_every_block": step("divide_every_block", kernels.as_it_is)[0], **{name: step(name)[0] for name in names}}
loops, _ = measured(kernels.causal, *inputs, lse, 0.1, *tile, kernels.mask_the_diagonal, kernels.head_by_head)
instructions["whole"], instructions["masked"] = sorted(loops)
stages = {}
for number in (1, 2, 3):
    loop, shared = step("multiply_add", num_stages=number)
    stages[number] = {"instructions": loop, "shared": shared}
tiles = {}  # attnlib's own forward kernel, whose tiles are larger, and the one that copies them by descriptors
for name, launches in (("addresses", compiled.attention_launches), ("descriptors", compiled.descriptor_launches)):
    _, _, launcher, *args = next(launches([(torch.half, (128, 128), "plain")]))
    [made] = compiled.compiled(launcher, *args)
    tiles[name] = {"instructions": compiled.loops(made)[0], "registers": compiled.facts(made)["registers"]}
print(json.dumps({"triton": triton.__version__, "chip": "sm_90", "tile": "64 queries, 64 keys, 128 features",
                  "instructions": instructions, "stages": stages, "tiles by": tiles}))
"""  # noqa: E501
)


def test_the_ladder_of_chapter_16_is_as_recorded(tmp_path):
    """The instructions of each rung; with ATTNLIB_RECORD=1 they are recorded, in
    attncourse/recorded/attention_ladder.json.
    """
    pytest.importorskip("triton")
    ladder = run(LADDER, code_cells(CHAPTERS[2]), 90, tmp_path, TRITON_INTERPRET="0")
    path = TESTS.parent / "attncourse/recorded/attention_ladder.json"
    if os.environ.get("ATTNLIB_RECORD") == "1":
        path.write_text(json.dumps(ladder, indent=1) + "\n", encoding="utf-8")
    record, now = json.loads(path.read_text(encoding="utf-8")), ladder["instructions"]
    if record["triton"] == ladder["triton"]:
        assert ladder == record
    # What the chapter says of them holds for any version.
    every, once, powers, multiply_add = list(now.values())[:4]
    assert every > once > powers > multiply_add and powers < 0.65 * every
    assert once - powers > max(every - once, powers - multiply_add)
    assert now["whole"] < now["masked"]
    assert all(
        ladder["tiles by"]["descriptors"][what] < count
        for what, count in ladder["tiles by"]["addresses"].items()
    )
