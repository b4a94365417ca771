"""Results as tables of cells: text, sort value, and the record behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from suite import units
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import lacking, state_of
from suite.results.records.record import Record
from suite.results.single.paired_speedup import Result, SpeedUp, record_of
from suite.results.single.summary import Summary, plain
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import status, too_wide
from suite.results.stats.statistics import Estimate

INTERVAL = "95 % interval"  # names of columns
STATUS, HOSTS, ON_ONE_HOST = "status", "hosts", "on one host"
OF_ONE_CAMPAIGN = (  # a note of tables whose times are not pooled
    "Each time is of one campaign on one host: the newest with several processes, else the newest. The times beside "
    "speed-ups pool all hosts of a kind, so they may differ."
)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A table's cell: text, a number to sort by, the record behind it, or why the value is missing.

    A number with a key also has the address of its row on the page of numbers, below the site's. If words stand `also`
    behind the text, they lead there.
    """

    text: str
    sort: float | None = None
    record: Record | None = None
    remark: str = ""
    number: str = ""
    also: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A titled table; `notes` explain its cells. `words` marks a table of text, not numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    words: bool = False
    searched: bool = False  # whether the site's search indexes its cells
    facets: tuple[Mapping[str, str], ...] = ()  # of each row, to filter by
    chosen: Mapping[str, str] = field(default_factory=dict)  # facets selected initially
    more: tuple[str, ...] = ()  # columns that a switch shows on a page
    same: str = ""  # statements that hold for every row and so have no column


def filled(table: Table) -> Table:
    """Return the table without columns that have a dash in every row; a note names them with their reasons.

    The first column stays, and so does one without a name. No note names an empty status, nor the interval of an empty
    column. A dash below `ON_ONE_HOST` is a value: nothing speaks against the row.
    """
    empty = [place for place in range(1, len(table.columns)) if _is_empty(table, place)]
    why: dict[str, list[str]] = {}  # columns by the reasons for which they are empty
    for place in empty:
        follows = table.columns[place] == STATUS or (table.columns[place] == INTERVAL and place - 1 in empty)
        if not follows:
            remarks = dict.fromkeys(row[place].remark for row in table.rows if row[place].remark)
            why.setdefault("; ".join(remarks), []).append(_told_apart(table.columns, place))
    lines = (", ".join(dict.fromkeys(names)) + (f" ({reason})" if reason else "") for reason, names in why.items())
    notes = (f"Without a value: {'; '.join(lines)}.",) if why else ()
    return _part(table, [place for place in range(len(table.columns)) if place not in empty], notes)


def _is_empty(table: Table, place: int) -> bool:
    named = table.columns[place] not in ("", ON_ONE_HOST)
    return named and bool(table.rows) and all(row[place].text == units.DASH for row in table.rows)


def _told_apart(columns: Sequence[str], place: int) -> str:
    """Return a column's name; of several with one name with the column before it."""
    name = columns[place]
    return f"{name} of {columns[place - 1]}" if columns.count(name) > 1 else name


def varied(table: Table, columns: Sequence[str]) -> Table:
    """Return the table without those of `columns` that are equal in every row."""
    same = {name for place, name in enumerate(table.columns) if len({row[place].text for row in table.rows}) < 2}
    return _part(table, [i for i, name in enumerate(table.columns) if name not in same.intersection(columns)])


_JUDGED = (STATUS, "verdict")  # columns that stay though they are equal in every row


def condensed(table: Table) -> Table:
    """Return the table with its status beside the interval; columns that are equal in every row become a sentence.

    Columns of links or remarks stay. A single row keeps all its values. Columns without a value are left out, see
    `filled`.
    """
    table = filled(table)
    throughout: dict[int, str] = {}
    for place, name in enumerate(table.columns):
        values = {(row[place].text, row[place].remark) for row in table.rows}
        if place == 0 or name in ("", *_JUDGED) or len(table.rows) < 2 or len(values) > 1:
            continue
        ((text, remark),) = values
        if name == ON_ONE_HOST:
            if text == units.DASH:
                throughout[place] = f"{name}, with nothing against it"
        elif not remark and not any(row[place].record for row in table.rows):
            throughout[place] = f"{_told_apart(table.columns, place)} {text}"
    kept = [place for place in range(len(table.columns)) if place not in throughout]
    names = [table.columns[place] for place in kept]
    judged = next((name for name in (STATUS, ON_ONE_HOST) if name in names), None)
    if judged and names.count(INTERVAL) == 1:
        status = kept.pop(names.index(judged))
        names.remove(judged)
        kept.insert(names.index(INTERVAL) + 1, status)
    line = f"In every row: {', '.join(dict.fromkeys(throughout.values()))}." if throughout else ""
    return replace(_part(table, kept), same=" ".join(filter(None, (table.same, line))))


_NAMING = (
    "case",
    "implementation",
    "backend",
    "way",
    "scope",
    "precision",
    "GPU precision",
    "batch",
    "threads",
    "GPUs",
)


def reasons(table: Table) -> tuple[str, ...]:
    """Return a line for each distinct reason behind the table's states, after the names of its rows.

    A row is named by its first cell and by the cells that vary. () without a status column.
    """
    judged = next((name for name in (STATUS, ON_ONE_HOST) if name in table.columns), None)
    if judged is None:
        return ()
    place, first = table.columns.index(judged), table.columns[0]
    named = varied(table, [column for column in _NAMING if column != first])
    names = [column for column in named.columns if column in (first, *_NAMING)]
    having: dict[str, list[str]] = {}
    for row, name in zip(table.rows, chosen(named, names).rows, strict=True):
        if row[place].remark:
            having.setdefault(row[place].remark, []).append(" ".join(cell.text for cell in name))
    return tuple(f"{', '.join(dict.fromkeys(rows))}: {reason}" for reason, rows in having.items())


def chosen(table: Table, columns: Sequence[str], notes: Sequence[str] = ()) -> Table:
    """Return the table with only these columns, in this order, and with further notes."""
    return _part(table, [table.columns.index(column) for column in columns], notes)


def _part(table: Table, places: Sequence[int], notes: Sequence[str] = ()) -> Table:
    return replace(
        table,
        notes=(*table.notes, *notes),
        columns=tuple(table.columns[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in table.rows),
    )


def time_cell(item: Summary | Pool | None) -> Cell:
    """Return the cell of a case's time, rounded to its interval; a dash with the reason if it is missing."""
    if isinstance(item, Pool):
        return _time_cell(item.seconds, item.newest)
    if item is None or item.seconds is None:
        remark = "; ".join(item.reasons) if item else "not measured"
        return Cell(text=units.DASH, remark=remark, record=item.record if item else None)
    return _time_cell(item.seconds, item.record)


def _time_cell(seconds: Estimate, record: Record) -> Cell:
    width = units.half_width(seconds.low, seconds.high)
    return Cell(text=units.seconds(seconds.value, width), sort=seconds.value, record=record)


def times_cells(ratio: Estimate | None, record: Record | None = None, remark: str = "") -> tuple[Cell, Cell]:
    """Return the cells of a ratio, linked to a record, and of its interval; dashes with the remark without one."""
    if ratio is None:
        return Cell(text=units.DASH, remark=remark), Cell(text=units.DASH)
    value = units.ratio(ratio.value, ratio.low, ratio.high)
    return Cell(text=value, sort=ratio.value, record=record), Cell(text=units.interval(ratio.low, ratio.high))


def rate_cells(rate: Estimate | None, item: Summary) -> tuple[Cell, Cell]:
    """Return the cells of a rate in examples/s, linked to the record, and its interval; dashes with reasons if None."""
    if rate is None:
        return Cell(text=units.DASH, remark="; ".join(item.reasons), record=item.record), Cell(text=units.DASH)
    return _rate_cells(rate, item.record)


def pooled_rate_cells(pool: Pool | None, why: str = "") -> tuple[Cell, Cell]:
    """Return the cells of a pool's examples a second and interval; dashes with the reason without a pool."""
    if pool is None:
        return Cell(text=units.DASH, remark=why or "not measured"), Cell(text=units.DASH)
    return _rate_cells(pool.seconds.per(pool.case.batch), pool.newest)


def _rate_cells(rate: Estimate, record: Record) -> tuple[Cell, Cell]:
    text = units.quantity(rate.value, "", units.half_width(rate.low, rate.high))
    interval = units.quantity_interval(rate.low, rate.high, "")
    return Cell(text=text, sort=rate.value, record=record), Cell(text=interval)


def base_cells(record: Record) -> tuple[Cell, Cell]:
    """Return the cells of the denominator of ratios: 1, without an interval."""
    return Cell(text="1", sort=1.0, record=record), Cell(text=units.DASH, remark="the others are set against it")


def standing_cells(value: Pooled | None, why: str = "") -> tuple[Cell, Cell]:
    """Return the cells of a pooled number's status, with its reasons, and hosts; dashes with the reason without one."""
    if value is None:
        return Cell(text=units.DASH, remark=why), Cell(text=units.DASH)
    reasons = tuple(lacking(value))
    word = status(state_of(reasons), outdated=value.outdated)
    return Cell(text=word, remark="; ".join(reasons)), Cell(text=units.count(value.hosts), sort=value.hosts)


def one_host_cell(*items: Result, caveat: str = "") -> Cell:
    """Return the cell of caveats of results on one host, and of what derives from them; a dash if there are none.

    The remark also gives remedies, and caveats that a certificate does not cover.
    """
    several = len({record_of(item).backend for item in items}) > 1
    states = [item.state for item in items if item.state != "open"]
    caveats = [
        (f"{item.record.backend}: " if several and isinstance(item, Summary) else "") + reason
        for item in items
        for reason in item.reasons
    ]
    uncovered = {reason for item in items if isinstance(item, SpeedUp) for reason in item.uncovered}
    remarks = dict.fromkeys((*states, *caveats, *filter(None, [caveat])))
    text = "; ".join(dict.fromkeys(plain(reason) for reason in remarks if reason not in uncovered))
    return Cell(text=text or units.DASH, remark="; ".join(remarks))


def gain_cell(ratio: Estimate | None, *items: Summary | None) -> Cell:
    """Return the cell of a ratio's caveats: those of its results, else its own interval if too wide."""
    results = [item for item in items if item is not None]
    return one_host_cell(*results, caveat=too_wide(ratio) if all(item.steady for item in results) else "")
