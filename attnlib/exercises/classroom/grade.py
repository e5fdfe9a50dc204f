"""Grades the notebooks that a class hands in: `python3 -m attnlib.exercises grade FOLDER`.

hand_ins.py finds them, process.py runs each in a sandbox, verdict.py judges what comes out of it, points.py says
what it is worth, and pages.py writes what is read.
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

from ..engine.find import exercises
from . import pages, points, process, sandbox, verdict
from .hand_ins import HandIn, collect, printable
from .source import Unusable

COLUMNS = ("learner", "id", "exercise", "status", "cases", "mistakes", "notebook", "note")
OF_A_LEARNER = ("learner", "id", "late", "points", "of", "note")
CONTAINER = 'The book\'s page "For lecturers" shows how to run all of it in a container'
EXCEL = "utf-8-sig"  # with the mark by which spreadsheets know UTF-8


@dataclass(frozen=True)
class Options:
    limits: process.Limits = process.Limits()
    jobs: int = os.cpu_count() or 1
    protected: bool = True
    settings: points.Settings = points.Settings()
    roster: points.Roster | None = None
    assignment: str = "Exercises"


@dataclass
class Graded:
    """One file, graded."""

    hand_in: HandIn
    rows: list
    reached: list = field(default_factory=list)
    seconds: float = 0.0


def grade_folder(where, out="grades", options=Options(), say=print):
    """Grade all notebooks below a folder or in a .zip, and write what came of it into the folder `out`."""
    _must_be_able(options)
    hand_ins, odd = collect(where, out)
    place = _place(Path(out), say)
    say("Each notebook runs in a sandbox of its own." if options.protected else
        "Submitted code runs without any protection: with your rights, on your files.")
    with process.Stop():
        graded = _grade_all(hand_ins, options, say)
        stopped = process.Stop.asked
    _write(place, graded, len(hand_ins), odd, options)
    for line in odd:
        say(line)
    say(("Stopped. What was graded so far: " if stopped else "") + f"{place}{os.sep}")
    return 130 if stopped else 0


def _must_be_able(options):
    if os.name != "posix":
        raise Unusable(f"grading needs Linux, or WSL on Windows. {CONTAINER}.")
    if options.protected and sandbox.problem():
        raise Unusable(f"there is no sandbox for submitted code: {sandbox.problem()}. {CONTAINER}. If you trust the "
                       "class as yourself, --unprotected runs its code with your rights, on your files.")


def _place(out, say):
    """A folder to write into that holds nothing yet."""
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
    """What became of each file, in their order; of those that were done, if Ctrl-C has ended it."""
    done = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(grade_one, one, options): number for number, one in enumerate(hand_ins)}
        try:
            while waiting:
                finished, _ = concurrent.futures.wait(waiting, 0.2, concurrent.futures.FIRST_COMPLETED)
                for future in finished:
                    number = waiting.pop(future)
                    if graded := future.result():
                        done[number] = graded
                        say(_progress(len(done), len(hand_ins), graded))
        except BaseException:  # nobody reads any more what is said
            process.Stop.asked = True
            raise
    return [done[number] for number in sorted(done)]


def grade_one(hand_in, options):
    """Grade one file. Whatever comes costs this file alone; None if Ctrl-C has ended it."""
    started = time.monotonic()
    try:
        if process.Stop.asked:
            return None
        graded = _graded(hand_in, options)
    except process.Stopped:
        return None
    except Exception as error:
        graded = Graded(hand_in, [_row(hand_in, note=f"it could not be graded: {type(error).__name__}: {error}"[:300])])
    graded.seconds = time.monotonic() - started
    return graded


def _graded(hand_in, options):
    if hand_in.problem:
        return Graded(hand_in, [_row(hand_in, note=hand_in.problem)])
    try:
        content = hand_in.read()
    except Unusable as error:
        return Graded(hand_in, [_row(hand_in, note=str(error))])
    except OSError as error:
        return Graded(hand_in, [_row(hand_in, note=f"it cannot be read: {error.strerror}")])
    result = process.attend(content, hand_in.kind, options.limits, options.protected)
    rows = [_judged(hand_in, name, told, result) for name, told in result.answers.items()]
    rows.sort(key=lambda row: list(exercises()).index(row["exercise"]))
    rows += [_row(hand_in, note="; ".join(result.problems))] if result.problems else []
    rows = rows or [_row(hand_in, note="no exercise of the book is in it")]
    reached = [printable(words) for words in result.reached]
    if reached:
        rows[0]["note"] = " ".join(filter(None, [rows[0]["note"], f"Tried to {'; '.join(reached)}."]))
    return Graded(hand_in, rows, reached)


def _judged(hand_in, name, told, result):
    found = verdict.judged(name, told, result.values.get(name, {}))
    return _row(hand_in, name, found.status, found.note, cases=f"{found.passed} of {found.cases}", share=found.share,
                named=found.mistakes, message=found.message, fingerprint=told.fingerprint)


def _row(hand_in, exercise="", status="error", note="", named=(), **more):
    return dict(learner=hand_in.learner, id=hand_in.id, exercise=exercise, status=status, note=printable(note),
                named=[printable(name) for name in named], mistakes=printable("; ".join(named)), notebook=hand_in.where,
                **more)


def _progress(number, count, graded):
    answers = [row for row in graded.rows if row["exercise"]]
    right = sum(row["status"] == "correct" for row in answers)
    said = [f"{right} of {len(answers)} correct"] * bool(answers)
    said += [row["note"] for row in graded.rows if not row["exercise"]][:2]
    said += [f"tried to {words}" for words in graded.reached[:1]]
    return (f"[{number:{len(str(count))}}/{count}] {graded.hand_in.where}: {'; '.join(said)} "
            f"({graded.seconds:.1f} s)")


# ---------------------------------------------------------------- what is written

def _write(place, graded, handed_in, odd, options):
    rows = [row for one in graded for row in one.rows]
    worth = points.worth(options.settings.points, rows)
    learners = _learners(graded, worth, options)
    _table(place / "grades.csv", COLUMNS, rows)
    _table(place / "learners.csv", OF_A_LEARNER, learners)
    (place / "summary.html").write_text(pages.summary(rows, graded, handed_in, learners), "utf-8")
    (place / "notes.html").write_text(pages.notes(rows, graded, odd), "utf-8")
    _feedback(place / "feedback", graded, learners, worth)
    _for_platforms(place, learners, options)


def _table(path, columns, rows, encoding=EXCEL):
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def _learners(graded, worth, options):
    """A row for each learner, those of the roster who handed nothing in among them."""
    mine, of = {}, sum(worth.values())
    for one in graded:
        mine.setdefault(one.hand_in.learner, []).append(one)
    found = []
    for learner, files in mine.items():
        notes = [row["note"] for one in files for row in one.rows if not row["exercise"]]
        first = files[0].hand_in
        found.append(dict(
            learner=learner, id=first.id, platform=first.platform, of=of, note="; ".join(notes),
            late="late" if any(options.settings.late(one.hand_in) for one in files) else "",
            points=points.total([row for one in files for row in one.rows], worth), source=first.source))
    if options.roster:
        _find_in_roster(found, options.roster, of)
    return found


def _find_in_roster(found, roster, of):
    for one in found:
        row = roster.row_of(one["learner"], one["id"])
        if row is None:
            one["note"] = "; ".join(filter(None, [one["note"], "not in the roster"]))
        else:
            one["row"] = id(row)
    known = {one.get("row") for one in found}
    found += [dict(learner=roster.name(row), id="", platform="", late="", points=0, of=of, note="nothing handed in",
                   row=id(row)) for row in roster.learners() if id(row) not in known]


def _feedback(folder, graded, learners, worth):
    """A page for each learner. Moodle takes it back from a folder of the name that it gave."""
    folder.mkdir()
    for learner in (one for one in learners if "source" in one):
        rows = [row for one in graded for row in one.rows if row["learner"] == learner["learner"]]
        path = _page_of(folder, learner)
        path.parent.mkdir(exist_ok=True)
        path.write_text(pages.feedback(learner, rows, worth), "utf-8")


def _page_of(folder, learner):
    """Where a learner's page goes: where no other one is."""
    if learner["platform"] == "Moodle":
        name = re.sub(r"(_assignsubmission_[a-z]+_).*", r"\1", learner["source"])
        path = folder / name.encode("utf-8", "replace")[:200].decode("utf-8", "ignore") / "feedback.html"
    else:
        name = re.sub(r"[^\w .@()'-]", "_", learner["learner"])
        path = folder / (name.encode()[:200].decode("utf-8", "ignore") + ".html")
    if path.exists():
        path = path.with_stem(f"{path.stem} {hashlib.sha256(learner['learner'].encode()).hexdigest()[:8]}")
    return path


def _for_platforms(place, learners, options):
    """The tables that Moodle and Canvas import, where names or a roster tell which it is."""
    if options.roster:
        shares = {one["row"]: one["points"] / one["of"] if one["of"] else 0 for one in learners if "row" in one}
        of = learners[0]["of"] if learners else 0
        text = options.roster.filled(shares, options.assignment, of)
        with open(place / "import.csv", "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return
    moodle = [{"Identifier": f"Participant {one['id']}", "Full name": one["learner"], "Grade": one["points"],
               "Maximum Grade": one["of"], "Last modified (grade)": "-"} for one in learners if one["platform"] == "Moodle"]
    canvas = [{"Student": one["learner"], "ID": one["id"], "SIS User ID": "", "SIS Login ID": "", "Section": "",
               options.assignment: one["points"]} for one in learners if one["platform"] == "Canvas"]
    for name, rows in (("moodle.csv", moodle), ("canvas.csv", canvas)):
        if rows:
            _table(place / name, list(rows[0]), rows, "utf-8")


# ---------------------------------------------------------------- the command

def positive(text):
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError
    return number


def main(parser, words):
    parser.add_argument("folder", help="what the class handed in: a folder with .ipynb or .py files, in subfolders or "
                                       "not, or the .zip of a learning platform")
    parser.add_argument("--out", default="grades", help="a folder for what is written (default: grades)")
    parser.add_argument("--settings", help="a .toml file with the points of exercises and the deadline")
    parser.add_argument("--roster", help="the learning platform's .csv of the class, to be filled in")
    parser.add_argument("--assignment", default="Exercises", help="the name of Canvas's column (default: Exercises)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="notebooks at a time (default: %(default)s)")
    parser.add_argument("--seconds", type=positive, default=120, help="for one notebook (default: 120)")
    parser.add_argument("--cell-seconds", type=positive, default=30, help="for one cell (default: 30)")
    parser.add_argument("--memory", type=positive, default=4096, help="MB for one notebook (default: 4096)")
    parser.add_argument("--unprotected", action="store_true", help="run submitted code with your rights, on your files")
    chosen = parser.parse_args(words)
    limits = process.Limits(chosen.seconds, chosen.cell_seconds, int(chosen.memory * 2**20))
    try:
        settings = points.settings(chosen.settings) if chosen.settings else points.Settings()
        roster = points.Roster(chosen.roster) if chosen.roster else None
        options = Options(limits, max(chosen.jobs, 1), not chosen.unprotected, settings, roster, chosen.assignment)
        return grade_folder(chosen.folder, chosen.out, options, lambda text: print(text, flush=True))
    except (Unusable, OSError) as error:
        print(f"grade: {error}", file=sys.stderr)
        return 1
