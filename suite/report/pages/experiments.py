"""The experiments' pages: question, each machine's answer with chart and table, and how to run it."""

from suite import experiments
from suite.experiments import needs_data
from suite.report import answers
from suite.report.parts.experiment_figures import figures
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html

FOLDER = "experiments"


def files(facts: Facts) -> dict[str, str]:
    """Return every experiment's page and charts."""
    sentences = _sentences(facts)
    return {
        path: text
        for name in facts.answers
        for path, text in _files(facts, name, sentences.get(name, Html(""))).items()
    }


def _sentences(facts: Facts) -> dict[str, Html]:
    """Return the answer to the first question of which an experiment is the main evidence, by experiment."""
    sentences: dict[str, Html] = {}
    for _, question, its in answers.answered(facts):
        if its is None:
            continue
        caveat = " Not to be quoted yet." if its.caveat else ""
        for name in question.evidence[:1]:
            sentences.setdefault(name, Html("{}{}").format(its.sentence, caveat))
    return sentences


def _files(facts: Facts, name: str, sentence: Html) -> dict[str, str]:
    experiment, path = experiments.load(name), f"{FOLDER}/{name}.md"
    machines = [
        (machine, result, list(figures(name, machine.slug, result, facts.titles)))
        for machine, result in facts.answers[name]
    ]
    page = facts.page(
        path,
        "experiment.md.j2",
        name=name,
        experiment=experiment,
        needs=needs_data(name),
        machines=machines,
        lead=(sentence if machines else "") or next((each for _, its, _ in machines for each in its.answers), ""),
    )
    charts = {path: text for *_, drawn in machines for each in drawn for path, text in each.files.items()}
    return charts | {path: page}
