"""A browser that opens the built book: found on this machine, never fetched.

Any Chromium will do: Debian's, Chrome, Edge, or Playwright's own.
"""

import asyncio
import contextlib
import os
import shutil
import sys
from pathlib import Path

from playwright import async_api

PROGRAMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
INSTALLED = (  # where the installers of macOS and Windows put it
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
NONE_FOUND = (
    "no Chromium was found: install one (on Debian and Ubuntu: sudo apt "
    "install chromium; elsewhere Chrome or Edge will do, or `python -m "
    "playwright install chromium` in .venv), then run this again"
)
# Switches off what Chromium would do by itself while pages are open.
SILENT = (
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
)


class NoChromium(Exception):
    def __init__(self):
        super().__init__(NONE_FOUND)


def chromium():
    """The path of a Chromium, or None."""
    on_path = [shutil.which(name) for name in PROGRAMS]
    for path in (os.environ.get("CHROMIUM"), *on_path, *INSTALLED):
        if path and Path(path).exists():
            return path


@contextlib.asynccontextmanager
async def opened():
    """A running Chromium."""
    async with async_api.async_playwright() as playwright:
        path = chromium() or playwright.chromium.executable_path
        if not Path(path).exists():
            raise NoChromium()
        browser = await playwright.chromium.launch(executable_path=path, args=SILENT)
        try:
            yield browser
        finally:
            await browser.close()


def run(coroutine, name):
    """Run it to its end and return its exit code, even if there is no Chromium."""
    try:
        return asyncio.run(coroutine)
    except NoChromium as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        return 1
