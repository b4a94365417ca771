"""JAX and the fastest baseline of each step, for the site and the terminal."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean

from suite import units
from suite.report.parts import tables
from suite.results.pooled.baselines import BaselineComparison, baseline_comparisons
from suite.results.pooled.ways import Way
from suite.results.records.record import Record
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import INTERVAL, Cell, Table, chosen, time_cell, times_cells

COLUMNS = (  # the important ones first: a narrow screen shows only these
    "model", "batch", "ratio", "95 % interval", "hosts", "JAX step", "fastest baseline", "its step", "every way",
)  # fmt: skip
_TERMINAL = ("model", "JAX step", "fastest baseline", "its step", "ratio", "95 % interval")
_NAMES: Mapping[str, str] = {"torch": "PyTorch", "keras": "Keras", "xgboost": "XGBoost", "openvino": "OpenVINO"}
_COUNTED = (
    " Workloads that differ only in data or dropout count once; the data-parallel model and the trees do not count."
)


def name_of(implementation: str) -> str:
    """Return an implementation's name in prose."""
    return _NAMES.get(implementation, implementation)


def row(item: BaselineComparison, best: Way) -> tuple[Cell, ...]:
    """Return one step and its fastest baseline in the order of COLUMNS."""
    case = item.mine.case
    ratio, hosts = times_cells(best.over.estimate, best.pool.newest), count_cell(best.over.hosts)
    times = (time_cell(item.mine), best.words, time_cell(best.pool))
    return row_of(tables.name(case), count_cell(case.batch), *ratio, hosts, *times, _every_way(item))


def _every_way(item: BaselineComparison) -> Cell:
    """Return each timed way, and the untimed ones."""
    shown = "; ".join(f"{way.words}: {units.ratio(way.over.value, way.over.low, way.over.high)}" for way in item.ways)
    lacking = ", ".join(item.not_timed)
    return Cell(text=shown, remark=f"not timed: {lacking}" if lacking else "")


def baseline_tables(comparisons: Iterable[BaselineComparison]) -> tuple[Table, ...]:
    """Return one machine's steps that have a baseline, a table for each backend and precision."""
    shown = []
    compared = [item for item in comparisons if item.best]
    for (backend, precision), group in groupby(sorted(compared, key=_side), key=_side):
        same = tuple(group)
        machine = same[0].mine.newest.machine.name
        shown.append(
            Table(
                title=f"{backend.upper()} of {machine}, {precision}: the fastest baseline's time of a step over JAX's",
                columns=COLUMNS,
                rows=tuple(row(item, item.best) for item in same if item.best),
                notes=mean(same) + gaps(same),
            )
        )
    return tuple(shown)


def _side(item: BaselineComparison) -> tuple[str, str]:
    return item.mine.case.backend, item.mine.case.precision


def mean(items: Sequence[BaselineComparison]) -> tuple[str, ...]:
    """Return a line with the mean over networks; empty with fewer than two."""
    known = over_networks(items)
    if known is None:
        return ()
    value, networks = known
    fewer = networks < len({item.mine.case.workload for item in items})
    return (f"Geometric mean over {networks} networks: {units.ratio(value)}.{_COUNTED * fewer}",)


def over_networks(items: Sequence[BaselineComparison]) -> tuple[float, int] | None:
    """Return the geometric mean of the ratios at headline batches and its networks; None with fewer than two.

    The mean is of these networks and has no interval. Networks with equal counts count as one.
    """
    networks: dict[tuple, list[float]] = defaultdict(list)
    for item in items:
        about = item.mine.newest.description
        if item.best and about.is_network and item.mine.case.batch == about.batch:
            networks[about.network].append(math.log(item.best.over.value))
    return (math.exp(fmean(map(fmean, networks.values()))), len(networks)) if len(networks) > 1 else None


def gaps(items: Sequence[BaselineComparison]) -> tuple[str, ...]:
    """Return a line with the untimed ways and their number of steps; empty if all were timed."""
    lacking = Counter(way for item in items for way in item.not_timed)
    if not lacking:
        return ()
    ways = ", ".join(f"{way} in {number} of {len(items)} steps" for way, number in lacking.items())
    return (f"Not timed, and may be faster: {ways}.",)


def for_terminal(records: Sequence[Record], machine: str) -> tuple[Table, ...]:
    """Return a machine's tables with fewer columns; empty if nothing was compared."""
    if all(record.case.implementation == "jax" for record in records if record.machine.slug == machine):
        return ()
    found = [item for item in baseline_comparisons(records) if item.machine == machine]
    return tuple(chosen(table, _TERMINAL) for table in baseline_tables(found))


LISTED_COLUMNS = ("workload", "batch", "precision", "fastest baseline", "its time over JAX's", INTERVAL, "not timed")


def listed(rows: Sequence[BaselineComparison]) -> Iterator[Table]:
    """Yield the tables of these rows, which are sorted by machine; steps without a baseline are in a note."""
    for (machine, backend), group in groupby(rows, key=lambda row: (row.machine, row.mine.case.backend)):
        group_rows = list(group)
        alone = list(dict.fromkeys(row.mine.case.workload for row in group_rows if not row.best))
        yield Table(
            title=f"Baselines on the {backend.upper()} of {machine}",
            columns=LISTED_COLUMNS,
            rows=tuple(_listed_row(row, row.best) for row in group_rows if row.best),
            notes=(f"No baseline beside some steps of {', '.join(alone)}; --json has these too.",) if alone else (),
        )


def _listed_row(row: BaselineComparison, best: Way) -> tuple[Cell, ...]:
    case, over = row.mine.case, best.over
    value, within = units.ratio(over.value, over.low, over.high), units.interval(over.low, over.high)
    lacking = ", ".join(row.not_timed) or units.DASH
    return row_of(case.workload, f"{case.batch:,}", case.precision, best.words, value, within, lacking)
