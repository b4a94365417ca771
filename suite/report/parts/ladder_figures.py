"""The chart of a machine's speed-ups by how much of the work is counted, for wide and for narrow screens."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from suite import units
from suite.report.charts.ladder import ladder
from suite.report.charts.vega import Figure
from suite.report.parts import lead, rungs
from suite.report.parts.names import named
from suite.report.parts.rungs import Rung
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.single.paired_speedup import CERTIFIED_FROM
from suite.results.views.experiment_result import Point

_CAPTION = (
    "CPU time over GPU time in full float32, on one kind of machine. In the rows on top a mark is the mean over "
    "models, and its line runs from the lowest to the highest; of ten models or more, a tenth at each end is left out. "
    "Below, the line is the 95 % interval of one number. Hollow: not to be quoted yet. It has fewer than "
    f"{FEWEST_HOSTS} hosts, an earlier method of timing, no interval or too wide a one, or another framework may be "
    f"over {1 / CERTIFIED_FROM:.1f} times as fast as JAX on this CPU. Grey ticks and numbers are the article's own; "
    "some are of whole runs or clusters."
)
_NOT_A_STEP = "first_call"  # a claim that no mark of the chart stands beside


def figures(amounts: Sequence[Rung], name: str) -> Iterator[Figure]:
    """Yield the chart of what is known of a machine, for wide and for narrow screens."""
    means, points, claims = marks(amounts)
    alternative = "; ".join(f"{point.row}, {point.series}: {point.text}" for point in points)
    title, caption = lead.finding(amounts), " ".join(filter(None, (_CAPTION, _data(amounts), _hosts(amounts))))
    forms: tuple[tuple[Literal["wide", "narrow"], str], ...] = (("wide", ""), ("narrow", ".narrow"))
    for form, ending in forms:
        yield Figure(
            name=f"{name}{ending}",
            spec=ladder(means, points, claims, narrow=form == "narrow"),
            title=title,
            caption=caption,
            alternative=alternative,
            form=form,
            series=tuple(mean.series for mean in means),
        )


def marks(amounts: Sequence[Rung]) -> tuple[list[Point], list[Point], list[Point]]:
    """Return the means, the points of each model and the articles' claims, the models by falling speed-up of a step."""
    step = rungs.step(amounts)
    if step is None:
        return [], [], []
    order = sorted(step.by_workload, key=lambda workload: -step.by_workload[workload].ratio.value)
    names = titles(step.by_workload.values())
    points = [
        _point(rung.by_workload[workload], rung.name, names[workload])
        for workload in order
        for rung in amounts
        if workload in rung.by_workload
    ]
    claims = [
        Point(
            series=f"reported: {claim.gpu_device}",
            row=names[workload],
            value=claim.speedup,
            text=f"{units.documented(claim.speedup)}, {claim.metric.replace('_', ' ')}",
        )
        for workload in order
        for claim in step.by_workload[workload].record.description.claims
        if claim.speedup and claim.metric != _NOT_A_STEP
    ]
    return list(map(_mean, amounts)), points, claims


def titles(items: Iterable[PooledSpeedUp]) -> Mapping[str, str]:
    """Return the models' names for people by workload; of two with one name, each has its code name too."""
    return named({item.workload: item.record.description.title for item in items})


def _mean(rung: Rung) -> Point:
    low, high = rungs.most(rung.by_workload.values())
    number = units.pluralize(len(rung.by_workload), "model")
    return Point(
        series=rung.name, value=rung.mean, low=low.ratio.value, high=high.ratio.value,
        text=f"{lead.short(rung.mean)}, {number}",
    )  # fmt: skip


def _point(item: PooledSpeedUp, series: str, row: str) -> Point:
    ratio = item.ratio
    return Point(
        series=series, row=row, value=ratio.value, low=ratio.low, high=ratio.high, solid=item.quotable,
        text=units.ratio(ratio.value, ratio.low, ratio.high),
    )  # fmt: skip


def _data(amounts: Sequence[Rung]) -> str:
    """Return which data is read by the marks that read some; '' if none does."""
    items = [item for rung in amounts for item in rung.by_workload.values() if item.record.data_words]
    real = sum(not item.record.usual_data for item in items)
    if not items:
        return ""
    but = f" {units.pluralize(real, 'mark')} {'is' if real == 1 else 'are'} of the real data." if real else ""
    return f"Whole runs and steps from storage read data that this project makes.{but}"


def _hosts(amounts: Sequence[Rung]) -> str:
    """Return how many marks were not measured on the hosts of their step; '' if all were."""
    step = rungs.step(amounts)
    wider = [item for rung in amounts if rung is not step for item in rung.by_workload.values()]
    apart = rungs.elsewhere(wider, step) if step else []
    if not apart:
        return ""
    return (
        f"{units.count(len(apart))} of the {units.count(len(wider))} other marks were measured on other hosts than "
        "the step of their row. Two such marks surely differ only if their lines do not overlap."
    )
