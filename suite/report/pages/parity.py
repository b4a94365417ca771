"""The page of model parity, from what the sessions of parity and of boosting found."""

from suite import units
from suite.report.parts.html import Page
from suite.results.evidence.parity import Network, Parity
from suite.results.evidence.trees import Trees
from suite.results.views.table import Cell, Table

TITLE = "Model parity"
CHECKS = {
    "logits": "what the network returns in float64: norm of the difference over the norm",
    "loss": "the loss in float64, relative",
    "gradients": "the worst parameter's gradient in float64, over the larger of its norm and 1/1000 of all gradients'",
    "steps": "the worst loss of ten steps of the optimizer in float64, absolute",
    "statistics": "the worst moving statistic after these steps, relative",
    "float32": "what the network returns in float32 at highest precision, against the reference in float64",
}


def page(found: Parity | None, grown: Trees | None) -> str:
    """Return the page as Markdown: the networks, then the boosted trees."""
    made = Page(TITLE, "", frozenset())
    made.paragraph(
        "Every network is computed a second time by an independent implementation, with the same weights, batches and "
        "dropout masks. The table gives the worst error of each check; a network beyond a bound fails the tests. The "
        "boosted trees are compared with XGBoost's."
    )
    if found is None:
        made.add("<p>No network has been compared yet: <code>nox -s parity</code> writes these numbers.</p>")
    else:
        _of_networks(made, found)
    made.heading("Boosted trees")
    if grown is None:
        made.add("<p>No trees have been compared yet: <code>nox -s boosting</code> writes these numbers.</p>")
    else:
        _of_trees(made, grown)
    return made.text()


def _origin(made: Page, found: Parity | Trees) -> None:
    made.facts(
        [
            ("date", found.made),
            ("commit", found.commit or units.DASH),
            ("machine", found.machine),
            *sorted(found.packages.items()),
        ]
    )


def _of_networks(made: Page, found: Parity) -> None:
    _origin(made, found)
    made.heading("Networks")
    made.table(networks(found))
    made.heading("Planted bugs")
    caught = sum(bug.check is not None for bug in found.bugs)
    made.paragraph(
        f"Checks are worth what they catch: {caught} of {len(found.bugs)} bugs, planted one by one in a right model, "
        "were caught, each by the check that is named; the same checks pass the right models."
    )
    made.table(bugs(found))
    made.add('<p class="note"><a href="evidence/parity.json" download>All of the networks as JSON</a></p>')


def _of_trees(made: Page, found: Trees) -> None:
    made.paragraph(
        "Trees have no weights to start from, so what they come to is compared: JAX and XGBoost grow them on the same "
        "tables with the same parameters, and both score rows that neither has seen. The AUC is the chance that a row "
        "of the one kind gets a higher score than one of the other."
    )
    _origin(made, found)
    made.table(forests(found))
    seen = sum(found.seen(bug.difference) for bug in found.planted)
    made.paragraph(
        f"The same comparison has to tell wrong trees from right ones: {seen} of {len(found.planted)} bugs, planted "
        "one by one in how JAX's trees grow, took the AUC beyond the bound."
    )
    made.table(planted(found))
    made.add('<p class="note"><a href="evidence/trees.json" download>All of the trees as JSON</a></p>')


def networks(found: Parity) -> Table:
    """Return the worst errors by network and check, the bounds below."""
    bounds = tuple(
        Cell(text=units.scientific(found.bounds.get(check)), sort=found.bounds.get(check)) for check in CHECKS
    )
    return Table(
        title="Worst error of each check",
        columns=("network", *CHECKS, "against", "verdict"),
        rows=(
            *(row(network) for network in found.networks),
            (Cell(text="bound"), *bounds, Cell(text=units.DASH), Cell(text=units.DASH)),
        ),
        notes=tuple(f"{check}: {words}." for check, words in CHECKS.items()),
    )


def row(network: Network) -> tuple[Cell, ...]:
    """Return a network's errors; a check that it does not have is a dash."""
    cells = []
    for check in CHECKS:
        error = network.errors.get(check)
        remark = "" if check in network.errors else "an inference, or a network without it"
        cells.append(Cell(text=units.scientific(error), sort=error, remark=remark))
    verdict = "agrees" if network.agrees else "differs"
    return (Cell(text=network.name), *cells, Cell(text=network.against), Cell(text=verdict))


def bugs(found: Parity) -> Table:
    """Return the planted bugs with the first check that saw each."""
    rows = tuple(
        (Cell(text=one.bug), Cell(text=one.network), Cell(text=one.check or "not caught")) for one in found.bugs
    )
    return Table(title="Planted bugs and what caught them", columns=("bug", "planted in", "caught by"), rows=rows)


def forests(found: Trees) -> Table:
    """Return both sides' AUC by table, with the bound of their difference."""
    rows = tuple(
        (
            Cell(text=one.table),
            Cell(text=units.count(one.columns), sort=one.columns),
            Cell(text=units.count(one.rows), sort=one.rows),
            Cell(text=f"{one.jax:.5f}", sort=one.jax),
            Cell(text=f"{one.xgboost:.5f}", sort=one.xgboost),
            Cell(text=units.scientific(one.difference), sort=one.difference),
            Cell(text=units.scientific(found.bound), sort=found.bound),
            Cell(text="differs" if found.seen(one.difference) else "agrees"),
        )
        for one in found.forests
    )
    columns = ("table", "columns", "rows", "AUC of JAX", "AUC of XGBoost", "difference", "bound", "verdict")
    notes = (
        "The tables are drawn, none is read: each has as many columns as the documented one whose name it bears, and "
        "labels that depend on some of them.",
    )
    return Table(title="How well trees tell rows apart", columns=columns, rows=rows, notes=notes)


def planted(found: Trees) -> Table:
    """Return what each planted bug does to the AUC, on the table that shows it best."""
    rows = tuple(
        (
            Cell(text=one.bug),
            Cell(text=f"{one.table}, {units.count(one.rows)} rows"),
            Cell(text=units.scientific(one.difference), sort=one.difference),
            Cell(text="seen" if found.seen(one.difference) else "not seen"),
        )
        for one in found.planted
    )
    columns = ("bug", "table", "difference", "verdict")
    return Table(title="Bugs planted in the trees and what they do to the AUC", columns=columns, rows=rows)
