"""What the build adds around the pages.

A line of links below a chapter's title, the versions below its last
paragraph, the whole book as one archive; and, where the environment variable
BOOK_EDITION is "student", the book without its solutions.
"""
import html
import json
import os
import re
import zipfile
from pathlib import Path

import yaml
from attnlib.exercises.engine.questions import by_chapter
from docutils import nodes
from sphinx.transforms import SphinxTransform

from book import address, pins, slides
from book.inpage import bundle

LECTURERS = "chapters/for_lecturers"
SOLUTIONS = "chapters/solutions/"
SHOWN = {"numpy": "NumPy", "torch": "torch", "matplotlib": "Matplotlib"}
# What `python3 run.py slides` has printed is linked here (book/prints.py).
PRINTED = "<!-- printed {}: {} -->"
# On the lecturers' page: the questions of a chapter.
ASKED = re.compile(r"<!-- questions (\w+) -->")


def is_student(app):
    return os.environ.get("BOOK_EDITION") == "student"


# --- the student edition ----------------------------------------------------

def leave_solutions_out(app, config):
    """Put a table of contents without them in the place of the book's."""
    if not is_student(app):
        return
    toc = yaml.safe_load(Path(app.srcdir, "_toc.yml").read_text("utf-8"))
    for part in toc["parts"]:
        part["chapters"] = [chapter for chapter in part["chapters"]
                            if not chapter["file"].startswith(SOLUTIONS)]
    toc["parts"] = [part for part in toc["parts"] if part["chapters"]]
    path = Path(app.outdir).parent / "toc_without_solutions.yml"
    path.write_text(yaml.safe_dump(toc, sort_keys=False), "utf-8")
    config.external_toc_path = str(path)


class WithoutSolutions(SphinxTransform):
    """No paragraph or list item about them, and no link to them."""
    default_priority = 205

    def apply(self):
        if not is_student(self.app):
            return
        about = [node for node in self.document.findall(
                     lambda n: isinstance(n, (nodes.paragraph,
                                              nodes.list_item)))
                 if node.astext().startswith("Solutions")]
        for node in about:
            if node.parent and node in node.parent:
                node.parent.remove(node)
        for link in list(self.document.findall(nodes.Element)):
            if "solutions/" in str(link.get("reftarget", "")):
                link.replace_self(link.children)


# --- what the pages say of themselves ---------------------------------------

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
    """Below the title: the same in other forms."""
    if pagename == app.config.master_doc:
        archive = pathto(archive_name(), resource=True)
        found = (f'<a href="{archive}" download>The whole book to read '
                 "offline (zip)</a>"
                 f'<a href="{pathto("licences")}">Licences</a>')
    elif is_chapter(pagename):
        found = deck_links(app, pagename, "Slides", "PDF of the slides")
        found += printed(pagename, "", "PDF")
    elif pagename == LECTURERS:
        found = "".join(
            deck_links(app, name, "Slides: " + html.escape(
                app.env.titles[name].astext()), "PDF")
            for name in sorted(app.env.found_docs) if is_chapter(name))
    else:
        return None
    return f'<p class="page-files">{found}</p>'


def deck_links(app, pagename, text, text_of_pdf):
    """To the deck and, once it is there, to its PDF."""
    if not slides.has_deck(slides.read_cells(app.env.doc2path(pagename))):
        return ""
    return (f'<a href="{pagename.rsplit("/", 1)[1]}.slides.html">{text}</a>'
            + printed(pagename, ".slides", text_of_pdf))


def printed(pagename, ending, text):
    return PRINTED.format(pagename.rsplit("/", 1)[1] + ending + ".pdf", text)


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
    """What the room is asked, from the entries that the chapters ask too."""
    if docname == LECTURERS:
        source[0] = ASKED.sub(lambda found: "\n".join(
            map(as_item, by_chapter()[found.group(1)])), source[0])


def as_item(question):
    """The question, its right choice, and what each wrong one reveals."""
    right = question.lettered[question.right]
    wrong = "".join(f'\n  - "{choice.text}" {choice.because}'
                    for choice in question.choices if choice is not right)
    return f"- *{question.text}* **{right.text}** {right.because}{wrong}"


# --- the files --------------------------------------------------------------

def archive_name():
    title = address.configured()["title"]
    return re.sub(r"\W+", "-", title.lower()) + ".zip"


def finish(app, exception):
    if exception is None and app.builder.name == "html":
        drop_what_no_page_loads(Path(app.outdir) / "_static",
                                Path(app.config.mathjax_path).name)
        leave_figures_out(Path(app.outdir) / "_sources")
        pack(Path(app.outdir), archive_name())


def drop_what_no_page_loads(static, mathjax):
    # The icons come from the theme's fonts; this would load them once more.
    (static / "scripts" / "fontawesome.js").write_text("")
    used = {mathjax, "core.js", "loader.js", "startup.js"}
    unused = [file for file in (static / "mathjax").glob("*.js")
              if file.name not in used]  # a megabyte or two each
    unused += [file for file in (static / "mathjax/sre/mathmaps").glob("*.json")
               if file.stem not in ("base", "en")]  # languages of speech
    for file in [*unused, *static.rglob("*.map")]:
        file.unlink()


def leave_figures_out(sources):
    """From the notebooks to download: a quarter of the site, which its pages show and a run draws again."""
    for path in sources.rglob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            for output in cell.get("outputs", ()):
                output.get("data", {}).pop("image/png", None)
        path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1),
                        encoding="utf-8")


def pack(folder, name):
    """The folder's files in one archive, below one folder of its name.

    Without Python for the pages: a page read from a file cannot start it.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file()
                   and path.suffix != ".zip" and path.name != ".buildinfo"
                   and path.parent.name != bundle.name())
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            inside = Path(name).stem / path.relative_to(folder)
            if path.name == "index.html":
                archive.writestr(str(inside), without_archive(path))
            else:
                archive.write(path, inside)


def without_archive(path):
    """The first page without the way to what it then lies in."""
    return re.sub(r'<a href="[^"]*\.zip" download>.*?</a>', "", path.read_text(encoding="utf-8"))


def setup(app):
    app.connect("config-inited", leave_solutions_out, priority=850)
    app.connect("source-read", put_questions)
    app.add_transform(WithoutSolutions)
    app.connect("html-page-context", add_lines, priority=900)
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
