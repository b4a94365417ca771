"""What makes a built page quotable from outside: its head and foot, its twins in Markdown and JSON, and llms.txt."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from html import escape
from pathlib import PurePosixPath

from suite.report.charts.previews import FOLDER as CARDS
from suite.report.charts.previews import HEIGHT, WIDTH
from suite.report.parts.embeds import SITE_NAME
from suite.report.parts.html import Html, address
from suite.report.site import page_markdown, page_tables

SCHEMA = "tables/1"
DATA = "data"  # folder of the tables as JSON, by page
FEED, PROGRAMS = "feed.xml", "llms.txt"
_WITH_CARDS = ("workloads", "numbers")  # folders whose pages show the card of their model
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_LEAD = re.compile(r'<p class="lead\b[^>]*>(.*?)</p>', re.DOTALL)
_PARAGRAPH = re.compile(r"<p(?: [^>]*)?>(.*?)</p>", re.DOTALL)
_DESCRIPTION = re.compile(r'<meta name="description" content="[^"]*">')
_OTHER = (
    'rel="related alternate"'  # the theme takes what is `alternate` alone for another language, and asks for its map
)
_LONGEST = 200  # letters of a description
_SECTIONS = {"": "Overview", "answers": "Questions", "experiments": "Experiments", "workloads": "Models",
             "machines": "Machines", "numbers": "Numbers"}  # fmt: skip
_FILES = {
    "numbers/index.json": "every current number in JSON: key, value, interval, state, machine, model, date",
    "numbers/results.csv": "the same in CSV",
    "pools.jsonl": "every stored number, one a line",
    FEED: "changed numbers, as an Atom feed",
}


@dataclass(frozen=True, kw_only=True)
class Site:
    """The address at which the site will be published, '' if unknown, and the files that it will have."""

    address: str
    files: Set[str]

    def link(self, path: str, page: str) -> str:
        """Return the address of a file, absolute if the site's is known, else relative to a page."""
        return escape(self.address or "../" * page.count("/")) + address(path)


def is_page(name: str) -> bool:
    """Return whether a file of MkDocs is a page; the page for missing addresses may be shown anywhere."""
    return name.endswith(".html") and name != "404.html"


def twin(name: str) -> str:
    """Return the path of a page's Markdown."""
    return f"{name.removesuffix('.html')}.md"


def tables_of(name: str) -> str:
    """Return the path of the JSON of a page's tables."""
    return f"{DATA}/{name.removesuffix('.html')}.json"


def dressed(html: str, name: str, site: Site) -> str:
    """Return a page with what previews and programs read in its head, and links to its twins at its foot."""
    if not is_page(name):
        return html
    content = page_tables.article(html)
    words = Html.escape(description(content))
    if words:
        html = _DESCRIPTION.sub(lambda _: f'<meta name="description" content="{words}">', html, count=1)
    html = html.replace("</head>", f"{''.join(_head(html, name, words, site))}</head>", 1)
    return html.replace("</article>", f"{_foot(content, name)}</article>", 1)


def _head(html: str, name: str, words: str, site: Site) -> Iterator[str]:
    up = "../" * name.count("/")
    yield f'<link {_OTHER} type="text/markdown" href="{address(PurePosixPath(twin(name)).name)}">'
    if FEED in site.files:
        yield f'<link {_OTHER} type="application/atom+xml" title="Changed numbers" href="{up}{FEED}">'
    properties = {
        "og:type": "website",
        "og:site_name": Html.escape(SITE_NAME),
        "og:title": Html.escape(heading(html, name)),
        "og:description": words,
        "og:url": site.link(name, name) if site.address else "",
    }
    shown = card(name, site.files)
    if shown:
        size = {"og:image:width": str(WIDTH), "og:image:height": str(HEIGHT)}
        properties |= {"og:image": site.link(shown, name), **size}
        yield '<meta name="twitter:card" content="summary_large_image">'
    for key, value in properties.items():
        if value:
            yield f'<meta property="{key}" content="{value}">'


def card(name: str, files: Set[str]) -> str:
    """Return the path of the card of a page; '' if it has none."""
    folder, _, page = name.rpartition("/")
    own = f"{CARDS}/{page.partition('.')[0]}.png" if folder in _WITH_CARDS else ""
    return next((each for each in (own, f"{CARDS}/index.png") if each in files), "")


def _foot(content: str, name: str) -> str:
    up = "../" * name.count("/")
    links = [f'<a href="{address(PurePosixPath(twin(name)).name)}">Markdown</a>']
    if page_tables.TABLE.search(content):
        links.append(f'its tables as <a href="{up}{address(tables_of(name))}">JSON</a>')
    return f'<p class="note twins" data-search-exclude>This page as {", ".join(links)}.</p>'


def heading(html: str, name: str) -> str:
    """Return a page's title without the site's; its name if it has none."""
    title = _TITLE.search(html)
    return page_tables.plain(title[1]).removesuffix(f" - {SITE_NAME}") if title else name


def description(content: str) -> str:
    """Return the first words of an article: its lead, else its first paragraph."""
    first = _LEAD.search(content) or _PARAGRAPH.search(content)
    words = page_tables.plain(first[1]) if first else ""
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST].rpartition(' ')[0]} …"


def twins(html: str, name: str, site: Site) -> Iterator[tuple[str, str]]:
    """Yield the twins of a page as MkDocs wrote it."""
    content = page_tables.article(html)
    tables = page_tables.tables(content)
    yield twin(name), page_markdown.markdown(content, tables)
    if tables:
        document = {"schema": SCHEMA, "page": f"{site.address}{name}", "tables": tables}
        yield tables_of(name), json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def line(html: str, name: str, site: Site) -> str:
    """Return the line of a page in llms.txt."""
    title, words = map(page_markdown.escaped, (heading(html, name), description(page_tables.article(html))))
    link = f"- [{title}]({site.address}{twin(name)})"
    return f"{link}: {words}" if words else link


def listed(lines: Mapping[str, str], site: Site) -> str:
    """Return llms.txt, given each page's line."""
    sections: dict[str, list[str]] = defaultdict(list)
    for name, words in sorted(lines.items()):
        sections[name.rpartition("/")[0]].append(words)
    files = [f"- [{path}]({site.address}{path}): {words}" for path, words in _FILES.items() if path in site.files]
    named = [(_SECTIONS.get(folder, folder), lines) for folder, lines in sorted(sections.items(), key=_order)]
    parts = [f"## {title}\n\n" + "\n".join(lines) for title, lines in (*named, ("Data", files)) if lines]
    about = (
        "> Documented models timed on CPU and GPU in one controlled way. Every number has a state and a key, and "
        "a 95 % interval if enough hosts are known; quote it with them. Each page is also Markdown; the tables of "
        "page x.html are data/x.json."
    )
    return "\n\n".join([f"# {SITE_NAME}", about, *parts]) + "\n"


def _order(section: tuple[str, list[str]]) -> tuple[int, str]:
    folder, _ = section
    return (list(_SECTIONS).index(folder) if folder in _SECTIONS else len(_SECTIONS)), folder
