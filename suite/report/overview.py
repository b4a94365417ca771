"""How much faster one machine's GPU is, in one screen: the answer, the chart, and a table to filter."""

import json
from collections.abc import Iterable, Sequence

from suite import units
from suite.report import absent, charts, lead, tables
from suite.report.html import Page, safe
from suite.results.record import Record
from suite.results.speedup import CERTIFIED_FROM, SpeedUp, current, speedups
from suite.results.table import Cell, Table, varied

_SCOPES = ("step", "transfer", "epoch", "cold", "run")  # in the order of the ladder
_COLUMNS = (  # what is asked first, as a narrow screen shows only that
    "model", "speed-up", "95 % interval", "scope", "batch", "GPU precision", "CPU", "GPU", "CPU: best peer / JAX",
    "GPU: best peer / JAX", "status",
)  # fmt: skip
_FACETS = {"scope": "step"}  # what is shown at first
_MANY = 8  # machines, from which on the choice is folded


def add(
    page: Page, records: Sequence[Record], name: str, links: dict[str, str], models: Iterable[str] = ()
) -> dict[str, str]:
    """Add what one machine's records say to a page; return the files of the chart, which has that name.

    It says which of the `models`, and of those in the records, are not in it.
    """
    found = [item for item in current(speedups(records)) if item.gpu.record.case.scope in _SCOPES]
    main = headlines(found)
    others = [item for item in found if not item.gpu.record.headline_step()]
    with_gpu = any(record.machine.gpus for record in records)
    page.add(f'<p class="lead">{lead.answer(main, with_gpu, others)}</p>')
    files: dict[str, str] = {}
    if main:
        spec = charts.speedups(main)
        files = charts.files(name, spec)
        alternative = "; ".join(
            f"{i.gpu.record.workload}: {units.times(i.ratio.value, i.ratio.low, i.ratio.high)}" for i in main
        )
        caption = (
            "Time of one step on the CPU over its time on the GPU of the same machine, float32 at highest precision on "
            "both sides, with 95 % intervals. Hollow: the result is not steady, or the CPU side not certified, as "
            f"another implementation takes less than {CERTIFIED_FROM:g} of JAX's time on the same cores. Grey ticks: "
            "what the articles report, of whole runs and clusters too, but not of first calls."
        )
        page.chart(name, alternative, caption, json.dumps(charts.themed(spec)))
        if left := absent.sentence(records, {item.gpu.record.workload for item in main}, models):
            page.add(f'<p class="note">{safe(left)}</p>')
    if found:
        page.table(table(found, tables.best_peers(records)), links)
    return files


def headlines(found: Iterable[SpeedUp]) -> list[SpeedUp]:
    """Return the speed-ups of the headline setting."""
    return [item for item in found if item.gpu.record.headline_step()]


def table(found: Sequence[SpeedUp], peers: tables.PeersByPlace) -> Table:
    """Return every speed-up of a machine, to be filtered by scope, family, precision and batch.

    The precision has no column, but stands in the title, if there is one alone.
    """
    order = sorted(found, key=lambda i: (_SCOPES.index(i.gpu.record.case.scope), i.gpu.record.workload))
    precisions = sorted({item.gpu.record.case.precision for item in order})
    whole = Table(
        title=f"How much faster is the GPU? CPU and GPU of the same machine, {' or '.join(precisions)}",
        columns=_COLUMNS,
        rows=tuple(_row(item, peers) for item in order),
        facets=tuple(map(_facets, order)),
        chosen=_FACETS if any(item.gpu.record.case.scope == _FACETS["scope"] for item in order) else {},
    )
    return varied(whole, ["GPU precision"])


def _row(item: SpeedUp, peers: tables.PeersByPlace) -> tuple[Cell, ...]:
    model, batch, ratio, within, *rest, _machine = tables.speedup_row(item, peers)
    return (model, ratio, within, tables.scope_cell(item.gpu.record.case.scope), batch, *rest)


def _facets(item: SpeedUp) -> dict[str, str]:
    case, about = item.gpu.record.case, item.gpu.record.description
    return {"scope": case.scope, "family": about.family, "precision": case.precision, "batch": units.count(case.batch)}


def first(records: Iterable[Record]) -> str | None:
    """Return the slug of the machine to show first: the one with most headline speed-ups, the newest of equals."""
    found: dict[str, list[str]] = {}
    for item in headlines(current(speedups(records))):
        found.setdefault(item.gpu.record.machine.slug, []).append(item.gpu.record.created)
    return max(found, key=lambda slug: (len(found[slug]), max(found[slug])), default=None)


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
