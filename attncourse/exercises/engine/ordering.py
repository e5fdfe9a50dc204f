"""order: the lines of a proof, shuffled, which a reader puts in order without the wrong ones."""

import functools
import re
import textwrap
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from ..model import ONE_MISTAKE, OTHERWISE, RIGHT
from ..sandbox.answer import read_answer
from ..sandbox.call import Outcome
from .message import WIDTH
from .problem_pages import Judged, not_tried, pages, paragraphs, unknown

# - name (after others): the line. *How it uses them.*
RIGHT_LINE = re.compile(
    r"(?P<name>\w+)(?: \(after (?P<after>[\w, ]+)\))?: (?P<text>[^*]+?)(?: \*(?P<uses>[^*]+)\*)?"
)
# - the line. *Why it's false.*
WRONG_LINE = re.compile(r"(?P<text>.+?) \*(?P<why>[^*]+)\*")
NOT_PARTS = ("Wrong lines", "Why")
SUPPOSES = "Suppose"  # so begins a line that holds for its own part alone


@dataclass(frozen=True)
class Line:
    """A line of a proof: what it rests on, and how it uses that. A wrong one has no part."""

    name: str
    text: str
    why: str
    after: tuple = ()
    part: str = ""


@dataclass(frozen=True)
class Proof:
    """A proof in one part or in several, each of which begins with what it supposes."""

    page: object

    @property
    def parts(self):
        return [title for title in self.page.sections if title not in NOT_PARTS]

    @functools.cached_property
    def right(self):
        """{name: line}, in one right order."""
        found = {}
        for part in self.parts:
            for item in map(RIGHT_LINE.fullmatch, self.page.items(part)):
                name, after, text, uses = item.group("name", "after", "text", "uses")
                after = tuple(after.split(", ")) if after else ()
                found[name] = Line(name, text, uses or "", after, part)
        return found

    @functools.cached_property
    def wrong(self):
        found = map(WRONG_LINE.fullmatch, self.page.items("Wrong lines"))
        return [Line(f"wrong {i}", item["text"], item["why"]) for i, item in enumerate(found)]

    @functools.cached_property
    def lettered(self):
        """{letter: line}, in an order that depends only on the names."""
        shown = sorted([*self.right.values(), *self.wrong], key=self._place)
        return dict(zip("abcdefghijklmnop", shown))

    def _place(self, line):
        # A digest stays the same in every version of Python; random.shuffle doesn't promise that.
        return sha256(f"{self.page.name} {line.name}".encode()).hexdigest()

    def under(self, line):
        """The names of all lines that it rests on, also through others."""
        return {*line.after}.union(*(self.under(self.right[name]) for name in line.after))

    @functools.cached_property
    def supposing(self):
        """{part: the names of what holds only under its supposition, and of the supposition}."""
        return {
            head.part: {
                name for name, line in self.right.items() if head.name in {name, *self.under(line)}
            }
            for head in self.right.values()
            if head.text.startswith(SUPPOSES)
        }

    def begun(self, line, placed, taken):
        """The other part that these lines are amid, so that this line can't come yet, or None."""
        for part, names in self.supposing.items():
            is_amid = names & placed and names & taken - placed
            if is_amid and line.name in self.supposed - names:
                return part
        return None

    @property
    def supposed(self):
        return {name for names in self.supposing.values() for name in names}

    @functools.cached_property
    def orders(self):
        """How many orders of its lines are right."""
        everything = {*self.right}

        @functools.cache
        def from_here(placed):
            can = [
                name
                for name, line in self.right.items()
                if name not in placed
                and {*line.after} <= placed
                and not self.begun(line, placed, everything)
            ]
            return sum(from_here(placed | {name}) for name in can) or placed == everything

        return from_here(frozenset())


@functools.cache
def proofs():
    """{name: proof}, in the order of the book."""
    return {name: Proof(page) for name, page in pages("order").items()}


def order(name, letters=None):
    """Print the lines of a proof in no order, some of them wrong; or, with the letters of the right
    ones, in order, whether they are the proof and, if not, what is wrong.
    """
    print(ordered(name, letters))


def ordered(name, letters=None):
    """What order prints."""
    return judged(name, letters).text


def judged(name, letters=None):
    """What becomes of a call; what it shows is the places of its letters in the alphabet."""
    if problem := unknown(name, proofs(), 'order("shift_both_ways")'):
        return problem
    proof = proofs()[name]
    if letters is None:
        return Judged("not attempted", _asked(proof))
    letters = "".join(map(str, letters)) if isinstance(letters, (str, list, tuple)) else "?"
    letters = re.sub(r"[\s,;]", "", letters).lower()
    sentence = _unusable(proof, letters)
    if sentence:
        return not_tried(name, sentence)
    shown = (Outcome(read_answer(np.array([*map(ord, letters)]))),)
    found = _misplaced(proof, letters) or _missing(proof, letters)
    if found:
        return Judged("incorrect", paragraphs(f"{name}: not yet.", *found), shown)
    return Judged("correct", _proved(proof), shown)


def level(name, shown):
    """The level of the letters that a call has shown: one whole direction of two is worth
    something.
    """
    proof, [outcome] = proofs()[name], shown
    letters = "".join(map(chr, outcome.answer.pieces[0].values))
    if _unusable(proof, letters) or _misplaced(proof, letters):
        return OTHERWISE
    lacking = {*proof.lettered} - {*letters}
    parts = {proof.lettered[letter].part for letter in lacking if proof.lettered[letter].part}
    return RIGHT if not parts else ONE_MISTAKE if len(parts) < len(proof.parts) else OTHERWISE


def _misplaced(proof, letters):
    """What is said of lines that are false, or don't come where they should."""
    return _wrong(proof, letters) or _out_of_order(proof, letters)


def _asked(proof):
    lines = [
        textwrap.fill(f"  {letter}) {line.text}", WIDTH, subsequent_indent="     ")
        for letter, line in proof.lettered.items()
    ]
    return "\n\n".join(
        [
            paragraphs(f"{proof.page.name}: prove it. {proof.page.text}"),
            "\n".join(lines),
            paragraphs(
                "Put the right lines in order and leave out the wrong ones. If lines may change"
                " places, any right order counts. For example:"
            ),
            f'  order("{proof.page.name}", "cab")',
        ]
    )


def _unusable(proof, letters):
    """A sentence if these aren't letters of different lines."""
    *_, last = proof.lettered
    if not letters:
        return "There is no letter: write those of the lines that you take, in order."
    if any(letter not in proof.lettered for letter in letters):
        return (
            f"The second argument holds the letters of the lines, from a to {last}, in quotes, as"
            f' in order("{proof.page.name}", "cab").'
        )
    twice = [letter for letter in proof.lettered if letters.count(letter) > 1]
    return f"Line {twice[0]} stands there twice: once is enough." if twice else ""


def _wrong(proof, letters):
    """What is said of the wrong lines among these."""
    found = [
        f"Line {letter} is false. {proof.lettered[letter].why}"
        for letter in letters
        if not proof.lettered[letter].part
    ]
    if found:
        these = "it" if len(found) == 1 else "them"
        found.append(f"Leave {these} out, and then look at the order of the rest.")
    return found


def _out_of_order(proof, letters):
    """What is said of the first line that comes before one that it rests on, or amid another
    part.
    """
    taken = {proof.lettered[letter].name: letter for letter in letters}
    placed = set()
    for name, letter in taken.items():
        line = proof.right[name]
        early = [taken[other] for other in line.after if other in {*taken} - placed]
        if early:
            later = "lines {} and {}, which come" if len(early) > 1 else "line {}, which comes"
            return (
                f"Line {letter} comes too early: it rests on {later.format(*early)} later."
                f" {line.why}",
            )
        part = proof.begun(line, placed, {*taken})
        if part:
            return (
                f"Line {letter} comes in the middle of the proof that {_in_words(part)}, but it"
                " rests on the other supposition. Finish one direction before you begin the other.",
            )
        placed.add(name)
    return ()


def _in_words(part):
    return part[0].lower() + part[1:]


def _missing(proof, letters):
    """What is said of right lines that were left out."""
    taken = {proof.lettered[letter].name: letter for letter in letters}
    for name, letter in taken.items():
        if not {*proof.right[name].after} <= {*taken}:
            return (
                f"All these lines are right, but line {letter} rests on one that you have left"
                f" out. {proof.right[name].why}",
            )
    lacking = [
        _unproved(proof, part, {*taken})
        for part in proof.parts
        if any(line.part == part and name not in taken for name, line in proof.right.items())
    ]
    lead = "All these lines are right, and so is their order, but something is missing."
    return (f"{lead} {' '.join(lacking)}",) if lacking else ()


def _unproved(proof, part, taken):
    """A sentence on a part whose lines aren't all there, although none lacks what it rests on."""
    if taken & proof.supposing.get(part, {*proof.right}):
        return f"That {_in_words(part)} isn't proved yet."
    return f"That {_in_words(part)} isn't proved at all: it's the other direction."


def _proved(proof):
    count = (
        f" This is one of {proof.orders} right orders, because not every line rests on all the"
        " lines before it."
    )
    return paragraphs(
        f"{proof.page.name}: proved.{count * (proof.orders > 1)}", proof.page.prose("Why")
    )
