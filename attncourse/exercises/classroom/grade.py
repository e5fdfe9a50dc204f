"""Grades the notebooks that a class hands in: `python3 -m attncourse.exercises grade FOLDER`.

hand_ins.py finds them, process.py runs each in a sandbox, verdict.py judges what comes out of it,
points.py says what it is worth, and pages.py writes the pages.
"""

import concurrent.futures
import csv
import hashlib
import os
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..engine.kinds import tasks
from . import pages, points, process, sandbox, verdict
from .hand_ins import HandIn, collect, printable, printable_lines
from .roster import Roster
from .source import Unusable, chapters

COLUMNS = ("learner", "id", "exercise", "status", "cases", "mistakes", "notebook", "note")
OF_A_LEARNER = ("learner", "id", "late", "points", "of", "note")
CONTAINER = 'The book\'s page "For lecturers" shows how to run all of it in a container'
NOBODY = (
    "Nobody who handed in is on the roster: is it the one of this class? There is no import.csv."
)
NO_CHAPTERS = (
    "The book's chapters aren't beside attncourse here, so every cell counts as the "
    "learner's own, "
    "and is run. Grade in a clone of the book to leave out what chapters show."
)
NOT_GRADED = "it could not be graded"
NOT_HERE = (
    "It couldn't be checked on the machine that marked it. That says nothing about your answer."
)
EXCEL = "utf-8-sig"  # with the mark by which spreadsheets know UTF-8


@dataclass(frozen=True)
class Options:
    limits: process.Limits = process.Limits()
    jobs: int = os.cpu_count() or 1
    protected: bool = True
    settings: points.Settings = points.Settings()
    roster: Roster | None = None
    assignment: str = "Exercises"


@dataclass
class Graded:
    """One file, graded."""

    hand_in: HandIn
    rows: list
    reached: list = field(default_factory=list)
    seconds: float = 0.0


def grade_folder(where, out="grades", options=Options(), say=print):
    """Grade all notebooks below a folder or in a .zip, and write the results into `out`."""
    _must_be_able(options, where, out)
    hand_ins, odd = collect(where, out, options.roster)
    place = _place(Path(out), say)
    say(
        "Each notebook runs in its own sandbox."
        if options.protected
        else "Submitted code runs without any protection: with your rights, on your files."
    )
    if not chapters():
        say(NO_CHAPTERS)
    if options.roster and options.roster.new_column:
        say(options.roster.new_column)
    with process.Stop():
        graded = _grade_all(hand_ins, options, say)
        stopped = process.Stop.asked
    failed, left_empty = _write(place, graded, len(hand_ins), odd, options)
    for line in [*odd, *failed, *left_empty]:
        say(line)
    say(("Stopped. What was graded so far: " if stopped else "") + f"{place}{os.sep}")
    return 130 if stopped else int(bool(failed) or NOBODY in left_empty)


def _must_be_able(options, where, out):
    if os.name != "posix":
        raise Unusable(f"grading needs Linux, or WSL on Windows. {CONTAINER}.")
    if options.protected and sandbox.problem():
        raise Unusable(
            f"there is no sandbox for submitted code: {sandbox.problem()}. {CONTAINER}. If you "
            "trust the "
            "class as yourself, --unprotected runs its code with your rights, on your files."
        )
    for path in (where, out) if options.protected else ():
        if place := sandbox.within(path):
            raise Unusable(
                f"{path} lies in {place}, which every notebook may read because Python needs it: "
                "move it somewhere else"
            )


def _place(out, say):
    """A folder for the results that holds nothing yet."""
    places = [out, *(out.with_name(f"{out.name}-{number}") for number in range(2, 1000))]
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
        if not any(place.iterdir()):
            if place != out:
                say(f"{out} holds something already, and stays as it is: this goes into {place}")
            return place
    raise Unusable(f"{out} and {places[-1]}, and all between, hold something already")


# ---------------------------------------------------------------- grading


def _grade_all(hand_ins, options, say):
    """What became of each file, in order; after Ctrl-C, only of those that were done."""
    done = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {
            pool.submit(grade_one, one, options): number for number, one in enumerate(hand_ins)
        }
        try:
            while waiting:
                finished, _ = concurrent.futures.wait(
                    waiting, 0.2, concurrent.futures.FIRST_COMPLETED
                )
                for future in finished:
                    number = waiting.pop(future)
                    if graded := future.result():
                        done[number] = graded
                        say(_progress(len(done), len(hand_ins), graded))
        except BaseException:
            process.Stop.asked = True
            raise
    return [done[number] for number in sorted(done)]


def grade_one(hand_in, options):
    """Grade one file. An error costs only this file; None after Ctrl-C."""
    started = time.monotonic()
    try:
        if process.Stop.asked:
            return None
        graded = _graded(hand_in, options)
    except process.Stopped:
        return None
    except Exception as error:
        graded = Graded(
            hand_in, [_row(hand_in, note=_not_graded(error), told=NOT_GRADED, graded=False)]
        )
    graded.seconds = time.monotonic() - started
    return graded


def _graded(hand_in, options):
    if hand_in.problem:
        return Graded(hand_in, [_row(hand_in, note=hand_in.problem, graded=None)])
    try:
        content = hand_in.read()
    except Unusable as error:
        return Graded(hand_in, [_row(hand_in, note=str(error), graded=False)])
    except OSError as error:
        return Graded(
            hand_in, [_row(hand_in, note=f"it cannot be read: {error.strerror}", graded=False)]
        )
    result = process.attend(content, hand_in.kind, options.limits, options.protected)
    rows = [
        _judged(hand_in, name, told, result, options.settings)
        for name, told in result.answers.items()
    ]
    rows.sort(key=lambda row: list(tasks()).index(row["exercise"]))
    rows += (
        [_row(hand_in, note="; ".join(result.problems), graded=not result.problem)]
        if result.problems
        else []
    )
    rows = rows or [_row(hand_in, note="no exercise of the book is in it", graded=None)]
    reached = [printable(words) for words in result.reached]
    if reached:
        rows[0]["note"] = " ".join(
            filter(None, [rows[0]["note"], f"Tried to {'; '.join(reached)}."])
        )
    return Graded(hand_in, rows, reached)


def _judged(hand_in, name, told, result, settings):
    if not told.graded:
        return _row(
            hand_in,
            name,
            note=told.note,
            told=told.note if told.checked else NOT_HERE,
            checked=told.checked,
            share=0,
            graded=False,
            code=printable_lines(result.code.get(name, "")),
        )
    try:
        found = verdict.judged(name, told, result.values.get(name, {}))
    except Exception as error:  # whatever a notebook reports costs only this exercise
        return _row(hand_in, name, note=_not_graded(error), told=NOT_GRADED, share=0, graded=False)
    return _row(
        hand_in,
        name,
        found.status,
        found.note,
        cases=f"{found.passed} of {found.cases}" if found.cases else "",
        share=settings.levels[found.level],
        level=found.level,
        named=found.mistakes,
        message=printable_lines(found.message),
        fingerprint=told.fingerprint,
        code=printable_lines(result.code.get(name, "")),
    )


def _not_graded(error):
    return f"it could not be graded: {type(error).__name__}: {error}"[:300]


def _row(hand_in, exercise="", status="error", note="", named=(), **more):
    """A row of grades.csv; `told` and `file` are for the learner, without advice to lecturers or
    folders.
    """
    return dict(
        learner=hand_in.learner,
        id=hand_in.id,
        exercise=exercise,
        status=status,
        note=printable(note),
        file=hand_in.own,
        **{"told": note, **more},
        named=[printable(name) for name in named],
        mistakes=printable("; ".join(named)),
        notebook=hand_in.where,
    )


def _progress(number, count, graded):
    answers = [row for row in graded.rows if row["exercise"]]
    right = sum(row["status"] == "correct" for row in answers)
    said = [f"{right} of {len(answers)} correct"] * bool(answers)
    said += [row["note"] for row in graded.rows if not row["exercise"]][:2]
    said += [f"tried to {words}" for words in graded.reached[:1]]
    return (
        f"[{number:{len(str(count))}}/{count}] {graded.hand_in.where}: {'; '.join(said)} "
        f"({graded.seconds:.1f} s)"
    )


# ---------------------------------------------------------------- what is written


def _write(place, graded, handed_in, odd, options):
    """Write each file separately, so that one failure costs no other file.

    Returns sentences on those that failed, and on who has no grade in import.csv.
    """
    failed = []
    rows = [row for one in graded for row in one.rows]
    _attempt(failed, "grades.csv", lambda: _table(place / "grades.csv", COLUMNS, rows))
    worth = points.worth(options.settings.points, rows)
    learners = _learners(graded, worth, options, failed)
    _attempt(
        failed,
        "learners.csv",
        lambda: _table(
            place / "learners.csv",
            OF_A_LEARNER,
            [dict(one, points=_grade(one)) for one in learners],
        ),
    )
    _attempt(failed, "the platform's table", lambda: _for_platforms(place, learners, options))
    _attempt(
        failed,
        "summary.html",
        lambda: _page(place / "summary.html", pages.summary(rows, graded, handed_in, learners)),
    )
    _attempt(
        failed,
        "notes.html",
        lambda: _page(place / "notes.html", pages.notes(rows, graded, odd, learners)),
    )
    _feedback(place / "feedback", graded, learners, worth, failed)
    return failed, _unplaced(learners) if options.roster else _not_graded_of(learners)


def _attempt(failed, what, write):
    try:
        return write()
    except Exception as error:
        failed.append(
            printable(f"{what} could not be written: {type(error).__name__}: {error}"[:300])
        )


def _page(path, text):
    path.write_text(text, "utf-8", errors="replace")


def _table(path, columns, rows, encoding=EXCEL):
    with open(path, "w", encoding=encoding, newline="", errors="replace") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def _learners(graded, worth, options, failed):
    """A row for each learner, including those on the roster who handed nothing in."""
    mine, of = {}, sum(worth.values())
    for one in graded:
        mine.setdefault(one.hand_in.learner, []).append(one)
    found = []
    for learner, files in mine.items():
        rows = [row for one in files for row in one.rows]
        notes = [row["note"] for row in rows if not row["exercise"]] or _reasons(rows)
        first = files[0].hand_in
        found.append(
            dict(
                learner=learner,
                id=first.id,
                platform=first.platform,
                of=of,
                note="; ".join(notes),
                late="late" if any(options.settings.late(one.hand_in) for one in files) else "",
                points=points.total(rows, worth),
                source=first.source,
                name=first.name,
                gradable=points.gradable(rows, worth),
            )
        )
    if options.roster:
        _attempt(
            failed, "what is in the roster", lambda: _find_in_roster(found, options.roster, of)
        )
    return found


def _reasons(rows):
    """The reasons why exercises could not be graded, each once."""
    found = {}
    for row in rows:
        if row.get("graded") is False:
            found.setdefault(row["note"], []).append(row["exercise"])
    return [
        f"{', '.join(dict.fromkeys(names))} could not be graded: {reason}".rstrip(": .")
        for reason, names in found.items()
    ]


def _find_in_roster(found, roster, of):
    """Match each learner with the one row of the roster that fits; then list the rows that fit
    nobody."""
    placed = roster.place([(one["name"], one["platform"], one["id"]) for one in found])
    for number, one in enumerate(found):
        if number in placed.rows:
            one["row"] = id(placed.rows[number])
            one["called"] = roster.name(placed.rows[number])
        else:
            one["unplaced"] = placed.said[number]
            one["note"] = "; ".join(filter(None, [one["note"], one["unplaced"]]))
    known = [id(row) for row in (*placed.rows.values(), *placed.doubtful)]
    found += [
        dict(
            learner=roster.name(row),
            id="",
            platform="",
            late="",
            points=0,
            of=of,
            note=pages.MISSING,
            gradable=True,
        )
        for row in roster.learners
        if id(row) not in known
    ]


def _unplaced(learners):
    """Whose cell in import.csv stays unchanged, and why: sentences for the terminal."""
    if not any("row" in one for one in learners):
        return [NOBODY]
    said = [
        f"{one['learner']} {one['unplaced']}: the grade is in learners.csv only"
        for one in learners
        if "unplaced" in one
    ]
    said += _not_graded_of([dict(one, platform="import") for one in learners if "row" in one])
    missing = [one["learner"] for one in learners if one["note"] == pages.MISSING]
    return said + [f"On the roster, but nothing handed in: {', '.join(missing)}"] * bool(missing)


def _not_graded_of(learners):
    """Whose cell stays empty in the table for the platform, and why."""
    return [
        f"{one['learner']} gets no grade in {one['platform'].lower() or 'learners'}.csv: "
        f"{one['note']}"
        for one in learners
        if not one["gradable"]
    ]


def _feedback(folder, graded, learners, worth, failed):
    """A page for each learner. Moodle takes it back if its folder has the name that Moodle gave."""
    folder.mkdir()
    for learner in (one for one in learners if "source" in one):
        rows = [row for one in graded for row in one.rows if row["learner"] == learner["learner"]]
        _attempt(
            failed,
            f"the feedback for {learner['learner']}",
            lambda learner=learner, rows=rows: _own_page(
                folder, learner, pages.feedback(learner, rows, worth)
            ),
        )


def _own_page(folder, learner, text):
    path = _page_of(folder, learner)
    path.parent.mkdir(exist_ok=True)
    _page(path, text)


def _page_of(folder, learner):
    """A place for a learner's page where there is no other page."""
    if learner["platform"] == "Moodle":
        name = re.sub(r"(_assignsubmission_[a-z]+_).*", r"\1", learner["source"])
        path = (
            folder
            / name.encode("utf-8", "replace")[:200].decode("utf-8", "ignore")
            / "feedback.html"
        )
    else:
        name = re.sub(r"[^\w .@()'-]", "_", learner["learner"])
        path = folder / (name.encode()[:200].decode("utf-8", "ignore") + ".html")
    if path.exists():
        path = path.with_stem(
            f"{path.stem} {hashlib.sha256(learner['learner'].encode()).hexdigest()[:8]}"
        )
    return path


def _for_platforms(place, learners, options):
    """The tables that Moodle and Canvas import, if names or a roster tell which platform it is."""
    if options.roster:
        shares = {
            one["row"]: one["points"] / one["of"] if one["of"] else 0
            for one in learners
            if "row" in one and one["gradable"]
        }
        if any("row" in one for one in learners):
            (place / "import.csv").write_bytes(options.roster.filled(shares, learners[0]["of"]))
        return
    moodle = [
        {
            "Identifier": f"Participant {one['id']}",
            "Full name": printable(one["name"]),
            "Grade": _grade(one),
            "Maximum Grade": one["of"],
            "Last modified (grade)": "-",
        }
        for one in learners
        if one["platform"] == "Moodle"
    ]
    canvas = [
        {
            "Student": printable(one["name"]),
            "ID": one["id"],
            "SIS User ID": "",
            "SIS Login ID": "",
            "Section": "",
            options.assignment: _grade(one),
        }
        for one in learners
        if one["platform"] == "Canvas"
    ]
    for name, rows in (("moodle.csv", moodle), ("canvas.csv", canvas)):
        if rows:
            _table(place / name, list(rows[0]), rows, "utf-8")


def _grade(learner):
    """What cannot be graded stays empty: it is not 0."""
    return learner["points"] if learner["gradable"] else ""


# ---------------------------------------------------------------- the command


class Terminal:
    """Where grading reports what it does. It goes on if nobody reads that, or if letters can't be
    shown.
    """

    closed = False

    def say(self, text):
        if not self.closed:
            try:
                coding = getattr(sys.stdout, "encoding", None) or "utf-8"
                print(text.encode(coding, "backslashreplace").decode(coding), flush=True)
            except OSError:  # as after "| head -1"
                self.closed = True
                sys.stdout = open(
                    os.devnull, "w"
                )  # nothing is left to be flushed into the pipe at the end


def positive(text):
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError
    return number


def main(parser, words):
    parser.add_argument(
        "folder",
        help=(
            "what the class handed in: a folder with .ipynb or .py files, in subfolders or "
            "not, or the .zip of a learning platform"
        ),
    )
    parser.add_argument(
        "--out", default="grades", help="a folder for what is written (default: grades)"
    )
    parser.add_argument(
        "--settings", help="a .toml file with the points of exercises and the deadline"
    )
    parser.add_argument(
        "--roster", help="the learning platform's .csv of the class, to be filled in"
    )
    parser.add_argument(
        "--assignment", default="Exercises", help="the name of Canvas's column (default: Exercises)"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="notebooks at a time (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds", type=positive, default=120, help="for one notebook (default: 120)"
    )
    parser.add_argument(
        "--cell-seconds", type=positive, default=30, help="for one cell (default: 30)"
    )
    parser.add_argument(
        "--memory", type=positive, default=4096, help="MB for one notebook (default: 4096)"
    )
    parser.add_argument(
        "--unprotected",
        action="store_true",
        help="run submitted code with your rights, on your files",
    )
    chosen = parser.parse_args(words)
    limits = process.Limits(chosen.seconds, chosen.cell_seconds, int(chosen.memory * 2**20))
    try:
        settings = points.settings(chosen.settings) if chosen.settings else points.Settings()
        roster = Roster(chosen.roster, chosen.assignment) if chosen.roster else None
        options = Options(
            limits, max(chosen.jobs, 1), not chosen.unprotected, settings, roster, chosen.assignment
        )
        terminal = Terminal()
        return grade_folder(chosen.folder, chosen.out, options, terminal.say) or int(
            terminal.closed
        )
    except (Unusable, OSError) as error:
        print(f"grade: {error}", file=sys.stderr)
        return 1
