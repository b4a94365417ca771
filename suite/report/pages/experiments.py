"""The experiments' pages: question, each machine's answer with its chart and table, and how to run it."""

import json
from collections.abc import Mapping, Sequence

from suite import experiments
from suite.experiments import Experiment
from suite.report.charts import plots, vega
from suite.report.parts.html import Page, safe
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.machine import Machine
from suite.results.views.experiment_result import Chart, ExperimentResult, HeatMap

FOLDER = "experiments"


ExperimentResults = dict[str, list[tuple[Machine, ExperimentResult]]]  # what each machine answers, by experiment


def experiment_results(known: Mapping[str, Evidence]) -> ExperimentResults:
    """Return what each machine answers, by what is known of it."""
    found: ExperimentResults = {}
    for name in experiments.names():
        answers = [(each.records[0].machine, experiments.read(name, each)) for each in known.values()]
        found[name] = [(machine, result) for machine, result in answers if result is not None]
    return found


def files(found: ExperimentResults, local: frozenset[str], links: dict[str, str]) -> dict[str, str]:
    """Return every experiment's page and charts by path below the site's sources."""
    made: dict[str, str] = {}
    for name, answers in found.items():
        made |= _files(name, experiments.load(name), answers, local, links)
    return made


def questions() -> list[tuple[str, str]]:
    """Return name and question of each experiment; those that the stand-ins cannot answer come last."""
    return [(name, experiments.load(name).TITLE) for name in sorted(experiments.names(), key=_needs_data)]


def _needs_data(name: str) -> str:
    """Return which data an experiment needs; '' where the stand-ins do."""
    return getattr(experiments.load(name), "NEEDS_DATA", "")


def _files(
    name: str,
    experiment: Experiment,
    answers: Sequence[tuple[Machine, ExperimentResult]],
    local: frozenset[str],
    links: dict[str, str],
) -> dict[str, str]:
    page, found = Page(experiment.TITLE, "../", local), {}
    needs = _needs_data(name)
    command = f"suite run --experiment {name}" + (f" --data {needs}" if needs else "")
    if not answers:
        why = "it needs the real data, which is not at hand" if needs else "no machine has answered it yet"
        page.add(f'<p class="lead">This question is open: {why}. Answer it: <code>{command}</code></p>')
    for machine, result in answers:
        page.add(f'<h2 id="{safe(machine.slug)}">{page.linked(machine.name, links)}</h2>')
        lead = "".join(f"<li>{safe(answer)}</li>" for answer in result.answers)
        page.add(f'<ul class="answers">{lead}</ul>')
        if result.chart is not None:
            found |= _add_chart(page, f"{name}.{machine.slug}", result.chart, result.answers)
        for chart in result.beside:
            found |= _add_chart(page, f"{name}.{machine.slug}.{chart.name}", chart, (chart.caption,))
        for table in result.tables:
            page.table(table, links)
    page.heading("How it is answered")
    page.paragraph(experiment.METHOD)
    tests = f" It tests {', '.join(experiment.TESTS)} of the documented observations." if experiment.TESTS else ""
    page.add(f"<p>Run it: <code>{command}</code>, with workloads behind it to choose.{tests}</p>")
    return found | {f"{FOLDER}/{name}.md": page.text()}


def _add_chart(page: Page, name: str, chart: Chart | HeatMap, answers: Sequence[str]) -> dict[str, str]:
    spec, name = plots.plot(chart), f"{FOLDER}.{name}"
    page.chart(name, " ".join(answers), chart.caption + _marks(chart), json.dumps(vega.themed(spec)))
    return vega.files(name, spec)


def _marks(chart: Chart | HeatMap) -> str:
    """Return how intervals and what may not be quoted, or what something speaks against, are drawn."""
    doubtful = "not to be quoted, or something speaks against it."
    if isinstance(chart, HeatMap):
        return "" if all(square.solid for square in chart.squares) else f" In brackets: {doubtful}"
    bars = " With 95 % intervals." if any(point.low is not None for point in chart.points) else ""
    return bars + ("" if all(point.solid for point in chart.points) else f" Hollow: {doubtful}")
