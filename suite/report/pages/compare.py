"""The page that compares published times, and lays a record of the reader's own beside them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, get_args

from suite import former, units
from suite.case import Implementation, axes
from suite.report.parts.facts import Facts
from suite.results.compare import cells
from suite.results.compare.cells import PublishedCell
from suite.results.pooled import pools
from suite.results.records.choices import choices
from suite.results.records.machine import ARCHITECTURES
from suite.results.single.roofline import is_ceiling
from suite.results.views.rows import row_of
from suite.results.views.table import Cell, Table
from suite.variants import every_variant_of, way_name

PATH = "compare.md"
_STATIC = ("step", "jax", "")  # scope, way and setting of the table without scripts


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    published = [pool for pool in facts.published_pools if not is_ceiling(pool.newest)]
    listed = cells.cells(published, pools.current(published))
    titles = {pool.case.workload: pool.newest.description.title for pool in published}
    known = document(listed, titles) | {"pages": sorted({record.workload for record in facts.measured})}
    return {PATH: facts.page(PATH, cells=known, table=static(listed, titles))}


def document(listed: Sequence[PublishedCell], titles: Mapping[str, str]) -> dict[str, Any]:
    """Return what the page's scripts read: the cells, and how a record's case is named.

    It lies on the page, since a page opened from a file cannot fetch.
    """
    return cells.document(listed, titles) | {
        "threads": {
            f"{row.workload} {row.implementation} {row.on.split()[0]}": row.threads for row in choices().threads
        },
        "axes": axes(),
        "former": former.AXES,
        "architectures": ARCHITECTURES,
        "ways": {
            f"{name} {variant}": way_name(name, variant)
            for name in get_args(Implementation)
            for backend in ("cpu", "gpu")
            for variant in every_variant_of(name, backend)
        },
    }


def static(listed: Sequence[PublishedCell], titles: Mapping[str, str]) -> Table | None:
    """Return the comparison of two machines for readers without scripts; None without two that timed a model."""
    shown = [c for c in listed if c.current and (c.case.scope, c.way, c.setting) == _STATIC]
    by_side: dict[tuple[str, str], dict[str, PublishedCell]] = defaultdict(dict)
    for cell in shown:
        by_side[cell.case.backend, cell.machine][cell.case.workload] = cell
    order = sorted(by_side.items(), key=lambda side: (side[0][0] == "gpu", _hosts(side[1])), reverse=True)
    candidates = (
        [(first[name], second[name]) for name in first if name in second]
        for (one, first), (other, second) in combinations(order, 2)
        if one[0] == other[0]
    )
    pairs = max(candidates, key=_evidence, default=[])
    if not pairs:
        return None
    names = [cells.machine_name(side) for side in pairs[0]]
    return Table(
        title=f"A step on the {pairs[0][0].case.backend.upper()}, {names[0]} and {names[1]}",
        columns=("model", *names, "times as fast", "95 % interval", "the second is", "hosts"),
        rows=tuple(_row(*pair, titles) for pair in pairs),
    )


def _hosts(of_machine: Mapping[str, PublishedCell]) -> int:
    return sum(cell.pool.hosts for cell in of_machine.values())


def _evidence(pairs: Sequence[tuple[PublishedCell, PublishedCell]]) -> tuple[int, int]:
    """Return a sort key of two machines: most pairs that get a verdict by the method in use, then most hosts."""
    judged = sum(first.pool.method == second.pool.method and not first.pool.outdated for first, second in pairs)
    return judged, sum(first.pool.hosts + second.pool.hosts for first, second in pairs)


def _row(first: PublishedCell, second: PublishedCell, titles: Mapping[str, str]) -> tuple[Cell, ...]:
    over, times = cells.ratio(first.pool, second.pool), (first.pool.seconds, second.pool.seconds)
    shown = [
        Cell(text=units.seconds(time.value, units.half_width(time.low, time.high)), sort=time.value) for time in times
    ]
    value = Cell(text=units.ratio(over.value, over.low, over.high), sort=over.value)
    alike = first.pool.method == second.pool.method
    word = cells.verdict(first.pool, second.pool) if alike else cells.ANOTHER_METHOD
    hosts = f"{first.pool.hosts}, {second.pool.hosts}"
    name = titles.get(first.case.workload, first.case.workload)
    return row_of(name, *shown, value, units.interval(over.low, over.high), word, hosts)
