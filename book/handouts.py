"""A page to hand out for each chapter with exercises, and cards to vote with.

`python3 run.py slides` prints them. A handout is made of the chapter's own notebook: its list
*Remember*, and the formulas and the figure whose cells have a "handout" in their metadata. Its
value is a caption, or true for a figure whose slide already has a title.
"""

import functools
import html
import importlib.util
import re
import string
import tempfile
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from attncourse.exercises.engine.find import exercises
from book import address, boxes, numbers, slides
from book.notebooks import CHAPTERS

CHECKED = re.compile(r'^check\("(\w+)"', re.MULTILINE)
REMEMBER = re.compile(r"^> \*\*Remember:?\*\*:?\n((?:>.*\n?)+)", re.MULTILINE)
FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
SMALLEST, LARGEST = 9, 11.5  # points
PAGE = string.Template(Path(__file__).with_name("handout.html").read_text(encoding="utf-8"))
CARDS = Path(__file__).with_name("cards.html")
ON_PAPER = {"prefer_css_page_size": True, "print_background": True, "tagged": True}
# The largest type with which everything fits, and what is too large even then.
FIT = """([smallest, largest]) => {
  const page = document.querySelector(".page");
  const wide = () => Math.max(...[page, ...page.querySelectorAll("dd")].map(
    (part) => part.scrollWidth - part.clientWidth));
  const high = () => page.scrollHeight - page.clientHeight;
  const over = () => wide() > 0 || high() > 0;
  let size = largest;
  const set = () => { page.style.fontSize = size + "pt"; };
  for (set(); over() && size > smallest; set()) size -= 0.25;
  return over() ? `${wide()} px too wide and ${high()} px too high` : "";
}"""


class Overfull(Exception):
    """A handout that is longer than its page."""


def with_exercises(chapters=CHAPTERS):
    """{path of a chapter: the exercises that it checks, in order}, for chapters that have some."""
    found = {path: checked(path) for path in sorted(Path(chapters).glob("[0-9]*.ipynb"))}
    return {path: names for path, names in found.items() if names}


def checked(path):
    """The names of the exercises that the notebook checks."""
    cells = nbformat.read(str(path), as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    return [name for name in dict.fromkeys(CHECKED.findall(code)) if name in exercises()]


def handout(path):
    """The page of a chapter, as HTML."""
    cells = nbformat.read(str(path), as_version=4).cells
    title = cells[0].source.splitlines()[0].removeprefix("# ")
    book = html.escape(address.configured()["title"])
    chosen = [cell for cell in cells if cell.metadata.get("handout")]
    return PAGE.substitute(
        title=html.escape(title),
        heading=boxes.subscripts(html.escape(title)),
        number=numbers.of_file(f"chapters/{Path(path).stem}"),
        book=book,
        licence=slides.LICENCE,
        mathjax=mathjax(),
        figure="".join(map(figure, chosen)),
        formulas="".join(map(formula, chosen)),
        remember=remember(cells),
        exercises=", ".join(f"<code>{name}</code>" for name in checked(path)),
    )


def remember(cells):
    """The list of a chapter's last box, without links: paper leads nowhere."""
    boxed = [found[1] for cell in cells for found in REMEMBER.finditer(cell.source)]
    lines = re.sub(r"^> ?", "", boxed[-1], flags=re.MULTILINE) if boxed else ""
    return re.sub(r"</?a\b[^>]*>", "", markdown().render(lines))


def figure(cell):
    """The figure that a cell shows, with its text and a caption; "" for any other cell."""
    pictures = [
        output["data"]["image/png"]
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    ]
    alt = html.escape(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))
    return "".join(
        f'<figure><img src="data:image/png;base64,{picture.strip()}" alt="{alt}">'
        f"<figcaption>{caption(cell)}</figcaption></figure>"
        for picture in pictures[:1]
    )


def formula(cell):
    """The formulas that a cell of text shows, below their caption; "" for a figure's cell."""
    found = FORMULA.findall(cell.source) if cell.cell_type == "markdown" else []
    shown = "".join(f"\\[{html.escape(each.strip().rstrip('.,:; '))}\\]" for each in found)
    return f"<div><dt>{caption(cell)}</dt><dd>{shown}</dd></div>" if shown else ""


def caption(cell):
    said = cell.metadata.handout
    return markdown().renderInline(slides.of_cell(cell).get("title", "") if said is True else said)


@functools.cache
def markdown():
    parser = MarkdownIt("commonmark", {"typographer": True}).use(dollarmath_plugin)
    parser.enable("smartquotes")
    parser.add_render_rule("math_inline", as_formula)
    return parser


def as_formula(self, tokens, place, *_):
    return f"\\({html.escape(tokens[place].content)}\\)"


def mathjax():
    """The address of MathJax in this environment."""
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    return (package / "static" / "mathjax" / "tex-chtml.js").as_uri()


async def print_page(chromium, text, pdf, name):
    """Print a page of HTML into the file `pdf`, in type as large as fits."""
    context = await chromium.new_context(color_scheme="light")
    page = await context.new_page()
    await page.emulate_media(media="print")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(text, encoding="utf-8")
        await page.goto(path.as_uri(), wait_until="load")
        await page.evaluate("window.MathJax?.startup.promise")
        await page.evaluate("document.fonts.ready")
        too_large = await page.evaluate(FIT, [SMALLEST, LARGEST])
        if too_large:
            raise Overfull(f"the handout of {name} is {too_large} in type of {SMALLEST} points")
        Path(pdf).parent.mkdir(parents=True, exist_ok=True)
        await page.pdf(path=pdf, **ON_PAPER)
    await context.close()
    return f"slides: {Path(pdf).name}, {Path(pdf).stat().st_size / 1000:.0f} KB"


async def print_all(chromium, folder, chapters=CHAPTERS):
    """Print the handouts and the cards into the built book's folder, and a line for each."""
    said = []
    for path in with_exercises(chapters):
        pdf = Path(folder, "chapters", f"{path.stem}.handout.pdf")
        said.append(await print_page(chromium, handout(path), pdf, path.stem))
    pdf = Path(folder, "chapters", "for_lecturers", "cards.pdf")
    return [*said, await print_page(chromium, CARDS.read_text("utf-8"), pdf, "the cards")]
