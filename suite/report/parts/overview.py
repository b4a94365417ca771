"""One machine's speed-ups on one screen: the answer, the chart, and a table to filter."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass

from suite import units
from suite.report.charts import vega
from suite.report.parts import lead, tables
from suite.report.parts.figure import Figure
from suite.report.parts.html import Html
from suite.results.pooled.grouping import usable
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.paired_speedup import CERTIFIED_FROM
from suite.results.single.roofline import is_ceiling
from suite.results.views.table import Cell, Table, varied
from suite.scopes import SCOPES

_COLUMNS = (  # the important ones first: a narrow screen shows only these
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
_FACETS = {"scope": "step"}  # the first choice of the filter


@dataclass(frozen=True, kw_only=True)
class Overview:
    """A machine's speed-ups: the answer, its chart, the models without one, and the table of all."""

    lead: Html
    figure: Figure | None = None
    left_out: str = ""
    table: Table | None = None


def overview(
    speedups: Iterable[PooledSpeedUp], records: Sequence[Record], name: str, models: Iterable[str] = ()
) -> Overview:
    """Return the overview of a machine's speed-ups, its chart under that name.

    It lists those of the `models`, and of the machine's recorded ones, that are missing.
    """
    shown = [item for item in speedups if item.general and SCOPES[item.case.scope].rungs]
    main = headlines(shown)
    answer = lead.answer(main, records, [item for item in shown if not item.headline])
    listed = table(shown) if shown else None
    if not main:
        return Overview(lead=answer, table=listed)
    alternative = "; ".join(f"{i.workload}: {units.ratio(i.ratio.value, i.ratio.low, i.ratio.high)}" for i in main)
    return Overview(
        lead=answer,
        figure=Figure(name=name, spec=vega.speedups(main), caption=CAPTION, alternative=alternative),
        left_out=without_speedup(records, {item.workload for item in main}, models),
        table=listed,
    )


def headlines(speedups: Iterable[PooledSpeedUp]) -> list[PooledSpeedUp]:
    """Return the speed-ups at headline settings."""
    return [item for item in speedups if item.headline]


def table(speedups: Sequence[PooledSpeedUp]) -> Table:
    """Return every speed-up of a machine, to filter by scope, family, precision and batch.

    The precision has no column; it stands in the title if there is only one.
    """
    scopes = list(SCOPES)
    order = sorted(speedups, key=lambda i: (scopes.index(i.case.scope), i.workload))
    precisions = sorted({item.case.precision for item in order})
    complete = Table(
        title=f"How much faster is the GPU? CPU and GPU of one kind of machine, {' or '.join(precisions)}",
        columns=_COLUMNS,
        rows=tuple(map(_row, order)),
        facets=tuple(map(_facets, order)),
        chosen=_FACETS if any(item.case.scope == _FACETS["scope"] for item in order) else {},
    )
    return varied(complete, ["GPU precision"])


def _row(item: PooledSpeedUp) -> tuple[Cell, ...]:
    model, batch, ratio, within, further, state, hosts, *rest, _machine = tables.speedup_row(item)
    return (model, ratio, within, further, state, hosts, tables.scope_cell(item.case.scope), batch, *rest)


def _facets(item: PooledSpeedUp) -> dict[str, str]:
    case, about = item.case, item.record.description
    return {"scope": case.scope, "family": about.family, "precision": case.precision, "batch": units.count(case.batch)}


def first(speedups: Iterable[PooledSpeedUp]) -> str | None:
    """Return the address name of the machine to show first.

    It has most headline speed-ups; of equals most hosts, then the newest record.
    """
    by_machine: dict[str, list[PooledSpeedUp]] = {}
    for item in headlines(speedups):
        by_machine.setdefault(item.machine, []).append(item)

    def rank(machine: str) -> tuple[int, int, str]:
        mine = by_machine[machine]
        return len(mine), sum(item.hosts for item in mine), max(item.record.created for item in mine)

    return max(by_machine, key=rank, default=None)


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
        if record.headline_step() and not is_ceiling(record):
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
