"""constraints.txt: the versions of everything that requirements.txt brings. `python3 run.py pin`

records them as they are in .venv.
"""

import functools
import re
from importlib import metadata

from packaging.requirements import Requirement

from book.notebooks import ROOT

FILE = ROOT / "constraints.txt"
TOP = """\
# The versions of all that requirements.txt brings: the book's outputs were
# made with these. `python3 run.py pin` writes this file.
"""
# This folder itself, and what torch brings for one maker's GPUs only.
LEFT_OUT = re.compile(r"attnlib|(nvidia|cuda)-.*")


def with_what_they_need(names):
    """These installed packages and everything they require, by name."""
    found, waiting = {}, list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        try:
            package = found.get(name) or metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for example triton, which doesn't exist for every machine
        if name not in found:
            found[name] = package
            waiting += [
                r.name
                for r in map(Requirement, package.requires or ())
                if r.marker is None or r.marker.evaluate({"extra": ""})
            ]
    return found


def required():
    """The packages that requirements.txt names, with their markers."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return {
        r.name: r.marker
        for r in map(Requirement, (line for line in lines if re.match(r"\w", line)))
    }


@functools.cache
def installed():
    """The version of each package here that requirements.txt brings."""
    packages = with_what_they_need(required())
    # 2.13.0+cpu is torch's 2.13.0 on some machines, and exists on no others
    return {
        name: packages[name].version.partition("+")[0]
        for name in sorted(packages)
        if not LEFT_OUT.fullmatch(name)
    }


def text():
    """constraints.txt as this environment would have it."""
    markers = {name: f" ; {marker}" for name, marker in required().items() if marker}
    return TOP + "".join(
        f"{name}=={version}{markers.get(name, '')}\n" for name, version in installed().items()
    )


def held(constraints=None):
    """The versions in the text of constraints.txt, by the packages' names."""
    if constraints is None:
        constraints = FILE.read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w-]+)==([^\s;]+)", constraints, re.MULTILINE))


def problems(constraints=None):
    """What is installed here but isn't in `constraints` with its version."""
    versions = held(constraints)
    return [
        f"{name} {version} is installed, and constraints.txt holds "
        f"{versions.get(name, 'no version of it')}: run `python3 run.py pin`"
        for name, version in installed().items()
        if versions.get(name) != version
    ]


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
