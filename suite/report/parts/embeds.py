"""Pages for frames on other sites: one chart or one number, with a link back."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from suite import units
from suite.report.charts.previews import FOLDER as CARDS
from suite.report.charts.vega import FOLDER as CHARTS
from suite.report.charts.vega import raster
from suite.report.parts.html import Html, address
from suite.report.parts.templates import render
from suite.results.cite.citation import Citation, path

FOLDER = "embed"
SITE_NAME = "How much faster is a GPU?"
_NARROW = ".narrow"  # ends the name of a chart for narrow screens beside the one for wide screens
_FIGURE = re.compile(r'<figure class="chart(?! still)[^>]*>(?P<content>.*?)</figure>', re.DOTALL)
_PICTURE = re.compile(rf'<img src="[./]*{CHARTS}/(?P<name>[^"]+)\.light\.svg#only-light" alt="(?P<alternative>[^"]*)"')
_FINDING = re.compile(r'<p class="finding">(.*?)</p>', re.DOTALL)
_CAPTION = re.compile(r"<figcaption>(.*?)\s*(?:<a|</figcaption>)", re.DOTALL)
_TITLE = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)


def of_charts(pages: Mapping[str, str], site: str) -> dict[str, str]:
    """Return a page for each live chart that these pages show, by path; its link leads to the first page with it.

    A page's title, its chart's caption and alternative text are already HTML.
    """
    embeds: dict[str, str] = {}
    names = {name for page in pages.values() for name, _, _ in _figures(page)}
    for page, text in pages.items():
        heading = _TITLE.search(text)
        for name, alternative, content in _figures(text):
            place = f"{FOLDER}/{CHARTS}/{name}.html"
            if place in embeds or name.endswith(_NARROW):
                continue
            finding, caption = _FINDING.search(content), _CAPTION.search(content)
            title = finding or caption or heading
            embeds[place] = _page(
                place,
                "embed_chart.html.j2",
                f"{page.removesuffix('.md')}.html",
                site,
                title=Html(title[1]) if title else SITE_NAME,
                about=Html(f": {heading[1]}") if heading and heading[1] != SITE_NAME else "",
                alternative=Html(alternative),
                caption=Html(caption[1]) if finding and caption else "",
                picture=address(f"../../{CHARTS}/{name}"),
                png="".join(f"../../{address(path)}" for path in raster(f"{CHARTS}/{name}.json")),
                narrow=address(f"../../{CHARTS}/{name}{_NARROW}") if f"{name}{_NARROW}" in names else "",
            )
    return embeds


def _figures(page: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name, alternative text and content of each chart of a page."""
    for figure in _FIGURE.finditer(page):
        if picture := _PICTURE.search(figure["content"]):
            yield picture["name"], picture["alternative"], figure["content"]


def of_number(cited: Citation, site: str) -> dict[str, str]:
    """Return the page of a model's speed-up, by path."""
    record = cited.number.record
    place = number_path(cited)
    return {
        place: _page(
            place,
            "embed_number.html.j2",
            cited.permalink,
            site,
            title=record.description.title,
            about=f", measured {cited.when}",
            cited=cited,
            within=cited.number.value.low is not None,
            words=f"{words(cited)}, on {behind(cited)}.",
        )
    }


def number_path(cited: Citation) -> str:
    """Return the path of the page of a number."""
    return f"{FOLDER}/{path(cited.number)}.html"


def card_path(workload: str) -> str:
    """Return the path of the picture of a model's headline number."""
    return f"{CARDS}/{workload}.png"


def words(cited: Citation) -> str:
    """Return what a model's speed-up is, to follow the number; without machine and hosts."""
    record = cited.number.record
    batch = units.count(record.case.batch)
    return f"as fast on the GPU as on the CPU: one step of {record.description.title}, batch {batch}"


def behind(cited: Citation) -> str:
    """Return the machine and the hosts of a number."""
    return f"{cited.number.record.machine.name}, {cited.hosts}"


def _page(place: str, template: str, source: str, site: str, **values: Any) -> str:
    root = Html.escape(site or "../" * place.count("/"))
    return render(place, template=template, source=root + address(source), site_name=SITE_NAME, **values)
