"""The page that asks whether it is the right model, from what the parity session found."""

from suite import units
from suite.report.html import Page
from suite.results.parity import Network, Parity
from suite.results.table import Cell, Table

TITLE = "Is it the right model?"
CHECKS = {
    "logits": "what the network returns in float64: norm of the difference over the norm",
    "loss": "the loss in float64, relative",
    "gradients": "the worst parameter's gradient in float64, over the larger of its norm and 1/1000 of all gradients'",
    "steps": "the worst loss of ten steps of the optimizer in float64, absolute",
    "statistics": "the worst moving statistic after these steps, relative",
    "float32": "what the network returns in float32 at highest precision, against the reference in float64",
}


def page(found: Parity | None) -> str:
    """Return the page as Markdown."""
    made = Page(TITLE, "", frozenset())
    made.paragraph(
        "Every model is computed a second time by an independent implementation, with the same weights, batches and "
        "dropout masks. The table gives the worst error of each check; a model beyond a bound fails the tests."
    )
    if found is None:
        made.add("<p>Nothing has been compared yet: <code>nox -s parity</code> writes this page's numbers.</p>")
        return made.text()
    made.facts(
        [
            ("date", found.made),
            ("commit", found.commit or units.DASH),
            ("machine", found.machine),
            *sorted(found.packages.items()),
        ]
    )
    made.heading("Networks")
    made.table(networks(found))
    made.heading("Planted bugs")
    caught = sum(bug.check is not None for bug in found.bugs)
    made.paragraph(
        f"Checks are worth what they catch: {caught} of {len(found.bugs)} bugs, planted one by one in a right model, "
        "were caught, each by the check that is named; the same checks pass the right models."
    )
    made.table(bugs(found))
    made.add('<p class="note"><a href="evidence/parity.json" download>All of this as JSON</a></p>')
    return made.text()


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
