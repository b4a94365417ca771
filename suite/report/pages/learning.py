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
    page = render(PATH, some=some, lead=lead(some), trained=trained(some), checks=checks(some), origin=origin(some))
    return {PATH: page}


def lead(some: Sequence[LearningCheck]) -> str:
    """Return how many networks learn, in a sentence."""
    verdicts: dict[str, bool] = {}
    for check in some:
        if check.trained is not None:
            verdicts[check.network] = verdicts.get(check.network, True) and check.trained.good
    if not verdicts:
        return "No network has been trained yet."
    number = f"{units.count(sum(verdicts.values()))} of {units.pluralize(len(verdicts), 'network')}"
    return (
        f"{number} learn with the timed step: each reaches its bound from every seed, and its broken versions do not."
    )


def trained(some: Sequence[LearningCheck]) -> Table:
    """Return the accuracies by network and backend."""
    title = "Accuracy on held-out examples of the small stand-ins"
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
    words = {True: "as required", False: "shortfall", None: "not tried"}
    on_gpu = {check.network for check in some if check.backend == "gpu"}
    rows = tuple(
        row_of(check.network, check.backend, c.expected, c.found, words[c.good])
        for check in some
        for c in check.checks
        if c.good is not None or check.network not in on_gpu
    )
    columns = ("network", "backend", "required", "result", "verdict")
    return Table(title="Losses of CPU and GPU, required and reached", columns=columns, rows=rows, words=True)


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
