"""The experiments' pages: question, each machine's answer with chart and table, and how to run it."""

from collections.abc import Sequence

from suite import experiments
from suite.experiments import needs_data
from suite.report import answers
from suite.report.parts.experiment_figures import figures
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.results.views.experiment_result import ExperimentResult

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
        sentence = Html("{} {}").format(its.sentence, its.caveat) if its.caveat else its.sentence
        for name in question.evidence[:1]:
            sentences.setdefault(name, sentence)
    return sentences


def _files(facts: Facts, name: str, sentence: Html) -> dict[str, str]:
    experiment, path = experiments.load(name), f"{FOLDER}/{name}.md"
    machines = [
        (machine, result, list(figures(name, machine.slug, result, facts.titles)))
        for machine, result in sorted(facts.answers[name], key=lambda each: not each[1].lead)
    ]
    page = facts.page(
        path,
        "experiment.md.j2",
        name=name,
        experiment=experiment,
        needs=needs_data(name),
        machines=machines,
        lead=_lead([(machine.name, its) for machine, its, _ in machines], sentence),
    )
    charts = {path: text for *_, drawn in machines for each in drawn for path, text in each.files.items()}
    return charts | {path: page}


def _lead(results: Sequence[tuple[str, ExperimentResult]], sentence: Html) -> Html | str:
    """Return the first machine's own lead, else the sentence of the question that people ask, else the first answer."""
    if not results:
        return ""
    machine, first = results[0]
    own = f"On {machine}, {first.lead}" if first.lead else ""
    return own or sentence or next((each for _, its in results for each in its.answers), "")
