"""For `pytest --nbval`: notebooks run alone and twice, kernels alike everywhere, and figures compared; for
`pytest -n`: what a worker takes at once.

nbval compares texts; a changed figure passes it.
"""
import functools

import pytest


def pytest_configure(config):
    if config.getoption("nbval", False):
        from book import notebooks
        notebooks.use_one_environment()


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
    """An endless recursion that catches itself leaves thousands of errors, each the context of the next: hours to print."""
    error = call.excinfo and call.excinfo.value
    for _ in range(5):
        error = error and (error.__cause__ or error.__context__)
    if error:
        error.__cause__ = error.__context__ = None


# --- several workers ---

@functools.cache
def shares(path):
    """Whether the tests in a file use what is slow to make again: one kernel, or fixtures of the module."""
    return path.suffix == ".ipynb" or 'scope="module"' in path.read_text(encoding="utf-8")


def pytest_collection_modifyitems(items):
    """First the files that one worker takes whole: the small pieces fill the workers' time at the end."""
    items.sort(key=lambda item: not shares(item.path))


def pytest_xdist_make_scheduler(config, log):
    """With --dist loadscope a worker takes a function with all its cases, or such a file, and not every file whole."""
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Pieces(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return file if shares(config.rootpath / file) else nodeid.partition("[")[0]

    config.option.loadscopereorder = False  # most tests first is not longest first
    return Pieces(config, log)
