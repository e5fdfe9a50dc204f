"""How sure readers are of what they predict: scored with the cross-entropy, and compared with how
often they are right. The answers stay in this process.
"""

import math
from dataclasses import dataclass

from .message import wrap

MOST = 0.99
EDGES = (0, 0.45, 0.6, 0.75, 0.85, 0.95, 1)  # between which answers are counted together


@dataclass(frozen=True)
class Said:
    """An answer: how sure it was, of how many choices, and whether it was right."""

    sure: float
    choices: int
    is_right: bool

    @property
    def loss(self):
        """Minus the logarithm of what the right choice was given; the others share the rest."""
        return -math.log(self.sure if self.is_right else (1 - self.sure) / (self.choices - 1))


said = {}  # {question's name: its first answer}


def unusable(sure, choices):
    """A sentence if this isn't a probability from chance to 99 %, else ''."""
    least = 1 / choices
    is_number = isinstance(sure, (int, float)) and not isinstance(sure, bool)
    if is_number and least - 0.01 <= sure <= MOST:
        return ""
    certain = (
        " A wrong choice with probability 1 would cost an infinite cross-entropy."
        if is_number and sure == 1
        else ""
    )
    return (
        f"sure is a probability from {least:.2f}, which is a guess among {choices} choices, to"
        f" {MOST}; got {sure!r}.{certain}"
    )


def take(name, sure, choices, is_right):
    """Keep an answer, unless there is an earlier one, and say what it costs."""
    sure = max(sure, 1 / choices)
    before = said.setdefault(name, found := Said(sure, choices, is_right))
    again = "" if before is found else " Your first answer to this question is the one that counts."
    return (
        f"You were {100 * sure:.0f} % sure, so you gave the right choice the probability"
        f" {math.exp(-found.loss):.2g}: a cross-entropy of {found.loss:.2f}. A guess"
        f" costs log {choices} = {math.log(choices):.2f}.{again} calibration() sums up all"
        " answers."
    )


def curve(answers):
    """[(mean of how sure, share of right ones, count)] of answers that were about as sure."""
    groups = [
        [one for one in answers if low <= one.sure < high] for low, high in zip(EDGES, EDGES[1:])
    ]
    return [
        (
            sum(one.sure for one in group) / len(group),
            sum(one.is_right for one in group) / len(group),
            len(group),
        )
        for group in groups
        if group
    ]


def calibration():
    """Print how your answers with `sure` fared since Python was started, and draw how often they
    were right against how sure you were.
    """
    answers = list(said.values())
    print(summed_up(answers))
    if answers:
        from attncourse import plot  # a page has none, and no answer needs it

        plot.calibration(*zip(*curve(answers)))


def summed_up(answers):
    """What calibration prints."""
    if not answers:
        return wrap(
            'There is no answer with sure yet. Give one, for example: predict("longer_key", "a",'
            " sure=0.8)"
        )
    rows = [
        f"{100 * sure:4.0f} % {count:8} {100 * right:6.0f} %"
        for sure, right, count in curve(answers)
    ]
    return "\n".join(["  sure  answers    right", *rows, "", wrap(_verdict(answers))])


def _verdict(answers):
    n = len(answers)
    loss = sum(one.loss for one in answers) / n
    guess = sum(math.log(one.choices) for one in answers) / n
    right, expected = sum(one.is_right for one in answers), sum(one.sure for one in answers)
    spread = math.sqrt(sum(one.sure * (1 - one.sure) for one in answers))
    lead = (
        f"Mean cross-entropy {loss:.2f}, where guessing costs {guess:.2f}. You were right {right}"
        f" of {n} times; given how sure you were, {expected:.1f} were expected, give or take"
        f" {spread:.1f}."
    )
    if abs(right - expected) <= 2 * spread:
        return f"{lead} The difference may be chance."
    return f"{lead} You are {'too sure' if right < expected else 'not sure enough'}."
