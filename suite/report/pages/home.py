"""The home page: how much faster, for which kind of model, on which machine."""

from collections.abc import Iterable, Mapping, Sequence

from suite.report import answers
from suite.report.charts import vega
from suite.report.parts import ladder_figures, rungs, tables
from suite.report.parts.cards import cards
from suite.report.parts.dataset import dataset
from suite.report.parts.facts import Facts
from suite.report.parts.overview import first, overview
from suite.report.parts.quotable_elsewhere import quotable_elsewhere
from suite.results.pooled import machine_evidence
from suite.results.records.record import Record

PATH = "index.md"


def picture(records: Sequence[Record]) -> str | None:
    """Return the first machine's headline chart on white ground, for use outside the site; None if there is none."""
    machines = machine_evidence.evidence(records)
    machine = first(item for each in machines.values() for item in each.speedups)
    if machine is None:
        return None
    amounts = rungs.rungs([*machines[machine].speedups, *machines[machine].ways])
    figure = next(ladder_figures.figures(amounts, PATH))
    return vega.svg(figure.spec, "light", ground="white")


def files(facts: Facts) -> dict[str, str]:
    """Return the home page with its chart; it links all other pages."""
    records = facts.general
    here = first(facts.speedups)
    speedups = [item for item in facts.speedups if here in (None, item.machine)]
    own_records = [record for record in records if here in (None, record.machine.slug)]
    ways = facts.evidence[here].ways if here else ()
    quotable = quotable_elsewhere(facts.citations, here) if here else {}
    models = [about.name for about in facts.catalogue]
    shown = overview(speedups, own_records, vega.HEADLINE, models, ways, quotable)
    yours = _names(record for record in records if record.campaign in facts.local)
    page = facts.page(
        PATH,
        "home.md.j2",
        here=here,
        overview=shown,
        one_model=cards(speedups, facts.local) if here else None,
        again=_again(facts, here),
        citable=any(cited.number.quotable for cited in facts.citations),
        places=facts.places,
        yours={slug: (name, tables.without_gpu(records, slug)) for slug, name in yours.items()},
        questions=[(name, question.title) for name, question, its in answers.answered(facts) if its],
        machines=_names(facts.measured),
        dataset=dataset(facts),
    )
    return {path: text for figure in shown.figures for path, text in figure.files.items()} | {PATH: page}


def _again(facts: Facts, here: str | None) -> str:
    """Return how often a range holds on the next host, over all machines and on this one's GPU; '' if unknown."""
    words = facts.reproducibility.words
    if here is None or not words:
        return words
    own = facts.reproducibility.of_machine(facts.machines[here][0].machine.name)
    return f"{words.removesuffix('.')}, over all machines{f'; on this GPU {own} did' if own else ''}."


def _names(records: Iterable[Record]) -> Mapping[str, str]:
    """Return the machines of these records, ordered by address."""
    return dict(sorted({record.machine.slug: record.machine.name for record in records}.items()))
