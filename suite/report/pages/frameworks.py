"""The page of JAX against its baselines, machine by machine."""

from collections.abc import Iterable

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.frameworks import baseline_tables, name_of
from suite.report.parts.quoted import listed
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
    return {
        PATH: facts.page(PATH, machines=shown, compared=compared, lead=_lead(comparisons), title=_title(comparisons))
    }


def _lead(comparisons: Iterable[BaselineComparison]) -> str:
    """Return how often JAX is surely the faster one, in a sentence; '' if nothing was compared."""
    over = [item.best.over for item in comparisons if item.best]
    surely = [ratio.low is not None and ratio.low > 1 for ratio in over]
    slower = [ratio.high is not None and ratio.high < 1 for ratio in over]
    if not over:
        return ""
    return (
        f"In {units.count(sum(surely))} of {units.pluralize(len(over), 'comparison')} JAX is surely faster than the "
        f"fastest way that was timed in another framework, in {units.count(sum(slower))} surely slower."
    )


def _title(comparisons: Iterable[BaselineComparison]) -> str:
    """Return the title, with the frameworks that were timed."""
    names = sorted({name_of(way.pool.case.implementation) for item in comparisons for way in item.ways})
    return f"JAX against {listed(names)}" if names else "JAX against other frameworks"
