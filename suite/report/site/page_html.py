"""A built page: its content security policy, no line break between a number and its unit, no blank lines."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

_INLINE = re.compile(r"<script(?P<attributes>[^>]*)>(?P<content>.*?)</script>", re.DOTALL)
_HOLE = re.compile(r"\{\{.*?\}\}")
_NO_PROGRAM = re.compile(r"""\bsrc=|\btype=["']?application/""")
# No eval, no foreign host, no inline script but the theme's. Charts and the theme use inline style.
_POLICY = (
    "default-src 'none'; script-src 'self'{file}{hashes}; style-src 'self'{file} 'unsafe-inline'; "
    "img-src 'self'{file} data:; font-src 'self'{file}; connect-src 'self'{file}; worker-src 'self'{file}; "
    "frame-src 'self'{file}; base-uri 'none'; form-action 'none'; object-src 'none'"
)


@cache
def themes() -> tuple[re.Pattern[str], ...]:
    """Return the theme's inline scripts as patterns, with the page's way to the root left open."""
    templates = files("material").joinpath("templates", "partials", "javascripts")
    texts = [path.read_text(encoding="utf-8") for path in templates.iterdir() if path.name.endswith(".html")]
    scripts = (m["content"] for text in texts for m in _INLINE.finditer(text))
    return tuple(re.compile(r"[./]*".join(map(re.escape, _HOLE.split(script)))) for script in scripts)


def protected(html: str) -> str:
    """Return a page with a content security policy that allows only the theme's own inline scripts."""
    scripts = dict.fromkeys(m["content"] for m in _INLINE.finditer(html) if not _NO_PROGRAM.search(m["attributes"]))
    own = [script for script in scripts if any(known.fullmatch(script) for known in themes())]
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in own)
    hashes = "".join(f" 'sha256-{digest}'" for digest in digests)
    policy = _POLICY.format(file=" file:", hashes=hashes)  # a page opened from a file has no 'self'
    return html.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{policy}">', 1)


_NO_BREAK = "\u00a0"
_UNITS = r"%|x|[nµm]?s|min|h|[kMGT]?(?:i?B|FLOP)|[kMGT]|W|J|°C|[kMG]?Hz"


def _parts(elements: str, kept: str, changed: str) -> re.Pattern[str]:
    """Return the pattern of a page's parts: those that change, and those that stay, so that nothing in them is touched.

    These `elements` stay, and tags, each run of them with the text between that is `kept`: a page has
    thousands of tags, and a call for each takes longer than all else.
    """
    return re.compile(
        rf"<({elements})\b.*?</\1>|(?:<(?!(?:{elements})\b)[^>]*>{kept})++|<[^>]*>|{changed}",
        re.DOTALL,
    )


_PARTS = _parts(
    "script|style|code|pre|textarea",
    kept=r"[^<\d]*+(?:\d(?! )[^<\d]*+)*+",
    changed=rf"(?<=\d) (?=(?:{_UNITS})(?![\w/]))",
)


def unbroken(html: str) -> str:
    """Return a page whose text breaks no line between a number and its unit; code and attributes stay as they are."""
    return _PARTS.sub(lambda part: _NO_BREAK if part[0] == " " else part[0], html)


_PARTS_AND_SPACE = _parts(
    "script|style|pre|textarea",
    kept=r"[^<\s&]*+(?:[ \n](?!\s)[^<\s&]*+)*+",
    changed=r"\s*\n\s*|&#95;",
)


def compact(html: str) -> str:
    """Return a page without blank lines, indentation and escaped underscores, which Markdown alone needs."""

    def shorter(part: re.Match[str]) -> str:
        text = part[0]
        return text if part[1] else "\n" if text.isspace() else text.replace("&#95;", "_")

    return _PARTS_AND_SPACE.sub(shorter, html)
