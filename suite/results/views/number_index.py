"""Every current number in few fields: a JSON document and a table for spreadsheets, which the site publishes."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from suite.results.cite.citation import Citation
from suite.results.cite.number import METRICS, Unit
from suite.results.stats.state import State

_DIGITS = 9  # significant digits, as in stored pools


class IndexedNumber(msgspec.Struct, frozen=True, kw_only=True):
    """The current number of a key: its current pool's, else that of the newest campaign on one host."""

    key: str
    pinned: str | None  # the permanent key of this number; null if it is not stored
    value: float
    low: float | None  # 95 % interval
    high: float | None
    unit: Unit  # "1" of a ratio
    status: State
    machine: str  # kind of machine, as in the key
    workload: str  # the model
    metric: str
    hosts: int
    measured: str  # its newest record: UTC, ISO 8601


class NumberIndex(msgspec.Struct, frozen=True, kw_only=True):
    """Every current number, sorted by key."""

    schema: Literal["numbers/1"] = "numbers/1"
    # Where a number's row is, relative to the site's root if its address is unknown: with the number's workload and
    # its key, in which a dot stands for each slash.
    url: str
    numbers: tuple[IndexedNumber, ...]


def indexed(citations: Iterable[Citation], site: str) -> NumberIndex:
    """Return the index of numbers on a site at that address, '' if it is unknown."""
    return NumberIndex(url=f"{site}numbers/{{workload}}.html#{{key}}", numbers=tuple(map(_indexed, citations)))


def _indexed(cited: Citation) -> IndexedNumber:
    number = cited.number
    return IndexedNumber(
        key=number.key.unpinned.text(),
        pinned=cited.key if number.digest else None,
        value=_rounded(number.value.value),
        low=None if number.value.low is None else _rounded(number.value.low),
        high=None if number.value.high is None else _rounded(number.value.high),
        unit=METRICS[number.key.metric].unit,
        status=number.state,
        machine=number.key.machine,
        workload=number.key.case.partition("/")[0],
        metric=number.key.metric,
        hosts=number.value.hosts,
        measured=number.measured,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def rows(index: NumberIndex) -> Iterator[dict[str, Any]]:
    """Yield the numbers as rows of a table."""
    yield from map(msgspec.structs.asdict, index.numbers)
