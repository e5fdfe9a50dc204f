"""Mistakes that every step of a reference has without an entry: its result changed, its axis another one.

They are tried only where the known mistakes, and changed arguments and answers (operators.py), explain nothing.
Each says what was done to a quantity on the way: "The sum of the exponentials comes squared."
"""

import functools
import inspect

import numpy as np

from .engine import PLAIN, Mistake, Once
from .operators import ELEMENTWISE, PLACED, ROWWISE, changed

# what the steps give, by their names; "total" and others mean another thing in some exercises
QUANTITIES = {
    "scores_in": "the scores", "shift": "the shifted scores", "exponential": "the exponentials",
    "total": "the sum of the exponentials", "temper": "the divided scores", "highest": "the maximum",
    "log": "the logarithm of the sum", "diagonal": "the diagonal term", "outer": "the outer product",
    "products": "the product of weights and gradient", "centre": "the centred gradient", "power": "the exponentials",
    "block_sum": "the block's sum", "rescale": "the rescaled sum", "new_max": "the running maximum",
    "scale": "the scaled scores", "product": "the product of queries and keys", "weights_in": "the weights",
}
TERMS = {"total": "the terms of the sum"}
OWN = {"softmax_backward": {"total": "the row sum"}}
MORE = (
    ("doubled", lambda a: 2 * a, "doubled"), ("halved", lambda a: a / 2, "halved"),
    ("too large by 1", lambda a: a + 1, "with 1 added"), ("too small by 1", lambda a: a - 1, "with 1 subtracted"),
    ("cubed", lambda a: a ** 3, "cubed"), ("through log1p", np.log1p, "after log1p"),
    ("added up along the row", lambda a: np.cumsum(a, axis=-1), "added up along each row"),
    ("in reverse order", lambda a: a[..., ::-1], "with each row in reverse order"),
    ("averaged over the rows", lambda a: np.broadcast_to(a.mean(axis=-2, keepdims=True), a.shape),
     "averaged over the rows"),
    ("of the first row for all", lambda a: np.broadcast_to(a[..., :1, :], a.shape), "with the first row for every row"),
    ("of the last row for all", lambda a: np.broadcast_to(a[..., -1:, :], a.shape), "with the last row for every row"),
)
AXES = (
    ("the first axis", lambda n: 0), ("the second axis", lambda n: min(1, n - 1)),
    ("the last axis but one", lambda n: max(-2, -n)), ("all axes", lambda n: None),
    ("the last two axes", lambda n: tuple(range(-min(n, 2), 0))),
    ("all axes but the first", lambda n: tuple(range(1, n)) or (0,)),
    ("all axes but the last", lambda n: tuple(range(n - 1)) or (0,)),
)


@functools.cache
def stepwise(exercise):
    """The exercise with every step's changes as its mistakes."""
    names = {**QUANTITIES, **OWN.get(exercise.name, {})}
    streamed = isinstance(exercise.all_cases()[0].args[0], Once)  # its steps give single numbers
    found = [mistake for step, quantity in names.items() if step in exercise.steps
             for mistake in _of_step(step, exercise.steps[step], quantity, streamed)]
    return changed(exercise, found) if found else None


def _of_step(step, right, quantity, streamed):
    upper = quantity[0].upper() + quantity[1:]
    for text, change, said in (*ELEMENTWISE, *MORE) if streamed else (*ELEMENTWISE, *ROWWISE, *PLACED, *MORE):
        yield Mistake(f"{quantity} {text}", change={step: lambda *args, change=change: change(right(*args))},
                      does=f"On the way {quantity} comes in {said}.",
                      why="Nothing of the kind belongs to this step.",
                      ask=f"Which of your lines computes {quantity}, and what does it do besides?")
    if step in TERMS:
        for text, change, said in (*ELEMENTWISE, *MORE[:6]):
            yield Mistake(f"{TERMS[step]} {text}",
                          change={step: lambda *args, change=change: right(change(args[0]), *args[1:])},
                          does=f"What is added up for {quantity} comes in {said}.",
                          why="The sum runs over the same numbers as stand above the fraction line.",
                          ask="Which numbers do you add up, and which do you divide?")
    if "axis" not in inspect.signature(right).parameters or step == "axis":
        return
    for text, axis in AXES:
        yield Mistake(f"{quantity} over {text}",
                      change={step: lambda *args, axis=axis: right(*args[:-1], axis(np.ndim(args[0])))},
                      does=f"{upper} runs over {text}, and the other steps over the right one.",
                      why="All steps of one softmax run along the same axis.",
                      ask=f"Along which axis is {quantity} computed?")


def by_steps(exercise, seen, matcher_of):
    """(matcher, finding) if one step's result was changed in one plain way, and everything follows from it."""
    plain = [one for one in seen if one.case.aspect == PLAIN]
    if any(one.failure or not one.values for one in plain) or stepwise(exercise) is None:
        return None
    if not all(map(np.any, zip(*(map(np.any, one.values) for one in plain)))):
        return None  # a part that is 0 throughout proves nothing
    matcher = matcher_of(stepwise(exercise), seen)
    if all(one.case.extreme or matcher.right(k) for k, one in enumerate(seen)):
        return None  # what is spoiled by huge numbers alone may be spoiled in many ways
    finding = matcher.finding(largest=1)
    if finding.sets and finding.sets[0] and len(finding.leftover) <= 1:
        finding.sets = finding.sets[:1]
        return matcher, finding
    return None
