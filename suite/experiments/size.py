"""Does a larger step gain more from a GPU? Speed-up against FLOP per step over all networks."""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import pooled_point, said_of, usual_case
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.stats.fit import Fit, power_law, rank_correlation
from suite.results.views.experiment_result import Chart, ChartLine, ExperimentResult
from suite.results.views.rows import count_cell, row_of, speedup_cells, state_cells
from suite.results.views.table import Cell, Table
from suite.workload import Description

TITLE = "Does a larger step gain more from a GPU?"
TESTS = ("O3", "O27")
METHOD = (
    "Each network's speed-up at its headline batch stands against the analytic FLOP of one step. A line through "
    "the logarithms gives the power with which the speed-up grows, with the 95 % interval of its slope over networks; "
    "the rank correlation asks only whether larger goes with larger. Networks are no random sample, so both describe "
    "these networks alone. Those whose step is the same, as they differ in data or dropout alone, count as one with "
    "the geometric mean of their speed-ups. What may not be quoted is drawn hollow. The data-parallel model is "
    "left out: its step has so few FLOP that it would set the line alone."
)
WORKLOADS: tuple[str, ...] = ()  # all networks

_COLUMNS = ("model", "family", "batch", "FLOP a step", "CPU step", "GPU step", "speed-up", "95 % interval", "status")
_FEWEST = 3  # networks: through two any line goes


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return both sides of each network. Raises RuntimeError if one of them is not there."""
    here.need_gpu("size")
    here.need_cpu("size")
    return tuple(usual_case(about, backend, here) for about in catalogue for backend in here.backends)


def flop(item: PooledSpeedUp) -> int:
    """Return the FLOP of one step."""
    return item.case.batch * item.record.description.flop_per_example


def networks(items: Sequence[PooledSpeedUp]) -> tuple[list[int], list[float]]:
    """Return the FLOP of a step and the speed-up of each network, smallest first.

    Workloads whose step is the same are one network, with the geometric mean of their speed-ups.
    """
    same: dict[tuple[int, tuple], list[float]] = defaultdict(list)
    for item in items:
        same[flop(item), item.record.description.network].append(math.log(item.ratio.value))
    ordered = sorted(same.items())
    return [size for (size, _), _ in ordered], [math.exp(fmean(logarithms)) for _, logarithms in ordered]


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return how the speed-up goes with the size of the step; None if there is no speed-up."""
    found = [item for item in evidence.speedups if item.headline and flop(item) > 0]
    if not found:
        return None
    drawn = [item for item in found if item.record.description.is_network]
    counted = [item for item in drawn if item.state != "invalid"]
    sizes, ratios = networks(counted)
    law = power_law(sizes, ratios) if len(sizes) >= _FEWEST else None
    ends = tuple((size, law.at(size)) for size in (min(sizes), max(sizes))) if law else ()
    chart = Chart(
        caption="CPU time over GPU time of one step against its FLOP, a point for each network. Grey: the fitted line.",
        across="FLOP of one step, log scale",
        up="CPU time / GPU time",
        points=tuple(pooled_point(item, at=flop(item), row=item.workload) for item in drawn),
        lines=(ChartLine(series="fit", ends=ends),) if ends else (),
        level=1.0,
        finding="One step is {span} as fast on the GPU",
    )
    title = "Speed-up and size of one step, smallest first"
    rows = tuple(_row(item) for item in sorted(found, key=flop))
    said = answer(law, rank_correlation(sizes, ratios), len(sizes)) + said_of(counted)
    return ExperimentResult(answers=(said,), tables=(Table(title=title, columns=_COLUMNS, rows=rows),), chart=chart)


def answer(law: Fit | None, correlation: float | None, networks: int) -> str:
    """Return the answer as a sentence; the interval of the slope decides."""
    if law is None or law.low is None or law.high is None or correlation is None:
        have = f"{units.pluralize(networks, 'network')} {'has' if networks == 1 else 'have'}"
        return f"Not known: {have} both sides, a trend needs {_FEWEST} of different size."
    width = units.half_width(law.low, law.high)
    grows = "gains more" if law.low > 0 else "gains less" if law.high < 0 else "does not surely gain more or less"
    return (
        f"Over {networks} networks a larger step {grows}: ten times the FLOP go with a speed-up "
        f"{units.ratio(10**law.exponent, 10**law.low, 10**law.high)} as high "
        f"({units.interval(10**law.low, 10**law.high)}), the slope being {units.number(law.exponent, width)} "
        f"({units.interval(law.low, law.high)}); rank correlation {units.number(correlation, digits=2)}."
    )


def _row(item: PooledSpeedUp) -> tuple[Cell, ...]:
    size = Cell(text=units.quantity(flop(item), "FLOP"), sort=flop(item))
    family, batch = item.record.description.family, count_cell(item.case.batch)
    return row_of(item.workload, family, batch, size, *speedup_cells(item), state_cells(item)[0])
