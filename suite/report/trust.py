"""The page that asks whether the numbers can be trusted, from what the trust session found."""

from collections.abc import Sequence

from suite import units
from suite.report.html import Page, safe
from suite.results.between import Agreements, agreements
from suite.results.record import Record, plain_name
from suite.results.table import Cell, Table
from suite.results.trust import Finding, Part

TITLE = "Can the numbers be trusted?"
WANTED = (  # the whole proof
    "clock", "replay", "coverage", "crossover", "rounds", "alarms", "mutants", "lies", "lies_gpu", "faults", "kills",
    "hostile",
)  # fmt: skip
_COMMIT = 12  # characters of it
_COLUMNS = ("part", "as it had to be", "question", "date", "commit", "machine", "duration")


_AGREE = "Do campaigns agree?"
_AGREEING = ("side", "suite", "pairs", "within the other's interval", "if campaigns differed as processes do",
             "intervals without a common value")  # fmt: skip


def page(parts: Sequence[Part], records: Sequence[Record] = ()) -> str:
    """Return the page as Markdown: the parts wanted in their order, any others, and how far campaigns agree."""
    made = Page(TITLE, "", frozenset())
    made.paragraph(
        "A benchmark is worth what its harness notices. So the harness itself is put to the test: each part below "
        "tries something whose right outcome is known beforehand, and says what came of it. What did not come out as "
        "it had to is shown like the rest. What nothing is claimed of cannot fall short, so it is counted apart."
    )
    ran = {part.name: part for part in parts}
    names = (*WANTED, *(name for name in ran if name not in WANTED))
    made.table(overview([ran[name] for name in names if name in ran]))
    missing = [name for name in names if name not in ran]
    if missing:
        words = ", ".join(f"<code>nox -s trust -- {name}</code>" for name in missing)
        made.add(f"<p>Not run so far: {words}.</p>")
    for name in names:
        if name in ran:
            _section(made, ran[name])
    if agree := agreements(records):
        made.heading(_AGREE)
        made.paragraph(
            "An interval is of the processes of one campaign. It cannot know what another day changes: the host that a "
            "virtual machine is on, its neighbours, the clocks. So steady campaigns that timed the same step on "
            "machines of the same description, with the same packages and settings, are set beside each other. Where "
            "the suite was not the same, its own changes are in it too. What a later campaign clearly contradicts may "
            "not be quoted."
        )
        made.table(agreeing(agree))
    return made.text()


def agreeing(found: Agreements) -> Table:
    """Return how often the time of one campaign lies within another's interval."""
    rows = tuple(
        (
            Cell(text=backend.upper()),
            Cell(text="the same commit" if same else "any commit"),
            Cell(text=units.count(one.pairs), sort=one.pairs),
            Cell(text=units.percent(one.inside), sort=one.inside),
            Cell(text=units.percent(one.expected), sort=one.expected),
            Cell(text=units.count(one.apart), sort=one.apart),
        )
        for (backend, same), one in sorted(found.items(), key=lambda item: (item[0][0], not item[0][1]))
    )
    return Table(title=_AGREE, columns=_AGREEING, rows=rows)


def _section(made: Page, part: Part) -> None:
    made.heading(part.title)
    made.facts([(name, figure(value)) for name, value in part.figures.items()])
    short = [finding for finding in part.findings if not finding.good]
    if short:
        made.table(findings(f"Shortfalls: {part.name}", short))
    for title in ("as they had to be", *part.others):
        word = title if title in part.others else ""
        some = [finding for finding in part.findings if finding.good and finding.apart == word]
        if some:
            made.table(findings(f"{title.capitalize()}: {part.name}", some), folded=f"{len(some)} {title}")
    if plain_name(part.name):
        address = f"evidence/trust/{part.name}.json"
        made.add(f'<p class="note"><a href="{address}" download>All of {safe(part.name)} as JSON</a></p>')


def overview(parts: Sequence[Part]) -> Table:
    """Return a line for each part that was run."""
    return Table(title="The parts of the proof", columns=_COLUMNS, rows=tuple(map(_line, parts)), words=True)


def _line(part: Part) -> tuple[Cell, ...]:
    good, tried = sum(finding.good for finding in part.counted), len(part.counted)
    return (
        Cell(text=part.name),
        Cell(text=_counts(part, good, tried), sort=good / tried if tried else None),
        Cell(text=part.title),
        Cell(text=part.made),
        Cell(text=part.commit[:_COMMIT] or units.DASH),
        Cell(text=part.machine),
        Cell(text=units.seconds(part.seconds), sort=part.seconds),
    )


def _counts(part: Part, good: int, tried: int) -> str:
    """Return how many are as they had to be, and beside them what is not counted so."""
    counts = f"{good} of {tried}" + ("" if part.full else ", a sample")
    leading = (f"{part.leading} {figure(part.figures[part.leading])}",) if part.leading in part.figures else ()
    return "; ".join((counts, *leading, *(f"{count} {word}" for word, count in part.others.items())))


def findings(title: str, some: Sequence[Finding]) -> Table:
    """Return what was tried, what had to come of it, and what did."""
    columns = ("tried", "has to be", "was", "seen by", "verdict")
    return Table(title=title, columns=columns, rows=tuple(map(_finding, some)), words=True)


def _finding(one: Finding) -> tuple[Cell, ...]:
    return (
        Cell(text=one.what),
        Cell(text=one.expected),
        Cell(text=one.found),
        Cell(text=one.by or units.DASH),
        Cell(text=one.verdict),
    )


def figure(value: float | int | str) -> str:
    """Return a figure as text: counts whole, other numbers to three digits."""
    if isinstance(value, str):
        return value
    return units.count(value) if isinstance(value, int) else units.number(value)
