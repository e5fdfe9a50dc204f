"""Grades a folder of notebooks that a class hands in: `python3 -m attnlib.exercises grade FOLDER`.

Submitted code is run, each notebook in a process of its own (process.py, notebook.py, confine.py).
"""

import ast
import csv
import hashlib
import json
import os
import re
import stat
import sys
import time
import unicodedata
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from ..engine import catalogue
from ..engine.grading import exercises
from . import confine, process
from .notebook import as_python

COLUMNS = ("learner", "exercise", "status", "mistakes", "notebook", "note")
STATUSES = ("correct", "incorrect", "error", "not attempted")
LARGEST = 50 << 20  # bytes of a notebook; figures can make it large
# Moodle: "Ada Lovelace_123_assignsubmission_file_"; Canvas: "lovelaceada_LATE_123_456_03_softmax"
LEARNING_PLATFORMS = (r"(?P<name>.+)_\d+_assignsubmission_.*", r"(?P<name>[^\W_]+)(_LATE)?_\d+_\d+_.*")
MOST_TOLD, MOST_LISTED = 5, 12


class Unusable(Exception):
    """Why nothing can be graded, in a sentence for the lecturer."""


@dataclass
class Notebook:
    """One file as it came: its bytes are kept, so that what it does cannot change what is graded."""

    path: Path
    where: str  # its path below the folder, printable
    key: str  # whose it is
    learner: str = ""
    content: bytes = b""
    cells: list = field(default_factory=list)
    problem: str = ""


# ---------------------------------------------------------------- the folder

def collect(folder):
    """(the notebooks in a fixed order, the files that are none)."""
    folder = Path(folder)
    if not folder.exists():
        raise Unusable(f"there is no folder {folder}")
    found, others = [], []
    root = folder.parent if folder.is_file() else _without_wrapping(folder)
    for path in [folder] if folder.is_file() else _files(root):
        if path.suffix.lower() in READERS:
            found.append(_taken(path, path.relative_to(root)))
        else:
            others.append(_taken(path, path.relative_to(root)))
    if not found:
        raise Unusable(f"{folder} holds no file that ends in .ipynb or .py")
    _name(found)
    return sorted(found, key=lambda n: (n.learner.casefold(), n.learner, n.where)), others


def _files(folder):
    for path in sorted(folder.rglob("*"), key=os.fspath):
        inside = path.relative_to(folder).parts
        hidden = any(_is_hidden(part) for part in inside)
        if not hidden and (path.is_symlink() or not path.is_dir()):
            yield path


def _is_hidden(name):
    return name.startswith(".") or name in ("__MACOSX", "__pycache__")  # .ipynb_checkpoints, ._name


def _without_wrapping(folder):
    """Unpacked archives often hold one folder with everything in it: that one."""
    inside = [path for path in folder.iterdir() if not _is_hidden(path.name)]
    if len(inside) == 1 and inside[0].is_dir() and not inside[0].is_symlink():
        below = list(inside[0].iterdir())
        if below and all(path.is_dir() for path in below):
            return inside[0]
    return folder


def _taken(path, inside):
    """The notebook in this file; its problem says why it cannot be run."""
    source = inside.parts[0] if len(inside.parts) > 1 else inside.stem
    notebook = Notebook(path, printable(inside), source)
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise Unusable("it is a link, or no ordinary file")
        if status.st_size > LARGEST:
            raise Unusable(f"it is larger than {LARGEST >> 20} MB")
        content = path.read_bytes()
        notebook.content = zlib.compress(content)
        notebook.cells = READERS.get(path.suffix.lower(), list)(content)
    except OSError as error:
        notebook.problem = f"it cannot be read: {error.strerror}"
    except Unusable as error:
        notebook.problem = str(error)
    return notebook


def cells(content):
    """The sources of a notebook's code cells."""
    if not content.strip():
        raise Unusable("the file is empty")
    try:
        found = [cell["source"] for cell in json.loads(content)["cells"] if cell["cell_type"] == "code"]
        return ["".join(source) for source in found]
    except (ValueError, RecursionError):
        raise Unusable("it is broken: its text is not JSON") from None
    except (KeyError, TypeError):
        raise Unusable("it is not a notebook of format 4") from None


def statements(content):
    """A .py file as cells: at the marks of Jupytext, VS Code, Spyder or nbconvert, else a statement each."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unusable("its text is not UTF-8") from None
    if not text.strip():
        raise Unusable("the file is empty")
    parts = re.split(r"^# (?:%%|In ?\[).*$", text, flags=re.MULTILINE)
    return parts if len(parts) > 1 else _one_by_one(as_python(text))


def _one_by_one(text):
    """The top-level statements, so that one that fails costs itself alone; all in one if the text is no Python."""
    try:
        nodes = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return [text]
    first = [min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", ()))]) - 1 for node in nodes]
    lines = text.splitlines(keepends=True)
    return ["".join(lines[start:end]) for start, end in zip(first, [*first[1:], len(lines)])]


READERS = {".ipynb": cells, ".py": statements}


# ---------------------------------------------------------------- whose it is

def printable(text):
    """One line that neither a terminal nor a spreadsheet takes for a command."""
    text = str(text).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    text = unicodedata.normalize("NFC", text)
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return "'" + text if text.startswith(("=", "+", "-", "@")) else text


def _name(notebooks):
    """Give every notebook its learner: the folder's or the file's name, never one name for two."""
    for notebook in notebooks:
        notebook.key, notebook.learner = _platform(notebook.key, notebook)
    sources = defaultdict(set)
    for notebook in notebooks:
        sources[notebook.learner.casefold()].add(notebook.key)
    for notebook in notebooks:
        if len(sources[notebook.learner.casefold()]) > 1:
            notebook.learner = printable(notebook.key[-1])
    _number_the_rest(notebooks)


def _platform(source, notebook):
    """(what is the same for one learner's files, the learner's name)."""
    for pattern in LEARNING_PLATFORMS:
        match = re.fullmatch(pattern, source)
        if match:
            number = re.search(r"_\d+", source[match.end("name"):])[0]
            return ("platform", match["name"] + number), printable(match["name"])
    alone = notebook.path.stem == source
    return ("file" if alone else "folder", notebook.path.name if alone else source), printable(source)


def _number_the_rest(notebooks):
    """Names that are still equal, once unprintable letters are gone, get a number."""
    known = defaultdict(list)
    for notebook in notebooks:
        keys = known[notebook.learner]
        if notebook.key not in keys:
            keys.append(notebook.key)
        place = keys.index(notebook.key)
        if place:
            notebook.learner += f" ({place + 1})"


# ---------------------------------------------------------------- grading

def names_in(sources):
    """The exercises that cells define, or hand to check, as far as their text tells."""
    text = "\n".join(sources)
    named = set(re.findall(r"^\s*def\s+(\w+)|\bcheck\(\s*[\"'](\w+)[\"']", text, re.MULTILINE))
    named = {name for pair in named for name in pair}
    return [name for name in exercises() if name in named]


def rows(notebook, limits):
    """The CSV's rows for one notebook."""
    mine = {"learner": notebook.learner, "notebook": notebook.where}
    if notebook.problem:
        return [dict(mine, status="error", note=notebook.problem)]
    result = process.attend(notebook.cells, names_in(notebook.cells), limits)
    order = list(exercises())
    found = [dict(mine, exercise=name, status=status, mistakes="; ".join(mistakes), note=printable(note))
             for name, status, mistakes, note in sorted(result.grades.values(), key=lambda g: order.index(g[0]))]
    found += [dict(mine, status="error", note=problem) for problem in result.problems]
    return found or [dict(mine, status="error", note="no exercise of the book is in it")]


def grade_folder(folder, out="grades", limits=process.Limits(), say=print):
    """Grade all notebooks below `folder`; writes grades.csv and summary.md into `out`."""
    if os.name != "posix":
        raise Unusable("grading needs Linux or macOS: on Windows use WSL, or the container that the book describes")
    notebooks, others = collect(folder)
    table, summary_file = _places(Path(out), say)
    say(protection())
    done = []
    with open(table, "w", encoding="utf-8", newline="") as file, process.Stop():
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        interrupted = not _grade_each(notebooks, limits, writer, file, done, say)
    changed = put_back(notebooks + others)
    others = [other.where for other in others]
    summary_file.write_text(summary(done, others, len(notebooks), changed), encoding="utf-8")
    _say_the_end(say, table, summary_file, others, changed, interrupted)
    return 130 if interrupted else 0


def _grade_each(notebooks, limits, writer, file, done, say):
    """Write the rows of one notebook after the other; False if Ctrl-C has ended it."""
    try:
        for number, notebook in enumerate(notebooks, 1):
            started = time.monotonic()
            new = rows(notebook, limits)
            writer.writerows(new)
            file.flush()  # what is graded stays, whatever comes
            done += new
            say(_progress(number, len(notebooks), notebook, new, time.monotonic() - started))
    except KeyboardInterrupt:
        return False
    return True


def protection():
    found = confine.version()
    if not found:
        return ("Submitted code runs with your rights: this system has no Landlock (Linux 5.13 or newer) to fence "
                "it in. Use a container for code that you do not trust.")
    network = " and opens no TCP connection" if found >= 4 else ""
    return f"Submitted code is fenced in by Landlock: it writes only to a scratch folder{network}."


def _places(out, say):
    """Where to write. What is there already is kept under another name."""
    out.mkdir(parents=True, exist_ok=True)
    places = out / "grades.csv", out / "summary.md"
    for place in places:
        if place.exists():
            number = next(n for n in range(1, 10**6) if not place.with_stem(f"{place.stem}.{n}").exists())
            place.rename(place.with_stem(f"{place.stem}.{number}"))
            say(f"the earlier {place.name} is now {place.stem}.{number}{place.suffix}")
    return places


def _progress(number, count, notebook, new, seconds):
    answers = [row for row in new if row.get("exercise")]
    right = sum(row["status"] == "correct" for row in answers)
    notes = [row["note"] for row in new if not row.get("exercise")]
    said = "; ".join([f"{right} of {len(answers)} correct"] * bool(answers) + notes[:2])
    return f"[{number:{len(str(count))}}/{count}] {notebook.where}: {said} ({seconds:.1f} s)"


def put_back(notebooks):
    """Restore files that differ from what was handed in; their names."""
    changed = []
    for notebook in notebooks:
        before = zlib.decompress(notebook.content) if notebook.content else None
        try:
            now = notebook.path.read_bytes() if before is not None else None
        except OSError:
            now = b""
        if before is not None and hashlib.sha256(now).digest() != hashlib.sha256(before).digest():
            notebook.path.parent.mkdir(parents=True, exist_ok=True)
            notebook.path.write_bytes(before)
            changed.append(notebook.where)
    return changed


def _say_the_end(say, table, summary_file, others, changed, interrupted):
    if changed:
        say(f"Changed by submitted code, and put back as they were: {', '.join(changed)}")
    if others:
        say(f"Left alone, as neither .ipynb nor .py: {', '.join(others)}")
    say(("Stopped. What was graded so far: " if interrupted else "") + f"{table} and {summary_file}")


# ---------------------------------------------------------------- the summary

def summary(found, others, handed_in, changed):
    """The page for the next lecture, as Markdown."""
    answers = [row for row in found if row.get("exercise")]
    learners = {row["learner"] for row in found}
    graded = len({(row["learner"], row["notebook"]) for row in found})
    lines = ["# What the class handed in", "",
             f"{counted(len(learners), 'learner')}, {counted(graded, 'notebook')}, "
             f"{counted(len(answers), 'answer')}."]
    if graded < handed_in:
        lines[-1] += f" Grading was stopped: {handed_in - graded} more are not in it."
    lines += [*_by_exercise(answers), *_by_mistake(answers), *_not_run(found, others, changed)]
    return "\n".join(lines) + "\n"


def counted(number, word):
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _by_exercise(answers):
    lines = ["", "## Exercise by exercise", "", "| exercise | " + " | ".join(STATUSES) + " |",
             "|---|" + "---|" * len(STATUSES)]
    for name in exercises():
        best = {}
        for row in (row for row in answers if row["exercise"] == name):
            best.setdefault(row["learner"], []).append(row["status"])
        if best:
            count = Counter(min(each, key=STATUSES.index) for each in best.values())
            lines.append(f"| `{name}` | " + " | ".join(str(count[status]) for status in STATUSES) + " |")
    return [*lines, "", "Each learner counts once: with the best, where several notebooks have the exercise."]


def _by_mistake(answers):
    made, tried = defaultdict(set), defaultdict(set)
    for row in answers:
        if row["status"] != "not attempted":
            tried[row["exercise"]].add(row["learner"])
        for mistake in filter(None, row["mistakes"].split("; ")):
            made[row["exercise"], mistake].add(row["learner"])
    order = list(exercises())
    ranked = sorted(made, key=lambda pair: (-len(made[pair]), order.index(pair[0]), pair[1]))
    lines = ["", "## The mistakes made most", ""]
    if not ranked:
        return [*lines, "No mistake was named."]
    lines += ["| mistake | exercise | learners |", "|---|---|---|"]
    lines += [f"| {catalogue.escaped(mistake)} | `{exercise}` | {len(made[exercise, mistake])} of "
              f"{len(tried[exercise])} |" for exercise, mistake in ranked[:MOST_LISTED]]
    if len(ranked) > MOST_LISTED:
        lines += ["", f"{len(ranked) - MOST_LISTED} more are in grades.csv."]
    lines += ["", "What to say about them; each has its entry in the book's catalogue of mistakes.", ""]
    return lines + [told for pair in ranked[:MOST_TOLD] for told in _told(*pair)]


def _told(exercise, name):
    """The catalogue's words on a mistake, and its page."""
    first = name.split(" or ")[0]
    known = [(mistake, exercises()[exercise].part) for mistake in catalogue.mistakes(exercises()[exercise])]
    known += [(mistake, exercises()["dot_score"].part) for mistake in catalogue.ANYWHERE]
    for mistake, part in known:
        if mistake.name == first:
            why, ask = catalogue.escaped(mistake.why), catalogue.escaped(mistake.ask)
            return [f"- **{catalogue.escaped(name)}** (`{exercise}`; in the book: \"Mistakes: "
                    f"{part[0].lower() + part[1:]}\"). {why} *Ask the room:* {ask}"]
    return []


def _not_run(found, others, changed):
    failed = [row for row in found if not row.get("exercise")]
    lines = ["", "## What could not be run", ""] if failed or others or changed else []
    lines += [f"- {catalogue.escaped(row['learner'])}, {catalogue.escaped(row['notebook'])}: "
              f"{catalogue.escaped(row['note'])}." for row in failed[:MOST_LISTED]]
    if len(failed) > MOST_LISTED:
        lines.append(f"- {len(failed) - MOST_LISTED} more are in grades.csv.")
    if others:
        lines.append(f"- Left alone, as neither .ipynb nor .py: {catalogue.escaped(', '.join(others[:MOST_LISTED]))}.")
    if changed:
        lines.append(f"- Changed by submitted code, and put back: {catalogue.escaped(', '.join(changed))}.")
    return lines


# ---------------------------------------------------------------- the command

def positive(text):
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError
    return number


def main(parser, words):
    parser.add_argument("folder", help="what the class handed in: .ipynb or .py files, in subfolders or not")
    parser.add_argument("--out", default="grades", help="a folder for grades.csv and summary.md (default: grades)")
    parser.add_argument("--seconds", type=positive, default=120, help="for one notebook (default: 120)")
    parser.add_argument("--cell-seconds", type=positive, default=30, help="for one cell (default: 30)")
    parser.add_argument("--memory", type=positive, default=4096, help="MB for one notebook (default: 4096)")
    chosen = parser.parse_args(words)
    limits = process.Limits(chosen.seconds, chosen.cell_seconds, int(chosen.memory * 2**20))
    try:
        return grade_folder(chosen.folder, chosen.out, limits, lambda text: print(text, flush=True))
    except (Unusable, OSError) as error:
        print(f"grade: {error}", file=sys.stderr)
        return 1
