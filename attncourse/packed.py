"""Code that a chapter needs and a learner should not read yet: the students' edition packs it
(book/editions.py).
"""

import base64
import linecache
import textwrap
import zlib


def packed(source):
    """The source as text that a reader can't read."""
    return base64.b64encode(zlib.compress(source.encode(), 9)).decode()


def unpacked(text, names, space):
    """Run the packed source in the namespace of a notebook, and return what it defines under these
    names.
    """
    source = zlib.decompress(base64.b64decode(text)).decode()
    file = f"<packed {zlib.crc32(source.encode())}>"
    linecache.cache[file] = (
        len(source),
        None,
        source.splitlines(True),
        file,
    )  # Triton reads a kernel's source
    exec(compile(source, file, "exec"), space)
    found = [space[name] for name in names.split()]
    return found[0] if len(found) == 1 else found or None


def as_cell(source, names):
    """A cell that does the same as this one."""
    text = "\n".join(f'    "{line}"' for line in textwrap.wrap(packed(source), 60))
    given = f"{', '.join(names)} = " if names else ""
    return (
        '# Packed, because it answers an exercise.\nfrom attncourse.packed import unpacked\n\n'
        f'{given}unpacked(\n{text},\n    "{" ".join(names)}", globals())'
    )
