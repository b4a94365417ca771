"""The page on whether the numbers can be trusted, from the trust session."""

from collections.abc import Sequence
from typing import Any

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.templates import render
from suite.results.compare.covariates import WORTH, Covariate
from suite.results.compare.reproducibility import Answer, Reproducibility, Spread, machine_words, words
from suite.results.evidence.trust import Finding, Part, Total
from suite.results.pooled.grouping import DISPATCH_SECONDS, Likeness
from suite.results.records.record import plain_name
from suite.results.stats.shares import Share, highest_rate
from suite.results.views.rows import count_cell, number_cell, row_of, share_cell
from suite.results.views.table import Cell, Table

PATH = "trust.md"
WANTED = (  # the complete proof
    "clock", "replay", "coverage", "hosts", "crossover", "rounds", "alarms", "mutants", "lies", "lies_gpu", "faults",
    "kills", "hostile",
)  # fmt: skip
_COMMIT = 12  # characters of a digest
_COLUMNS = ("part", "passed", "question", "date", "commit", "machine", "duration")


_NEXT = "Do the numbers hold on the next machine?"
_ANSWERS = ("side", "machine", "hosts", "left-out means", "inside the range", "pairs of campaigns", "called different")
_SPREADS = ("machine", "side", "implementation", "scope", "steps", "hosts", "pools", "between hosts",
            "between processes", "degrees of freedom")  # fmt: skip
_COVARIATES = ("machine", "implementation", "steps", "kernel", "hosts", "pools", "slope", "spread without it",
               "spread with it")  # fmt: skip


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
        lead=lead(present, reproducibility),
        overview=overview(present),
        missing=[name for name in names if name not in ran],
        sections=list(map(_section, present)),
        found=reproducibility if reproducibility and reproducibility.answers else None,
        next_machine=_NEXT,
        answers=answers(reproducibility.answers if reproducibility else ()),
        spreads=spreads(reproducibility.spreads if reproducibility else ()),
        covariates=covariates(reproducibility.covariates) if reproducibility and reproducibility.covariates else None,
        used=any(one.worth_it for one in reproducibility.covariates) if reproducibility else False,
        worth=units.percent(1 - WORTH),
    )


def lead(parts: Sequence[Part], reproducibility: Reproducibility | None = None) -> str:
    """Return how often numbers hold on a further host, the first claim that they miss, and what the harness passed."""
    judged = [finding for part in parts for finding in part.judged]
    passed, number = units.count(sum(finding.good for finding in judged)), units.pluralize(len(judged), "check")
    harness = f"The harness passed {passed} of {number}; the page names every shortfall."
    held, missed = (reproducibility.words, reproducibility.missed[:1]) if reproducibility else ("", ())
    tested = harness if judged else "The harness has not been tested yet."
    return " ".join(filter(None, (held, *(f"Missed: {line}." for line in missed), tested)))


def _section(part: Part) -> dict[str, Any]:
    """Return a part's section: figures, shortfalls, folded details and its file."""
    short = [finding for finding in part.findings if not finding.good]
    rest = []
    for title in ("passed", *part.others):
        word = title if title in part.others else ""
        some = [finding for finding in part.findings if finding.good and finding.apart == word]
        if some:
            rest.append((f"{len(some)} {title}", findings(f"{title.capitalize()}: {part.name}", some)))
    return {
        "name": part.name,
        "title": part.title,
        "figures": [(name, figure(value)) for name, value in part.figures.items()],
        "totals": totals(part.totals) if part.totals else None,
        "short": findings(f"Shortfalls: {part.name}", short) if short else None,
        "rest": rest,
        "has_file": plain_name(part.name),
    }


def answers(given: Sequence[Answer]) -> Table:
    """Return the coverage of each claim, by side and kind of machine."""
    rows = (
        row_of(one.side, one.machine or "all", count_cell(one.hosts), *_share(one.inside), *_share(one.alarms))
        for one in given
    )
    return Table(title=_NEXT, columns=_ANSWERS, rows=tuple(rows))


def _share(share: Share | None) -> tuple[Cell, ...]:
    if share is None:
        return row_of(units.DASH, units.DASH)
    return count_cell(share.trials), Cell(text=words(share), sort=share.value)


def spreads(estimates: Sequence[Spread]) -> Table:
    """Return the spread of hosts and of processes, by shared estimate."""
    return Table(title="How much hosts differ", columns=_SPREADS, rows=tuple(map(_spread, estimates)))


def _spread(one: Spread) -> tuple[Cell, ...]:
    like, among = one.likeness, one.among
    degrees = Cell(text=units.number(among.degrees, digits=2), sort=among.degrees)
    counts, deviations = map(count_cell, (one.hosts, among.cells)), map(share_cell, (among.tau, among.sigma))
    return row_of(
        one.machine, like.backend.upper(), like.implementation, like.scope, _steps(like), *counts, *deviations, degrees
    )


def _steps(like: Likeness) -> str:
    return f"below {units.seconds(DISPATCH_SECONDS)}" if like.short else units.DASH


def covariates(estimates: Sequence[Covariate]) -> Table:
    """Return how much hosts would differ if a kernel's speed were taken into account."""
    return Table(title="Reference kernels as covariates", columns=_COVARIATES, rows=tuple(map(_covariate, estimates)))


def _covariate(one: Covariate) -> tuple[Cell, ...]:
    like, machine = one.likeness, machine_words(one.pools[-1])
    slope = Cell(text=units.number(one.slope, digits=2), sort=one.slope)
    counts, spreads = map(count_cell, (one.hosts, len(one.pools))), map(share_cell, (one.before, one.after))
    return row_of(machine, like.implementation, _steps(like), one.kernel, *counts, slope, *spreads)


def overview(parts: Sequence[Part]) -> Table:
    """Return a row for each part that ran."""
    return Table(title="The parts of the proof", columns=_COLUMNS, rows=tuple(map(_line, parts)), words=True)


def _line(part: Part) -> tuple[Cell, ...]:
    good, tried = sum(finding.good for finding in part.judged), len(part.judged)
    outcome = Cell(text=_counts(part, good, tried), sort=good / tried if tried else None)
    commit, duration = part.commit[:_COMMIT] or units.DASH, number_cell(part.seconds, units.seconds)
    return row_of(part.name, outcome, part.title, part.made, commit, part.machine, duration)


def _counts(part: Part, good: int, tried: int) -> str:
    """Return how many passed, with a note of what does not count."""
    counts = f"{good} of {tried}" + ("" if part.full else ", a sample")
    leading = (f"{part.leading} {figure(part.figures[part.leading])}",) if part.leading in part.figures else ()
    return "; ".join((counts, *leading, *(f"{count} {word}" for word, count in part.others.items())))


def totals(some: Sequence[Total]) -> Table:
    """Return the random trials of all runs, with the rate of failures that they exclude."""
    columns = ("random trials", "runs", "since", "tried", "failed", "at most one failure in")
    rows = (
        row_of(each.what, count_cell(each.runs), each.since, count_cell(each.trials), count_cell(each.failures),
               count_cell(int(1 / highest_rate(each.failures, each.trials))))
        for each in some
    )  # fmt: skip
    return Table(title="Added up over all runs", columns=columns, rows=tuple(rows), words=True)


def findings(title: str, some: Sequence[Finding]) -> Table:
    """Return what was tried, what was required, and the outcome."""
    columns = ("trial", "expected", "result", "seen by", "verdict")
    rows = (row_of(one.what, one.expected, one.found, one.by or units.DASH, one.verdict) for one in some)
    return Table(title=title, columns=columns, rows=tuple(rows), words=True)


def figure(value: float | int | str) -> str:
    """Return a figure as text: counts in full, other numbers with three digits."""
    if isinstance(value, str):
        return value
    return units.count(value) if isinstance(value, int) else units.number(value)
