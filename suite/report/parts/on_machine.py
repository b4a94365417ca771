"""A workload on one machine, from the ladder to the samples: a part of the workload's page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from suite import units
from suite.experiments import break_even, roofline
from suite.report.charts import plots, samples, timeline
from suite.report.charts.vega import Figure
from suite.report.parts import cost, from_storage, ladder, tables, telemetry
from suite.results.pooled import ladder as pooled_ladder
from suite.results.pooled.ladder import Rung
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.history import Once, history
from suite.results.single.prices import Price
from suite.results.single.roofline import Roof
from suite.results.single.selection import current_cases
from suite.results.single.summary import Summary
from suite.results.views.experiment_result import Chart
from suite.results.views.rows import row_of
from suite.results.views.table import INTERVAL, ON_ONE_HOST, Cell, Table, one_host_cell, time_cell, times_cells

_STAGES = ("import", "init", "lower", "compile", "first_step")
_CAMPAIGN_COLUMNS = ("began, UTC", "experiment", "CPU", INTERVAL, "GPU", INTERVAL, "speed-up", INTERVAL, ON_ONE_HOST)


@dataclass(frozen=True, kw_only=True)
class OnMachine:
    """The tables and charts of one machine; None or empty without enough measurements."""

    name: str
    kernels: str  # how much of a step the GPU computes, in a sentence; '' without a profile
    break_even: str  # after how many steps the GPU has won back its start; '' without a start and a step
    ladder: Table | None
    leading: Sequence[Figure]  # the first chart for wide and for narrow screens, if the page begins with it
    ladder_figures: Sequence[Figure]  # the others
    cases: Table
    campaigns: Table | None  # folded to the words
    campaigns_words: str
    tables: Sequence[Table]
    course: Figure | None  # telemetry over time
    costs: Table
    samples: Figure | None
    reasons: Sequence[str]  # why cases are not quotable

    @property
    def summed(self) -> bool:
        """Whether there is more to show than the list of times."""
        return bool(self.kernels or self.ladder or self.break_even)

    @property
    def figures(self) -> Sequence[Figure]:
        """All charts."""
        return [*self.leading, *self.ladder_figures, *filter(None, (self.course, self.samples))]


def on_machine(
    records: Sequence[Record],
    speedups: Sequence[PooledSpeedUp],
    ceilings: Roof,
    prices: Sequence[Price],
    kernels: str = "",
    leading: bool = False,
) -> OnMachine:
    """Return a workload's part for one machine, from its records there; the leading one's chart begins the page."""
    current, about = current_cases(records), max(records, key=lambda record: record.created).description
    here = [item.record for item in current]
    workload, machine = here[0].workload, here[0].machine.name
    rungs = pooled_ladder.ladder(records, speedups)
    curves = list(_ladder_figures(rungs, here[0])) if len(rungs) > 1 else []
    campaigns, won_back = history(records), break_even.break_evens(speedups)
    shown = [record for record in here if record.general]  # an experiment's many cases have tables on its page
    below = roofline.table(
        f"Steps of {workload} below the ceilings of {machine}, each of one campaign",
        roofline.current_steps(here),
        ceilings,
    )
    more = (
        below,
        stage_table(shown),
        from_storage.pipeline_table(shown),
        from_storage.input_table(shown),
        telemetry.telemetry_table(shown),
        telemetry.energy_table(shown),
        telemetry.memory_table(shown),
        from_storage.accuracy_table(here),
    )
    return OnMachine(
        name=machine,
        kernels=kernels,
        break_even=break_even.sentence(won_back) if won_back else "",
        ladder=ladder.table(rungs, about, machine) if len(rungs) > 1 else None,
        leading=list(_in_forms(*curves[0])) if leading and curves else (),
        ladder_figures=[_half(*each) for each in curves[leading:]],
        cases=tables.case_table(f"Every time of {workload} on {machine}, each of one campaign", here),
        campaigns=campaign_table(campaigns, machine) if len(campaigns) > 1 else None,
        campaigns_words=campaign_words(campaigns),
        tables=[table for table in more if table.rows],
        course=_course(here),
        costs=cost.table(here, prices),
        samples=_samples(shown),
        reasons=[
            f"{item.record.label}, {item.record.case.scope}: {'; '.join(item.reasons)}"
            for item in current
            if item.record.general and item.reasons
        ],
    )


def _ladder_figures(rungs: Sequence[Rung], record: Record) -> Iterator[tuple[Figure, Chart]]:
    """Yield the ladder's charts, each as a figure without a specification and as what it draws."""
    name = f"{record.workload}.{record.machine.slug}"
    if chart := ladder.chart(rungs):
        figure = Figure(
            name=f"ladder.{name}",
            spec={},
            title=ladder.finding(rungs),
            caption="Speed-up as more of the work is counted: CPU time over GPU time, with 95 % intervals. Left of the "
            f"dashed line the CPU is faster. Hollow: not to be quoted. {ladder.other_hosts(rungs)}".rstrip(),
            alternative="the values are in the table of the clock ladder",
        )
        yield figure, chart
    if amortised := pooled_ladder.amortised(rungs):
        figure = Figure(
            name=f"amortised.{name}",
            spec={},
            title=ladder.curve_finding(amortised),
            caption="Speed-up of a cold start with the steps after it: CPU time over GPU time, lowering and compiling "
            "included, with 95 % intervals. Above the dashed line the GPU has won back its longer start. "
            f"Hollow: not to be quoted. {ladder.start_elsewhere(rungs)}".rstrip(),
            alternative=ladder.alternative(amortised),
        )
        yield figure, ladder.curve(amortised)


def _half(figure: Figure, chart: Chart) -> Figure:
    """Return a figure that takes half of a page's width."""
    return replace(figure, spec=plots.plot(chart, narrow=True), form="half")


def _in_forms(figure: Figure, chart: Chart) -> Iterator[Figure]:
    """Yield a figure for wide and for narrow screens."""
    yield replace(figure, spec=plots.plot(chart), form="wide")
    yield replace(figure, name=f"{figure.name}.narrow", spec=plots.plot(chart, narrow=True), form="narrow")


def _course(records: Sequence[Record]) -> Figure | None:
    """Return the telemetry during the longest samples; None without."""
    process = timeline.longest(records)
    if process is None:
        return None
    record, run = process
    caption = f"What the machine did during the samples of one process: {timeline.process_name(record, run)}."
    return Figure(
        name=f"watched.{record.workload}.{record.machine.slug}",
        spec=timeline.chart(run),
        title=timeline.finding(run),
        form="half",
        live=False,
        caption=caption,
        alternative=f"{caption} The table above has means and maxima.",
    )


def _samples(records: Sequence[Record]) -> Figure | None:
    """Return the chart of every sample of the timed steps."""
    steps = [r for r in records if r.case.scope == "step" and any(run.samples for run in r.runs)]
    if not steps:
        return None
    name, what = steps[0].workload, steps[0].machine
    return Figure(
        name=f"samples.{name}.{what.slug}",
        spec=samples.chart(steps),
        title=samples.finding(steps),
        form="half",
        live=False,
        caption="Every sample as a dot, a row for each process. Warm-ups are stored in the records and not drawn.",
        alternative=f"samples of {name} on {what.name}; times in the table above",
    )


def stage_table(records: Sequence[Record]) -> Table:
    """Return the stages of cold starts, medians over processes."""
    rows = []
    for record in sorted(records, key=lambda r: r.name):
        runs = [run for run in record.runs if not run.reason]
        if (record.case.scope, record.case.cache) != ("cold", "empty") or not runs:
            continue
        cells = [Cell(text=record.label, record=record)]
        for name in _STAGES:
            values = [stage.wall_seconds for run in runs for stage in run.stages if stage.name == name]
            value = median(values) if values else None
            cells.append(Cell(text=units.seconds(value), sort=value, record=record))
        rows.append(tuple(cells))
    title = "A cold start by stage, median over processes; no compile cache"
    return Table(title=title, columns=("case", *(name.replace("_", " ") for name in _STAGES)), rows=tuple(rows))


def campaign_table(campaigns: Sequence[Once], machine: str) -> Table:
    """Return the campaigns on a machine, a row each."""
    return Table(
        title=f"The headline step in every campaign on {machine}",
        columns=_CAMPAIGN_COLUMNS,
        rows=tuple(map(_campaign_row, campaigns)),
        notes=(
            "Campaigns may differ by more than their intervals: each had another host, other neighbours, or older "
            "code of the suite. Speed-ups elsewhere pool all campaigns of equal code.",
        ),
    )


def campaign_words(campaigns: Sequence[Once]) -> str:
    """Return the range of the campaigns' step times, in a line."""
    items = {"CPU": [one.cpu for one in campaigns], "GPU": [one.gpu for one in campaigns]}
    spans = {
        name: _span([one for one in of if one is not None and one.state != "invalid"]) for name, of in items.items()
    }
    sides = [f"{name} {span}" for name, span in spans.items() if span]
    return f"The headline step in {units.pluralize(len(campaigns), 'campaign')}: {', '.join(sides)}"


def _span(items: Sequence[Summary]) -> str:
    times = sorted((cell for cell in map(time_cell, items) if cell.sort is not None), key=lambda cell: cell.sort or 0.0)
    return " to ".join(dict.fromkeys(cell.text for cell in (*times[:1], *times[-1:])))


def _campaign_row(once: Once) -> tuple[Cell, ...]:
    sides = [side for side in (once.cpu, once.gpu) if side is not None]
    times = (*_time_cells(once.cpu), *_time_cells(once.gpu), *times_cells(once.ratio))
    return row_of(units.minute(once.created), once.experiment or units.DASH, *times, one_host_cell(*sides))


def _time_cells(side: Summary | None) -> tuple[Cell, Cell]:
    seconds = side.seconds if side else None
    interval = units.seconds_interval(seconds.low, seconds.high) if seconds else units.DASH
    return time_cell(side), Cell(text=interval)
