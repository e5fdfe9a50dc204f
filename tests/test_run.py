"""run.py: what it makes, what it says when it cannot, and what fill writes."""

import ast
import errno
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import urllib.request
from importlib import metadata

import nbformat
import pytest

import run
from book import fill, notebooks, pins


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """An empty checkout in which run.py makes its folders."""
    for name in ("run.py", "requirements.txt", "constraints.txt", "pyproject.toml"):
        (tmp_path / name).write_text(name)
    html, student = (tmp_path / "_build" / name for name in ("html", "student"))
    for name, value in {
        "ROOT": tmp_path,
        "VENV": tmp_path / ".venv",
        "STAMP": tmp_path / ".venv" / "made-by-run.py",
        "HTML": html,
        "FIRST_PAGE": html / "index.html",
        "STUDENT": student,
        "LAST_PAGE": student / "index.html",
    }.items():
        monkeypatch.setattr(run, name, value)
    return tmp_path


@pytest.fixture
def programs(monkeypatch):
    """The programs that run.py started, in place of running them."""
    started = []

    def start(command, otherwise):
        started.append(command)
        if command[1:3] == ["-m", "venv"]:
            run.in_venv("python").parent.mkdir(parents=True)
            run.in_venv("python").touch()

    monkeypatch.setattr(run, "run_or_explain", start)
    monkeypatch.setattr(run.shutil, "which", lambda name: None)
    return started


def failing(text, code=1):
    """A command that writes `text` to stderr and fails."""
    return [sys.executable, "-c", f"import sys; sys.stderr.write({text!r}); sys.exit({code})"]


# --- the virtual environment ------------------------------------------------


def test_venv_is_made_once(checkout, programs):
    run.set_up()
    assert [c[2] for c in programs] == ["venv", "ensurepip", "pip"]
    assert programs[2][-4:] == [
        "--requirement",
        "requirements.txt",
        "--constraint",
        "constraints.txt",
    ]
    assert run.is_finished()
    run.set_up()
    assert len(programs) == 3


@pytest.mark.parametrize("code, then", [(0, []), (2, ["pip"])])
def test_uv_installs_where_it_is_and_pip_where_uv_fails(
    checkout, programs, monkeypatch, code, then
):
    calls = []
    monkeypatch.setattr(run.shutil, "which", lambda name: "/bin/" + name)
    monkeypatch.setenv("PIP_FIND_LINKS", "/wheels")
    monkeypatch.setattr(
        run, "call", lambda *command, **more: (calls.append((command, more)), code)[1]
    )
    run.set_up()
    [(command, more)] = calls
    assert command[:3] == ("/bin/uv", "pip", "install")
    assert run.in_venv("python") in command
    assert command[-4:] == ("--requirement", "requirements.txt", "--constraint", "constraints.txt")
    assert more["UV_FIND_LINKS"] == "/wheels"
    assert [c[2] for c in programs] == ["venv", "ensurepip", *then]
    assert run.is_finished()


def test_venv_is_made_by_a_python_outside_it(checkout, programs, monkeypatch):
    """Where .venv is activated, the Python that runs this goes with it."""
    monkeypatch.setattr(sys, "executable", str(run.in_venv("python")))
    run.set_up()
    assert programs[0][0] != sys.executable and pathlib.Path(programs[0][0]).exists()


@pytest.mark.parametrize("name", ["requirements.txt", "constraints.txt", "pyproject.toml"])
def test_venv_is_made_again_for_other_requirements(checkout, programs, name):
    run.set_up()
    (checkout / name).write_text("numpy==1.0")
    run.set_up()
    assert len(programs) == 6


def test_venv_is_made_again_for_another_python(checkout, programs, monkeypatch):
    run.set_up()
    monkeypatch.setattr(run.platform, "python_version", lambda: "3.99.0")
    assert not run.is_finished()


def test_moved_or_broken_venv_is_not_finished(checkout, programs, monkeypatch):
    run.set_up()
    monkeypatch.setattr(run, "ROOT", checkout / ".")
    assert run.is_finished()
    run.in_venv("python").unlink()
    assert not run.is_finished()


def test_killed_run_leaves_nothing_trusted(checkout, programs, capsys):
    run.set_up()
    run.STAMP.write_text("unfinished")
    (run.VENV / "half").touch()
    run.set_up()
    assert not (run.VENV / "half").exists() and len(programs) == 6
    assert "removing .venv" in capsys.readouterr().out


RUN_PIP = """\
import pathlib, run, sys
run.ROOT, program = pathlib.Path(sys.argv[1]), sys.argv[2]
with run.one_at_a_time():
    run.run_or_explain([sys.executable, "-c", program], "")"""
PIP = """\
import pathlib, time
print("installing", flush=True)
for number in range(100):
    pathlib.Path(".venv/lib", str(number)).mkdir(parents=True)
    time.sleep(0.01)"""


@pytest.mark.skipif(os.name == "nt", reason="nothing inherits a lock there")
def test_pip_that_outlives_its_run_is_waited_for(checkout, programs, capsys):
    run.VENV.mkdir()
    run.STAMP.write_text("unfinished")
    killed = subprocess.Popen(
        [sys.executable, "-c", RUN_PIP, str(checkout), PIP],
        text=True,
        cwd=notebooks.ROOT,
        stdout=subprocess.PIPE,
    )
    assert killed.stdout.readline() == "installing\n"
    killed.kill()
    killed.wait()
    run.set_up()
    assert "waiting for it" in capsys.readouterr().out
    assert run.is_finished() and not (run.VENV / "lib").exists()


def test_killed_removal_leaves_what_is_still_known_as_ours(checkout, programs, monkeypatch):
    def killed(path, **more):
        for file in pathlib.Path(path).glob("*.*"):
            file.unlink()
        raise SystemExit

    run.set_up()
    (run.VENV / "pyvenv.cfg").touch()
    (checkout / "requirements.txt").write_text("numpy==1.0")
    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(run.shutil, "rmtree", killed)
        run.set_up()
    run.set_up()
    assert run.is_finished()


def test_what_cannot_be_removed_is_said_to_be_left(checkout, programs, monkeypatch, capsys):
    def fail(*arguments):
        raise OSError(errno.ENOTEMPTY, "Directory not empty")

    monkeypatch.setattr(run, "remove_venv", fail)
    monkeypatch.setattr(run, "run_or_explain", fail)
    assert run.main(["book"]) == 1
    assert "a half-made .venv is left: the next run" in capsys.readouterr().err
    assert run.main(["book"]) == 1
    assert "could not be removed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error, said",
    [
        (run.Failure("no"), "no"),
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "the disk is full"),
        (KeyboardInterrupt(), "stopped"),
        (PermissionError(errno.EACCES, "Permission denied"), "denied"),
    ],
)
def test_failure_removes_the_half_made_venv(checkout, programs, monkeypatch, capsys, error, said):
    def fail(command, otherwise):
        raise error

    monkeypatch.setattr(run, "run_or_explain", fail)
    assert run.main(["book"]) != 0
    assert not run.VENV.exists()
    message = capsys.readouterr().err
    assert said in message and "half-made .venv was removed" in message
    assert message.count("\n") == 1


def test_foreign_folder_is_left_alone(checkout, programs, capsys):
    run.VENV.mkdir()
    (run.VENV / "thesis.tex").touch()
    assert run.main(["book"]) == 1
    assert "not a virtual environment" in capsys.readouterr().err
    assert (run.VENV / "thesis.tex").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_link_to_a_venv_is_left_alone(checkout, programs, capsys):
    (checkout / "elsewhere").mkdir()
    run.VENV.symlink_to(checkout / "elsewhere")
    assert run.main(["book"]) == 1
    assert "move it away" in capsys.readouterr().err


def test_foreign_venv_is_replaced_aloud(checkout, programs, capsys):
    run.VENV.mkdir()
    (run.VENV / "pyvenv.cfg").touch()
    run.set_up()
    assert "removing .venv" in capsys.readouterr().out
    assert run.is_finished()


@pytest.mark.parametrize(
    "written, said",
    [
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("OSError: [Errno 122] Disk quota exceeded: 'x'", "the disk is full"),
        (
            (
                "WARNING: Retrying after connection broken by 'NewConnectionError('\n"
                "ERROR: No matching distribution found for numpy"
            ),
            "download failed",
        ),
        (
            (
                "WARNING: Retrying after connection broken by 'NameResolutionError('\n"
                "ERROR: No matching distribution found for numpy"
            ),
            "download failed",
        ),
        (
            (
                "ERROR: Could not find a version that satisfies the requirement numpy "
                "(from versions: none)\nERROR: No matching distribution found for numpy"
            ),
            "check the connection",
        ),
        (
            (
                "ERROR: Could not find a version that satisfies the requirement torch==9 "
                "(from versions: 2.13.0)\nERROR: No matching distribution"
            ),
            "no build for",
        ),
        ("ERROR: something else", "its lines above say why"),
    ],
)
def test_failing_program_is_explained(checkout, capfd, written, said):
    with pytest.raises(run.Failure, match=said):
        run.run_or_explain(failing(written), "its lines above say why")
    assert written in capfd.readouterr().err


def test_disk_that_fills_during_ensurepip_is_explained(checkout, tmp_path, monkeypatch, capfd):
    (tmp_path / "sitecustomize.py").write_text(
        "import errno, shutil\n"
        "def copyfileobj(*arguments):\n"
        "    raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "shutil.copyfileobj = copyfileobj  # how pip writes what it unpacks\n"
    )
    outside = dict(run.environment(), PYTHONPATH=str(tmp_path))
    monkeypatch.setattr(run, "environment", lambda: outside)
    assert run.main(["book"]) == 1
    message = capfd.readouterr().err.splitlines()[-1]
    assert "the disk is full" in message
    assert not run.VENV.exists()


def test_missing_venv_module_is_explained(checkout, monkeypatch, capsys):
    monkeypatch.setattr(
        run.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else name
    )
    assert run.main(["test"]) == 1
    assert "python3-venv" in capsys.readouterr().err
    assert not run.VENV.exists()


def test_only_one_run_at_a_time(checkout):
    hold = (
        "import run, sys, pathlib; run.ROOT = pathlib.Path(sys.argv[1])\n"
        "with run.one_at_a_time(): print('held', flush=True); input()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", hold, str(checkout)],
        text=True,
        cwd=notebooks.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout.readline() == "held\n"
    with open(checkout / "run.py", "rb") as file:
        assert not run.lock(file)
    other.communicate("\n")
    with open(checkout / "run.py", "rb") as file:
        assert run.lock(file)


def test_old_python_is_told(monkeypatch, capsys):
    monkeypatch.setattr(run.sys, "version_info", (3, 8, 18))
    monkeypatch.setattr(run.platform, "python_version", lambda: "3.8.18")
    assert run.main(["book"]) == 1
    assert "needs Python 3.11 or newer; this is 3.8.18" in (capsys.readouterr().err)


def test_paths_outside_venv_are_kept_out(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    assert "PYTHONPATH" not in run.environment()


def test_pip_tries_again_and_says_so(monkeypatch):
    """Also where the reader's settings let it give up at once, or silently."""
    for name, value in {"PIP_RETRIES": "0", "PIP_QUIET": "3"}.items():
        monkeypatch.setenv(name, value)
    kept = run.environment()
    assert (kept["PIP_RETRIES"], kept["PIP_QUIET"]) == ("5", "0")


# --- the versions in .venv --------------------------------------------------


@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="others bring a few packages more than Linux, where this is written",
)
def test_constraints_hold_all_that_is_installed():
    text = pins.FILE.read_text(encoding="utf-8")
    assert pins.problems() == []
    for line in text.splitlines():
        name = line.partition("==")[0]
        if name in pins.installed():
            for mutant in ("", line.replace("==", "==1")):
                [problem] = pins.problems(text.replace(line + "\n", mutant + "\n"))
                assert problem.startswith(name + " ")


def test_pinned_versions_install_everywhere():
    """No version of one machine, such as 1.0+cpu, and nothing for one maker's GPUs."""
    lines = pins.FILE.read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if not line.startswith("#")]
    assert not [
        line for line in pinned if not re.fullmatch(r"[a-z0-9-]+==[0-9.]+(post\d+)?( ; .*)?", line)
    ]
    assert not [line for line in pinned if re.match("nvidia|cuda|attnlib", line)]
    markers = {line.partition("==")[0] for line in pinned if ";" in line}
    assert markers == {"triton"}


def imported(path):
    """The packages that a file imports, by the first part of their names."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        text = "\n".join(
            line
            for cell in cells
            if cell.cell_type == "code"
            for line in cell.source.splitlines()
            if not line.lstrip().startswith("%")
        )
        text = re.sub(r"^if .*find_spec.*$", "", text, flags=re.MULTILINE)
    else:
        text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        names = (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
        yield from (name.partition(".")[0] for name in names)


def test_requirements_name_what_is_imported():
    paths = [
        path
        for pattern in (
            "attncourse/**/*.py",
            "attnlib/**/*.py",
            "book/*.py",
            "tests/**/*.py",
            "*.py",
            "chapters/**/*.ipynb",
        )
        for path in notebooks.ROOT.glob(pattern)
    ]
    names = {name for path in paths for name in imported(path)}
    packages = metadata.packages_distributions()
    needed = {re.sub(r"[-_.]+", "-", packages[name][0]).lower() for name in names & set(packages)}
    assert {"numpy", "pyyaml", "nbformat"} <= needed
    assert needed - {"attncourse", "attnlib"} - set(pins.required()) == set()


# --- the commands -----------------------------------------------------------


@pytest.fixture
def calls(checkout, monkeypatch):
    """What the commands call, with set-up already done; exit code 3."""
    called = []
    monkeypatch.setattr(run, "set_up", lambda: None)
    monkeypatch.setattr(run, "call", lambda *c, **more: called.append(c) or 3)
    return called


class Program:
    """A program in place of one that run.py starts: it makes a page and ends with a code."""

    def __init__(self, command, code=0, page=None):
        self.command, self.code, self.killed = command, code, False
        if page is not None:
            touch(page)

    def wait(self):
        return self.code

    def poll(self):
        return self.code

    def kill(self):
        self.killed = True


@pytest.fixture
def builds(checkout, monkeypatch):
    """The programs that `book` starts, as (command, what goes into its environment)."""
    started = []

    def start(*command, more, **options):
        started.append((command, more))
        place = checkout
        if "--path-output" in command:
            place = command[command.index("--path-output") + 1]
        page = place / "_build" / "html" / "index.html" if "build" in command else None
        return Program(command, page=page)

    monkeypatch.setattr(run, "set_up", lambda: None)
    monkeypatch.setattr(run, "start", start)
    return started


def test_book_is_built_cold_and_fails_with_its_code(builds, checkout, monkeypatch, capsys):
    stale = checkout / "_build" / "html" / "stale.html"
    touch(stale)
    for failing in (0, 1):

        def start(*command, more, **options):
            is_student = "BOOK_EDITION" in more
            if "build" in command:
                assert {"-W", "-n"} <= set(command)
                if is_student:
                    options["stdout"].write(b"a warning of its own")
            return Program(command, code=3 * (is_student == failing and "build" in command))

        monkeypatch.setattr(run, "start", start)
        assert run.main(["book"]) == 3
        said = capsys.readouterr().err
        assert not stale.exists() and "the book was not built" in said
        assert ("a warning of its own" in said) == failing


def test_the_student_edition_is_built_beside_the_book(builds, checkout):
    assert run.main(["book"]) == 0
    environments = [more for command, more in builds if "build" in command]
    assert sorted(map(dict.items, environments), key=len) == [
        {}.items(),
        {"BOOK_EDITION": "student"}.items(),
    ]
    assert sorted(p.name for p in (checkout / "_build").iterdir()) == ["html", "student"]


def test_python_for_the_pages_is_fetched_before_they_are_built_or_left_out(builds):
    assert run.main(["book"]) == 0
    assert [command[1:3] for command, _ in builds][0] == ("-m", "book.inpage.fetch")
    builds.clear()
    assert run.main(["book", "--without-python"]) == 0
    assert [more.get("BOOK_WITHOUT_PYTHON") for _, more in builds] == ["1", "1"]
    assert not any("book.inpage.fetch" in command for command, _ in builds)


@pytest.mark.parametrize("command, module", [("check", "book.pages"), ("slides", "book.prints")])
def test_check_and_slides_build_the_book_first(builds, checkout, capsys, command, module):
    assert run.main([command]) == 0
    assert len([1 for command, _ in builds if "-W" in command]) == 2
    builds.clear()
    for path in (checkout / "_config.yml", checkout / "_toc.yml", run.FIRST_PAGE, run.LAST_PAGE):
        touch(path)
    assert run.main([command]) == 0
    assert [command[1:] for command, _ in builds] == [("-m", module, run.HTML)]


def test_test_passes_arguments_and_exit_code_on(calls):
    assert run.main(["test", "tests/test_run.py", "-k", "stamp", "-x"]) == 3
    assert calls[0][-4:] == ("tests/test_run.py", "-k", "stamp", "-x")


def test_pin_leaves_a_venv_that_is_finished(calls, checkout, monkeypatch):
    def write(*command):
        (checkout / "constraints.txt").write_text("numpy==2.4.6")
        return 0

    in_venv = run.in_venv("python")
    touch(in_venv)
    assert run.main(["pin"]) == 3 and not run.STAMP.exists()
    monkeypatch.setattr(run, "call", write)
    assert run.main(["pin"]) == 0 and run.is_finished()


def test_unknown_arguments_are_refused(calls, capsys):
    with pytest.raises(SystemExit) as exit:
        run.main(["book", "--fast"])
    assert exit.value.code == 2 and "--fast" in capsys.readouterr().err


def test_a_run_without_tests_fails(tmp_path):
    (tmp_path / "test_nothing.py").touch()
    assert (
        subprocess.call(
            [sys.executable, "-m", "pytest", "-q", str(tmp_path)], stdout=subprocess.DEVNULL
        )
        == 5
    )


def test_is_built_only_when_newer_than_its_sources(checkout):
    source = checkout / "chapters" / "a.md"
    for path in (
        source,
        checkout / "_config.yml",
        checkout / "_toc.yml",
        run.FIRST_PAGE,
        run.LAST_PAGE,
    ):
        touch(path)
    os.utime(source, (1, 1))
    assert run.is_built()
    os.utime(source, (1e10, 1e10))
    assert not run.is_built()


def test_a_build_that_is_killed_is_not_built(builds, checkout, monkeypatch):
    """After `html` is there, and before the student edition is."""

    def killed():
        raise KeyboardInterrupt

    for name in ("_config.yml", "_toc.yml"):
        (checkout / name).touch()
    assert run.main(["book"]) == 0 and run.is_built()
    wait = Program.wait
    for owner, name, instead in (
        (run.shutil, "rmtree", lambda *arguments: killed()),
        (Program, "wait", lambda self: killed() if "--path-output" in self.command else wait(self)),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, instead)
            assert run.main(["book"]) == 130
        assert run.FIRST_PAGE.exists() and not run.is_built()


def test_a_build_that_is_killed_ends_the_other_one(builds, checkout, monkeypatch):
    sleeping = []

    def start(*command, more, **options):
        if "build" not in command:
            return Program(command)
        sleeping.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
        return sleeping[-1] if "BOOK_EDITION" in more else Program(command, code=3)

    monkeypatch.setattr(run, "start", start)
    assert run.main(["book"]) == 3
    other = sleeping.pop()
    other.kill()
    other.wait()
    assert [program.poll() is not None for program in sleeping] == [True]


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return 0


def test_server_takes_a_free_port_or_says_that_there_is_none(checkout):
    run.HTML.mkdir(parents=True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(run.Failure, match="in use.*--port 9000"):
            run.open_server(taken.getsockname()[1])
    with run.open_server(None) as server:
        assert server.server_address[1] >= 8000
    with pytest.raises(run.Failure, match="from 0 to 65535; got 70000"):
        run.open_server(70000)


def test_server_names_what_a_browser_takes_by_its_name_alone(checkout):
    run.HTML.mkdir(parents=True)
    for name in ("a.mjs", "a.js", "a.wasm"):
        (run.HTML / name).write_bytes(b"")
    with run.open_server(None) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://localhost:{server.server_address[1]}/"
        types = [
            urllib.request.urlopen(root + name).headers["Content-Type"]
            for name in ("a.mjs", "a.js", "a.wasm")
        ]
        server.shutdown()
    assert types == ["text/javascript", "text/javascript", "application/wasm"]


# --- fill -------------------------------------------------------------------


@pytest.fixture
def chapter(tmp_path):
    """A notebook that nobody has run, as an editor leaves it."""
    path = tmp_path / "03_masks.ipynb"
    cells = [
        nbformat.v4.new_markdown_cell("# Masks"),
        nbformat.v4.new_code_cell(
            "print('α')\nprint(2)",
            id="kept",
            metadata={"execution": {"iopub.status.busy": "2026"}, "tags": ["mine"]},
        ),
        nbformat.v4.new_code_cell("1/0", metadata={"tags": ["raises-exception"]}),
    ]
    write(path, nbformat.v4.new_notebook(cells=cells))
    return path


def write(path, notebook):
    path.write_text(json.dumps(notebook, indent=4), encoding="utf-8")


def read(path):
    return nbformat.read(path, as_version=4)


def test_fill_stores_outputs_and_is_byte_identical_on_a_rerun(chapter):
    assert fill.fill(chapter) is True
    first = chapter.read_bytes()
    assert fill.fill(chapter) is False
    assert chapter.read_bytes() == first and first.endswith(b"}\n")
    set_up, printed, raised = [c for c in read(chapter).cells if c.cell_type == "code"]
    assert set_up.source == notebooks.set_up_source(notebooks.clone_of(chapter))
    assert set_up.outputs == [] and set_up.metadata.tags == ["remove-cell"]
    assert printed.outputs[0].text == "α\n2\n"
    assert printed.id == "kept" and printed.metadata == {"tags": ["mine"]}
    assert raised.outputs[0].traceback == ["ZeroDivisionError: division by zero"]


def test_fill_writes_a_new_address_over_the_old_one(chapter):
    notebook = read(chapter)
    fill.put_set_up(notebook, 'find_spec("attnlib") old')
    fill.put_set_up(notebook, 'find_spec("attnlib") new')
    sources = [cell.source for cell in notebook.cells]
    assert sources[:2] == ["# Masks", 'find_spec("attnlib") new']
    assert len(sources) == 4


def test_failing_notebook_stays_as_it_was(chapter, capsys):
    notebook = read(chapter)
    notebook.cells[1].source = "scores = [1]\nscores[3]"
    write(chapter, notebook)
    before = chapter.read_bytes()
    assert fill.report(chapter) is False
    assert chapter.read_bytes() == before
    said = capsys.readouterr().out
    assert "code cell 2 raised IndexError: list index out of range" in said
    assert "    scores[3]" in said


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_failed_write_leaves_the_notebook(chapter, monkeypatch):
    before = chapter.read_bytes()

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fill.os, "replace", full)
    with pytest.raises(OSError):
        fill.replace(chapter, b"new")
    assert chapter.read_bytes() == before
    assert list(chapter.parent.iterdir()) == [chapter]


def test_fill_keeps_what_was_saved_meanwhile(chapter, monkeypatch):
    monkeypatch.setattr(fill, "execute", lambda notebook, folder: chapter.write_text("saved"))
    assert fill.report(chapter) is False
    assert chapter.read_text() == "saved"


def test_fill_says_what_is_no_notebook(chapter, capsys):
    chapter.write_text("not json")
    assert fill.report(chapter) is False
    assert "not a notebook" in capsys.readouterr().out


def test_cells_without_ids_get_the_same_ids_each_time():
    old = json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 4,
            "metadata": {},
            "cells": [{"cell_type": "markdown", "metadata": {}, "source": "text"}],
        }
    ).encode()
    assert fill.read(old).cells[0].id == fill.read(old).cells[0].id


def test_chapters_are_named_by_path_name_stem_or_number(tmp_path):
    paths = [
        tmp_path / name
        for name in ("01_scores.ipynb", "03_softmax.ipynb", "solutions/03_softmax.ipynb")
    ]
    assert fill.chosen([], paths) == paths
    for name in ("03", "03_softmax", "03_softmax.ipynb"):
        assert fill.chosen([name], paths) == paths[1:]
    assert fill.chosen([str(paths[2])], paths) == paths[2:]
    with pytest.raises(fill.Unusable, match="no notebook is called '4'"):
        fill.chosen(["4"], paths)


# --- the tests on a device ----------------------------------------------------

COLLECT = """
import sys, torch
torch.cuda.is_available = lambda: {}
import pytest
sys.exit(pytest.main([*"--collect-only -q -p no:cacheprovider -m gpu".split(),
                      "tests/test_softmax_triton.py", "tests/test_steps.py",
                      "tests/test_bench_cuda.py"]))
"""


def collected(has_device):
    """What -m gpu finds where torch says that there is a device, or none."""
    return subprocess.run(
        [sys.executable, "-c", COLLECT.format(has_device)],
        cwd=run.ROOT,
        capture_output=True,
        text=True,
    )


def test_with_a_device_there_are_tests_of_it():
    pytest.importorskip("triton")
    done = collected(has_device=True)
    names = [line for line in done.stdout.splitlines() if "::" in line]
    for file in ("test_softmax_triton", "test_steps", "test_bench_cuda"):
        assert any(file in name for name in names), done.stdout
    assert all("cuda" in name for name in names)


def test_without_a_device_a_line_says_so():
    done = collected(has_device=False)
    assert done.returncode != 0 and done.stderr.splitlines() == [
        "ERROR: there is no CUDA device here, and -m gpu runs the tests that need one",
        "",
    ]
