"""Lab sheets: one for each chapter with exercises, true to it, and no longer than an hour."""

import re

import nbformat
import pytest
import yaml

from attncourse.exercises.engine.find import exercises
from book import handouts
from book.notebooks import CHAPTERS, ROOT

LABS = CHAPTERS / "labs"
TAUGHT = handouts.with_exercises()
NAMED = re.compile(r"`(\w+)` \((\d+\.\d+)\)")
HOUR = 60


def parts(text):
    """{heading: what stands below it}, with what comes before the first heading under ""."""
    pieces = re.split(r"^## (.*)\n", "## \n" + text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2]))


def numbered(path):
    """{exercise: its number in the chapter}, and the chapter's headings."""
    numbers, headings, last = {}, [], None
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            headings += re.findall(r"^##+ (.*)", cell.source, re.MULTILINE)
            last = (re.findall(r"\*\*Exercise (\d+\.\d+):", cell.source) or [last])[-1]
        else:
            checked = handouts.CHECKED.findall(cell.source)
            numbers |= {name: last for name in checked if name in exercises()}
    return numbers, headings


def faults(text, path):
    """What is wrong with the sheet of a chapter, in words."""
    numbers, headings = numbered(path)
    said = parts(text)
    wanted = ["", f"{HOUR} minutes", "If you are stuck", "Hand in", "If you finish early"]
    if list(said) != wanted:
        return [f"its parts are {list(said)}"]
    head, hour, stuck, hand_in, early = said.values()
    rows = re.findall(r"^\|(.*)\|$", hour, re.MULTILINE)
    found = [f"not two cells: {row}" for row in rows if row.count("|") != 1]
    minutes = [int(row.split("|")[0]) for row in rows[2:] if row.split("|")[0].strip().isdigit()]
    if len(minutes) != len(rows) - 2 or not 0 < sum(minutes) <= HOUR:
        found.append(f"{sum(minutes)} minutes in {len(minutes)} of {len(rows) - 2} steps")
    named = NAMED.findall(hour + early)
    if sorted(named) != sorted(numbers.items()):
        found.append(f"names {named} and not {numbers}")
    in_hour = sorted(name for name, _ in NAMED.findall(hour))
    if not in_hour:
        found.append("no exercise within the hour")
    if sorted(re.findall(r'^- `hint\("(\w+)"\)`\. ', stuck, re.MULTILINE)) != in_hour:
        found.append("not a hint for each exercise of the hour")
    if sorted(set(re.findall(r"`(\w+)`", hand_in)) - {"check"}) != in_hour:
        found.append("hands in something else")
    read = re.findall(r"up to the end of \*(.+?)\*[.;]", head)
    if len(read) != 1 or read[0] not in headings:
        found.append(f"reads up to {read}")
    return found + [f"a link leads nowhere: {link}" for link in broken(text)]


def broken(text):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    return [link for link in links if not (LABS / link).exists()]


def test_every_chapter_with_exercises_has_a_sheet_in_the_contents():
    stems = {path.stem for path in TAUGHT}
    assert {path.stem for path in LABS.glob("*.md")} == stems | {"index"}
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    (folded,) = (
        [section["file"] for section in page["sections"]]
        for part in toc["parts"]
        for page in part["chapters"]
        if page["file"] == "chapters/labs/index"
    )
    assert folded == [f"chapters/labs/{stem}" for stem in sorted(stems)]


@pytest.mark.parametrize("path", TAUGHT, ids=[path.stem for path in TAUGHT])
def test_a_sheet_is_true_to_its_chapter(path):
    text = (LABS / f"{path.stem}.md").read_text("utf-8")
    assert faults(text, path) == []
    assert f"(../{path.name})" in text and len(text.splitlines()) <= 45


def hours(plans):
    """{week: the minutes that the sheets give its lab's exercises}, in the order of the plans."""
    minutes = {}
    for sheet in LABS.glob("[0-9]*.md"):
        for row in re.findall(r"^\| (\d+) \|(.*)\|$", sheet.read_text("utf-8"), re.MULTILINE):
            minutes |= {name: int(row[0]) for name, _ in NAMED.findall(row[1])}
    labs = re.findall(r"^- \*\*(Week \d+).*Lab: (.*?)(?:\. Hand in.*)?$", plans, re.MULTILINE)
    named = [(week, re.findall(r"`(\w+)`", lab)) for week, lab in labs]
    return [(week, sum(minutes.get(name, 100) for name in names)) for week, names in named if names]


def test_the_labs_of_plans_take_their_time_from_the_sheets():
    plans = (CHAPTERS / "for_lecturers" / "index.md").read_text("utf-8")
    found = hours(plans)
    assert len(found) == 20
    shared = [("Week 8", 30)]  # the rest of the hour is for the projects
    assert [lab for lab in found if not 50 <= lab[1] <= HOUR] == shared
    assert ("Week 2", 130) in hours(plans.replace("`av_product`, `contributions`", "`softcap`"))


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("| 20 | `raw_scores`", "| 21 | `raw_scores`", "61 minutes"),
        ("| 20 | `raw_scores`", "| 20 min | `raw_scores`", "in 5 of 6 steps"),
        ("`raw_scores` (1.6)", "`raw_scores` (1.5)", "names"),
        ("`cosine_scores` (1.3)", "cosines", "names"),
        ('- `hint("dot_score")`. ', "- ", "not a hint"),
        ("`nearest_key`, `score_variance`", "`nearest_key`", "hands in"),
        ("up to the end of *Batches", "up to the end of *Benches", "reads up to"),
        ("(../01_raw_scores.ipynb)", "(../01_scores.ipynb)", "leads nowhere"),
        ("## Hand in", "## Give in", "its parts are"),
        ("with queries down.", "with | queries down.", "not two cells"),
    ],
)
def test_a_wrong_sheet_is_found(old, new, said):
    text = (LABS / "01_raw_scores.md").read_text("utf-8")
    assert old in text
    assert said in " ".join(faults(text.replace(old, new), CHAPTERS / "01_raw_scores.ipynb"))
