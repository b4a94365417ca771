"""The clock ladder as a table and a curve."""

from collections.abc import Sequence

from suite import units
from suite.results.pooled.ladder import Amortised, Rung, elsewhere, step_beside
from suite.results.single.selection import campaigns_note
from suite.results.views.experiment_result import Chart, Point
from suite.results.views.rows import ratio_and_interval, row_of, state_cells
from suite.results.views.table import Cell, Table, chosen, one_host_cell, time_cell, times_cells
from suite.scopes import SCOPES
from suite.workload import Description

_FEWEST = 2  # rungs of a chart
_ONE_CAMPAIGN = "one campaign"
_SPEEDUP, _SAME_HOSTS = 3, "step, same hosts"  # the place of a column, the name of another


def words(rung: Rung, about: Description) -> str:
    """Return a rung's name and what it includes."""
    return f"{rung.name}: {_included(rung, about)}"


def _included(rung: Rung, about: Description) -> str:
    case, run, grid = rung.case, about.run, about.grid
    if rung.blocking:
        return "one blocking step"
    if not rung.compiling:
        return "the same run without its compilations"
    if case.scope != "run" or run is None:
        return SCOPES[case.scope].rungs[case.cache].long
    if grid is not None:
        points = len(grid.hidden) * len(grid.epochs)
        way = "side by side" if case.variant == "stacked" else "one after another"
        return f"the whole search, {points} points of {grid.folds} fits each, {way}, compiling included"
    epochs = f"{run.epochs} epoch{'s' if run.epochs > 1 else ''}"
    after = ", validation after each" if run.test else ""
    return f"building, compiling and {epochs} of {units.count(run.train)} examples{after}"


def table(rungs: Sequence[Rung], about: Description, machine: str) -> Table:
    """Return a row for each rung, with the speed-up if it is known."""
    complete = Table(
        title=f"The clock ladder, {machine}: CPU and GPU times as more of the work is counted",
        columns=("what is timed", "CPU", "GPU", "speed-up", "95 % interval", _SAME_HOSTS, "status", "hosts"),
        rows=tuple(_row(rung, rungs, about) for rung in rungs),
        notes=(*_notes(rungs), *filter(None, [other_hosts(rungs), _shared(rungs)])),
    )
    place, whole = complete.columns.index(_SAME_HOSTS), complete.rows[0][_SPEEDUP].text
    told = any(row[place].text not in (units.DASH, whole) for row in complete.rows)
    return complete if told else chosen(complete, [name for name in complete.columns if name != _SAME_HOSTS])


def _row(rung: Rung, rungs: Sequence[Rung], about: Description) -> tuple[Cell, ...]:
    *times, status, hosts = _cells(rung)
    data = rung.data_words if rung.compiling else ""
    name = ", ".join(filter(None, (words(rung, about), data)))
    return row_of(name, *times, _beside(rung, rungs), status, hosts)


def _beside(rung: Rung, rungs: Sequence[Rung]) -> Cell:
    """Return the cell of the step's speed-up on the hosts of a rung."""
    step, item = step_beside(rung, rungs), rung.pooled
    own = item is not None and item.case.scope == "step"
    return times_cells(step and step.estimate, remark="" if own else "none of its hosts timed the step too")[0]


def _cells(rung: Rung) -> tuple[Cell, ...]:
    item = rung.pooled
    if item is None:
        sides = [side for side in (rung.cpu, rung.gpu) if side]
        state = "invalid" if any(side.state == "invalid" for side in sides) else "open"
        return (
            time_cell(rung.cpu),
            time_cell(rung.gpu),
            *times_cells(rung.ratio, remark="" if len(sides) < 2 else "CPU and GPU are of two campaigns"),
            Cell(text=state, remark=one_host_cell(*sides).remark),
            Cell(text=_ONE_CAMPAIGN if _of_one_campaign(rung) else "two campaigns"),
        )
    return (
        time_cell(item.cpu),
        time_cell(item.gpu),
        *ratio_and_interval(item),
        *state_cells(item),
    )


def _of_one_campaign(rung: Rung) -> bool:
    return len({side.record.campaign for side in (rung.cpu, rung.gpu) if side}) == 1


def _notes(rungs: Sequence[Rung]) -> tuple[str, ...]:
    alone = [side.record for rung in rungs if _of_one_campaign(rung) for side in (rung.cpu, rung.gpu) if side]
    one = ("In a row of one campaign the interval is of one host, not of the kind of machine.",) if alone else ()
    none = ("No interval: measured once only, or on too few hosts.",)
    lacking = any(rung.ratio is not None and rung.ratio.low is None for rung in rungs)
    return (*one, *(none if lacking else ()), *campaigns_note(alone, f"The rows marked “{_ONE_CAMPAIGN}”"))


def other_hosts(rungs: Sequence[Rung]) -> str:
    """Return which rungs are of other hosts than the step, in sentences; '' if none is."""
    names = [rung.name for rung in elsewhere(rungs)]
    if not names:
        return ""
    return (
        f"Timed on other hosts than the step: {', '.join(names)}. Two speed-ups of different hosts surely differ only "
        "if their intervals do not overlap."
    )


def _shared(rungs: Sequence[Rung]) -> str:
    """Return which CPU times also count hosts of other machines with this CPU, in a sentence; '' if none does."""
    shared = {rung.name: rung.pooled for rung in rungs if rung.pooled and len(rung.pooled.cpu.machines) > 1}
    others = {
        record.machine.name
        for item in shared.values()
        for record in item.cpu.records
        if record.machine.slug != item.machine
    }
    if not shared:
        return ""
    return (
        f"CPU times that also count hosts of {' and of '.join(sorted(others))}, with the same CPU and equal code: "
        f"{', '.join(shared)}."
    )


def chart(rungs: Sequence[Rung]) -> Chart | None:
    """Return the speed-up of each rung, the step on top; None if fewer than two rungs have both sides."""
    points = tuple(
        Point(
            series="speed-up",
            row=rung.name,
            value=ratio.value,
            low=ratio.low,
            high=ratio.high,
            text=units.ratio(ratio.value, ratio.low, ratio.high),
            solid=rung.pooled is not None and rung.pooled.quotable,
        )
        for rung in rungs
        if (ratio := rung.ratio) is not None
    )
    if len(points) < _FEWEST:
        return None
    return Chart(caption="", across="CPU time / GPU time, log scale", points=points, level=1.0)


def finding(rungs: Sequence[Rung]) -> str:
    """Return the speed-up of the step and of the documented run, else of the widest work, as the chart's title."""
    known = [rung for rung in rungs if rung.ratio is not None]
    documented = [rung for rung in known if rung.compiling and not rung.blocking and rung.case.cache == "empty"]
    first, last = known[0], next((rung for rung in documented if rung.case.scope == "run"), (documented or known)[-1])
    far = " on other hosts" * any(last is one for one in elsewhere(rungs))
    what = first.words[0].upper() + first.words[1:]
    more = "" if last is first else f", {last.words} {_ratio(last)}{far}"
    return f"{what} is {_ratio(first)} as fast on the GPU{more}"


def _ratio(rung: Rung) -> str:
    ratio = rung.ratio
    return units.DASH if ratio is None else units.ratio(ratio.value, ratio.low, ratio.high)


def curve(amortised: Sequence[Amortised]) -> Chart:
    """Return the effective speed-up after n calls as points with intervals, on two logarithmic axes."""
    points = tuple(
        Point(
            series="effective speed-up", at=one.calls, value=one.ratio.value, low=one.ratio.low, high=one.ratio.high,
            text=_after(one), solid=one.quotable,
        )
        for one in amortised
    )  # fmt: skip
    return Chart(
        caption="", across="steps taken, the first with its compilation", up="CPU time / GPU time", points=points,
        level=1.0, joined=True, numbered=True,
    )  # fmt: skip


def curve_finding(amortised: Sequence[Amortised]) -> str:
    """Return the first and the last number of steps with their speed-up, as the curve's title."""
    first, last = amortised[0], amortised[-1]
    words = (f"{_after(one)} after {units.pluralize(one.calls, 'step')}" for one in (first, last))
    return f"As fast on the GPU, compiling included: {', '.join(words)}"


def start_elsewhere(rungs: Sequence[Rung]) -> str:
    """Return that the curve's cold start is of other hosts than its step, in a sentence; '' if it is not."""
    apart = any((rung.case.scope, rung.case.cache) == ("cold", "empty") for rung in elsewhere(rungs))
    return "Cold start and step are of different hosts." if apart else ""


def alternative(amortised: Sequence[Amortised]) -> str:
    """Return the curve in words."""
    return "; ".join(f"after {units.pluralize(one.calls, 'step')} {_after(one)}" for one in amortised)


def _after(one: Amortised) -> str:
    return units.ratio(one.ratio.value, one.ratio.low, one.ratio.high)
