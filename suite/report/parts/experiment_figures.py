"""The charts of an experiment's result on one machine, under the names by which all pages show them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from suite import units
from suite.report.charts import plots
from suite.report.charts.rows import APART
from suite.report.charts.vega import Figure
from suite.results.views.experiment_result import Chart, ExperimentResult, HeatMap, Point

_FORMS: tuple[tuple[Literal["wide", "narrow"], str], ...] = (("wide", ""), ("narrow", ".narrow"))

_LONG = 100_000  # from there on a number is short with a prefix

Titles = Mapping[str, str]  # names of models for people, by workload


def figures(experiment: str, machine: str, result: ExperimentResult, titles: Titles) -> Iterator[Figure]:
    """Yield the charts of a machine's result for wide and for narrow screens, `machine` being its name in addresses."""
    name = f"experiments.{experiment}.{machine}"
    if result.chart is not None:
        yield from drawn(name, result.chart, " ".join(result.answers), titles)
    for chart in result.beside:
        yield from drawn(f"{name}.{chart.name}", chart, chart.caption, titles)


def drawn(name: str, chart: Chart | HeatMap, alternative: str, titles: Titles, title: str = "") -> Iterator[Figure]:
    """Yield a chart under a name for wide and for narrow screens, with what its marks mean; a heat map fits both."""
    if isinstance(chart, HeatMap):
        squares = tuple(replace(square, panel=_words(square.panel, titles)) for square in chart.squares)
        shown = replace(chart, squares=squares)
        yield Figure(
            name=name, spec=plots.plot(shown), caption=chart.caption + _marks(chart), alternative=alternative,
            title=title or _brightest(shown),
        )  # fmt: skip
        return
    shown = _named(chart, titles)
    for form, ending in _FORMS:
        yield Figure(
            name=f"{name}{ending}", spec=plots.plot(shown, narrow=form == "narrow"),
            caption=shown.caption + _marks(chart), alternative=alternative, title=title or _finding(shown), form=form,
        )  # fmt: skip


def _named(chart: Chart, titles: Titles) -> Chart:
    """Return the chart with names for people; the parts of a row's name stand below each other."""
    points = tuple(
        replace(
            point,
            series=_words(point.series, titles),
            panel=_words(point.panel, titles),
            row=_words(point.row, titles, APART),
        )
        for point in chart.points
    )
    lines = tuple(replace(line, series=_words(line.series, titles)) for line in chart.lines)
    caption = re.sub(r"\w+", lambda word: titles.get(word[0], word[0]), chart.caption)
    return replace(chart, points=points, lines=lines, caption=caption)


def _words(name: str, titles: Titles, between: str = ", ") -> str:
    return between.join(titles.get(part, part) for part in name.split(", "))


def _finding(chart: Chart) -> str:
    """Return the chart's title: its least and greatest value, of those that may be quoted if several may."""
    known = [point for point in chart.points if point.text]
    quotable = [point for point in known if point.solid]
    quoted = quotable if len(quotable) > 1 else known
    if not quoted:
        return ""
    ends = min(quoted, key=_value), max(quoted, key=_value)
    least, most = (f"{point.text} ({_place(point, chart)})" for point in ends)
    words = {"{most}": most, "{span}": " to ".join(dict.fromkeys((least, most)))}
    title = re.sub(r"{\w+}", lambda name: words[name[0]], chart.finding or "{span}")
    return title + _doubt(len(quotable), len(known))


def _doubt(quotable: int, known: int) -> str:
    """Return how many of the values may be quoted, for the end of a title; '' if all may."""
    if quotable == known:
        return ""
    if not quotable:
        return "; not to be quoted yet"
    if quotable == 1:
        return f"; 1 of {units.count(known)} may be quoted"
    return f", counting only the {units.count(quotable)} of {units.count(known)} that may be quoted"


def _brightest(chart: HeatMap) -> str:
    """Return the heat map's title: its greatest value, of those that may be quoted if any may."""
    known = [square for square in chart.squares if square.value]
    quoted = [square for square in known if square.solid] or known
    if not quoted:
        return ""
    most = max(quoted, key=lambda square: square.value or 0)
    place = f"{most.panel}, {most.row} {chart.up}, {chart.across} {most.column}"
    return f"Fastest: {most.text} ({place})" + _doubt(sum(square.solid for square in known), len(known))


def _value(point: Point) -> float:
    return point.value


def _place(point: Point, chart: Chart) -> str:
    """Return which point of the chart it is, in words."""
    alike = {each.series for each in chart.points if (each.panel, each.row) == (point.panel, point.row)}
    names = [
        point.panel,
        point.row.replace(APART, ", "),
        point.series if len(alike) > 1 or not (point.row or point.panel) else "",
    ]
    if point.at is not None and point.at.is_integer() and chart.joined:
        names.append(_at(point.at, chart.across.partition(",")[0]))
    return ", ".join(dict.fromkeys(filter(None, names)))


def _at(place: float, what: str) -> str:
    """Return a place on an axis in words, such as 'batch 2,048', '8 threads' or '84.9M FLOP of a call'."""
    count = units.count(int(place)) if place < _LONG else units.quantity(place, "")
    if " of a " in what:
        return f"{count} {what}"
    return f"{what} {count}" if not what.endswith("s") else f"{count} {what if count != '1' else what[:-1]}"


def _marks(chart: Chart | HeatMap) -> str:
    """Return how the chart marks intervals and values that are not quotable."""
    doubtful = "not to be quoted; the table has the reason."
    if isinstance(chart, HeatMap):
        return "" if all(square.solid for square in chart.squares) else f" In brackets: {doubtful}"
    bars = f" With {chart.ends}." if any(point.low is not None for point in chart.points) else ""
    return bars + ("" if all(point.solid for point in chart.points) else f" Hollow: {doubtful}")
