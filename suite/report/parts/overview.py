"""How much faster one machine's GPU is, in one screen: the answer, the chart, and a table to filter."""

import json
from collections.abc import Iterable, Sequence

from suite import units
from suite.report.charts import vega
from suite.report.parts import absent, lead, tables
from suite.report.parts.html import Page, safe
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.baselines import CERTIFIED_FROM
from suite.results.views.table import Cell, Table, varied
from suite.scopes import SCOPES

_COLUMNS = (  # what is asked first, as a narrow screen shows only that
    "model", "speed-up", "95 % interval", "next host", "status", "hosts", "scope", "batch", "GPU precision", "CPU",
    "GPU", "CPU: baseline / JAX", "GPU: baseline / JAX", "best / best",
)  # fmt: skip
CAPTION = (
    "Time of one step on the CPU over its time on the GPU, float32 at highest precision on both sides. Thick: 95 % "
    "interval of the kind of machine. Thin: where a campaign on a further host comes out, 95 %. Hollow: not to be "
    f"quoted, since there are fewer than {FEWEST_HOSTS} hosts, the interval is too wide, or a baseline may take less "
    f"than {CERTIFIED_FROM:g} of JAX's time on the same cores. Grey ticks: what the articles report, of whole runs and "
    "clusters too, but not of first calls."
)
_FACETS = {"scope": "step"}  # what is shown at first
_MANY = 8  # machines, from which on the choice is folded


def add(
    page: Page,
    speedups: Iterable[PooledSpeedUp],
    records: Sequence[Record],
    name: str,
    links: dict[str, str],
    models: Iterable[str] = (),
) -> dict[str, str]:
    """Add a machine's speed-ups to a page; return the files of the chart, which has that name.

    It says which of the `models`, and of those in the machine's records, are not among them.
    """
    found = [item for item in speedups if item.general and SCOPES[item.case.scope].rungs]
    main = headlines(found)
    others = [item for item in found if not item.headline]
    page.add(f'<p class="lead">{lead.answer(main, records, others)}</p>')
    files: dict[str, str] = {}
    if main:
        spec = vega.speedups(main)
        files = vega.files(name, spec)
        alternative = "; ".join(f"{i.workload}: {units.ratio(i.ratio.value, i.ratio.low, i.ratio.high)}" for i in main)
        page.chart(name, alternative, CAPTION, json.dumps(vega.themed(spec)))
        if left := absent.sentence(records, {item.workload for item in main}, models):
            page.add(f'<p class="note">{safe(left)}</p>')
    if found:
        page.table(table(found), links)
    return files


def headlines(found: Iterable[PooledSpeedUp]) -> list[PooledSpeedUp]:
    """Return the speed-ups of the headline setting."""
    return [item for item in found if item.headline]


def table(found: Sequence[PooledSpeedUp]) -> Table:
    """Return every speed-up of a machine, to be filtered by scope, family, precision and batch.

    The precision has no column, but stands in the title, if there is one alone.
    """
    scopes = list(SCOPES)
    order = sorted(found, key=lambda i: (scopes.index(i.case.scope), i.workload))
    precisions = sorted({item.case.precision for item in order})
    whole = Table(
        title=f"How much faster is the GPU? CPU and GPU of one kind of machine, {' or '.join(precisions)}",
        columns=_COLUMNS,
        rows=tuple(map(_row, order)),
        facets=tuple(map(_facets, order)),
        chosen=_FACETS if any(item.case.scope == _FACETS["scope"] for item in order) else {},
    )
    return varied(whole, ["GPU precision"])


def _row(item: PooledSpeedUp) -> tuple[Cell, ...]:
    model, batch, ratio, within, further, state, hosts, *rest, _machine = tables.speedup_row(item)
    return (model, ratio, within, further, state, hosts, tables.scope_cell(item.case.scope), batch, *rest)


def _facets(item: PooledSpeedUp) -> dict[str, str]:
    case, about = item.case, item.record.description
    return {"scope": case.scope, "family": about.family, "precision": case.precision, "batch": units.count(case.batch)}


def first(found: Iterable[PooledSpeedUp]) -> str | None:
    """Return the machine to show first, as it stands in addresses.

    It is the one with most headline speed-ups, of equals that with most hosts, then the newest.
    """
    there: dict[str, list[PooledSpeedUp]] = {}
    for item in headlines(found):
        there.setdefault(item.machine, []).append(item)

    def rank(machine: str) -> tuple[int, int, str]:
        mine = there[machine]
        return len(mine), sum(item.hosts for item in mine), max(item.record.created for item in mine)

    return max(there, key=rank, default=None)


def choice(machines: dict[str, str], here: str | None, up: str) -> str:
    """Return the links to all machines, by slug and name, the one that is shown marked; '' for a single one."""
    if len(machines) < 2:
        return ""
    entries = "".join(
        f'<li><a href="{up}machines/{safe(slug)}.html"{" aria-current=true" * (slug == here)}>{safe(name)}</a></li>'
        for slug, name in sorted(machines.items())
    )
    listed = f'<ul class="choice">{entries}</ul>'
    if len(machines) > _MANY:
        listed = f"<details><summary>{units.count(len(machines))} machines</summary>{listed}</details>"
    return f'<nav class="machines" aria-label="Machine">{listed}</nav>'
