"""The built site: MkDocs, strict, from rendered pages to build/html, each with a policy of what may run in it."""

import base64
import hashlib
import os
import re
import subprocess
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path

from suite.report.typography import unbroken
from suite.results.files import writing

_LAST_LINES = 12
_INLINE = re.compile(r"<script(?P<attributes>[^>]*)>(?P<content>.*?)</script>", re.DOTALL)
_HOLE = re.compile(r"\{\{.*?\}\}")
_NO_PROGRAM = re.compile(r"""\bsrc=|\btype=["']?application/""")
# No eval, no foreign host, no script within a page but the theme's. Charts and the theme style inline.
_POLICY = (
    "default-src 'none'; script-src 'self'{file}{hashes}; style-src 'self'{file} 'unsafe-inline'; "
    "img-src 'self'{file} data:; font-src 'self'{file}; connect-src 'self'{file}; worker-src 'self'{file}; "
    "frame-src 'self'{file}; base-uri 'none'; form-action 'none'; object-src 'none'"
)


def build(root: Path) -> Path:
    """Build the site below the checkout's root and return its first page.

    Raises RuntimeError with MkDocs' last words if it finds anything wrong, or if a page cannot be written.
    """
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--config-file",
        str(root / "mkdocs.yml"),
    ]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    answer = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **quiet}, check=False)
    if answer.returncode:
        words = "\n".join((answer.stdout + answer.stderr).strip().splitlines()[-_LAST_LINES:])
        if "No module named mkdocs" in words:
            words = "MkDocs is not installed; install the site extra: pip install '.[site]', or add --no-build"
        raise RuntimeError(f"the site was not built: {words}")
    built = root / "build" / "html"
    with writing(built):
        for page in built.rglob("*.html"):
            page.write_text(protected(unbroken(page.read_text(encoding="utf-8"))), encoding="utf-8")
    return built / "index.html"


@cache
def themes() -> tuple[re.Pattern[str], ...]:
    """Return the scripts that the theme writes into pages, with the page's way to the root left open."""
    templates = files("material").joinpath("templates", "partials", "javascripts")
    texts = [path.read_text(encoding="utf-8") for path in templates.iterdir() if path.name.endswith(".html")]
    scripts = (m["content"] for text in texts for m in _INLINE.finditer(text))
    return tuple(re.compile(r"[./]*".join(map(re.escape, _HOLE.split(script)))) for script in scripts)


def protected(html: str) -> str:
    """Return a page with a content security policy that lets the theme's own scripts run in it, and no others."""
    scripts = dict.fromkeys(m["content"] for m in _INLINE.finditer(html) if not _NO_PROGRAM.search(m["attributes"]))
    own = [script for script in scripts if any(known.fullmatch(script) for known in themes())]
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in own)
    hashes = "".join(f" 'sha256-{digest}'" for digest in digests)
    policy = _POLICY.format(file=" file:", hashes=hashes)  # a page opened from a file has no 'self'
    return html.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{policy}">', 1)
