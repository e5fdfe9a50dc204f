"""Put the notebooks that Colab opens on their own branch: `python3 run.py publish`.

They are the notebooks of the last commit, with the address and the commit filled in in their set-up
cells. The branch holds nothing else, is made anew each time, and neither the working tree nor the
index is touched.
"""

import os
import subprocess
import sys
import tempfile

from book import address
from book.notebooks import ROOT

README = """\
# For Colab

The notebooks of the book, as its Colab buttons open them: each installs attnlib of commit {commit}. Made by `python3 run.py publish`; what you change here is lost with the next.
"""  # noqa: E501


class Unpublished(Exception):
    """Why nothing was pushed, in a sentence."""


def main(root=ROOT):
    try:
        url, branch, count = publish(root)
    except Unpublished as problem:
        print(f"publish: {problem}", file=sys.stderr)
        return 1
    print(f"publish: {count} notebooks on the branch {branch} of {url}")
    return 0


def publish(root):
    url, branch = address.find(root), address.configured(root)["branch"]
    if url is None:
        raise Unpublished(
            "no address is known: _config.yml names none, and this clone has no remote called"
            " origin on the web."
        )
    commit = last_commit(root)
    files = notebooks_of(root, commit, url)
    with tempfile.TemporaryDirectory() as folder:
        made = commit_of(
            root,
            {**files, "README.md": README.format(commit=commit)},
            commit,
            os.path.join(folder, "index"),
        )
    try:
        address.git(root, "push", "--quiet", "--force", "origin", f"{made}:refs/heads/{branch}")
    except subprocess.CalledProcessError as error:
        raise Unpublished(f"git could not push to origin: {error.stderr.strip()}") from None
    return url, branch, len(files)


def last_commit(root):
    """HEAD, which others can only install once it is pushed."""
    commit = address.git(root, "rev-parse", "HEAD")
    if not address.git(root, "branch", "--remotes", "--contains", commit):
        raise Unpublished(
            f"the last commit, {commit[:7]}, is on no remote branch yet: push it first."
        )
    return commit


def notebooks_of(root, commit, url):
    """{path: text} of the commit's notebooks, filled in."""
    paths = address.git(root, "ls-tree", "-r", "-z", "--name-only", commit, "chapters").split("\0")
    return {
        path: address.fill_in(address.git(root, "show", f"{commit}:{path}"), url, commit)
        for path in paths
        if path.endswith(".ipynb")
    }


def commit_of(root, files, commit, index):
    """A commit without parents that holds these files; its date and author are the source's."""
    environ = dict(os.environ, GIT_INDEX_FILE=index)
    for name in ("NAME", "EMAIL", "DATE"):
        environ["GIT_AUTHOR_" + name] = environ["GIT_COMMITTER_" + name] = address.git(
            root, "show", "--no-patch", f"--format=%a{name[0].lower()}", commit
        )
    entries = "".join(
        f"100644 {address.git(root, 'hash-object', '-w', '--stdin', input=text)}\t{path}\0"
        for path, text in files.items()
    )
    address.git(root, "update-index", "--add", "-z", "--index-info", input=entries, env=environ)
    tree = address.git(root, "write-tree", env=environ)
    return address.git(
        root, "commit-tree", tree, "-m", f"Notebooks for Colab, of {commit[:7]}", env=environ
    )


if __name__ == "__main__":
    sys.exit(main())
