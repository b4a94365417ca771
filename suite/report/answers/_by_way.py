"""One network's step in each way it is written: its own CPU side over its own GPU side."""

from collections.abc import Mapping

from suite import units
from suite.report.answers._own_chart import OwnChart
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.views.experiment_result import Chart, Point
from suite.variants import way_of


def by_way(evidence: Evidence, workload: str) -> Mapping[str, PooledSpeedUp]:
    """Return the valid speed-ups of each way of a network in the headline setting, the smallest first."""
    items = (item for item in (*evidence.speedups, *evidence.ways) if item.workload == workload)
    fitting = [item for item in items if _fits(item) and item.state != "invalid"]
    return {_words(item): item for item in sorted(fitting, key=lambda item: item.ratio.value)}


def chart_of(name: str, ways: Mapping[str, PooledSpeedUp], more: str = "") -> OwnChart | None:
    """Return the chart of these ways for the answer of this name, with `more` in its title; None of a single one."""
    if len(ways) < 2:
        return None
    (slow, least), *_, (fast, most) = ways.items()
    title = f"How it is written counts: {_ratio(least)} as {slow}, {_ratio(most)} as {fast}{more}"
    points = tuple(
        Point(
            series=item.case.implementation, row=words, value=item.ratio.value, low=item.ratio.low,
            high=item.ratio.high, text=_ratio(item), solid=item.quotable,
        )
        for words, item in ways.items()
    )  # fmt: skip
    caption = "CPU time over GPU time of one step, each way against itself. Left of 1 the CPU is faster."
    chart = Chart(caption=caption, across="CPU time / GPU time, log scale", points=points, level=1.0)
    doubts = ["" if item.quotable else item.reasons[0] for item in ways.values()]
    columns = ("way", "framework", "speed-up")
    return OwnChart(name=name, title=title, chart=chart, titles={}, doubts=doubts, columns=columns)


def _ratio(item: PooledSpeedUp) -> str:
    return units.ratio(item.ratio.value, item.ratio.low, item.ratio.high)


def _fits(item: PooledSpeedUp) -> bool:
    return item.case.scope in ("step", "written") and item.record.usual("implementation", "variant", "layout")


def _words(item: PooledSpeedUp) -> str:
    return way_of(item.case) + (", a loop" if item.case.scope == "written" else "")
