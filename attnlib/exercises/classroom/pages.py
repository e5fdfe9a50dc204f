"""The pages that grading writes: for the next lecture, for the lecturer alone, and for each learner."""

from collections import Counter, defaultdict
from html import escape

from ..engine import catalogue
from ..engine.find import exercises
from .process import STATUSES

MOST_TOLD, MOST_LISTED = 5, 12
STYLE = """
body { font: 1.15rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #111;
  background: #fff }
pre { white-space: pre-wrap; background: #f3f3f3; padding: .7rem; border-radius: .3rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .2rem .6rem .2rem 0 }
.bar { display: flex; height: 1.8rem; min-width: 20rem } .bar span { color: #000; text-align: center; overflow: hidden;
  line-height: 1.8rem; border-right: 1px solid #fff }
.correct { background: #56b4e9 } .incorrect { background: #e69f00 } .error { background: #e8a6c8 }
.not { background: #ddd }
.key { padding: 0 .5rem; margin-right: .5rem }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee } pre { background: #222 } }
"""


def page(title, body):
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width">\n<title>{escape(title)}</title>\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n" + "\n".join(body)
            + "\n</body>\n</html>\n")


def counted(number, word):
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def amount(points):
    """2 and 1.5, not 2.0 and 1.50."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


# ---------------------------------------------------------------- a learner's page

def feedback(learner, rows, points):
    """What check says of each answer; `points` is {exercise: points}."""
    body = [f"<p>{amount(learner['points'])} of {counted(learner['of'], 'point')}"
            f"{', handed in late' if learner['late'] else ''}.</p>"]
    for row in rows:
        name = row.get("exercise")
        worth = f", {amount(row['share'] * points[name])} of {amount(points[name])}" if name in points else ""
        body.append(f"<h2>{escape(name)}: {row['status']}{worth}</h2>" if name else "<h2>A file</h2>")
        share = f"{row['cases']} cases are right." if row.get("share") and row["status"] != "correct" else ""
        said = " ".join(filter(None, [share, row["note"]]))
        body.append(f"<p>{escape(': '.join(filter(None, [row['notebook'], said])))}</p>")
        if row.get("message"):
            body.append(f"<pre>{escape(row['message'])}</pre>")
    return page(f"Exercises: {learner['learner']}", body)


# ---------------------------------------------------------------- the class's page

def summary(rows, graded, handed_in, learners):
    """The page for the next lecture: what the class got right and made wrong. It names nobody."""
    answers = [row for row in rows if row.get("exercise")]
    body = [f"<p>{counted(len({row['learner'] for row in rows}), 'learner')}, {counted(len(graded), 'file')}, "
            f"{counted(len(answers), 'answer')}.</p>"]
    if len(graded) < handed_in:
        body.append(f"<p>Grading was stopped: {handed_in - len(graded)} more are not in it.</p>")
    return page("What the class handed in", body + [*_chart(answers), *_by_mistake(answers), *_points(learners)])


def notes(rows, graded, odd):
    """The page for the lecturer alone: what could not be run, reached out of its sandbox, or is alike."""
    body = [*_not_run(rows, odd), *_reached(graded), *_alike(rows)]
    return page("For the lecturer alone", body or ["<p>Nothing to be said.</p>"])


def _chart(answers):
    key = "".join(f'<span class="key {status.split()[0]}">{status}</span>' for status in STATUSES)
    lines = ["<h2>Exercise by exercise</h2>", f"<p>{key}</p>", "<table>"]
    for name in exercises():
        best = defaultdict(list)
        for row in (row for row in answers if row["exercise"] == name):
            best[row["learner"]].append(row["status"])
        if best:
            count = Counter(min(each, key=STATUSES.index) for each in best.values())
            bars = "".join(f'<span class="{status.split()[0]}" style="flex:{count[status]}" title="{status}">'
                           f"{count[status]}</span>" for status in STATUSES if count[status])
            lines.append(f'<tr><th scope="row"><code>{name}</code></th><td><div class="bar">{bars}</div></td></tr>')
    return [*lines, "</table>", "<p>Each learner counts once: with the best, where several notebooks have the "
                                "exercise.</p>"]


def _by_mistake(answers):
    made, tried = defaultdict(set), defaultdict(set)
    for row in answers:
        if row["status"] != "not attempted":
            tried[row["exercise"]].add(row["learner"])
        for mistake in row["named"]:
            made[row["exercise"], mistake].add(row["learner"])
    order = list(exercises())
    ranked = sorted(made, key=lambda pair: (-len(made[pair]), order.index(pair[0]), pair[1]))
    if not ranked:
        return ["<h2>The mistakes made most</h2>", "<p>No mistake was named.</p>"]
    lines = ["<h2>The mistakes made most</h2>", "<table>", "<tr><th>mistake</th><th>exercise</th><th>learners</th></tr>"]
    lines += [f"<tr><td>{escape(mistake)}</td><td><code>{exercise}</code></td><td>{len(made[exercise, mistake])} of "
              f"{len(tried[exercise])}</td></tr>" for exercise, mistake in ranked[:MOST_LISTED]]
    lines.append("</table>")
    if len(ranked) > MOST_LISTED:
        lines.append(f"<p>{len(ranked) - MOST_LISTED} more are in grades.csv.</p>")
    told = [line for pair in ranked[:MOST_TOLD] for line in _told(*pair)]
    return lines + (["<h2>What to say about them</h2>", *told] if told else [])


def _told(exercise, name):
    """The catalogue's words on a mistake, and its page."""
    first = name.split(" or ")[0]
    known = [(mistake, exercises()[exercise].part) for mistake in catalogue.mistakes(exercises()[exercise])]
    known += [(mistake, exercises()["dot_score"].part) for mistake in catalogue.ANYWHERE]
    for mistake, part in known:
        if mistake.name == first:
            return [f"<p><b>{escape(name)}</b> (<code>{exercise}</code>; in the book: \"Mistakes: {part[0].lower()}"
                    f"{escape(part[1:])}\"). {escape(mistake.why)} <i>Ask the room:</i> {escape(mistake.ask)}</p>"]
    return []


def _points(learners):
    """How many learners got how much, in tenths of all points."""
    tenths = Counter(min(int(10 * one["points"] / one["of"]), 9) for one in learners if one["of"])
    if not tenths:
        return []
    most = max(tenths.values())
    lines = ["<h2>Points</h2>", "<table>"]
    for n in range(10):
        bar = f'<span class="correct" style="flex:{tenths[n]}">{tenths[n]}</span><span style="flex:{most - tenths[n]}">' \
              "</span>" if tenths[n] else ""
        lines.append(f'<tr><th scope="row">{10 * n} to {10 * n + 10} %</th><td><div class="bar">{bar}</div></td></tr>')
    return [*lines, "</table>"]


def _alike(rows):
    """Answers that are one but for names, notes and spaces. They are not judged: some exercises have one answer."""
    groups = defaultdict(set)
    for row in rows:
        if row.get("fingerprint"):
            groups[row["exercise"], row["fingerprint"]].add(row["learner"])
    found = [(name, sorted(who)) for (name, _), who in groups.items() if len(who) > 1]
    if not found:
        return []
    order = list(exercises())
    lines = [f"<li><code>{name}</code>: {escape(', '.join(who))}</li>"
             for name, who in sorted(found, key=lambda pair: (order.index(pair[0]), pair[1]))]
    return ["<h2>Alike but for names</h2>", "<p>The same function under other names, notes or spaces. That is no "
            "proof of anything: for some exercises there is one obvious answer. Very short ones are not listed.</p>",
            "<ul>", *lines, "</ul>"]


def _reached(graded):
    lines = [f"<li>{escape(one.hand_in.learner)}, {escape(one.hand_in.where)}: tried to {escape('; '.join(one.reached))}"
             "</li>" for one in graded if one.reached]
    return ["<h2>What reached out of its sandbox</h2>", "<p>All of it was refused. Some is harmless, such as a file of "
            "the learner's own that was not handed in.</p>", "<ul>", *lines, "</ul>"] if lines else []


def _not_run(rows, odd):
    failed = [f"{row['learner']}, {row['notebook']}: {row['note']}" for row in rows if not row.get("exercise")]
    lines = [f"<li>{escape(line)}</li>" for line in [*failed, *odd][:5 * MOST_LISTED]]
    more = len(failed) + len(odd) - len(lines)
    return ["<h2>What could not be run</h2>", "<ul>", *lines, "</ul>"] + [f"<p>{more} more.</p>"] * bool(more) \
        if lines else []
