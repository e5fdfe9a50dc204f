"""Ring attention: several processes against dense attention in one; and what happens when one of
them dies.
"""

import datetime
import doctest
import functools
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
import torch.distributed as dist
from helpers import D_K, D_V, HAS_DEVICE, TOLERANCES, normal

from attnlib import attention, causal_mask, merge_partials, online_torch, window_mask

if not (dist.is_available() and dist.is_gloo_available() and hasattr(os, "fork")):
    pytest.skip("needs torch.distributed with gloo, and fork", allow_module_level=True)

from attnlib import ring  # noqa: E402

ROOT = Path(ring.__file__).parents[1]
SIZE = 4  # processes; 8 chunks of 3 positions
LATEST = 100  # seconds; a hanging test ends there


# --- running code in several processes ---


def run_ranks(work, size, folder, timeout=60, awaited=None):
    """work(rank, size) in each of `size` processes: what it returned, or a RuntimeError's text;
    None if nothing.

    Only the first `awaited` processes are waited for.
    """
    context = multiprocessing.get_context("forkserver")  # imports torch once for all of them
    context.set_forkserver_preload(["attnlib.ring"])
    processes = [
        context.Process(target=one_rank, args=(work, rank, size, folder, timeout))
        for rank in range(size)
    ]
    for process in processes:
        process.start()
    end_all(processes, processes[:awaited])
    files = [folder / f"{rank}.pt" for rank in range(size)]
    return [torch.load(file, weights_only=False) if file.exists() else None for file in files]


def end_all(processes, awaited):
    end = time.monotonic() + LATEST
    for process in awaited:
        process.join(max(0, end - time.monotonic()))
    hang = any(process.is_alive() for process in awaited)
    for process in processes:
        process.kill()
        process.join()
    assert not hang, "the processes hang"


def one_rank(work, rank, size, folder, timeout):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=size,
        timeout=datetime.timedelta(seconds=timeout),
    )
    try:
        result = work(rank, size)
    except RuntimeError as error:
        result = str(error)
    torch.save(result, folder / f"{rank}.new")
    os.replace(folder / f"{rank}.new", folder / f"{rank}.pt")
    dist.destroy_process_group()


# --- what each process computes ---


def whole(n_q=24, n_k=24, dtype=torch.float64, heads=4, heads_kv=2):
    """Query, key, value and the gradients of output and log-sum-exp, of the whole sequence."""
    shapes = (
        (2, heads, n_q, D_K),
        (2, heads_kv, n_k, D_K),
        (2, heads_kv, n_k, D_V),
        (2, heads, n_q, D_V),
    )
    arrays = [
        torch.from_numpy(normal(*shape, seed=seed)).to(dtype) for seed, shape in enumerate(shapes)
    ]
    return *arrays, torch.from_numpy(normal(2, heads, n_q, 1, seed=9)).to(
        torch.promote_types(dtype, torch.float32)
    )


def everything(attend, query, key, value, grad_output, grad_lse, **options):
    """Output, log-sum-exp and the gradients of the three inputs."""
    inputs = [array.clone().requires_grad_() for array in (query, key, value)]
    output, lse = attend(*inputs, return_lse=True, **options)
    grads = torch.autograd.grad((output, lse), inputs, (grad_output, grad_lse[..., 0]))
    return [array.detach() for array in (output, lse[..., None], *grads)]


PROBLEMS = {
    "full": ({}, {}),
    "causal": ({}, {"is_causal": True}),
    "scale and softcap": ({}, {"scale": 0.7, "softcap": 1.5, "is_causal": True}),
    "n_q is not n_k": ({"n_q": 40}, {}),
    "as many key heads": ({"heads_kv": 4}, {"is_causal": True, "enable_gqa": False}),
    "float32": ({"dtype": torch.float32}, {"is_causal": True}),
    "bfloat16": ({"dtype": torch.bfloat16}, {"is_causal": True}),
}


def problem(name, dtype=None):
    sizes, options = PROBLEMS[name]
    return whole(**sizes | ({"dtype": dtype} if dtype else {})), {"enable_gqa": True} | options


def parts_of(name, rank, size, group=None):
    arrays, options = problem(name)
    return everything(
        functools.partial(ring.attention, group=group),
        *(ring.shard(array, rank, size) for array in arrays),
        **options,
    )


def all_problems(rank, size):
    results = {name: parts_of(name, rank, size) for name in PROBLEMS}
    results["events"] = events(rank, size)
    results["scores"] = scores_computed(rank, size)
    results["unlike"] = complaint(
        rank, size, [array[..., : 24 - 2 * (rank == 1), :] for array in whole()[:3]]
    )
    results["odd"] = complaint(
        rank, size, [array[..., :5, :] for array in whole()[:3]], is_causal=True
    )
    groups = [dist.new_group(ranks) for ranks in ([0, 2], [1, 3])]
    results["groups"] = parts_of("causal", dist.get_rank(groups[rank % 2]), 2, groups[rank % 2])
    return results


def events(rank, size):
    """The order in which messages and computing begin and are waited for."""
    seen, watched = (
        [],
        (ring.pass_on, ring.arrived, online_torch.forward, online_torch.backward_blocks),
    )

    def noting(function, *args):
        seen.append(function.__name__)
        return function(*args)

    pass_on, arrived, forward, backward_blocks = (
        functools.partial(noting, function) for function in watched
    )
    with (
        patch.multiple(ring, pass_on=pass_on, arrived=arrived),
        patch.multiple(online_torch, forward=forward, backward_blocks=backward_blocks),
    ):
        parts_of("causal", rank, size)
    return seen


def scores_computed(rank, size):
    """How many scores this rank computes in the forward pass of a causal problem, masked ones left
    out.
    """
    counts = []

    def counting(query, key, value, attn_mask, window, *options):
        n_q, n_k = query.shape[-2], key.shape[-2]
        counts.append(int(window_mask(n_q, n_k, *window).sum()))
        return original(query, key, value, attn_mask, window, *options)

    original = online_torch.forward
    with patch.object(online_torch, "forward", counting):
        parts_of("causal", rank, size)
    return sum(counts)


def complaint(rank, size, arrays, **options):
    try:
        ring.attention(*arrays, enable_gqa=True, **options)
    except ValueError as error:
        return str(error)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What each of the processes found for all problems."""
    found = run_ranks(all_problems, SIZE, tmp_path_factory.mktemp("ring"))
    assert all(isinstance(result, dict) for result in found), found
    return found


# --- equal to dense attention ---


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "bfloat16"])
def test_parts_make_up_dense_attention(results, name):
    assert_whole([result[name] for result in results], name)


def test_a_group_is_a_ring_of_its_own(results):
    assert_whole([results[0]["groups"], results[2]["groups"]], "causal")
    assert_whole([results[1]["groups"], results[3]["groups"]], "causal")


def assert_whole(parts, name):
    arrays, options = problem(name)
    for got, expected in zip(zip(*parts), everything(attention, *arrays, **options), strict=True):
        got = ring.unshard(got)
        assert got.dtype == expected.dtype
        tolerance = TOLERANCES[str(got.dtype).removeprefix("torch.")]
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_bfloat16_is_as_close_as_dense_attention_allows(results):
    arrays, options = problem("bfloat16")
    exact = everything(attention, *(array.double() for array in arrays), **options)
    dense = everything(attention, *arrays, **options)
    for got, plain, exact in zip(
        zip(*(result["bfloat16"] for result in results)), dense, exact, strict=True
    ):
        got = ring.unshard(got)
        assert got.dtype == plain.dtype
        assert (got - exact).square().mean() ** 0.5 <= 2 * (plain - exact).square().mean() ** 0.5


def by_kernels(rank, size):
    """A causal problem whose parts are computed by Triton's kernels, in the interpreter."""
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
    from attnlib import flash_triton

    with patch.object(ring, "kernels_for", lambda *_: flash_triton):
        return parts_of("float32", rank, size)


def test_parts_may_be_computed_by_kernels(tmp_path):
    pytest.importorskip("triton")
    assert_whole(run_ranks(by_kernels, 2, tmp_path), "float32")


def test_parts_of_kernels_are_merged_before_they_are_rounded():
    """32 parts of bfloat16 that are rounded one by one lose more than the merged output does by its
    one rounding.
    """
    pytest.importorskip("triton")
    from attnlib import flash_triton

    arrays = [
        torch.from_numpy(normal(1, 1, n, 32, seed=seed)).to(torch.bfloat16)
        for seed, n in enumerate((16, 512, 512, 16))
    ]
    query, key, value, grad = (array.to("cuda" if HAS_DEVICE else "cpu") for array in arrays)
    with patch.object(ring, "kernels_for", lambda *_: flash_triton):
        parts = [
            ring.attend(query, *part, False, 0.2, None, None)
            for part in zip(key.chunk(32, 2), value.chunk(32, 2))
        ]
        output, lse = merged(parts)
        shares = ring.gradients(
            query,
            key[..., :16, :],
            value[..., :16, :],
            output,
            lse,
            grad,
            0 * lse,
            False,
            0.2,
            None,
            None,
        )
    assert {array.dtype for array in (output, lse, *shares)} == {torch.float32}

    exact = attention(*(array.double() for array in (query, key, value)), scale=0.2, impl="dense")
    rounded, _ = merged([(part.bfloat16().float(), of) for part, of in parts])
    error, error_of_rounded = (
        (whole.bfloat16() - exact).square().mean() ** 0.5 for whole in (output, rounded)
    )
    assert error < 0.9 * error_of_rounded


def merged(parts):
    return functools.reduce(lambda one, other: merge_partials(*one, *other), parts)


def test_kernels_are_for_cuda_tensors_that_they_take():
    from types import SimpleNamespace

    from attnlib import api

    pytest.importorskip("triton")
    from attnlib import flash_triton

    like = {"is_cuda": True, "ndim": 4, "shape": (2, 4, 6, 8)}
    with patch.object(flash_triton, "unsupported", lambda *_: None):
        chosen = [
            ring.kernels_for(*3 * [SimpleNamespace(**like | change)])
            for change in ({}, {"is_cuda": False}, {"ndim": 3})
        ]
    assert chosen == [flash_triton if api.HAS_TRITON else None, None, None]


# --- the ring ---


def test_messages_are_under_way_while_ranks_compute(results):
    forward = [*["pass_on", "forward", "arrived"] * (SIZE - 1), "forward"]
    # Backward: keys leave before the computing, the sums of their gradients are waited for after
    # it.
    first, then = (
        ["pass_on", "backward_blocks", "pass_on", "arrived"],
        ["pass_on", "backward_blocks", "arrived"],
    )
    last = ["backward_blocks", "arrived", "pass_on", "arrived"]
    assert results[0]["events"] == [
        *forward,
        *first,
        *[*then, "pass_on", "arrived"] * (SIZE - 2),
        *last,
    ]


def test_all_ranks_have_the_same_work(results):
    assert {result["scores"] for result in results} == {causal_mask(24, 24).sum() // SIZE}


def test_parts_that_differ_are_refused_on_all_ranks(results):
    for result in results:
        assert "must be alike on all ranks" in result["unlike"]
        assert "22, 11), (2, 2, 22, 13), 'torch.float64', False) on rank 1" in result["unlike"]


def test_an_odd_part_cannot_be_causal(results):
    assert all("got 5 queries and 5 keys" in result["odd"] for result in results)


# --- who holds what ---


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_meetings_make_up_the_causal_mask(size):
    n = 6 * size
    position = torch.arange(n)[:, None]
    met = torch.zeros(n, n, dtype=torch.int64)
    for rank in range(size):
        queries = ring.shard(position, rank, size)[:, 0]
        for source in range(size):
            keys = ring.shard(position, source, size)[:, 0]
            rows, columns, is_cut = ring.meeting(rank, source, 6, 6, True)
            block = torch.tensor(causal_mask(6, 6)) if is_cut else torch.ones(6, 6)[rows, columns]
            met[queries[rows, None], keys[columns]] += block.long()
    assert met.equal(torch.tensor(causal_mask(n, n)).long())


@pytest.mark.parametrize("size", [1, 2, 3])
def test_unshard_is_the_inverse_of_shard(size):
    array = torch.from_numpy(normal(2, 12 * size, 5))
    assert ring.unshard([ring.shard(array, rank, size) for rank in range(size)]).equal(array)


def test_what_cannot_be_split_is_told():
    with pytest.raises(ValueError, match="multiple of 8, 2 chunks for each of 4 ranks; got 20"):
        ring.shard(torch.zeros(20, 1), 0, 4)


def test_examples():
    results = doctest.testmod(ring)
    assert results.attempted and not results.failed


# --- a rank that dies, a rank that hangs, and the command ---


def falls_out(rank, size, how=None):
    """The last rank stops answering in the second step."""
    computed = []

    def forward(*args):
        computed.append(None)
        if rank == size - 1 and len(computed) == 2:
            os.kill(os.getpid(), how)
        return original(*args)

    original = online_torch.forward
    with patch.object(online_torch, "forward", forward):
        return parts_of("full", rank, size)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["dies", "hangs"])
def test_the_others_fail_with_a_sentence(tmp_path, how):
    first, second, third = run_ranks(
        functools.partial(falls_out, how=how), 3, tmp_path, timeout=3, awaited=2
    )
    assert third is None
    assert "rank 0 of 3 waited in vain for rank 2: a rank has died, or sent nothing" in first
    assert "rank 1 of 3 waited in vain for rank 0" in second


def chapters_processes():
    """run_ranks() as it stands in the chapter, with a timeout of 3 seconds between the ranks."""
    cells = json.loads((ROOT / "chapters/18_more_than_one_gpu.ipynb").read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = {}
    for begin in ("import os", "JOIN =", "def run_ranks", "def finish", "def wait_for"):
        exec(next(source for source in sources if source.startswith(begin)), names)
    names["JOIN"] = re.sub(r"seconds=\d+", "seconds=3", names["JOIN"])
    return names["run_ranks"]


def test_a_rank_that_hangs_in_the_chapter_ends_with_the_others():
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="Timed out"):
        chapters_processes()(
            "\nimport time\ntime.sleep(1000 * rank)\ndist.all_reduce(torch.ones(1))", 2
        )
    assert time.monotonic() - start < 60


def run(*command):
    environment = {name: value for name, value in os.environ.items() if name != "RANK"}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LATEST,
        env=environment,
    )


def test_the_command_compares_with_dense_attention():
    done = run("torch.distributed.run", "--standalone", *ring.COMMAND.split()[1:])
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"ring attention in 2 processes on \w+, .* equal those of dense attention .*\n", done.stdout
    )


def test_the_command_alone_says_how_to_start_it():
    done = run("attnlib.ring")
    assert done.returncode == 1 and ring.COMMAND in done.stderr
