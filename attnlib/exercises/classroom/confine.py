"""What the process that runs submitted code may reach: a scratch folder, some memory, no network.

The fence is Landlock, the part of Linux that lets a process give up rights for itself and for all
that it starts (https://docs.kernel.org/userspace-api/landlock.html). Limits are those of POSIX.
"""

import ctypes
import importlib.util
import os
import resource
import sys
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls, the same on every machine
NO_NEW_PRIVILEGES = 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL = 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
# what each version of Landlock can refuse on files, by its number
REFUSED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
NO_TCP, NO_SIGNALS_OUTSIDE = 3, 3  # bits of the fields `net` (version 4) and `scoped` (version 6)

SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/nix", "/proc", "/sys")
LIBRARIES = ("numpy", "torch", "triton", "scipy", "matplotlib")
DEVICES = ("null", "zero", "full", "random", "urandom")
LARGEST_FILE = 256 << 20


def version():
    """Landlock's version on this machine; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(_system_call(CREATE_RULESET, None, 0, 1), 0)


def close(scratch):
    """From here on this process and its children write below `scratch` only; returns the version."""
    found = version()
    if found:
        fence = _ruleset(found)
        handled = _on_files(found)
        for path, rights in [*_readable(), *_devices(), (scratch, handled)]:
            _allow(fence, path, rights & handled)
        ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        if _system_call(RESTRICT_SELF, fence, 0):
            raise OSError("Landlock is there, but would not close the fence")
        os.close(fence)
    return found


def limit(memory):
    """No core files, no huge files, and at most `memory` bytes for this process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    # On Linux RLIMIT_DATA counts what is really asked for; RLIMIT_AS also counts addresses that are only
    # reserved, of which CUDA takes more than any machine has.
    kind = resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_AS
    try:
        resource.setrlimit(kind, (memory, memory))
    except (ValueError, OSError):
        pass  # macOS refuses it


def _on_files(found):
    return max(rights for since, rights in REFUSED.items() if since <= found)


def _ruleset(found):
    fields = (ctypes.c_uint64 * 3)(_on_files(found), NO_TCP if found >= 4 else 0,
                                   NO_SIGNALS_OUTSIDE if found >= 6 else 0)
    known = 8 if found < 4 else 16 if found < 6 else 24  # bytes of the structure in that version
    return _system_call(CREATE_RULESET, ctypes.byref(fields), known, 0)


def _readable():
    """(path, rights) of what Python, the libraries and attnlib need."""
    package = Path(__file__).resolve().parents[2]
    where = {*SYSTEM, sys.prefix, sys.base_prefix, sys.exec_prefix, str(package)}
    where |= {entry for entry in sys.path if entry.endswith(("-packages", ".zip"))}
    where |= set(_homes())
    yield from ((path, READ) for path in sorted(where))
    yield str(package.parent), READ_DIR  # an import looks there for the package's name


def _homes():
    """Where links to the libraries lead, for environments that are made of links."""
    for spec in filter(None, map(importlib.util.find_spec, LIBRARIES)):
        if spec.origin:
            yield str(Path(spec.origin).resolve().parents[2])


def _devices():
    names = [*DEVICES, *(name for name in os.listdir("/dev") if name.startswith("nvidia"))]
    yield from ((f"/dev/{name}", READ_FILE | WRITE_FILE | IOCTL) for name in names)


def _allow(fence, path, rights):
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # nothing there, so nothing to allow
    if not os.path.isdir(path):
        rights &= OF_A_FILE
    rule = rights.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder)
    _system_call(ADD_RULE, fence, 1, rule, 0)
    os.close(place)


def _system_call(number, *args):
    convert = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *convert)
