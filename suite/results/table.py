"""Results as rows of cells: text, what to sort by, and the record behind it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from suite import units
from suite.results.pools import Pool
from suite.results.record import Record
from suite.results.speedup import SpeedUp
from suite.results.statistics import Estimate
from suite.results.summary import SOUND, Status, Summary, wide, worse

INTERVAL = "95 % interval"  # a column's name


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What stands in a table: text, a number to sort by, the record behind it, or why it is missing."""

    text: str
    sort: float | None = None
    record: Record | None = None
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A titled table; `notes` explain what its cells cannot. One of words has text, not numbers, in its cells."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    words: bool = False
    searched: bool = False  # whether the site's search finds what its cells say
    facets: tuple[Mapping[str, str], ...] = ()  # of each row, by what a reader may filter
    chosen: Mapping[str, str] = field(default_factory=dict)  # facets that are chosen at first
    same: str = ""  # what is true of every row, and so has no column


def filled(table: Table) -> Table:
    """Return the table without the columns in which every row has a dash."""
    places = range(len(table.columns))
    return _part(table, [place for place in places if any(row[place].text != units.DASH for row in table.rows)])


def varied(table: Table, columns: Sequence[str]) -> Table:
    """Return the table without those of these columns that say the same in every row."""
    same = {name for place, name in enumerate(table.columns) if len({row[place].text for row in table.rows}) < 2}
    return _part(table, [i for i, name in enumerate(table.columns) if name not in same.intersection(columns)])


_JUDGED = ("status", "verdict")  # columns that are looked for where they are, whatever they say


def condensed(table: Table) -> Table:
    """Return the table with its status beside its interval, if it has one, and what is true of every row said once.

    A column of links or remarks stays, and so does one that is empty for several reasons; so does all of a single row.
    """
    said: dict[int, str] = {}
    lacking: dict[int, str] = {}
    for place, name in enumerate(table.columns):
        found = {(row[place].text, row[place].remark) for row in table.rows}
        if place == 0 or name in ("", *_JUDGED) or len(table.rows) < 2 or len(found) > 1:
            continue
        ((text, remark),) = found
        if text == units.DASH:
            lacking[place] = name + (f" ({remark})" if remark else "")
        elif not remark and not any(row[place].record for row in table.rows):
            said[place] = f"{name} {text}"
    kept = [place for place in range(len(table.columns)) if place not in said.keys() | lacking.keys()]
    names = [table.columns[place] for place in kept]
    if "status" in names and names.count(INTERVAL) == 1:
        status = kept.pop(names.index("status"))
        names.remove("status")
        kept.insert(names.index(INTERVAL) + 1, status)
    lines = [
        f"{start}: {', '.join(dict.fromkeys(words.values()))}."
        for start, words in (("Throughout", said), ("None has", lacking))
        if words
    ]
    return replace(_part(table, kept), same=" ".join(filter(None, (table.same, *lines))))


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
    """Return a line for each distinct reason that statuses of a table have, after the rows that have it.

    A row is named by its first cell and by what tells it from others. Without a column of statuses there are none.
    """
    if "status" not in table.columns:
        return ()
    place, first = table.columns.index("status"), table.columns[0]
    named = varied(table, [column for column in _NAMING if column != first])
    names = [column for column in named.columns if column in (first, *_NAMING)]
    having: dict[str, list[str]] = {}
    for row, name in zip(table.rows, chosen(named, names).rows, strict=True):
        if row[place].remark:
            having.setdefault(row[place].remark, []).append(" ".join(cell.text for cell in name))
    return tuple(f"{', '.join(dict.fromkeys(rows))}: {reason}" for reason, rows in having.items())


def chosen(table: Table, columns: Sequence[str], notes: Sequence[str] = ()) -> Table:
    """Return the table with these of its columns, in this order, and these notes after its own."""
    part = _part(table, [table.columns.index(column) for column in columns])
    return replace(part, notes=(*table.notes, *notes))


def _part(table: Table, places: Sequence[int]) -> Table:
    return replace(
        table,
        columns=tuple(table.columns[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in table.rows),
    )


def time_cell(item: Summary | Pool | None) -> Cell:
    """Return a case's time with as many digits as its interval allows."""
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
    """Return a ratio, linked to a record, and its interval; dashes with the remark where there is none."""
    if ratio is None:
        return Cell(text=units.DASH, remark=remark), Cell(text=units.DASH)
    value = units.times(ratio.value, ratio.low, ratio.high)
    return Cell(text=value, sort=ratio.value, record=record), Cell(text=units.interval(ratio.low, ratio.high))


def rate_cells(rate: Estimate | None, item: Summary) -> tuple[Cell, Cell]:
    """Return examples a second, linked to their record, and the interval; dashes where there is none, and why."""
    if rate is None:
        return Cell(text=units.DASH, remark="; ".join(item.reasons), record=item.record), Cell(text=units.DASH)
    width = units.half_width(rate.low, rate.high)
    value = Cell(text=units.quantity(rate.value, "", width), sort=rate.value, record=item.record)
    return value, Cell(text=units.quantity_interval(rate.low, rate.high, ""))


def base_cells(record: Record) -> tuple[Cell, Cell]:
    """Return the cells of what ratios are taken over: 1, without an interval."""
    return Cell(text="1", sort=1.0, record=record), Cell(text=units.DASH, remark="the others are set against it")


def speedup_status_cell(item: SpeedUp) -> Cell:
    """Return the status of one in the headline setting, whose CPU side has to be certified where it is of a step."""
    word = _status(item.status, (item.cpu, item.gpu))
    return Cell(text=f"{word}, not certified" if item.certificate is False else word, remark="; ".join(item.reasons))


def gain_status_cell(ratio: Estimate | None, item: Summary, base: Summary | None) -> Cell:
    """Return the status of a ratio of two results' times, or of the one that others are set against.

    It is the worse one of both, and unstable where the ratio's own interval is wide.
    """
    items = (item,) if base is None or base is item else (item, base)
    sides, doubt = status_cell(*items), wide(item.record, ratio)
    if not doubt or any(each.status not in SOUND for each in items):
        return sides
    return Cell(text="unstable", remark="; ".join(filter(None, (sides.remark, doubt))))


def status_cell(*items: Summary) -> Cell:
    """Return the worst status of several results, with all their reasons."""
    word = items[0].status
    for item in items[1:]:
        word = worse(word, item.status)
    return Cell(text=_status(word, items), remark="; ".join(reason for item in items for reason in item.reasons))


def _status(word: Status, items: Iterable[Summary]) -> str:
    """Return the word for a status of these: what is one process cannot show whether it is steady."""
    alone = word == "quick" and any(len(item.record.runs) == 1 for item in items)
    return "quick, one process" if alone else word
