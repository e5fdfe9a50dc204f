"""The benchmark: every contender and step is attention, the record is whole, and its tables say
what it holds;
the limits that it and the chapters compare with, and the counter of bytes."""

import json
import types

import numpy as np
import pytest
import torch

from attncourse import language
from attncourse.bench import __main__, cpu, duel, linear, report, roofline, writing
from attncourse.exercises import grade
from attnlib import attention

N = 700  # more than a block of queries and of keys, and no multiple of one


def problem(factor=1, n=N):
    return cpu.draw(n, factor, seed=3, heads=2)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("name", [name for name in cpu.CONTENDERS if name != "products alone"])
def test_every_contender_is_attention(name, is_causal):
    if name in cpu.NEEDS:
        pytest.importorskip(cpu.NEEDS[name])
    for factor in (1, 20):
        expected = attention(
            *(array.astype(np.float64) for array in problem(factor)),
            is_causal=is_causal,
            impl="dense",
        )
        output = cpu.CONTENDERS[name](*problem(factor), is_causal)
        assert output.dtype == np.float32
        np.testing.assert_allclose(output, expected, atol=5e-5)


@pytest.mark.parametrize("name", cpu.LADDER)
def test_every_step_of_the_ladder_is_attention(name):
    expected = attention(*(array.astype(np.float64) for array in problem()), impl="dense")
    np.testing.assert_allclose(cpu.LADDER[name](*problem(), False), expected, atol=1e-5)


@pytest.mark.parametrize("is_causal", [False, True])
def test_the_error_is_the_distance_from_float64(is_causal):
    def wrong(query, key, value, is_causal):
        return attention(query, key, value, is_causal=is_causal) + np.float32(0.25)

    assert cpu.error(attention_of_bench, 70, 1, is_causal) < 1e-6
    assert cpu.error(wrong, 70, 1, is_causal) == pytest.approx(0.25, abs=1e-5)


def attention_of_bench(query, key, value, is_causal):
    return attention(query, key, value, is_causal=is_causal)


def test_samples_are_taken_in_turn(monkeypatch):
    monkeypatch.setattr(cpu, "PAUSE", 0)
    calls = []
    noting = {name: lambda name=name: calls.append(name) for name in "abc"}
    taken = cpu.time_in_turn(noting, budget=0, warm_up=False)
    assert [sorted(calls[at : at + 3]) for at in (0, 3, 6)] == [["a", "b", "c"]] * 3 and len(
        calls
    ) == 9
    assert calls != ["a", "b", "c"] * 3
    assert all(samples.shape == (3, 2) and (samples >= 0).all() for samples in taken.values())
    calls.clear()
    cpu.time_in_turn(noting, budget=0, repeats=2)
    assert all(calls.count(name) == 9 for name in "abc") and all(
        len({*calls[at : at + 3]}) == 1 for at in range(0, 27, 3)
    )


def test_ratios_are_taken_round_by_round():
    samples = np.array([[1.0, 1.0], [10.0, 10.0], [2.0, 2.0]])
    taken = {("a", 1): samples, ("torch SDPA", 1): 2 * samples}
    got = cpu.one_contender("a", 1, taken, {("a", 1): 0.5})
    assert got["speed against SDPA"] == {"median": 2, "low": 2, "high": 2, "least": 2}
    assert (
        got["ms"]["median"] == 2
        and got["ms"]["least"] == 1
        and got["rounds"] == 3
        and got["error"] == 0.5
    )


def test_what_does_not_fit_is_skipped_with_a_sentence(monkeypatch):
    monkeypatch.setattr(cpu, "free_memory", lambda: 1)
    left = cpu.contenders(4096)
    assert set(cpu.STORES_SCORES).isdisjoint(left) and "attnlib online" in left
    lines = cpu.skipped([256, 4096], ["JAX"])
    assert (
        "NumPy naive at n = 4096: needs up to 2 GiB, more than a quarter of the 1 that are free"
        in lines
    )
    assert not any("JAX" in line or "256" in line for line in lines)


# --- the record, by a run as small as can be ---


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "record.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "PAUSE", 0)
        patch.setattr(cpu, "in_process", lambda call, **job: getattr(cpu, call)(**job))
        cpu.bench([64], 0, ["JAX", "numba"], str(path))
    return path


def test_the_record_is_whole(path):
    record = json.loads(path.read_text())
    assert record["date"] and record["command"].startswith("python -m attncourse.bench")
    assert record["machine"]["cores"] >= 1 and "numpy" in record["machine"]["versions"]
    assert [(row["is_causal"], row["factor"]) for row in record["times"]] == [
        (False, 1),
        (False, 20),
        (True, 1),
        (True, 20),
    ]
    names = {row["contender"] for row in record["memory"]}
    assert (
        names
        == set(record["times"][0]["contenders"])
        >= {"NumPy naive", "attnlib online", "products alone"}
    )
    assert len(record["ladder"]) == 1 and len(record["choice"]) == 6


def test_a_run_that_was_interrupted_goes_on(path, monkeypatch):
    record = json.loads(path.read_text())
    asked = []
    monkeypatch.setattr(cpu, "in_process", lambda **job: asked.append(job) or record["ladder"])
    interrupted = path.with_name("interrupted.json")
    without_ladder = {
        **record,
        "ladder": [],
        "done": [job for job in record["done"] if job["call"] != "measure_ladder"],
    }
    cpu.write(without_ladder, str(interrupted))
    assert cpu.bench([64], 0, ["JAX", "numba"], str(interrupted))["ladder"] == record["ladder"]
    assert [job["call"] for job in asked] == ["measure_ladder"]


def test_a_record_of_another_machine_is_not_continued(path):
    other = path.with_name("other.json")
    record = json.loads(path.read_text())
    cpu.write({**record, "machine": {**record["machine"], "cores": 4096}}, str(other))
    with pytest.raises(SystemExit, match="another machine"):
        cpu.bench([64], 0, ["JAX", "numba"], str(other))


def test_the_tables_hold_what_was_measured(path):
    record = json.loads(path.read_text())
    ours = record["times"][0]["contenders"]["attnlib online"]
    text = report.table(record)
    assert (
        f"{ours['ms']['median']:9.4g}" in text and "us beyond in place, n = 64, impl=None" in text
    )
    for what in ("ms", "error", "MiB", "speed against in place"):
        rows = report.markdown(record, what).splitlines()
        assert rows[0].split("|")[2].strip() == "n = 64" and len({len(row) for row in rows}) == 1
    assert len(report.markdown(record, "ms").splitlines()) == 2 + len(
        record["times"][0]["contenders"]
    )


def test_an_aim_that_is_missed_is_called_so(path):
    record = json.loads(path.read_text())
    for mib, verdict in (
        (report.output_mib(64) + 7.9, "met"),
        (report.output_mib(64) + 8.1, "missed"),
    ):
        record["memory"] = [{"n": 64, "contender": "attnlib online", "MiB": mib}]
        assert [
            row.split("|")[-2].strip()
            for row in report.markdown_aims(record).splitlines()
            if "MiB" in row
        ] == [verdict]


# --- limits, and the counter of bytes ---


@pytest.mark.parametrize("name", ["attention_flops", "attention_bytes", "roofline_seconds"])
def test_limits_are_right_answers_to_their_exercises(name):
    found = grade(name, getattr(roofline, name))
    assert found.status == "correct", found.message


def test_each_operation_counts_what_it_reads_and_writes():
    scores = torch.randn(3, 7)
    moved = roofline.traffic(lambda: (scores - scores.amax(-1, keepdim=True)).exp_())
    assert moved == [
        ("amax", 4 * (21 + 3)),
        ("sub.Tensor", 4 * (21 + 3 + 21)),
        ("exp_", 4 * (21 + 21)),
    ]


def test_views_move_nothing():
    scores = torch.randn(3, 7)
    assert (
        roofline.traffic(lambda: (scores.mT, scores[1:], scores.view(21), scores.expand(5, 3, 7)))
        == []
    )


def test_what_is_expanded_lies_in_memory_once():
    row = torch.randn(7).expand(3, 7)
    assert roofline.traffic(row.exp) == [("exp", 4 * (7 + 21))]


# --- what was measured on a GPU ---


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A package in which nothing is recorded, on a machine that seems to have a GPU or not."""
    monkeypatch.setattr(report, "RECORDED", tmp_path / "recorded")
    monkeypatch.delenv("ATTNLIB_RECORD", raising=False)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "A GPU")
    here = types.SimpleNamespace(
        has_gpu=False, record=lambda: monkeypatch.setenv("ATTNLIB_RECORD", "1")
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: here.has_gpu)
    return here


def test_without_a_gpu_and_a_record_a_line_says_so(elsewhere, capsys):
    assert report.gpu_times("softmax", lambda: 1 / 0) == {}
    assert capsys.readouterr().out == "This cell measures on a GPU, and there is none here.\n"


def test_what_was_measured_on_a_gpu_is_shown_elsewhere(elsewhere, capsys):
    elsewhere.has_gpu = True
    elsewhere.record()
    for seconds in (1.0, 2.0):
        assert report.gpu_times("softmax", lambda: {"a copy": seconds}) == {"a copy": seconds}
    assert report.gpu_times("asking", lambda: {"time to ask": 3.0}) == {"time to ask": 3.0}
    elsewhere.has_gpu = False
    assert report.gpu_times("softmax", lambda: 1 / 0) == {"a copy": 2.0}
    assert capsys.readouterr().out.splitlines()[-1].startswith("A GPU, 20")
    assert report.gpu_times("flash", lambda: 1 / 0) == {}


def test_nothing_is_recorded_unasked(elsewhere):
    elsewhere.has_gpu = True
    report.gpu_times("softmax", dict)
    assert not report.RECORDED.exists()


# --- words per second of the small model ---


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(cpu, "in_process", lambda call, **job: __main__.measures(call)(**job))


def test_all_contenders_write_the_same_text_and_are_compared(in_this_process, tmp_path):
    record = writing.bench(0, str(tmp_path / "writing.json"))
    assert json.loads((tmp_path / "writing.json").read_text()) == record
    assert [row["contender"] for row in record["writing"]] == list(writing.CONTENDERS)
    assert next(iter(writing.CONTENDERS)) == "no cache"  # what the others are compared with
    for row in record["writing"]:
        rate = row["words per second"]
        assert 0 < rate["low"] <= rate["median"] <= rate["high"] and row["samples"] >= 5
    assert record["machine"]["problem"] == "36 words of the small model"


def test_the_ratio_is_that_of_the_medians():
    rates = {"median": 50.0, "low": 40.0, "high": 60.0}
    rows = [
        {"contender": "no cache", "words per second": rates, "load": 0.25},
        {"contender": "cache", "words per second": {**rates, "median": 125.0}, "load": None},
    ]
    machine = {"problem": "36 words", "cpu": "a chip", "cores": 2}
    lines = writing.table({"writing": rows, "machine": machine, "date": "2026-11-23"}).split("\n")
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]] == [
        "cache", "125", "40 to 60", "2.50", "unknown"
    ]  # fmt: skip
    assert "25%" in lines[2] and lines[-1] == "36 words, a chip, 2 cores, 2026-11-23"


def test_another_text_stops_the_measurement(in_this_process, monkeypatch):
    monkeypatch.setattr(language, "generate_with_drafts", lambda *args: ([5, 6], 2))
    with pytest.raises(SystemExit, match="the same text"):
        writing.bench(0)


# --- linear attention, and the duel with torch ---


def test_linear_attention_in_chunks_weighs_the_past_by_products_of_features():
    query, key, value = (array.astype(np.float64) for array in problem(n=150))  # a shorter chunk
    weights = np.tril(linear.positive(query) @ linear.positive(key).mT)
    expected = weights / weights.sum(-1, keepdims=True) @ value
    assert np.allclose(linear.in_chunks(query, key, value), expected, rtol=1e-12)
    assert np.allclose(linear.positive(np.array([-2.0, 0.0, 3.0])), [np.exp(-2), 1, 4])


def test_the_record_of_linear_attention(in_this_process, tmp_path):
    record = linear.bench([65], 0, str(tmp_path / "linear.json"))
    assert json.loads((tmp_path / "linear.json").read_text()) == record
    (row,) = record["linear"]
    assert row["n"] == 65 and row["rounds"] >= 3 and set(row["ms"]) == set(linear.CONTENDERS)
    row["softmax against linear"] = {"median": 2.0, "low": 1.5, "high": 2.5}
    assert linear.table(record).endswith("2.00 (1.50-2.50) |")


def test_the_duel_compares_within_a_round(monkeypatch):
    seconds = {"torch SDPA": iter(range(2, 99, 2)), "attnlib online": iter(range(1, 99))}
    monkeypatch.setattr(duel, "asked", lambda name, problem: next(seconds[name]))
    row = duel.compare({name: name for name in seconds}, 1024, True, 0)
    assert row["rounds"] == 5 and row["n"] == 1024 and row["is_causal"]
    speed = row["speed against SDPA"]["attnlib online"]
    assert speed["low"] == speed["median"] == speed["high"] == 2  # torch takes twice as long
    record = {"duel": [{"cores": 1, **row}]}
    assert "| 1, 1,024, causal | 2.00 (2.00-2.00) |" in duel.table(record)
    assert duel.table(record, ["torch SDPA"]).endswith("| 1, 1,024, causal | 1.00 (1.00-1.00) |")


def test_the_smallest_programs_multiply_every_block():
    arrays, products = problem(n=700), []

    def note(a, b, out):
        products.append(a.shape[0] * a.shape[1] * b.shape[1])
        return np.matmul(a, b, out=out)

    cpu.products_alone(*arrays, False, note)
    assert sum(products) == 2 * arrays[0].shape[0] * 700 * 700 * arrays[0].shape[-1]
    seen = []
    cpu.products_alone(*arrays, False, then=lambda scores, out: seen.append(scores.size))
    assert sum(seen) == arrays[0].shape[0] * 700 * 700  # one exponential per score


def test_a_contender_answers_from_its_own_process(monkeypatch):
    own = {"NumPy": ("products_by_torch", None), "other kernels": ("NumPy in place", "Haswell")}
    monkeypatch.setattr(duel, "CONTENDERS", own)
    with duel.started(1) as processes:
        assert all(duel.asked(process, (64, True, 1)) > 0 for process in processes.values())
    assert [process.returncode for process in processes.values()] == [0, 0]
