"""The sandbox that a notebook runs in: bubblewrap's, with Python and its packages and nothing else
in it.

bubblewrap (https://github.com/containers/bubblewrap) gives a process its own namespaces: it sees
only the files mounted here, no other process and no network. A filter of system calls closes what
would take memory that no limit counts.
"""

import functools
import importlib.util
import os
import platform
import shutil
import site
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HOME = "/tmp"  # the one place that can be written to
DISK = 256 << 20
SYSTEM = (
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/alternatives",
)
LIBRARIES = ("numpy", "torch", "triton", "scipy", "matplotlib")
NO_USER = "65534"
START = (
    "import sys; sys.path[:] = {!r}; "
    "from attncourse.exercises.classroom.notebook import main; main()"
)


@functools.cache
def problem():
    """Why no sandbox can be made on this machine; "" if one can."""
    if not sys.platform.startswith("linux"):
        return "bubblewrap exists only for Linux"
    if not shutil.which("bwrap"):
        return (
            "bubblewrap is not installed (on Debian and Ubuntu: sudo apt install bubblewrap; "
            "elsewhere the "
            "package has the same name)"
        )
    with filtered() as rules:
        tried = subprocess.run(
            [*prefix(rules.fileno()), sys.executable, "-c", "pass"],
            stdin=subprocess.DEVNULL,
            env={},
            pass_fds=[rules.fileno()],
            capture_output=True,
            text=True,
            errors="replace",
        )
    said = (tried.stderr.strip().splitlines() or ["it ended without a message"])[-1]
    return (
        "bubblewrap 0.7 or newer is needed, and must be allowed to make namespaces; here it "
        f"says: {said}"
        if tried.returncode
        else ""
    )


def command(rules=None):
    """The command that runs notebook.py, in the sandbox if the file number of the filter's rules is
    given.
    """
    start = START.format([str(ROOT), *_search_path()])
    return [*(prefix(rules) if rules is not None else ()), sys.executable, "-P", "-s", "-c", start]


def prefix(rules):
    """bubblewrap's own part of the command."""
    shut = [
        "--unshare-all",
        "--unshare-user",
        "--uid",
        NO_USER,
        "--gid",
        NO_USER,
        "--hostname",
        "sandbox",
        "--cap-drop",
        "ALL",
        "--die-with-parent",
        "--new-session",
        "--seccomp",
        str(rules),
    ]
    inside = [
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--size",
        str(DISK),
        "--tmpfs",
        HOME,
        "--chdir",
        HOME,
    ]
    return [
        shutil.which("bwrap"),
        *shut,
        *inside,
        *_settings(),
        *_mounts(),
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--",
    ]


def environment(home):
    """Nothing from the lecturer's environment, which may hold passwords."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return dict(
        threads,
        HOME=home,
        TMPDIR=home,
        LANG="C.UTF-8",
        PYTHONUTF8="1",
        PYTHONHASHSEED="0",
        PYTHONDONTWRITEBYTECODE="1",
        MPLBACKEND="Agg",
        TRITON_INTERPRET="1",
        CUDA_VISIBLE_DEVICES="",
    )


# ---------------------------------------------------------------- what is mounted


def _mounts():
    """Read-only, at the same paths; links of the system stay links."""
    found = sorted(path for path in {*SYSTEM, *interpreter()} if os.path.exists(path))
    for path in (
        path for path in found if not any(path.startswith(f"{above}/") for above in found)
    ):
        if os.path.islink(path) and path in SYSTEM:
            yield from ("--symlink", os.readlink(path), path)
        else:
            yield from ("--ro-bind", path, path)


def _settings():
    """Hides the kernel's settings: those in /proc belong to root, even in here if root grades."""
    for entry in sorted(os.scandir("/proc"), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False) and not entry.name.isdigit():
            yield from ("--size", "4096", "--tmpfs", entry.path, "--remount-ro", entry.path)
        elif entry.is_file(follow_symlinks=False) and entry.stat().st_mode & 0o222:
            yield from ("--ro-bind", "/dev/null", entry.path)


@functools.cache
def interpreter():
    """The paths of Python, of the packages that it finds, and of this distribution.

    Only what Python needs from an environment's folder: people keep other things in it, such as
    what a class hands in.
    """
    own = {
        os.path.join(place, name)
        for place in _prefixes()
        for name in ("lib", "lib32", "lib64", "pyvenv.cfg")
    }
    links = {sys.executable, os.path.realpath(sys.executable)}
    return {
        *own,
        *links,
        *_search_path(),
        *_homes(),
        *(str(ROOT / name) for name in ("attncourse", "attnlib")),
    }


def _prefixes():
    return {sys.prefix, sys.base_prefix, sys.exec_prefix} - {"/usr", "/usr/local", "/"}


def within(path):
    """The mounted folder that this path lies in, which every notebook could read, or ""."""
    real = os.path.realpath(path)
    mounted = {
        os.path.realpath(place) for place in (*SYSTEM, *interpreter()) if os.path.isdir(place)
    }
    return next(
        (place for place in sorted(mounted) if real == place or real.startswith(f"{place}/")), ""
    )


def _search_path():
    """sys.path without the folder that the command runs in, and without anything else that was
    added.
    """
    own = (sys.prefix, sys.base_prefix, site.getuserbase())
    return [
        path
        for path in sys.path
        if os.path.isabs(path)
        and os.path.exists(path)
        and path != str(ROOT)
        and (
            path.endswith(("-packages", ".zip"))
            or path.startswith(tuple(f"{place}/lib" for place in own))
        )
    ]


def _homes():
    """Where links to the libraries lead, for environments that are made of links."""
    for spec in filter(None, map(importlib.util.find_spec, LIBRARIES)):
        if spec.origin:
            home = Path(spec.origin).resolve().parents[1]
            if home.name.endswith("-packages"):
                yield str(home)


# ---------------------------------------------------------------- the filter of system calls

# By machine: its number, that of clone, and of what is refused: what gives memory that no limit
# counts, other
# namespaces (a tmpfs of any size), or more of the kernel than a notebook needs: memfd_create,
# memfd_secret, shmget,
# msgget, semget, mount, unshare, setns, io_uring_setup, userfaultfd, bpf, perf_event_open,
# add_key, request_key,
# keyctl, ptrace. Then socket, and what does nothing: all of chmod, chown, utime and setxattr,
# which work on the devices in /dev, where
# root grades.
CALLS = {
    "x86_64": (
        0xC000003E,
        56,
        41,
        (319, 447, 29, 68, 64, 165, 272, 308, 425, 323, 321, 298, 248, 249, 250, 101),
        (90, 91, 92, 93, 94, 132, 188, 189, 190, 235, 260, 261, 268, 280, 452),
    ),
    "aarch64": (
        0xC00000B7,
        220,
        198,
        (279, 447, 194, 186, 190, 40, 97, 268, 425, 282, 280, 241, 217, 218, 219, 117),
        (5, 6, 7, 52, 53, 54, 55, 88, 452),
    ),
}
CLONE3, OTHER_TABLE, NEW_NAMESPACES = 435, 0x40000000, 0x7E020000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERROR, NOT_PERMITTED, NOT_THERE = (
    0x7FFF0000,
    0x80000000,
    0x00050000,
    0x00050001,
    0x00050026,
)
NO_FAMILY = 0x00050061
# Unix, IPv4, IPv6 and netlink belong to the sandbox's own network, which has nobody in it.
# Others, such as vsock, which
# leads out of a virtual machine, know no networks of their own.
FAMILIES = (1, 2, 10, 16)


def filtered():
    """A file with the filter, as classic BPF; clone3 is "not there", so that the C library asks
    clone, whose flags can be read (https://docs.kernel.org/userspace-api/seccomp_filter.html)."""
    file = tempfile.TemporaryFile()
    if platform.machine() in CALLS:
        file.write(_rules(*CALLS[platform.machine()]))
    else:
        file.write(struct.pack("=HBBI", RETURN, 0, 0, ALLOW))
    file.seek(0)
    return file


def _rules(machine, clone, socket, refused, idle):
    steps = [
        (LOAD, 0, 0, 4),
        (EQUAL, 1, 0, machine),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, 0),
        (AT_LEAST, 0, 1, OTHER_TABLE),
        (RETURN, 0, 0, NOT_PERMITTED),
    ]
    for number in (*refused, *idle):
        steps += [
            (EQUAL, 0, 1, number),
            (RETURN, 0, 0, NOT_PERMITTED if number in refused else ERROR),
        ]
    steps += [(EQUAL, 0, len(FAMILIES) + 3, socket), (LOAD, 0, 0, 16)]
    steps += [(EQUAL, len(FAMILIES) - n, 0, family) for n, family in enumerate(FAMILIES)]
    steps += [(RETURN, 0, 0, NO_FAMILY), (RETURN, 0, 0, ALLOW)]
    steps += [
        (EQUAL, 0, 1, CLONE3),
        (RETURN, 0, 0, NOT_THERE),
        (EQUAL, 0, 3, clone),
        (LOAD, 0, 0, 16),
        (ANY_BIT, 0, 1, NEW_NAMESPACES),
        (RETURN, 0, 0, NOT_PERMITTED),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
