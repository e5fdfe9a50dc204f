"""For `pytest --nbval`: notebooks run alone, kernels are alike everywhere, and figures are
compared. For `pytest -n`: what one worker takes at once, and a line that says how far the tests
are.

nbval compares texts; a changed figure passes it.
"""

import ast
import functools
import re
import time

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--twice",
        action="store_true",
        help=(
            "run each notebook's cells a second time "
            "in the same kernel: they must say the same again"
        ),
    )


def pytest_configure(config):
    if config.getoption("nbval", False):
        from book import notebooks

        notebooks.use_one_environment()
    is_worker = hasattr(config, "workerinput")
    if config.getoption("numprocesses", None) and not is_worker and config.option.verbose <= 0:
        config.pluginmanager.register(Progress(config), "progress line")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    found = yield
    if file_path.suffix != ".ipynb" or not found:
        return found
    from book import alone

    return [alone.Notebook.from_parent(parent, path=file_path)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    if item.path.suffix != ".ipynb":
        return (yield)
    from book import notebooks

    item.output_timeout = 60  # nbval's 5 seconds are few on a busy machine
    item.options["check"] = item.options["check"] and notebooks.says_the_same_here(item.cell)
    result = yield
    compare_figures(item)
    return result


def compare_figures(item):
    from nbval.plugin import NbCellError

    from book import figures

    if not item.options["check"]:
        return
    problem = figures.difference(item.cell.outputs, item.test_outputs)
    if problem is not None:
        raise NbCellError(item.cell_num, problem, item.cell.source)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """An endless recursion that catches itself leaves thousands of errors, each the context of the
    next: hours to print.
    """
    error = call.excinfo and call.excinfo.value
    for _ in range(5):
        error = error and (error.__cause__ or error.__context__)
    if error:
        error.__cause__ = error.__context__ = None


# --- several workers ---


@functools.cache
def shared_fixture(path):
    """{test: the first fixture of the module's scope that it rests on, the one that others rest on
    too}, for those that have one.
    """
    functions = {
        node.name: node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    needs = {name: [arg.arg for arg in node.args.args] for name, node in functions.items()}
    slow = {
        name
        for name, node in functions.items()
        if any("scope='module'" in ast.unparse(decorator) for decorator in node.decorator_list)
    }

    def first(name):
        found = next((found for other in needs.get(name, ()) if (found := first(other))), None)
        return found or (name if name in slow else None)

    return {name: found for name in functions if (found := first(name))}


@functools.cache
def shares(path):
    """Whether tests in a file use what is slow to make again: one kernel, or fixtures of the
    module.
    """
    return path.suffix == ".ipynb" or bool(shared_fixture(path))


@functools.cache
def size(path):
    """How long a file that one worker takes whole may take: a notebook's stored text tells."""
    return path.stat().st_size


def pytest_collection_modifyitems(items):
    """First the files whose tests share something, the largest first: small pieces fill the
    workers' time at the end.
    """
    items.sort(
        key=lambda item: (not shares(item.path), -size(item.path) if shares(item.path) else 0)
    )


def piece(root, nodeid):
    """What one worker takes at once: a notebook, the tests that share something slow, an exercise,
    or a function with its cases.

    All that concerns one exercise rests on the same predictions of its mistakes.
    """
    file, _, name = nodeid.partition("::")
    if file.endswith(".ipynb"):
        return file
    shared = shared_fixture(root / file).get(name.partition("[")[0])
    if shared:
        return f"{file}::{shared}"
    exercise = re.fullmatch(r"tests/test_exercises\.py::.*\[(\w+).*\]", nodeid)
    return exercise[1] if exercise else nodeid.partition("[")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Pieces(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return piece(config.rootpath, nodeid)

    config.option.loadscopereorder = False  # most tests first is not longest first
    return Pieces(config, log)


def pytest_runtest_teardown(item, nextitem):
    """A worker forgets an exercise's predictions with its last test: all of them together take
    gigabytes.
    """
    root = item.config.rootpath
    if item.path.name == "test_exercises.py" and not (
        nextitem and piece(root, nextitem.nodeid) == piece(root, item.nodeid)
    ):
        from attncourse.exercises.engine import changes, find

        changes.operators.cache_clear()
        for exercise in find.exercises().values():
            exercise.forget()


class Progress:
    """In place of a dot a test: every ten seconds how many are done, what runs, and since when."""

    def __init__(self, config):
        self.config, self.start, self.said = config, time.monotonic(), 0.0
        self.done, self.running = 0, {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report):
        if report.when == "call" and report.passed or report.skipped:
            return ("skipped" if report.skipped else "passed"), "", ""

    def pytest_runtest_logstart(self, nodeid):
        self.running[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid):
        self.done += 1
        self.running.pop(nodeid, None)
        if time.monotonic() - self.said >= 10:
            self.said = time.monotonic()
            self.config.get_terminal_writer().line(self.line())

    def line(self):
        now = time.monotonic()
        minutes, seconds = divmod(round(now - self.start), 60)
        running = ", ".join(
            f"{nodeid.partition('::')[0]} ({now - since:.0f} s)"
            for nodeid, since in self.running.items()
        )
        return f"{minutes:3} min {seconds:02} s: {self.done} tests done; running {running}"
