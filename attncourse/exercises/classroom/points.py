"""What answers are worth: points and a deadline, from a small file that the lecturer writes."""

import difflib
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from ..engine.kinds import tasks
from ..model import NEARLY, ONE_MISTAKE, OTHERWISE, RIGHT
from .source import Unusable

KNOWN = ("points", "deadline", "levels")
LEVELS = {RIGHT: 1.0, NEARLY: 0.75, ONE_MISTAKE: 0.5, OTHERWISE: 0.0}


@dataclass(frozen=True)
class Settings:
    """{exercise: points}, when hand-ins became late, and {level: its part of the points}."""

    points: dict = field(default_factory=dict)
    deadline: datetime | None = None
    levels: dict = field(default_factory=LEVELS.copy)

    def late(self, hand_in):
        return hand_in.late or bool(self.deadline and hand_in.time > self.deadline.timestamp())


def settings(path):
    """The settings in a TOML file: `deadline = 2026-11-20T23:59:00` and the tables [points] and
    [levels].
    """
    try:
        found = tomllib.loads(Path(path).read_text("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Unusable(f"{path} isn't a TOML file: {error}") from None
    points, deadline = found.get("points", {}), found.get("deadline")
    for name in found:
        if name not in KNOWN:
            raise Unusable(f"{path} may set {', '.join(KNOWN)}; it sets {name}")
    if not isinstance(points, dict) or any(
        type(n) not in (int, float) or not 0 <= n < 1e6 for n in points.values()
    ):
        raise Unusable(
            f"{path}: [points] gives each exercise a number of points that is not negative"
        )
    for name in points:
        if name not in tasks():
            raise Unusable(f"{path}: {unknown(name, tasks(), 'exercise')}")
    if deadline is not None and not _is_time(deadline):
        raise Unusable(
            f"{path}: deadline is a day and a time, such as 2026-11-20T23:59:00; got {deadline!s}"
        )
    return Settings(points, deadline, _levels(path, found.get("levels", {})))


def _is_time(deadline):
    """Whether this moment can be compared with a file's: the year 1 can't."""
    try:
        return isinstance(deadline, datetime) and deadline.timestamp() is not None
    except (OverflowError, ValueError, OSError):
        return False


def _levels(path, given):
    """The levels, as the file changes them."""
    if not isinstance(given, dict) or any(
        type(n) not in (int, float) or not 0 <= n <= 1 for n in given.values()
    ):
        raise Unusable(f"{path}: [levels] gives each level a part of the points, from 0 to 1")
    for name in given:
        if name not in LEVELS:
            raise Unusable(
                f"{path}: {unknown(name, LEVELS, 'level')}; there are {', '.join(LEVELS)}"
            )
    return {**LEVELS, **given}


def unknown(name, known, kind):
    """A sentence on a word that names nothing, with the most similar word that does."""
    close = difflib.get_close_matches(name, list(known), 1, 0.5)
    return f'there is no {kind} called "{name}"' + (f"; did you mean {close[0]}?" if close else "")


def worth(given, rows):
    """{exercise: points}: as set, else one for each exercise that at least half of the learners
    attempted.
    """
    if given:
        return {name: given[name] for name in tasks() if name in given}
    tried = {
        (row["learner"], row["exercise"])
        for row in rows
        if row.get("exercise") and row["status"] != "not attempted"
    }
    count = Counter(name for _, name in tried)
    learners = len({row["learner"] for row in rows if row.get("exercise")})
    often = [name for name in tasks() if count[name] and 2 * count[name] >= learners]
    return dict.fromkeys(often or [name for name in tasks() if count[name]], 1)


def total(answers, points):
    """The points of one learner: the best of each exercise's answers counts."""
    best = Counter()
    for row in answers:
        best[row.get("exercise")] = max(best[row.get("exercise")], row.get("share", 0))
    return round(sum(points[name] * best[name] for name in points), 2)


def gradable(answers, points):
    """Whether the points are complete: not if a file was not graded, or an answer that nothing else
    makes up for.
    """
    right = {row.get("exercise") for row in answers if row.get("share") == 1}
    lacking = [
        row
        for row in answers
        if row.get("graded") is False
        and row.get("exercise") not in right
        and row.get("exercise", "") in ("", *points)
    ]
    complete = bool(points) and right.issuperset(
        points
    )  # whatever else could not be graded adds nothing
    return complete or not lacking and any(row.get("graded", True) is not None for row in answers)
