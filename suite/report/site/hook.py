"""MkDocs' hook (mkdocs.yml): it needs generated pages, keeps tables and charts from Markdown, and adds tooltips.

A table is finished HTML. Markdown and the search would each read every cell, which took nine tenths of a build.
"""

import re
from pathlib import Path
from typing import Any

_GLOSSARY = "glossary.md"
# What the search leaves out anyway. Attributes hold no '>', since all text on a page is escaped.
_FINISHED = re.compile(
    r'<div class="scroll"[^>]*><table[^>]* data-search-exclude>.*?</table></div>'
    r'|<figure class="chart[^>]* data-search-exclude>.*?</figure>'
    r'|<dl class="facts"[^>]* data-search-exclude>.*?</dl>',
    re.DOTALL,
)
# On a page that the search leaves out: also lists of hundreds of numbers with their reasons.
_UNSEARCHED = re.compile(
    _FINISHED.pattern.replace(" data-search-exclude", "") + r"|<ul class='reasons'>.*?</ul>", re.DOTALL
)
_PLACE = '<div data-finished="{}"></div>'
_PLACES = re.compile(_PLACE.format(r"(\d+)"))
_finished: dict[str, list[str]] = {}  # by page, in the order of their places


def on_config(config: Any) -> None:
    """Raise MkDocs' Abort with the remedy if the pages have not been generated, as in a fresh clone."""
    if not (Path(config.docs_dir) / "index.md").is_file():
        from mkdocs.exceptions import Abort

        raise Abort("no generated pages, such as the home page; run `suite report` first, which builds the site too")


def on_files(files: Any, config: Any) -> Any:
    """Leave out the pages that the last build has, see `unchanged`; links to them still lead to them."""
    from mkdocs.structure.files import InclusionLevel

    kept = set(config.extra.get("kept", ()))
    for file in files:
        if file.dest_uri in kept:
            file.inclusion = InclusionLevel.EXCLUDED
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page's Markdown with an empty place for each of its tables and charts."""
    parts = _finished[page.file.src_uri] = []

    def place(found: re.Match[str]) -> str:
        parts.append(found[0])
        return _PLACE.format(len(parts) - 1)

    searched = not page.meta.get("search", {}).get("exclude")
    return (_FINISHED if searched else _UNSEARCHED).sub(place, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Return a page's HTML with its tables and charts in their places, and with the glossary's tooltips."""
    from suite.report.site.terms import explained  # without the suite a build still names what is missing

    parts, path = _finished.pop(page.file.src_uri), page.file.src_uri
    html = _PLACES.sub(lambda found: parts[int(found[1])], output)
    return html if path == _GLOSSARY else explained(html, "../" * path.count("/"))
