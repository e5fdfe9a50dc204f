"""Streaming attention: blocks, memory, threads, and what it leaves behind. Results on small
problems are held by test_attention.py, test_gradients.py and test_precision.py."""

import ast
import collections
import os
import signal
import subprocess
import sys
import threading
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers import (
    assert_close,
    draws,
    each_library,
    each_library_and_dtype,
    gradients,
    in_library,
    no_warnings,
    normal,
    to_float64,
    to_library,
)

from attnlib import api, attention, attention_backward, merge_partials, online_numpy, threads

pytestmark = no_warnings
ROOT = Path(api.__file__).parents[1]
threadpoolctl = pytest.importorskip("threadpoolctl")


# --- results: sizes around those of the blocks ---


def blocky(n_q, n_k):
    """Keys and queries in groups of 100: whole blocks in which nobody, or everybody, attends."""
    return np.arange(n_q)[:, None] // 100 % 7 >= np.arange(n_k) // 100 % 7


def lower(n_q, n_k):
    return np.where(np.tri(n_q, n_k, dtype=bool), normal(n_q, n_k), -np.inf)


PROBLEMS = {  # n_q, n_k, heads of query and of key, mask, options
    "ragged": (513, 1025, 2, 2, None, {}),
    "whole blocks": (512, 1024, 1, 1, None, {}),
    "causal, more keys": (600, 1100, 2, 2, None, {"is_causal": True}),
    "causal, more queries": (1100, 300, 2, 2, None, {"is_causal": True}),
    "causal, one more than a block": (1025, 1025, 1, 1, None, {"is_causal": True}),
    "one query": (1, 3000, 3, 3, None, {}),
    "two queries, causal": (2, 3000, 3, 3, None, {"is_causal": True}),
    "boolean mask": (700, 1100, 2, 2, blocky, {}),
    "boolean mask and causal": (700, 1100, 2, 2, blocky, {"is_causal": True}),
    "padding": (700, 1100, 2, 2, lambda n_q, n_k: np.arange(n_k) < 530, {}),
    "empty rows": (700, 1100, 2, 2, lambda n_q, n_k: np.arange(n_q)[:, None] % 650 != 3, {}),
    "floating mask": (700, 1100, 2, 2, lower, {}),
    "floating mask, softcap and causal": (
        700,
        1100,
        2,
        2,
        lower,
        {"softcap": 2.0, "is_causal": True},
    ),
    "window": (1100, 1100, 2, 2, None, {"window": (300, 200)}),
    "window and causal": (1100, 900, 2, 2, None, {"window": (700, 5), "is_causal": True}),
    "window and boolean mask": (700, 1100, 2, 2, blocky, {"window": (None, 130)}),
    "window of large scores, empty rows": (
        1100,
        300,
        2,
        2,
        None,
        {"window": (100, 7), "scale": 5.0},
    ),
    "grouped heads": (300, 700, 6, 2, None, {"enable_gqa": True, "is_causal": True}),
    "large scores": (600, 1100, 2, 2, None, {"scale": 5.0}),
    "large scores, causal": (600, 1100, 2, 2, blocky, {"scale": 5.0, "is_causal": True}),
    "softcap on large scores": (600, 1100, 2, 2, None, {"scale": 5.0, "softcap": 20}),
    "softcap too large for no maximum": (600, 1100, 2, 2, None, {"scale": 5.0, "softcap": 100}),
}


def problem(name, dtype="float64", library="numpy"):
    n_q, n_k, h, h_kv, mask, options = PROBLEMS[name]
    arrays = draws((h, n_q, 16), (h_kv, n_k, 16), (h_kv, n_k, 5))
    (*arrays,), mask = in_library(library, arrays, mask and mask(n_q, n_k), dtype)
    return arrays, mask, options


@pytest.mark.parametrize("name", PROBLEMS)
@each_library_and_dtype
def test_several_blocks_as_dense(library, dtype, name):
    arrays, mask, options = problem(name, dtype, library)
    wide = [to_float64(array) for array in arrays], None if mask is None else to_float64(mask)
    expected, expected_lse = attention(*wide[0], wide[1], **options, return_lse=True, impl="dense")
    output, lse = attention(*arrays, mask, **options, return_lse=True, impl="online")
    close = {"float64": 1e-11, "float32": 2e-5}.get(dtype)  # scores of 50 are known to that
    assert_close(output, expected, like=arrays[0], tolerance=close)
    wide_dtype = "float64" if dtype == "float64" else "float32"
    assert_close(lse, expected_lse, like=arrays[0], dtype=wide_dtype)


@pytest.mark.parametrize("name", PROBLEMS)
@each_library
def test_gradients_over_several_blocks_as_dense(library, name):
    arrays, mask, options = problem(name, library=library)
    grad_output = to_library(library, normal(arrays[0].shape[0], arrays[0].shape[1], 5, seed=9))
    expected = gradients(*arrays, grad_output, mask, **options, impl="dense")
    for got, dense, array in zip(
        gradients(*arrays, grad_output, mask, **options, impl="online"), expected, arrays
    ):
        assert_close(got, to_float64(dense), like=array, tolerance=1e-10)


@pytest.mark.parametrize("factor", [1, 1e3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@each_library
def test_values_near_the_largest_number(library, dtype, factor):
    (query, key, value), _ = in_library(
        library, draws((600, 16), (1100, 16), (1100, 5)), dtype=dtype
    )
    value = value / abs(value).max() * np.finfo(dtype).max / 2
    output = attention(factor * query, key, value, impl="online")
    dense = to_float64(attention(factor * query, key, value, impl="dense"))
    assert np.isfinite(dense).all()
    np.testing.assert_allclose(
        to_float64(output), dense, rtol=1e-3, atol=1e-5 * float(abs(value).max())
    )


@each_library
def test_nan_and_inf_in_a_late_block_stay_in_their_row(library):
    (query, key, value), _ = in_library(library, draws((600, 16), (1100, 16), (1100, 5)))
    expected = to_float64(attention(query, key, value, impl="dense"))
    query[3], query[530] = np.nan, np.inf
    output = to_float64(attention(query, key, value, impl="online"))
    assert np.isnan(output[[3, 530]]).all()
    np.testing.assert_allclose(
        np.delete(output, [3, 530], 0), np.delete(expected, [3, 530], 0), rtol=1e-10, atol=1e-12
    )


def test_exp_where_exp2_is_slower(monkeypatch):
    arrays, mask, options = problem("boolean mask and causal")
    expected = attention(*arrays, mask, **options, impl="online")
    monkeypatch.setattr(online_numpy, "EXP2_IS_FASTER", not online_numpy.EXP2_IS_FASTER)
    assert_close(attention(*arrays, mask, **options, impl="online"), expected, like=arrays[0])


@pytest.mark.skipif(
    not online_numpy.EXP2_IS_FASTER, reason="no AVX-512, or a NumPy that does not say"
)
def test_exp2_is_left_where_its_fast_loop_is_switched_off():
    done = run_python(
        "from attnlib import online_numpy; print(online_numpy.EXP2_IS_FASTER)",
        NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_SKX",
    )
    assert done.stdout.strip() == "False"


def test_a_numpy_that_lists_no_exp2_loop(monkeypatch):
    monkeypatch.setattr(online_numpy, "opt_func_info", lambda **_: {})
    assert online_numpy.exp2_is_faster() is False


@pytest.mark.parametrize("factor", [1, 20], ids=["small scores", "with a maximum"])
@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True}, {"is_causal": True, "window": (300, 0)}]
)
def test_a_task_of_several_blocks(monkeypatch, options, factor):
    monkeypatch.setenv("ATTNLIB_NUM_THREADS", "1")
    query, key, value = draws((4, 1100, 16), (4, 1100, 16), (4, 1100, 5))
    arrays = factor * query, key, value
    output, lse = attention(*arrays, **options, impl="online", return_lse=True)
    expected, expected_lse = attention(*arrays, **options, impl="dense", return_lse=True)
    assert_close(output, expected, like=query)
    assert_close(lse, expected_lse, like=query)


@pytest.mark.parametrize(
    "heads, workers, size", [(8, 1, 1024), (8, 4, 512), (1, 2, 256), (0, 2, 0)]
)
def test_no_thread_waits_for_a_large_task(monkeypatch, heads, workers, size):
    monkeypatch.setattr(threads, "thread_bound", lambda: workers)
    arrays = draws((heads, 1024, 4), (heads, 1024, 4), (heads, 1024, 4))
    options = dict.fromkeys(("window", "scale", "softcap"))
    tasks = online_numpy.forward_tasks(
        online_numpy.split_heads(*arrays, None, is_causal=True, enable_gqa=False, **options)
    )
    assert len(tasks) == heads * 1024 // max(size, 1)
    assert {rows.stop - rows.start for _, rows in tasks} == ({size} if size else set())
    assert [rows.start for _, rows in tasks] == sorted((rows.start for _, rows in tasks))[::-1]


# --- work that is left out ---


def count_calls(monkeypatch, name):
    """A list that grows with the shapes of the scores that a function of online_numpy has seen or
    made.
    """
    calls, function = [], getattr(online_numpy, name)

    def counted(first, *others):
        result = function(first, *others)
        calls.append((first if result is None else result).shape)
        return result

    monkeypatch.setattr(online_numpy, name, counted)
    return calls


@pytest.mark.parametrize("hide", ["causal", "window", "boolean", "floating"])
def test_masked_blocks_are_skipped(monkeypatch, hide):
    calls = count_calls(monkeypatch, "score_block")
    arrays = draws((2048, 8), (2048, 8), (2048, 8))
    mask = np.arange(2048)[:, None] // 512 == np.arange(2048) // 512
    mask = {"boolean": mask, "floating": np.where(mask, 0, -np.inf)}.get(hide)
    window = (511, 512) if hide == "window" else None
    attention(*arrays, mask, is_causal=hide == "causal", window=window, impl="online")
    scores = sum(np.prod(shape) for shape in calls)
    expected = {
        "causal": 2048**2 // 2 + 2048 * 128 // 2,
        "window": sum(  # 256 queries at a time, as without any mask
            256 * (min(at + 256 + 512, 2048) - max(at - 511, 0)) for at in range(0, 2048, 256)
        ),
    }
    assert scores == expected.get(hide, 4 * 512**2)


def test_the_maximum_is_left_out_where_scores_are_small(monkeypatch):
    calls = count_calls(monkeypatch, "mask_block")
    query, key, value = draws((600, 16), (600, 16), (600, 5))
    attention(query, key, value, impl="online")
    attention(20 * query, key, value, softcap=20, impl="online")
    assert calls == []
    attention(20 * query, key, value, impl="online")
    assert len(calls) == 3


def test_what_none_chooses():
    def choice(kind, *shape):
        return api.choose_impl(
            None, kind, shape, torch.ones(1)
        )  # of the arguments it asks only whether they are on a GPU

    assert choice("numpy", 8, 64, 64) == choice("numpy", 10**6, 8, 8) == "dense"
    assert choice("numpy", 256, 256) == choice("numpy", 8, 128, 128) == "dense"
    assert (
        choice("numpy", 512, 512)
        == choice("numpy", 8, 256, 256)
        == choice("numpy", 2, 8, 4096, 4096)
        == "online"
    )
    assert choice("torch", 4096, 4096) == choice("numpy", 0, 4096, 4096) == "dense"


# --- merging ---


@pytest.mark.parametrize("at", [0, 1, 4, 7])
@each_library_and_dtype
def test_merged_parts_are_the_whole(library, dtype, at):
    (query, key, value), mask = in_library(
        library, draws(), np.arange(5)[:, None] + np.arange(7) > 5, dtype
    )
    parts = [
        attention(query, key[keys], value[keys], mask[:, keys], return_lse=True)
        for keys in (slice(at), slice(at, None))
    ]
    output, lse = merge_partials(*parts[0], *parts[1])
    whole, whole_lse = map(to_float64, attention(query, key, value, mask, return_lse=True))
    assert_close(output, whole, like=query)
    assert_close(lse, whole_lse, like=query, dtype="float64" if dtype == "float64" else "float32")


@each_library
def test_the_order_of_merging_does_not_matter(library):
    (query, key, value), _ = in_library(library, draws((5, 11), (9, 11), (9, 13)))
    a, b, c = [
        attention(50 * query, key[at : at + 3], value[at : at + 3], return_lse=True)
        for at in (0, 3, 6)
    ]
    first, second = (
        merge_partials(*merge_partials(*a, *b), *c),
        merge_partials(*a, *merge_partials(*c, *b)),
    )
    for got, expected in zip(first, second):
        assert_close(got, to_float64(expected), like=query)


@each_library_and_dtype
def test_two_empty_parts_are_an_empty_part(library, dtype):
    (query, key, value), nobody = in_library(library, draws(), np.array(False), dtype)
    empty = attention(query, key, value, nobody, return_lse=True)
    output, lse = map(to_float64, merge_partials(*empty, *empty))
    assert (output == 0).all() and (lse == -np.inf).all()
    part = attention(query, key, value, return_lse=True)
    for pair in ((*part, *empty), (*empty, *part)):
        for got, expected in zip(merge_partials(*pair), part):
            assert (to_float64(got) == to_float64(expected)).all()


def wide_parts(library, magnitude, rows=1000):
    """Two outputs and two log-sum-exps about this magnitude, in float32; what they merge to, in
    float64.
    """
    shifts = magnitude + normal(rows, seed=3), magnitude + normal(rows, seed=4)
    arrays = [normal(rows, 5, seed=1), shifts[0], normal(rows, 5, seed=2), shifts[1]]
    parts, _ = in_library(library, arrays, dtype="float32")
    out_a, lse_a, out_b, lse_b = map(to_float64, parts)
    share = 1 / (1 + np.exp(lse_b - lse_a))[:, None]
    return parts, share * out_a + (1 - share) * out_b, np.logaddexp(lse_a, lse_b)


@pytest.mark.parametrize("magnitude", [-1e6, -1e4, -100, 0, 100, 1e4, 1e6])
@each_library
def test_merging_is_as_exact_at_every_size_of_the_log_sum_exp(library, magnitude):
    parts, expected, expected_lse = wide_parts(library, magnitude)
    output, lse = map(to_float64, merge_partials(*parts))
    largest = np.maximum(abs(to_float64(parts[0])), abs(to_float64(parts[2])))
    assert (abs(output - expected) <= 3e-7 * largest).all()
    np.testing.assert_allclose(lse, expected_lse, rtol=2e-7, atol=2e-7)


@pytest.mark.parametrize("magnitude", [-1e6, 0, 1e4, 1e6])
@each_library
def test_merging_stays_between_the_parts(library, magnitude):
    parts, _, _ = wide_parts(library, magnitude)
    parts[0][...], parts[2][...] = 3, 3
    np.testing.assert_allclose(to_float64(merge_partials(*parts)[0]), 3, rtol=3e-7)


@pytest.mark.parametrize("held", [np.nan, np.inf, -np.inf, 7])
@each_library_and_dtype
def test_a_part_without_keys_never_arrives(library, dtype, held):
    wide = "float64" if dtype == "float64" else "float32"
    out, empty = [
        to_library(library, array, dtype) for array in (normal(5, 3), np.full((5, 3), held))
    ]
    lse, none = [to_library(library, array, wide) for array in (normal(5), np.full(5, -np.inf))]
    for pair in ((out, lse, empty, none), (empty, none, out, lse)):
        for got, expected in zip(merge_partials(*pair), (out, lse)):
            assert (to_float64(got) == to_float64(expected)).all()
    output, lse = map(to_float64, merge_partials(empty, none, empty, none))
    assert (output == 0).all() and (lse == -np.inf).all()


@pytest.mark.parametrize("number", [np.inf, np.nan])
@each_library
def test_a_log_sum_exp_of_inf_or_nan_stays_in_its_row(library, number):
    parts, expected, expected_lse = wide_parts(library, 0, rows=5)
    parts[1][2] = parts[0][2, :] = number
    output, lse = map(to_float64, merge_partials(*parts))
    assert np.isnan(output[2]).all() and np.array_equal(lse[2], number, equal_nan=True)
    for got, exact in ((output, expected), (lse, expected_lse)):
        np.testing.assert_allclose(
            np.delete(got, 2, 0), np.delete(exact, 2, 0), rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("held", [0, np.nan])
def test_empty_parts_have_gradients_of_zero(held):
    lse = [
        torch.tensor(row, dtype=torch.float64)
        for row in ([-np.inf, -np.inf, 1], [-np.inf, 2, -np.inf])
    ]
    out = [
        torch.where(row[:, None] == -np.inf, held, torch.ones(3, 2, dtype=torch.float64))
        for row in lse
    ]
    out, lse = [[tensor.requires_grad_() for tensor in pair] for pair in (out, lse)]
    output, merged = merge_partials(out[0], lse[0], out[1], lse[1])
    grads = torch.autograd.grad(
        (output**2).sum() + merged[1:].sum(), [*out, *lse], create_graph=True
    )
    second = torch.autograd.grad(sum((grad**2).sum() for grad in grads), lse)
    assert grads[2].tolist() == [0, 0, 1] and grads[3].tolist() == [0, 1, 0]
    assert all((torch.isfinite(grad)).all() for grad in (*grads, *second))
    assert [grad[:, 0].tolist() for grad in grads[:2]] == [[0, 0, 2], [0, 2, 0]]


def test_merge_partials_is_differentiable():
    def numbers(*shape):
        return torch.from_numpy(normal(*shape)).requires_grad_()

    assert torch.autograd.gradcheck(
        merge_partials, (numbers(2, 3), numbers(2), numbers(3, 2).mT, 2 * numbers(2))
    )


@pytest.mark.parametrize(
    "wrong, exception, fragment",
    [
        (
            {"out_b": np.zeros((5, 4))},
            ValueError,
            r"out_b must have the shape \(5, 3\), by that of out_a; got \(5, 4\)",
        ),
        ({"lse_a": np.zeros((5, 1))}, ValueError, r"lse_a must have the shape \(5,\)"),
        ({"lse_b": np.zeros(4)}, ValueError, r"lse_b must have the shape \(5,\)"),
        ({"lse_b": np.zeros(5, np.float32)}, TypeError, "lse_a and lse_b must have the same dtype"),
        (
            {"lse_a": np.zeros(5, np.float32), "lse_b": np.zeros(5, np.float32)},
            TypeError,
            "must be float64 where out_a",
        ),
        (
            {"lse_a": torch.zeros(5), "lse_b": torch.zeros(5)},
            TypeError,
            "out_a and lse_a must both",
        ),
        ({"out_a": [[0.0]]}, TypeError, "out_a must be a NumPy array or a torch tensor"),
    ],
)
def test_errors_of_merge_partials(wrong, exception, fragment):
    parts = {
        "out_a": np.zeros((5, 3)),
        "lse_a": np.zeros(5),
        "out_b": np.zeros((5, 3)),
        "lse_b": np.zeros(5),
    }
    with pytest.raises(exception, match=fragment):
        merge_partials(**{**parts, **wrong})


# --- memory ---

PEAK = """
import sys, numpy as np, threadpoolctl
from attnlib import attention, attention_backward
from attncourse.bench import cpu as bench
dtype, call, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
threadpoolctl.threadpool_limits(2, user_api="blas")  # every thread has blocks of its own
def run(n):
    arrays = [array[:2].astype(dtype) for array in bench.draw(n)]
    if "torch" in call:
        import torch
        torch.set_num_threads(1)
        arrays = [torch.from_numpy(array).requires_grad_("back" in call) for array in arrays]
    before = bench.reset_peak()
    if call == "backward":
        attention_backward(*arrays, arrays[2], impl="online")
    else:
        output = attention(*arrays, impl="dense" if call == "dense" else "online")
        if call == "torch backward":
            output.backward(arrays[2].detach())
    return None if before is None else bench.peak() - before
run(1024)
print(run(n))
"""


def extra_memory(call, n, dtype="float32"):
    """MiB at the peak of one call with 2 heads, above what was there before it."""
    done = run_python(PEAK, dtype, call, str(n))
    if done.stdout.strip() == "None":
        pytest.skip("no peak of memory to be read here")
    return float(done.stdout)


def run_python(code, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_memory_is_the_output_and_a_few_blocks(dtype):
    for n in (4096, 16384):  # the output: 2 and 8 MiB of float32; the scores: 128 and 2048
        assert (
            extra_memory("attention", n, dtype) <= 2 * n * 64 * np.dtype(dtype).itemsize / 2**20 + 8
        )


@pytest.mark.parametrize("call", ["backward", "torch", "torch backward"])
def test_memory_grows_with_n_alone(call):
    for n in (2048, 8192):  # the scores: 32 and 512 MiB
        assert extra_memory(call, n) <= 16 + n / 256


def test_dense_would_fail_the_test_of_memory():
    assert extra_memory("dense", 4096) > 128


def test_torch_keeps_no_scores_for_the_backward_pass():
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: kept.append(tensor.numel()) or tensor, lambda x: x
    ):
        attention(
            *[
                torch.from_numpy(array).requires_grad_()
                for array in draws((90, 4), (90, 4), (90, 4))
            ],
            impl="online",
        )
    assert sum(kept) == 4 * 90 * 4 + 90


def test_torch_says_that_it_is_differentiable_once():
    query = torch.ones(3, 2, requires_grad=True)
    (grad,) = torch.autograd.grad(
        (attention(query, query, query, impl="online") ** 2).sum(), query, create_graph=True
    )
    with pytest.raises(RuntimeError, match="can be differentiated once; impl='dense' any number"):
        grad.sum().backward()


# --- threads, and the state of the process ---


def blas_now():
    return [
        library.num_threads
        for library in threadpoolctl.ThreadpoolController().lib_controllers
        if library.user_api == "blas"
    ]


@pytest.fixture
def four_blas_threads():
    with threadpoolctl.threadpool_limits(4, user_api="blas"):
        if blas_now() != [4] * len(blas_now()) or not blas_now():
            pytest.skip("no BLAS whose threads can be set")
        yield [4] * len(blas_now())


LARGE = draws((8, 600, 16), (8, 600, 16), (8, 600, 16))
LATEST = 600  # seconds after which a thread that waits gives up: only a deadlock takes so long


def note_threads(monkeypatch, then=lambda: None):
    """Which threads are at work, and how many threads BLAS has then; each calls then() before it
    goes on.
    """
    seen, attend = [], online_numpy.attend

    def noting(*arguments):
        seen.append((threading.get_ident(), tuple(blas_now())))
        then()
        attend(*arguments)

    monkeypatch.setattr(online_numpy, "attend", noting)
    return seen


def all_at_once(count):
    """What a thread calls to go on only when `count` threads have come: however slow the machine,
    each has a task.
    """
    barrier, mine = threading.Barrier(count, timeout=LATEST), threading.local()

    def wait_once():
        if not hasattr(mine, "came"):
            mine.came = barrier.wait()

    return wait_once


def test_a_thread_each_with_one_of_blas_and_all_restored(monkeypatch, four_blas_threads):
    before, environment = threading.active_count(), dict(os.environ)
    seen = note_threads(monkeypatch, all_at_once(4))
    attention(*LARGE, impl="online")
    assert len({thread for thread, _ in seen}) == 4 and {max(blas) for _, blas in seen} == {1}
    assert blas_now() == four_blas_threads
    assert threading.active_count() == before and dict(os.environ) == environment


@pytest.mark.parametrize("exception", [ValueError, MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["in the main thread", "in another", "in all"])
def test_restored_after_an_exception(monkeypatch, four_blas_threads, where, exception):
    main, wait, dropped = threading.main_thread(), all_at_once(4), threading.Event()

    class Waiting(collections.deque):
        def clear(self):
            super().clear()
            dropped.set()

    def fail():
        wait()
        if where == "in all" or (threading.current_thread() is main) == (
            where == "in the main thread"
        ):
            raise exception("stop")
        assert dropped.wait(LATEST)

    monkeypatch.setattr(threads, "collections", types.SimpleNamespace(deque=Waiting))
    seen, before = note_threads(monkeypatch, fail), threading.enumerate()
    with pytest.raises(exception, match="stop"):
        attention(*LARGE, impl="online")
    assert blas_now() == four_blas_threads and not threads._active_calls
    assert threading.enumerate() == before
    assert len(seen) == 4  # of 24 tasks: those that waited were dropped
    monkeypatch.undo()
    assert_close(attention(*LARGE, impl="online"), attention(*LARGE, impl="dense"), like=LARGE[0])


@pytest.mark.parametrize("workers", ["1", "4"])
def test_an_index_error_in_a_block_is_raised(monkeypatch, four_blas_threads, workers):
    """Not taken for the end of the tasks: the output would then be memory that nobody has written
    to.
    """
    monkeypatch.setenv("ATTNLIB_NUM_THREADS", workers)

    def fail():
        raise IndexError("in a block")

    note_threads(monkeypatch, fail)
    with pytest.raises(IndexError, match="in a block"):
        attention(*LARGE, impl="online")


INTERRUPTED = """
import os, signal, sys, threading, time, numpy as np, threadpoolctl
from attnlib import attention, threads
signal.signal(signal.SIGINT, signal.default_int_handler)  # Python leaves it ignored where it came ignored
controller = threadpoolctl.ThreadpoolController().select(user_api="blas")
controller.limit(limits=2)
def others(): return [thread for thread in threading.enumerate()[1:] if thread.is_alive()]
def now(): return [library.num_threads for library in controller.lib_controllers]
arrays = np.random.default_rng(0).standard_normal((3, 4, 1500, 64), dtype=np.float32)
attention(*arrays, impl="online")
before, caught = now(), 0
for i in range(12):
    timer = threading.Timer(0.002 + 0.003 * i, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        while True:
            attention(*arrays, impl="online")
    except KeyboardInterrupt:
        caught += 1
    timer.join()
    assert now() == before, (now(), before)
    assert not threads._active_calls
    assert not others(), others()
print(caught)
"""  # noqa: E501


@pytest.mark.parametrize("came", [signal.SIG_DFL, signal.SIG_IGN], ids=["as usual", "ignored"])
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_restored_after_ctrl_c(came):
    before = signal.signal(
        signal.SIGINT, came
    )  # a child that is started now inherits it if it is to ignore
    try:
        assert run_python(INTERRUPTED).stdout.strip() == "12"
    finally:
        signal.signal(signal.SIGINT, before)


FORKED = """
import os, threading, time, numpy as np, threadpoolctl
from attnlib import attention, online_numpy, threads
controller = threadpoolctl.ThreadpoolController().select(user_api="blas")
controller.limit(limits=3)
def now(): return [library.num_threads for library in controller.lib_controllers]
def forked():
    child = os.fork()
    if child == 0:
        ok = now() == before and not threads._active_calls and threads._lock.acquire(blocking=False)
        if ok:
            threads._lock.release()
            ok = np.allclose(attention(*arrays, impl="online"), expected) and now() == before
        os._exit(not ok)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
arrays = np.random.default_rng(0).standard_normal((3, 8, 600, 16))
expected, before, attend = attention(*arrays, impl="online"), now(), online_numpy.attend
inside, go_on = threading.Event(), threading.Event()
def waiting(*arguments):
    inside.set(); go_on.wait(600); attend(*arguments)
online_numpy.attend = waiting
caller = threading.Thread(target=attention, args=arrays, kwargs={"impl": "online"}); caller.start()
inside.wait(600)
online_numpy.attend = attend
during = now()
code = forked()
go_on.set(); caller.join()
print(before, during, code, now() == before, threads._active_calls, forked())
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_meanwhile_has_all_threads_of_blas():
    assert run_python(FORKED).stdout.strip() == "[3] [1] 0 True [] 0"


def test_another_thread_that_controls_blas_does_not_keep_it(monkeypatch, four_blas_threads):
    seen, held, done = note_threads(monkeypatch), threading.Event(), threading.Event()

    def hold():
        with threadpoolctl.threadpool_limits(3, user_api="blas"):
            held.set()
            done.wait(600)

    threadpoolctl.ThreadpoolController().select(internal_api="openblas").lib_controllers[
        0
    ].clear_controlling_thread(True)
    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(600)
    assert blas_now() == [3]
    attention(*LARGE, impl="online")
    assert {max(blas) for _, blas in seen} == {1} and blas_now() == [3]
    done.set()
    holder.join()
    assert blas_now() == four_blas_threads


def test_no_private_name_of_threadpoolctl_is_used():
    names = [
        node.attr
        for node in ast.walk(ast.parse(Path(threads.__file__).read_text()))
        if isinstance(node, ast.Attribute)
    ]
    texts = [
        node.value
        for node in ast.walk(ast.parse(Path(threads.__file__).read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert "lib_controllers" in names and not [
        name for name in names + texts if name.startswith("_")
    ]


def test_calls_from_several_threads_at_once(monkeypatch, four_blas_threads):
    expected, results = attention(*LARGE, is_causal=True, impl="dense"), []
    seen = note_threads(monkeypatch)

    def several():
        for _ in range(3):
            results.append(attention(*LARGE, is_causal=True, impl="online"))

    callers = [threading.Thread(target=several) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(results) == 12 and {max(blas) for _, blas in seen} == {1}
    for result in results:
        assert_close(result, expected, like=LARGE[0])
    assert blas_now() == four_blas_threads and not threads._active_calls


def test_gradients_do_not_depend_on_the_threads(monkeypatch, four_blas_threads):
    query, key, value = draws((8, 600, 16), (2, 600, 16), (1, 600, 16))
    many = attention_backward(query, key, value, query, enable_gqa=True, impl="online")
    monkeypatch.setenv("ATTNLIB_NUM_THREADS", "1")
    one = attention_backward(query, key, value, query, enable_gqa=True, impl="online")
    for a, b in zip(many, one):  # BLAS may add in another order
        assert_close(a, b, like=query)


@pytest.mark.parametrize("most", ["1", "2", "9"])
def test_the_environment_bounds_the_threads(monkeypatch, four_blas_threads, most):
    monkeypatch.setenv("ATTNLIB_NUM_THREADS", most)
    seen = note_threads(monkeypatch, all_at_once(min(4, int(most))))
    attention(*LARGE, impl="online")
    assert len({thread for thread, _ in seen}) == min(4, int(most)) and {
        max(blas) for _, blas in seen
    } == {1}


def test_a_single_task_leaves_the_threads_to_blas(monkeypatch, four_blas_threads):
    seen = note_threads(monkeypatch)
    query, key, value = draws((250, 64), (3000, 64), (3000, 5))
    attention(query, key, value, impl="online")
    monkeypatch.setenv("ATTNLIB_NUM_THREADS", "2")
    attention(query, key, value, impl="online")
    assert [max(blas) for _, blas in seen] == [4, 2]


@pytest.mark.parametrize("most", ["0", "-1", "two", "1.5"])
def test_an_environment_that_makes_no_sense(monkeypatch, most):
    monkeypatch.setenv("ATTNLIB_NUM_THREADS", most)
    with pytest.raises(
        ValueError, match=f"ATTNLIB_NUM_THREADS must be a whole number above 0; got '{most}'"
    ):
        attention(*LARGE, impl="online")


def test_few_scores_start_no_threads(monkeypatch, four_blas_threads):
    seen = note_threads(monkeypatch)
    attention(*draws((4, 9, 8), (4, 9, 8), (4, 9, 8)), impl="online")
    assert {thread for thread, _ in seen} == {threading.get_ident()} and {
        max(blas) for _, blas in seen
    } == {4}


WITHOUT = """
import sys; sys.modules["threadpoolctl"] = None
import threading, numpy as np
from attnlib import attention, threads
threading.Thread.start = None
arrays = np.random.default_rng(0).standard_normal((3, 8, 600, 16))
assert threads.blas() == []
print(np.allclose(attention(*arrays, impl="online"), attention(*arrays, impl="dense")))
"""


def test_without_threadpoolctl():
    assert run_python(WITHOUT).stdout.strip() == "True"
