"""The experiments' pages: question, each machine's answer with chart and table, and how to run it."""

from suite import experiments
from suite.experiments import needs_data
from suite.report.parts.experiment_figures import figures
from suite.report.parts.facts import Facts

FOLDER = "experiments"


def files(facts: Facts) -> dict[str, str]:
    """Return every experiment's page and charts."""
    return {path: text for name in facts.answers for path, text in _files(facts, name).items()}


def _files(facts: Facts, name: str) -> dict[str, str]:
    experiment, path = experiments.load(name), f"{FOLDER}/{name}.md"
    machines = [(machine, result, list(figures(name, machine.slug, result))) for machine, result in facts.answers[name]]
    page = facts.page(
        path,
        "experiment.md.j2",
        name=name,
        experiment=experiment,
        needs=needs_data(name),
        machines=machines,
    )
    charts = {path: text for *_, drawn in machines for each in drawn for path, text in each.files.items()}
    return charts | {path: page}
