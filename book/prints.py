"""Print each chapter, its deck and its handout as PDFs by Chromium, beside its page.

`python3 run.py slides` runs this over the built book. The PDFs are linked from their chapters, and
the archive is packed anew with them.
"""

import asyncio
import os
import re
import sys
from pathlib import Path

from book import browser, editions, handouts, pages, slides

FOOTER = (
    '<div style="font: 8px sans-serif; display: flex; width: 100%; '
    'margin: 0 10mm; justify-content: space-between"><span><span '
    'class="title"></span> · ' + slides.LICENCE + "</span><span><span "
    "class=\"pageNumber\"></span> / <span class=\"totalPages\"></span>"
    "</span></div>"
)  # a chapter's title names the book
ON_PAPER = {
    "format": "A4",
    "print_background": True,
    "tagged": True,
    "outline": True,
    "display_header_footer": True,
    "margin": {"top": "14mm", "bottom": "18mm", "left": "10mm", "right": "10mm"},
    "header_template": "<span></span>",
    "footer_template": FOOTER,
}
AS_SLIDES = {"prefer_css_page_size": True, "print_background": True, "tagged": True}
# On paper a link to another page of the book would name this machine's folder.
WITHOUT_LINKS_TO_FILES = """() => [...document.links]
    .filter((link) => link.protocol === "file:" && !link.hash)
    .forEach((link) => link.removeAttribute("href"))"""


async def print_all(folder, at_once=None):
    """Print every PDF and say its size, link to them, pack the archive."""
    turn = asyncio.Semaphore(at_once or max(2, os.cpu_count() or 2))
    async with browser.opened() as chromium:

        async def one(page):
            async with turn:
                return await print_one(chromium, folder / page)

        printed = await asyncio.gather(*map(one, to_print(folder)))
        printed += await handouts.print_all(chromium, folder)
    for line in printed:
        print(line)
    for path in sorted((folder / "chapters").rglob("*.html")):
        link_to_pdfs(path)
    editions.pack(folder, editions.archive_name())


def to_print(folder):
    """The chapters and the decks."""
    return [
        page
        for page in pages.pages(folder)
        if re.fullmatch(r"chapters/\d\d_\w+(\.slides)?\.html", page)
    ]


async def print_one(chromium, path):
    is_deck = path.name.endswith(".slides.html")
    context = await chromium.new_context(color_scheme="light")
    page = await context.new_page()
    query = "?view=print" if is_deck else ""
    await page.goto(path.resolve().as_uri() + query, wait_until="load")
    await page.evaluate("window.MathJax.startup.promise")
    await page.evaluate("window.deckIsReady")
    count = await page.evaluate("document.querySelectorAll('.pdf-page').length")
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    await page.evaluate(WITHOUT_LINKS_TO_FILES)
    pdf = path.with_suffix(".pdf")
    await page.pdf(path=pdf, **(AS_SLIDES if is_deck else ON_PAPER))
    await context.close()
    return f"slides: {pdf.name}, {pdf.stat().st_size / 1000:.0f} KB" + (
        f", {count} slides" if count else ""
    )


def link_to_pdfs(path):
    """Replace the marks by links to the PDFs that exist."""

    def link(mark):
        name, text = mark.groups()
        return f'<a href="{name}">{text}</a>' if (path.parent / name).exists() else mark.group()

    text = path.read_text(encoding="utf-8")
    linked = re.sub(editions.PRINTED.format(r"(\S+)", "(.*?)"), link, text)
    if linked != text:
        path.write_text(linked, "utf-8")


async def main(folder):
    try:
        await print_all(Path(folder))
    except handouts.Overfull as problem:
        print(f"slides: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(browser.run(main(sys.argv[1]), "slides"))
