"""Rows of tables: cells from texts, counts, shares and pooled speed-ups."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from suite import units
from suite.results.cite import citation
from suite.results.cite.pooled_numbers import speedup_key
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import status
from suite.results.stats.statistics import Estimate
from suite.results.views.table import Cell, base_cells, standing_cells, time_cell, times_cells
from suite.scopes import SCOPES


def row_of(*cells: Cell | str) -> tuple[Cell, ...]:
    """Return a row of cells; a text becomes a cell of its own."""
    return tuple(Cell(text=cell) if isinstance(cell, str) else cell for cell in cells)


def number_cell(
    number: float | None, text: Callable[[float | None], str], record: Record | None = None, why: str = ""
) -> Cell:
    """Return the cell of a number in that form, linked to its record; with the reason if it is None."""
    return Cell(text=text(number), sort=number, record=record, remark=why if number is None else "")


def count_cell(number: int | None) -> Cell:
    """Return the cell of a count."""
    return Cell(text=units.count(number), sort=number)


def share_cell(value: float | Estimate | None, why: str = "") -> Cell:
    """Return the cell of a share as a percentage; a dash with the reason if it is None."""
    return number_cell(value.value if isinstance(value, Estimate) else value, units.percent, why=why)


def step_share_cell(share: Estimate | None) -> Cell:
    """Return the cell of the step's share of the time with input; a dash if the step alone took longer.

    The process times the step alone first, for a moment: its noise can exceed what the input costs.
    """
    if share is not None and share.value > 1:
        return share_cell(None, "the step alone took longer than with input: the input costs nothing that shows")
    return share_cell(share)


def speedup_cells(item: PooledSpeedUp) -> tuple[Cell, ...]:
    """Return the cells of a speed-up's CPU time, with threads fewer than cores, GPU time, ratio and interval."""
    cpu, threads = time_cell(item.cpu), item.cpu.newest.case.threads if item.cpu.newest.chosen_threads else None
    if threads:
        cpu = replace(cpu, text=f"{cpu.text}, {units.pluralize(threads, 'thread')}")
    return cpu, time_cell(item.gpu), *ratio_and_interval(item)


def ratio_and_interval(item: PooledSpeedUp) -> tuple[Cell, Cell]:
    """Return the cells of a speed-up, which leads to the row of its number, and of its interval."""
    ratio, within = times_cells(item.ratio.estimate, item.record)
    return replace(ratio, number=citation.row(speedup_key(item), item.workload)), within


def state_cells(item: PooledSpeedUp) -> tuple[Cell, Cell]:
    """Return the cells of a speed-up's state, with its reasons, and of its hosts."""
    text = status(item.state, outdated=item.ratio.outdated, slow_cpu=bool(item.marked_slow))
    return Cell(text=text, remark="; ".join(item.reasons)), count_cell(item.hosts)


def slow_cpu_notes(items: Iterable[PooledSpeedUp]) -> Iterator[str]:
    """Yield a note of a table for each CPU with fewer cores that surely takes less time for some of its steps."""
    models: dict[str, dict[str, None]] = defaultdict(dict)
    for item in items:
        if item.fewer_cores and item.marked_slow:
            scope = "" if item.case.scope == "step" else f" ({SCOPES[item.case.scope].heading})"
            share = f"{item.fewer_cores.share} of its time for {item.record.description.title}{scope}"
            models[item.fewer_cores.cpu][share] = None
    for sides, shares in models.items():
        yield f"Slow CPU: {sides} surely take less time than this CPU: {'; '.join(shares)}."


def ratio_cells(pool: Pool, base: Pool | None, ratio: Pooled | None, why: str = "") -> tuple[Cell, ...]:
    """Return the cells of a pool's ratio to the base, its interval, status and hosts; of the base itself 1.

    Without a ratio they are dashes with the reason.
    """
    if pool is base:
        return *base_cells(pool.newest), *standing_cells(pool.pooled)
    return *times_cells(ratio and ratio.estimate, pool.newest, why), *standing_cells(ratio, why)
