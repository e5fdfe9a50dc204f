"""The pages that grading writes: for the next lecture, for the lecturer only, for each learner."""

from collections import Counter, defaultdict
from html import escape

from ..engine import catalogue
from ..engine.find import exercises
from ..engine.kinds import tasks
from ..engine.message import WIDTH
from ..model import ONE_MISTAKE
from .process import STATUSES

MOST_TOLD, MOST_LISTED = 5, 12
# what answers that aren't right have their points for, by the levels of verdict.py
WHY = {
    "nearly_right": ": all but those for other number types or for extreme inputs",
    "one_mistake": ", and a single mistake explains the others",
}
PARTLY = "What is right about your answer is worth a part of the points."
MISSING = "nothing handed in"
STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --soft: #f3f3f3; --line: #d5d5d5 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #16181b; --soft: #24272c; --line: #454a52 }
}
body { font: 1.1rem/1.55 system-ui, sans-serif; max-width: 60rem; margin: 1.5rem auto;
  padding: 0 1rem; color: var(--ink); background: var(--paper) }
h1 { line-height: 1.2; margin-bottom: .3rem } h2 { line-height: 1.3; margin: 2rem 0 .4rem }
section h2 { margin-top: 0 }
h3 { font-size: 1rem; margin: .6rem 0 .2rem }
section { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 1.2rem }
pre { font-size: .9rem; line-height: 1.4; background: var(--soft); padding: .7rem;
  border-radius: .3rem; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
pre.code { white-space: pre; overflow-wrap: normal; overflow-x: auto }
.beside { display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: .2rem 1rem }
.beside > div { min-width: 0 }
.next { border-left: .3rem solid #56b4e9; padding-left: .8rem }
.total { font-size: 1.4rem; margin: .2rem 0 1rem }
summary { cursor: pointer } details { margin: .5rem 0 }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0 }
li, p { overflow-wrap: anywhere } .wide { overflow-x: auto }
th[scope=row] { width: 14rem; max-width: 35vw } tbody + tbody { border-top: 1px solid var(--line) }
.bar { display: flex; height: 1.8rem; min-width: 9rem }
.bar span { color: #000; text-align: center; overflow: hidden;
  line-height: 1.8rem; border-right: 1px solid var(--paper) }
.correct { background: #56b4e9 } .incorrect { background: #e69f00 } .error { background: #e8a6c8 }
.not { background: #ddd }
.key { color: #000; padding: 0 .5rem; margin-right: .5rem; border-radius: .3rem;
  white-space: nowrap; display: inline-block }
h2 .key, td .key { font-size: 1rem; font-weight: normal; line-height: 1.5rem }
@media print { section { break-inside: avoid } body { font-size: 11pt } }
"""


def page(title, body):
    """The whole text. What a notebook has printed may hold letters that no file can."""
    text = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, '
        f'initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )
    return text.encode("utf-8", "replace").decode("utf-8")


def counted(number, word):
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def amount(points):
    """2 and 1.5, not 2.0 and 1.50."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def tag(status):
    return f'<span class="key {status.split()[0]}">{status}</span>'


def _code(name):
    """A name that a narrow screen may break after an underscore, and nowhere else."""
    return f"<code>{escape(name).replace('_', '_<wbr>')}</code>"


def _result(row):
    return tag("not graded" if row.get("graded") is False else row["status"])


# ---------------------------------------------------------------- a learner's page


def feedback(learner, rows, points):
    """What check says about each answer, beside the answer itself; `points` is {exercise:
    points}."""
    answers = defaultdict(list)
    for row in rows:
        if row.get("exercise"):
            answers[row["exercise"]].append(row)
    for found in answers.values():
        found.sort(key=lambda row: (-row.get("share", 0), STATUSES.index(row["status"])))
    tried = [
        name
        for name in tasks()
        if name in answers and answers[name][0]["status"] != "not attempted"
    ]
    open_ones = [
        name for name in tasks() if name not in tried and (name in answers or name in points)
    ]
    total = f"{amount(learner['points'])} of {counted(learner['of'], 'point')}"
    if not learner.get("gradable", True):
        graded = any(row.get("graded", True) and row.get("exercise") for row in rows)
        total = (
            f"{total} so far, because not everything that you handed in could be graded"
            if graded
            else "No points yet, because what you handed in could not be graded"
        )
    body = [
        f'<p class="total">{total}{", handed in late" if learner["late"] else ""}</p>',
        *_overview(tried, answers, points),
    ]
    body += _files([row for row in rows if not row.get("exercise")])
    for name in tried:
        body += _section(name, answers[name], points)
    body += _not_attempted(open_ones, answers, points) if answers else []
    return page(f"Exercises: {learner.get('called') or learner['learner']}", body)


def _earned(name, row, points):
    """The points of an answer in words, or that it is worth none."""
    if row.get("graded") is False:
        return "No points yet"
    if name not in points:
        return "No points are given for this exercise"
    return f"{amount(row.get('share', 0) * points[name])} of {counted(points[name], 'point')}"


def _overview(tried, answers, points):
    if len(tried) < 2:
        return []
    lines = [
        f'<tr><td><a href="#{name}">{_code(name)}</a></td>'
        f"<td>{_result(answers[name][0])}</td>"
        f"<td>{_earned(name, answers[name][0], points)}</td></tr>"
        for name in tried
    ]
    return [
        "<table>",
        "<tr><th>Exercise</th><th>Result</th><th>Points</th></tr>",
        *lines,
        "</table>",
    ]


def _section(name, found, points):
    """One exercise: the best answer, and, folded away, what else was handed in."""
    best, *others = found
    lines = [
        f'<section id="{name}">',
        f"<h2>{_code(name)} {_result(best)}</h2>",
        f"<p>{_earned(name, best, points)}. {_why(best)}</p>",
    ]
    if others:
        lines.append(
            f"<p>You handed in {len(found)} answers to this exercise. The best one counts, "
            f"which is this one "
            f"from {escape(best['file'])}.</p>"
        )
    lines += [*_answer(best), *_next(name, best)]
    for row in others:
        lines += [
            f"<details><summary>Your answer in {escape(row['file'])}: {row['status']}</summary>",
            f"<p>{_why(row)}</p>",
            *_answer(row),
            "</details>",
        ]
    return [*lines, "</section>"]


def _why(row):
    """Why an answer has the points that it has."""
    said = []
    if row["status"] == "correct":
        said = ["Every test case is right."] * bool(row.get("cases"))
    elif row["status"] == "incorrect" and row.get("cases"):
        said = [f"{row['cases']} test cases are right{WHY.get(row.get('level'), '')}."]
    elif row.get("message") and tasks()[row["exercise"]] != "check":
        said = [PARTLY] * (row.get("level") == ONE_MISTAKE)
    elif row["status"] == "error" and row.get("graded", True):
        said = ["Your answer could not be run to the end."] * bool(row.get("code"))
    told = row.get("told", row["note"])
    repeated = " ".join(told.split()) in " ".join((row.get("message") or "").split())
    return escape(" ".join(filter(None, [*said, "" if repeated else told])))


def _answer(row):
    """The message, and the learner's own code beside it. Only problems say more than that an answer
    is right.
    """
    call = tasks()[row["exercise"]]
    message = (
        f"<div><h3>What {call} says</h3><pre>{escape(_flowing(row['message']))}</pre></div>"
        if row.get("message")
        else ""
    )
    code = (
        f'<pre class="code" tabindex="0">{escape(row["code"].strip(chr(10)))}</pre>'
        if row.get("code")
        else ""
    )
    if row["status"] == "correct" and call == "check":
        return [f"<details><summary>Your code</summary>{code}</details>"] * bool(code)
    code = f"<div><h3>Your code</h3>{code}</div>" if code else ""
    return ['<div class="beside">', message, code, "</div>"] if message or code else []


def _flowing(text):
    """The message without the line breaks of a terminal's width: it fits a phone as well."""
    lines = []
    for line in text.split("\n"):
        before = lines[-1].rpartition("\n")[2] if lines else ""
        if (
            before
            and line
            and " " not in (before[0], line[0])
            and len(before) + len(line.split()[0]) >= WIDTH
        ):
            lines[-1] += "\n" + line
        else:
            lines.append(line)
    return "\n".join(line.replace("\n", " ") for line in lines)


def _next(name, row):
    if tasks()[name] != "check":
        return [
            f'<p class="next"><b>Next step:</b> run {_asking(name)} in the notebook to see what is '
            "asked, change your answer, and run it again.</p>"
        ] * (row["status"] in ("incorrect", "error") and row.get("graded") is not False)
    check = f"<code>check(\"{name}\", {name})</code>"
    hint = f"<code>hint(\"{name}\")</code> gives you a hint if you are stuck."
    if row.get("graded") is False:
        return []
    if row["status"] == "incorrect" or row["status"] == "error" and row.get("message"):
        return [
            f'<p class="next"><b>Next step:</b> change your code and run {check} in the '
            f'notebook again. {hint}</p>'
        ]
    if row["status"] == "error" and not row.get("code"):
        return [
            f'<p class="next"><b>Next step:</b> write <code>{name}</code> above the cell that '
            f"checks it, and run {check}. {hint}</p>"
        ]
    if row["status"] == "error":
        return [
            '<p class="next"><b>Next step:</b> restart the notebook, run it from the top, and '
            'look for the first cell that '
            f"stops or doesn't come to an end. Then run {check}. {hint}</p>"
        ]
    return []


def _asking(name):
    """The call that prints a problem."""
    return f"<code>{tasks()[name]}(\"{name}\")</code>"


def _first_step(names):
    """What to do about exercises, and about problems, that nobody has begun."""
    functions = [name for name in names if tasks()[name] == "check"]
    problems = [name for name in names if name not in functions]
    if functions:
        yield (
            "write the function under the name that the exercise asks for, and hand it to "
            f'<code>check</code>. <code>hint("{functions[0]}")</code> gives you a first step.'
        )
    if problems:
        yield f"run {_asking(problems[0])} in the notebook to see what is asked."


def _not_attempted(names, answers, points):
    if not names:
        return []
    lines = []
    for name in names:
        note = (
            escape(answers[name][0].get("told", answers[name][0]["note"]))
            if name in answers
            else "It is not in what you handed in."
        )
        worth = f", 0 of {counted(points[name], 'point')}" if name in points else ""
        lines.append(f"<li>{_code(name)}{worth}{'. ' + note if note else ''}</li>")
    return [
        "<section>",
        "<h2>Not attempted</h2>",
        "<ul>",
        *lines,
        "</ul>",
        *(f'<p class="next"><b>Next step:</b> {step}</p>' for step in _first_step(names)),
        "</section>",
    ]


def _files(rows):
    """What could not be read or run, as a whole or in part."""
    if not rows:
        return []
    lines = [
        f"<li>{escape(row['file'])}: {escape(row.get('told', row['note']))}</li>" for row in rows
    ]
    return [
        "<section>",
        "<h2>Your files</h2>",
        "<ul>",
        *lines,
        "</ul>",
        f'<p class="next"><b>Next step:</b> {_next_for_files(rows)}</p>',
        "</section>",
    ]


def _next_for_files(rows):
    if all(row.get("graded", True) for row in rows):  # single cells were left out
        return (
            "change or delete what is named here, then restart the notebook and run it from the "
            "top. All that could be run without it has been graded."
        )
    return (
        "open the notebook, restart it and run it from the top, save it, and hand in the file "
        "that ends in .ipynb."
    )


# ---------------------------------------------------------------- the class's page


def summary(rows, graded, handed_in, learners):
    """The page for the next lecture: what the class got right and wrong. Names are folded away."""
    answers = [row for row in rows if row.get("exercise") and row.get("checked", True)]
    body = [
        f"<p>{counted(len({row['learner'] for row in rows}), 'learner')}, "
        f"{counted(len(graded), 'file')}, "
        f"{counted(len(answers), 'answer')}.</p>"
    ]
    if len(graded) < handed_in:
        body.append(f"<p>Grading was stopped: {handed_in - len(graded)} more are not included.</p>")
    return page(
        "What the class handed in",
        body + [*_missing(learners), *_chart(answers), *_by_mistake(answers), *_points(learners)],
    )


def notes(rows, graded, odd, learners=()):
    """The page only for the lecturer: what could not be run, reached out of its sandbox, or is
    alike.
    """
    body = [
        *_unplaced(learners),
        *_missing(learners, "open"),
        *_not_run(rows, odd),
        *_reached(graded),
        *_alike(rows),
    ]
    return page("Only for the lecturer", body or ["<p>There is nothing to report.</p>"])


def _missing(learners, state=""):
    """Who is on the roster and has handed nothing in; folded on the page that a class may see."""
    missing = [one["learner"] for one in learners if one["note"] == MISSING]
    if not missing:
        return []
    names = "".join(f"<li>{escape(name)}</li>" for name in missing)
    return [
        f"<details {state}><summary>{len(missing)} on the roster handed nothing "
        f"in</summary><ul>{names}</ul></details>"
    ]


def _unplaced(learners):
    lines = [
        f"<li>{escape(one['learner'])} {escape(one['unplaced'])}</li>"
        for one in learners
        if "unplaced" in one
    ]
    return (
        [
            "<h2>Who has no row in import.csv</h2>",
            "<p>Their grades are in learners.csv.</p>",
            "<ul>",
            *lines,
            "</ul>",
        ]
        if lines
        else []
    )


def _chart(answers):
    key = "".join(map(tag, STATUSES))
    lines = ["<h2>Exercise by exercise</h2>", f"<p>{key}</p>", "<table>"]
    for name in tasks():
        best = defaultdict(list)
        for row in (row for row in answers if row["exercise"] == name):
            best[row["learner"]].append(row["status"])
        if best:
            count = Counter(min(each, key=STATUSES.index) for each in best.values())
            bars = "".join(
                f'<span class="{status.split()[0]}" style="flex:{count[status]}" title="{status}">'
                f"{count[status]}</span>"
                for status in STATUSES
                if count[status]
            )
            lines.append(
                f'<tr><th scope="row">{_code(name)}</th><td><div class="bar">{bars}</div></td></tr>'
            )
    return [
        *lines,
        "</table>",
        "<p>Each learner counts once: if several notebooks have the exercise, the best answer "
        "counts.</p>",
    ]


def _by_mistake(answers):
    """Each mistake once, with the exercises where it was made. Mistakes with equal counts are all
    shown, or none."""
    made, tried = defaultdict(lambda: defaultdict(set)), defaultdict(set)
    for row in answers:
        if row["status"] != "not attempted":
            tried[row["exercise"]].add(row["learner"])
        for name in row["named"]:
            made[name][row["exercise"]].add(row["learner"])
    order, who = list(tasks()), {name: set().union(*made[name].values()) for name in made}
    ranked = sorted(
        made, key=lambda name: (-len(who[name]), min(map(order.index, made[name])), name)
    )
    if not ranked:
        return ["<h2>The mistakes made most</h2>", "<p>No mistake was named.</p>"]
    lines = [
        "<h2>The mistakes made most</h2>",
        '<div class="wide"><table>',
        "<thead><tr><th>Mistake</th><th>Exercise</th><th>Learners</th></tr></thead>",
    ]
    sizes = [len(who[name]) for name in ranked]
    listed = ranked[: _whole(sizes, MOST_LISTED)]
    for name in listed:
        lines.append("<tbody>")
        for n, exercise in enumerate(sorted(made[name], key=order.index)):
            first = f'<td rowspan="{len(made[name])}">{escape(name)}</td>' if n == 0 else ""
            lines.append(
                f"<tr>{first}<td>{_code(exercise)}</td><td>{len(made[name][exercise])} of "
                f"{len(tried[exercise])}</td></tr>"
            )
        lines.append("</tbody>")
    lines.append("</table></div>")
    if len(ranked) > len(listed):
        lines.append(
            f"<p>{len(ranked) - len(listed)} more, each made by "
            f"{counted(sizes[len(listed)], 'learner')} at most, are "
            "in grades.csv.</p>"
        )
    told = [
        line
        for name in ranked[: _whole(sizes, MOST_TOLD)]
        for line in _told(name, sorted(made[name], key=order.index))
    ]
    return lines + (["<h2>What to say about them</h2>", *told] if told else [])


def _whole(sizes, most):
    """How many of a falling list to show: about `most`, with all or none of equal ones."""
    count = len(sizes)
    while count > most and (fewer := sizes.index(sizes[count - 1])):
        count = fewer
    return count


def _known(exercise, name):
    """(why it is a mistake, the question, the part of the book) in the catalogue, or None."""
    first = name.split(" or ")[0]
    known = [
        (mistake, exercises()[exercise].part)
        for mistake in catalogue.mistakes(exercises()[exercise])
    ]
    known += [(mistake, exercises()["dot_score"].part) for mistake in catalogue.ANYWHERE]
    return next(
        ((mistake.why, mistake.ask, part) for mistake, part in known if mistake.name == first), None
    )


def _told(name, made_in):
    """The catalogue's words on a mistake, and its page: once for all exercises that share them."""
    alike = defaultdict(list)
    for exercise in made_in:
        if known := _known(exercise, name):
            alike[known].append(_code(exercise))
    return [
        f'<p><b>{escape(name)}</b> ({", ".join(where)}; in the book: "Mistakes: '
        f'{part[0].lower()}{escape(part[1:])}"). '
        f"{escape(why)} <i>Ask the room:</i> {escape(ask)}</p>"
        for (why, ask, part), where in alike.items()
    ]


def _points(learners):
    """How many of the graded learners got how much, in tenths of all points."""
    tenths = Counter(
        min(int(10 * one["points"] / one["of"]), 9)
        for one in learners
        if one["of"] and one.get("gradable", True) and one["note"] != MISSING
    )
    if not tenths:
        return []
    most = max(tenths.values())
    lines = ["<h2>Points</h2>", "<table>"]
    for n in range(10):
        bar = (
            f'<span class="correct" style="flex:{tenths[n]}">{tenths[n]}</span><span '
            f'style="flex:{most - tenths[n]}">'
            "</span>"
            if tenths[n]
            else ""
        )
        lines.append(
            f'<tr><th scope="row">{10 * n} to {10 * n + 10} %</th><td><div '
            f'class="bar">{bar}</div></td></tr>'
        )
    return [*lines, "</table>"]


def _alike(rows):
    """Answers that are the same except for names, notes and spaces. They are not judged, because
    some exercises have only one answer.
    """
    groups = defaultdict(set)
    for row in rows:
        if row.get("fingerprint"):
            groups[row["exercise"], row["fingerprint"]].add(row["learner"])
    found = [(name, sorted(who)) for (name, _), who in groups.items() if len(who) > 1]
    if not found:
        return []
    order = list(tasks())
    lines = [
        f"<li>{_code(name)}: {escape(', '.join(who))}</li>"
        for name, who in sorted(found, key=lambda pair: (order.index(pair[0]), pair[1]))
    ]
    return [
        "<h2>Alike but for names</h2>",
        "<p>The same function under other names, notes or spaces. That is no "
        "proof of anything: for some exercises there is one obvious answer. Very short ones are "
        "not listed.</p>",
        "<ul>",
        *lines,
        "</ul>",
    ]


def _reached(graded):
    lines = [
        f"<li>{escape(one.hand_in.learner)}, {escape(one.hand_in.where)}: tried to "
        f"{escape('; '.join(one.reached))}"
        "</li>"
        for one in graded
        if one.reached
    ]
    return (
        [
            "<h2>What reached out of its sandbox</h2>",
            "<p>All of it was refused. Some is harmless, such as a file of "
            "the learner's own that was not handed in.</p>",
            "<ul>",
            *lines,
            "</ul>",
        ]
        if lines
        else []
    )


def _not_run(rows, odd):
    failed = [
        ": ".join(
            filter(None, [f"{row['learner']}, {row['notebook']}", row.get("exercise"), row["note"]])
        )
        for row in rows
        if not row.get("exercise") or row.get("graded") is False
    ]
    lines = [f"<li>{escape(line)}</li>" for line in [*failed, *odd][: 5 * MOST_LISTED]]
    more = len(failed) + len(odd) - len(lines)
    return (
        ["<h2>What could not be run</h2>", "<ul>", *lines, "</ul>"]
        + [f"<p>{more} more.</p>"] * bool(more)
        if lines
        else []
    )
