"""The limits that the benchmark and the chapters compare with, and the counter of bytes."""

import types

import pytest
import torch

from attnlib import bench
from attnlib.exercises import grade


@pytest.mark.parametrize("name", ["attention_flops", "attention_bytes", "roofline_seconds"])
def test_limits_are_right_answers_to_their_exercises(name):
    found = grade(name, getattr(bench, name))
    assert found.status == "correct", found.message


def test_each_operation_counts_what_it_reads_and_writes():
    scores = torch.randn(3, 7)
    moved = bench.traffic(lambda: (scores - scores.amax(-1, keepdim=True)).exp_())
    assert moved == [("amax", 4 * (21 + 3)), ("sub.Tensor", 4 * (21 + 3 + 21)), ("exp_", 4 * (21 + 21))]


def test_views_move_nothing():
    scores = torch.randn(3, 7)
    assert bench.traffic(lambda: (scores.mT, scores[1:], scores.view(21), scores.expand(5, 3, 7))) == []


def test_what_is_expanded_lies_in_memory_once():
    row = torch.randn(7).expand(3, 7)
    assert bench.traffic(row.exp) == [("exp", 4 * (7 + 21))]


# --- what was measured on a GPU ---

@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A package in which nothing is recorded, on a machine that seems to have a GPU or not."""
    monkeypatch.setattr(bench, "RECORDED", tmp_path / "recorded")
    monkeypatch.delenv("ATTNLIB_RECORD", raising=False)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "A GPU")
    here = types.SimpleNamespace(has_gpu=False, record=lambda: monkeypatch.setenv("ATTNLIB_RECORD", "1"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: here.has_gpu)
    return here


def test_without_a_gpu_and_a_record_a_line_says_so(elsewhere, capsys):
    assert bench.gpu_times("softmax", lambda: 1 / 0) == {}
    assert capsys.readouterr().out == "No GPU here, and no measurement has been recorded yet.\n"


def test_what_was_measured_on_a_gpu_is_shown_elsewhere(elsewhere, capsys):
    elsewhere.has_gpu = True
    elsewhere.record()
    for seconds in (1.0, 2.0):
        assert bench.gpu_times("softmax", lambda: {"a copy": seconds}) == {"a copy": seconds}
    assert bench.gpu_times("asking", lambda: {"time to ask": 3.0}) == {"time to ask": 3.0}
    elsewhere.has_gpu = False
    assert bench.gpu_times("softmax", lambda: 1 / 0) == {"a copy": 2.0}
    assert capsys.readouterr().out.splitlines()[-1].startswith("A GPU, 20")
    assert bench.gpu_times("flash", lambda: 1 / 0) == {}


def test_nothing_is_recorded_unasked(elsewhere):
    elsewhere.has_gpu = True
    bench.gpu_times("softmax", dict)
    assert not bench.RECORDED.exists()
