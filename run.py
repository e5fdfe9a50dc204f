"""Build, test, check and serve the book: `python3 run.py --help` says how.

Only the standard library is used here, in the syntax of Python 3.6, so that an old Python can still
say in a sentence that it is too old.
"""

import argparse
import contextlib
import errno
import functools
import hashlib
import http.server
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
# Made first, filled in last and removed last: without it .venv is not ours to
# remove, and without the right text in it .venv is not finished.
STAMP = VENV / "made-by-run.py"
HTML = ROOT / "_build" / "html"
STUDENT = ROOT / "_build" / "student"  # the same without the solutions
FIRST_PAGE = HTML / "index.html"
# Made last and removed first: without it some of the pages are missing.
LAST_PAGE = STUDENT / "index.html"

DISK_IS_FULL = (
    "the disk is full: free about 3 GB (6 GB where torch brings "
    "its GPU libraries), then run this again"
)
NO_VENV_MODULE = (
    "this Python cannot make virtual environments: install its "
    "venv package (on Debian and Ubuntu: sudo apt install "
    "python3-venv), then run this again"
)
NO_BUILD = (
    "a package has no build for Python {}.{} on this machine (the lines "
    "above name it): try Python 3.11, 3.12 or 3.13".format(*sys.version_info)
)
PIP_FAILURES = (  # the first pattern found in what pip wrote names the cause
    (
        r"No space left on device|Errno 28\b|not enough space on the disk|"
        r"[Dd]isk quota exceeded|Errno 122\b",
        DISK_IS_FULL,
    ),
    (
        r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|"
        r"NameResolutionError|Connection (broken|refused|reset|aborted)|"
        r"IncompleteRead|name resolution",
        (
            "a download failed: check the connection to https://pypi.org (and the "
            "proxy, if there is one), then run this again"
        ),
    ),
    (
        r"Could not find a version.*\(from versions: none\)",
        "pip found no version of a package at all (the lines above name it): "
        "check the connection to https://pypi.org, or to the index that pip is "
        "set to use; if that is good, " + NO_BUILD,
    ),
    (r"No matching distribution|Could not find a version", NO_BUILD),
)


AS_PIP = {
    "UV_DEFAULT_INDEX": "PIP_INDEX_URL",
    "UV_INDEX": "PIP_EXTRA_INDEX_URL",
    "UV_FIND_LINKS": "PIP_FIND_LINKS",
}


class Failure(Exception):
    """What went wrong and what to do, in one sentence for the reader."""

    def __init__(self, sentence, exit_code=1):
        super().__init__(sentence)
        self.exit_code = exit_code


def say(text, stream=None):
    print("run.py: " + text, file=stream or sys.stdout, flush=True)


# --- the virtual environment ----------------------------------------------


def wanted_stamp():
    """What a finished .venv must have been made from."""
    parts = [
        (ROOT / name).read_bytes()
        for name in ("requirements.txt", "constraints.txt", "pyproject.toml")
    ]
    # Scripts in .venv hold its absolute path, so a moved one is not usable.
    parts += [text.encode() for text in (platform.python_version(), platform.machine(), str(ROOT))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_finished():
    return in_venv("python").exists() and STAMP.is_file() and STAMP.read_text() == wanted_stamp()


def in_venv(program):
    if os.name == "nt":
        return VENV / "Scripts" / (program + ".exe")
    return VENV / "bin" / program


def set_up():
    """Make .venv, unless a finished one for these requirements is there."""
    if is_finished():
        return
    with one_at_a_time():
        if is_finished():  # by the run that this one has waited for
            return
        remove_old_venv()
        try:
            make_venv()
        except BaseException as error:
            raise half_made(error) from None


def half_made(error):
    """Remove what is half-made; the failure that says what was left."""
    with contextlib.suppress(OSError):
        remove_venv()
    left = (
        " (the half-made .venv was removed)"
        if not VENV.exists()
        else " (a half-made .venv is left: the next run removes it)"
    )
    if isinstance(error, KeyboardInterrupt):
        return Failure("stopped" + left, 130)
    sentence = str(error) if isinstance(error, Failure) else why(error)
    return Failure(sentence + left)


def remove_old_venv():
    if VENV.is_symlink() or (VENV.exists() and not VENV.is_dir()):
        raise Failure(".venv is not a folder that run.py made: move it away, then run this again")
    if not VENV.exists() or not any(VENV.iterdir()):
        return
    if not STAMP.exists() and not (VENV / "pyvenv.cfg").exists():
        raise Failure(".venv is not a virtual environment: move it away, then run this again")
    say("removing .venv: it is unfinished, or was made for other requirements or another Python")
    try:
        remove_venv()
    except OSError as error:
        raise Failure(
            ".venv could not be removed ({}): end what still uses it, then run this again".format(
                error
            )
        ) from None


def remove_venv():
    """Remove .venv so that what a kill leaves of it is still known as ours."""
    STAMP.write_text("")
    for path in VENV.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(str(path))
        elif path != STAMP:
            path.unlink()
    STAMP.unlink()
    VENV.rmdir()


def make_venv():
    if not all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
        raise Failure(NO_VENV_MODULE)
    say("making .venv with Python {} (1 of 2)".format(platform.python_version()))
    VENV.mkdir(exist_ok=True)
    STAMP.write_text("unfinished")
    otherwise = "python -m {} failed; its lines above say why"
    # Where .venv is activated, this Python is the one that has just gone.
    base = getattr(sys, "_base_executable", None) or sys.executable
    run_or_explain([base, "-m", "venv", "--without-pip", str(VENV)], otherwise.format("venv"))
    # venv itself would run this too, and keep to itself why it failed.
    run_or_explain(
        [str(in_venv("python")), "-m", "ensurepip", "--upgrade", "--default-pip"],
        otherwise.format("ensurepip"),
    )
    what = ["--requirement", "requirements.txt", "--constraint", "constraints.txt"]
    if not install_with_uv(what):
        say(
            "installing requirements.txt (2 of 2); this takes a minute or "
            "two, longer on a slow connection"
        )
        run_or_explain(
            [
                str(in_venv("python")),
                "-m",
                "pip",
                "install",
                "--no-input",
                "--disable-pip-version-check",
            ]
            + what,
            "pip could not install requirements.txt; its lines above say why",
        )
    STAMP.write_text(wanted_stamp())
    say(".venv is ready; later runs use it again")


def install_with_uv(what):
    """Whether uv is here and has installed it; otherwise pip's turn comes.

    uv looks for packages where pip is told to look.
    """
    uv = shutil.which("uv")
    if not uv:
        return False
    say("installing requirements.txt with uv (2 of 2)")
    told = {
        uvs: os.environ[pips]
        for uvs, pips in AS_PIP.items()
        if pips in os.environ and uvs not in os.environ
    }
    if call(uv, "pip", "install", "--python", in_venv("python"), *what, **told) == 0:
        return True
    say("uv could not install it (its lines above say why): pip tries")
    return False


def run_or_explain(command, otherwise):
    """Run `command`; if it fails, find the cause in what it wrote."""
    # Only errors are read along: progress bars go straight to the terminal.
    process = subprocess.Popen(
        command,
        cwd=str(ROOT),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        close_fds=False,
    )
    errors = []
    try:
        for line in process.stderr:
            sys.stderr.write(line)
            errors.append(line)
    finally:
        process.wait()
    if process.returncode != 0:
        raise Failure(cause(errors) or otherwise)


def cause(errors):
    for pattern, sentence in PIP_FAILURES:
        if re.search(pattern, "".join(errors)):
            return sentence


def environment():
    """The environment of every program started here."""
    outside = ("PYTHONPATH", "PYTHONHOME")  # would reach past .venv
    kept = {k: v for k, v in os.environ.items() if k not in outside}
    # Only a pip that tries again, and is not silent, says what failed.
    return dict(kept, PYTHONUTF8="1", PIP_RETRIES="5", PIP_QUIET="0")


@contextlib.contextmanager
def one_at_a_time():
    """Hold a lock on this file: .venv and _build are made by one run only.

    The programs started meanwhile hold it too (close_fds=False), each to its own end: a pip that
    outlives a killed run does not write into the next run's .venv.
    """
    with open(str(ROOT / "run.py"), "rb") as file:
        os.set_inheritable(file.fileno(), True)
        if not lock(file):
            say(
                "another run, or what a killed one has started, is at work "
                "in this folder; waiting for it"
            )
            while not lock(file):
                time.sleep(0.2)
        yield


def lock(file):
    """Lock `file` until it is closed; False if somebody else holds it."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(1 << 30)  # a locked byte cannot be read: take none of it
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Any other error: a file system without locks, where we go without.
        return error.errno not in (errno.EAGAIN, errno.EACCES)
    return True


# --- the commands ---------------------------------------------------------


def call(*command, **more):
    """The exit code of a command; `more` goes into its environment."""
    process = start(*command, more=more)
    try:
        return process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise


def start(*command, more, **options):
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=str(ROOT),
        env=dict(environment(), **more),
        close_fds=False,
        **options,
    )  # see one_at_a_time


def book(options):
    set_up()
    with one_at_a_time():
        # A warm build shows only the warnings of the pages that changed.
        LAST_PAGE.unlink(missing_ok=True)
        if HTML.parent.exists():
            shutil.rmtree(str(HTML.parent))
        code = build_both(python_for_pages(options))
    if code != 0:
        raise Failure("the book was not built; the warnings and errors above say why", code)
    say(
        "the first page is {}\n        {}\n        and without the solutions {}".format(
            FIRST_PAGE, FIRST_PAGE.as_uri(), LAST_PAGE
        )
    )
    return 0


def python_for_pages(options):
    """Fetch Python for the pages once; what the builds' environment needs to know of it."""
    if getattr(options, "without_python", False):
        return {"BOOK_WITHOUT_PYTHON": "1"}
    # Where it cannot be had, this says so in a line, and the pages offer Colab.
    call(in_venv("python"), "-m", "book.inpage.fetch")
    return {}


def build(*arguments, **more):
    return call(*build_command(*arguments), **more)


def build_command(*arguments):
    return (in_venv("jupyter-book"), "build", "-W", "-n", "--keep-going", *arguments, ".")


def build_both(more):
    """The book, and at the same time, on another core, the edition for students.

    Its place is filled last: without it some of the pages are missing.
    """
    place = HTML.parent / "student-build"
    place.mkdir(parents=True)
    with tempfile.TemporaryFile() as said:
        student = start(
            *build_command("--path-output", place),
            stdout=said,
            stderr=subprocess.STDOUT,
            more=dict(more, BOOK_EDITION="student"),
        )
        try:
            code = build(**more)
            if code == 0:
                say("building the edition for students")
                code = student.wait()
                if code != 0:
                    said.seek(0)
                    sys.stderr.write(said.read().decode("utf-8", "replace"))
        finally:
            if student.poll() is None:
                student.kill()
                student.wait()
    if code == 0:
        (place / "_build" / "html").rename(STUDENT)
        shutil.rmtree(str(place))
    return code


def test(options):
    set_up()
    workers = max(2, min(8, os.cpu_count() or 2))
    # loadscope: conftest.py says what one worker takes.
    return call(
        in_venv("python"),
        "-m",
        "pytest",
        "-n",
        workers,
        "--dist",
        "loadscope",
        "--nbval",
        *options.further_arguments,
    )


def fill(options):
    set_up()
    return call(in_venv("python"), "-m", "book.fill", *options.chapter)


def pin(options):
    set_up()
    code = call(in_venv("python"), "-m", "book.pins")
    if code == 0:
        STAMP.write_text(wanted_stamp())  # .venv is what the file now says
    return code


def publish(options):
    set_up()
    return call(in_venv("python"), "-m", "book.publish")


def bench(options):
    set_up()
    return call(in_venv("python"), "-m", "attncourse.bench", *options.further_arguments)


def check(options):
    set_up()
    if not is_built():
        book(options)
    return call(in_venv("python"), "-m", "book.pages", HTML)


def slides(options):
    """The decks come with the book; what is left are the PDFs."""
    set_up()
    if not is_built():
        book(options)
    for deck in sorted(HTML.rglob("*.slides.html")):
        say("a deck is {}".format(deck))
    return call(in_venv("python"), "-m", "book.prints", HTML)


def serve(options):
    if not is_built():
        book(options)
    with open_server(options.port) as server:
        say(
            "the book is at http://localhost:{}/ (Ctrl-C ends this)".format(
                server.server_address[1]
            )
        )
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0


def is_built():
    """Whether all pages are there, newer than all that they are made from."""
    if not (FIRST_PAGE.exists() and LAST_PAGE.exists()):
        return False
    sources = [ROOT / "_config.yml", ROOT / "_toc.yml"]
    for folder in ("chapters", "book", "attncourse", "attnlib"):
        sources += [
            p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts
        ]
    built = FIRST_PAGE.stat().st_mtime
    return all(source.stat().st_mtime <= built for source in sources)


def open_server(port):
    """A server on `port`, or on the first free one from 8000 on."""
    handler = functools.partial(QuietHandler, directory=str(HTML))
    for candidate in [port] if port is not None else list(range(8000, 8020)):
        try:
            return http.server.ThreadingHTTPServer(("127.0.0.1", candidate), handler)
        except OverflowError:
            raise Failure("a port is a number from 0 to 65535; got {}".format(port)) from None
        except OSError as error:
            last = error
    raise Failure(
        "no server on port {}: {}; name another port, as in `run.py serve --port 9000`".format(
            candidate, last.strerror.lower()
        )
    )


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    # A browser takes modules and WebAssembly only by their right names; the
    # table of the machine may have others.
    extensions_map = dict(
        http.server.SimpleHTTPRequestHandler.extensions_map,
        **{".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"},
    )

    def log_message(self, format, *arguments):
        pass


# --- the command line -----------------------------------------------------


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="run.py",
        description=(
            "Build, test, check and serve the book. "
            "The first run makes .venv, which takes a minute or two."
        ),
    )
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    commands.required = True

    def add(run, help):
        command = commands.add_parser(run.__name__, help=help, description=help)
        command.set_defaults(run=run)
        return command

    add(
        book,
        "build _build/html from nothing, warnings are errors; the first "
        "time also fetch Python for the pages (16 MB) into your cache",
    ).add_argument(
        "--without-python", action="store_true", help="fetch nothing: the exercises lead to Colab"
    )
    add(
        test,
        "run all tests and every notebook; further arguments, such as -k softmax, go to pytest",
    )
    add(check, "open every page in Chromium and say what is wrong there; builds the book if needed")
    add(
        slides,
        "make the decks of slides and, with Chromium, PDFs of them, of the chapters, of a "
        "handout for each chapter and of cards to vote with; builds the book if needed",
    )
    add(serve, "show the book on this machine; builds it if needed").add_argument(
        "--port", type=int, help="default: the first free one from 8000 on"
    )
    add(
        publish,
        "push the notebooks, with this clone's public address filled "
        "in, to the branch that the Colab buttons name",
    )
    add(
        bench,
        "compare attention with other implementations; further "
        "arguments, such as --quick, go to attncourse.bench",
    )
    add(pin, "write the versions in .venv into constraints.txt")
    add(fill, "run notebooks and store their outputs in them").add_argument(
        "chapter", nargs="*", help="a path, a name or a number such as 04; default: all"
    )
    options, options.further_arguments = parser.parse_known_args(arguments)
    if options.further_arguments and options.run not in (test, bench):
        parser.error("unknown arguments: " + " ".join(options.further_arguments))
    return options


def why(error):
    full = (errno.ENOSPC, getattr(errno, "EDQUOT", None))  # no quota on Windows
    if isinstance(error, OSError) and error.errno in full:
        return DISK_IS_FULL
    return "{}: {}".format(type(error).__name__, error)


def main(arguments=None):
    if sys.version_info < OLDEST_PYTHON:
        say(
            "needs Python {}.{} or newer; this is {}".format(
                *OLDEST_PYTHON, platform.python_version()
            ),
            sys.stderr,
        )
        return 1
    try:
        options = parse(arguments)
        return options.run(options)
    except Failure as failure:
        say(str(failure), sys.stderr)
        return failure.exit_code
    except OSError as error:
        say(why(error), sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("stopped", sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
