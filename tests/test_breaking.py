"""expose and repair: wrong programs to break, and listings with one wrong line."""

import itertools
import re

import nbformat
import numpy as np
import pytest

from attncourse.exercises import expose, repair
from attncourse.exercises.engine import breaking, legal, repairing, smallest
from attncourse.exercises.engine.breaking import exposed, problems
from attncourse.exercises.engine.problem_pages import pages, read
from attncourse.exercises.engine.repairing import listings, repaired
from attncourse.exercises.sandbox.call import Clock
from book.notebooks import CHAPTERS


def plain(text):
    return " ".join(text.split())


# --- expose -----------------------------------------------------------------

EXPOSING = {
    "half_the_work": (
        ([[1, 0], [0, 1]], [[1], [0]], [[0], [1]]),
        (np.eye(2), [[0, 0], [1, 0]], [[1, 0], [0, 0]]),
        ([[1, 2], [3, 4], [5, 6]], [[1, -1], [0, 2]], [[2, 1], [1, 1]]),
        ([[0.5, 1], [1, 0.5]], [[1], [2]], [[2], [1]]),
    ),
    "leak_test": (
        ([[True, True, False], [True, True, False], [True, True, True]],),
        (np.tri(4, 4, 1) > 0,),
        (np.eye(3, k=1) + np.eye(3) > 0,),
        (np.arange(4) < np.array([[2], [2], [3], [4]]),),
    ),
    "one_maximum": (
        ([[0], [-746]],),
        ([[1000, 0], [0, 1]],),
        ([[5000.5, 1.0, 2.0], [3.0, 4.0, 0.0]],),
        ([[373], [-373]],),
    ),
    "safe_division": (([-7],), ([1000],), ([-20.5, -21],), ([710, 0],)),
    "soft_target": (([0], [0]), ([1, 2], [1, 1]), ([3, 1, 0.5], [0.9, 0, 0]), ([5], [-1])),
    "right_direction": (
        ([0, 0], [[1, 0], [0, 0]], [1, 0]),
        ([1, 2, 3], [[1, 0, 1], [0, 2, 1]], [1, -1]),
        ([0, 0], [[0, 0], [0, -1], [0, 1]], [0, 0, 1]),
        ([0.5, 0, 1, 2], np.eye(4), [1, 2, 3, 4]),
    ),
    "two_blocks": (([0, -1, 0], 1), ([1, 0, 0], 1), ([5, 1, 4, 2, 3], 2), ([100, 0, 50, 7], 1)),
    "small_weights": (
        ([4, -3], [[0], [2]]),
        ([7, 0], [[0], [1000]]),
        ([0, 8, -1], [[-50, 0], [0, 1], [2, 2]]),
        (np.repeat([0, -7], [1, 9]), np.ones((10, 1))),
    ),
    "large_negative": (
        ([[100]], [[-100], [0]], [[1], [2]], [[True, False]]),
        ([[1000, 0]], [[-15, 5], [0, 0]], [[1, 0], [0, 1]], [[True, False]]),
        ([[1], [200]], [[-100], [3]], [[1], [-1]], [[True, True], [True, False]]),
    ),
    "same_word": (
        ([0, 0], [[1], [0]]),
        ([3, 1, 3], [[1, 2], [3, 4], [5, 6]]),
        ([2, 2, 2], [[0.5], [-1], [7]]),
    ),
    "there_and_back": (
        ([[1, 0], [0, 0]], 2),
        ([[0, 0], [0, 1]], 2),
        ([[1, 2], [3, 4], [5, 6]], 2),
        ([[0.5, -1], [2, 3]], 2),
    ),
    "before_and_after": (([0, 0, 1],), ([1, 0, 0, 1],), ([0, -0.5, -1, -1.5, -2],), ([5, 1, 2],)),
    "hidden_first": (
        ([[0, -746]], [[0], [0]], [[False, True]], 1),
        ([[5, -800, -900]], [[0], [1], [2]], [[False, True, True]], 1),
        ([[0, 0, -1000], [1, 2, 3]], np.eye(3), [[False, False, True], [True] * 3], 2),
        ([[3, 3, -745.5]], [[1], [1], [2]], [[False, False, True]], 1),
    ),
    "nobody_higher": (([[0, 0, 0]], [0]), ([[1, 2, 2], [9, 1, 1]], [2, 0]), ([[-1, -5, -1]], [0])),
    "past_the_row": (([[0], [1]], 2), ([[1, 2, 3], [4, 5, 6]], 2), ([[0.5], [-1], [2]], 3)),
    "seldom_rescaled": (
        ([-6, 0, 6], [0, 0, 0]),
        ([0, 9, 5, 18], [1, 2, 3, 4]),
        ([0.5, 10.5, 12.5], [1, 1, 1]),
        ([-500, -490, -487, 3], [1, 2, 3, 4]),
    ),
    "round_the_ring": (
        ([0, 0, 0], [0, 0, 1], 2),
        ([1, 2, 3, 4], [5, 6, 7, 8], 3),
        ([0, 0, 0, 0, 9], [1, 2, 3, 4, 5], 4),
        ([0.5, 0.5, 0.5], [-1, 1, 2], 2),
    ),
    "third_rank": (
        ([0, 0, 1], [0, 0, 0]),
        ([1, 0, 0], [0, 0, 0]),
        ([1, 2, 3, 4], [0.5, 0.25, 1, 2]),
        ([5, -5, 1], [3, 2, 3]),
    ),
}
NOT_EXPOSING = {
    "half_the_work": (
        ([[1], [2]], [[3]], [[5]]),
        ([[1, 2]], [[3], [4]], [[5], [6]]),
        ([[1, 2], [3, 4]], [[5], [6]], [[10], [12]]),
        ([[1, 2], [2, 4]], [[5], [6]], [[7], [8]]),
    ),
    "leak_test": (([[True]],), ([[False, True], [True, False]],), (np.tri(4) > 0,)),
    "one_maximum": (([[0], [-745]],), ([[9999, -9999]],), ([[1, 2], [3, 4]],)),
    "safe_division": (([-6],), ([0, 0, 0],), ([700, 1],)),
    "soft_target": (([0], [1]), ([1, 2], [0, 1]), ([5, 0, 1], [2, -1, 0])),
    "right_direction": (
        ([3], [[1], [2]], [1, 0]),
        ([1, 2], [[3, 4]], [5]),
        ([1, 2], [[3, 4], [3, 4]], [5, 6]),
        ([1, 2], [[3, 4], [5, 6]], [7, 7]),
    ),
    "two_blocks": (([1, 0], 1), ([0, 1, -1], 1), ([1, 2, 3], 1), ([1, 0, 0], 2)),
    "small_weights": (([9], [[9]]), ([6, 0], [[0], [9]]), ([7, 0], [[9], [1]])),
    "large_negative": (
        ([[99]], [[-99], [0]], [[1], [2]], [[True, False]]),
        ([[100]], [[-100], [0]], [[1], [1]], [[True, False]]),
        ([[100]], [[-100], [0]], [[1], [2]], [[True, True]]),
    ),
    "same_word": (
        ([0, 0], [[0], [1]]),
        ([0, 1, 2, 3], [[1], [2], [3], [4]]),
        ([1, 1, 2], [[0], [5], [6]]),
    ),
    "there_and_back": (([[1, 2], [3, 4]], 1), ([[5, 6]], 2), ([[2, 2], [2, 2]], 2)),
    "before_and_after": (([0, 1],), ([7],), ([3, 1, 1],), ([0, 4, 9, 4],)),
    "hidden_first": (
        ([[0, -745]], [[1], [2]], [[False, True]], 1),
        ([[-800, 5]], [[1], [2]], [[True, False]], 1),
        ([[0, -800]], [[1], [2]], [[False, True]], 2),
        ([[9, -800, -3]], [[1], [2], [3]], [[False, True, True]], 1),
    ),
    "nobody_higher": (
        ([[0, 0, 1]], [1]),
        ([[1, 2, 3], [3, 2, 1]], [2, 1]),
        ([[5, 5, 6], [0, 0, 1]], [2, 0]),
    ),
    "past_the_row": (
        ([[1], [0]], 2),
        ([[1, 2, 3]], 2),
        ([[1, 2, 3, 4], [5, 6, 7, 8]], 4),
        ([[1, 2], [0, 3]], 3),
    ),
    "seldom_rescaled": (
        ([0, 11], [1, 2]),
        ([0, 500, 505], [1, 2, 3]),
        ([-5, 0, 6], [1, 2, 3]),
        ([9, 5, -3, 18], [1, 2, 3, 4]),
    ),
    "round_the_ring": (
        ([1, 2, 3, 4], [5, 6, 7, 8], 2),
        ([1, 2, 3], [5, 6, 7], 3),
        ([1, 2], [5, 6], 4),
        ([1, 2, 3], [5, 6, 7], 1),
        ([1, 2, 3], [5, 7, 7], 2),
    ),
    "third_rank": (
        ([3, 5], [0, 1]),
        ([7], [100]),
        ([2, 2, 2], [0, 1, 2]),
        ([1, 2, 3], [0, 50, 100]),
    ),
}


def cases(table):
    return [(name, args) for name, found in table.items() for args in found]


def test_each_problem_has_inputs_of_both_kinds():
    assert set(EXPOSING) == set(NOT_EXPOSING) == set(problems())
    assert all(len(found) >= 3 for found in EXPOSING.values())


@pytest.mark.parametrize("name, args", cases(EXPOSING))
def test_what_exposes_is_accepted_and_told_by_how_much(name, args):
    said = plain(exposed(name, *args))
    assert said.startswith(f"{name}: exposed, ") and "returned: " in said and "right: " in said
    assert re.search(r"exposed, (by [\d.e+]+|with (NaN|-?inf|0) where \S+ is right), by an", said)
    assert problems()[name].page.prose("Why") in said
    assert "A smaller input" in said or "A simpler input" in said or "as small as it gets" in said


@pytest.mark.parametrize("name, args", cases(NOT_EXPOSING))
def test_what_does_not_expose_gets_the_question(name, args):
    said = plain(exposed(name, *args))
    assert said.startswith(f"{name}: not exposed. On this input")
    assert said.endswith(f"Ask yourself: {problems()[name].page.prose('Ask')}")


def test_arguments_may_be_named_and_the_input_stays_as_it_is():
    scores, target = np.array([0.0, 0.0]), np.array([1.0, 1.0])
    assert "exposed, by 0.5" in exposed("soft_target", target=target, scores=scores)
    assert scores.tolist() == [0, 0] and target.tolist() == [1, 1]


SCORES = "one_maximum"
ILLEGAL = [
    (SCORES, ([1, 2],), {}, "must have two axes, (n_q, n_k); the shape of yours is (2,). Put it"),
    (SCORES, ([[1, 2], [3]],), {}, "The rows of scores must all have the same length."),
    (SCORES, ([["a"]],), {}, "scores must hold numbers; yours holds text."),
    (SCORES, ([[True]],), {}, "scores must hold numbers; yours holds True and False."),
    (SCORES, ([[1j]],), {}, "yours holds complex numbers."),
    (SCORES, ([[np.nan]],), {}, "takes no NaN and no infinity"),
    (SCORES, ([[20000]],), {}, "at most 10,000 in size; yours go up to 20,000."),
    (SCORES, ([[]],), {}, "scores is empty."),
    (SCORES, (np.ones((50, 50)),), {}, "scores holds 2,500 numbers."),
    (SCORES, ([[1]], [[2]]), {}, "The input consists of scores; got 2 arguments."),
    (SCORES, (), {"score": [[1]]}, "no argument called score: the input is scores. Did you mean"),
    (SCORES, ([[1]],), {"scores": [[1]]}, "scores is given twice."),
    ("soft_target", ([1],), {}, "target is missing: the input is scores and target."),
    ("leak_test", ([[1]],), {}, "attn_mask must hold True and False; yours holds numbers."),
    ("leak_test", ([[True, True]],), {}, "must have as many rows as columns; got 1 and 2."),
    ("small_weights", ([1], [[1], [2]]), {}, "on the axis n_k; got 1 and 2."),
    ("two_blocks", ([1], 1.0), {}, "block_size must be a whole number; got 1.0."),
    ("two_blocks", ([1], 9), {}, "block_size must lie between 1 and 8; got 9."),
    (
        "large_negative",
        ([[1]], [[1]], [[1]], [[False]]),
        {},
        "Row 0 of attn_mask is False throughout.",
    ),
]


@pytest.mark.parametrize("name, args, named, said", ILLEGAL)
def test_what_is_no_input_is_told_in_a_sentence(name, args, named, said):
    message = plain(exposed(name, *args, **named))
    assert message.startswith(f"{name}: not tried. ") and said in message


@pytest.mark.parametrize(
    "name, args, said",
    [
        (SCORES, ([[1000, 0], [0, 1]],), "two numbers are enough, and yours has 4."),
        (SCORES, ([[0.5], [-746]],), "A simpler input does it too: two whole numbers will do."),
        (
            SCORES,
            ([[0], [-746]],),
            "with as many numbers. Its largest is 373 in size, and yours is 746.",
        ),
        (SCORES, ([[-373], [373]],), "as small as it gets"),
        (
            "safe_division",
            ([800],),
            "with as many numbers. Its largest is 7 in size, and yours is 800.",
        ),
        (
            "two_blocks",
            ([1, 0, -1], 1),
            "The sizes of its numbers add up to 2, and the sizes of yours to 3.",
        ),
        ("two_blocks", ([1, 0, 0], 1), "as small as it gets"),
        (
            "soft_target",
            ([0], [2]),
            "with as many numbers. Its largest is 0 in size, and yours is 2.",
        ),
    ],
)
def test_a_smaller_input_is_told_by_what_makes_it_smaller(name, args, said):
    assert said in plain(exposed(name, *args))


def test_of_a_large_array_the_farthest_entry_is_told():
    scores = np.zeros((4, 5))
    scores[2] = -800
    said = exposed("one_maximum", scores)
    assert "scores of shape (4, 5)" in said and "\n  at [2, 0]: NaN where 0.2 is right\n" in said


def test_an_input_that_beats_the_search_is_believed(monkeypatch):
    monkeypatch.setitem(vars(problems()["safe_division"]), "smallest", {"scores": np.array([99.0])})
    assert "even smaller than the smallest" in plain(exposed("safe_division", [-7]))


# --- the smallest, by brute force ---


def whole(shape, most):
    """All arrays of whole numbers up to this size."""
    for numbers in itertools.product(range(-most, most + 1), repeat=int(np.prod(shape))):
        yield np.array(numbers, float).reshape(shape)


def below(name, inputs):
    """Those inputs, of fewer or smaller numbers than the search's, that expose the problem."""
    problem = problems()[name]
    bound, seen = smallest.size(problem.smallest), 0
    for one in inputs:
        if smallest.size(one) < bound:
            seen += 1
            if problem.is_exposed_by(one):
                return one
    assert seen
    return None


def named(name, *values):
    return dict(zip([argument.name for argument in problems()[name].arguments], values))


def test_the_smallest_for_half_the_work():
    """With a single feature a score of two words is a product of four numbers, in both orders."""
    name = "half_the_work"
    assert smallest.size(problems()[name].smallest) == (8, 0, 1, 4)
    shapes = ((2, 1, 1, 2), (3, 1, 1, 1), (2, 1, 2, 1), (1, 2, 1, 1), (2, 2, 1, 1))
    inputs = (
        named(name, x, w_q, w_k)
        for n, d, d_k, most in shapes
        for x in whole((n, d), most)
        for w_q in whole((d, d_k), most)
        for w_k in whole((d, d_k), most)
    )
    assert below(name, inputs) is None


def test_the_smallest_for_leak_test():
    name = "leak_test"
    assert smallest.size(problems()[name].smallest) == (9, 0, 0, 0)
    inputs = (
        named(name, np.reshape(entries, (n, n)))
        for n in (1, 2)
        for entries in itertools.product((True, False), repeat=n * n)
    )
    assert below(name, inputs) is None


def test_nothing_is_smaller_than_two_zeros():
    assert smallest.size(problems()["soft_target"].smallest) == (2, 0, 0, 0)


def test_the_smallest_for_right_direction():
    name = "right_direction"
    assert smallest.size(problems()[name].smallest) == (8, 0, 1, 2)
    inputs = (
        named(name, query, key, grad)
        for n_k, d_k, most in ((1, 1, 2), (2, 1, 2), (1, 2, 2), (1, 3, 1), (2, 2, 1))
        for query in whole((d_k,), most)
        for key in whole((n_k, d_k), most)
        for grad in whole((n_k,), most)
    )
    assert below(name, inputs) is None


def test_the_smallest_for_one_maximum():
    name, most = "one_maximum", 373
    assert smallest.size(problems()[name].smallest) == (2, 0, most, 2 * most)
    assert below(name, (named(name, np.array([[x]])) for x in range(-10000, 10001, 7))) is None
    # two rows are told apart by their difference alone; two keys in one row by nothing
    columns = (np.array([[a], [a - gap]]) for gap in range(0, 746) for a in (gap // 2, gap))
    rows = (np.array([[a, -a]], float) for a in range(373))
    assert below(name, (named(name, one.astype(float)) for one in (*columns, *rows))) is None


def test_the_smallest_for_safe_division():
    name = "safe_division"
    assert problems()[name].smallest["scores"].tolist() == [-7]
    assert below(name, (named(name, one) for one in whole((1,), 7))) is None


def test_the_smallest_for_two_blocks():
    name = "two_blocks"
    assert smallest.size(problems()[name].smallest) == (4, 0, 1, 2)
    shapes = ((1, 50), (2, 9), (3, 1))
    inputs = [
        named(name, x, b) for n, most in shapes for x in whole((n,), most) for b in range(1, 9)
    ]
    assert below(name, inputs) is None


def test_the_smallest_for_small_weights():
    name = "small_weights"
    assert smallest.size(problems()[name].smallest) == (4, 0, 4, 9)
    inputs = [named(name, x, v) for x in whole((1,), 9) for v in whole((1, 2), 2)]
    inputs += [named(name, x, v) for x in whole((2,), 4) for v in whole((2, 1), 4)]
    assert below(name, inputs) is None


def test_the_smallest_for_large_negative():
    """A gap grows with the values' difference, so the largest difference stands for all."""
    name, mask = "large_negative", np.array([[True, False]])
    assert smallest.size(problems()[name].smallest) == (7, 0, 100, 201)
    problem = problems()[name]
    for q, k in itertools.product(range(-100, 101), repeat=2):
        if abs(q) + abs(k) < 200:
            key, value = np.array([[k], [0.0]]), np.array([[100.0], [-100.0]])
            assert not problem.is_exposed_by(named(name, np.array([[q]]), key, value, mask))
    alone = np.array([[True]])  # a single key has all the weight
    inputs = (
        named(name, q, k, v, alone)
        for q in whole((1, 1), 3)
        for k in whole((1, 1), 3)
        for v in whole((1, 2), 1)
    )
    assert below(name, inputs) is None


def test_the_smallest_for_same_word():
    name = "same_word"
    assert smallest.size(problems()[name].smallest) == (4, 0, 1, 1)
    one = [named(name, np.array([w]), g) for w in range(4) for g in whole((1, 2), 9)]
    two = [
        named(name, np.array(words), np.zeros((2, 1)))
        for words in itertools.product(range(4), repeat=2)
    ]
    assert below(name, one + two) is None


def test_the_smallest_for_there_and_back():
    name = "there_and_back"
    assert smallest.size(problems()[name].smallest) == (5, 0, 2, 3)
    one = [named(name, x, h) for x in whole((1, 2), 20) for h in (1, 2)]
    two = [named(name, x, h) for x in whole((2, 2), 2) for h in (1, 2)]
    assert below(name, one + two) is None


def test_the_smallest_for_before_and_after():
    name = "before_and_after"
    assert smallest.size(problems()[name].smallest) == (3, 0, 1, 1)
    short = [named(name, x) for x in (*whole((1,), 50), *whole((2,), 50))]
    assert below(name, [*short, named(name, np.zeros(3))]) is None


def test_the_smallest_for_hidden_first():
    """A score that isn't seen, or a value, is at its best 0, because no result depends on it."""
    name, hidden = "hidden_first", np.array([[False, True]])
    assert smallest.size(problems()[name].smallest) == (7, 0, 746, 747)
    value = np.zeros((2, 1))
    inputs = [named(name, np.array([[0.0, x]]), value, hidden, 1) for x in range(-745, 746)]
    masks = [np.array([pair]) for pair in itertools.product((True, False), repeat=2) if any(pair)]
    inputs += [
        named(name, scores, value, mask, block)
        for scores in 745 * np.array([*whole((1, 2), 1)])
        for value in whole((2, 1), 1)
        for mask in masks
        for block in range(1, 5)
    ]
    alone = np.array([[True]])  # one key is never hidden first
    for d_v in range(1, 4):
        inputs += [named(name, np.array([[-1000.0]]), np.ones((1, d_v)), alone, 1)]
    assert below(name, inputs) is None


def test_nothing_is_smaller_than_three_zeros_that_tie():
    """A prediction has three scores, and its target may be 0."""
    assert smallest.size(problems()["nobody_higher"].smallest) == (4, 0, 0, 0)


def test_the_smallest_for_past_the_row():
    name = "past_the_row"
    assert smallest.size(problems()[name].smallest) == (3, 0, 2, 3)
    one = [named(name, x, block) for x in whole((1, 1), 50) for block in range(1, 5)]
    two = [
        named(name, x, block)
        for shape in ((1, 2), (2, 1))
        for x in whole(shape, 2)
        for block in range(1, 5)
    ]
    assert below(name, one + two) is None


def test_the_smallest_for_seldom_rescaled():
    """The values don't matter where the exponential is infinite."""
    name = "seldom_rescaled"
    assert smallest.size(problems()[name].smallest) == (6, 0, 6, 12)
    inputs = [named(name, x, np.zeros(3)) for x in whole((3,), 6)]
    inputs += [named(name, x, v) for x in whole((3,), 5) for v in (x, np.array([5.0, 0, -5]))]
    inputs += [named(name, x, np.array([1000.0, -1000])) for x in whole((2,), 30)]
    assert below(name, inputs) is None


def test_the_smallest_for_round_the_ring():
    name = "round_the_ring"
    assert smallest.size(problems()[name].smallest) == (7, 0, 2, 3)
    short = [
        named(name, x, v, window)
        for n in (1, 2)
        for x in whole((n,), 2)
        for v in whole((n,), 2)
        for window in range(1, 5)
    ]
    three = [
        named(name, x, v, window)
        for x in whole((3,), 1)
        for v in whole((3,), 1)
        for window in (1, 2)
    ]
    assert below(name, short + three) is None


def test_the_smallest_for_third_rank():
    name = "third_rank"
    assert smallest.size(problems()[name].smallest) == (6, 0, 1, 1)
    two = [named(name, o, s) for o in whole((2,), 3) for s in whole((2,), 3)]
    assert below(name, [*two, named(name, np.zeros(3), np.zeros(3))]) is None


def test_brute_force_finds_what_a_worse_search_leaves(monkeypatch):
    worse = {"scores": np.array([[0.0], [-746.0]])}
    monkeypatch.setitem(vars(problems()["one_maximum"]), "smallest", worse)
    assert below("one_maximum", [named("one_maximum", np.array([[373.0], [-373.0]]))]) is not None


@pytest.mark.parametrize(
    "holds, found",
    [
        (lambda x: x.sum() >= 29, [29]),
        (lambda x: len(x) > 1 and x[0] - x[1] >= 20, [10, -10]),
        (lambda x: len(x) > 1 and x.prod() >= 36, [6, 6]),
        (lambda x: len(x) > 1 and x[0] != x[1], [0, 1]),
        (lambda x: 3 < x.sum() < 7 and len(x) == 1, [4]),  # too large a number doesn't do
        (lambda x: x.size > 3, None),
    ],
)
def test_the_search_lowers_what_it_can(holds, found):
    arguments = legal.arguments(["`x`: numbers (n,), at most 1000 in size"])
    least = smallest.smallest(lambda inputs: holds(inputs["x"]), arguments, {"n": 3})
    assert (least and least["x"].tolist()) == found


def test_the_search_tries_all_whole_numbers_and_keeps_the_axes_that_are_given():
    arguments = legal.arguments(["`x`: numbers (2, n)", "`at`: whole numbers (n,), from 1 to 3"])
    least = smallest.smallest(
        lambda inputs: inputs["at"].min() == 2 and inputs["x"][1, 0] > 0, arguments, {"n": 2}
    )
    assert least["x"].tolist() == [[0], [1]] and least["at"].tolist() == [2]


def test_fewer_numbers_come_before_whole_ones_and_these_before_small_ones():
    inputs = ([0.5], [2000], [0.5, 0], [0, 3], [1, 3], [-4, 0], [0, 0, 0])
    sizes = [smallest.size({"x": np.array(x), "mask": np.array([True])}) for x in inputs]
    order = sorted(range(len(inputs)), key=sizes.__getitem__)
    assert [inputs[i] for i in order] == [
        [2000],
        [0.5],
        [0, 3],
        [1, 3],
        [-4, 0],
        [0.5, 0],
        [0, 0, 0],
    ]


# --- repair -----------------------------------------------------------------

RIGHT = {
    "half_sum": (
        (5, "total = np.zeros(rows, dtype=np.float32)"),
        (5, "total = np.zeros(rows)"),
        (5, "total = np.zeros_like(top)"),
        (5, "total = 0.0"),
        (8, "total = total + np.exp(part - top[:, None]).sum(axis=-1)"),
    ),
    "one_direction": (
        (5, "direction = np.random.default_rng(7).normal(size=scores.shape)"),
        (5, "direction = np.random.normal(size=scores.shape)"),
        (5, "direction = np.sin(1.0 + np.arange(scores.size)).reshape(scores.shape)"),
        (5, "direction = np.arange(1.0, len(scores) + 1)"),
        (6, "direction = np.random.default_rng(1).uniform(-1, 1, size=scores.shape)"),
    ),
    "word_by_word": (
        (3, "changed = x.copy()"),
        (3, "changed = np.zeros_like(x)"),
        (3, "changed = 0 * x"),
        (3, "changed = np.array(x)"),
        (3, "changed = [None] * len(x)"),
    ),
    "padded_batch": (
        (7, "scores = np.where(real[:, None, :], scores, -1e30)"),
        (7, "    scores = np.where(real[:, np.newaxis], scores, -np.inf)"),
        (7, "scores[~np.broadcast_to(real[:, None], scores.shape)] = -np.inf"),
        (7, "scores += np.where(real, 0, -1e30)[:, None, :]"),
        (7, "scores = np.where(np.expand_dims(real, 1), scores, -1e30)"),
    ),
    "added_input": (
        (9, "delta = (grad_out * (out - x)).sum(axis=1, keepdims=True)"),
        (9, "delta = (grad_out * (weights @ value)).sum(-1)[:, None]"),
        (9, "delta = (weights * (grad_out @ value.T)).sum(axis=1, keepdims=True)"),
        (11, "grad_scores = weights * (grad_weights - (weights * grad_weights).sum(1)[:, None])"),
    ),
    "heads_on_gpus": (
        (13, "total += part + bias / world"),
        (13, "total = total + part + bias * (rank == 0)"),
        (13, "total += part if rank else part + bias"),
        (14, "return total - (world - 1) * bias"),
        (4, "total = np.zeros((n, d_model)) - (world - 1) * bias"),
    ),
    "turned_pairs": (
        (7, "angle = np.tile(angle, 2)"),
        (7, "angle = np.concatenate([angle, angle], axis=1)"),
        (7, "angle = angle[:, np.arange(d) % (d // 2)]"),
    ),
    "delta_in_blocks": (
        (10, "delta = (grad_output * output).sum(axis=1, keepdims=True)"),
        (10, "delta = np.einsum('ic,ic->i', output, grad_output)[:, None]"),
        (10, "delta = np.diag(grad_output @ output.T)[:, None]"),
        (
            10,
            "delta = (np.exp(query @ key.T - lse[:, None]) @ value * grad_output).sum(1)[:, None]",
        ),
        (11, "grad_scores = weights * (grad_weights - (grad_output * output).sum(1)[:, None])"),
    ),
    "mean_loss": (
        (10, "words += real.sum()"),
        (10, "words += np.count_nonzero(real)"),
        (10, "words = words + int(np.sum(real))"),
        (10, "words += len(loss[real])"),
    ),
    "tile_strides": (
        (11, "b = memory[n * inner[:, None] + cols]"),
        (11, "b = memory[: k * n].reshape(k, n)[inner[:, None], cols]"),
        (11, "b = memory[cols + inner.reshape(-1, 1) * n]"),
        (11, "b = np.array([memory[n * i + cols] for i in inner])"),
    ),
    "last_tile": (
        (7, "for start in range(0, rows[-1] + 1, block_k):"),
        (7, "for start in range(0, first + block_q, block_k):"),
        (7, "for start in range(0, n, block_k):  # the mask does the rest"),
        (7, "for start in range(0, min(first + block_q, n), block_k):"),
    ),
    "slots": (
        (17, "n = self.length[slot]"),
        (17, "n = at + 1"),
        (17, "n = int(self.length[slot])"),
        (17, "n = 1 + at  # with its own key"),
    ),
    "ring_step": (
        (11, "if step < world:"),
        (11, "if True:"),
        (11, "if step >= 0:"),
        (14, "return travelling[-1:] + travelling[:-1]"),
    ),
}
WRONG = {
    "half_sum": (
        (5, "total = np.ones(rows)", "The sum starts at 1"),
        (5, "total = np.zeros(rows, np.float16)", "Now each sum is rounded to float16"),
        (5, "total = np.zeros(rows, dtype=int)", "It stops with an error."),
        (7, "part = scores[:, start : start + chunk]", "Line 7 is right: the chunk is converted"),
        (10, "lse = top + np.log(total)", "Line 10 is right"),
    ),
    "one_direction": (
        (5, "direction = np.zeros(scores.shape) - 2", "All scores still move together"),
        (5, "direction = np.zeros(scores.shape) + 2", "by the same amount"),
        (5, "direction = np.eye(len(scores))[0]", "Only the first score moves"),
        (5, "direction = np.zeros(scores.shape)", "test input 1 of 8: the right gradient"),
        (9, "measured = (above - below) / step", "Line 9 is right"),
        (8, "below = loss(scores)", "Line 8 is right: all scores move"),
    ),
    "word_by_word": (
        (3, "changed = x.reshape(x.shape)", "the same memory under another name"),
        (3, "changed = np.copy(x); x = changed", "the same memory under another name"),
        (3, "changed = np.zeros((1, x.shape[1]))", "This has room for one word only."),
        (5, "past = x[: i + 1].copy()", "Line 5 is right: a word reads itself"),
        (10, "changed[i] = weights @ past @ w_v", "Line 10 is right"),
    ),
    "padded_batch": (
        (7, "scores = np.where(real[:, None, :], scores, 0)", "A score of 0 hides nothing"),
        (
            7,
            "scores = np.where(real[..., None], scores, -np.inf)",
            "are the same as with the old line. It's still wrong on test input 1 of 12: texts",
        ),
        (6, "real = position <= lengths[:, None]", "Line 6 is right: entry (b, j) of real is True"),
        (9, "powers = np.exp(scores) + 1", "Line 9 is right: all exponents"),
        (
            9,
            "powers = np.exp(scores) * real[:, None, :]",
            "With your line 9, the listing is right on 9 of 12 test inputs instead of 6, so it",
        ),
        (7, "scores = np.where(real[:, None, :], scores, -1e4)", "still wrong on test input 3"),
        (7, "scores = np.where(real[:, None, :], scores)", "It stops with an error. ValueError"),
    ),
    "added_input": (
        (9, "delta = (grad_out * x).sum(axis=1, keepdims=True)", "doesn't belong in delta"),
        (9, "delta = 0", "test input 1 of 4: 1 query and 1 key, d = 1."),
        (8, "out = weights @ value", "Line 8 is right: the layer adds"),
        (12, "grad_x = scale * grad_scores @ key", "x affects the output in two ways"),
    ),
    "heads_on_gpus": (
        (13, "total += part", "Now the bias is gone."),
        (13, "total += part - bias", "test input 1 of 5: 2 heads on 2 GPUs."),
        (7, "for w_q, w_k, w_v, w_o in heads[rank:]:", "Line 7 is right: each GPU takes"),
    ),
    "turned_pairs": (
        (7, "angle = np.concatenate([angle, -angle], axis=1)", "rotate by the same angle"),
        (7, "angle = np.repeat(angle, 2, axis=-1)[:, :d]", "are the same as with the old line"),
        (7, "angle = np.tile(angle, (2, 1))", "could not be broadcast together"),
        (7, "angle = 0 * np.tile(angle, 2)", "test input 1 of 5: n = 2, d = 2, base = 100."),
        (5, "speed = base ** (-np.arange(0, d, 2) / d / 2)", "already holds the numbers 2i"),
        (11, "partner = np.concatenate([second, -first], axis=1)", "Line 11 is right"),
    ),
    "delta_in_blocks": (
        (10, "delta = (grad_output * output).sum()", "each query has its own delta"),
        (10, "delta = 0", "1 query and 2 keys, in blocks of 1"),
        (10, "delta = (weights * grad_weights).sum(axis=1)[:, None]", "same as with the old line"),
        (8, "weights = attnlib.softmax(query @ key[at].T)", "rather than a softmax over the block"),
        (14, "grad_query = grad_scores @ key[at]", "multiplied by the keys of every block"),
    ),
    "mean_loss": (
        (10, "words += 1", "This counts the batches"),
        (10, "words += (loss > 0).sum()", "aren't 0"),
        (9, "loss = lse - picked[..., 0]", "Line 9 is right"),
    ),
    "tile_strides": (
        (11, "b = memory[m * inner[:, None] + cols]", "which has nothing to do with B"),
        (11, "b = memory[inner[:, None] + n * cols]", "the transpose of a matrix"),
        (11, "b = memory[9 * inner[:, None] + cols]", "It stops with an error. IndexError"),
        (10, "a = memory[n * k + n * rows + inner]", "its rows have k numbers"),
    ),
    "last_tile": (
        (7, "for start in range(0, first + block_k, block_k):", "rather than on how many keys"),
        (7, "for start in range(0, first + 2, block_k):", "n = 12, block_q = 8, block_k = 4."),
        (10, "scores = scores", "Line 10 is right"),
    ),
    "slots": (
        (17, "n = self.length[0] + 0", "whichever slot is asked for"),
        (17, "n = at", "zero-size array to reduction operation maximum"),
        (10, "self.length[slot] = 0; self.key[slot] = 0", "Line 10 is right: a slot is empty"),
        (17, "n = self.lengths[slot]", "AttributeError: 'Cache' object has no attribute"),
    ),
    "ring_step": (
        (11, "if step > 0:", "each rank uses its own values twice"),
        (11, "if step <= world - 2:", "The outputs that count are the same as with"),
        (7, "for step in range(world + 1):", "Line 7 is right: the values of each rank"),
    ),
}


def test_each_listing_has_repairs_of_both_kinds():
    assert set(RIGHT) == set(WRONG) == set(listings())
    assert all(len(found) >= 3 for found in (*RIGHT.values(), *WRONG.values()))


@pytest.mark.parametrize(
    "name, line, new", [(name, *one) for name, found in RIGHT.items() for one in found]
)
def test_any_right_form_is_accepted(name, line, new):
    said, listing = plain(repaired(name, line, new)), listings()[name]
    assert said.startswith(f"{name}: repaired. With your line, the listing is right on all"), said
    assert listing.page.prose("Why") in said
    assert ("We had another line in mind" in said) == (line != listing.line)


@pytest.mark.parametrize(
    "name, line, new, part", [(name, *one) for name, found in WRONG.items() for one in found]
)
def test_a_wrong_repair_gets_its_sentence(name, line, new, part):
    said = plain(repaired(name, line, new))
    assert said.startswith(f"{name}: not yet. ") and part in said, said
    assert ("is the wrong one, but this doesn't" in said) == (line == listings()[name].line)


@pytest.mark.parametrize(
    "args, said",
    [
        ((7,), "slots: not yet. Line 7 is right: there is room for each text"),
        ((17,), 'line 17 is the wrong one. Now rewrite it: repair("slots", 17, "the whole'),
        ((17, "n = self.length.max()  # all"), "This is line 17 as it stands. It's the wrong one."),
        ((10, "self.length[slot] = 0"), "This is line 10 as it stands. Line 10 is right"),
        ((17, "n = = 3"), "the listing isn't Python any more: invalid syntax (line 17)"),
        ((0, "x"), "The listing has the lines 1 to 20; got 0."),
        ((3, "x"), "Line 3 is empty."),
        (("n = =", 17), "isn't Python any more"),
        ((17.0, "x"), "The second argument is the number of a line, from 1 to 20; got 17.0."),
        ((17, 5), "The third argument is the whole new line, in quotes; got int."),
        ((17, " "), "The new line is empty."),
        ((17, "n = 1\nn = 2"), "Change one line only"),
        ((17, "n = exit()"), "It calls exit()"),
        ((17, "n = 1 / 0"), "ZeroDivisionError: division by zero line 17: n = 1 / 0"),
    ],
)
def test_what_can_be_said_of_a_line(args, said):
    assert said in plain(repaired("slots", *args))


def test_an_endless_loop_is_ended(monkeypatch):
    monkeypatch.setattr(repairing, "Clock", lambda: Clock(0.3))
    said = plain(repaired("slots", 17, "while True: n = 1"))
    assert "It didn't finish within" in said


# --- both kinds, and their pages --------------------------------------------


@pytest.mark.parametrize(
    "function, name, said",
    [
        (expose, "one_maximun", "Did you mean one_maximum?"),
        (repair, "slot", "Did you mean slots?"),
        (expose, "qqqq", "There are half_the_work, leak_test,"),
        (repair, "qqqq", "There are half_sum,"),
        (expose, 3, 'in quotes, as in expose("one_maximum")'),
        (repair, None, 'in quotes, as in repair("ring_step")'),
    ],
)
def test_a_name_that_is_none_gets_a_sentence(function, name, said, capsys):
    function(name)
    assert said in plain(capsys.readouterr().out)


@pytest.mark.parametrize("name", problems())
def test_a_problems_page_is_whole_and_its_call_exposes_nothing(name):
    problem = problems()[name]
    page = problem.page
    assert page.prose("Ask").endswith("?") and page.prose("Why").endswith(".")
    assert eval(f"exposed(name, {page.settings['try']})").startswith(f"{name}: not exposed.")
    asked = exposed(name)
    assert asked == exposed(name) and max(map(len, asked.splitlines())) <= 76
    call = asked[asked.index("  expose(") :]
    assert plain(call) == plain(f'expose("{name}", {page.settings["try"]})')


@pytest.mark.parametrize("name", listings())
def test_a_listings_page_is_whole(name):
    listing = listings()[name]
    page, lines = listing.page, listing.lines
    others = {i for i, line in enumerate(lines, 1) if line.strip()} - {listing.line}
    assert set(listing.why_right) == others and 10 <= len(lines) <= 20
    assert page.prose("Why").endswith(".") and len(listing.known) >= 3
    assert max(map(len, repaired(name).splitlines())) <= 76
    before = listing.outcomes(listing.line, lines[listing.line - 1])
    assert repairing._first_wrong(listing, before) is not None
    for code, does in listing.known:
        said = plain(repaired(name, listing.line, code))
        assert does in said and "not yet" in said, code


def test_a_page_that_lacks_something_is_told(tmp_path):
    path = tmp_path / "break_x.md"
    path.write_text("---\nfunction: f\n---\n# x\nText.\n", "utf-8")
    with pytest.raises(ValueError, match="break_x.md has no section called Why"):
        read(path, "x").prose("Why")
    with pytest.raises(ValueError, match="must begin with # y; got # x"):
        read(path, "y")
    with pytest.raises(ValueError, match="no argument is written like this"):
        legal.arguments(["`x`: words"])


def test_neither_kind_knows_the_other():
    for one, other in ((breaking, "repairing"), (repairing, "breaking")):
        assert not any(other in str(value) for value in vars(one).values() if callable(value))


@pytest.mark.parametrize("kind", ["break", "repair"])
def test_each_problem_stands_in_its_chapter_as_it_is_printed(kind):
    function, said = {"break": ("expose", exposed), "repair": ("repair", repaired)}[kind]
    for name, page in pages(kind).items():
        (path,) = CHAPTERS.glob(f"{page.path.parent.name[1:3]}_*.ipynb")
        call = f'{function}("{name}")'
        (cell,) = (c for c in nbformat.read(path, 4).cells if call in c.source.splitlines())
        assert cell.outputs[0].text == said(name) + "\n", name


def test_the_solutions_solve_each_problem():
    calls = {
        name: call
        for path in CHAPTERS.glob("solutions/*.ipynb")
        for cell in nbformat.read(path, 4).cells
        for call, name in re.findall(
            r'^((?:expose|repair)\("(\w+)".*)', cell.source, re.DOTALL | re.M
        )
        if cell.cell_type == "code"
    }
    assert set(calls) == {*problems(), *listings()}
    for name, call in calls.items():
        said = eval(call, {"expose": exposed, "repair": repaired})
        right = "as small as it gets" if name in problems() else f"{name}: repaired."
        assert right in said, name
