"""achieve: a goal, and what a reader's design reaches of it, measured."""

import functools
import math
import re
import textwrap
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..model import OTHERWISE, RIGHT
from ..sandbox.answer import read_answer
from ..sandbox.call import Outcome
from . import legal
from .message import WIDTH
from .message import number as as_text
from .problem_pages import Judged, not_tried, pages, paragraphs, unknown

# - entropy: from 1.99 to 2.01 bits (*below: too sharp; above: too flat*)
ASPECT = re.compile(
    r"(?P<name>[^:]+): (?P<bound>from (?P<low>[\d.,]+) to (?P<high>[\d.,]+)"
    r"|at least (?P<least>[\d.,]+)|at most (?P<most>[\d.,]+))(?P<unit>[^(]*?)"
    r" \(\*(?P<says>[^*]+)\*\)"
)
# - less traffic: traffic, {} MiB
FIGURE = re.compile(r"(?P<change>[^:]+): (?P<name>[^,]+), (?P<said>.+)")
UPWARDS = ("more", "larger")  # so begins the change if a higher figure is better
CLOSE = 1e-3  # figures that differ by less than this part are the same
ROUNDING = 1e-9
RUNS, ENOUGH = 5, 0.5  # a function is timed at most so often, and for about so many seconds


@dataclass(frozen=True)
class Aspect:
    """In what respect a design is measured, and what is wanted of it."""

    name: str
    bound: str
    low: float
    high: float
    unit: str
    below: str  # what a design is whose figure is too low
    above: str

    def holds(self, value):
        return self.low - ROUNDING <= value <= self.high + ROUNDING

    def line(self, value):
        """What was measured, what is wanted, and how far off it is."""
        lead = f"- {self.name}: {figure(value, self.unit)}, wanted {self.bound}"
        if self.holds(value):
            return f"{lead}: holds"
        is_low = value < self.low
        off = figure(self.low - value if is_low else value - self.high)
        words = ("few", "many") if isinstance(value, int) else ("low", "high")
        return f"{lead}: {off} too {words[not is_low]}, {self.below if is_low else self.above}"


@dataclass(frozen=True)
class Goal:
    """A goal: what a design consists of, how it is measured, and what is wanted."""

    page: object

    @functools.cached_property
    def arguments(self):
        return legal.arguments(self.page.items("Design"))

    @functools.cached_property
    def aspects(self):
        return [_aspect(item) for item in self.page.items("Wanted")]

    @functools.cached_property
    def better(self):
        """What makes a design that holds better still, as FIGURE's groups, or None."""
        return next((FIGURE.fullmatch(item) for item in self.page.items("Better")), None)

    @functools.cached_property
    def best(self):
        """The best figure that is known."""
        design = legal.read(self.arguments, (), self.page.defined("Best")["best"])
        return self.measured(design)[self.better["name"]]

    @property
    def is_marked(self):
        """Whether somebody else's computer would measure the same."""
        return self.page.settings.get("measures") != "time"

    def unfit(self, design):
        """A sentence if these arguments, each of them legal, make no design, else ''."""
        return self._defined.get("unfit", lambda **design: "")(**_copied(design))

    def measured(self, design):
        """{name of an aspect or a figure: its value}"""
        with np.errstate(all="ignore"):
            return self._defined["measured"](**_copied(design))

    @functools.cached_property
    def _defined(self):
        space = self.page.defined("Measured")
        # Looked up when it is called, so that a test can put another clock in its place.
        space["seconds_of"] = lambda function: seconds_of(function)
        return space


def _copied(design):
    return {name: np.copy(v) if np.ndim(v) else v for name, v in design.items()}


def _aspect(item):
    found = ASPECT.fullmatch(item)
    if found is None:
        raise ValueError(f"nothing wanted is written like this: {item}")
    low = _bound(found["low"] or found["least"], -np.inf)
    high = _bound(found["high"] or found["most"], np.inf)
    says = dict(part.split(": ", 1) for part in found["says"].split("; "))
    bound, unit = found["bound"] + found["unit"], found["unit"].strip()
    return Aspect(
        found["name"], bound, low, high, unit, says.get("below", ""), says.get("above", "")
    )


def _bound(text, otherwise):
    return float(text.replace(",", "")) if text else otherwise


def figure(value, unit=""):
    """A value in few digits, with its unit."""
    text = f"{int(value):,}" if value == int(value) else as_text(value)
    return f"{text} {unit}".rstrip()


def seconds_of(function):
    """The shortest of a few times that a function takes, after a first call that doesn't count."""
    function()
    times, begin = [], perf_counter()
    while len(times) < RUNS and (not times or perf_counter() - begin < ENOUGH):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return max(min(times), 1e-9)


@functools.cache
def goals():
    """{name: goal}, in the order of the book."""
    return {name: Goal(page) for name, page in pages("achieve").items()}


def marked():
    """{name: goal} of the goals that marking can measure again."""
    return {name: goal for name, goal in goals().items() if goal.is_marked}


def achieve(name, *args, **named):
    """Print a goal and what a design for it consists of; or, given a design, what it reaches, how
    far off it is and in which respect, and whether a better one is known.
    """
    print(achieved(name, *args, **named))


def achieved(name, *args, **named):
    """What achieve prints."""
    return judged(name, *args, **named).text


def judged(name, *args, **named):
    """What becomes of a call; what it shows is the design."""
    if problem := unknown(name, goals(), 'achieve("like_four_keys")'):
        return problem
    goal = goals()[name]
    if not args and not named:
        return Judged("not attempted", _asked(goal))
    if len(args) == 1 and isinstance(args[0], tuple) and len(args[0]) == len(goal.arguments) > 1:
        (args,) = args
    try:
        design = legal.read(goal.arguments, args, named)
    except legal.Illegal as error:
        return not_tried(name, error)
    sentence = goal.unfit(design)
    if sentence:
        return not_tried(name, sentence)
    found = goal.measured(design)
    reached = all(aspect.holds(found[aspect.name]) for aspect in goal.aspects)
    status, told = ("correct", _reached) if reached else ("incorrect", _not_yet)
    # the tuple gets a second number because a tuple of one is read as what it holds
    shown = (Outcome(read_answer((*design.values(), 0))),)
    return Judged(status, told(goal, found), shown)


def level(name, shown):
    """The level of the design that a call has shown."""
    goal, [outcome] = goals()[name], shown
    values = [piece.values[()] for piece in outcome.answer.pieces[:-1]]
    try:
        design = legal.read(goal.arguments, values, {})
    except legal.Illegal:
        return OTHERWISE
    if goal.unfit(design):
        return OTHERWISE
    found = goal.measured(design)
    return RIGHT if all(one.holds(found[one.name]) for one in goal.aspects) else OTHERWISE


def _asked(goal):
    page = goal.page
    takes = "".join(f"\n  {argument}" for argument in goal.arguments)
    wanted = "".join(f"\n  {aspect.name}: {aspect.bound}" for aspect in goal.aspects)
    more = (
        f"When you have reached that, try it with {goal.better['change']}. " if goal.better else ""
    )
    return "\n\n".join(
        [
            paragraphs(
                f"{page.name}: design it. {page.text}",
                f"The design:{takes}",
                f"Wanted:{wanted}",
                f"{more}You can begin, for example, with:",
            ),
            textwrap.indent(page.code("Try").rstrip("\n"), "  "),
        ]
    )


def _lines(goal, found):
    """A line for each aspect."""
    return "\n".join(
        textwrap.fill(
            aspect.line(found[aspect.name]),
            WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        for aspect in goal.aspects
    )


def _not_yet(goal, found):
    hold = sum(aspect.holds(found[aspect.name]) for aspect in goal.aspects)
    some = f" {hold} of {len(goal.aspects)} conditions hold." if len(goal.aspects) > 1 else ""
    return "\n\n".join(
        [
            paragraphs(f"{goal.page.name}: not yet.{some}"),
            _lines(goal, found),
            *_noted(found),
            paragraphs(f"Ask yourself: {goal.page.prose('Ask')}"),
        ]
    )


def _reached(goal, found):
    return "\n\n".join(
        [
            paragraphs(f"{goal.page.name}: reached."),
            _lines(goal, found),
            *_noted(found),
            paragraphs(_compared(goal, found), goal.page.prose("Why")),
        ]
    )


def _noted(found):
    """What else the measurement says, if anything."""
    if found.get("note"):
        yield paragraphs(found["note"])


def _compared(goal, found):
    """Whether a better design is known, and by how much it is better."""
    if goal.better is None:
        return ""
    change, name, said = goal.better.group("change", "name", "said")
    own, best = found[name], goal.best
    yours, known = (said.format(figure(value)) for value in (own, best))
    if math.isclose(own, best, rel_tol=CLOSE):
        return f"With {yours}, this is as good as the best design that we know."
    if (own > best) == change.startswith(UPWARDS):
        return f"With {yours}, this is better than the best design that we know, with {known}."
    return f"A better design exists, with {known}. Yours, with {yours}, takes {_times(own / best)}."


def _times(ratio):
    if 0.5 < ratio < 2:
        return f"{100 * abs(ratio - 1):.0f} % {'more' if ratio > 1 else 'less'}"
    return f"{figure(ratio)} times as much"
