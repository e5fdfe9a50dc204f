"""The folder that the site serves for Python in its pages.

Its name depends on its contents, so that a browser never mixes two versions: Pyodide, NumPy,
attnlib as a wheel of this very commit, the worker, and the editor.
"""

import functools
import gzip
import io
import json
import re
import tarfile
import zipfile
from pathlib import Path

from book.inpage import fetch
from book.notebooks import PACKAGES, ROOT

HERE = Path(__file__).parent
WHEEL = "attnlib-0.1.0-py3-none-any.whl"
LOCK = "pyodide-lock.json"
MODEL = "attnlib_model-0.1.0-py3-none-any.whl"
SOURCES = "attnlib-sources.tar"  # worker.mjs knows this name
METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: 0.1.0\n"
WHEEL_SAYS = "Wheel-Version: 1.0\nGenerator: book\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same files
NEEDS_TORCH = re.compile(rb"^(import|from) (torch|triton)\b", re.MULTILINE)


@functools.cache
def files():
    """What the folder holds: {name: bytes}; empty without a runtime."""
    runtime = fetch.runtime_at_hand()
    if runtime is None:
        return {}
    found = {name: (runtime / name).read_bytes() for name in fetch.FILES}
    for name in ("worker.mjs", "session.py"):
        found[name] = (HERE / "worker" / name).read_bytes()
    if fetch.editor_at_hand():
        bundle = fetch.editor_folder() / "bundle.mjs"
        found["editor.mjs"] = bundle.read_bytes()
    found[WHEEL] = wheel("attnlib", as_one(as_sent(sources())))
    found[MODEL] = wheel("attnlib_model", as_sent(weights()))
    found[LOCK] = json.dumps(lock(found)).encode()
    return found


def wheel(name, parts):
    """A wheel of these files, {name: bytes}."""
    parts = dict(parts)
    about = f"{name}-0.1.0.dist-info/"
    parts[about + "METADATA"] = METADATA.format(name).encode()
    parts[about + "WHEEL"] = WHEEL_SAYS.encode()
    parts[about + "LICENSE"] = (ROOT / "LICENSE").read_bytes()
    parts[about + "RECORD"] = "".join(f"{name},,\n" for name in [*parts, about + "RECORD"]).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), content, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def as_sent(paths):
    """These files of the packages: {name: bytes}."""
    return {path.relative_to(ROOT).as_posix(): sent(path) for path in paths}


def as_one(parts):
    """The same files as one, which worker.mjs unpacks: compressed together, the exercises' pages,
    which have much in common, take a quarter less than each by itself.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in parts.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return {SOURCES: packed.getvalue()}


def sent(path):
    """What the wheel has of a file: JSON without its indentation. A page has no torch, so of a
    module that begins with it only the import is sent, which fails in the same way.
    """
    content = path.read_bytes()
    if path.suffix == ".json":
        return json.dumps(json.loads(content), separators=(",", ":")).encode()
    needs_torch = path.suffix == ".py" and NEEDS_TORCH.search(content)
    return b"import torch\n" if needs_torch else content


# What commands, builds and marking use, but nothing that runs in a page.
ONLY_ELSEWHERE = {
    "catalogue.py",
    "cpu.py",
    "duel.json",
    "duel.py",
    "find_head.py",
    "kinds.py",
    "language_seeds.json",
    "linear.json",
    "linear.py",
    "prove.py",
    "transformers_models.py",
    "writing.json",
    "writing.py",
}


def sources():
    """What a page may import: pages draw no figures (session.py), don't mark classes, and run no
    command.
    """
    left = {"plot", "classroom", "__main__.py", *ONLY_ELSEWHERE}
    return sorted(
        path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in (".py", ".json", ".md") and path.name != "README.md"
        if not left & set(path.relative_to(ROOT).parts)
    )


def weights():
    """The files of the trained models: they are a third of the wheel, so only pages that use them
    load them."""
    return [ROOT / "attncourse" / "language" / name for name in ("model.npz", "numerals.npz")]


def lock(found):
    """Which packages there are, as Pyodide reads it; it checks the sha256."""
    numpy, version = fetch.NUMPY, fetch.NUMPY.split("-")[1]
    packages = {
        "numpy": package(found, "numpy", version, numpy, []),
        "attnlib": package(found, "attnlib", "0.1.0", WHEEL, ["numpy"]),
        "attnlib-model": package(found, "attnlib-model", "0.1.0", MODEL, ["attnlib"]),
    }
    return {"info": fetch.ABI, "packages": packages}


def package(found, name, version, file, needs):
    return {
        "name": name,
        "version": version,
        "file_name": file,
        "install_dir": "site",
        "sha256": fetch.digest(found[file]),
        "package_type": "package",
        "imports": [name],
        "depends": needs,
        "unvendored_tests": False,
    }


@functools.cache
def name():
    content = b"".join(fetch.digest(part).encode() for _, part in sorted(files().items()))
    return "python-" + fetch.digest(content)[:12]


@functools.cache
def sizes(has_model=False):
    """(bytes that the worker counts, MB that a compressing server sends), of a page that loads the
    trained model too, or doesn't.
    """
    left = {"editor.mjs"} if has_model else {"editor.mjs", MODEL}
    first = {name: content for name, content in files().items() if name not in left}
    counted = sum(len(content) for name, content in first.items() if not name.endswith(".mjs"))
    packed = sum(len(gzip.compress(content, 6)) for content in first.values())
    return counted, round(packed / 1e6, 1)


def put_into(static):
    """Write the folder below the site's own."""
    if not files():
        return
    folder = Path(static) / name()
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in files().items():
        (folder / file).write_bytes(content)
