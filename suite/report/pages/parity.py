"""The page of model parity, from the parity and boosting sessions."""

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.templates import render
from suite.results.evidence.parity import Network, Parity, Trees
from suite.results.views.rows import count_cell, number_cell, row_of
from suite.results.views.table import Cell, Table

PATH = "parity.md"
CHECKS = {
    "logits": "the output in float64: norm of the difference over the norm",
    "loss": "the loss in float64, relative",
    "gradients": "a parameter's worst gradient in float64, over its norm or 1/1000 of all gradients' norm if larger",
    "steps": "the worst loss of ten steps of the optimizer in float64, absolute",
    "statistics": "the worst moving statistic after these steps, relative",
    "float32": "the output in float32 at highest precision, against the reference in float64",
}


def files(facts: Facts) -> dict[str, str]:
    """Return the page: the networks, then the boosted trees."""
    parity, grown = facts.networks, facts.boosted
    page = render(
        PATH,
        lead=lead(parity),
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
    return {PATH: page}


def lead(parity: Parity | None) -> str:
    """Return how many networks agree, in a sentence."""
    if parity is None:
        return "No network has been compared with an independent implementation yet."
    agree = sum(one.agrees for one in parity.networks)
    number = f"{units.count(agree)} of {units.pluralize(len(parity.networks), 'network')}"
    return f"{number} agree with an independent implementation, in outputs, gradients and ten steps of training."


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
    bounds = (number_cell(parity.bounds.get(check), units.scientific) for check in CHECKS)
    return Table(
        title="Worst error of each check",
        columns=("network", *CHECKS, "against", "verdict"),
        rows=(*map(_network, parity.networks), row_of("bound", *bounds, units.DASH, units.DASH)),
        notes=tuple(f"{check}: {words}." for check, words in CHECKS.items()),
    )


def _network(one: Network) -> tuple[Cell, ...]:
    """Return a network's errors; a dash for a missing check."""
    missing = {check: "an inference, or a network without it" for check in CHECKS if check not in one.errors}
    errors = [number_cell(one.errors.get(each), units.scientific, why=missing.get(each, "")) for each in CHECKS]
    return row_of(one.name, *errors, one.against, "agrees" if one.agrees else "differs")


def bugs(parity: Parity) -> Table:
    """Return the planted bugs, each with the first check that caught it."""
    rows = tuple(row_of(one.bug, one.network, one.check or "not caught") for one in parity.bugs)
    return Table(
        title="Planted bugs, each with the check that caught it", columns=("bug", "planted in", "caught by"), rows=rows
    )


def forests(trees: Trees) -> Table:
    """Return both sides' AUC by table, with the bound of the difference."""
    rows = tuple(
        row_of(
            one.table,
            *map(count_cell, (one.columns, one.rows)),
            *(Cell(text=f"{auc:.5f}", sort=auc) for auc in (one.jax, one.xgboost)),
            *(number_cell(difference, units.scientific) for difference in (one.difference, trees.bound)),
            "differs" if trees.seen(one.difference) else "agrees",
        )
        for one in trees.forests
    )
    columns = ("table", "columns", "rows", "AUC of JAX", "AUC of XGBoost", "difference", "bound", "verdict")
    notes = (
        "Each table is drawn from a seed. It has as many columns as the documented one of its name, and some of them "
        "decide the label.",
    )
    return Table(title="AUC of the trees of JAX and XGBoost", columns=columns, rows=rows, notes=notes)


def planted(trees: Trees) -> Table:
    """Return the effect of each planted bug on the AUC, on the table that shows it best."""
    rows = tuple(
        row_of(
            one.bug,
            f"{one.table}, {units.count(one.rows)} rows",
            number_cell(one.difference, units.scientific),
            "seen" if trees.seen(one.difference) else "not seen",
        )
        for one in trees.planted
    )
    columns = ("bug", "table", "difference", "verdict")
    return Table(title="Bugs planted in the trees: change of the AUC", columns=columns, rows=rows)
