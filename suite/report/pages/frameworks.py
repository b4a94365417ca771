"""The page of JAX against its baselines, machine by machine."""

from suite.report.parts.facts import Facts
from suite.report.parts.frameworks import baseline_tables
from suite.results.single.selection import by_machine

PATH = "standing.md"


def files(facts: Facts) -> dict[str, str]:
    """Return the page."""
    comparisons = facts.baselines
    machines = [
        (slug, mine[0].machine.name, baseline_tables(item for item in comparisons if item.machine == slug))
        for slug, mine in by_machine(facts.measured).items()
    ]
    shown, compared = [each for each in machines if each[2]], any(item.best for item in comparisons)
    return {PATH: facts.page(PATH, machines=shown, compared=compared)}
