"""The code is linted, formatted and typed as pyproject.toml says."""

import subprocess
import sys

import pytest

from book.notebooks import ROOT


def run(*command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("command", [("ruff", "check"), ("ruff", "format", "--check"), ("mypy",)])
def test_the_code_is(command):
    code, said = run(*command)
    assert code == 0, said


@pytest.mark.parametrize(
    "text, command",
    [
        ("import os\n", ("ruff", "check")),
        (f"x = {'1 + ' * 30}1\n", ("ruff", "format", "--check")),
        ("import attnlib\n\nattnlib.causal_mask('3', 3)\n", ("mypy",)),
    ],
)
def test_what_is_not_so_is_found(tmp_path, text, command):
    file = tmp_path / "x.py"
    file.write_text(text)
    code, said = run(
        *command,
        "--config-file" if command == ("mypy",) else "--config",
        str(ROOT / "pyproject.toml"),
        str(file),
    )
    assert code != 0, said
