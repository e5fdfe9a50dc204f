"""The book's public address: found, so that a fork need not type it.

`_config.yml` counts first, then the environment of the continuous integration, then the clone's
remote `origin`. A build without any address shows no button that would lead nowhere. The pages and
what Colab opens name the address; the sources never do.
"""

import html
import json
import os
import re
import subprocess

import yaml

from book.notebooks import ROOT, is_set_up, set_up_source

BUTTONS = ("use_repository_button", "use_issues_button")


def find(root=ROOT, environ=os.environ):
    """https://host/owner/name, or None if nothing says it."""
    for text in (configured(root)["url"], of_ci(environ), of_remote(root)):
        if text and as_web(text):
            return as_web(text)
    return None


def configured(root=ROOT):
    """What _config.yml says: the title, a url (mostly none), and the branch that Colab opens."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return {"title": config["title"], "url": "", **config["repository"]}


def of_ci(environ):
    """GitHub's and Forgejo's variables, or GitLab's."""
    if environ.get("GITHUB_REPOSITORY"):
        server = environ.get("GITHUB_SERVER_URL", "https://github.com")
        return f"{server}/{environ['GITHUB_REPOSITORY']}"
    return environ.get("CI_PROJECT_URL")


def of_remote(root):
    """What `git remote` says; a folder that is merely inside another clone has no address."""
    try:
        top, url = (
            git(root, *words)
            for words in (("rev-parse", "--show-toplevel"), ("remote", "get-url", "origin"))
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return url if os.path.samefile(top, root) else None


def git(root, *words, **options):
    return subprocess.run(
        ["git", "-C", str(root), *words],
        check=True,
        text=True,
        encoding="utf-8",
        capture_output=True,
        **options,
    ).stdout.strip()


def as_web(text):
    """https://host/owner/name of a remote in any of git's forms, without a name or a password."""
    found = re.fullmatch(
        r"(?:(?:https?|ssh|git)://)?(?:[^@/\s]+@)?([\w-]+(?:\.[\w-]+)+)(?::\d+(?=/))?[:/](\S+?)/?(?:\.git)?/?",
        text.strip(),
    )
    return f"https://{found[1]}/{found[2]}" if found and "/" in found[2] else None


# --- in the notebooks that leave the clone ------------------------------------


def fill_in(content, url, commit=None):
    """The notebook's text with a set-up cell that installs from the address, at the commit if one
    is named.
    """
    notebook = json.loads(content)
    place = f"git+{url}" + (f"@{commit}" if commit else "")
    for cell in notebook["cells"]:
        if is_set_up({**cell, "source": "".join(cell["source"])}):
            cell["source"] = set_up_source(place).splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


# --- in the pages -------------------------------------------------------------


def tell_theme(app, config):
    """Show buttons only if they lead somewhere: Colab opens what is on GitHub."""
    url, options = find(), config.html_theme_options
    options.update({"repository_url": url or ""}, **dict.fromkeys(BUTTONS, bool(url)))
    if not (url or "").startswith("https://github.com/"):
        options["launch_buttons"] = {}


CARD = """
<meta property="og:type" content="book" /><meta property="og:title" content="{title}" />
<meta property="og:url" content="{site}{page}" /><meta property="og:image" content="{site}card.png" />
<meta name="twitter:card" content="summary_large_image" />"""  # noqa: E501


def site(url):
    """Where GitHub's or GitLab's Pages show the repository at the address, or None."""
    host, owner, name = (
        re.fullmatch(r"https://([^/]+)/([^/]+)/(.+)", url or "").groups() if url else (None,) * 3
    )
    pages = {"github.com": "github.io", "gitlab.com": "gitlab.io"}.get(host)
    own = (
        pages and name.lower() == f"{owner}.{pages}".lower()
    )  # the owner's own page stands at the root
    return pages and f"https://{owner.lower()}.{pages}/" + ("" if own else name + "/")


def add_card(app, pagename, templatename, context, doctree):
    """What a chat or a search engine shows for a link to the page; this needs full addresses."""
    home = site(find())
    if home and doctree is not None:
        title = html.escape(
            f"{app.env.titles[pagename].astext()} - {app.config.html_title}", quote=True
        )
        context["metatags"] = context.get("metatags", "") + CARD.format(
            title=title, site=home, page=pagename + ".html"
        )


def fill_in_downloads(app, exception):
    """Make the notebooks that a page offers for download work without the clone."""
    url = find()
    if exception or not url:
        return
    for path in (app.outdir / "_sources").rglob("*.ipynb"):
        filled = fill_in(path.read_text(encoding="utf-8"), url, os.environ.get("GITHUB_SHA"))
        path.write_text(filled, encoding="utf-8")


def setup(app):
    app.connect("config-inited", tell_theme)
    app.connect("html-page-context", add_card)
    app.connect("build-finished", fill_in_downloads, priority=100)  # before what packs the pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
