"""expose: a wrong program, for which a reader writes the smallest input that shows it."""

import functools
import re
from dataclasses import dataclass

import numpy as np

from ..model import OTHERWISE, RIGHT
from ..sandbox.answer import read_answer
from ..sandbox.call import Outcome
from . import legal
from .message import WIDTH, differences, indented, number, rows
from .message import argument as as_text
from .problem_pages import SHOWN, Judged, not_tried, numbered, pages, paragraphs, unknown
from .smallest import size, smallest

LEAST = 1e-3  # a difference up to this may be rounding


@dataclass(frozen=True)
class Problem:
    """A wrong program beside the right one, and which inputs both take."""

    page: object
    arguments: tuple
    wrong: object
    right: object

    def difference(self, inputs):
        """(what the wrong program returns, what the right one does, how far apart they are)."""
        returned, expected = (_called(f, inputs) for f in (self.wrong, self.right))
        return returned, expected, float(_gaps(returned, expected).max())

    def is_exposed_by(self, inputs):
        return self.difference(inputs)[2] > LEAST

    @functools.cached_property
    def smallest(self):
        """The smallest input that the search finds."""
        sizes = (pair.split(" up to ") for pair in self.page.settings["search"].split(", "))
        return smallest(self.is_exposed_by, self.arguments, {a: int(n) for a, n in sizes})


def _called(function, inputs):
    copies = {name: np.copy(v) if np.ndim(v) else v for name, v in inputs.items()}
    with np.errstate(all="ignore"):
        return np.asarray(function(**copies), dtype=float)


def _gaps(a, b):
    """The differences of two arrays; infinite where one of two numbers isn't finite."""
    gaps = differences(a, b)
    return np.where(np.isnan(gaps), np.inf, gaps)


def _farthest(a, b):
    """The place of the largest of them."""
    gaps = _gaps(a, b)
    return tuple(int(i) for i in np.unravel_index(gaps.argmax(), gaps.shape))


@functools.cache
def problems():
    """{name: problem}, in the order of the book."""
    return {name: _problem(page) for name, page in pages("break").items()}


def _problem(page):
    function = page.settings["function"]
    right, wrong = (page.defined(title)[function] for title in ("Right", "Program"))
    return Problem(page, legal.arguments(page.items("Input")), wrong, right)


def expose(name, *args, **named):
    """Print a wrong program and the inputs that it takes; or, given an input, whether it exposes
    the program, by how much, and whether a smaller one does so too.
    """
    print(exposed(name, *args, **named))


def exposed(name, *args, **named):
    """What expose prints."""
    return judged(name, *args, **named).text


def judged(name, *args, **named):
    """What becomes of a call; what it shows is the input."""
    if problem := unknown(name, problems(), 'expose("one_maximum")'):
        return problem
    problem = problems()[name]
    if not args and not named:
        return Judged("not attempted", _asked(problem))
    try:
        inputs = legal.read(problem.arguments, args, named)
    except legal.Illegal as error:
        return not_tried(name, error)
    returned, expected, gap = problem.difference(inputs)
    status, told = ("correct", _told) if gap > LEAST else ("incorrect", _not_exposed)
    text = told(problem, inputs, returned, expected, gap)
    return Judged(status, text, (Outcome(read_answer(tuple(inputs.values()))),))


def level(name, shown):
    """The level of the input that a call has shown."""
    problem, [outcome] = problems()[name], shown
    values = [piece.values[()] for piece in outcome.answer.pieces]
    inputs = legal.read(problem.arguments, values, {})
    return RIGHT if problem.is_exposed_by(inputs) else OTHERWISE


def _asked(problem):
    page, takes = problem.page, "".join(f"\n  {argument}" for argument in problem.arguments)
    counted = any(argument.kind == "True and False" for argument in problem.arguments)
    return "\n\n".join(
        [
            paragraphs(f"{page.name}: break it. {page.text}"),
            numbered(page.code("Program")),
            paragraphs(
                f"The input:{takes}",
                "What is the smallest input that exposes it?"
                + " Each True or False counts as a number." * counted
                + " Try one, for example:",
            ),
            _call(page.name, page.settings["try"]),
        ]
    )


def _call(name, inputs):
    """The call with these arguments, as many of them to a line as fit."""
    lines = [f'  expose("{name}"']
    for argument in re.split(r", (?=\w+=)", inputs):
        fits = len(lines[-1]) + len(argument) < WIDTH - 2
        lines[-1:] = [f"{lines[-1]}, {argument}"] if fits else [lines[-1] + ",", f"    {argument}"]
    return "\n".join(lines) + ")"


def _not_exposed(problem, inputs, returned, expected, gap):
    page = problem.page
    if gap == 0:
        found = "On this input, the wrong program returns exactly what the right one returns."
    else:
        found = (
            f"On this input, the wrong program is off by {gap:.2g} at most. Only differences above"
            f" {LEAST} count, because smaller ones may be rounding."
        )
    return "\n\n".join(
        [
            paragraphs(f"{page.name}: not exposed. {found}"),
            _shown(inputs, ("right" if gap else "both return", expected)),
            paragraphs(f"Ask yourself: {page.prose('Ask')}"),
        ]
    )


def _told(problem, inputs, returned, expected, gap):
    page, count = problem.page, size(inputs)[0]
    how_far = f"by {gap:.3g}" if np.isfinite(gap) else _without_bound(returned, expected)
    return "\n\n".join(
        [
            paragraphs(
                f"{page.name}: exposed, {how_far}, by an input of {_counted(count, 'number')}."
            ),
            _shown(inputs, ("returned", returned), ("right", expected)),
            *_where(returned, expected),
            paragraphs(_compared(inputs, problem.smallest), page.prose("Why")),
        ]
    )


def _without_bound(returned, expected):
    """How far apart, if no number can say it."""
    at = _farthest(returned, expected)
    return f"with {number(returned[at])} where {number(expected[at])} is right"


def _where(returned, expected):
    """The place of the largest difference, in arrays too large to be shown."""
    if expected.size > SHOWN:
        at = _farthest(returned, expected)
        place = ", ".join(map(str, at))
        yield f"  at [{place}]: {number(returned[at])} where {number(expected[at])} is right"


def _compared(inputs, least):
    """Whether a smaller input does it too, and in what way it is smaller."""
    own, best = size(inputs), size(least)
    if own < best:
        return "That is even smaller than the smallest input that our own search has found."
    if own == best:
        return (
            "That's as small as it gets: our search found no input with fewer numbers, and none as"
            " short with smaller ones."
        )
    if own[0] > best[0]:
        return (
            f"A smaller input does it too: {_counted(best[0], 'number')}"
            f" {'is' if best[0] == 1 else 'are'} enough, and yours has {own[0]}."
        )
    if own[1] > best[1]:
        return f"A simpler input does it too: {_counted(best[0], 'whole number')} will do."
    lead = "A smaller input does it too, with as many numbers."
    if own[2] > best[2]:
        return f"{lead} Its largest is {number(best[2])} in size, and yours is {number(own[2])}."
    return (
        f"{lead} The sizes of its numbers add up to {number(best[3])}, and the sizes of yours to"
        f" {number(own[3])}."
    )


def _counted(count, thing):
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return f"{words[count] if count < len(words) else count} {thing}{'s' * (count != 1)}"


def _shown(inputs, *results):
    """The input and what comes out, one line each."""
    lines = [as_text(name, value, most=SHOWN) for name, value in inputs.items()]
    for label, array in results:
        few = array.size <= SHOWN
        lines.append(f"{label}: {rows(array) if few else f'an array of shape {array.shape}'}")
    return "\n".join(map(indented, lines))
