"""One machine's speed-ups on one screen: the answer in words, the chart, and a table to filter."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass

from suite import units
from suite.report.charts import vega
from suite.report.charts.vega import Figure
from suite.report.parts import tables
from suite.report.parts.html import Html
from suite.results.pooled.grouping import usable
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single import old_jax
from suite.results.single.paired_speedup import CERTIFIED_FROM
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
    lead = answer(main, records, [item for item in shown if not item.headline])
    listed = table(shown) if shown else None
    if not main:
        return Overview(lead=lead, table=listed)
    alternative = "; ".join(f"{i.workload}: {units.ratio(i.ratio.value, i.ratio.low, i.ratio.high)}" for i in main)
    return Overview(
        lead=lead,
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


_EACH = "one step of training or inference on the GPU against all CPU cores of the same kind of machine"


def answer(items: Sequence[PooledSpeedUp], records: Sequence[Record], others: Sequence[PooledSpeedUp] = ()) -> Html:
    """Return the first sentences of a page; without speed-ups they say what is missing.

    `records` are all of the machine's, `others` the speed-ups outside the headline.
    """
    if not items and any(record.machine.gpus for record in records):
        return Html.escape(
            "A speed-up needs the same step on the CPU and on the GPU of one kind of machine: none in full float32 "
            f"and with its headline batch has been timed on both here yet.{_left_out(records)}{_others(others)}"
        )
    if not items:
        return Html(
            "No machine with a GPU has been measured yet. Measure yours: <code>nox -s bench</code> in the suite's "
            "checkout takes a few minutes and renders this page with your numbers."
        )
    name = items[0].record.machine.name
    if len(items) == 1:
        return _alone(items[0], name)
    quoted = [item for item in items if item.quotable]
    if len(quoted) == len(items):
        return Html("It depends on the model: {}, {} ({}). All {} may be quoted.").format(
            _reach(items), _EACH, name, units.count(len(items))
        )
    verb = "is" if len(quoted) < 2 else "are"
    range_of_quoted = Html(": {}").format(_reach(quoted)) if quoted else " yet"
    return Html(
        "It depends on the model. On {}, {} of {} speed-ups {} quotable{}. The whole range is {}. "
        "Not quotable yet: {}. Each is {}."
    ).format(
        name, units.count(len(quoted)) if quoted else "none", units.count(len(items)), verb, range_of_quoted,
        _reach(items), _faults(items), _EACH,
    )  # fmt: skip


def _left_out(records: Sequence[Record]) -> str:
    """Return which times make no speed-up, and why; '' if there are none."""
    smoke = any(record.profile == "smoke" for record in records)
    old = next(filter(None, map(old_jax.slow, records)), "")
    said = " Profile smoke times nothing: it only shows that it runs." * smoke
    return said + (f" {old[0].upper() + old[1:]}." if old else "")


def _others(items: Sequence[PooledSpeedUp]) -> str:
    """Return the speed-ups outside the headline, by scope."""
    if not items:
        return ""
    found = Counter(SCOPES[item.case.scope].sentence for item in items)
    each = ", ".join(f"{units.count(n)} of {scope}" for scope, n in found.most_common())
    return f" The table has {units.pluralize(len(items), 'other speed-up')}: {each}."


def _alone(item: PooledSpeedUp, name: str) -> Html:
    return Html("On {}, one step of {} is {} faster on the GPU.{}").format(
        name, item.workload, _words(item), item.caveat
    )


def _words(item: PooledSpeedUp) -> Html:
    value = units.ratio(item.ratio.value, item.ratio.low, item.ratio.high)
    within = "" if item.ratio.low is None else f" ({units.interval(item.ratio.low, item.ratio.high)})"
    return Html("<strong>{}</strong>{}" if item.quotable else "{}{}").format(value, within)


def _reach(items: Sequence[PooledSpeedUp]) -> Html:
    """Return the lowest and the highest speed-up with their intervals and models."""
    order = sorted(items, key=lambda item: item.ratio.value)
    low, high = (Html("{} for {}").format(_words(item), item.workload) for item in (order[0], order[-1]))
    return low if len(items) == 1 else Html("from {} to {}").format(low, high)


def _faults(items: Iterable[PooledSpeedUp]) -> str:
    """Return how many are not quotable, and why; the first phrase has the verb."""
    (fault, count), *rest = Counter(_fault(item) for item in items if not item.quotable).most_common()
    phrases = [f"{units.count(count)} {'has' if count == 1 else 'have'} {fault}"]
    phrases += [f"{units.count(number)} {other}" for other, number in rest]
    return " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def _fault(item: PooledSpeedUp) -> str:
    if item.state == "invalid":
        return "two sides that computed different things"
    if item.state == "not certified":
        return "a CPU side that another way surely beats"
    if item.hosts < FEWEST_HOSTS:
        return f"fewer than {units.count(FEWEST_HOSTS)} hosts"
    return "an open certificate" if item.certificate == "open" else "too wide an interval"
