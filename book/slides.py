"""Cut the chapters into reveal.js decks, beside their pages.

Each notebook cell says in Jupyter's own metadata what it is in the deck, `{"slideshow":
{"slide_type": "slide"}}`: a slide, a fragment that appears, notes for the speaker, or skip. A cell
without a type goes on with the slide before it. A notebook without any slide has no deck.

A slide's title and lines are written for the slide, in the metadata of its cell, so that the page
reads on; prose goes into the notes. Formulas, tables, lists, boxes, code and figures go on the
slide: what a deck shows was rendered for the page, so figures and numbers are the same.
CONTRIBUTING.md, "A deck of slides", lists everything that the metadata may hold.
"""

import dataclasses
import functools
import html
import itertools
import re
import string
import subprocess
from pathlib import Path

import sphinx_revealjs
from docutils import nodes
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.util.fileutil import copy_asset

from book import boxes, notebooks, numbers
from book.inpage import site
from book.notebooks import read_cells

LINES_OF_A_CELL = 10_000  # myst-nb: line 20003 is line 3 of the second cell
TEMPLATE = string.Template(Path(__file__).with_name("deck.html").read_text(encoding="utf-8"))
REVEAL = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
REVEAL_FILES = ("LICENSE", "dist/reveal.css", "dist/reveal.js", "plugin/notes/notes.js")
LICENCE = "CC BY 4.0"
BARE = {"formula", "listing", "printout"}  # by themselves these say a claim, but don't show it


def make_deck(app, pagename, templatename, context, doctree):
    """Write the deck of a page, if its notebook has slides."""
    cells = read_cells(app.env.doc2path(pagename)) if doctree else []
    if not has_deck(cells):
        return
    title = app.env.titles[pagename].astext()
    number = numbers.of_file(pagename)
    deck = cut(doctree, cells, app.builder)
    footer = " · ".join(filter(None, (app.config.html_title, title, LICENCE)))
    footer = boxes.subscripts(html.escape(footer))
    static = context["pathto"]("_static", resource=True)
    path = Path(app.outdir, f"{pagename}.slides.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        TEMPLATE.substitute(
            title=html.escape(title),
            book=html.escape(app.config.html_title),
            static=static,
            mathjax=f"{static}/{app.config.mathjax_path}",
            moved=site.in_deck(pagename, static),
            slides=to_the_page(
                "\n".join(
                    [title_slide(app.config, number, title, deck, static)]
                    + [
                        slide.html(place, len(deck) + 1, footer)
                        for place, slide in enumerate(with_clock(deck), 2)
                    ]
                ),
                f"{path.stem.removesuffix('.slides')}.html",
            ),
        ),
        "utf-8",
    )


def to_the_page(slides, page):
    """Redirect links within the chapter, whose headings are on the page but not in the deck."""
    return re.sub(r'(<a\b[^>]*?href=")#', rf"\g<1>{page}#", slides)


def of_cell(cell):
    """What the cell's metadata says about slides."""
    return cell.metadata.get("slideshow", {})


def has_deck(cells):
    return any(of_cell(cell).get("slide_type") == "slide" for cell in cells)


# --- from a page to its parts -----------------------------------------------


class on_slides_only(nodes.comment):  # noqa: N801 (docutils finds a visitor by this name)
    """Holds a block that isn't on the page; as in any comment, the search finds no word of it."""


def leave_out(writer, node):
    raise nodes.SkipNode


class Cells(SphinxTransform):
    """Note at each block its cell, before a transform can replace it."""

    default_priority = 1

    def apply(self):
        if not str(self.env.doc2path(self.env.docname)).endswith(".ipynb"):
            return
        cells = read_cells(self.env.doc2path(self.env.docname))
        for block in list(walk(self.document)):
            line = next((n.line for n in block.findall() if n.line), 0)
            if line < LINES_OF_A_CELL:
                raise ExtensionError(
                    f"{self.env.docname}: no cell is known for the block {block.astext()[:60]!r}"
                )
            block["cell"] = number = line // LINES_OF_A_CELL - 1
            if of_cell(cells[number]).get("only"):
                hidden = on_slides_only()
                block.replace_self(hidden)
                hidden += block


def walk(node):
    """The blocks of a page, in order; a section is its blocks."""
    for child in node.children:
        if isinstance(child, (nodes.section, on_slides_only)):
            yield from walk(child)
        elif not isinstance(child, (nodes.Invisible, nodes.Text)):
            yield child


def rendered(block, builder):
    """What the page shows for the block, unfolded."""
    block = block.deepcopy()
    for folded in list(block.findall(HideCodeCellNode)):
        folded.replace_self(folded.children)
    return builder.render_partial(block)["fragment"]


def inline(children, builder):
    """A title's or a sentence's words, as on the page."""
    words = nodes.inline("", "", *[child.deepcopy() for child in children])
    found = builder.render_partial(words)["fragment"].strip()
    return found.removeprefix("<span>").removesuffix("</span>")


def from_markdown(text):
    """A line of Markdown from metadata, as HTML."""
    parser = MarkdownIt("commonmark", {"typographer": True}).use(dollarmath_plugin)
    parser.enable("smartquotes")
    parser.add_render_rule(
        "math_inline",
        lambda self, tokens, place, *_: (
            '<span class="math notranslate nohighlight">\\('
            f'{html.escape(tokens[place].content)}\\)</span>'
        ),
    )
    return parser.renderInline(text)


# --- from the parts to slides -----------------------------------------------


@dataclasses.dataclass
class Slide:
    section: str = ""
    title: str = ""
    parts: list = dataclasses.field(default_factory=list)  # pairs of column ("" for none) and HTML
    kinds: list = dataclasses.field(default_factory=list)  # what the parts are: KINDS, or a picture
    notes: list = dataclasses.field(default_factory=list)
    optional: bool = False
    minutes: float = 0
    attributes: str = ""
    lecture: str = ""  # of the slide that only says that one begins
    cover: str = ""  # a picture for the title slide

    def add(self, text, column="", kind="words"):
        self.parts.append((column, text))
        self.kinds.append(kind)

    @property
    def alone(self):
        """What stands here with nothing to show the claim, for example "formula"."""
        shown = [kind for kind in self.kinds if kind != "words"]
        return " ".join(sorted(set(shown))) if shown and set(shown) <= BARE else ""

    def html(self, place, count, footer):
        if self.lecture:
            return (
                f'<section class="title"><div><h1>{self.lecture}</h1></div>'
                f'{footer_html(footer, place, count)}</section>'
            )
        mark = ' <span class="optional">optional</span>' * self.optional
        above = f'<p class="section">{self.section}{mark}</p>'
        aside = f'<aside class="notes">{"".join(self.notes)}</aside>'
        alone = f' data-alone="{self.alone}"' if self.alone else ""
        return (
            f"<section{self.attributes}{alone}>"
            + above * (self.title not in ("", self.section) or self.optional)
            + f'<h2>{self.title or self.section}</h2>'
            f'<div class="wall">{in_columns(self.parts)}</div>'
            f'{footer_html(footer, place, count)}' + aside * bool(self.notes) + "</section>"
        )


def in_columns(parts):
    """The parts one below another; neighbours with a column stand side by side."""
    found = []
    for has_column, group in itertools.groupby(parts, lambda part: bool(part[0])):
        group = list(group)
        if not has_column:
            found += [text for _, text in group]
            continue
        sides = (
            "".join(text for column, text in group if column == side) for side in ("left", "right")
        )
        columns = "".join(f'<div>{side}</div>' for side in sides)
        found.append(f'<div class="columns">{columns}</div>')
    return "".join(found)


def footer_html(footer, place, count):
    return f'<p class="footer"><span>{footer}</span> <span>{place} / {count}</span></p>'


def title_slide(config, number, title, deck, static):
    """The first slide: the chapter's name over its picture, or else beside the book's mark.

    The notes name the edition, because an audience has no use for a commit's name.
    """
    minutes = " and ".join(f"{time:g}" for time in lectures(deck) if time)
    count = sum(slide.optional for slide in deck)
    note = (
        f"{len(deck) + 1} slides"
        + f", {count} of them optional" * bool(count)
        + f": {minutes} minutes without those" * bool(minutes)
        + "."
    )
    chapter = f'<p class="section">Chapter {number}</p>' if number is not None else ""
    name = f'{chapter}<h1>{boxes.subscripts(html.escape(title))}</h1>'
    whose = (
        f'<p class="book">{html.escape(config.html_title)}</p>'
        f'<p>{html.escape(config.author)} · {LICENCE}</p>'
    )
    mark = f'<img class="mark" src="{static}/mark.svg" alt="" aria-hidden="true">'
    cover = next((s.cover for s in deck if s.cover), "")
    return (
        f'<section class="title pictured"><div>{name}</div>{cover}<div class="whose">{whose}</div>'
        if cover
        else f'<section class="title"><div>{name}{whose}</div>{mark}'
    ) + (
        f'<aside class="notes"><p>{note} Keys: S for these notes, O for '
        'all slides, F for the full screen, T for the timer of a vote.</p>'
        f'<p>Edition: {edition()}.</p></aside></section>'
    )


@functools.cache
def edition():
    """The date and the name of the commit, or the version if there is no git."""
    try:
        return subprocess.run(
            ["git", "log", "-1", "--format=%cs, %h"],
            cwd=notebooks.ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        text = (notebooks.ROOT / "pyproject.toml").read_text("utf-8")
        return "version " + re.search(r'version = "(.*?)"', text).group(1)


def lectures(deck):
    """The minutes of each lecture, without what is optional."""
    times = [0]
    for slide in deck:
        times += [0] * bool(slide.lecture)
        times[-1] += slide.minutes * (not slide.optional)
    return times


VOTE = re.compile(r'^predict\("(\w+)"\)', re.MULTILINE)


def timetable(path):
    """For lecturers: the minutes of each section's slides, what is voted on, and what is optional;
    a paragraph for each lecture.
    """
    tables = tables_of(path)
    names = ("First lecture", "Second lecture") if len(tables) > 1 else ("Minutes",)
    return "\n\n".join(table.paragraph(name) for name, table in zip(names, tables, strict=True))


def tables_of(path):
    """What a chapter's cells say of their minutes: a table for each lecture."""
    tables, section = [Table()], ""
    for cell in read_cells(path):
        said = of_cell(cell)
        if said.get("lecture"):
            tables.append(Table())
        if cell.cell_type == "markdown":
            headings = re.findall(r"^#{1,3} (.+?)(?: \(optional\))?$", cell.source, re.MULTILINE)
            section = [section, *headings][-1]
        if said.get("minutes"):
            tables[-1].add(section, said, VOTE.search(cell.source))
    return tables


@dataclasses.dataclass
class Table:
    """The minutes of one lecture: of sections and of votes, with what is optional apart."""

    sections: dict = dataclasses.field(default_factory=dict)
    votes: dict = dataclasses.field(default_factory=dict)
    optional: float = 0
    optional_votes: dict = dataclasses.field(default_factory=dict)

    def add(self, section, said, vote):
        minutes, optional = said["minutes"], bool(said.get("optional"))
        if optional:
            self.optional += minutes
        else:
            self.sections[section] = self.sections.get(section, 0) + minutes
        if vote:
            (self.optional_votes if optional else self.votes)[vote[1]] = minutes

    def paragraph(self, name):
        sections = "; ".join(f"{section} {minutes:g}" for section, minutes in self.sections.items())
        found = [f"**{name}.** {sections}. That makes {sum(self.sections.values()):g}."]
        if self.votes:
            found.append(f"Vote on {listed(self.votes)}.")
        if self.optional:
            found.append(f"The slides marked optional take {self.optional:g} more.")
        if self.optional_votes:
            found.append(f"If there is time, also vote on {listed(self.optional_votes)}.")
        return " ".join(found)


def listed(names):
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def with_clock(deck):
    """The slides, their notes opened by their minutes and those of the lecture gone."""
    gone = 0
    for slide in deck:
        if slide.lecture:
            gone = 0
        if slide.minutes:
            gone += slide.minutes * (not slide.optional)
            so_far = "" if slide.optional else f", {gone:g} so far"
            slide.notes.insert(0, f"<p><b>{slide.minutes:g} min{so_far}.</b></p>")
    return deck


def cut(doctree, cells, builder):
    """The deck's slides, in order."""
    deck, section, last, lines, is_closed, cover = [], "", None, None, False, ""
    for block in walk(doctree):
        number = block["cell"]
        said = of_cell(cells[number])
        kind = said.get("slide_type", "-")
        question = block.get("question")
        if isinstance(block, nodes.title):
            section = inline(block.children, builder)
        begins = (
            number != last
            and kind != "skip"
            and (
                kind in ("slide", "subslide")
                or deck
                and (question or is_closed and kind != "notes")
            )
        )
        if begins:
            if "lecture" in said:
                deck.append(Slide(lecture=from_markdown(said["lecture"])))
            deck.append(begun(said, section))
            is_closed = bool(question)
        if number != last:
            lines = said.get("lines")
        last = number
        if said.get("cover"):
            cover = cover or picture(rendered(block, builder))
        if kind == "skip" or not deck or isinstance(block, nodes.title):
            continue
        if question:
            ask(deck[-1], question)
        elif kind == "notes":
            deck[-1].notes.append(rendered(block, builder))
        else:
            put(deck[-1], block, said, lines, cells, builder)
            lines = None  # they are shown once
    if deck:
        deck[0].cover = cover
    return deck


def picture(text):
    """The picture in rendered HTML, for the title slide."""
    found = re.search(r"<img[^>]*>", text)
    return found.group() if found else ""


def begun(said, section):
    slide = Slide(
        section,
        from_markdown(said.get("title", "")),
        optional=bool(said.get("optional")),
        minutes=said.get("minutes", 0),
    )
    if said.get("notes"):
        slide.notes.append(f"<p><b>{from_markdown(said['notes'])}</b></p>")
    return slide


def put(slide, block, said, lines, cells, builder):
    """The part of the block that goes on the slide, and the rest, which goes into the notes.

    `lines` are the cell's own, if no block of it has shown them yet.
    """
    is_fragment, column = said.get("slide_type") == "fragment", said.get("column", "")
    if isinstance(block, nodes.admonition):
        block = on_the_wall(slide, block, lines, builder)
        if not len(block):
            return
    else:
        for line in lines or ():
            slide.add(step(f'<p class="claim">{from_markdown(line)}</p>', is_fragment), column)
    if "in_deck" in block:
        if block["in_deck"]:
            place_over(slide, rendered(block, builder))
        return
    if isinstance(block, nodes.paragraph) and not block.next_node(nodes.image):
        if inline(block.children, builder) != slide.title:
            slide.notes.append(rendered(block, builder))
        return
    begins = not slide.parts
    block = lit(shown(block, said.get("show")), said.get("rows"), said.get("lit"))
    text = rendered(step_by_step(block) if said.get("steps") else block, builder)
    if "build" in said and "<img" in text:
        text = built_up(text, **said["build"])
    text = give_away(text, block, cells)
    has_steps = 'class="fragment' in text or " fragment" in text
    later = is_fragment or bool(said.get("steps")) and not begins and not has_steps
    slide.add(step(named(text, said), later), column, kind_of(block, text))


def place_over(slide, place):
    """With the next key, what is moved by hand takes the place of its figure."""
    column, figure = slide.parts[-1]
    over = f'<div class="moved">{figure}<div class="fragment">{place}</div></div>'
    slide.parts[-1] = (column, over)


def kind_of(block, text):
    """What the block is for those who see it."""
    parts = {node.get("nb_element") for node in block.findall(nodes.container)}
    if isinstance(block, nodes.math_block):
        return "formula"
    if "<img" in text or "cell_code" not in parts:
        return "picture, table or list"
    return "listing" if "cell_code_source" in parts else "printout"


def named(text, said):
    """A formula, and beside it what its symbols stand for."""
    names = "".join(f"<li>{from_markdown(name)}</li>" for name in said.get("names", ()))
    return f'<div class="named"><div>{text}</div><ul>{names}</ul></div>' if names else text


def lit(block, rows, lines):
    """Only the rows of a listing from the first to the last; the lit ones stand out."""
    if not rows and not lines:
        return block
    block = block.deepcopy()
    code = next(n for n in block.findall(nodes.literal_block) if "output" not in n["classes"])
    source = code.astext().splitlines()
    first, last = rows or (1, len(source))
    text = "\n".join(source[first - 1 : last])
    new = nodes.literal_block(text, text, **code.attributes)
    if lines:
        new["highlight_args"] = {"hl_lines": [line - first + 1 for line in lines]}
        block["classes"] = [*block["classes"], "has-lit"]
    code.replace_self(new)
    return block


def step(text, is_fragment):
    return f'<div class="fragment">{text}</div>' if is_fragment else text


def on_the_wall(slide, box, lines, builder):
    """The box; if it has its own lines for the slide, these replace its prose.

    A box that opens a slide gives it its title, unless the author has written one.
    """
    box = box.deepcopy()
    prose = [p for p in box.children if isinstance(p, nodes.paragraph)]
    if lines is not None:
        slide.notes += [rendered(paragraph, builder) for paragraph in prose]
        place = box.index(prose[0]) if prose else 1
        for paragraph in prose:
            box.remove(paragraph)
        box[place:place] = [
            nodes.paragraph("", "", nodes.raw("", from_markdown(line), format="html"))
            for line in lines
        ]
    if not slide.title and not slide.parts:
        slide.title = inline(box[0].children, builder)
        box.remove(box[0])
    is_left = any(not isinstance(part, nodes.title) for part in box.children)
    return box if is_left else nodes.admonition()


def shown(block, part):
    """Only the "code" or only the "output" of a code cell, if the author says so."""
    element = {"code": "cell_code_output", "output": "cell_code_source"}
    if part is None:
        return block
    if part not in element:
        raise ExtensionError(f'a slide may show "code" or "output" of a cell; got {part!r}')
    block = block.deepcopy()
    for container in list(block.findall(nodes.container)):
        if container.get("nb_element") == element[part]:
            container.parent.remove(container)
    return block


def step_by_step(block):
    """Items, rows of a table and a cell's output appear one by one."""
    block = block.deepcopy()
    for node in block.findall(nodes.Element):
        if (
            isinstance(node, nodes.list_item)
            or isinstance(node, nodes.row)
            and isinstance(node.parent, nodes.tbody)
            or node.get("nb_element") == "cell_code_output"
        ):
            node["classes"] = [*node["classes"], "fragment"]
    return block


def built_up(text, right=None, down=None):
    """The figure uncovered bit by bit, to the right or downwards.

    The numbers are the shares of the figure at which it is cut.
    """
    image = re.search(r"<img[^>]*>", text).group()
    cuts = [0, *(right or down), 1]
    parts = []
    for start, stop in zip(cuts, cuts[1:]):
        inset = (
            f"0 {100 - 100 * stop:g}% 0 {100 * start:g}%"
            if right
            else f"{100 * start:g}% 0 {100 - 100 * stop:g}% 0"
        )
        part = image.replace("<img", f'<img style="clip-path: inset({inset})"')
        if parts:  # the alternative text should be read out only once
            part = re.sub(r'alt="[^"]*"', 'alt="" aria-hidden="true"', part)
            part = f'<div class="fragment">{part}</div>'
        parts.append(part)
    return text.replace(image, f'<div class="build">{"".join(parts)}</div>')


# --- answers ----------------------------------------------------------------


def ask(slide, question):
    """A question, a second round after a discussion, and, with the next key, its answer."""
    slide.title = boxes.words(question.text)
    slide.attributes = (
        f' class="question" data-question="{question.name}" '
        f'data-shows="{html.escape(question.shows)}"'
    )
    right = ' class="fragment custom right" data-fragment-index="1"'
    choices = "".join(
        f"<li{right * (letter == question.right_letter)}>"
        f"<span>{boxes.words(choice.text)}</span>{counts(letter.upper())}</li>"
        for letter, choice in question.lettered.items()
    )
    again = "Discuss with your neighbour, then vote again."
    slide.parts = [
        (
            "",
            '<p class="vote"><b>Vote</b> <button class="timer" type="button">Timer 1:00</button>'
            f'<span class="fragment" data-fragment-index="0">{again}</span></p>',
        ),
        ("", f'<ol type="A">{choices}</ol>'),
        (
            "",
            (
                '<div class="fragment answer" data-fragment-index="1"><p>'
                f'<b>{question.right_letter.upper()}.</b> '
                f'{boxes.words(question.lettered[question.right_letter].because)}</p></div>'
            ),
        ),
    ]
    slide.notes += [
        f"<p><b>{letter.upper()}</b> {boxes.words(choice.because)}</p>"
        for letter, choice in question.lettered.items()
        if letter != question.right_letter
    ]


def counts(letter):
    """A place for the number of hands for a choice, before and after the discussion."""
    field = '<input type="text" inputmode="numeric" maxlength="3" aria-label="{}"{}>'
    return (
        '<span class="counts">'
        + field.format(f"{letter}, first vote", "")
        + field.format(f"{letter}, second vote", ' class="fragment" data-fragment-index="0"')
        + "</span>"
    )


def give_away(text, block, cells):
    """Mark code that holds what a later exercise asks for."""
    cell = cells[block["cell"]]
    later = "\n".join(c.source for c in cells[block["cell"] :])
    names = (
        [name for name in defined(cell.source) if f'check("{name}"' in later]
        if cell.cell_type == "code"
        else []
    )
    return f'<div data-gives-away="{" ".join(names)}">{text}</div>' if names else text


def defined(source):
    """The functions whose working code the cell writes or prints."""
    written = (
        []
        if re.search(r"^ +\.\.\.$", source, re.MULTILINE)
        else (re.findall(r"^def (\w+)", source, re.MULTILINE))
    )
    return written + re.findall(r"getsource\((?:\w+\.)*(\w+)\)", source)


def copy_reveal(app, exception):
    if exception is None and app.builder.name == "html":
        for name in REVEAL_FILES:
            copy_asset(str(REVEAL / name), str(Path(app.outdir) / "_static" / "reveal"))


def setup(app):
    app.add_node(on_slides_only, html=(leave_out, None))
    app.add_transform(Cells)
    # Before book.editions, which links to the decks that are there.
    app.connect("html-page-context", make_deck, priority=800)
    app.connect("build-finished", copy_reveal)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
