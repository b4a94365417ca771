"""The copyable steps: a page of code for each, with its time against the suite's."""

from suite import units
from suite.report.parts.copyable import ratio
from suite.report.parts.facts import STEPS, Facts
from suite.report.parts.html import Html
from suite.report.parts.templates import render
from suite.results.evidence.copyable import Compared


def files(facts: Facts) -> dict[str, str]:
    """Return the pages of measured workloads that have a copyable step."""
    there = sorted(facts.copied.keys() & {record.workload for record in facts.measured})
    return {path: _page(facts, name, path) for name in there for path in [f"workloads/{name}.step.md"]}


def _page(facts: Facts, name: str, path: str) -> str:
    return render(
        path,
        template="step.md.j2",
        name=name,
        folder=STEPS,
        said=[_words(one) for one in facts.timed if one.workload == name],
        code=Html(facts.copied[name]),  # within a Markdown fence: a file of the repository
    )


def _words(one: Compared) -> str:
    return (
        f"{ratio(one)} Copied {units.seconds(one.copied_seconds)}, the suite's {units.seconds(one.suite_seconds)}; "
        f"{one.made}, commit {one.commit or units.DASH}."
    )
