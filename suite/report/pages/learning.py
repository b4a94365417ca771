"""The page on whether the networks learn."""

import re
from collections.abc import Sequence

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.templates import render
from suite.results.evidence.learning import LearningCheck, Trained
from suite.results.views.rows import count_cell, row_of, share_cell
from suite.results.views.table import Cell, Table

PATH = "learning.md"
_COLUMNS = (
    "network", "backend", "data", "steps", "batch",
    "accuracy by seed", "spread", "bound", "best broken one", "verdict",
)  # fmt: skip


def files(facts: Facts) -> dict[str, str]:
    """Return the page: networks by name, the CPU before the GPU."""
    some = sorted(facts.lessons, key=lambda check: (check.network, check.backend))
    return {PATH: render(PATH, some=some, trained=trained(some), checks=checks(some), origin=origin(some))}


def trained(some: Sequence[LearningCheck]) -> Table:
    """Return the accuracies by network and backend."""
    title = "Trained on the small stand-ins and judged by examples that no step saw"
    rows = tuple(_row(check, check.trained) for check in some if check.trained is not None)
    return Table(title=title, columns=_COLUMNS, rows=rows, words=True)


def _row(check: LearningCheck, one: Trained) -> tuple[Cell, ...]:
    best = max(one.broken.items(), key=lambda item: item[1], default=None)
    reached = " · ".join(units.percent(share, 3) for share in one.accuracies)
    counts, shares = map(count_cell, (one.steps, one.batch)), map(share_cell, (one.spread, one.bound))
    accuracies = Cell(text=reached, sort=min(one.accuracies))
    broken = Cell(text=f"{best[0]}: {units.percent(best[1], 3)}" if best else units.DASH, sort=best and best[1])
    verdict = "learns" if one.good else "shortfall"
    return row_of(check.network, check.backend, one.data, *counts, accuracies, *shares, broken, verdict)


def checks(some: Sequence[LearningCheck]) -> Table:
    """Return the required and the reached losses; drop untried GPU checks of networks that a GPU has tried."""
    words = {True: "as it had to be", False: "shortfall", None: "not tried"}
    on_gpu = {check.network for check in some if check.backend == "gpu"}
    rows = tuple(
        row_of(check.network, check.backend, c.expected, c.found, words[c.good])
        for check in some
        for c in check.checks
        if c.good is not None or check.network not in on_gpu
    )
    columns = ("network", "backend", "has to be", "was", "verdict")
    return Table(title="What losses do", columns=columns, rows=rows, words=True)


def origin(some: Sequence[LearningCheck]) -> Table:
    """Return the machine, date and code of each training."""
    columns = ("network", "machine", "backend", "seeds", "date", "commit", "duration")
    rows = tuple(map(_origin, some))
    return Table(title="Where the networks were trained", columns=columns, rows=rows, words=True)


def _origin(one: LearningCheck) -> tuple[Cell, ...]:
    machine, seeds = f"{one.machine}, {units.pluralize(one.cores, 'core')}", ", ".join(map(str, one.seeds))
    commit = re.sub("(?<=[0-9a-f]{12})[0-9a-f]+", "", one.commit) or units.DASH
    duration = Cell(text=units.seconds(one.seconds) if one.seconds else units.DASH, sort=one.seconds)
    return row_of(one.network, machine, one.backend, seeds, one.made, commit, duration)
