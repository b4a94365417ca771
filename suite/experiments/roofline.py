"""How near does each step come to what the machine can do? Ceilings, MFU and floors."""

from collections.abc import Iterable, Sequence

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import caveat, steady, usual_case
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.single.roofline import COPY, MATMUL, Ceiling, Roof, Share, roof, share
from suite.results.single.selection import current_cases, fastest_of_each_case, several_campaigns
from suite.results.single.summary import Summary
from suite.results.views.experiment_result import Chart, ChartLine, ExperimentResult, Point
from suite.results.views.rows import number_cell, row_of, share_cell
from suite.results.views.table import OF_ONE_CAMPAIGN, ON_ONE_HOST, Cell, Table, one_host_cell, time_cell
from suite.workload import Description

TITLE = "How near does each step come to what the machine can do?"
TESTS: tuple[str, ...] = ()
METHOD = (
    "The ceilings are measured as any other case is: the most FLOP in a second by a chain of large matrix products, "
    "each with the result of the one before it, and the most bytes in a second by reading 1 GiB and writing it back, "
    "read and written bytes counted. MFU is a step's analytic FLOP a second over the ceiling of its precision. The "
    "floor is the least time that a step can take: its FLOP at that ceiling, or the bytes that it has to move at "
    "least at the ceiling of memory, whichever is longer. These bytes are parameters, statistics and optimizer state, "
    "each read and written (of an inference: read), and one batch; activations are left out. Records that do not say "
    "count their parameters alone. What stays in a cache from step to step can be faster than such a floor. The "
    "data-parallel model, one unit and so nothing but a launch, stands in the tables alone."
)
WORKLOADS = (MATMUL, COPY)

COLUMNS = (
    "model", "backend", "precision", "way", "step", "FLOP/s", "MFU", "FLOP a byte", "floor", "share of the floor",
)  # fmt: skip
_ROWS = {"cpu": 1024, "gpu": 8192}  # of a product: as many as fill the device
_CEILINGS = ("ceiling", "backend", "precision", "rate", "95 % interval", "time", ON_ONE_HOST)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the ceilings: products in each precision of each backend, memory once; other workloads as they are."""
    return tuple(
        usual_case(
            about, backend, here, precision=precision, batch=_ROWS[backend] if about.name == MATMUL else about.batch
        )
        for about in catalogue
        for backend in here.backends
        for precision in (here.gpu_precisions if backend == "gpu" and about.name != COPY else ("float32-highest",))
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return the ceilings and how near each step comes to them; None if no ceiling was measured."""
    ceilings = roof(evidence.records)
    if not ceilings:
        return None
    steps = current_steps(evidence.records, at_headline_batch=True)
    shares = [(item, share(item, ceilings)) for item in steps]
    tables = (
        ceiling_table(ceilings),
        *((table("Steps below these ceilings, each of one campaign", steps, ceilings),) if steps else ()),
    )
    known = sorted(((s.of_floor, item) for item, s in shares if s.of_floor is not None), key=lambda one: one[0])
    answers = tuple(_answers(ceilings, known, current_steps(evidence.records)))
    lead = _lead(known)
    return ExperimentResult(answers=answers, tables=tables, chart=_chart(ceilings, shares), lead=lead)


def current_steps(records: Iterable[Record], at_headline_batch: bool = False) -> tuple[Summary, ...]:
    """Return one machine's current step of JAX of each network, way, precision and batch, with its better allocator."""
    free = ("precision", "variant") if at_headline_batch else ("precision", "variant", "batch")
    mine = [record for record in records if record.description.documented and record.headline_step(*free)]
    return tuple(fastest_of_each_case(current_cases(mine)))


def table(title: str, steps: Sequence[Summary], ceilings: Roof) -> Table:
    """Return how near each step comes to its ceilings; a dash carries the reason, which is also a note."""
    shares = [share(item, ceilings) for item in steps]
    reasons = dict.fromkeys(one.reason for one in shares if one.reason)
    notes = [OF_ONE_CAMPAIGN]
    if reasons:
        known = any(one.mfu is not None or one.of_floor is not None for one in shares)
        dashes = f"Dashes: {'; '.join(reasons)}. " if known else ""  # else a note of the empty columns has the reasons
        notes.append(f"{dashes}Ceilings are measured by: suite run --experiment roofline")
    if said := _ceilings_of([item for item, one in zip(steps, shares, strict=True) if one.mfu], ceilings):
        notes.append(said)
    if any(max(one.mfu or 0, one.of_floor or 0) > 1 for one in shares):
        notes.append(
            "Above 100 %: other work slowed the measurement of the ceiling, which is then too low and has to be "
            "repeated when the machine is idle, or what has to be moved stays in a cache."
        )
    rows = tuple(_row(item, one) for item, one in zip(steps, shares, strict=True))
    return Table(title=title, columns=COLUMNS, rows=rows, notes=tuple(notes))


def _ceilings_of(steps: Sequence[Summary], ceilings: Roof) -> str:
    """Return that the ceilings are of other campaigns than the steps below them, and which are not steady."""
    sides = {(step.record.machine.slug, step.record.backend) for step in steps}
    used = [ceiling.measured for key, ceiling in ceilings.items() if key[:2] in sides]
    if not used or not several_campaigns(item.record for item in (*used, *steps)):
        return ""
    days = " and ".join(sorted({units.day(item.record.created) for item in used}))
    said = f"The ceilings are of {days}, the steps of their own campaigns: on another host a share may differ."
    return said + caveat(used)


def _row(item: Summary, found: Share) -> tuple[Cell, ...]:
    case = item.record.case
    way = " ".join([case.variant] + ([f"batch {case.batch}"] if case.batch != item.record.description.batch else []))
    return row_of(
        case.workload,
        case.backend,
        case.precision,
        way,
        time_cell(item),
        number_cell(item.flop_per_second, lambda value: units.quantity(value, "FLOP/s")),
        share_cell(found.mfu, found.reason),
        Cell(text=units.number(found.intensity or None), sort=found.intensity),
        Cell(text=units.seconds(found.floor_seconds), sort=found.floor_seconds, remark=found.reason),
        share_cell(found.of_floor, found.reason),
    )


def ceiling_table(ceilings: Roof) -> Table:
    """Return the ceilings with the records that they come from."""
    rows = []
    for (_, backend, kind, precision), ceiling in sorted(ceilings.items()):
        record, unit = ceiling.measured.record, _unit(kind)
        rate = Cell(text=_rate(ceiling, unit), sort=ceiling.rate, record=record)
        interval = units.quantity_interval(*_ends(ceiling), unit)
        cells = (rate, interval, time_cell(ceiling.measured), one_host_cell(ceiling.measured))
        rows.append(row_of(record.description.title, backend, precision, *cells))
    return Table(title="What this machine does at most, as measured", columns=_CEILINGS, rows=tuple(rows))


def _unit(kind: str) -> str:
    return "B/s" if kind == COPY else "FLOP/s"


def _rate(ceiling: Ceiling, unit: str) -> str:
    return units.quantity(ceiling.rate, unit, units.half_width(*_ends(ceiling)))


def _ends(ceiling: Ceiling) -> tuple[float | None, float | None]:
    """Return the ends of the rate's interval, those of the time turned round."""
    seconds = ceiling.measured.seconds
    found = seconds.per(ceiling.rate * seconds.value) if seconds else None
    return (found.low, found.high) if found else (None, None)


def _answers(ceilings: Roof, known: Sequence[tuple[float, Summary]], steps: Sequence[Summary]) -> Iterable[str]:
    for (_, backend, kind, precision), ceiling in sorted(ceilings.items()):
        of = "Memory" if kind == COPY else f"Products in {precision}"
        said = f"{of} on the {backend.upper()}: at most {_rate(ceiling, _unit(kind))}." + caveat((ceiling.measured,))
        mine = [item for item in steps if (item.record.backend, item.record.case.precision) == (backend, precision)]
        yield said + (_above(ceiling, mine) if kind == MATMUL else "")
    for backend in ("cpu", "gpu"):
        if mine := _networks_on(backend, known):
            yield f"The floor of a step on the {backend.upper()} is between {_span(mine)} of its time.{_caveat(mine)}"


def _lead(known: Sequence[tuple[float, Summary]]) -> str:
    """Return which share of a step's time its floor is, on the GPU if there is one; '' for fewer than two networks."""
    backend = "gpu" if _networks_on("gpu", known) else "cpu"
    steps = _networks_on(backend, known)
    if not steps:
        return ""
    return (
        f"the least time that a step on the {backend.upper()} could take, its floor, is between "
        f"{_span(steps)} of its time.{_caveat(steps)}"
    )


def _networks_on(backend: str, known: Sequence[tuple[float, Summary]]) -> Sequence[tuple[float, Summary]]:
    """Return the networks' steps on a backend; none if it has fewer than two."""
    steps = [one for one in known if one[1].record.backend == backend and one[1].record.description.is_network]
    return steps if len(steps) > 1 else []


def _span(steps: Sequence[tuple[float, Summary]]) -> str:
    (least, far), (most, near) = steps[0], steps[-1]
    return f"{units.percent(least)} ({_named(far)}) and {units.percent(most)} ({_named(near)})"


def _caveat(steps: Sequence[tuple[float, Summary]]) -> str:
    return caveat(item for _, item in steps)


def _above(ceiling: Ceiling, steps: Sequence[Summary]) -> str:
    """Return that a step came to more than what was measured as the most; '' if none did."""
    best = max(steps, key=lambda item: item.flop_per_second or 0, default=None)
    if best is None or (best.flop_per_second or 0) <= ceiling.rate:
        return ""
    rate = units.quantity(best.flop_per_second, "FLOP/s")
    batch = units.count(best.record.case.batch)
    return f" It was measured too low: {best.record.workload} at batch {batch} comes to {rate}."


def _named(item: Summary) -> str:
    case = item.record.case
    return " ".join([case.workload, *([case.precision] if case.precision != "float32-highest" else [])])


def _chart(ceilings: Roof, shares: Sequence[tuple[Summary, Share]]) -> Chart | None:
    """Return plain steps at the headline batch below the roofs of their backend and precision."""
    points = [
        Point(
            series=f"{item.record.backend.upper()} {item.record.case.precision}",
            at=one.intensity,
            value=item.flop_per_second,
            row=item.record.workload,
            text=units.quantity(item.flop_per_second, "FLOP/s"),
            solid=steady(item),
        )
        for item, one in shares
        if item.flop_per_second and one.intensity
        and item.record.description.is_network and item.record.headline_step("precision")
    ]  # fmt: skip
    reach = [point.at for point in points if point.at] or [0.1, 1000.0]
    lines = []
    for (slug, backend, kind, precision), peak in sorted(ceilings.items()):
        memory = ceilings.get((slug, backend, COPY, "float32-highest"))
        if kind == MATMUL:
            text = f"{backend.upper()} {precision}"
            lines.append(ChartLine(series=text, ends=_roof_line(peak, memory, min(reach), max(reach)), text=text))
    if not lines:
        return None
    return Chart(
        caption="FLOP a second of each network's plain step over its FLOP for each byte that it has to move, below "
        "the ceilings that were measured: sloped where memory is the limit, level where arithmetic is.",
        across="FLOP a byte, log scale",
        up="FLOP/s",
        points=tuple(points),
        lines=tuple(lines),
        finding="Steps reach {span}",
    )


def _roof_line(peak: Ceiling, memory: Ceiling | None, least: float, most: float) -> tuple[tuple[float, float], ...]:
    if memory is None:
        return (least, peak.rate), (most, peak.rate)
    ridge = peak.rate / memory.rate
    first, last = min(least, ridge / 4), max(most, 4 * ridge)
    return (first, first * memory.rate), (ridge, peak.rate), (last, peak.rate)
