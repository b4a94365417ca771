"""The page of model parity, from the parity and boosting sessions."""

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.templates import render
from suite.results.evidence.parity import Network, Parity, Trees
from suite.results.views.table import Cell, Table

PATH = "parity.md"
CHECKS = {
    "logits": "what the network returns in float64: norm of the difference over the norm",
    "loss": "the loss in float64, relative",
    "gradients": "the worst parameter's gradient in float64, over the larger of its norm and 1/1000 of all gradients'",
    "steps": "the worst loss of ten steps of the optimizer in float64, absolute",
    "statistics": "the worst moving statistic after these steps, relative",
    "float32": "what the network returns in float32 at highest precision, against the reference in float64",
}


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    return {PATH: page(facts.networks, facts.boosted)}


def page(parity: Parity | None, grown: Trees | None) -> str:
    """Return the page as Markdown: the networks, then the boosted trees."""
    return render(
        PATH,
        found=parity,
        grown=grown,
        origin=_origin,
        networks=networks(parity) if parity else None,
        bugs=bugs(parity) if parity else None,
        caught=sum(bug.check is not None for bug in parity.bugs) if parity else 0,
        forests=forests(grown) if grown else None,
        planted=planted(grown) if grown else None,
        seen=sum(grown.seen(bug.difference) for bug in grown.planted) if grown else 0,
    )


def _origin(session: Parity | Trees) -> list[tuple[str, str]]:
    """Return date, machine and versions of a comparison."""
    return [
        ("date", session.made),
        ("commit", session.commit or units.DASH),
        ("machine", session.machine),
        *sorted(session.packages.items()),
    ]


def networks(parity: Parity) -> Table:
    """Return the largest errors by network and check, with their bounds below."""
    bounds = tuple(
        Cell(text=units.scientific(parity.bounds.get(check)), sort=parity.bounds.get(check)) for check in CHECKS
    )
    return Table(
        title="Worst error of each check",
        columns=("network", *CHECKS, "against", "verdict"),
        rows=(
            *(row(network) for network in parity.networks),
            (Cell(text="bound"), *bounds, Cell(text=units.DASH), Cell(text=units.DASH)),
        ),
        notes=tuple(f"{check}: {words}." for check, words in CHECKS.items()),
    )


def row(network: Network) -> tuple[Cell, ...]:
    """Return a network's errors; a dash for a missing check."""
    cells = []
    for check in CHECKS:
        error = network.errors.get(check)
        remark = "" if check in network.errors else "an inference, or a network without it"
        cells.append(Cell(text=units.scientific(error), sort=error, remark=remark))
    verdict = "agrees" if network.agrees else "differs"
    return (Cell(text=network.name), *cells, Cell(text=network.against), Cell(text=verdict))


def bugs(parity: Parity) -> Table:
    """Return the planted bugs, each with the first check that caught it."""
    rows = tuple(
        (Cell(text=one.bug), Cell(text=one.network), Cell(text=one.check or "not caught")) for one in parity.bugs
    )
    return Table(title="Planted bugs and what caught them", columns=("bug", "planted in", "caught by"), rows=rows)


def forests(trees: Trees) -> Table:
    """Return both sides' AUC by table, with the bound of the difference."""
    rows = tuple(
        (
            Cell(text=one.table),
            Cell(text=units.count(one.columns), sort=one.columns),
            Cell(text=units.count(one.rows), sort=one.rows),
            Cell(text=f"{one.jax:.5f}", sort=one.jax),
            Cell(text=f"{one.xgboost:.5f}", sort=one.xgboost),
            Cell(text=units.scientific(one.difference), sort=one.difference),
            Cell(text=units.scientific(trees.bound), sort=trees.bound),
            Cell(text="differs" if trees.seen(one.difference) else "agrees"),
        )
        for one in trees.forests
    )
    columns = ("table", "columns", "rows", "AUC of JAX", "AUC of XGBoost", "difference", "bound", "verdict")
    notes = (
        "The tables are drawn, none is read: each has as many columns as the documented one whose name it bears, and "
        "labels that depend on some of them.",
    )
    return Table(title="How well trees tell rows apart", columns=columns, rows=rows, notes=notes)


def planted(trees: Trees) -> Table:
    """Return the effect of each planted bug on the AUC, on the table that shows it best."""
    rows = tuple(
        (
            Cell(text=one.bug),
            Cell(text=f"{one.table}, {units.count(one.rows)} rows"),
            Cell(text=units.scientific(one.difference), sort=one.difference),
            Cell(text="seen" if trees.seen(one.difference) else "not seen"),
        )
        for one in trees.planted
    )
    columns = ("bug", "table", "difference", "verdict")
    return Table(title="Bugs planted in the trees and what they do to the AUC", columns=columns, rows=rows)
