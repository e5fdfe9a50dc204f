"""Open every page of the built book in Chromium and say what is wrong there.

`python3 run.py check` runs this over `_build/html`. Each page is opened three
times: from a sub-path of a server, in light and in dark; from a file, 390 px
wide; and without scripts. Each deck of slides is gone through slide by slide.
"""

import asyncio
import contextlib
import dataclasses
import functools
import gzip
import os
import re
import sys
import urllib.parse
from pathlib import Path

import axe_playwright_python

from book import browser

HERE = Path(__file__).parent
IN_PAGE = (HERE / "pages.js").read_text(encoding="utf-8")
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")

# Requests are answered from the folder: no server runs, and nothing leaves this machine.
ADDRESS = "http://localhost/a/sub/path/"
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
PAPER = {"width": 718, "height": 1000}  # A4 within margins of 10 mm
WALLS = ({"width": 1280, "height": 720}, {"width": 1920, "height": 1080})
MOST_BYTES = 1_500_000  # compressed, with everything that the page loads
SMALLEST_TYPE = 20  # px on a slide of 1280 x 720
PACKED = (".css", ".html", ".js", ".json", ".mjs", ".svg")
AT_ONCE = "* { animation: none !important; transition: none !important }"
# Because of the pages' policy, Playwright can't wait for this by itself.
COMES_DOWN = """(async () => {
  for (let n = 0; n < 100 && scrollY <= 500; n += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  return scrollY > 500;
})()"""
THEME = "document.documentElement.dataset.theme"
ON_EVERY_VIEW = ("formulas", "wordless", "sideways")


@dataclasses.dataclass
class Report:
    """What was seen of one page."""

    page: str
    bytes: int = 0
    formulas: int = 0
    figures: int = 0
    slides: int = 0
    problems: dict = dataclasses.field(default_factory=dict)  # to its views

    def add(self, view, sentences):
        for sentence in sentences:
            views = self.problems.setdefault(sentence, [])
            if view not in views:
                views.append(view)


async def examine(folder, at_once=None):
    """A report for each page of the folder, in the order of their names."""
    turn = asyncio.Semaphore(at_once or max(2, os.cpu_count() or 2))
    async with browser.opened() as chromium:
        site = Site(Path(folder), chromium)

        names, reports = pages(folder), {}

        async def look(page):
            async with turn:
                reports[page] = await look_at(site, page)
            if len(reports) % 20 == 0:
                print(f"check: {len(reports)} of {len(names)} pages", file=sys.stderr, flush=True)
            return reports[page]

        return await asyncio.gather(*map(look, names))


def pages(folder):
    """The pages' paths in the folder, without pages that only redirect."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in Path(folder).rglob("*.html")
        if "_static" not in path.parts
        and 'http-equiv="Refresh"' not in path.read_text(encoding="utf-8")
    )


@dataclasses.dataclass
class Site:
    """The book's folder, and the browser that opens its pages."""

    folder: Path
    browser: object

    @contextlib.asynccontextmanager
    async def tab(self, url, report, view, **options):
        """The page at `url`, its scripts done; what it loads is watched."""
        context = await self.browser.new_context(**options)
        page = await context.new_page()
        await page.route("**/*", functools.partial(self.let_in, report=report, view=view))
        watch(page, report, view)
        try:
            await page.goto(url, wait_until="load")
            if options.get("java_script_enabled", True):
                await page.evaluate("document.fonts.ready")
                await page.evaluate("window.MathJax?.startup?.promise")
                await page.add_style_tag(content=AT_ONCE)
            await page.evaluate(IN_PAGE)
            yield page
        finally:
            await context.close()

    async def let_in(self, route, report, view):
        url = route.request.url
        file = self.file(url)
        if file is None and not url.startswith(("data:", "blob:")):
            report.add(view, [f"outside request: {url}"])
            return await route.abort()
        if file is None:
            return await route.continue_()
        if not file.is_file():
            report.add(view, [f"missing file: {url}"])
            return await route.fulfill(status=404)
        # Python and its editor come when a reader asks for them.
        is_asked_for = file.parent.name.startswith("python-")
        if view == "light" and not (is_asked_for or file in report.seen):
            report.seen.add(file)
            report.bytes += compressed(file)
        await route.fulfill(path=file)

    def file(self, url):
        """The file of the book that the address means, or None."""
        url = url.split("#")[0].split("?")[0]
        for root in (ADDRESS, self.folder.resolve().as_uri() + "/"):
            if url.startswith(root):
                rest = urllib.parse.unquote(url[len(root) :])
                return self.folder / (rest or "index.html")


def watch(page, report, view):
    """Note what the page's scripts complain of."""
    page.on("pageerror", lambda error: report.add(view, [f"page error: {error}"]))
    page.on(
        "console",
        lambda message: (
            message.type == "error"
            and "ERR_FAILED" not in message.text
            and report.add(view, [f"page error: {message.text}"])
        ),
    )


@functools.cache
def compressed(file):
    """The bytes that a server that compresses would send for it."""
    content = file.read_bytes()
    return len(gzip.compress(content, 6) if file.suffix in PACKED else content)


async def ask(page, name, *arguments):
    """Call a function of pages.js."""
    return await page.evaluate(
        "([name, arguments]) => bookPages[name](...arguments)", [name, list(arguments)]
    )


async def look_at(site, page):
    report = Report(page)
    report.seen = set()
    try:
        if page.endswith(".slides.html"):
            await as_deck(site, report)
        else:
            await on_desk(site, report)
            await on_phone(site, report)
            await without_scripts(site, report)
    except browser.async_api.Error as error:
        report.add("all", [f"could not be looked at: {error.message}"])
    if report.bytes > MOST_BYTES:
        report.add(
            "light",
            [f"loads {report.bytes / 1e6:.2f} MB compressed; {MOST_BYTES / 1e6} are allowed"],
        )
    return report


async def on_desk(site, report):
    async with site.tab(
        ADDRESS + report.page, report, "light", viewport=DESK, color_scheme="light"
    ) as page:
        vars(report).update(await ask(page, "count"))
        await on_every_view(page, report, "light")
        report.add("light", await ask(page, "badCopies"))
        report.add("light", dead_links(site, await ask(page, "links")))
        report.add("light", await unreached(page))
        await page.emulate_media(color_scheme="dark")
        await on_every_view(page, report, "dark", "colours")
        await on_paper(page, report)


async def on_every_view(page, report, view, axe="accessibility"):
    await page.evaluate(AXE)
    for name in (*ON_EVERY_VIEW, axe):
        report.add(view, await ask(page, name))


async def unreached(page):
    """What the Tab key does not reach when it is pressed all through the page."""
    count = await ask(page, "watchFocus")
    # What scrolls takes the focus too, and is not counted.
    for presses in (count, *[50] * (2 + count // 25)):
        for _ in range(presses):
            await page.keyboard.press("Tab")
        missing = await ask(page, "unreached")
        if not missing:
            break
    return missing


async def on_paper(page, report):
    await page.emulate_media(media="print", color_scheme="light")
    await page.set_viewport_size(PAPER)
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    report.add("print", await ask(page, "cutOff"))


async def on_phone(site, report):
    url = (site.folder / report.page).resolve().as_uri()
    async with site.tab(url, report, "390 px", viewport=PHONE, color_scheme="light") as page:
        await on_every_view(page, report, "390 px")
        report.add("390 px", await ask(page, "cutFormulas"))


async def without_scripts(site, report):
    async with site.tab(
        ADDRESS + report.page, report, "no scripts", viewport=DESK, java_script_enabled=False
    ) as page:
        report.add("no scripts", await ask(page, "hidden"))


def dead_links(site, links):
    """The links that lead to a missing file or to a missing place in one."""
    found = []
    for link in links:
        file, place = site.file(link), urllib.parse.unquote(urllib.parse.urlsplit(link).fragment)
        if file and not (file.is_file() and has_place(file, place)):
            found.append("a link leads nowhere: " + link.removeprefix(ADDRESS))
    return found


@functools.cache
def has_place(file, place):
    if file.name.endswith(".slides.html") and place.startswith("/"):
        return True  # reveal.js makes it, by the slide's number
    return (
        not place
        or file.suffix != ".html"
        or re.search(rf'\b(id|name)="{re.escape(place)}"', file.read_text(encoding="utf-8"))
        is not None
    )


async def as_deck(site, report):
    async with site.tab(
        ADDRESS + report.page, report, "light", viewport=WALLS[0], color_scheme="light"
    ) as page:
        vars(report).update(await ask(page, "count"))
        await page.evaluate("window.deckIsReady")
        report.slides = await ask(page, "slides")
        await page.evaluate(AXE)
        report.add("deck", dead_links(site, await ask(page, "links")))
        for name in ("formulas", "wordless", "earlyAnswers"):
            report.add("deck", await ask(page, name))
        for number in range(report.slides):
            await ask(page, "showSlide", number)
            view = f"slide {number + 1}"
            report.add(view, await ask(page, "badSizes", SMALLEST_TYPE))
            report.add(view, await ask(page, "badWords"))
            report.add(view, await ask(page, "accessibilityOfSlide"))
        await page.set_viewport_size(WALLS[1])
        for number in range(report.slides):
            await ask(page, "showSlide", number)
            report.add(f"slide {number + 1}", await ask(page, "badSizes", SMALLEST_TYPE))


# --- the book as a whole ----------------------------------------------------


async def as_a_whole(folder):
    """What isn't seen on a single page: search, theme and place."""
    report = Report("the book as a whole")
    report.seen = set()
    async with browser.opened() as chromium:
        site = Site(Path(folder), chromium)
        file = Path(folder).resolve().as_uri() + "/"
        for view, root in (("sub-path", ADDRESS), ("file", file)):
            await finds(site, root, report, view)
            await is_kept(site, root, report, view)
    return report


async def finds(site, root, report, view, words="online softmax"):
    query = urllib.parse.urlencode({"q": words})
    async with site.tab(f"{root}search.html?{query}", report, view) as page:
        results = page.locator("#search-results li a")
        try:
            await results.first.wait_for(timeout=10_000)
        except browser.async_api.TimeoutError:
            report.add(view, [f"search finds nothing for {words!r}"])
        report.add(view, dead_links(site, await ask(page, "links")))
        await page.wait_for_timeout(500)  # the results' texts are fetched


async def is_kept(site, root, report, view):
    """A reader who comes back finds the theme and the place again."""
    chapter = next(
        (
            p
            for p in pages(site.folder)
            if re.search(r"/\d\d_\w+\.html$", p) and "solutions" not in p and "00_" not in p
        ),
        None,
    )
    if chapter is None:
        return
    async with site.tab(root + chapter, report, view, color_scheme="light") as page:
        while await page.evaluate(THEME) != "dark":
            await page.locator(".theme-switch-button").first.click()
        await page.evaluate(
            "document.querySelectorAll('h2')[3].scrollIntoView({behavior: 'instant'})"
        )
        await page.wait_for_timeout(500)
        await page.goto(root + "chapters/index.html")
        theme = await page.evaluate(THEME)
        link = page.locator("a.last-place")
        if theme != "dark":
            report.add(view, [f"dark was chosen, the next page is {theme}"])
        if not await link.count():
            return report.add(view, ["the first page does not lead back to the reader's place"])
        await link.click()
        if not await page.evaluate(COMES_DOWN):
            report.add(view, ["the link to the reader's place leads to the top of the page"])


# --- the table --------------------------------------------------------------


def table(reports):
    """One line per page, and below it what is wrong there."""
    width = max(len(report.page) for report in reports)
    yield f"{'page':{width}}    KB  formulas  figures  slides  problems"
    for report in reports:
        yield (
            f"{report.page:{width}} {report.bytes / 1000:5.0f}  "
            f"{report.formulas:8}  {report.figures:7}  "
            f"{report.slides or '':6}  {len(report.problems) or 'none'}"
        )
        for sentence, views in report.problems.items():
            yield f"    {', '.join(views)}: {sentence}"


async def check(folder):
    reports = await examine(folder) + [await as_a_whole(folder)]
    print("\n".join(table(reports)))
    bad = sum(bool(report.problems) for report in reports)
    print(
        f"check: {len(reports)} pages in light, dark, 390 px, print and "
        f"without scripts; {bad or 'none'} with problems"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(browser.run(check(sys.argv[1]), "check"))
