"""What the build adds around the pages.

A line of links below a chapter's title, the versions below its last paragraph, the whole book as
one archive; and, if the environment variable BOOK_EDITION is "student", the book without its
solutions and without the page for lecturers.

A chapter may need code that answers one of its exercises. Such a cell has the tag
"answers-an-exercise": the students' edition, and the notebooks that its pages offer, have it
packed, so that it runs but cannot be read. The outputs of a cell with the tag "prints-an-answer"
are left out there.
"""

import json
import os
import re
import symtable
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml
from docutils import nodes
from PIL import Image
from sphinx.transforms import SphinxTransform

from attncourse import packed
from attncourse.exercises.engine import catalogue
from attncourse.exercises.engine.questions import by_chapter
from book import address, pins, slides
from book.inpage import bundle

LECTURERS = "chapters/for_lecturers/"
SOLUTIONS = "chapters/solutions/"
LEFT_OUT = ("solutions/", "for_lecturers")  # where links of the students' edition do not lead
BEGINNINGS = ("Solutions", "For lecturers")  # of the paragraphs and list items about them
ANSWERS, PRINTS = "answers-an-exercise", "prints-an-answer"
SHOWN = {"numpy": "NumPy", "torch": "torch", "matplotlib": "Matplotlib"}
# What `python3 run.py slides` has printed is linked here (book/prints.py).
PRINTED = "<!-- printed {}: {} -->"
# On a page for lecturers: the minutes of a chapter's slides, and its questions.
TIMED = re.compile(r"<!-- minutes (\w+) -->")
ASKED = re.compile(r"<!-- questions (\w+) -->")
# On the pages in chapters/mistakes: those of a part of the book.
CATALOGUE = re.compile(r"<!-- catalogue (.+) -->")


def is_student(app):
    return os.environ.get("BOOK_EDITION") == "student"


# --- the student edition ----------------------------------------------------


def leave_solutions_out(app, config):
    """Replace the book's table of contents by one without them."""
    if not is_student(app):
        return
    toc = yaml.safe_load(Path(app.srcdir, "_toc.yml").read_text("utf-8"))
    for part in toc["parts"]:
        part["chapters"] = [
            chapter
            for chapter in part["chapters"]
            if not chapter["file"].startswith((SOLUTIONS, LECTURERS))
        ]
    toc["parts"] = [part for part in toc["parts"] if part["chapters"]]
    path = Path(app.outdir).parent / "toc_without_solutions.yml"
    path.write_text(yaml.safe_dump(toc, sort_keys=False), "utf-8")
    config.external_toc_path = str(path)


class WithoutSolutions(SphinxTransform):
    """No paragraph or list item about what is left out, and no link to it."""

    default_priority = 205

    def apply(self):
        if not is_student(self.app):
            return
        about = [
            node
            for node in self.document.findall(
                lambda n: isinstance(n, (nodes.paragraph, nodes.list_item))
            )
            if node.astext().startswith(BEGINNINGS)
        ]
        for node in about:
            if node.parent and node in node.parent:
                node.parent.remove(node)
        for link in list(self.document.findall(nodes.Element)):
            if any(place in str(link.get("reftarget", "")) for place in LEFT_OUT):
                link.replace_self(link.children)


def pack_answers(app, docname, source):
    """In the text of a notebook, before it is parsed."""
    if is_student(app) and str(app.env.doc2path(docname)).endswith(".ipynb"):
        source[0] = without_answers(source[0])


def without_answers(text):
    """The notebook with its tagged cells packed; as many cells as before, each in its place."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags", ())
        if ANSWERS in tags:
            source = "".join(cell["source"])
            cell["source"] = packed.as_cell(source, defined_in(source)).splitlines(True)
            cell["metadata"]["tags"] = sorted({*tags, "hide-input"})
        if PRINTS in tags:
            cell["outputs"] = []
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def defined_in(source):
    """The names that a cell gives a meaning."""
    symbols = symtable.symtable(source, "<cell>", "exec").get_symbols()
    return sorted(one.get_name() for one in symbols if one.is_assigned() or one.is_imported())


# --- what the pages say about themselves ------------------------------------


def add_lines(app, pagename, templatename, context, doctree):
    body = context.get("body")
    if not body or doctree is None:
        return
    files = links(app, pagename, context["pathto"])
    if files is not None:
        body = body.replace("</h1>", "</h1>\n" + files, 1)
    if has_outputs(app, pagename):
        body += f'\n<p class="versions">{versions()}</p>'
    context["body"] = body


def links(app, pagename, pathto):
    """Links below the title: the same page in other forms."""
    if pagename == app.config.master_doc:
        archive = pathto(archive_name(), resource=True)
        found = (
            f'<a href="{archive}" download>The whole book to read '
            'offline (zip)</a>'
            f'<a href="{pathto("licences")}">Licences</a>'
        )
    elif is_chapter(pagename):
        found = deck_links(app, pagename, "Slides", "PDF of the slides")
        name = pagename.rsplit("/", 1)[1]
        found += printed(name, "", "PDF") + printed(name, ".handout", "Handout (PDF)")
    elif pagename.startswith(LECTURERS) and is_chapter(taught := taught_on(pagename)):
        found = deck_links(app, taught, "Slides", "PDF of the slides", "../")
        found += printed("../" + taught.rsplit("/", 1)[1], ".handout", "Handout (PDF)")
    else:
        return None
    return f'<p class="page-files">{found}</p>'


def taught_on(pagename):
    """The chapter that a lecturers' page is about."""
    return pagename.replace(LECTURERS, "chapters/")


def deck_links(app, pagename, text, text_of_pdf, up=""):
    """Links to the deck and, if it exists, to its PDF; `up` leads to the chapters' folder."""
    if not slides.has_deck(slides.read_cells(app.env.doc2path(pagename))):
        return ""
    name = up + pagename.rsplit("/", 1)[1]
    return f'<a href="{name}.slides.html">{text}</a>' + printed(name, ".slides", text_of_pdf)


def printed(name, ending, text):
    return PRINTED.format(name + ending + ".pdf", text)


def is_chapter(pagename):
    return re.fullmatch(r"chapters/\d\d_\w+", pagename) is not None


def has_outputs(app, pagename):
    return str(app.env.doc2path(pagename)).endswith(".ipynb")


def versions():
    """The pins that `python3 run.py test` compares the outputs under."""
    held = pins.held()
    shown = [f"{SHOWN[name]} {held[name]}" for name in SHOWN]
    return f"Outputs made with {', '.join(shown)}."


def put_questions(app, docname, source):
    """The questions for the lecture room, from the same entries as in the chapters; and how long
    each section's slides take, as they say themselves.
    """
    if docname.startswith(LECTURERS):
        source[0] = ASKED.sub(
            lambda found: "\n".join(map(as_item, by_chapter()[found.group(1)])), source[0]
        )
        source[0] = TIMED.sub(
            lambda found: slides.timetable(Path(app.srcdir, "chapters", found[1] + ".ipynb")),
            source[0],
        )


def put_catalogue(app, docname, source):
    """The mistakes of a part of the book, from the exercises' own pages."""
    found = CATALOGUE.search(source[0])
    if found:
        for page in Path(app.srcdir, "attncourse", "exercises").glob("*/**/*.md"):
            app.env.note_dependency(str(page))
        source[0] = source[0].replace(found[0], catalogue.body(found[1]))


def as_item(question):
    """The question, its right choice, and what each wrong one reveals."""
    letter = question.right_letter
    right = question.lettered[letter]
    wrong = "".join(
        f'\n  - {other}) "{choice.text}" {choice.because}'
        for other, choice in question.lettered.items()
        if other != letter
    )
    return f"- *{question.text}* **{letter}) {right.text}** {right.because}{wrong}"


# --- the files --------------------------------------------------------------


def archive_name():
    title = address.configured()["title"]
    return re.sub(r"\W+", "-", title.lower()) + ".zip"


def finish(app, exception):
    if exception is None and app.builder.name == "html":
        drop_what_no_page_loads(Path(app.outdir) / "_static", Path(app.config.mathjax_path).name)
        if is_student(app):
            pack_downloads(Path(app.outdir) / "_sources")
        leave_figures_out(Path(app.outdir) / "_sources")
        lighten_figures(Path(app.outdir))
        pack(Path(app.outdir), archive_name())


# Parts of MathJax that the one file which pages load holds already, and forms of formulas that no
# page has.
IN_ONE_FILE = (
    "input/asciimath.js",
    "input/mml/extensions/mml3.js",
    "input/mml/extensions/mml3.sef.json",
    "input/tex-base.js",
    "input/tex-full.js",
    "input/tex.js",
    "input/tex/extensions/all-packages.js",
    "output/chtml.js",
    "output/chtml/fonts/tex.js",
    "ui/menu.js",
)


def drop_what_no_page_loads(static, mathjax):
    # The icons come from the theme's fonts; this would load them once more.
    (static / "scripts" / "fontawesome.js").write_text("")
    formulas = static / "mathjax"
    unused = [file for file in formulas.glob("*.js") if file.name != mathjax]  # one holds them all
    unused += [
        file
        for file in (formulas / "sre/mathmaps").glob("*.json")
        if file.stem not in ("base", "en")
    ]  # languages of speech
    if formulas.exists():
        unused += [formulas / name for name in IN_ONE_FILE]
    # browsers that know this theme's other styles take the icons as WOFF2
    unused += (static / "vendor/fontawesome/webfonts").glob("*.ttf")
    # the theme's words in other languages, which were put into the pages when they were built
    unused += (file for file in (static / "locales").rglob("*") if file.is_file())
    for file in [*unused, *static.rglob("*.map")]:
        file.unlink()


def pack_downloads(sources):
    for path in sources.rglob("*.ipynb"):
        path.write_text(without_answers(path.read_text(encoding="utf-8")), encoding="utf-8")


def leave_figures_out(sources):
    """Remove figures from the notebooks to download: they are a quarter of the site, its pages show
    them, and running the notebook draws them again.
    """
    for path in sources.rglob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            for output in cell.get("outputs", ()):
                output.get("data", {}).pop("image/png", None)
        path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")


def lighten_figures(folder):
    """Figures as WebP, which shows the same pixels in two thirds of the bytes."""

    def convert(path):
        with Image.open(path) as image:
            pixels = image.convert("RGBA")
        pixels.save(path.with_suffix(".webp"), lossless=True, quality=50, method=2)
        path.unlink()

    figures = sorted((folder / "_images").glob("*.png"))
    with ThreadPoolExecutor() as pool:
        list(pool.map(convert, figures))
    names = {path.name for path in figures}

    def renamed(found):
        return f"{found[1]}.webp" if Path(found[0]).name in names else found[0]

    for page in folder.rglob("*.html") if names else ():
        text = page.read_text(encoding="utf-8")
        new = re.sub(r"(_images/[^\s\"'<>]+?)\.png", renamed, text)
        if new != text:
            page.write_text(new, encoding="utf-8")


def pack(folder, name):
    """The folder's files in one archive, below one folder of its name.

    Python for the pages is left out, because a page read from a file cannot start it.
    """
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix != ".zip"
        and path.name != ".buildinfo"
        and path.parent.name != bundle.name()
    )
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files:
            inside = Path(name).stem / path.relative_to(folder)
            if path.name == "index.html":
                archive.writestr(str(inside), without_archive(path))
            else:
                archive.write(path, inside)


def without_archive(path):
    """The first page without the link to the archive that will hold it."""
    return re.sub(r'<a href="[^"]*\.zip" download>.*?</a>', "", path.read_text(encoding="utf-8"))


def setup(app):
    app.connect("config-inited", leave_solutions_out, priority=850)
    app.connect("source-read", put_questions)
    app.connect("source-read", pack_answers)
    app.connect("source-read", put_catalogue)
    app.add_transform(WithoutSolutions)
    app.connect("html-page-context", add_lines, priority=900)
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
