"""How JAX stands beside other implementations: the control table, for the site and for the terminal."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from suite import units
from suite.report import tables
from suite.report.html import Page
from suite.results.campaigns import several
from suite.results.record import Record
from suite.results.selection import by_machine
from suite.results.standing import Standing, overall, standings
from suite.results.statistics import Estimate
from suite.results.summary import doubts
from suite.results.table import Cell, Table, chosen, times_cells
from suite.variants import peer_name
from suite.workload import Case

TITLE = "How JAX stands"
COLUMNS = (  # what is asked first, as a narrow screen shows only that
    "model", "batch", "ratio", "95 % interval", "JAX step", "best peer", "its step", "allocators", "status",
    "every way",
)  # fmt: skip
_COUNTED = (
    " Workloads that differ in data or dropout alone count as one network, the data-parallel model and trees as none."
)
_OF = "an interval of these networks as they were measured, not of networks at large"
_TERMINAL = ("model", "JAX step", "best peer", "its step", "ratio", "95 % interval")


def row(item: Standing) -> tuple[Cell, ...]:
    """Return one standing in the order of COLUMNS."""
    mine, peer, ratio = item.mine, item.best_peer, item.ratio
    case = mine.record.case
    return (
        Cell(text=tables.name(case)),
        Cell(text=units.count(case.batch), sort=case.batch),
        *times_cells(ratio, peer.record),
        tables.time_cell(mine),
        Cell(text=peer_name(peer.record.case)),
        tables.time_cell(peer),
        _allocators(case, peer.record.case),
        Cell(text=item.status, remark="; ".join(item.reasons)),
        _every_way(item),
    )


def _every_way(item: Standing) -> Cell:
    """Return each way of each peer with its better allocator, and beneath all that ran and what did not."""
    times = [(peer.record.case, units.times(r.value, r.low, r.high)) for peer, r in item.peers]
    better: dict[str, str] = {}
    for case, time in times:
        better.setdefault(peer_name(case), time)  # the fastest comes first
    shown = "; ".join(f"{name}: {time}" for name, time in better.items())
    beneath = "; ".join(f"{tables.way(case)}: {time}" for case, time in times) if len(times) > len(better) else ""
    return Cell(text=shown, remark="; ".join(filter(None, (beneath, _not_timed(item)))))


def _allocators(mine: Case, theirs: Case) -> Cell:
    if mine.backend != "cpu":
        return Cell(text=units.DASH, remark="the allocator is the host's")
    return Cell(text=f"{mine.allocator} / {theirs.allocator}", remark="JAX's and the best peer's")


def _not_timed(item: Standing) -> str:
    return "not timed: " + ", ".join(item.untimed) if item.untimed else ""


def standing_tables(items: Sequence[Standing]) -> tuple[Table, ...]:
    """Return the standings of one machine, a table for each backend and precision, the geometric mean below it."""
    found = []
    for (backend, precision), group in groupby(items, key=_side):
        same = tuple(group)
        machine = same[0].mine.record.machine.name
        title = f"{TITLE} on the {backend.upper()} of {machine}, {precision}: the best peer's time of a step over JAX's"
        notes = mean(same) + gaps(same) + against(same)
        found.append(Table(title=title, columns=COLUMNS, rows=tuple(map(row, same)), notes=notes))
    return tuple(found)


def _side(item: Standing) -> tuple[str, str]:
    return item.mine.record.backend, item.mine.record.case.precision


def mean(items: Sequence[Standing]) -> tuple[str, ...]:
    """Return a line with the geometric mean of the ratios and whose interval it is; none unless of several networks."""
    found = overall(items)
    if found is None or found.networks == 1:
        return ()
    within = f", {_OF}" if found.ratio.low is not None else ""
    span = several(item.mine.record for item in found.items)
    over = f"{found.networks} networks{f', {span}' if span else ''}"
    said = f"Geometric mean over {over}: {_with_interval(found.ratio)}{within}."
    fewer = found.networks < len({item.mine.record.workload for item in items})
    return (said + doubts(item.status for item in found.items) + _COUNTED * fewer,)


def _with_interval(ratio: Estimate) -> str:
    within = f" ({units.interval(ratio.low, ratio.high)})" if ratio.low is not None else ""
    return units.times(ratio.value, ratio.low, ratio.high) + within


def gaps(items: Sequence[Standing]) -> tuple[str, ...]:
    """Return a line with the ways of the peers that were not timed, and in how many steps; none if all were."""
    lacking = Counter(way for item in items for way in item.untimed)
    if not lacking:
        return ()
    ways = ", ".join(f"{way} in {number} of {len(items)} steps" for way, number in lacking.items())
    return (f"Not timed, so that the best peer may be faster than the one shown: {ways}.",)


def against(items: Sequence[Standing]) -> tuple[str, ...]:
    """Return a line with the steps of which newer campaigns say worse of JAX than those shown; none without."""
    worse = [
        f"{tables.name(each.mine.record.case)} {_with_interval(each.ratio)} beside "
        f"{peer_name(each.best_peer.record.case)}, {units.day(each.mine.record.created)}"
        for item in items
        if (each := item.against) is not None
    ]
    if not worse:
        return ()
    return (f"Newer campaigns that left the fastest way out, and in which JAX does worse: {'; '.join(worse)}.",)


def for_terminal(records: Sequence[Record], machine: str) -> tuple[Table, ...]:
    """Return a machine's tables with fewer columns; none where nothing was compared."""
    found = standings(record for record in records if record.machine.slug == machine)
    return tuple(chosen(table, _TERMINAL) for table in standing_tables(found))


def page(records: Sequence[Record], local: frozenset[str], links: dict[str, str]) -> str:
    """Return the site's page, machine by machine."""
    made = Page(TITLE, "", local)
    made.add(
        '<p class="lead">Is JAX the right side to compare? Each ratio is the time that the fastest other '
        "implementation takes for the same step on the same machine, over JAX’s time: above 1, JAX is the faster "
        "one.</p>"
    )
    found = standings(records)
    for slug, there in by_machine(records).items():
        items = tuple(item for item in found if item.mine.record.machine.slug == slug)
        if not items:
            continue
        made.add(f'<h2 id="{slug}">{made.linked(there[0].machine.name, links)}</h2>')
        for table in standing_tables(items):
            made.table(table, links)
    if not found:
        made.paragraph("Nothing has been compared yet: nox -s control does it.")
    made.add(
        '<p class="note">On the CPU every implementation is timed with the allocator that keeps its memory and with '
        "the system’s, and its better one counts: the column names JAX’s and the best peer’s. PyTorch runs eagerly and "
        "compiled, on the GPU also replayed as a CUDA graph, and its best way counts; of several campaigns the newest "
        "stands here that timed the fastest way known; what none timed is named. "
        '<a href="method.html">Method</a> says how times come about.</p>'
    )
    return made.text()
