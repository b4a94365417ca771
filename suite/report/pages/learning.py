"""The page on whether the networks learn."""

import re
from collections.abc import Sequence

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.templates import render
from suite.results.evidence.learning import LearningCheck, Trained
from suite.results.views.table import Cell, Table

PATH = "learning.md"
_COLUMNS = (
    "network", "backend", "data", "steps", "batch",
    "accuracy by seed", "spread", "bound", "best broken one", "verdict",
)  # fmt: skip


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    return {PATH: page(facts.lessons)}


def page(networks: Sequence[LearningCheck]) -> str:
    """Return the page as Markdown: networks by name, the CPU before the GPU."""
    some = sorted(networks, key=lambda check: (check.network, check.backend))
    return render(PATH, some=some, trained=trained(some), checks=checks(some), origin=origin(some))


def trained(some: Sequence[LearningCheck]) -> Table:
    """Return the accuracies by network and backend."""
    title = "Trained on the small stand-ins and judged by examples that no step saw"
    rows = tuple(_row(check, check.trained) for check in some if check.trained is not None)
    return Table(title=title, columns=_COLUMNS, rows=rows, words=True)


def _row(check: LearningCheck, one: Trained) -> tuple[Cell, ...]:
    best = max(one.broken.items(), key=lambda item: item[1], default=None)
    reached = " · ".join(units.percent(share, 3) for share in one.accuracies)
    return (
        Cell(text=check.network),
        Cell(text=check.backend),
        Cell(text=one.data),
        Cell(text=units.count(one.steps), sort=one.steps),
        Cell(text=units.count(one.batch), sort=one.batch),
        Cell(text=reached, sort=min(one.accuracies)),
        Cell(text=units.percent(one.spread), sort=one.spread),
        Cell(text=units.percent(one.bound), sort=one.bound),
        Cell(text=f"{best[0]}: {units.percent(best[1], 3)}" if best else units.DASH, sort=best and best[1]),
        Cell(text="learns" if one.good else "shortfall"),
    )


def checks(some: Sequence[LearningCheck]) -> Table:
    """Return the required and the reached losses; drop untried GPU checks of networks that a GPU has tried."""
    words = {True: "as it had to be", False: "shortfall", None: "not tried"}
    on_gpu = {check.network for check in some if check.backend == "gpu"}
    rows = tuple(
        tuple(Cell(text=text) for text in (check.network, check.backend, c.expected, c.found, words[c.good]))
        for check in some
        for c in check.checks
        if c.good is not None or check.network not in on_gpu
    )
    return Table(
        title="What losses do", columns=("network", "backend", "has to be", "was", "verdict"), rows=rows, words=True
    )


def origin(some: Sequence[LearningCheck]) -> Table:
    """Return the machine, date and code of each training."""
    rows = tuple(
        (
            Cell(text=one.network),
            Cell(text=f"{one.machine}, {units.pluralize(one.cores, 'core')}"),
            Cell(text=one.backend),
            Cell(text=", ".join(map(str, one.seeds))),
            Cell(text=one.made),
            Cell(text=re.sub("(?<=[0-9a-f]{12})[0-9a-f]+", "", one.commit) or units.DASH),
            Cell(text=units.seconds(one.seconds) if one.seconds else units.DASH, sort=one.seconds),
        )
        for one in some
    )
    columns = ("network", "machine", "backend", "seeds", "date", "commit", "duration")
    return Table(title="Where the networks were trained", columns=columns, rows=rows, words=True)
