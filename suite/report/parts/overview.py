"""One machine's speed-ups on one screen: the answer in words, the chart, and a table to filter."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

from suite import units
from suite.report.charts.vega import Figure
from suite.report.parts import lead, rungs, tables
from suite.report.parts.html import Html
from suite.report.parts.ladder_figures import figures, titles
from suite.report.parts.quotable_elsewhere import Quotable, with_quotable
from suite.results.pooled.grouping import usable
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.views.rows import row_of, slow_cpu_notes
from suite.results.views.table import STATUS, Cell, Table, varied
from suite.scopes import SCOPES

_COLUMNS = (  # the important ones first: a narrow screen shows only these
    "model", "speed-up", "95 % interval", STATUS, "next host", "CPU", "GPU", "scope", "hosts", "batch",
    "GPU precision", "CPU: baseline / JAX", "GPU: baseline / JAX", "best / best", "name in keys",
)  # fmt: skip
_MORE = _COLUMNS[_COLUMNS.index("hosts") :]  # behind a switch
_FACETS = {"scope": "step", "precision": "float32-highest"}  # the first choice of the filter


@dataclass(frozen=True, kw_only=True)
class Overview:
    """A machine's speed-ups: the answer, charts for wide and narrow screens, notes, and the table of all."""

    lead: Html
    figures: tuple[Figure, ...] = ()
    notes: tuple[Html, ...] = ()
    table: Table | None = None


def overview(
    speedups: Iterable[PooledSpeedUp],
    records: Sequence[Record],
    name: str,
    models: Iterable[str] = (),
    ways: Iterable[PooledSpeedUp] = (),
    quotable: Quotable = MappingProxyType({}),
) -> Overview:
    """Return the overview of a machine's speed-ups, its charts under that name.

    It lists those of the `models`, and of the machine's recorded ones, that are missing. `ways` are loops as written.
    Rows that may not be quoted lead to the `quotable` speed-ups of other machines.
    """
    known = list(speedups)
    shown = [item for item in known if item.general and SCOPES[item.case.scope].rungs]
    amounts = rungs.rungs([*known, *ways])
    sentences = lead.answer(amounts, records, [item for item in shown if not item.headline])
    listed = table(shown, quotable) if shown else None
    step = rungs.step(amounts)
    if step is None:
        return Overview(lead=sentences, table=listed)
    left_out = without_speedup(records, step.by_workload, models)
    notes = (lead.quoting(list(step.by_workload.values())), Html.escape(left_out))
    return Overview(
        lead=sentences,
        figures=tuple(figures(amounts, name)),
        notes=tuple(filter(None, notes)),
        table=listed,
    )


def headlines(speedups: Iterable[PooledSpeedUp]) -> list[PooledSpeedUp]:
    """Return the speed-ups at headline settings."""
    return [item for item in speedups if item.headline]


def table(speedups: Sequence[PooledSpeedUp], quotable: Quotable = MappingProxyType({})) -> Table:
    """Return every speed-up of a machine, the largest first, to filter by scope, family, precision and batch.

    A single precision has no column and stands in the title.
    """
    scopes, names = list(SCOPES), titles(speedups)
    order = sorted(speedups, key=lambda i: (scopes.index(i.case.scope), -i.ratio.value))
    precisions, facets_of = {item.case.precision for item in order}, tuple(map(_facets, order))
    only = f", the GPU in {precisions.pop()}" if len(precisions) == 1 else ""
    complete = Table(
        title=f"Speed-ups: CPU time over GPU time on one kind of machine{only}",
        columns=_COLUMNS,
        rows=tuple(_row(item, names[item.workload], quotable) for item in order),
        facets=facets_of,
        chosen=_FACETS if any(_is_first(facets) for facets in facets_of) else {},
        more=_MORE,
        notes=(tables.BEST_OVER_BEST, *slow_cpu_notes(order)),
    )
    return varied(complete, ["GPU precision"])


def _row(item: PooledSpeedUp, title: str, quotable: Quotable) -> tuple[Cell, ...]:
    model, batch, ratio, within, further, state, hosts, precision, cpu, gpu, *baselines, _ = tables.speedup_row(item)
    name = model.text.replace(item.workload, title, 1)
    scope = tables.scope_cell(item.case.scope)
    status = with_quotable(state, item, quotable)
    return row_of(
        name, ratio, within, status, further, cpu, gpu, scope, hosts, batch, precision, *baselines, item.workload
    )


def _facets(item: PooledSpeedUp) -> dict[str, str]:
    case, about = item.case, item.record.description
    return {"scope": case.scope, "family": about.family, "precision": case.precision, "batch": units.count(case.batch)}


def _is_first(facets: Mapping[str, str]) -> bool:
    return facets.items() >= _FACETS.items()


def first(speedups: Iterable[PooledSpeedUp]) -> str | None:
    """Return the address name of the machine to show first.

    It has most headline speed-ups; of equals most that may be quoted, then most in all scopes and precisions, then most
    hosts, then the newest record.
    """
    by_machine: dict[str, list[PooledSpeedUp]] = defaultdict(list)
    for item in speedups:
        by_machine[item.machine].append(item)

    def rank(machine: str) -> tuple[int, int, int, int, str]:
        main = headlines(by_machine[machine])
        general = [item for item in by_machine[machine] if item.general]
        quotable, hosts = sum(item.quotable for item in main), sum(item.hosts for item in main)
        return len(main), quotable, len(general), hosts, max(item.record.created for item in main)

    return max((machine for machine, items in by_machine.items() if headlines(items)), key=rank, default=None)


_WHY: dict[frozenset[str], str] = {  # by the backends that timed it
    frozenset(): "headline step not timed here yet",
    frozenset({"cpu"}): "timed on the CPU alone",
    frozenset({"gpu"}): "timed on the GPU alone",
    frozenset({"cpu", "gpu"}): "CPU and GPU timed with different data",
}


def without_speedup(records: Iterable[Record], shown: Collection[str], models: Iterable[str] = ()) -> str:
    """Return which of the models and of those in a machine's records are not `shown`, by why; '' if all are."""
    sides: dict[str, set[str]] = {model: set() for model in models}
    counting: dict[str, set[str]] = defaultdict(set)
    for record in records:
        if record.headline_step() and record.description.documented:
            sides.setdefault(record.workload, set()).add(record.backend)
            counting[record.workload].update({record.backend} if usable(record) else ())
    left: dict[str, list[str]] = defaultdict(list)
    for model in sorted(sides.keys() - set(shown)):
        left[_why(sides[model], counting[model])].append(model)
    if not left:
        return ""
    said = "; ".join(f"{', '.join(names)} ({why})" for why, names in left.items())
    return f"Without a speed-up so far: {said}."


def _why(timed: Set[str], counting: Set[str]) -> str:
    if lacking := " and of the ".join(side.upper() for side in sorted(timed - counting)):
        why = "failed, invalid, disturbed, of a JAX that is slow on a CPU, or of profile smoke"
        return f"no time of the {lacking} counts: {why}"
    return _WHY[frozenset(timed)]
