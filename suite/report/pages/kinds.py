"""The page of every kind of GPU against every kind of CPU, and its document for programs."""

from suite.report.parts import equal_money as money
from suite.report.parts import kinds as part
from suite.report.parts.experiment_figures import drawn
from suite.report.parts.facts import Facts
from suite.results.pooled import equal_money, kinds
from suite.results.views import documents

PATH, DOCUMENT = "kinds.md", "machines/kinds.json"


def files(facts: Facts) -> dict[str, str]:
    """Return the page, its chart and its document."""
    pairs = kinds.pairs(facts.current)
    finding, chart = part.finding(pairs), part.chart(pairs)
    figures = list(drawn("kinds", chart, finding, facts.titles)) if pairs else []
    paid = equal_money.equal_money(pairs, facts.prices)
    page = facts.page(
        PATH,
        fewest=kinds.FEWEST_MODELS,
        finding=finding,
        beside=part.beside(kinds.against_fewer_cores(facts.current)),
        figures=figures,
        table=part.table(pairs),
        models=part.models(pairs),
        cost=money.sentence(paid),
        costs=money.table(paid),
        document=DOCUMENT,
    )
    files = {path: text for figure in figures for path, text in figure.files.items()}
    return files | {PATH: page, DOCUMENT: documents.text(documents.kinds_document(pairs))}
