"""Notebooks as Colab opens them, for `pytest --nbval`: without this repository, and with only
Colab's packages.
"""

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile
import venv
from pathlib import Path

from nbval import kernel, plugin

from book import pins
from book.notebooks import PACKAGES, ROOT

IN_COLAB = ("numpy", "torch", "triton", "matplotlib", "ipykernel", "pip")


class Notebook(plugin.IPyNbFile):
    """A notebook whose code cells run in one kernel, alone in an empty folder; with --twice,
    twice.
    """

    def collect(self):
        cells = list(super().collect())
        yield from cells
        for cell in cells if self.config.getoption("twice") else ():
            yield plugin.IPyNbCell.from_parent(
                self,
                name=f"{cell.name} again",
                cell_num=cell.cell_num,
                cell=cell.cell,
                options=cell.options,
            )

    def setup(self):
        self.folder = tempfile.TemporaryDirectory()
        self.kernel = kernel.RunningKernel(colab(), cwd=self.folder.name)
        self.setup_sanitize_files()

    def teardown(self):
        super().teardown()
        left = os.listdir(self.folder.name)
        self.folder.cleanup()
        assert left == [], f"{self.path.name} left files behind: {left}"


@functools.cache
def colab():
    """The name of a kernel that has Colab's packages and this distribution's."""
    if os.name == "nt":  # links need rights there
        return "python3"
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    python = make_colab(folder / "env")
    for package in PACKAGES:
        (site_packages(python) / package).symlink_to(ROOT / package)
    make_kernel(folder / "kernels" / "colab", python)
    os.environ["JUPYTER_PATH"] = str(folder)
    return "colab"


def make_colab(folder):
    """An environment with only Colab's packages; its Python."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    for package in pins.with_what_they_need(IN_COLAB).values():
        link(package, site_packages(python))
    return python


@functools.cache
def site_packages(python):
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.check_output([python, "-c", ask], text=True).strip())


def link(package, folder):
    """Put a package's modules and its metadata into `folder` as links."""
    tops = {file.parts[0] for file in package.files or ()}
    for top in tops - {"..", "__pycache__"}:
        if not (folder / top).exists():
            (folder / top).symlink_to(package.locate_file(top))


def make_kernel(folder, python):
    folder.mkdir(parents=True)
    start = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    nothing_else = {
        "PYTHONPATH": "",
        "PYTHONNOUSERSITE": "1",
        "IPYTHONDIR": str(folder / "ipython"),
    }
    (folder / "kernel.json").write_text(
        json.dumps(
            {"display_name": "Colab", "language": "python", "argv": start, "env": nothing_else}
        )
    )
