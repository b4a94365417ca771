"""JAX's steps and their fastest baselines: a table for each machine and backend."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from suite import units
from suite.results.pooled.baselines import BaselineComparison
from suite.results.pooled.ways import Way
from suite.results.views.table import INTERVAL, Cell, Table

COLUMNS = ("workload", "batch", "precision", "fastest baseline", "its time over JAX's", INTERVAL, "not timed")


def tables(rows: Sequence[BaselineComparison]) -> Iterator[Table]:
    """Yield the tables of these rows, sorted by machine; a note lists steps without a baseline."""
    for (machine, backend), group in groupby(rows, key=lambda row: (row.machine, row.mine.case.backend)):
        compared = list(group)
        alone = list(dict.fromkeys(row.mine.case.workload for row in compared if not row.best))
        yield Table(
            title=f"Baselines on the {backend.upper()} of {machine}",
            columns=COLUMNS,
            rows=tuple(_row(row, row.best) for row in compared if row.best),
            notes=(f"No baseline beside some steps of {', '.join(alone)}; --json has these too.",) if alone else (),
        )


def _row(row: BaselineComparison, best: Way) -> tuple[Cell, ...]:
    case, over = row.mine.case, best.over
    return tuple(
        Cell(text=text)
        for text in (
            case.workload,
            f"{case.batch:,}",
            case.precision,
            best.words,
            units.ratio(over.value, over.low, over.high),
            units.interval(over.low, over.high),
            ", ".join(row.not_timed) or units.DASH,
        )
    )
