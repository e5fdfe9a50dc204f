"""For `pytest --nbval`: kernels alike everywhere, and figures compared.

nbval compares texts; a changed figure passes it.
"""
import pytest


def pytest_configure(config):
    if config.getoption("nbval", False):
        from book import notebooks
        notebooks.use_one_environment()


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
