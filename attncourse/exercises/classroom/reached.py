"""Records what a notebook reaches for outside its sandbox, as far as Python sees it. Used inside
the sandbox. The sandbox refuses all of it; this only lets the lecturer know. It uses Python's audit
events (https://docs.python.org/3/library/audit_events.html); code that calls the kernel itself is
not seen.
"""

import os
import sys

FILES = {
    "open": "open",
    "os.listdir": "list",
    "os.scandir": "list",
    "os.remove": "delete",
    "os.rmdir": "delete",
    "shutil.rmtree": "delete",
    "os.rename": "rename",
    "os.truncate": "change",
    "os.chmod": "change",
    "os.chown": "change",
    "os.utime": "change",
    "os.link": "link",
    "os.symlink": "link",
    "os.chdir": "enter",
}
NETWORK = {
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.connect",
    "socket.bind",
    "socket.sendto",
}
PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pty.spawn"}
SIGNALS = {"os.kill", "os.killpg"}
MOST, LONGEST = 20, 120


def watch(tell):
    """From here on report each thing that is reached for, once, in a few words."""
    told, process, absolute = set(), os.getpid(), os.path.abspath
    home, readable = absolute(os.environ["HOME"]), _readable()

    def hook(event, args):
        try:
            words = _words(event, args, process, absolute, home, readable)
            if words and words not in told and len(told) < MOST:
                told.add(words)
                tell(words)
        except Exception:
            pass  # whatever a cell hands over must not end the run here

    sys.addaudithook(hook)


def _words(event, args, process, absolute, home, readable):
    if event in FILES:
        path = (
            absolute(os.fsdecode(args[0]))
            if isinstance(args[0], (str, bytes, os.PathLike))
            else home
        )
        writes = (
            FILES[event] not in ("open", "list", "enter") or event == "open" and _writes(*args[1:])
        )
        allowed = (
            path.startswith((home + "/", "/proc/self/")) or not writes and path.startswith(readable)
        )
        harmless = path in (home, "/", "/dev/null") and FILES[event] not in ("delete", "rename")
        return "" if allowed or harmless else f"{_verb(event, writes)} {path}"[:LONGEST]
    if event in NETWORK:
        where = args[-1] if event.startswith("socket.c") or event == "socket.bind" else args[0]
        if event == "socket.bind" and _is_this_machine(where):
            return ""  # as "import requests" does, to see whether there is IPv6
        return f"use the network ({_address(where)})"[:LONGEST]
    if event in PROGRAMS:
        return f"start a program ({args[0]})"[:LONGEST]
    if event in SIGNALS and args[0] != process and args[0] <= 2:
        return f"send a signal to process {args[0]}"
    return ""


def _is_this_machine(address):
    host = address[0] if isinstance(address, tuple) else ""
    return host in ("::1", "localhost") or str(host).startswith("127.")


def _address(where):
    """A host and its port as people write them; a path or a name as it is."""
    return ":".join(map(str, where[:2])) if isinstance(where, tuple) else where


def _verb(event, writes):
    return "write" if event == "open" and writes else "read" if event == "open" else FILES[event]


def _writes(mode, flags):
    return bool(set(mode or "") & set("wax+")) or bool(
        flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    )


def _readable():
    """What Python and its libraries open by themselves."""
    own = (
        "/proc/self/",
        f"/proc/{os.getpid()}/",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/stat",
        "/sys/",
        "/dev/",
    )
    root = os.path.abspath(__file__)
    for _ in range(4):
        root = os.path.dirname(root)
    return (
        *own,
        "/usr/",
        "/lib",
        "/etc/ld.so",
        "/etc/alternatives",
        *(os.path.join(place, "lib") for place in (sys.prefix, sys.base_prefix)),
        *(os.path.join(place, "pyvenv.cfg") for place in (sys.prefix, sys.base_prefix)),
        os.path.join(root, "attncourse"),
        os.path.join(root, "attnlib"),
        *sys.path[1:],
    )  # the first is the folder that attnlib lies in
