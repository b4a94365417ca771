"""A workload's headline step in every campaign on a machine, as a table."""

from collections.abc import Sequence

from suite import units
from suite.results.single.history import Once
from suite.results.single.summary import Summary
from suite.results.views.rows import row_of
from suite.results.views.table import INTERVAL, ON_ONE_HOST, Cell, Table, filled, one_host_cell, time_cell, times_cells

_COLUMNS = ("began, UTC", "experiment", "CPU", INTERVAL, "GPU", INTERVAL, "speed-up", INTERVAL, ON_ONE_HOST)


def table(campaigns: Sequence[Once], machine: str) -> Table:
    """Return the campaigns on a machine, a row each."""
    return filled(
        Table(
            title=f"The headline step in every campaign on {machine}",
            columns=_COLUMNS,
            rows=tuple(map(_row, campaigns)),
            notes=(
                "What differs by more than the intervals say differs with the day: the machine's, whose neighbours and "
                "cores are others each time, or the suite's, which became faster. Speed-ups on the other pages are of "
                "the newest campaign that timed both sides as no experiment.",
            ),
        )
    )


def words(campaigns: Sequence[Once]) -> str:
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


def _row(once: Once) -> tuple[Cell, ...]:
    sides = [side for side in (once.cpu, once.gpu) if side is not None]
    times = (*_time_cells(once.cpu), *_time_cells(once.gpu), *times_cells(once.ratio))
    return row_of(units.minute(once.created), once.experiment or units.DASH, *times, one_host_cell(*sides))


def _time_cells(side: Summary | None) -> tuple[Cell, Cell]:
    seconds = side.seconds if side else None
    interval = units.seconds_interval(seconds.low, seconds.high) if seconds else units.DASH
    return time_cell(side), Cell(text=interval)
