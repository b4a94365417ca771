"""The cost of steps, for a workload's page and the terminal."""

from collections.abc import Iterable, Sequence

from suite import units
from suite.results.records.record import Record
from suite.results.single import prices
from suite.results.single.prices import Price
from suite.results.single.selection import current_cases
from suite.results.single.summary import Summary, summary
from suite.results.views.rows import row_of
from suite.results.views.table import ON_ONE_HOST, Cell, Table, chosen, one_host_cell

TITLE = "What the steps cost"
COLUMNS = ("case", "a million examples", "an epoch", "an hour", "price", ON_ONE_HOST)
_TERMINAL = ("model", "case", "a million examples", "an epoch", "an hour")
_MILLION = 1_000_000


def table(records: Iterable[Record], listed: Sequence[Price]) -> Table:
    """Return the cost of each case's steady state on its machine; without rows if no price is known.

    CPU steps of a machine with a GPU have none: nobody rents the GPU for them.
    """
    rows, used = [], []
    for item in map(summary, records):
        price = prices.price_of(item.record.machine, listed)
        if price is None or item.seconds is None or item.record.case.scope != "step":
            continue
        if item.record.backend == "cpu" and item.record.machine.gpus:
            continue
        used.append(price)
        rows.append(_row(item, price))
    notes = [price.words for price in dict.fromkeys(used)]
    if rows:
        notes.append("Derived: the price of the whole machine, times the time that the steps alone take.")
    return Table(title=TITLE, columns=COLUMNS, rows=tuple(rows), notes=tuple(notes))


def _row(item: Summary, price: Price) -> tuple[Cell, ...]:
    costs = (_cell(item, examples, price) for examples in (_MILLION, item.record.description.epoch_examples))
    hour = Cell(text=units.documented(price.per_hour, price.currency), sort=price.per_hour)
    dated = Cell(text=price.date, remark=price.source)
    return row_of(Cell(text=item.record.label, record=item.record), *costs, hour, dated, one_host_cell(item))


def _cell(item: Summary, examples: int | None, price: Price) -> Cell:
    rate = item.examples_per_second_estimate
    if examples is None or rate is None or rate.value <= 0:
        return Cell(text=units.DASH, remark="the source knows no epochs")
    value = prices.cost(rate, examples, price)
    width = units.half_width(value.low, value.high)
    return Cell(text=units.money(value.value, price.currency, width), sort=value.value, record=item.record)


def for_terminal(records: Sequence[Record], machine: str, listed: Sequence[Price]) -> tuple[Table, ...]:
    """Return the cost of a machine's headline steps; empty if no price is known."""
    own_records = [item.record for item in current_cases(records) if item.record.machine.slug == machine]
    costs = [(record, table([record], listed)) for record in own_records if record.headline_step()]
    rows = tuple(row_of(record.workload, *row) for record, cost in costs for row in cost.rows)
    notes = tuple(dict.fromkeys(note for _, cost in costs for note in cost.notes))
    whole = Table(title=TITLE, columns=("model", *COLUMNS), rows=rows, notes=notes)
    return (chosen(whole, _TERMINAL),) if rows else ()
