"""The page that asks whether the numbers can be trusted, from what the trust session found."""

from collections.abc import Sequence

from suite import units
from suite.report.parts.html import Page, safe
from suite.results.compare.reproducibility import Answer, Reproducibility, Spread, words
from suite.results.evidence.trust import Finding, Part
from suite.results.pooled.grouping import DISPATCH_SECONDS
from suite.results.records.record import plain_name
from suite.results.stats.shares import Share
from suite.results.views.table import Cell, Table

TITLE = "Can the numbers be trusted?"
WANTED = (  # the whole proof
    "clock", "replay", "coverage", "hosts", "crossover", "rounds", "alarms", "mutants", "lies", "lies_gpu", "faults",
    "kills", "hostile",
)  # fmt: skip
_COMMIT = 12  # characters of it
_COLUMNS = ("part", "as it had to be", "question", "date", "commit", "machine", "duration")


_NEXT = "Do the numbers hold on the next machine?"
_ANSWERS = ("side", "machine", "hosts", "left-out means", "inside the range", "pairs of campaigns", "called different")
_SPREADS = ("machine", "side", "implementation", "scope", "steps", "hosts", "pools", "between hosts",
            "between processes", "degrees of freedom")  # fmt: skip


def page(parts: Sequence[Part], found: Reproducibility | None = None) -> str:
    """Return the page as Markdown: what the records say themselves, the parts wanted in their order, any others."""
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
    if found is not None and found.answers:
        _next_machine(made, found)
    return made.text()


def _next_machine(made: Page, found: Reproducibility) -> None:
    made.heading(_NEXT)
    made.paragraph(
        "The published records answer this themselves, anew on each build. Each host is left out in turn. The other "
        "hosts give the range in which its mean should lie; nothing in that range comes from the left-out host. The "
        "range claims 95 %."
    )
    made.paragraph(
        "The second claim is of comparisons. Two campaigns timed equal code on different hosts, so they should be "
        "called the same. 5 % may be called different. Each share has its 95 % interval, which counts hosts, not cases."
    )
    for line in found.missed:
        made.paragraph(f"Missed: {line}.")
    made.table(answers(found.answers))
    made.paragraph(
        "How much hosts of one kind differ, and the processes of one host, decides how wide a range is. Both are "
        "standard deviations of logarithms: 8 % means that two in three lie within about 8 % of the mean."
    )
    made.table(spreads(found.spreads))


def answers(found: Sequence[Answer]) -> Table:
    """Return how often each claim held, by side and kind of machine."""
    return Table(title=_NEXT, columns=_ANSWERS, rows=tuple(map(_answer, found)))


def _answer(one: Answer) -> tuple[Cell, ...]:
    return (
        Cell(text=one.side),
        Cell(text=one.machine or "all"),
        Cell(text=units.count(one.hosts), sort=one.hosts),
        *_share(one.inside),
        *_share(one.alarms),
    )


def _share(share: Share | None) -> tuple[Cell, Cell]:
    if share is None:
        return Cell(text=units.DASH), Cell(text=units.DASH)
    return Cell(text=units.count(share.trials), sort=share.trials), Cell(text=words(share), sort=share.value)


def spreads(found: Sequence[Spread]) -> Table:
    """Return how much hosts and processes differ, by what pools share."""
    return Table(title="How much hosts differ", columns=_SPREADS, rows=tuple(map(_spread, found)))


def _spread(one: Spread) -> tuple[Cell, ...]:
    like, among = one.likeness, one.among
    return (
        Cell(text=one.machine),
        Cell(text=like.backend.upper()),
        Cell(text=like.implementation),
        Cell(text=like.scope),
        Cell(text=f"below {units.seconds(DISPATCH_SECONDS)}" if like.short else units.DASH),
        Cell(text=units.count(one.hosts), sort=one.hosts),
        Cell(text=units.count(among.cells), sort=among.cells),
        Cell(text=units.percent(among.tau), sort=among.tau),
        Cell(text=units.percent(among.sigma), sort=among.sigma),
        Cell(text=units.number(among.degrees, digits=2), sort=among.degrees),
    )


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
    good, tried = sum(finding.good for finding in part.judged), len(part.judged)
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
