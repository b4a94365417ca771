"""The list of all models' headline numbers, each with a link to the page that cites it."""

from collections.abc import Iterator

from suite.report.parts.facts import Facts
from suite.report.parts.html import address
from suite.results.cite.citation import row
from suite.results.views.rows import row_of
from suite.results.views.table import INTERVAL, STATUS, Cell, Table

PATH = "numbers/index.md"
_COLUMNS = ("model", "speed-up of a step", INTERVAL, STATUS, "machine", "name in keys")


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    cited = {one.number.record.workload for one in facts.citations}
    pages = {facts.titles[name]: address(f"{name}.html") for name in sorted(facts.headlines)}
    table = Table(
        title="The headline number of each model",
        columns=_COLUMNS,
        rows=tuple(_rows(facts)),
        words=True,
        searched=True,
    )
    others = {name: address(f"{name}.html") for name in sorted(cited - facts.headlines.keys())}
    page = facts.page(PATH, "quotable.md.j2", table=table, pages={**facts.links["../"], **pages}, others=others)
    return {PATH: page}


def _rows(facts: Facts) -> Iterator[tuple[Cell, ...]]:
    for name, (cited, *_) in sorted(facts.headlines.items(), key=lambda each: facts.titles[each[0]]):
        number = cited.number
        value = Cell(text=cited.value, sort=number.value.value, record=number.record, number=row(number.key, name))
        status = Cell(text=number.state, remark=cited.reservation)
        yield row_of(facts.titles[name], value, cited.interval, status, number.record.machine.name, name)
