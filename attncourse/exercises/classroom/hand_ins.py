"""Finds what a class has handed in, in a folder or in a learning platform's .zip, and whose it is.
It only reads.
"""

import os
import re
import stat
import unicodedata
import zipfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from .source import READERS, Unusable, chapters

LARGEST = 50 << 20  # bytes of a notebook; figures can make it large
DEEPEST, MOST_FILES = 12, 20_000
LEFT_BEHIND = r"\.DS_Store|\._.*|Thumbs\.db|desktop\.ini|__MACOSX|__pycache__|\.ipynb_checkpoints"
OF_GRADING = {"grades.csv", "learners.csv", "summary.html"}
# folders that people sort their work into, and that are nobody's name
OF_WORK = (
    r"(?i)(\d{1,2}[ _.-]*)?(week|woche|day|tag|chapter|kapitel|part|teil|sheet|blatt|exercises?|"
    r"übung|task|homework|hw|lab|assignment|session|lecture|unit|module|solutions?|notebooks?|src)"
    r"[ _.-]*\d*"
)
# Moodle: "Ada Lovelace_123_assignsubmission_file_"; Canvas:
# "lovelaceada_LATE_123_456_03_softmax", and
# "lovelaceada_123_text" where somebody wrote into Canvas itself. What comes first is the
# platform's;
# all after it the learner has chosen.
MOODLE = r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_[a-z]+_(?P<own>.*)"
CANVAS = r"(?P<name>[^\W_]+)(?P<late>_LATE)?_(?P<id>\d+)_(?:(?P<file>\d+)_(?P<own>.+)|text)"
# what a spreadsheet takes for the beginning of a formula: at the start of a cell or, if ; or a tab
# separates cells, inside one
FORMULA = r"(^|[;,|\t]\s*)([\"'\s]*)([=+@＝＋－＠\-])"
KINDS = {
    ".pdf": "a PDF",
    ".zip": "an archive",
    ".html": "a web page",
    ".docx": "a text document",
    ".txt": "a text",
}


@dataclass
class HandIn:
    """One file as it came."""

    where: str  # its path in the folder, printable
    inside: PurePosixPath
    time: float  # seconds since 1970
    read: object  # () -> bytes
    problem: str = ""  # why it cannot be run
    learner: str = ""  # one name for each, also where two people have the same
    name: str = ""  # as it came
    own: str = ""  # the file's name as the learner gave it
    platform: str = ""  # "Moodle", "Canvas" or ""
    id: str = ""  # the platform's number of the learner
    late: bool = False
    key: tuple = field(default=())

    @property
    def source(self):
        """The name that says whose it is: the folder's, or the file's own."""
        return self.inside.parts[0] if len(self.inside.parts) > 1 else self.inside.stem

    @property
    def source_below(self):
        """The same, if the outermost folder only wraps the class."""
        return self.inside.parts[1] if len(self.inside.parts) > 2 else self.inside.stem

    @property
    def kind(self):
        return self.inside.suffix.lower()


def collect(where, out=None, roster=None):
    """(what can be graded, or must be reported about a learner, in a fixed order; sentences on what
    was left alone).
    """
    where, odd = Path(where), []
    if not where.exists():
        raise Unusable(f"there is no folder {where}")
    if where.is_dir():
        found = list(_files(where, out, odd))
    elif where.suffix.lower() == ".zip":
        found = list(_members(where, odd))
    else:
        found = [_taken(where, PurePosixPath(where.name))]
    _without_wrapping(found, where, roster.knows if roster else lambda name: False, odd)
    _name(found)
    notebooks = [one for one in found if one.kind in READERS]
    if not notebooks:
        raise Unusable(f"{where} holds no file that ends in .ipynb or .py")
    known = {one.key for one in notebooks}
    for one in found:
        if one not in notebooks and one.key in known:
            odd.append(f"{one.where}: left alone, as neither .ipynb nor .py")
        elif one not in notebooks:
            what = KINDS.get(
                one.kind,
                f"a file that ends in {one.kind}" if one.kind else "a file without an ending",
            )
            one.problem = (
                one.problem or f"it is {printable(what)}, not a notebook: the .ipynb file is needed"
            )
            notebooks.append(one)
    return sorted(notebooks, key=lambda n: (n.learner.casefold(), n.learner, n.where)), sorted(odd)


# ---------------------------------------------------------------- files and archives


def _files(root, out, odd):
    """All files below a folder, one folder after another, however deep the folders are."""
    waiting, count = [(root, 0)], 0
    own = Path(out).resolve() if out else None
    while waiting:
        folder, depth = waiting.pop()
        inside = printable(folder.relative_to(root))
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            odd.append(f"{inside}: a folder that cannot be read: {error.strerror}")
            continue
        if (
            folder != root
            and folder.resolve() == own
            or OF_GRADING <= {entry.name for entry in entries}
        ):
            odd.append(f"{inside}: left alone, as an earlier grading")
            continue
        for entry in entries:
            path = folder / entry.name
            name = printable(path.relative_to(root))
            if re.fullmatch(LEFT_BEHIND, entry.name):
                continue
            if entry.name.startswith("."):
                odd.append(f"{name}: left alone, as it is hidden")
            elif entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    waiting.append((path, depth + 1))
                else:
                    odd.append(
                        f"{name[:100]}: left alone, as it lies in more than {DEEPEST} folders"
                    )
            elif (count := count + 1) > MOST_FILES:
                raise Unusable(
                    f"{root} holds more than {MOST_FILES} files: is it the right folder?"
                )
            else:
                yield _taken(path, PurePosixPath(*path.relative_to(root).parts))


def _taken(path, inside):
    hand_in = HandIn(printable(inside), inside, 0, path.read_bytes)
    try:
        status = path.lstat()
        hand_in.time = status.st_mtime
        if not stat.S_ISREG(status.st_mode):
            hand_in.problem = "it is a link, or no ordinary file"
        elif status.st_size > LARGEST:
            hand_in.problem = f"it is larger than {LARGEST >> 20} MB"
    except OSError as error:
        hand_in.problem = f"it cannot be read: {error.strerror}"
    return hand_in


def _members(path, odd):
    """The files in an archive, which is not unpacked."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Unusable(f"{path} cannot be read as a .zip: {error}") from None
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) > MOST_FILES:
        raise Unusable(f"{path} holds more than {MOST_FILES} files: is it the right one?")
    for member in members:
        inside = PurePosixPath(
            *(part for part in PurePosixPath(member.filename).parts if part not in ("/", ".."))
        )
        if not inside.parts or any(re.fullmatch(LEFT_BEHIND, part) for part in inside.parts):
            continue
        if any(part.startswith(".") for part in inside.parts):
            odd.append(f"{printable(inside)}: left alone, as it is hidden")
            continue
        hand_in = HandIn(
            printable(inside),
            inside,
            _time(member),
            lambda member=member: _content(archive, member),
        )
        if member.file_size > LARGEST:
            hand_in.problem = f"it is larger than {LARGEST >> 20} MB"
        yield hand_in


def _time(member):
    try:
        return datetime(*member.date_time).timestamp()
    except (ValueError, OverflowError):
        return 0


def _content(archive, member):
    """What a member holds: never more than it declares, whatever it was packed from."""
    try:
        with archive.open(member) as file:
            return file.read(LARGEST)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise Unusable(f"it cannot be unpacked: {error}") from None


def _without_wrapping(found, where, knows, odd):
    """Archives often hold one folder with everything in it: then the work is below that folder."""
    tops = {one.inside.parts[0] for one in found}
    if (
        len(tops) == 1
        and all(len(one.inside.parts) > 1 for one in found)
        and _wraps(*tops, found, where, knows, odd)
    ):
        for one in found:
            one.inside = PurePosixPath(*one.inside.parts[1:])


def _wraps(top, found, where, knows, odd):
    """Whether the one folder holds the class rather than one learner's own subfolders."""
    notebooks = [one for one in found if one.kind in READERS]
    names = {one.source_below for one in notebooks}
    if not names or re.fullmatch(MOODLE, top) or knows(top):
        return False
    if all(re.fullmatch(MOODLE, name) or re.fullmatch(CANVAS, name) for name in names):
        return True
    if all(map(knows, names)):
        return True
    if all(re.fullmatch(OF_WORK, name) or name in chapters() for name in names):
        return False
    alone = any(len(one.inside.parts) < 3 for one in notebooks)
    if top in (where.stem, where.resolve().name):
        return len(names) > 1 or not alone
    if len(names) < 2 or alone:
        return False
    if not re.fullmatch(OF_WORK, top):
        odd.append(
            f"{printable(top)}: each folder in it counts as one learner. If all of them belong "
            "to one "
            "learner, mark them together with other learners' folders, or with --roster"
        )
    return True


# ---------------------------------------------------------------- whose it is


def printable(text):
    """One line that no terminal or spreadsheet takes for a command; plain numbers stay."""
    text = str(text).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    text = unicodedata.normalize("NFC", text)
    text = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
    return text if re.fullmatch(r"-?\d+(\.\d+)?|-", text) else re.sub(FORMULA, r"\1\2'\3", text)


def printable_lines(text):
    """The same for a text of several lines, which no spreadsheet reads."""
    text = str(text).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )


def _name(found):
    """Give every file its learner: the folder's or the file's name, never one name for two."""
    for one, match in zip(found, _of_platforms(found)):
        _of_platform(one, match) if match else _of_its_place(one)
    sources = defaultdict(set)
    for one in found:
        sources[one.learner.casefold()].add(one.key)
    for one in found:
        if len(sources[one.learner.casefold()]) > 1:
            one.learner = printable(one.key[-1])
    _number_the_rest(found)
    files = Counter((one.key, one.own) for one in found)
    for one in found:  # two of one name in folders of the learner's own
        if files[one.key, one.own] > 1 and len(one.inside.parts) > 1:
            one.own = printable(PurePosixPath(*one.inside.parts[1:]))


def _of_platforms(found):
    """What a platform's name says, or None. Canvas gives no two files the same number."""
    canvas = [
        re.fullmatch(CANVAS, one.source) if len(one.inside.parts) == 1 else None for one in found
    ]
    files = Counter(match["file"] for match in canvas if match)
    for one, match in zip(found, canvas):
        if match and (match["file"] is None or files[match["file"]] < 2):
            yield match  # even if the learner's own part of the name looks like Moodle's
        else:
            yield re.fullmatch(MOODLE, one.source)


def _of_platform(one, match):
    """The learner, the number, and whether it is late."""
    told = match.groupdict()
    one.platform = "Canvas" if "file" in told else "Moodle"
    one.name, one.id, one.learner, one.late = (
        told["name"],
        told["id"],
        printable(told["name"]),
        bool(told.get("late")),
    )
    one.key = ("platform", f"{one.name}_{one.id}")
    own = told["own"] + one.inside.suffix if told["own"] else ""
    one.own = printable(own if own and len(one.inside.parts) == 1 else one.inside.name)


def _of_its_place(one):
    alone = len(one.inside.parts) == 1
    one.key, one.name = (
        ("file" if alone else "folder", one.inside.name if alone else one.source),
        one.source,
    )
    one.learner, one.own = printable(one.name), printable(one.inside.name)


def _number_the_rest(found):
    """Names that are still equal, once unprintable letters are gone, get a number."""
    known = defaultdict(list)
    for one in found:
        keys = known[one.learner]
        if one.key not in keys:
            keys.append(one.key)
        if place := keys.index(one.key):
            one.learner += f" ({place + 1})"
