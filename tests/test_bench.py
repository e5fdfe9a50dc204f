"""The limits that the benchmark and the chapters compare with, and the counter of bytes."""

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
