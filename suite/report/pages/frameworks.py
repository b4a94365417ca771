"""The page of JAX against its baselines, machine by machine."""

from collections.abc import Iterable

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.frameworks import baseline_tables
from suite.results.pooled.baselines import BaselineComparison
from suite.results.single.selection import by_machine

PATH = "standing.md"


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    comparisons = facts.baselines
    machines = [
        (slug, mine[0].machine.name, baseline_tables(facts.baselines_of[slug]))
        for slug, mine in by_machine(facts.measured).items()
    ]
    shown, compared = [each for each in machines if each[2]], any(item.best for item in comparisons)
    return {PATH: facts.page(PATH, machines=shown, compared=compared, lead=_lead(comparisons))}


def _lead(comparisons: Iterable[BaselineComparison]) -> str:
    """Return how often JAX is surely the faster one, in a sentence; '' if nothing was compared."""
    over = [item.best.over for item in comparisons if item.best]
    surely = [ratio.low is not None and ratio.low > 1 for ratio in over]
    slower = [ratio.high is not None and ratio.high < 1 for ratio in over]
    if not over:
        return ""
    return (
        f"JAX is surely faster than the fastest baseline in {units.count(sum(surely))} of "
        f"{units.pluralize(len(over), 'comparison')}, surely slower in {units.count(sum(slower))}."
    )
