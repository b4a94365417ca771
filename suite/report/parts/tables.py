"""Results as rows, in the same words for the site and the terminal."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from suite import units
from suite.case import Case
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.pooled.ways import Way
from suite.results.records.record import Record
from suite.results.single import old_jax
from suite.results.single.selection import current_cases, fastest_of_each_case, several_campaigns
from suite.results.single.summary import Summary, summary
from suite.results.stats.pooling import Pooled
from suite.results.views.rows import count_cell, row_of, slow_cpu_notes, speedup_cells, state_cells
from suite.results.views.table import (
    OF_ONE_CAMPAIGN,
    ON_ONE_HOST,
    Cell,
    Table,
    chosen,
    one_host_cell,
    reasons,
    time_cell,
    varied,
)
from suite.scopes import SCOPES, Scope
from suite.variants import usual_batch, way_of

SPEEDUP_COLUMNS = (  # the important ones first: a narrow screen shows only these
    "model", "batch", "speed-up", "95 % interval", "next host", "status", "hosts", "GPU precision", "CPU step",
    "GPU step", "CPU: baseline / JAX", "GPU: baseline / JAX", "best / best", "machine",
)  # fmt: skip

BEST_OVER_BEST = (  # a note of tables with that column
    "Best / best divides the fastest CPU way's time by the fastest GPU way's. Each is known by its ratio to JAX's, on "
    "the hosts that timed both; where no other way takes less, JAX's counts."
)


def baseline_cell(ways: Sequence[Way]) -> Cell:
    """Return the fastest baseline's time over JAX's: above 1 JAX is faster."""
    if not ways:
        return Cell(text=units.DASH, remark="no baseline was timed on this kind of machine")
    best, over = ways[0], ways[0].over
    return Cell(
        text=f"{units.ratio(over.value, over.low, over.high)} {best.words}",
        sort=over.value,
        record=best.pool.newest,
        remark=f"time of the fastest baseline over JAX's, of {units.pluralize(over.hosts, 'host')}; {_within(over)}",
    )


def _within(ratio: Pooled) -> str:
    return "no interval" if ratio.low is None else f"95 % interval {units.interval(ratio.low, ratio.high)}"


def way(case: Case) -> str:
    """Return an implementation's way of taking a step, such as 'torch compile, default-malloc'."""
    return way_of(case) + (", default-malloc" if case.backend == "cpu" and case.allocator == "default-malloc" else "")


def name(case: Case) -> str:
    """Return the workload's name with the variant and devices that differ from the headline's."""
    words = [case.workload] + ([case.variant] if case.variant != "plain" else [])
    return " ".join(words + ([f"on {case.devices} devices"] if case.devices > 1 else []))


def speedup_row(item: PooledSpeedUp) -> tuple[Cell, ...]:
    """Return one speed-up in the order of SPEEDUP_COLUMNS."""
    ratio, case, best = item.ratio, item.case, item.best_over_best
    cpu, gpu, value, within = speedup_cells(item)
    state, hosts = state_cells(item)
    return row_of(
        name(case),
        count_cell(case.batch),
        value,
        within,
        units.interval(ratio.range_low, ratio.range_high),
        state,
        replace(hosts, remark=_campaigns(item)),
        case.precision,
        cpu,
        gpu,
        baseline_cell(item.baselines),
        baseline_cell(item.gpu_baselines),
        Cell(text=units.ratio(best.value, best.low, best.high) + _of_jax(item), sort=best.value, remark=_ways(item)),
        item.record.machine.name,
    )


def _campaigns(item: PooledSpeedUp) -> str:
    sides = (f"{units.pluralize(pool.hosts, 'host')}, {units.pluralize(len(pool.campaigns), 'campaign')}, "
             f"{units.pluralize(pool.pooled.processes, 'process', 'processes')} on the {pool.case.backend.upper()}"
             for pool in (item.cpu, item.gpu))  # fmt: skip
    return "; ".join(sides)


def _ways(item: PooledSpeedUp) -> str:
    """Return the two fastest ways, with the interval of their ratio."""
    best = item.best_over_best
    over = f"{way(item.best_cpu.case)} on the CPU over {way(item.best_gpu.case)} on the GPU"
    return f"{over}; {_within(best)}"


def _of_jax(item: PooledSpeedUp) -> str:
    """Return the sides on which another way of JAX is fastest, which no baseline's column shows; '' without one."""
    sides = ((item.cpu, item.best_cpu), (item.gpu, item.best_gpu))
    return "".join(
        f" {way(best.case)} on the {best.case.backend.upper()}"
        for plain, best in sides
        if best is not plain and best.case.implementation == "jax"
    )


def speedup_table(speedups: Iterable[PooledSpeedUp]) -> Table:
    """Return the speed-up of each model, precision and machine."""
    steps = [item for item in speedups if item.case.scope == "step"]
    return Table(
        title="Speed-up of one step: CPU time in float32 over GPU time, on one kind of machine",
        columns=SPEEDUP_COLUMNS,
        rows=tuple(map(speedup_row, steps)),
        notes=(BEST_OVER_BEST, *slow_cpu_notes(steps)),
    )


CASE_COLUMNS = (
    "implementation", "scope", "precision", "batch", "time", "95 % interval", "examples/s", "FLOP/s", ON_ONE_HOST,
)  # fmt: skip
_DATED = "began, UTC"


def scope_cell(scope: Scope) -> Cell:
    """Return a scope and the unit of its time: scopes in one column have different units."""
    return Cell(text=", ".join(filter(None, (scope, SCOPES[scope].unit))))


def case_row(item: Summary) -> tuple[Cell, ...]:
    """Return one case in the order of CASE_COLUMNS; backend and machine stand in the table's title."""
    case, seconds = item.record.case, item.seconds
    ways = [words for words in case.non_default_axes(item.record.description.data) if words != case.precision]
    rate = Cell(text=units.quantity(item.examples_per_second, ""), sort=item.examples_per_second)
    uncounted = "" if item.record.description.flop_per_example else "FLOP of its steps are not counted"
    flop = Cell(text=units.quantity(item.flop_per_second, "FLOP/s"), sort=item.flop_per_second, remark=uncounted)
    names = (" ".join([case.backend, case.implementation, *ways]), scope_cell(case.scope), case.precision)
    within = units.DASH if seconds is None else units.seconds_interval(seconds.low, seconds.high)
    return row_of(*names, count_cell(case.batch), time_cell(item), within, rate, flop, one_host_cell(item))


def _place(record: Record) -> tuple[str | bool | int, ...]:
    """Return a sort key of cases: JAX before baselines, plain before variants, batches by number."""
    case = record.case
    one = (record.workload, case.backend, case.scope, case.implementation, case.precision != "float32-highest")
    return *one, case.precision, case.variant != "plain", case.variant, case.batch, record.name


def case_table(title: str, records: Iterable[Record], models: bool = False) -> Table:
    """Return every case with its time in its newest campaign, and with its model and campaign if there are several."""
    items = sorted(map(summary, records), key=lambda s: _place(s.record))
    dated = bool(several_campaigns(item.record for item in items))
    columns = (*["model"] * models, *CASE_COLUMNS, *[_DATED] * dated)
    together = "Compare only rows that began at the same time: they are of one campaign. Others may be of another host."
    return chosen(_dated_cases(title, items), columns, (OF_ONE_CAMPAIGN, *[together] * dated))


def _dated_cases(title: str, items: Iterable[Summary]) -> Table:
    """Return the cases with their models and when their campaigns began."""
    rows = (row_of(item.record.workload, *case_row(item), units.minute(item.record.created)) for item in items)
    return Table(title=title, columns=("model", *CASE_COLUMNS, _DATED), rows=tuple(rows))


def steps_table(title: str, records: Iterable[Record], scope: Scope = "step") -> Table:
    """Return JAX's steps on a machine, each with its faster allocator; without JAX, its baselines'.

    Baselines have a table of their own.
    """
    steps = current_cases(record for record in records if record.case.scope == scope)
    mine = [item for item in steps if item.record.case.implementation == "jax"]
    return chosen(_dated_cases(title, fastest_of_each_case(mine or steps)), ("model", *CASE_COLUMNS))


def elsewhere(records: Sequence[Record], machine: str) -> Table:
    """Return this machine's CPU steps beside other machines' GPUs: different hosts, so no speed-ups.

    If several machines have one kind of GPU, the newest step counts. A CPU side of an old JAX is left out.
    """
    steps = [record for record in records if record.headline_step("batch")]
    own = fastest_of_each_case(current_cases(r for r in steps if r.machine.slug == machine and r.backend == "cpu"))
    gpus = current_cases(r for r in steps if r.machine.slug != machine and r.backend == "gpu")
    newest = {_kind(gpu.record): gpu for gpu in sorted(gpus, key=lambda gpu: gpu.record.current_key) if gpu.complete}
    rows = (
        row_of(cpu.record.workload, *map(time_cell, (cpu, gpu)), _apart(cpu, gpu), gpu.record.machine.name)
        for cpu in own
        if cpu.complete and not old_jax.slow(cpu.record)
        for (step, _), gpu in sorted(newest.items())
        if step == _step(cpu.record)
    )
    return Table(
        title="Different host: this machine's CPU beside published GPUs",
        columns=("model", "CPU step here", "GPU step there", "ratio", "GPU machine"),
        rows=tuple(rows),
        notes=(
            "The sides ran on different machines, at different times: the ratio has no interval and is no speed-up.",
            "Each time is of its newest campaign. Pages that pool all hosts may show another time of the same step.",
        ),
    )


def _step(record: Record) -> tuple[str, int]:
    return record.workload, record.case.batch


def _kind(record: Record) -> tuple[tuple[str, int], str]:
    """Return the step and the kind of GPU, which is equally fast in any machine."""
    return _step(record), record.machine.gpus[0].name if record.machine.gpus else ""


def without_gpu(records: Sequence[Record], machine: str) -> tuple[Table, ...]:
    """Return a machine's CPU steps, also beside other machines' GPUs; empty if it has timed a GPU itself."""
    own_records = [record for record in records if record.machine.slug == machine]
    if not own_records or any(record.backend == "gpu" for record in own_records):
        return ()
    listed = steps_table(f"One step on the CPU of {own_records[0].machine.name}", own_records)
    if {row[1].text for row in listed.rows} == {"cpu jax"}:
        listed = varied(replace(listed, title=listed.title.replace("step", "step of JAX", 1)), ("implementation",))
    steps = varied(listed, ("scope", "precision"))
    return tuple(table for table in (steps, elsewhere(records, machine)) if table.rows)


def _apart(cpu: Summary, gpu: Summary) -> Cell:
    """Return a ratio to another machine's time, with no digit below the half-width of both together."""
    if cpu.seconds is None or gpu.seconds is None:
        return Cell(text=units.DASH, remark="one of the two has no time")
    ratio = cpu.seconds.value / gpu.seconds.value
    width = math.exp(math.hypot(*(math.log1p(each.relative_half_width or 0) for each in (cpu.seconds, gpu.seconds))))
    return Cell(text=units.ratio(ratio, ratio / width, ratio * width), sort=ratio)


_CUT_SHORT = "Whole runs that profile smoke cut short, none as documented"


def for_terminal(records: Sequence[Record], machine: str, speedups: Table) -> tuple[Table, ...]:
    """Return the tables at the end of a run: speed-ups, or steps and those elsewhere; then other times.

    Fewer columns than on the site fit a terminal of 80 columns.
    """
    own_records = [record for record in records if record.machine.slug == machine]
    unusual = any(r.case.batch != usual_batch(r.description, r.case.variant) for r in own_records)
    batch = ["batch"] * (unusual or _several_batches(own_records))
    whole, cut_short = ([record for record in own_records if record.cut_short is cut] for cut in (False, True))
    listed = [steps_table(row.title, whole, scope) for scope, row in SCOPES.items() if row.title]
    others = [_few(table, batch) for table in (*listed, steps_table(_CUT_SHORT, cut_short, "run")) if table.rows]
    if speedups.rows:
        columns = [column for column in speedups.columns if column not in (ON_ONE_HOST, "batch")]
        shown = (columns[0], *batch, *columns[1:])
        return chosen(speedups, shown, reasons(speedups)), *others
    steps = steps_table("One step in steady state; a speed-up needs times of both CPU and GPU", own_records)
    return tuple(table for table in (_few(steps, batch), *others, elsewhere(records, machine)) if table.rows)


def _several_batches(records: Iterable[Record]) -> bool:
    """Return whether a model was timed with several batches, such as one fit and several at once."""
    found = {(record.workload, record.case.batch) for record in records}
    return len(found) > len({workload for workload, _ in found})


def _few(table: Table, batch: Sequence[str]) -> Table:
    """Return a table's times with few columns, also the batch and the precision if there are several."""
    place = table.columns.index("precision")
    several = len({row[place].text for row in table.rows}) > 1
    shown = ("model", "implementation", *batch, *["precision"] * several, "time", "95 % interval", ON_ONE_HOST)
    return chosen(table, shown)
