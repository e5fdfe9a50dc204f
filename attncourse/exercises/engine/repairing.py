"""repair: a listing with one wrong line, which a reader names and rewrites."""

import ast
import copy
import functools
import itertools
import re
from dataclasses import dataclass

import numpy as np

from ..model import ONE_MISTAKE, OTHERWISE, RIGHT
from ..sandbox.answer import read_answer
from ..sandbox.call import Clock, Outcome, call, call_unguarded
from ..sandbox.statements import remember
from .message import argument, error_lines, indented, rows
from .problem_pages import SHOWN, Judged, not_tried, numbered, pages, paragraphs, unknown

LINES = re.compile(r"(?P<numbers>\d+(?:, \d+)*): (?P<why>.+)")
MISTAKE = re.compile(r"`(?P<code>[^`]+)`: (?P<does>.+)")


@dataclass(frozen=True)
class Listing:
    """A listing, its wrong line, and the inputs for which it has to be right."""

    page: object
    line: int  # counted from 1

    @property
    def lines(self):
        return self.page.code("Listing").rstrip("\n").split("\n")

    @functools.cached_property
    def right_line(self):
        return self.page.code("Repair").strip()

    @functools.cached_property
    def why_right(self):
        """{number of a right line: a sentence that says so}."""
        found = map(LINES.fullmatch, self.page.items("Lines"))
        return {int(n): item["why"] for item in found for n in item["numbers"].split(", ")}

    @functools.cached_property
    def known(self):
        """[(line that doesn't repair it, what it does)]."""
        return [MISTAKE.fullmatch(item).groups() for item in self.page.items("Other repairs")]

    @functools.cached_property
    def cases(self):
        """The arguments of each hidden case, the smallest first."""
        return list(self.page.defined("Cases")["cases"]())

    @functools.cached_property
    def expected(self):
        return self.outcomes(self.line, self.right_line, call_unguarded)

    def changed(self, number, line):
        """The listing's text with another line, indented like the line that it replaces."""
        lines, old = self.lines, self.lines[number - 1]
        lines[number - 1] = old[: len(old) - len(old.lstrip())] + line.strip()
        return "\n".join(lines) + "\n"

    def outcomes(self, number, line, caller=call):
        """What the listing with this line makes of each case, up to the first that stops."""
        play, clock, found = self.player(self.changed(number, line)), Clock(), []
        for seed, args in enumerate(self.cases):
            found.append(caller(play, copy.deepcopy(args), clock, seed))
            if found[-1].failure:
                break
        return found

    def player(self, source):
        """A function that runs the listing, and then what it defines, on a case."""
        file = f"<{self.page.name}>"
        remember(file, source)
        code, page = compile(source, file, "exec"), self.page

        def play(*args):
            space = page.defined("Cases")
            exec(code, space)
            defined = space[page.settings["function"]]
            return space["run"](defined, *args) if "run" in space else defined(*args)

        return play


@functools.cache
def listings():
    """{name: listing}, in the order of the book."""
    return {
        name: Listing(page, int(page.settings["line"])) for name, page in pages("repair").items()
    }


def repair(name, line=None, new=None):
    """Print a listing with one wrong line; or, given the number of a line and its new text, whether
    the listing is then right.
    """
    print(repaired(name, line, new))


def repaired(name, line=None, new=None):
    """What repair prints."""
    return judged(name, line, new).text


def judged(name, line=None, new=None):
    """What becomes of a call; what it shows is the line's number, and then what the listing makes
    of the cases.
    """
    if problem := unknown(name, listings(), 'repair("ring_step")'):
        return problem
    listing = listings()[name]
    if line is None and new is None:
        return Judged("not attempted", _asked(listing))
    if isinstance(line, str) and isinstance(new, int):
        line, new = new, line
    sentence = _unusable(listing, line, new)
    if sentence:
        return not_tried(name, sentence)
    if new is None:
        return _shows(line, "incorrect", _about_the_line(listing, line))
    return _judged(listing, line, new)


def _shows(line, status, text, found=()):
    return Judged(status, text, (Outcome(read_answer(int(line))), *found))


def level(name, shown):
    """The level of what a call has shown: the right line with a wrong repair is one mistake."""
    listing, [line, *found] = listings()[name], shown
    if len(found) == len(listing.cases) and _first_wrong(listing, found) is None:
        return RIGHT
    return ONE_MISTAKE if line.answer.pieces[0].values == listing.line else OTHERWISE


def _asked(listing):
    page = listing.page
    return "\n\n".join(
        [
            paragraphs(f"{page.name}: find the bug. {page.text}"),
            numbered(page.code("Listing")),
            paragraphs("One line is wrong. Say which one and rewrite it, for example:"),
            f'  repair("{page.name}", 1, "the whole new line")',
        ]
    )


def _unusable(listing, line, new):
    """A sentence if the listing has no such line, or if this is no text for a line."""
    count = len(listing.lines)
    if isinstance(line, (bool, np.bool_)) or not isinstance(line, (int, np.integer)):
        return f"The second argument is the number of a line, from 1 to {count}; got {line!r}."
    if not 1 <= line <= count:
        return f"The listing has the lines 1 to {count}; got {line}."
    if not listing.lines[line - 1].strip():
        return f"Line {line} is empty."
    if new is None:
        return ""
    if not isinstance(new, str):
        return f"The third argument is the whole new line, in quotes; got {type(new).__name__}."
    if not new.strip():
        return "The new line is empty. One line is wrong, but none has to go."
    if "\n" in new.strip():
        return "Change one line only: the new text has several."
    return ""


def _about_the_line(listing, line):
    if line == listing.line:
        return paragraphs(
            f"{listing.page.name}: line {line} is the wrong one. Now rewrite it:",
            f'  repair("{listing.page.name}", {line}, "the whole new line")',
        )
    return paragraphs(f"{listing.page.name}: not yet. {_why_right(listing, line)}")


def _why_right(listing, line):
    return f"Line {line} is right: {listing.why_right[line]}"


def _judged(listing, line, new):
    name = listing.page.name
    try:
        tree = ast.parse(listing.changed(line, new))
    except SyntaxError as error:
        text = (
            f"{name}: not yet. With this line, the listing isn't Python any more: {error.msg}"
            f" (line {error.lineno})."
        )
        return _shows(line, "error", paragraphs(text))
    if ast.dump(tree) == ast.dump(ast.parse(listing.page.code("Listing"))):
        text = f"{name}: not yet. This is line {line} as it stands. {_line_or_none(listing, line)}"
        return _shows(line, "incorrect", paragraphs(text))
    found = listing.outcomes(line, new)
    at = _first_wrong(listing, found)
    if at is None:
        return _shows(line, "correct", _right(listing, line, new), found)
    status = "error" if found[at].failure and line == listing.line else "incorrect"
    return _shows(line, status, _not_yet(listing, line, found, at), found)


def _not_yet(listing, line, found, at):
    name = listing.page.name
    if line != listing.line:
        before, now = _right_cases(listing, _as_it_stands(listing)), _right_cases(listing, found)
        if not before < now:
            return paragraphs(f"{name}: not yet. {_why_right(listing, line)}")
        lead = (
            f"{name}: not yet. With your line {line}, the listing is right on {len(now)} of"
            f" {len(listing.cases)} test inputs instead of {len(before)}, so it makes up for the"
            f" wrong line in part. As it stands, line {line} is right: {listing.why_right[line]}"
        )
        return paragraphs(lead, *_shown(listing, found, at))
    lead = f"{name}: not yet. Line {line} is the wrong one, but this doesn't repair it."
    return paragraphs(f"{lead} {_known(listing, found)}".rstrip(), *_shown(listing, found, at))


def _line_or_none(listing, line):
    return "It's the wrong one." if line == listing.line else _why_right(listing, line)


def _right(listing, line, new):
    page = listing.page
    wrong = len(listing.cases) - len(_right_cases(listing, _as_it_stands(listing)))
    text = (
        f"{page.name}: repaired. With your line, the listing is right on all {len(listing.cases)}"
        f" test inputs. Before, it was wrong on {wrong} of them."
    )
    other = ""
    if line != listing.line:
        other = (
            f"We had another line in mind, and yours makes up for it. Line {listing.line} would be"
            f"\n\n  {listing.right_line}"
        )
    return paragraphs(text, other, page.prose("Why"))


def _as_it_stands(listing):
    """What the listing makes of the cases before it's repaired."""
    return listing.outcomes(listing.line, listing.lines[listing.line - 1], call_unguarded)


def _right_cases(listing, found):
    """The numbers of the cases of which the right is made."""
    return {i for i, pair in enumerate(zip(found, listing.expected)) if _alike(*pair)}


def _first_wrong(listing, found):
    """The number of the first case that isn't as it should be, or None."""
    for i, (one, right) in enumerate(zip(found, listing.expected)):
        if not _alike(one, right):
            return i
    return None


def _alike(one, other):
    """Whether two outcomes hold the same arrays."""
    if one.failure or other.failure:
        return False
    a, b = one.answer.pieces, other.answer.pieces
    return len(a) == len(b) and all(_same(x.values, y.values) for x, y in zip(a, b))


def _same(a, b):
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True)


def _known(listing, found):
    """What a repair does, if the page knows it or if it does what the listing did before."""
    before = (
        listing.lines[listing.line - 1],
        "The outputs that count are the same as with the old line.",
    )
    for code, does in (*listing.known, before):
        others = listing.outcomes(listing.line, code, call_unguarded)
        if len(others) == len(found) and _all_alike(found, others):
            return does
    return ""


def _all_alike(found, others):
    """Whether both stop in the same cases, and agree in the rest, of which there are some."""
    stopped = [bool(one.failure) for one in found]
    same = stopped == [bool(one.failure) for one in others]
    rest = [pair for pair, ends in zip(zip(found, others), stopped) if not ends]
    return same and bool(rest) and all(_alike(*pair) for pair in rest)


def _shown(listing, found, at):
    """An input for which the listing is still wrong, and what it makes of it."""
    page, args = listing.page, listing.cases[at]
    told = page.defined("Cases")["told"](*args)
    lead = f"It's still wrong on test input {at + 1} of {len(listing.cases)}: {told}."
    if found[at].failure:
        return lead, "\n".join(error_lines(found[at].failure, None, explained=True))
    names = page.settings["arguments"].split(", ") if "arguments" in page.settings else ()
    lines = [argument(name, value, most=SHOWN) for name, value in zip(names, args)]
    lines.append(f"returned: {_numbers(found[at].answer)}")
    lines.append(f"expected: {_numbers(listing.expected[at].answer)}")
    return lead, "\n".join(map(indented, lines))


def _numbers(answer):
    if answer.nothing or answer.other:
        return answer.other or answer.nothing
    parts = [piece.values for piece in answer.pieces]
    kept = list(itertools.takewhile(lambda n: n <= SHOWN, np.cumsum([p.size for p in parts])))
    shown = [rows(part) for part in parts[: len(kept)]]
    if not shown:
        return f"an array of shape {parts[0].shape}"
    return ", ".join(shown) + ", ..." * (len(shown) < len(parts))
