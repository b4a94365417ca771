"""What a step costs on each kind of CPU and GPU, as a sentence and a table."""

from collections.abc import Sequence

from suite import units
from suite.report.parts import kinds
from suite.results.pooled.equal_money import EqualMoney
from suite.results.views.rows import number_cell, row_of
from suite.results.views.table import INTERVAL, Cell, Table, times_cells

COLUMNS = ("CPU", "GPU", "an hour of the GPU", "same cost if an hour of the CPU is", INTERVAL, "an hour of the CPU",
           "cost on the CPU / on the GPU", INTERVAL, "cores for the GPU's price")  # fmt: skip
_NO_PRICE = "no price of this CPU is listed; --prices adds yours"


def sentence(items: Sequence[EqualMoney]) -> str:
    """Return what a step costs on the CPU of one pair, or what that CPU may cost; '' without a price.

    A pair with prices of both sides goes first, then one of a single machine.
    """
    item = max(items, key=lambda item: (item.cpu is not None, item.pair.one_machine), default=None)
    if item is None:
        return ""
    state, reasons = item.pair.standing()
    doubt = "" if state == "quotable" else f" This may not be quoted: {'; '.join(reasons)}."
    card, cpu = kinds.gpu_name(item.pair), kinds.cores_of(item.pair.cpu.machine)
    hour, same = units.documented(item.gpu.per_hour, item.gpu.currency), _money_words(item)
    if item.cpu is None or item.over is None:
        return f"If an hour of one {card} is {hour}, a step costs the same on {cpu} if these are {same} an hour.{doubt}"
    paid, over = units.documented(item.cpu.per_hour, item.cpu.currency), kinds.ratio_words(item.over)
    return (
        f"If an hour of one {card} is {hour} and one of {cpu} {paid}, a step costs {over} as much on the CPU. "
        f"It costs the same if the CPU is {same} an hour.{doubt}"
    )


def table(items: Sequence[EqualMoney]) -> Table:
    """Return each pair's prices and costs, with the sources of the prices below."""
    used = dict.fromkeys(price for item in items for price in (item.gpu, item.cpu) if price)
    return Table(
        title="What a step costs: geometric means over models",
        columns=COLUMNS,
        rows=tuple(map(_row, items)),
        notes=tuple(price.words for price in used),
    )


def _row(item: EqualMoney) -> tuple[Cell, ...]:
    same, cpu = item.equal_per_hour, item.cpu
    hour = number_cell(
        cpu.per_hour if cpu else None, lambda value: units.documented(value, item.gpu.currency), why=_NO_PRICE
    )
    return row_of(
        kinds.cpu_name(item.pair),
        kinds.gpu_name(item.pair),
        number_cell(item.gpu.per_hour, lambda value: units.documented(value, item.gpu.currency)),
        number_cell(same.value, lambda value: _money(item, value)),
        units.interval(same.low, same.high),
        hour,
        *times_cells(item.over, remark=_NO_PRICE),
        number_cell(item.cores, units.number, why=_NO_PRICE),
    )


def _money(item: EqualMoney, value: float | None) -> str:
    same = item.equal_per_hour
    return units.money(value, item.gpu.currency, units.half_width(same.low, same.high))


def _money_words(item: EqualMoney) -> str:
    same = item.equal_per_hour
    within = "" if same.low is None else f" ({units.interval(same.low, same.high)})"
    return _money(item, same.value) + within
