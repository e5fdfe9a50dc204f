"""Runs the text of a cell a statement at a time, as a notebook would run all of it."""

import __future__

import ast
import inspect
import io
import linecache


def lines(source):
    """The lines as Python counts them. str.splitlines parts at form feeds, U+0085 and U+2028
    too.
    """
    return io.StringIO(source, newline=None).readlines()


def remember(name, source):
    """Let tracebacks and inspect find the text."""
    linecache.cache[name] = len(source), None, lines(source), name


def run(statement, names, file):
    """Run one statement; what it awaits is waited for, as Jupyter does at the top level."""
    code = compile(
        ast.fix_missing_locations(ast.Module([statement], [])),
        file,
        "exec",
        futures(names) | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        dont_inherit=True,
    )
    if code.co_flags & inspect.CO_COROUTINE:
        return _wait(eval(code, names))
    exec(code, names)


def futures(names):
    """The flags of what cells above have imported from __future__: it holds for the cells below."""
    flags = [
        found.compiler_flag
        for found in list(names.values())
        if isinstance(found, __future__._Feature)
    ]
    return sum(set(flags))


def _wait(coroutine):
    import asyncio  # few need it

    global _loop
    _loop = _loop or asyncio.new_event_loop()
    return _loop.run_until_complete(coroutine)


_loop = None
