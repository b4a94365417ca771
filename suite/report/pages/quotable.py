"""The list of all models' headline numbers, those that may be quoted first; each leads to the page that cites it."""

from collections.abc import Iterable, Iterator

from suite.report.parts.facts import Facts
from suite.report.parts.html import address
from suite.results.cite.citation import Citation, row
from suite.results.views.rows import row_of
from suite.results.views.table import INTERVAL, STATUS, Cell, Table

PATH = "numbers/index.md"
_COLUMNS = ("model", "machine", "speed-up of a step", INTERVAL, STATUS, "name in keys")


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    cited = {one.number.record.workload for one in facts.citations}
    pages = {facts.titles[name]: address(f"{name}.html") for name in sorted(facts.headlines)}
    quotable = [one for those in facts.headlines.values() for one in those if one.number.quotable]
    known = {one.number.record.workload for one in quotable}
    firsts = [of[0] for name, of in facts.headlines.items() if name not in known]
    page = facts.page(
        PATH,
        "quotable.md.j2",
        quotable=_table("Numbers that may be quoted, of each machine", quotable, facts),
        others=_table("Not to be quoted yet: no machine has a quotable number of these models", firsts, facts),
        pages={**facts.links["../"], **pages},
        undocumented={name: address(f"{name}.html") for name in sorted(cited - facts.headlines.keys())},
    )
    return {PATH: page}


def _table(title: str, citations: Iterable[Citation], facts: Facts) -> Table:
    rows = tuple(_rows(citations, facts))
    return Table(title=title, columns=_COLUMNS, rows=rows, words=True, searched=True)


def _rows(citations: Iterable[Citation], facts: Facts) -> Iterator[tuple[Cell, ...]]:
    for cited in sorted(citations, key=lambda cited: facts.titles[cited.number.record.workload]):
        number, name = cited.number, cited.number.record.workload
        value = Cell(text=cited.value, sort=number.value.value, record=number.record, number=row(number.key, name))
        status = Cell(text=number.status, remark=cited.reservation or number.slow_cpu)
        yield row_of(facts.titles[name], number.record.machine.name, value, cited.interval, status, name)
