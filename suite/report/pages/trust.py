"""The page on whether the numbers can be trusted, from the trust session."""

from collections.abc import Sequence
from typing import Any

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.templates import render
from suite.results.compare.reproducibility import Answer, Reproducibility, Spread, words
from suite.results.evidence.trust import Finding, Part
from suite.results.pooled.grouping import DISPATCH_SECONDS
from suite.results.records.record import plain_name
from suite.results.stats.shares import Share
from suite.results.views.table import Cell, Table

PATH = "trust.md"
WANTED = (  # the complete proof
    "clock", "replay", "coverage", "hosts", "crossover", "rounds", "alarms", "mutants", "lies", "lies_gpu", "faults",
    "kills", "hostile",
)  # fmt: skip
_COMMIT = 12  # characters of a digest
_COLUMNS = ("part", "as it had to be", "question", "date", "commit", "machine", "duration")


_NEXT = "Do the numbers hold on the next machine?"
_ANSWERS = ("side", "machine", "hosts", "left-out means", "inside the range", "pairs of campaigns", "called different")
_SPREADS = ("machine", "side", "implementation", "scope", "steps", "hosts", "pools", "between hosts",
            "between processes", "degrees of freedom")  # fmt: skip


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    return {PATH: page(facts.proof, facts.reproducibility)}


def page(parts: Sequence[Part], reproducibility: Reproducibility | None = None) -> str:
    """Return the page as Markdown: the records' own answers, the wanted parts in order, then any others."""
    ran = {part.name: part for part in parts}
    names = (*WANTED, *(name for name in ran if name not in WANTED))
    present = [ran[name] for name in names if name in ran]
    return render(
        PATH,
        overview=overview(present),
        missing=[name for name in names if name not in ran],
        sections=list(map(_section, present)),
        found=reproducibility if reproducibility and reproducibility.answers else None,
        next_machine=_NEXT,
        answers=answers(reproducibility.answers if reproducibility else ()),
        spreads=spreads(reproducibility.spreads if reproducibility else ()),
    )


def _section(part: Part) -> dict[str, Any]:
    """Return a part's section: figures, shortfalls, folded details and its file."""
    short = [finding for finding in part.findings if not finding.good]
    rest = []
    for title in ("as they had to be", *part.others):
        word = title if title in part.others else ""
        some = [finding for finding in part.findings if finding.good and finding.apart == word]
        if some:
            rest.append((f"{len(some)} {title}", findings(f"{title.capitalize()}: {part.name}", some)))
    return {
        "name": part.name,
        "title": part.title,
        "figures": [(name, figure(value)) for name, value in part.figures.items()],
        "short": findings(f"Shortfalls: {part.name}", short) if short else None,
        "rest": rest,
        "has_file": plain_name(part.name),
    }


def answers(given: Sequence[Answer]) -> Table:
    """Return the coverage of each claim, by side and kind of machine."""
    return Table(title=_NEXT, columns=_ANSWERS, rows=tuple(map(_answer, given)))


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


def spreads(estimates: Sequence[Spread]) -> Table:
    """Return the spread of hosts and of processes, by shared estimate."""
    return Table(title="How much hosts differ", columns=_SPREADS, rows=tuple(map(_spread, estimates)))


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


def overview(parts: Sequence[Part]) -> Table:
    """Return a row for each part that ran."""
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
    """Return how many passed, with a note of what does not count."""
    counts = f"{good} of {tried}" + ("" if part.full else ", a sample")
    leading = (f"{part.leading} {figure(part.figures[part.leading])}",) if part.leading in part.figures else ()
    return "; ".join((counts, *leading, *(f"{count} {word}" for word, count in part.others.items())))


def findings(title: str, some: Sequence[Finding]) -> Table:
    """Return what was tried, what was required, and the outcome."""
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
    """Return a figure as text: counts in full, other numbers with three digits."""
    if isinstance(value, str):
        return value
    return units.count(value) if isinstance(value, int) else units.number(value)
