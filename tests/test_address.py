"""The public address is found, and the notebooks that Colab opens are published with it."""

import json
import subprocess
from types import SimpleNamespace

import nbformat
import pytest

from book import address, notebooks, publish

CONFIG = "title: A Book\nrepository:\n  branch: colab\n"
SET_UP = notebooks.set_up_source("..")


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/someone/a-book",
        "https://github.com/someone/a-book.git/",
        "git@github.com:someone/a-book.git",
        "ssh://git@github.com:22/someone/a-book.git",
        "https://name:word@github.com/someone/a-book.git",
    ],
)
def test_remotes_in_all_their_forms_give_one_address(remote):
    assert address.as_web(remote) == "https://github.com/someone/a-book"


@pytest.mark.parametrize(
    "remote", ["/srv/git/a-book.git", "../a-book", "C:\\books\\a-book", "", "origin"]
)
def test_a_folder_is_no_address(remote):
    assert address.as_web(remote) is None


def git(folder, *words):
    return address.git(folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words)


@pytest.fixture
def clone(tmp_path):
    """A clone with one pushed commit; a bare repository stands in for the public one."""
    bare, folder = tmp_path / "public.git", tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    (folder / "chapters" / "solutions").mkdir(parents=True)
    for name, place in (("01_ä", ".."), ("solutions/01_ä", "../..")):
        cells = [
            nbformat.v4.new_markdown_cell("# Ä", id="a"),
            nbformat.v4.new_code_cell(notebooks.set_up_source(place), id="b"),
        ]
        nbformat.write(
            nbformat.v4.new_notebook(cells=cells), folder / "chapters" / (name + ".ipynb")
        )
    (folder / "_config.yml").write_text(CONFIG, encoding="utf-8")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "one")
    git(folder, "remote", "add", "origin", str(bare))
    git(folder, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    git(folder, "fetch", "--quiet")
    return SimpleNamespace(folder=folder, bare=bare, commit=git(folder, "rev-parse", "HEAD"))


def test_config_goes_before_ci_and_ci_before_the_remote(clone):
    ci = {"GITHUB_REPOSITORY": "ci/book", "GITHUB_SERVER_URL": "https://github.com"}
    assert address.find(clone.folder, {}) is None  # its remote is a folder
    git(clone.folder, "remote", "set-url", "origin", "git@example.org:remote/book.git")
    assert address.find(clone.folder, {}) == "https://example.org/remote/book"
    assert (
        address.find(clone.folder, {"CI_PROJECT_URL": "https://example.org/lab/book"})
        == "https://example.org/lab/book"
    )
    assert address.find(clone.folder, ci) == "https://github.com/ci/book"
    (clone.folder / "_config.yml").write_text(
        CONFIG + "  url: https://example.org/typed/book\n", encoding="utf-8"
    )
    assert address.find(clone.folder, ci) == "https://example.org/typed/book"


def test_an_unpacked_archive_takes_no_address_from_a_clone_around_it(clone):
    git(clone.folder, "remote", "set-url", "origin", "git@example.org:remote/book.git")
    inner = clone.folder / "archive"
    inner.mkdir()
    (inner / "_config.yml").write_text(CONFIG, encoding="utf-8")
    assert address.find(inner, {}) is None


def published(clone):
    files = git(clone.bare, "ls-tree", "-r", "-z", "--name-only", "colab").strip("\0").split("\0")
    return {name: git(clone.bare, "show", f"colab:{name}") for name in files}


def test_published_notebooks_install_from_the_address_and_the_sources_stay(
    clone, monkeypatch, capsys
):
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/a-book")
    for _ in range(2):
        assert publish.main(clone.folder) == 0
    assert (
        "2 notebooks on the branch colab of https://github.com/someone/a-book"
        in capsys.readouterr().out
    )
    files = published(clone)
    assert sorted(files) == ["README.md", "chapters/01_ä.ipynb", "chapters/solutions/01_ä.ipynb"]
    place = f"git+https://github.com/someone/a-book@{clone.commit}"
    for name in list(files)[1:]:
        cells = nbformat.reads(files[name], as_version=4).cells
        assert [cell.source for cell in cells] == ["# Ä", notebooks.set_up_source(place)]
    assert git(clone.folder, "status", "--porcelain") == ""
    assert git(clone.bare, "rev-list", "--count", "colab") == "1"


def test_a_commit_that_nobody_can_fetch_is_not_published(clone, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/a-book")
    git(clone.folder, "commit", "--quiet", "--allow-empty", "--message", "two")
    assert publish.main(clone.folder) == 1
    assert "push it first" in capsys.readouterr().err
    assert "colab" not in git(clone.bare, "branch", "--list")


def test_without_an_address_nothing_is_published(clone, monkeypatch, capsys):
    for name in ("GITHUB_REPOSITORY", "CI_PROJECT_URL"):
        monkeypatch.delenv(name, raising=False)
    assert publish.main(clone.folder) == 1
    assert "no address is known" in capsys.readouterr().err


def test_a_remote_that_refuses_is_said(clone, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/a-book")
    git(clone.folder, "remote", "set-url", "--push", "origin", str(clone.bare) + "-gone")
    assert publish.main(clone.folder) == 1
    assert "git could not push to origin" in capsys.readouterr().err


@pytest.mark.parametrize(
    "url, buttons, colab",
    [
        (None, False, False),
        ("https://example.org/a/b", True, False),
        ("https://github.com/a/b", True, True),
    ],
)
def test_the_theme_has_only_buttons_that_lead_somewhere(monkeypatch, url, buttons, colab):
    monkeypatch.setattr(address, "find", lambda: url)
    config = SimpleNamespace(
        html_theme_options={"launch_buttons": {"colab_url": "https://colab.research.google.com"}}
    )
    address.tell_theme(None, config)
    options = config.html_theme_options
    assert options["repository_url"] == (url or "")
    assert options["use_repository_button"] is options["use_issues_button"] is buttons
    assert bool(options["launch_buttons"]) is colab


def test_a_notebook_without_a_set_up_cell_stays_as_it_is():
    content = json.dumps({"cells": [{"cell_type": "code", "source": ["1 + 1"]}]}, indent=1) + "\n"
    assert address.fill_in(content, "https://github.com/a/b") == content


@pytest.mark.parametrize(
    "url, site",
    [
        (None, None),
        ("https://example.org/a/b", None),
        ("https://github.com/Ada/a-book", "https://ada.github.io/a-book/"),
        ("https://github.com/Ada/ada.github.io", "https://ada.github.io/"),
        ("https://gitlab.com/a/b/c", "https://a.gitlab.io/b/c/"),
    ],
)
def test_where_the_pages_stand(url, site):
    assert address.site(url) == site


def test_a_shared_page_shows_its_title_and_the_card(monkeypatch):
    monkeypatch.setattr(address, "find", lambda: "https://github.com/ada/a-book")
    title = SimpleNamespace(astext=lambda: 'A "quoted" title')
    app = SimpleNamespace(
        env=SimpleNamespace(titles={"chapters/01_a": title}),
        config=SimpleNamespace(html_title="Book"),
    )
    context = {"metatags": "<meta>"}
    address.add_card(app, "chapters/01_a", "page.html", context, object())
    assert (
        context["metatags"].startswith("<meta>")
        and 'content="https://ada.github.io/a-book/card.png"' in context["metatags"]
    )
    assert "A &quot;quoted&quot; title - Book" in context["metatags"]
