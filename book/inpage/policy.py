"""A content security policy in every page: only what the book ships may run.

A script in a notebook's output, a handler in its HTML or a `javascript:` link in a formula is
inert: only scripts of the theme have their hash in the policy.
"""

import base64
import hashlib
import html
import json
import re
from pathlib import Path

ARTICLE = re.compile(r"<article\b.*</article>|<div class=\"slides\">.*</body>", re.DOTALL)
INLINE = re.compile(
    r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>" r"(.*?)</script>", re.DOTALL
)
HANDLER = re.compile(r'\son[a-z]+="([^"]*)"')
WRITTEN = re.compile(r'document\.write\(("(?:[^"\\]|\\.)*")\)')
# Such a page starts a worker from a blob, which gets this policy too; it compiles WebAssembly.
HAS_PYTHON = re.compile(r'id="inpage-data">[^<]*"python": ')
FOR_PYTHON = "worker-src 'self' blob:; "
POLICY = (
    "default-src 'self'; script-src {}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; object-src 'none'; "
    "form-action 'self'; base-uri 'none'"
)


def add_policies(app, exception):
    if exception is not None or app.builder.name != "html":
        return
    speaker = speakers_scripts(Path(app.outdir, "_static/reveal/notes.js"))
    pages = {path: path.read_text(encoding="utf-8") for path in Path(app.outdir).rglob("*.html")}
    # All handlers everywhere: the search page parses the other pages.
    handlers = {code for page in pages.values() for code in of_handlers(page)}
    for path, page in pages.items():
        if "<head>" in page:
            more = speaker if path.name.endswith(".slides.html") else []
            path.write_text(with_policy(page, handlers, more), encoding="utf-8")


def of_handlers(page):
    """The theme's own event handlers, such as its button for printing."""
    return [html.unescape(code) for code in HANDLER.findall(ARTICLE.sub("", page))]


def with_policy(page, handlers=(), more=()):
    """The page with its policy first in its head."""
    said = html.escape(policy(page, handlers, more), quote=False)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{said}">'
    return page.replace("<head>", f"<head>\n{meta}", 1)


def policy(page, handlers=(), more=()):
    """`more` are scripts that the page writes into a separate window."""
    scripts = [*INLINE.findall(ARTICLE.sub("", page)), *more]
    sources = ["'self'", *map(hashed, dict.fromkeys(scripts))]
    has_python = HAS_PYTHON.search(page) is not None
    sources += ["'wasm-unsafe-eval'"] * has_python
    if handlers:
        sources += ["'unsafe-hashes'", *map(hashed, sorted(handlers))]
    return FOR_PYTHON * has_python + POLICY.format(" ".join(sources))


def hashed(script):
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def speakers_scripts(plugin):
    """The scripts in the window that reveal.js writes for the speaker."""
    if not plugin.exists():
        return []
    literals = WRITTEN.findall(plugin.read_text(encoding="utf-8"))
    texts = [
        json.loads(re.sub(r"\\x([0-9a-f]{2})", r"\\u00\1", literal).replace("\\'", "'"))
        for literal in literals
    ]
    return [script for text in texts for script in INLINE.findall(text)]


def setup(app):
    # After everything is written, before the archive is packed.
    app.connect("build-finished", add_policies, priority=850)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
