"""Files that the book uses and doesn't contain: fetched once, into the user's cache.

Whatever the source, a file is accepted only with the bytes that are pinned where it's used.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

PATIENCE = 15  # seconds without an answer


def cache(name):
    """A folder of the user's cache, on Linux, macOS and Windows."""
    home = Path.home()
    base = {
        "darwin": home / "Library" / "Caches",
        "win32": Path(os.environ.get("LOCALAPPDATA", home)),
    }.get(sys.platform, Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache"))
    return base / "attention-book" / name


def digest(content):
    return hashlib.sha256(content).hexdigest()


def download_wheel(requirement, folder):
    """One wheel, for example of "name==1.0", from the reader's package index into a folder."""
    # pip knows the reader's own index, proxy and certificates
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--quiet",
            "--retries",
            "1",
            "--timeout",
            str(PATIENCE),
            "--dest",
            str(folder),
            requirement,
        ]
    )
    return next(Path(folder).glob("*any.whl"))


def run(command, **options):
    """Run it silently; if it fails, its last line is the reason."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        **options,
    )
    if done.returncode != 0:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
        raise OSError(next(filter(None, reversed(lines)), f"exit code {done.returncode}"))
