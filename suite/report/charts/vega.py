"""Charts as Vega-Lite specifications, and their static pictures."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Literal

import altair as alt
from altair.utils import schemapi

from suite.report.charts import drawing, slim

# Colours that the colour-blind can tell apart. Source: Okabe and Ito, Color Universal Design (2008); the last two are a
# violet and a brown of other lightness. On dark ground the light ones come first.
_COLOURS = {
    "light": ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a3d9a", "#7a5230"],
    "dark": ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#b8a1e0", "#c9a882"],
}
COLOURS = len(_COLOURS["light"])  # of a chart's series
_DIGITS = 7  # of a number in a specification
_INK = {"light": "#333333", "dark": "#dddddd"}
_LINES = {"light": "#e2e2e2", "dark": "#444444"}
_GROUND = {"light": "#ffffff", "dark": "#1e2129"}  # of the pages
_LIGHT, _DARK = (
    (*_COLOURS[palette], _INK[palette], _LINES[palette], _GROUND[palette]) for palette in ("light", "dark")
)
_IN_DARK = dict(zip(_LIGHT, _DARK, strict=True))
_COLOUR = re.compile(r'(?<==")#[0-9a-f]{6}(?=")')
FOLDER = "charts"  # of specifications and pictures, below the site's sources
HEADLINE = "speedups"  # the name of the home page's chart
_FONT = 15
APART = 4  # least pixels between an axis' labels, which a wider font needs
_PICTURE = re.compile(rf'<img src="[./]*{FOLDER}/(?P<file>[\w.-]+\.svg)#only-\w+"')
_SIZE = re.compile(r'<svg[^>]* width="(\d+)[.\d]*" height="(\d+)[.\d]*"')


@dataclass(frozen=True)
class _Rows:
    """Rows of plain values; altair does not walk through them each time it copies a chart."""

    rows: Sequence[Mapping[str, Any]]
    _schema: ClassVar[dict[str, Any]] = {"type": "array"}

    def to_dict(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        """Return the rows as they stand in the specification."""
        return [dict(row) for row in self.rows]


def inline(rows: Sequence[Mapping[str, Any]]) -> alt.Data:
    """Return rows of plain values as a chart's data."""
    return alt.Data(values=_Rows(rows))


def config(palette: str, ground: str = "transparent") -> dict[str, Any]:
    """Return Vega-Lite's configuration for a palette's colours, ink and lines on a ground."""
    ink, lines = _INK[palette], _LINES[palette]
    guide = {
        "labelColor": ink,
        "titleColor": ink,
        "labelFontSize": _FONT - 1,
        "titleFontSize": _FONT - 1,
        "titleFontWeight": "normal",
        "symbolStrokeWidth": 3,
    }
    return {
        "background": ground,
        "font": "sans-serif",
        "padding": {"left": 14, "right": 8, "top": 5, "bottom": 5},  # a reader's font may be wider than the one here
        "view": {"stroke": None},
        "axis": guide | {"gridColor": lines, "domainColor": ink, "tickColor": ink},
        "legend": guide | {"symbolBaseStrokeColor": ink},
        "title": {"color": ink},
        "text": {"color": ink},
        "line": {"color": _COLOURS[palette][0]},  # of a line without a colour
        "range": {"category": _COLOURS[palette]},
        "point": {"fill": _GROUND[palette]},  # of hollow ones: no interval shines through them
    }


@cache
def drawn_by() -> str:
    """Return what draws: the library's version and the digest of this package's code, so that neither leaves old files.

    A specification is the key of the files derived from it.
    """
    code = hashlib.sha256(b"".join(Path(module).read_bytes() for module in (__file__, drawing.__file__, slim.__file__)))
    return f"{version('vl-convert-python')} {code.hexdigest()[:16]}"


def themed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the specification in light, as a file of its own."""
    return {**spec, "config": config("light", "white"), "usermeta": {"drawn by": drawn_by()}}


def looks() -> str:
    """Return the script with the configuration of both palettes, from which the pages' script takes that of a chart."""
    return f"window.chartLooks = {json.dumps({name: config(name) for name in _COLOURS})};\n"


def rounded(value: Any) -> Any:
    """Return a specification whose numbers have the digits that a picture shows."""
    match value:
        case float():
            return float(f"{value:.{_DIGITS}g}")
        case dict():
            return {name: rounded(each) for name, each in value.items()}
        case list() | tuple():
            return list(map(rounded, value))
    return value


def rows_once(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification in which rows of several layers stand once, in `datasets`, and the layers name them."""
    found = [json.dumps(data.get("values")) for data in drawing.data_of(spec)]
    repeated = (text for text in dict.fromkeys(found) if found.count(text) > 1)
    names = {text: f"rows{place}" for place, text in enumerate(repeated, 1)}

    def named(part: Any) -> Any:
        match part:
            case {"values": list() as rows} if (name := names.get(json.dumps(rows))) is not None:
                return {"name": name}
            case dict():
                return {key: named(value) if key in ("data", *drawing.CHARTS) else value for key, value in part.items()}
            case list():
                return list(map(named, part))
        return part

    return named(spec) | {"datasets": {name: json.loads(text) for text, name in names.items()}} if names else spec


def derived(name: str) -> tuple[str, ...]:
    """Return the names of the files derived from a specification: the static pictures and the table."""
    stem = name.removesuffix(".json")
    return (*(f"{stem}.{palette}.svg" for palette in _COLOURS), f"{stem}.csv")


def raster(name: str) -> tuple[str, ...]:
    """Return the name of the PNG beside the pictures of a specification: the home page's chart alone has one."""
    return (f"{FOLDER}/{HEADLINE}.png",) if name == f"{FOLDER}/{HEADLINE}.json" else ()


def made(specifications: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the files derived from these specifications, which figures wrote, by name."""
    specs = [json.loads(specification) for specification in specifications]
    lights = drawing.drawn([_looking(spec, "light") for spec in specs])
    for spec, light in zip(specs, map(slim.slim, lights), strict=True):
        yield light, recoloured(light), drawing.csv_table(spec)


def recoloured(light: str) -> str:
    """Return a light picture in dark: only colours differ, and rendering again would take 30 ms."""
    return _COLOUR.sub(lambda found: _IN_DARK.get(found[0], found[0]), light)


def sized(page: str, site: Path) -> str:
    """Return a page with the sizes of its charts, so that nothing moves when they load."""

    def size(image: re.Match[str]) -> str:
        path = site / FOLDER / image["file"]
        if not path.is_file():
            return image[0]
        with path.open(encoding="utf-8") as file:
            stated = _SIZE.search(file.read(400))
        return f'{image[0]} width="{stated[1]}" height="{stated[2]}"' if stated else image[0]

    return _PICTURE.sub(size, page)


def finished(chart: Any) -> dict[str, Any]:
    """Return altair's chart as a specification; validated unless validation is off."""
    return chart.to_dict(validate=schemapi.DEBUG_MODE)


def layered(*layers: Any, **properties: Any) -> dict[str, Any]:
    """Return the specification of altair's layers in one chart with these properties, such as its width.

    `altair.layer` copies each layer several times to join what none here has: selections and sizes of its own.
    """
    return joined("layer", list(map(_part, layers)), properties)


def wrapped(*charts: dict[str, Any], columns: int, **properties: Any) -> dict[str, Any]:
    """Return the specification of charts from `layered`, so many beside each other."""
    parts = [{name: value for name, value in chart.items() if name not in _OF_WHOLE} for chart in charts]
    return joined("concat", parts, {"columns": columns, **properties})


def stacked(*charts: dict[str, Any], **properties: Any) -> dict[str, Any]:
    """Return the specification of charts from `layered`, one below the other."""
    parts = [{name: value for name, value in chart.items() if name not in _OF_WHOLE} for chart in charts]
    return joined("vconcat", parts, properties)


_OF_WHOLE = ("config", "$schema")


def _part(layer: Any) -> dict[str, Any]:
    return layer.to_dict(validate=False, context={"top_level": False})


def joined(how: str, parts: Sequence[dict[str, Any]], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of all parts; the configuration is added where it is shown."""
    spec = {"config": {}, how: parts, **dict(sorted(properties.items())), "$schema": alt.SCHEMA_URL}
    if schemapi.DEBUG_MODE:
        alt.TopLevelSpec.validate(spec)
    return spec


def on_ground(light: str) -> str:
    """Return a light picture on the ground of light pages, for a PNG."""
    start, end, rest = light.partition(">")
    return f'{start}{end}<rect width="100%" height="100%" fill="{_GROUND["light"]}"/>{rest}'


def svg(spec: dict[str, Any], palette: str, ground: str = "transparent") -> str:
    """Return the static picture as SVG."""
    return drawing.drawn([_looking(spec, palette, ground)])[0]


def _looking(spec: dict[str, Any], palette: str, ground: str = "transparent") -> str:
    return json.dumps({**spec, "config": config(palette, ground)})


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A named chart: its Vega-Lite specification without colours, its title, caption, and alternative text."""

    name: str
    spec: dict[str, Any]
    caption: str
    alternative: str
    title: str = ""  # its finding
    form: Literal["", "wide", "narrow", "half"] = ""  # the screens that it is for; half: two stand beside each other
    series: tuple[str, ...] = ()  # those of a legend that stays in sight beside a tall chart
    live: bool = True  # whether a script draws it, so that marks tell their values

    @cached_property
    def specification(self) -> dict[str, Any]:
        """The specification with rounded numbers, for a page: without its look."""
        return rows_once({name: value for name, value in rounded(self.spec).items() if name != "config"})

    @property
    def png(self) -> str:
        """The path of its PNG below the site's sources; '' if it has none."""
        return "".join(raster(f"{FOLDER}/{self.name}.json"))

    @property
    def files(self) -> dict[str, str]:
        """The specification's file by its path below the site's sources; pictures and table are made if it changed."""
        return {f"{FOLDER}/{self.name}.json": json.dumps(themed(self.specification), separators=(",", ":")) + "\n"}
