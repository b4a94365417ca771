"""Telemetry and energy of timed processes: two tables of a workload's page."""

from collections.abc import Callable, Iterable, Sequence
from statistics import median

from suite import units
from suite.results.records.record import Record
from suite.results.records.run import GpuTelemetry, Level, Telemetry
from suite.results.single import telemetry_summary
from suite.results.single.telemetry_summary import Use, long_enough
from suite.results.views.rows import number_cell, row_of
from suite.results.views.table import Cell, Table, chosen

TELEMETRY_COLUMNS = (
    "case", "scope", "CPU utilisation", "other load, cores", "stolen time", "GPU utilisation", "GPU power", "SM clock",
    "memory clock", "temperature", "GPU memory, reserved", "clocks held by",
)  # fmt: skip
_HOST_COLUMNS = 5  # of these
ENERGY_COLUMNS = (
    "case", "GPU, an example", "GPU, an epoch", "GPU power", "GPU idle", "CPU packages, an example",
    "CPU packages, an epoch", "CPU power", "CPU idle",
)  # fmt: skip

_NO_EPOCHS = "the source knows no epochs"


def telemetry_table(records: Sequence[Record]) -> Table:
    """Return the telemetry of each case's samples: the median of processes' means, and the maximum."""
    rows, own = [], []
    for record in records:
        windows = [run.telemetry for run in record.runs if run.telemetry is not None]
        if not windows:
            continue
        own += [seen.own_cores for seen in windows if seen.own_cores is not None]
        rows.append(_telemetry_row(record, windows))
    notes = [f"The telemetry process used {units.percent(median(own))} of one core."] if own else []
    if any(len(record.machine.gpus) > record.case.devices for record in records):
        notes.append("Of several GPUs those that the case used are shown.")
    complete = Table(
        title="Telemetry during the samples: means, the maximum in brackets",
        columns=TELEMETRY_COLUMNS,
        rows=tuple(rows),
        notes=tuple(notes),
    )
    return (
        complete
        if any(record.machine.gpus for record in records)
        else chosen(complete, TELEMETRY_COLUMNS[:_HOST_COLUMNS])
    )


def _telemetry_row(record: Record, windows: Sequence[Telemetry]) -> tuple[Cell, ...]:
    why = "; ".join(dict.fromkeys(seen.reason for seen in windows if seen.reason))
    gpus = [gpu for seen in windows for gpu in seen.gpus[: record.case.devices]]
    asked = [gpu.reasons for gpu in gpus if gpu.reasons is not None]
    reasons = ", ".join(sorted({word for words in asked for word in words})) or ("nothing" if asked else units.DASH)

    def host(values: Iterable[float | None], text: Callable[[float], str]) -> Cell:
        known = [value for value in values if value is not None]
        value = median(known) if known else None
        return Cell(text=units.DASH if value is None else text(value), sort=value, remark=why, record=record)

    def gpu(of: Callable[[GpuTelemetry], Level | None], text: Callable[[float], str], averaged: bool = False) -> Cell:
        some = [seen for seen in windows if long_enough(seen) or not averaged]
        levels = [of(gpu) for seen in some for gpu in seen.gpus[: record.case.devices]]
        short = "too short: drivers average it over up to a second" if gpus else "no driver answers"
        return _level(levels, text, "" if levels else short, record)

    return row_of(
        Cell(text=record.label, record=record),
        record.case.scope,
        _level([seen.cpu_utilisation for seen in windows], units.percent, why, record),
        host((seen.others_cores for seen in windows), lambda v: units.number(v, digits=2)),
        host((seen.steal for seen in windows), units.percent),
        gpu(lambda g: g.utilisation, units.percent, averaged=True),
        gpu(lambda g: g.power_watts, lambda v: units.quantity(v, "W"), averaged=True),
        gpu(lambda g: g.sm_clock_mhz, lambda v: f"{units.number(v, digits=4)} MHz"),
        gpu(lambda g: g.memory_clock_mhz, lambda v: f"{units.number(v, digits=4)} MHz"),
        gpu(lambda g: g.temperature_celsius, lambda v: f"{units.number(v, digits=2)} °C"),
        gpu(lambda g: g.memory_bytes, units.memory),
        reasons,
    )


def _level(levels: Iterable[Level | None], text: Callable[[float], str], why: str, record: Record) -> Cell:
    known = [level for level in levels if level is not None]
    if not known:
        return Cell(text=units.DASH, remark=why or "does not answer here")
    mean, most = median(level.mean for level in known), max(level.max for level in known)
    return Cell(text=f"{text(mean)} ({text(most)})", sort=mean, record=record)


def energy_table(records: Iterable[Record]) -> Table:
    """Return each case's counted energy, with idle power; without rows if nothing was counted."""
    rows, seconds = [], []
    for record in records:
        window = telemetry_summary.energy_window(record)
        if window is None:
            continue
        uses = (telemetry_summary.gpu_use(record), telemetry_summary.package_use(record))
        seconds += [window.seconds for use in uses if use is not None]
        cells = [cell for use in uses for cell in _energy_cells(record, use, window.reason)]
        rows.append(row_of(Cell(text=record.label, record=record), *cells))
    notes = ()
    if seconds:
        notes = (
            "Counted by the hardware itself while the step went on for "
            f"{units.seconds(min(seconds))} or longer; idle power is contained, and was measured before the campaign. "
            "The CPU packages' energy is everybody's on this machine.",
        )
    return Table(title="Energy, from the hardware's counters", columns=ENERGY_COLUMNS, rows=tuple(rows), notes=notes)


def _energy_cells(record: Record, use: Use | None, reason: str) -> tuple[Cell, ...]:
    if use is None:
        return (Cell(text=units.DASH, remark=reason or "no counter answers here"),) * 4
    epoch, each = record.description.epoch_examples, use.joules_per_example

    def cell(value: float | None, unit: str, missing: str = "") -> Cell:
        return Cell(text=units.small(value, unit), sort=value, record=record, remark=missing if value is None else "")

    return (
        cell(each, "J"),
        cell(None if epoch is None else each * epoch, "J", _NO_EPOCHS),
        cell(use.watts, "W"),
        cell(use.idle_watts, "W", "not measured"),
    )


MEMORY_COLUMNS = ("case", "scope", "host", "GPU")
_MEMORY_NOTES = (
    "Host: the largest resident set of a case's processes, the interpreter and its libraries included. GPU: the most "
    "in use at once, on the fullest; frameworks reserve more.",
)


def memory_table(records: Sequence[Record]) -> Table:
    """Return the peak memory of each case, the most of its processes; without rows where none was measured."""
    rows = []
    for record in records:
        runs = [run for run in record.runs if not run.reason]
        sides = ([run.peak_memory_bytes for run in runs], [run.device_memory_bytes for run in runs])
        peaks = [max((peak for peak in side if peak is not None), default=None) for side in sides]
        if any(peak is not None for peak in peaks):
            cells = (number_cell(peak, units.memory, record) for peak in peaks)
            rows.append(row_of(Cell(text=record.label, record=record), record.case.scope, *cells))
    return Table(title="Peak memory", columns=MEMORY_COLUMNS, rows=tuple(rows), notes=_MEMORY_NOTES)
